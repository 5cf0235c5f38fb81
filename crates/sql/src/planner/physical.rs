//! From the logical plan of a SELECT to the physical one: access paths, what is sorted, what is grouped along an index, and
//! which columns anything looks at.

use crate::env::StatementEnv;
use crate::expr::node::{Expr, ExprKind};
use crate::plan::access::Access;
use crate::plan::query::{
    Computed, Digits, GroupPlan, Out, Rows, SelectPlan, SortKey, TablePlan, WindowPlan,
};
use crate::plan::sarg::conjuncts;
use crate::planner::logical::{Body, Joining, LogicalSelect};
use crate::planner::resolve::Resolver;
use crate::planner::rules::group_index::{ends, in_index_order, index_groups};
use crate::planner::rules::once::{Clauses, settle};
use crate::planner::rules::rollup::roll_up;
use crate::planner::subqueries::Subqueries;
use crate::planner::window::settle_windows;
use narwal_types::SqlResult;

/// How the rows of a SELECT get their order.
struct Sorting {
    /// A sort that is needed.
    sort: Vec<SortKey>,
    /// See [`SelectPlan::fallback_sort`].
    fallback: Vec<SortKey>,
    /// An order is wanted, by an index or by a sort.
    wanted: bool,
    /// Window functions: the ORDER BY is in their plan then, and `sort` is what groups need.
    windows: Option<WindowPlan>,
    /// See [`SelectPlan::ties`].
    ties: Option<Vec<SortKey>>,
}

/// The conditions of WHERE that are the same for all rows, but may not hold. Constants too, where rows are made before they
/// are looked at: a derived table, a join. One stored table's access path knows its constants.
fn row_free(l: &LogicalSelect) -> Vec<Expr> {
    let stored = matches!(&l.body, Body::One(r, _) if matches!(r.rows, Rows::Stored));
    let asks = |e: &Expr| e.any(&|e| matches!(e.kind, ExprKind::Subquery(_)));
    let varies = |e: &Expr| {
        e.has_column()
            || e.runs_each_row()
            || e.any(&|e| e.changes() || matches!(e.kind, ExprKind::Outer(_)))
    };
    let known = |e: &Expr| stored && e.is_const() && !asks(e);
    match l.body {
        Body::Nothing => Vec::new(),
        _ => {
            let all = l.filter.iter().flat_map(conjuncts);
            all.filter(|e| !varies(e) && !known(e)).cloned().collect()
        }
    }
}

