//! Roles: CREATE, DROP, GRANT, REVOKE, SET ROLE, SET DEFAULT ROLE.

use crate::acl::{self, Account, Acl, PUBLIC, invalid_role};
use crate::admin::{RoleName, RoleStatement, UserName, UserOptions, UserSpec};
use crate::drafts::Drafts;
use crate::grant_texts;
use crate::privileges::PrivilegeSet;
use crate::session::ClientSession;
use crate::users::{failed, no_such_user};
use narwal_sql::show::quote_ident;
use narwal_types::errors::{self, ErrorKind};
use narwal_types::{SqlResult, face};

/// Names that no role has.
fn check_name(name: &str) -> SqlResult<&str> {
    let name = name.trim_end();
    for word in [PUBLIC, "NONE"] {
        if name.eq_ignore_ascii_case(word) {
            return Err(invalid_role(word));
        }
    }
    match name.is_empty() {
        true => Err(invalid_role("")),
        false => Ok(name),
    }
}

/// The error that names the accounts which a role was not granted to, or not revoked from, where there are such.
fn all_done(error: &ErrorKind<2>, role: &str, bad: &[String]) -> SqlResult<()> {
    match bad.is_empty() {
        true => Ok(()),
        false => Err(error.with([&role, &bad.join(",")])),
    }
}

/// Error 1959 unless an account (user, host) may use a role. Only who may know of the role is told that it is there.
pub(crate) fn check_has_role(
    acl: &Acl,
    (user, host): (&str, &str),
    role: &str,
    may_know: impl FnOnce() -> bool,
) -> SqlResult<()> {
    let Some(role) = acl.role(role).filter(|r| r.user != PUBLIC) else {
        return Err(invalid_role(role));
    };
    let account = acl.get(user, host);
    if account.is_some_and(|a| a.roles.contains_key(&role.user)) {
        return Ok(());
    }
    let below = account.is_some_and(|a| {
        let mut granted = a.roles.keys().flat_map(|r| acl.with_granted(r));
        granted.any(|r| r.user == role.user)
    });
    if !below && !may_know() {
        return Err(invalid_role(&role.user));
    }
    Err(errors::INVALID_ROLE.text(format!(
        "User {}@{} has not been granted role {}",
        quote_ident(user),
        quote_ident(host),
        quote_ident(&role.user)
    )))
}

/// Roles as a statement lists them.
fn named(roles: &[String]) -> String {
    let quoted: Vec<String> = roles.iter().map(|r| quote_ident(r).to_string()).collect();
    quoted.join(", ")
}

/// Adds the names that are not there yet.
fn add_new(names: &mut Vec<String>, more: Vec<String>) {
    for name in more {
        if !names.contains(&name) {
            names.push(name);
        }
    }
}

impl ClientSession {
    /// A statement of roles.
    pub(crate) fn role_statement(&mut self, statement: &RoleStatement) -> SqlResult<()> {
        match statement {
            RoleStatement::Create {
                or_replace,
                if_not_exists,
                roles,
                admin,
            } => self.create_role(*or_replace, *if_not_exists, roles, admin.as_ref()),
            RoleStatement::Drop { if_exists, roles } => self.drop_role(*if_exists, roles),
            RoleStatement::Grant {
                roles,
                users,
                admin_option,
            } => self.grant_roles(roles, users, *admin_option),
            RoleStatement::Revoke {
                roles,
                users,
                admin_option,
            } => self.revoke_roles(roles, users, *admin_option),
            RoleStatement::Set(role) => self.set_role(role.as_deref()),
            RoleStatement::SetDefault { role, user } => {
                self.set_default_role(role.as_deref(), user.as_ref())
            }
        }
    }

