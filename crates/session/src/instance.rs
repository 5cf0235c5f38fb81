//! What all sessions of a server share: the database, global variables, accounts, the process list, counters.

use crate::acl::{Account, Acl};
use crate::archive::ArchiveControl;
use crate::audit::Audit;
use crate::logins::Logins;
use crate::named_locks::NamedLocks;
use crate::plugins::Plugins;
use crate::privileges::PrivilegeSet;
use crate::process::{Killer, ProcessList};
use crate::read_lock::GlobalReadLock;
use crate::replica::{FILTER_VARIABLES, Filters, ReplicaControl, ReplicaFilter};
use crate::session::ClientSession;
use crate::status::{self, Counters};
use crate::table_locks::LockedTables;
use crate::variables::{self, Effect, VARIABLES, VarValue};
use narwal_engine::{
    BinlogFilter, CatalogChange, CommitInfo, Database, Ddl, RowMetadata, TxnOptions,
};
use narwal_replication::{SemiSyncSettings, Source, WaitPoint};
use narwal_types::{SqlError, SqlResult};
use parking_lot::{Mutex, RwLock};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Narwal's own version.
pub const NARWAL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version that clients see: MariaDB's series whose dialect is spoken, and Narwal's own version.
pub fn server_version() -> String {
    format!("10.11.0-MariaDB-narwal-{NARWAL_VERSION}")
}

/// Settings of the command line and of option files, before the server starts.
#[derive(Debug, Clone)]
pub struct Startup {
    values: Vec<VarValue>,
    given: BTreeSet<usize>,
    filter: BinlogFilter,
    /// By connection, in lower case.
    replica_filters: BTreeMap<String, ReplicaFilter>,
    /// Sentences for the log: settings that were accepted but changed or without effect.
    pub warnings: Vec<String>,
}

impl Default for Startup {
    fn default() -> Self {
        Startup {
            values: VARIABLES
                .iter()
                .map(variables::VariableDef::default_value)
                .collect(),
            given: BTreeSet::new(),
            filter: BinlogFilter::default(),
            replica_filters: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }
}

impl Startup {
    /// MariaDB's defaults.
    pub fn new() -> Self {
        Startup::default()
    }

