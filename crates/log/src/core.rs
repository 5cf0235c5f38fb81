//! What every part of an open log shares, free of the caller's order state.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::disk::{Disk, RealDisk};
use crate::error::LogError;
use crate::ferry::Ferry;
use crate::frame::{HEADER_LEN, MAX_BODY};
use crate::gate::GateState;
use crate::overlap::Overlap;
use crate::purge::Graves;
use crate::second::Second;
use crate::segment::{END_LEN, START_LEN, Segment};
use crate::stats::Counters;
use crate::{Lsn, Seq};

/// How much a commit waits for (`innodb_flush_log_at_trx_commit`). In every mode the state after a crash is a prefix
/// of the commit order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Durability {
    /// 0: published when complete in memory; written and synced about once a second.
    Buffered = 0,
    /// 1: on disk (fdatasync) before it is published.
    Synced = 1,
    /// 2: handed to the operating system before it is published; synced about once a second.
    Written = 2,
}

impl Durability {
    /// The mode with this number (0, 1, 2).
    pub fn from_u8(n: u8) -> Option<Durability> {
        match n {
            0 => Some(Durability::Buffered),
            1 => Some(Durability::Synced),
            2 => Some(Durability::Written),
            _ => None,
        }
    }
}

/// How to open a log.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// The folder of the segment files; made if missing.
    pub dir: PathBuf,
    /// The disk it lies on.
    pub disk: Arc<dyn Disk>,
    /// Bytes of a full segment file. Default 32 MiB, at least 8 KiB; rounded up to 4 KiB. A larger record gets a segment of its own size.
    pub segment_size: u64,
    /// Bytes zeroed when a segment is made. Default 1 MiB.
    pub initial_size: u64,
    /// A segment grows, by at most 1 MiB at once, while less than half of this is zeroed ahead of the writer. Default
    /// 4 MiB.
    pub grow_step: u64,
    /// Commits wait for this at first. Default [`Durability::Synced`].
    pub durability: Durability,
    /// A group is held back until this many transactions are queued (0: never) ...
    pub commit_wait_count: u32,
    /// ... or this many microseconds have passed (0: never held back).
    pub commit_wait_usec: u32,
    /// Without these two: a group is held back for those of the last round, for one sync at most, where syncs are slow
    /// (0.3 ms and more) and they usually come in time. Default true.
    pub commit_wait_auto: bool,
    /// So many syncs of groups may run at once, 1 to 16, where syncs are slow (0.3 ms and more) and take hardly longer
    /// together than alone. 1: a group waits until the one before it is durable. Default 8.
    pub parallel_syncs: u32,
    /// Largest record body in bytes; at most and by default 256 MiB - 1.
    pub max_record: u32,
    /// In mode 0: bytes kept in memory before a committer writes them out itself. Default 8 MiB.
    pub buffer_limit: u64,
    /// Bytes of chunk records that may wait to be written before [`crate::Log::append_chunk`] holds its caller back.
    /// Default 512 KiB.
    pub chunk_queue: u64,
    /// Bytes of chunk records, at least one record, that go to disk with one sync. Default 256 KiB.
    pub chunk_group: u64,
    /// Where opening would refuse because a part of the log is damaged or missing: cut the log at the last good record
    /// before that instead, and go on without what followed. [`crate::OpenReport::lost`] says what that was. Default
    /// false; a server with replicas must not do this lightly, since they may have what it gives up.
    pub accept_lost_tail: bool,
    /// With that: the record that starts here is lost to the caller, though it is whole (what it refers to is gone). The
    /// log is cut in front of it.
    pub cut_at: Option<Lsn>,
    /// Period of the background flush. Default 1 s.
    pub flush_interval: Duration,
    /// Whether background threads flush and prepare segments. Without them (deterministic tests) the owner calls
    /// [`crate::Log::tick`], and space is made on demand.
    pub background: bool,
}

impl LogOptions {
    /// The defaults for a log in `dir` on the operating system's disk.
    pub fn new(dir: impl Into<PathBuf>) -> LogOptions {
        LogOptions {
            dir: dir.into(),
            disk: Arc::new(RealDisk),
            segment_size: 32 << 20,
            initial_size: 1 << 20,
            grow_step: 4 << 20,
            durability: Durability::Synced,
            commit_wait_count: 0,
            commit_wait_usec: 0,
            commit_wait_auto: true,
            parallel_syncs: 8,
            max_record: MAX_BODY as u32,
            buffer_limit: 8 << 20,
            chunk_queue: 512 << 10,
            chunk_group: 256 << 10,
            accept_lost_tail: false,
            cut_at: None,
            flush_interval: Duration::from_secs(1),
            background: true,
        }
    }

