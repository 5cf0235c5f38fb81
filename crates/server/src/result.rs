//! Results on their way to the client: column definitions, text and binary rows.
//!
//! Source of the formats: MySQL client/server protocol documentation, "Text Resultset",
//! "Binary Protocol Resultset", "Binary Protocol Value".

use crate::answer::{put_changes, put_eof, put_err, put_ok};
use crate::backend::status;
use crate::codec::{put_lenenc, put_lenenc_bytes};
use crate::definition::{Definitions, Form, column_wire_type, put_column};
use crate::heads::{Heads, RowColumn, Told};
use crate::held::HeldRows;
use crate::packet::{PacketReader, PacketWriter};
use crate::protocol::wire;
use crate::socket::is_stopped;
use crate::stream::{Stream, Timed};
use narwal_types::convert::fixed_text;
use narwal_types::errors;
use narwal_types::text::{write_i64, write_u64};
use narwal_types::{
    Charset, Collation, OkInfo, ResultColumn, ResultSink, SessionChange, SqlError, SqlResult,
};
use narwal_types::{DateTime, ValueRef};
use std::io;
use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

/// Digits after the point that are shown as such, as in ROUND(x, 2); 31 or more leave it to the number.
const FIXED: std::ops::RangeInclusive<u8> = 0..=30;

fn put_fixed(out: &mut Vec<u8>, x: f64, decimals: u8) {
    put_lenenc_bytes(out, fixed_text(x, decimals).as_bytes());
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
        ValueRef::Coded(set, s) => {
            let text = set.decode(s);
            put_lenenc_bytes(out, set.unveiled(&text).as_bytes());
        }
        // May be long.
        ValueRef::Member(m) => put_lenenc_bytes(out, m.text().as_bytes()),
        ValueRef::Double(x) if FIXED.contains(&decimals) => put_fixed(out, *x, decimals),
        ValueRef::Float(x) if FIXED.contains(&decimals) => put_fixed(out, f64::from(*x), decimals),
        _ => with_short_length(out, |o| v.write_text(o)),
    }
}

/// Appends a value's text form as its column shows it.
fn put_column_text(out: &mut Vec<u8>, v: &ValueRef<'_>, c: &RowColumn) {
    if c.form.zeros == 0 || v.is_null() {
        return put_text_value(out, v, c.decimals);
    }
    let mut text = match v {
        ValueRef::Double(x) if FIXED.contains(&c.decimals) => fixed_text(*x, c.decimals),
        ValueRef::Float(x) if FIXED.contains(&c.decimals) => fixed_text(f64::from(*x), c.decimals),
        v => v.to_text(),
    }
    .into_bytes();
    c.form.filled(&mut text);
    put_lenenc_bytes(out, &text);
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
    errors::NET_ERROR_ON_WRITE.plain()
}

