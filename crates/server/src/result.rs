//! Results on their way to the client: OK, ERR and EOF packets, column definitions, text and binary rows.
//!
//! Source of the formats: MySQL client/server protocol documentation, "Generic Response Packets", "Text Resultset",
//! "Binary Protocol Resultset", "Binary Protocol Value".

use crate::backend::status;
use crate::codec::{put_lenenc, put_lenenc_bytes};
use crate::packet::{PacketReader, PacketWriter};
use crate::protocol::{column_flag, wire};
use crate::stream::{Stream, Timed};
use narwal_types::charset::latin1_text;
use narwal_types::text::{write_i64, write_u64};
use narwal_types::{Collation, ColumnType, OkInfo, ResultColumn, ResultSink, SqlError, SqlResult};
use narwal_types::{DateTime, TypeKind, ValueRef};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Collation id under which text is sent: utf8mb4_general_ci.
pub const TEXT_COLLATION: u16 = 45;
/// Collation id of everything that is not text.
pub const BINARY_COLLATION: u16 = 63;
/// Longest encoding of one utf8mb4 character, in bytes.
const BYTES_PER_CHAR: u32 = 4;

/// Appends an OK packet's payload. `header` is 0x00, or 0xFE where it ends a result set.
pub fn put_ok(out: &mut Vec<u8>, header: u8, info: &OkInfo, status: u16) {
    out.push(header);
    put_lenenc(out, info.affected_rows);
    put_lenenc(out, info.last_insert_id);
    out.extend_from_slice(&status.to_le_bytes());
    out.extend_from_slice(&info.warnings.to_le_bytes());
    if !info.info.is_empty() {
        // The documentation says "to the end of the packet"; servers and clients have always used a length.
        put_lenenc_bytes(out, info.info.as_bytes());
    }
}

/// Appends an ERR packet's payload. The message is cut at 512 bytes, as clients' buffers expect.
pub fn put_err(out: &mut Vec<u8>, e: &SqlError) {
    out.push(0xFF);
    out.extend_from_slice(&e.code.to_le_bytes());
    out.push(b'#');
    out.extend_from_slice(&e.sqlstate);
    let mut end = e.message.len().min(511);
    while !e.message.is_char_boundary(end) {
        end -= 1;
    }
    out.extend_from_slice(&e.message.as_bytes()[..end]);
}

/// Appends the classic EOF packet's payload.
pub fn put_eof(out: &mut Vec<u8>, warnings: u16, status: u16) {
    out.push(0xFE);
    out.extend_from_slice(&warnings.to_le_bytes());
    out.extend_from_slice(&status.to_le_bytes());
}

fn is_text(ty: &ColumnType) -> bool {
    ty.has_charset() && ty.collation != Collation::Binary
}

/// Display length in bytes.
fn display_bytes(c: &ResultColumn) -> u32 {
    if c.length == 0 && is_text(&c.ty) && matches!(c.ty.kind, TypeKind::Text(_)) {
        // Its limit is in bytes, but a client that sizes a buffer by it may get as many characters.
        c.ty.display_length().saturating_mul(BYTES_PER_CHAR)
    } else if c.length == 0 {
        c.ty.display_length()
    } else if is_text(&c.ty) {
        c.length.saturating_mul(BYTES_PER_CHAR)
    } else {
        c.length
    }
}

