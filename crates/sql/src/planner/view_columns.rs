//! Privileges on single columns that are written through a view.

use crate::planner::merge::tables;
use crate::planner::resolve::Resolver;
use crate::planner::view_write::Written;
use crate::privilege::Privilege;
use crate::view_def::parsed;
use narwal_engine::{Table, ViewDef};
use narwal_syntax::ast::{Expr, Select, SelectItem, TableRef};
use narwal_types::{Name, SqlResult};

/// The tables that a view's SELECT reads itself.
fn read_by(select: &Select) -> Vec<&TableRef> {
    let mut found = Vec::new();
    if let Some(from) = &select.from {
        tables(from, &mut found);
    }
    found
}

/// The column that an item of a view's list is, in the table that is called so there.
fn column_of<'i>(item: &'i SelectItem, called: &str) -> Option<&'i str> {
    let SelectItem::Expr { expr, .. } = item else {
        return None;
    };
    match expr {
        Expr::Column(c) => Some(c),
        Expr::Qualified(q) if q.table == called => Some(&q.column),
        _ => None,
    }
}

impl Resolver<'_> {
    /// Notes that a column is written, and what it is behind the view that it may be written through.
    pub(super) fn note_written(
        &self,
        written: &Written,
        column: &str,
        privilege: Privilege,
        of_all: bool,
    ) {
        if self.env.column_uses.borrow().is_none() {
            return;
        }
        written.note(self.env, column, privilege, of_all);
        if let Some(view) = written.view()
            && let Ok(Some(c)) = written.column(column)
        {
            let table = written.table();
            self.note_under(&view.def, table, &table.columns()[c].name, privilege);
        }
    }

    /// Notes that a table's column is written through a view, with the rights of each view on the way.
    pub(super) fn note_under(
        &self,
        def: &ViewDef,
        table: &Table,
        column: &str,
        privilege: Privilege,
    ) {
        if self.env.column_uses.borrow().is_none() || table.temporary {
            return;
        }
        let noted = self.inside(def, || {
            for t in read_by(&*parsed(def)?) {
                let db = self.db_of(&t.name)?;
                for c in self.names_of(t, table, column)? {
                    if let Some(uses) = &mut *self.env.column_uses.borrow_mut() {
                        uses.note(db, &t.name.name, &c, privilege);
                    }
                }
                if let Some(inner) = self.catalog.view(db, &t.name.name) {
                    self.note_under(inner, table, column, privilege);
                }
            }
            Ok(())
        });
        // The same names were found when the view was planned.
        debug_assert!(noted.is_ok());
    }

    /// What a table's column is called in a table or view that may be read for it: nothing in others.
    fn names_of(&self, t: &TableRef, table: &Table, column: &str) -> SqlResult<Vec<String>> {
        let db = self.db_of(&t.name)?;
        if (db, &t.name.name) == (&table.def.db, &table.def.name) {
            return Ok(vec![column.to_string()]);
        }
        let Some(def) = self.catalog.view(db, &t.name.name) else {
            return Ok(Vec::new());
        };
        let select = parsed(def)?;
        let mut names = Vec::new();
        for of in read_by(&select) {
            let called = of.alias.as_deref().unwrap_or(&of.name.name);
            let known = self.names_of(of, table, column)?;
            for (item, name) in select.items.iter().zip(&def.columns) {
                let shown = column_of(item, called);
                if shown.is_some_and(|c| known.iter().any(|k| k.same_name(c))) {
                    names.push(name.clone());
                }
            }
        }
        Ok(names)
    }
}
