//! Reading: in the snapshot, and of the newest rows.

use crate::Result;
use crate::catalog::table::Table;
use crate::error::definition_changed;
use crate::key::FullKey;
use crate::key::KeyRange;
use crate::key::full_key;
use crate::key::index_of;
use crate::store::entry::Payload;
use crate::store::row::Row;
use crate::store::row::RowInner;
use crate::store::scan::Scan;
use crate::txn::options::Isolation;
use crate::txn::transaction::Transaction;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Which version of rows a scan sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadView {
    /// The transaction's snapshot plus its own writes: plain SELECT.
    Snapshot,
    /// The newest committed versions plus its own writes, without locks: finds candidates for locking reads and
    /// writes, each to be confirmed by [`Transaction::lock_row`].
    Current,
}

impl Transaction {
    /// Makes the snapshot now, if there is none (WITH CONSISTENT SNAPSHOT).
    pub fn ensure_snapshot(&mut self) {
        if self.view.snapshot.is_some() {
            return;
        }
        let registry = &self.db.store.registry;
        let slot = match self.view.slot.take() {
            Some(s) => {
                registry.reset(&s);
                s
            }
            None => registry.claim(self.id as usize),
        };
        let snapshot = self.db.snapshot();
        registry.set(&slot, snapshot.seq);
        self.view.slot = Some(slot);
        self.view.snapshot = Some(snapshot);
    }

    /// The snapshot for a plain read. Row locks are freed before the commit is visible, so this transaction may have locked or
    /// changed rows of a commit that no snapshot has yet: it waits for that one, or it would see a state from before its own.
    #[inline]
    pub(super) fn snapshot_after_what_it_saw(&mut self) -> Result<()> {
        if self.view.snapshot.is_none() {
            self.wait_visible(self.view.read_dependency)?;
            self.ensure_snapshot();
        }
        Ok(())
    }

    /// Reads one row by clustered key in the snapshot (plus own writes).
    pub fn get(&mut self, table: &Arc<Table>, pk: &[u8]) -> Result<Option<Row>> {
        let index = table.indexes[0].id;
        let key = full_key(index, pk);
        if table.temporary {
            return Ok(self.own(&key)?.flatten());
        }
        self.snapshot_after_what_it_saw()?;
        self.check_made_before(table, 0)?;
        if let Some(own) = self.own(&key)? {
            return Ok(own);
        }
        match &self.view.snapshot {
            Some(s) => Ok(s.state.get(index, &key, s.seq)?.and_then(|(_, r)| r)),
            None => Ok(None),
        }
    }

    /// An index that a DDL statement made after this snapshot has nothing in it that the snapshot could see: error 1412.
    #[inline]
    pub(super) fn check_made_before(&self, table: &Table, index: usize) -> Result<()> {
        match (&self.view.snapshot, table.indexes.get(index)) {
            (Some(s), Some(ix)) if ix.since.load(Ordering::Relaxed) > s.seq => {
                Err(definition_changed())
            }
            _ => Ok(()),
        }
    }

    /// This transaction's own version of a clustered key: `Some(None)` if it deleted it.
    #[inline]
    pub(crate) fn own(&self, key: &FullKey) -> Result<Option<Option<Row>>> {
        let writes = self.own_writes(index_of(key))?;
        if writes.is_empty() {
            return Ok(None);
        }
        Ok(writes.get(key)?.map(|p| match p {
            Payload::Row(r) => Some(Row(RowInner::Memory(r))),
            _ => None,
        }))
    }

    /// Scans index number `index` (0 = clustered) of a table. With `keys_only` secondary scans don't fetch rows.
    pub fn scan(
        &mut self,
        table: &Arc<Table>,
        index: usize,
        range: KeyRange,
        reverse: bool,
        view: ReadView,
        keys_only: bool,
    ) -> Result<Scan<'_>> {
        let (state, seq) = match view {
            ReadView::Snapshot if !table.temporary => {
                self.snapshot_after_what_it_saw()?;
                self.check_made_before(table, index)?;
                match &self.view.snapshot {
                    Some(s) => (s.state.clone(), s.seq),
                    None => (self.db.store.state.load_full(), u64::MAX),
                }
            }
            _ => (self.db.store.state.load_full(), u64::MAX),
        };
        let id = table.indexes[0].id;
        Scan::new(
            self.own_writes(id)?,
            state,
            seq,
            table,
            index,
            range,
            reverse,
            keys_only,
        )
    }

    /// True if a write must also look at the rows of its snapshot: a row that matched there and was changed since is a
    /// conflict (1020) even if it does not match any more.
    pub fn checks_conflicts(&self) -> bool {
        // At SERIALIZABLE reads have locked what they saw.
        self.view.snapshot.is_some()
            && self.options.isolation == Isolation::RepeatableRead
            && !self.options.newest_rows
    }

    /// The snapshot's commit sequence number, if there is a snapshot.
    pub fn snapshot_seq(&self) -> Option<u64> {
        self.view.snapshot.as_ref().map(|s| s.seq)
    }

    /// Before results of locking reads, or of a duplicate key, are sent: waits until the versions read are durable and
    /// visible.
    pub fn wait_reads_durable(&mut self) -> Result<()> {
        self.wait_visible(self.view.read_dependency)
    }

    pub(super) fn wait_visible(&self, seq: u64) -> Result<()> {
        if seq > self.db.binlog.log.visible_seq() {
            self.db
                .binlog
                .log
                .wait_visible_or(seq, || self.options.interrupted())?;
        }
        Ok(())
    }
}
