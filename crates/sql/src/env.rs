//! What a statement knows about its session: [`StatementEnv`], and where variables come from: [`VariableSource`].

use crate::handlers::Handlers;
use crate::privilege::ColumnUses;
use crate::privilege::Needs;
use crate::status_counts::StatusCounts;
use crate::user_kind::{UserKind, as_kept};
use crate::{ParamDefault, ParamType};
use narwal_binlog::GtidSet;
use narwal_engine::{CatalogChange, EngineError, Steps, Table, TableFill, Transaction};
use narwal_syntax::sql_mode::SqlMode;
use narwal_types::decimal::DIV_PRECISION_INCREMENT;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{Collation, ColumnType, SqlError, SqlResult, Value};
use std::cell::{Cell, RefCell};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

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

/// Most bytes of a condition's text, as in MariaDB: many quote the value that they are about.
const MESSAGE: usize = 511;

/// One row of SHOW WARNINGS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// Level.
    pub level: WarningLevel,
    /// Error number.
    pub code: u16,
    /// Text.
    pub message: Box<str>,
    /// The row of an INSERT that it is about, counted from 1. 0: none.
    pub row: u64,
    /// What SIGNAL said of it.
    pub raised: Option<Box<Raised>>,
}

/// What SIGNAL said of a condition besides its number and text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Raised {
    /// SQLSTATE.
    pub sqlstate: [u8; 5],
    /// Its other items: CLASS_ORIGIN, TABLE_NAME and so on.
    pub items: Vec<(&'static str, Box<str>)>,
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
    /// Shows the value of `@x`, and the collation that it has as a text, without a copy, which may be long.
    fn with_user(&self, name: &str, look: &mut dyn FnMut(&Value, Collation)) {
        look(&self.user(name), Collation::default());
    }
    /// What `@x` is. NULL keeps the kind that the variable had.
    fn user_kind(&self, name: &str) -> UserKind {
        let mut kind = UserKind::Null;
        self.with_user(name, &mut |v, c| kind = UserKind::of(v, c));
        kind
    }
    /// `@x := value`.
    fn set_user(&self, name: &str, value: Value) {
        self.set_user_text(name, as_kept(value), Collation::default());
    }
    /// The same, with the collation that the value has if it is a text.
    fn set_user_text(&self, name: &str, value: Value, collation: Collation);
    /// A stored program's statement has left so many conditions, so many of them errors.
    fn tell_conditions(&self, _conditions: u64, _errors: u64) {}
    /// What the process list is to say of the session while it waits; empty: as before.
    fn show_state(&self, _state: &'static str) {}
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
    /// LOAD_FILE(): the bytes of a file, unless this account with its role may not read it, or it is longer.
    fn load_file(
        &self,
        _name: &str,
        _who: (&str, Option<&str>),
        _most: u64,
    ) -> SqlResult<Option<Vec<u8>>> {
        Ok(None)
    }
    /// Fails (4089, 4091) unless there is such a sequence.
    fn find_sequence(&self, _db: &str, _name: &str) -> SqlResult<()> {
        Ok(())
    }
    /// NEXTVAL(): the sequence's next number. Error 4084 if it has run out.
    fn next_value(&self, _db: &str, _name: &str) -> SqlResult<i64> {
        Err(SqlError::unsupported("NEXTVAL here"))
    }
    /// LASTVAL(): the last number that this session got from it.
    fn last_value(&self, _db: &str, _name: &str) -> SqlResult<Option<i64>> {
        Ok(None)
    }
    /// ALTER SEQUENCE has made it anew: LASTVAL() of this session goes on to be this.
    fn keep_last_value(&self, _db: &str, _name: &str, _last: i64) {}
    /// SETVAL(): number, whether it counts as used, round; false if the sequence is past it.
    fn set_value(&self, _db: &str, _name: &str, _to: (i64, bool, i64)) -> SqlResult<bool> {
        Err(SqlError::unsupported("SETVAL here"))
    }
    /// BINLOG_GTID_POS(): the GTID position at an offset of a binary log file; `None` if there is no such place.
    fn binlog_gtid_pos(&self, _file: &str, _offset: u64) -> SqlResult<Option<String>> {
        Ok(None)
    }
    /// The transactions in the binary log, as MySQL names them: `gtid_executed`.
    fn gtid_executed(&self) -> GtidSet {
        GtidSet::new()
    }
    /// WAIT_FOR_EXECUTED_GTID_SET(): whether `gtid_executed` has all of these.
    fn has_executed(&self, _wanted: &GtidSet) -> bool {
        false
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

/// A parameter of a stored function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionParameter {
    /// Name.
    pub name: String,
    /// Its type; of a row that of its first field.
    pub ty: Option<ColumnType>,
    /// Of a row: the number of its fields. Each is an argument of its own.
    pub fields: Option<usize>,
    /// It is given a value: IN or INOUT.
    pub takes: bool,
    /// It gives one back: OUT or INOUT.
    pub gives: bool,
}

/// A stored function as expressions see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFunction {
    /// Database.
    pub db: String,
    /// Name.
    pub name: String,
    /// Parameters.
    pub parameters: Vec<FunctionParameter>,
    /// The first one that is OUT or INOUT, counted from 1: it has no place in a query.
    pub out: Option<usize>,
    /// Type of the result.
    pub returns: ColumnType,
    /// It runs statements, which need a transaction.
    pub statements: bool,
    /// It runs once over the rows of a group. Its one argument has them all, as [`crate::GroupRows`] takes them.
    pub aggregate: bool,
    /// DETERMINISTIC.
    pub deterministic: bool,
    /// The catalog version that it was found in.
    pub version: u64,
    /// Who calls it: a view's definer, name and host, where it is part of such a view. `None`: who runs the statement.
    pub caller: Option<(String, String)>,
}

/// What happens to a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RowEvent {
    Insert,
    Update,
    Delete,
}

