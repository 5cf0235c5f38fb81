//! The commit path: reserve a place, stamp and apply, hand over, release locks, wait.
//!
//! 1. The event group is finished: its length is known.
//!    If readers have locked ranges that it writes to, it waits for them (`locks/ranges.rs`).
//! 2. `reserve`: one short step under the log's order mutex gives LSN, sequence number, GTID, virtual position and the
//!    memtable that is active at this place.
//! 3. Outside any lock the group is stamped (positions, GTID, checksums) and the write set goes into that memtable. What
//!    it puts there is invisible until the sequence number is published.
//! 4. Row locks are released (early lock release): whoever takes them next commits later in the log, so it can't be
//!    acknowledged earlier.
//! 5. The record is handed over (`fill`: ready means applied), and the committer waits for its group.

use crate::catalog::LoggedChange;
use crate::db::{Inner, Order};
use crate::groups::Oob;
use crate::locks::drop_aside;
use crate::memtable::Memtable;
use crate::oob::OobHold;
use crate::packed::{PackedBody, unpack};
use crate::replica::{Origin, ReplicaMove, local_gtid};
use crate::run::RunMeta;
use crate::spilled::Spilled;
use crate::state::Layer;
use crate::txn::{CommitInfo, Reserved, Transaction, TxnOptions, binlog_err};
use crate::writeset::{RowDeltas, WriteSet};
use crate::xa::{Prepare, StoredStep, XaStep};
use crate::{EngineError, Result};
use narwal_binlog::{Gtid, GtidChoice, PendingGroup, Placement};
use narwal_log::{HEADER_LEN, RecordKind, ReserveError, Ticket};
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// From this size on (bytes) the write set of an out-of-band transaction becomes a layer instead of going into the
/// memtable key by key: the commit's time must not depend on its size.
pub(crate) const LAYER_BYTES: u64 = 2 << 20;

/// A place in all orders at once.
pub(crate) struct Place {
    pub(crate) ticket: Ticket,
    pub(crate) seq: u64,
    /// `None` for a local commit: it has no place in the binary log.
    pub(crate) placement: Option<Placement>,
    pub(crate) memtable: Arc<Memtable>,
    /// A State record should follow: [`crate::binlog::state_due`], once this record is handed over.
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

/// What the events of a record can't say.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Annex {
    /// Changes of the catalog, for DDL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) changes: Vec<LoggedChange>,
    /// Hidden row ids of the row changes of tables without primary key, in event order; of chunks, the chunks have them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) row_ids: Vec<u64>,
    /// The same for the local events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) local_row_ids: Vec<u64>,
    /// Bytes of local events between annex and event group: redo of filtered tables, which readers of the binary log
    /// never see.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) local_len: u32,
    /// Where the events are that were sent out of band.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) oob: Option<Oob>,
    /// Where the local events are that were sent out of band: redo of the rows that ALTER TABLE made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) local_oob: Option<Oob>,
    /// The spilled write set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) spill: Option<Spill>,
    /// Where the commit comes from: connection, the source's file, position behind the group there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) origin: Option<(u32, Arc<str>, u64)>,
    /// The GTID that it has there, if the record's events don't say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gtid: Option<(u32, u32, u64)>,
    /// It prepares an XA transaction, or ends a prepared one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) xa: Option<StoredStep>,
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}

impl Annex {
    /// What stands before the event group in a record: the annex with its length, then the local events. Empty if
    /// there is nothing to say.
    pub(crate) fn encode(&mut self, local: &[u8]) -> Result<Vec<u8>> {
        self.local_len = u32::try_from(local.len())
            .map_err(|_| EngineError::TransactionTooLarge(u64::from(u32::MAX)))?;
        if self.changes.is_empty()
            && self.row_ids.is_empty()
            && self.local_row_ids.is_empty()
            && local.is_empty()
            && self.oob.is_none()
            && self.local_oob.is_none()
            && self.origin.is_none()
            && self.xa.is_none()
        {
            return Ok(Vec::new());
        }
        let mut prefix = vec![0; 4];
        serde_json::to_writer(&mut prefix, self)
            .map_err(|e| EngineError::Io(format!("annex: {e}")))?;
        let len = prefix.len() as u32 - 4;
        prefix[..4].copy_from_slice(&len.to_le_bytes());
        prefix.extend_from_slice(local);
        Ok(prefix)
    }

