//! The archive of the log: shipping in the server, and `narwal archive`, which reads it.

use crate::Failure;
use clap::{Args, Parser, Subcommand};
use narwal_archive::{Archive, ArchiveError, Archiver, Entry, FolderKeys, HistoryName};
use narwal_crypt::KeyFile;
use narwal_log::RealDisk;
use narwal_session::ArchiveControl;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A URL for `SHOW VARIABLES`, if there is an archive.
pub fn start(
    db: &narwal_engine::Database,
    url: &str,
    timeout: u64,
    key_file: Option<&Path>,
) -> Result<Archiver, Failure> {
    let keys = match key_file {
        None => None,
        Some(path) => Some(FolderKeys {
            datadir: db.path().to_owned(),
            key_file: KeyFile::read(path).map_err(|e| Failure::Run(e.to_string()))?,
        }),
    };
    Archiver::start(db.clone(), url, keys, seconds(timeout)).map_err(failure)
}

fn seconds(timeout: u64) -> Option<Duration> {
    (timeout > 0).then(|| Duration::from_secs(timeout))
}

fn failure(e: ArchiveError) -> Failure {
    match e {
        ArchiveError::Url(text) => Failure::Usage(text),
        ArchiveError::Damaged { .. } | ArchiveError::Gap { .. } => Failure::Damaged(e.to_string()),
        e => Failure::Run(e.to_string()),
    }
}

/// The archiver as sessions see it.
pub struct Control(pub std::sync::Arc<Archiver>);

impl ArchiveControl for Control {
    fn set_timeout(&self, timeout: u64) {
        self.0.set_timeout(seconds(timeout));
    }

    fn status(&self) -> Vec<(&'static str, String)> {
        let s = self.0.status();
        let state = match (&s.error, &s.history) {
            (Some(_), _) => "failing",
            (None, None) => "starting",
            (None, Some(_)) => "running",
        };
        let last = s.last.as_ref();
        let end = last.map_or(0, |e| e.next.unwrap_or(e.end));
        vec![
            ("state", state.into()),
            ("bytes", s.bytes.to_string()),
            ("failures", s.failures.to_string()),
            (
                "history",
                s.history.map_or(String::new(), |h| h.to_string()),
            ),
            ("lag_bytes", s.lag_bytes.to_string()),
            ("last_error", s.error.unwrap_or_default()),
            (
                "last_gtid",
                last.and_then(|e| e.gtids_after.clone()).unwrap_or_default(),
            ),
            ("last_lsn", end.to_string()),
            (
                "last_time",
                last.map_or(String::new(), |e| utc(e.archived_at)),
            ),
            ("segments", s.segments.to_string()),
        ]
    }
}

/// `2026-11-21 22:10:05`, UTC.
fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days to a date of the Gregorian calendar, counted in eras of 400 years that begin in March.
    let z = days + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + u64::from(month <= 2);
    let (h, m, s) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02} {h:02}:{m:02}:{s:02}")
}

const EXAMPLES: &str = "\
A URL is file:///directory or s3://bucket/prefix[?endpoint=URL&region=NAME]; keys of a bucket are taken from the environment
(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, ...).

Examples:
  narwal archive list file:///var/backups/narwal               histories and segments
  narwal archive verify s3://backups/db1                       reads everything and checks every checksum
  narwal archive fetch file:///var/backups/narwal ./log        brings the segments into a folder
  narwal binlog ./log                                          prints what is in them

Exit status: 0 done; 1 could not be done; 2 wrong options; 3 something is damaged or missing. See docs/archive.md.";

/// Lists, verifies and fetches what a server has archived of its log.
#[derive(Debug, Parser)]
#[command(name = "narwal archive", max_term_width = 110, after_help = EXAMPLES)]
struct ArchiveArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Shows histories and segments
    List(ListArgs),
    /// Reads every object and verifies it, down to each record of the log
    Verify(VerifyArgs),
    /// Brings segments into a folder
    Fetch(FetchArgs),
}

#[derive(Debug, Args)]
struct Common {
    /// Where the archive is
    #[arg(value_name = "URL")]
    url: String,
    /// The history, if there are several (as `list` names it)
    #[arg(long, value_name = "NAME")]
    history: Option<String>,
}

