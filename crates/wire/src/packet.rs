//! Packet framing: a 3-byte little-endian length, a 1-byte sequence number, then the payload.
//!
//! A payload of 0xFFFFFF bytes or more goes out as several packets; the last is shorter than 0xFFFFFF, possibly empty.
//! Source: MySQL client/server protocol documentation, "MySQL Packets"; MariaDB knowledge base, "0 - Packet".

use std::io::{self, Read, Write};
use std::ops::Range;

/// Longest payload of a single packet. A packet of this very length is followed by another one.
pub const MAX_CHUNK: usize = 0xFF_FFFF;

const HEADER: usize = 4;
const READ_BUFFER: usize = 16 * 1024;
const READ_BUFFER_KEPT: usize = 64 * 1024;
/// A buffer that grows by so much at once asks whether it may.
const LONG: usize = 256 << 10;
const WRITE_BUFFER_KEPT: usize = 64 * 1024;

/// The writer hands its bytes to the socket once it holds this many (bytes).
pub const FLUSH_AT: usize = 32 * 1024;

/// Why no packet could be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The peer closed the connection between two packets: the usual end.
    #[error("connection closed")]
    Closed,
    /// The peer closed the connection inside a packet.
    #[error("connection closed inside a packet")]
    Truncated,
    /// The packet would be longer than allowed. Nothing of its excess was read or stored.
    #[error("packet of {0} bytes or more is longer than allowed")]
    TooLarge(usize),
    /// There is no memory for a packet of this length now.
    #[error("no memory for a packet of {0} bytes or more")]
    NoRoom(usize),
    /// The sequence number is not the one that must follow.
    #[error("packet number {got} where {want} was expected")]
    OutOfOrder {
        /// Number in the packet.
        got: u8,
        /// Number that should have been there.
        want: u8,
    },
    /// No packet began within the read timeout.
    #[error("no packet within the timeout")]
    Idle,
    /// A packet began but did not end within the read timeout.
    #[error("timeout inside a packet")]
    Stalled,
    /// The socket reported an error.
    #[error(transparent)]
    Io(io::Error),
}

