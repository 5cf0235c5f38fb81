//! ALTER TABLE and RENAME TABLE: what the new definition is, and whether the rows must be written anew for it.

use super::column::{check_auto_increment, check_row_size, column_def, some_are_visible};
use super::database::reserved_schema;
use super::foreign::after_alter;
use crate::ast::{
    AlterAction, ColumnPlace, ColumnSpec, DropKind, ForeignKeySpec, IndexSpec, TableElements,
};
use crate::ddl::constraint;
use crate::ddl::index::{cant_drop, index_def, note_twice, prefix_of};
use crate::ddl::run::engine_name;
use crate::ddl::run::{Run, db_of};
use crate::exec::dml::duplicate_entry;
use crate::planner::resolve::no_such_table;
use crate::quote::quote_ident;
use crate::show::index_rank;
use crate::virtual_tables::INFORMATION_SCHEMA;
use narwal_engine::{
    CatalogChange, ColumnDef, DefaultDef, EngineError, IndexColumn, IndexDef, Table, TableDef,
    ViewDef, same_rows,
};
use narwal_syntax::ast::TableName;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{Collation, SqlError, SqlResult, TypeKind};
use std::collections::HashMap;
use std::sync::Arc;

/// A column of the new definition.
pub(super) struct NewColumn {
    pub(super) def: ColumnDef,
    /// The old column that its values come from; `None`: it is new.
    pub(super) from: Option<usize>,
    /// NULL was written in a new definition.
    explicit_null: bool,
}

/// A new definition in the making.
struct Draft<'a> {
    old: &'a TableDef,
    columns: Vec<NewColumn>,
    /// Names of old indexes that go.
    dropped: Vec<String>,
    renamed: Vec<(String, String)>,
    /// Names of old indexes, and whether they are IGNORED from now on.
    ignored: Vec<(String, bool)>,
    added: Vec<IndexSpec>,
    foreign: Vec<ForeignKeySpec>,
    collation: Collation,
    def: TableDef,
}

