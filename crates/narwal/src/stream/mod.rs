//! `narwal stream`: what happened to rows, as JSON lines.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the command: from a source into an output |
//! | `args.rs` | its options |
//! | `progress.rs` | the line on the terminal |

pub(crate) mod args;
mod progress;

use crate::Failure;
use crate::binlog::{data_dir_of, log_dir};
use crate::folder::open_disk;
use args::{SnapshotMode, StreamArgs, Until};
use narwal_crypt::Access;
use narwal_stream::{
    Ended, Error, FileSink, FolderSource, JsonLines, NetworkOptions, NetworkSource, Place,
    PumpOptions, Sink, SnapshotOptions, Source, Start, Stop, Stream, WriterSink, pump, read_place,
    snapshot_network,
};
use progress::Line;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io;
use std::time::Duration;

impl std::convert::From<Error> for Failure {
    fn from(e: Error) -> Self {
        match e {
            Error::Usage(text) => Failure::Usage(text),
            Error::Gone(text) => Failure::Gone(text),
            Error::Damaged(_) => Failure::Damaged(e.to_string()),
            e => Failure::Run(e.to_string()),
        }
    }
}

/// Runs the command with the arguments behind `stream`.
pub fn run(args: &[String]) -> Result<(), Failure> {
    let Some(args) = crate::cli::parse::<StreamArgs>("narwal stream", args)? else {
        return Ok(());
    };
    args.check()?;
    let stop = Stop::new();
    for signal in [SIGINT, SIGTERM] {
        // The first one ends the stream in order; the second one ends the program, whatever it is doing.
        signal_hook::flag::register_conditional_shutdown(signal, 1, stop.flag())
            .and_then(|_| signal_hook::flag::register(signal, stop.flag()))
            .map_err(|e| Failure::run("signals", e))?;
    }
    let json = JsonLines::new(args.format());
    match &args.output {
        Some(path) => {
            let mut sink = FileSink::open(path, args.state.as_deref(), json)?;
            let place = sink.place().cloned();
            stream(&args, &mut sink, place, &stop)
        }
        None => {
            let mut sink = WriterSink::new(io::stdout(), json);
            let mut place = None;
            if let Some(state) = &args.state {
                place = read_place(state)?;
                sink = sink.with_state(state);
            }
            stream(&args, &mut sink, place, &stop)
        }
    }
}

/// Streams into `sink`, which has everything up to `place`.
fn stream(
    args: &StreamArgs,
    sink: &mut impl Sink,
    place: Option<Place>,
    stop: &Stop,
) -> Result<(), Failure> {
    let filter = args.filter()?;
    let mut server = args.server.options()?;
    if let Some(server) = &mut server {
        server.with_query = args.with_query;
        server.only_what_is_there = args.until == Some(Until::End);
    }
    let mut line = Line::new(args.output.is_some());
    let mut place = place;
    if place.is_none() && args.snapshot != SnapshotMode::Never {
        let Some(server) = &server else {
            return Err(Failure::Usage(
                "--snapshot needs a server (--host or --socket): rows can't be read from a data folder".into(),
            ));
        };
        let options = SnapshotOptions {
            filter: &filter,
            stop: stop.clone(),
            progress: &mut |p| line.show_snapshot(p),
        };
        let taken = snapshot_network(server, sink, options);
        line.clear();
        place = match taken {
            Ok(place) => Some(place),
            Err(Error::Stopped) => {
                eprintln!("narwal: {}", Error::Stopped);
                return Ok(());
            }
            Err(Error::Sink(e)) if e.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
            Err(e) => return Err(e.into()),
        };
    }
    if args.snapshot == SnapshotMode::Only {
        return Ok(());
    }
    let start = match place {
        Some(place) => Start::Place(place),
        None => args.start(),
    };
    let source = open(args, server, &start)?;
    let known = match start {
        Start::Place(place) => Some(place),
        _ => None,
    };
    let mut stream = Stream::new(source, known, filter).with_query(args.with_query);
    let mut progress = |p: &narwal_stream::Progress<'_>| line.show(p);
    let mut options = PumpOptions {
        stop: stop.clone(),
        retry: Duration::from_secs(args.retry),
        until: match &args.until {
            Some(Until::Place(place)) => Some(place.clone()),
            _ => None,
        },
        progress: &mut progress,
    };
    let ended = pump(&mut stream, sink, &mut options);
    line.clear();
    if stream.lacks_metadata() {
        eprintln!(
            "narwal: warning: the log has no column names; columns are @1, @2 ... (the server needs binlog_row_metadata=FULL)"
        );
    }
    if !matches!(ended, Ok(Ended::Done | Ended::NobodyReads))
        && let Some(place) = stream.place()
    {
        eprintln!("narwal: stands at {place}");
    }
    ended?;
    Ok(())
}

/// Opens what the options name.
fn open(
    args: &StreamArgs,
    server: Option<NetworkOptions>,
    start: &Start,
) -> Result<Box<dyn Source>, Failure> {
    if let Some(server) = server {
        return Ok(Box::new(NetworkSource::open(server, start)?));
    }
    let dir = args.dir();
    let log = log_dir(&dir)?;
    let keys = args.folder.encryption_key_file.as_deref();
    let disk = open_disk(data_dir_of(&log, &dir), keys, Access::Read)?.disk;
    let follow = args.until != Some(Until::End);
    let base_name = &args.folder.base_name;
    Ok(Box::new(FolderSource::open(
        disk, &log, base_name, start, follow,
    )?))
}
