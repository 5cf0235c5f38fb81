//! The embeddable store: catalog, MVCC table store, row locks, transactions, checkpoints, recovery.
//!
//! Folders, from the lowest up; each imports from those above it in this table only (`scripts/check_layers.py` sees to it).
//!
//! | folder or file | holds |
//! |---|---|
//! | `error`, `clock`, `folder`, `bell`, `key`, `gtid_list` | what everything needs |
//! | `catalog/` | definitions, tables at run time, the catalog |
//! | `store/` | memtables, run files and the base, read as one |
//! | `locks/` | row, range and table locks |
//! | `record/` | what the engine writes into records of the log |
//! | `groups/` | event groups out of log records |
//! | `classic/` | two logs instead of one, for comparison |
//! | `options`, `counters` | settings and what is counted |
//! | `binlog/` | the log as binary log: order, positions, GTID state, retention |
//! | `pressure/` | how fast writers may go |
//! | `parts` | the parts of an open database |
//! | `recovery` | replay of the log's tail |
//! | `txn/` | transactions |
//! | `checkpoint/` | the only writer of the base |
//! | `commit/` | the commit path |
//! | `apply/` | row events of other servers as changes of a transaction |
//! | `ddl/` | DDL as one commit |
//! | `xa/` | XA transactions |
//! | `backup/` | copies of a running database, and what becomes of them |
//! | `db/` | what an embedder sees: [`Database`] |
//! | `check/` | checking a stopped data folder |
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod apply;
pub mod backup;
mod bell;
mod binlog;
pub mod catalog;
pub mod check;
mod checkpoint;
mod classic;
mod clock;
mod commit;
mod counters;
pub mod db;
mod ddl;
mod error;
mod folder;
pub mod groups;
mod gtid_list;
mod key;
mod locks;
mod options;
mod parts;
mod pressure;
mod record;
mod recovery;
mod store;
mod txn;
pub mod xa;

pub use binlog::content::hash_group;
pub use binlog::holds::ReaderHold;
pub use binlog::lookup::GtidFilter;
pub use binlog::stretch::LogStretch;
pub use binlog::types::{BinlogFile, BinlogPosition, BinlogStats, PurgeReport, ReadStart};
pub use catalog::change::{CatalogChange, Ddl};
pub use catalog::counters::{TableStats, auto_number};
pub use catalog::def::{
    CheckDef, ColumnDef, DatabaseDef, DefaultDef, ForeignAction, ForeignKeyDef, GeneratedDef,
    HIDDEN_COLUMN, IndexColumn, IndexDef, IndexMethod, MergeDef, MergeInsert, PeriodDef, TableDef,
};
pub use catalog::filter::BinlogFilter;
pub use catalog::foreign::ForeignKeyMode;
pub use catalog::image::RowImage;
pub use catalog::index::Index;
pub use catalog::names::Catalog;
pub use catalog::resolve::same_rows;
pub use catalog::sequence::SequenceRow;
pub use catalog::steps::Steps;
pub use catalog::table::{Table, not_for_sequences};
pub use catalog::view::{CheckOption, ViewAlgorithm, ViewDef};
pub use commit::reserved::{CommitInfo, Reserved};
pub use db::{Database, SetValue, Stats, TableBuilder};
pub use ddl::fill::{FillRows, TableFill};
pub use ddl::table_locks::TableLocks;
pub use ddl::temporary::Fill;
pub use error::{Damage, EngineError, Result};
pub use groups::folder::{FolderLog, open_folder};
pub use groups::{
    BegunFile, FolderRecords, GroupHead, GroupKind, GroupReader, LiveRecords, Records,
};
pub use key::KeyRange;
pub use locks::asking::RangeMark;
pub use locks::types::{LockMode, LockWait, LockWaiting, Locked};
pub use narwal_binlog::GtidChoice;
pub use narwal_binlog::RowMetadata;
pub use narwal_log::{Gate, GateStats, Held, LogError, OnDone};
pub use options::{DEFAULT_SCRUB_RATE, Options};
pub use record::annex::event_group;
pub use record::packed::{Compression, unpack};
pub use record::replica::{Origin, ReplicaState, SourceGtid};
pub use record::state::{StateReason, StateRecord};
#[doc(hidden)]
pub use store::base::open_base;
pub use store::parallel::Keep;
pub use store::row::Row;
pub use store::scan::{Scan, ScanItem};
pub use txn::options::{Isolation, KillFlag, TxnOptions};
pub use txn::reads::ReadView;
pub use txn::savepoint::Savepoint;
pub use txn::temporary_rows::TemporaryTables;
pub use txn::transaction::Transaction;
