//! Running the statements about replication.

use super::errors::{locked_or_in_transaction, no_connection};
use super::{ChangeMaster, Condition, ReplicaControl, StartWhat, Threads, Which};
use crate::admin::{ReplicaStatement, Target};
use crate::privileges::PrivilegeSet;
use crate::session::ClientSession;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult};
use std::sync::Arc;

impl ClientSession {
    fn replica_control(&self) -> SqlResult<Arc<dyn ReplicaControl>> {
        self.instance
            .replica_control()
            .cloned()
            .ok_or_else(|| SqlError::unsupported("replication into an embedded database"))
    }

    /// The connection that a statement without a name means.
    pub(crate) fn default_connection(&self) -> String {
        self.vars.value("default_master_connection").show()
    }

    /// The name of the target; `None` is all.
    pub(crate) fn target_name(&self, target: &Target) -> Option<String> {
        match target {
            Target::Default => Some(self.default_connection()),
            Target::Named(n) => Some(n.clone()),
            Target::All => None,
        }
    }

    fn report_conditions(&self, conditions: Vec<Condition>) {
        for c in conditions {
            self.env.push_condition(c.level, c.code, c.message);
        }
    }

    fn need_replica_admin(&mut self) -> SqlResult<()> {
        self.need_any(PrivilegeSet::SUPER.with(PrivilegeSet::REPLICATION_SLAVE_ADMIN))
    }

    /// A statement of this server as a replica.
    pub(crate) fn replica_statement(&mut self, r: &ReplicaStatement) -> SqlResult<()> {
        match r {
            ReplicaStatement::ChangeMaster { target, change } => self.change_master(target, change),
            ReplicaStatement::Start { target, what } => self.start_replica(target, what),
            ReplicaStatement::Stop { target, threads } => self.stop_replica(target, *threads),
            ReplicaStatement::Reset { target, all } => self.reset_replica(target, *all),
        }
    }

    /// CHANGE MASTER TO.
    fn change_master(&mut self, target: &Target, change: &ChangeMaster) -> SqlResult<()> {
        self.need_replica_admin()?;
        self.instance.database().one_log("CHANGE MASTER")?;
        let name = self.target_name(target).unwrap_or_default();
        if name.chars().count() > MAX_NAME {
            return Err(errors::WRONG_ARGUMENTS.with([&"MASTER_CONNECTION_NAME"]));
        }
        let notes = self.replica_control()?.change_master(&name, change)?;
        self.report_conditions(notes);
        Ok(())
    }

    /// START SLAVE, START ALL SLAVES.
    fn start_replica(&mut self, target: &Target, what: &StartWhat) -> SqlResult<()> {
        self.need_replica_admin()?;
        self.instance.database().one_log("START SLAVE")?;
        let name = self.target_name(target);
        let control = self.replica_control()?;
        let started = control.start(name.as_deref().map_or(Which::All, Which::Named), what);
        let notes = started?;
        if what.until.is_some() && !self.instance.global_value("skip_slave_start").as_bool() {
            self.env.note(
                codes::MISSING_SKIP_SLAVE,
                "START SLAVE UNTIL goes on without an end if the server starts again meanwhile, unless it runs with --skip-slave-start",
            );
        }
        self.report_conditions(notes);
        Ok(())
    }

    /// STOP SLAVE, STOP ALL SLAVES.
    fn stop_replica(&mut self, target: &Target, threads: Threads) -> SqlResult<()> {
        self.need_replica_admin()?;
        // The applier may wait for what this session holds.
        if self.tx.open.is_some() || self.locks.any() {
            return Err(locked_or_in_transaction());
        }
        let name = self.target_name(target);
        let control = self.replica_control()?;
        let stopped = control.stop(name.as_deref().map_or(Which::All, Which::Named), threads);
        let notes = stopped?;
        self.report_conditions(notes);
        Ok(())
    }

    /// RESET SLAVE.
    fn reset_replica(&mut self, target: &Target, all: bool) -> SqlResult<()> {
        self.need_any(PrivilegeSet::RELOAD)?;
        let name = self.target_name(target).unwrap_or_default();
        let notes = self.replica_control()?.reset(&name, all)?;
        self.report_conditions(notes);
        Ok(())
    }

    /// Error 1617 if there is no such connection; the default one is always there.
    pub(crate) fn need_connection(&self, name: &str) -> SqlResult<()> {
        if name.is_empty() {
            return Ok(());
        }
        match self.instance.replica_control() {
            Some(c) => c.status(Which::Named(name)).map(|_| ()),
            None => Err(no_connection(name)),
        }
    }
}

/// Longest name of a connection, characters.
const MAX_NAME: usize = 64;
