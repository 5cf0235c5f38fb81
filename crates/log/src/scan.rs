//! The recovery scan: walks the frames of a closed log, and decides at its end between a torn tail and damage.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{Disk, DiskFile};
use crate::error::{Corruption, LogError};
use crate::frame::{self, HEADER_LEN, Header, RecordKind};
use crate::record::full_seq;
use crate::segment::{SEGMENT_HEADER_LEN, Segment, list_segments, segment_name};
use crate::{Lsn, Seq};

#[path = "resume.rs"]
mod resume;

/// How much is read ahead.
const READ_AHEAD: usize = 256 << 10;

/// Reads verified frames of one segment file through a buffer.
#[derive(Debug)]
pub(crate) struct FrameSource {
    pub file: Arc<dyn DiskFile>,
    pub path: PathBuf,
    pub start: Lsn,
    log_id: u64,
    buf: Vec<u8>,
    /// LSN of the first byte in `buf`.
    buf_lsn: Lsn,
    /// What the file's header says about its length.
    pub allocated: u64,
}

/// What lies at a place.
pub(crate) enum Look {
    /// A frame that verifies; the body is `source.body(range)`.
    Good(Header, RecordKind, Range<usize>),
    /// No frame that verifies, and why.
    Bad(String),
}

impl FrameSource {
    pub fn new(file: Arc<dyn DiskFile>, path: PathBuf, start: Lsn, log_id: u64) -> FrameSource {
        FrameSource {
            file,
            path,
            start,
            log_id,
            buf: Vec::new(),
            buf_lsn: start,
            allocated: 0,
        }
    }

    pub fn body(&self, range: Range<usize>) -> &[u8] {
        &self.buf[range]
    }

    /// Forgets what was read; the next look is at or behind `lsn`.
    pub fn forget(&mut self, lsn: Lsn) {
        self.buf.clear();
        self.buf_lsn = lsn;
    }

    pub fn offset_of(&self, lsn: Lsn) -> u64 {
        SEGMENT_HEADER_LEN + (lsn - self.start)
    }

    pub fn corrupt(&self, lsn: Lsn, reason: String) -> LogError {
        LogError::Corrupt(Corruption {
            file: self.path.clone(),
            offset: self.offset_of(lsn),
            lsn,
            reason,
        })
    }

    /// Makes `[lsn, lsn + n)` available; returns how many of the `n` bytes there are below `limit` and in the file.
    fn fill(&mut self, lsn: Lsn, n: usize, limit: Lsn) -> Result<usize, LogError> {
        let got = match lsn.checked_sub(self.buf_lsn) {
            Some(skip) => (self.buf.len() as u64).saturating_sub(skip) as usize,
            None => 0,
        };
        if got >= n {
            return Ok(n);
        }
        if got > 0 {
            self.buf.drain(..(lsn - self.buf_lsn) as usize);
        } else {
            self.buf.clear();
        }
        self.buf_lsn = lsn;
        let room = limit.saturating_sub(lsn).min(n.max(READ_AHEAD) as u64) as usize;
        if room > got {
            self.buf.resize(room, 0);
            let at = self.offset_of(lsn) + got as u64;
            let read = self
                .file
                .read_at(&mut self.buf[got..], at)
                .map_err(|e| LogError::io("read", &self.path, e))?;
            self.buf.truncate(got + read);
        }
        Ok(self.buf.len().min(n))
    }

