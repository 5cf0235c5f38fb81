//! Indexes, CREATE INDEX and DROP INDEX.

use super::ddl;
use crate::ast::Statement;
use crate::ast::ddl::{
    ChangeOptions, CreateIndex, Creation, Ddl, DropIndex, Index, IndexKind, IndexMethod,
    IndexOption, IndexPart,
};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;
use narwal_types::errors;
use narwal_types::face::is_mysql;

impl Parser<'_> {
    /// An index of a table's definition, at its first word.
    pub(super) fn index(&mut self, constraint: Option<String>, create: bool) -> SqlResult<Index> {
        let mut i = Index {
            constraint,
            kind: self.index_kind()?,
            ..Index::default()
        };
        i.if_not_exists = self.if_not_exists()?;
        let special = matches!(i.kind, IndexKind::Fulltext | IndexKind::Spatial);
        if self.at_ident() && !(self.at(Kw::TYPE) && self.peek_at(1) != Tok::LParen) {
            i.name = Some(self.ident()?);
            if !special && self.eat(Kw::TYPE) {
                i.options.push(IndexOption::Using(self.index_method()?));
            }
        } else if self.at(Kw::TYPE) {
            i.name = Some(self.ident()?);
        }
        if !special && self.eat(Kw::USING) {
            i.options.push(IndexOption::Using(self.index_method()?));
        }
        if create && i.if_not_exists {
            return Err(self.error());
        }
        self.index_columns(&mut i, true)?;
        self.index_options(&mut i)?;
        Ok(i)
    }

    fn index_kind(&mut self) -> SqlResult<IndexKind> {
        let t = self.bump();
        Ok(match t.tok {
            Tok::Word(Kw::PRIMARY) => {
                self.expect(Kw::KEY)?;
                return Ok(IndexKind::Primary);
            }
            Tok::Word(Kw::UNIQUE) => self.key_or_index(IndexKind::Unique),
            Tok::Word(Kw::FULLTEXT) => self.key_or_index(IndexKind::Fulltext),
            Tok::Word(Kw::SPATIAL) => self.key_or_index(IndexKind::Spatial),
            Tok::Word(Kw::KEY | Kw::INDEX) => IndexKind::Plain,
            _ => return Err(self.error_at(t.start as usize)),
        })
    }

    fn key_or_index(&mut self, kind: IndexKind) -> IndexKind {
        let _ = self.eat(Kw::KEY) || self.eat(Kw::INDEX);
        kind
    }

    /// Behind USING and TYPE.
    fn index_method(&mut self) -> SqlResult<IndexMethod> {
        if self.eat(Kw::BTREE) {
            return Ok(IndexMethod::BTree);
        }
        if self.eat(Kw::RTREE) {
            return Ok(IndexMethod::RTree);
        }
        self.expect(Kw::HASH)?;
        Ok(IndexMethod::Hash)
    }

    /// `(column [(length)] [ASC | DESC], ... [, period WITHOUT OVERLAPS])`
    fn index_columns(&mut self, i: &mut Index, overlaps: bool) -> SqlResult<()> {
        self.expect_tok(Tok::LParen)?;
        loop {
            let expr = self.index_expression()?;
            let column = match expr {
                Some(_) => String::new(),
                None => self.ident()?,
            };
            let unique = matches!(i.kind, IndexKind::Unique | IndexKind::Primary);
            if overlaps && unique && !i.parts.is_empty() && self.eat(Kw::WITHOUT) {
                self.expect(Kw::OVERLAPS)?;
                i.without_overlaps = Some(column);
                break;
            }
            let mut prefix = None;
            if expr.is_none() && self.eat_tok(Tok::LParen) {
                let n = self.uint()?;
                if n == 0 {
                    return Err(errors::KEY_PART_0.with([&column]));
                }
                prefix = Some(n);
                self.expect_tok(Tok::RParen)?;
            }
            let desc = self.eat(Kw::DESC);
            if !desc {
                self.eat(Kw::ASC);
            }
            i.parts.push(IndexPart {
                column,
                expr,
                prefix,
                desc,
            });
            if !self.eat_tok(Tok::Comma) {
                break;
            }
        }
        self.expect_tok(Tok::RParen)
    }

    /// Options behind the columns.
    fn index_options(&mut self, i: &mut Index) -> SqlResult<()> {
        let special = matches!(i.kind, IndexKind::Fulltext | IndexKind::Spatial);
        loop {
            let option = if !special && (self.eat(Kw::USING) || self.eat(Kw::TYPE)) {
                IndexOption::Using(self.index_method()?)
            } else if self.eat(Kw::COMMENT) {
                IndexOption::Comment(self.comment()?)
            } else if self.eat(Kw::KEY_BLOCK_SIZE) {
                self.equals();
                IndexOption::KeyBlockSize(self.number()?)
            } else if i.kind == IndexKind::Fulltext && self.eat_all(&[Kw::WITH, Kw::PARSER]) {
                IndexOption::Parser(self.ident()?)
            } else if self.eat(Kw::VISIBLE) {
                IndexOption::Visible
            } else if self.eat(Kw::IGNORED) || self.eat_invisible() {
                IndexOption::Ignored(true)
            } else if self.at(Kw::NOT) {
                IndexOption::Ignored(self.ignored()?)
            } else if let Some((name, value)) = self.engine_option()? {
                IndexOption::Engines(name, value)
            } else {
                return Ok(());
            };
            i.options.push(option);
        }
    }

    /// INVISIBLE, which MySQL calls an index that is IGNORED.
    fn eat_invisible(&mut self) -> bool {
        is_mysql() && self.eat(Kw::INVISIBLE)
    }

    /// `[NOT] IGNORED`
    pub(super) fn ignored(&mut self) -> SqlResult<bool> {
        if self.eat_invisible() {
            return Ok(true);
        }
        if is_mysql() && self.eat(Kw::VISIBLE) {
            return Ok(false);
        }
        let not = self.eat(Kw::NOT);
        self.expect(Kw::IGNORED)?;
        Ok(!not)
    }

    /// CREATE INDEX, behind CREATE.
    pub(super) fn create_index(&mut self, mut creation: Creation) -> SqlResult<Statement> {
        let kind = match self.peek() {
            Tok::Word(Kw::UNIQUE) => IndexKind::Unique,
            Tok::Word(Kw::FULLTEXT) => IndexKind::Fulltext,
            Tok::Word(Kw::SPATIAL) => IndexKind::Spatial,
            _ => IndexKind::Plain,
        };
        if kind != IndexKind::Plain {
            self.bump();
        }
        self.expect(Kw::INDEX)?;
        self.creation(&mut creation)?;
        let mut index = Index {
            kind,
            name: Some(self.ident()?),
            if_not_exists: creation.if_not_exists,
            ..Index::default()
        };
        let special = matches!(kind, IndexKind::Fulltext | IndexKind::Spatial);
        if !special && (self.eat(Kw::USING) || self.eat(Kw::TYPE)) {
            index.options.push(IndexOption::Using(self.index_method()?));
        }
        self.expect(Kw::ON)?;
        let table = self.table_name()?;
        self.index_columns(&mut index, true)?;
        let mut how = ChangeOptions {
            wait: self.metadata_wait()?,
            ..ChangeOptions::default()
        };
        self.index_options(&mut index)?;
        self.algorithm_and_lock(&mut how)?;
        Ok(ddl(Ddl::CreateIndex(CreateIndex {
            creation,
            table,
            index,
            how,
        })))
    }

    /// DROP INDEX, behind INDEX.
    pub(super) fn drop_index(&mut self) -> SqlResult<Statement> {
        let if_exists = self.if_exists()?;
        let index = self.ident()?;
        self.expect(Kw::ON)?;
        let table = self.table_name()?;
        let how = ChangeOptions {
            wait: self.metadata_wait()?,
            ..ChangeOptions::default()
        };
        Ok(ddl(Ddl::DropIndex(DropIndex {
            if_exists,
            table,
            index,
            how,
        })))
    }

    /// ALGORITHM and LOCK, each once, in either order.
    fn algorithm_and_lock(&mut self, how: &mut ChangeOptions) -> SqlResult<()> {
        while self.at(Kw::ALGORITHM) && how.algorithm.is_none()
            || self.at(Kw::LOCK) && how.lock.is_none()
        {
            self.change_option(how)?;
        }
        Ok(())
    }

    /// `ALGORITHM [=] x` or `LOCK [=] x`, which is next.
    pub(super) fn change_option(&mut self, how: &mut ChangeOptions) -> SqlResult<()> {
        let lock = self.eat(Kw::LOCK);
        if !lock {
            self.expect(Kw::ALGORITHM)?;
        }
        self.equals();
        let word = match self.eat(Kw::DEFAULT) {
            true => "DEFAULT".to_string(),
            false => self.ident()?,
        };
        let known: &[&str] = match lock {
            true => &["NONE", "SHARED", "EXCLUSIVE", "DEFAULT"],
            false => &["INPLACE", "COPY", "NOCOPY", "INSTANT", "DEFAULT"],
        };
        if !known.iter().any(|k| k.eq_ignore_ascii_case(&word)) {
            return Err(match lock {
                true => errors::UNKNOWN_ALTER_LOCK.with([&word]),
                false => errors::UNKNOWN_ALTER_ALGORITHM.with([&word]),
            });
        }
        *(if lock {
            &mut how.lock
        } else {
            &mut how.algorithm
        }) = Some(word);
        Ok(())
    }
}
