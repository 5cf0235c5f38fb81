//! Checking a data folder that no server uses, without changing it.
//!
//! | file | holds |
//! |---|---|
//! | `log.rs` | every record, chunk, group and event of the log |
//! | `recount.rs` | positions, GTIDs and the index counted again from the groups |
//! | `base.rs` | the pages and the checkpoint of the base file, the index in it |
//! | `spill.rs` | the run files of large transactions |
//! | `tables.rs` | rows and indexes against each other, and one store against another |
//! | `children.rs` | child rows of foreign keys without their parents |
//! | `overlay.rs` | the disk on which all this runs: writes stay in memory |
//!
//! The tables are checked as a start would find them: the database is opened on an overlay of the folder, so recovery
//! runs with everything it does, and nothing of it reaches the folder.

mod base;
mod children;
mod log;
mod overlay;
mod recount;
mod spill;
mod tables;

use crate::db::{Database, Options};
use crate::{EngineError, Result};
use narwal_log::{Disk, FIRST_LSN, Lsn};
use overlay::{Overlay, Scratch};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Something that is wrong, or worth to be known.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct Finding {
    /// False for a note: the folder is whole all the same.
    pub damage: bool,
    /// The file, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Byte offset in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The log record.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lsn: Option<Lsn>,
    /// `database.table`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Name of the index; of a table's rows `PRIMARY`, or nothing if it has no primary key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<String>,
    /// The row or index entry: column values where they are known, else the encoded key in hexadecimal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// A sentence.
    pub what: String,
}

impl Finding {
    fn damage(what: impl Into<String>) -> Self {
        Finding {
            damage: true,
            what: what.into(),
            ..Finding::default()
        }
    }

    fn note(what: impl Into<String>) -> Self {
        Finding {
            what: what.into(),
            ..Finding::default()
        }
    }

    fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
        self.file = Some(file.into());
        self
    }
}

impl std::fmt::Display for Finding {
    /// One line: where, then what.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.damage { "damage" } else { "note" })?;
        if let Some(file) = &self.file {
            write!(f, " in {}", file.display())?;
        }
        if let Some(offset) = self.offset {
            write!(f, ", offset {offset}")?;
        }
        if let Some(lsn) = self.lsn {
            write!(f, ", LSN {lsn}")?;
        }
        if let Some(table) = &self.table {
            write!(f, ", table {table}")?;
        }
        if let Some(index) = self.index.as_deref().filter(|i| !i.is_empty()) {
            write!(f, ", index {index}")?;
        }
        if let Some(key) = &self.key {
            write!(f, ", key {key}")?;
        }
        write!(f, ": {}", self.what)
    }
}

/// What a check went through.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct CheckReport {
    /// Findings that are damage.
    pub damages: u64,
    /// Findings that are notes.
    pub notes: u64,
    /// Damages in the log.
    pub log_damages: u64,
    /// Event groups and local commits in the log.
    pub groups: u64,
    /// Events of them.
    pub events: u64,
    /// Chunks of large transactions in the log.
    pub chunks: u64,
    /// Those that no commit names: of transactions that were rolled back or had not ended.
    pub dead_chunks: u64,
    /// State records, each compared with what the groups before it make.
    pub states: u64,
    /// Files and points of the index in the base.
    pub index_points: u64,
    /// Run files of large transactions that the base does not have yet.
    pub runs: u64,
    /// Bytes of log read.
    pub log_bytes: u64,
    /// LSN at which the log ends.
    pub end_lsn: u64,
    /// The last commit.
    pub last_seq: u64,
    /// GTID position at the end of the log.
    pub gtid_pos: String,
    /// Tables.
    pub tables: u64,
    /// Rows of them.
    pub rows: u64,
    /// Entries of secondary indexes.
    pub index_entries: u64,
    /// Rows that were compared with the log (`deep`).
    pub compared_rows: u64,
}

/// What to check, and with what.
#[derive(Debug, Clone)]
pub struct CheckOptions {
    /// The folder's disk (with its keys, if it is encrypted).
    pub disk: Arc<dyn Disk>,
    /// Memory for pages, bytes; as much again for what recovery writes.
    pub memory: u64,
    /// Folder for a file without a name that takes what recovery writes beyond that; `None`: all of it stays in memory.
    pub scratch: Option<PathBuf>,
    /// Whether to rebuild all tables from the log alone, if it is complete, and compare them row by row.
    pub against_log: AgainstLog,
}

/// Comparing all tables with the log. It takes memory for all rows that the log holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AgainstLog {
    /// If the log is not longer than the memory for pages; a note says so if it is.
    #[default]
    Short,
    /// Whatever its length.
    Always,
    /// Not.
    Never,
}

/// Who is told.
pub trait CheckObserver {
    /// A finding, as soon as it is made.
    fn finding(&mut self, finding: &Finding);
    /// How far the present step is; `total` 0: nobody knows.
    fn progress(&mut self, step: &str, done: u64, total: u64);
}

/// A check under way.
struct Check<'a> {
    dir: PathBuf,
    options: &'a CheckOptions,
    observer: &'a mut dyn CheckObserver,
    report: CheckReport,
}

impl Check<'_> {
    fn found(&mut self, finding: Finding) {
        if finding.damage {
            self.report.damages += 1;
        } else {
            self.report.notes += 1;
        }
        self.observer.finding(&finding);
    }
}

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
    fn overlay(&self, hidden: impl IntoIterator<Item = PathBuf>) -> Overlay {
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

/// Runs `work`; a panic becomes its text. Pages that hold anything at all make the B-tree code panic in places.
fn quietly<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|p| {
        p.downcast_ref::<String>()
            .cloned()
            .or_else(|| p.downcast_ref::<&str>().map(|s| (*s).to_owned()))
            .unwrap_or_else(|| "panic".to_owned())
    })
}
