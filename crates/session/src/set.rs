//! SET: system and user variables, character sets.

use crate::acl::{self, Account};
use crate::admin::{SetItem, SetScope, SetValue};
use crate::charset;
use crate::key_caches;
use crate::privileges::PrivilegeSet;
use crate::replica::filter::{FilterList, ReplicaFilter};
use crate::session::ClientSession;
use crate::session_vars::SessionVars;
use crate::variables::parts::{SessionParts, SessionView};
use crate::variables::{self, Accepted, Effect, VARIABLES, VarValue, VariableDef};
use narwal_sql::{StatementEnv, VariableSource};
use narwal_syntax::ast::Expr as AstExpr;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::face::is_mysql;
use narwal_types::{Charset, Collation, SqlError, SqlResult, Value};

/// An assignment that has been checked.
enum Checked {
    Session(usize, VarValue),
    Global(usize, VarValue),
    /// A global value to keep for the next starts.
    Kept(usize, VarValue),
    /// One, or all, that is not to be kept any more.
    Forgotten(Option<String>, bool),
    /// State that is not a setting; `None` is DEFAULT.
    State(usize, Option<VarValue>),
    /// A setting of a named key cache.
    KeyCache(String, usize, VarValue),
    /// A filter variable of a connection.
    Filter(String, FilterList, String),
    User(String, Value, Collation),
    Names(Collation),
    /// SET CHARACTER SET.
    Charset(Charset),
}

/// MySQL's default collation, which there is not: SET NAMES takes it for MariaDB's.
const MYSQL_COLLATION: &str = "utf8mb4_0900_ai_ci";

/// False for what is often set between statements and no plan looks at.
fn plans_depend_on(item: &SetItem) -> bool {
    match item {
        SetItem::User { .. } => false,
        SetItem::System { name, .. } => {
            variables::lookup(name).is_none_or(|d| d.hooks.plans_depend_on)
        }
        _ => true,
    }
}

impl ClientSession {
    /// Runs a SET statement: all values are evaluated and checked first, then all are assigned.
    pub(crate) fn set_variables(&mut self, items: &[SetItem]) -> SqlResult<()> {
        let mut checked = Vec::with_capacity(items.len());
        for item in items {
            self.check_item(item, &mut checked)?;
        }
        // What can fail comes first.
        let kept = checked.iter().filter_map(|c| match c {
            Checked::Kept(i, v) => Some((VARIABLES[*i].name.to_string(), v.show())),
            _ => None,
        });
        let kept: Vec<_> = kept.collect();
        if !kept.is_empty() {
            self.instance.persisted.keep(kept)?;
        }
        let mut refresh = false;
        for c in checked {
            refresh |= self.assign(c)?;
        }
        if refresh {
            self.refresh_settings();
        }
        if items.iter().any(plans_depend_on) {
            self.text_plans.clear();
        }
        Ok(())
    }

    /// Evaluates and checks an item of SET.
    fn check_item(&mut self, item: &SetItem, checked: &mut Vec<Checked>) -> SqlResult<()> {
        let c = match item {
            SetItem::User { name, value } => {
                let (value, collation) = self.evaluate_kept(value)?;
                Checked::User(name.clone(), value, collation)
            }
            // What a client's library asks for by itself (sqlx): only the comparison of literals depends on it.
            SetItem::Names {
                charset: Some(name),
                collation: Some(collation),
            } if !is_mysql()
                && name.eq_ignore_ascii_case("utf8mb4")
                && collation.eq_ignore_ascii_case(MYSQL_COLLATION) =>
            {
                self.env.warn(
                    codes::UNKNOWN_ERROR,
                    format!("{collation} is taken for utf8mb4_general_ci"),
                );
                Checked::Names(Collation::default())
            }
            SetItem::Names { charset, collation } => {
                let default = || self.vars.default_charset();
                let charset = charset.clone().unwrap_or_else(default);
                Checked::Names(names(&charset, collation.as_deref())?)
            }
            SetItem::Charset(None) => {
                Checked::Charset(charset::charset(&self.vars.default_charset())?)
            }
            // The one name that MariaDB knows here alone.
            SetItem::Charset(Some(name)) if name.eq_ignore_ascii_case("cp1251_koi8") => {
                Checked::Charset(charset::charset("cp1251")?)
            }
            SetItem::Charset(Some(name)) => Checked::Charset(charset::charset(name)?),
            SetItem::Forget { name, if_exists } => {
                self.need_any(PrivilegeSet::SUPER)?;
                Checked::Forgotten(name.clone(), *if_exists)
            }
            SetItem::System {
                scope: scope @ (SetScope::Persist | SetScope::PersistOnly),
                name,
                value,
            } => {
                let kept = self.check_kept(*scope, name, value)?;
                if *scope == SetScope::Persist {
                    checked.push(self.check_system(SetScope::Global, name, value)?);
                }
                kept
            }
            SetItem::System { scope, name, value } => self.check_system(*scope, name, value)?,
            // They have statements of their own.
            SetItem::Password(_) | SetItem::Role(_) | SetItem::DefaultRole(..) => {
                return Err(SqlError::unsupported("this part of SET"));
            }
        };
        checked.push(c);
        Ok(())
    }

