//! Snapshots: the rows that are there when a stream begins, as records, and the place where it goes on.

use crate::cell::{self, Cell, Image};
use crate::filter::Filter;
use crate::pump::Stop;
use crate::record::{Op, Origin, Record, RowChange, SnapshotMark, StatementChange, Table};
use crate::sink::{Sink, now_millis};
use crate::source::network::position_at;
use crate::{Error, NetworkOptions, Place, Result};
use narwal_binlog::{ColumnMeta, column_type as t};
use narwal_client::{Column, Connection, Row};
use narwal_engine::{Database, KeyRange, ReadView, TxnOptions};
use narwal_types::{Date, DateTime, Decimal, Time};
use std::sync::Arc;

/// Utf8mb4, in which a server is asked to send text.
const UTF8: u16 = 45;
const BINARY: u16 = 63;
/// Rows between two looks at the outside.
const LOOK_EVERY: u64 = 256;

/// What a snapshot tells while it is taken.
#[derive(Debug, Clone, Copy)]
pub struct SnapshotProgress<'a> {
    /// Rows so far.
    pub rows: u64,
    /// Bytes that the sink took.
    pub written: u64,
    /// Database and table.
    pub table: (&'a str, &'a str),
}

/// How to take a snapshot.
pub struct SnapshotOptions<'a> {
    /// What is wanted.
    pub filter: &'a Filter,
    /// Ends it early: [`Error::Stopped`].
    pub stop: Stop,
    /// Is told how it goes, now and then.
    pub progress: &'a mut dyn FnMut(&SnapshotProgress<'_>),
}

impl std::fmt::Debug for SnapshotOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SnapshotOptions")
            .field("filter", &self.filter)
            .finish_non_exhaustive()
    }
}

/// A row that is kept until it is known whether another one follows.
#[derive(Debug, Default)]
struct Held {
    data: Vec<u8>,
    /// Where its values are, if that does not follow from the table.
    values: Vec<Option<(usize, usize)>>,
}

/// A table that rows come of, and how they are read.
#[derive(Debug)]
struct Reading {
    table: Table,
    /// How the server's text is to be read; empty for rows of the store.
    texts: Vec<Text>,
    /// All columns, for rows of the store.
    present: Vec<u8>,
}

impl Reading {
    fn image<'a>(&self, held: &'a Held) -> Result<Image<'a>> {
        if self.texts.is_empty() {
            let image = cell::image(&self.table.columns, &self.present, &held.data);
            return image.map(|i| i.0).map_err(|e| {
                Error::Damaged(format!(
                    "a row of {}.{}: {e}",
                    self.table.db, self.table.name
                ))
            });
        }
        let cell = |(text, at): (&Text, &Option<(usize, usize)>)| match *at {
            None => Ok(Some(Cell::Null)),
            Some((from, to)) => {
                let bytes = held.data.get(from..to).unwrap_or_default();
                text.read(bytes).map(Some).ok_or_else(|| {
                    Error::Refused(format!(
                        "{}.{}: the server sent {:?} as a value",
                        self.table.db,
                        self.table.name,
                        String::from_utf8_lossy(bytes)
                    ))
                })
            }
        };
        self.texts.iter().zip(&held.values).map(cell).collect()
    }
}

/// Where a record of a snapshot comes from.
fn origin(file: &str, pos: u64, millis: u64, snapshot: SnapshotMark) -> Origin<'_> {
    Origin {
        gtid: None,
        server_id: 0,
        file,
        pos,
        row: 0,
        millis,
        thread: None,
        query: None,
        order: 0,
        table_order: 0,
        snapshot,
    }
}

/// Hands rows to a sink, one behind.
struct Writer<'s, 'o, K> {
    sink: &'s mut K,
    options: SnapshotOptions<'o>,
    file: String,
    pos: u64,
    millis: u64,
    held: Option<(Arc<Reading>, Held)>,
    spare: Held,
    rows: u64,
}

impl<'s, 'o, K: Sink> Writer<'s, 'o, K> {
    fn new(sink: &'s mut K, options: SnapshotOptions<'o>, file: String, pos: u64) -> Self {
        Writer {
            sink,
            options,
            file,
            pos,
            millis: now_millis(),
            held: None,
            spare: Held::default(),
            rows: 0,
        }
    }

    /// A cleared buffer for a row.
    fn buffer(&mut self) -> Held {
        let mut held = std::mem::take(&mut self.spare);
        held.data.clear();
        held.values.clear();
        held
    }

