//! A DDL statement while it runs.

use crate::engine_name;
use crate::env::StatementEnv;
use crate::planner::resolve::no_such_table;
use crate::prepared::Prepared;
use crate::view_def::wrong_kind;
use narwal_engine::{
    Catalog, CatalogChange, CommitInfo, Database, Ddl, EngineError, Table, TemporaryTables,
    Transaction, TxnOptions,
};
use narwal_syntax::ast::TableName;
use narwal_syntax::sql_mode::SqlMode;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult};
use std::cell::Cell;
use std::sync::Arc;

pub(crate) fn db_of<'a>(t: &'a TableName, env: &'a StatementEnv) -> SqlResult<&'a str> {
    match &t.db {
        Some(d) => Ok(d),
        None => Ok(env.require_db()?),
    }
}

pub(crate) fn unknown_database(name: &str) -> SqlError {
    errors::BAD_DB_ERROR.with([&name])
}

/// Calls back with the open transaction.
pub(crate) type InOpen<'a> =
    &'a dyn Fn(&mut dyn FnMut(&mut Transaction) -> SqlResult<()>) -> SqlResult<()>;

pub(crate) struct Run<'a> {
    pub(crate) db: &'a Database,
    /// The stored tables.
    pub(crate) base: &'a Catalog,
    /// The tables that the statement is about: `base`, or the temporary ones.
    pub(crate) catalog: &'a Catalog,
    pub(crate) temporary: Option<Arc<TemporaryTables>>,
    pub(crate) options: &'a TxnOptions,
    pub(crate) env: &'a StatementEnv,
    pub(crate) text: &'a str,
    pub(crate) select: Option<&'a Prepared>,
    /// Runs something in the open transaction, if there is one.
    pub(crate) open: Option<InOpen<'a>>,
    /// Rows that ALTER TABLE copied, and those that it left out for their keys.
    pub(crate) copied: Cell<(u64, u64)>,
}

/// The engine that a definition keeps. Tables for other engines of MariaDB are made here too, with a warning that says so: files of
/// statements that name one go on. Which engine it would have been decides about transactions and files, not about rows.
pub(crate) fn engine_name(
    engine: Option<&str>,
    table: &str,
    env: &StatementEnv,
) -> SqlResult<String> {
    let kept = kept_engine(engine, env)?;
    warn_of_engine(engine, table, env);
    Ok(kept)
}

/// The same, before [`warn_of_engine`].
pub(super) fn kept_engine(engine: Option<&str>, env: &StatementEnv) -> SqlResult<String> {
    let Some(name) = engine else {
        return Ok("InnoDB".to_string());
    };
    if let Some(own) = engine_name::own(name) {
        return Ok(own.to_string());
    }
    if engine_name::is_merge(name) {
        return Ok(engine_name::MERGE.to_string());
    }
    if engine_name::stood_in_for(name).is_none() {
        let text = format!("Unknown storage engine '{name}'");
        if env.sql_mode.has(SqlMode::NO_ENGINE_SUBSTITUTION) {
            return Err(errors::UNKNOWN_STORAGE_ENGINE.text(text));
        }
        env.warn(codes::UNKNOWN_STORAGE_ENGINE, text);
    }
    Ok("InnoDB".to_string())
}

/// Warning 1266 for an engine whose tables are made as our own.
pub(super) fn warn_of_engine(engine: Option<&str>, table: &str, env: &StatementEnv) {
    if engine.is_some_and(|name| engine_name::own(name).is_none() && !engine_name::is_merge(name)) {
        env.warn(
            codes::WARN_USING_OTHER_HANDLER,
            format!("Using storage engine InnoDB for table '{table}'"),
        );
    }
}

impl Run<'_> {
    pub(crate) fn submit(
        &self,
        db: &str,
        sql: String,
        changes: Vec<CatalogChange>,
        suppress_use: bool,
    ) -> Result<(), EngineError> {
        if let Some(t) = &self.temporary {
            return t.ddl(self.db, changes, self.options, None);
        }
        let ddl = self.ddl_of(db, sql, changes, suppress_use);
        self.logged(self.db.ddl(ddl, self.options)?);
        Ok(())
    }

    pub(crate) fn ddl_of(
        &self,
        db: &str,
        sql: String,
        changes: Vec<CatalogChange>,
        suppress_use: bool,
    ) -> Ddl {
        let mut changes = changes;
        if let Some(p) = self
            .env
            .programs
            .as_ref()
            .filter(|_| self.temporary.is_none())
        {
            let more: Vec<_> = changes.iter().flat_map(|c| p.follow(c)).collect();
            changes.extend(more);
        }
        Ddl {
            sql,
            db: db.to_string(),
            changes,
            sql_mode: self.env.sql_mode.0,
            thread_id: self.env.connection_id as u32,
            timestamp: self.env.timestamp(),
            suppress_use,
            implicit_timestamps: !self.env.explicit_timestamps,
            if_exists: self.env.if_exists,
        }
    }

    /// Tells the session what a statement got in the log.
    pub(crate) fn logged(&self, done: CommitInfo) {
        if !done.gtid.is_empty() {
            *self.env.gtid_written.borrow_mut() = Some(done.gtid);
        }
    }

    /// The default database, for the log.
    pub(crate) fn default_db(&self) -> &str {
        self.env.db.as_deref().unwrap_or("")
    }

    pub(crate) fn table(&self, t: &TableName) -> SqlResult<&std::sync::Arc<Table>> {
        let db = db_of(t, self.env)?;
        self.catalog
            .table(db, &t.name)
            .ok_or_else(|| match self.catalog.view(db, &t.name) {
                Some(_) => wrong_kind(db, &t.name, "BASE TABLE"),
                None => no_such_table(db, &t.name),
            })
    }
}

/// Names that begin so are those of files from MySQL 5.0: nothing new is called so.
pub(super) const MYSQL50: &str = "#mysql50#";

/// Error 1103: no new table or view may be called so.
pub(super) fn may_be_called(name: &str) -> SqlResult<()> {
    if name.is_empty()
        || name.ends_with(' ')
        || name.chars().count() > 64
        || name.starts_with(MYSQL50)
    {
        return Err(errors::WRONG_TABLE_NAME.with([&name]));
    }
    Ok(())
}
