//! A stream of bytes, sealed for a place that is not trusted: a backup that goes to standard output.
//!
//! ```text
//! head    magic "NARWSEAL" | u32 version = 1 | u32 master key id | 16 bytes salt
//! frames  AES-256-GCM of 64 KiB each, the last one of 0 to 64 KiB; 16 bytes of tag behind each
//! ```
//!
//! The key is HMAC-SHA-256 of the master key over `narwal sealed stream 1` and the salt, so no two streams share one. A
//! frame's nonce is its number from 0 (u64, big-endian), three zeros, and 1 for the last frame or 0; the additional data is
//! the head. So frames can't be exchanged, left out or cut off, which is what is called the STREAM construction.

use crate::{CryptError, KeyFile};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::hmac;
use std::io::{self, Read, Write};

/// What a sealed stream begins with.
pub const SEAL_MAGIC: &[u8; 8] = b"NARWSEAL";

const VERSION: u32 = 1;
const HEAD: usize = 32;
const FRAME: usize = 64 << 10;
const TAG: usize = 16;

fn key(master: &[u8], salt: &[u8]) -> Result<LessSafeKey, CryptError> {
    let mut context = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, master));
    context.update(b"narwal sealed stream 1");
    context.update(salt);
    UnboundKey::new(&AES_256_GCM, context.sign().as_ref())
        .map(LessSafeKey::new)
        .map_err(|_| CryptError::Random)
}

fn nonce(number: u64, last: bool) -> Nonce {
    let mut n = [0; 12];
    n[..8].copy_from_slice(&number.to_be_bytes());
    n[11] = u8::from(last);
    Nonce::assume_unique_for_key(n)
}

/// Seals what is written to it. [`finish`](Self::finish) must be called: without its end a stream does not open.
pub struct SealWriter<W: Write> {
    inner: W,
    key: LessSafeKey,
    head: [u8; HEAD],
    number: u64,
    buf: Vec<u8>,
}

impl<W: Write> SealWriter<W> {
    /// Begins a stream under the newest key of the file.
    ///
    /// # Errors
    /// No random bytes, or the head can't be written.
    pub fn new(mut inner: W, keys: &KeyFile) -> io::Result<Self> {
        let salt: [u8; 16] = crate::keyring::random().map_err(io::Error::other)?;
        let id = keys.newest();
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(SEAL_MAGIC);
        head[8..12].copy_from_slice(&VERSION.to_le_bytes());
        head[12..16].copy_from_slice(&id.to_le_bytes());
        head[16..].copy_from_slice(&salt);
        let master = keys.get(id).map_err(io::Error::other)?;
        let key = key(master, &salt).map_err(io::Error::other)?;
        inner.write_all(&head)?;
        Ok(SealWriter {
            inner,
            key,
            head,
            number: 0,
            buf: Vec::with_capacity(FRAME + TAG),
        })
    }

    fn frame(&mut self, last: bool) -> io::Result<()> {
        let nonce = nonce(self.number, last);
        self.key
            .seal_in_place_append_tag(nonce, Aad::from(self.head), &mut self.buf)
            .map_err(|_| io::Error::other("a frame can't be sealed"))?;
        self.number += 1;
        self.inner.write_all(&self.buf)?;
        self.buf.clear();
        Ok(())
    }

    /// Writes the last frame and gives back what is below.
    ///
    /// # Errors
    /// Errors of writing.
    pub fn finish(mut self) -> io::Result<W> {
        self.frame(true)?;
        self.inner.flush()?;
        Ok(self.inner)
    }
}

impl<W: Write> Write for SealWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A full frame waits until it is known not to be the last.
        if self.buf.len() == FRAME && !bytes.is_empty() {
            self.frame(false)?;
        }
        let n = bytes.len().min(FRAME - self.buf.len());
        self.buf.extend_from_slice(&bytes[..n]);
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Opens a sealed stream: every byte that it gives is as it was sealed.
pub struct SealReader<R: Read> {
    inner: R,
    key: LessSafeKey,
    head: [u8; HEAD],
    number: u64,
    /// The bytes behind the frame that was opened last: whether there are any says whether that is the last one.
    ahead: Vec<u8>,
    plain: Vec<u8>,
    at: usize,
    ended: bool,
}

