//! The disk of a data folder: the one way in for the server and every command.

use crate::disk::{CryptDisk, Found, look};
use crate::error::io_error;
use crate::keyring::{Change, Keyring};
use crate::{CryptError, KeyFile};
use narwal_log::Disk;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What the folder is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// By a server: a new folder gets its keys, and a newer master key wraps the keys of an old one.
    Serve,
    /// By a command that changes nothing.
    Read,
}

/// An opened folder.
#[derive(Debug)]
pub struct Folder {
    /// Through this its files are read and written.
    pub disk: Arc<dyn Disk>,
    /// Whether they are encrypted.
    pub encrypted: bool,
    /// Old and new master key id, if the keys were wrapped anew.
    pub rewrapped: Option<(u32, u32)>,
}

/// Gives the disk through which the files of the data folder `dir` on `disk` are read and written.
///
/// # Errors
/// [`CryptError`] if folder and key file don't fit; nothing was changed then.
pub fn open_folder(
    disk: Arc<dyn Disk>,
    dir: &Path,
    key_file: Option<&KeyFile>,
    access: Access,
) -> Result<Folder, CryptError> {
    let has_keys = Keyring::exists(&*disk, dir)?;
    let Some(key_file) = key_file else {
        if has_keys {
            return Err(CryptError::KeyNeeded(dir.to_owned()));
        }
        if looks_encrypted(&*disk, dir)? {
            return Err(CryptError::KeysMissing(dir.to_owned()));
        }
        return Ok(Folder {
            disk,
            encrypted: false,
            rewrapped: None,
        });
    };
    let mut rewrapped = None;
    let ring = if has_keys {
        let mut ring = Keyring::read(&*disk, dir, key_file)?;
        refuse_unfinished(&ring, dir)?;
        let old = ring.master;
        if access == Access::Serve && old < key_file.newest() {
            let _lock = lock(&*disk, dir)?;
            ring.store(&*disk, dir, key_file)?;
            rewrapped = Some((old, ring.master));
        }
        ring
    } else {
        if looks_encrypted(&*disk, dir)? {
            return Err(CryptError::KeysMissing(dir.to_owned()));
        }
        if access == Access::Read || holds_data(&*disk, dir)? {
            return Err(CryptError::NotEncrypted(dir.to_owned()));
        }
        disk.create_dir_all(dir)
            .map_err(|e| io_error("make", dir, e))?;
        let _lock = lock(&*disk, dir)?;
        let mut ring = Keyring::new(key_file.newest())?;
        ring.store(&*disk, dir, key_file)?;
        ring
    };
    Ok(Folder {
        disk: Arc::new(CryptDisk::new(disk, ring.keys)),
        encrypted: true,
        rewrapped,
    })
}

pub(crate) fn refuse_unfinished(ring: &Keyring, dir: &Path) -> Result<(), CryptError> {
    let command = match ring.changing {
        None => return Ok(()),
        Some(Change::Encrypt) => "encrypt",
        Some(Change::Decrypt) => "decrypt",
    };
    Err(CryptError::Unfinished {
        dir: dir.to_owned(),
        command,
    })
}

/// The lock that a server holds while it runs.
pub(crate) fn lock(disk: &dyn Disk, dir: &Path) -> Result<Box<dyn Send + Sync>, CryptError> {
    let path = dir.join("narwal.lock");
    disk.lock(&path).map_err(|e| match e.kind() {
        io::ErrorKind::WouldBlock => CryptError::InUse(dir.to_owned()),
        _ => io_error("lock", &path, e),
    })
}

/// The files of a folder, as the engine names them: the base, log segments, and everything in the folder of runs.
pub(crate) fn data_files(
    disk: &dyn Disk,
    dir: &Path,
) -> Result<Vec<std::path::PathBuf>, CryptError> {
    let list = |d: &Path| match disk.list(d) {
        Ok(names) => Ok(names),
        Err(e)
            if matches!(
                e.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(Vec::new())
        }
        Err(e) => Err(io_error("list", d, e)),
    };
    let mut files = Vec::new();
    for name in list(dir)? {
        if name.ends_with(".redb") {
            files.push(dir.join(name));
        }
    }
    let log = dir.join("log");
    for name in list(&log)? {
        if narwal_log::parse_segment_name(&name).is_some() {
            files.push(log.join(name));
        }
    }
    let spill = dir.join("spill");
    for name in list(&spill)? {
        files.push(spill.join(name));
    }
    files.sort();
    Ok(files)
}

fn holds_data(disk: &dyn Disk, dir: &Path) -> Result<bool, CryptError> {
    Ok(!data_files(disk, dir)?.is_empty())
}

fn looks_encrypted(disk: &dyn Disk, dir: &Path) -> Result<bool, CryptError> {
    for path in data_files(disk, dir)? {
        match look(disk, &path) {
            Ok(Found::Encrypted(_)) => return Ok(true),
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(io_error("read", &path, e)),
        }
    }
    Ok(false)
}
