//! SET inside of functions and triggers: there the session waits for its statement, so what is set goes into its variables,
//! and into the environment of the program.

use crate::acl::Account;
use crate::gtids::gtid_inside_transaction;
use crate::replica::{Which, no_connection};
use crate::session_vars::SessionVars;
use crate::set::{accepted, accepted_state, may_set};
use crate::settings::Settings;
use crate::variables::parts::{SessionParts, SessionView};
use crate::variables::{self, Effect, Inside, VARIABLES, VarValue};
use narwal_sql::{SqlMode, StatementEnv};
use narwal_syntax::ast::admin::{Isolation, Scope, SetTransaction};
use narwal_types::{Collation, SqlError, SqlResult, Value, errors};
use std::sync::atomic::Ordering;

/// A session in the middle of a statement, as the table of variables sees it.
struct Within<'a> {
    vars: &'a SessionVars,
    env: &'a mut StatementEnv,
}

impl SessionParts for Within<'_> {
    fn view(&self) -> &dyn SessionView {
        self.vars
    }

    fn autocommit(&self) -> bool {
        self.vars.value("autocommit").as_bool()
    }

    fn in_transaction(&self) -> bool {
        true
    }

    fn has_locked_tables(&self) -> bool {
        self.vars.held_tables.lock().is_some()
    }

    fn commit_open(&mut self) -> SqlResult<()> {
        Err(errors::COMMIT_NOT_ALLOWED_IN_SF_OR_TRG.plain())
    }

    fn last_insert_id(&self) -> u64 {
        self.env.last_insert_id
    }

    fn set_last_insert_id(&mut self, id: u64) {
        self.env.last_insert_id = id;
    }

    fn set_database_collation(&mut self, collation: Collation) {
        self.vars.say_database_collation(collation);
    }

    fn need_connection(&self, connection: &str) -> SqlResult<()> {
        if connection.is_empty() {
            return Ok(());
        }
        match self.vars.instance.replica_control() {
            Some(c) => c.status(Which::Named(connection)).map(|_| ()),
            None => Err(no_connection(connection)),
        }
    }

    fn check_gtid_seq_no(&self, _seq: u64) -> SqlResult<()> {
        Err(gtid_inside_transaction())
    }

    fn check_gtid_slave_pos(&self, _text: &str) -> SqlResult<()> {
        Err(errors::CANT_DO_THIS_DURING_AN_TRANSACTION.plain())
    }

    fn variable_name(&self, name: &str) -> Option<&'static str> {
        variables::lookup(name).map(|d| d.name)
    }
}

impl Within<'_> {
    /// Gives a session variable its value.
    fn assign(&mut self, i: usize, value: VarValue) -> SqlResult<()> {
        // A function may have called a procedure that does.
        if VARIABLES[i].name == "autocommit" {
            return Err(errors::SP_CANT_SET_AUTOCOMMIT.plain());
        }
        let hooks = &VARIABLES[i].hooks;
        let twin = hooks.twin.map(|twin| twin(&value)).transpose()?;
        if let Inside::Program = hooks.inside {
            self.of_program(i, &value);
            if let Some((name, v)) = twin
                && let Some(i) = variables::index(name)
            {
                self.of_program(i, &v);
            }
            return Ok(());
        }
        if let Some(before) = hooks.before {
            before(self, &value)?;
        }
        if let Some((name, other)) = twin {
            self.vars.set_by_name(name, other);
        }
        self.vars.set(i, value);
        self.refresh();
        Ok(())
    }

    /// Gives the program's environment the session's settings. The session itself follows with its next statement.
    fn refresh(&mut self) {
        self.vars.changed_inside.store(true, Ordering::Relaxed);
        let mut settings = Settings::default();
        self.vars.fill(&mut settings);
        settings.bounds_of(self.env);
        self.env.time_zone = settings.time_zone;
        self.env.now_micros = self.vars.facts.clock();
    }

    /// Gives the program a value of its own.
    fn of_program(&mut self, i: usize, value: &VarValue) {
        let mut settings = Settings {
            sql_mode: self.env.sql_mode,
            collation: self.env.collation,
            ..Settings::default()
        };
        if let Some(to_settings) = VARIABLES[i].hooks.session {
            to_settings(&mut settings, value);
        }
        self.env.sql_mode = settings.sql_mode;
        self.env.collation = settings.collation;
    }
}

