//! What a transaction logs: the growing event group, what of it was sent already, and what is for this server only.

use crate::binlog::oob_holds::OobHold;
use crate::parts::Parts;
use narwal_binlog::{GroupBuilder, Mark, RowMetadata};
use narwal_log::Lsn;

/// See the module's comment.
pub(crate) struct Events {
    /// The group; `None` before the first change.
    pub(crate) builder: Option<GroupBuilder>,
    /// Hidden row ids of row changes in event order, of events that were not sent out of band: the events don't say
    /// them.
    pub(crate) row_ids: Vec<u64>,
    /// Number of hidden row ids that were sent out of band.
    pub(crate) row_ids_sent: u64,
    /// The growing rows event with row ids, and how many ids came before it.
    pub(crate) row_ids_open: (Option<u64>, u64),
    /// Redo of tables that the binlog filter leaves out.
    pub(crate) local: Option<Box<LocalRedo>>,
    /// Metadata of this transaction's table maps.
    pub(crate) row_metadata: RowMetadata,
    /// What was sent out of band.
    pub(crate) oob: Option<Oob>,
    /// Of the statement that runs: its time, and its text if that should be logged.
    pub(crate) timestamp: u32,
    pub(crate) annotate: Option<Box<[u8]>>,
}

impl Events {
    pub(crate) fn new(row_metadata: RowMetadata) -> Self {
        Events {
            builder: None,
            row_ids: Vec::new(),
            row_ids_sent: 0,
            row_ids_open: (None, 0),
            local: None,
            row_metadata,
            oob: None,
            timestamp: 0,
            annotate: None,
        }
    }
}

/// Redo of filtered tables.
pub(crate) struct LocalRedo {
    pub(crate) builder: GroupBuilder,
    /// Hidden row ids of its row changes, in event order.
    pub(crate) row_ids: Vec<u64>,
}

/// A place in it.
#[derive(Debug, Clone)]
pub(crate) struct LocalMark {
    pub(crate) mark: Mark,
    pub(crate) row_ids: usize,
}

/// A row change to be logged.
pub(crate) enum Change<'a> {
    Insert(&'a [u8]),
    Update(&'a [u8], &'a [u8]),
    Delete(&'a [u8]),
}

/// An empty event group, or buffer of local events, with `reserve` spare bytes in front.
pub(crate) fn new_builder(db: &Parts, reserve: usize) -> GroupBuilder {
    let mut buf = narwal_log::spare_buffer();
    buf.reserve(1024);
    let mut b = GroupBuilder::with_buffer(buf, reserve, db.options.server_id);
    b.set_row_event_max_size(db.options.binlog_row_event_max_size);
    b
}

/// One chunk in the log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SentChunk {
    pub(crate) lsn: Lsn,
    /// Bytes of events.
    pub(crate) len: u64,
    /// Bytes of events up to and with this chunk.
    pub(crate) end: u64,
}

/// What a transaction has sent out of band.
#[derive(Debug)]
pub(crate) struct Oob {
    /// LSN of the first chunk that was not rolled back: the transaction's name among chunks.
    pub(crate) first: Lsn,
    pub(crate) chunks: Vec<SentChunk>,
    pub(crate) hold: Option<OobHold>,
}

impl Oob {
    /// Forgets the chunks behind `events` bytes of events.
    pub(crate) fn truncate(&mut self, events: u64) {
        let keep = self.chunks.partition_point(|c| c.end <= events);
        self.chunks.truncate(keep);
        debug_assert_eq!(self.chunks.last().map_or(0, |c| c.end), events);
    }
}
