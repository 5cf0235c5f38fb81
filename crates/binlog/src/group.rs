//! Event groups: one transaction's events, growing in one buffer.

use smallvec::SmallVec;

use crate::context::QueryContext;
use crate::error::BinlogError;
use crate::event::{
    CHECKSUM_LEN, EventHeader, HEADER_LEN, MAX_EVENT_LEN, MAX_GROUP_LEN, SIZE_AT, event_flags,
    event_type, gtid_flags, put_u32, rows_flags, seal,
};
use crate::gtid::Gtid;
use crate::template::TableMapTemplate;
use crate::xid::Xid;

/// Bytes of the GTID event that starts every group, but for those of XA transactions, which have its name in it.
pub const GTID_EVENT_LEN: usize = 42;
/// Size at which a rows event is closed and the next begun, in bytes, header and checksum included.
pub const DEFAULT_ROW_EVENT_MAX_SIZE: u32 = 8192;

const XID_EVENT_LEN: usize = HEADER_LEN + 8 + CHECKSUM_LEN;
/// Offset of the flags in a rows event.
const ROWS_FLAGS_AT: usize = HEADER_LEN + 6;

/// The rows event at the end of the buffer, to which further rows are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OpenRows {
    start: usize,
    table_id: u64,
    event_type: u8,
    // Its images lack columns: the bitmaps in its head say which.
    partial: bool,
    // Row changes in it.
    rows: u64,
}

/// The columns that a partial row image has: bit `i % 8` of byte `i / 8` for column `i`, as many bytes as the table's
/// columns need, unused bits 0, at least one bit set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Presence<'a> {
    /// Columns of the (first) image.
    pub before: &'a [u8],
    /// Columns of an update's second image; not used for other rows.
    pub after: &'a [u8],
}

/// A transaction's event group while statements execute.
///
/// The buffer holds, in this order: the spare bytes asked for, room for the GTID event, then per statement an
/// optional ANNOTATE_ROWS, the TABLE_MAPs of its tables and its rows events, the last of them marked
/// STMT_END. [`finish`](Self::finish) adds the XID event. GTID, positions and checksums are filled in by
/// [`PendingGroup::into_stamped`], when the place in the log is known.
///
/// Row images are given as the event has them: null bitmap, then the values of the columns that are not NULL. Those of
/// [`update_row_partial`](Self::update_row_partial) and [`delete_row_partial`](Self::delete_row_partial) lack columns.
#[derive(Debug)]
pub struct GroupBuilder {
    buf: Vec<u8>,
    reserve: usize,
    server_id: u32,
    timestamp: u32,
    rows_flags: u16,
    row_event_max: usize,
    open: Option<OpenRows>,
    // Where the current statement's first event is.
    statement_start: usize,
    // Tables mapped in the current statement.
    mapped: SmallVec<[u64; 2]>,
    // Bytes of events that were taken out by `drain`: they stand between the GTID event and the buffer's events.
    drained: u64,
    // A statement that is DDL is in it.
    has_ddl: bool,
}

/// A place in a group to which [`GroupBuilder::truncate`] returns.
#[derive(Debug, Clone)]
pub struct Mark {
    // Bytes of events before it, the GTID event not counted, drained ones counted.
    pos: u64,
    // The open rows event; its start is how far before `pos` it began.
    open: Option<OpenRows>,
    // How far before `pos` the statement began.
    statement_back: u64,
    mapped: SmallVec<[u64; 2]>,
}

impl Mark {
    /// False once the group was cut shorter than this mark.
    #[must_use]
    pub fn is_in(&self, group: &GroupBuilder) -> bool {
        self.pos <= group.events_len()
    }

    /// If this mark is in the middle of a rows event: where that begins. It must not be drained while the mark is in
    /// use.
    #[must_use]
    pub fn needs_from(&self) -> Option<u64> {
        self.open.map(|o| self.pos - o.start as u64)
    }

    /// Bytes of events before this place, the GTID event not counted.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.pos
    }
}

