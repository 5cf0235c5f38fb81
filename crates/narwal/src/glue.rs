//! Between the protocol front and the sessions: the only place that knows both.

use crate::local::Local;
use crate::options::Serve;
use crate::{Failure, archive};
use narwal_archive::Archiver;
use narwal_engine::Database;
use narwal_server::{
    Account, AuthMethod, Backend, ConnectInfo, KillHandle, Limits, Peer, PreparedInfo, RawPackets,
    Refused, Session, Timeouts, TlsRule,
};
use narwal_session::variables::VarValue;
use narwal_session::{
    ClientSession, ConnectOptions, FailedLogin, IdleTransaction, Persisted, Startup, TlsNeed,
};
use narwal_source::{DumpIo, Ready};
use narwal_types::errors;
use narwal_types::{
    BulkValue, Collation, LateAnswer, OkInfo, ResultColumn, ResultSink, SessionChange,
};
use narwal_types::{SqlError, SqlResult, ValueRef, face};
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// An open database with its sessions.
pub struct Instance {
    instance: Arc<narwal_session::Instance>,
    archiver: Option<Arc<Archiver>>,
}

/// Opens the data folder, with recovery if it needs that.
pub fn open(o: &Serve) -> Result<Instance, Failure> {
    // Defaults depend on it.
    face::set_of_process(o.face);
    let mut startup = settings(o)?;
    let files = crate::open_files::allow(startup.get("open_files_limit").as_u64());
    startup.fact(
        "open_files_limit",
        VarValue::UInt(files.min(u32::MAX.into())),
    );
    let folder = crate::folder::open_disk(
        &o.datadir,
        o.key_file.as_deref(),
        narwal_crypt::Access::Serve,
    )?;
    if let Some((old, new)) = folder.rewrapped {
        tracing::info!(
            old,
            new,
            "the data folder's keys are wrapped with a newer master key"
        );
    }
    for name in [
        "encrypt_binlog",
        "innodb_encrypt_log",
        "innodb_encrypt_tables",
    ] {
        if startup.is_given(name) && (startup.get(name).show() != "OFF") != folder.encrypted {
            return Err(Failure::Usage(format!(
                "--{}: Narwal encrypts the whole data folder or nothing; this one is {}encrypted (--encryption-key-file, narwal encrypt, narwal decrypt)",
                name.replace('_', "-"),
                if folder.encrypted { "" } else { "not " }
            )));
        }
        if !startup.is_given(name) {
            let value = if name == "innodb_encrypt_tables" {
                VarValue::text(if folder.encrypted { "ON" } else { "OFF" })
            } else {
                VarValue::Bool(folder.encrypted)
            };
            startup.fact(name, value);
        }
    }
    if let Some(path) = &o.key_file {
        let path = VarValue::text(absolute(path).display().to_string());
        startup.fact("file_key_management_filename", path);
    }
    if startup.get("narwal_memory").as_u64() == 0 {
        let pool = startup.get("innodb_buffer_pool_size").as_u64();
        let limit = crate::machine::memory_limit(pool);
        startup.fact("narwal_memory", VarValue::UInt(limit));
    }
    let mut options = startup.engine_options();
    options.disk = folder.disk;
    options.accept_log_loss = o.accept_log_loss;
    if options.classic_log {
        check_classic(&startup, folder.encrypted)?;
    }
    let archive_url = startup.get("narwal_archive_url").show();
    let archive_timeout = startup.get("narwal_archive_timeout").as_u64();
    // Until the archiver knows what it has to ship.
    options.hold_log = !archive_url.is_empty();
    let db = Database::open_with(&o.datadir, options)
        .map_err(|e| Failure::run(format!("can't open {}", o.datadir.display()), e))?;
    let instance = narwal_session::Instance::new(db, startup);
    let mut archiver = None;
    if !archive_url.is_empty() {
        let db = instance.database();
        let started = archive::start(db, &archive_url, archive_timeout, o.key_file.as_deref())?;
        let started = archiver.insert(Arc::new(started));
        instance.set_archive_control(Arc::new(archive::Control(started.clone())));
    }
    Ok(Instance { instance, archiver })
}

