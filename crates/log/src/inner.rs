//! What all threads of an open log share, and its work: reserving places, taking records over, making room, rounds of the
//! background flush. The flush of a commit group is in `group.rs`.

use std::cell::Cell;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::Thread;

use parking_lot::Mutex;

use crate::Lsn;
use crate::background::Background;
use crate::core::Core;
use crate::error::{LogError, ReserveError};
use crate::flight::{Flights, Lanes};
use crate::frame::{self, HEADER_LEN, RecordKind};
use crate::options::Durability;
use crate::order::{BUSY, Order, Room, Wanted};
use crate::record::{Reserved, frame_len};
use crate::segment::{Segment, SegmentHeader};
use crate::slot::{FILLED, RESERVED, Slot};
use crate::stats::Counters;
use crate::ticket::{Home, Ticket};

/// Segments grow by at most this much at once, so a commit that needs room meanwhile waits for one such step at most.
const GROW_PIECE: u64 = 1 << 20;

pub(crate) struct Inner<S> {
    pub core: Arc<Core>,
    pub order: Mutex<Order<S>>,
    /// Somebody leads: gathers and writes a group.
    pub leading: AtomicBool,
    /// The groups that are written and not finished.
    pub flights: Flights,
    /// The segment that the leader writes to. Only the leader, and who syncs aside, takes this lock.
    pub lanes: Mutex<Lanes>,
    /// Commits filled and not yet taken by a leader.
    pub gathered: AtomicU32,
    /// How many of them a leader is waiting for, 0 for none.
    pub gather_target: AtomicU32,
    pub gatherer: Mutex<Option<Thread>>,
    /// Bytes of chunk records that are reserved and not yet written out (in mode 1: durable). Grows under the order
    /// mutex only.
    pub chunk_bytes: AtomicU64,
    /// Serialises syncs beside the leader.
    pub aside: Mutex<()>,
    pub background: Background,
}

impl<S> std::fmt::Debug for Inner<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Log").field("core", &self.core).finish()
    }
}