/// What the reader needs from a connection: bytes, and a word when a packet is on its way but not complete
/// (so that the idle timeout gives way to the read timeout).
pub trait PacketSource: Read {
    /// Called before the first read that continues an incomplete packet.
    fn inside_packet(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PacketSource for &[u8] {}
impl<T: AsRef<[u8]>> PacketSource for io::Cursor<T> {}

/// Reads packets through one buffer that grows only as bytes really arrive.
#[derive(Debug)]
pub struct PacketReader {
    buf: Vec<u8>,
    start: usize,
    end: usize,
    next_seq: u8,
    /// Whether so many more bytes may be taken for a long packet.
    room: fn(u64) -> bool,
}

impl Default for PacketReader {
    fn default() -> Self {
        Self::new()
    }
}

impl PacketReader {
    /// An empty reader that expects sequence number 0.
    pub fn new() -> Self {
        PacketReader {
            buf: Vec::new(),
            start: 0,
            end: 0,
            next_seq: 0,
            room: |_| true,
        }
    }

    /// Asks `room` before it takes more memory for a long packet.
    pub fn asking(room: fn(u64) -> bool) -> Self {
        PacketReader {
            room,
            ..PacketReader::new()
        }
    }

    /// The sequence number the next packet must have.
    pub fn next_seq(&self) -> u8 {
        self.next_seq
    }

    /// Sets the sequence number the next packet must have: 0 for a command, one past the server's last otherwise.
    pub fn expect_seq(&mut self, seq: u8) {
        self.next_seq = seq;
    }

    /// Takes the bytes that arrived after the last packet (TLS starts in the middle of the stream).
    pub fn take_rest(&mut self) -> Vec<u8> {
        let rest = self.buf[self.start..self.end].to_vec();
        self.start = 0;
        self.end = 0;
        rest
    }

    /// True if bytes after the last packet have already arrived.
    pub fn has_rest(&self) -> bool {
        self.start < self.end
    }

    /// Bytes this reader holds on to.
    pub fn capacity(&self) -> usize {
        self.buf.capacity()
    }

    /// The payload found by [`PacketReader::read`]; valid until the next read.
    pub fn payload(&self, at: Range<usize>) -> &[u8] {
        &self.buf[at]
    }

    /// Reads one payload of at most `max` bytes, joined from as many packets as it takes.
    ///
    /// Never stores more than about twice the bytes that arrived, whatever length a header claims.
    pub fn read(
        &mut self,
        src: &mut impl PacketSource,
        max: usize,
    ) -> Result<Range<usize>, ReadError> {
        self.make_room();
        let payload_start = self.start + HEADER;
        let mut payload_end = payload_start;
        let mut pos = self.start;
        loop {
            self.fill(src, pos + HEADER)?;
            let len = usize::from(self.buf[pos])
                | usize::from(self.buf[pos + 1]) << 8
                | usize::from(self.buf[pos + 2]) << 16;
            let seq = self.buf[pos + 3];
            if seq != self.next_seq {
                return Err(ReadError::OutOfOrder {
                    got: seq,
                    want: self.next_seq,
                });
            }
            self.next_seq = seq.wrapping_add(1);
            let total = payload_end - payload_start + len;
            if total > max {
                return Err(ReadError::TooLarge(total));
            }
            let body = pos + HEADER;
            self.fill(src, body + len)?;
            if body != payload_end {
                self.buf.copy_within(body..body + len, payload_end);
            }
            payload_end += len;
            pos = body + len;
            if len < MAX_CHUNK {
                break;
            }
        }
        self.start = pos;
        Ok(payload_start..payload_end)
    }

    fn make_room(&mut self) {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if self.buf.len() > READ_BUFFER_KEPT {
                self.buf = Vec::new();
            }
        } else if self.start > 0 {
            self.buf.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
    }

    /// Reads until the buffer holds the bytes below `upto`.
    #[inline]
    fn fill(&mut self, src: &mut impl PacketSource, upto: usize) -> Result<(), ReadError> {
        if self.end >= upto {
            return Ok(());
        }
        self.fill_slow(src, upto)
    }

    fn fill_slow(&mut self, src: &mut impl PacketSource, upto: usize) -> Result<(), ReadError> {
        while self.end < upto {
            if self.end == self.buf.len() {
                let grown = (self.end * 2).max(READ_BUFFER);
                let size = if upto > READ_BUFFER {
                    grown.min(upto.max(READ_BUFFER))
                } else {
                    grown
                };
                let more = size - self.buf.len();
                // Both the old buffer and the new one are there for a moment.
                if more >= LONG && !(self.room)(size as u64) {
                    return Err(ReadError::NoRoom(upto));
                }
                self.buf.resize(size, 0);
            }
            let inside = self.end > self.start;
            if inside {
                src.inside_packet().map_err(ReadError::Io)?;
            }
            match src.read(&mut self.buf[self.end..]) {
                Ok(0) if inside => return Err(ReadError::Truncated),
                Ok(0) => return Err(ReadError::Closed),
                Ok(n) => self.end += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e)
                    if matches!(
                        e.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) =>
                {
                    return Err(if inside {
                        ReadError::Stalled
                    } else {
                        ReadError::Idle
                    });
                }
                // TLS without a closing alert.
                Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
                    return Err(if inside {
                        ReadError::Truncated
                    } else {
                        ReadError::Closed
                    });
                }
                Err(e) => return Err(ReadError::Io(e)),
            }
        }
        Ok(())
    }
}

/// Parts of a packet as long as this (bytes) go to the socket from where they are, without a copy.
const DIRECT: usize = 64 * 1024;

/// Gathers packets in one buffer, to be sent with few system calls.
#[derive(Debug, Default)]
pub struct PacketWriter {
    buf: Vec<u8>,
    /// A buffer of up to so many bytes is kept when it is empty.
    keep: usize,
    packet: usize,
    open: bool,
    seq: u8,
    sent: u64,
}

impl PacketWriter {
    /// An empty writer whose next packet has sequence number 0.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sequence number of the next packet.
    pub fn seq(&self) -> u8 {
        self.seq
    }

    /// Sets the sequence number of the next packet: one past the client's last.
    pub fn set_seq(&mut self, seq: u8) {
        self.seq = seq;
    }

