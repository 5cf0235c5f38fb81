//! The database: opening, beginning transactions, DDL, settings, statistics.

use crate::apart::Apart;
use crate::backend::{Backend, Room};
use crate::base::{BaseGen, META, base_err, io_err};
use crate::binlog::replay::Replay;
use crate::binlog::track::Track;
use crate::binlog::{Binlog, retention, store};
use crate::catalog::{Catalog, CatalogChange};
use crate::checkpoint::{self, CheckpointMeta, Frozen, from_hex};
use crate::classic::{self, FlatBinlog, Reconcile, Tail};
use crate::commit::Place;
use crate::fill::{FillRows, TableFill};
use crate::locks::{LockTable, LockWaiting};
use crate::memtable::Memtable;
use crate::oob::{OobHold, OobRegistry};
use crate::pace::Pace;
use crate::recovery::{Recovery, RecoverySpill};
use crate::replica::ReplicaState;
use crate::run::RunCache;
use crate::scrub::Scrub;
use crate::snapshot::SnapshotRegistry;
use crate::state::{Layer, Snapshot, State};
use crate::txn::{CommitInfo, KillFlag, Reserved, Transaction, TxnOptions};
use crate::verified::BaseFile;
use crate::writeset::SpillPlace;
use crate::xa::{Branches, PreparedList};
use crate::{BinlogFilter, EngineError, Result, RowMetadata};
use arc_swap::ArcSwap;
use narwal_binlog::{VirtualConfig, VirtualFiles};
use narwal_log::{
    Disk, Durability, Gate, GateStats, Held, Log, LogOptions, OnDone, OpenError, RealDisk,
};
use parking_lot::{Condvar, Mutex};
use redb::ReadableDatabase;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// Default of `binlog_oob_threshold`: 1 MiB.
pub const DEFAULT_OOB_THRESHOLD: u64 = 1 << 20;

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
    /// Bytes of log between two State records (`binlog_state_interval`), at least 4 KiB.
    pub binlog_state_interval: u64,
    /// Log segment size.
    pub segment_size: u64,
    /// Largest transaction, bytes of events.
    pub max_binlog_cache_size: u64,
    /// `binlog_commit_wait_count`.
    pub commit_wait_count: u32,
    /// `binlog_commit_wait_usec`.
    pub commit_wait_usec: u32,
    /// `narwal_group_commit_auto_wait`; see [`narwal_log::LogOptions::commit_wait_auto`].
    pub commit_wait_auto: bool,
    /// `narwal_log_parallel_syncs`; see [`narwal_log::LogOptions::parallel_syncs`].
    pub parallel_syncs: u32,
    /// A checkpoint starts when the log has grown by this much since the last one began. 0: derived from the budget.
    pub checkpoint_log_bytes: u64,
    /// A running transaction sends finished events to the log when they pass this many bytes (`binlog_oob_threshold`).
    pub oob_threshold: u64,
    /// A transaction's write set goes to disk when it passes this many bytes of memory. 0: derived from the budget.
    pub spill_bytes: u64,
    /// How fast the base is read in the background to find damage, bytes a second; 0: not (`narwal_scrub_rate`).
    pub scrub_rate: u64,
    /// Whether background threads flush and checkpoint. Off for deterministic tests.
    pub background: bool,
    /// What goes into the binary log (`binlog_do_db` and the like).
    pub binlog_filter: BinlogFilter,
    /// `binlog_row_metadata`.
    pub binlog_row_metadata: RowMetadata,
    /// `binlog_row_event_max_size`: a rows event is closed before a row that would take it past so many bytes.
    pub binlog_row_event_max_size: u32,
    /// Beside the log stands a binary log of flat files, and a commit is a prepare in the one and a commit in the other
    /// (`binlog_storage_engine=FILE`): for comparison. A folder stays what it was made as.
    pub classic_log: bool,
    /// With [`classic_log`](Self::classic_log): the binary log file is synced after so many groups of commits; 0: by the
    /// operating system (`sync_binlog`).
    pub sync_binlog: u32,
    /// How commit records are compressed, if they are.
    pub compression: Option<crate::Compression>,
    /// Where a start would be refused because a part of the log is damaged or missing: give up everything from there on
    /// and start (see [`narwal_log::LogOptions::accept_lost_tail`]).
    pub accept_log_loss: bool,
    /// Keeps the whole log from the start on, until [`Database::take_log_hold`] hands the hold over: for a reader whose place
    /// is not known yet.
    pub hold_log: bool,
    /// The disk.
    pub disk: Arc<dyn Disk>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            flush_log_at_trx_commit: 1,
            memory_budget: 128 << 20,
            server_id: 1,
            gtid_domain_id: 0,
            max_binlog_size: 1 << 30,
            binlog_state_interval: 2 << 20,
            segment_size: 32 << 20,
            max_binlog_cache_size: u64::MAX,
            commit_wait_count: 0,
            commit_wait_usec: 0,
            commit_wait_auto: true,
            parallel_syncs: 8,
            checkpoint_log_bytes: 0,
            oob_threshold: DEFAULT_OOB_THRESHOLD,
            spill_bytes: 0,
            scrub_rate: crate::DEFAULT_SCRUB_RATE,
            background: true,
            binlog_filter: BinlogFilter::default(),
            binlog_row_metadata: RowMetadata::default(),
            binlog_row_event_max_size: narwal_binlog::DEFAULT_ROW_EVENT_MAX_SIZE,
            classic_log: false,
            sync_binlog: 1,
            compression: None,
            accept_log_loss: false,
            hold_log: false,
            disk: Arc::new(RealDisk),
        }
    }
}

