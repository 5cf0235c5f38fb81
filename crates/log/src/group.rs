//! Group commit: leader and followers.
//!
//! A committer that needs a flush and finds no leader becomes the leader. It takes every complete record at the front of
//! the queue, writes them with one vectored write, gives up the lead and syncs once. Then it finishes the group, wakes a
//! sleeper whose record is ready to lead the next group, and tells its own followers. While it syncs, the next group
//! gathers in the queue. That group is led when the sync has ended, or, where the disk works on several syncs at once
//! ([`crate::overlap`]), as soon as it is large enough. A lone committer leads itself, without a thread switch.
//!
//! No wake-up is lost, because each pair of steps that could miss each other is ordered by sequentially consistent
//! atomics. A committer first says "I sleep" (slot state) and then looks whether it may lead (there is no leader, and not
//! too many syncs run). A leader first says "nobody leads", and after its sync "one sync less", and then looks for
//! sleepers. In the same way a committer first makes its record ready and then looks whether it must lead. So a leader that
//! stopped in front of an unfinished record need not tell anybody: the record's owner will come to lead. In mode 0 owners
//! do not lead; the thread that publishes wakes the waits for a sync that it passes.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::disk::DiskFile;
use crate::error::LogError;
use crate::flight::{CommitGroup, Departed, Lanes};
use crate::frame::HEADER_LEN;
use crate::inner::Inner;
use crate::options::Durability;
use crate::order::Order;
use crate::overlap::Took;
use crate::segment::Segment;
use crate::slot::{
    DONE, FAILED, FILLED, GIVE_UP_SLICE, HELD, HELD_SLEEPING, LEFT, OnDone, Owner, RESERVED,
    SLEEPING, Slot, Tell,
};
use crate::stats::Counters;

/// Modes 2 and 0: chunk writers sync when more than this is written and not durable.
const SYNC_BEHIND: u64 = 8 << 20;

/// A group taken out of the queue by a leader. If its thread panics the log fails instead of hanging.
struct Batch<'a, S: Send + 'static> {
    inner: &'a Inner<S>,
    group: CommitGroup,
    /// Since it is written, when the lead was given up.
    flight: Option<Departed>,
    finished: bool,
}

