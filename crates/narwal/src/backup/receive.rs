//! BACKUP STREAM from a server, also over several connections.

use super::args::BackupArgs;
use super::bar::Bar;
use crate::Failure;
use narwal_client::{Connection, Error};
use narwal_engine::backup::{BackupEnd, Piece};
use narwal_session::StreamBegin;
use narwal_types::errors::codes;
use std::time::{Duration, Instant};

/// Between two attempts to connect again.
const PAUSE: Duration = Duration::from_secs(1);

/// A server writes so many seconds to a link that is gone, at most: it keeps the backup for the next one only then.
const WRITE_TIMEOUT: u64 = 20;

/// When a server has noticed for sure that the link is gone. What it does not know then it never will.
const NOTICED: Duration = Duration::from_secs(WRITE_TIMEOUT + 10);

/// Why a connection's share is over.
enum Ended {
    /// The link is gone; another may go on.
    Link(Error),
    /// The server does not know of the backup: it has not noticed yet, or it has forgotten it.
    Unknown(Error),
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
            0 => Ended::Link(e),
            codes::UNKNOWN_ERROR if e.to_string().contains("of this token") => Ended::Unknown(e),
            _ => Ended::Failed(Failure::Run(e.to_string())),
        }
    }
}

/// What takes a backup in.
pub trait Sink {
    /// What comes first: once, also if the link breaks.
    fn begin(&mut self, begin: &StreamBegin) -> Result<(), Failure>;
    /// The next piece.
    fn put(&mut self, piece: &Piece) -> Result<(), Failure>;
}

fn odd(what: &str) -> Failure {
    Failure::Run(format!(
        "the server sent {what} that this program does not understand"
    ))
}

/// Takes a whole backup; what it is of.
pub fn receive(
    args: &BackupArgs,
    sink: &mut dyn Sink,
    bar: &mut Bar,
) -> Result<BackupEnd, Failure> {
    let options = args.server.options()?;
    let mut run = Run {
        args,
        sink,
        bar,
        token: None,
        rows: 0,
    };
    let mut lost: Option<Instant> = None;
    loop {
        let before = run.rows;
        let result = Connection::connect(&options)
            .map_err(Ended::from)
            .and_then(|c| run.stream(c));
        if run.rows > before {
            lost = None;
        }
        let retry = Duration::from_secs(args.retry);
        let (e, patience) = match result {
            Ok(end) => return Ok(end),
            Err(Ended::Failed(f)) => return Err(f),
            Err(Ended::Link(e)) => (e, retry),
            Err(Ended::Unknown(e)) => (e, retry.min(NOTICED)),
        };
        let since = *lost.get_or_insert_with(Instant::now);
        let first = run.token.is_none();
        if first || since.elapsed() >= patience {
            return Err(Failure::run(&options.address, e));
        }
        run.bar.clear();
        eprintln!("narwal: the connection was lost ({e}); trying again");
        std::thread::sleep(PAUSE);
    }
}

struct Run<'a> {
    args: &'a BackupArgs,
    sink: &'a mut dyn Sink,
    bar: &'a mut Bar,
    token: Option<String>,
    /// Rows of kind `data` and `end` so far.
    rows: u64,
}

impl Run<'_> {
    fn stream(&mut self, mut connection: Connection) -> Result<BackupEnd, Ended> {
        connection.execute(&format!("SET SESSION net_write_timeout = {WRITE_TIMEOUT}"))?;
        let mut sql = "BACKUP STREAM".to_owned();
        if self.args.no_log {
            sql.push_str(" NO LOG");
        }
        if let Some(rate) = self.args.max_rate {
            sql.push_str(&format!(" MAX RATE {rate}"));
        }
        if let Some(token) = &self.token {
            sql.push_str(&format!(" RESUME '{token}' AFTER {}", self.rows));
        }
        let mut rows = connection.rows(&sql)?;
        let mut end = None;
        while let Some(row) = rows.next()? {
            let text = |i| row.text(i).unwrap_or_default();
            let (kind, file) = (text(0), text(1));
            let offset: u64 = text(2).parse().map_err(|_| odd("an offset"))?;
            let data = row.get(3).unwrap_or_default();
            let piece = match kind.as_str() {
                "begin" => {
                    let begin: StreamBegin =
                        serde_json::from_slice(data).map_err(|_| odd("a beginning"))?;
                    if begin.format != 1 {
                        return Err(odd("a form of backup").into());
                    }
                    if self.token.is_none() {
                        self.sink.begin(&begin)?;
                    }
                    // It stands in a statement.
                    if begin.token.bytes().any(|b| !b.is_ascii_alphanumeric()) {
                        return Err(odd("a token").into());
                    }
                    self.token = Some(begin.token);
                    self.bar.total = self.bar.done + offset;
                    continue;
                }
                "data" => Piece::Data {
                    file: file.into(),
                    offset,
                    bytes: data.to_vec(),
                },
                "end" => Piece::End {
                    file: file.into(),
                    size: offset,
                },
                "done" => {
                    let parsed: BackupEnd =
                        serde_json::from_slice(data).map_err(|_| odd("an end"))?;
                    end = Some(parsed);
                    continue;
                }
                _ => return Err(odd("a kind of row").into()),
            };
            self.sink.put(&piece)?;
            self.rows += 1;
            if let Piece::Data { bytes, .. } = &piece {
                self.bar.add(bytes.len() as u64);
            }
        }
        end.ok_or_else(|| odd("a backup without an end").into())
    }
}
