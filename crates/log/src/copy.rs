//! Whole segments for an archive: which there are, and verified copies of what is durable in them.

use std::sync::atomic::Ordering;

use crate::error::{Corruption, LogError};
use crate::frame::{self, HEADER_LEN, Header, RecordKind};
use crate::record::full_seq;
use crate::segment::{BadHeader, SEGMENT_HEADER_LEN, SegmentHeader};
use crate::{LogRecords, Lsn, Seq};

/// A segment of a running log, as far as it is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentSpan {
    /// LSN of its first record.
    pub start: Lsn,
    /// Durable up to here. Of a full segment only a bound: the next one's start.
    pub end: Lsn,
    /// Start of the next segment if this one is full and all of it durable: nothing in it changes any more.
    pub next: Option<Lsn>,
}

/// A segment's bytes, every record verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentCopy {
    /// What the file would hold: of a full segment all of it, unchanged; of the current one what is durable, under a
    /// header page that vouches for just that length.
    pub bytes: Vec<u8>,
    /// The random number that names its log.
    pub log_id: u64,
    /// LSN of its first record.
    pub start: Lsn,
    /// LSN behind its last record.
    pub end: Lsn,
    /// Start of the next segment, if this one is full.
    pub next: Option<Lsn>,
    /// Sequence number of its first commit, or of the one that would be it.
    pub first_seq: Seq,
    /// Sequence number of the last commit in it or before it.
    pub last_seq: Seq,
}

impl SegmentCopy {
    /// CRC32C of the records from the segment's start to `end`, which must not be behind its end. The header page and
    /// the room behind the records do not count, so it says whether two copies tell the same history so far.
    pub fn records_crc(&self, end: Lsn) -> u32 {
        let from = SEGMENT_HEADER_LEN as usize;
        let to = from + end.clamp(self.start, self.end).saturating_sub(self.start) as usize;
        crc32c::crc32c(self.bytes.get(from..to).unwrap_or_default())
    }

    /// Verifies a copy that comes from elsewhere: the header page, that every record in it is whole, and, of a full
    /// segment, that it says so itself.
    ///
    /// # Errors
    /// What is wrong, and at which byte.
    pub fn verify(bytes: Vec<u8>) -> Result<SegmentCopy, BadCopy> {
        let bad = |offset: u64, reason: String| BadCopy { offset, reason };
        let header = SegmentHeader::decode(&bytes).map_err(|e| match e {
            BadHeader::Damaged(why) | BadHeader::Newer(why) => bad(0, why),
        })?;
        let end = walk(&bytes, &header, None).map_err(|(o, why)| bad(o, why))?;
        Ok(SegmentCopy {
            log_id: header.log_id,
            start: header.start,
            end: end.end,
            next: end.next,
            first_seq: end.first_seq,
            last_seq: end.last_seq,
            bytes,
        })
    }
}

/// The random number that names the log which a segment's file is of, if its header page is whole.
pub fn log_id(segment: &[u8]) -> Option<u64> {
    SegmentHeader::decode(segment).ok().map(|h| h.log_id)
}

/// A damaged segment with its records from a copy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mended {
    /// What the file is to hold.
    pub bytes: Vec<u8>,
    /// Records that were damaged and come from the copy now; the header page counts as one.
    pub records: u64,
}

impl SegmentCopy {
    /// Puts this copy's records in the place of those in `damaged` that do not verify. What `damaged` has behind this
    /// copy's end stays as it is.
    ///
    /// # Errors
    /// `damaged` has a whole record that is not this copy's: it is of another history, and the copy can't help.
    pub fn mend(&self, damaged: &[u8]) -> Result<Mended, BadCopy> {
        let page = SEGMENT_HEADER_LEN as usize;
        let copied = page + (self.end - self.start) as usize;
        let full = if self.next.is_some() {
            self.bytes.len()
        } else {
            copied
        };
        let mut bytes = damaged.to_vec();
        if bytes.len() < full {
            bytes.resize(full, 0);
        }
        let mut records = 0;
        match SegmentHeader::decode(&bytes) {
            Ok(h) if (h.log_id, h.start) == (self.log_id, self.start) => {}
            Ok(_) => {
                let reason = "the copy is of another log".into();
                return Err(BadCopy { offset: 0, reason });
            }
            Err(_) => {
                bytes[..page].copy_from_slice(&self.bytes[..page]);
                records += 1;
            }
        }
        let mut at = page;
        while at < copied {
            let mut head = [0; HEADER_LEN];
            head.copy_from_slice(&self.bytes[at..at + HEADER_LEN]);
            let to = at + HEADER_LEN + Header::decode(&head).body_len as usize;
            let (own, copy) = (&mut bytes[at..to], &self.bytes[at..to]);
            if own != copy {
                let lsn = self.start + (at - page) as u64;
                if frame::verify(self.log_id, lsn, own) {
                    let reason =
                        "the copy has another record here: it is of another history of this log"
                            .into();
                    return Err(BadCopy {
                        offset: at as u64,
                        reason,
                    });
                }
                own.copy_from_slice(copy);
                records += 1;
            }
            at = to;
        }
        Ok(Mended { bytes, records })
    }
}

/// Why bytes are no whole segment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {reason}")]
pub struct BadCopy {
    /// Where.
    pub offset: u64,
    /// What is wrong there.
    pub reason: String,
}

struct Walked {
    end: Lsn,
    next: Option<Lsn>,
    first_seq: Seq,
    last_seq: Seq,
}