/// The row that a trigger is about, in the images that the engine has.
#[derive(Clone, Copy)]
pub struct TriggerRow<'a> {
    /// Its table.
    pub table: &'a Arc<Table>,
    /// BEFORE.
    pub before: bool,
    /// What happens.
    pub event: RowEvent,
    /// The row that was there.
    pub old: Option<&'a [u8]>,
    /// The row that will be there.
    pub new: Option<&'a [u8]>,
}

/// Stored functions and triggers, as the session has them.
pub trait Programs: Send + Sync {
    /// A function by its name.
    fn function(
        &self,
        db: Option<&str>,
        name: &str,
        env: &StatementEnv,
    ) -> SqlResult<Option<Arc<StoredFunction>>>;
    /// Calls it. `txn`: the transaction of the statement around, if its rows are not being read.
    fn call(
        &self,
        function: &StoredFunction,
        args: Vec<Value>,
        txn: Option<&mut Transaction>,
        env: &StatementEnv,
    ) -> SqlResult<Value>;
    /// Calls it and gives what its parameters are then, too.
    fn call_with_values(
        &self,
        function: &StoredFunction,
        args: Vec<Value>,
        txn: Option<&mut Transaction>,
        env: &StatementEnv,
    ) -> SqlResult<(Value, Vec<Value>)>;
    /// There is a stored program.
    fn any(&self) -> bool;
    /// What becomes of stored programs with a change of the catalog: triggers go with their table, and keep it under its
    /// new name.
    fn follow(&self, change: &CatalogChange) -> Vec<CatalogChange>;
    /// Fails (1435) where a table that is to get a name in another database has triggers.
    fn may_move(&self, db: &str, table: &str) -> SqlResult<()>;
    /// Some table has triggers.
    fn any_triggers(&self) -> bool;
    /// A table has triggers of this kind.
    fn has_triggers(&self, table: &Table, before: bool, event: RowEvent) -> bool;
    /// Runs the triggers for a row; gives the columns of the new row that they have set.
    fn fire(
        &self,
        row: &TriggerRow<'_>,
        txn: &mut Transaction,
        env: &StatementEnv,
    ) -> SqlResult<Vec<(usize, Value)>>;
}

/// A source without variables.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoVariables;

impl VariableSource for NoVariables {
    fn system(&self, _scope: VariableScope, name: &str) -> SqlResult<Value> {
        Err(errors::UNKNOWN_SYSTEM_VARIABLE.with([&name]))
    }
    fn user(&self, _name: &str) -> Value {
        Value::Null
    }
    fn set_user_text(&self, _name: &str, _value: Value, _collation: Collation) {}
}

/// What definitions are bound with, which hold in all sessions: variables have their values later. Numbers are computed as
/// those of texts are, for which kind a variable is of is not known here.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LaterVariables;

impl VariableSource for LaterVariables {
    fn system(&self, _scope: VariableScope, _name: &str) -> SqlResult<Value> {
        Ok(Value::str(""))
    }
    fn user(&self, _name: &str) -> Value {
        Value::Null
    }
    fn set_user_text(&self, _name: &str, _value: Value, _collation: Collation) {}
}

