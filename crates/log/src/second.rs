//! A second log, which a commit must also be in before anybody sees it: the classic design, for comparison with the one
//! log.
//!
//! With a second log, a record of this log only *prepares* its commit. The leader that has brought a group into this log
//! queues the group here and gives up the lead, so that the next group's sync can begin. Then it brings everything that is
//! queued into the second log with one write and one sync. Then the group is committed: a [`RecordKind::CommitMark`] says so in
//! this log (nobody waits for its sync), readers see the commits and their clients are answered. As in the first stage
//! there is one leader at a time, what comes meanwhile gathers, and a lone committer does both stages itself, without a
//! thread switch.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::error::LogError;
use crate::record::RecordRef;
use crate::slot::Slot;

mod stage;

/// The other log, in which commits stand in the same order.
pub trait SecondLog: Send + Sync + Debug {
    /// Appends a group: commits and State records, in the log's order, each whole in the first log (written there, and
    /// durable if commits wait for that). When it returns the group is as durable in this log as it is going to be.
    /// `durable` makes everything that is written to the first log durable there, so that its records can be read.
    ///
    /// # Errors
    /// A text: final, both logs stop.
    fn append(
        &self,
        group: &[RecordRef<'_>],
        durable: &dyn Fn() -> Result<(), LogError>,
    ) -> Result<(), String>;
}

/// The second stage of a commit.
#[derive(Debug, Default)]
pub(crate) struct Second {
    log: OnceLock<Arc<dyn SecondLog>>,
    /// In the first log, on their way to the second, in order.
    queue: Mutex<VecDeque<Arc<Slot>>>,
    leading: AtomicBool,
}

impl Second {
    pub fn is_on(&self) -> bool {
        self.log.get().is_some()
    }

    pub fn set(&self, log: Arc<dyn SecondLog>) {
        let _ = self.log.set(log);
    }

    /// Takes everything that waits, when the log stops.
    pub fn take(&self) -> Vec<Arc<Slot>> {
        self.queue.lock().drain(..).collect()
    }

    fn try_lead(&self) -> Option<Lead<'_>> {
        self.leading
            .compare_exchange(false, true, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok()
            .then(|| Lead(self))
    }
}

/// The lead of the second stage.
struct Lead<'a>(&'a Second);

impl Drop for Lead<'_> {
    fn drop(&mut self) {
        self.0.leading.store(false, Ordering::SeqCst);
    }
}
