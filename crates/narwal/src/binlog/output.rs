//! What all forms of output have in common.

use super::groups::{Events, Trouble};
use super::select::Selection;
use narwal_engine::GroupHead;
use std::io;

/// Bytes gathered before they are written.
pub(crate) const OUT_BUFFER: usize = 1 << 20;

/// A form of output.
pub(crate) trait Output {
    /// Writes a group that is wanted; `events` stands before its first event.
    fn group(
        &mut self,
        head: &GroupHead,
        events: &mut dyn Events,
        selection: &Selection,
    ) -> Result<(), Trouble>;

    /// The rest of the group that [`group`](Self::group) was writing can't be read.
    fn abandon(&mut self, head: &GroupHead) -> Result<(), Trouble>;

    /// Everything is read. `whole`: nothing was damaged.
    fn finish(&mut self, whole: bool) -> Result<(), Trouble>;

    /// Lets readers see what was written.
    fn flush(&mut self) -> io::Result<()>;
}
