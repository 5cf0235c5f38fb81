//! Whether an UPDATE or DELETE reads columns, for the privilege check.

use narwal_sql::Stmt;
use narwal_sql::ast::{Assignment, AstExpr, SetValue};
use sqlparser::ast::{FunctionArg, FunctionArgExpr, FunctionArguments};

/// A column that the statement reads: `None` if it reads none, `Some(None)` if one is read whose name is not known.
/// SELECT and INSERT are not looked at: what they read is among the privileges that they need anyway.
pub(crate) fn column_read(stmt: &Stmt) -> Option<Option<String>> {
    let assigned = |list: &[Assignment]| {
        list.iter().find_map(|a| match &a.value {
            SetValue::Expr(e) => of_expr(e),
            SetValue::Default => None,
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
        Stmt::Insert(i) => assigned(&i.on_duplicate),
        Stmt::Explain(inner, _) => column_read(inner),
        _ => None,
    }
}

fn of_expr(e: &AstExpr) -> Option<Option<String>> {
    match e {
        AstExpr::Identifier(i) if i.value.starts_with('@') => None,
        AstExpr::Identifier(i) => Some(Some(i.value.clone())),
        AstExpr::CompoundIdentifier(parts) => {
            if parts.first().is_some_and(|p| p.value.starts_with('@')) {
                return None;
            }
            Some(parts.last().map(|p| p.value.clone()))
        }
        AstExpr::Value(_) => None,
        AstExpr::Nested(e)
        | AstExpr::UnaryOp { expr: e, .. }
        | AstExpr::Cast { expr: e, .. }
        | AstExpr::IsNull(e)
        | AstExpr::IsNotNull(e) => of_expr(e),
        AstExpr::BinaryOp { left, right, .. } => of_expr(left).or_else(|| of_expr(right)),
        AstExpr::Between {
            expr, low, high, ..
        } => of_expr(expr)
            .or_else(|| of_expr(low))
            .or_else(|| of_expr(high)),
        AstExpr::InList { expr, list, .. } => {
            of_expr(expr).or_else(|| list.iter().find_map(of_expr))
        }
        AstExpr::Function(f) => match &f.args {
            FunctionArguments::None => None,
            FunctionArguments::List(l) => l.args.iter().find_map(|a| match a {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) => of_expr(e),
                _ => Some(None),
            }),
            FunctionArguments::Subquery(_) => Some(None),
        },
        // What is not taken apart here may read something.
        _ => Some(None),
    }
}
