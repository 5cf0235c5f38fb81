//! A line on the terminal that says how a stream is doing.

use narwal_stream::{Progress, SnapshotProgress};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const PERIOD: Duration = Duration::from_millis(500);

/// Shows progress on standard error, if that is a terminal and standard output is not the same one. What is lost and found
/// again is told in any case.
#[derive(Debug)]
pub struct Line {
    shown: bool,
    /// When rates were computed last, with the records and bytes of then.
    last: (Instant, u64, u64),
    wrote: bool,
    lost: bool,
}

impl Line {
    /// `to_file`: standard output is not used.
    pub fn new(to_file: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Line {
            shown: terminal && (to_file || !std::io::stdout().is_terminal()),
            last: (Instant::now(), 0, 0),
            wrote: false,
            lost: false,
        }
    }

    /// Shows it, unless it was shown a moment ago.
    pub fn show(&mut self, p: &Progress<'_>) {
        match p.lost {
            Some(why) if !self.lost => {
                self.clear();
                eprintln!("narwal: {why}; trying again");
                self.lost = true;
            }
            None if self.lost => {
                self.clear();
                eprintln!("narwal: connected again");
                self.lost = false;
            }
            _ => {}
        }
        let (at, records, bytes) = self.last;
        let secs = at.elapsed().as_secs_f64();
        if !self.shown || secs < PERIOD.as_secs_f64() {
            return;
        }
        let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 / secs;
        let lag = if p.idle {
            "at the end".to_owned()
        } else {
            let now = SystemTime::now().duration_since(UNIX_EPOCH);
            let now = now.map_or(0, |d| d.as_secs());
            let behind = now.saturating_sub(p.counts.timestamp.into());
            format!("{behind} s behind")
        };
        let gtid = p.gtid.map_or_else(String::new, |g| g.to_string());
        eprint!(
            "\r\x1b[K{} records, {:.0}/s, {:.1} MB/s of log  {lag}  {gtid}",
            p.counts.records,
            rate(p.counts.records, records),
            rate(p.counts.bytes, bytes) / 1e6,
        );
        let _ = std::io::stderr().flush();
        self.wrote = true;
        self.last = (Instant::now(), p.counts.records, p.counts.bytes);
    }

    /// Shows how a snapshot goes on.
    pub fn show_snapshot(&mut self, p: &SnapshotProgress<'_>) {
        let (at, rows, _) = self.last;
        let secs = at.elapsed().as_secs_f64();
        if !self.shown || secs < PERIOD.as_secs_f64() {
            return;
        }
        eprint!(
            "\r\x1b[Ksnapshot: {} rows, {:.0}/s  {}.{}",
            p.rows,
            p.rows.saturating_sub(rows) as f64 / secs,
            p.table.0,
            p.table.1
        );
        let _ = std::io::stderr().flush();
        self.wrote = true;
        self.last = (Instant::now(), p.rows, 0);
    }

    /// Removes it, before something else is said.
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.wrote) {
            eprint!("\r\x1b[K");
        }
    }
}
