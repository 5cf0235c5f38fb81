//! The open log as its callers see it: reserving places, handing records over, waiting for them, reading, retention.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::error::{LogError, ReserveError};
use crate::frame::{HEADER_LEN, RecordKind};
use crate::gate::{Gate, GateStats, Held};
use crate::inner::Inner;
use crate::options::Durability;
use crate::purge::Purged;
use crate::random::LogRecords;
use crate::reader::LogReader;
use crate::record::{RecordAt, Reserved};
use crate::second::SecondLog;
use crate::segment::{START_LEN, Segment, SegmentFile};
use crate::slot::{GIVE_UP_SLICE, OnDone};
use crate::stats::LogStats;
use crate::ticket::Ticket;
use crate::{Lsn, Seq};

/// The open log. `S` is the state that must advance in the log's order (binlog position, GTID counters); it is guarded
/// by the log's order mutex.
#[derive(Debug)]
pub struct Log<S: Send + 'static> {
    pub(crate) inner: Arc<Inner<S>>,
    pub(crate) threads: Mutex<Vec<std::thread::JoinHandle<()>>>,
}

impl<S: Send + 'static> Log<S> {
    /// Reserves the place of a record with a body of `body_len` bytes: LSN, for a commit the next sequence number, and
    /// whatever `stamp` takes from the order state, all in one short step. `stamp` runs under the order mutex: it must
    /// be quick and must not call the log.
    ///
    /// # Errors
    /// [`LogError::NoSpace`] if the log has to grow and can't (nothing is reserved then), [`LogError::RecordTooLarge`],
    /// [`LogError::Failed`], [`LogError::Closed`].
    pub fn reserve<T>(
        &self,
        kind: RecordKind,
        body_len: usize,
        stamp: impl FnOnce(&Reserved, &mut S) -> T,
    ) -> Result<(Ticket, T), LogError> {
        match self.reserve_checked(kind, body_len, |_| Ok::<_, Infallible>(()), stamp) {
            Ok(reserved) => Ok(reserved),
            Err(ReserveError::Log(e)) => Err(e),
            Err(ReserveError::Refused(never)) => match never {},
        }
    }

    /// As [`Log::reserve`], but `check` may refuse, under the order mutex, before anything is reserved. It runs at most
    /// once, and right before `stamp` if it agrees; what it changes in the order state stays even if it refuses.
    ///
    /// # Errors
    /// [`ReserveError::Refused`] with the error of `check`, or [`ReserveError::Log`] as [`Log::reserve`].
    pub fn reserve_checked<T, E>(
        &self,
        kind: RecordKind,
        body_len: usize,
        check: impl FnOnce(&mut S) -> Result<(), E>,
        stamp: impl FnOnce(&Reserved, &mut S) -> T,
    ) -> Result<(Ticket, T), ReserveError<E>> {
        self.allowed(kind, body_len)?;
        self.inner.reserve_any(kind, body_len, false, check, stamp)
    }

    fn allowed(&self, kind: RecordKind, body_len: usize) -> Result<(), LogError> {
        if kind.is_internal() {
            return Err(LogError::Misuse("this record kind is the log's own"));
        }
        let max = self.inner.core.opts.max_body();
        if body_len > max {
            return Err(LogError::RecordTooLarge {
                len: body_len as u64,
                max: max as u64,
            });
        }
        Ok(())
    }

    /// Adds a chunk record: [`HEADER_LEN`] spare bytes, then the body. It is not durable when this returns, but written
    /// out soon, and a commit behind it is not durable before it is.
    ///
    /// While [`LogOptions::chunk_queue`](crate::LogOptions) bytes of chunks are waiting, of whatever callers, this call
    /// waits until they are written; so the memory that they take is bounded, and a commit that is reserved now has no
    /// more than that in front of it. It also waits for log space, so that some is always ready for commits. Bodies of
    /// 128 to 256 KiB cost small commits beside them least; a larger one is a group of its own. The caller must not hold
    /// a ticket that is not filled.
    ///
    /// # Errors
    /// As [`Log::reserve`]. A chunk is no promise: if the log fails later, the next call tells.
    pub fn append_chunk<T>(
        &self,
        buf: Vec<u8>,
        stamp: impl FnOnce(&Reserved, &mut S) -> T,
    ) -> Result<(Reserved, T), LogError> {
        let body_len = buf
            .len()
            .checked_sub(HEADER_LEN)
            .ok_or(LogError::Misuse("a record without room for its header"))?;
        self.allowed(RecordKind::Chunk, body_len)?;
        let reserved = self.inner.reserve_any(
            RecordKind::Chunk,
            body_len,
            true,
            |_| Ok::<_, Infallible>(()),
            stamp,
        );
        match reserved {
            Ok((ticket, out)) => {
                self.inner.fill(&ticket.slot, buf);
                // Dropped without a wait: that wakes a leader for it, or the background thread.
                Ok((ticket.slot.at, out))
            }
            Err(ReserveError::Log(e)) => Err(e),
            Err(ReserveError::Refused(never)) => match never {},
        }
    }

    /// Ends the current segment here, so that retention can take it away once it is no longer needed; does nothing if
    /// it holds no record. Returns the LSN where the new one starts, when all before it is durable.
    ///
    /// # Errors
    /// As [`Log::reserve`].
    pub fn switch_segment(&self) -> Result<Lsn, LogError> {
        let (inner, core) = (&self.inner, &self.inner.core);
        let start = loop {
            let mut order = inner.order.lock();
            core.check()?;
            if core.closed.load(Ordering::Acquire) {
                return Err(LogError::Closed);
            }
            if order.next_lsn <= order.segment.start + START_LEN {
                break order.segment.start;
            }
            if order.next_segment.is_some() {
                order.switch(core);
                order.start_segment_if_needed(core);
                break order.segment.start;
            }
            drop(order);
            inner.prepare_next(0)?;
        };
        inner.sync_all()?;
        Ok(start)
    }

    /// Hands over the finished record: [`HEADER_LEN`] spare bytes, then the body of exactly the reserved length. The
    /// header and the checksum are made here, under no lock.
    ///
    /// The caller's own changes to memory must be complete: from now on the record may be published by anyone. A
    /// buffer of the wrong length stops the log. Follow it with [`Log::wait`] or [`Log::pass_on`], or drop the ticket. A
    /// thread that waits behind this record may have found it unfinished, and then waits for somebody to lead.
    pub fn fill(&self, ticket: &Ticket, buf: Vec<u8>) {
        self.inner.fill(&ticket.slot, buf);
    }

    /// For an owner that has filled a record, keeps its ticket, and does not wait now. Threads that wait behind the record,
    /// and found it unfinished, are told.
    pub fn pass_on(&self, ticket: &Ticket) {
        ticket.waited.set(true);
        self.inner.kick();
    }

    /// Waits until the record has the durability of the mode in force and is published: mode 1 durable, mode 2
    /// written, mode 0 complete. With a gate: until it is durable and a commit has passed.
    ///
    /// # Errors
    /// [`LogError::Failed`]: whether the record survives a restart is then not known.
    pub fn wait(&self, ticket: &Ticket) -> Result<(), LogError> {
        self.wait_or(ticket, || false)
    }

    /// As [`Log::wait`], but at the gate no longer than until `give_up()`, which is asked about 20 times a second.
    ///
    /// # Errors
    /// [`LogError::GivenUp`]: the commit is durable and stays held. Otherwise as [`Log::wait`].
    pub fn wait_or(
        &self,
        ticket: &Ticket,
        mut give_up: impl FnMut() -> bool,
    ) -> Result<(), LogError> {
        ticket.waited.set(true);
        self.inner.wait_slot_or(&ticket.slot, &mut give_up)
    }

    /// Instead of [`Log::wait`]: leaves the wait to the thread that writes the record's group, which calls `then`
    /// afterwards. `then` may be called before this returns. False if leaving is not possible (nobody is writing now, the
    /// record is done already, a gate is on, mode 0): then the caller waits as usual, and `then` is not called.
    pub fn leave(&self, ticket: &Ticket, then: &Arc<dyn OnDone>) -> bool {
        let left = self.inner.leave_slot(&ticket.slot, then);
        if left {
            ticket.waited.set(true);
        }
        left
    }

    /// Whether [`Log::leave`] would be of use for a record handed over now.
    pub fn is_leading(&self) -> bool {
        self.inner.can_leave() && self.inner.is_busy()
    }

    /// Waits until readers may see commit `seq`. Its committer must be on its way to [`Log::wait`].
    pub fn wait_visible(&self, seq: Seq) -> Result<(), LogError> {
        self.wait_visible_or(seq, || false)
    }

    /// As [`Log::wait_visible`], but no longer than until `give_up()`, which is asked about 20 times a second.
    ///
    /// # Errors
    /// [`LogError::GivenUp`], [`LogError::Failed`].
    pub fn wait_visible_or(
        &self,
        seq: Seq,
        mut give_up: impl FnMut() -> bool,
    ) -> Result<(), LogError> {
        let core = &self.inner.core;
        let seen = || core.visible.load(Ordering::SeqCst) >= seq;
        let over = || seen() || core.failed.get().is_some();
        while !core
            .progress
            .wait(Some(Instant::now() + GIVE_UP_SLICE), over)
        {
            if give_up() {
                return Err(LogError::GivenUp);
            }
        }
        if seen() { Ok(()) } else { core.check() }
    }

    /// From now on commits must be in `second`, too, before they are visible; to be called before the first record, once.
    /// Then mode 0 writes as mode 2 does, and [`Log::set_gate`] must not be used.
    pub fn set_second(&self, second: Arc<dyn SecondLog>) {
        self.inner.core.second.set(second);
    }

    /// Lets commits from the next group on wait for acknowledgements, or (with [`Gate::Open`]) no longer, and lets go
    /// of those that wait. While a gate is on every group is synced, whatever [`Log::set_durability`] says. Between the
    /// two gates everything goes on waiting, but with [`Gate::Answers`] it becomes visible.
    pub fn set_gate(&self, gate: Gate) {
        let core = &self.inner.core;
        if gate == Gate::Open {
            core.set_gate(gate);
            return;
        }
        let order = self.inner.order.lock();
        core.set_gate(gate);
        // They sleep as if there were no gate.
        for s in order.queue.iter() {
            s.wake();
        }
    }

    /// What commits wait for beyond their durability.
    pub fn gate(&self) -> Gate {
        self.inner.core.gate.mode()
    }

    /// Lets commits up to `seq` pass the gate. It counts even before they come to it, and is never taken back.
    pub fn acknowledge(&self, seq: Seq) {
        self.inner.core.acknowledge(seq);
    }

    /// Opens the gate for good, before the end: nothing waits for acknowledgements any more.
    pub fn shut_gate(&self) {
        self.inner.core.shut_gate();
    }

    /// What the gate holds now.
    pub fn held(&self) -> Held {
        self.inner.core.gate.held()
    }

    /// What the gate has done.
    pub fn gate_stats(&self) -> GateStats {
        self.inner.core.gate.stats()
    }

    /// Last commit that readers may see.
    pub fn visible_seq(&self) -> Seq {
        self.inner.core.visible.load(Ordering::Acquire)
    }

    /// Everything below this LSN is durable.
    pub fn durable_lsn(&self) -> Lsn {
        self.inner.core.durable.load(Ordering::Acquire)
    }

    /// Waits until the log is durable beyond `lsn` or `timeout` has passed; returns the durable LSN.
    ///
    /// # Errors
    /// [`LogError::Failed`], [`LogError::Closed`] if nothing more will come.
    pub fn wait_durable(&self, lsn: Lsn, timeout: Duration) -> Result<Lsn, LogError> {
        let core = &self.inner.core;
        let now = || core.durable.load(Ordering::SeqCst);
        let over = || core.failed.get().is_some() || core.closed.load(Ordering::SeqCst);
        core.progress
            .wait(Some(Instant::now() + timeout), || now() > lsn || over());
        let at = now();
        if at <= lsn {
            core.check()?;
            if core.closed.load(Ordering::SeqCst) {
                return Err(LogError::Closed);
            }
        }
        Ok(at)
    }

    /// As [`Log::wait_durable`], for a reader that sends on what it reads: where commits do not wait for a sync (modes 2
    /// and 0), this thread syncs what was committed, beside the leader, as soon as there is something.
    ///
    /// # Errors
    /// As [`Log::wait_durable`]; the sync fails.
    pub fn wait_readable(&self, lsn: Lsn, timeout: Duration) -> Result<Lsn, LogError> {
        let core = &self.inner.core;
        let deadline = Instant::now() + timeout;
        let durable = || core.durable.load(Ordering::SeqCst);
        let over = || core.failed.get().is_some() || core.closed.load(Ordering::SeqCst);
        // Commits that were visible at the last sync from here.
        let mut seen = 0;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if core.mode() == Durability::Synced {
                return self.wait_durable(lsn, left);
            }
            let more = || {
                core.visible.load(Ordering::SeqCst) > seen
                    || core.written.load(Ordering::SeqCst) > durable()
            };
            let woken = core
                .progress
                .wait(Some(deadline), || durable() > lsn || more() || over());
            if !woken || durable() > lsn || over() {
                return self.wait_durable(lsn, Duration::ZERO);
            }
            seen = core.visible.load(Ordering::SeqCst);
            if core.mode() == Durability::Buffered {
                self.inner.write_out();
            }
            self.inner.sync_aside(0)?;
        }
    }

    /// Runs `f` on the order state with the place where the log stands: nothing is reserved meanwhile. `seq` is the
    /// last sequence number given, `lsn` the place of the next record: together they are a checkpoint to replay from.
    pub fn with_order_state<T>(&self, f: impl FnOnce(&mut S, Reserved) -> T) -> T {
        let mut order = self.inner.order.lock();
        let at = order.here();
        f(&mut order.state, at)
    }

    /// Makes everything reserved so far durable (waits for records not yet handed over) and returns up to where.
    pub fn sync_all(&self) -> Result<Lsn, LogError> {
        self.inner.sync_all()
    }

    /// Reads durable records from `lsn` on, which must be the start of a record (or the end of the log).
    pub fn read_from(&self, lsn: Lsn) -> Result<LogReader, LogError> {
        LogReader::open(self.inner.core.clone(), lsn)
    }

    /// Reads the durable record that starts at `lsn`, verified; its body replaces what `out` holds. See
    /// [`LogRecords::read_at`].
    pub fn read_at(&self, lsn: Lsn, out: &mut Vec<u8>) -> Result<RecordAt, LogError> {
        self.records().read_at(lsn, out)
    }

    /// Random access to durable records, apart from this handle.
    pub fn records(&self) -> LogRecords {
        LogRecords(self.inner.core.clone())
    }

    /// The oldest LSN still in the log.
    pub fn oldest_lsn(&self) -> Lsn {
        self.inner.core.oldest()
    }

    /// The segment files, oldest first, the one that was made ahead of its use included. Their bytes stay readable while
    /// the caller has them, also when retention takes them away.
    pub fn segment_files(&self) -> Vec<SegmentFile> {
        let segments = self.inner.core.segments.lock();
        let file = |s: &Arc<Segment>| SegmentFile {
            start: s.start,
            file: s.file.clone(),
        };
        segments.values().map(file).collect()
    }

    /// Takes away whole segments that lie below `lsn`, oldest first, never the current one. No commit waits for it.
    /// Readers of this log that are inside one of them finish it; its bytes are given back after that.
    ///
    /// # Errors
    /// An I/O error leaves a log whose oldest segments may already be gone; the next call goes on.
    pub fn purge_before(&self, lsn: Lsn) -> Result<Purged, LogError> {
        self.inner.core.purge_before(lsn)
    }

    /// How many segments [`Log::purge_before`] would take away now.
    pub fn purgeable(&self, lsn: Lsn) -> usize {
        self.inner.core.purgeable(lsn)
    }

    /// Changes what commits wait for, from the next group on. Switching to [`Durability::Synced`] makes everything
    /// before durable first.
    pub fn set_durability(&self, mode: Durability) -> Result<(), LogError> {
        self.inner.core.mode.store(mode as u8, Ordering::SeqCst);
        if mode == Durability::Synced {
            self.inner.sync_all()?;
        }
        Ok(())
    }

    /// What was set with [`Log::set_durability`].
    pub fn durability(&self) -> Durability {
        self.inner.core.mode_set()
    }

    /// Sets the group-commit wait: until `count` transactions are queued or `usec` microseconds have passed; 0 in
    /// either switches it off.
    pub fn set_commit_wait(&self, count: u32, usec: u32) {
        let core = &self.inner.core;
        core.wait_count.store(count, Ordering::Relaxed);
        core.wait_usec.store(usec, Ordering::Relaxed);
    }

    /// Switches [`crate::LogOptions::commit_wait_auto`].
    pub fn set_commit_wait_auto(&self, on: bool) {
        self.inner.core.ferry.set(on);
    }

    /// The group-commit wait: transactions, microseconds.
    pub fn commit_wait(&self) -> (u32, u32) {
        let core = &self.inner.core;
        (
            core.wait_count.load(Ordering::Relaxed),
            core.wait_usec.load(Ordering::Relaxed),
        )
    }

    /// Counters and positions.
    pub fn stats(&self) -> LogStats {
        let core = &self.inner.core;
        let (segments, oldest_lsn, disk_bytes) = {
            let s = core.segments.lock();
            let bytes: u64 = s.values().map(|s| s.disk_bytes()).sum();
            (s.len() as u64, s.keys().next().copied().unwrap_or(0), bytes)
        };
        LogStats {
            segments,
            disk_bytes: disk_bytes + core.grave_bytes(),
            oldest_lsn,
            written_lsn: core.written.load(Ordering::Relaxed),
            durable_lsn: core.durable.load(Ordering::Relaxed),
            visible_seq: core.visible.load(Ordering::Relaxed),
            ..core.counters.read()
        }
    }

    /// Why the log has stopped for good, if it has.
    pub fn failed(&self) -> Option<String> {
        self.inner.core.failed.get().cloned()
    }

    /// The random number that names this log.
    pub fn log_id(&self) -> u64 {
        self.inner.core.log_id
    }

    /// Does what the background thread does once per interval; for owners that run without background threads.
    pub fn tick(&self) -> Result<(), LogError> {
        let mut seen = self.inner.background.seen.lock();
        self.inner.tick(&mut seen)
    }

    /// Clean shutdown: refuses further records, makes everything durable, writes the shutdown record. Every ticket
    /// must have been filled. The gate lets go of everything. Calling it again does nothing.
    pub fn close(&self) -> Result<(), LogError> {
        let core = &self.inner.core;
        {
            let _order = self.inner.order.lock();
            if core.closed.swap(true, Ordering::SeqCst) {
                return Ok(());
            }
        }
        core.shut_gate();
        self.stop_threads();
        core.progress.notify();
        self.inner.sync_all()?;
        self.inner.finish_second();
        match self.inner.reserve_own(RecordKind::Shutdown) {
            Ok(ticket) => {
                self.inner.fill(&ticket.slot, vec![0; HEADER_LEN]);
                drop(ticket);
                self.inner.sync_all()?;
                Ok(())
            }
            // The log is complete without the record; the next start only looks like one after a crash.
            Err(LogError::NoSpace(_)) => Ok(()),
            Err(e) => Err(e),
        }
    }

    fn stop_threads(&self) {
        self.inner.background.stop();
        for t in self.threads.lock().drain(..) {
            let _ = t.join();
        }
    }
}

impl<S: Send + 'static> Drop for Log<S> {
    fn drop(&mut self) {
        self.stop_threads();
    }
}
