//! The schema `performance_schema`: the tables are there and empty, as in a server whose performance schema is off.

use super::mysql;
use narwal_engine::Table;
use narwal_sql::virtual_tables::PERFORMANCE_SCHEMA;
use narwal_types::Collation;
use narwal_types::face::PerFace;
use std::collections::BTreeMap;
use std::sync::Arc;

fn definitions() -> &'static BTreeMap<String, Arc<Table>> {
    static MADE: PerFace<BTreeMap<String, Arc<Table>>> = PerFace::new();
    MADE.get_or_init(|| {
        let statements = include_str!("performance_schema.sql");
        mysql::made(
            PERFORMANCE_SCHEMA,
            PERFORMANCE_SCHEMA,
            Collation::Utf8mb3Bin,
            statements,
        )
    })
}

/// A table's definition, by a name in any case.
pub(super) fn definition(name: &str) -> Option<&'static Arc<Table>> {
    definitions().get(name.to_ascii_lowercase().as_str())
}

/// All tables by name.
pub(super) fn all() -> impl Iterator<Item = &'static Arc<Table>> {
    definitions().values()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_makes_a_table() {
        let statements = include_str!("performance_schema.sql").matches("CREATE TABLE");
        assert_eq!(definitions().len(), statements.count());
        assert!(definition("Threads").is_some());
    }
}
