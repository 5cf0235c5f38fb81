//! redb's storage over the log's [`DiskFile`]: one door to the disk, also for the simulated one.

use narwal_log::DiskFile;
use std::io;
use std::sync::Arc;

/// A redb backend.
#[derive(Debug)]
pub(crate) struct Backend(pub(crate) Arc<dyn DiskFile>);

impl redb::StorageBackend for Backend {
    fn len(&self) -> Result<u64, io::Error> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        match self.0.read_at(out, offset)? {
            n if n == out.len() => Ok(()),
            n => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!(
                    "base file: {n} bytes instead of {} at offset {offset}",
                    out.len()
                ),
            )),
        }
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        self.0.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        self.0.write_at(data, offset)
    }
}
