//! Temporary files of what does not fit into a statement's memory.
//!
//! They have no name once they are open, so that nothing is left of them however the server ends, and what is in them is
//! encrypted by a key that only this process has (AES-128 in counter mode): rows of an encrypted server stay so.

use aes::Aes128;
use aes::cipher::{BlockEncrypt, KeyInit};
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes that are written and read together.
const CHUNK: usize = 64 << 10;

thread_local! {
    /// What this thread's temporary files have, and may have, in bytes: a session is one thread.
    static USED: Cell<u64> = const { Cell::new(0) };
    static LIMIT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Sets how many bytes the temporary files of the calling thread's statements may have; 0 is no limit.
pub fn limit_spill(bytes: u64) {
    LIMIT.set(if bytes == 0 { u64::MAX } else { bytes });
}

fn io_error(what: &str, e: &io::Error) -> SqlError {
    match e.raw_os_error() {
        Some(28) => errors::DISK_FULL.with([&what, &e]),
        _ => errors::WRITE.with([&what, &e]),
    }
}

/// A file that is written once, from front to back, and read in parts.
pub struct SpillFile {
    file: File,
    cipher: Aes128,
    /// Not yet written.
    buffer: Vec<u8>,
    /// How much that may be.
    room: usize,
    /// Written.
    written: u64,
    /// How much of that counts as the thread's.
    counted: u64,
}

impl Drop for SpillFile {
    fn drop(&mut self) {
        let _ = USED.try_with(|u| u.set(u.get().saturating_sub(self.counted)));
    }
}

impl SpillFile {
    /// An empty file in a folder.
    pub fn new(folder: &Path) -> SqlResult<SpillFile> {
        Self::with_buffer(folder, CHUNK)
    }

    /// The same, with a buffer of so many bytes until [`SpillFile::finish`].
    pub fn with_buffer(folder: &Path, room: usize) -> SqlResult<SpillFile> {
        let file = tempfile::tempfile_in(folder).map_err(|e| io_error("creating", &e))?;
        let key: [u8; 16] = rand::random();
        Ok(SpillFile {
            file,
            cipher: Aes128::new(&key.into()),
            buffer: Vec::with_capacity(room),
            room,
            written: 0,
            counted: 0,
        })
    }

    /// Where the next byte will stand.
    pub fn len(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Appends bytes.
    pub fn write(&mut self, mut bytes: &[u8]) -> SqlResult<()> {
        while self.buffer.len() + bytes.len() > self.room {
            let (now, later) = bytes.split_at(self.room - self.buffer.len());
            self.buffer.extend_from_slice(now);
            bytes = later;
            self.flush()?;
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// Appends bytes with their length before them.
    pub fn write_record(&mut self, parts: &[&[u8]]) -> SqlResult<()> {
        let len: usize = parts.iter().map(|p| p.len()).sum();
        let short = u32::try_from(len)
            .map_err(|_| errors::TOO_BIG_ROWSIZE.text("Row size too large for a temporary file"))?;
        self.write(&short.to_le_bytes())?;
        for part in parts {
            self.write(part)?;
        }
        Ok(())
    }

    /// Nothing more is appended: makes it readable, and gives the buffer back.
    pub fn finish(&mut self) -> SqlResult<()> {
        self.flush()?;
        self.buffer = Vec::new();
        Ok(())
    }

    /// Makes all that was appended readable.
    pub fn flush(&mut self) -> SqlResult<()> {
        let used = USED.get() + self.buffer.len() as u64;
        if used > LIMIT.get() {
            return Err(errors::LOCAL_TMP_SPACE_FULL.plain());
        }
        USED.set(used);
        self.counted += self.buffer.len() as u64;
        crypt(&self.cipher, self.written, &mut self.buffer);
        self.file
            .write_all_at(&self.buffer, self.written)
            .map_err(|e| io_error("writing", &e))?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Reads `len` bytes from `at` on, in place of what `out` holds.
    fn read(&self, at: u64, len: usize, out: &mut Vec<u8>) -> SqlResult<()> {
        out.resize(len, 0);
        self.file
            .read_exact_at(out, at)
            .map_err(|e| io_error("reading", &e))?;
        crypt(&self.cipher, at, out);
        Ok(())
    }
}

/// Encrypts or decrypts bytes that stand at `at`.
fn crypt(cipher: &Aes128, at: u64, bytes: &mut [u8]) {
    let mut block = u128::from(at / 16);
    let mut skip = (at % 16) as usize;
    let mut rest = bytes;
    let mut stream = [aes::Block::default(); 8];
    while !rest.is_empty() {
        for s in &mut stream {
            *s = block.to_le_bytes().into();
            block += 1;
        }
        cipher.encrypt_blocks(&mut stream);
        let n = rest.len().min(128 - skip);
        let (now, later) = std::mem::take(&mut rest).split_at_mut(n);
        let mut flat = [0; 128];
        for (to, s) in flat.chunks_exact_mut(16).zip(&stream) {
            to.copy_from_slice(s);
        }
        for (b, s) in now.iter_mut().zip(&flat[skip..]) {
            *b ^= s;
        }
        skip = 0;
        rest = later;
    }
}

/// Reads a part of a file from front to back.
pub struct SpillReader {
    at: u64,
    end: u64,
    chunk: Vec<u8>,
    /// Read of `chunk`.
    used: usize,
    /// Bytes that are read together.
    size: usize,
}

impl SpillReader {
    /// Reads from `start` to `end`.
    pub fn new(start: u64, end: u64) -> SpillReader {
        Self::in_pieces(start, end, CHUNK)
    }

    /// The same, so many bytes at once.
    pub fn in_pieces(start: u64, end: u64, size: usize) -> SpillReader {
        SpillReader {
            at: start,
            end,
            chunk: Vec::new(),
            used: 0,
            size,
        }
    }

    /// Reads the next record, as [`SpillFile::write_record`] wrote it; false at the end.
    pub fn read_record(&mut self, file: &SpillFile, out: &mut Vec<u8>) -> SqlResult<bool> {
        let mut head = [0u8; 4];
        if !self.read(file, &mut head)? {
            return Ok(false);
        }
        out.resize(u32::from_le_bytes(head) as usize, 0);
        self.read(file, out)
    }

    /// Fills `out` with the next bytes; false at the end.
    pub fn read(&mut self, file: &SpillFile, out: &mut [u8]) -> SqlResult<bool> {
        let mut filled = 0;
        while filled < out.len() {
            if self.used == self.chunk.len() {
                let n = (self.end - self.at).min(self.size as u64) as usize;
                if n == 0 {
                    return Ok(false);
                }
                file.read(self.at, n, &mut self.chunk)?;
                self.at += n as u64;
                self.used = 0;
            }
            let n = (out.len() - filled).min(self.chunk.len() - self.used);
            out[filled..filled + n].copy_from_slice(&self.chunk[self.used..self.used + n]);
            self.used += n;
            filled += n;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_was_written_is_read_and_not_plain_on_disk() {
        let dir = tempfile::tempdir().unwrap();
        let mut f = SpillFile::new(dir.path()).unwrap();
        let text: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
        for piece in text.chunks(777) {
            f.write(piece).unwrap();
        }
        f.flush().unwrap();
        assert_eq!(f.len(), 200_000);
        for (start, end) in [(0usize, 200_000usize), (17, 70_001), (65_536, 65_536)] {
            let mut r = SpillReader::new(start as u64, end as u64);
            let mut out = vec![0; end - start];
            assert!(r.read(&f, &mut out).unwrap());
            assert!(out == text[start..end]);
            assert!(!r.read(&f, &mut [0]).unwrap());
        }
        let mut raw = vec![0; 1000];
        f.file.read_exact_at(&mut raw, 0).unwrap();
        assert!(raw != text[..1000]);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
