//! The index over the log: its virtual files, and points at which position, GTID state and commit number are known.
//!
//! Points are the State records and the starts of files. They come in log order, so they are sorted by LSN, by commit
//! number and by file and offset at once.

use narwal_binlog::{Gtid, GtidState, VirtualConfig, VirtualFiles};
use std::collections::VecDeque;

/// A virtual file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileEntry {
    /// Number, from 1.
    pub(crate) number: u32,
    /// Its groups stand at this LSN or behind it, those of earlier files before it.
    pub(crate) first_lsn: u64,
    /// Lowest LSN that one of its groups needs: its first chunk's. `first_lsn` if there is no such group.
    pub(crate) needed_lsn: u64,
    /// Last commit before the file.
    pub(crate) seq_before: u64,
    /// Bytes before its first group.
    pub(crate) head: u64,
    /// Bytes, with the ROTATE event that ends it if it is closed.
    pub(crate) size: u64,
    /// When its last event was logged (or the file begun), seconds since 1970 by the server's clock.
    pub(crate) last_time: u32,
    /// GTIDs before it.
    pub(crate) gtids: GtidState,
}

impl FileEntry {
    /// The point at its start.
    pub(crate) fn start(&self) -> Point {
        Point {
            lsn: self.first_lsn,
            seq: self.seq_before,
            file_no: self.number,
            head: self.head,
            offset: self.head,
            gtids: self.gtids.iter().collect(),
        }
    }
}

/// A place in the log where everything is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Point {
    /// Start of a record (or the place of the next one).
    pub(crate) lsn: u64,
    /// Last commit before it.
    pub(crate) seq: u64,
    /// Virtual file in which the next group stands, if it is not the first of the next.
    pub(crate) file_no: u32,
    /// Bytes before that file's first group.
    pub(crate) head: u64,
    /// Offset there.
    pub(crate) offset: u64,
    /// Last GTID of each (domain, server) before it.
    pub(crate) gtids: Box<[Gtid]>,
}

impl Point {
    /// As the state to read on from.
    pub(crate) fn files(&self, config: VirtualConfig) -> VirtualFiles {
        let gtids = self.gtids.iter().copied().collect();
        VirtualFiles::at(config, self.file_no, self.head, self.offset, gtids)
    }

    /// Nothing before this point is missing to somebody who has everything up to `have`: as MariaDB decides from which
    /// file it sends.
    fn serves(&self, have: &GtidState) -> bool {
        // The entries of one domain stand together, the one written last at their end.
        for (i, at) in self.gtids.iter().enumerate() {
            let Some(has) = have.last(at.domain) else {
                return false; // needs all of that domain
            };
            if at.server != has.server || at.seq < has.seq {
                continue; // not reached yet
            }
            let last_in_domain = self
                .gtids
                .get(i + 1)
                .is_none_or(|next| next.domain != at.domain);
            if at.seq > has.seq || !last_in_domain {
                return false; // others followed it already
            }
        }
        true
    }
}

/// What a checkpoint stores: the index up to its LSN, or what was added since the last one.
#[derive(Debug, Clone, Default)]
pub(crate) struct IndexDelta {
    /// What is stored is of a life before a reset.
    pub(crate) clear: bool,
    /// Everything stored of files before this number and of points before this LSN goes.
    pub(crate) oldest: (u32, u64),
    /// Files that are new or have changed, the current one last.
    pub(crate) files: Vec<FileEntry>,
    /// New points.
    pub(crate) points: Vec<Point>,
    /// To be given to [`Index::saved`] once it is stored.
    generation: u64,
    upto: (u32, u64),
}

/// The index in memory. The current file is not in it: it belongs to [`crate::binlog::track::Track`].
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Closed files, oldest first.
    pub(crate) files: VecDeque<FileEntry>,
    /// Points, oldest first. The first one is the start of the oldest file.
    pub(crate) points: VecDeque<Point>,
    /// Files before this number and points before this LSN are stored.
    stored: (u32, u64),
    /// Changes with each reset.
    generation: u64,
    clear: bool,
}

impl Index {
    /// From what a checkpoint has stored; all of it counts as stored but the last file.
    pub(crate) fn from_stored(files: VecDeque<FileEntry>, points: VecDeque<Point>) -> Self {
        Index {
            stored: (
                files.back().map_or(0, |f| f.number),
                points.back().map_or(0, |p| p.lsn + 1),
            ),
            files,
            points,
            ..Index::default()
        }
    }

    /// Forgets everything (RESET MASTER).
    pub(crate) fn clear(&mut self) {
        self.files.clear();
        self.points.clear();
        self.stored = (0, 0);
        self.generation += 1;
        self.clear = true;
    }

    /// The current file, number `file_no`, was begun anew at `lsn`: what was known of its start is wrong.
    pub(crate) fn begin_anew(&mut self, file_no: u32, lsn: u64) {
        self.points.retain(|p| p.file_no != file_no || p.lsn >= lsn);
        self.stored = (0, 0);
        self.generation += 1;
        self.clear = true;
    }

    /// Forgets the files before number `oldest`, which starts at `lsn`; returns how many.
    pub(crate) fn drop_before(&mut self, oldest: u32, lsn: u64) -> usize {
        let files = self.files.partition_point(|f| f.number < oldest);
        self.files.drain(..files);
        let points = self.points.partition_point(|p| p.lsn < lsn);
        self.points.drain(..points);
        files
    }

    /// What a checkpoint has to store now.
    pub(crate) fn delta(&self, current: &FileEntry) -> IndexDelta {
        let files = self.files.partition_point(|f| f.number < self.stored.0);
        let points = self.points.partition_point(|p| p.lsn < self.stored.1);
        let first = self.files.front().unwrap_or(current);
        IndexDelta {
            clear: self.clear,
            oldest: (first.number, first.first_lsn),
            files: self
                .files
                .range(files..)
                .chain([current])
                .cloned()
                .collect(),
            points: self.points.range(points..).cloned().collect(),
            generation: self.generation,
            upto: (current.number, self.points.back().map_or(0, |p| p.lsn + 1)),
        }
    }

    /// The delta is stored.
    pub(crate) fn saved(&mut self, delta: &IndexDelta) {
        if delta.generation == self.generation {
            self.stored = delta.upto;
            self.clear = false;
        }
    }

    /// The last point at or before `lsn`.
    pub(crate) fn by_lsn(&self, lsn: u64) -> Option<&Point> {
        self.before(self.points.partition_point(|p| p.lsn <= lsn))
    }

    /// The last point at or before an offset in a file, in that file.
    pub(crate) fn by_offset(&self, file_no: u32, offset: u64) -> Option<&Point> {
        let n = self
            .points
            .partition_point(|p| (p.file_no, p.offset) <= (file_no, offset));
        self.before(n).filter(|p| p.file_no == file_no)
    }

    /// The last point that has no commit behind `seq` before it.
    pub(crate) fn by_seq(&self, seq: u64) -> Option<&Point> {
        self.before(self.points.partition_point(|p| p.seq <= seq))
    }

    /// The last point from which on everything stands that is missing to somebody who has everything up to `have`.
    pub(crate) fn by_gtids(&self, have: &GtidState) -> Option<&Point> {
        self.points.iter().rev().find(|p| p.serves(have))
    }

    fn before(&self, n: usize) -> Option<&Point> {
        n.checked_sub(1).and_then(|n| self.points.get(n))
    }
}
