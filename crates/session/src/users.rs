//! CREATE, ALTER, DROP and RENAME USER, SET PASSWORD, GRANT, REVOKE. What goes into the log never holds a plain
//! password: statements are written anew with its hash.

use crate::acl::{self, Account, Lifetime, NATIVE, OLD, PUBLIC, SHA2, TlsNeed};
use crate::admin::{
    AccountStatement, AuthSpec, Expire, GivenPassword, ResourceLimit, UserName, UserOptions,
    UserSpec,
};
use crate::drafts::Drafts;
use crate::password::{self, OLD_HASH};
use crate::privileges::PrivilegeSet;
use crate::session::ClientSession;
use narwal_engine::{CatalogChange, Ddl};
use narwal_sql::old_password_hash;
use narwal_sql::show::quote_ident;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::face::is_mysql;
use narwal_types::{SqlError, SqlResult};
use std::sync::Arc;

/// Error 1396.
pub(crate) fn failed(what: &str, names: &[String]) -> SqlError {
    errors::CANNOT_USER.with([&what, &names.join(",")])
}

pub(crate) fn no_such_user() -> SqlError {
    errors::PASSWORD_NO_MATCH.plain()
}

/// Error 1141, or 1147 for a table.
pub(crate) fn no_such_grant(a: &Account, table: Option<&str>) -> SqlError {
    match table {
        None => errors::NONEXISTING_GRANT.with([&a.user, &a.host]),
        Some(t) => errors::NONEXISTING_TABLE_GRANT.with([&a.user, &a.host, &t]),
    }
}

/// Error 1141.
pub(crate) fn no_grants_for(user: &str, host: &str) -> SqlError {
    no_such_grant(&Account::new(user, host), None)
}

/// `name`@`host` for statement texts.
fn ident(a: &Account) -> String {
    format!("{}@{}", quote_ident(&a.user), quote_ident(&a.host))
}

/// The stored form of a password that IDENTIFIED BY has: `old` is the session's `old_passwords`.
fn stored(password: &str, old: bool) -> (&'static str, String) {
    match (is_mysql(), old) {
        (true, _) => (SHA2, password::sha2_hash(password)),
        (false, true) => (OLD, old_password_hash(password.as_bytes())),
        (false, false) => (NATIVE, password::native_hash(password)),
    }
}

/// What is stored for IDENTIFIED BY PASSWORD: the length of a hash tells its plugin.
fn stored_hash(hash: &str) -> SqlResult<(&'static str, String)> {
    match hash.len() {
        OLD_HASH => Ok((OLD, hash.to_string())),
        _ => Ok((NATIVE, native_stored(Some(hash), None)?)),
    }
}

/// In place of a hash: nobody can log in.
const NO_HASH: &str = "invalid";

/// What IDENTIFIED VIA mysql_native_password stores; error 1372 for what can be no hash.
fn native_stored(hash: Option<&str>, password: Option<&str>) -> SqlResult<String> {
    match (hash, password) {
        (Some(h), _) if h.is_empty() || h == NO_HASH || password::is_native_hash(h) => {
            Ok(h.to_string())
        }
        (Some(_), _) => Err(errors::PASSWD_LENGTH.with([&41])),
        (None, p) => Ok(password::native_hash(p.unwrap_or_default())),
    }
}

/// What IDENTIFIED VIA mysql_old_password stores; error 1372 for what can be no hash.
fn old_stored(hash: Option<&str>, password: Option<&str>) -> SqlResult<String> {
    match (hash, password) {
        (Some(h), _) if h.is_empty() || h.len() == OLD_HASH => Ok(h.to_string()),
        (Some(_), _) => Err(errors::PASSWD_LENGTH.with([&OLD_HASH])),
        (None, p) => Ok(old_password_hash(p.unwrap_or_default().as_bytes())),
    }
}

