//! A connected socket, TCP or Unix.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long a write sleeps before it looks whether it should go on.
pub(crate) const STEP: Duration = Duration::from_millis(100);

/// A write was ended by KILL QUERY or `max_statement_time`. What it has not sent is kept, so that the packets stay whole:
/// the statement's error goes out behind it.
#[derive(Debug, thiserror::Error)]
#[error("the statement was ended while its result was being sent")]
pub struct Stopped;

/// True for [`Stopped`].
pub fn is_stopped(e: &io::Error) -> bool {
    e.get_ref().is_some_and(|e| e.is::<Stopped>())
}

/// A connected socket. Shared by the connection's thread and by those who may end it.
#[derive(Debug)]
pub enum Socket {
    /// TCP.
    Tcp(TcpStream),
    /// Unix domain.
    Unix(UnixStream),
}

impl Socket {
    /// Shuts down one or both directions; a blocked read returns. Errors (already closed) don't matter.
    pub fn shutdown(&self, how: Shutdown) {
        let _ = match self {
            Socket::Tcp(s) => s.shutdown(how),
            Socket::Unix(s) => s.shutdown(how),
        };
    }

    /// The descriptor.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Socket::Tcp(s) => s.as_fd(),
            Socket::Unix(s) => s.as_fd(),
        }
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Socket::Tcp(s) => (&mut &*s).write(bytes),
            Socket::Unix(s) => (&mut &*s).write(bytes),
        }
    }

    /// Writes some of `bytes`. A peer that takes nothing for `patience` (zero: for ever) is [`io::ErrorKind::TimedOut`].
    /// While it waits, `stop` is asked every [`STEP`]: its error ends the wait.
    pub(crate) fn write_some(
        &self,
        bytes: &[u8],
        patience: Duration,
        stop: impl Fn() -> io::Result<()>,
    ) -> io::Result<usize> {
        let mut since = None;
        loop {
            match self.write(bytes) {
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    stop()?;
                    // The socket has waited for a step already.
                    let since = *since.get_or_insert_with(|| Instant::now() - STEP);
                    if !patience.is_zero() && since.elapsed() >= patience {
                        return Err(io::ErrorKind::TimedOut.into());
                    }
                }
                done => return done,
            }
        }
    }

    /// Writes all of `bytes` to a peer that takes nothing for no longer than `patience`.
    pub(crate) fn write_all(&self, mut bytes: &[u8], patience: Duration) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write_some(bytes, patience, || Ok(())) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => bytes = &bytes[n..],
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    pub(crate) fn set_read_timeout(&self, t: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Tcp(s) => s.set_read_timeout(t),
            Socket::Unix(s) => s.set_read_timeout(t),
        }
    }

    pub(crate) fn set_write_timeout(&self, t: Option<Duration>) -> io::Result<()> {
        match self {
            Socket::Tcp(s) => s.set_write_timeout(t),
            Socket::Unix(s) => s.set_write_timeout(t),
        }
    }
}
