//! One server of several: fenced, made a replica, made the primary.

use crate::Failure;
use crate::diverge::side::{ask, connect};
use narwal_binlog::GtidState;
use narwal_client::{Address, Connection, Options, TlsMode};
use std::time::{Duration, Instant};

/// Where the terms are kept: a row for each promotion, replicated as everything else.
const DATABASE: &str = "narwal_ha";
const TABLE: &str = "narwal_ha.primaries";
/// What each server keeps for itself, in one row: the newest term for which it was fenced, and the newest for which it was chosen. It
/// is not replicated.
const LOCAL: &str = "narwal_ha_local.promised";
const LOCAL_DATABASE: &str = "narwal_ha_local";
/// The longest time limit that `rpl_semi_sync_master_timeout` takes: commits wait as long as it takes.
const FOREVER: u64 = 4_294_967_295_000;

/// A text as an SQL string.
pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

fn execute(c: &mut Connection, sql: &str) -> Result<(), Failure> {
    c.execute(sql).map(|_| ()).map_err(|e| Failure::run(sql, e))
}

/// How far a server is. The newest term first: what was written under an older one behind the beginning of a newer one was
/// never acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) term: u64,
    pub(super) gtids: GtidState,
}

impl Standing {
    /// This has at least what the other has.
    pub(super) fn covers(&self, other: &Standing) -> bool {
        let seq = |of: &Standing, domain| {
            let mut all = of.gtids.position();
            all.find(|g| g.domain == domain).map_or(0, |g| g.seq)
        };
        match self.term.cmp(&other.term) {
            std::cmp::Ordering::Equal => {
                (other.gtids.position()).all(|g| seq(self, g.domain) >= g.seq)
            }
            order => order.is_gt(),
        }
    }
}

/// What `narwal promote` and `narwal rejoin` hold at a server while they change whom it follows.
const LOCK: &str = "narwal_ha";

/// Takes a server's lock for changing whom it follows; it goes with the connection. `over`: from whoever has it, whose
/// connection ends.
///
/// # Errors
/// Another one has it, or does not give it back within `limit`.
pub(crate) fn take_lock(c: &mut Connection, over: bool, limit: Duration) -> Result<(), Failure> {
    let holder = ask(c, &format!("SELECT IS_USED_LOCK('{LOCK}')"))?;
    if let Some(id) = holder.filter(|_| over) {
        // One that has just ended is unknown.
        let _ = c.execute(&format!("KILL CONNECTION {id}"));
    }
    let seconds = if over { limit.as_secs_f64() } else { 0.0 };
    match ask(c, &format!("SELECT GET_LOCK('{LOCK}', {seconds})"))?.as_deref() {
        Some("1") => Ok(()),
        _ => Err(Failure::Run(
            "narwal promote or narwal rejoin is at work there".into(),
        )),
    }
}

