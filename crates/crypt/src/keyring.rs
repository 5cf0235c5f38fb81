//! A data folder's own keys, kept in its file `keys`, wrapped by a master key of the key file.
//!
//! The file is JSON: `{"version":1,"current":N,"keys":[{"id":N,"master":M,"nonce":hex,"wrapped":hex}, ...]}`. `wrapped` is
//! the data key (32 random bytes) under AES-256-GCM with a key that is HMAC-SHA-256 of the master key over
//! `narwal key wrapping 1`; the additional data are `narwal data key 1`, the data key's id and the master key's id (u32,
//! little-endian). It is replaced by a rename, so it is there as it was or as it is to be.

use crate::CryptError;
use crate::error::io_error;
use crate::keyfile::{KeyFile, from_hex, to_hex};
use narwal_log::Disk;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::BTreeMap;
use std::path::Path;
use zeroize::Zeroizing;

/// Name of the file in the data folder that holds the wrapped keys.
pub const KEYS_NAME: &str = "keys";
const TMP_NAME: &str = "keys.tmp";
/// More than anyone's file has, so that a wrong file is not read into memory.
const MAX_LEN: u64 = 1 << 20;

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Stored {
    version: u32,
    current: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changing: Option<Change>,
    keys: Vec<StoredKey>,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct StoredKey {
    id: u32,
    master: u32,
    nonce: String,
    wrapped: String,
}

/// A rewrite of the folder that was begun and has not ended; no server may run until it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Change {
    /// Plain files become encrypted ones.
    Encrypt,
    /// The other way round.
    Decrypt,
}

/// The data keys in memory.
pub(crate) struct DataKeys {
    pub current: u32,
    keys: BTreeMap<u32, Zeroizing<[u8; 32]>>,
}

impl std::fmt::Debug for DataKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "DataKeys({:?})", self.keys.keys())
    }
}

impl DataKeys {
    pub fn get(&self, id: u32) -> Option<&[u8; 32]> {
        self.keys.get(&id).map(|k| &**k)
    }

    pub fn ids(&self) -> impl Iterator<Item = u32> {
        self.keys.keys().copied()
    }
}

/// A folder's keys and what they are wrapped with.
#[derive(Debug)]
pub(crate) struct Keyring {
    pub keys: DataKeys,
    /// The oldest master key that wraps one of them.
    pub master: u32,
    pub changing: Option<Change>,
}

fn wrapping_key(master: &[u8]) -> Result<LessSafeKey, CryptError> {
    let kek = hmac::sign(
        &hmac::Key::new(hmac::HMAC_SHA256, master),
        b"narwal key wrapping 1",
    );
    UnboundKey::new(&AES_256_GCM, kek.as_ref())
        .map(LessSafeKey::new)
        .map_err(|_| CryptError::Random)
}

fn aad(id: u32, master: u32) -> Aad<Vec<u8>> {
    let mut a = b"narwal data key 1".to_vec();
    a.extend_from_slice(&id.to_le_bytes());
    a.extend_from_slice(&master.to_le_bytes());
    Aad::from(a)
}

/// Random bytes of the operating system.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], CryptError> {
    let mut out = [0; N];
    SystemRandom::new()
        .fill(&mut out)
        .map_err(|_| CryptError::Random)?;
    Ok(out)
}

impl Keyring {
    /// New keys: one data key, not yet stored.
    pub fn new(master: u32) -> Result<Keyring, CryptError> {
        let mut ring = Keyring {
            keys: DataKeys {
                current: 0,
                keys: BTreeMap::new(),
            },
            master,
            changing: None,
        };
        ring.add()?;
        Ok(ring)
    }

    /// A further data key, which new files use.
    pub fn add(&mut self) -> Result<u32, CryptError> {
        let id = self.keys.ids().max().unwrap_or(0) + 1;
        self.keys.keys.insert(id, Zeroizing::new(random()?));
        self.keys.current = id;
        Ok(id)
    }

    /// Drops every data key but the current one.
    pub fn keep_current(&mut self) {
        let current = self.keys.current;
        self.keys.keys.retain(|id, _| *id == current);
    }

    /// Whether the folder has a keys file.
    pub fn exists(disk: &dyn Disk, dir: &Path) -> Result<bool, CryptError> {
        let path = dir.join(KEYS_NAME);
        match disk.open_read(&path) {
            // Empty: its name was made durable before its content.
            Ok(f) => Ok(f.len().map_err(|e| io_error("read", &path, e))? > 0),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(e) => Err(io_error("open", &path, e)),
        }
    }

