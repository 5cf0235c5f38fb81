//! Records as JSON lines in Debezium's envelope. docs/change-stream.md tells the mapping.

use crate::cell::{Cell, members, signed, string_len, utc};
use crate::record::{Op, Origin, Record, RowChange, SnapshotMark, StatementChange, Table};
use crate::{Place, charset};
use base64::Engine as _;
use narwal_binlog::{ColumnMeta, column_type as t};
use narwal_types::DateTime;
use std::io::Write as _;

/// How dates and times are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Temporal {
    /// ISO 8601: `2024-02-03`, `2024-02-03T04:05:06.5`, TIMESTAMP with `Z`.
    #[default]
    Iso,
    /// As SQL literals have it: `2024-02-03 04:05:06.5`, TIMESTAMP in UTC.
    Sql,
    /// Debezium's numbers (`time.precision.mode=adaptive_time_microseconds`): DATE in days, TIME in microseconds, DATETIME
    /// in milliseconds up to three digits and in microseconds beyond, all since 1970; TIMESTAMP in ISO. Dates that no
    /// calendar has are null.
    Debezium,
}

/// How DECIMAL is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DecimalForm {
    /// A string.
    #[default]
    Text,
    /// A number with all its digits; parsers that make doubles of numbers lose some.
    Number,
}

/// How bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Binary {
    /// Base 64.
    #[default]
    Base64,
    /// Hexadecimal digits, lower case.
    Hex,
}

/// How lines look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    /// Name of the source, `source.name`.
    pub name: String,
    /// Dates and times.
    pub temporal: Temporal,
    /// DECIMAL.
    pub decimal: DecimalForm,
    /// BINARY, VARBINARY and BLOB.
    pub binary: Binary,
    /// BIGINT as a string.
    pub bigint_text: bool,
}

impl Default for Format {
    fn default() -> Self {
        Format {
            name: "narwal".to_owned(),
            temporal: Temporal::default(),
            decimal: DecimalForm::default(),
            binary: Binary::default(),
            bigint_text: false,
        }
    }
}

/// Writes records as lines.
#[derive(Debug, Clone)]
pub struct JsonLines {
    format: Format,
    /// The beginning of every `source`.
    source: Vec<u8>,
}

/// Appends a string in quotes.
pub fn string(s: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let bytes = s.as_bytes();
    let mut from = 0;
    for (i, &b) in bytes.iter().enumerate() {
        if b >= 0x20 && b != b'"' && b != b'\\' && b != 0x7f {
            continue;
        }
        out.extend_from_slice(&bytes[from..i]);
        from = i + 1;
        match b {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b => {
                let _ = write!(out, "\\u{b:04x}");
            }
        }
    }
    out.extend_from_slice(&bytes[from..]);
    out.push(b'"');
}

/// A number in Rust's scientific notation, plain where that is short.
#[must_use]
pub fn number(scientific: &str) -> String {
    let (digits, exp) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exp: i32 = exp.parse().unwrap_or(0);
    if !(-5..15).contains(&exp) {
        return scientific.to_owned();
    }
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", digits),
    };
    let mut bare = digits.replace('.', "");
    if exp < 0 {
        return format!("{sign}0.{}{bare}", "0".repeat((-exp - 1) as usize));
    }
    let whole = exp as usize + 1;
    if bare.len() <= whole {
        bare.push_str(&"0".repeat(whole - bare.len()));
        return format!("{sign}{bare}.0");
    }
    format!("{sign}{}.{}", &bare[..whole], &bare[whole..])
}

fn unsigned(v: u64, out: &mut Vec<u8>) {
    narwal_types::text::write_u64(v, out);
}

fn quoted(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    out.push(b'"');
    write(out);
    out.push(b'"');
}

fn hex(bytes: &[u8], out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for b in bytes {
        out.push(DIGITS[usize::from(b >> 4)]);
        out.push(DIGITS[usize::from(b & 15)]);
    }
}

fn base64(bytes: &[u8], out: &mut Vec<u8>) {
    let at = out.len();
    // Four characters for three bytes.
    out.resize(at + bytes.len().div_ceil(3) * 4, 0);
    let written = base64::engine::general_purpose::STANDARD.encode_slice(bytes, &mut out[at..]);
    out.truncate(at + written.unwrap_or(0));
}