    /// Takes an option. The name may have `-` or `_`, and the prefixes `loose-` (unknown is a warning), `skip-`,
    /// `disable-` and `enable-`. The error is a sentence for the person at the terminal; for an unknown name it
    /// suggests the nearest.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<(), String> {
        let name = name
            .trim_start_matches('-')
            .replace('-', "_")
            .to_ascii_lowercase();
        let (loose, name) = match name.strip_prefix("loose_") {
            Some(n) => (true, n.to_string()),
            None => (false, name),
        };
        if name == "log_bin" && !matches!(value, Some("0" | "OFF" | "off")) {
            self.warnings.push(
                "log-bin has no effect: Narwal's log is its binary log, always on, with names of its own".into(),
            );
            return Ok(());
        }
        // `connection.variable`; without a name it is the default connection's.
        let (connection, variable) = name.rsplit_once('.').unwrap_or(("", &name));
        if FILTER_VARIABLES.contains(&variable) {
            return self
                .replica_filters
                .entry(connection.to_string())
                .or_default()
                .add(variable, value.unwrap_or_default())
                .map_err(|_| {
                    format!(
                        "--{} needs names of the form database.table",
                        name.replace('_', "-")
                    )
                });
        }
        let found = variables::index(&name)
            .map(|i| (i, value))
            .or_else(|| {
                let off = name
                    .strip_prefix("skip_")
                    .or_else(|| name.strip_prefix("disable_"))?;
                variables::index(off).map(|i| (i, Some("OFF")))
            })
            .or_else(|| {
                let on = name.strip_prefix("enable_")?;
                variables::index(on).map(|i| (i, Some("ON")))
            });
        let Some((i, value)) = found else {
            if loose {
                self.warnings.push(format!(
                    "unknown option --{} is ignored (loose)",
                    name.replace('_', "-")
                ));
                return Ok(());
            }
            let hint = variables::nearest(&name)
                .map(|n| format!(". Did you mean --{}?", n.replace('_', "-")))
                .unwrap_or_default();
            return Err(format!("unknown option --{}{hint}", name.replace('_', "-")));
        };
        let d = &VARIABLES[i];
        if matches!(d.effect, Effect::Computed | Effect::State)
            || d.scope == variables::Scope::Session
        {
            return Err(format!(
                "--{} can't be set: it is not a setting",
                d.name.replace('_', "-")
            ));
        }
        let accepted = d.accept_option(value)?;
        if let Some(t) = accepted.truncated {
            self.warnings.push(t);
        }
        if accepted.value != d.default_value() {
            if let Some(reason) = refused_at_start(d.name) {
                return Err(format!(
                    "--{}={} is not supported: {reason}",
                    d.name.replace('_', "-"),
                    accepted.value.show()
                ));
            }
            match d.effect {
                Effect::Fixed => {
                    return Err(format!(
                        "--{}={} is not supported: Narwal has {} only",
                        d.name.replace('_', "-"),
                        accepted.value.show(),
                        d.default
                    ));
                }
                Effect::Inert => self.warnings.push(inert_text(d.name)),
                _ => {}
            }
        }
        if let Some(bad) = crate::plugins::unknown_plugin(accepted.value.as_str())
            && matches!(d.name, "plugin_load" | "plugin_load_add")
        {
            return Err(format!(
                "--{}: Narwal has no plugin {bad} (it has simple_password_check and server_audit)",
                d.name.replace('_', "-")
            ));
        }
        if d.name == "plugin_load_add" {
            let before = self.values[i].show();
            self.values[i] = VarValue::text(format!("{before};{}", accepted.value.show()));
        } else if let Some(list) = filter_list(&mut self.filter, d.name) {
            // Given once for each name: a name may have a comma in it.
            list.push(accepted.value.show());
            self.values[i] = VarValue::text(list.join(","));
        } else {
            if let Some((name, v)) = other_form(d.name, &accepted.value)
                && let Some(other) = variables::index(name)
            {
                self.values[other] = v;
            }
            self.values[i] = accepted.value;
        }
        self.given.insert(i);
        Ok(())
    }

    /// States a fact that the server knows (data folder, port, socket, host name).
    pub fn fact(&mut self, name: &str, value: VarValue) {
        if let Some(i) = variables::index(name) {
            self.values[i] = value;
        }
    }

    /// A value by name; NULL if there is no such variable.
    pub fn get(&self, name: &str) -> VarValue {
        variables::index(name).map_or(VarValue::Null, |i| self.values[i].clone())
    }

    /// True if the option was given.
    pub fn is_given(&self, name: &str) -> bool {
        variables::index(name).is_some_and(|i| self.given.contains(&i))
    }

    /// The settings that the store needs.
    pub fn engine_options(&self) -> narwal_engine::Options {
        let u = |name: &str| self.get(name).as_u64();
        let u32_ = |v: u64| u32::try_from(v).unwrap_or(u32::MAX);
        let (count, usec) = commit_wait(&|name| u(name));
        narwal_engine::Options {
            flush_log_at_trx_commit: u("innodb_flush_log_at_trx_commit") as u8,
            memory_budget: u("innodb_buffer_pool_size"),
            server_id: u32_(u("server_id")),
            gtid_domain_id: u32_(u("gtid_domain_id")),
            max_binlog_size: u32_(u("max_binlog_size")),
            binlog_state_interval: u("binlog_state_interval"),
            segment_size: u("innodb_log_file_size"),
            max_binlog_cache_size: u("max_binlog_cache_size"),
            binlog_row_event_max_size: u32_(u("binlog_row_event_max_size")),
            oob_threshold: u("binlog_oob_threshold"),
            spill_bytes: u("narwal_transaction_memory"),
            commit_wait_count: count,
            commit_wait_usec: usec,
            commit_wait_auto: self.get("narwal_group_commit_auto_wait").as_bool(),
            parallel_syncs: u32_(u("narwal_log_parallel_syncs")),
            scrub_rate: u("narwal_scrub_rate"),
            classic_log: self.get(CLASSIC.0).show() == CLASSIC.1,
            sync_binlog: u32_(u("sync_binlog")),
            compression: (self.get("narwal_log_compression").show() == "zstd").then(|| {
                narwal_engine::Compression {
                    level: u("narwal_log_compression_level") as i32,
                    min_len: u("narwal_log_compression_min_length") as usize,
                }
            }),
            binlog_filter: self.filter.clone(),
            binlog_row_metadata: row_metadata(self.get("binlog_row_metadata").as_str()),
            ..narwal_engine::Options::default()
        }
    }
}

