//! What an applier is told: how it applies, which groups, where it ends.

use crate::queue::GroupHead;
use narwal_session::apply::ApplyOptions;
use std::time::Duration;

/// How a channel's groups are applied.
#[derive(Debug, Clone)]
pub struct ApplySettings {
    /// The connection's id, for [`narwal_engine::Origin`].
    pub channel: u32,
    /// Connection id of the applier, for the events of statements it runs.
    pub thread_id: u32,
    /// `slave_parallel_threads`, or 0 where `slave_parallel_mode` asks for one group after the other. 0 and 1: the
    /// calling thread applies.
    pub threads: u32,
    /// `slave_transaction_retries`: how often a group is tried again that met a lock wait timeout or a deadlock.
    pub retries: u32,
    /// How groups are applied.
    pub options: ApplyOptions,
}

/// What becomes of the next group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is applied.
    Apply,
    /// It is left out: it is logged without effect, under its GTID.
    Skip,
    /// Not now (`MASTER_DELAY`): ask again after so long at most.
    Wait(Duration),
    /// The applier ends in front of it (UNTIL).
    Stop,
}

/// Decides about each group in the source's order, on the calling thread.
pub trait Conductor {
    /// The next group.
    fn before(&mut self, head: &GroupHead) -> Verdict;
    /// The group was handed out (its end is known now); true: the applier ends behind it (UNTIL).
    fn behind(&mut self, head: &GroupHead) -> bool;
    /// Nothing to apply up to here; true: the applier ends here (UNTIL).
    fn passed(&mut self, file: &str, pos: u64) -> bool {
        let _ = (file, pos);
        false
    }
}

/// Applies everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApplyAll;

impl Conductor for ApplyAll {
    fn before(&mut self, _: &GroupHead) -> Verdict {
        Verdict::Apply
    }
    fn behind(&mut self, _: &GroupHead) -> bool {
        false
    }
}

/// Why an applier ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It was asked to. Groups that were not begun are gone: they are to be fetched again.
    Stopped,
    /// The conductor said so. Everything before that place is committed.
    Until,
    /// A group that is applied while it arrives met a lock wait timeout or a deadlock: it has to be fetched again
    /// (`Queue::clear`), and the applier run again.
    Refetch,
    /// An error, see `Progress::error`.
    Failed,
}
