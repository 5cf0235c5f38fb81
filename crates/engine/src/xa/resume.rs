//! After a start: the rows and locks of what is prepared are taken again.

use crate::catalog::foreign::ForeignKeyMode;
use crate::catalog::table::Table;
use crate::locks::types::LockMode;
use crate::parts::Parts;
use crate::record::annex::split_record;
use crate::record::redo;
use crate::record::xa::{PreparedAt, PreparedList};
use crate::store::row::{Row, RowInner};
use crate::txn::options::{Isolation, TxnOptions};
use crate::txn::transaction::Transaction;
use crate::xa::branch::{Branch, Branches, Prepared};
use crate::{EngineError, Result};
use narwal_log::{DirRecords, Lsn, RecordKind};
use narwal_types::errors::codes;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// After a start: takes the rows and the locks of what is prepared again.
pub(crate) fn resume(db: &Arc<Parts>, branches: &Branches, list: &PreparedList) -> Result<()> {
    for (xid, at) in list {
        match rebuild(db, *at) {
            Ok(prepared) => {
                let free = Branch::Free(Box::new(prepared));
                branches.lock().branches.insert(xid.clone(), free);
            }
            Err(e) if db.options.accept_log_loss => {
                tracing::error!("the prepared XA transaction {xid} is lost: {e}");
                db.binlog
                    .log
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

pub(crate) fn rebuild(db: &Arc<Parts>, at: PreparedAt) -> Result<Prepared> {
    let hold = db.binlog.oob.hold(at.needed);
    let log = DirRecords::open(db.folder.disk.clone(), &db.folder.dir.join("log"));
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
        seq: 0,
        hold: Some(hold),
        public: kind != RecordKind::LocalCommit,
        rebuilt: true,
    })
}

/// Changes on their way into a transaction that takes them, and their locks, again.
pub(crate) struct Rebuilt<'a> {
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
            Err(EngineError::Sql(e)) if e.code == codes::NO_REFERENCED_ROW_2 => {
                self.txn.set_foreign_keys(ForeignKeyMode::Off);
                change(self.txn)
            }
            done => done,
        }
    }
}

impl redo::Rows for Rebuilt<'_> {
    fn table(&self, id: u64) -> Option<Arc<Table>> {
        self.txn.db.catalogs.current.load().table_by_id(id).cloned()
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