/// The settings that options, option files and SET PERSIST give, and what the server knows of itself.
fn settings(o: &Serve) -> Result<Startup, Failure> {
    let mut startup = Startup::new();
    for (name, value) in &o.settings {
        startup
            .set(name, value.as_deref())
            .map_err(Failure::Usage)?;
    }
    match (
        Persisted::read(&o.datadir),
        startup.get("persisted_globals_load").as_bool(),
    ) {
        (Ok(persisted), load) => startup.persisted(persisted, load),
        (Err(e), true) => return Err(Failure::Run(e)),
        (Err(e), false) => startup.warnings.push(e),
    }
    state_facts(o, &mut startup);
    Ok(startup)
}

fn absolute(p: &std::path::Path) -> std::path::PathBuf {
    std::path::absolute(p).unwrap_or_else(|_| p.to_owned())
}

/// States what the server knows of itself: folders, ports, certificates.
fn state_facts(o: &Serve, startup: &mut Startup) {
    let datadir = absolute(&o.datadir);
    startup.fact("datadir", VarValue::text(format!("{}/", datadir.display())));
    let socket = |p: Option<&std::path::PathBuf>| {
        let path = p.map(|p| absolute(p)).unwrap_or_default();
        VarValue::text(path.display().to_string())
    };
    startup.fact("port", VarValue::UInt(o.port.into()));
    startup.fact("socket", socket(o.socket.as_ref()));
    for (port, face) in o.ports.iter().rev().filter(|p| p.1 != o.face) {
        startup.fact_of(*face, "port", VarValue::UInt((*port).into()));
    }
    for (path, face) in o.sockets.iter().rev().filter(|p| p.1 != o.face) {
        startup.fact_of(*face, "socket", socket(Some(path)));
    }
    let addresses: Vec<String> = o.addresses.iter().map(ToString::to_string).collect();
    startup.fact("bind_address", VarValue::text(addresses.join(",")));
    startup.fact("hostname", VarValue::text(hostname()));
    let tls = if o.tls { "YES" } else { "DISABLED" };
    startup.fact("have_ssl", VarValue::text(tls));
    startup.fact("have_openssl", VarValue::text(tls));
    let file = |p: Option<&std::path::PathBuf>| {
        VarValue::text(p.map_or(String::new(), |p| absolute(p).display().to_string()))
    };
    let own = o.tls_files.own.as_ref();
    startup.fact("ssl_cert", file(own.map(|f| &f.0)));
    startup.fact("ssl_key", file(own.map(|f| &f.1)));
    startup.fact("ssl_ca", file(o.tls_files.ca.as_ref()));
    startup.fact("ssl_crl", file(o.tls_files.crl.as_ref()));
    if !o.tls_files.versions.is_empty() {
        startup.fact("tls_version", VarValue::text(o.tls_versions.clone()));
    }
}

/// Refuses what is not offered with `binlog_storage_engine=FILE`.
fn check_classic(startup: &Startup, encrypted: bool) -> Result<(), Failure> {
    let on = |name: &str, off: &str| startup.get(name).show() != off;
    let refused = [
        (
            encrypted,
            "--encryption-key-file (the binary log files would lie there in clear)",
        ),
        (on("narwal_archive_url", ""), "--narwal-archive-url"),
        (
            on("narwal_log_compression", "none"),
            "--narwal-log-compression",
        ),
        (
            on("rpl_semi_sync_master_enabled", "OFF"),
            "--rpl-semi-sync-master-enabled",
        ),
    ];
    match refused.iter().find(|r| r.0) {
        Some((_, what)) => Err(Failure::Usage(format!(
            "{what} is not offered with --binlog-storage-engine=FILE, which is for comparisons only"
        ))),
        None => Ok(()),
    }
}

/// How long the end of a server waits for its archive.
const ARCHIVE_PATIENCE: Duration = Duration::from_secs(10);

fn hostname() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map(|s| s.trim().to_owned())
        .unwrap_or_else(|_| "localhost".to_owned())
}

impl Instance {
    /// Sets up the connections to sources that the catalog has. They don't run yet.
    pub fn open_replicas(&self) -> Result<Arc<narwal_replica::Manager>, Failure> {
        narwal_replica::Manager::open(&self.instance)
            .map_err(|e| Failure::run("connections to sources", e))
    }

    /// Bytes of memory that the server may take.
    pub fn memory_budget(&self) -> u64 {
        self.instance
            .global_value("innodb_buffer_pool_size")
            .as_u64()
    }

