//! The database: opening, beginning transactions, DDL, settings, statistics.

use crate::binlog::oob_holds::OobRegistry;
use crate::binlog::order::Order;
use crate::binlog::part::Binlog;
use crate::binlog::replay::Replay;
use crate::binlog::{retention, store};
use crate::catalog::change::Ddl;
use crate::catalog::names::Catalog;
use crate::checkpoint::meta::{from_hex, read_meta};
use crate::checkpoint::scrub::Scrub;
use crate::classic::files as classic;
use crate::classic::flat::FlatBinlog;
use crate::classic::recover::Reconcile;
use crate::classic::tail::Tail;
use crate::commit::reserved::{CommitInfo, Reserved};
use crate::counters::Counters;
use crate::db::open::{OpenFailure, remove_dead_runs};
use crate::ddl::fill::{FillRows, TableFill};
use crate::locks::table::LockTable;
use crate::locks::types::LockWaiting;
use crate::options::{Options, durability, spill_bytes, virtual_config};
use crate::parts::{Inner, Wake};
use crate::pressure::pace::Pace;
use crate::record::replica::ReplicaState;
use crate::record::xa::PreparedList;
use crate::recovery::{Recovery, RecoverySpill};
use crate::store::apart::Apart;
use crate::store::backend::Backend;
use crate::store::base::{BaseGen, base_err, io_err};
use crate::store::file::BaseFile;
use crate::store::room::Room;
use crate::store::run::cache::RunCache;
use crate::store::snapshots::SnapshotRegistry;
use crate::txn::options::{KillFlag, TxnOptions};
use crate::txn::transaction::Transaction;
use crate::{EngineError, Result, RowMetadata};
use arc_swap::ArcSwap;
use narwal_binlog::VirtualFiles;
use narwal_log::{Gate, GateStats, Held, Log, LogOptions, OnDone, OpenError};
use parking_lot::{Condvar, Mutex};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

/// Counters since start, for SHOW STATUS.
#[derive(Debug, Clone, Default)]
pub struct Stats {
    /// Name (as `Narwal_...` or MariaDB's name) and value.
    pub values: Vec<(&'static str, u64)>,
}

/// Closes the database when the last handle goes; transactions that still run can't commit any more.
struct Handle(Arc<Inner>);

impl Drop for Handle {
    fn drop(&mut self) {
        if let Err(e) = self.0.close() {
            tracing::error!("closing the database: {e}");
        }
    }
}

/// An open database. Cheap to clone; the last clone to go closes it cleanly.
#[derive(Clone)]
pub struct Database {
    pub(crate) inner: Arc<Inner>,
    _handle: Arc<Handle>,
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
        let mut cut = None;
        loop {
            match Self::open_cut(path.as_ref(), options.clone(), cut) {
                Ok(db) => return Ok(db),
                Err(OpenFailure::RolledBack) => {}
                Err(OpenFailure::LostAt(lsn, why)) if cut != Some(lsn) => {
                    tracing::warn!("{why}; the log is cut there");
                    cut = Some(lsn);
                }
                Err(OpenFailure::LostAt(_, e) | OpenFailure::Engine(e)) => return Err(e),
            }
        }
    }

