//! Purged segments whose bytes are still on the disk.

use std::sync::Arc;

use crate::segment::Segment;

/// Segments without name whose bytes are still there.
#[derive(Debug, Default)]
pub(crate) struct Graves {
    pub gone: Vec<Arc<Segment>>,
    /// The folder must be synced before bytes may go.
    pub unsynced: bool,
}
