//! XA transactions: branches by name, and those that are prepared. See docs/xa.md.
//!
//! A prepared transaction's record in the log is an ordinary commit record, with everything that its commit needs, whose
//! annex says that it only prepares. Its rows stay in its write set and its locks are held. The record that ends it names the
//! first one by its LSN: whoever replays it reads the rows there. Which transactions are prepared is part of what the order
//! of the log decides (`PreparedList`); a checkpoint stores it as it was at exactly its sequence number, and the log is kept
//! from the oldest one on. A start takes the rows and the locks again (`resume`) before anybody is served.

use crate::commit::NewLayer;
use crate::commit::{
    Annex, Logged, becomes_layer, follow_up, land, log_changes, record, reserve, reserve_local,
    spill_of, split_record,
};
use crate::db::{Inner, Order};
use crate::foreign::ForeignKeyMode;
use crate::oob::OobHold;
use crate::redo;
use crate::replica::{Origin, ReplicaMove, local_gtid};
use crate::table::Table;
use crate::txn::{
    Isolation, LockMode, Reserved, Row, RowInner, Transaction, TxnOptions, binlog_err,
};
use crate::{Database, EngineError, Result};
pub use narwal_binlog::Xid;
use narwal_binlog::{DdlQuery, GroupBuilder, GtidChoice, QueryContext};
use narwal_log::{DirRecords, HEADER_LEN, Lsn, RecordKind};
use narwal_types::SqlError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Where a prepared transaction stands in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PreparedAt {
    /// Its record.
    pub(crate) lsn: Lsn,
    /// The first record that it needs: that one, or its first chunk.
    pub(crate) needed: Lsn,
}

/// The prepared transactions at a place in the log's order.
pub(crate) type PreparedList = BTreeMap<Xid, PreparedAt>;

/// One of them as a checkpoint stores it: name, record, first record needed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredPrepared(String, Lsn, Lsn);

pub(crate) fn to_stored(list: &PreparedList) -> Vec<StoredPrepared> {
    list.iter()
        .map(|(xid, at)| StoredPrepared(xid.to_string(), at.lsn, at.needed))
        .collect()
}

pub(crate) fn from_stored(stored: &[StoredPrepared]) -> Result<PreparedList> {
    stored
        .iter()
        .map(|StoredPrepared(xid, lsn, needed)| {
            let at = PreparedAt {
                lsn: *lsn,
                needed: *needed,
            };
            Ok((parse(xid)?, at))
        })
        .collect()
}

fn parse(xid: &str) -> Result<Xid> {
    Xid::parse(xid)
        .ok_or_else(|| EngineError::Corrupt(format!("{xid} is no name of an XA transaction")))
}

/// What a record does to the list.
#[derive(Debug)]
pub(crate) enum XaStep {
    Prepared(Xid),
    /// The transaction whose record is at LSN `at` is committed or rolled back.
    Ended {
        xid: Xid,
        at: Lsn,
        commit: bool,
    },
}

/// The same in a record's annex.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredStep {
    xid: String,
    /// LSN of the record that prepared it, and whether it is committed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<(Lsn, bool)>,
}

impl XaStep {
    pub(crate) fn to_stored(&self) -> StoredStep {
        match self {
            XaStep::Prepared(xid) => StoredStep {
                xid: xid.to_string(),
                end: None,
            },
            XaStep::Ended { xid, at, commit } => StoredStep {
                xid: xid.to_string(),
                end: Some((*at, *commit)),
            },
        }
    }

    pub(crate) fn parse(stored: &StoredStep) -> Result<XaStep> {
        let xid = parse(&stored.xid)?;
        Ok(match stored.end {
            None => XaStep::Prepared(xid),
            Some((at, commit)) => XaStep::Ended { xid, at, commit },
        })
    }

    /// Under the order mutex: the record has got its place. What it prepares keeps the log from there on, or from its first
    /// chunk (0: none) on.
    pub(crate) fn place(
        &self,
        db: &Inner,
        order: &mut Order,
        lsn: Lsn,
        first_chunk: Lsn,
    ) -> Option<OobHold> {
        match self {
            XaStep::Prepared(xid) => {
                let needed = if first_chunk == 0 { lsn } else { first_chunk };
                let at = PreparedAt { lsn, needed };
                order.prepared.insert(xid.clone(), at);
                Some(db.oob.hold(needed))
            }
            XaStep::Ended { xid, .. } => {
                order.prepared.remove(xid);
                None
            }
        }
    }
}

/// What XA PREPARE logs beside the changes.
pub(crate) struct Prepare<'a> {
    pub(crate) xid: &'a Xid,
    pub(crate) query: DdlQuery<'a>,
}

