//! Temporary tables: a session's own tables, which stand in no catalog and in no log.
//!
//! Their rows are kept as a transaction keeps its own changes ([`crate::writeset`]), one set for each table. A set outlives
//! transactions: a commit settles what a rollback would have undone. So reads, savepoints, failed statements and spilling to
//! run files work as for any transaction's own writes; there is no snapshot, no lock and no event. Whichever transaction of
//! the session runs takes the rows out of its [`TemporaryTables`], and gives them back when it ends.
//!
//! Index ids of temporary tables have their highest bit set, then the table's number in its session, then the index's number
//! in the table.

use crate::catalog::change::CatalogChange;
use crate::catalog::def::TableDef;
use crate::catalog::names::Catalog;
use crate::catalog::table::Table;
use crate::ddl::fill::TableFill;
use crate::error::definition_changed;
use crate::key::{INDEX_BITS, SLOTS, TEMPORARY, TEMPORARY_TABLE, slot_of};
use crate::parts::Parts;
use crate::store::writeset::WriteSet;
use crate::txn::options::TxnOptions;
use crate::txn::temporary_rows::{TemporaryRows, TemporaryTable, TemporaryTables, in_use};
use crate::{EngineError, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering;

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

    /// Counts the statements that have changed definitions: names may mean other tables since then.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
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

    /// See [`TemporaryTables::ddl`].
    pub(crate) fn run(
        &self,
        db: &Arc<Parts>,
        changes: Vec<CatalogChange>,
        options: &TxnOptions,
        mut fill: Option<Fill<'_>>,
    ) -> Result<()> {
        self.changes.fetch_add(1, Ordering::Relaxed);
        let mut dropped = Vec::new();
        for change in changes {
            match change {
                CatalogChange::DropTable { db, name } => dropped.extend(self.table(&db, &name)),
                CatalogChange::CreateTable(def) => {
                    let table = self.make(def)?;
                    let rows = match &mut fill {
                        Some(fill) => {
                            let none = WriteSet::default();
                            filled(db, None, none, &table, options, fill).0?
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
                    match filled(db, Some(&old), rows, &new, options, fill) {
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

/// Fills a new table; gives its rows, and those of the old one back.
fn filled(
    db: &Arc<Parts>,
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
