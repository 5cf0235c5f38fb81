//! What can end a stream.

use narwal_engine::EngineError;
use narwal_types::errors::codes;

/// The result of stream calls.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a stream can't go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for makes no sense.
    #[error("{0}")]
    Usage(String),
    /// The log does not have what follows the place, or never had it: only a new snapshot helps.
    #[error("{0}")]
    Gone(String),
    /// The log's bytes are damaged.
    #[error("the log is damaged: {0}")]
    Damaged(String),
    /// The log has something that can't be told as changes of rows.
    #[error("{0}")]
    Unsupported(String),
    /// The connection to the server broke, or could not be made. Trying again may help.
    #[error("{0}")]
    Lost(String),
    /// The server, or the database in this process, refuses.
    #[error("{0}")]
    Refused(String),
    /// It was asked to stop in the midst of a snapshot.
    #[error("stopped inside the snapshot, which begins anew next time")]
    Stopped,
    /// The sink can't take more.
    #[error("can't write: {0}")]
    Sink(#[from] std::io::Error),
}

impl Error {
    /// Damage in the events of a group.
    pub(crate) fn damaged(gtid: impl std::fmt::Display, e: impl std::fmt::Display) -> Self {
        Error::Damaged(format!("transaction {gtid}: {e}"))
    }
}

impl From<EngineError> for Error {
    fn from(e: EngineError) -> Self {
        match e {
            EngineError::Corrupt(text) => Error::Damaged(text),
            EngineError::Sql(e)
                if matches!(
                    e.code,
                    codes::MASTER_FATAL_ERROR_READING_BINLOG | codes::UNKNOWN_TARGET_BINLOG
                ) =>
            {
                Error::Gone(e.message.into())
            }
            EngineError::InsideGroup { .. } | EngineError::BehindFileEnd { .. } => {
                Error::Usage(e.to_string())
            }
            e => Error::Refused(e.to_string()),
        }
    }
}
