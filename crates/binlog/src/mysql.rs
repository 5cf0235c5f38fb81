//! Events as MySQL 8.0 and later have them, made of MariaDB's.
//!
//! What differs: a transaction begins with a GTID event of its own kind and a QUERY "BEGIN"; rows events are of version 2; status
//! variables of QUERY events must be ones that MySQL knows; a file begins with PREVIOUS_GTIDS. Facts: MySQL's documentation of
//! the replication protocol, and logs that its servers wrote.

use crate::decode::QueryEvent;
use crate::error::BinlogError;
use crate::event::{CHECKSUM_LEN, EventHeader, HEADER_LEN, build, event_flags, event_type, seal};
use crate::gtid_set::{GtidSet, MysqlGtid};
use crate::lenenc::{Reader, put_lenenc};
use crate::var_uint::put_var_uint;

/// Type codes that only MySQL has.
mod mysql_type {
    pub(super) const GTID: u8 = 33;
    pub(super) const PREVIOUS_GTIDS: u8 = 35;
    pub(super) const GTID_TAGGED: u8 = 42;
}

/// The version that events say they were written by: 8.0's forms are understood by 8.0, 8.4 and 9.
const VERSION: &str = "8.0.36-narwal";
/// The same as a number, in GTID events.
const VERSION_NUMBER: u32 = 80_036;
/// Lengths of the fixed parts of MySQL's event types 1 to 42, as 8.4 and 9 write them; 8.0 passes over what it does not know.
const POST_HEADER: [u8; 42] = [
    0x00, 0x0d, 0x00, 0x08, 0x00, 0x00, 0x00, 0x00, 0x04, 0x00, 0x04, 0x00, 0x00, 0x00, 0x63, 0x00,
    0x04, 0x1a, 0x08, 0x00, 0x00, 0x00, 0x08, 0x08, 0x08, 0x02, 0x00, 0x00, 0x00, 0x0a, 0x0a, 0x0a,
    0x2a, 0x2a, 0x00, 0x12, 0x34, 0x00, 0x0a, 0x28, 0x00, 0x00,
];
/// Bits of `sql_mode` that MySQL 8 knows; others would be refused.
const SQL_MODES: u64 = 0xefff_ffff & !0x3_ff10;
/// Largest collation number that MySQL has in common with MariaDB.
const MAX_COLLATION: u16 = 247;
/// `utf8mb4_general_ci`, which both have.
const UTF8MB4_GENERAL_CI: u16 = 45;
/// Flag of a GTID event: the group is no transaction of rows.
const MAY_HAVE_STATEMENTS: u8 = 1;

/// A format description event that MySQL's readers take for one of MySQL 8.0.
#[must_use]
pub fn mysql_description_event(server_id: u32, timestamp: u32, end_log_pos: u32) -> Vec<u8> {
    let mut version = [0; 50];
    version[..VERSION.len()].copy_from_slice(VERSION.as_bytes());
    build(
        event_type::FORMAT_DESCRIPTION,
        timestamp,
        server_id,
        end_log_pos,
        0,
        &[
            &4u16.to_le_bytes(),
            &version,
            &0u32.to_le_bytes(),
            &[HEADER_LEN as u8],
            &POST_HEADER,
            &[1],
        ],
    )
}

/// A PREVIOUS_GTIDS event: what was written before this file.
#[must_use]
pub fn previous_gtids_event(
    before: &GtidSet,
    server_id: u32,
    timestamp: u32,
    end_log_pos: u32,
) -> Vec<u8> {
    build(
        mysql_type::PREVIOUS_GTIDS,
        timestamp,
        server_id,
        end_log_pos,
        event_flags::IGNORABLE,
        &[&before.to_bytes()],
    )
}

/// Which transactions a replica may apply side by side, as MySQL's GTID events say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogicalClock {
    /// The transaction's number in the stream, from 1.
    pub sequence: u64,
    /// The newest transaction that must be committed before this one may begin; 0 for none.
    pub last_committed: u64,
}

/// Writes the GTID event of a group behind `out`. `header` is that of MariaDB's event, `len` the group's bytes. A GTID with a
/// tag takes an event of another kind, which readers before MySQL 8.3 do not know.
pub fn put_mysql_gtid(
    out: &mut Vec<u8>,
    header: &EventHeader,
    gtid: &MysqlGtid,
    rows: bool,
    clock: LogicalClock,
    len: u64,
) {
    let kind = match gtid.tag.is_none() {
        true => mysql_type::GTID,
        false => mysql_type::GTID_TAGGED,
    };
    let begin = start(out, header, kind, 0);
    let flags = if rows { 0 } else { MAY_HAVE_STATEMENTS };
    let micros = u64::from(header.timestamp) * 1_000_000;
    match gtid.tag.is_none() {
        true => put_plain(out, gtid, flags, clock, micros, len),
        false => put_tagged(out, gtid, flags, clock, micros, len),
    }
    // It stands where the group begins.
    end(
        out,
        begin,
        header.end_log_pos.saturating_sub(header.event_size),
    );
}

