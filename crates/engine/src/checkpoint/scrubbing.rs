//! The thread of the scrub.

use crate::Result;
use crate::checkpoint::run::Checkpoints;
use crate::checkpoint::scrub::{LEAST, PAUSE, STEP, STEPS};
use crate::checkpoint::verify::verify;
use crate::parts::Parts;
use crate::store::base::io_err;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

impl Checkpoints {
    /// One step; `None`: it is switched off. Otherwise how long to wait.
    fn scrub_step(&self, db: &Parts) -> Result<Option<Duration>> {
        let scrub = &self.scrub;
        let rate = scrub.rate.load(Ordering::Relaxed);
        if rate == 0 || !db.folder.is_open() {
            return Ok(None);
        }
        let step = (rate / STEPS).clamp(LEAST, STEP);
        let len = db.store.base.file.file_len().map_err(io_err)?;
        let from = scrub.at();
        let to = (from + step).min(len);
        if from < to {
            let found = verify(db, &self.pending, from, to)?;
            scrub
                .errors
                .fetch_add(found.len() as u64, Ordering::Relaxed);
            scrub.bytes.fetch_add(to - from, Ordering::Relaxed);
            scrub.at.store(to, Ordering::Relaxed);
        }
        if to >= len || from >= to {
            scrub.at.store(0, Ordering::Relaxed);
            scrub.rounds.fetch_add(1, Ordering::Relaxed);
            return Ok(Some(PAUSE));
        }
        Ok(Some(Duration::from_secs_f64(step as f64 / rate as f64)))
    }

    /// Starts the scrub's thread.
    pub(crate) fn start_scrub(self: &Arc<Self>, db: &Arc<Parts>) -> std::io::Result<()> {
        let (own, weak) = (self.clone(), Arc::downgrade(db));
        let thread = std::thread::Builder::new()
            .name("narwal-scrub".into())
            .spawn(move || own.scrub_background(&weak))?;
        *self.scrub.thread.lock() = Some(thread);
        Ok(())
    }

    fn scrub_background(&self, weak: &Weak<Parts>) {
        let mut failed = false;
        while let Some(db) = weak.upgrade() {
            let time = match self.scrub_step(&db) {
                Ok(time) => time.unwrap_or(PAUSE),
                Err(e) => {
                    if !std::mem::replace(&mut failed, true) && db.folder.is_open() {
                        tracing::warn!("the scrub of the base stands still: {e}");
                    }
                    PAUSE
                }
            };
            if !self.scrub.wait(time) {
                return;
            }
        }
    }
}
