//! A client's connection as a byte stream: TCP or Unix socket, in clear or in TLS, with its timeouts.

use crate::kill::KillHandle;
use crate::late::Late;
use crate::packet::PacketSource;
use crate::peer_certificate::{self, TlsFacts};
use crate::processors::Pair;
use crate::socket::{STEP, Socket, Stopped, is_stopped};
use crate::zip::Zipped;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::cell::Cell;
use std::io::{self, Read, Write};
use std::net::Shutdown;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long a connection that was killed may still send.
const LAST_WORD: Duration = Duration::from_millis(200);

/// The socket with its read timeout: a deadline for the whole handshake, then idle and in-packet timeouts.
#[derive(Debug)]
pub struct Wire {
    socket: Arc<Socket>,
    /// Bytes that were read too far before TLS began.
    prefix: Vec<u8>,
    prefix_pos: usize,
    deadline: Option<Instant>,
    read_timeout: Duration,
    write_timeout: Duration,
    /// A write has failed: TLS tries once more before it says so.
    failed: Option<io::ErrorKind>,
    /// Set when the running statement is to end.
    interrupt: Option<Arc<AtomicBool>>,
    /// That ends writes: they are those of the statement, not of its last word.
    interruptible: bool,
    kill: Arc<KillHandle>,
    /// A write has found the connection killed.
    killed_at: Cell<Option<Instant>>,
    /// What others send on this socket comes first.
    late: Option<Arc<Late>>,
}

impl Wire {
    fn apply_deadline(&self) -> io::Result<()> {
        if let Some(d) = self.deadline {
            let left = d.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.socket.set_read_timeout(Some(left))?;
        }
        Ok(())
    }

