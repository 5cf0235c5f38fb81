//! The parts of an open database. Each owns its state behind its own functions; a function takes the parts that it needs.

use crate::binlog::part::Binlog;
use crate::catalog::shared::Catalogs;
use crate::counters::Counters;
use crate::folder::Folder;
use crate::locks::table::LockTable;
use crate::options::{Options, Settings};
use crate::pressure::admit::Pressure;
use crate::store::part::Store;
use crate::store::state::Snapshot;
use std::sync::atomic::AtomicU64;

/// See the module's comment.
pub(crate) struct Parts {
    pub(crate) folder: Folder,
    /// As it was opened.
    pub(crate) options: Options,
    /// What can be changed since.
    pub(crate) settings: Settings,
    pub(crate) store: Store,
    pub(crate) locks: LockTable,
    pub(crate) catalogs: Catalogs,
    pub(crate) binlog: Binlog,
    pub(crate) pressure: Pressure,
    pub(crate) counters: Counters,
    pub(crate) next_txn: AtomicU64,
}

impl Parts {
    /// A consistent pair of sequence number and components: see [`Store::snapshot`].
    #[inline]
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.store.snapshot(|| self.binlog.log.visible_seq())
    }
}
