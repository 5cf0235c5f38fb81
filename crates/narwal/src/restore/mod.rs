//! `narwal restore`: a data folder out of a backup, as of its end or of another moment.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the command, its options |
//! | `archive.rs` | more log from an archive |
//! | `log.rs` | the log of a restored folder: where it is to end |
//! | `settle.rs` | the last step: the folder is opened once |

mod archive;
mod log;
mod settle;

pub use archive::url_of;

use crate::Failure;
use crate::backup::bar::{Bar, size};
use crate::backup::{check, stream};
use crate::binlog::select::datetime;
use clap::Parser;
use narwal_engine::EngineError;
use narwal_engine::backup::{
    BASE, Chain, FolderSink, Manifest, Piece, Point, begin_folder, end_folder, restore_files,
};
use narwal_log::{Disk, RealDisk};
use std::path::PathBuf;
use std::sync::Arc;

const EXAMPLES: &str = "\
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
struct RestoreArgs {
    /// Folder of the backup; or - (standard input) or a file for a backup made with --stream
    #[arg(long, value_name = "DIR|FILE|-")]
    from: PathBuf,
    /// Data folder to make; not there, or empty
    #[arg(long, value_name = "DIR")]
    datadir: PathBuf,
    /// Where a parent of an incremental backup is now, if it was moved (may be given several times)
    #[arg(long, value_name = "DIR")]
    parent: Vec<PathBuf>,
    /// Key file of an encrypted backup: that of the server
    #[arg(long, value_name = "FILE")]
    encryption_key_file: Option<PathBuf>,
    /// Key file of a stream made with --encrypt-key-file
    #[arg(long, value_name = "FILE")]
    encrypt_key_file: Option<PathBuf>,
    /// Archive with the log behind the backup: file:///DIR, a folder, or s3://BUCKET/PREFIX
    #[arg(long, value_name = "URL|DIR")]
    archive: Option<String>,
    /// Which of the archive's histories, if it has several of this log
    #[arg(long, value_name = "NAME", requires = "archive")]
    archive_history: Option<String>,
    #[command(flatten)]
    to: ToArgs,
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "As of another moment than the backup's end")]
#[group(multiple = false)]
struct ToArgs {
    /// As of this transaction, inclusive; a list: as of when all of them had been committed
    #[arg(long, value_name = "GTID")]
    to_gtid: Option<String>,
    /// As of the end of this second: before the first transaction of a later one (local time, or seconds since 1970)
    #[arg(long, value_name = "TIME")]
    to_datetime: Option<String>,
    /// As of this place in the binary log
    #[arg(long, value_name = "FILE:OFFSET")]
    to_position: Option<String>,
}

