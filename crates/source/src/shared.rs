//! What all dumps of a server share.

use crate::registry::{Progress, Replica};
use crate::semisync::SemiSync;
use crate::tail::Tail;
use crate::wake::Wake;
use narwal_engine::Database;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A running dump, for others.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) connection_id: u32,
    pub(crate) user: String,
    pub(crate) host: String,
    pub(crate) server_id: u32,
    pub(crate) by_gtid: bool,
    pub(crate) semi_sync: bool,
    pub(crate) since: u64,
    pub(crate) progress: Mutex<Progress>,
    pub(crate) asleep: AtomicBool,
    pub(crate) evicted: AtomicBool,
    pub(crate) wake: Wake,
}

impl Entry {
    /// It has nothing to do until there is more in the log. To be followed by a look at the log.
    pub(crate) fn falls_asleep(&self) {
        self.asleep.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_awake(&self) {
        self.asleep.store(false, Ordering::SeqCst);
    }

    /// There is more in the log.
    pub(crate) fn rouse(&self) {
        if self.asleep.swap(false, Ordering::SeqCst) {
            self.wake.wake();
        }
    }

    pub(crate) fn semi_sync(&self) -> bool {
        self.semi_sync
    }

    pub(crate) fn is_evicted(&self) -> bool {
        self.evicted.load(Ordering::SeqCst)
    }

    pub(crate) fn evict(&self) {
        self.evicted.store(true, Ordering::SeqCst);
        self.wake.wake();
    }
}

#[derive(Debug, Default)]
pub(crate) struct Readers {
    pub(crate) all: BTreeMap<u64, Arc<Entry>>,
    /// The thread that wakes them runs.
    pub(crate) watched: bool,
}

pub(crate) struct Shared {
    pub(crate) db: Database,
    /// Server version in format description events.
    pub(crate) version: String,
    pub(crate) semi_sync: SemiSync,
    pub(crate) tail: Tail,
    pub(crate) readers: Mutex<Readers>,
    pub(crate) replicas: Mutex<BTreeMap<u32, Replica>>,
    pub(crate) next: AtomicU64,
}
