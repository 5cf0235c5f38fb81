//! Settings of a connection.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Heartbeat period of a new connection whose CHANGE MASTER names none: half of `slave_net_timeout`, which is this for
/// its default of 60 s. Milliseconds.
pub const DEFAULT_HEARTBEAT_MILLIS: u64 = 30_000;

/// [`ChangeMaster::heartbeat_millis`] of a period between 0 and a millisecond, which is taken for 0 with a warning.
pub const HEARTBEAT_TOO_SHORT: u64 = 1 << 63;

/// `MASTER_USE_GTID`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum UseGtid {
    /// By file and position.
    No,
    /// From `gtid_slave_pos`.
    #[default]
    SlavePos,
    /// From `gtid_current_pos`.
    CurrentPos,
}

impl UseGtid {
    /// As SHOW SLAVE STATUS writes it.
    pub fn name(self) -> &'static str {
        match self {
            UseGtid::No => "No",
            UseGtid::SlavePos => "Slave_Pos",
            UseGtid::CurrentPos => "Current_Pos",
        }
    }
}

/// TLS of a connection. File names are as given; empty is none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ssl {
    /// `MASTER_SSL`: the connection is encrypted or is not made.
    pub on: bool,
    /// `MASTER_SSL_VERIFY_SERVER_CERT`.
    pub verify: bool,
    /// `MASTER_SSL_CA`: PEM file with the certificates that are trusted.
    pub ca: String,
    /// `MASTER_SSL_CAPATH`.
    pub capath: String,
    /// `MASTER_SSL_CERT`: PEM file with the replica's own certificate.
    pub cert: String,
    /// `MASTER_SSL_KEY`: PEM file with its key.
    pub key: String,
    /// `MASTER_SSL_CIPHER`.
    pub cipher: String,
    /// `MASTER_SSL_CRL`.
    pub crl: String,
    /// `MASTER_SSL_CRLPATH`.
    pub crlpath: String,
}

/// What is kept of a connection: JSON in the catalog object `replica/connection/<name>`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConnectionConfig {
    /// Number of the connection, from 1; never used again for another. Origins of commits name it.
    pub id: u32,
    /// Name as first given; empty for the default connection.
    pub name: String,
    /// `MASTER_HOST`; empty if there is none yet.
    pub host: String,
    /// `MASTER_PORT`.
    pub port: u16,
    /// `MASTER_USER`.
    pub user: String,
    /// `MASTER_PASSWORD`, in clear as in MariaDB's master.info.
    pub password: String,
    /// `MASTER_CONNECT_RETRY`: seconds between attempts.
    pub connect_retry: u32,
    /// Attempts before the receiver gives up; 0 is without end. (`master_retry_count`, an option of the server.)
    pub retry_count: u64,
    /// `GET_SOURCE_PUBLIC_KEY`: a source's RSA key is asked for where a password must be sealed and there is no TLS.
    pub server_key: bool,
    /// `MASTER_HEARTBEAT_PERIOD`, milliseconds; 0 is no heartbeats.
    pub heartbeat_millis: u64,
    /// `MASTER_DELAY`, seconds.
    pub delay: u32,
    /// `MASTER_SSL...`
    pub ssl: Ssl,
    /// `MASTER_LOG_FILE`: where to begin without GTIDs; empty is the source's first file.
    pub log_file: String,
    /// `MASTER_LOG_POS`.
    pub log_pos: u64,
    /// `MASTER_USE_GTID`.
    pub use_gtid: UseGtid,
    /// `IGNORE_SERVER_IDS`.
    pub ignore_server_ids: BTreeSet<u32>,
    /// `DO_DOMAIN_IDS`: if there are any, groups of other domains are not applied.
    pub do_domain_ids: BTreeSet<u32>,
    /// `IGNORE_DOMAIN_IDS`.
    pub ignore_domain_ids: BTreeSet<u32>,
}

