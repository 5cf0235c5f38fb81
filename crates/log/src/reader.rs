//! Reading records: of a running log up to its durable end, and of a closed log directory.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::core::Core;
use crate::disk::Disk;
use crate::error::LogError;
use crate::frame::RecordKind;
use crate::random::MAX_TRIES;
use crate::record::{RecordRef, frame_len, full_seq};
use crate::scan::{FrameSource, Look, Scanner};
use crate::segment::SEGMENT_HEADER_LEN;
use crate::{Lsn, Seq};

/// Reads the durable records of a running log in order. It may be used while the log is written, and waits for nobody:
/// at the durable end [`LogReader::next`] gives `None`, later more (see [`crate::Log::wait_durable`]).
#[derive(Debug)]
pub struct LogReader {
    core: Arc<Core>,
    lsn: Lsn,
    source: Option<FrameSource>,
    /// Sequence number of the current segment's first commit, from its start record.
    first_seq: Seq,
}

impl LogReader {
    pub(crate) fn open(core: Arc<Core>, lsn: Lsn) -> Result<LogReader, LogError> {
        let durable = core.durable.load(Ordering::Acquire);
        let oldest = core.oldest();
        if lsn < oldest {
            return Err(LogError::Purged { lsn, oldest });
        }
        if lsn > durable {
            return Err(LogError::BehindEnd { lsn, end: durable });
        }
        let mut reader = LogReader {
            core,
            lsn,
            source: None,
            first_seq: 1,
        };
        // Opened at once, so that retention can't take the segment away before the first record.
        let mut source = reader.open_segment()?;
        if lsn > source.start {
            let start = source.start;
            match source.look(start, durable)? {
                Look::Good(_, RecordKind::SegmentStart, body) => {
                    reader.first_seq = number(&source, start, body)?;
                }
                Look::Good(..) => return Err(source.corrupt(start, "no start record".into())),
                Look::Bad(why) => return Err(source.corrupt(start, why)),
            }
        }
        reader.source = Some(source);
        Ok(reader)
    }

    fn open_segment(&self) -> Result<FrameSource, LogError> {
        match self.core.segment_of(self.lsn) {
            Some(s) => Ok(FrameSource::new(
                s.file.clone(),
                s.path.clone(),
                s.start,
                self.core.log_id,
            )),
            None => Err(LogError::Purged {
                lsn: self.lsn,
                oldest: self.core.oldest(),
            }),
        }
    }

    /// LSN of the next record (or of where it will be).
    pub fn lsn(&self) -> Lsn {
        self.lsn
    }

    /// The next record, `None` at the durable end. Every checksum is verified.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] with file and byte offset; [`LogError::Purged`] if retention took the next segment away.
    #[allow(
        clippy::should_implement_trait,
        reason = "it lends from its buffer, which Iterator can't"
    )]
    pub fn next(&mut self) -> Result<Option<RecordRef<'_>>, LogError> {
        let (lsn, end, kind, seq, body) = loop {
            let durable = self.core.durable.load(Ordering::Acquire);
            if self.lsn >= durable {
                return Ok(None);
            }
            if self.source.is_none() {
                self.source = Some(self.open_segment()?);
            }
            let Some(source) = &mut self.source else {
                return Ok(None);
            };
            let lsn = self.lsn;
            let (header, kind, body) = match source.look(lsn, durable)? {
                Look::Good(h, k, b) => (h, k, b),
                Look::Bad(why) => return Err(source.corrupt(lsn, why)),
            };
            let end = lsn + frame_len(body.len());
            if kind == RecordKind::EndOfSegment {
                self.lsn = number(source, lsn, body)?;
                self.source = None;
                continue;
            }
            self.lsn = end;
            if kind == RecordKind::SegmentStart {
                self.first_seq = number(source, lsn, body.clone())?;
            }
            if !kind.is_internal() {
                break (
                    lsn,
                    end,
                    kind,
                    full_seq(self.first_seq, header.seq_low),
                    body,
                );
            }
        };
        Ok(self.source.as_ref().map(|s| RecordRef {
            lsn,
            end_lsn: end,
            kind,
            seq,
            body: s.body(body),
        }))
    }
}

/// The number that a SegmentStart or EndOfSegment record is.
fn number(source: &FrameSource, lsn: Lsn, body: Range<usize>) -> Result<u64, LogError> {
    match source.body(body).try_into().map(u64::from_le_bytes) {
        Ok(n) if n > 0 => Ok(n),
        _ => Err(source.corrupt(lsn, "a record that should hold one number does not".into())),
    }
}

/// How a closed log directory ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEnd {
    /// LSN behind the last record.
    pub end_lsn: Lsn,
    /// The file that holds the end.
    pub file: PathBuf,
    /// Byte offset of the end in it.
    pub offset: u64,
    /// Last commit.
    pub last_seq: Seq,
    /// The log ends with a shutdown record.
    pub clean_shutdown: bool,
    /// A torn tail follows the end (the next start would cut it off): why the scan ended there. In a log that a server
    /// is writing this is usually just the record being written.
    pub torn: Option<String>,
    /// Somebody is writing this log: there is more behind the end already.
    pub more: bool,
}