/// What IDENTIFIED VIA caching_sha2_password stores.
fn sha2_stored(hash: Option<&str>, password: Option<&str>) -> SqlResult<String> {
    match (hash, password) {
        (Some(h), _) if h.is_empty() || password::is_sha2_hash(h) => Ok(h.to_string()),
        (Some(_), _) => Err(errors::PASSWORD_FORMAT.plain()),
        (None, p) => Ok(password::sha2_hash(p.unwrap_or_default())),
    }
}

/// Gives an account the stored form of what IDENTIFIED asked for. `old`: the session's `old_passwords`.
fn authenticate(a: &mut Account, auth: &AuthSpec, old: bool) -> SqlResult<()> {
    let (plugin, auth) = match auth {
        AuthSpec::Password(p) => stored(p, old),
        AuthSpec::OldPassword(p) => (OLD, old_password_hash(p.as_bytes())),
        AuthSpec::Hash(h) => stored_hash(h)?,
        AuthSpec::Plugin {
            plugin,
            hash,
            password,
        } => {
            let (hash, password) = (hash.as_deref(), password.as_deref());
            match plugin.to_ascii_lowercase().as_str() {
                NATIVE => (NATIVE, native_stored(hash, password)?),
                OLD => (OLD, old_stored(hash, password)?),
                SHA2 => (SHA2, sha2_stored(hash, password)?),
                _ => return Err(errors::PLUGIN_IS_NOT_LOADED.with([&plugin])),
            }
        }
    };
    a.plugin = plugin.to_string();
    a.auth = auth;
    Ok(())
}

pub(crate) fn apply_options(a: &mut Account, o: &UserOptions) {
    if let Some(tls) = &o.tls {
        a.tls = tls.clone();
    }
    if let Some(l) = o.lock {
        a.locked = l;
    }
    match o.expire {
        Some(Expire::Now) => a.expired = true,
        Some(Expire::After(lifetime)) => a.lifetime = lifetime,
        None => {}
    }
    for limit in &o.limits {
        let l = &mut a.limits;
        match limit {
            ResourceLimit::QueriesPerHour(n) => l.queries = *n,
            ResourceLimit::UpdatesPerHour(n) => l.updates = *n,
            ResourceLimit::ConnectionsPerHour(n) => l.connections = *n,
            ResourceLimit::UserConnections(n) => l.user_connections = *n,
            ResourceLimit::StatementTime(t) => l.statement_micros = micros(t),
        }
    }
}

impl ClientSession {
    /// A statement of accounts and privileges.
    pub(crate) fn account_statement(&mut self, a: &AccountStatement) -> SqlResult<()> {
        use AccountStatement as A;
        if a.changes_accounts() {
            self.check_ddl_writable()?;
            self.check_grant_tables_locked(match a {
                A::SetPassword { .. } => "global_priv",
                _ => "db",
            })?;
        }
        match a {
            A::SetPassword { user, password } => self.set_password(user, password),
            A::CreateUser {
                or_replace,
                if_not_exists,
                users,
                options,
            } => self.create_user(*or_replace, *if_not_exists, users, options),
            A::AlterUser {
                if_exists,
                users,
                options,
            } => self.alter_user(*if_exists, users, options),
            A::DropUser { if_exists, users } => self.drop_user(*if_exists, users),
            A::RenameUser(pairs) => self.rename_user(pairs),
            A::Grant {
                privileges,
                level,
                users,
                options,
                grant_option,
            } => self.grant(privileges, level, users, options, *grant_option),
            A::Revoke {
                privileges,
                level,
                users,
            } => self.revoke(privileges, level, users),
            A::RevokeEverything(users) => self.revoke_everything(users),
            A::Role(statement) => self.role_statement(statement),
            A::Proxy { of, users, grant } => self.proxy(of, users, *grant),
        }
    }

