//! Packets in both directions, and the error that one of them may carry.

use crate::socket::Stream;
use crate::{Error, Result};
use narwal_wire::codec::Cursor;
use narwal_wire::packet::{PacketReader, PacketWriter, ReadError};

/// The longest packet that a server may send, in bytes: the largest that MySQL and MariaDB can.
const MAX_PACKET: usize = 1 << 30;

/// Packets in both directions.
#[derive(Debug)]
pub(crate) struct Channel {
    stream: Stream,
    reader: PacketReader,
    writer: PacketWriter,
    max: usize,
}

impl Channel {
    pub(crate) fn new(stream: Stream) -> Self {
        Channel {
            stream,
            reader: PacketReader::new(),
            writer: PacketWriter::new(),
            max: MAX_PACKET,
        }
    }

    pub(crate) fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    pub(crate) fn set_max_packet(&mut self, max: usize) {
        self.max = max;
    }

    pub(crate) fn has_rest(&self) -> bool {
        self.reader.has_rest()
    }

    pub(crate) fn logged_in(&mut self) {
        self.max = MAX_PACKET;
        self.stream.logged_in();
    }

    /// The next packet.
    pub(crate) fn read(&mut self) -> Result<&[u8]> {
        self.try_read()?.ok_or(Error::Timeout)
    }

    /// The next packet; `None` if none has begun within the timeout.
    pub(crate) fn try_read(&mut self) -> Result<Option<&[u8]>> {
        self.stream.between_packets();
        match self.reader.read(&mut self.stream, self.max) {
            Ok(at) => Ok(Some(self.reader.payload(at))),
            Err(ReadError::Idle) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }

    /// Sends a packet that answers nothing and stands at the beginning of its own sequence; the next packet read has
    /// whatever number it would have had.
    pub(crate) fn interject(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.writer.set_seq(0);
        fill(self.writer.begin());
        self.writer.finish();
        Ok(self.writer.flush(&mut self.stream)?)
    }

    /// The server begins to count its packets anew.
    pub(crate) fn expect_seq(&mut self, seq: u8) {
        self.reader.expect_seq(seq);
    }

    /// Sends a packet as an answer to the one read last.
    pub(crate) fn send(&mut self, fill: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.writer.set_seq(self.reader.next_seq());
        fill(self.writer.begin());
        self.writer.finish();
        self.writer.flush(&mut self.stream)?;
        self.reader.expect_seq(self.writer.seq());
        Ok(())
    }

    /// Sends a command.
    pub(crate) fn command(&mut self, code: u8, fill: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        self.reader.expect_seq(0);
        self.send(|p| {
            p.push(code);
            fill(p);
        })
    }
}

/// An ERR packet behind its first byte.
pub(crate) fn server_error(payload: &[u8]) -> Error {
    let mut c = Cursor::new(payload);
    let Ok(code) = c.u16() else {
        return Error::Protocol("an error without a number");
    };
    let rest = c.rest();
    let (state, message) = match rest.split_first_chunk::<6>() {
        Some(([b'#', state @ ..], message)) => {
            (String::from_utf8_lossy(state).into_owned(), message)
        }
        _ => ("HY000".to_owned(), rest),
    };
    Error::Server {
        code,
        state,
        message: String::from_utf8_lossy(message).into_owned(),
    }
}