/// The connection that prepares or ends a transaction, for the statement in the log.
#[derive(Debug, Clone, Default)]
pub struct XaContext {
    /// Connection id.
    pub thread_id: u32,
    /// Seconds since 1970 UTC.
    pub timestamp: u32,
    /// Default database, possibly empty.
    pub db: String,
    /// SQL_MODE bits.
    pub sql_mode: u64,
}

impl XaContext {
    fn query(&self, db: &Inner) -> DdlQuery<'_> {
        DdlQuery {
            server_id: db.options.server_id,
            timestamp: self.timestamp,
            thread_id: self.thread_id,
            exec_time: 0,
            db: &self.db,
            sql: &[],
            context: QueryContext {
                sql_mode: self.sql_mode,
                ..QueryContext::default()
            },
            suppress_use: true,
        }
    }
}

/// A prepared transaction: its changes, its locks.
pub(crate) struct Prepared {
    txn: Transaction,
    /// Its record in the log; `None`: it has written nothing.
    at: Option<Lsn>,
    hold: Option<OobHold>,
    /// It has a GTID.
    public: bool,
    /// It was built again from the log: its runs do not end where its chunks do.
    rebuilt: bool,
}

/// What becomes of a name.
pub(crate) enum Branch {
    /// An [`XaBranch`] has it.
    Owned { prepared: bool },
    /// Prepared, and whoever names it may end it.
    Free(Box<Prepared>),
    /// It had written nothing when its connection ended, so nothing of it is left.
    RolledBack,
}

/// All names in use.
pub(crate) type Branches = BTreeMap<Xid, Branch>;

fn sql(code: u16, state: &[u8; 5], text: &str) -> EngineError {
    EngineError::Sql(SqlError::new(code, state, text))
}

fn unknown() -> EngineError {
    sql(1397, b"XAE04", "XAER_NOTA: Unknown XID")
}

/// A transaction branch: its name is taken as long as this lives. Dropping it rolls back what is not prepared; what is
/// prepared stays, and can be taken by its name.
pub struct XaBranch {
    db: Arc<Inner>,
    xid: Xid,
    prepared: Option<Box<Prepared>>,
}

impl std::fmt::Debug for XaBranch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "XaBranch({})", self.xid)
    }
}

impl Database {
    /// Begins a branch: takes its name.
    ///
    /// # Errors
    /// 1440 if the name is taken; 1235 where there are two logs.
    pub fn xa_begin(&self, xid: &Xid) -> Result<XaBranch> {
        self.inner.one_log("XA")?;
        let mut branches = self.inner.xa.lock();
        if branches.contains_key(xid) {
            return Err(sql(1440, b"XAE08", "XAER_DUPID: The XID already exists"));
        }
        branches.insert(xid.clone(), Branch::Owned { prepared: false });
        Ok(XaBranch {
            db: self.inner.clone(),
            xid: xid.clone(),
            prepared: None,
        })
    }

    /// Takes a prepared branch that nobody has.
    ///
    /// # Errors
    /// 1397 if there is none; 1402 if it ended with its connection, since it had written nothing.
    pub fn xa_take(&self, xid: &Xid) -> Result<XaBranch> {
        let mut branches = self.inner.xa.lock();
        match branches.remove(xid) {
            Some(Branch::Free(prepared)) => {
                branches.insert(xid.clone(), Branch::Owned { prepared: true });
                Ok(XaBranch {
                    db: self.inner.clone(),
                    xid: xid.clone(),
                    prepared: Some(prepared),
                })
            }
            Some(Branch::RolledBack) => Err(sql(
                1402,
                b"XA100",
                "XA_RBROLLBACK: Transaction branch was rolled back",
            )),
            Some(owned) => {
                branches.insert(xid.clone(), owned);
                Err(unknown())
            }
            None => Err(unknown()),
        }
    }

    /// The names of all prepared branches.
    #[must_use]
    pub fn xa_prepared(&self) -> Vec<Xid> {
        let branches = self.inner.xa.lock();
        (branches.iter())
            .filter(|(_, b)| !matches!(b, Branch::Owned { prepared: false }))
            .map(|(xid, _)| xid.clone())
            .collect()
    }
}

impl XaBranch {
    /// Its name.
    #[must_use]
    pub fn xid(&self) -> &Xid {
        &self.xid
    }

