//! Binding and planning UPDATE and DELETE of joins: a SELECT gives for each joined row the clustered keys of the
//! tables to change, and the new values.

use crate::bind::scope::{MergedView, Source};
use crate::expr::node::Expr;
use crate::plan::dml::{NewValue, Target, WriteJoinPlan};
use crate::plan::query::Rows;
use crate::plan::query::{Digits, Out};
use crate::plan::view_check::ViewCheck;
use crate::planner::condition::unknown_column;
use crate::planner::dml::apart_from;
use crate::planner::logical::Body;
use crate::planner::resolve::{JoinCheck, Resolver};
use crate::planner::subqueries::Subqueries;
use crate::planner::view_write::{joined, not_updatable_column, several_tables};
use crate::privilege::Privilege;
use narwal_engine::Table;
use narwal_syntax::SqlMode;
use narwal_syntax::ast::{
    Assignment, CastType, Expr as AstExpr, From, Select, SelectItem, SetValue, TableName,
    WriteJoin, WriteTargets,
};
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};
use std::sync::Arc;

/// A source of the join that gives rows, or a merged view.
struct Leaf {
    source: Source,
    /// Its table, if its rows can be changed.
    table: Option<Arc<Table>>,
}

impl Leaf {
    /// A view's definition and columns.
    fn view(&self) -> Option<&Arc<MergedView>> {
        self.source.view.as_ref()
    }
}

/// A table that is changed.
struct Changed {
    /// Its place among the sources.
    at: usize,
    sets: Vec<(usize, NewValue)>,
    /// The view that named it.
    through: Option<Arc<MergedView>>,
}

