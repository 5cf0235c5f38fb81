//! The log in MySQL's words, for readers that are MySQL's.

use crate::rendered::Rendered;
use crate::to_mysql::to_mysql;
use narwal_binlog::{
    BinlogError, Event, EventHeader, EventReader, Gtid, GtidEvent, LogicalClock, MysqlGtid,
    QueryEvent, RawEvent, column_type, event_type, gtid_flags, put_mysql_gtid, put_mysql_query,
    put_query_for_mysql, put_rows_v2,
};
use narwal_syntax::{SqlMode, glance};

/// Translates a stream of events. It remembers what later events of a group, and later groups, depend on.
#[derive(Debug, Clone, Default)]
pub(crate) struct Translator {
    /// `server_id` of this server.
    server: u32,
    /// Groups so far in this file, and what the last one had to wait for.
    clock: LogicalClock,
    /// Commit id of the last group: those that share it were committed together and do not wait for each other.
    commit_id: Option<u64>,
    /// Bytes of the group that comes, as it stands in the log.
    group_len: u64,
    /// The group is a transaction, not one statement for itself.
    transaction: bool,
    /// The present group has a name that a MySQL gave it.
    named: Option<Named>,
    /// Its last event is next.
    at_end: bool,
}

/// A group that came with a name. It goes out under that name, so that readers of this server and of the MySQL that it comes
/// from agree on what they have; behind it follows an empty transaction under the name that it has here, so that the numbers
/// of this server have no holes.
#[derive(Debug, Clone, Copy)]
struct Named {
    gtid: MysqlGtid,
    /// The reader has it already: only the empty one is news.
    known: bool,
    /// Its GTID here, once its first event was read.
    here: Option<Gtid>,
}

impl Translator {
    /// Translates for the server with this `server_id`.
    pub(crate) fn of(server: u32) -> Self {
        Translator {
            server,
            ..Translator::default()
        }
    }

    /// A file begins.
    pub(crate) fn begin_file(&mut self) {
        *self = Translator::of(self.server);
    }

    /// A group of so many bytes begins. `named`: the name that a MySQL gave it, and whether the reader has that.
    pub(crate) fn begin_group(&mut self, len: u64, named: Option<(MysqlGtid, bool)>) {
        if let Some(named) = self.named {
            // The empty transaction took a number too. Nothing is committed together with it.
            self.clock.sequence += u64::from(!named.known);
            self.commit_id = None;
        }
        self.group_len = len;
        self.at_end = false;
        self.named = named.map(|(gtid, known)| Named {
            gtid,
            known,
            here: None,
        });
    }

    /// The group's last event is next.
    pub(crate) fn at_end(&mut self) {
        self.at_end = true;
    }

