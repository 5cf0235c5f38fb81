//! The state file: where a stream stands, and how much of its output belongs to that.

use crate::{Error, Place, Result};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const VERSION: u32 = 1;

/// What a state file says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct State {
    /// Everything up to here was delivered. `None`: a snapshot was begun and not finished.
    pub place: Option<Place>,
    /// Bytes of the output file that belong to it; `None` if the output is no file.
    pub output: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Stored {
    version: u32,
    place: Option<String>,
    output_bytes: Option<u64>,
}

/// Where the file is. It is replaced as a whole, so it is never seen half written.
#[derive(Debug, Clone)]
pub struct StateFile {
    path: PathBuf,
}

impl StateFile {
    /// The state file at `path`, which need not exist.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        StateFile {
            path: path.to_path_buf(),
        }
    }

    /// What it says; `None` if it does not exist.
    ///
    /// # Errors
    /// It can't be read, or is no state file.
    pub fn read(&self) -> Result<Option<State>> {
        let bad = |e: &dyn std::fmt::Display| {
            Error::Usage(format!("state file {}: {e}", self.path.display()))
        };
        let text = match std::fs::read(&self.path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(bad(&e)),
        };
        let stored: Stored = serde_json::from_slice(&text).map_err(|e| bad(&e))?;
        if stored.version != VERSION {
            return Err(bad(&format_args!("unknown version {}", stored.version)));
        }
        let place = stored.place.map(|p| p.parse()).transpose();
        Ok(Some(State {
            place: place.map_err(|e: Error| bad(&e))?,
            output: stored.output_bytes,
        }))
    }

    /// Replaces it, durably.
    ///
    /// # Errors
    /// It can't be written.
    pub fn write(&self, state: &State) -> io::Result<()> {
        let stored = Stored {
            version: VERSION,
            place: state.place.as_ref().map(Place::to_string),
            output_bytes: state.output,
        };
        let mut name = self.path.as_os_str().to_owned();
        name.push(".new");
        let new = PathBuf::from(name);
        let mut file = File::create(&new)?;
        let mut text = serde_json::to_vec(&stored)?;
        text.push(b'\n');
        file.write_all(&text)?;
        file.sync_all()?;
        std::fs::rename(&new, &self.path)?;
        // The new name, too.
        let parent = self.path.parent().filter(|p| !p.as_os_str().is_empty());
        File::open(parent.unwrap_or(Path::new(".")))?.sync_all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state");
        let file = StateFile::new(&path);
        assert_eq!(file.read().unwrap(), None);
        for state in [
            State {
                place: Some("0-1-5+0-1-6:2".parse().unwrap()),
                output: Some(u64::MAX),
            },
            State::default(),
        ] {
            file.write(&state).unwrap();
            assert_eq!(file.read().unwrap(), Some(state));
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        for bad in [
            "",
            "{}",
            "{\"version\":2}",
            "{\"version\":1,\"place\":\"x\",\"output_bytes\":null}",
        ] {
            std::fs::write(&path, bad).unwrap();
            assert!(matches!(file.read(), Err(Error::Usage(_))), "{bad}");
        }
    }
}