/// Inserts the rows of a table that is made.
pub type FillTable = dyn FnMut(&mut TableFill<'_>) -> Result<(), EngineError> + Send;

/// Rows of a table that is made, see [`StatementEnv::made_rows`].
pub struct MadeRows {
    /// The statement as the client wrote it, for the log.
    pub annotate: Option<Vec<u8>>,
    /// Inserts them.
    pub fill: Box<FillTable>,
}

/// What the session says of all its statements. Those of its stored programs share it, so beginning one copies none of
/// this.
#[derive(Clone)]
pub struct SessionEnv {
    /// Session time zone.
    pub time_zone: narwal_types::Zone,
    /// CONNECTION_ID().
    pub connection_id: u64,
    /// USER(): `name@host` as the client gave it.
    pub user: Arc<str>,
    /// VERSION().
    pub version: Arc<str>,
    /// The client asked for found rather than changed rows (CLIENT_FOUND_ROWS).
    pub client_found_rows: bool,
    /// `sql_safe_updates`: UPDATE and DELETE need a key or a LIMIT.
    pub safe_updates: bool,
    /// `sql_auto_is_null`: `id IS NULL` finds the row that was inserted last.
    pub auto_is_null: bool,
    /// `sql_notes`: notes are kept among the conditions.
    pub notes: bool,
    /// `auto_increment_increment` and `auto_increment_offset`.
    pub auto_increment: Steps,
    /// `insert_id`: the AUTO_INCREMENT value that the next INSERT begins with; 0 for the table's own.
    pub insert_id: Arc<AtomicU64>,
    /// `rand_seed1` and `rand_seed2`, which RAND() goes on from; 0 if none was set.
    pub rand_seeds: Arc<AtomicU64>,
    /// `div_precision_increment`: digits that a division adds.
    pub div_precision: u8,
    /// `default_regex_flags`, as options of the regular expressions' library.
    pub regex_options: u32,
    /// `old_mode=ZERO_DATE_TIME_CAST`: a time becomes a moment of the year 0, not one of today.
    pub zero_dates: bool,
    /// `check_constraint_checks`.
    pub check_constraints: bool,
    /// `sql_if_exists`, which replicas are told of.
    pub if_exists: bool,
    /// `explicit_defaults_for_timestamp`.
    pub explicit_timestamps: bool,
    /// `default_storage_engine`, if it is not the store itself.
    pub default_engine: Option<&'static str>,
    /// `foreign_key_checks`.
    pub foreign_key_checks: bool,
    /// `innodb_strict_mode`: tables that are too large for InnoDB's pages are errors.
    pub innodb_strict: bool,
    /// Statements come from another server's log, which has taken them.
    pub applies: bool,
    /// `max_allowed_packet`, bytes: longer strings are not built.
    pub max_allowed_packet: u64,
    /// What one list of rows, a sort or a hash table may hold in memory, in bytes: a share of `max_session_mem_used`.
    pub max_memory: u64,
    /// `sort_buffer_size`, bytes: what a sort holds in memory; the rest goes to temporary files.
    pub sort_memory: u64,
    /// What groups, DISTINCT, SELECTs put together and kept rows of derived tables hold in memory each, in bytes: the
    /// smaller one of `tmp_table_size` and `max_heap_table_size`. The rest goes to temporary files.
    pub table_memory: u64,
    /// `join_buffer_size`, bytes: the rows of a hash join may take as much, if that is more than `table_memory`.
    pub join_memory: u64,
    /// `tmpdir`: where these are.
    pub tmp_dir: Arc<std::path::Path>,
    /// `max_error_count`.
    pub max_error_count: usize,
    /// `sql_select_limit`: applies to SELECT without LIMIT.
    pub select_limit: u64,
    /// `collation_server`: that of databases that name none.
    pub server_collation: Collation,
    /// Set by KILL.
    pub interrupt: Arc<AtomicBool>,
    /// Variables.
    pub variables: Arc<dyn VariableSource>,
    /// Stored functions and triggers, if there are any.
    pub programs: Option<Arc<dyn Programs>>,
    /// Temporary tables, once there have been any.
    pub temporary: Option<Arc<narwal_engine::TemporaryTables>>,
    /// What HANDLER has opened.
    pub handlers: Arc<Handlers>,
    /// What its statements do with rows.
    pub status_counts: Arc<StatusCounts>,
}

impl SessionEnv {
    /// MariaDB's defaults.
    fn new(variables: Arc<dyn VariableSource>) -> Self {
        SessionEnv {
            time_zone: narwal_types::Zone::UTC,
            connection_id: 0,
            user: "".into(),
            version: "".into(),
            client_found_rows: false,
            safe_updates: false,
            auto_is_null: false,
            notes: true,
            auto_increment: Steps::default(),
            insert_id: Arc::default(),
            rand_seeds: Arc::default(),
            div_precision: DIV_PRECISION_INCREMENT,
            regex_options: 0,
            zero_dates: false,
            check_constraints: true,
            if_exists: false,
            explicit_timestamps: true,
            default_engine: None,
            foreign_key_checks: true,
            innodb_strict: true,
            applies: false,
            max_allowed_packet: 16 << 20,
            max_memory: u64::MAX,
            sort_memory: 2 << 20,
            table_memory: 64 << 20,
            join_memory: 256 << 10,
            tmp_dir: std::env::temp_dir().into(),
            max_error_count: 64,
            select_limit: u64::MAX,
            server_collation: Collation::Utf8mb4GeneralCi,
            interrupt: Arc::new(AtomicBool::new(false)),
            variables,
            programs: None,
            temporary: None,
            handlers: Arc::default(),
            status_counts: Arc::default(),
        }
    }
}

/// Conditions that were there at a time: see [`StatementEnv::mark_conditions`].
#[derive(Debug, Clone, Copy)]
pub struct MarkedConditions {
    count: usize,
    clears: u64,
}

/// What a stored program's statements have from its definition, not from the session.
#[derive(Clone)]
pub struct ProgramEnv {
    /// The default database: that of the program.
    pub db: Arc<str>,
    /// The `sql_mode` that it was made under.
    pub sql_mode: SqlMode,
    /// The `collation_connection` that it was made under, if this server knows it.
    pub collation: Option<Collation>,
    /// CURRENT_USER() and CURRENT_ROLE(): its definer, unless it runs with the rights of its caller.
    pub account: Option<(Arc<str>, Option<Arc<str>>)>,
}

/// What is noted in [`StatementEnv`] of a statement that calls a stored function.
pub(crate) const STORED_FUNCTIONS: &str = "stored functions";

/// A number that AUTO_INCREMENT gave, which `id IS NULL` finds once.
#[derive(Debug, Default)]
pub struct FreshInsertId {
    id: Cell<Option<u64>>,
    read: Cell<bool>,
}

impl FreshInsertId {
    /// For the running statement.
    pub(crate) fn read(&self) -> Option<u64> {
        self.read.set(true);
        self.id.get()
    }

    /// Behind a statement that gave a number, or none.
    pub fn settle(&self, given: Option<u64>) {
        if self.read.take() {
            self.id.set(None);
        }
        if given.is_some() {
            self.id.set(given);
        }
    }
}

/// The session's state as one statement sees it. The session owns it and refreshes it before each statement:
/// `now_micros`, and the results of the statement before (`last_insert_id`, `row_count`, `found_rows`).
///
/// What stays the same from statement to statement is in a part of its own, [`SessionEnv`], whose fields are read and
/// set as if they were fields of this.
pub struct StatementEnv {
    session: Arc<SessionEnv>,
    /// Default database.
    pub db: Option<Arc<str>>,
    /// `sql_mode`.
    pub sql_mode: SqlMode,
    /// `collation_connection`: that of literals, and of texts that functions make of other things.
    pub collation: Collation,
    /// CURRENT_USER(): the account that it was matched with.
    pub current_user: Arc<str>,
    /// CURRENT_ROLE(), if one is set.
    pub current_role: Option<Arc<str>>,
    /// Notes the columns that a statement uses while it is planned, if somebody asks.
    pub column_uses: RefCell<Option<Box<ColumnUses>>>,
    /// The statement's time, microseconds since 1970 UTC: all NOW() of a statement are equal.
    pub now_micros: i64,
    /// LAST_INSERT_ID().
    pub last_insert_id: u64,
    /// ROW_COUNT().
    pub row_count: i64,
    /// FOUND_ROWS().
    pub found_rows: u64,
    /// SERIALIZABLE inside a transaction: a plain SELECT locks in share mode.
    pub locking_reads: bool,
    /// The statement comes out of a MySQL's log: what that server takes is taken.
    pub of_mysql: bool,
    /// The number that AUTO_INCREMENT gave last, until a statement has looked for it by `id IS NULL`.
    pub fresh_insert_id: FreshInsertId,
    /// Set by `LAST_INSERT_ID(expr)` while the statement runs: the session takes it over afterwards.
    pub last_insert_id_set: Cell<Option<u64>>,
    /// State of RAND() without a seed.
    pub rand_state: Cell<u64>,
    /// User variables of the statement that is being planned, and what they were then.
    pub(crate) user_kinds: RefCell<Vec<(Box<str>, UserKind)>>,
    /// Collations of the texts that the statement that is being planned assigns to user variables.
    pub(crate) user_texts: RefCell<Vec<(Box<str>, Collation)>>,
    /// User variables that the statement that is being planned assigns values to.
    pub(crate) user_assigned: RefCell<Vec<Box<str>>>,
    /// User variables that it reads may change while it runs.
    pub(crate) variables_change: Cell<bool>,
    /// The statement that is being planned asks for numbers of rows: ROWNUM().
    pub(crate) numbers_rows: Cell<bool>,
    /// The statement that is being planned was prepared: what was wrong with it would have been told then.
    pub was_prepared: Cell<bool>,
    /// Series of `RAND(seed)` in the statement at hand, by the place of the call.
    pub(crate) seeded: RefCell<Vec<(usize, crate::seeded::Seeded)>>,
    /// Value of the AUTO_INCREMENT column of the last row inserted with an explicit value: what the OK packet reports
    /// if no value was generated. LAST_INSERT_ID() does not see it.
    pub explicit_insert_id: Cell<u64>,
    /// Set by a DDL statement that was logged: its GTID. The session takes it over afterwards.
    pub gtid_written: RefCell<Option<String>>,
    /// Rows for the table that the next CREATE TABLE makes: the rest of another server's CREATE TABLE ... SELECT.
    pub made_rows: RefCell<Option<MadeRows>>,
    /// Values of the `?` of the statement that is being planned, if they are known then: EXECUTE in SQL text.
    pub bound_params: RefCell<Vec<Value>>,
    /// Values of the slots of the statement that is being planned ([`crate::shape`]), of which their types count: its `?`
    /// stand for slots. Empty for other statements.
    pub slots: RefCell<Vec<Value>>,
    /// Values that the `?` of the statement that is being planned will have at first, for estimates only; empty if they
    /// are not known.
    pub peeked: RefCell<Vec<Value>>,
    /// Types of the `?` of the statement that is being planned, if they are known then.
    pub param_types: RefCell<Vec<ParamType>>,
    /// Values of parameters, for the SELECT of a CREATE TABLE that a stored program runs.
    pub param_values: RefCell<Vec<Value>>,
    /// Which `?` of the statement that is being planned have no value, but stand for a default.
    pub param_defaults: RefCell<Vec<Option<ParamDefault>>>,
    /// How many `?` were bound while statements were planned.
    pub(crate) params_bound: Cell<usize>,
    /// Some column of a result has a type that depends on a `?` of the statement that is being planned.
    pub(crate) params_typed: Cell<bool>,
    /// Something in the statement that is being planned that another server, which runs its text, would have another value for.
    pub(crate) unrepeatable: Cell<Option<&'static str>>,
    /// What LOAD DATA reads; it takes it.
    pub input: RefCell<Option<Box<dyn std::io::BufRead + Send>>>,
    /// Sequences that expressions bound since the last plan use, as privileges needed.
    pub(crate) sequences_used: RefCell<Vec<Needs>>,
    /// While the SELECT of a view is planned: the account that it reads with, by name and host. `None`: the session's. A role
    /// has no host.
    pub(crate) reads_as: RefCell<Option<(String, String)>>,
    /// The statement had literals that are no texts, and stand in it as bytes.
    pub raw_literals: Cell<bool>,
    /// Texts in slots were bound beside a character set that may not have their characters: the plan is for ASCII alone.
    pub ascii_slots: Cell<bool>,
    /// While a statement changes rows in strict mode: warnings about values in its expressions end it.
    pub(crate) strict_expressions: Cell<bool>,
    /// While a statement with IGNORE changes rows: a subquery of several rows is NULL, with a warning.
    pub(crate) ignores: Cell<bool>,
    /// The last condition that SIGNAL raised.
    pub raised: RefCell<Option<(SqlError, Raised)>>,
    /// What the statement that runs needs, behind what the statements around it need if it is a program's: functions and
    /// triggers can't write these tables.
    in_use: RefCell<Vec<Arc<[Needs]>>>,
    /// How many of these belong to the statements around.
    in_use_before: usize,
    /// The `sql_mode` of who calls the program.
    pub caller_mode: SqlMode,
    /// A program around runs with the privileges of another account than the session's.
    pub other_account: bool,
    refused: RefCell<Option<SqlError>>,
    warnings: RefCell<Vec<Condition>>,
    warning_count: Cell<u64>,
    /// Conditions that came up, those that are not kept included.
    told: Cell<u64>,
    /// Constants that warnings were about, by their addresses in the plan that runs.
    told_of: RefCell<Vec<usize>>,
    /// Rows that functions and triggers have changed.
    pub inner_changed: Cell<u64>,
    /// Rows that SELECT ... INTO in functions and triggers has found.
    pub inner_found: Cell<u64>,
    /// How often the diagnostics area has been emptied: whether anything has looked at tables since.
    pub clears: Cell<u64>,
    /// Where in which programs the error came up that is on its way: the innermost first. Notes of theirs follow the error.
    pub trace: RefCell<Vec<SqlError>>,
    /// Other errors and warnings of the statement, which stand behind the error that it ends with.
    pub more_errors: RefCell<Vec<(WarningLevel, SqlError)>>,
    /// The row that a statement is at that writes rows, counted from 1: conditions are about it. 0 where there is none.
    pub row_number: Cell<u64>,
    /// How many rows an INSERT ... SELECT has read: FOUND_ROWS() of the next statement.
    pub selected_rows: Cell<Option<u64>>,
}

/// The SQLSTATE of a warning about an expression's value that is an error where a strict statement stores it.
fn refused_as(code: u16) -> Option<&'static [u8; 5]> {
    Some(match code {
        codes::WARN_DATA_OUT_OF_RANGE => b"22003",
        codes::TRUNCATED_WRONG_VALUE => b"22007",
        codes::DIVISION_BY_ZERO => b"22012",
        codes::DATETIME_FUNCTION_OVERFLOW => b"22008",
        // Texts cut or too long, texts that are no dates, no base64, no JSON or no JSON path.
        codes::TOO_BIG_FOR_UNCOMPRESS
        | codes::CUT_VALUE_GROUP_CONCAT
        | codes::WARN_ALLOWED_PACKET_OVERFLOWED
        | codes::WRONG_VALUE_FOR_TYPE
        | codes::BAD_BASE64_DATA
        | codes::STD_INVALID_ARGUMENT
        | codes::JSON_BAD_CHR..=codes::JSON_PATH_SYNTAX => b"HY000",
        _ => return None,
    })
}

