//! Random access: one verified record by its LSN, from a running log or from a folder.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::core::Core;
use crate::disk::{Disk, DiskFile};
use crate::error::{Corruption, LogError};
use crate::frame::{self, HEADER_LEN, Header, RecordKind};
use crate::record::{RecordAt, full_seq};
use crate::segment::{SEGMENT_HEADER_LEN, Segment, list_segments, segment_name};
use crate::{Lsn, Seq};

/// How many segment files a [`DirRecords`] keeps open.
const OPEN_FILES: usize = 16;

/// How often files are looked for again that retention takes away between two looks.
pub(crate) const MAX_TRIES: u32 = 10;

/// A segment file as random access needs it.
pub(crate) struct SegmentView<'a> {
    pub file: &'a dyn DiskFile,
    pub path: &'a Path,
    pub start: Lsn,
    pub log_id: u64,
    /// Sequence number of the segment's first commit, 0 while not known.
    pub first_seq: &'a AtomicU64,
}

impl SegmentView<'_> {
    fn corrupt(&self, lsn: Lsn, reason: String) -> LogError {
        LogError::Corrupt(Corruption {
            file: self.path.to_path_buf(),
            offset: SEGMENT_HEADER_LEN + (lsn - self.start),
            lsn,
            reason,
        })
    }

    /// Reads the record at `lsn`, which must end at or before `limit`; its body replaces what `out` holds.
    fn read(
        &self,
        lsn: Lsn,
        limit: Lsn,
        out: &mut Vec<u8>,
    ) -> Result<(Header, RecordKind, Lsn), LogError> {
        let io = |e| LogError::io("read", self.path, e);
        let offset = SEGMENT_HEADER_LEN + (lsn - self.start);
        let mut head = [0u8; HEADER_LEN];
        if self.file.read_at(&mut head, offset).map_err(io)? < HEADER_LEN {
            return Err(self.corrupt(lsn, "the file ends before this record".into()));
        }
        let header = Header::decode(&head);
        let end = lsn + (HEADER_LEN as u64) + u64::from(header.body_len);
        if end > limit {
            return Err(self.corrupt(
                lsn,
                format!(
                    "no record starts here: {} bytes of it would reach behind the end",
                    end - lsn
                ),
            ));
        }
        out.clear();
        out.resize(header.body_len as usize, 0);
        let got = self
            .file
            .read_at(out, offset + HEADER_LEN as u64)
            .map_err(io)?;
        if got < out.len() {
            return Err(self.corrupt(lsn, "the file ends inside this record".into()));
        }
        if frame::checksum_parts(self.log_id, lsn, &head, out) != header.crc {
            return Err(self.corrupt(
                lsn,
                "no record starts here, or its checksum does not match".into(),
            ));
        }
        match RecordKind::from_u8(header.kind) {
            Some(kind) => Ok((header, kind, end)),
            None => Err(LogError::Newer(Corruption {
                file: self.path.to_path_buf(),
                offset,
                lsn,
                reason: format!("record kind {} is not known to this program", header.kind),
            })),
        }
    }

    /// Sequence number of the segment's first commit.
    pub fn first_seq(&self, limit: Lsn) -> Result<Seq, LogError> {
        let known = self.first_seq.load(Ordering::Relaxed);
        if known != 0 {
            return Ok(known);
        }
        let mut body = Vec::with_capacity(8);
        let (_, kind, _) = self.read(self.start, limit, &mut body)?;
        match (kind, <[u8; 8]>::try_from(&body[..])) {
            (RecordKind::SegmentStart, Ok(n)) if n != [0; 8] => {
                let first = u64::from_le_bytes(n);
                self.first_seq.store(first, Ordering::Relaxed);
                Ok(first)
            }
            _ => Err(self.corrupt(
                self.start,
                "the segment does not start with its start record".into(),
            )),
        }
    }

    /// Reads one of the caller's records.
    pub fn record(&self, lsn: Lsn, limit: Lsn, out: &mut Vec<u8>) -> Result<RecordAt, LogError> {
        let (header, kind, end_lsn) = self.read(lsn, limit, out)?;
        if kind.is_internal() {
            return Err(self.corrupt(
                lsn,
                "one of the log's own records lies here, not one of its user's".into(),
            ));
        }
        Ok(RecordAt {
            lsn,
            end_lsn,
            kind,
            seq: full_seq(self.first_seq(limit)?, header.seq_low),
        })
    }
}

/// Random access to the durable records of a running log, apart from its order state. Clones are cheap; they keep the
/// log's folder locked as the log itself does.
#[derive(Debug, Clone)]
pub struct LogRecords(pub(crate) Arc<Core>);

impl LogRecords {
    /// Reads the durable record that starts at `lsn`, verified; its body replaces what `out` holds.
    ///
    /// # Errors
    /// [`LogError::Purged`], [`LogError::BehindEnd`] (also for a record that is written and not yet durable),
    /// [`LogError::Corrupt`] if no record starts there or it does not verify.
    pub fn read_at(&self, lsn: Lsn, out: &mut Vec<u8>) -> Result<RecordAt, LogError> {
        let core = &*self.0;
        let durable = core.durable.load(Ordering::Acquire);
        if lsn >= durable {
            return Err(LogError::BehindEnd { lsn, end: durable });
        }
        let Some(segment) = core.segment_of(lsn) else {
            return Err(LogError::Purged {
                lsn,
                oldest: core.oldest(),
            });
        };
        segment.place(core.log_id).record(lsn, durable, out)
    }

