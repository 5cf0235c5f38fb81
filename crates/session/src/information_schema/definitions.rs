//! Which virtual tables there are, without their rows.

use super::{
    columns, innodb_columns, mysql, mysql_columns, mysql_performance, performance, sys,
    uncounted_columns,
};
use crate::replica::show;
use crate::system_schemas::{MYSQL, SYS};
use columns::TABLES;
use narwal_engine::{Table, TableDef};
use narwal_sql::virtual_tables::{INFORMATION_SCHEMA, PERFORMANCE_SCHEMA};
use narwal_sql::{VirtualRows, VirtualTables};
use narwal_types::face::{PerFace, is_mysql};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A table with the columns of SHOW ALL SLAVES STATUS.
pub(super) const REPLICA_STATUS: &str = "NARWAL_REPLICA_STATUS";

/// The tables by name in capitals: under MySQL's face MySQL's, and of the others those that it does not have.
fn definitions() -> &'static BTreeMap<String, Arc<Table>> {
    static MADE: PerFace<BTreeMap<String, Arc<Table>>> = PerFace::new();
    MADE.get_or_init(|| {
        let own = made_here()
            .iter()
            .map(|(n, t)| ((*n).to_string(), t.clone()));
        let mut all: BTreeMap<String, Arc<Table>> = own.collect();
        if is_mysql() {
            let text = include_str!("mysql_information.sql");
            all.extend(mysql::made(
                INFORMATION_SCHEMA,
                "MEMORY",
                columns::COLLATION,
                text,
            ));
        }
        all
    })
}

/// The tables with the columns that rows are made with, by name in capitals.
fn made_here() -> &'static BTreeMap<&'static str, Arc<Table>> {
    static MADE: PerFace<BTreeMap<&'static str, Arc<Table>>> = PerFace::new();
    MADE.get_or_init(|| {
        let mysqls: (&[_], &[_]) = match is_mysql() {
            true => (mysql_columns::TABLES, mysql_columns::COLUMNS),
            false => (&[], &[]),
        };
        let replica =
            show::table_columns().map(|(name, ty, nullable)| columns::def(name, ty, nullable));
        (TABLES.iter().chain(innodb_columns::TABLES))
            .chain(uncounted_columns::TABLES)
            .chain(mysqls.0)
            .map(|(name, columns)| {
                let more = mysqls.1.iter().filter(|m| m.0 == *name).flat_map(|m| m.1);
                let all = columns.iter().chain(more);
                (*name, all.map(columns::Column::def).collect())
            })
            .chain([(REPLICA_STATUS, replica.collect())])
            .filter_map(|(name, columns)| {
                let def = TableDef {
                    id: 0,
                    db: INFORMATION_SCHEMA.into(),
                    name: name.into(),
                    columns,
                    indexes: Vec::new(),
                    hidden_index_id: 0,
                    collation: columns::COLLATION,
                    comment: String::new(),
                    auto_increment_start: 0,
                    engine: "MEMORY".into(),
                    created: 0,
                    checks: Vec::new(),
                    foreign_keys: Vec::new(),
                    sequence: false,
                    merge: None,
                    period: None,
                    declared: None,
                    options: Vec::new(),
                };
                // The definitions are constants; a test makes them all.
                Some((name, Table::made(def).ok()?))
            })
            .collect()
    })
}

/// A table's definition, by a name in any case.
pub(crate) fn definition(name: &str) -> Option<&'static Arc<Table>> {
    definitions().get(name.to_ascii_uppercase().as_str())
}

/// A table with the columns that its rows are made with, by its name in capitals.
pub(super) fn as_made(name: &str) -> Option<&'static Arc<Table>> {
    made_here().get(name)
}

/// All definitions by name.
pub(crate) fn all() -> impl Iterator<Item = &'static Arc<Table>> {
    definitions().values()
}

/// Definitions of virtual tables without rows: to find out the columns of views.
pub(crate) struct Definitions;

impl VirtualTables for Definitions {
    fn table(
        &self,
        db: &str,
        name: &str,
        _reader: Option<&(String, String)>,
    ) -> Option<(Arc<Table>, VirtualRows)> {
        let table = match db {
            MYSQL => mysql::definition(name)?.clone(),
            _ if db.eq_ignore_ascii_case(PERFORMANCE_SCHEMA) && is_mysql() => {
                mysql_performance::definition(name)?.clone()
            }
            SYS => sys::definition(name)?.clone(),
            _ if db.eq_ignore_ascii_case(PERFORMANCE_SCHEMA) => {
                performance::definition(name)?.clone()
            }
            _ if db.eq_ignore_ascii_case(INFORMATION_SCHEMA) => definition(name)?.clone(),
            _ => return None,
        };
        Some((table, Arc::new(|_, _| Ok(Vec::new()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_definitions_make_tables() {
        assert_eq!(
            definitions().len(),
            TABLES.len() + innodb_columns::TABLES.len() + uncounted_columns::TABLES.len() + 1
        );
        assert!(definition("Key_Column_Usage").is_some());
        assert!(definition("nothing").is_none());
    }
}
