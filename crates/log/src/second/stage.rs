//! The work of the second stage: queueing what must be in the other log, leading, waiting.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::SecondLog;
use crate::Seq;
use crate::core::Core;
use crate::frame::{HEADER_LEN, RecordKind};
use crate::inner::Inner;
use crate::order::Room;
use crate::record::{RecordRef, frame_len};
use crate::slot::{HELD, HELD_SLEEPING, Slot, Tell};

/// Stops the log if the second log panics, instead of leaving its group without an end.
struct Taken<'a, S: Send + 'static> {
    inner: &'a Inner<S>,
    slots: Vec<Arc<Slot>>,
    finished: bool,
}

impl<S: Send + 'static> Drop for Taken<'_, S> {
    fn drop(&mut self) {
        if !self.finished {
            let slots = std::mem::take(&mut self.slots);
            self.inner.fail_with(
                "the thread that was writing the second log panicked".into(),
                slots,
            );
        }
    }
}

impl Core {
    /// A group is in the first log: keeps what must be in the second one, too, and finishes the rest. `tell` gets those
    /// who are finished and must be told. False if there is nothing to keep.
    pub fn queue_second(&self, slots: &[Arc<Slot>], tell: &mut Tell) -> bool {
        let wanted = |s: &Slot| s.is_commit() || (!s.barrier && s.kind == RecordKind::State);
        if !slots.iter().any(|s| wanted(s)) {
            return false;
        }
        let mut queue = self.second.queue.lock();
        for s in slots {
            if wanted(s) && s.hold() {
                queue.push_back(s.clone());
            } else {
                tell.extend(s.finish().map(|owner| (s.clone(), owner)));
            }
        }
        true
    }
}

impl<S: Send + 'static> Inner<S> {
    /// Brings what is queued into the second log, if nobody is doing that. What comes meanwhile is left to one of those
    /// who wait for it, if one sleeps.
    pub(crate) fn lead_second(&self) {
        let second = &self.core.second;
        let Some(log) = second.log.get() else {
            return;
        };
        loop {
            let Some(lead) = second.try_lead() else {
                return;
            };
            self.append_group(log);
            drop(lead);
            // A committer that came meanwhile found this thread leading, so one of those must be woken.
            let sleeper = {
                let queue = second.queue.lock();
                if queue.is_empty() {
                    return;
                }
                queue
                    .iter()
                    .find(|s| {
                        s.state
                            .compare_exchange(
                                HELD_SLEEPING,
                                HELD,
                                Ordering::SeqCst,
                                Ordering::SeqCst,
                            )
                            .is_ok()
                    })
                    .cloned()
            };
            if let Some(s) = sleeper {
                s.wake();
                return;
            }
        }
    }

    /// The owner of a slot in the second stage leads it, or sleeps until the slot is finished or it is asked to lead.
    pub(crate) fn wait_second(&self, slot: &Slot) {
        slot.sleeper.get_or_init(std::thread::current);
        self.lead_second();
        let change = |from, to| {
            slot.state
                .compare_exchange(from, to, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok()
        };
        if !change(HELD, HELD_SLEEPING) {
            return;
        }
        let second = &self.core.second;
        if !second.leading.load(Ordering::SeqCst) && !second.queue.lock().is_empty() {
            change(HELD_SLEEPING, HELD);
            return;
        }
        while slot.state.load(Ordering::SeqCst) == HELD_SLEEPING {
            std::thread::park();
        }
    }

    /// Waits until nothing is on its way to the second log.
    pub(crate) fn finish_second(&self) {
        let second = &self.core.second;
        while second.is_on() && self.core.failed.get().is_none() {
            self.lead_second();
            if !second.leading.load(Ordering::SeqCst) && second.queue.lock().is_empty() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }

    fn append_group(&self, log: &Arc<dyn SecondLog>) {
        let mut taken = Taken {
            inner: self,
            slots: self.core.second.take(),
            finished: false,
        };
        let Some(last_seq) = taken.slots.last().map(|s| s.at.seq) else {
            taken.finished = true;
            return;
        };
        let group: Vec<RecordRef<'_>> = (taken.slots.iter())
            .filter_map(|s| {
                Some(RecordRef {
                    lsn: s.at.lsn,
                    end_lsn: s.at.end_lsn,
                    kind: s.kind,
                    seq: s.at.seq,
                    body: s.buf.get()?.get(HEADER_LEN..)?,
                })
            })
            .collect();
        let appended = log.append(&group, &|| self.sync_aside(0));
        taken.finished = true;
        if let Err(text) = appended {
            self.fail_with(text, std::mem::take(&mut taken.slots));
            return;
        }
        self.mark_committed(last_seq);
        // Visible first: a committer that finds itself done must see its own commit.
        self.core.publish(last_seq);
        self.core.progress.notify();
        let owners = taken.slots.iter().filter_map(|s| Some((s, s.finish()?)));
        // All are done before the first one is woken and takes the processor away.
        for (s, owner) in owners.collect::<Vec<_>>() {
            s.tell(owner, || Ok(()));
        }
    }

    /// Puts into the queue that every commit up to `seq` is in the second log. Without room it is left out: it only saves
    /// the next start a look into the second log.
    fn mark_committed(&self, seq: Seq) {
        let core = &self.core;
        let mut order = self.order.lock();
        // Nothing stands behind a shutdown record.
        if core.closed.load(Ordering::Acquire) || !matches!(order.room(frame_len(8)), Room::Here) {
            return;
        }
        order.start_segment_if_needed(core);
        order.push_own(core, RecordKind::CommitMark, seq);
    }
}