    /// Prepares: the transaction's changes go into the log, its locks stay. To be waited for as a commit.
    ///
    /// # Errors
    /// Those of a commit; the transaction is rolled back then.
    pub fn prepare(&mut self, mut txn: Transaction, about: &XaContext) -> Result<Reserved> {
        let db = self.db.clone();
        let query = about.query(&db);
        let prepare = Prepare {
            xid: &self.xid,
            query,
        };
        let logged = log_changes(&db, &mut txn, Some(&prepare))?;
        // Nobody reads or undoes in it any more.
        txn.end_reading();
        let (mut prepared, reserved) = match logged {
            Some(logged) => {
                let Logged { mut place, buf, .. } = logged;
                let at = (Some(place.ticket.lsn()), place.placement.is_some());
                let hold = place.hold.take();
                db.log.fill(&place.ticket, buf);
                ((at, hold), follow_up(&db, place))
            }
            None => {
                txn.wait_reads_durable()?;
                (((None, false), None), Reserved::default())
            }
        };
        self.prepared = Some(Box::new(Prepared {
            txn,
            at: prepared.0.0,
            hold: prepared.1.take(),
            public: prepared.0.1,
            rebuilt: false,
        }));
        let owned = Branch::Owned { prepared: true };
        db.xa.lock().insert(self.xid.clone(), owned);
        reserved.pass_on(&db);
        Ok(reserved)
    }

    /// Commits or rolls back what is prepared. To be waited for as a commit; `origin`: where it comes from, if another server
    /// did it first.
    ///
    /// # Errors
    /// Those of a commit; it is as before then.
    pub fn end(
        &mut self,
        commit: bool,
        about: &XaContext,
        gtid: GtidChoice,
        origin: Option<Arc<Origin>>,
    ) -> Result<Reserved> {
        let db = self.db.clone();
        let Some(prepared) = &mut self.prepared else {
            return Ok(Reserved::default());
        };
        let Some(at) = prepared.at else {
            self.prepared = None;
            return Ok(Reserved::default());
        };
        db.admit(prepared.txn.oob.is_some())?;
        prepared.txn.sync_run_names()?;
        let step = XaStep::Ended {
            xid: self.xid.clone(),
            at,
            commit,
        };
        let mut annex = Annex {
            xa: Some(step.to_stored()),
            spill: (commit && !prepared.rebuilt)
                .then(|| spill_of(&prepared.txn))
                .flatten(),
            ..Annex::default()
        };
        let options = TxnOptions {
            gtid,
            origin,
            ..TxnOptions::default()
        };
        annex.set_origin(&options, !prepared.public);
        let prefix = annex.encode(&[])?;
        let group = GroupBuilder::xa_end(HEADER_LEN, &self.xid, commit, &about.query(&db))
            .map_err(binlog_err)?;
        let moves = ReplicaMove {
            origin: options.origin.as_deref(),
            gtid: (!prepared.public).then(|| local_gtid(&gtid)).flatten(),
            changes: &[],
        };
        let large = prepared.txn.oob.is_some();
        let layered = commit && becomes_layer(&prepared.txn, large);
        let deltas = prepared.txn.writes.row_deltas();
        let layer = layered.then(|| NewLayer::new(&mut prepared.txn.writes));
        let place = if prepared.public {
            let len = group.group_len();
            let (own, prefix) = (group.len(), prefix.len());
            let step = Some(&step);
            let place = reserve(&db, own, len, prefix, None, &gtid, 0, layer, &moves, step)?;
            db.counters.group_bytes.fetch_add(len, Ordering::Relaxed);
            place
        } else {
            reserve_local(&db, prefix.len().max(4), layer, &moves, Some(&step), 0)?
        };
        let buf = record(group, &place, &prefix);
        if let Some(hold) = prepared.hold.take() {
            // Until a checkpoint knows of the end, recovery may read what was prepared.
            db.oob_committed.lock().push((place.seq, hold));
        }
        let reserved = if commit {
            let logged = Logged::new(place, buf, layered, deltas);
            land(&db, &mut prepared.txn, logged)
        } else {
            db.log.fill(&place.ticket, buf);
            follow_up(&db, place)
        };
        self.prepared = None;
        reserved.pass_on(&db);
        Ok(reserved)
    }
}

impl Drop for XaBranch {
    fn drop(&mut self) {
        let mut branches = self.db.xa.lock();
        let owned = branches.remove(&self.xid);
        let Some(prepared) = self.prepared.take() else {
            return;
        };
        // A database that was closed meanwhile knows no names any more.
        if owned.is_some() {
            let left = match prepared.at {
                Some(_) => Branch::Free(prepared),
                None => Branch::RolledBack,
            };
            branches.insert(self.xid.clone(), left);
        }
    }
}

