//! Stored programs.
//!
//! | file | reads |
//! |---|---|
//! | `create.rs` | CREATE PROCEDURE, FUNCTION, TRIGGER, EVENT, PACKAGE; ALTER EVENT |
//! | `body.rs` | the statements of a body: blocks, IF, CASE, loops, cursors |
//! | `declare.rs` | DECLARE |
//! | `condition.rs` | SIGNAL, RESIGNAL, GET DIAGNOSTICS |
//! | `oracle.rs` | the statements of a body in sql_mode=ORACLE |
//! | `package.rs` | CREATE PACKAGE and CREATE PACKAGE BODY |

mod body;
mod condition;
mod create;
mod declare;
mod oracle;
mod package;

use crate::ast::Statement;
use crate::ast::program::{Call, Program};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;

/// A statement about or of stored programs.
pub(in crate::parse) fn program(p: Program) -> Statement {
    Statement::Program(Box::new(p))
}

impl Parser<'_> {
    /// CALL, which is next.
    pub(in crate::parse) fn call_procedure(&mut self) -> SqlResult<Statement> {
        self.expect(Kw::CALL)?;
        let mut name = vec![self.ident()?];
        while name.len() < 3 && self.eat_tok(Tok::Dot) {
            name.push(self.ident()?);
        }
        let mut arguments = Vec::new();
        if self.peek() == Tok::LParen {
            arguments = self.arguments()?;
        }
        Ok(program(Program::Call(Call { name, arguments })))
    }

    /// A statement of the language of stored programs that stands outside of any, if it is next.
    pub(in crate::parse) fn compound(&mut self) -> SqlResult<Option<Statement>> {
        let Tok::Word(word) = self.peek() else {
            return Ok(None);
        };
        let found = match word {
            Kw::BEGIN => self.at_nth(1, Kw::NOT),
            Kw::IF | Kw::CASE | Kw::LOOP | Kw::WHILE | Kw::REPEAT | Kw::FOR => true,
            _ => false,
        };
        if !found {
            return Ok(None);
        }
        let body = self.body()?;
        Ok(Some(program(Program::Compound(body))))
    }
}
