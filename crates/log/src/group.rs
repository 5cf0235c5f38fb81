//! Group commit: leader and followers.
//!
//! Whoever needs a flush and finds nobody leading leads: it takes every complete record at the front of the queue,
//! writes them with one vectored write, syncs once, publishes, hands the lead to a sleeper whose record is ready and
//! wakes its own followers. While it syncs the next group gathers in the queue. A lone committer leads itself and
//! switches no thread.
//!
//! No wake-up is lost because every pair of steps that could miss each other is ordered by sequentially consistent
//! atomics: a committer first says "I sleep" (slot state) and then looks whether somebody leads; a leader first says
//! "nobody leads" and then looks for sleepers. Likewise a committer first makes its record ready and then looks whether
//! it must lead, so a leader that stopped in front of an unfinished record needs to tell nobody: the record's owner
//! comes to lead. In mode 0 owners do not lead: whoever publishes wakes the waits for a sync that it passes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::core::Durability;
use crate::error::LogError;
use crate::frame::{HEADER_LEN, RecordKind};
use crate::gate::GIVE_UP_SLICE;
use crate::log::{
    DONE, FAILED, FILLED, HELD, HELD_SLEEPING, Inner, LEFT, OnDone, Owner, RESERVED, SLEEPING, Slot,
};
use crate::segment::Segment;
use crate::stats::Counters;

/// Modes 2 and 0: chunk writers sync when more than this is written and not durable.
const SYNC_BEHIND: u64 = 8 << 20;

/// Slots taken out of the queue by a leader. If the leader panics the log fails instead of hanging.
struct Batch<'a, S: Send + 'static> {
    inner: &'a Inner<S>,
    slots: Vec<Arc<Slot>>,
    finished: bool,
}

impl<S: Send + 'static> Drop for Batch<'_, S> {
    fn drop(&mut self) {
        if !self.finished {
            let slots = std::mem::take(&mut self.slots);
            self.inner
                .fail_with("the thread that was writing the log panicked".into(), slots);
            self.inner.leading.store(false, Ordering::SeqCst);
        }
    }
}

