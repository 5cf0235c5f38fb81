//! Not more than so many bytes a second.

use std::time::{Duration, Instant};

/// How far behind its rate a slow user may be and catch up.
const CREDIT: Duration = Duration::from_millis(200);
/// Bytes per second and processor that a copy takes beside others' work if nothing else is asked for. Two processors that
/// write all they can lose about a seventh of that to it, where it copies through the page cache and syncs.
const BESIDE_WORK: u64 = 40 << 20;
/// So many commits per second are work to be spared.
const FEW_COMMITS: u64 = 50;
/// How often they are counted.
const LOOK: Duration = Duration::from_millis(250);

/// Counts bytes against a rate.
#[derive(Debug)]
pub struct Throttle {
    bytes_per_second: u64,
    /// Up to when the bytes so far have used the rate up.
    until: Instant,
    /// Of a rate that counts only while the database has work.
    beside: Option<Work>,
}

#[derive(Debug)]
struct Work {
    commits: u64,
    since: Instant,
    busy: bool,
}

impl Throttle {
    /// `bytes_per_second`; 0: no limit.
    #[must_use]
    pub fn new(bytes_per_second: u64) -> Throttle {
        Throttle {
            bytes_per_second,
            until: Instant::now(),
            beside: None,
        }
    }

    /// A rate by the number of processors, but only while the database commits; `commits`: the number of its last one.
    #[must_use]
    pub fn beside_work(commits: u64) -> Throttle {
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        Throttle {
            beside: Some(Work {
                commits,
                since: Instant::now(),
                // Until it is known better.
                busy: true,
            }),
            ..Throttle::new(BESIDE_WORK * processors)
        }
    }

    /// So many bytes went, and the database's last commit has the number `commits`: how long to wait before more may go.
    pub fn after(&mut self, bytes: u64, commits: u64) -> Duration {
        self.after_at(bytes, commits, Instant::now())
    }

    fn after_at(&mut self, bytes: u64, commits: u64, now: Instant) -> Duration {
        if self.bytes_per_second == 0 {
            return Duration::ZERO;
        }
        if let Some(work) = &mut self.beside {
            let passed = now.saturating_duration_since(work.since);
            if passed >= LOOK {
                let new = commits.saturating_sub(work.commits);
                work.busy = new as f64 >= FEW_COMMITS as f64 * passed.as_secs_f64();
                (work.commits, work.since) = (commits, now);
            }
            if !work.busy {
                self.until = now;
                return Duration::ZERO;
            }
        }
        let from = self.until.max(now.checked_sub(CREDIT).unwrap_or(now));
        let takes = bytes as f64 / self.bytes_per_second as f64;
        self.until = from + Duration::from_secs_f64(takes.min(3600.0));
        self.until.saturating_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_add_up_to_the_rate() {
        let mut t = Throttle::new(1000);
        let waits: Vec<_> = (0..10).map(|_| t.after(100, 0)).collect();
        assert!(waits.windows(2).all(|w| w[1] >= w[0]));
        assert!(waits[9] >= Duration::from_millis(500), "{waits:?}");
        assert_eq!(Throttle::new(0).after(u64::MAX, 0), Duration::ZERO);
    }

    /// Copies for ten seconds by a clock that the waits move, at 5 ms per MiB, while there are so many commits a second; the
    /// rate that comes of it, in bytes per second.
    fn rate(commits_per_second: f64) -> f64 {
        let mut t = Throttle::beside_work(100);
        let begin = Instant::now();
        let (mut now, mut bytes) = (begin, 0);
        while now < begin + Duration::from_secs(10) {
            now += Duration::from_millis(5);
            bytes += 1 << 20;
            let commits = 100 + (commits_per_second * (now - begin).as_secs_f64()) as u64;
            now += t.after_at(1 << 20, commits, now);
        }
        bytes as f64 / (now - begin).as_secs_f64()
    }

    #[test]
    fn only_beside_work_it_is_slow() {
        let limit = {
            let t = Throttle::beside_work(0);
            t.bytes_per_second as f64
        };
        let fastest = 200.0 * f64::from(1 << 20);
        assert!(rate(0.0) > 0.9 * fastest, "{}", rate(0.0));
        assert!(rate(10.0) > 0.9 * fastest);
        let beside = rate(4000.0);
        assert!(beside <= 1.03 * limit.min(fastest), "{beside}");
        assert!(beside >= 0.9 * limit.min(fastest), "{beside}");
    }
}
