//! A disk in memory, for a file or two that pass through encryption.

use narwal_log::{Disk, DiskFile};
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files by their paths.
#[derive(Debug, Default)]
pub(crate) struct MemDisk(Mutex<BTreeMap<PathBuf, Arc<MemFile>>>);

#[derive(Debug, Default)]
struct MemFile(Mutex<Vec<u8>>);

impl MemDisk {
    /// Puts a file there.
    pub fn put(&self, path: &Path, bytes: Vec<u8>) {
        let file = Arc::new(MemFile(Mutex::new(bytes)));
        self.0.lock().insert(path.to_owned(), file);
    }

    /// Takes a file's bytes away.
    pub fn take(&self, path: &Path) -> Vec<u8> {
        let file = self.0.lock().remove(path);
        file.map(|f| std::mem::take(&mut *f.0.lock()))
            .unwrap_or_default()
    }

    fn find(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        match self.0.lock().get(path) {
            Some(f) => Ok(f.clone()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl DiskFile for MemFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let bytes = self.0.lock();
        let rest = bytes.get(offset as usize..).unwrap_or_default();
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }

    fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        let mut bytes = self.0.lock();
        let (from, to) = (offset as usize, offset as usize + buf.len());
        if bytes.len() < to {
            bytes.resize(to, 0);
        }
        bytes[from..to].copy_from_slice(buf);
        Ok(())
    }

    fn write_vectored_at(&self, bufs: &[&[u8]], mut offset: u64) -> io::Result<()> {
        for b in bufs {
            self.write_at(b, offset)?;
            offset += b.len() as u64;
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.lock().resize(len as usize, 0);
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().len() as u64)
    }

    fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let mut bytes = self.0.lock();
        let to = (offset + len) as usize;
        if bytes.len() < to {
            bytes.resize(to, 0);
        }
        Ok(())
    }
}

impl Disk for MemDisk {
    fn create_dir_all(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.find(path)
    }

    fn open_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.find(path)
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.put(path, Vec::new());
        self.find(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.0.lock().contains_key(path))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let bytes = self.take(from);
        self.put(to, bytes);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.take(path);
        Ok(())
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let files = self.0.lock();
        let here = files.keys().filter(|p| p.parent() == Some(dir));
        Ok(here
            .filter_map(|p| Some(p.file_name()?.to_str()?.to_owned()))
            .collect())
    }

    fn sync_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    fn free_space(&self, _dir: &Path) -> io::Result<u64> {
        Ok(u64::MAX)
    }

    fn lock(&self, _path: &Path) -> io::Result<Box<dyn Send + Sync>> {
        Ok(Box::new(()))
    }
}
