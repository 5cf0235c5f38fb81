//! A session's variables, system and user, as expressions see them.

use crate::gtids::{gtid_executed, gtid_position, has_executed};
use crate::instance::Instance;
use crate::key_caches;
use crate::replica::Which;
use crate::settings::Settings;
use crate::variables::parts::{Facts, ServerParts, SessionView};
use crate::variables::{self, Kind, OF_SESSIONS, VARIABLES, VarValue};
use ahash::AHashMap;
use narwal_binlog::GtidSet;
use narwal_sql::{UserKind, VariableScope, VariableSource};
use narwal_types::errors;
use narwal_types::{Collation, Name, SqlResult, Value};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

/// A table of LOCK TABLES.
pub(crate) struct LockedName {
    pub db: String,
    pub name: String,
    pub write: bool,
}

/// What `SET collation_database` said, of the default database of then.
pub(crate) type SaidCollation = Option<(Option<Arc<str>>, Collation)>;

/// Variables of one session. Shared with the statements that it runs; written by its own thread.
pub(crate) struct SessionVars {
    pub instance: Arc<Instance>,
    pub(crate) facts: Facts,
    /// LASTVAL of sequences, by the ids of their tables.
    pub(crate) last_values: Mutex<AHashMap<u64, i64>>,
    /// Tables that LOCK TABLES ... WRITE has locked, by id.
    pub(crate) held_tables: Mutex<Option<Arc<[u64]>>>,
    /// What LOCK TABLES names, for functions and sequences. `None`: no such lock, or one that has more with it than its
    /// names, by views and triggers.
    pub(crate) locked_names: Mutex<Option<Arc<[LockedName]>>>,
    state: Mutex<State>,
    /// What user variables take, in bytes.
    pub user_bytes: AtomicI64,
    /// The default database's collation is asked by `collation_database`.
    pub db: Mutex<Option<Arc<str>>>,
    /// What `collation_database` was set to, and the default database then: it holds until the next USE.
    pub(crate) said_db_collation: Mutex<SaidCollation>,
    /// A function or a trigger has set variables that the session's settings do not know of.
    pub(crate) changed_inside: AtomicBool,
    /// The role that a function or a trigger has set, `Some(None)` for none, which the session does not know of.
    pub(crate) role_inside: Mutex<Option<Option<Arc<str>>>>,
}

struct State {
    /// Global values when the session began.
    base: Arc<Vec<VarValue>>,
    changed: AHashMap<usize, VarValue>,
    /// With the collation of those that are texts, and the kind, which NULL leaves as it is.
    user: AHashMap<String, (Value, Collation, UserKind)>,
}

