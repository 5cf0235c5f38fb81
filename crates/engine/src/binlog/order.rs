//! What advances in the log's order.

use crate::binlog::oob_holds::{OobHold, OobRegistry};
use crate::binlog::track::{Track, place_of};
use crate::record::replica::ReplicaState;
use crate::record::xa::PreparedList;
use crate::record::xa::{PreparedAt, XaStep};
use crate::store::memtable::Memtable;
use narwal_binlog::{GtidChoice, Placement, VirtualFiles};
use narwal_log::Lsn;
use narwal_log::Reserved;
use std::sync::Arc;

/// State that advances in log order, guarded by the log's order mutex.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) binlog: VirtualFiles,
    pub(crate) track: Track,
    pub(crate) active: Arc<Memtable>,
    pub(crate) replica: ReplicaState,
    /// XA transactions that are prepared and not ended.
    pub(crate) prepared: PreparedList,
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

    /// The record of an XA transaction has got its place. What it prepares keeps the log from there on, or from its first
    /// chunk (0: none) on.
    pub(crate) fn place_xa(
        &mut self,
        step: &XaStep,
        holds: &Arc<OobRegistry>,
        lsn: Lsn,
        first_chunk: Lsn,
    ) -> Option<OobHold> {
        match step {
            XaStep::Prepared(xid) => {
                let needed = if first_chunk == 0 { lsn } else { first_chunk };
                debug_assert!(
                    needed <= lsn,
                    "a chunk stands behind the record that names it"
                );
                let at = PreparedAt { lsn, needed };
                self.prepared.insert(xid.clone(), at);
                Some(holds.hold(needed))
            }
            XaStep::Ended { xid, .. } => {
                let ended = self.prepared.remove(xid);
                debug_assert!(ended.is_some(), "what ends was never prepared");
                None
            }
        }
    }
}
