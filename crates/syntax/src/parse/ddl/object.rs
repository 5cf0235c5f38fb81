//! Databases, sequences, servers; DROP, RENAME and TRUNCATE.

use super::ddl;
use crate::ast::Statement;
use crate::ast::ddl::{
    AlterDatabase, AlterRoutine, AlterSequence, CreateDatabase, CreateSequence, CreateServer,
    Creation, Ddl, DropObject, DropTables, ProgramKind, RenameTables, SequenceOption, ServerOption,
    TableOption, Truncate,
};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::sql_mode::SqlMode;
use crate::token::Tok;
use narwal_types::SqlResult;
use narwal_types::errors;

impl Parser<'_> {
    /// CREATE DATABASE, behind CREATE.
    pub(super) fn create_database(&mut self, mut creation: Creation) -> SqlResult<Statement> {
        self.bump();
        self.creation(&mut creation)?;
        let name = self.db_ident()?;
        let options = self.database_options()?;
        Ok(ddl(Ddl::CreateDatabase(CreateDatabase {
            creation,
            name,
            options,
        })))
    }

    fn database_options(&mut self) -> SqlResult<Vec<TableOption>> {
        let mut options = Vec::new();
        loop {
            if let Some(c) = self.charset_option()? {
                options.push(TableOption::Charset(c));
            } else if self.at(Kw::COMMENT) || (self.at(Kw::DEFAULT) && self.at_nth(1, Kw::COMMENT))
            {
                self.eat(Kw::DEFAULT);
                self.bump();
                self.equals();
                options.push(TableOption::Comment(self.comment()?));
            } else if !self.no_encryption()? {
                return Ok(options);
            }
        }
    }

    /// ALTER DATABASE, behind ALTER.
    pub(super) fn alter_database(&mut self) -> SqlResult<Statement> {
        self.bump();
        let mut name = None;
        if self.at_ident() && !self.at_database_option() {
            name = Some(self.passing_ident()?);
            if self.eat(Kw::UPGRADE) {
                self.expect(Kw::DATA)?;
                self.expect(Kw::DIRECTORY)?;
                self.expect(Kw::NAME)?;
                return Ok(ddl(Ddl::AlterDatabase(AlterDatabase {
                    name,
                    options: Vec::new(),
                    upgrade: true,
                })));
            }
        }
        let options = self.database_options()?;
        if options.is_empty() {
            return Err(self.error());
        }
        Ok(ddl(Ddl::AlterDatabase(AlterDatabase {
            name,
            options,
            upgrade: false,
        })))
    }

    /// True if the word that is next begins an option, and is not the name of a database before one.
    fn at_database_option(&self) -> bool {
        let option = self.at(Kw::CHARSET) || self.at(Kw::COMMENT);
        let named = match self.peek_at(1) {
            Tok::Word(k) => matches!(
                k,
                Kw::DEFAULT | Kw::CHARSET | Kw::CHARACTER | Kw::CHAR | Kw::COLLATE | Kw::COMMENT
            ),
            _ => false,
        };
        option && !named
    }

    /// CREATE SEQUENCE, behind CREATE.
    pub(super) fn create_sequence(
        &mut self,
        mut creation: Creation,
        temporary: bool,
    ) -> SqlResult<Statement> {
        self.expect(Kw::SEQUENCE)?;
        self.creation(&mut creation)?;
        let name = self.table_name()?;
        let options = self.sequence_options(false)?;
        let mut table = Vec::new();
        self.table_options(&mut table)?;
        Ok(ddl(Ddl::CreateSequence(CreateSequence {
            creation,
            temporary,
            name,
            options,
            table,
        })))
    }

    /// ALTER SEQUENCE, behind ALTER.
    pub(super) fn alter_sequence(&mut self) -> SqlResult<Statement> {
        self.bump();
        let if_exists = self.if_exists()?;
        let name = self.table_name()?;
        let options = self.sequence_options(true)?;
        if options.is_empty() {
            return Err(self.error());
        }
        Ok(ddl(Ddl::AlterSequence(AlterSequence {
            if_exists,
            name,
            options,
        })))
    }

    fn sequence_options(&mut self, alter: bool) -> SqlResult<Vec<SequenceOption>> {
        let mut options: Vec<SequenceOption> = Vec::new();
        while let Some((o, word)) = self.sequence_option()? {
            let restart = matches!(o, SequenceOption::Restart(_));
            if restart && !alter {
                return Err(self.error());
            }
            // A MINVALUE with a number may be said again, and the last one counts: so it is in MariaDB.
            let again = matches!(o, SequenceOption::Min(Some(_)));
            let same = |p: &SequenceOption| std::mem::discriminant(p) == std::mem::discriminant(&o);
            if !again && options.iter().any(same) {
                return Err(errors::DUP_ARGUMENT.with([&word]));
            }
            options.push(o);
        }
        Ok(options)
    }

    fn sequence_option(&mut self) -> SqlResult<Option<(SequenceOption, &'static str)>> {
        use SequenceOption as O;
        let Tok::Word(word) = self.peek() else {
            return Ok(None);
        };
        let no = word == Kw::NO;
        let word = match (no, self.peek_at(1)) {
            (true, Tok::Word(k)) => k,
            (true, _) => return Ok(None),
            (false, _) => word,
        };
        let known = match no {
            true => matches!(word, Kw::MINVALUE | Kw::MAXVALUE | Kw::CACHE | Kw::CYCLE),
            false => matches!(
                word,
                Kw::START
                    | Kw::INCREMENT
                    | Kw::MINVALUE
                    | Kw::MAXVALUE
                    | Kw::NOMINVALUE
                    | Kw::NOMAXVALUE
                    | Kw::CACHE
                    | Kw::NOCACHE
                    | Kw::CYCLE
                    | Kw::NOCYCLE
                    | Kw::RESTART
            ),
        };
        if !known {
            return Ok(None);
        }
        self.bump();
        if no {
            self.bump();
        }
        Ok(Some(match word {
            Kw::START => (O::Start(self.sequence_number(Some(Kw::WITH))?), "START"),
            Kw::INCREMENT => (
                O::Increment(self.sequence_number(Some(Kw::BY))?),
                "INCREMENT",
            ),
            Kw::MINVALUE | Kw::NOMINVALUE if no || word == Kw::NOMINVALUE => {
                (O::Min(None), "MINVALUE")
            }
            Kw::MAXVALUE | Kw::NOMAXVALUE if no || word == Kw::NOMAXVALUE => {
                (O::Max(None), "MAXVALUE")
            }
            Kw::MINVALUE => (O::Min(Some(self.sequence_number(None)?)), "MINVALUE"),
            Kw::MAXVALUE => (O::Max(Some(self.sequence_number(None)?)), "MAXVALUE"),
            Kw::CACHE | Kw::NOCACHE if no || word == Kw::NOCACHE => (O::Cache(0), "CACHE"),
            Kw::CACHE => (O::Cache(self.sequence_number(None)?), "CACHE"),
            Kw::CYCLE => (O::Cycle(!no), "CYCLE"),
            Kw::NOCYCLE => (O::Cycle(false), "CYCLE"),
            _ => {
                let given = self.at(Kw::WITH)
                    || matches!(self.peek(), Tok::Eq | Tok::Minus | Tok::Plus | Tok::Int);
                let n = match given {
                    true => Some(self.sequence_number(Some(Kw::WITH))?),
                    false => None,
                };
                (O::Restart(n), "RESTART")
            }
        }))
    }

    /// `[word | =] [+ | -] n`
    fn sequence_number(&mut self, word: Option<Kw>) -> SqlResult<i64> {
        if !word.is_some_and(|w| self.eat(w)) {
            self.equals();
        }
        let minus = self.eat_tok(Tok::Minus);
        if !minus {
            self.eat_tok(Tok::Plus);
        }
        if self.peek() != Tok::Int {
            return Err(self.error());
        }
        let digits = self.token_text(self.peek_token());
        let n = match minus {
            true => format!("-{digits}").parse(),
            false => digits.parse(),
        };
        let n = n.map_err(|_| self.error())?;
        self.bump();
        Ok(n)
    }

    /// CREATE SERVER, behind CREATE.
    pub(super) fn create_server(&mut self, mut creation: Creation) -> SqlResult<Statement> {
        self.expect(Kw::SERVER)?;
        self.creation(&mut creation)?;
        let name = self.text_or_ident()?;
        self.expect(Kw::FOREIGN)?;
        self.expect(Kw::DATA)?;
        self.expect(Kw::WRAPPER)?;
        let wrapper = self.text_or_ident()?;
        let options = self.server_options()?;
        Ok(ddl(Ddl::CreateServer(CreateServer {
            creation,
            name,
            wrapper,
            options,
        })))
    }

    /// ALTER SERVER, behind ALTER.
    pub(super) fn alter_server(&mut self) -> SqlResult<Statement> {
        self.expect(Kw::SERVER)?;
        let name = self.text_or_ident()?;
        Ok(ddl(Ddl::AlterServer(name, self.server_options()?)))
    }

    fn server_options(&mut self) -> SqlResult<Vec<ServerOption>> {
        const TEXTS: [Kw; 6] = [
            Kw::USER,
            Kw::HOST,
            Kw::DATABASE,
            Kw::OWNER,
            Kw::PASSWORD,
            Kw::SOCKET,
        ];
        self.expect(Kw::OPTIONS)?;
        // Each once.
        let mut said: Vec<Kw> = Vec::new();
        self.parenthesised(|p| {
            let all = TEXTS.iter().chain([&Kw::PORT]);
            let Some(k) = all.copied().find(|k| p.at(*k)) else {
                return Err(p.error());
            };
            p.bump();
            if said.contains(&k) {
                return Err(p.error());
            }
            said.push(k);
            if k == Kw::PORT {
                return Ok(ServerOption {
                    name: "PORT",
                    value: p.uint()?.to_string(),
                });
            }
            Ok(ServerOption {
                name: k.name(),
                value: p.text()?,
            })
        })
    }

    /// ALTER PROCEDURE and ALTER FUNCTION, behind ALTER.
    pub(super) fn alter_routine(&mut self) -> SqlResult<Statement> {
        let function = self.bump().tok == Tok::Word(Kw::FUNCTION);
        let name = self.routine_name()?;
        let mut characteristics = Vec::new();
        while let Some(c) = self.characteristic(false)? {
            characteristics.push(c);
        }
        Ok(ddl(Ddl::AlterRoutine(AlterRoutine {
            function,
            name,
            characteristics,
        })))
    }

    /// DROP, which is next.
    pub(in crate::parse) fn drop_object(&mut self) -> SqlResult<Statement> {
        self.expect(Kw::DROP)?;
        let temporary = self.eat(Kw::TEMPORARY);
        let Tok::Word(word) = self.peek() else {
            return Err(self.error());
        };
        let at = self.here();
        self.bump();
        let d = match word {
            Kw::TABLE | Kw::TABLES => {
                let mut t = self.drop_names(temporary)?;
                t.wait = self.metadata_wait()?;
                self.restrict();
                Ddl::DropTable(t)
            }
            Kw::SEQUENCE => Ddl::DropSequence(self.drop_names(temporary)?),
            _ if temporary => return Err(self.error_at(at)),
            Kw::VIEW => {
                let t = self.drop_names(false)?;
                self.restrict();
                Ddl::DropView(t)
            }
            Kw::DATABASE | Kw::SCHEMA => Ddl::DropDatabase(DropObject {
                if_exists: self.may_miss()?,
                name: self.known_db()?,
            }),
            Kw::INDEX => return self.drop_index(),
            Kw::SERVER => Ddl::DropServer(DropObject {
                if_exists: self.if_exists()?,
                name: self.text_or_ident()?,
            }),
            _ => return self.drop_program(word, at),
        };
        Ok(ddl(d))
    }

    fn drop_program(&mut self, word: Kw, at: usize) -> SqlResult<Statement> {
        let kind = match word {
            Kw::PROCEDURE => ProgramKind::Procedure,
            Kw::FUNCTION => ProgramKind::Function,
            Kw::TRIGGER => ProgramKind::Trigger,
            Kw::EVENT => ProgramKind::Event,
            Kw::PACKAGE if self.mode.has(SqlMode::ORACLE) => match self.eat(Kw::BODY) {
                true => ProgramKind::PackageBody,
                false => ProgramKind::Package,
            },
            _ => return Err(self.error_at(at)),
        };
        let if_exists = match kind {
            ProgramKind::Event => self.if_exists()?,
            _ => self.may_miss()?,
        };
        let name = match kind {
            ProgramKind::Trigger | ProgramKind::Event => self.program_name()?,
            _ => self.routine_name()?,
        };
        let object = DropObject { if_exists, name };
        Ok(ddl(Ddl::DropProgram(kind, object)))
    }

    /// `[IF EXISTS] name, ...`
    fn drop_names(&mut self, temporary: bool) -> SqlResult<DropTables> {
        Ok(DropTables {
            temporary,
            if_exists: self.may_miss()?,
            names: self.named_tables()?,
            wait: None,
        })
    }

    /// RENAME TABLE, which is next.
    pub(in crate::parse) fn rename_tables(&mut self) -> SqlResult<Statement> {
        self.expect(Kw::RENAME)?;
        if !self.eat(Kw::TABLE) && !self.eat(Kw::TABLES) {
            return Err(self.error());
        }
        let if_exists = self.may_miss()?;
        let mut wait = None;
        let pairs = self.comma_separated(|p| {
            let from = p.table_name()?;
            wait = p.metadata_wait()?.or(wait);
            p.expect(Kw::TO)?;
            Ok((from, p.table_name()?))
        })?;
        Ok(ddl(Ddl::RenameTable(RenameTables {
            if_exists,
            pairs,
            wait,
        })))
    }

    /// TRUNCATE, which is next.
    pub(in crate::parse) fn truncate(&mut self) -> SqlResult<Statement> {
        self.expect(Kw::TRUNCATE)?;
        self.eat(Kw::TABLE);
        let table = self.table_name()?;
        let wait = self.metadata_wait()?;
        if self.mode.has(SqlMode::ORACLE) && (self.eat(Kw::DROP) || self.eat(Kw::REUSE)) {
            self.expect(Kw::STORAGE)?;
        }
        Ok(ddl(Ddl::Truncate(Truncate { table, wait })))
    }
}
