//! Branches: prepared, committed, rolled back.

use crate::binlog::oob_holds::OobHold;
use crate::commit::land::{Logged, Prepare, becomes_layer, follow_up, land, log_changes, spill_of};
use crate::commit::place::{NewLayer, record, reserve, reserve_local};
use crate::commit::reserved::Reserved;
use crate::error::binlog_err;
use crate::parts::Parts;
use crate::record::annex::Annex;
use crate::record::replica::{Origin, ReplicaMove, local_gtid};
use crate::record::xa::XaStep;
use crate::txn::options::TxnOptions;
use crate::txn::transaction::Transaction;
use crate::{EngineError, Result};
use narwal_binlog::{DdlQuery, GroupBuilder, GtidChoice, QueryContext, Xid};
use narwal_log::{HEADER_LEN, Lsn};
use narwal_types::errors;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

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
    fn query(&self, db: &Parts) -> DdlQuery<'_> {
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
            time_zone: "",
        }
    }
}

/// A prepared transaction: its changes, its locks.
pub(crate) struct Prepared {
    pub(crate) txn: Transaction,
    /// Its record in the log; `None`: it has written nothing.
    pub(crate) at: Option<Lsn>,
    pub(crate) hold: Option<OobHold>,
    /// It has a GTID.
    pub(crate) public: bool,
    /// It was built again from the log: its runs do not end where its chunks do.
    pub(crate) rebuilt: bool,
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
pub(crate) type Branches = Mutex<BTreeMap<Xid, Branch>>;

pub(crate) fn unknown() -> EngineError {
    EngineError::Sql(errors::XAER_NOTA.with([&"Unknown XID"]))
}

/// A transaction branch: its name is taken as long as this lives. Dropping it rolls back what is not prepared; what is
/// prepared stays, and can be taken by its name.
pub struct XaBranch {
    pub(crate) db: Arc<Parts>,
    pub(crate) branches: Arc<Branches>,
    pub(crate) xid: Xid,
    pub(crate) prepared: Option<Box<Prepared>>,
}

impl std::fmt::Debug for XaBranch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "XaBranch({})", self.xid)
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
                db.binlog.log.fill(&place.ticket, buf);
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
        self.branches.lock().insert(self.xid.clone(), owned);
        reserved.pass_on(&db.binlog.log);
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
        db.pressure
            .admit(&db.store, &db.binlog.log, prepared.txn.events.oob.is_some())?;
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
        annex.set_origin(options.origin.as_deref(), &options.gtid, !prepared.public);
        let prefix = annex.encode(&[])?;
        let group = GroupBuilder::xa_end(HEADER_LEN, &self.xid, commit, &about.query(&db))
            .map_err(binlog_err)?;
        let moves = ReplicaMove {
            origin: options.origin.as_deref(),
            gtid: (!prepared.public).then(|| local_gtid(&gtid)).flatten(),
            changes: &[],
        };
        let large = prepared.txn.events.oob.is_some();
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
            db.binlog.oob_committed.lock().push((place.seq, hold));
        }
        let reserved = if commit {
            let logged = Logged::new(place, buf, layered, deltas);
            land(&db, &mut prepared.txn, logged)
        } else {
            db.binlog.log.fill(&place.ticket, buf);
            follow_up(&db, place)
        };
        self.prepared = None;
        reserved.pass_on(&db.binlog.log);
        Ok(reserved)
    }
}

impl Drop for XaBranch {
    fn drop(&mut self) {
        let mut branches = self.branches.lock();
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
