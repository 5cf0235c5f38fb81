//! Asks the checkpoint's thread for a checkpoint, and wakes those who wait for the room that it makes.
//!
//! A writer rings it and knows nothing of checkpoints: the bell stands below everything that writes.

use crate::Result;
use parking_lot::{Condvar, Mutex};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long the thread sleeps at most: so it notices a dropped database, and tries again what failed.
const SLEEP: Duration = Duration::from_millis(500);

/// Why the checkpoint's thread should wake, and whether it should go.
#[derive(Default)]
struct Asked {
    run: bool,
    stop: bool,
}

/// What the checkpoint's thread woke for.
pub(crate) enum Woken {
    /// Nothing.
    Nothing,
    /// A checkpoint.
    Run,
    /// The database is being closed.
    Stop,
}

/// Runs a checkpoint in the thread that calls it.
type Now = Box<dyn Fn() -> Result<()> + Send + Sync>;

/// See the module's comment.
#[derive(Default)]
pub(crate) struct Bell {
    asked: Mutex<Asked>,
    signal: Condvar,
    room: Condvar,
    /// A checkpoint was asked for since the last one began: it need not be asked for again.
    notified: AtomicBool,
    closing: AtomicBool,
    now: OnceLock<Now>,
}

impl Bell {
    /// Says how a checkpoint is run where there is no thread for it.
    pub(crate) fn set_now(&self, now: Now) {
        let _ = self.now.set(now);
    }

    /// Runs a checkpoint now, in this thread.
    pub(crate) fn run_now(&self) -> Result<()> {
        self.now.get().map_or(Ok(()), |run| run())
    }

    /// Asks for a checkpoint, once until the next one begins.
    pub(crate) fn want(&self) {
        if !self.notified.swap(true, Ordering::Relaxed) {
            self.wake();
        }
    }

    /// Asks for a checkpoint in any case.
    pub(crate) fn wake(&self) {
        self.asked.lock().run = true;
        self.signal.notify_one();
    }

    /// A checkpoint begins: progress from here on asks for the next one.
    pub(crate) fn begins(&self) {
        self.notified.store(false, Ordering::Relaxed);
    }

    /// Asks for a checkpoint, and waits until one has ended, or for `time`.
    pub(crate) fn wait_for_room(&self, time: Duration) {
        let mut asked = self.asked.lock();
        if !self.notified.swap(true, Ordering::Relaxed) {
            asked.run = true;
            self.signal.notify_one();
        }
        self.room.wait_for(&mut asked, time);
    }

    /// A checkpoint has ended: there may be room.
    pub(crate) fn ended(&self) {
        self.room.notify_all();
    }

    /// Waits until there is something to do for the checkpoint's thread, but not for long; `retry`: there is in any case.
    pub(crate) fn wait(&self, retry: bool) -> Woken {
        let mut asked = self.asked.lock();
        if !asked.run && !asked.stop {
            self.signal.wait_for(&mut asked, SLEEP);
        }
        if asked.stop {
            return Woken::Stop;
        }
        match std::mem::take(&mut asked.run) || retry {
            true => Woken::Run,
            false => Woken::Nothing,
        }
    }

    /// Waits a little before what failed is tried again.
    pub(crate) fn pause(&self) {
        let mut asked = self.asked.lock();
        if !asked.stop {
            self.signal.wait_for(&mut asked, SLEEP);
        }
    }

    /// The database is being closed: a checkpoint that runs does not take its time.
    pub(crate) fn close(&self) {
        self.closing.store(true, Ordering::SeqCst);
    }

    /// Whether it is.
    pub(crate) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Relaxed)
    }

    /// Ends the checkpoint's thread.
    pub(crate) fn stop(&self) {
        self.asked.lock().stop = true;
        self.signal.notify_all();
    }
}
