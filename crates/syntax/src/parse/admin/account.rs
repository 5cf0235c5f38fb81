//! Accounts and roles: CREATE, ALTER, DROP, RENAME, and what is said of an account.

use crate::ast::admin::{
    AccountOptions, Admin, Auth, AuthMethod, AuthSecret, Expire, Require, ResourceLimit, RoleName,
    UserName, UserSpec,
};
use crate::keyword::Kw;
use crate::parser::Parser;
use crate::token::Tok;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};

impl Parser<'_> {
    /// CREATE, ALTER, DROP or RENAME of a user or role, if it is one.
    pub(super) fn account_statement(&mut self) -> SqlResult<Option<Admin>> {
        let Tok::Word(verb) = self.peek() else {
            return Ok(None);
        };
        let replaces = verb == Kw::CREATE && self.at_nth(1, Kw::OR) && self.at_nth(2, Kw::REPLACE);
        let place = if replaces { 3 } else { 1 };
        let role = match self.peek_at(place) {
            Tok::Word(Kw::USER) => false,
            Tok::Word(Kw::ROLE) if matches!(verb, Kw::CREATE | Kw::DROP) => true,
            _ => return Ok(None),
        };
        for _ in 0..=place {
            self.bump();
        }
        Ok(Some(match (verb, role) {
            (Kw::CREATE, false) => self.create_user(replaces)?,
            (Kw::CREATE, true) => self.create_role(replaces)?,
            (Kw::ALTER, _) => {
                let if_exists = self.eat_if_exists();
                let users = self.user_specs()?;
                let options = self.account_options()?;
                Admin::AlterUser {
                    if_exists,
                    users,
                    options,
                }
            }
            (Kw::DROP, true) => Admin::DropRole {
                if_exists: self.eat_if_exists(),
                roles: self.comma_separated(Self::role_name)?,
            },
            (Kw::DROP, false) => Admin::DropUser {
                if_exists: self.eat_if_exists(),
                users: self.comma_separated(Self::user_name)?,
            },
            _ => Admin::RenameUser(self.comma_separated(|p| {
                let from = p.user_name()?;
                p.expect(Kw::TO)?;
                Ok((from, p.user_name()?))
            })?),
        }))
    }

    fn create_user(&mut self, or_replace: bool) -> SqlResult<Admin> {
        let if_not_exists = self.eat_if_not_exists();
        if or_replace && if_not_exists {
            return Err(replace_and_exists());
        }
        let users = self.user_specs()?;
        let options = self.account_options()?;
        Ok(Admin::CreateUser {
            or_replace,
            if_not_exists,
            users,
            options,
        })
    }

    fn create_role(&mut self, or_replace: bool) -> SqlResult<Admin> {
        let if_not_exists = self.eat_if_not_exists();
        if or_replace && if_not_exists {
            return Err(replace_and_exists());
        }
        let roles = self.comma_separated(Self::role_name)?;
        let admin = if self.eat(Kw::WITH) {
            self.expect(Kw::ADMIN)?;
            Some(self.user_or_role()?)
        } else {
            None
        };
        Ok(Admin::CreateRole {
            or_replace,
            if_not_exists,
            roles,
            admin,
        })
    }

    /// A role: a name without host.
    pub(super) fn role_name(&mut self) -> SqlResult<RoleName> {
        match self.eat_current_role()? {
            true => Ok(RoleName::Current),
            false => Ok(RoleName::Named(self.text_or_ident()?)),
        }
    }

    /// An account. A role may have its place, where a name without host stands.
    pub(crate) fn user_name(&mut self) -> SqlResult<UserName> {
        if self.eat(Kw::CURRENT_USER) {
            if self.eat_tok(Tok::LParen) {
                self.expect_tok(Tok::RParen)?;
            }
            return Ok(UserName::Current);
        }
        let user = self.account_word()?;
        let (mut host, mut bare) = ("%".to_string(), true);
        if self.peek() == Tok::UserVar {
            bare = false;
            host = self.at_name()?.to_lowercase();
            // No host means any.
            if host.is_empty() {
                host.push('%');
            }
        }
        Ok(UserName::Named { user, host, bare })
    }

    /// The first half of an account's name. Names of accounts may be longer than others; who makes one looks at that.
    pub(crate) fn account_word(&mut self) -> SqlResult<String> {
        match self.peek() {
            Tok::String => self.text_or_ident(),
            _ => self.passing_ident(),
        }
    }

    /// An account, or CURRENT_ROLE.
    pub(super) fn user_or_role(&mut self) -> SqlResult<UserName> {
        match self.eat_current_role()? {
            true => Ok(UserName::CurrentRole),
            false => self.user_name(),
        }
    }

    /// CURRENT_ROLE, or CURRENT_ROLE().
    fn eat_current_role(&mut self) -> SqlResult<bool> {
        let found = self.eat(Kw::CURRENT_ROLE);
        if found && self.eat_tok(Tok::LParen) {
            self.expect_tok(Tok::RParen)?;
        }
        Ok(found)
    }

    pub(super) fn user_specs(&mut self) -> SqlResult<Vec<UserSpec>> {
        self.comma_separated(|p| {
            let name = p.user_or_role()?;
            let auth = match p.eat(Kw::IDENTIFIED) {
                true => Some(p.auth()?),
                false => None,
            };
            Ok(UserSpec { name, auth })
        })
    }

    /// What stands behind IDENTIFIED.
    fn auth(&mut self) -> SqlResult<Auth> {
        if self.eat(Kw::BY) {
            return Ok(match self.eat(Kw::PASSWORD) {
                true => Auth::Hash(self.text_literal()?),
                false => Auth::Password(self.text_literal()?),
            });
        }
        if self.eat_one(&[Kw::VIA, Kw::WITH]).is_none() {
            return Err(self.error());
        }
        let mut methods = vec![self.auth_method()?];
        while self.eat(Kw::OR) {
            methods.push(self.auth_method()?);
        }
        Ok(Auth::Methods(methods))
    }

    fn auth_method(&mut self) -> SqlResult<AuthMethod> {
        let plugin = self.text_or_ident()?;
        let secret = if self.eat_one(&[Kw::USING, Kw::AS]).is_some() {
            if self.eat(Kw::PASSWORD) {
                self.expect_tok(Tok::LParen)?;
                let password = self.text_literal()?;
                self.expect_tok(Tok::RParen)?;
                AuthSecret::Password(password)
            } else {
                AuthSecret::Hash(self.text_literal()?)
            }
        } else if self.at(Kw::BY) && self.peek_at(1) == Tok::String {
            // MySQL's way to say it.
            self.bump();
            AuthSecret::Password(self.text_literal()?)
        } else {
            AuthSecret::None
        };
        Ok(AuthMethod { plugin, secret })
    }

    /// REQUIRE, WITH, then ACCOUNT and PASSWORD EXPIRE in any order: each once.
    fn account_options(&mut self) -> SqlResult<AccountOptions> {
        let mut options = AccountOptions {
            require: self.require_clause()?,
            ..AccountOptions::default()
        };
        if self.eat(Kw::WITH) {
            loop {
                match self.resource_limit()? {
                    Some(limit) => options.limits.push(limit),
                    None if options.limits.is_empty() => return Err(self.error()),
                    None => break,
                }
            }
        }
        loop {
            if options.lock.is_none() && self.eat(Kw::ACCOUNT) {
                options.lock = match self.eat_one(&[Kw::LOCK, Kw::UNLOCK]) {
                    Some(word) => Some(word == Kw::LOCK),
                    None => return Err(self.error()),
                };
            } else if options.expire.is_none() && self.eat(Kw::PASSWORD) {
                self.expect(Kw::EXPIRE)?;
                options.expire = Some(self.expire()?);
            } else {
                return Ok(options);
            }
        }
    }

    /// What follows PASSWORD EXPIRE.
    fn expire(&mut self) -> SqlResult<Expire> {
        Ok(if self.eat(Kw::NEVER) {
            Expire::Never
        } else if self.eat(Kw::DEFAULT) {
            Expire::Default
        } else if self.eat(Kw::INTERVAL) {
            let days = self.uint()?;
            self.expect(Kw::DAY)?;
            if days == 0 || days > u64::from(u16::MAX) {
                let message = format!("Incorrect DAY value: '{days}'");
                return Err(errors::WRONG_VALUE.text(message));
            }
            Expire::Days(days)
        } else {
            Expire::Now
        })
    }

    /// REQUIRE, if it is there.
    pub(super) fn require_clause(&mut self) -> SqlResult<Option<Require>> {
        if !self.eat(Kw::REQUIRE) {
            return Ok(None);
        }
        for (word, need) in [
            (Kw::NONE, Require::None),
            (Kw::SSL, Require::Ssl),
            (Kw::X509, Require::X509),
        ] {
            if self.eat(word) {
                return Ok(Some(need));
            }
        }
        let words = [Kw::ISSUER, Kw::SUBJECT, Kw::CIPHER];
        let mut given: [Option<String>; 3] = Default::default();
        loop {
            let Some(i) = words.iter().position(|w| self.eat(*w)) else {
                return Err(self.error());
            };
            if given[i].replace(self.text_literal()?).is_some() {
                let message = format!("Option '{}' used twice in statement", words[i].name());
                return Err(errors::DUP_ARGUMENT.text(message));
            }
            if !(self.eat(Kw::AND) || words.iter().any(|w| self.at(*w))) {
                break;
            }
        }
        let [issuer, subject, cipher] = given;
        Ok(Some(Require::Specified {
            issuer,
            subject,
            cipher,
        }))
    }

    /// One limit of WITH, if there is one.
    pub(super) fn resource_limit(&mut self) -> SqlResult<Option<ResourceLimit>> {
        let words = [
            Kw::MAX_QUERIES_PER_HOUR,
            Kw::MAX_UPDATES_PER_HOUR,
            Kw::MAX_CONNECTIONS_PER_HOUR,
            Kw::MAX_USER_CONNECTIONS,
            Kw::MAX_STATEMENT_TIME,
        ];
        let Some(word) = self.eat_one(&words) else {
            return Ok(None);
        };
        Ok(Some(match word {
            Kw::MAX_QUERIES_PER_HOUR => ResourceLimit::QueriesPerHour(self.number()?),
            Kw::MAX_UPDATES_PER_HOUR => ResourceLimit::UpdatesPerHour(self.number()?),
            Kw::MAX_CONNECTIONS_PER_HOUR => ResourceLimit::ConnectionsPerHour(self.number()?),
            Kw::MAX_USER_CONNECTIONS => {
                let negative = self.eat_tok(Tok::Minus);
                if !negative {
                    self.eat_tok(Tok::Plus);
                }
                let n = i64::try_from(self.number()?).unwrap_or(i64::MAX);
                ResourceLimit::UserConnections(if negative { -n } else { n })
            }
            _ => {
                let text = self.next_text().to_string();
                self.number()?;
                ResourceLimit::StatementTime(text)
            }
        }))
    }
}

/// OR REPLACE and IF NOT EXISTS exclude each other.
fn replace_and_exists() -> SqlError {
    errors::WRONG_USAGE.with([&"OR REPLACE", &"IF NOT EXISTS"])
}
