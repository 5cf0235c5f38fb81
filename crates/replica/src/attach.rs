//! Attaching to a source: which server to connect to, how, and what is said before its log comes.

use crate::assemble::{Fault, SourcePosition, errno};
use narwal_binlog::{GtidSet, gtid_uuid};
use narwal_client::{Connection, Dump, DumpRequest, Error, Options, Replica, TlsMode};
use narwal_session::replica::{ConnectionConfig, Ssl, UseGtid};
use narwal_types::errors::codes;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// `MASTER_CONNECT_RETRY`'s sentence needs the numbers of the settings.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) options: Options,
    retry: u32,
    retries: u64,
}

impl Target {
    /// `credentials`: those of START SLAVE. `timeout`: `slave_net_timeout`.
    pub(crate) fn new(
        config: &ConnectionConfig,
        credentials: Option<&(String, String)>,
        timeout: Duration,
    ) -> Self {
        let mut options = Options::tcp(&config.host, config.port);
        let (user, password) = match credentials {
            Some((u, p)) => (u, p),
            None => (&config.user, &config.password),
        };
        options = options.user(user, password);
        // A path is a Unix socket: a source on the same host.
        if config.host.starts_with('/') {
            options.address = narwal_client::Address::Unix(PathBuf::from(&config.host));
        }
        options.tls = tls(&config.ssl);
        options.server_key = config.server_key;
        options.identity = (!config.ssl.cert.is_empty()).then(|| {
            (
                PathBuf::from(&config.ssl.cert),
                PathBuf::from(&config.ssl.key),
            )
        });
        options.connect_timeout = timeout;
        options.read_timeout = timeout;
        options.write_timeout = timeout;
        "narwal-replica".clone_into(&mut options.program);
        Target {
            options,
            retry: config.connect_retry,
            retries: config.retry_count,
        }
    }

    /// The error of an attempt to connect.
    pub(crate) fn failed(&self, e: &Error) -> Fault {
        let (code, text) = match e {
            Error::Server { code, message, .. } => (*code, message.clone()),
            Error::Tls(_) => (codes::SSL_CONNECTION_ERROR, e.to_string()),
            Error::Auth(_) => (codes::AUTH_PLUGIN_CANNOT_LOAD, e.to_string()),
            Error::Io(_) | Error::Closed | Error::Timeout => {
                (codes::CONN_HOST_ERROR, e.to_string())
            }
            Error::Protocol(_) => (codes::CLIENT_MALFORMED_PACKET, e.to_string()),
        };
        Fault {
            code,
            text: format!(
                "error connecting to master '{}@{}' - retry-time: {}  maximum-retries: {}  message: {text}",
                self.options.user, self.options.address, self.retry, self.retries
            ),
            retry: true,
        }
    }
}

fn tls(ssl: &Ssl) -> TlsMode {
    let authorities = (!ssl.ca.is_empty()).then(|| PathBuf::from(&ssl.ca));
    match (ssl.on, authorities, ssl.verify) {
        (false, ..) => TlsMode::Disabled,
        (true, None, false) => TlsMode::Required,
        (true, Some(path), false) => TlsMode::VerifyCa(path),
        (true, Some(path), true) => TlsMode::VerifyIdentity(path),
        // What the host's distribution trusts.
        (true, None, true) => {
            TlsMode::VerifyIdentity(PathBuf::from("/etc/ssl/certs/ca-certificates.crt"))
        }
    }
}

/// What is asked of a source.
#[derive(Debug, Clone)]
pub(crate) struct Wanted<'a> {
    pub(crate) server_id: u32,
    pub(crate) report_host: String,
    pub(crate) report_port: u16,
    pub(crate) heartbeat: Duration,
    pub(crate) use_gtid: UseGtid,
    pub(crate) place: &'a SourcePosition,
    /// This server's own transactions in MySQL's form: a MySQL that follows it does not send them back.
    pub(crate) own: &'a GtidSet,
    pub(crate) strict: bool,
    pub(crate) ignore_duplicates: bool,
    /// START SLAVE UNTIL's GTIDs.
    pub(crate) until: Option<String>,
    pub(crate) semi_sync: bool,
    /// `@narwal_connect_hash`: contents of the last groups.
    pub(crate) contents: &'a str,
}

