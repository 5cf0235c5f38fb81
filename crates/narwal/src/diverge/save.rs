//! What only this side has, in files: nothing is lost when it is undone.

use super::find::Found;
use super::side::{Side, put};
use crate::Failure;
use crate::binlog::Output;
use crate::binlog::flashback::{Flashback, Redo};
use crate::binlog::raw::Raw;
use narwal_binlog::Gtid;
use narwal_stream::Start;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Changes once more.
pub const REDO: &str = "rogue.sql";
/// Their undoing.
pub const UNDO: &str = "rogue-undo.sql";
/// Events.
pub const RAW: &str = "rogue.bin";
/// The report.
pub const REPORT: &str = "report.json";

/// What was written.
#[derive(Debug, Default)]
pub struct Saved {
    pub dir: PathBuf,
    /// Name, and what it is.
    pub files: Vec<(&'static str, String)>,
    /// What could not be written, and why.
    pub failures: Vec<String>,
}

/// A folder that does not exist yet: the one that was named, or one named after the first transaction.
pub fn new_folder(named: Option<&Path>, first: Gtid) -> Result<PathBuf, Failure> {
    let failed = |dir: &Path, e| Failure::run(dir.display(), e);
    if let Some(dir) = named {
        std::fs::create_dir_all(dir).map_err(|e| failed(dir, e))?;
        let used = std::fs::read_dir(dir).map_err(|e| failed(dir, e))?.next();
        return match used {
            None => Ok(dir.to_path_buf()),
            Some(_) => Err(Failure::Run(format!(
                "{}: is not empty; what was saved is never overwritten",
                dir.display()
            ))),
        };
    }
    for n in 1..1000 {
        let dir = match n {
            1 => PathBuf::from(format!("rogue-{first}")),
            n => PathBuf::from(format!("rogue-{first}-{n}")),
        };
        match std::fs::create_dir(&dir) {
            Ok(()) => return Ok(dir),
            Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(failed(&dir, e)),
        }
    }
    Err(Failure::Run(format!(
        "rogue-{first}-...: there are too many of them"
    )))
}

/// A file that is durable once it is there under its name.
fn write(
    dir: &Path,
    name: &str,
    fill: impl FnOnce(File) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let part = dir.join(format!("{name}.part"));
    let failed = |e: std::io::Error| Failure::run(part.display(), e);
    let file = File::create_new(&part).map_err(failed)?;
    let filled = fill(file.try_clone().map_err(failed)?);
    if let Err(e) = filled {
        let _ = std::fs::remove_file(&part);
        return Err(e);
    }
    file.sync_all().map_err(failed)?;
    std::fs::rename(&part, dir.join(name)).map_err(failed)?;
    File::open(dir).and_then(|d| d.sync_all()).map_err(failed)
}

/// Writes the files. What can't be made SQL of (statements can't be undone, images that are not complete) is said among the
/// failures; the events are always there.
pub fn save(
    side: &Side,
    found: &Found,
    wanted: &BTreeSet<Gtid>,
    dir: PathBuf,
) -> Result<Saved, Failure> {
    let start = Start::Place(found.start.clone());
    let mut saved = Saved {
        dir,
        ..Saved::default()
    };
    let n = wanted.len();
    write(&saved.dir, RAW, |file| {
        put(
            side,
            &start,
            wanted,
            &mut Raw::new(BufWriter::new(file)).quiet(),
        )
    })?;
    saved
        .files
        .push((RAW, "the events, for mariadb-binlog".to_owned()));
    type Make = fn(BufWriter<File>) -> Result<Box<dyn Output>, Failure>;
    let redo: Make = |out| {
        let redo = Redo::new(out).map_err(|e| Failure::run("can't write", e))?;
        Ok(Box::new(redo))
    };
    let undo: Make = |out| Ok(Box::new(Flashback::new(out, false)?));
    let what = [
        (REDO, redo, format!("SQL that does the {n} once more")),
        (
            UNDO,
            undo,
            "SQL that undoes them, the last one first".to_owned(),
        ),
    ];
    for (name, make, text) in what {
        let done = write(&saved.dir, name, |file| {
            let mut output = make(BufWriter::new(file))?;
            put(side, &start, wanted, &mut *output)
        });
        match done {
            Ok(()) => saved.files.push((name, text)),
            Err(Failure::Run(why)) => saved.failures.push(format!("no {name}: {why}")),
            Err(e) => return Err(e),
        }
    }
    Ok(saved)
}

/// Writes the report beside them.
pub fn save_report(saved: &mut Saved, report: &serde_json::Value) -> Result<(), Failure> {
    write(&saved.dir, REPORT, |mut file| {
        let text = format!("{report:#}\n");
        file.write_all(text.as_bytes())
            .map_err(|e| Failure::run(REPORT, e))
    })?;
    saved.files.push((REPORT, "this report".to_owned()));
    Ok(())
}
