//! Foreign keys in DDL: what a definition needs, the indexes made for it, and what other tables' keys forbid.

use super::index::index_def;
use crate::ast::{ForeignKeySpec, IndexSpec};
use crate::bind::table_rules::bind_text;
use crate::ddl::foreign_refused::{Lack, Making, NoIndex, cant_create, full_name, index_beginning};
use crate::ddl::run::{Run, db_of};
use crate::env::StatementEnv;
use crate::plan::dml::store_mode;
use crate::quote::quote_ident;
use narwal_engine::{
    Catalog, CatalogChange, ColumnDef, ForeignAction, ForeignKeyDef, IndexDef, Table, TableDef,
};
use narwal_syntax::ast::TableName;
use narwal_types::errors;
use narwal_types::{Name, SqlError, SqlResult};
use std::sync::Arc;

/// Stands between a table's name and a number in the names of keys that have none of their own.
const GIVEN: &str = "_ibfk_";

fn column<'d>(def: &'d TableDef, name: &str) -> Option<(usize, &'d ColumnDef)> {
    def.columns
        .iter()
        .enumerate()
        .find(|(_, c)| c.name.same_name(name))
}

/// True if an index begins with these columns, whole and in this order.
fn begins_with(index: &IndexDef, columns: &[usize]) -> bool {
    index.columns.len() >= columns.len()
        && index
            .columns
            .iter()
            .zip(columns)
            .all(|(p, c)| p.column == *c && p.prefix.is_none())
}

/// Columns of the two tables that can refer to each other: equal types; strings may differ in length.
fn comparable(a: &ColumnDef, b: &ColumnDef) -> bool {
    if a.ty.is_string() && b.ty.is_string() {
        let kind = |c: &ColumnDef| c.ty.is_character();
        return kind(a) == kind(b) && a.ty.collation == b.ty.collation;
    }
    a.ty == b.ty
}

fn positions(def: &TableDef, names: &[String]) -> Option<Vec<usize>> {
    names
        .iter()
        .map(|n| column(def, n).map(|(i, _)| i))
        .collect()
}

/// Error 1905 for a foreign key that would change a column that is computed.
fn changes_generated(s: &ForeignKeySpec, c: &ColumnDef) -> SqlResult<()> {
    let clause = match (s.on_update, s.on_delete) {
        _ if c.generated.is_none() => return Ok(()),
        (ForeignAction::Cascade, _) => "ON UPDATE CASCADE",
        (ForeignAction::SetNull, _) => "ON UPDATE SET NULL",
        (_, ForeignAction::SetNull) => "ON DELETE SET NULL",
        _ => return Ok(()),
    };
    Err(errors::WRONG_FK_OPTION_FOR_GENERATED_COLUMN.with([&clause]))
}

