//! BINLOG: events of a binary log, which `mariadb-binlog FILE | mariadb` and `mysqlbinlog FILE | mysql` bring back.
//!
//! The statements around it say what the events don't: the transaction's ends, its GTID, the default database. A format
//! description event comes first, in a statement of its own, and tells how the events behind it are written.

use crate::open_transaction::Open;
use crate::privileges::PrivilegeSet;
use crate::process::Stage;
use crate::replay_format::ReplayFormat;
use crate::session::ClientSession;
use crate::statement::rolls_back_transaction;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use narwal_binlog::{
    BinlogError, Event, EventHeader, EventReader, RawEvent, RowsEvent, decompressed_body,
    event_name, event_type, uncompressed_type,
};
use narwal_engine::Catalog;
use narwal_engine::apply::{RowApplier, TypeConversions};
use narwal_sql::{Needs, Privilege, VariableSource};
use narwal_syntax::ast::admin::BinlogText;
use narwal_types::{SqlError, SqlResult, Value, errors};
use std::sync::Arc;

/// What a BINLOG statement does its work with.
struct Replay {
    rows: RowApplier,
    catalog: Arc<Catalog>,
    /// Row events of one statement have begun, and not ended.
    statement_open: bool,
}

impl ClientSession {
    /// BINLOG.
    pub(crate) fn replay(&mut self, text: &BinlogText) -> SqlResult<()> {
        self.need_any(PrivilegeSet::BINLOG_REPLAY)?;
        let events = decoded(&self.replay_text(text)?)?;
        if events.len() < narwal_binlog::HEADER_LEN {
            return Err(errors::SYNTAX_ERROR.plain());
        }
        let before = self.tx.open.as_mut().map(|o| o.txn.savepoint());
        let kept = before.is_some() || !self.settings.autocommit;
        let done = self.replay_events(&events);
        let Some(mut open) = self.tx.open.take() else {
            return done;
        };
        match done {
            Ok(()) if kept => self.tx.open = Some(open),
            Ok(()) => {
                self.process.stage(Stage::Commit);
                self.commit_transaction(open.txn)?;
            }
            Err(e) => {
                self.process.stage(Stage::Rollback);
                if rolls_back_transaction(e.code) {
                    open.txn.rollback();
                    self.tx.explicit = false;
                    self.xa_lost(e.code);
                } else if let Some(before) = before {
                    // Its events may be those of several statements.
                    open.txn.rollback_statement();
                    open.txn.rollback_to(&before);
                    self.tx.open = Some(open);
                }
                return Err(e);
            }
        }
        Ok(())
    }

    /// The statement's text in base64. Two variables hold the halves of a long one; they are NULL afterwards, as in MariaDB.
    fn replay_text(&self, text: &BinlogText) -> SqlResult<String> {
        let (first, second) = match text {
            BinlogText::Text(text) => return Ok(text.clone()),
            BinlogText::Variables(first, second) => (first, second),
        };
        let mut whole = String::new();
        for name in [first, second] {
            match self.vars.user(name) {
                Value::Str(s) => whole.push_str(&s),
                Value::Bytes(b) => whole.push_str(&String::from_utf8_lossy(&b)),
                _ => return Err(errors::WRONG_TYPE_FOR_VAR.with([name])),
            }
        }
        for name in [first, second] {
            self.vars.set_user(name, Value::Null);
        }
        Ok(whole)
    }

    fn replay_events(&mut self, bytes: &[u8]) -> SqlResult<()> {
        let conversions = self.instance.global_value("slave_type_conversions");
        let mut replay = Replay {
            rows: RowApplier::new(false)
                .converting(TypeConversions::listed(conversions.as_str()))
                .completing(narwal_sql::with_hidden_columns)
                .regenerating(narwal_sql::with_generated_columns),
            catalog: self.instance.database().catalog(),
            statement_open: false,
        };
        let mut reader = EventReader::new(bytes);
        if self.replay_format.is_some_and(|f| !f.checksums) {
            reader = reader.without_checksums();
        }
        for event in reader {
            let event = event.map_err(bad_event)?;
            self.replay_event(&mut replay, &event)?;
        }
        if replay.statement_open
            && let Some(open) = &mut self.tx.open
        {
            open.txn.end_statement();
        }
        Ok(())
    }