    /// Looks at `lsn`; nothing at or behind `limit` counts.
    pub fn look(&mut self, lsn: Lsn, limit: Lsn) -> Result<Look, LogError> {
        if self.fill(lsn, HEADER_LEN, limit)? < HEADER_LEN {
            return Ok(Look::Bad("no room for a record header".into()));
        }
        let at = (lsn - self.buf_lsn) as usize;
        let mut head = [0u8; HEADER_LEN];
        head.copy_from_slice(&self.buf[at..at + HEADER_LEN]);
        let header = Header::decode(&head);
        if head == [0; HEADER_LEN] {
            return Ok(Look::Bad("only zeros where a record should start".into()));
        }
        let len = HEADER_LEN + header.body_len as usize;
        if lsn + len as u64 > limit || self.fill(lsn, len, limit)? < len {
            return Ok(Look::Bad(format!(
                "a record of {len} bytes would reach behind the end"
            )));
        }
        let at = (lsn - self.buf_lsn) as usize;
        if !frame::verify(self.log_id, lsn, &self.buf[at..at + len]) {
            return Ok(Look::Bad(
                "the checksum of the record does not match".into(),
            ));
        }
        match RecordKind::from_u8(header.kind) {
            Some(kind) => Ok(Look::Good(header, kind, at + HEADER_LEN..at + len)),
            // It verifies, so it was written on purpose: by a newer program.
            None => Err(LogError::Newer(Corruption {
                file: self.path.clone(),
                offset: self.offset_of(lsn),
                lsn,
                reason: format!("record kind {} is not known to this program", header.kind),
            })),
        }
    }
}

/// One record found by the scan.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub lsn: Lsn,
    pub end: Lsn,
    pub kind: RecordKind,
    pub seq: Seq,
    pub body: Range<usize>,
}

/// How the written part of a log ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TailEnd {
    /// Where the next record goes.
    pub end: Lsn,
    /// One past the last byte that is not zero in the current segment's file, at least `end`.
    pub dirty_end: Lsn,
    /// Segments behind the current one: prepared ahead, or torn.
    pub later: Vec<Lsn>,
    /// Whether any byte there is not zero.
    pub later_dirty: bool,
    /// Why the scan ended here.
    pub why: String,
}

/// Walks the records of a closed log directory in order.
#[derive(Debug)]
pub(crate) struct Scanner {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    pub segments: Vec<Lsn>,
    /// Index of the current segment in `segments`.
    pub index: usize,
    pub source: FrameSource,
    pub log_id: u64,
    pub lsn: Lsn,
    pub seq: Seq,
    /// The sequence number is still to be learnt from the first SegmentStart record.
    seq_unknown: bool,
    limit: Lsn,
    pub clean_shutdown: bool,
    /// The highest LSN up to which some record (or the caller's checkpoint) proves that the disk was durable.
    pub proven: Lsn,
    why: String,
}

impl Scanner {
    /// Starts at `from`, or at the oldest segment. `segments` must not be empty.
    pub fn new(
        disk: Arc<dyn Disk>,
        dir: &Path,
        from: Option<(Lsn, Seq)>,
    ) -> Result<Option<Scanner>, LogError> {
        let segments = list_segments(&*disk, dir, false)?;
        let Some(&oldest) = segments.first() else {
            return Ok(None);
        };
        let start_lsn = from.map_or(oldest, |f| f.0);
        let index = match segments.iter().rposition(|&s| s <= start_lsn) {
            Some(i) => i,
            None => {
                return Err(LogError::Purged {
                    lsn: start_lsn,
                    oldest,
                });
            }
        };
        let (source, limit, log_id) = Self::open_segment(&*disk, dir, segments[index], None)?;
        if start_lsn > limit {
            return Err(source.corrupt(
                start_lsn,
                "the log ends before the place where the last checkpoint stands".into(),
            ));
        }
        Ok(Some(Scanner {
            disk,
            dir: dir.to_path_buf(),
            index,
            source,
            log_id,
            lsn: start_lsn,
            seq: from.map_or(0, |f| f.1),
            seq_unknown: from.is_none() && oldest != crate::segment::FIRST_LSN,
            limit,
            clean_shutdown: false,
            proven: from.map_or(0, |f| f.0),
            why: String::new(),
            segments,
        }))
    }

