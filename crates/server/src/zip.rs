//! CLIENT_COMPRESS: the packets of both sides in zlib, in frames of their own.
//!
//! Source of the format: MySQL client/server protocol documentation, "Compressed Packet".

use crate::socket::is_stopped;
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::io::{self, Read, Write};

/// 3 bytes length of what follows, 1 byte number, 3 bytes length before compression (0: not compressed).
const HEADER: usize = 7;
const MAX_FRAME: usize = 0xFF_FFFF;
/// Bytes of a frame's contents for which the memory is kept until the next one comes.
const KEPT: usize = 256 << 10;
/// Shorter pieces (bytes) are not worth it.
const SHORTEST: usize = 50;

/// A stream whose bytes are compressed.
#[derive(Debug)]
pub struct Zipped<S> {
    /// What it goes over.
    pub under: S,
    /// Bytes of frames that are not complete.
    raw: Vec<u8>,
    /// Bytes of frames that are.
    plain: Vec<u8>,
    /// Bytes of `plain` that were read.
    read: usize,
    /// Number of the next frame.
    number: u8,
    /// Frames on their way, of which so many bytes were sent: a write that is stopped leaves the rest to the next one.
    unsent: Vec<u8>,
    sent: usize,
}

impl<S: Read + Write> Zipped<S> {
    /// Compresses what goes over a stream from here on.
    pub fn new(under: S) -> Self {
        Zipped {
            under,
            raw: Vec::new(),
            plain: Vec::new(),
            read: 0,
            number: 0,
            unsent: Vec::new(),
            sent: 0,
        }
    }

    fn send_rest(&mut self) -> io::Result<()> {
        while self.sent < self.unsent.len() {
            match self.under.write(&self.unsent[self.sent..]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => self.sent += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        self.unsent = Vec::new();
        self.sent = 0;
        Ok(())
    }

    /// True if there are bytes that the socket knows nothing of.
    pub fn has_rest(&self) -> bool {
        self.read < self.plain.len()
    }

    /// Reads until `raw` holds so many bytes; false at the end of the stream.
    fn fill(&mut self, bytes: usize) -> io::Result<bool> {
        let mut buf = [0; 16 << 10];
        while self.raw.len() < bytes {
            let wanted = (bytes - self.raw.len()).min(buf.len());
            match self.under.read(&mut buf[..wanted]) {
                Ok(0) if self.raw.is_empty() => return Ok(false),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(n) => self.raw.extend_from_slice(&buf[..n]),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(true)
    }

    /// Takes in one frame; false at the end of the stream.
    fn frame(&mut self) -> io::Result<bool> {
        if !self.fill(HEADER)? {
            return Ok(false);
        }
        let size = |at: usize| {
            usize::from(self.raw[at])
                | usize::from(self.raw[at + 1]) << 8
                | usize::from(self.raw[at + 2]) << 16
        };
        let (len, full) = (size(0), size(4));
        self.number = self.raw[3].wrapping_add(1);
        self.fill(HEADER + len)?;
        self.read = 0;
        if self.plain.capacity() > KEPT {
            self.plain = Vec::new();
        }
        self.plain.clear();
        // What a frame says of itself is only a bound: memory is taken as bytes come out of it, twice of them while it grows.
        if full > KEPT && narwal_memory::reserve(2 * full as u64).is_err() {
            return Err(io::ErrorKind::OutOfMemory.into());
        }
        if full == 0 {
            self.plain.extend_from_slice(&self.raw[HEADER..]);
        } else {
            // Never more than was said.
            let body = ZlibDecoder::new(&self.raw[HEADER..]);
            let mut body = body.take(full as u64 + 1);
            body.read_to_end(&mut self.plain)?;
            if self.plain.len() != full {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "a compressed packet is not as long as it says",
                ));
            }
        }
        self.raw.clear();
        self.raw.shrink_to(KEPT);
        Ok(true)
    }

    /// Makes a frame, to be sent by `send_rest`.
    fn pack(&mut self, plain: &[u8]) -> io::Result<()> {
        let mut out = vec![0; HEADER];
        let mut full = 0;
        if plain.len() >= SHORTEST {
            let mut zip = ZlibEncoder::new(out, Compression::fast());
            zip.write_all(plain)?;
            out = zip.finish()?;
            full = plain.len();
        }
        if full == 0 || out.len() - HEADER >= plain.len() {
            out.truncate(HEADER);
            out.extend_from_slice(plain);
            full = 0;
        }
        let len = ((out.len() - HEADER) as u32).to_le_bytes();
        out[..3].copy_from_slice(&len[..3]);
        out[3] = self.number;
        out[4..7].copy_from_slice(&(full as u32).to_le_bytes()[..3]);
        self.number = self.number.wrapping_add(1);
        self.unsent = out;
        Ok(())
    }
}

impl<S: Read + Write> Read for Zipped<S> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        // A frame may be empty.
        while !self.has_rest() {
            if !self.frame()? {
                return Ok(0);
            }
        }
        let n = (&self.plain[self.read..]).read(buf)?;
        self.read += n;
        Ok(n)
    }
}

impl<S: Read + Write> Write for Zipped<S> {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.send_rest()?;
        let n = buf.len().min(MAX_FRAME);
        self.pack(&buf[..n])?;
        match self.send_rest() {
            // These bytes are taken: the next write or flush says so again.
            Err(e) if is_stopped(&e) => Ok(n),
            done => done.map(|()| n),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.send_rest()?;
        self.under.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    #[test]
    fn a_claimed_length_costs_no_memory() {
        let body = {
            let mut zip = ZlibEncoder::new(Vec::new(), Compression::fast());
            zip.write_all(b"short").unwrap();
            zip.finish().unwrap()
        };
        let mut wire = vec![body.len() as u8, 0, 0, 0, 0xFF, 0xFF, 0xFF];
        wire.extend_from_slice(&body);
        let mut stream = Zipped::new(Cursor::new(wire));
        let answer = stream.read(&mut [0; 10]);
        assert_eq!(answer.unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(stream.plain.capacity() <= KEPT);
    }
}
