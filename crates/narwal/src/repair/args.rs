//! The command line of `narwal repair`.

use clap::Parser;
use std::path::{Path, PathBuf};

pub(super) const EXAMPLES: &str = "\
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
pub(super) struct RepairArgs {
    /// Data folder
    #[arg(default_value = "./narwal-data")]
    pub(super) dir: PathBuf,
    /// Data folder, as an option
    #[arg(long, value_name = "DIR", conflicts_with = "dir")]
    pub(super) datadir: Option<PathBuf>,
    /// Folder of a backup of this server
    #[arg(long, value_name = "DIR")]
    pub(super) from: Option<PathBuf>,
    /// Where a parent of an incremental backup is now, if it was moved (may be given several times)
    #[arg(long, value_name = "DIR", requires = "from")]
    pub(super) parent: Vec<PathBuf>,
    /// Archive with this server's log: file:///DIR, a folder, or s3://BUCKET/PREFIX
    #[arg(long, value_name = "URL|DIR")]
    pub(super) archive: Option<String>,
    /// Which of the archive's histories, if it has several of this log
    #[arg(long, value_name = "NAME", requires = "archive")]
    pub(super) archive_history: Option<String>,
    /// A replica of this server, Narwal or MariaDB, which has applied all of its transactions: damaged tables come from there
    #[arg(long, value_name = "HOST[:PORT]", conflicts_with_all = ["from", "rebuild"])]
    pub(super) replica: Option<String>,
    /// Account there; it needs SELECT and BINLOG MONITOR
    #[arg(
        short,
        long,
        value_name = "NAME",
        default_value = "root",
        requires = "replica"
    )]
    pub(super) user: String,
    /// File with its password in the first line; else the environment variable MYSQL_PWD is the password
    #[arg(long, value_name = "FILE", requires = "replica")]
    pub(super) password_file: Option<PathBuf>,
    /// Key file of an encrypted folder
    #[arg(long, value_name = "FILE")]
    pub(super) encryption_key_file: Option<PathBuf>,
    /// Build the table store again even if no damage is found in it
    #[arg(long)]
    pub(super) rebuild: bool,
    /// Only say what is damaged and what would be done
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Memory for pages, MiB
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    pub(super) memory: u64,
}

impl RepairArgs {
    pub(super) fn folder(&self) -> &Path {
        self.datadir.as_deref().unwrap_or(&self.dir)
    }
}
