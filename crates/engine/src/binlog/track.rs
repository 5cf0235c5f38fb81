//! What of the index advances with each group, in the log's order: the current file, and what the index has not taken
//! over yet. Guarded by the log's order mutex; nothing here takes more than a moment.

use crate::binlog::index::{FileEntry, Index, Point};
use crate::record::state::{StateReason, StateRecord};
use narwal_binlog::{FDE_LEN, GtidState, MAGIC, Placement, VirtualFiles, gtid_list_event_len};
use narwal_log::Reserved;

/// Bytes of a ROTATE event but for the name in it.
const ROTATE_LEN: u64 = 19 + 8 + 4;
/// Default and least bytes of log between two State records (`binlog_state_interval`).
pub(crate) const STATE_INTERVAL: u64 = 2 << 20;
const LEAST_INTERVAL: u64 = 4096;

/// The moving part of the index.
#[derive(Debug)]
pub(crate) struct Track {
    pub(crate) current: FileEntry,
    /// Files closed and points made since [`Track::drain`].
    closed: Vec<FileEntry>,
    points: Vec<Point>,
    /// Where the last State record stands, or a place from which on one is asked for already.
    last_state: u64,
    interval: u64,
    /// When the last event was logged.
    last_time: u32,
    /// The same of the file before the current one.
    closed_time: u32,
    /// Oldest file that is not purged, and its first LSN.
    pub(crate) oldest: (u32, u64),
}

impl Track {
    /// Before the first record of a log that begins at `lsn`, or of one about whose past nothing is known.
    pub(crate) fn new(files: &VirtualFiles, lsn: u64, seq: u64, time: u32) -> Track {
        let current = begin(files, lsn, seq, time);
        Track {
            closed: Vec::new(),
            points: vec![current.start()],
            last_state: lsn,
            interval: STATE_INTERVAL,
            last_time: time,
            closed_time: 0,
            oldest: (current.number, current.first_lsn),
            current,
        }
    }

    /// As a checkpoint has stored it: `current` and what is in the index.
    pub(crate) fn stored(current: FileEntry, index: &Index) -> Track {
        let first = index.files.front().unwrap_or(&current);
        Track {
            closed: Vec::new(),
            points: Vec::new(),
            last_state: index.points.back().map_or(0, |p| p.lsn),
            interval: STATE_INTERVAL,
            last_time: current.last_time,
            closed_time: index.files.back().map_or(0, |f| f.last_time),
            oldest: (first.number, first.first_lsn),
            current,
        }
    }

    pub(crate) fn set_interval(&mut self, bytes: u64) {
        self.interval = bytes.max(LEAST_INTERVAL);
    }

    /// A group was placed (or read back) at `lsn` as commit `seq`; `files` stands behind it. `first_chunk`: LSN of its
    /// first chunk, 0 if it has none. True: a State record should follow. Only one caller gets this answer.
    pub(crate) fn group(
        &mut self,
        files: &VirtualFiles,
        placement: &Placement,
        at: (u64, u64),
        time: u32,
        first_chunk: u64,
    ) -> bool {
        let (lsn, seq) = at;
        let rotated = placement.file_no != self.current.number;
        if rotated {
            let gtids = files.gtids_at_file_start().cloned().unwrap_or_default();
            let entry = FileEntry {
                number: placement.file_no,
                first_lsn: lsn,
                needed_lsn: lsn,
                seq_before: seq.saturating_sub(1),
                head: files.head_len(),
                size: files.offset(),
                last_time: time,
                gtids,
            };
            self.close(files, entry, time);
        }
        self.current.size = files.offset();
        self.current.last_time = if placement.new_file {
            time
        } else {
            self.current.last_time.max(time)
        };
        self.last_time = self.last_time.max(time);
        if first_chunk != 0 {
            self.current.needed_lsn = self.current.needed_lsn.min(first_chunk);
        }
        self.due(lsn) || rotated
    }

    /// Whether a State record should stand behind `lsn`. Only one caller gets the answer yes.
    pub(crate) fn due(&mut self, lsn: u64) -> bool {
        let due = lsn.saturating_sub(self.last_state) >= self.interval;
        if due {
            self.last_state = lsn;
        }
        due
    }