/// Fields of the session, read as the statement's own.
impl Deref for StatementEnv {
    type Target = SessionEnv;

    #[inline]
    fn deref(&self) -> &SessionEnv {
        &self.session
    }
}

/// Only the session sets these fields, and does it between statements, when nothing shares them. A program that runs would
/// keep what was there.
impl DerefMut for StatementEnv {
    fn deref_mut(&mut self) -> &mut SessionEnv {
        Arc::make_mut(&mut self.session)
    }
}

impl StatementEnv {
    /// Columns that are found in here are not named one by one.
    pub fn of_all<T>(&self, find: impl FnOnce() -> T) -> T {
        let set = |on| {
            if let Some(uses) = &mut *self.column_uses.borrow_mut() {
                uses.of_all = on;
            }
        };
        set(true);
        let found = find();
        set(false);
        found
    }

    /// An environment with MariaDB's defaults and no database.
    pub fn new(variables: Arc<dyn VariableSource>) -> Self {
        StatementEnv::of(Arc::new(SessionEnv::new(variables)), "".into())
    }

    /// For the first statement of a session or a program.
    fn of(session: Arc<SessionEnv>, current_user: Arc<str>) -> Self {
        StatementEnv {
            session,
            db: None,
            sql_mode: SqlMode::DEFAULT,
            collation: Collation::Utf8mb4GeneralCi,
            current_user,
            now_micros: 0,
            current_role: None,
            column_uses: RefCell::default(),
            last_insert_id: 0,
            row_count: 0,
            found_rows: 0,
            locking_reads: false,
            of_mysql: false,
            fresh_insert_id: FreshInsertId::default(),
            last_insert_id_set: Cell::new(None),
            rand_state: Cell::new(0x9E37_79B9_7F4A_7C15),
            user_kinds: RefCell::default(),
            user_texts: RefCell::default(),
            user_assigned: RefCell::default(),
            variables_change: Cell::new(false),
            numbers_rows: Cell::new(false),
            was_prepared: Cell::new(false),
            seeded: RefCell::default(),
            explicit_insert_id: Cell::new(0),
            gtid_written: RefCell::default(),
            made_rows: RefCell::default(),
            bound_params: RefCell::default(),
            slots: RefCell::default(),
            peeked: RefCell::default(),
            param_types: RefCell::default(),
            param_values: RefCell::default(),
            param_defaults: RefCell::default(),
            params_bound: Cell::new(0),
            params_typed: Cell::new(false),
            unrepeatable: Cell::new(None),
            input: RefCell::default(),
            sequences_used: RefCell::default(),
            reads_as: RefCell::default(),
            raw_literals: Cell::new(false),
            ascii_slots: Cell::new(false),
            strict_expressions: Cell::new(false),
            ignores: Cell::new(false),
            raised: RefCell::default(),
            in_use: RefCell::default(),
            in_use_before: 0,
            caller_mode: SqlMode::DEFAULT,
            other_account: false,
            refused: RefCell::default(),
            warnings: RefCell::default(),
            told_of: RefCell::default(),
            warning_count: Cell::new(0),
            told: Cell::new(0),
            inner_changed: Cell::new(0),
            inner_found: Cell::new(0),
            clears: Cell::new(0),
            row_number: Cell::new(0),
            selected_rows: Cell::new(None),
            trace: RefCell::default(),
            more_errors: RefCell::default(),
        }
    }

