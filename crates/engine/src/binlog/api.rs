//! What programs ask of the binary log: the calls of [`Database`] and their types.

use crate::{Database, EngineError, Result};
use narwal_types::SqlError;

/// A virtual binary log file (SHOW BINARY LOGS).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BinlogFile {
    /// `narwal-bin.000001`.
    pub name: String,
    /// Its number, from 1.
    pub number: u32,
    /// Size in bytes, the head included.
    pub size: u64,
    /// LSN of the file's first group (or of where it will stand).
    pub first_lsn: u64,
    /// Timestamp of its last event in seconds since 1970; of a file without groups, the time when it was begun.
    pub last_event_time: u32,
}

/// A place in the binary log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BinlogPosition {
    /// Virtual file.
    pub file: String,
    /// Offset in it, bytes.
    pub offset: u64,
    /// The last GTID of each domain up to here (`gtid_binlog_pos`).
    pub gtid_pos: String,
}

/// What a purge did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PurgeReport {
    /// Virtual files that are gone.
    pub purged_files: usize,
    /// Why something that was asked to go has stayed, a sentence each.
    pub notes: Vec<String>,
}

/// Where a reader of the binary log starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReadStart {
    /// At the oldest group that is there.
    Oldest,
    /// At an offset of a virtual file, which must be the start of a group or the end.
    File {
        /// Name of the file.
        name: String,
        /// Offset in bytes; anything before the first group means the first group.
        offset: u64,
    },
    /// Behind a GTID position such as `0-1-5,1-2-7`; an empty text is the beginning.
    Gtid(String),
    /// At the first group from this LSN on, which must be the start of a record.
    Lsn(u64),
}

/// Keeps the log from some LSN on while a reader needs it. Dropped: released.
#[derive(Debug)]
pub struct ReaderHold {}

impl ReaderHold {
    /// The reader needs nothing below `lsn` any more.
    pub fn advance(&self, lsn: u64) {
        let _ = lsn;
    }
}

/// Counters of the binary log, for SHOW STATUS. Since start unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BinlogStats {
    /// Transactions written.
    pub commits: u64,
    /// Groups in which they were written.
    pub group_commits: u64,
    /// Groups that did not wait longer because `binlog_commit_wait_count` was reached.
    pub trigger_count: u64,
    /// Groups that did not wait longer because `binlog_commit_wait_usec` had passed.
    pub trigger_timeout: u64,
    /// Groups that did not wait longer because a transaction waited for a row lock of one of them.
    pub trigger_lock_wait: u64,
    /// Bytes of event groups written.
    pub bytes_written: u64,
    /// Bytes of all segment files, now.
    pub disk_use: u64,
    /// Transactions that buffered events.
    pub cache_use: u64,
    /// Transactions among them that sent events to the log before their commit.
    pub cache_disk_use: u64,
    /// Chunks of running transactions written.
    pub oob_chunks: u64,
    /// LSN from which recovery would replay, now.
    pub checkpoint_lsn: u64,
    /// Seconds since the last checkpoint, now.
    pub checkpoint_age: u64,
    /// State records written.
    pub state_records: u64,
    /// Syncs of the log.
    pub fsyncs: u64,
    /// Bytes written to the log for each 1000 bytes of event groups.
    pub amplification_permille: u64,
}

fn not_yet<T>(what: &str) -> Result<T> {
    Err(EngineError::Sql(SqlError::new(
        1235,
        b"42000",
        format!("This version of Narwal doesn't yet support '{what}'"),
    )))
}

impl Database {
    /// Position behind the last reserved commit.
    pub fn binlog_position(&self) -> BinlogPosition {
        self.inner.log.with_order_state(|o, _| BinlogPosition {
            file: o.binlog.current_file(),
            offset: o.binlog.offset(),
            gtid_pos: o.binlog.gtids().position_text(),
        })
    }

