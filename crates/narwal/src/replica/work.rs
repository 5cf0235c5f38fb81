//! The folder in the making: `DIR.cloning`, which gets the name that was asked for at the very end.

use crate::Failure;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// Where a run notes how far it is.
pub const STATE: &str = "clone.state";
/// What the folder has behind the name of the one to be made.
const SUFFIX: &str = ".cloning";
/// A file in it that tells our unfinished folders from other people's, and what they are copies of.
const MARKER: &str = "clone.unfinished";

/// A folder in the making.
#[derive(Debug)]
pub struct Work {
    target: PathBuf,
    dir: PathBuf,
    about: String,
    resumable: bool,
    /// It holds a part of an earlier run.
    pub going_on: bool,
}

fn failed(what: &str, path: &Path, e: &io::Error) -> Failure {
    Failure::run(format_args!("{what} {}", path.display()), e)
}

/// Whether there is nothing in a folder; false also if it is no folder.
fn is_empty(dir: &Path) -> bool {
    fs::read_dir(dir).is_ok_and(|mut d| d.next().is_none())
}

impl Work {
    /// Makes the folder, or takes that of an earlier run. `source`: of what it becomes a copy. `resumable`: an earlier
    /// run's part can be gone on with; otherwise it is thrown away.
    pub fn begin(target: &Path, source: &str, resumable: bool) -> Result<Work, Failure> {
        if fs::symlink_metadata(target).is_ok() && !is_empty(target) {
            return Err(Failure::Run(format!(
                "{} is not empty; a replica is made in a folder that is missing or empty",
                target.display()
            )));
        }
        let name = target.file_name().ok_or_else(|| {
            Failure::Usage(format!("{}: not the name of a folder", target.display()))
        })?;
        let mut name = name.to_owned();
        name.push(SUFFIX);
        let mut work = Work {
            target: target.to_owned(),
            dir: target.with_file_name(name),
            about: format!("{source} {}\n", if resumable { "files" } else { "dump" }),
            resumable,
            going_on: false,
        };
        let marker = work.dir.join(MARKER);
        match fs::read_to_string(&marker) {
            Ok(text) if text == work.about && resumable => work.going_on = true,
            Ok(_) => work.clear()?,
            Err(_) if fs::symlink_metadata(&work.dir).is_ok() && !is_empty(&work.dir) => {
                return Err(Failure::Run(format!(
                    "{} is in the way: it is not empty, and no earlier run of this command has made it",
                    work.dir.display()
                )));
            }
            Err(_) => work.make()?,
        }
        Ok(work)
    }

    fn make(&self) -> Result<(), Failure> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.dir)
            .map_err(|e| failed("making", &self.dir, &e))?;
        let marker = self.dir.join(MARKER);
        fs::write(&marker, &self.about).map_err(|e| failed("writing", &marker, &e))
    }

    /// Throws away what the folder holds.
    pub fn clear(&self) -> Result<(), Failure> {
        fs::remove_dir_all(&self.dir).map_err(|e| failed("removing", &self.dir, &e))?;
        self.make()
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Gives the folder its name, durably.
    pub fn finish(&self) -> Result<(), Failure> {
        for name in [STATE, MARKER] {
            let path = self.dir.join(name);
            match fs::remove_file(&path) {
                Err(e) if e.kind() != io::ErrorKind::NotFound => {
                    return Err(failed("removing", &path, &e));
                }
                _ => {}
            }
        }
        sync(&self.dir)?;
        // An empty folder of that name may be there.
        fs::rename(&self.dir, &self.target).map_err(|e| failed("renaming", &self.dir, &e))?;
        let parent = match self.target.parent() {
            Some(p) if !p.as_os_str().is_empty() => p,
            _ => Path::new("."),
        };
        sync(parent)
    }

    /// A failure, with what can be done now.
    pub fn after_failure(&self, e: Failure) -> Failure {
        let Failure::Run(text) = e else { return e };
        let then = if self.resumable {
            "the same command goes on with it"
        } else {
            "the same command begins anew"
        };
        Failure::Run(format!(
            "{text}\nwhat was copied is in {}; {then}",
            self.dir.display()
        ))
    }
}

/// Makes names in a folder durable.
pub fn sync(dir: &Path) -> Result<(), Failure> {
    fs::File::open(dir)
        .and_then(|d| d.sync_all())
        .map_err(|e| failed("syncing", dir, &e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_missing_and_empty_folders_and_our_own() {
        let tmp = tempfile::tempdir().unwrap();
        let target = tmp.path().join("d");
        let w = Work::begin(&target, "h:1", true).unwrap();
        assert!(!w.going_on);
        fs::write(w.dir().join("x"), "1").unwrap();
        // The same source again: goes on. Another one: thrown away.
        assert!(Work::begin(&target, "h:1", true).unwrap().going_on);
        let w = Work::begin(&target, "h:2", true).unwrap();
        assert!(!w.going_on && !w.dir().join("x").exists());
        let w = Work::begin(&target, "h:2", false).unwrap();
        assert!(!w.going_on);
        fs::create_dir(&target).unwrap();
        w.finish().unwrap();
        assert!(fs::read_dir(&target).unwrap().next().is_none());
        fs::write(target.join("x"), "1").unwrap();
        assert!(Work::begin(&target, "h:1", true).is_err());
        let other = tmp.path().join("e.cloning");
        fs::create_dir(&other).unwrap();
        fs::write(other.join("precious"), "1").unwrap();
        assert!(Work::begin(&tmp.path().join("e"), "h:1", true).is_err());
        assert!(other.join("precious").exists());
    }
}
