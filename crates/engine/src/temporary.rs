//! Temporary tables: a session's own tables, which stand in no catalog and in no log.
//!
//! Their rows are kept as a transaction keeps its own changes ([`crate::writeset`]), one set for each table. A set outlives
//! transactions: a commit settles what a rollback would have undone. So reads, savepoints, failed statements and spilling to
//! run files work as for any transaction's own writes; there is no snapshot, no lock and no event. Whichever transaction of
//! the session runs takes the rows out of its [`TemporaryTables`], and gives them back when it ends.
//!
//! Index ids of temporary tables have their highest bit set, then the table's number in its session, then the index's number
//! in the table.

use crate::catalog::{Catalog, CatalogChange, TableDef};
use crate::db::{Database, Inner};
use crate::fill::TableFill;
use crate::memtable::{FullKey, Payload, index_of};
use crate::table::Table;
use crate::txn::{Transaction, TxnOptions, definition_changed};
use crate::writeset::{SpillEnd, WriteSet, unlogged_spill_id};
use crate::{EngineError, Result};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const TEMPORARY: u32 = 1 << 31;
/// Bits of an index's number in its table, which has at most 65.
const INDEX_BITS: u32 = 7;
const SLOTS: u32 = 1 << (31 - INDEX_BITS);
/// In table ids, which are 48 bits wide.
const TEMPORARY_TABLE: u64 = 1 << 47;

/// Whether an index is one of a temporary table.
#[inline]
pub(crate) fn is_temporary(index: u32) -> bool {
    index & TEMPORARY != 0
}

fn slot_of(index: u32) -> u32 {
    (index & !TEMPORARY) >> INDEX_BITS
}

/// The temporary tables of a session: give it to the session's transactions with [`TxnOptions::temporary`].
#[derive(Debug, Default)]
pub struct TemporaryTables {
    /// Definitions; its databases are not filled in.
    catalog: RwLock<Catalog>,
    /// `None` while a transaction has them.
    rows: Mutex<Option<Box<TemporaryRows>>>,
    /// Number of tables made so far.
    made: Mutex<u32>,
}

