//! Single tables once more from a server that has the same transactions.
//!
//! A damaged table takes no writes, so a replica that has applied all of its server's transactions has just the rows that are
//! missing there. They are put in without the binary log: the other servers have them.

use super::args::{ReplicaArgs, asking};
use super::{dump, schema, settle};
use crate::Failure;
use crate::glue;
use crate::local::Local;
use narwal_client::Connection;
use narwal_engine::backup::Throttle;
use std::path::Path;

/// A GTID position with its parts in one order.
fn sorted(position: &str) -> Vec<String> {
    let parts = position.split(',').map(str::trim);
    let mut parts: Vec<String> = parts.filter(|p| !p.is_empty()).map(str::to_owned).collect();
    parts.sort();
    parts
}

const POSITION: &str = "SELECT @@global.gtid_current_pos";

/// Empties these tables of the folder `dir`, which no server uses, and fills them with the other server's rows. `words`:
/// options of `narwal replica` that name it.
pub fn refetch(words: &[String], dir: &Path, tables: &[String]) -> Result<(), Failure> {
    let Some(args) = crate::cli::parse::<ReplicaArgs>("narwal replica", words)? else {
        return Ok(());
    };
    let mut connection = Connection::connect(&args.connect()?).map_err(asking)?;
    let instance = glue::open(&settle::quiet(&args, dir, 1)?)?;
    let done = instance
        .local()
        .and_then(|mut local| fill(&args, &mut connection, &mut local, tables));
    instance.close();
    done?;
    connection.quit();
    Ok(())
}

fn fill(
    args: &ReplicaArgs,
    connection: &mut Connection,
    local: &mut Local,
    tables: &[String],
) -> Result<(), Failure> {
    let own = local.value(POSITION)?;
    dump::open_snapshot(connection)?;
    at_the_same_place(args, connection, &own)?;
    let plan = schema::look(connection, args)?;
    dump::prepare_local(local)?;
    let mut throttle = Throttle::new(args.max_rate.unwrap_or(0) << 20);
    for wanted in tables {
        let full = |t: &&schema::TablePlan| format!("{}.{}", t.db, t.name) == *wanted;
        let Some(table) = plan.tables.iter().find(full) else {
            return Err(Failure::Run(format!(
                "{} has no table {wanted}",
                args.source()
            )));
        };
        local.query(&format!("TRUNCATE TABLE {}", table.quoted()))?;
        let mut bytes = 0;
        dump::rows(connection, table, local, &mut throttle, &mut |n| bytes += n)?;
        println!("{wanted}: {bytes} bytes of rows from {}", args.source());
    }
    at_the_same_place(args, connection, &own)
}

/// The other server has the transactions that the folder has, and no others.
fn at_the_same_place(
    args: &ReplicaArgs,
    connection: &mut Connection,
    own: &str,
) -> Result<(), Failure> {
    let there = connection
        .value(POSITION)
        .map_err(asking)?
        .unwrap_or_default();
    if sorted(&there) == sorted(own) {
        return Ok(());
    }
    Err(Failure::Run(format!(
        "{} is at the GTID position '{there}', the folder at '{own}': only a server with exactly the folder's transactions has its \
         rows. Let a replica that is behind catch up; if it is ahead, make this folder anew with narwal replica --from",
        args.source()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_the_same_in_any_order() {
        assert_eq!(sorted("1-2-3, 0-1-7"), sorted("0-1-7,1-2-3"));
        assert_ne!(sorted("0-1-7"), sorted("0-1-8"));
        assert!(sorted("").is_empty());
    }
}
