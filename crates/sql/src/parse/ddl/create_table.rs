//! CREATE TABLE.

use super::P;
use crate::ast::{CreateTable, DdlStmt, Duplicates, TableElements, TableOptions};
use narwal_types::{SqlError, SqlResult};
use sqlparser::tokenizer::Token;

impl P<'_> {
    /// Behind CREATE \[OR REPLACE\] \[TEMPORARY\] TABLE.
    pub(super) fn create_table(&mut self, or_replace: bool, temporary: bool) -> SqlResult<DdlStmt> {
        let if_not_exists = self.if_not_exists()?;
        if or_replace && if_not_exists {
            return Err(SqlError::new(
                1221,
                b"HY000",
                "Incorrect usage of OR REPLACE and IF NOT EXISTS",
            ));
        }
        let mut t = CreateTable {
            temporary,
            or_replace,
            if_not_exists,
            table: self.table_name()?,
            elements: TableElements::default(),
            options: TableOptions::default(),
            like: None,
            duplicates: Duplicates::Refuse,
            select: None,
        };
        if self.kw("LIKE") {
            t.like = Some(self.table_name()?);
            return Ok(DdlStmt::CreateTable(t));
        }
        if *self.peek() == Token::LParen && !self.peek_kw_nth(1, "SELECT") {
            self.next();
            if self.kw("LIKE") {
                t.like = Some(self.table_name()?);
                self.expect_tok(&Token::RParen)?;
                return Ok(DdlStmt::CreateTable(t));
            }
            loop {
                self.create_element(&mut t.elements)?;
                if !self.tok(&Token::Comma) {
                    break;
                }
            }
            self.expect_tok(&Token::RParen)?;
        }
        self.table_options(&mut t.options)?;
        if self.kw("IGNORE") {
            t.duplicates = Duplicates::Ignore;
        } else if self.kw("REPLACE") {
            t.duplicates = Duplicates::Replace;
        }
        let select = self.kw("AS")
            || t.duplicates != Duplicates::Refuse
            || ["SELECT", "WITH", "VALUES"].iter().any(|k| self.peek_kw(k))
            || *self.peek() == Token::LParen;
        if select {
            t.select = Some(Box::new(self.select()?));
        } else if t.elements == TableElements::default() {
            return match self.peek() {
                Token::EOF | Token::SemiColon => Err(SqlError::new(
                    1113,
                    b"42000",
                    "A table must have at least 1 column",
                )),
                _ => Err(self.error()),
            };
        }
        Ok(DdlStmt::CreateTable(t))
    }

    /// Whether an index or a constraint is next, and no column.
    pub(super) fn is_element_of_table(&self) -> bool {
        self.is_constraint_start()
            || self.is_index_start()
            || ["FULLTEXT", "SPATIAL", "PERIOD"]
                .iter()
                .any(|k| self.peek_kw(k))
    }

    /// An element of CREATE TABLE's list.
    pub(super) fn create_element(&mut self, t: &mut TableElements) -> SqlResult<()> {
        if self.is_constraint_start() {
            return self.constraint(t);
        }
        if self.peek_kw("FULLTEXT") || self.peek_kw("SPATIAL") {
            return self.unsupported("FULLTEXT and SPATIAL indexes");
        }
        if self.peek_kw("PERIOD") && self.peek_kw_nth(1, "FOR") {
            return self.unsupported("PERIOD FOR");
        }
        if self.is_index_start() {
            let spec = self.index_spec()?;
            t.indexes.push(spec);
            return Ok(());
        }
        self.column(t)
    }

    fn table_options(&mut self, t: &mut TableOptions) -> SqlResult<()> {
        loop {
            self.tok(&Token::Comma);
            if !self.table_option(t)? {
                return Ok(());
            }
        }
    }

    /// One table option, if one is next.
    pub(super) fn table_option(&mut self, t: &mut TableOptions) -> SqlResult<bool> {
        self.kw("DEFAULT");
        if self.kw("ENGINE") {
            self.tok(&Token::Eq);
            t.engine = Some(self.option_word()?);
        } else if self.charset_options(&mut t.collation)? {
            // Taken.
        } else if self.kw("COMMENT") {
            self.tok(&Token::Eq);
            t.comment = Some(self.string()?);
        } else if self.kw("AUTO_INCREMENT") {
            self.tok(&Token::Eq);
            t.auto_increment = Some(self.uint()?);
        } else if self.kw("ROW_FORMAT")
            || self.kw("KEY_BLOCK_SIZE")
            || self.kw("MAX_ROWS")
            || self.kw("MIN_ROWS")
            || self.kw("AVG_ROW_LENGTH")
            || self.kw("PACK_KEYS")
            || self.kw("STATS_PERSISTENT")
            || self.kw("STATS_AUTO_RECALC")
            || self.kw("STATS_SAMPLE_PAGES")
            || self.kw("CHECKSUM")
            || self.kw("DELAY_KEY_WRITE")
        {
            // Hints about another engine's files: they change nothing a client can see.
            self.tok(&Token::Eq);
            self.option_word()?;
        } else if self.peek_kw("PARTITION") && self.peek_kw_nth(1, "BY") {
            return self.unsupported("PARTITION BY");
        } else if self.peek_kw("WITH")
            || self.peek_kw("DATA")
            || self.peek_kw("INDEX")
            || self.peek_kw("UNION")
            || self.peek_kw("CONNECTION")
            || self.peek_kw("PAGE_COMPRESSED")
            || self.peek_kw("ENCRYPTED")
            || (self.peek_kw("SEQUENCE") && !self.peek_kw_nth(1, "AS"))
        {
            let what = self.word_for_message();
            return self.unsupported(&format!("table option {what}"));
        } else {
            return Ok(false);
        }
        Ok(true)
    }
}
