//! Whether all processors have work.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long it takes at least until it is looked at again.
const EVERY: Duration = Duration::from_millis(100);
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
    last: Mutex<Option<(Instant, Times)>>,
}

/// Clock ticks since the machine started.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Times {
    idle: u64,
    all: u64,
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

    /// True if the processors stood idle for at most a quarter of the last tenth of a second, all together.
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

    fn look(&self, at: Instant, new: Times) {
        let before = self.last.lock().replace((at, new));
        let busy =
            before.is_some_and(|(then, old)| at.duration_since(then) <= STALE && is_busy(old, new));
        self.busy.store(busy, Ordering::Relaxed);
    }
}

fn is_busy(old: Times, new: Times) -> bool {
    let idle = new.idle.saturating_sub(old.idle);
    let all = new.all.saturating_sub(old.all);
    all > 0 && idle <= all / 4
}

/// Sums over these processors' lines of /proc/stat (proc(5)): user, nice, system, idle, iowait, irq, softirq, steal. A
/// processor that waits for a disk is idle.
fn times(stat: &str, processors: &[usize]) -> Times {
    let mut sum = Times { idle: 0, all: 0 };
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
        for (i, field) in rest.split_ascii_whitespace().take(8).enumerate() {
            let ticks: u64 = field.parse().unwrap_or(0);
            sum.all += ticks;
            if i == 3 || i == 4 {
                sum.idle += ticks;
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  60 0 60 600 60 0 0 0 0 0\n\
        cpu0 10 1 20 100 30 2 3 4 0 0\n\
        cpu1 10 0 20 200 10 0 0 0 0 0\n\
        cpu12 10 0 20 300 20 0 0 0 0 0\n\
        intr 1 2 3\n";

    #[test]
    fn lines_of_the_given_processors_are_summed() {
        assert_eq!(
            times(STAT, &[0]),
            Times {
                idle: 130,
                all: 170
            }
        );
        assert_eq!(
            times(STAT, &[0, 12]),
            Times {
                idle: 450,
                all: 520
            }
        );
        assert_eq!(times("", &[0]), Times { idle: 0, all: 0 });
        let real = std::fs::read_to_string("/proc/stat").unwrap();
        assert!(times(&real, &super::super::allowed().unwrap()).all > 0);
    }

    #[test]
    fn a_quarter_idle_is_busy_and_more_is_not() {
        let old = Times { idle: 50, all: 100 };
        let after = |idle, all| is_busy(old, Times { idle, all });
        assert!(after(50, 140));
        assert!(after(60, 140));
        assert!(!after(61, 140));
        assert!(!after(50, 100), "no tick has passed");
    }

    #[test]
    fn what_was_seen_long_ago_does_not_count() {
        let b = Busy::new(vec![0]);
        let (at, idle) = (Instant::now(), 10);
        let is = |b: &Busy| b.busy.load(Ordering::Relaxed);
        b.look(at, Times { idle, all: 10 });
        assert!(!is(&b), "nothing to compare with");
        b.look(at + EVERY, Times { idle, all: 20 });
        assert!(is(&b));
        b.look(at + EVERY + STALE * 2, Times { idle, all: 220 });
        assert!(!is(&b));
        b.look(at + EVERY * 2 + STALE * 2, Times { idle, all: 230 });
        assert!(is(&b));
    }
}
