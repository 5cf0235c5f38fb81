//! Transactions: the API that SQL and embedders use.
//!
//! A transaction keeps its writes to itself: the overlay (for its own reads, and what commit puts into the memtables)
//! and the row events. Both are undone together, by savepoint or statement. Row locks are taken as rows are touched and
//! released when the commit has its place in the log and its rows are in the memtable, before the sync.

use crate::catalog::foreign::ForeignKeyMode;
use crate::catalog::image::RowImage;
use crate::catalog::table::{Table, not_for_sequences};
use crate::error::{binlog_err, definition_changed};
use crate::key::{FullKey, KeyRange, finish_secondary_key, full_key, index_of, is_temporary};
use crate::locks::asking::{Asking, RangeMark};
use crate::locks::types::{LockMode, LockName, LockWait, Locked, WaitPolicy};
use crate::parts::Parts;
use crate::record::replica::Origin;
use crate::store::entry::Payload;
use crate::store::row::{Row, RowInner};
use crate::store::scan::Scan;
use crate::store::snapshots::SnapshotSlot;
use crate::store::state::Snapshot;
use crate::store::writeset::WriteSet;
use crate::txn::local_redo::{Change, LocalRedo, new_builder};
use crate::txn::options::{Isolation, TxnOptions};
use crate::txn::savepoint::{Savepoint, SavepointAt, StatementStart};
use crate::txn::sent::Oob;
use crate::txn::temporary_rows::TemporaryRows;
use crate::{EngineError, Result};
use narwal_binlog::{DdlQuery, GroupBuilder, GtidChoice, RowMetadata, rows_flags};
use smallvec::SmallVec;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Which version of rows a scan sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadView {
    /// The transaction's snapshot plus its own writes: plain SELECT.
    Snapshot,
    /// The newest committed versions plus its own writes, without locks: finds candidates for locking reads and
    /// writes, each to be confirmed by [`Transaction::lock_row`].
    Current,
}

/// A transaction. Dropping it rolls back. Not for concurrent use; one thread at a time.
pub struct Transaction {
    pub(crate) db: Arc<Parts>,
    pub(crate) id: u64,
    pub(crate) options: TxnOptions,
    pub(crate) snapshot: Option<Snapshot>,
    slot: Option<SnapshotSlot>,
    pub(crate) writes: WriteSet,
    pub(crate) locks: Vec<LockName>,
    /// Some of its row locks are not in `locks` but on disk.
    pub(crate) locks_spilled: bool,
    /// Number of row locks in memory at which they are spilled next.
    pub(crate) lock_spill_at: usize,
    /// It has locked ranges.
    ranges: bool,
    /// Its writes up to this position are announced to those who lock ranges; `announced`: some are.
    settled: u64,
    announced: bool,
    /// It takes keys out of indexes.
    pub(crate) removes: bool,
    /// Its commit is on its way into the store, and its keys are not announced.
    landing: bool,
    /// Tables whose definition this transaction has locked and checked.
    pub(crate) tables: SmallVec<[Arc<Table>; 4]>,
    pub(crate) builder: Option<GroupBuilder>,
    /// Hidden row ids of row changes in event order, of events that were not sent out of band: the events don't say
    /// them.
    pub(crate) row_ids: Vec<u64>,
    /// Redo of tables that the binlog filter leaves out.
    pub(crate) local: Option<Box<LocalRedo>>,
    /// Metadata of this transaction's table maps.
    pub(crate) row_metadata: RowMetadata,
    /// Number of hidden row ids that were sent out of band.
    pub(crate) row_ids_sent: u64,
    /// The growing rows event with row ids, and how many ids came before it.
    pub(crate) row_ids_open: (Option<u64>, u64),
    /// What was sent out of band.
    pub(crate) oob: Option<Oob>,
    /// Savepoints that may still be used.
    pub(crate) savepoints: Vec<Weak<SavepointAt>>,
    statement: StatementStart,
    pub(crate) timestamp: u32,
    annotate: Option<Box<[u8]>>,
    /// Newest commit that a locking read of this transaction depends on.
    read_dependency: u64,
    /// Commit of the row that was locked last; 0 for one of its own or none.
    locked_seq: u64,
    /// What changes do about foreign keys.
    pub(crate) foreign_keys: ForeignKeyMode,
    /// Cascades within cascades now.
    pub(crate) cascade_depth: u32,
    /// Rows of the session's temporary tables.
    pub(crate) temporary: Option<Box<TemporaryRows>>,
    pub(crate) changed_temporary: bool,
    /// Its changes stand in the log already.
    redoing: bool,
}

const DEFAULT_LOCK_WAIT: Duration = Duration::from_secs(50);

