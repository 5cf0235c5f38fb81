//! What a dump needs of its connection.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ready {
    /// The client has sent something, or has gone.
    pub readable: bool,
    /// The wake-up descriptor was written to.
    pub woken: bool,
}

/// Packets to and from one reader. An error means that the connection is of no more use.
pub trait DumpIo {
    /// Appends one packet, made of `parts`, with the next sequence number; it is sent when enough has gathered or by
    /// [`flush`](Self::flush).
    ///
    /// # Errors
    /// The connection is lost.
    fn write(&mut self, parts: &[&[u8]]) -> io::Result<()>;

    /// Sends what has gathered.
    ///
    /// # Errors
    /// The connection is lost.
    fn flush(&mut self) -> io::Result<()>;

    /// The next packet gets sequence number 1: what follows an event that asks for an acknowledgement.
    fn reset_sequence(&mut self);

    /// Sleeps until the client has sent something, `wake` becomes readable or `timeout` (`None`: for ever) has passed.
    ///
    /// # Errors
    /// The connection is lost.
    fn wait(&mut self, wake: BorrowedFd<'_>, timeout: Option<Duration>) -> io::Result<Ready>;

    /// Takes one packet of the client's into `buf`, if all of it has arrived by the last [`wait`](Self::wait); never waits
    /// for the rest of one. Its sequence number does not change that of the next packet sent.
    ///
    /// # Errors
    /// The connection is lost, or was closed by the client ([`io::ErrorKind::UnexpectedEof`]).
    fn read_packet(&mut self, buf: &mut Vec<u8>) -> io::Result<bool>;
}
