//! The database: opening, beginning transactions, DDL, settings, statistics.

use crate::Result;
use crate::catalog::{Catalog, CatalogChange};
use crate::txn::{CommitInfo, Transaction, TxnOptions};
use std::path::Path;
use std::sync::Arc;

/// Settings of a database. Sizes in bytes.
#[derive(Debug, Clone)]
pub struct Options {
    /// 1 = sync before OK, 2 = write before OK, 0 = neither (`innodb_flush_log_at_trx_commit`).
    pub flush_log_at_trx_commit: u8,
    /// Memory for the base's page cache and the memtables together (`innodb_buffer_pool_size`).
    pub memory_budget: u64,
    /// This server's id in events.
    pub server_id: u32,
    /// GTID domain.
    pub gtid_domain_id: u32,
    /// Virtual binlog file size.
    pub max_binlog_size: u32,
    /// Log segment size.
    pub segment_size: u64,
    /// Largest transaction, bytes of events.
    pub max_binlog_cache_size: u64,
    /// `binlog_commit_wait_count`.
    pub commit_wait_count: u32,
    /// `binlog_commit_wait_usec`.
    pub commit_wait_usec: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            flush_log_at_trx_commit: 1,
            memory_budget: 256 << 20,
            server_id: 1,
            gtid_domain_id: 0,
            max_binlog_size: 1 << 30,
            segment_size: 32 << 20,
            max_binlog_cache_size: 1 << 30,
            commit_wait_count: 0,
            commit_wait_usec: 0,
        }
    }
}

/// A DDL statement: its text for the log and what it changes.
#[derive(Debug, Clone, Default)]
pub struct Ddl {
    /// Statement text as replicas will run it.
    pub sql: String,
    /// Default database of the statement.
    pub db: String,
    /// The changes, atomic together.
    pub changes: Vec<CatalogChange>,
    /// `sql_mode` bits for the QUERY event.
    pub sql_mode: u64,
    /// Connection id.
    pub thread_id: u32,
    /// Seconds since 1970.
    pub timestamp: u32,
    /// Event flag "suppress use" (CREATE/DROP DATABASE).
    pub suppress_use: bool,
}

/// Counters since start, for SHOW STATUS.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Name (as `Narwal_...` or MariaDB's name) and value.
    pub values: Vec<(&'static str, u64)>,
}

/// An open database. Cheap to clone; the last clone to go closes it cleanly.
#[derive(Clone)]
pub struct Database {}

impl Database {
    /// Opens or creates the database in a folder, with defaults.
    pub fn open(_path: impl AsRef<Path>) -> Result<Database> {
        todo!()
    }

    /// Opens or creates with settings.
    pub fn open_with(_path: impl AsRef<Path>, _options: Options) -> Result<Database> {
        todo!()
    }

    /// Begins a transaction. Cheap: nothing is taken before the first read or write.
    pub fn begin(&self, _options: TxnOptions) -> Transaction {
        todo!()
    }

    /// The current catalog.
    pub fn catalog(&self) -> Arc<Catalog> {
        todo!()
    }

    /// Runs a DDL statement: waits for writers of the tables that it changes, logs, applies, publishes. Crash-atomic.
    /// The connection's own transaction must have been committed before.
    pub fn ddl(&self, _ddl: Ddl, _options: &TxnOptions) -> Result<CommitInfo> {
        todo!()
    }

    /// Changes `innodb_flush_log_at_trx_commit` (0, 1, 2).
    pub fn set_flush_log_at_trx_commit(&self, _mode: u8) {
        todo!()
    }

    /// Changes the group commit waits.
    pub fn set_commit_wait(&self, _count: u32, _usec: u32) {
        todo!()
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        todo!()
    }

    /// Approximate number of rows of a table.
    pub fn table_rows(&self, _table: &crate::Table) -> u64 {
        todo!()
    }

    /// Current AUTO_INCREMENT counter (next value).
    pub fn auto_increment(&self, _table: &crate::Table) -> u64 {
        todo!()
    }

    /// Binlog position: virtual file name, offset, GTID text (`gtid_binlog_pos`).
    pub fn binlog_position(&self) -> (String, u64, String) {
        todo!()
    }

    /// Runs a checkpoint now.
    pub fn checkpoint(&self) -> Result<()> {
        todo!()
    }

    /// Stops background work, checkpoints and closes. Further calls on clones fail.
    pub fn close(&self) -> Result<()> {
        todo!()
    }
}
