//! The scrub, for programs.

use crate::Result;
use crate::checkpoint::verify::verify;
use crate::db::database::Database;
use crate::store::base::io_err;
use std::sync::atomic::Ordering;

impl Database {
    /// Sets `narwal_scrub_rate`, bytes a second; 0: off.
    pub fn set_scrub_rate(&self, rate: u64) {
        self.engine
            .checkpoints
            .scrub
            .rate
            .store(rate, Ordering::Relaxed);
        self.engine.checkpoints.scrub.wake.notify_all();
    }

    /// Reads the whole base and compares it with its checksums, at once. Gives an error for each damaged block of a page in
    /// use.
    ///
    /// # Errors
    /// Errors of reading; the database is closed.
    pub fn scrub(&self) -> Result<Vec<crate::EngineError>> {
        let len = (self.parts.store.base.file.file_len()).map_err(io_err)?;
        verify(&self.parts, &self.engine.checkpoints.pending, 0, len)
    }
}
