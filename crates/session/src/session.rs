//! One client's session: from statement text to result.

use crate::acl;
use crate::acl::Account;
use crate::charset;
use crate::client::ConnectOptions;
use crate::clock::unix_micros;
use crate::instance::Instance;
use crate::late_answers::LateAnswers;
use crate::locks::SessionLocks;
use crate::open_transaction::NextTransaction;
use crate::plan_cache::TextPlans;
use crate::privileges::PrivilegeSet;
use crate::process::{Identity, Process};
use crate::session_rights::SessionRights;
use crate::session_transaction::SessionTransaction;
use crate::session_vars::SessionVars;
use crate::settings::Settings;
use crate::slots::PreparedStatements;
use crate::tracker::Tracker;
use crate::variables::VarValue;
use narwal_sql::{FreshInsertId, StatementEnv};
use narwal_types::errors;
use narwal_types::{Charset, Collation, SqlError, SqlResult, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A client's session. One thread at a time.
pub struct ClientSession {
    pub(crate) instance: Arc<Instance>,
    pub(crate) process: Arc<Process>,
    pub(crate) vars: Arc<SessionVars>,
    pub(crate) env: StatementEnv,
    pub(crate) settings: Settings,
    pub(crate) tx: SessionTransaction,
    pub(crate) rights: SessionRights,
    pub(crate) client: ConnectOptions,
    pub(crate) multi_statements: bool,
    pub(crate) prepared: PreparedStatements,
    /// Rises when a setting changes that plans depend on.
    pub(crate) plan_generation: u64,
    /// ROLLBACK RELEASE or KILL of itself: the connection is to end after this statement.
    pub(crate) release: bool,
    /// So many conditions at the head of the diagnostics area are those of the statement before.
    pub(crate) inherited: usize,
    /// How often conditions had been cleared when those of the statement before were taken out.
    pub(crate) clears: u64,
    pub(crate) values: Vec<Value>,
    /// Plans of statements that come as text.
    pub(crate) text_plans: TextPlans,
    /// The group that an applier runs in this session.
    pub(crate) applying: Option<crate::applying::Applying>,
    /// How the events are written that BINLOG brings; `None` before a format description event.
    pub(crate) replay_format: Option<crate::replay_format::ReplayFormat>,
    /// The session is an applier's: its account is not one of the accounts.
    pub(crate) internal: bool,
    pub(crate) locks: SessionLocks,
    /// Answers to commits that others send.
    pub(crate) late: LateAnswers,
    /// What the client is told of the session with its answers.
    pub(crate) track: Tracker,
    /// Stored programs, compiled.
    pub(crate) programs: Arc<crate::programs::SessionPrograms>,
    /// Rows that the program's statements have changed so far.
    pub(crate) program_rows: u64,
    /// So many programs run within each other.
    pub(crate) in_program: u32,
    /// Prepared statements that run: none of them begins again.
    pub(crate) executing: Vec<u32>,
    /// Of a CALL that is executed: which of its arguments are `?`, and which `?` each is.
    pub(crate) call_params: Option<Vec<Option<usize>>>,
    /// What the CALL that was executed last has given to its `?`.
    pub(crate) out_values: Vec<Option<Value>>,
    /// The statement was prepared by the protocol: OUT parameters are a result of their own.
    pub(crate) by_protocol: bool,
    /// `character_set_results`, with the collation that results are described with.
    pub(crate) results: Option<Collation>,
}

impl ClientSession {
    pub(crate) fn new(instance: Arc<Instance>, client: ConnectOptions) -> SqlResult<ClientSession> {
        let acl = instance.acl();
        let Some(account) = acl.get(&client.account_user, &client.account_host).cloned() else {
            return Err(access_denied(&client, false));
        };
        Self::with_account(instance, client, account, None)
    }

    /// A session for an applier, whose account is not one of the accounts.
    pub(crate) fn for_applier(
        instance: Arc<Instance>,
        client: ConnectOptions,
        account: Arc<Account>,
        interrupt: Arc<AtomicBool>,
    ) -> SqlResult<ClientSession> {
        Self::with_account(instance, client, account, Some(interrupt))
    }

    fn with_account(
        instance: Arc<Instance>,
        client: ConnectOptions,
        account: Arc<Account>,
        interrupt: Option<Arc<AtomicBool>>,
    ) -> SqlResult<ClientSession> {
        let acl = instance.acl();
        let internal = interrupt.is_some();
        let mut process = Process::new(client.id, identity(&client), client.killer.clone());
        if let Some(interrupt) = interrupt {
            process.interrupt = interrupt;
        }
        if !internal {
            process.memory = crate::process::MemoryFacts::of_this_thread();
        }
        let process = Arc::new(process);
        let vars = Arc::new(SessionVars::new(instance.clone(), client.id));
        let programs =
            crate::programs::SessionPrograms::new(instance.database().clone(), vars.clone());
        let programs = Arc::new(programs);
        let mut env = StatementEnv::new(vars.clone());
        env.status_counts = process.counters.rows.clone();
        env.insert_id = vars.facts.insert_id.clone();
        env.rand_seeds = vars.facts.rand_seeds.clone();
        env.programs = Some(programs.clone());
        env.tmp_dir = std::path::Path::new(&vars.value("tmpdir").show()).into();
        env.connection_id = u64::from(client.id);
        env.interrupt = process.interrupt.clone();
        env.version = instance.version().clone();
        env.applies = internal;
        if !internal {
            instance.processes.add(process.clone());
        }
        let mut s = ClientSession {
            multi_statements: client.multi_statements,
            settings: Settings::default(),
            instance,
            process,
            vars,
            env,
            tx: SessionTransaction::default(),
            rights: SessionRights::new(acl, account),
            client,
            prepared: PreparedStatements::default(),
            plan_generation: 0,
            release: false,
            inherited: 0,
            clears: 0,
            values: Vec::new(),
            text_plans: TextPlans::default(),
            applying: None,
            replay_format: None,
            internal,
            locks: SessionLocks::default(),
            late: LateAnswers::default(),
            track: Tracker::default(),
            programs,
            program_rows: 0,
            in_program: 0,
            executing: Vec::new(),
            call_params: None,
            out_values: Vec::new(),
            by_protocol: false,
            results: Some(Collation::default()),
        };
        s.start_as_client()?;
        Ok(s)
    }

    /// What a new or changed user starts with: names, character set, default database.
    pub(crate) fn start_as_client(&mut self) -> SqlResult<()> {
        self.check_expired()?;
        self.count_connection()?;
        self.env.user = format!("{}@{}", self.client.user, self.client.host).into();
        self.env.current_user =
            format!("{}@{}", self.client.account_user, self.client.account_host).into();
        self.start_role();
        self.env.client_found_rows = self.client.found_rows;
        self.set_names(charset::from_handshake(self.client.collation));
        if self.client.interactive {
            let v = self.vars.value("interactive_timeout");
            self.vars.set_by_name("wait_timeout", v);
        }
        self.limit_statements();
        self.set_db(None);
        self.track.start(self.client.session_track);
        self.refresh_settings();
        if let Some(db) = self.client.db.clone().filter(|d| !d.is_empty()) {
            self.use_db(&db)?;
        }
        Ok(())
    }

    /// Errors 1203 and 1226: the account has as many connections as it may have.
    fn count_connection(&mut self) -> SqlResult<()> {
        if self.internal {
            return Ok(());
        }
        // Another user's connection ends here.
        self.rights.connected = None;
        let (a, resources) = (&self.rights.account, &self.instance.resources);
        let most = self.instance.global_value("max_user_connections").as_u64();
        let above = a.global.has(PrivilegeSet::CONNECTION_ADMIN);
        self.rights.connected =
            Some(resources.connect((&a.user, &a.host), &a.limits, most, above)?);
        Ok(())
    }

    /// MAX_STATEMENT_TIME and MAX_USER_CONNECTIONS of the account are the session's variables.
    fn limit_statements(&mut self) {
        let limits = self.rights.account.limits;
        if limits.statement_micros > 0 {
            let seconds = VarValue::text(limits.seconds());
            self.vars.set_by_name("max_statement_time", seconds);
        }
        if let Ok(n @ 1..) = u64::try_from(limits.user_connections) {
            let most = VarValue::text(n.to_string());
            self.vars.set_by_name("max_user_connections", most);
        }
    }

    /// An expired password lets its owner in to change it, or not at all.
    fn check_expired(&mut self) -> SqlResult<()> {
        let days = self
            .instance
            .global_value("default_password_lifetime")
            .as_u64();
        let now = unix_micros() / 1_000_000;
        self.rights.must_change_password =
            !self.internal && self.rights.account.password_expired(now, days);
        if self.rights.must_change_password
            && !self.client.handles_expired
            && self
                .instance
                .global_value("disconnect_on_expired_password")
                .as_bool()
        {
            return Err(errors::MUST_CHANGE_PASSWORD_LOGIN.plain());
        }
        Ok(())
    }

    /// SET NAMES.
    pub(crate) fn set_names(&mut self, collation: Collation) {
        let charset = collation.charset().name();
        self.results = Some(collation);
        self.track.results_changed();
        for (name, value) in [
            ("character_set_client", charset),
            ("character_set_results", charset),
            ("character_set_connection", charset),
            ("collation_connection", collation.name()),
        ] {
            self.vars.set_by_name(name, VarValue::text(value));
            self.track.variable_named(name);
        }
    }

    /// Takes over the session variables after they changed.
    pub(crate) fn refresh_settings(&mut self) {
        self.vars.fill(&mut self.settings);
        let s = &self.settings;
        if s.sql_mode != self.env.sql_mode
            || s.time_zone != self.env.time_zone
            || s.collation != self.env.collation
            || s.div_precision != self.env.div_precision
            || s.regex_options != self.env.regex_options
            || s.zero_dates != self.env.zero_dates
        {
            self.plan_generation += 1;
        }
        if s.results != self.results.map(Collation::charset) {
            self.results = s.results.map(Charset::default_collation);
            self.track.results_changed();
        }
        if let Some(o) = &mut self.tx.open {
            o.txn.set_row_image(s.row_image);
        }
        let env = &mut self.env;
        s.bounds_of(env);
        env.sql_mode = s.sql_mode;
        env.time_zone = s.time_zone;
        env.collation = s.collation;
        env.server_collation = s.server_collation;
        narwal_memory::set_session_limit(i64::try_from(s.memory).unwrap_or(i64::MAX));
        narwal_sql::limit_spill(s.spill);
        self.track.configure(&s.track);
        if s.statement_time_micros > 0 {
            self.instance.start_watchdog();
        }
    }

    // ---- what the protocol front calls ----

    pub(crate) fn forget(&mut self) {
        self.forget_xa();
        self.rollback_open();
        self.tx.reader = None;
        if self.env.temporary.take().is_some() {
            // Names mean other tables now.
            self.plan_generation += 1;
        }
        self.env.handlers.clear();
        self.release_table_locks();
        self.release_global_read_lock();
        self.release_backup_locks();
        self.tx.next = NextTransaction::default();
        let n = self.prepared.len() as u64;
        self.prepared.clear();
        self.text_plans.clear();
        self.instance.named_locks.release_all(self.client.id);
        self.instance
            .prepared_statements
            .fetch_sub(n, Ordering::Relaxed);
        self.vars.reset();
        self.env.clear_conditions();
        self.env.last_insert_id = 0;
        self.env.fresh_insert_id = FreshInsertId::default();
        self.env.row_count = 0;
        self.env.found_rows = 0;
        self.release = false;
    }

    // ---- default database ----

    pub(crate) fn set_db(&mut self, db: Option<Arc<str>>) {
        self.env.db = db.clone();
        self.track.schema();
        *self.vars.db.lock() = db.clone();
        *self.vars.said_db_collation.lock() = None;
        self.process.identity.lock().db = db;
    }

    /// Takes another default database for a while: a program has its own, and so has a prepared statement.
    /// [`Self::come_back`] ends it.
    pub(crate) fn stand_in(&mut self, db: Option<Arc<str>>) -> Away {
        *self.vars.db.lock() = db.clone();
        Away {
            db: std::mem::replace(&mut self.env.db, db),
            catalog: self.instance.database().catalog_version(),
        }
    }

    /// Takes the default database again that was there before [`Self::stand_in`], if it is still there.
    pub(crate) fn come_back(&mut self, away: Away) {
        let db = self.instance.database();
        let catalog = db.catalog();
        let gone = |name: &str| {
            catalog.database(name).is_none()
                && crate::system_schemas::system_schema(&catalog, name).is_none()
        };
        let changed = db.catalog_version() != away.catalog;
        let db = away.db.filter(|name| !changed || !gone(name));
        (*self.vars.db.lock()).clone_from(&db);
        self.env.db = db;
    }

    /// USE.
    pub(crate) fn use_db(&mut self, db: &str) -> SqlResult<()> {
        if db.is_empty() {
            return Err(errors::NO_DB_ERROR.plain());
        }
        if is_virtual(db) {
            self.set_db(Some(db.to_ascii_lowercase().into()));
            return Ok(());
        }
        let account = self.account();
        if !account.sees_database(db) {
            return Err(acl::database_denied(&account, db));
        }
        let catalog = self.instance.database().catalog();
        let system = crate::system_schemas::system_schema(&catalog, db);
        if system.is_none() && catalog.database(db).is_none() {
            return Err(unknown_database(db));
        }
        self.set_db(Some(system.unwrap_or(db).into()));
        Ok(())
    }
}

impl Drop for ClientSession {
    fn drop(&mut self) {
        if !self.internal {
            self.instance.audit_client("disconnect", &self.client, None);
        }
        self.forget_xa();
        self.rollback_open();
        self.release_table_locks();
        self.release_global_read_lock();
        self.release_backup_locks();
        let n = self.prepared.len() as u64;
        self.instance
            .prepared_statements
            .fetch_sub(n, Ordering::Relaxed);
        narwal_memory::settle();
        self.instance.named_locks.release_all(self.client.id);
        self.instance.source().disconnected(self.client.id);
        if !self.internal {
            self.instance.processes.remove(self.client.id);
        }
        self.process.counters.add_to(&self.instance.retired);
    }
}

pub(crate) fn identity(client: &ConnectOptions) -> Identity {
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
    errors::ACCESS_DENIED_ERROR.with([
        &client.user,
        &client.host,
        &(if password { "YES" } else { "NO" }),
    ])
}

/// The default database that a session has left for a while.
pub(crate) struct Away {
    db: Option<Arc<str>>,
    /// The catalog's version when it left.
    catalog: u64,
}

/// Error 1049.
pub(crate) fn unknown_database(db: &str) -> SqlError {
    errors::BAD_DB_ERROR.with([&db])
}

/// True for `information_schema`, which everyone may see, and for what MySQL has beside it. Their tables show what the
/// account may see.
pub(crate) fn is_virtual(db: &str) -> bool {
    db.eq_ignore_ascii_case("information_schema")
        || (narwal_types::face::is_mysql() && db.eq_ignore_ascii_case("performance_schema"))
}
