//! What is stored of a view, as the planner and DDL read it.

use crate::ast::Stmt;
use crate::expr::for_each_operand;
use crate::lower::parse_statement;
use crate::query_walk::for_each_expr;
use narwal_engine::ViewDef;
use narwal_syntax::ParseOptions;
use narwal_syntax::ast::{Expr, From, Select, SelectItem};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult};

/// Views within each other, at most.
pub(crate) const MAX_DEPTH: usize = 64;

/// True if a SELECT's rows are rows of its FROM, unless it has aggregates.
pub(crate) fn is_mergeable(s: &Select) -> bool {
    s.with.is_none()
        && !s.distinct
        && s.group_by.is_empty()
        && s.having.is_none()
        && s.limit.is_none()
        && s.locking.is_empty()
        && !matches!(s.from, None | Some(From::Set { .. }))
        && !has_window(s)
}

/// True if the order of a query in FROM is not that of the rows it gives: they come as if its tables stood there.
pub(crate) fn loses_order(s: &Select) -> bool {
    let plain = |s: &Select| {
        s.limit.is_none()
            && !s.distinct
            && s.group_by.is_empty()
            && s.having.is_none()
            && s.locking.is_empty()
            && !has_window(s)
    };
    let put_together = matches!(&s.from, Some(From::Set { rest, .. }) if !rest.is_empty());
    plain(s) && !put_together
}

/// True if a SELECT numbers the rows of a query in its FROM that has an order: it says which row has which number.
pub(crate) fn numbers_rows_in_order(s: &Select) -> bool {
    fn is_ordered(f: &From) -> bool {
        match f {
            From::Query { query, .. } => !query.order_by.is_empty(),
            From::Join(j) => is_ordered(&j.left) || is_ordered(&j.right),
            _ => false,
        }
    }
    fn numbers(e: &mut Expr) -> bool {
        let mut found = matches!(e, Expr::Call(c) if c.name.eq_ignore_ascii_case("rownum"));
        for_each_operand(e, &mut |e| found = found || numbers(e));
        found
    }
    let mut found = false;
    if s.from.as_ref().is_some_and(is_ordered) {
        for_each_expr(&mut s.clone(), &mut |e| found = found || numbers(e));
    }
    found
}

/// True if a SELECT has window functions.
fn has_window(s: &Select) -> bool {
    let items = s.items.iter().filter_map(|i| match i {
        SelectItem::Expr { expr, .. } => Some(expr),
        _ => None,
    });
    let mut all = items.chain(s.order_by.iter().map(|o| &o.expr));
    all.any(|e| calls_window(&mut e.clone()))
}

fn calls_window(e: &mut Expr) -> bool {
    if let Expr::Call(c) = e
        && c.clauses.as_ref().is_some_and(|c| c.over.is_some())
    {
        return true;
    }
    let mut found = false;
    for_each_operand(e, &mut |e| found = found || calls_window(e));
    found
}

/// Gives the columns of a query other names.
pub(crate) fn name_columns(s: &mut Select, names: &[String]) {
    if let Some(From::Set { first, .. }) = &mut s.from {
        return name_columns(first, names);
    }
    for (item, name) in s.items.iter_mut().zip(names) {
        if let SelectItem::Expr { alias, .. } = item {
            *alias = Some(name.clone());
        }
    }
}

/// The SELECT of a stored view.
pub(crate) fn parsed(def: &ViewDef) -> SqlResult<Box<Select>> {
    let options = ParseOptions::default();
    let statement = match parse_statement(&def.select, &options) {
        // Folders of earlier versions have VALUES(column) for VALUE(column), which is of ON DUPLICATE KEY UPDATE alone.
        Err(e) if e.code == codes::PARSE_ERROR && def.select.contains("values(`") => {
            parse_statement(&def.select.replace("values(`", "value(`"), &options)
        }
        statement => statement,
    };
    match statement? {
        Stmt::Select(s) => Ok(s),
        _ => Err(SqlError::unsupported("this view")),
    }
}

/// Error 1356.
pub fn invalid(db: &str, name: &str) -> SqlError {
    errors::VIEW_INVALID.with([&db, &name])
}

/// Error 1347.
pub fn wrong_kind(db: &str, name: &str, kind: &str) -> SqlError {
    errors::WRONG_OBJECT.with([&db, &name, &kind])
}