    /// The definer of the view whose SELECT is being planned, name and host, if it reads with its definer's rights.
    pub fn reads_as(&self) -> Option<(String, String)> {
        self.reads_as.borrow().clone()
    }

    /// For a program that runs inside of this statement: with the same session, and conditions of its own.
    pub fn within(&self, program: &ProgramEnv) -> Self {
        let own = (program.account.as_ref())
            .is_none_or(|(user, role)| role.is_none() && *user == self.current_user);
        let (user, role) = match &program.account {
            Some(definer) if !own => definer.clone(),
            _ => (self.current_user.clone(), self.current_role.clone()),
        };
        let mut env = StatementEnv::of(self.session.clone(), user);
        env.other_account = self.other_account || !own;
        env.applies = self.applies;
        env.current_role = role;
        env.db = Some(program.db.clone());
        env.sql_mode = program.sql_mode;
        env.caller_mode = self.sql_mode;
        env.collation = program.collation.unwrap_or(self.collation);
        env.now_micros = self.now_micros;
        env.last_insert_id = self.last_insert_id;
        env.row_count = self.row_count;
        env.found_rows = self.found_rows;
        env.locking_reads = self.locking_reads;
        env.rand_state = self.rand_state.clone();
        env.in_use = self.in_use.clone();
        env.in_use_before = self.in_use.borrow().len();
        // `sql_select_limit` is for a client's own statements.
        if env.select_limit != u64::MAX {
            env.select_limit = u64::MAX;
        }
        env
    }

