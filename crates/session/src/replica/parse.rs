//! The parser of statements about replication.

use super::config::HEARTBEAT_TOO_SHORT;
use super::{ChangeMaster, StartWhat, Threads, Until, UseGtid};
use crate::admin::{Admin, Show, Target};
use crate::binlog_admin::gtid_list;
use crate::lex::{Cursor, Tok};
use narwal_types::{SqlError, SqlResult};
use std::collections::BTreeSet;

/// Longest heartbeat period, seconds.
const MAX_HEARTBEAT: f64 = 4_294_967.0;
/// Largest `MASTER_DELAY`, seconds.
const MAX_DELAY: u64 = 2_147_483_647;

fn wrong_arguments(of: &str) -> SqlError {
    SqlError::new(1210, b"HY000", format!("Incorrect arguments to {of}"))
}

/// True if the words SLAVE or REPLICA come next; they are consumed.
fn eat_slave(c: &mut Cursor<'_>) -> bool {
    c.eat_kw("SLAVE") || c.eat_kw("REPLICA")
}

fn eat_all_slaves(c: &mut Cursor<'_>) -> bool {
    c.eat_kws(&["ALL", "SLAVES"]) || c.eat_kws(&["ALL", "REPLICAS"])
}

/// A connection's name in quotes, if there is one.
fn name(c: &mut Cursor<'_>) -> SqlResult<Option<String>> {
    match c.peek() {
        Tok::Str(_) => c.string().map(Some),
        _ => Ok(None),
    }
}

/// `FOR CHANNEL 'name'`, after a name that may have stood before.
fn channel(c: &mut Cursor<'_>, name: Option<String>) -> SqlResult<Target> {
    if !c.eat_kws(&["FOR", "CHANNEL"]) {
        return Ok(name.map_or(Target::Default, Target::Named));
    }
    let channel = c.string()?;
    if name.is_some() {
        return Err(wrong_arguments(
            "CONNECTION_NAME AND FOR CHANNEL CAN NOT BE SPECIFIED AT THE SAME TIME)",
        ));
    }
    Ok(Target::Named(channel))
}

/// `[IO_THREAD|RELAY_THREAD|SQL_THREAD, ...]`; none is both.
fn threads(c: &mut Cursor<'_>) -> SqlResult<Threads> {
    let mut t = Threads::NONE;
    loop {
        if c.eat_kw("IO_THREAD") || c.eat_kw("RELAY_THREAD") {
            t.io = true;
        } else if c.eat_kw("SQL_THREAD") {
            t.sql = true;
        } else if t.io || t.sql {
            return Err(c.error());
        } else {
            return Ok(Threads::BOTH);
        }
        if !c.eat_punct(b',') {
            return Ok(t);
        }
    }
}

/// START SLAVE and START ALL SLAVES, behind START; `None` if that is another statement.
pub(crate) fn start(c: &mut Cursor<'_>) -> SqlResult<Option<Admin>> {
    if eat_all_slaves(c) {
        let threads = threads(c)?;
        return Ok(Some(Admin::StartReplica {
            target: Target::All,
            what: StartWhat {
                threads,
                ..StartWhat::both()
            },
        }));
    }
    if !eat_slave(c) {
        return Ok(None);
    }
    let name = name(c)?;
    let threads = threads(c)?;
    let target = channel(c, name)?;
    let until = if c.eat_kw("UNTIL") {
        Some(until(c)?)
    } else {
        None
    };
    Ok(Some(Admin::StartReplica {
        target,
        what: StartWhat {
            threads,
            until,
            ..StartWhat::both()
        },
    }))
}