/// Lets a server that may have been a primary answer nobody any more: it becomes read-only, and the connections of its clients
/// end. What waits there for a replica is never answered, whoever acknowledges it later.
///
/// # Errors
/// A statement failed, or a connection did not end within `limit`.
///
/// Returns whether it may have been one.
pub(crate) fn silence(c: &mut Connection, limit: Duration) -> Result<bool, Failure> {
    const WRITES: &str = "SELECT @@GLOBAL.read_only = 0 OR @@GLOBAL.rpl_semi_sync_master_enabled";
    const CLIENTS: &str = "SELECT ID FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID() AND USER NOT IN \
                           ('system user', 'event_scheduler') AND COMMAND NOT IN ('Daemon', 'Binlog Dump')";
    let wrote = ask(c, WRITES)?.as_deref() == Some("1");
    execute(c, "SET GLOBAL read_only = ON")?;
    if !wrote {
        return Ok(false);
    }
    let clients = |c: &mut Connection| -> Result<Vec<String>, Failure> {
        let rows = c.query(CLIENTS).map_err(|e| Failure::run(CLIENTS, e))?;
        Ok((0..rows.rows.len())
            .filter_map(|n| rows.text(n, 0))
            .collect())
    };
    let known = clients(c)?;
    for id in &known {
        // One that has just ended is unknown.
        let _ = c.execute(&format!("KILL CONNECTION {id}"));
    }
    let began = Instant::now();
    while clients(c)?.iter().any(|id| known.contains(id)) {
        if began.elapsed() > limit {
            return Err(Failure::Run(
                "connections that were killed do not end".into(),
            ));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(true)
}

/// A server that answers, and answers nobody else any more.
pub(super) struct Server {
    pub(super) options: Options,
    /// It may have been the primary until now.
    pub(super) wrote: bool,
    pub(super) standing: Standing,
    /// The newest term that it knows of, promised ones included.
    pub(super) newest: u64,
    c: Connection,
}

impl Server {
    /// Reaches a server; nothing changes there.
    ///
    /// # Errors
    /// It does not answer, or is no Narwal.
    pub(super) fn reach(options: &Options) -> Result<Server, Failure> {
        let mut c = connect(options)?;
        let version = ask(&mut c, "SELECT @@version")?.unwrap_or_default();
        if !version.to_ascii_lowercase().contains("narwal") {
            return Err(Failure::Run(format!("it is {version}, not Narwal")));
        }
        Ok(Server {
            options: options.clone(),
            wrote: false,
            standing: standing(&mut c)?,
            newest: 0,
            c,
        })
    }

    /// Silences it; it follows whom it followed.
    ///
    /// # Errors
    /// A statement failed.
    pub(super) fn silenced(mut self) -> Result<Server, Failure> {
        let c = &mut self.c;
        take_lock(c, true, self.options.read_timeout)?;
        self.wrote = silence(c, self.options.read_timeout)?;
        if self.wrote {
            // Nobody is left who waits for an answer.
            execute(c, "SET GLOBAL rpl_semi_sync_master_enabled = OFF")?;
        }
        self.standing = standing(c)?;
        self.newest = newest(c)?;
        Ok(self)
    }

    /// Waits a while until it has what a primary has written at last. It need not come to that: nobody was told of it.
    pub(super) fn catch_up(&mut self, last: &GtidState, limit: Duration) {
        let wait = format!(
            "SELECT MASTER_GTID_WAIT({}, {})",
            quoted(&last.position_text()),
            limit.as_secs_f64()
        );
        let _ = self.c.value(&wait);
    }

    /// Lets it follow nobody any more, and nobody of an older term from now on; how far it is then stays as it is.
    ///
    /// # Errors
    /// A statement failed, or the server knows of a newer term.
    pub(super) fn fence(mut self, term: u64) -> Result<Server, Failure> {
        let c = &mut self.c;
        for name in connections(c)? {
            let name = quoted(&name);
            execute(c, &format!("STOP SLAVE {name}"))?;
            execute(c, &format!("RESET SLAVE {name} ALL"))?;
        }
        promise(c, term)?;
        self.standing = standing(c)?;
        Ok(self)
    }

    pub(super) fn name(&self) -> String {
        self.options.address.to_string()
    }

    /// Makes it a replica of another one.
    ///
    /// # Errors
    /// A statement failed.
    pub(super) fn follow(
        &mut self,
        primary: &Options,
        account: &(String, String),
    ) -> Result<(), Failure> {
        let Address::Tcp(host, port) = &primary.address else {
            return Err(Failure::Usage(
                "a replica connects over TCP: name host and port".into(),
            ));
        };
        let mut change = format!(
            "CHANGE MASTER TO MASTER_HOST={}, MASTER_PORT={port}, MASTER_USER={}, MASTER_PASSWORD={}, MASTER_USE_GTID=slave_pos, \
             MASTER_DEMOTE_TO_SLAVE=1, MASTER_CONNECT_RETRY=1",
            quoted(host),
            quoted(&account.0),
            quoted(&account.1)
        );
        match &primary.tls {
            TlsMode::Disabled | TlsMode::Preferred => {}
            TlsMode::Required => change.push_str(", MASTER_SSL=1, MASTER_SSL_VERIFY_SERVER_CERT=0"),
            TlsMode::VerifyCa(ca) | TlsMode::VerifyIdentity(ca) => {
                let verify = u8::from(matches!(primary.tls, TlsMode::VerifyIdentity(_)));
                let ca = quoted(&ca.display().to_string());
                change.push_str(&format!(
                    ", MASTER_SSL=1, MASTER_SSL_CA={ca}, MASTER_SSL_VERIFY_SERVER_CERT={verify}"
                ));
            }
        }
        execute(&mut self.c, "SET GLOBAL rpl_semi_sync_slave_enabled = ON")?;
        // Without the password in what is shown.
        (self.c.execute(&change)).map_err(|e| Failure::run("CHANGE MASTER", e))?;
        execute(&mut self.c, "START SLAVE")
    }

    /// Why it does not follow any more, if a thread of its replication has stopped with an error or it does not answer.
    pub(super) fn stopped(&mut self) -> Option<String> {
        const SQL: &str = "SELECT IF(Slave_IO_Running = 'No', Last_IO_Error, ''), IF(Slave_SQL_Running = 'No', Last_SQL_Error, '') \
                           FROM information_schema.NARWAL_REPLICA_STATUS";
        match self.c.query(SQL) {
            Ok(rows) => (0..rows.rows.len())
                .flat_map(|n| [rows.text(n, 0), rows.text(n, 1)])
                .flatten()
                .find(|error| !error.is_empty()),
            Err(e) => Some(e.to_string()),
        }
    }

    /// The number of this connection.
    ///
    /// # Errors
    /// The statement failed.
    pub(super) fn connection(&mut self) -> Result<String, Failure> {
        Ok(ask(&mut self.c, "SELECT CONNECTION_ID()")?.unwrap_or_default())
    }

    /// Ends a connection to a server, by its number.
    ///
    /// # Errors
    /// The server is not reached, or the statement failed.
    pub(super) fn end_connection(options: &Options, id: &str) -> Result<(), Failure> {
        execute(&mut connect(options)?, &format!("KILL CONNECTION {id}"))
    }

    /// Makes it the primary: its first commit, a new term, has to be acknowledged before it is open to others.
    ///
    /// # Errors
    /// A statement failed, or no acknowledgement came within `wait`.
    pub(super) fn open(&mut self, term: u64, acks: u32, wait: Duration) -> Result<(), Failure> {
        let name = quoted(&self.name());
        let c = &mut self.c;
        // Not replicated, and in front of anything that waits for a replica: one that has to take something back before it can
        // acknowledge sees by this whom to follow.
        execute(c, "SET sql_log_bin = 0")?;
        execute(c, &format!("UPDATE {LOCAL} SET chosen = {term}"))?;
        execute(c, "SET sql_log_bin = 1")?;
        for (variable, value) in [
            ("wait_point", "AFTER_SYNC".to_owned()),
            ("wait_no_slave", "ON".to_owned()),
            ("timeout", FOREVER.to_string()),
            ("wait_for_slave_count", acks.to_string()),
            ("enabled", "ON".to_owned()),
        ] {
            execute(
                c,
                &format!("SET GLOBAL rpl_semi_sync_master_{variable} = {value}"),
            )?;
        }
        c.set_read_timeout(wait);
        let known = format!(
            "SELECT COUNT(*) FROM information_schema.TABLES WHERE CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) = '{TABLE}'"
        );
        if ask(c, &known)?.as_deref() == Some("0") {
            execute(c, &format!("CREATE DATABASE IF NOT EXISTS {DATABASE}"))?;
            execute(
                c,
                &format!(
                    "CREATE TABLE IF NOT EXISTS {TABLE} (term BIGINT UNSIGNED PRIMARY KEY, server_id INT UNSIGNED NOT NULL, \
                     server VARCHAR(300) NOT NULL, since TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)"
                ),
            )?;
        }
        execute(
            c,
            &format!(
                "INSERT INTO {TABLE} (term, server_id, server) VALUES ({term}, @@GLOBAL.server_id, {name})"
            ),
        )?;
        execute(c, "SET GLOBAL read_only = OFF")
    }
}

/// How far a server is.
fn standing(c: &mut Connection) -> Result<Standing, Failure> {
    let gtids = ask(c, "SELECT @@GLOBAL.gtid_binlog_pos")?.unwrap_or_default();
    Ok(Standing {
        term: term(c)?,
        gtids: (gtids.parse()).map_err(|e| Failure::run("gtid_binlog_pos", e))?,
    })
}

/// The names of all connections to sources.
fn connections(c: &mut Connection) -> Result<Vec<String>, Failure> {
    const SQL: &str = "SELECT Connection_name FROM information_schema.NARWAL_REPLICA_STATUS";
    let rows = c.query(SQL).map_err(|e| Failure::run(SQL, e))?;
    Ok((0..rows.rows.len())
        .filter_map(|n| rows.text(n, 0))
        .collect())
}

/// The newest term that a server's data are of; 0 for none.
fn term(c: &mut Connection) -> Result<u64, Failure> {
    largest(c, &format!("SELECT MAX(term) FROM {TABLE}"))
}

/// The newest term that a server knows of, be it only because it was fenced for it; 0 for none. It follows nobody who knows of
/// older ones only.
///
/// # Errors
/// A statement fails for another reason than that there is no such table.
pub(crate) fn newest(c: &mut Connection) -> Result<u64, Failure> {
    let promised = largest(c, &format!("SELECT MAX(term) FROM {LOCAL}"))?;
    Ok(promised.max(term(c)?))
}

/// The newest term of which a server was chosen to be the primary; 0 for none. Who knows of none that is newer may follow it.
///
/// # Errors
/// A statement fails for another reason than that there is no such table.
pub(crate) fn chosen(c: &mut Connection) -> Result<u64, Failure> {
    largest(c, &format!("SELECT MAX(chosen) FROM {LOCAL}"))
}

/// Notes that the server follows nobody of an older term than this one.
fn promise(c: &mut Connection, term: u64) -> Result<(), Failure> {
    execute(c, "SET sql_log_bin = 0")?;
    for sql in [
        format!("CREATE DATABASE IF NOT EXISTS {LOCAL_DATABASE}"),
        format!(
            "CREATE TABLE IF NOT EXISTS {LOCAL} (id INT PRIMARY KEY, term BIGINT UNSIGNED NOT NULL, chosen BIGINT UNSIGNED NOT NULL)"
        ),
        format!(
            "INSERT INTO {LOCAL} VALUES (1, {term}, 0) ON DUPLICATE KEY UPDATE term = GREATEST(term, {term})"
        ),
        "SET sql_log_bin = 1".to_owned(),
    ] {
        execute(c, &sql)?;
    }
    if newest(c)? == term {
        return Ok(());
    }
    Err(Failure::Run(
        "it knows of a newer term: another narwal promote is ahead".into(),
    ))
}

/// The one number that a statement about a table gives; 0 if there is no such table.
fn largest(c: &mut Connection, sql: &str) -> Result<u64, Failure> {
    match c.value(sql) {
        Ok(found) => Ok(found.and_then(|t| t.parse().ok()).unwrap_or(0)),
        // No such table; or nothing is said of it to this account.
        Err(e) if matches!(e.code(), 1146 | 1049 | 1142 | 1044) => Ok(0),
        Err(e) => Err(Failure::run(sql, e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_term_counts_for_more_than_more_transactions() {
        let at = |term, gtids: &str| Standing {
            term,
            gtids: gtids.parse().unwrap(),
        };
        for (one, other, covers) in [
            (at(1, "0-1-5"), at(1, "0-1-5"), true),
            (at(1, "0-1-6"), at(1, "0-1-5"), true),
            (at(1, "0-1-5"), at(1, "0-1-6"), false),
            (at(2, "0-2-5"), at(1, "0-1-9"), true),
            (at(1, "0-1-9"), at(2, "0-2-5"), false),
            (at(1, "0-1-9,1-1-1"), at(1, "0-1-5"), true),
            (at(1, "0-1-9"), at(1, "0-1-5,1-1-1"), false),
            (at(0, ""), at(0, ""), true),
        ] {
            assert_eq!(one.covers(&other), covers, "{one:?} {other:?}");
        }
    }
}