    /// Notes where the transaction comes from. `local`: its GTID does not stand in the record otherwise.
    pub(crate) fn set_origin(&mut self, options: &TxnOptions, local: bool) {
        if let Some(o) = &options.origin {
            self.origin = Some((o.channel, o.file.clone(), o.pos));
            self.gtid = (local.then(|| local_gtid(&options.gtid)).flatten())
                .map(|g| (g.domain, g.server, g.seq));
        }
    }

    /// What was noted so.
    pub(crate) fn origin(&self) -> Option<(Origin, Option<Gtid>)> {
        let (channel, file, pos) = self.origin.clone()?;
        let gtid = self.gtid.map(|(domain, server, seq)| Gtid {
            domain,
            server,
            seq,
        });
        Some((Origin { channel, file, pos }, gtid))
    }
}

/// The spilled part of a write set. All of it follows from the chunks: it only saves their replay.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Spill {
    /// The run files, newest first.
    pub(crate) runs: Vec<RunMeta>,
    /// Bytes of events (without the GTID event) whose changes are all in the runs.
    pub(crate) events: u64,
    /// Row changes behind those that are in the runs too.
    #[serde(default)]
    pub(crate) skip: u64,
    /// By how much the number of rows of each clustered index changes through the runs.
    pub(crate) rows: Vec<(u32, i64)>,
    /// Table id, AUTO_INCREMENT counter and hidden row id counter of the tables written.
    pub(crate) counters: Vec<(u64, u64, u64)>,
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
    fn put(self, db: &Inner, order: &mut Order, seq: u64) {
        let layer = Layer::Spilled(Arc::new(Spilled::new(seq, self.writes)));
        order.active = self.fresh.clone();
        db.state
            .rcu(|s| s.covered(self.fresh.clone(), Some(layer.clone())));
    }
}

