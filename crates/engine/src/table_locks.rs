//! Locks on tables that outlive transactions (LOCK TABLES).

use crate::Result;
use crate::db::{Database, Inner};
use crate::locks::{LockName, Locked, WaitPolicy};
use crate::txn::{LockMode, TxnOptions};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Exclusive locks on tables' definitions: nobody else writes or changes these tables. Reading goes on, in snapshots.
/// Released when dropped.
pub struct TableLocks {
    pub(crate) db: Arc<Inner>,
    owner: u64,
    names: Vec<LockName>,
}

impl Drop for TableLocks {
    fn drop(&mut self) {
        self.db.locks.release_all(self.owner, &self.names);
    }
}

impl TableLocks {
    /// Locks nothing yet.
    pub(crate) fn new(db: &Arc<Inner>) -> Self {
        TableLocks {
            db: db.clone(),
            owner: db.next_txn.fetch_add(1, Ordering::Relaxed),
            names: Vec::new(),
        }
    }

    /// Locks one more table, waiting for the transactions that have written it. Callers lock in the order of ids.
    pub(crate) fn add(&mut self, table_id: u64, policy: WaitPolicy<'_>) -> Result<()> {
        let name = self.db.locks.table_name(table_id);
        if self
            .db
            .locks
            .acquire(self.owner, name, LockMode::Exclusive, Some(policy))?
        {
            self.names.push(name);
        }
        Ok(())
    }
}

impl Database {
    /// Locks tables by their ids against writes and definition changes by everyone but transactions and statements
    /// whose [`TxnOptions::held_tables`] names them. Waits for transactions that have written them; `lock_wait_timeout`
    /// and `interrupt` of `options` end the wait (errors 1205, 1317), as a deadlock does (1213).
    pub fn lock_tables(&self, ids: &[u64], options: &TxnOptions) -> Result<TableLocks> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        let mut locks = TableLocks::new(&self.inner);
        for id in ids {
            let policy = WaitPolicy {
                timeout: options.lock_wait_timeout,
                of: Locked::Table(id),
                interrupt: options.interrupt.as_deref(),
            };
            locks.add(id, policy)?;
        }
        Ok(locks)
    }
}
