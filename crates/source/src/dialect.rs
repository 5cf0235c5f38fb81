//! Events as a reader understands them.
//!
//! Readers say by `@mariadb_slave_capability` what they know. To those that do not know GTIDs MariaDB's events are sent
//! as ones that every reader knows, of the same size, so that positions stay what they are. MySQL's readers have a dialect
//! of their own (`mysql.rs`).

use crate::mysql::Translator;
use crate::rendered::Rendered;
use narwal_binlog::{
    BinlogError, CHECKSUM_LEN, EventHeader, HEADER_LEN, event_flags, event_type, gtid_flags,
    stamp_event,
};

/// `@mariadb_slave_capability`: the reader knows ANNOTATE_ROWS events, whether or not it asks for them.
const ANNOTATE: u64 = 1;
/// The reader copes with positions that do not follow on each other.
const HOLES: u64 = 2;
/// The reader knows GTID events.
const GTIDS: u64 = 4;

/// How events are rendered for one reader.
#[derive(Debug, Clone)]
pub(crate) enum Dialect {
    /// MariaDB's, or what an older reader understands of it.
    MariaDb(Capable),
    /// MySQL's.
    MySql(Translator),
}

impl Dialect {
    /// Renders a complete event; replacements are written into `out`.
    ///
    /// # Errors
    /// [`BinlogError`] for an event that can't be taken apart, or that has no form in the dialect.
    #[inline]
    pub(crate) fn render(
        &mut self,
        event: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Rendered, BinlogError> {
        match self {
            Dialect::MariaDb(capable) => Ok(capable.render(event, out)),
            Dialect::MySql(translator) => translator.render(event, out),
        }
    }

    /// MySQL's.
    pub(crate) fn is_mysql(&self) -> bool {
        matches!(self, Dialect::MySql(_))
    }
}

/// What a reader of MariaDB's events is capable of.
#[derive(Debug, Clone)]
pub(crate) struct Capable {
    capability: u64,
    annotate: bool,
}

/// Bytes of a QUERY event's head: thread, time, lengths, error; and the NUL behind an empty database name.
const QUERY_HEAD: usize = 13 + 1;
/// Bytes of a USER_VAR event without its name: length of the name, the mark of a NULL.
const USER_VAR_LEN: usize = 4 + 1;
const USER_VAR: u8 = 14;
const DUMMY: &str = "# Dummy event in the place of one of type ";

impl Capable {
    pub(crate) fn new(capability: u64, annotate: bool) -> Self {
        Capable {
            capability,
            annotate,
        }
    }

    /// Renders a complete event; a replacement is written into `out`.
    #[inline]
    fn render(&self, event: &[u8], out: &mut Vec<u8>) -> Rendered {
        match event.get(4) {
            Some(&event_type::ANNOTATE_ROWS) if !self.annotate && self.capability != ANNOTATE => {
                self.dummy(event, out)
            }
            Some(&(event_type::GTID | event_type::GTID_LIST)) if self.capability < GTIDS => {
                self.older(event, out)
            }
            _ => Rendered::AsIs,
        }
    }

    #[cold]
    fn older(&self, event: &[u8], out: &mut Vec<u8>) -> Rendered {
        let flags2 = event.get(HEADER_LEN + 12).copied().unwrap_or(0);
        if event[4] == event_type::GTID && flags2 & gtid_flags::STANDALONE == 0 {
            return replace(event, out, event_type::QUERY, |body| query(body, "BEGIN"));
        }
        self.dummy(event, out)
    }

