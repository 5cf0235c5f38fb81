//! Locks on tables that outlive transactions (LOCK TABLES).

use crate::Result;
use crate::locks::types::{LockMode, LockName, WaitPolicy};
use crate::parts::Parts;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Locks on tables' definitions. Exclusive ones: nobody else writes or changes these tables. Shared ones: nobody changes them, and
/// all may write. Reading goes on, in snapshots. Released when dropped.
pub struct TableLocks {
    pub(crate) db: Arc<Parts>,
    owner: u64,
    mode: LockMode,
    names: Vec<LockName>,
}

impl Drop for TableLocks {
    fn drop(&mut self) {
        self.db.locks.release_all(self.owner, &self.names);
    }
}

impl TableLocks {
    /// Locks nothing yet.
    pub(crate) fn new(db: &Arc<Parts>, mode: LockMode) -> Self {
        TableLocks {
            db: db.clone(),
            owner: db.next_txn.fetch_add(1, Ordering::Relaxed),
            mode,
            names: Vec::new(),
        }
    }

    /// Locks one more table, waiting for the transactions that have written it. Callers lock in the order of ids.
    pub(crate) fn add(&mut self, table_id: u64, policy: WaitPolicy<'_>) -> Result<()> {
        let name = self.db.locks.table_name(table_id);
        if self
            .db
            .locks
            .acquire(self.owner, name, self.mode, Some(policy))?
        {
            self.names.push(name);
        }
        Ok(())
    }
}