impl Run<'_> {
    /// Adds foreign keys to a definition that is otherwise complete, and the indexes that they need. `added`: the indexes that
    /// the statement itself adds; `old`: the table before ALTER TABLE.
    pub(super) fn add_foreign_keys(
        &self,
        def: &mut TableDef,
        specs: &[ForeignKeySpec],
        added: &[IndexSpec],
        (making, old): (Making, Option<&TableDef>),
    ) -> SqlResult<()> {
        if specs.is_empty() {
            return Ok(());
        }
        let mut number = 1 + def
            .foreign_keys
            .iter()
            .filter_map(|k| {
                k.name
                    .strip_prefix(&format!("{}{GIVEN}", def.name))?
                    .parse()
                    .ok()
            })
            .max()
            .unwrap_or(0u64);
        // All columns are looked at before anything else, as MariaDB does.
        for s in specs {
            for c in &s.columns {
                if column(def, c).is_none() {
                    return Err(errors::KEY_COLUMN_DOES_NOT_EXIST.with([&c]));
                }
            }
            if !s.parent_columns.is_empty() && s.parent_columns.len() != s.columns.len() {
                return Err(errors::WRONG_FK_DEF.text(format!(
                        "Incorrect foreign key definition for '{}': Key reference and table reference don't match",
                        s.name.as_deref().unwrap_or("foreign key without name")
                    )));
            }
        }
        let added = added.iter().filter(|i| i.is_plain()).count();
        let mut made = Vec::new();
        for s in specs {
            self.env.check_interrupt()?;
            self.need_index(def, s, added, &mut made)?;
        }
        if def.declared.is_some() {
            for s in specs {
                let mut columns = s.columns.iter().filter_map(|c| column(def, c));
                columns.try_for_each(|(_, c)| changes_generated(s, c))?;
            }
            // MariaDB's other engines have indexes only.
            def.indexes.iter_mut().for_each(|i| i.implied = false);
            return Ok(());
        }
        let own = def.foreign_keys.len();
        for s in specs {
            self.env.check_interrupt()?;
            let name = match s.name.as_ref().or(s.index.as_ref()) {
                Some(n) => n.clone(),
                None => {
                    number += 1;
                    format!("{}{GIVEN}{}", def.name, number - 1)
                }
            };
            let key = self.foreign_key(def, s, name, (making, own, old))?;
            def.foreign_keys.push(key);
        }
        def.foreign_keys.sort_by(|a, b| a.name.cmp(&b.name));
        check_cascades(def)
    }

    /// Makes the index of a foreign key unless there is one. It takes the place of such an index made before.
    /// `added`: how many indexes the statement adds that are not unique; `made`: names of those that it made for keys.
    fn need_index(
        &self,
        def: &mut TableDef,
        s: &ForeignKeySpec,
        added: usize,
        made: &mut Vec<String>,
    ) -> SqlResult<()> {
        let Some(columns) = positions(def, &s.columns) else {
            return Ok(());
        };
        let named = s.name.as_ref().or(s.index.as_ref());
        // One that was made for a key before gives way to that of this key, which stands elsewhere.
        let gives_way = |i: &IndexDef| {
            i.implied && (named.is_some() || i.id != 0 && i.columns.len() == columns.len())
        };
        let declared = |i: &IndexDef| begins_with(i, &columns) && !gives_way(i);
        if def.indexes.iter().any(declared) {
            return Ok(());
        }
        def.indexes.retain(|i| {
            !(i.implied
                && i.columns.len() <= columns.len()
                && i.columns.iter().zip(&columns).all(|(p, c)| p.column == *c))
        });
        let spec = IndexSpec {
            name: named.cloned(),
            primary: false,
            unique: false,
            columns: s.columns.iter().map(|c| (c.clone(), None, false)).collect(),
            functional: Vec::new(),
            comment: String::new(),
            ignored: false,
            method: None,
            key_block_size: 0,
            without_overlaps: None,
            in_vain: Vec::new(),
            if_not_exists: false,
        };
        let mut index = index_def(&spec, &def.columns, &def.indexes, None, self.env)?;
        index.implied = true;
        // It stands where the key stands among the statement's indexes.
        let others = def.indexes.iter().enumerate();
        let others = others.filter(|(_, i)| !i.unique && !made.contains(&i.name));
        let others: Vec<usize> = others.map(|(at, _)| at).collect();
        let first = others.len().saturating_sub(added);
        let behind = others.get(first + s.keys_before).copied();
        made.push(index.name.clone());
        def.indexes
            .insert(behind.unwrap_or(def.indexes.len()), index);
        Ok(())
    }

    /// A key as the statement has it. `own`: the number of keys that the table had before; `old`: what it was then.
    fn foreign_key(
        &self,
        def: &TableDef,
        s: &ForeignKeySpec,
        name: String,
        (making, own, old): (Making, usize, Option<&TableDef>),
    ) -> SqlResult<ForeignKeyDef> {
        let mut key = self.wanted(def, s, name);
        let taken = |k: &ForeignKeyDef| k.name.same_name(&key.name);
        let at = def.foreign_keys.iter().position(taken);
        if making == Making::InPlace && at.is_some_and(|at| at < own) {
            let name = full_name(def, &key.name);
            return Err(errors::DUP_CONSTRAINT_NAME.with([&"FOREIGN KEY", &name]));
        }
        let lacks = |lack: &Lack| self.lacks((def, s), &key, making, lack);
        for c in &s.columns {
            let Some((_, c)) = column(def, c) else {
                return Err(lacks(&Lack::Column(c.clone())));
            };
            changes_generated(s, c)?;
        }
        let whole = positions(def, &key.columns).unwrap_or_default();
        if let Err(why) = index_beginning(def, &whole, |_| true) {
            return Err(lacks(&Lack::OwnIndex(why == NoIndex::Prefix)));
        }
        if making == Making::InPlace && old.is_some_and(|old| has_bare_virtual(old, &key)) {
            return Err(lacks(&Lack::OwnIndex(false)));
        }
        if making == Making::InPlace
            && let Some(column) = old.and_then(|old| lengthened(old, def, &key))
        {
            let unnamed = format!("{}_ibfk_0", def.name);
            let name = full_name(def, s.name.as_ref().unwrap_or(&unnamed));
            return Err(errors::FK_COLUMN_CANNOT_CHANGE.with([&column, &name]));
        }
        if let Some(parent) = self.parent_of(def, &key).map_err(|l| lacks(&l))? {
            // ALTER TABLE knows the indexes that were there before.
            let named = self.fitting(def, &key, parent.def(old.unwrap_or(def)), making);
            key.parent_columns = named.map_err(|l| lacks(&l))?;
        }
        if at.is_some_and(|at| at >= own) && making != Making::InPlace {
            return Err(self.lacks((def, s), &key, making, &Lack::OwnName));
        }
        let others = self.catalog.tables(&def.db);
        let mut others = others.filter(|t| t.def.name != def.name);
        // InnoDB's dictionary knows the case of ASCII's letters alone.
        let taken = |k: &ForeignKeyDef| k.name.eq_ignore_ascii_case(&key.name);
        if at.is_some() || others.any(|t| t.def.foreign_keys.iter().any(taken)) {
            return Err(self.name_taken(def, &key, making));
        }
        Ok(key)
    }

    /// What the statement says. Without columns the key refers to those of the same names.
    fn wanted(&self, def: &TableDef, s: &ForeignKeySpec, name: String) -> ForeignKeyDef {
        let names = (s.columns.iter()).filter_map(|n| column(def, n).map(|(_, c)| c.name.clone()));
        let columns: Vec<String> = names.collect();
        ForeignKeyDef {
            name,
            parent_db: s.parent.db.clone().unwrap_or_else(|| def.db.clone()),
            parent: s.parent.name.clone(),
            parent_columns: match s.parent_columns.is_empty() {
                true => columns.clone(),
                false => s.parent_columns.clone(),
            },
            columns,
            on_delete: s.on_delete,
            on_update: s.on_update,
        }
    }

    /// The table that a key refers to, which need not be there if nothing is checked.
    fn parent_of(&self, def: &TableDef, key: &ForeignKeyDef) -> Result<Option<Parent>, Lack> {
        if key.parent_db == def.db && key.parent == def.name {
            return Ok(Some(Parent::Own));
        }
        let checks = self.env.foreign_key_checks;
        match self.catalog.table(&key.parent_db, &key.parent) {
            // One of another engine is none that a key may refer to.
            Some(t) if checks && t.def.declared.is_some() => Err(Lack::Parent),
            Some(t) => Ok(Some(Parent::Other(t.clone()))),
            None if checks => Err(Lack::Parent),
            None => Ok(None),
        }
    }

    /// The columns that a key refers to, as their table calls them.
    fn fitting(
        &self,
        def: &TableDef,
        key: &ForeignKeyDef,
        parent: &TableDef,
        making: Making,
    ) -> Result<Vec<String>, Lack> {
        let unknown = |n: &&String| column(parent, n).is_none();
        if let Some(name) = key.parent_columns.iter().find(unknown) {
            return Err(Lack::Column(name.clone()));
        }
        fits(def, key, parent).map_err(Lack::ParentIndex)?;
        let sets_null = [key.on_delete, key.on_update].contains(&ForeignAction::SetNull);
        let cascades = key.on_update == ForeignAction::Cascade
            && making != Making::InPlace
            && store_mode(self.env, false, false).strict;
        for (own, parents) in key.columns.iter().zip(&key.parent_columns) {
            let nullable = |def, name| column(def, name).is_some_and(|(_, c)| c.nullable);
            if nullable(def, own) {
                continue;
            }
            if sets_null {
                return Err(Lack::Null(own.clone()));
            }
            if cascades && nullable(parent, parents) {
                return Err(Lack::NullOfCascade);
            }
        }
        let names = key.parent_columns.iter();
        Ok(names
            .filter_map(|n| column(parent, n).map(|(_, c)| c.name.clone()))
            .collect())
    }

    /// A table that comes into being: the keys that wait for it must fit.
    pub(super) fn fits_children(&self, def: &TableDef) -> SqlResult<()> {
        match self.env.foreign_key_checks && !self.waited_for(def) {
            true => Err(cant_create(def, 150, self.env)),
            false => Ok(()),
        }
    }

    /// Whether a table is what the keys want that wait for one of its name.
    pub(super) fn waited_for(&self, def: &TableDef) -> bool {
        let waiting = self.catalog.references_to(&def.db, &def.name);
        (waiting.iter())
            .all(|(child, n)| fits(&child.def, &child.def.foreign_keys[*n], def).is_ok())
    }

    /// Error 1451 if a table outside of `also` refers to the table.
    pub(super) fn may_drop(&self, table: &Table, also: &[Arc<Table>]) -> SqlResult<()> {
        if !self.env.foreign_key_checks {
            return Ok(());
        }
        for (child, _) in self.catalog.references_to(&table.def.db, &table.def.name) {
            if child.def.id != table.def.id && !also.iter().any(|t| t.def.id == child.def.id) {
                return Err(errors::ROW_IS_REFERENCED_2
                    .text("Cannot delete or update a parent row: a foreign key constraint fails"));
            }
        }
        Ok(())
    }

    /// Error 1701 if another table refers to the table.
    pub(super) fn may_truncate(&self, t: &TableName) -> SqlResult<()> {
        let table = self.table(t)?;
        if !self.env.foreign_key_checks {
            return Ok(());
        }
        let _ = db_of(t, self.env)?;
        for (child, number) in self.catalog.references_to(&table.def.db, &table.def.name) {
            if child.def.id != table.def.id {
                let key = &child.def.foreign_keys[number];
                return Err(errors::TRUNCATE_ILLEGAL_FK.text(format!(
                        "Cannot truncate a table referenced in a foreign key constraint ({}.{}, CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {}.{} ({}))",
                        quote_ident(&child.def.db),
                        quote_ident(&child.def.name),
                        quote_ident(&key.name),
                        quoted(&key.columns),
                        quote_ident(&key.parent_db),
                        quote_ident(&key.parent),
                        quoted(&key.parent_columns),
                    )));
            }
        }
        Ok(())
    }
}