    /// Assigns a value. True if settings that are kept in the session's own form have to be read anew.
    fn assign(&mut self, c: Checked) -> SqlResult<bool> {
        match c {
            Checked::Kept(..) => {}
            Checked::Forgotten(name, if_exists) => self.forget_kept(name, if_exists)?,
            Checked::User(name, value, collation) => {
                self.vars.set_user_text(&name, value, collation);
                self.track.state_changed();
            }
            Checked::Names(coll) => {
                self.set_names(coll);
                return Ok(true);
            }
            Checked::Charset(cs) => {
                self.set_names(cs.default_collation());
                let coll = self.vars.database_collation();
                for (name, value) in [
                    ("character_set_connection", coll.charset().name()),
                    ("collation_connection", coll.name()),
                ] {
                    self.vars.set_by_name(name, VarValue::text(value));
                }
                return Ok(true);
            }
            Checked::Global(i, v) => self.instance.set_global(i, v),
            Checked::State(i, v) => {
                if let Some(assign) = VARIABLES[i].hooks.assign {
                    assign(self, v.as_ref())?;
                }
            }
            Checked::Filter(connection, list, text) => {
                self.instance.set_replica_filter(&connection, list, &text)?;
            }
            Checked::KeyCache(name, setting, v) => {
                self.instance.key_caches.set(&name, setting, &v);
            }
            Checked::Session(i, v) => {
                self.track.variable(i);
                self.set_session(i, v)?;
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn set_session(&mut self, i: usize, v: VarValue) -> SqlResult<()> {
        let hooks = &VARIABLES[i].hooks;
        if let Some(before) = hooks.before {
            before(self, &v)?;
        }
        if let Some(twin) = hooks.twin {
            let (name, other) = twin(&v)?;
            self.vars.set_by_name(name, other);
        }
        self.vars.set(i, v);
        Ok(())
    }

    fn forget_kept(&mut self, name: Option<String>, if_exists: bool) -> SqlResult<()> {
        match self.instance.persisted.forget(name.as_deref()) {
            Err(e) if if_exists && errors::VAR_DOES_NOT_EXIST.is(&e) => {
                self.env.warn_error(&e);
                Ok(())
            }
            done => done,
        }
    }

    /// Checks a value that is to be kept for the next starts. What is read only may be kept, and what is no setting may not.
    fn check_kept(&mut self, scope: SetScope, name: &str, value: &SetValue) -> SqlResult<Checked> {
        let i = find(name, "", name)?;
        let d = &VARIABLES[i];
        let fixed = matches!(d.effect, Effect::Computed | Effect::State) || !d.has_global();
        if fixed || d.hooks.filter.is_some() {
            let text = format!("Variable '{name}' is a non persistent read only variable");
            return Err(errors::INCORRECT_GLOBAL_LOCAL_VAR.text(text));
        }
        if scope == SetScope::Persist || d.effect != Effect::Startup {
            let account = self.account();
            may_set(d, self, Some(&account), true)?;
        } else {
            self.need_any(PrivilegeSet::SUPER)?;
        }
        let given = match value {
            SetValue::Default => None,
            other => Some(self.set_value(other)?),
        };
        let value = match d.effect {
            Effect::Startup => match &given {
                None => d.default_value(),
                Some(given) => d.accept(given)?.value,
            },
            _ => accepted(i, self, &self.vars, true, given.as_ref(), &self.env)?,
        };
        Ok(Checked::Kept(i, value))
    }

    fn check_system(
        &mut self,
        scope: SetScope,
        name: &str,
        value: &SetValue,
    ) -> SqlResult<Checked> {
        // `connection.variable`
        let (connection, base) = name.rsplit_once('.').unwrap_or(("", name));
        let i = find(name, connection, base)?;
        let d = &VARIABLES[i];
        let global = scope == SetScope::Global;
        let account = self.account();
        may_set(d, self, Some(&account), global)?;
        if let Some(list) = d.hooks.filter {
            return self.check_filter(connection, d, list, value);
        }
        if let Some(setting) = key_caches::setting(i).filter(|_| in_a_cache(connection)) {
            return self.check_key_cache(connection, setting, d, value);
        }
        if d.effect == Effect::State {
            return self.check_state(i, value);
        }
        let given = match value {
            SetValue::Default => None,
            // Only a word alone is a text.
            SetValue::Expr(e) if matches!(e.value.expr, AstExpr::Qualified(_)) => {
                return Err(errors::WRONG_TYPE_FOR_VAR.with([&d.name]));
            }
            other => Some(self.set_value(other)?),
        };
        let value = accepted(i, self, &self.vars, global, given.as_ref(), &self.env)?;
        Ok(match global {
            true => Checked::Global(i, value),
            false => Checked::Session(i, value),
        })
    }

    /// Checks a setting of a named key cache. It has no effect, as those of the default one.
    fn check_key_cache(
        &mut self,
        cache: &str,
        setting: usize,
        d: &'static VariableDef,
        value: &SetValue,
    ) -> SqlResult<Checked> {
        let value = match value {
            SetValue::Default => d.default_value(),
            other => {
                let given = self.set_value(other)?;
                let Accepted { value, truncated } = d.accept(&given)?;
                d.tell_truncated(truncated.as_deref(), &self.env)?;
                value
            }
        };
        if value.as_u64() != self.instance.key_caches.get(cache, setting) {
            self.env.warn(codes::UNKNOWN_ERROR, d.inert_text());
        }
        Ok(Checked::KeyCache(cache.to_string(), setting, value))
    }

    /// Checks a filter variable of a connection.
    fn check_filter(
        &mut self,
        connection: &str,
        d: &'static VariableDef,
        list: FilterList,
        value: &SetValue,
    ) -> SqlResult<Checked> {
        self.check_variable_connection(connection)?;
        let text = match value {
            SetValue::Default => String::new(),
            other => match self.set_value(other)? {
                Value::Null => String::new(),
                given => d.accept(&given)?.value.show(),
            },
        };
        // What is wrong with it is said before anything is assigned.
        ReplicaFilter::default().set(list, &text)?;
        Ok(Checked::Filter(connection.to_string(), list, text))
    }

    /// Checks a variable that is state and not a setting.
    fn check_state(&mut self, i: usize, value: &SetValue) -> SqlResult<Checked> {
        let given = match value {
            SetValue::Default => None,
            other => Some(self.set_value(other)?),
        };
        let value = accepted_state(&VARIABLES[i], self, given.as_ref(), &self.env)?;
        Ok(Checked::State(i, value))
    }

    fn set_value(&mut self, v: &SetValue) -> SqlResult<Value> {
        match v {
            SetValue::Word(s) | SetValue::Str(s) => Ok(Value::str(s.as_str())),
            SetValue::Expr(e) => match e.text.parse::<i64>() {
                Ok(i) => Ok(Value::Int(i)),
                Err(_) => self.evaluate_query(e),
            },
            SetValue::Default => Ok(Value::Null),
        }
    }
}

/// Whether a variable may be set now, and by this account; an applier has none.
pub(crate) fn may_set(
    d: &VariableDef,
    session: &dyn SessionParts,
    account: Option<&Account>,
    global: bool,
) -> SqlResult<()> {
    d.check_scope(global)?;
    let needed = if global { d.needs } else { d.session_needs };
    if !needed.is_empty() && account.is_some_and(|a| !a.global.has_any(needed)) {
        return Err(acl::privilege_needed(needed));
    }
    match d.hooks.allowed {
        Some(allowed) => allowed(session, global),
        None => Ok(()),
    }
}

/// The value that a variable gets of the one that is given; `None` is DEFAULT.
pub(crate) fn accepted(
    i: usize,
    session: &dyn SessionParts,
    vars: &SessionVars,
    global: bool,
    given: Option<&Value>,
    env: &StatementEnv,
) -> SqlResult<VarValue> {
    let d = &VARIABLES[i];
    let current = match global {
        true => vars.instance.global(i),
        false => vars.get(i),
    };
    let Accepted {
        mut value,
        truncated,
    } = match given {
        None if d.hooks.no_default => return Err(errors::NO_DEFAULT.with([&d.name])),
        None => Accepted {
            value: match global {
                true => d.default_value(),
                false => vars.instance.global(i),
            },
            truncated: None,
        },
        Some(given) => d.accept_over(given, &current)?,
    };
    if let Some(normal) = d.hooks.normal {
        value = normal(session, &value)?;
    }
    d.tell_truncated(truncated.as_deref(), env)?;
    if let Some(check) = d.hooks.check {
        check(session, &value)?;
    }
    match d.effect {
        Effect::Fixed if value != d.default_value() => {
            let what = format!("{}={}", d.name, value.show());
            return Err(SqlError::unsupported(what));
        }
        Effect::Inert if value != current => {
            let works = d.hooks.works_if;
            if !works.is_some_and(|works| works(vars.instance.database())) {
                env.warn(codes::UNKNOWN_ERROR, d.inert_text());
            }
        }
        _ if value != current && d.hooks.idle.is_some_and(|idle| idle(&value)) => {
            env.warn(codes::UNKNOWN_ERROR, d.inert_text());
        }
        _ => {}
    }
    Ok(value)
}

/// The same of a variable that is state and not a setting; `None` is DEFAULT.
pub(crate) fn accepted_state(
    d: &VariableDef,
    session: &dyn SessionParts,
    given: Option<&Value>,
    env: &StatementEnv,
) -> SqlResult<Option<VarValue>> {
    let Some(given) = given else {
        return match d.hooks.no_default {
            true => Err(errors::NO_DEFAULT.with([&d.name])),
            false => Ok(None),
        };
    };
    let Accepted { value, truncated } = d.accept(given)?;
    d.tell_truncated(truncated.as_deref(), env)?;
    if let Some(check) = d.hooks.check {
        check(session, &value)?;
    }
    Ok(Some(value))
}

/// A name before a variable's is that of a key cache of its own.
fn in_a_cache(name: &str) -> bool {
    !name.is_empty() && !name.eq_ignore_ascii_case(key_caches::DEFAULT)
}

/// The row of a variable, which may be one of a connection to a source.
fn find(name: &str, connection: &str, base: &str) -> SqlResult<usize> {
    let found = variables::index(base);
    let of_connections =
        |i: &usize| VARIABLES[*i].hooks.filter.is_some() || key_caches::setting(*i).is_some();
    match found.filter(|i| connection.is_empty() || of_connections(i)) {
        Some(i) => Ok(i),
        None if found.is_some() && name.contains('.') => {
            Err(errors::VARIABLE_IS_NOT_STRUCT.with([&base]))
        }
        None => Err(match name.split_once('.') {
            Some((base, _)) => errors::UNKNOWN_STRUCTURED_VARIABLE.with([&base]),
            None => variables::unknown(name),
        }),
    }
}

/// The collation of literals that SET NAMES gives.
pub(crate) fn names(name: &str, collation: Option<&str>) -> SqlResult<Collation> {
    let cs = charset::charset(name)?;
    if !cs.for_clients() {
        return Err(errors::WRONG_VALUE_FOR_VAR.with([&"character_set_client", &cs.name()]));
    }
    let coll = match collation {
        None => cs.default_collation(),
        Some(c) => {
            let coll = charset::collation_of(c, cs)?;
            if coll.charset() != cs {
                return Err(errors::COLLATION_CHARSET_MISMATCH.with([&coll.name(), &cs.name()]));
            }
            coll
        }
    };
    Ok(coll)
}

impl SessionParts for ClientSession {
    fn view(&self) -> &dyn SessionView {
        &*self.vars
    }

    fn autocommit(&self) -> bool {
        self.settings.autocommit
    }

    fn in_transaction(&self) -> bool {
        self.tx.open.is_some()
    }

    fn has_locked_tables(&self) -> bool {
        self.locks.tables.is_some()
    }

    fn commit_open(&mut self) -> SqlResult<()> {
        ClientSession::commit_open(self)
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
        ClientSession::need_connection(self, connection)
    }

    fn check_gtid_seq_no(&self, seq: u64) -> SqlResult<()> {
        ClientSession::check_gtid_seq_no(self, seq)
    }

    fn check_gtid_slave_pos(&self, text: &str) -> SqlResult<()> {
        ClientSession::check_gtid_slave_pos(self, text)
    }

    fn variable_name(&self, name: &str) -> Option<&'static str> {
        variables::lookup(name).map(|d| d.name)
    }
}
