//! Changes as plain SQL: what undoes them, the last one first; what does them once more.
//!
//! What undoes an event goes to a temporary file as a block followed by its length; at the end the blocks are read from
//! the back. So memory holds one event's statements, however much is undone.

use super::rows::{Change, Mapped, Tables, decode, each_row, one};
use super::select::Selection;
use super::values::{Cell, identifier, literal, string_len};
use super::{Events, Output, Trouble};
use crate::Failure;
use narwal_binlog::{ColumnMeta, Event, RowsKind, column_type, event_flags, gtid_flags};
use narwal_engine::GroupHead;
use narwal_stream::cell::table_columns;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

const HEAD: &str = "\
SET NAMES utf8mb4;
SET @@session.time_zone='+00:00', @@session.sql_mode='NO_AUTO_VALUE_ON_ZERO', @@session.foreign_key_checks=0;
";

/// Writes what undoes the groups that it is given.
pub struct Flashback<W: Write> {
    out: W,
    skip_ddl: bool,
    blocks: BufWriter<File>,
    len: u64,
    groups: u64,
}

impl<W: Write> Flashback<W> {
    /// Writes to `out`; `skip_ddl`: statements in the range are left alone instead of refused.
    pub fn new(out: W, skip_ddl: bool) -> Result<Self, Failure> {
        let file =
            tempfile::tempfile().map_err(|e| Failure::run("can't make a temporary file", e))?;
        Ok(Flashback {
            out,
            skip_ddl,
            blocks: BufWriter::with_capacity(1 << 20, file),
            len: 0,
            groups: 0,
        })
    }

    fn block(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.blocks.write_all(bytes)?;
        self.blocks.write_all(&(bytes.len() as u64).to_le_bytes())?;
        self.len += bytes.len() as u64 + 8;
        Ok(())
    }
}

fn names_needed(head: &GroupHead, table: &Mapped) -> Result<(), Trouble> {
    if table.columns.iter().all(|c| !c.name.is_empty()) {
        return Ok(());
    }
    Err(Failure::Run(format!(
        "can't make SQL of {}: the log does not name the columns of {}.{} (binlog_row_metadata was not FULL)",
        head.gtid, table.db, table.table
    ))
    .into())
}

/// The rows of a prepared transaction count once another group has committed it, if one does.
fn refuse_xa(head: &GroupHead) -> Result<(), Trouble> {
    if head.flags2 & (gtid_flags::PREPARED_XA | gtid_flags::COMPLETED_XA) == 0 {
        return Ok(());
    }
    Err(Failure::Run(format!(
        "can't make SQL of {}: it prepares or ends an XA transaction",
        head.gtid
    ))
    .into())
}

/// One row's values, all of them.
type Row<'a> = Vec<Cell<'a>>;

/// The whole image, or an error; what it lacks may come from `other`.
fn whole<'a>(
    head: &GroupHead,
    table: &Mapped,
    image: Option<Vec<Option<Cell<'a>>>>,
    other: Option<&Row<'a>>,
) -> Result<Row<'a>, Trouble> {
    let cells = image.unwrap_or_default().into_iter().enumerate();
    let row: Option<Row<'a>> = cells
        .map(|(i, c)| c.or_else(|| other.and_then(|o| o.get(i).copied())))
        .collect();
    match row {
        Some(row) if row.len() == table_columns(&table.columns) => Ok(row),
        _ => Err(Failure::Run(format!(
            "can't make SQL of {}: a row image of {}.{} is not complete (binlog_row_image was not FULL)",
            head.gtid, table.db, table.table
        ))
        .into()),
    }
}

fn value(out: &mut Vec<u8>, cell: &Cell<'_>, column: &ColumnMeta, compare: bool) {
    match *cell {
        // Trailing zero bytes of a BINARY are not in the log, but count in comparisons.
        Cell::Bytes(b)
            if compare
                && column.real_type() == column_type::STRING
                && column.collation == Some(63) =>
        {
            let mut padded = b.to_vec();
            padded.resize(b.len().max(usize::from(string_len(&column.meta))), 0);
            literal(&Cell::Bytes(&padded), column, out);
        }
        _ => literal(cell, column, out),
    }
}

