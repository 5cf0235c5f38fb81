//! What a database is opened with.

use crate::RowMetadata;
use crate::catalog::filter::BinlogFilter;
use narwal_binlog::VirtualConfig;
use narwal_log::{Disk, Durability, RealDisk};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64};

/// Default of `narwal_scrub_rate`, bytes a second.
pub const DEFAULT_SCRUB_RATE: u64 = 1 << 20;
/// Default of `binlog_oob_threshold`: 1 MiB.
pub const DEFAULT_OOB_THRESHOLD: u64 = 1 << 20;

/// Settings of a database. Sizes in bytes.
#[derive(Debug, Clone)]
pub struct Options {
    /// 1 = sync before OK, 2 = write before OK, 0 = neither (`innodb_flush_log_at_trx_commit`).
    pub flush_log_at_trx_commit: u8,
    /// Memory for the base's page cache and the memtables together (`innodb_buffer_pool_size`).
    pub memory_budget: u64,
    /// This server's id in events.
    pub server_id: u32,
    /// GTID domain.
    pub gtid_domain_id: u32,
    /// Virtual binlog file size.
    pub max_binlog_size: u32,
    /// Bytes of log between two State records (`binlog_state_interval`), at least 4 KiB.
    pub binlog_state_interval: u64,
    /// Log segment size.
    pub segment_size: u64,
    /// Largest transaction, bytes of events.
    pub max_binlog_cache_size: u64,
    /// `binlog_commit_wait_count`.
    pub commit_wait_count: u32,
    /// `binlog_commit_wait_usec`.
    pub commit_wait_usec: u32,
    /// `narwal_group_commit_auto_wait`; see [`narwal_log::LogOptions::commit_wait_auto`].
    pub commit_wait_auto: bool,
    /// `narwal_log_parallel_syncs`; see [`narwal_log::LogOptions::parallel_syncs`].
    pub parallel_syncs: u32,
    /// A checkpoint starts when the log has grown by this much since the last one began. 0: derived from the budget.
    pub checkpoint_log_bytes: u64,
    /// A running transaction sends finished events to the log when they pass this many bytes (`binlog_oob_threshold`).
    pub oob_threshold: u64,
    /// A transaction's write set goes to disk when it passes this many bytes of memory. 0: derived from the budget.
    pub spill_bytes: u64,
    /// How fast the base is read in the background to find damage, bytes a second; 0: not (`narwal_scrub_rate`).
    pub scrub_rate: u64,
    /// Whether background threads flush and checkpoint. Off for deterministic tests.
    pub background: bool,
    /// What goes into the binary log (`binlog_do_db` and the like).
    pub binlog_filter: BinlogFilter,
    /// `binlog_row_metadata`.
    pub binlog_row_metadata: RowMetadata,
    /// `binlog_row_event_max_size`: a rows event is closed before a row that would take it past so many bytes.
    pub binlog_row_event_max_size: u32,
    /// Beside the log stands a binary log of flat files, and a commit is a prepare in the one and a commit in the other
    /// (`binlog_storage_engine=FILE`): for comparison. A folder stays what it was made as.
    pub classic_log: bool,
    /// With [`classic_log`](Self::classic_log): the binary log file is synced after so many groups of commits; 0: by the
    /// operating system (`sync_binlog`).
    pub sync_binlog: u32,
    /// How commit records are compressed, if they are.
    pub compression: Option<crate::record::packed::Compression>,
    /// Where a start would be refused because a part of the log is damaged or missing: give up everything from there on
    /// and start (see [`narwal_log::LogOptions::accept_lost_tail`]).
    pub accept_log_loss: bool,
    /// Keeps the whole log from the start on, until [`crate::Database::take_log_hold`] hands the hold over: for a reader whose place
    /// is not known yet.
    pub hold_log: bool,
    /// The disk.
    pub disk: Arc<dyn Disk>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            flush_log_at_trx_commit: 1,
            memory_budget: 128 << 20,
            server_id: 1,
            gtid_domain_id: 0,
            max_binlog_size: 1 << 30,
            binlog_state_interval: 2 << 20,
            segment_size: 32 << 20,
            max_binlog_cache_size: u64::MAX,
            commit_wait_count: 0,
            commit_wait_usec: 0,
            commit_wait_auto: true,
            parallel_syncs: 8,
            checkpoint_log_bytes: 0,
            oob_threshold: DEFAULT_OOB_THRESHOLD,
            spill_bytes: 0,
            scrub_rate: DEFAULT_SCRUB_RATE,
            background: true,
            binlog_filter: BinlogFilter::default(),
            binlog_row_metadata: RowMetadata::default(),
            binlog_row_event_max_size: narwal_binlog::DEFAULT_ROW_EVENT_MAX_SIZE,
            classic_log: false,
            sync_binlog: 1,
            compression: None,
            accept_log_loss: false,
            hold_log: false,
            disk: Arc::new(RealDisk),
        }
    }
}

/// What can be changed while the database is open.
pub(crate) struct Settings {
    /// `binlog_row_metadata` as its number.
    pub(crate) row_metadata: AtomicU8,
    /// `max_binlog_cache_size`, bytes.
    pub(crate) max_binlog_cache_size: AtomicU64,
    /// `binlog_oob_threshold`, bytes.
    pub(crate) oob_threshold: AtomicU64,
}

impl Settings {
    pub(crate) fn new(options: &Options) -> Self {
        Settings {
            row_metadata: AtomicU8::new(options.binlog_row_metadata as u8),
            max_binlog_cache_size: AtomicU64::new(options.max_binlog_cache_size),
            oob_threshold: AtomicU64::new(options.oob_threshold),
        }
    }
}

impl Options {
    /// The memtables' share of the memory budget, bytes.
    pub(crate) fn memtable_limit(&self) -> u64 {
        self.store_budget() * 3 / 10
    }

    /// See [`Options::checkpoint_log_bytes`].
    pub(crate) fn checkpoint_log_bytes(&self) -> u64 {
        match self.checkpoint_log_bytes {
            0 => (self.memory_budget / 4).clamp(16 << 20, 128 << 20),
            n => n,
        }
    }

    /// The base's share of the memory budget, bytes.
    pub(crate) fn base_cache_bytes(&self) -> u64 {
        self.store_budget() * 7 / 20
    }

    /// The part of the memory budget that the store shares out; the rest is for the code, for connections, and for what an
    /// allocator loses between its pieces.
    pub(crate) fn store_budget(&self) -> u64 {
        self.memory_budget - (self.memory_budget / 16 * 7).min(56 << 20)
    }
}

pub(crate) fn virtual_config(options: &Options) -> VirtualConfig {
    VirtualConfig {
        domain_id: options.gtid_domain_id,
        server_id: options.server_id,
        max_binlog_size: options.max_binlog_size,
        ..VirtualConfig::default()
    }
}

pub(crate) fn spill_bytes(options: &Options) -> u64 {
    match options.spill_bytes {
        0 => (options.memory_budget / 32).clamp(1 << 20, 64 << 20),
        n => n,
    }
}

pub(crate) fn durability(mode: u8) -> Durability {
    Durability::from_u8(mode).unwrap_or(Durability::Synced)
}
