//! `narwal stream`: what happened to rows, as JSON lines.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the command: from a source into an output |
//! | `args.rs` | its options |
//! | `progress.rs` | the line on the terminal |

mod args;
mod progress;

use crate::Failure;
use crate::binlog::{data_dir_of, log_dir};
use crate::folder::open_disk;
use args::{From, SnapshotMode, StreamArgs, Until};
use narwal_crypt::Access;
use narwal_stream::{
    Ended, Error, FileSink, FolderSource, JsonLines, Place, PumpOptions, Sink, Source, Start, Stop,
    Stream, WriterSink, pump, read_place,
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
    let start = match &place {
        Some(place) => Start::Place(place.clone()),
        None => match &args.from {
            From::Beginning => Start::Beginning,
            From::Now => Start::Now,
            From::Place(place) => Start::Place(place.clone()),
            From::File { name, offset } => Start::File {
                name: name.clone(),
                offset: *offset,
            },
        },
    };
    let source = open(args, &start)?;
    let known = match start {
        Start::Place(place) => Some(place),
        _ => None,
    };
    let mut stream = Stream::new(source, known, args.filter()?).with_query(args.with_query);
    let mut line = Line::new(args.output.is_some());
    let mut told = false;
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
    if stream.lacks_metadata() && !std::mem::replace(&mut told, true) {
        eprintln!(
            "narwal: warning: the log has no column names; columns are @1, @2 ... (the server needs binlog_row_metadata=FULL)"
        );
    }
    let ended = ended.inspect_err(|_| tell_place(&stream))?;
    if ended == Ended::Stopped {
        tell_place(&stream);
    }
    Ok(())
}

fn tell_place<S: Source>(stream: &Stream<S>) {
    if let Some(place) = stream.place() {
        eprintln!("narwal: stands at {place}");
    }
}

/// Opens what the options name.
fn open(args: &StreamArgs, start: &Start) -> Result<Box<dyn Source>, Failure> {
    let dir = args.dir();
    if args.snapshot != SnapshotMode::Never {
        return Err(Failure::Usage(
            "--snapshot needs a running server: rows can't be read from a data folder".into(),
        ));
    }
    let log = log_dir(&dir)?;
    let keys = args.encryption_key_file.as_deref();
    let disk = open_disk(data_dir_of(&log, &dir), keys, Access::Read)?.disk;
    let follow = args.until.is_none() || matches!(args.until, Some(Until::Place(_)));
    let source = FolderSource::open(disk, &log, &args.base_name, start, follow)?;
    Ok(Box::new(source))
}
