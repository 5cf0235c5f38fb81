//! SHOW BINLOG EVENTS: the rows of a virtual binary log file, read from the log as they are sent. However long the file
//! or a group is, memory holds one record of the log and one row.

use crate::admin::EventRange;
use crate::instance::server_version;
use crate::privileges::PrivilegeSet;
use crate::rows::{Grid, column};
use crate::session::ClientSession;
use narwal_binlog::{
    Event, EventReader, FDE_LEN, GtidState, MAGIC, RawEvent, RowsEvent, XaPrepare, event_flags,
    event_name, event_type, gtid_flags, rows_flags,
};
use narwal_engine::{BinlogFile, EngineError, GroupReader, LiveRecords, ReadStart};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{ResultSink, SqlError, SqlResult, TypeKind, ValueRef};

/// Columns of SHOW BINLOG EVENTS.
pub(crate) fn events_grid() -> Grid {
    let mut g = Grid::new();
    g.text("Log_name", 20)
        .uint("Pos", false)
        .text("Event_type", 20);
    g.columns
        .push(column("Server_id", TypeKind::Int, true, 10, false));
    g.uint("End_log_pos", false).text("Info", 20);
    g
}

/// Error 1220.
fn events_error(why: impl std::fmt::Display) -> SqlError {
    errors::ERROR_WHEN_EXECUTING_COMMAND.with([&"SHOW BINLOG EVENTS", &why])
}

fn no_file() -> SqlError {
    events_error("Could not find target log")
}

fn wrong_offset(why: impl std::fmt::Display) -> SqlError {
    events_error(format!("Wrong offset or I/O error: {why}"))
}

/// The place of the first event in a file, behind the magic.
const FIRST_EVENT: u64 = MAGIC.len() as u64;
/// The place of the GTID list.
const GTID_LIST: u64 = FIRST_EVENT + FDE_LEN as u64;
/// Bytes of a ROTATE event but for the name in it.
const ROTATE_LEN: u64 = 19 + 8 + 4;

/// Sends rows, as far as LIMIT wants them.
struct Rows<'a> {
    out: &'a mut dyn ResultSink,
    file: String,
    skip: u64,
    left: u64,
    sent: u64,
}

impl Rows<'_> {
    /// Whether LIMIT wants the next event's row; counts the event.
    fn wants(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.left > 0
    }

    fn put(&mut self, pos: u64, kind: &str, server: u32, end: u64, info: &str) -> SqlResult<()> {
        self.left -= 1;
        self.sent += 1;
        self.out.row(&[
            ValueRef::Str(self.file.as_bytes()),
            ValueRef::UInt(pos),
            ValueRef::Str(kind.as_bytes()),
            ValueRef::UInt(u64::from(server)),
            ValueRef::UInt(end),
            ValueRef::Str(info.as_bytes()),
        ])
    }
}

/// Why the file can't be read from there.
fn unreadable(e: EngineError) -> SqlError {
    match e {
        EngineError::BehindFileEnd { offset, size, .. } => events_error(format!(
            "Invalid pos specified. Requested from pos:{offset} is greater than actual file size:{size}"
        )),
        EngineError::InsideGroup { .. } => wrong_offset(e),
        e => match SqlError::from(e) {
            // RESET MASTER came between.
            e if e.code == codes::UNKNOWN_TARGET_BINLOG => no_file(),
            e => e,
        },
    }
}

