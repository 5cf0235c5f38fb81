use crate::binlog::oob_holds::{OobHold, OobRegistry};
use crate::binlog::order::Order;
use crate::binlog::part::Binlog;
use crate::binlog::retention;
use crate::catalog::names::Catalog;
use crate::checkpoint::run as checkpoint;
use crate::checkpoint::run::Frozen;
use crate::checkpoint::scrub::Scrub;
use crate::classic::files as classic;
use crate::classic::flat::FlatBinlog;
use crate::classic::flat::FlatStats;
use crate::commit::place::Place;
use crate::counters::Counters;
use crate::locks::table::LockTable;
use crate::options::{Options, spill_bytes, virtual_config};
use crate::pressure::pace::Pace;
use crate::store::apart::Apart;
use crate::store::file::BaseFile;
use crate::store::room::Room;
use crate::store::run::cache::RunCache;
use crate::store::snapshots::SnapshotRegistry;
use crate::store::state::{Snapshot, State};
use crate::store::writeset::SpillPlace;
use crate::xa::branch::Branches;
use crate::{EngineError, Result};
use arc_swap::ArcSwap;
use narwal_binlog::VirtualConfig;
use narwal_log::{Disk, Log};
use parking_lot::{Condvar, Mutex};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// What a large transaction waits at most between two chunks before the memtables are full.
pub(crate) const MAX_SLOWDOWN: Duration = Duration::from_millis(40);

/// Why the checkpoint thread should wake, and whether it should go.
#[derive(Default)]
pub(crate) struct Wake {
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
    pub(crate) checkpointed: Mutex<Instant>,
    pub(crate) checkpoint: Mutex<Option<Frozen>>,
    /// Why the last checkpoint failed, for writers that wait for room.
    pub(crate) checkpoint_error: Mutex<Option<EngineError>>,
    pub(crate) wake: Mutex<Wake>,
    pub(crate) wake_signal: Condvar,
    pub(crate) room_signal: Condvar,
    pub(crate) notified: AtomicBool,
    pub(crate) closed: AtomicBool,
    pub(crate) worker: Mutex<Option<std::thread::JoinHandle<()>>>,
    pub(crate) lock_file: Mutex<Option<Box<dyn Send + Sync>>>,
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
    pub(crate) fn flat_stats(&self) -> FlatStats {
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

    pub(crate) fn worker(weak: Weak<Inner>) {
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

    pub(crate) fn close(&self) -> Result<()> {
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
        crate::checkpoint::scrub::stop(self);
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
