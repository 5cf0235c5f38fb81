//! From the trees of `narwal_syntax` to the statements that this crate runs. What MariaDB knows and Narwal does not is refused
//! here, by name: error 1235.
//!
//! | file | holds |
//! |---|---|
//! | `query.rs` | what queries and DML may not have |
//! | `ddl/` | definitions with the engine's types |

mod ddl;
mod query;
#[cfg(test)]
mod tests;

use crate::ast::Stmt;
use narwal_syntax::ast::admin::Admin;
use narwal_syntax::ast::{ExplainForm, Statement};
use narwal_syntax::ast::{Expr as AstExpr, Literal};
use narwal_types::{SqlError, SqlResult};

pub use ddl::variable_type;
pub(crate) use ddl::{charset, collation_of, is_text, mismatched_collation, too_big};
pub use narwal_syntax::ParseOptions;

/// Parses one statement (without its semicolon). Statements that this crate does not run are error 1235, what MariaDB does not
/// take is a syntax error 1064.
pub fn parse_statement(text: &str, opts: &ParseOptions) -> SqlResult<Stmt> {
    lower(narwal_syntax::parse_statement(text, opts)?, opts)
}

/// Parses a lone expression, as in `SET x = <expr>`.
pub fn parse_expression(text: &str, opts: &ParseOptions) -> SqlResult<AstExpr> {
    Ok(narwal_syntax::parse_expression(text, opts)?.expr)
}

/// A parsed statement as this crate runs it.
pub fn lower(statement: Statement, opts: &ParseOptions) -> SqlResult<Stmt> {
    Ok(match statement {
        Statement::Select(q) => {
            query::check(&q)?;
            Stmt::Select(q)
        }
        Statement::SelectInto(s) => {
            query::check(&s.select)?;
            query::check_into(&s.into)?;
            Stmt::SelectInto(s)
        }
        Statement::Insert(i) => {
            query::check_insert(&i)?;
            Stmt::Insert(i)
        }
        Statement::Update(u) => {
            query::check_update(&u)?;
            Stmt::Update(u)
        }
        Statement::Delete(d) => {
            query::check_delete(&d)?;
            Stmt::Delete(d)
        }
        Statement::WriteJoin(w) => {
            query::check(&w.select)?;
            Stmt::WriteJoin(w)
        }
        Statement::LoadData(l) => {
            query::check_load(&l)?;
            Stmt::LoadData(l)
        }
        Statement::Do(q) => {
            query::check(&q)?;
            Stmt::Do(q)
        }
        Statement::Explain(inner, form) => explain(*inner, form, opts)?,
        Statement::Ddl(d) => Stmt::Ddl(Box::new(ddl::lower(*d, opts)?)),
        Statement::Program(p) => return Err(SqlError::unsupported(p.name())),
        Statement::SetStatement(_) => return Err(SqlError::unsupported("this statement here")),
        Statement::Admin(a) => match *a {
            Admin::Checksum { tables, .. } => Stmt::ChecksumTable(tables),
            _ => return Err(SqlError::unsupported("this statement here")),
        },
    })
}

fn explain(inner: Statement, form: ExplainForm, opts: &ParseOptions) -> SqlResult<Stmt> {
    let inner = match lower(inner, opts)? {
        // Where its rows would go is no part of the plan.
        Stmt::SelectInto(s) if !form.runs() => Stmt::Select(s.select),
        Stmt::SelectInto(_) => return Err(SqlError::unsupported("ANALYZE of SELECT ... INTO")),
        other => other,
    };
    match inner {
        Stmt::Select(_)
        | Stmt::Insert(_)
        | Stmt::Update(_)
        | Stmt::Delete(_)
        | Stmt::WriteJoin(_) => Ok(Stmt::Explain(Box::new(inner), form)),
        _ => Err(SqlError::unsupported("EXPLAIN of this statement")),
    }
}

/// NULL, for values that come from elsewhere.
pub(crate) fn null() -> AstExpr {
    AstExpr::Literal(Literal::Null)
}
