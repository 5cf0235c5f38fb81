//! What of the binary log, and of what was applied, readers can see now: less than has its place while the gate holds
//! commits back.

use crate::Result;
use crate::binlog::lookup;
use crate::binlog::part::Binlog;
use crate::record::replica::ReplicaState;
use narwal_binlog::GtidState;
use narwal_log::{Gate, LogError};

/// Waits until everything that has its place is visible; false if the gate holds something back.
fn wait(db: &Binlog, seq: u64) -> Result<bool> {
    let held = || db.log.gate() == Gate::Visibility;
    if db.log.visible_seq() >= seq {
        return Ok(true);
    }
    if held() {
        return Ok(false);
    }
    match db.log.wait_visible_or(seq, held) {
        Ok(()) => Ok(true),
        Err(LogError::GivenUp) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

/// The last GTID of every (domain, server) that readers see.
pub(crate) fn gtids(db: &Binlog) -> Result<GtidState> {
    let (seq, gtids) = (db.log).with_order_state(|o, at| (at.seq, o.binlog.gtids().clone()));
    if wait(db, seq)? {
        return Ok(gtids);
    }
    Ok(lookup::by_seq(db, db.log.visible_seq())?.gtids().clone())
}

/// What was applied, as far as readers see it.
pub(crate) fn applied(db: &Binlog) -> Result<ReplicaState> {
    let now = db.log.with_order_state(|o, _| o.replica.clone());
    wait(db, now.seq)?;
    Ok(db.applied_seen.tell(now, db.log.visible_seq()))
}
