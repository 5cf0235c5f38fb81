//! DECLARE.

use crate::ast::program::{ConditionValue, Declaration, HandlerAction, VariableType};
use crate::ast::{Select, TableName};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::sql_mode::SqlMode;
use crate::token::Tok;
use narwal_types::{SqlError, SqlResult, errors};

/// A condition's SQLSTATE: five characters, not that of success.
/// Error 1407 for another.
fn sqlstate_of(text: &str) -> SqlResult<[u8; 5]> {
    let good = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit();
    match <[u8; 5]>::try_from(text.as_bytes()) {
        Ok(s) if s.iter().all(good) && &s[..2] != b"00" => Ok(s),
        _ => Err(errors::SP_BAD_SQLSTATE.with([&text])),
    }
}

impl Parser<'_> {
    /// A declaration, behind DECLARE.
    pub(super) fn declaration(&mut self) -> SqlResult<Declaration> {
        if (self.at(Kw::CONTINUE) || self.at(Kw::EXIT)) && self.at_nth(1, Kw::HANDLER) {
            return self.declare_handler();
        }
        self.named_declaration()
    }

    /// A declaration that begins with a name.
    pub(super) fn named_declaration(&mut self) -> SqlResult<Declaration> {
        let mut names = vec![self.ident()?];
        if self.eat(Kw::CURSOR) {
            let name = names.swap_remove(0);
            return self.cursor(name);
        }
        if self.eat(Kw::CONDITION) {
            self.expect(Kw::FOR)?;
            let value = match self.peek() {
                Tok::Int => ConditionValue::Error(self.uint()?),
                _ => self.sqlstate()?,
            };
            return Ok(Declaration::Condition(names.swap_remove(0), value));
        }
        while self.eat_tok(Tok::Comma) {
            names.push(self.ident()?);
        }
        let ty = self.variable_type(true)?;
        let oracle = self.oracle();
        let default = match self.eat(Kw::DEFAULT) || (oracle && self.eat_tok(Tok::ColonEq)) {
            true => Some(self.expression()?),
            false => None,
        };
        Ok(Declaration::Variables { names, ty, default })
    }

    pub(super) fn declare_handler(&mut self) -> SqlResult<Declaration> {
        let action = match self.bump().tok {
            Tok::Word(Kw::CONTINUE) => HandlerAction::Continue,
            _ => HandlerAction::Exit,
        };
        self.expect(Kw::HANDLER)?;
        self.expect(Kw::FOR)?;
        let conditions = self.comma_separated(Self::handler_condition)?;
        let body = Box::new(self.body()?);
        Ok(Declaration::Handler {
            action,
            conditions,
            body,
        })
    }

    pub(super) fn handler_condition(&mut self) -> SqlResult<ConditionValue> {
        match self.peek() {
            Tok::Int => Ok(ConditionValue::Error(self.uint()?)),
            Tok::Word(Kw::SQLSTATE) => self.sqlstate(),
            Tok::Word(Kw::SQLWARNING) => {
                self.bump();
                Ok(ConditionValue::Warning)
            }
            Tok::Word(Kw::OTHERS) if self.mode.has(SqlMode::ORACLE) => {
                self.bump();
                Ok(ConditionValue::Others)
            }
            Tok::Word(Kw::SQLEXCEPTION) => {
                self.bump();
                Ok(ConditionValue::Exception)
            }
            Tok::Word(Kw::NOT) => {
                self.bump();
                self.expect(Kw::FOUND)?;
                Ok(ConditionValue::NotFound)
            }
            _ => Ok(ConditionValue::Named(self.ident()?)),
        }
    }

    /// `SQLSTATE [VALUE] '...'`
    pub(super) fn sqlstate(&mut self) -> SqlResult<ConditionValue> {
        self.expect(Kw::SQLSTATE)?;
        self.eat(Kw::VALUE);
        Ok(ConditionValue::State(sqlstate_of(&self.text()?)?))
    }

    /// A cursor's SELECT: error 1323 if it has INTO.
    fn cursor_query(&mut self) -> SqlResult<Select> {
        let query = self.query()?;
        match self.into.take() {
            Some(_) => Err(errors::SP_BAD_CURSOR_SELECT.plain()),
            None => Ok(query),
        }
    }

    /// `CURSOR [(parameters)] FOR SELECT ...`, behind CURSOR.
    pub(super) fn cursor(&mut self, name: String) -> SqlResult<Declaration> {
        let mut parameters = Vec::new();
        if self.peek() == Tok::LParen {
            parameters = self.parenthesised(|p| {
                if p.oracle() {
                    let name = p.ident()?;
                    p.cursor_mode()?;
                    return Ok((name, p.routine_type(true)?));
                }
                p.cursor_mode()?;
                Ok((p.ident()?, p.variable_type(true)?))
            })?;
        }
        if !(self.oracle() && self.eat(Kw::IS)) {
            self.expect(Kw::FOR)?;
        }
        Ok(Declaration::Cursor(
            name,
            parameters,
            Box::new(self.cursor_query()?),
        ))
    }

    /// IN, which is what parameters of cursors are; the others MariaDB refuses by name.
    fn cursor_mode(&mut self) -> SqlResult<()> {
        if self.at(Kw::OUT) || self.at(Kw::INOUT) {
            return Err(SqlError::unsupported("OUT/INOUT cursor parameter"));
        }
        self.eat(Kw::IN);
        Ok(())
    }

    /// The type of a variable, a parameter or a result. `of`: TYPE OF and ROW are possible.
    pub(super) fn variable_type(&mut self, of: bool) -> SqlResult<VariableType> {
        if of
            && self.oracle()
            && let Some(ty) = self.type_by_name()?
        {
            return Ok(ty);
        }
        if of && self.at(Kw::TYPE) && self.at_nth(1, Kw::OF) {
            self.bump();
            self.bump();
            let mut names = vec![self.ident()?];
            while names.len() < 3 && self.eat_tok(Tok::Dot) {
                names.push(self.ident()?);
            }
            return Ok(VariableType::TypeOf(names));
        }
        if of && self.eat(Kw::ROW) {
            if self.eat(Kw::TYPE) {
                self.expect(Kw::OF)?;
                let name: TableName = self.table_name()?;
                return Ok(VariableType::RowTypeOf(name));
            }
            let fields = self.parenthesised(|p| {
                let name = p.ident()?;
                let ty = p.data_type(false)?;
                Ok((name, ty, p.collate()?))
            })?;
            return Ok(VariableType::Row(fields));
        }
        let ty = self.data_type(false)?;
        Ok(VariableType::Data(ty, self.collate()?))
    }

    /// COLLATE behind a type; none for DEFAULT.
    fn collate(&mut self) -> SqlResult<Option<String>> {
        match self.eat(Kw::COLLATE) {
            true => self.collation_or_default(),
            false => Ok(None),
        }
    }

    /// `name%TYPE` and `name%ROWTYPE`, if one is next.
    fn type_by_name(&mut self) -> SqlResult<Option<VariableType>> {
        let mut parts = 1;
        while self.peek_at(2 * parts - 1) == Tok::Dot && parts < 3 {
            parts += 1;
        }
        let behind = 2 * parts - 1;
        let row = match self.peek_at(behind + 1) {
            Tok::Word(Kw::TYPE) => false,
            Tok::Word(Kw::ROWTYPE) => true,
            _ => return Ok(None),
        };
        if self.peek_at(behind) != Tok::Percent {
            return Ok(None);
        }
        let ty = match row {
            true => VariableType::RowTypeOf(self.table_name()?),
            false => {
                let mut names = vec![self.ident()?];
                while self.eat_tok(Tok::Dot) {
                    names.push(self.ident()?);
                }
                VariableType::TypeOf(names)
            }
        };
        self.expect_tok(Tok::Percent)?;
        self.bump();
        Ok(Some(ty))
    }
}