impl<S: Send + 'static> Inner<S> {
    /// Waits for a slot; see [`crate::Log::wait`].
    pub(crate) fn wait_slot(&self, slot: &Arc<Slot>) -> Result<(), LogError> {
        self.wait_slot_or(slot, &mut || false)
    }

    /// Waits for a slot; at the gate no longer than until `give_up()`.
    pub(crate) fn wait_slot_or(
        &self,
        slot: &Arc<Slot>,
        give_up: &mut dyn FnMut() -> bool,
    ) -> Result<(), LogError> {
        loop {
            match slot.state.load(Ordering::SeqCst) {
                DONE => return Ok(()),
                FAILED => {
                    self.core.check()?;
                    return Err(LogError::Failed("the log has stopped".into()));
                }
                RESERVED => return Err(LogError::Misuse("wait before fill")),
                HELD | HELD_SLEEPING if self.core.second.is_on() => {
                    self.wait_second(slot);
                    continue;
                }
                HELD | HELD_SLEEPING => {
                    if slot.wait_held(give_up) {
                        continue;
                    }
                    return Err(LogError::GivenUp);
                }
                _ => {}
            }
            if !slot.barrier && self.core.mode() == Durability::Buffered {
                self.publish_ready();
                self.limit_buffer(slot)?;
            } else if self.try_lead() {
                self.lead(slot);
            }
            if matches!(slot.state.load(Ordering::SeqCst), FILLED) {
                self.sleep(slot);
            }
        }
    }

    /// Sleeps until the slot is finished or its owner is asked to look again.
    fn sleep(&self, slot: &Arc<Slot>) {
        slot.sleeper.get_or_init(std::thread::current);
        if slot
            .state
            .compare_exchange(FILLED, SLEEPING, Ordering::SeqCst, Ordering::SeqCst)
            .is_err()
        {
            return;
        }
        if self.can_move(slot) {
            // Back to work, unless it was finished meanwhile.
            let _ =
                slot.state
                    .compare_exchange(SLEEPING, FILLED, Ordering::SeqCst, Ordering::SeqCst);
            return;
        }
        while slot.state.load(Ordering::SeqCst) == SLEEPING {
            // The gate does not wake whom it keeps, but who waits there must look around now and then.
            if self.core.gate.is_on() {
                std::thread::park_timeout(GIVE_UP_SLICE);
            } else {
                std::thread::park();
            }
        }
    }

    /// Whether somebody else can be left to finish a record.
    pub(crate) fn can_leave(&self) -> bool {
        self.background.runs()
            && self.core.mode() != Durability::Buffered
            && !self.core.gate.is_on()
    }

    /// See [`crate::Log::leave`].
    pub(crate) fn leave_slot(&self, slot: &Arc<Slot>, then: &Arc<dyn OnDone>) -> bool {
        if !self.can_leave() || !self.leading.load(Ordering::SeqCst) {
            return false;
        }
        slot.left.get_or_init(|| then.clone());
        let swap = |from, to| {
            let o = Ordering::SeqCst;
            slot.state.compare_exchange(from, to, o, o).is_ok()
        };
        if !swap(FILLED, LEFT) {
            return false;
        }
        // As in `sleep`: whoever stopped leading before it could see this one leaves it to its owner. If it can't be had
        // back it is finished, or the gate has it.
        !(self.can_move(slot) && swap(LEFT, FILLED))
    }

    /// Whether the slot's owner could bring things forward itself: nobody leads and there is something to take.
    fn can_move(&self, slot: &Slot) -> bool {
        if !slot.barrier && self.core.mode() == Durability::Buffered {
            let order = self.order.lock();
            return order.queue.get(order.published).is_some_and(|s| s.ready());
        }
        !self.leading.load(Ordering::SeqCst)
            && self.order.lock().queue.front().is_some_and(|s| s.ready())
    }

    fn try_lead(&self) -> bool {
        self.leading
            .compare_exchange(false, true, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
    }

    /// Leads until `own` is finished, or at the gate, or nothing complete is left. Gives the lead up before followers are woken.
    fn lead(&self, own: &Slot) {
        // Who makes a flush, or room for chunks, is no transaction to wait for others with.
        if !own.barrier {
            self.gather();
        }
        loop {
            let more = self.flush_group(|| own.state.load(Ordering::SeqCst) >= HELD);
            if !more {
                return;
            }
        }
    }

    /// Writes out what is complete, whoever waits for it, if nobody is doing that already.
    pub(crate) fn write_out(&self) {
        if self.try_lead() {
            while self.flush_group(|| false) {}
        }
    }

    /// In mode 0 a committer that finds much unwritten writes it, or waits if others produce faster than the disk takes.
    fn limit_buffer(&self, own: &Slot) -> Result<(), LogError> {
        let limit = self.core.opts.buffer_limit;
        let written = self.core.written.load(Ordering::Relaxed);
        let behind = own.at.lsn.saturating_sub(written);
        if behind > limit {
            if self.try_lead() {
                while self.flush_group(|| false) {}
            } else if behind > limit.saturating_mul(4) {
                self.sync_all()?;
            }
        }
        Ok(())
    }

    /// Holds the group back as `binlog_commit_wait_count` and `_usec` say, else as the ferry thinks best.
    fn gather(&self) {
        let core = &self.core;
        let count = core.wait_count.load(Ordering::Relaxed);
        let usec = core.wait_usec.load(Ordering::Relaxed);
        if count > 0 && usec > 0 {
            if core.mode() != Durability::Buffered {
                let deadline = Instant::now() + Duration::from_micros(u64::from(usec));
                let came = self.gather_until(count, deadline);
                let c = &core.counters;
                Counters::add(
                    if came {
                        &c.trigger_count
                    } else {
                        &c.trigger_timeout
                    },
                    1,
                );
            }
            return;
        }
        if core.mode() != Durability::Synced || core.second.is_on() {
            return;
        }
        let Some(wait) = core.ferry.plan(self.gathered.load(Ordering::SeqCst)) else {
            return;
        };
        let came = self.gather_until(wait.nearly, wait.deadline);
        if came && wait.all > wait.nearly {
            self.gather_until(wait.all, wait.deadline.min(Instant::now() + wait.grace));
        }
        core.ferry.waited(came);
        let c = &core.counters;
        Counters::add(if came { &c.auto_count } else { &c.auto_timeout }, 1);
    }

    /// Sleeps until so many commits are queued, or it is too late (false).
    fn gather_until(&self, count: u32, deadline: Instant) -> bool {
        *self.gatherer.lock() = Some(std::thread::current());
        self.gather_target.store(count, Ordering::SeqCst);
        let came = loop {
            if self.gathered.load(Ordering::SeqCst) >= count {
                break true;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break false;
            }
            std::thread::park_timeout(left);
        };
        self.gather_target.store(0, Ordering::SeqCst);
        *self.gatherer.lock() = None;
        came
    }

    /// Writes groups as long as there is something complete, for records whose owners have left. Between two groups the
    /// lead is free: a committer that comes meanwhile takes it while this thread tells the owners of the last group.
    pub(crate) fn write_left(&self) {
        while self.try_lead() {
            self.gather();
            let mut progress = false;
            self.flush_group(|| {
                progress = true;
                true
            });
            if !progress {
                return;
            }
        }
    }

    /// Takes, writes, syncs and publishes one group. The caller leads; the lead is kept only if this returns true,
    /// which it does when it made progress and `stop()`, which is asked then, does not hold.
    fn flush_group(&self, stop: impl FnOnce() -> bool) -> bool {
        let core = &self.core;
        let mode = core.mode();
        let mut batch = Batch {
            inner: self,
            slots: Vec::with_capacity(32),
            finished: false,
        };
        let mut chunks = 0;
        {
            let mut order = self.order.lock();
            while let Some(front) = order.queue.front() {
                let starts_segment = front.kind == RecordKind::SegmentStart && !front.barrier;
                if !front.ready() || (starts_segment && !batch.slots.is_empty()) {
                    break;
                }
                if front.is_chunk() {
                    // Commits behind a long row of chunks wait anyway; those before and between them need not.
                    if chunks > 0 && chunks + front.len() > core.opts.chunk_group {
                        break;
                    }
                    chunks += front.len();
                }
                if let Some(slot) = order.queue.pop_front() {
                    batch.slots.push(slot);
                }
            }
            order.published = order.published.saturating_sub(batch.slots.len());
        }
        let (Some(first), Some(last)) = (batch.slots.first(), batch.slots.last()) else {
            batch.finished = true;
            self.give_up_lead();
            return false;
        };
        let end = last.at.end_lsn;
        let mut sync = false;
        let mut bufs: Vec<&[u8]> = Vec::with_capacity(batch.slots.len());
        let (mut bytes, mut body, mut commits, mut logged, mut last_seq) =
            (0u64, 0u64, 0u64, 0u64, 0);
        for s in &batch.slots {
            sync |= if s.barrier {
                s.sync
            } else {
                mode == Durability::Synced && !s.kind.is_mark()
            };
            if let Some(b) = s.buf.get() {
                bufs.push(b);
                bytes += b.len() as u64;
            }
            if s.is_commit() {
                commits += 1;
                last_seq = s.at.seq;
                logged += u64::from(!s.kind.is_local());
            }
            if !s.kind.is_internal() {
                body += s.at.end_lsn - s.at.lsn - HEADER_LEN as u64;
            }
        }
        self.gathered.fetch_sub(commits as u32, Ordering::SeqCst);
        let new_segment = (first.kind == RecordKind::SegmentStart).then_some(first.at.lsn);
        let written = self.write_group(new_segment, &bufs, first.at.lsn, bytes, end, sync);
        if let Err(text) = written {
            batch.finished = true;
            let slots = std::mem::take(&mut batch.slots);
            self.fail_with(text, slots);
            self.leading.store(false, Ordering::SeqCst);
            return false;
        }
        if chunks > 0 {
            self.chunk_bytes.fetch_sub(chunks, Ordering::SeqCst);
            Counters::add(&core.counters.chunk_bytes, chunks);
        }
        core.counters.group(commits, logged);
        Counters::add(&core.counters.body_bytes, body);
        // Mark first, tell later: a sleeper needs a thread switch, the next leader should start before that.
        let mut tell: Vec<(&Arc<Slot>, Owner)> = Vec::with_capacity(batch.slots.len());
        let second = core.second.is_on() && core.queue_second(&batch.slots, &mut tell);
        let kept = second || (commits > 0 && sync && core.gate_group(&batch.slots, &mut tell));
        if commits > 0 && !kept {
            core.publish(last_seq);
        }
        core.progress.notify();
        if commits > 0 {
            // Who is kept back will not be here again soon.
            let answered = if sync && !kept { commits as u32 } else { 0 };
            core.ferry
                .answered(answered, self.gathered.load(Ordering::SeqCst));
        }
        if !kept {
            tell.extend(batch.slots.iter().filter_map(|s| Some((s, s.finish()?))));
        }
        batch.finished = true;
        let stop = stop();
        if stop {
            self.give_up_lead();
        }
        for (s, owner) in tell {
            s.tell(owner, || Ok(()));
        }
        if second {
            self.lead_second();
        }
        !stop
    }

    /// Writes `bufs` at `lsn` and syncs if asked; the error text is final.
    fn write_group(
        &self,
        new_segment: Option<u64>,
        bufs: &[&[u8]],
        lsn: u64,
        bytes: u64,
        end: u64,
        sync: bool,
    ) -> Result<(), String> {
        let core = &self.core;
        let mut segment = self.write_segment.lock();
        if let Some(start) = new_segment
            && start != segment.start
        {
            // Nothing goes into a segment before the one before it is durable: then at most one is torn.
            if core.durable.load(Ordering::Acquire) < core.written.load(Ordering::Acquire) {
                let end = core.written.load(Ordering::Acquire);
                self.sync_segment(&segment, end)?;
            }
            *segment = core
                .segment(start)
                .ok_or_else(|| format!("segment {start:016x} is gone"))?;
        }
        if bytes > 0 {
            segment
                .file
                .write_vectored_at(bufs, segment.offset_of(lsn))
                .map_err(|e| format!("write to {} failed: {e}", segment.path.display()))?;
            Counters::add(&core.counters.writes, 1);
            Counters::add(&core.counters.bytes_written, bytes);
            core.written.store(end, Ordering::SeqCst);
        }
        if sync && core.durable.load(Ordering::Acquire) < end {
            self.sync_segment(&segment, end)?;
        }
        Ok(())
    }

    fn sync_segment(&self, segment: &Segment, end: u64) -> Result<(), String> {
        let core = &self.core;
        let begun = Instant::now();
        segment
            .file
            .sync_data()
            .map_err(|e| format!("sync of {} failed: {e}", segment.path.display()))?;
        let took = begun.elapsed();
        core.ferry.synced(took);
        Counters::add(&core.counters.sync_nanos, took.as_nanos() as u64);
        Counters::add(&core.counters.syncs, 1);
        core.durable.fetch_max(end, Ordering::SeqCst);
        Ok(())
    }

    /// Modes 2 and 0: syncs what chunks have written, beside the leader, before so much is dirty that the flush once a
    /// second would hold up everybody.
    pub(crate) fn sync_chunks(&self) -> Result<(), LogError> {
        self.sync_aside(SYNC_BEHIND)
    }

    /// Modes 2 and 0: syncs beside the leader if more than `limit` bytes are written and not durable.
    pub(crate) fn sync_aside(&self, limit: u64) -> Result<(), LogError> {
        let core = &self.core;
        let behind = || {
            let written = core.written.load(Ordering::Acquire);
            written - core.durable.load(Ordering::Acquire).min(written)
        };
        if core.mode() == Durability::Synced || behind() <= limit {
            return Ok(());
        }
        let _one = self.aside.lock();
        if behind() <= limit {
            return Ok(());
        }
        // Everything written and not durable lies in this one segment: the one before it was synced first.
        let (segment, end) = {
            let segment = self.write_segment.lock();
            (segment.clone(), core.written.load(Ordering::Acquire))
        };
        // A handle of its own: an error of the disk that this sync is told of must not be hidden from the leader's.
        let synced = core
            .opts
            .disk
            .open(&segment.path)
            .and_then(|file| file.sync_data());
        if let Err(e) = synced {
            self.fail(format!("sync of {} failed: {e}", segment.path.display()));
            return core.check();
        }
        Counters::add(&core.counters.syncs, 1);
        core.durable.fetch_max(end, Ordering::SeqCst);
        core.progress.notify();
        Ok(())
    }

    /// Writes one group for chunks that nobody waits for, if nobody leads.
    pub(crate) fn write_chunks(&self) {
        if self.try_lead() {
            self.flush_group(|| true);
        }
    }

    /// Lets go of the lead and wakes one sleeper that can take it, if there is one.
    fn give_up_lead(&self) {
        self.leading.store(false, Ordering::SeqCst);
        self.nudge();
    }

    /// Called when a record was handed over and nobody will wait for it: records behind it may need a leader.
    pub(crate) fn kick(&self) {
        if self.core.mode() == Durability::Buffered {
            self.publish_ready();
        }
        if !self.leading.load(Ordering::SeqCst) {
            self.nudge();
        }
    }

    /// Wakes the first sleeper among the complete records at the front, so that it looks again.
    fn nudge(&self) {
        let (sleeper, left, chunk) = {
            let order = self.order.lock();
            let sleeper = order
                .queue
                .iter()
                .take_while(|s| s.ready())
                .find(|s| {
                    s.state
                        .compare_exchange(SLEEPING, FILLED, Ordering::SeqCst, Ordering::SeqCst)
                        .is_ok()
                })
                .cloned();
            let ready = || order.queue.iter().take_while(|s| s.ready());
            let alone = sleeper.is_none();
            let left = alone && ready().any(|s| s.state.load(Ordering::SeqCst) == LEFT);
            let chunk = alone && !left && ready().any(|s| s.is_chunk());
            (sleeper, left, chunk)
        };
        match sleeper {
            Some(s) => s.wake(),
            None if left => self.background.want_answers(),
            None if chunk => self.background.want_write(),
            None => {}
        }
    }

    /// Mode 0: publishes every complete record at the front of the queue, which stays queued until it is written.
    pub(crate) fn publish_ready(&self) {
        let mut tell = Vec::new();
        let mut last_seq = 0;
        let mut barrier = false;
        {
            let mut guard = self.order.lock();
            let order = &mut *guard;
            // A gate that was closed meanwhile may hold what lies before these.
            if self.core.mode() != Durability::Buffered {
                return;
            }
            let begin = order.published;
            while let Some(s) = order.queue.get(order.published) {
                if !s.ready() {
                    break;
                }
                if s.is_commit() {
                    last_seq = s.at.seq;
                }
                order.published += 1;
            }
            // Visible first: a committer that finds itself done must see its own commit.
            self.core.publish(last_seq);
            for s in order.queue.range(begin..order.published) {
                if s.barrier {
                    // It may have gone to sleep in front of a record that was unfinished then, whose owner does not lead in
                    // this mode.
                    barrier = true;
                } else {
                    tell.extend(s.finish().map(|owner| (s.clone(), owner)));
                }
            }
        }
        if last_seq > 0 {
            self.core.progress.notify();
        }
        for (s, owner) in tell {
            s.tell(owner, || Ok(()));
        }
        if barrier && !self.leading.load(Ordering::SeqCst) {
            self.nudge();
        }
    }

    /// Stops the log for good.
    pub(crate) fn fail(&self, text: String) {
        self.fail_with(text, Vec::new());
    }

    pub(crate) fn fail_with(&self, text: String, taken: Vec<Arc<Slot>>) {
        tracing::error!(reason = %text, "the log has stopped");
        let _ = self.core.failed.set(text);
        let queued: Vec<Arc<Slot>> = {
            let mut order = self.order.lock();
            order.published = 0;
            order.queue.drain(..).collect()
        };
        let second = self.core.second.take();
        for s in taken.into_iter().chain(second).chain(queued) {
            let before = s
                .state
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |st| {
                    (st != DONE).then_some(FAILED)
                });
            if let Some(owner) = before.ok().and_then(Owner::of) {
                s.tell(owner, || self.core.check());
            }
        }
        self.core.progress.notify();
    }
}
