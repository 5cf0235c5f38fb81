//! Administrative statements: which they are, and the small ones.

mod account;
mod diagnose;
mod grant;
mod maintain;
mod replication;
mod set;
mod show;
mod transaction;

use crate::ast::Statement;
use crate::ast::admin::{Admin, BinlogText, Kill, KillTarget, Operand, Plugin, Prepared, Using};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::SqlResult;
use narwal_types::errors;

impl Parser<'_> {
    /// An administrative statement, if one stands here.
    pub(crate) fn admin_statement(&mut self) -> SqlResult<Option<Statement>> {
        let Tok::Word(first) = self.peek() else {
            return Ok(None);
        };
        let admin = match first {
            Kw::BEGIN if !self.at_nth(1, Kw::NOT) && !self.oracle() => self.begin()?,
            Kw::START => self.start()?,
            Kw::COMMIT => self.commit()?,
            Kw::ROLLBACK => self.rollback()?,
            Kw::SAVEPOINT => self.savepoint()?,
            Kw::RELEASE => self.release_savepoint()?,
            Kw::XA => self.xa()?,
            Kw::LOCK | Kw::UNLOCK if self.at_instance() => self.instance_lock()?,
            Kw::LOCK => self.lock_tables()?,
            Kw::UNLOCK => self.unlock_tables()?,
            Kw::HANDLER => self.handler_statement()?,
            Kw::SET if self.at_nth(1, Kw::STATEMENT) && !self.is_assignment(2) => {
                return self.set_statement().map(Some);
            }
            Kw::SET => self.set()?,
            Kw::USE => self.use_db()?,
            Kw::SHOW => self.show()?,
            Kw::DESCRIBE | Kw::DESC | Kw::EXPLAIN => return self.describe().map(Some),
            Kw::ANALYZE if !self.is_maintenance(1) => return self.analyze_statement().map(Some),
            Kw::ANALYZE | Kw::CHECK | Kw::OPTIMIZE | Kw::REPAIR => self.maintain()?,
            Kw::CHECKSUM => self.checksum()?,
            Kw::CACHE => self.cache_index()?,
            Kw::LOAD if self.at_nth(1, Kw::INDEX) => self.load_index()?,
            Kw::FLUSH => self.flush()?,
            Kw::RESET => self.reset()?,
            Kw::PURGE => self.purge()?,
            Kw::BACKUP => self.backup()?,
            Kw::CHANGE => self.change_master()?,
            Kw::STOP => self.stop_replica()?,
            Kw::BINLOG => self.binlog()?,
            Kw::PREPARE => self.prepare()?,
            Kw::EXECUTE => self.execute()?,
            Kw::DEALLOCATE => self.deallocate()?,
            Kw::DROP if self.at_nth(1, Kw::PREPARE) => self.deallocate()?,
            Kw::KILL => self.kill()?,
            Kw::CREATE | Kw::ALTER | Kw::DROP | Kw::RENAME => match self.account_statement()? {
                Some(admin) => admin,
                None => return Ok(None),
            },
            Kw::GRANT => self.grant()?,
            Kw::REVOKE => self.revoke()?,
            Kw::INSTALL => self.install()?,
            Kw::UNINSTALL => self.uninstall()?,
            Kw::HELP => {
                self.bump();
                Admin::Help(self.text_or_ident()?)
            }
            Kw::SHUTDOWN => self.shutdown()?,
            Kw::Plain if self.at_word("FLASHBACK") => self.flashback()?,
            _ => return Ok(None),
        };
        Ok(Some(Statement::Admin(Box::new(admin))))
    }

    /// True where the statement has an end.
    pub(crate) fn at_statement_end(&self) -> bool {
        matches!(self.peek(), Tok::End | Tok::Semicolon)
    }

    /// The text of the next token.
    pub(super) fn next_text(&self) -> &str {
        self.token_text(self.peek_token())
    }

    /// A string. Those side by side are not one here, as they are in expressions.
    pub(crate) fn text_literal(&mut self) -> SqlResult<String> {
        match self.peek() {
            Tok::String => self.text_or_ident(),
            _ => Err(self.error()),
        }
    }

    /// Takes the first of some keywords that stands here.
    pub(crate) fn eat_one(&mut self, words: &[Kw]) -> Option<Kw> {
        let found = words.iter().copied().find(|k| self.at(*k))?;
        self.bump();
        Some(found)
    }

    /// TABLE or TABLES.
    pub(crate) fn eat_tables(&mut self) -> bool {
        self.eat_one(&[Kw::TABLE, Kw::TABLES]).is_some()
    }

    /// An expression, with its text.
    pub(crate) fn operand(&mut self) -> SqlResult<Operand> {
        let start = self.here();
        let value = self.expression()?;
        let text = self.slice(start, self.behind()).to_string();
        Ok(Operand { text, value })
    }

    /// An expression that may have no subquery: error 1970 names the clause.
    pub(crate) fn plain_operand(&mut self, clause: &str) -> SqlResult<Operand> {
        let operand = self.operand()?;
        if operand.value.subqueries.is_empty() {
            return Ok(operand);
        }
        Err(errors::SUBQUERIES_NOT_SUPPORTED.with([&clause]))
    }

    /// A number's digits. A fraction, and what is too large, are cut.
    pub(crate) fn number(&mut self) -> SqlResult<u64> {
        let text = self.next_text();
        let digits = |text: &str, radix| match text.is_empty() {
            false => u64::from_str_radix(text, radix).unwrap_or(u64::MAX),
            true => 0,
        };
        let value = match self.peek() {
            Tok::Int | Tok::Decimal | Tok::Float => {
                let end = text
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(text.len());
                digits(&text[..end], 10)
            }
            Tok::Hex => digits(text[2..].trim_end_matches('\''), 16),
            _ => return Err(self.error()),
        };
        self.bump();
        Ok(value)
    }

    /// IF EXISTS.
    pub(crate) fn eat_if_exists(&mut self) -> bool {
        self.eat_all(&[Kw::IF, Kw::EXISTS])
    }

    /// IF NOT EXISTS.
    pub(crate) fn eat_if_not_exists(&mut self) -> bool {
        self.eat_all(&[Kw::IF, Kw::NOT, Kw::EXISTS])
    }

    fn use_db(&mut self) -> SqlResult<Admin> {
        self.bump();
        Ok(Admin::Use(self.used_db()?))
    }

    fn prepare(&mut self) -> SqlResult<Admin> {
        self.bump();
        let name = self.passing_ident()?;
        self.expect(Kw::FROM)?;
        let from = self.plain_operand("PREPARE..FROM")?;
        Ok(Admin::Prepared(Prepared::Prepare { name, from }))
    }

    fn execute(&mut self) -> SqlResult<Admin> {
        self.bump();
        if self.at(Kw::IMMEDIATE) && !matches!(self.peek_at(1), Tok::End | Tok::Word(Kw::USING)) {
            self.bump();
            let from = self.plain_operand("EXECUTE IMMEDIATE")?;
            let using = self.using()?;
            return Ok(Admin::Prepared(Prepared::Immediate { from, using }));
        }
        let name = self.passing_ident()?;
        let using = self.using()?;
        Ok(Admin::Prepared(Prepared::Execute { name, using }))
    }

    fn using(&mut self) -> SqlResult<Vec<Using>> {
        if !self.eat(Kw::USING) {
            return Ok(Vec::new());
        }
        self.comma_separated(|p| p.using_value("EXECUTE..USING"))
    }

    /// A value, DEFAULT or IGNORE.
    pub(super) fn using_value(&mut self, clause: &str) -> SqlResult<Using> {
        if self.at(Kw::DEFAULT) && self.peek_at(1) != Tok::LParen {
            self.bump();
            return Ok(Using::Default);
        }
        if self.eat(Kw::IGNORE) {
            return Ok(Using::Ignore);
        }
        Ok(Using::Value(self.plain_operand(clause)?))
    }

    fn deallocate(&mut self) -> SqlResult<Admin> {
        self.bump();
        self.expect(Kw::PREPARE)?;
        Ok(Admin::Prepared(Prepared::Deallocate(self.passing_ident()?)))
    }

    fn kill(&mut self) -> SqlResult<Admin> {
        self.bump();
        let soft = match self.eat_one(&[Kw::HARD, Kw::SOFT]) {
            Some(word) => word == Kw::SOFT,
            None => false,
        };
        let query = match self.eat_one(&[Kw::QUERY, Kw::CONNECTION]) {
            Some(word) => word == Kw::QUERY,
            None => false,
        };
        let names_user = match self.peek_at(1) {
            Tok::Word(k) => !k.is_reserved() || k == Kw::CURRENT_USER,
            t => matches!(t, Tok::QuotedIdent | Tok::String),
        };
        let target = if self.at(Kw::USER) && names_user {
            self.bump();
            KillTarget::User(self.user_name()?)
        } else if query && self.at(Kw::ID) && self.peek_at(1) != Tok::End {
            self.bump();
            KillTarget::QueryId(self.operand()?)
        } else {
            KillTarget::Connection(self.operand()?)
        };
        Ok(Admin::Kill(Kill {
            soft,
            query,
            target,
        }))
    }

    fn binlog(&mut self) -> SqlResult<Admin> {
        self.bump();
        if self.peek() != Tok::UserVar {
            return Ok(Admin::Binlog(BinlogText::Text(self.text_literal()?)));
        }
        let first = self.at_name()?;
        self.expect_tok(Tok::Comma)?;
        let second = self.at_name()?;
        Ok(Admin::Binlog(BinlogText::Variables(first, second)))
    }

    fn install(&mut self) -> SqlResult<Admin> {
        self.bump();
        let (mut if_not_exists, mut name) = (false, None);
        if self.eat(Kw::PLUGIN) {
            if_not_exists = self.eat_if_not_exists();
            name = Some(self.ident()?);
        }
        self.expect(Kw::SONAME)?;
        let library = self.text_literal()?;
        Ok(Admin::Plugin(Plugin::Install {
            if_not_exists,
            name,
            library,
        }))
    }

    fn uninstall(&mut self) -> SqlResult<Admin> {
        self.bump();
        if self.eat(Kw::PLUGIN) {
            let if_exists = self.eat_if_exists();
            let name = self.ident()?;
            return Ok(Admin::Plugin(Plugin::Uninstall { if_exists, name }));
        }
        self.expect(Kw::SONAME)?;
        let if_exists = self.eat_if_exists();
        let library = self.text_literal()?;
        Ok(Admin::Plugin(Plugin::UninstallLibrary {
            if_exists,
            library,
        }))
    }

    fn shutdown(&mut self) -> SqlResult<Admin> {
        self.bump();
        let wait = self.eat(Kw::WAIT);
        if wait {
            self.expect(Kw::FOR)?;
            self.expect(Kw::ALL)?;
            if self.eat_one(&[Kw::SLAVES, Kw::REPLICAS]).is_none() {
                return Err(self.error());
            }
        }
        Ok(Admin::Shutdown { wait })
    }

    /// Narwal's own: takes back what transactions did.
    fn flashback(&mut self) -> SqlResult<Admin> {
        self.bump();
        self.expect(Kw::BINARY)?;
        self.expect(Kw::LOGS)?;
        if !self.eat_word("GTIDS") {
            return Err(self.error());
        }
        Ok(Admin::Flashback(self.text_literal()?))
    }
}