fn quoted(names: &[String]) -> String {
    names
        .iter()
        .map(|n| quote_ident(n))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The table that a key refers to: the one that has it, or another.
enum Parent {
    Own,
    Other(Arc<Table>),
}

impl Parent {
    fn def<'d>(&'d self, own: &'d TableDef) -> &'d TableDef {
        match self {
            Parent::Own => own,
            Parent::Other(t) => &t.def,
        }
    }
}

/// A key over a virtual column that no index of the table begins with: MariaDB makes none for it beside the rows.
fn has_bare_virtual(old: &TableDef, key: &ForeignKeyDef) -> bool {
    let is_virtual = |name: &String| {
        let found = column(old, name).and_then(|(_, c)| c.generated.as_ref());
        found.is_some_and(|g| !g.stored)
    };
    let indexed =
        positions(old, &key.columns).is_some_and(|c| index_beginning(old, &c, |_| true).is_ok());
    key.columns.iter().any(is_virtual) && !indexed
}

/// A column of a key that gets another length in the same statement, if the key finds an index that was there before: InnoDB
/// looks at the columns as that index has them.
fn lengthened<'d>(old: &'d TableDef, new: &TableDef, key: &ForeignKeyDef) -> Option<&'d str> {
    let columns = positions(old, &key.columns)?;
    index_beginning(old, &columns, |_| true).ok()?;
    let mut columns = columns.iter().map(|c| &old.columns[*c]);
    let changed = columns.find(|c| {
        let now = column(new, &c.name);
        now.is_some_and(|(_, now)| now.ty.kind != c.ty.kind)
    });
    changed.map(|c| c.name.as_str())
}

