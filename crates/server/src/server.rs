//! Listening sockets, a thread for each connection, and the end of it all.

use crate::auth::rsa_key::RsaKey;
use crate::auth::sha2;
use crate::backend::{Backend, Peer};
use crate::channel::Ended;
use crate::connection;
use crate::kill::KillHandle;
use crate::parked::Parked;
use crate::processors::Processors;
use crate::shared::Shared;
use crate::socket::Socket;
use crate::tls::{self, TlsFiles};
use crate::watch;
use narwal_types::errors;
use narwal_types::face::{self, Face};
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

/// Where to listen, and with what.
#[derive(Debug, Clone)]
pub struct ServerConfig {
    /// TCP addresses, and the face that their clients meet; port 0 takes a free one.
    pub addresses: Vec<(SocketAddr, Face)>,
    /// Paths of Unix sockets, likewise.
    pub sockets: Vec<(PathBuf, Face)>,
    /// Folder of the TLS certificate and the RSA key, which are made there when missing.
    pub key_dir: PathBuf,
    /// Certificates, keys and versions.
    pub tls_files: TlsFiles,
    /// Offer TLS.
    pub tls: bool,
    /// Stack of a connection's thread, in bytes: room for the deepest expression that the parser takes. Only what is used
    /// takes memory.
    pub thread_stack: usize,
    /// While all processors are busy, a connection's thread runs on the one that its client runs on, if both are on this
    /// machine. Takes a thread for each processor.
    pub client_affinity: bool,
}

impl ServerConfig {
    /// Nothing to listen on yet; TLS with the certificate in `key_dir`.
    pub fn new(key_dir: impl Into<PathBuf>) -> Self {
        ServerConfig {
            addresses: Vec::new(),
            sockets: Vec::new(),
            key_dir: key_dir.into(),
            tls_files: TlsFiles::default(),
            tls: true,
            thread_stack: narwal_memory::STATEMENT_STACK,
            client_affinity: true,
        }
    }
}

/// A running server. Dropping it stops it.
pub struct Server {
    shared: Arc<Shared>,
    /// Looks for clients that have gone.
    watch: Option<JoinHandle<()>>,
    acceptors: Vec<JoinHandle<()>>,
    listeners: Vec<Listener>,
    addresses: Vec<SocketAddr>,
    sockets: Vec<PathBuf>,
}

#[derive(Clone)]
struct Listener {
    door: Door,
    /// What who comes in here meets.
    face: Face,
}

#[derive(Clone)]
enum Door {
    Tcp(Arc<TcpListener>),
    Unix(Arc<UnixListener>),
}

impl Door {
    fn accept(&self) -> io::Result<(Socket, Peer)> {
        match self {
            Door::Tcp(l) => {
                let (s, addr) = l.accept()?;
                s.set_nodelay(true)?;
                socket2::SockRef::from(&s).set_keepalive(true)?;
                let ip = match addr.ip() {
                    IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(IpAddr::V6(v6), IpAddr::V4),
                    v4 => v4,
                };
                let host = if ip.is_loopback() {
                    "localhost".to_owned()
                } else {
                    ip.to_string()
                };
                let peer = Peer {
                    host,
                    ip: Some(ip.to_string()),
                    port: addr.port(),
                };
                Ok((Socket::Tcp(s), peer))
            }
            Door::Unix(l) => {
                let (s, _) = l.accept()?;
                let peer = Peer {
                    host: "localhost".to_owned(),
                    ip: None,
                    port: 0,
                };
                Ok((Socket::Unix(s), peer))
            }
        }
    }

    /// Makes a blocked or later `accept` return an error.
    fn close(&self) {
        let _ = match self {
            Door::Tcp(l) => socket2::SockRef::from(&**l).shutdown(std::net::Shutdown::Both),
            Door::Unix(l) => socket2::SockRef::from(&**l).shutdown(std::net::Shutdown::Both),
        };
    }
}

fn named(what: &dyn std::fmt::Display, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("{what}: {e}"))
}

