//! Databases and tables: the persistent definitions, and the catalog as one immutable version.

use crate::catalog::change::{CatalogChange, LoggedChange};
use crate::catalog::def::{ColumnDef, DatabaseDef, IndexDef, TableDef};
use crate::catalog::names::Catalog;
use crate::catalog::table::Table;
use crate::catalog::view::ViewDef;
use crate::error::definition_changed;
use crate::{EngineError, Result};
use narwal_types::{ColumnType, Name};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Everything of a catalog that is stored.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct StoredCatalog {
    pub(crate) version: u64,
    pub(crate) databases: Vec<DatabaseDef>,
    pub(crate) tables: Vec<StoredTable>,
    pub(crate) objects: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) views: Vec<ViewDef>,
    pub(crate) next_table_id: u64,
    pub(crate) next_index_id: u32,
}

/// A table's definition with its counters.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct StoredTable {
    pub(crate) def: TableDef,
    pub(crate) auto_increment: u64,
    pub(crate) row_id: u64,
    pub(crate) rows: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stats: Option<crate::catalog::counters::TableStats>,
}

/// Whether rows of the one definition are rows of the other: then ALTER TABLE need not touch them.
pub fn same_rows(old: &TableDef, new: &TableDef) -> bool {
    let primary = |d: &TableDef| {
        let pk = d.indexes.iter().find(|i| i.name == "PRIMARY");
        pk.map(|p| (p.id, p.columns.clone()))
    };
    old.columns.len() == new.columns.len()
        && primary(old) == primary(new)
        && old.hashed_keys() == new.hashed_keys()
        && (old.columns.iter().zip(&new.columns)).all(|(a, b)| same_values(a, b))
        && new.indexes.iter().filter(|i| i.id != 0).all(|i| {
            i.columns.iter().all(|c| {
                let (a, b) = (&old.columns[c.column], &new.columns[c.column]);
                a.ty.collation == b.ty.collation && a.nullable == b.nullable
            })
        })
}

/// Whether a column's values need not change, nor where they are in a row.
fn same_values(was: &ColumnDef, now: &ColumnDef) -> bool {
    use narwal_types::TypeKind::{VarBinary, VarChar};
    let (old, new) = (&was.ty, &now.ty);
    if was.headed != now.headed {
        return false;
    }
    if old.unsigned != new.unsigned || old.collation.charset() != new.collation.charset() {
        return false;
    }
    match (old.kind, new.kind) {
        (VarChar(a), VarChar(b)) | (VarBinary(a), VarBinary(b)) => {
            // The length in front of a value has one byte or two.
            let most = if was.headed { 254 } else { 255 };
            let short = |t: &ColumnType| t.max_bytes().is_some_and(|n| n <= most);
            a <= b && short(old) == short(new)
        }
        (a, b) => a == b,
    }
}

fn missing(what: &str, name: &str) -> EngineError {
    EngineError::Catalog(format!("{what} {name} doesn't exist"))
}

impl Catalog {
    pub(crate) fn new() -> Self {
        Catalog {
            next_table_id: 1,
            next_index_id: 1,
            ..Catalog::default()
        }
    }

