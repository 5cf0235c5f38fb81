//! Which server to connect to, and how.

use std::path::PathBuf;
use std::time::Duration;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// Host name or address, and port.
    Tcp(String, u16),
    /// Unix socket.
    Unix(PathBuf),
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Address::Tcp(host, port) => write!(f, "{host}:{port}"),
            Address::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Whether a connection is encrypted, and whom it trusts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum TlsMode {
    /// Never.
    Disabled,
    /// If the server can, whatever its certificate: nobody listens along, but anybody could be the server. Not through a
    /// Unix socket.
    #[default]
    Preferred,
    /// As `Preferred`, or not at all.
    Required,
    /// With a certificate that one of the authorities in this PEM file has signed.
    VerifyCa(PathBuf),
    /// And that is made out to the host's name.
    VerifyIdentity(PathBuf),
}

/// How to connect.
#[derive(Clone)]
pub struct Options {
    /// Where the server listens.
    pub address: Address,
    /// User name.
    pub user: String,
    /// Password.
    pub password: String,
    /// Default database.
    pub database: Option<String>,
    /// TLS.
    pub tls: TlsMode,
    /// The server's RSA key is asked for where a password must be sealed and there is no TLS. Who is between the two can give
    /// one of their own.
    pub server_key: bool,
    /// The client's own certificate for TLS, and its key: PEM files.
    pub identity: Option<(PathBuf, PathBuf)>,
    /// All of connecting and logging in must happen within it.
    pub connect_timeout: Duration,
    /// How long an answer may take to begin, and how long it may stall.
    pub read_timeout: Duration,
    /// How long sending may stall.
    pub write_timeout: Duration,
    /// `program_name` among the connection attributes.
    pub program: String,
}

// Without the password.
impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("address", &self.address)
            .field("user", &self.user)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}

impl Options {
    fn new(address: Address) -> Self {
        Options {
            address,
            user: String::new(),
            password: String::new(),
            database: None,
            tls: TlsMode::default(),
            server_key: true,
            identity: None,
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            program: "narwal".to_owned(),
        }
    }

    /// A server at a host's port.
    #[must_use]
    pub fn tcp(host: &str, port: u16) -> Self {
        Self::new(Address::Tcp(host.to_owned(), port))
    }

    /// A server at a Unix socket.
    #[must_use]
    pub fn unix(path: impl Into<PathBuf>) -> Self {
        Self::new(Address::Unix(path.into()))
    }

    /// As this user.
    #[must_use]
    pub fn user(mut self, user: &str, password: &str) -> Self {
        self.user = user.to_owned();
        self.password = password.to_owned();
        self
    }
}
