//! Index definitions, CREATE INDEX.

use super::P;
use crate::ast::{DdlStmt, IndexSpec};
use narwal_types::SqlResult;
use sqlparser::tokenizer::Token;

impl P<'_> {
    pub(super) fn is_index_start(&self) -> bool {
        ["CONSTRAINT", "PRIMARY", "UNIQUE", "KEY", "INDEX"]
            .iter()
            .any(|k| self.peek_kw(k))
    }

    /// `[CONSTRAINT [name]] PRIMARY KEY | UNIQUE [KEY|INDEX] [name] | KEY|INDEX [name]` with columns and options.
    pub(super) fn index_spec(&mut self) -> SqlResult<IndexSpec> {
        let mut constraint = None;
        if self.kw("CONSTRAINT") && !(self.peek_kw("PRIMARY") || self.peek_kw("UNIQUE")) {
            constraint = Some(self.ident()?);
        }
        let mut spec = IndexSpec {
            name: None,
            if_not_exists: false,
            primary: false,
            unique: false,
            columns: Vec::new(),
            comment: String::new(),
        };
        if self.kw("PRIMARY") {
            self.expect_kw("KEY")?;
            spec.primary = true;
            spec.unique = true;
            constraint = None;
        } else if self.kw("UNIQUE") {
            spec.unique = true;
            let _ = self.kw("KEY") || self.kw("INDEX");
        } else if !(self.kw("KEY") || self.kw("INDEX")) {
            return Err(self.error());
        }
        spec.if_not_exists = self.if_not_exists()?;
        if *self.peek() != Token::LParen && !self.peek_kw("USING") {
            let name = self.ident()?;
            if !spec.primary {
                spec.name = Some(name);
            }
        }
        if spec.name.is_none() {
            spec.name = constraint;
        }
        self.index_tail(&mut spec)?;
        Ok(spec)
    }

    /// `[USING BTREE] (columns) options`.
    pub(super) fn index_tail(&mut self, spec: &mut IndexSpec) -> SqlResult<()> {
        self.index_type()?;
        self.expect_tok(&Token::LParen)?;
        spec.columns = self.comma_separated(|p| {
            let name = p.ident()?;
            let mut prefix = None;
            if p.tok(&Token::LParen) {
                prefix = Some(u32::try_from(p.uint()?).unwrap_or(u32::MAX));
                p.expect_tok(&Token::RParen)?;
            }
            let desc = p.kw("DESC");
            if !desc {
                p.kw("ASC");
            }
            Ok((name, prefix, desc))
        })?;
        self.expect_tok(&Token::RParen)?;
        loop {
            if self.kw("COMMENT") {
                self.tok(&Token::Eq);
                spec.comment = self.string()?;
            } else if self.kw("KEY_BLOCK_SIZE") {
                self.tok(&Token::Eq);
                self.uint()?;
            } else if self.peek_kw("USING") || self.peek_kw("TYPE") {
                self.index_type()?;
            } else if self.kw("NOT") {
                self.expect_kw("IGNORED")?;
            } else if self.peek_kw("IGNORED") || self.peek_kw("WITH") || self.peek_kw("INVISIBLE") {
                return self.unsupported("IGNORED indexes and WITH PARSER");
            } else if !self.kw("VISIBLE") {
                return Ok(());
            }
        }
    }

    pub(super) fn index_type(&mut self) -> SqlResult<()> {
        if self.kw("USING") || self.kw("TYPE") {
            // HASH is built as BTREE by InnoDB too.
            if !self.kw("BTREE") && !self.kw("HASH") {
                return self.unsupported("index types other than BTREE");
            }
        }
        Ok(())
    }

    pub(super) fn index_name_or_primary(&mut self) -> SqlResult<String> {
        if self.kw("PRIMARY") {
            return Ok("PRIMARY".to_string());
        }
        self.ident()
    }

    pub(super) fn create_index(&mut self, unique: bool) -> SqlResult<DdlStmt> {
        let if_not_exists = self.if_not_exists()?;
        let mut spec = IndexSpec {
            name: Some(self.ident()?),
            if_not_exists,
            primary: false,
            unique,
            columns: Vec::new(),
            comment: String::new(),
        };
        self.index_type()?;
        self.expect_kw("ON")?;
        let table = self.table_name()?;
        self.index_tail(&mut spec)?;
        let lock_none = self.algorithm_and_lock()?;
        Ok(DdlStmt::CreateIndex {
            table,
            index: spec,
            lock_none,
        })
    }

    /// `ALGORITHM = DEFAULT|INPLACE|COPY...` and `LOCK = DEFAULT|SHARED...`: what Narwal does fits all but LOCK=NONE. Whether
    /// that is what was said last.
    pub(super) fn algorithm_and_lock(&mut self) -> SqlResult<bool> {
        let mut lock_none = false;
        loop {
            if self.kw("ALGORITHM") {
                self.tok(&Token::Eq);
                self.option_word()?;
            } else if self.kw("LOCK") {
                self.tok(&Token::Eq);
                lock_none = self.option_word()?.eq_ignore_ascii_case("NONE");
            } else if self.peek_kw("WAIT") || self.peek_kw("NOWAIT") {
                return self.unsupported("WAIT and NOWAIT in DDL");
            } else {
                return Ok(lock_none);
            }
        }
    }
}
