//! Finding places in the log: by position, by GTIDs, by commit number. Each scans at most what lies between two points
//! of the index.

use crate::binlog::index::Point;
use crate::binlog::part::Binlog;
use crate::binlog::types::{BinlogPosition, ReadStart};
use crate::binlog::write::view;
use crate::groups::reader::{GroupHead, GroupReader};
use crate::groups::records::LiveRecords;
use crate::{EngineError, Result};
use narwal_binlog::{Gtid, GtidState, VirtualConfig, VirtualFiles};
use narwal_types::SqlError;
use narwal_types::errors::codes;
use std::sync::atomic::Ordering;

/// A place to read groups from.
#[derive(Debug)]
pub(crate) struct Found {
    /// Where to read on: the next group's record or something before it, or the end of the log.
    pub(crate) lsn: u64,
    /// The state before it.
    pub(crate) files: VirtualFiles,
}

impl Found {
    /// At a point of the index.
    pub(super) fn at(db: &Binlog, point: &Point) -> Found {
        Found {
            lsn: point.lsn,
            files: point.files(config(db)),
        }
    }
}

fn sql(code: u16, text: String) -> EngineError {
    EngineError::Sql(SqlError::new(code, b"HY000", text))
}

pub(crate) fn unknown_file(name: &str) -> EngineError {
    sql(
        codes::UNKNOWN_TARGET_BINLOG,
        format!("Target log not found in binlog index: '{name}'"),
    )
}

/// The number in a file's name.
pub(crate) fn file_number(db: &Binlog, name: &str) -> Result<u32> {
    db.log
        .with_order_state(|o, _| o.binlog.parse_file_name(name))
        .ok_or_else(|| unknown_file(name))
}

fn config(db: &Binlog) -> VirtualConfig {
    db.log.with_order_state(|o, _| o.binlog.config().clone())
}

/// Reads groups from a point on.
fn scan(db: &Binlog, point: &Point) -> Result<GroupReader<LiveRecords>> {
    make_readable(db)?;
    let config = config(db);
    let files = point.files(config.clone());
    Ok(GroupReader::new(
        LiveRecords::new(db.log.read_from(point.lsn)?, db.log.records()),
        config,
        Some(files),
    ))
}

/// Makes sure that everything reserved so far can be read. To be called after the index was looked at, which knows of
/// records that are only reserved.
fn make_readable(db: &Binlog) -> Result<()> {
    let end = db.log.with_order_state(|_, at| at.lsn);
    if db.log.durable_lsn() < end {
        db.log.sync_all()?;
    }
    Ok(())
}

/// Scans from `point` until `stop` says that the place before a group is meant, or to the end.
fn find(db: &Binlog, point: &Point, mut stop: impl FnMut(&GroupHead) -> bool) -> Result<Found> {
    let mut reader = scan(db, point)?;
    let config = config(db);
    let mut walk = Walk {
        file_no: point.file_no,
        head: point.head,
        offset: point.offset,
        gtids: point.gtids.iter().copied().collect(),
    };
    // Behind the last group left out, not at the next one: a State record between them belongs to what is read.
    let mut lsn = point.lsn;
    db.lookups.fetch_add(1, Ordering::Relaxed);
    while let Some(head) = reader.next_group()? {
        if stop(&head) {
            break;
        }
        lsn = head.end_lsn;
        walk.gtids.observe(head.gtid);
        walk.offset = head.start_pos.saturating_add(head.len);
        if walk.file_no != head.file_no {
            walk.file_no = head.file_no;
            walk.head = head.start_pos;
        }
    }
    let read = reader.records().count();
    db.lookup_records.fetch_add(read, Ordering::Relaxed);
    Ok(Found {
        lsn,
        files: walk.files(config),
    })
}

/// The state before the group at hand. (State records change the reader's own state, but each of them is a point of
/// the index, so none lies between a point and what it is the nearest one to.)
#[derive(Debug)]
struct Walk {
    file_no: u32,
    head: u64,
    offset: u64,
    gtids: GtidState,
}

impl Walk {
    fn files(&self, config: VirtualConfig) -> VirtualFiles {
        VirtualFiles::at(
            config,
            self.file_no,
            self.head,
            self.offset,
            self.gtids.clone(),
        )
    }
}

/// What an offset of a file means.
#[derive(Debug)]
pub(crate) enum AtOffset {
    /// The start of a group, or an end.
    Boundary(Found),
    /// Inside the group that starts at this LSN, with the state before it and its offset.
    Inside(Found, u64),
    /// Behind the end of the file, which is this long.
    BehindEnd(u64),
}

