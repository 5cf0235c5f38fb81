//! The table store: memtables, run files and the base, read as one.

pub(crate) mod apart;
pub(crate) mod backend;
pub(crate) mod base;
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
