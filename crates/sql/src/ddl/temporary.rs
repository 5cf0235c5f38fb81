//! DDL on temporary tables: which statements are about them, and what is different then.

use crate::ast::DdlStmt;
use crate::ddl::run::{Run, db_of};
use crate::env::StatementEnv;
use crate::quote::quote_ident;
use crate::show::show_create_table;
use narwal_engine::{
    Catalog, CatalogChange, Ddl, EngineError, Fill, FillRows, Table, TableDef, TemporaryTables,
};
use narwal_syntax::ast::TableName;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};
use std::sync::Arc;

impl StatementEnv {
    /// A temporary table of the session.
    pub fn temporary_table(&self, db: &str, name: &str) -> Option<Arc<Table>> {
        self.temporary.as_ref()?.table(db, name)
    }

    fn is_temporary(&self, t: &TableName) -> bool {
        self.temporary.is_some()
            && db_of(t, self).is_ok_and(|db| self.temporary_table(db, &t.name).is_some())
    }
}

/// Whether a DDL statement is about temporary tables only: then others of the session's server do not notice it, and nothing
/// is logged.
pub fn is_temporary_ddl(stmt: &DdlStmt, env: &StatementEnv) -> bool {
    match stmt {
        DdlStmt::CreateTable(c) => c.temporary,
        DdlStmt::DropTable {
            temporary, tables, ..
        } => *temporary || tables.iter().all(|t| env.is_temporary(t)),
        DdlStmt::Truncate(table)
        | DdlStmt::CreateIndex { table, .. }
        | DdlStmt::DropIndex { table, .. }
        | DdlStmt::AlterTable { table, .. } => env.is_temporary(table),
        DdlStmt::CreateSequence { temporary, .. } => *temporary,
        DdlStmt::AlterSequence { name, .. } => env.is_temporary(name),
        DdlStmt::DropSequence {
            temporary, names, ..
        } => *temporary || names.iter().all(|t| env.is_temporary(t)),
        DdlStmt::RenameTable { pairs, .. } => pairs.iter().any(|(from, _)| env.is_temporary(from)),
        _ => false,
    }
}

/// The session's temporary tables, if the statement is about them.
pub(super) fn target(
    stmt: &DdlStmt,
    env: &StatementEnv,
) -> SqlResult<Option<Arc<TemporaryTables>>> {
    if let DdlStmt::RenameTable { pairs, .. } = stmt
        && env.temporary.is_some()
    {
        // A name may be one that a pair before has given.
        let mut temporary = Vec::new();
        for (from, to) in pairs {
            let is = env.is_temporary(from) || temporary.contains(&from);
            if is {
                temporary.push(to);
            }
        }
        if !temporary.is_empty() && temporary.len() < pairs.len() {
            return Err(SqlError::unsupported(
                "RENAME TABLE of temporary tables and others together",
            ));
        }
    }
    Ok(match stmt {
        DdlStmt::DropTable { .. } => None,
        _ if is_temporary_ddl(stmt, env) => env.temporary.clone(),
        _ => None,
    })
}

impl Run<'_> {
    /// The tables that the statement may read: temporary ones hide others.
    pub(super) fn source(&self, db: &str, name: &str) -> Option<Arc<Table>> {
        let stored = || self.base.table(db, name).cloned();
        self.env.temporary_table(db, name).or_else(stored)
    }

    /// Runs a statement that makes a table with rows.
    pub(super) fn submit_filled(
        &self,
        ddl: Ddl,
        rows: FillRows<'_>,
        fill: Fill<'_>,
    ) -> Result<(), EngineError> {
        if let Some(t) = &self.temporary {
            return t.ddl(self.db, ddl.changes, self.options, Some(fill));
        }
        self.logged(self.db.ddl_filled(ddl, self.options, rows, fill)?);
        Ok(())
    }

    /// The statement for replicas that makes a table which was not written out.
    pub(super) fn written_out(
        &self,
        table: &TableName,
        or_replace: bool,
        def: &TableDef,
    ) -> SqlResult<String> {
        let made = Table::made(def.clone())?;
        let shown = show_create_table(
            &made,
            0,
            narwal_syntax::SqlMode::default(),
            self.env.time_zone,
        );
        let (_, body) = shown.split_once(" (").unwrap_or_default();
        let name = match &table.db {
            Some(db) => format!("{}.{}", quote_ident(db), quote_ident(&table.name)),
            None => quote_ident(&table.name),
        };
        let replace = if or_replace { "OR REPLACE " } else { "" };
        Ok(format!("CREATE {replace}TABLE {name} ({body}"))
    }

    /// Drops the temporary tables among those named; gives back the others.
    pub(super) fn drop_temporary<'t>(
        &self,
        tables: &'t [TableName],
    ) -> SqlResult<Vec<&'t TableName>> {
        let Some(all) = &self.env.temporary else {
            return Ok(tables.iter().collect());
        };
        let mut changes: Vec<CatalogChange> = Vec::new();
        let mut others = Vec::new();
        for t in tables {
            let db = db_of(t, self.env)?;
            let change = CatalogChange::DropTable {
                db: db.to_string(),
                name: t.name.clone(),
            };
            if all.table(db, &t.name).is_some() && !changes.contains(&change) {
                changes.push(change);
            } else {
                others.push(t);
            }
        }
        all.ddl(self.db, changes, self.options, None)?;
        Ok(others)
    }

    /// The error of FOREIGN KEY in a temporary table.
    pub(super) fn no_foreign_keys(&self, db: &str, name: &str) -> SqlError {
        self.env.warn(
            150,
            format!(
                "Create  table `{db}`.`{name}` with foreign key constraint failed. Temporary tables can't have foreign key constraints."
            ),
        );
        self.env
            .warn_behind(errors::CANNOT_ADD_FOREIGN_KEY.with([&name]));
        errors::CANT_CREATE_TABLE.text(format!(
                "Can't create table `{db}`.`{name}` (errno: 150 \"Foreign key constraint is incorrectly formed\")"
            ))
    }
}

/// The catalog that a statement works on.
pub(super) fn catalog_of(target: Option<&TemporaryTables>, base: &Arc<Catalog>) -> Arc<Catalog> {
    match target {
        Some(t) => Arc::new(t.catalog(base)),
        None => base.clone(),
    }
}