    /// Renders a complete event. The last event of a group may be rendered twice.
    ///
    /// # Errors
    /// [`BinlogError`] for an event that can't be taken apart or that MySQL has no form for.
    pub(crate) fn render(
        &mut self,
        event: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<Rendered, BinlogError> {
        let known = self.named.is_some_and(|n| n.known);
        let is_head = event.get(4) == Some(&event_type::GTID);
        let rendered = match known && !is_head {
            true => Rendered::LeftOut,
            false => self.render_event(event, out)?,
        };
        let rendered = match known {
            true => Rendered::LeftOut,
            false => rendered,
        };
        let here = self.named.and_then(|n| n.here);
        let Some(here) = here.filter(|_| self.at_end) else {
            return Ok(rendered);
        };
        match rendered {
            Rendered::Replaced => {}
            Rendered::LeftOut => out.clear(),
            Rendered::AsIs => {
                out.clear();
                out.extend_from_slice(event);
            }
        }
        self.name_here(here, &EventHeader::parse(event)?, out);
        Ok(Rendered::Replaced)
    }

    /// The empty transaction behind a group that has a name of its own. `last`: the head of the group's last event.
    fn name_here(&self, here: Gtid, last: &EventHeader, out: &mut Vec<u8>) {
        let header = EventHeader {
            // Not the writer's: who has written the group passes over its own events, and must hear of this one.
            server_id: self.server,
            // It stands where the group ends.
            event_size: 0,
            ..*last
        };
        // The group's number is free if the group itself was not sent: replicas wait for every number.
        let sent = !self.named.is_some_and(|n| n.known);
        let sequence = self.clock.sequence + u64::from(sent);
        let clock = LogicalClock {
            last_committed: sequence - 1,
            sequence,
        };
        let mut rest = Vec::new();
        for sql in ["BEGIN", "COMMIT"] {
            put_mysql_query(&mut rest, &header, sql);
        }
        let gtid = MysqlGtid::from(here);
        let start = out.len();
        put_mysql_gtid(out, &header, &gtid, false, clock, 0);
        let len = (out.len() - start + rest.len()) as u64;
        out.truncate(start);
        put_mysql_gtid(out, &header, &gtid, false, clock, len);
        out.extend_from_slice(&rest);
    }

    fn render_event(&mut self, event: &[u8], out: &mut Vec<u8>) -> Result<Rendered, BinlogError> {
        let kind = event.get(4).copied().unwrap_or(0);
        match kind {
            event_type::WRITE_ROWS_V1..=event_type::DELETE_ROWS_V1 => {
                out.clear();
                put_rows_v2(out, event)?;
                return Ok(Rendered::Replaced);
            }
            event_type::GTID | event_type::QUERY => {}
            event_type::TABLE_MAP => return table_map(event),
            event_type::ANNOTATE_ROWS | event_type::BINLOG_CHECKPOINT | event_type::GTID_LIST => {
                return Ok(Rendered::LeftOut);
            }
            // MariaDB's own, the compressed forms of events among them.
            event_type::ANNOTATE_ROWS.. => {
                return Err(BinlogError::Invalid(
                    "event that MySQL has no form for (log_bin_compress, or another server's)",
                ));
            }
            _ => return Ok(Rendered::AsIs),
        }
        let raw = EventReader::new(event)
            .trusting_checksums()
            .next()
            .ok_or(BinlogError::Truncated("an event"))??;
        out.clear();
        match raw.decode()? {
            Event::Gtid(gtid) => self.gtid(&raw, &gtid, out)?,
            Event::Query(query) if is_about_accounts(&query)? => {
                // The transaction's GTID has gone out: it is an empty one for MySQL.
                put_mysql_query(out, &raw.header, "BEGIN");
                put_mysql_query(out, &raw.header, "COMMIT");
            }
            Event::Query(query) => self.query(&raw, query, out)?,
            _ => return Ok(Rendered::AsIs),
        }
        Ok(Rendered::Replaced)
    }

    /// A statement.
    fn query(
        &self,
        raw: &RawEvent<'_>,
        query: QueryEvent<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), BinlogError> {
        let mode = SqlMode(query.context()?.sql_mode);
        let text = std::str::from_utf8(query.sql).ok();
        let changed = text.and_then(|sql| to_mysql(sql, mode, self.transaction));
        let query = QueryEvent {
            sql: changed.as_ref().map_or(query.sql, String::as_bytes),
            ..query
        };
        put_query_for_mysql(out, &raw.header, &query)
    }

    /// The head of a group.
    fn gtid(
        &mut self,
        raw: &RawEvent<'_>,
        gtid: &GtidEvent,
        out: &mut Vec<u8>,
    ) -> Result<(), BinlogError> {
        let standalone = gtid.flags2 & gtid_flags::STANDALONE != 0;
        self.transaction = !standalone;
        let together = gtid.commit_id.is_some() && gtid.commit_id == self.commit_id;
        if !together || standalone {
            self.clock.last_committed = self.clock.sequence;
        }
        self.clock.sequence += 1;
        self.commit_id = gtid.commit_id.filter(|_| !standalone);
        let own = MysqlGtid::from(gtid.gtid);
        let name = match &mut self.named {
            Some(named) => {
                named.here = Some(gtid.gtid);
                named.gtid
            }
            None => own,
        };
        put_mysql_gtid(
            out,
            &raw.header,
            &name,
            !standalone && gtid.flags2 & gtid_flags::DDL == 0,
            self.clock,
            self.group_len,
        );
        let prepared = gtid.flags2 & gtid_flags::PREPARED_XA != 0;
        match raw.xid()?.filter(|_| prepared) {
            // XA END is in the group.
            Some(xid) => put_mysql_query(out, &raw.header, &format!("XA START {xid}")),
            None if standalone => {}
            None => put_mysql_query(out, &raw.header, "BEGIN"),
        }
        Ok(())
    }
}

/// A table's columns. MySQL has none that are COMPRESSED.
fn table_map(event: &[u8]) -> Result<Rendered, BinlogError> {
    let raw = EventReader::new(event)
        .trusting_checksums()
        .next()
        .ok_or(BinlogError::Truncated("an event"))??;
    if let Event::TableMap(map) = raw.decode()?
        && (0..map.column_count()).any(|i| {
            let code = map.column_type(i).0;
            matches!(
                code,
                column_type::VARCHAR_COMPRESSED | column_type::BLOB_COMPRESSED
            )
        })
    {
        return Err(BinlogError::Invalid(
            "rows of a table with COMPRESSED columns, which MySQL does not have",
        ));
    }
    Ok(Rendered::AsIs)
}

/// Statements about accounts name password hashes and privileges that MySQL does not know: accounts are each server's own.
fn is_about_accounts(query: &QueryEvent<'_>) -> Result<bool, BinlogError> {
    let mode = SqlMode(query.context()?.sql_mode);
    Ok(glance::is_about_accounts(query.sql, mode))
}

#[cfg(test)]
mod tests {
    use super::*;
    use narwal_binlog::{EventHeader, stamp_event};

