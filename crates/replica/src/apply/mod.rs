//! The applier: takes what a receiver has queued and commits it, in the source's order.
//!
//! | file | holds |
//! |---|---|
//! | `coordinator.rs` | the thread that takes groups out of the queue: statements, large groups, barriers, and everything if there are no workers |
//! | `pool.rs` | workers that execute groups at once and commit them in order |
//! | `touch.rs` | which groups must wait for which, by the keys they touch |
//! | `committer.rs` | the thread that waits until commits are durable |
//! | `progress.rs` | what others see of an applier while it works |
//! | `error.rs` | errors as SHOW SLAVE STATUS shows them |
//!
//! A group's transaction *executes* (rows are found, locked, changed in the transaction's own write set) and then
//! *commits* (it takes its place in our log). Only the second happens in the source's order, so what readers see is at
//! any moment a prefix of the source's history; the first happens at once for groups that touch no key in common.
//! Nobody waits for the disk but the committer, so one sync covers as many groups as came meanwhile.

mod committer;
mod coordinator;
mod error;
mod pool;
mod progress;
mod touch;

pub use progress::{GroupEnd, Progress, ProgressError, ProgressSnapshot};

use crate::queue::{GroupHead, Queue};
use committer::Committer;
use coordinator::Coordinator;
use narwal_session::Instance;
use narwal_session::apply::ApplyOptions;
use narwal_types::errors::codes;
use pool::Pool;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::Scope;
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
    /// ([`Queue::clear`]), and the applier run again.
    Refetch,
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
    let db = instance.database();
    let committer = Committer::new(db.clone());
    let threads = settings.threads as usize;
    let pool = (threads > 1).then(|| Pool::new(threads));
    let ended = std::thread::scope(|scope| {
        let mut failed = spawn(scope, "narwal-rpl-sync", || committer.work(progress, stop)).err();
        if let Some(pool) = &pool {
            let committer = &committer;
            for worker in 0..threads {
                let work = move || pool.work(worker, instance, settings, committer, progress);
                failed = failed.or(spawn(scope, "narwal-rpl-work", work).err());
            }
        }
        let mut coordinator = Coordinator::new(
            instance,
            settings,
            queue,
            &committer,
            pool.as_ref(),
            progress,
            stop,
        );
        let ended = match failed {
            None => coordinator.run(conductor),
            Some(e) => {
                progress.fail(
                    codes::SLAVE_FATAL_ERROR,
                    format!("starting an applier's thread: {e}"),
                    None,
                );
                Ended::Failed
            }
        };
        coordinator.end(ended);
        if let Some(pool) = &pool {
            pool.close();
        }
        committer.close();
        ended
    });
    progress.stopped();
    // What could not be made durable has failed, whatever was told before.
    match progress.error() {
        Some(_) => Ended::Failed,
        None => ended,
    }
}

fn spawn<'s>(
    scope: &'s Scope<'s, '_>,
    name: &str,
    work: impl FnOnce() + Send + 's,
) -> std::io::Result<()> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(crate::STATEMENT_STACK)
        .spawn_scoped(scope, work)
        .map(|_| ())
}
