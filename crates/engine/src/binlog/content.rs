//! The content of a group, found by its GTID: what is compared with another server's group of that name.

use super::lookup::{Found, again, read_from};
use super::view;
use crate::db::Inner;
use crate::groups::{GroupReader, Records};
use crate::{EngineError, Result};
use narwal_binlog::{ContentHash, ContentHasher, EventReader, Gtid};
use std::sync::Arc;

/// Hashes the group that `groups` stands at.
///
/// # Errors
/// The log can't be read, or an event is not what its header says.
pub fn hash_group<R: Records>(groups: &mut GroupReader<R>) -> Result<ContentHash> {
    let mut hasher = ContentHasher::new();
    let damaged = |e: narwal_binlog::BinlogError| EngineError::Corrupt(e.to_string());
    while let Some(bytes) = groups.next_event()? {
        // The record's checksum has just vouched for them.
        for event in EventReader::new(bytes).trusting_checksums() {
            hasher.event(&event.map_err(damaged)?).map_err(damaged)?;
        }
    }
    Ok(hasher.finish())
}

/// The content of the group with this GTID; `None` if the log does not have it, or not any more.
pub(crate) fn by_gtid(db: &Arc<Inner>, gtid: Gtid) -> Result<Option<ContentHash>> {
    again(|| by_gtid_once(db, gtid))
}

fn by_gtid_once(db: &Arc<Inner>, gtid: Gtid) -> Result<Option<ContentHash>> {
    let found = {
        let (index, _) = view(db);
        let before =
            |at: &Gtid| (at.domain, at.server) != (gtid.domain, gtid.server) || at.seq < gtid.seq;
        let points = || index.points.iter().rev();
        // The newest place that does not have it before it. Numbers of one server in one domain rise, except where
        // somebody has set them by hand: then it may be a group of that number that was written before.
        let Some(point) = points().find(|p| p.gtids.iter().all(before)) else {
            return Ok(None);
        };
        Found::at(db, point)
    };
    let mut groups = read_from(db, found)?;
    while let Some(head) = groups.next_group()? {
        if head.gtid == gtid {
            return hash_group(&mut groups).map(Some);
        }
        let same = (head.gtid.domain, head.gtid.server) == (gtid.domain, gtid.server);
        if same && head.gtid.seq > gtid.seq {
            break;
        }
    }
    Ok(None)
}
