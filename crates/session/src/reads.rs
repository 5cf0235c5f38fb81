//! Whether an UPDATE or DELETE reads columns, for the privilege check.

use narwal_sql::Stmt;
use narwal_sql::ast::{Assignment, AstExpr, SetValue};

/// A column that the statement reads: `None` if it reads none, `Some(None)` if one is read whose name is not known.
/// SELECT and INSERT are not looked at: what they read is among the privileges that they need anyway.
pub(crate) fn column_read(stmt: &Stmt) -> Option<Option<String>> {
    let assigned = |list: &[Assignment]| {
        list.iter().find_map(|a| match &a.value {
            SetValue::Expr(e) => of_expr(e),
            SetValue::Default | SetValue::Ignore => None,
        })
    };
    match stmt {
        Stmt::Update(u) => assigned(&u.assignments)
            .or_else(|| u.where_.as_ref().and_then(of_expr))
            .or_else(|| u.order_by.iter().find_map(|o| of_expr(&o.expr))),
        Stmt::Delete(d) => d
            .where_
            .as_ref()
            .and_then(of_expr)
            .or_else(|| d.order_by.iter().find_map(|o| of_expr(&o.expr))),
        // What is assigned there counts as read, as in MariaDB.
        Stmt::Insert(i) => i.on_duplicate.first().map(|a| Some(a.column.clone())),
        Stmt::Explain(inner, _) => column_read(inner),
        _ => None,
    }
}

fn of_expr(e: &AstExpr) -> Option<Option<String>> {
    match e {
        AstExpr::Column(name) => Some(Some(name.clone())),
        AstExpr::Qualified(q) => Some(Some(q.column.clone())),
        AstExpr::Literal(_)
        | AstExpr::Introduced { .. }
        | AstExpr::Temporal { .. }
        | AstExpr::Param(_)
        | AstExpr::UserVar(_)
        | AstExpr::SystemVar(_) => None,
        AstExpr::Nested(e)
        | AstExpr::Unary { expr: e, .. }
        | AstExpr::Cast { expr: e, .. }
        | AstExpr::Is { expr: e, .. } => of_expr(e),
        AstExpr::Binary { left, right, .. } => of_expr(left).or_else(|| of_expr(right)),
        AstExpr::Like {
            expr,
            pattern,
            escape: None,
            ..
        }
        | AstExpr::Regexp { expr, pattern, .. } => of_expr(expr).or_else(|| of_expr(pattern)),
        AstExpr::Between {
            expr, low, high, ..
        } => of_expr(expr)
            .or_else(|| of_expr(low))
            .or_else(|| of_expr(high)),
        AstExpr::InList { expr, list, .. } => {
            of_expr(expr).or_else(|| list.iter().find_map(of_expr))
        }
        AstExpr::Call(c) if c.clauses.is_none() => c.args.iter().find_map(of_expr),
        // What is not taken apart here may read something.
        _ => Some(None),
    }
}
