//! Names to tables.

use super::set::Ctes;
use crate::ast::{TableName, TableRef};
use crate::env::StatementEnv;
use crate::exec::rows::Rows;
use crate::expr::Source;
use crate::privilege::{Needs, Privilege};
use crate::virtual_tables::{INFORMATION_SCHEMA, VirtualTables};
use narwal_engine::{Catalog, Database, Table};
use narwal_types::{SqlError, SqlResult};
use std::cell::RefCell;
use std::sync::Arc;

/// A table that was found.
pub struct Resolved {
    /// As a source of columns.
    pub source: Source,
    /// Where its rows are.
    pub rows: Rows,
}

/// Looks up tables and remembers which privileges are needed.
pub struct Resolver<'a> {
    /// For estimates.
    pub db: &'a Database,
    /// One version of the catalog.
    pub catalog: &'a Catalog,
    /// The session.
    pub env: &'a StatementEnv,
    /// Virtual tables.
    pub virtual_tables: Option<&'a dyn VirtualTables>,
    /// Privileges needed so far.
    pub needs: RefCell<Vec<Needs>>,
    /// Tables of WITH that names may mean.
    pub ctes: Ctes,
    /// Sources of the next SELECT's join whose rows are to be locked for a change: their clustered keys stand behind
    /// the join's columns.
    pub row_keys: RefCell<Vec<usize>>,
}

/// 1146.
pub fn no_such_table(db: &str, name: &str) -> SqlError {
    SqlError::new(1146, b"42S02", format!("Table '{db}.{name}' doesn't exist"))
}

impl Resolver<'_> {
    /// The database that a name means.
    pub fn db_of<'n>(&'n self, name: &'n TableName) -> SqlResult<&'n str> {
        match &name.db {
            Some(d) => Ok(d),
            None => Ok(self.env.require_db()?),
        }
    }

    /// A table for reading.
    pub fn table(&self, t: &TableRef) -> SqlResult<Resolved> {
        let db = self.db_of(&t.name)?.to_string();
        let alias = t.alias.as_deref().unwrap_or(&t.name.name).to_string();
        if db.eq_ignore_ascii_case(INFORMATION_SCHEMA) {
            let Some((table, rows)) = self.virtual_tables.and_then(|v| v.table(&db, &t.name.name))
            else {
                return Err(SqlError::new(
                    1109,
                    b"42S02",
                    format!("Unknown table '{}' in information_schema", t.name.name),
                ));
            };
            return Ok(Resolved {
                source: Source::new(alias, table),
                rows: Rows::Virtual(rows),
            });
        }
        if db.eq_ignore_ascii_case("performance_schema") {
            return Err(SqlError::unsupported(format!("{db}.{}", t.name.name)));
        }
        let table = self.stored(&db, &t.name.name, Privilege::Select)?;
        Ok(Resolved {
            source: Source::new(alias, table),
            rows: Rows::Stored,
        })
    }

    /// A stored table, with the privilege that the statement needs on it.
    pub fn stored(&self, db: &str, name: &str, privilege: Privilege) -> SqlResult<Arc<Table>> {
        self.need(db, name, privilege);
        self.catalog
            .table(db, name)
            .cloned()
            .ok_or_else(|| no_such_table(db, name))
    }

    /// Notes a privilege.
    pub fn need(&self, db: &str, table: &str, privilege: Privilege) {
        let n = Needs {
            db: db.to_string(),
            table: table.to_string(),
            privilege,
        };
        let mut needs = self.needs.borrow_mut();
        if !needs.contains(&n) {
            needs.push(n);
        }
    }
}
