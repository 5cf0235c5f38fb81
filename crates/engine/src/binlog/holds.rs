//! Readers of the log, and what the settings say of how long it is kept.

use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Keeps the log from some LSN on while a reader needs it. Dropped: released.
#[derive(Debug)]
pub struct ReaderHold {
    holds: Arc<Holds>,
    id: u64,
}

impl ReaderHold {
    /// The reader needs nothing below `lsn` any more.
    pub fn advance(&self, lsn: u64) {
        if let Some((_, at, _)) = self.holds.map.lock().get_mut(&self.id) {
            *at = (*at).max(lsn);
        }
    }

    /// From where on the log is kept.
    #[must_use]
    pub fn lsn(&self) -> u64 {
        self.holds.map.lock().get(&self.id).map_or(0, |h| h.1)
    }
}

impl Drop for ReaderHold {
    fn drop(&mut self) {
        self.holds.map.lock().remove(&self.id);
        self.holds.wake.look();
    }
}

/// All readers by a number: name, LSN, whether it is a replica.
#[derive(Debug, Default)]
pub(crate) struct Holds {
    map: Mutex<BTreeMap<u64, (String, u64, bool)>>,
    next: AtomicU64,
    pub(crate) wake: Wake,
}

impl Holds {
    pub(crate) fn register(self: &Arc<Self>, name: &str, lsn: u64, replica: bool) -> ReaderHold {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.map.lock().insert(id, (name.to_owned(), lsn, replica));
        ReaderHold {
            holds: self.clone(),
            id,
        }
    }

    pub(crate) fn replicas(&self) -> usize {
        self.map.lock().values().filter(|h| h.2).count()
    }

    /// The reader that is furthest behind.
    pub(crate) fn last(&self) -> Option<(String, u64)> {
        let map = self.map.lock();
        let last = map.values().min_by_key(|h| h.1);
        last.map(|h| (h.0.clone(), h.1))
    }
}

/// Wakes the purging thread. Its lock is never held while something is done.
#[derive(Debug, Default)]
pub(crate) struct Wake {
    asked: Mutex<Asked>,
    signal: Condvar,
}

#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Asked {
    /// Something has changed that may let files go.
    look: bool,
    pub(crate) stop: bool,
}

impl Wake {
    /// Asks for a look at what may go.
    pub(crate) fn look(&self) {
        self.asked.lock().look = true;
        self.signal.notify_one();
    }

    pub(crate) fn stop(&self) {
        self.asked.lock().stop = true;
        self.signal.notify_one();
    }

    /// Sleeps for `time`, or until asked for something, and takes that.
    pub(crate) fn wait(&self, time: Duration) -> Asked {
        let mut asked = self.asked.lock();
        if !asked.look && !asked.stop {
            self.signal.wait_for(&mut asked, time);
        }
        let taken = *asked;
        asked.look = false;
        taken
    }
}

/// What the options say, and the background's memory.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) expire_seconds: AtomicU64,
    pub(crate) total_size: AtomicU64,
    pub(crate) connections_needed: AtomicU32,
    /// The old log of a RESET MASTER: needed from here on while a reader is below there.
    pub(crate) kept: Mutex<Option<(u64, u64)>>,
    /// What the background has said last about files that stay.
    pub(crate) said: Mutex<Vec<String>>,
    pub(crate) thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Settings {
    /// Notes the thread that purges.
    pub(crate) fn set_thread(&self, thread: std::thread::JoinHandle<()>) {
        *self.thread.lock() = Some(thread);
    }
}