    /// The roles of a list that may be made or dropped; CURRENT_ROLE may not, and goes among the failed ones.
    fn listed<'a>(
        roles: &'a [RoleName],
        bad: &mut Vec<String>,
        create: bool,
    ) -> SqlResult<Vec<&'a str>> {
        let mut names = Vec::new();
        for role in roles {
            match role {
                RoleName::Current => bad.push("CURRENT_ROLE".into()),
                RoleName::Named(n) if create => names.push(check_name(n)?),
                RoleName::Named(n) if n.eq_ignore_ascii_case(PUBLIC) => bad.push(PUBLIC.into()),
                RoleName::Named(n) => names.push(n.trim_end()),
            }
        }
        Ok(names)
    }

    fn create_role(
        &mut self,
        or_replace: bool,
        if_not_exists: bool,
        roles: &[RoleName],
        admin: Option<&UserName>,
    ) -> SqlResult<()> {
        // CURRENT_ROLE names none that could be made: the error is another one then.
        if roles.iter().any(|r| *r != RoleName::Current) {
            self.need_any(PrivilegeSet::CREATE_USER)?;
        }
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let mut drafts = Drafts::new(instance.acl());
        let mut bad = Vec::new();
        let names = Self::listed(roles, &mut bad, true)?;
        let admin = match admin {
            Some(name) => Some(self.grantee(&drafts, name, false)?),
            None if self.internal => None,
            None => Some(self.resolve(&UserName::Current)),
        };
        let mut made = Vec::new();
        for name in names {
            if drafts.role(name).is_some() {
                if if_not_exists {
                    let e = errors::ROLE_CREATE_EXISTS.with([&name]);
                    self.env.note(e.code, e.message);
                    continue;
                }
                if !or_replace || made.iter().any(|m| *m == quote_ident(name)) {
                    bad.push(format!("'{name}'"));
                    continue;
                }
                drafts.drop_role(name);
            }
            drafts.put(Account::role(name));
            made.push(quote_ident(name));
            self.give_role_to_admin(&mut drafts, name, admin.as_ref());
        }
        let verb = match (or_replace, if_not_exists) {
            (true, _) => "CREATE OR REPLACE ROLE",
            (_, true) => "CREATE ROLE IF NOT EXISTS",
            _ => "CREATE ROLE",
        };
        let mut sql = format!("{verb} {}", made.join(", "));
        let admin = admin.and_then(|(user, host)| drafts.get(&user, &host));
        if let Some(a) = &admin {
            sql.push_str(&format!(" WITH ADMIN {}", grant_texts::name(a)));
        }
        self.store(sql, drafts.changes())?;
        match bad.is_empty() {
            true => Ok(()),
            false => Err(failed("CREATE ROLE", &bad)),
        }
    }

    fn give_role_to_admin(
        &mut self,
        drafts: &mut Drafts,
        role: &str,
        admin: Option<&(String, String)>,
    ) {
        let Some((user, host)) = admin else { return };
        match drafts.get(user, host) {
            Some(mut a) => {
                a.roles.insert(role.to_string(), true);
                drafts.put(a);
            }
            None => {
                let e = errors::NO_SUCH_USER.with([user, host]);
                self.env.note(e.code, e.message);
            }
        }
    }

    fn drop_role(&mut self, if_exists: bool, roles: &[RoleName]) -> SqlResult<()> {
        if roles.contains(&RoleName::Current) && self.rights.role.is_none() {
            return Err(failed("DROP ROLE", &["CURRENT_ROLE".into()]));
        }
        self.need_any(PrivilegeSet::CREATE_USER)?;
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let mut drafts = Drafts::new(instance.acl());
        let mut bad = Vec::new();
        let mut gone = Vec::new();
        for name in Self::listed(roles, &mut bad, false)? {
            if drafts.role(name).is_some() {
                drafts.drop_role(name);
                gone.push(quote_ident(name));
            } else if if_exists {
                let e = errors::ROLE_DROP_EXISTS.with([&name]);
                self.env.note(e.code, e.message);
            } else {
                bad.push(format!("'{name}'"));
            }
        }
        self.store(format!("DROP ROLE {}", gone.join(", ")), drafts.changes())?;
        match bad.is_empty() {
            true => Ok(()),
            false => Err(failed("DROP ROLE", &bad)),
        }
    }

    /// The role of GRANT and REVOKE.
    fn named_role(&self, drafts: &Drafts, role: &RoleName) -> SqlResult<Account> {
        let name = match role {
            RoleName::Current => self.current_role()?,
            RoleName::Named(n) => check_name(n)?.to_string(),
        };
        drafts.role(&name).ok_or_else(|| invalid_role(&name))
    }

    /// Error 1698 unless the account has the role WITH ADMIN OPTION, itself or by a role of its own.
    fn check_admin_of(&mut self, drafts: &Drafts, role: &str) -> SqlResult<()> {
        let (user, host) = self.resolve(&UserName::Current);
        let own = drafts.get(&user, &host);
        let mut open: Vec<Account> = own.into_iter().collect();
        let mut seen = Vec::new();
        while let Some(a) = open.pop() {
            if a.roles.get(role) == Some(&true) {
                return Ok(());
            }
            for granted in a.roles.keys() {
                if !seen.contains(granted) {
                    seen.push(granted.clone());
                    open.extend(drafts.role(granted));
                }
            }
        }
        if self.internal {
            return Ok(());
        }
        Err(errors::ACCESS_DENIED_NO_PASSWORD_ERROR.with([&user, &host]))
    }

    fn grant_roles(
        &mut self,
        roles: &[RoleName],
        users: &[UserSpec],
        admin_option: bool,
    ) -> SqlResult<()> {
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let option = match admin_option {
            true => " WITH ADMIN OPTION",
            false => "",
        };
        for group in self.changed_together(roles)? {
            let mut drafts = Drafts::new(instance.acl());
            let (mut names, mut bad): (Vec<String>, Vec<String>) = Default::default();
            for role in &group {
                let of = self.grant_role(&mut drafts, role, users, admin_option, &mut bad)?;
                add_new(&mut names, of);
            }
            let list = named(&group);
            let sql = format!("GRANT {list} TO {}{option}", names.join(", "));
            self.store(sql, drafts.changes())?;
            all_done(&errors::CANNOT_GRANT_ROLE, &group.join(", "), &bad)?;
        }
        Ok(())
    }

    /// The roles that a statement gives or takes, in the groups in which they are stored and logged: each alone, as MariaDB's
    /// replicas need it, but those of a transaction that has a name already together.
    fn changed_together(&mut self, roles: &[RoleName]) -> SqlResult<Vec<Vec<String>>> {
        let drafts = Drafts::new(self.instance.acl());
        let mut names = Vec::new();
        for role in roles {
            let role = self.named_role(&drafts, role)?.user;
            self.check_admin_of(&drafts, &role)?;
            names.push(role);
        }
        Ok(match self.origin() {
            Some(_) => vec![names],
            None => names.into_iter().map(|n| vec![n]).collect(),
        })
    }

    /// Grants one role. Returns the accounts as the log names them; those that can't have it go to `bad`.
    fn grant_role(
        &mut self,
        drafts: &mut Drafts,
        role: &str,
        users: &[UserSpec],
        admin_option: bool,
        bad: &mut Vec<String>,
    ) -> SqlResult<Vec<String>> {
        if users.iter().any(|u| u.auth.is_some()) {
            self.need_any(PrivilegeSet::CREATE_USER)?;
        }
        let mut names = Vec::new();
        for u in users {
            if u.auth.is_none() {
                self.role_grantee(drafts, &u.name)?;
            }
            let mut a = self.account_to_grant(drafts, u, &UserOptions::default())?;
            if a.is_role && drafts.reaches(role, &a.user) {
                bad.push(a.quoted());
                continue;
            }
            let admin = a.roles.entry(role.to_owned()).or_default();
            *admin |= admin_option;
            names.push(match u.auth.is_some() {
                true => format!("{}{}", grant_texts::name(&a), a.identified()),
                false => grant_texts::name(&a),
            });
            drafts.put(a);
        }
        Ok(names)
    }

    fn revoke_roles(
        &mut self,
        roles: &[RoleName],
        users: &[UserName],
        admin_option: bool,
    ) -> SqlResult<()> {
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let what = match admin_option {
            true => "ADMIN OPTION FOR ",
            false => "",
        };
        for group in self.changed_together(roles)? {
            let mut drafts = Drafts::new(instance.acl());
            let (mut names, mut bad): (Vec<String>, Vec<String>) = Default::default();
            for role in &group {
                let of = self.revoke_role(&mut drafts, role, users, admin_option, &mut bad)?;
                add_new(&mut names, of);
            }
            let list = named(&group);
            let sql = format!("REVOKE {what}{list} FROM {}", names.join(", "));
            self.store(sql, drafts.changes())?;
            all_done(&errors::CANNOT_REVOKE_ROLE, &group.join(", "), &bad)?;
        }
        Ok(())
    }

    /// Takes one role. Returns the accounts as the log names them; those that don't have it go to `bad`.
    fn revoke_role(
        &mut self,
        drafts: &mut Drafts,
        role: &str,
        users: &[UserName],
        admin_option: bool,
        bad: &mut Vec<String>,
    ) -> SqlResult<Vec<String>> {
        let mut names = Vec::new();
        for u in users {
            let (user, host) = self.role_grantee(drafts, u)?;
            let Some(mut a) = drafts
                .get(&user, &host)
                .filter(|a| a.roles.contains_key(role))
            else {
                let named = match host.is_empty() {
                    true => Account::role(&user),
                    false => Account::new(&user, &host),
                };
                // MySQL takes nothing from who has nothing.
                if !face::is_mysql() {
                    bad.push(named.quoted());
                }
                continue;
            };
            match admin_option {
                true => a.roles.insert(role.to_owned(), false),
                false => a.roles.remove(role),
            };
            names.push(grant_texts::name(&a));
            drafts.put(a);
        }
        Ok(names)
    }

    fn check_has_role(&mut self, user: &str, host: &str, role: &str) -> SqlResult<()> {
        let acl = self.instance.acl();
        check_has_role(&acl, (user, host), role, || self.reads_accounts())
    }

    /// The account may read the schema `mysql`.
    pub(crate) fn reads_accounts(&mut self) -> bool {
        let account = self.account();
        let have = account.global.with(account.on_database("mysql"));
        have.has(PrivilegeSet::SELECT)
    }

    /// SET ROLE.
    pub(crate) fn set_role(&mut self, role: Option<&str>) -> SqlResult<()> {
        let role = role.filter(|r| !r.eq_ignore_ascii_case("NONE"));
        if let Some(role) = role {
            let (user, host) = self.resolve(&UserName::Current);
            self.check_has_role(&user, &host, role)?;
        }
        self.enable_role(role);
        Ok(())
    }

    /// Goes on with this role.
    pub(crate) fn enable_role(&mut self, role: Option<&str>) {
        self.rights.role = role.map(Into::into);
        self.env.current_role = self.rights.role.clone();
        self.forget_account();
        // Plans have been made for other rights.
        self.plan_generation += 1;
    }

    /// A session begins with its account's default role, if it still has it.
    pub(crate) fn start_role(&mut self) {
        let role = self.rights.account.default_role.clone();
        let usable = !role.is_empty()
            && self.rights.account.roles.contains_key(&role)
            && self.rights.acl.role(&role).is_some();
        self.enable_role(usable.then_some(&*role));
    }

    fn set_default_role(&mut self, role: Option<&str>, user: Option<&UserName>) -> SqlResult<()> {
        let current = match role {
            Some("CURRENT_ROLE") => self.rights.role.clone(),
            role => role.map(Into::into),
        };
        let role = current.as_deref();
        let role = role.filter(|r| !r.eq_ignore_ascii_case("NONE"));
        let (user, host) = self.resolve(user.unwrap_or(&UserName::Current));
        if !self.is_self(&user, &host) && !self.internal {
            let account = self.account();
            let have = account.global.with(account.on_database("mysql"));
            if !have.has(PrivilegeSet::UPDATE) {
                return Err(acl::database_denied(&account, "mysql"));
            }
        }
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let mut drafts = Drafts::new(instance.acl());
        if let Some(role) = role {
            self.check_has_role(&user, &host, role)?;
        }
        let Some(mut a) = drafts.get(&user, &host).filter(|a| !a.is_role) else {
            return Err(no_such_user());
        };
        a.default_role = role.unwrap_or_default().to_string();
        let named = match role {
            Some(role) => quote_ident(role),
            None => "NONE".into(),
        };
        let sql = format!("SET DEFAULT ROLE {named} FOR {}", grant_texts::name(&a));
        drafts.put(a);
        self.store(sql, drafts.changes())
    }
}
