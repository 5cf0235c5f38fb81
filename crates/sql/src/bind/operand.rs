//! Rows and subqueries among the operands of an expression.

use crate::expr::node::Expr;
use narwal_syntax::ast::Expr as Ast;
use narwal_types::SqlError;
use narwal_types::errors;

pub(crate) fn wrong_columns(n: usize) -> SqlError {
    errors::OPERAND_COLUMNS.with([&n])
}

/// The operands of `(a, b)` and `ROW(a, b)`.
pub(crate) fn row_items(ast: &Ast) -> Option<Vec<&Ast>> {
    match ast {
        Ast::Row(list) => Some(list.iter().collect()),
        Ast::Nested(e) => row_items(e),
        _ => None,
    }
}

/// Error 4078: one side (`None`) is a row, the other is not.
pub(crate) fn not_a_row(left: Option<&Expr>, right: Option<&Expr>, op: &str) -> SqlError {
    let name = |e: Option<&Expr>| match e {
        None => "row".to_string(),
        Some(e) => {
            let name = e.ty.ty.sql_name();
            name.split(['(', ' '])
                .next()
                .unwrap_or_default()
                .to_string()
        }
    };
    errors::ILLEGAL_PARAMETER_DATA_TYPES2_FOR_OPERATION.with([&name(left), &name(right), &op])
}

/// What errors call IN: with one value it is a comparison.
pub(crate) fn in_name(list: &[Ast], negated: bool) -> &'static str {
    match (list, negated) {
        ([_], false) => "=",
        ([_], true) => "<>",
        _ => "in",
    }
}

/// The number of the subquery that an operand is, parentheses round it taken off.
pub(crate) fn as_subquery(ast: &Ast) -> Option<usize> {
    match ast {
        Ast::Nested(e) => as_subquery(e),
        Ast::Subquery(n) => Some(*n),
        _ => None,
    }
}
