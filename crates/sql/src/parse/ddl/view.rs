//! CREATE VIEW and ALTER VIEW.

use super::P;
use crate::ast::{CreateView, DdlStmt, Definer, ViewCreation};
use narwal_engine::{CheckOption, ViewAlgorithm};
use narwal_types::{SqlError, SqlResult};
use sqlparser::tokenizer::Token;

impl P<'_> {
    /// True if VIEW is next, or what may stand between CREATE and VIEW.
    pub(super) fn is_view_next(&self) -> bool {
        let mut n = 0;
        loop {
            let t = self.peek_nth(n);
            if Self::is_kw(t, "VIEW") {
                return true;
            }
            if n == 0
                && !["ALGORITHM", "DEFINER", "SQL"]
                    .iter()
                    .any(|k| Self::is_kw(t, k))
            {
                return false;
            }
            if *t == Token::EOF
                || ["AS", "SELECT", "TRIGGER", "PROCEDURE", "FUNCTION", "EVENT"]
                    .iter()
                    .any(|k| Self::is_kw(t, k))
            {
                return false;
            }
            n += 1;
        }
    }

    /// Behind CREATE \[OR REPLACE\], or ALTER.
    pub(super) fn create_view(&mut self, mut creation: ViewCreation) -> SqlResult<DdlStmt> {
        let mut algorithm = None;
        let mut definer = None;
        let mut invoker = None;
        if self.kw("ALGORITHM") {
            self.expect_tok(&Token::Eq)?;
            algorithm = Some(if self.kw("UNDEFINED") {
                ViewAlgorithm::Undefined
            } else if self.kw("MERGE") {
                ViewAlgorithm::Merge
            } else if self.kw("TEMPTABLE") {
                ViewAlgorithm::TempTable
            } else {
                return Err(self.error());
            });
        }
        if self.kw("DEFINER") {
            self.expect_tok(&Token::Eq)?;
            definer = Some(self.definer()?);
        }
        if self.kw("SQL") {
            self.expect_kw("SECURITY")?;
            invoker = Some(if self.kw("INVOKER") {
                true
            } else {
                self.expect_kw("DEFINER")?;
                false
            });
        }
        self.expect_kw("VIEW")?;
        if creation != ViewCreation::Alter && self.if_not_exists()? {
            if creation == ViewCreation::OrReplace {
                return Err(SqlError::new(
                    1221,
                    b"HY000",
                    "Incorrect usage of OR REPLACE and IF NOT EXISTS",
                ));
            }
            creation = ViewCreation::IfNotExists;
        }
        let view = self.table_name()?;
        let mut columns = Vec::new();
        if self.tok(&Token::LParen) {
            columns = self.comma_separated(Self::ident)?;
            self.expect_tok(&Token::RParen)?;
        }
        self.expect_kw("AS")?;
        let start = self.here();
        let select = Box::new(self.select()?);
        let mut check = CheckOption::None;
        if self.kw("WITH") {
            check = if self.kw("LOCAL") {
                CheckOption::Local
            } else {
                self.kw("CASCADED");
                CheckOption::Cascaded
            };
            self.expect_kw("CHECK")?;
            self.expect_kw("OPTION")?;
        }
        if self.params > 0 {
            let at = self.text.find('?').unwrap_or(0);
            return Err(self.error_at(at));
        }
        let source = self.text[start..self.behind().max(start)].to_string();
        Ok(DdlStmt::CreateView(Box::new(CreateView {
            creation,
            algorithm,
            definer,
            invoker,
            view,
            columns,
            select,
            source,
            check,
            settled: None,
        })))
    }

    /// CURRENT_USER, or an account.
    fn definer(&mut self) -> SqlResult<Definer> {
        if self.kw("CURRENT_USER") {
            if self.tok(&Token::LParen) {
                self.expect_tok(&Token::RParen)?;
            }
            return Ok(Definer::CurrentUser);
        }
        if self.peek_kw("CURRENT_ROLE") {
            return self.unsupported("roles");
        }
        let bare = matches!(self.peek(), Token::Word(w) if w.quote_style.is_none());
        let user = self.option_word()?;
        // An `@` is part of the word that it stands in or before: `a@b`, `@b`, or `@` alone before a quoted host.
        let host = match (self.peek(), user.split_once('@')) {
            (Token::AtSign, _) => {
                self.next();
                String::new()
            }
            (Token::Word(w), _) if w.quote_style.is_none() && w.value.starts_with('@') => {
                let host = w.value[1..].to_string();
                self.next();
                host
            }
            (_, Some((name, host))) if bare => {
                let (name, host) = (name.to_string(), host.to_string());
                return Ok(Definer::Account(name, self.host(host)?));
            }
            _ => return Ok(Definer::Account(user, "%".into())),
        };
        Ok(Definer::Account(user, self.host(host)?))
    }

    /// A host that was written bare, or the quoted one behind the `@`.
    fn host(&mut self, bare: String) -> SqlResult<String> {
        match bare.is_empty() {
            true => self.option_word(),
            false => Ok(bare),
        }
    }
}
