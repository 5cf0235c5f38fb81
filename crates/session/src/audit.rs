//! The audit log: who came, who was refused, what was changed, as JSON lines in a file. MariaDB's `server_audit`
//! variables; the lines are JSON's. A session makes a line and leaves it; a thread writes it.

use crate::clock::unix_micros;
use crate::variables::VarValue;
use parking_lot::{Condvar, Mutex};
use serde_json::{Map, Value as Json};
use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};
/// What is written.
pub(crate) mod event {
    pub const CONNECT: u32 = 1;
    pub const DDL: u32 = 2;
    pub const DML: u32 = 4;
    pub const DML_NO_SELECT: u32 = 8;
    pub const DCL: u32 = 16;
    /// All statements.
    pub const QUERY: u32 = 32;
}

/// Bytes that wait for the thread, at most.
const QUEUE: usize = 8 << 20;

/// How long a line that must not be lost waits for room.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Default, PartialEq)]
struct Settings {
    path: PathBuf,
    rotate_size: u64,
    rotations: u64,
    incl: Vec<String>,
    excl: Vec<String>,
    limit: usize,
}

#[derive(Default)]
struct Queue {
    lines: VecDeque<String>,
    bytes: usize,
    settings: Settings,
    rotate: bool,
    stopped: bool,
}

#[derive(Default)]
struct Inner {
    queue: Mutex<Queue>,
    /// Something to write.
    filled: Condvar,
    /// Room again.
    drained: Condvar,
    failing: AtomicBool,
    failed: AtomicU64,
    lost: AtomicU64,
    written: AtomicU64,
    error: Mutex<String>,
}

