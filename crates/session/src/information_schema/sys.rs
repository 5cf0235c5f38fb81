//! The schema `sys`: its views, with the columns of the server whose face this one shows. Their rows are those of a server
//! whose performance schema is off, so most have none; those of what is there without being measured are `sys_rows.rs`'s.

use super::rows::{self, Rows};
use super::{mysql, server, sys_rows};
use crate::view::View;
use narwal_engine::Table;
use narwal_sql::StatementEnv;
use narwal_sql::virtual_tables::Wanted;
use narwal_types::face::{PerFace, is_mysql};
use narwal_types::{Collation, SqlResult, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Its name.
pub(crate) const SYS: &str = "sys";

/// The one table: all others are views.
pub(super) const CONFIG: &str = "sys_config";

fn definitions() -> &'static BTreeMap<String, Arc<Table>> {
    static MADE: PerFace<BTreeMap<String, Arc<Table>>> = PerFace::new();
    MADE.get_or_init(|| {
        let (engine, collation, statements) = text();
        mysql::made(SYS, engine, collation, statements)
    })
}

fn text() -> (&'static str, Collation, &'static str) {
    match is_mysql() {
        true => {
            let text = include_str!("sys_mysql.sql");
            ("InnoDB", Collation::Utf8mb4GeneralCi, text)
        }
        false => {
            let text = include_str!("sys_mariadb.sql");
            ("Aria", Collation::Utf8mb3GeneralCi, text)
        }
    }
}

/// A view's columns.
pub(super) fn definition(name: &str) -> Option<&'static Arc<Table>> {
    definitions().get(name)
}

/// All views by name.
pub(crate) fn all() -> impl Iterator<Item = &'static Arc<Table>> {
    definitions().values()
}

/// The rows of a view.
pub(super) fn rows(
    view: &View,
    env: &StatementEnv,
    wanted: &Wanted,
    table: &Table,
) -> SqlResult<Rows> {
    let name = table.def.name.as_str();
    Ok(match name.strip_prefix("x$").unwrap_or(name) {
        "version" => vec![vec![
            text_of(if is_mysql() { "2.1.3" } else { "1.5.1" }),
            view.instance.global_value("version").to_value(),
        ]],
        "session" | "processlist" => {
            let lines = server::process_list(view, env, wanted)?;
            lines.iter().map(|l| session(table, l)).collect()
        }
        "memory_global_total" if !is_mysql() => vec![vec![Value::Null]],
        CONFIG => config(table),
        "metrics" => sys_rows::metrics(view, env)?,
        "innodb_lock_waits" => sys_rows::lock_waits(view, env, table)?,
        "schema_auto_increment_columns" => sys_rows::auto_increment_columns(view, env, table)?,
        "schema_object_overview" => sys_rows::object_overview(view, env)?,
        "schema_flattened_keys" => sys_rows::flattened_keys(view, env)?,
        "schema_redundant_indexes" => sys_rows::redundant_indexes(view, env)?,
        _ => Vec::new(),
    })
}

fn text_of(s: &str) -> Value {
    Value::str(s)
}

/// The settings that the schema's routines begin with.
const SETTINGS: [(&str, Option<&str>); 6] = [
    ("diagnostics.allow_i_s_tables", Some("OFF")),
    ("diagnostics.include_raw", Some("OFF")),
    ("ps_thread_trx_info.max_length", Some("65535")),
    ("statement_performance_analyzer.limit", Some("100")),
    ("statement_performance_analyzer.view", None),
    ("statement_truncate_len", Some("64")),
];

fn config(table: &Table) -> Rows {
    let row = |(variable, value): (&str, Option<&str>)| {
        rows::by_name(table, |column| match column {
            "variable" => Some(text_of(variable)),
            "value" => Some(value.map_or(Value::Null, text_of)),
            _ => None,
        })
    };
    SETTINGS.into_iter().map(row).collect()
}

/// A line of the process list as a row of `sys.session`.
fn session(table: &Table, line: &[Value]) -> Vec<Value> {
    rows::by_name(table, |column| {
        Some(match column {
            "thd_id" | "conn_id" => line[0].clone(),
            "user" => match (&line[1], &line[2]) {
                (Value::Str(user), Value::Str(host)) => {
                    let host = host.split(':').next().unwrap_or_default();
                    Value::str(format!("{user}@{host}"))
                }
                (user, _) => user.clone(),
            },
            "db" => line[3].clone(),
            "command" => line[4].clone(),
            "state" => line[6].clone(),
            "time" => line[5].clone(),
            "current_statement" => line[7].clone(),
            _ => return None,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_definitions_make_tables() {
        let text = text().2;
        assert_eq!(definitions().len(), text.matches("CREATE TABLE").count());
    }
}