/// The body of a GTID event without a tag. `micros`: the time of the commit.
fn put_plain(
    out: &mut Vec<u8>,
    gtid: &MysqlGtid,
    flags: u8,
    clock: LogicalClock,
    micros: u64,
    len: u64,
) {
    out.push(flags);
    out.extend_from_slice(gtid.uuid.as_bytes());
    out.extend_from_slice(&gtid.number.to_le_bytes());
    out.push(2);
    out.extend_from_slice(&clock.last_committed.to_le_bytes());
    out.extend_from_slice(&clock.sequence.to_le_bytes());
    // Seven bytes. The top bit would say that an earlier time follows.
    out.extend_from_slice(&micros.to_le_bytes()[..7]);
    put_lenenc(out, len);
    out.extend_from_slice(&VERSION_NUMBER.to_le_bytes());
}

/// The body of a GTID event with a tag: a version, the body's length, the last field that readers must know, and fields, each
/// behind its number. As 8.4 and 9.7 write it.
fn put_tagged(
    out: &mut Vec<u8>,
    gtid: &MysqlGtid,
    flags: u8,
    clock: LogicalClock,
    micros: u64,
    len: u64,
) {
    /// Signed numbers have their sign in the lowest bit.
    const fn signed(n: u64) -> u64 {
        n << 1
    }
    let mut fields = vec![];
    let mut field = |number: u64, values: &[u64]| {
        put_var_uint(&mut fields, number);
        for value in values {
            put_var_uint(&mut fields, *value);
        }
    };
    field(0, &[u64::from(flags)]);
    field(1, &gtid.uuid.as_bytes().map(u64::from));
    field(2, &[signed(gtid.number)]);
    let tag = gtid.tag.name();
    field(3, &[tag.len() as u64]);
    fields.extend_from_slice(tag.as_bytes());
    let mut field = |number: u64, value: u64| {
        put_var_uint(&mut fields, number);
        put_var_uint(&mut fields, value);
    };
    field(4, signed(clock.last_committed));
    field(5, signed(clock.sequence));
    field(6, micros);
    field(8, len);
    field(9, u64::from(VERSION_NUMBER));
    put_var_uint(out, 1);
    // The length counts itself, and what stands around it.
    let around = fields.len() as u64 + 2;
    let own = if around + 1 < 1 << 7 { 1 } else { 2 };
    put_var_uint(out, around + own);
    put_var_uint(out, 0);
    out.extend_from_slice(&fields);
}

/// Writes a QUERY event behind `out` that has no default database and only settings that every server has.
pub fn put_mysql_query(out: &mut Vec<u8>, header: &EventHeader, sql: &str) {
    let begin = start(out, header, event_type::QUERY, event_flags::SUPPRESS_USE);
    out.extend_from_slice(&[0; 8]); // thread, time
    out.push(0);
    out.extend_from_slice(&[0; 2]); // error
    let mut vars = vec![0];
    vars.extend_from_slice(&0u32.to_le_bytes());
    vars.push(1);
    vars.extend_from_slice(&0u64.to_le_bytes());
    vars.extend_from_slice(b"\x06\x03std");
    vars.push(4);
    for _ in 0..3 {
        vars.extend_from_slice(&UTF8MB4_GENERAL_CI.to_le_bytes());
    }
    out.extend_from_slice(&(vars.len() as u16).to_le_bytes());
    out.extend_from_slice(&vars);
    out.push(0);
    out.extend_from_slice(sql.as_bytes());
    end(out, begin, header.end_log_pos);
}

/// Writes a QUERY event behind `out` as MySQL can read it: the same statement with the settings that MySQL has.
///
/// # Errors
/// [`BinlogError::Truncated`] if a status variable is cut off.
pub fn put_query_for_mysql(
    out: &mut Vec<u8>,
    header: &EventHeader,
    query: &QueryEvent<'_>,
) -> Result<(), BinlogError> {
    let vars = status_vars(query.status_vars)?;
    let begin = start(out, header, event_type::QUERY, header.flags);
    out.extend_from_slice(&query.thread_id.to_le_bytes());
    out.extend_from_slice(&query.exec_time.to_le_bytes());
    out.push(query.db.len() as u8);
    out.extend_from_slice(&query.error_code.to_le_bytes());
    out.extend_from_slice(&(vars.len() as u16).to_le_bytes());
    out.extend_from_slice(&vars);
    out.extend_from_slice(query.db);
    out.push(0);
    out.extend_from_slice(query.sql);
    end(out, begin, header.end_log_pos);
    Ok(())
}