/// `WHERE` that finds exactly this row, or one that is the same in everything.
fn put_where(out: &mut Vec<u8>, table: &Mapped, row: &Row<'_>) {
    let key = &table.primary_key;
    let all: Vec<usize> = (0..row.len()).collect();
    out.extend_from_slice(b" WHERE ");
    for (n, &i) in if key.is_empty() { &all } else { key }.iter().enumerate() {
        let (Some(cell), Some(column)) = (row.get(i), table.columns.get(i)) else {
            continue;
        };
        if n > 0 {
            out.extend_from_slice(b" AND ");
        }
        match cell {
            Cell::Null => {
                identifier(&column.name, out);
                out.extend_from_slice(b" IS NULL");
            }
            // Collations take different texts for equal; without a key every byte counts.
            Cell::Bytes(bytes) if key.is_empty() && column.collation != Some(63) => {
                out.extend_from_slice(b"HEX(");
                identifier(&column.name, out);
                out.extend_from_slice(b")='");
                for b in *bytes {
                    let _ = write!(out, "{b:02X}");
                }
                out.push(b'\'');
            }
            _ => {
                identifier(&column.name, out);
                out.push(b'=');
                value(out, cell, column, true);
            }
        }
    }
    if key.is_empty() {
        out.extend_from_slice(b" LIMIT 1");
    }
}

/// The statement that makes `to` of a row that is `from`.
fn put_change(out: &mut Vec<u8>, table: &Mapped, from: Option<&Row<'_>>, to: Option<&Row<'_>>) {
    let mut target = Vec::new();
    identifier(&table.db, &mut target);
    target.push(b'.');
    identifier(&table.table, &mut target);
    let assign = |out: &mut Vec<u8>, row: &Row<'_>| {
        for (n, (cell, column)) in row.iter().zip(&table.columns).enumerate() {
            out.extend_from_slice(if n > 0 { b"," } else { b" SET " });
            identifier(&column.name, out);
            out.push(b'=');
            value(out, cell, column, false);
        }
    };
    match (from, to) {
        (Some(from), None) => {
            out.extend_from_slice(b"DELETE FROM ");
            out.extend_from_slice(&target);
            put_where(out, table, from);
        }
        (Some(from), Some(to)) => {
            out.extend_from_slice(b"UPDATE ");
            out.extend_from_slice(&target);
            assign(out, to);
            put_where(out, table, from);
        }
        (None, Some(to)) => {
            out.extend_from_slice(b"INSERT INTO ");
            out.extend_from_slice(&target);
            assign(out, to);
        }
        (None, None) => return,
    }
    out.extend_from_slice(b";\n");
}

/// Both images of a change, complete.
fn images<'a>(
    head: &GroupHead,
    table: &Mapped,
    kind: RowsKind,
    change: Change<'a>,
) -> Result<(Option<Row<'a>>, Option<Row<'a>>), Trouble> {
    let before = match kind {
        RowsKind::Write => None,
        _ => Some(whole(head, table, change.before, None)?),
    };
    let after = match kind {
        RowsKind::Delete => None,
        _ => Some(whole(head, table, change.after, before.as_ref())?),
    };
    Ok((before, after))
}

fn put_undo(
    out: &mut Vec<u8>,
    head: &GroupHead,
    table: &Mapped,
    kind: RowsKind,
    change: Change<'_>,
) -> Result<(), Trouble> {
    let (before, after) = images(head, table, kind, change)?;
    put_change(out, table, after.as_ref(), before.as_ref());
    Ok(())
}

/// Writes what does the changes of the groups that it is given once more, as plain SQL for any server.
pub struct Redo<W: Write> {
    out: W,
}

impl<W: Write> Redo<W> {
    /// Writes to `out`.
    pub fn new(mut out: W) -> io::Result<Self> {
        out.write_all(HEAD.as_bytes())?;
        Ok(Redo { out })
    }
}

impl<W: Write> Output for Redo<W> {
    fn group(
        &mut self,
        head: &GroupHead,
        events: &mut dyn Events,
        selection: &Selection,
    ) -> Result<(), Trouble> {
        refuse_xa(head)?;
        let mut tables = Tables::default();
        let mut text = Vec::new();
        let mut any = false;
        writeln!(self.out, "-- {}", head.gtid)?;
        while let Some(bytes) = events.next_event()? {
            let event = one(head, bytes)?;
            match decode(head, &event)? {
                Event::TableMap(map) => {
                    tables.map(head, bytes, &map, selection)?;
                }
                Event::Rows(rows) => {
                    let table = tables.of(head, &rows)?;
                    names_needed(head, table)?;
                    if !std::mem::replace(&mut any, true) {
                        self.out.write_all(b"START TRANSACTION;\n")?;
                    }
                    each_row(head, &rows, table, |change| {
                        text.clear();
                        let (before, after) = images(head, table, rows.kind, change)?;
                        put_change(&mut text, table, before.as_ref(), after.as_ref());
                        Ok(self.out.write_all(&text)?)
                    })?;
                    if rows.is_statement_end() {
                        tables.clear();
                    }
                }
                Event::Query(query) if !frames(query.sql) => {
                    if !query.db.is_empty() && event.header.flags & event_flags::SUPPRESS_USE == 0 {
                        text.clear();
                        identifier(&String::from_utf8_lossy(query.db), &mut text);
                        self.out.write_all(b"USE ")?;
                        self.out.write_all(&text)?;
                        self.out.write_all(b";\n")?;
                    }
                    let mode = query
                        .context()
                        .map_err(|e| super::damaged(head, e))?
                        .sql_mode;
                    writeln!(self.out, "SET @@session.sql_mode={mode};")?;
                    self.out.write_all(query.sql)?;
                    self.out
                        .write_all(b";\nSET @@session.sql_mode='NO_AUTO_VALUE_ON_ZERO';\n")?;
                }
                _ => {}
            }
        }
        if any {
            self.out.write_all(b"COMMIT;\n")?;
        }
        Ok(())
    }

