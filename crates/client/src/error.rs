//! What can go wrong with a connection.

use narwal_wire::codec::Malformed;
use narwal_wire::packet::ReadError;
use std::io;

/// The result of calls.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call failed. After anything but [`Error::Server`] the connection is of no more use.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The server's own error.
    #[error("error {code} ({state}): {message}")]
    Server {
        /// Error number.
        code: u16,
        /// SQLSTATE, five characters; `HY000` if the server gave none.
        state: String,
        /// Its text.
        message: String,
    },
    /// The server can't be reached, or the connection broke.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The server closed the connection.
    #[error("the server closed the connection")]
    Closed,
    /// Nothing came within the read timeout.
    #[error("the server does not answer")]
    Timeout,
    /// What the server sent makes no sense.
    #[error("the server sent what it should not: {0}")]
    Protocol(&'static str),
    /// The server wants an authentication that this program does not have, or that would not be safe.
    #[error("{0}")]
    Auth(String),
    /// TLS was asked for and is not possible.
    #[error("TLS: {0}")]
    Tls(String),
}

impl Error {
    /// Number of the server's error; 0 for others.
    #[must_use]
    pub fn code(&self) -> u16 {
        match self {
            Error::Server { code, .. } => *code,
            _ => 0,
        }
    }

    /// Another attempt may succeed: the network failed, or the server is starting or stopping.
    #[must_use]
    pub fn is_retriable(&self) -> bool {
        match self {
            Error::Io(_) | Error::Closed | Error::Timeout => true,
            // Too many connections, shutdown, host blocked for its errors.
            Error::Server { code, .. } => {
                matches!(code, 1040 | 1053 | 1077 | 1078 | 1079 | 1203 | 1317 | 1927)
            }
            Error::Protocol(_) | Error::Auth(_) | Error::Tls(_) => false,
        }
    }
}

impl From<Malformed> for Error {
    fn from(_: Malformed) -> Self {
        Error::Protocol("a malformed packet")
    }
}

impl From<ReadError> for Error {
    fn from(e: ReadError) -> Self {
        match e {
            ReadError::Closed | ReadError::Truncated => Error::Closed,
            ReadError::TooLarge(_) | ReadError::NoRoom(_) => {
                Error::Protocol("a packet longer than allowed")
            }
            ReadError::OutOfOrder { .. } => Error::Protocol("a packet out of order"),
            ReadError::Idle | ReadError::Stalled => Error::Timeout,
            ReadError::Io(e) => Error::Io(e),
        }
    }
}
