//! Stretches of the log as an archive keeps them: their bytes, and what the binary log says of them.

use super::retention::ReaderHold;
use super::{Binlog, lookup};
use crate::{Database, Result};
use narwal_log::LogRecords;

/// What the binary log says of a stretch of the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogStretch {
    /// `gtid_binlog_state` before it; `None` if the binary log begins inside it.
    pub gtids_before: Option<String>,
    /// `gtid_binlog_state` behind it.
    pub gtids_after: String,
    /// Virtual file where it ends.
    pub file: String,
    /// Offset there, bytes.
    pub offset: u64,
    /// Timestamp of its last group, seconds since 1970; `None` if none is near its end.
    pub last_time: Option<u32>,
}

impl Binlog {
    /// Keeps the whole log until [`Database::take_log_hold`].
    pub(crate) fn hold_from_start(&self) {
        let hold = self.register_reader("archive", 0, false);
        *self.first_hold.lock() = Some(hold);
    }
}

impl Database {
    /// The records and segments of the log, as far as they are durable.
    pub fn log_records(&self) -> LogRecords {
        self.inner.log.records()
    }

    /// Hands over the hold of [`crate::Options::hold_log`], which keeps the log from 0 on; once.
    pub fn take_log_hold(&self) -> Option<ReaderHold> {
        self.inner.binlog.first_hold.lock().take()
    }

    /// What the binary log says of the log from `from` to `to`, which must be starts or ends of durable records. Reads at
    /// most twice what lies between two State records.
    ///
    /// # Errors
    /// 1236 if the binary log begins behind `to` (the rest was purged, or is from before a RESET MASTER).
    pub fn log_stretch(&self, from: u64, to: u64) -> Result<LogStretch> {
        let before = lookup::by_lsn(&self.inner, from).ok();
        let (after, last_time) = lookup::before_lsn(&self.inner, to)?;
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