fn column_flags(c: &ResultColumn, ty: u8) -> u16 {
    let mut flags = 0;
    let mut set = |on: bool, flag: u16| {
        if on {
            flags |= flag;
        }
    };
    set(!c.nullable, column_flag::NOT_NULL);
    set(c.primary_key, column_flag::PRI_KEY);
    set(c.unique_key, column_flag::UNIQUE_KEY);
    set(c.multiple_key, column_flag::MULTIPLE_KEY);
    set(
        c.primary_key || c.unique_key || c.multiple_key,
        column_flag::PART_KEY,
    );
    set(c.auto_increment, column_flag::AUTO_INCREMENT);
    set(c.ty.unsigned, column_flag::UNSIGNED);
    set(ty == wire::BLOB, column_flag::BLOB);
    let temporal = matches!(
        c.ty.kind,
        TypeKind::Date | TypeKind::Time(_) | TypeKind::DateTime(_) | TypeKind::Timestamp(_)
    );
    let bytes = matches!(
        c.ty.kind,
        TypeKind::Char(_)
            | TypeKind::VarChar(_)
            | TypeKind::Binary(_)
            | TypeKind::VarBinary(_)
            | TypeKind::Text(_)
            | TypeKind::Blob(_)
            | TypeKind::Enum(_)
            | TypeKind::Set(_)
    ) && c.ty.collation.is_bin();
    set(temporal || bytes || c.null_type, column_flag::BINARY);
    set(matches!(c.ty.kind, TypeKind::Enum(_)), column_flag::ENUM);
    set(matches!(c.ty.kind, TypeKind::Set(_)), column_flag::SET);
    set(matches!(c.ty.kind, TypeKind::Bit(_)), column_flag::UNSIGNED);
    set(
        matches!(c.ty.kind, TypeKind::Timestamp(_)),
        column_flag::TIMESTAMP,
    );
    flags
}

fn column_wire_type(c: &ResultColumn) -> u8 {
    if c.null_type {
        wire::NULL
    } else {
        c.ty.mysql_type()
    }
}

/// Appends a column definition's payload (protocol 4.1).
pub fn put_column(out: &mut Vec<u8>, c: &ResultColumn) {
    let ty = column_wire_type(c);
    put_lenenc_bytes(out, b"def");
    put_lenenc_bytes(out, c.db.as_bytes());
    put_lenenc_bytes(out, c.table.as_bytes());
    put_lenenc_bytes(out, c.org_table.as_bytes());
    put_lenenc_bytes(out, c.name.as_bytes());
    put_lenenc_bytes(out, c.org_name.as_bytes());
    out.push(0x0C);
    let collation = if is_text(&c.ty) && !c.null_type {
        TEXT_COLLATION
    } else {
        BINARY_COLLATION
    };
    out.extend_from_slice(&collation.to_le_bytes());
    let length = if c.null_type {
        c.length
    } else {
        display_bytes(c)
    };
    out.extend_from_slice(&length.to_le_bytes());
    out.push(ty);
    out.extend_from_slice(&column_flags(c, ty).to_le_bytes());
    // "Not fixed" is 31 for floating point and 39 elsewhere.
    let float = matches!(ty, wire::FLOAT | wire::DOUBLE);
    out.push(if float {
        c.decimals.min(31)
    } else {
        c.decimals
    });
    out.extend_from_slice(&[0, 0]);
}

/// Appends the definition of a parameter marker, which says nothing about it.
pub fn put_parameter(out: &mut Vec<u8>) {
    put_lenenc_bytes(out, b"def");
    for name in [&b""[..], b"", b"", b"?", b""] {
        put_lenenc_bytes(out, name);
    }
    out.push(0x0C);
    out.extend_from_slice(&BINARY_COLLATION.to_le_bytes());
    out.extend_from_slice(&0u32.to_le_bytes());
    out.push(wire::VAR_STRING);
    out.extend_from_slice(&column_flag::BINARY.to_le_bytes());
    out.extend_from_slice(&[0, 0, 0]);
}

/// Digits after the point that are shown as such, as in ROUND(x, 2); 0 and 31 or more leave it to the number.
const FIXED: std::ops::RangeInclusive<u8> = 1..=30;

fn put_fixed(out: &mut Vec<u8>, x: f64, decimals: u8) {
    let text = format!("{x:.*}", usize::from(decimals));
    put_lenenc_bytes(out, text.as_bytes());
}