fn until(c: &mut Cursor<'_>) -> SqlResult<Until> {
    if c.eat_kw("MASTER_GTID_POS") {
        c.expect_punct(b'=')?;
        let list = gtid_list(&c.string()?)?;
        return Ok(Until::Gtid(list.position().collect()));
    }
    let bad = || {
        SqlError::new(
            1277,
            b"HY000",
            "Incorrect parameter or combination of parameters for START SLAVE UNTIL",
        )
    };
    let (mut master, mut relay) = ((None, None), false);
    loop {
        if c.eat_kw("MASTER_LOG_FILE") {
            c.expect_punct(b'=')?;
            master.0 = Some(c.string()?);
        } else if c.eat_kw("MASTER_LOG_POS") {
            c.expect_punct(b'=')?;
            master.1 = Some(number(c)?);
        } else if c.eat_kw("RELAY_LOG_FILE") {
            c.expect_punct(b'=')?;
            c.string()?;
            relay = true;
        } else if c.eat_kw("RELAY_LOG_POS") {
            c.expect_punct(b'=')?;
            number(c)?;
            relay = true;
        } else {
            return Err(c.error());
        }
        if !c.eat_punct(b',') {
            break;
        }
    }
    match (master, relay) {
        ((None, None), true) => Err(no_relay_log("START SLAVE UNTIL RELAY_LOG_FILE")),
        ((Some(file), Some(pos)), false) => Ok(Until::MasterPos { file, pos }),
        _ => Err(bad()),
    }
}

fn no_relay_log(what: &str) -> SqlError {
    SqlError::unsupported(format!(
        "{what}: Narwal has no relay log (what a replica has applied stands in its own log), so this"
    ))
}

/// STOP SLAVE and STOP ALL SLAVES, behind STOP.
pub(crate) fn stop(c: &mut Cursor<'_>) -> SqlResult<Admin> {
    if eat_all_slaves(c) {
        let threads = threads(c)?;
        return Ok(Admin::StopReplica {
            target: Target::All,
            threads,
        });
    }
    if !eat_slave(c) {
        return Err(c.error());
    }
    let name = name(c)?;
    let threads = threads(c)?;
    Ok(Admin::StopReplica {
        target: channel(c, name)?,
        threads,
    })
}

/// RESET SLAVE, behind RESET; `None` if that is another statement.
pub(crate) fn reset(c: &mut Cursor<'_>) -> SqlResult<Option<Admin>> {
    if !eat_slave(c) {
        return Ok(None);
    }
    let name = name(c)?;
    let all = c.eat_kw("ALL");
    Ok(Some(Admin::ResetReplica {
        target: channel(c, name)?,
        all,
    }))
}

/// The rest of SHOW SLAVE.
pub(crate) fn show_slave(c: &mut Cursor<'_>) -> SqlResult<Show> {
    let name = name(c)?;
    c.expect_kw("STATUS")?;
    Ok(Show::ReplicaStatus(channel(c, name)?))
}

/// CHANGE MASTER TO, behind CHANGE.
pub(crate) fn change(c: &mut Cursor<'_>) -> SqlResult<Admin> {
    c.expect_kw("MASTER")?;
    let name = name(c)?;
    c.expect_kw("TO")?;
    let mut m = ChangeMaster::default();
    loop {
        option(c, &mut m)?;
        if !c.eat_punct(b',') {
            break;
        }
    }
    let target = channel(c, name)?;
    Ok(Admin::ChangeMaster {
        target,
        change: Box::new(m),
    })
}

