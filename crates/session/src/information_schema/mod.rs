//! `information_schema`: virtual tables, whose rows are made from the catalog, the accounts and the server's state when
//! a statement reads them.
//!
//! | file | holds |
//! |---|---|
//! | `columns.rs` | names and columns of the tables |
//! | `tables.rs` | SCHEMATA, TABLES, COLUMNS, STATISTICS, the constraints, PARTITIONS |
//! | `server.rs` | ENGINES, character sets, PROCESSLIST, variables, status, PLUGINS |
//! | `grants.rs` | the privilege tables |
//! | `views.rs` | VIEWS |
//! | `mysql.rs`, `mysql.sql` | the schema `mysql` |
//! | `readers.rs` | NARWAL_BINLOG_READERS |
//! | `innodb_columns.rs`, `innodb.rs` | INNODB_TRX, INNODB_LOCKS, INNODB_LOCK_WAITS, INNODB_SYS_* and the other INNODB tables |
//!
//! NARWAL_REPLICA_STATUS is made by [`crate::replica::show`], with SHOW ALL SLAVES STATUS.

mod columns;
mod grants;
mod innodb;
mod innodb_columns;
mod mysql;
mod readers;
mod server;
pub(crate) mod tables;
mod views;
use crate::programs::show as programs;
use crate::replica::show;
use crate::session::ClientSession;
pub(crate) use crate::view::View;
use columns::TABLES;
use narwal_engine::{Table, TableDef};
use narwal_sql::virtual_tables::{INFORMATION_SCHEMA, Wanted};
use narwal_sql::{StatementEnv, VirtualRows, VirtualTables};
use narwal_types::{Collation, SqlResult, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// A table with the columns of SHOW ALL SLAVES STATUS.
const REPLICA_STATUS: &str = "NARWAL_REPLICA_STATUS";

/// Rows of a virtual table.
type Rows = Vec<Vec<Value>>;

/// Makes rows, with what the session knows, for a statement.
type Maker = fn(&View, &StatementEnv, &Wanted) -> SqlResult<Rows>;

/// Which rows a table has.
fn maker(name: &str) -> Maker {
    match name {
        "SCHEMATA" => tables::schemata,
        "TABLES" => tables::tables,
        "COLUMNS" => tables::columns,
        "VIEWS" => views::views,
        "TRIGGERS" => |view, env, _| programs::triggers(view, env),
        "ROUTINES" => |view, env, _| programs::routines(view, env),
        "PARAMETERS" => |view, env, _| programs::parameters(view, env),
        "STATISTICS" => tables::statistics,
        "KEY_COLUMN_USAGE" => tables::key_column_usage,
        "TABLE_CONSTRAINTS" => tables::table_constraints,
        "REFERENTIAL_CONSTRAINTS" => tables::referential_constraints,
        "CHECK_CONSTRAINTS" => tables::check_constraints,
        "PARTITIONS" => tables::partitions,
        "ENGINES" => server::engines,
        "CHARACTER_SETS" => server::character_sets,
        "COLLATIONS" => server::collations,
        "COLLATION_CHARACTER_SET_APPLICABILITY" => server::applicability,
        "PROCESSLIST" => server::process_list,
        "PLUGINS" => server::plugins,
        "GLOBAL_VARIABLES" => server::global_variables,
        "SESSION_VARIABLES" => server::session_variables,
        "SYSTEM_VARIABLES" => server::system_variables,
        "GLOBAL_STATUS" => server::global_status,
        "SESSION_STATUS" => server::session_status,
        "USER_PRIVILEGES" => grants::user_privileges,
        "SCHEMA_PRIVILEGES" => grants::schema_privileges,
        "TABLE_PRIVILEGES" => grants::table_privileges,
        "NARWAL_BINLOG_READERS" => readers::rows,
        "INNODB_TRX" => innodb::transactions,
        "INNODB_LOCKS" => innodb::locks,
        "INNODB_LOCK_WAITS" => innodb::lock_waits,
        "INNODB_SYS_TABLES" => innodb::tables,
        "INNODB_SYS_TABLESTATS" => innodb::table_stats,
        "INNODB_SYS_INDEXES" => innodb::indexes,
        "INNODB_SYS_FIELDS" => innodb::fields,
        "INNODB_SYS_FOREIGN" => innodb::foreign,
        "INNODB_SYS_FOREIGN_COLS" => innodb::foreign_columns,
        name if name.starts_with("INNODB_") => |view, _, _| innodb::nothing(view),
        REPLICA_STATUS => |view, _, _| show::table_rows(view),
        // Of what Narwal has none: events, column privileges, files.
        _ => |_, _, _| Ok(Vec::new()),
    }
}

/// The tables by name in capitals.
fn definitions() -> &'static BTreeMap<&'static str, Arc<Table>> {
    static MADE: OnceLock<BTreeMap<&'static str, Arc<Table>>> = OnceLock::new();
    MADE.get_or_init(|| {
        let replica =
            show::table_columns().map(|(name, ty, nullable)| columns::def(name, ty, nullable));
        (TABLES.iter().chain(innodb_columns::TABLES))
            .map(|(name, columns)| (*name, columns.iter().map(columns::Column::def).collect()))
            .chain([(REPLICA_STATUS, replica.collect())])
            .filter_map(|(name, columns)| {
                let def = TableDef {
                    id: 0,
                    db: INFORMATION_SCHEMA.into(),
                    name: name.into(),
                    columns,
                    indexes: Vec::new(),
                    hidden_index_id: 0,
                    collation: Collation::Utf8mb4GeneralCi,
                    comment: String::new(),
                    auto_increment_start: 0,
                    engine: "MEMORY".into(),
                    created: 0,
                    checks: Vec::new(),
                    foreign_keys: Vec::new(),
                    sequence: false,
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

/// All definitions by name.
pub(crate) fn all() -> impl Iterator<Item = &'static Arc<Table>> {
    definitions().values()
}

/// Definitions of virtual tables without rows: to find out the columns of views.
pub(crate) struct Definitions;

impl VirtualTables for Definitions {
    fn table(&self, db: &str, name: &str) -> Option<(Arc<Table>, VirtualRows)> {
        let table = match db {
            mysql::MYSQL => mysql::definition(name)?.clone(),
            _ if db.eq_ignore_ascii_case(INFORMATION_SCHEMA) => definition(name)?.clone(),
            _ => return None,
        };
        Some((table, Arc::new(|_, _| Ok(Vec::new()))))
    }
}

/// The hook that plans look virtual tables up by.
pub(crate) struct InformationSchema<'s>(pub &'s ClientSession);

impl VirtualTables for InformationSchema<'_> {
    fn table(&self, db: &str, name: &str) -> Option<(Arc<Table>, VirtualRows)> {
        if db == mysql::MYSQL {
            let table = mysql::definition(name)?.clone();
            let (view, of) = (self.0.view(), table.clone());
            return Some((table, Arc::new(move |_, _| mysql::rows(&view, &of))));
        }
        if !db.eq_ignore_ascii_case(INFORMATION_SCHEMA) {
            return None;
        }
        let table = definition(name)?.clone();
        let make = maker(&table.def.name);
        let view = self.0.view();
        Some((table, Arc::new(move |env, wanted| make(&view, env, wanted))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_definitions_make_tables() {
        assert_eq!(
            definitions().len(),
            TABLES.len() + innodb_columns::TABLES.len() + 1
        );
        assert!(definition("Key_Column_Usage").is_some());
        assert!(definition("nothing").is_none());
    }
}
