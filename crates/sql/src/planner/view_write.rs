//! What a statement writes: a table, or a view whose rows are rows of a table.

use crate::bind::scope::{MergedView, Source};
use crate::env::StatementEnv;
use crate::expr::node::{Expr, ExprKind};
use crate::plan::query::Rows;
use crate::plan::view_check::ViewCheck;
use crate::planner::logical::{Around, Leaves, Tree};
use crate::planner::resolve::Resolver;
use crate::planner::subqueries::Subqueries;
use crate::planner::view::without_hints;
use crate::privilege::Privilege;
use crate::view;
use narwal_engine::{Index, Table, ViewDef};
use narwal_syntax::ast::{Assignment, From, Select, TableRef, Update, WriteJoin, WriteTargets};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult};
use std::sync::Arc;

/// The target of an INSERT, UPDATE or DELETE, as names see it.
pub struct Written {
    /// The table; for a view its table, then the view.
    pub sources: Vec<Source>,
    /// Conditions on the rows that the view shows.
    pub filter: Vec<Expr>,
    /// WITH CHECK OPTION.
    pub check: Option<ViewCheck>,
    /// The other tables behind a MERGE table.
    pub others: Vec<Arc<Table>>,
}

/// What is done to it, as errors name it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// INSERT and REPLACE.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
}

impl Verb {
    /// The privilege that it needs.
    pub fn privilege(self) -> Privilege {
        match self {
            Verb::Insert => Privilege::Insert,
            Verb::Update => Privilege::Update,
            Verb::Delete => Privilege::Delete,
        }
    }
}

/// Errors 1288 and 1471.
pub fn not_writable(name: &str, verb: Verb) -> SqlError {
    let (code, text) = match verb {
        Verb::Insert => (codes::NON_INSERTABLE_TABLE, "INSERT is not insertable-into"),
        Verb::Update => (codes::NON_UPDATABLE_TABLE, "UPDATE is not updatable"),
        Verb::Delete => (codes::NON_UPDATABLE_TABLE, "DELETE is not updatable"),
    };
    SqlError::new(
        code,
        b"HY000",
        format!("The target table {name} of the {text}"),
    )
}

/// Error 1348.
pub fn not_updatable_column(name: &str) -> SqlError {
    errors::NONUPDATEABLE_COLUMN.with([&name])
}

/// Error 1393.
pub fn several_tables(def: &ViewDef) -> SqlError {
    errors::VIEW_MULTIUPDATE.with([&def.db, &def.name])
}

/// Error 1395.
pub fn joined(def: &ViewDef) -> SqlError {
    errors::VIEW_DELETE_MERGE_VIEW.with([&def.db, &def.name])
}

impl Written {
    /// A table that is no view.
    pub fn table_only(source: Source) -> Self {
        Written {
            sources: vec![source],
            filter: Vec::new(),
            check: None,
            others: Vec::new(),
        }
    }

    /// The table whose rows are written.
    pub fn table(&self) -> &Arc<Table> {
        &self.sources[0].table
    }

    pub(super) fn view(&self) -> Option<&Arc<MergedView>> {
        self.sources.last()?.view.as_ref()
    }

    /// The name that columns may be qualified with.
    pub fn name(&self) -> &str {
        self.sources.last().map_or("", |s| &s.name)
    }

    /// The table's column that a name means, if it means one. Error 1348 for a column of the view that is an expression.
    pub fn column(&self, name: &str) -> SqlResult<Option<usize>> {
        let Some(v) = self.view() else {
            return Ok(self.table().column(name));
        };
        let Some(at) = v.column(name) else {
            return Ok(None);
        };
        // A column with another collation is still that column.
        let shown = match &v.columns[at].kind {
            ExprKind::Collate(inner) => inner,
            _ => &v.columns[at],
        };
        match shown.as_column() {
            Some((_, c)) => Ok(Some(c)),
            None => Err(not_updatable_column(name)),
        }
    }

    /// Notes that a column is written (`of_all`: among all of them), where privileges on single columns are asked for.
    pub fn note(&self, env: &StatementEnv, column: &str, privilege: Privilege, of_all: bool) {
        if let Some(uses) = &mut *env.column_uses.borrow_mut()
            && !self.table().temporary
        {
            let (db, name) = match self.view() {
                Some(v) => (&v.def.db, &v.def.name),
                None => (&self.table().def.db, &self.table().def.name),
            };
            uses.of_all = of_all;
            uses.note(db, name, column, privilege);
            uses.of_all = false;
        }
    }

    /// The name of the view's column number `n`, if it is a view.
    pub fn name_of(&self, n: usize) -> Option<&String> {
        self.view().and_then(|v| v.def.columns.get(n))
    }

