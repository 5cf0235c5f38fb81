//! All connections of a server: what CHANGE MASTER, START SLAVE and the like do. Settings are catalog objects, changed by
//! local commits that no replica of ours sees; threads are the channels' own.

use crate::channel::Channel;
use narwal_binlog::Gtid;
use narwal_engine::{CatalogChange, Ddl, TxnOptions};
use narwal_session::Instance;
use narwal_session::replica::{
    ChangeMaster, Condition, ConnectionConfig, ConnectionStatus, HEARTBEAT_TOO_SHORT,
    ReplicaControl, StartWhat, Threads, Until, UseGtid, Which, must_stop, no_connection,
    not_configured, note, warning,
};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult};
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// Catalog objects: settings of a connection, by its name in lower case.
const OBJECTS: &str = "replica/connection/";
/// Catalog object: the highest id that a connection ever had.
const LAST_ID: &str = "replica/last_id";
/// Longest heartbeat period, seconds.
const MAX_HEARTBEAT: u64 = 4_294_967;

/// The connections of a server.
pub struct Manager {
    /// The instance holds the manager.
    instance: Weak<Instance>,
    /// By name in lower case. Held for moments only.
    channels: RwLock<BTreeMap<String, Arc<Channel>>>,
    /// One statement at a time that changes connections or starts them.
    admin: Mutex<()>,
    /// The highest id given out since the start: what the catalog says may be held back by the gate.
    last_id: AtomicU32,
}

impl std::fmt::Debug for Manager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Manager").finish_non_exhaustive()
    }
}

impl Manager {
    /// Reads the connections that the catalog has, and becomes the instance's replica control. Nothing is started.
    ///
    /// # Errors
    /// A connection can't be set up.
    pub fn open(instance: &Arc<Instance>) -> SqlResult<Arc<Manager>> {
        let mut channels = BTreeMap::new();
        let catalog = instance.database().catalog();
        for (key, json) in catalog.objects(OBJECTS) {
            let config: ConnectionConfig = match serde_json::from_str(json) {
                Ok(c) => c,
                Err(e) => {
                    tracing::error!(
                        "the settings in {key} can't be read, the connection is left out: {e}"
                    );
                    continue;
                }
            };
            let filter = instance.replica_filter(&config.name);
            let key = config.name.to_lowercase();
            let channel = Channel::new(instance.clone(), Arc::new(config), filter)?;
            channels.insert(key, Arc::new(channel));
        }
        let manager = Arc::new(Manager {
            instance: Arc::downgrade(instance),
            channels: RwLock::new(channels),
            admin: Mutex::new(()),
            last_id: AtomicU32::new(0),
        });
        instance.set_replica_control(manager.clone());
        Ok(manager)
    }

    /// Starts every connection that has a source, as a server does when it starts; what fails is logged.
    pub fn start_all(&self) {
        for channel in self.all() {
            let config = channel.config();
            if config.host.is_empty() {
                continue;
            }
            if let Err(e) = channel.start(&StartWhat::both()) {
                tracing::error!(
                    connection = config.name,
                    "the connection can't be started: {e}"
                );
            }
        }
    }

    fn instance(&self) -> SqlResult<Arc<Instance>> {
        self.instance
            .upgrade()
            .ok_or_else(|| errors::SERVER_SHUTDOWN.plain())
    }

    fn find(&self, name: &str) -> Option<Arc<Channel>> {
        self.channels.read().get(&name.to_lowercase()).cloned()
    }

    fn all(&self) -> Vec<Arc<Channel>> {
        self.channels.read().values().cloned().collect()
    }

    /// Stores changes that concern this server alone. They are durable, whatever innodb_flush_log_at_trx_commit says: a crash
    /// does not take a connection that was answered for.
    fn store(&self, changes: Vec<CatalogChange>) -> SqlResult<()> {
        let ddl = Ddl {
            changes,
            ..Ddl::default()
        };
        let options = TxnOptions {
            log_bin: false,
            // The replica of a primary whose commits wait for acknowledgements can be set up all the same.
            unheld: true,
            ..TxnOptions::default()
        };
        let instance = self.instance()?;
        instance.database().ddl(ddl, &options)?;
        instance.database().sync()?;
        Ok(())
    }