/// Lets `write` append, with a length prefix of one byte put before it. What it appends is at most 250 bytes.
#[inline]
fn with_short_length(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.push(0);
    write(out);
    let len = out.len() - at - 1;
    debug_assert!(len <= 250);
    out[at] = len as u8;
}

/// Appends a value's text form with its length, or the NULL mark.
#[inline]
pub fn put_text_value(out: &mut Vec<u8>, v: &ValueRef<'_>, decimals: u8) {
    match v {
        ValueRef::Null => out.push(0xFB),
        ValueRef::Str(s) | ValueRef::Bytes(s) => put_lenenc_bytes(out, s),
        ValueRef::Int(n) => with_short_length(out, |o| write_i64(*n, o)),
        ValueRef::UInt(n) => with_short_length(out, |o| write_u64(*n, o)),
        ValueRef::Latin1(s) => put_lenenc_bytes(out, latin1_text(s).as_bytes()),
        // May be long.
        ValueRef::Member(m) => put_lenenc_bytes(out, m.text().as_bytes()),
        ValueRef::Double(x) if FIXED.contains(&decimals) => put_fixed(out, *x, decimals),
        ValueRef::Float(x) if FIXED.contains(&decimals) => put_fixed(out, f64::from(*x), decimals),
        _ => with_short_length(out, |o| v.write_text(o)),
    }
}

fn as_text<T>(v: &ValueRef<'_>, f: impl FnOnce(&str) -> T) -> Option<T> {
    let mut buf = Vec::new();
    match v {
        ValueRef::Str(s) | ValueRef::Bytes(s) => return std::str::from_utf8(s).ok().map(f),
        ValueRef::Decimal(d) => d.write(&mut buf),
        _ => return None,
    }
    std::str::from_utf8(&buf).ok().map(f)
}

fn as_f64(v: &ValueRef<'_>) -> f64 {
    match v {
        ValueRef::Int(n) => *n as f64,
        ValueRef::UInt(n) => *n as f64,
        ValueRef::Member(m) => m.number as f64,
        ValueRef::Bits(b) => b.value as f64,
        ValueRef::Float(x) => f64::from(*x),
        ValueRef::Double(x) => *x,
        other => as_text(other, |t| t.trim().parse().unwrap_or(0.0)).unwrap_or(0.0),
    }
}

/// The 64 bits of an integer, whatever its sign; other values are converted as well as they can be.
fn as_bits(v: &ValueRef<'_>) -> u64 {
    match v {
        ValueRef::Int(n) => *n as u64,
        ValueRef::UInt(n) => *n,
        ValueRef::Member(m) => m.number,
        ValueRef::Bits(b) => b.value,
        ValueRef::Date(d) => u64::from(d.year),
        ValueRef::Float(_) | ValueRef::Double(_) => as_f64(v) as i64 as u64,
        other => as_text(other, |t| {
            let t = t.trim();
            t.parse::<i64>()
                .map(|n| n as u64)
                .or_else(|_| t.parse::<u64>())
                .unwrap_or_else(|_| t.parse::<f64>().unwrap_or(0.0) as i64 as u64)
        })
        .unwrap_or(0),
    }
}

fn put_binary_datetime(out: &mut Vec<u8>, t: &DateTime) {
    let fraction = (t.micros % 1_000_000) as u32;
    let clock = (t.micros / 1_000_000) as u32;
    let len = match (t.micros, fraction) {
        (0, _) if t.date.year == 0 && t.date.month == 0 && t.date.day == 0 => 0,
        (0, _) => 4,
        (_, 0) => 7,
        _ => 11,
    };
    out.push(len);
    if len >= 4 {
        out.extend_from_slice(&t.date.year.to_le_bytes());
        out.extend_from_slice(&[t.date.month, t.date.day]);
    }
    if len >= 7 {
        out.extend_from_slice(&[
            (clock / 3600) as u8,
            (clock / 60 % 60) as u8,
            (clock % 60) as u8,
        ]);
    }
    if len >= 11 {
        out.extend_from_slice(&fraction.to_le_bytes());
    }
}

