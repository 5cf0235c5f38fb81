//! Databases and tables: the persistent definitions, and the catalog as one immutable version.

use crate::table::Table;
use crate::txn::definition_changed;
use crate::views::ViewDef;
use crate::{EngineError, Result};
use narwal_types::{Collation, ColumnType};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A database (schema).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseDef {
    /// Name, compared by bytes (as `lower_case_table_names=0`).
    pub name: String,
    /// Collation of tables that name none.
    pub collation: Collation,
    /// COMMENT.
    pub comment: String,
}

/// A column's DEFAULT.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum DefaultDef {
    /// No DEFAULT clause: NULL if nullable, else a value must be given.
    None,
    /// DEFAULT NULL.
    Null,
    /// A constant, as text that is converted to the column's type when used.
    Text(String),
    /// CURRENT_TIMESTAMP with its digits.
    CurrentTimestamp(u8),
    /// Any other expression, as SQL text.
    Expr(String),
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnDef {
    /// Name, compared without case.
    pub name: String,
    /// Type.
    pub ty: ColumnType,
    /// NULL allowed.
    pub nullable: bool,
    /// DEFAULT.
    pub default: DefaultDef,
    /// AUTO_INCREMENT.
    pub auto_increment: bool,
    /// ON UPDATE CURRENT_TIMESTAMP with its digits.
    pub on_update: Option<u8>,
    /// COMMENT.
    pub comment: String,
    /// Display width of an integer column, if one was given; it is only shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_width: Option<u8>,
    /// GENERATED ALWAYS AS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<GeneratedDef>,
    /// CHECK among the column's attributes: a condition as SQL text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// How a generated column's value is made. Both kinds are stored with the row and stand in row events; they differ in what
/// SHOW says and in what DDL allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GeneratedDef {
    /// The expression as SQL text.
    pub expr: String,
    /// STORED (PERSISTENT) rather than VIRTUAL.
    pub stored: bool,
}

/// A CHECK constraint of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckDef {
    /// Name.
    pub name: String,
    /// The condition as SQL text.
    pub expr: String,
}

/// What happens to child rows when their parent row goes or changes its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ForeignAction {
    /// The statement fails; the default.
    #[default]
    Restrict,
    /// The same under another name.
    NoAction,
    /// They go or change as well.
    Cascade,
    /// Their columns become NULL.
    SetNull,
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKeyDef {
    /// Name, unique in the database.
    pub name: String,
    /// Columns of this table by name.
    pub columns: Vec<String>,
    /// Database of the referenced table.
    pub parent_db: String,
    /// The referenced table. It may be missing (made under `foreign_key_checks=0`).
    pub parent: String,
    /// Its columns by name.
    pub parent_columns: Vec<String>,
    /// ON DELETE.
    pub on_delete: ForeignAction,
    /// ON UPDATE.
    pub on_update: ForeignAction,
}

impl ColumnDef {
    /// The type as SHOW COLUMNS prints it.
    pub fn type_name(&self) -> String {
        let name = self.ty.sql_name();
        match (self.display_width, name.find('('), name.find(')')) {
            (Some(n), Some(from), Some(to)) if self.ty.is_integer() => {
                format!("{}({n}{}", &name[..from], &name[to..])
            }
            _ => name,
        }
    }
}

/// One column of an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexColumn {
    /// Position in [`TableDef::columns`].
    pub column: usize,
    /// Prefix length in characters (bytes for binary types).
    pub prefix: Option<u16>,
    /// DESC.
    pub desc: bool,
}

/// An index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexDef {
    /// Unique over all indexes ever made; assigned by the engine (0 when a definition is handed in).
    pub id: u32,
    /// Name; `PRIMARY` for the primary key.
    pub name: String,
    /// UNIQUE (always true for PRIMARY).
    pub unique: bool,
    /// Columns in order.
    pub columns: Vec<IndexColumn>,
    /// COMMENT.
    pub comment: String,
    /// Made for a foreign key that had no index: it goes when a declared index takes its place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub implied: bool,
}

/// A table. `indexes` holds the declared indexes in SHOW order, PRIMARY first if there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableDef {
    /// Unique over all tables ever made, also the table id of row events; assigned by the engine (0 when handed in).
    pub id: u64,
    /// Database name.
    pub db: String,
    /// Table name.
    pub name: String,
    /// Columns in order.
    pub columns: Vec<ColumnDef>,
    /// Declared indexes.
    pub indexes: Vec<IndexDef>,
    /// Id of the clustered index when there is no primary key (rows are keyed by a hidden row id); assigned by the engine.
    pub hidden_index_id: u32,
    /// Default collation.
    pub collation: Collation,
    /// COMMENT.
    pub comment: String,
    /// AUTO_INCREMENT= start value given in DDL, 0 or 1 if none.
    pub auto_increment_start: u64,
    /// ENGINE= as written, shown back (`InnoDB` by default: tools expect it).
    pub engine: String,
    /// Seconds since 1970 of CREATE TABLE.
    pub created: u64,
    /// CHECK constraints that are not a column's attribute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckDef>,
    /// Foreign keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign_keys: Vec<ForeignKeyDef>,
    /// It is a sequence: a table of one row, see [`crate::SequenceRow`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sequence: bool,
}

