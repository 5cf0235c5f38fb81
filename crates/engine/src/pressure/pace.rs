//! How fast commits may fill memory while a checkpoint runs.
//!
//! The memory of what a checkpoint merges is free when it ends, not before. If writers could take what is left as fast as
//! they like, all of them would stand still from the moment it is taken until then: for seconds, if the checkpoint writes to
//! most pages of a base that memory does not hold. So what they may take grows with the checkpoint's progress, and each
//! commit waits a little instead.

use parking_lot::{Mutex, MutexGuard};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The share of the room that writers have when a merge begins.
const AT_ONCE: f64 = 0.3;
/// How much of the merge is its commit, which counts no entries.
const COMMIT: f64 = 0.05;
/// The shortest and the longest time until a commit that waits looks again.
const LOOK: [Duration; 2] = [Duration::from_micros(500), Duration::from_millis(10)];

/// The progress of the merge that runs, if one does.
#[derive(Default)]
pub(crate) struct Pace {
    merge: Mutex<Option<(Instant, u64)>>,
    done: AtomicU64,
    /// A commit had to wait: in this merge, in the one before.
    waited: AtomicBool,
    waited_before: AtomicBool,
    /// Commits that wait stand in a line: the one that holds it looks, the others come after it.
    line: Mutex<()>,
    /// How many there are.
    waiting: AtomicUsize,
}

impl Pace {
    /// A merge of so many entries begins.
    pub(crate) fn begin(&self, entries: u64) {
        self.done.store(0, Ordering::Relaxed);
        let waited = self.waited.swap(false, Ordering::Relaxed);
        self.waited_before.store(waited, Ordering::Relaxed);
        *self.merge.lock() = Some((Instant::now(), entries));
    }

    /// So many more are merged.
    pub(crate) fn advance(&self, entries: u64) {
        self.done.fetch_add(entries, Ordering::Relaxed);
    }

    /// It has ended, or failed.
    pub(crate) fn end(&self) {
        *self.merge.lock() = None;
    }

    /// Whether writers are far from having to wait, and were in the merge before.
    pub(crate) fn has_time(&self, taken: u64, room: u64) -> bool {
        let waited = |w: &AtomicBool| w.load(Ordering::Relaxed);
        let taken = taken as f64;
        !waited(&self.waited)
            && !waited(&self.waited_before)
            && (self.allowed(room as f64)).is_none_or(|(allowed, _)| taken < allowed / 2.0)
    }

    /// What may be taken of `room` by now, and how much more each second.
    fn allowed(&self, room: f64) -> Option<(f64, f64)> {
        let (began, entries) = (*self.merge.lock())?;
        let progress = self.done.load(Ordering::Relaxed) as f64 / entries.max(1) as f64;
        let grown = room * (1.0 - AT_ONCE) * progress.min(1.0) * (1.0 - COMMIT);
        Some((
            room * AT_ONCE + grown,
            grown / began.elapsed().as_secs_f64(),
        ))
    }

    /// Waits in line for as long as `wait` says so. Returns whether it was for some time.
    pub(crate) fn stand_in_line(&self, wait: impl Fn() -> Option<Duration>) -> bool {
        if self.waiting.load(Ordering::Relaxed) == 0 && wait().is_none() {
            return false;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let line = self.line.lock();
        while let Some(wait) = wait() {
            std::thread::sleep(wait);
        }
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        MutexGuard::unlock_fair(line);
        true
    }

    /// How long a commit should wait before it asks again; `None` if it may go on. `taken`: bytes that were written since the
    /// merge began; `room`: how many there may be.
    pub(crate) fn wait(&self, taken: u64, room: u64) -> Option<Duration> {
        let (taken, room) = (taken as f64, room as f64);
        if taken <= room * AT_ONCE {
            return None;
        }
        let (allowed, per_second) = self.allowed(room)?;
        if taken <= allowed {
            return None;
        }
        self.waited.store(true, Ordering::Relaxed);
        // As long as the merge, at its pace so far, takes to make that much room.
        let seconds = (taken - allowed) / per_second;
        let wait = Duration::try_from_secs_f64(seconds).unwrap_or(LOOK[1]);
        Some(wait.clamp(LOOK[0], LOOK[1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_taken_grows_with_the_merge() {
        let pace = Pace::default();
        assert_eq!(pace.wait(1000, 1000), None, "no merge");
        pace.begin(100);
        assert_eq!(pace.wait(300, 1000), None);
        assert_eq!(pace.wait(301, 1000), Some(LOOK[1]), "no progress yet");
        pace.advance(50);
        assert_eq!(pace.wait(600, 1000), None);
        assert!(pace.wait(660, 1000).is_some());
        pace.advance(50);
        assert_eq!(pace.wait(960, 1000), None);
        assert!(pace.wait(990, 1000).is_some(), "its commit is to come");
        pace.end();
        assert_eq!(pace.wait(990, 1000), None);
    }

    #[test]
    fn a_merge_of_nothing_is_no_division_by_zero() {
        let pace = Pace::default();
        pace.begin(0);
        assert_eq!(pace.wait(900, 1000), Some(LOOK[1]));
        assert_eq!(pace.wait(0, 0), None);
    }
}