impl GroupBuilder {
    /// An empty group with `reserve` spare bytes at the front of its buffer for the log's own record header.
    #[must_use]
    pub fn new(reserve: usize, server_id: u32) -> Self {
        Self::with_buffer(Vec::with_capacity(reserve + 1024), reserve, server_id)
    }

    /// As [`new`](Self::new), in a buffer that was used before; its contents are dropped.
    #[must_use]
    pub fn with_buffer(mut buf: Vec<u8>, reserve: usize, server_id: u32) -> Self {
        buf.clear();
        buf.resize(reserve + GTID_EVENT_LEN, 0);
        Self {
            statement_start: buf.len(),
            buf,
            reserve,
            server_id,
            timestamp: 0,
            rows_flags: 0,
            row_event_max: DEFAULT_ROW_EVENT_MAX_SIZE as usize,
            open: None,
            mapped: SmallVec::new(),
            drained: 0,
            has_ddl: false,
        }
    }

    /// Header timestamp of the events from here on, in seconds since 1970 UTC: when the statement started.
    pub fn set_timestamp(&mut self, secs: u32) {
        self.timestamp = secs;
    }

    /// Flags of the rows events begun from here on: [`rows_flags::NO_FOREIGN_KEY_CHECKS`] and
    /// [`rows_flags::RELAXED_UNIQUE_CHECKS`]; STMT_END is this builder's own.
    pub fn set_rows_flags(&mut self, flags: u16) {
        self.rows_flags = flags & !rows_flags::STMT_END;
    }

    /// `binlog_row_event_max_size`, in bytes.
    pub fn set_row_event_max_size(&mut self, bytes: u32) {
        self.row_event_max = (bytes as usize).min(MAX_EVENT_LEN);
    }

    /// Begins a statement with its original text (ANNOTATE_ROWS). If no row follows before
    /// [`end_statement`](Self::end_statement), nothing is kept.
    ///
    /// # Errors
    /// [`BinlogError::TooLarge`].
    pub fn annotate(&mut self, sql: &[u8]) -> Result<(), BinlogError> {
        self.end_statement();
        let len = HEADER_LEN + sql.len() + CHECKSUM_LEN;
        self.check_room("statement text", len)?;
        self.put_header(event_type::ANNOTATE_ROWS, 0);
        self.buf.extend_from_slice(sql);
        self.put_end(self.buf.len() - sql.len() - HEADER_LEN);
        Ok(())
    }

    /// Adds a statement to a group of rows: CREATE TABLE before the rows of its SELECT. The group then says that it has DDL
    /// in it.
    ///
    /// # Errors
    /// As [`ddl`](Self::ddl).
    pub fn statement(&mut self, query: &DdlQuery<'_>) -> Result<(), BinlogError> {
        self.end_statement();
        self.put_query(query)?;
        self.has_ddl = true;
        self.statement_start = self.buf.len();
        Ok(())
    }

    /// Makes the group say that it has DDL in it. A row of a sequence is what the sequence is from then on; without this a MariaDB
    /// takes it for numbers that were used.
    pub fn mark_ddl(&mut self) {
        self.has_ddl = true;
    }

    /// Adds a statement that readers run themselves, in place of the rows that it changed (`binlog_format=STATEMENT`).
    ///
    /// # Errors
    /// As [`ddl`](Self::ddl).
    pub fn change(&mut self, query: &DdlQuery<'_>) -> Result<(), BinlogError> {
        self.end_statement();
        self.put_query(query)?;
        self.statement_start = self.buf.len();
        Ok(())
    }

    /// Adds TABLE_MAPs of all the tables that the statement beginning here writes. Needed only for a statement
    /// that writes several tables by turns: a table met later without it ends the statement's events and
    /// begins new ones, since readers look up a statement's tables at its first rows event.
    ///
    /// # Errors
    /// [`BinlogError::TooLarge`].
    pub fn map_tables(&mut self, tables: &[&TableMapTemplate]) -> Result<(), BinlogError> {
        for table in tables {
            if !self.mapped.contains(&table.table_id()) {
                self.map_table(table)?;
            }
        }
        Ok(())
    }

