//! The stream: events of groups, one after the other, as records.

use crate::cell::{self, Image};
use crate::filter::Filter;
use crate::held::{Held, HeldList};
use crate::record::{Op, Origin, Record, RowChange, SnapshotMark, StatementChange, Table};
use crate::source::{EventGroup, Source, Step};
use crate::statement::{self, Statement};
use crate::{Error, Place, Result};
use narwal_binlog::{
    BinlogError, CHECKSUM_LEN, Event, EventHeader, EventReader, Gtid, RawEvent, RowsEvent,
    RowsKind, decompressed_body, event_type, gtid_flags, uncompressed_type,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

/// Table maps that are remembered between statements.
const KNOWN_TABLES: usize = 4096;
/// Events and rows that are passed over in one call. Even where nothing is wanted, the caller must get its turn.
const PATIENCE: u32 = 100_000;

/// XA_PREPARE_LOG_EVENT.
const XA_PREPARE: u8 = 38;

/// What a stream has next.
#[derive(Debug, PartialEq)]
pub enum Next<'a> {
    /// A record, and the place behind it: a stream that is begun there goes on with the next one.
    Record(Record<'a>, &'a Place),
    /// A transaction has ended: all its records were given, if any was wanted.
    Committed(Gtid),
    /// Nothing yet: the end of the log, or a long stretch of it had nothing that is wanted.
    Idle,
    /// Nothing more.
    End,
}

/// Counters of a stream, since it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Whole transactions read.
    pub transactions: u64,
    /// Changes read, wanted or not.
    pub changes: u64,
    /// Records given.
    pub records: u64,
    /// Bytes of events read.
    pub bytes: u64,
    /// When the statement of the event read last began, seconds since 1970.
    pub timestamp: u32,
}

/// A table map as it stands in an event, and what it means.
#[derive(Debug)]
struct Known {
    body: Vec<u8>,
    table: Arc<Table>,
}

/// The transaction at hand.
#[derive(Debug)]
struct Present {
    group: EventGroup,
    /// Changes of it so far.
    order: u64,
    /// Changes that were delivered before this stream began.
    skip: u64,
    /// Changes of each table.
    tables: Vec<(Arc<Table>, u64)>,
    /// Text of the statement, if it was asked for.
    query: Option<Vec<u8>>,
    thread: Option<u32>,
    /// Where the next event begins.
    pos: u64,
    /// The prepared transaction that this group commits: its events come here.
    committed: Option<Held>,
}

/// The rows event at hand.
#[derive(Debug)]
struct Rows {
    table: Arc<Table>,
    kind: RowsKind,
    present: Vec<u8>,
    present_after: Vec<u8>,
    /// The row images in the event's bytes: those still to come.
    at: usize,
    end: usize,
    /// The number of the row at hand in the event, from 1.
    row: u64,
    /// Its number among the table's changes in the transaction.
    table_order: u64,
    ends_statement: bool,
}

/// What was found while going through events.
enum Found {
    Row,
    Statement,
    Committed(Gtid),
    Idle,
    End,
}

/// The statement at hand, taken apart.
#[derive(Debug, Default)]
struct Said {
    truncate: bool,
    verb: &'static str,
    tables: Vec<(String, String)>,
    db: String,
    sql: String,
}

/// Reads a source as records.
///
/// Each call of [`next`](Self::next) gives one record and moves [`place`](Self::place) behind it: a stream that is begun
/// there goes on with the record that follows.
#[derive(Debug)]
pub struct Stream<S> {
    source: S,
    filter: Filter,
    with_query: bool,
    place: Option<Place>,
    present: Option<Present>,
    rows: Option<Rows>,
    said: Said,
    /// The event at hand; its row images are borrowed from here.
    event: Vec<u8>,
    header: Option<EventHeader>,
    event_pos: u64,
    /// Tables of the statement at hand.
    mapped: HashMap<u64, Arc<Table>>,
    known: HashMap<u64, Known>,
    counts: Counts,
    last: Option<Gtid>,
    metadata_missing: bool,
    /// Prepared transactions.
    held: HeldList,
    /// Behind the last group read, given or not. Only the position counts.
    read: Option<Place>,
    /// What comes again, because prepared transactions are before it: up to these transactions of their domains.
    again: BTreeMap<u32, Gtid>,
}

