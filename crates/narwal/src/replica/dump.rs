//! A running MariaDB's tables, as of one consistent snapshot whose place in the binary log is known.
//!
//! Everything is written with `sql_log_bin=0`: what comes by the copy has no GTIDs here, as with a dump that is loaded into
//! a new MariaDB replica.

use super::args::{ReplicaArgs, asking, quoted};
use super::schema::{Form, Plan, TablePlan, look, name};
use super::settle::quiet;
use super::work::Work;
use crate::Failure;
use crate::binlog::Progress;
use crate::glue;
use crate::local::{Local, text};
use narwal_client::Connection;
use narwal_engine::backup::Throttle;
use narwal_types::ValueRef;
use narwal_types::errors::codes;

/// Bytes of rows in one transaction.
const BATCH: u64 = 4 << 20;

/// Copies the tables. Gives the GTID position of the snapshot.
pub fn run(
    args: &ReplicaArgs,
    mut connection: Connection,
    work: &Work,
) -> Result<Option<String>, Failure> {
    let position = begin(&mut connection)?;
    let plan = look(&mut connection, args)?;
    // Any server id: nothing is written to the binary log.
    let instance = glue::open(&quiet(args, work.dir(), 1)?)?;
    let copied = instance
        .local()
        .and_then(|mut local| copy(args, &mut connection, &plan, &mut local));
    instance.close();
    copied?;
    connection.quit();
    for line in &plan.left_out {
        eprintln!("narwal: left out: {line}");
    }
    Ok(Some(position))
}

/// Opens the snapshot.
pub fn open_snapshot(connection: &mut Connection) -> Result<(), Failure> {
    for sql in [
        "SET NAMES utf8mb4",
        "SET SESSION sql_mode='', time_zone='+00:00', sql_quote_show_create=1, max_statement_time=0",
        // A target that is slow for a while must not lose the snapshot.
        "SET SESSION net_write_timeout=3600, wait_timeout=86400",
        "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "START TRANSACTION WITH CONSISTENT SNAPSHOT",
    ] {
        connection.execute(sql).map_err(asking)?;
    }
    Ok(())
}

/// Opens the snapshot. Gives its GTID position.
fn begin(connection: &mut Connection) -> Result<String, Failure> {
    open_snapshot(connection)?;
    let status = connection
        .query("SHOW STATUS LIKE 'binlog_snapshot_%'")
        .map_err(asking)?;
    let find = |wanted: &str| {
        (0..status.rows.len())
            .find(|&i| {
                status
                    .text(i, 0)
                    .is_some_and(|n| n.eq_ignore_ascii_case(wanted))
            })
            .and_then(|i| status.text(i, 1))
            .filter(|v| !v.is_empty())
    };
    let (Some(file), Some(pos)) = (
        find("binlog_snapshot_file"),
        find("binlog_snapshot_position"),
    ) else {
        return Err(Failure::Run(
            "the source does not tell the place of a snapshot in its binary log (Binlog_snapshot_file)"
                .into(),
        ));
    };
    let pos: u64 = pos
        .parse()
        .map_err(|_| asking("Binlog_snapshot_position is no number"))?;
    let gtids = connection
        .value(&format!("SELECT BINLOG_GTID_POS({}, {pos})", quoted(&file)))
        .map_err(asking)?;
    gtids.ok_or_else(|| {
        Failure::Run(format!(
            "the source does not know the GTID position at {file}:{pos}"
        ))
    })
}

/// A session that writes the rows of another server as they are, and not to the binary log.
pub fn prepare_local(local: &mut Local) -> Result<(), Failure> {
    for sql in [
        "SET SESSION sql_log_bin=0",
        "SET NAMES utf8mb4",
        "SET SESSION sql_mode='NO_AUTO_VALUE_ON_ZERO', time_zone='+00:00'",
        "SET SESSION foreign_key_checks=0, unique_checks=0",
    ] {
        local.query(sql)?;
    }
    Ok(())
}

fn copy(
    args: &ReplicaArgs,
    connection: &mut Connection,
    plan: &Plan,
    local: &mut Local,
) -> Result<(), Failure> {
    prepare_local(local)?;
    make_tables(connection, plan, local)?;
    make_views(connection, plan, local)?;
    let total = plan.tables.iter().map(|t| t.bytes).sum();
    let mut progress = Progress::new(total, true);
    let mut throttle = Throttle::new(args.max_rate.unwrap_or(0) << 20);
    let mut done = 0;
    for table in &plan.tables {
        rows(connection, table, local, &mut throttle, &mut |bytes| {
            done += bytes;
            progress.at(done, table.quoted());
        })?;
    }
    progress.clear();
    Ok(())
}

