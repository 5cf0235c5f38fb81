//! The options of `narwal replica`.

use crate::Failure;
use clap::{Parser, ValueEnum};
use narwal_client::{Options, TlsMode};
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  MYSQL_PWD=secret narwal replica --from db1 --user repl --datadir /var/lib/narwal
                                                    clones db1, then tells how to start the replica
  narwal replica --from db1:3307 --user repl --password-file ~/.pw --datadir ./d2 --start -- --port=3308 --server-id=2
                                                    clones and goes on as the replica's server
  narwal replica --from db1 --user repl --datadir ./d2 --max-rate 50
                                                    at most 50 MiB/s

The source is a running Narwal (its files are copied, log included) or a running MariaDB 10.4 or later (tables are dumped in
one consistent snapshot). Run it again after whatever broke it: a clone of a Narwal goes on where it was, a dump begins anew.

Account: on a Narwal RELOAD and REPLICATION SLAVE; on MariaDB SELECT, SHOW VIEW, BINLOG MONITOR and REPLICATION SLAVE.

Exit status: 0 done; 1 could not be done; 2 wrong options. See docs/provisioning.md.";

/// Makes a new data folder that is a replica of a running server, in one step: copies it, sets the position, writes the
/// connection's settings.
#[derive(Debug, Parser)]
#[command(name = "narwal replica", max_term_width = 110, after_help = EXAMPLES)]
pub struct ReplicaArgs {
    /// The source: host and port (3306); an IPv6 address in brackets
    #[arg(long, value_name = "HOST[:PORT]", value_parser = host_port)]
    pub from: (String, u16),
    /// The new data folder: missing or empty
    #[arg(long, value_name = "DIR")]
    pub datadir: PathBuf,
    /// Account on the source, for the copy and then for replication
    #[arg(short, long, value_name = "NAME", default_value = "root")]
    pub user: String,
    /// Its password; every user of this machine can see it here: --password-file or the variable MYSQL_PWD hide it
    #[arg(short, long, value_name = "TEXT", conflicts_with = "password_file")]
    password: Option<String>,
    /// File with the password in its first line; else the environment variable MYSQL_PWD is the password
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    /// TLS: disabled, preferred, required (any certificate), verify-ca, verify-identity; from required on for the
    /// replication's connection too
    #[arg(long, value_enum, default_value = "preferred")]
    ssl_mode: SslMode,
    /// Certificates of the authorities that --ssl-mode=verify-... trusts, PEM
    #[arg(long, value_name = "FILE", required_if_eq_any = [("ssl_mode", "verify-ca"), ("ssl_mode", "verify-identity")])]
    pub ssl_ca: Option<PathBuf>,
    /// Most MiB per second that the copy takes from the source; 0: no limit. Not given: of a Narwal 40 for each of its
    /// processors, while it has commits to do; of a MariaDB no limit
    #[arg(long, value_name = "MIB")]
    pub max_rate: Option<u64>,
    /// Seconds for which a lost connection is tried again; 0: not at all
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub retry: u64,
    /// Of a Narwal: only what recovery needs of the log, not the old binary log
    #[arg(long)]
    pub no_log: bool,
    /// The new folder is encrypted with these keys (a Narwal's copy has to have its source's key file)
    #[arg(long, value_name = "FILE")]
    pub encryption_key_file: Option<PathBuf>,
    /// Of MariaDB: leave out a database (and let replication leave it out)
    #[arg(long, value_name = "NAME")]
    pub ignore_db: Vec<String>,
    /// Of MariaDB: leave out a table (and let replication leave it out)
    #[arg(long, value_name = "DB.TABLE", value_parser = qualified)]
    pub ignore_table: Vec<String>,
    /// Of MariaDB: copy tables of engines without snapshots (MyISAM, Aria) although writes during the copy may be missed
    #[arg(long)]
    pub allow_non_transactional: bool,
    /// Go on as the server of the new folder, with the options behind --
    #[arg(long)]
    pub start: bool,
    /// Options of `narwal serve`, for --start
    #[arg(last = true, value_name = "OPTIONS", requires = "start")]
    pub server: Vec<String>,
}

/// What `--ssl-mode` may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
enum SslMode {
    Disabled,
    Preferred,
    Required,
    VerifyCa,
    VerifyIdentity,
}

fn qualified(text: &str) -> Result<String, String> {
    match text.split_once('.') {
        Some((db, table)) if !db.is_empty() && !table.is_empty() => Ok(text.to_owned()),
        _ => Err("wants DATABASE.TABLE".into()),
    }
}

fn host_port(text: &str) -> Result<(String, u16), String> {
    let port = |p: &str| p.parse::<u16>().ok().filter(|p| *p > 0);
    let parsed = match text.strip_prefix('[') {
        Some(rest) => rest.split_once(']').and_then(|(host, rest)| {
            let port = match rest.strip_prefix(':') {
                Some(p) => port(p)?,
                None if rest.is_empty() => 3306,
                None => return None,
            };
            Some((host, port))
        }),
        // An IPv6 address without brackets has no port.
        None if text.matches(':').count() > 1 => Some((text, 3306)),
        None => match text.split_once(':') {
            Some((host, p)) => port(p).map(|p| (host, p)),
            None => Some((text, 3306)),
        },
    };
    parsed
        .filter(|(host, _)| !host.is_empty())
        .map(|(host, port)| (host.to_owned(), port))
        .ok_or_else(|| "wants HOST or HOST:PORT".into())
}

