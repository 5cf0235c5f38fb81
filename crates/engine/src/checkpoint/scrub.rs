//! The scrub: reads the base from end to end in the background, so that damage is found of what nobody reads.
//!
//! It goes through the file in its order, at `narwal_scrub_rate` bytes a second, and begins again at its end. Where it is,
//! each checkpoint stores. What the operating system has in memory is read from there, not from the disk.

use crate::store::file::BaseFile;
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Bytes of a step, at most.
pub(crate) const STEP: u64 = 1 << 20;
/// Steps of a second, at least.
pub(crate) const STEPS: u64 = 4;
/// A step is not smaller.
pub(crate) const LEAST: u64 = 64 << 10;
/// Between two rounds, and between two looks whether it is switched on.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);

/// Where it is, and what it found.
#[derive(Debug)]
pub(crate) struct Scrub {
    pub(crate) rate: AtomicU64,
    pub(crate) at: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) rounds: AtomicU64,
    pub(crate) errors: AtomicU64,
    stop: Mutex<bool>,
    pub(crate) wake: Condvar,
    pub(crate) thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Scrub {
    pub(crate) fn new(rate: u64) -> Scrub {
        Scrub {
            rate: AtomicU64::new(rate),
            at: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            rounds: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            stop: Mutex::new(false),
            wake: Condvar::new(),
            thread: Mutex::new(None),
        }
    }

    /// Goes on there.
    pub(crate) fn begin_at(&self, at: u64) {
        self.at.store(at, Ordering::Relaxed);
    }

    pub(crate) fn at(&self) -> u64 {
        self.at.load(Ordering::Relaxed)
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub(crate) fn rounds(&self) -> u64 {
        self.rounds.load(Ordering::Relaxed)
    }

    pub(crate) fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }

    /// Per cent of the present round.
    pub(crate) fn progress(&self, base: &BaseFile) -> u64 {
        let len = base.file_len().unwrap_or(0).max(1);
        (self.at() * 100 / len).min(100)
    }

    /// Waits; false: it is time to go.
    pub(crate) fn wait(&self, time: Duration) -> bool {
        let mut stop = self.stop.lock();
        if !*stop {
            self.wake.wait_for(&mut stop, time);
        }
        !*stop
    }
}

impl Scrub {
    /// Ends its thread.
    pub(crate) fn stop(&self) {
        *self.stop.lock() = true;
        self.wake.notify_all();
        let thread = self.thread.lock().take();
        if let Some(t) = thread
            && t.thread().id() != std::thread::current().id()
        {
            let _ = t.join();
        }
    }
}
