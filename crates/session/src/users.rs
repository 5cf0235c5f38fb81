//! CREATE, ALTER, DROP and RENAME USER, SET PASSWORD, GRANT, REVOKE. What goes into the log never holds a plain
//! password: statements are written anew with its hash.

use crate::acl::{self, Account, Acl, Lifetime, NATIVE, SHA2, TlsNeed};
use crate::admin::{AuthSpec, Expire, Level, UserName, UserOptions, UserSpec};
use crate::password;
use crate::privileges::PrivilegeSet;
use crate::session::{ClientSession, access_denied};
use narwal_engine::{CatalogChange, Ddl};
use narwal_sql::SqlMode;
use narwal_sql::show::quote_ident;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult};
use std::sync::Arc;

fn failed(what: &str, names: &[String]) -> SqlError {
    errors::CANNOT_USER.with([&what, &names.join(",")])
}

pub(crate) fn no_such_user() -> SqlError {
    errors::PASSWORD_NO_MATCH.plain()
}

fn no_such_grant(a: &Account, table: Option<&str>) -> SqlError {
    match table {
        None => errors::NONEXISTING_GRANT.with([&a.user, &a.host]),
        Some(t) => errors::NONEXISTING_TABLE_GRANT.with([&a.user, &a.host, &t]),
    }
}

fn illegal_grant() -> SqlError {
    errors::ILLEGAL_GRANT_FOR_TABLE.plain()
}

/// Error 1141.
pub(crate) fn no_grants_for(user: &str, host: &str) -> SqlError {
    no_such_grant(&Account::new(user, host), None)
}

/// `name`@`host` for statement texts.
fn ident(a: &Account) -> String {
    format!("{}@{}", quote_ident(&a.user), quote_ident(&a.host))
}

/// Gives an account the stored form of what IDENTIFIED asked for.
fn authenticate(a: &mut Account, auth: &AuthSpec) -> SqlResult<()> {
    let bad_hash = || errors::PASSWD_LENGTH.with([&"41"]);
    let native_stored = |hash: &str| {
        if hash.is_empty() || password::parse_native_hash(hash).is_some() {
            Ok(hash.to_string())
        } else {
            Err(bad_hash())
        }
    };
    let (plugin, auth) = match auth {
        AuthSpec::Password(p) => (NATIVE, password::native_hash(p)),
        AuthSpec::Hash(h) => (NATIVE, native_stored(h)?),
        AuthSpec::Plugin {
            plugin,
            hash,
            password: plain,
        } => match plugin.to_ascii_lowercase().as_str() {
            NATIVE => (
                NATIVE,
                match (hash, plain) {
                    (Some(h), _) => native_stored(h)?,
                    (None, Some(p)) => password::native_hash(p),
                    (None, None) => String::new(),
                },
            ),
            SHA2 => (
                SHA2,
                match (hash, plain) {
                    (Some(h), _) if h.is_empty() || password::is_sha2_hash(h) => h.clone(),
                    (Some(_), _) => {
                        return Err(errors::PASSWORD_FORMAT.plain());
                    }
                    (None, Some(p)) => password::sha2_hash(p),
                    (None, None) => String::new(),
                },
            ),
            _ => {
                return Err(errors::PLUGIN_IS_NOT_LOADED.with([&plugin]));
            }
        },
    };
    a.plugin = plugin.to_string();
    a.auth = auth;
    Ok(())
}

fn apply_options(a: &mut Account, o: &UserOptions) {
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
}

impl ClientSession {
    /// User and host that a name means.
    fn resolve(&self, name: &UserName) -> (String, String) {
        match name {
            UserName::Current => (
                self.client.account_user.clone(),
                self.client.account_host.clone(),
            ),
            UserName::Named { user, host } => (user.clone(), host.clone()),
        }
    }

    /// Whether a name means the session's own account.
    pub(crate) fn names_own_account(&self, name: &UserName) -> bool {
        let (user, host) = self.resolve(name);
        self.is_self(&user, &host)
    }

    fn is_self(&self, user: &str, host: &str) -> bool {
        user == self.client.account_user && host == self.client.account_host
    }

    /// Gives an account a password, if the rules for passwords let it.
    fn authenticate(&mut self, a: &mut Account, auth: &AuthSpec) -> SqlResult<()> {
        self.check_password_rules(&a.user, auth)?;
        authenticate(a, auth)?;
        a.expired = false;
        a.password_changed = i64::from(self.env.timestamp());
        Ok(())
    }