    /// Bytes of LSN range in an ordinary segment.
    pub(crate) fn segment_cap(&self) -> u64 {
        self.segment_size.max(8192).next_multiple_of(4096) - 4096
    }

    /// Bytes zeroed at first in a segment of `cap` bytes that must take `need` at once.
    pub(crate) fn initial_ready(&self, cap: u64, need: u64) -> u64 {
        self.initial_size
            .max(need + START_LEN + END_LEN)
            .next_multiple_of(4096)
            .min(cap)
    }

    /// Bytes that chunks leave ready for commits.
    pub(crate) fn chunk_margin(&self) -> u64 {
        (self.grow_step / 2).min(self.segment_cap() / 4)
    }

    pub(crate) fn max_body(&self) -> usize {
        (self.max_record as usize).min(MAX_BODY)
    }
}

#[derive(Debug)]
pub(crate) struct Core {
    pub opts: LogOptions,
    pub log_id: u64,
    pub mode: AtomicU8,
    pub wait_count: AtomicU32,
    pub wait_usec: AtomicU32,
    pub ferry: Ferry,
    pub overlap: Overlap,
    pub written: AtomicU64,
    pub durable: AtomicU64,
    pub visible: AtomicU64,
    pub failed: OnceLock<String>,
    pub closed: AtomicBool,
    /// Segments by start LSN, the one prepared ahead included.
    pub segments: Mutex<BTreeMap<Lsn, Arc<Segment>>>,
    /// Purged segments that are still on disk. Held by one purge at a time.
    pub graves: Mutex<Graves>,
    /// Serialises making and growing segment files.
    pub maintenance: Mutex<()>,
    pub counters: Counters,
    pub gate: GateState,
    pub second: Second,
    pub progress: Progress,
    pub _lock: crate::open::LockFile,
}

impl Core {
    /// What groups wait for now: a gate lets only through what is durable, and into the second log goes only what is
    /// written to this one.
    pub fn mode(&self) -> Durability {
        if self.gate.is_on() {
            return Durability::Synced;
        }
        match self.mode_set() {
            Durability::Buffered if self.second.is_on() => Durability::Written,
            mode => mode,
        }
    }

    /// The mode that was set.
    pub fn mode_set(&self) -> Durability {
        match self.mode.load(Ordering::SeqCst) {
            0 => Durability::Buffered,
            2 => Durability::Written,
            _ => Durability::Synced,
        }
    }

    /// Readers may see every commit up to this one.
    pub fn publish(&self, seq: Seq) {
        self.visible.fetch_max(seq, Ordering::SeqCst);
    }

    pub fn check(&self) -> Result<(), LogError> {
        match self.failed.get() {
            Some(text) => Err(LogError::Failed(text.clone())),
            None => Ok(()),
        }
    }

    pub fn segment(&self, start: Lsn) -> Option<Arc<Segment>> {
        self.segments.lock().get(&start).cloned()
    }

    /// The segment whose range holds `lsn`.
    pub fn segment_of(&self, lsn: Lsn) -> Option<Arc<Segment>> {
        self.segments
            .lock()
            .range(..=lsn)
            .next_back()
            .map(|(_, s)| s.clone())
    }

    pub fn oldest(&self) -> Lsn {
        self.segments.lock().keys().next().copied().unwrap_or(0)
    }
}

/// Lets readers sleep until something advances. Costs the writers one atomic load while nobody sleeps.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    sleepers: AtomicU32,
    lock: Mutex<()>,
    moved: Condvar,
}

impl Progress {
    pub fn notify(&self) {
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            // Taking the lock orders this after a sleeper's last look, so its sleep can't miss the wake-up.
            drop(self.lock.lock());
            self.moved.notify_all();
        }
    }

    /// Sleeps until `ready()`, which must only read SeqCst atomics, or until the deadline; returns the last `ready()`.
    pub fn wait(&self, deadline: Option<Instant>, mut ready: impl FnMut() -> bool) -> bool {
        if ready() {
            return true;
        }
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        let mut guard = self.lock.lock();
        let result = loop {
            if ready() {
                break true;
            }
            match deadline {
                None => self.moved.wait(&mut guard),
                Some(d) => {
                    if self.moved.wait_until(&mut guard, d).timed_out() {
                        break ready();
                    }
                }
            }
        };
        drop(guard);
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        result
    }
}

/// Bytes that a record of `body_len` takes in the log.
pub(crate) fn frame_len(body_len: usize) -> u64 {
    (HEADER_LEN + body_len) as u64
}
