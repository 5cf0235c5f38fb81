//! Blocking client of the MySQL protocol: connecting, queries in the text protocol, and the binary log as a MariaDB replica
//! gets it. What a server sends is never trusted: wrong bytes are errors.
//!
//! ```no_run
//! use narwal_client::{Connection, Options};
//! # fn main() -> narwal_client::Result<()> {
//! let mut c = Connection::connect(&Options::tcp("127.0.0.1", 3306).user("root", ""))?;
//! let rows = c.query("SELECT @@version, @@gtid_binlog_pos")?;
//! println!("{:?}", rows.text(0, 0));
//! # Ok(()) }
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `options.rs` | which server to connect to, and how |
//! | `socket.rs`, `tls.rs` | TCP, Unix sockets, TLS, timeouts |
//! | `login.rs` | greeting and authentication |
//! | `channel.rs` | packets in both directions |
//! | `connection.rs`, `query.rs` | a connection; statements and their answers |
//! | `rows.rs` | result sets |
//! | `dump.rs` | the binary log |
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod channel;
mod connection;
mod dump;
mod error;
mod login;
mod options;
mod query;
mod rows;
mod socket;
mod tls;

pub use connection::{Connection, Done};
pub use dump::{Dump, DumpRequest, Packet, Replica};
pub use error::{Error, Result};
pub use options::{Address, Options, TlsMode};
pub use rows::{Column, ResultSet, Row, Rows};
pub use socket::Hangup;
