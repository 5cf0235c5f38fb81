//! The order state: what advances in the log's order, under one mutex that is held for a few steps only.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::core::Core;
use crate::frame::{self, HEADER_LEN, RecordKind};
use crate::record::{Reserved, frame_len};
use crate::segment::{END_LEN, START_LEN, Segment};
use crate::slot::{FILLED, Slot};
use crate::{Lsn, Seq};

/// A log that fills a segment within this time is busy: what it writes next is zeroed before it is in use, because a commit
/// that syncs a file which grows meanwhile waits for that.
pub(crate) const BUSY: Duration = Duration::from_secs(300);

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
    pub fn margin(&self, need: u64, margin: u64) -> Option<Wanted> {
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

    pub fn push(&mut self, slot: Slot) -> Arc<Slot> {
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
    pub fn here(&self) -> Reserved {
        Reserved {
            lsn: self.next_lsn,
            end_lsn: self.next_lsn,
            seq: self.last_seq,
            new_segment: false,
        }
    }

    /// Queues a barrier.
    pub fn push_barrier(&mut self, sync: bool) -> Arc<Slot> {
        let mut slot = Slot::new(self.here(), RecordKind::Mark);
        slot.barrier = true;
        slot.sync = sync;
        slot.state = AtomicU8::new(FILLED);
        let slot = Arc::new(slot);
        self.queue.push_back(slot.clone());
        slot
    }

    pub fn switch(&mut self, core: &Core) {
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
