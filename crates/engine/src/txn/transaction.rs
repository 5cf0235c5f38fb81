//! Transactions: the API that SQL and embedders use.
//!
//! A transaction keeps its writes to itself: the overlay (for its own reads, and what commit puts into the memtables)
//! and the row events. Both are undone together, by savepoint or statement. Row locks are taken as rows are touched and
//! released when the commit has its place in the log and its rows are in the memtable, before the sync.

use crate::catalog::foreign::ForeignKeyMode;
use crate::catalog::image::RowImage;
use crate::catalog::table::Table;
use crate::locks::types::LockName;
use crate::parts::Parts;
use crate::record::replica::Origin;
use crate::store::writeset::WriteSet;
use crate::txn::events::Events;
use crate::txn::following::Following;
use crate::txn::held::HeldLocks;
use crate::txn::options::Isolation;
use crate::txn::options::TxnOptions;
use crate::txn::savepoint::Savepoint;
use crate::txn::savepoint::SavepointAt;
use crate::txn::savepoint::StatementStart;
use crate::txn::savepoint::Undo;
use crate::txn::temporary_rows::TemporaryRows;
use crate::txn::view::View;
use narwal_binlog::GroupBuilder;
use narwal_binlog::GtidChoice;
use narwal_binlog::RowMetadata;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A transaction. Dropping it rolls back. Not for concurrent use; one thread at a time.
pub struct Transaction {
    pub(crate) db: Arc<Parts>,
    pub(crate) id: u64,
    pub(crate) options: TxnOptions,
    pub(crate) view: View,
    pub(crate) writes: WriteSet,
    /// It takes keys out of indexes.
    pub(crate) removes: bool,
    pub(crate) locks: HeldLocks,
    /// Tables whose definition this transaction has locked and checked.
    pub(crate) tables: SmallVec<[Arc<Table>; 4]>,
    pub(crate) events: Events,
    pub(crate) undo: Undo,
    pub(crate) foreign: Following,
    /// Rows of the session's temporary tables.
    pub(crate) temporary: Option<Box<TemporaryRows>>,
    pub(crate) changed_temporary: bool,
    /// Its changes stand in the log already.
    pub(crate) redoing: bool,
}

impl Transaction {
    pub(crate) fn new(db: Arc<Parts>, options: TxnOptions) -> Self {
        let metadata = db.settings.row_metadata.load(Ordering::Relaxed);
        let mut txn = Transaction {
            id: db.next_txn.fetch_add(1, Ordering::Relaxed),
            locks: HeldLocks::new(db.store.runs.locks_in_memory()),
            events: Events::new(RowMetadata::from_u8(metadata).unwrap_or_default()),
            db,
            options,
            view: View::default(),
            writes: WriteSet::default(),
            removes: false,
            tables: SmallVec::new(),
            undo: Undo::default(),
            foreign: Following::default(),
            temporary: None,
            changed_temporary: false,
            redoing: false,
        };
        txn.claim_temporary();
        txn
    }

    /// A transaction whose changes stand in the log already: it takes their locks and keeps them for itself.
    pub(crate) fn redoing(db: Arc<Parts>, options: TxnOptions) -> Self {
        let options = TxnOptions {
            read_only: true, // nothing is logged
            ..options
        };
        let mut txn = Transaction::new(db, options);
        txn.redoing = true;
        txn
    }

    /// How long statements wait for row locks from now on: a session may say so within a transaction.
    pub fn set_lock_wait(&mut self, timeout: std::time::Duration) {
        self.options.lock_wait_timeout = Some(timeout);
    }

    /// Starts a statement: remembers where to roll back to, and under READ COMMITTED takes a new snapshot at the next read.
    /// `timestamp`: seconds since 1970 for the events. `annotate`: the statement's text if it should go into the log.
    pub fn begin_statement(&mut self, timestamp: u32, annotate: Option<&[u8]>) {
        self.events.timestamp = timestamp;
        self.events.annotate = annotate.map(Into::into);
        if self.options.isolation == Isolation::ReadCommitted {
            self.view.snapshot = None;
        }
        self.undo.statement = StatementStart::Here;
        self.claim_temporary();
    }

    /// A statement runs in it: what is done now is part of that.
    #[must_use]
    pub fn in_statement(&self) -> bool {
        !matches!(self.undo.statement, StatementStart::None)
    }

    /// Ends a successful statement (closes its row events).
    pub fn end_statement(&mut self) {
        if let Some(b) = &mut self.events.builder {
            b.end_statement();
        }
        if let Some(l) = &mut self.events.local {
            l.builder.end_statement();
        }
        self.undo.statement = StatementStart::None;
    }

    /// Makes a transaction that has done nothing but read in its snapshot as good as new, with the same options: a
    /// session's next statement need not make another. False if it has done more.
    pub fn renew(&mut self) -> bool {
        let untouched = self.locks.is_empty()
            && self.tables.is_empty()
            && self.undo.savepoints.is_empty()
            && self.writes.is_empty()
            && self.events.builder.is_none()
            && self.events.local.is_none()
            && self.events.oob.is_none()
            && !self.changed_temporary;
        if untouched {
            self.lend_temporary();
            self.view.snapshot = None;
            self.foreign.mode = ForeignKeyMode::default();
            self.view.slot = self
                .view
                .slot
                .take()
                .and_then(|s| self.db.store.registry.park(s));
            self.undo.statement = StatementStart::None;
            self.events.annotate = None;
        }
        untouched
    }

