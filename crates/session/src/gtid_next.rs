//! What `gtid_next` means for a session's statements.

use crate::applying::EMPTY_TRANSACTION;
use crate::gtid_names::{Taker, Turn};
use crate::session::ClientSession;
use narwal_binlog::{Gtid, MysqlGtid};
use narwal_engine::{Ddl, Origin};
use narwal_types::{ResultSink, SqlResult, errors};
use std::sync::Arc;

impl ClientSession {
    /// Where what the session logs comes from: an applier's source, or the name that a client gave.
    pub(crate) fn origin(&self) -> Option<Arc<Origin>> {
        match &self.applying {
            Some(applying) => applying.origin.clone(),
            None if self.vars.facts.gtid_next.is_named() => self.named_origin(),
            None => None,
        }
    }

    #[cold]
    fn named_origin(&self) -> Option<Arc<Origin>> {
        let db = self.instance.database();
        let taker = Taker {
            first: MysqlGtid::from(Gtid {
                domain: self.settings.gtid_domain_id,
                server: self.settings.server_id,
                seq: 1,
            }),
            connection: self.client.id,
        };
        let next = &self.vars.facts.gtid_next;
        next.origin(&self.instance.held_names, taker, &|| {
            db.replica_state().mysql
        })
    }

    /// The answer to a statement that does not run: its transaction is here already, or nothing was said of its name. `None`
    /// if it runs. `alone`: the statement is a transaction of its own.
    #[inline]
    pub(crate) fn passed_over(
        &mut self,
        alone: bool,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> Option<SqlResult<()>> {
        if !self.vars.facts.gtid_next.is_named() || self.applying.is_some() {
            return None;
        }
        match self.turn(alone) {
            Ok(Turn::Runs) => None,
            Ok(Turn::PassedOver) => Some(self.finish_ok(0, 0, String::new(), out, more)),
            Err(e) => Some(self.fail(e)),
        }
    }

    #[cold]
    fn turn(&mut self, alone: bool) -> SqlResult<Turn> {
        let next = &self.vars.facts.gtid_next;
        let turn = next.turn()?;
        if alone {
            self.check_named_commit()?;
            if turn == Turn::PassedOver {
                next.end();
            }
        }
        Ok(turn)
    }

    /// A statement commits the open transaction first: not one that has a name.
    pub(crate) fn check_named_commit(&self) -> SqlResult<()> {
        let next = &self.vars.facts.gtid_next;
        if next.is_named() && self.tx.open.is_some() && next.is_given() {
            return Err(errors::CANT_DO_IMPLICIT_COMMIT_IN_TRX_WHEN_GTID_NEXT_IS_SET.plain());
        }
        Ok(())
    }

    /// COMMIT has run: under a name that was not used, a transaction without changes is logged.
    pub(crate) fn end_named_commit(&mut self) -> SqlResult<()> {
        if !self.vars.facts.gtid_next.is_named() || self.in_program > 0 {
            return Ok(());
        }
        if self.vars.facts.gtid_next.held().is_some() {
            self.log_empty_transaction()?;
        }
        self.vars.facts.gtid_next.end();
        Ok(())
    }

    fn log_empty_transaction(&mut self) -> SqlResult<()> {
        self.check_writable()?;
        self.refuse_under_read_lock()?;
        let instance = self.instance.clone();
        let _permit = instance.read_lock.enter(false, &self.patience())?;
        let ddl = Ddl {
            sql: EMPTY_TRANSACTION.to_owned(),
            timestamp: self.env.timestamp(),
            thread_id: self.client.id,
            ..Ddl::default()
        };
        let options = self.txn_options(self.settings.isolation, false);
        let done = self.instance.database().ddl(ddl, &options)?;
        self.note_gtid(done.gtid);
        Ok(())
    }

    /// A statement has failed: outside of a transaction it gives up the name, as in MySQL.
    pub(crate) fn give_up_name(&self) {
        let next = &self.vars.facts.gtid_next;
        if next.is_named() && self.tx.open.is_none() && next.is_held() {
            next.end();
        }
    }
}
