//! The source side of replication: who reads the binary log, from where on, and how it is sent.
//!
//! Knows the engine's log and MariaDB's events; knows no sockets ([`DumpIo`] is all it has of a connection) and no SQL
//! ([`Client`] is what a session says of itself).
//!
//! | file | holds |
//! |---|---|
//! | `source.rs` | [`Source`]: what all dumps of a server share; the life of one dump |
//! | `request.rs` | COM_REGISTER_SLAVE and COM_BINLOG_DUMP, taken apart |
//! | `start.rs` | where a dump starts, and the errors of that |
//! | `filter.rs` | which groups a reader by GTID is sent, and where it stops |
//! | `dump.rs` | the loop: events out, heartbeats, waiting |
//! | `dialect.rs` | events as a reader of some capability understands them |
//! | `groups.rs` | where groups come from |
//! | `registry.rs` | replicas that have registered, readers and their lag |
//! | `semisync.rs`, `semisync/` | semi-synchronous replication: commits wait for replicas |
//! | `tail.rs` | the newest groups, read once for all readers at the end of the log; waking them |
//! | `io.rs`, `wake.rs` | the connection, as far as a dump needs it; waking who sleeps at it |
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod dialect;
mod dump;
mod error;
mod filter;
mod groups;
mod io;
mod reader;
mod registry;
mod request;
mod semisync;
mod shared;
mod source;
mod start;
mod tail;
mod wake;

pub use error::DumpError;
pub use groups::Groups;
pub use io::{DumpIo, Ready};
pub use reader::{Checksum, Client, ClientVars, DumpEnd, State};
pub use registry::{Position, ReaderInfo, Replica};
pub use request::{DumpRequest, MalformedPacket, RegisterRequest, dump_flags};
pub use semisync::{
    GroupEnd, SemiSync, SemiSyncReader, SemiSyncSettings, SemiSyncStatus, WaitPoint,
};
pub use source::Source;
pub use wake::Wake;
