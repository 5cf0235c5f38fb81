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
mod error;
mod file;
mod folder;
mod header;
mod keyfile;
mod keyring;
mod rewrite;
mod seal;
mod xts;

pub use error::CryptError;
pub use folder::{Access, Folder, open_folder};
pub use header::{HEAD_LEN, MAGIC};
pub use keyfile::KeyFile;
pub use keyring::KEYS_NAME;
pub use rewrite::{Progress, Rotation, decrypt_folder, encrypt_folder, rotate_key};
pub use seal::{SEAL_MAGIC, SealReader, SealWriter};
pub use xts::SECTOR;
