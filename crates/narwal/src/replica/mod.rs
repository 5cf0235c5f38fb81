//! `narwal replica`: a new data folder that is a replica of a running server, in one step.
//!
//! | file | holds |
//! |---|---|
//! | `args.rs` | the options |
//! | `work.rs` | the folder in the making, and what makes it the one that was asked for |
//! | `clone.rs` | a running Narwal's files, by BACKUP STREAM |
//! | `dump.rs`, `schema.rs` | a running MariaDB's tables, by one consistent snapshot |
//! | `refetch.rs` | single tables once more, for a server whose own are damaged |
//! | `settle.rs` | position and connection of the new replica |

mod args;
mod clone;
mod dump;
mod refetch;
mod schema;
mod settle;
mod work;

pub use refetch::refetch;

use crate::Failure;
use args::{ReplicaArgs, asking};
use narwal_client::Connection;
use std::os::unix::process::CommandExt;
use work::Work;

/// The source, as it says of itself.
#[derive(Debug)]
struct Source {
    narwal: bool,
    version: String,
    server_id: u32,
}

/// Oldest MariaDB that is copied: what later ones have is asked for.
const OLDEST_MARIADB: (u32, u32) = (10, 4);

/// What was made.
struct Made {
    source: String,
    version: String,
    position: String,
    server_id: u32,
}

/// As `narwal replica` with these options, for another command.
pub fn make(args: &[String]) -> Result<(), Failure> {
    match crate::cli::parse::<ReplicaArgs>("narwal replica", args)? {
        Some(args) => copy(&args).map(|_| ()),
        None => Ok(()),
    }
}

/// Runs `narwal replica`.
pub fn run(args: &[String]) -> Result<(), Failure> {
    let Some(args) = crate::cli::parse::<ReplicaArgs>("narwal replica", args)? else {
        return Ok(());
    };
    // Wrong options of the server should not be found out after an hour's copy.
    let mut server = vec![format!("--datadir={}", args.datadir.display())];
    if let Some(path) = &args.encryption_key_file {
        server.push(format!("--encryption-key-file={}", path.display()));
    }
    server.extend(args.server.iter().cloned());
    crate::options::serve(&server)?;

    let made = copy(&args)?;
    println!(
        "{} is a replica of {} ({}) at gtid_slave_pos {}",
        args.datadir.display(),
        made.source,
        made.version,
        if made.position.is_empty() {
            "''"
        } else {
            &made.position
        }
    );
    if !args.server.iter().any(|o| is_server_id(o)) {
        server.push(format!("--server-id={}", made.server_id));
    }
    server.extend(args.filter_options());
    if !args.start {
        println!(
            "it begins to replicate when its server starts: narwal serve {}",
            server.join(" ")
        );
        return Ok(());
    }
    let me = std::env::current_exe().map_err(|e| Failure::run("finding this program", e))?;
    let e = std::process::Command::new(me)
        .arg("serve")
        .args(&server)
        .exec();
    Err(Failure::run("starting the server", e))
}

/// Makes the folder.
fn copy(args: &ReplicaArgs) -> Result<Made, Failure> {
    let mut connection = connect(args)?;
    let source = look_at(&mut connection)?;
    let server_id = server_id(args, &source)?;
    let work = Work::begin(&args.datadir, &args.source(), source.narwal)?;
    let made = if source.narwal {
        clone::run(args, connection, &work)
    } else {
        dump::run(args, connection, &work)
    };
    let position = made
        .and_then(|slave_pos| settle::run(args, &work, server_id, slave_pos))
        .map_err(|e| work.after_failure(e))?;
    work.finish()?;
    Ok(Made {
        source: args.source(),
        version: source.version,
        position,
        server_id,
    })
}

fn is_server_id(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or_default();
    name.replace('_', "-") == "--server-id"
}

/// The new server's id: what its options say, else one by chance.
fn server_id(args: &ReplicaArgs, source: &Source) -> Result<u32, Failure> {
    let mut words = args.server.iter();
    let mut given = None;
    while let Some(word) = words.next() {
        if is_server_id(word) {
            given = match word.split_once('=') {
                Some((_, v)) => v.parse().ok(),
                None => words.next().and_then(|v| v.parse().ok()),
            };
        }
    }
    match given {
        Some(id) if id == source.server_id => Err(Failure::Usage(format!(
            "server id {id} is that of {}; a replica needs one of its own",
            args.source()
        ))),
        Some(id) => Ok(id),
        None => {
            let mut seed = u64::from(std::process::id());
            seed ^= std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .map_or(0, |d| d.as_nanos() as u64);
            // Far from the numbers that people give.
            let id = 1_000_000_000 + (seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 34) as u32;
            Ok(if id == source.server_id { id + 1 } else { id })
        }
    }
}

fn connect(args: &ReplicaArgs) -> Result<Connection, Failure> {
    Connection::connect(&args.connect()?).map_err(|e| {
        Failure::run(
            format_args!("connecting to {} as {}", args.source(), args.user),
            e,
        )
    })
}

fn look_at(connection: &mut Connection) -> Result<Source, Failure> {
    let version = connection.server_version().to_owned();
    let narwal = version.contains("narwal");
    let refuse = |why: &str| {
        Err(Failure::Run(format!(
            "the source is {version}: {why}. A Narwal or a MariaDB {}.{} and later can be copied",
            OLDEST_MARIADB.0, OLDEST_MARIADB.1
        )))
    };
    if !narwal {
        if !connection.is_mariadb() {
            return refuse(
                "not a MariaDB (binary log files of MySQL can be imported: narwal binlog import)",
            );
        }
        let mut numbers = version
            .split(|c: char| !c.is_ascii_digit())
            .map(|n| n.parse().unwrap_or(0));
        let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if found < OLDEST_MARIADB {
            return refuse("too old");
        }
    }
    let facts = connection
        .query("SELECT @@global.log_bin, @@global.server_id, @@global.binlog_format")
        .map_err(asking)?;
    let fact = |i| facts.text(0, i).unwrap_or_default();
    if fact(0) != "1" {
        return refuse("its binary log is off (log_bin), so nothing can replicate from it");
    }
    if !narwal && fact(2) != "ROW" {
        return refuse(&format!(
            "its binlog_format is {}; a replica of Narwal's needs ROW: SET GLOBAL binlog_format=ROW there, and let old sessions end",
            fact(2)
        ));
    }
    Ok(Source {
        narwal,
        server_id: fact(1).parse().unwrap_or(0),
        version,
    })
}