fn encode_row(out: &mut Vec<u8>, values: &[ValueRef<'_>], columns: &[RowColumn], binary: bool) {
    debug_assert_eq!(values.len(), columns.len());
    if !binary {
        for (v, c) in values.iter().zip(columns) {
            put_column_text(out, v, c);
        }
        return;
    }
    out.push(0);
    let nulls = out.len();
    out.resize(nulls + (values.len() + 9) / 8, 0);
    for (i, (v, c)) in values.iter().zip(columns).enumerate() {
        if v.is_null() {
            out[nulls + (i + 2) / 8] |= 1 << ((i + 2) % 8);
        } else {
            match c.ty {
                wire::NEWDECIMAL => put_column_text(out, v, c),
                ty => put_binary_value(out, v, ty, c.decimals),
            }
        }
    }
}

/// Error 3, or what comes nearest to it: the rows of a cursor can't be kept.
fn no_room(e: &io::Error) -> SqlError {
    errors::WRITE.text(format!(
        "Error writing a temporary file for the rows of a cursor: {e}"
    ))
}

/// Text in another character set; `None` for what may stay as it is.
fn in_charset(v: &ValueRef<'_>, from: Charset, to: Charset) -> Option<Vec<u8>> {
    match v {
        ValueRef::Str(s) if s.is_ascii() && to.keeps_ascii() => None,
        // A literal may have what is no character of the set. It goes back as it came.
        ValueRef::Str(_) if from == to && to == Charset::Utf8mb3 => None,
        ValueRef::Str(s) => {
            let text = String::from_utf8_lossy(s);
            let text = if from == to {
                text
            } else {
                from.unveiled(&text).into_owned().into()
            };
            Some(to.to_client(text.as_bytes()).into_owned())
        }
        ValueRef::Coded(set, s) if to == *set => Some(s.to_vec()),
        ValueRef::Coded(set, s) => {
            let text = set.decode(s);
            let text = set.unveiled(&text);
            Some(to.to_client(text.as_bytes()).into_owned())
        }
        ValueRef::Member(m) => Some(to.to_client(m.text().as_bytes()).into_owned()),
        _ => None,
    }
}

/// Memory a connection keeps for its results.
#[derive(Debug, Default)]
pub struct ResultState {
    columns: Vec<RowColumn>,
    heads: Heads,
    /// Some column's text is converted.
    converts: bool,
    /// Rows are not just sent: converted, or kept for a cursor.
    special: bool,
    caches_definitions: bool,
    /// The form of results.
    pub form: Form,
    /// What has changed in the session since an OK packet could tell.
    changes: Vec<u8>,
    /// A statement without rows has run: the session's settings may be others now.
    pub changed: bool,
}

impl ResultState {
    /// `caches_definitions`: MARIADB_CLIENT_CACHE_METADATA, a result begins by saying whether column definitions follow.
    pub fn new(caches_definitions: bool, form: Form) -> Self {
        ResultState {
            caches_definitions,
            form,
            ..ResultState::default()
        }
    }

    /// What the columns mean for the rows that come.
    fn look_at_columns(&mut self, holds: bool) {
        self.converts = self.columns.iter().any(|c| c.charset.is_some());
        self.special = self.converts || holds;
    }

    /// What is to be remembered of a statement that was prepared.
    pub fn definitions(&self, columns: &[ResultColumn]) -> Option<Definitions> {
        self.caches_definitions
            .then(|| Definitions::new(columns, self.form))
    }
}

/// A packet of a client's file, at most.
const MAX_FILE_PACKET: usize = 64 << 20;

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
    /// Rows are kept for COM_STMT_FETCH instead of being sent.
    pub holds: bool,
    /// Those of the result that has begun, with its columns.
    pub held: Option<(Vec<ResultColumn>, HeldRows)>,
    /// Those of the result that has ended.
    pub opened: Option<HeldRows>,
    /// The client is sending a file.
    pub local_file: bool,
    /// Set once a result has begun: a client must not wait for an answer that never comes.
    pub answered: bool,
    /// Set once the stream has failed.
    pub broken: bool,
}