fn option(c: &mut Cursor<'_>, m: &mut ChangeMaster) -> SqlResult<()> {
    let at = c.error();
    let Tok::Word(word) = c.advance() else {
        return Err(at);
    };
    let option = word.to_ascii_uppercase();
    // The name is judged before what follows it, as MariaDB's parser does.
    const OPTIONS: &[&str] = &[
        "MASTER_HOST",
        "MASTER_PORT",
        "MASTER_USER",
        "MASTER_PASSWORD",
        "MASTER_CONNECT_RETRY",
        "MASTER_HEARTBEAT_PERIOD",
        "MASTER_DELAY",
        "MASTER_LOG_FILE",
        "MASTER_LOG_POS",
        "RELAY_LOG_FILE",
        "RELAY_LOG_POS",
        "MASTER_USE_GTID",
        "MASTER_DEMOTE_TO_SLAVE",
        "MASTER_DEMOTE_TO_REPLICA",
        "MASTER_SSL",
        "MASTER_SSL_VERIFY_SERVER_CERT",
        "MASTER_SSL_CA",
        "MASTER_SSL_CAPATH",
        "MASTER_SSL_CERT",
        "MASTER_SSL_KEY",
        "MASTER_SSL_CIPHER",
        "MASTER_SSL_CRL",
        "MASTER_SSL_CRLPATH",
        "IGNORE_SERVER_IDS",
        "DO_DOMAIN_IDS",
        "IGNORE_DOMAIN_IDS",
    ];
    if !OPTIONS.contains(&option.as_str()) {
        return Err(at);
    }
    c.expect_punct(b'=')?;
    match option.as_str() {
        "MASTER_HOST" => {
            let host = bounded(c, 255, "MASTER_HOST")?;
            if host.is_empty() {
                return Err(wrong_arguments("MASTER_HOST"));
            }
            m.host = Some(host);
        }
        "MASTER_PORT" => {
            let port = number(c)?;
            m.port = Some(u16::try_from(port).map_err(|_| wrong_arguments("MASTER_PORT"))?);
        }
        "MASTER_USER" => m.user = Some(bounded(c, 128, "MASTER_USER")?),
        "MASTER_PASSWORD" => m.password = Some(bounded(c, 96, "MASTER_PASSWORD")?),
        "MASTER_CONNECT_RETRY" => {
            let seconds = number(c)?;
            // 0 leaves it as it is.
            m.connect_retry = (seconds != 0).then(|| u32::try_from(seconds).unwrap_or(u32::MAX));
        }
        "MASTER_HEARTBEAT_PERIOD" => m.heartbeat_millis = Some(heartbeat(c)?),
        "MASTER_DELAY" => {
            let seconds = number(c)?;
            if seconds > MAX_DELAY {
                return Err(SqlError::new(
                    1729,
                    b"HY000",
                    format!(
                        "The requested value {seconds} for the master delay exceeds the maximum {MAX_DELAY}"
                    ),
                ));
            }
            m.delay = Some(seconds as u32);
        }
        "MASTER_LOG_FILE" => m.log_file = Some(bounded(c, 511, "MASTER_LOG_FILE")?),
        // There is nothing before the fourth byte.
        "MASTER_LOG_POS" => m.log_pos = Some(number(c)?.max(4)),
        "RELAY_LOG_FILE" => {
            c.string()?;
            return Err(no_relay_log("RELAY_LOG_FILE"));
        }
        "RELAY_LOG_POS" => {
            number(c)?;
            return Err(no_relay_log("RELAY_LOG_POS"));
        }
        "MASTER_USE_GTID" => {
            m.use_gtid = Some(if c.eat_kw("NO") {
                UseGtid::No
            } else if c.eat_kw("SLAVE_POS") || c.eat_kw("REPLICA_POS") {
                UseGtid::SlavePos
            } else if c.eat_kw("CURRENT_POS") {
                UseGtid::CurrentPos
            } else {
                return Err(c.error());
            });
        }
        "MASTER_DEMOTE_TO_SLAVE" | "MASTER_DEMOTE_TO_REPLICA" => m.demote = number(c)? != 0,
        "MASTER_SSL" => m.ssl = Some(number(c)? != 0),
        "MASTER_SSL_VERIFY_SERVER_CERT" => m.ssl_verify = Some(number(c)? != 0),
        "MASTER_SSL_CA" => m.ssl_ca = Some(c.string()?),
        "MASTER_SSL_CERT" => m.ssl_cert = Some(c.string()?),
        "MASTER_SSL_KEY" => m.ssl_key = Some(c.string()?),
        "MASTER_SSL_CAPATH" => m.ssl_capath = Some(unsupported_unless_empty(c, &option)?),
        "MASTER_SSL_CIPHER" => m.ssl_cipher = Some(unsupported_unless_empty(c, &option)?),
        "MASTER_SSL_CRL" => m.ssl_crl = Some(unsupported_unless_empty(c, &option)?),
        "MASTER_SSL_CRLPATH" => m.ssl_crlpath = Some(unsupported_unless_empty(c, &option)?),
        "IGNORE_SERVER_IDS" => m.ignore_server_ids = Some(ids(c)?),
        "DO_DOMAIN_IDS" => m.do_domain_ids = Some(ids(c)?),
        _ => m.ignore_domain_ids = Some(ids(c)?),
    }
    Ok(())
}

