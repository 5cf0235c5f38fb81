//! How many syncs of the log may run at once, found out by measuring.
//!
//! Some disks work on several syncs at once: network volumes, disks without a volatile cache. There, a group that waits for
//! the sync before it loses up to one sync. On other disks one flush waits for the other: a second sync beside the first
//! only takes longer, and groups become smaller.
//!
//! So the log measures syncs that run alone, lets some run together, and goes on with that while these take hardly longer.
//! Short syncs stay alone, because smaller groups cost more work than could be won. When all processors are busy, a thread
//! whose sync has ended waits for one of them, often for longer than a fast disk takes. So these waits are measured and
//! subtracted before syncs may run together.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// No more run at once, whatever is asked for.
pub(crate) const MOST_SYNCS: u32 = 16;
/// Where the disk takes less, syncs run alone.
const SHORTEST_SYNC: Duration = Duration::from_micros(300);
/// Syncs alone before the next try.
const ALONE: u32 = 16;
/// Syncs together that are judged at once.
const TOGETHER: u32 = 32;
/// After so many of them it is measured anew what one takes alone.
const REFRESH: u32 = 2048;
/// After the n-th failure in a row `ALONE << n`, at most `ALONE << 6`, run alone.
const MOST_FAILURES: u32 = 6;

/// Whether `gathered` commits are a group of their own while `sent` others are on their way. A few have a sync each; of
/// many, about a quarter makes a group: smaller ones cost more work.
pub(crate) fn is_enough(gathered: u32, sent: u32) -> bool {
    gathered > 0 && gathered.saturating_mul(3).saturating_add(4) >= sent
}

/// How long this thread has been ready to run without a processor, ever, if the kernel tells (proc_pid_schedstat(5)).
fn waited() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

/// A sync that runs.
pub(crate) struct Watch {
    waited: Option<Duration>,
    begun: Instant,
}

/// How long a sync took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    /// For the thread.
    pub(crate) all: Duration,
    /// Without what the thread waited for a processor, if that was looked at.
    pub(crate) disk: Duration,
}

impl Watch {
    /// The sync has ended.
    pub(crate) fn took(&self) -> Took {
        let all = self.begun.elapsed();
        let waited = self.waited.and_then(|before| waited()?.checked_sub(before));
        Took {
            all,
            disk: all.saturating_sub(waited.unwrap_or_default()),
        }
    }
}

#[derive(Debug)]
struct Judge {
    /// What a sync takes alone, a moving average.
    alone: Duration,
    /// The shortest of those that ran alone since it was last measured: what the disk takes, without what the thread waited
    /// for a processor.
    shortest: Duration,
    /// So many more are to run alone; 0: they may run together.
    left: u32,
    /// The last of these have seemed slow, and are looked at closely: see [`Watch`].
    close: bool,
    /// Of syncs together, since they were last judged.
    count: u32,
    sum: Duration,
    /// Since they may run together.
    total: u32,
    failures: u32,
}

impl Judge {
    fn new() -> Judge {
        Judge {
            alone: Duration::ZERO,
            shortest: Duration::MAX,
            left: ALONE,
            close: false,
            count: 0,
            sum: Duration::ZERO,
            total: 0,
            failures: 0,
        }
    }

    /// A sync took so long, with others beside it or not. Whether they may run together.
    fn synced(&mut self, took: Took, company: bool) -> bool {
        let Took { all: took, disk } = took;
        if !company {
            self.alone = if self.alone.is_zero() {
                took
            } else {
                // One that stood still for long tells nothing of the others.
                (self.alone * 7 + took.min(self.alone * 4)) / 8
            };
            self.shortest = self.shortest.min(disk);
            if self.left > 0 {
                self.left -= 1;
                if self.left == 0 {
                    self.begin();
                }
            }
        } else if self.left == 0 {
            self.count += 1;
            self.total += 1;
            self.sum += took.min(self.alone * 4);
            if self.count == TOGETHER {
                self.decide();
            }
        }
        self.left == 0
    }

    /// So many are to run alone, and tell anew what that takes.
    fn measure(&mut self, syncs: u32) {
        self.left = syncs;
        self.close = false;
        self.alone = Duration::ZERO;
        self.shortest = Duration::MAX;
    }

    fn begin(&mut self) {
        if self.shortest < SHORTEST_SYNC {
            self.measure(ALONE);
        } else if !self.close {
            self.measure(ALONE);
            self.close = true;
        } else {
            self.close = false;
        }
        (self.count, self.sum, self.total) = (0, Duration::ZERO, 0);
    }

    fn fail(&mut self) {
        self.measure(ALONE << self.failures);
        self.failures = (self.failures + 1).min(MOST_FAILURES);
    }

    fn decide(&mut self) {
        // 1.3 times as long: where flushes wait for each other it is 1.5 times and more.
        let good = self.sum * 10 <= self.alone * 13 * self.count;
        (self.count, self.sum) = (0, Duration::ZERO);
        if !good {
            self.fail();
        } else {
            self.failures = 0;
            if self.total >= REFRESH {
                self.measure(ALONE);
            }
        }
    }
}

/// How many syncs may run at once.
#[derive(Debug)]
pub(crate) struct Overlap {
    most: u32,
    now: AtomicU32,
    judge: Mutex<Judge>,
}

impl Overlap {
    /// At most `most` at once, no more than [`MOST_SYNCS`]; 0 and 1 both mean one.
    pub(crate) fn new(most: u32) -> Overlap {
        Overlap {
            most: most.clamp(1, MOST_SYNCS),
            now: AtomicU32::new(1),
            judge: Mutex::new(Judge::new()),
        }
    }

