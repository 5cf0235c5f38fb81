//! BACKUP TO and BACKUP STREAM: a copy of the running database, into a folder of the server's or through the connection.
//!
//! BACKUP TO tells how far it is in rows of (`State`, `Done`, `Total`, `Detail`): `copying` about twice a second, then `done`
//! with a JSON object of what was made. The folder is a backup from that row on.
//!
//! # What BACKUP STREAM sends
//!
//! Rows of (`kind`, `file`, `offset`, `data`), in the order in which they are to be applied:
//!
//! | kind | file | offset | data |
//! |---|---|---|---|
//! | `begin` | | bytes to come, about | [`StreamBegin`] as JSON |
//! | `data` | name, relative to the data folder | where the bytes belong in it | up to 1 MiB as stored (encrypted, if the folder is); replaces what an earlier row gave of the same place |
//! | `end` | name | length of the file | nothing. What no row gave of the file is zeros |
//! | `done` | | | [`narwal_engine::backup::BackupEnd`] as JSON |
//!
//! The backup is whole with `done`, and worth nothing without it. If the connection breaks before, the server keeps the
//! backup for ten minutes under its token: `BACKUP STREAM RESUME 'token' AFTER n` goes on behind the first `n` rows of kind
//! `data` and `end` (all connections of this backup counted together), with a `begin` row in front.
//!
//! Without MAX RATE both keep to [`Throttle::beside_work`]; MAX RATE 0 is as fast as it goes.

use crate::instance::Instance;
use crate::privileges::PrivilegeSet;
use crate::process::Process;
use crate::rows::Grid;
use crate::session::ClientSession;
use crate::words::BackupWords;
use narwal_engine::backup::{Backup, BackupOptions, FolderSink, Piece, Throttle};
use narwal_engine::{Database, EngineError};
use narwal_types::errors;
use narwal_types::{ResultSink, SqlError, SqlResult, TypeKind, ValueRef};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The largest file of wrapped keys.
const KEYS_MAX: u64 = 1 << 20;

/// The data of a stream's `begin` row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamBegin {
    /// 1.
    pub format: u32,
    /// For RESUME.
    pub token: String,
    /// Narwal's version.
    pub version: String,
    /// The folder's file of wrapped keys, if the folder is encrypted: the backup's too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<String>,
}

fn error(text: impl Into<Box<str>>) -> SqlError {
    errors::UNKNOWN_ERROR.text(text)
}

/// A name that nobody guesses.
fn token() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// The data folder's wrapped keys, if it is encrypted.
fn keys_of(instance: &Instance) -> SqlResult<Option<String>> {
    let path = instance.database().path().join("keys");
    match std::fs::metadata(&path) {
        Ok(m) if m.len() > KEYS_MAX => Err(error(format!("{}: too long", path.display()))),
        Ok(m) if m.len() > 0 => std::fs::read_to_string(&path)
            .map(Some)
            .map_err(|e| error(format!("{}: {e}", path.display()))),
        Ok(_) => Ok(None),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(error(format!("{}: {e}", path.display()))),
    }
}

fn interrupted(process: &Process) -> SqlResult<()> {
    if process.interrupt.load(Ordering::SeqCst) {
        return Err(errors::QUERY_INTERRUPTED.plain());
    }
    Ok(())
}

/// MAX RATE; without it the server's other work comes first.
fn throttle(words: &BackupWords, db: &Database) -> Throttle {
    match words.max_rate {
        Some(rate) => Throttle::new(rate << 20),
        None => Throttle::beside_work(db.log_end().1),
    }
}

/// Waits until so many bytes more may go.
fn pace(throttle: &mut Throttle, bytes: u64, db: &Database, process: &Process) -> SqlResult<()> {
    let mut wait = throttle.after(bytes, db.log_end().1);
    while !wait.is_zero() {
        interrupted(process)?;
        let nap = wait.min(Duration::from_millis(100));
        std::thread::sleep(nap);
        wait -= nap;
    }
    interrupted(process)
}

fn stream_grid() -> Grid {
    let mut g = Grid::new();
    g.text("kind", 8)
        .text("file", 255)
        .uint("offset", false)
        .any("data", TypeKind::Blob(narwal_types::BlobSize::Long), false);
    g
}