    /// `narwal_memory`: bytes that the whole server may take.
    pub fn memory_limit(&self) -> u64 {
        self.instance.global_value("narwal_memory").as_u64()
    }

    /// `narwal_client_affinity`; see [`narwal_server::ServerConfig::client_affinity`].
    pub fn client_affinity(&self) -> bool {
        self.instance
            .global_value("narwal_client_affinity")
            .as_bool()
    }

    /// `narwal_time_slice`: turns on the processors that threads of connections ask for; none for the kernel's own.
    pub fn time_slice(&self) -> Option<std::time::Duration> {
        let micros = self.instance.global_value("narwal_time_slice").as_u64();
        (micros != 0).then(|| std::time::Duration::from_micros(micros))
    }

    /// The file of statements that a start runs; empty if there is none.
    pub fn init_file(&self) -> String {
        self.instance.global_value("init_file").show()
    }

    /// True if connections to sources start with the server.
    pub fn starts_replicas(&self) -> bool {
        !self.instance.global_value("skip_slave_start").as_bool()
    }

    /// Stops the connections to sources.
    pub fn stop_replicas(&self) {
        self.instance.stop_replicas();
    }

    /// Starts the scheduler of events.
    pub fn start_events(&self) {
        self.instance.start_events();
    }

    /// Stops it, and the events that run.
    pub fn stop_events(&self) {
        self.instance.stop_events();
    }

    /// What the protocol front talks to.
    pub fn backend(&self) -> Arc<dyn Backend> {
        Arc::new(Front {
            instance: self.instance.clone(),
        })
    }

    /// What the SHUTDOWN statement does.
    pub fn on_shutdown(&self, stop: impl Fn() + Send + 'static) {
        self.instance.on_shutdown(stop);
    }

    /// Interrupts all statements, as the first step of the end.
    pub fn kill_all(&self) {
        self.instance.kill_all();
    }

    /// A session with all privileges, for commands that speak SQL to a folder.
    pub fn local(&self) -> Result<Local, Failure> {
        let session = self.instance.connect_internal();
        session
            .map(Local::new)
            .map_err(|e| Failure::Run(crate::local::text(&e)))
    }

    /// Closes the database cleanly, after the archive has got what it lacks.
    pub fn close(self) {
        if let Some(archiver) = &self.archiver
            && !archiver.stop(ARCHIVE_PATIENCE)
        {
            tracing::warn!("the end of the log is not in the archive; the next start ships it");
        }
        self.instance.stop_audit();
        if let Err(e) = self.instance.database().close() {
            tracing::error!(error = %e, "the database did not close cleanly; the next start recovers it");
        }
    }
}

struct Front {
    instance: Arc<narwal_session::Instance>,
}

impl Front {
    /// An account of `mysql_old_password` has no password, and `secure_auth` is OFF.
    fn lets_in_without_password(&self, hash: &str) -> bool {
        hash.is_empty() && !self.instance.global_value("secure_auth").as_bool()
    }
}

impl Backend for Front {
    fn greeting_version(&self) -> String {
        match face::is_mysql() {
            true => self.instance.version().to_string(),
            // The prefix is MariaDB's own, for replicas and clients that compare the first digit.
            false => format!("5.5.5-{}", self.instance.version()),
        }
    }

    fn limits(&self) -> Limits {
        Limits {
            max_connections: self.instance.max_connections(),
            max_allowed_packet: self.instance.max_allowed_packet(),
            connect_timeout: self.instance.connect_timeout(),
            require_secure_transport: self
                .instance
                .global_value("require_secure_transport")
                .as_bool(),
        }
    }