    fn abandon(&mut self, _: &GroupHead) -> Result<(), Trouble> {
        Ok(())
    }

    fn finish(&mut self, _: bool) -> Result<(), Trouble> {
        Ok(self.out.flush()?)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// What stands in the log for a transaction that changed nothing here.
pub fn is_without_effect(sql: &[u8]) -> bool {
    sql.starts_with(b"DO 0")
}

/// A statement that only begins or ends a transaction.
pub fn frames(sql: &[u8]) -> bool {
    [&b"BEGIN"[..], b"COMMIT", b"ROLLBACK"]
        .iter()
        .any(|word| sql.eq_ignore_ascii_case(word))
}

impl<W: Write> Output for Flashback<W> {
    fn group(
        &mut self,
        head: &GroupHead,
        events: &mut dyn Events,
        selection: &Selection,
    ) -> Result<(), Trouble> {
        refuse_xa(head)?;
        let mut tables = Tables::default();
        let mut any = false;
        while let Some(bytes) = events.next_event()? {
            let event = one(head, bytes)?;
            match decode(head, &event)? {
                Event::TableMap(map) => {
                    tables.map(head, bytes, &map, selection)?;
                }
                Event::Rows(rows) => {
                    let table = tables.of(head, &rows)?;
                    if table.wanted {
                        names_needed(head, table)?;
                        if !std::mem::replace(&mut any, true) {
                            self.block(b"COMMIT;\n")?;
                        }
                        // The event's statements, and where each begins.
                        let (mut text, mut starts) = (Vec::new(), Vec::new());
                        each_row(head, &rows, table, |change| {
                            starts.push(text.len());
                            put_undo(&mut text, head, table, rows.kind, change)
                        })?;
                        let mut reversed = Vec::with_capacity(text.len());
                        let mut end = text.len();
                        for &start in starts.iter().rev() {
                            reversed.extend_from_slice(&text[start..end]);
                            end = start;
                        }
                        self.block(&reversed)?;
                    }
                    if rows.is_statement_end() {
                        tables.clear();
                    }
                }
                Event::Query(query)
                    if selection.wants_statement(query.db)
                        && !self.skip_ddl
                        && !frames(query.sql)
                        && !is_without_effect(query.sql) =>
                {
                    let sql = String::from_utf8_lossy(query.sql);
                    let shown: String = sql.chars().take(80).collect();
                    return Err(Failure::Run(format!(
                        "can't undo {}: it is the statement {shown:?}; --skip-ddl leaves statements alone, --table \
                         selects row changes",
                        head.gtid
                    ))
                    .into());
                }
                _ => {}
            }
        }
        if any {
            self.groups += 1;
            self.block(format!("START TRANSACTION; -- undoes {}\n", head.gtid).as_bytes())?;
        }
        Ok(())
    }

    fn abandon(&mut self, _: &GroupHead) -> Result<(), Trouble> {
        // Nothing will be printed.
        Ok(())
    }

    fn finish(&mut self, whole: bool) -> Result<(), Trouble> {
        if !whole {
            return Err(Failure::Damaged(
                "the log is damaged in what is to be undone: to undo a part of it would mix old and new".into(),
            )
            .into());
        }
        self.blocks.flush()?;
        let file = self.blocks.get_mut();
        writeln!(
            self.out,
            "-- undoes {} transactions, the last one first",
            self.groups
        )?;
        self.out.write_all(HEAD.as_bytes())?;
        let mut end = self.len;
        let mut block = Vec::new();
        while end > 0 {
            let mut len = [0; 8];
            file.seek(SeekFrom::Start(end - 8))?;
            file.read_exact(&mut len)?;
            let len = u64::from_le_bytes(len);
            let start = end
                .checked_sub(8)
                .and_then(|e| e.checked_sub(len))
                .ok_or_else(|| io::Error::other("the temporary file was changed by others"))?;
            file.seek(SeekFrom::Start(start))?;
            block.resize(len as usize, 0);
            file.read_exact(&mut block)?;
            self.out.write_all(&block)?;
            end = start;
        }
        Ok(self.out.flush()?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