    /// Error 1934: two connections to the same server.
    fn check_conflict(&self, config: &ConnectionConfig) -> SqlResult<()> {
        for other in self.all() {
            let other = other.config();
            if other.id != config.id
                && !config.host.is_empty()
                && other.host.eq_ignore_ascii_case(&config.host)
                && other.port == config.port
            {
                return Err(errors::CONNECTION_ALREADY_EXISTS.with([&config.name, &other.name]));
            }
        }
        Ok(())
    }

    fn new_id(&self) -> SqlResult<u32> {
        let instance = self.instance()?;
        let catalog = instance.database().catalog();
        let last = catalog
            .object(LAST_ID)
            .and_then(|v| v.parse::<u32>().ok())
            .unwrap_or(0);
        let used = self.all().iter().map(|c| c.config().id).max().unwrap_or(0);
        let given = self.last_id.load(Ordering::Relaxed);
        let id = last.max(used).max(given) + 1;
        self.last_id.store(id, Ordering::Relaxed);
        Ok(id)
    }

    fn start_one(&self, channel: &Channel, what: &StartWhat) -> SqlResult<bool> {
        let config = channel.config();
        if config.host.is_empty() {
            return Err(not_configured());
        }
        if let Some(until) = &what.until {
            if matches!(until, Until::Gtid(_)) && config.use_gtid == UseGtid::No {
                return Err(errors::UNTIL_REQUIRES_USING_GTID.plain());
            }
            // An applier that runs is not told anew where to stop.
            if channel.running().sql || (channel.running().io && !what.threads.sql) {
                return Err(errors::SLAVE_WAS_RUNNING.plain());
            }
        }
        channel.set_filter(self.instance()?.replica_filter(&config.name));
        channel.start(what)
    }

    fn status_of(&self, channel: &Channel) -> SqlResult<ConnectionStatus> {
        let instance = self.instance()?;
        let config = channel.config();
        Ok(ConnectionStatus {
            filter: instance.replica_filter(&config.name),
            channel: channel.status(),
            skip_counter: channel.skip_counter(),
            parallel_mode: instance.global_value("slave_parallel_mode").show(),
            gtid_slave_pos: instance.gtid_slave_pos_text(),
            config,
        })
    }
}

/// What CHANGE MASTER makes of a connection's settings.
struct Changed {
    config: ConnectionConfig,
    /// The position is another one.
    moved: bool,
    notes: Vec<Condition>,
}