/// Walks the records up to `limit`, which must be the end of one; without a limit up to the end of the segment or of the
/// bytes.
fn walk(bytes: &[u8], header: &SegmentHeader, limit: Option<Lsn>) -> Result<Walked, (u64, String)> {
    let page = SEGMENT_HEADER_LEN as usize;
    let (mut at, mut first_seq, mut last_seq) = (page, 0, 0);
    let stop = match limit {
        Some(l) => page + l.saturating_sub(header.start) as usize,
        None => bytes.len(),
    };
    let walked = |at: usize, next, first_seq, last_seq| Walked {
        end: header.start + (at - page) as u64,
        next,
        first_seq,
        last_seq,
    };
    while at < stop {
        let lsn = header.start + (at - page) as u64;
        let here = at as u64;
        let wrong = |why: &str| Err((here, why.to_owned()));
        let Some(head) = bytes.get(at..at + HEADER_LEN) else {
            return wrong("no room for a record header");
        };
        let mut h = [0; HEADER_LEN];
        h.copy_from_slice(head);
        let h = Header::decode(&h);
        let len = HEADER_LEN + h.body_len as usize;
        let Some(record) = bytes.get(at..at + len).filter(|_| at + len <= stop) else {
            return wrong("a record reaches behind the end");
        };
        if !frame::verify(header.log_id, lsn, record) {
            return wrong("no record starts here, or its checksum does not match");
        }
        let Some(kind) = RecordKind::from_u8(h.kind) else {
            return wrong("a record of a kind that is not known to this program");
        };
        let number = || {
            let body = record.get(HEADER_LEN..HEADER_LEN + 8);
            body.and_then(|b| <[u8; 8]>::try_from(b).ok())
                .map(u64::from_le_bytes)
        };
        if at == page {
            let Some(n) = number().filter(|n| kind == RecordKind::SegmentStart && *n > 0) else {
                return wrong("the segment does not start with its start record");
            };
            (first_seq, last_seq) = (n, n - 1);
        } else if kind.is_commit() {
            last_seq = full_seq(first_seq, h.seq_low);
        }
        at += len;
        if kind == RecordKind::EndOfSegment {
            return match number() {
                Some(next) => Ok(walked(at, Some(next), first_seq, last_seq)),
                None => wrong("a record that ends the segment without naming the next"),
            };
        }
    }
    if at == page {
        return Err((at as u64, "a segment without any record".into()));
    }
    Ok(walked(at, None, first_seq, last_seq))
}

impl LogRecords {
    /// The segments that hold durable records, oldest first, from the one on that `from` is in (or the oldest there is).
    pub fn spans(&self, from: Lsn) -> Vec<SegmentSpan> {
        let core = &*self.0;
        let durable = core.durable.load(Ordering::Acquire);
        let segments = core.segments.lock();
        let starts: Vec<Lsn> = segments.keys().copied().collect();
        drop(segments);
        let first = starts.partition_point(|&s| s <= from).saturating_sub(1);
        starts[first..]
            .iter()
            .enumerate()
            .take_while(|(_, start)| **start < durable)
            .map(|(i, &start)| {
                let next = starts.get(first + i + 1).copied().filter(|n| durable > *n);
                SegmentSpan {
                    start,
                    end: next.unwrap_or(durable),
                    next,
                }
            })
            .collect()
    }

    /// Copies a segment as far as its span says, and verifies every record.
    ///
    /// # Errors
    /// [`LogError::Purged`], [`LogError::Corrupt`], I/O errors.
    pub fn copy_segment(&self, span: &SegmentSpan) -> Result<SegmentCopy, LogError> {
        let core = &*self.0;
        let Some(segment) = core.segment(span.start) else {
            return Err(LogError::Purged {
                lsn: span.start,
                oldest: core.oldest(),
            });
        };
        let io = |e| LogError::io("read", &segment.path, e);
        let corrupt = |offset: u64, reason: String| {
            LogError::Corrupt(Corruption {
                file: segment.path.clone(),
                offset,
                lsn: span.start + offset.saturating_sub(SEGMENT_HEADER_LEN),
                reason,
            })
        };
        let len = match span.next {
            Some(_) => segment.file.len().map_err(io)?,
            None => SEGMENT_HEADER_LEN + (span.end - span.start),
        };
        let mut bytes = vec![0; len as usize];
        let got = segment.file.read_at(&mut bytes, 0).map_err(io)?;
        if got < bytes.len() {
            return Err(corrupt(got as u64, "the file ends here".into()));
        }
        let header = SegmentHeader::decode(&bytes).map_err(|e| match e {
            BadHeader::Damaged(why) | BadHeader::Newer(why) => corrupt(0, why),
        })?;
        let limit = span.next.is_none().then_some(span.end);
        let walked = walk(&bytes, &header, limit).map_err(|(o, why)| corrupt(o, why))?;
        if span.next.is_some() && walked.next != span.next {
            let offset = SEGMENT_HEADER_LEN + (walked.end - span.start);
            return Err(corrupt(
                offset,
                "a full segment that does not name the next".into(),
            ));
        }
        if span.next.is_none() {
            let page = SegmentHeader {
                allocated: len,
                ..header
            }
            .encode();
            bytes[..page.len()].copy_from_slice(&page);
        }
        Ok(SegmentCopy {
            bytes,
            log_id: header.log_id,
            start: span.start,
            end: walked.end,
            next: walked.next,
            first_seq: walked.first_seq,
            last_seq: walked.last_seq,
        })
    }

    /// The random number that names this log.
    pub fn log_id(&self) -> u64 {
        self.0.log_id
    }
}
