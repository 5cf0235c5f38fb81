//! CHANGE MASTER, START SLAVE, STOP SLAVE.

use crate::admin::{Admin, ReplicaStatement, Target};
use crate::gtids::{gtid_list, gtid_set};
use crate::replica::config::HEARTBEAT_TOO_SHORT;
use crate::replica::{ChangeMaster, StartWhat, Threads, Until, UseGtid};
use narwal_syntax::ast::admin as ast;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};
use std::collections::BTreeSet;

/// Longest heartbeat period, seconds.
const MAX_HEARTBEAT: f64 = 4_294_967.0;
/// Largest `MASTER_DELAY`, seconds.
const MAX_DELAY: u64 = 2_147_483_647;

fn wrong_arguments(of: &str) -> SqlError {
    errors::WRONG_ARGUMENTS.with([&of])
}

fn no_relay_log(what: &str) -> SqlError {
    SqlError::unsupported(format!(
        "{what}: Narwal has no relay log (what a replica has applied stands in its own log), so this"
    ))
}

pub(super) fn target(connection: ast::Connection) -> SqlResult<Target> {
    match connection {
        ast::Connection::Default => Ok(Target::Default),
        ast::Connection::Named(name) => Ok(Target::Named(name)),
        ast::Connection::All => Ok(Target::All),
        ast::Connection::Twice(..) => Err(wrong_arguments(
            "CONNECTION_NAME AND FOR CHANNEL CAN NOT BE SPECIFIED AT THE SAME TIME)",
        )),
    }
}

pub(super) fn threads(t: ast::Threads) -> Threads {
    Threads {
        io: t.io,
        sql: t.sql,
    }
}

pub(super) fn start(given: ast::StartReplica) -> SqlResult<Admin> {
    Ok(Admin::Replica(ReplicaStatement::Start {
        target: target(given.connection)?,
        what: StartWhat {
            threads: threads(given.threads),
            until: given.until.map(until).transpose()?,
            ..StartWhat::both()
        },
    }))
}

fn until(given: ast::Until) -> SqlResult<Until> {
    let parts = match given {
        ast::Until::Gtid(list) => {
            return Ok(Until::Gtid(gtid_list(&list)?.position().collect()));
        }
        ast::Until::BeforeGtids(set) => return Ok(Until::BeforeGtids(gtid_set(&set)?)),
        ast::Until::AfterGtids(set) => return Ok(Until::AfterGtids(gtid_set(&set)?)),
        ast::Until::Position(parts) => parts,
    };
    let (mut master, mut relay) = ((None, None), false);
    for part in parts {
        match part {
            ast::UntilOption::MasterLogFile(file) => master.0 = Some(file),
            ast::UntilOption::MasterLogPos(pos) => master.1 = Some(pos),
            ast::UntilOption::RelayLogFile(_) | ast::UntilOption::RelayLogPos(_) => relay = true,
        }
    }
    match (master, relay) {
        ((None, None), true) => Err(no_relay_log("START SLAVE UNTIL RELAY_LOG_FILE")),
        ((Some(file), Some(pos)), false) => Ok(Until::MasterPos { file, pos }),
        _ => Err(errors::BAD_SLAVE_UNTIL_COND.plain()),
    }
}

pub(super) fn change_master(given: ast::ChangeMaster) -> SqlResult<Admin> {
    let mut change = ChangeMaster::default();
    for option in given.options {
        set(&mut change, option)?;
    }
    Ok(Admin::Replica(ReplicaStatement::ChangeMaster {
        target: target(given.connection)?,
        change: Box::new(change),
    }))
}

fn set(m: &mut ChangeMaster, option: ast::MasterOption) -> SqlResult<()> {
    match option {
        ast::MasterOption::Text(name, text) => set_text(m, name, text)?,
        ast::MasterOption::Number(name, n) => set_number(m, name, n)?,
        ast::MasterOption::Heartbeat(text) => m.heartbeat_millis = Some(heartbeat(&text)?),
        ast::MasterOption::UseGtid(how) => {
            m.use_gtid = Some(match how {
                ast::UseGtid::No => UseGtid::No,
                ast::UseGtid::SlavePos => UseGtid::SlavePos,
                ast::UseGtid::CurrentPos => UseGtid::CurrentPos,
            });
        }
        ast::MasterOption::Ids(name, list) => {
            let list = Some(ids(list)?);
            match name {
                "IGNORE_SERVER_IDS" => m.ignore_server_ids = list,
                "DO_DOMAIN_IDS" => m.do_domain_ids = list,
                _ => m.ignore_domain_ids = list,
            }
        }
    }
    Ok(())
}

/// Options of MySQL's whose empty text asks for nothing.
const NOTHING_ASKED: [&str; 7] = [
    "SOURCE_PUBLIC_KEY_PATH",
    "SOURCE_BIND",
    "NETWORK_NAMESPACE",
    "SOURCE_COMPRESSION_ALGORITHMS",
    "SOURCE_TLS_VERSION",
    "SOURCE_TLS_CIPHERSUITES",
    "PRIVILEGE_CHECKS_USER",
];

