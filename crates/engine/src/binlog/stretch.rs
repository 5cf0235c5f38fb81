//! Stretches of the log as an archive keeps them: their bytes, and what the binary log says of them.

use crate::binlog::part::Binlog;

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
