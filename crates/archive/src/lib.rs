//! Continuous archive of the log: every segment goes to a folder or an object store as soon as it is full, the one
//! being written from time to time, and comes back from there for a restore to any moment. See `docs/archive.md`.
//!
//! - [`Archiver`]: the thread of a server that ships.
//! - [`Archive`]: an archive as a reader has it: which histories and segments there are, fetching and verifying them.
//!
//! All calls block. The object store's client is asynchronous; it runs on the calling thread and nowhere else.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod archive;
mod entry;
mod error;
mod memdisk;
mod seal;
mod ship;
mod store;
mod target;
mod thread;

pub use archive::{Archive, Fetched, Problem};
pub use entry::{Entry, History, HistoryName, Listed};
pub use error::{ArchiveError, Result};
pub use seal::FolderKeys;
pub use target::Target;
pub use thread::{Archiver, Status};
