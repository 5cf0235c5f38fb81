//! SIGNAL, RESIGNAL and GET DIAGNOSTICS.

use super::program;
use crate::ast::program::{ConditionValue, GetDiagnostics, Program, Signal};
use crate::ast::{Expr, Expression, Statement};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};

/// Items of a condition that SIGNAL sets.
const SIGNAL_ITEMS: &[Kw] = &[
    Kw::CLASS_ORIGIN,
    Kw::SUBCLASS_ORIGIN,
    Kw::CONSTRAINT_CATALOG,
    Kw::CONSTRAINT_SCHEMA,
    Kw::CONSTRAINT_NAME,
    Kw::CATALOG_NAME,
    Kw::SCHEMA_NAME,
    Kw::TABLE_NAME,
    Kw::COLUMN_NAME,
    Kw::CURSOR_NAME,
    Kw::MESSAGE_TEXT,
    Kw::MYSQL_ERRNO,
    Kw::ROW_NUMBER,
];

/// 1327: a variable, where there is no program.
fn undeclared(name: &str) -> SqlError {
    errors::SP_UNDECLARED_VAR.with([&name])
}

impl Parser<'_> {
    /// SIGNAL or RESIGNAL, which is next.
    pub(in crate::parse) fn signal(&mut self) -> SqlResult<Statement> {
        let again = self.bump().tok == Tok::Word(Kw::RESIGNAL);
        let condition = match self.peek() {
            Tok::Word(Kw::SQLSTATE) => Some(self.sqlstate()?),
            _ if self.at_ident() || !again => Some(ConditionValue::Named(self.ident()?)),
            _ => None,
        };
        let mut set = Vec::new();
        if self.eat(Kw::SET) {
            set = self.comma_separated(|p| {
                let item = p.item(SIGNAL_ITEMS)?;
                p.expect_tok(Tok::Eq)?;
                Ok((item, p.signal_value()?))
            })?;
        }
        Ok(program(Program::Signal(Signal {
            again,
            condition,
            set,
        })))
    }

    fn item(&mut self, items: &[Kw]) -> SqlResult<&'static str> {
        let Some(k) = items.iter().find(|k| self.at(**k)) else {
            return Err(self.error());
        };
        self.bump();
        Ok(k.name())
    }

    /// A constant or a variable: SIGNAL takes no other expression.
    fn signal_value(&mut self) -> SqlResult<Expression> {
        let at = self.here();
        if matches!(self.peek(), Tok::LParen | Tok::Param(_)) {
            return Err(self.error());
        }
        let e = self.lone_operand()?;
        match e.expr {
            Expr::Literal(_)
            | Expr::Introduced { .. }
            | Expr::Temporal { .. }
            | Expr::Column(_)
            | Expr::Qualified(_)
            | Expr::UserVar(_)
            | Expr::SystemVar(_) => Ok(e),
            Expr::Assign { .. } => Err(self.error()),
            _ => Err(self.error_at(at)),
        }
    }

    /// GET DIAGNOSTICS, which is next.
    pub(in crate::parse) fn get_diagnostics(&mut self) -> SqlResult<Statement> {
        self.expect(Kw::GET)?;
        self.eat(Kw::CURRENT);
        self.expect(Kw::DIAGNOSTICS)?;
        let condition = match self.eat(Kw::CONDITION) {
            true if self.at_ident() && !self.in_program => {
                let name = self.ident()?;
                return Err(errors::BAD_FIELD_ERROR.with([&name, &"GET DIAGNOSTICS"]));
            }
            true => Some(self.signal_value()?),
            false => None,
        };
        let of_condition = condition.is_some();
        let items = self.comma_separated(|p| {
            let target = match p.peek() {
                Tok::UserVar => format!("@{}", p.named_at()?),
                _ if p.in_program => p.ident()?,
                _ => {
                    let name = p.ident()?;
                    return Err(undeclared(&name));
                }
            };
            p.expect_tok(Tok::Eq)?;
            if of_condition && p.eat(Kw::RETURNED_SQLSTATE) {
                return Ok((target, Kw::RETURNED_SQLSTATE.name()));
            }
            let items: &[Kw] = match of_condition {
                true => SIGNAL_ITEMS,
                false => &[Kw::NUMBER, Kw::ROW_COUNT],
            };
            Ok((target, p.item(items)?))
        })?;
        Ok(program(Program::GetDiagnostics(GetDiagnostics {
            condition,
            items,
        })))
    }
}
