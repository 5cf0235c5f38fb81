//! The source side of replication: readers of the binary log, where each starts, and how the log is sent.
//!
//! This crate knows the engine's log and MariaDB's events. It knows no sockets (of a connection it has only [`DumpIo`]) and
//! nothing of what statements do (of a session it has only [`Client`]).
//!
//! | file | holds |
//! |---|---|
//! | `source.rs` | [`Source`]: the source side of one server; the life of one dump |
//! | `shared.rs`, `reader.rs` | what all dumps share; what a dump and its session tell each other |
//! | `request.rs` | COM_REGISTER_SLAVE and COM_BINLOG_DUMP, taken apart |
//! | `start.rs` | where a dump starts, and the errors of that |
//! | `filter.rs` | which groups a reader by GTID is sent, and where it stops |
//! | `dump.rs` | the loop: events out, heartbeats, waiting |
//! | `dialect.rs`, `rendered.rs` | events as a reader of some capability understands them |
//! | `mysql.rs`, `to_mysql.rs` | events, and the statements in them, as MySQL's readers understand them |
//! | `groups.rs` | where groups come from |
//! | `registry.rs` | replicas that have registered, readers and their lag |
//! | `semisync.rs`, `semisync/` | semi-synchronous replication: commits wait for replicas |
//! | `tail.rs`, `tail/` | the newest groups, read once for all readers at the end of the log; the thread that wakes them |
//! | `io.rs`, `wake.rs` | the connection, as far as a dump needs it; waking a dump that sleeps at it |
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod dialect;
mod dump;
mod error;
mod filter;
mod groups;
mod io;
mod mysql;
mod reader;
mod registry;
mod rendered;
mod request;
mod semisync;
mod shared;
mod source;
mod start;
mod tail;
mod to_mysql;
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