impl Format {
    fn bytes(&self, bytes: &[u8], out: &mut Vec<u8>) {
        quoted(out, |out| match self.binary {
            Binary::Base64 => base64(bytes, out),
            Binary::Hex => hex(bytes, out),
        });
    }

    /// Text. Bytes that this program cannot read as text become an object, so that nothing is changed unnoticed.
    fn text(&self, collation: Option<u16>, bytes: &[u8], out: &mut Vec<u8>) {
        match charset::text(collation, bytes) {
            Some(text) => string(&text, out),
            None => {
                out.extend_from_slice(b"{\"base64\":\"");
                base64(bytes, out);
                out.extend_from_slice(b"\"}");
            }
        }
    }

    fn integer(&self, column: &ColumnMeta, bits: u64, width: u8, out: &mut Vec<u8>) {
        let write = |out: &mut Vec<u8>| match column.unsigned {
            true => unsigned(bits, out),
            false => narwal_types::text::write_i64(signed(bits, width), out),
        };
        if self.bigint_text && width == 8 {
            quoted(out, write);
        } else {
            write(out);
        }
    }

    fn date_time(&self, v: &DateTime, zone: &[u8], out: &mut Vec<u8>) {
        quoted(out, |out| {
            let at = out.len();
            v.write(out);
            if self.temporal != Temporal::Sql {
                if let Some(blank) = out[at..].iter().position(|&b| b == b' ') {
                    out[at + blank] = b'T';
                }
                out.extend_from_slice(zone);
            }
        });
    }

    /// Appends a value.
    pub fn value(&self, cell: &Cell<'_>, column: &ColumnMeta, out: &mut Vec<u8>) {
        let numbers = self.temporal == Temporal::Debezium;
        match *cell {
            Cell::Null => out.extend_from_slice(b"null"),
            Cell::Int(bits, width) => self.integer(column, bits, width, out),
            Cell::Float(v) if v.is_finite() => {
                out.extend_from_slice(number(&format!("{v:e}")).as_bytes());
            }
            Cell::Double(v) if v.is_finite() => {
                out.extend_from_slice(number(&format!("{v:e}")).as_bytes());
            }
            Cell::Float(_) | Cell::Double(_) => out.extend_from_slice(b"null"),
            Cell::Decimal(d) if self.decimal == DecimalForm::Number => d.write(out),
            Cell::Decimal(d) => quoted(out, |out| d.write(out)),
            Cell::Bytes(b) => self.characters(b, column, out),
            Cell::Raw(b) => self.bytes(b, out),
            Cell::Bit(bytes, 1) => {
                let set = bytes.iter().any(|b| b & 1 != 0);
                out.extend_from_slice(if set { b"true" } else { b"false" });
            }
            Cell::Bit(bytes, _) => {
                unsigned(bytes.iter().fold(0, |n, &b| n << 8 | u64::from(b)), out);
            }
            Cell::Enum(n) => match usize::try_from(n).ok().and_then(|n| n.checked_sub(1)) {
                None => out.extend_from_slice(b"\"\""),
                Some(i) => match column.labels.get(i) {
                    Some(label) => self.text(column.collation, label, out),
                    None => unsigned(n, out),
                },
            },
            Cell::Set(bits, _) => match members(bits, &column.labels) {
                Some(names) => self.text(column.collation, &names, out),
                None => unsigned(bits, out),
            },
            Cell::Year(y) => unsigned(y.into(), out),
            Cell::Date(d) if numbers => match d.is_real() {
                true => narwal_types::text::write_i64(d.unix_days(), out),
                false => out.extend_from_slice(b"null"),
            },
            Cell::Date(d) => quoted(out, |out| d.write(out)),
            Cell::Time(v) if numbers => narwal_types::text::write_i64(v.micros, out),
            Cell::Time(v) => quoted(out, |out| v.write(out)),
            Cell::DateTime(v) if numbers => match v.date.is_real() {
                true => {
                    let unit = if v.fsp > 3 { 1 } else { 1000 };
                    narwal_types::text::write_i64(v.unix_micros().div_euclid(unit), out);
                }
                false => out.extend_from_slice(b"null"),
            },
            Cell::DateTime(v) => self.date_time(&v, b"", out),
            Cell::Timestamp(secs, micros, digits) => match utc(secs, micros, digits) {
                Some(v) if numbers && v.is_zero() => out.extend_from_slice(b"null"),
                Some(v) => self.date_time(&v, b"Z", out),
                None => out.extend_from_slice(b"null"),
            },
        }
    }