impl SessionVars {
    /// All user variables, by name.
    pub(crate) fn all_of_user(&self) -> Vec<(String, Value, Collation)> {
        let state = self.state.lock();
        let mut all: Vec<_> = (state.user.iter())
            .map(|(name, (value, collation, _))| (name.clone(), value.clone(), *collation))
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// Errors 1100 and 1099: a function or a sequence reaches for a table that LOCK TABLES does not name, or not for writing.
    pub(crate) fn check_locked(&self, db: &str, name: &str, write: bool) -> SqlResult<()> {
        let Some(all) = self.locked_names.lock().clone() else {
            return Ok(());
        };
        match all.iter().find(|t| t.db == db && t.name == name) {
            None => Err(errors::TABLE_NOT_LOCKED.with([&name])),
            Some(t) if write && !t.write => Err(errors::TABLE_NOT_LOCKED_FOR_WRITE.with([&name])),
            Some(_) => Ok(()),
        }
    }

    pub(crate) fn new(instance: Arc<Instance>, connection_id: u32) -> Self {
        let base = instance.globals();
        SessionVars {
            instance,
            facts: Facts {
                connection_id,
                ..Facts::default()
            },
            last_values: Mutex::default(),
            held_tables: Mutex::new(None),
            locked_names: Mutex::new(None),
            state: Mutex::new(State {
                base,
                changed: AHashMap::new(),
                user: AHashMap::new(),
            }),
            user_bytes: AtomicI64::new(0),
            db: Mutex::new(None),
            said_db_collation: Mutex::new(None),
            changed_inside: AtomicBool::new(false),
            role_inside: Mutex::default(),
        }
    }

    /// Forgets all that was set (COM_RESET_CONNECTION).
    pub(crate) fn reset(&self) {
        let base = self.instance.globals();
        let mut s = self.state.lock();
        s.base = base;
        s.changed.clear();
        s.user.clear();
        drop(s);
        self.user_bytes.store(0, Ordering::Relaxed);
        self.facts.reset();
        self.last_values.lock().clear();
        *self.said_db_collation.lock() = None;
    }

    /// The session value of a stored variable.
    pub(crate) fn get(&self, index: usize) -> VarValue {
        let s = self.state.lock();
        s.changed
            .get(&index)
            .or_else(|| s.base.get(index))
            .cloned()
            .unwrap_or(VarValue::Null)
    }

    /// The session value by name; NULL if there is no such variable.
    pub(crate) fn value(&self, name: &str) -> VarValue {
        variables::index(name).map_or(VarValue::Null, |i| self.get(i))
    }

    pub(crate) fn set(&self, index: usize, value: VarValue) {
        self.state.lock().changed.insert(index, value);
    }

    /// The session's own value of a stored variable, if it was ever set: for [`SessionVars::restore`].
    pub(crate) fn own(&self, index: usize) -> Option<VarValue> {
        self.state.lock().changed.get(&index).cloned()
    }

    /// Puts back what [`SessionVars::own`] gave.
    pub(crate) fn restore(&self, index: usize, own: Option<VarValue>) {
        let mut s = self.state.lock();
        match own {
            Some(v) => s.changed.insert(index, v),
            None => s.changed.remove(&index),
        };
    }

    /// The character set of SET NAMES DEFAULT.
    pub(crate) fn default_charset(&self) -> String {
        self.instance.global_value("character_set_client").show()
    }

    pub(crate) fn set_by_name(&self, name: &str, value: VarValue) {
        if let Some(i) = variables::index(name) {
            self.set(i, value);
        }
    }

    /// `SET collation_database`.
    pub(crate) fn say_database_collation(&self, collation: Collation) {
        let db = self.db.lock().clone();
        *self.said_db_collation.lock() = Some((db, collation));
    }

    /// What `SET collation_database` said, and of which database.
    pub(crate) fn said_database_collation(&self) -> SaidCollation {
        self.said_db_collation.lock().clone()
    }

    /// Puts back what [`SessionVars::said_database_collation`] gave.
    pub(crate) fn restore_database_collation(&self, said: SaidCollation) {
        *self.said_db_collation.lock() = said;
    }

    /// The default database's collation.
    pub(crate) fn database_collation(&self) -> Collation {
        let db = self.db.lock().clone();
        if let Some((of, said)) = &*self.said_db_collation.lock()
            && *of == db
        {
            return *said;
        }
        let own = db.and_then(|db| {
            self.instance
                .database()
                .catalog()
                .database(&db)
                .map(|d| d.collation)
        });
        // Without one it is the server's, as this session has it.
        own.or_else(|| Collation::from_name(self.value("collation_server").as_str()))
            .unwrap_or_default()
    }

    /// Makes a session's settings of its variables.
    pub(crate) fn fill(&self, settings: &mut Settings) {
        let s = self.state.lock();
        for (i, to_settings) in OF_SESSIONS.iter() {
            if let Some(v) = s.changed.get(i).or_else(|| s.base.get(*i)) {
                to_settings(settings, v);
            }
        }
    }

    /// A variable's value, as SHOW VARIABLES and `@@x` want it.
    pub(crate) fn read(&self, scope: VariableScope, index: usize) -> SqlResult<VarValue> {
        let d = &VARIABLES[index];
        // Another name has no value of its own.
        let index = d.hooks.alias_of.and_then(variables::index).unwrap_or(index);
        let wrong_scope = |is: &str| Err(errors::INCORRECT_GLOBAL_LOCAL_VAR.with([&d.name, &is]));
        let own = match scope {
            VariableScope::Global if !d.has_global() => return wrong_scope("SESSION"),
            VariableScope::Session if !d.has_session() => return wrong_scope("GLOBAL"),
            VariableScope::Global => false,
            VariableScope::Any | VariableScope::Session => d.has_session(),
        };
        if let Some(read) = d.hooks.read_session
            && (own || d.hooks.read_in_any_scope)
        {
            return Ok(read(self));
        }
        Ok(if own {
            self.get(index)
        } else {
            self.instance.global(index)
        })
    }
}

impl SessionView for SessionVars {
    fn server(&self) -> &dyn ServerParts {
        &*self.instance
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn value(&self, name: &str) -> VarValue {
        SessionVars::value(self, name)
    }

    fn database_collation(&self) -> Collation {
        SessionVars::database_collation(self)
    }
}

/// What a variable takes beside its name and its text.
const VARIABLE: usize = 96;

/// Bytes outside of the value itself.
fn bytes_of(v: &Value) -> i64 {
    match v {
        Value::Str(s) => s.len() as i64,
        Value::Bytes(b) => b.len() as i64,
        _ => 0,
    }
}

impl VariableSource for SessionVars {
    fn tell_conditions(&self, conditions: u64, errors: u64) {
        self.facts
            .warning_count
            .store(conditions, Ordering::Relaxed);
        self.facts.error_count.store(errors, Ordering::Relaxed);
    }