impl ToArgs {
    fn point(&self) -> Result<Option<Point>, Failure> {
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

fn engine(e: EngineError) -> Failure {
    match e {
        EngineError::Corrupt(text) => Failure::Damaged(text),
        e => Failure::Run(e.to_string()),
    }
}

/// Runs the command with the arguments behind `restore`.
pub fn run(args: &[String]) -> Result<(), Failure> {
    let Some(args) = crate::cli::parse::<RestoreArgs>("narwal restore", args)? else {
        return Ok(());
    };
    let point = args.to.point()?;
    let dir = &args.datadir;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let mut bar = Bar::new("restore", 0);
    let manifest = if args.from.as_os_str() == "-" {
        from_stream(std::io::stdin().lock(), &args, &disk, &mut bar)?
    } else if args.from.is_file() {
        let file =
            std::fs::File::open(&args.from).map_err(|e| Failure::run(args.from.display(), e))?;
        bar.total = file.metadata().map_or(0, |m| m.len());
        let file = std::io::BufReader::with_capacity(1 << 20, file);
        from_stream(file, &args, &disk, &mut bar)?
    } else {
        from_folder(&args, &disk, &mut bar)?
    };
    bar.clear();
    let ends = log::complete(&args, &manifest, point.as_ref())?;
    end_folder(&*disk, dir).map_err(engine)?;
    let settled = settle::run(&args, &manifest)?;
    let shown = |text: &str| match text {
        "" => "(none)".to_owned(),
        text => text.to_owned(),
    };
    println!(
        "{}: {} restored in {:.1} s",
        dir.display(),
        size(manifest.bytes()),
        bar.seconds()
    );
    println!(
        "GTID position {}, {} position {}{}",
        shown(&settled.gtid_pos),
        settled.file,
        settled.offset,
        match ends.time {
            0 => String::new(),
            t => format!(", last transaction of {}", log::time_text(t)),
        }
    );
    for name in &settled.dropped {
        println!("its connection '{name}' to a source was the old server's, and is not kept");
    }
    let key = args
        .encryption_key_file
        .as_ref()
        .map_or(String::new(), |k| {
            format!(" --encryption-key-file={}", k.display())
        });
    println!(
        "start it:     narwal serve --datadir={}{key} --server-id=N   (not {}, if that server still runs)",
        dir.display(),
        manifest.end.server_id
    );
    println!(
        "as a replica: CHANGE MASTER TO MASTER_HOST='...', MASTER_USER='...', MASTER_PASSWORD='...', MASTER_USE_GTID=slave_pos; START SLAVE;"
    );
    Ok(())
}

/// Whether the key file and the backup go together, before anything is written.
fn check_keys(args: &RestoreArgs, m: &Manifest) -> Result<(), Failure> {
    match (&args.encryption_key_file, m.encrypted) {
        (None, true) => Err(Failure::Usage(
            "the backup is encrypted: name the server's key file with --encryption-key-file".into(),
        )),
        (Some(_), false) => Err(Failure::Usage(
            "the backup is not encrypted: leave --encryption-key-file away, and run narwal encrypt on what was restored".into(),
        )),
        _ => Ok(()),
    }
}

fn from_folder(
    args: &RestoreArgs,
    disk: &Arc<dyn Disk>,
    bar: &mut Bar,
) -> Result<Manifest, Failure> {
    let chain = Chain::open(disk.clone(), &args.from, &args.parent).map_err(engine)?;
    let manifest = chain.manifest().clone();
    check_keys(args, &manifest)?;
    check(&chain, "verify")?;
    begin_folder(&**disk, &args.datadir).map_err(engine)?;
    bar.total = manifest.bytes();
    restore_files(&chain, disk, &args.datadir, |n| {
        bar.add(n);
        Ok(())
    })
    .map_err(engine)?;
    Ok(manifest)
}

fn from_stream(
    from: impl std::io::Read,
    args: &RestoreArgs,
    disk: &Arc<dyn Disk>,
    bar: &mut Bar,
) -> Result<Manifest, Failure> {
    let dir = &args.datadir;
    begin_folder(&**disk, dir).map_err(engine)?;
    let mut sink = FolderSink::into_folder(disk.clone(), dir);
    let manifest = stream::read(from, args.encrypt_key_file.as_deref(), |piece| {
        if let Piece::Data { bytes, .. } = piece {
            bar.add(bytes.len() as u64);
        }
        sink.put(piece).map_err(engine)
    })?;
    for f in &manifest.files {
        let end = Piece::End {
            file: f.name.as_str().into(),
            size: f.size,
        };
        sink.put(&end).map_err(engine)?;
    }
    let files = sink.finish_files().map_err(engine)?;
    for f in &manifest.files {
        let same = files.iter().any(|g| g == f);
        if !same {
            return Err(Failure::Damaged(format!(
                "the stream is damaged: {} is not what was backed up",
                f.name
            )));
        }
    }
    if files.len() != manifest.files.len() || manifest.file(BASE).is_none() {
        return Err(Failure::Damaged(
            "the stream is damaged: its files are not those of its manifest".into(),
        ));
    }
    check_keys(args, &manifest)?;
    Ok(manifest)
}
