//! Recovery: open the base, then apply every record of the log after the checkpoint.
//!
//! A record's row events go through the same steps as at commit: row images into the clustered index, keys derived
//! from them into the others. The binlog position and the GTID counters are read back from the events.

use crate::base::BaseGen;
use crate::catalog::{Catalog, LoggedChange};
use crate::commit::split_record;
use crate::memtable::{Memtable, Payload, full_key};
use crate::scan::Scan;
use crate::snapshot::SnapshotRegistry;
use crate::state::State;
use crate::table::{Table, finish_secondary_key};
use crate::txn::KeyRange;
use crate::{EngineError, Result};
use narwal_binlog::{Event, EventReader, RowsEvent, RowsKind, VirtualFiles};
use narwal_log::{RecordKind, RecordRef};
use narwal_types::ValueRef;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The store while it is being rebuilt.
pub(crate) struct Recovery {
    pub(crate) state: Arc<State>,
    pub(crate) catalog: Catalog,
    pub(crate) binlog: VirtualFiles,
    pub(crate) commits: u64,
    registry: SnapshotRegistry,
}

impl Recovery {
    pub(crate) fn new(base: Arc<BaseGen>, catalog: Catalog, binlog: VirtualFiles) -> Self {
        Recovery {
            state: Arc::new(State {
                active: Arc::new(Memtable::new()),
                frozen: None,
                base,
            }),
            catalog,
            binlog,
            commits: 0,
            registry: SnapshotRegistry::new(),
        }
    }

    /// Applies one record.
    pub(crate) fn apply(&mut self, record: &RecordRef<'_>) -> Result<()> {
        if !record.kind.is_commit() {
            return Ok(());
        }
        let place =
            |e: String| EngineError::Corrupt(format!("log record at LSN {}: {e}", record.lsn));
        let (kind, body) =
            crate::packed::unpack(record.kind, record.body).map_err(|e| place(e.to_string()))?;
        let parts = split_record(kind, &body).map_err(|e| place(e.to_string()))?;
        let annex = parts.annex;
        if kind != RecordKind::LocalCommit {
            self.binlog
                .observe(parts.events)
                .map_err(|e| place(e.to_string()))?;
        }
        for change in &annex.changes {
            self.catalog.apply(change)?;
            if let LoggedChange::BuildIndex { table, index } = change {
                self.build_index(*table, *index, record.seq)?;
            }
        }
        if !annex.changes.is_empty() {
            self.catalog.version += 1;
        }
        for (events, row_ids) in [
            (parts.local, annex.local_row_ids),
            (parts.events, annex.row_ids),
        ] {
            self.apply_events(events, record.seq, &mut row_ids.into_iter())
                .map_err(|e| place(e.to_string()))?;
        }
        self.commits += 1;
        Ok(())
    }

    /// Applies the row changes of a transaction's events.
    pub(crate) fn apply_events(
        &self,
        events: &[u8],
        seq: u64,
        row_ids: &mut impl Iterator<Item = u64>,
    ) -> Result<()> {
        let corrupt = |e: narwal_binlog::BinlogError| EngineError::Corrupt(e.to_string());
        // The record's own checksum was verified by the log.
        for event in EventReader::new(events).trusting_checksums() {
            let event = event.map_err(corrupt)?;
            if let Event::Rows(rows) = event.decode().map_err(corrupt)? {
                let table = self
                    .catalog
                    .table_by_id(rows.table_id)
                    .cloned()
                    .ok_or_else(|| {
                        EngineError::Corrupt(format!("rows of unknown table id {}", rows.table_id))
                    })?;
                self.apply_rows(&table, &rows, seq, row_ids)?;
            }
        }
        Ok(())
    }

    fn apply_rows(
        &self,
        table: &Arc<Table>,
        rows: &RowsEvent<'_>,
        seq: u64,
        row_ids: &mut impl Iterator<Item = u64>,
    ) -> Result<()> {
        if rows.column_count != table.columns().len() {
            return Err(EngineError::Corrupt(format!(
                "rows of {} columns for table {}.{} of {}",
                rows.column_count,
                table.def.db,
                table.def.name,
                table.columns().len()
            )));
        }
        let full = rows.is_full_image();
        let mut data = rows.data;
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
            let (before, after) = match (rows.kind, rows.present_after) {
                (RowsKind::Write, _) => (None, Some(image(rows.present)?)),
                (RowsKind::Update, Some(present)) => {
                    (Some(image(rows.present)?), Some(image(present)?))
                }
                _ => (Some(image(rows.present)?), None),
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
            if full {
                self.apply_row(table, before, after, row_id, seq)?;
                continue;
            }
            let Some(before) = before else {
                return Err(EngineError::Corrupt("an inserted row lacks columns".into()));
            };
            self.stored_row(table, rows, before, row_id, &mut old)?;
            if let (Some(after), Some(present)) = (after, rows.present_after) {
                new.clear();
                table
                    .layout
                    .complete(Some(&old), present, after, &mut new)?;
                self.apply_row(table, Some(&old), Some(&new), row_id, seq)?;
            } else {
                self.apply_row(table, Some(&old), None, row_id, seq)?;
            }
        }
        Ok(())
    }