impl<'a> WireSink<'a> {
    /// For a command whose rows are sent at once, as text.
    pub fn new(
        writer: &'a mut PacketWriter,
        stream: &'a mut Stream,
        reader: Option<(&'a mut PacketReader, Duration)>,
        state: &'a mut ResultState,
        deprecate_eof: bool,
    ) -> Self {
        WireSink {
            writer,
            stream,
            reader,
            state,
            definitions: None,
            binary: false,
            deprecate_eof,
            multi_results: true,
            holds: false,
            held: None,
            opened: None,
            local_file: false,
            answered: false,
            broken: false,
        }
    }
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
            if is_stopped(&e) {
                return errors::QUERY_INTERRUPTED.plain();
            }
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
            let changes = take(&mut self.state.changes);
            put_ok(self.writer.begin(), 0xFE, &info, status, &changes);
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
            Err(errors::EMPTY_QUERY.plain())
        }
    }

    /// Reads and forgets what is left of a client's file: the client sends all of it before it listens.
    pub fn end_local_file(&mut self) {
        let mut piece = Vec::new();
        while self.local_file && matches!(self.read_local_file(&mut piece), Ok(true)) {
            piece.clear();
        }
    }

    /// An ERR packet.
    pub fn error(&mut self, e: &SqlError) {
        put_err(self.writer.begin(), e, self.state.form);
        self.writer.finish();
    }

    /// The beginning of a result set, with or without its column definitions.
    fn header(&mut self, columns: &[ResultColumn], with_definitions: bool, status: u16) {
        self.answered = true;
        let out = self.writer.begin();
        put_lenenc(out, columns.len() as u64);
        if self.state.caches_definitions {
            out.push(u8::from(with_definitions));
        }
        self.writer.finish();
        if with_definitions {
            for c in columns {
                put_column(self.writer.begin(), c, self.state.form);
                self.writer.finish();
            }
        }
        self.definitions_end(0, status);
    }

    /// Takes over the columns of the rows that follow.
    fn describe(&mut self, columns: &[ResultColumn]) {
        self.state.columns.clear();
        self.state.columns.extend(columns.iter().map(|c| {
            RowColumn {
                ty: column_wire_type(c),
                decimals: c.decimals,
                form: c.ty.form,
                charset: self
                    .state
                    .form
                    .converts_to(c)
                    .map(|to| (c.ty.collation.charset(), to)),
            }
        }));
        self.state.look_at_columns(self.holds);
    }

    /// The beginning of a result whose columns are a plan's: as it was the last time, if there was one.
    fn begin_of_plan(&mut self, columns: &Arc<[ResultColumn]>, with_definitions: bool) {
        let told = Told {
            columns,
            form: self.state.form,
            with_definitions,
            seq: self.writer.seq(),
        };
        if let Some(rows) = self.state.heads.repeat(&told, self.writer) {
            self.answered = true;
            self.state.columns.clear();
            self.state.columns.extend_from_slice(rows);
            return self.state.look_at_columns(self.holds);
        }
        let pending = self.writer.pending();
        self.begin(columns, with_definitions);
        let (writer, rows) = (&*self.writer, &self.state.columns);
        self.state.heads.keep(&told, writer, pending, rows);
    }

    fn begin(&mut self, columns: &[ResultColumn], with_definitions: bool) {
        self.describe(columns);
        // The status is that of the end of the result set; clients don't act on this one.
        self.header(columns, with_definitions, status::AUTOCOMMIT);
    }

    /// The result's columns are told when its rows are all there: its execution may fail until then.
    fn hold(&mut self, columns: &[ResultColumn]) {
        self.describe(columns);
        self.held = Some((columns.to_vec(), HeldRows::default()));
    }

    fn end_held(&mut self, warnings: u16, status: u16) -> SqlResult<()> {
        let Some((columns, mut rows)) = self.held.take() else {
            return Ok(());
        };
        rows.finish().map_err(|e| no_room(&e))?;
        let form = self.state.form;
        let with_definitions = match &mut self.definitions {
            Some(d) => d.replace(&columns, form),
            None => true,
        };
        let status = status | status::CURSOR_EXISTS;
        self.header(&columns, with_definitions, status);
        if self.deprecate_eof {
            self.eof(warnings, status);
        }
        self.opened = Some(rows);
        self.flush_if_full()
    }

    /// Sends the next row of an open cursor; false if there is none.
    pub fn held_row(&mut self, rows: &mut HeldRows) -> SqlResult<bool> {
        let found = rows.next(self.writer.begin());
        match found {
            Ok(true) => {
                self.writer.finish();
                self.flush_if_full()?;
                Ok(true)
            }
            other => {
                self.writer.abandon();
                other.map_err(|e| no_room(&e))
            }
        }
    }

    fn more(&self, status: u16, more: bool) -> u16 {
        if more && self.multi_results {
            status | status::MORE_RESULTS
        } else {
            status & !status::MORE_RESULTS
        }
    }

    #[inline]
    fn put_row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        let texts = values.iter().map(|v| match v {
            ValueRef::Str(s) | ValueRef::Bytes(s) => s.len() as u64,
            _ => 0,
        });
        // A row stands in the buffer as a whole, which has grown by doubling.
        narwal_memory::reserve(2 * texts.sum::<u64>())?;
        encode_row(
            self.writer.begin(),
            values,
            &self.state.columns,
            self.binary,
        );
        self.writer.finish();
        self.flush_if_full()
    }

    /// A row that is converted, kept, or both.
    #[cold]
    fn special_row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        if self.state.converts {
            self.converted_row(values)
        } else {
            self.keep_or_put(values)
        }
    }

    fn keep_or_put(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        let Some((_, rows)) = &mut self.held else {
            return self.put_row(values);
        };
        let (columns, binary) = (&self.state.columns, self.binary);
        rows.push(|out| encode_row(out, values, columns, binary))
            .map_err(|e| no_room(&e))
    }

    /// A row whose text goes into another character set.
    fn converted_row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        let texts: Vec<Option<Vec<u8>>> = values
            .iter()
            .zip(&self.state.columns)
            .map(|(v, c)| c.charset.and_then(|(from, to)| in_charset(v, from, to)))
            .collect();
        let row: Vec<ValueRef<'_>> = values
            .iter()
            .zip(&texts)
            .map(|(v, t)| t.as_ref().map_or(*v, |t| ValueRef::Bytes(t)))
            .collect();
        self.keep_or_put(&row)
    }
}

