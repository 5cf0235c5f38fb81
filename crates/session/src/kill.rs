//! KILL: ends a connection, or the statement that it runs.

use crate::admin::{KillTarget, Operand, UserName};
use crate::control::Answer;
use crate::privileges::PrivilegeSet;
use crate::process::Process;
use crate::session::ClientSession;
use narwal_types::{SqlResult, Value, errors};
use std::sync::atomic::Ordering;

impl ClientSession {
    /// KILL [QUERY].
    pub(crate) fn kill_statement(&mut self, target: &KillTarget, query: bool) -> SqlResult<Answer> {
        match target {
            KillTarget::Connection(id) => {
                let id = self.number_of(id)?;
                self.kill_process(id, query)?;
            }
            KillTarget::QueryId(id) => {
                let id = self.number_of(id)?;
                self.kill_query(id)?;
            }
            KillTarget::User(name) => return self.kill_user(name, query),
        }
        Ok(Answer::Done)
    }

    /// An id as it is written.
    fn number_of(&mut self, id: &Operand) -> SqlResult<u64> {
        Ok(match self.evaluate_query(id)? {
            Value::Int(i) => i as u64,
            Value::UInt(u) => u,
            _ => 0,
        })
    }

    /// Whether this account may end what another one runs.
    fn may_kill(&mut self, target: &Process) -> bool {
        let any = PrivilegeSet::SUPER.with(PrivilegeSet::CONNECTION_ADMIN);
        self.account().global.has_any(any) || target.identity.lock().user == self.client.user
    }

    /// KILL of a connection by its id. `query`: of what it runs.
    pub(crate) fn kill_process(&mut self, id: u64, query: bool) -> SqlResult<()> {
        let unknown = || errors::NO_SUCH_THREAD.with([&id]);
        let id32 = u32::try_from(id).map_err(|_| unknown())?;
        let target = self.instance.processes.get(id32).ok_or_else(unknown)?;
        if !self.may_kill(&target) {
            return Err(match self.account().global.has(PrivilegeSet::PROCESS) {
                true => errors::KILL_DENIED_ERROR.with([&id]),
                // An account that can't see the process list learns nothing from KILL.
                false => unknown(),
            });
        }
        if id32 == self.client.id {
            if query {
                return Err(errors::QUERY_INTERRUPTED.plain());
            }
            self.end_itself();
            return Err(errors::CONNECTION_KILLED.plain());
        }
        target.kill(!query);
        Ok(())
    }

    /// KILL QUERY ID: the number that the process list tells of a statement.
    fn kill_query(&mut self, id: u64) -> SqlResult<()> {
        let runs = |p: &Process| p.query_id() == Some(id);
        let Some(target) = (self.instance.processes.all().into_iter()).find(|p| runs(p)) else {
            return Err(errors::NO_SUCH_QUERY.with([&id]));
        };
        if !self.may_kill(&target) {
            return Err(errors::KILL_QUERY_DENIED_ERROR.with([&id]));
        }
        if target.id == self.client.id {
            return Err(errors::QUERY_INTERRUPTED.plain());
        }
        target.kill(false);
        Ok(())
    }

    /// KILL USER: all connections of a user, from a host if one is named. The answer counts them.
    ///
    /// # Errors
    /// 1095 before any is ended, if one of them is not this account's to end, and it may know of it.
    fn kill_user(&mut self, name: &UserName, query: bool) -> SqlResult<Answer> {
        let (user, host) = self.resolve(name);
        let mut all = self.instance.processes.all();
        all.retain(|p| {
            let who = p.identity.lock();
            let (from, _) = who.host.split_once(':').unwrap_or((&who.host, ""));
            who.user == user && (host == "%" || host == from) && p.is_client()
        });
        let found = all.len();
        let mine: Vec<bool> = all.iter().map(|p| self.may_kill(p)).collect();
        let mut mine = mine.into_iter();
        all.retain(|_| mine.next().unwrap_or(false));
        // Who can't see the process list learns nothing.
        if all.len() < found && self.account().global.has(PrivilegeSet::PROCESS) {
            let text = format!("Operation KILL USER failed for {user}@{host}");
            return Err(errors::KILL_DENIED_ERROR.text(text));
        }
        for p in &all {
            match p.id == self.client.id {
                true if query => {}
                true => self.end_itself(),
                false => p.kill(!query),
            }
        }
        Ok(Answer::Changed(all.len() as u64))
    }

    /// This connection ends behind its answer.
    fn end_itself(&mut self) {
        self.process.killed.store(true, Ordering::SeqCst);
        self.release = true;
    }
}