    /// Ids of all indexes of all tables.
    pub(crate) fn index_ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.by_id
            .values()
            .flat_map(|t| t.indexes.iter().map(|i| i.id))
    }

    /// The table of that name, or an error.
    fn named(&self, db: &str, name: &str) -> Result<Arc<Table>> {
        (self.table(db, name).cloned()).ok_or_else(|| missing("table", &format!("{db}.{name}")))
    }

    fn drop_database(&self, name: String) -> Result<Vec<LoggedChange>> {
        if self.database(&name).is_none() {
            return Err(missing("database", &name));
        }
        let mut v: Vec<_> = self
            .tables(&name)
            .map(|t| LoggedChange::DropTable(t.def.id))
            .collect();
        v.push(LoggedChange::DropDatabase(name));
        Ok(v)
    }

    fn create_table(&mut self, mut def: TableDef, created: u64) -> Result<Vec<LoggedChange>> {
        if self.database(&def.db).is_none() {
            return Err(missing("database", &def.db));
        }
        self.check_free(&def.db, &def.name)?;
        if def.created == 0 {
            def.created = created;
        }
        self.give_ids(&mut def);
        Ok(vec![LoggedChange::PutTable(def)])
    }

    fn create_index(
        &mut self,
        db: &str,
        table: &str,
        mut index: IndexDef,
    ) -> Result<Vec<LoggedChange>> {
        let t = self.named(db, table)?;
        if t.def.indexes.iter().any(|i| i.name.same_name(&index.name)) {
            return Err(EngineError::Catalog(format!(
                "index {} already exists",
                index.name
            )));
        }
        if index.name == "PRIMARY" {
            return Err(EngineError::Catalog(
                "adding a primary key to a table is not supported".into(),
            ));
        }
        index.id = self.next_index_id;
        self.next_index_id += 1;
        let id = index.id;
        let mut def = t.def.clone();
        def.indexes.push(index);
        Ok(vec![
            LoggedChange::PutTable(def),
            LoggedChange::BuildIndex {
                table: t.def.id,
                index: id,
            },
        ])
    }

    fn drop_index(&self, db: &str, table: &str, index: &str) -> Result<LoggedChange> {
        let t = self.named(db, table)?;
        let mut def = t.def.clone();
        let at = def
            .indexes
            .iter()
            .position(|i| i.name.same_name(index))
            .ok_or_else(|| missing("index", index))?;
        if def.indexes[at].name == "PRIMARY" {
            return Err(EngineError::Catalog(
                "dropping a primary key is not supported".into(),
            ));
        }
        def.indexes.remove(at);
        Ok(LoggedChange::PutTable(def))
    }

    fn alter_table(
        &mut self,
        db: &str,
        name: &str,
        was: &TableDef,
        mut def: TableDef,
    ) -> Result<Vec<LoggedChange>> {
        let t = self.unchanged((db, name), was, &def)?;
        if !same_rows(&t.def, &def) {
            return Err(EngineError::Catalog(format!(
                "table {db}.{name} would not have the same rows"
            )));
        }
        def.id = t.def.id;
        def.hidden_index_id = t.def.hidden_index_id;
        let mut built = Vec::new();
        for ix in def.indexes.iter_mut().filter(|i| i.id == 0) {
            ix.id = self.next_index_id;
            self.next_index_id += 1;
            built.push(ix.id);
        }
        let table = def.id;
        let build = |index| LoggedChange::BuildIndex { table, index };
        Ok(std::iter::once(LoggedChange::PutTable(def))
            .chain(built.into_iter().map(build))
            .collect())
    }

    /// The table becomes another, empty one: nothing of the old one is read again.
    fn truncate_table(&mut self, db: &str, name: &str) -> Result<Vec<LoggedChange>> {
        let t = self.named(db, name)?;
        let mut def = t.def.clone();
        def.auto_increment_start = 0;
        self.give_ids(&mut def);
        Ok(vec![
            LoggedChange::DropTable(t.def.id),
            LoggedChange::PutTable(def),
        ])
    }

    /// A new table in the place of the old one.
    fn rebuild_table(
        &mut self,
        db: &str,
        name: &str,
        was: &TableDef,
        mut def: TableDef,
    ) -> Result<Vec<LoggedChange>> {
        let t = self.unchanged((db, name), was, &def)?;
        self.give_ids(&mut def);
        Ok(vec![
            LoggedChange::DropTable(t.def.id),
            LoggedChange::PutTable(def),
        ])
    }

    fn define_view(&self, v: ViewDef) -> Result<Vec<LoggedChange>> {
        if self.database(&v.db).is_none() {
            return Err(missing("database", &v.db));
        }
        if self.view(&v.db, &v.name).is_none() {
            self.check_free(&v.db, &v.name)?;
        }
        Ok(vec![LoggedChange::PutView(v)])
    }

    /// Settles the ids of a change and says what it means step by step. Changes nothing.
    pub(crate) fn resolve(
        &mut self,
        change: CatalogChange,
        created: u64,
    ) -> Result<Vec<LoggedChange>> {
        Ok(match change {
            CatalogChange::PutDatabase(d) if self.database(&d.name).is_some() => {
                return Err(EngineError::Catalog(format!("database {} exists", d.name)));
            }
            CatalogChange::AlterDatabase(d) if self.database(&d.name).is_none() => {
                return Err(missing("database", &d.name));
            }
            CatalogChange::PutDatabase(d) | CatalogChange::AlterDatabase(d) => {
                vec![LoggedChange::PutDatabase(d)]
            }
            CatalogChange::DropDatabase(name) => self.drop_database(name)?,
            CatalogChange::CreateTable(def) => self.create_table(def, created)?,
            CatalogChange::DropTable { db, name } => {
                vec![LoggedChange::DropTable(self.named(&db, &name)?.def.id)]
            }
            CatalogChange::TruncateTable { db, name } => self.truncate_table(&db, &name)?,
            CatalogChange::CreateIndex { db, table, index } => {
                self.create_index(&db, &table, index)?
            }
            CatalogChange::DropIndex { db, table, index } => {
                vec![self.drop_index(&db, &table, &index)?]
            }
            CatalogChange::AlterTable { db, name, was, def } => {
                self.alter_table(&db, &name, &was, def)?
            }
            CatalogChange::RebuildTable { db, name, was, def } => {
                self.rebuild_table(&db, &name, &was, def)?
            }
            CatalogChange::SetAutoIncrement {
                db,
                name,
                next,
                seen,
            } => {
                let t = self.named(&db, &name)?;
                let now = t.counters.auto_increment.load(Ordering::Relaxed);
                vec![LoggedChange::SetAutoIncrement {
                    table: t.def.id,
                    next: if now == seen { next } else { next.max(now) },
                }]
            }
            CatalogChange::PutView(v) => self.define_view(v)?,
            CatalogChange::DropView { db, name } => vec![LoggedChange::DropView { db, name }],
            CatalogChange::PutObject { key, value } => vec![LoggedChange::PutObject { key, value }],
            CatalogChange::DeleteObject { key } => vec![LoggedChange::DeleteObject(key)],
            CatalogChange::SetReplicaState {
                slave_pos,
                channel,
                mysql,
            } => {
                crate::gtid_list::check_list(slave_pos.as_deref().unwrap_or_default(), true)?;
                crate::gtid_list::check_set(mysql.as_deref().unwrap_or_default())?;
                vec![LoggedChange::SetReplicaState {
                    slave_pos,
                    channel,
                    mysql,
                }]
            }
            CatalogChange::MoveReplicaState {
                gtids,
                channel,
                file,
                pos,
                mysql,
            } => {
                crate::gtid_list::check_list(&gtids, false)?;
                crate::gtid_list::check_set(&mysql)?;
                vec![LoggedChange::MoveReplicaState {
                    gtids,
                    channel,
                    file,
                    pos,
                    mysql,
                }]
            }
        })
    }

    /// A table that is to become `def`: it must still be as `was` says, and its new name must be free.
    fn unchanged(
        &self,
        (db, name): (&str, &str),
        was: &TableDef,
        def: &TableDef,
    ) -> Result<Arc<Table>> {
        let t = self.named(db, name)?;
        if t.def != *was {
            return Err(definition_changed());
        }
        self.check_name(&t, def)?;
        Ok(t)
    }

    /// A table may be put under the name that its new definition has.
    fn check_name(&self, old: &Table, def: &TableDef) -> Result<()> {
        if self.database(&def.db).is_none() {
            return Err(missing("database", &def.db));
        }
        if (&old.def.db, &old.def.name) == (&def.db, &def.name) {
            return Ok(());
        }
        self.check_free(&def.db, &def.name)
    }

    /// No table and no view has the name. If one has, another statement made it since this one was planned.
    fn check_free(&self, db: &str, name: &str) -> Result<()> {
        if self.has(db, name) {
            return Err(definition_changed());
        }
        Ok(())
    }

    fn give_ids(&mut self, def: &mut TableDef) {
        def.id = self.next_table_id;
        self.next_table_id += 1;
        def.hidden_index_id = self.next_index_id;
        self.next_index_id += 1;
        for ix in &mut def.indexes {
            ix.id = self.next_index_id;
            self.next_index_id += 1;
        }
    }

    /// Applies a settled change: the one function that DDL and recovery use.
    pub(crate) fn apply(&mut self, change: &LoggedChange) -> Result<()> {
        match change {
            LoggedChange::PutDatabase(d) => {
                self.databases.insert(d.name.clone(), Arc::new(d.clone()));
            }
            LoggedChange::DropDatabase(name) => {
                self.databases.remove(name);
                self.views.remove(name);
            }
            LoggedChange::PutView(v) => self.put_view(v.clone()),
            LoggedChange::DropView { db, name } => self.remove_view(db, name),
            LoggedChange::PutTable(def) => {
                let old = self.by_id.get(&def.id).cloned();
                if let Some(t) = &old {
                    self.forget_name(t);
                }
                let counters = old.as_ref().map(|t| t.counters.clone());
                if let Some(c) = counters.as_ref().filter(|_| def.sequence) {
                    c.sequence.forget();
                }
                self.next_table_id = self.next_table_id.max(def.id + 1);
                let ids = def
                    .indexes
                    .iter()
                    .map(|i| i.id)
                    .chain([def.hidden_index_id]);
                self.next_index_id = ids.fold(self.next_index_id, |n, id| n.max(id + 1));
                let table = Table::new(def.clone(), counters)?;
                table.set_since(0, old.as_deref());
                self.put_table(table);
                if old.is_some_and(|t| !t.def.foreign_keys.is_empty())
                    || !def.foreign_keys.is_empty()
                    || !self.references.is_empty()
                {
                    self.refer();
                }
            }
            LoggedChange::DropTable(id) => {
                if let Some(t) = self.by_id.remove(id) {
                    self.forget_name(&t);
                    if !t.def.foreign_keys.is_empty() {
                        self.refer();
                    }
                }
            }
            LoggedChange::BuildIndex { .. } => {}
            LoggedChange::SetAutoIncrement { table, next } => {
                if let Some(t) = self.by_id.get(table) {
                    t.counters.auto_increment.store(*next, Ordering::Relaxed);
                }
            }
            LoggedChange::PutObject { key, value } => {
                self.objects.insert(key.clone(), value.as_str().into());
            }
            LoggedChange::DeleteObject(key) => {
                self.objects.remove(key);
            }
            LoggedChange::SetReplicaState { .. } | LoggedChange::MoveReplicaState { .. } => {}
        }
        Ok(())
    }

    /// Takes a table's name away, unless another table has it by now.
    pub(crate) fn forget_name(&mut self, t: &Table) {
        let Some(m) = self.tables.get_mut(&t.def.db) else {
            return;
        };
        if m.get(&t.def.name).is_some_and(|n| n.def.id == t.def.id) {
            m.remove(&t.def.name);
        }
        if m.is_empty() {
            self.tables.remove(&t.def.db);
        }
    }

    /// Makes the list of foreign keys by their parents anew.
    fn refer(&mut self) {
        self.references = crate::catalog::names::references(self.by_id.values());
        for (db, name) in self.references.keys() {
            if let Some(t) = self.table(db, name) {
                let told = &t.counters.referenced;
                told.store(true, std::sync::atomic::Ordering::Relaxed);
            }
        }
    }

    pub(crate) fn put_table(&mut self, t: Arc<Table>) {
        self.by_id.insert(t.def.id, t.clone());
        self.tables
            .entry(t.def.db.clone())
            .or_default()
            .insert(t.def.name.clone(), t);
    }

    /// What a checkpoint stores of this catalog, with the counters of now.
    pub(crate) fn to_stored(&self) -> StoredCatalog {
        use std::sync::atomic::Ordering::Relaxed;
        StoredCatalog {
            version: self.version,
            databases: self.databases.values().map(|d| (**d).clone()).collect(),
            tables: self
                .by_id
                .values()
                .map(|t| StoredTable {
                    def: t.def.clone(),
                    auto_increment: t.counters.auto_increment.load(Relaxed),
                    row_id: t.counters.row_id.load(Relaxed),
                    rows: t.counters.rows.load(Relaxed),
                    stats: t.stats().map(|s| (*s).clone()),
                })
                .collect(),
            objects: self
                .objects
                .iter()
                .map(|(k, v)| (k.clone(), v.to_string()))
                .collect(),
            views: self
                .views
                .values()
                .flat_map(|m| m.values())
                .map(|v| (**v).clone())
                .collect(),
            next_table_id: self.next_table_id,
            next_index_id: self.next_index_id,
        }
    }

    /// The catalog that a checkpoint stored.
    pub(crate) fn from_stored(s: StoredCatalog) -> Result<Catalog> {
        use std::sync::atomic::Ordering::Relaxed;
        let mut c = Catalog {
            version: s.version,
            next_table_id: s.next_table_id,
            next_index_id: s.next_index_id,
            ..Catalog::default()
        };
        for d in s.databases {
            c.databases.insert(d.name.clone(), Arc::new(d));
        }
        for t in s.tables {
            let table = Table::new(t.def, None)?;
            table
                .counters
                .auto_increment
                .store(t.auto_increment, Relaxed);
            table.counters.row_id.store(t.row_id, Relaxed);
            table.counters.rows.store(t.rows, Relaxed);
            if let Some(stats) = t.stats {
                table.set_stats(stats);
            }
            c.put_table(table);
        }
        for (k, v) in s.objects {
            c.objects.insert(k, v.into());
        }
        for v in s.views {
            c.put_view(v);
        }
        c.refer();
        Ok(c)
    }
}
