//! The log, for archives.

use crate::Result;
use crate::binlog::holds::ReaderHold;
use crate::binlog::lookup;
use crate::binlog::stretch::LogStretch;
use crate::db::database::Database;
use narwal_log::LogRecords;

impl Database {
    /// The records and segments of the log, as far as they are durable.
    pub fn log_records(&self) -> LogRecords {
        self.parts.binlog.log.records()
    }

    /// Hands over the hold of [`crate::Options::hold_log`], which keeps the log from 0 on; once.
    pub fn take_log_hold(&self) -> Option<ReaderHold> {
        self.parts.binlog.first_hold.lock().take()
    }

    /// What the binary log says of the log from `from` to `to`, which must be starts or ends of durable records. Reads at
    /// most twice what lies between two State records.
    ///
    /// # Errors
    /// 1236 if the binary log begins behind `to` (the rest was purged, or is from before a RESET MASTER).
    pub fn log_stretch(&self, from: u64, to: u64) -> Result<LogStretch> {
        let before = lookup::by_lsn(&self.parts.binlog, from).ok();
        let (after, last_time) = lookup::before_lsn(&self.parts.binlog, to)?;
        let at = lookup::position(&after.files);
        Ok(LogStretch {
            gtids_before: before.map(|b| b.files.gtids().to_string()),
            gtids_after: after.files.gtids().to_string(),
            file: at.file,
            offset: at.offset,
            last_time,
        })
    }
}
