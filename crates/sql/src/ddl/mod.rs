//! DDL statements as catalog changes.

mod alter;
mod column;
mod constraint;
mod create_select;
mod create_table;
mod database;
mod drop;
mod foreign;
mod index;
mod rebuild;

use crate::ast::{AlterAction, DdlStmt, TableName};
use crate::env::StatementEnv;
use crate::plan::resolve::no_such_table;
use crate::prepared::{Outcome, Prepared};
use crate::privilege::{Needs, Privilege};
use narwal_engine::{
    Catalog, CatalogChange, CommitInfo, Database, Ddl, EngineError, Table, TxnOptions,
};
use narwal_types::{SqlError, SqlResult};
use std::cell::Cell;

pub(crate) use index::index_rank;

fn err(code: u16, state: &[u8; 5], text: impl Into<Box<str>>) -> SqlError {
    SqlError::new(code, state, text)
}

fn db_of<'a>(t: &'a TableName, env: &'a StatementEnv) -> SqlResult<&'a str> {
    match &t.db {
        Some(d) => Ok(d),
        None => Ok(env.require_db()?),
    }
}

/// Privileges that a DDL statement needs.
pub fn ddl_needs(stmt: &DdlStmt, env: &StatementEnv) -> SqlResult<Vec<Needs>> {
    let on = |t: &TableName, privilege| -> SqlResult<Needs> {
        Ok(Needs {
            db: db_of(t, env)?.to_string(),
            table: t.name.clone(),
            privilege,
        })
    };
    let database = |name: &str, privilege| Needs {
        db: name.to_string(),
        table: String::new(),
        privilege,
    };
    Ok(match stmt {
        DdlStmt::CreateTable(c) => {
            let mut needs = vec![on(&c.table, Privilege::Create)?];
            if c.or_replace {
                needs.push(on(&c.table, Privilege::Drop)?);
            }
            if c.select.is_some() {
                needs.push(on(&c.table, Privilege::Insert)?);
            }
            if let Some(like) = &c.like {
                needs.push(on(like, Privilege::Select)?);
            }
            needs
        }
        DdlStmt::DropTable { tables, .. } => tables
            .iter()
            .map(|t| on(t, Privilege::Drop))
            .collect::<SqlResult<_>>()?,
        DdlStmt::Truncate(t) => vec![on(t, Privilege::Drop)?],
        DdlStmt::CreateDatabase { name, .. } => vec![database(name, Privilege::Create)],
        DdlStmt::AlterDatabase { name, .. } => {
            let name = match name {
                Some(n) => n.clone(),
                None => env.require_db()?.to_string(),
            };
            vec![database(&name, Privilege::Alter)]
        }
        DdlStmt::DropDatabase { name, .. } => vec![database(name, Privilege::Drop)],
        DdlStmt::CreateIndex { table, .. } | DdlStmt::DropIndex { table, .. } => {
            vec![on(table, Privilege::Index)?]
        }
        DdlStmt::AlterTable { table, actions, .. } => {
            let mut needs = vec![on(table, Privilege::Alter)?];
            for a in actions {
                if let AlterAction::RenameTo(to) = a {
                    needs.push(on(table, Privilege::Drop)?);
                    needs.push(on(to, Privilege::Create)?);
                    needs.push(on(to, Privilege::Insert)?);
                }
            }
            needs
        }
        DdlStmt::RenameTable { pairs, .. } => {
            let mut needs = Vec::new();
            for (from, to) in pairs {
                needs.push(on(from, Privilege::Alter)?);
                needs.push(on(from, Privilege::Drop)?);
                needs.push(on(to, Privilege::Create)?);
                needs.push(on(to, Privilege::Insert)?);
            }
            needs
        }
    })
}

struct Run<'a> {
    db: &'a Database,
    catalog: &'a Catalog,
    options: &'a TxnOptions,
    env: &'a StatementEnv,
    text: &'a str,
    select: Option<&'a Prepared>,
    /// Rows that ALTER TABLE copied, and those that it left out for their keys.
    copied: Cell<(u64, u64)>,
}

/// Runs a DDL statement. `text`: the statement as written, for the log. The session has committed its transaction.
pub fn execute_ddl(
    stmt: &DdlStmt,
    text: &str,
    db: &Database,
    options: &TxnOptions,
    env: &StatementEnv,
) -> SqlResult<Outcome> {
    execute_ddl_with(stmt, text, db, options, env, None)
}

