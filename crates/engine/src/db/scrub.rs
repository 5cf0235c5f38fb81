use crate::Result;
use crate::db::database::Database;
use std::sync::atomic::Ordering;

impl Database {
    /// Sets `narwal_scrub_rate`, bytes a second; 0: off.
    pub fn set_scrub_rate(&self, rate: u64) {
        self.inner.scrub.rate.store(rate, Ordering::Relaxed);
        self.inner.scrub.wake.notify_all();
    }

    /// Reads the whole base and compares it with its checksums, at once. Gives an error for each damaged block of a page in
    /// use.
    ///
    /// # Errors
    /// Errors of reading; the database is closed.
    pub fn scrub(&self) -> Result<Vec<crate::EngineError>> {
        let len = (self.inner.base_file.file_len()).map_err(crate::store::base::io_err)?;
        crate::checkpoint::verify::verify(&self.inner, 0, len)
    }
}
