//! The byte stream to a server: TCP or Unix socket, in clear or in TLS, with its timeouts.

use crate::options::{Address, Options};
use crate::{Error, Result};
use narwal_wire::packet::PacketSource;
use rustix::event::{PollFd, PollFlags, Timespec};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A connected socket.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    pub(crate) fn connect(options: &Options, deadline: Instant) -> Result<Self> {
        let named = |e: io::Error| {
            Error::Io(io::Error::new(
                e.kind(),
                format!("{}: {e}", options.address),
            ))
        };
        let socket = match &options.address {
            Address::Tcp(host, port) => {
                let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
                let mut found = None;
                for address in (host.as_str(), *port).to_socket_addrs().map_err(named)? {
                    let left = deadline.saturating_duration_since(Instant::now());
                    match TcpStream::connect_timeout(&address, left.max(Duration::from_millis(1))) {
                        Ok(s) => {
                            found = Some(s);
                            break;
                        }
                        Err(e) => last = e,
                    }
                }
                let s = found.ok_or_else(|| named(last))?;
                s.set_nodelay(true)?;
                let keep = socket2::TcpKeepalive::new().with_time(Duration::from_secs(60));
                socket2::SockRef::from(&s).set_tcp_keepalive(&keep)?;
                Socket::Tcp(s)
            }
            Address::Unix(path) => Socket::Unix(UnixStream::connect(path).map_err(named)?),
        };
        socket.set_write_timeout(options.write_timeout)?;
        Ok(socket)
    }

    fn set_read_timeout(&self, t: Duration) -> io::Result<()> {
        let t = Some(t.max(Duration::from_millis(1)));
        match self {
            Socket::Tcp(s) => s.set_read_timeout(t),
            Socket::Unix(s) => s.set_read_timeout(t),
        }
    }

    fn set_write_timeout(&self, t: Duration) -> io::Result<()> {
        let t = (!t.is_zero()).then_some(t);
        match self {
            Socket::Tcp(s) => s.set_write_timeout(t),
            Socket::Unix(s) => s.set_write_timeout(t),
        }
    }
}

/// Ends a connection from another thread: a blocked read or write returns with an error.
#[derive(Debug, Clone)]
pub struct Hangup(Arc<Socket>);

impl Hangup {
    /// Ends it.
    pub fn hang_up(&self) {
        let _ = match &*self.0 {
            Socket::Tcp(s) => s.shutdown(Shutdown::Both),
            Socket::Unix(s) => s.shutdown(Shutdown::Both),
        };
    }
}

/// The socket with its timeouts.
#[derive(Debug)]
pub(crate) struct Wire {
    socket: Arc<Socket>,
    /// What the socket has now.
    timeout: Duration,
    /// How long a read may wait for a packet, and inside one.
    idle: Duration,
    inside: Duration,
    is_inside: bool,
    deadline: Option<Instant>,
}

