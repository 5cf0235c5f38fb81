//! Reading records: of a running log up to its durable end, and of a closed log directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::core::Core;
use crate::disk::Disk;
use crate::error::LogError;
use crate::frame::RecordKind;
use crate::scan::{FrameSource, Look, Scanner};
use crate::segment::SEGMENT_HEADER_LEN;
use crate::{Lsn, Seq};

/// A record, borrowed from a reader's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordRef<'a> {
    /// Where it starts.
    pub lsn: Lsn,
    /// LSN behind it.
    pub end_lsn: Lsn,
    /// What it is; never one of the log's own kinds.
    pub kind: RecordKind,
    /// Its commit sequence number; for a record that is no commit, that of the last commit before it.
    pub seq: Seq,
    /// The body.
    pub body: &'a [u8],
}

/// Reads the durable records of a running log in order. It may be used while the log is written, and waits for nobody:
/// at the durable end [`LogReader::next`] gives `None`, later more (see [`crate::Log::wait_durable`]).
#[derive(Debug)]
pub struct LogReader {
    core: Arc<Core>,
    lsn: Lsn,
    source: Option<FrameSource>,
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
        };
        // Opened at once, so that retention can't take the segment away before the first record.
        reader.source = Some(reader.open_segment()?);
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
            let end = lsn + crate::core::frame_len(body.len());
            if kind == RecordKind::EndOfSegment {
                let next: [u8; 8] = source.body(body).try_into().map_err(|_| {
                    source.corrupt(lsn, "an end-of-segment record that names no place".into())
                })?;
                self.lsn = Lsn::from_le_bytes(next);
                self.source = None;
                continue;
            }
            self.lsn = end;
            if !kind.is_internal() {
                break (lsn, end, kind, self.full_seq(header.seq_low), body);
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

    /// The whole number from its low half: a durable commit lies less than 2^32 before the last visible or in front
    /// of it by what is being published right now.
    fn full_seq(&self, low: u32) -> Seq {
        let near = self.core.visible.load(Ordering::Acquire);
        // Signed distance, so that a commit that is durable but not yet published comes out right too.
        let ahead = low.wrapping_sub(near as u32);
        if ahead < 1 << 24 {
            near + u64::from(ahead)
        } else {
            near.wrapping_sub(u64::from((near as u32).wrapping_sub(low)))
        }
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
    /// A torn tail follows the end (the next start would cut it off): why the scan ended there.
    pub torn: Option<String>,
}

/// Reads a closed log directory without changing it: every record from the oldest on, every checksum verified.
#[derive(Debug)]
pub struct DirReader {
    scan: Scanner,
}

impl DirReader {
    /// Opens `dir`; `None` if it holds no log.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path) -> Result<Option<DirReader>, LogError> {
        Ok(Scanner::new(disk, dir, None)?.map(|scan| DirReader { scan }))
    }

    /// The next record, `None` where the log ends; then [`DirReader::end`] tells whether it ends well.
    #[allow(
        clippy::should_implement_trait,
        reason = "it lends from its buffer, which Iterator can't"
    )]
    pub fn next(&mut self) -> Result<Option<RecordRef<'_>>, LogError> {
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
        Ok(None)
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
        let tail = self.scan.tail()?;
        let (file, offset) = self.place(tail.end);
        let torn = (tail.dirty_end > tail.end || tail.later_dirty).then_some(tail.why);
        Ok(DirEnd {
            end_lsn: tail.end,
            file,
            offset,
            last_seq: self.scan.seq,
            clean_shutdown: self.scan.clean_shutdown && torn.is_none(),
            torn,
        })
    }
}
