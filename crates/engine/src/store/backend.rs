//! redb's storage over the log's [`narwal_log::DiskFile`]: one door to the disk, also for the simulated one.

use crate::store::file::BaseFile;
use crate::store::room::Room;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes written between two syncs. A checkpoint after a huge transaction writes gigabytes: left to the file system,
/// they would all go to the disk in one go, and the log's syncs would wait behind them: on ext4 even those that only wait
/// for the journal.
const SYNC_BYTES: u64 = 2 << 20;

/// A redb backend.
#[derive(Debug)]
pub(crate) struct Backend {
    file: Arc<BaseFile>,
    room: Arc<Room>,
    unsynced: AtomicU64,
}

impl Backend {
    /// Over a file; `room` says what a full disk does.
    pub(crate) fn new(file: Arc<BaseFile>, room: Arc<Room>) -> Self {
        Backend {
            file,
            room,
            unsynced: AtomicU64::new(0),
        }
    }
}

impl redb::StorageBackend for Backend {
    fn len(&self) -> Result<u64, io::Error> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.room.check()?;
        self.file.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        self.room.check()?;
        self.unsynced.store(0, Ordering::Relaxed);
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.room.check()?;
        let n = data.len() as u64;
        self.room.written.fetch_add(n, Ordering::Relaxed);
        self.file.write(offset, data)?;
        if self.unsynced.fetch_add(n, Ordering::Relaxed) + n >= SYNC_BYTES {
            self.unsynced.store(0, Ordering::Relaxed);
            self.file.sync_written()?;
        }
        Ok(())
    }
}