impl Options {
    /// The base's share of the memory budget, bytes.
    pub(crate) fn base_cache_bytes(&self) -> u64 {
        self.store_budget() * 7 / 20
    }

    /// The part of the memory budget that the store shares out; the rest is for the code, for connections, and for what an
    /// allocator loses between its pieces.
    pub(crate) fn store_budget(&self) -> u64 {
        self.memory_budget - (self.memory_budget / 16 * 7).min(56 << 20)
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

/// What a large transaction waits at most between two chunks before the memtables are full.
const MAX_SLOWDOWN: Duration = Duration::from_millis(40);

/// State that advances in log order, guarded by the log's order mutex.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) binlog: VirtualFiles,
    pub(crate) track: Track,
    pub(crate) active: Arc<Memtable>,
    pub(crate) replica: ReplicaState,
    /// XA transactions that are prepared and not ended.
    pub(crate) prepared: PreparedList,
}

impl std::fmt::Debug for Memtable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Memtable({} bytes)", self.bytes())
    }
}

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) group_bytes: AtomicU64,
    /// Transactions that had events, committed or not.
    pub(crate) cache_use: AtomicU64,
    pub(crate) checkpoints: AtomicU64,
    pub(crate) checkpoint_errors: AtomicU64,
    pub(crate) checkpoint_cuts: AtomicU64,
    pub(crate) admit_waits: AtomicU64,
    pub(crate) oob_chunks: AtomicU64,
    pub(crate) oob_bytes: AtomicU64,
    pub(crate) oob_commits: AtomicU64,
    pub(crate) spills: AtomicU64,
    pub(crate) spill_bytes: AtomicU64,
    pub(crate) recovery_records: AtomicU64,
    pub(crate) recovery_bytes: AtomicU64,
}

/// Why the checkpoint thread should wake, and whether it should go.
#[derive(Default)]
struct Wake {
    run: bool,
    stop: bool,
}