    /// Adds an inserted row.
    ///
    /// # Errors
    /// [`BinlogError::TooLarge`] if the row or the group would be too large; nothing is added then.
    #[inline]
    pub fn write_row(&mut self, table: &TableMapTemplate, row: &[u8]) -> Result<(), BinlogError> {
        self.put_row(table, event_type::WRITE_ROWS_V1, row, &[])
    }

    /// Adds a changed row, as it was and as it is.
    ///
    /// # Errors
    /// As [`write_row`](Self::write_row).
    #[inline]
    pub fn update_row(
        &mut self,
        table: &TableMapTemplate,
        before: &[u8],
        after: &[u8],
    ) -> Result<(), BinlogError> {
        self.put_row(table, event_type::UPDATE_ROWS_V1, before, after)
    }

    /// Adds a deleted row.
    ///
    /// # Errors
    /// As [`write_row`](Self::write_row).
    #[inline]
    pub fn delete_row(&mut self, table: &TableMapTemplate, row: &[u8]) -> Result<(), BinlogError> {
        self.put_row(table, event_type::DELETE_ROWS_V1, row, &[])
    }

    /// Adds a changed row whose images have the columns of `present` only. A rows event has one pair of bitmaps: a
    /// change of them begins a new event.
    ///
    /// # Errors
    /// As [`write_row`](Self::write_row), and [`BinlogError::Invalid`] for bitmaps of the wrong length.
    pub fn update_row_partial(
        &mut self,
        table: &TableMapTemplate,
        present: Presence<'_>,
        before: &[u8],
        after: &[u8],
    ) -> Result<(), BinlogError> {
        self.put_partial(table, event_type::UPDATE_ROWS_V1, present, before, after)
    }

    /// Adds a deleted row whose image has the columns of `present.before` only.
    ///
    /// # Errors
    /// As [`update_row_partial`](Self::update_row_partial).
    pub fn delete_row_partial(
        &mut self,
        table: &TableMapTemplate,
        present: Presence<'_>,
        before: &[u8],
    ) -> Result<(), BinlogError> {
        self.put_partial(table, event_type::DELETE_ROWS_V1, present, before, &[])
    }

    /// The columns of the second images of the growing rows event, if it has partial updates of `table`: a further
    /// row with the same columns goes into the same event.
    #[must_use]
    pub fn open_update_columns(&self, table: &TableMapTemplate) -> Option<&[u8]> {
        let open = self.open.filter(|o| {
            o.partial
                && o.table_id == table.table_id()
                && o.event_type == event_type::UPDATE_ROWS_V1
        })?;
        let at = open.start + table.rows_head().len();
        self.buf.get(at..at + table.present().len())
    }

    fn put_partial(
        &mut self,
        table: &TableMapTemplate,
        event_type: u8,
        present: Presence<'_>,
        first: &[u8],
        second: &[u8],
    ) -> Result<(), BinlogError> {
        let bitmap = table.present().len();
        let update = event_type == event_type::UPDATE_ROWS_V1;
        if present.before.len() != bitmap || update && present.after.len() != bitmap {
            return Err(BinlogError::Invalid("column bitmap of the wrong length"));
        }
        let row_len = first.len().saturating_add(second.len());
        let at = table.rows_head().len() - bitmap;
        match self.open {
            Some(open)
                if open.partial
                    && open.table_id == table.table_id()
                    && open.event_type == event_type
                    && self.buf[open.start + at..].starts_with(present.before)
                    && (!update
                        || self.buf[open.start + at + bitmap..].starts_with(present.after))
                    && self.buf.len() - open.start + row_len + CHECKSUM_LEN
                        <= self.row_event_max =>
            {
                self.check_room("row", row_len)?;
            }
            _ => {
                let start = self.begin_rows(table, event_type, row_len, true)?;
                let at = start + at;
                self.buf[at..at + bitmap].copy_from_slice(present.before);
                if update {
                    self.buf[at + bitmap..at + 2 * bitmap].copy_from_slice(present.after);
                }
            }
        }
        self.buf.extend_from_slice(first);
        self.buf.extend_from_slice(second);
        if let Some(open) = &mut self.open {
            open.rows += 1;
        }
        Ok(())
    }

