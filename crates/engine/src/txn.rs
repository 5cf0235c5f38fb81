//! Transactions: the API that SQL and embedders use.

use crate::table::Table;
use crate::{EngineError, Result};
use std::ops::{Bound, Deref};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Isolation levels. `RepeatableRead` is snapshot isolation with first-updater-wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// A new snapshot for each statement. READ UNCOMMITTED is served as this.
    ReadCommitted,
    /// One snapshot, made by the first non-locking read.
    #[default]
    RepeatableRead,
    /// As `RepeatableRead`, but the SQL layer makes every plain SELECT a shared locking read.
    Serializable,
}

/// How a transaction starts.
#[derive(Debug, Clone, Default)]
pub struct TxnOptions {
    /// Isolation level.
    pub isolation: Isolation,
    /// START TRANSACTION READ ONLY.
    pub read_only: bool,
    /// How long to wait for a row lock (`innodb_lock_wait_timeout`).
    pub lock_wait_timeout: Option<Duration>,
    /// Set by KILL: waits end with [`EngineError::Interrupted`].
    pub interrupt: Option<Arc<AtomicBool>>,
    /// The connection's id, for QUERY events and lock diagnostics.
    pub thread_id: u32,
}

/// Row lock modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockMode {
    /// LOCK IN SHARE MODE.
    Shared,
    /// FOR UPDATE, and every write.
    Exclusive,
}

/// What to do when a row is locked by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LockWait {
    /// Wait up to the lock wait timeout.
    #[default]
    Wait,
    /// NOWAIT: fail with [`EngineError::LockNotAvailable`].
    NoWait,
    /// SKIP LOCKED: the row counts as absent.
    SkipLocked,
}

/// A row that was read: a reference to it in memory or in a base page. Derefs to the row image.
#[derive(Debug, Clone)]
pub struct Row(pub(crate) Arc<[u8]>);

impl Deref for Row {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

/// A range of encoded keys of one index. For secondary indexes bounds are prefixes of full keys: use
/// `Included(prefix)` / `Excluded(successor(prefix))`.
#[derive(Debug, Clone)]
pub struct KeyRange {
    /// Lower bound.
    pub start: Bound<Vec<u8>>,
    /// Upper bound.
    pub end: Bound<Vec<u8>>,
}

impl KeyRange {
    /// Everything.
    pub fn all() -> Self {
        KeyRange {
            start: Bound::Unbounded,
            end: Bound::Unbounded,
        }
    }
}

/// Which version of rows a scan sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadView {
    /// The transaction's snapshot plus its own writes: plain SELECT.
    Snapshot,
    /// The newest committed versions plus its own writes, without locks: finds candidates for locking reads and
    /// writes, each to be confirmed by [`Transaction::lock_row`].
    Current,
}

/// One item of a scan.
#[derive(Debug)]
pub struct ScanItem<'a> {
    /// Full key in the scanned index.
    pub key: &'a [u8],
    /// Clustered key.
    pub pk: &'a [u8],
    /// Row image; empty if the scan is `keys_only`.
    pub row: &'a [u8],
}

/// A running scan; it borrows the transaction.
pub struct Scan<'t> {
    _t: &'t (),
}

impl Scan<'_> {
    /// The next item, or `None` at the end.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<ScanItem<'_>>> {
        todo!()
    }
}

/// A place to roll back to.
#[derive(Debug, Clone)]
pub struct Savepoint {}

/// What a commit got.
#[derive(Debug, Clone, Default)]
pub struct CommitInfo {
    /// Commit sequence number; 0 if nothing was written.
    pub seq: u64,
    /// GTID as text, empty if nothing was written.
    pub gtid: String,
}

/// A transaction. Dropping it rolls back. Not for concurrent use; one thread at a time.
pub struct Transaction {}