/// Reserves the place of a record that holds `events_len` bytes of a group of `group_len`, with `prefix_len` bytes of
/// annex and local events before them (0: none) and its first chunk at LSN `first_chunk` (0: none). `layer` is left alone on error.
#[allow(clippy::too_many_arguments)]
pub(crate) fn reserve(
    db: &Inner,
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
    let time = crate::binlog::now();
    let (ticket, (seq, (placement, state_due), memtable, hold)) = db
        .log
        .reserve_checked(
            kind,
            body,
            |order: &mut Order| order.binlog.check(&beyond_applied(order, choice)),
            |at, order| {
                let choice = beyond_applied(order, choice);
                let placed = order.place(at, group_len, &choice, time, first_chunk);
                order.replica.moved(at.seq, Some(placed.0.gtid), moves);
                let memtable = order.active.clone();
                if let Some(l) = layer {
                    l.put(db, order, at.seq);
                }
                let hold = xa.and_then(|x| x.place(db, order, at.lsn, first_chunk));
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

/// A group that gets its number here gets one behind what was applied of its domain, which the binary log may not have
/// (`SET GLOBAL gtid_slave_pos` on a copy): after it is promoted, its replicas see numbers that go on.
fn beyond_applied(order: &Order, choice: &GtidChoice) -> GtidChoice {
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
    db: &Inner,
    body: usize,
    layer: Option<NewLayer<'_>>,
    moves: &ReplicaMove<'_>,
    xa: Option<&XaStep>,
    first_chunk: u64,
) -> Result<Place> {
    let (ticket, (seq, state_due, memtable, hold)) =
        db.log
            .reserve(RecordKind::LocalCommit, body, |at, order: &mut Order| {
                order.replica.moved(at.seq, None, moves);
                let memtable = order.active.clone();
                if let Some(l) = layer {
                    l.put(db, order, at.seq);
                }
                let hold = xa.and_then(|x| x.place(db, order, at.lsn, first_chunk));
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

/// A local commit's buffer: header room, annex (its length is always there), local events, unstamped events.
pub(crate) fn local_record(prefix: &[u8], events: &[u8]) -> Vec<u8> {
    let prefix = if prefix.is_empty() { &[0; 4] } else { prefix };
    let mut buf = Vec::with_capacity(HEADER_LEN + prefix.len() + events.len());
    buf.resize(HEADER_LEN, 0);
    buf.extend_from_slice(prefix);
    buf.extend_from_slice(events);
    buf
}

/// A commit record's parts.
pub(crate) struct Parts<'a> {
    pub(crate) annex: Annex,
    /// Events of filtered tables, for recovery only.
    pub(crate) local: &'a [u8],
    /// The event group; in a local commit events without GTID and XID, for recovery only too.
    pub(crate) events: &'a [u8],
}

/// Splits a commit record's body.
pub(crate) fn split_record(kind: RecordKind, body: &[u8]) -> Result<Parts<'_>> {
    if kind == RecordKind::Commit {
        return Ok(Parts {
            annex: Annex::default(),
            local: &[],
            events: body,
        });
    }
    let short = || EngineError::Corrupt("a commit record is shorter than its annex".into());
    let (len, rest) = body.split_first_chunk::<4>().ok_or_else(short)?;
    let (annex, rest) = rest
        .split_at_checked(u32::from_le_bytes(*len) as usize)
        .ok_or_else(short)?;
    let annex: Annex = if annex.is_empty() {
        Annex::default()
    } else {
        serde_json::from_slice(annex).map_err(|e| EngineError::Corrupt(format!("annex: {e}")))?
    };
    let (local, events) = rest
        .split_at_checked(annex.local_len as usize)
        .ok_or_else(short)?;
    Ok(Parts {
        annex,
        local,
        events,
    })
}

/// The event group in a log record's body, for readers of the log: behind annex and local events, if there are any;
/// empty for a record that carries no events for them. `None` if the record is shorter than its annex says.
pub fn event_group(kind: RecordKind, body: &[u8]) -> Option<Cow<'_, [u8]>> {
    let (kind, body) = unpack(kind, body).ok()?;
    if !matches!(kind, RecordKind::Commit | RecordKind::AnnexCommit) {
        return Some(Cow::Borrowed(&[]));
    }
    Some(match body {
        Cow::Borrowed(body) => Cow::Borrowed(split_record(kind, body).ok()?.events),
        Cow::Owned(mut body) => {
            let at = body.len() - split_record(kind, &body).ok()?.events.len();
            body.drain(..at);
            Cow::Owned(body)
        }
    })
}

/// What the annex says of a spilled write set.
pub(crate) fn spill_of(txn: &Transaction) -> Option<Spill> {
    if !txn.writes.has_runs() {
        return None;
    }
    let end = txn.writes.spilled_end();
    let value = |c: &AtomicU64| c.load(Ordering::Relaxed);
    Some(Spill {
        runs: txn.writes.runs().map(|r| r.meta()).collect(),
        events: end.events,
        skip: end.skip,
        rows: txn.writes.spilled_rows().into_iter().collect(),
        counters: txn
            .tables
            .iter()
            .map(|t| {
                let c = &t.counters;
                (t.def.id, value(&c.auto_increment), value(&c.row_id))
            })
            .collect(),
    })
}

/// Commits a transaction; see the module's comment for the steps.
pub(crate) fn commit(db: &Arc<Inner>, txn: &mut Transaction) -> Result<CommitInfo> {
    let began = Instant::now();
    let large = txn.oob.is_some();
    let reserved = commit_reserved(db, txn, || ())?;
    if let Some(ticket) = &reserved.ticket {
        txn.options.wait_committed(db, ticket)?;
    }
    if large {
        tracing::debug!(
            seq = reserved.seq,
            ms = began.elapsed().as_secs_f64() * 1000.0,
            "large transaction committed"
        );
    }
    Ok(CommitInfo {
        seq: reserved.seq,
        gtid: reserved.gtid.map_or_else(String::new, |g| g.to_string()),
    })
}

/// A transaction that has its place in the log; its record is not handed over yet.
pub(crate) struct Logged {
    pub(crate) place: Place,
    pub(crate) buf: Vec<u8>,
    /// Its rows are a layer of the store already.
    pub(crate) layered: bool,
    /// By how much it changes the number of rows of each clustered index.
    deltas: RowDeltas,
    times: [Duration; 2],
}

impl Logged {
    pub(crate) fn new(place: Place, buf: Vec<u8>, layered: bool, deltas: RowDeltas) -> Self {
        Logged {
            place,
            buf,
            layered,
            deltas,
            times: Default::default(),
        }
    }
}

/// All steps of a commit but the wait. `placed` is called when it has its place.
pub(crate) fn commit_reserved(
    db: &Arc<Inner>,
    txn: &mut Transaction,
    placed: impl FnOnce(),
) -> Result<Reserved> {
    match log_changes(db, txn, None)? {
        Some(logged) => {
            placed();
            Ok(land(db, txn, logged))
        }
        None => {
            // Nothing was written. What locking reads saw must not be lost after this answer.
            let waited = txn.wait_reads_durable();
            txn.release();
            waited?;
            Ok(Reserved::default())
        }
    }
}

/// Gives a transaction's events their place in the log: those of a commit, or with `prepare` of XA PREPARE. `None`: there are
/// none.
pub(crate) fn log_changes(
    db: &Arc<Inner>,
    txn: &mut Transaction,
    prepare: Option<&Prepare<'_>>,
) -> Result<Option<Logged>> {
    txn.end_statement();
    let builder = txn.builder.take().filter(|b| !b.is_empty());
    let mut local = txn.local.take().filter(|l| !l.builder.is_empty());
    if builder.is_none() && local.is_none() {
        return Ok(None);
    }
    let began = Instant::now();
    db.admit(txn.oob.is_some())?;
    txn.sync_run_names()?;
    match prepare {
        // Its rows come into the store much later.
        Some(_) => txn.settle_writes()?,
        None => txn.begin_landing()?,
    }
    let admitted = began.elapsed();
    let oob = txn.name_chunks()?;
    let deltas = txn.writes.row_deltas();
    let layered = prepare.is_none() && becomes_layer(txn, oob.is_some());
    let step = prepare.map(|p| XaStep::Prepared(p.xid.clone()));
    let mut annex = Annex {
        row_ids: std::mem::take(&mut txn.row_ids),
        oob,
        spill: (prepare.is_none().then(|| spill_of(txn))).flatten(),
        xa: step.as_ref().map(XaStep::to_stored),
        ..Annex::default()
    };
    let first_chunk = annex.oob.as_ref().map_or(0, |o| o.first);
    let public = txn.options.log_bin && builder.is_some();
    annex.set_origin(&txn.options, !public);
    let prefix = match &mut local {
        Some(l) => {
            annex.local_row_ids = std::mem::take(&mut l.row_ids);
            annex.encode(l.builder.finish_local())?
        }
        None => annex.encode(&[])?,
    };
    let layer = layered.then(|| NewLayer::new(&mut txn.writes));
    let moves = ReplicaMove {
        origin: txn.options.origin.as_deref(),
        gtid: (!public).then(|| local_gtid(&txn.options.gtid)).flatten(),
        changes: &[],
    };
    let (place, buf) = match builder {
        Some(builder) if txn.options.log_bin => {
            db.counters.cache_use.fetch_add(1, Ordering::Relaxed);
            let group = match prepare {
                None => builder.finish(),
                Some(p) => builder.finish_xa_prepare(p.xid, &p.query),
            }
            .map_err(binlog_err)?;
            let group_len = group.group_len();
            // Outside every lock, and before the place is known: that needs the length. What was sent out of band is
            // not in it, and the rest is small.
            let packed = (db.options.compression.as_ref())
                .filter(|_| txn.oob.is_none() && prepare.is_none())
                .and_then(|how| PackedBody::pack(how, &prefix, group.unstamped()));
            let place = reserve(
                db,
                group.len(),
                group_len,
                prefix.len(),
                packed.as_ref(),
                &txn.options.gtid,
                first_chunk,
                layer,
                &moves,
                step.as_ref(),
            )?;
            db.counters
                .group_bytes
                .fetch_add(group_len, Ordering::Relaxed);
            let buf = match (packed, &place.placement) {
                (Some(p), Some(at)) => p.into_record(at.gtid, at.start_pos, place.seq),
                _ => record(group, &place, &prefix),
            };
            (place, buf)
        }
        mut builder => {
            let events = builder.as_mut().map_or(&[][..], |b| b.finish_local());
            let buf = local_record(&prefix, events);
            let body = buf.len() - HEADER_LEN;
            let place = reserve_local(db, body, layer, &moves, step.as_ref(), first_chunk)?;
            (place, buf)
        }
    };
    let times = [admitted, began.elapsed()];
    Ok(Some(Logged {
        times,
        ..Logged::new(place, buf, layered, deltas)
    }))
}

/// Whether a transaction's write set becomes a layer of the store as it is.
pub(crate) fn becomes_layer(txn: &Transaction, large: bool) -> bool {
    txn.writes.has_runs() || (large && txn.writes.bytes() > LAYER_BYTES)
}

/// Puts a transaction's rows into the store, hands its record over and releases its locks.
pub(crate) fn land(db: &Arc<Inner>, txn: &mut Transaction, logged: Logged) -> Reserved {
    let began = Instant::now();
    let Logged {
        place,
        buf,
        layered,
        deltas,
        times: [admitted, placed],
    } = logged;
    for t in &txn.tables {
        if txn.removes {
            t.counters.removed.fetch_max(place.seq, Ordering::Relaxed);
        }
        if let Some(delta) = deltas.get(&t.indexes[0].id).filter(|d| **d != 0) {
            t.counters.rows.fetch_add(*delta, Ordering::Relaxed);
        }
    }
    if !layered {
        for (key, own) in txn.writes.take().0 {
            place
                .memtable
                .put(&key, place.seq, own.payload, &db.registry);
        }
    }
    if !layered {
        txn.release();
    }
    if let Some(hold) = txn.oob.take().and_then(|o| o.hold) {
        // Until a checkpoint has the rows, recovery may read the chunks.
        db.oob_committed.lock().push((place.seq, hold));
        db.counters.oob_commits.fetch_add(1, Ordering::Relaxed);
    }
    db.log.fill(&place.ticket, buf);
    let filled = placed + began.elapsed();
    if layered {
        // It may have millions of locks: nobody behind it in the log should wait for their release. Its snapshot may be
        // the last that keeps memtables from long ago.
        if db.options.background {
            drop_aside(txn.snapshot.take());
        }
        txn.release();
    }
    let released = placed + began.elapsed();
    let reserved = follow_up(db, place);
    if layered {
        db.want_checkpoint();
        let ms = |d: Duration| d.as_secs_f64() * 1000.0;
        tracing::debug!(
            seq = reserved.seq,
            admitted = ms(admitted),
            placed = ms(placed),
            filled = ms(filled),
            released = ms(released),
            "large transaction on its way to the log, times in ms"
        );
    }
    reserved
}

/// What comes behind handing a record over.
pub(crate) fn follow_up(db: &Inner, place: Place) -> Reserved {
    if place.state_due {
        crate::binlog::state_due(db);
    }
    db.note_progress(&place);
    Reserved {
        seq: place.seq,
        gtid: place.placement.map(|p| p.gtid),
        ticket: Some(place.ticket),
    }
}