fn unsupported_unless_empty(c: &mut Cursor<'_>, option: &str) -> SqlResult<String> {
    let s = c.string()?;
    if s.is_empty() {
        Ok(s)
    } else {
        Err(SqlError::unsupported(option))
    }
}

fn bounded(c: &mut Cursor<'_>, most: usize, what: &str) -> SqlResult<String> {
    let s = c.string()?;
    if s.chars().count() > most {
        let start: String = s.chars().take(70).collect();
        return Err(SqlError::new(
            1470,
            b"HY000",
            format!("String '{start}...' is too long for {what} (should be no longer than {most})"),
        ));
    }
    Ok(s)
}

/// A number; what follows its digits (a fraction) is left out, and what is too large is the largest.
fn number(c: &mut Cursor<'_>) -> SqlResult<u64> {
    let Tok::Num(n) = c.peek() else {
        return Err(c.error());
    };
    let end = n.find(|ch: char| !ch.is_ascii_digit()).unwrap_or(n.len());
    if end == 0 {
        return Err(c.error());
    }
    let v = n[..end].parse().unwrap_or(u64::MAX);
    c.advance();
    Ok(v)
}

/// A heartbeat period in milliseconds; one that is shorter than a millisecond, but not 0, is [`HEARTBEAT_TOO_SHORT`].
fn heartbeat(c: &mut Cursor<'_>) -> SqlResult<u64> {
    let Tok::Num(n) = c.peek() else {
        return Err(c.error());
    };
    let Ok(seconds) = n.parse::<f64>() else {
        return Err(c.error());
    };
    if !(0.0..=MAX_HEARTBEAT).contains(&seconds) {
        return Err(SqlError::new(
            1624,
            b"HY000",
            format!(
                "The requested value for the heartbeat period is either negative or exceeds the maximum allowed ({MAX_HEARTBEAT} seconds)"
            ),
        ));
    }
    c.advance();
    Ok(match (seconds * 1000.0) as u64 {
        0 if seconds > 0.0 => HEARTBEAT_TOO_SHORT,
        ms => ms,
    })
}

