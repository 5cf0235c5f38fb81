//! Accounts and privileges.

use crate::acl::{Lifetime, RoutineKind, TlsNeed};
use crate::admin::{
    AccountStatement, AuthSpec, Expire, GivenPassword, Level, Privileges, RoleStatement, UserName,
    UserOptions, UserSpec,
};
use crate::privileges::PrivilegeSet;
use narwal_syntax::ast::admin as ast;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};

/// The longest name of an account, characters.
const MAX_USER: usize = 128;
/// The longest host of an account, characters.
const MAX_HOST: usize = 255;

pub(super) fn account(statement: ast::Admin) -> SqlResult<AccountStatement> {
    use ast::Admin as A;
    Ok(match statement {
        A::CreateUser {
            or_replace,
            if_not_exists,
            users: specs,
            options: given,
        } => AccountStatement::CreateUser {
            or_replace,
            if_not_exists,
            users: users(specs)?,
            options: options(given)?,
        },
        A::AlterUser {
            if_exists,
            users: specs,
            options: given,
        } => AccountStatement::AlterUser {
            if_exists,
            users: users(specs)?,
            options: options(given)?,
        },
        A::DropUser {
            if_exists,
            users: given,
        } => AccountStatement::DropUser {
            if_exists,
            users: names(given)?,
        },
        A::RenameUser(pairs) => AccountStatement::RenameUser(
            pairs
                .into_iter()
                .map(|(from, to)| Ok((name(from)?, name(to)?)))
                .collect::<SqlResult<_>>()?,
        ),
        A::SetPassword(ast::SetPassword {
            user,
            password,
            old,
        }) => AccountStatement::SetPassword {
            user: name(user)?,
            password: match (password, old) {
                (Ok(hash), _) => GivenPassword::Hash(hash),
                (Err(plain), false) => GivenPassword::Plain(plain),
                (Err(plain), true) => GivenPassword::PlainOld(plain),
            },
        },
        A::Grant(g) => grant(*g)?,
        A::Revoke(r) => revoke(*r)?,
        other => AccountStatement::Role(role(other)?),
    })
}

fn role(statement: ast::Admin) -> SqlResult<RoleStatement> {
    use ast::Admin as A;
    Ok(match statement {
        A::CreateRole {
            or_replace,
            if_not_exists,
            roles,
            admin,
        } => RoleStatement::Create {
            or_replace,
            if_not_exists,
            roles: role_names(roles)?,
            admin: admin.map(name).transpose()?,
        },
        A::DropRole { if_exists, roles } => RoleStatement::Drop {
            if_exists,
            roles: role_names(roles)?,
        },
        A::SetRole(role) => RoleStatement::Set(role),
        A::SetDefaultRole { role, user } => RoleStatement::SetDefault {
            role,
            user: user.map(name).transpose()?,
        },
        _ => return Err(SqlError::unsupported("this statement of accounts")),
    })
}

fn role_names(given: Vec<ast::RoleName>) -> SqlResult<Vec<ast::RoleName>> {
    for role in &given {
        if let ast::RoleName::Named(n) = role {
            check_length(n)?;
        }
    }
    Ok(given)
}

/// 1470. So many characters of a name that is too long are shown.
fn check_length(user: &str) -> SqlResult<()> {
    fits(user, "user name", MAX_USER)
}

fn fits(name: &str, what: &str, most: usize) -> SqlResult<()> {
    const SHOWN: usize = 67;
    if name.chars().count() <= most {
        return Ok(());
    }
    let head: String = name.chars().take(SHOWN).collect();
    let message =
        format!("String '{head}...' is too long for {what} (should be no longer than {most})");
    Err(errors::WRONG_STRING_LENGTH.text(message))
}

/// The host of an account: error 1470 if it is too long, 1105 for an `@` in it.
fn check_host(host: &str) -> SqlResult<()> {
    fits(host, "host name", MAX_HOST)?;
    match host.contains('@') {
        true => Err(errors::UNKNOWN_ERROR.with([&"Malformed hostname (illegal symbol: '@')"])),
        false => Ok(()),
    }
}

