//! The open log: reserving places, handing records over, waiting for them.

use std::cell::Cell;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use crate::background::Background;
use crate::core::{Core, Durability, frame_len};
use crate::error::{LogError, ReserveError};
use crate::flight::{Flights, Lanes};
use crate::frame::{self, HEADER_LEN, RecordKind};
use crate::gate::{GIVE_UP_SLICE, Gate, GateStats, Held};
use crate::purge::Purged;
use crate::random::{LogRecords, RecordAt};
use crate::reader::LogReader;
use crate::second::SecondLog;
use crate::segment::{END_LEN, START_LEN, Segment, SegmentFile, SegmentHeader};
use crate::stats::{Counters, LogStats};
use crate::{Lsn, Seq};

/// The place that a record got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reserved {
    /// Where the record starts.
    pub lsn: Lsn,
    /// LSN behind it. (The next record may start later: at the start of the next segment.)
    pub end_lsn: Lsn,
    /// Its commit sequence number; for a record that is no commit, that of the last commit before it.
    pub seq: Seq,
    /// It is the first of the caller's records in its segment.
    pub new_segment: bool,
}

/// Segments grow by at most this much at once: whoever needs room meanwhile waits no longer than for one of these.
const GROW_PIECE: u64 = 1 << 20;
/// A log that fills a segment within this time is busy: what it writes next is zeroed before it is in use, because a commit
/// that syncs a file which grows meanwhile waits for that.
const BUSY: Duration = Duration::from_secs(300);

/// Slot states. A slot is "ready" in every state but RESERVED.
pub(crate) const RESERVED: u8 = 0;
pub(crate) const FILLED: u8 = 1;
/// Filled, and its owner sleeps.
pub(crate) const SLEEPING: u8 = 2;
/// Filled, and its owner has left: whoever finishes it calls what the owner left behind.
pub(crate) const LEFT: u8 = 3;
/// Durable, and kept back by the gate.
pub(crate) const HELD: u8 = 4;
/// So, and its owner sleeps.
pub(crate) const HELD_SLEEPING: u8 = 5;
/// So, and its owner has left.
pub(crate) const HELD_LEFT: u8 = 6;
pub(crate) const DONE: u8 = 7;
pub(crate) const FAILED: u8 = 8;

/// What the owner of a record leaves behind instead of waiting for it: see [`Log::leave`].
pub trait OnDone: Send + Sync + std::fmt::Debug {
    /// The record is done, or the log has failed. Called once, by the thread that finished its group, which does the same
    /// for others: it must be quick and must neither block, nor panic, nor call the log.
    fn done(&self, result: Result<(), LogError>);
}

/// Who must be told when a record is finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Sleeps,
    Left,
}

impl Owner {
    /// By the state that the record had before; `None` if its owner is awake and will see for itself.
    pub fn of(state: u8) -> Option<Owner> {
        match state {
            SLEEPING | HELD_SLEEPING => Some(Owner::Sleeps),
            LEFT | HELD_LEFT => Some(Owner::Left),
            _ => None,
        }
    }
}

/// One reserved record in the queue.
#[derive(Debug)]
pub(crate) struct Slot {
    pub at: Reserved,
    pub kind: RecordKind,
    /// No record: its owner waits until everything before it is written.
    pub barrier: bool,
    /// Of a barrier: until it is durable.
    pub sync: bool,
    pub state: AtomicU8,
    pub buf: OnceLock<Vec<u8>>,
    pub sleeper: OnceLock<Thread>,
    pub left: OnceLock<Arc<dyn OnDone>>,
}

impl Slot {
    fn new(at: Reserved, kind: RecordKind) -> Slot {
        Slot {
            at,
            kind,
            barrier: false,
            sync: false,
            state: AtomicU8::new(RESERVED),
            buf: OnceLock::new(),
            sleeper: OnceLock::new(),
            left: OnceLock::new(),
        }
    }

    pub fn ready(&self) -> bool {
        self.state.load(Ordering::SeqCst) != RESERVED
    }

    pub fn wake(&self) {
        if let Some(t) = self.sleeper.get() {
            t.unpark();
        }
    }

    /// Tells the owner of a finished record.
    pub fn tell(&self, owner: Owner, result: impl FnOnce() -> Result<(), LogError>) {
        match owner {
            Owner::Sleeps => self.wake(),
            Owner::Left => {
                if let Some(l) = self.left.get() {
                    l.done(result());
                }
            }
        }
    }

    pub fn is_commit(&self) -> bool {
        !self.barrier && self.kind.is_commit()
    }

