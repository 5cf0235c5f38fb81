//! Online backup: a copy of a running database that neither writers nor checkpoints wait for, and what becomes of it.
//!
//! | file | holds |
//! |---|---|
//! | `copy.rs` | [`Backup`]: the copy, piece by piece |
//! | `dirty.rs` | which blocks of the base were written since they were copied |
//! | `manifest.rs` | [`Manifest`]: what a backup is made of, with checksums |
//! | `folder.rs` | [`FolderSink`]: pieces into a folder, whole or against an earlier backup |
//! | `verify.rs` | reading a backup and its chain back, every byte checked |
//! | `restore.rs` | a data folder out of it |
//! | `point.rs` | where a restored log is to end |
//!
//! # How the copy is consistent
//!
//! A backup is what a crash would leave at its end: the base as of one checkpoint, and the log from there on. The base is
//! copied as a virtual machine's memory is moved: all blocks first, while checkpoints go on writing and each write marks its
//! blocks; then the marked ones again, in rounds; the last, small round is read under the checkpoint's lock, where
//! nobody writes the base. Log segments only ever grow, so they need no such care, only a hold that keeps retention away.
//! Run files of large transactions are left out: recovery builds what was in them from the log.

mod copy;
mod dirty;
mod throttle;

pub use copy::{Backup, BackupEnd, BackupOptions, BackupProgress, Piece};
pub use dirty::BLOCK;
pub use throttle::Throttle;

pub(crate) use dirty::Dirty;