    fn gtid(seq: u64, flags2: u8, commit_id: Option<u64>) -> Vec<u8> {
        // A commit id takes more than the room that is left for it otherwise.
        let len = if commit_id.is_some() { 44 } else { 42 };
        let mut event = EventHeader {
            timestamp: 9,
            event_type: event_type::GTID,
            server_id: 3,
            event_size: len as u32,
            end_log_pos: 0,
            flags: 8,
        }
        .to_bytes()
        .to_vec();
        event.extend_from_slice(&seq.to_le_bytes());
        event.extend_from_slice(&0u32.to_le_bytes());
        event.push(
            flags2
                | if commit_id.is_some() {
                    gtid_flags::GROUP_COMMIT_ID
                } else {
                    0
                },
        );
        event.extend_from_slice(&commit_id.unwrap_or(0).to_le_bytes());
        event.resize(len, 0);
        stamp_event(&mut event, 3, 1000).unwrap();
        event
    }

    /// Types of the events, and the clock of the first.
    fn render(t: &mut Translator, event: &[u8]) -> (Vec<u8>, u64, u64) {
        let mut out = Vec::new();
        assert_eq!(t.render(event, &mut out).unwrap(), Rendered::Replaced);
        let kinds = EventReader::new(&out)
            .map(|e| e.unwrap().header.event_type)
            .collect();
        let n = |at: usize| u64::from_le_bytes(out[19 + at..27 + at].try_into().unwrap());
        (kinds, n(26), n(34))
    }

    #[test]
    fn a_transaction_begins_and_a_statement_does_not() {
        let mut t = Translator::default();
        assert_eq!(
            render(&mut t, &gtid(1, gtid_flags::TRANSACTIONAL, None)),
            (vec![33, 2], 0, 1)
        );
        assert_eq!(
            render(&mut t, &gtid(2, gtid_flags::STANDALONE, None)),
            (vec![33], 1, 2)
        );
    }

    #[test]
    fn those_that_were_committed_together_do_not_wait_for_each_other() {
        let mut t = Translator::default();
        let clock = |t: &mut Translator, id| {
            let (_, last, seq) = render(t, &gtid(1, gtid_flags::TRANSACTIONAL, id));
            (last, seq)
        };
        assert_eq!(clock(&mut t, Some(7)), (0, 1));
        assert_eq!(clock(&mut t, Some(7)), (0, 2));
        assert_eq!(clock(&mut t, Some(8)), (2, 3));
        assert_eq!(clock(&mut t, None), (3, 4));
        assert_eq!(clock(&mut t, None), (4, 5));
        t.begin_file();
        assert_eq!(clock(&mut t, Some(8)), (0, 1));
    }

