//! What all sessions of a server share: the database, global variables, accounts, the process list, counters.

use crate::acl::{Account, Acl};
use crate::archive::ArchiveControl;
use crate::audit::Audit;
use crate::backup_locks::BackupLocks;
use crate::gtid_names::HeldNames;
use crate::key_caches::KeyCaches;
use crate::locks::LockedTables;
use crate::logins::Logins;
use crate::named_locks::NamedLocks;
use crate::persisted::Persisted;
use crate::plugins::Plugins;
use crate::process::ProcessList;
use crate::programs::events::bell::EventBell;
use crate::read_lock::GlobalReadLock;
use crate::replica::{Filters, ReplicaControl, ReplicaFilter};
use crate::startup::Startup;
use crate::status::{self, Counters};
use crate::variables::parts::{ServerParts, Switches};
use crate::variables::{self, VARIABLES, VarValue, VariableDef};
use narwal_engine::{CatalogChange, CommitInfo, Database, Ddl, TxnOptions};
use narwal_source::Source;
use narwal_types::face::{self, Face};
use narwal_types::{SqlError, SqlResult};
use parking_lot::{Mutex, RwLock};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Narwal's own version.
pub const NARWAL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version that clients see: the series of MariaDB or MySQL whose dialect is spoken, and Narwal's own version.
pub fn server_version() -> String {
    match face::current() {
        Face::MySql => format!("8.4.0-narwal-{NARWAL_VERSION}"),
        Face::MariaDb => mariadb_version(),
    }
}

/// The version in what MariaDB's readers get: they choose its dialect by it. Those that are MySQL's get another.
fn mariadb_version() -> String {
    format!("10.11.0-MariaDB-narwal-{NARWAL_VERSION}")
}

/// The shared part of a server. One for each database.
pub struct Instance {
    db: Database,
    /// The global values as each face shows them.
    globals: RwLock<[Arc<Vec<VarValue>>; Face::ALL.len()]>,
    acl: RwLock<Arc<Acl>>,
    /// One change of accounts at a time: each reads, changes and stores a whole account.
    pub(crate) acl_writer: Mutex<()>,
    pub(crate) processes: ProcessList,
    /// GET_LOCK's.
    pub(crate) named_locks: NamedLocks,
    /// Counters of ended sessions, and of what no session counts.
    pub(crate) retired: Counters,
    pub(crate) connections: AtomicU64,
    /// What accounts have used.
    pub(crate) resources: crate::limits::Resources,
    pub(crate) aborted_connects: AtomicU64,
    pub(crate) aborted_clients: AtomicU64,
    pub(crate) prepared_statements: AtomicU64,
    pub(crate) switches: Switches,
    /// Names that sessions have given to transactions by `gtid_next`.
    pub(crate) held_names: Arc<HeldNames>,
    pub(crate) status_since: AtomicU64,
    /// FLUSH TABLES WITH READ LOCK.
    pub(crate) read_lock: GlobalReadLock,
    pub(crate) backup_locks: BackupLocks,
    /// LOCK TABLES.
    pub(crate) locked_tables: LockedTables,
    /// Backups whose connection broke, for a while.
    pub(crate) parked_backups: crate::parked_backups::Parked,
    /// As each face shows it.
    versions: [Arc<str>; Face::ALL.len()],
    shutdown: Mutex<Option<Box<dyn Fn() + Send>>>,
    watchdog: Mutex<bool>,
    source: Source,
    replica: OnceLock<Arc<dyn ReplicaControl>>,
    pub(crate) replica_filters: Filters,
    pub(crate) key_caches: KeyCaches,
    pub(crate) persisted: Persisted,
    archive: OnceLock<Arc<dyn ArchiveControl>>,
    pub(crate) plugins: Plugins,
    pub(crate) logins: Logins,
    pub(crate) audit: Audit,
    pub(crate) events: EventBell,
}