/// The status variables that MySQL knows, with values that it takes; and what "utf8mb4" without a collation means here.
fn status_vars(vars: &[u8]) -> Result<Vec<u8>, BinlogError> {
    let mut out = Vec::with_capacity(vars.len() + 3);
    let mut reader = Reader::new(vars, "a status variable");
    while !reader.is_empty() {
        let code = reader.u8()?;
        match code {
            0x00 => put(&mut out, code, reader.bytes(4)?),
            0x01 => {
                let mode = reader.u64()? & SQL_MODES;
                put(&mut out, code, &mode.to_le_bytes());
            }
            0x03 => put(&mut out, code, reader.bytes(4)?),
            0x04 => {
                out.push(code);
                for _ in 0..3 {
                    let known = known_collation(reader.u16()?);
                    out.extend_from_slice(&known.to_le_bytes());
                }
            }
            0x05 | 0x06 => {
                let len = reader.u8()?;
                out.extend_from_slice(&[code, len]);
                out.extend_from_slice(reader.bytes(usize::from(len))?);
            }
            0x07 => put(&mut out, code, reader.bytes(2)?),
            // The database's collation: dropped in MySQL 8.
            0x08 => {
                reader.bytes(2)?;
            }
            0x0b => {
                out.push(code);
                for _ in 0..2 {
                    let len = reader.u8()?;
                    out.push(len);
                    out.extend_from_slice(reader.bytes(usize::from(len))?);
                }
            }
            // MariaDB's own: the fraction of the time, the number of the transaction.
            0x80 => {
                reader.bytes(3)?;
            }
            0x81 => {
                reader.bytes(8)?;
            }
            // A variable of unknown length ends the reading, as it must.
            _ => break,
        }
    }
    put(&mut out, 0x12, &UTF8MB4_GENERAL_CI.to_le_bytes());
    Ok(out)
}

fn put(out: &mut Vec<u8>, code: u8, value: &[u8]) {
    out.push(code);
    out.extend_from_slice(value);
}

fn known_collation(id: u16) -> u16 {
    if id <= MAX_COLLATION {
        id
    } else {
        UTF8MB4_GENERAL_CI
    }
}

/// Writes a rows event of version 1 behind `out` as one of version 2, which has the length of what nobody sends in front of
/// the number of columns. `event` is whole, with its checksum.
///
/// # Errors
/// [`BinlogError`] if it is too short to be one.
pub fn put_rows_v2(out: &mut Vec<u8>, event: &[u8]) -> Result<(), BinlogError> {
    /// Bytes of the fixed part: table and flags.
    const FIXED: usize = 6 + 2;
    let header = EventHeader::parse(event)?;
    let body = event
        .len()
        .checked_sub(CHECKSUM_LEN)
        .and_then(|len| event.get(HEADER_LEN..len))
        .ok_or(BinlogError::Truncated("a rows event"))?;
    let (fixed, rest) = body
        .split_at_checked(FIXED)
        .ok_or(BinlogError::Truncated("a rows event"))?;
    let begin = start(out, &header, header.event_type + 7, header.flags);
    out.extend_from_slice(fixed);
    out.extend_from_slice(&2u16.to_le_bytes());
    out.extend_from_slice(rest);
    end(out, begin, header.end_log_pos);
    Ok(())
}

/// Begins an event behind `out`; where it begins.
fn start(out: &mut Vec<u8>, of: &EventHeader, event_type: u8, flags: u16) -> usize {
    let begin = out.len();
    let header = EventHeader {
        event_type,
        flags,
        event_size: 0,
        end_log_pos: 0,
        ..*of
    };
    out.extend_from_slice(&header.to_bytes());
    begin
}

