//! The session's transaction: beginning, committing, rolling back.

use crate::process::Stage;
use crate::session::ClientSession;
use crate::status;
use narwal_engine::{Isolation, Savepoint, Transaction, TxnOptions};
use narwal_types::SqlResult;

/// The open transaction.
pub(crate) struct Open {
    pub txn: Transaction,
    pub read_only: bool,
    pub isolation: Isolation,
    pub savepoints: Vec<(String, Savepoint)>,
}

/// SET TRANSACTION without a scope: for the next transaction only.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NextTransaction {
    pub isolation: Option<Isolation>,
    pub read_only: Option<bool>,
}

impl ClientSession {
    pub(crate) fn txn_options(&self, isolation: Isolation, read_only: bool) -> TxnOptions {
        TxnOptions {
            isolation,
            read_only,
            lock_wait_timeout: Some(self.settings.lock_wait_timeout),
            interrupt: Some(self.process.interrupt.clone()),
            kill: Some(self.process.kill_flag.clone()),
            thread_id: self.client.id,
            gtid: self.gtid_choice(),
            log_bin: self.settings.log_bin,
            row_image: self.settings.row_image,
            held_tables: self.locked.as_ref().map(|l| l.held.clone()),
            origin: self.applying.as_ref().and_then(|a| a.origin.clone()),
        }
    }

    /// A new transaction with the session's settings, or those that SET TRANSACTION left for the next one.
    pub(crate) fn begin_transaction(&mut self, read_only: Option<bool>) -> Open {
        let next = std::mem::take(&mut self.next);
        let isolation = next.isolation.unwrap_or(self.settings.isolation);
        let read_only = read_only
            .or(next.read_only)
            .unwrap_or(self.settings.read_only);
        Open {
            txn: self
                .instance
                .database()
                .begin(self.txn_options(isolation, read_only)),
            read_only,
            isolation,
            savepoints: Vec::new(),
        }
    }

    pub(crate) fn commit_transaction(&mut self, mut txn: Transaction) -> SqlResult<()> {
        let instance = self.instance.clone();
        let _permit = if txn.is_read_only() {
            None
        } else {
            // It may have been switched on since the transaction wrote.
            self.refuse_under_read_only()?;
            self.refuse_under_read_lock()?;
            Some(instance.read_lock.enter(false, &self.patience())?)
        };
        // What counts is what is set now: `server_id` may be changed inside a transaction.
        txn.set_gtid(self.gtid_choice());
        let info = txn.commit()?;
        self.process.counters.add(status::COMMITS, 1);
        self.note_gtid(info.gtid);
        Ok(())
    }

    /// Commits the open transaction, if there is one.
    pub(crate) fn commit_open(&mut self) -> SqlResult<()> {
        self.explicit = false;
        if let Some(o) = self.open.take() {
            self.process.stage(Stage::Commit);
            self.commit_transaction(o.txn)?;
        }
        Ok(())
    }

    /// Statements that can't be part of a transaction commit it first.
    pub(crate) fn implicit_commit(&mut self) -> SqlResult<()> {
        self.commit_open()
    }

    pub(crate) fn rollback_open(&mut self) {
        self.explicit = false;
        if let Some(o) = self.open.take() {
            self.process.stage(Stage::Rollback);
            o.txn.rollback();
            self.process.counters.add(status::ROLLBACKS, 1);
        }
    }
}
