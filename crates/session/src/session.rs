//! One client's session: from statement text to result.

use crate::acl::{self, Account, Acl};
use crate::admin::Admin;
use crate::admin_parse;
use crate::charset;
use crate::instance::{ConnectOptions, Instance};
use crate::lex::LexOptions;
use crate::privileges::PrivilegeSet;
use crate::process::{Command, Identity, Process, Stage};
use crate::session_vars::SessionVars;
use crate::status;
use crate::variables::VarValue;
use ahash::AHashMap;
use narwal_engine::{Isolation, Savepoint, Transaction, TxnOptions};
use narwal_sql::ast::DdlStmt;
use narwal_sql::{
    Needs, Outcome, ParseOptions, Prepared, SqlMode, StatementEnv, Stmt, WarningLevel,
};
use narwal_types::{OkInfo, ResultColumn, ResultSink, SqlError, SqlResult, Value, ValueRef};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Server status flags of OK and EOF packets.
pub mod flags {
    /// A transaction is open.
    pub const IN_TRANS: u16 = 0x0001;
    /// Autocommit is on.
    pub const AUTOCOMMIT: u16 = 0x0002;
    /// NO_BACKSLASH_ESCAPES is in the SQL mode.
    pub const NO_BACKSLASH_ESCAPES: u16 = 0x0200;
    /// The open transaction is READ ONLY.
    pub const IN_TRANS_READONLY: u16 = 0x2000;
}

/// What a prepared statement looks like to the client.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreparedInfo {
    /// The session's name for it.
    pub handle: u32,
    /// Number of `?`.
    pub params: u16,
    /// Columns of its result set, empty if there is none.
    pub columns: Vec<ResultColumn>,
}

/// A session's network timeouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionTimeouts {
    /// `wait_timeout`, or `interactive_timeout` for an interactive client.
    pub idle: Duration,
    /// `net_read_timeout`.
    pub net_read: Duration,
    /// `net_write_timeout`.
    pub net_write: Duration,
}

/// Session settings in the form that the hot path needs; made anew after each SET.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub autocommit: bool,
    pub isolation: Isolation,
    pub read_only: bool,
    pub lock_wait_timeout: Duration,
    pub annotate: bool,
    pub statement_time_micros: u64,
    pub completion: Completion,
    pub sql_mode: SqlMode,
}

/// `completion_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Completion {
    NoChain,
    Chain,
    Release,
}

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

/// A prepared statement.
struct Slot {
    text: Arc<str>,
    /// Default database when it was prepared.
    db: Option<Arc<str>>,
    kind: SlotKind,
}

enum SlotKind {
    Sql {
        stmt: Arc<Stmt>,
        plan: Arc<Prepared>,
        counter: usize,
        writes: bool,
        keeps_diagnostics: bool,
        /// `plan_generation` of the session when it was planned.
        generation: u64,
    },
    Ddl(Arc<DdlStmt>, usize),
    Admin(Arc<Admin>),
}

/// A client's session. One thread at a time.
pub struct ClientSession {
    pub(crate) instance: Arc<Instance>,
    pub(crate) process: Arc<Process>,
    pub(crate) vars: Arc<SessionVars>,
    pub(crate) env: StatementEnv,
    pub(crate) settings: Settings,
    pub(crate) open: Option<Open>,
    /// BEGIN was said (as opposed to autocommit=0).
    pub(crate) explicit: bool,
    pub(crate) next: NextTransaction,
    acl: Arc<Acl>,
    /// Own account, as of `acl`.
    account: Arc<Account>,
    pub(crate) client: ConnectOptions,
    multi_statements: bool,
    prepared: AHashMap<u32, Slot>,
    last_handle: u32,
    /// Rises when a setting changes that plans depend on.
    pub(crate) plan_generation: u64,
    /// ROLLBACK RELEASE or KILL of itself: the connection is to end after this statement.
    pub(crate) release: bool,
    values: Vec<Value>,
}

impl ClientSession {
    pub(crate) fn new(instance: Arc<Instance>, client: ConnectOptions) -> SqlResult<ClientSession> {
        let acl = instance.acl();
        let Some(account) = acl.get(&client.account_user, &client.account_host).cloned() else {
            return Err(access_denied(&client, false));
        };
        let process = Arc::new(Process::new(
            client.id,
            identity(&client),
            client.killer.clone(),
        ));
        let vars = Arc::new(SessionVars::new(instance.clone(), client.id));
        let mut env = StatementEnv::new(vars.clone());
        env.connection_id = u64::from(client.id);
        env.interrupt = process.interrupt.clone();
        env.version = instance.version().clone();
        instance.processes.add(process.clone());
        let mut s = ClientSession {
            multi_statements: client.multi_statements,
            settings: Settings {
                autocommit: true,
                isolation: Isolation::RepeatableRead,
                read_only: false,
                lock_wait_timeout: Duration::from_secs(50),
                annotate: true,
                statement_time_micros: 0,
                completion: Completion::NoChain,
                sql_mode: SqlMode::DEFAULT,
            },
            instance,
            process,
            vars,
            env,
            open: None,
            explicit: false,
            next: NextTransaction::default(),
            acl,
            account,
            client,
            prepared: AHashMap::new(),
            last_handle: 0,
            plan_generation: 0,
            release: false,
            values: Vec::new(),
        };
        s.start_as_client()?;
        Ok(s)
    }

