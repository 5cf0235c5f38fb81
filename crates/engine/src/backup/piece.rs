//! What a backup gives: pieces, and at the end what they are of.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Name of the base in a backup, as in the data folder.
pub const BASE: &str = "base.redb";

/// What to copy.
#[derive(Debug, Clone)]
pub struct BackupOptions {
    /// Whether the binary log goes along, from its oldest file on; else only what recovery needs of the log.
    pub with_log: bool,
    /// Who is copying, for the messages of what is kept because of it.
    pub name: String,
}

impl Default for BackupOptions {
    fn default() -> Self {
        BackupOptions {
            with_log: true,
            name: "backup".into(),
        }
    }
}

/// A piece of a backup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Bytes of a file, as they are stored (encrypted, if the folder is). A later piece replaces what an earlier one gave
    /// of the same place. Offsets and lengths are multiples of [`crate::backup::BLOCK`] but at the end of what was copied.
    Data {
        /// Name of the file relative to the data folder: `base.redb`, `log/wal.0000000000001000`.
        file: Arc<str>,
        /// Where the bytes belong.
        offset: u64,
        /// At most 1 MiB.
        bytes: Vec<u8>,
    },
    /// The file is whole and `size` bytes long; what no piece gave is zeros. May come again, with another size, for a file
    /// whose copy was resumed.
    End {
        /// Its name.
        file: Arc<str>,
        /// Its length, bytes.
        size: u64,
    },
}

/// What was copied: known at the end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupEnd {
    /// Commits up to this one are in the copy of the base.
    pub base_seq: u64,
    /// Recovery replays the log from here on.
    pub base_lsn: u64,
    /// The log of the copy begins here.
    pub log_start: u64,
    /// Where it ends: every commit before is in the backup, none behind.
    pub log_end: u64,
    /// The last commit's sequence number.
    pub seq: u64,
    /// Virtual binary log file at the end.
    pub binlog_file: String,
    /// Offset in it.
    pub binlog_pos: u64,
    /// `gtid_binlog_pos` at the end.
    pub gtid_binlog_pos: String,
    /// `gtid_binlog_state` at the end.
    pub gtid_binlog_state: String,
    /// GTID state that the base has: a point before it can't be restored from this backup.
    #[serde(default)]
    pub base_gtid_state: String,
    /// Random number of the log, the same in all its segments.
    pub log_id: u64,
    /// Server id and GTID domain of the server.
    pub server_id: u32,
    /// As above.
    pub gtid_domain_id: u32,
    /// Whether the binary log went along from its oldest file on.
    pub with_log: bool,
}

/// How far a backup is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BackupProgress {
    /// Bytes copied, including those that had to be copied again.
    pub done: u64,
    /// What it will be in the end, as far as can be told now.
    pub total: u64,
    /// Rounds over the base that were finished.
    pub rounds: u32,
}