/// A change of the catalog, applied atomically with its QUERY event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CatalogChange {
    /// CREATE DATABASE, or ALTER DATABASE when it exists.
    PutDatabase(DatabaseDef),
    /// DROP DATABASE with all its tables.
    DropDatabase(String),
    /// CREATE TABLE. Ids in the definition are assigned by the engine.
    CreateTable(TableDef),
    /// DROP TABLE.
    DropTable {
        /// Database.
        db: String,
        /// Table.
        name: String,
    },
    /// TRUNCATE TABLE: the table is made anew, empty, with new ids and AUTO_INCREMENT at 1.
    TruncateTable {
        /// Database.
        db: String,
        /// Table.
        name: String,
    },
    /// CREATE INDEX: filled from the rows; a duplicate in a unique index fails the statement.
    CreateIndex {
        /// Database.
        db: String,
        /// Table.
        table: String,
        /// The index, id 0.
        index: IndexDef,
    },
    /// DROP INDEX.
    DropIndex {
        /// Database.
        db: String,
        /// Table.
        table: String,
        /// Index name.
        index: String,
    },
    /// ALTER TABLE and RENAME TABLE: a new definition over the same rows, which must have the same layout. Indexes with id 0
    /// are made and filled, others keep their ids. The name in the definition may be a new one.
    AlterTable {
        /// Database.
        db: String,
        /// Table.
        name: String,
        /// The definition that the new one was made from. If it is not the table's any more, the statement fails with 1412.
        was: Box<TableDef>,
        /// The new definition.
        def: TableDef,
    },
    /// ALTER TABLE with new rows: the table is made anew with new ids, by [`crate::Database::ddl_filled`], which gives it its
    /// rows. The name in the definition may be a new one.
    RebuildTable {
        /// Database.
        db: String,
        /// Table.
        name: String,
        /// As in [`CatalogChange::AlterTable`].
        was: Box<TableDef>,
        /// The new definition.
        def: TableDef,
    },
    /// ALTER TABLE ... AUTO_INCREMENT: the next value.
    SetAutoIncrement {
        /// Database.
        db: String,
        /// Table.
        name: String,
        /// The value.
        next: u64,
        /// The next value when `next` was chosen: if others have taken values since, theirs count too.
        seen: u64,
    },
    /// CREATE VIEW, or a new definition of the view of that name.
    PutView(ViewDef),
    /// DROP VIEW; no error if it is missing.
    DropView {
        /// Database.
        db: String,
        /// View.
        name: String,
    },
    /// Stores a named object of the layers above (users, grants), opaque to the engine.
    PutObject {
        /// E.g. `user/root@localhost`.
        key: String,
        /// JSON.
        value: String,
    },
    /// Deletes such an object; no error if it is missing.
    DeleteObject {
        /// Its key.
        key: String,
    },
    /// Sets what [`crate::Database::replica_state`] says. Belongs into a local commit (`log_bin` off): it is this
    /// server's own matter.
    SetReplicaState {
        /// The new `gtid_slave_pos`, a list of GTIDs, at most one a domain; `None`: it stays.
        slave_pos: Option<String>,
        /// A connection's position in its source's log, or `None` to forget the connection.
        channel: Option<(u32, Option<(String, u64)>)>,
    },
    /// Groups were passed over that nothing was committed for: `gtid_slave_pos` of their domains and the position of
    /// their connection move. Belongs into a local commit too.
    MoveReplicaState {
        /// The last GTID of each domain, a list.
        gtids: String,
        /// The connection.
        channel: u32,
        /// Its source's file.
        file: String,
        /// The position in it.
        pos: u64,
    },
}

/// One immutable version of the catalog. A new one is published by each DDL commit.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Rises with each DDL commit; plans made for another version must be made anew.
    pub version: u64,
    pub(crate) databases: BTreeMap<String, Arc<DatabaseDef>>,
    pub(crate) tables: BTreeMap<String, BTreeMap<String, Arc<Table>>>,
    pub(crate) by_id: ahash::HashMap<u64, Arc<Table>>,
    pub(crate) objects: BTreeMap<String, Arc<str>>,
    pub(crate) views: BTreeMap<String, BTreeMap<String, Arc<ViewDef>>>,
    pub(crate) next_table_id: u64,
    pub(crate) next_index_id: u32,
    pub(crate) references: crate::foreign::References,
}