    #[inline]
    fn put_row(
        &mut self,
        table: &TableMapTemplate,
        event_type: u8,
        first: &[u8],
        second: &[u8],
    ) -> Result<(), BinlogError> {
        let row_len = first.len().saturating_add(second.len());
        match self.open {
            Some(open)
                if open.table_id == table.table_id()
                    && open.event_type == event_type
                    && !open.partial
                    && self.buf.len() - open.start + row_len + CHECKSUM_LEN
                        <= self.row_event_max =>
            {
                self.check_room("row", row_len)?;
            }
            _ => {
                self.begin_rows(table, event_type, row_len, false)?;
            }
        }
        self.buf.extend_from_slice(first);
        self.buf.extend_from_slice(second);
        if let Some(open) = &mut self.open {
            open.rows += 1;
        }
        Ok(())
    }

    /// Begins a rows event that can take a row of `row_len` bytes, with the table's map before it if the
    /// statement has none yet. Returns where it starts in the buffer.
    fn begin_rows(
        &mut self,
        table: &TableMapTemplate,
        event_type: u8,
        row_len: usize,
        partial: bool,
    ) -> Result<usize, BinlogError> {
        let head_len = table.rows_head().len() + table.present().len();
        let event_len = head_len
            .saturating_add(row_len)
            .saturating_add(CHECKSUM_LEN);
        self.check_room("row", event_len.saturating_add(table.event_len()))?;
        if !self.mapped.contains(&table.table_id()) {
            self.map_table(table)?;
        }
        self.close_rows(0);
        let start = self.buf.len();
        self.buf.extend_from_slice(table.rows_head());
        if event_type == event_type::UPDATE_ROWS_V1 {
            self.buf.extend_from_slice(table.present());
        }
        put_u32(&mut self.buf, start, self.timestamp);
        self.buf[start + 4] = event_type;
        put_u32(&mut self.buf, start + 5, self.server_id);
        let flags = start + ROWS_FLAGS_AT;
        self.buf[flags..flags + 2].copy_from_slice(&self.rows_flags.to_le_bytes());
        self.open = Some(OpenRows {
            start,
            table_id: table.table_id(),
            event_type,
            partial,
            rows: 0,
        });
        Ok(start)
    }

    fn map_table(&mut self, table: &TableMapTemplate) -> Result<(), BinlogError> {
        self.check_room("table map", table.event_len())?;
        if self.open.is_some() {
            self.end_statement();
        }
        let start = self.buf.len();
        self.buf.extend_from_slice(table.event());
        put_u32(&mut self.buf, start, self.timestamp);
        put_u32(&mut self.buf, start + 5, self.server_id);
        put_u32(&mut self.buf, start + SIZE_AT, table.event_len() as u32);
        self.mapped.push(table.table_id());
        Ok(())
    }

    /// Closes the rows event at the end of the buffer, if there is one.
    fn close_rows(&mut self, extra_flags: u16) {
        if let Some(open) = self.open.take() {
            self.buf[open.start + ROWS_FLAGS_AT] |= extra_flags as u8;
            self.put_end(open.start);
        }
    }

    /// Ends a statement: its last rows event gets STMT_END. A statement that changed no row leaves nothing.
    pub fn end_statement(&mut self) {
        if self.open.is_some() {
            self.close_rows(rows_flags::STMT_END);
        } else {
            self.buf.truncate(self.statement_start);
        }
        self.statement_start = self.buf.len();
        self.mapped.clear();
    }