/// How a stream ended early.
enum Broken {
    /// The client is gone, or does not take any more.
    Client(SqlError),
    /// The backup can't go on.
    Backup(SqlError),
}

impl ClientSession {
    fn check_backup(&mut self) -> SqlResult<()> {
        let both = PrivilegeSet::RELOAD.with(PrivilegeSet::REPLICATION_SLAVE);
        let has = self.account().global;
        if has.has(PrivilegeSet::SUPER) || has.has(both) {
            return Ok(());
        }
        Err(crate::acl::privilege_needed(both))
    }

    /// Columns of the statement's result.
    pub(crate) fn backup_columns(words: &BackupWords) -> Grid {
        match words.to {
            Some(_) => progress_grid(),
            None => stream_grid(),
        }
    }

    /// BACKUP TO, BACKUP STREAM. Returns the number of rows sent.
    pub(crate) fn backup(
        &mut self,
        words: &BackupWords,
        out: &mut dyn ResultSink,
    ) -> SqlResult<u64> {
        self.check_backup()?;
        self.commit_open()?;
        match &words.to {
            Some(dir) => self.backup_to(dir, words, out),
            None => self.backup_stream(words, out),
        }
    }

    fn backup_options(&self, words: &BackupWords) -> BackupOptions {
        BackupOptions {
            with_log: !words.no_log,
            name: format!("backup of connection {}", self.client.id),
        }
    }

    fn backup_stream(&mut self, words: &BackupWords, out: &mut dyn ResultSink) -> SqlResult<u64> {
        let instance = self.instance.clone();
        let (name, mut backup) = match &words.resume {
            None => {
                let options = self.backup_options(words);
                (token(), instance.database().begin_backup(options)?)
            }
            Some((name, after)) => {
                let found = instance.parked_backups.take(name);
                let mut backup = found.ok_or_else(|| {
                    error("there is no broken backup of this token any more: begin anew")
                })?;
                backup.resume_after(*after);
                (name.clone(), backup)
            }
        };
        let begin = StreamBegin {
            format: 1,
            token: name.clone(),
            version: crate::NARWAL_VERSION.into(),
            keys: keys_of(&instance)?,
        };
        let mut throttle = throttle(words, instance.database());
        let mut pace = |bytes| pace(&mut throttle, bytes, instance.database(), &self.process);
        match send(&begin, &mut backup, &mut pace, out) {
            Ok(rows) => Ok(rows),
            Err(Broken::Client(e)) => {
                instance.parked_backups.put(name, backup);
                Err(e)
            }
            Err(Broken::Backup(e)) => Err(e),
        }
    }
}

/// Sends a stream's rows.
fn send(
    begin: &StreamBegin,
    backup: &mut Backup,
    pace: &mut dyn FnMut(u64) -> SqlResult<()>,
    out: &mut dyn ResultSink,
) -> Result<u64, Broken> {
    let json =
        |v: serde_json::Result<String>| v.map_err(|e| Broken::Backup(error(format!("JSON: {e}"))));
    let mut rows = 0;
    let total = backup.progress();
    let text = json(serde_json::to_string(begin))?;
    let columns = stream_grid().columns;
    out.begin_rows(&columns).map_err(Broken::Client)?;
    let mut row = |kind: &str, file: &str, offset: u64, data: &[u8]| {
        rows += 1;
        out.row(&[
            ValueRef::Str(kind.as_bytes()),
            ValueRef::Str(file.as_bytes()),
            ValueRef::UInt(offset),
            ValueRef::Bytes(data),
        ])
        .and_then(|()| out.flush())
        .map_err(Broken::Client)
    };
    row("begin", "", total.total - total.done, text.as_bytes())?;
    loop {
        let piece = backup.next_piece().map_err(|e| Broken::Backup(e.into()))?;
        match piece {
            Some(Piece::Data {
                file,
                offset,
                bytes,
            }) => {
                row("data", &file, offset, &bytes)?;
                // KILL ends it for good. A client that has gone ends its statement too, and may come back: it is known by
                // that it takes nothing more.
                if let Err(e) = pace(bytes.len() as u64) {
                    row("data", &file, offset + bytes.len() as u64, &[])?;
                    return Err(Broken::Backup(e));
                }
            }
            Some(Piece::End { file, size }) => row("end", &file, size, &[])?,
            None => break,
        }
    }
    let end = json(serde_json::to_string(&backup.end()))?;
    row("done", "", 0, end.as_bytes())?;
    Ok(rows)
}