/// Everything of an open database.
pub(crate) struct Inner {
    pub(crate) dir: PathBuf,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) options: Options,
    pub(crate) log: Log<Order>,
    /// The second log, if there are two.
    pub(crate) flat: Option<Arc<FlatBinlog>>,
    pub(crate) redb: redb::Database,
    /// Whether the base's writer waits for room on the disk.
    pub(crate) base_room: Arc<Room>,
    /// The base's file beneath redb.
    pub(crate) base_file: Arc<BaseFile>,
    /// Damaged tables.
    pub(crate) apart: Mutex<Apart>,
    pub(crate) scrub: Scrub,
    pub(crate) pace: Pace,
    pub(crate) state: ArcSwap<State>,
    pub(crate) registry: SnapshotRegistry,
    pub(crate) locks: LockTable,
    /// What sessions see: every DDL in it is durable.
    pub(crate) catalog: ArcSwap<Catalog>,
    /// With the DDL that has a place in the log and may not be durable yet.
    pub(crate) latest_catalog: Mutex<Arc<Catalog>>,
    pub(crate) ddl_serial: Mutex<()>,
    pub(crate) next_txn: AtomicU64,
    pub(crate) checkpoint_lsn: AtomicU64,
    /// `binlog_row_metadata` as its number.
    pub(crate) row_metadata: AtomicU8,
    pub(crate) counters: Counters,
    /// `max_binlog_cache_size`, bytes.
    pub(crate) max_binlog_cache_size: AtomicU64,
    /// `binlog_oob_threshold`, bytes.
    pub(crate) oob_threshold: AtomicU64,
    /// Where run files are.
    pub(crate) spill_dir: PathBuf,
    pub(crate) run_cache: Arc<RunCache>,
    /// Chunks that running transactions, and recovery, may still need.
    pub(crate) oob: Arc<OobRegistry>,
    /// Out-of-band commits that no checkpoint covers yet.
    pub(crate) oob_committed: Mutex<Vec<(u64, OobHold)>>,
    /// XA transactions by name.
    pub(crate) xa: Mutex<Branches>,
    pub(crate) binlog: Binlog,
    /// When the last checkpoint ended, or the database was opened.
    checkpointed: Mutex<Instant>,
    pub(crate) checkpoint: Mutex<Option<Frozen>>,
    /// Why the last checkpoint failed, for writers that wait for room.
    checkpoint_error: Mutex<Option<EngineError>>,
    wake: Mutex<Wake>,
    wake_signal: Condvar,
    room_signal: Condvar,
    notified: AtomicBool,
    closed: AtomicBool,
    worker: Mutex<Option<std::thread::JoinHandle<()>>>,
    lock_file: Mutex<Option<Box<dyn Send + Sync>>>,
}

impl Inner {
    /// Refuses what only one log can do.
    pub(crate) fn one_log(&self, what: &str) -> Result<()> {
        match self.flat {
            Some(_) => Err(classic::not_offered(what)),
            None => Ok(()),
        }
    }

    /// Counters of the flat binary log; zero if there is none.
    pub(crate) fn flat_stats(&self) -> classic::FlatStats {
        self.flat.as_ref().map(|f| f.stats()).unwrap_or_default()
    }

    pub(crate) fn virtual_config(&self) -> VirtualConfig {
        virtual_config(&self.options)
    }

    /// Bytes of log from LSN `start` on, about.
    pub(crate) fn log_bytes_from(&self, start: u64) -> u64 {
        let end = self.log.with_order_state(|_, at| at.lsn);
        end.saturating_sub(start)
    }

    /// Whether the folder is still this process's.
    pub(crate) fn is_open(&self) -> bool {
        self.lock_file.lock().is_some()
    }

    /// A consistent pair of sequence number and components.
    ///
    /// A freeze swaps the state under the log's order mutex before any later commit can reserve; so if the state is
    /// the same before and after the visible number is read, every commit up to that number is in it. The base in it
    /// is not newer: it was swapped in after its sequence number had been published.
    pub(crate) fn take_snapshot(&self) -> Snapshot {
        loop {
            let state = self.state.load_full();
            let seq = self.log.visible_seq();
            if Arc::ptr_eq(&state, &*self.state.load()) {
                debug_assert!(seq >= state.base.seq);
                return Snapshot { seq, state };
            }
        }
    }

    fn memtable_limit(&self) -> u64 {
        self.options.store_budget() * 3 / 10
    }

    /// Memory of one transaction's write set, beyond which it spills.
    pub(crate) fn spill_bytes(&self) -> u64 {
        spill_bytes(&self.options)
    }

    /// Where run files go; `id` names them, `interrupt` ends their merging.
    pub(crate) fn spill_place(&self, id: u64, interrupt: &Option<Arc<AtomicBool>>) -> SpillPlace {
        SpillPlace {
            disk: self.disk.clone(),
            dir: self.spill_dir.clone(),
            id,
            cache: self.run_cache.clone(),
            interrupt: interrupt.clone(),
        }
    }