/// What a source said of itself.
#[derive(Debug, Clone, Default)]
pub(crate) struct SourceFacts {
    pub(crate) server_id: u32,
    pub(crate) version: String,
    /// It is Narwal.
    pub(crate) narwal: bool,
    /// It is a MySQL.
    pub(crate) mysql: bool,
    /// Seconds that this host's clock is ahead of the source's.
    pub(crate) clock_ahead: i64,
    /// Acknowledgements are wanted.
    pub(crate) semi_sync: bool,
    /// The connection is encrypted.
    pub(crate) tls: bool,
}

pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// Seconds since 1970.
pub(crate) fn unix_now() -> i64 {
    SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |d| d.as_secs() as i64)
}

/// An error of a statement that the source must be able to answer.
fn must(what: &'static str) -> impl Fn(Error) -> Fault {
    move |e| match &e {
        Error::Server { .. } if !e.is_retriable() => Fault::fatal(
            errno::FATAL,
            format!("Fatal error: the source does not answer {what}: {e}"),
        ),
        _ => lost(&e),
    }
}

/// The link broke: the next one may do better.
pub(crate) fn lost(e: &Error) -> Fault {
    Fault {
        code: match e.code() {
            0 => codes::SERVER_LOST,
            code => code,
        },
        text: format!("the link to the source broke: {e}"),
        retry: true,
    }
}

/// Says what a replica says, and asks for the log.
pub(crate) fn attach(mut c: Connection, w: &Wanted<'_>) -> Result<(Dump, SourceFacts), Fault> {
    let mut facts = ask_facts(&mut c, w)?;
    if facts.mysql {
        return attach_mysql(c, w, facts);
    }
    set_variables(&mut c, w, facts.narwal)?;
    if w.use_gtid == UseGtid::No {
        show_gtids(&mut c, w)?;
    } else {
        set_gtids(&mut c, w)?;
    }
    register(&mut c, w)?;
    facts.semi_sync = w.semi_sync && ask_semi_sync(&mut c)?;
    let dump = c
        .dump(&DumpRequest {
            server_id: w.server_id,
            file: w.place.file.to_string(),
            position: start_position(w)?,
            gtid_set: None,
            non_blocking: false,
            annotate: true,
            semi_sync: facts.semi_sync,
        })
        .map_err(|e| lost(&e))?;
    Ok((dump, facts))
}

/// The same to a MySQL, in the words of its own replicas.
fn attach_mysql(
    mut c: Connection,
    w: &Wanted<'_>,
    mut facts: SourceFacts,
) -> Result<(Dump, SourceFacts), Fault> {
    if w.until.is_some() {
        return Err(Fault::fatal(
            errno::FATAL,
            "Fatal error: START SLAVE UNTIL MASTER_GTID_POS needs a source with GTIDs of MariaDB's form, and this one is a MySQL",
        ));
    }
    let by_set = w.use_gtid != UseGtid::No;
    if by_set {
        must_have_gtids(&mut c)?;
    }
    if !w.heartbeat.is_zero() {
        let nanos = w.heartbeat.as_nanos();
        let sql =
            format!("SET @master_heartbeat_period = {nanos}, @source_heartbeat_period = {nanos}");
        c.execute(&sql).map_err(must("@source_heartbeat_period"))?;
    }
    let uuid = gtid_uuid(0, w.server_id);
    for sql in [
        "SET @master_binlog_checksum = @@global.binlog_checksum, @source_binlog_checksum = @@global.binlog_checksum"
            .to_owned(),
        format!("SET @slave_uuid = '{uuid}', @replica_uuid = '{uuid}'"),
    ] {
        c.execute(&sql).map_err(must("what a replica says of itself"))?;
    }
    register(&mut c, w)?;
    facts.semi_sync = w.semi_sync && ask_semi_sync_mysql(&mut c)?;
    let gtid_set = by_set.then(|| {
        let mut have = w.place.mysql.clone();
        have.merge(w.own);
        have.to_bytes()
    });
    let dump = c
        .dump(&DumpRequest {
            server_id: w.server_id,
            file: w.place.file.to_string(),
            position: start_position(w)?,
            gtid_set,
            non_blocking: false,
            annotate: false,
            semi_sync: facts.semi_sync,
        })
        .map_err(|e| lost(&e))?;
    Ok((dump, facts))
}

