//! The names and values in the expressions of a statement.

use narwal_sql::expr::for_each_operand;
use narwal_syntax::ast::{
    Assignment, Expr, Expression, From, InsertSource, Join, JoinOn, Limit, OrderItem, Portion,
    Select, SelectItem, SetValue, Statement, WriteTargets,
};
use std::sync::Arc;

/// What is done to each name and value; it may put something else there.
pub type Each<'a> = &'a mut dyn FnMut(&mut Expr);

/// An expression. Columns in VALUES(c) and DEFAULT(c) are columns and nothing else.
pub fn expr(e: &mut Expr, f: Each<'_>) {
    match e {
        Expr::Values(_)
        | Expr::Default(_)
        | Expr::Column(_)
        | Expr::Qualified(_)
        | Expr::Literal(_)
        | Expr::Param(_)
        | Expr::CursorAttribute(..)
        | Expr::UserVar(_)
        | Expr::SystemVar(_) => f(e),
        _ => for_each_operand(e, &mut |e| expr(e, f)),
    }
}

/// An expression with its subqueries.
pub fn expression(e: &mut Expression, f: Each<'_>) {
    expr(&mut e.expr, f);
    subqueries(&mut e.subqueries, f);
}

/// An expression with those of its subqueries that read no table, so that a name in them can be no column.
pub fn without_tables(e: &mut Expression, f: Each<'_>) {
    expr(&mut e.expr, f);
    for (_, s) in &mut e.subqueries {
        tableless(s, f);
    }
}

fn tableless(s: &mut Select, f: Each<'_>) {
    if let Some(From::Set { first, rest }) = &mut s.from {
        tableless(first, f);
        for (_, inner) in rest {
            tableless(inner, f);
        }
        return;
    }
    if s.from.is_some() || !s.with.iter().all(|w| w.ctes.is_empty()) {
        return;
    }
    for i in &mut s.items {
        if let SelectItem::Expr { expr: e, .. } = i {
            expr(e, f);
        }
    }
    if let Some(e) = &mut s.where_ {
        expr(e, f);
    }
    // HAVING may name what is selected, but not within an aggregate.
    if let Some(e) = &mut s.having {
        within_aggregates(e, f);
    }
    if let Some(l) = &mut s.limit {
        expr(&mut l.count, f);
    }
    for (_, inner) in &mut s.subqueries {
        tableless(inner, f);
    }
}

/// Aggregates whose arguments are values of rows.
const AGGREGATES: [&str; 15] = [
    "sum",
    "avg",
    "min",
    "max",
    "count",
    "bit_and",
    "bit_or",
    "bit_xor",
    "std",
    "stddev",
    "stddev_pop",
    "stddev_samp",
    "variance",
    "var_pop",
    "var_samp",
];

fn within_aggregates(e: &mut Expr, f: Each<'_>) {
    match e {
        Expr::Call(c)
            if c.db.is_none() && AGGREGATES.iter().any(|a| c.name.eq_ignore_ascii_case(a)) =>
        {
            for_each_operand(e, &mut |e| expr(e, f));
        }
        e => for_each_operand(e, &mut |e| within_aggregates(e, f)),
    }
}

fn subqueries(list: &mut [(usize, Select)], f: Each<'_>) {
    for (_, s) in list {
        select(s, f);
    }
}

fn order(list: &mut [OrderItem], f: Each<'_>) {
    for o in list {
        expr(&mut o.expr, f);
    }
}

fn items(list: &mut [SelectItem], f: Each<'_>) {
    for i in list {
        if let SelectItem::Expr { expr: e, alias, .. } = i {
            let name = match &*e {
                Expr::Qualified(q) if q.db.is_none() => Some(format!("{}.{}", q.table, q.column)),
                _ => None,
            };
            expr(e, f);
            // A field of a row is named with its row.
            if matches!(e, Expr::Param(_)) && alias.is_none() {
                *alias = name;
            }
        }
    }
}

fn limit(l: Option<&mut Limit>, f: Each<'_>) {
    if let Some(l) = l {
        expr(&mut l.count, f);
        if let Some(o) = &mut l.offset {
            expr(o, f);
        }
    }
}

/// A query.
pub fn select(s: &mut Select, f: Each<'_>) {
    for cte in s.with.iter_mut().flat_map(|w| &mut w.ctes) {
        select(&mut Arc::make_mut(cte).query, f);
    }
    items(&mut s.items, f);
    if let Some(t) = &mut s.from {
        from(t, f);
    }
    for e in [&mut s.where_, &mut s.having].into_iter().flatten() {
        expr(e, f);
    }
    order(&mut s.group_by, f);
    order(&mut s.order_by, f);
    limit(s.limit.as_mut(), f);
    subqueries(&mut s.subqueries, f);
}

fn from(t: &mut From, f: Each<'_>) {
    match t {
        From::Table(_) | From::JsonTable(_) => {}
        From::Query { query, .. } => select(query, f),
        From::Set { first, rest } => {
            select(first, f);
            for (_, s) in rest {
                select(s, f);
            }
        }
        From::Join(j) => {
            let Join {
                left, right, on, ..
            } = &mut **j;
            from(left, f);
            from(right, f);
            if let JoinOn::On(e) = on {
                expr(e, f);
            }
        }
    }
}

fn value(v: &mut SetValue, f: Each<'_>) {
    if let SetValue::Expr(e) = v {
        expr(e, f);
    }
}

fn portion(p: &mut Option<Portion>, f: Each<'_>) {
    if let Some(p) = p {
        expr(&mut p.from, f);
        expr(&mut p.to, f);
    }
}

fn assignments(list: &mut [Assignment], f: Each<'_>) {
    for a in list {
        value(&mut a.value, f);
    }
}

/// A statement of narwal-sql's.
pub fn statement(s: &mut Statement, f: Each<'_>) {
    match s {
        Statement::Select(q) | Statement::Do(q) => select(q, f),
        Statement::SelectInto(s) => select(&mut s.select, f),
        Statement::Insert(i) => {
            match &mut i.source {
                InsertSource::Values(rows) => {
                    for v in rows.iter_mut().flatten() {
                        value(v, f);
                    }
                }
                InsertSource::Literals(_) => {}
                InsertSource::Select(q) => select(q, f),
            }
            assignments(&mut i.on_duplicate, f);
            items(&mut i.returning, f);
            subqueries(&mut i.subqueries, f);
        }
        Statement::Update(u) => {
            portion(&mut u.portion, f);
            assignments(&mut u.assignments, f);
            for e in [&mut u.where_, &mut u.limit].into_iter().flatten() {
                expr(e, f);
            }
            order(&mut u.order_by, f);
            subqueries(&mut u.subqueries, f);
        }
        Statement::Delete(d) => {
            portion(&mut d.portion, f);
            for e in [&mut d.where_, &mut d.limit].into_iter().flatten() {
                expr(e, f);
            }
            order(&mut d.order_by, f);
            items(&mut d.returning, f);
            subqueries(&mut d.subqueries, f);
        }
        Statement::WriteJoin(w) => {
            if let WriteTargets::Update(list) = &mut w.targets {
                assignments(list, f);
            }
            select(&mut w.select, f);
        }
        Statement::Explain(inner, _) => statement(inner, f),
        Statement::SetStatement(s) => statement(&mut s.statement, f),
        Statement::LoadData(_)
        | Statement::Ddl(_)
        | Statement::Program(_)
        | Statement::Admin(_) => {}
    }
}
