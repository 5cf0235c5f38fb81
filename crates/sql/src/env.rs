//! What a statement knows about its session: [`StatementEnv`], and where variables come from: [`VariableSource`].

use crate::sql_mode::SqlMode;
use narwal_types::{SqlError, SqlResult, Value};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How grave a condition in the diagnostics area is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarningLevel {
    /// Information only.
    Note,
    /// The statement went on, perhaps with a changed value.
    Warning,
    /// The statement failed.
    Error,
}

/// One row of SHOW WARNINGS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Level.
    pub level: WarningLevel,
    /// Error number.
    pub code: u16,
    /// Text.
    pub message: Box<str>,
}

/// Which value of a system variable is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableScope {
    /// `@@x`: the session's if it has one, else the global.
    Any,
    /// `@@global.x`.
    Global,
    /// `@@session.x`, `@@local.x`.
    Session,
}

/// System and user variables, implemented by the session.
pub trait VariableSource: Send + Sync {
    /// `@@x`. An unknown name is error 1193.
    fn system(&self, scope: VariableScope, name: &str) -> SqlResult<Value>;
    /// `@x`; NULL if never set. Names are compared without case.
    fn user(&self, name: &str) -> Value;
    /// `@x := value`.
    fn set_user(&self, name: &str, value: Value);
    /// GET_LOCK(): takes a named lock for the session; false if the time is up or it was killed. Error 1213 if it would
    /// wait for itself.
    fn get_lock(
        &self,
        _name: &[u8],
        _timeout: std::time::Duration,
        _killed: &dyn Fn() -> bool,
    ) -> SqlResult<bool> {
        Err(SqlError::unsupported("GET_LOCK here"))
    }
    /// RELEASE_LOCK(): `None` if there is no such lock, false if another session holds it.
    fn release_lock(&self, _name: &[u8]) -> Option<bool> {
        None
    }
    /// RELEASE_ALL_LOCKS(): how many were released.
    fn release_all_locks(&self) -> u64 {
        0
    }
    /// IS_USED_LOCK(): the connection that holds a named lock.
    fn lock_owner(&self, _name: &[u8]) -> Option<u32> {
        None
    }
    /// BINLOG_GTID_POS(): the GTID position at an offset of a binary log file; `None` if there is no such place.
    fn binlog_gtid_pos(&self, _file: &str, _offset: u64) -> SqlResult<Option<String>> {
        Ok(None)
    }
    /// MASTER_GTID_WAIT(): whether everything up to these GTIDs has been applied from a primary. Error 1941 if that
    /// is no list of GTIDs.
    fn replica_has_applied(&self, _gtids: &str) -> SqlResult<bool> {
        Ok(false)
    }
    /// MASTER_POS_WAIT(): waits until a position of a primary's log was applied; `None` for the connection is the
    /// session's default one. The number of groups it waited for, -1 when the time is up, `None` if nothing applies that
    /// log. Error 1617 if there is no such connection.
    fn wait_for_source_position(
        &self,
        _connection: Option<&str>,
        _file: &str,
        _position: u64,
        _timeout: Option<std::time::Duration>,
        _killed: &dyn Fn() -> bool,
    ) -> SqlResult<Option<i64>> {
        Ok(None)
    }
}

/// A source without variables.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoVariables;

impl VariableSource for NoVariables {
    fn system(&self, _scope: VariableScope, name: &str) -> SqlResult<Value> {
        Err(SqlError::new(
            1193,
            b"HY000",
            format!("Unknown system variable '{name}'"),
        ))
    }
    fn user(&self, _name: &str) -> Value {
        Value::Null
    }
    fn set_user(&self, _name: &str, _value: Value) {}
}

/// The session's state as one statement sees it. The session owns it and refreshes it before each statement:
/// `now_micros`, and the results of the statement before (`last_insert_id`, `row_count`, `found_rows`).
pub struct StatementEnv {
    /// Default database.
    pub db: Option<Arc<str>>,
    /// `sql_mode`.
    pub sql_mode: SqlMode,
    /// Session time zone.
    pub time_zone: narwal_types::Zone,
    /// The statement's time, microseconds since 1970 UTC: all NOW() of a statement are equal.
    pub now_micros: i64,
    /// CONNECTION_ID().
    pub connection_id: u64,
    /// USER(): `name@host` as the client gave it.
    pub user: Arc<str>,
    /// CURRENT_USER(): the account that it was matched with.
    pub current_user: Arc<str>,
    /// VERSION().
    pub version: Arc<str>,
    /// LAST_INSERT_ID().
    pub last_insert_id: u64,
    /// ROW_COUNT().
    pub row_count: i64,
    /// FOUND_ROWS().
    pub found_rows: u64,
    /// The client asked for found rather than changed rows (CLIENT_FOUND_ROWS).
    pub client_found_rows: bool,
    /// SERIALIZABLE inside a transaction: a plain SELECT locks in share mode.
    pub locking_reads: bool,
    /// `sql_safe_updates`: UPDATE and DELETE need a key or a LIMIT.
    pub safe_updates: bool,
    /// `check_constraint_checks`.
    pub check_constraints: bool,
    /// `foreign_key_checks`.
    pub foreign_key_checks: bool,
    /// `max_allowed_packet`, bytes: longer strings are not built.
    pub max_allowed_packet: u64,
    /// Rows that a sort, a hash table or a list of candidates may hold in memory, in bytes.
    pub max_memory: u64,
    /// `max_error_count`.
    pub max_error_count: usize,
    /// `sql_select_limit`: applies to SELECT without LIMIT.
    pub select_limit: u64,
    /// Set by KILL.
    pub interrupt: Arc<AtomicBool>,
    /// Variables.
    pub variables: Arc<dyn VariableSource>,
    /// Set by `LAST_INSERT_ID(expr)` while the statement runs: the session takes it over afterwards.
    pub last_insert_id_set: std::cell::Cell<Option<u64>>,
    /// State of RAND() without a seed.
    pub rand_state: std::cell::Cell<u64>,
    /// Value of the AUTO_INCREMENT column of the last row inserted with an explicit value: what the OK packet reports
    /// if no value was generated. LAST_INSERT_ID() does not see it.
    pub explicit_insert_id: std::cell::Cell<u64>,
    /// Set by a DDL statement that was logged: its GTID. The session takes it over afterwards.
    pub gtid_written: RefCell<Option<String>>,
    /// Values of the `?` of the statement that is being planned, if they are known then: EXECUTE in SQL text.
    pub bound_params: RefCell<Vec<Value>>,
    /// What LOAD DATA reads; it takes it.
    pub input: RefCell<Option<Box<dyn std::io::BufRead + Send>>>,
    /// While a statement changes rows in strict mode: warnings about values in its expressions end it.
    pub(crate) strict_expressions: std::cell::Cell<bool>,
    refused: RefCell<Option<SqlError>>,
    warnings: RefCell<Vec<Condition>>,
    warning_count: std::cell::Cell<u64>,
}

