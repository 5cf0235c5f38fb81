//! Columns: attributes and defaults.

use super::option::fits_set;
use crate::ast::ddl::{Column, ColumnAttribute, ColumnDefault, Generated, TypeAttribute, TypeName};
use crate::ast::{Expr, Expression, Literal, TableName, UnaryOp};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::{SqlResult, errors};

/// True if the column's type may be compressed.
fn may_compress(c: &Column) -> bool {
    matches!(
        c.ty.name,
        TypeName::VarChar
            | TypeName::NationalVarChar
            | TypeName::VarBinary
            | TypeName::TinyBlob
            | TypeName::Blob
            | TypeName::MediumBlob
            | TypeName::LongBlob
            | TypeName::LongVarBinary
            | TypeName::TinyText
            | TypeName::Text
            | TypeName::MediumText
            | TypeName::LongText
            | TypeName::LongVarChar
            | TypeName::Json
    )
}

/// True if COMPRESSED was said of the column.
fn is_compressed(c: &Column) -> bool {
    let of_type =
        c.ty.attributes
            .iter()
            .any(|a| matches!(a, TypeAttribute::Compressed(_)));
    let said = c
        .attributes
        .iter()
        .any(|a| matches!(a, ColumnAttribute::Compressed(_)));
    of_type || said
}

/// True for a type of characters, behind which COLLATE belongs to the type.
fn is_string(t: TypeName) -> bool {
    matches!(
        t,
        TypeName::Char
            | TypeName::VarChar
            | TypeName::NationalChar
            | TypeName::NationalVarChar
            | TypeName::TinyText
            | TypeName::Text
            | TypeName::MediumText
            | TypeName::LongText
            | TypeName::LongVarChar
            | TypeName::Enum
            | TypeName::Set
            | TypeName::Json
    )
}

