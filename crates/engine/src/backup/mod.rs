//! Online backup: a copy of a running database that neither writers nor checkpoints wait for, and what becomes of it.
//!
//! | file | holds |
//! |---|---|
//! | `copy.rs` | [`Backup`]: the copy, piece by piece |
//! | `dirty.rs` | which blocks of the base were written since they were copied |
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

mod copy;
mod dirty;
mod folder;
mod manifest;
mod point;
mod restore;
mod throttle;
mod verify;

pub use copy::{BASE, Backup, BackupEnd, BackupOptions, BackupProgress, Piece};
pub use dirty::BLOCK;
pub use folder::FolderSink;
pub use manifest::{FileEntry, Kept, LARGE_BLOCK, MANIFEST, Manifest, Parent};
pub use point::{Cut, Point, find_cut};
pub use restore::{UNFINISHED, begin_folder, end_folder, restore_files};
pub use throttle::Throttle;
pub use verify::{Chain, Damage};

pub(crate) use dirty::Dirty;
pub(crate) use restore::refuse_unfinished;

/// Makes `dir` if it is not there; what is in it is an error that ends with `hint`.
fn make_empty(disk: &dyn narwal_log::Disk, dir: &std::path::Path, hint: &str) -> crate::Result<()> {
    disk.create_dir_all(dir)
        .map_err(|e| io_error("making", dir, &e))?;
    let names = disk
        .list(dir)
        .map_err(|e| io_error("looking into", dir, &e))?;
    // What a backup that failed leaves.
    let left = |name: &String| {
        name == "log"
            && disk
                .list(&dir.join(name))
                .is_ok_and(|inside| inside.is_empty())
    };
    match names.iter().find(|name| !left(name)) {
        None => Ok(()),
        Some(name) => Err(crate::EngineError::Io(format!(
            "{} is not empty ({name} is there): {hint}",
            dir.display()
        ))),
    }
}

/// An error of the disk, named by what was being done to which file.
pub(crate) fn io_error(
    what: &str,
    path: &std::path::Path,
    e: &std::io::Error,
) -> crate::EngineError {
    let text = format!("{what} {}: {e}", path.display());
    match narwal_log::is_no_space(e) {
        true => crate::EngineError::DiskFull(text),
        false => crate::EngineError::Io(text),
    }
}
