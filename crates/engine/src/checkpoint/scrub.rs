//! The scrub: reads the base from end to end in the background, so that damage is found of what nobody reads.
//!
//! It goes through the file in its order, at `narwal_scrub_rate` bytes a second, and begins again at its end. Where it is,
//! each checkpoint stores. What the operating system has in memory is read from there, not from the disk.

use crate::Result;
use crate::parts::Inner;
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Default of `narwal_scrub_rate`, bytes a second.
pub const DEFAULT_SCRUB_RATE: u64 = 1 << 20;

/// Bytes of a step, at most.
const STEP: u64 = 1 << 20;

/// Steps of a second, at least.
const STEPS: u64 = 4;

/// A step is not smaller.
const LEAST: u64 = 64 << 10;

/// Between two rounds, and between two looks whether it is switched on.
const PAUSE: Duration = Duration::from_secs(1);

/// Where it is, and what it found.
#[derive(Debug)]
pub(crate) struct Scrub {
    pub(crate) rate: AtomicU64,
    at: AtomicU64,
    bytes: AtomicU64,
    rounds: AtomicU64,
    errors: AtomicU64,
    stop: Mutex<bool>,
    pub(crate) wake: Condvar,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
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
    pub(crate) fn progress(&self, db: &Inner) -> u64 {
        let len = db.base_file.file_len().unwrap_or(0).max(1);
        (self.at() * 100 / len).min(100)
    }

    /// Waits; false: it is time to go.
    fn wait(&self, time: Duration) -> bool {
        let mut stop = self.stop.lock();
        if !*stop {
            self.wake.wait_for(&mut stop, time);
        }
        !*stop
    }
}

/// One step; `None`: it is switched off. Otherwise how long to wait.
fn step(db: &Inner) -> Result<Option<Duration>> {
    let scrub = &db.scrub;
    let rate = scrub.rate.load(Ordering::Relaxed);
    if rate == 0 || !db.is_open() {
        return Ok(None);
    }
    let step = (rate / STEPS).clamp(LEAST, STEP);
    let len = db
        .base_file
        .file_len()
        .map_err(crate::store::base::io_err)?;
    let from = scrub.at();
    let to = (from + step).min(len);
    if from < to {
        let found = crate::checkpoint::verify::verify(db, from, to)?;
        scrub
            .errors
            .fetch_add(found.len() as u64, Ordering::Relaxed);
        scrub.bytes.fetch_add(to - from, Ordering::Relaxed);
        scrub.at.store(to, Ordering::Relaxed);
    }
    if to >= len || from >= to {
        scrub.at.store(0, Ordering::Relaxed);
        scrub.rounds.fetch_add(1, Ordering::Relaxed);
        return Ok(Some(PAUSE));
    }
    Ok(Some(Duration::from_secs_f64(step as f64 / rate as f64)))
}

/// Starts its thread.
pub(crate) fn start(db: &Arc<Inner>) -> std::io::Result<()> {
    let weak = Arc::downgrade(db);
    let thread = std::thread::Builder::new()
        .name("narwal-scrub".into())
        .spawn(move || background(&weak))?;
    *db.scrub.thread.lock() = Some(thread);
    Ok(())
}

fn background(weak: &Weak<Inner>) {
    let mut failed = false;
    while let Some(db) = weak.upgrade() {
        let time = match step(&db) {
            Ok(time) => time.unwrap_or(PAUSE),
            Err(e) => {
                if !std::mem::replace(&mut failed, true) && db.is_open() {
                    tracing::warn!("the scrub of the base stands still: {e}");
                }
                PAUSE
            }
        };
        if !db.scrub.wait(time) {
            return;
        }
    }
}

/// Ends the thread.
pub(crate) fn stop(db: &Inner) {
    *db.scrub.stop.lock() = true;
    db.scrub.wake.notify_all();
    let thread = db.scrub.thread.lock().take();
    if let Some(t) = thread
        && t.thread().id() != std::thread::current().id()
    {
        let _ = t.join();
    }
}