/// A MySQL gives GTIDs only if it is told to.
fn must_have_gtids(c: &mut Connection) -> Result<(), Fault> {
    let mode = c
        .value("SELECT @@GLOBAL.gtid_mode")
        .map_err(must("gtid_mode"))?
        .unwrap_or_default();
    if mode.eq_ignore_ascii_case("ON") {
        return Ok(());
    }
    Err(Fault::fatal(
        errno::FATAL,
        format!(
            "Fatal error: the source has gtid_mode={mode}, so it can't be followed by GTID: set gtid_mode=ON there, or \
             SOURCE_AUTO_POSITION=0 with SOURCE_LOG_FILE and SOURCE_LOG_POS here"
        ),
    ))
}

/// As [`ask_semi_sync`], for MySQL's plugin under either of its names.
fn ask_semi_sync_mysql(c: &mut Connection) -> Result<bool, Fault> {
    let found = c
        .query("SHOW VARIABLES WHERE Variable_name IN ('rpl_semi_sync_source_enabled', 'rpl_semi_sync_master_enabled')")
        .map_err(must("rpl_semi_sync_source_enabled"))?;
    if found.text(0, 1).is_none() {
        tracing::warn!(
            "the source has no semi-synchronous replication: this replica goes on without"
        );
        return Ok(false);
    }
    c.execute("SET @rpl_semi_sync_replica = 1, @rpl_semi_sync_slave = 1")
        .map_err(must("@rpl_semi_sync_replica"))?;
    Ok(true)
}

/// What server the source is, and what its clock says.
fn ask_facts(c: &mut Connection, w: &Wanted<'_>) -> Result<SourceFacts, Fault> {
    let narwal = c.server_version().to_ascii_lowercase().contains("narwal");
    let mut facts = SourceFacts {
        version: c.server_version().to_owned(),
        narwal,
        // Under MySQL's face its log is Narwal's still: GTIDs and positions stay what they are.
        mysql: !c.is_mariadb() && !narwal,
        tls: c.is_tls(),
        ..SourceFacts::default()
    };
    match c.value("SELECT UNIX_TIMESTAMP()") {
        Ok(text) => {
            if let Some(theirs) = text.and_then(|t| t.parse::<i64>().ok()) {
                facts.clock_ahead = unix_now() - theirs;
            }
        }
        Err(e @ Error::Server { .. }) => {
            tracing::warn!(error = %e, "the source's clock is not known: Seconds_Behind_Master may be wrong");
        }
        Err(e) => return Err(lost(&e)),
    }
    let id = c
        .query("SHOW VARIABLES LIKE 'SERVER_ID'")
        .map_err(must("its server_id"))?
        .text(0, 1)
        .and_then(|v| v.parse::<u32>().ok());
    facts.server_id =
        id.ok_or_else(|| Fault::fatal(errno::FATAL, "Fatal error: the source has no server_id"))?;
    if facts.server_id == w.server_id {
        return Err(Fault::fatal(
            errno::FATAL,
            format!(
                "Fatal error: source and replica have equal server ids ({}): each server needs one of its own (SET GLOBAL server_id)",
                w.server_id
            ),
        ));
    }
    Ok(facts)
}

/// The variables by which a MariaDB replica says what it understands.
fn set_variables(c: &mut Connection, w: &Wanted<'_>, narwal: bool) -> Result<(), Fault> {
    if !w.heartbeat.is_zero() {
        let sql = format!("SET @master_heartbeat_period= {}", w.heartbeat.as_nanos());
        c.execute(&sql).map_err(must("@master_heartbeat_period"))?;
    }
    match c.execute("SET @master_binlog_checksum= @@global.binlog_checksum") {
        Ok(_) => {
            c.value("SELECT @master_binlog_checksum")
                .map_err(must("@master_binlog_checksum"))?;
        }
        // A server of before checksums.
        Err(e) if e.code() == codes::UNKNOWN_SYSTEM_VARIABLE => {}
        Err(e) => return Err(must("@@global.binlog_checksum")(e)),
    }
    c.execute("SET @mariadb_slave_capability=4")
        .map_err(must("@mariadb_slave_capability"))?;
    if narwal && !w.contents.is_empty() {
        let sql = format!("SET @narwal_connect_hash={}", quoted(w.contents));
        c.execute(&sql).map_err(must("@narwal_connect_hash"))?;
    }
    Ok(())
}

