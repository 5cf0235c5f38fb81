//! A connection: logging in, sending commands, closing.

use crate::channel::{Channel, server_error};
use crate::login::{Greeting, log_in};
use crate::options::Options;
use crate::socket::{Hangup, Socket, Stream};
use crate::{Error, Result};
use narwal_wire::codec::Cursor;
use narwal_wire::protocol::command;
use std::time::{Duration, Instant};

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

pub(crate) fn done(payload: &[u8]) -> Result<Done> {
    let mut c = Cursor::new(payload);
    let (affected, insert_id) = (c.lenenc()?, c.lenenc()?);
    let _status = c.u16()?;
    Ok(Done {
        affected,
        insert_id,
        warnings: c.u16()?,
    })
}

/// A connection that is logged in.
///
/// After an error other than [`Error::Server`], and after a [`crate::Rows`] that was dropped before its end, every further call
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
