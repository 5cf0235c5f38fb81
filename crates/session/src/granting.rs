//! GRANT and REVOKE of privileges and of PROXY.

use crate::acl::{self, Account, ColumnPrivileges, PUBLIC, RoutineKind, invalid_role};
use crate::admin::{Level, Privileges, UserName, UserOptions, UserSpec};
use crate::drafts::Drafts;
use crate::grant_texts;
use crate::privileges::PrivilegeSet;
use crate::session::{ClientSession, access_denied};
use crate::system_schemas::is_information_schema;
use crate::users::{apply_options, no_such_grant, no_such_user, options_clause};
use narwal_engine::Table;
use narwal_sql::SqlMode;
use narwal_sql::show::quote_ident;
use narwal_sql::virtual_tables::PERFORMANCE_SCHEMA;
use narwal_types::errors;
use narwal_types::face::is_mysql;
use narwal_types::{Name, SqlError, SqlResult};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What can be granted on `performance_schema`.
const MEASURED: PrivilegeSet = PrivilegeSet::SELECT
    .with(PrivilegeSet::INSERT)
    .with(PrivilegeSet::UPDATE)
    .with(PrivilegeSet::DELETE)
    .with(PrivilegeSet::CREATE)
    .with(PrivilegeSet::DROP)
    .with(PrivilegeSet::LOCK_TABLES)
    .with(PrivilegeSet::GRANT_OPTION);

/// What GRANT or REVOKE is about, with all names filled in.
struct Given {
    level: Level,
    /// On the whole thing.
    whole: PrivilegeSet,
    columns: ColumnPrivileges,
}

impl Given {
    /// `SELECT (a), UPDATE ON d.t`
    fn text(&self, and_grant_option: bool) -> String {
        let mut list = match self.columns.is_empty() {
            true => self.whole.grant_list(all_of(&self.level)),
            false => grant_texts::list_with_columns(self.whole, &self.columns),
        };
        if and_grant_option && self.whole.has(PrivilegeSet::GRANT_OPTION) {
            list = match self.whole == PrivilegeSet::GRANT_OPTION && self.columns.is_empty() {
                true => "GRANT OPTION".into(),
                false => format!("{list}, GRANT OPTION"),
            };
        }
        format!("{list} ON {}", level_text(&self.level))
    }

    /// All that it names, for the check of who gives it.
    fn everything(&self) -> PrivilegeSet {
        self.columns
            .values()
            .fold(self.whole, |p, c| p.with(*c))
            .with(PrivilegeSet::GRANT_OPTION)
    }
}

fn illegal_grant() -> SqlError {
    errors::ILLEGAL_GRANT_FOR_TABLE.plain()
}

/// What ALL is at a level.
fn all_of(level: &Level) -> PrivilegeSet {
    match level {
        Level::Global => PrivilegeSet::ALL_GLOBAL,
        Level::Database(_) => PrivilegeSet::ALL_DATABASE,
        Level::Table(..) => PrivilegeSet::ALL_TABLE,
        Level::Routine(..) => PrivilegeSet::ALL_ROUTINE,
    }
}

fn level_text(level: &Level) -> String {
    let name = |db: &Option<String>, name: &str| {
        let db = db.as_deref().unwrap_or_default();
        format!("{}.{}", quote_ident(db), quote_ident(name))
    };
    match level {
        Level::Global => "*.*".into(),
        Level::Database(db) => format!("{}.*", quote_ident(db.as_deref().unwrap_or_default())),
        Level::Table(db, t) => name(db, t),
        Level::Routine(kind, db, r) => format!("{} {}", kind.word(), name(db, r)),
    }
}

impl ClientSession {
    /// The account or the role that a name in GRANT and REVOKE means.
    pub(crate) fn grantee(
        &mut self,
        drafts: &Drafts,
        name: &UserName,
        has_password: bool,
    ) -> SqlResult<(String, String)> {
        match name {
            UserName::CurrentRole => Ok((self.current_role()?, String::new())),
            UserName::Named {
                user, bare: true, ..
            } if !has_password => {
                if user.eq_ignore_ascii_case(PUBLIC) {
                    return Ok((PUBLIC.into(), String::new()));
                }
                if user.eq_ignore_ascii_case("NONE") {
                    return Err(invalid_role(user));
                }
                match drafts.role(user) {
                    Some(role) => Ok((role.user, String::new())),
                    None => Ok(self.resolve(name)),
                }
            }
            _ => Ok(self.resolve(name)),
        }
    }

