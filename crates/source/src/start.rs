//! Where a dump starts.

use crate::error::DumpError;
use crate::filter::GtidStream;
use crate::reader::ClientVars;
use crate::request::DumpRequest;
use narwal_binlog::{FDE_LEN, Gtid, GtidSet, GtidState, HEADER_LEN, MAGIC, SameContent, gtid_uuid};
use narwal_engine::{Database, EngineError, GroupReader, LiveRecords, ReadStart};
use narwal_types::SqlError;
use narwal_types::errors::codes;

/// Offset of the first event in a file.
pub(crate) const FIRST_EVENT: u64 = MAGIC.len() as u64;
/// Offset of the GTID_LIST event.
pub(crate) const LIST_POS: u64 = FIRST_EVENT + FDE_LEN as u64;
/// Bytes of a ROTATE event but for the file name in it.
pub(crate) const ROTATE_LEN: u64 = 19 + 8 + 4;

/// A dump's beginning.
pub(crate) struct Start {
    /// The virtual file in which the dump begins ...
    pub(crate) file_no: u32,
    /// ... its name, the GTIDs before it, the time of its last event.
    pub(crate) file: String,
    pub(crate) file_gtids: GtidState,
    pub(crate) file_time: u32,
    /// What the artificial ROTATE says.
    pub(crate) rotate_pos: u64,
    /// The file's own GTID_LIST is sent.
    pub(crate) list: bool,
    /// Offset from which events are sent.
    pub(crate) pos: u64,
    /// Groups of this file were skipped: the reader must be told.
    pub(crate) skipped: bool,
    /// The reader has the first group's events before `pos`.
    pub(crate) inside: bool,
    /// `pos` is behind the file's ROTATE.
    pub(crate) behind_rotate: bool,
    /// Which groups are sent, for a reader by GTID.
    pub(crate) stream: Option<GtidStream>,
}

/// What the reader has read, for the errors of starts by position. They name it as MariaDB's do.
pub(crate) fn with_place(what: &str, file: &str, pos: u64, read: u64, byte: u64) -> DumpError {
    DumpError::fatal(format!(
        "{what}; the first event '{file}' at {pos}, the last event read from '{file}' at {read}, the last byte read from '{file}' at {byte}."
    ))
}

/// The groups from a dump's start on.
pub(crate) type Reader = GroupReader<LiveRecords>;

/// Finds the start. What it needs is held already.
pub(crate) fn find(
    db: &Database,
    request: &DumpRequest,
    vars: &ClientVars,
) -> Result<(Reader, Start), DumpError> {
    let found = match (&vars.executed, &vars.connect_state) {
        (Some(executed), _) => by_gtid_set(db, executed, vars),
        (None, Some(state)) => by_gtid(db, state, vars),
        (None, None) => by_position(db, request),
    }?;
    check_contents(db, vars)?;
    Ok(found)
}

/// Most groups of a replica that are compared with what stands here: it sends one of each domain.
const MAX_COMPARED: usize = 64;

/// Refuses a replica whose last group of some domain stands here under the same GTID with other content. What does not
/// stand here (any more), or in a form that can't be compared, is no reason.
fn check_contents(db: &Database, vars: &ClientVars) -> Result<(), DumpError> {
    for (gtid, theirs) in vars.contents.iter().take(MAX_COMPARED) {
        let Some(ours) = db.content_hash(*gtid)? else {
            continue;
        };
        if theirs.same_as(&ours) == SameContent::No {
            let last = db.gtid_state().last(gtid.domain).unwrap_or(*gtid);
            return Err(DumpError::fatal(format!(
                "Error: connecting slave requested to start from GTID {gtid}, which is in the master's binlog with other \
                 content: their histories part at or before it. The slave's {gtid} has the content {}, the master's {gtid} \
                 has {}; the master's last GTID is {last}. narwal diverge tells where they part",
                theirs.short(),
                ours.short(),
            )));
        }
    }
    Ok(())
}