    /// Writes the row that is held.
    fn release(&mut self, last: Option<&Place>) -> Result<()> {
        let Some((reading, held)) = self.held.take() else {
            return Ok(());
        };
        let mark = match last {
            Some(_) => SnapshotMark::Last,
            None => SnapshotMark::Row,
        };
        let record = Record::Row(RowChange {
            op: Op::Read,
            table: &reading.table,
            before: None,
            after: Some(reading.image(&held)?),
            origin: origin(&self.file, self.pos, self.millis, mark),
        });
        self.sink.write(&record, last)?;
        self.spare = held;
        Ok(())
    }

    fn row(&mut self, reading: &Arc<Reading>, held: Held) -> Result<()> {
        self.release(None)?;
        self.held = Some((reading.clone(), held));
        self.rows += 1;
        if self.rows.is_multiple_of(LOOK_EVERY) {
            self.look(&reading.table)?;
        }
        Ok(())
    }

    fn look(&mut self, table: &Table) -> Result<()> {
        if self.options.stop.is_stopped() {
            return Err(Error::Stopped);
        }
        (self.options.progress)(&SnapshotProgress {
            rows: self.rows,
            written: self.sink.bytes(),
            table: (&table.db, &table.name),
        });
        Ok(())
    }

    /// The statement that makes a table.
    fn schema(&mut self, table: &Table, sql: &str) -> Result<()> {
        self.release(None)?;
        self.look(table)?;
        let record = Record::Schema(StatementChange {
            db: &table.db,
            verb: "CREATE",
            tables: vec![(table.db.clone(), table.name.clone())],
            sql,
            origin: origin(&self.file, self.pos, self.millis, SnapshotMark::Row),
        });
        self.sink.write(&record, None)
    }

    fn finish(mut self, place: &Place) -> Result<()> {
        self.release(Some(place))?;
        self.sink.flush()?;
        self.sink.commit(Some(place))
    }
}

/// Writes all wanted rows of a database that is open in this process, as they are in one moment, and gives the place behind
/// that moment.
///
/// # Errors
/// Errors of reading and of the sink; [`Error::Stopped`]. The sink then has a part of a snapshot, of which it was told by
/// [`Sink::commit`] without a place.
pub fn snapshot_database<K: Sink>(
    db: &Database,
    sink: &mut K,
    options: SnapshotOptions<'_>,
) -> Result<Place> {
    let mut txn = db.begin(TxnOptions {
        read_only: true,
        ..TxnOptions::default()
    });
    // Tables as they are in the snapshot: no DDL in between.
    let catalog = loop {
        let version = db.catalog_version();
        let catalog = db.catalog();
        txn.ensure_snapshot();
        if db.catalog_version() == version {
            break catalog;
        }
        txn = db.begin(TxnOptions {
            read_only: true,
            ..TxnOptions::default()
        });
    };
    let seq = txn.snapshot_seq().unwrap_or_default();
    // What a stream has given must not be lost in a crash.
    db.sync()?;
    let at = db.position_at_seq(seq)?;
    let place: Place = at.gtid_pos.parse()?;
    let filter = options.filter;
    sink.commit(None)?;
    let mut writer = Writer::new(sink, options, at.file, at.offset);
    for database in catalog.databases() {
        for table in catalog.tables(&database.name) {
            if !filter.wants_table(&database.name, &table.def.name) {
                continue;
            }
            let columns = table.log_columns();
            let key = &table.indexes[0];
            let reading = Arc::new(Reading {
                table: Table {
                    db: table.def.db.clone(),
                    name: table.def.name.clone(),
                    primary_key: key.parts.iter().map(|p| p.column).collect(),
                    wanted: true,
                    columns,
                },
                texts: Vec::new(),
                present: vec![0xff; table.columns().len().div_ceil(8)],
            });
            let mut scan = txn.scan(table, 0, KeyRange::all(), false, ReadView::Snapshot, false)?;
            while let Some(item) = scan.next()? {
                let mut held = writer.buffer();
                held.data.extend_from_slice(item.row);
                writer.row(&reading, held)?;
            }
        }
    }
    writer.finish(&place)?;
    Ok(place)
}

/// How a value's text is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    Int(u8),
    Unsigned(u8),
    Float,
    Double,
    Decimal,
    Year,
    Date,
    Time,
    DateTime,
    Timestamp,
    Bit(u16),
    Bytes,
}

fn digits(bytes: &[u8]) -> Option<u64> {
    let ok = !bytes.is_empty() && bytes.len() < 20 && bytes.iter().all(u8::is_ascii_digit);
    ok.then(|| bytes.iter().fold(0, |n, b| n * 10 + u64::from(b - b'0')))
}