    /// A State record was placed (or read back) at `lsn` behind commit `seq`; `files` is the state in it. Its effect on
    /// the index itself (a purge, a reset) is the caller's.
    pub(crate) fn state(
        &mut self,
        files: &VirtualFiles,
        reason: StateReason,
        at: (u64, u64),
        time: u32,
    ) {
        let (lsn, seq) = at;
        let start = reason == StateReason::Reset || files.file_no() != self.current.number;
        if reason == StateReason::Reset {
            self.closed.clear();
            self.points.clear();
            self.current = begin(files, lsn, seq, time);
            self.closed_time = 0;
            self.oldest = (self.current.number, lsn);
        } else if start {
            self.close(files, begin(files, lsn, seq, time), time);
        } else if reason == StateReason::Set {
            // The same file, begun anew with another GTID state.
            self.points.retain(|p| p.file_no != files.file_no());
            self.current = begin(files, lsn, seq, time);
            if self.oldest.0 == self.current.number {
                self.oldest.1 = lsn;
            }
        }
        self.last_state = lsn;
        if self.points.last().is_none_or(|p| p.lsn < lsn) {
            self.points.push(Point {
                lsn,
                seq,
                file_no: files.file_no(),
                head: files.head_len(),
                offset: files.offset(),
                gtids: files.gtids().iter().collect(),
            });
        }
    }

    /// Ends the current file and begins `next`. The ROTATE event is its last one, so a file's age counts from here: a
    /// quiet file does not vanish at the moment of the rotation, and replicas have time for it.
    fn close(&mut self, files: &VirtualFiles, next: FileEntry, time: u32) {
        self.points.push(next.start());
        let name = files.file_name(next.number).len() as u64;
        let mut closed = std::mem::replace(&mut self.current, next);
        closed.size += ROTATE_LEN + name;
        closed.last_time = closed.last_time.max(time);
        self.closed_time = closed.last_time;
        self.last_time = self.last_time.max(time);
        self.closed.push(closed);
    }

    /// The record of the present state.
    pub(crate) fn record(&self, files: &VirtualFiles, reason: StateReason) -> StateRecord {
        StateRecord {
            reason,
            last_event_time: self.last_time,
            closed_time: self.closed_time,
            oldest_file: self.oldest.0,
            oldest_lsn: self.oldest.1,
            file_lsn: self.current.first_lsn,
            files: files.clone(),
            file_gtids: self.list_of(files).cloned(),
        }
    }

    /// The GTIDs before the current file, if known: then the file's head has the length that they make.
    fn list_of(&self, files: &VirtualFiles) -> Option<&GtidState> {
        let gtids = &self.current.gtids;
        let head = MAGIC.len() + FDE_LEN + gtid_list_event_len(gtids.len());
        (self.current.number == files.file_no() && head as u64 == files.head_len()).then_some(gtids)
    }

    /// Recovery: when a group was logged whose event says `time`, which is the statement's time and may be set by its
    /// session. Not before what was logged before it, nor in the future.
    pub(crate) fn logged_at(&self, time: u32, now: u32) -> u32 {
        time.max(self.last_time).min(now)
    }

    /// Recovery: corrects times that only the server's clock knew.
    pub(crate) fn times(&mut self, r: &StateRecord) {
        self.last_time = r.last_event_time;
        if !r.files.is_file_empty() {
            self.current.last_time = r.last_event_time;
        }
        self.closed_time = r.closed_time;
        if let Some(f) = self.closed.last_mut() {
            f.last_time = r.closed_time;
        }
    }

    /// Hands what is new over to the index.
    pub(crate) fn drain(&mut self, index: &mut Index) {
        index.files.extend(self.closed.drain(..));
        index.points.extend(self.points.drain(..));
    }
}

fn begin(files: &VirtualFiles, lsn: u64, seq: u64, time: u32) -> FileEntry {
    FileEntry {
        number: files.file_no(),
        first_lsn: lsn,
        needed_lsn: lsn,
        seq_before: seq,
        head: files.head_len(),
        size: files.offset(),
        last_time: time,
        gtids: files
            .gtids_at_file_start()
            .cloned()
            .unwrap_or_else(GtidState::new),
    }
}

/// LSN and commit number, as [`Track`] takes them.
pub(crate) fn place_of(at: &Reserved) -> (u64, u64) {
    (at.lsn, at.seq)
}