impl Catalog {
    /// A database by name.
    pub fn database(&self, name: &str) -> Option<&Arc<DatabaseDef>> {
        self.databases.get(name)
    }

    /// All databases by name.
    pub fn databases(&self) -> impl Iterator<Item = &Arc<DatabaseDef>> {
        self.databases.values()
    }

    /// A table by database and name.
    pub fn table(&self, db: &str, name: &str) -> Option<&Arc<Table>> {
        self.tables.get(db)?.get(name)
    }

    /// A table by its id.
    pub fn table_by_id(&self, id: u64) -> Option<&Arc<Table>> {
        self.by_id.get(&id)
    }

    /// The tables of a database by name.
    pub fn tables(&self, db: &str) -> impl Iterator<Item = &Arc<Table>> {
        self.tables.get(db).into_iter().flat_map(|m| m.values())
    }

    /// An object stored by [`CatalogChange::PutObject`].
    pub fn object(&self, key: &str) -> Option<&Arc<str>> {
        self.objects.get(key)
    }

    /// Objects whose key starts with `prefix`, in key order.
    pub fn objects<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a Arc<str>)> {
        self.objects
            .range::<str, _>((
                std::ops::Bound::Included(prefix),
                std::ops::Bound::Unbounded,
            ))
            .take_while(move |(k, _)| k.starts_with(prefix))
            .map(|(k, v)| (k.as_str(), v))
    }
}

/// A change of the catalog with all ids settled: what the log's annex and the checkpoint store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum LoggedChange {
    PutDatabase(DatabaseDef),
    DropDatabase(String),
    /// A new table, or a new definition of the table with this id.
    PutTable(TableDef),
    DropTable(u64),
    /// Fill an index of a table from its rows.
    BuildIndex {
        table: u64,
        index: u32,
    },
    SetAutoIncrement {
        table: u64,
        next: u64,
    },
    PutObject {
        key: String,
        value: String,
    },
    DeleteObject(String),
    PutView(ViewDef),
    DropView {
        db: String,
        name: String,
    },
    SetReplicaState {
        slave_pos: Option<String>,
        channel: Option<(u32, Option<(String, u64)>)>,
    },
    MoveReplicaState {
        gtids: String,
        channel: u32,
        file: String,
        pos: u64,
    },
}

impl LoggedChange {
    /// It is about the replica state, not the catalog.
    pub(crate) fn is_replica_state(&self) -> bool {
        matches!(
            self,
            LoggedChange::SetReplicaState { .. } | LoggedChange::MoveReplicaState { .. }
        )
    }
}

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
    pub(crate) stats: Option<crate::table::TableStats>,
}

/// Whether rows of the one definition are rows of the other: then ALTER TABLE need not touch them.
pub fn same_rows(old: &TableDef, new: &TableDef) -> bool {
    let primary = |d: &TableDef| {
        let pk = d.indexes.iter().find(|i| i.name == "PRIMARY");
        pk.map(|p| (p.id, p.columns.clone()))
    };
    old.columns.len() == new.columns.len()
        && primary(old) == primary(new)
        && (old.columns.iter().zip(&new.columns)).all(|(a, b)| same_values(&a.ty, &b.ty))
        && new.indexes.iter().filter(|i| i.id != 0).all(|i| {
            i.columns.iter().all(|c| {
                let (a, b) = (&old.columns[c.column], &new.columns[c.column]);
                a.ty.collation == b.ty.collation && a.nullable == b.nullable
            })
        })
}