    /// The same where a role is given or taken: without a current role its name is NONE, which no role has.
    pub(crate) fn role_grantee(
        &mut self,
        drafts: &Drafts,
        name: &UserName,
    ) -> SqlResult<(String, String)> {
        match name {
            UserName::CurrentRole if self.rights.role.is_none() => Err(invalid_role("NONE")),
            name => self.grantee(drafts, name, false),
        }
    }

    /// Error 1446 if no role is set.
    pub(crate) fn current_role(&self) -> SqlResult<String> {
        let role = self.rights.role.as_deref().map(String::from);
        role.ok_or_else(|| errors::MALFORMED_DEFINER.plain())
    }

    /// The account of a GRANT, or one made for it.
    pub(crate) fn account_to_grant(
        &mut self,
        drafts: &Drafts,
        spec: &UserSpec,
        options: &UserOptions,
    ) -> SqlResult<Account> {
        // What only users have makes a bare name a user's, whatever roles there are.
        let of_user = spec.auth.is_some() || options.tls.is_some() || !options.limits.is_empty();
        let (user, host) = self.grantee(drafts, &spec.name, of_user)?;
        let mut a = match drafts.get(&user, &host) {
            Some(a) => a,
            None if host.is_empty() => Account::role(&user),
            None => {
                // NO_AUTO_CREATE_USER: an account is not made by accident.
                if spec.auth.is_none() && is_mysql() {
                    return Err(errors::CANT_CREATE_USER_WITH_GRANT.plain());
                }
                if spec.auth.is_none() && self.env.sql_mode.has(SqlMode::NO_AUTO_CREATE_USER) {
                    return Err(no_such_user());
                }
                self.need_any(PrivilegeSet::CREATE_USER)?;
                Account::new(&user, &host)
            }
        };
        if let Some(auth) = &spec.auth {
            self.authenticate(&mut a, auth)?;
        }
        Ok(a)
    }

    /// The level with its names filled in; ALL as a set. Checks that the privileges exist at that level.
    fn at_level(
        &mut self,
        level: &Level,
        privileges: &Privileges,
        is_grant: bool,
    ) -> SqlResult<Given> {
        let db = |db: &Option<String>, s: &Self| match db {
            Some(d) => Ok(Some(d.clone())),
            None => s.env.require_db().map(|d| Some(d.to_string())),
        };
        let level = match level {
            Level::Global => Level::Global,
            Level::Database(d) => Level::Database(db(d, self)?),
            Level::Table(d, t) => Level::Table(db(d, self)?, t.clone()),
            Level::Routine(kind, d, r) => Level::Routine(*kind, db(d, self)?, r.name_key()),
        };
        let all = all_of(&level);
        let whole = privileges.whole.unwrap_or(all);
        if !all.with(PrivilegeSet::GRANT_OPTION).has(whole) {
            return Err(match &level {
                Level::Database(_) => errors::WRONG_USAGE.with([&"DB GRANT", &"GLOBAL PRIVILEGES"]),
                _ => illegal_grant(),
            });
        }
        if !privileges.columns.is_empty() && !matches!(level, Level::Table(..)) {
            return Err(illegal_grant());
        }
        let mut columns = ColumnPrivileges::new();
        for (p, names) in &privileges.columns {
            for name in names {
                let have = columns.entry(name.clone()).or_default();
                *have = have.with(*p);
            }
        }
        let given = Given {
            level,
            whole,
            columns,
        };
        self.check_may_grant(&given)?;
        self.check_granted_thing(&given, is_grant)?;
        Ok(given)
    }

    /// Error 1143 for a privilege on a column that the account has on others alone.
    fn may_grant_columns(
        &self,
        given: &Given,
        account: &Account,
        db: &str,
        table: &str,
    ) -> SqlResult<()> {
        let whole = account.on_table(db, table);
        for (column, wanted) in &given.columns {
            let have = whole.with(account.on_column(db, table, column));
            if !have.has(*wanted) {
                let host = &self.client.host;
                let missing = wanted.without(have);
                return Err(acl::column_denied(missing, account, host, table, column));
            }
        }
        Ok(())
    }

