//! The embeddable store: catalog, MVCC table store, row locks, transactions, checkpoints, recovery.
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod catalog;
pub mod db;
pub mod error;
pub mod table;
pub mod txn;

pub use catalog::{
    Catalog, CatalogChange, ColumnDef, DatabaseDef, DefaultDef, IndexColumn, IndexDef, TableDef,
};
pub use db::{Database, Ddl, Options, Stats};
pub use error::{EngineError, Result};
pub use table::{Index, Table};
pub use txn::{
    CommitInfo, Isolation, KeyRange, LockMode, LockWait, ReadView, Row, Savepoint, Scan, ScanItem,
    Transaction, TxnOptions,
};
