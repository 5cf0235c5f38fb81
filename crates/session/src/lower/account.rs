//! Accounts and privileges.

use crate::acl::{Lifetime, TlsNeed};
use crate::admin::{Admin, AuthSpec, Expire, Level, UserName, UserOptions, UserSpec};
use crate::privileges::PrivilegeSet;
use narwal_syntax::ast::admin as ast;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};

/// The longest name of an account, characters.
const MAX_USER: usize = 128;

pub(super) fn account(statement: ast::Admin) -> SqlResult<Admin> {
    use ast::Admin as A;
    Ok(match statement {
        A::CreateUser {
            or_replace,
            if_not_exists,
            users: specs,
            options: given,
        } => Admin::CreateUser {
            or_replace,
            if_not_exists,
            users: users(specs)?,
            options: options(given)?,
        },
        A::AlterUser {
            if_exists,
            users: specs,
            options: given,
        } => Admin::AlterUser {
            if_exists,
            users: users(specs)?,
            options: options(given)?,
        },
        A::DropUser {
            if_exists,
            users: given,
        } => Admin::DropUser {
            if_exists,
            users: names(given)?,
        },
        A::RenameUser(pairs) => Admin::RenameUser(
            pairs
                .into_iter()
                .map(|(from, to)| Ok((name(from)?, name(to)?)))
                .collect::<SqlResult<_>>()?,
        ),
        A::SetPassword(ast::SetPassword { old: true, .. }) => {
            return Err(SqlError::unsupported("OLD_PASSWORD()"));
        }
        A::SetPassword(ast::SetPassword { user, password, .. }) => Admin::SetPassword {
            user: name(user)?,
            password,
        },
        A::Grant(g) => grant(*g)?,
        A::Revoke(r) => revoke(*r)?,
        _ => return Err(SqlError::unsupported("roles")),
    })
}

/// An account's name. Its length counts here, not in the grammar.
pub(super) fn name(given: ast::UserName) -> SqlResult<UserName> {
    match given {
        ast::UserName::Current => Ok(UserName::Current),
        ast::UserName::CurrentRole => Err(SqlError::unsupported("roles")),
        ast::UserName::Named { user, .. } if user.chars().count() > MAX_USER => {
            let message = format!(
                "String '{user}' is too long for user name (should be no longer than {MAX_USER})"
            );
            Err(errors::WRONG_STRING_LENGTH.text(message))
        }
        ast::UserName::Named { user, host, .. } => Ok(UserName::Named { user, host }),
    }
}

fn names(given: Vec<ast::UserName>) -> SqlResult<Vec<UserName>> {
    given.into_iter().map(name).collect()
}

fn users(given: Vec<ast::UserSpec>) -> SqlResult<Vec<UserSpec>> {
    given
        .into_iter()
        .map(|u| {
            Ok(UserSpec {
                name: name(u.name)?,
                auth: u.auth.map(auth).transpose()?,
            })
        })
        .collect()
}

fn auth(given: ast::Auth) -> SqlResult<AuthSpec> {
    let mut methods = match given {
        ast::Auth::Password(p) => return Ok(AuthSpec::Password(p)),
        ast::Auth::Hash(h) => return Ok(AuthSpec::Hash(h)),
        ast::Auth::Methods(m) => m,
    };
    match (methods.pop(), methods.is_empty()) {
        (Some(ast::AuthMethod { plugin, secret }), true) => {
            let (mut hash, mut password) = (None, None);
            match secret {
                ast::AuthSecret::None => {}
                ast::AuthSecret::Hash(h) => hash = Some(h),
                ast::AuthSecret::Password(p) => password = Some(p),
            }
            Ok(AuthSpec::Plugin {
                plugin,
                hash,
                password,
            })
        }
        _ => Err(SqlError::unsupported(
            "more than one authentication method for an account",
        )),
    }
}

fn options(given: ast::AccountOptions) -> SqlResult<UserOptions> {
    if !given.limits.is_empty() {
        return Err(SqlError::unsupported("resource limits of accounts"));
    }
    Ok(UserOptions {
        tls: given.require.map(tls_need),
        expire: given.expire.map(expire),
        lock: given.lock,
    })
}

fn tls_need(given: ast::Require) -> TlsNeed {
    match given {
        ast::Require::None => TlsNeed::None,
        ast::Require::Ssl => TlsNeed::Any,
        ast::Require::X509 => TlsNeed::X509,
        ast::Require::Specified {
            issuer,
            subject,
            cipher,
        } => TlsNeed::Specified {
            issuer: issuer.unwrap_or_default(),
            subject: subject.unwrap_or_default(),
            cipher,
        },
    }
}

fn expire(given: ast::Expire) -> Expire {
    match given {
        ast::Expire::Now => Expire::Now,
        ast::Expire::Default => Expire::After(Lifetime::Default),
        ast::Expire::Never => Expire::After(Lifetime::Never),
        ast::Expire::Days(n) => Expire::After(Lifetime::Days(u32::try_from(n).unwrap_or(u32::MAX))),
    }
}

/// The privileges of a list; `None` is ALL.
fn privileges(given: ast::PrivilegeList) -> SqlResult<Option<PrivilegeSet>> {
    let ast::PrivilegeList::Some(list) = given else {
        return Ok(None);
    };
    let mut set = PrivilegeSet::NONE;
    for p in list {
        if !p.columns.is_empty() {
            return Err(SqlError::unsupported("column privileges"));
        }
        match PrivilegeSet::by_name(p.name) {
            Some(one) => set = set.with(one),
            None if p.name == "USAGE" => {}
            None => return Err(SqlError::unsupported(p.name)),
        }
    }
    Ok(Some(set))
}

fn level(object: ast::GrantObject, given: ast::GrantLevel) -> SqlResult<Level> {
    if object != ast::GrantObject::Table {
        return Err(SqlError::unsupported("privileges on routines"));
    }
    Ok(match given {
        ast::GrantLevel::Global => Level::Global,
        ast::GrantLevel::Database(db) => Level::Database(db),
        ast::GrantLevel::Object(t) => Level::Table(t.db, t.name),
    })
}

fn grant(given: ast::Grant) -> SqlResult<Admin> {
    match given {
        ast::Grant::Privileges {
            privileges: list,
            object,
            level: on,
            users: to,
            options: said,
            grant_option,
        } => Ok(Admin::Grant {
            privileges: privileges(list)?,
            level: level(object, on)?,
            users: users(to)?,
            options: options(said)?,
            grant_option,
        }),
        ast::Grant::Proxy { .. } => Err(SqlError::unsupported("PROXY")),
        ast::Grant::Role { .. } => Err(SqlError::unsupported("roles")),
    }
}

fn revoke(given: ast::Revoke) -> SqlResult<Admin> {
    match given {
        ast::Revoke::Privileges {
            privileges: list,
            object,
            level: on,
            users: from,
        } => Ok(Admin::Revoke {
            privileges: privileges(list)?,
            level: level(object, on)?,
            users: names(from)?,
        }),
        ast::Revoke::Everything(from) => Ok(Admin::RevokeEverything(names(from)?)),
        ast::Revoke::Proxy { .. } => Err(SqlError::unsupported("PROXY")),
        ast::Revoke::Role { .. } => Err(SqlError::unsupported("roles")),
    }
}
