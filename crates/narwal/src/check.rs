//! `narwal check`: verifies a data folder from end to end.

use crate::Failure;
use crate::folder::open_disk;
use clap::Parser;
use narwal_crypt::Access;
use narwal_engine::check::{AgainstLog, CheckObserver, CheckOptions, Finding, check};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Verifies the data folder of a stopped server, without changing it.
///
/// Reads the log from its oldest record to its end (checksums, positions, event groups, GTIDs, chunks of large
/// transactions, state records), verifies the pages of the base file and the run files of large transactions, compares
/// the index over the log with what the log's groups make, runs recovery in memory, checks every row and every index
/// against each other, and, if the log is complete, every table against the log. Each finding is a line with file, offset,
/// LSN, table and key; a note says what was left out. Exit status: 0 no damage, 1 damage or the folder can't be read, 2
/// wrong use.
#[derive(Debug, Parser)]
#[command(name = "narwal check", max_term_width = 110)]
struct Args {
    /// Data folder
    #[arg(default_value = "./narwal-data")]
    dir: PathBuf,
    /// Data folder, as an option
    #[arg(long, value_name = "DIR", conflicts_with = "dir")]
    datadir: Option<PathBuf>,
    /// Compare the tables with the log even if it is longer than --memory (takes memory for all rows in it)
    #[arg(long)]
    deep: bool,
    /// Do not compare the tables with the log
    #[arg(long, conflicts_with = "deep")]
    quick: bool,
    /// One JSON object a line: findings, then a summary
    #[arg(long)]
    json: bool,
    /// Memory for pages, and as much for what recovery writes, MiB; more of that goes to a file in TMPDIR (of an encrypted
    /// folder it stays in memory)
    #[arg(long, value_name = "MIB", default_value_t = 128)]
    memory: u64,
    /// The folder is encrypted with these keys
    #[arg(long, value_name = "FILE")]
    encryption_key_file: Option<PathBuf>,
}

struct Tell {
    json: bool,
    terminal: bool,
    shown: Option<Instant>,
    step: String,
    gone: bool,
}

impl Tell {
    fn clear(&mut self) {
        if self.shown.take().is_some() {
            eprint!("\r\x1b[K");
        }
    }

    fn line(&mut self, text: &str) {
        self.clear();
        // A reader that went away has seen enough; the exit status still tells.
        self.gone |= writeln!(std::io::stdout(), "{text}").is_err();
    }
}

impl CheckObserver for Tell {
    fn finding(&mut self, finding: &Finding) {
        let text = if self.json {
            serde_json::to_string(finding).unwrap_or_default()
        } else {
            finding.to_string()
        };
        self.line(&text);
    }

    fn progress(&mut self, step: &str, done: u64, total: u64) {
        let soon = Duration::from_millis(250);
        if !self.terminal || (self.step == step && self.shown.is_some_and(|t| t.elapsed() < soon)) {
            return;
        }
        step.clone_into(&mut self.step);
        self.shown = Some(Instant::now());
        let share = match total {
            0 => String::new(),
            _ => format!(" {:.0}%", done as f64 * 100.0 / total as f64),
        };
        eprint!("\r\x1b[Kchecking: {step}{share}");
        let _ = std::io::stderr().flush();
    }
}

/// Runs the command with the arguments behind `check`.
pub fn run(args: &[String]) -> Result<(), Failure> {
    let Some(args) = crate::cli::parse::<Args>("narwal check", args)? else {
        return Ok(());
    };
    let dir = args.datadir.unwrap_or(args.dir);
    if !dir.is_dir() {
        return Err(Failure::Run(format!(
            "{}: no such data folder",
            dir.display()
        )));
    }
    let folder = open_disk(&dir, args.encryption_key_file.as_deref(), Access::Read)?;
    let options = CheckOptions {
        disk: folder.disk,
        memory: args.memory.max(16) << 20,
        // What is encrypted in the folder is not written in the clear elsewhere.
        scratch: (!folder.encrypted).then(std::env::temp_dir),
        against_log: match (args.deep, args.quick) {
            (true, _) => AgainstLog::Always,
            (_, true) => AgainstLog::Never,
            _ => AgainstLog::Short,
        },
    };
    let mut tell = Tell {
        json: args.json,
        terminal: std::io::stderr().is_terminal(),
        shown: None,
        step: String::new(),
        gone: false,
    };
    // Pages that hold anything at all make the B-tree code panic; the check catches that and names what it knows.
    let hook = std::panic::take_hook();
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
    let checked = check(&dir, &options, &mut tell);
    std::panic::set_hook(hook);
    tell.clear();
    let report = checked.map_err(|e| Failure::Run(e.to_string()))?;
    if args.json {
        tell.line(&serde_json::to_string(&report).unwrap_or_default());
    } else {
        tell.line(&format!(
            "{} groups with {} events in {:.1} MB of log, up to commit {} and GTID position '{}'",
            report.groups,
            report.events,
            report.log_bytes as f64 / 1e6,
            report.last_seq,
            report.gtid_pos
        ));
        tell.line(&format!(
            "{} state records, {} entries of the index over the log, {} chunks of large transactions ({} of them dead), {} run files",
            report.states, report.index_points, report.chunks, report.dead_chunks, report.runs
        ));
        tell.line(&format!(
            "{} tables, {} rows, {} index entries, {} rows compared with the log",
            report.tables, report.rows, report.index_entries, report.compared_rows
        ));
    }
    match report.damages {
        0 if args.json => Ok(()),
        0 => {
            tell.line("no damage");
            Ok(())
        }
        1 => Err(Failure::Run(format!("{}: one damage", dir.display()))),
        n => Err(Failure::Run(format!("{}: {n} damages", dir.display()))),
    }
}