    /// Opens; `cut`: where the log ends, because a commit there has lost its chunks and that is accepted.
    fn open_cut(
        path: &Path,
        options: Options,
        cut: Option<u64>,
    ) -> std::result::Result<Database, OpenFailure> {
        let dir = path.to_owned();
        let disk = options.disk.clone();
        let io = |what: &str, e: std::io::Error| {
            if narwal_log::is_no_space(&e) {
                EngineError::DiskFull(format!("{what} {}: {e}", dir.display()))
            } else {
                EngineError::Io(format!("{what} {}: {e}", dir.display()))
            }
        };
        disk.create_dir_all(&dir).map_err(|e| io("making", e))?;
        let lock_file = disk.lock(&dir.join("narwal.lock")).map_err(|e| {
            EngineError::Io(format!(
                "{} is in use by another process, or can't be locked ({e}); stop that server first or choose another folder",
                dir.display()
            ))
        })?;
        crate::backup::restore::refuse_unfinished(&*disk, &dir)?;
        let base_path = dir.join("base.redb");
        let log_dir = dir.join("log");
        let exists = disk.exists(&base_path).map_err(|e| io("looking into", e))?;
        let config = virtual_config(&options);
        classic::check_folder(&*disk, &dir, &config, options.classic_log, exists)?;
        if options.classic_log {
            if options.compression.is_some() {
                return Err(classic::not_offered("narwal_log_compression").into());
            }
            let index = classic::index_path(&dir, &config);
            if !disk.exists(&index).map_err(|e| io("looking into", e))? {
                FlatBinlog::create(&disk, &dir, &VirtualFiles::new(config.clone()))?;
            }
        }
        // A new base gets its name when it is whole: redb makes it in several steps.
        let new_path = dir.join("base.redb.new");
        let file = if exists {
            disk.open(&base_path)
        } else {
            match disk.remove(&new_path) {
                Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
                _ => disk.create(&new_path),
            }
        }
        .map_err(|e| io("opening the base in", e))?;
        let base_room = Arc::new(Room::default());
        let base_file = BaseFile::open(
            file,
            &base_path,
            base_room.clone(),
            // A 64th of the memory for the checksums of 16 times as much data.
            (options.memory_budget / 64).max(1 << 20),
        )
        .map_err(io_err)?;
        let base_file = Arc::new(base_file);
        let redb = redb::Builder::new()
            .set_cache_size(usize::try_from(options.base_cache_bytes()).unwrap_or(usize::MAX))
            .create_with_backend(Backend::new(base_file.clone(), base_room.clone()))
            .map_err(base_err)?;
        if !exists {
            disk.rename(&new_path, &base_path)
                .and_then(|()| disk.sync_dir(&dir))
                .map_err(|e| io("making the base in", e))?;
        }
        let meta = read_meta(&redb)?;
        let mut apart = Apart::default();
        let scrub = Scrub::new(options.scrub_rate);
        let (from, catalog, binlog, replica, prepared) = match meta {
            Some(m) => {
                apart = m.apart;
                scrub.begin_at(m.scrubbed);
                let binlog = from_hex(&m.binlog)
                    .ok_or_else(|| EngineError::Corrupt("binlog state in the base".into()))
                    .and_then(|b| {
                        VirtualFiles::from_bytes(config, &b)
                            .map_err(|e| EngineError::Corrupt(e.to_string()))
                    })?;
                (
                    Some((m.lsn, m.seq)),
                    Catalog::from_stored(m.catalog)?,
                    binlog,
                    ReplicaState::from_stored(&m.replica, m.seq)?,
                    crate::record::xa::from_stored(&m.prepared)?,
                )
            }
            None => (
                None,
                Catalog::new(),
                VirtualFiles::new(config),
                ReplicaState::default(),
                PreparedList::default(),
            ),
        };
        let base_files = binlog.clone();
        let tail = (options.classic_log)
            .then(|| Tail::read(&disk, &dir, &base_files))
            .transpose()?;
        let spill_dir = dir.join("spill");
        disk.create_dir_all(&spill_dir)
            .map_err(|e| io("making", e))?;
        let run_cache =
            RunCache::new((options.store_budget() / 16).clamp(1 << 20, 64 << 20) as usize);
        let layers = apart.open(&catalog, &disk, &spill_dir, &run_cache);
        let unreadable = apart.unreadable(&catalog, &spill_dir);
        let base = BaseGen::open(&redb, from.map_or(0, |f| f.1), &catalog, unreadable)?;
        for t in catalog.by_id.values() {
            // A damaged table's number is the stored one.
            if let Ok(rows) = base.len(t.indexes[0].id)
                && !t.counters.apart.load(Ordering::Relaxed)
            {
                let rows = i64::try_from(rows).unwrap_or(i64::MAX);
                t.counters.rows.store(rows, Ordering::Relaxed);
            }
        }
        let started = Instant::now();
        let (lsn, seq) = from.unwrap_or((narwal_log::FIRST_LSN, 0));
        let binlog = match store::load(&redb)? {
            None if from.is_some() => Replay::rebuild(binlog, lsn, seq, disk.clone(), &log_dir),
            stored => Replay::new(binlog, lsn, seq, stored),
        };
        let oob_registry = Arc::new(OobRegistry::default());
        let spill = RecoverySpill {
            disk: disk.clone(),
            dir: spill_dir.clone(),
            log_dir: log_dir.clone(),
            cache: run_cache.clone(),
            registry: oob_registry.clone(),
            limit: spill_bytes(&options),
        };
        let mut recovery = Recovery::new(base, catalog, binlog, replica, prepared, spill, layers);
        recovery.reconcile = tail.map(Reconcile::new);
        let mut log_options = LogOptions::new(log_dir.clone());
        log_options.disk = disk.clone();
        log_options.segment_size = options.segment_size;
        log_options.durability = durability(options.flush_log_at_trx_commit);
        log_options.commit_wait_count = options.commit_wait_count;
        log_options.commit_wait_usec = options.commit_wait_usec;
        log_options.commit_wait_auto = options.commit_wait_auto;
        log_options.parallel_syncs = options.parallel_syncs;
        log_options.background = options.background;
        // Who wants small chunks does not want many of them in memory.
        log_options.chunk_queue = log_options.chunk_queue.min(options.oob_threshold.max(1));
        log_options.accept_lost_tail = options.accept_log_loss;
        log_options.cut_at = cut;
        let opened = Log::<Order>::open(log_options, from, |r| recovery.apply(r)).map_err(|e| {
            let refused = |e: String| {
                EngineError::Corrupt(format!(
                    "{e}. How to go on: docs/log-format.md, \"When a start is refused\""
                ))
            };
            if let (OpenError::Replay(_), Some(end)) =
                (&e, recovery.reconcile.as_ref().and_then(|r| r.roll_back))
            {
                return match end.cut(&*disk, &log_dir) {
                    Ok(()) => OpenFailure::RolledBack,
                    Err(e) => e.into(),
                };
            }
            match (e, recovery.lost) {
                (OpenError::Replay(e), Some(lsn)) if options.accept_log_loss => {
                    OpenFailure::LostAt(lsn, e)
                }
                (OpenError::Replay(EngineError::Corrupt(e)), Some(_)) => refused(e).into(),
                (OpenError::Replay(e), _) => e.into(),
                (OpenError::Log(e), _) if e.is_loss() => refused(e.to_string()).into(),
                (OpenError::Log(e), _) => EngineError::from(e).into(),
            }
        })?;
        if let Some(lost) = &opened.report.lost {
            tracing::warn!(
                end = format!(
                    "{}, byte {} (LSN {})",
                    lost.file.display(),
                    lost.offset,
                    lost.lsn
                ),
                reason = %lost.why,
                transactions = format!("{} or more", lost.commits),
                kept = ?lost.kept,
                "a part of the log was lost and given up"
            );
        }
        if recovery.commits > 0 {
            tracing::info!(
                "recovered {} transactions from the log in {} ms",
                recovery.commits,
                started.elapsed().as_millis()
            );
        }
        let counters = Counters::default();
        let (records, bytes) = (opened.report.records, opened.report.bytes);
        counters.recovery_records.store(records, Ordering::Relaxed);
        counters.recovery_bytes.store(bytes, Ordering::Relaxed);
        let oob_committed = recovery.take_holds();
        let Recovery {
            state,
            catalog,
            binlog,
            replica,
            prepared,
            reconcile,
            ..
        } = recovery;
        remove_dead_runs(&disk, &spill_dir, &state);
        let locks = LockTable::new();
        locks.set_spill_dir(disk.clone(), spill_dir.clone());
        if options.background {
            locks.free_aside();
        }
        let Replay {
            files,
            mut track,
            mut index,
        } = binlog;
        track.drain(&mut index);
        track.set_interval(options.binlog_state_interval);
        // Both logs' GTIDs, and the number of the next file.
        let mut rotate = None;
        let flat = match reconcile {
            Some(second) => {
                let gtids = second.finish(&*disk, &dir, &files, base_files.gtids())?;
                let tail = &second.tail;
                if from.is_some() || tail.number > files.file_no() {
                    rotate = Some((tail.number.max(files.file_no()) + 1, gtids));
                }
                let (every, files) = (options.sync_binlog, files.clone());
                let flat = FlatBinlog::open(disk.clone(), &dir, files, tail, every)?;
                Some(Arc::new(flat))
            }
            None => None,
        };
        let order = Order {
            binlog: files,
            track,
            active: state.active.clone(),
            replica,
            prepared: prepared.clone(),
        };
        let log = opened.start(order).map_err(EngineError::from)?;
        if let Some(flat) = &flat {
            flat.set_log(log.records());
            log.set_second(flat.clone());
        }
        let catalog = Arc::new(catalog);
        let background = options.background;
        let inner = Arc::new(Inner {
            dir,
            disk,
            log,
            flat,
            redb,
            base_room,
            base_file,
            apart: Mutex::new(apart),
            scrub,
            pace: Pace::default(),
            state: ArcSwap::new(state),
            registry: SnapshotRegistry::new(),
            locks,
            catalog: ArcSwap::new(catalog.clone()),
            latest_catalog: Mutex::new(catalog),
            ddl_serial: Mutex::new(()),
            next_txn: AtomicU64::new(1),
            checkpoint_lsn: AtomicU64::new(from.map_or(0, |f| f.0)),
            row_metadata: AtomicU8::new(options.binlog_row_metadata as u8),
            binlog: Binlog::new(index),
            checkpointed: Mutex::new(Instant::now()),
            counters,
            max_binlog_cache_size: AtomicU64::new(options.max_binlog_cache_size),
            oob_threshold: AtomicU64::new(options.oob_threshold),
            spill_dir,
            run_cache,
            oob: oob_registry,
            oob_committed: Mutex::new(oob_committed),
            xa: Mutex::default(),
            checkpoint: Mutex::new(None),
            checkpoint_error: Mutex::new(None),
            wake: Mutex::new(Wake::default()),
            wake_signal: Condvar::new(),
            room_signal: Condvar::new(),
            notified: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            worker: Mutex::new(None),
            lock_file: Mutex::new(Some(lock_file)),
            options,
        });
        let weak = Arc::downgrade(&inner);
        inner
            .registry
            .set_source(move || weak.upgrade().map_or(0, |db| db.log.visible_seq()));
        crate::xa::resume::resume(&inner, &prepared)?;
        if from.is_none() {
            // The first checkpoint fixes where replay starts: a log that lost its head is noticed.
            inner.run_checkpoint()?;
        }
        match rotate {
            // A file of its own for each run of the server, as in MariaDB: what a crash did to the last one is over.
            Some((number, gtids)) => {
                crate::binlog::admin::begin_file_behind(&inner, number, &gtids)?
            }
            None if inner.flat.is_some() => {}
            None => retention::drop_missing(&inner)?,
        }
        if inner.options.hold_log {
            inner.binlog.hold_from_start();
        }
        if background {
            // Not before: a start on a full disk is refused, it does not hang.
            inner.base_room.set_waits(true);
            let weak = Arc::downgrade(&inner);
            let worker = std::thread::Builder::new()
                .name("narwal-ckpt".into())
                .spawn(move || Inner::worker(weak))
                .map_err(|e| EngineError::Io(format!("starting the checkpoint thread: {e}")))?;
            *inner.worker.lock() = Some(worker);
            retention::start(&inner)
                .map_err(|e| EngineError::Io(format!("starting the purging thread: {e}")))?;
            crate::checkpoint::scrub::start(&inner)
                .map_err(|e| EngineError::Io(format!("starting the scrub's thread: {e}")))?;
        }
        Ok(Database {
            _handle: Arc::new(Handle(inner.clone())),
            inner,
        })
    }

