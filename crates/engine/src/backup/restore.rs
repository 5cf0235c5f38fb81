//! A data folder out of a backup.

use crate::backup::disk::make_empty;
use crate::backup::piece::BASE;
use crate::backup::verify::Chain;
use crate::error::io_error;
use crate::{EngineError, Result};
use narwal_log::Disk;
use std::path::Path;
use std::sync::Arc;

/// Stands in a data folder while it is being filled. A database with it is not opened.
pub const UNFINISHED: &str = "restore.unfinished";

/// Refuses a folder that holds anything, and marks it as unfinished.
///
/// # Errors
/// The folder is not empty; errors of the disk.
pub fn begin_folder(disk: &dyn Disk, dir: &Path) -> Result<()> {
    make_empty(disk, dir, "name a folder that is, or is not there yet")?;
    let path = dir.join(UNFINISHED);
    disk.create(&path)
        .and_then(|f| {
            f.write_at(b"This folder is being restored, or that was interrupted. Remove it and begin anew.\n", 0)?;
            f.sync_data()?;
            disk.sync_dir(dir)
        })
        .map_err(|e| io_error("making", &path, &e))?;
    let log = dir.join("log");
    disk.create_dir_all(&log)
        .map_err(|e| io_error("making", &log, &e))
}

/// The folder is whole: it may be opened.
///
/// # Errors
/// Errors of the disk.
pub fn end_folder(disk: &dyn Disk, dir: &Path) -> Result<()> {
    let path = dir.join(UNFINISHED);
    disk.sync_dir(&dir.join("log"))
        .and_then(|()| disk.sync_dir(dir))
        .and_then(|()| disk.remove(&path))
        .and_then(|()| disk.sync_dir(dir))
        .map_err(|e| io_error("finishing", dir, &e))
}

/// Refuses a folder that is not whole.
pub(crate) fn refuse_unfinished(disk: &dyn Disk, dir: &Path) -> Result<()> {
    let path = dir.join(UNFINISHED);
    match disk.exists(&path) {
        Ok(false) => Ok(()),
        Ok(true) => Err(EngineError::Io(format!(
            "{} is there: a restore or a copy into {} was not finished; remove the folder and begin anew",
            path.display(),
            dir.display()
        ))),
        Err(e) => Err(io_error("looking for", &path, &e)),
    }
}

/// Copies the backup's files into `dir` on `to`, which [`begin_folder`] has made; every block is checked on the way.
/// `told` hears of bytes written and says whether to go on. The log still ends where the last byte was copied: see
/// [`narwal_log::cut_behind`].
///
/// # Errors
/// [`EngineError::Corrupt`] names the file and place of what is not as it was backed up; errors of the disks.
pub fn restore_files(
    chain: &Chain,
    to: &Arc<dyn Disk>,
    dir: &Path,
    mut told: impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    let single = chain.folders().count() == 1;
    for f in &chain.manifest().files {
        let path = dir.join(&f.name);
        if f.name == BASE
            && single
            && let Some(from) = chain.folders().next()
            && to
                .reflink(&from.join(BASE), &path)
                .map_err(|e| io_error("copying to", &path, &e))?
        {
            // Its blocks are those that were checked before.
            told(f.size)?;
            continue;
        }
        let file = to
            .create(&path)
            .map_err(|e| io_error("making", &path, &e))?;
        let mut unsynced = 0;
        chain.read_file(&f.name, |at, bytes| {
            if bytes.iter().any(|b| *b != 0) {
                file.write_at(bytes, at)
                    .map_err(|e| io_error("writing", &path, &e))?;
                unsynced += bytes.len();
            }
            if unsynced >= 64 << 20 {
                unsynced = 0;
                file.sync_data()
                    .map_err(|e| io_error("syncing", &path, &e))?;
            }
            told(bytes.len() as u64)
        })?;
        file.set_len(f.size)
            .and_then(|()| file.sync_data())
            .map_err(|e| io_error("writing", &path, &e))?;
    }
    Ok(())
}
