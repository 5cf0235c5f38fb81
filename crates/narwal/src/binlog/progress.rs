//! A line on the terminal that says how far reading is.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_millis(250);

/// Shows progress on standard error, if that is a terminal and standard output is not the same one.
#[derive(Debug)]
pub struct Progress {
    shown: bool,
    total: u64,
    started: Instant,
    last: Instant,
    wrote: bool,
}

impl Progress {
    /// `total` is in bytes of log; `to_file`: the output goes to a file.
    pub fn new(total: u64, to_file: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        let now = Instant::now();
        Progress {
            shown: terminal && (to_file || !std::io::stdout().is_terminal()),
            total,
            started: now,
            last: now,
            wrote: false,
        }
    }

    /// Shows nothing.
    pub fn none() -> Self {
        Progress {
            shown: false,
            ..Progress::new(0, false)
        }
    }

    /// `done` bytes are read; `what` is where the reader is.
    pub fn at(&mut self, done: u64, what: impl std::fmt::Display) {
        if !self.shown || self.last.elapsed() < PERIOD {
            return;
        }
        self.last = Instant::now();
        let secs = self.started.elapsed().as_secs_f64().max(0.001);
        let percent = (done as f64 / self.total.max(1) as f64 * 100.0).min(100.0);
        let (mib, rate) = (done as f64 / 1048576.0, done as f64 / 1048576.0 / secs);
        eprint!("\r\x1b[K{percent:5.1}%  {mib:.0} MiB, {rate:.0} MiB/s  {what}");
        let _ = std::io::stderr().flush();
        self.wrote = true;
    }

    /// Removes the line, before something else is said.
    pub fn clear(&mut self) {
        if self.wrote {
            eprint!("\r\x1b[K");
            self.wrote = false;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