/// What fills the rows of a table that a statement makes.
pub type Fill<'a> = &'a mut dyn FnMut(&mut TableFill<'_>) -> Result<()>;

impl TemporaryTables {
    /// Bytes of memory that the rows take, roughly; nothing while a transaction has them.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let rows = self.rows.lock();
        rows.iter()
            .flat_map(|r| r.tables.values())
            .map(|t| t.rows.bytes())
            .sum()
    }

    /// A table by database and name.
    #[must_use]
    pub fn table(&self, db: &str, name: &str) -> Option<Arc<Table>> {
        self.catalog.read().table(db, name).cloned()
    }

    /// The temporary tables as a catalog, with the databases of another one.
    #[must_use]
    pub fn catalog(&self, base: &Catalog) -> Catalog {
        let mut c = self.catalog.read().clone();
        c.databases.clone_from(&base.databases);
        c.version = base.version;
        c
    }

    /// Runs the changes of a DDL statement on temporary tables. `fill` gives rows to the table that it makes. They do not
    /// belong to a transaction: what was made or dropped stays so. An open transaction of the session must have lent the
    /// rows ([`Transaction::lend_temporary`]).
    ///
    /// # Errors
    /// Those of `fill`: nothing has changed then.
    pub fn ddl(
        &self,
        db: &Database,
        changes: Vec<CatalogChange>,
        options: &TxnOptions,
        mut fill: Option<Fill<'_>>,
    ) -> Result<()> {
        let mut dropped = Vec::new();
        for change in changes {
            match change {
                CatalogChange::DropTable { db, name } => dropped.extend(self.table(&db, &name)),
                CatalogChange::CreateTable(def) => {
                    let table = self.make(def)?;
                    let rows = match &mut fill {
                        Some(fill) => {
                            let none = WriteSet::default();
                            filled(&db.inner, None, none, &table, options, fill).0?
                        }
                        None => WriteSet::default(),
                    };
                    self.put(table, rows);
                }
                CatalogChange::TruncateTable { db, name } => {
                    let Some(old) = self.table(&db, &name) else {
                        continue;
                    };
                    let mut def = old.def.clone();
                    def.auto_increment_start = 0;
                    self.put(self.make(def)?, WriteSet::default());
                    self.remove(&old);
                }
                CatalogChange::RebuildTable {
                    db: of,
                    name,
                    was,
                    def,
                } => {
                    let (Some(old), Some(fill)) = (self.table(&of, &name), &mut fill) else {
                        return Err(definition_changed());
                    };
                    if old.def != *was {
                        return Err(definition_changed());
                    }
                    let new = self.make(def)?;
                    let rows = self.take_rows(&old)?;
                    match filled(&db.inner, Some(&old), rows, &new, options, fill) {
                        (Ok(rows), _) => {
                            self.remove(&old);
                            self.put(new, rows);
                        }
                        (Err(e), rows) => {
                            self.put_rows(&old, rows);
                            return Err(e);
                        }
                    }
                }
                CatalogChange::AlterTable {
                    db, name, mut def, ..
                } => {
                    let old = self.table(&db, &name).ok_or_else(definition_changed)?;
                    def.id = old.def.id;
                    def.hidden_index_id = old.def.hidden_index_id;
                    let ids = |d: &TableDef| d.indexes.iter().map(|i| i.id).collect::<Vec<_>>();
                    if ids(&def) != ids(&old.def) {
                        return Err(EngineError::Catalog(
                            "new indexes of a temporary table need its rows".into(),
                        ));
                    }
                    let rows = self.take_rows(&old)?;
                    self.remove(&old);
                    let new = Table::new(def, Some(old.counters.clone()))?;
                    self.put(new, rows);
                }
                CatalogChange::SetAutoIncrement { db, name, next, .. } => {
                    if let Some(t) = self.table(&db, &name) {
                        t.counters.auto_increment.store(next, Ordering::Relaxed);
                    }
                }
                _ => {
                    return Err(EngineError::Catalog(
                        "this change is not for temporary tables".into(),
                    ));
                }
            }
        }
        for table in dropped {
            self.remove(&table);
        }
        Ok(())
    }

    /// The run-time form of a definition, with ids.
    fn make(&self, mut def: TableDef) -> Result<Arc<Table>> {
        let slot = self.free_slot();
        let first = TEMPORARY | (slot << INDEX_BITS);
        def.id = TEMPORARY_TABLE | u64::from(slot);
        def.hidden_index_id = first;
        for (ix, id) in def.indexes.iter_mut().zip(first + 1..) {
            ix.id = id;
        }
        Table::new(def, None)
    }

    /// The next number that no table has.
    fn free_slot(&self) -> u32 {
        let catalog = self.catalog.read();
        let mut made = self.made.lock();
        loop {
            let slot = *made % SLOTS;
            *made = made.wrapping_add(1);
            let id = TEMPORARY_TABLE | u64::from(slot);
            if catalog.table_by_id(id).is_none() {
                return slot;
            }
        }
    }

    /// Adds a table, in the place of one of its name.
    fn put(&self, table: Arc<Table>, mut rows: WriteSet) {
        rows.settle();
        if let Some(old) = self.table(&table.def.db, &table.def.name)
            && old.def.id != table.def.id
        {
            self.remove(&old);
        }
        self.catalog.write().put_table(table.clone());
        self.put_rows(&table, rows);
    }

    fn put_rows(&self, table: &Arc<Table>, rows: WriteSet) {
        let mut all = self.rows.lock();
        let t = TemporaryTable {
            table: table.clone(),
            settled: rows.position(),
            rows,
        };
        all.get_or_insert_default()
            .tables
            .insert(slot_of(table.def.hidden_index_id), t);
    }

    fn take_rows(&self, table: &Table) -> Result<WriteSet> {
        let mut all = self.rows.lock();
        all.as_mut()
            .and_then(|r| r.tables.remove(&slot_of(table.def.hidden_index_id)))
            .map(|t| t.rows)
            .ok_or_else(in_use)
    }

    fn remove(&self, table: &Arc<Table>) {
        let mut catalog = self.catalog.write();
        if catalog.by_id.remove(&table.def.id).is_some() {
            catalog.forget_name(table);
        }
        drop(catalog);
        if let Some(rows) = self.rows.lock().as_mut() {
            rows.tables.remove(&slot_of(table.def.hidden_index_id));
        }
    }
}