    /// Changes `binlog_row_image` for the rows from here on.
    pub fn set_row_image(&mut self, image: RowImage) {
        self.options.row_image = image;
    }

    /// What the commit's GTID is to be: replaces [`TxnOptions::gtid`].
    pub fn set_gtid(&mut self, choice: GtidChoice) {
        self.options.gtid = choice;
    }

    /// Where the transaction comes from: replaces [`TxnOptions::origin`].
    pub fn set_origin(&mut self, origin: Arc<Origin>) {
        self.options.origin = Some(origin);
    }

    /// Undoes everything since `begin_statement`; row locks are kept, as in InnoDB.
    pub fn rollback_statement(&mut self) {
        if let StatementStart::At(s) = std::mem::take(&mut self.undo.statement) {
            self.rollback_to(&s);
        }
    }

    /// Notes the hidden row id of the row change that was logged last.
    pub(crate) fn push_row_id(&mut self, id: u64) {
        let open = self
            .events
            .builder
            .as_ref()
            .and_then(GroupBuilder::open_rows);
        if self.events.row_ids_open.0 != open {
            self.events.row_ids_open = (open, self.row_ids_total());
        }
        self.events.row_ids.push(id);
    }

    /// Number of hidden row ids logged so far.
    pub(crate) fn row_ids_total(&self) -> u64 {
        self.events.row_ids_sent + self.events.row_ids.len() as u64
    }

    /// The current place.
    pub fn savepoint(&mut self) -> Savepoint {
        let at = Arc::new(SavepointAt {
            writes: self.writes.position(),
            row_ids: self.row_ids_total(),
            mark: self.events.builder.as_ref().map(GroupBuilder::mark),
            local: self.local_mark(),
            temporary: self.temporary_places(),
        });
        // Only a transaction that grows large asks which of them are alive.
        if self.undo.savepoints.len() >= 32 {
            self.undo.savepoints.retain(|s| s.strong_count() > 0);
        }
        self.undo.savepoints.push(Arc::downgrade(&at));
        Savepoint(at)
    }

    /// Undoes everything after the savepoint; row locks are kept.
    pub fn rollback_to(&mut self, s: &Savepoint) {
        let s = &*s.0;
        self.writes.rollback_to(s.writes);
        self.locks.settled = self.locks.settled.min(s.writes);
        self.rollback_temporary(&s.temporary);
        match s.row_ids.checked_sub(self.events.row_ids_sent) {
            Some(kept) => self.events.row_ids.truncate(kept as usize),
            None => {
                self.events.row_ids.clear();
                self.events.row_ids_sent = s.row_ids;
            }
        }
        self.events.row_ids_open = (None, 0);
        self.truncate_local(&s.local);
        match &s.mark {
            Some(m) => {
                if let Some(b) = &mut self.events.builder {
                    b.truncate(m.clone());
                }
            }
            None => self.events.builder = None,
        }
        let kept = self
            .events
            .builder
            .as_ref()
            .map_or(0, GroupBuilder::drained);
        if let Some(oob) = &mut self.events.oob {
            oob.truncate(kept);
        }
    }

    /// True if it was begun as READ ONLY: only temporary tables take its changes.
    pub fn refuses_writes(&self) -> bool {
        self.options.read_only && !self.redoing
    }

    /// True if nothing was written so far.
    pub fn is_read_only(&self) -> bool {
        self.writes.is_empty()
            && self
                .events
                .builder
                .as_ref()
                .is_none_or(GroupBuilder::is_empty)
            && self
                .events
                .local
                .as_ref()
                .is_none_or(|l| l.builder.is_empty())
    }

    /// Its number since the server's start.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Bytes of memory that its changes and locks take, roughly.
    pub fn memory(&self) -> u64 {
        self.writes.bytes() + (self.locks.names.len() * size_of::<LockName>()) as u64
    }

    /// Rolls back.
    pub fn rollback(self) {}

    /// Lets go of what it takes to read in a snapshot and to undo, but of no lock.
    pub(crate) fn end_reading(&mut self) {
        self.settle_temporary();
        self.end_temporary();
        self.undo.savepoints.clear();
        self.options.interrupt = None;
        self.options.kill = None;
        self.view.snapshot = None;
        if let Some(s) = self.view.slot.take() {
            self.db.store.registry.release(s);
        }
    }

    /// What is left of ranges and of what was said to those who lock them.
    #[inline]
    fn release_ranges(&mut self) {
        if std::mem::take(&mut self.locks.landing) {
            self.db.locks.landed(self.id);
        }
        if std::mem::take(&mut self.locks.announced) {
            self.db.locks.forget_announced(self.id);
        }
        if std::mem::take(&mut self.locks.ranges) {
            self.db.locks.release_ranges(self.id);
        }
    }

    /// Ends the hold on other transactions: row locks and the snapshot's claim.
    pub(crate) fn release(&mut self) {
        if !self.locks.names.is_empty() || self.locks.spilled {
            self.db.locks.release_all(self.id, &self.locks.names);
            self.locks.names.clear();
            self.locks.spilled = false;
        }
        self.release_ranges();
        self.view.snapshot = None;
        if let Some(s) = self.view.slot.take() {
            self.db.store.registry.release(s);
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // Still here: rolled back.
        if self.options.log_bin && self.events.builder.as_ref().is_some_and(|b| !b.is_empty()) {
            let used = &self.db.counters.cache_use;
            used.fetch_add(1, Ordering::Relaxed);
        }
        self.end_temporary();
        self.release();
    }
}
