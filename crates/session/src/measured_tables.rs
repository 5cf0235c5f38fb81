//! Writing to the tables of `performance_schema`: nothing is measured, so there are no rows to change. Statements are answered
//! as by a server whose performance schema is off.

use crate::access::first_table;
use crate::acl;
use crate::information_schema::table_of_system;
use crate::session::ClientSession;
use narwal_sql::ast::DdlStmt;
use narwal_sql::virtual_tables::PERFORMANCE_SCHEMA;
use narwal_sql::{Needs, Outcome, Privilege, Stmt};
use narwal_types::errors::{self, codes};
use narwal_types::{SqlError, SqlResult};

/// What MariaDB lets be changed: it says how to measure, and there is nothing of it. DELETE and INSERT go to two of these only.
const CHANGED: [&str; 6] = [
    "setup_actors",
    "setup_consumers",
    "setup_instruments",
    "setup_objects",
    "setup_timers",
    "threads",
];
const FILLED: [&str; 2] = ["setup_actors", "setup_objects"];

fn is_measured(db: &str) -> bool {
    db.eq_ignore_ascii_case(PERFORMANCE_SCHEMA)
}

impl ClientSession {
    /// The error of a statement that would write to one of these tables, which are no targets for rows.
    pub(crate) fn writes_measured(&self, stmt: &Stmt, e: &SqlError) -> Option<SqlError> {
        if e.code != codes::NO_SUCH_TABLE {
            return None;
        }
        let command = match stmt {
            Stmt::Insert(_) => "INSERT",
            Stmt::Update(_) => "UPDATE",
            Stmt::Delete(_) => "DELETE",
            _ => return None,
        };
        let (db, table) = first_table(stmt, &self.env).filter(|(db, _)| is_measured(db))?;
        let table = table.to_lowercase();
        table_of_system(PERFORMANCE_SCHEMA, &table)?;
        let open = match stmt {
            Stmt::Update(_) => CHANGED.contains(&&*table),
            _ => FILLED.contains(&&*table),
        };
        if open {
            return Some(errors::WRONG_PERFSCHEMA_USAGE.plain());
        }
        let host = &self.client.host;
        let denied = acl::table_denied(command, &self.rights.account, host, &db, &table);
        Some(denied)
    }

    /// A statement that was refused so ([`Self::writes_measured`]) and only changes or deletes rows: there are none.
    pub(crate) fn changes_nothing_measured(&self, stmt: &Stmt, e: &SqlError) -> bool {
        e.code == codes::WRONG_PERFSCHEMA_USAGE && matches!(stmt, Stmt::Update(_) | Stmt::Delete(_))
    }

    /// Error 1142 for LOCK TABLES of one that MariaDB does not lock.
    pub(crate) fn locks_measured(&self, db: &str, name: &str) -> SqlResult<bool> {
        let table = name.to_lowercase();
        if !is_measured(db) || table_of_system(PERFORMANCE_SCHEMA, &table).is_none() {
            return Ok(false);
        }
        if CHANGED.contains(&&*table) {
            return Ok(true);
        }
        let (account, host) = (&self.rights.account, &self.client.host);
        let what = "SELECT, LOCK TABLES";
        Err(acl::table_denied(
            what,
            account,
            host,
            PERFORMANCE_SCHEMA,
            name,
        ))
    }

    /// A definition of one of these tables: TRUNCATE finds nothing to do, the others are refused.
    pub(crate) fn define_measured(
        &self,
        ddl: &DdlStmt,
        needs: &[Needs],
    ) -> SqlResult<Option<Outcome>> {
        let changes = |n: &&Needs| n.privilege != Privilege::Select && is_measured(&n.db);
        let Some(found) = needs.iter().find(changes) else {
            return Ok(None);
        };
        match ddl {
            DdlStmt::Truncate(t) => {
                let known = table_of_system(PERFORMANCE_SCHEMA, &t.name.to_lowercase());
                Ok(known.map(|_| Outcome::Done {
                    affected: 0,
                    last_insert_id: 0,
                    info: String::new(),
                }))
            }
            DdlStmt::DropTable { .. } => Ok(None),
            DdlStmt::CreateTable(c) => {
                let named = table_of_system(PERFORMANCE_SCHEMA, &c.table.name.to_lowercase());
                if named.is_some() {
                    return Err(errors::TABLE_EXISTS_ERROR.with([&c.table.name]));
                }
                let command = match c.select {
                    Some(_) => "INSERT, CREATE",
                    None => "CREATE",
                };
                let (account, host) = (&self.rights.account, &self.client.host);
                let (db, name) = (&found.db, &c.table.name);
                Err(acl::table_denied(command, account, host, db, name))
            }
            _ => Err(acl::database_denied(&self.rights.account, &found.db)),
        }
    }
}