    fn system(&self, scope: VariableScope, name: &str) -> SqlResult<Value> {
        if let Some((connection, base)) = name.rsplit_once('.')
            && let Some(list) = variables::lookup(base).and_then(|d| d.hooks.filter)
        {
            let known = connection.is_empty()
                || self
                    .instance
                    .replica_control()
                    .is_some_and(|c| c.status(Which::Named(connection)).is_ok());
            if !known {
                return Ok(Value::Null);
            }
            let filter = self.instance.replica_filter(connection);
            return Ok(Value::str(filter.get(list)));
        }
        let (cache, name) = match name.rsplit_once('.') {
            Some((cache, base))
                if variables::index(base).is_some_and(|i| key_caches::setting(i).is_some()) =>
            {
                (cache, base)
            }
            Some((_, base)) if variables::index(base).is_some() => {
                return Err(errors::VARIABLE_IS_NOT_STRUCT.with([&base]));
            }
            _ => ("", name),
        };
        let index = variables::index(name).ok_or_else(|| variables::unknown(name))?;
        if let Some(setting) = key_caches::setting(index)
            && !cache.is_empty()
            && !cache.eq_ignore_ascii_case(key_caches::DEFAULT)
        {
            return Ok(Value::UInt(self.instance.key_caches.get(cache, setting)));
        }
        let v = self.read(scope, index)?;
        Ok(match (&v, VARIABLES[index].kind) {
            (VarValue::UInt(u), Kind::Double(..)) => Value::Double(*u as f64),
            _ => v.to_value(),
        })
    }

    fn user(&self, name: &str) -> Value {
        self.state
            .lock()
            .user
            .get(&name.name_key())
            .map(|(value, ..)| value.clone())
            .unwrap_or_default()
    }

    fn with_user(&self, name: &str, look: &mut dyn FnMut(&Value, Collation)) {
        match self.state.lock().user.get(&name.name_key()) {
            Some((value, collation, _)) => look(value, *collation),
            None => look(&Value::Null, Collation::default()),
        }
    }

    fn user_kind(&self, name: &str) -> UserKind {
        let state = self.state.lock();
        let found = state.user.get(&name.name_key());
        found.map_or(UserKind::Null, |(.., kind)| *kind)
    }

