//! ONLY_FULL_GROUP_BY: what is selected must be the same for all rows of a group.

use crate::bind::scope::Source;
use crate::expr::node::{CmpOp, Expr, ExprKind};
use crate::plan::query::SortKey;
use crate::plan::sarg::conjuncts;
use crate::planner::logical::{Body, Tree};
use narwal_types::face::is_mysql;
use narwal_types::{SqlError, SqlResult, errors, mysql_errors};

/// What a SELECT says of its groups.
pub(super) struct Grouped<'a> {
    keys: &'a [SortKey],
    sources: &'a [Source],
    body: &'a Body,
    /// WHERE.
    filter: Option<&'a Expr>,
}

impl<'a> Grouped<'a> {
    pub(super) fn new(
        keys: &'a [SortKey],
        sources: &'a [Source],
        body: &'a Body,
        filter: Option<&'a Expr>,
    ) -> Self {
        Grouped {
            keys,
            sources,
            body,
            filter,
        }
    }

    /// Looks at the select list of a SELECT with groups, or at what one with DISTINCT is sorted by.
    pub(super) fn check(
        &self,
        grouped: bool,
        distinct: bool,
        items: &[Expr],
        order: &[SortKey],
    ) -> SqlResult<()> {
        match grouped {
            true => {
                self.check_items(items)?;
                self.check_keys_of_one_group(order)
            }
            false if distinct && is_mysql() => self.check_order(items, order),
            false => Ok(()),
        }
    }

    /// 1140: what the one row is sorted by that there is without GROUP BY. MySQL does not look at it.
    fn check_keys_of_one_group(&self, order: &[SortKey]) -> SqlResult<()> {
        if is_mysql() || !self.keys.is_empty() {
            return Ok(());
        }
        match order
            .iter()
            .any(|k| self.first_free(&k.expr, &[]).is_some())
        {
            true => Err(errors::MIX_OF_GROUP_FUNC_AND_FIELDS.plain()),
            false => Ok(()),
        }
    }

    /// 1055, or 1140 without GROUP BY, for an item with a column that differs within a group.
    fn check_items(&self, items: &[Expr]) -> SqlResult<()> {
        // MariaDB wants the columns themselves in GROUP BY; MySQL also takes those that these determine.
        let determined = match is_mysql() {
            true => self.determined(),
            false => Vec::new(),
        };
        for (n, item) in items.iter().enumerate() {
            if let Some((source, column)) = self.first_free(item, &determined) {
                return Err(self.refused(n + 1, source, column));
            }
        }
        Ok(())
    }

    /// 3065, in MySQL: DISTINCT leaves one of several rows, and what it is sorted by need not be the same in all of them.
    fn check_order(&self, items: &[Expr], order: &[SortKey]) -> SqlResult<()> {
        for (n, key) in order.iter().enumerate() {
            if let Some((source, column)) = first_other(&key.expr, items) {
                let name = self.name_of(source, column);
                return Err(errors::FIELD_IN_ORDER_NOT_SELECT.with([&(n + 1), &name]));
            }
        }
        Ok(())
    }

    fn refused(&self, item: usize, source: usize, column: usize) -> SqlError {
        let group_by = !self.keys.is_empty();
        let name = self.name_of(source, column);
        match (is_mysql(), group_by) {
            (true, _) => mysql_errors::not_grouped(item, &name, group_by),
            (false, true) => errors::WRONG_FIELD_WITH_GROUP.with([&name]),
            (false, false) => errors::MIX_OF_GROUP_FUNC_AND_FIELDS.plain(),
        }
    }

    /// `db.table.column`, for messages.
    fn name_of(&self, source: usize, column: usize) -> String {
        let Some(s) = self.sources.get(source) else {
            return String::new();
        };
        let column = column.checked_sub(s.base);
        let column = column.and_then(|c| s.table.columns().get(c));
        let column = column.map_or("?", |c| c.name.as_str());
        format!("{}.{}.{column}", s.table.def.db, s.name)
    }

