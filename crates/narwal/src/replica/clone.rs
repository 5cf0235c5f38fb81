//! A running Narwal's files through a connection, by BACKUP STREAM.
//!
//! The pieces are written where they belong. How many of them are durable stands in a file beside them, so a run after a
//! lost link, a kill or a power loss goes on there, as long as the source keeps the backup (ten minutes); then it begins
//! anew.

use super::args::{ReplicaArgs, asking, quoted};
use super::work::{STATE, Work, sync};
use crate::Failure;
use crate::binlog::Progress;
use narwal_client::{Connection, Error, Rows};
use narwal_session::StreamBegin;
use narwal_types::errors::codes;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

/// Version of the stream that is read.
const FORMAT: u32 = 1;
/// What was written is made durable and noted after so many bytes, or this time.
const NOTE_BYTES: u64 = 16 << 20;
const NOTE_EVERY: Duration = Duration::from_secs(2);
/// Between two attempts to connect again.
const PAUSE: Duration = Duration::from_secs(1);
/// What a file of wrapped keys is called in a data folder.
const KEYS: &str = "keys";

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// Names the backup at the source.
    token: String,
    /// Rows of kind `data` and `end` that are in the files, durably.
    rows: u64,
    /// Bytes of them.
    bytes: u64,
    /// That was all.
    done: bool,
}

/// Why a stream has ended before its end.
enum Ended {
    /// The link is gone; another may go on.
    Link(String),
    /// The source does not have the backup any more.
    Forgotten(String),
    /// It can't go on.
    Failed(Failure),
}

impl From<Failure> for Ended {
    fn from(f: Failure) -> Self {
        Ended::Failed(f)
    }
}

impl From<Error> for Ended {
    fn from(e: Error) -> Self {
        match e.code() {
            // No answer of the server's.
            0 => Ended::Link(e.to_string()),
            // It was shut down or told to end the connection.
            codes::SERVER_SHUTDOWN
            | codes::ABORTING_CONNECTION
            | codes::NEW_ABORTING_CONNECTION
            | codes::CONNECTION_KILLED => Ended::Link(e.to_string()),
            codes::UNKNOWN_ERROR if e.to_string().contains("of this token") => {
                Ended::Forgotten(e.to_string())
            }
            _ => Ended::Failed(asking(e)),
        }
    }
}

/// Copies the source's files. There is no position to set: the copy's own log says it.
pub fn run(
    args: &ReplicaArgs,
    connection: Connection,
    work: &Work,
) -> Result<Option<String>, Failure> {
    let mut copy = Copy {
        args,
        work,
        state: State::default(),
        noted: State::default(),
        noted_at: Instant::now(),
        files: BTreeMap::new(),
        dirty: BTreeSet::new(),
        progress: Progress::new(0, true),
    };
    if work.going_on {
        copy.read_state();
        if copy.state.done {
            return Ok(None);
        }
        if copy.state.token.is_empty() {
            copy.begin_anew()?;
        }
    }
    let mut streamed = false;
    let mut connection = Some(connection);
    let mut lost: Option<Instant> = None;
    loop {
        let before = copy.state.rows;
        let result = match connection.take() {
            Some(c) => copy.stream(c),
            None => match Connection::connect(&args.connect()?) {
                Ok(c) => copy.stream(c),
                // It may be starting.
                Err(e) if e.code() == 0 || e.code() == codes::CON_COUNT_ERROR => {
                    Err(Ended::Link(e.to_string()))
                }
                Err(e) => Err(Ended::Failed(asking(e))),
            },
        };
        if copy.state.rows > before {
            (lost, streamed) = (None, true);
        }
        let why = match result {
            Ok(()) => return Ok(None),
            Err(Ended::Failed(e)) => return Err(e),
            Err(Ended::Forgotten(why)) => {
                // A link that broke without a sign is noticed at the source's end later than here.
                let patience = Duration::from_secs(if streamed { args.retry.min(90) } else { 5 });
                if lost.get_or_insert_with(Instant::now).elapsed() > patience {
                    copy.progress.clear();
                    eprintln!("narwal: the copy begins anew: {why}");
                    copy.begin_anew()?;
                    lost = None;
                    continue;
                }
                why
            }
            Err(Ended::Link(why)) => why,
        };
        let since = *lost.get_or_insert_with(Instant::now);
        copy.progress.clear();
        if since.elapsed() >= Duration::from_secs(args.retry) {
            return Err(Failure::Run(format!(
                "the connection to {} was lost: {why}",
                args.source()
            )));
        }
        if since.elapsed() < PAUSE {
            eprintln!(
                "narwal: the connection to {} was lost ({why}); trying again",
                args.source()
            );
        }
        std::thread::sleep(PAUSE);
    }
}

