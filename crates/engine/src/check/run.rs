//! The steps of a check.

use crate::check::finding::{
    AgainstLog, Check, CheckObserver, CheckOptions, CheckReport, Finding, quietly,
};
use crate::check::overlay::{Overlay, Scratch};
use crate::db::database::Database;
use crate::options::Options;
use crate::{EngineError, Result};
use narwal_log::{FIRST_LSN, Lsn};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Checks the data folder `dir`. All findings go to `observer`; the report counts them.
///
/// # Errors
/// The folder is in use, is none, or can't be read. Damage is no error.
pub fn check(
    dir: &Path,
    options: &CheckOptions,
    observer: &mut dyn CheckObserver,
) -> Result<CheckReport> {
    let io =
        |what: &str, e: std::io::Error| EngineError::Io(format!("{what} {}: {e}", dir.display()));
    let base = dir.join("base.redb");
    let has_base = options
        .disk
        .exists(&base)
        .map_err(|e| io("looking into", e))?;
    if !has_base && !dir.join("log").is_dir() {
        return Err(EngineError::Io(format!(
            "{}: no data folder",
            dir.display()
        )));
    }
    let _lock = options.disk.lock(&dir.join("narwal.lock")).map_err(|e| {
        EngineError::Io(format!(
            "{} is in use, or can't be locked ({e}); stop its server first",
            dir.display()
        ))
    })?;
    let mut c = Check {
        dir: dir.to_owned(),
        options,
        observer,
        report: CheckReport::default(),
    };
    let stored = if has_base { c.stored() } else { None };
    let said = c.check_log(stored.as_ref().map(|s| s.meta.lsn))?;
    c.report.log_damages = c.report.damages;
    let oldest = said.oldest;
    if has_base {
        c.check_base(oldest);
        if let Some(stored) = &stored {
            c.check_binlog_index(stored, said.counted.as_ref());
        }
    } else {
        c.found(
            Finding::note("there is no base file: the tables are rebuilt from the log alone")
                .in_file(&base),
        );
    }
    c.check_spill(&said.spills);
    let Some(db) = c.open([]) else {
        return Ok(c.report);
    };
    c.check_tables(&db);
    c.check_children(&db);
    c.check_against_log(&db, oldest);
    db.abandon();
    Ok(c.report)
}

impl Check<'_> {
    /// The folder's disk, with these files hidden, on which writes stay apart.
    pub(crate) fn overlay(&self, hidden: impl IntoIterator<Item = PathBuf>) -> Overlay {
        let scratch = Scratch::new(self.options.scratch.as_deref(), self.options.memory);
        Overlay::new(self.options.disk.clone(), hidden, scratch)
    }

    /// Opens the database on an overlay. What keeps it from opening is a finding.
    fn open(&mut self, hidden: impl IntoIterator<Item = PathBuf>) -> Option<Database> {
        self.observer.progress("recovery", 0, 0);
        let options = Options {
            disk: Arc::new(self.overlay(hidden)),
            memory_budget: self.options.memory,
            background: false,
            ..Options::default()
        };
        match quietly(|| Database::open_with(&self.dir, options)) {
            Ok(Ok(db)) => Some(db),
            Ok(Err(e)) => {
                self.found(Finding::damage(format!("the database does not open: {e}")));
                None
            }
            Err(why) => {
                self.found(Finding::damage(format!(
                    "the database does not open: the base file holds what no page can hold ({why})"
                )));
                None
            }
        }
    }

    /// Rebuilds everything from the log and compares, where that is asked for and can be done.
    fn check_against_log(&mut self, db: &Database, oldest: Option<Lsn>) {
        let short = self.report.log_bytes <= self.options.memory;
        let skipped = match self.options.against_log {
            AgainstLog::Never => return,
            _ if oldest != Some(FIRST_LSN) => {
                "the tables were not compared with the log: it does not go back to the beginning"
            }
            _ if self.report.log_damages > 0 => {
                "the tables were not compared with the log, because of its damage"
            }
            AgainstLog::Short if !short => {
                "the tables were not compared with the log: that takes memory for all rows in it (--deep does it)"
            }
            _ => "",
        };
        if !skipped.is_empty() {
            self.found(Finding::note(skipped));
            return;
        }
        let Some(rebuilt) = self.open([self.dir.join("base.redb")]) else {
            return;
        };
        self.compare(db, &rebuilt);
        rebuilt.abandon();
    }
}
