//! Locking rows, ranges and tables.

use crate::EngineError;
use crate::Result;
use crate::catalog::table::Table;
use crate::error::definition_changed;
use crate::key::FullKey;
use crate::key::KeyRange;
use crate::key::full_key;
use crate::key::index_of;
use crate::key::is_temporary;
use crate::locks::asking::Asking;
use crate::locks::asking::RangeMark;
use crate::locks::types::LockMode;
use crate::locks::types::LockName;
use crate::locks::types::LockWait;
use crate::locks::types::Locked;
use crate::locks::types::WaitPolicy;
use crate::store::row::Row;
use crate::txn::options::Isolation;
use crate::txn::transaction::Transaction;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

const DEFAULT_LOCK_WAIT: Duration = Duration::from_secs(50);

impl Transaction {
    /// Takes a lock for this transaction.
    pub(super) fn lock(
        &mut self,
        name: LockName,
        of: Locked,
        mode: LockMode,
        wait: LockWait,
    ) -> Result<()> {
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
            self.locks.names.push(name);
        }
        Ok(())
    }

    /// How it waits for a lock on keys of an index; `None`: it does not.
    pub(super) fn policy_of(&self, index: u32, wait: LockWait) -> Option<WaitPolicy<'_>> {
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
        self.locks.ranges = true;
        // That a row is not there is something read: the commit that took it away must last.
        let removed = table.counters.removed.load(Ordering::Relaxed);
        self.view.read_dependency = self.view.read_dependency.max(removed);
        locked
    }

    /// The scan stopped early: of the range that was locked at `mark` only this part was looked at.
    pub fn shrink_range(&mut self, mark: RangeMark, looked_at: &KeyRange) {
        self.db.locks.shrink_range(self.id, mark, looked_at);
    }

    /// Before new keys come while others have locked ranges: waits for those that have them. Keys that are there belong to
    /// rows, and those are locked.
    #[cold]
    pub(super) fn ask_to_write(&mut self, keys: &[&FullKey]) -> Result<()> {
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
        self.locks.announced = true;
        Ok(())
    }

    /// Announces what was written so far to those who lock ranges, and waits for those that have done so since it was
    /// written. Called at the end of each statement of a transaction that stays open: then its COMMIT has nothing to wait for.
    ///
    /// # Errors
    /// Those of a lock: the statement has failed then.
    pub fn settle_writes(&mut self) -> Result<()> {
        let position = self.writes.position();
        if self.locks.settled == position {
            return Ok(());
        }
        let locks = &self.db.locks;
        if !locks.announce(self.id, self.writes.new_keys_since(self.locks.settled)) {
            self.settle_beside_ranges(LockWait::Wait)?;
        }
        self.locks.announced = true;
        self.locks.settled = position;
        Ok(())
    }

    #[cold]
    pub(super) fn settle_beside_ranges(&mut self, wait: LockWait) -> Result<()> {
        // It may fail, or be woken by a release, behind the announcement of a part.
        self.locks.announced = true;
        let keys: Vec<&FullKey> = self.writes.new_keys_since(self.locks.settled).collect();
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
        if self.locks.settled == self.writes.position() || self.locks.landing {
            return Ok(());
        }
        if self.db.locks.begin_landing(self.id) {
            self.locks.landing = true;
            return Ok(());
        }
        // A replica's commits wait in line: what one of them waits for may wait for the next. It is tried again alone.
        let wait = match self.options.origin {
            Some(_) => LockWait::NoWait,
            None => LockWait::Wait,
        };
        self.settle_beside_ranges(wait)?;
        self.locks.settled = self.writes.position();
        Ok(())
    }

    /// Locks a key that is to be written; those of temporary tables have no other takers.
    #[inline]
    pub(super) fn lock_for_write(&mut self, index: u32, key: &[u8]) -> Result<()> {
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

    /// Locks a row and returns its newest version (own writes included), `None` if there is no such row (or it was
    /// skipped by SKIP LOCKED). The key stays locked even if absent. Fails with `WriteConflict` under REPEATABLE READ
    /// if a snapshot exists and the row's newest version is younger, unless [`crate::TxnOptions::newest_rows`] says otherwise.
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
        self.view.locked_seq = 0;
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
        if let Some(snapshot) = self
            .view
            .snapshot
            .as_ref()
            .filter(|_| self.checks_conflicts())
        {
            let changed = match &newest {
                Some((seq, Some(_))) => *seq > snapshot.seq,
                Some((_, None)) | None => snapshot
                    .state
                    .get(index, &key, snapshot.seq)?
                    .is_some_and(|(_, r)| r.is_some()),
            };
            if changed {
                // The client is told to try again, and must then find the other's commit in its snapshot.
                if let Some((seq, _)) = newest {
                    self.wait_visible(seq)?;
                }
                return Err(EngineError::WriteConflict);
            }
        }
        if let Some((seq, _)) = &newest {
            self.view.read_dependency = self.view.read_dependency.max(*seq);
            self.view.locked_seq = *seq;
        }
        Ok(newest.and_then(|(_, r)| r))
    }

    /// Sequence number of the commit that made the row which [`Transaction::lock_row`] gave last; 0 if it is this
    /// transaction's own, or there was none.
    pub fn locked_seq(&self) -> u64 {
        self.view.locked_seq
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
            self.view.read_dependency = self.view.read_dependency.max(*seq);
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

    /// Row locks that it holds in memory, and tables that it uses.
    pub fn lock_counts(&self) -> (usize, usize) {
        (self.locks.names.len(), self.tables.len())
    }
}
