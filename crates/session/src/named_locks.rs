//! GET_LOCK and its kin: locks by name, held by sessions across transactions.

use ahash::AHashMap;
use narwal_types::SqlResult;
use narwal_types::errors;
use parking_lot::{Condvar, Mutex};
use std::time::{Duration, Instant};

/// How long a waiter sleeps before it looks whether it was killed.
const STEP: Duration = Duration::from_millis(20);

/// The named locks of an instance.
#[derive(Debug, Default)]
pub(crate) struct NamedLocks {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    held: AHashMap<Vec<u8>, Held>,
    /// Which lock a connection waits for.
    waiting: AHashMap<u32, Vec<u8>>,
}

#[derive(Debug)]
struct Held {
    owner: u32,
    /// How often its owner has taken it.
    times: u64,
}

impl State {
    /// True if the owner of a lock waits, over any number of others, for this connection.
    fn closes_cycle(&self, name: &[u8], connection: u32) -> bool {
        let mut name = name;
        // No chain is longer than there are waiters.
        for _ in 0..=self.waiting.len() {
            let Some(held) = self.held.get(name) else {
                return false;
            };
            if held.owner == connection {
                return true;
            }
            match self.waiting.get(&held.owner) {
                Some(next) => name = next,
                None => return false,
            }
        }
        false
    }
}

impl NamedLocks {
    /// Takes a lock; false if the time is up or the waiter was killed. Error 1213 if it would wait for itself.
    pub(crate) fn get(
        &self,
        connection: u32,
        name: &[u8],
        timeout: Duration,
        killed: &dyn Fn() -> bool,
    ) -> SqlResult<bool> {
        let until = Instant::now().checked_add(timeout);
        let mut state = self.state.lock();
        loop {
            match state.held.get_mut(name) {
                None => {
                    state.held.insert(
                        name.to_vec(),
                        Held {
                            owner: connection,
                            times: 1,
                        },
                    );
                    return Ok(true);
                }
                Some(held) if held.owner == connection => {
                    held.times += 1;
                    return Ok(true);
                }
                Some(_) => {}
            }
            let left = until.map_or(STEP, |u| u.saturating_duration_since(Instant::now()));
            if left.is_zero() || killed() {
                return Ok(false);
            }
            if state.closes_cycle(name, connection) {
                return Err(errors::LOCK_DEADLOCK.plain());
            }
            state.waiting.insert(connection, name.to_vec());
            self.freed.wait_for(&mut state, left.min(STEP));
            state.waiting.remove(&connection);
        }
    }

    /// Releases a lock once; `None` if nobody holds it or it is not known, false if another holds it.
    pub(crate) fn release(&self, connection: u32, name: &[u8]) -> Option<bool> {
        let mut state = self.state.lock();
        let held = state.held.get_mut(name)?;
        if held.owner != connection {
            return Some(false);
        }
        held.times -= 1;
        if held.times == 0 {
            state.held.remove(name);
            self.freed.notify_all();
        }
        Some(true)
    }

    /// Releases all locks of a connection; how often it had taken them.
    pub(crate) fn release_all(&self, connection: u32) -> u64 {
        let mut state = self.state.lock();
        let mut times = 0;
        state.held.retain(|_, h| {
            if h.owner == connection {
                times += h.times;
            }
            h.owner != connection
        });
        if times > 0 {
            self.freed.notify_all();
        }
        times
    }

    /// The connection that holds a lock.
    pub(crate) fn owner(&self, name: &[u8]) -> Option<u32> {
        self.state.lock().held.get(name).map(|h| h.owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_refused_and_the_end_of_an_owner_frees() {
        let locks = std::sync::Arc::new(NamedLocks::default());
        let no = || false;
        let long = Duration::from_secs(30);
        assert!(locks.get(1, b"a", long, &no).unwrap());
        assert!(locks.get(2, b"b", long, &no).unwrap());
        let other = {
            let locks = locks.clone();
            std::thread::spawn(move || locks.get(2, b"a", long, &|| false))
        };
        while !locks.state.lock().waiting.contains_key(&2) {
            std::thread::yield_now();
        }
        assert_eq!(locks.get(1, b"b", long, &no).unwrap_err().code, 1213);
        assert_eq!(locks.release_all(1), 1);
        assert!(other.join().unwrap().unwrap());
        assert_eq!(locks.owner(b"a"), Some(2));
        assert_eq!(locks.release(1, b"a"), Some(false));
        assert_eq!(locks.release(1, b"none"), None);
    }
}
