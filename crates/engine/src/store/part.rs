//! The table store as a part of the database.

use crate::store::apart::Apart;
use crate::store::base::Base;
use crate::store::base_trait::ReadBase;
use crate::store::run_space::RunSpace;
use crate::store::snapshots::SnapshotRegistry;
use crate::store::state::{Snapshot, State};
use arc_swap::ArcSwap;
use parking_lot::Mutex;

/// Memtables, layers and the base, and what is known of their readers.
pub(crate) struct Store {
    pub(crate) base: Base,
    pub(crate) state: ArcSwap<State>,
    pub(crate) registry: SnapshotRegistry,
    /// Damaged tables.
    pub(crate) apart: Mutex<Apart>,
    pub(crate) runs: RunSpace,
}

impl Store {
    /// A consistent pair of sequence number and components.
    ///
    /// A freeze swaps the state under the log's order mutex before any later commit can reserve; so if the state is
    /// the same before and after the visible number is read, every commit up to that number is in it. The base in it
    /// is not newer: it was swapped in after its sequence number had been published.
    #[inline]
    pub(crate) fn snapshot(&self, visible: impl Fn() -> u64) -> Snapshot {
        loop {
            let state = self.state.load_full();
            let seq = visible();
            if std::sync::Arc::ptr_eq(&state, &*self.state.load()) {
                debug_assert!(
                    seq >= state.base.seq(),
                    "the base is ahead of what is visible"
                );
                return Snapshot { seq, state };
            }
        }
    }
}