fn set_text(m: &mut ChangeMaster, name: &'static str, text: String) -> SqlResult<()> {
    match name {
        "MASTER_HOST" => {
            let host = bounded(text, 255, name)?;
            if host.is_empty() {
                return Err(wrong_arguments("MASTER_HOST"));
            }
            m.host = Some(host);
        }
        "MASTER_USER" => m.user = Some(bounded(text, 128, name)?),
        "MASTER_PASSWORD" => m.password = Some(bounded(text, 96, name)?),
        "MASTER_LOG_FILE" => m.log_file = Some(bounded(text, 511, name)?),
        "RELAY_LOG_FILE" => return Err(no_relay_log("RELAY_LOG_FILE")),
        "MASTER_SSL_CA" => m.ssl_ca = Some(text),
        "MASTER_SSL_CERT" => m.ssl_cert = Some(text),
        "MASTER_SSL_KEY" => m.ssl_key = Some(text),
        "REQUIRE_TABLE_PRIMARY_KEY_CHECK" if matches!(&*text, "OFF" | "STREAM") => {}
        // Such a transaction gets a GTID of MariaDB's form here, as any other.
        "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS" if text == "OFF" => {}
        "SOURCE_COMPRESSION_ALGORITHMS" if text.eq_ignore_ascii_case("uncompressed") => {}
        _ if !text.is_empty() => return Err(SqlError::unsupported(name)),
        "MASTER_SSL_CAPATH" => m.ssl_capath = Some(text),
        "MASTER_SSL_CIPHER" => m.ssl_cipher = Some(text),
        "MASTER_SSL_CRL" => m.ssl_crl = Some(text),
        "MASTER_SSL_CRLPATH" => m.ssl_crlpath = Some(text),
        _ if NOTHING_ASKED.contains(&name) => {}
        _ => return Err(SqlError::unsupported(name)),
    }
    Ok(())
}

fn set_number(m: &mut ChangeMaster, name: &'static str, n: u64) -> SqlResult<()> {
    match name {
        "MASTER_PORT" => {
            m.port = Some(u16::try_from(n).map_err(|_| wrong_arguments("MASTER_PORT"))?);
        }
        // 0 leaves it as it is.
        "MASTER_CONNECT_RETRY" => {
            m.connect_retry = (n != 0).then(|| u32::try_from(n).unwrap_or(u32::MAX));
        }
        "MASTER_DELAY" => m.delay = Some(delay(n)?),
        // There is nothing before the fourth byte.
        "MASTER_LOG_POS" => m.log_pos = Some(n.max(4)),
        "RELAY_LOG_POS" => return Err(no_relay_log("RELAY_LOG_POS")),
        "MASTER_DEMOTE_TO_SLAVE" | "MASTER_DEMOTE_TO_REPLICA" => m.demote = n != 0,
        "MASTER_SSL" => m.ssl = Some(n != 0),
        "SOURCE_AUTO_POSITION" => {
            m.use_gtid = Some(match n {
                0 => UseGtid::No,
                // What a MySQL has executed includes what it wrote itself, as a source that has become a replica.
                _ if narwal_types::face::is_mysql() => UseGtid::CurrentPos,
                _ => UseGtid::SlavePos,
            });
        }
        "SOURCE_RETRY_COUNT" => m.retry_count = Some(n),
        "GET_SOURCE_PUBLIC_KEY" => m.server_key = Some(n != 0),
        // Only rows are applied, in any case.
        "REQUIRE_ROW_FORMAT" if n != 0 => {}
        "GTID_ONLY" | "SOURCE_CONNECTION_AUTO_FAILOVER" if n == 0 => {}
        "MASTER_SSL_VERIFY_SERVER_CERT" => m.ssl_verify = Some(n != 0),
        _ => return Err(SqlError::unsupported(name)),
    }
    Ok(())
}

fn delay(seconds: u64) -> SqlResult<u32> {
    match u32::try_from(seconds) {
        Ok(s) if seconds <= MAX_DELAY => Ok(s),
        _ => Err(errors::MASTER_DELAY_VALUE_OUT_OF_RANGE.with([&seconds, &MAX_DELAY])),
    }
}

fn bounded(s: String, most: usize, what: &str) -> SqlResult<String> {
    if s.chars().count() > most {
        let start: String = s.chars().take(70).collect();
        return Err(errors::WRONG_STRING_LENGTH.with([&format_args!("{start}..."), &what, &most]));
    }
    Ok(s)
}

/// A heartbeat period in milliseconds; one that is shorter than a millisecond, but not 0, is [`HEARTBEAT_TOO_SHORT`].
fn heartbeat(text: &str) -> SqlResult<u64> {
    let seconds = text.parse::<f64>().unwrap_or(f64::MAX);
    if !(0.0..=MAX_HEARTBEAT).contains(&seconds) {
        return Err(errors::SLAVE_HEARTBEAT_VALUE_OUT_OF_RANGE.with([&MAX_HEARTBEAT]));
    }
    Ok(match (seconds * 1000.0) as u64 {
        0 if seconds > 0.0 => HEARTBEAT_TOO_SHORT,
        ms => ms,
    })
}

fn ids(list: Vec<u64>) -> SqlResult<BTreeSet<u32>> {
    list.into_iter()
        .map(|id| {
            u32::try_from(id).map_err(|_| {
                errors::MASTER_INFO.text(format!("Could not initialize master info structure: the id {id} does not fit into 32 bits"))
            })
        })
        .collect()
}
