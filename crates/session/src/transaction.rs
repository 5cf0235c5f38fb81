//! The session's transaction: beginning, committing, rolling back.

use crate::open_transaction::{NextTransaction, Open};
use crate::process::Stage;
use crate::session::ClientSession;
use crate::status;
use narwal_engine::{EngineError, Isolation, LogError, OnDone, Transaction, TxnOptions};
use narwal_types::{LateAnswer, SqlResult};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// A late answer as the log knows it.
#[derive(Debug)]
struct Later(Arc<dyn LateAnswer>);

impl OnDone for Later {
    fn done(&self, result: Result<(), LogError>) {
        self.0.send(result.map_err(|e| EngineError::from(e).into()));
    }
}

impl ClientSession {
    pub(crate) fn txn_options(&self, isolation: Isolation, read_only: bool) -> TxnOptions {
        TxnOptions {
            isolation,
            newest_rows: self.settings.newest_rows,
            read_only,
            lock_wait_timeout: Some(self.settings.lock_wait_timeout),
            interrupt: Some(self.process.interrupt.clone()),
            kill: Some(self.process.kill_flag.clone()),
            thread_id: self.client.id,
            gtid: self.gtid_choice(),
            log_bin: self.settings.log_bin,
            row_image: self.settings.row_image,
            temporary: self.env.temporary.clone(),
            held_tables: self.locks.tables.as_ref().map(|l| l.all.clone()),
            unheld: false,
            origin: self.origin(),
            collations: (
                self.settings.collation.id(),
                self.settings.server_collation.id(),
            ),
            time_zone: None,
            statements: false,
        }
    }

    /// A new transaction with the session's settings, or those that SET TRANSACTION left for the next one.
    pub(crate) fn begin_transaction(&mut self, read_only: Option<bool>) -> Box<Open> {
        let next = std::mem::take(&mut self.tx.next);
        let isolation = next.isolation.unwrap_or(self.settings.isolation);
        let said_read_only = read_only.or(next.read_only);
        let read_only = said_read_only.unwrap_or(self.settings.read_only);
        let txn = self.instance.database().begin(TxnOptions {
            statements: self.logs_statements(),
            ..self.txn_options(isolation, read_only)
        });
        let facts = &self.process.transaction;
        facts.id.store(txn.id(), Relaxed);
        let now = self.instance.processes.now();
        facts.since.store(now, Relaxed);
        facts.isolation.store(isolation as u8, Relaxed);
        facts.read_only.store(read_only, Relaxed);
        facts.locks.store(0, Relaxed);
        facts.tables.store(0, Relaxed);
        facts.changed.store(false, Relaxed);
        // In a box: each statement takes it out of the session and puts it back.
        Box::new(Open {
            txn,
            read_only,
            isolation,
            said: NextTransaction {
                read_only: said_read_only,
                ..next
            },
            snapshot: false,
            savepoints: Vec::new(),
        })
    }

    /// Bytes that the session holds between its commands. They are asked for one by one: of what a thread's allocations have
    /// left behind, much belongs to all sessions (rows in memtables, definitions) or waits in a cache.
    fn kept_memory(&self) -> i64 {
        let in_transaction = self.tx.open.as_ref().map_or(0, |o| o.txn.memory());
        let temporary = self.env.temporary.as_ref().map_or(0, |t| t.memory());
        let rows = i64::try_from(in_transaction + temporary).unwrap_or(i64::MAX / 4);
        rows + self.vars.user_bytes.load(Relaxed) + self.prepared.bytes()
    }

    /// The command is done: others see what became of its transaction.
    pub(crate) fn command_ends(&self) {
        let facts = &self.process.transaction;
        if let Some(o) = &self.tx.open {
            let (locks, tables) = o.txn.lock_counts();
            facts.id.store(o.txn.id(), Relaxed);
            facts.locks.store(locks as u64, Relaxed);
            facts.tables.store(tables as u64, Relaxed);
            facts.changed.store(!o.txn.is_read_only(), Relaxed);
        }
        facts.kept.store(self.tx.open.is_some(), Relaxed);
        self.process.memory.command_ends(self.kept_memory());
        self.process.end(self.instance.processes.now());
    }

    pub(crate) fn commit_transaction(&mut self, mut txn: Transaction) -> SqlResult<()> {
        let instance = self.instance.clone();
        let _permit = if txn.is_read_only() {
            None
        } else {
            // It may have been switched on since the transaction wrote.
            self.refuse_under_read_only()?;
            self.refuse_under_read_lock()?;
            Some(match instance.read_lock.try_enter(false) {
                Some(permit) => permit,
                None => instance.read_lock.enter(false, &self.patience())?,
            })
        };
        // What counts is what is set now: `server_id` may be changed inside a transaction.
        txn.set_gtid(self.gtid_choice());
        let reserved = txn.commit_reserved()?;
        let gtid = reserved.gtid;
        let db = self.instance.database();
        if let Some(reserved) = self.late.keep(reserved, || db.is_log_led()) {
            db.wait_committed_or_killed(&reserved, &self.process.kill_flag)?;
        }
        self.process.counters.add(status::COMMITS, 1);
        if let Some(gtid) = gtid {
            self.note_gtid(gtid);
        }
        Ok(())
    }

    /// The front can answer commits later, by this.
    pub fn answer_through(&mut self, late: Arc<dyn LateAnswer>) {
        self.late.set(Arc::new(Later(late)));
    }

    /// Whether the statement that has just run stands for a commit that has its place, but may not be durable yet:
    /// [`ClientSession::settle`] comes before its answer.
    pub fn has_commit_pending(&self) -> bool {
        self.late.is_pending()
    }

    /// Waits for that commit (false), or, if `later` and that is possible, leaves it (true): the thread that finishes it has the
    /// answer sent by what [`ClientSession::answer_through`] gave, perhaps before this returns.
    ///
    /// # Errors
    /// The commit has failed.
    pub fn settle(&mut self, later: bool) -> SqlResult<bool> {
        let Some(reserved) = self.late.take() else {
            return Ok(false);
        };
        let db = self.instance.database();
        if later
            && let Some(late) = self.late.by()
            && db.leave_committed(&reserved, late)
        {
            return Ok(true);
        }
        match db.wait_committed_or_killed(&reserved, &self.process.kill_flag) {
            Ok(()) => Ok(false),
            Err(e) => self.fail(e.into()),
        }
    }

    /// Commits the open transaction, if there is one. That of an XA branch ends by XA statements only (1399).
    pub(crate) fn commit_open(&mut self) -> SqlResult<()> {
        self.refuse_in_xa()?;
        self.tx.explicit = false;
        if let Some(o) = self.tx.open.take() {
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
        self.tx.explicit = false;
        self.vars.facts.gtid_next.end();
        if let Some(o) = self.tx.open.take() {
            self.process.stage(Stage::Rollback);
            o.txn.rollback();
            self.process.counters.add(status::ROLLBACKS, 1);
        }
    }
}
