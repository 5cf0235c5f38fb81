//! State records: writing one, and the binary log's state as it is now.

use crate::binlog::index::{FileEntry, Index};
use crate::binlog::order::Order;
use crate::binlog::part::Binlog;
use crate::binlog::track::place_of;
use crate::clock::now;
use crate::record::state::{StateReason, StateRecord};
use crate::{EngineError, Result};
use narwal_binlog::VirtualFiles;
use narwal_log::{HEADER_LEN, RecordKind, ReserveError, Reserved, Ticket};
use parking_lot::MutexGuard;
use std::cell::Cell;
use std::sync::atomic::Ordering;

/// Writes the State record that [`Order::place`] asked for. Waits for nobody; without room in the log it is left out,
/// and readers have further to scan.
pub(crate) fn state_due(db: &Binlog) {
    let file = Cell::new(0);
    let seen = |o: &mut Order, _: &Reserved| file.set(o.binlog.file_no());
    if let Err(e) = write_state(db, StateReason::Interval, 0, |_| Ok(()), seen) {
        tracing::debug!("no state record: {e}");
    } else if db.told.swap(file.get(), Ordering::Relaxed) != file.get() {
        // A new file: old ones may go now.
        db.look();
    }
}

/// Writes a State record. `change` changes the state in the same step of the log's order, `also` what goes with it.
/// `more`: GTIDs by which `change` makes the state longer. The ticket need not be waited for.
pub(crate) fn write_state(
    db: &Binlog,
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
        db.state_records.fetch_add(1, Ordering::Relaxed);
        return Ok(ticket);
    }
}

/// Why no State record was reserved.
pub(crate) enum Refused {
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
pub(crate) fn view(db: &Binlog) -> (MutexGuard<'_, Index>, FileEntry) {
    let mut index = db.index.lock();
    let current = db.log.with_order_state(|o, _| {
        o.track.drain(&mut index);
        o.track.current.clone()
    });
    (index, current)
}
