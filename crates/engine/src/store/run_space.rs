//! Where run files are, and how much stays in memory before one is written.

use crate::store::run::RunCache;
use crate::store::writeset::SpillPlace;
use narwal_log::Disk;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// See the module's comment.
#[derive(Clone)]
pub(crate) struct RunSpace {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) dir: PathBuf,
    pub(crate) cache: Arc<RunCache>,
    /// Memory of one transaction's write set, bytes, beyond which it spills.
    pub(crate) limit: u64,
}

impl RunSpace {
    /// Where a write set's run files go; `id` names them, `interrupt` ends their merging.
    pub(crate) fn place(&self, id: u64, interrupt: &Option<Arc<AtomicBool>>) -> SpillPlace {
        SpillPlace {
            disk: self.disk.clone(),
            dir: self.dir.clone(),
            id,
            cache: self.cache.clone(),
            interrupt: interrupt.clone(),
        }
    }

    /// Row locks of one transaction that stay in memory: in step with its write set, and 64 Ki at most.
    pub(crate) fn locks_in_memory(&self) -> usize {
        (self.limit / 64).clamp(16, 64 << 10) as usize
    }
}