/// Microseconds, and digits, of what stands behind a point.
fn fraction(bytes: Option<&[u8]>) -> Option<(u64, u8)> {
    let Some(bytes) = bytes else {
        return Some((0, 0));
    };
    let n = digits(bytes).filter(|_| bytes.len() <= 6)?;
    Some((n * 10u64.pow(6 - bytes.len() as u32), bytes.len() as u8))
}

fn split(bytes: &[u8], at: u8) -> (&[u8], Option<&[u8]>) {
    match bytes.iter().position(|b| *b == at) {
        Some(i) => (&bytes[..i], Some(&bytes[i + 1..])),
        None => (bytes, None),
    }
}

fn date(bytes: &[u8]) -> Option<Date> {
    let mut parts = bytes.split(|b| *b == b'-').map(digits);
    let mut next = |most: u64| parts.next().flatten().filter(|n| *n <= most);
    let (y, m, d) = (next(9999)?, next(12)?, next(31)?);
    parts
        .next()
        .is_none()
        .then(|| Date::new(y as u16, m as u8, d as u8))
}

/// Microseconds and digits of the fraction, without the sign.
fn time(bytes: &[u8]) -> Option<(u64, u8)> {
    let (clock, rest) = split(bytes, b'.');
    let mut parts = clock.split(|b| *b == b':').map(digits);
    let mut next = |most: u64| parts.next().flatten().filter(|n| *n <= most);
    let (h, m, s) = (next(838)?, next(59)?, next(59)?);
    let (micros, fsp) = fraction(rest)?;
    Some((((h * 60 + m) * 60 + s) * 1_000_000 + micros, fsp))
}

fn date_time(bytes: &[u8]) -> Option<DateTime> {
    let (day, clock) = split(bytes, b' ');
    let (micros, fsp) = time(clock?)?;
    Some(DateTime::new(date(day)?, micros, fsp))
}

impl Text {
    /// For a column of a result; `float`: a FLOAT that was cast.
    fn of(column: &Column, float: bool) -> Self {
        let int = |width| match column.is_unsigned() {
            true => Text::Unsigned(width),
            false => Text::Int(width),
        };
        match column.kind {
            _ if float => Text::Float,
            t::TINY => int(1),
            t::SHORT => int(2),
            t::INT24 => int(3),
            t::LONG => int(4),
            t::LONGLONG => int(8),
            t::FLOAT => Text::Float,
            t::DOUBLE => Text::Double,
            t::NEWDECIMAL => Text::Decimal,
            t::YEAR => Text::Year,
            t::DATE | t::NEWDATE => Text::Date,
            t::TIME => Text::Time,
            t::DATETIME => Text::DateTime,
            t::TIMESTAMP => Text::Timestamp,
            t::BIT => Text::Bit(u16::try_from(column.length).unwrap_or(64)),
            _ => Text::Bytes,
        }
    }

    /// The value; `None` if the text is not a value of this type.
    fn read<'a>(self, bytes: &'a [u8]) -> Option<Cell<'a>> {
        let text = || std::str::from_utf8(bytes).ok();
        let mask = |width: u8| u64::MAX >> (64 - 8 * u32::from(width.clamp(1, 8)));
        Some(match self {
            Text::Int(width) => {
                let n: i64 = text()?.parse().ok()?;
                Cell::Int(n as u64 & mask(width), width)
            }
            // ZEROFILL pads.
            Text::Unsigned(width) => Cell::Int(text()?.parse::<u64>().ok()? & mask(width), width),
            Text::Float => Cell::Float(text()?.parse::<f64>().ok()? as f32),
            Text::Double => Cell::Double(text()?.parse().ok()?),
            Text::Decimal => Cell::Decimal(Decimal::parse(text()?)?),
            Text::Year => Cell::Year(digits(bytes).and_then(|n| n.try_into().ok())?),
            Text::Date => Cell::Date(date(bytes)?),
            Text::Time => {
                let (negative, clock) = match bytes {
                    [b'-', rest @ ..] => (true, rest),
                    _ => (false, bytes),
                };
                let (micros, fsp) = time(clock)?;
                let micros = i64::try_from(micros).ok()?;
                Cell::Time(Time::from_micros(
                    if negative { -micros } else { micros },
                    fsp,
                ))
            }
            Text::DateTime => Cell::DateTime(date_time(bytes)?),
            Text::Timestamp => {
                let v = date_time(bytes)?;
                if v.is_zero() {
                    return Some(Cell::Timestamp(0, 0, v.fsp));
                }
                let micros = u64::try_from(v.unix_micros()).ok()?;
                let secs = u32::try_from(micros / 1_000_000).ok()?;
                Cell::Timestamp(secs, (micros % 1_000_000) as u32, v.fsp)
            }
            Text::Bit(bits) => Cell::Bit(bytes, bits),
            Text::Bytes => Cell::Bytes(bytes),
        })
    }
}

