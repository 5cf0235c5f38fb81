//! `narwal rejoin`: makes a server whose history has parted from its primary's a replica of it again.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the command; a running server |
//! | `folder.rs` | the folder of a server that does not run: its own server for a while |
//! | `refetch.rs` | all data anew, for what can't be undone |

mod args;
mod folder;
mod refetch;

use crate::Failure;
use crate::diverge::Outcome;
use crate::diverge::side::{Side, ask, connect};
use args::{NAME, RejoinArgs, agreed};
use folder::SOCKET;
use narwal_binlog::{Gtid, GtidState};
use narwal_client::{Address, Connection, Options};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// FLASHBACK's error of a row that was changed since.
const NOT_AS_LEFT: &str = "error 1032 ";

/// A text as an SQL string.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// Runs a statement here; its text is in the error.
fn execute(c: &mut Connection, sql: &str) -> Result<(), Failure> {
    c.execute(sql).map(|_| ()).map_err(|e| Failure::run(sql, e))
}

/// A list of GTIDs with ranges, as FLASHBACK takes it.
fn ranges(all: &BTreeSet<Gtid>) -> String {
    let mut runs: Vec<(Gtid, u64)> = Vec::new();
    for &gtid in all {
        match runs.last_mut() {
            Some((first, last))
                if (first.domain, first.server, *last + 1)
                    == (gtid.domain, gtid.server, gtid.seq) =>
            {
                *last = gtid.seq;
            }
            _ => runs.push((gtid, gtid.seq)),
        }
    }
    let parts = runs.iter().map(|(first, last)| match last {
        last if *last == first.seq => first.to_string(),
        last => format!("{first}..{last}"),
    });
    parts.collect::<Vec<_>>().join(",")
}

/// How to connect to this server.
fn local(args: &RejoinArgs) -> Result<Options, Failure> {
    let mut options = args.local.options(&args.other, NAME)?;
    if args.local.given() && args.datadir.is_some() {
        return Err(Failure::Usage(
            "--datadir (for the socket in it), or a connection to this server: not both".into(),
        ));
    }
    if !args.local.given() {
        let dir = args.datadir.as_ref().ok_or_else(|| {
            Failure::Usage(
                "name this server: --socket, --port, or --datadir for its socket there".into(),
            )
        })?;
        options.address = Address::Unix(dir.join(SOCKET));
    }
    Ok(options)
}

/// CHANGE MASTER for the other server.
fn change_master(args: &RejoinArgs, other: &Options) -> Result<String, Failure> {
    let Address::Tcp(host, port) = &other.address else {
        return Err(Failure::Usage(
            "--from: a replica connects over TCP: name host and port".into(),
        ));
    };
    let user = args.replication_user.as_ref().unwrap_or(&other.user);
    let password = match &args.replication_password_file {
        Some(file) => crate::stream::args::password(Some(file))?,
        None => other.password.clone(),
    };
    let mut sql = format!(
        "CHANGE MASTER {}TO MASTER_HOST={}, MASTER_PORT={port}, MASTER_USER={}, MASTER_PASSWORD={}, MASTER_USE_GTID=slave_pos",
        name(&args.connection),
        quoted(host),
        quoted(user),
        quoted(&password)
    );
    if args.fence {
        // One of a group: who can't acknowledge for a minute may be missed.
        sql.push_str(", MASTER_CONNECT_RETRY=1");
    }
    use narwal_client::TlsMode as T;
    match &other.tls {
        T::Disabled | T::Preferred => {}
        T::Required => sql.push_str(", MASTER_SSL=1, MASTER_SSL_VERIFY_SERVER_CERT=0"),
        T::VerifyCa(ca) | T::VerifyIdentity(ca) => {
            let verify = u8::from(matches!(other.tls, T::VerifyIdentity(_)));
            let ca = quoted(&ca.display().to_string());
            sql.push_str(&format!(
                ", MASTER_SSL=1, MASTER_SSL_CA={ca}, MASTER_SSL_VERIFY_SERVER_CERT={verify}"
            ));
        }
    }
    Ok(sql)
}

/// The connection's name, for statements.
fn name(connection: &str) -> String {
    match connection {
        "" => String::new(),
        name => format!("{} ", quoted(name)),
    }
}

/// What this server has applied, as the position to go on from: of each domain the newer one of what its log and its
/// gtid_slave_pos say.
fn position(c: &mut Connection, here: &GtidState) -> Result<String, Failure> {
    let text = ask(c, "SELECT @@GLOBAL.gtid_slave_pos")?.unwrap_or_default();
    let state: GtidState = text
        .parse()
        .map_err(|e| Failure::run("gtid_slave_pos", e))?;
    let mut all: BTreeMap<u32, Gtid> = state.position().map(|g| (g.domain, g)).collect();
    for gtid in here.position() {
        let at = all.entry(gtid.domain).or_insert(gtid);
        if at.seq <= gtid.seq {
            *at = gtid;
        }
    }
    let all: Vec<String> = all.values().map(Gtid::to_string).collect();
    Ok(all.join(","))
}

