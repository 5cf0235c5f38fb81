//! Statements of a source that change rows (`binlog_format=STATEMENT`): they run in the group's transaction, and are logged here as
//! the rows that they change here.
//!
//! What a source adds in events of its own (`said.rs`) is told to the session before; seeds and files are refused where they come.

use super::{Applied, Applier, Discard, Executed, Group, StatusVars};
use crate::apply_error::ApplyError;
use crate::applying::Applying;
use crate::open_transaction::{NextTransaction, Open};
use narwal_binlog::{EventHeader, QueryEvent};
use narwal_engine::Isolation;

impl Applier {
    /// Runs a statement that is a group of its own.
    pub(super) fn change_alone(
        &mut self,
        header: &EventHeader,
        q: &QueryEvent<'_>,
        sql: &str,
        vars: &StatusVars,
    ) -> Result<Executed, ApplyError> {
        self.change(header, q, sql, vars)?;
        let wrote = |g: &Group| g.txn.as_ref().is_some_and(|t| !t.is_read_only());
        if let Some(group) = self.group.take_if(|g| !wrote(g)) {
            // Of the tables of accounts and programs: those are in the log by then.
            if self.is_logged(&group) {
                return Ok(Executed::Done(Applied {
                    gtid: group.gtid,
                    rows: group.rows,
                    statement: true,
                    nothing: false,
                }));
            }
            self.group = Some(group);
        }
        self.finish(None)
    }

    /// Runs a statement inside of the group that is under way.
    pub(super) fn change(
        &mut self,
        header: &EventHeader,
        q: &QueryEvent<'_>,
        sql: &str,
        vars: &StatusVars,
    ) -> Result<(), ApplyError> {
        let db = String::from_utf8_lossy(q.db).into_owned();
        if self.options.ignore_databases.contains(&db)
            || self.filters && !self.options.filter.wants_statement(&db, &[])
        {
            return Ok(());
        }
        let Some(mut group) = self.group.take() else {
            return Ok(());
        };
        let choice = self.choice(group.gtid);
        let txn = match group.txn.take() {
            Some(txn) => txn,
            None => {
                let options = self.txn_options(group.gtid, group.origin.clone());
                self.db.begin(options)
            }
        };
        let said = std::mem::take(&mut group.said);
        let session = self.fit_session(header.timestamp, &db, vars)?;
        said.tell(session)?;
        session.applying = Some(Applying {
            gtid: choice,
            origin: group.origin.clone(),
        });
        session.tx.open = Some(Box::new(Open {
            txn,
            read_only: false,
            isolation: Isolation::ReadCommitted,
            said: NextTransaction::default(),
            snapshot: false,
            savepoints: Vec::new(),
        }));
        session.tx.explicit = true;
        let ran = session.run_text(sql, &mut Discard, false);
        session.tx.explicit = false;
        session.applying = None;
        group.txn = session.tx.open.take().map(|o| o.txn);
        group.statement_open = false;
        group.begun = true;
        match ran {
            Ok(()) if q.error_code == 0 => {
                group.rows += u64::try_from(session.env.row_count).unwrap_or(0);
                self.group = Some(group);
                Ok(())
            }
            Ok(()) => Err(ApplyError::new(format!(
                "the statement ended with error {} on the source and without one here",
                q.error_code
            ))
            .of(sql)),
            Err(e) => Err(ApplyError::from(e).of(sql)),
        }
    }
}
