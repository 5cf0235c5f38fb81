//! The commit path: reserve a place, stamp and apply, hand over, release locks, wait.
//!
//! 1. The event group is finished: its length is known.
//!    If readers have locked ranges that it writes to, it waits for them (`locks/ranges.rs`).
//! 2. `reserve`: one short step under the log's order mutex gives LSN, sequence number, GTID, virtual position and the
//!    memtable that is active at this place.
//! 3. Outside any lock the group is stamped (positions, GTID, checksums) and the write set goes into that memtable. What
//!    it puts there is invisible until the sequence number is published.
//! 4. Row locks are released (early lock release). Their next owner commits later in the log, so it can't be acknowledged
//!    earlier.
//! 5. The record is handed over (`fill`: ready means applied), and the committer waits for its group.

use crate::Result;
use crate::commit::place::{NewLayer, Place, record, reserve, reserve_local};
use crate::commit::reserved::{CommitInfo, Reserved};
use crate::error::binlog_err;
use crate::locks::table::drop_aside;
use crate::parts::Parts;
use crate::record::annex::{Annex, Spill, local_record};
use crate::record::packed::PackedBody;
use crate::record::replica::{ReplicaMove, local_gtid};
use crate::record::xa::XaStep;
use crate::store::writeset::RowDeltas;
use crate::txn::transaction::Transaction;
use narwal_binlog::{DdlQuery, Xid};
use narwal_log::HEADER_LEN;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// From this size on (bytes) the write set of an out-of-band transaction becomes a layer instead of going into the
/// memtable key by key: the commit's time must not depend on its size.
pub(crate) const LAYER_BYTES: u64 = 2 << 20;

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

/// The time since then; none if nobody took the time.
fn since(began: Option<Instant>) -> Duration {
    began.map_or(Duration::ZERO, |b| b.elapsed())
}

/// Commits a transaction; see the module's comment for the steps.
pub(crate) fn commit(db: &Arc<Parts>, txn: &mut Transaction) -> Result<CommitInfo> {
    let began = txn.events.oob.is_some().then(Instant::now);
    let reserved = commit_reserved(db, txn, || ())?;
    if let Some(ticket) = &reserved.ticket {
        txn.options.wait_committed(&db.binlog.log, ticket)?;
    }
    if let Some(began) = began {
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
    db: &Arc<Parts>,
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
    db: &Arc<Parts>,
    txn: &mut Transaction,
    prepare: Option<&Prepare<'_>>,
) -> Result<Option<Logged>> {
    txn.end_statement();
    let builder = txn.events.builder.take().filter(|b| !b.is_empty());
    let mut local = txn.events.local.take().filter(|l| !l.builder.is_empty());
    if builder.is_none() && local.is_none() {
        return Ok(None);
    }
    // Only a large transaction's times are told.
    let began = (txn.events.oob.is_some() || txn.writes.has_runs()).then(Instant::now);
    db.pressure
        .admit(&db.store, &db.binlog.log, txn.events.oob.is_some())?;
    txn.sync_run_names()?;
    match prepare {
        // Its rows come into the store much later.
        Some(_) => txn.settle_writes()?,
        None => txn.begin_landing()?,
    }
    let admitted = since(began);
    let oob = txn.name_chunks()?;
    let deltas = txn.writes.row_deltas();
    let layered = prepare.is_none() && becomes_layer(txn, oob.is_some());
    let step = prepare.map(|p| XaStep::Prepared(p.xid.clone()));
    let mut annex = Annex {
        row_ids: std::mem::take(&mut txn.events.row_ids),
        oob,
        spill: (prepare.is_none().then(|| spill_of(txn))).flatten(),
        xa: step.as_ref().map(XaStep::to_stored),
        ..Annex::default()
    };
    let first_chunk = annex.oob.as_ref().map_or(0, |o| o.first);
    let public = txn.options.log_bin && builder.is_some();
    annex.set_origin(txn.options.origin.as_deref(), &txn.options.gtid, !public);
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
                .filter(|_| txn.events.oob.is_none() && prepare.is_none())
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
    let times = [admitted, since(began)];
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
pub(crate) fn land(db: &Arc<Parts>, txn: &mut Transaction, logged: Logged) -> Reserved {
    let began = logged.layered.then(Instant::now);
    let Logged {
        place,
        buf,
        layered,
        deltas,
        times: [admitted, placed],
    } = logged;
    debug_assert!(
        place.seq > db.binlog.log.visible_seq(),
        "a commit is visible before its rows are in the store"
    );
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
                .put(&key, place.seq, own.payload, &db.store.registry);
        }
    }
    if !layered {
        txn.release();
    }
    if let Some(hold) = txn.events.oob.take().and_then(|o| o.hold) {
        // Until a checkpoint has the rows, recovery may read the chunks.
        db.binlog.oob_committed.lock().push((place.seq, hold));
        db.counters.oob_commits.fetch_add(1, Ordering::Relaxed);
    }
    db.binlog.log.fill(&place.ticket, buf);
    let filled = placed + since(began);
    if layered {
        // It may have millions of locks: nobody behind it in the log should wait for their release. Its snapshot may be
        // the last that keeps memtables from long ago.
        if db.options.background {
            drop_aside(txn.view.snapshot.take());
        }
        txn.release();
    }
    let released = placed + since(began);
    let reserved = follow_up(db, place);
    if layered {
        db.pressure.bell.want();
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
pub(crate) fn follow_up(db: &Parts, place: Place) -> Reserved {
    if place.state_due {
        crate::binlog::write::state_due(&db.binlog);
    }
    db.pressure
        .note_progress(&db.binlog, place.ticket.lsn(), &place.memtable);
    Reserved {
        seq: place.seq,
        gtid: place.placement.map(|p| p.gtid),
        ticket: Some(place.ticket),
    }
}

/// What XA PREPARE logs beside the changes.
pub(crate) struct Prepare<'a> {
    pub(crate) xid: &'a Xid,
    pub(crate) query: DdlQuery<'a>,
}

impl Transaction {
    /// Commits: returns when durable as configured and visible. On error nothing of it is visible or will ever be
    /// (but see `LogFailed`: its fate is decided by what the disk kept).
    pub fn commit(mut self) -> Result<CommitInfo> {
        let db = self.db.clone();
        let done = commit(&db, &mut self)?;
        self.settle_temporary();
        Ok(done)
    }

    /// Everything of [`Transaction::commit`] but the wait: when it returns, the place in the order is taken, the rows are
    /// in the store, the row locks are free. Others see nothing of it before it is durable, which
    /// [`crate::Database::wait_committed`] waits for (one wait for the last of many is enough, and somebody has to wait:
    /// it is the waiter who writes).
    ///
    /// # Errors
    /// As [`Transaction::commit`].
    pub fn commit_reserved(self) -> Result<Reserved> {
        self.commit_reserved_then(|| ())
    }

    /// As [`Transaction::commit_reserved`]; `placed` is called as soon as the place is taken (not if nothing was
    /// written), before the rows are in the store.
    ///
    /// # Errors
    /// As [`Transaction::commit`].
    pub fn commit_reserved_then(mut self, placed: impl FnOnce()) -> Result<Reserved> {
        let db = self.db.clone();
        let reserved = commit_reserved(&db, &mut self, placed)?;
        self.settle_temporary();
        reserved.pass_on(&db.binlog.log);
        Ok(reserved)
    }
}