    /// Starts a packet; its payload is appended to the returned buffer, then [`PacketWriter::finish`] ends it.
    #[inline]
    pub fn begin(&mut self) -> &mut Vec<u8> {
        self.packet = self.buf.len();
        self.open = true;
        self.buf.extend_from_slice(&[0; HEADER]);
        &mut self.buf
    }

    /// Ends the packet begun last, splitting it where it is too long.
    #[inline]
    pub fn finish(&mut self) {
        self.open = false;
        let len = self.buf.len() - self.packet - HEADER;
        if len >= MAX_CHUNK {
            return self.finish_split(len);
        }
        self.header(self.packet, len);
    }

    /// Takes back a packet that was begun and not finished.
    pub fn abandon(&mut self) {
        if std::mem::take(&mut self.open) {
            self.buf.truncate(self.packet);
        }
    }

    /// Appends packets that [`PacketWriter::written_since`] has given, when their first one had the sequence number that is
    /// next now. `count` packets, modulo 256.
    #[inline]
    pub fn repeat(&mut self, packets: &[u8], count: u8) {
        debug_assert_eq!(packets.get(3), Some(&self.seq));
        self.buf.extend_from_slice(packets);
        self.seq = self.seq.wrapping_add(count);
    }

    /// The packets that were written since [`PacketWriter::pending`] was so many bytes; nothing was sent in between.
    pub fn written_since(&self, pending: usize) -> &[u8] {
        &self.buf[pending..]
    }

    /// Appends a whole packet.
    pub fn packet(&mut self, payload: &[u8]) {
        self.begin().extend_from_slice(payload);
        self.finish();
    }

    #[inline]
    fn header(&mut self, at: usize, len: usize) {
        let len = len as u32;
        self.buf[at..at + HEADER].copy_from_slice(&(len | u32::from(self.seq) << 24).to_le_bytes());
        self.seq = self.seq.wrapping_add(1);
    }

    #[cold]
    fn finish_split(&mut self, len: usize) {
        let tail = self.buf.split_off(self.packet + HEADER + MAX_CHUNK);
        self.header(self.packet, MAX_CHUNK);
        debug_assert_eq!(len - MAX_CHUNK, tail.len());
        let mut chunks = tail.chunks(MAX_CHUNK).peekable();
        let mut last = MAX_CHUNK;
        while let Some(chunk) = chunks.next() {
            last = chunk.len();
            self.packet = self.buf.len();
            self.buf.extend_from_slice(&[0; HEADER]);
            self.buf.extend_from_slice(chunk);
            self.header(self.packet, chunk.len());
            debug_assert!(chunks.peek().is_none() || last == MAX_CHUNK);
        }
        if last == MAX_CHUNK {
            self.packet = self.buf.len();
            self.buf.extend_from_slice(&[0; HEADER]);
            self.header(self.packet, 0);
        }
    }

    /// Keeps a larger buffer than usual from here on (bytes): for a connection that is there to send much.
    pub fn keep_buffer(&mut self, bytes: usize) {
        self.keep = bytes;
    }

    /// Appends a packet made of `parts`, and sends what has gathered once it is `flush_at` bytes. Long parts are not
    /// copied.
    ///
    /// # Errors
    /// Those of `dst`.
    pub fn packet_of(
        &mut self,
        parts: &[&[u8]],
        dst: &mut impl Write,
        flush_at: usize,
    ) -> io::Result<()> {
        let len: usize = parts.iter().map(|p| p.len()).sum();
        if len < DIRECT {
            let buf = self.begin();
            for part in parts {
                buf.extend_from_slice(part);
            }
            self.finish();
        } else {
            self.long_packet(len, parts, dst)?;
        }
        if self.buf.len() >= flush_at {
            self.flush(dst)?;
        }
        Ok(())
    }

    fn long_packet(
        &mut self,
        mut left: usize,
        parts: &[&[u8]],
        dst: &mut impl Write,
    ) -> io::Result<()> {
        let mut parts = parts.iter().copied();
        let mut part: &[u8] = &[];
        loop {
            let chunk = left.min(MAX_CHUNK);
            let at = self.buf.len();
            self.buf.extend_from_slice(&[0; HEADER]);
            self.header(at, chunk);
            let mut missing = chunk;
            while missing > 0 {
                if part.is_empty() {
                    part = parts.next().unwrap_or_default();
                }
                let (piece, rest) = part.split_at(missing.min(part.len()));
                (part, missing) = (rest, missing - piece.len());
                if piece.len() < DIRECT {
                    self.buf.extend_from_slice(piece);
                } else {
                    self.flush(dst)?;
                    dst.write_all(piece)?;
                    self.sent += piece.len() as u64;
                }
            }
            left -= chunk;
            if chunk < MAX_CHUNK {
                return Ok(());
            }
        }
    }

