//! `narwal repair`: makes a damaged data folder whole again.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the command, its options, the order of the steps |
//! | `sources.rs` | where whole copies come from: a backup, an archive |
//! | `log.rs` | damaged and missing segments of the log |
//! | `base.rs` | the table store, built again from a backup's and the log |
//! | `tables.rs` | damaged tables, from a replica |
//!
//! The log is mended first, because the table store is built from it. Nothing that was in the folder is removed before the
//! folder has been checked again and found whole.

mod base;
mod log;
mod sources;
mod tables;

use crate::Failure;
use crate::folder::open_disk;
use clap::Parser;
use narwal_crypt::Access;
use narwal_engine::EngineError;
use narwal_engine::check::{AgainstLog, CheckObserver, CheckOptions, CheckReport, Finding, check};
use narwal_log::Disk;
use sources::Sources;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  narwal repair ./narwal-data                                    with what the folder itself has: a log that goes back to
                                                                 its beginning holds every row
  narwal repair ./narwal-data --from=/backups/monday             tables from a backup and the log since
  narwal repair ./narwal-data --from=/backups/monday --archive=file:///archive
                                                                 also with segments of the log from an archive
  narwal repair ./narwal-data --replica=db2                      damaged tables from a replica with the same transactions
  narwal repair ./narwal-data --dry-run                          only say what is damaged and what would be done

Stop the server first, and keep a copy of the folder if you can. docs/repair.md tells more.

Exit status: 0 the folder is whole; 1 it could not be done; 2 wrong options; 3 damage is left, or the copies are damaged.";

/// Makes a stopped server's damaged data folder whole again.
///
/// Checks the folder, puts whole copies in the place of damaged or missing segments of the log, builds the table store
/// again if it is damaged, and checks the folder once more.
#[derive(Debug, Parser)]
#[command(name = "narwal repair", max_term_width = 110, after_help = EXAMPLES)]
struct RepairArgs {
    /// Data folder
    #[arg(default_value = "./narwal-data")]
    dir: PathBuf,
    /// Data folder, as an option
    #[arg(long, value_name = "DIR", conflicts_with = "dir")]
    datadir: Option<PathBuf>,
    /// Folder of a backup of this server
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// Where a parent of an incremental backup is now, if it was moved (may be given several times)
    #[arg(long, value_name = "DIR", requires = "from")]
    parent: Vec<PathBuf>,
    /// Archive with this server's log: file:///DIR, a folder, or s3://BUCKET/PREFIX
    #[arg(long, value_name = "URL|DIR")]
    archive: Option<String>,
    /// Which of the archive's histories, if it has several of this log
    #[arg(long, value_name = "NAME", requires = "archive")]
    archive_history: Option<String>,
    /// A replica of this server, Narwal or MariaDB, which has applied all of its transactions: damaged tables come from there
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with_all = ["from", "rebuild"])]
    replica: Option<String>,
    /// Account there; it needs SELECT and BINLOG MONITOR
    #[arg(
        short,
        long,
        value_name = "NAME",
        default_value = "root",
        requires = "replica"
    )]
    user: String,
    /// File with its password in the first line; else the environment variable MYSQL_PWD is the password
    #[arg(long, value_name = "FILE", requires = "replica")]
    password_file: Option<PathBuf>,
    /// Key file of an encrypted folder
    #[arg(long, value_name = "FILE")]
    encryption_key_file: Option<PathBuf>,
    /// Build the table store again even if no damage is found in it
    #[arg(long)]
    rebuild: bool,
    /// Only say what is damaged and what would be done
    #[arg(long)]
    dry_run: bool,
    /// Memory for pages, MiB
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    memory: u64,
}

impl RepairArgs {
    fn folder(&self) -> &Path {
        self.datadir.as_deref().unwrap_or(&self.dir)
    }
}

/// The folder under repair.
struct Folder<'a> {
    dir: &'a Path,
    /// With its keys, if it is encrypted.
    disk: Arc<dyn Disk>,
    memory: u64,
}

fn engine(e: EngineError) -> Failure {
    match e {
        EngineError::Corrupt(text) => Failure::Damaged(text),
        e => Failure::Run(e.to_string()),
    }
}

