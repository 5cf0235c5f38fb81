//! `binlog_format=STATEMENT`: readers of the binary log get statements, and run them; the rows stand beside them in the log's record,
//! for recovery only.
//!
//! Tools need it that want a replica to compute something of its own rows: pt-table-checksum. What a statement's text does
//! not say must be in its events, or the statement is refused: a replica that drifts is worse than an error.

use crate::session::ClientSession;
use narwal_binlog::{DdlQuery, QueryContext};
use narwal_engine::Transaction;
use narwal_sql::{Outcome, Prepared};
use narwal_types::{SqlError, SqlResult};

/// FLAGS2 of a QUERY event.
const NO_FOREIGN_KEY_CHECKS: u32 = 1 << 26;

impl ClientSession {
    /// Do readers of the log get this session's statements? What an applier runs is logged as rows, whatever this server is
    /// set to: the source has said already what its statements are.
    #[inline]
    pub(crate) fn logs_statements(&self) -> bool {
        self.settings.statements && self.applying.is_none()
    }

    /// Refuses a statement whose text means something else on another server.
    ///
    /// # Errors
    /// 1235, which names what does.
    #[cold]
    pub(crate) fn check_repeatable(&self, plan: &Prepared) -> SqlResult<()> {
        let writes = plan.writes_stored() || plan.calls_stored();
        if !writes || !self.settings.log_bin {
            return Ok(());
        }
        // In a program too: its variables are parameters, and what has none of them says everything.
        plan.unrepeatable()
            .map_or(Ok(()), |what| Err(refused(what)))
    }

    /// Logs a statement that has changed rows, as a transaction of [`narwal_engine::TxnOptions::statements`] must.
    ///
    /// # Errors
    /// It took values of an AUTO_INCREMENT column: which ones, its text doesn't say. Those of logging.
    #[cold]
    pub(crate) fn log_statement(
        &self,
        text: &str,
        txn: &mut Transaction,
        done: Outcome,
    ) -> SqlResult<Outcome> {
        match &done {
            Outcome::Done { last_insert_id, .. } | Outcome::Returned { last_insert_id, .. }
                if *last_insert_id != 0 =>
            {
                return Err(refused("AUTO_INCREMENT"));
            }
            _ => {}
        }
        let zone = self.session_text("time_zone");
        let db = self.env.db.as_deref().unwrap_or_default();
        let collation = self.settings.collation.id();
        let query = DdlQuery {
            server_id: self.settings.server_id,
            timestamp: self.env.timestamp(),
            thread_id: self.client.id,
            exec_time: 0,
            db,
            sql: text.as_bytes(),
            context: QueryContext {
                flags2: QueryContext::default().flags2
                    | if self.settings.foreign_key_checks {
                        0
                    } else {
                        NO_FOREIGN_KEY_CHECKS
                    },
                sql_mode: self.env.sql_mode.0,
                collation_connection: collation,
                collation_server: self.settings.server_collation.id(),
                micros: (self.env.now_micros.rem_euclid(1_000_000)) as u32,
                ..QueryContext::default()
            },
            suppress_use: false,
            time_zone: &zone,
        };
        txn.log_statement(&query)?;
        Ok(done)
    }
}

fn refused(what: &str) -> SqlError {
    SqlError::unsupported(format!("{what} with binlog_format=STATEMENT"))
}