impl Resolver<'_> {
    /// Plans it.
    pub fn write_join(&mut self, w: &WriteJoin) -> SqlResult<WriteJoinPlan> {
        let named = match &w.targets {
            // Names are looked at before tables are opened: 1109 comes before 1146.
            WriteTargets::Delete(names) => self.deleted_refs(names, w.select.from.as_ref())?,
            WriteTargets::Update(_) => Vec::new(),
        };
        let leaves = self.leaves(&w.select)?;
        let mut select: Select = w.select.clone();
        let (mut found, delete) = match &w.targets {
            WriteTargets::Delete(names) => (deleted(&leaves, names, &named)?, true),
            WriteTargets::Update(list) => {
                let mut found = Vec::new();
                for a in list {
                    self.assignment(a, &leaves, &mut select, &mut found)?;
                }
                (found, false)
            }
        };
        found.sort_by_key(|f| f.at);
        let mut targets = Vec::with_capacity(found.len());
        let mut row_keys = Vec::with_capacity(found.len());
        let mut names = Vec::with_capacity(found.len());
        for changed in found {
            let at = changed.at;
            targets.push(self.changed_table(changed, &leaves[at], delete)?);
            // Merged views give no rows.
            row_keys.push((leaves[..at].iter()).filter(|l| l.view().is_none()).count());
            names.push(leaves[at].source.name.clone());
        }
        moved_twice(&targets, &names)?;
        // The checks stand behind the assigned values.
        let assigned = select.items.len();
        for check in targets.iter_mut().filter_map(|t| t.check.as_mut()) {
            check.joined.iter_mut().for_each(|n| *n += assigned);
        }
        let values = assigned + self.join_checks.borrow().len();
        self.row_keys.replace(row_keys);
        let mut query = self.select(&select)?;
        self.row_keys.take();
        if delete {
            for t in &targets {
                apart_from(
                    &t.table,
                    &query.subqueries,
                    &w.select.subqueries,
                    "DELETE",
                    false,
                )?;
            }
        }
        // The keys stand behind the columns of the join's sources.
        let columns: usize = leaves.iter().map(|l| l.source.width()).sum();
        for k in 0..targets.len() {
            query.items.push(Out::Column {
                column: columns + k,
                timestamp: false,
            });
        }
        query.digits = Digits::All;
        Ok(WriteJoinPlan {
            query,
            values,
            targets,
            behind: Vec::new(),
            delete,
            ignore: w.ignore,
        })
    }

    /// Which references of FROM a DELETE names. A name alone means an alias, or a table of the current database without
    /// one; a name with its database never means an alias.
    fn deleted_refs(&self, names: &[TableName], from: Option<&From>) -> SqlResult<Vec<usize>> {
        let mut refs = Vec::new();
        if let Some(from) = from {
            references(from, &mut refs);
        }
        if names.iter().any(|n| n.db.is_none()) {
            self.env.require_db()?;
        }
        let current = self.env.db.as_deref();
        let means = |name: &TableName, r: &From| match r {
            From::Table(t) => match (&t.alias, &name.db) {
                (Some(alias), None) => *alias == name.name,
                (Some(_), Some(_)) => false,
                (None, _) => {
                    let db = name.db.as_deref().or(current);
                    let of = t.name.db.as_deref().or(current);
                    t.name.name == name.name && db == of
                }
            },
            From::Query { alias, .. } => name.db.is_none() && *alias == name.name,
            From::JsonTable(t) => name.db.is_none() && t.alias == name.name,
            From::Set { .. } | From::Join(_) => false,
        };
        (names.iter())
            .map(|name| {
                let mut found = (refs.iter().enumerate()).filter(|(_, r)| means(name, r));
                match (found.next(), found.next()) {
                    (None, _) => Err(not_in_delete(&name.name)),
                    (Some(_), Some(_)) => Err(not_unique(&name.name)),
                    (Some((at, _)), None) => Ok(at),
                }
            })
            .collect()
    }

    /// Adds an assignment of UPDATE to those of its table. Its value becomes an item of the SELECT.
    fn assignment(
        &self,
        a: &Assignment,
        leaves: &[Leaf],
        select: &mut Select,
        found: &mut Vec<Changed>,
    ) -> SqlResult<()> {
        let (mut at, mut column) = assigned(leaves, a.table.as_deref(), &a.column)?;
        let through = leaves[at].view().cloned();
        if let Some(uses) = &mut *self.env.column_uses.borrow_mut() {
            let (db, name) = match &through {
                Some(v) => (&v.def.db, &v.def.name),
                None => {
                    let def = &leaves[at].source.table.def;
                    (&def.db, &def.name)
                }
            };
            uses.note(db, name, &a.column, Privilege::Update);
        }
        if let Some(v) = &through {
            let Some((s, c)) = v.columns[column].as_column() else {
                return Err(not_updatable_column(&a.column));
            };
            let other =
                |f: &Changed| f.at != s && f.through.as_ref().is_some_and(|t| Arc::ptr_eq(t, v));
            if found.iter().any(other) {
                return Err(several_tables(&v.def));
            }
            (at, column) = (s, c - leaves[s].source.base);
        }
        let Some(table) = &leaves[at].table else {
            return Err(not_updatable(&leaves[at].source.name, "UPDATE"));
        };
        if let Some(v) = &through {
            self.note_under(
                &v.def,
                table,
                &table.columns()[column].name,
                Privilege::Update,
            );
        }
        let value = match &a.value {
            SetValue::Default => NewValue::Default(self.default_in_update(table, column)?),
            SetValue::Ignore => return Err(SqlError::unsupported("IGNORE as a value here")),
            SetValue::Expr(e) => {
                // Text goes into a binary column as the bytes of its character set.
                let expr = match table.def.columns[column].ty.is_binary_string() {
                    true => AstExpr::Cast {
                        expr: Box::new(e.clone()),
                        ty: CastType::Binary(None),
                    },
                    false => e.clone(),
                };
                select.items.push(SelectItem::Expr {
                    expr,
                    alias: None,
                    text: String::new(),
                });
                NewValue::Given(select.items.len() - 1)
            }
        };
        let set = (column, value);
        let simultaneous = self.env.sql_mode.has(SqlMode::SIMULTANEOUS_ASSIGNMENT);
        if simultaneous
            && (found.iter()).any(|f| f.at == at && f.sets.iter().any(|s| s.0 == column))
        {
            let def = &table.def;
            return Err(
                errors::UPDATED_COLUMN_ONLY_ONCE.with([&def.name, &def.columns[column].name])
            );
        }
        match found.iter_mut().find(|f| f.at == at) {
            Some(f) => f.sets.push(set),
            None => found.push(Changed {
                at,
                sets: vec![set],
                through,
            }),
        }
        Ok(())
    }

    /// A table that is changed, with the privileges that this needs.
    fn changed_table(&self, changed: Changed, leaf: &Leaf, delete: bool) -> SqlResult<Target> {
        let Changed { sets, through, .. } = changed;
        let (privilege, verb) = match delete {
            true => (Privilege::Delete, "DELETE"),
            false => (Privilege::Update, "UPDATE"),
        };
        let Some(table) = leaf.table.clone() else {
            return Err(not_updatable(&leaf.source.name, verb));
        };
        let mut check = None;
        match &through {
            None if table.temporary => {}
            None => {
                let name = Some(&*leaf.source.name);
                self.need_as(&table.def.db, &table.def.name, name, privilege);
            }
            Some(v) => {
                self.need(&v.def.db, &v.def.name, privilege);
                self.need_under(&v.def, &table, privilege);
                if !delete {
                    let base = leaf.source.base;
                    let own = base..base + leaf.source.width();
                    let asked = ViewCheck::asked(v, base, |c| own.contains(&c));
                    check = asked.check;
                    if let Some(check) = &mut check {
                        self.check_joined(check, asked.joined, base, &sets)?;
                    }
                }
            }
        }
        let on_update = match delete {
            true => Vec::new(),
            false => touched(&table, &sets),
        };
        Ok(Target {
            table,
            sets,
            on_update,
            check,
        })
    }

    /// Conditions of CHECK OPTION with columns of several tables become values of the joined row, with what is assigned in
    /// the place of the columns that it is assigned to. Those that nothing is assigned to hold as before.
    fn check_joined(
        &self,
        check: &mut ViewCheck,
        conditions: Vec<Expr>,
        base: usize,
        sets: &[(usize, NewValue)],
    ) -> SqlResult<()> {
        for condition in conditions {
            let mut assigned = Vec::new();
            let mut default = false;
            condition.for_each_column(&mut |c| match sets
                .iter()
                .find(|(column, _)| base + column == c)
            {
                Some((_, NewValue::Given(item))) => assigned.push((c, *item)),
                Some(_) => default = true,
                None => {}
            });
            if default {
                return Err(SqlError::unsupported(
                    "DEFAULT under a CHECK OPTION over several tables",
                ));
            }
            if !assigned.is_empty() {
                let mut more = self.join_checks.borrow_mut();
                check.joined.push(more.len());
                more.push(JoinCheck {
                    condition,
                    assigned,
                });
            }
        }
        Ok(())
    }

    /// The sources of a join in the order of the text, merged views behind their tables.
    fn leaves(&self, select: &Select) -> SqlResult<Vec<Leaf>> {
        let subqueries = Subqueries::new(self, &select.subqueries);
        let plan = self.from(select.from.as_ref(), &subqueries, None)?;
        let stored = |rows: &Rows| matches!(rows, Rows::Stored);
        let mut writable = match &plan.body {
            Body::Nothing => Vec::new(),
            Body::One(r, _) => vec![stored(&r.rows)],
            Body::Join(leaves, _) => leaves.iter().map(|(r, _)| stored(&r.rows)).collect(),
        }
        .into_iter();
        let mut leaf = |source: Source| Leaf {
            table: (source.view.is_none() && writable.next() == Some(true))
                .then(|| source.table.clone()),
            source,
        };
        Ok(plan.sources.into_iter().map(&mut leaf).collect())
    }
}

