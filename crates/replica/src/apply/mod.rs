//! The applier: takes what a receiver has queued and commits it, in the source's order.
//!
//! | file | holds |
//! |---|---|
//! | `coordinator.rs` | the thread that takes groups out of the queue: statements, large groups, barriers, and everything if there are no workers |
//! | `pool.rs` | workers that execute groups at once and commit them in order |
//! | `touch.rs` | which groups must wait for which, by the keys they touch |
//! | `committer.rs` | the thread that waits until commits are durable |
//! | `settings.rs` | what an applier is told: how it applies, which groups, where it ends |
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
mod settings;
mod touch;

pub use progress::{GroupEnd, Progress, ProgressError, ProgressSnapshot};
pub use settings::{ApplyAll, ApplySettings, Conductor, Ended, Verdict};

use crate::queue::Queue;
use committer::Committer;
use coordinator::Coordinator;
use narwal_session::Instance;
use narwal_types::errors::codes;
use pool::Pool;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::Scope;

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
    let committer = Committer::new(db.clone(), stop.clone());
    let threads = settings.threads as usize;
    let pool = (threads > 1).then(|| Pool::new(threads));
    let ended = std::thread::scope(|scope| {
        let mut failed = spawn(scope, "narwal-rpl-sync", || committer.work(progress)).err();
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
        .stack_size(narwal_memory::STATEMENT_STACK)
        .spawn_scoped(scope, work)
        .map(|_| ())
}