    /// What a new or changed user starts with: names, character set, default database.
    fn start_as_client(&mut self) -> SqlResult<()> {
        self.env.user = format!("{}@{}", self.client.user, self.client.host).into();
        self.env.current_user =
            format!("{}@{}", self.client.account_user, self.client.account_host).into();
        self.env.client_found_rows = self.client.found_rows;
        let (cs, coll) = charset::from_handshake(self.client.collation);
        self.set_names(cs, coll);
        if self.client.interactive {
            let v = self.vars.value("interactive_timeout");
            self.vars.set_by_name("wait_timeout", v);
        }
        self.refresh_settings();
        self.set_db(None);
        if let Some(db) = self.client.db.clone().filter(|d| !d.is_empty()) {
            self.use_db(&db)?;
        }
        Ok(())
    }

    pub(crate) fn set_names(&mut self, charset: &'static str, collation: &'static str) {
        self.vars
            .set_by_name("character_set_client", VarValue::text(charset));
        self.vars
            .set_by_name("character_set_results", VarValue::text(charset));
        self.vars
            .set_by_name("character_set_connection", VarValue::text(charset));
        self.vars
            .set_by_name("collation_connection", VarValue::text(collation));
    }

    /// Takes over the session variables after they changed.
    pub(crate) fn refresh_settings(&mut self) {
        let v = |name: &str| self.vars.value(name);
        let sql_mode = SqlMode::parse(v("sql_mode").as_str()).unwrap_or(SqlMode::DEFAULT);
        let zone = charset::time_zone(v("time_zone").as_str()).map_or(0, |z| z.0);
        if sql_mode != self.env.sql_mode || zone != self.env.time_zone_offset {
            self.plan_generation += 1;
        }
        self.settings = Settings {
            autocommit: v("autocommit").as_bool(),
            isolation: match v("tx_isolation").as_str() {
                "READ-UNCOMMITTED" | "READ-COMMITTED" => Isolation::ReadCommitted,
                "SERIALIZABLE" => Isolation::Serializable,
                _ => Isolation::RepeatableRead,
            },
            read_only: v("tx_read_only").as_bool(),
            lock_wait_timeout: Duration::from_secs(v("innodb_lock_wait_timeout").as_u64()),
            annotate: v("binlog_annotate_row_events").as_bool(),
            statement_time_micros: (v("max_statement_time").as_f64() * 1e6) as u64,
            completion: match v("completion_type").as_str() {
                "CHAIN" => Completion::Chain,
                "RELEASE" => Completion::Release,
                _ => Completion::NoChain,
            },
            sql_mode,
        };
        self.env.max_allowed_packet = v("max_allowed_packet").as_u64();
        self.env.max_error_count = v("max_error_count").as_u64() as usize;
        self.env.select_limit = v("sql_select_limit").as_u64();
        self.env.safe_updates = v("sql_safe_updates").as_bool();
        self.env.max_memory = v("max_session_mem_used").as_u64();
        self.env.sql_mode = sql_mode;
        self.env.time_zone_offset = zone;
        if self.settings.statement_time_micros > 0 {
            self.instance.start_watchdog();
        }
    }

