//! LOAD DATA, LOAD XML, and INTO of a SELECT.

use crate::ast::{FileClauses, Into, IntoVariable, LoadData, LoadField, LoadPriority, Statement};
use crate::keyword::Kw;
use crate::parser::{FoundInto, Parser};
use crate::token::Tok;
use narwal_types::SqlResult;
use narwal_types::errors;

impl Parser<'_> {
    /// LOAD DATA and LOAD XML.
    pub(super) fn load(&mut self) -> SqlResult<Statement> {
        let (mut load, subqueries) = self.with_subqueries(Self::load_clauses)?;
        load.subqueries = subqueries;
        Ok(Statement::LoadData(Box::new(load)))
    }

    fn load_clauses(&mut self) -> SqlResult<LoadData> {
        self.expect(Kw::LOAD)?;
        let xml = self.at(Kw::XML);
        if !xml && !self.at(Kw::DATA) {
            return Err(self.error());
        }
        self.bump();
        let priority = if self.eat(Kw::LOW_PRIORITY) {
            Some(LoadPriority::Low)
        } else if self.eat(Kw::CONCURRENT) {
            Some(LoadPriority::Concurrent)
        } else {
            None
        };
        let local = self.eat(Kw::LOCAL);
        self.expect(Kw::INFILE)?;
        let file = self.string()?;
        let replace = self.eat(Kw::REPLACE);
        let ignore = !replace && self.eat(Kw::IGNORE);
        self.expect(Kw::INTO)?;
        self.expect(Kw::TABLE)?;
        let table = self.table_name()?;
        let partitions = self.partitions()?;
        let charset = self.file_charset()?;
        let mut tag = None;
        if xml && self.eat(Kw::ROWS) {
            self.expect(Kw::IDENTIFIED)?;
            self.expect(Kw::BY)?;
            tag = Some(self.string()?);
        }
        let format = self.file_format()?;
        let mut skip = 0;
        if self.eat(Kw::IGNORE) {
            skip = self.uint()?;
            if !self.eat(Kw::LINES) && !self.eat(Kw::ROWS) {
                return Err(self.error());
            }
        }
        let fields = self.load_fields()?;
        let set = match self.eat(Kw::SET) {
            true => self.comma_separated(Self::column_assignment)?,
            false => Vec::new(),
        };
        Ok(LoadData {
            xml: xml.then_some(tag),
            priority,
            local,
            file,
            replace,
            ignore,
            table,
            partitions,
            charset,
            format,
            skip,
            fields,
            set,
            subqueries: Vec::new(),
        })
    }

    fn load_fields(&mut self) -> SqlResult<Option<Vec<LoadField>>> {
        if !self.eat_tok(Tok::LParen) {
            return Ok(None);
        }
        if self.eat_tok(Tok::RParen) {
            return Ok(None);
        }
        let fields = self.comma_separated(|p| {
            Ok(match p.peek() {
                Tok::UserVar => LoadField::Variable(p.named_at()?),
                _ => LoadField::Column(p.column_name()?.1),
            })
        })?;
        self.expect_tok(Tok::RParen)?;
        Ok(Some(fields))
    }

    /// CHARACTER SET of a file, if it is next.
    fn file_charset(&mut self) -> SqlResult<Option<String>> {
        match self.eat_all(&[Kw::CHARACTER, Kw::SET])
            || self.eat_all(&[Kw::CHAR, Kw::SET])
            || self.eat(Kw::CHARSET)
        {
            true => Ok(Some(self.charset_name()?)),
            false => Ok(None),
        }
    }

    /// FIELDS and LINES, as far as they are next.
    fn file_format(&mut self) -> SqlResult<FileClauses> {
        let mut f = FileClauses::default();
        if self.eat(Kw::FIELDS) || self.eat(Kw::COLUMNS) {
            let mut any = false;
            loop {
                if self.eat(Kw::TERMINATED) {
                    self.expect(Kw::BY)?;
                    f.separator = Some(self.string()?);
                } else if self.at(Kw::OPTIONALLY) || self.at(Kw::ENCLOSED) {
                    f.optionally |= self.eat(Kw::OPTIONALLY);
                    self.expect(Kw::ENCLOSED)?;
                    self.expect(Kw::BY)?;
                    f.quote = Some(self.one_byte()?);
                } else if self.eat(Kw::ESCAPED) {
                    self.expect(Kw::BY)?;
                    f.escape = Some(self.one_byte()?);
                } else if any {
                    break;
                } else {
                    return Err(self.error());
                }
                any = true;
            }
        }
        if self.eat(Kw::LINES) {
            let mut any = false;
            loop {
                if self.eat(Kw::TERMINATED) {
                    self.expect(Kw::BY)?;
                    f.end = Some(self.string()?);
                } else if self.eat(Kw::STARTING) {
                    self.expect(Kw::BY)?;
                    f.start = Some(self.string()?);
                } else if any {
                    break;
                } else {
                    return Err(self.error());
                }
                any = true;
            }
        }
        Ok(f)
    }

    /// A string of at most one byte.
    fn one_byte(&mut self) -> SqlResult<String> {
        let s = self.string()?;
        match s.len() {
            0 | 1 => Ok(s),
            _ => Err(errors::WRONG_FIELD_TERMINATORS.plain()),
        }
    }

    /// INTO of a SELECT, if it is next. `late`: behind FROM, which is a deprecated place.
    pub(super) fn select_into(&mut self, late: bool) -> SqlResult<()> {
        let at = self.here();
        if !self.at(Kw::INTO) {
            return Ok(());
        }
        if self.into.is_some() {
            return Err(self.error());
        }
        self.bump();
        let into = if self.eat(Kw::OUTFILE) {
            let file = self.string()?;
            let charset = self.file_charset()?;
            Into::Outfile {
                file,
                charset,
                format: self.file_format()?,
            }
        } else if self.eat(Kw::DUMPFILE) {
            Into::Dumpfile(self.string()?)
        } else {
            Into::Variables(self.comma_separated(Self::variable_of_into)?)
        };
        self.into = Some(FoundInto { into, late, at });
        Ok(())
    }

    /// A variable that a value goes into.
    pub(crate) fn variable_of_into(&mut self) -> SqlResult<IntoVariable> {
        if self.peek() == Tok::UserVar {
            return Ok(IntoVariable::User(self.named_at()?));
        }
        let name = self.ident()?;
        let field = match self.eat_tok(Tok::Dot) {
            true => Some(self.ident()?),
            false => None,
        };
        Ok(IntoVariable::Local(name, field))
    }
}
