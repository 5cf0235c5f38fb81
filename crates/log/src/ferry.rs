//! Group commit that waits, unasked, for company that it can expect.
//!
//! Think of clients that commit, get their answer and soon commit again. If a sync takes longer than their work, they fall
//! into two halves: while one half's sync runs, the other half gathers. So each client waits for two syncs a transaction.
//! If the leader instead waits until the clients that it has just answered are back, all of them share one sync. A round
//! then takes `work + sync` instead of `2 * sync`, which is less as long as the work is shorter than a sync.
//!
//! So a group is held back until as many commits have come as took part in the last round: the group that was answered
//! last, and the commits that gathered meanwhile. The wait is bounded. All together must be back within one sync, so the
//! answered half must be back within half a sync; where processors are short, twice as many need twice the time. If they
//! are not back, because they think, compute or wait for a processor, the next 1, 3, ... 63 groups are not held back. A
//! lone committer never waits, because nobody else took part.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// With shorter syncs a thread switch is too much of what could be won.
const SHORTEST_SYNC: Duration = Duration::from_micros(300);
/// After the n-th failure in a row `2^n - 1` groups, at most `2^6 - 1`, are not held back.
const MOST_FAILURES: u32 = 6;

/// How long to hold a group back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wait {
    /// Everybody is there.
    pub all: u32,
    /// Nearly everybody: the rest gets `grace` from then on, no more.
    pub nearly: u32,
    pub grace: Duration,
    pub deadline: Instant,
}

#[derive(Debug, Default)]
struct Round {
    /// What a sync takes, a moving average.
    sync: Duration,
    /// When the last group was answered; `None`: nothing is known of the last round.
    answered: Option<Instant>,
    /// Commits of that group.
    commits: u32,
    /// With those that had gathered meanwhile.
    crowd: u32,
    failures: u32,
    /// Groups not to be held back.
    skip: u32,
}

impl Round {
    fn synced(&mut self, took: Duration) {
        self.sync = if self.sync.is_zero() {
            took
        } else {
            (self.sync * 7 + took) / 8
        };
    }

    fn plan(&mut self, now: Instant, gathered: u32) -> Option<Wait> {
        let deadline = self.answered? + self.sync * self.commits / self.crowd.max(1);
        if self.sync < SHORTEST_SYNC || gathered >= self.crowd || deadline <= now {
            return None;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return None;
        }
        Some(Wait {
            all: self.crowd,
            nearly: self.crowd - self.crowd / 8,
            grace: self.sync / 8,
            deadline,
        })
    }

    fn waited(&mut self, came: bool) {
        self.failures = if came {
            0
        } else {
            (self.failures + 1).min(MOST_FAILURES)
        };
        self.skip = (1 << self.failures) - 1;
    }
}

/// What is known of the rounds; asked and told by the leader only.
#[derive(Debug)]
pub(crate) struct Ferry {
    on: AtomicBool,
    round: Mutex<Round>,
}

impl Ferry {
    pub(crate) fn new(on: bool) -> Ferry {
        Ferry {
            on: AtomicBool::new(on),
            round: Mutex::default(),
        }
    }

    pub(crate) fn set(&self, on: bool) {
        self.on.store(on, Ordering::Relaxed);
    }

    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// A sync took so long.
    pub(crate) fn synced(&self, took: Duration) {
        if self.is_on() {
            self.round.lock().synced(took);
        }
    }

    /// A group of `commits` is about to be answered while `gathered` others wait. 0 commits: nothing can be learned.
    pub(crate) fn answered(&self, commits: u32, gathered: u32) {
        if self.is_on() {
            let mut round = self.round.lock();
            round.answered = (commits > 0).then(Instant::now);
            round.commits = commits;
            round.crowd = commits.saturating_add(gathered);
        }
    }

    /// Whether the next group, of which `gathered` are there, is to be held back.
    pub(crate) fn plan(&self, gathered: u32) -> Option<Wait> {
        if !self.is_on() {
            return None;
        }
        self.round.lock().plan(Instant::now(), gathered)
    }

    /// It was; did (nearly) all come?
    pub(crate) fn waited(&self, came: bool) {
        self.round.lock().waited(came);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn after(commits: u32, gathered: u32) -> (Round, Instant) {
        let mut r = Round::default();
        r.synced(2 * MS);
        let now = Instant::now();
        r.answered = Some(now);
        r.commits = commits;
        r.crowd = commits + gathered;
        (r, now)
    }

    #[test]
    fn waits_for_those_of_the_last_round_and_not_too_long() {
        let (mut r, now) = after(8, 8);
        let wait = r.plan(now, 8).unwrap();
        assert_eq!((wait.all, wait.nearly), (16, 14));
        assert_eq!(wait.deadline, now + MS, "half of them, half a sync");
        assert_eq!(r.plan(now, 16), None, "all are there");
        assert_eq!(r.plan(now + MS, 8), None, "too late");
        let (mut r, now) = after(16, 0);
        assert_eq!(
            r.plan(now, 1).unwrap().deadline,
            now + 2 * MS,
            "all of them"
        );
    }

    #[test]
    fn nobody_waits_alone_or_before_anything_is_known() {
        let (mut r, now) = after(1, 0);
        assert_eq!(r.plan(now, 1), None);
        assert_eq!(Round::default().plan(now, 1), None);
    }

    #[test]
    fn short_syncs_are_not_waited_for() {
        let (mut r, now) = after(4, 4);
        r.sync = SHORTEST_SYNC - Duration::from_nanos(1);
        assert_eq!(r.plan(now, 4), None);
        r.sync = SHORTEST_SYNC;
        assert!(r.plan(now, 4).is_some());
    }

    #[test]
    fn failures_make_it_rare_and_one_success_usual_again() {
        let (mut r, now) = after(4, 4);
        let skipped = |r: &mut Round| {
            let mut n = 0;
            while r.plan(now, 4).is_none() {
                n += 1;
            }
            n
        };
        for expected in [1, 3, 7, 15, 31, 63, 63] {
            r.waited(false);
            assert_eq!(skipped(&mut r), expected);
        }
        r.waited(true);
        assert_eq!(skipped(&mut r), 0);
    }

    #[test]
    fn the_average_follows_the_disk() {
        let mut r = Round::default();
        r.synced(8 * MS);
        assert_eq!(r.sync, 8 * MS);
        r.synced(16 * MS);
        assert_eq!(r.sync, 9 * MS);
    }
}