impl ReplicaArgs {
    /// The password.
    pub fn password(&self) -> Result<String, Failure> {
        match (&self.password, &self.password_file) {
            (Some(p), _) => Ok(p.clone()),
            (None, Some(path)) => {
                let text =
                    std::fs::read_to_string(path).map_err(|e| Failure::run(path.display(), e))?;
                Ok(text.lines().next().unwrap_or_default().to_owned())
            }
            (None, None) => Ok(std::env::var("MYSQL_PWD").unwrap_or_default()),
        }
    }

    /// How to connect for the copy.
    pub fn connect(&self) -> Result<Options, Failure> {
        let (host, port) = &self.from;
        let mut o = Options::tcp(host, *port).user(&self.user, &self.password()?);
        o.program = "narwal replica".to_owned();
        let ca = self.ssl_ca.clone().unwrap_or_default();
        o.tls = match self.ssl_mode {
            SslMode::Disabled => TlsMode::Disabled,
            SslMode::Preferred => TlsMode::Preferred,
            SslMode::Required => TlsMode::Required,
            SslMode::VerifyCa => TlsMode::VerifyCa(ca),
            SslMode::VerifyIdentity => TlsMode::VerifyIdentity(ca),
        };
        o.connect_timeout = Duration::from_secs(15);
        // A throttled source may be silent for a while, and so may one that looks for the first row.
        o.read_timeout = Duration::from_secs(300);
        Ok(o)
    }

    /// `HOST:PORT`.
    pub fn source(&self) -> String {
        let (host, port) = &self.from;
        match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        }
    }

    /// CHANGE MASTER for the new replica.
    pub fn change_master(&self) -> Result<String, Failure> {
        let (host, port) = &self.from;
        let mut sql = format!(
            "CHANGE MASTER TO MASTER_HOST={}, MASTER_PORT={port}, MASTER_USER={}, MASTER_PASSWORD={}, MASTER_USE_GTID=slave_pos",
            quoted(host),
            quoted(&self.user),
            quoted(&self.password()?)
        );
        let tls = self.ssl_mode >= SslMode::Required;
        sql.push_str(&format!(", MASTER_SSL={}", u8::from(tls)));
        let verify = self.ssl_mode == SslMode::VerifyIdentity;
        sql.push_str(&format!(
            ", MASTER_SSL_VERIFY_SERVER_CERT={}",
            u8::from(verify)
        ));
        if let Some(ca) = self.ssl_ca.as_ref().filter(|_| tls) {
            let ca = std::path::absolute(ca).unwrap_or_else(|_| ca.clone());
            sql.push_str(&format!(
                ", MASTER_SSL_CA={}",
                quoted(&ca.display().to_string())
            ));
        }
        Ok(sql)
    }

    /// Options that let replication leave out what was left out, for a server's command line.
    pub fn filter_options(&self) -> Vec<String> {
        let dbs = self
            .ignore_db
            .iter()
            .map(|d| format!("--replicate-ignore-db={d}"));
        let tables = self
            .ignore_table
            .iter()
            .map(|t| format!("--replicate-ignore-table={t}"));
        dbs.chain(tables).collect()
    }
}

/// A string literal, whatever the SQL mode is but NO_BACKSLASH_ESCAPES.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// A failed query of the source's.
pub(super) fn asking(e: impl std::fmt::Display) -> Failure {
    Failure::run("the source", e)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources() {
        for (text, want) in [
            ("db1", Some(("db1", 3306))),
            ("db1:3307", Some(("db1", 3307))),
            ("::1", Some(("::1", 3306))),
            ("[::1]:9", Some(("::1", 9))),
            ("[::1]", Some(("::1", 3306))),
            ("", None),
            (":3306", None),
            ("db1:", None),
            ("db1:0", None),
            ("db1:70000", None),
            ("[::1]9", None),
        ] {
            let got = host_port(text).ok();
            assert_eq!(got.as_ref().map(|(h, p)| (h.as_str(), *p)), want, "{text}");
        }
    }

    #[test]
    fn options_of_the_server_come_last() {
        let words = "narwal --from=h --datadir=d --start -- --port=1 --server-id=2";
        let a = ReplicaArgs::try_parse_from(words.split(' ')).unwrap();
        assert_eq!(a.server, ["--port=1", "--server-id=2"]);
        assert!(
            ReplicaArgs::try_parse_from(["narwal", "--from=h", "--datadir=d", "--", "--port=1"])
                .is_err()
        );
        assert_eq!(quoted(r"it's \ here"), r"'it''s \\ here'");
    }
}