    /// The present end of the group, to come back to: before a statement, at a savepoint, or in the middle of
    /// a statement, before a row that may fail.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark {
            pos: self.events_len(),
            open: self.open.map(|o| OpenRows {
                start: self.buf.len() - o.start,
                ..o
            }),
            statement_back: (self.buf.len() - self.statement_start) as u64,
            mapped: self.mapped.clone(),
        }
    }

    /// Removes everything added since `mark` was taken. Marks taken after it are void, and so is a mark taken
    /// inside a statement that ended without a row.
    ///
    /// Events that were drained since stay where they were sent: their holder must forget those behind
    /// [`Mark::position`]. A mark taken within a rows event that was drained since is not possible, see
    /// [`drainable`](Self::drainable).
    pub fn truncate(&mut self, mark: Mark) {
        if !mark.is_in(self) {
            // Taken after `annotate`, and the statement ended without a row: nothing was added since.
            return;
        }
        let base = self.base();
        let len = match mark.pos.checked_sub(self.drained) {
            Some(kept) => base + kept as usize,
            None => {
                self.drained = mark.pos;
                base
            }
        };
        self.buf.truncate(len);
        self.statement_start = len.saturating_sub(mark.statement_back as usize).max(base);
        self.mapped = mark.mapped;
        self.open = mark.open.and_then(|o| {
            let start = len.checked_sub(o.start).filter(|s| *s >= base)?;
            Some(OpenRows { start, ..o })
        });
        if let Some(open) = self.open {
            // It may have been closed since, and been the last of its statement.
            self.buf[open.start + ROWS_FLAGS_AT] &= !(rows_flags::STMT_END as u8);
        }
    }

    fn base(&self) -> usize {
        self.reserve + GTID_EVENT_LEN
    }

    /// Bytes of events so far without the GTID event, drained ones included.
    #[must_use]
    pub fn events_len(&self) -> u64 {
        self.drained + (self.buf.len() - self.base()) as u64
    }

    /// Bytes of events that were taken out by [`drain`](Self::drain).
    #[must_use]
    pub fn drained(&self) -> u64 {
        self.drained
    }

    /// How many bytes of finished events [`drain`](Self::drain) could take now: all before the rows event that is
    /// still growing (it may become its statement's last, which is marked), or before a statement without a row yet.
    #[must_use]
    pub fn drainable(&self) -> usize {
        self.open.map_or(self.statement_start, |o| o.start) - self.base()
    }

    /// Identifies the rows event that is growing: changes whenever another one was begun.
    #[must_use]
    pub fn open_rows(&self) -> Option<u64> {
        self.open
            .map(|o| self.drained + (o.start - self.base()) as u64)
    }

    /// Row changes in the rows event that is growing.
    #[must_use]
    pub fn open_row_count(&self) -> u64 {
        self.open.map_or(0, |o| o.rows)
    }

    /// The first `len` bytes of events behind the GTID event. Their checksums and positions are not filled in.
    #[must_use]
    pub fn front(&self, len: usize) -> &[u8] {
        let base = self.base();
        &self.buf[base..base + len.min(self.drainable())]
    }

    /// Forgets the first `len` bytes of events behind the GTID event, for transactions that are too large for one
    /// buffer: what [`front`](Self::front) gave is somewhere else now. `len` must be an event's end and at most
    /// [`drainable`](Self::drainable).
    pub fn drain(&mut self, len: usize) {
        let base = self.base();
        let len = len.min(self.drainable());
        self.buf.drain(base..base + len);
        self.drained += len as u64;
        self.statement_start = self.statement_start.saturating_sub(len).max(base);
        if let Some(o) = &mut self.open {
            o.start -= len;
        }
    }

    /// True if no row was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_none() && self.drained == 0 && self.statement_start == self.base()
    }

    /// Bytes of events so far, the GTID event's room included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buf.len() - self.reserve
    }

    /// Ends the last statement and returns the events that are not drained, without GTID and XID event, unstamped: redo that
    /// readers of the log never see.
    #[must_use]
    pub fn finish_local(&mut self) -> &[u8] {
        self.end_statement();
        &self.buf[self.base()..]
    }

    /// Ends the last statement and the group (XID event).
    ///
    /// # Errors
    /// [`BinlogError::TooLarge`] if the group has no room for it.
    pub fn finish(mut self) -> Result<PendingGroup, BinlogError> {
        self.end_statement();
        self.check_room("event group", XID_EVENT_LEN)?;
        let start = self.buf.len();
        self.put_header(event_type::XID, 0);
        self.buf.extend_from_slice(&[0; 8]);
        self.put_end(start);
        let ddl = if self.has_ddl { gtid_flags::DDL } else { 0 };
        Ok(self.into_pending(
            gtid_flags::TRANSACTIONAL | gtid_flags::ALLOW_PARALLEL | ddl,
            Some(start),
        ))
    }

    /// A DDL statement's group: a GTID event marked standalone, and the QUERY event.
    ///
    /// # Errors
    /// [`BinlogError::TooLarge`] for a statement that is too long, [`BinlogError::Invalid`] for a database
    /// name of more than 255 bytes.
    pub fn ddl(reserve: usize, query: &DdlQuery<'_>) -> Result<PendingGroup, BinlogError> {
        let mut group = Self::new(reserve, query.server_id);
        group.set_timestamp(query.timestamp);
        group.put_query(query)?;
        Ok(group.into_pending(
            gtid_flags::STANDALONE | gtid_flags::ALLOW_PARALLEL | gtid_flags::DDL,
            None,
        ))
    }

    /// Ends the last statement and the group with what prepares an XA transaction: XA END and XA_PREPARE. `query` says which
    /// connection does it, with which settings; its own text is not used.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_xa_prepare(
        mut self,
        xid: &Xid,
        query: &DdlQuery<'_>,
    ) -> Result<PendingGroup, BinlogError> {
        self.end_statement();
        self.set_timestamp(query.timestamp);
        let sql = format!("XA END {xid}");
        self.put_query(&DdlQuery {
            sql: sql.as_bytes(),
            ..*query
        })?;
        let body = xid.prepare_body();
        self.check_room("event group", HEADER_LEN + body.len() + CHECKSUM_LEN)?;
        let start = self.buf.len();
        self.put_header(event_type::XA_PREPARE, 0);
        self.buf.extend_from_slice(&body);
        self.put_end(start);
        Ok(self
            .into_pending(
                gtid_flags::TRANSACTIONAL | gtid_flags::ALLOW_PARALLEL | gtid_flags::PREPARED_XA,
                None,
            )
            .naming(xid))
    }

    /// The group of XA COMMIT (`commit`) or XA ROLLBACK of a prepared transaction: a QUERY event, for which `query` says as in
    /// [`finish_xa_prepare`](Self::finish_xa_prepare).
    ///
    /// # Errors
    /// As [`ddl`](Self::ddl).
    pub fn xa_end(
        reserve: usize,
        xid: &Xid,
        commit: bool,
        query: &DdlQuery<'_>,
    ) -> Result<PendingGroup, BinlogError> {
        let mut group = Self::new(reserve, query.server_id);
        group.set_timestamp(query.timestamp);
        let sql = format!("XA {} {xid}", if commit { "COMMIT" } else { "ROLLBACK" });
        group.put_query(&DdlQuery {
            sql: sql.as_bytes(),
            ..*query
        })?;
        Ok(group
            .into_pending(
                gtid_flags::STANDALONE
                    | gtid_flags::TRANSACTIONAL
                    | gtid_flags::ALLOW_PARALLEL
                    | gtid_flags::COMPLETED_XA,
                None,
            )
            .naming(xid))
    }

    fn put_query(&mut self, query: &DdlQuery<'_>) -> Result<(), BinlogError> {
        let db_len = u8::try_from(query.db.len())
            .map_err(|_| BinlogError::Invalid("database name of more than 255 bytes"))?;
        let context = &query.context;
        let mut vars = Vec::with_capacity(26);
        vars.push(0x00); // FLAGS2
        vars.extend_from_slice(&context.flags2.to_le_bytes());
        vars.push(0x01); // SQL_MODE
        vars.extend_from_slice(&context.sql_mode.to_le_bytes());
        vars.extend_from_slice(b"\x06\x03std"); // CATALOG
        vars.push(0x04); // CHARSET
        vars.extend_from_slice(&context.charset_client.to_le_bytes());
        vars.extend_from_slice(&context.collation_connection.to_le_bytes());
        vars.extend_from_slice(&context.collation_server.to_le_bytes());
        if let Ok(len @ 1..) = u8::try_from(query.time_zone.len()) {
            vars.push(0x05); // TIME_ZONE
            vars.push(len);
            vars.extend_from_slice(query.time_zone.as_bytes());
        }
        if context.micros > 0 {
            vars.push(0x80); // HRNOW, MariaDB's
            vars.extend_from_slice(&context.micros.to_le_bytes()[..3]);
        }

        let body = 13 + vars.len() + query.db.len() + 1;
        let len = (HEADER_LEN + body + CHECKSUM_LEN).saturating_add(query.sql.len());
        self.check_room("statement", len)?;
        let start = self.buf.len();
        let flags = if query.suppress_use {
            event_flags::SUPPRESS_USE
        } else {
            0
        };
        self.put_header(event_type::QUERY, flags);
        let buf = &mut self.buf;
        buf.extend_from_slice(&query.thread_id.to_le_bytes());
        buf.extend_from_slice(&query.exec_time.to_le_bytes());
        buf.push(db_len);
        buf.extend_from_slice(&0u16.to_le_bytes()); // error code
        buf.extend_from_slice(&(vars.len() as u16).to_le_bytes());
        buf.extend_from_slice(&vars);
        buf.extend_from_slice(query.db.as_bytes());
        buf.push(0);
        buf.extend_from_slice(query.sql);
        self.put_end(start);
        Ok(())
    }

    fn into_pending(mut self, flags2: u8, xid_at: Option<usize>) -> PendingGroup {
        let header = EventHeader {
            timestamp: self.timestamp,
            event_type: event_type::GTID,
            server_id: self.server_id,
            event_size: GTID_EVENT_LEN as u32,
            end_log_pos: 0,
            flags: event_flags::SUPPRESS_USE,
        };
        let at = self.reserve;
        self.buf[at..at + HEADER_LEN].copy_from_slice(&header.to_bytes());
        self.buf[at + HEADER_LEN + 12] = flags2;
        PendingGroup {
            buf: self.buf,
            reserve: self.reserve,
            xid_at,
            drained: self.drained,
        }
    }

    /// Refuses an event or row of `len` bytes that no event or this group could hold.
    fn check_room(&self, what: &'static str, len: usize) -> Result<(), BinlogError> {
        if len > MAX_EVENT_LEN {
            return Err(BinlogError::TooLarge {
                what,
                size: len as u64,
                limit: MAX_EVENT_LEN as u64,
            });
        }
        // Room for the checksum of an open rows event and the XID event is always kept.
        let size = self.len() + len + CHECKSUM_LEN + XID_EVENT_LEN;
        if size > MAX_GROUP_LEN {
            return Err(BinlogError::TooLarge {
                what: "event group",
                size: size as u64,
                limit: MAX_GROUP_LEN as u64,
            });
        }
        Ok(())
    }

    fn put_header(&mut self, event_type: u8, flags: u16) {
        let header = EventHeader {
            timestamp: self.timestamp,
            event_type,
            server_id: self.server_id,
            event_size: 0,
            end_log_pos: 0,
            flags,
        };
        self.buf.extend_from_slice(&header.to_bytes());
    }

    /// Adds room for the checksum of the event that began at `start` and sets its size.
    fn put_end(&mut self, start: usize) {
        self.buf.extend_from_slice(&[0; CHECKSUM_LEN]);
        let len = self.buf.len() - start;
        put_u32(&mut self.buf, start + SIZE_AT, len as u32);
    }
}