/// The tables that a DELETE names; `places` are theirs among the references of FROM.
fn deleted(leaves: &[Leaf], names: &[TableName], places: &[usize]) -> SqlResult<Vec<Changed>> {
    let mut found: Vec<Changed> = Vec::new();
    for (name, place) in names.iter().zip(places) {
        let mut written = leaves.iter().enumerate().filter(|(_, l)| !l.source.inner);
        let (mut at, _) = (written.nth(*place)).ok_or_else(|| not_in_delete(&name.name))?;
        let through = leaves[at].view().cloned();
        if let Some(v) = &through {
            at = table_under(leaves, at, v)?;
        }
        if found.iter().any(|f| f.at == at) {
            return Err(not_unique(&name.name));
        }
        found.push(Changed {
            at,
            sets: Vec::new(),
            through,
        });
    }
    Ok(found)
}

/// Error 1109.
fn not_in_delete(name: &str) -> SqlError {
    errors::UNKNOWN_TABLE.text(format!("Unknown table '{name}' in MULTI DELETE"))
}

/// The references of a FROM in the order of the text.
fn references<'a>(from: &'a From, out: &mut Vec<&'a From>) {
    match from {
        From::Join(j) => {
            references(&j.left, out);
            references(&j.right, out);
        }
        one => out.push(one),
    }
}