    fn account(&self, user: &str, peer: &Peer) -> Option<Account> {
        let a = self
            .instance
            .account(user, &peer.host, peer.ip.as_deref())?;
        let auth = if a.plugin == narwal_server::auth::SHA2 {
            AuthMethod::CachingSha2(a.auth.clone().into_bytes())
        } else if a.plugin == narwal_server::auth::OLD && !self.lets_in_without_password(&a.auth) {
            AuthMethod::Old
        } else if a.auth.is_empty() && face::is_mysql() {
            // Without a password any method will do, and MySQL 9's clients have no other.
            AuthMethod::CachingSha2(Vec::new())
        } else if a.auth.is_empty() {
            AuthMethod::Native(None)
        } else {
            // A hash that can't be read lets nobody in.
            AuthMethod::Native(Some(a.native_hash()?))
        };
        Some(Account {
            user: a.user.clone(),
            host: a.host.clone(),
            auth,
            locked: a.locked,
            blocked: self.instance.login_blocked(&a),
            tls: match &a.tls {
                TlsNeed::None => TlsRule::None,
                TlsNeed::Any => TlsRule::Any,
                TlsNeed::X509 => TlsRule::Certificate,
                TlsNeed::Specified {
                    issuer,
                    subject,
                    cipher,
                } => TlsRule::Names {
                    issuer: issuer.clone(),
                    subject: subject.clone(),
                    cipher: cipher.clone(),
                },
            },
        })
    }

    fn verify_password(&self, stored: &[u8], password: &[u8]) -> bool {
        std::str::from_utf8(stored).is_ok_and(|s| narwal_session::sha2_verify(password, s))
    }

    fn login_refused(&self, refused: &Refused<'_>) -> Duration {
        self.instance.login_failed(&FailedLogin {
            id: refused.id,
            user: refused.user,
            host: &refused.peer.host,
            db: refused.db,
            account: refused.account.map(|a| (&*a.user, &*a.host)),
            error: refused.error,
            reason: refused.reason,
            wrong_password: refused.wrong_password,
        })
    }

    fn login_passed(&self, account: &Account) -> Duration {
        self.instance.login_passed(&account.user, &account.host)
    }

    fn connect(&self, info: ConnectInfo, kill: Arc<KillHandle>) -> SqlResult<Box<dyn Session>> {
        let mut options = connect_options(info);
        let for_kill = Arc::downgrade(&kill);
        options.killer = Some(Arc::new(move |connection| {
            if let Some(kill) = for_kill.upgrade() {
                if connection {
                    kill.kill_connection();
                } else {
                    kill.kill_query();
                }
            }
        }));
        let session = self.instance.connect(options)?;
        kill.set_waker(Some(Arc::new(session.interrupt_handle())));
        Ok(Box::new(Client(session)))
    }

    fn traffic(&self, received: u64, sent: u64) {
        self.instance.count_bytes(received, sent);
    }

    fn aborted_connect(&self) {
        self.instance.aborted_connect();
    }
}

fn connect_options(info: ConnectInfo) -> ConnectOptions {
    ConnectOptions {
        id: info.id,
        user: info.user,
        account_user: info.account.user,
        account_host: info.account.host,
        host: info.peer.host,
        ip: info.peer.ip,
        port: info.peer.port,
        db: info.db,
        collation: u16::from(info.collation),
        tls: info.tls,
        handles_expired: info.handles_expired,
        found_rows: info.found_rows,
        multi_statements: info.multi_statements,
        interactive: info.interactive,
        session_track: info.session_track,
        compressed: info.compressed,
        killer: None,
    }
}

struct Client(ClientSession);

impl Session for Client {
    fn interrupt_flag(&self) -> Option<Arc<AtomicBool>> {
        Some(self.0.interrupt_flag())
    }

    fn query(&mut self, sql: &[u8], out: &mut dyn ResultSink) -> SqlResult<()> {
        self.0.query(sql, out)
    }

    fn prepare(&mut self, sql: &[u8]) -> SqlResult<PreparedInfo> {
        let p = self.0.prepare(sql)?;
        Ok(PreparedInfo {
            handle: p.handle,
            params: p.params,
            columns: p.columns,
            cursor: p.cursor,
            bulk: p.bulk,
        })
    }

