//! The background threads: `narwal-log-flush` syncs about once a second and marks a quiet log, `narwal-log-prep` makes
//! segment space ahead of the writer, `narwal-log-write` lead when those who could have left ([`crate::Log::leave`]): one
//! for each sync that may run at once, and one that writes the next group while another tells the owners of the last.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::Lsn;
use crate::error::LogError;
use crate::log::Inner;
use crate::overlap::MOST_SYNCS;

/// While one of these tells the owners of a group, another one writes the next.
const WRITERS: u32 = 2;
/// After "no space" the preparing thread waits this long before it tries again.
const RETRY: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct Background {
    /// Where the log stood at the last round of the flush.
    pub seen: Mutex<Lsn>,
    enabled: AtomicBool,
    space: AtomicBool,
    write: AtomicBool,
    answers: AtomicBool,
    stopped: Mutex<bool>,
    changed: Condvar,
    /// For the writers, under `stopped`.
    left: Condvar,
    /// For those that are there for syncs that run together, while none do.
    extra: Condvar,
}

impl Background {
    /// Asks for more segment space.
    pub fn want_space(&self) {
        if self.enabled.load(Ordering::Relaxed) && !self.space.swap(true, Ordering::SeqCst) {
            drop(self.stopped.lock());
            self.changed.notify_all();
        }
    }

    /// Asks for a group of chunks to be written.
    pub fn want_write(&self) {
        if self.enabled.load(Ordering::Relaxed) && !self.write.swap(true, Ordering::SeqCst) {
            drop(self.stopped.lock());
            self.changed.notify_all();
        }
    }

    /// Whether there are background threads.
    pub fn runs(&self) -> bool {
        self.enabled.load(Ordering::Relaxed)
    }

    /// Asks for a leader: there are complete records whose owners have left.
    pub fn want_answers(&self) {
        if !self.answers.swap(true, Ordering::SeqCst) {
            drop(self.stopped.lock());
            self.left.notify_one();
        }
    }

    /// Syncs may run together from now on.
    pub fn more_writers(&self) {
        drop(self.stopped.lock());
        self.extra.notify_all();
    }

    /// Ends the threads after what they are doing.
    pub fn stop(&self) {
        self.enabled.store(false, Ordering::SeqCst);
        *self.stopped.lock() = true;
        self.changed.notify_all();
        self.left.notify_all();
        self.extra.notify_all();
    }

    /// Sleeps for `time`, or until stopped or `until()`; whether to go on.
    fn pause(&self, time: Duration, until: impl Fn() -> bool) -> bool {
        let deadline = std::time::Instant::now() + time;
        let mut stopped = self.stopped.lock();
        while !*stopped && !until() {
            if self.changed.wait_until(&mut stopped, deadline).timed_out() {
                break;
            }
        }
        !*stopped
    }
}

/// Starts the threads.
pub(crate) fn start<S: Send + 'static>(
    inner: &Arc<Inner<S>>,
) -> Result<Vec<JoinHandle<()>>, LogError> {
    let flush = inner.clone();
    let prepare = inner.clone();
    let spawn = |name: &str, f: Box<dyn FnOnce() + Send>| {
        std::thread::Builder::new()
            .name(name.into())
            .spawn(f)
            .map_err(|e| LogError::Io {
                what: format!("start of thread {name}"),
                source: Arc::new(e),
            })
    };
    let mut threads = Vec::new();
    for n in 0..=inner.core.opts.parallel_syncs.clamp(1, MOST_SYNCS) {
        let writer = inner.clone();
        threads.push(spawn(
            "narwal-log-write",
            Box::new(move || write_loop(&writer, n >= WRITERS)),
        )?);
    }
    // They are there: records may be left from now on.
    inner.background.enabled.store(true, Ordering::SeqCst);
    threads.push(spawn(
        "narwal-log-flush",
        Box::new(move || flush_loop(&flush)),
    )?);
    threads.push(spawn(
        "narwal-log-prep",
        Box::new(move || prepare_loop(&prepare)),
    )?);
    Ok(threads)
}

/// `extra`: only for syncs that run together. Sleepers are woken in turn, so those who are not needed would only make the
/// others cold.
fn write_loop<S: Send + 'static>(inner: &Arc<Inner<S>>, extra: bool) {
    let bg = &inner.background;
    loop {
        if bg.answers.swap(false, Ordering::SeqCst) {
            inner.write_left();
            continue;
        }
        let mut stopped = bg.stopped.lock();
        if *stopped {
            return;
        }
        if extra && inner.core.overlap.limit() < 2 {
            bg.extra.wait(&mut stopped);
        } else if !bg.answers.load(Ordering::SeqCst) {
            bg.left.wait(&mut stopped);
        }
    }
}

fn flush_loop<S: Send + 'static>(inner: &Arc<Inner<S>>) {
    let bg = &inner.background;
    let interval = inner.core.opts.flush_interval;
    let mut next = Instant::now() + interval;
    while bg.pause(next.saturating_duration_since(Instant::now()), || {
        bg.write.load(Ordering::SeqCst)
    }) {
        if bg.write.swap(false, Ordering::SeqCst) {
            inner.write_chunks();
        }
        if Instant::now() < next {
            continue;
        }
        next = Instant::now() + interval;
        let mut seen = inner.background.seen.lock();
        // A failure has been recorded where it happened; here is nobody to tell.
        if inner.tick(&mut seen).is_err() && inner.core.failed.get().is_some() {
            return;
        }
    }
}

fn prepare_loop<S: Send + 'static>(inner: &Arc<Inner<S>>) {
    let bg = &inner.background;
    // An hour stands for "until asked".
    while bg.pause(Duration::from_secs(3600), || {
        bg.space.load(Ordering::SeqCst)
    }) {
        bg.space.store(false, Ordering::SeqCst);
        if let Err(e) = inner.make_space() {
            tracing::warn!(error = %e, "can't prepare log space ahead");
            if inner.core.failed.get().is_some() || !bg.pause(RETRY, || false) {
                return;
            }
        }
    }
}

impl<S: Send + 'static> Inner<S> {
    /// Makes room ahead of the writer until there is enough.
    pub(crate) fn make_space(&self) -> Result<(), LogError> {
        loop {
            let wanted = self.wanted(&self.order.lock());
            match wanted {
                Some(wanted) => self.make(&wanted)?,
                None => return Ok(()),
            }
        }
    }
}
