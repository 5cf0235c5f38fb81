//! The command line of `narwal restore`.

use crate::binlog::select::datetime;
use crate::failure::Failure;
use clap::Parser;
use narwal_engine::EngineError;
use narwal_engine::backup::Point;
use std::path::PathBuf;

pub(super) const EXAMPLES: &str = "\
Examples:
  narwal restore --from=/backups/tuesday --datadir=./new               as the backup was made; also an incremental one
  ssh store cat db1.tar.zst | narwal restore --from=- --datadir=./new  a stream
  narwal restore --from=/backups/tuesday --datadir=./new --archive=file:///archive
                                                                       and all that was archived since
  narwal restore --from=/backups/tuesday --datadir=./new --archive=s3://bucket/db1 --to-datetime='2026-11-21 14:59:59'
                                                                       as of that second, before the mishap
  narwal restore --from=/backups/tuesday --datadir=./new --to-gtid=0-1-4711
                                                                       as of that transaction, inclusive

Everything is read and checked before a byte is written. The restored folder is a server of its own: start it with another
--server-id if the one that was backed up still runs. It becomes its replica by
  CHANGE MASTER TO MASTER_HOST='...', MASTER_USER='...', MASTER_PASSWORD='...', MASTER_USE_GTID=slave_pos; START SLAVE;
docs/backup.md tells more.

Exit status: 0 done; 1 could not be done; 2 wrong options; 3 the backup is damaged.";

/// Makes a data folder of a backup.
#[derive(Debug, Parser)]
#[command(name = "narwal restore", max_term_width = 110, after_help = EXAMPLES)]
pub(super) struct RestoreArgs {
    /// Folder of the backup; or - (standard input) or a file for a backup made with --stream
    #[arg(long, value_name = "DIR|FILE|-")]
    pub(super) from: PathBuf,
    /// Data folder to make; not there, or empty
    #[arg(long, value_name = "DIR")]
    pub(super) datadir: PathBuf,
    /// Where a parent of an incremental backup is now, if it was moved (may be given several times)
    #[arg(long, value_name = "DIR")]
    pub(super) parent: Vec<PathBuf>,
    /// Key file of an encrypted backup: that of the server
    #[arg(long, value_name = "FILE")]
    pub(super) encryption_key_file: Option<PathBuf>,
    /// Key file of a stream made with --encrypt-key-file
    #[arg(long, value_name = "FILE")]
    pub(super) encrypt_key_file: Option<PathBuf>,
    /// Archive with the log behind the backup: file:///DIR, a folder, or s3://BUCKET/PREFIX
    #[arg(long, value_name = "URL|DIR")]
    pub(super) archive: Option<String>,
    /// Which of the archive's histories, if it has several of this log
    #[arg(long, value_name = "NAME", requires = "archive")]
    pub(super) archive_history: Option<String>,
    #[command(flatten)]
    pub(super) to: ToArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "As of another moment than the backup's end")]
#[group(multiple = false)]
pub(super) struct ToArgs {
    /// As of this transaction, inclusive; a list: as of when all of them had been committed
    #[arg(long, value_name = "GTID")]
    pub(super) to_gtid: Option<String>,
    /// As of the end of this second: before the first transaction of a later one (local time, or seconds since 1970)
    #[arg(long, value_name = "TIME")]
    pub(super) to_datetime: Option<String>,
    /// As of this place in the binary log
    #[arg(long, value_name = "FILE:OFFSET")]
    pub(super) to_position: Option<String>,
}

impl ToArgs {
    pub(super) fn point(&self) -> Result<Option<Point>, Failure> {
        if let Some(text) = &self.to_gtid {
            return Ok(Some(Point::Gtid(text.clone())));
        }
        if let Some(text) = &self.to_datetime {
            return Ok(Some(Point::Time(datetime("to-datetime", text)?)));
        }
        let Some(text) = &self.to_position else {
            return Ok(None);
        };
        let parsed = text
            .rsplit_once(':')
            .and_then(|(file, offset)| Some((file.to_owned(), offset.parse().ok()?)));
        match parsed {
            Some((file, offset)) => Ok(Some(Point::Position { file, offset })),
            None => Err(Failure::Usage(format!(
                "--to-position={text}: a place is FILE:OFFSET, such as narwal-bin.000002:3456"
            ))),
        }
    }
}

pub(super) fn engine(e: EngineError) -> Failure {
    match e {
        EngineError::Corrupt(text) => Failure::Damaged(text),
        e => Failure::Run(e.to_string()),
    }
}