/// The referenced columns exist, begin an index and have the right types.
fn fits(def: &TableDef, key: &ForeignKeyDef, parent: &TableDef) -> Result<(), NoIndex> {
    let columns = positions(parent, &key.parent_columns).ok_or(NoIndex::Missing)?;
    index_beginning(parent, &columns, |at| {
        column(def, &key.columns[at])
            .is_some_and(|(_, own)| comparable(own, &parent.columns[columns[at]]))
    })
}

/// Makes the foreign keys that refer to a table, by database and name, refer to it by its new ones.
pub(super) fn point_keys(def: &mut TableDef, from: (&String, &String), to: (&String, &String)) {
    for key in &mut def.foreign_keys {
        if (&key.parent_db, &key.parent) == from {
            key.parent_db.clone_from(to.0);
            key.parent.clone_from(to.1);
        }
    }
}

/// Keys that were named after their table are named after its new name.
pub(super) fn follow_table(keys: &mut [ForeignKeyDef], old: &str, new: &str) {
    let begin = format!("{old}{GIVEN}");
    for key in keys {
        if let Some(number) = key.name.strip_prefix(&begin) {
            key.name = format!("{new}{GIVEN}{number}");
        }
    }
}

/// A table before ALTER TABLE, and the old column that each new one comes from.
struct Altered<'a> {
    old: &'a TableDef,
    sources: &'a [Option<usize>],
    /// `foreign_key_checks`.
    checks: bool,
    /// ALGORITHM=COPY was asked for, which has errors of its own.
    copies: bool,
    /// Values that a column does not take are errors.
    strict: bool,
    catalog: &'a Catalog,
}