    /// Notes what a statement needs before it runs.
    pub(crate) fn begin_use(&self, needs: &Arc<[Needs]>) {
        let mut in_use = self.in_use.borrow_mut();
        in_use.truncate(self.in_use_before);
        in_use.push(needs.clone());
    }

    /// Forgets what the statement before needed.
    pub fn end_use(&self) {
        self.in_use.borrow_mut().truncate(self.in_use_before);
    }

    /// True if a statement around this program uses the table.
    pub fn is_used_around(&self, db: &str, table: &str) -> bool {
        let in_use = self.in_use.borrow();
        let around = in_use.iter().take(self.in_use_before);
        (around.flat_map(|needs| needs.iter())).any(|n| n.db == db && n.table == table)
    }

    /// What a hash table or a made table may hold in memory, in bytes.
    pub(crate) fn table_room(&self) -> u64 {
        self.table_memory.min(self.max_memory)
    }

    /// What the kept rows of a join may take in memory, in bytes.
    pub(crate) fn join_room(&self) -> u64 {
        self.join_memory.max(self.table_memory).min(self.max_memory)
    }

    /// The default database, or error 1046.
    pub fn require_db(&self) -> SqlResult<&Arc<str>> {
        self.db.as_ref().ok_or_else(|| errors::NO_DB_ERROR.plain())
    }

    /// Seconds since 1970 of the statement.
    pub fn timestamp(&self) -> u32 {
        (self.now_micros / 1_000_000).clamp(0, i64::from(u32::MAX)) as u32
    }

    /// Adds a condition to the diagnostics area; beyond `max_error_count` it is only counted.
    pub fn push_condition(&self, level: WarningLevel, code: u16, message: impl Into<Box<str>>) {
        self.told.set(self.told.get() + 1);
        if self.strict_expressions.get()
            && level == WarningLevel::Warning
            && let Some(state) = refused_as(code)
        {
            self.refused
                .borrow_mut()
                .get_or_insert_with(|| SqlError::new(code, state, message));
            return;
        }
        if level == WarningLevel::Note && !self.notes {
            return;
        }
        self.warning_count.set(self.warning_count.get() + 1);
        let mut w = self.warnings.borrow_mut();
        if w.len() < self.max_error_count {
            let mut message = message.into();
            let end = message.floor_char_boundary(MESSAGE);
            if end < message.len() {
                message = message[..end].into();
            }
            let known = self.raised.borrow();
            let raised = known
                .as_ref()
                .filter(|(e, _)| e.code == code && e.message == message)
                .map(|(_, r)| Box::new(r.clone()));
            w.push(Condition {
                level,
                code,
                message,
                row: self.row_number.get(),
                raised,
            });
        }
    }

