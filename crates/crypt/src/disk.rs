//! The disk that encrypts.

use crate::file::{CryptFile, Shared};
use crate::header::{Head, Header, Salt, file_cipher};
use crate::keyring::{DataKeys, random};
use crate::xts::SECTOR;
use narwal_log::{Disk, DiskFile};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Weak};

/// Encrypts every file of another disk with a folder's data keys.
#[derive(Debug)]
pub(crate) struct CryptDisk {
    inner: Arc<dyn Disk>,
    keys: DataKeys,
    /// What the handles of one open file share, by the file's salt: names change.
    open: Mutex<Open>,
}

type Open = HashMap<Salt, Weak<Shared>>;

/// What a file is, and its handle.
pub(crate) enum Found {
    /// No content yet.
    Empty,
    /// Not encrypted.
    Plain(Arc<dyn DiskFile>),
    /// Encrypted with this data key.
    Encrypted(u32),
}

/// Looks what the file is.
pub(crate) fn look(disk: &dyn Disk, path: &Path) -> io::Result<Found> {
    let f = disk.open_read(path)?;
    let mut sector = [0; SECTOR];
    let n = f.read_at(&mut sector, 0)?;
    Ok(match Header::look(&sector[..n], f.len()?)? {
        Head::Missing => Found::Empty,
        Head::Plain => Found::Plain(f),
        Head::Encrypted(h) => Found::Encrypted(h.key_id),
    })
}

fn named(path: &Path, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("{}: {e}", path.display()))
}

fn remember(open: &mut Open, salt: Salt, shared: &Arc<Shared>) {
    if open.len() % 64 == 63 {
        open.retain(|_, s| s.strong_count() > 0);
    }
    open.insert(salt, Arc::downgrade(shared));
}

impl CryptDisk {
    pub fn new(inner: Arc<dyn Disk>, keys: DataKeys) -> CryptDisk {
        CryptDisk {
            inner,
            keys,
            open: Mutex::default(),
        }
    }

    /// Gives the keys back.
    pub fn into_keys(self) -> DataKeys {
        self.keys
    }

    /// Writes the page in front of an empty file, durably: what comes later never stands without it.
    fn begin(&self, file: &dyn DiskFile) -> io::Result<Arc<Shared>> {
        let key = self
            .keys
            .get(self.keys.current)
            .ok_or_else(|| io::Error::other("no current data key"))?;
        let salt: Salt = random().map_err(io::Error::other)?;
        let header = Header {
            key_id: self.keys.current,
            salt,
        };
        file.write_at(&header.encode(key), 0)?;
        file.sync_data()?;
        let shared = Arc::new(Shared::new(file_cipher(key, &salt)));
        remember(&mut self.open.lock(), salt, &shared);
        Ok(shared)
    }

    fn shared(&self, file: &dyn DiskFile, writable: bool) -> io::Result<Option<Arc<Shared>>> {
        let mut sector = [0; SECTOR];
        let n = file.read_at(&mut sector, 0)?;
        match Header::look(&sector[..n], file.len()?)? {
            Head::Missing if writable => self.begin(file).map(Some),
            Head::Missing => Ok(None),
            Head::Plain => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "not encrypted, in a data folder that is; or its first page is damaged",
            )),
            Head::Encrypted(h) => {
                let xts = h.cipher(&sector, &self.keys)?;
                // Found or made under one lock: two of them for one file would each let a writer into a sector.
                let mut open = self.open.lock();
                if let Some(s) = open.get(&h.salt).and_then(Weak::upgrade) {
                    return Ok(Some(s));
                }
                let shared = Arc::new(Shared::new(xts));
                remember(&mut open, h.salt, &shared);
                Ok(Some(shared))
            }
        }
    }
}

impl Disk for CryptDisk {
    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.inner.create_dir_all(dir)
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let f = self.inner.open(path)?;
        let shared = self.shared(&*f, true).map_err(|e| named(path, &e))?;
        Ok(Arc::new(CryptFile::new(f, shared)))
    }

    fn open_read(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let f = self.inner.open_read(path)?;
        let shared = self.shared(&*f, false).map_err(|e| named(path, &e))?;
        Ok(Arc::new(CryptFile::new(f, shared)))
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let existed = self.inner.exists(path)?;
        let f = self.inner.create(path)?;
        if existed {
            // Or a crash could leave the old content behind the new first page.
            f.sync_data()?;
        }
        let shared = self.begin(&*f)?;
        Ok(Arc::new(CryptFile::new(f, Some(shared))))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.inner.exists(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.inner.remove(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        self.inner.list(dir)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        self.inner.sync_dir(dir)
    }

    fn free_space(&self, dir: &Path) -> io::Result<u64> {
        self.inner.free_space(dir)
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Send + Sync>> {
        self.inner.lock(path)
    }
}
