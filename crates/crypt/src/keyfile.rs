//! Key files in the form of MariaDB's `file_key_management` plugin: a line `id;key in hex` for each key.

use crate::CryptError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The master keys of a key file. They only wrap the data keys in a folder's `keys` file.
pub struct KeyFile {
    path: PathBuf,
    keys: BTreeMap<u32, Zeroizing<Vec<u8>>>,
}

impl std::fmt::Debug for KeyFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "KeyFile({}, {:?})",
            self.path.display(),
            self.keys.keys()
        )
    }
}

impl KeyFile {
    /// Reads a key file. It opens all data, so it should belong to the server's user alone and be on another device than
    /// the data folder.
    ///
    /// # Errors
    /// [`CryptError::KeyFile`] if it can't be read, holds no key or has a line that is not a key.
    pub fn read(path: &Path) -> Result<KeyFile, CryptError> {
        let bytes = Zeroizing::new(std::fs::read(path).map_err(|e| CryptError::KeyFile {
            path: path.to_owned(),
            why: e.to_string(),
        })?);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            if let Ok(meta) = std::fs::metadata(path)
                && meta.permissions().mode() & 0o007 != 0
            {
                tracing::warn!(
                    "the key file {} can be used by every user of this machine; chmod 600 it",
                    path.display()
                );
            }
        }
        Self::parse(path, &bytes)
    }

    /// Reads a key file's content; `path` is for messages.
    ///
    /// # Errors
    /// As [`KeyFile::read`].
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<KeyFile, CryptError> {
        let error = |why: String| CryptError::KeyFile {
            path: path.to_owned(),
            why,
        };
        if bytes.starts_with(b"Salted__") {
            return Err(error(
                "this file is itself encrypted (file_key_management_filekey); Narwal reads plain key files only"
                    .into(),
            ));
        }
        let text =
            std::str::from_utf8(bytes).map_err(|_| error("this is not a text file".into()))?;
        let mut keys = BTreeMap::new();
        for (n, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let at = |why: &str| error(format!("line {}: {why}", n + 1));
            let (id, key) = line.split_once(';').ok_or_else(|| {
                at("wants an id, a semicolon and a key in hex, as in 1;770A8A65...")
            })?;
            let id: u32 = id
                .trim()
                .parse()
                .ok()
                .filter(|id| *id > 0)
                .ok_or_else(|| at("the id must be a number from 1"))?;
            let key = from_hex(key.trim())
                .map(Zeroizing::new)
                .filter(|k| matches!(k.len(), 16 | 24 | 32))
                .ok_or_else(|| {
                    at("the key must have 64 hex digits (32 or 48 in keys that are not used)")
                })?;
            if keys.insert(id, key).is_some() {
                return Err(at("this id was given before"));
            }
        }
        if keys.is_empty() {
            return Err(error("it holds no key".into()));
        }
        Ok(KeyFile {
            path: path.to_owned(),
            keys,
        })
    }

    /// The highest id: the key that wraps from now on.
    pub fn newest(&self) -> u32 {
        self.keys.keys().next_back().copied().unwrap_or(0)
    }

    /// Where it was read.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A master key of 256 bits.
    pub(crate) fn get(&self, id: u32) -> Result<&[u8], CryptError> {
        let error = |why: String| CryptError::KeyFile {
            path: self.path.clone(),
            why,
        };
        let key = self.keys.get(&id).ok_or_else(|| {
            error(format!(
                "it holds no key {id}, which the data folder was encrypted with"
            ))
        })?;
        if key.len() != 32 {
            return Err(error(format!(
                "key {id} has {} bits; Narwal wants 256 (64 hex digits, as from `openssl rand -hex 32`)",
                key.len() * 8
            )));
        }
        Ok(key)
    }
}

pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    (0..text.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&text[i..i + 2], 16).ok())
        .collect()
}

pub(crate) fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mariadbs_form_is_read_and_anything_else_is_named() {
        let key = "a7".repeat(32);
        let text = format!(
            "# keys\n\n1;{}\n 3 ; {} \r\n2;{key}\n",
            "00".repeat(16),
            key.to_uppercase()
        );
        let f = KeyFile::parse(Path::new("k"), text.as_bytes()).unwrap();
        assert_eq!(f.newest(), 3);
        assert_eq!(f.get(3).unwrap(), f.get(2).unwrap());
        assert!(f.get(1).unwrap_err().to_string().contains("128 bits"));
        assert!(f.get(9).unwrap_err().to_string().contains("no key 9"));
        for (text, why) in [
            ("", "no key"),
            ("1:00", "line 1"),
            ("0;00", "number from 1"),
            ("1;0g", "hex digits"),
            ("Salted__xyz", "itself encrypted"),
            (&format!("1;{key}\n1;{key}"), "line 2: this id"),
        ] {
            let e = KeyFile::parse(Path::new("k"), text.as_bytes()).unwrap_err();
            assert!(e.to_string().contains(why), "{text}: {e}");
        }
    }
}
