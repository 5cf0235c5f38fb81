//! Binding and planning SELECT.

use crate::bind::bind;
use crate::bind::scope::{Clause, OuterScope, Scope, Source};
use crate::bind::window::{bind_windows, check_named, refuse_window};
use crate::bind::windows::{Windows, WindowsHere};
use crate::env::StatementEnv;
use crate::expr::node::{AggFunc, Aggregate, Expr, ExprKind, ExprType};
use crate::plan::access::Access;
use crate::plan::query::SortKey;
use crate::plan::query::{Digits, GroupPlan, LimitPlan, Out, SelectPlan};
use crate::plan::query::{LockSpec, Rows, TablePlan};
use crate::planner::condition::all_of;
use crate::planner::condition::split_late;
use crate::planner::logical::{Body, FromPlan, Joining};
use crate::planner::resolve::Resolver;
use crate::planner::rules::group_index::{ends, in_index_order, index_groups};
use crate::planner::rules::once::{Clauses, settle};
use crate::planner::subqueries::Subqueries;
use crate::planner::window::settle_windows;
use crate::star::At;
use narwal_engine::{LockMode, LockWait};
use narwal_syntax::ast::{Expr as AstExpr, From, Limit, Literal, Select, SelectItem};
use narwal_syntax::ast::{LockWait as Wait, UnaryOp};
use narwal_types::errors;
use narwal_types::{ResultColumn, SqlResult, Value};
use smallvec::SmallVec;
use std::cell::RefCell;

pub fn number_literal(e: &AstExpr) -> Option<&str> {
    match e {
        AstExpr::Literal(Literal::Number(n)) => Some(n),
        _ => None,
    }
}

/// What a locking clause does about the locks of others.
fn lock_wait(wait: Wait) -> LockWait {
    match wait {
        Wait::Default => LockWait::Wait,
        Wait::Seconds(0) | Wait::NoWait => LockWait::NoWait,
        Wait::Seconds(n) => LockWait::UpTo(std::time::Duration::from_secs(n)),
        Wait::SkipLocked => LockWait::SkipLocked,
    }
}

/// An integer in GROUP BY or ORDER BY: the place of a selected expression, or of none.
fn position(e: &AstExpr) -> Option<i128> {
    match e {
        AstExpr::Unary {
            op: UnaryOp::Minus,
            expr,
        } => position(expr).map(|n| -n),
        AstExpr::Nested(inner) => position(inner),
        e => number_literal(e)?.parse().ok(),
    }
}

/// Describes an output column.
/// `of`: the column that it is, by its place in its source.
fn result_column(name: &str, e: &Expr, of: Option<(&Source, usize)>) -> ResultColumn {
    let t: ExprType = e.ty();
    let mut c = ResultColumn {
        db: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: name.to_string(),
        org_name: String::new(),
        ty: t.ty,
        nullable: t.nullable,
        length: 0,
        decimals: t.decimals,
        primary_key: false,
        unique_key: false,
        multiple_key: false,
        auto_increment: false,
        null_type: t.null,
        json: t.json,
    };
    if let Some((s, col)) = of {
        let table = &s.table;
        let def = &table.columns()[col];
        c.db = table.def.db.clone();
        c.table = s.name.clone();
        c.org_table = table.def.name.clone();
        c.org_name = def.name.clone();
        c.auto_increment = def.auto_increment;
        for i in table.indexes.iter() {
            let Some(at) = i.parts.iter().position(|p| p.column == col) else {
                continue;
            };
            if i.name == "PRIMARY" {
                c.primary_key = true;
            } else if at == 0 {
                if i.unique && i.parts.len() == 1 {
                    c.unique_key = true;
                } else {
                    c.multiple_key = true;
                }
            }
        }
    }
    c
}

/// The source and the column that a select item names.
fn source_of<'s>(ast: &AstExpr, e: &Expr, sources: &'s [Source]) -> Option<(&'s Source, usize)> {
    let found = e.as_column().and_then(|(at, c)| {
        let s = sources.get(at)?;
        Some((s, c - s.base))
    });
    match found {
        Some((s, c)) if !s.inner => Some((s, c)),
        _ if !matches!(ast, AstExpr::Column(_) | AstExpr::Qualified(_)) => None,
        // A column of a merged view.
        _ => sources.iter().filter(|s| !s.inner).find_map(|s| {
            let of = s.view.as_ref()?;
            Some((s, of.columns.iter().position(|x| x.kind == e.kind)?))
        }),
    }
}

