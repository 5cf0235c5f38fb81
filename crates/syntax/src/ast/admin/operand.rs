//! Expressions of statements that are no queries.

use crate::ast::Expression;

/// An expression of a statement that is not a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Operand {
    /// As written.
    pub text: String,
    /// As a tree, with its subqueries.
    pub value: Expression,
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