impl ResultSink for WireSink<'_> {
    fn begin_rows(&mut self, columns: &[ResultColumn]) -> SqlResult<()> {
        if self.holds {
            self.hold(columns);
            return Ok(());
        }
        let with_definitions = match &mut self.definitions {
            Some(d) => d.replace(columns, self.state.form),
            None => true,
        };
        self.begin(columns, with_definitions);
        Ok(())
    }

    fn begin_plan_rows(&mut self, columns: &Arc<[ResultColumn]>) -> SqlResult<()> {
        if self.holds {
            self.hold(columns);
            return Ok(());
        }
        let Some(d) = &mut self.definitions else {
            self.begin_of_plan(columns, true);
            return Ok(());
        };
        let form = self.state.form;
        let known = (d.of.as_ref()).is_some_and(|(of, f)| Arc::ptr_eq(of, columns) && *f == form);
        let with_definitions = !known && d.replace(columns, form);
        if !known {
            d.of = Some((columns.clone(), form));
        }
        self.begin_of_plan(columns, with_definitions);
        Ok(())
    }

    #[inline]
    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        debug_assert_eq!(values.len(), self.state.columns.len());
        if self.state.special {
            return self.special_row(values);
        }
        self.put_row(values)
    }

    fn end_rows(&mut self, warnings: u16, status: u16, more: bool) -> SqlResult<()> {
        if self.held.is_some() {
            return self.end_held(warnings, status);
        }
        self.eof(warnings, self.more(status, more));
        self.flush_if_full()
    }

    fn takes_several(&self) -> bool {
        self.multi_results
    }

    fn flush(&mut self) -> SqlResult<()> {
        self.flush_now()
    }

    fn set_results(&mut self, collation: Option<Collation>) {
        self.state.form.results = collation;
    }

    fn session_changes(&mut self, changes: &[SessionChange]) {
        put_changes(&mut self.state.changes, changes);
    }

    fn open_local_file(&mut self, name: &str) -> SqlResult<()> {
        let Some((reader, _)) = &mut self.reader else {
            return Err(narwal_types::no_local_files());
        };
        let mut request = vec![0xFB];
        request.extend_from_slice(name.as_bytes());
        self.writer.packet(&request);
        reader.expect_seq(self.writer.seq());
        self.local_file = true;
        self.flush_now()
    }

    fn read_local_file(&mut self, into: &mut Vec<u8>) -> SqlResult<bool> {
        let Some((reader, timeout)) = &mut self.reader else {
            return Ok(false);
        };
        if !self.local_file {
            return Ok(false);
        }
        let mut from = Timed {
            stream: &mut *self.stream,
            inside: *timeout,
        };
        let at = reader.read(&mut from, MAX_FILE_PACKET).map_err(|e| {
            self.broken = true;
            self.local_file = false;
            tracing::debug!(error = %e, "no packet of a client's file");
            errors::NET_READ_ERROR.plain()
        })?;
        let piece = reader.payload(at);
        if piece.is_empty() {
            self.local_file = false;
            self.writer.set_seq(reader.next_seq());
            return Ok(false);
        }
        into.extend_from_slice(piece);
        Ok(true)
    }

    fn ok(&mut self, info: &OkInfo, status: u16, more: bool) -> SqlResult<()> {
        self.end_local_file();
        self.answered = true;
        self.state.changed = true;
        let status = self.more(status, more);
        let changes = take(&mut self.state.changes);
        put_ok(self.writer.begin(), 0x00, info, status, &changes);
        self.writer.finish();
        self.flush_if_full()
    }
}