    /// User and host that a name means.
    pub(crate) fn resolve(&self, name: &UserName) -> (String, String) {
        match name {
            UserName::Current | UserName::CurrentRole | UserName::CurrentWithRole => (
                self.client.account_user.clone(),
                self.client.account_host.clone(),
            ),
            UserName::Named { user, host, .. } => (user.clone(), host.clone()),
        }
    }

    /// Whether a name means the session's own account.
    pub(crate) fn names_own_account(&self, name: &UserName) -> bool {
        let (user, host) = self.resolve(name);
        self.is_self(&user, &host)
    }

    pub(crate) fn is_self(&self, user: &str, host: &str) -> bool {
        user == self.client.account_user && host == self.client.account_host
    }

    /// Gives an account a password, if the rules for passwords let it.
    pub(crate) fn authenticate(&mut self, a: &mut Account, auth: &AuthSpec) -> SqlResult<()> {
        self.check_password_rules(&a.user, auth)?;
        let old = self.vars.value("old_passwords").as_bool();
        authenticate(a, auth, old)?;
        a.expired = false;
        a.password_changed = i64::from(self.env.timestamp());
        Ok(())
    }

    /// Stores changed accounts with the statement for the log.
    pub(crate) fn store(&mut self, sql: String, changes: Vec<CatalogChange>) -> SqlResult<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let ddl = Ddl {
            db: self.env.db.as_deref().unwrap_or_default().to_string(),
            sql_mode: self.env.sql_mode.0,
            thread_id: self.client.id,
            timestamp: self.env.timestamp(),
            ..Ddl::default()
        };
        let options = self.txn_options(self.settings.isolation, false);
        self.refuse_under_read_lock()?;
        let instance = self.instance.clone();
        let _accounts = self.enter_accounts(&instance)?;
        let permit = self.instance.read_lock.enter(true, &self.patience())?;
        let done = self.instance.store_accounts(sql, changes, ddl, &options)?;
        drop(permit);
        self.note_gtid(done.gtid);
        Ok(())
    }

    /// CREATE USER.
    pub(crate) fn create_user(
        &mut self,
        or_replace: bool,
        if_not_exists: bool,
        users: &[UserSpec],
        options: &UserOptions,
    ) -> SqlResult<()> {
        self.need_any(PrivilegeSet::CREATE_USER)?;
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let acl = instance.acl();
        let mut made: Vec<(Account, bool)> = Vec::new();
        let mut existing = Vec::new();
        for u in users {
            if u.name == UserName::CurrentRole {
                existing.push("CURRENT_ROLE".into());
                continue;
            }
            let (user, host) = self.resolve(&u.name);
            let mut a = Account::new(&user, &host);
            if acl.get(&user, &host).is_some() && !or_replace
                || made.iter().any(|(m, _)| m.user == user && m.host == host)
            {
                if if_not_exists {
                    self.env.note(
                        codes::USER_CREATE_EXISTS,
                        format!("Can't create user {}; it already exists", a.quoted()),
                    );
                } else {
                    existing.push(a.quoted());
                }
                continue;
            }
            let none = AuthSpec::Password(String::new());
            self.authenticate(&mut a, u.auth.as_ref().unwrap_or(&none))?;
            apply_options(&mut a, options);
            made.push((a, true));
        }
        let verb = if or_replace {
            "CREATE OR REPLACE USER"
        } else if if_not_exists {
            "CREATE USER IF NOT EXISTS"
        } else {
            "CREATE USER"
        };
        let sql = user_statement(verb, &made, options);
        // Those that can be made are made, as in MariaDB.
        self.store(sql, made.iter().map(|(a, _)| a.put()).collect())?;
        match existing.is_empty() {
            true => Ok(()),
            false => Err(failed("CREATE USER", &existing)),
        }
    }

    /// ALTER USER.
    pub(crate) fn alter_user(
        &mut self,
        if_exists: bool,
        users: &[UserSpec],
        options: &UserOptions,
    ) -> SqlResult<()> {
        let own_password = options == &UserOptions::default()
            && users.iter().all(|u| {
                let (user, host) = self.resolve(&u.name);
                self.is_self(&user, &host)
            });
        if !own_password {
            self.need_any(PrivilegeSet::CREATE_USER)?;
        }
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let acl = instance.acl();
        let mut changed: Vec<(Account, bool)> = Vec::new();
        let (mut missing, mut refused) = (Vec::new(), Vec::new());
        for u in users {
            let (user, host) = self.resolve(&u.name);
            match acl.get(&user, &host) {
                None => missing.push(Account::new(&user, &host).quoted()),
                Some(a) => {
                    let mut a = Account::clone(a);
                    match u.auth.as_ref().map(|auth| self.authenticate(&mut a, auth)) {
                        // What was wrong stands before the error, as in MariaDB.
                        Some(Err(e))
                            if matches!(
                                e.code,
                                codes::NOT_VALID_PASSWORD | codes::OPTION_PREVENTS_STATEMENT
                            ) =>
                        {
                            let level = narwal_sql::WarningLevel::Error;
                            self.env.push_condition(level, e.code, e.message);
                            refused.push(a.quoted());
                        }
                        done => done.transpose()?.unwrap_or_default(),
                    }
                    apply_options(&mut a, options);
                    changed.push((a, u.auth.is_some()));
                }
            }
        }
        if !missing.is_empty() {
            if !if_exists {
                return Err(failed("ALTER USER", &missing));
            }
            for m in missing {
                self.env.note(
                    codes::CANNOT_USER,
                    format!("Operation ALTER USER failed for {m}"),
                );
            }
        }
        if !refused.is_empty() {
            return Err(failed("ALTER USER", &refused));
        }
        let verb = if if_exists {
            "ALTER USER IF EXISTS"
        } else {
            "ALTER USER"
        };
        let sql = user_statement(verb, &changed, options);
        for (a, _) in &changed {
            instance.logins.forget(&a.user, &a.host);
        }
        self.store(sql, changed.iter().map(|(a, _)| a.put()).collect())
    }

    /// DROP USER.
    pub(crate) fn drop_user(&mut self, if_exists: bool, users: &[UserName]) -> SqlResult<()> {
        self.need_any(PrivilegeSet::CREATE_USER)?;
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let acl = instance.acl();
        let mut changes = Vec::new();
        let mut missing = Vec::new();
        let mut names = Vec::new();
        for u in users {
            let (user, host) = self.resolve(u);
            match acl.get(&user, &host) {
                Some(a) => {
                    names.push(ident(a));
                    changes.push(a.delete());
                }
                None => {
                    let quoted = Account::new(&user, &host).quoted();
                    if if_exists {
                        self.env.note(
                            codes::USER_DROP_EXISTS,
                            format!("Can't drop user {quoted}; it doesn't exist"),
                        );
                    } else {
                        missing.push(quoted);
                    }
                }
            }
        }
        let verb = if if_exists {
            "DROP USER IF EXISTS"
        } else {
            "DROP USER"
        };
        // Those that are there are dropped also if others are not.
        self.store(format!("{verb} {}", names.join(", ")), changes)?;
        match missing.is_empty() {
            true => Ok(()),
            false => Err(failed("DROP USER", &missing)),
        }
    }

    /// RENAME USER.
    pub(crate) fn rename_user(&mut self, pairs: &[(UserName, UserName)]) -> SqlResult<()> {
        self.need_any(PrivilegeSet::CREATE_USER)?;
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let acl = instance.acl();
        let mut changes = Vec::new();
        let mut names = Vec::new();
        let mut own = None;
        for (from, to) in pairs {
            let (user, host) = self.resolve(from);
            let (new_user, new_host) = self.resolve(to);
            if self.is_self(&user, &host) {
                own = Some((new_user.clone(), new_host.clone()));
            }
            let quoted = Account::new(&user, &host).quoted();
            let Some(a) = acl.get(&user, &host) else {
                return Err(failed("RENAME USER", &[quoted]));
            };
            if acl.get(&new_user, &new_host).is_some() {
                return Err(failed("RENAME USER", &[quoted]));
            }
            changes.push(a.delete());
            let mut new = Account::clone(a);
            new.user = new_user;
            new.host = new_host;
            names.push(format!("{} TO {}", ident(a), ident(&new)));
            changes.push(new.put());
        }
        self.store(format!("RENAME USER {}", names.join(", ")), changes)?;
        if let Some((user, host)) = own {
            // What the session may do stays as it was.
            (self.client.account_user, self.client.account_host) = (user, host);
            self.forget_account();
        }
        Ok(())
    }

    /// SET PASSWORD. `Ok` is a hash, `Err` a plain password.
    pub(crate) fn set_password(&mut self, name: &UserName, given: &GivenPassword) -> SqlResult<()> {
        let (user, host) = self.resolve(name);
        if !self.is_self(&user, &host) && !self.account().global.has(PrivilegeSet::CREATE_USER) {
            let account = self.account();
            return Err(acl::database_denied(&account, "mysql"));
        }
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let acl = instance.acl();
        let Some(a) = acl.get(&user, &host) else {
            return Err(no_such_user());
        };
        let mut a = Account::clone(a);
        let auth = match given {
            GivenPassword::Hash(hash) if a.plugin == SHA2 => AuthSpec::Plugin {
                plugin: SHA2.into(),
                hash: Some(hash.clone()),
                password: None,
            },
            GivenPassword::Hash(hash) => AuthSpec::Hash(hash.clone()),
            GivenPassword::Plain(plain) if a.plugin == SHA2 => AuthSpec::Plugin {
                plugin: SHA2.into(),
                hash: None,
                password: Some(plain.clone()),
            },
            GivenPassword::Plain(plain) => AuthSpec::Password(plain.clone()),
            GivenPassword::PlainOld(plain) => AuthSpec::OldPassword(plain.clone()),
        };
        self.authenticate(&mut a, &auth)?;
        let sql = format!("SET PASSWORD FOR {}='{}'", a.quoted(), a.auth);
        self.store(sql, vec![a.put()])?;
        if self.is_self(&user, &host) {
            self.rights.must_change_password = false;
        }
        Ok(())
    }

    /// The account or role that SHOW GRANTS asks for; those that are not the session's need to read the accounts.
    pub(crate) fn shown_grants(&mut self, name: &UserName) -> SqlResult<Arc<Account>> {
        let drafts = Drafts::new(self.instance.acl());
        let (user, host) = match name {
            UserName::CurrentRole if self.rights.role.is_none() => {
                let (user, host) = self.resolve(&UserName::Current);
                return Err(no_grants_for(&user, &host));
            }
            name => self.grantee(&drafts, name, false)?,
        };
        let acl = self.instance.acl();
        let own = acl.get(&self.client.account_user, &self.client.account_host);
        let everybody = acl.role(PUBLIC);
        let mut has = own.into_iter().chain(everybody);
        let visible = match host.is_empty() {
            true => {
                user == PUBLIC
                    || self.rights.role.as_deref() == Some(&*user)
                    || has.any(|a| a.roles.contains_key(&user))
            }
            false => self.is_self(&user, &host),
        };
        if !visible && !self.reads_accounts() {
            let account = self.account();
            return Err(acl::database_denied(&account, "mysql"));
        }
        let shown = acl.get(&user, &host).cloned();
        match shown {
            None if user == PUBLIC && host.is_empty() => Ok(Arc::new(Account::role(PUBLIC))),
            None => Err(no_grants_for(&user, &host)),
            Some(a) => Ok(a),
        }
    }

    /// The account that SHOW CREATE USER asks for; others than the own need to read the accounts.
    pub(crate) fn shown_account(
        &mut self,
        name: &UserName,
        missing: fn(&str, &str) -> SqlError,
    ) -> SqlResult<Arc<Account>> {
        let (user, host) = self.resolve(name);
        if !self.is_self(&user, &host) && !self.reads_accounts() {
            let account = self.account();
            return Err(acl::database_denied(&account, "mysql"));
        }
        self.instance
            .acl()
            .get(&user, &host)
            .cloned()
            .ok_or_else(|| missing(&user, &host))
    }
}