fn same(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

fn unknown_column(column: &str, table: &str) -> SqlError {
    errors::BAD_FIELD_ERROR.with([&column, &table])
}

fn duplicate_column(column: &str) -> SqlError {
    errors::DUP_FIELDNAME.with([&column])
}

fn cant_drop_what(what: &str, name: &str) -> SqlError {
    errors::CANT_DROP_FIELD_OR_KEY.with([&what, &quote_ident(name)])
}

/// The database that a table is to move to is not there.
fn cant_rename(from: (&str, &str), to: (&str, &str)) -> SqlError {
    errors::ERROR_ON_RENAME.text(format!(
            "Error on rename of './{}/{}' to './{}/{}' (errno: 168 \"Unknown (generic) error from engine\")",
            from.0, from.1, to.0, to.1
        ))
}

fn table_exists(name: &str) -> SqlError {
    errors::TABLE_EXISTS_ERROR.with([&name])
}

impl Run<'_> {
    /// ALTER TABLE. Gives the number of rows that MariaDB would say it copied.
    pub(super) fn alter_table(
        &self,
        ignore: bool,
        if_exists: bool,
        table: &TableName,
        actions: &[AlterAction],
    ) -> SqlResult<u64> {
        if db_of(table, self.env)?.eq_ignore_ascii_case(INFORMATION_SCHEMA) {
            reserved_schema(INFORMATION_SCHEMA, self.env)?;
        }
        match self.table(table) {
            Ok(t) => self.alter(t, actions, ignore),
            Err(e) if if_exists && e.code == codes::NO_SUCH_TABLE => {
                self.env
                    .push_condition(crate::WarningLevel::Error, e.code, e.message);
                Ok(0)
            }
            Err(e) => Err(e),
        }
    }

    pub(super) fn alter(
        &self,
        table: &Arc<Table>,
        actions: &[AlterAction],
        ignore: bool,
    ) -> SqlResult<u64> {
        let old = &table.def;
        if let [AlterAction::RenameTo(to)] = actions
            && !table.temporary
            && !self.catalog.references_to(&old.db, &old.name).is_empty()
        {
            // Keys of other tables follow.
            let from = TableName {
                db: Some(old.db.to_string()),
                name: old.name.to_string(),
            };
            return self.rename_tables(false, &[(from, to.clone())]);
        }
        let about_rows = |a: &AlterAction| {
            !matches!(
                a,
                AlterAction::Options(_)
                    | AlterAction::RenameTo(_)
                    | AlterAction::KeysNoOp
                    | AlterAction::Algorithm(_)
                    | AlterAction::Lock(_)
            )
        };
        if old.sequence && actions.iter().any(about_rows) {
            return Err(super::sequence::wrong_structure(table));
        }
        let draft = self.draft(old, actions)?;
        let mut next = None;
        let mut only_copy = false;
        let mut lock_none = false;
        let mut def = draft.def;
        for a in actions {
            match a {
                AlterAction::Options(o) => next = o.auto_increment.or(next),
                AlterAction::Algorithm(a) => match a.as_str() {
                    "DEFAULT" | "COPY" => only_copy = false,
                    "INPLACE" | "NOCOPY" | "INSTANT" => only_copy = true,
                    a => {
                        return Err(errors::UNKNOWN_ALTER_ALGORITHM.with([&a]));
                    }
                },
                AlterAction::Lock(l) => match l.as_str() {
                    "DEFAULT" | "SHARED" | "EXCLUSIVE" => lock_none = false,
                    "NONE" => lock_none = true,
                    l => {
                        return Err(errors::UNKNOWN_ALTER_LOCK.with([&l]));
                    }
                },
                AlterAction::KeysNoOp => self.env.note(
                    codes::ILLEGAL_HA,
                    format!(
                        "Storage engine {} of the table `{}`.`{}` doesn't have this option",
                        old.engine, old.db, old.name
                    ),
                ),
                AlterAction::OrderBy if old.indexes.iter().any(|i| i.name == "PRIMARY") => {
                    self.env.warn(
                        codes::UNKNOWN_ERROR,
                        format!(
                            "ORDER BY ignored as there is a user-defined clustered index in the table '{}'",
                            old.name
                        ),
                    );
                }
                _ => {}
            }
        }
        let sources = draft.columns;
        for c in &sources {
            if let Some(was) = c.from.map(|f| &old.columns[f])
                && !was.ty.may_become(&c.def.ty)
            {
                let (from, to) = (was.ty.family_name(), c.def.ty.family_name());
                return Err(SqlError::cannot_cast(
                    &from,
                    &to,
                    &old.db,
                    &old.name,
                    &c.def.name,
                ));
            }
        }
        let retyped = sources.iter().any(|c| {
            c.from
                .is_some_and(|f| copies_in_mariadb(&old.columns[f], &c.def))
        });
        let primary = |d: &TableDef| d.indexes.iter().any(|i| i.name == "PRIMARY");
        // A temporary table is copied for anything but a new name.
        let temporary = table.temporary
            && !(actions.iter())
                .all(|a| matches!(a, AlterAction::RenameTo(_) | AlterAction::KeysNoOp));
        let copied = retyped
            || ignore
            || temporary
            || (primary(old) && !primary(&def))
            || def.checks.iter().any(|c| !old.checks.contains(c))
            || actions.iter().any(|a| {
                matches!(a, AlterAction::OrderBy)
                    || matches!(a, AlterAction::Algorithm(a) if a == "COPY")
            });
        if retyped && only_copy {
            return Err(errors::ALTER_OPERATION_NOT_SUPPORTED_REASON.text(format!(
                    "ALGORITHM={} is not supported. Reason: Cannot change column type. Try ALGORITHM=COPY",
                    actions
                        .iter()
                        .rev()
                        .find_map(|a| match a {
                            AlterAction::Algorithm(a) => Some(a.as_str()),
                            _ => None,
                        })
                        .unwrap_or("INPLACE")
                )));
        }
        let in_place = same_rows(old, &def)
            && !temporary
            && sources.iter().enumerate().all(|(i, c)| {
                c.from == Some(i)
                    && (c.def.nullable || !old.columns[i].nullable)
                    && (!c.def.auto_increment || old.columns[i].auto_increment)
                    && c.def.generated == old.columns[i].generated
                    && (c.def.check.is_none() || c.def.check == old.columns[i].check)
            })
            && def.checks.iter().all(|c| old.checks.contains(c))
            && (draft.foreign.is_empty() || !self.env.foreign_key_checks);
        let fills = def.indexes.iter().any(|i| i.id == 0);
        if lock_none && (!in_place || fills) && self.db.table_rows(table) > 0 {
            return Err(errors::ALTER_OPERATION_NOT_SUPPORTED_REASON.text("LOCK=NONE is not supported. Reason: Writers of the table wait while its rows are read for this change. Try LOCK=SHARED"
                    .to_string()));
        }
        if !in_place {
            if sources.iter().any(|c| c.def.auto_increment) {
                let now = self.db.auto_increment(table).max(1);
                let kept = sources
                    .iter()
                    .any(|c| c.def.auto_increment && c.from.is_some());
                def.auto_increment_start = match next {
                    Some(n) => n,
                    None if kept => now,
                    None => 1,
                };
            }
            let sources: Vec<Option<usize>> = sources.iter().map(|c| c.from).collect();
            let verify = self.env.foreign_key_checks && !draft.foreign.is_empty();
            let rows = self.rebuild(table, def, &sources, ignore, verify)?;
            return Ok(if copied || verify { rows } else { 0 });
        }
        let changed = def != *old;
        let mut changes = Vec::new();
        if changed {
            changes.push(CatalogChange::AlterTable {
                db: old.db.clone(),
                name: old.name.clone(),
                was: Box::new(old.clone()),
                def: def.clone(),
            });
        }
        if let (Some(n), Some(column)) = (next, table.auto_increment) {
            let seen = self.db.auto_increment(table);
            let used = self.largest(table, column)?;
            changes.push(CatalogChange::SetAutoIncrement {
                db: def.db.clone(),
                name: def.name.clone(),
                next: n.max(used.saturating_add(1)).max(1),
                seen,
            });
        }
        match self.submit(self.default_db(), self.text.to_string(), changes, false) {
            Err(EngineError::Duplicate { index, existing_pk }) => {
                Err(self.duplicate_in_new_index(table, &def, index, &existing_pk)?)
            }
            r => {
                r?;
                Ok(if copied { self.db.table_rows(table) } else { 0 })
            }
        }
    }

    /// The error of a new unique index over rows that are not.
    fn duplicate_in_new_index(
        &self,
        table: &Arc<Table>,
        def: &TableDef,
        index: usize,
        pk: &[u8],
    ) -> SqlResult<SqlError> {
        let plain = || errors::DUP_ENTRY.text("Duplicate entry");
        let others = def.indexes.iter().filter(|i| i.name != "PRIMARY");
        let Some(ix) = index.checked_sub(1).and_then(|n| others.into_iter().nth(n)) else {
            return Ok(plain());
        };
        let mut txn = self.db.begin(self.options.clone());
        let Some(row) = txn.get(table, pk)? else {
            return Ok(plain());
        };
        let parts = ix.columns.iter().map(|c| (c.column, c.prefix));
        Ok(duplicate_entry(table, &ix.name, parts, &row, self.env))
    }

    /// Works out the new definition.
    fn draft<'t>(&self, old: &'t TableDef, actions: &[AlterAction]) -> SqlResult<Draft<'t>> {
        let mut d = Draft {
            old,
            columns: Vec::with_capacity(old.columns.len()),
            dropped: Vec::new(),
            renamed: Vec::new(),
            ignored: Vec::new(),
            added: Vec::new(),
            foreign: Vec::new(),
            collation: old.collation,
            def: old.clone(),
        };
        let mut convert = None;
        for a in actions {
            match a {
                AlterAction::Options(o) => self.option(&mut d, o)?,
                AlterAction::ConvertTo(c) => {
                    convert = Some(*c);
                    d.collation = *c;
                }
                AlterAction::RenameTo(to) => {
                    let db = db_of(to, self.env)?;
                    if self.catalog.database(db).is_none() {
                        let from = (old.db.as_str(), old.name.as_str());
                        return Err(cant_rename(from, (db, &to.name)));
                    }
                    if (db, to.name.as_str()) != (old.db.as_str(), old.name.as_str())
                        && self.catalog.has(db, &to.name)
                    {
                        return Err(table_exists(&to.name));
                    }
                    d.def.db = db.to_string();
                    d.def.name = to.name.clone();
                }
                _ => {}
            }
        }
        d.def.collation = d.collation;
        self.columns(&mut d, actions, convert)?;
        self.indexes(&mut d)?;
        let sources: Vec<Option<usize>> = d.columns.iter().map(|c| c.from).collect();
        let checks = self.env.foreign_key_checks;
        after_alter(self.catalog, old, &mut d.def, &sources, checks)?;
        self.add_foreign_keys(&mut d.def, &d.foreign)?;
        check_auto_increment(&d.def.columns, &d.def.indexes)?;
        check_row_size(&d.def.columns)?;
        if d.def != *d.old {
            constraint::check_expressions(&d.def)?;
        }
        Ok(d)
    }

    fn option(&self, d: &mut Draft<'_>, o: &crate::ast::TableOptions) -> SqlResult<()> {
        if let Some(e) = &o.engine {
            d.def.engine = engine_name(Some(e), &d.old.name, self.env)?;
        }
        if let Some(c) = &o.comment {
            d.def.comment.clone_from(c);
        }
        if let Some(c) = o.collation {
            d.collation = c;
        }
        Ok(())
    }

    /// The new columns in order.
    fn columns(
        &self,
        d: &mut Draft<'_>,
        actions: &[AlterAction],
        convert: Option<Collation>,
    ) -> SqlResult<()> {
        let old = d.old;
        let at = |name: &str| old.columns.iter().position(|c| same(&c.name, name));
        let missing = |name: &str, if_exists: bool| -> SqlResult<()> {
            let e = unknown_column(name, &old.name);
            if !if_exists {
                return Err(e);
            }
            self.env.note(e.code, e.message);
            Ok(())
        };
        let mut gone = vec![false; old.columns.len()];
        let mut changed: Vec<Option<&AlterAction>> = vec![None; old.columns.len()];
        for a in actions {
            match a {
                AlterAction::Drop {
                    kind,
                    name,
                    if_exists,
                } => self.drop_something(d, *kind, name, *if_exists, &mut gone)?,
                AlterAction::Change {
                    column, if_exists, ..
                }
                | AlterAction::RenameColumn {
                    from: column,
                    if_exists,
                    ..
                } => match at(column).filter(|i| !gone[*i]) {
                    Some(i) => changed[i] = Some(a),
                    None => missing(column, *if_exists)?,
                },
                AlterAction::RenameIndex {
                    from,
                    to,
                    if_exists,
                } => {
                    let known = |n: &str| old.indexes.iter().any(|i| same(&i.name, n));
                    if !known(from) || same(from, "PRIMARY") {
                        let text = format!("Key '{from}' doesn't exist in table '{}'", old.name);
                        if !if_exists {
                            return Err(errors::KEY_DOES_NOT_EXISTS.text(text));
                        }
                        self.env.note(codes::KEY_DOES_NOT_EXISTS, text);
                        continue;
                    }
                    if known(to) && !same(from, to) {
                        return Err(errors::DUP_KEYNAME.with([&to]));
                    }
                    d.renamed.push((from.clone(), to.clone()));
                }
                AlterAction::IgnoreIndex {
                    name,
                    ignored,
                    if_exists,
                } => {
                    if *ignored && same(name, "PRIMARY") {
                        return Err(errors::PK_INDEX_CANT_BE_IGNORED.plain());
                    }
                    if !old.indexes.iter().any(|i| same(&i.name, name)) {
                        let missing = errors::KEY_DOES_NOT_EXISTS.with([name, &old.name]);
                        if !if_exists {
                            return Err(missing);
                        }
                        self.env.note(missing.code, missing.message.to_string());
                        continue;
                    }
                    d.ignored.push((name.clone(), *ignored));
                }
                _ => {}
            }
        }
        for (i, c) in old.columns.iter().enumerate() {
            if gone[i] {
                continue;
            }
            let mut column = NewColumn {
                def: c.clone(),
                from: Some(i),
                explicit_null: false,
            };
            match changed[i] {
                Some(AlterAction::Change { place: Some(_), .. }) => continue,
                Some(AlterAction::Change { elements, .. }) => {
                    column = self.changed(d, elements, i)?;
                }
                Some(AlterAction::RenameColumn { to, .. }) => column.def.name.clone_from(to),
                _ => {
                    if let Some(c) = convert.filter(|_| column.def.ty.has_charset()) {
                        let spec = ColumnSpec {
                            collation: Some(c),
                            ..plain_spec(column.def.clone(), None)
                        };
                        column.def = self.checked(&spec, d)?;
                    }
                }
            }
            d.columns.push(column);
        }
        for a in actions {
            match a {
                AlterAction::Add {
                    elements,
                    place,
                    if_not_exists,
                } => self.add(d, elements, place.as_ref(), *if_not_exists, &gone)?,
                AlterAction::Change {
                    column,
                    elements,
                    place: Some(place),
                    ..
                } => {
                    if let Some(i) = at(column).filter(|i| !gone[*i]) {
                        let c = self.changed(d, elements, i)?;
                        insert_at(&mut d.columns, c, Some(place), &old.name)?;
                    }
                }
                AlterAction::SetDefault {
                    column,
                    default,
                    if_exists,
                } => {
                    let found =
                        at(column).and_then(|i| d.columns.iter().position(|c| c.from == Some(i)));
                    let Some(n) = found else {
                        missing(column, *if_exists)?;
                        continue;
                    };
                    let mut def = d.columns[n].def.clone();
                    let (constant, expr) = match default.clone() {
                        None => (DefaultDef::None, None),
                        Some(Ok(d)) => (d, None),
                        Some(Err(e)) => (DefaultDef::None, Some(e)),
                    };
                    def.default = constant;
                    let spec = plain_spec(def, expr);
                    d.columns[n].def = self.checked(&spec, d)?;
                }
                _ => {}
            }
        }
        follow_names(d);
        if d.columns.is_empty() {
            return Err(errors::CANT_REMOVE_ALL_FIELDS.plain());
        }
        for (i, c) in d.columns.iter().enumerate() {
            if d.columns[..i]
                .iter()
                .any(|o| same(&o.def.name, &c.def.name))
            {
                return Err(duplicate_column(&c.def.name));
            }
        }
        Ok(())
    }

    fn checked(&self, spec: &ColumnSpec, d: &Draft<'_>) -> SqlResult<ColumnDef> {
        column_def(spec, d.collation, &d.old.db, &d.old.name, self.env)
    }

    /// The new form of an old column; notes what indexes it asks for.
    fn changed(
        &self,
        d: &mut Draft<'_>,
        elements: &TableElements,
        from: usize,
    ) -> SqlResult<NewColumn> {
        d.added.extend(elements.indexes.iter().cloned());
        let Some(spec) = elements.columns.first() else {
            return Err(SqlError::unsupported("this ALTER TABLE"));
        };
        Ok(NewColumn {
            def: self.checked(spec, d)?,
            from: Some(from),
            explicit_null: spec.null_given && spec.def.nullable,
        })
    }

    fn add(
        &self,
        d: &mut Draft<'_>,
        elements: &TableElements,
        place: Option<&ColumnPlace>,
        if_not_exists: bool,
        gone: &[bool],
    ) -> SqlResult<()> {
        for spec in &elements.checks {
            let known = |n: &String| d.def.checks.iter().any(|c| same(&c.name, n));
            if let Some(n) = spec
                .name
                .as_ref()
                .filter(|n| spec.if_not_exists && known(n))
            {
                self.env.note(
                    codes::DUP_CONSTRAINT_NAME,
                    format!("Duplicate CHECK constraint name '{n}'"),
                );
                continue;
            }
            let one = std::slice::from_ref(spec);
            let made = constraint::checks(one, &d.def.checks, &d.old.name)?;
            d.def.checks.extend(made);
        }
        for spec in &elements.foreign_keys {
            let name = spec.name.as_ref().or(spec.index.as_ref());
            let known = |n: &&String| d.def.foreign_keys.iter().any(|k| same(&k.name, n));
            match name.filter(|n| spec.if_not_exists && known(n)) {
                Some(n) => self
                    .env
                    .note(codes::DUP_KEYNAME, format!("Duplicate key name '{n}'")),
                None => d.foreign.push(spec.clone()),
            }
        }
        for spec in &elements.columns {
            let name = &spec.def.name;
            let known = d
                .old
                .columns
                .iter()
                .zip(gone)
                .any(|(c, gone)| !gone && same(&c.name, name));
            if if_not_exists && known {
                let e = duplicate_column(name);
                self.env.note(e.code, e.message);
                return Ok(());
            }
            let c = NewColumn {
                def: self.checked(spec, d)?,
                from: None,
                explicit_null: spec.null_given && spec.def.nullable,
            };
            insert_at(&mut d.columns, c, place, &d.old.name)?;
        }
        d.added.extend(elements.indexes.iter().cloned());
        Ok(())
    }

    fn drop_something(
        &self,
        d: &mut Draft<'_>,
        kind: DropKind,
        name: &str,
        if_exists: bool,
        gone: &mut [bool],
    ) -> SqlResult<()> {
        let index = d.old.indexes.iter().find(|i| same(&i.name, name));
        let e = match kind {
            DropKind::Column => {
                let at = d.old.columns.iter().position(|c| same(&c.name, name));
                if let Some(i) = at.filter(|i| !gone[*i]) {
                    gone[i] = true;
                    return Ok(());
                }
                cant_drop_what("COLUMN", name)
            }
            DropKind::Index => {
                if let Some(i) = index.filter(|i| !d.dropped.contains(&i.name)) {
                    d.dropped.push(i.name.clone());
                    return Ok(());
                }
                errors::CANT_DROP_FIELD_OR_KEY.text(cant_drop(name))
            }
            DropKind::Constraint => {
                let before = d.def.checks.len() + d.def.foreign_keys.len();
                d.def.checks.retain(|c| !same(&c.name, name));
                d.def.foreign_keys.retain(|c| !same(&c.name, name));
                if d.def.checks.len() + d.def.foreign_keys.len() < before {
                    return Ok(());
                }
                if let Some(i) = index.filter(|i| i.unique) {
                    d.dropped.push(i.name.clone());
                    return Ok(());
                }
                cant_drop_what("CONSTRAINT", name)
            }
            DropKind::ForeignKey => {
                let before = d.def.foreign_keys.len();
                d.def.foreign_keys.retain(|c| !same(&c.name, name));
                if d.def.foreign_keys.len() < before {
                    return Ok(());
                }
                cant_drop_what("FOREIGN KEY", name)
            }
        };
        if !if_exists {
            return Err(e);
        }
        self.env.note(e.code, e.message);
        Ok(())
    }

    /// The new indexes; moves the columns into the definition.
    fn indexes(&self, d: &mut Draft<'_>) -> SqlResult<()> {
        let mut kept: Vec<IndexDef> = Vec::new();
        for ix in &d.old.indexes {
            if d.dropped.contains(&ix.name) {
                continue;
            }
            let mut ix = ix.clone();
            let mut parts: Vec<IndexColumn> = Vec::with_capacity(ix.columns.len());
            for p in &ix.columns {
                let Some(at) = d.columns.iter().position(|c| c.from == Some(p.column)) else {
                    if ix.unique && ix.columns.len() > 1 {
                        let name = &d.old.columns[p.column].name;
                        return Err(errors::KEY_COLUMN_DOES_NOT_EXIST.with([&name]));
                    }
                    continue;
                };
                let (was, now) = (&d.old.columns[p.column], &d.columns[at].def);
                let mut prefix = p.prefix;
                if was.ty != now.ty {
                    let full = now.ty.max_length().unwrap_or(0);
                    let given = prefix
                        .filter(|n| now.ty.is_string() && u64::from(*n) < full)
                        .map(u32::from);
                    let long = matches!(now.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
                    if given.is_none() && long && ix.name == "PRIMARY" {
                        return Err(errors::BLOB_KEY_WITHOUT_LENGTH.with([&now.name]));
                    }
                    prefix = prefix_of(&now.name, &now.ty, given, ix.unique, self.env)?;
                }
                parts.push(IndexColumn {
                    column: at,
                    prefix,
                    desc: p.desc,
                });
            }
            if parts.is_empty() {
                continue;
            }
            ix.columns = parts;
            if let Some((_, to)) = d.renamed.iter().find(|(from, _)| same(from, &ix.name)) {
                ix.name.clone_from(to);
            }
            for (_, ignored) in d.ignored.iter().filter(|(name, _)| same(name, &ix.name)) {
                ix.ignored = *ignored;
            }
            kept.push(ix);
        }
        let mut columns: Vec<ColumnDef> = d.columns.iter().map(|c| c.def.clone()).collect();
        some_are_visible(&columns)?;
        // A primary key makes its columns NOT NULL, before indexes look at them.
        let of_new_key = |at: usize| {
            let name = &d.columns[at].def.name;
            let mut new = d.added.iter().filter(|i| i.primary);
            new.any(|i| i.columns.iter().any(|(n, ..)| same(n, name)))
        };
        let of_key: Vec<(usize, bool)> = kept
            .iter()
            .filter(|i| i.name == "PRIMARY")
            .flat_map(|i| i.columns.iter().map(|c| c.column))
            .chain(d.added.iter().filter(|i| i.primary).flat_map(|i| {
                i.columns
                    .iter()
                    .filter_map(|(n, ..)| columns.iter().position(|c| same(&c.name, n)))
            }))
            .map(|at| (at, of_new_key(at)))
            .collect();
        for (at, new) in of_key {
            if new && d.columns[at].explicit_null {
                return Err(errors::PRIMARY_CANT_HAVE_NULL.plain());
            }
            columns[at].nullable = false;
            if columns[at].default == DefaultDef::Null {
                columns[at].default = DefaultDef::None;
            }
            d.columns[at].def = columns[at].clone();
        }
        for spec in &d.added {
            let known = match &spec.name {
                _ if spec.primary => kept.iter().any(|i| i.name == "PRIMARY"),
                Some(n) => d
                    .old
                    .indexes
                    .iter()
                    .any(|i| same(&i.name, n) && !d.dropped.contains(&i.name)),
                None => false,
            };
            if spec.primary && known {
                let text = "Multiple primary key defined";
                if !spec.if_not_exists {
                    return Err(errors::MULTIPLE_PRI_KEY.text(text));
                }
                self.env.note(codes::MULTIPLE_PRI_KEY, text);
                continue;
            }
            if let (true, true, Some(n)) = (known, spec.if_not_exists, &spec.name) {
                self.env
                    .note(codes::DUP_KEYNAME, format!("Duplicate key name '{n}'"));
                continue;
            }
            let ix = index_def(spec, &columns, &kept, self.env)?;
            note_twice(&ix, &kept, self.env);
            kept.push(ix);
        }
        if kept.len() > 64 {
            return Err(errors::TOO_MANY_KEYS.text("Too many keys specified; max 64 keys allowed"));
        }
        kept.sort_by_key(|i| index_rank(i, &columns));
        d.def.columns = columns;
        d.def.indexes = kept;
        Ok(())
    }

    /// RENAME TABLE.
    pub(super) fn rename_tables(
        &self,
        if_exists: bool,
        pairs: &[(TableName, TableName)],
    ) -> SqlResult<u64> {
        // What the names before this pair have come to mean.
        let mut now: HashMap<(String, String), Option<TableDef>> = HashMap::new();
        let mut views: HashMap<(String, String), Option<Arc<ViewDef>>> = HashMap::new();
        let mut changes = Vec::new();
        for (from, to) in pairs {
            let from = (db_of(from, self.env)?.to_string(), from.name.clone());
            let to = (db_of(to, self.env)?.to_string(), to.name.clone());
            let find = |at: &(String, String)| match now.get(at) {
                Some(found) => found.clone(),
                None => self.catalog.table(&at.0, &at.1).map(|t| t.def.clone()),
            };
            let view = match views.get(&from) {
                Some(v) => v.clone(),
                None => self.catalog.view(&from.0, &from.1).cloned(),
            };
            let taken = |at: &(String, String)| match views.get(at) {
                Some(v) => v.is_some(),
                None => self.catalog.view(&at.0, &at.1).is_some(),
            };
            if let Some(view) = view {
                if from.0 != to.0 {
                    return Err(errors::FORBID_SCHEMA_CHANGE.with([&from.0, &to.0]));
                }
                if find(&to).is_some() || taken(&to) {
                    return Err(table_exists(&to.1));
                }
                let mut def = (*view).clone();
                def.name.clone_from(&to.1);
                changes.push(CatalogChange::DropView {
                    db: from.0.clone(),
                    name: from.1.clone(),
                });
                changes.push(CatalogChange::PutView(def.clone()));
                views.insert(from, None);
                views.insert(to, Some(def.into()));
                continue;
            }
            let Some(mut def) = find(&from) else {
                let e = no_such_table(&from.0, &from.1);
                if !if_exists {
                    return Err(e);
                }
                self.env.note(e.code, e.message);
                continue;
            };
            if self.catalog.database(&to.0).is_none() {
                return Err(cant_rename((&from.0, &from.1), (&to.0, &to.1)));
            }
            if find(&to).is_some() || taken(&to) {
                return Err(table_exists(&to.1));
            }
            let was = Box::new(def.clone());
            let children = self.catalog.references_to(&from.0, &from.1);
            // Their keys follow.
            let mut followers: Vec<((String, String), TableDef)> = Vec::new();
            for (child, _) in children.iter().filter(|(t, _)| t.def.id != def.id) {
                if followers.iter().any(|(_, f)| f.id == child.def.id) {
                    continue; // for another of its keys
                }
                let name = (child.def.db.clone(), child.def.name.clone());
                let was = find(&name).filter(|found| found.id == child.def.id);
                let Some(was) = was else {
                    return Err(SqlError::unsupported(
                        "new names for a table and for one that refers to it in one statement",
                    ));
                };
                let mut follows = was.clone();
                for key in &mut follows.foreign_keys {
                    if (key.parent_db.as_str(), key.parent.as_str()) == (&from.0, &from.1) {
                        key.parent_db.clone_from(&to.0);
                        key.parent.clone_from(&to.1);
                    }
                }
                changes.push(CatalogChange::AlterTable {
                    db: name.0.clone(),
                    name: name.1.clone(),
                    was: Box::new(was),
                    def: follows.clone(),
                });
                followers.push((name, follows));
            }
            for key in &mut def.foreign_keys {
                if (key.parent_db.as_str(), key.parent.as_str()) == (&from.0, &from.1) {
                    key.parent_db.clone_from(&to.0);
                    key.parent.clone_from(&to.1);
                }
            }
            def.db.clone_from(&to.0);
            def.name.clone_from(&to.1);
            changes.push(CatalogChange::AlterTable {
                db: from.0.clone(),
                name: from.1.clone(),
                was,
                def: def.clone(),
            });
            now.insert(from, None);
            now.insert(to, Some(def));
            for (name, follows) in followers {
                now.insert(name, Some(follows));
            }
        }
        if !changes.is_empty() {
            self.submit(self.default_db(), self.text.to_string(), changes, false)?;
        }
        Ok(0)
    }
}

