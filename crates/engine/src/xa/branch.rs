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
use std::collections::{BTreeMap, BTreeSet};
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
    /// The record's sequence number: while readers may not see it, others are told nothing of the branch. 0: from the
    /// start on.
    pub(crate) seq: u64,
    pub(crate) hold: Option<OobHold>,
    /// It has a GTID.
    pub(crate) public: bool,
    /// It was built again from the log: its runs do not end where its chunks do.
    pub(crate) rebuilt: bool,
}

/// What becomes of a name.
pub(crate) enum Branch {
    /// An [`XaBranch`] has it; the sequence number of its prepare record, if it is prepared.
    Owned { prepared: Option<u64> },
    /// Prepared: any session that names it may end it.
    Free(Box<Prepared>),
    /// It had written nothing when its connection ended, so nothing of it is left.
    RolledBack,
}

impl Branch {
    /// The sequence number of its prepare record.
    fn prepared(&self) -> Option<u64> {
        match self {
            Branch::Owned { prepared } => *prepared,
            Branch::Free(prepared) => Some(prepared.seq),
            Branch::RolledBack => Some(0),
        }
    }
}

/// A prepared branch whose end has its place in the log.
struct Ending {
    xid: Xid,
    prepared: u64,
    ended: u64,
}

/// All names in use.
///
/// A record that has its place may still be lost: the log may stop before it is on the disk. So what others are told follows
/// what readers may see, as with rows: a branch is prepared from its prepare record on until that of its end.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) branches: BTreeMap<Xid, Branch>,
    /// Those whose end nobody may see yet. If the log has stopped they stay here.
    ending: Vec<Ending>,
}

impl Names {
    /// The prepared branches as of the last commit that readers may see.
    pub(crate) fn prepared(&mut self, visible: u64) -> Vec<Xid> {
        self.forget_ended(visible);
        let named = (self.branches.iter())
            .filter(|(_, b)| b.prepared().is_some_and(|seq| seq <= visible))
            .map(|(xid, _)| xid);
        let ending = (self.ending.iter())
            .filter(|e| e.prepared <= visible)
            .map(|e| &e.xid);
        named
            .chain(ending)
            .cloned()
            .collect::<BTreeSet<Xid>>()
            .into_iter()
            .collect()
    }

    /// Whether it is ended by a record that is not known to be on the disk.
    pub(crate) fn is_ending(&mut self, xid: &Xid, visible: u64) -> bool {
        self.forget_ended(visible);
        self.ending.iter().any(|e| e.xid == *xid)
    }

    /// The end of a branch has its place in the log.
    fn end(&mut self, xid: &Xid, prepared: u64, ended: u64, visible: u64) {
        self.forget_ended(visible);
        if let Some(branch) = self.branches.get_mut(xid) {
            *branch = Branch::Owned { prepared: None };
        }
        self.ending.push(Ending {
            xid: xid.clone(),
            prepared,
            ended,
        });
    }

    fn forget_ended(&mut self, visible: u64) {
        self.ending.retain(|e| e.ended > visible);
    }
}

/// What the branches of a database are called.
pub(crate) type Branches = Mutex<Names>;

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
    /// The sequence number of its end, once that has its place in the log.
    pub(crate) ended: Option<u64>,
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
        let mut prepared = Prepared {
            txn,
            at: None,
            seq: 0,
            hold: None,
            public: false,
            rebuilt: false,
        };
        let Some(Logged { mut place, buf, .. }) = logged else {
            prepared.txn.wait_reads_durable()?;
            self.keep(prepared);
            return Ok(Reserved::default());
        };
        prepared.at = Some(place.ticket.lsn());
        prepared.seq = place.seq;
        prepared.hold = place.hold.take();
        prepared.public = place.placement.is_some();
        // Before the record is handed over: a session that may see the record finds the branch.
        self.keep(prepared);
        db.binlog.log.fill(&place.ticket, buf);
        let reserved = follow_up(&db, place);
        reserved.pass_on(&db.binlog.log);
        Ok(reserved)
    }

    fn keep(&mut self, prepared: Prepared) {
        let owned = Branch::Owned {
            prepared: Some(prepared.seq),
        };
        (self.branches.lock().branches).insert(self.xid.clone(), owned);
        self.prepared = Some(Box::new(prepared));
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
            return self.ended_before();
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
        // Before the record is handed over: once it may be seen, the branch is gone.
        let visible = db.binlog.log.visible_seq();
        (self.branches.lock()).end(&self.xid, prepared.seq, place.seq, visible);
        self.ended = Some(place.seq);
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

    /// The answer to a second try to end it, or to end what was never prepared.
    fn ended_before(&self) -> Result<Reserved> {
        let log = &self.db.binlog.log;
        match log.failed() {
            Some(why) if self.ended.is_some_and(|seq| seq > log.visible_seq()) => {
                Err(EngineError::LogFailed(why))
            }
            _ => Ok(Reserved::default()),
        }
    }
}

impl Drop for XaBranch {
    fn drop(&mut self) {
        let branches = &mut self.branches.lock().branches;
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
