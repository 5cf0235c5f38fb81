use crate::binlog::holds::{Holds, ReaderHold, Settings};
use crate::binlog::index::Index;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What a database has for its binary log.
pub(crate) struct Binlog {
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
    pub(crate) state_records: AtomicU64,
    /// Searches of the log for a place, and the records they read.
    pub(crate) lookups: AtomicU64,
    pub(crate) lookup_records: AtomicU64,
}

impl Binlog {
    pub(crate) fn new(index: Index) -> Self {
        Binlog {
            index: Mutex::new(index),
            admin: Mutex::new(()),
            holds: Arc::default(),
            first_hold: Mutex::new(None),
            settings: Settings::default(),
            start_moved: AtomicU64::new(0),
            told: AtomicU32::new(0),
            state_records: AtomicU64::new(0),
            lookups: AtomicU64::new(0),
            lookup_records: AtomicU64::new(0),
        }
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
