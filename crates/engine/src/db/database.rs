//! The database: opening, beginning transactions, DDL, settings, statistics.

use crate::catalog::change::Ddl;
use crate::catalog::names::Catalog;
use crate::commit::reserved::{CommitInfo, Reserved};
use crate::db::engine::Engine;
use crate::db::open::open;
use crate::ddl::fill::{FillRows, TableFill};
use crate::locks::types::LockWaiting;
use crate::options::{Options, durability};
use crate::parts::Parts;
use crate::record::replica::ReplicaState;
use crate::txn::options::{KillFlag, TxnOptions};
use crate::txn::transaction::Transaction;
use crate::{Result, RowMetadata};
use narwal_log::{Gate, GateStats, Held, LogError, OnDone};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Counters since start, for SHOW STATUS.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Name (as `Narwal_...` or MariaDB's name) and value.
    pub values: Vec<(&'static str, u64)>,
}

/// An open database. Cheap to clone; the last clone to go closes it cleanly.
#[derive(Clone)]
pub struct Database {
    pub(crate) parts: Arc<Parts>,
    pub(crate) engine: Arc<Engine>,
}

impl Database {
    /// Opens or creates the database in a folder, with defaults.
    pub fn open(path: impl AsRef<Path>) -> Result<Database> {
        Self::open_with(path, Options::default())
    }

    /// Opens or creates with settings.
    ///
    /// The folder holds `narwal.lock` (held while open), `base.redb` (the table store) and `log/` (the log).
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Database> {
        let engine = Arc::new(open(path.as_ref(), &options)?);
        Ok(Database {
            parts: engine.parts.clone(),
            engine,
        })
    }

    /// Begins a transaction. Cheap: nothing is taken before the first read or write.
    pub fn begin(&self, options: TxnOptions) -> Transaction {
        Transaction::new(self.parts.clone(), options)
    }

    /// The transactions that wait for a lock now.
    pub fn lock_waits(&self) -> Vec<LockWaiting> {
        self.parts.locks.waiting()
    }

    /// The current catalog.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.parts.catalogs.current.load_full()
    }

    /// The current catalog's version, without counting a reference.
    #[inline]
    pub fn catalog_version(&self) -> u64 {
        self.parts.catalogs.version()
    }

    /// Runs a DDL statement: waits for writers of the tables that it changes, logs, applies, publishes. Crash-atomic.
    /// The connection's own transaction must have been committed before.
    pub fn ddl(&self, ddl: Ddl, options: &TxnOptions) -> Result<CommitInfo> {
        crate::ddl::run::run(&self.parts, ddl, options, None)
    }

    /// As [`Database::ddl`], for a statement that makes tables with rows in them: `fill` inserts them, and they are committed
    /// with the statement or not at all. The tables that the statement changes are locked against writes meanwhile.
    ///
    /// # Errors
    /// As [`Database::ddl`], and those of `fill`.
    pub fn ddl_filled(
        &self,
        ddl: Ddl,
        options: &TxnOptions,
        rows: FillRows<'_>,
        fill: &mut dyn FnMut(&mut TableFill<'_>) -> Result<()>,
    ) -> Result<CommitInfo> {
        crate::ddl::run::run(&self.parts, ddl, options, Some((rows, fill)))
    }

    /// What has a place in the log of what other servers committed, and how far that goes in their logs. It may not be
    /// durable yet: wait for [`ReplicaState::seq`] before a client is told ([`Database::wait_visible`]).
    pub fn replica_state(&self) -> ReplicaState {
        self.parts
            .binlog
            .log
            .with_order_state(|o, _| o.replica.clone())
    }

    /// Waits until a commit made by [`Transaction::commit_reserved`], and with it everything before it, is durable as
    /// configured, visible and, if the gate says so, acknowledged.
    ///
    /// # Errors
    /// [`crate::EngineError::LogFailed`].
    pub fn wait_committed(&self, reserved: &Reserved) -> Result<()> {
        match &reserved.ticket {
            Some(ticket) => Ok(self.parts.binlog.log.wait(ticket)?),
            None => Ok(()),
        }
    }

    /// As [`Database::wait_committed`], but what is durable may be held back by the gate.
    ///
    /// # Errors
    /// [`crate::EngineError::LogFailed`].
    pub fn wait_durable(&self, reserved: &Reserved) -> Result<()> {
        let Some(ticket) = &reserved.ticket else {
            return Ok(());
        };
        match self.parts.binlog.log.wait_or(ticket, || true) {
            Err(LogError::GivenUp) => Ok(()),
            waited => Ok(waited?),
        }
    }

    /// As [`Database::wait_committed`], for a client that may be killed: KILL CONNECTION ends its wait for a replica, KILL
    /// QUERY does so once the commit is visible.
    ///
    /// # Errors
    /// As [`Database::wait_committed`], or [`crate::EngineError::KilledInCommit`].
    pub fn wait_committed_or_killed(&self, reserved: &Reserved, kill: &KillFlag) -> Result<()> {
        match &reserved.ticket {
            Some(ticket) => kill.wait_committed(&self.parts.binlog.log, ticket),
            None => Ok(()),
        }
    }

    /// Whether somebody is writing to the log, so that [`Database::leave_committed`] may leave a commit to that thread.
    pub fn is_log_led(&self) -> bool {
        self.parts.binlog.log.is_leading()
    }

    /// Instead of [`Database::wait_committed`]: leaves the wait to the thread that writes the commit's group, which then
    /// calls `then`. False if that is not possible now: the caller waits.
    pub fn leave_committed(&self, reserved: &Reserved, then: &Arc<dyn OnDone>) -> bool {
        let log = &self.parts.binlog.log;
        (reserved.ticket.as_ref()).is_some_and(|ticket| log.leave(ticket, then))
    }

    /// Waits until everything up to sequence number `seq` is visible.
    ///
    /// # Errors
    /// [`crate::EngineError::LogFailed`].
    pub fn wait_visible(&self, seq: u64) -> Result<()> {
        Ok(self.parts.binlog.log.wait_visible(seq)?)
    }

    /// Begins virtual binary log file `number`, as the source of a replica did, so that the same group stands at the same
    /// place in both. Does nothing if this or a later file has begun already.
    ///
    /// # Errors
    /// Those of writing to the log.
    pub fn follow_file(&self, number: u32) -> Result<()> {
        crate::binlog::admin::follow_file(&self.parts.binlog, number)
    }

    /// As [`Database::ddl`], for a statement that changes no table (none, or the replica state only), and without the wait
    /// until it is durable: see [`Transaction::commit_reserved`]. `placed` is called when it has its place.
    ///
    /// # Errors
    /// [`crate::EngineError::Catalog`] if it would change the catalog; those of logging.
    pub fn ddl_reserved(
        &self,
        ddl: &Ddl,
        options: &TxnOptions,
        placed: impl FnOnce(),
    ) -> Result<Reserved> {
        let reserved = crate::ddl::run::run_reserved(&self.parts, ddl, options, placed)?;
        reserved.pass_on(&self.parts.binlog.log);
        Ok(reserved)
    }

    /// The last commit that has its place in the log, visible or not.
    pub fn reserved_seq(&self) -> u64 {
        self.parts.binlog.log.with_order_state(|_, at| at.seq)
    }

    /// Changes `innodb_flush_log_at_trx_commit` (0, 1, 2).
    pub fn set_flush_log_at_trx_commit(&self, mode: u8) {
        if let Err(e) = self.parts.binlog.log.set_durability(durability(mode)) {
            tracing::error!("changing innodb_flush_log_at_trx_commit: {e}");
        }
    }

    /// Changes `max_binlog_cache_size` (bytes).
    pub fn set_max_binlog_cache_size(&self, bytes: u64) {
        self.parts
            .settings
            .max_binlog_cache_size
            .store(bytes, Ordering::Relaxed);
    }

    /// Changes `binlog_oob_threshold` (bytes).
    pub fn set_oob_threshold(&self, bytes: u64) {
        self.parts
            .settings
            .oob_threshold
            .store(bytes, Ordering::Relaxed);
    }

    /// Changes the group commit waits.
    pub fn set_commit_wait(&self, count: u32, usec: u32) {
        self.parts.binlog.log.set_commit_wait(count, usec);
    }

    /// Changes `narwal_group_commit_auto_wait`.
    pub fn set_commit_wait_auto(&self, on: bool) {
        self.parts.binlog.log.set_commit_wait_auto(on);
    }

    /// Changes `binlog_row_metadata` for transactions that begin from here on.
    pub fn set_binlog_row_metadata(&self, level: RowMetadata) {
        self.parts
            .settings
            .row_metadata
            .store(level as u8, Ordering::Relaxed);
    }

    /// What commits wait for beyond their durability, from now on; see [`narwal_log::Log::set_gate`].
    pub fn set_gate(&self, gate: Gate) {
        if gate == Gate::Visibility && self.gate() != gate {
            // From now on the end of the log is never visible: what is now must be known.
            if let Err(e) = self.visible_replica_state() {
                tracing::warn!("the gate closes over a log that has stopped: {e}");
            }
        }
        self.parts.binlog.log.set_gate(gate);
    }

    /// What commits wait for beyond their durability.
    pub fn gate(&self) -> Gate {
        self.parts.binlog.log.gate()
    }

    /// Replicas have every commit up to sequence number `seq`: lets them pass the gate.
    pub fn acknowledge(&self, seq: u64) {
        self.parts.binlog.log.acknowledge(seq);
    }

    /// What the gate holds now.
    pub fn held(&self) -> Held {
        self.parts.binlog.log.held()
    }

    /// What the gate has done.
    pub fn gate_stats(&self) -> GateStats {
        self.parts.binlog.log.gate_stats()
    }

    /// Commits in the binary log since the start (`Binlog_commits`).
    pub fn binlog_commits(&self) -> u64 {
        self.parts.binlog.log.stats().binlog_commits
    }

    /// The last commit that readers may see.
    pub fn visible_seq(&self) -> u64 {
        self.parts.binlog.log.visible_seq()
    }

    /// `sync_binlog`; without effect but with [`Options::classic_log`].
    pub fn set_sync_binlog(&self, groups: u32) {
        if let Some(flat) = &self.parts.binlog.flat {
            flat.set_sync_every(groups);
        }
    }

    /// Whether there are two logs ([`Options::classic_log`]). Then there is nothing for replicas, archives and backups to
    /// read, and no gate ([`Database::set_gate`]).
    pub fn is_classic(&self) -> bool {
        self.parts.binlog.flat.is_some()
    }

    /// Refuses what only one log can do.
    ///
    /// # Errors
    /// 1235 if there are two.
    pub fn one_log(&self, what: &str) -> Result<()> {
        self.parts.binlog.one_log(what)
    }

    /// Makes everything committed so far durable, in any mode (FLUSH LOGS).
    pub fn sync(&self) -> Result<()> {
        self.parts.binlog.log.sync_all()?;
        match &self.parts.binlog.flat {
            Some(flat) => flat.sync(),
            None => Ok(()),
        }
    }

    /// Why the log has stopped for good, if it has.
    pub fn failed(&self) -> Option<String> {
        self.parts.binlog.log.failed()
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.parts.folder.dir
    }

    /// The settings it was opened with.
    pub fn options(&self) -> &Options {
        &self.parts.options
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        let db = &self.parts;
        let scrub = &self.engine.checkpoints.scrub;
        let log = db.binlog.log.stats();
        let r = Ordering::Relaxed;
        let state = db.store.state.load();
        let flat = db.binlog.flat_stats();
        Stats {
            values: vec![
                ("Narwal_commits", log.commits),
                ("Narwal_log_syncs", log.syncs),
                ("Narwal_log_writes", log.writes),
                ("Narwal_log_bytes_written", log.bytes_written),
                ("Narwal_log_group_bytes", db.counters.group_bytes.load(r)),
                ("Narwal_binlog_file_syncs", flat.syncs),
                ("Narwal_binlog_file_writes", flat.writes),
                ("Narwal_binlog_file_bytes_written", flat.bytes),
                ("Narwal_durable_lsn", db.binlog.log.durable_lsn()),
                ("Narwal_visible_seq", db.binlog.log.visible_seq()),
                ("Narwal_memtable_bytes", state.memtable_bytes()),
                ("Narwal_layers", state.older.len() as u64),
                ("Narwal_checkpoints", db.counters.checkpoints.load(r)),
                (
                    "Narwal_checkpoint_errors",
                    db.counters.checkpoint_errors.load(r),
                ),
                (
                    "Narwal_damaged_tables",
                    db.store.apart.lock().tables.len() as u64,
                ),
                ("Narwal_base_read_errors", db.store.base.file.errors()),
                ("Narwal_scrub_rounds", scrub.rounds()),
                ("Narwal_scrub_bytes", scrub.bytes()),
                ("Narwal_scrub_errors", scrub.errors()),
                ("Narwal_scrub_progress", scrub.progress(&db.store.base.file)),
                (
                    "Narwal_checkpoint_cuts",
                    db.counters.checkpoint_cuts.load(r),
                ),
                ("Narwal_checkpoint_lsn", db.binlog.checkpoint_lsn.load(r)),
                ("Narwal_oob_commits", db.counters.oob_commits.load(r)),
                ("Narwal_oob_chunks", db.counters.oob_chunks.load(r)),
                ("Narwal_oob_bytes", db.counters.oob_bytes.load(r)),
                ("Narwal_spills", db.counters.spills.load(r)),
                ("Narwal_spill_bytes", db.counters.spill_bytes.load(r)),
                (
                    "Narwal_recovery_records",
                    db.counters.recovery_records.load(r),
                ),
                ("Narwal_recovery_bytes", db.counters.recovery_bytes.load(r)),
                ("Narwal_binlog_lookups", db.binlog.lookups()),
                ("Narwal_binlog_lookup_records", db.binlog.lookup_records()),
                ("Narwal_write_stalls", db.pressure.waits.load(r)),
                ("Narwal_snapshots", db.store.registry.live() as u64),
                ("Innodb_row_lock_waits", db.locks.waits.count()),
                ("Innodb_row_lock_current_waits", db.locks.waits.lasting()),
                ("Innodb_row_lock_time", db.locks.waits.millis().0),
                ("Innodb_row_lock_time_max", db.locks.waits.millis().1),
                ("Innodb_deadlocks", db.locks.deadlocks.load(r)),
                ("Narwal_row_lock_timeouts", db.locks.timeouts.load(r)),
                ("Narwal_row_locks", db.locks.len() as u64),
            ],
        }
    }

    /// Approximate number of rows of a table.
    pub fn table_rows(&self, table: &crate::catalog::table::Table) -> u64 {
        u64::try_from(table.counters.rows.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Current AUTO_INCREMENT counter (next value). 1 where each group of rows counts for itself.
    pub fn auto_increment(&self, table: &crate::catalog::table::Table) -> u64 {
        if table.numbered_in.is_some() {
            return 1;
        }
        table.counters.auto_increment.load(Ordering::Relaxed)
    }

    /// Runs a checkpoint now.
    pub fn checkpoint(&self) -> Result<()> {
        self.engine.checkpoints.run(&self.parts)
    }

    /// Lets go of everything without a checkpoint: for a database on a disk that is not kept.
    pub(crate) fn abandon(&self) {
        self.engine.closed.store(true, Ordering::SeqCst);
    }

    /// Stops background work, checkpoints and closes. Further commits on clones fail.
    pub fn close(&self) -> Result<()> {
        self.engine.close()
    }
}