fn put_binary_time(out: &mut Vec<u8>, micros: i64) {
    if micros == 0 {
        return out.push(0);
    }
    let total = micros.unsigned_abs();
    let (seconds, fraction) = (total / 1_000_000, (total % 1_000_000) as u32);
    out.push(if fraction == 0 { 8 } else { 12 });
    out.push(u8::from(micros < 0));
    out.extend_from_slice(&((seconds / 86_400) as u32).to_le_bytes());
    out.extend_from_slice(&[
        (seconds / 3600 % 24) as u8,
        (seconds / 60 % 60) as u8,
        (seconds % 60) as u8,
    ]);
    if fraction != 0 {
        out.extend_from_slice(&fraction.to_le_bytes());
    }
}

/// Appends a value that is not NULL in the binary form of the column's type.
#[inline]
pub fn put_binary_value(out: &mut Vec<u8>, v: &ValueRef<'_>, ty: u8, decimals: u8) {
    match ty {
        wire::LONGLONG => out.extend_from_slice(&as_bits(v).to_le_bytes()),
        wire::LONG | wire::INT24 => {
            out.extend_from_slice(&(as_bits(v) as u32).to_le_bytes());
        }
        wire::SHORT | wire::YEAR => {
            out.extend_from_slice(&(as_bits(v) as u16).to_le_bytes());
        }
        wire::TINY => out.push(as_bits(v) as u8),
        wire::DOUBLE => out.extend_from_slice(&as_f64(v).to_le_bytes()),
        wire::FLOAT => match v {
            ValueRef::Float(x) => out.extend_from_slice(&x.to_le_bytes()),
            _ => out.extend_from_slice(&(as_f64(v) as f32).to_le_bytes()),
        },
        wire::DATE | wire::DATETIME | wire::TIMESTAMP => match v {
            ValueRef::DateTime(t) => put_binary_datetime(out, t),
            ValueRef::Date(d) => put_binary_datetime(
                out,
                &DateTime {
                    date: *d,
                    ..DateTime::default()
                },
            ),
            _ => out.push(0),
        },
        wire::TIME => match v {
            ValueRef::Time(t) => put_binary_time(out, t.micros),
            ValueRef::DateTime(t) => put_binary_time(out, t.micros as i64),
            _ => out.push(0),
        },
        // Strings, blobs and decimals, and whatever else has a text form.
        _ => put_text_value(out, v, decimals),
    }
}

fn client_gone(e: io::Error) -> SqlError {
    tracing::debug!(error = %e, "write to client failed");
    SqlError::new(1160, b"08S01", "Got an error writing communication packets")
}

#[derive(Debug, Clone, Copy)]
struct RowColumn {
    ty: u8,
    decimals: u8,
}

/// The column definitions that a client has of a prepared statement: it is sent only others
/// (MARIADB_CLIENT_CACHE_METADATA).
#[derive(Debug, Default)]
pub struct Definitions {
    /// Their payloads, one behind the other.
    sent: Vec<u8>,
    /// The columns that they are known to be those of, without a look at each.
    of: Option<Arc<[ResultColumn]>>,
}

impl Definitions {
    /// What COM_STMT_PREPARE has told.
    fn new(columns: &[ResultColumn]) -> Self {
        let mut this = Definitions::default();
        this.replace(columns);
        this
    }

    /// Takes over a result's columns. True if their definitions are not those that the client has.
    fn replace(&mut self, columns: &[ResultColumn]) -> bool {
        self.of = None;
        let mut now = Vec::new();
        for c in columns {
            put_column(&mut now, c);
        }
        let other = now != self.sent;
        self.sent = now;
        other
    }
}

/// Memory a connection keeps for its results.
#[derive(Debug, Default)]
pub struct ResultState {
    columns: Vec<RowColumn>,
    caches_definitions: bool,
    /// A statement without rows has run: the session's settings may be others now.
    pub changed: bool,
}