    /// Stores changed accounts with the statement for the log.
    fn store(&mut self, sql: String, changes: Vec<CatalogChange>) -> SqlResult<()> {
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
        let _permit = self.instance.read_lock.enter(true, &self.patience())?;
        let done = self.instance.store_accounts(sql, changes, ddl, &options)?;
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
        if !existing.is_empty() {
            return Err(failed("CREATE USER", &existing));
        }
        let verb = if or_replace {
            "CREATE OR REPLACE USER"
        } else if if_not_exists {
            "CREATE USER IF NOT EXISTS"
        } else {
            "CREATE USER"
        };
        let sql = user_statement(verb, &made, options);
        self.store(sql, made.iter().map(|(a, _)| a.put()).collect())
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
            names.push(ident(&Account::new(&user, &host)));
            match acl.get(&user, &host) {
                Some(a) => changes.push(a.delete()),
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
        if !missing.is_empty() {
            return Err(failed("DROP USER", &missing));
        }
        let verb = if if_exists {
            "DROP USER IF EXISTS"
        } else {
            "DROP USER"
        };
        self.store(format!("{verb} {}", names.join(", ")), changes)
    }

    /// RENAME USER.
    pub(crate) fn rename_user(&mut self, pairs: &[(UserName, UserName)]) -> SqlResult<()> {
        self.need_any(PrivilegeSet::CREATE_USER)?;
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let acl = instance.acl();
        let mut changes = Vec::new();
        let mut names = Vec::new();
        for (from, to) in pairs {
            let (user, host) = self.resolve(from);
            let (new_user, new_host) = self.resolve(to);
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
        self.store(format!("RENAME USER {}", names.join(", ")), changes)
    }

    /// SET PASSWORD. `Ok` is a hash, `Err` a plain password.
    pub(crate) fn set_password(
        &mut self,
        name: &UserName,
        given: &Result<String, String>,
    ) -> SqlResult<()> {
        let (user, host) = self.resolve(name);
        if !self.is_self(&user, &host) && !self.account().global.has(PrivilegeSet::CREATE_USER) {
            let account = self.account();
            return Err(acl::database_denied(&account, &self.client.host, "mysql"));
        }
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let acl = instance.acl();
        let Some(a) = acl.get(&user, &host) else {
            return Err(no_such_user());
        };
        let mut a = Account::clone(a);
        let auth = match given {
            Ok(hash) if a.plugin == SHA2 => AuthSpec::Plugin {
                plugin: SHA2.into(),
                hash: Some(hash.clone()),
                password: None,
            },
            Ok(hash) => AuthSpec::Hash(hash.clone()),
            Err(plain) => AuthSpec::Plugin {
                plugin: a.plugin.clone(),
                hash: None,
                password: Some(plain.clone()),
            },
        };
        self.authenticate(&mut a, &auth)?;
        let sql = format!("SET PASSWORD FOR {}='{}'", a.quoted(), a.auth);
        self.store(sql, vec![a.put()])?;
        if self.is_self(&user, &host) {
            self.must_change_password = false;
        }
        Ok(())
    }

    /// The level with its names filled in; ALL as a set. Checks that the privileges exist at that level.
    fn at_level(
        &mut self,
        level: &Level,
        privileges: Option<PrivilegeSet>,
        is_grant: bool,
    ) -> SqlResult<(Level, PrivilegeSet)> {
        let level = match level {
            Level::Global => Level::Global,
            Level::Database(Some(d)) => Level::Database(Some(d.clone())),
            Level::Database(None) => Level::Database(Some(self.env.require_db()?.to_string())),
            Level::Table(Some(d), t) => Level::Table(Some(d.clone()), t.clone()),
            Level::Table(None, t) => {
                Level::Table(Some(self.env.require_db()?.to_string()), t.clone())
            }
        };
        let all = match &level {
            Level::Global => PrivilegeSet::ALL_GLOBAL,
            Level::Database(_) => PrivilegeSet::ALL_DATABASE,
            Level::Table(..) => PrivilegeSet::ALL_TABLE,
        };
        let set = privileges.unwrap_or(all);
        if !all.with(PrivilegeSet::GRANT_OPTION).has(set) {
            return Err(match &level {
                Level::Database(_) => errors::WRONG_USAGE.with([&"DB GRANT", &"GLOBAL PRIVILEGES"]),
                _ => illegal_grant(),
            });
        }
        let account = self.account();
        match &level {
            Level::Global if !account.global.has(set.with(PrivilegeSet::GRANT_OPTION)) => {
                let with_password = !account.auth.is_empty();
                return Err(access_denied(&self.client, with_password));
            }
            Level::Database(Some(db)) => {
                let have = account.global.with(
                    account
                        .databases
                        .get(db)
                        .copied()
                        .unwrap_or(PrivilegeSet::NONE),
                );
                if !have.has(set.with(PrivilegeSet::GRANT_OPTION)) {
                    return Err(acl::database_denied(&account, &self.client.host, db));
                }
            }
            Level::Table(Some(db), t) => {
                let have = account.on_table(db, t);
                if !have.has(set.with(PrivilegeSet::GRANT_OPTION)) {
                    return Err(acl::table_denied(
                        "GRANT",
                        &account,
                        &self.client.host,
                        db,
                        t,
                    ));
                }
                if is_grant
                    && !set.has(PrivilegeSet::CREATE)
                    && !self.instance.database().catalog().has(db, t)
                {
                    return Err(errors::NO_SUCH_TABLE.with([&db, &t]));
                }
            }
            _ => {}
        }
        Ok((level, set))
    }

    /// GRANT.
    pub(crate) fn grant(
        &mut self,
        privileges: Option<PrivilegeSet>,
        level: &Level,
        users: &[UserSpec],
        options: &UserOptions,
        grant_option: bool,
    ) -> SqlResult<()> {
        let (level, set) = self.at_level(level, privileges, true)?;
        let give = if grant_option {
            set.with(PrivilegeSet::GRANT_OPTION)
        } else {
            set
        };
        if users.iter().any(|u| u.auth.is_some()) || options != &UserOptions::default() {
            self.need_any(PrivilegeSet::CREATE_USER)?;
        }
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let acl = instance.acl();
        let mut changed: Vec<Account> = Vec::new();
        let mut names = Vec::new();
        for u in users {
            let (user, host) = self.resolve(&u.name);
            let mut a = match find_changed(&changed, &acl, &user, &host) {
                Some(a) => a,
                None => {
                    // NO_AUTO_CREATE_USER: an account is not made by accident.
                    if u.auth.is_none() && self.env.sql_mode.has(SqlMode::NO_AUTO_CREATE_USER) {
                        return Err(no_such_user());
                    }
                    self.need_any(PrivilegeSet::CREATE_USER)?;
                    Account::new(&user, &host)
                }
            };
            if let Some(auth) = &u.auth {
                self.authenticate(&mut a, auth)?;
            }
            apply_options(&mut a, options);
            match &level {
                Level::Global => a.global = a.global.with(give),
                Level::Database(db) => {
                    let p = a
                        .databases
                        .entry(db.clone().unwrap_or_default())
                        .or_default();
                    *p = p.with(give);
                }
                Level::Table(db, t) => {
                    let p = a
                        .tables
                        .entry((db.clone().unwrap_or_default(), t.clone()))
                        .or_default();
                    *p = p.with(give);
                }
            }
            names.push(if u.auth.is_some() {
                format!("{}{}", ident(&a), a.identified())
            } else {
                ident(&a)
            });
            changed.retain(|c| c.user != a.user || c.host != a.host);
            changed.push(a);
        }
        for a in &mut changed {
            drop_empty(a);
        }
        let sql = format!(
            "GRANT {} ON {} TO {}{}{}",
            level_list(&level, set),
            level_text(&level),
            names.join(", "),
            require_clause(options),
            if grant_option {
                " WITH GRANT OPTION"
            } else {
                ""
            }
        );
        self.store(sql, changed.iter().map(Account::put).collect())
    }

    /// REVOKE.
    pub(crate) fn revoke(
        &mut self,
        privileges: Option<PrivilegeSet>,
        level: &Level,
        users: &[UserName],
    ) -> SqlResult<()> {
        let (level, set) = self.at_level(level, privileges, false)?;
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let acl = instance.acl();
        let mut changed: Vec<Account> = Vec::new();
        let mut names = Vec::new();
        for u in users {
            let (user, host) = self.resolve(u);
            let Some(mut a) = find_changed(&changed, &acl, &user, &host) else {
                return Err(no_such_grant(&Account::new(&user, &host), None));
            };
            match &level {
                Level::Global => a.global = a.global.without(set),
                Level::Database(db) => {
                    let db = db.clone().unwrap_or_default();
                    let Some(p) = a.databases.get_mut(&db) else {
                        return Err(no_such_grant(&a, None));
                    };
                    *p = p.without(set);
                }
                Level::Table(db, t) => {
                    let key = (db.clone().unwrap_or_default(), t.clone());
                    let Some(p) = a.tables.get_mut(&key) else {
                        return Err(no_such_grant(&a, Some(t)));
                    };
                    *p = p.without(set);
                }
            }
            drop_empty(&mut a);
            names.push(ident(&a));
            changed.retain(|c| c.user != a.user || c.host != a.host);
            changed.push(a);
        }
        let mut list = level_list(&level, set);
        if set.has(PrivilegeSet::GRANT_OPTION) {
            list = if set == PrivilegeSet::GRANT_OPTION {
                "GRANT OPTION".into()
            } else {
                format!("{list}, GRANT OPTION")
            };
        }
        let sql = format!(
            "REVOKE {list} ON {} FROM {}",
            level_text(&level),
            names.join(", ")
        );
        self.store(sql, changed.iter().map(Account::put).collect())
    }

    /// REVOKE ALL PRIVILEGES, GRANT OPTION.
    pub(crate) fn revoke_everything(&mut self, users: &[UserName]) -> SqlResult<()> {
        self.need_any(PrivilegeSet::CREATE_USER)?;
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let acl = instance.acl();
        let mut changes = Vec::new();
        let mut names = Vec::new();
        for u in users {
            let (user, host) = self.resolve(u);
            let Some(a) = acl.get(&user, &host) else {
                return Err(errors::REVOKE_GRANTS.plain());
            };
            let mut a = Account::clone(a);
            a.global = PrivilegeSet::NONE;
            a.databases.clear();
            a.tables.clear();
            names.push(ident(&a));
            changes.push(a.put());
        }
        let names = names.join(", ");
        self.store(
            format!("REVOKE ALL PRIVILEGES, GRANT OPTION FROM {names}"),
            changes,
        )
    }

    /// The account that SHOW GRANTS and SHOW CREATE USER ask for; others than the own need to read the accounts.
    pub(crate) fn shown_account(
        &mut self,
        name: &UserName,
        missing: fn(&str, &str) -> SqlError,
    ) -> SqlResult<Arc<Account>> {
        let (user, host) = self.resolve(name);
        let account = self.account();
        if self.is_self(&user, &host) {
            return Ok(account);
        }
        if !account
            .global
            .with(account.on_database("mysql"))
            .has(PrivilegeSet::SELECT)
        {
            return Err(acl::database_denied(&account, &self.client.host, "mysql"));
        }
        self.instance
            .acl()
            .get(&user, &host)
            .cloned()
            .ok_or_else(|| missing(&user, &host))
    }
}

/// An account as this statement has it so far.
fn find_changed(changed: &[Account], acl: &Acl, user: &str, host: &str) -> Option<Account> {
    changed
        .iter()
        .find(|a| a.user == user && a.host == host)
        .cloned()
        .or_else(|| acl.get(user, host).map(|a| Account::clone(a)))
}

/// Grants without privileges are not kept.
fn drop_empty(a: &mut Account) {
    a.databases.retain(|_, p| !p.is_empty());
    a.tables.retain(|_, p| !p.is_empty());
}

fn level_list(level: &Level, set: PrivilegeSet) -> String {
    set.grant_list(match level {
        Level::Global => PrivilegeSet::ALL_GLOBAL,
        Level::Database(_) => PrivilegeSet::ALL_DATABASE,
        Level::Table(..) => PrivilegeSet::ALL_TABLE,
    })
}

fn level_text(level: &Level) -> String {
    match level {
        Level::Global => "*.*".into(),
        Level::Database(db) => format!("{}.*", quote_ident(db.as_deref().unwrap_or_default())),
        Level::Table(db, t) => format!(
            "{}.{}",
            quote_ident(db.as_deref().unwrap_or_default()),
            quote_ident(t)
        ),
    }
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
                s if s.is_empty() => " IDENTIFIED BY PASSWORD ''".to_string(),
                s => s,
            };
            format!("{}{auth}", ident(a))
        })
        .collect();
    let mut sql = format!("{verb} {}{}", list.join(", "), require_clause(o));
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
