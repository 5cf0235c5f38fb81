//! What a check finds, and what it goes through.

use narwal_log::{Disk, Lsn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
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
    pub(crate) fn damage(what: impl Into<String>) -> Self {
        Finding {
            damage: true,
            what: what.into(),
            ..Finding::default()
        }
    }

    pub(crate) fn note(what: impl Into<String>) -> Self {
        Finding {
            what: what.into(),
            ..Finding::default()
        }
    }

    pub(crate) fn in_file(mut self, file: impl Into<PathBuf>) -> Self {
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

/// Gets findings and progress while a check runs.
pub trait CheckObserver {
    /// A finding, as soon as it is made.
    fn finding(&mut self, finding: &Finding);
    /// How far the present step is; `total` 0: nobody knows.
    fn progress(&mut self, step: &str, done: u64, total: u64);
}

/// A check under way.
pub(crate) struct Check<'a> {
    pub(crate) dir: PathBuf,
    pub(crate) options: &'a CheckOptions,
    pub(crate) observer: &'a mut dyn CheckObserver,
    pub(crate) report: CheckReport,
}

impl Check<'_> {
    pub(crate) fn found(&mut self, finding: Finding) {
        if finding.damage {
            self.report.damages += 1;
        } else {
            self.report.notes += 1;
        }
        self.observer.finding(&finding);
    }
}

/// Runs `work`; a panic becomes its text. Pages that hold anything at all make the B-tree code panic in places.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> std::result::Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|p| {
        p.downcast_ref::<String>()
            .cloned()
            .or_else(|| p.downcast_ref::<&str>().map(|s| (*s).to_owned()))
            .unwrap_or_else(|| "panic".to_owned())
    })
}