/// Expressions that stay name the columns by their new names.
fn follow_names(d: &mut Draft<'_>) {
    let old = d.old;
    let renamed: Vec<(&str, String)> = (d.columns.iter())
        .filter_map(|c| {
            let from = &old.columns[c.from?].name;
            (*from != c.def.name).then(|| (from.as_str(), c.def.name.clone()))
        })
        .collect();
    if renamed.is_empty() {
        return;
    }
    let follow = |text: &mut String| *text = constraint::with_new_names(text, &renamed);
    for c in &mut d.columns {
        let Some(before) = c.from.map(|i| &old.columns[i]) else {
            continue;
        };
        // What the statement itself says has the names that it means.
        if c.def.generated == before.generated
            && let Some(g) = &mut c.def.generated
        {
            follow(&mut g.expr);
        }
        if c.def.check == before.check
            && let Some(check) = &mut c.def.check
        {
            follow(check);
        }
        if c.def.default == before.default
            && let DefaultDef::Expr(e) = &mut c.def.default
        {
            follow(e);
        }
    }
    for check in &mut d.def.checks {
        if old.checks.contains(check) {
            follow(&mut check.expr);
        }
    }
}

fn insert_at(
    columns: &mut Vec<NewColumn>,
    c: NewColumn,
    place: Option<&ColumnPlace>,
    table: &str,
) -> SqlResult<()> {
    let at = match place {
        None => columns.len(),
        Some(ColumnPlace::First) => 0,
        Some(ColumnPlace::After(name)) => {
            1 + columns
                .iter()
                .position(|o| same(&o.def.name, name))
                .ok_or_else(|| unknown_column(name, table))?
        }
    };
    columns.insert(at, c);
    Ok(())
}

/// A column as it is, to be checked again.
fn plain_spec(def: ColumnDef, default: Option<narwal_syntax::ast::Expr>) -> ColumnSpec {
    ColumnSpec {
        collation: def.ty.has_charset().then_some(def.ty.collation),
        def,
        null_given: true,
        default,
        check: None,
        bin: false,
        json: false,
        generated: None,
    }
}

/// Whether MariaDB copies the table for this change of a column: then it reports the number of rows.
fn copies_in_mariadb(old: &ColumnDef, new: &ColumnDef) -> bool {
    use TypeKind::{VarBinary, VarChar};
    if new.auto_increment && !old.auto_increment {
        return true;
    }
    match (old.ty.kind, new.ty.kind) {
        _ if old.ty.collation.charset() != new.ty.collation.charset() => true,
        (VarChar(a), VarChar(b)) | (VarBinary(a), VarBinary(b)) => a > b,
        (a, b) => a != b || old.ty.unsigned != new.ty.unsigned,
    }
}