    /// Starts at the record at `lsn`, or at the end of the log.
    pub fn at(disk: Arc<dyn Disk>, dir: &Path, lsn: Lsn) -> Result<Option<Scanner>, LogError> {
        let segments = list_segments(&*disk, dir, false)?;
        let Some(&oldest) = segments.first() else {
            return Ok(None);
        };
        let below = segments.partition_point(|&s| s <= lsn);
        let Some(&start) = below.checked_sub(1).and_then(|i| segments.get(i)) else {
            return Err(LogError::Purged { lsn, oldest });
        };
        // The numbers of this segment stand in its first record.
        let Some(mut scan) = Scanner::new(disk, dir, Some((start, 0)))? else {
            return Ok(None);
        };
        scan.proven = 0;
        scan.seq_unknown = start != crate::segment::FIRST_LSN;
        if lsn == start {
            return Ok(Some(scan));
        }
        if scan.step()?.is_some() && lsn < scan.limit && scan.source.start == start {
            let first = scan.seq + 1;
            if let Look::Good(header, kind, _) = scan.source.look(lsn, scan.limit)? {
                let seq = full_seq(first, header.seq_low);
                scan.seq = seq - u64::from(kind.is_commit());
                scan.lsn = lsn;
                return Ok(Some(scan));
            }
            scan.source.forget(scan.lsn);
        }
        // Perhaps the end of the log: only the records before it can tell.
        while scan.lsn < lsn {
            let here = scan.lsn;
            match scan.step()? {
                Some(_) if scan.source.start == start && scan.lsn > lsn => {
                    return Err(scan.source.corrupt(
                        lsn,
                        format!("no record starts here, but inside the one at LSN {here}"),
                    ));
                }
                Some(_) => {}
                None => {
                    scan.check_purged()?;
                    return Err(LogError::BehindEnd { lsn, end: here });
                }
            }
        }
        Ok(Some(scan))
    }

    fn open_segment(
        disk: &dyn Disk,
        dir: &Path,
        start: Lsn,
        log_id: Option<u64>,
    ) -> Result<(FrameSource, Lsn, u64), LogError> {
        let path = dir.join(segment_name(start));
        let file = disk
            .open_read(&path)
            .map_err(|e| LogError::io("open", &path, e))?;
        let header = Segment::read_header(&*file, &path)?;
        if log_id.is_some_and(|id| id != header.log_id) {
            return Err(LogError::Corrupt(Corruption {
                file: path,
                offset: 16,
                lsn: 0,
                reason: "this segment belongs to another log".into(),
            }));
        }
        let len = file.len().map_err(|e| LogError::io("stat", &path, e))?;
        let limit = start + len.saturating_sub(SEGMENT_HEADER_LEN);
        let mut source = FrameSource::new(file, path, start, header.log_id);
        source.allocated = header.allocated;
        Ok((source, limit, header.log_id))
    }

