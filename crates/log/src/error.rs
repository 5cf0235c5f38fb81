//! Errors of the log.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Lsn;

/// Damage found in bytes that were once durable: the place and what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Corruption {
    /// The segment file (for a missing segment: the file that should exist).
    pub file: PathBuf,
    /// Byte offset in that file.
    pub offset: u64,
    /// The LSN of that place, 0 where none applies (segment headers).
    pub lsn: Lsn,
    /// What was expected and what was found.
    pub reason: String,
}

impl fmt::Display for Corruption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the log is damaged in {} at byte {} (LSN {}): {}",
            self.file.display(),
            self.offset,
            self.lsn,
            self.reason
        )
    }
}

/// What can go wrong with the log.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LogError {
    /// No room for the next segment (or the next part of one). Nothing was reserved; try again when space is back.
    #[error("no space left for the log: {0}")]
    NoSpace(String),
    /// The record is larger than the limit.
    #[error("a log record of {len} bytes is larger than the limit of {max} bytes")]
    RecordTooLarge {
        /// Bytes of body asked for.
        len: u64,
        /// The largest body accepted.
        max: u64,
    },
    /// A write or fsync failed earlier, or a reserved record was never handed over. Final: nothing is acknowledged any more.
    #[error("the log has stopped: {0}")]
    Failed(String),
    /// The log was closed.
    #[error("the log is closed")]
    Closed,
    /// Durable bytes do not verify.
    #[error("{0}")]
    Corrupt(Corruption),
    /// Written by a newer program: neither damage nor readable.
    #[error("{} at byte {}: {}", .0.file.display(), .0.offset, .0.reason)]
    Newer(Corruption),
    /// The position asked for was deleted by retention.
    #[error("LSN {lsn} is no longer in the log, which starts at {oldest}")]
    Purged {
        /// The position asked for.
        lsn: Lsn,
        /// The oldest position there is.
        oldest: Lsn,
    },
    /// The position asked for lies behind the end of the log.
    #[error("LSN {lsn} is behind the end of the log at {end}")]
    BehindEnd {
        /// The position asked for.
        lsn: Lsn,
        /// The end.
        end: Lsn,
    },
    /// The caller of [`crate::Log::wait_or`] or [`crate::Log::wait_visible_or`] did not want to wait any longer. What it
    /// waited for goes on.
    #[error("the wait was given up")]
    GivenUp,
    /// A call that the caller's contract forbids.
    #[error("misuse of the log: {0}")]
    Misuse(&'static str),
    /// Another I/O error, with what was being done.
    #[error("{what}: {source}")]
    Io {
        /// The operation and the file.
        what: String,
        /// The error of the operating system.
        #[source]
        source: Arc<io::Error>,
    },
}

impl LogError {
    /// Whether it says that a part of the log is damaged or missing, which [`crate::LogOptions::accept_lost_tail`] can
    /// give up.
    pub fn is_loss(&self) -> bool {
        matches!(self, LogError::Corrupt(_) | LogError::Purged { .. })
    }

    /// An I/O error of `op` on `path`; "no space" and "quota exceeded" become [`LogError::NoSpace`].
    pub(crate) fn io(op: &str, path: &Path, e: io::Error) -> LogError {
        let what = format!("{op} {}", path.display());
        if is_no_space(&e) {
            LogError::NoSpace(format!("{what}: {e}"))
        } else {
            LogError::Io {
                what,
                source: Arc::new(e),
            }
        }
    }
}

/// Why [`crate::Log::reserve_checked`] reserved nothing.
#[derive(Debug, thiserror::Error)]
pub enum ReserveError<E> {
    /// The log can't.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The caller's check refused.
    #[error("refused: {0}")]
    Refused(E),
}

/// Whether the error says that the disk (or the quota) is full.
pub fn is_no_space(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// An error while opening: the log's own, or the caller's from `replay`.
#[derive(Debug, thiserror::Error)]
pub enum OpenError<E> {
    /// The log can't be opened.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The replay callback refused a record.
    #[error("replay: {0}")]
    Replay(E),
}
