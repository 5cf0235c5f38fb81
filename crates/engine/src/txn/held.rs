//! What a transaction holds of the lock table, and what it has told it.

use crate::locks::types::LockName;

/// See the module's comment.
pub(crate) struct HeldLocks {
    /// Those in memory.
    pub(crate) names: Vec<LockName>,
    /// Some of its row locks are not in `names` but on disk.
    pub(crate) spilled: bool,
    /// Number of row locks in memory at which they are spilled next.
    pub(crate) spill_at: usize,
    /// It has locked ranges.
    pub(crate) ranges: bool,
    /// Its writes up to this position are announced to those who lock ranges; `announced`: some are.
    pub(crate) settled: u64,
    pub(crate) announced: bool,
    /// Its commit is on its way into the store, and its keys are not announced.
    pub(crate) landing: bool,
}

impl HeldLocks {
    pub(crate) fn new(spill_at: usize) -> Self {
        HeldLocks {
            names: Vec::new(),
            spilled: false,
            spill_at,
            ranges: false,
            settled: 0,
            announced: false,
            landing: false,
        }
    }

    /// Nothing was taken and nothing told.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty() && !self.spilled && !self.ranges && !self.announced
    }
}