impl<S: Source> Stream<S> {
    /// Reads `source`, which was opened behind `start` (`None`: at a place that it tells itself).
    pub fn new(source: S, start: Option<Place>, filter: Filter) -> Self {
        Stream {
            source,
            filter,
            with_query: false,
            held: HeldList::default(),
            read: None,
            again: start
                .as_ref()
                .map(Place::delivered_again)
                .unwrap_or_default(),
            place: start,
            present: None,
            rows: None,
            said: Said::default(),
            event: Vec::new(),
            header: None,
            event_pos: 0,
            mapped: HashMap::new(),
            known: HashMap::new(),
            counts: Counts::default(),
            last: None,
            metadata_missing: false,
        }
    }

    /// Gives statements' texts with the rows they changed, where the log has them.
    #[must_use]
    pub fn with_query(mut self, yes: bool) -> Self {
        self.with_query = yes;
        self
    }

    /// Everything up to here was given. `None` if the source can't tell yet.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// Asks the source for the place if the stream does not know it yet.
    pub fn learn_place(&mut self) -> Option<&Place> {
        if self.place.is_none() {
            self.place = self.source.place();
        }
        self.place.as_ref()
    }

    /// Counters.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The transaction read last, whole or in part.
    #[must_use]
    pub fn last_gtid(&self) -> Option<Gtid> {
        self.last
    }

    /// Some table's columns came without names: `binlog_row_metadata` is not FULL.
    #[must_use]
    pub fn lacks_metadata(&self) -> bool {
        self.metadata_missing
    }

    /// The source.
    pub fn source_mut(&mut self) -> &mut S {
        &mut self.source
    }

