//! What every part of an open log shares, free of the caller's order state.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use parking_lot::{Condvar, Mutex};

use crate::disk::LockFile;
use crate::error::LogError;
use crate::ferry::Ferry;
use crate::gate::GateState;
use crate::graves::Graves;
use crate::options::{Durability, LogOptions};
use crate::overlap::Overlap;
use crate::second::Second;
use crate::segment::Segment;
use crate::stats::Counters;
use crate::{Lsn, Seq};

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
    pub _lock: LockFile,
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
