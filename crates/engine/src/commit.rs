//! The commit path: reserve a place, stamp and apply, hand over, release locks, wait.
//!
//! 1. The event group is finished: its length is known.
//! 2. `reserve`: one short step under the log's order mutex gives LSN, sequence number, GTID, virtual position and the
//!    memtable that is active at this place.
//! 3. Outside any lock the group is stamped (positions, GTID, checksums) and the overlay goes into that memtable. What
//!    it puts there is invisible until the sequence number is published.
//! 4. Row locks are released (early lock release): whoever takes them next commits later in the log, so it can't be
//!    acknowledged earlier.
//! 5. The record is handed over (`fill`: ready means applied), and the committer waits for its group.

use crate::catalog::LoggedChange;
use crate::db::{Inner, Order};
use crate::memtable::{Memtable, index_of};
use crate::txn::{CommitInfo, Transaction, binlog_err};
use crate::{EngineError, Result};
use narwal_binlog::{GtidChoice, PendingGroup, Placement};
use narwal_log::{HEADER_LEN, RecordKind, Ticket};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A place in all orders at once.
pub(crate) struct Place {
    pub(crate) ticket: Ticket,
    pub(crate) seq: u64,
    pub(crate) placement: Placement,
    pub(crate) memtable: Arc<Memtable>,
}

/// What the events of a record can't say.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct Annex {
    /// Changes of the catalog, for DDL.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) changes: Vec<LoggedChange>,
    /// Hidden row ids of the row changes of tables without primary key, in event order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) row_ids: Vec<u64>,
}

/// Reserves the place of a record whose events are `group_len` bytes and whose annex is `annex_len` bytes (0: none).
pub(crate) fn reserve(
    db: &Inner,
    group_len: u32,
    annex_len: usize,
    choice: &GtidChoice,
) -> Result<Place> {
    crate::binlog::check_gtid(db, choice)?;
    let (kind, body) = if annex_len == 0 {
        (RecordKind::Commit, group_len as usize)
    } else {
        (RecordKind::AnnexCommit, 4 + annex_len + group_len as usize)
    };
    let (ticket, (seq, placement, memtable)) =
        db.log.reserve(kind, body, |at, order: &mut Order| {
            (
                at.seq,
                order.binlog.place(u64::from(group_len), choice),
                order.active.clone(),
            )
        })?;
    Ok(Place {
        ticket,
        seq,
        placement,
        memtable,
    })
}

/// The record's buffer: header room, annex if any, stamped events.
pub(crate) fn record(group: PendingGroup, place: &Place, annex: &[u8]) -> Vec<u8> {
    let p = &place.placement;
    let events = group.into_stamped(p.gtid, p.start_pos, place.seq);
    if annex.is_empty() {
        return events;
    }
    let mut buf = Vec::with_capacity(events.len() + 4 + annex.len());
    buf.resize(HEADER_LEN, 0);
    buf.extend_from_slice(&(annex.len() as u32).to_le_bytes());
    buf.extend_from_slice(annex);
    buf.extend_from_slice(&events[HEADER_LEN..]);
    buf
}

/// Splits a record's body into annex and event group.
pub(crate) fn split_record(kind: RecordKind, body: &[u8]) -> Result<(&[u8], &[u8])> {
    if kind != RecordKind::AnnexCommit {
        return Ok((&[], body));
    }
    let short = || EngineError::Corrupt("a commit record is shorter than its annex".into());
    let (len, rest) = body.split_first_chunk::<4>().ok_or_else(short)?;
    rest.split_at_checked(u32::from_le_bytes(*len) as usize)
        .ok_or_else(short)
}

/// The event group in a log record's body, for readers of the log: behind the annex, if there is one; empty for a
/// record that carries no events. `None` if the record is shorter than its annex says.
pub fn event_group(kind: RecordKind, body: &[u8]) -> Option<&[u8]> {
    match kind {
        RecordKind::Commit | RecordKind::AnnexCommit => {
            split_record(kind, body).ok().map(|(_, group)| group)
        }
        _ => Some(&[]),
    }
}

/// Commits a transaction; see the module's comment for the steps.
pub(crate) fn commit(db: &Arc<Inner>, txn: &mut Transaction) -> Result<CommitInfo> {
    txn.end_statement();
    let builder = match txn.builder.take() {
        Some(b) if !b.is_empty() => b,
        _ => {
            // Nothing was written. What locking reads saw must not be lost after this answer.
            let waited = txn.wait_reads_durable();
            txn.release();
            waited?;
            return Ok(CommitInfo::default());
        }
    };
    db.admit()?;
    let group = builder.finish().map_err(binlog_err)?;
    let group_len = group.len();
    let annex = if txn.row_ids.is_empty() {
        Vec::new()
    } else {
        let annex = Annex {
            changes: Vec::new(),
            row_ids: std::mem::take(&mut txn.row_ids),
        };
        serde_json::to_vec(&annex).map_err(|e| EngineError::Io(format!("annex: {e}")))?
    };
    let place = reserve(db, group_len, annex.len(), &txn.options.gtid)?;
    let buf = record(group, &place, &annex);
    for t in &txn.tables {
        let clustered = t.indexes[0].id;
        let start = crate::memtable::full_key(clustered, &[]);
        let delta: i64 = txn
            .overlay
            .range(start..)
            .take_while(|(k, _)| index_of(k) == clustered)
            .map(|(_, o)| i64::from(o.delta))
            .sum();
        if delta != 0 {
            t.counters.rows.fetch_add(delta, Ordering::Relaxed);
        }
    }
    for (key, own) in std::mem::take(&mut txn.overlay) {
        place
            .memtable
            .put(&key, place.seq, own.payload, &db.registry);
    }
    txn.release();
    db.log.fill(&place.ticket, buf);
    db.counters
        .group_bytes
        .fetch_add(u64::from(group_len), Ordering::Relaxed);
    db.note_progress(&place);
    db.log.wait(&place.ticket)?;
    Ok(CommitInfo {
        seq: place.seq,
        gtid: place.placement.gtid.to_string(),
    })
}
