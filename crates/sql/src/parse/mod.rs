//! Parsing.

use crate::ast::{AstExpr, Stmt};
use crate::sql_mode::SqlMode;
use narwal_types::SqlResult;

/// What parsing depends on.
#[derive(Debug, Clone, Copy, Default)]
pub struct ParseOptions {
    /// NO_BACKSLASH_ESCAPES and ANSI_QUOTES matter.
    pub sql_mode: SqlMode,
}

/// Parses one statement (without its semicolon). Statements that this crate does not run are error 1235,
/// anything else is a syntax error 1064.
pub fn parse_statement(_text: &str, _opts: &ParseOptions) -> SqlResult<Stmt> {
    todo!()
}

/// Parses a lone expression, as in `SET x = <expr>`.
pub fn parse_expression(_text: &str, _opts: &ParseOptions) -> SqlResult<AstExpr> {
    todo!()
}
