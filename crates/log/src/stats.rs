//! Counters.

use std::sync::atomic::{AtomicU64, Ordering};

/// What the log has done since it was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogStats {
    /// fdatasync calls of the commit path (and of the once-a-second flush).
    pub syncs: u64,
    /// Nanoseconds spent in them.
    pub sync_nanos: u64,
    /// fdatasync calls made to prepare segment space ahead.
    pub prepare_syncs: u64,
    /// Write calls (one per group, more if a group crosses a segment).
    pub writes: u64,
    /// Bytes of records written, headers included.
    pub bytes_written: u64,
    /// Bytes of record bodies handed over.
    pub body_bytes: u64,
    /// Commits written.
    pub commits: u64,
    /// Groups written that held at least one commit.
    pub groups: u64,
    /// Commits written that replicas see (`Binlog_commits`).
    pub binlog_commits: u64,
    /// Groups written that held at least one of those (`Binlog_group_commits`).
    pub binlog_groups: u64,
    /// Groups that were held back (see [`crate::Log::set_commit_wait`]) until enough transactions had come
    /// (`Binlog_group_commit_trigger_count`).
    pub trigger_count: u64,
    /// Groups that were held back until their time was over (`Binlog_group_commit_trigger_timeout`).
    pub trigger_timeout: u64,
    /// Groups that were held back by [`crate::LogOptions::commit_wait_auto`] until (nearly) all had come.
    pub auto_count: u64,
    /// Groups that were held back by it in vain.
    pub auto_timeout: u64,
    /// Syncs of groups that ran beside another one, at least for some time.
    pub overlapped: u64,
    /// Groups that were let go because a transaction waited for a row lock of one of them
    /// (`Binlog_group_commit_trigger_lock_wait`). Always 0: row locks are free before the wait begins.
    pub trigger_lock_wait: u64,
    /// Bytes of chunk records written.
    pub chunk_bytes: u64,
    /// Commits in the largest group.
    pub largest_group: u64,
    /// Groups by size: 1, 2, 3-4, 5-8, 9-16, 17-32, 33-64, 65 and more.
    pub group_sizes: [u64; 8],
    /// Segment files made.
    pub segments_made: u64,
    /// Segment files removed by retention.
    pub segments_removed: u64,
    /// Segment files there are.
    pub segments: u64,
    /// Bytes of all segment files, with what is zeroed ahead and what is purged and still being read.
    pub disk_bytes: u64,
    /// Oldest LSN there is.
    pub oldest_lsn: u64,
    /// Everything below is handed to the operating system.
    pub written_lsn: u64,
    /// Everything below is durable.
    pub durable_lsn: u64,
    /// Last sequence number that readers may see.
    pub visible_seq: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub syncs: AtomicU64,
    pub sync_nanos: AtomicU64,
    pub prepare_syncs: AtomicU64,
    pub writes: AtomicU64,
    pub bytes_written: AtomicU64,
    pub body_bytes: AtomicU64,
    pub commits: AtomicU64,
    pub groups: AtomicU64,
    pub largest_group: AtomicU64,
    pub group_sizes: [AtomicU64; 8],
    pub binlog_commits: AtomicU64,
    pub binlog_groups: AtomicU64,
    pub trigger_count: AtomicU64,
    pub trigger_timeout: AtomicU64,
    pub auto_count: AtomicU64,
    pub auto_timeout: AtomicU64,
    pub overlapped: AtomicU64,
    pub chunk_bytes: AtomicU64,
    pub segments_made: AtomicU64,
    pub segments_removed: AtomicU64,
}

impl Counters {
    pub fn add(counter: &AtomicU64, n: u64) {
        counter.fetch_add(n, Ordering::Relaxed);
    }

    /// Counts a group of `commits`, of which `logged` are for replicas too.
    pub fn group(&self, commits: u64, logged: u64) {
        if commits == 0 {
            return;
        }
        if logged > 0 {
            Self::add(&self.binlog_groups, 1);
            Self::add(&self.binlog_commits, logged);
        }
        Self::add(&self.groups, 1);
        Self::add(&self.commits, commits);
        self.largest_group.fetch_max(commits, Ordering::Relaxed);
        let class = (64 - (commits - 1).leading_zeros() as usize).min(7);
        Self::add(&self.group_sizes[class], 1);
    }

    pub fn read(&self) -> LogStats {
        let get = |c: &AtomicU64| c.load(Ordering::Relaxed);
        LogStats {
            syncs: get(&self.syncs),
            sync_nanos: get(&self.sync_nanos),
            prepare_syncs: get(&self.prepare_syncs),
            writes: get(&self.writes),
            bytes_written: get(&self.bytes_written),
            body_bytes: get(&self.body_bytes),
            commits: get(&self.commits),
            groups: get(&self.groups),
            largest_group: get(&self.largest_group),
            group_sizes: std::array::from_fn(|i| get(&self.group_sizes[i])),
            binlog_commits: get(&self.binlog_commits),
            binlog_groups: get(&self.binlog_groups),
            trigger_count: get(&self.trigger_count),
            trigger_timeout: get(&self.trigger_timeout),
            auto_count: get(&self.auto_count),
            auto_timeout: get(&self.auto_timeout),
            overlapped: get(&self.overlapped),
            chunk_bytes: get(&self.chunk_bytes),
            segments_made: get(&self.segments_made),
            segments_removed: get(&self.segments_removed),
            ..LogStats::default()
        }
    }
}