/// The variable and its value with which there are two logs.
const CLASSIC: (&str, &str) = ("binlog_storage_engine", "FILE");

/// Why an option of the command line must keep its default.
fn refused_at_start(name: &str) -> Option<&'static str> {
    Some(match name {
        "log_slave_updates" => {
            "what a replica applies is in its log, which is also where it is stored; there is no second one"
        }
        "slave_skip_errors" => {
            "a replica that passes over errors has other data than its source from then on. slave_exec_mode=IDEMPOTENT \
             forgives rows that are there or missing already, sql_slave_skip_counter and gtid_slave_pos leave out \
             single transactions"
        }
        _ => return None,
    })
}

/// The list that an option adds to.
fn filter_list<'a>(filter: &'a mut BinlogFilter, name: &str) -> Option<&'a mut Vec<String>> {
    Some(match name {
        "binlog_do_db" => &mut filter.do_db,
        "binlog_ignore_db" => &mut filter.ignore_db,
        "binlog_do_table" => &mut filter.do_table,
        "binlog_ignore_table" => &mut filter.ignore_table,
        _ => return None,
    })
}

/// Variables that say how long the binary log is kept; `expire_logs_days` is another form of the first.
const RETENTION: [&str; 3] = [
    "binlog_expire_logs_seconds",
    "max_binlog_total_size",
    "slave_connections_needed_for_purge",
];

fn apply_retention(db: &Database, name: &str, v: u64) {
    match name {
        "binlog_expire_logs_seconds" => db.set_binlog_expire_logs_seconds(v),
        "max_binlog_total_size" => db.set_max_binlog_total_size(v),
        _ => db.set_slave_connections_needed_for_purge(u32::try_from(v).unwrap_or(u32::MAX)),
    }
}

/// Begin of the names of variables for semi-synchronous replication.
const SEMI_SYNC: &str = "rpl_semi_sync_master_";

/// Lets the variables of semi-synchronous replication have their effect.
fn apply_semi_sync(source: &Source, get: &dyn Fn(&str) -> VarValue) {
    let get = |name: &str| get(&format!("{SEMI_SYNC}{name}"));
    source.semi_sync().set(|s| {
        *s = SemiSyncSettings {
            enabled: get("enabled").as_bool(),
            timeout: Duration::from_millis(get("timeout").as_u64()),
            wait_point: match get("wait_point").as_str() {
                "AFTER_SYNC" => WaitPoint::AfterSync,
                _ => WaitPoint::AfterCommit,
            },
            wait_no_replica: get("wait_no_slave").as_bool(),
            replicas: u32::try_from(get("wait_for_slave_count").as_u64()).unwrap_or(u32::MAX),
        };
    });
}

/// The other form of a variable with two: name and value.
fn other_form(name: &str, v: &VarValue) -> Option<(&'static str, VarValue)> {
    match name {
        "binlog_expire_logs_seconds" => {
            let days = v.as_u64() as f64 / 86_400.0;
            Some(("expire_logs_days", VarValue::Double(days)))
        }
        "expire_logs_days" => {
            // Less than a second is none, as in MariaDB; what binlog_expire_logs_seconds itself gave comes out as it was.
            let seconds = (v.as_f64() * 86_400.0 + 1e-6) as u64;
            Some(("binlog_expire_logs_seconds", VarValue::UInt(seconds)))
        }
        "slave_parallel_threads" => Some(("slave_parallel_workers", v.clone())),
        "slave_parallel_workers" => Some(("slave_parallel_threads", v.clone())),
        _ => None,
    }
}

/// `binlog_row_metadata` by name.
fn row_metadata(name: &str) -> RowMetadata {
    match name {
        "NO_LOG" => RowMetadata::NoLog,
        "MINIMAL" => RowMetadata::Minimal,
        _ => RowMetadata::Full,
    }
}