impl Instance {
    /// Makes the instance of an opened database.
    pub fn new(db: Database, startup: Startup) -> Arc<Instance> {
        let acl = Acl::load(&db.catalog());
        let works = |d: &&VariableDef| d.hooks.works_if.is_some_and(|f| f(&db));
        let working: Vec<String> = (VARIABLES.iter().filter(works))
            .map(VariableDef::inert_text)
            .collect();
        for w in startup.warnings.iter().filter(|w| !working.contains(w)) {
            tracing::warn!("{w}");
        }
        if acl.is_built_in() {
            tracing::warn!(
                "user root has no password, and may connect through the Unix socket and loopback addresses only; \
                 set one with: ALTER USER root@localhost IDENTIFIED BY '...'"
            );
        }
        let plugins = Plugins::new(
            &format!(
                "{};{}",
                startup.get("plugin_load").show(),
                startup.get("plugin_load_add").show()
            ),
            &db.catalog(),
        );
        let versions = Face::ALL.map(|f| Arc::<str>::from(face::under(f, server_version)));
        let mut startup = startup;
        for (face, version) in Face::ALL.into_iter().zip(&versions) {
            startup.fact_of(face, "version", VarValue::text(version.to_string()));
        }
        startup.fact("innodb_version", VarValue::text(NARWAL_VERSION));
        let crypt = narwal_sql::expr::functions::crypt::is_there();
        startup.fact(
            "have_crypt",
            VarValue::text(if crypt { "YES" } else { "NO" }),
        );
        startup.fact(
            "version_compile_machine",
            VarValue::text(std::env::consts::ARCH),
        );
        startup.fact("version_compile_os", VarValue::text(std::env::consts::OS));
        let instance = Instance {
            source: Source::new(db.clone(), mariadb_version()),
            db,
            globals: RwLock::new(Face::ALL.map(|f| Arc::new(startup.values_under(f)))),
            acl: RwLock::new(Arc::new(acl)),
            acl_writer: Mutex::new(()),
            processes: ProcessList::new(),
            named_locks: NamedLocks::default(),
            retired: Counters::default(),
            connections: AtomicU64::new(0),
            resources: crate::limits::Resources::default(),
            aborted_connects: AtomicU64::new(0),
            aborted_clients: AtomicU64::new(0),
            prepared_statements: AtomicU64::new(0),
            switches: Switches::default(),
            held_names: Arc::default(),
            status_since: AtomicU64::new(0),
            read_lock: GlobalReadLock::default(),
            backup_locks: BackupLocks::default(),
            locked_tables: LockedTables::default(),
            parked_backups: Default::default(),
            versions,
            shutdown: Mutex::new(None),
            watchdog: Mutex::new(false),
            replica: OnceLock::new(),
            replica_filters: Filters::new(startup.replica_filters),
            key_caches: KeyCaches::default(),
            persisted: startup.persisted,
            archive: OnceLock::new(),
            plugins,
            logins: Logins::default(),
            audit: Audit::default(),
            events: EventBell::default(),
        };
        for (i, d) in VARIABLES.iter().enumerate() {
            if let Some(set) = d.hooks.global.filter(|_| d.hooks.from_start) {
                set(&instance, &instance.global(i));
            }
        }
        instance.fit_password_length();
        instance.audit_changed();
        let instance = Arc::new(instance);
        let weak = Arc::downgrade(&instance);
        crate::time_zones::serve(move || weak.upgrade().map(|i| i.db.clone()));
        instance
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

    /// The first of `n` ids for sessions of the server's own: ids that no client has.
    pub fn system_ids(&self, n: u32) -> u32 {
        self.processes.system_ids(n)
    }

    /// The version that `VERSION()` gives; the greeting puts `5.5.5-` before it, as MariaDB's does.
    pub fn version(&self) -> &Arc<str> {
        &self.versions[face::current() as usize]
    }

    /// All global values at this moment.
    pub(crate) fn globals(&self) -> Arc<Vec<VarValue>> {
        self.globals.read()[face::current() as usize].clone()
    }

    /// A global value by position in [`VARIABLES`].
    pub(crate) fn global(&self, index: usize) -> VarValue {
        if let Some(read) = VARIABLES[index].hooks.read {
            return read(self);
        }
        self.globals.read()[face::current() as usize][index].clone()
    }

    /// A global value by name; NULL if there is no such variable.
    pub fn global_value(&self, name: &str) -> VarValue {
        variables::index(name).map_or(VarValue::Null, |i| self.global(i))
    }

    /// Stores a global value and lets it have its effect.
    pub(crate) fn set_global(&self, index: usize, value: VarValue) {
        let twin = VARIABLES[index].hooks.twin.map(|twin| twin(&value));
        let other = match twin {
            Some(Ok((name, v))) => variables::index(name).map(|i| (i, v)),
            _ => None,
        };
        let changed: Vec<_> = std::iter::once((index, value)).chain(other).collect();
        self.put_globals(&changed);
        for (i, v) in &changed {
            if let Some(set) = VARIABLES[*i].hooks.global {
                set(self, v);
            }
        }
    }

    /// Makes a global number at least as large as `least`.
    pub(crate) fn raise_global(&self, name: &str, least: u64) {
        if let Some(i) = variables::index(name)
            && self.global(i).as_u64() < least
        {
            self.put_globals(&[(i, VarValue::UInt(least))]);
        }
    }

    /// Gives global variables their values under all faces. A value that is the default of this session's face becomes each
    /// face's own default.
    fn put_globals(&self, changed: &[(usize, VarValue)]) {
        let mut globals = self.globals.write();
        for (face, of_face) in Face::ALL.into_iter().zip(globals.iter_mut()) {
            let mut all = of_face.as_ref().clone();
            for (i, value) in changed {
                let d = &VARIABLES[*i];
                let own = d.hooks.mysql_default.is_some()
                    && !d.steers_the_server()
                    && *value == d.default_value();
                all[*i] = match own {
                    true => face::under(face, || d.default_value()),
                    false => value.clone(),
                };
            }
            *of_face = Arc::new(all);
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

    /// As SET GLOBAL event_scheduler=OFF.
    pub(crate) fn switch_events_off(&self) {
        if let Some(i) = variables::index("event_scheduler") {
            self.set_global(i, VarValue::text("OFF"));
        }
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

impl ServerParts for Instance {
    fn database(&self) -> &Database {
        &self.db
    }

    fn source(&self) -> &Source {
        &self.source
    }

    fn switches(&self) -> &Switches {
        &self.switches
    }

    fn held_names(&self) -> &Arc<HeldNames> {
        &self.held_names
    }

    fn value(&self, name: &str) -> VarValue {
        self.global_value(name)
    }

    fn set_archive_timeout(&self, seconds: u64) {
        if let Some(archive) = self.archive.get() {
            archive.set_timeout(seconds);
        }
    }

    fn audit_changed(&self) {
        self.audit.configure(&|name| self.global_value(name));
    }

    fn events_changed(&self) {
        self.events.ring();
    }

    fn rotate_audit(&self) {
        self.audit.rotate_now();
    }

    fn password_rules_changed(&self) {
        self.fit_password_length();
    }

    fn replica_filter(&self, connection: &str) -> Arc<ReplicaFilter> {
        Instance::replica_filter(self, connection)
    }

    fn running_replica(&self) -> Option<String> {
        self.replica_control()?.running()
    }

    fn skip_counter(&self, connection: &str) -> u64 {
        self.replica_control()
            .map_or(0, |c| c.skip_counter(connection))
    }

    fn set_skip_counter(&self, connection: &str, groups: u64) -> SqlResult<()> {
        match self.replica_control() {
            Some(c) => c.set_skip_counter(connection, groups),
            None if groups == 0 => Ok(()),
            None => Err(SqlError::unsupported(
                "replication into an embedded database",
            )),
        }
    }

    fn gtid_slave_pos_text(&self) -> String {
        Instance::gtid_slave_pos_text(self)
    }

    fn gtid_current_pos(&self) -> String {
        Instance::gtid_current_pos(self)
    }

    fn set_gtid_slave_pos(&self, text: String) -> SqlResult<()> {
        Instance::set_gtid_slave_pos(self, text)
    }
}