    pub(crate) fn lex_options(&self) -> LexOptions {
        LexOptions {
            no_backslash_escapes: self.env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES),
            ansi_quotes: self.env.sql_mode.has(SqlMode::ANSI_QUOTES),
        }
    }

    // ---- what the protocol front calls ----

    /// Runs a query of one or more statements. Each result goes to `out`; an error ends the query.
    pub fn query(&mut self, sql: &[u8], out: &mut dyn ResultSink) -> SqlResult<()> {
        let now = self.instance.processes.now();
        self.process.begin(Command::Query, sql, now);
        let r = self.query_text(sql, out);
        self.process.end(self.instance.processes.now());
        r
    }

    fn query_text(&mut self, sql: &[u8], out: &mut dyn ResultSink) -> SqlResult<()> {
        let text = utf8(sql)?;
        if !text.contains(';') {
            return self.run_text(trim(text), out, false);
        }
        let no_backslash = self.env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
        let parts = narwal_sql::split_statements(text, no_backslash);
        if parts.len() > 1 && !self.multi_statements {
            let second = parts[1].as_ptr() as usize - text.as_ptr() as usize;
            return self.fail(crate::lex::syntax_near(text, second));
        }
        if parts.is_empty() {
            return self.run_text("", out, false);
        }
        let last = parts.len() - 1;
        for (i, part) in parts.into_iter().enumerate() {
            self.run_text(trim(part), out, i < last)?;
        }
        Ok(())
    }

    /// Parses and plans a statement.
    pub fn prepare(&mut self, sql: &[u8]) -> SqlResult<PreparedInfo> {
        let now = self.instance.processes.now();
        self.process.begin(Command::Prepare, sql, now);
        self.begin_statement(status::STMT_PREPARE, false);
        let r = self.prepare_text(sql);
        self.process.end(self.instance.processes.now());
        match r {
            Ok(i) => Ok(i),
            Err(e) => self.fail(e),
        }
    }

    fn prepare_text(&mut self, sql: &[u8]) -> SqlResult<PreparedInfo> {
        let max = self
            .instance
            .global_value("max_prepared_stmt_count")
            .as_u64();
        if self.instance.prepared_statements.load(Ordering::Relaxed) >= max {
            return Err(SqlError::new(
                1461,
                b"42000",
                format!(
                    "Can't create more than max_prepared_stmt_count statements (current value: {max})"
                ),
            ));
        }
        let text = trim(trim(utf8(sql)?).trim_end_matches(';'));
        if text.is_empty() {
            return Err(empty_query());
        }
        let no_backslash = self.env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
        if text.contains(';') && narwal_sql::split_statements(text, no_backslash).len() > 1 {
            return Err(crate::lex::syntax_near(text, text.find(';').unwrap_or(0)));
        }
        let code = unwrap(text, no_backslash);
        let (kind, params, columns) = if admin_parse::is_admin(&code) {
            if has_placeholder(&code, self.lex_options()) {
                return Err(SqlError::unsupported(
                    "parameters in statements other than SELECT, INSERT, REPLACE, UPDATE, DELETE and DO",
                ));
            }
            let admin = admin_parse::parse(&code, self.lex_options())?;
            let columns = self.admin_columns(&admin)?;
            (SlotKind::Admin(Arc::new(admin)), 0, columns)
        } else {
            let stmt = self.parse(&code)?;
            let counter = status::index(stmt.counter()).unwrap_or(status::ADMIN_COMMANDS);
            if let Stmt::Ddl(d) = stmt {
                (SlotKind::Ddl(Arc::new(*d), counter), 0, Vec::new())
            } else {
                let plan = self.plan(&stmt, text)?;
                let (params, columns) = (plan.params(), plan.columns().to_vec());
                (
                    SlotKind::Sql {
                        counter,
                        writes: stmt.writes(),
                        keeps_diagnostics: keeps_diagnostics(&stmt),
                        generation: self.plan_generation,
                        stmt: Arc::new(stmt),
                        plan: Arc::new(plan),
                    },
                    params,
                    columns,
                )
            }
        };
        let params = u16::try_from(params).map_err(|_| {
            SqlError::new(
                1390,
                b"HY000",
                "Prepared statement contains too many placeholders",
            )
        })?;
        self.last_handle = self.last_handle.wrapping_add(1).max(1);
        self.instance
            .prepared_statements
            .fetch_add(1, Ordering::Relaxed);
        self.prepared.insert(
            self.last_handle,
            Slot {
                text: text.into(),
                db: self.env.db.clone(),
                kind,
            },
        );
        Ok(PreparedInfo {
            handle: self.last_handle,
            params,
            columns,
        })
    }

    /// Runs a prepared statement with as many parameters as it has.
    pub fn execute(
        &mut self,
        handle: u32,
        params: &[ValueRef<'_>],
        out: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let Some(slot) = self.prepared.get(&handle) else {
            return Err(SqlError::new(
                1243,
                b"HY000",
                format!(
                    "Unknown prepared statement handler ({handle}) given to mysqld_stmt_execute"
                ),
            ));
        };
        let text = slot.text.clone();
        let now = self.instance.processes.now();
        self.process.begin(Command::Execute, text.as_bytes(), now);
        self.process.counters.add(status::STMT_EXECUTE, 1);
        let r = self.execute_slot(handle, &text, params, out);
        self.process.end(self.instance.processes.now());
        r
    }

    fn execute_slot(
        &mut self,
        handle: u32,
        text: &str,
        params: &[ValueRef<'_>],
        out: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        let Some(slot) = self.prepared.get(&handle) else {
            return Err(SqlError::unknown("the statement is gone"));
        };
        match &slot.kind {
            SlotKind::Admin(a) => {
                let a = a.clone();
                self.run_admin(&a, text, out, false)
            }
            SlotKind::Ddl(d, counter) => {
                let (d, counter) = (d.clone(), *counter);
                self.begin_statement(counter, false);
                self.run_ddl(&d, text, out, false)
            }
            SlotKind::Sql {
                stmt,
                plan,
                counter,
                writes,
                keeps_diagnostics,
                generation,
            } => {
                let (counter, writes, keep) = (*counter, *writes, *keeps_diagnostics);
                let mut plan = plan.clone();
                let stale = *generation != self.plan_generation
                    || plan.catalog_version() != self.instance.database().catalog_version();
                let stmt = stale.then(|| (stmt.clone(), slot.db.clone()));
                self.begin_statement(counter, keep);
                if let Some((stmt, db)) = stmt {
                    // The plan keeps the default database of its preparation.
                    let current = std::mem::replace(&mut self.env.db, db);
                    let fresh = self.plan(&stmt, text);
                    self.env.db = current;
                    match fresh {
                        Ok(p) => plan = Arc::new(p),
                        Err(e) => return self.fail(e),
                    }
                    self.process.counters.add(status::STMT_REPREPARE, 1);
                    let current_generation = self.plan_generation;
                    if let Some(Slot {
                        kind:
                            SlotKind::Sql {
                                plan: p,
                                generation,
                                ..
                            },
                        ..
                    }) = self.prepared.get_mut(&handle)
                    {
                        *p = plan.clone();
                        *generation = current_generation;
                    }
                }
                if params.len() != plan.params() {
                    return self.fail(SqlError::new(
                        1210,
                        b"HY000",
                        "Incorrect arguments to mysqld_stmt_execute",
                    ));
                }
                let mut values = std::mem::take(&mut self.values);
                values.clear();
                values.extend(params.iter().map(ValueRef::to_value));
                let r = self.run_plan(&plan, writes, text, &values, out, false);
                self.values = values;
                r
            }
        }
    }

    /// Forgets a prepared statement.
    pub fn close_statement(&mut self, handle: u32) {
        if self.prepared.remove(&handle).is_some() {
            self.process.counters.add(status::STMT_CLOSE, 1);
            self.instance
                .prepared_statements
                .fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Changes the default database (COM_INIT_DB).
    pub fn init_db(&mut self, db: &str) -> SqlResult<()> {
        let now = self.instance.processes.now();
        self.process.begin(Command::InitDb, db.as_bytes(), now);
        self.begin_statement(status::ADMIN_COMMANDS, false);
        let r = self.use_db(db);
        self.process.end(self.instance.processes.now());
        match r {
            Ok(()) => Ok(()),
            Err(e) => self.fail(e),
        }
    }

    /// COM_RESET_CONNECTION: rolls back, forgets variables and prepared statements; keeps user and default database.
    pub fn reset(&mut self) -> SqlResult<()> {
        self.process.counters.add(status::ADMIN_COMMANDS, 1);
        let now = self.instance.processes.now();
        self.process.begin(Command::ResetConnection, b"", now);
        self.forget();
        let (cs, coll) = charset::from_handshake(self.client.collation);
        self.set_names(cs, coll);
        self.refresh_settings();
        self.process.end(self.instance.processes.now());
        Ok(())
    }

    fn forget(&mut self) {
        self.rollback_open();
        self.next = NextTransaction::default();
        let n = self.prepared.len() as u64;
        self.prepared.clear();
        self.instance
            .prepared_statements
            .fetch_sub(n, Ordering::Relaxed);
        self.vars.reset();
        self.env.clear_conditions();
        self.env.last_insert_id = 0;
        self.env.row_count = 0;
        self.env.found_rows = 0;
        self.release = false;
    }

    /// COM_CHANGE_USER: as a reset, then goes on as another, already authenticated user.
    pub fn change_user(&mut self, client: ConnectOptions) -> SqlResult<()> {
        self.process.counters.add(status::ADMIN_COMMANDS, 1);
        let now = self.instance.processes.now();
        self.process.begin(Command::ChangeUser, b"", now);
        let r = self.become_user(client);
        self.process.end(self.instance.processes.now());
        r
    }

    fn become_user(&mut self, client: ConnectOptions) -> SqlResult<()> {
        self.forget();
        let acl = self.instance.acl();
        let Some(account) = acl.get(&client.account_user, &client.account_host).cloned() else {
            return Err(access_denied(&client, false));
        };
        self.acl = acl;
        self.account = account;
        self.multi_statements = client.multi_statements;
        self.client = ConnectOptions {
            killer: self.client.killer.clone(),
            ..client
        };
        *self.process.identity.lock() = identity(&self.client);
        self.start_as_client()
    }

    /// COM_SET_OPTION.
    pub fn set_multi_statements(&mut self, on: bool) {
        self.multi_statements = on;
    }

    /// Current server status flags ([`flags`]).
    pub fn status_flags(&self) -> u16 {
        let mut f = 0;
        if self.settings.autocommit {
            f |= flags::AUTOCOMMIT;
        }
        if let Some(o) = &self.open {
            f |= flags::IN_TRANS;
            if o.read_only {
                f |= flags::IN_TRANS_READONLY;
            }
        }
        if self.settings.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES) {
            f |= flags::NO_BACKSLASH_ESCAPES;
        }
        f
    }

    /// True if the connection is to end after this statement (RELEASE, KILL).
    pub fn wants_to_end(&self) -> bool {
        self.release || self.process.killed.load(Ordering::Relaxed)
    }

    /// The network timeouts as they are now.
    pub fn timeouts(&self) -> SessionTimeouts {
        let s = |name: &str| Duration::from_secs(self.vars.value(name).as_u64());
        SessionTimeouts {
            idle: s("wait_timeout"),
            net_read: s("net_read_timeout"),
            net_write: s("net_write_timeout"),
        }
    }

    /// COM_STATISTICS: one line.
    pub fn statistics(&mut self) -> String {
        self.process.counters.add(status::ADMIN_COMMANDS, 1);
        crate::show::server::statistics(&self.instance)
    }

    /// COM_PROCESS_KILL: as KILL CONNECTION.
    pub fn kill(&mut self, id: u32) -> SqlResult<()> {
        self.process.counters.add(status::ADMIN_COMMANDS, 1);
        self.kill_process(u64::from(id), false)
    }

    /// Does `KILL QUERY` to this session from another thread.
    pub fn interrupt_handle(&self) -> impl Fn() + Send + Sync + 'static {
        let p = self.process.clone();
        move || p.interrupt.store(true, Ordering::SeqCst)
    }

    // ---- statements ----

    /// Starts a statement: counts it, takes its time, clears what belongs to the one before.
    pub(crate) fn begin_statement(&mut self, counter: usize, keep_diagnostics: bool) {
        let c = &self.process.counters;
        c.add(status::QUESTIONS, 1);
        c.add(counter, 1);
        if !keep_diagnostics {
            self.env.clear_conditions();
        }
        let fixed = self.vars.fixed_micros.load(Ordering::Relaxed);
        self.env.now_micros = if fixed != 0 { fixed } else { unix_micros() };
        self.vars
            .now_micros
            .store(self.env.now_micros, Ordering::Relaxed);
        // A KILL QUERY that came when nothing ran is void; a KILL CONNECTION is not.
        if self.process.interrupt.load(Ordering::Relaxed)
            && !self.process.killed.load(Ordering::Relaxed)
        {
            self.process.interrupt.store(false, Ordering::Relaxed);
            self.process.timed_out.store(false, Ordering::Relaxed);
        }
        if self.settings.statement_time_micros > 0 {
            self.process.deadline.store(
                self.instance.processes.now() + self.settings.statement_time_micros,
                Ordering::Release,
            );
        }
    }

    /// Ends a failed statement: its error goes into the diagnostics area, its number may be changed.
    pub(crate) fn fail<T>(&mut self, mut e: SqlError) -> SqlResult<T> {
        // The statement may itself have changed max_statement_time: the deadline is what counts.
        self.process.deadline.store(0, Ordering::Release);
        if e.code == 1317 && self.process.timed_out.swap(false, Ordering::SeqCst) {
            self.process.counters.add(status::STATEMENT_TIMEOUTS, 1);
            e = SqlError::new(
                1969,
                b"70100",
                "Query execution was interrupted (max_statement_time exceeded)",
            );
        }
        self.env
            .push_condition(WarningLevel::Error, e.code, e.message.clone());
        self.env.row_count = -1;
        self.publish_results();
        Err(e)
    }

    /// Makes the statement's results visible to variables of the next one.
    fn publish_results(&mut self) {
        let warnings = self.env.warning_count();
        self.vars.warning_count.store(warnings, Ordering::Relaxed);
        let errors = if warnings == 0 {
            0
        } else {
            self.env
                .conditions()
                .iter()
                .filter(|c| c.level == WarningLevel::Error)
                .count() as u64
        };
        self.vars.error_count.store(errors, Ordering::Relaxed);
        self.vars
            .last_insert_id
            .store(self.env.last_insert_id, Ordering::Relaxed);
        self.vars
            .in_transaction
            .store(self.open.is_some(), Ordering::Relaxed);
    }

    fn end_success(&mut self) {
        if self.process.deadline.load(Ordering::Relaxed) != 0 {
            self.process.deadline.store(0, Ordering::Release);
        }
        self.publish_results();
    }

    /// Ends a statement without a result set.
    pub(crate) fn finish_ok(
        &mut self,
        affected: u64,
        last_insert_id: u64,
        info: String,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        self.env.row_count = affected as i64;
        self.end_success();
        out.ok(
            &OkInfo {
                affected_rows: affected,
                last_insert_id,
                warnings: u16::try_from(self.env.warning_count()).unwrap_or(u16::MAX),
                info,
            },
            self.status_flags(),
            more,
        )
    }

    /// Ends a statement whose rows have been sent.
    pub(crate) fn finish_rows(
        &mut self,
        rows: u64,
        found_rows: u64,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        self.env.row_count = -1;
        self.env.found_rows = found_rows;
        self.process.counters.add(status::ROWS_SENT, rows);
        self.end_success();
        out.end_rows(
            u16::try_from(self.env.warning_count()).unwrap_or(u16::MAX),
            self.status_flags(),
            more,
        )
    }

    fn parse(&self, code: &str) -> SqlResult<Stmt> {
        narwal_sql::parse_statement(
            code,
            &ParseOptions {
                sql_mode: self.env.sql_mode,
            },
        )
    }

    /// Binds, plans and checks privileges.
    fn plan(&mut self, stmt: &Stmt, text: &str) -> SqlResult<Prepared> {
        let db = self.instance.database();
        let catalog = db.catalog();
        let plan = match Prepared::new(stmt, text, db, &catalog, &self.env, None) {
            Ok(p) => p,
            Err(e) => {
                // Who may not see a table is not told whether it exists.
                if matches!(e.code, 1146 | 1054 | 1049)
                    && let Some((db, table)) = first_table(stmt, &self.env)
                {
                    if is_virtual(&db) {
                        return Err(SqlError::unsupported(format!("{db}.{table}")));
                    }
                    self.check_sees_table(&db, &table)?;
                }
                return Err(e);
            }
        };
        self.check_needs(plan.needs())?;
        self.check_columns_read(stmt)?;
        Ok(plan)
    }

    fn check_sees_table(&mut self, db: &str, table: &str) -> SqlResult<()> {
        let host = self.client.host.clone();
        let account = self.account();
        if account.on_table(db, table).is_empty() {
            return Err(acl::table_denied("SELECT", &account, &host, db, table));
        }
        Ok(())
    }

    /// Fails unless the account has what a statement needs.
    fn check_needs(&mut self, needs: &[Needs]) -> SqlResult<()> {
        if needs.is_empty() {
            return Ok(());
        }
        let account = self.account();
        for (i, n) in needs.iter().enumerate() {
            if is_virtual(&n.db) {
                continue;
            }
            let wanted = PrivilegeSet::from(n.privilege);
            if account.global.has(wanted) {
                continue;
            }
            if n.table.is_empty() {
                if !account.on_database(&n.db).has(wanted) {
                    return Err(acl::database_denied(&account, &self.client.host, &n.db));
                }
                continue;
            }
            let have = account.on_table(&n.db, &n.table);
            if have.has(wanted) {
                continue;
            }
            // All that is missing for this table, in MariaDB's order.
            let missing = needs[i..]
                .iter()
                .filter(|m| m.db == n.db && m.table == n.table)
                .map(|m| PrivilegeSet::from(m.privilege))
                .filter(|p| !have.has(*p))
                .fold(PrivilegeSet::NONE, PrivilegeSet::with);
            return Err(acl::table_denied(
                &missing.names().join(", "),
                &account,
                &self.client.host,
                &n.db,
                &n.table,
            ));
        }
        Ok(())
    }

    /// UPDATE and DELETE that read columns need SELECT too: else their effects would tell what may not be seen.
    fn check_columns_read(&mut self, stmt: &Stmt) -> SqlResult<()> {
        if self.account.global.has(PrivilegeSet::SELECT) {
            return Ok(());
        }
        let Some(column) = crate::reads::column_read(stmt) else {
            return Ok(());
        };
        let Some((db, table)) = first_table(stmt, &self.env) else {
            return Ok(());
        };
        let account = self.account();
        if account.on_table(&db, &table).has(PrivilegeSet::SELECT) {
            return Ok(());
        }
        let host = &self.client.host;
        Err(match column {
            Some(c) => SqlError::new(
                1143,
                b"42000",
                format!(
                    "SELECT command denied to user '{}'@'{host}' for column '{c}' in table '{table}'",
                    account.user
                ),
            ),
            None => acl::table_denied("SELECT", &account, host, &db, &table),
        })
    }

    /// The session's account as it is now. An account that was dropped while its session lives has no privileges.
    pub(crate) fn account(&mut self) -> Arc<Account> {
        let version = self.instance.database().catalog_version();
        if self.acl.version != version {
            self.acl = self.instance.acl();
            self.account = self
                .acl
                .get(&self.client.account_user, &self.client.account_host)
                .cloned()
                .unwrap_or_else(|| {
                    Arc::new(Account::new(
                        &self.client.account_user,
                        &self.client.account_host,
                    ))
                });
        }
        self.account.clone()
    }

    /// Error 1227 unless the account has at least one of the global privileges.
    pub(crate) fn need_any(&mut self, any_of: PrivilegeSet) -> SqlResult<()> {
        if self.account().global.has_any(any_of) {
            Ok(())
        } else {
            Err(acl::privilege_needed(any_of))
        }
    }

    fn run_text(&mut self, text: &str, out: &mut dyn ResultSink, more: bool) -> SqlResult<()> {
        let no_backslash = self.env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
        let code = unwrap(text, no_backslash);
        let code: &str = trim(&code);
        if code.is_empty() {
            self.begin_statement(status::ADMIN_COMMANDS, false);
            return self.fail(empty_query());
        }
        if admin_parse::is_admin(code) {
            return match admin_parse::parse(code, self.lex_options()) {
                Ok(a) => self.run_admin(&a, text, out, more),
                Err(e) => {
                    self.begin_statement(status::ADMIN_COMMANDS, false);
                    self.fail(e)
                }
            };
        }
        let stmt = match self.parse(code) {
            Ok(s) => s,
            Err(e) => {
                self.begin_statement(status::ADMIN_COMMANDS, false);
                return self.fail(e);
            }
        };
        let counter = status::index(stmt.counter()).unwrap_or(status::ADMIN_COMMANDS);
        self.begin_statement(counter, keeps_diagnostics(&stmt));
        if let Stmt::Ddl(d) = &stmt {
            return self.run_ddl(d, text, out, more);
        }
        let plan = match self.plan(&stmt, text) {
            Ok(p) => p,
            Err(e) => return self.fail(e),
        };
        if plan.params() > 0 {
            return self.fail(crate::lex::syntax_near(code, code.find('?').unwrap_or(0)));
        }
        self.run_plan(&plan, stmt.writes(), text, &[], out, more)
    }

    /// Runs a planned statement in the open transaction, or in one of its own.
    fn run_plan(
        &mut self,
        plan: &Prepared,
        writes: bool,
        text: &str,
        params: &[Value],
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        self.process.stage(Stage::Executing);
        if writes && let Err(e) = self.check_writable() {
            return self.fail(e);
        }
        let tableless = plan.is_tableless();
        let mut earlier = Vec::new();
        if tableless && self.env.warning_count() > 0 {
            earlier = self.env.conditions().clone();
            self.env.clear_conditions();
        }
        let kept = self.open.is_some() || (!self.settings.autocommit && !tableless);
        let mut open = match self.open.take() {
            Some(o) => o,
            None => self.begin_transaction(None),
        };
        self.env.locking_reads = kept && open.isolation == Isolation::Serializable;
        if !tableless {
            let annotate = (writes && self.settings.annotate).then_some(text.as_bytes());
            open.txn.begin_statement(self.env.timestamp(), annotate);
        }
        let r = narwal_sql::execute(
            plan,
            params,
            &mut open.txn,
            self.instance.database(),
            &mut self.env,
            out,
        );
        let outcome = match r {
            // SLEEP() ends early when its statement is killed; the statement fails all the same.
            Ok(Outcome::Rows { .. }) if self.process.interrupt.load(Ordering::Relaxed) => {
                if !tableless {
                    open.txn.rollback_statement();
                }
                if kept {
                    self.open = Some(open);
                }
                return self.fail(SqlError::new(
                    1317,
                    b"70100",
                    "Query execution was interrupted",
                ));
            }
            Ok(outcome) => {
                if !tableless {
                    open.txn.end_statement();
                }
                outcome
            }
            Err(e) => {
                self.process.stage(Stage::Rollback);
                if rolls_back_transaction(e.code) {
                    // A deadlock's victim and the loser of a write conflict lose the whole transaction.
                    open.txn.rollback();
                    self.explicit = false;
                    self.process.counters.add(status::ROLLBACKS, 1);
                } else {
                    if !tableless {
                        open.txn.rollback_statement();
                    }
                    if kept {
                        self.open = Some(open);
                    }
                }
                return self.fail(e);
            }
        };
        if kept {
            self.open = Some(open);
        } else if !open.txn.is_read_only() {
            self.process.stage(Stage::Commit);
            if let Err(e) = self.commit_transaction(open.txn) {
                return self.fail(e);
            }
        } else {
            drop(open);
        }
        if self.env.warning_count() == 0 {
            for c in earlier {
                self.env.push_condition(c.level, c.code, c.message);
            }
        }
        let set = self.env.last_insert_id_set.take();
        match outcome {
            Outcome::Rows { rows, found_rows } => {
                if let Some(id) = set {
                    self.env.last_insert_id = id;
                }
                self.finish_rows(rows, found_rows, out, more)
            }
            Outcome::Done {
                affected,
                last_insert_id,
                info,
            } => {
                let mut reported = last_insert_id;
                if last_insert_id != 0 {
                    self.env.last_insert_id = last_insert_id;
                } else if let Some(id) = set {
                    self.env.last_insert_id = id;
                    reported = id;
                }
                self.finish_ok(affected, reported, info, out, more)
            }
        }
    }

    /// Errors 1792 and 1290.
    fn check_writable(&mut self) -> SqlResult<()> {
        let read_only = match &self.open {
            Some(o) => o.read_only,
            None => self.next.read_only.unwrap_or(self.settings.read_only),
        };
        self.refuse_write(read_only)
    }

    /// The same for statements that commit first: an open READ ONLY transaction, or one that SET TRANSACTION announced,
    /// is over then; only the session's own setting counts.
    pub(crate) fn check_ddl_writable(&mut self) -> SqlResult<()> {
        self.next = NextTransaction::default();
        self.refuse_write(self.settings.read_only)
    }

    fn refuse_write(&mut self, read_only: bool) -> SqlResult<()> {
        if read_only {
            return Err(SqlError::new(
                1792,
                b"25006",
                "Cannot execute statement in a READ ONLY transaction",
            ));
        }
        if self.instance.read_only.load(Ordering::Relaxed)
            && !self.account().global.has(PrivilegeSet::READ_ONLY_ADMIN)
        {
            return Err(SqlError::new(
                1290,
                b"HY000",
                "The MariaDB server is running with the --read-only option so it cannot execute this statement",
            ));
        }
        Ok(())
    }

    fn run_ddl(
        &mut self,
        ddl: &DdlStmt,
        text: &str,
        out: &mut dyn ResultSink,
        more: bool,
    ) -> SqlResult<()> {
        match self.ddl(ddl, text) {
            Ok(Outcome::Done { affected, info, .. }) => {
                self.finish_ok(affected, 0, info, out, more)
            }
            Ok(Outcome::Rows { rows, found_rows }) => self.finish_rows(rows, found_rows, out, more),
            Err(e) => self.fail(e),
        }
    }

    fn ddl(&mut self, ddl: &DdlStmt, text: &str) -> SqlResult<Outcome> {
        let needs = narwal_sql::ddl_needs(ddl, &self.env)?;
        self.check_needs(&needs)?;
        self.implicit_commit()?;
        self.check_ddl_writable()?;
        self.process.stage(Stage::Ddl);
        let options = self.txn_options(self.settings.isolation, false);
        let outcome =
            narwal_sql::execute_ddl(ddl, text, self.instance.database(), &options, &self.env)?;
        if let DdlStmt::DropDatabase { name, .. } = ddl
            && self.env.db.as_deref() == Some(name.as_str())
        {
            self.set_db(None);
        }
        Ok(outcome)
    }

    // ---- default database ----

    pub(crate) fn set_db(&mut self, db: Option<Arc<str>>) {
        self.env.db = db.clone();
        *self.vars.db.lock() = db.clone();
        self.process.identity.lock().db = db;
    }

    /// USE.
    pub(crate) fn use_db(&mut self, db: &str) -> SqlResult<()> {
        if is_virtual(db) {
            self.set_db(Some("information_schema".into()));
            return Ok(());
        }
        let account = self.account();
        if !account.sees_database(db) {
            return Err(acl::database_denied(&account, &self.client.host, db));
        }
        if self.instance.database().catalog().database(db).is_none() {
            return Err(unknown_database(db));
        }
        self.set_db(Some(db.into()));
        Ok(())
    }

    // ---- transactions ----

    pub(crate) fn txn_options(&self, isolation: Isolation, read_only: bool) -> TxnOptions {
        TxnOptions {
            isolation,
            read_only,
            lock_wait_timeout: Some(self.settings.lock_wait_timeout),
            interrupt: Some(self.process.interrupt.clone()),
            thread_id: self.client.id,
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

    fn commit_transaction(&mut self, txn: Transaction) -> SqlResult<()> {
        let info = txn.commit()?;
        self.process.counters.add(status::COMMITS, 1);
        if !info.gtid.is_empty() {
            *self.vars.last_gtid.lock() = info.gtid;
        }
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

impl Drop for ClientSession {
    fn drop(&mut self) {
        self.rollback_open();
        let n = self.prepared.len() as u64;
        self.instance
            .prepared_statements
            .fetch_sub(n, Ordering::Relaxed);
        self.instance.processes.remove(self.client.id);
        self.process.counters.add_to(&self.instance.retired);
    }
}

fn identity(client: &ConnectOptions) -> Identity {
    Identity {
        user: client.user.clone(),
        host: if client.port == 0 {
            client.host.clone()
        } else {
            format!("{}:{}", client.host, client.port)
        },
        db: None,
    }
}

/// Error 1045.
pub(crate) fn access_denied(client: &ConnectOptions, password: bool) -> SqlError {
    SqlError::new(
        1045,
        b"28000",
        format!(
            "Access denied for user '{}'@'{}' (using password: {})",
            client.user,
            client.host,
            if password { "YES" } else { "NO" }
        ),
    )
}

/// Error 1049.
pub(crate) fn unknown_database(db: &str) -> SqlError {
    SqlError::new(1049, b"42000", format!("Unknown database '{db}'"))
}

fn empty_query() -> SqlError {
    SqlError::new(1065, b"42000", "Query was empty")
}

/// True for `information_schema`, which everyone may see; it has no tables yet.
pub(crate) fn is_virtual(db: &str) -> bool {
    db.eq_ignore_ascii_case("information_schema")
}

/// Errors after which the whole transaction is gone.
fn rolls_back_transaction(code: u16) -> bool {
    matches!(code, 1213 | 1020)
}

/// True for a SELECT without a table: unless it has conditions of its own, those of the statement before stay, so that
/// `SELECT @@warning_count` can see them.
fn keeps_diagnostics(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Select(s) if s.from.is_none())
}

/// Database and table that a statement is about.
fn first_table(stmt: &Stmt, env: &StatementEnv) -> Option<(String, String)> {
    let name = match stmt {
        Stmt::Select(s) => &s.from.as_ref()?.name,
        Stmt::Insert(i) => &i.table,
        Stmt::Update(u) => &u.table.name,
        Stmt::Delete(d) => &d.table.name,
        Stmt::Explain(inner) => return first_table(inner, env),
        Stmt::ChecksumTable(_) | Stmt::Do(_) | Stmt::Ddl(_) => return None,
    };
    let db = name
        .db
        .clone()
        .or_else(|| env.db.as_deref().map(String::from))?;
    Some((db, name.name.clone()))
}

fn has_placeholder(code: &str, opts: LexOptions) -> bool {
    crate::lex::tokens(code, opts).is_ok_and(|t| {
        t.iter()
            .any(|t| matches!(t.tok, crate::lex::Tok::Punct(b'?')))
    })
}

/// Executable comments become code; other comments are the parsers' business.
fn unwrap(text: &str, no_backslash: bool) -> std::borrow::Cow<'_, str> {
    if text.contains("/*") {
        narwal_sql::unwrap_comments(text, no_backslash)
    } else {
        std::borrow::Cow::Borrowed(text)
    }
}

fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\0' || c == '\u{b}')
}

fn utf8(sql: &[u8]) -> SqlResult<&str> {
    std::str::from_utf8(sql).map_err(|e| {
        let bad = &sql[e.valid_up_to()..];
        let shown: String = bad.iter().take(6).map(|b| format!("\\x{b:02X}")).collect();
        SqlError::new(
            1300,
            b"HY000",
            format!("Invalid utf8mb4 character string: '{shown}'"),
        )
    })
}

fn unix_micros() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| d.as_micros() as i64)
}