    fn set_user_text(&self, name: &str, value: Value, collation: Collation) {
        let value = match value {
            // Bits are a number there.
            Value::Bits(b) => Value::UInt(b.value),
            v => v,
        };
        let new = bytes_of(&value);
        let name = name.name_key();
        let named = (name.len() + VARIABLE) as i64;
        let mut state = self.state.lock();
        let kind = match (&value, state.user.get(&name)) {
            (Value::Null, Some((.., kind))) => *kind,
            _ => UserKind::of(&value, collation),
        };
        let old = state.user.insert(name, (value, collation, kind));
        drop(state);
        let more = new - old.map_or(-named, |(v, ..)| bytes_of(&v));
        // Only this thread writes it.
        let before = self.user_bytes.load(Ordering::Relaxed);
        self.user_bytes.store(before + more, Ordering::Relaxed);
    }

    fn find_sequence(&self, db: &str, name: &str) -> SqlResult<()> {
        self.sequence(db, name).map(drop)
    }

    fn next_value(&self, db: &str, name: &str) -> SqlResult<i64> {
        self.take_value(db, name)
    }

    fn last_value(&self, db: &str, name: &str) -> SqlResult<Option<i64>> {
        self.last_taken(db, name)
    }

    fn keep_last_value(&self, db: &str, name: &str, last: i64) {
        if let Ok(table) = self.sequence(db, name) {
            self.last_values.lock().insert(table.def.id, last);
        }
    }

    fn set_value(&self, db: &str, name: &str, to: (i64, bool, i64)) -> SqlResult<bool> {
        self.go_on_from(db, name, to)
    }

    fn get_lock(
        &self,
        name: &[u8],
        timeout: Duration,
        killed: &dyn Fn() -> bool,
    ) -> SqlResult<bool> {
        let id = self.facts.connection_id;
        self.show_state("User lock");
        let got = self.instance.named_locks.get(id, name, timeout, killed);
        self.show_state("");
        got
    }

    fn show_state(&self, state: &'static str) {
        let id = self.facts.connection_id;
        if let Some(p) = self.instance.processes.get(id) {
            *p.text.lock() = state;
        }
    }

    fn release_lock(&self, name: &[u8]) -> Option<bool> {
        self.instance
            .named_locks
            .release(self.facts.connection_id, name)
    }

    fn release_all_locks(&self) -> u64 {
        self.instance
            .named_locks
            .release_all(self.facts.connection_id)
    }

    fn load_file(
        &self,
        name: &str,
        who: (&str, Option<&str>),
        most: u64,
    ) -> SqlResult<Option<Vec<u8>>> {
        crate::server_files::load_file(&self.instance, name, who, most)
    }

    fn lock_owner(&self, name: &[u8]) -> Option<u32> {
        self.instance.named_locks.owner(name)
    }

    fn binlog_gtid_pos(&self, file: &str, offset: u64) -> SqlResult<Option<String>> {
        Ok(self.instance.database().binlog_gtid_pos(file, offset)?)
    }

    fn gtid_executed(&self) -> GtidSet {
        gtid_executed(self.instance.database())
    }

    fn has_executed(&self, wanted: &GtidSet) -> bool {
        has_executed(self.instance.database(), wanted)
    }

    fn replica_has_applied(&self, gtids: &str) -> SqlResult<bool> {
        let wanted = gtid_position(gtids)?;
        if wanted.is_empty() {
            return Ok(true);
        }
        let applied = self.instance.gtid_slave_pos();
        Ok(wanted
            .values()
            .all(|w| applied.get(&w.domain).is_some_and(|a| a.seq >= w.seq)))
    }

    fn wait_for_source_position(
        &self,
        connection: Option<&str>,
        file: &str,
        position: u64,
        timeout: Option<Duration>,
        killed: &dyn Fn() -> bool,
    ) -> SqlResult<Option<i64>> {
        let connection = connection.map_or_else(
            || self.value("default_master_connection").show(),
            String::from,
        );
        let control = self
            .instance
            .replica_control()
            .ok_or_else(|| crate::replica::no_connection(&connection))?;
        if !connection.is_empty() {
            control.status(Which::Named(&connection))?;
        }
        Ok(control.wait_for_position(&connection, file, position, timeout, killed))
    }
}