/// Reads a log directory without changing it, every checksum verified: a closed one, or one that a server is writing,
/// where it may run ahead of what is durable. At the end [`DirReader::next`] gives `None`; called again later it finds
/// what was added meanwhile.
#[derive(Debug)]
pub struct DirReader {
    scan: Scanner,
    /// The last call found the end: look at the files again.
    at_end: bool,
}

impl DirReader {
    /// Opens `dir` at the oldest record; `None` if it holds no log.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path) -> Result<Option<DirReader>, LogError> {
        retry_purged(|| Self::with(Scanner::new(disk.clone(), dir, None)))
    }

    /// Opens `dir` at `lsn`, which must be the start of a record or the end of the log; `None` if it holds no log.
    ///
    /// # Errors
    /// [`LogError::Purged`], [`LogError::BehindEnd`]; [`LogError::Corrupt`] if no record starts there.
    pub fn open_at(
        disk: Arc<dyn Disk>,
        dir: &Path,
        lsn: Lsn,
    ) -> Result<Option<DirReader>, LogError> {
        retry_purged(|| Self::with(Scanner::at(disk.clone(), dir, lsn)))
    }

    fn with(scan: Result<Option<Scanner>, LogError>) -> Result<Option<DirReader>, LogError> {
        Ok(scan?.map(|scan| DirReader {
            scan,
            at_end: false,
        }))
    }

    /// LSN of the next record (or of where it will be).
    pub fn lsn(&self) -> Lsn {
        self.scan.lsn
    }

    /// The next record, `None` where the log ends; then [`DirReader::end`] tells whether it ends well. Calling it again
    /// looks for what was added since.
    ///
    /// # Errors
    /// [`LogError::Corrupt`]; [`LogError::Purged`] if retention took the segment away.
    #[allow(
        clippy::should_implement_trait,
        reason = "it lends from its buffer, which Iterator can't"
    )]
    pub fn next(&mut self) -> Result<Option<RecordRef<'_>>, LogError> {
        if self.at_end {
            self.scan.refresh()?;
            self.at_end = false;
        }
        while let Some(r) = self.scan.step()? {
            if !r.kind.is_internal() {
                return Ok(Some(RecordRef {
                    lsn: r.lsn,
                    end_lsn: r.end,
                    kind: r.kind,
                    seq: r.seq,
                    body: self.scan.source.body(r.body),
                }));
            }
        }
        self.at_end = true;
        self.scan.check_purged()?;
        Ok(None)
    }

    /// Goes on behind damage: to the next record behind the current place that verifies. Gives its LSN, or `None` if
    /// there is none. For tools that save what can be read. Which records are missing is not known.
    ///
    /// # Errors
    /// Errors of reading the files.
    pub fn resume(&mut self) -> Result<Option<Lsn>, LogError> {
        self.at_end = false;
        self.scan.resume()
    }

    /// The file and byte offset of an LSN in the current segment.
    pub fn place(&self, lsn: Lsn) -> (PathBuf, u64) {
        (
            self.scan.source.path.clone(),
            SEGMENT_HEADER_LEN + lsn.saturating_sub(self.scan.source.start),
        )
    }

    /// Judges the end that [`DirReader::next`] has reached.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] if durable records lie behind it.
    pub fn end(&mut self) -> Result<DirEnd, LogError> {
        self.at_end = true;
        let tail = match self.scan.tail() {
            Ok(tail) => tail,
            Err(e) => {
                self.scan.refresh()?;
                self.scan.check_purged()?;
                // A server may have written the record here and those that prove it durable since the last look.
                if !self.scan.record_here()? {
                    return Err(e);
                }
                let (file, offset) = self.place(self.scan.lsn);
                return Ok(DirEnd {
                    end_lsn: self.scan.lsn,
                    file,
                    offset,
                    last_seq: self.scan.seq,
                    clean_shutdown: false,
                    torn: None,
                    more: true,
                });
            }
        };
        let (file, offset) = self.place(tail.end);
        let torn = (tail.dirty_end > tail.end || tail.later_dirty).then_some(tail.why);
        Ok(DirEnd {
            end_lsn: tail.end,
            file,
            offset,
            last_seq: self.scan.seq,
            clean_shutdown: self.scan.clean_shutdown && torn.is_none(),
            torn,
            more: false,
        })
    }
}

/// Runs `open` again if a file went away between the listing of the folder and its opening.
fn retry_purged<T>(open: impl Fn() -> Result<T, LogError>) -> Result<T, LogError> {
    let mut tries = 0;
    loop {
        match open() {
            Err(LogError::Io { source, .. })
                if source.kind() == std::io::ErrorKind::NotFound && tries < MAX_TRIES =>
            {
                tries += 1;
            }
            result => return result,
        }
    }
}
