//! The table store: memtables, run files and the base, read as one.
//!
//! Knows keys, entries and which indexes there are. Knows no log: who puts something here says at which sequence number.
//!
//! | file | holds |
//! |---|---|
//! | `part.rs` | the store as a part of the database |
//! | `memtable.rs`, `blocks.rs` | the log's tail in sorted, multi-version form |
//! | `writeset.rs`, `run/`, `spilled.rs`, `run_space.rs` | what one transaction has written, in memory and in run files |
//! | `base_trait.rs`, `base.rs`, `merge.rs`, `damage.rs`, `apart.rs` | the base: reading, writing, damaged tables |
//! | `file.rs`, `backend.rs`, `room.rs`, `dirty.rs` | the base's file beneath redb |
//! | `state.rs`, `snapshots.rs` | what a reader holds, and which readers there are |
//! | `scan.rs`, `cursor.rs`, `batch.rs`, `parallel.rs` | ordered scans over all of it |
//! | `index_build.rs` | the keys of new indexes |
//! | `entry.rs`, `row.rs` | what a key says, and a row that was read |

pub(crate) mod apart;
pub(crate) mod backend;
pub(crate) mod base;
pub(crate) mod base_trait;
pub(crate) mod batch;
pub(crate) mod blocks;
pub(crate) mod cursor;
pub(crate) mod damage;
pub(crate) mod dirty;
pub(crate) mod entry;
pub(crate) mod file;
pub(crate) mod index_build;
pub(crate) mod memtable;
pub(crate) mod merge;
pub(crate) mod parallel;
pub(crate) mod part;
pub(crate) mod room;
pub(crate) mod row;
#[allow(dead_code, unused_imports)]
pub(crate) mod run;
pub(crate) mod run_space;
pub(crate) mod scan;
pub(crate) mod snapshots;
pub(crate) mod spilled;
pub(crate) mod state;
pub(crate) mod writeset;
