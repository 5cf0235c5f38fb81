//! Expressions of statements that are no queries.

use crate::ast::{Expr, Expression, Literal};

/// An expression of a statement that is not a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Operand {
    /// As written.
    pub text: String,
    /// As a tree, with its subqueries.
    pub value: Expression,
}

impl Operand {
    /// A number.
    pub fn number(n: u64) -> Self {
        Operand {
            text: n.to_string(),
            value: Expression {
                expr: Expr::Literal(Literal::Number(n.to_string())),
                subqueries: Vec::new(),
            },
        }
    }
}

/// A parameter of EXECUTE, a value of HANDLER READ.
#[derive(Debug, Clone, PartialEq)]
pub enum Using {
    /// An expression.
    Value(Operand),
    /// DEFAULT.
    Default,
    /// IGNORE.
    Ignore,
}