/// Applies a statement's options. `at` is the position up to which the source's log was applied, `net_timeout` is
/// `slave_net_timeout` in seconds.
fn change(
    mut c: ConnectionConfig,
    m: &ChangeMaster,
    at: Option<(Arc<str>, u64)>,
    net_timeout: u64,
) -> SqlResult<Changed> {
    let mut notes = Vec::new();
    // Another server's log, or so it may be: even where host and port are the same as before.
    let other_server = m.host.is_some() || m.port.is_some();
    let positioned = m.log_file.is_some() || m.log_pos.is_some();
    let moved = other_server || positioned;
    if other_server {
        (c.log_file, c.log_pos) = (String::new(), 4);
    } else if let Some((file, pos)) = at {
        (c.log_file, c.log_pos) = (file.to_string(), pos);
    }
    macro_rules! take {
        ($($from:ident => $to:expr),* $(,)?) => {$(
            if let Some(v) = &m.$from {
                $to = v.clone();
            }
        )*};
    }
    take!(
        host => c.host,
        port => c.port,
        user => c.user,
        password => c.password,
        connect_retry => c.connect_retry,
        retry_count => c.retry_count,
        server_key => c.server_key,
        delay => c.delay,
        log_file => c.log_file,
        log_pos => c.log_pos,
        ssl => c.ssl.on,
        ssl_verify => c.ssl.verify,
        ssl_ca => c.ssl.ca,
        ssl_capath => c.ssl.capath,
        ssl_cert => c.ssl.cert,
        ssl_key => c.ssl.key,
        ssl_cipher => c.ssl.cipher,
        ssl_crl => c.ssl.crl,
        ssl_crlpath => c.ssl.crlpath,
        ignore_server_ids => c.ignore_server_ids,
        do_domain_ids => c.do_domain_ids,
        ignore_domain_ids => c.ignore_domain_ids,
    );
    use_gtid(&mut c, m, positioned, &mut notes);
    if m.demote && c.use_gtid != UseGtid::SlavePos {
        return Err(errors::CM_OPTION_MISSING_REQUIREMENT.with([
            &"MASTER_DEMOTE_TO_SLAVE",
            &"TRUE",
            &"Using_Gtid=Slave_Pos",
        ]));
    }
    if !c.do_domain_ids.is_empty() && !c.ignore_domain_ids.is_empty() {
        return Err(errors::MASTER_INFO.with([
            &c.name,
            &"DO_DOMAIN_IDS and IGNORE_DOMAIN_IDS can't both have members",
        ]));
    }
    c.heartbeat_millis = heartbeat(m, net_timeout, &mut notes);
    Ok(Changed {
        config: c,
        moved,
        notes,
    })
}

/// MASTER_USE_GTID, given or following from a position that was given.
fn use_gtid(
    c: &mut ConnectionConfig,
    m: &ChangeMaster,
    positioned: bool,
    notes: &mut Vec<Condition>,
) {
    match m.use_gtid {
        Some(u) => {
            c.use_gtid = u;
            let given = [
                ("MASTER_LOG_FILE", m.log_file.is_some()),
                ("MASTER_LOG_POS", m.log_pos.is_some()),
            ];
            for (option, _) in given.iter().filter(|g| g.1 && u != UseGtid::No) {
                notes.push(note(
                    codes::WARN_OPTION_IGNORED,
                    format!("<{option}> option ignored"),
                ));
            }
        }
        None if positioned && c.use_gtid != UseGtid::No => {
            notes.push(note(
                codes::WARN_OPTION_CHANGING,
                format!(
                    "CHANGE MASTER TO is implicitly changing the value of 'Using_Gtid' from '{}' to 'No'",
                    c.use_gtid.name()
                ),
            ));
            c.use_gtid = UseGtid::No;
        }
        None => {}
    }
}

/// MASTER_HEARTBEAT_PERIOD in milliseconds.
fn heartbeat(m: &ChangeMaster, net_timeout: u64, notes: &mut Vec<Condition>) -> u64 {
    match m.heartbeat_millis {
        Some(HEARTBEAT_TOO_SHORT) => {
            notes.push(warning(
                codes::SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE_MIN,
                "The heartbeat period is shorter than 1 millisecond: it is taken for 0, which is no heartbeats",
            ));
            0
        }
        Some(ms) => {
            if ms > net_timeout * 1000 {
                notes.push(warning(
                    codes::SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE_MAX,
                    "The heartbeat period is longer than slave_net_timeout: an idle link will be taken for a broken one",
                ));
            }
            ms
        }
        // Each CHANGE MASTER without it sets the default.
        None => (net_timeout * 500).min(MAX_HEARTBEAT * 1000),
    }
}

/// `gtid_slave_pos` with what stands in the binary log, whichever is newer in each domain: all that a server has.
fn demoted(mut slave_pos: BTreeMap<u32, Gtid>, binlog_pos: &str) -> String {
    for g in binlog_pos.split(',').filter_map(|g| g.parse::<Gtid>().ok()) {
        let known = slave_pos.entry(g.domain).or_insert(g);
        if known.seq < g.seq {
            *known = g;
        }
    }
    let all: Vec<String> = slave_pos.values().map(Gtid::to_string).collect();
    all.join(",")
}