    /// CHAR, BINARY and their like.
    fn characters(&self, bytes: &[u8], column: &ColumnMeta, out: &mut Vec<u8>) {
        match column.type_code {
            // SRID, then the shape.
            t::GEOMETRY => match bytes.split_first_chunk::<4>() {
                Some((srid, wkb)) => {
                    out.extend_from_slice(b"{\"srid\":");
                    unsigned(u32::from_le_bytes(*srid).into(), out);
                    out.extend_from_slice(b",\"wkb\":");
                    self.bytes(wkb, out);
                    out.push(b'}');
                }
                None => self.bytes(bytes, out),
            },
            // The log leaves the zeros at the end out.
            t::STRING if charset::is_binary(column.collation) => {
                let len = usize::from(string_len(&column.meta)).max(bytes.len());
                let mut whole = bytes.to_vec();
                whole.resize(len, 0);
                self.bytes(&whole, out);
            }
            _ if charset::is_binary(column.collation) => self.bytes(bytes, out),
            _ => self.text(column.collation, bytes, out),
        }
    }
}

impl JsonLines {
    /// Writes lines of this form.
    #[must_use]
    pub fn new(format: Format) -> Self {
        let mut source = Vec::new();
        source.extend_from_slice(b",\"source\":{\"version\":");
        string(env!("CARGO_PKG_VERSION"), &mut source);
        source.extend_from_slice(b",\"connector\":\"narwal\",\"name\":");
        string(&format.name, &mut source);
        source.extend_from_slice(b",\"ts_ms\":");
        JsonLines { format, source }
    }

