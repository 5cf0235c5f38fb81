//! Moves a stream into a sink: flushes, commits, comes back after lost connections.

use crate::sink::Sink;
use crate::source::Source;
use crate::stream::{Counts, Next, Stream};
use crate::{Error, Place, Result};
use narwal_binlog::Gtid;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long the end of the log is waited at before the pump looks around.
const SLICE: Duration = Duration::from_millis(200);
/// The place is kept so often while records come.
const COMMIT_EVERY: Duration = Duration::from_secs(1);
/// Records between two looks at the clock.
const LOOK_EVERY: u32 = 256;
/// The longest pause between two attempts to connect.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Asks a pump to stop, from another thread or a signal handler.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Not asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// It was asked.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// The flag itself, for signal handlers.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.clone()
    }
}

/// How a pump ended, without an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The source has no more, or the place where it should end was reached.
    Done,
    /// It was asked to stop.
    Stopped,
    /// Nobody reads the output any more.
    NobodyReads,
}

/// What a pump tells while it works.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// The stream's counters.
    pub counts: Counts,
    /// Bytes that the sink took.
    pub written: u64,
    /// The transaction read last.
    pub gtid: Option<Gtid>,
    /// The end of the log was reached.
    pub idle: bool,
    /// The connection was lost for this reason; it is tried again.
    pub lost: Option<&'a str>,
}

/// How to pump.
pub struct PumpOptions<'a> {
    /// Ends the pump.
    pub stop: Stop,
    /// For how long a lost connection is tried again; zero: not at all.
    pub retry: Duration,
    /// End when everything up to here was read, domain by domain.
    pub until: Option<Place>,
    /// Is told how it goes, a few times a second.
    pub progress: &'a mut dyn FnMut(&Progress<'_>),
}

impl std::fmt::Debug for PumpOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PumpOptions")
            .field("retry", &self.retry)
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

/// Moves records from a stream into a sink until something ends it; whatever that is, what was read is flushed and
/// committed first if the sink still takes it.
///
/// # Errors
/// Whatever the stream and the sink report, but for a reader of the output that went away.
pub fn pump<S: Source>(
    stream: &mut Stream<S>,
    sink: &mut impl Sink,
    options: &mut PumpOptions<'_>,
) -> Result<Ended> {
    let moved = pump_on(stream, sink, options);
    let kept = match moved {
        Err(Error::Sink(_)) => Ok(()),
        _ => keep(stream, sink),
    };
    match moved.and_then(|ended| kept.map(|()| ended)) {
        Err(Error::Sink(e)) if e.kind() == io::ErrorKind::BrokenPipe => Ok(Ended::NobodyReads),
        other => other,
    }
}

fn keep<S: Source>(stream: &mut Stream<S>, sink: &mut impl Sink) -> Result<()> {
    sink.flush()?;
    match stream.learn_place() {
        Some(place) => sink.commit(Some(place)),
        None => Ok(()),
    }
}

fn reached<S: Source>(stream: &Stream<S>, until: Option<&Place>) -> bool {
    let (Some(until), Some(place)) = (until, stream.place()) else {
        return false;
    };
    until.position().all(|end| {
        place
            .position()
            .any(|at| at.domain == end.domain && at.seq >= end.seq)
    })
}

fn pump_on<S: Source>(
    stream: &mut Stream<S>,
    sink: &mut impl Sink,
    options: &mut PumpOptions<'_>,
) -> Result<Ended> {
    // A restart must begin there again, even if nothing happens for long.
    keep(stream, sink)?;
    let mut committed = Instant::now();
    let mut dirty = false;
    let mut unseen = 0;
    let mut wait = Duration::ZERO;
    if reached(stream, options.until.as_ref()) {
        return Ok(Ended::Done);
    }
    loop {
        if options.stop.is_stopped() {
            return Ok(Ended::Stopped);
        }
        let idle = match stream.next(wait) {
            Ok(Next::Record(record, place)) => {
                sink.write(&record, Some(place))?;
                dirty = true;
                wait = Duration::ZERO;
                unseen += 1;
                if unseen < LOOK_EVERY {
                    continue;
                }
                false
            }
            Ok(Next::Committed(_)) => {
                dirty = true;
                wait = Duration::ZERO;
                if reached(stream, options.until.as_ref()) {
                    return Ok(Ended::Done);
                }
                unseen += 1;
                if unseen < LOOK_EVERY {
                    continue;
                }
                false
            }
            Ok(Next::Idle) if wait.is_zero() => {
                // Before the stream sleeps, its reader gets everything.
                sink.flush()?;
                wait = SLICE;
                true
            }
            Ok(Next::Idle) => true,
            Ok(Next::End) => return Ok(Ended::Done),
            Err(Error::Lost(why)) => {
                sink.flush()?;
                come_back(stream, sink, options, &why)?;
                wait = Duration::ZERO;
                continue;
            }
            Err(e) => return Err(e),
        };
        unseen = 0;
        if committed.elapsed() >= COMMIT_EVERY && dirty {
            keep(stream, sink)?;
            (committed, dirty) = (Instant::now(), false);
        }
        tell(stream, sink, options, idle, None);
    }
}

fn tell<S: Source>(
    stream: &Stream<S>,
    sink: &impl Sink,
    options: &mut PumpOptions<'_>,
    idle: bool,
    lost: Option<&str>,
) {
    (options.progress)(&Progress {
        counts: stream.counts(),
        written: sink.bytes(),
        gtid: stream.last_gtid(),
        idle,
        lost,
    });
}

/// Opens the source again, with growing pauses.
fn come_back<S: Source>(
    stream: &mut Stream<S>,
    sink: &impl Sink,
    options: &mut PumpOptions<'_>,
    why: &str,
) -> Result<()> {
    let since = Instant::now();
    let mut pause = Duration::from_millis(100);
    let mut why = why.to_owned();
    loop {
        if since.elapsed() + pause > options.retry {
            return Err(Error::Lost(why));
        }
        tell(stream, sink, options, true, Some(&why));
        let until = Instant::now() + pause;
        while Instant::now() < until {
            if options.stop.is_stopped() {
                return Ok(());
            }
            std::thread::sleep(SLICE.min(until.saturating_duration_since(Instant::now())));
        }
        match stream.reconnect() {
            Ok(()) => return Ok(()),
            Err(Error::Lost(again)) => why = again,
            Err(e) => return Err(e),
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
