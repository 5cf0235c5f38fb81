//! What is counted since the start.

use std::sync::atomic::AtomicU64;

#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) group_bytes: AtomicU64,
    /// Transactions that had events, committed or not.
    pub(crate) cache_use: AtomicU64,
    pub(crate) checkpoints: AtomicU64,
    pub(crate) checkpoint_errors: AtomicU64,
    pub(crate) checkpoint_cuts: AtomicU64,
    pub(crate) oob_chunks: AtomicU64,
    pub(crate) oob_bytes: AtomicU64,
    pub(crate) oob_commits: AtomicU64,
    pub(crate) spills: AtomicU64,
    pub(crate) spill_bytes: AtomicU64,
    pub(crate) recovery_records: AtomicU64,
    pub(crate) recovery_bytes: AtomicU64,
}
