//! The log as a binary log: files, positions, GTID state, retention.

mod api;

pub use api::{BinlogFile, BinlogPosition, BinlogStats, PurgeReport, ReadStart, ReaderHold};

use crate::db::Inner;
use crate::{EngineError, Result};
use narwal_binlog::GtidChoice;

/// Refuses a GTID that strict mode does not allow.
pub(crate) fn check_gtid(db: &Inner, choice: &GtidChoice) -> Result<()> {
    if !choice.strict || choice.seq_no.is_none() {
        return Ok(());
    }
    db.log
        .with_order_state(|o, _| o.binlog.check(choice))
        .map_err(EngineError::GtidOrder)
}