/// Looks an offset of a file up.
pub(crate) fn by_offset(db: &Binlog, file_no: u32, offset: u64) -> Result<Option<AtOffset>> {
    let (index, current) = view(db);
    let entry = index
        .files
        .iter()
        .find(|f| f.number == file_no)
        .or_else(|| (current.number == file_no).then_some(&current));
    let Some(entry) = entry else { return Ok(None) };
    let size = entry.size;
    if offset > size {
        return Ok(Some(AtOffset::BehindEnd(size)));
    }
    let start = entry.start();
    let point = index
        .by_offset(file_no, offset.max(start.offset))
        .cloned()
        .unwrap_or(start);
    drop(index);
    if offset <= point.offset {
        return Ok(Some(AtOffset::Boundary(Found::at(db, &point))));
    }
    let mut inside = None;
    let found = find(db, &point, |head| {
        if head.file_no != file_no || head.start_pos >= offset {
            return true;
        }
        let within = offset < head.start_pos.saturating_add(head.len);
        inside = within.then_some(head.start_pos);
        within
    })?;
    let end = found.files.offset();
    if inside.is_none() && end < offset && offset < size {
        inside = Some(end); // inside the ROTATE event
    }
    Ok(Some(match inside {
        Some(start) => AtOffset::Inside(found, start),
        None => AtOffset::Boundary(found),
    }))
}

/// The point that the search for an LSN begins at.
fn point_for(db: &Binlog, lsn: u64) -> Result<Point> {
    let (index, _) = view(db);
    match (index.by_lsn(lsn), index.points.front()) {
        (Some(p), _) => Ok(p.clone()),
        (None, Some(first)) => Err(sql(
            codes::MASTER_FATAL_ERROR_READING_BINLOG,
            format!(
                "The log up to LSN {} has been purged; LSN {lsn} can't be read",
                first.lsn
            ),
        )),
        (None, None) => Err(no_index()),
    }
}

/// The first group at or behind an LSN.
pub(crate) fn by_lsn(db: &Binlog, lsn: u64) -> Result<Found> {
    let point = point_for(db, lsn)?;
    find(db, &point, |head| head.lsn >= lsn)
}

/// As [`by_lsn`], with the time of the last group before it if one was passed by the search.
pub(crate) fn before_lsn(db: &Binlog, lsn: u64) -> Result<(Found, Option<u32>)> {
    let point = point_for(db, lsn.saturating_sub(1))?;
    let mut time = None;
    let found = find(db, &point, |head| {
        if head.lsn < lsn {
            time = time.max(Some(head.timestamp));
        }
        head.lsn >= lsn
    })?;
    Ok((found, time))
}

/// The first group that is missing to somebody who has everything up to `have`.
pub(crate) fn by_gtids(db: &Binlog, have: &GtidState) -> Result<Found> {
    let (index, _) = view(db);
    // Somebody who is ahead of this server in a domain of its has another history.
    let known = db.log.with_order_state(|o, _| o.binlog.gtids().clone());
    for has in have.position() {
        if known.last(has.domain).is_some()
            && known
                .last_of(has.domain, has.server)
                .is_none_or(|seq| seq < has.seq)
        {
            return Err(sql(
                codes::MASTER_FATAL_ERROR_READING_BINLOG,
                format!(
                    "The replica asks for what follows GTID {has}, which is not in the source's binary log"
                ),
            ));
        }
    }
    let point = index.by_gtids(have).cloned().ok_or_else(|| {
        sql(
            codes::MASTER_FATAL_ERROR_READING_BINLOG,
            "Could not find GTID state requested by slave in any binlog files. Probably the slave state is too old and required binlog files have been purged."
                .into(),
        )
    })?;
    drop(index);
    let mut filter = GtidFilter::new(have);
    filter.passed(point.gtids.iter().copied());
    find(db, &point, |head| filter.wants(head.gtid))
}

/// Looks again if a purge has taken away what the index named a moment before.
pub(crate) fn again<T>(look: impl Fn() -> Result<T>) -> Result<T> {
    let mut tries = 0;
    loop {
        match look() {
            Err(EngineError::Io(_)) if tries < 3 => tries += 1,
            r => return r,
        }
    }
}

/// The state behind commit `seq`.
pub(crate) fn by_seq(db: &Binlog, seq: u64) -> Result<VirtualFiles> {
    again(|| by_seq_once(db, seq))
}

fn by_seq_once(db: &Binlog, seq: u64) -> Result<VirtualFiles> {
    let now = db
        .log
        .with_order_state(|o, at| (at.seq <= seq).then(|| o.binlog.clone()));
    if let Some(files) = now {
        return Ok(files);
    }
    let (index, _) = view(db);
    // A snapshot from before a purge or a reset stands before the oldest group.
    let point = index
        .by_seq(seq)
        .or_else(|| index.points.front())
        .cloned()
        .ok_or_else(no_index)?;
    drop(index);
    Ok(find(db, &point, |head| head.seq > seq)?.files)
}

fn no_index() -> EngineError {
    EngineError::Corrupt("the binary log's index is empty".into())
}

