//! A connection: commands and their answers.

use crate::login::{Greeting, log_in};
use crate::options::Options;
use crate::rows::{ResultSet, Rows, columns};
use crate::socket::{Hangup, Socket, Stream};
use crate::{Error, Result};
use narwal_wire::codec::Cursor;
use narwal_wire::packet::{PacketReader, PacketWriter, ReadError};
use narwal_wire::protocol::command;
use std::time::{Duration, Instant};

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

/// What a statement without rows did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Done {
    /// Rows that it changed.
    pub affected: u64,
    /// AUTO_INCREMENT value that it made first.
    pub insert_id: u64,
    /// Warnings.
    pub warnings: u16,
}

fn done(payload: &[u8]) -> Result<Done> {
    let mut c = Cursor::new(payload);
    let (affected, insert_id) = (c.lenenc()?, c.lenenc()?);
    let _status = c.u16()?;
    Ok(Done {
        affected,
        insert_id,
        warnings: c.u16()?,
    })
}

/// How an answer begins.
pub(crate) enum Answer {
    Done(Done),
    Rows(Vec<crate::Column>),
}

/// A connection that is logged in.
///
/// After an error other than [`Error::Server`], and after a [`Rows`] that was dropped before its end, every further call
/// fails.
#[derive(Debug)]
pub struct Connection {
    pub(crate) channel: Channel,
    greeting: Greeting,
    read_timeout: Duration,
    /// An answer was not read to its end.
    pub(crate) broken: bool,
}

impl Connection {
    /// Connects and logs in.
    ///
    /// # Errors
    /// All kinds.
    pub fn connect(options: &Options) -> Result<Self> {
        let deadline = Instant::now() + options.connect_timeout;
        let socket = Socket::connect(options, deadline)?;
        let mut channel = Channel::new(Stream::new(socket, options, deadline));
        let greeting = log_in(&mut channel, options)?;
        Ok(Connection {
            channel,
            greeting,
            read_timeout: options.read_timeout,
            broken: false,
        })
    }

    /// The server's version as its greeting has it, without the `5.5.5-` that MariaDB 10 puts before it.
    #[must_use]
    pub fn server_version(&self) -> &str {
        let version = self.greeting.version.as_str();
        version.strip_prefix("5.5.5-").unwrap_or(version)
    }

    /// The server is of MariaDB's family, by its version.
    #[must_use]
    pub fn is_mariadb(&self) -> bool {
        self.greeting.version.contains("MariaDB")
    }

    /// `CONNECTION_ID()`.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.greeting.connection_id
    }

    /// The connection is encrypted.
    #[must_use]
    pub fn is_tls(&mut self) -> bool {
        self.channel.stream().is_tls()
    }

    /// Ends the connection from another thread.
    #[must_use]
    pub fn hangup(&mut self) -> Option<Hangup> {
        self.channel.stream().hangup()
    }

    /// How long an answer may take to begin. It counts from then on.
    pub fn set_read_timeout(&mut self, timeout: Duration) {
        self.read_timeout = timeout;
        self.channel.stream().set_idle(timeout);
    }

    pub(crate) fn read_timeout(&self) -> Duration {
        self.read_timeout
    }

    /// Notes that the connection is of no more use, unless the error is the server's own.
    pub(crate) fn judged<T>(&mut self, result: Result<T>) -> Result<T> {
        if let Err(e) = &result
            && e.code() == 0
        {
            self.broken = true;
        }
        result
    }

    pub(crate) fn send(&mut self, code: u8, fill: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        if self.broken {
            return Err(Error::Protocol("an answer that was not read to its end"));
        }
        let sent = self.channel.command(code, fill);
        self.judged(sent)
    }

    /// The OK or ERR packet that answers a command.
    pub(crate) fn read_ok(&mut self) -> Result<Done> {
        let result = self.channel.read().and_then(|p| match p.split_first() {
            Some((0x00, rest)) => done(rest),
            Some((0xFF, rest)) => Err(server_error(rest)),
            _ => Err(Error::Protocol("neither OK nor an error")),
        });
        self.judged(result)
    }

    fn answer(&mut self) -> Result<Answer> {
        let payload = self.channel.read()?;
        let count = match payload.split_first() {
            Some((0x00, rest)) => return done(rest).map(Answer::Done),
            Some((0xFF, rest)) => return Err(server_error(rest)),
            Some((0xFB, _)) => return Err(Error::Protocol("it asks for a file of the client's")),
            _ => Cursor::new(payload).lenenc()?,
        };
        columns(&mut self.channel, count).map(Answer::Rows)
    }

    /// Runs a statement and gives its rows one by one; a statement without rows gives none.
    ///
    /// # Errors
    /// [`Error::Server`] if the statement failed, and all others.
    pub fn rows(&mut self, sql: &str) -> Result<Rows<'_>> {
        self.send(command::QUERY, |p| p.extend_from_slice(sql.as_bytes()))?;
        let answer = self.answer();
        match self.judged(answer)? {
            Answer::Done(done) => Ok(Rows::none(self, done)),
            Answer::Rows(columns) => Ok(Rows::some(self, columns)),
        }
    }

    /// Runs a statement and gathers its rows.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub fn query(&mut self, sql: &str) -> Result<ResultSet> {
        self.rows(sql)?.gather()
    }

    /// Runs a statement, of whose rows nothing is kept.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub fn execute(&mut self, sql: &str) -> Result<Done> {
        let mut rows = self.rows(sql)?;
        while rows.next()?.is_some() {}
        Ok(rows.done())
    }

    /// The value in the first column of the first row; `None` for NULL or no row.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub fn value(&mut self, sql: &str) -> Result<Option<String>> {
        Ok(self.query(sql)?.text(0, 0))
    }

    /// Asks the server whether it is there.
    ///
    /// # Errors
    /// All kinds.
    pub fn ping(&mut self) -> Result<()> {
        self.send(command::PING, |_| {})?;
        self.read_ok().map(|_| ())
    }

    /// Says goodbye and closes. Dropping a connection closes it too, without a word.
    pub fn quit(mut self) {
        if !self.broken {
            let _ = self.channel.command(command::QUIT, |_| {});
        }
        self.channel.stream().goodbye();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn errors_with_and_without_a_state() {
        let e = server_error(b"\x15\x04#28000Access denied");
        assert_eq!(e.to_string(), "error 1045 (28000): Access denied");
        let e = server_error(b"\x10\x04Too many");
        assert_eq!(e.to_string(), "error 1040 (HY000): Too many");
        assert!(matches!(server_error(b"\x10"), Error::Protocol(_)));
    }

    proptest! {
        #[test]
        fn hostile_answers_never_panic(p in prop::collection::vec(any::<u8>(), 0..60)) {
            let _ = server_error(&p);
            let _ = done(&p);
        }
    }
}
