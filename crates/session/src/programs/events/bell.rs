//! Between sessions and the scheduler of events: what has changed, what runs.

use crate::process::Process;
use ahash::AHashMap;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What the scheduler shares with sessions.
#[derive(Default)]
pub(crate) struct EventBell {
    state: Mutex<State>,
    changed: Condvar,
    /// One change of events at a time: each reads, changes and stores a whole definition.
    writer: Mutex<()>,
    /// When events ran last, in seconds since 1970, by their keys: newer than what the catalog has.
    last: Mutex<AHashMap<String, i64>>,
}

#[derive(Default)]
struct State {
    rung: bool,
    stop: bool,
    /// What runs events at this moment.
    running: Vec<Arc<Process>>,
    /// The scheduler's thread.
    thread: Option<std::thread::JoinHandle<()>>,
}

impl EventBell {
    /// Events or `event_scheduler` have changed.
    pub(crate) fn ring(&self) {
        self.state.lock().rung = true;
        self.changed.notify_all();
    }

    /// Sleeps until something has changed, or so long; false if the server stops.
    pub(super) fn sleep(&self, longest: Option<Duration>) -> bool {
        let mut state = self.state.lock();
        if !state.rung && !state.stop {
            match longest {
                Some(t) => drop(self.changed.wait_for(&mut state, t)),
                None => self.changed.wait(&mut state),
            }
        }
        state.rung = false;
        !state.stop
    }

    /// The thread that schedules.
    pub(super) fn is_run_by(&self, thread: std::thread::JoinHandle<()>) {
        self.state.lock().thread = Some(thread);
    }

    /// An event runs. False if the server stops.
    pub(super) fn begins(&self, process: &Arc<Process>) -> bool {
        let mut state = self.state.lock();
        if !state.stop {
            state.running.push(process.clone());
        }
        !state.stop
    }

    /// It has ended.
    pub(super) fn ended(&self, process: &Arc<Process>) {
        let mut state = self.state.lock();
        state.running.retain(|p| !Arc::ptr_eq(p, process));
        drop(state);
        self.changed.notify_all();
    }

    /// A statement that changes events holds this.
    pub(crate) fn writer(&self) -> MutexGuard<'_, ()> {
        self.writer.lock()
    }

    /// When an event ran last.
    pub(super) fn ran(&self, key: &str, at: i64) {
        self.last.lock().insert(key.to_string(), at);
    }

    /// When an event ran last, if that is newer than what its definition says.
    pub(super) fn last(&self, key: &str) -> Option<i64> {
        self.last.lock().get(key).copied()
    }

    /// Stops the scheduler and what runs, and waits for them.
    pub(crate) fn stop(&self, patience: Duration) {
        let (thread, running) = {
            let mut state = self.state.lock();
            state.stop = true;
            (state.thread.take(), state.running.clone())
        };
        self.changed.notify_all();
        for p in running {
            p.kill(true);
        }
        if let Some(t) = thread
            && t.join().is_err()
        {
            tracing::error!("the scheduler of events has panicked");
        }
        let until = Instant::now() + patience;
        let mut state = self.state.lock();
        while !state.running.is_empty() && !self.changed.wait_until(&mut state, until).timed_out() {
        }
    }
}
