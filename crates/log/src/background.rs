//! The background threads.
//!
//! `narwal-log-flush` syncs about once a second and marks a quiet log. `narwal-log-prep` makes segment space ahead of the
//! writer. `narwal-log-write` leads when all owners that could lead have left ([`crate::Log::leave`]). There is one of these
//! for each sync that may run at once, and one more, which writes the next group while another tells the owners of the last.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use crate::Lsn;

pub(crate) mod threads;

#[derive(Debug, Default)]
pub(crate) struct Background {
    /// Where the log stood at the last round of the flush.
    pub seen: Mutex<Lsn>,
    enabled: AtomicBool,
    space: AtomicBool,
    write: AtomicBool,
    answers: AtomicBool,
    stopped: Mutex<bool>,
    changed: Condvar,
    /// For the writers, under `stopped`.
    left: Condvar,
    /// For those that are there for syncs that run together, while none do.
    extra: Condvar,
}

impl Background {
    /// Asks for more segment space.
    pub fn want_space(&self) {
        if self.enabled.load(Ordering::Relaxed) && !self.space.swap(true, Ordering::SeqCst) {
            drop(self.stopped.lock());
            self.changed.notify_all();
        }
    }

    /// Asks for a group of chunks to be written.
    pub fn want_write(&self) {
        if self.enabled.load(Ordering::Relaxed) && !self.write.swap(true, Ordering::SeqCst) {
            drop(self.stopped.lock());
            self.changed.notify_all();
        }
    }

    /// Whether there are background threads.
    pub fn runs(&self) -> bool {
        self.enabled.load(Ordering::Relaxed)
    }

    /// Asks for a leader: there are complete records whose owners have left.
    pub fn want_answers(&self) {
        if !self.answers.swap(true, Ordering::SeqCst) {
            drop(self.stopped.lock());
            self.left.notify_one();
        }
    }

    /// Syncs may run together from now on.
    pub fn more_writers(&self) {
        drop(self.stopped.lock());
        self.extra.notify_all();
    }

    /// Ends the threads after what they are doing.
    pub fn stop(&self) {
        self.enabled.store(false, Ordering::SeqCst);
        *self.stopped.lock() = true;
        self.changed.notify_all();
        self.left.notify_all();
        self.extra.notify_all();
    }

    /// Sleeps for `time`, or until stopped or `until()`; whether to go on.
    fn pause(&self, time: Duration, until: impl Fn() -> bool) -> bool {
        let deadline = std::time::Instant::now() + time;
        let mut stopped = self.stopped.lock();
        while !*stopped && !until() {
            if self.changed.wait_until(&mut stopped, deadline).timed_out() {
                break;
            }
        }
        !*stopped
    }
}