/// Group commit waits from MariaDB's pair of variables or, if its delay is set, MySQL's (where a count of 0 means that
/// the delay always passes).
fn commit_wait(get: &dyn Fn(&str) -> u64) -> (u32, u32) {
    let fit = |v: u64| u32::try_from(v).unwrap_or(u32::MAX);
    let delay = get("binlog_group_commit_sync_delay");
    if delay > 0 {
        let count = get("binlog_group_commit_sync_no_delay_count");
        (if count == 0 { u32::MAX } else { fit(count) }, fit(delay))
    } else {
        (
            fit(get("binlog_commit_wait_count")),
            fit(get("binlog_commit_wait_usec")),
        )
    }
}

/// What is said when a setting without effect is changed.
pub(crate) fn inert_text(name: &str) -> String {
    if name == "sync_binlog" {
        return "sync_binlog has no effect: there is one log, and innodb_flush_log_at_trx_commit rules its syncs".into();
    }
    format!("{name} has no effect in Narwal")
}

/// A client that has proved who it is.
#[derive(Clone)]
pub struct ConnectOptions {
    /// Connection id.
    pub id: u32,
    /// User name as given.
    pub user: String,
    /// The account it was matched with.
    pub account_user: String,
    /// That account's host pattern.
    pub account_host: String,
    /// Where it comes from, as accounts are matched: `localhost` or an address.
    pub host: String,
    /// Its address, if it came by TCP.
    pub ip: Option<String>,
    /// Its TCP port, or 0.
    pub port: u16,
    /// Default database.
    pub db: Option<String>,
    /// Collation id of the handshake.
    pub collation: u16,
    /// TLS version and cipher.
    pub tls: Option<(String, String)>,
    /// CLIENT_CAN_HANDLE_EXPIRED_PASSWORDS.
    pub handles_expired: bool,
    /// CLIENT_FOUND_ROWS.
    pub found_rows: bool,
    /// CLIENT_MULTI_STATEMENTS.
    pub multi_statements: bool,
    /// CLIENT_INTERACTIVE.
    pub interactive: bool,
    /// CLIENT_COMPRESS: the connection is compressed.
    pub compressed: bool,
    /// CLIENT_SESSION_TRACK: the client wants to be told what changes in its session.
    pub session_track: bool,
    /// Ends the connection or its statement from outside.
    pub killer: Option<Killer>,
}

impl ConnectOptions {
    /// A local connection as `root@localhost`: for tests and embedders.
    pub fn local(id: u32) -> Self {
        ConnectOptions {
            id,
            user: "root".into(),
            account_user: "root".into(),
            account_host: "localhost".into(),
            host: "localhost".into(),
            ip: None,
            port: 0,
            db: None,
            collation: 45,
            tls: None,
            handles_expired: false,
            found_rows: false,
            multi_statements: true,
            interactive: false,
            compressed: false,
            session_track: false,
            killer: None,
        }
    }
}

/// The shared part of a server. One for each database.
pub struct Instance {
    db: Database,
    globals: RwLock<Arc<Vec<VarValue>>>,
    acl: RwLock<Arc<Acl>>,
    /// One change of accounts at a time: each reads, changes and stores a whole account.
    pub(crate) acl_writer: Mutex<()>,
    pub(crate) processes: ProcessList,
    /// GET_LOCK's.
    pub(crate) named_locks: NamedLocks,
    /// Counters of ended sessions, and of what no session counts.
    pub(crate) retired: Counters,
    pub(crate) connections: AtomicU64,
    pub(crate) aborted_connects: AtomicU64,
    pub(crate) aborted_clients: AtomicU64,
    pub(crate) prepared_statements: AtomicU64,
    pub(crate) read_only: AtomicBool,
    pub(crate) gtid_strict: AtomicBool,
    pub(crate) status_since: AtomicU64,
    /// FLUSH TABLES WITH READ LOCK.
    pub(crate) read_lock: GlobalReadLock,
    /// LOCK TABLES.
    pub(crate) locked_tables: LockedTables,
    /// Backups whose connection broke, for a while.
    pub(crate) parked_backups: crate::backup::Parked,
    version: Arc<str>,
    shutdown: Mutex<Option<Box<dyn Fn() + Send>>>,
    watchdog: Mutex<bool>,
    source: Source,
    replica: OnceLock<Arc<dyn ReplicaControl>>,
    pub(crate) replica_filters: Filters,
    archive: OnceLock<Arc<dyn ArchiveControl>>,
    pub(crate) plugins: Plugins,
    pub(crate) logins: Logins,
    pub(crate) audit: Audit,
}