fn listen_unix(path: &Path) -> io::Result<UnixListener> {
    if let Ok(meta) = std::fs::symlink_metadata(path) {
        if !meta.file_type().is_socket() {
            return Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "exists and is not a socket",
            ));
        }
        if UnixStream::connect(path).is_ok() {
            return Err(io::Error::new(
                io::ErrorKind::AddrInUse,
                "another server listens there",
            ));
        }
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    // Accounts decide who may come in, as over TCP.
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777))?;
    Ok(listener)
}

fn listen_tcp(address: SocketAddr) -> io::Result<TcpListener> {
    let domain = socket2::Domain::for_address(address);
    let s = socket2::Socket::new(domain, socket2::Type::STREAM, Some(socket2::Protocol::TCP))?;
    s.set_reuse_address(true)?;
    if address.is_ipv6() {
        // `::` serves IPv4 as well, as MariaDB does.
        s.set_only_v6(false)?;
    }
    s.bind(&address.into())?;
    s.listen(1024)?;
    Ok(s.into())
}

impl Server {
    /// Listens and serves until [`Server::stop`]. Returns once clients can connect.
    ///
    /// # Errors
    /// An address or the socket is not available; the certificate can't be read or written.
    pub fn start(config: &ServerConfig, backend: Arc<dyn Backend>) -> io::Result<Self> {
        let tls = if config.tls {
            let (cert, key) = match &config.tls_files.own {
                Some(files) => files.clone(),
                None => {
                    tls::ensure_certificate(&config.key_dir)?;
                    (
                        config.key_dir.join(tls::CERT_FILE),
                        config.key_dir.join(tls::KEY_FILE),
                    )
                }
            };
            Some(tls::load(&cert, &key, &config.tls_files)?)
        } else {
            None
        };
        let shared = Arc::new(Shared {
            backend,
            tls,
            sha2: sha2::Cache::default(),
            rsa: RsaKey::new(&config.key_dir),
            parked: Parked::default(),
            connections: Mutex::new(HashMap::new()),
            ended: Condvar::new(),
            next_id: AtomicU32::new(1),
            stopping: AtomicBool::new(false),
            thread_stack: config.thread_stack,
            processors: config.client_affinity.then(Processors::new).flatten(),
        });
        let watch = watch::start(shared.clone())?;
        let mut server = Server {
            shared,
            watch: Some(watch),
            acceptors: Vec::new(),
            listeners: Vec::new(),
            addresses: Vec::new(),
            sockets: Vec::new(),
        };
        for (address, face) in &config.addresses {
            let listener = listen_tcp(*address).map_err(|e| named(address, &e))?;
            server.addresses.push(listener.local_addr()?);
            let (door, face) = (Door::Tcp(Arc::new(listener)), *face);
            server.listeners.push(Listener { door, face });
        }
        for (path, face) in &config.sockets {
            let listener = listen_unix(path).map_err(|e| named(&path.display(), &e))?;
            server.sockets.push(path.clone());
            let (door, face) = (Door::Unix(Arc::new(listener)), *face);
            server.listeners.push(Listener { door, face });
        }
        for listener in server.listeners.clone() {
            let shared = server.shared.clone();
            let acceptor = Builder::new()
                .name("accept".to_owned())
                .spawn(move || accept_loop(&shared, &listener))?;
            server.acceptors.push(acceptor);
        }
        Ok(server)
    }

    /// The TCP addresses it listens on, in the order of the configuration, with the ports really taken.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Number of connections now.
    pub fn connections(&self) -> usize {
        self.shared.connections.lock().len()
    }

    /// The handle of a connection, for KILL.
    pub fn connection(&self, id: u32) -> Option<Arc<KillHandle>> {
        self.shared.connections.lock().get(&id).cloned()
    }

