//! The content of a group, found by its GTID: what is compared with another server's group of that name.

use crate::binlog::lookup::{Found, again, read_from};
use crate::binlog::part::Binlog;
use crate::binlog::write::view;
use crate::groups::reader::GroupReader;
use crate::groups::records::{LiveRecords, Records};
use crate::{EngineError, Result};
use narwal_binlog::{ContentHash, ContentHasher, EventReader, Gtid};

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

/// The newest point of the index that has none of these groups before it. (Numbers of one server in one domain rise,
/// except where somebody has set them by hand: then it may be a group with a lower number that stands before it.)
fn before(db: &Binlog, gtids: &[Gtid]) -> Option<Found> {
    let (index, _) = view(db);
    let clear = |at: &Gtid| {
        let mut same = gtids
            .iter()
            .filter(|g| (g.domain, g.server) == (at.domain, at.server));
        same.all(|g| at.seq < g.seq)
    };
    let point = index
        .points
        .iter()
        .rev()
        .find(|p| p.gtids.iter().all(clear))?;
    Some(Found::at(db, point))
}

/// Reads groups from a place on that stands before all of these.
pub(crate) fn reader_before(
    db: &Binlog,
    gtids: &[Gtid],
) -> Result<Option<GroupReader<LiveRecords>>> {
    again(|| {
        before(db, gtids)
            .map(|found| read_from(db, found))
            .transpose()
    })
}

/// The content of the group with this GTID; `None` if the log does not have it, or not any more.
pub(crate) fn by_gtid(db: &Binlog, gtid: Gtid) -> Result<Option<ContentHash>> {
    again(|| by_gtid_once(db, gtid))
}

fn by_gtid_once(db: &Binlog, gtid: Gtid) -> Result<Option<ContentHash>> {
    let Some(found) = before(db, &[gtid]) else {
        return Ok(None);
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