fn progress_grid() -> Grid {
    let mut g = Grid::new();
    g.text("State", 32)
        .uint("Done", false)
        .uint("Total", false)
        .text("Detail", 4096);
    g
}

/// How often BACKUP TO says how far it is.
const TELL: Duration = Duration::from_millis(500);

/// Sends BACKUP TO's rows.
struct Progress<'a> {
    out: &'a mut dyn ResultSink,
    rows: u64,
    told: Option<Instant>,
}

impl Progress<'_> {
    fn tell(&mut self, state: &str, done: u64, total: u64, detail: &str) -> SqlResult<()> {
        self.rows += 1;
        self.told = Some(Instant::now());
        self.out.row(&[
            ValueRef::Str(state.as_bytes()),
            ValueRef::UInt(done),
            ValueRef::UInt(total),
            ValueRef::Str(detail.as_bytes()),
        ])?;
        self.out.flush()
    }

    fn now_and_then(&mut self, backup: &Backup) -> SqlResult<()> {
        if self.told.is_some_and(|t| t.elapsed() < TELL) {
            return Ok(());
        }
        let p = backup.progress();
        self.tell("copying", p.done, p.total, "")
    }
}

impl ClientSession {
    fn backup_to(
        &mut self,
        dir: &str,
        words: &BackupWords,
        out: &mut dyn ResultSink,
    ) -> SqlResult<u64> {
        let instance = self.instance.clone();
        let db = instance.database();
        let to = folder(db, dir)?;
        let parent = words.parent.as_deref().map(|p| folder(db, p)).transpose()?;
        let keys = keys_of(&instance)?;
        let mut sink = FolderSink::on_this_host(&to, parent.as_deref())?;
        let mut backup = db.begin_backup(self.backup_options(words))?;
        let mut throttle = throttle(words, db);
        let process = self.process.clone();
        let go_on = |_| match process.interrupt.load(Ordering::SeqCst) {
            true => Err(EngineError::Interrupted),
            false => Ok(()),
        };
        let shared = sink.share_base(&mut backup, go_on)?;
        out.begin_rows(&progress_grid().columns)?;
        let mut told = Progress {
            out,
            rows: 0,
            told: None,
        };
        while let Some(piece) = backup.next_piece()? {
            sink.put(&piece)?;
            if let Piece::Data { bytes, .. } = &piece {
                pace(&mut throttle, bytes.len() as u64, db, &process)?;
            }
            told.now_and_then(&backup)?;
        }
        if let Some(keys) = keys {
            sink.put_file("keys", keys.as_bytes())?;
        }
        let Some(end) = backup.end().cloned() else {
            return Err(error("the backup has no end"));
        };
        let done = backup.progress().done;
        let written = sink.written();
        let manifest = sink.finish(crate::NARWAL_VERSION, end)?;
        let detail = serde_json::json!({
            "folder": to,
            "id": manifest.id,
            "gtid_binlog_pos": manifest.end.gtid_binlog_pos,
            "file": manifest.end.binlog_file,
            "position": manifest.end.binlog_pos,
            "bytes": manifest.bytes(),
            "written": written,
            "shared_blocks": shared,
        });
        told.tell("done", done, done, &detail.to_string())?;
        Ok(told.rows)
    }
}

/// A folder for backups, as a path that means the same to everybody.
fn folder(db: &Database, path: &str) -> SqlResult<PathBuf> {
    let dir = PathBuf::from(path);
    if !dir.is_absolute() {
        return Err(error(format!(
            "'{path}' is not an absolute path: the server's working folder is its own business"
        )));
    }
    let data = db.path().canonicalize();
    let own = |p: &Path| data.as_ref().is_ok_and(|d| p.starts_with(d));
    if own(&dir) || dir.canonicalize().is_ok_and(|d| own(&d)) {
        return Err(error(format!("'{path}' is inside the data folder")));
    }
    Ok(dir)
}