fn io(what: &str, path: &Path) -> impl Fn(std::io::Error) -> Failure {
    let what = format!("{what} {}", path.display());
    move |e| Failure::run(&what, e)
}

/// What a check found.
#[derive(Default)]
struct Found {
    findings: Vec<Finding>,
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
    fn check(&self, against_log: AgainstLog) -> Result<(Found, CheckReport), Failure> {
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
struct Damage {
    /// Damaged segments.
    segments: Vec<PathBuf>,
    /// A part of the log is missing, or its files do not fit together.
    log: bool,
    /// Run files of large transactions.
    runs: Vec<PathBuf>,
    /// The table store, or what is derived from it.
    base: bool,
    /// Damaged tables of it, `database.table`.
    tables: Vec<String>,
}

impl Damage {
    fn of(dir: &Path, found: &Found) -> Damage {
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

/// Runs the command with the arguments behind `repair`.
pub fn run(args: &[String]) -> Result<(), Failure> {
    let Some(args) = crate::cli::parse::<RepairArgs>("narwal repair", args)? else {
        return Ok(());
    };
    let dir = args.folder();
    if !dir.is_dir() {
        return Err(Failure::Run(format!(
            "{}: no such data folder",
            dir.display()
        )));
    }
    let keys = args.encryption_key_file.as_deref();
    let folder = Folder {
        dir,
        disk: open_disk(dir, keys, Access::Serve)?.disk,
        memory: args.memory.max(16) << 20,
    };
    println!("checking {}", dir.display());
    let (found, _) = folder.check(AgainstLog::Never)?;
    for f in &found.findings {
        println!("{f}");
    }
    let missing_base = !folder
        .disk
        .exists(&dir.join(base::BASE))
        .map_err(io("looking into", dir))?;
    let damage = Damage::of(dir, &found);
    if found.findings.is_empty() && !args.rebuild && !missing_base {
        println!("no damage: nothing to repair");
        return Ok(());
    }
    let sources = Sources::open(&args, &folder)?;
    let outcome = mend(&folder, &args, &damage, &sources, missing_base);
    sources.close(&folder)?;
    let done = outcome?;
    if args.dry_run {
        return Ok(());
    }
    println!("checking again");
    let (left, report) = folder.check(AgainstLog::Short)?;
    for f in &left.findings {
        println!("{f}");
    }
    if !left.findings.is_empty() {
        return Err(Failure::Damaged(format!(
            "{}: {} damages are left; what was replaced is beside its place, with the ending {}",
            dir.display(),
            left.findings.len(),
            OLD
        )));
    }
    for old in &done {
        folder.disk.remove(old).map_err(io("removing", old))?;
    }
    println!(
        "no damage: {} tables, {} rows, GTID position '{}'",
        report.tables, report.rows, report.gtid_pos
    );
    Ok(())
}

/// Ending of what was replaced, until the folder is known to be whole.
const OLD: &str = ".damaged";

fn old_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(OLD);
    name.into()
}

/// The steps; the files that were put aside.
fn mend(
    folder: &Folder<'_>,
    args: &RepairArgs,
    damage: &Damage,
    sources: &Sources,
    missing_base: bool,
) -> Result<Vec<PathBuf>, Failure> {
    let mut aside = Vec::new();
    if damage.log {
        log::mend(folder, damage, sources, args.dry_run, &mut aside)?;
    }
    for run in &damage.runs {
        println!("{}: its rows are built again from the log", run.display());
        if !args.dry_run {
            let old = old_name(run);
            folder.disk.rename(run, &old).map_err(io("renaming", run))?;
            aside.push(old);
        }
    }
    if let Some(replica) = args.replica.as_ref().filter(|_| damage.base) {
        tables::refetch(folder, args, replica, &damage.tables)?;
    } else if !damage.log && damage.base || missing_base || args.rebuild {
        base::rebuild(folder, sources, args.dry_run, &mut aside)?;
    } else if damage.base && !args.dry_run {
        // What the check could not read because of the log is known only now.
        let (found, _) = folder.check(AgainstLog::Never)?;
        if Damage::of(folder.dir, &found).base {
            base::rebuild(folder, sources, args.dry_run, &mut aside)?;
        }
    }
    Ok(aside)
}