    /// The next record; waits at most `wait` for one at the end of the log.
    ///
    /// # Errors
    /// [`Error::Lost`] where [`reconnect`](Self::reconnect) may help; others are final.
    pub fn next(&mut self, wait: Duration) -> Result<Next<'_>> {
        match self.advance(wait)? {
            Found::Idle => Ok(Next::Idle),
            Found::End => Ok(Next::End),
            Found::Row => self.row(),
            Found::Statement => Ok(self.statement()),
            Found::Committed(gtid) => Ok(Next::Committed(gtid)),
        }
    }

    /// Opens the source again, behind the last record that was given.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn reconnect(&mut self) -> Result<()> {
        let place = self.learn_place().cloned();
        self.present = None;
        self.rows = None;
        self.mapped.clear();
        self.held.clear();
        self.read = None;
        self.again = place
            .as_ref()
            .map(Place::delivered_again)
            .unwrap_or_default();
        self.source.reopen(place.as_ref())
    }

    /// Goes on to the next wanted change.
    fn advance(&mut self, wait: Duration) -> Result<Found> {
        for _ in 0..PATIENCE {
            if self.rows.is_some() {
                if self.step_row()? {
                    return Ok(Found::Row);
                }
            } else if self.present.is_some() {
                let gtid = self.last;
                if self.step_event()? {
                    return Ok(Found::Statement);
                }
                if let (None, Some(gtid)) = (&self.present, gtid) {
                    return Ok(Found::Committed(gtid));
                }
            } else {
                match self.source.next_group(wait)? {
                    Step::Group(group) => {
                        if let Some(gtid) = self.begin(group)? {
                            return Ok(Found::Committed(gtid));
                        }
                    }
                    Step::Idle => return Ok(Found::Idle),
                    Step::End => return Ok(Found::End),
                }
            }
        }
        Ok(Found::Idle)
    }

    /// Begins a group. Gives it back if that was all: nothing of it is to be given now.
    fn begin(&mut self, group: EventGroup) -> Result<Option<Gtid>> {
        self.learn_place();
        self.mapped.clear();
        let gtid = group.gtid;
        if self.read.is_none() {
            self.read = self.place.as_ref().map(Place::opening);
        }
        let again = match self.again.get(&gtid.domain) {
            Some(last) => {
                if *last == gtid {
                    self.again.remove(&gtid.domain);
                }
                true
            }
            None => false,
        };
        if group.flags2 & gtid_flags::PREPARED_XA != 0 {
            self.hold(&group)?;
        } else if again && group.flags2 & gtid_flags::COMPLETED_XA != 0 {
            // What it ended was given, or was rolled back.
            let end = self.xa_end(gtid)?;
            self.held.take(&end.name);
        } else if !again {
            self.read.get_or_insert_default().finish(gtid);
            self.last = Some(gtid);
            self.present = Some(Present {
                order: 0,
                skip: self.place.as_ref().map_or(0, |p| p.inside(gtid)),
                tables: Vec::new(),
                query: None,
                thread: None,
                pos: group.pos,
                committed: None,
                group,
            });
            return Ok(None);
        }
        self.read.get_or_insert_default().finish(gtid);
        if again {
            return Ok(None);
        }
        self.last = Some(gtid);
        self.finish(gtid);
        Ok(Some(gtid))
    }

    /// A group was given as a whole.
    fn finish(&mut self, gtid: Gtid) {
        let place = self.place.get_or_insert_default();
        place.finish(gtid);
        if self.again.is_empty() {
            place.set_prepared_behind(self.held.before());
        }
        self.counts.transactions += 1;
    }

    /// Keeps the events of a group that prepares an XA transaction.
    fn hold(&mut self, group: &EventGroup) -> Result<()> {
        let before = self.read.clone().unwrap_or_default();
        let checksums = self.source.checksums();
        let mut held = Held::new(group.file.clone(), group.pos, checksums, before);
        while let Some(event) = self.source.next_event()? {
            if let Some(end) =
                xa_end(event, checksums).map_err(|e| Error::damaged(group.gtid, e))?
                && end.verb == "END"
            {
                held.name = end.name;
            }
            held.push(event)?;
        }
        held.rewind()?;
        self.held.push(held);
        Ok(())
    }

    /// What the group at hand does to a prepared transaction, from its only event.
    fn xa_end(&mut self, gtid: Gtid) -> Result<XaEnd> {
        let checksums = self.source.checksums();
        let mut found = None;
        while let Some(event) = self.source.next_event()? {
            let end = xa_end(event, checksums).map_err(|e| Error::damaged(gtid, e))?;
            found = found.or(end);
        }
        found.ok_or_else(|| {
            Error::damaged(
                gtid,
                BinlogError::Invalid("end of an XA transaction without its name"),
            )
        })
    }

    /// Takes the group's event that ends a prepared transaction: if it commits it, its events come now.
    fn end_prepared(&mut self, gtid: Gtid) -> Result<()> {
        let end = self.xa_end(gtid)?;
        let held = self.held.take(&end.name);
        let Some(present) = &mut self.present else {
            return Ok(());
        };
        if end.verb != "COMMIT" {
            return Ok(());
        }
        let Some(held) = held else {
            return Err(Error::Unsupported(format!(
                "transaction {gtid} commits the XA transaction {}, which was prepared before the stream began; begin before that (--from), or take a new snapshot while XA RECOVER is empty",
                end.name
            )));
        };
        present.group.file = held.file.clone();
        present.pos = held.pos;
        present.committed = Some(held);
        Ok(())
    }

    /// Takes the next event of the group; whether it is a statement that is wanted.
    fn step_event(&mut self) -> Result<bool> {
        let Some(present) = &mut self.present else {
            return Ok(false);
        };
        let gtid = present.group.gtid;
        if present.group.flags2 & gtid_flags::COMPLETED_XA != 0 && present.committed.is_none() {
            self.end_prepared(gtid)?;
        }
        let Some(present) = &mut self.present else {
            return Ok(false);
        };
        let checksums = match &mut present.committed {
            Some(held) => {
                if !held.next(&mut self.event)? {
                    self.present = None;
                    self.finish(gtid);
                    return Ok(false);
                }
                held.checksums
            }
            None => {
                let checksums = self.source.checksums();
                let Some(bytes) = self.source.next_event()? else {
                    self.present = None;
                    self.finish(gtid);
                    return Ok(false);
                };
                fill(&mut self.event, bytes);
                checksums
            }
        };
        self.counts.bytes += self.event.len() as u64;
        let damaged = |e: BinlogError| Error::damaged(gtid, e);
        let reader = EventReader::new(&self.event);
        let mut reader = match checksums {
            true => reader,
            false => reader.without_checksums(),
        };
        let raw = reader
            .next()
            .unwrap_or(Err(BinlogError::Truncated("an event")))
            .map_err(damaged)?;
        if raw.bytes.len() != self.event.len() {
            return Err(damaged(BinlogError::Invalid(
                "event with something behind it",
            )));
        }
        let header = raw.header;
        self.counts.timestamp = header.timestamp;
        self.header = Some(header);
        // Positions are 32-bit: what lies behind has none and is counted.
        self.event_pos = match u64::from(header.end_log_pos) {
            0 => present.pos,
            end => end.saturating_sub(u64::from(header.event_size)),
        };
        present.pos = self.event_pos + u64::from(header.event_size);
        let tail = if checksums { CHECKSUM_LEN } else { 0 };
        let plain = decompressed_body(&raw).map_err(damaged)?;
        if let Some(body) = plain {
            // As an event without a checksum.
            let mut header = header;
            header.event_type = uncompressed_type(header.event_type).unwrap_or(header.event_type);
            self.event.clear();
            self.event.extend_from_slice(&header.to_bytes());
            self.event.extend_from_slice(&body);
            return self.take_event(gtid, header, 0);
        }
        self.take_event(gtid, header, tail)
    }

    /// Takes the event in `self.event`, which ends in `tail` bytes of checksum.
    fn take_event(&mut self, gtid: Gtid, header: EventHeader, tail: usize) -> Result<bool> {
        let damaged = |e: BinlogError| Error::damaged(gtid, e);
        let Some(present) = &mut self.present else {
            return Ok(false);
        };
        let end = self.event.len().saturating_sub(tail);
        let body = self
            .event
            .get(narwal_binlog::HEADER_LEN..end)
            .unwrap_or_default();
        let raw = RawEvent {
            header,
            bytes: &self.event,
            body,
        };
        match raw.decode().map_err(damaged)? {
            Event::Annotate(text) if self.with_query => present.query = Some(text.to_vec()),
            Event::TableMap(map) => {
                let table = match self.known.get(&map.table_id) {
                    Some(known) if known.body == body => known.table.clone(),
                    _ => {
                        let wanted = self.filter.wants_table(map.db, map.table);
                        let table = Arc::new(Table::new(&map, wanted).map_err(damaged)?);
                        self.metadata_missing |=
                            wanted && table.columns.iter().any(|c| c.name.is_empty());
                        if self.known.len() >= KNOWN_TABLES {
                            self.known.clear();
                        }
                        let known = Known {
                            body: body.to_vec(),
                            table: table.clone(),
                        };
                        self.known.insert(map.table_id, known);
                        table
                    }
                };
                self.mapped.insert(map.table_id, table);
            }
            Event::Rows(rows) => {
                let table = self.mapped.get(&rows.table_id).ok_or_else(|| {
                    damaged(BinlogError::Invalid(
                        "rows of a table that the statement has no table map of",
                    ))
                })?;
                let rows = Rows::new(&rows, table.clone(), end, present).map_err(damaged)?;
                self.rows = Some(rows);
            }
            Event::Query(query) => {
                let text = |b: &[u8]| String::from_utf8_lossy(b).into_owned();
                let said = Said {
                    db: text(query.db),
                    sql: text(query.sql),
                    ..Said::default()
                };
                present.thread = Some(query.thread_id);
                return self.take_statement(gtid, said);
            }
            // Behind the events of a transaction that was committed since.
            Event::Unknown(XA_PREPARE) if present.committed.is_some() => {}
            Event::Unknown(code) => refuse_unknown(gtid, code, header.flags)?,
            _ => {}
        }
        Ok(false)
    }

    /// Takes a statement; whether it is wanted.
    fn take_statement(&mut self, gtid: Gtid, mut said: Said) -> Result<bool> {
        let filter = &self.filter;
        let with_db =
            |(db, table): (Option<String>, String)| (db.unwrap_or_else(|| said.db.clone()), table);
        let wanted = match statement::parse(&said.sql) {
            Statement::Transaction | Statement::Other => return Ok(false),
            Statement::Rows => {
                if !filter.wants_database(&said.db) {
                    return Ok(false);
                }
                return Err(Error::Unsupported(format!(
                    "transaction {gtid} has changes logged as a statement, which can't be streamed; set binlog_format=ROW: {}",
                    said.sql.chars().take(200).collect::<String>()
                )));
            }
            Statement::Truncate(db, table) => {
                said.tables = vec![with_db((db, table))];
                (said.truncate, said.verb) = (true, "TRUNCATE");
                filter.wants_table(&said.tables[0].0, &said.tables[0].1)
            }
            Statement::Schema(change) => {
                said.verb = change.verb;
                said.tables = change.tables.into_iter().map(with_db).collect();
                if let Some(db) = change.database {
                    said.db = db;
                }
                match said.tables.is_empty() {
                    true => filter.wants_statement(&said.db),
                    false => said.tables.iter().any(|(d, t)| filter.wants_table(d, t)),
                }
            }
        };
        let Some(present) = &mut self.present else {
            return Ok(false);
        };
        present.order += 1;
        self.counts.changes += 1;
        if !wanted || present.order <= present.skip {
            return Ok(false);
        }
        self.place
            .get_or_insert_default()
            .enter(gtid, present.order);
        self.counts.records += 1;
        self.said = said;
        Ok(true)
    }

    /// Goes to the next row of the event; whether it is wanted.
    fn step_row(&mut self) -> Result<bool> {
        let (Some(rows), Some(present)) = (&mut self.rows, &mut self.present) else {
            self.rows = None;
            return Ok(false);
        };
        if rows.at >= rows.end {
            if let Some(t) = present.tables.iter_mut().find(|t| same(&t.0, &rows.table)) {
                t.1 = rows.table_order;
            }
            if rows.ends_statement {
                self.mapped.clear();
                present.query = None;
            }
            self.rows = None;
            return Ok(false);
        }
        present.order += 1;
        rows.row += 1;
        rows.table_order += 1;
        self.counts.changes += 1;
        if rows.table.wanted && present.order > present.skip {
            return Ok(true);
        }
        let len = |bitmap: &[u8], at: usize| {
            let bytes = self.event.get(at..rows.end).unwrap_or_default();
            cell::image_len(&rows.table.columns, bitmap, bytes)
                .map(|n| at + n)
                .map_err(|e| Error::damaged(present.group.gtid, e))
        };
        let mut at = len(&rows.present, rows.at)?;
        if rows.kind == RowsKind::Update {
            at = len(&rows.present_after, at)?;
        }
        rows.at = at;
        Ok(false)
    }

    /// The row at hand.
    fn row(&mut self) -> Result<Next<'_>> {
        let (Some(rows), Some(present)) = (&mut self.rows, &self.present) else {
            return Ok(Next::Idle);
        };
        let gtid = present.group.gtid;
        let image = |bitmap: &[u8], at: usize| -> Result<(Image<'_>, usize)> {
            let bytes = self.event.get(at..rows.end).unwrap_or_default();
            let (cells, n) = cell::image(&rows.table.columns, bitmap, bytes)
                .map_err(|e| Error::damaged(gtid, e))?;
            Ok((cells, at + n))
        };
        let (first, mut at) = image(&rows.present, rows.at)?;
        let (op, before, after) = match rows.kind {
            RowsKind::Write => (Op::Create, None, Some(first)),
            RowsKind::Delete => (Op::Delete, Some(first), None),
            RowsKind::Update => {
                let (second, end) = image(&rows.present_after, at)?;
                at = end;
                (Op::Update, Some(first), Some(second))
            }
        };
        rows.at = at;
        let place = self.place.get_or_insert_default();
        place.enter(gtid, present.order);
        self.counts.records += 1;
        let rows = &*rows;
        let origin = Origin {
            row: rows.row - 1,
            table_order: rows.table_order,
            query: present.query.as_deref(),
            ..origin(present, self.header, self.event_pos)
        };
        let change = RowChange {
            op,
            table: &rows.table,
            before,
            after,
            origin,
        };
        Ok(Next::Record(Record::Row(change), place))
    }

    /// The statement at hand.
    fn statement(&mut self) -> Next<'_> {
        let place = &*self.place.get_or_insert_default();
        let Some(present) = &self.present else {
            return Next::Idle;
        };
        let said = &self.said;
        let change = StatementChange {
            db: &said.db,
            verb: said.verb,
            tables: said.tables.clone(),
            sql: &said.sql,
            origin: origin(present, self.header, self.event_pos),
        };
        let record = match said.truncate {
            true => Record::Truncate(change),
            false => Record::Schema(change),
        };
        Next::Record(record, place)
    }
}