/// A column as the log would tell it, as far as rendering goes.
fn meta(name: &str, column: &Column) -> ColumnMeta {
    let code = match column.kind {
        t::GEOMETRY => t::GEOMETRY,
        // Whole as it comes: nothing is to be padded.
        t::STRING => t::VARCHAR,
        kind => kind,
    };
    ColumnMeta {
        name: name.to_owned(),
        type_code: code,
        unsigned: column.is_unsigned(),
        collation: Some(if column.collation == BINARY {
            BINARY
        } else {
            UTF8
        }),
        ..ColumnMeta::default()
    }
}

fn name(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

fn hold(row: &Row<'_>, columns: usize, held: &mut Held) {
    for i in 0..columns {
        held.values.push(row.get(i).map(|bytes| {
            let from = held.data.len();
            held.data.extend_from_slice(bytes);
            (from, held.data.len())
        }));
    }
}

/// File, offset and place of a snapshot that this connection's transaction has.
fn begin(c: &mut Connection) -> Result<(String, u64, Place)> {
    const START: &str = "START TRANSACTION WITH CONSISTENT SNAPSHOT";
    c.execute(START)?;
    let status = c.query("SHOW STATUS LIKE 'binlog_snapshot_%'")?;
    let find = |wanted: &str| {
        (0..status.rows.len())
            .find(|&i| {
                status
                    .text(i, 0)
                    .is_some_and(|n| n.eq_ignore_ascii_case(wanted))
            })
            .and_then(|i| status.text(i, 1))
    };
    if let (Some(file), Some(pos)) = (
        find("binlog_snapshot_file"),
        find("binlog_snapshot_position"),
    ) && let Ok(pos) = pos.parse()
        && !file.is_empty()
    {
        let place = position_at(c, &file, pos)?;
        return Ok((file, pos, place));
    }
    // Without that nobody may write until the transaction has begun.
    c.execute("ROLLBACK")?;
    c.execute("FLUSH TABLES WITH READ LOCK")?;
    c.execute(START)?;
    let status = c.query("SHOW MASTER STATUS")?;
    let place = c.value("SELECT @@GLOBAL.gtid_binlog_pos")?;
    c.execute("UNLOCK TABLES")?;
    let file = status
        .text(0, 0)
        .ok_or_else(|| Error::Refused("the server has no binary log (log_bin is OFF)".into()))?;
    let pos = status.text(0, 1).and_then(|p| p.parse().ok());
    Ok((file, pos.unwrap_or(0), place.unwrap_or_default().parse()?))
}

/// Writes all wanted rows of a server, as they are in one moment, and gives the place behind that moment.
///
/// # Errors
/// As [`snapshot_database`]; [`Error::Lost`] if the connection breaks: a snapshot can't be gone on with.
pub fn snapshot_network<K: Sink>(
    options: &NetworkOptions,
    sink: &mut K,
    how: SnapshotOptions<'_>,
) -> Result<Place> {
    let mut c = Connection::connect(&options.connect)?;
    // Exact values in known forms, whatever the server's defaults are.
    for sql in [
        "SET NAMES utf8mb4",
        "SET SESSION time_zone='+00:00'",
        "SET SESSION sql_mode=''",
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    ] {
        c.execute(sql)?;
    }
    // The reader of the output may be slow. A server that does not take this will say so later.
    let _ = c.execute("SET SESSION net_write_timeout=3600");
    let (file, pos, place) = begin(&mut c)?;
    sink.commit(None)?;
    let filter = how.filter;
    let mut writer = Writer::new(sink, how, file, pos);
    let databases = c.query("SHOW DATABASES")?;
    for db in (0..databases.rows.len()).filter_map(|i| databases.text(i, 0)) {
        if !filter.wants_database(&db) {
            continue;
        }
        let tables = c.query(&format!("SHOW FULL TABLES FROM {}", name(&db)))?;
        for i in 0..tables.rows.len() {
            let kind = tables.text(i, 1).unwrap_or_default();
            let Some(table) = tables.text(i, 0) else {
                continue;
            };
            if matches!(kind.as_str(), "BASE TABLE" | "SYSTEM VERSIONED")
                && filter.wants_table(&db, &table)
            {
                snapshot_table(&mut c, &mut writer, &db, &table)?;
            }
        }
    }
    writer.finish(&place)?;
    c.quit();
    Ok(place)
}

fn snapshot_table<K: Sink>(
    c: &mut Connection,
    writer: &mut Writer<'_, '_, K>,
    db: &str,
    table: &str,
) -> Result<()> {
    let full = format!("{}.{}", name(db), name(table));
    let defined = c.query(&format!("SHOW COLUMNS FROM {full}"))?;
    let mut names = Vec::new();
    let mut floats = Vec::new();
    let mut primary_key = Vec::new();
    let mut list = String::new();
    for i in 0..defined.rows.len() {
        let column = defined.text(i, 0).unwrap_or_default();
        // As text a FLOAT loses digits.
        let kind = defined.text(i, 1).unwrap_or_default();
        let float = kind.starts_with("float");
        if defined.text(i, 3).as_deref() == Some("PRI") {
            primary_key.push(i);
        }
        if i > 0 {
            list.push(',');
        }
        list.push_str(&match kind.as_str() {
            _ if float => format!("CAST({} AS DOUBLE)", name(&column)),
            // The log has their bytes.
            "uuid" | "inet4" | "inet6" => format!("CAST({} AS BINARY)", name(&column)),
            _ => name(&column),
        });
        names.push(column);
        floats.push(float);
    }
    let made = c.query(&format!("SHOW CREATE TABLE {full}"))?;
    let mut rows = c.rows(&format!("SELECT {list} FROM {full}"))?;
    if rows.columns().len() != names.len() {
        return Err(Error::Refused(format!(
            "{full}: the server sent other columns than it has"
        )));
    }
    let reading = Arc::new(Reading {
        table: Table {
            db: db.to_owned(),
            name: table.to_owned(),
            columns: names
                .iter()
                .zip(rows.columns())
                .map(|(n, c)| meta(n, c))
                .collect(),
            primary_key,
            wanted: true,
        },
        texts: rows
            .columns()
            .iter()
            .zip(&floats)
            .map(|(c, float)| Text::of(c, *float))
            .collect(),
        present: Vec::new(),
    });
    if let Some(sql) = made.text(0, 1) {
        writer.schema(&reading.table, &sql)?;
    }
    while let Some(row) = rows.next()? {
        let mut held = writer.buffer();
        hold(&row, names.len(), &mut held);
        writer.row(&reading, held)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_are_read() {
        let read = |t: Text, s: &'static str| t.read(s.as_bytes());
        assert_eq!(read(Text::Int(1), "-1"), Some(Cell::Int(0xff, 1)));
        assert_eq!(
            read(Text::Unsigned(8), "18446744073709551615"),
            Some(Cell::Int(u64::MAX, 8))
        );
        assert_eq!(read(Text::Unsigned(4), "00042"), Some(Cell::Int(42, 4)));
        assert_eq!(
            read(Text::Float, "0.10000000149011612"),
            Some(Cell::Float(0.1))
        );
        assert_eq!(
            read(Text::Time, "-838:59:59.5"),
            Some(Cell::Time(Time::from_micros(-3_020_399_500_000, 1)))
        );
        assert_eq!(
            read(Text::Timestamp, "1970-01-01 00:00:01.250"),
            Some(Cell::Timestamp(1, 250_000, 3))
        );
        assert_eq!(
            read(Text::Timestamp, "0000-00-00 00:00:00"),
            Some(Cell::Timestamp(0, 0, 0))
        );
        let zero = Date::new(2024, 0, 0);
        assert_eq!(read(Text::Date, "2024-00-00"), Some(Cell::Date(zero)));
        for (t, s) in [
            (Text::Int(4), "x"),
            (Text::Date, "2024-1"),
            (Text::DateTime, "2024-01-01"),
            (Text::Time, "1:60:00"),
            (Text::Timestamp, "1960-01-01 00:00:00"),
        ] {
            assert_eq!(read(t, s), None, "{s}");
        }
    }

    proptest! {
        #[test]
        fn hostile_texts_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..40), s in "[-0-9:. e]{0,40}") {
            for t in [
                Text::Int(3), Text::Unsigned(8), Text::Float, Text::Double, Text::Decimal, Text::Year,
                Text::Date, Text::Time, Text::DateTime, Text::Timestamp, Text::Bit(9), Text::Bytes,
            ] {
                let _ = t.read(&bytes);
                let _ = t.read(s.as_bytes());
            }
        }
    }
}