    /// Of its segment it is the first record.
    pub fn starts_segment(&self) -> bool {
        !self.barrier && self.kind == RecordKind::SegmentStart
    }

    pub fn is_chunk(&self) -> bool {
        !self.barrier && self.kind == RecordKind::Chunk
    }

    /// Bytes of the whole record.
    pub fn len(&self) -> u64 {
        self.at.end_lsn - self.at.lsn
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        if let Some(buf) = self.buf.take() {
            crate::buffers::keep(buf);
        }
    }
}

/// The right to hand over one record, from [`Log::reserve`].
///
/// Dropping it before [`Log::fill`] leaves a hole in the log that nothing can close, so that stops the log for good
/// (every later call fails) instead of hanging everyone behind the hole.
#[derive(Debug)]
pub struct Ticket {
    pub(crate) slot: Arc<Slot>,
    home: Arc<dyn Home>,
    waited: Cell<bool>,
    /// Only one thread at a time may wait on it.
    _not_sync: PhantomData<Cell<()>>,
}

impl Ticket {
    /// The place of the record.
    pub fn reserved(&self) -> Reserved {
        self.slot.at
    }

    /// Where the record starts.
    pub fn lsn(&self) -> Lsn {
        self.slot.at.lsn
    }

    /// Its commit sequence number (see [`Reserved::seq`]).
    pub fn seq(&self) -> Seq {
        self.slot.at.seq
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.slot.ready() {
            self.home.abandoned(self.slot.at.lsn);
        } else if !self.waited.get() {
            self.home.unwaited();
        }
    }
}

/// What a dropped ticket needs of its log.
trait Home: Send + Sync + std::fmt::Debug {
    fn abandoned(&self, lsn: Lsn);
    fn unwaited(&self);
}

pub(crate) struct Order<S> {
    pub state: S,
    pub next_lsn: Lsn,
    pub last_seq: Seq,
    /// Reserved and not yet written, in LSN order.
    pub queue: VecDeque<Arc<Slot>>,
    /// How many at the front of the queue mode 0 has published already.
    pub published: usize,
    pub segment: Arc<Segment>,
    pub next_segment: Option<Arc<Segment>>,
    /// End of the last record that is no Mark.
    pub last_real_end: Lsn,
    /// The last record is a Mark or a Shutdown: a quiet log needs no further one.
    pub marked: bool,
    /// The segment holds none of the caller's records yet.
    pub fresh_segment: bool,
    /// When the segment came into use.
    pub since: Instant,
    /// The last segment was full so soon that the next one had better be whole when it is needed.
    pub busy: bool,
}

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

/// The open log. `S` is the state that must advance in the log's order (binlog position, GTID counters); it is guarded
/// by the log's order mutex.
#[derive(Debug)]
pub struct Log<S: Send + 'static> {
    pub(crate) inner: Arc<Inner<S>>,
    pub(crate) threads: Mutex<Vec<std::thread::JoinHandle<()>>>,
}

/// What a reservation needs before it can be made.
pub(crate) enum Room {
    Here,
    Switch,
    Extend(Arc<Segment>, Lsn),
    Prepare(u64),
    /// Too many chunks are waiting: until they are written.
    Chunks(Arc<Slot>),
}

/// What can be done to have room before it is needed.
pub(crate) enum Wanted {
    /// Grow the segment's zeroed part a bit.
    Grow(Arc<Segment>),
    /// Make the next segment.
    Next,
}