fn in_use() -> EngineError {
    EngineError::Catalog("the temporary table is not at hand here".into())
}

/// Fills a new table; gives its rows, and those of the old one back.
fn filled(
    db: &Arc<Inner>,
    old: Option<&Arc<Table>>,
    old_rows: WriteSet,
    new: &Arc<Table>,
    options: &TxnOptions,
    fill: Fill<'_>,
) -> (Result<WriteSet>, WriteSet) {
    let (mut before, mut after) = (Catalog::new(), Catalog::new());
    if let Some(old) = old {
        before.put_table(old.clone());
    }
    after.put_table(new.clone());
    let mut tables = TableFill::new(db, &before, &after, options);
    tables.old_rows = old_rows;
    tables.txn.temporary = Some(Box::new(TemporaryRows::of(new)));
    let done = fill(&mut tables);
    let old_rows = std::mem::take(&mut tables.old_rows);
    let made = (tables.txn.temporary.as_mut()).and_then(|r| r.tables.pop_first());
    let rows = done.and_then(|()| made.map(|(_, t)| t.rows).ok_or_else(in_use));
    (rows, old_rows)
}

/// The rows of a session's temporary tables.
#[derive(Debug, Default)]
pub(crate) struct TemporaryRows {
    /// By number.
    tables: BTreeMap<u32, TemporaryTable>,
}

#[derive(Debug)]
struct TemporaryTable {
    table: Arc<Table>,
    rows: WriteSet,
    /// What is before this place belongs to no open transaction.
    settled: u64,
}

impl TemporaryRows {
    fn of(table: &Arc<Table>) -> Self {
        let t = TemporaryTable {
            table: table.clone(),
            rows: WriteSet::default(),
            settled: 0,
        };
        TemporaryRows {
            tables: BTreeMap::from([(slot_of(table.def.hidden_index_id), t)]),
        }
    }

    fn table_mut(&mut self, index: u32) -> Result<&mut TemporaryTable> {
        self.tables.get_mut(&slot_of(index)).ok_or_else(in_use)
    }

    /// Where each table's rows are now, by number.
    fn places(&self) -> Vec<(u32, u64)> {
        let place = |(slot, t): (&u32, &TemporaryTable)| (*slot, t.rows.position());
        self.tables.iter().map(place).collect()
    }

    /// Undoes what came behind such places; a table that was made since loses what the transaction did to it.
    fn rollback_to(&mut self, places: &[(u32, u64)]) {
        for (slot, t) in &mut self.tables {
            let known = places.iter().find(|(s, _)| s == slot);
            let to = known.map_or(t.settled, |(_, p)| (*p).max(t.settled));
            if t.rows.position() == to {
                continue;
            }
            t.rows.rollback_to(to);
            let rows = t.rows.row_deltas();
            let rows = rows.get(&t.table.indexes[0].id).copied().unwrap_or(0);
            t.table.counters.rows.store(rows, Ordering::Relaxed);
        }
    }

    fn settle(&mut self) {
        for t in self.tables.values_mut() {
            t.rows.settle();
            t.settled = t.rows.position();
        }
    }
}

impl Transaction {
    /// The write set that has an index's own rows.
    #[inline]
    pub(crate) fn own_writes(&self, index: u32) -> Result<&WriteSet> {
        if !is_temporary(index) {
            return Ok(&self.writes);
        }
        let rows = self.temporary.as_ref().ok_or_else(in_use)?;
        let table = rows.tables.get(&slot_of(index)).ok_or_else(in_use)?;
        Ok(&table.rows)
    }