impl Altered<'_> {
    /// The positions, before and behind it, of a column that it keeps.
    fn moved(&self, new: &TableDef, name: &str) -> Option<(usize, usize)> {
        let (at, _) = column(self.old, name)?;
        let to = self.sources.iter().position(|s| *s == Some(at))?;
        (to < new.columns.len()).then_some((at, to))
    }

    /// Whether a column is stored in another way now. MariaDB refuses that with `foreign_key_checks=0` too, but for another
    /// length.
    fn is_stored_otherwise(&self, new: &TableDef, (at, to): (usize, usize)) -> bool {
        let (old, new) = (&self.old.columns[at], &new.columns[to]);
        match old.ty.is_member() {
            true => !same_storage(old, new),
            false => old.ty != new.ty,
        }
    }

    /// A column of a key whose type changes keeps its name. Error 1846.
    fn not_renamed(&self, new: &TableDef, (at, to): (usize, usize)) -> SqlResult<()> {
        match same(&self.old.columns[at].name, &new.columns[to].name) {
            true => Ok(()),
            false => Err(copy_renames_keys()),
        }
    }

    /// The index of the old table that holds a key's columns and that the new one does not have.
    fn lost_index(&self, new: &TableDef, names: &[String]) -> &str {
        let columns = positions(self.old, names).unwrap_or_default();
        let lost = |i: &&IndexDef| {
            begins_with(i, &columns) && !new.indexes.iter().any(|n| same(&n.name, &i.name))
        };
        self.old.indexes.iter().find(lost).map_or("", |i| &i.name)
    }

    /// The table's own keys follow the new names of columns and of the table. Errors 1553 and 1832.
    fn own_keys(&self, new: &TableDef) -> SqlResult<Vec<ForeignKeyDef>> {
        let old = self.old;
        let mut keys = new.foreign_keys.clone();
        for key in &mut keys {
            let cascades = self.cascading_null(key);
            for name in &mut key.columns {
                let Some((at, to)) = self.moved(new, name) else {
                    if self.copies || !self.checks {
                        return Err(errors::FK_COLUMN_CANNOT_DROP.with([&name, &key.name]));
                    }
                    let holds = |i: &&IndexDef| {
                        let mut parts = i.columns.iter();
                        parts.any(|p| same(&old.columns[p.column].name, name))
                    };
                    let gone = old.indexes.iter().find(holds);
                    return Err(needed(gone.map_or(name.as_str(), |i| &i.name)));
                };
                let sets_null = [key.on_delete, key.on_update].contains(&ForeignAction::SetNull);
                let gets_null = sets_null || cascades.iter().any(|n| same(n, name));
                if gets_null && old.columns[at].nullable && !new.columns[to].nullable {
                    return Err(errors::FK_COLUMN_NOT_NULL.with([&name, &key.name]));
                }
                if self.is_stored_otherwise(new, (at, to)) {
                    self.not_renamed(new, (at, to))?;
                    return Err(errors::FK_COLUMN_CANNOT_CHANGE.with([&name, &key.name]));
                }
                name.clone_from(&new.columns[to].name);
            }
        }
        Ok(keys)
    }

    /// The columns of a key that may get NULL by ON UPDATE CASCADE, which strict modes don't have in a column that is NOT NULL.
    fn cascading_null(&self, key: &ForeignKeyDef) -> Vec<String> {
        if !self.strict || key.on_update != ForeignAction::Cascade {
            return Vec::new();
        }
        let parent = self.catalog.table(&key.parent_db, &key.parent);
        let nullable = |name: &String| {
            let parents = parent.and_then(|t| column(&t.def, name));
            parents.is_some_and(|(_, c)| c.nullable)
        };
        let pairs = key.columns.iter().zip(&key.parent_columns);
        let pairs = pairs.filter(|(_, parents)| nullable(parents));
        pairs.map(|(own, _)| own.clone()).collect()
    }

    /// Whether a column that may be NULL from now on would send NULL to a column that is NOT NULL.
    fn sends_null(&self, key: &ForeignKeyDef, child: &TableDef, at: usize) -> bool {
        let takes = |name| column(child, name).is_none_or(|(_, c)| c.nullable);
        self.strict && key.on_update == ForeignAction::Cascade && !takes(&key.columns[at])
    }

    /// Whether a key of another table allows what becomes of the columns that it refers to. Errors 1829 and 1833.
    fn check_child(&self, new: &TableDef, child: &TableDef, key: &ForeignKeyDef) -> SqlResult<()> {
        for (number, name) in key.parent_columns.iter().enumerate() {
            let Some((at, to)) = self.moved(new, name) else {
                let index = self.lost_index(new, &key.parent_columns);
                // A primary key that loses a column is made anew by a copy.
                if self.checks && !self.copies && index != "PRIMARY" {
                    return Err(needed(index));
                }
                return Err(errors::FK_COLUMN_CANNOT_DROP_CHILD.text(format!(
                    "Cannot drop column '{name}': needed in a foreign key constraint '{}' of table {}.{}",
                    key.name,
                    quote_ident(&child.db),
                    quote_ident(&child.name)
                )));
            };
            let loosened = !self.old.columns[at].nullable && new.columns[to].nullable;
            let sends_null = loosened && self.sends_null(key, child, number);
            if sends_null || self.is_stored_otherwise(new, (at, to)) {
                self.not_renamed(new, (at, to))?;
                return Err(errors::FK_COLUMN_CANNOT_CHANGE_CHILD.text(format!(
                    "Cannot change column '{name}': used in a foreign key constraint '{}' of table '{}.{}'",
                    key.name, child.db, child.name
                )));
            }
        }
        Ok(())
    }

    /// Makes the keys of a table that refer to this one follow its new names.
    fn point_keys(&self, new: &TableDef, child: &mut TableDef) {
        for key in &mut child.foreign_keys {
            if key.parent_db != self.old.db || key.parent != self.old.name {
                continue;
            }
            for name in &mut key.parent_columns {
                if let Some((_, to)) = self.moved(new, name) {
                    name.clone_from(&new.columns[to].name);
                }
            }
        }
        let (from, to) = ((&self.old.db, &self.old.name), (&new.db, &new.name));
        point_keys(child, from, to);
    }

    /// The changes of tables whose keys refer to this one by a name that is another now. `children`: they, and their keys.
    fn followers(&self, new: &TableDef, children: &[(Arc<Table>, usize)]) -> Vec<CatalogChange> {
        let mut changes: Vec<CatalogChange> = Vec::new();
        for (at, (child, _)) in children.iter().enumerate() {
            if children[..at].iter().any(|(c, _)| c.def.id == child.def.id) {
                continue; // for another of its keys
            }
            let mut def = child.def.clone();
            self.point_keys(new, &mut def);
            if def != child.def {
                changes.push(CatalogChange::AlterTable {
                    db: def.db.clone(),
                    name: def.name.clone(),
                    was: Box::new(child.def.clone()),
                    def,
                });
            }
        }
        changes
    }

    /// An index of the new table begins with a key's columns. Error 1553.
    fn check_index(&self, new: &TableDef, names: &[String]) -> SqlResult<()> {
        let holds = |c: Vec<usize>| new.indexes.iter().any(|i| begins_with(i, &c));
        match positions(new, names).is_some_and(holds) {
            true => Ok(()),
            false => Err(needed(self.lost_index(new, names))),
        }
    }
}

