//! The threads themselves: what each does in its loop.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::error::LogError;
use crate::inner::Inner;
use crate::overlap::MOST_SYNCS;

/// While one of these tells the owners of a group, another one writes the next.
const WRITERS: u32 = 2;
/// After "no space" the preparing thread waits this long before it tries again.
const RETRY: Duration = Duration::from_secs(1);

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
