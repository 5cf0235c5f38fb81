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

mod apart;
pub mod apply;
mod backend;
pub mod backup;
mod base;
mod batch;
pub mod binlog;
mod blocks;
mod builder;
pub mod catalog;
pub mod check;
mod checkpoint;
mod classic;
mod commit;
mod cursor;
mod damage;
pub mod db;
mod ddl;
pub mod error;
mod estimate;
mod fill;
pub mod filter;
mod folder;
mod foreign;
pub mod groups;
pub mod image;
mod index_build;
mod local;
#[allow(dead_code)]
mod locks;
mod memtable;
mod merge;
mod oob;
mod pace;
pub mod packed;
mod parallel;
mod recovery;
mod redo;
mod replica;
#[allow(dead_code, unused_imports)]
mod run;
mod scan;
mod scrub;
mod sequence;
mod snapshot;
mod spilled;
mod state;
pub mod table;
mod table_locks;
mod temporary;
pub mod txn;
mod verified;
mod views;
mod writeset;
pub mod xa;

pub use binlog::{
    BinlogFile, BinlogPosition, BinlogStats, GtidFilter, LogStretch, PurgeReport, ReadStart,
    ReaderHold, StateReason, StateRecord, hash_group,
};
pub use builder::TableBuilder;
pub use catalog::{
    Catalog, CatalogChange, CheckDef, ColumnDef, DatabaseDef, DefaultDef, ForeignAction,
    ForeignKeyDef, GeneratedDef, IndexColumn, IndexDef, TableDef, same_rows,
};
pub use commit::event_group;
pub use db::{Database, Ddl, Options, Stats};
pub use error::{EngineError, Result};
pub use fill::{FillRows, TableFill};
pub use filter::BinlogFilter;
pub use folder::{FolderLog, open_folder};
pub use foreign::ForeignKeyMode;
pub use groups::{
    BegunFile, FolderRecords, GroupHead, GroupKind, GroupReader, LiveRecords, Records,
};
pub use image::RowImage;
pub use locks::{LockWaiting, Locked, RangeMark};
pub use narwal_binlog::GtidChoice;
pub use narwal_binlog::RowMetadata;
pub use narwal_log::{Gate, GateStats, Held, LogError, OnDone};
pub use packed::{Compression, unpack};
pub use parallel::Keep;
pub use replica::{Origin, ReplicaState};
pub use scrub::DEFAULT_SCRUB_RATE;
pub use sequence::{SequenceRow, SetValue, not_for_sequences};
pub use table::{Index, Table, TableStats};
pub use table_locks::TableLocks;
pub use temporary::{Fill, TemporaryTables};
pub use txn::{
    CommitInfo, Isolation, KeyRange, KillFlag, LockMode, LockWait, ReadView, Reserved, Row,
    Savepoint, Scan, ScanItem, Transaction, TxnOptions,
};
pub use verified::Damage;
#[doc(hidden)]
pub use verified::open_base;
pub use views::{CheckOption, ViewAlgorithm, ViewDef};
