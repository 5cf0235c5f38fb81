//! The archiver's thread: ships what is due, tries again after failures, says what it does.

use crate::archive::Archive;
use crate::seal::FolderKeys;
use crate::ship::Shipper;
use crate::{ArchiveError, Entry, HistoryName, Result};
use narwal_engine::Database;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two looks at the log.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// First pause after a failure; it doubles up to the other.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A failure that goes on is told again after this time.
const TELL_EVERY: Duration = Duration::from_secs(300);

/// What the archiver has done and does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// The archive's URL.
    pub url: String,
    /// The history that it ships to, once that is known.
    pub history: Option<HistoryName>,
    /// The last segment in the archive, full or not, once that is known.
    pub last: Option<Entry>,
    /// Segments shipped since the start, parts not counted.
    pub segments: u64,
    /// Bytes shipped since the start.
    pub bytes: u64,
    /// Attempts that failed since the start.
    pub failures: u64,
    /// Why the last attempt failed, if it did.
    pub error: Option<String>,
    /// Bytes of durable log that are not in the archive, at the last look.
    pub lag_bytes: u64,
}

#[derive(Debug)]
struct Shared {
    control: Mutex<Control>,
    wake: Condvar,
    status: Mutex<Status>,
}

#[derive(Debug)]
struct Control {
    timeout: Option<Duration>,
    stop: bool,
}

/// A running archiver.
#[derive(Debug)]
pub struct Archiver {
    shared: Arc<Shared>,
    thread: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Archiver {
    /// Begins to ship a database's log to the archive at `url`. `keys`: of an encrypted folder. A store that can't be
    /// reached is no error: it is tried again, and nothing of the log goes meanwhile.
    ///
    /// # Errors
    /// [`ArchiveError::Url`]; a folder that can't be made; settings of the store that make no sense.
    pub fn start(
        db: Database,
        url: &str,
        keys: Option<FolderKeys>,
        timeout: Option<Duration>,
    ) -> Result<Archiver> {
        let archive = Archive::at(url, true)?;
        let shared = Arc::new(Shared {
            control: Mutex::new(Control {
                timeout,
                stop: false,
            }),
            wake: Condvar::new(),
            status: Mutex::new(Status {
                url: url.to_owned(),
                ..Status::default()
            }),
        });
        let shipper = Shipper::new(db, archive, keys);
        let mine = shared.clone();
        let thread = std::thread::Builder::new()
            .name("narwal-archive".into())
            .spawn(move || run(&mine, shipper))
            .map_err(|source| ArchiveError::Io {
                what: "starting the thread for",
                path: url.into(),
                source,
            })?;
        Ok(Archiver {
            shared,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// After so long the durable part of a segment that is not full is shipped, too. `None`: never.
    pub fn set_timeout(&self, timeout: Option<Duration>) {
        self.shared.control.lock().timeout = timeout;
        self.shared.wake.notify_all();
    }

    /// What it has done and does.
    #[must_use]
    pub fn status(&self) -> Status {
        self.shared.status.lock().clone()
    }

    /// Ships what is durable and ends; gives up after `patience` (then the rest is shipped after the next start). True:
    /// everything is shipped.
    pub fn stop(&self, patience: Duration) -> bool {
        self.shared.control.lock().stop = true;
        self.shared.wake.notify_all();
        let Some(thread) = self.thread.lock().take() else {
            return true;
        };
        let deadline = Instant::now() + patience;
        while !thread.is_finished() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = thread.join();
        self.shared.status.lock().error.is_none()
    }
}

fn run(shared: &Shared, mut shipper: Shipper) {
    let mut pause = FIRST_PAUSE;
    let mut failing_since: Option<Instant> = None;
    let mut told = Instant::now();
    let mut sleep = Duration::ZERO;
    loop {
        let (timeout, stop) = {
            let mut control = shared.control.lock();
            if !control.stop && !sleep.is_zero() {
                shared.wake.wait_for(&mut control, sleep);
            }
            // At the end nothing waits for more to come.
            let timeout = if control.stop {
                Some(Duration::ZERO)
            } else {
                control.timeout
            };
            (timeout, control.stop)
        };
        let result = shipper.step(timeout);
        let mut status = shared.status.lock();
        status.history = shipper.history();
        status.lag_bytes = shipper.lag();
        status.last = shipper.last().cloned();
        match result {
            Ok(shipped) => {
                status.error = None;
                if let Some(since) = failing_since.take() {
                    tracing::info!(
                        "archiving goes on, after {} s of failures",
                        since.elapsed().as_secs()
                    );
                }
                pause = FIRST_PAUSE;
                sleep = LOOK_EVERY;
                match shipped {
                    Some(entry) => {
                        tracing::debug!(object = entry.object, bytes = entry.bytes, "archived");
                        status.bytes += entry.bytes;
                        status.segments += u64::from(entry.next.is_some());
                        // There may be more.
                        sleep = Duration::ZERO;
                    }
                    None if stop => return,
                    None => {}
                }
            }
            Err(e) => {
                status.failures += 1;
                status.error = Some(e.to_string());
                shipper.forget();
                let first = failing_since.is_none();
                failing_since.get_or_insert_with(Instant::now);
                if first || told.elapsed() >= TELL_EVERY {
                    told = Instant::now();
                    tracing::warn!(
                        lag_bytes = status.lag_bytes,
                        "archiving to {} fails: {e}; it is tried again at intervals of up to {} s, and the log is kept until it succeeds",
                        status.url,
                        LONGEST_PAUSE.as_secs()
                    );
                }
                if stop {
                    return;
                }
                sleep = pause;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}