    /// An account gives only privileges that it has, with GRANT OPTION.
    fn check_may_grant(&mut self, given: &Given) -> SqlResult<()> {
        let account = self.account();
        let wanted = given.everything();
        if let Level::Database(Some(db)) | Level::Table(Some(db), _) = &given.level
            && (is_information_schema(db)
                || db.eq_ignore_ascii_case(PERFORMANCE_SCHEMA) && !MEASURED.has(wanted))
        {
            return Err(acl::database_denied(&account, db));
        }
        match &given.level {
            Level::Global if !account.global.has(wanted) => {
                let with_password = !account.auth.is_empty();
                Err(access_denied(&self.client, with_password))
            }
            Level::Database(Some(db)) if !account.on_pattern(db).has(wanted) => {
                Err(acl::database_denied(&account, db))
            }
            Level::Table(Some(db), t) => {
                let mut have = account.on_table(db, t);
                if !given.columns.is_empty() {
                    have = have.with(account.on_some_column(db, t));
                }
                if have.has(wanted) {
                    return self.may_grant_columns(given, &account, db, t);
                }
                let host = &self.client.host;
                let some = have.with(account.on_some_column(db, t));
                let missing = match wanted.without(some) {
                    none if none.is_empty() => wanted.without(have),
                    missing => missing,
                };
                let missing = missing.names().join(", ");
                let missing = missing.replace("GRANT OPTION", "GRANT");
                Err(acl::table_denied(&missing, &account, host, db, t))
            }
            Level::Routine(kind, Some(db), name)
                if !account.on_routine(*kind, db, name).has(wanted) =>
            {
                let full = format!("{db}.{name}");
                let missing = wanted.without(account.on_routine(*kind, db, name));
                let verb = missing.names().join(", ").to_lowercase();
                let verb = verb.replace("grant option", "grant");
                let (user, host) = (&account.user, &account.host);
                Err(errors::PROCACCESS_DENIED_ERROR.with([&verb, user, host, &full]))
            }
            _ => Ok(()),
        }
    }

    /// What a privilege is granted on is there.
    fn check_granted_thing(&mut self, given: &Given, is_grant: bool) -> SqlResult<()> {
        let catalog = self.instance.database().catalog();
        match &given.level {
            Level::Table(Some(db), t) if is_grant => {
                let of_system = system_table(db, t);
                if of_system.is_none() && !catalog.has(db, t) {
                    if given.whole.has(PrivilegeSet::CREATE) && given.columns.is_empty() {
                        return Ok(());
                    }
                    return Err(errors::NO_SUCH_TABLE.with([&db, &t]));
                }
                let table = catalog.table(db, t).or(of_system);
                let known: Vec<&str> = match (table, catalog.view(db, t)) {
                    (Some(table), _) => table.columns().iter().map(|c| &*c.name).collect(),
                    (_, Some(view)) => view.columns.iter().map(|c| &**c).collect(),
                    _ => Vec::new(),
                };
                for column in given.columns.keys() {
                    if !known.iter().any(|k| k.same_name(column)) {
                        return Err(errors::BAD_FIELD_ERROR.with([column, &t]));
                    }
                }
                Ok(())
            }
            Level::Routine(kind, Some(db), name) => {
                if crate::programs::routine_exists(&catalog, *kind, db, name)? {
                    return Ok(());
                }
                Err(errors::SP_DOES_NOT_EXIST.with([&"FUNCTION or PROCEDURE", name]))
            }
            _ => Ok(()),
        }
    }

    /// GRANT.
    pub(crate) fn grant(
        &mut self,
        privileges: &Privileges,
        level: &Level,
        users: &[UserSpec],
        options: &UserOptions,
        grant_option: bool,
    ) -> SqlResult<()> {
        let given = self.at_level(level, privileges, true)?;
        if users.iter().any(|u| u.auth.is_some()) || options != &UserOptions::default() {
            self.need_any(PrivilegeSet::CREATE_USER)?;
        }
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let mut drafts = Drafts::new(instance.acl());
        let mut names = Vec::new();
        for u in users {
            let mut a = self.account_to_grant(&drafts, u, options)?;
            apply_options(&mut a, options);
            give(&mut a, &given, grant_option);
            names.push(match u.auth.is_some() {
                true => format!("{}{}", grant_texts::name(&a), a.identified()),
                false => grant_texts::name(&a),
            });
            drop_empty(&mut a);
            drafts.put(a);
        }
        let with = options_clause(options, grant_option);
        let sql = format!("GRANT {} TO {}{with}", given.text(false), names.join(", "));
        self.store(sql, drafts.changes())
    }

