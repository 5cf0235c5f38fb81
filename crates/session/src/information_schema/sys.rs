//! The schema `sys`: its views, with the columns of the server whose face this one shows. `sys_rows.rs` makes their rows.

use super::mysql;
use crate::system_schemas::SYS;
use narwal_engine::Table;
use narwal_types::Collation;
use narwal_types::face::{PerFace, is_mysql};
use std::collections::BTreeMap;
use std::sync::Arc;

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_definitions_make_tables() {
        let text = text().2;
        assert_eq!(definitions().len(), text.matches("CREATE TABLE").count());
    }
}