/// Waits until this server has everything that the other one has now.
fn catch_up(args: &RejoinArgs, c: &mut Connection, wanted: &str) -> Result<bool, Failure> {
    let began = Instant::now();
    let limit = Duration::from_secs(args.wait);
    loop {
        let wait = format!("SELECT MASTER_GTID_WAIT({}, 1)", quoted(wanted));
        if ask(c, &wait)?.as_deref() == Some("0") {
            return Ok(true);
        }
        let sql = format!("SHOW SLAVE {}STATUS", name(&args.connection));
        let status = c.query(&sql).map_err(|e| Failure::run(&sql, e))?;
        let value = |wanted: &str| {
            let at = status.columns.iter().position(|c| c.name == wanted)?;
            status.text(0, at)
        };
        for part in ["IO", "SQL"] {
            let text = value(&format!("Last_{part}_Error")).unwrap_or_default();
            let running = value(&format!("Slave_{part}_Running"));
            if !text.is_empty() && running.as_deref() == Some("No") {
                return Err(Failure::Run(format!("it follows, but has stopped: {text}")));
            }
        }
        if began.elapsed() >= limit {
            return Ok(false);
        }
        if std::io::stderr().is_terminal() {
            let at = value("Gtid_Slave_Pos")
                .or_else(|| value("Gtid_IO_Pos"))
                .unwrap_or_default();
            eprint!("\rwaiting until it has caught up: {at} of {wanted}\x1b[K");
        }
    }
}

/// Why what only this server has can't be undone, if it can't.
fn refuse_what_cant_be_undone(outcome: &Outcome, here: &Side, there: &Side) -> Result<(), Failure> {
    let report = outcome.report(here, there);
    let Some((summary, why)) = report.not_undoable().first().copied() else {
        return Ok(());
    };
    Err(Failure::Run(format!(
        "{} of the transactions can't be undone from the log (the first: {}: {why}). Nothing was changed. Copy the data anew \
         with --refetch, or narwal replica --from={} into a new folder; what only this server has is saved. docs/divergence.md \
         tells how to do it by hand",
        report.not_undoable().len(),
        summary.gtid,
        there.name()
    )))
}

/// The connections of which a thread runs.
fn running(c: &mut Connection) -> Result<Vec<String>, Failure> {
    const SQL: &str = "SHOW ALL SLAVES STATUS";
    let all = c.query(SQL).map_err(|e| Failure::run(SQL, e))?;
    let at = |name: &str| all.columns.iter().position(|c| c.name == name);
    let (Some(name), Some(io), Some(sql)) = (
        at("Connection_name"),
        at("Slave_IO_Running"),
        at("Slave_SQL_Running"),
    ) else {
        return Ok(Vec::new());
    };
    let runs = |row: usize, column: usize| all.text(row, column).is_some_and(|v| v != "No");
    let rows = (0..all.rows.len()).filter(|&row| runs(row, io) || runs(row, sql));
    Ok(rows.filter_map(|row| all.text(row, name)).collect())
}

/// Starts connections.
fn start<'a>(
    c: &mut Connection,
    names: impl IntoIterator<Item = &'a String>,
) -> Result<(), Failure> {
    for connection in names {
        execute(c, &format!("START SLAVE {}", name(connection)))?;
    }
    Ok(())
}

/// Shows and saves what only this server has, and takes it back.
fn take_back(
    args: &RejoinArgs,
    c: &mut Connection,
    here: &Side,
    there: &Side,
) -> Result<(), Failure> {
    // Of a run that was cut short.
    execute(c, "FLASHBACK BINARY LOGS GTIDS ''")?;
    let outcome = args.output.examine(here, there)?;
    print!("{}", outcome.report(here, there).text());
    let _ = std::io::stdout().flush();
    if outcome.only_here.is_empty() {
        return Ok(());
    }
    refuse_what_cant_be_undone(&outcome, here, there)?;
    let n = outcome.only_here.len();
    let question = format!(
        "\nTake back these {n} transactions at {}, and make it a replica of {}?",
        here.name(),
        there.name()
    );
    if !args.yes && !agreed(&question)? {
        return Err(Failure::Run("nothing was changed".into()));
    }
    let list = ranges(&outcome.only_here);
    execute(c, &format!("FLASHBACK BINARY LOGS GTIDS '{list}'"))?;
    println!("taken back: {n} transactions");
    Ok(())
}