impl ClientSession {
    /// SHOW BINLOG EVENTS. Returns the number of rows sent.
    pub(crate) fn show_binlog_events(
        &mut self,
        range: &EventRange,
        out: &mut dyn ResultSink,
    ) -> SqlResult<u64> {
        self.need_any(PrivilegeSet::BINLOG_MONITOR)?;
        let db = self.instance.database().clone();
        // Before the file is looked up: no purge comes between.
        let hold = db.hold_log(
            &format!("SHOW BINLOG EVENTS of connection {}", self.client.id),
            0,
        );
        let files = db.binlog_files();
        let at = match &range.file {
            None => Some(0),
            Some(name) => files.iter().position(|f| f.name == *name),
        };
        let Some((at, file)) = at.and_then(|i| Some((i, files.get(i)?))) else {
            return Err(no_file());
        };
        let next = files.get(at + 1).map(|f| f.name.clone());
        let from = range.from.max(FIRST_EVENT);
        let start = ReadStart::File {
            name: file.name.clone(),
            offset: from,
        };
        let mut reader = db.binlog_reader(start).map_err(unreadable)?;
        hold.advance(reader.records().lsn());
        let (head_end, before) = match reader.files() {
            Some(f) => (f.head_len(), f.gtids().clone()),
            None => (GTID_LIST, GtidState::new()),
        };
        if from < head_end && from != FIRST_EVENT && from != GTID_LIST {
            return Err(wrong_offset(format!(
                "no event of {} starts at position {from}",
                file.name
            )));
        }

        let server = self.instance.global_value("server_id").as_u64() as u32;
        out.begin_rows(&events_grid().columns)?;
        let mut rows = Rows {
            out,
            file: file.name.clone(),
            skip: range.offset,
            left: range.limit,
            sent: 0,
        };
        if from == FIRST_EVENT && rows.wants() {
            let info = format!("Server ver: {}, Binlog ver: 4", server_version());
            rows.put(FIRST_EVENT, "Format_desc", server, GTID_LIST, &info)?;
        }
        if from <= GTID_LIST && rows.wants() {
            let info = format!("[{before}]");
            rows.put(GTID_LIST, "Gtid_list", server, head_end, &info)?;
        }

        let pos = self.show_groups(&mut reader, file, from.max(head_end), &mut rows)?;
        // A closed file ends with a ROTATE event, which is nowhere in the log.
        if let Some(next) = next
            && rows.left > 0
            && pos + ROTATE_LEN + next.len() as u64 == file.size
            && rows.wants()
        {
            rows.put(pos, "Rotate", server, file.size, &format!("{next};pos=4"))?;
        }
        Ok(rows.sent)
    }

    /// The events of a file's groups from `pos` on, as far as rows are wanted. Returns where they end.
    fn show_groups(
        &self,
        reader: &mut GroupReader<LiveRecords>,
        file: &BinlogFile,
        mut pos: u64,
        rows: &mut Rows<'_>,
    ) -> SqlResult<u64> {
        while rows.left > 0 {
            let Some(head) = reader.next_group()? else {
                break;
            };
            // What was committed after the statement began is left out, or it would never end under load. A group of the
            // same name before the last one's end is of a life after RESET MASTER.
            if head.file_no != file.number || head.start_pos >= file.size || head.start_pos < pos {
                break;
            }
            pos = head.start_pos;
            while let Some(bytes) = reader.next_event()? {
                self.env.check_interrupt()?;
                let end = pos + bytes.len() as u64;
                if rows.wants() {
                    let raw = EventReader::new(bytes)
                        .trusting_checksums()
                        .next()
                        .and_then(Result::ok)
                        .ok_or_else(|| wrong_offset("an event can't be read"))?;
                    let server = raw.header.server_id;
                    rows.put(
                        pos,
                        event_name(raw.header.event_type),
                        server,
                        end,
                        &info(&raw),
                    )?;
                }
                pos = end;
                if rows.left == 0 {
                    return Ok(pos);
                }
            }
        }
        Ok(pos)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the column Info says of an event.
fn info(raw: &RawEvent<'_>) -> String {
    match raw.decode() {
        Ok(Event::Gtid(g)) => {
            let begin = match raw.xid() {
                _ if g.flags2 & gtid_flags::STANDALONE != 0 => String::new(),
                Ok(Some(xid)) => format!("XA START {xid} "),
                _ => "BEGIN ".to_owned(),
            };
            match g.commit_id {
                Some(id) => format!("{begin}GTID {} cid={id}", g.gtid),
                None => format!("{begin}GTID {}", g.gtid),
            }
        }
        Ok(Event::Annotate(sql)) => text(sql),
        Ok(Event::TableMap(t)) => {
            format!("table_id: {} ({}.{})", t.table_id, t.db, t.table)
        }
        Ok(Event::Rows(r)) => rows_info(&r),
        Ok(Event::Query(q)) => {
            if q.db.is_empty() || raw.header.flags & event_flags::SUPPRESS_USE != 0 {
                text(q.sql)
            } else {
                let db = text(q.db).replace('`', "``");
                format!("use `{db}`; {}", text(q.sql))
            }
        }
        Ok(Event::Xid(id)) => format!("COMMIT /* xid={id} */"),
        Ok(Event::Unknown(event_type::XA_PREPARE)) => match raw.xa_prepare() {
            Ok(Some(XaPrepare { one_phase, xid })) => {
                let verb = if one_phase { "COMMIT" } else { "PREPARE" };
                let end = if one_phase { " ONE PHASE" } else { "" };
                format!("XA {verb} {xid}{end}")
            }
            _ => String::new(),
        },
        _ => String::new(),
    }
}

fn rows_info(r: &RowsEvent<'_>) -> String {
    let end = if r.flags & rows_flags::STMT_END != 0 {
        " flags: STMT_END_F"
    } else {
        ""
    };
    format!("table_id: {}{end}", r.table_id)
}
