//! How many waits for locks there were, and how long they took.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// The waits of a lock table.
#[derive(Default)]
pub(crate) struct Waits {
    all: AtomicU64,
    now: AtomicU64,
    micros: AtomicU64,
    longest: AtomicU64,
}

/// A wait that lasts until this goes.
pub(crate) struct Wait<'w> {
    of: &'w Waits,
    since: Instant,
}

impl Waits {
    /// A wait begins.
    pub(crate) fn begin(&self) -> Wait<'_> {
        self.all.fetch_add(1, Ordering::Relaxed);
        self.now.fetch_add(1, Ordering::Relaxed);
        Wait {
            of: self,
            since: Instant::now(),
        }
    }

    /// Waits so far, those that last included.
    pub(crate) fn count(&self) -> u64 {
        self.all.load(Ordering::Relaxed)
    }

    /// Waits that last.
    pub(crate) fn lasting(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// Milliseconds of all waits that are over, and of the longest one.
    pub(crate) fn millis(&self) -> (u64, u64) {
        let load = |c: &AtomicU64| c.load(Ordering::Relaxed) / 1000;
        (load(&self.micros), load(&self.longest))
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let micros = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.of.now.fetch_sub(1, Ordering::Relaxed);
        self.of.micros.fetch_add(micros, Ordering::Relaxed);
        self.of.longest.fetch_max(micros, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_counts_while_it_lasts_and_when_it_is_over() {
        let waits = Waits::default();
        let first = waits.begin();
        let second = waits.begin();
        assert_eq!((waits.count(), waits.lasting()), (2, 2));
        drop(first);
        std::thread::sleep(std::time::Duration::from_millis(3));
        drop(second);
        assert_eq!((waits.count(), waits.lasting()), (2, 0));
        let (all, longest) = waits.millis();
        assert!(longest >= 3 && all >= longest, "{all} {longest}");
    }
}
