//! CREATE TABLE.

use super::ddl;
use crate::ast::ddl::{CreateTable, Creation, Ddl, OnDuplicate, Period, TableElement};
use crate::ast::{Select, Statement, TableName};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;

impl Parser<'_> {
    /// `TABLE ...`
    pub(super) fn create_table(
        &mut self,
        mut creation: Creation,
        temporary: bool,
    ) -> SqlResult<Statement> {
        self.expect(Kw::TABLE)?;
        self.creation(&mut creation)?;
        let mut t = CreateTable {
            creation,
            temporary,
            table: self.table_name()?,
            like: None,
            elements: Vec::new(),
            options: Vec::new(),
            partitions: None,
            duplicates: OnDuplicate::Refuse,
            select: None,
        };
        self.table_body(&mut t)?;
        Ok(ddl(Ddl::CreateTable(t)))
    }

    fn table_body(&mut self, t: &mut CreateTable) -> SqlResult<()> {
        if self.eat(Kw::LIKE) {
            t.like = Some(self.table_name()?);
            return Ok(());
        }
        if self.peek() == Tok::LParen && !self.query_behind_parenthesis() {
            self.bump();
            if self.eat(Kw::LIKE) {
                t.like = Some(self.table_name()?);
                return self.expect_tok(Tok::RParen);
            }
            t.elements = self.comma_separated(|p| p.table_element(&t.table, true))?;
            self.expect_tok(Tok::RParen)?;
        }
        self.table_options(&mut t.options)?;
        if self.at(Kw::PARTITION) {
            t.partitions = Some(Box::new(self.partition_by()?));
        }
        self.table_select(t)
    }

    /// `[IGNORE | REPLACE] [AS] SELECT ...`
    fn table_select(&mut self, t: &mut CreateTable) -> SqlResult<()> {
        if self.eat(Kw::IGNORE) {
            t.duplicates = OnDuplicate::Ignore;
        } else if self.eat(Kw::REPLACE) {
            t.duplicates = OnDuplicate::Replace;
        }
        let must = self.eat(Kw::AS) || t.duplicates != OnDuplicate::Refuse;
        let query = self.peek() == Tok::LParen
            || [Kw::SELECT, Kw::WITH, Kw::VALUES]
                .iter()
                .any(|k| self.at(*k));
        if query {
            t.select = Some(Box::new(self.table_query()?));
        } else if must {
            return Err(self.error());
        }
        Ok(())
    }

    /// The query of CREATE TABLE, which may begin with WITH in parentheses.
    fn table_query(&mut self) -> SqlResult<Select> {
        if self.peek() != Tok::LParen || !self.at_nth(1, Kw::WITH) {
            return self.query();
        }
        self.bump();
        let select = self.query()?;
        self.expect_tok(Tok::RParen)?;
        Ok(select)
    }

    /// True if the parenthesis that is next has a query in it.
    pub(in crate::parse) fn query_behind_parenthesis(&self) -> bool {
        let mut n = 1;
        while self.peek_at(n) == Tok::LParen {
            n += 1;
        }
        [Kw::SELECT, Kw::WITH, Kw::VALUES]
            .iter()
            .any(|k| self.at_nth(n, *k))
    }

    /// An element of CREATE TABLE's list, or of ALTER TABLE's ADD. Only ALTER TABLE takes IF NOT EXISTS in it.
    pub(super) fn table_element(
        &mut self,
        table: &TableName,
        create: bool,
    ) -> SqlResult<TableElement> {
        if let Some(e) = self.element_but_column(create)? {
            return Ok(e);
        }
        Ok(TableElement::Column(self.column(table, true)?))
    }

    /// An index, a constraint or a period, if one is next.
    pub(super) fn element_but_column(&mut self, create: bool) -> SqlResult<Option<TableElement>> {
        let Tok::Word(word) = self.peek() else {
            return Ok(None);
        };
        Ok(Some(match word {
            Kw::KEY | Kw::INDEX | Kw::PRIMARY | Kw::UNIQUE | Kw::FULLTEXT | Kw::SPATIAL => {
                TableElement::Index(self.index(None, create)?)
            }
            Kw::CONSTRAINT => self.named_constraint(create)?,
            Kw::CHECK => TableElement::Check(self.check(None)?),
            Kw::FOREIGN => TableElement::ForeignKey(self.foreign_key(None, create)?),
            Kw::PERIOD if self.at_nth(1, Kw::FOR) => {
                self.bump();
                self.bump();
                TableElement::Period(self.period(false)?)
            }
            _ => return Ok(None),
        }))
    }

    /// A period, behind FOR.
    pub(super) fn period(&mut self, if_not_exists: bool) -> SqlResult<Period> {
        let system = self.at(Kw::SYSTEM_TIME);
        let name = self.ident()?;
        self.expect_tok(Tok::LParen)?;
        let start = self.ident()?;
        self.expect_tok(Tok::Comma)?;
        let end = self.ident()?;
        self.expect_tok(Tok::RParen)?;
        Ok(Period {
            name,
            system,
            if_not_exists,
            start,
            end,
        })
    }
}