    #[test]
    fn a_group_with_a_name_has_an_empty_transaction_behind_it() {
        let mut t = Translator::default();
        let name: MysqlGtid = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:7".parse().unwrap();
        let head = gtid(5, gtid_flags::TRANSACTIONAL, Some(9));
        let mut last = head.clone();
        last[4] = event_type::XID;
        stamp_event(&mut last, 3, 1044).unwrap();
        // The types of the events, and number and clock of each GTID.
        let run = |t: &mut Translator, named| {
            t.begin_group(100, named);
            let (mut all, mut out) = (Vec::new(), Vec::new());
            for (event, is_last) in [(&head, false), (&last, true)] {
                if is_last {
                    t.at_end();
                    let _ = t.render(event, &mut out);
                }
                match t.render(event, &mut out).unwrap() {
                    Rendered::AsIs => all.extend_from_slice(event),
                    Rendered::Replaced => all.extend_from_slice(&out),
                    Rendered::LeftOut => {}
                }
            }
            let (mut kinds, mut clocks) = (Vec::new(), Vec::new());
            for e in EventReader::new(&all).map(Result::unwrap) {
                kinds.push(e.header.event_type);
                if e.header.event_type == 33 {
                    let n = |at: usize| u64::from_le_bytes(e.body[at..at + 8].try_into().unwrap());
                    clocks.push((n(17), n(26), n(34)));
                }
            }
            (kinds, clocks)
        };
        assert_eq!(run(&mut t, None), (vec![33, 2, 16], vec![(5, 0, 1)]));
        let named = run(&mut t, Some((name, false)));
        assert_eq!(
            named,
            (vec![33, 2, 16, 33, 2, 2], vec![(7, 0, 2), (5, 2, 3)])
        );
        // The reader has it: replicas wait for every number, so none is left out.
        assert_eq!(
            run(&mut t, Some((name, true))),
            (vec![33, 2, 2], vec![(5, 3, 4)])
        );
        assert_eq!(run(&mut t, None), (vec![33, 2, 16], vec![(5, 4, 5)]));
    }

    /// The table `d.t` of one column.
    fn map_of(column: u8) -> Vec<u8> {
        let body = [
            7, 0, 0, 0, 0, 0, 1, 0, 1, b'd', 0, 1, b't', 0, 1, column, 2, 20, 0, 0,
        ];
        let size = 19 + body.len() as u32 + 4;
        let mut event = vec![0; 4];
        event.push(event_type::TABLE_MAP);
        event.extend_from_slice(&1u32.to_le_bytes());
        event.extend_from_slice(&size.to_le_bytes());
        event.extend_from_slice(&[0; 6]);
        event.extend_from_slice(&body);
        event.extend_from_slice(&[0; 4]);
        event
    }

    #[test]
    fn compressed_columns_are_refused() {
        let mut t = Translator::default();
        let mut out = Vec::new();
        let plain = t.render(&map_of(column_type::VARCHAR), &mut out);
        assert_eq!(plain.unwrap(), Rendered::AsIs);
        let compressed = t.render(&map_of(column_type::VARCHAR_COMPRESSED), &mut out);
        assert!(compressed.unwrap_err().to_string().contains("COMPRESSED"));
    }

    #[test]
    fn what_only_mariadb_has_is_left_out_or_refused() {
        let mut t = Translator::default();
        let mut out = Vec::new();
        let mut event = gtid(1, 0, None);
        for (kind, want) in [
            (160, Some(Rendered::LeftOut)),
            (163, Some(Rendered::LeftOut)),
            (16, Some(Rendered::AsIs)),
            (166, None),
        ] {
            event[4] = kind;
            assert_eq!(t.render(&event, &mut out).ok(), want, "{kind}");
        }
        for n in 0..42 {
            event[4] = event_type::GTID;
            let _ = t.render(&event[..n], &mut out);
        }
    }
}
