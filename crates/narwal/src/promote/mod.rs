//! `narwal promote`: makes one of several servers the primary so that no acknowledged commit is lost and no other server
//! acknowledges any more. It is the election of Raft over what semi-synchronous replication gives: servers that have all that
//! was acknowledged, terms in a replicated table, and fences in place of votes.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the command: who is chosen |
//! | `server.rs` | one server: fenced, made a replica, made the primary |
//! | `args.rs` | the options |

mod args;
mod server;

pub(crate) use server::{chosen, newest, silence, take_lock};

use crate::Failure;
use args::{NAME, PromoteArgs};
use narwal_client::Options;
use server::Server;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Runs the command with the arguments behind `promote`.
pub fn run(args: &[String]) -> Result<(), Failure> {
    let Some(args) = crate::cli::parse::<PromoteArgs>(NAME, args)? else {
        return Ok(());
    };
    let all = args.options()?;
    let account = args.replication()?;
    let preferred = args.preferred()?;
    let needed = all.len() - args.acks as usize;
    let enough = |servers: Vec<Server>| match servers.len() {
        n if n >= needed => Ok(servers),
        n => Err(Failure::Run(format!(
            "{n} of {} servers answer, and {needed} have to: the others may have what these lack. No server was made the primary",
            all.len()
        ))),
    };
    let reached = enough(each(named(&all, |o| o.address.to_string()), Server::reach))?;
    let silenced = enough(each(named(reached, Server::name), Server::silenced))?;
    let known = silenced.iter().map(|s| s.newest).max();
    let term = next_term(known.unwrap_or(0));
    let mut fenced = enough(fence(silenced, args.catch_up(), term))?;
    let at = choose(&fenced, needed, preferred.as_ref())?;
    let mut primary = fenced.swap_remove(at);
    for replica in &mut fenced {
        match replica.follow(&primary.options, &account) {
            Ok(()) => println!("{}: follows {}", replica.name(), primary.name()),
            Err(e) => println!("{}: does not follow: {e}", replica.name()),
        }
    }
    open(&mut primary, &mut fenced, term, &args)?;
    println!("primary: {} from term {term} on", primary.name());
    Ok(())
}

/// Opens the primary when its new term is acknowledged. That is not waited for when too few are left who can: a replica whose
/// history has parted is known as soon as it has tried to follow.
fn open(
    primary: &mut Server,
    replicas: &mut [Server],
    term: u64,
    args: &PromoteArgs,
) -> Result<(), Failure> {
    let (options, id) = (primary.options.clone(), primary.connection()?);
    let ended = AtomicBool::new(false);
    let (opened, stopped) = std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let stopped = too_few(replicas, args.acks, &ended);
            if !stopped.is_empty()
                && let Err(e) = Server::end_connection(&options, &id)
            {
                println!("{}: the wait goes on: {e}", options.address);
            }
            stopped
        });
        let opened = primary.open(term, args.acks, args.wait());
        ended.store(true, Ordering::Relaxed);
        (opened, watching.join().unwrap_or_default())
    });
    for (name, why) in stopped {
        println!("{name}: does not follow: {why}");
    }
    opened.map_err(|e| {
        Failure::Run(format!(
            "{}: no acknowledgement of the new term from {} replicas, it stays closed ({e}). SHOW SLAVE STATUS on the others tells \
             why; one whose history has parted comes back by narwal rejoin",
            primary.name(),
            args.acks
        ))
    })
}

/// Looks at replicas until so many have stopped with an error that fewer than `acks` are left; those, and why. Nothing once `ended`.
fn too_few(replicas: &mut [Server], acks: u32, ended: &AtomicBool) -> Vec<(String, String)> {
    const EVERY: Duration = Duration::from_millis(50);
    while !ended.load(Ordering::Relaxed) {
        let stopped: Vec<(String, String)> = replicas
            .iter_mut()
            .filter_map(|r| Some((r.name(), r.stopped()?)))
            .collect();
        if replicas.len() - stopped.len() < acks as usize {
            return stopped;
        }
        std::thread::sleep(EVERY);
    }
    Vec::new()
}

/// Does something with all servers at the same time; says of those that fail why, and leaves them out.
fn each<T: Send>(
    all: Vec<(String, T)>,
    work: impl Fn(T) -> Result<Server, Failure> + Sync,
) -> Vec<Server> {
    let done: Vec<(String, std::thread::Result<Result<Server, Failure>>)> =
        std::thread::scope(|scope| {
            let running: Vec<_> = all
                .into_iter()
                .map(|(name, one)| (name, scope.spawn(|| work(one))))
                .collect();
            running
                .into_iter()
                .map(|(name, t)| (name, t.join()))
                .collect()
        });
    let mut fine = Vec::new();
    for (name, server) in done {
        match server {
            Ok(Ok(server)) => fine.push(server),
            Ok(Err(e)) => println!("{name}: not fenced: {e}"),
            Err(_) => println!("{name}: not fenced"),
        }
    }
    fine
}

/// Things with their names.
fn named<T>(all: impl IntoIterator<Item = T>, name: impl Fn(&T) -> String) -> Vec<(String, T)> {
    all.into_iter().map(|one| (name(&one), one)).collect()
}

/// Fences servers for a new term.
fn fence(silenced: Vec<Server>, catch_up: Duration, term: u64) -> Vec<Server> {
    // A primary that is replaced in good order has nothing that the next one lacks.
    let last = silenced.iter().find(|s| s.wrote);
    let last = last.map(|s| s.standing.gtids.clone());
    let fenced = each(named(silenced, Server::name), |mut server| {
        if let Some(last) = last.as_ref().filter(|_| !server.wrote) {
            server.catch_up(last, catch_up);
        }
        server.fence(term)
    });
    for server in &fenced {
        let at = &server.standing;
        println!(
            "{}: fenced at '{}', term {}",
            server.name(),
            at.gtids,
            at.term
        );
    }
    fenced
}

/// The server that has everything that was acknowledged: that has what any of `needed` servers have. Not the former primary, where
/// enough others are there: it was not taken for one any more, and what only it has was not acknowledged.
fn choose(fenced: &[Server], needed: usize, preferred: Option<&Options>) -> Result<usize, Failure> {
    let wanted = |n: &usize| preferred.is_some_and(|p| p.address == fenced[*n].options.address);
    let all: Vec<usize> = (0..fenced.len()).collect();
    let others: Vec<usize> = (all.iter().copied())
        .filter(|&n| !fenced[n].wrote || wanted(&n))
        .collect();
    let among = if others.len() >= needed { others } else { all };
    let has_all = |n: &usize| {
        let standing = &fenced[*n].standing;
        among
            .iter()
            .all(|&other| standing.covers(&fenced[other].standing))
    };
    let best: Vec<usize> = among.iter().copied().filter(has_all).collect();
    let found = best.iter().copied().find(wanted).or(best.first().copied());
    found.ok_or_else(|| {
        Failure::Run(
            "no server has all that the others have: several domains of GTIDs are written on different servers. No server was made \
             the primary"
                .into(),
        )
    })
}

/// A term that nobody has had: the time in microseconds, or the one behind the newest that is known.
fn next_term(known: u64) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |d| u64::try_from(d.as_micros()).unwrap_or(u64::MAX));
    now.max(known.saturating_add(1))
}