impl Instance {
    /// Makes the instance of an opened database.
    pub fn new(db: Database, startup: Startup) -> Arc<Instance> {
        let acl = Acl::load(&db.catalog());
        let live = inert_text("sync_binlog");
        let warnings = startup.warnings.iter();
        for w in warnings.filter(|w| !(db.is_classic() && **w == live)) {
            tracing::warn!("{w}");
        }
        if acl.is_built_in() {
            tracing::warn!(
                "user root has no password, and may connect through the Unix socket and loopback addresses only; \
                 set one with: ALTER USER root@localhost IDENTIFIED BY '...'"
            );
        }
        let read_only = startup.get("read_only").as_bool();
        let gtid_strict = startup.get("gtid_strict_mode").as_bool();
        for name in RETENTION {
            apply_retention(&db, name, startup.get(name).as_u64());
        }
        let plugins = Plugins::new(
            &format!(
                "{};{}",
                startup.get("plugin_load").show(),
                startup.get("plugin_load_add").show()
            ),
            &db.catalog(),
        );
        let mut values = startup.values;
        let mut put = |name: &str, v: VarValue| {
            if let Some(i) = variables::index(name) {
                values[i] = v;
            }
        };
        put("version", VarValue::text(server_version()));
        put("innodb_version", VarValue::text(NARWAL_VERSION));
        put(
            "version_compile_machine",
            VarValue::text(std::env::consts::ARCH),
        );
        put("version_compile_os", VarValue::text(std::env::consts::OS));
        let source = Source::new(db.clone(), server_version());
        apply_semi_sync(&source, &|name| {
            variables::index(name).map_or(VarValue::Null, |i| values[i].clone())
        });
        let instance = Instance {
            source,
            db,
            globals: RwLock::new(Arc::new(values)),
            acl: RwLock::new(Arc::new(acl)),
            acl_writer: Mutex::new(()),
            processes: ProcessList::new(),
            named_locks: NamedLocks::default(),
            retired: Counters::default(),
            connections: AtomicU64::new(0),
            aborted_connects: AtomicU64::new(0),
            aborted_clients: AtomicU64::new(0),
            prepared_statements: AtomicU64::new(0),
            read_only: AtomicBool::new(read_only),
            gtid_strict: AtomicBool::new(gtid_strict),
            status_since: AtomicU64::new(0),
            read_lock: GlobalReadLock::default(),
            locked_tables: LockedTables::default(),
            parked_backups: Default::default(),
            version: server_version().into(),
            shutdown: Mutex::new(None),
            watchdog: Mutex::new(false),
            replica: OnceLock::new(),
            replica_filters: Filters::new(startup.replica_filters),
            archive: OnceLock::new(),
            plugins,
            logins: Logins::default(),
            audit: Audit::default(),
        };
        instance.fit_password_length();
        instance.audit.configure(&instance);
        Arc::new(instance)
    }

    /// The database.
    pub fn database(&self) -> &Database {
        &self.db
    }

    /// The source side of replication: who reads the binary log.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Says what runs the server's connections to sources. The first call counts.
    pub fn set_replica_control(&self, control: Arc<dyn ReplicaControl>) {
        if self.replica.set(control).is_err() {
            tracing::error!("the server's replica control is set twice");
        }
    }

    /// What runs the server's connections to sources; none in an embedded database.
    pub fn replica_control(&self) -> Option<&Arc<dyn ReplicaControl>> {
        self.replica.get()
    }

    /// Says what ships the server's log to an archive. The first call counts.
    pub fn set_archive_control(&self, control: Arc<dyn ArchiveControl>) {
        if self.archive.set(control).is_err() {
            tracing::error!("the server's archive control is set twice");
        }
    }

    /// What ships the server's log to an archive, if something does.
    pub(crate) fn archive_control(&self) -> Option<&Arc<dyn ArchiveControl>> {
        self.archive.get()
    }