    /// Bytes sent since this was last asked.
    pub fn take_sent(&mut self) -> u64 {
        std::mem::take(&mut self.sent)
    }

    /// Bytes waiting to be sent.
    pub fn pending(&self) -> usize {
        self.buf.len()
    }

    /// True once enough has gathered to be worth sending.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.buf.len() >= FLUSH_AT
    }

    /// Moves what has gathered, and was not sent, to `into`, whose bytes it replaces: somebody else sends it. It counts as
    /// sent.
    pub fn take_unsent(&mut self, into: &mut Vec<u8>) {
        into.clear();
        std::mem::swap(&mut self.buf, into);
        self.sent += into.len() as u64;
    }

    /// Takes back what [`PacketWriter::take_unsent`] gave away. Nothing was written since.
    pub fn put_back(&mut self, from: &mut Vec<u8>) {
        std::mem::swap(&mut self.buf, from);
        self.sent -= self.buf.len() as u64;
    }

    /// Forgets what has gathered and was not sent; the next packet has sequence number `seq`.
    pub fn start_over(&mut self, seq: u8) {
        self.open = false;
        self.buf.clear();
        self.seq = seq;
    }

    #[cold]
    fn keep_from(&mut self, done: usize, e: io::Error) -> io::Result<()> {
        self.sent += done as u64;
        self.buf.drain(..done);
        Err(e)
    }

    /// Sends what has gathered. What an error keeps from being sent stays here, for a writer that goes on behind it.
    pub fn flush(&mut self, dst: &mut impl Write) -> io::Result<()> {
        if self.buf.is_empty() {
            return Ok(());
        }
        let mut done = 0;
        while done < self.buf.len() {
            match dst.write(&self.buf[done..]) {
                Ok(0) => return self.keep_from(done, io::ErrorKind::WriteZero.into()),
                Ok(n) => done += n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return self.keep_from(done, e),
            }
        }
        self.sent += done as u64;
        let sent = dst.flush();
        self.buf.clear();
        if self.buf.capacity() > self.keep.max(WRITE_BUFFER_KEPT) {
            self.buf = Vec::new();
        }
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Gives out its bytes in pieces of the given sizes, as a network does.
    struct Pieces<'a> {
        data: &'a [u8],
        sizes: Vec<usize>,
        turn: usize,
    }
    impl Read for Pieces<'_> {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let size = self.sizes[self.turn % self.sizes.len()].max(1);
            self.turn += 1;
            let n = size.min(buf.len()).min(self.data.len());
            buf[..n].copy_from_slice(&self.data[..n]);
            self.data = &self.data[n..];
            Ok(n)
        }
    }
    impl PacketSource for Pieces<'_> {}

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_is_written_is_read(
            payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9000), 1..8),
            sizes in prop::collection::vec(1usize..5000, 1..5),
            seq in any::<u8>(),
        ) {
            let mut w = PacketWriter::new();
            w.set_seq(seq);
            for p in &payloads { w.packet(p); }
            let mut wire = Vec::new();
            w.flush(&mut wire).unwrap();
            let mut src = Pieces { data: &wire, sizes, turn: 0 };
            let mut r = PacketReader::new();
            r.expect_seq(seq);
            for p in &payloads {
                let at = r.read(&mut src, 9000).unwrap();
                prop_assert_eq!(r.payload(at), &p[..]);
            }
            prop_assert!(matches!(r.read(&mut src, 9000), Err(ReadError::Closed)));
        }

        #[test]
        fn hostile_bytes_never_panic_nor_grow(wire in prop::collection::vec(any::<u8>(), 0..4000), max in 0usize..100_000) {
            let mut src = &wire[..];
            let mut r = PacketReader::new();
            while r.read(&mut src, max).is_ok() { r.expect_seq(0); }
            prop_assert!(r.capacity() <= 2 * wire.len() + READ_BUFFER);
        }
    }

    #[test]
    fn long_payloads_are_split_and_joined() {
        for len in [
            MAX_CHUNK - 1,
            MAX_CHUNK,
            MAX_CHUNK + 1,
            2 * MAX_CHUNK,
            2 * MAX_CHUNK + 5,
        ] {
            let payload: Vec<u8> = (0..len).map(|i| (i * 7 % 251) as u8).collect();
            let mut w = PacketWriter::new();
            w.packet(&payload);
            w.packet(b"next");
            let mut wire = Vec::new();
            w.flush(&mut wire).unwrap();
            let packets = len / MAX_CHUNK + 1;
            assert_eq!(wire.len(), len + 4 + 4 * (packets + 1), "length {len}");
            assert_eq!(w.seq() as usize, packets + 1);
            let mut src = &wire[..];
            let mut r = PacketReader::new();
            let at = r.read(&mut src, 3 * MAX_CHUNK).unwrap();
            assert!(r.payload(at) == payload);
            let at = r.read(&mut src, 10).unwrap();
            assert_eq!(r.payload(at), b"next");
        }
    }

    #[test]
    fn packets_of_parts_are_as_those_of_one() {
        for len in [
            10,
            DIRECT,
            MAX_CHUNK - 1,
            MAX_CHUNK,
            MAX_CHUNK + DIRECT + 5,
            2 * MAX_CHUNK,
        ] {
            let payload: Vec<u8> = (0..len).map(|i| (i * 11 % 253) as u8).collect();
            let (head, tail) = payload.split_at(3);
            let mut whole = PacketWriter::new();
            whole.packet(&payload);
            whole.packet(b"next");
            let mut want = Vec::new();
            whole.flush(&mut want).unwrap();
            let mut parts = PacketWriter::new();
            let mut got = Vec::new();
            parts.packet_of(&[head, tail], &mut got, 1 << 20).unwrap();
            parts.packet_of(&[b"", b"next"], &mut got, 1 << 20).unwrap();
            parts.flush(&mut got).unwrap();
            assert!(got == want, "length {len}");
            assert_eq!(
                (parts.seq(), parts.take_sent()),
                (whole.seq(), whole.take_sent())
            );
        }
    }

    #[test]
    fn a_claimed_length_costs_no_memory() {
        let mut r = PacketReader::new();
        let mut src: &[u8] = &[0xfe, 0xff, 0xff, 0, 1, 2, 3];
        assert!(matches!(
            r.read(&mut src, 1 << 30),
            Err(ReadError::Truncated)
        ));
        assert!(r.capacity() <= READ_BUFFER);
        let mut r = PacketReader::new();
        let mut src: &[u8] = &[0xff, 0xff, 0xff, 0];
        assert!(matches!(
            r.read(&mut src, 1024),
            Err(ReadError::TooLarge(_))
        ));
    }

    #[test]
    fn an_unfinished_packet_can_be_taken_back() {
        let mut w = PacketWriter::new();
        w.packet(b"whole");
        w.abandon();
        w.begin().extend_from_slice(b"half");
        w.abandon();
        w.packet(b"next");
        let mut wire = Vec::new();
        w.flush(&mut wire).unwrap();
        assert_eq!(wire, b"\x05\0\0\0whole\x04\0\0\x01next");
        assert_eq!((w.take_sent(), w.take_sent()), (wire.len() as u64, 0));
    }

    #[test]
    fn order_is_checked() {
        let mut r = PacketReader::new();
        let mut src: &[u8] = &[1, 0, 0, 3, 0x0e];
        assert!(matches!(
            r.read(&mut src, 10),
            Err(ReadError::OutOfOrder { got: 3, want: 0 })
        ));
    }

    #[test]
    fn a_big_read_buffer_is_given_back() {
        let mut w = PacketWriter::new();
        w.packet(&vec![1; 1 << 20]);
        w.set_seq(0);
        w.packet(b"x");
        let mut wire = Vec::new();
        w.flush(&mut wire).unwrap();
        let mut src = &wire[..];
        let mut r = PacketReader::new();
        r.read(&mut src, 1 << 21).unwrap();
        r.expect_seq(0);
        r.read(&mut src, 1 << 21).unwrap();
        assert!(r.capacity() <= READ_BUFFER_KEPT);
    }
}
