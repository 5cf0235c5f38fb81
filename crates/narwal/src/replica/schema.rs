//! What a MariaDB has: databases, tables, columns; and what of it can't be copied.

use super::args::{ReplicaArgs, asking, quoted};
use crate::Failure;
use narwal_client::Connection;
use std::collections::BTreeMap;

/// Databases of a server's own.
const OWN: [&str; 4] = ["information_schema", "mysql", "performance_schema", "sys"];
/// Engines whose rows a consistent snapshot shows as of its moment.
const WITH_SNAPSHOTS: [&str; 3] = ["innodb", "rocksdb", "narwal"];

/// How a column's values are asked for and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As text.
    Text,
    /// As bytes.
    Bytes,
    /// BIT: bytes of a number.
    Bits,
    /// FLOAT: as a double, which has all its digits.
    Float,
}

/// A column that is copied.
#[derive(Debug, Clone)]
pub struct ColumnPlan {
    /// Name.
    pub name: String,
    /// How.
    pub form: Form,
}

/// A table that is copied.
#[derive(Debug)]
pub struct TablePlan {
    /// Database.
    pub db: String,
    /// Name.
    pub name: String,
    /// Bytes, about.
    pub bytes: u64,
    /// Columns that have values of their own.
    pub columns: Vec<ColumnPlan>,
}

impl TablePlan {
    /// `` `db`.`name` ``
    pub fn quoted(&self) -> String {
        format!("{}.{}", name(&self.db), name(&self.name))
    }
}

/// What is to be copied.
#[derive(Debug, Default)]
pub struct Plan {
    /// Databases: name, character set, collation.
    pub databases: Vec<(String, String, String)>,
    /// Tables, in no order that matters.
    pub tables: Vec<TablePlan>,
    /// Views: database and name.
    pub views: Vec<(String, String)>,
    /// What is left out, a line each: nothing is missing in the tables by that.
    pub left_out: Vec<String>,
    /// What can't be copied, a line each.
    pub problems: Vec<String>,
}

/// A quoted identifier.
pub fn name(text: &str) -> String {
    format!("`{}`", text.replace('`', "``"))
}

/// Looks at everything that the account can see.
pub fn look(connection: &mut Connection, args: &ReplicaArgs) -> Result<Plan, Failure> {
    let mut plan = Plan::default();
    databases(connection, args, &mut plan)?;
    tables(connection, args, &mut plan)?;
    left_out(connection, args, &mut plan)?;
    Ok(plan)
}

/// The server's own databases as a list for IN.
fn own() -> String {
    let own: Vec<String> = OWN.iter().map(|n| quoted(n)).collect();
    own.join(",")
}

fn skipped(args: &ReplicaArgs, db: &str) -> bool {
    args.ignore_db.iter().any(|d| d == db)
}

fn databases(
    connection: &mut Connection,
    args: &ReplicaArgs,
    plan: &mut Plan,
) -> Result<(), Failure> {
    let own = own();
    let found = connection
        .query(&format!(
            "SELECT schema_name, default_character_set_name, default_collation_name
         FROM information_schema.schemata WHERE schema_name NOT IN ({own}) ORDER BY 1"
        ))
        .map_err(asking)?;
    for i in 0..found.rows.len() {
        let [db, charset, collation] = [0, 1, 2].map(|c| found.text(i, c).unwrap_or_default());
        if !skipped(args, &db) {
            plan.databases.push((db, charset, collation));
        }
    }
    Ok(())
}

/// Columns that are copied, by database and table. Generated ones are made anew.
fn columns(
    connection: &mut Connection,
) -> Result<BTreeMap<(String, String), Vec<ColumnPlan>>, Failure> {
    let own = own();
    let mut columns: BTreeMap<(String, String), Vec<ColumnPlan>> = BTreeMap::new();
    let found = connection
        .query(&format!(
            "SELECT table_schema, table_name, column_name, data_type, extra
         FROM information_schema.columns WHERE table_schema NOT IN ({own})
         ORDER BY table_schema, table_name, ordinal_position"
        ))
        .map_err(asking)?;
    for i in 0..found.rows.len() {
        let [db, table, column, kind, extra] =
            [0, 1, 2, 3, 4].map(|c| found.text(i, c).unwrap_or_default());
        if extra.to_ascii_uppercase().contains("GENERATED") {
            continue;
        }
        let form = match kind.to_ascii_lowercase().as_str() {
            "float" => Form::Float,
            "bit" => Form::Bits,
            "binary" | "varbinary" | "tinyblob" | "blob" | "mediumblob" | "longblob"
            | "geometry" | "point" | "linestring" | "polygon" | "multipoint"
            | "multilinestring" | "multipolygon" | "geometrycollection" => Form::Bytes,
            _ => Form::Text,
        };
        columns
            .entry((db, table))
            .or_default()
            .push(ColumnPlan { name: column, form });
    }
    Ok(columns)
}

fn tables(connection: &mut Connection, args: &ReplicaArgs, plan: &mut Plan) -> Result<(), Failure> {
    let mut columns = columns(connection)?;
    let own = own();
    let found = connection
        .query(&format!(
            "SELECT table_schema, table_name, table_type, engine, data_length
         FROM information_schema.tables WHERE table_schema NOT IN ({own}) ORDER BY 1, 2"
        ))
        .map_err(asking)?;
    for i in 0..found.rows.len() {
        let [db, table, kind, engine] = [0, 1, 2, 3].map(|c| found.text(i, c).unwrap_or_default());
        let full = format!("{db}.{table}");
        if skipped(args, &db) || args.ignore_table.contains(&full) {
            continue;
        }
        match kind.as_str() {
            "VIEW" => {
                plan.views.push((db, table));
                continue;
            }
            "SEQUENCE" => {
                plan.problems.push(format!("{full} is a sequence"));
                continue;
            }
            "BASE TABLE" => {}
            other => {
                plan.problems.push(format!("{full} is a {other}"));
                continue;
            }
        }
        let snapshots = WITH_SNAPSHOTS.contains(&engine.to_ascii_lowercase().as_str());
        if !snapshots && !args.allow_non_transactional {
            plan.problems.push(format!(
                "{full} is of engine {engine}, which has no snapshots (ALTER TABLE ... ENGINE=InnoDB there, or --allow-non-transactional while nobody writes to it)"
            ));
            continue;
        }
        let bytes = found.text(i, 4).and_then(|b| b.parse().ok()).unwrap_or(0);
        plan.tables.push(TablePlan {
            columns: columns
                .remove(&(db.clone(), table.clone()))
                .unwrap_or_default(),
            db,
            name: table,
            bytes,
        });
    }
    Ok(())
}

/// What is named and not copied.
fn left_out(
    connection: &mut Connection,
    args: &ReplicaArgs,
    plan: &mut Plan,
) -> Result<(), Failure> {
    for (what, sql) in [
        (
            "trigger",
            "SELECT CONCAT(trigger_schema, '.', trigger_name), trigger_schema FROM information_schema.triggers",
        ),
        (
            "routine",
            "SELECT CONCAT(routine_schema, '.', routine_name), routine_schema FROM information_schema.routines",
        ),
        (
            "event",
            "SELECT CONCAT(event_schema, '.', event_name), event_schema FROM information_schema.events",
        ),
    ] {
        let found = connection.query(sql).map_err(asking)?;
        for i in 0..found.rows.len() {
            let [full, db] = [0, 1].map(|c| found.text(i, c).unwrap_or_default());
            if !OWN.contains(&db.as_str()) && !skipped(args, &db) {
                plan.left_out.push(format!("{what} {full}"));
            }
        }
    }
    Ok(())
}
