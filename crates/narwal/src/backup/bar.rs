//! The bar on the terminal.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const PERIOD: Duration = Duration::from_millis(200);
const WIDTH: usize = 30;

/// Draws on standard error, if that is a terminal.
#[derive(Debug)]
pub struct Bar {
    shown: bool,
    what: &'static str,
    started: Instant,
    last: Option<Instant>,
    wrote: bool,
    /// Bytes so far.
    pub done: u64,
    /// Bytes in the end, as far as known.
    pub total: u64,
}

/// Bytes for people.
pub fn size(bytes: u64) -> String {
    match bytes as f64 / 1048576.0 {
        m if m >= 1024.0 => format!("{:.2} GiB", m / 1024.0),
        m => format!("{m:.1} MiB"),
    }
}

impl Bar {
    /// A bar for what is being done.
    pub fn new(what: &'static str, total: u64) -> Self {
        Bar {
            shown: std::io::stderr().is_terminal(),
            what,
            started: Instant::now(),
            last: None,
            wrote: false,
            done: 0,
            total,
        }
    }

    /// So many bytes more.
    pub fn add(&mut self, bytes: u64) {
        self.done += bytes;
        self.draw();
    }

    /// Draws it, unless that was done a moment ago.
    pub fn draw(&mut self) {
        if !self.shown || self.last.is_some_and(|t| t.elapsed() < PERIOD) {
            return;
        }
        self.last = Some(Instant::now());
        let secs = self.started.elapsed().as_secs_f64().max(0.001);
        let (total, rate) = (self.total.max(self.done).max(1), self.done as f64 / secs);
        let part = self.done as f64 / total as f64;
        let full = (part * WIDTH as f64) as usize;
        let left = match rate {
            r if r > 0.0 => format!("{:.0} s left", (total - self.done) as f64 / r),
            _ => String::new(),
        };
        eprint!(
            "\r\x1b[K{} [{}{}] {:3.0}%  {} of {}, {:.0} MiB/s, {left}",
            self.what,
            "=".repeat(full),
            " ".repeat(WIDTH - full),
            part * 100.0,
            size(self.done),
            size(total),
            rate / 1048576.0,
        );
        let _ = std::io::stderr().flush();
        self.wrote = true;
    }

    /// Removes it, before something else is said.
    pub fn clear(&mut self) {
        if self.wrote {
            eprint!("\r\x1b[K");
            self.wrote = false;
        }
    }

    /// Seconds since it began.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.clear();
    }
}