impl Resolver<'_> {
    /// The physical plan of a SELECT.
    pub fn physical_select(
        &self,
        mut l: LogicalSelect,
        row_keys: &[usize],
        subqueries: Subqueries<'_>,
    ) -> SqlResult<SelectPlan> {
        let row_free = row_free(&l);
        let mut table = self.rows_of_from(&mut l, row_keys)?;
        let by_access = table.as_ref().is_some_and(|t| {
            t.is_stored() && t.access.ordered && wanted_order(&l).is_some() && !l.order.is_empty()
        });
        let coercibility = l.items.iter().map(|e| e.ty.coercibility).collect();
        let mut computed = settle(
            Clauses {
                items: &mut l.items,
                group: l.group.as_mut(),
                having: l.having.as_mut(),
                order: &mut l.order,
            },
            table.as_ref().map(|t| &*t.table),
            &|e| subqueries.changes(e),
        )?;
        roll_up(&mut l)?;
        if let Some(g) = &mut l.group {
            g.having = l.having.take();
        }
        let mut sorting = sorting(&mut l, by_access);
        let distinct_keys = distinct_keys(&l, &sorting);
        let items = outputs(std::mem::take(&mut l.items), self.env);
        let mut looked_at = looked_at(&items, &mut sorting, l.group.as_mut());
        let mut distinct = l.distinct;
        if let Some(t) = &mut table {
            let group = self.along_index(
                t,
                &mut l,
                &mut sorting,
                distinct_keys,
                &looked_at,
                computed.is_some(),
            );
            if group.is_some() {
                distinct = false;
                l.group = group;
            }
            if let Some(c) = &mut computed {
                c.looks_at(&mut looked_at);
            }
            t.wants(looked_at);
        }
        let Sorting {
            sort,
            fallback,
            windows,
            ties,
            ..
        } = sorting;
        let distinct_by_sort =
            l.distinct && l.group.is_none() && windows.is_none() && sorts_by_items(&items, &sort);
        let mut plan = SelectPlan {
            table,
            names: (l.sources.iter().filter(|s| s.view.is_none()))
                .map(|s| s.name.clone())
                .collect(),
            filter: l.filter,
            computed,
            items,
            columns: l.columns.into(),
            coercibility,
            group: l.group,
            windows,
            sort,
            fallback_sort: fallback,
            distinct,
            distinct_by_sort,
            limit: l.limit,
            ties,
            calc_found_rows: l.calc_found_rows,
            lock: l.lock,
            subqueries: subqueries.into_plans(),
            row_wise: false,
            stop_after: None,
            digits: Digits::Shown,
            numbers_rows: self.env.numbers_rows.get(),
            row_free,
            lateral: None,
        };
        plan.row_wise = runs_each_row(&plan);
        Ok(plan)
    }

    /// What gives the rows of FROM: a table by its access path, or a join.
    fn rows_of_from(
        &self,
        l: &mut LogicalSelect,
        row_keys: &[usize],
    ) -> SqlResult<Option<TablePlan>> {
        match std::mem::replace(&mut l.body, Body::Nothing) {
            Body::Nothing => Ok(None),
            Body::One(mut r, hints) => {
                self.reach_behind(&mut r.rows, l.filter.as_ref())?;
                let access = match r.rows {
                    Rows::Stored => Access::choose(
                        &r.source.table,
                        l.filter.as_ref(),
                        wanted_order(l).as_deref().unwrap_or(&[]),
                        l.enough,
                        &hints,
                        &self.estimates,
                    )?,
                    _ => Access::full(0),
                };
                Ok(Some(TablePlan {
                    table: r.source.table.clone(),
                    access,
                    filter: l.filter.take(),
                    late: l.late.take(),
                    rows: r.rows,
                    cover: None,
                }))
            }
            Body::Join(leaves, tree) => {
                let of = Joining {
                    filter: l.filter.take(),
                    late: l.late.take(),
                    params: l.params,
                    lock: l.lock,
                    lock_each: std::mem::take(&mut l.lock_each),
                    row_keys,
                    straight: l.straight,
                };
                Ok(Some(match l.sources.iter().any(|s| s.view.is_some()) {
                    false => self.join(leaves, tree, &l.sources, of)?,
                    true => {
                        let with_rows = l.sources.iter().filter(|s| s.view.is_none());
                        self.join(leaves, tree, &with_rows.cloned().collect::<Vec<_>>(), of)?
                    }
                }))
            }
        }
    }

    /// Lets groups, or DISTINCT as groups, come along an index. Returns the groups that stand for DISTINCT.
    fn along_index(
        &self,
        t: &mut TablePlan,
        l: &mut LogicalSelect,
        sorting: &mut Sorting,
        distinct_keys: Option<Vec<SortKey>>,
        looked_at: &[usize],
        computed: bool,
    ) -> Option<GroupPlan> {
        if l.lock.is_some() || l.calc_found_rows {
            return None;
        }
        if let Some(keys) = distinct_keys {
            let mut g = GroupPlan::of(keys);
            g.row_columns.extend_from_slice(looked_at);
            g.by_index = index_groups(t, &g, &self.estimates);
            return g.by_index.is_some().then_some(g);
        }
        if let (Some(g), false) = (&mut l.group, computed) {
            g.by_index = index_groups(t, g, &self.estimates);
            if g.by_index.is_some() && in_index_order(t, &sorting.sort) {
                sorting.sort.clear();
            }
            g.ends = ends(t, g).unwrap_or_default();
        }
        None
    }
}

/// The order that an access path may give: columns of the table.
fn wanted_order(l: &LogicalSelect) -> Option<Vec<(usize, bool)>> {
    if l.group.is_some() || !l.windows.is_empty() {
        return None;
    }
    let column = |k: &SortKey| k.expr.as_column().map(|(_, c)| (c, k.desc));
    l.order.iter().map(column).collect()
}

fn sorting(l: &mut LogicalSelect, by_access: bool) -> Sorting {
    let mut order = std::mem::take(&mut l.order);
    let wanted = !order.is_empty();
    let calls = std::mem::take(&mut l.windows);
    let windows = settle_windows(calls, l.group.as_ref(), &mut l.items, &mut order);
    let ties = l.with_ties.then(|| match &windows {
        Some(w) => w.order.clone(),
        None => order.clone(),
    });
    let (mut sort, fallback) = match by_access {
        true => (Vec::new(), order),
        false => (order, Vec::new()),
    };
    if let Some(g) = &l.group {
        if sort.is_empty() && !wanted && !l.order_written && !g.rollup {
            // As MariaDB, which sorts to group: groups come out in the order of their keys.
            sort = g.keys.clone();
        }
        if windows.is_some() && !g.rollup {
            sort = g.keys.clone();
        }
        if g.keys.is_empty() {
            sort.clear();
        }
    }
    Sorting {
        sort,
        fallback,
        wanted,
        windows,
        ties,
    }
}

