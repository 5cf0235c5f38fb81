//! The grammar: a file for each kind of statement, all of them methods of [`Parser`].
//!
//! | file | reads |
//! |---|---|
//! | `expr.rs`, `level.rs` | expressions: operators and what they stand between; how tightly each holds |
//! | `call.rs` | calls, CASE, CAST, windows |
//! | `query.rs` | queries: WITH, set operations, SELECT's clauses |
//! | `from.rs` | FROM: tables, joins, derived tables, JSON_TABLE |
//! | `dml.rs` | INSERT, REPLACE, UPDATE, DELETE |
//! | `change_with.rs` | WITH in front of UPDATE and DELETE |
//! | `named_tables.rs` | lists of tables without more |
//! | `load.rs` | LOAD, and INTO OUTFILE's clauses |
//! | `ddl/` | CREATE, ALTER, DROP, RENAME, TRUNCATE |
//! | `program/` | stored programs |
//! | `admin/` | administrative statements |

mod admin;
mod call;
mod change_with;
mod ddl;
mod dml;
mod expr;
mod from;
mod level;
mod load;
mod mysql;
mod named_tables;
mod program;
mod query;
#[cfg(test)]
mod tests;

use crate::ast::{Expression, Select, SelectItem, Statement};
use crate::keyword::Kw;
use crate::parser::{ParseOptions, Parser};
use crate::token::Tok;
use narwal_types::SqlResult;
use narwal_types::errors;
use narwal_types::face::is_mysql;

/// Parses one statement; semicolons may follow it. 1064 for what is no statement of MariaDB's.
///
/// # Errors
/// 1064, 1436 for what is nested too deeply, and others that MariaDB gives while it parses.
pub fn parse_statement(text: &str, opts: &ParseOptions) -> SqlResult<Statement> {
    whole(Parser::new(text, opts)?)
}

/// As [`parse_statement`], for a statement that runs at once. It can have no parameters, so a `?` is no token of it.
///
/// # Errors
/// As [`parse_statement`].
pub fn parse_text(text: &str, opts: &ParseOptions) -> SqlResult<Statement> {
    let mut p = Parser::new(text, opts)?;
    p.refuse_params();
    whole(p)
}

/// The one statement of a text.
fn whole(mut p: Parser<'_>) -> SqlResult<Statement> {
    if p.peek() == Tok::End {
        return Err(errors::EMPTY_QUERY.plain());
    }
    let s = p.statement()?;
    p.end()?;
    p.no_into()?;
    Ok(s)
}

/// How long the statement is that a text begins with; `None` if it is none.
pub(crate) fn statement_length(text: &str, opts: &ParseOptions) -> Option<usize> {
    let mut p = Parser::new(text, opts).ok()?;
    p.statement().ok()?;
    Some(p.behind())
}

/// Parses a lone expression.
///
/// # Errors
/// As [`parse_statement`].
pub fn parse_expression(text: &str, opts: &ParseOptions) -> SqlResult<Expression> {
    let mut p = Parser::new(text, opts)?;
    let e = p.expression()?;
    p.end()?;
    p.no_into()?;
    Ok(e)
}

impl Parser<'_> {
    /// A statement, up to where it ends. Statements of stored programs are read by it too.
    pub(crate) fn statement(&mut self) -> SqlResult<Statement> {
        self.procedure_at = None;
        let s = self.any_statement()?;
        // A SELECT alone may have a PROCEDURE.
        match (&s, self.procedure_at) {
            (Statement::Insert(_) | Statement::Ddl(_), Some(at)) => Err(self.error_at(at)),
            _ => Ok(s),
        }
    }

    fn any_statement(&mut self) -> SqlResult<Statement> {
        if self.oracle()
            && let Some(s) = self.oracle_statement()?
        {
            return Ok(s);
        }
        match self.peek() {
            Tok::LParen => self.query_statement(),
            Tok::Word(k) => match k {
                Kw::WITH if self.at_change_behind_with() => self.change_with(),
                Kw::SELECT | Kw::WITH | Kw::VALUES => self.query_statement(),
                Kw::TABLE if is_mysql() => self.query_statement(),
                Kw::INSERT | Kw::REPLACE => self.insert(),
                Kw::UPDATE => self.update(),
                Kw::DELETE => self.delete(),
                Kw::LOAD if !self.at_nth(1, Kw::INDEX) => self.load(),
                Kw::DO => self.do_statement(),
                _ => match self.admin_statement()? {
                    Some(s) => Ok(s),
                    None => self.definition(k),
                },
            },
            _ => Err(self.error()),
        }
    }

    /// A statement that defines something, or one of the language of stored programs.
    fn definition(&mut self, k: Kw) -> SqlResult<Statement> {
        match k {
            Kw::CREATE => self.create(),
            Kw::ALTER => self.alter(),
            Kw::DROP => self.drop_object(),
            Kw::RENAME => self.rename_tables(),
            Kw::TRUNCATE => self.truncate(),
            Kw::CALL => self.call_procedure(),
            Kw::SIGNAL | Kw::RESIGNAL => self.signal(),
            Kw::GET => self.get_diagnostics(),
            _ => match self.compound()? {
                Some(s) => Ok(s),
                None => Err(self.error()),
            },
        }
    }

    /// An expression that stands for itself, with its subqueries.
    pub(crate) fn expression(&mut self) -> SqlResult<Expression> {
        let outer = std::mem::take(&mut self.subqueries);
        let expr = self.expr();
        let subqueries = std::mem::replace(&mut self.subqueries, outer);
        Ok(Expression {
            expr: expr?,
            subqueries,
        })
    }

    /// DO expr [AS alias], ...
    fn do_statement(&mut self) -> SqlResult<Statement> {
        self.expect(Kw::DO)?;
        let outer = std::mem::take(&mut self.subqueries);
        let items = self.comma_separated(|p| {
            let expr = p.expr()?;
            let alias = p.column_alias()?;
            Ok(SelectItem::Expr {
                expr,
                alias,
                text: String::new(),
            })
        });
        let subqueries = std::mem::replace(&mut self.subqueries, outer);
        let mut select = Select::of(items?, None);
        select.subqueries = subqueries;
        select.params = self.params;
        Ok(Statement::Do(Box::new(select)))
    }
}