struct Copy<'a> {
    args: &'a ReplicaArgs,
    work: &'a Work,
    state: State,
    noted: State,
    noted_at: Instant,
    files: BTreeMap<PathBuf, File>,
    /// Files written since the last note.
    dirty: BTreeSet<PathBuf>,
    progress: Progress,
}

impl Copy<'_> {
    fn read_state(&mut self) {
        let state = fs::read(self.work.dir().join(STATE))
            .ok()
            .and_then(|b| serde_json::from_slice(&b).ok());
        self.state = state.unwrap_or_default();
        self.noted = self.state.clone();
    }

    fn begin_anew(&mut self) -> Result<(), Failure> {
        self.files.clear();
        self.dirty.clear();
        self.state = State::default();
        self.noted = State::default();
        self.work.clear()
    }

    /// One connection's share.
    fn stream(&mut self, mut connection: Connection) -> Result<(), Ended> {
        if self.state != self.noted {
            self.note()?;
        }
        // A source that waits long for a link that is gone keeps the backup that the next link asks for.
        connection.execute("SET SESSION net_write_timeout = 20")?;
        let mut sql = "BACKUP STREAM".to_owned();
        let fresh = self.state.token.is_empty();
        if fresh && self.args.no_log {
            sql.push_str(" NO LOG");
        }
        if let Some(rate) = self.args.max_rate {
            sql.push_str(&format!(" MAX RATE {rate}"));
        }
        if !fresh {
            let (token, rows) = (quoted(&self.state.token), self.state.rows);
            sql.push_str(&format!(" RESUME {token} AFTER {rows}"));
        }
        let mut rows = connection.rows(&sql)?;
        let mut done = false;
        while let Some(row) = next(&mut rows)? {
            let [kind, file, offset] = [0, 1, 2].map(|i| row.text(i).unwrap_or_default());
            let offset: u64 = offset.parse().map_err(|_| odd("an offset"))?;
            let data = row.get(3).unwrap_or_default();
            match kind.as_str() {
                "begin" => self.begin(offset, data)?,
                "data" => self.data(&file, offset, data)?,
                "end" => self.end(&file, offset)?,
                "done" => done = true,
                _ => return Err(odd("a kind of row").into()),
            }
        }
        if !done {
            return Err(odd("a stream without its end").into());
        }
        self.state.done = true;
        self.note()?;
        self.progress.clear();
        self.files.clear();
        Ok(())
    }

    fn begin(&mut self, to_come: u64, data: &[u8]) -> Result<(), Failure> {
        let begin: StreamBegin = serde_json::from_slice(data).map_err(|_| odd("the beginning"))?;
        if begin.format != FORMAT {
            return Err(Failure::Run(format!(
                "the source is Narwal {} and sends backups of version {}; this program reads version {FORMAT}",
                begin.version, begin.format
            )));
        }
        self.progress = Progress::new(self.state.bytes + to_come, true);
        let keys = self.work.dir().join(KEYS);
        match (&begin.keys, &self.args.encryption_key_file) {
            (None, None) => {}
            (Some(text), Some(_)) => write(&keys, text.as_bytes())?,
            (Some(_), None) => {
                return Err(Failure::Usage(
                    "the source's folder is encrypted, so its copy is: name its key file with --encryption-key-file".into(),
                ));
            }
            (None, Some(_)) => {
                return Err(Failure::Usage(
                    "the source's folder is not encrypted, so its copy is not: leave --encryption-key-file away, and run narwal encrypt on the copy".into(),
                ));
            }
        }
        if self.state.token != begin.token {
            self.state.token = begin.token;
            self.note()?;
        }
        Ok(())
    }

    fn data(&mut self, name: &str, offset: u64, data: &[u8]) -> Result<(), Failure> {
        let path = self.open(name)?;
        if let Some(file) = self.files.get(&path) {
            file.write_all_at(data, offset)
                .map_err(|e| Failure::run(format_args!("writing {}", path.display()), e))?;
        }
        self.counted(path, data.len() as u64)
    }

    fn end(&mut self, name: &str, len: u64) -> Result<(), Failure> {
        let path = self.open(name)?;
        if let Some(file) = self.files.get(&path) {
            file.set_len(len)
                .map_err(|e| Failure::run(format_args!("writing {}", path.display()), e))?;
        }
        self.counted(path, 0)
    }

    fn counted(&mut self, path: PathBuf, bytes: u64) -> Result<(), Failure> {
        self.dirty.insert(path);
        self.state.rows += 1;
        self.state.bytes += bytes;
        self.progress.at(self.state.bytes, "");
        if self.state.bytes - self.noted.bytes >= NOTE_BYTES
            || self.noted_at.elapsed() >= NOTE_EVERY
        {
            self.note()?;
        }
        Ok(())
    }

    /// The file of a piece, opened.
    fn open(&mut self, name: &str) -> Result<PathBuf, Failure> {
        // From another machine: it must not lead out of the folder, nor to the notes of this command.
        let path = Path::new(name);
        let plain = path.components().all(|c| matches!(c, Component::Normal(_)));
        if !plain || name.is_empty() || name.starts_with("clone.") || name == KEYS {
            return Err(odd("the name of a file"));
        }
        let path = self.work.dir().join(path);
        if !self.files.contains_key(&path) {
            let failed = |e| Failure::run(format_args!("making {}", path.display()), e);
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent).map_err(failed)?;
            }
            // Segments come one after the other.
            if self.files.len() > 64 {
                self.note()?;
                self.files.clear();
            }
            let file = OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(false)
                .mode(0o600)
                .open(&path)
                .map_err(failed)?;
            self.files.insert(path.clone(), file);
        }
        Ok(path)
    }

    /// Makes durable what was written, and notes that.
    fn note(&mut self) -> Result<(), Failure> {
        let mut folders = BTreeSet::from([self.work.dir().to_owned()]);
        for path in std::mem::take(&mut self.dirty) {
            if let Some(file) = self.files.get(&path) {
                file.sync_data()
                    .map_err(|e| Failure::run(format_args!("syncing {}", path.display()), e))?;
            }
            folders.extend(path.parent().map(Path::to_owned));
        }
        for dir in &folders {
            sync(dir)?;
        }
        let text = serde_json::to_vec(&self.state).unwrap_or_default();
        write(&self.work.dir().join(STATE), &text)?;
        sync(self.work.dir())?;
        self.noted = self.state.clone();
        self.noted_at = Instant::now();
        Ok(())
    }
}

fn next<'r>(rows: &'r mut Rows<'_>) -> Result<Option<narwal_client::Row<'r>>, Ended> {
    rows.next().map_err(Ended::from)
}

/// Replaces a small file in one step.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let tmp = path.with_extension("tmp");
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&tmp)
        .and_then(|f| f.write_all_at(bytes, 0).and_then(|()| f.sync_all()))
        .and_then(|()| fs::rename(&tmp, path));
    written.map_err(|e| Failure::run(format_args!("writing {}", path.display()), e))
}

fn odd(what: &str) -> Failure {
    Failure::Run(format!(
        "the source sent {what} that this program does not understand"
    ))
}
