//! HANDLER ... OPEN and CLOSE, and what closes a handler besides.

use crate::admin::TableRef;
use crate::information_schema::InformationSchema;
use crate::session::{ClientSession, is_virtual};
use narwal_sql::ast::{AlterAction, DdlStmt, HandlerCursor, HandlerRead};
use narwal_sql::virtual_tables::PERFORMANCE_SCHEMA;
use narwal_sql::{Stmt, VirtualTables};
use narwal_types::SqlResult;
use narwal_types::errors;

impl ClientSession {
    /// Error 1192: there are no handlers under LOCK TABLES.
    pub(crate) fn refuse_handler_under_locks(&self) -> SqlResult<()> {
        match self.locks.tables {
            Some(_) => Err(errors::LOCK_OR_ACTIVE_TRANSACTION.plain()),
            None => Ok(()),
        }
    }

    /// HANDLER ... OPEN.
    pub(crate) fn open_handler(&mut self, table: &TableRef, alias: Option<&str>) -> SqlResult<()> {
        let db = match &table.db {
            Some(db) => db.clone(),
            None => self.env.require_db()?.to_string(),
        };
        self.refuse_handler_under_locks()?;
        if is_virtual(&db) {
            return Err(errors::WRONG_USAGE.with([&"HANDLER OPEN", &"information_schema"]));
        }
        let name = alias.unwrap_or(&table.name);
        self.env.handlers.open(name, &db, &table.name)?;
        self.plan_generation += 1;
        let stored = self.instance.database().catalog().has(&db, &table.name);
        if !stored
            && InformationSchema(self)
                .table(&db, &table.name, None)
                .is_some()
        {
            self.env.handlers.close(name)?;
            return Err(match db.eq_ignore_ascii_case(PERFORMANCE_SCHEMA) {
                true => errors::ILLEGAL_HA.text(format!(
                    "Storage engine PERFORMANCE_SCHEMA of the table `{db}`.`{}` doesn't have this option",
                    table.name
                )),
                false => errors::WRONG_OBJECT.with([&db, &table.name, &"BASE TABLE"]),
            });
        }
        // What its READs will meet: there is such a table, and it may be read.
        let first = HandlerRead {
            index: None,
            cursor: HandlerCursor::First,
            where_: None,
            limit: None,
            params: 0,
        };
        let stmt = Stmt::HandlerRead(name.to_string(), Box::new(first));
        match self.plan(&stmt, "") {
            Ok(_) => Ok(()),
            Err(e) => {
                self.env.handlers.close(name)?;
                Err(e)
            }
        }
    }

    /// HANDLER ... CLOSE.
    pub(crate) fn close_handler(&mut self, name: &str) -> SqlResult<()> {
        self.refuse_handler_under_locks()?;
        self.plan_generation += 1;
        self.env.handlers.close(name)
    }

    /// A statement that changes tables closes the session's handlers of them. Others' go on with the new table, if there is
    /// one.
    pub(crate) fn close_handlers_of(&mut self, ddl: &DdlStmt) {
        let tables: Vec<&TableRef> = match ddl {
            DdlStmt::DropTable { tables, .. } => tables.iter().collect(),
            DdlStmt::Truncate(t) => vec![t],
            DdlStmt::CreateTable(c) => vec![&c.table],
            DdlStmt::CreateIndex { table, .. } | DdlStmt::DropIndex { table, .. } => vec![table],
            DdlStmt::AlterTable { table, actions, .. } => {
                let renamed = actions.iter().filter_map(|a| match a {
                    AlterAction::RenameTo(to) => Some(to),
                    _ => None,
                });
                std::iter::once(table).chain(renamed).collect()
            }
            DdlStmt::RenameTable { pairs, .. } => {
                pairs.iter().flat_map(|(from, to)| [from, to]).collect()
            }
            DdlStmt::DropDatabase { name, .. } => {
                self.env.handlers.close_table(name, None);
                return;
            }
            _ => return,
        };
        for t in tables {
            self.close_handlers_on(t);
        }
    }

    /// Closes the session's handlers of a table.
    pub(crate) fn close_handlers_on(&self, t: &TableRef) {
        let db = t.db.as_deref().or(self.env.db.as_deref());
        if let Some(db) = db {
            self.env.handlers.close_table(db, Some(&t.name));
        }
    }

    /// FLUSH TABLE: the session's handlers of these tables, or of all for none, forget where they are.
    pub(crate) fn rewind_handlers(&self, tables: &[TableRef]) {
        if tables.is_empty() {
            self.env.handlers.forget_places(None);
        }
        for t in tables {
            let db = t.db.as_deref().or(self.env.db.as_deref());
            if let Some(db) = db {
                self.env.handlers.forget_places(Some((db, &t.name)));
            }
        }
    }
}