    /// The next record, `None` where no frame verifies any more (then ask [`Scanner::tail`] what that means).
    pub fn step(&mut self) -> Result<Option<Found>, LogError> {
        let (header, kind, body) = match self.source.look(self.lsn, self.limit)? {
            Look::Good(h, k, b) => (h, k, b),
            Look::Bad(why) => {
                self.why = why;
                return Ok(None);
            }
        };
        let lsn = self.lsn;
        let end = lsn + HEADER_LEN as u64 + body.len() as u64;
        let number: Option<u64> = self
            .source
            .body(body.clone())
            .try_into()
            .ok()
            .map(u64::from_le_bytes);
        let before = match (self.seq_unknown, kind, number) {
            (false, ..) => self.seq,
            // The oldest segment's first record says where the numbers stand.
            (true, RecordKind::SegmentStart, Some(first)) if first > 0 => first - 1,
            _ => {
                return Err(self.source.corrupt(
                    lsn,
                    "the segment does not start with its start record".into(),
                ));
            }
        };
        let seq = before + u64::from(kind.is_commit());
        if header.seq_low != seq as u32 {
            return Err(self.source.corrupt(
                lsn,
                format!(
                    "sequence number {} (low half) where {} follows",
                    header.seq_low, seq as u32
                ),
            ));
        }
        let mut found = Found {
            lsn,
            end,
            kind,
            seq,
            body,
        };
        match kind {
            RecordKind::SegmentStart if number != Some(seq + 1) => {
                return Err(self.source.corrupt(
                    lsn,
                    "the segment's start record has another sequence number".into(),
                ));
            }
            RecordKind::EndOfSegment => {
                let next = match number {
                    Some(n) if n >= end => n,
                    _ => {
                        return Err(self
                            .source
                            .corrupt(lsn, "an end-of-segment record that names no place".into()));
                    }
                };
                let (source, limit) = self.open_next(next)?;
                self.source = source;
                self.limit = limit;
                self.lsn = next;
                // The range pointed into the old buffer.
                found.body = 0..0;
            }
            _ => self.lsn = end,
        }
        // From here on nothing fails: after an error the scan still stands in front of the record.
        self.seq = seq;
        self.seq_unknown = false;
        if let Some(durable) = header.proven_durable(lsn) {
            self.proven = self.proven.max(durable);
        }
        self.clean_shutdown = kind == RecordKind::Shutdown;
        Ok(Some(found))
    }

    /// Opens the segment that the current one's last record names, and goes there.
    fn open_next(&mut self, next: Lsn) -> Result<(FrameSource, Lsn), LogError> {
        for listed in [false, true] {
            if self.segments.get(self.index + 1) == Some(&next) {
                match Self::open_segment(&*self.disk, &self.dir, next, Some(self.log_id)) {
                    Ok((source, limit, _)) => {
                        self.index += 1;
                        return Ok((source, limit));
                    }
                    Err(LogError::Io { source, .. })
                        if source.kind() == std::io::ErrorKind::NotFound => {}
                    Err(e) => return Err(e),
                }
            }
            if !listed {
                // A server may have made it, or retention may have taken it away, since the folder was listed.
                self.list()?;
            }
        }
        if let Some(&oldest) = self.segments.get(self.index + 1)
            && self.source_is_gone()?
        {
            return Err(LogError::Purged { lsn: next, oldest });
        }
        Err(LogError::Corrupt(Corruption {
            file: self.dir.join(segment_name(next)),
            offset: 0,
            lsn: next,
            reason: format!(
                "this segment is missing; {} ends by naming it",
                self.source.path.display()
            ),
        }))
    }

    /// Lists the segments again. The current one stays in the list even if retention took its name away.
    fn list(&mut self) -> Result<(), LogError> {
        self.segments = list_segments(&*self.disk, &self.dir, false)?;
        match self.segments.binary_search(&self.source.start) {
            Ok(i) => self.index = i,
            Err(i) => {
                self.segments.insert(i, self.source.start);
                self.index = i;
            }
        }
        Ok(())
    }

    /// Forgets what was read behind the current place and looks at the files again: for a log that somebody writes.
    pub fn refresh(&mut self) -> Result<(), LogError> {
        self.source.forget(self.lsn);
        let len = self
            .source
            .file
            .len()
            .map_err(|e| LogError::io("stat", &self.source.path, e))?;
        self.limit = self.source.start + len.saturating_sub(SEGMENT_HEADER_LEN);
        self.list()
    }

    fn source_is_gone(&self) -> Result<bool, LogError> {
        let path = &self.source.path;
        let there = self
            .disk
            .exists(path)
            .map_err(|e| LogError::io("look for", path, e))?;
        Ok(!there)
    }

    /// An error if retention took the current segment away.
    pub fn check_purged(&self) -> Result<(), LogError> {
        if !self.source_is_gone()? {
            return Ok(());
        }
        let oldest = list_segments(&*self.disk, &self.dir, false)?;
        Err(LogError::Purged {
            lsn: self.lsn,
            oldest: oldest.first().copied().unwrap_or(0),
        })
    }