fn put(config: &ConnectionConfig) -> SqlResult<CatalogChange> {
    Ok(CatalogChange::PutObject {
        key: format!("{OBJECTS}{}", config.name.to_lowercase()),
        value: serde_json::to_string(config)
            .map_err(|e| SqlError::unknown(format!("settings of a connection: {e}")))?,
    })
}

impl ReplicaControl for Manager {
    fn change_master(&self, name: &str, m: &ChangeMaster) -> SqlResult<Vec<Condition>> {
        let _one = self.admin.lock();
        let instance = self.instance()?;
        let db = instance.database();
        let channel = self.find(name);
        let old = match &channel {
            Some(c) => {
                if c.running() != Threads::NONE {
                    return Err(must_stop(&c.config().name));
                }
                ConnectionConfig::clone(&c.config())
            }
            None => ConnectionConfig {
                id: self.new_id()?,
                name: name.to_owned(),
                retry_count: instance.global_value("master_retry_count").as_u64(),
                ..ConnectionConfig::default()
            },
        };
        let state = db.replica_state();
        let at = state.channels.get(&old.id).cloned();
        let net_timeout = instance.global_value("slave_net_timeout").as_u64();
        let changed = change(old, m, at, net_timeout)?;
        self.check_conflict(&changed.config)?;
        let mut changes = vec![put(&changed.config)?];
        if channel.is_none() {
            changes.push(CatalogChange::PutObject {
                key: LAST_ID.into(),
                value: changed.config.id.to_string(),
            });
        }
        let slave_pos = m
            .demote
            .then(|| demoted(state.slave_pos, &db.binlog_position().gtid_pos));
        if changed.moved || slave_pos.is_some() {
            changes.push(CatalogChange::SetReplicaState {
                slave_pos,
                // The settings have the position from here on.
                channel: changed.moved.then_some((changed.config.id, None)),
                mysql: None,
            });
        }
        self.store(changes)?;
        let config = Arc::new(changed.config);
        match channel {
            Some(c) => {
                c.set_config(config);
                c.set_skip_counter(0);
            }
            None => {
                let filter = instance.replica_filter(name);
                let channel = Arc::new(Channel::new(instance.clone(), config, filter)?);
                self.channels.write().insert(name.to_lowercase(), channel);
            }
        }
        Ok(changed.notes)
    }

    fn start(&self, which: Which<'_>, what: &StartWhat) -> SqlResult<Vec<Condition>> {
        let _one = self.admin.lock();
        match which {
            Which::Named(name) => {
                let channel = match self.find(name) {
                    Some(c) => c,
                    None if name.is_empty() => return Err(not_configured()),
                    None => return Err(no_connection(name)),
                };
                Ok(if self.start_one(&channel, what)? {
                    Vec::new()
                } else {
                    vec![note(codes::SLAVE_WAS_RUNNING, "Slave is already running")]
                })
            }
            Which::All => {
                let mut notes = Vec::new();
                let mut failed = None;
                for channel in self.all() {
                    if channel.config().host.is_empty() {
                        continue;
                    }
                    match self.start_one(&channel, what) {
                        Ok(true) => notes.push(note(
                            codes::SLAVE_STARTED,
                            format!("SLAVE '{}' started", channel.config().name),
                        )),
                        Ok(false) => {}
                        Err(e) => failed = failed.or(Some(e)),
                    }
                }
                failed.map_or(Ok(notes), Err)
            }
        }
    }