impl<S: Send + 'static> Drop for Batch<'_, S> {
    fn drop(&mut self) {
        if !self.finished {
            let text = "the thread that was writing the log panicked".to_owned();
            let group = std::mem::take(&mut self.group);
            match self.flight.take() {
                Some(flight) => {
                    let landed = self.inner.flights.land(&flight, group, false, |_| {});
                    self.inner.fail_with(text, landed.lost);
                }
                None => {
                    self.inner.fail_with(text, group.slots);
                    self.inner.leading.store(false, Ordering::SeqCst);
                }
            }
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
        let mut first = true;
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
                // Waiting for company pays only for transactions. A barrier stands for a flush, or for room for
                // chunks.
                if first && !slot.barrier {
                    self.gather();
                }
                first = false;
                self.flush_group();
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
            // The gate does not wake an owner whose record it keeps, but that owner must look around now and then.
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
        if !self.can_leave() || !self.is_busy() {
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
        // As in `sleep`: a leader that finished before it could see this record leaves it to its owner. If it cannot be
        // taken back it is finished, or the gate has it.
        !(self.can_move(slot) && swap(LEFT, FILLED))
    }

    /// Whether the slot's owner could bring things forward itself: nobody leads and there is something to take.
    fn can_move(&self, slot: &Slot) -> bool {
        if !slot.barrier && self.core.mode() == Durability::Buffered {
            let order = self.order.lock();
            return order.queue.get(order.published).is_some_and(|s| s.ready());
        }
        !self.is_busy() && self.can_take(&self.order.lock())
    }

    /// Whether a leader would find something.
    fn can_take(&self, order: &Order<S>) -> bool {
        let front = order.queue.front();
        front.is_some_and(|s| {
            // Nothing goes into a segment before the one before it is durable: then at most one is torn.
            s.ready() && !(s.starts_segment() && self.flights.unfinished() > 0)
        })
    }

    /// Whether a group may be led now, if nobody leads.
    fn may_lead(&self) -> bool {
        if self.flights.unfinished() == 0 {
            return true;
        }
        let core = &self.core;
        let most = core.overlap.limit();
        if most < 2 || self.flights.running() >= most || self.waits_asked().is_some() {
            return false;
        }
        if core.mode() != Durability::Synced || core.gate.is_on() || core.second.is_on() {
            return false;
        }
        crate::overlap::is_enough(self.gathered.load(Ordering::SeqCst), self.flights.commits())
    }

    /// Whether a record that is to be written must wait for another thread.
    pub(crate) fn is_busy(&self) -> bool {
        self.leading.load(Ordering::SeqCst) || !self.may_lead()
    }

    fn try_lead(&self) -> bool {
        if !self.may_lead() {
            return false;
        }
        let o = Ordering::SeqCst;
        if self.leading.compare_exchange(false, true, o, o).is_err() {
            return false;
        }
        // Somebody may have led in between.
        if !self.may_lead() {
            self.give_up_lead();
            return false;
        }
        true
    }

    /// Writes out all complete records, unless another thread is doing that.
    pub(crate) fn write_out(&self) {
        while self.try_lead() && self.flush_group() {}
    }

    /// In mode 0 a committer that finds much unwritten writes it, or waits if others produce faster than the disk takes.
    fn limit_buffer(&self, own: &Slot) -> Result<(), LogError> {
        let limit = self.core.opts.buffer_limit;
        let written = self.core.written.load(Ordering::Relaxed);
        let behind = own.at.lsn.saturating_sub(written);
        if behind > limit {
            if self.try_lead() {
                if self.flush_group() {
                    self.write_out();
                }
            } else if behind > limit.saturating_mul(4) {
                self.sync_all()?;
            }
        }
        Ok(())
    }

    /// Holds the group back as `binlog_commit_wait_count` and `_usec` say, else as the ferry thinks best.
    fn gather(&self) {
        let core = &self.core;
        if let Some((count, usec)) = self.waits_asked() {
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
        if core.mode() != Durability::Synced || core.second.is_on() || core.overlap.limit() > 1 {
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

    /// `binlog_commit_wait_count` and `_usec`, if both are set.
    fn waits_asked(&self) -> Option<(u32, u32)> {
        let count = self.core.wait_count.load(Ordering::Relaxed);
        let usec = self.core.wait_usec.load(Ordering::Relaxed);
        (count > 0 && usec > 0).then_some((count, usec))
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
            if !self.flush_group() {
                return;
            }
        }
    }

    /// Takes, writes, syncs and finishes one group. The caller leads; the lead is given up in any case, before the sync.
    /// Whether there was a group.
    fn flush_group(&self) -> bool {
        let core = &self.core;
        let lane = self.flights.free_lane();
        if lane > 0
            && self
                .lanes
                .lock()
                .handle(&*self.core.opts.disk, lane)
                .is_none()
        {
            core.overlap.forbid();
            self.give_up_lead();
            return false;
        }
        let mut batch = Batch {
            inner: self,
            group: CommitGroup::default(),
            flight: None,
            finished: false,
        };
        self.take_group(&mut batch.group);
        let group = &batch.group;
        let Some(first) = group.slots.first() else {
            batch.finished = true;
            self.give_up_lead();
            return false;
        };
        let (start, end) = (first.at.lsn, group.end);
        let new_segment = first.starts_segment().then_some(start);
        let bufs: Vec<&[u8]> = (group.slots.iter())
            .filter_map(|s| s.buf.get().map(Vec::as_slice))
            .collect();
        let written = self.write_group(new_segment, &bufs, start, end, lane);
        drop(bufs);
        let (segment, file) = match written {
            Ok(written) => written,
            Err(text) => {
                batch.finished = true;
                let slots = std::mem::take(&mut batch.group.slots);
                self.fail_with(text, slots);
                self.leading.store(false, Ordering::SeqCst);
                return false;
            }
        };
        let must_sync = group.sync && core.durable.load(Ordering::Acquire) < end;
        batch.flight = Some(self.flights.depart(group.commits, lane));
        // The next group may be large enough already.
        self.give_up_lead();
        let watch = core.overlap.watch();
        let synced = if must_sync {
            file.sync_data()
                .map_err(|e| format!("sync of {} failed: {e}", segment.path.display()))
        } else {
            Ok(())
        };
        let took = watch.took();
        let group = std::mem::take(&mut batch.group);
        let Some(flight) = batch.flight.take() else {
            batch.finished = true;
            return false;
        };
        if must_sync && synced.is_ok() {
            Counters::add(&core.counters.sync_nanos, took.all.as_nanos() as u64);
            Counters::add(&core.counters.syncs, 1);
        }
        self.land(&flight, group, must_sync.then_some(took), synced);
        batch.finished = true;
        true
    }

    /// Takes what is complete at the front of the queue, up to a segment's end.
    fn take_group(&self, group: &mut CommitGroup) {
        let core = &self.core;
        let mode = core.mode();
        group.slots.reserve(32);
        let mut order = self.order.lock();
        if !self.can_take(&order) {
            return;
        }
        while let Some(front) = order.queue.front() {
            if !front.ready() || (front.starts_segment() && !group.slots.is_empty()) {
                break;
            }
            if front.is_chunk() {
                // Commits behind a long row of chunks wait anyway; those before and between them need not.
                if group.chunks > 0 && group.chunks + front.len() > core.opts.chunk_group {
                    break;
                }
                group.chunks += front.len();
            }
            if let Some(slot) = order.queue.pop_front() {
                group.slots.push(slot);
            }
        }
        order.published = order.published.saturating_sub(group.slots.len());
        drop(order);
        for s in &group.slots {
            group.sync |= if s.barrier {
                s.sync
            } else {
                mode == Durability::Synced && !s.kind.is_mark()
            };
            if s.is_commit() {
                group.commits += 1;
                group.last_seq = s.at.seq;
                group.logged += u64::from(!s.kind.is_local());
            }
            if !s.kind.is_internal() {
                group.body += s.at.end_lsn - s.at.lsn - HEADER_LEN as u64;
            }
            group.end = s.at.end_lsn;
        }
        self.gathered.fetch_sub(group.commits, Ordering::SeqCst);
    }

    /// Writes `bufs` at `lsn`; returns where, and the handle to sync. The error text is final.
    fn write_group(
        &self,
        new_segment: Option<u64>,
        bufs: &[&[u8]],
        lsn: u64,
        end: u64,
        lane: u32,
    ) -> Result<(Arc<Segment>, Arc<dyn DiskFile>), String> {
        let core = &self.core;
        let mut lanes = self.lanes.lock();
        if let Some(start) = new_segment
            && start != lanes.segment.start
        {
            // Everything written is synced: see `can_take`. What modes 2 and 0 have written is not.
            if core.durable.load(Ordering::Acquire) < core.written.load(Ordering::Acquire) {
                let end = core.written.load(Ordering::Acquire);
                self.sync_segment(&lanes.segment, end)?;
            }
            let segment =
                (core.segment(start)).ok_or_else(|| format!("segment {start:016x} is gone"))?;
            *lanes = Lanes::new(segment);
        }
        let segment = lanes.segment.clone();
        // Before the write, so that its handle is told if that is lost.
        let file = lanes.handle(&*self.core.opts.disk, lane);
        let file = file.unwrap_or_else(|| segment.file.clone());
        let bytes: u64 = bufs.iter().map(|b| b.len() as u64).sum();
        if bytes > 0 {
            segment
                .file
                .write_vectored_at(bufs, segment.offset_of(lsn))
                .map_err(|e| format!("write to {} failed: {e}", segment.path.display()))?;
            Counters::add(&core.counters.writes, 1);
            Counters::add(&core.counters.bytes_written, bytes);
            core.written.store(end, Ordering::SeqCst);
        }
        Ok((segment, file))
    }

    fn sync_segment(&self, segment: &Segment, end: u64) -> Result<(), String> {
        let core = &self.core;
        let begun = Instant::now();
        segment
            .file
            .sync_data()
            .map_err(|e| format!("sync of {} failed: {e}", segment.path.display()))?;
        let took = begun.elapsed();
        Counters::add(&core.counters.sync_nanos, took.as_nanos() as u64);
        Counters::add(&core.counters.syncs, 1);
        core.durable.fetch_max(end, Ordering::SeqCst);
        Ok(())
    }

    /// The sync of a group has ended: finishes it, and those behind it that waited for it.
    fn land(
        &self,
        flight: &Departed,
        group: CommitGroup,
        took: Option<Took>,
        synced: Result<(), String>,
    ) {
        let core = &self.core;
        let mut tell: Tell = Vec::with_capacity(group.slots.len());
        let (mut commits, mut second, mut kept) = (0, false, false);
        let landed = self.flights.land(flight, group, synced.is_ok(), |group| {
            if group.sync {
                core.durable.fetch_max(group.end, Ordering::SeqCst);
            }
            if group.chunks > 0 {
                self.chunk_bytes.fetch_sub(group.chunks, Ordering::SeqCst);
                Counters::add(&core.counters.chunk_bytes, group.chunks);
            }
            core.counters.group(u64::from(group.commits), group.logged);
            Counters::add(&core.counters.body_bytes, group.body);
            // Mark first, tell later: a sleeper needs a thread switch, the next leader should start before that.
            let later = core.second.is_on() && core.queue_second(&group.slots, &mut tell);
            let held = later
                || (group.commits > 0 && group.sync && core.gate_group(&group.slots, &mut tell));
            if group.commits > 0 && !held {
                core.publish(group.last_seq);
            }
            if !held {
                let told = group.slots.into_iter();
                tell.extend(told.filter_map(|s| s.finish().map(|owner| (s, owner))));
            }
            // Owners of held commits will not be back soon, so the ferry does not count them.
            commits += if group.sync && !held {
                group.commits
            } else {
                0
            };
            second |= later;
            kept |= group.commits > 0;
        });
        if let Some(took) = took
            && synced.is_ok()
        {
            if landed.company {
                Counters::add(&core.counters.overlapped, 1);
            } else {
                core.ferry.synced(took.all);
            }
            if core.overlap.synced(took, landed.company) {
                self.background.more_writers();
            }
        }
        if kept && core.overlap.limit() < 2 {
            core.ferry
                .answered(commits, self.gathered.load(Ordering::SeqCst));
        }
        match synced {
            Err(text) => self.fail_with(text, landed.lost),
            Ok(()) if !landed.lost.is_empty() => self.fail_slots(landed.lost),
            Ok(()) => {}
        }
        core.progress.notify();
        self.nudge_if_idle();
        for (s, owner) in tell {
            s.tell(owner, || Ok(()));
        }
        if second {
            self.lead_second();
        }
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
            let lanes = self.lanes.lock();
            (lanes.segment.clone(), core.written.load(Ordering::Acquire))
        };
        // A handle of its own: a disk error is reported once to each handle, so this sync must not take the leader's report.
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
            self.flush_group();
        }
    }

    /// Lets go of the lead and wakes one sleeper that can take it, if there is one.
    fn give_up_lead(&self) {
        self.leading.store(false, Ordering::SeqCst);
        self.nudge_if_idle();
    }

    fn nudge_if_idle(&self) {
        if !self.is_busy() {
            self.nudge();
        }
    }

    /// Called when a record was handed over and nobody will wait for it: records behind it may need a leader.
    pub(crate) fn kick(&self) {
        if self.core.mode() == Durability::Buffered {
            self.publish_ready();
        }
        self.nudge_if_idle();
    }

    /// Wakes the first sleeper among the complete records at the front, so that it looks again.
    fn nudge(&self) {
        let (sleeper, left, chunk) = {
            let order = self.order.lock();
            if !self.can_take(&order) {
                return;
            }
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
        if barrier {
            self.nudge_if_idle();
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
        self.fail_slots(taken.into_iter().chain(second).chain(queued));
        self.core.progress.notify();
    }

    /// Tells those who wait that the log has failed.
    fn fail_slots(&self, slots: impl IntoIterator<Item = Arc<Slot>>) {
        for s in slots {
            let before = s
                .state
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |st| {
                    (st != DONE).then_some(FAILED)
                });
            if let Some(owner) = before.ok().and_then(Owner::of) {
                s.tell(owner, || self.core.check());
            }
        }
    }
}