    /// A session of the server's own, with all privileges, whatever the accounts are. It is not in the process list.
    ///
    /// # Errors
    /// The session can't be made.
    pub fn connect_internal(self: &Arc<Self>) -> SqlResult<ClientSession> {
        let mut account = Account::new("", "");
        account.global = PrivilegeSet::ALL_GLOBAL.with(PrivilegeSet::GRANT_OPTION);
        let client = ConnectOptions {
            user: "system user".into(),
            account_user: String::new(),
            account_host: String::new(),
            host: String::new(),
            ..ConnectOptions::local(self.system_ids(1))
        };
        ClientSession::for_applier(self.clone(), client, Arc::new(account), Arc::default())
    }

    /// The first of `n` ids for sessions of the server's own: ids that no client has.
    pub fn system_ids(&self, n: u32) -> u32 {
        self.processes.system_ids(n)
    }

    /// The version that `VERSION()` gives; the greeting puts `5.5.5-` before it, as MariaDB's does.
    pub fn version(&self) -> &Arc<str> {
        &self.version
    }

    /// All global values at this moment.
    pub(crate) fn globals(&self) -> Arc<Vec<VarValue>> {
        self.globals.read().clone()
    }

    /// A global value by position in [`VARIABLES`].
    pub(crate) fn global(&self, index: usize) -> VarValue {
        if matches!(VARIABLES[index].effect, Effect::Computed | Effect::State)
            && let Some(v) = self.computed(VARIABLES[index].name)
        {
            return v;
        }
        self.globals.read()[index].clone()
    }

    /// A global value by name; NULL if there is no such variable.
    pub fn global_value(&self, name: &str) -> VarValue {
        variables::index(name).map_or(VarValue::Null, |i| self.global(i))
    }

    fn computed(&self, name: &str) -> Option<VarValue> {
        Some(match name {
            "gtid_binlog_pos" => VarValue::text(self.db.binlog_position().gtid_pos),
            "gtid_slave_pos" => VarValue::text(self.gtid_slave_pos_text()),
            name if FILTER_VARIABLES.contains(&name) => {
                VarValue::text(self.replica_filter("").get(name))
            }
            "gtid_current_pos" => VarValue::text(self.gtid_current_pos()),
            "gtid_binlog_state" => VarValue::text(self.db.gtid_binlog_state()),
            "log_bin_basename" | "log_bin_index" => {
                let file = self.db.binlog_position().file;
                let stem = file.rsplit_once('.').map_or(file.as_str(), |(s, _)| s);
                let dir = self.globals.read()[variables::index("datadir")?].show();
                let end = if name == "log_bin_index" {
                    ".index"
                } else {
                    ""
                };
                VarValue::text(format!("{dir}{stem}{end}"))
            }
            _ => return None,
        })
    }