    /// Only one at a time until the next look.
    pub(crate) fn forbid(&self) {
        let mut judge = self.judge.lock();
        judge.fail();
        self.now.store(1, Ordering::SeqCst);
    }

    /// How many may run at once now.
    pub(crate) fn limit(&self) -> u32 {
        self.now.load(Ordering::SeqCst)
    }

    /// A sync begins, on this thread.
    pub(crate) fn watch(&self) -> Watch {
        let close = self.most > 1 && self.judge.lock().close;
        Watch {
            waited: close.then(waited).flatten(),
            begun: Instant::now(),
        }
    }

    /// A sync took so long; `company`: another one ran beside it for some of that time. Whether from now on several may run
    /// at once, and before not.
    pub(crate) fn synced(&self, took: Took, company: bool) -> bool {
        if self.most > 1 {
            let mut judge = self.judge.lock();
            let together = judge.synced(took, company);
            let now = if together { self.most } else { 1 };
            if self.limit() != now {
                self.now.store(now, Ordering::SeqCst);
                return together;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    const MS: Duration = Duration::from_millis(1);

    /// A sync whose thread never waited for a processor.
    fn sync(o: &Overlap, took: Duration, company: bool) {
        o.synced(
            Took {
                all: took,
                disk: took,
            },
            company,
        );
    }

    /// Syncs until they may run together; how many it took, at most `most`.
    fn alone(o: &Overlap, took: Duration, most: u32) -> u32 {
        (0..most)
            .find(|_| {
                sync(o, took, false);
                o.limit() > 1
            })
            .map_or(most, |n| n + 1)
    }

    /// Syncs together until they may not.
    fn together(o: &Overlap, took: Duration, most: u32) -> u32 {
        (0..most)
            .find(|_| {
                sync(o, took, true);
                o.limit() == 1
            })
            .map_or(most, |n| n + 1)
    }

    #[test]
    fn slow_syncs_that_do_not_hinder_each_other_run_together() {
        let o = Overlap::new(4);
        assert_eq!(o.limit(), 1);
        assert_eq!(alone(&o, 2 * MS, 100), 2 * ALONE);
        assert_eq!(o.limit(), 4);
        assert_eq!(
            together(&o, 2 * MS + MS / 2, 10_000),
            REFRESH,
            "until it is measured anew"
        );
        assert_eq!(alone(&o, 2 * MS, 100), 2 * ALONE);
    }

    #[test]
    fn syncs_that_wait_for_each_other_run_alone_ever_longer() {
        let o = Overlap::new(4);
        assert_eq!(alone(&o, 2 * MS, 10_000), 2 * ALONE);
        for n in [0, 1, 2, 3, 4, 5, 6, 6] {
            assert_eq!(together(&o, 3 * MS, 10_000), TOGETHER);
            assert_eq!(alone(&o, 2 * MS, 10_000), (ALONE << n) + ALONE);
        }
        assert_eq!(together(&o, 2 * MS, TOGETHER), TOGETHER);
        assert_eq!(o.limit(), 4, "one success");
        assert_eq!(together(&o, 3 * MS, 10_000), TOGETHER);
        assert_eq!(
            alone(&o, 2 * MS, 10_000),
            2 * ALONE,
            "and failures count anew"
        );
    }

    #[test]
    fn short_syncs_and_a_limit_of_one_stay_alone() {
        let o = Overlap::new(4);
        assert_eq!(
            alone(&o, SHORTEST_SYNC - Duration::from_nanos(1), 1000),
            1000
        );
        for most in [0, 1] {
            let o = Overlap::new(most);
            assert_eq!(alone(&o, 2 * MS, 1000), 1000);
        }
    }

    #[test]
    fn waits_for_a_processor_are_not_the_disk() {
        let o = Overlap::new(4);
        for n in 0..1000 {
            sync(&o, if n % ALONE == 3 { MS / 8 } else { MS }, false);
            assert_eq!(o.limit(), 1);
        }
    }

    #[test]
    fn a_thread_that_always_waits_for_a_processor_is_no_slow_disk() {
        let o = Overlap::new(4);
        for n in 0..1000 {
            // What it waited is known only while syncs are looked at closely.
            let close = o.watch().waited.is_some();
            assert_eq!(close, n / ALONE % 2 == 1, "sync {n}");
            let disk = if close { MS / 8 } else { MS };
            o.synced(Took { all: MS, disk }, false);
            assert_eq!(o.limit(), 1);
        }
    }

    #[test]
    fn what_a_thread_waits_for_a_processor_is_told_by_the_kernel() {
        let before = waited();
        let done = AtomicBool::new(false);
        std::thread::scope(|s| {
            let busy = 4 * std::thread::available_parallelism().map_or(1, usize::from);
            for _ in 0..busy {
                s.spawn(|| {
                    while !done.load(Ordering::Relaxed) {
                        std::hint::spin_loop()
                    }
                });
            }
            // Each turn of the others is a wait.
            for _ in 0..100_000 {
                std::thread::yield_now();
                if waited() > before {
                    break;
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        // A kernel that does not count it has 0 in each place.
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        let counts = text.split_ascii_whitespace().any(|n| n != "0");
        assert!(!counts || waited() > before, "{before:?}, then {text}");
    }

    #[test]
    fn those_that_stop_being_slow_are_alone_after_the_next_look() {
        let o = Overlap::new(4);
        alone(&o, 2 * MS, 100);
        // In between one runs alone now and then.
        for _ in 0..REFRESH * 2 {
            sync(&o, MS / 10, true);
            if o.limit() == 1 {
                break;
            }
        }
        assert_eq!(alone(&o, MS / 10, 1000), 1000);
    }
}
