//! `information_schema`: virtual tables, whose rows are made from the catalog, the accounts and the server's state when
//! a statement reads them.
//!
//! | file | holds |
//! |---|---|
//! | `definitions.rs` | which tables there are |
//! | `columns.rs` | names and columns of the tables |
//! | `uncounted_columns.rs` | the same of tables that are always empty |
//! | `tables.rs` | SCHEMATA, TABLES, COLUMNS, STATISTICS, the constraints, PARTITIONS |
//! | `server.rs` | ENGINES, character sets, PROCESSLIST, variables, status, PLUGINS |
//! | `grants.rs` | the privilege tables |
//! | `views.rs` | VIEWS |
//! | `mysql.rs`, `mysql.sql` | the schema `mysql` |
//! | `system.rs` | what these two have in common |
//! | `performance.rs`, `performance_schema.sql` | the schema `performance_schema` |
//! | `mysql_information.sql`, `mysql_columns.rs`, `mysql_rows.rs` | MySQL's `information_schema` under its face: the tables, what their rows have beyond MariaDB's, and the order |
//! | `sys.rs`, `sys_rows.rs`, `sys_mariadb.sql`, `sys_mysql.sql` | the schema `sys` |
//! | `mysql_performance.rs`, `mysql_performance.sql` | `performance_schema` under MySQL's face |
//! | `words.rs` | KEYWORDS, SQL_FUNCTIONS, USER_VARIABLES |
//! | `variable_facts.rs` | SYSTEM_VARIABLES |
//! | `readers.rs` | NARWAL_BINLOG_READERS |
//! | `innodb_columns.rs`, `innodb.rs` | INNODB_TRX, INNODB_LOCKS, INNODB_LOCK_WAITS, INNODB_SYS_* and the other INNODB tables |
//!
//! NARWAL_REPLICA_STATUS is made by [`crate::replica::show`], with SHOW ALL SLAVES STATUS.

mod columns;
mod definitions;
mod grants;
mod innodb;
mod innodb_columns;
mod mysql;
mod mysql_columns;
pub(crate) mod mysql_performance;
mod mysql_rows;
mod performance;
mod readers;
mod rows;
mod server;
pub(crate) mod sys;
mod sys_rows;
mod system;
pub(crate) mod tables;
mod uncounted_columns;
mod variable_facts;
mod views;
mod words;
use crate::privileges::PrivilegeSet;
use crate::programs::TablesOf;
use crate::programs::events::show::events;
use crate::programs::show as programs;
use crate::replica::show;
use crate::session::ClientSession;
use crate::system_schemas::{MYSQL, SYS, is_shown};
pub(crate) use crate::view::View;
use definitions::REPLICA_STATUS;
use definitions::as_made;
pub(crate) use definitions::{Definitions, all, definition};
use narwal_engine::{Catalog, Table};
use narwal_sql::virtual_tables::{INFORMATION_SCHEMA, PERFORMANCE_SCHEMA, Wanted};
use narwal_sql::{StatementEnv, VirtualRows, VirtualTables};
use narwal_types::face::is_mysql;
use narwal_types::{SqlResult, Value};
use rows::Rows;
use std::sync::Arc;
pub(crate) use system::{is_view, system_collation, table_of_system};
pub(crate) use uncounted_columns::uncounted;

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
        "EVENTS" => |view, env, _| events(view, env),
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
        "PLUGINS" | "ALL_PLUGINS" => server::plugins,
        "KEY_CACHES" => server::key_caches,
        "KEYWORDS" => words::keywords,
        "SQL_FUNCTIONS" => words::functions,
        "USER_VARIABLES" => words::user_variables,
        "GLOBAL_VARIABLES" => server::global_variables,
        "SESSION_VARIABLES" => server::session_variables,
        "SYSTEM_VARIABLES" => variable_facts::system_variables,
        "GLOBAL_STATUS" => server::global_status,
        "SESSION_STATUS" => server::session_status,
        "USER_PRIVILEGES" => grants::user_privileges,
        "SCHEMA_PRIVILEGES" => grants::schema_privileges,
        "TABLE_PRIVILEGES" => grants::table_privileges,
        "COLUMN_PRIVILEGES" => grants::column_privileges,
        "APPLICABLE_ROLES" => grants::applicable_roles,
        "ENABLED_ROLES" => grants::enabled_roles,
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
        "INNODB_TABLES" => mysql_rows::tables,
        "INNODB_TABLESPACES" => mysql_rows::spaces,
        name if name.starts_with("INNODB_") => |view, _, _| innodb::nothing(view),
        REPLICA_STATUS => |view, _, _| show::table_rows(view),
        // Of what Narwal has none: files.
        _ => |_, _, _| Ok(Vec::new()),
    }
}

