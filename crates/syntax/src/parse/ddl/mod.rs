//! CREATE, ALTER, DROP, RENAME, TRUNCATE: which statement it is, and what several of them share.
//!
//! | file | reads |
//! |---|---|
//! | `table.rs` | CREATE TABLE and its elements |
//! | `column.rs`, `types.rs` | columns, their attributes, data types |
//! | `constraint.rs` | CHECK, REFERENCES, GENERATED |
//! | `index.rs` | indexes, CREATE INDEX, DROP INDEX |
//! | `option.rs` | options of tables, databases, servers |
//! | `partition.rs` | PARTITION BY and the partitions |
//! | `alter.rs`, `alter_partition.rs` | ALTER TABLE |
//! | `object.rs` | databases, sequences, servers, DROP and RENAME |
//! | `view.rs` | views, and what stands between CREATE and VIEW, TRIGGER, PROCEDURE ... |

mod alter;
mod alter_partition;
mod column;
mod constraint;
mod index;
mod object;
mod option;
mod partition;
mod table;
mod types;
mod view;

use crate::ast::Statement;
use crate::ast::ddl::{Creation, Ddl, MetadataWait};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;
use narwal_types::errors;
use narwal_types::face::is_mysql;

/// A statement of DDL.
pub(in crate::parse) fn ddl(d: Ddl) -> Statement {
    Statement::Ddl(Box::new(d))
}

impl Parser<'_> {
    /// CREATE, which is next.
    pub(in crate::parse) fn create(&mut self) -> SqlResult<Statement> {
        self.expect(Kw::CREATE)?;
        let creation = Creation {
            or_replace: self.eat_all(&[Kw::OR, Kw::REPLACE]),
            if_not_exists: false,
        };
        if self.eat(Kw::TEMPORARY) {
            return match self.peek() {
                Tok::Word(Kw::TABLE) => self.create_table(creation, true),
                Tok::Word(Kw::SEQUENCE) => self.create_sequence(creation, true),
                _ => Err(self.error()),
            };
        }
        let Tok::Word(word) = self.peek() else {
            return Err(self.error());
        };
        match word {
            Kw::TABLE => self.create_table(creation, false),
            Kw::SEQUENCE => self.create_sequence(creation, false),
            Kw::INDEX | Kw::UNIQUE | Kw::FULLTEXT | Kw::SPATIAL => self.create_index(creation),
            Kw::DATABASE | Kw::SCHEMA => self.create_database(creation),
            Kw::SERVER => self.create_server(creation),
            _ => self.create_with_suid(creation),
        }
    }

    /// ALTER, which is next.
    pub(in crate::parse) fn alter(&mut self) -> SqlResult<Statement> {
        self.expect(Kw::ALTER)?;
        let Tok::Word(word) = self.peek() else {
            return Err(self.error());
        };
        match word {
            Kw::TABLE | Kw::ONLINE | Kw::IGNORE => self.alter_table(),
            Kw::DATABASE | Kw::SCHEMA => self.alter_database(),
            Kw::SEQUENCE => self.alter_sequence(),
            Kw::SERVER => self.alter_server(),
            Kw::PROCEDURE | Kw::FUNCTION => self.alter_routine(),
            _ => self.alter_with_suid(),
        }
    }

    /// `IF EXISTS`
    pub(in crate::parse) fn if_exists(&mut self) -> SqlResult<bool> {
        let found = self.eat(Kw::IF);
        if found {
            self.expect(Kw::EXISTS)?;
        }
        Ok(found)
    }

    /// `IF EXISTS`, or what `sql_if_exists` says in its place.
    pub(in crate::parse) fn may_miss(&mut self) -> SqlResult<bool> {
        Ok(self.if_exists()? || self.if_exists)
    }

    /// `IF NOT EXISTS`
    pub(in crate::parse) fn if_not_exists(&mut self) -> SqlResult<bool> {
        let found = self.eat(Kw::IF);
        if found {
            self.expect(Kw::NOT)?;
            self.expect(Kw::EXISTS)?;
        }
        Ok(found)
    }

    /// IF NOT EXISTS behind CREATE OR REPLACE, which do not go together: 1221.
    pub(in crate::parse) fn creation(&mut self, creation: &mut Creation) -> SqlResult<()> {
        creation.if_not_exists = self.if_not_exists()?;
        if creation.or_replace && creation.if_not_exists {
            return Err(errors::WRONG_USAGE.with([&"OR REPLACE", &"IF NOT EXISTS"]));
        }
        Ok(())
    }

    /// `WAIT n` or `NOWAIT`
    pub(in crate::parse) fn metadata_wait(&mut self) -> SqlResult<Option<MetadataWait>> {
        self.may_wait()?;
        if self.eat(Kw::NOWAIT) {
            return Ok(Some(MetadataWait::No));
        }
        if self.eat(Kw::WAIT) {
            return Ok(Some(MetadataWait::Seconds(self.uint()?)));
        }
        Ok(None)
    }

    /// Error 1314 if WAIT or NOWAIT is next in a program, which has none of them.
    pub(in crate::parse) fn may_wait(&self) -> SqlResult<()> {
        match self.in_program && (self.at(Kw::NOWAIT) || self.at(Kw::WAIT)) && !is_mysql() {
            true => Err(errors::SP_BADSTATEMENT.with([&"[NO]WAIT"])),
            false => Ok(()),
        }
    }

    /// `RESTRICT` or `CASCADE`, which change nothing.
    pub(in crate::parse) fn restrict(&mut self) {
        let _ = self.eat(Kw::RESTRICT) || self.eat(Kw::CASCADE);
    }

    /// `[=]`
    pub(in crate::parse) fn equals(&mut self) {
        let _ = self.eat_tok(Tok::Eq) || self.eat_tok(Tok::ColonEq);
    }

    /// `(a, b, ...)`
    pub(in crate::parse) fn name_list(&mut self) -> SqlResult<Vec<String>> {
        self.parenthesised(Self::ident)
    }
}
