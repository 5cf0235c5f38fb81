//! Where a dump's groups come from.

use narwal_binlog::GtidState;
use narwal_engine::{BegunFile, GroupHead, Result};

/// Event groups in the order of the log, and what stands between them. A dump has no other view of the log.
pub trait Groups {
    /// Goes to the next group, whether or not the present one was read to its end; `None` at the durable end: ask
    /// again when there is more.
    ///
    /// # Errors
    /// The log can't be read.
    fn next_group(&mut self) -> Result<Option<GroupHead>>;

    /// The present group's next event, complete; `None` behind the last.
    ///
    /// # Errors
    /// As [`next_group`](Self::next_group).
    fn next_event(&mut self) -> Result<Option<&[u8]>>;

    /// Files begun without a group between the group before and the present one, or the end.
    fn begun_files(&self) -> &[BegunFile];

    /// The GTIDs before the present group.
    fn gtids_before(&self) -> &GtidState;

    /// The GTIDs before the present group's file, if known.
    fn file_gtids(&self) -> Option<&GtidState>;

    /// How often RESET MASTER has come by.
    fn resets(&self) -> u64;

    /// LSN of what is read next.
    fn lsn(&self) -> u64;

    /// Behind the last group: whether [`next_group`](Self::next_group) is worth another try.
    fn has_more(&self) -> bool;
}