impl Default for ConnectionConfig {
    fn default() -> Self {
        ConnectionConfig {
            id: 0,
            name: String::new(),
            host: String::new(),
            port: 3306,
            user: String::new(),
            password: String::new(),
            connect_retry: 60,
            retry_count: 100_000,
            server_key: true,
            heartbeat_millis: DEFAULT_HEARTBEAT_MILLIS,
            delay: 0,
            ssl: Ssl::default(),
            log_file: String::new(),
            log_pos: 4,
            use_gtid: UseGtid::default(),
            ignore_server_ids: BTreeSet::new(),
            do_domain_ids: BTreeSet::new(),
            ignore_domain_ids: BTreeSet::new(),
        }
    }
}

impl std::fmt::Debug for ConnectionConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Without the password: this goes into logs.
        f.debug_struct("ConnectionConfig")
            .field("id", &self.id)
            .field("name", &self.name)
            .field("host", &self.host)
            .field("port", &self.port)
            .field("user", &self.user)
            .field("use_gtid", &self.use_gtid)
            .finish_non_exhaustive()
    }
}

impl ConnectionConfig {
    /// True if groups of this domain are applied (`DO_DOMAIN_IDS`, `IGNORE_DOMAIN_IDS`).
    pub fn wants_domain(&self, domain: u32) -> bool {
        if self.do_domain_ids.is_empty() {
            !self.ignore_domain_ids.contains(&domain)
        } else {
            self.do_domain_ids.contains(&domain)
        }
    }
}

/// CHANGE MASTER TO: what was given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeMaster {
    /// `MASTER_HOST`.
    pub host: Option<String>,
    /// `MASTER_PORT`.
    pub port: Option<u16>,
    /// `MASTER_USER`.
    pub user: Option<String>,
    /// `MASTER_PASSWORD`.
    pub password: Option<String>,
    /// `MASTER_CONNECT_RETRY`, seconds.
    pub connect_retry: Option<u32>,
    /// `SOURCE_RETRY_COUNT`; 0 is without end.
    pub retry_count: Option<u64>,
    /// `GET_SOURCE_PUBLIC_KEY`.
    pub server_key: Option<bool>,
    /// `MASTER_HEARTBEAT_PERIOD`, milliseconds.
    pub heartbeat_millis: Option<u64>,
    /// `MASTER_DELAY`, seconds.
    pub delay: Option<u32>,
    /// `MASTER_LOG_FILE`.
    pub log_file: Option<String>,
    /// `MASTER_LOG_POS`.
    pub log_pos: Option<u64>,
    /// `MASTER_USE_GTID`.
    pub use_gtid: Option<UseGtid>,
    /// `MASTER_DEMOTE_TO_SLAVE`: what this server wrote itself counts as applied.
    pub demote: bool,
    /// `MASTER_SSL`.
    pub ssl: Option<bool>,
    /// `MASTER_SSL_VERIFY_SERVER_CERT`.
    pub ssl_verify: Option<bool>,
    /// `MASTER_SSL_CA`.
    pub ssl_ca: Option<String>,
    /// `MASTER_SSL_CAPATH`.
    pub ssl_capath: Option<String>,
    /// `MASTER_SSL_CERT`.
    pub ssl_cert: Option<String>,
    /// `MASTER_SSL_KEY`.
    pub ssl_key: Option<String>,
    /// `MASTER_SSL_CIPHER`.
    pub ssl_cipher: Option<String>,
    /// `MASTER_SSL_CRL`.
    pub ssl_crl: Option<String>,
    /// `MASTER_SSL_CRLPATH`.
    pub ssl_crlpath: Option<String>,
    /// `IGNORE_SERVER_IDS`.
    pub ignore_server_ids: Option<BTreeSet<u32>>,
    /// `DO_DOMAIN_IDS`.
    pub do_domain_ids: Option<BTreeSet<u32>>,
    /// `IGNORE_DOMAIN_IDS`.
    pub ignore_domain_ids: Option<BTreeSet<u32>>,
}