    /// Everything below is durable.
    pub fn durable_lsn(&self) -> Lsn {
        self.0.durable.load(Ordering::Acquire)
    }

    /// The oldest LSN still in the log.
    pub fn oldest_lsn(&self) -> Lsn {
        self.0.oldest()
    }
}

impl Segment {
    pub(crate) fn place(&self, log_id: u64) -> SegmentView<'_> {
        SegmentView {
            file: &*self.file,
            path: &self.path,
            start: self.start,
            log_id,
            first_seq: &self.first_seq,
        }
    }
}

#[derive(Debug)]
struct OpenFile {
    start: Lsn,
    path: PathBuf,
    file: Arc<dyn DiskFile>,
    log_id: u64,
    first_seq: AtomicU64,
}

#[derive(Debug, Default)]
struct Files {
    /// Start LSNs, ascending, as last listed.
    starts: Vec<Lsn>,
    /// Open files, the last used one in front.
    open: VecDeque<Arc<OpenFile>>,
}

/// Random access to the records of a log folder, closed or in use by a running server, without changing it. Also for
/// earlier records while [`crate::Log::open`] replays.
///
/// In a folder in use it may give a record that is written and not yet durable.
#[derive(Debug)]
pub struct DirRecords {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    files: Mutex<Files>,
}

impl DirRecords {
    /// Random access to the log in `dir`. Files are opened when they are needed; at most 16 stay open.
    pub fn open(disk: Arc<dyn Disk>, dir: &Path) -> DirRecords {
        DirRecords {
            disk,
            dir: dir.to_path_buf(),
            files: Mutex::new(Files::default()),
        }
    }

    /// Reads the record that starts at `lsn`, verified; its body replaces what `out` holds.
    ///
    /// # Errors
    /// [`LogError::Purged`], [`LogError::BehindEnd`], [`LogError::Corrupt`] if no record starts there or it does not
    /// verify.
    pub fn read_at(&self, lsn: Lsn, out: &mut Vec<u8>) -> Result<RecordAt, LogError> {
        let mut tries = 0;
        loop {
            let file = self.file_of(lsn, tries > 0);
            let path = self.dir.join(segment_name(match &file {
                Ok(f) => f.start,
                Err(_) => 0,
            }));
            let error = match file.and_then(|f| self.read(&f, lsn, out)) {
                Ok(r) => return Ok(r),
                Err(e) => e,
            };
            // The list of files may be older than the record, and a file may go away at any moment.
            tries += 1;
            let gone = match &error {
                LogError::Purged { .. } => false,
                LogError::Io { source, .. } => source.kind() == std::io::ErrorKind::NotFound,
                _ => !self
                    .disk
                    .exists(&path)
                    .map_err(|e| LogError::io("look for", &path, e))?,
            };
            if tries > 1 && (!gone || tries > MAX_TRIES) {
                return Err(error);
            }
        }
    }

    fn read(&self, f: &OpenFile, lsn: Lsn, out: &mut Vec<u8>) -> Result<RecordAt, LogError> {
        let len = f.file.len().map_err(|e| LogError::io("stat", &f.path, e))?;
        let end = f.start + len.saturating_sub(SEGMENT_HEADER_LEN);
        if lsn >= end {
            return Err(LogError::BehindEnd { lsn, end });
        }
        SegmentView {
            file: &*f.file,
            path: &f.path,
            start: f.start,
            log_id: f.log_id,
            first_seq: &f.first_seq,
        }
        .record(lsn, end, out)
    }

    /// The segment file whose range holds `lsn`.
    fn file_of(&self, lsn: Lsn, fresh: bool) -> Result<Arc<OpenFile>, LogError> {
        let mut files = self.files.lock();
        if fresh || files.starts.is_empty() {
            files.starts = list_segments(&*self.disk, &self.dir, false)?;
            let starts = std::mem::take(&mut files.starts);
            files
                .open
                .retain(|f| starts.binary_search(&f.start).is_ok());
            files.starts = starts;
        }
        let below = files.starts.partition_point(|&s| s <= lsn);
        let Some(&start) = below.checked_sub(1).and_then(|i| files.starts.get(i)) else {
            return Err(match files.starts.first() {
                Some(&oldest) => LogError::Purged { lsn, oldest },
                None => LogError::BehindEnd { lsn, end: 0 },
            });
        };
        if let Some(i) = files.open.iter().position(|f| f.start == start) {
            if let Some(f) = files.open.remove(i) {
                files.open.push_front(f);
            }
        } else {
            let path = self.dir.join(segment_name(start));
            let file = self
                .disk
                .open_read(&path)
                .map_err(|e| LogError::io("open", &path, e))?;
            let header = Segment::read_header(&*file, &path)?;
            files.open.truncate(OPEN_FILES - 1);
            files.open.push_front(Arc::new(OpenFile {
                start,
                path,
                file,
                log_id: header.log_id,
                first_seq: AtomicU64::new(0),
            }));
        }
        match files.open.front() {
            Some(f) => Ok(f.clone()),
            None => Err(LogError::BehindEnd { lsn, end: 0 }),
        }
    }
}
