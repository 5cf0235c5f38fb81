//! The log in the layout of `mariadb-binlog`.

use super::flat::BINLOG_VERSION;
use super::rows::{Change, Mapped, Tables, decode, each_row, one};
use super::select::Selection;
use super::values::{Cell, identifier, pseudo, type_text};
use super::{Events, Output, Trouble, localtime};
use narwal_binlog::{
    CHECKSUM_LEN, Event, EventHeader, FDE_LEN, GtidState, HEADER_LEN, MAGIC, QueryContext,
    QueryEvent, RawEvent, RowsEvent, RowsKind, XaPrepare, event_flags, format_description_event,
    gtid_flags, gtid_list_event, gtid_list_event_len, rows_flags, stamp_event,
};
use narwal_engine::GroupHead;
use std::io::{self, Write};

/// A BINLOG statement is closed when it has this many bytes of events: a statement's rows may be more than memory holds,
/// and more than a server takes in one packet.
const STATEMENT_MAX: usize = 1 << 20;
/// Bytes of base 64 in one statement beyond which it is cut in two, so that each fits a packet of 16 MiB.
const FRAGMENT: usize = 12 << 20;
/// Base 64 characters in a line.
const LINE: usize = 76;

/// Writes SQL with comments.
pub struct Print<W: Write> {
    out: W,
    base_name: String,
    verbose: u8,
    base64: bool,
    /// The file whose head was printed last.
    file_no: u32,
    /// What the last statements set, so that it is not said again.
    domain: Option<u32>,
    server: Option<u32>,
    parallel: Option<bool>,
    db: Option<Vec<u8>>,
    thread: Option<u32>,
    context: Option<QueryContext>,
    /// Rows events of the statement at hand, to go into one BINLOG statement.
    events: Vec<Vec<u8>>,
    events_len: usize,
    /// Its pseudo SQL.
    text: Vec<u8>,
    rows: u64,
}

impl<W: Write> Print<W> {
    /// Writes to `out`; `verbose` as -v is given, `base64`: with BINLOG statements.
    pub fn new(
        mut out: W,
        base_name: String,
        verbose: u8,
        base64: bool,
    ) -> Result<Self, crate::Failure> {
        out.write_all(
            b"/*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=1*/;\n\
            /*!40019 SET @@session.max_delayed_threads=0*/;\n\
            /*!50003 SET @OLD_COMPLETION_TYPE=@@COMPLETION_TYPE,COMPLETION_TYPE=0*/;\n\
            DELIMITER /*!*/;\n",
        )
        .map_err(|e| crate::Failure::run("can't write", e))?;
        Ok(Print {
            out,
            base_name,
            verbose,
            base64,
            file_no: 0,
            domain: None,
            server: None,
            parallel: None,
            db: None,
            thread: None,
            context: None,
            events: Vec::new(),
            events_len: 0,
            text: Vec::new(),
            rows: 0,
        })
    }

    /// The line that says what an event is; its own words follow.
    fn event_line(&mut self, header: &EventHeader, at: u64, crc: u32) -> io::Result<()> {
        writeln!(self.out, "# at {at}")?;
        let (y, m, d, h, i, s) = localtime::fields(header.timestamp);
        write!(
            self.out,
            "#{:02}{m:02}{d:02} {h:2}:{i:02}:{s:02} server id {}  end_log_pos {} CRC32 0x{crc:08x} \t",
            y % 100,
            header.server_id,
            header.end_log_pos,
        )
    }

    fn raw_line(&mut self, event: &RawEvent<'_>, at: u64) -> io::Result<()> {
        let crc = event
            .bytes
            .last_chunk::<CHECKSUM_LEN>()
            .map_or(0, |b| u32::from_le_bytes(*b));
        self.event_line(&event.header, at, crc)
    }