/// `(1, 2, ...)`, maybe empty.
fn ids(c: &mut Cursor<'_>) -> SqlResult<BTreeSet<u32>> {
    let mut out = BTreeSet::new();
    c.expect_punct(b'(')?;
    if c.eat_punct(b')') {
        return Ok(out);
    }
    loop {
        let id = number(c)?;
        out.insert(u32::try_from(id).map_err(|_| {
            SqlError::new(
                1201,
                b"HY000",
                format!("Could not initialize master info structure: the id {id} does not fit into 32 bits"),
            )
        })?);
        if !c.eat_punct(b',') {
            break;
        }
    }
    c.expect_punct(b')')?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admin_parse::parse;
    use crate::lex::LexOptions;

    fn p(text: &str) -> Admin {
        parse(text, LexOptions::default()).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    fn code(text: &str) -> u16 {
        parse(text, LexOptions::default()).unwrap_err().code
    }

    fn named(n: &str) -> Target {
        Target::Named(n.into())
    }

    #[test]
    fn change_master() {
        let Admin::ChangeMaster { target, change } = p(
            "change master 'a b' to master_host='h', master_port=3307, master_user='u', master_password='p', \
             master_connect_retry=7, master_use_gtid=current_pos, master_heartbeat_period=1.5, master_delay=3, \
             ignore_server_ids=(3,1,3), do_domain_ids=(), master_ssl=1, master_demote_to_slave=0, \
             master_log_file='f', master_log_pos=1",
        ) else {
            panic!()
        };
        assert_eq!(target, named("a b"));
        assert_eq!(
            *change,
            ChangeMaster {
                host: Some("h".into()),
                port: Some(3307),
                user: Some("u".into()),
                password: Some("p".into()),
                connect_retry: Some(7),
                heartbeat_millis: Some(1500),
                delay: Some(3),
                log_file: Some("f".into()),
                log_pos: Some(4),
                use_gtid: Some(UseGtid::CurrentPos),
                ssl: Some(true),
                ignore_server_ids: Some([1, 3].into()),
                do_domain_ids: Some(BTreeSet::new()),
                ..ChangeMaster::default()
            }
        );
        let Admin::ChangeMaster { target, .. } =
            p("change master to master_port=1 for channel 'c'")
        else {
            panic!()
        };
        assert_eq!(target, named("c"));
        assert_eq!(
            code("change master 'q' to master_port=3 for channel 'q'"),
            1210
        );
        assert_eq!(code("change master to"), 1064);
        assert_eq!(code("change master c to master_port=3"), 1064);
        assert_eq!(code("change master to master_retry_count=3"), 1064);
        assert_eq!(code("change master to master_port='3'"), 1064);
        assert_eq!(code("change master to master_port=70000"), 1210);
        assert_eq!(code("change master to master_host=''"), 1210);
        assert_eq!(
            code("change master to master_heartbeat_period=4294968"),
            1624
        );
        assert_eq!(code("change master to master_delay=2147483648"), 1729);
        assert_eq!(code("change master to relay_log_pos=5"), 1235);
        assert_eq!(code("change master to master_ssl_crl='x'"), 1235);
        assert_eq!(code("change master to master_use_gtid=x"), 1064);
        assert_eq!(
            code(&format!(
                "change master to master_user='{}'",
                "x".repeat(129)
            )),
            1470
        );
        assert_eq!(code("change replication source to source_host='x'"), 1064);
    }

    #[test]
    fn start_and_stop() {
        let start = |threads, until| StartWhat {
            threads,
            until,
            ..StartWhat::both()
        };
        let sql = Threads {
            io: false,
            sql: true,
        };
        assert_eq!(
            p("start replica"),
            Admin::StartReplica {
                target: Target::Default,
                what: StartWhat::both()
            }
        );
        assert_eq!(
            p("start slave 'a' sql_thread until master_log_file='f', master_log_pos=9"),
            Admin::StartReplica {
                target: named("a"),
                what: start(
                    sql,
                    Some(Until::MasterPos {
                        file: "f".into(),
                        pos: 9
                    })
                )
            }
        );
        let Admin::StartReplica { what, .. } = p("start slave until master_gtid_pos='0-1-5,2-2-2'")
        else {
            panic!()
        };
        let Some(Until::Gtid(list)) = what.until else {
            panic!()
        };
        assert_eq!(list.len(), 2);
        assert_eq!(
            p("stop all slaves io_thread"),
            Admin::StopReplica {
                target: Target::All,
                threads: Threads {
                    io: true,
                    sql: false
                }
            }
        );
        assert_eq!(
            p("stop slave io_thread, sql_thread for channel 'c'"),
            Admin::StopReplica {
                target: named("c"),
                threads: Threads::BOTH
            }
        );
        assert_eq!(
            p("reset replica 'a' all"),
            Admin::ResetReplica {
                target: named("a"),
                all: true
            }
        );
        assert_eq!(
            p("show slave 'x' status"),
            Admin::Show(Show::ReplicaStatus(named("x")))
        );
        assert_eq!(
            p("show all replicas status"),
            Admin::Show(Show::ReplicaStatus(Target::All))
        );
        for (text, want) in [
            ("start slave until master_log_file='x'", 1277),
            (
                "start slave until relay_log_file='x', master_log_pos=9",
                1277,
            ),
            (
                "start slave until relay_log_file='x', relay_log_pos=9",
                1235,
            ),
            ("start slave until master_gtid_pos='x'", 1941),
            ("start slave until sql_before_gtids='0-1-1'", 1064),
            ("start slave user='x'", 1064),
            ("start slave sql_thread,", 1064),
            ("stop everything", 1064),
            ("reset slave 'q' all for channel 'q'", 1210),
            ("show all slaves status for channel ''", 1064),
        ] {
            assert_eq!(code(text), want, "{text}");
        }
    }
}