/// What GRANT says of accounts as it goes into the log, with a leading space.
pub(crate) fn options_clause(o: &UserOptions, grant_option: bool) -> String {
    let limits = limits_clause(&o.limits);
    let with = match (grant_option, limits.is_empty()) {
        (false, true) => String::new(),
        (false, false) => format!(" WITH{limits}"),
        (true, _) => format!(" WITH GRANT OPTION{limits}"),
    };
    format!("{}{with}", require_clause(o))
}

/// Limits as they were given, each with a leading space.
fn limits_clause(limits: &[ResourceLimit]) -> String {
    let text = |l: &ResourceLimit| match l {
        ResourceLimit::QueriesPerHour(n) => format!(" MAX_QUERIES_PER_HOUR {n}"),
        ResourceLimit::UpdatesPerHour(n) => format!(" MAX_UPDATES_PER_HOUR {n}"),
        ResourceLimit::ConnectionsPerHour(n) => format!(" MAX_CONNECTIONS_PER_HOUR {n}"),
        ResourceLimit::UserConnections(n) => format!(" MAX_USER_CONNECTIONS {n}"),
        ResourceLimit::StatementTime(t) => format!(" MAX_STATEMENT_TIME {t}"),
    };
    limits.iter().map(text).collect()
}

/// Microseconds of a number of seconds as it was written.
fn micros(text: &str) -> u64 {
    const MOST: f64 = 31_536_000.0;
    let seconds: f64 = text.parse().unwrap_or(0.0);
    // The number is in range, so nothing is lost.
    (seconds.clamp(0.0, MOST) * 1e6).round() as u64
}

