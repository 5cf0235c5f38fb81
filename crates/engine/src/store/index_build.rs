//! The keys of new indexes, derived from the rows that are there: CREATE INDEX, and its repetition by recovery.
//!
//! They are gathered and sorted. What outgrows a transaction's share of memory goes to run files, which become a layer of the
//! store at the statement's commit, as those of a large transaction do. No record names these files: recovery makes the
//! index anew from the rows.

use crate::catalog::table::Table;
use crate::key::{FullKey, KeyRange, finish_secondary_key, full_key, pk_of_secondary};
use crate::store::entry::Payload;
use crate::store::memtable::Memtable;
use crate::store::run::reader::Run;
use crate::store::run::set::RunSet;
use crate::store::scan::Scan;
use crate::store::snapshots::SnapshotRegistry;
use crate::store::state::State;
use crate::store::writeset::{SpillPlace, WriteSet, unlogged_spill_id};
use crate::{EngineError, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Memory that a key takes beside its bytes when they are too long to stand in it.
const LONG_KEY_OVERHEAD: usize = 16;

/// Keys of the new indexes of one statement.
pub(crate) struct IndexBuild {
    place: SpillPlace,
    /// Bytes of keys in memory.
    limit: usize,
    keys: Vec<FullKey>,
    bytes: usize,
    /// What went to run files.
    spilled: WriteSet,
}

impl IndexBuild {
    /// None yet. `limit`: bytes of keys in memory; `place` says where more than that goes, but for its `id`.
    pub(crate) fn new(place: SpillPlace, limit: u64) -> Self {
        let id = unlogged_spill_id();
        IndexBuild {
            place: SpillPlace { id, ..place },
            limit: usize::try_from(limit).unwrap_or(usize::MAX),
            keys: Vec::new(),
            bytes: 0,
            spilled: WriteSet::default(),
        }
    }

    /// Adds the keys of an index, from the newest rows of its table. Returns the clustered key of a row that violates its
    /// uniqueness, if there is one.
    pub(crate) fn add(
        &mut self,
        state: &Arc<State>,
        table: &Arc<Table>,
        index: u32,
    ) -> Result<Option<Vec<u8>>> {
        let at = (table.indexes.iter().position(|i| i.id == index)).ok_or_else(|| {
            EngineError::Corrupt(format!("table {} has no index id {index}", table.def.name))
        })?;
        let unique = table.indexes[at].unique;
        let (first, before) = (self.keys.len(), self.spilled.position());
        let none = WriteSet::default();
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
        let mut rows = 0u64;
        let mut key = Vec::new();
        while let Some(item) = scan.next()? {
            key.clear();
            table.secondary_parts(at, item.row, &mut key)?;
            finish_secondary_key(&mut key, item.pk)?;
            self.push(full_key(index, &key))?;
            rows += 1;
            if rows.is_multiple_of(4096) {
                self.go_on()?;
            }
        }
        drop(scan);
        let in_memory = before == self.spilled.position();
        if in_memory {
            self.keys[first..].sort_unstable();
        } else {
            self.flush()?;
        }
        if !unique {
            return Ok(None);
        }
        let mut pairs = Duplicates {
            state,
            table,
            at,
            last: FullKey::new(),
        };
        if in_memory {
            for key in &self.keys[first..] {
                if let Some(pk) = pairs.next(key)? {
                    return Ok(Some(pk));
                }
            }
            return Ok(None);
        }
        let runs: Vec<Arc<Run>> = (self.spilled.runs())
            .filter(|r| r.index(index).is_some())
            .cloned()
            .collect();
        let mut all = RunSet { runs }.iter_all()?;
        while let Some(key) = all.peek_key() {
            if key.starts_with(&index.to_be_bytes())
                && let Some(pk) = pairs.next(key)?
            {
                return Ok(Some(pk));
            }
            all.advance()?;
            rows += 1;
            if rows.is_multiple_of(4096) {
                self.go_on()?;
            }
        }
        Ok(None)
    }

    fn push(&mut self, key: FullKey) -> Result<()> {
        if self.keys.len() == self.keys.capacity() {
            // Doubling could take twice the limit.
            let most = (self.limit / size_of::<FullKey>()).saturating_add(1);
            let more = self
                .keys
                .len()
                .max(64)
                .min(most.saturating_sub(self.keys.len()));
            self.keys.reserve_exact(more.max(1));
        }
        self.bytes += size_of::<FullKey>();
        if key.spilled() {
            self.bytes += key.len() + LONG_KEY_OVERHEAD;
        }
        self.keys.push(key);
        if self.bytes > self.limit {
            self.flush()?;
        }
        Ok(())
    }

    /// An error if the statement was killed.
    fn go_on(&self) -> Result<()> {
        let killed = (self.place.interrupt.as_ref()).is_some_and(|i| i.load(Ordering::Relaxed));
        if killed {
            return Err(EngineError::Interrupted);
        }
        Ok(())
    }

    /// Writes what is in memory to a run file.
    fn flush(&mut self) -> Result<()> {
        self.keys.sort_unstable();
        self.spilled.add_run(&self.place, &self.keys)?;
        self.keys.clear();
        self.bytes = 0;
        Ok(())
    }

    /// The write set that is to become a layer of its own, if there is so much. To be called when all indexes are added;
    /// otherwise the keys are [put](Self::put_into) into a memtable.
    pub(crate) fn layer(&mut self) -> Result<Option<&mut WriteSet>> {
        if !self.spilled.has_runs() {
            return Ok(None);
        }
        self.flush()?;
        Ok(Some(&mut self.spilled))
    }

    /// Puts the keys in memory into a memtable, as of commit `seq`.
    pub(crate) fn put_into(&self, memtable: &Memtable, seq: u64, registry: &SnapshotRegistry) {
        for key in &self.keys {
            memtable.put(key, seq, Payload::Present, registry);
        }
    }
}

/// Looks for two rows of the same value in a unique index's keys, in key order.
struct Duplicates<'a> {
    state: &'a Arc<State>,
    table: &'a Arc<Table>,
    /// The index's number in the table.
    at: usize,
    last: FullKey,
}

impl Duplicates<'_> {
    /// The next key: the clustered key in it, if it has the value of the one before.
    fn next(&mut self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let pk = pk_of_secondary(key)?;
        let same = !self.last.is_empty() && value(&self.last)? == value(key)?;
        // NULL is no value: the row tells.
        if same && !self.has_null(pk)? {
            return Ok(Some(pk.to_vec()));
        }
        self.last.clear();
        self.last.extend_from_slice(key);
        Ok(None)
    }

    fn has_null(&self, pk: &[u8]) -> Result<bool> {
        let clustered = self.table.indexes[0].id;
        let found = (self.state).get(clustered, &full_key(clustered, pk), u64::MAX)?;
        let Some((_, Some(row))) = found else {
            return Err(EngineError::Corrupt(format!(
                "table {}: a row went while an index was made of it",
                self.table.def.name
            )));
        };
        let mut parts = Vec::new();
        self.table.secondary_parts(self.at, &row, &mut parts)
    }
}

/// A secondary key without the clustered key in it.
fn value(key: &[u8]) -> Result<&[u8]> {
    let pk = pk_of_secondary(key)?;
    Ok(&key[..key.len() - pk.len() - 2])
}
