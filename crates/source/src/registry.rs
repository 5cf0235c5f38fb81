//! Registered replicas and attached readers, and how far each has come.

use narwal_binlog::Gtid;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A replica that has sent COM_REGISTER_SLAVE (SHOW REPLICA HOSTS). It stays until its connection ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replica {
    /// Its connection.
    pub connection_id: u32,
    /// `server_id`.
    pub server_id: u32,
    /// `report_host`.
    pub host: String,
    /// `report_user`.
    pub user: String,
    /// `report_port`.
    pub port: u16,
}

/// A place that a reader has reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Position {
    /// LSN of what it is sent next.
    pub lsn: u64,
    /// Commit number of the last group that it was sent or did not want.
    pub seq: u64,
    /// Virtual file.
    pub file_no: u32,
    /// Offset there.
    pub pos: u64,
    /// That group's GTID.
    pub gtid: Gtid,
    /// That group's timestamp, seconds since 1970.
    pub timestamp: u32,
}

/// What a running dump counts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Progress {
    pub(crate) at: Position,
    pub(crate) groups: u64,
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    /// It has everything there is and sleeps.
    pub(crate) caught_up: bool,
}

/// A running dump as others see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReaderInfo {
    /// Its connection.
    pub connection_id: u32,
    /// User name as given.
    pub user: String,
    /// Where from: `host:port`.
    pub host: String,
    /// `server_id` of the reader, 0 if it has none.
    pub server_id: u32,
    /// It starts by GTID.
    pub by_gtid: bool,
    /// It takes part in semi-synchronous replication.
    pub semi_sync: bool,
    /// When it attached, seconds since 1970.
    pub since: u64,
    /// How far it has come. Where it began, until it was sent a group.
    pub at: Position,
    /// Name of the virtual file there.
    pub file: String,
    /// Groups sent.
    pub groups: u64,
    /// Events sent, those made for the stream included.
    pub events: u64,
    /// Bytes of them.
    pub bytes: u64,
    /// Bytes of the durable log that it was not sent yet.
    pub lag_bytes: u64,
    /// Commits that it was not sent yet, those that are not durable yet included.
    pub lag_transactions: u64,
    /// Age of the last group that it was sent, 0 if there is nothing that it lacks.
    pub lag_seconds: u64,
}

/// Seconds since 1970.
pub(crate) fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or(Duration::ZERO)
        .as_secs()
}
