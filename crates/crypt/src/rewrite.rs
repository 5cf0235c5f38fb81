//! Changing keys of a folder that no server uses, and encrypting or decrypting it as a whole.
//!
//! A file is copied to `<name>.rekey`, synced and renamed over the old one. Until all are done the keys file holds both
//! keys, or says that files of both kinds are there; so a crash anywhere leaves a folder that the same command finishes.

use crate::disk::{CryptDisk, Found, look};
use crate::error::io_error;
use crate::folder::{data_files, lock, refuse_unfinished};
use crate::keyring::{Change, Keyring};
use crate::{CryptError, KeyFile};
use narwal_log::{Disk, DiskFile};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Called now and then: bytes done, bytes in all.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// What a rotation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    /// Master key that wrapped the data keys before.
    pub old_master: u32,
    /// Master key that wraps them now.
    pub new_master: u32,
    /// The data key of all files, if they were encrypted anew.
    pub new_data_key: Option<u32>,
}

const PIECE: usize = 1 << 20;
const SUFFIX: &str = ".rekey";

/// Wraps the data keys with the newest key of the key file; with `new_data_key` also makes a new data key and encrypts
/// every file anew, which needs free space for the largest file. Run again after a crash, it goes on where it was.
///
/// # Errors
/// [`CryptError::InUse`] if a server runs; the others as they say.
pub fn rotate_key(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    key_file: &KeyFile,
    new_data_key: bool,
    progress: Progress<'_>,
) -> Result<Rotation, CryptError> {
    let _lock = lock(&**disk, dir)?;
    if !Keyring::exists(&**disk, dir)? {
        return Err(CryptError::NotEncrypted(dir.to_owned()));
    }
    let mut ring = Keyring::read(&**disk, dir, key_file)?;
    refuse_unfinished(&ring, dir)?;
    let old_master = ring.master;
    let pending = ring.keys.ids().count() > 1;
    if new_data_key && !pending {
        ring.add()?;
    }
    ring.store(&**disk, dir, key_file)?;
    let new_master = ring.master;
    let mut made = None;
    if new_data_key {
        let current = ring.keys.current;
        ring = rewrite(disk, dir, ring, Some(current), progress)?;
        ring.keep_current();
        ring.store(&**disk, dir, key_file)?;
        made = Some(current);
    }
    Ok(Rotation {
        old_master,
        new_master,
        new_data_key: made,
    })
}

/// Encrypts a plain folder, with new keys.
///
/// # Errors
/// As [`rotate_key`].
pub fn encrypt_folder(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    key_file: &KeyFile,
    progress: Progress<'_>,
) -> Result<(), CryptError> {
    let _lock = lock(&**disk, dir)?;
    let mut ring = if Keyring::exists(&**disk, dir)? {
        let ring = Keyring::read(&**disk, dir, key_file)?;
        if ring.changing != Some(Change::Encrypt) {
            refuse_unfinished(&ring, dir)?;
            return Ok(());
        }
        ring
    } else {
        let mut ring = Keyring::new(key_file.newest())?;
        ring.changing = Some(Change::Encrypt);
        ring.store(&**disk, dir, key_file)?;
        ring
    };
    let current = ring.keys.current;
    ring = rewrite(disk, dir, ring, Some(current), progress)?;
    ring.changing = None;
    ring.store(&**disk, dir, key_file)
}

/// Makes an encrypted folder a plain one.
///
/// # Errors
/// As [`rotate_key`].
pub fn decrypt_folder(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    key_file: &KeyFile,
    progress: Progress<'_>,
) -> Result<(), CryptError> {
    let _lock = lock(&**disk, dir)?;
    if !Keyring::exists(&**disk, dir)? {
        return Err(CryptError::NotEncrypted(dir.to_owned()));
    }
    let mut ring = Keyring::read(&**disk, dir, key_file)?;
    if ring.changing != Some(Change::Decrypt) {
        refuse_unfinished(&ring, dir)?;
        ring.changing = Some(Change::Decrypt);
        ring.store(&**disk, dir, key_file)?;
    }
    rewrite(disk, dir, ring, None, progress)?;
    Keyring::remove(&**disk, dir)
}

/// Makes every file plain (`None`) or encrypted with the data key of this id.
fn rewrite(
    disk: &Arc<dyn Disk>,
    dir: &Path,
    ring: Keyring,
    target: Option<u32>,
    progress: Progress<'_>,
) -> Result<Keyring, CryptError> {
    let Keyring {
        keys,
        master,
        changing,
    } = ring;
    let crypt = CryptDisk::new(disk.clone(), keys);
    let mut work = Vec::new();
    let mut all = 0;
    for path in data_files(&**disk, dir)? {
        let failed = |e| io_error("read", &path, e);
        if path.as_os_str().to_string_lossy().ends_with(SUFFIX) {
            disk.remove(&path).map_err(failed)?;
            continue;
        }
        let source: Arc<dyn DiskFile> = match (look(&**disk, &path).map_err(failed)?, target) {
            (Found::Encrypted(id), Some(to)) if id == to => continue,
            (Found::Plain(_), None) => continue,
            (Found::Plain(f), Some(_)) if changing == Some(Change::Encrypt) => f,
            _ => crypt.open_read(&path).map_err(failed)?,
        };
        let len = source.len().map_err(failed)?;
        all += len;
        work.push((path, source, len));
    }
    let mut done = 0;
    for (path, source, len) in work {
        let tmp = temporary(&path);
        let failed = |e| io_error("rewrite", &path, e);
        let copy = match target {
            Some(_) => crypt.create(&tmp),
            None => disk.create(&tmp),
        }
        .map_err(failed)?;
        if len > 0 {
            copy.allocate(0, len).map_err(failed)?;
        }
        let mut buf = vec![0; PIECE];
        let mut at = 0;
        while at < len {
            let n = buf.len().min((len - at) as usize);
            let n = source.read_at(&mut buf[..n], at).map_err(failed)?;
            if n == 0 {
                return Err(failed(std::io::ErrorKind::UnexpectedEof.into()));
            }
            copy.write_at(&buf[..n], at).map_err(failed)?;
            at += n as u64;
            done += n as u64;
            progress(done, all);
        }
        copy.sync_data().map_err(failed)?;
        disk.rename(&tmp, &path).map_err(failed)?;
        let parent = path.parent().unwrap_or(dir);
        disk.sync_dir(parent).map_err(failed)?;
    }
    Ok(Keyring {
        keys: crypt.into_keys(),
        master,
        changing,
    })
}

fn temporary(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(SUFFIX);
    PathBuf::from(name)
}