impl<S: Send + 'static> Order<S> {
    pub fn room(&self, need: u64) -> Room {
        let first = if self.next_lsn == self.segment.start {
            START_LEN
        } else {
            0
        };
        // Every record leaves room for the record that closes the segment.
        let end = self.next_lsn + first + need + END_LEN;
        if end <= self.segment.cap_end() {
            if end <= self.segment.ready_end() {
                return Room::Here;
            }
            return Room::Extend(self.segment.clone(), end);
        }
        let need = START_LEN + need + END_LEN;
        match &self.next_segment {
            Some(n) if n.start + need <= n.cap_end() => {
                if n.start + need <= n.ready_end() {
                    Room::Switch
                } else {
                    Room::Extend(n.clone(), n.start + need)
                }
            }
            _ => Room::Prepare(need),
        }
    }

    /// What a chunk has to do first, so that `margin` bytes stay ready for commits behind it.
    fn margin(&self, need: u64, margin: u64) -> Option<Wanted> {
        let (cap_end, ready_end) = (self.segment.cap_end(), self.segment.ready_end());
        let end = self.next_lsn + START_LEN + need + END_LEN;
        if end + margin <= ready_end {
            return None;
        }
        if ready_end < cap_end {
            return Some(Wanted::Grow(self.segment.clone()));
        }
        let Some(next) = &self.next_segment else {
            return Some(Wanted::Next);
        };
        let want = if end <= cap_end {
            margin.saturating_sub(cap_end - end)
        } else {
            START_LEN + need + END_LEN + margin
        };
        let want = want.min(next.cap_end() - next.start);
        (next.ready_end() - next.start < want).then(|| Wanted::Grow(next.clone()))
    }

    fn push(&mut self, slot: Slot) -> Arc<Slot> {
        self.next_lsn = slot.at.end_lsn;
        if !slot.kind.is_mark() {
            self.last_real_end = slot.at.end_lsn;
        }
        self.marked = matches!(slot.kind, RecordKind::Mark | RecordKind::Shutdown);
        let slot = Arc::new(slot);
        self.queue.push_back(slot.clone());
        slot
    }

    /// Adds a record of the log's own whose body is one number.
    pub fn push_own(&mut self, core: &Core, kind: RecordKind, number: u64) {
        let at = Reserved {
            lsn: self.next_lsn,
            end_lsn: self.next_lsn + frame_len(8),
            seq: self.last_seq,
            new_segment: false,
        };
        let mut buf = vec![0u8; HEADER_LEN + 8];
        buf[HEADER_LEN..].copy_from_slice(&number.to_le_bytes());
        let durable = core.durable.load(Ordering::Acquire);
        frame::seal(&mut buf, core.log_id, at.lsn, kind, durable, at.seq);
        let slot = Slot::new(at, kind);
        let _ = slot.buf.set(buf);
        slot.state.store(FILLED, Ordering::SeqCst);
        self.push(slot);
    }

    pub fn start_segment_if_needed(&mut self, core: &Core) {
        if self.next_lsn == self.segment.start {
            let first = self.last_seq + 1;
            self.push_own(core, RecordKind::SegmentStart, first);
            self.fresh_segment = true;
        }
    }

    /// The place where the log stands.
    fn here(&self) -> Reserved {
        Reserved {
            lsn: self.next_lsn,
            end_lsn: self.next_lsn,
            seq: self.last_seq,
            new_segment: false,
        }
    }

    /// Queues a barrier.
    fn push_barrier(&mut self, sync: bool) -> Arc<Slot> {
        let mut slot = Slot::new(self.here(), RecordKind::Mark);
        slot.barrier = true;
        slot.sync = sync;
        slot.state = AtomicU8::new(FILLED);
        let slot = Arc::new(slot);
        self.queue.push_back(slot.clone());
        slot
    }

    fn switch(&mut self, core: &Core) {
        let Some(next) = self.next_segment.take() else {
            return;
        };
        self.start_segment_if_needed(core);
        self.push_own(core, RecordKind::EndOfSegment, next.start);
        self.next_lsn = next.start;
        self.last_real_end = next.start;
        self.segment = next;
        self.busy = self.since.elapsed() < BUSY;
        self.since = Instant::now();
    }
}

impl<S: Send + 'static> Inner<S> {
    /// Reserves a place. `held`: a chunk, which waits while too many chunks are queued. `check` runs once, when nothing
    /// else can stand in the way any more.
    fn reserve_any<T, E>(
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
    fn reserve_own(self: &Arc<Self>, kind: RecordKind) -> Result<Ticket, LogError> {
        let reserved = self.reserve_any(kind, 0, false, |_| Ok::<_, Infallible>(()), |_, _| ());
        match reserved {
            Ok((ticket, ())) => Ok(ticket),
            Err(ReserveError::Log(e)) => Err(e),
            Err(ReserveError::Refused(never)) => match never {},
        }
    }

    fn fill(&self, slot: &Slot, mut buf: Vec<u8>) {
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
    /// buffer of the wrong length stops the log. Follow it with [`Log::wait`] or [`Log::pass_on`], or drop the ticket: who
    /// waits behind this record may have found it unfinished, and then waits for somebody to lead.
    pub fn fill(&self, ticket: &Ticket, buf: Vec<u8>) {
        self.inner.fill(&ticket.slot, buf);
    }

    /// For an owner who keeps the ticket of a record that is filled, and does not wait for it now: whoever waits behind the
    /// record, and found it unfinished, is told.
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

    /// Instead of [`Log::wait`]: leaves the wait to whoever writes the record's group, who calls `then` afterwards. False
    /// if that is not possible (nobody is writing now, the record is done already, a gate is on, mode 0): the caller waits
    /// as usual, and `then` is not called. It may be called before this returns.
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
            // The log is complete without it; the next start just takes it for a crash.
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