    /// Gives the transaction the session's temporary tables, if it began before there were any.
    pub fn set_temporary(&mut self, tables: &Arc<TemporaryTables>) {
        self.options.temporary = Some(tables.clone());
        self.claim_temporary();
    }

    /// Takes the rows of temporary tables, if nobody else has them.
    pub(crate) fn claim_temporary(&mut self) {
        if self.temporary.is_none()
            && let Some(tables) = &self.options.temporary
        {
            self.temporary = tables.rows.lock().take();
        }
    }

    /// Lets others of the session have the rows of temporary tables, until this transaction's next statement begins.
    pub fn lend_temporary(&mut self) {
        if let Some(rows) = self.temporary.take()
            && let Some(tables) = &self.options.temporary
        {
            *tables.rows.lock() = Some(rows);
        }
    }

    /// It changed rows of temporary tables: they are undone unless it commits.
    #[must_use]
    pub fn changed_temporary(&self) -> bool {
        self.changed_temporary
    }

    /// What the transaction did to temporary tables stays.
    pub(crate) fn settle_temporary(&mut self) {
        if std::mem::take(&mut self.changed_temporary)
            && let Some(rows) = &mut self.temporary
        {
            rows.settle();
        }
    }

    /// The transaction is over.
    pub(crate) fn end_temporary(&mut self) {
        if self.changed_temporary {
            self.claim_temporary();
            if let Some(rows) = &mut self.temporary {
                rows.rollback_to(&[]);
            }
        }
        self.lend_temporary();
    }

    /// The places of temporary tables, for a savepoint.
    pub(crate) fn temporary_places(&self) -> Vec<(u32, u64)> {
        self.temporary
            .as_ref()
            .map_or_else(Vec::new, |r| r.places())
    }

    /// Back to such places.
    pub(crate) fn rollback_temporary(&mut self, places: &[(u32, u64)]) {
        if !self.changed_temporary {
            return;
        }
        self.claim_temporary();
        if let Some(rows) = &mut self.temporary {
            rows.rollback_to(places);
        }
    }

    /// What every write to a temporary table does first.
    pub(crate) fn begin_temporary_write(&mut self, table: &Table) -> Result<()> {
        self.changed_temporary = true;
        let index = table.indexes[0].id;
        let limit = self.db.spill_bytes();
        let rows = self.temporary.as_mut().ok_or_else(in_use)?;
        let count = rows.tables.len() as u64;
        // All of them together stay below the limit.
        if rows.table_mut(index)?.rows.bytes() > limit / count.max(1) {
            self.spill_temporary(index)?;
        }
        Ok(())
    }

    fn spill_temporary(&mut self, index: u32) -> Result<()> {
        let id = unlogged_spill_id();
        let place = self.db.spill_place(id, &self.options.interrupt);
        let live = self.live_savepoints();
        let rows = self.temporary.as_mut().ok_or_else(in_use)?;
        let table = rows.table_mut(index)?;
        let here = |s: &Vec<(u32, u64)>| {
            let place = s.iter().find(|(slot, _)| *slot == slot_of(index));
            place.map(|(_, p)| *p)
        };
        let end = |writes| SpillEnd {
            writes,
            ..SpillEnd::default()
        };
        let mut ends: Vec<SpillEnd> = live
            .iter()
            .filter_map(|s| here(&s.temporary))
            .map(end)
            .collect();
        ends.push(end(table.settled));
        let bytes = table.rows.spill(&place, &ends, SpillEnd::default())?;
        let c = &self.db.counters;
        c.spills.fetch_add(1, Ordering::Relaxed);
        c.spill_bytes.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn put_temporary(&mut self, key: FullKey, payload: Payload, delta: i8) {
        let Some(rows) = &mut self.temporary else {
            return;
        };
        if let Ok(t) = rows.table_mut(index_of(&key)) {
            if delta != 0 {
                let rows = &t.table.counters.rows;
                rows.fetch_add(i64::from(delta), Ordering::Relaxed);
            }
            t.rows.put(key, payload, delta);
        }
    }
}
