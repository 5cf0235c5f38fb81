//! What can go wrong with an archive.

/// What can go wrong with an archive.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The URL does not name an archive.
    #[error("{0}")]
    Url(String),
    /// The store did not do what it was asked.
    #[error("{what} {object}: {why}")]
    Store {
        /// What was done.
        what: &'static str,
        /// To which object.
        object: String,
        /// What the store said.
        why: String,
    },
    /// There is no such object.
    #[error("{0} is not there")]
    Missing(String),
    /// An object is not what was once put there.
    #[error("{object}: {why}")]
    Damaged {
        /// The object.
        object: String,
        /// What is wrong.
        why: String,
    },
    /// A part of the log between two others is not in the archive.
    #[error("the archive has no log from LSN {from} to {to}{behind}")]
    Gap {
        /// Names the marker that ends before it, if there is one: it may be that one which is damaged.
        behind: String,
        /// First LSN that is not there.
        from: u64,
        /// First LSN that is there again.
        to: u64,
    },
    /// There is no history, or several and none was named.
    #[error("{0}")]
    Which(String),
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] narwal_log::LogError),
    /// The database could not tell.
    #[error(transparent)]
    Engine(#[from] narwal_engine::EngineError),
    /// Keys and folder don't fit.
    #[error(transparent)]
    Crypt(#[from] narwal_crypt::CryptError),
    /// A file of this machine.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was done.
        what: &'static str,
        /// To which file.
        path: std::path::PathBuf,
        /// The error.
        source: std::io::Error,
    },
}

/// Result of this crate's calls.
pub type Result<T> = std::result::Result<T, ArchiveError>;