    /// Row locks of one transaction that stay in memory: in step with its write set, and 64 Ki at most.
    pub(crate) fn locks_in_memory(&self) -> usize {
        (self.spill_bytes() / 64).clamp(16, 64 << 10) as usize
    }

    fn checkpoint_log_bytes(&self) -> u64 {
        match self.options.checkpoint_log_bytes {
            0 => (self.options.memory_budget / 4).clamp(16 << 20, 128 << 20),
            n => n,
        }
    }

    /// Called by each committer once its rows are in the memtable: starts a checkpoint when it is time.
    pub(crate) fn note_progress(&self, place: &Place) {
        self.note_log_growth(place.ticket.lsn());
        if place.memtable.bytes() > self.memtable_limit() / 2 {
            self.want_checkpoint();
        }
    }

    /// As [`Self::note_progress`], for records that put nothing into a memtable.
    pub(crate) fn note_log_growth(&self, lsn: u64) {
        let grown = lsn.saturating_sub(self.checkpoint_lsn.load(Ordering::Relaxed));
        if grown > self.checkpoint_log_bytes() {
            self.want_checkpoint();
        }
    }

    /// Asks for a checkpoint.
    pub(crate) fn want_checkpoint(&self) {
        if !self.notified.swap(true, Ordering::Relaxed) {
            self.wake.lock().run = true;
            self.wake_signal.notify_one();
        }
    }

    /// Back-pressure: a write waits while the memtables are over their share of the budget. Before that is reached
    /// writes are slowed down more and more, so that a long checkpoint means many short waits instead of one long one.
    ///
    /// A large transaction was slowed down while it ran ([`Self::slow_down`]): its commit waits for nothing but room.
    pub(crate) fn admit(&self, large: bool) -> Result<()> {
        let limit = self.memtable_limit();
        let bytes = self.state.load().memtable_bytes();
        if bytes <= limit / 2 || (large && bytes <= limit) {
            return Ok(());
        }
        if !self.options.background {
            return if bytes > limit {
                self.run_checkpoint()
            } else {
                Ok(())
            };
        }
        if bytes <= limit {
            self.keep_pace(limit);
            return Ok(());
        }
        self.counters.admit_waits.fetch_add(1, Ordering::Relaxed);
        let written = || self.base_room.written();
        let (mut since, mut progress) = (Instant::now(), written());
        let mut wake = self.wake.lock();
        while self.state.load().memtable_bytes() > limit {
            if let Some(m) = self.log.failed() {
                return Err(EngineError::LogFailed(m));
            }
            if let Some(m) = self.base_room.full() {
                return Err(EngineError::DiskFull(m));
            }
            if let Some(e) = &*self.checkpoint_error.lock() {
                return Err(match e {
                    EngineError::DiskFull(m) => EngineError::DiskFull(m.clone()),
                    e => EngineError::Full(e.to_string()),
                });
            }
            // A checkpoint also waits while commits wait for a replica.
            if written() != progress || self.log.held().commits > 0 {
                (since, progress) = (Instant::now(), written());
            } else if since.elapsed() > Duration::from_secs(60) {
                return Err(EngineError::Full(
                    "no room in memory, and the checkpoint has written nothing for 60 seconds"
                        .into(),
                ));
            }
            if !self.notified.swap(true, Ordering::Relaxed) {
                wake.run = true;
                self.wake_signal.notify_one();
            }
            self.room_signal
                .wait_for(&mut wake, Duration::from_millis(100));
        }
        Ok(())
    }

    /// Whether a merge may take its time.
    pub(crate) fn has_time(&self) -> bool {
        let (taken, room) = self.taken(self.memtable_limit());
        let asked = !self.options.background || self.closed.load(Ordering::Relaxed);
        !asked && self.pace.has_time(taken, room)
    }

    /// Bytes written since the checkpoint began, and how many there may be.
    fn taken(&self, limit: u64) -> (u64, u64) {
        let state = self.state.load();
        let (all, taken) = (state.memtable_bytes(), state.active.bytes());
        (taken, limit.saturating_sub(all.saturating_sub(taken)))
    }

