//! CHECK, FOREIGN KEY and GENERATED ALWAYS AS.

use crate::ast::Expression;
use crate::ast::ddl::{Check, ForeignAction, ForeignKey, Generated, References, TableElement};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;

impl Parser<'_> {
    /// CONSTRAINT with a name, perhaps, and what it names.
    pub(super) fn named_constraint(&mut self, create: bool) -> SqlResult<TableElement> {
        self.expect(Kw::CONSTRAINT)?;
        if !create && self.at(Kw::IF) {
            self.if_not_exists()?;
            let name = self.ident()?;
            let mut check = self.check(Some(name))?;
            check.if_not_exists = true;
            return Ok(TableElement::Check(check));
        }
        let name = if self.at_ident() {
            Some(self.ident()?)
        } else {
            None
        };
        match self.peek() {
            Tok::Word(Kw::CHECK) => Ok(TableElement::Check(self.check(name)?)),
            Tok::Word(Kw::FOREIGN) => Ok(TableElement::ForeignKey(self.foreign_key(name, create)?)),
            Tok::Word(Kw::PRIMARY | Kw::UNIQUE) => {
                Ok(TableElement::Index(self.index(name, create)?))
            }
            _ => Err(self.error()),
        }
    }

    /// `CHECK (...)`
    pub(in crate::parse) fn check(&mut self, name: Option<String>) -> SqlResult<Check> {
        self.expect(Kw::CHECK)?;
        let expr = self.in_parentheses()?;
        Ok(Check {
            name,
            if_not_exists: false,
            expr,
            enforced: self.enforced().unwrap_or(true),
        })
    }

    /// `FOREIGN KEY [IF NOT EXISTS] [name] (columns) REFERENCES ...`
    pub(super) fn foreign_key(
        &mut self,
        name: Option<String>,
        create: bool,
    ) -> SqlResult<ForeignKey> {
        self.expect(Kw::FOREIGN)?;
        self.expect(Kw::KEY)?;
        let if_not_exists = self.if_not_exists()?;
        let index = if self.at_ident() {
            Some(self.ident()?)
        } else {
            None
        };
        if create && if_not_exists {
            return Err(self.error());
        }
        let columns = self.name_list()?;
        let references = self.references()?;
        Ok(ForeignKey {
            name,
            index,
            if_not_exists,
            columns,
            references,
        })
    }

    /// `REFERENCES table (columns) [MATCH ...] [ON DELETE ...] [ON UPDATE ...]`
    pub(super) fn references(&mut self) -> SqlResult<References> {
        self.expect(Kw::REFERENCES)?;
        let mut r = References {
            table: self.table_name()?,
            columns: Vec::new(),
            on_delete: None,
            on_update: None,
        };
        if self.peek() == Tok::LParen {
            r.columns = self.name_list()?;
        }
        if self.eat(Kw::MATCH)
            && !(self.eat(Kw::FULL) || self.eat(Kw::PARTIAL) || self.eat(Kw::SIMPLE))
        {
            return Err(self.error());
        }
        while self.at(Kw::ON) {
            self.bump();
            let slot = match self.peek() {
                Tok::Word(Kw::DELETE) => &mut r.on_delete,
                Tok::Word(Kw::UPDATE) => &mut r.on_update,
                _ => return Err(self.error()),
            };
            if slot.is_some() {
                return Err(self.error());
            }
            self.bump();
            *slot = Some(self.foreign_action()?);
        }
        Ok(r)
    }

    fn foreign_action(&mut self) -> SqlResult<ForeignAction> {
        if self.eat(Kw::RESTRICT) {
            return Ok(ForeignAction::Restrict);
        }
        if self.eat(Kw::CASCADE) {
            return Ok(ForeignAction::Cascade);
        }
        if self.eat(Kw::NO) {
            self.expect(Kw::ACTION)?;
            return Ok(ForeignAction::NoAction);
        }
        self.expect(Kw::SET)?;
        if self.eat(Kw::NULL) {
            return Ok(ForeignAction::SetNull);
        }
        self.expect(Kw::DEFAULT)?;
        Ok(ForeignAction::SetDefault)
    }

    /// `(expression)`
    pub(in crate::parse) fn in_parentheses(&mut self) -> SqlResult<Expression> {
        self.expect_tok(Tok::LParen)?;
        let e = self.expression()?;
        self.expect_tok(Tok::RParen)?;
        Ok(e)
    }

    /// `[GENERATED ALWAYS] AS (expression) [VIRTUAL | STORED | PERSISTENT]` or `... AS ROW START | END`, if it is next.
    pub(super) fn generated(&mut self) -> SqlResult<Option<Generated>> {
        if self.eat(Kw::GENERATED) {
            self.expect(Kw::ALWAYS)?;
            self.expect(Kw::AS)?;
        } else if !self.eat(Kw::AS) {
            return Ok(None);
        }
        if self.eat(Kw::ROW) {
            if self.eat(Kw::START) {
                return Ok(Some(Generated::Row(true)));
            }
            self.expect(Kw::END)?;
            return Ok(Some(Generated::Row(false)));
        }
        // A query here is refused by name.
        let expr = match self.peek() == Tok::LParen && self.query_behind_parenthesis() {
            true => self.lone_operand()?,
            false => self.in_parentheses()?,
        };
        let stored = self.eat(Kw::STORED) || self.eat(Kw::PERSISTENT);
        if !stored {
            self.eat(Kw::VIRTUAL);
        }
        Ok(Some(Generated::Expr { expr, stored }))
    }
}