fn origin(present: &Present, header: Option<EventHeader>, pos: u64) -> Origin<'_> {
    Origin {
        gtid: Some(present.group.gtid),
        server_id: present.group.gtid.server,
        file: &present.group.file,
        pos,
        row: 0,
        millis: header.map_or(0, |h| u64::from(h.timestamp) * 1000),
        thread: present.thread,
        query: None,
        order: present.order,
        table_order: 1,
        snapshot: SnapshotMark::No,
    }
}

/// Replaces what a buffer holds; one that a large event has made large does not stay so for ever.
pub(crate) fn fill(buf: &mut Vec<u8>, bytes: &[u8]) {
    const KEPT: usize = 1 << 22;
    buf.clear();
    if buf.capacity() > KEPT && bytes.len() < KEPT / 4 {
        buf.shrink_to(KEPT / 4);
    }
    buf.extend_from_slice(bytes);
}

/// The same table, whatever it looks like by now.
fn same(a: &Table, b: &Table) -> bool {
    a.db == b.db && a.name == b.name
}

impl Rows {
    /// Begins the rows of an event whose bytes before the checksum end at `end`.
    fn new(
        rows: &RowsEvent<'_>,
        table: Arc<Table>,
        end: usize,
        present: &mut Present,
    ) -> std::result::Result<Self, BinlogError> {
        if rows.column_count != table.columns.len() {
            return Err(BinlogError::Invalid(
                "rows event that does not fit its table map",
            ));
        }
        let table_order = match present.tables.iter().find(|t| same(&t.0, &table)) {
            Some(t) => t.1,
            None => {
                present.tables.push((table.clone(), 0));
                0
            }
        };
        Ok(Rows {
            kind: rows.kind,
            present: rows.present.to_vec(),
            present_after: rows.present_after.unwrap_or_default().to_vec(),
            at: end - rows.data.len().min(end),
            end,
            row: 0,
            table_order,
            ends_statement: rows.is_statement_end(),
            table,
        })
    }
}

