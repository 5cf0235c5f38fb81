//! The applier: takes what a receiver has queued and commits it, in the source's order.
//!
//! | file | holds |
//! |---|---|
//! | `progress.rs` | what is told of an applier while it works |

mod progress;

pub use progress::{Place, Progress, ProgressError, ProgressSnapshot};

use crate::queue::{GroupHead, Queue};
use narwal_session::Instance;
use narwal_session::apply::ApplyOptions;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How a channel's groups are applied.
#[derive(Debug, Clone)]
pub struct ApplySettings {
    /// The connection's id, for [`narwal_engine::Origin`].
    pub channel: u32,
    /// Connection id of the applier in the process list; its workers count on from there.
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
    /// An error, see [`Progress::error`].
    Failed,
}

/// Applies the queue's groups until it is told to end: by [`Queue::stop_popping`], which lets it finish what it has begun,
/// or by `stop`, which interrupts waits for locks too. Everything that has its place in our log is durable when it returns;
/// what has none is rolled back, and the queue has to be emptied before the next run ([`Queue::clear`]).
///
/// Runs on the calling thread, which is the channel's coordinator, and with `threads` of 2 and more on as many others.
pub fn run(
    instance: &Arc<Instance>,
    settings: &ApplySettings,
    queue: &Queue,
    conductor: &mut dyn Conductor,
    progress: &Progress,
    stop: &Arc<AtomicBool>,
) -> Ended {
    let _ = (instance, settings, queue, conductor, stop);
    // The coordinator comes here.
    progress.fail(1235, "applying is not there yet".into(), None);
    Ended::Failed
}