    /// Whether a record verifies at the current place.
    pub fn record_here(&mut self) -> Result<bool, LogError> {
        Ok(matches!(
            self.source.look(self.lsn, self.limit)?,
            Look::Good(..)
        ))
    }

    /// Decides what the end of the scan means: a torn tail (or simply the end), or damage in durable bytes, which is
    /// an error. Looks through everything behind the end for a record that proves that the disk was durable beyond it.
    pub fn tail(&mut self) -> Result<TailEnd, LogError> {
        let x = self.lsn;
        if self.seq_unknown {
            return Err(self.source.corrupt(
                x,
                "the oldest segment has no start record, so the sequence numbers are not known"
                    .into(),
            ));
        }
        let len = SEGMENT_HEADER_LEN + (self.limit - self.source.start);
        if len < self.source.allocated {
            return Err(LogError::Corrupt(Corruption {
                file: self.source.path.clone(),
                offset: len,
                lsn: x,
                reason: format!(
                    "the file ends here, but it has had {} bytes, so its end was cut off ({}; the last whole record ends at byte {})",
                    self.source.allocated,
                    self.why,
                    self.source.offset_of(x)
                ),
            }));
        }
        let (rest, used) = read_rest(&self.source, x, self.limit)?;
        let proof = |p: Proof, path: &Path| {
            self.source.corrupt(
                x,
                format!(
                    "{}, but the record at LSN {} ({}, byte {}) proves that the log was durable up to LSN {}",
                    self.why,
                    p.lsn,
                    path.display(),
                    p.offset,
                    p.durable
                ),
            )
        };
        if let Some(p) = find_proof(
            self.log_id,
            x,
            self.seq,
            x,
            &rest,
            used,
            self.source.offset_of(x),
        ) {
            return Err(proof(p, &self.source.path));
        }
        let later: Vec<Lsn> = self.segments[self.index + 1..].to_vec();
        let mut later_dirty = false;
        for &start in &later {
            let (source, limit, _) =
                Self::open_segment(&*self.disk, &self.dir, start, Some(self.log_id))?;
            let header = Segment::read_header(&*source.file, &source.path)?;
            if header.durable > x {
                return Err(proof(
                    Proof {
                        lsn: start,
                        offset: 0,
                        durable: header.durable,
                    },
                    &source.path,
                ));
            }
            let (rest, used) = read_rest(&source, start, limit)?;
            later_dirty |= used > 0;
            if let Some(p) = find_proof(
                self.log_id,
                x,
                self.seq,
                start,
                &rest,
                used,
                SEGMENT_HEADER_LEN,
            ) {
                return Err(proof(p, &source.path));
            }
        }
        Ok(TailEnd {
            end: x,
            dirty_end: x + used as u64,
            later,
            later_dirty,
            why: self.why.clone(),
        })
    }
}

/// What giving up everything behind a place takes away.
#[derive(Debug)]
pub(crate) struct Cut {
    pub tail: TailEnd,
    /// The last commit that was seen behind the cut, or the last one before it.
    pub last_seen: Seq,
}

impl Scanner {
    /// Undoes the step over the record at `lsn`, the last one.
    pub fn step_back(&mut self, lsn: Lsn, kind: RecordKind) {
        self.lsn = lsn;
        self.seq -= u64::from(kind.is_commit());
    }

