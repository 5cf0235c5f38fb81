//! A transaction's reads and writes of temporary tables.

use crate::Result;
use crate::catalog::table::Table;
use crate::key::{FullKey, index_of, is_temporary, slot_of};
use crate::store::entry::Payload;
use crate::store::writeset::{SpillEnd, WriteSet, unlogged_spill_id};
use crate::txn::temporary_rows::{TemporaryTables, in_use};
use crate::txn::transaction::Transaction;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Transaction {
    /// The write set that has an index's own rows.
    #[inline]
    pub(crate) fn own_writes(&self, index: u32) -> Result<&WriteSet> {
        if !is_temporary(index) {
            return Ok(&self.writes);
        }
        let rows = self.temporary.as_ref().ok_or_else(in_use)?;
        let table = rows.tables.get(&slot_of(index)).ok_or_else(in_use)?;
        Ok(&table.rows)
    }

    /// Gives the transaction the session's temporary tables, if it began before there were any.
    pub fn set_temporary(&mut self, tables: &Arc<TemporaryTables>) {
        self.options.temporary = Some(tables.clone());
        self.claim_temporary();
    }

    /// Takes the rows of temporary tables, if nobody else has them.
    pub fn claim_temporary(&mut self) {
        if self.temporary.is_none()
            && let Some(tables) = &self.options.temporary
        {
            self.temporary = tables.rows.lock().take();
        }
    }

    /// Lets others of the session have the rows of temporary tables, until this transaction's next statement begins.
    pub fn lend_temporary(&mut self) {
        if let Some(rows) = self.temporary.take()
            && let Some(tables) = &self.options.temporary
        {
            *tables.rows.lock() = Some(rows);
        }
    }

    /// It changed rows of temporary tables: they are undone unless it commits.
    #[must_use]
    pub fn changed_temporary(&self) -> bool {
        self.changed_temporary
    }

    /// What the transaction did to temporary tables stays.
    pub(crate) fn settle_temporary(&mut self) {
        if std::mem::take(&mut self.changed_temporary)
            && let Some(rows) = &mut self.temporary
        {
            rows.settle();
        }
    }

    /// The transaction is over.
    pub(crate) fn end_temporary(&mut self) {
        if self.changed_temporary {
            self.claim_temporary();
            if let Some(rows) = &mut self.temporary {
                rows.rollback_to(&[]);
            }
        }
        self.lend_temporary();
    }

    /// The places of temporary tables, for a savepoint.
    pub(crate) fn temporary_places(&self) -> Vec<(u32, u64)> {
        self.temporary
            .as_ref()
            .map_or_else(Vec::new, |r| r.places())
    }

    /// Back to such places.
    pub(crate) fn rollback_temporary(&mut self, places: &[(u32, u64)]) {
        if !self.changed_temporary {
            return;
        }
        self.claim_temporary();
        if let Some(rows) = &mut self.temporary {
            rows.rollback_to(places);
        }
    }

    /// What every write to a temporary table does first.
    pub(crate) fn begin_temporary_write(&mut self, table: &Table) -> Result<()> {
        self.changed_temporary = true;
        let index = table.indexes[0].id;
        let limit = self.db.store.runs.limit;
        let rows = self.temporary.as_mut().ok_or_else(in_use)?;
        let count = rows.tables.len() as u64;
        // All of them together stay below the limit.
        if rows.table_mut(index)?.rows.bytes() > limit / count.max(1) {
            self.spill_temporary(index)?;
        }
        Ok(())
    }

    fn spill_temporary(&mut self, index: u32) -> Result<()> {
        let id = unlogged_spill_id();
        let place = self.db.store.runs.place(id, &self.options.interrupt);
        let live = self.live_savepoints();
        let rows = self.temporary.as_mut().ok_or_else(in_use)?;
        let table = rows.table_mut(index)?;
        let here = |s: &Vec<(u32, u64)>| {
            let place = s.iter().find(|(slot, _)| *slot == slot_of(index));
            place.map(|(_, p)| *p)
        };
        let end = |writes| SpillEnd {
            writes,
            ..SpillEnd::default()
        };
        let mut ends: Vec<SpillEnd> = live
            .iter()
            .filter_map(|s| here(&s.temporary))
            .map(end)
            .collect();
        ends.push(end(table.settled));
        let bytes = table.rows.spill(&place, &ends, SpillEnd::default())?;
        let c = &self.db.counters;
        c.spills.fetch_add(1, Ordering::Relaxed);
        c.spill_bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn put_temporary(&mut self, key: FullKey, payload: Payload, delta: i8) {
        let Some(rows) = &mut self.temporary else {
            return;
        };
        if let Ok(t) = rows.table_mut(index_of(&key)) {
            if delta != 0 {
                let rows = &t.table.counters.rows;
                rows.fetch_add(i64::from(delta), Ordering::Relaxed);
            }
            t.rows.put(key, payload, delta);
        }
    }
}