    /// The table's columns that INSERT gives values for, in their order. `unknown`: the error for a name.
    pub fn inserted(
        &self,
        names: Option<&[String]>,
        unknown: impl Fn(&str) -> SqlError,
    ) -> SqlResult<Vec<usize>> {
        let mut columns = Vec::new();
        let name_of = |i: usize| match (names, self.view()) {
            (Some(list), _) => list[i].clone(),
            (None, Some(v)) => v.def.columns[i].clone(),
            (None, None) => String::new(),
        };
        let n = match (names, self.view()) {
            (Some(list), _) => list.len(),
            (None, Some(v)) => v.def.columns.len(),
            (None, None) => {
                let columns = self.table().columns().iter().enumerate();
                let visible = columns.filter(|(_, c)| !c.invisible);
                return Ok(visible.map(|(i, _)| i).collect());
            }
        };
        let not_insertable = || not_writable(self.name(), Verb::Insert);
        for i in 0..n {
            let name = name_of(i);
            let c = match self.column(&name) {
                Ok(Some(c)) => c,
                Ok(None) => return Err(unknown(&name)),
                Err(_) => return Err(not_insertable()),
            };
            if columns.contains(&c) {
                return Err(match self.view() {
                    Some(_) => not_insertable(),
                    None => errors::FIELD_SPECIFIED_TWICE.with([&name]),
                });
            }
            columns.push(c);
        }
        Ok(columns)
    }

    /// Whether a column of the table can be seen: not if it is written through a view that leaves it out.
    pub fn shows(&self, column: usize) -> bool {
        self.view().is_none_or(|v| {
            let mut columns = v.columns.iter().filter_map(Expr::as_column);
            columns.any(|(_, c)| c == column)
        })
    }

    /// Error 1423 for a column that the view does not show and that has no default.
    pub fn hidden_without_default(&self, missing: impl Fn(usize) -> bool) -> SqlResult<()> {
        let Some(v) = self.view() else { return Ok(()) };
        match (0..self.table().columns().len()).find(|c| !self.shows(*c) && missing(*c)) {
            None => Ok(()),
            Some(_) => Err(errors::NO_DEFAULT_FOR_VIEW_FIELD.with([&v.def.db, &v.def.name])),
        }
    }
}

impl Written {
    /// The view's name, if a LIMIT has to be asked about ([`crate::plan::view_check::check_limited`]).
    pub fn limited(&self, limited: bool) -> Option<Box<str>> {
        (limited && self.lacks_key()).then(|| self.name().into())
    }

    /// True for a view that shows neither all columns of its table nor a whole unique key without NULLs.
    fn lacks_key(&self) -> bool {
        let table = self.table();
        let columns = table.columns();
        let whole = |i: &Index| {
            let mut parts = i.parts.iter();
            i.unique
                && !i.parts.is_empty()
                && parts.all(|p| !columns[p.column].nullable && self.shows(p.column))
        };
        self.view().is_some()
            && !(0..columns.len()).all(|c| self.shows(c))
            && !table.indexes.iter().any(whole)
    }
}

