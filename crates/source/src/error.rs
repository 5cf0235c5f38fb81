//! Why a dump ends badly.

use narwal_binlog::BinlogError;
use narwal_engine::EngineError;
use narwal_types::SqlError;
use narwal_types::errors;
use std::io;

/// Why a dump ends before its time.
#[derive(Debug)]
pub enum DumpError {
    /// The connection is lost, so the client cannot be told.
    Lost(io::Error),
    /// An error for the client. 1236 makes a replica give up until somebody looks; others it takes for reasons to try
    /// again.
    Refused(SqlError),
}

impl DumpError {
    /// Error 1236.
    pub(crate) fn fatal(text: impl Into<Box<str>>) -> Self {
        DumpError::Refused(errors::MASTER_FATAL_ERROR_READING_BINLOG.text(text))
    }
}

impl From<io::Error> for DumpError {
    fn from(e: io::Error) -> Self {
        DumpError::Lost(e)
    }
}

impl From<BinlogError> for DumpError {
    fn from(e: BinlogError) -> Self {
        DumpError::fatal(format!("The binary log can't be sent to this reader: {e}"))
    }
}

impl From<EngineError> for DumpError {
    fn from(e: EngineError) -> Self {
        match e {
            // A log that can't be read is no reason to try the same again every minute.
            EngineError::Corrupt(_) => DumpError::fatal(format!(
                "The binary log can't be read: {e}. The server's log says more, and so does narwal check"
            )),
            e => DumpError::Refused(e.to_sql()),
        }
    }
}

impl std::fmt::Display for DumpError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            DumpError::Lost(e) => write!(f, "connection lost: {e}"),
            DumpError::Refused(e) => write!(f, "error {}: {}", e.code, e.message),
        }
    }
}