    /// Stores a global value and lets it have its effect.
    pub(crate) fn set_global(&self, index: usize, value: VarValue) {
        let mut index = index;
        let mut value = value;
        {
            let mut g = self.globals.write();
            let mut all = g.as_ref().clone();
            all[index] = value.clone();
            if let Some((name, v)) = other_form(VARIABLES[index].name, &value)
                && let Some(other) = variables::index(name)
            {
                all[other] = v.clone();
                if name == "binlog_expire_logs_seconds" {
                    (index, value) = (other, v);
                }
            }
            *g = Arc::new(all);
        }
        let u32_ = |v: &VarValue| u32::try_from(v.as_u64()).unwrap_or(u32::MAX);
        match VARIABLES[index].name {
            "gtid_domain_id" => self.db.set_gtid_domain_id(u32_(&value)),
            "server_id" => self.db.set_server_id(u32_(&value)),
            "max_binlog_cache_size" => self.db.set_max_binlog_cache_size(value.as_u64()),
            "narwal_scrub_rate" => self.db.set_scrub_rate(value.as_u64()),
            "binlog_oob_threshold" => self.db.set_oob_threshold(value.as_u64()),
            "binlog_state_interval" => self.db.set_binlog_state_interval(value.as_u64()),
            "max_binlog_size" => self.db.set_max_binlog_size(u32_(&value)),
            "binlog_row_metadata" => {
                self.db
                    .set_binlog_row_metadata(row_metadata(value.as_str()));
            }
            "gtid_strict_mode" => self.gtid_strict.store(value.as_bool(), Ordering::SeqCst),
            name if name.starts_with(SEMI_SYNC) => {
                apply_semi_sync(&self.source, &|name| self.global_value(name));
            }
            name if RETENTION.contains(&name) => apply_retention(&self.db, name, value.as_u64()),
            "innodb_flush_log_at_trx_commit" => {
                self.db.set_flush_log_at_trx_commit(value.as_u64() as u8);
            }
            "sync_binlog" => self.db.set_sync_binlog(u32_(&value)),
            "binlog_commit_wait_count"
            | "binlog_commit_wait_usec"
            | "binlog_group_commit_sync_delay"
            | "binlog_group_commit_sync_no_delay_count" => {
                let (count, usec) = commit_wait(&|name| self.global_value(name).as_u64());
                self.db.set_commit_wait(count, usec);
            }
            "narwal_group_commit_auto_wait" => self.db.set_commit_wait_auto(value.as_bool()),
            "narwal_archive_timeout" => {
                if let Some(archive) = self.archive.get() {
                    archive.set_timeout(value.as_u64());
                }
            }
            "read_only" => self.read_only.store(value.as_bool(), Ordering::SeqCst),
            "server_audit_file_rotate_now" if value.as_bool() => self.audit.rotate_now(),
            "server_audit_file_rotate_now" => {}
            name if name.starts_with("server_audit_") => self.audit.configure(self),
            name if name.starts_with("simple_password_check_") => self.fit_password_length(),
            _ => {}
        }
    }

    /// Makes a global number at least as large as `least`.
    pub(crate) fn raise_global(&self, name: &str, least: u64) {
        if let Some(i) = variables::index(name)
            && self.global(i).as_u64() < least
        {
            let mut g = self.globals.write();
            let mut all = g.as_ref().clone();
            all[i] = VarValue::UInt(least);
            *g = Arc::new(all);
        }
    }

    /// The accounts, as the current catalog has them.
    pub fn acl(&self) -> Arc<Acl> {
        {
            let acl = self.acl.read();
            if acl.version == self.db.catalog_version() {
                return acl.clone();
            }
        }
        let catalog = self.db.catalog();
        let fresh = Arc::new(Acl::load(&catalog));
        let mut acl = self.acl.write();
        if acl.version < fresh.version {
            *acl = fresh.clone();
        }
        fresh
    }

    /// The account that a client is, before it has proved anything.
    pub fn account(&self, user: &str, host: &str, ip: Option<&str>) -> Option<Arc<Account>> {
        self.acl().find(user, host, ip).cloned()
    }

    /// Makes the session of a client that has been authenticated.
    pub fn connect(self: &Arc<Self>, options: ConnectOptions) -> SqlResult<ClientSession> {
        self.connections.fetch_add(1, Ordering::Relaxed);
        let session = ClientSession::new(self.clone(), options.clone());
        match &session {
            Ok(s) => self.audit_client("connect", &s.client, None),
            Err(e) => self.audit_client("failed_connect", &options, Some(e)),
        }
        session
    }

    /// A client was refused or lost before it had a session.
    pub fn aborted_connect(&self) {
        self.aborted_connects.fetch_add(1, Ordering::Relaxed);
    }

    /// `max_connections`.
    pub fn max_connections(&self) -> usize {
        self.global_value("max_connections").as_u64() as usize
    }

    /// `max_allowed_packet`, bytes.
    pub fn max_allowed_packet(&self) -> usize {
        self.global_value("max_allowed_packet").as_u64() as usize
    }

    /// `connect_timeout`.
    pub fn connect_timeout(&self) -> Duration {
        Duration::from_secs(self.global_value("connect_timeout").as_u64())
    }

    /// Adds to `Bytes_received` and `Bytes_sent` of the server.
    pub fn count_bytes(&self, received: u64, sent: u64) {
        self.retired.add_shared(status::BYTES_RECEIVED, received);
        self.retired.add_shared(status::BYTES_SENT, sent);
    }

    /// What the SHUTDOWN statement is to do.
    pub fn on_shutdown(&self, f: impl Fn() + Send + 'static) {
        *self.shutdown.lock() = Some(Box::new(f));
    }