/// An account's name. Its length counts here, not in the grammar.
pub(super) fn name(given: ast::UserName) -> SqlResult<UserName> {
    match given {
        ast::UserName::Current => Ok(UserName::Current),
        ast::UserName::CurrentRole => Ok(UserName::CurrentRole),
        ast::UserName::Named { user, host, bare } => {
            check_length(&user)?;
            check_host(&host)?;
            Ok(UserName::Named { user, host, bare })
        }
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
    Ok(UserOptions {
        tls: given.require.map(tls_need),
        expire: given.expire.map(expire),
        lock: given.lock,
        limits: given.limits,
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

/// The privileges of a list.
fn privileges(given: ast::PrivilegeList) -> SqlResult<Privileges> {
    let ast::PrivilegeList::Some(list) = given else {
        return Ok(Privileges::default());
    };
    let mut set = PrivilegeSet::NONE;
    let mut columns = Vec::new();
    for p in list {
        match PrivilegeSet::by_name(p.name) {
            Some(one) if !p.columns.is_empty() => columns.push((one, p.columns)),
            Some(one) => set = set.with(one),
            None if p.name == "USAGE" => {}
            None => return Err(SqlError::unsupported(p.name)),
        }
    }
    Ok(Privileges {
        whole: Some(set),
        columns,
    })
}

fn level(object: ast::GrantObject, given: ast::GrantLevel) -> SqlResult<Level> {
    let kind = match object {
        ast::GrantObject::Table => None,
        ast::GrantObject::Function => Some(RoutineKind::Function),
        ast::GrantObject::Procedure => Some(RoutineKind::Procedure),
        ast::GrantObject::Package => Some(RoutineKind::Package),
        ast::GrantObject::PackageBody => Some(RoutineKind::PackageBody),
    };
    Ok(match (given, kind) {
        (ast::GrantLevel::Object(t), Some(kind)) => Level::Routine(kind, t.db, t.name),
        // No routine has such a name.
        (_, Some(_)) => return Err(errors::ILLEGAL_GRANT_FOR_TABLE.plain()),
        (ast::GrantLevel::Global, _) => Level::Global,
        (ast::GrantLevel::Database(db), _) => Level::Database(db),
        (ast::GrantLevel::Object(t), _) => Level::Table(t.db, t.name),
    })
}

fn grant(given: ast::Grant) -> SqlResult<AccountStatement> {
    match given {
        ast::Grant::Privileges {
            privileges: list,
            object,
            level: on,
            users: to,
            options: said,
            grant_option,
        } => Ok(AccountStatement::Grant {
            privileges: privileges(list)?,
            level: level(object, on)?,
            users: users(to)?,
            options: options(said)?,
            grant_option,
        }),
        ast::Grant::Proxy {
            of,
            users: to,
            grant_option,
        } => Ok(AccountStatement::Proxy {
            of: name(of)?,
            users: users(to)?,
            grant: Some(grant_option),
        }),
        ast::Grant::Role {
            roles,
            users: to,
            admin_option,
        } => Ok(AccountStatement::Role(RoleStatement::Grant {
            roles,
            users: users(to)?,
            admin_option,
        })),
    }
}

fn revoke(given: ast::Revoke) -> SqlResult<AccountStatement> {
    match given {
        ast::Revoke::Privileges {
            privileges: list,
            object,
            level: on,
            users: from,
        } => Ok(AccountStatement::Revoke {
            privileges: privileges(list)?,
            level: level(object, on)?,
            users: names(from)?,
        }),
        ast::Revoke::Everything(from) => Ok(AccountStatement::RevokeEverything(names(from)?)),
        ast::Revoke::Proxy { of, users: from } => {
            let user = |n| {
                let (name, auth) = (name(n)?, None);
                Ok(UserSpec { name, auth })
            };
            Ok(AccountStatement::Proxy {
                of: name(of)?,
                users: from.into_iter().map(user).collect::<SqlResult<_>>()?,
                grant: None,
            })
        }
        ast::Revoke::Role {
            roles,
            users: from,
            admin_option,
        } => Ok(AccountStatement::Role(RoleStatement::Revoke {
            roles,
            users: names(from)?,
            admin_option,
        })),
    }
}