/// A DDL statement to be logged by [`GroupBuilder::ddl`].
#[derive(Debug, Clone, Copy)]
pub struct DdlQuery<'a> {
    /// Server id of the events.
    pub server_id: u32,
    /// When the statement started, in seconds since 1970 UTC.
    pub timestamp: u32,
    /// Connection id.
    pub thread_id: u32,
    /// Seconds it took to execute.
    pub exec_time: u32,
    /// Default database, possibly empty.
    pub db: &'a str,
    /// Statement text.
    pub sql: &'a [u8],
    /// Session settings that its meaning depends on.
    pub context: QueryContext,
    /// The statement names its database itself (CREATE and DROP DATABASE): readers need not select `db`.
    pub suppress_use: bool,
    /// `time_zone`, of a statement whose meaning depends on it; else empty.
    pub time_zone: &'a str,
}

/// A complete event group that does not yet know its place.
#[derive(Debug)]
pub struct PendingGroup {
    buf: Vec<u8>,
    reserve: usize,
    xid_at: Option<usize>,
    drained: u64,
}

impl PendingGroup {
    /// Puts an XA transaction's name into the GTID event, instead of the zeros behind the flags.
    fn naming(mut self, xid: &Xid) -> Self {
        let start = self.reserve;
        let body_end = start + GTID_EVENT_LEN - CHECKSUM_LEN;
        let name = xid.in_gtid();
        let flags_end = start + HEADER_LEN + 13;
        let len = GTID_EVENT_LEN + name.len() - (body_end - flags_end);
        self.buf.splice(flags_end..body_end, name);
        put_u32(&mut self.buf, start + SIZE_AT, len as u32);
        self
    }

