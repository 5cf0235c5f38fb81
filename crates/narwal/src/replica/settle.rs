//! The last step: the copy is opened, gets its position and the connection's settings, and is closed again.

use super::args::ReplicaArgs;
use super::work::Work;
use crate::Failure;
use crate::glue;
use crate::local::Local;
use crate::options::{Serve, serve};
use std::collections::BTreeMap;
use std::path::Path;

/// Sets position and connection in the folder. `slave_pos`: of a dump; a copy of files knows it itself. Gives the position.
pub fn run(
    args: &ReplicaArgs,
    work: &Work,
    server_id: u32,
    slave_pos: Option<String>,
) -> Result<String, Failure> {
    let instance = glue::open(&quiet(args, work.dir(), server_id)?)?;
    let done = instance.open_replicas().and_then(|_| {
        let mut local = instance.local()?;
        settle(args, &mut local, slave_pos)
    });
    instance.stop_replicas();
    // Before the folder gets its name.
    instance.close();
    done
}

/// A server that nobody connects to and that connects to nobody.
pub fn quiet(args: &ReplicaArgs, dir: &Path, server_id: u32) -> Result<Serve, Failure> {
    let mut words = vec![
        format!("--datadir={}", dir.display()),
        "--skip-networking".to_owned(),
        "--socket=".to_owned(),
        "--skip-slave-start".to_owned(),
        "--innodb-flush-log-at-trx-commit=0".to_owned(),
        "--innodb-buffer-pool-size=256M".to_owned(),
        format!("--server-id={server_id}"),
    ];
    if let Some(path) = &args.encryption_key_file {
        words.push(format!("--encryption-key-file={}", path.display()));
    }
    Ok(serve(&words)?)
}

fn settle(
    args: &ReplicaArgs,
    local: &mut Local,
    slave_pos: Option<String>,
) -> Result<String, Failure> {
    // The source's own connections came with its files. They are the source's.
    for row in local.query("SHOW ALL SLAVES STATUS")? {
        let name = row.first().cloned().flatten().unwrap_or_default();
        local.query(&format!("RESET SLAVE {} ALL", super::args::quoted(&name)))?;
    }
    let position = match slave_pos {
        Some(p) => p,
        None => applied(
            &local.value("SELECT @@global.gtid_slave_pos")?,
            &local.value("SELECT @@global.gtid_binlog_pos")?,
        ),
    };
    local.query(&format!(
        "SET GLOBAL gtid_slave_pos = {}",
        super::args::quoted(&position)
    ))?;
    local.query(&args.change_master()?)?;
    Ok(position)
}

/// What a copy of a server has applied: everything in its log, and of domains that are not there what the server had
/// replicated without logging it (a dump that it was made of).
fn applied(slave_pos: &str, binlog_pos: &str) -> String {
    let mut last: BTreeMap<u32, &str> = BTreeMap::new();
    for gtid in slave_pos.split(',').chain(binlog_pos.split(',')) {
        if let Some(domain) = gtid.split('-').next().and_then(|d| d.trim().parse().ok()) {
            last.insert(domain, gtid.trim());
        }
    }
    last.into_values().collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::applied;

    #[test]
    fn the_log_counts_and_what_only_was_replicated_stays() {
        assert_eq!(applied("", "0-1-5"), "0-1-5");
        assert_eq!(applied("0-2-4,3-7-9", "0-1-5,1-1-1"), "0-1-5,1-1-1,3-7-9");
        assert_eq!(applied("", ""), "");
    }
}