impl<S: Send + 'static> Inner<S> {
    /// Reserves a place. `held`: a chunk, which waits while too many chunks are queued. `check` runs once, when nothing
    /// else can stand in the way any more.
    pub fn reserve_any<T, E>(
        self: &Arc<Self>,
        kind: RecordKind,
        body_len: usize,
        held: bool,
        check: impl FnOnce(&mut S) -> Result<(), E>,
        stamp: impl FnOnce(&Reserved, &mut S) -> T,
    ) -> Result<(Ticket, T), ReserveError<E>> {
        let core = &self.core;
        let need = frame_len(body_len);
        loop {
            let mut order = self.order.lock();
            core.check()?;
            if core.closed.load(Ordering::Acquire) && kind != RecordKind::Shutdown {
                return Err(LogError::Closed.into());
            }
            let room = if held && self.chunks_full(need) {
                Room::Chunks(order.push_barrier(core.mode() == Durability::Synced))
            } else {
                order.room(need)
            };
            if held
                && !matches!(room, Room::Chunks(_))
                && let Some(wanted) = order.margin(need, core.opts.chunk_margin())
            {
                drop(order);
                self.make(&wanted)?;
                continue;
            }
            let switch = match room {
                Room::Here => false,
                Room::Switch => true,
                Room::Chunks(barrier) => {
                    drop(order);
                    self.wait_slot(&barrier)?;
                    self.sync_chunks()?;
                    continue;
                }
                Room::Extend(segment, to) => {
                    drop(order);
                    self.extend(&segment, to)?;
                    continue;
                }
                Room::Prepare(need) => {
                    drop(order);
                    self.prepare_next(need)?;
                    continue;
                }
            };
            // If `check` or `stamp` panics nothing was reserved, but the caller's state may be half changed: stop.
            let guard = StampGuard(core);
            if let Err(e) = check(&mut order.state) {
                std::mem::forget(guard);
                return Err(ReserveError::Refused(e));
            }
            if switch {
                order.switch(core);
            }
            order.start_segment_if_needed(core);
            let at = Reserved {
                lsn: order.next_lsn,
                end_lsn: order.next_lsn + need,
                seq: order.last_seq + u64::from(kind.is_commit()),
                new_segment: order.fresh_segment && !kind.is_internal(),
            };
            let out = stamp(&at, &mut order.state);
            std::mem::forget(guard);
            order.last_seq = at.seq;
            order.fresh_segment &= kind.is_internal();
            if kind == RecordKind::Chunk {
                self.chunk_bytes.fetch_add(need, Ordering::SeqCst);
            }
            let slot = order.push(Slot::new(at, kind));
            let wants_space = self.wanted(&order).is_some();
            drop(order);
            if wants_space {
                self.background.want_space();
            }
            return Ok((
                Ticket {
                    slot,
                    home: self.clone(),
                    waited: Cell::new(false),
                    _not_sync: PhantomData,
                },
                out,
            ));
        }
    }

    /// Whether a chunk of `need` bytes would be too much in the queue. The first one always goes.
    fn chunks_full(&self, need: u64) -> bool {
        let queued = self.chunk_bytes.load(Ordering::SeqCst);
        queued > 0 && queued + need > self.core.opts.chunk_queue
    }

    /// What the background thread should do next to make room ahead of the writer.
    pub fn wanted(&self, order: &Order<S>) -> Option<Wanted> {
        let (cap_end, ready_end) = (order.segment.cap_end(), order.segment.ready_end());
        let step = self.core.opts.grow_step;
        if ready_end < cap_end && ready_end - order.next_lsn.min(ready_end) < step / 2 {
            return Some(Wanted::Grow(order.segment.clone()));
        }
        let used = order.next_lsn - order.segment.start;
        let late = used * 4 > (cap_end - order.segment.start) * 3;
        match &order.next_segment {
            None => (order.busy || late).then_some(Wanted::Next),
            // Nobody syncs that file yet, so now is the time.
            Some(next) if next.ready_end() < next.cap_end() => {
                let busy = order.busy || (late && order.since.elapsed() < BUSY);
                busy.then(|| Wanted::Grow(next.clone()))
            }
            Some(_) => None,
        }
    }

    /// Grows a segment's zeroed part at least to `to`.
    pub fn extend(&self, segment: &Segment, to: Lsn) -> Result<(), LogError> {
        let core = &self.core;
        let _one = core.maintenance.lock();
        if segment.ready_end() >= to {
            return Ok(());
        }
        let target = to
            .max(segment.ready_end() + core.opts.grow_step.min(GROW_PIECE))
            .min(segment.cap_end());
        let mut result = segment.extend(target);
        if matches!(result, Err(LogError::NoSpace(_))) && to < target {
            // Perhaps there is room for just this record.
            result = segment.extend(to.next_multiple_of(512).min(segment.cap_end()));
        }
        if let Err(LogError::Failed(text)) = &result {
            self.fail(text.clone());
        } else if result.is_ok() {
            Counters::add(&core.counters.prepare_syncs, 1);
            // A sync of a commit that failed meanwhile may have swallowed what this one should have been told.
            if core.failed.get().is_none() {
                segment.note_length(segment.offset_of(segment.ready_end()));
            }
        }
        result
    }

    /// Does one step of what is wanted.
    pub fn make(&self, wanted: &Wanted) -> Result<(), LogError> {
        match wanted {
            Wanted::Grow(segment) => self.extend(segment, segment.ready_end() + 1),
            Wanted::Next => self.prepare_next(0),
        }
    }

    /// Makes the next segment, able to take `need` bytes at once.
    pub fn prepare_next(&self, need: u64) -> Result<(), LogError> {
        let core = &self.core;
        let _one = core.maintenance.lock();
        let (start, existing) = {
            let order = self.order.lock();
            (order.segment.cap_end(), order.next_segment.clone())
        };
        let cap = core.opts.segment_cap().max(need.next_multiple_of(4096));
        if let Some(next) = existing {
            // Not in use yet, so its range may still grow.
            if next.start + need > next.cap_end() {
                next.cap_end.store(next.start + cap, Ordering::Release);
            }
            return Ok(());
        }
        let header = SegmentHeader {
            log_id: core.log_id,
            start,
            durable: core.durable.load(Ordering::Acquire),
            allocated: 0,
        };
        let segment = Arc::new(Segment::create(
            &*core.opts.disk,
            &core.opts.dir,
            header,
            cap,
            core.opts.initial_ready(cap, need),
        )?);
        Counters::add(&core.counters.segments_made, 1);
        Counters::add(&core.counters.prepare_syncs, 1);
        core.segments.lock().insert(start, segment.clone());
        self.order.lock().next_segment = Some(segment);
        Ok(())
    }

    /// Reserves the place of a record of the log's own without body.
    pub fn reserve_own(self: &Arc<Self>, kind: RecordKind) -> Result<Ticket, LogError> {
        let reserved = self.reserve_any(kind, 0, false, |_| Ok::<_, Infallible>(()), |_, _| ());
        match reserved {
            Ok((ticket, ())) => Ok(ticket),
            Err(ReserveError::Log(e)) => Err(e),
            Err(ReserveError::Refused(never)) => match never {},
        }
    }

    pub fn fill(&self, slot: &Slot, mut buf: Vec<u8>) {
        let core = &self.core;
        let expected = (slot.at.end_lsn - slot.at.lsn) as usize;
        if buf.len() != expected {
            self.fail(format!(
                "a record of {} bytes was handed over for a place of {expected} bytes",
                buf.len()
            ));
            return;
        }
        let durable = core.durable.load(Ordering::Acquire);
        frame::seal(
            &mut buf,
            core.log_id,
            slot.at.lsn,
            slot.kind,
            durable,
            slot.at.seq,
        );
        let _ = slot.buf.set(buf);
        // Counted before a leader can take it, who counts it off.
        let gathered = slot
            .is_commit()
            .then(|| self.gathered.fetch_add(1, Ordering::SeqCst) + 1);
        // Fails only if the log has failed meanwhile.
        let _ = slot
            .state
            .compare_exchange(RESERVED, FILLED, Ordering::SeqCst, Ordering::SeqCst);
        let target = self.gather_target.load(Ordering::SeqCst);
        if target != 0
            && gathered.is_some_and(|n| n >= target)
            && let Some(t) = &*self.gatherer.lock()
        {
            t.unpark();
        }
    }

    pub fn sync_all(&self) -> Result<Lsn, LogError> {
        let slot = {
            let mut order = self.order.lock();
            self.core.check()?;
            order.push_barrier(true)
        };
        self.wait_slot(&slot)?;
        Ok(slot.at.lsn)
    }

    /// One round of the background flush: makes durable what has waited since the last round, or marks a quiet log.
    /// `seen` carries the round's memory.
    pub fn tick(self: &Arc<Self>, seen: &mut Lsn) -> Result<(), LogError> {
        let core = &self.core;
        let durable = core.durable.load(Ordering::Acquire);
        let (real_end, next_lsn, marked, at_start) = {
            let o = self.order.lock();
            (
                o.last_real_end,
                o.next_lsn,
                o.marked,
                o.next_lsn == o.segment.start,
            )
        };
        let quiet = *seen == next_lsn;
        *seen = next_lsn;
        if core.closed.load(Ordering::Acquire) {
            return Ok(());
        }
        if let Err(e) = core.reap_idle() {
            tracing::warn!(error = %e, "can't give back the space of purged log segments");
        }
        if real_end > durable {
            self.sync_all()?;
        } else if quiet && !marked && !at_start {
            match self.reserve_own(RecordKind::Mark) {
                Ok(ticket) => {
                    self.fill(&ticket.slot, vec![0; HEADER_LEN]);
                    self.write_out();
                    *seen = ticket.slot.at.end_lsn;
                }
                Err(LogError::NoSpace(_)) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

struct StampGuard<'a>(&'a Core);

impl Drop for StampGuard<'_> {
    fn drop(&mut self) {
        // What is queued already is whole and may finish; only nothing new is accepted.
        let _ = self
            .0
            .failed
            .set("a panic while the order state was being changed".into());
    }
}

impl<S: Send + 'static> Home for Inner<S> {
    fn abandoned(&self, lsn: Lsn) {
        self.fail(format!(
            "the record reserved at LSN {lsn} was never handed over"
        ));
    }

    fn unwaited(&self) {
        self.kick();
    }
}