/// After a start: takes the rows and the locks of what is prepared again.
pub(crate) fn resume(db: &Arc<Inner>, list: &PreparedList) -> Result<()> {
    for (xid, at) in list {
        match rebuild(db, *at) {
            Ok(prepared) => {
                let free = Branch::Free(Box::new(prepared));
                db.xa.lock().insert(xid.clone(), free);
            }
            Err(e) if db.options.accept_log_loss => {
                tracing::error!("the prepared XA transaction {xid} is lost: {e}");
                db.log
                    .with_order_state(|order, _| order.prepared.remove(xid));
            }
            Err(e) => {
                return Err(EngineError::Corrupt(format!(
                    "the prepared XA transaction {xid}, at LSN {}: {e}",
                    at.lsn
                )));
            }
        }
    }
    if !list.is_empty() {
        tracing::info!(
            "{} XA transactions are prepared: XA RECOVER lists them",
            list.len()
        );
    }
    Ok(())
}

fn rebuild(db: &Arc<Inner>, at: PreparedAt) -> Result<Prepared> {
    let hold = db.oob.hold(at.needed);
    let log = DirRecords::open(db.disk.clone(), &db.dir.join("log"));
    let (kind, body) = redo::record(&log, at.lsn)?;
    let parts = split_record(kind, &body)?;
    let annex = parts.annex;
    if annex.xa.is_none() {
        return Err(EngineError::Corrupt("its record prepares nothing".into()));
    }
    let options = TxnOptions {
        isolation: Isolation::ReadCommitted,
        ..TxnOptions::default()
    };
    let mut txn = Transaction::redoing(db.clone(), options);
    let mut rows = Rebuilt {
        txn: &mut txn,
        id: at.needed,
    };
    if let Some(oob) = &annex.oob {
        redo::chunks(&log, oob, 0, |events, ids| {
            redo::events(events, ids, &mut rows)
        })?;
    }
    for (events, ids) in [
        (parts.events, annex.row_ids),
        (parts.local, annex.local_row_ids),
    ] {
        redo::events(events, &mut ids.into_iter(), &mut rows)?;
    }
    txn.settle_writes()?;
    Ok(Prepared {
        txn,
        at: Some(at.lsn),
        hold: Some(hold),
        public: kind != RecordKind::LocalCommit,
        rebuilt: true,
    })
}

/// Changes on their way into a transaction that takes them, and their locks, again.
struct Rebuilt<'a> {
    txn: &'a mut Transaction,
    /// Names its run files.
    id: Lsn,
}

impl Rebuilt<'_> {
    /// Tries with the locks of the parents first: they were locked if they were looked for.
    fn with_parents(
        &mut self,
        mut change: impl FnMut(&mut Transaction) -> Result<()>,
    ) -> Result<()> {
        self.txn.set_foreign_keys(ForeignKeyMode::Check);
        match change(self.txn) {
            Err(EngineError::Sql(e)) if e.code == 1452 => {
                self.txn.set_foreign_keys(ForeignKeyMode::Off);
                change(self.txn)
            }
            done => done,
        }
    }
}

impl redo::Rows for Rebuilt<'_> {
    fn table(&self, id: u64) -> Option<Arc<Table>> {
        self.txn.db.catalog.load().table_by_id(id).cloned()
    }

    fn skip(&mut self) -> bool {
        false
    }

    fn newest(&mut self, table: &Arc<Table>, pk: &[u8]) -> Result<Option<Row>> {
        self.txn.lock_newest(table, pk, LockMode::Exclusive)
    }

    fn change(
        &mut self,
        table: &Arc<Table>,
        before: Option<&[u8]>,
        after: Option<&[u8]>,
        row_id: Option<u64>,
    ) -> Result<()> {
        if before.is_none()
            && let Some(row) = after
        {
            let next = table.counters.row_id.load(Ordering::Relaxed);
            if let Some(id) = row_id {
                table.counters.row_id.store(id, Ordering::Relaxed);
            }
            let inserted = self.with_parents(|txn| txn.insert(table, row.to_vec()));
            table.counters.row_id.fetch_max(next, Ordering::Relaxed);
            inserted?;
            redo::observe_auto_increment(table, row)?;
        } else if let Some(before) = before {
            let pk = redo::clustered_key(table, before, row_id)?;
            self.newest(table, &pk)?;
            let old = Row(RowInner::Memory(before.into()));
            match after {
                Some(row) => {
                    self.with_parents(|txn| txn.update_row(table, &pk, &old, row.to_vec()))?;
                }
                None => self.txn.delete_row(table, &pk, &old)?,
            }
        }
        self.txn.make_room_redoing(self.id)
    }
}