    /// Bytes of the whole group, drained events included.
    #[must_use]
    pub fn group_len(&self) -> u64 {
        self.drained + u64::from(self.len())
    }

    /// Bytes of the events in the buffer, at most [`MAX_GROUP_LEN`].
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // a group always has its GTID event
    pub fn len(&self) -> u32 {
        (self.buf.len() - self.reserve) as u32
    }

    /// Sets in the GTID event that the transaction waited for a row lock (a hint for parallel replicas).
    pub fn set_waited(&mut self) {
        self.buf[self.reserve + HEADER_LEN + 12] |= gtid_flags::WAITED;
    }

    /// The events before [`into_stamped`](Self::into_stamped), without the spare bytes.
    #[must_use]
    pub fn unstamped(&self) -> &[u8] {
        &self.buf[self.reserve..]
    }

    /// Fills in what the group's place in the log decides: the GTID, each event's end position (the group
    /// starts at `start_pos` of its virtual file, see [`VirtualFiles::place`](crate::VirtualFiles::place)) and
    /// server id, the XID (unused in DDL groups) and all checksums. The spare bytes stay at the front.
    #[must_use]
    pub fn into_stamped(mut self, gtid: Gtid, start_pos: u64, xid: u64) -> Vec<u8> {
        if let Some(at) = self.xid_at {
            let at = at + HEADER_LEN;
            self.buf[at..at + 8].copy_from_slice(&xid.to_le_bytes());
        }
        let body = self.reserve + HEADER_LEN;
        self.buf[body..body + 8].copy_from_slice(&gtid.seq.to_le_bytes());
        self.buf[body + 8..body + 12].copy_from_slice(&gtid.domain.to_le_bytes());

        let mut rest = &mut self.buf[self.reserve..];
        let mut pos = start_pos;
        let mut drained = self.drained;
        while let Some(size) = rest.get(SIZE_AT..SIZE_AT + 4) {
            let size = u32::from_le_bytes([size[0], size[1], size[2], size[3]]);
            let (event, tail) = rest.split_at_mut(size as usize);
            pos += u64::from(size);
            put_u32(event, 5, gtid.server);
            // 0: beyond what the field can say, in a group of 4 GiB and more.
            seal(event, u32::try_from(pos).unwrap_or(0));
            // Drained events stand behind the GTID event.
            pos += std::mem::take(&mut drained);
            rest = tail;
        }
        self.buf
    }
}
