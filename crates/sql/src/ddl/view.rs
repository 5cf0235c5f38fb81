//! CREATE VIEW, ALTER VIEW and DROP VIEW.

use crate::ast::{CreateView, Definer, ViewCreation};
use crate::ddl::file_name;
use crate::ddl::run::{Run, db_of, may_be_called, unknown_database};
use crate::planner::resolve::no_such_table;
use crate::quote::quote_ident;
use crate::view::attributes;
use crate::view_def::wrong_kind;
use narwal_engine::{CatalogChange, CheckOption, ViewAlgorithm, ViewDef};
use narwal_syntax::ast::TableName;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult};

/// The statement as the log has it: with its attributes settled, and the SELECT as it was written.
fn logged(v: &CreateView, def: &ViewDef) -> String {
    let (verb, exists) = match v.creation {
        ViewCreation::New => ("CREATE ", ""),
        ViewCreation::IfNotExists => ("CREATE ", "IF NOT EXISTS "),
        ViewCreation::OrReplace => ("CREATE OR REPLACE ", ""),
        ViewCreation::Alter => ("ALTER ", ""),
    };
    let columns = match v.columns.is_empty() {
        true => String::new(),
        false => {
            let names: Vec<String> = v.columns.iter().map(|c| quote_ident(c)).collect();
            format!("({})", names.join(", "))
        }
    };
    let name = match v.view.db {
        Some(_) => format!("{}.{}", quote_ident(&def.db), quote_ident(&def.name)),
        None => quote_ident(&def.name),
    };
    format!(
        "{verb}{}VIEW {exists}{name}{columns} AS {}",
        attributes(def),
        v.source
    )
}

impl Run<'_> {
    pub(super) fn create_view(&self, v: &CreateView) -> SqlResult<u64> {
        let db = db_of(&v.view, self.env)?;
        let name = &v.view.name;
        may_be_called(name)?;
        file_name::view(name, self.env)?;
        if self.catalog.database(db).is_none() {
            return Err(unknown_database(db));
        }
        let old = self.catalog.view(db, name);
        let is_table = self.catalog.table(db, name).is_some();
        match v.creation {
            ViewCreation::New | ViewCreation::IfNotExists if is_table || old.is_some() => {
                let text = format!("Table '{name}' already exists");
                if v.creation == ViewCreation::New {
                    return Err(errors::TABLE_EXISTS_ERROR.text(text));
                }
                self.env.note(codes::TABLE_EXISTS_ERROR, text);
                return Ok(0);
            }
            ViewCreation::OrReplace | ViewCreation::Alter if is_table => {
                return Err(wrong_kind(db, name, "VIEW"));
            }
            ViewCreation::Alter if old.is_none() => return Err(no_such_table(db, name)),
            _ => {}
        }
        let Some(settled) = &v.settled else {
            return Err(SqlError::unsupported("CREATE VIEW here"));
        };
        let outer = || crate::view::joins_outer(v.select.from.as_ref(), Some(db), self.catalog, 0);
        let schema = || {
            crate::view::reads_schema(
                v.select.from.as_ref(),
                self.env.db.as_deref(),
                self.catalog,
                0,
            )
        };
        let merged = settled.mergeable && v.algorithm != Some(ViewAlgorithm::TempTable);
        if v.check != CheckOption::None && (!(settled.updatable || merged) || outer() || schema()) {
            let full = format!("{}.{}", quote_ident(db), quote_ident(name));
            return Err(errors::VIEW_NONUPD_CHECK.with([&full]));
        }
        // ALTER VIEW leaves as it is what it does not name.
        let altered = old.filter(|_| v.creation == ViewCreation::Alter);
        let mut algorithm = match (v.algorithm, altered) {
            (None, Some(old)) => old.algorithm,
            (given, _) => given.unwrap_or_default(),
        };
        if algorithm == ViewAlgorithm::Merge && !settled.mergeable {
            self.env.warn(
                codes::WARN_VIEW_MERGE,
                "View merge algorithm can't be used here for now (assumed undefined algorithm)",
            );
            algorithm = ViewAlgorithm::Undefined;
        }
        let definer = match (&v.definer, altered) {
            (Some(Definer::Account(user, host)), _) => (user.clone(), host.clone()),
            (None, Some(old)) => old.definer.clone(),
            _ => self.own_account(),
        };
        let invoker = match (v.invoker, altered) {
            (None, Some(old)) => old.invoker,
            (given, _) => given.unwrap_or(false),
        };
        let def = ViewDef {
            db: db.to_string(),
            name: name.clone(),
            select: settled.select.clone(),
            columns: settled.columns.clone(),
            definer,
            invoker,
            algorithm,
            check: v.check,
            updatable: settled.updatable,
            charset: (
                self.session_text("character_set_client"),
                self.session_text("collation_connection"),
            ),
        };
        let sql = logged(v, &def);
        let change = CatalogChange::PutView(def);
        self.submit(self.default_db(), sql, vec![change], false)?;
        Ok(0)
    }

    /// User and host of the account that runs the statement.
    fn own_account(&self) -> (String, String) {
        let own = &self.env.current_user;
        let (user, host) = own.rsplit_once('@').unwrap_or((own, ""));
        (user.to_string(), host.to_string())
    }

    /// A session variable that is a text.
    fn session_text(&self, name: &str) -> String {
        let scope = crate::VariableScope::Session;
        match self.env.variables.system(scope, name) {
            Ok(narwal_types::Value::Str(s)) => s.to_string(),
            _ => String::new(),
        }
    }

    pub(super) fn drop_views(&self, if_exists: bool, views: &[TableName]) -> SqlResult<u64> {
        let mut changes: Vec<CatalogChange> = Vec::new();
        let mut missing = Vec::new();
        let mut going = Vec::new();
        for v in views {
            let db = db_of(v, self.env)?;
            if self.catalog.view(db, &v.name).is_none() {
                if self.catalog.table(db, &v.name).is_some() {
                    self.env.warn_error(&wrong_kind(db, &v.name, "VIEW"));
                }
                missing.push(format!("{db}.{}", v.name));
                continue;
            }
            let change = CatalogChange::DropView {
                db: db.to_string(),
                name: v.name.clone(),
            };
            if !changes.contains(&change) {
                changes.push(change);
                going.push(format!("{}.{}", quote_ident(db), quote_ident(&v.name)));
            }
        }
        if !changes.is_empty() {
            let sql = match missing.is_empty() {
                true => self.text.to_string(),
                // Replicas are told of those that were there.
                false => format!("DROP VIEW {}", going.join(", ")),
            };
            self.submit(self.default_db(), sql, changes, false)?;
        }
        if !missing.is_empty() {
            let text = format!("Unknown VIEW: '{}'", missing.join(","));
            if !if_exists {
                return Err(errors::UNKNOWN_VIEW.text(text));
            }
            self.env.note(codes::UNKNOWN_VIEW, text);
        }
        Ok(0)
    }
}
