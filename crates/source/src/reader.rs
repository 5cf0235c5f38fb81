//! What a dump and the session behind it tell each other.

use narwal_binlog::{ContentHash, Gtid, GtidSet};
use std::time::Duration;

/// `@master_binlog_checksum`: what the reader says it understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Checksum {
    /// Nothing: it knows no checksums.
    #[default]
    Unset,
    /// It wants none, and copes with those that there are.
    None,
    /// CRC32.
    Crc32,
}

/// What a session knows of a reader: its variables, and where it comes from.
#[derive(Debug, Clone, Default)]
pub struct ClientVars {
    /// Its connection.
    pub connection_id: u32,
    /// User name as given.
    pub user: String,
    /// Where from: `host:port`.
    pub host: String,
    /// `server_id` of this server.
    pub source_id: u32,
    /// `@master_heartbeat_period`; `None` for no heartbeats.
    pub heartbeat: Option<Duration>,
    /// `@master_binlog_checksum`.
    pub checksum: Checksum,
    /// `@mariadb_slave_capability`, 0 if not set.
    pub capability: u64,
    /// `@slave_connect_state`: it starts by GTID.
    pub connect_state: Option<String>,
    /// `@narwal_connect_hash`: the contents of the last groups that a Narwal replica has.
    pub contents: Vec<(Gtid, ContentHash)>,
    /// `@slave_gtid_strict_mode`.
    pub strict: bool,
    /// `@slave_gtid_ignore_duplicates`.
    pub ignore_duplicates: bool,
    /// What a reader of MySQL's has: it starts by MySQL's GTIDs, and is sent MySQL's events.
    pub executed: Option<GtidSet>,
    /// `@slave_until_gtid`.
    pub until: Option<String>,
    /// `@rpl_semi_sync_slave`, and semi-synchronous replication is wanted.
    pub semi_sync: bool,
}

/// What a dump is doing, for the process list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Sending.
    Sending,
    /// Going on to another file.
    NextFile,
    /// It has sent everything there is.
    SentAll,
}

/// The session behind a dump.
pub trait Client {
    /// The dump is to end.
    fn killed(&self) -> bool;
    /// The dump does something else now.
    fn state(&self, state: State);
}

/// How a dump has ended in good order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DumpEnd {
    /// It is at the end of the log, where it was to end.
    LogEnd,
    /// The reader has everything up to where it wanted it.
    UntilReached,
    /// KILL, or the server stops.
    Killed,
    /// The client has closed the connection.
    Quit,
}

impl std::fmt::Display for DumpEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            DumpEnd::LogEnd => "end of the log reached",
            DumpEnd::UntilReached => "UNTIL position reached",
            DumpEnd::Killed => "killed, or the server stops",
            DumpEnd::Quit => "connection closed by the reader",
        })
    }
}