/// SET of a system variable; `None` is DEFAULT. Modes, and the character sets of statements and literals, are the program's
/// own and end with it. All else is the session's.
pub(super) fn set(
    vars: &SessionVars,
    env: &mut StatementEnv,
    scope: Scope,
    name: &str,
    given: Option<&Value>,
) -> SqlResult<()> {
    let i = variables::index(name).ok_or_else(|| variables::unknown(name))?;
    let d = &VARIABLES[i];
    let global = scope == Scope::Global;
    if let Inside::Refused(e) = d.hooks.inside
        && !global
    {
        d.check_scope(global)?;
        return Err(e.plain());
    }
    if d.hooks.filter.is_some() {
        let what = format!("SET {} in functions and triggers", d.name);
        return Err(SqlError::unsupported(what));
    }
    let account = current(vars, env);
    let mut within = Within { vars, env };
    may_set(d, &within, account.as_deref(), global)?;
    if d.effect == Effect::State {
        let value = accepted_state(d, &within, given, within.env)?;
        if let Some(assign) = d.hooks.assign {
            assign(&mut within, value.as_ref())?;
        }
        within.env.now_micros = vars.facts.clock();
        return Ok(());
    }
    let value = accepted(i, &within, vars, global, given, within.env)?;
    match global {
        true => {
            vars.instance.set_global(i, value);
            Ok(())
        }
        false => within.assign(i, value),
    }
}

/// The account that the program runs with. `None` for one that is none of the accounts: an applier's.
fn current(vars: &SessionVars, env: &StatementEnv) -> Option<std::sync::Arc<Account>> {
    let (user, host) = env.current_user.rsplit_once('@')?;
    let role = env.current_role.as_deref();
    vars.instance.acl().effective(user, host, role)
}

/// SET NAMES: `results` is the character set of what the client gets.
pub(super) fn set_names(
    vars: &SessionVars,
    env: &mut StatementEnv,
    results: Collation,
    literals: Collation,
) -> SqlResult<()> {
    let charset = Value::str(results.charset().name());
    let collation = Value::str(literals.name());
    for (name, value) in [
        ("character_set_client", &charset),
        ("character_set_results", &charset),
        ("collation_connection", &collation),
    ] {
        set(vars, env, Scope::Session, name, Some(value))?;
    }
    Ok(())
}

/// SET TRANSACTION. The next transaction's is void: there is one, the statement's own, and what is said ends with it.
pub(super) fn set_transaction(
    vars: &SessionVars,
    env: &mut StatementEnv,
    t: &SetTransaction,
) -> SqlResult<()> {
    if t.scope == Scope::Default {
        return match vars.facts.in_transaction.load(Ordering::Relaxed) {
            true => Err(errors::CANT_CHANGE_TX_CHARACTERISTICS.plain()),
            false => Ok(()),
        };
    }
    if let Some(level) = t.isolation {
        let name = Value::str(match level {
            Isolation::ReadUncommitted => "READ-UNCOMMITTED",
            Isolation::ReadCommitted => "READ-COMMITTED",
            Isolation::RepeatableRead => "REPEATABLE-READ",
            Isolation::Serializable => "SERIALIZABLE",
        });
        set(vars, env, t.scope, "tx_isolation", Some(&name))?;
    }
    if let Some(read_only) = t.read_only {
        let value = Value::Int(i64::from(read_only));
        set(vars, env, t.scope, "tx_read_only", Some(&value))?;
    }
    Ok(())
}

/// Puts state back.
type PutBack = fn(&mut dyn SessionParts, u64);

/// What SET STATEMENT has to put back.
#[derive(Default)]
pub(super) struct Before {
    stored: Vec<(usize, Option<VarValue>)>,
    state: Vec<(PutBack, u64)>,
    mode: SqlMode,
    collation: Collation,
}

impl Before {
    /// Nothing but what the program has of its own.
    pub(super) fn new(env: &StatementEnv) -> Self {
        Before {
            mode: env.sql_mode,
            collation: env.collation,
            ..Before::default()
        }
    }

    /// Keeps the value of a variable. Error 1971 for one that can't be set for one statement.
    pub(super) fn keep(
        &mut self,
        vars: &SessionVars,
        env: &mut StatementEnv,
        name: &str,
    ) -> SqlResult<()> {
        let i = variables::index(name).ok_or_else(|| variables::unknown(name))?;
        let hooks = &VARIABLES[i].hooks;
        if !hooks.for_one_statement {
            return Err(errors::SET_STATEMENT_NOT_SUPPORTED.with([&name]));
        }
        match hooks.kept {
            Some((keep, put_back)) => {
                let before = keep(&Within { vars, env });
                self.state.push((put_back, before));
            }
            None => self.stored.push((i, vars.own(i))),
        }
        Ok(())
    }

    /// Puts all of it back.
    pub(super) fn put_back(self, vars: &SessionVars, env: &mut StatementEnv) {
        for (i, own) in self.stored.into_iter().rev() {
            vars.restore(i, own);
        }
        let mut within = Within { vars, env };
        for (put_back, v) in self.state.into_iter().rev() {
            put_back(&mut within, v);
        }
        within.refresh();
        env.sql_mode = self.mode;
        env.collation = self.collation;
    }
}
