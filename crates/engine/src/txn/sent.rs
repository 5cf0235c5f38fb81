//! What a transaction has sent to the log before its commit.

use crate::binlog::oob_holds::OobHold;
use narwal_log::Lsn;

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