    /// REVOKE.
    pub(crate) fn revoke(
        &mut self,
        privileges: &Privileges,
        level: &Level,
        users: &[UserName],
    ) -> SqlResult<()> {
        let given = self.at_level(level, privileges, false)?;
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let mut drafts = Drafts::new(instance.acl());
        let mut names = Vec::new();
        for u in users {
            let (user, host) = self.grantee(&drafts, u, false)?;
            let Some(mut a) = drafts.get(&user, &host) else {
                return Err(no_such_grant(&Account::new(&user, &host), None));
            };
            take(&mut a, &given)?;
            drop_empty(&mut a);
            names.push(grant_texts::name(&a));
            drafts.put(a);
        }
        let sql = format!("REVOKE {} FROM {}", given.text(true), names.join(", "));
        self.store(sql, drafts.changes())
    }

    /// REVOKE ALL PRIVILEGES, GRANT OPTION. Those that are there lose all also if others are not.
    pub(crate) fn revoke_everything(&mut self, users: &[UserName]) -> SqlResult<()> {
        self.need_any(PrivilegeSet::CREATE_USER)?;
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let mut drafts = Drafts::new(instance.acl());
        let mut names = Vec::new();
        let mut missing = false;
        for u in users {
            let (user, host) = self.grantee(&drafts, u, false)?;
            let Some(mut a) = drafts.get(&user, &host) else {
                missing = true;
                continue;
            };
            a.global = PrivilegeSet::NONE;
            a.databases.clear();
            a.tables.clear();
            a.columns.clear();
            a.routines.clear();
            a.roles.clear();
            names.push(grant_texts::name(&a));
            drafts.put(a);
        }
        let names = names.join(", ");
        self.store(
            format!("REVOKE ALL PRIVILEGES, GRANT OPTION FROM {names}"),
            drafts.changes(),
        )?;
        match missing {
            true => Err(errors::REVOKE_GRANTS.plain()),
            false => Ok(()),
        }
    }

    /// GRANT PROXY and, without `grant`, REVOKE PROXY.
    pub(crate) fn proxy(
        &mut self,
        of: &UserName,
        users: &[UserSpec],
        grant: Option<bool>,
    ) -> SqlResult<()> {
        let of = self.resolve(of);
        let account = self.account();
        let anybody = (String::new(), "%".to_string());
        let may = |key| account.proxies.get(key).copied().unwrap_or(false);
        let own = self.is_self(&of.0, &of.1);
        if !self.internal && !own && !may(&of) && !may(&anybody) {
            let (user, host) = (&account.user, &account.host);
            return Err(errors::ACCESS_DENIED_NO_PASSWORD_ERROR.with([user, host]));
        }
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let mut drafts = Drafts::new(instance.acl());
        let mut names = Vec::new();
        for u in users {
            let mut a = match grant {
                Some(_) => self.account_to_grant(&drafts, u, &UserOptions::default())?,
                None => {
                    let (user, host) = self.resolve(&u.name);
                    let found = drafts.get(&user, &host);
                    found.ok_or_else(|| no_such_grant(&Account::new(&user, &host), None))?
                }
            };
            match grant {
                Some(option) => {
                    let had = a.proxies.entry(of.clone()).or_default();
                    *had |= option;
                    if option {
                        a.global = a.global.with(PrivilegeSet::GRANT_OPTION);
                    }
                }
                None if a.proxies.remove(&of).is_none() => return Err(no_such_grant(&a, None)),
                None => {}
            }
            names.push(grant_texts::name(&a));
            drafts.put(a);
        }
        let of = format!("{}@{}", quote_ident(&of.0), quote_ident(&of.1));
        let names = names.join(", ");
        let sql = match grant {
            Some(true) => format!("GRANT PROXY ON {of} TO {names} WITH GRANT OPTION"),
            Some(false) => format!("GRANT PROXY ON {of} TO {names}"),
            None => format!("REVOKE PROXY ON {of} FROM {names}"),
        };
        self.store(sql, drafts.changes())
    }
}

