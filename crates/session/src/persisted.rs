//! MySQL's SET PERSIST: global settings that hold for the next starts too.
//!
//! They stand in one file of the data folder, [`FILE`], JSON with a text for each variable, and come behind options and option
//! files, as in MySQL. The file is replaced as a whole, so a crash leaves the old one or the new one.

use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Its name in the data folder.
pub const FILE: &str = "narwal-auto.json";

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Kept {
    /// Of the form of the file.
    version: u32,
    /// Values as options have them, by the variables' names.
    variables: BTreeMap<String, String>,
}

/// The settings that are kept.
#[derive(Debug, Default)]
pub struct Persisted {
    /// `None`: this database keeps none.
    path: Option<PathBuf>,
    /// Held by the statement that writes the file: such statements follow each other, readers don't wait for the disk.
    writer: Mutex<()>,
    /// What the file holds; locked for a look or an exchange only.
    kept: Mutex<Kept>,
}

impl Clone for Persisted {
    fn clone(&self) -> Self {
        Persisted {
            path: self.path.clone(),
            writer: Mutex::new(()),
            kept: Mutex::new(self.kept.lock().clone()),
        }
    }
}

impl Persisted {
    /// Reads the file of a data folder; there may be none.
    ///
    /// # Errors
    /// A sentence for the person at the terminal: the file can't be read, or is not of this form.
    pub fn read(datadir: &Path) -> Result<Self, String> {
        let path = datadir.join(FILE);
        let wrong = |e: &dyn std::fmt::Display| {
            let path = path.display();
            format!("{path}: {e}; mend or remove it, or start with --persisted-globals-load=OFF")
        };
        let kept: Kept = match std::fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|e| wrong(&e))?,
            Err(e) if e.kind() == io::ErrorKind::NotFound => Kept::default(),
            Err(e) => return Err(wrong(&e)),
        };
        if kept.version > 1 {
            return Err(wrong(&"written by a newer Narwal"));
        }
        Ok(Persisted {
            path: Some(path),
            writer: Mutex::new(()),
            kept: Mutex::new(kept),
        })
    }

    /// Names and values, by name.
    #[must_use]
    pub fn list(&self) -> Vec<(String, String)> {
        let kept = self.kept.lock();
        let pairs = kept.variables.iter();
        pairs.map(|(n, v)| (n.clone(), v.clone())).collect()
    }

    /// Keeps values.
    ///
    /// # Errors
    /// 1235 without a data folder; 1026 if the file can't be written: nothing is kept then.
    pub(crate) fn keep(&self, values: Vec<(String, String)>) -> SqlResult<()> {
        self.change(|kept| {
            kept.extend(values);
            Ok(())
        })
    }

    /// Forgets a value, or all.
    ///
    /// # Errors
    /// 3615 for one that is not kept; as [`Persisted::keep`].
    pub(crate) fn forget(&self, name: Option<&str>) -> SqlResult<()> {
        self.change(|kept| match name {
            None => {
                kept.clear();
                Ok(())
            }
            Some(name) => match kept.remove(name) {
                Some(_) => Ok(()),
                None => Err(errors::VAR_DOES_NOT_EXIST.with([&name])),
            },
        })
    }

    fn change(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, String>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let Some(path) = &self.path else {
            return Err(SqlError::unsupported("SET PERSIST without a data folder"));
        };
        let _writer = self.writer.lock();
        let mut changed = self.kept.lock().clone();
        changed.version = 1;
        change(&mut changed.variables)?;
        replace(path, &changed).map_err(|e| {
            let text = format!("Error writing file '{}' ({e})", path.display());
            errors::ERROR_ON_WRITE.with([&text])
        })?;
        *self.kept.lock() = changed;
        Ok(())
    }
}

fn replace(path: &Path, kept: &Kept) -> io::Result<()> {
    let new = path.with_extension("json.new");
    let mut file = File::create(&new)?;
    serde_json::to_writer_pretty(&mut file, kept)?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    std::fs::rename(&new, path)?;
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_and_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let p = Persisted::read(dir.path()).unwrap();
        let pair = |n: &str, v: &str| (n.to_string(), v.to_string());
        p.keep(vec![pair("b", "2"), pair("a", "1")]).unwrap();
        p.keep(vec![pair("b", "3")]).unwrap();
        let again = Persisted::read(dir.path()).unwrap();
        assert_eq!(again.list(), [pair("a", "1"), pair("b", "3")]);
        assert_eq!(again.forget(Some("c")).unwrap_err().code, 3615);
        again.forget(Some("a")).unwrap();
        assert_eq!(
            Persisted::read(dir.path()).unwrap().list(),
            [pair("b", "3")]
        );
        again.forget(None).unwrap();
        assert!(Persisted::read(dir.path()).unwrap().list().is_empty());
        std::fs::write(dir.path().join(FILE), "{").unwrap();
        assert!(Persisted::read(dir.path()).unwrap_err().contains(FILE));
        assert_eq!(
            Persisted::default().keep(Vec::new()).unwrap_err().code,
            1235
        );
    }
}