    fn stop(&self, which: Which<'_>, threads: Threads) -> SqlResult<Vec<Condition>> {
        match which {
            Which::Named(name) => {
                let stopped = match self.find(name) {
                    Some(channel) => channel.stop(threads),
                    None if name.is_empty() => false,
                    None => return Err(no_connection(name)),
                };
                Ok(if stopped {
                    Vec::new()
                } else {
                    vec![note(
                        codes::SLAVE_WAS_NOT_RUNNING,
                        "Slave already has been stopped",
                    )]
                })
            }
            Which::All => {
                let all = self.all();
                stop_together(&all, threads);
                Ok(all
                    .iter()
                    .map(|c| {
                        note(
                            codes::SLAVE_STOPPED,
                            format!("SLAVE '{}' stopped", c.config().name),
                        )
                    })
                    .collect())
            }
        }
    }

    fn reset(&self, name: &str, all: bool) -> SqlResult<Vec<Condition>> {
        let _one = self.admin.lock();
        let Some(channel) = self.find(name) else {
            return if name.is_empty() {
                Ok(Vec::new())
            } else {
                Err(no_connection(name))
            };
        };
        let mut config = ConnectionConfig::clone(&channel.config());
        if channel.running() != Threads::NONE {
            return Err(must_stop(&config.name));
        }
        let mut notes = Vec::new();
        if config.use_gtid != UseGtid::SlavePos {
            notes.push(note(
                codes::WARN_OPTION_CHANGING,
                format!(
                    "RESET SLAVE is implicitly changing the value of 'Using_Gtid' from '{}' to 'Slave_Pos'",
                    config.use_gtid.name()
                ),
            ));
        }
        config.use_gtid = UseGtid::SlavePos;
        (config.log_file, config.log_pos) = (String::new(), 4);
        // As MariaDB has it.
        (config.delay, config.ssl.verify) = (0, false);
        let forget = CatalogChange::SetReplicaState {
            slave_pos: None,
            channel: Some((config.id, None)),
            mysql: None,
        };
        if all {
            let key = format!("{OBJECTS}{}", config.name.to_lowercase());
            self.store(vec![CatalogChange::DeleteObject { key }, forget])?;
            self.channels.write().remove(&name.to_lowercase());
        } else {
            self.store(vec![put(&config)?, forget])?;
            channel.set_config(Arc::new(config));
            channel.set_skip_counter(0);
        }
        Ok(notes)
    }

    fn status(&self, which: Which<'_>) -> SqlResult<Vec<ConnectionStatus>> {
        match which {
            Which::Named(name) => match self.find(name) {
                // A connection without a host is not shown, as in MariaDB.
                Some(c) if c.config().host.is_empty() => Ok(Vec::new()),
                Some(c) => Ok(vec![self.status_of(&c)?]),
                None if name.is_empty() => Ok(Vec::new()),
                None => Err(no_connection(name)),
            },
            Which::All => self
                .all()
                .iter()
                .filter(|c| !c.config().host.is_empty())
                .map(|c| self.status_of(c))
                .collect(),
        }
    }

    fn skip_counter(&self, name: &str) -> u64 {
        self.find(name).map_or(0, |c| c.skip_counter())
    }

    fn set_skip_counter(&self, name: &str, groups: u64) -> SqlResult<()> {
        let _one = self.admin.lock();
        let Some(channel) = self.find(name) else {
            return match (name, groups) {
                ("", 0) => Ok(()),
                ("", _) => Err(not_configured()),
                _ => Err(no_connection(name)),
            };
        };
        if channel.running().sql {
            return Err(must_stop(&channel.config().name));
        }
        channel.set_skip_counter(groups);
        Ok(())
    }

    fn running(&self) -> Option<String> {
        self.all()
            .iter()
            .find_map(|c| (c.running() != Threads::NONE).then(|| c.config().name.clone()))
    }

    fn wait_for_position(
        &self,
        name: &str,
        file: &str,
        pos: u64,
        timeout: Option<Duration>,
        killed: &dyn Fn() -> bool,
    ) -> Option<i64> {
        self.find(name)?
            .wait_for_position(file, pos, timeout, killed)
    }

