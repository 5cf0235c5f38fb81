//! How far a replica is behind: in bytes, groups and time, from when what arrived and up to where it was applied.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Arrivals are noted this far apart at least.
const GRAIN: Duration = Duration::from_millis(10);
/// Most notes that are kept: beyond that, every other one goes.
const MAX_MARKS: usize = 1 << 14;

/// An offset in a source's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) file: Arc<str>,
    pub(crate) pos: u64,
}

impl At {
    /// Whether this is at `other` or behind it. Names of files count up.
    pub(crate) fn reaches(&self, other: &At) -> bool {
        compare(&self.file, self.pos, &other.file, other.pos).is_ge()
    }
}

/// The order of two places in a source's log.
pub(crate) fn compare(file: &str, pos: u64, other: &str, other_pos: u64) -> std::cmp::Ordering {
    if file == other {
        return pos.cmp(&other_pos);
    }
    let number = |name: &str| -> Option<u64> { name.rsplit_once('.')?.1.parse().ok() };
    match (number(file), number(other)) {
        (Some(a), Some(b)) if a != b => a.cmp(&b),
        _ => file.cmp(other),
    }
}

/// The arrival of a group.
#[derive(Debug, Clone)]
struct Mark {
    /// Behind it.
    end: At,
    arrived: Instant,
    /// Seconds since 1970 by the source's clock.
    timestamp: u32,
    /// Everything received up to its end.
    bytes: u64,
    groups: u64,
}

/// What was received, and when.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    /// Oldest first, those that are not applied yet. The last one is always the newest group.
    marks: VecDeque<Mark>,
    /// Of what is not applied.
    bytes: u64,
    groups: u64,
    /// Of the last group.
    last_bytes: u64,
}

/// What is not applied of what was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Backlog {
    pub(crate) bytes: u64,
    pub(crate) groups: u64,
    /// How long ago the oldest of it arrived.
    pub(crate) age: Duration,
    /// Its timestamp.
    pub(crate) timestamp: u32,
}

impl Arrivals {
    pub(crate) fn clear(&mut self) {
        *self = Arrivals::default();
    }

    /// A group of `bytes` has arrived.
    pub(crate) fn group(&mut self, end: At, bytes: u64, timestamp: u32, now: Instant) {
        self.bytes += bytes;
        self.groups += 1;
        self.last_bytes = bytes;
        let mark = Mark {
            end,
            arrived: now,
            timestamp,
            bytes: self.bytes,
            groups: self.groups,
        };
        let n = self.marks.len();
        // The newest one is exact; among the older ones one for each grain will do.
        if n >= 2 && now.saturating_duration_since(self.marks[n - 2].arrived) < GRAIN {
            // It keeps the time at which the first of its grain arrived.
            let (arrived, timestamp) = (self.marks[n - 1].arrived, self.marks[n - 1].timestamp);
            self.marks[n - 1] = Mark {
                arrived,
                timestamp,
                ..mark
            };
            return;
        }
        if n >= MAX_MARKS {
            let mut i = 0;
            self.marks.retain(|_| {
                i += 1;
                i % 2 == 0
            });
        }
        self.marks.push_back(mark);
    }

    /// Bytes of a group: of those that wait, in the mean, or of the last one.
    pub(crate) fn usual(&self) -> u64 {
        match self.groups {
            0 => self.last_bytes,
            n => self.bytes / n,
        }
    }

    /// Everything up to `done` is applied; `None`: nothing is left.
    pub(crate) fn backlog(&mut self, done: &At, now: Instant) -> Option<Backlog> {
        let mut passed = None;
        while self.marks.front().is_some_and(|m| done.reaches(&m.end)) {
            passed = self.marks.pop_front();
        }
        if let Some(p) = passed {
            // What was applied with it counts for the ones that follow.
            self.marks_base(p.bytes, p.groups);
        }
        let oldest = self.marks.front()?;
        Some(Backlog {
            bytes: self.bytes,
            groups: self.groups,
            age: now.saturating_duration_since(oldest.arrived),
            timestamp: oldest.timestamp,
        })
    }

    /// Takes off what is applied.
    fn marks_base(&mut self, bytes: u64, groups: u64) {
        self.bytes -= bytes;
        self.groups -= groups;
        for m in &mut self.marks {
            m.bytes -= bytes;
            m.groups -= groups;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(file: &str, pos: u64) -> At {
        At {
            file: file.into(),
            pos,
        }
    }

    #[test]
    fn order_of_places() {
        assert!(at("b.000002", 4).reaches(&at("b.000001", 999)));
        assert!(at("b.1000000", 4).reaches(&at("b.999999", 999)));
        assert!(!at("b.000001", 10).reaches(&at("b.000001", 11)));
        assert!(at("b.000001", 11).reaches(&at("b.000001", 11)));
    }

    #[test]
    fn what_is_left() {
        let t = Instant::now();
        let mut a = Arrivals::default();
        assert_eq!(a.backlog(&at("", 0), t), None);
        for i in 1..=10u64 {
            let now = t + Duration::from_millis(20 * i);
            a.group(at("b.000001", 100 * i), 100, 1000 + i as u32, now);
        }
        let now = t + Duration::from_secs(1);
        let all = a.backlog(&at("b.000001", 4), now).unwrap();
        assert_eq!(
            (all.bytes, all.groups, all.timestamp, all.age),
            (1000, 10, 1001, Duration::from_millis(980))
        );
        let some = a.backlog(&at("b.000001", 450), now).unwrap();
        assert_eq!((some.bytes, some.groups, some.timestamp), (600, 6, 1005));
        assert_eq!(a.backlog(&at("b.000002", 4), now), None);
        a.group(at("b.000002", 300), 50, 1011, now);
        assert_eq!(a.backlog(&at("b.000002", 4), now).unwrap().bytes, 50);
    }

    #[test]
    fn many_at_once_take_little_room() {
        let t = Instant::now();
        let mut a = Arrivals::default();
        for i in 1..=100_000u64 {
            a.group(
                at("b.000001", 100 * i),
                100,
                7,
                t + Duration::from_micros(i),
            );
        }
        assert!(a.marks.len() < 30, "{}", a.marks.len());
        let last = a.backlog(&at("b.000001", 100 * 99_999), t).unwrap();
        assert_eq!(last.bytes % 100, 0);
        assert_eq!(a.backlog(&at("b.000001", 100 * 100_000), t), None);
    }

    #[test]
    fn notes_are_bounded() {
        let t = Instant::now();
        let mut a = Arrivals::default();
        for i in 1..=40_000u64 {
            a.group(at("b.000001", i), 1, 7, t + GRAIN * i as u32);
        }
        assert!(a.marks.len() <= MAX_MARKS);
        assert_eq!(a.backlog(&at("b.000001", 0), t).unwrap().groups, 40_000);
        assert_eq!(a.backlog(&at("b.000001", 40_000), t), None);
    }
}