#[derive(Debug, Args)]
struct ListArgs {
    #[command(flatten)]
    common: Common,
    /// One JSON object a line: the segments' markers
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct VerifyArgs {
    #[command(flatten)]
    common: Common,
    /// The segments are encrypted with these keys; without them only the objects' checksums are verified
    #[arg(long, value_name = "FILE")]
    encryption_key_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct FetchArgs {
    #[command(flatten)]
    common: Common,
    /// The folder; made if missing. Segments of the same names are replaced
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// From the segment on that holds this LSN (default: all)
    #[arg(long, value_name = "LSN")]
    from: Option<u64>,
    /// The segments are encrypted with these keys; they come decrypted
    #[arg(long, value_name = "FILE")]
    encryption_key_file: Option<PathBuf>,
}

/// Runs `narwal archive`.
pub fn run(args: &[String]) -> Result<(), Failure> {
    let Some(args) = crate::cli::parse::<ArchiveArgs>("narwal archive", args)? else {
        return Ok(());
    };
    match args.what {
        What::List(a) => list(&a),
        What::Verify(a) => verify(&a),
        What::Fetch(a) => fetch(&a),
    }
}

fn keys(path: Option<&Path>) -> Result<Option<KeyFile>, Failure> {
    path.map(KeyFile::read)
        .transpose()
        .map_err(|e| Failure::Run(e.to_string()))
}

/// Writes a line; false: nobody reads any more.
fn line(text: &str) -> bool {
    writeln!(std::io::stdout(), "{text}").is_ok()
}

fn list(a: &ListArgs) -> Result<(), Failure> {
    let archive = Archive::open(&a.common.url).map_err(failure)?;
    let histories = match &a.common.history {
        Some(_) => vec![
            archive
                .choose(a.common.history.as_deref())
                .map_err(failure)?,
        ],
        None => archive.histories().map_err(failure)?,
    };
    if histories.is_empty() {
        archive.choose(None).map_err(failure)?;
    }
    for history in histories {
        let about = archive.history(history).map_err(failure)?;
        let entries = archive.all(history).map_err(failure)?;
        if a.json {
            for e in &entries {
                let mut value = serde_json::to_value(e).unwrap_or_default();
                value["history"] = history.to_string().into();
                if !line(&value.to_string()) {
                    return Ok(());
                }
            }
            continue;
        }
        let because = about
            .because
            .map_or(String::new(), |b| format!("; begun because {b}"));
        line(&format!(
            "history {history}: server {}, begun {} UTC{because}",
            about.server_id,
            utc(about.created)
        ));
        line(&format!(
            "{:>20} {:>20} {:>12}  {:<19}  GTIDs",
            "from LSN", "to LSN", "bytes", "archived (UTC)"
        ));
        for e in &entries {
            let text = format!(
                "{:>20} {:>20} {:>12}  {}  {}{}",
                e.start,
                e.end,
                e.bytes,
                utc(e.archived_at),
                e.gtids_after.as_deref().unwrap_or("?"),
                if e.next.is_none() { "  (not full)" } else { "" }
            );
            if !line(&text) {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// A line on the terminal that says how far it is.
struct Tell {
    on: bool,
    what: &'static str,
    segments: u64,
    bytes: u64,
}

impl Tell {
    fn new(what: &'static str) -> Self {
        Tell {
            on: std::io::stderr().is_terminal(),
            what,
            segments: 0,
            bytes: 0,
        }
    }

    fn entry(&mut self, e: &Entry) {
        self.segments += 1;
        self.bytes += e.bytes;
        if self.on {
            eprint!(
                "\r\x1b[K{}: {} segments, {} MiB",
                self.what,
                self.segments,
                self.bytes >> 20
            );
        }
    }

    fn clear(&self) {
        if self.on {
            eprint!("\r\x1b[K");
        }
    }
}

fn verify(a: &VerifyArgs) -> Result<(), Failure> {
    let archive = Archive::open(&a.common.url).map_err(failure)?;
    let keys = keys(a.encryption_key_file.as_deref())?;
    let histories: Vec<HistoryName> = match &a.common.history {
        Some(_) => vec![
            archive
                .choose(a.common.history.as_deref())
                .map_err(failure)?,
        ],
        None => archive.histories().map_err(failure)?,
    };
    if histories.is_empty() {
        archive.choose(None).map_err(failure)?;
    }
    let mut bad = 0;
    for history in histories {
        let mut tell = Tell::new("verifying");
        let found = archive
            .verify(history, keys.as_ref(), &mut |e| tell.entry(e))
            .map_err(failure)?;
        tell.clear();
        for p in &found {
            line(&format!("{history}/{}: {}", p.object, p.what));
        }
        bad += found.len();
        line(&format!(
            "history {history}: {} segments, {} bytes, {} problems",
            tell.segments,
            tell.bytes,
            found.len()
        ));
    }
    match bad {
        0 => Ok(()),
        n => Err(Failure::Damaged(format!(
            "{n} objects are damaged or missing"
        ))),
    }
}

fn fetch(a: &FetchArgs) -> Result<(), Failure> {
    let archive = Archive::open(&a.common.url).map_err(failure)?;
    let keys = keys(a.encryption_key_file.as_deref())?;
    let history = archive
        .choose(a.common.history.as_deref())
        .map_err(failure)?;
    let from = match a.from {
        Some(lsn) => lsn,
        None => archive.history(history).map_err(failure)?.start,
    };
    let entries = archive.entries_from(history, from).map_err(failure)?;
    let mut tell = Tell::new("fetching");
    let done = archive
        .fetch(
            history,
            &entries,
            keys.as_ref(),
            &RealDisk,
            &a.dir,
            &mut |e| tell.entry(e),
        )
        .map_err(failure);
    tell.clear();
    let done = done?;
    line(&format!(
        "{} segments, {} bytes, up to LSN {}",
        done.segments, done.bytes, done.end
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::utc;

    #[test]
    fn times() {
        assert_eq!(utc(0), "1970-01-01 00:00:00");
        assert_eq!(utc(951_782_399), "2000-02-28 23:59:59");
        assert_eq!(utc(951_868_799), "2000-02-29 23:59:59");
        assert_eq!(utc(1_795_298_400), "2026-11-21 22:00:00");
    }
}
