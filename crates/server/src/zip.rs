//! CLIENT_COMPRESS: the packets of both sides in zlib, in frames of their own.
//!
//! Source of the format: MySQL client/server protocol documentation, "Compressed Packet".

use crate::socket::is_stopped;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Decompress, FlushDecompress, Status};
use std::io::{self, Read, Write};

/// 3 bytes length of what follows, 1 byte number, 3 bytes length before compression (0: not compressed).
const HEADER: usize = 7;
const MAX_FRAME: usize = 0xFF_FFFF;
/// Bytes of a frame for which the memory is kept until the next one comes.
const KEPT: usize = 256 << 10;
/// Shorter pieces (bytes) are not worth it.
const SHORTEST: usize = 50;

/// A stream whose bytes are compressed.
#[derive(Debug)]
pub struct Zipped<S> {
    /// What it goes over.
    pub under: S,
    /// The frame that is being read, as far as it has come.
    raw: Vec<u8>,
    /// Bytes of `raw` that were taken.
    taken: usize,
    /// Bytes that the frame still has for the reader. They are unpacked as they are asked for, so what a frame says of
    /// itself takes no memory.
    left: usize,
    /// The frame is not compressed.
    stored: bool,
    inflate: Box<Decompress>,
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
            taken: 0,
            left: 0,
            stored: false,
            inflate: Box::new(Decompress::new(true)),
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
        self.left > 0
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
        self.taken = HEADER;
        self.stored = full == 0;
        self.left = if self.stored { len } else { full };
        if !self.stored {
            self.inflate.reset(true);
        }
        if self.left == 0 {
            self.done();
        }
        Ok(true)
    }

    /// The frame was read to its end.
    fn done(&mut self) {
        self.raw.clear();
        self.raw.shrink_to(KEPT);
        self.taken = 0;
    }

    /// Unpacks as much as is there and `buf` takes: at least a byte.
    fn unpack(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let wrong = || {
            io::Error::new(
                io::ErrorKind::InvalidData,
                "a compressed packet is not as long as it says",
            )
        };
        let wanted = self.left.min(buf.len());
        loop {
            let (n, ended) = self.inflate(&mut buf[..wanted])?;
            if n == 0 && ended.is_some() {
                return Err(wrong());
            }
            if n == 0 {
                continue;
            }
            // Never more than was said, and what was said is checked before the last bytes count.
            if n == self.left && ended != Some(true) {
                loop {
                    match self.inflate(&mut [0])? {
                        (0, Some(true)) => break,
                        (0, None) => {}
                        _ => return Err(wrong()),
                    }
                }
            }
            return Ok(n);
        }
    }

    /// One step: the bytes that came out, and whether it can go on: not behind the end (true), nor without more input.
    fn inflate(&mut self, buf: &mut [u8]) -> io::Result<(usize, Option<bool>)> {
        let before = (self.inflate.total_in(), self.inflate.total_out());
        let input = &self.raw[self.taken..];
        let status = (self.inflate)
            .decompress(input, buf, FlushDecompress::None)
            .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
        let taken = (self.inflate.total_in() - before.0) as usize;
        let n = (self.inflate.total_out() - before.1) as usize;
        self.taken += taken;
        Ok(match status {
            Status::StreamEnd => (n, Some(true)),
            _ if taken == 0 && n == 0 => (n, Some(false)),
            _ => (n, None),
        })
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
        if buf.is_empty() {
            return Ok(0);
        }
        // A frame may be empty.
        while !self.has_rest() {
            if !self.frame()? {
                return Ok(0);
            }
        }
        let n = match self.stored {
            true => {
                let n = (&self.raw[self.taken..]).read(buf)?;
                self.taken += n;
                n
            }
            false => self.unpack(buf)?,
        };
        self.left -= n;
        if self.left == 0 {
            self.done();
        }
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

    /// A frame with these bytes packed, that says it has `full` of them.
    fn frame(plain: &[u8], full: usize) -> Vec<u8> {
        let mut zip = ZlibEncoder::new(Vec::new(), Compression::fast());
        zip.write_all(plain).unwrap();
        let body = zip.finish().unwrap();
        let mut wire = (body.len() as u32).to_le_bytes()[..3].to_vec();
        wire.push(0);
        wire.extend_from_slice(&(full as u32).to_le_bytes()[..3]);
        wire.extend_from_slice(&body);
        wire
    }

    fn read_all(wire: Vec<u8>, piece: usize) -> io::Result<Vec<u8>> {
        let mut stream = Zipped::new(Cursor::new(wire));
        let (mut all, mut buf) = (Vec::new(), vec![0; piece]);
        loop {
            match stream.read(&mut buf)? {
                0 => return Ok(all),
                n => all.extend_from_slice(&buf[..n]),
            }
        }
    }

    #[test]
    fn frames_are_read_in_pieces_of_any_size() {
        let text: Vec<u8> = (0..100_000u32)
            .map(|n| (n.wrapping_mul(n) >> 7) as u8)
            .collect();
        let mut wire = frame(&text, text.len());
        wire.extend_from_slice(&[3, 0, 0, 1, 0, 0, 0, b'a', b'b', b'c']);
        wire.extend_from_slice(&[0, 0, 0, 2, 0, 0, 0]);
        wire.extend(frame(b"end", 3));
        let expected = [&text[..], b"abcend"].concat();
        for piece in [1, 7, 4096, 200_000] {
            assert_eq!(read_all(wire.clone(), piece).unwrap(), expected);
        }
    }

    #[test]
    fn a_frame_is_as_long_as_it_says_and_whole() {
        for (plain, full) in [(&b"short"[..], 4), (b"short", 6), (b"short", 0xFF_FFFF)] {
            for piece in [1, 100] {
                let e = read_all(frame(plain, full), piece).unwrap_err();
                assert_eq!(e.kind(), io::ErrorKind::InvalidData, "{full} {piece}");
            }
        }
        let mut wire = frame(b"a text with a checksum", 22);
        let last = wire.len() - 1;
        wire[last] ^= 1;
        let e = read_all(wire, 100).unwrap_err();
        assert_eq!(e.kind(), io::ErrorKind::InvalidData);
    }
}