/// `XA END name`, `XA COMMIT name` or `XA ROLLBACK name`.
struct XaEnd {
    verb: String,
    name: String,
}

/// What an event says of an XA transaction, if it is a statement about one.
fn xa_end(event: &[u8], checksums: bool) -> std::result::Result<Option<XaEnd>, BinlogError> {
    let reader = EventReader::new(event);
    let mut reader = match checksums {
        true => reader,
        false => reader.without_checksums(),
    };
    let Some(raw) = reader.next().transpose()? else {
        return Ok(None);
    };
    let plain = decompressed_body(&raw)?;
    let header = EventHeader {
        event_type: uncompressed_type(raw.header.event_type).unwrap_or(raw.header.event_type),
        ..raw.header
    };
    if header.event_type != event_type::QUERY {
        return Ok(None);
    }
    let body = plain.as_deref().unwrap_or(raw.body);
    let Event::Query(query) = (RawEvent {
        header,
        bytes: raw.bytes,
        body,
    })
    .decode()?
    else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(query.sql);
    let mut words = text.splitn(3, ' ');
    let (Some("XA"), Some(verb), Some(name)) = (words.next(), words.next(), words.next()) else {
        return Ok(None);
    };
    Ok(Some(XaEnd {
        verb: verb.to_owned(),
        name: name.trim().to_owned(),
    }))
}

/// An event of a type that the stream does not read.
fn refuse_unknown(gtid: Gtid, code: u8, flags: u16) -> Result<()> {
    let what = match code {
        XA_PREPARE => "a prepared XA transaction, which may still be rolled back".to_owned(),
        // INTVAR, RAND, USER_VAR, BEGIN_LOAD_QUERY, EXECUTE_LOAD_QUERY: a statement in STATEMENT format follows.
        5 | 13 | 14 | 17 | 18 => "changes logged as statements; set binlog_format=ROW".to_owned(),
        34..=37 | 39.. if flags & narwal_binlog::event_flags::IGNORABLE == 0 && code < 160 => {
            format!("an event of type {code}")
        }
        _ => return Ok(()),
    };
    Err(Error::Unsupported(format!(
        "transaction {gtid} has {what}: that can't be streamed"
    )))
}