/// As [`execute_ddl`]; `select`: the plan of the SELECT that CREATE TABLE has its rows from.
pub fn execute_ddl_with(
    stmt: &DdlStmt,
    text: &str,
    db: &Database,
    options: &TxnOptions,
    env: &StatementEnv,
    select: Option<&Prepared>,
) -> SqlResult<Outcome> {
    // A new definition is made from the present one, which another statement may have changed meanwhile.
    for _ in 0..10 {
        let catalog = db.catalog();
        match attempt(stmt, text, db, &catalog, options, env, select) {
            Err(e) if e.code == 1412 && db.catalog_version() != catalog.version => {}
            done => return done,
        }
    }
    Err(err(
        1412,
        b"HY000",
        "Table definition has changed, please retry transaction",
    ))
}

fn attempt(
    stmt: &DdlStmt,
    text: &str,
    db: &Database,
    catalog: &Catalog,
    options: &TxnOptions,
    env: &StatementEnv,
    select: Option<&Prepared>,
) -> SqlResult<Outcome> {
    let run = Run {
        db,
        catalog,
        options,
        env,
        text,
        select,
        copied: Cell::default(),
    };
    let affected = run.statement(stmt)?;
    Ok(Outcome::Done {
        affected,
        last_insert_id: 0,
        info: if matches!(
            stmt,
            DdlStmt::CreateIndex { .. } | DdlStmt::DropIndex { .. } | DdlStmt::AlterTable { .. }
        ) || run.select.is_some()
        {
            format!(
                "Records: {affected}  Duplicates: {}  Warnings: {}",
                run.copied.get().1,
                env.warning_count()
            )
        } else {
            String::new()
        },
    })
}

impl Run<'_> {
    fn submit(
        &self,
        db: &str,
        sql: String,
        changes: Vec<CatalogChange>,
        suppress_use: bool,
    ) -> Result<(), EngineError> {
        let ddl = self.ddl_of(db, sql, changes, suppress_use);
        self.logged(self.db.ddl(ddl, self.options)?);
        Ok(())
    }

    fn ddl_of(
        &self,
        db: &str,
        sql: String,
        changes: Vec<CatalogChange>,
        suppress_use: bool,
    ) -> Ddl {
        Ddl {
            sql,
            db: db.to_string(),
            changes,
            sql_mode: self.env.sql_mode.0,
            thread_id: self.env.connection_id as u32,
            timestamp: self.env.timestamp(),
            suppress_use,
        }
    }

    /// Tells the session what a statement got in the log.
    fn logged(&self, done: CommitInfo) {
        if !done.gtid.is_empty() {
            *self.env.gtid_written.borrow_mut() = Some(done.gtid);
        }
    }

    /// The default database, for the log.
    fn default_db(&self) -> &str {
        self.env.db.as_deref().unwrap_or("")
    }

    fn table(&self, t: &TableName) -> SqlResult<&std::sync::Arc<Table>> {
        let db = db_of(t, self.env)?;
        self.catalog
            .table(db, &t.name)
            .ok_or_else(|| no_such_table(db, &t.name))
    }

    fn statement(&self, stmt: &DdlStmt) -> SqlResult<u64> {
        match stmt {
            DdlStmt::CreateDatabase { .. }
            | DdlStmt::AlterDatabase { .. }
            | DdlStmt::DropDatabase { .. } => self.database_statement(stmt),
            DdlStmt::CreateTable(c) => self.create_table(c),
            DdlStmt::DropTable {
                if_exists,
                temporary,
                tables,
            } => self.drop_tables(*if_exists, *temporary, tables),
            DdlStmt::Truncate(t) => {
                self.may_truncate(t)?;
                let table = self.table(t)?;
                let change = CatalogChange::TruncateTable {
                    db: table.def.db.clone(),
                    name: table.def.name.clone(),
                };
                self.submit(
                    self.default_db(),
                    self.text.to_string(),
                    vec![change],
                    false,
                )?;
                Ok(0)
            }
            DdlStmt::CreateIndex { table, index } => self.create_index(table, index),
            DdlStmt::DropIndex {
                if_exists,
                table,
                index,
            } => self.drop_index(*if_exists, table, index),
            DdlStmt::AlterTable {
                ignore,
                if_exists,
                table,
                actions,
            } => self.alter_table(*ignore, *if_exists, table, actions),
            DdlStmt::RenameTable { if_exists, pairs } => self.rename_tables(*if_exists, pairs),
        }
    }
}

fn unknown_database(name: &str) -> SqlError {
    err(1049, b"42000", format!("Unknown database '{name}'"))
}