impl Read for Wire {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let timeout = match self.deadline {
            Some(d) => {
                let left = d.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                left
            }
            None if self.is_inside => self.inside,
            None => self.idle,
        };
        if timeout != self.timeout {
            self.socket.set_read_timeout(timeout)?;
            self.timeout = timeout;
        }
        match &*self.socket {
            Socket::Tcp(s) => (&mut &*s).read(buf),
            Socket::Unix(s) => (&mut &*s).read(buf),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match &*self.socket {
            Socket::Tcp(s) => (&mut &*s).write(buf),
            Socket::Unix(s) => (&mut &*s).write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The byte stream.
#[derive(Debug)]
pub(crate) enum Stream {
    Clear(Wire),
    Tls(Box<rustls::StreamOwned<rustls::ClientConnection, Wire>>),
    /// Only for the moment in which a stream changes from clear to TLS.
    Gone,
}

impl Stream {
    /// Until [`logged_in`](Self::logged_in), all reads together end at `deadline`.
    pub(crate) fn new(socket: Socket, options: &Options, deadline: Instant) -> Self {
        Stream::Clear(Wire {
            socket: Arc::new(socket),
            timeout: Duration::MAX,
            idle: options.read_timeout,
            inside: options.read_timeout,
            is_inside: false,
            deadline: Some(deadline),
        })
    }

    fn wire(&mut self) -> Option<&mut Wire> {
        match self {
            Stream::Clear(w) => Some(w),
            Stream::Tls(t) => Some(&mut t.sock),
            Stream::Gone => None,
        }
    }

    pub(crate) fn start_tls(
        &mut self,
        config: Arc<rustls::ClientConfig>,
        name: rustls_pki_types::ServerName<'static>,
    ) -> Result<()> {
        let Stream::Clear(wire) = std::mem::replace(self, Stream::Gone) else {
            return Err(Error::Tls("begun twice".into()));
        };
        let tls =
            rustls::ClientConnection::new(config, name).map_err(|e| Error::Tls(e.to_string()))?;
        let mut stream = rustls::StreamOwned::new(tls, wire);
        while stream.conn.is_handshaking() {
            stream
                .conn
                .complete_io(&mut stream.sock)
                .map_err(|e| match e.kind() {
                    io::ErrorKind::InvalidData => Error::Tls(e.to_string()),
                    _ => Error::Io(e),
                })?;
        }
        *self = Stream::Tls(Box::new(stream));
        Ok(())
    }

    pub(crate) fn is_tls(&self) -> bool {
        matches!(self, Stream::Tls(_))
    }

    pub(crate) fn is_unix(&mut self) -> bool {
        self.wire()
            .is_some_and(|w| matches!(*w.socket, Socket::Unix(_)))
    }

    pub(crate) fn logged_in(&mut self) {
        if let Some(w) = self.wire() {
            w.deadline = None;
        }
    }

    /// How long a read waits for a packet to begin.
    pub(crate) fn set_idle(&mut self, idle: Duration) {
        if let Some(w) = self.wire() {
            w.idle = idle;
        }
    }

    /// A new packet is to be read.
    pub(crate) fn between_packets(&mut self) {
        if let Some(w) = self.wire() {
            w.is_inside = false;
        }
    }

    pub(crate) fn hangup(&mut self) -> Option<Hangup> {
        self.wire().map(|w| Hangup(w.socket.clone()))
    }

    /// Bytes can be read, or the stream has ended; false if `wake` came first, or nothing for `wait`.
    pub(crate) fn wait(&mut self, wake: BorrowedFd<'_>, wait: Duration) -> io::Result<bool> {
        if let Stream::Tls(t) = self {
            let state = t
                .conn
                .process_new_packets()
                .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e))?;
            if state.plaintext_bytes_to_read() > 0 {
                return Ok(true);
            }
        }
        let Some(wire) = self.wire() else {
            return Ok(true);
        };
        let socket = match &*wire.socket {
            Socket::Tcp(s) => s.as_fd(),
            Socket::Unix(s) => s.as_fd(),
        };
        let mut fds = [
            PollFd::from_borrowed_fd(socket, PollFlags::IN),
            PollFd::from_borrowed_fd(wake, PollFlags::IN),
        ];
        let wait = Timespec {
            tv_sec: i64::try_from(wait.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: wait.subsec_nanos().into(),
        };
        match rustix::event::poll(&mut fds, Some(&wait)) {
            Ok(_) => Ok(!fds[0].revents().is_empty()),
            Err(rustix::io::Errno::INTR) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }

    /// Says goodbye where that is part of TLS.
    pub(crate) fn goodbye(&mut self) {
        if let Stream::Tls(t) = self {
            t.conn.send_close_notify();
            let _ = t.flush();
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Clear(w) => w.read(buf),
            Stream::Tls(t) => t.read(buf),
            Stream::Gone => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Clear(w) => w.write(buf),
            Stream::Tls(t) => t.write(buf),
            Stream::Gone => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Tls(t) => t.flush(),
            Stream::Clear(_) | Stream::Gone => Ok(()),
        }
    }
}

impl PacketSource for Stream {
    fn inside_packet(&mut self) -> io::Result<()> {
        if let Some(w) = self.wire() {
            w.is_inside = true;
        }
        Ok(())
    }
}
