//! The schema `sys` under MySQL's face: its version, who does what, and the views of what is measured, which are empty.
//! Views of what is there without being measured (locks, definitions) are not among them: empty, they would say what is not
//! true.

use super::rows::{self, Rows};
use super::{mysql, server};
use crate::view::View;
use narwal_engine::Table;
use narwal_sql::StatementEnv;
use narwal_sql::virtual_tables::Wanted;
use narwal_types::{Collation, SqlResult, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// Its name.
pub(crate) const SYS: &str = "sys";

fn definitions() -> &'static BTreeMap<String, Arc<Table>> {
    static MADE: OnceLock<BTreeMap<String, Arc<Table>>> = OnceLock::new();
    MADE.get_or_init(|| {
        let text = include_str!("mysql_sys.sql");
        mysql::made(SYS, "InnoDB", Collation::Utf8mb4GeneralCi, text)
    })
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
            Value::str("2.1.3"),
            view.instance.global_value("version").to_value(),
        ]],
        "session" | "processlist" => {
            let lines = server::process_list(view, env, wanted)?;
            lines.iter().map(|l| session(table, l)).collect()
        }
        _ => Vec::new(),
    })
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
        let text = include_str!("mysql_sys.sql");
        assert_eq!(definitions().len(), text.matches("CREATE TABLE").count());
    }
}
