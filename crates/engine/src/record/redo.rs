//! The row changes of a transaction, read back from the log: for recovery, and for prepared XA transactions.

use crate::catalog::counters::auto_number;
use crate::catalog::table::Table;
use crate::record::chunk::{Chunk, Oob, chunk_list};
use crate::record::packed::{unpack, unpack_chunk};
use crate::store::row::Row;
use crate::{EngineError, Result};
use narwal_binlog::{Event, EventReader, RowsEvent, RowsKind};
use narwal_log::{DirRecords, Lsn, RecordKind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Where the changes go, and what they are about.
pub(crate) trait Rows {
    /// A table by its id.
    fn table(&self, id: u64) -> Option<Arc<Table>>;
    /// The next change is there already.
    fn skip(&mut self) -> bool;
    /// A row as it is now, with the changes so far.
    fn newest(&mut self, table: &Arc<Table>, pk: &[u8]) -> Result<Option<Row>>;
    /// A row comes (`before` is `None`), goes (`after` is) or changes. `row_id`: the hidden id in a table without primary key.
    fn change(
        &mut self,
        table: &Arc<Table>,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
        row_id: Option<u64>,
    ) -> Result<()>;
}

/// The record at `lsn` as it would be without compression.
pub(crate) fn record(log: &DirRecords, lsn: Lsn) -> Result<(RecordKind, Vec<u8>)> {
    let mut buf = Vec::new();
    let kind = log.read_at(lsn, &mut buf)?.kind;
    let (kind, body) = unpack(kind, &buf)?;
    Ok((kind, body.into_owned()))
}

/// Hands over the chunks behind `covered` bytes of events, with their hidden row ids.
pub(crate) fn chunks(
    log: &DirRecords,
    oob: &Oob,
    covered: u64,
    mut chunk: impl FnMut(&[u8], &mut dyn Iterator<Item = u64>) -> Result<()>,
) -> Result<()> {
    let mut read = |lsn, buf: &mut Vec<u8>| Ok(log.read_at(lsn, buf)?.kind);
    let list = chunk_list(oob, &mut read)?;
    let (mut buf, mut at) = (Vec::new(), 0);
    for (lsn, len) in list {
        at += len;
        if at <= covered {
            continue;
        }
        if at - len < covered {
            return Err(EngineError::Corrupt(
                "its runs do not end where a chunk ends".into(),
            ));
        }
        let kind = read(lsn, &mut buf)?;
        unpack_chunk(&mut buf)?;
        let found = Chunk::parse(&buf)
            .ok()
            .filter(|c| kind == RecordKind::Chunk && c.events.len() as u64 == len)
            .ok_or_else(|| {
                EngineError::Corrupt(format!("the record at LSN {lsn} is not its chunk"))
            })?;
        let mut row_ids = found
            .row_ids
            .chunks_exact(8)
            .map(|b| b.try_into().map_or(0, u64::from_le_bytes));
        chunk(found.events, &mut row_ids)?;
    }
    Ok(())
}

/// Applies the row changes of events.
pub(crate) fn events(
    events: &[u8],
    row_ids: &mut dyn Iterator<Item = u64>,
    rows: &mut impl Rows,
) -> Result<()> {
    let corrupt = |e: narwal_binlog::BinlogError| EngineError::Corrupt(e.to_string());
    // The record's own checksum was verified by the log.
    for event in EventReader::new(events).trusting_checksums() {
        let event = event.map_err(corrupt)?;
        if let Event::Rows(event) = event.decode().map_err(corrupt)? {
            let table = rows.table(event.table_id).ok_or_else(|| {
                EngineError::Corrupt(format!("rows of unknown table id {}", event.table_id))
            })?;
            rows_event(&table, &event, row_ids, rows)?;
        }
    }
    Ok(())
}

/// A row's clustered key.
pub(crate) fn clustered_key(table: &Table, row: &[u8], row_id: Option<u64>) -> Result<Vec<u8>> {
    let mut pk = Vec::with_capacity(16);
    match row_id {
        Some(id) => pk.extend_from_slice(&id.to_be_bytes()),
        None => table.primary_key(row, &mut pk)?,
    }
    Ok(pk)
}

/// Tells a table's counter about an inserted row.
pub(crate) fn observe_auto_increment(table: &Table, row: &[u8]) -> Result<()> {
    if let Some(column) = table.auto_increment {
        let value = auto_number(table.layout.column(row, column)?);
        let counter = &table.counters.auto_increment;
        counter.fetch_max(value.saturating_add(1), Ordering::Relaxed);
    }
    Ok(())
}

fn rows_event(
    table: &Arc<Table>,
    event: &RowsEvent<'_>,
    row_ids: &mut dyn Iterator<Item = u64>,
    rows: &mut impl Rows,
) -> Result<()> {
    let columns = table.layout.stored_columns();
    if event.column_count != columns {
        return Err(EngineError::Corrupt(format!(
            "rows of {} columns for table {}.{} of {}",
            event.column_count, table.def.db, table.def.name, columns
        )));
    }
    let full = event.is_full_image();
    let mut data = event.data;
    let (mut old, mut new) = (Vec::new(), Vec::new());
    while !data.is_empty() {
        let mut image = |present: &[u8]| -> Result<&[u8]> {
            let n = if full {
                table.layout.row_len(data)?
            } else {
                table.layout.partial_len(data, present)?
            };
            let (row, rest) = data
                .split_at_checked(n)
                .ok_or_else(|| EngineError::Corrupt("a row image is cut short".into()))?;
            if n == 0 {
                return Err(EngineError::Corrupt("a rows event without columns".into()));
            }
            data = rest;
            Ok(row)
        };
        let (before, after) = match (event.kind, event.present_after) {
            (RowsKind::Write, _) => (None, Some(image(event.present)?)),
            (RowsKind::Update, Some(present)) => {
                (Some(image(event.present)?), Some(image(present)?))
            }
            _ => (Some(image(event.present)?), None),
        };
        let row_id = if table.hidden_pk {
            let id = row_ids
                .next()
                .ok_or_else(|| EngineError::Corrupt("the annex has too few row ids".into()))?;
            table.counters.row_id.fetch_max(id + 1, Ordering::Relaxed);
            Some(id)
        } else {
            None
        };
        if rows.skip() {
            continue;
        }
        if full {
            rows.change(table, before, after, row_id)?;
            continue;
        }
        let Some(before) = before else {
            return Err(EngineError::Corrupt("an inserted row lacks columns".into()));
        };
        stored_row(table, event, before, row_id, &mut old, rows)?;
        if let (Some(after), Some(present)) = (after, event.present_after) {
            new.clear();
            table
                .layout
                .complete(Some(&old), present, after, &mut new)?;
            rows.change(table, Some(&old), Some(&new), row_id)?;
        } else {
            rows.change(table, Some(&old), None, row_id)?;
        }
    }
    Ok(())
}

/// Puts into `old` the full row that a partial before image is of, as it is at this point.
fn stored_row(
    table: &Arc<Table>,
    event: &RowsEvent<'_>,
    before: &[u8],
    row_id: Option<u64>,
    old: &mut Vec<u8>,
    rows: &mut impl Rows,
) -> Result<()> {
    old.clear();
    table.layout.complete(None, event.present, before, old)?;
    if (0..event.column_count).all(|i| event.has_column(i)) {
        return Ok(());
    }
    let pk = clustered_key(table, old, row_id)?;
    let Some(row) = rows.newest(table, &pk)? else {
        return Err(EngineError::Corrupt(format!(
            "a changed row of {}.{} is not in the table",
            table.def.db, table.def.name
        )));
    };
    old.clear();
    old.extend_from_slice(&row);
    let mut logged = Vec::with_capacity(before.len());
    table.layout.cut(old, event.present, &mut logged)?;
    if logged != before {
        return Err(EngineError::Corrupt(format!(
            "a changed row of {}.{} is not as it was when it was changed",
            table.def.db, table.def.name
        )));
    }
    Ok(())
}
