//! A commit's place in all orders at once, and its record.

use crate::binlog::oob_holds::OobHold;
use crate::binlog::order::Order;
use crate::commit::reserved::CommitInfo;
use crate::parts::Parts;
use crate::record::annex::local_record;
use crate::record::packed::PackedBody;
use crate::record::replica::ReplicaMove;
use crate::record::xa::XaStep;
use crate::store::memtable::Memtable;
use crate::store::part::Store;
use crate::store::spilled::Spilled;
use crate::store::state::Layer;
use crate::store::writeset::WriteSet;
use crate::{EngineError, Result};
use narwal_binlog::{GtidChoice, PendingGroup, Placement};
use narwal_log::{HEADER_LEN, RecordKind, ReserveError, Ticket};
use std::sync::Arc;

/// A place in all orders at once.
pub(crate) struct Place {
    pub(crate) ticket: Ticket,
    pub(crate) seq: u64,
    /// `None` for a local commit: it has no place in the binary log.
    pub(crate) placement: Option<Placement>,
    pub(crate) memtable: Arc<Memtable>,
    /// A State record should follow: [`crate::binlog::write::state_due`], once this record is handed over.
    pub(crate) state_due: bool,
    /// Of a transaction that was prepared: keeps its record.
    pub(crate) hold: Option<OobHold>,
}

impl Place {
    /// What the client is told.
    pub(crate) fn info(&self) -> CommitInfo {
        CommitInfo {
            seq: self.seq,
            gtid: self
                .placement
                .as_ref()
                .map_or_else(String::new, |p| p.gtid.to_string()),
        }
    }
}

/// A write set that becomes a layer of the store of its own, instead of going into the memtable key by key.
pub(crate) struct NewLayer<'a> {
    writes: &'a mut WriteSet,
    fresh: Arc<Memtable>,
}

impl<'a> NewLayer<'a> {
    pub(crate) fn new(writes: &'a mut WriteSet) -> Self {
        NewLayer {
            writes,
            fresh: Arc::new(Memtable::new()),
        }
    }

    /// Under the order mutex: what commits before this one goes below the layer, what commits after it above.
    fn put(self, store: &Store, order: &mut Order, seq: u64) {
        let layer = Layer::Spilled(Arc::new(Spilled::new(seq, self.writes)));
        order.active = self.fresh.clone();
        store
            .state
            .rcu(|s| s.covered(self.fresh.clone(), Some(layer.clone())));
    }
}

/// Reserves the place of a record that holds `events_len` bytes of a group of `group_len`, with `prefix_len` bytes of
/// annex and local events before them (0: none) and its first chunk at LSN `first_chunk` (0: none). `layer` is left alone on error.
#[allow(clippy::too_many_arguments)]
pub(crate) fn reserve(
    db: &Parts,
    events_len: u32,
    group_len: u64,
    prefix_len: usize,
    packed: Option<&PackedBody>,
    choice: &GtidChoice,
    first_chunk: u64,
    layer: Option<NewLayer<'_>>,
    moves: &ReplicaMove<'_>,
    xa: Option<&XaStep>,
) -> Result<Place> {
    let (kind, body) = match packed {
        Some(p) => (RecordKind::PackedCommit, p.len()),
        None if prefix_len == 0 => (RecordKind::Commit, events_len as usize),
        None => (RecordKind::AnnexCommit, prefix_len + events_len as usize),
    };
    let time = crate::clock::now();
    let (ticket, (seq, (placement, state_due), memtable, hold)) = db
        .binlog
        .log
        .reserve_checked(
            kind,
            body,
            |order: &mut Order| order.binlog.check(&beyond_applied(order, choice)),
            |at, order| {
                let choice = beyond_applied(order, choice);
                let placed = order.place(at, group_len, &choice, time, first_chunk);
                order.replica.moved(at.seq, Some(placed.0.gtid), moves);
                let memtable = active(&db.store, order);
                if let Some(l) = layer {
                    l.put(&db.store, order, at.seq);
                }
                let hold = xa.and_then(|x| order.place_xa(x, &db.binlog.oob, at.lsn, first_chunk));
                (at.seq, placed, memtable, hold)
            },
        )
        .map_err(|e| match e {
            ReserveError::Log(e) => e.into(),
            ReserveError::Refused(e) => EngineError::GtidOrder(e),
        })?;
    Ok(Place {
        ticket,
        seq,
        placement: Some(placement),
        memtable,
        state_due,
        hold,
    })
}

/// The memtable that takes a commit which has its place now: the one that readers look into first.
#[inline]
fn active(store: &Store, order: &Order) -> Arc<Memtable> {
    debug_assert!(
        Arc::ptr_eq(&order.active, &store.state.load().active),
        "rows would go where no reader looks"
    );
    order.active.clone()
}

/// A group that gets its number here gets one behind what was applied of its domain, which the binary log may not have
/// (`SET GLOBAL gtid_slave_pos` on a copy): after it is promoted, its replicas see numbers that go on.
pub(crate) fn beyond_applied(order: &Order, choice: &GtidChoice) -> GtidChoice {
    if choice.seq_no.is_none() {
        let next = order.binlog.gtid_for(choice);
        if let Some(applied) = order.replica.slave_pos.get(&next.domain)
            && applied.seq >= next.seq
        {
            return GtidChoice {
                seq_no: Some(applied.seq + 1),
                ..*choice
            };
        }
    }
    *choice
}

/// Reserves the place of a local commit: a sequence number, but neither GTID nor binlog position.
pub(crate) fn reserve_local(
    db: &Parts,
    body: usize,
    layer: Option<NewLayer<'_>>,
    moves: &ReplicaMove<'_>,
    xa: Option<&XaStep>,
    first_chunk: u64,
) -> Result<Place> {
    let (ticket, (seq, state_due, memtable, hold)) =
        db.binlog
            .log
            .reserve(RecordKind::LocalCommit, body, |at, order: &mut Order| {
                order.replica.moved(at.seq, None, moves);
                let memtable = active(&db.store, order);
                if let Some(l) = layer {
                    l.put(&db.store, order, at.seq);
                }
                let hold = xa.and_then(|x| order.place_xa(x, &db.binlog.oob, at.lsn, first_chunk));
                (at.seq, order.track.due(at.lsn), memtable, hold)
            })?;
    Ok(Place {
        ticket,
        seq,
        placement: None,
        memtable,
        state_due,
        hold,
    })
}

/// The record's buffer: header room, annex and local events if any, stamped events.
pub(crate) fn record(group: PendingGroup, place: &Place, prefix: &[u8]) -> Vec<u8> {
    let events = match &place.placement {
        Some(p) => group.into_stamped(p.gtid, p.start_pos, place.seq),
        // Not for readers: only what stands before it counts.
        None => return local_record(prefix, &[]),
    };
    if prefix.is_empty() {
        return events;
    }
    let mut buf = Vec::with_capacity(events.len() + prefix.len());
    buf.resize(HEADER_LEN, 0);
    buf.extend_from_slice(prefix);
    buf.extend_from_slice(&events[HEADER_LEN..]);
    buf
}
