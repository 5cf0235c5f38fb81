use crate::EngineError;
use crate::store::state::{Layer, State};
use narwal_log::Disk;
use std::path::Path;
use std::sync::Arc;

/// Why [`Database::open_cut`] did not open.
pub(crate) enum OpenFailure {
    Engine(EngineError),
    /// The commit at this LSN has lost its chunks, and the caller accepts losses.
    LostAt(u64, EngineError),
    /// What was prepared and not committed was taken out of the log: once more.
    RolledBack,
}

impl From<EngineError> for OpenFailure {
    fn from(e: EngineError) -> Self {
        OpenFailure::Engine(e)
    }
}

/// Removes run files that no recovered commit names: of transactions that never committed, or that are in the base.
pub(crate) fn remove_dead_runs(disk: &Arc<dyn Disk>, dir: &Path, state: &State) {
    let mut live = ahash::HashSet::default();
    for layer in &state.older {
        if let Layer::Spilled(s) = layer {
            live.extend(s.runs.metas().into_iter().map(|m| m.name));
        }
    }
    match disk.list(dir) {
        Ok(names) => {
            for name in names.iter().filter(|n| !live.contains(*n)) {
                if let Err(e) = disk.remove(&dir.join(name)) {
                    tracing::warn!("removing {}: {e}", dir.join(name).display());
                }
            }
        }
        Err(e) => tracing::warn!("looking into {}: {e}", dir.display()),
    }
}