fn key(db: &Option<String>, name: &str) -> (String, String) {
    (db.clone().unwrap_or_default(), name.to_string())
}

fn routine_key(
    kind: RoutineKind,
    db: &Option<String>,
    name: &str,
) -> (RoutineKind, String, String) {
    (kind, db.clone().unwrap_or_default(), name.to_string())
}

fn give(a: &mut Account, given: &Given, grant_option: bool) {
    let mut whole = given.whole;
    if grant_option {
        whole = whole.with(PrivilegeSet::GRANT_OPTION);
    }
    let have = match &given.level {
        Level::Global => &mut a.global,
        Level::Database(db) => a
            .databases
            .entry(db.clone().unwrap_or_default())
            .or_default(),
        Level::Table(db, t) => a.tables.entry(key(db, t)).or_default(),
        Level::Routine(kind, db, r) => a.routines.entry(routine_key(*kind, db, r)).or_default(),
    };
    *have = have.with(whole);
    if let Level::Table(db, t) = &given.level
        && !given.columns.is_empty()
    {
        let list = a.columns.entry(key(db, t)).or_default();
        for (column, p) in &given.columns {
            let have = column_entry(list, column);
            *have = have.with(*p);
        }
    }
}

/// Names of columns have no case.
fn column_entry<'a>(list: &'a mut ColumnPrivileges, column: &str) -> &'a mut PrivilegeSet {
    let known = list.keys().find(|k| k.same_name(column));
    let name = known.cloned().unwrap_or_else(|| column.to_string());
    list.entry(name).or_default()
}

/// Takes away what REVOKE names. Fails if there is nothing of the kind.
fn take(a: &mut Account, given: &Given) -> SqlResult<()> {
    match &given.level {
        Level::Global => a.global = a.global.without(given.whole),
        Level::Database(db) => {
            let db = db.clone().unwrap_or_default();
            match a.databases.get_mut(&db) {
                Some(p) => *p = p.without(given.whole),
                None => return Err(no_such_grant(a, None)),
            }
        }
        Level::Table(db, t) => take_from_table(a, &key(db, t), given)?,
        Level::Routine(kind, db, r) => match a.routines.get_mut(&routine_key(*kind, db, r)) {
            Some(p) => *p = p.without(given.whole),
            None => {
                return Err(errors::NONEXISTING_PROC_GRANT.with([&a.user, &a.host, r]));
            }
        },
    }
    Ok(())
}

/// A privilege that is taken from a table is gone from its columns, too.
fn take_from_table(a: &mut Account, key: &(String, String), given: &Given) -> SqlResult<()> {
    let missing = errors::NONEXISTING_TABLE_GRANT.with([&a.user, &a.host, &key.1]);
    if !a.tables.contains_key(key) && !a.columns.contains_key(key) {
        return Err(missing);
    }
    if let Some(p) = a.tables.get_mut(key) {
        *p = p.without(given.whole);
    }
    match a.columns.get_mut(key) {
        Some(list) => {
            for p in list.values_mut() {
                *p = p.without(given.whole);
            }
            for (column, taken) in &given.columns {
                let have = column_entry(list, column);
                *have = have.without(*taken);
            }
        }
        None if !given.columns.is_empty() => return Err(missing),
        None => {}
    }
    Ok(())
}

/// Grants without privileges are not kept.
fn drop_empty(a: &mut Account) {
    a.databases.retain(|_, p| !p.is_empty());
    a.tables.retain(|_, p| !p.is_empty());
    a.routines.retain(|_, p| !p.is_empty());
    drop_empty_columns(&mut a.columns);
}

fn drop_empty_columns(columns: &mut BTreeMap<(String, String), ColumnPrivileges>) {
    for list in columns.values_mut() {
        list.retain(|_, p| !p.is_empty());
    }
    columns.retain(|_, list| !list.is_empty());
}

/// A table of the database `mysql`, which are all read-only views of what this server has.
fn system_table(db: &str, name: &str) -> Option<&'static Arc<Table>> {
    match db {
        "mysql" => crate::information_schema::system_table(name),
        PERFORMANCE_SCHEMA => crate::information_schema::table_of_system(db, name),
        _ => None,
    }
}
