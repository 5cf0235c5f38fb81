//! Databases and tables: the persistent definitions, and the catalog as one immutable version.

use crate::table::Table;
use narwal_types::{Collation, ColumnType};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

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
    /// TRUNCATE TABLE: the table is made anew, empty, with new ids and AUTO_INCREMENT at its start.
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
    pub(crate) next_table_id: u64,
    pub(crate) next_index_id: u32,
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
