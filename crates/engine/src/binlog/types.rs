//! What programs ask of the binary log: the calls of [`Database`] and their types.

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
    /// Groups that waited of their own accord (`narwal_group_commit_auto_wait`) until nearly all had come.
    pub auto_count: u64,
    /// Groups that did so in vain.
    pub auto_timeout: u64,
    /// Syncs of groups that ran beside another one (`narwal_log_parallel_syncs`).
    pub overlapped_syncs: u64,
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
    /// Bytes of them.
    pub oob_chunk_bytes: u64,
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
    /// Searches of the log for a position, a GTID or a commit.
    pub lookups: u64,
    /// Records of the log that they read: each at most what lies between two State records.
    pub lookup_records: u64,
    /// Records of the log that the start read: those since the last checkpoint.
    pub recovery_records: u64,
    /// Bytes of them.
    pub recovery_bytes: u64,
    /// Bytes written to the base by checkpoints.
    pub base_bytes_written: u64,
    /// Bytes written to the log, to the base and to spilled runs for each 1000 bytes of event groups.
    pub write_amplification_permille: u64,
}
