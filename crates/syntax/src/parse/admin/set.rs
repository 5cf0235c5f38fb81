//! SET in all its forms.

use crate::ast::admin::{
    Admin, Isolation, Operand, Scope, Set, SetItem, SetPassword, SetTransaction, SetValue, UserName,
};
use crate::ast::{Expr, SetStatement, Statement};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::face::is_mysql;
use narwal_types::{SqlResult, errors};

impl Parser<'_> {
    pub(super) fn set(&mut self) -> SqlResult<Admin> {
        self.bump();
        let scope = self.scope_at(0);
        let skip = usize::from(scope.is_some());
        if self.at_nth(skip, Kw::TRANSACTION) && !self.is_assignment(skip + 1) {
            for _ in 0..=skip {
                self.bump();
            }
            return self.set_transaction(scope.unwrap_or(Scope::Default));
        }
        let mut sticky = Scope::Default;
        let mut items = self.comma_separated(|p| p.set_item(&mut sticky))?;
        // What stands alone has statements of its own.
        Ok(match (items.pop(), items.is_empty()) {
            (Some(SetItem::Password(p)), true) => Admin::SetPassword(p),
            (Some(SetItem::Role(r)), true) => Admin::SetRole(r),
            (Some(SetItem::DefaultRole(role, user)), true) => Admin::SetDefaultRole { role, user },
            (last, _) => {
                items.extend(last);
                Admin::Set(Set { items })
            }
        })
    }

    /// True if `=` or `:=` stands `n` tokens behind the next one.
    pub(super) fn is_assignment(&self, n: usize) -> bool {
        matches!(self.peek_at(n), Tok::Eq | Tok::ColonEq)
    }

    fn assign_sign(&mut self) -> SqlResult<()> {
        match self.eat_tok(Tok::Eq) || self.eat_tok(Tok::ColonEq) {
            true => Ok(()),
            false => Err(self.error()),
        }
    }

    /// The scope that a word names.
    fn scope_at(&self, n: usize) -> Option<Scope> {
        match self.peek_at(n) {
            Tok::Word(Kw::GLOBAL) => Some(Scope::Global),
            Tok::Word(Kw::SESSION | Kw::LOCAL) => Some(Scope::Session),
            _ => None,
        }
    }

    /// MySQL's scopes of what is kept, which are no keywords.
    fn persist_at(&self, n: usize) -> Option<Scope> {
        if !is_mysql() {
            return None;
        }
        match (
            self.at_word_nth(n, "PERSIST"),
            self.at_word_nth(n, "PERSIST_ONLY"),
        ) {
            (true, _) => Some(Scope::Persist),
            (_, true) => Some(Scope::PersistOnly),
            _ => None,
        }
    }

    fn set_transaction(&mut self, scope: Scope) -> SqlResult<Admin> {
        let (mut isolation, mut read_only) = (None, None);
        loop {
            if isolation.is_none() && self.at(Kw::ISOLATION) {
                self.bump();
                self.expect(Kw::LEVEL)?;
                isolation = Some(self.isolation()?);
            } else if read_only.is_none() && self.at(Kw::READ) {
                read_only = Some(self.access_mode()?);
            } else {
                return Err(self.error());
            }
            if !self.eat_tok(Tok::Comma) {
                break;
            }
        }
        Ok(Admin::SetTransaction(SetTransaction {
            scope,
            isolation,
            read_only,
        }))
    }

    fn isolation(&mut self) -> SqlResult<Isolation> {
        if self.eat(Kw::SERIALIZABLE) {
            return Ok(Isolation::Serializable);
        }
        if self.eat(Kw::REPEATABLE) {
            self.expect(Kw::READ)?;
            return Ok(Isolation::RepeatableRead);
        }
        self.expect(Kw::READ)?;
        match self.eat_one(&[Kw::UNCOMMITTED, Kw::COMMITTED]) {
            Some(Kw::UNCOMMITTED) => Ok(Isolation::ReadUncommitted),
            Some(_) => Ok(Isolation::ReadCommitted),
            None => Err(self.error()),
        }
    }

    /// SET STATEMENT name = value, ... FOR statement, which may be one of these again: that takes no stack.
    pub(super) fn set_statement(&mut self) -> SqlResult<Statement> {
        let mut settings = Vec::new();
        self.bump();
        self.bump();
        loop {
            settings.push(self.comma_separated(Self::statement_setting)?);
            self.expect(Kw::FOR)?;
            let again = self.at(Kw::SET) && self.at_nth(1, Kw::STATEMENT);
            if !again || matches!(self.peek_at(2), Tok::Eq | Tok::ColonEq) {
                break;
            }
            self.bump();
            self.bump();
        }
        let start = self.here();
        let statement = self.nested(Self::statement)?;
        // Places in a program's definition count from the beginning of all.
        let start = match statement {
            Statement::Program(_) => 0,
            _ => start,
        };
        let text = self.slice(start, self.behind()).to_string();
        Ok(Statement::SetStatement(SetStatement {
            settings,
            statement: Box::new(statement),
            text,
        }))
    }

    fn statement_setting(&mut self) -> SqlResult<SetItem> {
        let name = self.variable_name()?;
        self.assign_sign()?;
        let value = self.variable_value()?;
        if let SetValue::Expr(e) = &value
            && !e.value.subqueries.is_empty()
        {
            return Err(errors::SUBQUERIES_NOT_SUPPORTED.with([&"SET STATEMENT"]));
        }
        Ok(SetItem::System {
            scope: Scope::Default,
            name,
            value,
        })
    }

    /// `[base.]name` of a system variable, in lower case. The base may be DEFAULT.
    pub(super) fn variable_name(&mut self) -> SqlResult<String> {
        let mut name = if self.at(Kw::DEFAULT) {
            self.bump();
            "default".to_string()
        } else if self.peek() == Tok::String && self.peek_at(1) == Tok::Dot {
            // A connection of replication.
            self.text_literal()?
        } else {
            self.ident()?
        };
        if name == "default" && self.peek() != Tok::Dot {
            return Err(self.error());
        }
        if self.eat_tok(Tok::Dot) {
            name.push('.');
            name.push_str(&self.any_word()?);
        }
        name.make_ascii_lowercase();
        Ok(name)
    }

    fn set_item(&mut self, sticky: &mut Scope) -> SqlResult<SetItem> {
        match self.peek() {
            Tok::UserVar => {
                let name = self.named_at()?;
                self.assign_sign()?;
                // Only a column has a default.
                if self.at(Kw::DEFAULT) && self.peek_at(1) != Tok::LParen {
                    self.bump();
                    return Err(self.error());
                }
                let value = self.operand()?;
                return Ok(SetItem::User { name, value });
            }
            Tok::AtAt => return self.set_marked(),
            Tok::Word(Kw::PASSWORD) if self.is_assignment(1) => {
                self.bump();
                return Ok(SetItem::Password(self.password_value(UserName::Current)?));
            }
            // MariaDB has a rule for it, which fails at the end.
            Tok::Word(Kw::NAMES) if self.is_assignment(1) => {
                self.bump();
                self.bump();
                self.expression()?;
                return Err(self.error());
            }
            Tok::Word(word) if !self.is_assignment(1) => {
                if let Some(item) = self.set_special(word)? {
                    return Ok(item);
                }
            }
            _ => {}
        }
        let mut scope = *sticky;
        if let Some(said) = self.scope_at(0).or_else(|| self.persist_at(0))
            && !self.is_assignment(1)
            && self.peek_at(1) != Tok::Dot
        {
            self.bump();
            *sticky = said;
            scope = said;
        }
        self.set_system(scope)
    }

    /// `@@[scope.]name = value`
    fn set_marked(&mut self) -> SqlResult<SetItem> {
        self.bump();
        if !self.adjacent() {
            return Err(self.error_at(self.behind()));
        }
        // Words beside a dot are no keywords to the lexer.
        let word = self.next_text();
        let said = match self.peek() == Tok::QuotedIdent || self.peek_at(1) != Tok::Dot {
            true => None,
            false if word.eq_ignore_ascii_case("GLOBAL") => Some(Scope::Global),
            false
                if ["SESSION", "LOCAL"]
                    .iter()
                    .any(|w| word.eq_ignore_ascii_case(w)) =>
            {
                Some(Scope::Session)
            }
            false => self.persist_at(0),
        };
        if said.is_some() {
            self.bump();
            self.bump();
        }
        self.set_system(said.unwrap_or(Scope::Marked))
    }

    pub(in crate::parse) fn set_system(&mut self, scope: Scope) -> SqlResult<SetItem> {
        let name = self.variable_name()?;
        self.assign_sign()?;
        Ok(SetItem::System {
            scope,
            name,
            value: self.variable_value()?,
        })
    }

    /// What SET does beside variables, by its first word.
    fn set_special(&mut self, word: Kw) -> SqlResult<Option<SetItem>> {
        Ok(Some(match word {
            Kw::NAMES => {
                self.bump();
                self.set_names()?
            }
            Kw::CHARSET => {
                self.bump();
                SetItem::Charset(self.charset_or_default()?)
            }
            Kw::CHARACTER | Kw::CHAR if self.at_nth(1, Kw::SET) => {
                self.bump();
                self.bump();
                SetItem::Charset(self.charset_or_default()?)
            }
            Kw::PASSWORD => {
                self.bump();
                self.expect(Kw::FOR)?;
                let user = self.user_name()?;
                SetItem::Password(self.password_value(user)?)
            }
            Kw::ROLE => {
                self.bump();
                SetItem::Role(self.role_or_none()?)
            }
            Kw::DEFAULT if self.at_nth(1, Kw::ROLE) => {
                self.bump();
                self.bump();
                let role = match self.eat(Kw::CURRENT_ROLE) {
                    true => Some("CURRENT_ROLE".to_string()),
                    false => self.role_or_none()?,
                };
                self.refuse_in_mysql(Tok::Comma, "a default of several roles")?;
                let for_user = self.eat(Kw::FOR) || (is_mysql() && self.eat(Kw::TO));
                let user = match for_user {
                    true => Some(self.user_name()?),
                    false => None,
                };
                SetItem::DefaultRole(role, user)
            }
            _ => return Ok(None),
        }))
    }

    fn role_or_none(&mut self) -> SqlResult<Option<String>> {
        let quoted = matches!(self.peek(), Tok::String | Tok::QuotedIdent);
        let name = self.text_or_ident()?;
        Ok(Some(name).filter(|n| quoted || !n.eq_ignore_ascii_case("NONE")))
    }

    fn set_names(&mut self) -> SqlResult<SetItem> {
        let charset = self.charset_or_default()?;
        let mut collation = None;
        if self.eat(Kw::COLLATE) && !self.eat(Kw::DEFAULT) {
            collation = Some(self.named_charset()?);
        }
        Ok(SetItem::Names { charset, collation })
    }

    fn charset_or_default(&mut self) -> SqlResult<Option<String>> {
        match self.eat(Kw::DEFAULT) {
            true => Ok(None),
            false => Ok(Some(self.named_charset()?)),
        }
    }

    /// The name of a character set or collation: BINARY is one.
    fn named_charset(&mut self) -> SqlResult<String> {
        match self.eat(Kw::BINARY) {
            true => Ok("binary".into()),
            false => self.text_or_ident(),
        }
    }

    /// What stands behind PASSWORD [FOR user].
    fn password_value(&mut self, user: UserName) -> SqlResult<SetPassword> {
        self.assign_sign()?;
        let old = self.at(Kw::OLD_PASSWORD);
        let password = if self.eat_one(&[Kw::PASSWORD, Kw::OLD_PASSWORD]).is_some() {
            self.expect_tok(Tok::LParen)?;
            let plain = self.text_literal()?;
            self.expect_tok(Tok::RParen)?;
            Err(plain)
        } else {
            Ok(self.text_literal()?)
        };
        Ok(SetPassword {
            user,
            password,
            old,
        })
    }

    fn variable_value(&mut self) -> SqlResult<SetValue> {
        let ends = |t: Tok| {
            matches!(
                t,
                Tok::End | Tok::Comma | Tok::Semicolon | Tok::Word(Kw::FOR)
            )
        };
        let start = self.here();
        match self.peek() {
            Tok::Word(Kw::DEFAULT) if self.peek_at(1) != Tok::LParen => {
                self.bump();
                return Ok(SetValue::Default);
            }
            Tok::Word(Kw::ON | Kw::ALL | Kw::BINARY) if ends(self.peek_at(1)) => {
                let word = self.next_text().to_string();
                self.bump();
                return Ok(SetValue::Word(word));
            }
            Tok::String if ends(self.peek_at(1)) => return Ok(SetValue::Str(self.text_literal()?)),
            _ => {}
        }
        let value = self.expression()?;
        if let Expr::Column(name) = value.expr {
            return Ok(SetValue::Word(name));
        }
        let text = self.slice(start, self.behind()).to_string();
        Ok(SetValue::Expr(Operand { text, value }))
    }
}