    /// Runs what [`Instance::on_shutdown`] set.
    pub(crate) fn shutdown(&self) -> SqlResult<()> {
        match &*self.shutdown.lock() {
            Some(f) => {
                f();
                Ok(())
            }
            None => Err(SqlError::unsupported("SHUTDOWN of an embedded database")),
        }
    }

    /// Stops all connections to sources, for the server's end.
    pub fn stop_replicas(&self) {
        if let Some(control) = self.replica_control() {
            control.shutdown();
        }
    }

    /// Asks every session to end.
    pub fn kill_all(&self) {
        for p in self.processes.all() {
            p.kill(true);
        }
    }

    /// Stores changed accounts: one catalog change with its statement in the log.
    pub(crate) fn store_accounts(
        &self,
        sql: String,
        changes: Vec<CatalogChange>,
        mut ddl: Ddl,
        options: &TxnOptions,
    ) -> SqlResult<CommitInfo> {
        ddl.sql = sql;
        ddl.changes = self.acl().with_built_in(changes);
        Ok(self.db.ddl(ddl, options)?)
    }

    /// Starts the thread that ends statements at their `max_statement_time`, when the first one needs it.
    pub(crate) fn start_watchdog(self: &Arc<Self>) {
        let mut running = self.watchdog.lock();
        if *running {
            return;
        }
        let weak = Arc::downgrade(self);
        let spawned = std::thread::Builder::new()
            .name("statement-timer".into())
            .stack_size(256 << 10)
            .spawn(move || {
                while let Some(instance) = weak.upgrade() {
                    let now = instance.processes.now();
                    for p in instance.processes.all() {
                        let deadline = p.deadline.load(Ordering::Acquire);
                        // Unless the statement has just ended by itself.
                        if deadline != 0
                            && now >= deadline
                            && (p.deadline)
                                .compare_exchange(deadline, 0, Ordering::AcqRel, Ordering::Relaxed)
                                .is_ok()
                        {
                            p.timed_out.store(true, Ordering::SeqCst);
                            p.interrupt();
                        }
                    }
                    drop(instance);
                    std::thread::sleep(Duration::from_millis(5));
                }
            });
        match spawned {
            Ok(_) => *running = true,
            Err(e) => tracing::error!("max_statement_time can't be kept: no thread: {e}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn startup_options() {
        let mut s = Startup::new();
        s.set("--innodb-flush-log-at-trx-commit", Some("2"))
            .unwrap();
        s.set("innodb_buffer_pool_size", Some("64M")).unwrap();
        s.set("skip-name-resolve", None).unwrap();
        s.set("loose-no-such-thing", Some("1")).unwrap();
        s.set("sync-binlog", Some("1")).unwrap();
        assert_eq!(s.warnings.len(), 1, "{:?}", s.warnings);
        s.set("sync-binlog", Some("0")).unwrap();
        assert!(s.warnings[1].contains("sync_binlog has no effect"));
        let o = s.engine_options();
        assert_eq!((o.flush_log_at_trx_commit, o.memory_budget), (2, 64 << 20));
        assert!(s.is_given("innodb_buffer_pool_size") && !s.is_given("port"));
        let e = s.set("max-conections", Some("5")).unwrap_err();
        assert!(e.contains("Did you mean --max-connections?"), "{e}");
        let e = s.set("binlog-format", Some("statement")).unwrap_err();
        assert!(e.contains("not supported"), "{e}");
        assert!(s.set("version", Some("x")).is_err());
        assert!(s.set("port", Some("x")).is_err());
        assert!(s.set("port", None).is_err());
    }

    #[test]
    fn mysqls_group_commit_names() {
        let mut s = Startup::new();
        s.set("binlog-group-commit-sync-delay", Some("500"))
            .unwrap();
        let o = s.engine_options();
        assert_eq!((o.commit_wait_count, o.commit_wait_usec), (u32::MAX, 500));
        let mut s = Startup::new();
        s.set("binlog-commit-wait-count", Some("10")).unwrap();
        let o = s.engine_options();
        assert_eq!((o.commit_wait_count, o.commit_wait_usec), (10, 100_000));
    }
}
