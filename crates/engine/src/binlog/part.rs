//! The log as a part of the database.

use crate::Result;
use crate::bell::Bell;
use crate::binlog::applied_seen::AppliedSeen;
use crate::binlog::holds::{Holds, ReaderHold, Settings};
use crate::binlog::index::Index;
use crate::binlog::oob_holds::{OobHold, OobRegistry};
use crate::binlog::order::Order;
use crate::classic::files::not_offered;
use crate::classic::flat::{FlatBinlog, FlatStats};
use crate::options::Options;
use narwal_log::Log;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What is written in the log's order: the log, the flat files beside it, and what must stay of them.
pub(crate) struct Logs {
    pub(crate) log: Log<Order>,
    pub(crate) flat: Option<Arc<FlatBinlog>>,
    pub(crate) oob: Arc<OobRegistry>,
    pub(crate) oob_committed: Vec<(u64, OobHold)>,
}

/// The log as a binary log, as a part of the database.
pub(crate) struct Binlog {
    pub(crate) log: Log<Order>,
    /// The second log, if there are two.
    pub(crate) flat: Option<Arc<FlatBinlog>>,
    /// Replay would start here.
    pub(crate) checkpoint_lsn: AtomicU64,
    /// Chunks that running transactions, and recovery, may still need.
    pub(crate) oob: Arc<OobRegistry>,
    /// Out-of-band commits that no checkpoint covers yet.
    pub(crate) oob_committed: Mutex<Vec<(u64, OobHold)>>,
    pub(crate) bell: Arc<Bell>,
    /// Whether threads of the background do what can wait.
    pub(crate) background: bool,
    pub(crate) segment_size: u64,
    pub(crate) index: Mutex<Index>,
    /// One FLUSH, RESET or PURGE at a time.
    pub(crate) admin: Mutex<()>,
    pub(crate) holds: Arc<Holds>,
    /// From [`crate::Options::hold_log`], until it is taken.
    pub(crate) first_hold: Mutex<Option<ReaderHold>>,
    pub(crate) settings: Settings,
    /// Where the State record stands that moved the start of the binary log last. Until it is durable nothing before
    /// the new start may be removed.
    pub(crate) start_moved: AtomicU64,
    /// The newest file that the background was told of.
    pub(crate) told: AtomicU32,
    /// What of the applied groups is known to be visible.
    pub(crate) applied_seen: AppliedSeen,
    pub(crate) state_records: AtomicU64,
    /// Searches of the log for a place, and the records they read.
    pub(crate) lookups: AtomicU64,
    pub(crate) lookup_records: AtomicU64,
}

impl Binlog {
    /// `start`: where replay would start; `holds`: what it has found that must stay.
    pub(crate) fn new(
        logs: Logs,
        index: Index,
        start: u64,
        bell: Arc<Bell>,
        options: &Options,
    ) -> Self {
        Binlog {
            log: logs.log,
            flat: logs.flat,
            checkpoint_lsn: AtomicU64::new(start),
            oob: logs.oob,
            oob_committed: Mutex::new(logs.oob_committed),
            bell,
            background: options.background,
            segment_size: options.segment_size,
            index: Mutex::new(index),
            admin: Mutex::new(()),
            holds: Arc::default(),
            first_hold: Mutex::new(None),
            settings: Settings::default(),
            start_moved: AtomicU64::new(0),
            told: AtomicU32::new(0),
            applied_seen: AppliedSeen::default(),
            state_records: AtomicU64::new(0),
            lookups: AtomicU64::new(0),
            lookup_records: AtomicU64::new(0),
        }
    }

    /// Refuses what only one log can do.
    pub(crate) fn one_log(&self, what: &str) -> Result<()> {
        match self.flat {
            Some(_) => Err(not_offered(what)),
            None => Ok(()),
        }
    }

    /// Counters of the flat binary log; zero if there is none.
    pub(crate) fn flat_stats(&self) -> FlatStats {
        self.flat.as_ref().map(|f| f.stats()).unwrap_or_default()
    }

    /// Bytes of log from LSN `start` on, about.
    pub(crate) fn log_bytes_from(&self, start: u64) -> u64 {
        let end = self.log.with_order_state(|_, at| at.lsn);
        end.saturating_sub(start)
    }

    /// A checkpoint is durable: replay would start at `lsn`. A reader of this value also sees every hold on the log that was
    /// taken before it; retention relies on that.
    pub(crate) fn checkpointed(&self, lsn: u64) {
        let before = self.checkpoint_lsn.swap(lsn, Ordering::Release);
        assert!(
            before <= lsn,
            "the checkpoint went back from LSN {before} to {lsn}"
        );
    }

    /// Searches of the log for a place since start.
    pub(crate) fn lookups(&self) -> u64 {
        self.lookups.load(Ordering::Relaxed)
    }

    /// Records that they read.
    pub(crate) fn lookup_records(&self) -> u64 {
        self.lookup_records.load(Ordering::Relaxed)
    }
}
