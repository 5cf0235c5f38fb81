//! What a transaction sees, and what that rests on.

use crate::store::snapshots::SnapshotSlot;
use crate::store::state::Snapshot;

/// See the module's comment.
#[derive(Default)]
pub(crate) struct View {
    pub(crate) snapshot: Option<Snapshot>,
    pub(crate) slot: Option<SnapshotSlot>,
    /// Newest commit that a locking read of this transaction depends on.
    pub(crate) read_dependency: u64,
    /// Commit of the row that was locked last; 0 for one of its own or none.
    pub(crate) locked_seq: u64,
}
