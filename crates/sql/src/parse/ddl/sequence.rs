//! CREATE, ALTER and DROP SEQUENCE.

use super::P;
use crate::ast::{DdlStmt, SequenceOptions};
use narwal_types::{SqlError, SqlResult};
use sqlparser::tokenizer::Token;

impl P<'_> {
    /// Behind CREATE \[OR REPLACE\] SEQUENCE.
    pub(super) fn create_sequence(&mut self, or_replace: bool) -> SqlResult<DdlStmt> {
        let if_not_exists = self.if_not_exists()?;
        if or_replace && if_not_exists {
            return Err(SqlError::new(
                1221,
                b"HY000",
                "Incorrect usage of OR REPLACE and IF NOT EXISTS",
            ));
        }
        Ok(DdlStmt::CreateSequence {
            or_replace,
            if_not_exists,
            name: self.table_name()?,
            options: self.sequence_options(false)?,
        })
    }

    /// Behind ALTER SEQUENCE.
    pub(super) fn alter_sequence(&mut self) -> SqlResult<DdlStmt> {
        let if_exists = self.if_exists()?;
        let name = self.table_name()?;
        let options = self.sequence_options(true)?;
        if options == SequenceOptions::default() {
            return Err(self.error());
        }
        Ok(DdlStmt::AlterSequence {
            if_exists,
            name,
            options,
        })
    }

    fn sequence_options(&mut self, alter: bool) -> SqlResult<SequenceOptions> {
        let mut o = SequenceOptions::default();
        loop {
            if self.kw("START") {
                o.start = Some(self.sequence_number("WITH")?);
            } else if self.kw("INCREMENT") {
                o.increment = Some(self.sequence_number("BY")?);
            } else if self.kw("MINVALUE") {
                o.min = Some(Some(self.sequence_number("")?));
            } else if self.kw("MAXVALUE") {
                o.max = Some(Some(self.sequence_number("")?));
            } else if self.kw("NOMINVALUE") || self.kw2("NO", "MINVALUE") {
                o.min = Some(None);
            } else if self.kw("NOMAXVALUE") || self.kw2("NO", "MAXVALUE") {
                o.max = Some(None);
            } else if self.kw("CACHE") {
                o.cache = Some(self.sequence_number("")?);
            } else if self.kw("NOCACHE") {
                o.cache = Some(0);
            } else if self.kw("CYCLE") {
                o.cycle = Some(true);
            } else if self.kw("NOCYCLE") {
                o.cycle = Some(false);
            } else if alter && self.kw("RESTART") {
                let given = self.peek_kw("WITH")
                    || matches!(self.peek(), Token::Eq | Token::Minus | Token::Number(..));
                o.restart = Some(match given {
                    true => Some(self.sequence_number("WITH")?),
                    false => None,
                });
            } else if alter || !self.table_option(&mut o.table)? {
                return Ok(o);
            }
        }
    }

    /// `[word | =] [-]n`
    fn sequence_number(&mut self, word: &str) -> SqlResult<i64> {
        if word.is_empty() || !self.kw(word) {
            self.tok(&Token::Eq);
        }
        let minus = self.tok(&Token::Minus);
        let at = self.here();
        let number = match self.next() {
            Token::Number(n, _) if minus => format!("-{n}").parse().ok(),
            Token::Number(n, _) => n.parse().ok(),
            _ => None,
        };
        number.ok_or_else(|| self.error_at(at))
    }
}