/// The audit log of a server.
#[derive(Default)]
pub(crate) struct Audit {
    /// [`event`] bits; 0 while logging is off.
    events: AtomicU32,
    inner: Arc<Inner>,
    running: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Audit {
    /// Takes over the variables.
    pub(crate) fn configure(&self, get: &dyn Fn(&str) -> VarValue) {
        let v = |name: &str| get(&format!("server_audit_{name}"));
        let names = |name: &str| -> Vec<String> {
            let text = v(name).show();
            let names = text.split(',').map(str::trim).filter(|n| !n.is_empty());
            names.map(String::from).collect()
        };
        let mut path = PathBuf::from(v("file_path").show());
        if path.is_dir() {
            path.push("server_audit.log");
        }
        let path = Path::new(&get("datadir").show()).join(path);
        {
            let mut q = self.inner.queue.lock();
            q.settings = Settings {
                path,
                rotate_size: v("file_rotate_size").as_u64(),
                rotations: v("file_rotations").as_u64(),
                incl: names("incl_users"),
                excl: names("excl_users"),
                limit: usize::try_from(v("query_log_limit").as_u64()).unwrap_or(usize::MAX),
            };
        }
        let given = v("events").show();
        let bits = given.split(',').map(|e| match e {
            "CONNECT" => event::CONNECT,
            "QUERY" => event::QUERY,
            "QUERY_DDL" => event::DDL,
            "QUERY_DML" => event::DML,
            "QUERY_DML_NO_SELECT" => event::DML_NO_SELECT,
            "QUERY_DCL" => event::DCL,
            _ => 0,
        });
        let events = match bits.fold(0, |a, b| a | b) {
            0 => event::CONNECT | event::QUERY,
            some => some,
        };
        let on = v("logging").as_bool() && v("output_type").show() == "file";
        if on {
            self.start();
        }
        self.events
            .store(if on { events } else { 0 }, Ordering::Release);
    }

    /// `SET GLOBAL server_audit_file_rotate_now = 1`.
    pub(crate) fn rotate_now(&self) {
        self.inner.queue.lock().rotate = true;
        self.inner.filled.notify_one();
    }

    fn start(&self) {
        let mut running = self.running.lock();
        if running.is_some() {
            return;
        }
        let inner = self.inner.clone();
        let spawned = std::thread::Builder::new()
            .name("narwal-audit".into())
            .stack_size(256 << 10)
            .spawn(move || inner.write_all());
        match spawned {
            Ok(t) => *running = Some(t),
            Err(e) => tracing::error!(error = %e, "no thread for the audit log"),
        }
    }

    #[inline]
    pub(crate) fn wants(&self, events: u32) -> bool {
        self.events.load(Ordering::Relaxed) & events != 0
    }

    /// True if statements are written at all.
    #[inline]
    pub(crate) fn wants_statements(&self) -> bool {
        self.wants(!event::CONNECT)
    }

    /// True unless the lists of users leave this one out.
    pub(crate) fn wants_user(&self, user: &str) -> bool {
        let q = self.inner.queue.lock();
        let listed = |l: &[String]| l.iter().any(|u| u == user);
        listed(&q.settings.incl) || q.settings.incl.is_empty() && !listed(&q.settings.excl)
    }

    /// Bytes of a statement that are kept.
    pub(crate) fn limit(&self) -> usize {
        self.inner.queue.lock().settings.limit
    }

    /// What SHOW STATUS shows.
    pub(crate) fn status(&self) -> Vec<(String, String)> {
        let on = self.events.load(Ordering::Relaxed) != 0;
        let load = |a: &AtomicU64| a.load(Ordering::Relaxed).to_string();
        let path = self.inner.queue.lock().settings.path.display().to_string();
        [
            ("active", if on { "ON" } else { "OFF" }.to_string()),
            ("current_log", if on { path } else { String::new() }),
            ("last_error", self.inner.error.lock().clone()),
            ("lost", load(&self.inner.lost)),
            ("writes_failed", load(&self.inner.failed)),
            ("written", load(&self.inner.written)),
        ]
        .map(|(n, v)| (format!("Server_audit_{n}"), v))
        .to_vec()
    }

    /// Leaves a line. One that `must` be kept waits for room for a moment. A line that is lost all the same is counted, and
    /// goes to the server's own log if it must be kept.
    pub(crate) fn put(&self, mut record: Map<String, Json>, must: bool) {
        record.insert("time".into(), now_text().into());
        let mut line = Json::Object(record).to_string();
        line.push('\n');
        let mut q = self.inner.queue.lock();
        let deadline = Instant::now() + PATIENCE;
        while q.bytes + line.len() > QUEUE {
            if !must || self.inner.drained.wait_until(&mut q, deadline).timed_out() {
                self.inner.lost.fetch_add(1, Ordering::Relaxed);
                drop(q);
                if must {
                    tracing::error!(
                        record = line.trim_end(),
                        "not in the audit log: it can't be written"
                    );
                }
                return;
            }
        }
        q.bytes += line.len();
        q.lines.push_back(line);
        drop(q);
        self.inner.filled.notify_one();
    }
}

impl Audit {
    /// Writes what is left, and ends.
    pub(crate) fn stop(&self) {
        self.events.store(0, Ordering::Release);
        self.inner.queue.lock().stopped = true;
        self.inner.filled.notify_one();
        if let Some(t) = self.running.lock().take() {
            let _ = t.join();
        }
    }
}

impl Drop for Audit {
    fn drop(&mut self) {
        self.stop();
    }
}

fn now_text() -> String {
    let micros = unix_micros();
    let (days, rest) = (
        micros.div_euclid(86_400_000_000),
        micros.rem_euclid(86_400_000_000),
    );
    // Days to a date of the Gregorian calendar, counted in eras of 400 years that begin in March.
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (day, month) = (
        doy - (153 * mp + 2) / 5 + 1,
        if mp < 10 { mp + 3 } else { mp - 9 },
    );
    let year = yoe + era * 400 + i64::from(month <= 2);
    let s = rest / 1_000_000;
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}Z",
        s / 3600,
        s / 60 % 60,
        s % 60,
        rest % 1_000_000
    )
}

/// The file, and how much is in it.
struct Target {
    path: PathBuf,
    file: File,
    size: u64,
}

fn open(path: &Path) -> io::Result<Target> {
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)?;
    Ok(Target {
        path: path.into(),
        size: file.metadata()?.len(),
        file,
    })
}

fn numbered(path: &Path, n: u64) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{n}"));
    name.into()
}