/// DISTINCT is a grouping by the columns themselves.
fn distinct_keys(l: &LogicalSelect, sorting: &Sorting) -> Option<Vec<SortKey>> {
    if !l.distinct || l.group.is_some() || sorting.windows.is_some() || sorting.wanted {
        return None;
    }
    let key = |e: &Expr| SortKey {
        expr: e.clone(),
        desc: false,
    };
    let column = |e: &Expr| e.as_column().map(|_| key(e));
    l.items.iter().map(column).collect()
}

fn outputs(items: Vec<Expr>, env: &StatementEnv) -> Vec<Out> {
    let out = |e: Expr| match e.kind {
        ExprKind::Column {
            column, timestamp, ..
        } if !(timestamp && env.pads(&e.ty.ty)) => Out::Column { column, timestamp },
        _ => Out::Expr(e),
    };
    items.into_iter().map(out).collect()
}

/// The columns that are looked at behind the FROM. Groups and window functions learn which of them are of their rows.
fn looked_at(items: &[Out], sorting: &mut Sorting, group: Option<&mut GroupPlan>) -> Vec<usize> {
    let mut looked_at = Vec::new();
    let mut add = |c: usize| looked_at.push(c);
    for i in items {
        match i {
            Out::Column { column, .. } => add(*column),
            Out::Expr(e) => e.for_each_column(&mut add),
        }
    }
    for k in sorting.sort.iter().chain(&sorting.fallback) {
        k.expr.for_each_column(&mut add);
    }
    if let Some(w) = &mut sorting.windows {
        w.for_each_expr(&mut |e| e.for_each_column(&mut add));
        w.columns.clone_from(&looked_at);
        w.columns.sort_unstable();
        w.columns.dedup();
    }
    let Some(g) = group else { return looked_at };
    let mut add = |c: usize| looked_at.push(c);
    for e in g.having.iter().chain(&g.computed) {
        e.for_each_column(&mut add);
    }
    if g.rollup {
        g.keys.iter().for_each(|k| k.expr.for_each_column(&mut add));
    }
    looked_at.sort_unstable();
    looked_at.dedup();
    g.row_columns.clone_from(&looked_at);
    let mut add = |c: usize| looked_at.push(c);
    g.keys.iter().for_each(|k| k.expr.for_each_column(&mut add));
    for e in g.aggregates.iter().flat_map(|a| &a.args) {
        e.for_each_column(&mut add);
    }
    looked_at
}

/// The sort keys are exactly the output columns: equal rows are neighbours after sorting.
fn sorts_by_items(items: &[Out], sort: &[SortKey]) -> bool {
    if sort.is_empty() {
        return false;
    }
    let mut a: Vec<Option<usize>> = items
        .iter()
        .map(|i| match i {
            Out::Column { column, .. } => Some(*column),
            Out::Expr(_) => None,
        })
        .collect();
    let columns = sort.iter().map(|k| k.expr.as_column().map(|(_, c)| c));
    let mut b: Vec<Option<usize>> = columns.collect();
    a.sort_unstable();
    a.dedup();
    b.sort_unstable();
    b.dedup();
    a == b && a.iter().all(Option::is_some)
}

/// Some subqueries of its expressions run while rows are read.
fn runs_each_row(p: &SelectPlan) -> bool {
    let each = |e: &Expr| e.runs_each_row();
    let keys = |k: &[SortKey]| k.iter().any(|k| each(&k.expr));
    let computed = |c: &Computed| c.exprs.iter().any(each);
    p.filter.as_ref().is_some_and(each)
        || p.computed.as_ref().is_some_and(computed)
        || p.items.iter().any(|i| matches!(i, Out::Expr(e) if each(e)))
        || keys(&p.sort)
        || keys(&p.fallback_sort)
        || p.windows.as_ref().is_some_and(|w| {
            let mut found = false;
            w.for_each_expr(&mut |e| found |= each(e));
            found
        })
        || p.group.as_ref().is_some_and(|g| {
            keys(&g.keys)
                || g.computed.iter().any(each)
                || g.having.as_ref().is_some_and(each)
                || g.aggregates.iter().any(|a| a.args.iter().any(each))
        })
}
