//! What a commit gets.

use crate::binlog::order::Order;
use narwal_binlog::Gtid;
use narwal_log::Log;
use narwal_log::Ticket;

/// What a commit got.
#[derive(Debug, Clone, Default)]
pub struct CommitInfo {
    /// Commit sequence number; 0 if nothing was written.
    pub seq: u64,
    /// GTID as text, empty if nothing was written.
    pub gtid: String,
}

/// A commit that has its place in the log and is on its way there: see [`crate::Transaction::commit_reserved`].
#[derive(Debug, Default)]
pub struct Reserved {
    /// Commit sequence number; 0 if nothing was written.
    pub seq: u64,
    /// The GTID; `None` if it has none (nothing was written, or for this server only).
    pub gtid: Option<Gtid>,
    pub(crate) ticket: Option<Ticket>,
}

impl Reserved {
    /// To be called when the record is handed over: the next commit may have been faster, and have a waiter already.
    pub(crate) fn pass_on(&self, log: &Log<Order>) {
        if let Some(ticket) = &self.ticket {
            log.pass_on(ticket);
        }
    }
}