/// Whether a column's values need not change, nor where they are in a row.
fn same_values(old: &ColumnType, new: &ColumnType) -> bool {
    use narwal_types::TypeKind::{VarBinary, VarChar};
    if old.unsigned != new.unsigned || old.collation.charset() != new.collation.charset() {
        return false;
    }
    match (old.kind, new.kind) {
        (VarChar(a), VarChar(b)) | (VarBinary(a), VarBinary(b)) => {
            // The length in front of a value has one byte or two.
            let short = |t: &ColumnType| t.max_bytes().is_some_and(|n| n < 256);
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

    /// Settles the ids of a change and says what it means step by step. Changes nothing.
    pub(crate) fn resolve(
        &mut self,
        change: CatalogChange,
        created: u64,
    ) -> Result<Vec<LoggedChange>> {
        let table_of = |c: &Catalog, db: &str, name: &str| -> Result<Arc<Table>> {
            c.table(db, name)
                .cloned()
                .ok_or_else(|| missing("table", &format!("{db}.{name}")))
        };
        Ok(match change {
            CatalogChange::PutDatabase(d) => vec![LoggedChange::PutDatabase(d)],
            CatalogChange::DropDatabase(name) => {
                if self.database(&name).is_none() {
                    return Err(missing("database", &name));
                }
                let mut v: Vec<_> = self
                    .tables(&name)
                    .map(|t| LoggedChange::DropTable(t.def.id))
                    .collect();
                v.push(LoggedChange::DropDatabase(name));
                v
            }
            CatalogChange::CreateTable(mut def) => {
                if self.database(&def.db).is_none() {
                    return Err(missing("database", &def.db));
                }
                self.check_free(&def.db, &def.name)?;
                if def.created == 0 {
                    def.created = created;
                }
                self.give_ids(&mut def);
                vec![LoggedChange::PutTable(def)]
            }
            CatalogChange::DropTable { db, name } => {
                vec![LoggedChange::DropTable(table_of(self, &db, &name)?.def.id)]
            }
            CatalogChange::TruncateTable { db, name } => {
                let t = table_of(self, &db, &name)?;
                let mut def = t.def.clone();
                def.auto_increment_start = 0;
                self.give_ids(&mut def);
                vec![
                    LoggedChange::DropTable(t.def.id),
                    LoggedChange::PutTable(def),
                ]
            }
            CatalogChange::CreateIndex {
                db,
                table,
                mut index,
            } => {
                let t = table_of(self, &db, &table)?;
                if t.def
                    .indexes
                    .iter()
                    .any(|i| i.name.eq_ignore_ascii_case(&index.name))
                {
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
                vec![
                    LoggedChange::PutTable(def),
                    LoggedChange::BuildIndex {
                        table: t.def.id,
                        index: id,
                    },
                ]
            }
            CatalogChange::DropIndex { db, table, index } => {
                let t = table_of(self, &db, &table)?;
                let mut def = t.def.clone();
                let at = def
                    .indexes
                    .iter()
                    .position(|i| i.name.eq_ignore_ascii_case(&index))
                    .ok_or_else(|| missing("index", &index))?;
                if def.indexes[at].name == "PRIMARY" {
                    return Err(EngineError::Catalog(
                        "dropping a primary key is not supported".into(),
                    ));
                }
                def.indexes.remove(at);
                vec![LoggedChange::PutTable(def)]
            }
            CatalogChange::AlterTable {
                db,
                name,
                was,
                mut def,
            } => {
                let t = table_of(self, &db, &name)?;
                if t.def != *was {
                    return Err(definition_changed());
                }
                self.check_name(&t, &def)?;
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
                std::iter::once(LoggedChange::PutTable(def))
                    .chain(built.into_iter().map(build))
                    .collect()
            }
            CatalogChange::RebuildTable {
                db,
                name,
                was,
                mut def,
            } => {
                let t = table_of(self, &db, &name)?;
                if t.def != *was {
                    return Err(definition_changed());
                }
                self.check_name(&t, &def)?;
                self.give_ids(&mut def);
                vec![
                    LoggedChange::DropTable(t.def.id),
                    LoggedChange::PutTable(def),
                ]
            }
            CatalogChange::SetAutoIncrement {
                db,
                name,
                next,
                seen,
            } => {
                let t = table_of(self, &db, &name)?;
                let now = t.counters.auto_increment.load(Ordering::Relaxed);
                vec![LoggedChange::SetAutoIncrement {
                    table: t.def.id,
                    next: if now == seen { next } else { next.max(now) },
                }]
            }
            CatalogChange::PutView(v) => {
                if self.database(&v.db).is_none() {
                    return Err(missing("database", &v.db));
                }
                if self.view(&v.db, &v.name).is_none() {
                    self.check_free(&v.db, &v.name)?;
                }
                vec![LoggedChange::PutView(v)]
            }
            CatalogChange::DropView { db, name } => vec![LoggedChange::DropView { db, name }],
            CatalogChange::PutObject { key, value } => vec![LoggedChange::PutObject { key, value }],
            CatalogChange::DeleteObject { key } => vec![LoggedChange::DeleteObject(key)],
            CatalogChange::SetReplicaState { slave_pos, channel } => {
                crate::replica::check_list(slave_pos.as_deref().unwrap_or_default(), true)?;
                vec![LoggedChange::SetReplicaState { slave_pos, channel }]
            }
            CatalogChange::MoveReplicaState {
                gtids,
                channel,
                file,
                pos,
            } => {
                crate::replica::check_list(&gtids, false)?;
                vec![LoggedChange::MoveReplicaState {
                    gtids,
                    channel,
                    file,
                    pos,
                }]
            }
        })
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

    /// Finds out again who refers to whom.
    fn refer(&mut self) {
        self.references = crate::foreign::references(self.by_id.values());
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