/// For the server's log: the GTIDs at the file and offset to start from.
fn show_gtids(c: &mut Connection, w: &Wanted<'_>) -> Result<(), Fault> {
    if !w.place.file.is_empty() {
        let sql = format!(
            "SELECT binlog_gtid_pos({},{})",
            quoted(&w.place.file),
            w.place.pos
        );
        // Only told here; a source that can't say goes on.
        match c.value(&sql) {
            Ok(gtids) => tracing::debug!(
                gtids = gtids.unwrap_or_default(),
                "GTIDs at the place to start from"
            ),
            Err(Error::Server { .. }) => {}
            Err(e) => return Err(lost(&e)),
        }
    }
    Ok(())
}

/// Says from which GTIDs on the log is wanted.
fn set_gtids(c: &mut Connection, w: &Wanted<'_>) -> Result<(), Fault> {
    c.value("SELECT @@GLOBAL.gtid_domain_id")
        .map_err(must("gtid_domain_id: it has no GTIDs of MariaDB's kind"))?;
    let sets = [
        format!("SET @slave_connect_state={}", quoted(&w.place.gtid_text())),
        format!("SET @slave_gtid_strict_mode={}", u8::from(w.strict)),
        format!(
            "SET @slave_gtid_ignore_duplicates={}",
            u8::from(w.ignore_duplicates)
        ),
    ];
    for sql in sets {
        c.execute(&sql).map_err(must("GTID positions"))?;
    }
    if let Some(until) = &w.until {
        c.execute(&format!("SET @slave_until_gtid={}", quoted(until)))
            .map_err(must("@slave_until_gtid"))?;
    }
    Ok(())
}

/// COM_REGISTER_SLAVE.
fn register(c: &mut Connection, w: &Wanted<'_>) -> Result<(), Fault> {
    c.register_replica(&Replica {
        server_id: w.server_id,
        host: w.report_host.clone(),
        port: w.report_port,
    })
    .map_err(|e| match e {
        Error::Server { .. } => Fault {
            code: errno::SOURCE_COMMAND,
            text: format!("Master command COM_REGISTER_SLAVE failed: {e}"),
            retry: true,
        },
        e => lost(&e),
    })
}

/// Whether the source has semi-synchronous replication; if so, it is told that this replica takes part.
fn ask_semi_sync(c: &mut Connection) -> Result<bool, Fault> {
    let mut shown = |name: &'static str| -> Result<bool, Fault> {
        let found = c
            .query(&format!("SHOW VARIABLES LIKE '{name}'"))
            .map_err(must(name))?;
        Ok(found.text(0, 1).is_some())
    };
    // A Narwal with MySQL's face shows MySQL's name of it.
    let can = shown("rpl_semi_sync_master_enabled")? || shown("rpl_semi_sync_source_enabled")?;
    if !can {
        tracing::warn!(
            "the source has no semi-synchronous replication: this replica goes on without"
        );
        return Ok(false);
    }
    c.execute("SET @rpl_semi_sync_slave= 1")
        .map_err(must("@rpl_semi_sync_slave"))?;
    Ok(true)
}

/// The offset that the dump command asks for. With GTIDs it has no meaning for the source.
fn start_position(w: &Wanted<'_>) -> Result<u32, Fault> {
    let position = u32::try_from(w.place.pos).map_err(|_| {
        Fault::fatal(
            errno::FATAL,
            format!(
                "Fatal error: position {} can't be asked for: it needs more than 32 bits",
                w.place.pos
            ),
        )
    });
    let position = match w.use_gtid {
        UseGtid::No => position?,
        _ => position.unwrap_or(4),
    };
    Ok(position.max(4))
}

/// What the source's error in the middle of its log means.
pub(crate) fn refused(e: &Error) -> Fault {
    const FATAL_READ: u16 = codes::MASTER_FATAL_ERROR_READING_BINLOG;
    const PACKET_TOO_LARGE: u16 = codes::NET_PACKET_TOO_LARGE;
    const DENIED: u16 = codes::SPECIFIC_ACCESS_DENIED_ERROR;
    match e {
        Error::Server { code, message, .. } if *code == FATAL_READ => Fault::fatal(
            FATAL_READ,
            format!(
                "Got fatal error 1236 from master when reading data from binary log: '{message}'"
            ),
        ),
        Error::Server {
            code: code @ (PACKET_TOO_LARGE | DENIED),
            message,
            ..
        } => Fault::fatal(*code, format!("the source refuses its log: {message}")),
        Error::Protocol(_) => Fault::fatal(errno::QUEUE, e.to_string()),
        e => lost(e),
    }
}
