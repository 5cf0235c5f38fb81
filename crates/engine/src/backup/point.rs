//! Where a restored log is to end.

use crate::groups::folder::open_folder;
use crate::groups::reader::{GroupHead, GroupKind};
use crate::{EngineError, Result};
use narwal_binlog::{GtidState, VirtualConfig};
use narwal_log::{Disk, Lsn};
use std::path::Path;
use std::sync::Arc;

/// A moment of a database's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Point {
    /// When these GTIDs had been committed: behind the last of them.
    Gtid(String),
    /// Before the first transaction of a later second: seconds since 1970.
    Time(u32),
    /// Behind the event group that ends here.
    Position {
        /// Virtual file.
        file: String,
        /// Offset in it.
        offset: u64,
    },
}

/// Where the log is to be cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cut {
    /// Nothing from here on.
    pub lsn: Lsn,
    /// The last group that stays; `None`: none behind the base.
    pub last: Option<GroupHead>,
    /// `gtid_binlog_state` there.
    pub gtids: String,
    /// Timestamp of the last group, seconds since 1970; 0 without one.
    pub time: u32,
}

fn cannot(text: String) -> EngineError {
    EngineError::Io(text)
}

fn parse(text: &str) -> Result<GtidState> {
    text.parse()
        .map_err(|_| cannot(format!("{text:?} is no list of GTIDs")))
}

/// The GTIDs that a point names.
fn wanted(point: &Point) -> Result<Vec<narwal_binlog::Gtid>> {
    let Point::Gtid(text) = point else {
        return Ok(Vec::new());
    };
    let wanted: Vec<_> = parse(text)?.iter().collect();
    if wanted.is_empty() {
        return Err(cannot("name at least one GTID".into()));
    }
    Ok(wanted)
}

/// The number of the file that a point names.
fn file_number(point: &Point) -> Result<Option<u32>> {
    let Point::Position { file, .. } = point else {
        return Ok(None);
    };
    let digits = file.rsplit('.').next().unwrap_or_default();
    let number = (digits.parse::<u32>())
        .map_err(|_| cannot(format!("{file:?} is not the name of a binary log file")))?;
    Ok(Some(number))
}

/// The log ends before the point; `cut` is its end.
fn beyond(point: &Point, cut: Cut, wanted: &[narwal_binlog::Gtid]) -> Result<Cut> {
    match point {
        // Nothing later has happened that is known of.
        Point::Time(_) => Ok(cut),
        Point::Gtid(_) => {
            let missing: Vec<String> = wanted.iter().map(ToString::to_string).collect();
            Err(cannot(format!(
                "the log up to {} does not have {}: more of it is needed (--archive)",
                cut.gtids,
                missing.join(",")
            )))
        }
        Point::Position { file, offset } => Err(cannot(format!(
            "the log up to {} does not reach {file}:{offset}: more of it is needed (--archive)",
            cut.gtids
        ))),
    }
}

/// The point, as a message names it, if a group lies behind it. A GTID says nothing about groups that are not its own.
///
/// # Errors
/// The point is a position inside of the group.
fn passed(point: &Point, file_no: Option<u32>, head: &GroupHead) -> Result<Option<String>> {
    match (point, file_no) {
        (Point::Time(t), _) if head.timestamp > *t => Ok(Some("that time".into())),
        (Point::Position { file, offset }, Some(no)) => {
            let end = head.start_pos + head.len;
            if head.file_no == no && head.start_pos < *offset && end > *offset {
                return Err(cannot(format!(
                    "{file}:{offset} is inside the transaction from {} to {end}",
                    head.start_pos
                )));
            }
            let behind = (head.file_no, head.start_pos) >= (no, *offset);
            Ok(behind.then(|| format!("{file}:{offset}")))
        }
        _ => Ok(None),
    }
}

/// Finds `point` in the log folder `log` of a restored backup, whose base has the commits up to `base_seq` and replays from
/// `base_lsn` on with the GTIDs `base_gtids`.
///
/// # Errors
/// The point lies before the base or behind the end of the log, or names no place in it; damage in the log.
pub fn find_cut(
    disk: Arc<dyn Disk>,
    log: &Path,
    config: &VirtualConfig,
    (base_seq, base_lsn, base_gtids): (u64, Lsn, &str),
    point: &Point,
) -> Result<Cut> {
    let base = parse(base_gtids)?;
    let mut wanted = wanted(point)?;
    let file_no = file_number(point)?;
    let before_base = |what: String| {
        cannot(format!(
            "{what} is before this backup's base, which has {}: restore an earlier backup, and the log from there on",
            if base_gtids.is_empty() {
                "no GTIDs"
            } else {
                base_gtids
            }
        ))
    };
    // What the base has already.
    let in_base =
        |g: &narwal_binlog::Gtid| base.last_of(g.domain, g.server).is_some_and(|s| s >= g.seq);
    wanted.retain(|g| !in_base(g));
    let mut cut = Cut {
        lsn: base_lsn,
        last: None,
        gtids: base_gtids.to_owned(),
        time: 0,
    };
    if let Point::Gtid(text) = point
        && wanted.is_empty()
    {
        let all = parse(text)?;
        let exact = base
            .iter()
            .all(|b| all.last_of(b.domain, b.server) == Some(b.seq));
        return if exact {
            Ok(cut)
        } else {
            Err(before_base(text.clone()))
        };
    }
    let mut state = base.clone();
    // A state at or before the base, so that positions are known from there on.
    let early = |s: &crate::record::state::StateRecord| {
        s.files
            .gtids()
            .iter()
            .all(|g| base.last_of(g.domain, g.server).is_some_and(|b| b >= g.seq))
    };
    let opened = open_folder(disk, log, config.clone(), &early)?
        .ok_or_else(|| cannot(format!("{}: no log", log.display())))?;
    let mut groups = opened.groups;
    let end = loop {
        let Some(head) = groups.next_group()? else {
            break None;
        };
        if head.kind == GroupKind::Local {
            continue;
        }
        if let Some(at) = passed(point, file_no, &head)? {
            match head.seq > base_seq {
                true => break Some(()),
                false => return Err(before_base(at)),
            }
        }
        if head.seq > base_seq {
            state.observe(head.gtid);
            cut.lsn = head.end_lsn;
            cut.last = Some(head);
            cut.time = head.timestamp;
        }
        wanted.retain(|g| *g != head.gtid);
        if matches!(point, Point::Gtid(_)) && wanted.is_empty() {
            break Some(());
        }
        if let (Point::Position { offset, .. }, Some(no)) = (point, file_no)
            && (head.file_no, head.start_pos + head.len) == (no, *offset)
            && head.seq > base_seq
        {
            break Some(());
        }
    };
    cut.gtids = state.to_string();
    match end {
        Some(()) => Ok(cut),
        None => beyond(point, cut, &wanted),
    }
}
