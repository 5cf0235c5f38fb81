//! RENAME TABLE: tables and views one after the other, each by the names that those before it left.

use crate::ddl::alter::{not_waited_for, table_exists};
use crate::ddl::file_name::{self, cant_rename};
use crate::ddl::foreign::{follow_table, point_keys};
use crate::ddl::run::{Run, db_of, may_be_called};
use crate::planner::resolve::no_such_table;
use narwal_engine::{CatalogChange, TableDef, ViewDef};
use narwal_syntax::ast::TableName;
use narwal_types::SqlResult;
use narwal_types::errors;
use std::collections::HashMap;
use std::sync::Arc;

/// Database and name.
type Name = (String, String);

/// A RENAME TABLE in the making.
struct Renaming<'a, 'r> {
    run: &'a Run<'r>,
    /// What names have come to mean; `None`: nothing.
    tables: HashMap<Name, Option<TableDef>>,
    views: HashMap<Name, Option<Arc<ViewDef>>>,
    /// By ids of tables, the names that they had before the statement.
    origins: HashMap<u64, Name>,
    changes: Vec<CatalogChange>,
}

impl Run<'_> {
    /// RENAME TABLE.
    pub(super) fn rename_tables(
        &self,
        if_exists: bool,
        pairs: &[(TableName, TableName)],
    ) -> SqlResult<u64> {
        let mut renaming = Renaming {
            run: self,
            tables: HashMap::new(),
            views: HashMap::new(),
            origins: HashMap::new(),
            changes: Vec::new(),
        };
        for (from, to) in pairs {
            self.env.check_interrupt()?;
            may_be_called(&to.name)?;
            let from = (db_of(from, self.env)?.to_string(), from.name.clone());
            let to = (db_of(to, self.env)?.to_string(), to.name.clone());
            file_name::renamed((&from.0, &from.1), (&to.0, &to.1), self.env)?;
            match renaming.view(&from) {
                Some(view) => renaming.rename_view(&view, from, to)?,
                None => {
                    self.may_move(&from.0, &from.1, &to.0)?;
                    renaming.rename_table(from, to, if_exists)?;
                }
            }
        }
        let changes = renaming.changes;
        if !changes.is_empty() {
            self.submit(self.default_db(), self.text.to_string(), changes, false)?;
        }
        Ok(0)
    }
}

impl Run<'_> {
    /// Error 1435 for a table that has triggers and is to be moved into another database.
    pub(super) fn may_move(&self, db: &str, table: &str, to: &str) -> SqlResult<()> {
        match &self.env.programs {
            Some(p) if db != to && p.any_triggers() => p.may_move(db, table),
            _ => Ok(()),
        }
    }
}

impl Renaming<'_, '_> {
    /// What a name means as a table.
    fn table(&self, at: &Name) -> Option<TableDef> {
        match self.tables.get(at) {
            Some(found) => found.clone(),
            None => (self.run.catalog.table(&at.0, &at.1)).map(|t| t.def.clone()),
        }
    }

    /// What a name means as a view.
    fn view(&self, at: &Name) -> Option<Arc<ViewDef>> {
        match self.views.get(at) {
            Some(v) => v.clone(),
            None => self.run.catalog.view(&at.0, &at.1).cloned(),
        }
    }

    /// Error 1050 if a name means something.
    fn check_free(&self, at: &Name) -> SqlResult<()> {
        match self.table(at).is_some() || self.view(at).is_some() {
            true => Err(table_exists(&at.1)),
            false => Ok(()),
        }
    }

    fn rename_view(&mut self, view: &ViewDef, from: Name, to: Name) -> SqlResult<()> {
        if from.0 != to.0 {
            return Err(errors::FORBID_SCHEMA_CHANGE.with([&from.0, &to.0]));
        }
        self.check_free(&to)?;
        let mut def = view.clone();
        def.name.clone_from(&to.1);
        self.changes.push(CatalogChange::DropView {
            db: from.0.clone(),
            name: from.1.clone(),
        });
        self.changes.push(CatalogChange::PutView(def.clone()));
        self.views.insert(from, None);
        self.views.insert(to, Some(def.into()));
        Ok(())
    }

    fn rename_table(&mut self, from: Name, to: Name, if_exists: bool) -> SqlResult<()> {
        let Some(was) = self.table(&from) else {
            let e = no_such_table(&from.0, &from.1);
            if !if_exists {
                return Err(e);
            }
            self.run.env.note(e.code, e.message);
            return Ok(());
        };
        if self.run.catalog.database(&to.0).is_none() {
            return Err(cant_rename((&from.0, &from.1), (&to.0, &to.1)));
        }
        self.check_free(&to)?;
        let followers = self.followers(&was, &from, &to);
        let mut def = was.clone();
        point_keys(&mut def, (&from.0, &from.1), (&to.0, &to.1));
        follow_table(&mut def.foreign_keys, &from.1, &to.1);
        def.db.clone_from(&to.0);
        def.name.clone_from(&to.1);
        if !self.run.waited_for(&def) {
            return Err(not_waited_for((&from.0, &from.1), (&to.0, &to.1)));
        }
        self.changes.push(CatalogChange::AlterTable {
            db: from.0.clone(),
            name: from.1.clone(),
            was: Box::new(was),
            def: def.clone(),
        });
        self.tables.insert(from, None);
        self.tables.insert(to, Some(def));
        for (name, follows) in followers {
            self.tables.insert(name, Some(follows));
        }
        Ok(())
    }

    /// Other tables whose foreign keys name the table: the keys follow.
    fn followers(&mut self, def: &TableDef, from: &Name, to: &Name) -> Vec<(Name, TableDef)> {
        let origin = self.origins.entry(def.id).or_insert_with(|| from.clone());
        let children = self.run.catalog.references_to(&origin.0, &origin.1);
        let mut followers: Vec<(Name, TableDef)> = Vec::new();
        for (child, _) in children.iter().filter(|(t, _)| t.def.id != def.id) {
            if followers.iter().any(|(_, f)| f.id == child.def.id) {
                continue; // for another of its keys
            }
            // The statement may have renamed it before.
            let renamed = self.tables.iter().find_map(|(name, found)| {
                let found = found.as_ref().filter(|found| found.id == child.def.id);
                Some((name.clone(), found?.clone()))
            });
            let (name, was) = renamed.unwrap_or_else(|| {
                let name = (child.def.db.clone(), child.def.name.clone());
                (name, child.def.clone())
            });
            let mut follows = was.clone();
            point_keys(&mut follows, (&from.0, &from.1), (&to.0, &to.1));
            self.changes.push(CatalogChange::AlterTable {
                db: name.0.clone(),
                name: name.1.clone(),
                was: Box::new(was),
                def: follows.clone(),
            });
            followers.push((name, follows));
        }
        followers
    }
}