impl ResultState {
    /// `caches_definitions`: MARIADB_CLIENT_CACHE_METADATA, a result begins by saying whether column definitions follow.
    pub fn new(caches_definitions: bool) -> Self {
        ResultState {
            caches_definitions,
            ..ResultState::default()
        }
    }

    /// What is to be remembered of a statement that was prepared.
    pub fn definitions(&self, columns: &[ResultColumn]) -> Option<Definitions> {
        self.caches_definitions.then(|| Definitions::new(columns))
    }
}

/// A packet of a client's file, at most.
const MAX_FILE_PACKET: usize = 64 << 20;
/// A client's file, at most: it is kept in memory.
const MAX_LOCAL_FILE: usize = 1 << 30;

/// Sends results to one client: a [`ResultSink`] over a connection's stream and buffers.
#[derive(Debug)]
pub struct WireSink<'a> {
    /// Where packets go.
    pub writer: &'a mut PacketWriter,
    /// What they are sent over.
    pub stream: &'a mut Stream,
    /// Where a file that the client is asked for comes from.
    pub reader: Option<(&'a mut PacketReader, Duration)>,
    /// Reused memory.
    pub state: &'a mut ResultState,
    /// What the client has of the statement that is executed, if it keeps that.
    pub definitions: Option<Definitions>,
    /// Rows in binary form (COM_STMT_EXECUTE) instead of text.
    pub binary: bool,
    /// CLIENT_DEPRECATE_EOF.
    pub deprecate_eof: bool,
    /// CLIENT_MULTI_RESULTS (or PS_MULTI_RESULTS for a prepared statement): several results may be sent.
    pub multi_results: bool,
    /// Set once a result has begun: a client must not wait for an answer that never comes.
    pub answered: bool,
    /// Set once the stream has failed.
    pub broken: bool,
}

impl WireSink<'_> {
    fn flush_if_full(&mut self) -> SqlResult<()> {
        if self.writer.is_full() {
            self.flush_now()
        } else {
            Ok(())
        }
    }

    fn flush_now(&mut self) -> SqlResult<()> {
        self.writer.flush(self.stream).map_err(|e| {
            self.broken = true;
            client_gone(e)
        })
    }

    /// Ends a list of definitions, where the client still wants that, or a result set.
    pub fn definitions_end(&mut self, warnings: u16, status: u16) {
        if !self.deprecate_eof {
            put_eof(self.writer.begin(), warnings, status);
            self.writer.finish();
        }
    }

    /// An EOF packet, or the OK packet that stands for it.
    pub fn eof(&mut self, warnings: u16, status: u16) {
        if self.deprecate_eof {
            let info = OkInfo {
                warnings,
                ..OkInfo::default()
            };
            put_ok(self.writer.begin(), 0xFE, &info, status);
        } else {
            put_eof(self.writer.begin(), warnings, status);
        }
        self.writer.finish();
    }

    /// A session that has run nothing and sent nothing was given nothing to run.
    pub fn check_answered(&self) -> SqlResult<()> {
        if self.answered {
            Ok(())
        } else {
            Err(SqlError::new(1065, b"42000", "Query was empty"))
        }
    }

    /// An ERR packet.
    pub fn error(&mut self, e: &SqlError) {
        put_err(self.writer.begin(), e);
        self.writer.finish();
    }

    /// The beginning of a result set, with or without its column definitions.
    fn header(&mut self, columns: &[ResultColumn], with_definitions: bool) {
        self.answered = true;
        let out = self.writer.begin();
        put_lenenc(out, columns.len() as u64);
        if self.state.caches_definitions {
            out.push(u8::from(with_definitions));
        }
        self.writer.finish();
        if with_definitions {
            for c in columns {
                put_column(self.writer.begin(), c);
                self.writer.finish();
            }
        }
        self.state.columns.clear();
        self.state.columns.extend(columns.iter().map(|c| RowColumn {
            ty: column_wire_type(c),
            decimals: c.decimals,
        }));
        // The status is that of the end of the result set; clients don't act on this one.
        self.definitions_end(0, status::AUTOCOMMIT);
    }

    fn more(&self, status: u16, more: bool) -> u16 {
        if more && self.multi_results {
            status | status::MORE_RESULTS
        } else {
            status & !status::MORE_RESULTS
        }
    }
}

