//! The names and values inside of parsed expressions.

use sqlparser::ast::{
    Expr as Ast, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArguments,
};

/// Calls `f` with each name and each value in an expression; it may put something else there.
pub fn for_each_leaf(e: &mut Ast, f: &mut dyn FnMut(&mut Ast)) {
    match e {
        Ast::Identifier(_) | Ast::CompoundIdentifier(_) | Ast::Value(_) => f(e),
        Ast::Nested(e)
        | Ast::UnaryOp { expr: e, .. }
        | Ast::Cast { expr: e, .. }
        | Ast::Convert { expr: e, .. }
        | Ast::Collate { expr: e, .. }
        | Ast::Prefixed { value: e, .. }
        | Ast::Extract { expr: e, .. }
        | Ast::Ceil { expr: e, .. }
        | Ast::Floor { expr: e, .. }
        | Ast::IsTrue(e)
        | Ast::IsNotTrue(e)
        | Ast::IsFalse(e)
        | Ast::IsNotFalse(e)
        | Ast::IsNull(e)
        | Ast::IsNotNull(e)
        | Ast::IsUnknown(e)
        | Ast::IsNotUnknown(e) => for_each_leaf(e, f),
        Ast::BinaryOp { left, right, .. }
        | Ast::AnyOp { left, right, .. }
        | Ast::AllOp { left, right, .. }
        | Ast::Position {
            expr: left,
            r#in: right,
        } => {
            for_each_leaf(left, f);
            for_each_leaf(right, f);
        }
        Ast::Between {
            expr, low, high, ..
        } => {
            for e in [expr, low, high] {
                for_each_leaf(e, f);
            }
        }
        Ast::InList { expr, list, .. } => {
            for_each_leaf(expr, f);
            list.iter_mut().for_each(|e| for_each_leaf(e, f));
        }
        Ast::Tuple(list) => list.iter_mut().for_each(|e| for_each_leaf(e, f)),
        Ast::Like {
            expr,
            pattern,
            escape_char,
            ..
        } => {
            for_each_leaf(expr, f);
            for_each_leaf(pattern, f);
            if let Some(e) = escape_char {
                for_each_leaf(e, f);
            }
        }
        Ast::RLike { expr, pattern, .. } => {
            for_each_leaf(expr, f);
            for_each_leaf(pattern, f);
        }
        Ast::Substring {
            expr,
            substring_from,
            substring_for,
            ..
        } => {
            for_each_leaf(expr, f);
            for e in [substring_from, substring_for].into_iter().flatten() {
                for_each_leaf(e, f);
            }
        }
        Ast::Trim {
            trim_what, expr, ..
        } => {
            if let Some(e) = trim_what {
                for_each_leaf(e, f);
            }
            for_each_leaf(expr, f);
        }
        Ast::Case {
            operand,
            conditions,
            else_result,
            ..
        } => {
            if let Some(e) = operand {
                for_each_leaf(e, f);
            }
            for w in conditions {
                for_each_leaf(&mut w.condition, f);
                for_each_leaf(&mut w.result, f);
            }
            if let Some(e) = else_result {
                for_each_leaf(e, f);
            }
        }
        Ast::Interval(i) => for_each_leaf(&mut i.value, f),
        Ast::Function(call) => {
            let name = super::print::function_name(call);
            // Its first argument is a unit.
            let units = usize::from(matches!(name.as_str(), "timestampadd" | "timestampdiff"));
            let FunctionArguments::List(l) = &mut call.args else {
                return;
            };
            for a in l.args.iter_mut().skip(units) {
                if let FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) = a {
                    for_each_leaf(e, f);
                }
            }
            for c in &mut l.clauses {
                if let FunctionArgumentClause::OrderBy(keys) = c {
                    keys.iter_mut().for_each(|k| for_each_leaf(&mut k.expr, f));
                }
            }
        }
        _ => {}
    }
}

/// The expression with plain column names only.
pub fn unqualified(e: &Ast) -> Ast {
    let mut e = e.clone();
    for_each_leaf(&mut e, &mut |leaf| {
        if let Ast::CompoundIdentifier(parts) = leaf
            && !parts.first().is_some_and(|p| p.value.starts_with('@'))
            && let Some(last) = parts.pop()
        {
            *leaf = Ast::Identifier(last);
        }
    });
    e
}