fn by_position(db: &Database, request: &DumpRequest) -> Result<(Reader, Start), DumpError> {
    let unknown =
        || DumpError::fatal("Could not find first log file name in binary log index file");
    let impossible = |file: &str| {
        with_place(
            "Client requested master to start replication from impossible position",
            file,
            u64::from(request.position),
            FIRST_EVENT,
            FIRST_EVENT,
        )
    };
    let files = db.binlog_files();
    let at = match &*request.file {
        "" => Some(0),
        name => files.iter().position(|f| f.name == name),
    };
    let (at, file) = at
        .and_then(|at| Some((at, files.get(at)?)))
        .ok_or_else(unknown)?;
    let pos = u64::from(request.position);
    if pos < FIRST_EVENT {
        return Err(impossible(&file.name));
    }
    let start = |offset| ReadStart::File {
        name: file.name.clone(),
        offset,
    };
    let (reader, inside) = match db.binlog_reader(start(pos)) {
        Ok(reader) => (reader, false),
        // A replica by position goes on inside a group if the connection broke there.
        Err(EngineError::InsideGroup { start: group, .. }) => {
            (db.binlog_reader(start(group))?, true)
        }
        Err(EngineError::BehindFileEnd { .. }) => return Err(impossible(&file.name)),
        Err(EngineError::Sql(e)) if e.code == codes::UNKNOWN_TARGET_BINLOG => return Err(unknown()),
        Err(e) => return Err(e.into()),
    };
    let (head, place) = match reader.files() {
        Some(files) => (files.head_len(), (files.file_no(), files.offset())),
        None => (LIST_POS, (file.number, pos)),
    };
    if pos < head && pos != FIRST_EVENT && pos != LIST_POS {
        return Err(no_event_at(&file.name, pos));
    }
    let closed = at + 1 < files.len();
    // Inside the ROTATE at the file's end.
    let rotate = file
        .size
        .saturating_sub(ROTATE_LEN + file.name.len() as u64);
    if inside && closed && place == (file.number, rotate) {
        return Err(no_event_at(&file.name, pos));
    }
    let (file_gtids, file_time) = db.binlog_file_start(file.number).ok_or_else(unknown)?;
    let start = Start {
        file_no: file.number,
        file: file.name.clone(),
        file_gtids,
        file_time,
        rotate_pos: pos,
        list: pos <= LIST_POS,
        pos: pos.max(head),
        skipped: false,
        inside,
        behind_rotate: closed && pos == file.size,
        stream: None,
    };
    Ok((reader, start))
}

/// No event starts at this offset.
pub(crate) fn no_event_at(file: &str, pos: u64) -> DumpError {
    with_place(
        "log event entry exceeded max_allowed_packet; Increase max_allowed_packet on master",
        file,
        pos,
        pos,
        pos + HEADER_LEN as u64,
    )
}

/// A reader's list, which names each domain once.
fn gtid_list(text: &str) -> Result<GtidState, DumpError> {
    let mut list = GtidState::new();
    if text.trim().is_empty() {
        return Ok(list);
    }
    for part in text.split(',') {
        let gtid: Gtid = part
            .parse()
            .map_err(|_| refused(codes::INCORRECT_GTID_STATE, "Could not parse GTID list"))?;
        if let Some(other) = list.last(gtid.domain) {
            return Err(refused(
                codes::DUPLICATE_GTID_DOMAIN,
                format!(
                    "GTID {gtid} and {other} conflict (duplicate domain id {})",
                    gtid.domain
                ),
            ));
        }
        list.observe(gtid);
    }
    Ok(list)
}

fn refused(code: u16, text: impl Into<Box<str>>) -> DumpError {
    DumpError::Refused(SqlError::new(code, b"HY000", text))
}

fn by_gtid(db: &Database, state: &str, vars: &ClientVars) -> Result<(Reader, Start), DumpError> {
    let have = gtid_list(state)?;
    let until = vars.until.as_deref().map(gtid_list).transpose()?;
    let log = db.gtid_state();
    // Domains where the reader is ahead, and may be: for the log they are read to the end.
    let mut ahead = Vec::new();
    let mut place = GtidState::new();
    for has in have.position() {
        let known = log.last(has.domain);
        let there = log
            .last_of(has.domain, has.server)
            .is_some_and(|seq| seq >= has.seq);
        let (Some(last), false) = (known, there) else {
            place.observe(has);
            continue;
        };
        let newest = log.next_seq(has.domain) - 1;
        if vars.ignore_duplicates && newest < has.seq {
            ahead.push(has.domain);
            place.observe(last);
            continue;
        }
        return Err(not_in_log(has, last, newest >= has.seq));
    }
    let mut text = String::new();
    for gtid in place.position() {
        let comma = if text.is_empty() { "" } else { "," };
        text.push_str(&format!("{comma}{gtid}"));
    }
    let reader = match db.binlog_reader(ReadStart::Gtid(text)) {
        Ok(reader) => reader,
        Err(EngineError::Sql(e)) if e.code == codes::MASTER_FATAL_ERROR_READING_BINLOG => {
            return Err(purged(db));
        }
        Err(e) => return Err(e.into()),
    };
    let Some(files) = reader.files().cloned() else {
        return Err(purged(db));
    };
    let stream = GtidStream::new(&have, &ahead, files.gtids(), until.as_ref(), vars.strict);
    let (file_no, pos) = (files.file_no(), files.offset());
    let (file_gtids, file_time) = db.binlog_file_start(file_no).ok_or_else(|| purged(db))?;
    let start = Start {
        file_no,
        file: files.current_file(),
        file_gtids,
        file_time,
        rotate_pos: FIRST_EVENT,
        list: true,
        pos,
        skipped: !files.is_file_empty(),
        inside: false,
        behind_rotate: false,
        stream: Some(stream),
    };
    Ok((reader, start))
}

