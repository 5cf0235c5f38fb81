//! CREATE, ALTER and DROP DATABASE.

use crate::ast::DdlStmt;
use crate::charset_words::CharsetWords;
use crate::ddl::comment::{Commented, comment};
use crate::ddl::file_name;
use crate::ddl::run::{MYSQL50, Run, unknown_database};
use crate::env::StatementEnv;
use narwal_engine::{CatalogChange, DatabaseDef, EngineError};
use narwal_types::errors;
use narwal_types::{Collation, SqlError, SqlResult};

/// Schemas that are there though nobody has made a database of them.
const SYSTEM: [&str; 3] = ["mysql", "sys", "performance_schema"];

impl Run<'_> {
    pub(super) fn database_statement(&self, stmt: &DdlStmt) -> SqlResult<u64> {
        let env = self.env;
        match stmt {
            DdlStmt::CreateDatabase {
                or_replace,
                if_not_exists,
                name,
                collation,
                comment: given,
            } => {
                let there = self.catalog.database(name).is_some();
                let exists = format!("Can't create database '{name}'; database exists");
                // Dumps of whole servers say IF NOT EXISTS, and make the schema `mysql` a database like others.
                let system = !there && !if_not_exists && SYSTEM.contains(&name.as_str());
                if !system {
                    reserved_schema(name, env)?;
                    file_name::database(name, env)?;
                }
                if (there || system) && !or_replace {
                    return self.unless(*if_not_exists, &errors::DB_CREATE_EXISTS.text(exists));
                }
                let server = env.server_collation;
                let named = collation.collation(server, server)?;
                let change = CatalogChange::PutDatabase(DatabaseDef {
                    name: name.clone(),
                    collation: named.unwrap_or(server),
                    comment: match given {
                        Some(text) => comment(text, Commented::Database, name, env)?,
                        None => String::new(),
                    },
                });
                // A replica has a default of its own.
                let text = match named {
                    None if env.server_collation != Collation::default() => {
                        format!("{} COLLATE {}", self.text, env.server_collation.name())
                    }
                    _ => self.text.to_string(),
                };
                let mut changes = vec![change];
                if there {
                    self.may_drop_database(name)?;
                    changes.insert(0, CatalogChange::DropDatabase(name.clone()));
                }
                match self.submit(name, text, changes, true) {
                    // Another session made it meanwhile: nothing else can be wrong with it.
                    Err(EngineError::Catalog(_)) if !there => {
                        return self.unless(*if_not_exists, &errors::DB_CREATE_EXISTS.text(exists));
                    }
                    done => done?,
                }
                Ok(if there { 2 } else { 1 })
            }
            DdlStmt::AlterDatabase {
                name,
                collation,
                comment,
            } => self.alter_database(name.as_deref(), collation, comment.as_deref()),
            DdlStmt::DropDatabase { if_exists, name } => self.drop_database(name, *if_exists),
            _ => Err(SqlError::unsupported("this database statement")),
        }
    }

    /// An error, or a note with IF EXISTS and IF NOT EXISTS.
    fn unless(&self, noted: bool, e: &SqlError) -> SqlResult<u64> {
        if noted {
            self.env.note(e.code, e.message.clone());
            return Ok(0);
        }
        Err(e.clone())
    }

    fn alter_database(
        &self,
        name: Option<&str>,
        collation: &CharsetWords,
        given: Option<&str>,
    ) -> SqlResult<u64> {
        let env = self.env;
        let name = match name {
            Some(n) => n,
            None => env.require_db()?,
        };
        may_be_called(name)?;
        let old = self
            .catalog
            .database(name)
            .ok_or_else(|| unknown_database(name))?;
        let named = collation.collation(env.server_collation, old.collation)?;
        let change = CatalogChange::AlterDatabase(DatabaseDef {
            name: name.to_string(),
            collation: named.unwrap_or(old.collation),
            comment: match given {
                Some(text) => comment(text, Commented::Database, &name, env)?,
                None => old.comment.clone(),
            },
        });
        match self.submit(name, self.text.to_string(), vec![change], true) {
            // Another session dropped it meanwhile.
            Err(EngineError::Catalog(_)) => Err(unknown_database(name)),
            done => Ok(done.map(|()| 1)?),
        }
    }

    fn drop_database(&self, name: &str, if_exists: bool) -> SqlResult<u64> {
        // A name of old that may have been one: no database here is called so.
        if !name.starts_with(MYSQL50) {
            reserved_schema(name, self.env)?;
        }
        let missing = || {
            let text = format!("Can't drop database '{name}'; database doesn't exist");
            self.unless(if_exists, &errors::DB_DROP_EXISTS.text(text))
        };
        if self.catalog.database(name).is_none() {
            return missing();
        }
        let tables = self.may_drop_database(name)?;
        let change = CatalogChange::DropDatabase(name.to_string());
        match self.submit(name, self.text.to_string(), vec![change], true) {
            // Another session dropped it meanwhile.
            Err(EngineError::Catalog(_)) => missing(),
            done => Ok(done.map(|()| tables)?),
        }
    }

    /// No table of another database refers to one of this database's; how many tables and views it has.
    fn may_drop_database(&self, name: &str) -> SqlResult<u64> {
        let dropped: Vec<_> = self.catalog.tables(name).cloned().collect();
        for table in &dropped {
            self.may_drop(table, &dropped)?;
        }
        Ok((dropped.len() + self.catalog.views(name).count()) as u64)
    }
}

/// Error 1102 for what can be no database's name.
fn may_be_called(name: &str) -> SqlResult<()> {
    let of_old = name.starts_with(MYSQL50);
    if of_old || name.is_empty() || name.ends_with(' ') || name.chars().count() > 64 {
        return Err(errors::WRONG_DB_NAME.with([&name]));
    }
    Ok(())
}

pub(super) fn reserved_schema(name: &str, env: &StatementEnv) -> SqlResult<()> {
    may_be_called(name)?;
    if name.eq_ignore_ascii_case("information_schema")
        || name.eq_ignore_ascii_case("performance_schema")
    {
        let (user, host) = env
            .current_user
            .rsplit_once('@')
            .unwrap_or((&env.current_user, ""));
        return Err(errors::DBACCESS_DENIED_ERROR.with([&user, &host, &name]));
    }
    Ok(())
}
