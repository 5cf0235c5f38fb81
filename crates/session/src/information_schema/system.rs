//! The tables of the schemas that are there without anybody making them.

use super::{mysql, mysql_performance, performance, sys};
use crate::system_schemas::{MYSQL, SYS};
use narwal_engine::Table;
use narwal_sql::virtual_tables::PERFORMANCE_SCHEMA;
use narwal_types::Collation;
use narwal_types::face::is_mysql;
use std::sync::Arc;

/// The tables of a system schema.
pub(crate) fn system_tables(schema: &str) -> Vec<&'static Arc<Table>> {
    match schema {
        MYSQL => mysql::all().collect(),
        PERFORMANCE_SCHEMA if is_mysql() => mysql_performance::all().collect(),
        PERFORMANCE_SCHEMA => performance::all().collect(),
        SYS => sys::all().collect(),
        _ => Vec::new(),
    }
}

/// One table of a system schema.
pub(crate) fn table_of_system(schema: &str, name: &str) -> Option<&'static Arc<Table>> {
    match schema {
        MYSQL => mysql::definition(name),
        PERFORMANCE_SCHEMA if is_mysql() => mysql_performance::definition(name),
        PERFORMANCE_SCHEMA => performance::definition(name),
        SYS => sys::definition(name),
        _ => None,
    }
}

/// The collation of a system schema.
pub(crate) fn system_collation(schema: &str) -> Collation {
    match schema {
        MYSQL => Collation::Latin1SwedishCi,
        _ if is_mysql() => Collation::Utf8mb4GeneralCi,
        _ => Collation::Utf8mb3GeneralCi,
    }
}

/// Whether a table of a system schema is a view in MariaDB.
pub(crate) fn is_view(table: &Table) -> bool {
    match table.def.db.as_str() {
        MYSQL => table.def.name == "user",
        // A database of that name that somebody has made has tables of its own.
        SYS => table.def.id == 0 && table.def.name != sys::CONFIG,
        _ => false,
    }
}
