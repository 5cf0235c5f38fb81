//! CREATE, DROP, TRUNCATE, ALTER: which statement it is, and what several of them share.

mod alter;
mod column;
mod constraint;
mod create_table;
mod database;
mod index;
mod sequence;
mod types;
mod view;

use super::P;
use crate::ast::{DdlStmt, ViewCreation};
use narwal_types::{Collation, SqlResult};
use sqlparser::tokenizer::Token;

pub(crate) use types::{charset, collation, is_text, mismatched_collation, too_big};

impl P<'_> {
    pub(in crate::parse) fn ddl(&mut self) -> SqlResult<DdlStmt> {
        if self.kw("CREATE") {
            let or_replace = self.kw2("OR", "REPLACE");
            let temporary = self.kw("TEMPORARY");
            if self.kw("TABLE") {
                return self.create_table(or_replace, temporary);
            }
            if !temporary && self.kw("SEQUENCE") {
                return self.create_sequence(or_replace);
            }
            if temporary {
                let what = self.word_for_message();
                return self.unsupported(&format!("CREATE TEMPORARY {what}"));
            }
            if self.is_view_next() {
                return self.create_view(match or_replace {
                    true => ViewCreation::OrReplace,
                    false => ViewCreation::New,
                });
            }
            if or_replace {
                return self.unsupported("CREATE OR REPLACE");
            }
            if self.kw("DATABASE") || self.kw("SCHEMA") {
                return self.create_database();
            }
            if self.kw("INDEX") {
                return self.create_index(false);
            }
            if self.kw2("UNIQUE", "INDEX") {
                return self.create_index(true);
            }
            let what = self.word_for_message();
            return self.unsupported(&format!("CREATE {what}"));
        }
        if self.kw("DROP") {
            let temporary = self.kw("TEMPORARY");
            if self.kw("TABLE") || self.kw("TABLES") {
                let if_exists = self.if_exists()?;
                let tables = self.comma_separated(Self::table_name)?;
                let _ = self.kw("RESTRICT") || self.kw("CASCADE");
                if self.peek_kw("WAIT") || self.peek_kw("NOWAIT") {
                    return self.unsupported("DROP TABLE ... WAIT");
                }
                return Ok(DdlStmt::DropTable {
                    if_exists,
                    temporary,
                    tables,
                });
            }
            if self.kw("VIEW") {
                let if_exists = self.if_exists()?;
                let views = self.comma_separated(Self::table_name)?;
                let _ = self.kw("RESTRICT") || self.kw("CASCADE");
                return Ok(DdlStmt::DropView { if_exists, views });
            }
            if !temporary && self.kw("SEQUENCE") {
                return Ok(DdlStmt::DropSequence {
                    if_exists: self.if_exists()?,
                    names: self.comma_separated(Self::table_name)?,
                });
            }
            if self.kw("DATABASE") || self.kw("SCHEMA") {
                let if_exists = self.if_exists()?;
                return Ok(DdlStmt::DropDatabase {
                    if_exists,
                    name: self.ident()?,
                });
            }
            if self.kw("INDEX") {
                let if_exists = self.if_exists()?;
                let index = self.index_name_or_primary()?;
                self.expect_kw("ON")?;
                let table = self.table_name()?;
                self.algorithm_and_lock()?;
                return Ok(DdlStmt::DropIndex {
                    if_exists,
                    table,
                    index,
                });
            }
            let what = self.word_for_message();
            return self.unsupported(&format!("DROP {what}"));
        }
        if self.kw("TRUNCATE") {
            self.kw("TABLE");
            return Ok(DdlStmt::Truncate(self.table_name()?));
        }
        if self.kw("RENAME") {
            if self.kw("TABLE") || self.kw("TABLES") {
                return self.rename_table();
            }
            let what = self.word_for_message();
            return self.unsupported(&format!("RENAME {what}"));
        }
        self.expect_kw("ALTER")?;
        if self.kw("DATABASE") || self.kw("SCHEMA") {
            let name = match self.peek() {
                Token::Word(w)
                    if w.quote_style.is_some()
                        || !["DEFAULT", "CHARACTER", "CHARSET", "COLLATE", "COMMENT"]
                            .iter()
                            .any(|k| w.value.eq_ignore_ascii_case(k)) =>
                {
                    Some(self.ident()?)
                }
                _ => None,
            };
            let (collation, comment) = self.database_options()?;
            return Ok(DdlStmt::AlterDatabase {
                name,
                collation,
                comment,
            });
        }
        if self.is_view_next() {
            return self.create_view(ViewCreation::Alter);
        }
        let _ = self.kw("ONLINE");
        let ignore = self.kw("IGNORE");
        if self.kw("TABLE") {
            return self.alter_table(ignore);
        }
        if !ignore && self.kw("SEQUENCE") {
            return self.alter_sequence();
        }
        let what = self.word_for_message();
        self.unsupported(&format!("ALTER {what}"))
    }

    fn word_for_message(&self) -> String {
        match self.peek() {
            Token::Word(w) => w.value.to_ascii_uppercase(),
            _ => "...".to_string(),
        }
    }

    fn if_exists(&mut self) -> SqlResult<bool> {
        if self.kw("IF") {
            self.expect_kw("EXISTS")?;
            return Ok(true);
        }
        Ok(false)
    }

    fn if_not_exists(&mut self) -> SqlResult<bool> {
        if self.kw("IF") {
            self.expect_kw("NOT")?;
            self.expect_kw("EXISTS")?;
            return Ok(true);
        }
        Ok(false)
    }

    /// `CHARACTER SET [=] x`, `CHARSET [=] x` or `COLLATE [=] x`, if one is next.
    fn charset_or_collate(&mut self) -> SqlResult<Option<Collation>> {
        if self.kw2("CHARACTER", "SET") || self.kw("CHARSET") || self.kw2("CHAR", "SET") {
            self.tok(&Token::Eq);
            let name = self.option_word()?;
            return Ok(Some(charset(&name)?.default_collation()));
        }
        if self.kw("COLLATE") {
            self.tok(&Token::Eq);
            let name = self.option_word()?;
            return collation(&name).map(Some);
        }
        Ok(None)
    }

    /// As [`P::charset_or_collate`], put into `slot`: a collation must be one of the character set named before or after it.
    /// False if neither is next.
    fn charset_options(&mut self, slot: &mut Option<Collation>) -> SqlResult<bool> {
        let named = self.peek_kw("COLLATE");
        let Some(c) = self.charset_or_collate()? else {
            return Ok(false);
        };
        *slot = Some(match *slot {
            Some(old) if old.charset() == c.charset() && !named => old,
            Some(old) if old.charset() != c.charset() => {
                return Err(if named {
                    mismatched_collation(c, old.charset())
                } else {
                    mismatched_collation(old, c.charset())
                });
            }
            _ => c,
        });
        Ok(true)
    }

    /// A name, string or number given as an option's value, as text.
    fn option_word(&mut self) -> SqlResult<String> {
        let at = self.here();
        match self.next() {
            Token::Word(w) => Ok(w.value),
            Token::SingleQuotedString(s) | Token::DoubleQuotedString(s) => Ok(s),
            Token::Number(n, _) => Ok(n),
            _ => Err(self.error_at(at)),
        }
    }
}