    /// The form.
    #[must_use]
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// Appends a row image as an object; columns that it lacks are left out.
    fn image(&self, table: &Table, image: Option<&[Option<Cell<'_>>]>, out: &mut Vec<u8>) {
        let Some(cells) = image else {
            out.extend_from_slice(b"null");
            return;
        };
        out.push(b'{');
        let from = out.len();
        for (i, cell) in cells.iter().enumerate() {
            let (Some(cell), Some(column)) = (cell, table.columns.get(i)) else {
                continue;
            };
            if out.len() > from {
                out.push(b',');
            }
            string(&table.column_name(i), out);
            out.push(b':');
            self.format.value(cell, column, out);
        }
        out.push(b'}');
    }

    /// Appends the primary key as an object: as the row is, or was if it is no more; null without a key.
    pub fn key(&self, change: &RowChange<'_>, out: &mut Vec<u8>) {
        let table = change.table;
        if table.primary_key.is_empty() {
            out.extend_from_slice(b"null");
            return;
        }
        out.push(b'{');
        for (nth, &i) in table.primary_key.iter().enumerate() {
            if nth > 0 {
                out.push(b',');
            }
            string(&table.column_name(i), out);
            out.push(b':');
            // An image may lack columns that did not change.
            let images = [&change.after, &change.before];
            let cell = images
                .into_iter()
                .flatten()
                .find_map(|cells| cells.get(i).copied().flatten());
            match (cell, table.columns.get(i)) {
                (Some(cell), Some(column)) => self.format.value(&cell, column, out),
                _ => out.extend_from_slice(b"null"),
            }
        }
        out.push(b'}');
    }

    fn source(&self, origin: &Origin<'_>, db: &str, table: Option<&str>, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.source);
        unsigned(origin.millis, out);
        out.extend_from_slice(b",\"snapshot\":\"");
        out.extend_from_slice(match origin.snapshot {
            SnapshotMark::No => b"false",
            SnapshotMark::Row => b"true",
            SnapshotMark::Last => b"last",
        });
        out.extend_from_slice(b"\",\"db\":");
        string(db, out);
        out.extend_from_slice(b",\"table\":");
        match table {
            Some(table) => string(table, out),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"server_id\":");
        unsigned(origin.server_id.into(), out);
        match origin.gtid {
            Some(gtid) => {
                let _ = write!(out, ",\"gtid\":\"{gtid}\",\"file\":");
            }
            None => out.extend_from_slice(b",\"gtid\":null,\"file\":"),
        }
        string(origin.file, out);
        out.extend_from_slice(b",\"pos\":");
        unsigned(origin.pos, out);
        out.extend_from_slice(b",\"row\":");
        unsigned(origin.row, out);
        out.extend_from_slice(b",\"thread\":");
        match origin.thread {
            Some(thread) => unsigned(thread.into(), out),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"query\":");
        match origin.query {
            Some(query) => string(&String::from_utf8_lossy(query), out),
            None => out.extend_from_slice(b"null"),
        }
        out.push(b'}');
    }

    /// What stands at the end of every line. `table`: the line is about one.
    fn end(&self, origin: &Origin<'_>, table: bool, place: Option<&Place>, out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"transaction\":");
        match origin.gtid {
            Some(gtid) => {
                let _ = write!(out, "{{\"id\":\"{gtid}\",\"total_order\":");
                unsigned(origin.order, out);
                out.extend_from_slice(b",\"data_collection_order\":");
                unsigned(if table { origin.table_order } else { 1 }, out);
                out.push(b'}');
            }
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b",\"resume\":");
        match place {
            Some(place) => quoted(out, |out| place.write(out)),
            None => out.extend_from_slice(b"null"),
        }
        out.extend_from_slice(b"}\n");
    }

    /// Appends the line of a record, its newline included. `place` is that behind the record, `now` milliseconds since
    /// 1970.
    pub fn line(&self, record: &Record<'_>, place: Option<&Place>, now: u64, out: &mut Vec<u8>) {
        match record {
            Record::Row(change) => self.row(change, place, now, out),
            Record::Truncate(change) => {
                let (db, table) = change
                    .tables
                    .first()
                    .map_or((change.db, ""), |(d, t)| (d.as_str(), t.as_str()));
                out.extend_from_slice(b"{\"before\":null,\"after\":null");
                self.source(&change.origin, db, Some(table), out);
                out.extend_from_slice(b",\"op\":\"t\",\"ts_ms\":");
                unsigned(now, out);
                out.extend_from_slice(b",\"key\":null");
                self.end(&change.origin, true, place, out);
            }
            Record::Schema(change) => self.schema(change, place, now, out),
        }
    }

    fn row(&self, change: &RowChange<'_>, place: Option<&Place>, now: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(b"{\"before\":");
        self.image(change.table, change.before.as_deref(), out);
        out.extend_from_slice(b",\"after\":");
        self.image(change.table, change.after.as_deref(), out);
        self.source(
            &change.origin,
            &change.table.db,
            Some(&change.table.name),
            out,
        );
        let op = match change.op {
            Op::Create => 'c',
            Op::Update => 'u',
            Op::Delete => 'd',
            Op::Read => 'r',
        };
        let _ = write!(out, ",\"op\":\"{op}\",\"ts_ms\":");
        unsigned(now, out);
        out.extend_from_slice(b",\"key\":");
        self.key(change, out);
        self.end(&change.origin, true, place, out);
    }

    fn schema(
        &self,
        change: &StatementChange<'_>,
        place: Option<&Place>,
        now: u64,
        out: &mut Vec<u8>,
    ) {
        let table = match &change.tables[..] {
            [(_, table)] => Some(table.as_str()),
            _ => None,
        };
        let db = match &change.tables[..] {
            [(db, _), ..] => db.as_str(),
            [] => change.db,
        };
        out.push(b'{');
        let from = out.len();
        self.source(&change.origin, db, table, out);
        // The part begins with a comma, which here nothing stands before.
        out.remove(from);
        out.extend_from_slice(b",\"ts_ms\":");
        unsigned(now, out);
        out.extend_from_slice(b",\"databaseName\":");
        string(db, out);
        out.extend_from_slice(b",\"schemaName\":null,\"ddl\":");
        string(change.sql, out);
        out.extend_from_slice(b",\"tableChanges\":[");
        for (i, (db, table)) in change.tables.iter().enumerate() {
            if i > 0 {
                out.push(b',');
            }
            let _ = write!(out, "{{\"type\":\"{}\",\"id\":", change.verb);
            string(&format!("\"{db}\".\"{table}\""), out);
            out.push(b'}');
        }
        out.push(b']');
        self.end(&change.origin, false, place, out);
    }
}