impl StatementEnv {
    /// An environment with MariaDB's defaults and no database.
    pub fn new(variables: Arc<dyn VariableSource>) -> Self {
        StatementEnv {
            db: None,
            sql_mode: SqlMode::DEFAULT,
            time_zone: narwal_types::Zone::UTC,
            now_micros: 0,
            connection_id: 0,
            user: "".into(),
            current_user: "".into(),
            version: "".into(),
            last_insert_id: 0,
            row_count: 0,
            found_rows: 0,
            client_found_rows: false,
            locking_reads: false,
            safe_updates: false,
            check_constraints: true,
            foreign_key_checks: true,
            max_allowed_packet: 16 << 20,
            max_memory: 256 << 20,
            max_error_count: 64,
            select_limit: u64::MAX,
            interrupt: Arc::new(AtomicBool::new(false)),
            variables,
            last_insert_id_set: std::cell::Cell::new(None),
            rand_state: std::cell::Cell::new(0x9E37_79B9_7F4A_7C15),
            explicit_insert_id: std::cell::Cell::new(0),
            gtid_written: RefCell::new(None),
            bound_params: RefCell::new(Vec::new()),
            input: RefCell::new(None),
            strict_expressions: std::cell::Cell::new(false),
            refused: RefCell::new(None),
            warnings: RefCell::new(Vec::new()),
            warning_count: std::cell::Cell::new(0),
        }
    }

    /// The default database, or error 1046.
    pub fn require_db(&self) -> SqlResult<&Arc<str>> {
        self.db
            .as_ref()
            .ok_or_else(|| SqlError::new(1046, b"3D000", "No database selected"))
    }

    /// Seconds since 1970 of the statement.
    pub fn timestamp(&self) -> u32 {
        (self.now_micros / 1_000_000).clamp(0, i64::from(u32::MAX)) as u32
    }

    /// Adds a condition to the diagnostics area; beyond `max_error_count` it is only counted.
    pub fn push_condition(&self, level: WarningLevel, code: u16, message: impl Into<Box<str>>) {
        if self.strict_expressions.get()
            && level == WarningLevel::Warning
            && matches!(code, 1292 | 1365)
        {
            let state = if code == 1365 { b"22012" } else { b"22007" };
            self.refused
                .borrow_mut()
                .get_or_insert_with(|| SqlError::new(code, state, message));
            return;
        }
        self.warning_count.set(self.warning_count.get() + 1);
        let mut w = self.warnings.borrow_mut();
        if w.len() < self.max_error_count {
            w.push(Condition {
                level,
                code,
                message: message.into(),
            });
        }
    }

    /// Adds a warning.
    pub fn warn(&self, code: u16, message: impl Into<Box<str>>) {
        self.push_condition(WarningLevel::Warning, code, message);
    }

    /// Adds an error that was turned into a warning (IGNORE).
    pub fn warn_error(&self, e: &SqlError) {
        self.push_condition(WarningLevel::Warning, e.code, e.message.clone());
    }

    /// Adds a note.
    pub fn note(&self, code: u16, message: impl Into<Box<str>>) {
        self.push_condition(WarningLevel::Note, code, message);
    }

    /// Number of conditions of this statement, those beyond `max_error_count` included.
    pub fn warning_count(&self) -> u64 {
        self.warning_count.get()
    }

    /// The kept conditions.
    pub fn conditions(&self) -> std::cell::Ref<'_, Vec<Condition>> {
        self.warnings.borrow()
    }

    /// Empties the diagnostics area: at the start of each statement but SHOW WARNINGS and such.
    pub fn clear_conditions(&self) {
        if self.warning_count.get() != 0 {
            self.warning_count.set(0);
            self.warnings.borrow_mut().clear();
        }
    }

    /// The error that a warning became under `strict_expressions`.
    pub(crate) fn check_refused(&self) -> SqlResult<()> {
        if self.strict_expressions.get()
            && let Some(e) = self.refused.borrow_mut().take()
        {
            return Err(e);
        }
        Ok(())
    }

    /// Error 1317 if the statement was killed.
    pub fn check_interrupt(&self) -> SqlResult<()> {
        if self.interrupt.load(Ordering::Relaxed) {
            return Err(SqlError::new(
                1317,
                b"70100",
                "Query execution was interrupted",
            ));
        }
        Ok(())
    }
}