impl Resolver<'_> {
    /// Binds LIMIT's operands.
    pub fn limit(&self, limit: Option<&Limit>) -> SqlResult<Option<LimitPlan>> {
        let env = self.env;
        let Some(l) = limit else {
            if env.select_limit == u64::MAX {
                return Ok(None);
            }
            return Ok(Some(LimitPlan {
                offset: None,
                count: None,
            }));
        };
        Ok(Some(LimitPlan {
            offset: l.offset.as_ref().map(|e| self.limit_value(e)).transpose()?,
            count: Some(self.limit_value(&l.count)?),
        }))
    }

    /// One operand.
    pub fn limit_value(&self, e: &AstExpr) -> SqlResult<Expr> {
        let mut x = bind(e, &Scope::empty(self.env))?;
        // Numbers beyond BIGINT mean no limit.
        if let (ExprKind::Literal(v), Some(n)) = (&x.kind, number_literal(e))
            && !matches!(v, Value::Int(_) | Value::UInt(_))
        {
            x.kind = ExprKind::Literal(Value::UInt(n.parse().unwrap_or(u64::MAX)));
        }
        Ok(x)
    }

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
        match &s.with {
            Some(with) => self.with(with, || self.select_body(s, outer)),
            None => self.select_body(s, outer),
        }
    }

    fn select_body(&self, s: &Select, outer: Option<&OuterScope<'_>>) -> SqlResult<SelectPlan> {
        let env: &StatementEnv = self.env;
        let row_keys = self.row_keys.take();
        let subqueries = Subqueries::new(self, &s.subqueries);
        let FromPlan {
            sources,
            body,
            merged,
            shown,
        } = self.from(s.from.as_ref(), &subqueries, outer)?;
        let aggregates = RefCell::new(Vec::<Aggregate>::new());
        check_named(&s.windows)?;
        let windows = Windows::new(&s.windows);
        let base = Scope {
            sources: &sources,
            first: 0,
            aliases: &[],
            clause: Clause::FieldList,
            aggregates: Some(&aggregates),
            items: &[],
            grouped: &[],
            in_aggregate: false,
            windows: WindowsHere::Refused,
            insert_values: false,
            planner: Some(&subqueries),
            outer,
            env,
        };
        let with_windows = Scope {
            windows: WindowsHere::Allowed(&windows),
            ..base
        };
        // The select list.
        let params_before = env.params_bound.get();
        let mut bound: Vec<Expr> = Vec::with_capacity(s.items.len());
        let mut columns: Vec<ResultColumn> = Vec::with_capacity(s.items.len());
        let mut aliases: Vec<(String, Expr)> = Vec::new();
        let mut items: Vec<(String, Expr)> = Vec::new();
        let volatile = |e: &Expr| {
            e.any(&|e| match &e.kind {
                ExprKind::Subquery(s) => subqueries.is_volatile(s.index),
                _ => e.changes(),
            })
        };
        let mut named_items: SmallVec<[usize; 8]> = SmallVec::new();
        let need_aliases = !s.order_by.is_empty() || !s.group_by.is_empty() || s.having.is_some();
        let need_items = need_aliases && sources.len() > 1;
        for item in &s.items {
            match item {
                SelectItem::Wildcard | SelectItem::TableWildcard(_) => {
                    if sources.is_empty() {
                        return Err(errors::NO_TABLES_USED.plain());
                    }
                    let wanted: Vec<At> = match item {
                        SelectItem::TableWildcard(name) => {
                            let found = sources.iter().position(|s| {
                                !s.inner
                                    && s.is_named(&name.name)
                                    && name.db.as_ref().is_none_or(|d| s.is_in(d))
                            });
                            let at =
                                found.ok_or_else(|| errors::BAD_TABLE_ERROR.with([&name.name]))?;
                            let columns = 0..sources[at].table.columns().len();
                            columns.map(|c| (at, c)).collect()
                        }
                        _ => shown.clone(),
                    };
                    for (at, i) in wanted {
                        let found = self.of_all(|| Expr::column(&base, at, i));
                        let Some(e) = found else {
                            continue;
                        };
                        let name = &sources[at].table.columns()[i].name;
                        columns.push(result_column(name, &e, Some((&sources[at], i))));
                        if need_items {
                            items.push((name.clone(), e.clone()));
                        }
                        bound.push(e);
                    }
                }
                SelectItem::Expr { expr, alias, text } => {
                    let e = bind(expr, &with_windows)?;
                    let of = source_of(expr, &e, &sources);
                    let name = match (alias, of) {
                        (Some(a), _) => a.clone(),
                        // A column is named as it is defined; those of virtual tables as they were written.
                        (None, Some((s, c))) if !s.is_virtual() => {
                            s.table.columns()[c].name.clone()
                        }
                        _ => text.clone(),
                    };
                    columns.push(result_column(&name, &e, of));
                    if alias.is_some() || e.as_column().is_none() {
                        named_items.push(bound.len());
                    } else if need_items {
                        items.push((name.clone(), e.clone()));
                    }
                    bound.push(e);
                }
            }
        }
        let need_aliases = need_aliases || !windows.is_empty();
        if need_aliases {
            aliases.extend(named_items.into_iter().map(|n| {
                let marked = volatile(&bound[n]).then(|| bound[n].as_item(n));
                let e = marked.unwrap_or_else(|| bound[n].clone());
                (columns[n].name.clone(), e)
            }));
        }
        if env.params_bound.get() != params_before {
            env.params_typed.set(true);
        }
        // Items as other clauses name them.
        let marked: Option<Vec<Expr>> = (need_aliases && bound.iter().any(volatile)).then(|| {
            let mark = |(n, e): (usize, &Expr)| match volatile(e) {
                true => e.as_item(n),
                false => e.clone(),
            };
            bound.iter().enumerate().map(mark).collect()
        });
        let named = marked.as_deref().unwrap_or(&bound);
        let where_ = s
            .where_
            .as_ref()
            .map(|w| {
                bind(
                    w,
                    &Scope {
                        clause: Clause::Where,
                        aggregates: None,
                        ..base
                    },
                )
            })
            .transpose()?;
        let group_keys = s
            .group_by
            .iter()
            .map(|g| {
                let key = self.order_item(
                    &g.expr,
                    g.desc,
                    named,
                    &Scope {
                        clause: Clause::GroupBy,
                        aliases: &aliases,
                        items: &items,
                        aggregates: None,
                        ..base
                    },
                )?;
                refuse_window(&key.expr)?;
                if key.expr.has_aggregate() {
                    return Err(errors::WRONG_GROUP_FIELD.plain());
                }
                Ok(key)
            })
            .collect::<SqlResult<Vec<_>>>()?;
        let grouped_columns: Vec<(usize, usize)> = group_keys
            .iter()
            .filter_map(|k| k.expr.as_column())
            .collect();
        let having = s
            .having
            .as_ref()
            .map(|h| {
                bind(
                    h,
                    &Scope {
                        clause: Clause::Having,
                        aliases: &aliases,
                        items: &items,
                        grouped: &grouped_columns,
                        ..base
                    },
                )
            })
            .transpose()?;
        having.iter().try_for_each(refuse_window)?;
        let mut order = s
            .order_by
            .iter()
            .map(|o| {
                self.order_item(
                    &o.expr,
                    o.desc,
                    named,
                    &Scope {
                        clause: Clause::OrderBy,
                        aliases: &aliases,
                        items: &items,
                        ..with_windows
                    },
                )
            })
            .collect::<SqlResult<Vec<_>>>()?;
        if matches!(s.from, Some(From::Set { .. }))
            && let Some(n) = order.iter().position(|k| k.expr.has_window())
        {
            return Err(errors::AGGREGATE_ORDER_FOR_UNION.with([&(n + 1)]));
        }
        let mut calls = bind_windows(
            windows.calls.take(),
            &Scope {
                aliases: &aliases,
                ..base
            },
        )?;
        let aggregates = aggregates.into_inner();
        order.retain(|k| !k.expr.is_const());
        let filter = match merged.filter.is_empty() {
            true => where_,
            false => all_of(merged.filter.into_iter().chain(where_).collect()),
        };
        let grouped = !group_keys.is_empty() || !aggregates.is_empty();
        if s.order_by.is_empty() && !grouped && !s.distinct {
            order = merged.order;
        }
        if grouped && env.sql_mode.has(narwal_syntax::SqlMode::ONLY_FULL_GROUP_BY) {
            self.full_group_by(&bound, &group_keys)?;
        }
        // HAVING without groups is another WHERE.
        let mut having = having;
        let limit = self.limit(s.limit.as_ref())?;
        let known_limit = if grouped
            || !calls.is_empty()
            || s.distinct
            || s.calc_found_rows
            || having.is_some()
        {
            None
        } else {
            match (&limit, s.limit.as_ref()) {
                (Some(l), Some(_)) => known(l.count.as_ref()).map(|c| {
                    c.saturating_add(l.offset.as_ref().map_or(0, |o| known(Some(o)).unwrap_or(0)))
                }),
                _ => None,
            }
        };
        let wanted: Option<Vec<(usize, bool)>> = if grouped || !calls.is_empty() {
            None
        } else {
            order
                .iter()
                .map(|k| k.expr.as_column().map(|(_, c)| (c, k.desc)))
                .collect()
        };
        let lock = match (&s.locking, &body) {
            (Some(l), Body::One(..) | Body::Join(..)) => Some(LockSpec {
                mode: if l.exclusive {
                    LockMode::Exclusive
                } else {
                    LockMode::Shared
                },
                wait: lock_wait(l.wait),
                changes: false,
            }),
            _ => None,
        };
        let mut group = grouped.then(|| GroupPlan {
            counts_only: aggregates.iter().all(|a| counts_rows(a, &sources)),
            aggregates,
            rollup: s.rollup,
            ..GroupPlan::of(group_keys)
        });
        let mut filter = filter;
        let mut late = None;
        let mut sorted_by_access = false;
        let mut table = None;
        if let Body::One(r, hints) = &body
            && filter.as_ref().is_some_and(Expr::runs_each_row)
            && matches!(r.rows, Rows::Stored)
        {
            let scope = Scope {
                sources: &sources,
                clause: Clause::Where,
                planner: Some(&subqueries),
                outer,
                ..Scope::empty(env)
            };
            filter = self.semi_joins(filter.take(), &r.source.table, hints, &subqueries, &scope)?;
        }
        if group.is_none()
            && let Some(mut h) = having.take()
        {
            h.take_marks_off();
            filter = all_of(filter.take().into_iter().chain([h]).collect());
        }
        if !matches!(body, Body::Nothing) {
            (filter, late) = split_late(filter);
        }
        match body {
            Body::One(r, hints) => {
                let stored = matches!(r.rows, Rows::Stored);
                let access = if stored {
                    Access::choose(
                        &r.source.table,
                        filter.as_ref(),
                        wanted.as_deref().unwrap_or(&[]),
                        known_limit,
                        &hints,
                        &self.estimates,
                    )?
                } else {
                    Access::full(0)
                };
                sorted_by_access =
                    stored && wanted.is_some() && access.ordered && !order.is_empty();
                table = Some(TablePlan {
                    table: r.source.table.clone(),
                    access,
                    filter: filter.take(),
                    late: late.take(),
                    rows: r.rows,
                    cover: None,
                });
            }
            Body::Join(leaves, tree) => {
                let of = Joining {
                    filter: filter.take(),
                    late: late.take(),
                    params: s.params,
                    lock,
                    row_keys: &row_keys,
                    straight: s.straight || s.from.as_ref().is_some_and(From::is_straight),
                };
                table = Some(match sources.iter().any(|s| s.view.is_some()) {
                    false => self.join(leaves, tree, &sources, of)?,
                    true => {
                        let with_rows: Vec<Source> =
                            (sources.iter().filter(|s| s.view.is_none()).cloned()).collect();
                        self.join(leaves, tree, &with_rows, of)?
                    }
                });
            }
            Body::Nothing => {}
        }
        let mut computed = settle(
            Clauses {
                items: &mut bound,
                group: group.as_mut(),
                having: having.as_mut(),
                order: &mut order,
            },
            table.as_ref().map(|t| &*t.table),
            &volatile,
        )?;
        if let Some(g) = &mut group {
            if g.rollup {
                if !s.order_by.is_empty() {
                    return Err(
                        errors::WRONG_USAGE.text("Incorrect usage of CUBE/ROLLUP and ORDER BY")
                    );
                }
                let mut of_groups = std::mem::take(&mut g.computed);
                for e in bound.iter_mut().chain(&mut having).chain(&mut of_groups) {
                    rolled_up(e, g);
                }
                for c in &mut calls {
                    c.for_each_expr_mut(&mut |e| rolled_up(e, g));
                }
                g.computed = of_groups;
                for (c, e) in columns.iter_mut().zip(&bound) {
                    c.nullable |= e.ty.nullable;
                }
            }
            g.having = having;
        }
        let has_order = !order.is_empty();
        let mut windows = settle_windows(calls, group.as_ref(), &mut bound, &mut order);
        let (mut sort, fallback_sort) = if sorted_by_access {
            (Vec::new(), order)
        } else {
            (order, Vec::new())
        };
        if let Some(g) = &group {
            if sort.is_empty() && !has_order && s.order_by.is_empty() && !g.rollup {
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
        // DISTINCT is a grouping by the columns themselves.
        let distinct_keys: Option<Vec<SortKey>> =
            (s.distinct && group.is_none() && windows.is_none() && !has_order)
                .then(|| {
                    let key = |e: &Expr| SortKey {
                        expr: e.clone(),
                        desc: false,
                    };
                    let column = |e: &Expr| e.as_column().map(|_| key(e));
                    bound.iter().map(column).collect()
                })
                .flatten();
        let items: Vec<Out> = bound
            .into_iter()
            .map(|e| match e.kind {
                ExprKind::Column {
                    column, timestamp, ..
                } if !(timestamp && env.pads(&e.ty.ty)) => Out::Column { column, timestamp },
                _ => Out::Expr(e),
            })
            .collect();
        // What is looked at behind the FROM.
        let mut looked_at = Vec::new();
        let mut add = |c: usize| looked_at.push(c);
        for i in &items {
            match i {
                Out::Column { column, .. } => add(*column),
                Out::Expr(e) => e.for_each_column(&mut add),
            }
        }
        for k in sort.iter().chain(&fallback_sort) {
            k.expr.for_each_column(&mut add);
        }
        if let Some(w) = &mut windows {
            w.for_each_expr(&mut |e| e.for_each_column(&mut add));
            w.columns.clone_from(&looked_at);
            w.columns.sort_unstable();
            w.columns.dedup();
        }
        let mut add = |c: usize| looked_at.push(c);
        if let Some(g) = &mut group {
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
        }
        let mut distinct = s.distinct;
        let plain = lock.is_none() && !s.calc_found_rows;
        if let Some(t) = &mut table {
            if let (Some(keys), true) = (distinct_keys, plain) {
                let mut g = GroupPlan::of(keys);
                g.row_columns.clone_from(&looked_at);
                g.by_index = index_groups(t, &g, &self.estimates);
                if g.by_index.is_some() {
                    distinct = false;
                    group = Some(g);
                }
            } else if let (Some(g), true) = (&mut group, plain && computed.is_none()) {
                g.by_index = index_groups(t, g, &self.estimates);
                if g.by_index.is_some() && in_index_order(t, &sort) {
                    sort.clear();
                }
                g.ends = ends(t, g).unwrap_or_default();
            }
            if let Some(c) = &mut computed {
                c.looks_at(&mut looked_at);
            }
            t.wants(looked_at);
        }
        let distinct_by_sort =
            s.distinct && group.is_none() && windows.is_none() && !sort.is_empty() && {
                let mut a: Vec<Option<usize>> = items
                    .iter()
                    .map(|i| match i {
                        Out::Column { column, .. } => Some(*column),
                        Out::Expr(_) => None,
                    })
                    .collect();
                let mut b: Vec<Option<usize>> = sort
                    .iter()
                    .map(|k| k.expr.as_column().map(|(_, c)| c))
                    .collect();
                a.sort_unstable();
                a.dedup();
                b.sort_unstable();
                b.dedup();
                a == b && a.iter().all(Option::is_some)
            };
        let each = |e: &Expr| e.runs_each_row();
        let keys = |k: &Vec<SortKey>| k.iter().any(|k| each(&k.expr));
        let row_wise = filter.as_ref().is_some_and(each)
            || computed.as_ref().is_some_and(|c| c.exprs.iter().any(each))
            || items.iter().any(|i| matches!(i, Out::Expr(e) if each(e)))
            || keys(&sort)
            || keys(&fallback_sort)
            || windows.as_ref().is_some_and(|w| {
                let mut found = false;
                w.for_each_expr(&mut |e| found |= each(e));
                found
            })
            || group.as_ref().is_some_and(|g| {
                keys(&g.keys)
                    || g.computed.iter().any(each)
                    || g.having.as_ref().is_some_and(each)
                    || g.aggregates.iter().any(|a| a.args.iter().any(each))
            });
        Ok(SelectPlan {
            table,
            names: (sources.iter().filter(|s| s.view.is_none()))
                .map(|s| s.name.clone())
                .collect(),
            filter,
            computed,
            items,
            columns: columns.into(),
            group,
            windows,
            sort,
            fallback_sort,
            distinct,
            distinct_by_sort,
            limit,
            calc_found_rows: s.calc_found_rows,
            lock,
            subqueries: subqueries.into_plans(),
            row_wise,
            stop_after: None,
            digits: Digits::Shown,
        })
    }

    pub(super) fn order_item(
        &self,
        e: &AstExpr,
        desc: bool,
        items: &[Expr],
        scope: &Scope<'_>,
    ) -> SqlResult<SortKey> {
        if let Some(n) = position(e) {
            let at = usize::try_from(n).ok().and_then(|n| n.checked_sub(1));
            let item = at
                .and_then(|i| items.get(i))
                .ok_or_else(|| errors::BAD_FIELD_ERROR.with([&n, &scope.clause.name()]))?;
            return Ok(SortKey {
                expr: item.clone(),
                desc,
            });
        }
        Ok(SortKey {
            expr: bind(e, scope)?,
            desc,
        })
    }

    fn full_group_by(&self, items: &[Expr], keys: &[SortKey]) -> SqlResult<()> {
        fn ok(e: &Expr, keys: &[SortKey]) -> bool {
            if keys.iter().any(|k| *k.expr.without_mark() == *e) {
                return true;
            }
            if matches!(e.kind, ExprKind::Column { .. }) {
                return false;
            }
            let mut fine = true;
            e.for_each_child(&mut |c| fine &= ok(c, keys));
            fine
        }
        for e in items {
            if !ok(e, keys) {
                return Err(errors::WRONG_FIELD_WITH_GROUP.plain());
            }
        }
        Ok(())
    }
}

/// Reads group keys from where WITH ROLLUP puts their values.
fn rolled_up(e: &mut Expr, g: &GroupPlan) {
    match g.keys.iter().position(|k| k.expr == *e) {
        Some(i) => {
            e.kind = ExprKind::Aggregate(g.aggregates.len() + i);
            e.ty.nullable = true;
        }
        None => {
            e.for_each_child_mut(&mut |c| rolled_up(c, g));
            let mut nullable = false;
            e.for_each_child(&mut |c| nullable |= c.ty.nullable);
            e.ty.nullable |= nullable && !matches!(e.kind, ExprKind::Func { .. });
        }
    }
}

fn known(e: Option<&Expr>) -> Option<u64> {
    match &e?.kind {
        ExprKind::Literal(Value::Int(i)) => u64::try_from(*i).ok(),
        ExprKind::Literal(Value::UInt(u)) => Some(*u),
        _ => None,
    }
}

/// COUNT(*), or COUNT of what is never NULL.
fn counts_rows(a: &Aggregate, sources: &[Source]) -> bool {
    a.func == AggFunc::Count
        && !a.distinct
        && match a.args.as_slice() {
            [] => true,
            [e] => match e.as_column() {
                Some((at, c)) => !sources[at].column_type(c - sources[at].base).nullable,
                None => matches!(&e.kind, ExprKind::Literal(v) if !v.is_null()),
            },
            _ => false,
        }
}
