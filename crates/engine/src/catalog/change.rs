//! Changes of the catalog: as a statement asks for them, and as the log has them.

use crate::catalog::def::{DatabaseDef, IndexDef, TableDef};
use crate::catalog::view::ViewDef;
use serde::{Deserialize, Serialize};

/// A change of the catalog, applied atomically with its QUERY event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CatalogChange {
    /// CREATE DATABASE. There must be none of that name.
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
        /// The new set of MySQLs' transactions that count as applied; `None`: it stays.
        mysql: Option<String>,
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
        /// What was passed over of MySQLs' transactions, a set.
        mysql: String,
    },
    /// ALTER DATABASE. There must be one.
    AlterDatabase(DatabaseDef),
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
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mysql: Option<String>,
    },
    MoveReplicaState {
        gtids: String,
        channel: u32,
        file: String,
        pos: u64,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        mysql: String,
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

/// A DDL statement: its text for the log and what it changes.
#[derive(Debug, Clone, Default)]
pub struct Ddl {
    /// Statement text as replicas will run it.
    pub sql: String,
    /// Default database of the statement.
    pub db: String,
    /// The changes, atomic together.
    pub changes: Vec<CatalogChange>,
    /// `sql_mode` bits for the QUERY event.
    pub sql_mode: u64,
    /// Connection id.
    pub thread_id: u32,
    /// Seconds since 1970.
    pub timestamp: u32,
    /// Event flag "suppress use" (CREATE/DROP DATABASE).
    pub suppress_use: bool,
    /// `explicit_defaults_for_timestamp=0`.
    pub implicit_timestamps: bool,
    /// `sql_if_exists`: what the statement drops, renames or alters may be missing.
    pub if_exists: bool,
}
