//! LOCK TABLES.

use crate::Result;
use crate::db::database::Database;
use crate::ddl::table_locks::TableLocks;
use crate::locks::types::{Locked, WaitPolicy};
use crate::txn::options::TxnOptions;

impl Database {
    /// Locks tables by their ids against writes and definition changes by everyone but transactions and statements
    /// whose [`TxnOptions::held_tables`] names them. Waits for transactions that have written them; `lock_wait_timeout`
    /// and `interrupt` of `options` end the wait (errors 1205, 1317), as a deadlock does (1213).
    pub fn lock_tables(&self, ids: &[u64], options: &TxnOptions) -> Result<TableLocks> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        let mut locks = TableLocks::new(&self.parts);
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
