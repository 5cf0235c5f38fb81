//! CREATE and ALTER DATABASE.

use super::P;
use crate::ast::DdlStmt;
use narwal_types::{Collation, SqlResult};
use sqlparser::tokenizer::Token;

impl P<'_> {
    pub(super) fn create_database(&mut self) -> SqlResult<DdlStmt> {
        let if_not_exists = self.if_not_exists()?;
        let name = self.ident()?;
        let (collation, comment) = self.database_options()?;
        Ok(DdlStmt::CreateDatabase {
            if_not_exists,
            name,
            collation,
            comment,
        })
    }

    pub(super) fn database_options(&mut self) -> SqlResult<(Option<Collation>, Option<String>)> {
        let mut collation = None;
        let mut comment = None;
        loop {
            self.kw("DEFAULT");
            if self.charset_options(&mut collation)? {
                // Taken.
            } else if self.kw("COMMENT") {
                self.tok(&Token::Eq);
                comment = Some(self.string()?);
            } else {
                return Ok((collation, comment));
            }
        }
    }
}