    /// Reads and unwraps the folder's keys.
    pub fn read(disk: &dyn Disk, dir: &Path, file: &KeyFile) -> Result<Keyring, CryptError> {
        let path = dir.join(KEYS_NAME);
        let damaged = |why: &str| CryptError::KeysDamaged {
            path: path.clone(),
            why: why.to_owned(),
        };
        let f = disk
            .open_read(&path)
            .map_err(|e| io_error("open", &path, e))?;
        let len = f.len().map_err(|e| io_error("read", &path, e))?;
        if len > MAX_LEN {
            return Err(damaged("it is far too long"));
        }
        let mut bytes = vec![0; len as usize];
        let n = f
            .read_at(&mut bytes, 0)
            .map_err(|e| io_error("read", &path, e))?;
        let stored: Stored =
            serde_json::from_slice(&bytes[..n]).map_err(|e| damaged(&e.to_string()))?;
        if stored.version != 1 {
            return Err(damaged(&format!(
                "version {} was written by a newer program",
                stored.version
            )));
        }
        let mut keys = BTreeMap::new();
        let mut oldest = u32::MAX;
        for k in &stored.keys {
            let nonce: [u8; NONCE_LEN] = from_hex(&k.nonce)
                .and_then(|n| n.try_into().ok())
                .ok_or_else(|| damaged("a nonce can't be read"))?;
            let mut wrapped =
                Zeroizing::new(from_hex(&k.wrapped).ok_or_else(|| damaged("a key can't be read"))?);
            let plain = wrapping_key(file.get(k.master)?)?
                .open_in_place(
                    Nonce::assume_unique_for_key(nonce),
                    aad(k.id, k.master),
                    &mut wrapped,
                )
                .map_err(|_| CryptError::WrongKey {
                    path: file.path().to_owned(),
                    id: k.master,
                    dir: dir.to_owned(),
                })?;
            let key: [u8; 32] = (&*plain)
                .try_into()
                .map_err(|_| damaged("a key has the wrong length"))?;
            keys.insert(k.id, Zeroizing::new(key));
            oldest = oldest.min(k.master);
        }
        if !keys.contains_key(&stored.current) {
            return Err(damaged("the current key is missing"));
        }
        Ok(Keyring {
            keys: DataKeys {
                current: stored.current,
                keys,
            },
            master: oldest,
            changing: stored.changing,
        })
    }

    /// Wraps the keys with the key file's newest key and stores them, durably.
    pub fn store(&mut self, disk: &dyn Disk, dir: &Path, file: &KeyFile) -> Result<(), CryptError> {
        let master = file.newest();
        let wrapping = wrapping_key(file.get(master)?)?;
        let mut keys = Vec::new();
        for (&id, key) in &self.keys.keys {
            let nonce: [u8; NONCE_LEN] = random()?;
            let mut wrapped = key.to_vec();
            wrapping
                .seal_in_place_append_tag(
                    Nonce::assume_unique_for_key(nonce),
                    aad(id, master),
                    &mut wrapped,
                )
                .map_err(|_| CryptError::Random)?;
            keys.push(StoredKey {
                id,
                master,
                nonce: to_hex(&nonce),
                wrapped: to_hex(&wrapped),
            });
        }
        let stored = Stored {
            version: 1,
            current: self.keys.current,
            changing: self.changing,
            keys,
        };
        let mut text = serde_json::to_vec_pretty(&stored).map_err(|e| CryptError::KeysDamaged {
            path: dir.join(KEYS_NAME),
            why: e.to_string(),
        })?;
        text.push(b'\n');
        let (tmp, path) = (dir.join(TMP_NAME), dir.join(KEYS_NAME));
        let f = disk.create(&tmp).map_err(|e| io_error("create", &tmp, e))?;
        f.write_at(&text, 0)
            .and_then(|()| f.sync_data())
            .map_err(|e| io_error("write", &tmp, e))?;
        disk.rename(&tmp, &path)
            .and_then(|()| disk.sync_dir(dir))
            .map_err(|e| io_error("rename", &tmp, e))?;
        self.master = master;
        Ok(())
    }

    /// Removes the keys file: nothing in the folder is encrypted any more.
    pub fn remove(disk: &dyn Disk, dir: &Path) -> Result<(), CryptError> {
        let path = dir.join(KEYS_NAME);
        disk.remove(&path)
            .and_then(|()| disk.sync_dir(dir))
            .map_err(|e| io_error("remove", &path, e))
    }
}