    fn execute(
        &mut self,
        handle: u32,
        params: &[ValueRef<'_>],
        types: &[(u8, u8)],
        out: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        self.0.execute(handle, params, types, out)
    }

    fn execute_bulk(
        &mut self,
        handle: u32,
        values: &[BulkValue<'_>],
        types: &[(u8, u8)],
        out: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        self.0.execute_bulk(handle, values, types, out)
    }

    fn answer_through(&mut self, late: Arc<dyn LateAnswer>) {
        self.0.answer_through(late);
    }

    fn has_commit_pending(&self) -> bool {
        self.0.has_commit_pending()
    }

    fn settle(&mut self, later: bool) -> SqlResult<bool> {
        self.0.settle(later)
    }

    fn close_statement(&mut self, handle: u32) {
        self.0.close_statement(handle);
    }

    fn init_db(&mut self, db: &str) -> SqlResult<()> {
        self.0.init_db(db)
    }

    fn reset(&mut self) -> SqlResult<()> {
        self.0.reset()
    }

    fn change_user(&mut self, info: ConnectInfo) -> SqlResult<()> {
        self.0.change_user(connect_options(info))
    }

    fn set_multi_statements(&mut self, on: bool) {
        self.0.set_multi_statements(on);
    }

    fn results_collation(&self) -> Option<Collation> {
        self.0.results_collation()
    }

    fn take_changes(&mut self) -> Vec<SessionChange> {
        self.0.take_changes()
    }

    fn status_flags(&self) -> u16 {
        self.0.status_flags()
    }

    fn timeouts(&self) -> Timeouts {
        let t = self.0.timeouts();
        Timeouts {
            idle: t.idle,
            idle_changes: t.in_transaction != IdleTransaction::default(),
            net_read: t.net_read,
            net_write: t.net_write,
        }
    }

    fn wants_to_end(&self) -> bool {
        self.0.wants_to_end()
    }

    fn field_list(&mut self, table: &str, pattern: &str) -> SqlResult<Vec<ResultColumn>> {
        let mut columns = Columns(Vec::new());
        let sql = format!("SELECT * FROM `{}` LIMIT 0", table.replace('`', "``"));
        self.0.query(sql.as_bytes(), &mut columns)?;
        columns
            .0
            .retain(|c| pattern.is_empty() || narwal_session::like(&c.name, pattern));
        Ok(columns.0)
    }

    fn statistics(&mut self) -> String {
        self.0.statistics()
    }

    fn kill(&mut self, id: u32) -> SqlResult<()> {
        self.0.kill(id)
    }

    fn raw_command(
        &mut self,
        command: u8,
        payload: &[u8],
        io: &mut dyn RawPackets,
    ) -> SqlResult<()> {
        match command {
            COM_REGISTER_SLAVE => {
                self.0.register_replica(payload)?;
                // OK: no rows affected, no insert id, status, no warnings.
                let [low, high] = self.0.status_flags().to_le_bytes();
                io.write_packet(&[&[0, 0, 0, low, high, 0, 0]])
                    .map_err(|e| errors::NET_READ_ERROR.text(e.to_string()))
            }
            COM_BINLOG_DUMP => self.0.binlog_dump(payload, &mut Packets(io)),
            COM_BINLOG_DUMP_GTID => self.0.binlog_dump_gtid(payload, &mut Packets(io)),
            _ => Err(SqlError::unsupported("this command")),
        }
    }
}

const COM_BINLOG_DUMP: u8 = 0x12;
const COM_REGISTER_SLAVE: u8 = 0x15;
const COM_BINLOG_DUMP_GTID: u8 = 0x1e;

/// A connection as a dump sees it.
struct Packets<'a>(&'a mut dyn RawPackets);

impl DumpIo for Packets<'_> {
    fn write(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        self.0.write_packet(parts)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }

    fn reset_sequence(&mut self) {
        self.0.reset_sequence();
    }

    fn wait(&mut self, wake: BorrowedFd<'_>, timeout: Option<Duration>) -> io::Result<Ready> {
        let (readable, woken) = self.0.wait(wake, timeout)?;
        Ok(Ready { readable, woken })
    }

    fn read_packet(&mut self, buf: &mut Vec<u8>) -> io::Result<bool> {
        self.0.read_packet(buf)
    }
}

/// Keeps the columns of a result and nothing else.
struct Columns(Vec<ResultColumn>);

impl ResultSink for Columns {
    fn begin_rows(&mut self, columns: &[ResultColumn]) -> SqlResult<()> {
        self.0 = columns.to_vec();
        Ok(())
    }
    fn row(&mut self, _values: &[ValueRef<'_>]) -> SqlResult<()> {
        Ok(())
    }
    fn end_rows(&mut self, _warnings: u16, _status: u16, _more: bool) -> SqlResult<()> {
        Ok(())
    }
    fn ok(&mut self, _info: &OkInfo, _status: u16, _more: bool) -> SqlResult<()> {
        Ok(())
    }
}