/// Ends the event that begins at `begin`.
fn end(out: &mut Vec<u8>, begin: usize, end_log_pos: u32) {
    out.extend_from_slice(&[0; CHECKSUM_LEN]);
    seal(&mut out[begin..], end_log_pos);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Event, EventReader};
    use crate::gtid::Gtid;
    use crate::gtid_set::gtid_uuid;

    fn header(kind: u8) -> EventHeader {
        EventHeader {
            timestamp: 1_700_000_000,
            event_type: kind,
            server_id: 3,
            event_size: 42,
            end_log_pos: 1042,
            flags: 8,
        }
    }

    #[test]
    fn a_gtid_event_has_mysqls_bytes() {
        let gtid = MysqlGtid::from(Gtid {
            domain: 0,
            server: 3,
            seq: 9,
        });
        let mut out = Vec::new();
        let clock = LogicalClock {
            sequence: 4,
            last_committed: 3,
        };
        put_mysql_gtid(&mut out, &header(162), &gtid, true, clock, 300);
        let raw = EventReader::new(&out).next().unwrap().unwrap();
        assert_eq!((raw.header.event_type, raw.header.end_log_pos), (33, 1000));
        let body = raw.body;
        assert_eq!(body[0], 0);
        assert_eq!(&body[1..17], gtid_uuid(0, 3).as_bytes());
        assert_eq!(&body[17..25], &9u64.to_le_bytes());
        assert_eq!(body[25], 2);
        assert_eq!(&body[26..34], &3u64.to_le_bytes());
        assert_eq!(&body[34..42], &4u64.to_le_bytes());
        // The top bit of the time is clear: there is no second one.
        assert_eq!(body[48] & 0x80, 0);
        assert_eq!(&body[49..52], b"\xfc\x2c\x01");
        assert_eq!(&body[52..], &80_036u32.to_le_bytes());
    }

    #[test]
    fn a_gtid_with_a_tag_has_mysqls_bytes() {
        for (tag, number, len) in [
            ("blue", 1_u64, 55),
            ("t", 1_u64 << 62, 60),
            (&"x".repeat(32), 1 << 62, 91),
        ] {
            let gtid = format!("1b466595-e939-11f1-af06-02fc00000001:{tag}:{number}");
            let gtid: MysqlGtid = gtid.parse().unwrap();
            let mut out = Vec::new();
            let clock = LogicalClock {
                sequence: 4,
                last_committed: 2,
            };
            put_mysql_gtid(&mut out, &header(162), &gtid, true, clock, 304);
            let raw = EventReader::new(&out).next().unwrap().unwrap();
            assert_eq!((raw.header.event_type, raw.header.end_log_pos), (42, 1000));
            assert_eq!(raw.mysql_gtid().unwrap(), Some(gtid));
            assert_eq!(raw.body.len(), len);
            assert_eq!(usize::from(raw.body[1] >> 1), len);
            if tag == "blue" {
                // Up to the time these are the bytes of MySQL 9.7.
                let theirs = b"\x02\x6e\0\0\0\x02\x36\x8c\xca\x55\x02\xa5\x03\x72\x22\xc5\x03\xbd\x02\x0c\x04\xf1\x03\0\0\0\x02\x04\x04\x06\x08blue\
                    \x08\x08\x0a\x10\x0c\x7f";
                assert_eq!(raw.body[..theirs.len()], theirs[..]);
            }
        }
    }

    #[test]
    fn settings_that_mysql_does_not_know_are_left_out() {
        let mut vars = vec![0x00, 1, 0, 0, 0, 0x01];
        vars.extend_from_slice(&(0x1000_0000u64 | 0x20_0000 | 1 << 33).to_le_bytes());
        vars.extend_from_slice(b"\x06\x03std\x04\x2d\0\x00\x09\x2d\0\x08\x21\0\x80abc\x8112345678");
        let got = status_vars(&vars).unwrap();
        let mut want = vec![0x00, 1, 0, 0, 0, 0x01];
        want.extend_from_slice(&0x20_0000u64.to_le_bytes());
        want.extend_from_slice(b"\x06\x03std\x04\x2d\0\x2d\0\x2d\0\x12\x2d\0");
        assert_eq!(got, want);
        for n in 1..vars.len() {
            let _ = status_vars(&vars[..n]);
        }
        assert!(status_vars(&[0x00, 1]).is_err());
    }

    #[test]
    fn rows_of_version_two() {
        let mut event = header(event_type::UPDATE_ROWS_V1).to_bytes().to_vec();
        event.extend_from_slice(b"\x7a\0\0\0\0\0\x01\0\x01\xff\xff\0\x01\0\0\0\0\x02\0\0\0");
        event.extend_from_slice(&[0; 4]);
        seal(&mut event, 700);
        let mut out = Vec::new();
        put_rows_v2(&mut out, &event).unwrap();
        let raw = EventReader::new(&out).next().unwrap().unwrap();
        assert_eq!((raw.header.event_type, raw.header.end_log_pos), (31, 700));
        assert!(matches!(raw.decode().unwrap(), Event::Rows(_)));
        assert_eq!(&raw.body[..10], b"\x7a\0\0\0\0\0\x01\0\x02\0");
        for n in 0..HEADER_LEN + 12 {
            assert!(put_rows_v2(&mut Vec::new(), &event[..n]).is_err(), "{n}");
        }
    }

    #[test]
    fn a_begin_is_a_query() {
        let mut out = Vec::new();
        put_mysql_query(&mut out, &header(162), "BEGIN");
        let raw = EventReader::new(&out).next().unwrap().unwrap();
        let Event::Query(query) = raw.decode().unwrap() else {
            panic!()
        };
        assert_eq!((query.sql, query.db), (&b"BEGIN"[..], &b""[..]));
        assert_eq!(query.context().unwrap().charset_client, 45);
    }
}