    fn dummy(&self, event: &[u8], out: &mut Vec<u8>) -> Rendered {
        if self.capability >= HOLES {
            return Rendered::LeftOut;
        }
        let body_len = event.len().saturating_sub(HEADER_LEN + CHECKSUM_LEN);
        if body_len > QUERY_HEAD {
            let text = format!("{DUMMY}{}", event[4]);
            replace(event, out, event_type::QUERY, |body| query(body, &text))
        } else {
            replace(event, out, USER_VAR, user_var)
        }
    }
}

/// Writes an event of the same size, place and server but another type into `out`; `fill` writes the body, which is
/// zero.
fn replace(event: &[u8], out: &mut Vec<u8>, kind: u8, fill: impl FnOnce(&mut [u8])) -> Rendered {
    let Ok(header) = EventHeader::parse(event) else {
        return Rendered::AsIs;
    };
    if event.len() < HEADER_LEN + CHECKSUM_LEN + USER_VAR_LEN {
        return Rendered::LeftOut;
    }
    let (server, end) = (header.server_id, header.end_log_pos);
    let header = EventHeader {
        event_type: kind,
        flags: header.flags | event_flags::SUPPRESS_USE,
        ..header
    };
    out.clear();
    out.extend_from_slice(&header.to_bytes());
    out.resize(event.len(), 0);
    fill(&mut out[HEADER_LEN..event.len() - CHECKSUM_LEN]);
    match stamp_event(out, server, end) {
        Ok(_) => Rendered::Replaced,
        Err(_) => Rendered::LeftOut,
    }
}

/// A QUERY's body without status variables or a database: `text`, cut or filled up with blanks.
fn query(body: &mut [u8], text: &str) {
    if let Some(room) = body.get_mut(QUERY_HEAD..) {
        room.fill(b' ');
        let n = text.len().min(room.len());
        room[..n].copy_from_slice(&text.as_bytes()[..n]);
    }
}

/// A USER_VAR's body: a variable of a name that nobody uses is set to NULL.
fn user_var(body: &mut [u8]) {
    let name = body.len().saturating_sub(USER_VAR_LEN);
    body[..4].copy_from_slice(&(name as u32).to_le_bytes());
    body[4..4 + name].fill(b'!');
    body[4 + name] = 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use narwal_binlog::{Event, EventReader, GtidState, gtid_list_event};

    fn one(bytes: &[u8]) -> (EventHeader, Event<'_>) {
        let raw = EventReader::new(bytes).next().unwrap().unwrap();
        (raw.header, raw.decode().unwrap())
    }

    fn gtid_event(flags2: u8) -> Vec<u8> {
        let mut event = EventHeader {
            timestamp: 9,
            event_type: event_type::GTID,
            server_id: 3,
            event_size: 42,
            end_log_pos: 0,
            flags: 8,
        }
        .to_bytes()
        .to_vec();
        event.extend_from_slice(&5u64.to_le_bytes());
        event.extend_from_slice(&0u32.to_le_bytes());
        event.push(flags2);
        event.resize(42, 0);
        stamp_event(&mut event, 3, 1000).unwrap();
        event
    }

    #[test]
    fn replacements_keep_size_place_and_checksum() {
        let old = Capable::new(0, false);
        let mut out = Vec::new();
        let begin = gtid_event(gtid_flags::TRANSACTIONAL);
        assert_eq!(old.render(&begin, &mut out), Rendered::Replaced);
        let (header, event) = one(&out);
        assert_eq!(
            (out.len(), header.end_log_pos, header.server_id),
            (42, 1000, 3)
        );
        let Event::Query(q) = event else {
            panic!("{event:?}")
        };
        assert_eq!(q.sql, b"BEGIN");

        let ddl = gtid_event(gtid_flags::STANDALONE);
        assert_eq!(old.render(&ddl, &mut out), Rendered::Replaced);
        let Event::Query(q) = one(&out).1 else {
            panic!()
        };
        assert_eq!(q.sql, b"# Dum");

        let list = gtid_list_event(&GtidState::new(), 0, 1, 0, 285, 0);
        assert_eq!(old.render(&list, &mut out), Rendered::Replaced);
        assert_eq!((out.len(), out[4]), (list.len(), USER_VAR));
        assert_eq!(&out[HEADER_LEN..out.len() - 4], b"\x01\0\0\0!\x01");
    }

    #[test]
    fn who_copes_with_holes_gets_them() {
        let mut out = Vec::new();
        let ddl = gtid_event(gtid_flags::STANDALONE);
        let holes = Capable::new(2, false);
        assert_eq!(holes.render(&ddl, &mut out), Rendered::LeftOut);
        let new = Capable::new(4, false);
        assert_eq!(new.render(&ddl, &mut out), Rendered::AsIs);
        let mut annotate = ddl.clone();
        annotate[4] = event_type::ANNOTATE_ROWS;
        assert_eq!(new.render(&annotate, &mut out), Rendered::LeftOut);
        assert_eq!(
            Capable::new(4, true).render(&annotate, &mut out),
            Rendered::AsIs
        );
        assert_eq!(
            Capable::new(0, false).render(&annotate, &mut out),
            Rendered::Replaced
        );
    }
}
