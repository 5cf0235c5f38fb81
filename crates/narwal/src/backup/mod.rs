//! `narwal backup`: a running server's data, into a folder or a stream.
//!
//! | file | holds |
//! |---|---|
//! | `args.rs` | the options |
//! | `bar.rs` | the bar on the terminal |
//! | `receive.rs` | BACKUP STREAM from a server, over as many connections as it takes |
//! | `stream.rs` | a backup as one stream of bytes |

mod args;
pub mod bar;
mod receive;
pub mod stream;

use crate::Failure;
use args::{BackupArgs, BackupCommand, VerifyArgs};
use bar::{Bar, size};
use narwal_client::Connection;
use narwal_engine::EngineError;
use narwal_engine::backup::{Chain, Damage, FolderSink, Manifest, Piece};
use narwal_log::RealDisk;
use narwal_session::StreamBegin;
use receive::{Sink, receive};
use std::io::{BufWriter, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Runs the command with the arguments behind `backup`.
pub fn run(args: &[String]) -> Result<(), Failure> {
    let Some(args) = crate::cli::parse::<BackupArgs>("narwal backup", args)? else {
        return Ok(());
    };
    if let Some(BackupCommand::Verify(args)) = &args.command {
        return verify(args);
    }
    if args.stream {
        return to_stream(&args);
    }
    let dir = args
        .to
        .clone()
        .ok_or_else(|| Failure::Usage("--to=DIR or --stream is needed".into()))?;
    if args.on_server || (args.server.socket.is_some() && !args.over_connection) {
        on_server(&args, &dir)
    } else {
        over_connection(&args, &dir)
    }
}

fn engine(e: EngineError) -> Failure {
    match e {
        EngineError::Corrupt(text) => Failure::Damaged(text),
        e => Failure::Run(e.to_string()),
    }
}

fn absolute(dir: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(dir).map_err(|e| Failure::run(dir.display(), e))
}

/// A text as an SQL string.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// Says what was made.
fn tell(place: &str, m: &Manifest, took: f64, written: u64) {
    let rate = m.bytes() as f64 / 1048576.0 / took.max(0.001);
    eprintln!(
        "narwal: {place}: {} in {took:.1} s ({rate:.0} MiB/s){}",
        size(m.bytes()),
        match written {
            n if n < m.bytes() => format!(", {} written", size(n)),
            _ => String::new(),
        }
    );
    let e = &m.end;
    let gtid = match e.gtid_binlog_pos.as_str() {
        "" => "(none)",
        gtid => gtid,
    };
    eprintln!(
        "narwal: GTID position {gtid}, {} position {}",
        e.binlog_file, e.binlog_pos
    );
}

/// The server writes the folder itself.
fn on_server(args: &BackupArgs, dir: &Path) -> Result<(), Failure> {
    let dir = absolute(dir)?;
    let options = args.server.options()?;
    let mut connection =
        Connection::connect(&options).map_err(|e| Failure::run(&options.address, e))?;
    let text = |p: &Path| {
        p.to_str()
            .map(quoted)
            .ok_or_else(|| Failure::Usage(format!("{}: not UTF-8", p.display())))
    };
    let mut sql = format!("BACKUP TO {}", text(&dir)?);
    if let Some(parent) = &args.incremental_from {
        sql.push_str(&format!(" INCREMENTAL FROM {}", text(&absolute(parent)?)?));
    }
    if args.no_log {
        sql.push_str(" NO LOG");
    }
    if let Some(rate) = args.max_rate {
        sql.push_str(&format!(" MAX RATE {rate}"));
    }
    let mut bar = Bar::new("backup", 0);
    let failed = |e: narwal_client::Error| Failure::Run(e.to_string());
    let mut rows = connection.rows(&sql).map_err(failed)?;
    let mut detail = None;
    while let Some(row) = rows.next().map_err(failed)? {
        let number = |i| row.text(i).and_then(|n| n.parse().ok()).unwrap_or(0);
        (bar.done, bar.total) = (number(1), number(2));
        bar.draw();
        if row.get(0) == Some(b"done") {
            detail = row.text(3);
        }
    }
    bar.clear();
    let detail: serde_json::Value = detail
        .and_then(|d| serde_json::from_str(&d).ok())
        .ok_or_else(|| Failure::Run("the server did not finish the backup".into()))?;
    let written = detail["written"].as_u64().unwrap_or(u64::MAX);
    match Manifest::read(&RealDisk, &dir) {
        Ok(m) if detail["id"].as_str() == Some(&m.id) => {
            tell(&dir.display().to_string(), &m, bar.seconds(), written);
            Ok(())
        }
        _ => {
            eprintln!(
                "narwal: the server has made the backup in {} on its machine, which this one does not see (or may not read): {detail}",
                dir.display()
            );
            Ok(())
        }
    }
}

/// Puts what comes through the connection into a folder here.
struct IntoFolder(Option<FolderSink>);

impl Sink for IntoFolder {
    fn begin(&mut self, begin: &StreamBegin) -> Result<(), Failure> {
        match (&mut self.0, &begin.keys) {
            (Some(sink), Some(keys)) => sink.put_file("keys", keys.as_bytes()).map_err(engine),
            _ => Ok(()),
        }
    }

    fn put(&mut self, piece: &Piece) -> Result<(), Failure> {
        match &mut self.0 {
            Some(sink) => sink.put(piece).map_err(engine),
            None => Ok(()),
        }
    }
}

fn over_connection(args: &BackupArgs, dir: &Path) -> Result<(), Failure> {
    let dir = absolute(dir)?;
    let parent = args.incremental_from.as_deref().map(absolute).transpose()?;
    let sink = FolderSink::on_this_host(&dir, parent.as_deref()).map_err(engine)?;
    let mut sink = IntoFolder(Some(sink));
    let mut bar = Bar::new("backup", 0);
    let end = receive(args, &mut sink, &mut bar)?;
    let Some(folder) = sink.0.take() else {
        return Ok(());
    };
    let written = folder.written();
    let m = folder
        .finish(narwal_session::NARWAL_VERSION, end)
        .map_err(engine)?;
    bar.clear();
    tell(&dir.display().to_string(), &m, bar.seconds(), written);
    Ok(())
}

fn to_stream(args: &BackupArgs) -> Result<(), Failure> {
    let out = std::io::stdout();
    if out.is_terminal() {
        return Err(Failure::Usage(
            "--stream writes to standard output: send that into a file or a program".into(),
        ));
    }
    let mut bar = Bar::new("backup", 0);
    let out = BufWriter::with_capacity(1 << 20, out.lock());
    let seal = args.encrypt_key_file.as_deref();
    let mut sink = stream::StreamSink::new(out, args.compress.is_some(), seal)?;
    let end = receive(args, &mut sink, &mut bar)?;
    let m = sink.finish(end)?;
    bar.clear();
    tell("the stream", &m, bar.seconds(), u64::MAX);
    Ok(())
}

/// Reads all of a backup and says what is wrong with it.
pub fn check(chain: &Chain, what: &'static str) -> Result<(), Failure> {
    let mut bar = Bar::new(what, chain.bytes());
    let found = chain
        .verify(|n| {
            bar.add(n);
            Ok(())
        })
        .map_err(engine)?;
    bar.clear();
    if found.is_empty() {
        return Ok(());
    }
    let shown: Vec<String> = found.iter().take(20).map(Damage::to_string).collect();
    let more = match found.len() {
        n if n > 20 => format!("\nand {} more", n - 20),
        _ => String::new(),
    };
    Err(Failure::Damaged(format!(
        "the backup is damaged:\n{}{more}",
        shown.join("\n")
    )))
}

fn verify(args: &VerifyArgs) -> Result<(), Failure> {
    let chain = Chain::open(Arc::new(RealDisk), &args.dir, &args.parent).map_err(engine)?;
    check(&chain, "verify")?;
    let m = chain.manifest();
    let folders: Vec<String> = chain.folders().map(|d| d.display().to_string()).collect();
    println!(
        "{}: whole, {} read; GTID position {}, {} position {}",
        folders.join(", incremental to "),
        size(chain.bytes()),
        m.end.gtid_binlog_pos,
        m.end.binlog_file,
        m.end.binlog_pos
    );
    Ok(())
}
