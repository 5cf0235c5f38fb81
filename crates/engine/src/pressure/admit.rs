//! Back-pressure: when writers wait, and when a checkpoint is asked for.

use crate::bell::Bell;
use crate::binlog::order::Order;
use crate::binlog::part::Binlog;
use crate::options::Options;
use crate::pressure::pace::Pace;
use crate::store::memtable::Memtable;
use crate::store::part::Store;
use crate::{EngineError, Result};
use narwal_log::Log;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a large transaction waits at most between two chunks before the memtables are full.
const MAX_SLOWDOWN: Duration = Duration::from_millis(40);
/// A checkpoint that has written nothing for so long will not make room.
const STUCK: Duration = Duration::from_secs(60);

/// How much writers may put into memory.
pub(crate) struct Pressure {
    pub(crate) pace: Pace,
    pub(crate) bell: Arc<Bell>,
    /// The memtables' share of the budget, bytes.
    limit: u64,
    /// A checkpoint is asked for when the log has grown by so many bytes since the last one began.
    log_bytes: u64,
    background: bool,
    /// Why the last checkpoint failed, for writers that wait for room.
    error: Mutex<Option<EngineError>>,
    /// How often a writer waited.
    pub(crate) waits: AtomicU64,
}

impl Pressure {
    pub(crate) fn new(options: &Options, bell: Arc<Bell>) -> Self {
        Pressure {
            pace: Pace::default(),
            bell,
            limit: options.memtable_limit(),
            log_bytes: options.checkpoint_log_bytes(),
            background: options.background,
            error: Mutex::new(None),
            waits: AtomicU64::new(0),
        }
    }

    /// Called by each committer once its rows are in the memtable: asks for a checkpoint when it is time.
    pub(crate) fn note_progress(&self, binlog: &Binlog, lsn: u64, memtable: &Memtable) {
        self.note_log_growth(binlog, lsn);
        if memtable.bytes() > self.limit / 2 {
            self.bell.want();
        }
    }

    /// As [`Self::note_progress`], for records that put nothing into a memtable.
    pub(crate) fn note_log_growth(&self, binlog: &Binlog, lsn: u64) {
        let grown = lsn.saturating_sub(binlog.checkpoint_lsn.load(Ordering::Relaxed));
        if grown > self.log_bytes {
            self.bell.want();
        }
    }

    /// A write waits while the memtables are over their share of the budget. Before that is reached writes are slowed down
    /// more and more, so that a long checkpoint means many short waits instead of one long one.
    ///
    /// A large transaction was slowed down while it ran ([`Self::slow_down`]): its commit waits for nothing but room.
    pub(crate) fn admit(&self, store: &Store, log: &Log<Order>, large: bool) -> Result<()> {
        let bytes = store.state.load().memtable_bytes();
        if bytes <= self.limit / 2 || (large && bytes <= self.limit) {
            return Ok(());
        }
        if !self.background {
            return match bytes > self.limit {
                true => self.bell.run_now(),
                false => Ok(()),
            };
        }
        if bytes <= self.limit {
            self.keep_pace(store, log);
            return Ok(());
        }
        self.waits.fetch_add(1, Ordering::Relaxed);
        self.wait_for_room(store, log)
    }

    #[cold]
    fn wait_for_room(&self, store: &Store, log: &Log<Order>) -> Result<()> {
        let written = || store.base.room.written();
        let (mut since, mut progress) = (Instant::now(), written());
        while store.state.load().memtable_bytes() > self.limit {
            if let Some(m) = log.failed() {
                return Err(EngineError::LogFailed(m));
            }
            if let Some(m) = store.base.room.full() {
                return Err(EngineError::DiskFull(m));
            }
            if let Some(e) = &*self.error.lock() {
                return Err(match e {
                    EngineError::DiskFull(m) => EngineError::DiskFull(m.clone()),
                    e => EngineError::Full(e.to_string()),
                });
            }
            // A checkpoint also waits while commits wait for a replica.
            if written() != progress || log.held().commits > 0 {
                (since, progress) = (Instant::now(), written());
            } else if since.elapsed() > STUCK {
                return Err(EngineError::Full(
                    "no room in memory, and the checkpoint has written nothing for 60 seconds"
                        .into(),
                ));
            }
            self.bell.wait_for_room(Duration::from_millis(100));
        }
        Ok(())
    }

    /// Whether a merge may take its time.
    pub(crate) fn has_time(&self, store: &Store) -> bool {
        let (taken, room) = self.taken(store);
        let asked = !self.background || self.bell.is_closing();
        !asked && self.pace.has_time(taken, room)
    }

    /// Bytes written since the checkpoint began, and how many there may be.
    fn taken(&self, store: &Store) -> (u64, u64) {
        let state = store.state.load();
        let (all, taken) = (state.memtable_bytes(), state.active.bytes());
        (taken, self.limit.saturating_sub(all.saturating_sub(taken)))
    }

    /// Waits until what was written since the checkpoint began is in step with its progress, or until there is no room at all.
    fn keep_pace(&self, store: &Store, log: &Log<Order>) {
        let wait = || {
            let (taken, room) = self.taken(store);
            let wait = self.pace.wait(taken, room).filter(|_| taken <= room);
            wait.filter(|_| log.failed().is_none() && store.base.room.full().is_none())
        };
        if self.pace.stand_in_line(wait) {
            self.waits.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A large transaction goes slower while memory gets short, so that it does not take the room that small ones need.
    pub(crate) fn slow_down(&self, store: &Store) {
        let half = self.limit / 2;
        let bytes = store.state.load().memtable_bytes();
        if self.background && bytes > half {
            let over = (bytes - half) as f64 / half as f64;
            std::thread::sleep(MAX_SLOWDOWN.mul_f64(over.min(1.0)));
        }
    }

    /// A checkpoint has ended: those who wait for room look again.
    pub(crate) fn checkpointed(&self, done: &Result<()>) {
        let mut error = self.error.lock();
        match done {
            Ok(()) => {
                if error.take().is_some() {
                    tracing::info!("checkpoints work again");
                }
            }
            Err(e) => {
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
        self.bell.ended();
    }
}