    /// The first column in an expression that groups do not say: its source, and its place among all columns.
    fn first_free(&self, e: &Expr, determined: &[usize]) -> Option<(usize, usize)> {
        if self.keys.iter().any(|k| *k.expr.without_mark() == *e) {
            return None;
        }
        match &e.kind {
            ExprKind::Column { source, column, .. } => {
                let s = self.sources.get(*source);
                // What a derived table or a view groups by is not looked into, as MariaDB does not.
                let stored = s.is_some_and(|s| s.types.is_none() && !s.inner && s.view.is_none());
                (stored && !determined.contains(column)).then_some((*source, *column))
            }
            // It says itself that any row's value will do.
            ExprKind::Func { func, .. } if func.name == "any_value" => None,
            _ => {
                let mut found = None;
                e.for_each_child(&mut |c| {
                    if found.is_none() {
                        found = self.first_free(c, determined);
                    }
                });
                found
            }
        }
    }

    /// Columns, by their places among all, that are the same in all rows of a group: its keys, what equals them or a
    /// constant, and all columns of a table of which they hold a unique key.
    fn determined(&self) -> Vec<usize> {
        let column = |e: &Expr| e.as_column().map(|(_, c)| c);
        let mut known: Vec<usize> = self.keys.iter().filter_map(|k| column(&k.expr)).collect();
        let mut equal = Vec::new();
        for e in self.filter.into_iter().flat_map(conjuncts) {
            equalities(e, &mut known, &mut equal);
        }
        if let Body::Join(_, tree) = self.body {
            of_joins(tree, &mut known, &mut equal);
        }
        loop {
            let before = known.len();
            for (a, b) in &equal {
                for (from, to) in [(a, b), (b, a)] {
                    if known.contains(from) && !known.contains(to) {
                        known.push(*to);
                    }
                }
            }
            for s in self.sources.iter().filter(|s| s.view.is_none()) {
                self.of_unique_keys(s, &mut known);
            }
            if known.len() == before {
                return known;
            }
        }
    }

    fn of_unique_keys(&self, s: &Source, known: &mut Vec<usize>) {
        let whole = |i: &narwal_engine::Index| {
            i.unique
                && !i.parts.is_empty()
                && i.parts.iter().all(|p| {
                    p.prefix.is_none() && !p.nullable && known.contains(&(s.base + p.column))
                })
        };
        if s.table.indexes.iter().any(whole) {
            let all = (s.base..s.base + s.width()).filter(|c| !known.contains(c));
            let all: Vec<usize> = all.collect();
            known.extend(all);
        }
    }
}

/// The first column of a sort key that is in no item.
fn first_other(e: &Expr, items: &[Expr]) -> Option<(usize, usize)> {
    if items.iter().any(|i| i == e.without_mark()) {
        return None;
    }
    if let ExprKind::Column { source, column, .. } = &e.kind {
        return Some((*source, *column));
    }
    let mut found = None;
    e.for_each_child(&mut |c| {
        if found.is_none() {
            found = first_other(c, items);
        }
    });
    found
}

/// What an inner join's condition says holds for all rows; an outer one's, for those of its inner side: NULL otherwise, for
/// all of a group alike where the outer side is known.
fn of_joins(tree: &Tree, known: &mut Vec<usize>, equal: &mut Vec<(usize, usize)>) {
    if let Tree::Join {
        left, right, on, ..
    } = tree
    {
        for e in on {
            equalities(e, known, equal);
        }
        of_joins(left, known, equal);
        of_joins(right, known, equal);
    }
}

/// `column = column` and `column = constant`.
fn equalities(e: &Expr, known: &mut Vec<usize>, equal: &mut Vec<(usize, usize)>) {
    let ExprKind::Compare {
        op: CmpOp::Eq,
        left,
        right,
        ..
    } = &e.kind
    else {
        return;
    };
    match (left.as_column(), right.as_column()) {
        (Some((_, a)), Some((_, b))) => equal.push((a, b)),
        (Some((_, c)), None) if right.is_const() => known.push(c),
        (None, Some((_, c))) if left.is_const() => known.push(c),
        _ => {}
    }
}
