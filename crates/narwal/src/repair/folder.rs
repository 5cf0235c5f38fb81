//! The folder under repair, and what a check finds in it.

use crate::failure::Failure;
use narwal_engine::EngineError;
use narwal_engine::check::{AgainstLog, CheckObserver, CheckOptions, CheckReport, Finding, check};
use narwal_log::Disk;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder under repair.
pub(super) struct Folder<'a> {
    pub(super) dir: &'a Path,
    /// With its keys, if it is encrypted.
    pub(super) disk: Arc<dyn Disk>,
    pub(super) memory: u64,
}

pub(super) fn engine(e: EngineError) -> Failure {
    match e {
        EngineError::Corrupt(text) => Failure::Damaged(text),
        e => Failure::Run(e.to_string()),
    }
}

pub(super) fn io(what: &str, path: &Path) -> impl Fn(std::io::Error) -> Failure {
    let what = format!("{what} {}", path.display());
    move |e| Failure::run(&what, e)
}

/// What a check found.
#[derive(Default)]
pub(super) struct Found {
    pub(super) findings: Vec<Finding>,
}

impl CheckObserver for Found {
    fn finding(&mut self, finding: &Finding) {
        if finding.damage {
            self.findings.push(finding.clone());
        }
    }

    fn progress(&mut self, _: &str, _: u64, _: u64) {}
}

impl Folder<'_> {
    pub(super) fn check(&self, against_log: AgainstLog) -> Result<(Found, CheckReport), Failure> {
        let options = CheckOptions {
            disk: self.disk.clone(),
            memory: self.memory,
            scratch: None,
            against_log,
        };
        let mut found = Found::default();
        // Pages that hold anything at all make the B-tree code panic; the check catches that.
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| {}));
        let report = check(self.dir, &options, &mut found);
        std::panic::set_hook(hook);
        Ok((found, report.map_err(engine)?))
    }
}

/// Damage by the part of the folder that it is in.
#[derive(Default)]
pub(super) struct Damage {
    /// Damaged segments.
    pub(super) segments: Vec<PathBuf>,
    /// A part of the log is missing, or its files do not fit together.
    pub(super) log: bool,
    /// Run files of large transactions.
    pub(super) runs: Vec<PathBuf>,
    /// The table store, or what is derived from it.
    pub(super) base: bool,
    /// Damaged tables of it, `database.table`.
    pub(super) tables: Vec<String>,
}

impl Damage {
    pub(super) fn of(dir: &Path, found: &Found) -> Damage {
        let mut d = Damage::default();
        let log = dir.join("log");
        for f in &found.findings {
            match &f.file {
                Some(file) if file.starts_with(&log) => {
                    d.log = true;
                    if *file != log && !d.segments.contains(file) {
                        d.segments.push(file.clone());
                    }
                }
                Some(file) if file.starts_with(dir.join("spill")) => d.runs.push(file.clone()),
                _ => d.base = true,
            }
            if let Some(table) = f.table.as_ref().filter(|t| !d.tables.contains(t)) {
                d.tables.push(table.clone());
            }
        }
        d
    }
}

/// Ending of what was replaced, until the folder is known to be whole.
pub(super) const OLD: &str = ".damaged";

pub(super) fn old_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(OLD);
    name.into()
}