    /// Begins a transaction. Cheap: nothing is taken before the first read or write.
    pub fn begin(&self, options: TxnOptions) -> Transaction {
        Transaction::new(self.inner.clone(), options)
    }

    /// The transactions that wait for a lock now.
    pub fn lock_waits(&self) -> Vec<LockWaiting> {
        self.inner.locks.waiting()
    }

    /// The current catalog.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.inner.catalog.load_full()
    }

    /// The current catalog's version, without counting a reference.
    pub fn catalog_version(&self) -> u64 {
        self.inner.catalog.load().version
    }

    /// Runs a DDL statement: waits for writers of the tables that it changes, logs, applies, publishes. Crash-atomic.
    /// The connection's own transaction must have been committed before.
    pub fn ddl(&self, ddl: Ddl, options: &TxnOptions) -> Result<CommitInfo> {
        crate::ddl::run::run(&self.inner, ddl, options, None)
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
        crate::ddl::run::run(&self.inner, ddl, options, Some((rows, fill)))
    }

    /// What has a place in the log of what other servers committed, and how far that goes in their logs. It may not be
    /// durable yet: whoever tells it to a client waits for [`ReplicaState::seq`] ([`Database::wait_visible`]).
    pub fn replica_state(&self) -> ReplicaState {
        self.inner.log.with_order_state(|o, _| o.replica.clone())
    }

    /// Waits until a commit made by [`Transaction::commit_reserved`], and with it everything before it, is durable as
    /// configured, visible and, if the gate says so, acknowledged.
    ///
    /// # Errors
    /// [`EngineError::LogFailed`].
    pub fn wait_committed(&self, reserved: &Reserved) -> Result<()> {
        match &reserved.ticket {
            Some(ticket) => Ok(self.inner.log.wait(ticket)?),
            None => Ok(()),
        }
    }

    /// As [`Database::wait_committed`], for a client that may be killed: KILL CONNECTION ends its wait for a replica, KILL
    /// QUERY does so once the commit is visible.
    ///
    /// # Errors
    /// As [`Database::wait_committed`], or [`EngineError::KilledInCommit`].
    pub fn wait_committed_or_killed(&self, reserved: &Reserved, kill: &KillFlag) -> Result<()> {
        match &reserved.ticket {
            Some(ticket) => kill.wait_committed(&self.inner, ticket),
            None => Ok(()),
        }
    }

    /// Whether somebody is writing to the log, so that [`Database::leave_committed`] may leave a commit to that thread.
    pub fn is_log_led(&self) -> bool {
        self.inner.log.is_leading()
    }

    /// Instead of [`Database::wait_committed`]: leaves the wait to the thread that writes the commit's group, which then
    /// calls `then`. False if that is not possible now: the caller waits.
    pub fn leave_committed(&self, reserved: &Reserved, then: &Arc<dyn OnDone>) -> bool {
        let log = &self.inner.log;
        (reserved.ticket.as_ref()).is_some_and(|ticket| log.leave(ticket, then))
    }

    /// Waits until everything up to sequence number `seq` is visible.
    ///
    /// # Errors
    /// [`EngineError::LogFailed`].
    pub fn wait_visible(&self, seq: u64) -> Result<()> {
        Ok(self.inner.log.wait_visible(seq)?)
    }

    /// Begins virtual binary log file `number`, as the source of a replica did, so that the same group stands at the same
    /// place in both. Does nothing if this or a later file has begun already.
    ///
    /// # Errors
    /// Those of writing to the log.
    pub fn follow_file(&self, number: u32) -> Result<()> {
        crate::binlog::admin::follow_file(&self.inner, number)
    }

    /// As [`Database::ddl`], for a statement that changes no table (none, or the replica state only), and without the wait
    /// until it is durable: see [`Transaction::commit_reserved`]. `placed` is called when it has its place.
    ///
    /// # Errors
    /// [`EngineError::Catalog`] if it would change the catalog; those of logging.
    pub fn ddl_reserved(
        &self,
        ddl: &Ddl,
        options: &TxnOptions,
        placed: impl FnOnce(),
    ) -> Result<Reserved> {
        let reserved = crate::ddl::run::run_reserved(&self.inner, ddl, options, placed)?;
        reserved.pass_on(&self.inner);
        Ok(reserved)
    }

    /// The last commit that has its place in the log, visible or not.
    pub fn reserved_seq(&self) -> u64 {
        self.inner.log.with_order_state(|_, at| at.seq)
    }

    /// Changes `innodb_flush_log_at_trx_commit` (0, 1, 2).
    pub fn set_flush_log_at_trx_commit(&self, mode: u8) {
        if let Err(e) = self.inner.log.set_durability(durability(mode)) {
            tracing::error!("changing innodb_flush_log_at_trx_commit: {e}");
        }
    }

    /// Changes `max_binlog_cache_size` (bytes).
    pub fn set_max_binlog_cache_size(&self, bytes: u64) {
        self.inner
            .max_binlog_cache_size
            .store(bytes, Ordering::Relaxed);
    }

    /// Changes `binlog_oob_threshold` (bytes).
    pub fn set_oob_threshold(&self, bytes: u64) {
        self.inner.oob_threshold.store(bytes, Ordering::Relaxed);
    }

    /// Changes the group commit waits.
    pub fn set_commit_wait(&self, count: u32, usec: u32) {
        self.inner.log.set_commit_wait(count, usec);
    }

    /// Changes `narwal_group_commit_auto_wait`.
    pub fn set_commit_wait_auto(&self, on: bool) {
        self.inner.log.set_commit_wait_auto(on);
    }

    /// Changes `binlog_row_metadata` for transactions that begin from here on.
    pub fn set_binlog_row_metadata(&self, level: RowMetadata) {
        self.inner
            .row_metadata
            .store(level as u8, Ordering::Relaxed);
    }

    /// What commits wait for beyond their durability, from now on; see [`narwal_log::Log::set_gate`].
    pub fn set_gate(&self, gate: Gate) {
        self.inner.log.set_gate(gate);
    }

    /// What commits wait for beyond their durability.
    pub fn gate(&self) -> Gate {
        self.inner.log.gate()
    }

    /// Replicas have every commit up to sequence number `seq`: lets them pass the gate.
    pub fn acknowledge(&self, seq: u64) {
        self.inner.log.acknowledge(seq);
    }

    /// What the gate holds now.
    pub fn held(&self) -> Held {
        self.inner.log.held()
    }

    /// What the gate has done.
    pub fn gate_stats(&self) -> GateStats {
        self.inner.log.gate_stats()
    }

    /// Commits in the binary log since the start (`Binlog_commits`).
    pub fn binlog_commits(&self) -> u64 {
        self.inner.log.stats().binlog_commits
    }

    /// The last commit that readers may see.
    pub fn visible_seq(&self) -> u64 {
        self.inner.log.visible_seq()
    }

    /// `sync_binlog`; without effect but with [`Options::classic_log`].
    pub fn set_sync_binlog(&self, groups: u32) {
        if let Some(flat) = &self.inner.flat {
            flat.set_sync_every(groups);
        }
    }

    /// Whether there are two logs ([`Options::classic_log`]). Then there is nothing for replicas, archives and backups to
    /// read, and no gate ([`Database::set_gate`]).
    pub fn is_classic(&self) -> bool {
        self.inner.flat.is_some()
    }

    /// Refuses what only one log can do.
    ///
    /// # Errors
    /// 1235 if there are two.
    pub fn one_log(&self, what: &str) -> Result<()> {
        self.inner.one_log(what)
    }

    /// Makes everything committed so far durable, in any mode (FLUSH LOGS).
    pub fn sync(&self) -> Result<()> {
        self.inner.log.sync_all()?;
        match &self.inner.flat {
            Some(flat) => flat.sync(),
            None => Ok(()),
        }
    }

    /// Why the log has stopped for good, if it has.
    pub fn failed(&self) -> Option<String> {
        self.inner.log.failed()
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.inner.dir
    }

    /// The settings it was opened with.
    pub fn options(&self) -> &Options {
        &self.inner.options
    }

    /// Counters.
    pub fn stats(&self) -> Stats {
        let db = &self.inner;
        let log = db.log.stats();
        let r = Ordering::Relaxed;
        let state = db.state.load();
        let flat = db.flat_stats();
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
                ("Narwal_durable_lsn", db.log.durable_lsn()),
                ("Narwal_visible_seq", db.log.visible_seq()),
                ("Narwal_memtable_bytes", state.memtable_bytes()),
                ("Narwal_layers", state.older.len() as u64),
                ("Narwal_checkpoints", db.counters.checkpoints.load(r)),
                (
                    "Narwal_checkpoint_errors",
                    db.counters.checkpoint_errors.load(r),
                ),
                ("Narwal_damaged_tables", db.apart.lock().tables.len() as u64),
                ("Narwal_base_read_errors", db.base_file.errors()),
                ("Narwal_scrub_rounds", db.scrub.rounds()),
                ("Narwal_scrub_bytes", db.scrub.bytes()),
                ("Narwal_scrub_errors", db.scrub.errors()),
                ("Narwal_scrub_progress", db.scrub.progress(db)),
                (
                    "Narwal_checkpoint_cuts",
                    db.counters.checkpoint_cuts.load(r),
                ),
                ("Narwal_checkpoint_lsn", db.checkpoint_lsn.load(r)),
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
                ("Narwal_write_stalls", db.counters.admit_waits.load(r)),
                ("Narwal_snapshots", db.registry.live() as u64),
                ("Innodb_row_lock_waits", db.locks.waits.load(r)),
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

    /// Current AUTO_INCREMENT counter (next value).
    pub fn auto_increment(&self, table: &crate::catalog::table::Table) -> u64 {
        table.counters.auto_increment.load(Ordering::Relaxed)
    }

    /// Runs a checkpoint now.
    pub fn checkpoint(&self) -> Result<()> {
        self.inner.run_checkpoint()
    }

    /// Lets go of everything without a checkpoint: for a database on a disk that is not kept.
    pub(crate) fn abandon(&self) {
        self.inner.closed.store(true, Ordering::SeqCst);
    }

    /// Stops background work, checkpoints and closes. Further commits on clones fail.
    pub fn close(&self) -> Result<()> {
        self.inner.close()
    }
}