impl Transaction {
    /// Starts a statement: remembers where to roll back to, and under READ COMMITTED takes a new snapshot at the next read.
    /// `timestamp`: seconds since 1970 for the events. `annotate`: the statement's text if it should go into the log.
    pub fn begin_statement(&mut self, _timestamp: u32, _annotate: Option<&[u8]>) {
        todo!()
    }

    /// Ends a successful statement (closes its row events).
    pub fn end_statement(&mut self) {
        todo!()
    }

    /// Undoes everything since `begin_statement`; row locks are kept, as in InnoDB.
    pub fn rollback_statement(&mut self) {
        todo!()
    }

    /// Makes the snapshot now, if there is none (WITH CONSISTENT SNAPSHOT).
    pub fn ensure_snapshot(&mut self) {
        todo!()
    }

    /// Reads one row by clustered key in the snapshot (plus own writes).
    pub fn get(&mut self, _table: &Arc<Table>, _pk: &[u8]) -> Result<Option<Row>> {
        todo!()
    }

    /// Scans index number `index` (0 = clustered) of a table. With `keys_only` secondary scans don't fetch rows.
    pub fn scan(
        &mut self,
        _table: &Arc<Table>,
        _index: usize,
        _range: KeyRange,
        _reverse: bool,
        _view: ReadView,
        _keys_only: bool,
    ) -> Result<Scan<'_>> {
        todo!()
    }

    /// Locks a row and returns its newest version (own writes included), `None` if there is no such row (or it was
    /// skipped by SKIP LOCKED). The key stays locked even if absent. Fails with `WriteConflict` under REPEATABLE READ
    /// if a snapshot exists and the row's newest version is younger.
    pub fn lock_row(
        &mut self,
        _table: &Arc<Table>,
        _pk: &[u8],
        _mode: LockMode,
        _wait: LockWait,
    ) -> Result<Option<Row>> {
        todo!()
    }

    /// Inserts a row image. `Duplicate` leaves the transaction as it was before the call (the existing row's unique key is locked).
    pub fn insert(&mut self, _table: &Arc<Table>, _row: Vec<u8>) -> Result<()> {
        todo!()
    }

    /// Replaces `old` (as returned by `lock_row`, Exclusive) by `new`; the clustered key may change. `Duplicate` as in `insert`.
    pub fn update(
        &mut self,
        _table: &Arc<Table>,
        _pk: &[u8],
        _old: &Row,
        _new: Vec<u8>,
    ) -> Result<()> {
        todo!()
    }

    /// Deletes `old` (as returned by `lock_row`, Exclusive).
    pub fn delete(&mut self, _table: &Arc<Table>, _pk: &[u8], _old: &Row) -> Result<()> {
        todo!()
    }

    /// Reserves `n` AUTO_INCREMENT values; returns the first. Never handed out twice, not even after a rollback.
    pub fn reserve_auto_increment(&mut self, _table: &Arc<Table>, _n: u64) -> Result<u64> {
        todo!()
    }

    /// Tells the counter about an explicit value.
    pub fn observe_auto_increment(&mut self, _table: &Arc<Table>, _value: u64) {
        todo!()
    }

    /// The current place.
    pub fn savepoint(&mut self) -> Savepoint {
        todo!()
    }

    /// Undoes everything after the savepoint; row locks are kept.
    pub fn rollback_to(&mut self, _s: &Savepoint) {
        todo!()
    }

    /// True if nothing was written so far.
    pub fn is_read_only(&self) -> bool {
        todo!()
    }

    /// Commits: returns when durable as configured and visible. On error nothing of it is visible or will ever be
    /// (but see `LogFailed`: its fate is decided by what the disk kept).
    pub fn commit(self) -> Result<CommitInfo> {
        todo!()
    }

    /// Rolls back.
    pub fn rollback(self) {
        todo!()
    }

    /// Before results of locking reads are sent: waits until the versions read are durable and visible.
    pub fn wait_reads_durable(&mut self) -> Result<()> {
        todo!()
    }
}

#[allow(dead_code)]
fn _uses(_: EngineError) {}