/// The one table of a merged view that stands at `at`, for DELETE.
fn table_under(leaves: &[Leaf], at: usize, v: &MergedView) -> SqlResult<usize> {
    let first = v.columns.iter().find_map(Expr::as_column);
    // Its tables stand before it, as far as the source before them.
    let tables = (leaves[..at].iter().rev())
        .take_while(|l| l.source.inner)
        .filter(|l| l.view().is_none())
        .count();
    if tables > 1 {
        return Err(joined(&v.def));
    }
    match first {
        Some((table, _)) => Ok(table),
        None => Err(not_updatable(&leaves[at].source.name, "DELETE")),
    }
}

/// Finds the source and the column of an assignment.
fn assigned(leaves: &[Leaf], table: Option<&str>, column: &str) -> SqlResult<(usize, usize)> {
    let mut found = None;
    for (at, leaf) in leaves.iter().enumerate() {
        if leaf.source.inner || table.is_some_and(|t| t != leaf.source.name) {
            continue;
        }
        let Some(c) = leaf.source.table.column(column) else {
            continue;
        };
        // USING shows the other side's.
        if table.is_none() && leaf.source.hidden.contains(&c) {
            continue;
        }
        if found.replace((at, c)).is_some() {
            return Err(
                errors::NON_UNIQ_ERROR.text(format!("Column '{column}' in SET is ambiguous"))
            );
        }
    }
    found.ok_or_else(|| match table {
        Some(t) => unknown_column(&format!("{t}.{column}"), "SET"),
        None => unknown_column(column, "SET"),
    })
}

fn touched(table: &Table, sets: &[(usize, NewValue)]) -> Vec<(usize, u8)> {
    table
        .columns()
        .iter()
        .enumerate()
        .filter(|(i, _)| !sets.iter().any(|s| s.0 == *i))
        .filter_map(|(i, c)| c.on_update.map(|f| (i, f)))
        .collect()
}

/// Error 1706: a table is changed under two names, and one changes its primary key.
fn moved_twice(targets: &[Target], names: &[String]) -> SqlResult<()> {
    for (i, a) in targets.iter().enumerate() {
        for (j, b) in targets.iter().enumerate().skip(i + 1) {
            if a.table.def.id != b.table.def.id {
                continue;
            }
            let key = |t: &Target| {
                t.table.indexes[0]
                    .parts
                    .iter()
                    .any(|p| t.sets.iter().any(|s| s.0 == p.column))
            };
            if key(a) || key(b) {
                return Err(errors::MULTI_UPDATE_KEY_CONFLICT.with([&names[i], &names[j]]));
            }
        }
    }
    Ok(())
}

fn not_unique(name: &str) -> SqlError {
    errors::NONUNIQ_TABLE.with([&name])
}

fn not_updatable(name: &str, verb: &str) -> SqlError {
    errors::NON_UPDATABLE_TABLE.with([&name, &verb])
}