impl ResultSink for WireSink<'_> {
    fn begin_rows(&mut self, columns: &[ResultColumn]) -> SqlResult<()> {
        let with_definitions = match &mut self.definitions {
            Some(d) => d.replace(columns),
            None => true,
        };
        self.header(columns, with_definitions);
        Ok(())
    }

    fn begin_plan_rows(&mut self, columns: &Arc<[ResultColumn]>) -> SqlResult<()> {
        let Some(d) = &mut self.definitions else {
            self.header(columns, true);
            return Ok(());
        };
        let known = d.of.as_ref().is_some_and(|of| Arc::ptr_eq(of, columns));
        let with_definitions = !known && d.replace(columns);
        if !known {
            d.of = Some(columns.clone());
        }
        self.header(columns, with_definitions);
        Ok(())
    }

    #[inline]
    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        debug_assert_eq!(values.len(), self.state.columns.len());
        let out = self.writer.begin();
        if self.binary {
            out.push(0);
            let nulls = out.len();
            out.resize(nulls + (values.len() + 9) / 8, 0);
            for (i, (v, c)) in values.iter().zip(&self.state.columns).enumerate() {
                if v.is_null() {
                    out[nulls + (i + 2) / 8] |= 1 << ((i + 2) % 8);
                } else {
                    put_binary_value(out, v, c.ty, c.decimals);
                }
            }
        } else {
            for (v, c) in values.iter().zip(&self.state.columns) {
                put_text_value(out, v, c.decimals);
            }
        }
        self.writer.finish();
        self.flush_if_full()
    }

    fn end_rows(&mut self, warnings: u16, status: u16, more: bool) -> SqlResult<()> {
        self.eof(warnings, self.more(status, more));
        self.flush_if_full()
    }

    fn flush(&mut self) -> SqlResult<()> {
        self.flush_now()
    }

    fn read_local_file(&mut self, name: &str) -> SqlResult<Vec<u8>> {
        let Some((reader, timeout)) = self.reader.take() else {
            return Err(narwal_types::no_local_files());
        };
        let mut request = vec![0xFB];
        request.extend_from_slice(name.as_bytes());
        self.writer.packet(&request);
        self.flush_now()?;
        reader.expect_seq(self.writer.seq());
        let mut data = Vec::new();
        let mut too_large = false;
        loop {
            let mut from = Timed {
                stream: &mut *self.stream,
                inside: timeout,
            };
            let at = reader.read(&mut from, MAX_FILE_PACKET).map_err(|e| {
                self.broken = true;
                tracing::debug!(error = %e, "no packet of a client's file");
                SqlError::new(1158, b"08S01", "Got an error reading communication packets")
            })?;
            let piece = reader.payload(at);
            if piece.is_empty() {
                break;
            }
            too_large |= data.len() + piece.len() > MAX_LOCAL_FILE;
            // The client sends all of it before it listens.
            if !too_large {
                data.extend_from_slice(piece);
            }
        }
        self.writer.set_seq(reader.next_seq());
        if too_large {
            return Err(SqlError::new(
                1038,
                b"HY001",
                "The client's file is longer than 1 GiB: load it in parts",
            ));
        }
        Ok(data)
    }

    fn ok(&mut self, info: &OkInfo, status: u16, more: bool) -> SqlResult<()> {
        self.answered = true;
        self.state.changed = true;
        let status = self.more(status, more);
        put_ok(self.writer.begin(), 0x00, info, status);
        self.writer.finish();
        self.flush_if_full()
    }
}
