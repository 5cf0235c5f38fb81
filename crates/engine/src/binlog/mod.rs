//! The log as a binary log: virtual files, positions, GTID state, retention.
//!
//! | file | holds |
//! |---|---|
//! | `api.rs` | the calls of [`crate::Database`] and their types |
//! | `state_record.rs` | the State record |
//! | `track.rs` | what advances with each group, under the log's order mutex |
//! | `index.rs` | files and points: LSN, commit number, position and GTIDs of one another |
//! | `store.rs` | the index in the base |
//! | `replay.rs` | recovery |
//! | `lookup.rs` | finding places, reading from them |
//! | `content.rs` | a group's content by its GTID |
//! | `admin.rs` | FLUSH, RESET MASTER, `gtid_binlog_state` |
//! | `retention.rs` | purging, and what keeps the log |
//! | `stretch.rs` | what an archive of the log needs to know |
//!
//! Locks: `admin`, then `index`, then the log's order mutex. A commit takes the last one only.

mod admin;
mod api;
mod content;
pub(crate) mod index;
mod lookup;
pub(crate) mod replay;
pub(crate) mod retention;
mod state_record;
pub(crate) mod store;
mod stretch;
pub(crate) mod track;

pub(crate) use admin::follow_file;
pub use api::{BinlogFile, BinlogPosition, BinlogStats, PurgeReport, ReadStart};
pub use content::hash_group;
pub use lookup::GtidFilter;
pub(crate) use lookup::position;
pub use retention::ReaderHold;
pub use state_record::{StateReason, StateRecord};
pub use stretch::LogStretch;

pub(crate) use admin::begin_file_behind;

use crate::db::{Inner, Order};
use crate::{EngineError, Result};
use index::{FileEntry, Index};
use narwal_binlog::{GtidChoice, Placement, VirtualFiles};
use narwal_log::{HEADER_LEN, RecordKind, ReserveError, Reserved, Ticket};
use parking_lot::{Mutex, MutexGuard};
use retention::{Holds, Settings};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use track::place_of;

/// What a database has for its binary log.
pub(crate) struct Binlog {
    pub(crate) index: Mutex<Index>,
    /// One FLUSH, RESET or PURGE at a time.
    admin: Mutex<()>,
    holds: Arc<Holds>,
    /// From [`crate::Options::hold_log`], until it is taken.
    first_hold: Mutex<Option<ReaderHold>>,
    pub(crate) settings: Settings,
    /// Where the State record stands that moved the start of the binary log last. Until it is durable nothing before
    /// the new start may be removed.
    start_moved: AtomicU64,
    /// The newest file that the background was told of.
    told: AtomicU32,
    state_records: AtomicU64,
    /// Searches of the log for a place, and the records they read.
    lookups: AtomicU64,
    lookup_records: AtomicU64,
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

/// Seconds since 1970 by the server's clock.
pub(crate) fn now() -> u32 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u32::try_from(d.as_secs()).unwrap_or(u32::MAX))
}

impl Order {
    /// Places a group of `len` bytes in the log's order. `time`: [`now`]. `first_chunk`: LSN of its first chunk, 0 if it
    /// has none. True: [`state_due`] should be called once the record is handed over.
    pub(crate) fn place(
        &mut self,
        at: &Reserved,
        len: u64,
        choice: &GtidChoice,
        time: u32,
        first_chunk: u64,
    ) -> (Placement, bool) {
        let placement = self.binlog.place(len, choice);
        let due = self
            .track
            .group(&self.binlog, &placement, place_of(at), time, first_chunk);
        (placement, due)
    }
}

/// Writes the State record that [`Order::place`] asked for. Waits for nobody; without room in the log it is left out,
/// and readers have further to scan.
pub(crate) fn state_due(db: &Inner) {
    let file = Cell::new(0);
    let seen = |o: &mut Order, _: &Reserved| file.set(o.binlog.file_no());
    if let Err(e) = write_state(db, StateReason::Interval, 0, |_| Ok(()), seen) {
        tracing::debug!("no state record: {e}");
    } else if db.binlog.told.swap(file.get(), Ordering::Relaxed) != file.get() {
        // A new file: old ones may go now.
        db.binlog.look();
    }
}

/// Writes a State record. `change` changes the state in the same step of the log's order, `also` what goes with it.
/// `more`: GTIDs by which `change` makes the state longer. The ticket need not be waited for.
fn write_state(
    db: &Inner,
    reason: StateReason,
    more: usize,
    change: impl Fn(&mut VirtualFiles) -> Result<()>,
    also: impl Fn(&mut Order, &Reserved),
) -> Result<Ticket> {
    let time = now();
    loop {
        let room = db
            .log
            .with_order_state(|o, _| StateRecord::room(&o.binlog) + 16 * more);
        let reserved = db.log.reserve_checked(
            RecordKind::State,
            room,
            |o: &mut Order| {
                let mut files = o.binlog.clone();
                change(&mut files)?;
                if !StateRecord::fits(&files, room) {
                    return Err(Refused::Longer); // somebody was faster with many new GTIDs
                }
                o.binlog = files;
                Ok(())
            },
            |at, o| {
                o.track.state(&o.binlog, reason, place_of(at), time);
                also(o, at);
                o.track.record(&o.binlog, reason)
            },
        );
        let (ticket, record) = match reserved {
            Ok(reserved) => reserved,
            Err(ReserveError::Refused(Refused::Longer)) => continue,
            Err(ReserveError::Refused(Refused::Not(e))) => return Err(e),
            Err(ReserveError::Log(e)) => return Err(e.into()),
        };
        let mut buf = vec![0; HEADER_LEN];
        buf.extend_from_slice(&record.encode(room));
        db.log.fill(&ticket, buf);
        db.binlog.state_records.fetch_add(1, Ordering::Relaxed);
        return Ok(ticket);
    }
}

/// Why no State record was reserved.
enum Refused {
    /// The state has become longer: once more.
    Longer,
    /// The change was refused.
    Not(EngineError),
}

impl From<EngineError> for Refused {
    fn from(e: EngineError) -> Self {
        Refused::Not(e)
    }
}

/// The index, complete, and the current file.
fn view(db: &Inner) -> (MutexGuard<'_, Index>, FileEntry) {
    let mut index = db.binlog.index.lock();
    let current = db.log.with_order_state(|o, _| {
        o.track.drain(&mut index);
        o.track.current.clone()
    });
    (index, current)
}
