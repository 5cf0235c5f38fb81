//! The parts of a connection that move packets, and how it may end.

use crate::answer::put_err;
use crate::definition::Form;
use crate::handshake::MAX_HANDSHAKE_PACKET;
use crate::packet::{PacketReader, PacketWriter, ReadError};
use crate::stream::{Stream, Timed};
use narwal_types::SqlError;
use narwal_types::errors;
use std::io;
use std::ops::Range;
use std::time::Duration;

/// How much of a packet that is too long is still read, so that its sender finds the error.
const DRAIN_BYTES: usize = 64 << 20;

const DRAIN_TIME: Duration = Duration::from_secs(2);

/// Why a connection ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum End {
    #[error("client closed the connection")]
    Quit,
    #[error("{0}")]
    Read(ReadError),
    #[error("{0}")]
    Io(io::Error),
    /// Refused or broken, and the client has been told.
    #[error("{0}")]
    Told(SqlError),
    #[error("killed")]
    Killed,
    /// Refused; the client is told later.
    #[error("{0}")]
    Later(SqlError, Duration),
}

impl From<io::Error> for End {
    fn from(e: io::Error) -> Self {
        End::Io(e)
    }
}

impl From<ReadError> for End {
    fn from(e: ReadError) -> Self {
        match e {
            ReadError::Closed => End::Quit,
            e => End::Read(e),
        }
    }
}

/// How a connection's thread leaves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// The socket is to be closed.
    Closed,
    /// Its client waits for an answer.
    Parked,
}

fn packet_too_large() -> SqlError {
    errors::NET_PACKET_TOO_LARGE.plain()
}

/// The parts of a connection that move packets.
pub(crate) struct Channel {
    pub(crate) stream: Stream,
    pub(crate) reader: PacketReader,
    pub(crate) writer: PacketWriter,
}

impl Channel {
    pub(crate) fn read(&mut self, max: usize, inside: Duration) -> Result<Range<usize>, ReadError> {
        let mut src = Timed {
            stream: &mut self.stream,
            inside,
        };
        let found = self.reader.read(&mut src, max)?;
        self.writer.set_seq(self.reader.next_seq());
        Ok(found)
    }

    /// Reads the client's next packet of a dialogue (authentication): it goes on with the sequence numbers.
    pub(crate) fn read_reply(&mut self) -> Result<Vec<u8>, End> {
        self.writer.flush(&mut self.stream)?;
        self.reader.expect_seq(self.writer.seq());
        let at = self.read(MAX_HANDSHAKE_PACKET, Duration::from_secs(30))?;
        Ok(self.reader.payload(at).to_vec())
    }

    pub(crate) fn error(&mut self, e: &SqlError, form: Form) {
        put_err(self.writer.begin(), e, form);
        self.writer.finish();
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.writer.flush(&mut self.stream)
    }

    /// Tells the client, as far as it still listens, and ends.
    pub(crate) fn refuse(&mut self, e: SqlError) -> End {
        self.error(&e, Form::default());
        let _ = self.flush();
        self.stream.goodbye();
        End::Told(e)
    }

    /// Tells the client why its bytes could not be read, where that makes sense.
    pub(crate) fn refuse_read(&mut self, e: ReadError) -> End {
        let (told, seq) = match &e {
            ReadError::TooLarge(_) => (packet_too_large(), self.reader.next_seq()),
            ReadError::NoRoom(_) => (errors::OUT_OF_RESOURCES.plain(), self.reader.next_seq()),
            ReadError::OutOfOrder { want, .. } => (
                errors::NET_PACKETS_OUT_OF_ORDER.plain(),
                want.wrapping_add(1),
            ),
            _ => return e.into(),
        };
        self.writer.set_seq(seq);
        let end = self.refuse(told);
        self.stream.drain(DRAIN_BYTES, DRAIN_TIME);
        end
    }
}
