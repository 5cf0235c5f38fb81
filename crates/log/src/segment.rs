//! Segment files: names, the header page, making and growing them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::disk::{Disk, DiskFile};
use crate::error::{Corruption, LogError};
use crate::{Lsn, frame};

/// Bytes of a segment's header page; records start behind it.
pub const SEGMENT_HEADER_LEN: u64 = 4096;
/// The LSN of the first record of a new log. Not 0, so that 0 can mean "none".
pub const FIRST_LSN: Lsn = 4096;
/// Whole length of a SegmentStart record.
pub(crate) const START_LEN: u64 = frame::HEADER_LEN as u64 + 8;
/// Whole length of an EndOfSegment record.
pub(crate) const END_LEN: u64 = frame::HEADER_LEN as u64 + 8;

const MAGIC: &[u8; 8] = b"NARWALSG";
const VERSION: u32 = 1;
/// End of the checksum in the header page. It covers what lies before it and all behind it: four zeros, the length that
/// the file has had, zeros.
const USED: usize = 44;
/// What of the header page carries something lies in one sector.
const HEADER_SECTOR: usize = 512;
const TMP_NAME: &str = "wal.tmp";
/// How much is zeroed by one write and, in most cases, one sync: commits that sync meanwhile wait for no more than that.
const ZERO_CHUNK: usize = 256 << 10;

/// The fields of a segment's header page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentHeader {
    /// Random number of the whole log, the same in each of its segments.
    pub log_id: u64,
    /// LSN of the byte behind the header page.
    pub start: Lsn,
    /// Up to where the log was durable when this file was made (it is made ahead of its use).
    pub durable: Lsn,
    /// The file has been at least this long, durably; 0 in files of programs that did not note it.
    pub allocated: u64,
}

/// Why a header page can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadHeader {
    /// It is damaged.
    Damaged(String),
    /// A newer program wrote it.
    Newer(String),
}

impl SegmentHeader {
    /// The header page.
    pub fn encode(&self) -> Vec<u8> {
        let mut p = vec![0u8; SEGMENT_HEADER_LEN as usize];
        p[..8].copy_from_slice(MAGIC);
        p[8..12].copy_from_slice(&VERSION.to_le_bytes());
        p[12..16].copy_from_slice(&(SEGMENT_HEADER_LEN as u32).to_le_bytes());
        p[16..24].copy_from_slice(&self.log_id.to_le_bytes());
        p[24..32].copy_from_slice(&self.start.to_le_bytes());
        p[32..40].copy_from_slice(&self.durable.to_le_bytes());
        p[USED + 4..USED + 12].copy_from_slice(&self.allocated.to_le_bytes());
        let crc = Self::crc(&p);
        p[USED - 4..USED].copy_from_slice(&crc.to_le_bytes());
        p
    }

    fn crc(page: &[u8]) -> u32 {
        crc32c::crc32c_append(crc32c::crc32c(&page[..USED - 4]), &page[USED..])
    }

    /// Reads a header page; the error says what is wrong with it.
    pub fn decode(page: &[u8]) -> Result<SegmentHeader, BadHeader> {
        let damaged = |text: &str| Err(BadHeader::Damaged(text.into()));
        if page.len() < SEGMENT_HEADER_LEN as usize {
            return damaged("the file is shorter than a segment header");
        }
        let page = &page[..SEGMENT_HEADER_LEN as usize];
        let u32_at =
            |i: usize| u32::from_le_bytes([page[i], page[i + 1], page[i + 2], page[i + 3]]);
        let u64_at = |i: usize| u64::from(u32_at(i)) | u64::from(u32_at(i + 4)) << 32;
        if &page[..8] != MAGIC {
            return damaged("not a segment header (wrong magic)");
        }
        if u32_at(USED - 4) != Self::crc(page) {
            return damaged("the segment header does not verify");
        }
        if u32_at(8) != VERSION {
            return Err(BadHeader::Newer(format!(
                "segment format version {} is not known (this program reads version {VERSION})",
                u32_at(8)
            )));
        }
        Ok(SegmentHeader {
            log_id: u64_at(16),
            start: u64_at(24),
            durable: u64_at(32),
            allocated: u64_at(USED + 4),
        })
    }
}

