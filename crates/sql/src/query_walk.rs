//! Walks over the tree of a query.

use narwal_syntax::ast::{Expr as AstExpr, From, JoinOn, Select, SelectItem, TableName, TableRef};
use std::sync::Arc;

/// Calls `f` with each expression of a SELECT that is not inside of another SELECT.
pub(crate) fn for_each_expr(s: &mut Select, f: &mut dyn FnMut(&mut AstExpr)) {
    fn conditions(from: &mut From, f: &mut dyn FnMut(&mut AstExpr)) {
        if let From::Join(j) = from {
            conditions(&mut j.left, f);
            conditions(&mut j.right, f);
            if let JoinOn::On(e) = &mut j.on {
                f(e);
            }
        }
    }
    for item in &mut s.items {
        if let SelectItem::Expr { expr, .. } = item {
            f(expr);
        }
    }
    if let Some(from) = &mut s.from {
        conditions(from, f);
    }
    s.where_.iter_mut().chain(&mut s.having).for_each(&mut *f);
    for o in s.group_by.iter_mut().chain(&mut s.order_by) {
        f(&mut o.expr);
    }
}

/// Calls `f` with a SELECT and each one inside of it.
pub(crate) fn for_each_select(s: &mut Select, f: &mut dyn FnMut(&mut Select)) {
    fn of_from(from: &mut From, f: &mut dyn FnMut(&mut Select)) {
        match from {
            From::Table(_) | From::JsonTable(_) => {}
            From::Query { query, .. } => for_each_select(query, f),
            From::Set { first, rest } => {
                for_each_select(first, f);
                rest.iter_mut().for_each(|(_, s)| for_each_select(s, f));
            }
            From::Join(j) => {
                of_from(&mut j.left, f);
                of_from(&mut j.right, f);
            }
        }
    }
    if let Some(with) = &mut s.with {
        for cte in &mut with.ctes {
            for_each_select(&mut Arc::make_mut(cte).query, f);
        }
    }
    if let Some(from) = &mut s.from {
        of_from(from, f);
    }
    for (_, q) in &mut s.subqueries {
        for_each_select(q, f);
    }
    f(s);
}

pub(crate) fn for_each_table(s: &mut Select, f: &mut dyn FnMut(&mut TableRef)) {
    fn of_from(from: &mut From, f: &mut dyn FnMut(&mut TableRef)) {
        match from {
            From::Table(t) => f(t),
            From::Join(j) => {
                of_from(&mut j.left, f);
                of_from(&mut j.right, f);
            }
            From::Query { .. } | From::Set { .. } | From::JsonTable(_) => {}
        }
    }
    for_each_select(s, &mut |s| {
        if let Some(from) = &mut s.from {
            of_from(from, f);
        }
    });
}

/// The tables and views that a SELECT of a view names.
pub(crate) fn tables(s: &Select) -> Vec<TableName> {
    tables_of(&mut s.clone())
}

/// As [`tables`], of one that may be walked over; it stays as it is.
pub(crate) fn tables_of(s: &mut Select) -> Vec<TableName> {
    let mut out = Vec::new();
    for_each_table(s, &mut |t| out.push(t.name.clone()));
    out
}
