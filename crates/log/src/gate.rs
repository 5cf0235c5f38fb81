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
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::Seq;
use crate::core::Core;
use crate::flight::Tell;
use crate::log::{DONE, FILLED, HELD, HELD_LEFT, HELD_SLEEPING, LEFT, Owner, SLEEPING, Slot};

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

/// The gate's state, a part of [`Core`].
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

impl Core {
    /// A durable group comes to the gate: finishes what may pass and keeps the rest. `tell` gets those who are finished
    /// and must be told. False if the gate is open.
    pub fn gate_group(&self, slots: &[Arc<Slot>], tell: &mut Tell) -> bool {
        if !self.gate.is_on() {
            return false;
        }
        let since = Instant::now();
        let mut waiting = self.gate.waiting.lock();
        let w = &mut *waiting;
        let mode = self.gate.mode();
        if mode == Gate::Open {
            return false;
        }
        let mut visible = 0;
        for s in slots {
            if !s.is_commit() {
                continue;
            }
            let local = s.kind.is_local();
            let acked = local || s.at.seq <= w.acked;
            let pass = match mode {
                Gate::Visibility => acked && w.queue.is_empty(),
                _ => acked,
            };
            if pass || mode == Gate::Answers {
                visible = s.at.seq;
            }
            if pass {
                w.stats.acknowledged += u64::from(!local);
            } else if s.hold() {
                w.commits += u64::from(!local);
                w.queue.push_back(HeldSlot {
                    slot: s.clone(),
                    since,
                });
            }
        }
        drop(waiting);
        // Visible first: a committer that finds itself done must see its own commit.
        self.publish(visible);
        for s in slots {
            if !s.is_held() {
                tell.extend(s.finish().map(|owner| (s.clone(), owner)));
            }
        }
        true
    }

    /// Every commit up to `seq` is acknowledged.
    pub fn acknowledge(&self, seq: Seq) {
        let passed = {
            let mut w = self.gate.waiting.lock();
            if seq <= w.acked {
                return;
            }
            w.acked = seq;
            w.take_passed(false)
        };
        self.finish_passed(&passed);
    }

    /// Changes what the gate does. The caller holds the order mutex unless `mode` is `Open`.
    pub fn set_gate(&self, mode: Gate) {
        let passed = {
            let mut w = self.gate.waiting.lock();
            let mode = if w.shut { Gate::Open } else { mode };
            self.gate.mode.store(mode as u8, Ordering::SeqCst);
            match mode {
                Gate::Open => w.take_passed(true),
                Gate::Answers => Passed {
                    last_seq: w.queue.back().map_or(0, |h| h.slot.at.seq),
                    slots: Vec::new(),
                },
                Gate::Visibility => Passed::default(),
            }
        };
        self.finish_passed(&passed);
    }

    /// Lets go of everything, and of all that comes.
    pub fn shut_gate(&self) {
        self.gate.waiting.lock().shut = true;
        self.set_gate(Gate::Open);
    }

    fn finish_passed(&self, passed: &Passed) {
        if passed.last_seq == 0 {
            return;
        }
        self.publish(passed.last_seq);
        self.progress.notify();
        let owners = passed.slots.iter().filter_map(|s| Some((s, s.finish()?)));
        // All are done before the first one is woken and takes the processor away.
        for (s, owner) in owners.collect::<Vec<_>>() {
            s.tell(owner, || Ok(()));
        }
    }
}

/// How long a waiter of the gate sleeps before it asks whether it should give up.
pub(crate) const GIVE_UP_SLICE: Duration = Duration::from_millis(50);

impl Slot {
    /// The gate, or the second stage, keeps it; false if it was finished before (mode 0 had published it).
    pub fn hold(&self) -> bool {
        self.state
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |st| match st {
                FILLED => Some(HELD),
                SLEEPING => Some(HELD_SLEEPING),
                LEFT => Some(HELD_LEFT),
                _ => None,
            })
            .is_ok()
    }

    fn is_held(&self) -> bool {
        matches!(
            self.state.load(Ordering::SeqCst),
            HELD | HELD_SLEEPING | HELD_LEFT
        )
    }

    /// Marks it done; its owner, if that must be told.
    pub fn finish(&self) -> Option<Owner> {
        Owner::of(self.state.swap(DONE, Ordering::SeqCst))
    }

    /// The owner waits for the gate; false if `give_up` said so.
    pub fn wait_held(&self, give_up: &mut dyn FnMut() -> bool) -> bool {
        self.sleeper.get_or_init(std::thread::current);
        loop {
            match self.state.load(Ordering::SeqCst) {
                HELD => {
                    let _ = self.state.compare_exchange(
                        HELD,
                        HELD_SLEEPING,
                        Ordering::SeqCst,
                        Ordering::SeqCst,
                    );
                }
                HELD_SLEEPING => {
                    if give_up() {
                        let _ = self.state.compare_exchange(
                            HELD_SLEEPING,
                            HELD,
                            Ordering::SeqCst,
                            Ordering::SeqCst,
                        );
                        return self.state.load(Ordering::SeqCst) >= DONE;
                    }
                    std::thread::park_timeout(GIVE_UP_SLICE);
                }
                _ => return true,
            }
        }
    }
}
