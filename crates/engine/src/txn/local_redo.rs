//! What a transaction logs for this server only.

use crate::parts::Parts;
use narwal_binlog::{GroupBuilder, Mark};

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