    fn shutdown(&self) {
        // Starts that come later find nothing to start.
        let _one = self.admin.lock();
        let all: Vec<Arc<Channel>> = std::mem::take(&mut *self.channels.write())
            .into_values()
            .collect();
        stop_together(&all, Threads::BOTH);
    }
}

/// Stops connections at the same time: each may take seconds.
fn stop_together(channels: &[Arc<Channel>], threads: Threads) {
    std::thread::scope(|scope| {
        for channel in channels {
            scope.spawn(move || channel.stop(threads));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base() -> ConnectionConfig {
        ConnectionConfig {
            id: 1,
            host: "h".into(),
            log_file: "f".into(),
            log_pos: 99,
            ..ConnectionConfig::default()
        }
    }

    fn with(c: ConnectionConfig, m: ChangeMaster) -> Changed {
        change(c, &m, None, 60).unwrap()
    }

    #[test]
    fn another_source_has_another_position() {
        let c = with(
            base(),
            ChangeMaster {
                port: Some(3306),
                ..ChangeMaster::default()
            },
        );
        assert!(c.moved);
        assert_eq!((c.config.log_file.as_str(), c.config.log_pos), ("", 4));
        let c = with(
            base(),
            ChangeMaster {
                user: Some("u".into()),
                ..ChangeMaster::default()
            },
        );
        assert!(!c.moved);
        assert_eq!((c.config.log_file.as_str(), c.config.log_pos), ("f", 99));
    }

    #[test]
    fn a_position_means_no_gtids() {
        let c = with(
            base(),
            ChangeMaster {
                log_pos: Some(5),
                ..ChangeMaster::default()
            },
        );
        assert_eq!(c.config.use_gtid, UseGtid::No);
        assert_eq!((c.config.log_file.as_str(), c.config.log_pos), ("f", 5));
        assert_eq!(c.notes[0].code, 4190);
        let c = with(
            base(),
            ChangeMaster {
                log_pos: Some(5),
                use_gtid: Some(UseGtid::CurrentPos),
                ..ChangeMaster::default()
            },
        );
        assert_eq!(
            (c.config.use_gtid, c.notes[0].code),
            (UseGtid::CurrentPos, 1618)
        );
        // The rest of a position is where the applier is, not where it began.
        let m = ChangeMaster {
            log_file: Some("g".into()),
            ..ChangeMaster::default()
        };
        let c = change(base(), &m, Some(("x".into(), 1234)), 60).unwrap();
        assert_eq!((c.config.log_file.as_str(), c.config.log_pos), ("g", 1234));
    }

    #[test]
    fn heartbeats() {
        let period = |ms| {
            with(
                base(),
                ChangeMaster {
                    heartbeat_millis: ms,
                    ..ChangeMaster::default()
                },
            )
        };
        assert_eq!(period(None).config.heartbeat_millis, 30_000);
        assert_eq!(period(Some(0)).config.heartbeat_millis, 0);
        assert!(period(Some(60_000)).notes.is_empty());
        assert_eq!(period(Some(60_001)).notes[0].code, 1704);
        let short = period(Some(HEARTBEAT_TOO_SHORT));
        assert_eq!(
            (short.config.heartbeat_millis, short.notes[0].code),
            (0, 1703)
        );
    }

    #[test]
    fn demotion_takes_what_is_newer() {
        let g = |s: &str| s.parse::<Gtid>().unwrap();
        let pos = BTreeMap::from([(0, g("0-1-5")), (1, g("1-1-9"))]);
        assert_eq!(demoted(pos, "0-2-7,1-2-8,2-2-1"), "0-2-7,1-1-9,2-2-1");
        assert_eq!(demoted(BTreeMap::new(), ""), "");
        let e = change(
            base(),
            &ChangeMaster {
                demote: true,
                use_gtid: Some(UseGtid::CurrentPos),
                ..ChangeMaster::default()
            },
            None,
            60,
        );
        assert_eq!(e.err().unwrap().code, 4191);
    }
}