/// BINLOG_GTID_POS(): also the ends of events inside a group count, there the group's own GTID is in.
pub(crate) fn gtid_pos(db: &Binlog, file: &str, offset: u64) -> Result<Option<String>> {
    again(|| gtid_pos_once(db, file, offset))
}

fn gtid_pos_once(db: &Binlog, file: &str, offset: u64) -> Result<Option<String>> {
    let number = if file.is_empty() {
        let (index, current) = view(db);
        index.files.front().unwrap_or(&current).number
    } else {
        match db
            .log
            .with_order_state(|o, _| o.binlog.parse_file_name(file))
        {
            Some(n) => n,
            None => return Ok(None),
        }
    };
    match by_offset(db, number, offset)? {
        None | Some(AtOffset::BehindEnd(_)) => Ok(None),
        Some(AtOffset::Boundary(found)) => {
            let files = &found.files;
            let head_boundary = [0, 4, narwal_binlog::FDE_LEN as u64 + 4];
            let known = if files.file_no() != number || offset >= files.head_len() {
                // Between groups every byte belongs to one, so it is a boundary.
                true
            } else {
                head_boundary.contains(&offset)
            };
            Ok(known.then(|| files.gtids().position_text()))
        }
        Some(AtOffset::Inside(found, start)) => {
            let mut reader = read_from(db, found)?;
            let Some(head) = reader.next_group()?.filter(|h| h.start_pos == start) else {
                return Ok(None);
            };
            let mut at = head.start_pos;
            while let Some(event) = reader.next_event()? {
                at += event.len() as u64;
                if at >= offset {
                    break;
                }
            }
            Ok((at == offset)
                .then(|| reader.files().map(|f| f.gtids().position_text()))
                .flatten())
        }
    }
}

/// Reads groups from a place on.
pub(crate) fn read_from(db: &Binlog, found: Found) -> Result<GroupReader<LiveRecords>> {
    make_readable(db)?;
    let config = config(db);
    let records = LiveRecords::new(db.log.read_from(found.lsn)?, db.log.records());
    Ok(GroupReader::new(records, config, Some(found.files)))
}

/// Opens a reader.
pub(crate) fn reader(db: &Binlog, start: ReadStart) -> Result<GroupReader<LiveRecords>> {
    let found = match start {
        ReadStart::Oldest => {
            let (index, current) = view(db);
            let first = index.files.front().unwrap_or(&current).start();
            drop(index);
            Found::at(db, &first)
        }
        ReadStart::File { name, offset } => {
            let number = file_number(db, &name)?;
            match by_offset(db, number, offset)? {
                None => return Err(unknown_file(&name)),
                Some(AtOffset::Boundary(found)) => found,
                Some(AtOffset::Inside(_, start)) => {
                    return Err(EngineError::InsideGroup {
                        file: name,
                        offset,
                        start,
                    });
                }
                Some(AtOffset::BehindEnd(size)) => {
                    return Err(EngineError::BehindFileEnd {
                        file: name,
                        offset,
                        size,
                    });
                }
            }
        }
        ReadStart::Gtid(text) => {
            let have: GtidState = text.parse().map_err(|e: narwal_binlog::BinlogError| {
                sql(codes::INCORRECT_GTID_STATE, e.to_string())
            })?;
            by_gtids(db, &have)?
        }
        ReadStart::Lsn(lsn) => by_lsn(db, lsn)?,
    };
    read_from(db, found)
}

/// The position in a state.
pub(crate) fn position(files: &VirtualFiles) -> BinlogPosition {
    BinlogPosition {
        file: files.current_file(),
        offset: files.offset(),
        gtid_pos: files.gtids().position_text(),
    }
}

/// Which groups are missing to somebody who has everything up to some GTID of each domain. Groups are to be asked about
/// in log order; the domains stand side by side in one log, so behind the first missing group others are not.
#[derive(Debug, Clone)]
pub struct GtidFilter {
    /// Domains whose last known GTID has not come by yet.
    waiting: Vec<Gtid>,
}

impl GtidFilter {
    /// For somebody who has everything up to the last GTID of each domain in `have`.
    #[must_use]
    pub fn new(have: &GtidState) -> Self {
        GtidFilter {
            waiting: have.position().collect(),
        }
    }

    /// The log is read from a place on before which `gtids` stand, an entry for each (domain, server).
    pub fn passed(&mut self, gtids: impl Iterator<Item = Gtid>) {
        for gtid in gtids {
            self.waiting
                .retain(|w| (w.domain, w.server) != (gtid.domain, gtid.server) || gtid.seq < w.seq);
        }
    }

    /// Whether the group is missing.
    pub fn wants(&mut self, gtid: Gtid) -> bool {
        let Some(at) = self.waiting.iter().position(|w| w.domain == gtid.domain) else {
            return true;
        };
        let has = self.waiting[at];
        if gtid.server != has.server || gtid.seq < has.seq {
            return false;
        }
        self.waiting.swap_remove(at);
        gtid.seq > has.seq
    }
}
