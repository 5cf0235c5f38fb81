//! The clock: a thread that looks when the first commit that waits has waited too long.

use super::state::Shared;
use parking_lot::{Condvar, Mutex};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// A sleep that is this short is no polling, and a time-out of 0 no busy loop.
const SHORTEST: Duration = Duration::from_millis(5);

#[derive(Debug, Default)]
struct Sleeper {
    state: Mutex<Sleep>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Sleep {
    running: bool,
    stop: bool,
    /// The settings have changed.
    look: bool,
}

/// Ends its thread when it is dropped.
#[derive(Debug, Default)]
pub(super) struct Clock(Arc<Sleeper>);

impl Drop for Clock {
    fn drop(&mut self) {
        self.0.state.lock().stop = true;
        self.0.changed.notify_all();
    }
}

impl Clock {
    /// Makes the thread look at the settings; starts it if need be.
    pub(super) fn start(&self, shared: &Arc<Shared>) {
        let mut s = self.0.state.lock();
        s.look = true;
        self.0.changed.notify_all();
        if s.running {
            return;
        }
        let (sleeper, shared) = (self.0.clone(), Arc::downgrade(shared));
        let spawned = std::thread::Builder::new()
            .name("semi-sync-clock".into())
            .stack_size(256 << 10)
            .spawn(move || run(&sleeper, &shared));
        match spawned {
            Ok(_) => s.running = true,
            Err(e) => tracing::error!(
                "commits may wait for replicas without a time limit: no thread: {e}"
            ),
        }
    }
}

/// Nothing needs to wake the thread when a commit begins to wait: while none does it sleeps for the time-out, and what
/// begins to wait meanwhile has not waited longer when it looks again.
fn run(sleeper: &Sleeper, shared: &Weak<Shared>) {
    loop {
        let Some(sh) = shared.upgrade() else { return };
        let due = sh.check_time();
        let (enabled, timeout) = {
            let s = sh.state.lock();
            (s.settings.enabled, s.settings.timeout)
        };
        drop(sh);
        let mut s = sleeper.state.lock();
        if s.stop {
            return;
        }
        if !enabled && !s.look {
            // Enabling it starts the thread again.
            s.running = false;
            return;
        }
        if !std::mem::take(&mut s.look) {
            // A year stands for "for ever": no clock overflows by that.
            let sleep = due
                .unwrap_or(timeout)
                .clamp(SHORTEST, Duration::from_secs(31_536_000));
            sleeper.changed.wait_for(&mut s, sleep);
        }
        if s.stop {
            return;
        }
    }
}
