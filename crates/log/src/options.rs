//! How to open a log, and what its commits wait for.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::Lsn;
use crate::disk::{Disk, RealDisk};
use crate::frame::MAX_BODY;
use crate::segment::{END_LEN, START_LEN};

/// How much a commit waits for (`innodb_flush_log_at_trx_commit`). In every mode the state after a crash is a prefix
/// of the commit order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Durability {
    /// 0: published when complete in memory; written and synced about once a second.
    Buffered = 0,
    /// 1: on disk (fdatasync) before it is published.
    Synced = 1,
    /// 2: handed to the operating system before it is published; synced about once a second.
    Written = 2,
}

impl Durability {
    /// The mode with this number (0, 1, 2).
    pub fn from_u8(n: u8) -> Option<Durability> {
        match n {
            0 => Some(Durability::Buffered),
            1 => Some(Durability::Synced),
            2 => Some(Durability::Written),
            _ => None,
        }
    }
}

/// How to open a log.
#[derive(Debug, Clone)]
pub struct LogOptions {
    /// The folder of the segment files; made if missing.
    pub dir: PathBuf,
    /// The disk it lies on.
    pub disk: Arc<dyn Disk>,
    /// Bytes of a full segment file. Default 32 MiB, at least 8 KiB; rounded up to 4 KiB. A larger record gets a segment of its own size.
    pub segment_size: u64,
    /// Bytes zeroed when a segment is made. Default 1 MiB.
    pub initial_size: u64,
    /// A segment grows, by at most 1 MiB at once, while less than half of this is zeroed ahead of the writer. Default
    /// 4 MiB.
    pub grow_step: u64,
    /// Commits wait for this at first. Default [`Durability::Synced`].
    pub durability: Durability,
    /// A group is held back until this many transactions are queued (0: never) ...
    pub commit_wait_count: u32,
    /// ... or this many microseconds have passed (0: never held back).
    pub commit_wait_usec: u32,
    /// Without these two: a group is held back for those of the last round, for one sync at most, where syncs are slow
    /// (0.3 ms and more) and they usually come in time. Default true.
    pub commit_wait_auto: bool,
    /// So many syncs of groups may run at once, 1 to 16, where syncs are slow (0.3 ms and more) and take hardly longer
    /// together than alone. 1: a group waits until the one before it is durable. Default 8.
    pub parallel_syncs: u32,
    /// Largest record body in bytes; at most and by default 256 MiB - 1.
    pub max_record: u32,
    /// In mode 0: bytes kept in memory before a committer writes them out itself. Default 8 MiB.
    pub buffer_limit: u64,
    /// Bytes of chunk records that may wait to be written before [`crate::Log::append_chunk`] holds its caller back.
    /// Default 512 KiB.
    pub chunk_queue: u64,
    /// Bytes of chunk records, at least one record, that go to disk with one sync. Default 256 KiB.
    pub chunk_group: u64,
    /// Where opening would refuse because a part of the log is damaged or missing: cut the log at the last good record
    /// before that instead, and go on without what followed. [`crate::OpenReport::lost`] says what that was. Default
    /// false; a server with replicas must not do this lightly, since they may have what it gives up.
    pub accept_lost_tail: bool,
    /// With that: the record that starts here is lost to the caller, though it is whole (what it refers to is gone). The
    /// log is cut in front of it.
    pub cut_at: Option<Lsn>,
    /// Period of the background flush. Default 1 s.
    pub flush_interval: Duration,
    /// Whether background threads flush and prepare segments. Without them (deterministic tests) the owner calls
    /// [`crate::Log::tick`], and space is made on demand.
    pub background: bool,
}

impl LogOptions {
    /// The defaults for a log in `dir` on the operating system's disk.
    pub fn new(dir: impl Into<PathBuf>) -> LogOptions {
        LogOptions {
            dir: dir.into(),
            disk: Arc::new(RealDisk),
            segment_size: 32 << 20,
            initial_size: 1 << 20,
            grow_step: 4 << 20,
            durability: Durability::Synced,
            commit_wait_count: 0,
            commit_wait_usec: 0,
            commit_wait_auto: true,
            parallel_syncs: 8,
            max_record: MAX_BODY as u32,
            buffer_limit: 8 << 20,
            chunk_queue: 512 << 10,
            chunk_group: 256 << 10,
            accept_lost_tail: false,
            cut_at: None,
            flush_interval: Duration::from_secs(1),
            background: true,
        }
    }

    /// Bytes of LSN range in an ordinary segment.
    pub(crate) fn segment_cap(&self) -> u64 {
        self.segment_size.max(8192).next_multiple_of(4096) - 4096
    }

    /// Bytes zeroed at first in a segment of `cap` bytes that must take `need` at once.
    pub(crate) fn initial_ready(&self, cap: u64, need: u64) -> u64 {
        self.initial_size
            .max(need + START_LEN + END_LEN)
            .next_multiple_of(4096)
            .min(cap)
    }

    /// Bytes that chunks leave ready for commits.
    pub(crate) fn chunk_margin(&self) -> u64 {
        (self.grow_step / 2).min(self.segment_cap() / 4)
    }

    pub(crate) fn max_body(&self) -> usize {
        (self.max_record as usize).min(MAX_BODY)
    }
}
