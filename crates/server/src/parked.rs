//! Answers that are kept back: a refused client waits for its error without a thread, and without a place among
//! `max_connections`, so that who guesses passwords takes neither from others.

use crate::channel::Channel;
use narwal_types::SqlError;
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Most of them at once; beyond, the one that has waited longest for its time is answered early.
const MOST: usize = 1024;
/// A client that does not read its error is not waited for longer.
const WRITE_PATIENCE: Duration = Duration::from_secs(1);

struct Waiting {
    chan: Channel,
    error: SqlError,
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<(Instant, u64), Waiting>,
    last: u64,
    running: bool,
    stopped: bool,
}

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    changed: Condvar,
}

/// The answers, and the thread that gives them in their time.
#[derive(Default)]
pub(crate) struct Parked(Arc<Inner>);

impl Parked {
    /// Answers `error` after `delay`, and closes the connection.
    pub(crate) fn park(&self, chan: Channel, error: SqlError, delay: Duration) {
        let mut s = self.0.state.lock();
        if s.stopped {
            return;
        }
        if !s.running {
            let inner = self.0.clone();
            let spawned = std::thread::Builder::new()
                .name("narwal-parked".into())
                .stack_size(256 << 10)
                .spawn(move || answer_all(&inner));
            if let Err(e) = spawned {
                tracing::warn!(error = %e, "no thread for answers that are kept back");
                return;
            }
            s.running = true;
        }
        s.last += 1;
        let key = (Instant::now() + delay, s.last);
        s.waiting.insert(key, Waiting { chan, error });
        self.0.changed.notify_one();
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        let mut s = self.0.state.lock();
        s.stopped = true;
        s.waiting.clear();
        self.0.changed.notify_one();
    }
}

fn answer_all(inner: &Inner) {
    let mut s = inner.state.lock();
    while !s.stopped {
        let due = s.waiting.first_key_value().map(|(key, _)| key.0);
        match due {
            None => inner.changed.wait(&mut s),
            Some(due) if due > Instant::now() && s.waiting.len() <= MOST => {
                inner.changed.wait_until(&mut s, due);
            }
            Some(_) => {
                if let Some((_, w)) = s.waiting.pop_first() {
                    parking_lot::MutexGuard::unlocked(&mut s, || answer(w));
                }
            }
        }
    }
}

fn answer(w: Waiting) {
    let Waiting { mut chan, error } = w;
    let _ = chan.stream.set_timeouts(WRITE_PATIENCE, WRITE_PATIENCE);
    let _ = chan.refuse(error);
    chan.stream.hang_up();
}