impl Resolver<'_> {
    /// What a statement writes. `columns`: those that INSERT names.
    pub fn written_view(
        &self,
        def: &Arc<ViewDef>,
        t: &TableRef,
        verb: Verb,
        columns: Option<&[String]>,
        subqueries: &Subqueries<'_>,
    ) -> SqlResult<Written> {
        let alias = t.alias.as_deref().unwrap_or(&t.name.name);
        without_hints(t, &def.name)?;
        self.need(&def.db, &def.name, verb.privilege());
        let select = crate::view_def::parsed(def)?;
        let around = Around {
            planner: subqueries,
            outer: None,
            nullable: false,
        };
        let mut sources = Vec::new();
        let mut leaves: Leaves = Vec::new();
        let Some((tree, merged)) =
            self.merge_view(def, &select, t, &mut sources, &mut leaves, &around)?
        else {
            return Err(not_writable(alias, verb));
        };
        let Some(view) = sources.last().and_then(|s| s.view.clone()) else {
            return Err(not_writable(alias, verb));
        };
        let at = match (tree, verb) {
            (Tree::Leaf(at), _) => at,
            (_, Verb::Delete) => {
                return Err(joined(def));
            }
            (_, Verb::Update) => return Err(not_writable(alias, verb)),
            // The table that the columns are of.
            (_, Verb::Insert) => {
                let Some(names) = columns else {
                    return Err(errors::VIEW_NO_INSERT_FIELD_LIST.with([&def.db, &def.name]));
                };
                let mut of = names
                    .iter()
                    .filter_map(|n| view.columns[view.column(n)?].as_column())
                    .map(|(source, _)| source);
                let first = of.next().unwrap_or(0);
                if of.any(|s| s != first) {
                    return Err(several_tables(def));
                }
                (sources[..first].iter())
                    .filter(|s| s.view.is_none())
                    .count()
            }
        };
        let (table, _) = leaves.swap_remove(at);
        if matches!(table.rows, Rows::Merge(_)) {
            return Err(SqlError::unsupported("writing a view of a MERGE table"));
        }
        if !matches!(table.rows, Rows::Stored) {
            return Err(not_writable(alias, verb));
        }
        self.need_under(def, &table.source.table, verb.privilege());
        // Nothing is written through a view of a table whose condition reads that table again.
        let own = |t: &TableRef| t.name.name == table.source.table.def.name;
        if matches!(&select.from, Some(From::Table(t)) if own(t))
            && subqueries.reads(&table.source.table)
        {
            return Err(not_writable(alias, verb));
        }
        let base = table.source.base;
        let width = table.source.table.columns().len();
        let own = |column: usize| (base..base + width).contains(&column);
        let asked = ViewCheck::asked(&view, base, own);
        let check = ViewCheck::without_partners(asked, base, &own);
        // The table's columns count from 0 here; a join view's other columns are out of reach.
        let mut view = (*view).clone();
        for e in &mut view.columns {
            to_lone_table(e, base, &own);
        }
        let mut shown = sources.pop().unwrap_or(table.source.clone());
        shown.view = Some(Arc::new(view));
        let mut lone = table.source;
        lone.base = 0;
        lone.inner = true;
        Ok(Written {
            sources: vec![lone, shown],
            filter: merged.filter,
            check,
            others: Vec::new(),
        })
    }

    /// Notes another privilege on a target.
    pub fn need_too(&self, t: &TableRef, written: &Written, privilege: Privilege) -> SqlResult<()> {
        if !written.table().temporary {
            self.need(self.db_of(&t.name)?, &t.name.name, privilege);
        }
        if let Some(v) = written.view() {
            self.need_under(&v.def, written.table(), privilege);
        }
        Ok(())
    }

    /// Notes a privilege on the table under a view, through each view on the way.
    pub fn need_under(&self, def: &ViewDef, table: &Table, privilege: Privilege) {
        let noted = self.inside(def, || {
            for t in view::tables(&*crate::view_def::parsed(def)?) {
                let db = self.db_of(&t)?;
                if (db, &t.name) == (&table.def.db, &table.def.name) {
                    self.need(db, &t.name, privilege);
                } else if let Some(inner) = self.catalog.view(db, &t.name) {
                    self.need(db, &t.name, privilege);
                    self.need_under(inner, table, privilege);
                }
            }
            Ok(())
        });
        // The same names were found when the view was planned.
        debug_assert!(noted.is_ok());
    }

    /// An UPDATE of a view over a join, as an update of that join.
    pub fn update_of_join_view(&self, u: &Update) -> SqlResult<Option<WriteJoin>> {
        let Some(def) = self.view_named(&u.table) else {
            return Ok(None);
        };
        // No portion of a view.
        if u.portion.is_some() || !def.updatable || !self.is_join_view(&def, 0)? {
            return Ok(None);
        }
        let usage = match (u.order_by.is_empty(), &u.limit) {
            (false, _) => Some("ORDER BY"),
            (true, Some(_)) => Some("LIMIT"),
            _ => None,
        };
        if let Some(clause) = usage {
            return Err(errors::WRONG_USAGE.text(format!("Incorrect usage of UPDATE and {clause}")));
        }
        Ok(Some(WriteJoin {
            ignore: u.ignore,
            targets: WriteTargets::Update(u.assignments.clone()),
            select: Select {
                where_: u.where_.clone(),
                subqueries: u.subqueries.clone(),
                params: u.params,
                ..Select::of(Vec::new(), From::Table(u.table.clone()))
            },
        }))
    }

    fn is_join_view(&self, def: &ViewDef, depth: usize) -> SqlResult<bool> {
        Ok(match &crate::view_def::parsed(def)?.from {
            Some(From::Join(_)) => true,
            Some(From::Table(t)) if depth < crate::view_def::MAX_DEPTH => {
                match self.view_named(t) {
                    Some(inner) => self.is_join_view(&inner, depth + 1)?,
                    None => false,
                }
            }
            _ => false,
        })
    }
}

/// An expression over a join as one over a lone table of it. What is not the table's gives NULL and is no column.
fn to_lone_table(e: &mut Expr, base: usize, own: &dyn Fn(usize) -> bool) {
    match &mut e.kind {
        ExprKind::Column { source, column, .. } if own(*column) => {
            *source = 0;
            *column -= base;
        }
        ExprKind::Column { .. } => e.kind = ExprKind::Literal(narwal_types::Value::Null),
        _ => e.for_each_child_mut(&mut |c| to_lone_table(c, base, own)),
    }
}

/// The name of the view's own column that an assignment means, for messages.
pub fn full_name(a: &Assignment) -> String {
    match &a.table {
        Some(t) => format!("{t}.{}", a.column),
        None => a.column.clone(),
    }
}