    /// How many conditions came up so far.
    #[inline]
    pub(crate) fn told(&self) -> u64 {
        self.told.get()
    }

    /// Changes the messages of the conditions that came up since then; `f` gives the new one, if it is to be another one.
    pub(crate) fn retell_since(&self, told: u64, f: &dyn Fn(u16, &str) -> Option<String>) {
        let since = usize::try_from(self.told.get() - told).unwrap_or(usize::MAX);
        for c in self.warnings.borrow_mut().iter_mut().rev().take(since) {
            if let Some(new) = f(c.code, &c.message) {
                c.message = new.into();
            }
        }
        if let Some(e) = self.refused.borrow_mut().as_mut()
            && let Some(new) = f(e.code, &e.message)
        {
            e.message = new.into();
        }
    }

    /// Adds a warning that is none but a warning, in strict mode too.
    pub(crate) fn only_warn(&self, code: u16, message: impl Into<Box<str>>) {
        self.leniently(|| self.warn(code, message));
    }

    /// Runs something whose warnings are none but warnings, in strict mode too.
    pub(crate) fn leniently<T>(&self, run: impl FnOnce() -> T) -> T {
        let strict = self.strict_expressions.replace(false);
        let r = run();
        self.strict_expressions.set(strict);
        r
    }

    /// Adds the rows that a program has changed and found to those of what runs it.
    pub fn add_rows_of(&self, inner: &StatementEnv) {
        (self.inner_changed).set(self.inner_changed.get() + inner.inner_changed.take());
        (self.inner_found).set(self.inner_found.get() + inner.inner_found.take());
    }

    /// Adds a condition that came up elsewhere.
    pub fn push(&self, c: Condition) {
        self.warning_count.set(self.warning_count.get() + 1);
        let mut w = self.warnings.borrow_mut();
        if w.len() < self.max_error_count {
            w.push(c);
        }
    }

    /// Runs something whose warnings are errors under a strict `sql_mode`, as those of a value that is stored.
    pub fn strictly<T>(&self, run: impl FnOnce() -> SqlResult<T>) -> SqlResult<T> {
        if !self.sql_mode.strict() || self.strict_expressions.get() {
            return run();
        }
        self.strict_expressions.set(true);
        let r = run().and_then(|v| self.check_refused().map(|()| v));
        let _ = self.check_refused();
        self.strict_expressions.set(false);
        r
    }

    /// The first kept warning that under a strict `sql_mode` is an error where a value is stored, as that error.
    pub fn refuse_last_warning(&self) -> SqlResult<()> {
        if !self.sql_mode.strict() {
            return Ok(());
        }
        let mut all = self.warnings.borrow_mut();
        let refused = |c: &Condition| match c.level {
            WarningLevel::Warning => refused_as(c.code),
            _ => None,
        };
        match all.iter().position(|c| refused(c).is_some()) {
            None => Ok(()),
            Some(at) => {
                let c = all.remove(at);
                self.warning_count.set(self.warning_count.get() - 1);
                let state = refused(&c).unwrap_or(b"HY000");
                Err(SqlError::new(c.code, state, c.message))
            }
        }
    }

    /// Adds a warning.
    pub fn warn(&self, code: u16, message: impl Into<Box<str>>) {
        self.push_condition(WarningLevel::Warning, code, message);
    }

    /// Ends a statement about several things that are not as it takes them: with the first error, behind which the others
    /// stand; or with notes, where IF EXISTS stands.
    pub(crate) fn refuse_all(&self, found: Vec<SqlError>, if_exists: bool) -> SqlResult<()> {
        if if_exists {
            found.into_iter().for_each(|e| self.note(e.code, e.message));
            return Ok(());
        }
        let mut found = found.into_iter();
        let Some(first) = found.next() else {
            return Ok(());
        };
        let found = found.map(|e| (WarningLevel::Error, e));
        self.more_errors.borrow_mut().extend(found);
        Err(first)
    }

    /// Adds a warning that stands behind the error which the statement is about to end with.
    pub(crate) fn warn_behind(&self, warning: SqlError) {
        (self.more_errors.borrow_mut()).push((WarningLevel::Warning, warning));
    }

    /// Adds an error that stands behind the one which the statement is about to end with.
    pub(crate) fn error_behind(&self, error: SqlError) {
        (self.more_errors.borrow_mut()).push((WarningLevel::Error, error));
    }

    /// Adds the notes of where an error came up, behind the error, and the errors beside it.
    pub fn push_trace(&self) {
        for (level, e) in self.more_errors.take() {
            self.push_condition(level, e.code, e.message);
        }
        for note in self.trace.take() {
            self.note(note.code, note.message);
        }
    }

