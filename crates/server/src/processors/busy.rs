//! Whether all processors have work, or about the same.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long it takes at least until it is looked at again.
const EVERY: Duration = Duration::from_millis(100);
/// The idle shares of processors that have about the same work are no further apart, in percent.
const EVEN: u64 = 25;
/// What was seen longer ago says nothing about now.
const STALE: Duration = Duration::from_secs(1);

/// Looks at what the processors did lately, when somebody asks.
#[derive(Debug)]
pub(super) struct Busy {
    processors: Vec<usize>,
    start: Instant,
    /// Milliseconds since `start` of the next look.
    next: AtomicU64,
    busy: AtomicBool,
    last: Mutex<Option<(Instant, Vec<Times>)>>,
}

/// Clock ticks of a processor since the machine started.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Times {
    idle: u64,
    all: u64,
}

impl Times {
    fn since(self, old: Times) -> Times {
        Times {
            idle: self.idle.saturating_sub(old.idle),
            all: self.all.saturating_sub(old.all),
        }
    }
}

impl Busy {
    pub(super) fn new(processors: Vec<usize>) -> Busy {
        Busy {
            processors,
            start: Instant::now(),
            next: AtomicU64::new(0),
            busy: AtomicBool::new(false),
            last: Mutex::new(None),
        }
    }

    /// True if in the last tenth of a second the processors stood idle for at most a quarter of the time, all together; or
    /// for at most half of it, and each for about as long as the others.
    #[inline]
    pub(super) fn now(&self) -> bool {
        let now = self.start.elapsed().as_millis() as u64;
        let next = self.next.load(Ordering::Relaxed);
        if now >= next {
            let then = now + EVERY.as_millis() as u64;
            let mine = (self.next)
                .compare_exchange(next, then, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok();
            if mine && let Ok(stat) = std::fs::read_to_string("/proc/stat") {
                self.look(Instant::now(), times(&stat, &self.processors));
            }
        }
        self.busy.load(Ordering::Relaxed)
    }

    fn look(&self, at: Instant, new: Vec<Times>) {
        let mut last = self.last.lock();
        let busy = (last.as_ref())
            .is_some_and(|(then, old)| at.duration_since(*then) <= STALE && is_busy(old, &new));
        *last = Some((at, new));
        self.busy.store(busy, Ordering::Relaxed);
    }
}

/// The processors in the same order both times.
fn is_busy(old: &[Times], new: &[Times]) -> bool {
    let mut sum = Times::default();
    let (mut least, mut most) = (100, 0);
    for t in new.iter().zip(old).map(|(new, old)| new.since(*old)) {
        let percent = t.idle.min(t.all) * 100 / t.all.max(1);
        (least, most) = (percent.min(least), percent.max(most));
        sum.idle += t.idle;
        sum.all += t.all;
    }
    let even = most <= least + EVEN;
    sum.all > 0 && (sum.idle <= sum.all / 4 || (even && sum.idle <= sum.all / 2))
}

/// The lines of these processors in /proc/stat (proc(5)): user, nice, system, idle, iowait, irq, softirq, steal. A processor
/// that waits for a disk is idle.
fn times(stat: &str, processors: &[usize]) -> Vec<Times> {
    let mut found = Vec::with_capacity(processors.len());
    for line in stat.lines() {
        let Some((number, rest)) = line.strip_prefix("cpu").and_then(|l| l.split_once(' ')) else {
            continue;
        };
        if !number
            .parse()
            .is_ok_and(|n: usize| processors.binary_search(&n).is_ok())
        {
            continue;
        }
        let mut t = Times::default();
        for (i, field) in rest.split_ascii_whitespace().take(8).enumerate() {
            let ticks: u64 = field.parse().unwrap_or(0);
            t.all += ticks;
            if i == 3 || i == 4 {
                t.idle += ticks;
            }
        }
        found.push(t);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  60 0 60 600 60 0 0 0 0 0\n\
        cpu0 10 1 20 100 30 2 3 4 0 0\n\
        cpu1 10 0 20 200 10 0 0 0 0 0\n\
        cpu12 10 0 20 300 20 0 0 0 0 0\n\
        intr 1 2 3\n";

    fn t(idle: u64, all: u64) -> Times {
        Times { idle, all }
    }

    #[test]
    fn the_lines_of_the_given_processors_are_taken() {
        assert_eq!(times(STAT, &[0]), [t(130, 170)]);
        assert_eq!(times(STAT, &[0, 12]), [t(130, 170), t(320, 350)]);
        assert_eq!(times("", &[0]), []);
        let real = std::fs::read_to_string("/proc/stat").unwrap();
        let allowed = super::super::allowed().unwrap();
        assert_eq!(times(&real, &allowed).len(), allowed.len());
    }

    #[test]
    fn a_quarter_idle_is_busy_and_more_is_not_unless_all_have_the_same() {
        let old = [t(50, 100), t(7, 10)];
        let after = |one: u64, other: u64| is_busy(&old, &[t(50 + one, 200), t(7 + other, 110)]);
        assert!(after(0, 0));
        assert!(after(50, 0));
        assert!(!after(51, 0), "the other one has more to do");
        assert!(after(50, 25));
        assert!(!after(51, 25));
        assert!(after(50, 50), "half of the time, both of them");
        assert!(!after(51, 50));
        assert!(!is_busy(&old, &old), "no tick has passed");
        assert!(is_busy(&[t(0, 0)], &[t(50, 100)]), "the only one");
    }

    #[test]
    fn what_was_seen_long_ago_does_not_count() {
        let b = Busy::new(vec![0]);
        let (at, idle) = (Instant::now(), 10);
        let is = |b: &Busy| b.busy.load(Ordering::Relaxed);
        b.look(at, vec![t(idle, 10)]);
        assert!(!is(&b), "nothing to compare with");
        b.look(at + EVERY, vec![t(idle, 20)]);
        assert!(is(&b));
        b.look(at + EVERY + STALE * 2, vec![t(idle, 220)]);
        assert!(!is(&b));
        b.look(at + EVERY * 2 + STALE * 2, vec![t(idle, 230)]);
        assert!(is(&b));
    }
}