/// What an ALTER TABLE leaves of the foreign keys that a table has, and whether those that refer to it allow it. `sources`: the
/// old column that each new one comes from. Gives the changes of other tables, whose keys follow new names.
pub(super) fn after_alter(
    catalog: &Catalog,
    old: &TableDef,
    new: &mut TableDef,
    sources: &[Option<usize>],
    (env, copies): (&StatementEnv, bool),
) -> SqlResult<Vec<CatalogChange>> {
    let altered = Altered {
        old,
        sources,
        checks: env.foreign_key_checks,
        copies,
        strict: store_mode(env, false, false).strict,
        catalog,
    };
    let own = |k: &&ForeignKeyDef| (&k.parent_db, &k.parent) == (&old.db, &old.name);
    for key in new.foreign_keys.iter().filter(own) {
        altered.check_child(new, old, key)?;
    }
    new.foreign_keys = altered.own_keys(new)?;
    follow_table(&mut new.foreign_keys, &old.name, &new.name);
    let named = new.clone();
    altered.point_keys(&named, new);
    let mut children = catalog.references_to(&old.db, &old.name);
    children.retain(|(child, _)| child.def.id != old.id);
    for (child, number) in &children {
        altered.check_child(new, &child.def, &child.def.foreign_keys[*number])?;
    }
    // Indexes that a declared one has taken the place of.
    let declared: Vec<IndexDef> = new.indexes.iter().filter(|i| !i.implied).cloned().collect();
    new.indexes.retain(|i| {
        let columns: Vec<usize> = i.columns.iter().map(|p| p.column).collect();
        !(i.implied && declared.iter().any(|d| begins_with(d, &columns)))
    });
    for key in &new.foreign_keys {
        altered.check_index(new, &key.columns)?;
    }
    for (child, number) in &children {
        let mut child = child.def.clone();
        altered.point_keys(new, &mut child);
        altered.check_index(new, &child.foreign_keys[*number].parent_columns)?;
    }
    Ok(altered.followers(new, &children))
}

