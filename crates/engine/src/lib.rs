//! The embeddable store: catalog, MVCC table store, row locks, transactions, checkpoints, recovery.
//!
//! | file | holds |
//! |---|---|
//! | `db.rs` | [`Database`]: opening, settings, back-pressure, closing |
//! | `txn.rs` | [`Transaction`]: reads, locks, writes, savepoints |
//! | `commit.rs` | the commit path: reserve, stamp, apply, hand over, wait |
//! | `ddl.rs` | DDL as one commit |
//! | `checkpoint.rs` | freeze, merge, swap: the only writer of the base |
//! | `recovery.rs` | replay of the log's tail |
//! | `memtable.rs` | the log's tail in sorted, multi-version form |
//! | `base.rs`, `backend.rs` | the redb file |
//! | `state.rs`, `snapshot.rs` | what a reader holds, and which readers there are |
//! | `apply.rs` | row events of other servers as changes of a transaction |
//! | `run/` | sorted files that hold the write set of a huge transaction |
//! | `oob.rs`, `writeset.rs`, `run/`, `spilled.rs` | transactions that outgrow memory: chunks in the log, spilled write sets |
//! | `scan.rs` | ordered scans over own writes, memtables and base |
//! | `locks.rs`, `locks/` | row and table locks, deadlock detection; locks of huge transactions on disk |
//! | `packed.rs` | compressed commit records and chunks |
//! | `replica.rs` | what was applied of other servers' logs, and up to where |
//! | `groups.rs` | event groups and their events out of log records |
//! | `binlog/` | the log as binary log: files, positions, GTID state, retention |
//! | `check/` | checking a stopped data folder |
//! | `backup/` | copies of a running database, and what becomes of them |
//! | `classic/` | two logs instead of one, for comparison |
//! | `builder.rs` | tables, rows and keys for programs without SQL |
//! | `sequence.rs` | sequences: numbers taken in commits of their own |
//! | `temporary.rs` | a session's temporary tables |
//! | `catalog.rs`, `table.rs` | databases and tables, stored and at run time |
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
pub use catalog::counters::TableStats;
pub use catalog::def::{
    CheckDef, ColumnDef, DatabaseDef, DefaultDef, ForeignAction, ForeignKeyDef, GeneratedDef,
    IndexColumn, IndexDef, TableDef,
};
pub use catalog::filter::BinlogFilter;
pub use catalog::foreign::ForeignKeyMode;
pub use catalog::image::RowImage;
pub use catalog::index::Index;
pub use catalog::names::Catalog;
pub use catalog::resolve::same_rows;
pub use catalog::sequence::SequenceRow;
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
pub use record::replica::{Origin, ReplicaState};
pub use record::state::{StateReason, StateRecord};
#[doc(hidden)]
pub use store::base::open_base;
pub use store::parallel::Keep;
pub use store::row::Row;
pub use store::scan::{Scan, ScanItem};
pub use txn::options::{Isolation, KillFlag, TxnOptions};
pub use txn::savepoint::Savepoint;
pub use txn::temporary_rows::TemporaryTables;
pub use txn::transaction::{ReadView, Transaction};
