//! SET STATEMENT name = value, ... FOR statement: session variables that hold for one statement.
//!
//! MariaDB's Connector/J, and so Debezium, puts `SET STATEMENT max_statement_time = n FOR` before every statement of a
//! connection with a query time-out, transaction control and SET included.

use crate::admin::SetItem;
use crate::session::ClientSession;
use crate::status;
use crate::variables::{self, VarValue};
use narwal_syntax::Statement;
use narwal_types::{ResultSink, SqlError, SqlResult};
use std::sync::atomic::Ordering;

/// What MariaDB 10.11 does not let a single statement have: what decides about transactions, or about the connection.
const REFUSED: &[&str] = &[
    "autocommit",
    "character_set_client",
    "character_set_connection",
    "character_set_filesystem",
    "collation_connection",
    "gtid_binlog_state",
    "interactive_timeout",
    "profiling",
    "query_cache_type",
    "sql_log_off",
    "tx_isolation",
    "wait_timeout",
];

/// What the variables were before.
#[derive(Default)]
struct Before {
    stored: Vec<(usize, Option<VarValue>)>,
    // State is put back only if it was set here: a statement under other settings leaves its own.
    fixed_micros: Option<i64>,
    gtid_seq_no: Option<u64>,
    last_insert_id: Option<u64>,
}

impl ClientSession {
    /// Runs a statement under other settings, which end with it, whether it fails or not. Of settings inside settings only
    /// the innermost hold, as in MariaDB; the others are checked.
    pub(crate) fn run_with_settings(
        &mut self,
        settings: &[Vec<SetItem>],
        statement: Statement,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        let mut before = None;
        for items in settings {
            if let Some(earlier) = before.take() {
                self.put_back(earlier);
            }
            before = match self.assign_for_statement(items) {
                Ok(b) => Some(b),
                Err(e) => {
                    self.begin_statement(status::ADMIN_COMMANDS, false);
                    return self.fail(e);
                }
            };
        }
        self.announce_results(out);
        let r = self.dispatch(statement, text, out, more);
        self.put_back(before.unwrap_or_default());
        self.announce_results(out);
        r
    }

    fn assign_for_statement(&mut self, items: &[SetItem]) -> SqlResult<Before> {
        let mut before = Before::default();
        for item in items {
            let SetItem::System { name, .. } = item else {
                continue;
            };
            if REFUSED.contains(&name.as_str()) {
                return Err(SqlError::new(
                    1971,
                    b"42000",
                    format!("The system variable {name} cannot be set in SET STATEMENT."),
                ));
            }
            match name.as_str() {
                "timestamp" => {
                    before.fixed_micros = Some(self.vars.fixed_micros.load(Ordering::Relaxed));
                }
                "gtid_seq_no" => {
                    before.gtid_seq_no = Some(self.vars.gtid_seq_no.load(Ordering::Relaxed));
                }
                "last_insert_id" | "identity" => {
                    before.last_insert_id = Some(self.env.last_insert_id);
                }
                _ => {
                    if let Some(i) = variables::index(name) {
                        before.stored.push((i, self.vars.own(i)));
                    }
                }
            }
        }
        self.set_variables(items)?;
        Ok(before)
    }

    fn put_back(&mut self, before: Before) {
        // Backwards: of a variable named twice, the first one's value is the old one.
        for (i, own) in before.stored.into_iter().rev() {
            self.vars.restore(i, own);
        }
        if let Some(micros) = before.fixed_micros {
            self.vars.fixed_micros.store(micros, Ordering::Relaxed);
        }
        if let Some(seq) = before.gtid_seq_no {
            self.vars.gtid_seq_no.store(seq, Ordering::Relaxed);
        }
        if let Some(id) = before.last_insert_id {
            self.env.last_insert_id = id;
        }
        self.text_plans.clear();
        self.refresh_settings();
    }
}