/// Makes databases and tables. What can't be made is named all at once, before any row is copied.
fn make_tables(connection: &mut Connection, plan: &Plan, local: &mut Local) -> Result<(), Failure> {
    let mut problems = plan.problems.clone();
    for (db, charset, collation) in &plan.databases {
        let sql = format!(
            "CREATE DATABASE IF NOT EXISTS {} CHARACTER SET {charset} COLLATE {collation}",
            name(db)
        );
        if let Err(e) = local.run(&sql) {
            problems.push(format!("database {db}: {}", text(&e)));
        }
    }
    for table in &plan.tables {
        let sql = connection
            .query(&format!("SHOW CREATE TABLE {}", table.quoted()))
            .map_err(asking)?
            .text(0, 1)
            .unwrap_or_default();
        let made = local
            .run(&format!("USE {}", name(&table.db)))
            .and_then(|_| local.run(&sql));
        if let Err(e) = made {
            problems.push(format!("{}.{}: {}", table.db, table.name, text(&e)));
        }
    }
    if problems.is_empty() {
        return Ok(());
    }
    problems.sort();
    problems.dedup();
    Err(Failure::Run(format!(
        "of the source, this can't be copied:\n  {}\nchange it there, or leave it out with --ignore-table=DB.TABLE or --ignore-db=NAME",
        problems.join("\n  ")
    )))
}

/// Makes the views, those that read others behind them. One that can't be made is left out: no row is missing by that.
fn make_views(connection: &mut Connection, plan: &Plan, local: &mut Local) -> Result<(), Failure> {
    let mut waiting = Vec::with_capacity(plan.views.len());
    for (db, view) in &plan.views {
        let full = format!("{}.{}", name(db), name(view));
        let found = connection
            .query(&format!("SHOW CREATE VIEW {full}"))
            .map_err(asking)?;
        waiting.push((full, found.text(0, 1).unwrap_or_default()));
    }
    loop {
        let before = waiting.len();
        let mut failed = Vec::new();
        for (full, sql) in std::mem::take(&mut waiting) {
            if let Err(e) = local.run(&sql) {
                failed.push(text(&e));
                waiting.push((full, sql));
            }
        }
        if waiting.len() == before {
            for ((full, _), why) in waiting.iter().zip(&failed) {
                eprintln!("narwal: left out: view {full}: {why}");
            }
            return Ok(());
        }
    }
}

/// Copies a table's rows; `told` hears of their bytes.
pub fn rows(
    connection: &mut Connection,
    table: &TablePlan,
    local: &mut Local,
    throttle: &mut Throttle,
    told: &mut dyn FnMut(u64),
) -> Result<(), Failure> {
    let asked: Vec<String> = table
        .columns
        .iter()
        .map(|c| match c.form {
            Form::Float => format!("{} + 0e0", name(&c.name)),
            _ => name(&c.name),
        })
        .collect();
    let names: Vec<String> = table.columns.iter().map(|c| name(&c.name)).collect();
    let full = table.quoted();
    let insert = format!(
        "INSERT INTO {full} ({}) VALUES ({})",
        names.join(","),
        vec!["?"; names.len()].join(",")
    );
    let writing =
        |e: &narwal_types::SqlError| Failure::run(format_args!("a row of {full}"), text(e));
    let handle = local.prepare(&insert).map_err(|e| writing(&e))?;
    let select = format!("SELECT {} FROM {full}", asked.join(","));
    let mut found = connection.rows(&select).map_err(|e| changed(&full, e))?;
    let (mut batch, mut open) = (0, false);
    while let Some(row) = found.next().map_err(|e| changed(&full, e))? {
        let mut values = Vec::with_capacity(names.len());
        let mut bytes = 0;
        for (i, column) in table.columns.iter().enumerate() {
            let value = row.get(i);
            bytes += value.map_or(1, |v| v.len() as u64 + 1);
            values.push(match (value, column.form) {
                (None, _) => ValueRef::Null,
                (Some(v), Form::Text) => ValueRef::Str(v),
                (Some(v), Form::Bytes) => ValueRef::Bytes(v),
                (Some(v), Form::Bits) => {
                    ValueRef::UInt(v.iter().fold(0, |n, b| n << 8 | u64::from(*b)))
                }
                (Some(v), Form::Float) => {
                    match std::str::from_utf8(v).ok().and_then(|t| t.parse().ok()) {
                        Some(number) => ValueRef::Double(number),
                        None => ValueRef::Str(v),
                    }
                }
            });
        }
        if !open {
            local.query("BEGIN")?;
            open = true;
        }
        local.execute(handle, &values).map_err(|e| writing(&e))?;
        batch += bytes;
        let wait = throttle.after(bytes, 0);
        if !wait.is_zero() {
            std::thread::sleep(wait);
        }
        if batch >= BATCH {
            local.query("COMMIT")?;
            told(batch);
            (batch, open) = (0, false);
        }
    }
    if open {
        local.query("COMMIT")?;
        told(batch);
    }
    local.close_statement(handle);
    Ok(())
}

/// An error of reading a table; DDL during the copy has some of its own.
fn changed(table: &str, e: narwal_client::Error) -> Failure {
    match e.code() {
        codes::NO_SUCH_TABLE | codes::BAD_FIELD_ERROR | codes::TABLE_DEF_CHANGED => Failure::Run(
            format!("the source: {e}: {table} was changed by DDL while it was copied; try again"),
        ),
        _ => asking(e),
    }
}
