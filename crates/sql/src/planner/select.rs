//! Planning SELECT: names are bound, rules change the logical plan, and a physical plan comes out.

use crate::bind::scope::{Clause, OuterScope, Scope};
use crate::expr::node::{Expr, ExprKind};
use crate::plan::query::{Rows, SelectPlan};
use crate::planner::condition::split_late;
use crate::planner::logical::{Body, LogicalSelect, Tree};
use crate::planner::resolve::{JoinCheck, Resolver};
use crate::planner::rules::alternatives::{alternatives, alternatives_of_joins};
use crate::planner::rules::functional::HiddenColumns;
use crate::planner::rules::having::having_is_where;
use crate::planner::subqueries::Subqueries;
use crate::view_def::numbers_rows_in_order;
use narwal_syntax::ast::Select;
use narwal_types::face::is_mysql;
use narwal_types::{SqlResult, errors};

/// Adds a condition to the items, with assigned values in place of the columns that get them.
fn add_check(l: &mut LogicalSelect, check: JoinCheck) {
    fn assign(e: &mut Expr, assigned: &[(usize, usize)], items: &[Expr]) {
        if let ExprKind::Column { column, .. } = &e.kind
            && let Some((_, item)) = assigned.iter().find(|(c, _)| c == column)
            && let Some(value) = items.get(*item)
        {
            *e = value.clone();
            return;
        }
        e.for_each_child_mut(&mut |c| assign(c, assigned, items));
    }
    let mut e = check.condition;
    assign(&mut e, &check.assigned, &l.items);
    l.items.push(e);
    // No client is told of it.
    l.columns.extend(l.columns.last().cloned());
}

impl Resolver<'_> {
    /// Plans a SELECT.
    pub fn select(&self, s: &Select) -> SqlResult<SelectPlan> {
        self.select_within(s, None)
    }

    /// Plans a SELECT that may name columns of a query around it.
    pub fn select_within(
        &self,
        s: &Select,
        outer: Option<&OuterScope<'_>>,
    ) -> SqlResult<SelectPlan> {
        self.select_sorted(s, outer, true)
    }

    /// Plans a SELECT of which nobody sees the order: its ORDER BY has to be right, and does nothing without a LIMIT.
    pub fn select_unsorted(
        &self,
        s: &Select,
        outer: Option<&OuterScope<'_>>,
    ) -> SqlResult<SelectPlan> {
        self.select_sorted(s, outer, s.limit.is_some())
    }

    fn select_sorted(
        &self,
        s: &Select,
        outer: Option<&OuterScope<'_>>,
        sorted: bool,
    ) -> SqlResult<SelectPlan> {
        match &s.with {
            Some(with) => self.with(with, || self.select_body(s, outer, sorted)),
            None => self.select_body(s, outer, sorted),
        }
    }

    fn select_body(
        &self,
        s: &Select,
        outer: Option<&OuterScope<'_>>,
        sorted: bool,
    ) -> SqlResult<SelectPlan> {
        if s.rollup && !s.order_by.is_empty() && !is_mysql() {
            return Err(errors::WRONG_USAGE.with([&"CUBE/ROLLUP", &"ORDER BY"]));
        }
        if let Some(most) = &s.rows_examined {
            let most = self.limit_value(most)?;
            self.rows_examined.replace(Some(most));
        }
        let row_keys = self.row_keys.take();
        let checks = self.join_checks.take();
        let subqueries = Subqueries::new(self, &s.subqueries);
        let around = self.numbered.replace(numbers_rows_in_order(s));
        let logical = self.logical_select(s, &subqueries, outer);
        self.numbered.set(around);
        let mut logical = logical?;
        if !sorted {
            logical.order.clear();
            logical.order_written = false;
        }
        for check in checks {
            add_check(&mut logical, check);
        }
        self.apply_rules(&mut logical, &subqueries, outer)?;
        self.physical_select(logical, &row_keys, subqueries)
    }

    /// The rules that need no access path.
    fn apply_rules(
        &self,
        l: &mut LogicalSelect,
        subqueries: &Subqueries<'_>,
        outer: Option<&OuterScope<'_>>,
    ) -> SqlResult<()> {
        if let Body::One(r, hints) = &l.body
            && l.filter.as_ref().is_some_and(Expr::runs_each_row)
            && matches!(r.rows, Rows::Stored)
        {
            let scope = Scope {
                sources: &l.sources,
                clause: Clause::Where,
                planner: Some(subqueries),
                outer,
                ..Scope::empty(self.env)
            };
            let filter = l.filter.take();
            l.filter = self.semi_joins(filter, &r.source.table, hints, subqueries, &scope)?;
        }
        having_is_where(l);
        let scope = Scope {
            sources: &l.sources,
            ..Scope::empty(self.env)
        };
        let hidden = HiddenColumns::of(&scope)?;
        read_hidden(l, &hidden);
        l.filter = alternatives(l.filter.take(), &l.sources);
        if let Body::Join(_, tree) = &mut l.body {
            alternatives_of_joins(tree, &l.sources);
        }
        if !matches!(l.body, Body::Nothing) {
            (l.filter, l.late) = split_late(l.filter.take());
        }
        Ok(())
    }
}

/// Lets WHERE, joins and ORDER BY read the columns of functional indexes.
fn read_hidden(l: &mut LogicalSelect, hidden: &HiddenColumns) {
    if hidden.is_empty() {
        return;
    }
    l.filter.iter_mut().for_each(|f| hidden.read_in(f));
    if l.group.is_none() {
        l.order.iter_mut().for_each(|k| hidden.read_in(&mut k.expr));
    }
    if let Body::Join(_, tree) = &mut l.body {
        read_hidden_in_joins(tree, hidden);
    }
}

fn read_hidden_in_joins(tree: &mut Tree, hidden: &HiddenColumns) {
    if let Tree::Join {
        left, right, on, ..
    } = tree
    {
        on.iter_mut().for_each(|e| hidden.read_in(e));
        read_hidden_in_joins(left, hidden);
        read_hidden_in_joins(right, hidden);
    }
}
