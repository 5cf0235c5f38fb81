//! Segments of an encrypted folder: in the archive they are encrypted files, too, under the folder's own data key.

use crate::memdisk::MemDisk;
use crate::{ArchiveError, Result};
use narwal_crypt::{Access, KEYS_NAME, KeyFile, open_folder};
use narwal_log::Disk;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An encrypted data folder's keys.
#[derive(Debug)]
pub struct FolderKeys {
    /// The folder, which has its wrapped keys in the file `keys`.
    pub datadir: PathBuf,
    /// The master keys.
    pub key_file: KeyFile,
}

/// An encrypted object and the keys that it needs.
pub(crate) struct Sealed {
    pub bytes: Vec<u8>,
    /// Content of the folder's `keys` file.
    pub keys: Vec<u8>,
}

/// Lower-case hex.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// SHA-256 in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Name of the object for the content of a `keys` file.
pub(crate) fn keys_object(keys: &[u8]) -> String {
    format!("keys.{}", &sha256(keys)[..16])
}

/// A folder in memory with these wrapped keys: its disk as it is, and as one sees through the encryption.
fn folder(keys: Vec<u8>, key_file: &KeyFile) -> Result<(Arc<MemDisk>, Arc<dyn Disk>)> {
    let memory = Arc::new(MemDisk::default());
    let dir = Path::new("/archive");
    memory.put(&dir.join(KEYS_NAME), keys);
    let opened = open_folder(memory.clone(), dir, Some(key_file), Access::Read)?;
    Ok((memory, opened.disk))
}

fn failed(source: std::io::Error) -> ArchiveError {
    ArchiveError::Io {
        what: "encrypting",
        path: FILE.into(),
        source,
    }
}

const FILE: &str = "/archive/segment";

impl FolderKeys {
    /// Encrypts a file of the folder anew.
    pub(crate) fn seal(&self, plain: &[u8]) -> Result<Sealed> {
        let path = self.datadir.join(KEYS_NAME);
        let keys = std::fs::read(&path).map_err(|source| ArchiveError::Io {
            what: "reading",
            path,
            source,
        })?;
        let (memory, disk) = folder(keys.clone(), &self.key_file)?;
        let file = disk.create(Path::new(FILE)).map_err(failed)?;
        file.write_at(plain, 0).map_err(failed)?;
        file.sync_data().map_err(failed)?;
        drop(file);
        Ok(Sealed {
            bytes: memory.take(Path::new(FILE)),
            keys,
        })
    }
}

/// Decrypts an object. `keys`: what the folder's `keys` file was.
pub(crate) fn unseal(bytes: Vec<u8>, keys: Vec<u8>, key_file: &KeyFile) -> Result<Vec<u8>> {
    let (memory, disk) = folder(keys, key_file)?;
    memory.put(Path::new(FILE), bytes);
    let file = disk.open_read(Path::new(FILE)).map_err(failed)?;
    let mut plain = vec![0; file.len().map_err(failed)? as usize];
    let n = file.read_at(&mut plain, 0).map_err(failed)?;
    plain.truncate(n);
    Ok(plain)
}
