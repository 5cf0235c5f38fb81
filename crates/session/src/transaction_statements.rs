//! BEGIN, COMMIT, ROLLBACK, savepoints, SET TRANSACTION.

use crate::admin::{SetScope, TransactionStatement};
use crate::privileges::PrivilegeSet;
use crate::session::ClientSession;
use crate::session_transaction::Setup;
use crate::settings::Completion;
use crate::status;
use crate::variables::VarValue;
use narwal_engine::Isolation;
use narwal_types::{SqlResult, errors};

impl ClientSession {
    /// A statement of the session's transaction.
    pub(crate) fn transaction_statement(&mut self, t: &TransactionStatement) -> SqlResult<()> {
        match t {
            TransactionStatement::Begin {
                read_only,
                snapshot,
            } => {
                if *read_only == Some(false) {
                    self.refuse_under_read_only()?;
                }
                self.start_transaction(*read_only, *snapshot);
                Ok(())
            }
            TransactionStatement::Commit { chain, release } => {
                let setup = self.tx.setup();
                self.commit_open()?;
                self.end_named_commit()?;
                self.complete(*chain, *release, setup);
                Ok(())
            }
            TransactionStatement::Rollback { chain, release } => {
                self.refuse_in_xa()?;
                let setup = self.tx.setup();
                self.rollback_open();
                self.complete(*chain, *release, setup);
                Ok(())
            }
            TransactionStatement::Savepoint(name) => {
                self.refuse_behind_xa_end()?;
                self.savepoint(name);
                Ok(())
            }
            TransactionStatement::RollbackTo(name) => self.rollback_to(name),
            TransactionStatement::ReleaseSavepoint(name) => self.tx.release_savepoint(name),
            TransactionStatement::Set {
                scope,
                isolation,
                isolation_name,
                read_only,
            } => self.set_transaction(*scope, *isolation, *isolation_name, *read_only),
        }
    }

    fn start_transaction(&mut self, read_only: Option<bool>, snapshot: bool) {
        // A transaction ends LOCK TABLES, but not the global read lock.
        self.release_table_locks();
        let mut open = self.begin_transaction(read_only);
        if snapshot && open.isolation != Isolation::ReadCommitted {
            open.txn.ensure_snapshot();
        }
        open.snapshot = snapshot;
        self.tx.open = Some(open);
        self.tx.explicit = true;
        self.track.begin();
        self.track.touched(snapshot, false);
    }

    fn complete(&mut self, chain: Option<bool>, release: Option<bool>, setup: Option<Setup>) {
        let by_default = self.settings.completion;
        let release = release.unwrap_or(by_default == Completion::Release && chain.is_none());
        let chain = chain.unwrap_or(by_default == Completion::Chain) && !release;
        if release {
            self.release = true;
        } else if chain {
            if let Some(setup) = &setup {
                self.tx.next.isolation = Some(setup.isolation);
                self.tx.next.read_only = Some(setup.read_only);
            }
            self.start_transaction(None, false);
            if let (Some(open), Some(setup)) = (&mut self.tx.open, setup) {
                open.said = setup.said;
            }
        }
    }

    fn savepoint(&mut self, name: &str) {
        self.process.counters.add(status::SAVEPOINTS, 1);
        if self.tx.open.is_none() {
            if self.settings.autocommit {
                // Outside of a transaction a savepoint is gone with its statement.
                return;
            }
            let open = self.begin_transaction(None);
            self.tx.open = Some(open);
        }
        self.tx.savepoint(name);
    }

    fn rollback_to(&mut self, name: &str) -> SqlResult<()> {
        self.tx.rollback_to(name)?;
        self.process.counters.add(status::SAVEPOINT_ROLLBACKS, 1);
        Ok(())
    }

    fn set_transaction(
        &mut self,
        scope: SetScope,
        isolation: Option<Isolation>,
        name: Option<&'static str>,
        read_only: Option<bool>,
    ) -> SqlResult<()> {
        match scope {
            SetScope::Default | SetScope::Marked => {
                if self.tx.open.is_some() || self.tx.xa.is_some() {
                    return Err(errors::CANT_CHANGE_TX_CHARACTERISTICS.plain());
                }
                if isolation.is_some() {
                    self.tx.next.isolation = isolation;
                }
                if read_only.is_some() {
                    self.tx.next.read_only = read_only;
                }
                self.track.characteristics();
            }
            SetScope::Session => {
                if let Some(n) = name {
                    self.vars.set_by_name("tx_isolation", VarValue::text(n));
                    self.track.variable_named("tx_isolation");
                }
                if let Some(r) = read_only {
                    self.vars.set_by_name("tx_read_only", VarValue::Bool(r));
                    self.track.variable_named("tx_read_only");
                }
                self.refresh_settings();
            }
            SetScope::Global | SetScope::Persist | SetScope::PersistOnly => {
                self.need_any(PrivilegeSet::SUPER)?;
                let set = |n: &str, v: VarValue| {
                    if let Some(i) = crate::variables::index(n) {
                        self.instance.set_global(i, v);
                    }
                };
                if let Some(n) = name {
                    set("tx_isolation", VarValue::text(n));
                }
                if let Some(r) = read_only {
                    set("tx_read_only", VarValue::Bool(r));
                }
            }
        }
        Ok(())
    }
}