/// REQUIRE as it goes into the log, with a leading space.
fn require_clause(o: &UserOptions) -> String {
    match &o.tls {
        Some(TlsNeed::None) => " REQUIRE NONE".into(),
        Some(tls) => tls.clause(),
        None => String::new(),
    }
}

/// CREATE USER or ALTER USER as it goes into the log. `given`: which accounts the statement gives a password.
fn user_statement(verb: &str, accounts: &[(Account, bool)], o: &UserOptions) -> String {
    let list: Vec<String> = accounts
        .iter()
        .map(|(a, given)| {
            let auth = match a.identified() {
                // A password that does not change must not look as if it did.
                _ if !given => String::new(),
                s if s.is_empty() && a.plugin == OLD => format!(" IDENTIFIED VIA {OLD}"),
                s if s.is_empty() => " IDENTIFIED BY PASSWORD ''".to_string(),
                s => s,
            };
            format!("{}{auth}", ident(a))
        })
        .collect();
    let with = options_clause(o, false);
    let mut sql = format!("{verb} {}{with}", list.join(", "));
    match o.lock {
        Some(true) => sql.push_str(" ACCOUNT LOCK"),
        Some(false) => sql.push_str(" ACCOUNT UNLOCK"),
        None => {}
    }
    match o.expire {
        Some(Expire::Now) => sql.push_str(" PASSWORD EXPIRE"),
        Some(Expire::After(Lifetime::Default)) => sql.push_str(" PASSWORD EXPIRE DEFAULT"),
        Some(Expire::After(Lifetime::Never)) => sql.push_str(" PASSWORD EXPIRE NEVER"),
        Some(Expire::After(Lifetime::Days(n))) => {
            sql.push_str(&format!(" PASSWORD EXPIRE INTERVAL {n} DAY"));
        }
        None => {}
    }
    sql
}
