//! How a transaction begins, and what ends its waits.

use crate::binlog::order::Order;
use crate::catalog::image::RowImage;
use crate::record::replica::Origin;
use crate::txn::temporary_rows::TemporaryTables;
use crate::{EngineError, Result};
use narwal_binlog::GtidChoice;
use narwal_log::{Log, LogError, Ticket};
use narwal_types::Collation;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::time::Duration;

/// Isolation levels. `RepeatableRead` is snapshot isolation with first-updater-wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// A new snapshot for each statement. READ UNCOMMITTED is served as this.
    ReadCommitted,
    /// One snapshot, made by the first non-locking read.
    #[default]
    RepeatableRead,
    /// Strict two-phase locking: every read of a transaction locks the rows and the ranges that it looks at, and sees the newest
    /// rows; the SQL layer makes plain SELECTs shared locking reads.
    Serializable,
}

/// How a transaction starts.
#[derive(Debug, Clone)]
pub struct TxnOptions {
    /// Isolation level.
    pub isolation: Isolation,
    /// Under REPEATABLE READ and SERIALIZABLE, locking reads and writes take the newest version of a row that was changed
    /// since the snapshot, as under READ COMMITTED, in place of failing (`innodb_snapshot_isolation=OFF`).
    pub newest_rows: bool,
    /// START TRANSACTION READ ONLY.
    pub read_only: bool,
    /// How long to wait for a row lock (`innodb_lock_wait_timeout`); `None`: 50 seconds.
    pub lock_wait_timeout: Option<Duration>,
    /// Set by KILL: waits end with [`EngineError::Interrupted`].
    pub interrupt: Option<Arc<AtomicBool>>,
    /// What KILL asked for: the wait of a commit for a replica ends too.
    pub kill: Option<Arc<KillFlag>>,
    /// The connection's id, for QUERY events and lock diagnostics.
    pub thread_id: u32,
    /// What the session asks of the GTID (`gtid_domain_id`, `server_id`, `gtid_seq_no`, `gtid_strict_mode`).
    pub gtid: GtidChoice,
    /// `sql_log_bin`: replicas see the transaction.
    pub log_bin: bool,
    /// `binlog_row_image`; see also [`crate::Transaction::set_row_image`].
    pub row_image: RowImage,
    /// Where the transaction comes from, if another server committed it first: [`crate::Database::replica_state`] advances
    /// with its commit, in the same log record.
    pub origin: Option<Arc<Origin>>,
    /// The session's temporary tables.
    pub temporary: Option<Arc<TemporaryTables>>,
    /// Ids of tables that the caller has locked with [`crate::Database::lock_tables`]: it passes its own locks.
    pub held_tables: Option<Arc<[u64]>>,
    /// `collation_connection` and `collation_server` by their ids, with which replicas run a statement that defines something.
    pub collations: (u16, u16),
    /// `time_zone`, if a statement's meaning depends on it: replicas run it in that one.
    pub time_zone: Option<Arc<str>>,
    /// The statement is answered when it is durable, even while the gate holds it back: what concerns this server alone and
    /// must work while its commits wait for replicas. For DDL only.
    pub unheld: bool,
    /// `binlog_format=STATEMENT`: rows are logged for recovery only, and readers get the statements that
    /// [`crate::Transaction::log_statement`] is told of.
    pub statements: bool,
}

/// Between a connection and those who look at it or end it: what KILL asked for, and whether its commit waits for a
/// replica.
#[derive(Debug, Default)]
pub struct KillFlag {
    kill: AtomicU8,
    waits: AtomicBool,
}

impl KillFlag {
    /// KILL QUERY (`connection` false) or KILL CONNECTION.
    pub fn set(&self, connection: bool) {
        self.kill
            .fetch_max(1 + u8::from(connection), Ordering::SeqCst);
    }

    /// A new statement: a KILL QUERY of the one before is void.
    pub fn new_statement(&self) {
        let _ = self
            .kill
            .compare_exchange(1, 0, Ordering::SeqCst, Ordering::SeqCst);
    }

    /// Any KILL.
    pub fn is_set(&self) -> bool {
        self.kill.load(Ordering::Relaxed) > 0
    }

    /// A commit of this connection is durable and waits for a replica.
    pub fn waits_for_replica(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }

    /// KILL CONNECTION.
    pub fn ends_connection(&self) -> bool {
        self.kill.load(Ordering::Relaxed) > 1
    }

    /// See [`TxnOptions::wait_committed`].
    pub(crate) fn wait_committed(&self, log: &Log<Order>, ticket: &Ticket) -> Result<()> {
        let seq = ticket.seq();
        let waited = log.wait_or(ticket, || {
            self.waits.store(true, Ordering::Relaxed);
            self.ends_connection() || (self.is_set() && log.visible_seq() >= seq)
        });
        self.waits.store(false, Ordering::Relaxed);
        match waited {
            Err(LogError::GivenUp) if self.ends_connection() => Err(EngineError::KilledInCommit),
            Err(LogError::GivenUp) => Ok(()),
            r => Ok(r?),
        }
    }
}

impl TxnOptions {
    /// The caller holds a table's lock already.
    pub(crate) fn holds(&self, table_id: u64) -> bool {
        self.held_tables
            .as_ref()
            .is_some_and(|t| t.contains(&table_id))
    }

    /// Waits until a commit is durable, visible and, if the gate says so, acknowledged. KILL CONNECTION ends the wait
    /// for a replica; KILL QUERY does so once the commit is visible (otherwise the session would not see its own work).
    pub(crate) fn wait_committed(&self, log: &Log<Order>, ticket: &Ticket) -> Result<()> {
        match self.kill.as_deref() {
            Some(flag) => flag.wait_committed(log, ticket),
            None => Ok(log.wait(ticket)?),
        }
    }

    /// As [`TxnOptions::wait_committed`]; false if the statement may be answered although the gate holds it.
    pub(crate) fn wait_ddl(&self, log: &Log<Order>, ticket: &Ticket) -> Result<bool> {
        if !self.unheld {
            return self.wait_committed(log, ticket).map(|()| true);
        }
        match log.wait_or(ticket, || true) {
            Ok(()) => Ok(true),
            Err(LogError::GivenUp) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    pub(crate) fn interrupted(&self) -> bool {
        self.interrupt
            .as_ref()
            .is_some_and(|i| i.load(Ordering::Relaxed))
    }
}

impl Default for TxnOptions {
    fn default() -> Self {
        TxnOptions {
            isolation: Isolation::default(),
            newest_rows: false,
            read_only: false,
            lock_wait_timeout: None,
            interrupt: None,
            kill: None,
            thread_id: 0,
            gtid: GtidChoice::default(),
            log_bin: true,
            row_image: RowImage::default(),
            held_tables: None,
            temporary: None,
            origin: None,
            collations: {
                let id = Collation::default().id();
                (id, id)
            },
            time_zone: None,
            unheld: false,
            statements: false,
        }
    }
}
