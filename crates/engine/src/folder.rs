//! The data folder: where it is, the disk that it is on, and the lock that makes it this process's.

use crate::{EngineError, Result};
use narwal_log::Disk;
use parking_lot::Mutex;
use std::path::PathBuf;
use std::sync::Arc;

/// A data folder that is this process's until it is released.
pub(crate) struct Folder {
    pub(crate) dir: PathBuf,
    pub(crate) disk: Arc<dyn Disk>,
    lock: Mutex<Option<Box<dyn Send + Sync>>>,
}

impl Folder {
    /// A folder whose lock file was locked.
    pub(crate) fn new(dir: PathBuf, disk: Arc<dyn Disk>, lock: Box<dyn Send + Sync>) -> Self {
        Folder {
            dir,
            disk,
            lock: Mutex::new(Some(lock)),
        }
    }

    /// Whether it is still this process's.
    pub(crate) fn is_open(&self) -> bool {
        self.lock.lock().is_some()
    }

    /// An error unless it is.
    pub(crate) fn check_open(&self) -> Result<()> {
        match self.is_open() {
            true => Ok(()),
            false => Err(EngineError::LogFailed("the database is closed".into())),
        }
    }

    /// From here on nothing writes to it: another process may have it.
    pub(crate) fn release(&self) {
        self.lock.lock().take();
    }
}