/// Runs the command with the arguments behind `rejoin`.
pub fn run(args: &[String]) -> Result<(), Failure> {
    let Some(args) = crate::cli::parse::<RejoinArgs>(NAME, args)? else {
        return Ok(());
    };
    if !args.output.saves() {
        return Err(Failure::Usage(
            "--save=none: what is taken back is always saved before".into(),
        ));
    }
    let other = args.other.options(NAME)?;
    let change = change_master(&args, &other)?;
    let options = local(&args)?;
    match &args.datadir {
        Some(dir) if !folder::runs(dir) => stopped(&args, dir, options, other, &change),
        Some(dir) if args.refetch => Err(Failure::Run(format!(
            "--refetch replaces the folder {}: stop its server first",
            dir.display()
        ))),
        _ => running_server(&args, options, other, &change),
    }
}

/// The folder of a server that does not run.
fn stopped(
    args: &RejoinArgs,
    dir: &Path,
    options: Options,
    other: Options,
    change: &str,
) -> Result<(), Failure> {
    let there = Side::server(other.clone());
    let lock = folder::lock(dir)?;
    if args.refetch && refetch::needed(args, dir, &there)? {
        return refetch::replace(args, dir, &there);
    }
    drop(lock);
    let server = folder::Served::start(dir, args.encryption_key_file.as_deref(), &args.server)?;
    let done = running_server(args, options.clone(), other, change);
    // Also if it failed: nobody asked for a server that runs.
    server.stop(&options)?;
    match done {
        Err(Failure::Run(why)) if args.refetch && why.contains(NOT_AS_LEFT) => {
            eprintln!("narwal: {why}");
            let _lock = folder::lock(dir)?;
            refetch::replace(args, dir, &there)
        }
        done => done,
    }
}

/// Where `narwal promote` is used: the other server must have been chosen for the newest term. To another one's history things would
/// be taken back that were acknowledged, and a primary that was replaced would get acknowledgements from here.
fn refuse_an_older_term(c: &mut Connection, other: &Options) -> Result<(), Failure> {
    let own = crate::promote::newest(c)?;
    if own == 0 {
        return Ok(());
    }
    let theirs = crate::promote::chosen(&mut connect(other)?)?;
    if own <= theirs {
        return Ok(());
    }
    Err(Failure::Run(format!(
        "{} is not the primary: this server knows of a newer term ({own}) than that one was chosen for ({theirs})",
        other.address
    )))
}

/// Everything, over a connection.
fn running_server(
    args: &RejoinArgs,
    options: Options,
    other: Options,
    change: &str,
) -> Result<(), Failure> {
    let mut c = connect(&options)?;
    let version = ask(&mut c, "SELECT @@version")?.unwrap_or_default();
    if !version.to_ascii_lowercase().contains("narwal") {
        return Err(Failure::Run(format!(
            "{} is {version}, not Narwal. narwal diverge shows and saves what only it has; docs/divergence.md tells how to go \
             on by hand",
            options.address
        )));
    }
    crate::promote::take_lock(&mut c, false, Duration::ZERO)?;
    refuse_an_older_term(&mut c, &other)?;
    if args.fence {
        // What waits here for a replica must never be answered: it is taken back.
        crate::promote::silence(&mut c, Duration::from_secs(60))?;
        execute(&mut c, "SET GLOBAL rpl_semi_sync_master_enabled = OFF")?;
    }
    let (here, there) = (Side::server(options), Side::server(other));
    let running = running(&mut c)?;
    execute(&mut c, "STOP ALL SLAVES")?;
    if let Err(e) = take_back(args, &mut c, &here, &there) {
        // As it was.
        if let Err(again) = start(&mut c, &running) {
            eprintln!("narwal: {again}");
        }
        return Err(e);
    }
    let state = here.state()?;
    let pos = position(&mut c, &state)?;
    execute(&mut c, &format!("SET GLOBAL gtid_slave_pos='{pos}'"))?;
    // Without the password in what is shown.
    c.execute(change)
        .map_err(|e| Failure::run("CHANGE MASTER", e))?;
    execute(&mut c, &format!("START SLAVE {}", name(&args.connection)))?;
    let others = running
        .iter()
        .filter(|n| !n.eq_ignore_ascii_case(&args.connection));
    start(&mut c, others)?;
    println!("follows {} from '{pos}' on", there.name());
    if args.wait == 0 {
        return Ok(());
    }
    let wanted = there.state()?.position_text();
    let done = catch_up(args, &mut c, &wanted);
    if std::io::stderr().is_terminal() {
        eprint!("\r\x1b[K");
    }
    if done? {
        println!("has everything up to '{wanted}'");
        return Ok(());
    }
    Err(Failure::Run(format!(
        "it follows, but has not caught up with '{wanted}' in {} s: SHOW SLAVE STATUS tells more",
        args.wait
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_ranges() {
        let all = ["0-2-7", "0-2-5", "0-2-6", "0-3-8", "1-2-9", "0-2-9"];
        let all = all.iter().map(|g| g.parse().unwrap()).collect();
        assert_eq!(ranges(&all), "0-2-5..7,0-2-9,0-3-8,1-2-9");
    }

    #[test]
    fn strings() {
        assert_eq!(quoted(r"a'b\c"), r"'a''b\\c'");
    }
}