fn bad(text: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

fn fill(inner: &mut impl Read, buf: &mut Vec<u8>, len: usize) -> io::Result<()> {
    let want = len - buf.len();
    inner.take(want as u64).read_to_end(buf)?;
    Ok(())
}

impl<R: Read> SealReader<R> {
    /// Begins to read.
    ///
    /// # Errors
    /// Not a sealed stream, or sealed with a key that the file does not have.
    pub fn new(mut inner: R, keys: &KeyFile) -> io::Result<Self> {
        let mut head = [0; HEAD];
        inner.read_exact(&mut head)?;
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if &head[..8] != SEAL_MAGIC || word(8) != VERSION {
            return Err(bad("not a stream that this program has sealed".into()));
        }
        let master = keys.get(word(12)).map_err(|e| bad(e.to_string()))?;
        let key = key(master, &head[16..]).map_err(io::Error::other)?;
        let mut ahead = Vec::new();
        fill(&mut inner, &mut ahead, FRAME + TAG)?;
        Ok(SealReader {
            inner,
            key,
            head,
            number: 0,
            ahead,
            plain: Vec::new(),
            at: 0,
            ended: false,
        })
    }

    fn next_frame(&mut self) -> io::Result<()> {
        let mut frame = std::mem::take(&mut self.ahead);
        if frame.len() == FRAME + TAG {
            fill(&mut self.inner, &mut self.ahead, FRAME + TAG)?;
        }
        let last = self.ahead.is_empty();
        let nonce = nonce(self.number, last);
        let len = self
            .key
            .open_in_place(nonce, Aad::from(self.head), &mut frame)
            .map_err(|_| {
                let at = HEAD as u64 + self.number * (FRAME + TAG) as u64;
                bad(format!(
                    "the sealed stream is damaged or cut off in the 64 KiB from byte {at} on, or the key is another"
                ))
            })?
            .len();
        frame.truncate(len);
        self.number += 1;
        self.plain = frame;
        self.at = 0;
        self.ended = last;
        Ok(())
    }
}

impl<R: Read> Read for SealReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at == self.plain.len() {
            if self.ended {
                return Ok(0);
            }
            self.next_frame()?;
        }
        let n = out.len().min(self.plain.len() - self.at);
        out[..n].copy_from_slice(&self.plain[self.at..self.at + n]);
        self.at += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn keys(text: &str) -> KeyFile {
        KeyFile::parse(Path::new("k"), text.as_bytes()).unwrap()
    }

    fn seal(plain: &[u8], keys: &KeyFile) -> Vec<u8> {
        let mut w = SealWriter::new(Vec::new(), keys).unwrap();
        w.write_all(plain).unwrap();
        w.finish().unwrap()
    }

    fn open(sealed: &[u8], keys: &KeyFile) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        SealReader::new(sealed, keys)?.read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn what_is_sealed_opens_only_whole_and_with_the_key() {
        let one = keys(&format!("1;{}", "ab".repeat(32)));
        let other = keys(&format!("1;{}\n2;{}", "cd".repeat(32), "ab".repeat(32)));
        for len in [0, 1, FRAME - 1, FRAME, FRAME + 1, 2 * FRAME, 3 * FRAME + 5] {
            let plain: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
            let sealed = seal(&plain, &one);
            assert_eq!(open(&sealed, &one).unwrap(), plain);
            assert!(open(&sealed, &other).is_err());
            for cut in [0, 5, HEAD, HEAD + 1, sealed.len() / 2, sealed.len() - 1] {
                if cut < sealed.len() {
                    assert!(open(&sealed[..cut], &one).is_err(), "{len} cut at {cut}");
                }
            }
            // At a frame's end, too.
            for cut in (HEAD..sealed.len())
                .step_by(FRAME + TAG)
                .filter(|c| *c < sealed.len())
            {
                assert!(open(&sealed[..cut], &one).is_err(), "{len} cut at {cut}");
            }
            for i in (0..sealed.len()).step_by(997).chain(0..HEAD) {
                let mut s = sealed.clone();
                s[i] ^= 1;
                assert!(open(&s, &one).is_err(), "{len} byte {i}");
            }
            let mut longer = sealed.clone();
            longer.push(0);
            assert!(open(&longer, &one).is_err());
        }
    }
}
