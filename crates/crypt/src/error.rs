//! What can go wrong with keys and folders.

use std::path::{Path, PathBuf};

/// What can go wrong with keys and folders.
#[derive(Debug, thiserror::Error)]
pub enum CryptError {
    /// The key file is missing, unreadable or wrong.
    #[error("key file {}: {why}", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A key of the right id that is another key.
    #[error("key {id} of {} is not the key that {} was encrypted with", path.display(), dir.display())]
    WrongKey {
        /// The key file.
        path: PathBuf,
        /// Id of the master key.
        id: u32,
        /// The data folder.
        dir: PathBuf,
    },
    /// Encrypted, and no key file was given.
    #[error("{} is encrypted: name its key file with --encryption-key-file", .0.display())]
    KeyNeeded(PathBuf),
    /// Not encrypted, and a key file was given.
    #[error(
        "{} is not encrypted: start without --encryption-key-file, or encrypt it with `narwal encrypt`", .0.display()
    )]
    NotEncrypted(PathBuf),
    /// Encrypted files without their wrapped keys.
    #[error(
        "{} holds encrypted files, but its file `keys`, without which nothing can read them, is missing: bring it back from a backup",
        .0.display()
    )]
    KeysMissing(PathBuf),
    /// The wrapped keys can't be read.
    #[error("{}: {why}", path.display())]
    KeysDamaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// A rewrite was interrupted.
    #[error("{}: `narwal {command}` was interrupted here; run it again", dir.display())]
    Unfinished {
        /// The data folder.
        dir: PathBuf,
        /// The command.
        command: &'static str,
    },
    /// A server or another command has the folder.
    #[error("{} is in use by another process; stop it first", .0.display())]
    InUse(PathBuf),
    /// The operating system gave no random bytes, or the cipher failed on them.
    #[error("no random bytes for a key")]
    Random,
    /// The disk failed.
    #[error("{what} {}: {source}", path.display())]
    Io {
        /// What was done.
        what: &'static str,
        /// To which file.
        path: PathBuf,
        /// The error.
        source: std::io::Error,
    },
}

pub(crate) fn io_error(what: &'static str, path: &Path, source: std::io::Error) -> CryptError {
    CryptError::Io {
        what,
        path: path.to_owned(),
        source,
    }
}