/// The hook that plans look virtual tables up by.
pub(crate) struct InformationSchema<'s>(pub &'s ClientSession);

impl VirtualTables for InformationSchema<'_> {
    fn table(
        &self,
        db: &str,
        name: &str,
        reader: Option<&(String, String)>,
    ) -> Option<(Arc<Table>, VirtualRows)> {
        let catalog = self.0.instance.database().catalog();
        table_of(db, name, &catalog, &|| self.0.view().read_by(reader))
    }
}

/// The virtual tables as functions and triggers see them: with the rows that their account may see.
struct OfProgram(View);

impl VirtualTables for OfProgram {
    fn table(
        &self,
        db: &str,
        name: &str,
        reader: Option<&(String, String)>,
    ) -> Option<(Arc<Table>, VirtualRows)> {
        let catalog = self.0.instance.database().catalog();
        table_of(db, name, &catalog, &|| self.0.clone().read_by(reader))
    }
}

/// How the programs of a session find virtual tables.
pub(crate) fn of_programs(session: View) -> TablesOf {
    Box::new(move |env| {
        let mut view = session.clone();
        view.acl = view.instance.acl();
        if let Some((user, host)) = env.current_user.rsplit_once('@')
            && let Some(account) = view.acl.effective(user, host, env.current_role.as_deref())
        {
            view.account = account;
        }
        view.role = env.current_role.clone();
        Box::new(OfProgram(view))
    })
}

/// A virtual table, with its rows for who looks.
fn table_of(
    db: &str,
    name: &str,
    catalog: &Catalog,
    view: &dyn Fn() -> View,
) -> Option<(Arc<Table>, VirtualRows)> {
    if db == MYSQL {
        let table = mysql::definition(name)?.clone();
        if !is_shown(catalog, MYSQL, name) {
            return None;
        }
        let (view, of) = (view(), table.clone());
        let make: VirtualRows = Arc::new(move |_, _| match of.def.name.as_str() {
            "innodb_table_stats" => innodb::kept_table_stats(&view),
            "innodb_index_stats" => innodb::kept_index_stats(&view),
            _ => mysql::rows(&view, &of),
        });
        return Some((table, make));
    }
    if db.eq_ignore_ascii_case(PERFORMANCE_SCHEMA) && is_mysql() {
        let table = mysql_performance::definition(name)?.clone();
        let (view, of) = (view(), table.clone());
        let make: VirtualRows =
            Arc::new(move |env, wanted| mysql_performance::rows(&view, env, wanted, &of));
        return Some((table, make));
    }
    if db == SYS && catalog.database(db).is_none() {
        let table = sys::definition(name)?.clone();
        let (view, of) = (view(), table.clone());
        let make: VirtualRows =
            Arc::new(move |env, wanted| sys_rows::rows(&view, env, wanted, &of));
        return Some((table, make));
    }
    if db.eq_ignore_ascii_case(PERFORMANCE_SCHEMA) {
        let table = performance::definition(name)?.clone();
        return Some((table, Arc::new(|_, _| Ok(Vec::new()))));
    }
    if !db.eq_ignore_ascii_case(INFORMATION_SCHEMA) {
        return None;
    }
    let table = definition(name)?.clone();
    let make = match is_mysql() {
        true => maker(mysql_rows::rows_of(&table.def.name)),
        false => maker(&table.def.name),
    };
    let view = view();
    let of = table.clone();
    let make: VirtualRows = Arc::new(move |env, wanted| {
        let mut rows = make(&view, env, wanted)?;
        if is_mysql() {
            let name = mysql_rows::rows_of(&of.def.name);
            mysql_rows::extend(name, &mut rows);
            if let Some(from) = as_made(name) {
                rows = mysql_rows::arranged(from, &of, rows);
            }
        }
        Ok(rows)
    });
    Some((table, make))
}

/// The rows of a table of the database `mysql`.
pub(crate) fn system_rows(view: &View, table: &Table) -> SqlResult<Vec<Vec<Value>>> {
    mysql::rows(view, table)
}

/// The privilege that a column of a grant table is about.
pub(crate) fn privilege_of_column(column: &str) -> Option<PrivilegeSet> {
    mysql::privilege_of(column)
}

/// A table of the database `mysql`.
pub(crate) fn system_table(name: &str) -> Option<&'static Arc<Table>> {
    mysql::definition(name)
}