    /// Waits until what was written since the checkpoint began is in step with its progress, or until there is no room at all.
    fn keep_pace(&self, limit: u64) {
        let wait = || {
            let (taken, room) = self.taken(limit);
            let wait = self.pace.wait(taken, room).filter(|_| taken <= room);
            wait.filter(|_| self.log.failed().is_none() && self.base_room.full().is_none())
        };
        if self.pace.stand_in_line(wait) {
            self.counters.admit_waits.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A large transaction goes slower while memory gets short, so that it does not take the room that small ones need.
    pub(crate) fn slow_down(&self) {
        let half = self.memtable_limit() / 2;
        let bytes = self.state.load().memtable_bytes();
        if self.options.background && bytes > half {
            let over = (bytes - half) as f64 / half as f64;
            std::thread::sleep(MAX_SLOWDOWN.mul_f64(over.min(1.0)));
        }
    }

    pub(crate) fn run_checkpoint(&self) -> Result<()> {
        let mut pending = self.checkpoint.lock();
        if self.lock_file.lock().is_none() {
            return Err(EngineError::LogFailed("the database is closed".into()));
        }
        // Progress from here on asks for the next one.
        self.notified.store(false, Ordering::Relaxed);
        let r = checkpoint::run(self, &mut pending);
        drop(pending);
        let mut error = self.checkpoint_error.lock();
        match &r {
            Ok(()) => {
                *self.checkpointed.lock() = Instant::now();
                if error.take().is_some() {
                    tracing::info!("checkpoints work again");
                }
            }
            Err(e) => {
                self.counters
                    .checkpoint_errors
                    .fetch_add(1, Ordering::Relaxed);
                if error.is_none() {
                    tracing::error!("checkpoint failed, it will be tried again: {e}");
                }
                *error = Some(match e {
                    EngineError::DiskFull(m) => EngineError::DiskFull(m.clone()),
                    e => EngineError::Io(e.to_string()),
                });
            }
        }
        drop(error);
        self.room_signal.notify_all();
        if r.is_ok() {
            retention::after_checkpoint(self);
        }
        r
    }

    /// Asks the background for a checkpoint.
    pub(crate) fn wake_checkpoint(&self) {
        self.wake.lock().run = true;
        self.wake_signal.notify_one();
    }

    /// Seconds since the last checkpoint.
    pub(crate) fn checkpoint_age(&self) -> u64 {
        self.checkpointed.lock().elapsed().as_secs()
    }

    fn worker(weak: Weak<Inner>) {
        let mut retry = false;
        loop {
            let Some(db) = weak.upgrade() else { return };
            {
                let mut wake = db.wake.lock();
                if !wake.run && !wake.stop {
                    // Woken now and then so that a dropped database is noticed and a failed checkpoint is retried.
                    db.wake_signal
                        .wait_for(&mut wake, Duration::from_millis(500));
                }
                if wake.stop {
                    return;
                }
                if !wake.run && !retry {
                    continue;
                }
                wake.run = false;
            }
            retry = db.run_checkpoint().is_err() && db.log.failed().is_none();
            if retry {
                let mut wake = db.wake.lock();
                if !wake.stop {
                    db.wake_signal
                        .wait_for(&mut wake, Duration::from_millis(500));
                }
            }
        }
    }

    fn close(&self) -> Result<()> {
        if self.closed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        // The checkpoint waits for what replicas have not acknowledged.
        self.log.shut_gate();
        self.base_room.set_waits(false);
        self.wake.lock().stop = true;
        self.wake_signal.notify_all();
        let worker = self.worker.lock().take();
        if let Some(w) = worker
            && w.thread().id() != std::thread::current().id()
        {
            let _ = w.join();
        }
        retention::stop(self);
        crate::scrub::stop(self);
        let checkpoint = if self.log.failed().is_none() {
            self.run_checkpoint()
        } else {
            Ok(())
        };
        if let Err(e) = &checkpoint {
            tracing::warn!("no checkpoint at close ({e}); the next start replays the log instead");
        }
        self.base_room.close();
        // They stand in the log; here they hold on to the store itself.
        drop(std::mem::take(&mut *self.xa.lock()));
        let mut closed = self.log.close().map_err(EngineError::from);
        if let Some(flat) = &self.flat
            && closed.is_ok()
        {
            closed = flat.sync();
        }
        // From here on nothing writes to the folder.
        self.lock_file.lock().take();
        closed
    }
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

/// Why [`Database::open_cut`] did not open.
enum OpenFailure {
    Engine(EngineError),
    /// The commit at this LSN has lost its chunks, and the caller accepts losses.
    LostAt(u64, EngineError),
    /// What was prepared and not committed was taken out of the log: once more.
    RolledBack,
}

impl From<EngineError> for OpenFailure {
    fn from(e: EngineError) -> Self {
        OpenFailure::Engine(e)
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
        crate::backup::refuse_unfinished(&*disk, &dir)?;
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
                    crate::xa::from_stored(&m.prepared)?,
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
        crate::xa::resume(&inner, &prepared)?;
        if from.is_none() {
            // The first checkpoint fixes where replay starts: a log that lost its head is noticed.
            inner.run_checkpoint()?;
        }
        match rotate {
            // A file of its own for each run of the server, as in MariaDB: what a crash did to the last one is over.
            Some((number, gtids)) => crate::binlog::begin_file_behind(&inner, number, &gtids)?,
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
            crate::scrub::start(&inner)
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
        crate::ddl::run(&self.inner, ddl, options, None)
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
        crate::ddl::run(&self.inner, ddl, options, Some((rows, fill)))
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
        crate::binlog::follow_file(&self.inner, number)
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
        let reserved = crate::ddl::run_reserved(&self.inner, ddl, options, placed)?;
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
    pub fn table_rows(&self, table: &crate::Table) -> u64 {
        u64::try_from(table.counters.rows.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Current AUTO_INCREMENT counter (next value).
    pub fn auto_increment(&self, table: &crate::Table) -> u64 {
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

fn virtual_config(options: &Options) -> VirtualConfig {
    VirtualConfig {
        domain_id: options.gtid_domain_id,
        server_id: options.server_id,
        max_binlog_size: options.max_binlog_size,
        ..VirtualConfig::default()
    }
}

fn spill_bytes(options: &Options) -> u64 {
    match options.spill_bytes {
        0 => (options.memory_budget / 32).clamp(1 << 20, 64 << 20),
        n => n,
    }
}

/// Removes run files that no recovered commit names: of transactions that never committed, or that are in the base.
fn remove_dead_runs(disk: &Arc<dyn Disk>, dir: &Path, state: &State) {
    let mut live = ahash::HashSet::default();
    for layer in &state.older {
        if let Layer::Spilled(s) = layer {
            live.extend(s.runs.metas().into_iter().map(|m| m.name));
        }
    }
    match disk.list(dir) {
        Ok(names) => {
            for name in names.iter().filter(|n| !live.contains(*n)) {
                if let Err(e) = disk.remove(&dir.join(name)) {
                    tracing::warn!("removing {}: {e}", dir.join(name).display());
                }
            }
        }
        Err(e) => tracing::warn!("looking into {}: {e}", dir.display()),
    }
}

fn durability(mode: u8) -> Durability {
    Durability::from_u8(mode).unwrap_or(Durability::Synced)
}

/// Reads what the last checkpoint stored.
pub(crate) fn read_meta(redb: &redb::Database) -> Result<Option<CheckpointMeta>> {
    let txn = redb.begin_read().map_err(base_err)?;
    let table = match txn.open_table(META) {
        Ok(t) => t,
        Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
        Err(e) => return Err(base_err(e)),
    };
    let Some(v) = table.get("checkpoint").map_err(base_err)? else {
        return Ok(None);
    };
    let meta: CheckpointMeta = serde_json::from_slice(v.value())
        .map_err(|e| EngineError::Corrupt(format!("checkpoint in the base: {e}")))?;
    if meta.format != 1 {
        return Err(EngineError::Io(format!(
            "the base has format {}, this version of Narwal reads format 1; use the version that wrote it",
            meta.format
        )));
    }
    Ok(Some(meta))
}
