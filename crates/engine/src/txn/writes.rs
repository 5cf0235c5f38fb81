//! Changing rows.

use crate::EngineError;
use crate::Result;
use crate::catalog::counters::auto_number;
use crate::catalog::steps::Steps;
use crate::catalog::table::Table;
use crate::catalog::table::not_for_sequences;
use crate::error::binlog_err;
use crate::key::FullKey;
use crate::key::KeyRange;
use crate::key::finish_secondary_key;
use crate::key::full_key;
use crate::key::index_of;
use crate::key::is_temporary;
use crate::store::entry::Payload;
use crate::store::row::Row;
use crate::txn::events::Change;
use crate::txn::events::new_builder;
use crate::txn::options::Isolation;
use crate::txn::reads::ReadView;
use crate::txn::savepoint::StatementStart;
use crate::txn::transaction::Transaction;
use narwal_binlog::DdlQuery;
use narwal_binlog::rows_flags;
use narwal_types::key::encode_from_row;
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl Transaction {
    /// What every write does first.
    pub(crate) fn begin_write(&mut self, table: &Arc<Table>) -> Result<()> {
        if table.temporary {
            if matches!(self.undo.statement, StatementStart::Here) {
                self.undo.statement = StatementStart::At(self.savepoint());
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
        if matches!(self.undo.statement, StatementStart::Here) {
            self.undo.statement = StatementStart::At(self.savepoint());
        }
        if !self.logs(table) {
            return self.begin_local_write(self.events.timestamp);
        }
        self.make_room()?;
        if self.events.builder.is_none() {
            let mut b = new_builder(&self.db, narwal_log::HEADER_LEN);
            if !self.db.catalogs.current.load().references.is_empty() {
                // Cascades are logged, and parents were looked for: a replica need not, and must not.
                b.set_rows_flags(rows_flags::NO_FOREIGN_KEY_CHECKS);
            }
            self.events.builder = Some(b);
        }
        if let Some(b) = &mut self.events.builder {
            b.set_timestamp(self.events.timestamp);
            if let Some(text) = self.events.annotate.take()
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
    pub(super) fn begin_unlogged(&mut self, table: &Arc<Table>) -> Result<()> {
        match self.redoing {
            true => self.lock_table(table),
            false => Err(EngineError::ReadOnly),
        }
    }

    /// Inserts a row image. Its parents must be there (1452). `Duplicate` leaves the transaction as it was before the call (the existing row's unique key is locked).
    pub fn insert(&mut self, table: &Arc<Table>, row: Vec<u8>) -> Result<()> {
        if table.hidden_pk && table.def.sequence {
            return self.insert_sequence_row(table, row);
        }
        self.begin_write(table)?;
        if table.without_overlaps {
            self.check_overlaps(table, &row)?;
        }
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
        // A hidden key too: commit puts a row's index entries one by one. Another transaction that finds one of them must
        // wait for the rest, or versions would not come in commit order.
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
        self.events.timestamp = timestamp;
        let mut builder = new_builder(&self.db, narwal_log::HEADER_LEN);
        builder.set_timestamp(timestamp);
        if let Some(query) = first {
            builder.statement(query).map_err(binlog_err)?;
        }
        if let Some(text) = annotate {
            builder.annotate(text).map_err(binlog_err)?;
        }
        self.events.builder = Some(builder);
        Ok(())
    }

    /// Inserts a row into such a table: without row locks, and only the unique indexes in `checked` are looked into (the
    /// clustered index always is).
    pub(crate) fn load(&mut self, table: &Arc<Table>, row: &[u8], checked: &[usize]) -> Result<()> {
        self.begin_write(table)?;
        if table.without_overlaps {
            self.find_overlaps(table, row, checked)?;
        }
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
    pub(super) fn taken(&mut self, index: u32, key: &FullKey) -> Result<bool> {
        match self.db.store.state.load().get(index, key, u64::MAX)? {
            Some((seq, row)) => {
                self.view.read_dependency = self.view.read_dependency.max(seq);
                Ok(row.is_some())
            }
            None => Ok(false),
        }
    }

    /// Where writes take the newest rows (`innodb_snapshot_isolation=OFF`), the snapshot's version of a row may have other index
    /// entries than the version that is replaced: those of the snapshot must not lead to the own row, and the own
    /// entries must be found even if the newest version had the same.
    pub(super) fn cover_snapshot(
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
        let Some(snapshot) = &self.view.snapshot else {
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
    pub(super) fn check_unique(
        &mut self,
        table: &Arc<Table>,
        index: usize,
        parts: &[u8],
    ) -> Result<()> {
        let id = table.indexes[index].id;
        self.lock_for_write(id, parts)?;
        self.check_free(table, index, parts)
    }

    /// Checks that a unique secondary key is free.
    pub(super) fn check_free(
        &mut self,
        table: &Arc<Table>,
        index: usize,
        parts: &[u8],
    ) -> Result<()> {
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
    pub(super) fn duplicate(
        &mut self,
        table: &Table,
        index: usize,
        existing_pk: Vec<u8>,
    ) -> EngineError {
        let clustered = table.indexes[0].id;
        let key = full_key(clustered, &existing_pk);
        if let Ok(Some((seq, _))) = self.db.store.state.load().get(clustered, &key, u64::MAX) {
            self.view.read_dependency = self.view.read_dependency.max(seq);
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
        if table.without_overlaps {
            self.check_new_overlaps(table, pk, old, &new)?;
        }
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
                    // The next transaction that wants this value must wait for this commit.
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
        if table.without_overlaps {
            self.lock_groups(table, old)?;
        }
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

    /// Reserves `n` AUTO_INCREMENT values; returns the first. Never handed out twice, not even after a rollback.
    pub fn reserve_auto_increment(&mut self, table: &Arc<Table>, n: u64, steps: Steps) -> u64 {
        let counter = &table.counters.auto_increment;
        // At its end the counter stays there: values would begin anew.
        let further = |at: u64| {
            let first = steps.first_from(at);
            Some(first.saturating_add(n.saturating_mul(steps.step)))
        };
        let before = counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, further);
        before.map_or(u64::MAX, |at| steps.first_from(at))
    }

    /// The largest AUTO_INCREMENT value in the group that a new row belongs to ([`Table::numbered_in`]), 0 if there is none.
    /// Nobody else draws a number of the group until the transaction ends.
    ///
    /// # Errors
    /// Those of reading and of a lock.
    pub fn largest_in_group(&mut self, table: &Arc<Table>, row: &[u8]) -> Result<u64> {
        let (Some(group), Some(column)) = (table.numbered_in, table.auto_increment) else {
            return Ok(0);
        };
        self.begin_write(table)?;
        let index = &table.indexes[group.index];
        let mut prefix = Vec::new();
        encode_from_row(&table.layout, row, &index.parts[..group.parts], &mut prefix)?;
        self.lock_for_write(index.id, &prefix)?;
        let up = !index.parts[group.parts].desc;
        let range = KeyRange::prefix(prefix);
        let mut scan = self.scan(table, group.index, range, up, ReadView::Current, false)?;
        Ok(match scan.next()? {
            Some(item) => auto_number(table.layout.column(item.row, column)?),
            None => 0,
        })
    }

    /// The next AUTO_INCREMENT value of a table is none that `other` has given.
    pub fn number_behind(&mut self, table: &Table, other: &Table) {
        let next = other.counters.auto_increment.load(Ordering::Relaxed);
        (table.counters.auto_increment).fetch_max(next, Ordering::Relaxed);
    }

    /// Tells the counter about an explicit value: it goes on with the next of the numbers behind it.
    pub fn observe_auto_increment(&mut self, table: &Arc<Table>, value: u64, steps: Steps) {
        let behind = value.saturating_add(1);
        // A step that goes too far is none.
        let next = Some(steps.first_from(behind)).filter(|n| *n < u64::MAX);
        let next = next.unwrap_or(behind);
        (table.counters.auto_increment).fetch_max(next, Ordering::Relaxed);
    }
}

fn row_id_of(pk: &[u8]) -> u64 {
    pk.try_into().map_or(0, u64::from_be_bytes)
}