    /// Stops accepting, kills all connections and waits until they have ended, at most `patience`. Returns how many
    /// have not; their threads are left alone.
    pub fn stop(&mut self, patience: Duration) -> usize {
        self.shared.stopping.store(true, Ordering::SeqCst);
        for l in self.listeners.drain(..) {
            l.door.close();
        }
        for a in self.acceptors.drain(..) {
            let _ = a.join();
        }
        if let Some(w) = self.watch.take() {
            w.thread().unpark();
            let _ = w.join();
        }
        for path in self.sockets.drain(..) {
            let _ = std::fs::remove_file(path);
        }
        let deadline = Instant::now() + patience;
        let cut_at = Instant::now() + patience / 2;
        for kill in self.shared.handles(|_| true) {
            kill.kill_connection();
        }
        if self.wait_until(cut_at) {
            return 0;
        }
        // What still runs may be stuck in a write to a client that does not read.
        for kill in self.shared.handles(|_| true) {
            kill.cut();
        }
        self.wait_until(deadline);
        self.connections()
    }

    fn wait_until(&self, deadline: Instant) -> bool {
        let mut connections = self.shared.connections.lock();
        while !connections.is_empty() {
            if self
                .shared
                .ended
                .wait_until(&mut connections, deadline)
                .timed_out()
            {
                return connections.is_empty();
            }
        }
        true
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop(Duration::from_secs(5));
    }
}

fn accept_loop(shared: &Arc<Shared>, listener: &Listener) {
    face::set_of_thread(listener.face);
    while !shared.stopping.load(Ordering::SeqCst) {
        match listener.door.accept() {
            Ok((socket, peer)) => admit(shared, socket, peer),
            Err(_) if shared.stopping.load(Ordering::SeqCst) => break,
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::ConnectionAborted | io::ErrorKind::Interrupted
                ) => {}
            Err(e) => {
                // Out of file descriptors, most likely: wait for some to come back instead of spinning.
                tracing::warn!(error = %e, "can't accept a connection");
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    }
}

fn admit(shared: &Arc<Shared>, socket: Socket, peer: Peer) {
    let limits = shared.backend.limits();
    let socket = Arc::new(socket);
    let kill = {
        let mut connections = shared.connections.lock();
        if connections.len() >= limits.max_connections {
            drop(connections);
            connection::turn_away(&socket, &errors::CON_COUNT_ERROR.plain());
            shared.backend.aborted_connect();
            return;
        }
        let id = loop {
            let id = shared.next_id.fetch_add(1, Ordering::Relaxed);
            if id != 0 && !connections.contains_key(&id) {
                break id;
            }
        };
        let kill = KillHandle::new(id, Some(socket.clone()));
        connections.insert(id, kill.clone());
        kill
    };
    let id = kill.id();
    let face = face::current();
    let for_thread = (shared.clone(), socket.clone());
    let spawned = Builder::new()
        .name(format!("conn-{id}"))
        .stack_size(shared.thread_stack)
        .spawn(move || {
            face::set_of_thread(face);
            let (shared, socket) = for_thread;
            let registered = Registered {
                shared: &shared,
                id,
            };
            let served = catch_unwind(AssertUnwindSafe(|| {
                connection::serve(&shared, socket.clone(), peer, kill.clone())
            }));
            if served.is_err() {
                tracing::error!(connection = id, "a panic ended the connection");
            }
            kill.set_waker(None);
            if !matches!(served, Ok(Ended::Parked)) {
                socket.shutdown(std::net::Shutdown::Both);
            }
            drop(registered);
        });
    if let Err(e) = spawned {
        tracing::warn!(error = %e, "can't make a thread for a connection");
        connection::turn_away(&socket, &errors::CANT_CREATE_THREAD.with([&e]));
        shared.connections.lock().remove(&id);
    }
}

/// A connection's place in the list of connections.
struct Registered<'a> {
    shared: &'a Shared,
    id: u32,
}

impl Drop for Registered<'_> {
    fn drop(&mut self) {
        let told = catch_unwind(AssertUnwindSafe(|| {
            self.shared.backend.disconnected(self.id)
        }));
        if told.is_err() {
            tracing::error!(connection = self.id, "a panic while a connection ended");
        }
        self.shared.connections.lock().remove(&self.id);
        self.shared.ended.notify_all();
    }
}

/// For clients of this crate's tests.
#[doc(hidden)]
pub fn connect_tcp(address: SocketAddr) -> io::Result<TcpStream> {
    let s = TcpStream::connect(address)?;
    s.set_nodelay(true)?;
    Ok(s)
}