/// The file name of the segment that starts at `start`.
pub fn segment_name(start: Lsn) -> String {
    format!("wal.{start:016x}")
}

/// The start LSN in a segment's file name, `None` for other files.
pub fn parse_segment_name(name: &str) -> Option<Lsn> {
    let hex = name.strip_prefix("wal.")?;
    (hex.len() == 16 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
        .then(|| Lsn::from_str_radix(hex, 16).ok())
        .flatten()
}

/// The file name of a purged segment that is not yet removed.
pub(crate) fn gone_name(start: Lsn) -> String {
    format!("wal.{start:016x}.gone")
}

/// Start LSNs of purged segments whose files are still in `dir`, ascending.
pub(crate) fn list_gone(disk: &dyn Disk, dir: &Path) -> Result<Vec<Lsn>, LogError> {
    let names = disk.list(dir).map_err(|e| LogError::io("list", dir, e))?;
    Ok(gone_in(&names))
}

fn gone_in(names: &[String]) -> Vec<Lsn> {
    let mut gone: Vec<Lsn> = names
        .iter()
        .filter_map(|n| parse_segment_name(n.strip_suffix(".gone")?))
        .collect();
    gone.sort_unstable();
    gone
}

/// A segment of an open log, for a copy of its bytes.
#[derive(Debug, Clone)]
pub struct SegmentFile {
    /// LSN of its first record; its name is [`segment_name`] of it.
    pub start: Lsn,
    /// The file.
    pub file: Arc<dyn DiskFile>,
}

impl SegmentFile {
    /// Reads the header page as it is stored, in a moment when nobody was writing it.
    ///
    /// # Errors
    /// Errors of reading, and [`LogError::Corrupt`] for a damaged header.
    pub fn stored_header(&self) -> Result<Vec<u8>, LogError> {
        let path = PathBuf::from(segment_name(self.start));
        let len = self.file.stored_at(SEGMENT_HEADER_LEN) as usize;
        let read = || -> Result<Vec<u8>, LogError> {
            let mut page = vec![0; len];
            let n = self.file.read_stored(&mut page, 0);
            let n = n.map_err(|e| LogError::io("read", &path, e))?;
            page.truncate(n);
            Ok(page)
        };
        let mut tries = 0;
        loop {
            let before = read()?;
            let header = Segment::read_header(&*self.file, &path);
            if read()? == before {
                match header {
                    Ok(_) => return Ok(before),
                    Err(e) if tries >= 100 => return Err(e),
                    Err(_) => {}
                }
            }
            tries += 1;
            std::thread::yield_now();
        }
    }
}

/// One open segment file.
#[derive(Debug)]
pub(crate) struct Segment {
    pub start: Lsn,
    pub path: PathBuf,
    pub file: Arc<dyn DiskFile>,
    /// First LSN behind this segment's range (the next segment's start). Fixed once the segment is in use.
    pub cap_end: AtomicU64,
    /// Up to this LSN the file's bytes are allocated and zeroed, free to be written.
    pub ready_end: AtomicU64,
    /// What its header page says but for the length, `None` where nothing is written any more.
    pub header: Option<SegmentHeader>,
    /// Sequence number of the first commit, from the start record; 0 while nobody has asked.
    pub first_seq: AtomicU64,
}

impl Segment {
    pub fn offset_of(&self, lsn: Lsn) -> u64 {
        SEGMENT_HEADER_LEN + (lsn - self.start)
    }

    pub fn cap_end(&self) -> Lsn {
        self.cap_end.load(Ordering::Acquire)
    }

    pub fn ready_end(&self) -> Lsn {
        self.ready_end.load(Ordering::Acquire)
    }

    /// Makes a segment of range `cap` bytes with the first `ready` of them zeroed. It gets its name only when it is
    /// complete and synced, so a named segment always has a valid header.
    pub fn create(
        disk: &dyn Disk,
        dir: &Path,
        header: SegmentHeader,
        cap: u64,
        ready: u64,
    ) -> Result<Segment, LogError> {
        let tmp = dir.join(TMP_NAME);
        let path = dir.join(segment_name(header.start));
        let header = SegmentHeader {
            allocated: SEGMENT_HEADER_LEN + ready,
            ..header
        };
        let file = disk
            .create(&tmp)
            .map_err(|e| LogError::io("create", &tmp, e))?;
        let made = (|| {
            zero_in_pieces(&*file, SEGMENT_HEADER_LEN, ready)
                .map_err(|e| LogError::io("allocate", &tmp, e))?;
            file.write_at(&header.encode(), 0)
                .map_err(|e| LogError::io("write", &tmp, e))?;
            file.sync_data()
                .map_err(|e| LogError::io("sync", &tmp, e))?;
            disk.rename(&tmp, &path)
                .map_err(|e| LogError::io("rename", &tmp, e))?;
            disk.sync_dir(dir).map_err(|e| LogError::io("sync", dir, e))
        })();
        if let Err(e) = made {
            // Give the space back; if even that fails, the next attempt cuts the file anyway.
            let _ = disk.remove(&tmp);
            return Err(e);
        }
        Ok(Segment {
            start: header.start,
            path,
            file,
            cap_end: AtomicU64::new(header.start + cap),
            ready_end: AtomicU64::new(header.start + ready),
            header: Some(header),
            first_seq: AtomicU64::new(0),
        })
    }

    /// Zeroes and syncs the file up to `to` (an LSN), in place of nothing: no record lies there yet. The caller notes the
    /// length.
    pub fn extend(&self, to: Lsn) -> Result<(), LogError> {
        let from = self.ready_end();
        if to <= from {
            return Ok(());
        }
        let mut at = from;
        // Piece by piece: a commit that syncs the same file meanwhile waits for what is dirty in it.
        while at < to {
            let end = to.min(at + ZERO_CHUNK as u64);
            zero(&*self.file, self.offset_of(at), end - at)
                .map_err(|e| LogError::io("allocate", &self.path, e))?;
            // The commit path syncs the same file. A failed sync here may have swallowed the error that one would have
            // seen, so it is as final as a failure there.
            self.file.sync_data().map_err(|e| {
                LogError::Failed(format!("sync of {} failed: {e}", self.path.display()))
            })?;
            self.ready_end.store(end, Ordering::Release);
            at = end;
        }
        Ok(())
    }

    /// Writes into the header how long the file durably is, so that a file that was cut later is known to be. One
    /// sector, which the disk writes as a whole; it goes to disk with the next sync. A failure costs only that knowledge.
    pub fn note_length(&self, allocated: u64) {
        let Some(header) = self.header else {
            return;
        };
        let page = SegmentHeader {
            allocated,
            ..header
        }
        .encode();
        if let Err(e) = self.file.write_at(&page[..HEADER_SECTOR], 0) {
            tracing::warn!(error = %e, file = %self.path.display(), "can't note a log segment's length");
        }
    }

    /// Reads and checks the header page of an existing file.
    pub fn read_header(file: &dyn DiskFile, path: &Path) -> Result<SegmentHeader, LogError> {
        let mut page = vec![0u8; SEGMENT_HEADER_LEN as usize];
        let n = file
            .read_at(&mut page, 0)
            .map_err(|e| LogError::io("read", path, e))?;
        let damaged = |reason: String| {
            LogError::Corrupt(Corruption {
                file: path.to_path_buf(),
                offset: 0,
                lsn: 0,
                reason,
            })
        };
        let header = SegmentHeader::decode(&page[..n]).map_err(|bad| match bad {
            BadHeader::Damaged(reason) => damaged(reason),
            BadHeader::Newer(reason) => LogError::Newer(Corruption {
                file: path.to_path_buf(),
                offset: 8,
                lsn: 0,
                reason,
            }),
        })?;
        let named = path
            .file_name()
            .and_then(|n| n.to_str())
            .and_then(parse_segment_name);
        if named != Some(header.start) {
            return Err(damaged(format!(
                "the header says that the segment starts at LSN {:016x}, its file name says otherwise",
                header.start
            )));
        }
        Ok(header)
    }
}

/// As [`zero`], and durable: with a sync a piece, so that the disk is never busy with much of it at once.
fn zero_in_pieces(file: &dyn DiskFile, offset: u64, len: u64) -> std::io::Result<()> {
    let mut done = 0;
    while done < len {
        let n = (len - done).min(ZERO_CHUNK as u64);
        zero(file, offset + done, n)?;
        done += n;
        if done < len {
            file.sync_data()?;
        }
    }
    Ok(())
}

/// Allocates and zeroes `len` bytes at `offset`.
pub(crate) fn zero(file: &dyn DiskFile, offset: u64, len: u64) -> std::io::Result<()> {
    if len == 0 {
        return Ok(());
    }
    // First the blocks, so that a full disk shows here and not in the middle of a write-back; then zeros over them,
    // because a block that was allocated but never written still costs a metadata write at its first sync.
    file.allocate(offset, len)?;
    let zeros = vec![0u8; ZERO_CHUNK.min(len as usize)];
    let mut done = 0;
    while done < len {
        let n = (len - done).min(zeros.len() as u64) as usize;
        file.write_at(&zeros[..n], offset + done)?;
        done += n as u64;
    }
    Ok(())
}

/// Start LSNs of the segments in `dir`, ascending. A half-made segment file is no segment, and neither is, unless
/// `purged` asks for it, one that a purge had taken away when its process ended.
pub(crate) fn list_segments(
    disk: &dyn Disk,
    dir: &Path,
    purged: bool,
) -> Result<Vec<Lsn>, LogError> {
    let names = disk.list(dir).map_err(|e| LogError::io("list", dir, e))?;
    let gone = gone_in(&names).last().copied().filter(|_| !purged);
    let mut starts: Vec<Lsn> = names
        .iter()
        .filter_map(|n| parse_segment_name(n))
        .filter(|&s| gone.is_none_or(|g| s > g))
        .collect();
    starts.sort_unstable();
    Ok(starts)
}

/// Removes what a crash in [`Segment::create`] left.
pub(crate) fn remove_half_made(disk: &dyn Disk, dir: &Path) -> Result<(), LogError> {
    let tmp = dir.join(TMP_NAME);
    if disk
        .exists(&tmp)
        .map_err(|e| LogError::io("look for", &tmp, e))?
    {
        disk.remove(&tmp)
            .map_err(|e| LogError::io("remove", &tmp, e))?;
    }
    Ok(())
}

impl Segment {
    /// Bytes of its file.
    pub fn disk_bytes(&self) -> u64 {
        SEGMENT_HEADER_LEN + self.ready_end() - self.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_page_reads_back_and_any_flipped_bit_is_seen() {
        let h = SegmentHeader {
            log_id: 0x0123_4567_89AB_CDEF,
            start: 1 << 40,
            durable: (1 << 40) - 77,
            allocated: 123 << 9,
        };
        let page = h.encode();
        assert_eq!(SegmentHeader::decode(&page), Ok(h));
        for bit in (0..page.len() * 8).step_by(7) {
            let mut p = page.clone();
            p[bit / 8] ^= 1 << (bit % 8);
            assert!(SegmentHeader::decode(&p).is_err(), "bit {bit}");
        }
        assert!(SegmentHeader::decode(&page[..100]).is_err());
    }

    #[test]
    fn names_read_back_and_other_files_are_no_segments() {
        assert_eq!(parse_segment_name(&segment_name(0xABC)), Some(0xABC));
        for other in ["wal.lock", "wal.tmp", "wal.", "wal.0000000000000ABC", "x"] {
            assert_eq!(parse_segment_name(other), None);
        }
    }
}
