//! MySQL wire protocol server: packets, authentication, TLS, connections. A thread per connection, blocking sockets.
//!
//! It knows no SQL and no storage: it talks to a [`Backend`] and its [`Session`]s. Framing, numbers and proofs of passwords are
//! in `narwal-wire`, which a client uses too.
//!
//! | file | holds |
//! |---|---|
//! | `backend.rs` | the traits behind the front, and what passes between |
//! | `server.rs` | listening, admission, one thread a connection, the end |
//! | `shared.rs` | what all connections share |
//! | `connection.rs`, `channel.rs` | a connection: login, then a command at a time; its packets |
//! | `handshake.rs` | greeting, login, COM_CHANGE_USER |
//! | `auth/` | challenges, the cache of `caching_sha2_password`, the RSA key |
//! | `socket.rs`, `tls.rs`, `stream.rs` | sockets; certificate and TLS; the byte stream with its timeouts |
//! | `peer_certificate.rs` | what an account asks of TLS; the names in a client's certificate |
//! | `parked.rs` | refusals that are answered later |
//! | `params.rs`, `result.rs`, `definition.rs`, `answer.rs` | binary parameters in; rows, column definitions, OK and ERR out |
//! | `statements.rs`, `held.rs` | prepared statements: execution, cursors and the rows they hold, bulk |
//! | `raw_channel.rs`, `zip.rs` | sessions that speak their own protocol; CLIENT_COMPRESS |
//! | `late.rs` | answers to commits, sent by the thread that makes them durable |
//! | `processors/` | the processor that a connection's thread runs on |
//! | `kill.rs`, `watch.rs` | how a connection is ended from outside; finding out that its client has gone |
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod answer;
pub mod auth;
pub mod backend;
mod channel;
mod connection;
pub mod definition;
pub mod handshake;
mod heads;
pub mod held;
pub mod kill;
mod late;
pub mod params;
mod parked;
mod peer_certificate;
mod processors;
mod raw_channel;
pub mod result;
pub mod server;
mod shared;
pub mod socket;
mod statements;
pub mod stream;
pub mod tls;
mod watch;
pub mod zip;

pub use backend::{
    Account, AuthMethod, Backend, ConnectInfo, Limits, Peer, PreparedInfo, RawPackets, Refused,
    Session, Timeouts, TlsRule,
};
pub use kill::KillHandle;
pub use narwal_wire::{codec, packet, protocol};
pub use server::{Server, ServerConfig};
pub use tls::TlsFiles;
