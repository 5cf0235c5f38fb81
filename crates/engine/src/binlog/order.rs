use crate::binlog::track::{Track, place_of};
use crate::record::replica::ReplicaState;
use crate::record::xa::PreparedList;
use crate::store::memtable::Memtable;
use narwal_binlog::{GtidChoice, Placement, VirtualFiles};
use narwal_log::Reserved;
use std::sync::Arc;

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
