//! Encryption at rest: every file of a data folder (log segments, base, run files) encrypted below everything that reads
//! and writes it, as a [`narwal_log::Disk`] over another one. See `docs/encryption.md`.
//!
//! - [`KeyFile`]: the master keys, in the form of MariaDB's `file_key_management`.
//! - [`open_folder`]: the disk of a data folder, plain or encrypted, with clear errors when key and folder don't fit.
//! - [`SealWriter`], [`SealReader`]: a stream of bytes under a master key.
//! - [`rotate_key`], [`encrypt_folder`], [`decrypt_folder`]: changing keys of a folder that no server uses.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod disk;
mod edges;
mod file;
mod folder;
mod header;
mod keyfile;
mod keyring;
mod rewrite;
mod seal;
mod xts;

pub use folder::{Access, Folder, open_folder};
pub use header::{HEAD_LEN, MAGIC};
pub use keyfile::KeyFile;
pub use keyring::KEYS_NAME;
pub use rewrite::{Progress, Rotation, decrypt_folder, encrypt_folder, rotate_key};
pub use seal::{SEAL_MAGIC, SealReader, SealWriter};
pub use xts::SECTOR;

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
