//! Names of the schemas that are there without anybody making them. Their tables are `information_schema/`'s.

use narwal_engine::Catalog;
use narwal_sql::virtual_tables::PERFORMANCE_SCHEMA;
use narwal_types::SqlError;
use narwal_types::errors;

/// The schema of accounts, grants and stored programs.
pub(crate) const MYSQL: &str = "mysql";

/// The schema of views and routines over what the others show.
pub(crate) const SYS: &str = "sys";

/// The schemas that are there without anybody making them, beside `information_schema`. Who sees what of them is a
/// question of privileges, as with any database.
const SYSTEM: [&str; 3] = [MYSQL, PERFORMANCE_SCHEMA, SYS];

/// True for `information_schema`, in any letters.
pub(crate) fn is_information_schema(db: &str) -> bool {
    db.eq_ignore_ascii_case(narwal_sql::virtual_tables::INFORMATION_SCHEMA)
}

/// A system schema's name as it is shown, unless somebody has made a database of that name.
pub(crate) fn system_schema(catalog: &Catalog, db: &str) -> Option<&'static str> {
    let is = |name: &&str| match *name == PERFORMANCE_SCHEMA {
        true => name.eq_ignore_ascii_case(db),
        false => *name == db,
    };
    let name = SYSTEM.into_iter().find(is)?;
    // `mysql` becomes a database of the catalog with the first table that somebody makes in it.
    (name == MYSQL || catalog.database(name).is_none()).then_some(name)
}

/// Where the rows of a table of the schema `mysql` are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// They are shown, made of accounts and of what the server does.
    Shown,
    /// They are shown, made of the definitions of stored programs. ALTER, DROP and RENAME make it a stored table, and
    /// then something is wrong with it ([`Fault`]) until it has its definition again.
    Programs,
    /// Nothing depends on them: it is a stored table from the first write on.
    Stored,
}

/// Where the rows of a table of `mysql` are, if it is one of those that are there without anybody making them.
pub(crate) fn home(table: &str) -> Home {
    match table {
        "proc" | "event" => Home::Programs,
        "user" | "global_priv" | "db" | "tables_priv" | "columns_priv" | "procs_priv"
        | "roles_mapping" | "proxies_priv" | "gtid_slave_pos" | "innodb_table_stats"
        | "innodb_index_stats" => Home::Shown,
        _ => Home::Stored,
    }
}

/// What is wrong with `mysql.proc` or `mysql.event` that somebody has changed by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It was dropped or has another name.
    Missing,
    /// It has another number of columns.
    Columns {
        /// As many as it should have.
        expected: usize,
        /// As many as it has.
        found: usize,
    },
    /// Some column or its primary key is another one.
    Other,
}

/// The catalog's object that says what is wrong with a table.
pub(crate) fn fault_key(table: &str) -> String {
    format!("system_table/{table}")
}

impl Fault {
    /// As the catalog keeps it.
    pub(crate) fn text(self) -> String {
        match self {
            Fault::Missing => "missing".into(),
            Fault::Columns { expected, found } => format!("columns {expected} {found}"),
            Fault::Other => "other".into(),
        }
    }

    fn read(text: &str) -> Fault {
        let mut words = text.split(' ');
        let word = words.next();
        let mut number = || words.next().and_then(|n| n.parse().ok()).unwrap_or(0);
        match word {
            Some("missing") => Fault::Missing,
            Some("columns") => Fault::Columns {
                expected: number(),
                found: number(),
            },
            _ => Fault::Other,
        }
    }

    /// What a statement is told that needs the table.
    pub(crate) fn error(self, table: &str) -> SqlError {
        match self {
            Fault::Missing => errors::NO_SUCH_TABLE.with([&MYSQL, &table]),
            _ if table == "event" => errors::EVENT_OPEN_TABLE_FAILED.plain(),
            Fault::Columns { expected, found } => {
                errors::COL_COUNT_DOESNT_MATCH_CORRUPTED.with([&MYSQL, &table, &expected, &found])
            }
            Fault::Other => errors::CANNOT_LOAD_FROM_TABLE.with([&MYSQL, &table]),
        }
    }
}

/// What is wrong with a table.
pub(crate) fn fault(catalog: &Catalog, table: &str) -> Option<Fault> {
    let text = catalog.object(&fault_key(table))?;
    Some(Fault::read(text))
}

/// A table of a system schema is shown as it was made, and no stored table stands in its place.
pub(crate) fn is_shown(catalog: &Catalog, schema: &str, table: &str) -> bool {
    if schema != MYSQL {
        return true;
    }
    match home(table) {
        Home::Shown => true,
        Home::Programs => fault(catalog, table).is_none(),
        Home::Stored => catalog.table(MYSQL, table).is_none(),
    }
}

/// The system schemas that nobody has made a database of.
pub(crate) fn system_schemas(catalog: &Catalog) -> impl Iterator<Item = &str> {
    let all: [&str; 3] = SYSTEM;
    all.into_iter()
        .filter(|name| catalog.database(name).is_none())
}
