//! The folder of flat files: names, and whether it is one.

use crate::{EngineError, Result};
use narwal_binlog::VirtualConfig;
use narwal_log::{Disk, is_no_space};
use narwal_types::errors;
use std::path::{Path, PathBuf};

pub(crate) fn index_path(dir: &Path, config: &VirtualConfig) -> PathBuf {
    dir.join(format!("{}.index", config.base_name))
}

pub(crate) fn io(path: &Path, e: &std::io::Error) -> EngineError {
    let text = format!("{}: {e}", path.display());
    if is_no_space(e) {
        EngineError::DiskFull(text)
    } else {
        EngineError::Io(text)
    }
}

/// A statement that is not offered here.
pub(crate) fn not_offered(what: &str) -> EngineError {
    EngineError::Sql(
        errors::NOT_SUPPORTED_YET.with([&format_args!("{what} with binlog_storage_engine=FILE")]),
    )
}

/// Whether a data folder can be opened with (`classic`) or without flat files. `exists`: it holds a database.
///
/// # Errors
/// It was made the other way.
pub(crate) fn check_folder(
    disk: &dyn Disk,
    dir: &Path,
    config: &VirtualConfig,
    classic: bool,
    exists: bool,
) -> Result<()> {
    let index = index_path(dir, config);
    let made_classic = disk.exists(&index).map_err(|e| io(&index, &e))?;
    match (classic, made_classic) {
        (false, true) => Err(EngineError::Io(format!(
            "{} was made with binlog_storage_engine=FILE ({} is there): its log holds transactions of which only the binary log files say whether they were committed. Start with that option",
            dir.display(),
            index.display()
        ))),
        (true, false) if exists => Err(EngineError::Io(format!(
            "{} was made without binlog_storage_engine=FILE, or {} was removed: its log is its binary log. Start without that option, or with an empty data folder",
            dir.display(),
            index.display()
        ))),
        _ => Ok(()),
    }
}

pub(crate) fn remove(disk: &dyn Disk, path: &Path) -> Result<()> {
    match disk.remove(path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(io(path, &e)),
        _ => Ok(()),
    }
}