/// For a reader that has a set of transactions: begins where the first one may be missing, and leaves out those that it has.
fn by_gtid_set(
    db: &Database,
    executed: &GtidSet,
    vars: &ClientVars,
) -> Result<(Reader, Start), DumpError> {
    let whole = whole_until(&db.gtid_state(), executed);
    let (reader, mut start) = by_gtid(db, &whole.position_text(), vars)?;
    start.stream = Some(GtidStream::beyond(executed.clone()));
    Ok((reader, start))
}

/// The last GTID of each domain up to which the set has everything. Which of a domain's servers took which number does not
/// matter for that: each number was taken once.
fn whole_until(log: &GtidState, executed: &GtidSet) -> GtidState {
    let mut whole = GtidState::new();
    for last in log.position() {
        let servers = log.iter().filter(|g| g.domain == last.domain);
        let mut ranges: Vec<(u64, u64, u32)> = servers
            .flat_map(|g| {
                let ranges = executed.ranges(&gtid_uuid(g.domain, g.server));
                ranges.iter().map(move |&(from, to)| (from, to, g.server))
            })
            .collect();
        ranges.sort_unstable();
        let mut until: Option<(u64, u32)> = None;
        for (from, to, server) in ranges {
            let end = until.map_or(0, |u| u.0);
            if from > end + 1 {
                break;
            }
            // Of two that reach as far, the one that the log knows so far.
            let known = log
                .last_of(last.domain, server)
                .is_some_and(|seq| seq >= to);
            if to > end || (to == end && known) {
                until = Some((to, server));
            }
        }
        if let Some((seq, server)) = until {
            whole.observe(Gtid {
                domain: last.domain,
                server,
                seq,
            });
        }
    }
    whole
}

/// The reader is at a GTID that never was here. MariaDB's words come first: tools look for them.
fn not_in_log(has: Gtid, last: Gtid, newer: bool) -> DumpError {
    let why = if newer {
        format!(
            ". Since the master's binlog contains GTIDs with higher sequence numbers, it probably means that the slave has \
             diverged due to executing extra erroneous transactions. The slave is at {has}, the master at {last}: narwal \
             diverge tells where they part"
        )
    } else {
        format!(
            ". The slave has more than the master: it is at {has}, the master at {last}. It has had transactions of its own, \
             or the master was set back to an older state"
        )
    };
    DumpError::fatal(format!(
        "Error: connecting slave requested to start from GTID {has}, which is not in the master's binlog{why}"
    ))
}

/// What the reader asks for has gone. It is told from where on there is something.
fn purged(db: &Database) -> DumpError {
    let oldest = db
        .binlog_reader(ReadStart::Oldest)
        .ok()
        .and_then(|mut reader| {
            let head = reader.next_group().ok()??;
            let file = db.binlog_file_name(head.file_no);
            let before = reader.gtids_before().position_text();
            Some(format!(
                " The oldest GTID that is still there is {}, at the start of {file}, behind '{before}'.",
                head.gtid
            ))
        });
    DumpError::fatal(format!(
        "Could not find GTID state requested by slave in any binlog files. Probably the slave state is too old and required binlog files have been purged.{}",
        oldest.unwrap_or_default()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executed(parts: &[(u32, u64, u64)]) -> GtidSet {
        let mut set = GtidSet::new();
        for &(server, from, to) in parts {
            set.add(gtid_uuid(0, server), from, to);
        }
        set
    }

    #[test]
    fn a_set_is_whole_up_to_its_first_hole() {
        let log: GtidState = "0-2-200,0-1-300".parse().unwrap();
        let until = |parts: &[(u32, u64, u64)]| whole_until(&log, &executed(parts)).position_text();
        assert_eq!(until(&[]), "");
        assert_eq!(until(&[(1, 1, 50)]), "0-1-50");
        assert_eq!(until(&[(1, 1, 100), (2, 101, 150)]), "0-2-150");
        assert_eq!(
            until(&[(1, 1, 100), (2, 101, 200), (1, 201, 250)]),
            "0-1-250"
        );
        assert_eq!(until(&[(1, 1, 5), (1, 7, 100)]), "0-1-5");
        // Nothing says what came before.
        assert_eq!(until(&[(1, 20, 50)]), "");
        // Of a server that the log does not know.
        assert_eq!(until(&[(9, 1, 50)]), "");
        // As this server itself says it: each server from 1 on.
        assert_eq!(until(&[(1, 1, 300), (2, 1, 200)]), "0-1-300");
        assert_eq!(until(&[(1, 1, 200), (2, 1, 200)]), "0-2-200");
    }
}