impl Transaction {
    pub(crate) fn new(db: Arc<Parts>, options: TxnOptions) -> Self {
        let mut txn = Transaction {
            id: db.next_txn.fetch_add(1, Ordering::Relaxed),
            row_metadata: RowMetadata::from_u8(db.settings.row_metadata.load(Ordering::Relaxed))
                .unwrap_or_default(),
            lock_spill_at: db.store.runs.locks_in_memory(),
            db,
            options,
            snapshot: None,
            slot: None,
            writes: WriteSet::default(),
            locks: Vec::new(),
            locks_spilled: false,
            ranges: false,
            settled: 0,
            announced: false,
            removes: false,
            landing: false,
            tables: SmallVec::new(),
            builder: None,
            row_ids: Vec::new(),
            local: None,
            row_ids_sent: 0,
            row_ids_open: (None, 0),
            oob: None,
            savepoints: Vec::new(),
            statement: StatementStart::None,
            timestamp: 0,
            annotate: None,
            read_dependency: 0,
            locked_seq: 0,
            foreign_keys: ForeignKeyMode::default(),
            cascade_depth: 0,
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

    /// Starts a statement: remembers where to roll back to, and under READ COMMITTED takes a new snapshot at the next read.
    /// `timestamp`: seconds since 1970 for the events. `annotate`: the statement's text if it should go into the log.
    pub fn begin_statement(&mut self, timestamp: u32, annotate: Option<&[u8]>) {
        self.timestamp = timestamp;
        self.annotate = annotate.map(Into::into);
        if self.options.isolation == Isolation::ReadCommitted {
            self.snapshot = None;
        }
        self.statement = StatementStart::Here;
        self.claim_temporary();
    }

    /// Ends a successful statement (closes its row events).
    pub fn end_statement(&mut self) {
        if let Some(b) = &mut self.builder {
            b.end_statement();
        }
        if let Some(l) = &mut self.local {
            l.builder.end_statement();
        }
        self.statement = StatementStart::None;
    }

    /// Makes a transaction that has done nothing but read in its snapshot as good as new, with the same options: a
    /// session's next statement need not make another. False if it has done more.
    pub fn renew(&mut self) -> bool {
        let untouched = self.locks.is_empty()
            && !self.locks_spilled
            && !self.ranges
            && !self.announced
            && self.tables.is_empty()
            && self.savepoints.is_empty()
            && self.writes.is_empty()
            && self.builder.is_none()
            && self.local.is_none()
            && self.oob.is_none()
            && !self.changed_temporary;
        if untouched {
            self.lend_temporary();
            self.snapshot = None;
            self.foreign_keys = ForeignKeyMode::default();
            self.slot = self
                .slot
                .take()
                .and_then(|s| self.db.store.registry.park(s));
            self.statement = StatementStart::None;
            self.annotate = None;
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
        if let StatementStart::At(s) = std::mem::take(&mut self.statement) {
            self.rollback_to(&s);
        }
    }

    /// Makes the snapshot now, if there is none (WITH CONSISTENT SNAPSHOT).
    pub fn ensure_snapshot(&mut self) {
        if self.snapshot.is_some() {
            return;
        }
        let registry = &self.db.store.registry;
        let slot = match self.slot.take() {
            Some(s) => {
                registry.reset(&s);
                s
            }
            None => registry.claim(self.id as usize),
        };
        let snapshot = self.db.snapshot();
        registry.set(&slot, snapshot.seq);
        self.slot = Some(slot);
        self.snapshot = Some(snapshot);
    }

    /// The snapshot for a plain read. Row locks are freed before the commit is visible, so this transaction may have locked or
    /// changed rows of a commit that no snapshot has yet: it waits for that one, or it would see a state from before its own.
    #[inline]
    fn snapshot_after_what_it_saw(&mut self) -> Result<()> {
        if self.snapshot.is_none() {
            self.wait_visible(self.read_dependency)?;
            self.ensure_snapshot();
        }
        Ok(())
    }

    /// Reads one row by clustered key in the snapshot (plus own writes).
    pub fn get(&mut self, table: &Arc<Table>, pk: &[u8]) -> Result<Option<Row>> {
        let index = table.indexes[0].id;
        let key = full_key(index, pk);
        if table.temporary {
            return Ok(self.own(&key)?.flatten());
        }
        self.snapshot_after_what_it_saw()?;
        self.check_made_before(table, 0)?;
        if let Some(own) = self.own(&key)? {
            return Ok(own);
        }
        match &self.snapshot {
            Some(s) => Ok(s.state.get(index, &key, s.seq)?.and_then(|(_, r)| r)),
            None => Ok(None),
        }
    }

    /// An index that a DDL statement made after this snapshot has nothing in it that the snapshot could see: error 1412.
    #[inline]
    fn check_made_before(&self, table: &Table, index: usize) -> Result<()> {
        match (&self.snapshot, table.indexes.get(index)) {
            (Some(s), Some(ix)) if ix.since.load(Ordering::Relaxed) > s.seq => {
                Err(definition_changed())
            }
            _ => Ok(()),
        }
    }

    /// This transaction's own version of a clustered key: `Some(None)` if it deleted it.
    #[inline]
    pub(crate) fn own(&self, key: &FullKey) -> Result<Option<Option<Row>>> {
        let writes = self.own_writes(index_of(key))?;
        if writes.is_empty() {
            return Ok(None);
        }
        Ok(writes.get(key)?.map(|p| match p {
            Payload::Row(r) => Some(Row(RowInner::Memory(r))),
            _ => None,
        }))
    }

    /// Scans index number `index` (0 = clustered) of a table. With `keys_only` secondary scans don't fetch rows.
    pub fn scan(
        &mut self,
        table: &Arc<Table>,
        index: usize,
        range: KeyRange,
        reverse: bool,
        view: ReadView,
        keys_only: bool,
    ) -> Result<Scan<'_>> {
        let (state, seq) = match view {
            ReadView::Snapshot if !table.temporary => {
                self.snapshot_after_what_it_saw()?;
                self.check_made_before(table, index)?;
                match &self.snapshot {
                    Some(s) => (s.state.clone(), s.seq),
                    None => (self.db.store.state.load_full(), u64::MAX),
                }
            }
            _ => (self.db.store.state.load_full(), u64::MAX),
        };
        let id = table.indexes[0].id;
        Scan::new(
            self.own_writes(id)?,
            state,
            seq,
            table,
            index,
            range,
            reverse,
            keys_only,
        )
    }

    /// Takes a lock for this transaction.
    fn lock(&mut self, name: LockName, of: Locked, mode: LockMode, wait: LockWait) -> Result<()> {
        let timeout = match wait {
            LockWait::Wait => Some(self.options.lock_wait_timeout.unwrap_or(DEFAULT_LOCK_WAIT)),
            LockWait::UpTo(time) => Some(time),
            LockWait::NoWait | LockWait::SkipLocked => None,
        };
        let policy = timeout.map(|timeout| WaitPolicy {
            timeout: Some(timeout),
            of,
            interrupt: self.options.interrupt.as_deref(),
        });
        if self.db.locks.acquire(self.id, name, mode, policy)? {
            self.locks.push(name);
        }
        Ok(())
    }

    /// How it waits for a lock on keys of an index; `None`: it does not.
    fn policy_of(&self, index: u32, wait: LockWait) -> Option<WaitPolicy<'_>> {
        let timeout = match wait {
            LockWait::Wait => self.options.lock_wait_timeout.unwrap_or(DEFAULT_LOCK_WAIT),
            LockWait::UpTo(time) => time,
            LockWait::NoWait | LockWait::SkipLocked => return None,
        };
        Some(WaitPolicy {
            timeout: Some(timeout),
            of: Locked::Gap(index),
            interrupt: self.options.interrupt.as_deref(),
        })
    }

    /// Whether a locking read locks the ranges that it scans, not only the rows that it finds: at SERIALIZABLE always, at
    /// REPEATABLE READ only what a locking clause asks for (`writes`: it is the search of an UPDATE or DELETE), at READ
    /// COMMITTED never.
    pub fn locks_ranges(&self, table: &Table, writes: bool) -> bool {
        !table.temporary
            && match self.options.isolation {
                Isolation::ReadCommitted => false,
                Isolation::RepeatableRead => !writes,
                Isolation::Serializable => true,
            }
    }

    /// Whether all that it reads must be as in some serial order.
    pub fn is_serializable(&self) -> bool {
        self.options.isolation == Isolation::Serializable
    }

    /// Locks a range of an index: until the end of this transaction nobody else brings a new key into it, and a scan of the
    /// newest rows finds all keys that are committed. To be called before the scan; the rows that it finds are to be locked.
    ///
    /// # Errors
    /// Those of a lock.
    pub fn lock_range(
        &mut self,
        table: &Arc<Table>,
        index: usize,
        range: &KeyRange,
        mode: LockMode,
        wait: LockWait,
    ) -> Result<Option<RangeMark>> {
        self.lock_table(table)?;
        let Some(index) = table.indexes.get(index).map(|i| i.id) else {
            return Ok(None);
        };
        let policy = self.policy_of(index, wait);
        let locks = &self.db.locks;
        let locked = locks.lock_range(self.id, index, range, mode, policy.as_ref());
        self.ranges = true;
        // That a row is not there is something read: the commit that took it away must last.
        let removed = table.counters.removed.load(Ordering::Relaxed);
        self.read_dependency = self.read_dependency.max(removed);
        locked
    }

    /// The scan stopped early: of the range that was locked at `mark` only this part was looked at.
    pub fn shrink_range(&mut self, mark: RangeMark, looked_at: &KeyRange) {
        self.db.locks.shrink_range(self.id, mark, looked_at);
    }

    /// Before new keys come while others have locked ranges: waits for those that have them. Keys that are there belong to
    /// rows, and those are locked.
    #[cold]
    fn ask_to_write(&mut self, keys: &[&FullKey]) -> Result<()> {
        let Some(first) = keys.first().filter(|k| !is_temporary(index_of(k))) else {
            return Ok(());
        };
        let policy = self.policy_of(index_of(first), LockWait::Wait);
        let how = Asking {
            policy: policy.as_ref(),
            // What a replica applies has its place in line: it does not wait for those who only wait themselves.
            written: self.options.origin.is_some(),
        };
        self.db.locks.ask_to_write(self.id, keys, &how)?;
        self.announced = true;
        Ok(())
    }

    /// Announces what was written so far to those who lock ranges, and waits for those that have done so since it was
    /// written. Called at the end of each statement of a transaction that stays open: then its COMMIT has nothing to wait for.
    ///
    /// # Errors
    /// Those of a lock: the statement has failed then.
    pub fn settle_writes(&mut self) -> Result<()> {
        let position = self.writes.position();
        if self.settled == position {
            return Ok(());
        }
        let locks = &self.db.locks;
        if !locks.announce(self.id, self.writes.new_keys_since(self.settled)) {
            self.settle_beside_ranges(LockWait::Wait)?;
        }
        self.announced = true;
        self.settled = position;
        Ok(())
    }

    #[cold]
    fn settle_beside_ranges(&mut self, wait: LockWait) -> Result<()> {
        // It may fail, or be woken by a release, behind the announcement of a part.
        self.announced = true;
        let keys: Vec<&FullKey> = self.writes.new_keys_since(self.settled).collect();
        let index = keys.first().map_or(0, |k| index_of(k));
        let policy = self.policy_of(index, wait);
        let how = Asking {
            policy: policy.as_ref(),
            written: true,
        };
        self.db.locks.ask_to_write(self.id, &keys, &how)
    }

    /// Before a commit takes its place: nobody's range is written to behind its back.
    pub(crate) fn begin_landing(&mut self) -> Result<()> {
        if self.settled == self.writes.position() || self.landing {
            return Ok(());
        }
        if self.db.locks.begin_landing(self.id) {
            self.landing = true;
            return Ok(());
        }
        // A replica's commits wait in line: what one of them waits for may wait for the next. It is tried again alone.
        let wait = match self.options.origin {
            Some(_) => LockWait::NoWait,
            None => LockWait::Wait,
        };
        self.settle_beside_ranges(wait)?;
        self.settled = self.writes.position();
        Ok(())
    }

    /// Locks a key that is to be written; those of temporary tables have no other takers.
    #[inline]
    fn lock_for_write(&mut self, index: u32, key: &[u8]) -> Result<()> {
        if is_temporary(index) {
            return Ok(());
        }
        let name = self.db.locks.row_name(index, key);
        self.lock(
            name,
            Locked::Key(index),
            LockMode::Exclusive,
            LockWait::Wait,
        )
    }

    /// Locks the table's definition against DDL and checks that the caller's version of it is current.
    pub(crate) fn lock_table(&mut self, table: &Arc<Table>) -> Result<()> {
        if self.tables.iter().any(|t| Arc::ptr_eq(t, table)) {
            return Ok(());
        }
        if !self.options.holds(table.def.id) {
            self.lock(
                self.db.locks.table_name(table.def.id),
                Locked::Table(table.def.id),
                LockMode::Shared,
                LockWait::Wait,
            )?;
        }
        let current = self.db.catalogs.current.load();
        if !current
            .table_by_id(table.def.id)
            .is_some_and(|t| Arc::ptr_eq(t, table))
        {
            return Err(definition_changed());
        }
        self.tables.push(table.clone());
        Ok(())
    }

    /// What every write does first.
    pub(crate) fn begin_write(&mut self, table: &Arc<Table>) -> Result<()> {
        if table.temporary {
            if matches!(self.statement, StatementStart::Here) {
                self.statement = StatementStart::At(self.savepoint());
            }
            return self.begin_temporary_write(table);
        }
        if self.options.read_only {
            return self.begin_unlogged(table);
        }
        if let Some(m) = self.db.binlog.log.failed() {
            return Err(EngineError::LogFailed(m));
        }
        self.lock_table(table)?;
        if table.counters.apart.load(Ordering::Relaxed) {
            crate::store::apart::refuse(&self.db.store.apart, table)?;
        }
        if matches!(self.statement, StatementStart::Here) {
            self.statement = StatementStart::At(self.savepoint());
        }
        if !self.logs(table) {
            return self.begin_local_write(self.timestamp);
        }
        self.make_room()?;
        if self.builder.is_none() {
            let mut b = new_builder(&self.db, narwal_log::HEADER_LEN);
            if !self.db.catalogs.current.load().references.is_empty() {
                // Cascades are logged, and parents were looked for: a replica need not, and must not.
                b.set_rows_flags(rows_flags::NO_FOREIGN_KEY_CHECKS);
            }
            self.builder = Some(b);
        }
        if let Some(b) = &mut self.builder {
            b.set_timestamp(self.timestamp);
            if let Some(text) = self.annotate.take()
                && self.options.log_bin
            {
                b.annotate(&text).map_err(binlog_err)?;
            }
            let limit = self
                .db
                .settings
                .max_binlog_cache_size
                .load(Ordering::Relaxed);
            if b.events_len() > limit {
                return Err(EngineError::TransactionTooLarge(limit));
            }
        }
        Ok(())
    }

    /// A write that nobody has to log, if the transaction is of that kind.
    #[cold]
    fn begin_unlogged(&mut self, table: &Arc<Table>) -> Result<()> {
        match self.redoing {
            true => self.lock_table(table),
            false => Err(EngineError::ReadOnly),
        }
    }

    /// Locks a row and returns its newest version (own writes included), `None` if there is no such row (or it was
    /// skipped by SKIP LOCKED). The key stays locked even if absent. Fails with `WriteConflict` under REPEATABLE READ
    /// if a snapshot exists and the row's newest version is younger, unless [`TxnOptions::newest_rows`] says otherwise.
    pub fn lock_row(
        &mut self,
        table: &Arc<Table>,
        pk: &[u8],
        mode: LockMode,
        wait: LockWait,
    ) -> Result<Option<Row>> {
        let index = table.indexes[0].id;
        if table.temporary {
            return Ok(self.own(&full_key(index, pk))?.flatten());
        }
        self.locked_seq = 0;
        self.lock_table(table)?;
        let name = self.db.locks.row_name(index, pk);
        match self.lock(name, Locked::Key(index), mode, wait) {
            Err(EngineError::LockNotAvailable) if wait == LockWait::SkipLocked => return Ok(None),
            r => r?,
        }
        let key = full_key(index, pk);
        if let Some(own) = self.own(&key)? {
            return Ok(own);
        }
        // The state is read after the lock was granted: its former holder's row is in it.
        let newest = self.db.store.state.load().get(index, &key, u64::MAX)?;
        if let Some(snapshot) = self.snapshot.as_ref().filter(|_| self.checks_conflicts()) {
            let changed = match &newest {
                Some((seq, Some(_))) => *seq > snapshot.seq,
                Some((_, None)) | None => snapshot
                    .state
                    .get(index, &key, snapshot.seq)?
                    .is_some_and(|(_, r)| r.is_some()),
            };
            if changed {
                // Who is told to try again must find the other's commit in the next snapshot.
                if let Some((seq, _)) = newest {
                    self.wait_visible(seq)?;
                }
                return Err(EngineError::WriteConflict);
            }
        }
        if let Some((seq, _)) = &newest {
            self.read_dependency = self.read_dependency.max(*seq);
            self.locked_seq = *seq;
        }
        Ok(newest.and_then(|(_, r)| r))
    }

    /// Sequence number of the commit that made the row which [`Transaction::lock_row`] gave last; 0 if it is this
    /// transaction's own, or there was none.
    pub fn locked_seq(&self) -> u64 {
        self.locked_seq
    }

    /// All commits up to this one are in the tables, whatever is read.
    pub fn settled_seq(&self) -> u64 {
        self.db.binlog.log.visible_seq()
    }

    /// Locks the row and returns its newest version, whatever the snapshot says.
    pub(crate) fn lock_newest(
        &mut self,
        table: &Arc<Table>,
        pk: &[u8],
        mode: LockMode,
    ) -> Result<Option<Row>> {
        let index = table.indexes[0].id;
        let name = self.db.locks.row_name(index, pk);
        self.lock(name, Locked::Key(index), mode, LockWait::Wait)?;
        let key = full_key(index, pk);
        if let Some(own) = self.own(&key)? {
            return Ok(own);
        }
        let newest = self.db.store.state.load().get(index, &key, u64::MAX)?;
        if let Some((seq, _)) = &newest {
            self.read_dependency = self.read_dependency.max(*seq);
        }
        Ok(newest.and_then(|(_, r)| r))
    }

    /// Locks a value of a unique index.
    pub(crate) fn lock_key(
        &mut self,
        table: &Table,
        index: usize,
        parts: &[u8],
        mode: LockMode,
    ) -> Result<()> {
        let id = table.indexes[index].id;
        let name = self.db.locks.row_name(id, parts);
        self.lock(name, Locked::Key(id), mode, LockWait::Wait)
    }

    /// Inserts a row image. Its parents must be there (1452). `Duplicate` leaves the transaction as it was before the call (the existing row's unique key is locked).
    pub fn insert(&mut self, table: &Arc<Table>, row: Vec<u8>) -> Result<()> {
        if table.hidden_pk && table.def.sequence {
            return self.insert_sequence_row(table, row);
        }
        self.begin_write(table)?;
        let clustered = table.indexes[0].id;
        let mut pk = Vec::with_capacity(16);
        let mut row_id = 0;
        if table.hidden_pk {
            row_id = table.counters.row_id.fetch_add(1, Ordering::Relaxed);
            pk.extend_from_slice(&row_id.to_be_bytes());
        } else {
            table.primary_key(&row, &mut pk)?;
        }
        let key = full_key(clustered, &pk);
        // A hidden key too: commit puts a row's index entries one by one, and whoever finds one of them must wait for
        // the rest, or versions would not come in commit order.
        self.lock_for_write(clustered, &pk)?;
        if !table.hidden_pk {
            let exists = match self.own(&key)? {
                Some(own) => own.is_some(),
                None => self.taken(clustered, &key)?,
            };
            if exists {
                return Err(self.duplicate(table, 0, pk));
            }
        }
        let mut keys: SmallVec<[FullKey; 4]> = SmallVec::new();
        for i in 1..table.indexes.len() {
            let mut parts = Vec::with_capacity(32);
            let has_null = table.secondary_parts(i, &row, &mut parts)?;
            if table.indexes[i].unique && !has_null {
                self.check_unique(table, i, &parts)?;
            }
            finish_secondary_key(&mut parts, &pk)?;
            keys.push(full_key(table.indexes[i].id, &parts));
        }
        if !table.foreign.is_empty() {
            self.check_parents(table, &row, None)?;
        }
        if self.db.locks.has_ranges() {
            let all: SmallVec<[&FullKey; 8]> = std::iter::once(&key).chain(&keys).collect();
            self.ask_to_write(&all)?;
        }
        let row_id = table.hidden_pk.then_some(row_id);
        self.log_change(table, Change::Insert(&row), row_id)?;
        self.cover_snapshot(table, &pk, None, Some(&row))?;
        self.put(key, Payload::Row(row.into()), 1);
        for k in keys {
            self.put(k, Payload::Present, 0);
        }
        self.make_room_behind()
    }

    /// Makes it the transaction that fills a table which nobody sees yet. `first` is logged before the rows.
    pub(crate) fn begin_fill(
        &mut self,
        timestamp: u32,
        first: Option<&DdlQuery<'_>>,
        annotate: Option<&[u8]>,
    ) -> Result<()> {
        self.timestamp = timestamp;
        let mut builder = new_builder(&self.db, narwal_log::HEADER_LEN);
        builder.set_timestamp(timestamp);
        if let Some(query) = first {
            builder.statement(query).map_err(binlog_err)?;
        }
        if let Some(text) = annotate {
            builder.annotate(text).map_err(binlog_err)?;
        }
        self.builder = Some(builder);
        Ok(())
    }

    /// Inserts a row into such a table: without row locks, and only the unique indexes in `checked` are looked into (the
    /// clustered index always is).
    pub(crate) fn load(&mut self, table: &Arc<Table>, row: &[u8], checked: &[usize]) -> Result<()> {
        self.begin_write(table)?;
        let mut pk = Vec::with_capacity(16);
        let mut row_id = None;
        if table.hidden_pk {
            let id = table.counters.row_id.fetch_add(1, Ordering::Relaxed);
            pk.extend_from_slice(&id.to_be_bytes());
            row_id = Some(id);
        } else {
            table.primary_key(row, &mut pk)?;
        }
        let key = full_key(table.indexes[0].id, &pk);
        if !table.hidden_pk && matches!(self.own(&key)?, Some(Some(_))) {
            return Err(EngineError::Duplicate {
                index: 0,
                existing_pk: pk,
            });
        }
        let mut keys: SmallVec<[FullKey; 4]> = SmallVec::new();
        for i in 1..table.indexes.len() {
            let mut parts = Vec::with_capacity(32);
            let has_null = table.secondary_parts(i, row, &mut parts)?;
            if table.indexes[i].unique && !has_null && checked.contains(&i) {
                self.check_free(table, i, &parts)?;
            }
            finish_secondary_key(&mut parts, &pk)?;
            keys.push(full_key(table.indexes[i].id, &parts));
        }
        self.log_change(table, Change::Insert(row), row_id)?;
        self.put(key, Payload::Row(row.into()), 1);
        for k in keys {
            self.put(k, Payload::Present, 0);
        }
        self.make_room_behind()
    }

    /// Whether there is a row under the clustered key, which is locked. That there is none any more is something read, too.
    fn taken(&mut self, index: u32, key: &FullKey) -> Result<bool> {
        match self.db.store.state.load().get(index, key, u64::MAX)? {
            Some((seq, row)) => {
                self.read_dependency = self.read_dependency.max(seq);
                Ok(row.is_some())
            }
            None => Ok(false),
        }
    }

    /// Where writes take the newest rows (`innodb_snapshot_isolation=OFF`), the snapshot's version of a row may have other index
    /// entries than the version that is replaced: those of the snapshot must not lead to the own row, and the own
    /// entries must be found even if the newest version had the same.
    fn cover_snapshot(
        &mut self,
        table: &Table,
        pk: &[u8],
        old: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<()> {
        if !self.options.newest_rows
            || self.options.isolation == Isolation::ReadCommitted
            || table.indexes.len() == 1
        {
            return Ok(());
        }
        let Some(snapshot) = &self.snapshot else {
            return Ok(());
        };
        let clustered = table.indexes[0].id;
        let seen = snapshot
            .state
            .get(clustered, &full_key(clustered, pk), snapshot.seq)?
            .and_then(|(_, row)| row);
        if seen.as_deref() == old {
            return Ok(());
        }
        for i in 1..table.indexes.len() {
            let key_of = |row: &[u8]| -> Result<FullKey> {
                let mut parts = Vec::with_capacity(32);
                table.secondary_parts(i, row, &mut parts)?;
                finish_secondary_key(&mut parts, pk)?;
                Ok(full_key(table.indexes[i].id, &parts))
            };
            let to = new.map(key_of).transpose()?;
            let from = seen.as_deref().map(key_of).transpose()?;
            if let Some(from) = from.filter(|from| Some(from) != to.as_ref()) {
                self.put(from, Payload::Tombstone, 0);
            }
            if let Some(to) = to {
                self.put(to, Payload::Present, 0);
            }
        }
        Ok(())
    }

    /// Locks a unique secondary key and checks that it is free.
    fn check_unique(&mut self, table: &Arc<Table>, index: usize, parts: &[u8]) -> Result<()> {
        let id = table.indexes[index].id;
        self.lock_for_write(id, parts)?;
        self.check_free(table, index, parts)
    }

    /// Checks that a unique secondary key is free.
    fn check_free(&mut self, table: &Arc<Table>, index: usize, parts: &[u8]) -> Result<()> {
        let mut scan = self.scan(
            table,
            index,
            KeyRange::prefix(parts.to_vec()),
            false,
            ReadView::Current,
            true,
        )?;
        let existing = scan.next()?.map(|item| item.pk.to_vec());
        drop(scan);
        match existing {
            Some(existing_pk) => Err(self.duplicate(table, index, existing_pk)),
            None => Ok(()),
        }
    }

    /// The error of a taken key. That there is such a row is something read, too.
    fn duplicate(&mut self, table: &Table, index: usize, existing_pk: Vec<u8>) -> EngineError {
        let clustered = table.indexes[0].id;
        let key = full_key(clustered, &existing_pk);
        if let Ok(Some((seq, _))) = self.db.store.state.load().get(clustered, &key, u64::MAX) {
            self.read_dependency = self.read_dependency.max(seq);
        }
        EngineError::Duplicate { index, existing_pk }
    }

    /// Replaces `old` (as returned by `lock_row`, Exclusive) by `new`; the clustered key may change. `Duplicate` as in `insert`.
    /// Rows that refer to it follow, or it is an error (1451).
    pub fn update(&mut self, table: &Arc<Table>, pk: &[u8], old: &Row, new: Vec<u8>) -> Result<()> {
        if !self.follows_foreign_keys(table) {
            return self.update_row(table, pk, old, new);
        }
        let before = self.savepoint();
        let image = new.clone();
        self.update_row(table, pk, old, new)?;
        let followed = self.follow(table, old, Some(&image));
        if followed.is_err() {
            self.rollback_to(&before);
        }
        followed
    }

    pub(crate) fn update_row(
        &mut self,
        table: &Arc<Table>,
        pk: &[u8],
        old: &Row,
        new: Vec<u8>,
    ) -> Result<()> {
        if table.hidden_pk && table.def.sequence {
            return Err(not_for_sequences(table));
        }
        self.begin_write(table)?;
        let clustered = table.indexes[0].id;
        let mut new_pk = Vec::with_capacity(pk.len());
        if table.hidden_pk {
            new_pk.extend_from_slice(pk);
        } else {
            table.primary_key(&new, &mut new_pk)?;
        }
        let moved = new_pk != pk;
        let key = full_key(clustered, &new_pk);
        if moved {
            self.lock_for_write(clustered, &new_pk)?;
            let exists = match self.own(&key)? {
                Some(own) => own.is_some(),
                None => self.taken(clustered, &key)?,
            };
            if exists {
                return Err(self.duplicate(table, 0, new_pk));
            }
        }
        let mut changes: SmallVec<[(FullKey, FullKey); 4]> = SmallVec::new();
        for i in 1..table.indexes.len() {
            let (mut from, mut to) = (Vec::with_capacity(32), Vec::with_capacity(32));
            let old_null = table.secondary_parts(i, old, &mut from)?;
            let new_null = table.secondary_parts(i, &new, &mut to)?;
            let same = from == to;
            if same && !moved {
                continue;
            }
            if table.indexes[i].unique && !same {
                if !old_null {
                    // Whoever wants this value next must wait for this commit.
                    self.lock_for_write(table.indexes[i].id, &from)?;
                }
                if !new_null {
                    self.check_unique(table, i, &to)?;
                }
            }
            finish_secondary_key(&mut from, pk)?;
            finish_secondary_key(&mut to, &new_pk)?;
            let id = table.indexes[i].id;
            changes.push((full_key(id, &from), full_key(id, &to)));
        }
        if !table.foreign.is_empty() {
            self.check_parents(table, &new, Some(old))?;
        }
        if self.db.locks.has_ranges() {
            let own = moved.then_some(&key).into_iter();
            let all: SmallVec<[&FullKey; 8]> =
                own.chain(changes.iter().map(|(_, to)| to)).collect();
            self.ask_to_write(&all)?;
        }
        let row_id = table.hidden_pk.then(|| row_id_of(pk));
        self.log_change(table, Change::Update(old, &new), row_id)?;
        if moved {
            self.cover_snapshot(table, pk, Some(old), None)?;
            self.cover_snapshot(table, &new_pk, None, Some(&new))?;
        } else {
            self.cover_snapshot(table, pk, Some(old), Some(&new))?;
        }
        self.removes |= moved || !changes.is_empty();
        if moved {
            self.put(full_key(clustered, pk), Payload::Tombstone, -1);
            self.put(key, Payload::Row(new.into()), 1);
        } else {
            self.put(key, Payload::Row(new.into()), 0);
        }
        for (from, to) in changes {
            self.put(from, Payload::Tombstone, 0);
            self.put(to, Payload::Present, 0);
        }
        self.make_room_behind()
    }

    /// Deletes `old` (as returned by `lock_row`, Exclusive). Rows that refer to it follow, or it is an error (1451).
    pub fn delete(&mut self, table: &Arc<Table>, pk: &[u8], old: &Row) -> Result<()> {
        if !self.follows_foreign_keys(table) {
            return self.delete_row(table, pk, old);
        }
        let before = self.savepoint();
        self.delete_row(table, pk, old)?;
        let followed = self.follow(table, old, None);
        if followed.is_err() {
            self.rollback_to(&before);
        }
        followed
    }

    pub(crate) fn delete_row(&mut self, table: &Arc<Table>, pk: &[u8], old: &Row) -> Result<()> {
        if table.hidden_pk && table.def.sequence {
            return Err(not_for_sequences(table));
        }
        self.begin_write(table)?;
        let mut keys: SmallVec<[FullKey; 4]> = SmallVec::new();
        for i in 1..table.indexes.len() {
            let mut parts = Vec::with_capacity(32);
            let has_null = table.secondary_parts(i, old, &mut parts)?;
            if table.indexes[i].unique && !has_null {
                self.lock_for_write(table.indexes[i].id, &parts)?;
            }
            finish_secondary_key(&mut parts, pk)?;
            keys.push(full_key(table.indexes[i].id, &parts));
        }
        let row_id = table.hidden_pk.then(|| row_id_of(pk));
        self.log_change(table, Change::Delete(old), row_id)?;
        self.cover_snapshot(table, pk, Some(old), None)?;
        self.put(full_key(table.indexes[0].id, pk), Payload::Tombstone, -1);
        for k in keys {
            self.put(k, Payload::Tombstone, 0);
        }
        self.make_room_behind()
    }

    pub(crate) fn put(&mut self, key: FullKey, payload: Payload, delta: i8) {
        if is_temporary(index_of(&key)) {
            return self.put_temporary(key, payload, delta);
        }
        self.writes.put(key, payload, delta);
    }

    /// Notes the hidden row id of the row change that was logged last.
    pub(crate) fn push_row_id(&mut self, id: u64) {
        let open = self.builder.as_ref().and_then(GroupBuilder::open_rows);
        if self.row_ids_open.0 != open {
            self.row_ids_open = (open, self.row_ids_total());
        }
        self.row_ids.push(id);
    }

    /// Number of hidden row ids logged so far.
    pub(crate) fn row_ids_total(&self) -> u64 {
        self.row_ids_sent + self.row_ids.len() as u64
    }

    /// Reserves `n` AUTO_INCREMENT values; returns the first. Never handed out twice, not even after a rollback.
    pub fn reserve_auto_increment(&mut self, table: &Arc<Table>, n: u64) -> Result<u64> {
        Ok(table
            .counters
            .auto_increment
            .fetch_add(n, Ordering::Relaxed))
    }

    /// Tells the counter about an explicit value.
    pub fn observe_auto_increment(&mut self, table: &Arc<Table>, value: u64) {
        table
            .counters
            .auto_increment
            .fetch_max(value.saturating_add(1), Ordering::Relaxed);
    }

    /// The current place.
    pub fn savepoint(&mut self) -> Savepoint {
        let at = Arc::new(SavepointAt {
            writes: self.writes.position(),
            row_ids: self.row_ids_total(),
            mark: self.builder.as_ref().map(GroupBuilder::mark),
            local: self.local_mark(),
            temporary: self.temporary_places(),
        });
        // Only a transaction that grows large asks which of them are alive.
        if self.savepoints.len() >= 32 {
            self.savepoints.retain(|s| s.strong_count() > 0);
        }
        self.savepoints.push(Arc::downgrade(&at));
        Savepoint(at)
    }

    /// Undoes everything after the savepoint; row locks are kept.
    pub fn rollback_to(&mut self, s: &Savepoint) {
        let s = &*s.0;
        self.writes.rollback_to(s.writes);
        self.settled = self.settled.min(s.writes);
        self.rollback_temporary(&s.temporary);
        match s.row_ids.checked_sub(self.row_ids_sent) {
            Some(kept) => self.row_ids.truncate(kept as usize),
            None => {
                self.row_ids.clear();
                self.row_ids_sent = s.row_ids;
            }
        }
        self.row_ids_open = (None, 0);
        self.truncate_local(&s.local);
        match &s.mark {
            Some(m) => {
                if let Some(b) = &mut self.builder {
                    b.truncate(m.clone());
                }
            }
            None => self.builder = None,
        }
        let kept = self.builder.as_ref().map_or(0, GroupBuilder::drained);
        if let Some(oob) = &mut self.oob {
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
            && self.builder.as_ref().is_none_or(GroupBuilder::is_empty)
            && self.local.as_ref().is_none_or(|l| l.builder.is_empty())
    }

    /// True if a write must also look at the rows of its snapshot: a row that matched there and was changed since is a
    /// conflict (1020) even if it does not match any more.
    pub fn checks_conflicts(&self) -> bool {
        // At SERIALIZABLE reads have locked what they saw.
        self.snapshot.is_some()
            && self.options.isolation == Isolation::RepeatableRead
            && !self.options.newest_rows
    }

    /// Its number since the server's start.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Bytes of memory that its changes and locks take, roughly.
    pub fn memory(&self) -> u64 {
        self.writes.bytes() + (self.locks.len() * size_of::<LockName>()) as u64
    }

    /// Row locks that it holds in memory, and tables that it uses.
    pub fn lock_counts(&self) -> (usize, usize) {
        (self.locks.len(), self.tables.len())
    }

    /// The snapshot's commit sequence number, if there is a snapshot.
    pub fn snapshot_seq(&self) -> Option<u64> {
        self.snapshot.as_ref().map(|s| s.seq)
    }

    /// Rolls back.
    pub fn rollback(self) {}

    /// Before results of locking reads, or of a duplicate key, are sent: waits until the versions read are durable and
    /// visible.
    pub fn wait_reads_durable(&mut self) -> Result<()> {
        self.wait_visible(self.read_dependency)
    }

    fn wait_visible(&self, seq: u64) -> Result<()> {
        if seq > self.db.binlog.log.visible_seq() {
            self.db
                .binlog
                .log
                .wait_visible_or(seq, || self.options.interrupted())?;
        }
        Ok(())
    }

    /// Lets go of what it takes to read in a snapshot and to undo, but of no lock.
    pub(crate) fn end_reading(&mut self) {
        self.settle_temporary();
        self.end_temporary();
        self.savepoints.clear();
        self.options.interrupt = None;
        self.options.kill = None;
        self.snapshot = None;
        if let Some(s) = self.slot.take() {
            self.db.store.registry.release(s);
        }
    }

    /// What is left of ranges and of what was said to those who lock them.
    #[inline]
    fn release_ranges(&mut self) {
        if std::mem::take(&mut self.landing) {
            self.db.locks.landed(self.id);
        }
        if std::mem::take(&mut self.announced) {
            self.db.locks.forget_announced(self.id);
        }
        if std::mem::take(&mut self.ranges) {
            self.db.locks.release_ranges(self.id);
        }
    }

    /// Ends the hold on other transactions: row locks and the snapshot's claim.
    pub(crate) fn release(&mut self) {
        if !self.locks.is_empty() || self.locks_spilled {
            self.db.locks.release_all(self.id, &self.locks);
            self.locks.clear();
            self.locks_spilled = false;
        }
        self.release_ranges();
        self.snapshot = None;
        if let Some(s) = self.slot.take() {
            self.db.store.registry.release(s);
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // Still here: rolled back.
        if self.options.log_bin && self.builder.as_ref().is_some_and(|b| !b.is_empty()) {
            let used = &self.db.counters.cache_use;
            used.fetch_add(1, Ordering::Relaxed);
        }
        self.end_temporary();
        self.release();
    }
}

fn row_id_of(pk: &[u8]) -> u64 {
    pk.try_into().map_or(0, u64::from_be_bytes)
}
