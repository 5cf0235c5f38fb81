//! Online backup: a copy of a running database that neither writers nor checkpoints wait for, and what becomes of it.
//!
//! | file | holds |
//! |---|---|
//! | `copy.rs` | [`Backup`]: the copy, piece by piece |
//! | `piece.rs` | what it gives |
//! | `manifest.rs` | [`Manifest`]: what a backup is made of, with checksums |
//! | `folder.rs` | [`FolderSink`]: pieces into a folder, whole or against an earlier backup |
//! | `throttle.rs` | not more than so many bytes a second |
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

pub(crate) mod copy;
mod disk;
mod folder;
mod manifest;
pub(crate) mod piece;
mod point;
pub(crate) mod restore;
mod throttle;
mod verify;

pub use crate::store::dirty::BLOCK;
pub use copy::Backup;
pub use folder::FolderSink;
pub use manifest::{FileEntry, Kept, LARGE_BLOCK, MANIFEST, Manifest, Parent};
pub use piece::{BASE, BackupEnd, BackupOptions, BackupProgress, Piece};
pub use point::{Cut, Point, find_cut};
pub use restore::{UNFINISHED, begin_folder, end_folder, restore_files};
pub use throttle::Throttle;
pub use verify::{Chain, Damage};
