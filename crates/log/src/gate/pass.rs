//! What happens at the gate: commits come to it, are acknowledged, and pass.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::{Gate, HeldSlot, Passed};
use crate::Seq;
use crate::core::Core;
use crate::slot::{Slot, Tell};

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
