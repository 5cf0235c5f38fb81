//! Where groups are read from: the live log, or a folder.

use crate::{EngineError, Result};
use narwal_log::{
    DirEnd, DirReader, DirRecords, Disk, LogError, LogReader, LogRecords, Lsn, RecordKind,
    RecordRef, SEGMENT_HEADER_LEN, Seq, parse_segment_name, segment_name,
};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Records of a log, in order and by place.
pub trait Records {
    /// The next record, `None` at the end (of what is durable, in a running log).
    ///
    /// # Errors
    /// Damage, and whatever else keeps the log from being read.
    fn next(&mut self) -> Result<Option<RecordRef<'_>>>;

    /// Reads the record that starts at `lsn` into `buf` (what it held is dropped). Does not move [`next`](Self::next).
    ///
    /// # Errors
    /// As [`next`](Self::next); there is no such record.
    fn read_at(&mut self, lsn: Lsn, buf: &mut Vec<u8>) -> Result<RecordKind>;

    /// Segment file and byte offset of an LSN, where known.
    fn place(&self, _lsn: Lsn) -> Option<(PathBuf, u64)> {
        None
    }
}

/// The records of an open database's log, up to its durable end.
#[derive(Debug)]
pub struct LiveRecords {
    reader: LogReader,
    random: LogRecords,
    count: u64,
}

impl LiveRecords {
    /// What `reader` gives, and records out of its order.
    pub(crate) fn new(reader: LogReader, random: LogRecords) -> Self {
        LiveRecords {
            reader,
            random,
            count: 0,
        }
    }

    /// Records that were read one after the other.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// LSN of the next record.
    #[must_use]
    pub fn lsn(&self) -> Lsn {
        self.reader.lsn()
    }
}

impl Records for LiveRecords {
    fn next(&mut self) -> Result<Option<RecordRef<'_>>> {
        let record = self.reader.next()?;
        self.count += u64::from(record.is_some());
        Ok(record)
    }

    fn read_at(&mut self, lsn: Lsn, buf: &mut Vec<u8>) -> Result<RecordKind> {
        Ok(self.random.read_at(lsn, buf)?.kind)
    }
}

/// The records of a log folder, whether or not a server is writing it. Files are opened for reading only, without a lock.
#[derive(Debug)]
pub struct FolderRecords {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    reader: DirReader,
    random: DirRecords,
    /// Sequence number of the last commit read.
    seq: Seq,
    /// Something was left out since.
    gap: bool,
    lost: u64,
}

impl FolderRecords {
    /// Opens the log in `dir` at its oldest record; `None` if there is none.
    ///
    /// # Errors
    /// A damaged segment header, errors of opening.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path) -> Result<Option<Self>> {
        let reader = DirReader::open(disk.clone(), dir)?;
        Ok(reader.map(|reader| Self::with(disk, dir, reader)))
    }

    /// As [`open`](Self::open), at the record that starts at `lsn`.
    ///
    /// # Errors
    /// As [`open`](Self::open); there is no such record.
    pub fn open_at(disk: Arc<dyn Disk>, dir: &Path, lsn: Lsn) -> Result<Option<Self>> {
        let reader = DirReader::open_at(disk.clone(), dir, lsn)?;
        Ok(reader.map(|reader| Self::with(disk, dir, reader)))
    }

    /// Another reader of the same log, at the record that starts at `lsn`.
    pub(crate) fn another_at(&self, lsn: Lsn) -> Result<Option<Self>> {
        Self::open_at(self.disk.clone(), &self.dir, lsn)
    }

    fn with(disk: Arc<dyn Disk>, dir: &Path, reader: DirReader) -> Self {
        FolderRecords {
            random: DirRecords::open(disk.clone(), dir),
            disk,
            dir: dir.to_path_buf(),
            reader,
            seq: 0,
            gap: false,
            lost: 0,
        }
    }

    /// LSN of the next record.
    #[must_use]
    pub fn lsn(&self) -> Lsn {
        self.reader.lsn()
    }

    /// Judges the end that [`Records::next`] has reached.
    ///
    /// # Errors
    /// [`EngineError::Corrupt`] if the log goes on behind it.
    pub fn end(&mut self) -> Result<DirEnd> {
        Ok(self.reader.end()?)
    }

    /// Goes on behind damage, see [`DirReader::resume`].
    ///
    /// # Errors
    /// Errors of reading the files.
    pub fn resume(&mut self) -> Result<Option<Lsn>> {
        self.gap = true;
        Ok(self.reader.resume()?)
    }

    /// Commits in what [`resume`](Self::resume) has left out, up to the last record read.
    #[must_use]
    pub fn lost_commits(&self) -> u64 {
        self.lost
    }
}

impl Records for FolderRecords {
    fn next(&mut self) -> Result<Option<RecordRef<'_>>> {
        let next = self.reader.next()?;
        if let Some(record) = &next {
            if std::mem::take(&mut self.gap) && self.seq > 0 {
                let before = record.seq - u64::from(record.kind.is_commit());
                self.lost += before.saturating_sub(self.seq);
            }
            self.seq = record.seq;
        }
        Ok(next)
    }

    fn read_at(&mut self, lsn: Lsn, buf: &mut Vec<u8>) -> Result<RecordKind> {
        match self.random.read_at(lsn, buf) {
            Ok(record) => Ok(record.kind),
            Err(e @ (LogError::Purged { .. } | LogError::BehindEnd { .. })) => {
                Err(corrupt(lsn, format!("is missing: {e}")))
            }
            Err(e) => Err(e.into()),
        }
    }

    fn place(&self, lsn: Lsn) -> Option<(PathBuf, u64)> {
        let names = self.disk.list(&self.dir).ok()?;
        let starts = names.iter().filter_map(|n| parse_segment_name(n));
        let start = starts.filter(|&s| s <= lsn).max()?;
        let file = self.dir.join(segment_name(start));
        Some((file, SEGMENT_HEADER_LEN + (lsn - start)))
    }
}

pub(crate) fn corrupt(lsn: Lsn, what: impl std::fmt::Display) -> EngineError {
    EngineError::Corrupt(format!("log record at LSN {lsn}: {what}"))
}