    /// Takes the current place for the log's end, whatever lies behind it.
    pub fn cut(&self, why: String) -> Result<Cut, LogError> {
        let x = self.lsn;
        if self.seq_unknown {
            return Err(self.source.corrupt(x, why));
        }
        let (rest, used) = read_rest(&self.source, x, self.limit)?;
        let mut last_seen = last_seq(self.log_id, x, self.seq, x, &rest[..used]);
        let later: Vec<Lsn> = self.segments[self.index + 1..].to_vec();
        for &start in &later {
            // What can't be read can't be counted.
            let seen = Self::open_segment(&*self.disk, &self.dir, start, Some(self.log_id))
                .and_then(|(source, limit, _)| read_rest(&source, start, limit));
            if let Ok((rest, used)) = seen {
                let seen = last_seq(self.log_id, x, self.seq, start, &rest[..used]);
                last_seen = last_seen.max(seen);
            }
        }
        Ok(Cut {
            tail: TailEnd {
                end: x,
                dirty_end: x + used as u64,
                later_dirty: !later.is_empty(),
                later,
                why,
            },
            last_seen,
        })
    }
}

/// The highest sequence number in any record that verifies in `bytes`, which start at LSN `base`; `seq` if there is
/// none, the last one before `x`.
fn last_seq(log_id: u64, x: Lsn, seq: Seq, base: Lsn, bytes: &[u8]) -> Seq {
    let (mut i, mut last) = (0, seq);
    while i + HEADER_LEN <= bytes.len() {
        let lsn = base + i as u64;
        let mut head = [0u8; HEADER_LEN];
        head.copy_from_slice(&bytes[i..i + HEADER_LEN]);
        let h = Header::decode(&head);
        let len = HEADER_LEN + h.body_len as usize;
        let ahead = u64::from(h.seq_low.wrapping_sub(seq as u32));
        if RecordKind::from_u8(h.kind).is_some()
            && len <= bytes.len() - i
            && ahead <= (lsn - x) / HEADER_LEN as u64 + 1
            && frame::verify(log_id, lsn, &bytes[i..i + len])
        {
            last = last.max(seq + ahead);
            i += len;
        } else {
            i += 1;
        }
    }
    last
}

/// What a segment's file holds in `[from, limit)`, and how many bytes of that there are before the zeros at its end.
fn read_rest(source: &FrameSource, from: Lsn, limit: Lsn) -> Result<(Vec<u8>, usize), LogError> {
    let mut rest = vec![0u8; limit.saturating_sub(from) as usize];
    let n = source
        .file
        .read_at(&mut rest, source.offset_of(from))
        .map_err(|e| LogError::io("read", &source.path, e))?;
    rest.truncate(n);
    let used = rest.iter().rposition(|&b| b != 0).map_or(0, |i| i + 1);
    Ok((rest, used))
}

struct Proof {
    lsn: Lsn,
    offset: u64,
    durable: Lsn,
}

/// Looks at every byte offset of `bytes` (which start at LSN `base`, file offset `base_offset`) for a frame that
/// verifies and says that the disk was durable beyond `x`. `seq` is the last sequence number before `x`.
fn find_proof(
    log_id: u64,
    x: Lsn,
    seq: Seq,
    base: Lsn,
    bytes: &[u8],
    used: usize,
    base_offset: u64,
) -> Option<Proof> {
    let mut i = 0;
    while i < used && i + HEADER_LEN <= bytes.len() {
        // Long runs of zeros are the usual case.
        if bytes[i..i + 8] == [0; 8] {
            i += 1;
            continue;
        }
        let lsn = base + i as u64;
        let mut head = [0u8; HEADER_LEN];
        head.copy_from_slice(&bytes[i..i + HEADER_LEN]);
        let h = Header::decode(&head);
        let len = HEADER_LEN + h.body_len as usize;
        // Cheap filters first: only what could be a proof is worth a checksum.
        if let Some(durable) = h.proven_durable(lsn)
            && durable > x
            && RecordKind::from_u8(h.kind).is_some()
            && len <= bytes.len() - i
            && u64::from(h.seq_low.wrapping_sub(seq as u32)) <= (lsn - x) / HEADER_LEN as u64 + 1
            && frame::verify(log_id, lsn, &bytes[i..i + len])
        {
            return Some(Proof {
                lsn,
                offset: base_offset + i as u64,
                durable,
            });
        }
        i += 1;
    }
    None
}