fn same(a: &str, b: &str) -> bool {
    a.same_name(b)
}

fn same_storage(a: &ColumnDef, b: &ColumnDef) -> bool {
    a.ty == b.ty || (a.ty.is_string() && comparable(a, b))
}

/// Error 1846: a statement that MariaDB does by a copy of the rows renames a column of a foreign key.
pub(super) fn copy_renames_keys() -> SqlError {
    errors::ALTER_OPERATION_NOT_SUPPORTED_REASON.text(
        "ALGORITHM=COPY is not supported. Reason: Columns participating in a foreign key are renamed. Try ALGORITHM=INPLACE".to_string(),
    )
}

/// Error 1553.
fn needed(index: &str) -> SqlError {
    errors::DROP_INDEX_FK.with([&index])
}

/// Error 1901 for a stored column that is made of what a cascade changes, as in InnoDB. Virtual ones get their new values with
/// the cascade.
pub(super) fn check_cascades(def: &TableDef) -> SqlResult<()> {
    let changes = |k: &&ForeignKeyDef| {
        k.on_update == ForeignAction::Cascade
            || [k.on_delete, k.on_update].contains(&ForeignAction::SetNull)
    };
    let changing = def.foreign_keys.iter().filter(changes);
    let changed: Vec<usize> = changing
        .filter_map(|k| positions(def, &k.columns))
        .flatten()
        .collect();
    let is_stored = |c: &ColumnDef| c.generated.as_ref().is_some_and(|g| g.stored);
    if changed.is_empty() || !def.columns.iter().any(is_stored) {
        return Ok(());
    }
    let table = Table::made(TableDef {
        foreign_keys: Vec::new(),
        sequence: false,
        merge: None,
        period: None,
        declared: None,
        ..def.clone()
    })?;
    // A column may be made of generated ones before it.
    let mut changed = changed;
    for (i, c) in def.columns.iter().enumerate() {
        let Some(g) = &c.generated else { continue };
        let mut used = Vec::new();
        bind_text(&g.expr, &table)?.for_each_column(&mut |c| used.push(c));
        let Some(by) = used.iter().find(|c| changed.contains(c)) else {
            continue;
        };
        if g.stored {
            return Err(errors::GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED.text(format!(
                "Function or expression '{}' cannot be used in the GENERATED ALWAYS AS clause of {}",
                def.columns[*by].name,
                quote_ident(&c.name)
            )));
        }
        changed.push(i);
    }
    Ok(())
}