    /// Whether a write may go on.
    #[inline]
    fn check_stop(&self) -> io::Result<()> {
        if self.interruptible
            && (self.interrupt.as_ref()).is_some_and(|i| i.load(Ordering::Relaxed))
        {
            return Err(io::Error::other(Stopped));
        }
        if self.kill.connection_killed() {
            // There is time for its last word, not for a client that does not read it.
            let now = Instant::now();
            let since = self.killed_at.get().unwrap_or(now);
            self.killed_at.set(Some(since));
            if now - since >= LAST_WORD {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
        }
        Ok(())
    }
}

impl Read for Wire {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.prefix_pos < self.prefix.len() {
            let n = (&self.prefix[self.prefix_pos..]).read(buf)?;
            self.prefix_pos += n;
            if self.prefix_pos == self.prefix.len() {
                self.prefix = Vec::new();
                self.prefix_pos = 0;
            }
            return Ok(n);
        }
        self.apply_deadline()?;
        match &*self.socket {
            Socket::Tcp(s) => (&mut &*s).read(buf),
            Socket::Unix(s) => (&mut &*s).read(buf),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        if let Some(l) = &self.late {
            l.wait_sent();
        }
        if let Some(kind) = self.failed {
            return Err(kind.into());
        }
        self.check_stop()?;
        let sent = (self.socket).write_some(buf, self.write_timeout, || self.check_stop());
        if let Err(e) = &sent
            && e.kind() != io::ErrorKind::Interrupted
            && !is_stopped(e)
        {
            self.failed = Some(e.kind());
        }
        sent
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The byte stream of a connection.
#[derive(Debug)]
pub enum Stream {
    /// As the socket has it.
    Clear(Wire),
    /// Through TLS.
    Tls(Box<rustls::StreamOwned<rustls::ServerConnection, Wire>>),
    /// Compressed, over one of the others.
    Zipped(Box<Zipped<Stream>>),
    /// Only for the moment in which a stream changes its kind.
    Gone,
}

impl Stream {
    /// A stream in clear. Until [`Stream::authenticated`], all reads together end at `deadline`.
    pub fn new(
        socket: Arc<Socket>,
        deadline: Instant,
        write_timeout: Duration,
        kill: Arc<KillHandle>,
    ) -> io::Result<Self> {
        socket.set_write_timeout(Some(STEP))?;
        Ok(Stream::Clear(Wire {
            socket,
            prefix: Vec::new(),
            prefix_pos: 0,
            deadline: Some(deadline),
            read_timeout: Duration::ZERO,
            write_timeout,
            failed: None,
            interrupt: None,
            interruptible: false,
            kill,
            killed_at: Cell::new(None),
            late: None,
        }))
    }

    /// A place for answers that another thread sends; `None` if this stream's bytes are not the packets' own (TLS).
    pub(crate) fn answer_late(&mut self, pair: Option<Pair>) -> Option<Arc<Late>> {
        let Stream::Clear(w) = self else { return None };
        let socket = &w.socket;
        Some(
            (w.late)
                .get_or_insert_with(|| Late::new(socket.clone(), pair))
                .clone(),
        )
    }

    fn wire(&mut self) -> Option<&mut Wire> {
        match self {
            Stream::Clear(w) => Some(w),
            Stream::Tls(t) => Some(&mut t.sock),
            Stream::Zipped(z) => z.under.wire(),
            Stream::Gone => None,
        }
    }

    /// Goes on in TLS; `rest` are bytes that were already read beyond the SSL request. Handshakes at once.
    pub fn start_tls(
        &mut self,
        config: Arc<rustls::ServerConfig>,
        rest: Vec<u8>,
    ) -> io::Result<()> {
        let Stream::Clear(mut wire) = std::mem::replace(self, Stream::Gone) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        wire.prefix = rest;
        let mut tls = rustls::ServerConnection::new(config).map_err(io::Error::other)?;
        tls.set_buffer_limit(Some(256 * 1024));
        let mut stream = rustls::StreamOwned::new(tls, wire);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        *self = Stream::Tls(Box::new(stream));
        Ok(())
    }

    /// Goes on compressed.
    pub fn start_zip(&mut self) {
        let under = std::mem::replace(self, Stream::Gone);
        *self = Stream::Zipped(Box::new(Zipped::new(under)));
    }

    /// OpenSSL's name of the TLS cipher suite in use, if TLS is.
    pub fn tls_cipher(&self) -> Option<String> {
        match self {
            Stream::Tls(t) => t
                .conn
                .negotiated_cipher_suite()
                .map(|s| peer_certificate::cipher_name(&format!("{:?}", s.suite()))),
            _ => None,
        }
    }

    /// TLS protocol version in MySQL's spelling, if TLS is in use.
    pub fn tls_version(&self) -> Option<&'static str> {
        match self {
            Stream::Tls(t) => match t.conn.protocol_version() {
                Some(rustls::ProtocolVersion::TLSv1_3) => Some("TLSv1.3"),
                Some(rustls::ProtocolVersion::TLSv1_2) => Some("TLSv1.2"),
                _ => None,
            },
            _ => None,
        }
    }

    /// What the connection has to show for an account that asks for TLS. A certificate that is there has been verified:
    /// the handshake fails with any other.
    pub(crate) fn tls_facts(&self) -> TlsFacts {
        let certificate = match self {
            Stream::Tls(t) => t.conn.peer_certificates().and_then(<[_]>::first),
            _ => None,
        };
        TlsFacts {
            cipher: self.tls_cipher(),
            names: certificate.and_then(|c| peer_certificate::names(c)),
        }
    }

    /// Shuts the socket down.
    pub(crate) fn hang_up(&mut self) {
        if let Some(w) = self.wire() {
            w.socket.shutdown(Shutdown::Both);
        }
    }

    /// Ends the handshake's deadline.
    pub fn authenticated(&mut self) {
        if let Some(w) = self.wire() {
            w.deadline = None;
            w.read_timeout = Duration::ZERO;
            // The deadline left a timeout behind; the next set_timeouts replaces it.
            let _ = w.socket.set_read_timeout(None);
        }
    }

    /// Sets how long a read waits (zero: for ever) and a write may stall. A system call only on change.
    #[inline]
    pub fn set_timeouts(&mut self, read: Duration, write: Duration) -> io::Result<()> {
        let Some(w) = self.wire() else { return Ok(()) };
        if w.read_timeout != read {
            w.socket.set_read_timeout(nonzero(read))?;
            w.read_timeout = read;
        }
        w.write_timeout = write;
        Ok(())
    }

    /// Sets the flag that ends a statement.
    pub(crate) fn set_interrupt(&mut self, flag: Option<Arc<AtomicBool>>) {
        if let Some(w) = self.wire() {
            w.interrupt = flag;
        }
    }

    /// Says whether that flag ends writes too ([`Stopped`]): those of a statement's result, not of its error.
    #[inline]
    pub(crate) fn set_interruptible(&mut self, on: bool) {
        if let Some(w) = self.wire() {
            w.interruptible = on;
        }
    }

    /// Sleeps until the client has sent something (or has gone), `wake` is readable, or `timeout` (`None`: for ever)
    /// has passed. Which of the two it was; neither after a time-out or a signal.
    pub fn wait(
        &mut self,
        wake: BorrowedFd<'_>,
        timeout: Option<Duration>,
    ) -> io::Result<(bool, bool)> {
        if let Stream::Zipped(z) = self {
            return if z.has_rest() {
                Ok((true, false))
            } else {
                z.under.wait(wake, timeout)
            };
        }
        // What TLS has read ahead is not seen by poll.
        if let Stream::Tls(t) = self
            && t.conn
                .process_new_packets()
                .map_err(io::Error::other)?
                .plaintext_bytes_to_read()
                > 0
        {
            return Ok((true, false));
        }
        let Some(w) = self.wire() else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        if w.prefix_pos < w.prefix.len() {
            return Ok((true, false));
        }
        let timeout = timeout.map(|t| Timespec {
            tv_sec: i64::try_from(t.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(t.subsec_nanos()),
        });
        let mut fds = [
            PollFd::from_borrowed_fd(w.socket.fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(wake, PollFlags::IN),
        ];
        match poll(&mut fds, timeout.as_ref()) {
            // An error or a hang-up is found by the read that follows.
            Ok(_) => Ok((!fds[0].revents().is_empty(), !fds[1].revents().is_empty())),
            Err(rustix::io::Errno::INTR) => Ok((false, false)),
            Err(e) => Err(e.into()),
        }
    }

    /// Says goodbye where that is part of the protocol: TLS clients take a bare end for an attack.
    pub fn goodbye(&mut self) {
        if let Stream::Zipped(z) = self {
            return z.under.goodbye();
        }
        if let Stream::Tls(t) = self {
            t.conn.send_close_notify();
            let _ = t.flush();
        }
    }

    /// Lets the client read what was sent last although it may still be writing: closing now would throw that away.
    /// Reads and forgets at most `bytes` and for at most `patience`.
    pub fn drain(&mut self, mut bytes: usize, patience: Duration) {
        let Some(w) = self.wire() else { return };
        w.socket.shutdown(Shutdown::Write);
        w.deadline = Some(Instant::now() + patience);
        let mut buf = [0; 8192];
        while bytes > 0 {
            match w.read(&mut buf) {
                Ok(n) if n > 0 => bytes = bytes.saturating_sub(n),
                _ => return,
            }
        }
    }

    /// True while the handshake's deadline holds.
    pub fn has_deadline(&mut self) -> bool {
        self.wire().is_some_and(|w| w.deadline.is_some())
    }
}

fn nonzero(t: Duration) -> Option<Duration> {
    (!t.is_zero()).then_some(t)
}

impl Read for Stream {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Clear(w) => w.read(buf),
            Stream::Tls(t) => t.read(buf),
            Stream::Zipped(z) => z.read(buf),
            Stream::Gone => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

impl Write for Stream {
    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Clear(w) => w.write(buf),
            Stream::Tls(t) => t.write(buf),
            Stream::Zipped(z) => z.write(buf),
            Stream::Gone => Err(io::ErrorKind::NotConnected.into()),
        }
    }
    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Clear(_) => Ok(()),
            Stream::Tls(t) => t.flush(),
            Stream::Zipped(z) => z.flush(),
            Stream::Gone => Ok(()),
        }
    }
}

/// A stream together with the timeout that holds inside a packet.
#[derive(Debug)]
pub struct Timed<'a> {
    /// The stream.
    pub stream: &'a mut Stream,
    /// How long a read may stall inside a packet (`net_read_timeout`); zero: for ever.
    pub inside: Duration,
}

impl Read for Timed<'_> {
    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buf)
    }
}

impl PacketSource for Timed<'_> {
    fn inside_packet(&mut self) -> io::Result<()> {
        if self.stream.has_deadline() {
            return Ok(());
        }
        let inside = self.inside;
        match self.stream.wire() {
            Some(w) if w.read_timeout != inside => {
                w.socket.set_read_timeout(nonzero(inside))?;
                w.read_timeout = inside;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
