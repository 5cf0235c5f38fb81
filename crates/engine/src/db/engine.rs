//! What an open database has beside its parts: those that stand above transactions, and the threads of the background.

use crate::binlog::retention;
use crate::checkpoint::run::Checkpoints;
use crate::parts::Parts;
use crate::xa::branch::Branches;
use crate::{EngineError, Result};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Time between two looks at the age of binary log files.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// Closes the database when the last handle goes; transactions that still run can't commit any more.
pub(crate) struct Engine {
    pub(crate) parts: Arc<Parts>,
    pub(crate) checkpoints: Arc<Checkpoints>,
    /// XA transactions by name.
    pub(crate) branches: Arc<Branches>,
    pub(crate) closed: AtomicBool,
}

impl Engine {
    pub(crate) fn new(parts: Arc<Parts>, checkpoints: Checkpoints) -> Self {
        let checkpoints = Arc::new(checkpoints);
        let (own, weak) = (checkpoints.clone(), Arc::downgrade(&parts));
        parts.pressure.bell.set_now(Box::new(move || {
            weak.upgrade().map_or(Ok(()), |db| own.run(&db))
        }));
        Engine {
            parts,
            checkpoints,
            branches: Arc::default(),
            closed: AtomicBool::new(false),
        }
    }

    /// Starts the threads of the background.
    pub(crate) fn start(&self) -> Result<()> {
        let db = &self.parts;
        // Not before: a start on a full disk is refused, it does not hang.
        db.store.base.room.set_waits(true);
        let failed = |what: &str, e: std::io::Error| {
            EngineError::Io(format!("starting the {what} thread: {e}"))
        };
        (self.checkpoints.start(db)).map_err(|e| failed("checkpoint", e))?;
        start_purging(db).map_err(|e| failed("purging", e))?;
        (self.checkpoints.start_scrub(db)).map_err(|e| failed("scrub's", e))
    }

    pub(crate) fn close(&self) -> Result<()> {
        if self.closed.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        let db = &*self.parts;
        db.pressure.bell.close();
        // The checkpoint waits for what replicas have not acknowledged.
        db.binlog.log.shut_gate();
        db.store.base.room.set_waits(false);
        self.checkpoints.stop(db);
        retention::stop(&db.binlog);
        self.checkpoints.scrub.stop();
        let checkpoint = match db.binlog.log.failed() {
            None => self.checkpoints.run(db),
            Some(_) => Ok(()),
        };
        if let Err(e) = &checkpoint {
            tracing::warn!("no checkpoint at close ({e}); the next start replays the log instead");
        }
        db.store.base.room.close();
        // They stand in the log; here they hold on to the store itself.
        drop(std::mem::take(&mut *self.branches.lock()));
        let mut closed = db.binlog.log.close().map_err(EngineError::from);
        if let Some(flat) = &db.binlog.flat
            && closed.is_ok()
        {
            closed = flat.sync();
        }
        db.folder.release();
        closed
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Err(e) = self.close() {
            tracing::error!("closing the database: {e}");
        }
    }
}

/// Starts the thread that purges the binary log.
fn start_purging(db: &Arc<Parts>) -> std::io::Result<()> {
    let weak = Arc::downgrade(db);
    let thread = std::thread::Builder::new()
        .name("narwal-purge".into())
        .spawn(move || purge(&weak))?;
    db.binlog.settings.set_thread(thread);
    Ok(())
}

fn purge(weak: &Weak<Parts>) {
    // The first look is at once: files may have come of age while nobody served.
    loop {
        let Some(db) = weak.upgrade() else { return };
        retention::tick(&db.binlog);
        let holds = db.binlog.holds.clone();
        drop(db);
        if holds.wake.wait(LOOK_EVERY).stop {
            return;
        }
    }
}