    /// Adds an error that was turned into a warning (IGNORE).
    pub fn warn_error(&self, e: &SqlError) {
        self.push_condition(WarningLevel::Warning, e.code, e.message.clone());
    }

    /// Adds an error's number and text as a note.
    pub fn note_error(&self, e: SqlError) {
        self.note(e.code, e.message);
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

    /// The conditions that there are, to be forgotten later.
    pub fn mark_conditions(&self) -> MarkedConditions {
        MarkedConditions {
            count: self.warnings.borrow().len(),
            clears: self.clears.get(),
        }
    }

    /// Forgets conditions as they were marked, if a statement has not done so; those that came later stay.
    pub fn forget_conditions(&self, marked: MarkedConditions) {
        if self.clears.get() != marked.clears {
            return;
        }
        let mut all = self.warnings.borrow_mut();
        let count = marked.count.min(all.len());
        let later = all.split_off(count);
        drop(all);
        self.clear_conditions();
        later.into_iter().for_each(|c| self.push(c));
    }

    /// Empties the diagnostics area: at the start of each statement but SHOW WARNINGS and such.
    pub fn clear_conditions(&self) {
        self.clears.set(self.clears.get().wrapping_add(1));
        self.row_number.set(0);
        self.told_of.borrow_mut().clear();
        self.selected_rows.set(None);
        if self.warning_count.get() != 0 {
            self.warning_count.set(0);
            self.warnings.borrow_mut().clear();
        }
    }

    /// Takes a condition out of the diagnostics area that a handler has dealt with.
    pub fn forget_condition(&self, code: u16, message: &str) {
        let mut all = self.warnings.borrow_mut();
        let known = all
            .iter()
            .position(|c| c.code == code && &*c.message == message);
        if let Some(at) = known {
            all.remove(at);
            self.warning_count
                .set(self.warning_count.get().saturating_sub(1));
        }
    }

    /// True if texts of this type are seen with spaces up to its length.
    pub(crate) fn pads(&self, ty: &narwal_types::ColumnType) -> bool {
        matches!(ty.kind, narwal_types::TypeKind::Char(_))
            && self
                .sql_mode
                .has(narwal_syntax::SqlMode::PAD_CHAR_TO_FULL_LENGTH)
    }

    /// Whether the error that is on its way has come up in a trigger or a function: IGNORE, which is about the statement's own
    /// rows, makes no warning of it.
    pub(crate) fn is_of_a_program(&self) -> bool {
        !self.trace.borrow().is_empty()
    }

    /// Does something that was done before and told its warnings then.
    pub(crate) fn quietly<T>(&self, f: impl FnOnce() -> T) -> T {
        let (count, kept) = (self.warning_count.get(), self.warnings.borrow().len());
        let result = f();
        if self.warning_count.get() != count {
            self.warning_count.set(count);
            self.warnings.borrow_mut().truncate(kept);
        }
        result
    }

    /// Whether it was told what is wrong with a constant of the statement, by its address in the plan.
    #[inline]
    pub(crate) fn has_told_of(&self, constant: usize) -> bool {
        self.told_of.borrow().contains(&constant)
    }

    /// Notes that it is told what is wrong with a constant of the statement.
    #[cold]
    pub(crate) fn tells_of(&self, constant: usize) {
        self.told_of.borrow_mut().push(constant);
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

    /// Whether the statement was killed.
    #[inline]
    pub(crate) fn is_stopped(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }

    /// Error 1317 if the statement was killed: for each operator of an expression, since a long expression may have
    /// thousands, each over long values. One load.
    #[inline]
    pub(crate) fn check_stopped(&self) -> SqlResult<()> {
        match self.is_stopped() {
            true => Err(errors::QUERY_INTERRUPTED.plain()),
            false => Ok(()),
        }
    }

    /// Error 1317 if the statement was killed, 1290 or 1041 if it holds too much memory.
    #[inline]
    pub fn check_interrupt(&self) -> SqlResult<()> {
        self.check_stopped()?;
        Ok(narwal_memory::check()?)
    }
}

impl StatementEnv {
    /// A system variable's value. Modes and collation of literals are those of the statement: a stored program has its own.
    pub(crate) fn system_variable(&self, scope: VariableScope, name: &str) -> SqlResult<Value> {
        if scope == VariableScope::Global {
            return self.variables.system(scope, name);
        }
        Ok(match name {
            "sql_mode" => Value::str(self.sql_mode.names()),
            "collation_connection" => Value::str(self.collation.name()),
            "character_set_connection" => Value::str(self.collation.charset().name()),
            _ => self.variables.system(scope, name)?,
        })
    }

    /// Calls a stored function. `txn`: the statement's transaction, where its rows are not being read.
    pub(crate) fn call_function(
        &self,
        function: &StoredFunction,
        args: Vec<Value>,
        txn: Option<&mut Transaction>,
    ) -> SqlResult<Value> {
        match &self.programs {
            Some(p) => p.call(function, args, txn, self),
            None => Err(SqlError::unsupported("stored functions here")),
        }
    }

    /// What runs a table's triggers of this kind, if there are any.
    #[inline]
    pub(crate) fn triggers(
        &self,
        table: &Table,
        before: bool,
        event: RowEvent,
    ) -> Option<&dyn Programs> {
        let p = self.programs.as_deref()?;
        (p.any_triggers() && p.has_triggers(table, before, event)).then_some(p)
    }
}