    /// `gtid_binlog_state`: the last GTID of every (domain, server).
    pub fn gtid_binlog_state(&self) -> String {
        self.inner
            .log
            .with_order_state(|o, _| o.binlog.gtids().to_string())
    }

    /// The virtual files, oldest first; the last one is being written.
    pub fn binlog_files(&self) -> Vec<BinlogFile> {
        self.inner.log.with_order_state(|o, at| {
            vec![BinlogFile {
                name: o.binlog.current_file(),
                number: o.binlog.file_no(),
                size: o.binlog.offset(),
                first_lsn: at.lsn,
                last_event_time: 0,
            }]
        })
    }

    /// Sets `gtid_binlog_state`; possible only while nothing was ever logged (or since RESET MASTER).
    pub fn set_gtid_binlog_state(&self, text: &str) -> Result<()> {
        let _ = text;
        not_yet("SET gtid_binlog_state")
    }

    /// BINLOG_GTID_POS(): the GTID position at an offset of a file; `None` if there is no such file.
    pub fn binlog_gtid_pos(&self, file: &str, pos: u64) -> Result<Option<String>> {
        let _ = (file, pos);
        not_yet("BINLOG_GTID_POS()")
    }

    /// Position behind commit `seq`.
    pub fn position_at_seq(&self, seq: u64) -> Result<BinlogPosition> {
        let _ = seq;
        Ok(self.binlog_position())
    }

    /// FLUSH BINARY LOGS [DELETE_DOMAIN_ID = (...)].
    pub fn flush_binary_logs(&self, delete_domains: &[u32]) -> Result<()> {
        let _ = delete_domains;
        not_yet("FLUSH BINARY LOGS")
    }

    /// RESET MASTER [TO n].
    pub fn reset_master(&self, first_file: Option<u32>) -> Result<()> {
        let _ = first_file;
        not_yet("RESET MASTER")
    }

    /// PURGE BINARY LOGS TO.
    pub fn purge_binary_logs_to(&self, file: &str) -> Result<PurgeReport> {
        let _ = file;
        not_yet("PURGE BINARY LOGS")
    }

    /// PURGE BINARY LOGS BEFORE.
    pub fn purge_binary_logs_before(&self, unix_time: u32) -> Result<PurgeReport> {
        let _ = unix_time;
        not_yet("PURGE BINARY LOGS")
    }

    /// `binlog_expire_logs_seconds`, 0: never.
    pub fn set_binlog_expire_logs_seconds(&self, seconds: u64) {
        let _ = seconds;
    }

    /// `max_binlog_total_size` in bytes, 0: no limit.
    pub fn set_max_binlog_total_size(&self, bytes: u64) {
        let _ = bytes;
    }

    /// `slave_connections_needed_for_purge`.
    pub fn set_slave_connections_needed_for_purge(&self, replicas: u32) {
        let _ = replicas;
    }

    /// `max_binlog_size` in bytes, for groups to come.
    pub fn set_max_binlog_size(&self, bytes: u32) {
        self.inner
            .log
            .with_order_state(|o, _| o.binlog.set_max_binlog_size(bytes));
    }

    /// Global `server_id`, for groups to come.
    pub fn set_server_id(&self, server_id: u32) {
        self.inner
            .log
            .with_order_state(|o, _| o.binlog.set_server_id(server_id));
    }

    /// Global `gtid_domain_id`, for groups to come.
    pub fn set_gtid_domain_id(&self, domain_id: u32) {
        self.inner
            .log
            .with_order_state(|o, _| o.binlog.set_domain_id(domain_id));
    }

    /// Keeps the log from `lsn` on until the hold is dropped. `name` is for the notes of purges.
    pub fn register_reader(&self, name: &str, lsn: u64) -> ReaderHold {
        let _ = (name, lsn);
        ReaderHold {}
    }

    /// Counters.
    pub fn binlog_stats(&self) -> BinlogStats {
        let log = self.inner.log.stats();
        BinlogStats {
            commits: log.commits,
            fsyncs: log.syncs,
            ..BinlogStats::default()
        }
    }
}