    fn base64_lines(&mut self, bytes: &[u8]) -> io::Result<()> {
        let text = super::values::base64(bytes);
        for line in text.as_bytes().chunks(LINE) {
            self.out.write_all(line)?;
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// The head of a file: nobody can run BINLOG statements without its format description.
    fn file_head(&mut self, head: &GroupHead, before: Option<&GtidState>) -> Result<(), Trouble> {
        self.file_no = head.file_no;
        let server = head.gtid.server;
        let mut end = (MAGIC.len() + FDE_LEN) as u32;
        let description =
            format_description_event(BINLOG_VERSION, server, head.timestamp, 0, end, 0);
        let event = one(head, &description)?;
        writeln!(self.out, "# {}.{:06}", self.base_name, head.file_no)?;
        self.raw_line(&event, MAGIC.len() as u64)?;
        let (y, m, d, h, i, s) = localtime::fields(head.timestamp);
        writeln!(
            self.out,
            "Start: binlog v 4, server v {BINLOG_VERSION} created {:02}{m:02}{d:02} {h:2}:{i:02}:{s:02}",
            y % 100
        )?;
        if self.base64 {
            self.out.write_all(b"BINLOG '\n")?;
            self.base64_lines(&description)?;
            self.out.write_all(b"'/*!*/;\n")?;
        }
        // Reading that begins inside a file does not meet what its list says.
        let Some(before) = before else {
            return Ok(());
        };
        let at = u64::from(end);
        end += gtid_list_event_len(before.len()) as u32;
        let list = gtid_list_event(before, 0, server, head.timestamp, end, 0);
        let event = one(head, &list)?;
        self.raw_line(&event, at)?;
        writeln!(
            self.out,
            "Gtid list [{}]",
            before.to_string().replace(',', ",\n# ")
        )?;
        Ok(())
    }

    fn gtid(
        &mut self,
        head: &GroupHead,
        event: &RawEvent<'_>,
        commit_id: Option<u64>,
    ) -> io::Result<()> {
        self.raw_line(event, head.start_pos)?;
        let gtid = head.gtid;
        let has = |bit| head.flags2 & bit != 0;
        write!(self.out, "GTID {gtid}")?;
        if let Some(id) = commit_id {
            write!(self.out, " cid={id}")?;
        }
        for (bit, word) in [
            (gtid_flags::DDL, " ddl"),
            (gtid_flags::TRANSACTIONAL, " trans"),
            (gtid_flags::WAITED, " waited"),
        ] {
            if has(bit) {
                self.out.write_all(word.as_bytes())?;
            }
        }
        self.out.write_all(b"\n")?;
        let skip_parallel = !has(gtid_flags::ALLOW_PARALLEL);
        if self.parallel.replace(skip_parallel) != Some(skip_parallel) {
            let value = u8::from(skip_parallel);
            writeln!(
                self.out,
                "/*M!100101 SET @@session.skip_parallel_replication={value}*//*!*/;"
            )?;
        }
        if self.domain.replace(gtid.domain) != Some(gtid.domain) {
            writeln!(
                self.out,
                "/*M!100001 SET @@session.gtid_domain_id={}*//*!*/;",
                gtid.domain
            )?;
        }
        if self.server.replace(gtid.server) != Some(gtid.server) {
            writeln!(
                self.out,
                "/*M!100001 SET @@session.server_id={}*//*!*/;",
                gtid.server
            )?;
        }
        writeln!(
            self.out,
            "/*M!100001 SET @@session.gtid_seq_no={}*//*!*/;",
            gtid.seq
        )?;
        if !has(gtid_flags::STANDALONE) {
            match event.xid() {
                Ok(Some(xid)) => writeln!(self.out, "XA START {xid}/*!*/;")?,
                _ => self.out.write_all(b"START TRANSACTION\n/*!*/;\n")?,
            }
        }
        Ok(())
    }

    fn query(
        &mut self,
        head: &GroupHead,
        event: &RawEvent<'_>,
        query: &QueryEvent<'_>,
        at: u64,
    ) -> Result<(), Trouble> {
        self.raw_line(event, at)?;
        writeln!(
            self.out,
            "Query\tthread_id={}\texec_time={}\terror_code={}\txid=0",
            query.thread_id, query.exec_time, query.error_code
        )?;
        if event.header.flags & event_flags::SUPPRESS_USE == 0
            && !query.db.is_empty()
            && self.db.as_deref() != Some(query.db)
        {
            let mut name = Vec::new();
            identifier(&String::from_utf8_lossy(query.db), &mut name);
            self.out.write_all(b"use ")?;
            self.out.write_all(&name)?;
            self.out.write_all(b"/*!*/;\n")?;
            self.db = Some(query.db.to_vec());
        }
        writeln!(self.out, "SET TIMESTAMP={}/*!*/;", event.header.timestamp)?;
        if self.thread.replace(query.thread_id) != Some(query.thread_id) {
            writeln!(
                self.out,
                "SET @@session.pseudo_thread_id={}/*!*/;",
                query.thread_id
            )?;
        }
        let context = query.context().map_err(|e| super::damaged(head, e))?;
        let last = self.context.replace(context);
        if last.is_none_or(|l| l.flags2 != context.flags2) {
            let on = |bit: u32| u8::from(context.flags2 & bit != 0);
            writeln!(
                self.out,
                "SET @@session.foreign_key_checks={}, @@session.sql_auto_is_null={}, @@session.unique_checks={}, @@session.autocommit={}/*!*/;",
                1 - on(0x0400_0000),
                on(0x4000),
                1 - on(0x0800_0000),
                1 - on(0x8_0000),
            )?;
            writeln!(
                self.out,
                "/*M!100010 SET @@session.explicit_defaults_for_timestamp={}*//*!*/;",
                on(0x0100_0000)
            )?;
        }
        if last.is_none_or(|l| l.sql_mode != context.sql_mode) {
            writeln!(
                self.out,
                "SET @@session.sql_mode={}/*!*/;",
                context.sql_mode
            )?;
        }
        let charset =
            |c: &QueryContext| (c.charset_client, c.collation_connection, c.collation_server);
        if last.is_none_or(|l| charset(&l) != charset(&context)) {
            let client = match charset_name(context.charset_client) {
                Some(name) => {
                    writeln!(self.out, "/*!\\C {name} *//*!*/;")?;
                    name.to_owned()
                }
                None => context.charset_client.to_string(),
            };
            writeln!(
                self.out,
                "SET @@session.character_set_client={client},@@session.collation_connection={},@@session.collation_server={}/*!*/;",
                context.collation_connection, context.collation_server
            )?;
        }
        if let Some(zone) = query.time_zone().map_err(|e| super::damaged(head, e))? {
            let zone = String::from_utf8_lossy(zone).replace('\'', "''");
            writeln!(self.out, "SET @@session.time_zone='{zone}'/*!*/;")?;
        }
        self.out.write_all(query.sql)?;
        self.out.write_all(b"\n/*!*/;\n")?;
        Ok(())
    }

    /// A rows event: its line now, its rows with the statement's others.
    fn rows_event(
        &mut self,
        head: &GroupHead,
        event: &RawEvent<'_>,
        rows: &RowsEvent<'_>,
        table: &Mapped,
        at: u64,
    ) -> Result<(), Trouble> {
        self.raw_line(event, at)?;
        let name = match rows.kind {
            RowsKind::Write => "Write_rows",
            RowsKind::Update => "Update_rows",
            RowsKind::Delete => "Delete_rows",
        };
        let flags = if rows.is_statement_end() {
            " flags: STMT_END_F"
        } else {
            ""
        };
        writeln!(self.out, "{name}: table id {}{flags}", rows.table_id)?;
        if self.base64 {
            self.events_len += event.bytes.len();
            self.events.push(event.bytes.to_vec());
        }
        if self.verbose > 0 {
            let mut target = Vec::new();
            identifier(&table.db, &mut target);
            target.push(b'.');
            identifier(&table.table, &mut target);
            let (text, verbose, count) = (&mut self.text, self.verbose, &mut self.rows);
            each_row(head, rows, table, |change| {
                *count += 1;
                put_row(text, &target, rows.kind, &change, table, verbose);
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Writes what was gathered of the statement. Inside a statement its tables are named again next time.
    fn statement(&mut self, tables: &Tables) -> Result<(), Trouble> {
        if !self.events.is_empty() {
            let mut parts: Vec<Vec<u8>> = tables
                .iter()
                .filter(|(_, t)| t.wanted)
                .map(|(_, t)| t.event.clone())
                .collect();
            let events = std::mem::take(&mut self.events);
            let last = events.len() - 1;
            for (n, mut event) in events.into_iter().enumerate() {
                if n == last {
                    end_statement(&mut event);
                }
                parts.push(event);
            }
            self.binlog(&parts)?;
        }
        self.events_len = 0;
        if self.verbose > 0 && self.rows > 0 {
            self.out.write_all(&self.text)?;
            writeln!(self.out, "# Number of rows: {}", self.rows)?;
        }
        self.text.clear();
        self.rows = 0;
        Ok(())
    }

    fn binlog(&mut self, events: &[Vec<u8>]) -> io::Result<()> {
        let encoded: usize = events.iter().map(|e| e.len() / 3 * 4 + 4).sum();
        if encoded <= FRAGMENT {
            self.out.write_all(b"\nBINLOG '\n")?;
            for event in events {
                self.base64_lines(event)?;
            }
            return self.out.write_all(b"'/*!*/;\n");
        }
        // A row too large for one packet: in two parts. They are put together as text, so the cut may be anywhere.
        let mut text = String::with_capacity(encoded);
        for event in events {
            text.push_str(&super::values::base64(event));
            text.push('\n');
        }
        let (a, b) = text.split_at(text.len() / 2);
        write!(
            self.out,
            "\nSET @binlog_fragment_0='\n{a}'/*!*/;\nSET @binlog_fragment_1='{b}'/*!*/;\n"
        )?;
        self.out
            .write_all(b"BINLOG @binlog_fragment_0, @binlog_fragment_1/*!*/;\n")
    }

    fn annotation(&mut self, event: &RawEvent<'_>, at: u64) -> Result<(), Trouble> {
        self.raw_line(event, at)?;
        self.out.write_all(b"Annotate_rows:\n")?;
        for line in event.body.split(|&b| b == b'\n') {
            self.out.write_all(b"#Q> ")?;
            self.out.write_all(line)?;
            self.out.write_all(b"\n")?;
        }
        Ok(())
    }

    /// Prints an event that is wanted, and keeps the books for one that is not. True at the end of a statement.
    fn event(
        &mut self,
        head: &GroupHead,
        event: &RawEvent<'_>,
        decoded: &Event<'_>,
        at: u64,
        wanted: bool,
        tables: &mut Tables,
    ) -> Result<bool, Trouble> {
        match decoded {
            Event::TableMap(map) if wanted => {
                self.raw_line(event, at)?;
                let mut name = Vec::new();
                identifier(map.db, &mut name);
                name.push(b'.');
                identifier(map.table, &mut name);
                self.out.write_all(b"Table_map: ")?;
                self.out.write_all(&name)?;
                writeln!(self.out, " mapped to number {}", map.table_id)?;
            }
            Event::Rows(rows) => {
                if wanted {
                    let table = tables.of(head, rows)?;
                    self.rows_event(head, event, rows, table, at)?;
                }
                let end = rows.is_statement_end();
                if end || self.events_len.max(self.text.len()) >= STATEMENT_MAX {
                    self.statement(tables)?;
                }
                if end {
                    tables.clear();
                    return Ok(true);
                }
            }
            Event::Query(query) if wanted => self.query(head, event, query, at)?,
            Event::Xid(xid) if wanted => {
                self.raw_line(event, at)?;
                write!(self.out, "Xid = {xid}\nCOMMIT/*!*/;\n")?;
            }
            Event::Unknown(code) => {
                self.raw_line(event, at)?;
                match event.xa_prepare() {
                    Ok(Some(XaPrepare { xid, .. })) => {
                        write!(self.out, "XID = {xid}\nXA PREPARE {xid}\n/*!*/;\n")?;
                    }
                    _ => writeln!(self.out, "Event of type {code}")?,
                }
            }
            _ => {}
        }
        Ok(false)
    }
}

/// Marks a rows event as its statement's last one.
fn end_statement(event: &mut [u8]) {
    let Ok(header) = EventHeader::parse(event) else {
        return;
    };
    let flags = HEADER_LEN + 6;
    let Some(byte) = event.get_mut(flags) else {
        return;
    };
    if *byte & rows_flags::STMT_END as u8 == 0 {
        *byte |= rows_flags::STMT_END as u8;
        // Its size is right: it has been read by it.
        let _ = stamp_event(event, header.server_id, header.end_log_pos);
    }
}

/// Names of the character sets that a client may have here.
fn charset_name(collation: u16) -> Option<&'static str> {
    match collation {
        // Some of these are MySQL's.
        45 | 46 | 224..=250 => Some("utf8mb4"),
        id => narwal_types::Collation::from_id(id).map(|c| c.charset().name()),
    }
}

fn put_row(
    out: &mut Vec<u8>,
    target: &[u8],
    kind: RowsKind,
    change: &Change<'_>,
    table: &Mapped,
    verbose: u8,
) {
    let image = |out: &mut Vec<u8>, word: &[u8], cells: &[Option<Cell<'_>>]| {
        out.extend_from_slice(word);
        for (i, cell) in cells.iter().enumerate() {
            let Some(cell) = cell else { continue };
            let _ = write!(out, "###   @{}=", i + 1);
            pseudo(cell, out);
            if let (2.., Some(c)) = (verbose, table.columns.get(i)) {
                let _ = write!(
                    out,
                    " /* {} nullable={} is_null={} */",
                    type_text(c.type_code, &c.meta),
                    u8::from(c.nullable),
                    u8::from(*cell == Cell::Null),
                );
            }
            out.push(b'\n');
        }
    };
    let verb: &[u8] = match kind {
        RowsKind::Write => b"### INSERT INTO ",
        RowsKind::Update => b"### UPDATE ",
        RowsKind::Delete => b"### DELETE FROM ",
    };
    out.extend_from_slice(verb);
    out.extend_from_slice(target);
    out.push(b'\n');
    if let Some(before) = &change.before {
        image(out, b"### WHERE\n", before);
    }
    if let Some(after) = &change.after {
        image(out, b"### SET\n", after);
    }
}

impl<W: Write> Output for Print<W> {
    fn group(
        &mut self,
        head: &GroupHead,
        events: &mut dyn Events,
        selection: &Selection,
    ) -> Result<(), Trouble> {
        if self.file_no != head.file_no {
            let before = events.file_gtids().cloned();
            self.file_head(head, before.as_ref())?;
        }
        let mut tables = Tables::default();
        let mut position = head.start_pos;
        let mut any = false;
        // The GTID event is printed with the first event that is wanted, or not at all.
        let mut gtid: Option<Vec<u8>> = None;
        let mut annotation: Option<(Vec<u8>, u64)> = None;
        while let Some(bytes) = events.next_event()? {
            let at = position;
            position += bytes.len() as u64;
            let event = one(head, bytes)?;
            let decoded = decode(head, &event)?;
            let wanted = match &decoded {
                Event::Gtid(_) => {
                    gtid = Some(bytes.to_vec());
                    false
                }
                Event::Annotate(_) => {
                    annotation = Some((bytes.to_vec(), at));
                    false
                }
                Event::TableMap(map) => tables.map(head, bytes, map, selection)?.wanted,
                Event::Rows(rows) => tables.of(head, rows)?.wanted,
                Event::Query(query) => selection.wants_statement(query.db),
                Event::Xid(_) => any,
                _ => true,
            };
            if wanted {
                any = true;
                if let Some(bytes) = gtid.take() {
                    let event = one(head, &bytes)?;
                    let commit_id = match decode(head, &event)? {
                        Event::Gtid(g) => g.commit_id,
                        _ => None,
                    };
                    self.gtid(head, &event, commit_id)?;
                }
                if let Some((bytes, at)) = annotation.take() {
                    self.annotation(&one(head, &bytes)?, at)?;
                }
            }
            let ends = self.event(head, &event, &decoded, at, wanted, &mut tables)?;
            if ends {
                annotation = None;
            }
        }
        self.statement(&tables)
    }

    fn abandon(&mut self, head: &GroupHead) -> Result<(), Trouble> {
        self.events.clear();
        (self.events_len, self.rows) = (0, 0);
        self.text.clear();
        writeln!(
            self.out,
            "ROLLBACK /* the rest of {} can't be read */ /*!*/;",
            head.gtid
        )?;
        Ok(())
    }

    fn finish(&mut self, _: bool) -> Result<(), Trouble> {
        self.out.write_all(
            b"DELIMITER ;\n\
            # End of log file\n\
            ROLLBACK /* added by narwal binlog */;\n\
            /*!50003 SET COMPLETION_TYPE=@OLD_COMPLETION_TYPE*/;\n\
            /*!50530 SET @@SESSION.PSEUDO_SLAVE_MODE=0*/;\n",
        )?;
        Ok(self.out.flush()?)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