    /// Puts into `old` the full row that a partial before image is of, as it is at this point of the replay.
    fn stored_row(
        &self,
        table: &Arc<Table>,
        rows: &RowsEvent<'_>,
        before: &[u8],
        row_id: Option<u64>,
        old: &mut Vec<u8>,
    ) -> Result<()> {
        old.clear();
        table.layout.complete(None, rows.present, before, old)?;
        if (0..rows.column_count).all(|i| rows.has_column(i)) {
            return Ok(());
        }
        let mut pk = Vec::with_capacity(16);
        match row_id {
            Some(id) => pk.extend_from_slice(&id.to_be_bytes()),
            None => table.primary_key(old, &mut pk)?,
        }
        let index = table.indexes[0].id;
        let found = self.state.get(index, &full_key(index, &pk), u64::MAX)?;
        let Some((_, Some(row))) = found else {
            return Err(EngineError::Corrupt(format!(
                "a changed row of {}.{} is not in the table",
                table.def.db, table.def.name
            )));
        };
        old.clear();
        old.extend_from_slice(&row);
        let mut logged = Vec::with_capacity(before.len());
        table.layout.cut(old, rows.present, &mut logged)?;
        if logged != before {
            return Err(EngineError::Corrupt(format!(
                "a changed row of {}.{} is not as it was when it was changed",
                table.def.db, table.def.name
            )));
        }
        Ok(())
    }

    fn apply_row(
        &self,
        table: &Arc<Table>,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
        row_id: Option<u64>,
        seq: u64,
    ) -> Result<()> {
        let pk_of = |row: &[u8]| -> Result<Vec<u8>> {
            let mut pk = Vec::with_capacity(16);
            match row_id {
                Some(id) => pk.extend_from_slice(&id.to_be_bytes()),
                None => table.primary_key(row, &mut pk)?,
            }
            Ok(pk)
        };
        let memtable = &self.state.active;
        let put = |index: u32, key: &[u8], p: Payload| {
            memtable.put(&full_key(index, key), seq, p, &self.registry)
        };
        let old = before
            .map(|row| pk_of(row).map(|pk| (row, pk)))
            .transpose()?;
        let new = after
            .map(|row| pk_of(row).map(|pk| (row, pk)))
            .transpose()?;
        // Removals first: a key that stays is put again.
        if let Some((row, pk)) = &old {
            table.counters.rows.fetch_sub(1, Ordering::Relaxed);
            put(table.indexes[0].id, pk, Payload::Tombstone);
            for i in 1..table.indexes.len() {
                let mut key = Vec::new();
                table.secondary_parts(i, row, &mut key)?;
                finish_secondary_key(&mut key, pk)?;
                put(table.indexes[i].id, &key, Payload::Tombstone);
            }
        }
        if let Some((row, pk)) = &new {
            table.counters.rows.fetch_add(1, Ordering::Relaxed);
            put(table.indexes[0].id, pk, Payload::Row(Arc::from(*row)));
            for i in 1..table.indexes.len() {
                let mut key = Vec::new();
                table.secondary_parts(i, row, &mut key)?;
                finish_secondary_key(&mut key, pk)?;
                put(table.indexes[i].id, &key, Payload::Present);
            }
            if let (Some(c), None) = (table.auto_increment, before) {
                let v = match table.layout.column(row, c)? {
                    ValueRef::Int(v) => u64::try_from(v).unwrap_or(0),
                    ValueRef::UInt(v) => v,
                    _ => 0,
                };
                table
                    .counters
                    .auto_increment
                    .fetch_max(v.saturating_add(1), Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn build_index(&self, table: u64, index: u32, seq: u64) -> Result<()> {
        let table = self.catalog.table_by_id(table).ok_or_else(|| {
            EngineError::Corrupt(format!("an index is made on the unknown table id {table}"))
        })?;
        let keys = index_keys(&self.state, table, index)?.0;
        for key in keys {
            self.state.active.put(
                &full_key(index, &key),
                seq,
                Payload::Present,
                &self.registry,
            );
        }
        Ok(())
    }
}

/// All keys of a new index, and the clustered key of a row that violates its uniqueness.
type IndexKeys = (Vec<Vec<u8>>, Option<Vec<u8>>);

/// Derives the keys of a new index from the newest rows.
pub(crate) fn index_keys(state: &Arc<State>, table: &Arc<Table>, index: u32) -> Result<IndexKeys> {
    let at = table
        .indexes
        .iter()
        .position(|i| i.id == index)
        .ok_or_else(|| {
            EngineError::Corrupt(format!("table {} has no index id {index}", table.def.name))
        })?;
    let none = BTreeMap::new();
    let mut keys: Vec<(Vec<u8>, usize)> = Vec::new();
    let mut scan = Scan::new(
        &none,
        state.clone(),
        u64::MAX,
        table,
        0,
        KeyRange::all(),
        false,
        false,
    )?;
    while let Some(item) = scan.next()? {
        let mut key = Vec::with_capacity(32);
        let has_null = table.secondary_parts(at, item.row, &mut key)?;
        let parts = if has_null { usize::MAX } else { key.len() };
        finish_secondary_key(&mut key, item.pk)?;
        keys.push((key, parts));
    }
    keys.sort_unstable();
    let mut duplicate = None;
    if table.indexes[at].unique {
        for pair in keys.windows(2) {
            let ((a, an), (b, bn)) = (&pair[0], &pair[1]);
            if *an != usize::MAX && an == bn && a[..*an] == b[..*bn] {
                duplicate = Some(crate::table::pk_of_secondary(b)?.to_vec());
                break;
            }
        }
    }
    Ok((keys.into_iter().map(|(k, _)| k).collect(), duplicate))
}