/// `log` becomes `log.1`, `log.1` becomes `log.2`, ...
fn rotate(path: &Path, rotations: u64) -> io::Result<()> {
    for n in (1..rotations).rev() {
        match std::fs::rename(numbered(path, n), numbered(path, n + 1)) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
            _ => {}
        }
    }
    std::fs::rename(path, numbered(path, 1))
}

impl Inner {
    /// The thread: takes what there is, and tries again each second what can't be written.
    fn write_all(&self) {
        let mut target: Option<Target> = None;
        let mut batch: Vec<u8> = Vec::new();
        let mut lines = 0u64;
        loop {
            let (settings, now, stopped) = {
                let mut q = self.queue.lock();
                while batch.is_empty() && q.lines.is_empty() && !q.rotate && !q.stopped {
                    self.filled.wait(&mut q);
                }
                // Not more at a time than may be written again and again.
                while batch.len() < 1 << 20
                    && let Some(line) = q.lines.pop_front()
                {
                    q.bytes -= line.len();
                    batch.extend_from_slice(line.as_bytes());
                    lines += 1;
                }
                self.drained.notify_all();
                let now = std::mem::take(&mut q.rotate);
                (q.settings.clone(), now, q.stopped)
            };
            match write(&mut target, &settings, &batch, now) {
                Ok(()) => {
                    self.written.fetch_add(lines, Ordering::Relaxed);
                    if self.failing.swap(false, Ordering::Relaxed) {
                        tracing::info!("the audit log is written again");
                    }
                    self.error.lock().clear();
                    batch.clear();
                    lines = 0;
                    if stopped && self.queue.lock().lines.is_empty() {
                        return;
                    }
                }
                Err((done, e)) => {
                    batch.drain(..done);
                    target = None;
                    self.failed.fetch_add(1, Ordering::Relaxed);
                    *self.error.lock() = e.to_string();
                    if !self.failing.swap(true, Ordering::Relaxed) {
                        tracing::error!(error = %e, file = %settings.path.display(), "the audit log can't be written");
                    }
                    if stopped {
                        tracing::error!(bytes = batch.len(), "the end of the audit log is lost");
                        return;
                    }
                    let mut q = self.queue.lock();
                    self.filled.wait_for(&mut q, Duration::from_secs(1));
                }
            }
        }
    }
}

/// Writes a batch; after an error, how many bytes of it are in the file all the same.
fn write(
    target: &mut Option<Target>,
    settings: &Settings,
    batch: &[u8],
    now: bool,
) -> Result<(), (usize, io::Error)> {
    let fresh = |e| (0, e);
    if target.as_ref().is_none_or(|t| t.path != settings.path) {
        *target = Some(open(&settings.path).map_err(fresh)?);
    }
    let full = target
        .as_ref()
        .is_some_and(|t| t.size > 0 && (now || t.size >= settings.rotate_size));
    if full && settings.rotations > 0 {
        rotate(&settings.path, settings.rotations).map_err(fresh)?;
        *target = Some(open(&settings.path).map_err(fresh)?);
    }
    let Some(t) = target else { return Ok(()) };
    let mut done = 0;
    while done < batch.len() {
        match t.file.write(&batch[done..]) {
            Ok(0) => return Err((done, io::ErrorKind::WriteZero.into())),
            Ok(n) => {
                done += n;
                t.size += n as u64;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err((done, e)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_rotate() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.log");
        let settings = Settings {
            path: path.clone(),
            rotate_size: 10,
            rotations: 2,
            ..Settings::default()
        };
        let mut t = None;
        for n in 0..5 {
            write(
                &mut t,
                &settings,
                format!("line number {n}\n").as_bytes(),
                false,
            )
            .unwrap();
        }
        let read = |p: PathBuf| std::fs::read_to_string(p).unwrap();
        assert_eq!(read(path.clone()), "line number 4\n");
        assert_eq!(read(numbered(&path, 1)), "line number 3\n");
        assert_eq!(read(numbered(&path, 2)), "line number 2\n");
        assert!(!numbered(&path, 3).exists());
        assert!(now_text().starts_with("20") && now_text().ends_with('Z'));
    }
}