    fn replay_event(&mut self, replay: &mut Replay, event: &RawEvent<'_>) -> SqlResult<()> {
        let mut header = event.header;
        let plain = decompressed_body(event).map_err(bad_event)?;
        let event = match &plain {
            None => *event,
            Some(body) => {
                header.event_type =
                    uncompressed_type(header.event_type).unwrap_or(header.event_type);
                RawEvent {
                    header,
                    bytes: &[],
                    body,
                }
            }
        };
        let kind = header.event_type;
        if self.replay_format.is_none() && kind != event_type::FORMAT_DESCRIPTION {
            let without = errors::NO_FORMAT_DESCRIPTION_EVENT_BEFORE_BINLOG_STATEMENT;
            return Err(without.with([&event_name(kind)]));
        }
        match event.decode().map_err(bad_event)? {
            Event::FormatDescription {
                checksum_algorithm, ..
            } => {
                self.replay_format = Some(ReplayFormat {
                    checksums: checksum_algorithm != 0,
                });
                Ok(())
            }
            Event::TableMap(map) => {
                self.may_replay(map.db, map.table)?;
                let found = replay.rows.table_map(&replay.catalog, &map, event.body);
                Ok(found?)
            }
            Event::Rows(rows) => self.replay_rows(replay, &header, &rows),
            _ => {
                let only = errors::ONLY_FD_AND_RBR_EVENTS_ALLOWED_IN_BINLOG_STATEMENT;
                Err(only.with([&event_name(kind)]))
            }
        }
    }

    /// What keeps rows of a table from being written: the same that keeps statements from it, but for privileges.
    fn may_replay(&mut self, db: &str, table: &str) -> SqlResult<()> {
        if self.logs_statements() && self.settings.log_bin {
            return Err(SqlError::unsupported("BINLOG with binlog_format=STATEMENT"));
        }
        self.check_writable()?;
        self.wait_for_read_lock()?;
        if self.tx.xa.is_some() {
            self.refuse_behind_xa_end()?;
        }
        self.check_table_locks(&[Needs {
            db: db.to_owned(),
            table: table.to_owned(),
            privilege: Privilege::Update,
            through: None,
            alias: None,
        }])
    }

    fn replay_rows(
        &mut self,
        replay: &mut Replay,
        header: &EventHeader,
        rows: &RowsEvent<'_>,
    ) -> SqlResult<()> {
        if replay.rows.table(rows.table_id).is_none() {
            let text = "row events in BINLOG without the table map that they belong to";
            return Err(errors::SLAVE_CORRUPT_EVENT.text(text));
        }
        let mut open: Box<Open> = match self.tx.open.take() {
            Some(open) => open,
            None => self.begin_transaction(None),
        };
        if !replay.statement_open {
            open.txn.begin_statement(header.timestamp, None);
            replay.statement_open = true;
        }
        let done = replay.rows.rows(&mut open.txn, rows, header.timestamp);
        if done.is_ok() && rows.is_statement_end() {
            open.txn.end_statement();
            replay.statement_open = false;
            replay.rows.clear();
        }
        self.tx.open = Some(open);
        done?;
        Ok(())
    }
}

/// Bytes of base64. Each event was encoded alone, so a filled up end may stand anywhere; spaces and line ends don't count.
fn decoded(text: &str) -> SqlResult<Vec<u8>> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
        .with_decode_allow_trailing_bits(true);
    let engine = GeneralPurpose::new(&STANDARD, config);
    let plain: String = text.split_ascii_whitespace().collect();
    let mut bytes = Vec::with_capacity(plain.len() / 4 * 3);
    let mut rest = plain.as_str();
    while !rest.is_empty() {
        let padded = rest.find('=').unwrap_or(rest.len());
        let behind = rest[padded..]
            .find(|c| c != '=')
            .unwrap_or(rest.len() - padded);
        let (chunk, more) = rest.split_at(padded + behind);
        let decoded = engine.decode_vec(chunk, &mut bytes);
        decoded.map_err(|_| errors::BASE64_DECODE_ERROR.plain())?;
        rest = more;
    }
    Ok(bytes)
}

/// Events that are none. Those that are cut short are an error of the statement's text, as in MariaDB.
fn bad_event(e: BinlogError) -> SqlError {
    match e {
        BinlogError::Truncated(_) => errors::SYNTAX_ERROR.plain(),
        BinlogError::Checksum { .. } => {
            errors::NETWORK_READ_EVENT_CHECKSUM_FAILURE.text(format!("BINLOG: {e}"))
        }
        e => errors::SLAVE_CORRUPT_EVENT.text(format!("BINLOG: {e}")),
    }
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn each_event_is_encoded_alone() {
        assert_eq!(decoded("YQ==\nYmM=\nZGVm").unwrap(), b"abcdef");
        assert_eq!(decoded(" Y W\tJj ").unwrap(), b"abc");
        for bad in ["a", "YQ=", "YQ===", "!!!!", "=", "ä==="] {
            assert_eq!(decoded(bad).unwrap_err().code, 1575, "{bad}");
        }
        assert!(decoded("").unwrap().is_empty());
    }
}
