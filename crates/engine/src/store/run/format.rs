//! The bytes of a run file: frames, checksums, numbers. See the module's documentation for the layout.

use crate::{EngineError, Result};
use narwal_log::DiskFile;
use std::io;
use std::path::Path;

pub(crate) const MAGIC: &[u8; 8] = b"NARWRUN1";
pub(crate) const VERSION: u32 = 1;
pub(crate) const HEADER_LEN: u64 = 16;
pub(crate) const TRAILER_LEN: u64 = 40;
/// Length and checksum in front of a body.
pub(crate) const FRAME_HEADER: usize = 8;
pub(crate) const KIND_BLOCK: u8 = 1;
pub(crate) const KIND_PAGE: u8 = 2;
pub(crate) const KIND_TOP: u8 = 3;

/// Where a frame is: offset in the file and length with its header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(super) offset: u64,
    pub(super) len: u32,
}

/// An I/O error with the file's name.
pub(crate) fn io_err(path: &Path, e: &io::Error) -> EngineError {
    let text = format!("{}: {e}", path.display());
    match e.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => EngineError::DiskFull(text),
        _ => EngineError::Io(text),
    }
}

/// Damage, with file and offset.
pub(crate) fn corrupt(path: &Path, offset: u64, what: &str) -> EngineError {
    EngineError::Corrupt(format!("{} at offset {offset}: {what}", path.display()))
}

pub(crate) fn frame_crc(file_id: u64, offset: u64, body: &[u8]) -> u32 {
    let mut head = [0u8; 16];
    head[..8].copy_from_slice(&file_id.to_le_bytes());
    head[8..].copy_from_slice(&offset.to_le_bytes());
    crc32c::crc32c_append(crc32c::crc32c(&head), body)
}

/// Reads a frame and returns it with its header; the body starts at [`FRAME_HEADER`].
pub(crate) fn read_frame(
    file: &dyn DiskFile,
    path: &Path,
    file_id: u64,
    place: Place,
    kind: u8,
) -> Result<Box<[u8]>> {
    let mut buf = vec![0u8; place.len as usize];
    let n = file
        .read_at(&mut buf, place.offset)
        .map_err(|e| io_err(path, &e))?;
    check_frame(&buf[..n], path, file_id, place, kind)?;
    Ok(buf.into_boxed_slice())
}

/// Verifies a frame that was read from `place`.
pub(crate) fn check_frame(
    frame: &[u8],
    path: &Path,
    file_id: u64,
    place: Place,
    kind: u8,
) -> Result<()> {
    let bad = |what| Err(corrupt(path, place.offset, what));
    if frame.len() != place.len as usize || frame.len() <= FRAME_HEADER {
        return bad("the file ends inside a block");
    }
    let body = &frame[FRAME_HEADER..];
    if le32(frame, 0) != Some(body.len() as u32) {
        return bad("a block's length does not fit its index");
    }
    if le32(frame, 4) != Some(frame_crc(file_id, place.offset, body)) {
        return bad("a block's checksum does not fit");
    }
    if body[0] != kind {
        return bad("a block of the wrong kind");
    }
    Ok(())
}

pub(crate) fn le32(b: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(b.get(at..at + 4)?.try_into().ok()?))
}

pub(crate) fn le64(b: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(b.get(at..at + 8)?.try_into().ok()?))
}

/// Appends a number in groups of seven bits, low ones first.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut v: u64) {
    while v >= 0x80 {
        out.push(v as u8 | 0x80);
        v >>= 7;
    }
    out.push(v as u8);
}

/// Appends length and bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, b: &[u8]) {
    put_varint(out, b.len() as u64);
    out.extend_from_slice(b);
}

/// Reads a body from front to back; `None` at anything that does not fit.
pub(crate) struct Parser<'a> {
    pub(super) body: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Parser<'a> {
    #[inline]
    pub(super) fn varint(&mut self) -> Option<u64> {
        let mut v = 0u64;
        for shift in (0..64).step_by(7) {
            let b = *self.body.get(self.at)?;
            self.at += 1;
            v |= u64::from(b & 0x7f) << shift;
            if b < 0x80 {
                return Some(v);
            }
        }
        None
    }

    /// Length and bytes; returns where they are.
    #[inline]
    pub(super) fn span(&mut self) -> Option<(u32, u32)> {
        let n = usize::try_from(self.varint()?).ok()?;
        self.take(n)
    }

    #[inline]
    pub(super) fn take(&mut self, n: usize) -> Option<(u32, u32)> {
        let from = self.at;
        let to = from.checked_add(n).filter(|to| *to <= self.body.len())?;
        self.at = to;
        Some((u32::try_from(from).ok()?, u32::try_from(to).ok()?))
    }

    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let (from, to) = self.span()?;
        self.body.get(from as usize..to as usize)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        let v = le32(self.body, self.at)?;
        self.at += 4;
        Some(v)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        let v = le64(self.body, self.at)?;
        self.at += 8;
        Some(v)
    }
}
