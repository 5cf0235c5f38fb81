//! LOCK TABLES.

use crate::Result;
use crate::db::database::Database;
use crate::ddl::table_locks::TableLocks;
use crate::locks::types::{LockMode, Locked, WaitPolicy};
use crate::txn::options::TxnOptions;

impl Database {
    /// Locks tables by their ids against writes and definition changes by everyone but transactions and statements
    /// whose [`TxnOptions::held_tables`] names them. Waits for transactions that have written them; `lock_wait_timeout`
    /// and `interrupt` of `options` end the wait (errors 1205, 1317), as a deadlock does (1213).
    pub fn lock_tables(&self, ids: &[u64], options: &TxnOptions) -> Result<TableLocks> {
        self.lock_definitions(ids, LockMode::Exclusive, options)
    }

    /// Locks tables by their ids against definition changes by others; all may write them. Waits as [`Self::lock_tables`] does,
    /// for those who change the definitions or have locked the tables for themselves.
    pub fn share_tables(&self, ids: &[u64], options: &TxnOptions) -> Result<TableLocks> {
        self.lock_definitions(ids, LockMode::Shared, options)
    }

    fn lock_definitions(
        &self,
        ids: &[u64],
        mode: LockMode,
        options: &TxnOptions,
    ) -> Result<TableLocks> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        let mut locks = TableLocks::new(&self.parts, mode);
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