impl Parser<'_> {
    /// The name of a column to define: the table's may stand before it, and the database's before that.
    pub(super) fn field_name(&mut self, table: &TableName) -> SqlResult<String> {
        Ok(self.named_field(table)?.1)
    }

    /// See [`Self::field_name`]. Whether a database is the one that the session uses is not known here.
    fn named_field(&mut self, table: &TableName) -> SqlResult<(Option<String>, String)> {
        let mut names = vec![self.ident()?];
        while names.len() < 3 && self.eat_tok(Tok::Dot) {
            names.push(self.ident()?);
        }
        let name = names.pop().unwrap_or_default();
        let same =
            |given: Option<&String>, of: &str| given.is_none_or(|g| g.eq_ignore_ascii_case(of));
        let given_table = names.pop();
        let given_db = names.pop();
        let db = table.db.as_ref().or(given_db.as_ref());
        if !same(given_db.as_ref(), db.map_or("", |d| d)) {
            return Err(errors::WRONG_DB_NAME.with([&given_db.unwrap_or_default()]));
        }
        if !same(given_table.as_ref(), &table.name) {
            return Err(errors::WRONG_TABLE_NAME.with([&given_table.unwrap_or_default()]));
        }
        Ok((given_db, name))
    }

    /// A column: its name, type and attributes, and REFERENCES where it may have them.
    pub(super) fn column(&mut self, table: &TableName, references: bool) -> SqlResult<Column> {
        let (db, name) = self.named_field(table)?;
        let ty = self.data_type(true)?;
        let serial = ty.name == TypeName::Serial;
        let mut c = Column {
            name,
            db,
            generated: None,
            attributes: Vec::new(),
            check: None,
            table_checks: Vec::new(),
            references: None,
            constraint: None,
            ty,
        };
        if is_string(c.ty.name) && self.eat(Kw::COLLATE) {
            // Behind BINARY it is an attribute like others, which can't say DEFAULT.
            let binary = c.ty.attributes.contains(&TypeAttribute::Binary);
            let collation = match binary {
                true => Some(self.collation_name()?),
                false => self.collation_or_default()?,
            };
            let set = c.ty.attributes.iter().find_map(|a| match a {
                TypeAttribute::Charset(name) if !binary => Some(name.as_str()),
                _ => None,
            });
            fits_set(set, collation.as_deref())?;
            c.attributes.push(ColumnAttribute::Collate(collation));
        }
        if !serial {
            c.generated = self.generated()?;
        }
        let may = match &c.generated {
            None if serial => Self::serial_attribute,
            None => Self::attribute,
            Some(Generated::Expr { .. }) => Self::generated_attribute,
            Some(Generated::Row(_)) => Self::row_attribute,
        };
        loop {
            if self.at(Kw::COMPRESSED) && c.generated.is_none() && !is_compressed(&c) {
                match may_compress(&c) {
                    true => {}
                    // Nothing but a type that may be has the word right behind it.
                    false if c.attributes.is_empty() || serial => break,
                    false => return Err(errors::WRONG_FIELD_SPEC.with([&c.name])),
                }
                c.attributes
                    .push(ColumnAttribute::Compressed(self.compressed()?));
            } else if let Some(a) = may(self)? {
                c.attributes.push(a);
            } else if let Some(check) = self.column_check()? {
                c.table_checks.push(check);
            } else {
                break;
            }
        }
        if self.at(Kw::CHECK) {
            c.check = Some(self.check(None)?);
        }
        if references && self.at(Kw::CONSTRAINT) {
            self.bump();
            if self.at_ident() {
                c.constraint = Some(self.ident()?);
            }
            c.references = Some(self.references()?);
        } else if references && self.at(Kw::REFERENCES) {
            let r = self.references()?;
            if matches!(c.generated, Some(Generated::Expr { .. })) {
                return Err(self.error());
            }
            c.references = Some(r);
        }
        Ok(c)
    }

    /// An attribute of a plain column, if one is next.
    fn attribute(&mut self) -> SqlResult<Option<ColumnAttribute>> {
        let Tok::Word(word) = self.peek() else {
            return self.serial_attribute();
        };
        Ok(Some(match word {
            Kw::NULL => {
                self.bump();
                ColumnAttribute::Null
            }
            Kw::DEFAULT => {
                self.bump();
                ColumnAttribute::Default(self.column_default()?)
            }
            Kw::ON => {
                self.bump();
                self.expect(Kw::UPDATE)?;
                match self.now()? {
                    Some(digits) => ColumnAttribute::OnUpdate(digits),
                    None => return Err(self.error()),
                }
            }
            Kw::AUTO_INCREMENT => {
                self.bump();
                ColumnAttribute::AutoIncrement
            }
            Kw::SERIAL => {
                self.bump();
                self.expect(Kw::DEFAULT)?;
                self.expect(Kw::VALUE)?;
                ColumnAttribute::Serial
            }
            Kw::COLLATE => {
                self.bump();
                if self.at(Kw::BINARY) {
                    return Err(self.error());
                }
                ColumnAttribute::Collate(Some(self.collation_name()?))
            }
            _ => return self.serial_attribute(),
        }))
    }

    /// An attribute that SERIAL takes too.
    fn serial_attribute(&mut self) -> SqlResult<Option<ColumnAttribute>> {
        if let Some(a) = self.row_attribute()? {
            return Ok(Some(a));
        }
        if (self.at(Kw::WITH) && self.at_nth(1, Kw::SYSTEM)) || self.at(Kw::WITHOUT) {
            let with = self.eat(Kw::WITH);
            if !with {
                self.bump();
            }
            self.expect(Kw::SYSTEM)?;
            self.expect(Kw::VERSIONING)?;
            return Ok(Some(ColumnAttribute::Versioning(with)));
        }
        match self.engine_option()? {
            Some((name, value)) => Ok(Some(ColumnAttribute::Engines(name, value))),
            None => Ok(None),
        }
    }

    /// An attribute that ROW START and ROW END take too.
    fn row_attribute(&mut self) -> SqlResult<Option<ColumnAttribute>> {
        if self.eat(Kw::NOT) {
            self.expect(Kw::NULL)?;
            return Ok(Some(ColumnAttribute::NotNull));
        }
        if self.eat(Kw::PRIMARY) {
            self.expect(Kw::KEY)?;
            return Ok(Some(ColumnAttribute::PrimaryKey));
        }
        if self.eat(Kw::KEY) {
            return Ok(Some(ColumnAttribute::PrimaryKey));
        }
        self.generated_attribute()
    }

    /// An attribute that a generated column takes too.
    fn generated_attribute(&mut self) -> SqlResult<Option<ColumnAttribute>> {
        if self.eat(Kw::UNIQUE) {
            self.eat(Kw::KEY);
            return Ok(Some(ColumnAttribute::Unique));
        }
        if self.eat(Kw::COMMENT) {
            return Ok(Some(ColumnAttribute::Comment(self.comment()?)));
        }
        if self.eat(Kw::INVISIBLE) {
            return Ok(Some(ColumnAttribute::Invisible));
        }
        self.generated_null()
    }

    /// `COMPRESSED [= method]`
    pub(super) fn compressed(&mut self) -> SqlResult<Option<String>> {
        self.expect(Kw::COMPRESSED)?;
        match self.eat_tok(Tok::Eq) {
            true => Ok(Some(self.ident()?)),
            false => Ok(None),
        }
    }

    /// CURRENT_TIMESTAMP and its synonyms, with digits; `None` if something else is next.
    pub(super) fn now(&mut self) -> SqlResult<Option<u64>> {
        let word =
            self.at(Kw::CURRENT_TIMESTAMP) || self.at(Kw::LOCALTIME) || self.at(Kw::LOCALTIMESTAMP);
        let call = self.at(Kw::NOW) && self.peek_at(1) == Tok::LParen;
        if !word && !call {
            return Ok(None);
        }
        self.bump();
        let mut digits = 0;
        if self.eat_tok(Tok::LParen) && !self.eat_tok(Tok::RParen) {
            digits = self.uint()?;
            self.expect_tok(Tok::RParen)?;
        }
        Ok(Some(digits))
    }

    /// What follows DEFAULT: one operand, or an expression in parentheses.
    pub(super) fn column_default(&mut self) -> SqlResult<ColumnDefault> {
        let mark = self.mark();
        // Digits that are no number make it a call like any other.
        match self.now() {
            Ok(Some(digits)) => return Ok(ColumnDefault::Now(digits)),
            Ok(None) => {}
            Err(_) => self.rewind(mark),
        }
        match self.peek() {
            Tok::LParen if !self.query_behind_parenthesis() => {
                Ok(ColumnDefault::Expr(self.in_parentheses()?))
            }
            Tok::Plus | Tok::Minus => Ok(ColumnDefault::Expr(self.signed_number()?)),
            Tok::Bang | Tok::Tilde | Tok::Word(Kw::NOT | Kw::BINARY) => Err(self.error()),
            // The function alone is meant.
            Tok::Word(Kw::INTERVAL) if self.peek_at(1) != Tok::LParen => {
                self.bump();
                Err(self.error())
            }
            _ => Ok(ColumnDefault::Expr(self.alone(Self::uncollated)?)),
        }
    }

    /// An operand without operators at its outside.
    pub(in crate::parse) fn lone_operand(&mut self) -> SqlResult<Expression> {
        self.alone(|p| p.operators(u8::MAX))
    }

    /// An expression with its own subqueries.
    fn alone(&mut self, read: fn(&mut Self) -> SqlResult<Expr>) -> SqlResult<Expression> {
        let outer = std::mem::take(&mut self.subqueries);
        let expr = read(self);
        let subqueries = std::mem::replace(&mut self.subqueries, outer);
        Ok(Expression {
            expr: expr?,
            subqueries,
        })
    }

    /// `+1`, `-1`: nothing but a number may have a sign without parentheses.
    fn signed_number(&mut self) -> SqlResult<Expression> {
        let op = match self.bump().tok {
            Tok::Minus => UnaryOp::Minus,
            _ => UnaryOp::Plus,
        };
        if !matches!(self.peek(), Tok::Int | Tok::Decimal | Tok::Float) {
            return Err(self.error());
        }
        let t = self.bump();
        let number = Expr::Literal(Literal::Number(self.token_text(t).to_string()));
        let expr = Expr::Unary {
            op,
            expr: Box::new(number),
        };
        Ok(Expression {
            expr,
            subqueries: Vec::new(),
        })
    }
}
