//! The gate of semi-synchronous replication: commits that are durable here wait until replicas have them.
//!
//! While the gate is on, the leader does not finish the commits of a group that it has made durable: it hands them to
//! the gate and goes on with the next group. [`crate::Log::acknowledge`] moves the gate and finishes what lies before
//! it. So `visible` is the shorter of two prefixes of one order, the durable one and the acknowledged one, and the log
//! is written at its own pace while acknowledgements are on their way.
//!
//! What is held is durable: taking it back is not possible, and a crash makes it visible. Only two things end the hold:
//! an acknowledgement, or letting go of everything ([`crate::Log::set_gate`] with [`Gate::Open`]).

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use crate::Seq;
use crate::slot::Slot;

mod pass;

/// What the gate holds back of a commit until it is acknowledged. Records that are no commits never wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum Gate {
    /// Nothing.
    #[default]
    Open = 0,
    /// The answer to the committer: readers see the commit as soon as it is durable (AFTER_COMMIT).
    Answers = 1,
    /// All: until then no reader sees the commit either (AFTER_SYNC).
    Visibility = 2,
}

impl Gate {
    fn from_u8(n: u8) -> Gate {
        match n {
            1 => Gate::Answers,
            2 => Gate::Visibility,
            _ => Gate::Open,
        }
    }
}

/// What the gate holds now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// Commits that wait for an acknowledgement.
    pub commits: u64,
    /// The first of them, and since when it is durable.
    pub first: Option<(Seq, Instant)>,
    /// The last commit that is held, for an acknowledgement or behind such a one; 0 if none is.
    pub last: Seq,
}

/// What the gate has done since the log was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GateStats {
    /// Commits that passed because they were acknowledged, those included whose acknowledgement was faster than the
    /// leader.
    pub acknowledged: u64,
    /// Commits that were let go without.
    pub let_go: u64,
    /// Commits that were held for some time.
    pub waits: u64,
    /// Microseconds that they were held, all together.
    pub wait_micros: u64,
}

#[derive(Debug)]
struct HeldSlot {
    slot: Arc<Slot>,
    since: Instant,
}

impl HeldSlot {
    fn wants_ack(&self) -> bool {
        !self.slot.kind.is_local()
    }
}

#[derive(Debug, Default)]
struct Waiting {
    /// Acknowledged up to here.
    acked: Seq,
    /// Commits in order, the first one not acknowledged.
    queue: VecDeque<HeldSlot>,
    /// Those of them that want an acknowledgement.
    commits: u64,
    stats: GateStats,
    /// For good open: the log is being closed.
    shut: bool,
}

impl Waiting {
    /// Takes what may pass from the front, in order.
    fn take_passed(&mut self, all: bool) -> Passed {
        let now = Instant::now();
        let mut passed = Passed::default();
        while let Some(front) = self.queue.front() {
            let acked = front.slot.at.seq <= self.acked;
            if !all && front.wants_ack() && !acked {
                break;
            }
            let Some(held) = self.queue.pop_front() else {
                break;
            };
            if held.wants_ack() {
                self.commits -= 1;
                let time = now.saturating_duration_since(held.since);
                self.stats.waits += 1;
                self.stats.wait_micros += time.as_micros() as u64;
                if acked {
                    self.stats.acknowledged += 1;
                } else {
                    self.stats.let_go += 1;
                }
            }
            passed.last_seq = held.slot.at.seq;
            passed.slots.push(held.slot);
        }
        passed
    }
}

/// Commits on their way out of the gate.
#[derive(Default)]
struct Passed {
    slots: Vec<Arc<Slot>>,
    last_seq: Seq,
}

/// The gate's state, a part of `Core`.
#[derive(Debug, Default)]
pub(crate) struct GateState {
    /// Changes under `waiting` only, and from `Open` under the order mutex too (see `publish_ready`).
    mode: AtomicU8,
    waiting: Mutex<Waiting>,
}

impl GateState {
    pub fn mode(&self) -> Gate {
        Gate::from_u8(self.mode.load(Ordering::SeqCst))
    }

    pub fn is_on(&self) -> bool {
        self.mode.load(Ordering::SeqCst) != Gate::Open as u8
    }

    pub fn held(&self) -> Held {
        let w = self.waiting.lock();
        Held {
            commits: w.commits,
            first: w.queue.front().map(|h| (h.slot.at.seq, h.since)),
            last: w.queue.back().map_or(0, |h| h.slot.at.seq),
        }
    }

    pub fn stats(&self) -> GateStats {
        self.waiting.lock().stats
    }
}
