//! Accounts and what they may do. Each account is one object of the catalog (`user/<name>@<host>`, JSON), with all its
//! grants in it, so that every change of users and privileges is one atomic catalog change.

use crate::password;
use crate::privileges::PrivilegeSet;
use narwal_engine::{Catalog, CatalogChange};
use narwal_types::errors;
use narwal_types::{Name, SqlError, SqlResult};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Prefix of account objects.
const PREFIX: &str = "user/";
/// Marks that accounts are stored: without it a server has the built-in root accounts only.
const MARKER: &str = "acl/initialised";

/// The default authentication plugin.
pub(crate) const NATIVE: &str = "mysql_native_password";
/// As MySQL 4.0 had it: kept for accounts that come from there, and refused at their logins.
pub(crate) const OLD: &str = "mysql_old_password";
/// The other one.
pub(crate) const SHA2: &str = "caching_sha2_password";

/// What REQUIRE asks of an account's connections.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum TlsNeed {
    /// REQUIRE NONE.
    #[default]
    None,
    /// REQUIRE SSL.
    Any,
    /// REQUIRE X509: a certificate of the client's that the server's `ssl_ca` has signed.
    X509,
    /// Such a certificate with these names, and a cipher. An empty name is not compared.
    Specified {
        /// ISSUER, in OpenSSL's one-line form.
        issuer: String,
        /// SUBJECT, in the same form.
        subject: String,
        /// CIPHER, by OpenSSL's name.
        cipher: Option<String>,
    },
}

impl TlsNeed {
    /// The old field says it all.
    fn is_simple(&self) -> bool {
        matches!(self, TlsNeed::None | TlsNeed::Any)
    }

    /// True unless it is REQUIRE NONE.
    pub fn is_some(&self) -> bool {
        *self != TlsNeed::None
    }

    /// The clause with a leading space, as SHOW CREATE USER and SHOW GRANTS print it; empty for NONE.
    pub(crate) fn clause(&self) -> String {
        match self {
            TlsNeed::None => String::new(),
            TlsNeed::Any => " REQUIRE SSL".into(),
            TlsNeed::X509 => " REQUIRE X509".into(),
            TlsNeed::Specified {
                issuer,
                subject,
                cipher,
            } => {
                let mut s = String::from(" REQUIRE");
                let mut put = |word: &str, value: &str| {
                    s.push_str(&format!(" {word} {}", quote(value)));
                };
                if !issuer.is_empty() {
                    put("ISSUER", issuer);
                }
                // Something has to follow REQUIRE.
                if !subject.is_empty() || (issuer.is_empty() && cipher.is_none()) {
                    put("SUBJECT", subject);
                }
                if let Some(cipher) = cipher {
                    put("CIPHER", cipher);
                }
                s
            }
        }
    }
}

/// A string literal for statement texts.
pub(crate) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

/// How long an account's password is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Lifetime {
    /// PASSWORD EXPIRE DEFAULT: `default_password_lifetime`.
    #[default]
    Default,
    /// PASSWORD EXPIRE NEVER.
    Never,
    /// PASSWORD EXPIRE INTERVAL n DAY.
    Days(u32),
}

impl Lifetime {
    fn is_default(&self) -> bool {
        *self == Lifetime::Default
    }
}

/// An account as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct Record {
    user: String,
    host: String,
    plugin: String,
    /// Stored password hash, empty for an empty password.
    auth: String,
    #[serde(default)]
    locked: bool,
    /// Some TLS is needed; what more stands in `tls`. Kept for versions that know nothing else.
    #[serde(default)]
    require_ssl: bool,
    #[serde(default, skip_serializing_if = "TlsNeed::is_simple")]
    tls: TlsNeed,
    #[serde(default)]
    expired: bool,
    #[serde(default)]
    password_changed: i64,
    #[serde(default, skip_serializing_if = "Lifetime::is_default")]
    lifetime: Lifetime,
    #[serde(default)]
    global: Vec<String>,
    #[serde(default)]
    databases: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    tables: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    #[serde(flatten)]
    more: More,
}

/// What came with roles. Records of versions before have none of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
struct More {
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_role: bool,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    roles: BTreeMap<String, bool>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    default_role: String,
    /// Database, table, column, privileges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    columns: Vec<(String, String, String, Vec<String>)>,
    /// Kind, database, name, privileges.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    routines: Vec<(RoutineKind, String, String, Vec<String>)>,
    /// Name and host of the other, and WITH GRANT OPTION.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    proxies: Vec<(String, String, bool)>,
    #[serde(default, skip_serializing_if = "Limits::is_none")]
    limits: Limits,
}

/// The kinds of routines that privileges are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum RoutineKind {
    Procedure,
    Function,
    Package,
    PackageBody,
}

impl RoutineKind {
    /// All of them, in the order of SHOW GRANTS.
    pub const ALL: [RoutineKind; 4] = [
        RoutineKind::Procedure,
        RoutineKind::Function,
        RoutineKind::Package,
        RoutineKind::PackageBody,
    ];

    /// Its word in GRANT.
    pub fn word(self) -> &'static str {
        match self {
            RoutineKind::Procedure => "PROCEDURE",
            RoutineKind::Function => "FUNCTION",
            RoutineKind::Package => "PACKAGE",
            RoutineKind::PackageBody => "PACKAGE BODY",
        }
    }
}

/// What an account may use. 0 is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// MAX_QUERIES_PER_HOUR.
    pub queries: u64,
    /// MAX_UPDATES_PER_HOUR.
    pub updates: u64,
    /// MAX_CONNECTIONS_PER_HOUR.
    pub connections: u64,
    /// MAX_USER_CONNECTIONS; below 0: none are let in.
    pub user_connections: i64,
    /// MAX_STATEMENT_TIME, microseconds.
    pub statement_micros: u64,
}

impl Limits {
    /// Nothing is limited.
    pub fn is_none(&self) -> bool {
        *self == Limits::default()
    }

    /// MAX_STATEMENT_TIME in seconds, as it is printed.
    pub(crate) fn seconds(&self) -> String {
        let micros = self.statement_micros;
        format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
    }

    /// The limits that are set, each with a leading space.
    pub(crate) fn clause(&self) -> String {
        let mut s = String::new();
        for (word, n) in [
            ("MAX_QUERIES_PER_HOUR", self.queries),
            ("MAX_UPDATES_PER_HOUR", self.updates),
            ("MAX_CONNECTIONS_PER_HOUR", self.connections),
        ] {
            if n > 0 {
                s.push_str(&format!(" {word} {n}"));
            }
        }
        if self.user_connections != 0 {
            s.push_str(&format!(" MAX_USER_CONNECTIONS {}", self.user_connections));
        }
        if self.statement_micros > 0 {
            s.push_str(&format!(" MAX_STATEMENT_TIME {}", self.seconds()));
        }
        s
    }
}

/// The name of the role that everybody has.
pub(crate) const PUBLIC: &str = "PUBLIC";

/// The longest name of a host, in characters.
const HOST: usize = 255;
/// The longest name of an account, characters.
const USER: usize = 128;

/// Privileges on the columns of a table.
pub type ColumnPrivileges = BTreeMap<String, PrivilegeSet>;

/// An account: name, host pattern, proof, privileges.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Account {
    /// Name; empty for an anonymous account.
    pub user: String,
    /// Host pattern.
    pub host: String,
    /// `mysql_native_password`, `caching_sha2_password` or `mysql_old_password`.
    pub plugin: String,
    /// Stored password hash, empty for an empty password.
    pub auth: String,
    /// ACCOUNT LOCK.
    pub locked: bool,
    /// REQUIRE.
    pub tls: TlsNeed,
    /// PASSWORD EXPIRE: the password must be changed before anything else.
    pub expired: bool,
    /// When the password was set, seconds since 1970; 0 if an older version stored the account.
    pub password_changed: i64,
    /// PASSWORD EXPIRE DEFAULT, NEVER or INTERVAL.
    pub lifetime: Lifetime,
    /// Privileges ON *.*.
    pub global: PrivilegeSet,
    /// Privileges ON pattern.*.
    pub databases: BTreeMap<String, PrivilegeSet>,
    /// Privileges ON db.table.
    pub tables: BTreeMap<(String, String), PrivilegeSet>,
    /// Privileges on single columns of db.table.
    pub columns: BTreeMap<(String, String), ColumnPrivileges>,
    /// Privileges on routines: kind, database, name in lower case.
    pub routines: BTreeMap<(RoutineKind, String, String), PrivilegeSet>,
    /// It is a role: it has no host, and nobody logs in with it.
    pub is_role: bool,
    /// Roles granted to it: true is WITH ADMIN OPTION.
    pub roles: BTreeMap<String, bool>,
    /// The role that its sessions begin with; empty for none.
    pub default_role: String,
    /// Accounts that it may stand in for: true is WITH GRANT OPTION.
    pub proxies: BTreeMap<(String, String), bool>,
    /// What it may use.
    pub limits: Limits,
    /// Of a session's account: the roles that are enabled, whose global privileges are in `global`, and what accounts of
    /// its name for other hosts bring. Not stored.
    pub also: Vec<Arc<Account>>,
}

impl Account {
    /// A new account without privileges.
    pub(crate) fn new(user: &str, host: &str) -> Self {
        Account {
            user: user.into(),
            host: host.into(),
            plugin: NATIVE.into(),
            ..Account::default()
        }
    }

    /// A new role.
    pub(crate) fn role(name: &str) -> Self {
        Account {
            user: name.into(),
            plugin: String::new(),
            is_role: true,
            ..Account::default()
        }
    }

    /// `'user'@'host'` as error messages print it; a role is without host.
    pub(crate) fn quoted(&self) -> String {
        match self.is_role {
            true => format!("'{}'", self.user),
            false => format!("'{}'@'{}'", self.user, self.host),
        }
    }

    /// The SHA1(SHA1(password)) of a `mysql_native_password` account, `None` for an empty password.
    pub fn native_hash(&self) -> Option<[u8; 20]> {
        password::parse_native_hash(&self.auth)
    }

    fn key(&self) -> String {
        format!("{PREFIX}{}@{}", self.user, self.host)
    }

    /// The change that stores this account.
    pub(crate) fn put(&self) -> CatalogChange {
        let names = |p: &PrivilegeSet| p.names().into_iter().map(String::from).collect::<Vec<_>>();
        let mut tables: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
        for ((db, t), p) in &self.tables {
            tables
                .entry(db.clone())
                .or_default()
                .insert(t.clone(), names(p));
        }
        let record = Record {
            user: self.user.clone(),
            host: self.host.clone(),
            plugin: self.plugin.clone(),
            auth: self.auth.clone(),
            locked: self.locked,
            require_ssl: self.tls.is_some(),
            tls: self.tls.clone(),
            expired: self.expired,
            password_changed: self.password_changed,
            lifetime: self.lifetime,
            global: names(&self.global),
            databases: self
                .databases
                .iter()
                .map(|(d, p)| (d.clone(), names(p)))
                .collect(),
            tables,
            more: self.more(),
        };
        CatalogChange::PutObject {
            key: self.key(),
            // A struct of strings and maps with string keys always has a JSON form.
            value: serde_json::to_string(&record).unwrap_or_default(),
        }
    }

    fn more(&self) -> More {
        let names = |p: &PrivilegeSet| p.names().into_iter().map(String::from).collect::<Vec<_>>();
        let columns = self.columns.iter().flat_map(|((db, t), list)| {
            list.iter()
                .map(move |(c, p)| (db.clone(), t.clone(), c.clone(), names(p)))
        });
        let routines = self
            .routines
            .iter()
            .map(|((kind, db, name), p)| (*kind, db.clone(), name.clone(), names(p)));
        More {
            is_role: self.is_role,
            roles: self.roles.clone(),
            default_role: self.default_role.clone(),
            columns: columns.collect(),
            routines: routines.collect(),
            proxies: self
                .proxies
                .iter()
                .map(|((u, h), grant)| (u.clone(), h.clone(), *grant))
                .collect(),
            limits: self.limits,
        }
    }

    /// The change that removes this account.
    pub(crate) fn delete(&self) -> CatalogChange {
        CatalogChange::DeleteObject { key: self.key() }
    }

    fn from_json(json: &str) -> Option<Account> {
        let r: Record = serde_json::from_str(json).ok()?;
        let mut columns: BTreeMap<(String, String), ColumnPrivileges> = BTreeMap::new();
        for (db, table, column, names) in r.more.columns {
            let list = columns.entry((db, table)).or_default();
            list.insert(column, PrivilegeSet::from_names(&names));
        }
        let routines = r.more.routines.into_iter().map(|(kind, db, name, names)| {
            let set = PrivilegeSet::from_names(&names);
            ((kind, db, name), set)
        });
        Some(Account {
            columns,
            routines: routines.collect(),
            is_role: r.more.is_role,
            roles: r.more.roles,
            default_role: r.more.default_role,
            proxies: r
                .more
                .proxies
                .into_iter()
                .map(|(u, h, grant)| ((u, h), grant))
                .collect(),
            limits: r.more.limits,
            also: Vec::new(),
            user: r.user,
            host: r.host,
            plugin: r.plugin,
            auth: r.auth,
            locked: r.locked,
            tls: match r.tls {
                TlsNeed::None if r.require_ssl => TlsNeed::Any,
                tls => tls,
            },
            expired: r.expired,
            password_changed: r.password_changed,
            lifetime: r.lifetime,
            global: PrivilegeSet::from_names(&r.global),
            databases: r
                .databases
                .iter()
                .map(|(d, p)| (d.clone(), PrivilegeSet::from_names(p)))
                .collect(),
            tables: r
                .tables
                .into_iter()
                .flat_map(|(d, ts)| {
                    ts.into_iter()
                        .map(move |(t, p)| ((d.clone(), t), PrivilegeSet::from_names(&p)))
                })
                .collect(),
        })
    }

    /// What a session keeps of its account when that is dropped: the name and the global privileges.
    pub(crate) fn without_its_grants(&self) -> Account {
        Account {
            global: self.global,
            auth: self.auth.clone(),
            limits: self.limits,
            ..Account::new(&self.user, &self.host)
        }
    }

    /// It has something on databases and below.
    fn has_grants(&self) -> bool {
        !(self.databases.is_empty()
            && self.tables.is_empty()
            && self.columns.is_empty()
            && self.routines.is_empty())
    }

    /// Its grants on what accounts before it have none on.
    fn beside(&self, before: &[Arc<Account>]) -> Account {
        let mut a = Account::new(&self.user, &self.host);
        let all = self.databases.iter();
        a.databases = all
            .filter(|(db, _)| !before.iter().any(|b| b.databases.contains_key(*db)))
            .map(|(db, p)| (db.clone(), *p))
            .collect();
        let known = |key: &(String, String)| {
            (before.iter()).any(|b| b.tables.contains_key(key) || b.columns.contains_key(key))
        };
        a.tables = (self.tables.iter())
            .filter(|(key, _)| !known(key))
            .map(|(key, p)| (key.clone(), *p))
            .collect();
        a.columns = (self.columns.iter())
            .filter(|(key, _)| !known(key))
            .map(|(key, p)| (key.clone(), p.clone()))
            .collect();
        a.routines = (self.routines.iter())
            .filter(|(key, _)| !before.iter().any(|b| b.routines.contains_key(*key)))
            .map(|(key, p)| (key.clone(), *p))
            .collect();
        a
    }

    /// Its own grants, and those of its enabled roles.
    fn grants(&self) -> impl Iterator<Item = &Account> {
        std::iter::once(self).chain(self.also.iter().map(|a| &**a))
    }

    fn own_on_database(&self, db: &str) -> PrivilegeSet {
        self.databases
            .iter()
            .filter(|(pattern, _)| wild_match(pattern, db, true))
            .max_by_key(|(pattern, _)| specificity(pattern))
            .map_or(PrivilegeSet::NONE, |(_, p)| *p)
    }

    /// Privileges on a database, without the global ones: those of the most specific matching pattern.
    pub(crate) fn on_database(&self, db: &str) -> PrivilegeSet {
        self.grants()
            .map(|a| a.own_on_database(db))
            .fold(PrivilegeSet::NONE, PrivilegeSet::with)
    }

    /// Privileges on all databases that a pattern means, and the global ones.
    pub(crate) fn on_pattern(&self, pattern: &str) -> PrivilegeSet {
        self.grants()
            .filter_map(|a| {
                let covering = a.databases.iter().filter(|(p, _)| covers(p, pattern));
                covering.max_by_key(|(p, _)| specificity(p))
            })
            .fold(self.global, |all, (_, p)| all.with(*p))
    }

    /// All privileges that hold for a table: global, database and table level together.
    pub(crate) fn on_table(&self, db: &str, table: &str) -> PrivilegeSet {
        let mut p = self.global.with(self.on_database(db));
        for a in self.grants().filter(|a| !a.tables.is_empty()) {
            if let Some(t) = a.tables.get(&(db.to_string(), table.to_string())) {
                p = p.with(*t);
            }
        }
        p
    }

    /// Privileges that it has on one column only.
    pub(crate) fn on_column(&self, db: &str, table: &str, column: &str) -> PrivilegeSet {
        let key = (db.to_string(), table.to_string());
        self.grants()
            .filter_map(|a| a.columns.get(&key))
            .flatten()
            .filter(|(c, _)| c.same_name(column))
            .fold(PrivilegeSet::NONE, |p, (_, c)| p.with(*c))
    }

    /// Privileges that it has on some column of a table.
    pub(crate) fn on_some_column(&self, db: &str, table: &str) -> PrivilegeSet {
        if self.grants().all(|a| a.columns.is_empty()) {
            return PrivilegeSet::NONE;
        }
        let key = (db.to_string(), table.to_string());
        self.grants()
            .filter_map(|a| a.columns.get(&key))
            .flatten()
            .fold(PrivilegeSet::NONE, |p, (_, c)| p.with(*c))
    }

    /// Something was granted on this table, or on columns of it.
    pub(crate) fn has_grant_on(&self, db: &str, table: &str) -> bool {
        let key = (db.to_string(), table.to_string());
        self.grants()
            .any(|a| a.tables.contains_key(&key) || a.columns.contains_key(&key))
    }

    /// All privileges on a table or on some of its columns: with one of them the table can be seen.
    pub(crate) fn about_table(&self, db: &str, table: &str) -> PrivilegeSet {
        self.on_table(db, table)
            .with(self.on_some_column(db, table))
    }

    /// All privileges that hold for a routine.
    pub(crate) fn on_routine(&self, kind: RoutineKind, db: &str, name: &str) -> PrivilegeSet {
        let mut p = self.global.with(self.on_database(db));
        for a in self.grants().filter(|a| !a.routines.is_empty()) {
            if let Some(r) = a.routines.get(&(kind, db.to_string(), name.name_key())) {
                p = p.with(*r);
            }
        }
        p
    }

    /// True if the account has any privilege on the database or on something in it.
    pub(crate) fn sees_database(&self, db: &str) -> bool {
        !self
            .global
            .without(PrivilegeSet::GRANT_OPTION)
            .without(SERVER_ONLY)
            .is_empty()
            || !self.on_database(db).is_empty()
            || self.grants().any(|a| a.has_something_in(db))
    }

    fn has_something_in(&self, db: &str) -> bool {
        self.tables
            .iter()
            .any(|((d, _), p)| d == db && !p.is_empty())
            || self.columns.keys().any(|(d, _)| d == db)
            || self.routines.keys().any(|(_, d, _)| d == db)
    }

    /// The IDENTIFIED part of statements that recreate the account, with a leading space; empty without a password.
    pub(crate) fn identified(&self) -> String {
        if self.is_role {
            String::new()
        } else if self.plugin == NATIVE || self.plugin == OLD {
            if self.auth.is_empty() {
                String::new()
            } else {
                format!(" IDENTIFIED BY PASSWORD '{}'", self.auth)
            }
        } else {
            format!(" IDENTIFIED VIA {} USING '{}'", self.plugin, self.auth)
        }
    }

    /// SHOW CREATE USER.
    pub(crate) fn show_create(&self) -> String {
        format!(
            "CREATE USER {}@{}{}{}{}{}{}",
            narwal_sql::show::quote_ident(&self.user),
            narwal_sql::show::quote_ident(&self.host),
            self.identified(),
            self.tls.clause(),
            match self.limits.is_none() {
                true => String::new(),
                false => format!(" WITH{}", self.limits.clause()),
            },
            if self.locked { " ACCOUNT LOCK" } else { "" },
            match self.lifetime {
                _ if self.expired => " PASSWORD EXPIRE".to_string(),
                Lifetime::Default => String::new(),
                Lifetime::Never => " PASSWORD EXPIRE NEVER".into(),
                Lifetime::Days(n) => format!(" PASSWORD EXPIRE INTERVAL {n} DAY"),
            }
        )
    }

    /// What SHOW CREATE USER adds where one statement can't say it all: an expired password that has a lifetime too.
    pub(crate) fn show_create_more(&self) -> Option<String> {
        let rest = match self.lifetime {
            Lifetime::Never => "NEVER".to_string(),
            Lifetime::Days(n) => format!("INTERVAL {n} DAY"),
            Lifetime::Default => return None,
        };
        self.expired.then(|| {
            format!(
                "ALTER USER {}@{} PASSWORD EXPIRE {rest}",
                narwal_sql::show::quote_ident(&self.user),
                narwal_sql::show::quote_ident(&self.host)
            )
        })
    }

    /// True if the password must be changed at `now` (seconds since 1970).
    pub fn password_expired(&self, now: i64, default_days: u64) -> bool {
        let days = match self.lifetime {
            Lifetime::Default => default_days,
            Lifetime::Never => 0,
            Lifetime::Days(n) => u64::from(n),
        };
        let seconds = i64::try_from(days.saturating_mul(86_400)).unwrap_or(i64::MAX);
        self.expired
            || (days > 0
                && self.password_changed > 0
                && now.saturating_sub(self.password_changed) > seconds)
    }
}

/// Privileges that say nothing about databases.
const SERVER_ONLY: PrivilegeSet = PrivilegeSet(
    PrivilegeSet::RELOAD.0
        | PrivilegeSet::SHUTDOWN.0
        | PrivilegeSet::PROCESS.0
        | PrivilegeSet::SUPER.0
        | PrivilegeSet::REPLICATION_SLAVE.0
        | PrivilegeSet::BINLOG_MONITOR.0
        | PrivilegeSet::CREATE_USER.0
        | 1 << 9
        | 1 << 27
        | 0b1_1111_1111 << 29,
);

/// Matches `%`, `_` and `\` escapes by bytes; `case` = letters must match exactly.
pub(crate) fn wild_match(pattern: &str, text: &str, case: bool) -> bool {
    let (p, t) = (pattern.as_bytes(), text.as_bytes());
    let eq = |a: u8, b: u8| {
        if case {
            a == b
        } else {
            a.eq_ignore_ascii_case(&b)
        }
    };
    let (mut pi, mut ti) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    loop {
        let step = match p.get(pi) {
            Some(b'%') => {
                star = Some((pi + 1, ti));
                pi += 1;
                continue;
            }
            Some(b'_') if ti < t.len() => Some(1),
            Some(b'\\') if pi + 1 < p.len() && ti < t.len() && eq(p[pi + 1], t[ti]) => Some(2),
            Some(c) if *c != b'\\' && ti < t.len() && eq(*c, t[ti]) => Some(1),
            None if ti == t.len() => return true,
            _ => None,
        };
        match (step, star) {
            (Some(n), _) => {
                pi += n;
                ti += 1;
            }
            (None, Some((sp, st))) if st < t.len() => {
                pi = sp;
                ti = st + 1;
                star = Some((sp, st + 1));
            }
            _ => return false,
        }
    }
}

/// How specific a pattern is: one without wildcards first, then by the length before the first wildcard.
fn specificity(pattern: &str) -> (usize, usize) {
    let b = pattern.as_bytes();
    let mut i = 0;
    while i < b.len() {
        match b[i] {
            b'\\' => i += 1,
            b'%' | b'_' => return (i, b.len()),
            _ => {}
        }
        i += 1;
    }
    (usize::MAX, b.len())
}

/// What a pattern for databases is made of.
#[derive(PartialEq, Eq, Clone, Copy)]
enum Part {
    One,
    Many,
    Char(char),
}

fn parts(pattern: &str) -> Vec<Part> {
    let mut chars = pattern.chars();
    let mut parts = Vec::new();
    while let Some(c) = chars.next() {
        parts.push(match c {
            '_' => Part::One,
            '%' => Part::Many,
            '\\' => Part::Char(chars.next().unwrap_or(c)),
            c => Part::Char(c),
        });
    }
    parts
}

/// True if each database that `narrow` means is one that `wide` means.
fn covers(wide: &str, narrow: &str) -> bool {
    fn all(wide: &[Part], narrow: &[Part]) -> bool {
        match (wide.split_first(), narrow.split_first()) {
            (None, None) => true,
            (Some((Part::Many, rest)), None) => all(rest, narrow),
            (Some((Part::Many, rest)), Some((_, others))) => all(rest, narrow) || all(wide, others),
            (Some((w, rest)), Some((n, others))) => {
                (w == n || *w == Part::One && *n != Part::Many) && all(rest, others)
            }
            _ => false,
        }
    }
    wide == narrow || all(&parts(wide), &parts(narrow))
}

/// True if a client from `host` (or address `ip`) fits an account's host pattern.
fn host_match(pattern: &str, host: &str, ip: Option<&str>) -> bool {
    if let Some((net, mask)) = pattern.split_once('/') {
        let parse = |s: &str| s.parse::<std::net::Ipv4Addr>().ok().map(u32::from);
        return match (parse(net), parse(mask), ip.and_then(parse)) {
            (Some(net), Some(mask), Some(ip)) => ip & mask == net,
            _ => false,
        };
    }
    wild_match(pattern, host, false) || ip.is_some_and(|ip| wild_match(pattern, ip, false))
}

/// All accounts at one version of the catalog.
#[derive(Debug, Default)]
pub struct Acl {
    /// The catalog version that this was read from.
    pub version: u64,
    /// Most specific host first, anonymous accounts after named ones.
    accounts: Vec<Arc<Account>>,
    /// The accounts are the built-in ones: nothing is stored yet.
    built_in: bool,
}

impl Acl {
    /// Reads the accounts of a catalog.
    pub fn load(catalog: &Catalog) -> Acl {
        let built_in = catalog.object(MARKER).is_none();
        let mut accounts: Vec<Arc<Account>> = if built_in {
            ["localhost", "127.0.0.1", "::1"]
                .iter()
                .map(|h| {
                    let mut a = Account::new("root", h);
                    a.global = PrivilegeSet::ALL_GLOBAL.with(PrivilegeSet::GRANT_OPTION);
                    a.proxies.insert((String::new(), "%".into()), true);
                    Arc::new(a)
                })
                .collect()
        } else {
            catalog
                .objects(PREFIX)
                .filter_map(|(key, json)| {
                    let a = Account::from_json(json);
                    if a.is_none() {
                        tracing::error!(
                            key,
                            "an account's stored record can't be read; the account is not usable"
                        );
                    }
                    a.map(Arc::new)
                })
                .collect()
        };
        // Names come before addresses: a loopback client is `root@localhost` first, whichever way it came.
        let is_name = |a: &Account| !a.host.starts_with(|c: char| c.is_ascii_digit() || c == ':');
        accounts.sort_by(|a, b| {
            let rank = |x: &Account| (specificity(&x.host).0, is_name(x), x.host.len());
            rank(b)
                .cmp(&rank(a))
                .then(a.user.is_empty().cmp(&b.user.is_empty()))
                .then(a.user.cmp(&b.user))
                .then(a.host.cmp(&b.host))
        });
        Acl {
            version: catalog.version,
            accounts,
            built_in,
        }
    }

    /// No accounts, of a version that no catalog has.
    pub(crate) fn of_no_catalog() -> Acl {
        Acl {
            version: u64::MAX,
            ..Acl::default()
        }
    }

    /// The account that a client is.
    pub fn find(&self, user: &str, host: &str, ip: Option<&str>) -> Option<&Arc<Account>> {
        self.accounts.iter().find(|a| {
            (a.user == user || a.user.is_empty()) && !a.is_role && host_match(&a.host, host, ip)
        })
    }

    /// A role by its name.
    pub(crate) fn role(&self, name: &str) -> Option<&Arc<Account>> {
        self.get(name, "").filter(|a| a.is_role)
    }

    /// A role and all that are granted to it, each once.
    pub(crate) fn with_granted(&self, role: &str) -> Vec<Arc<Account>> {
        let mut found: Vec<Arc<Account>> = Vec::new();
        let mut open = vec![role.to_string()];
        while let Some(name) = open.pop() {
            if found.iter().any(|r| r.user == name) {
                continue;
            }
            if let Some(r) = self.role(&name) {
                open.extend(r.roles.keys().rev().cloned());
                found.push(r.clone());
            }
        }
        found
    }

    /// An account as its sessions have it: with a role enabled, and what everybody may. Name and host empty: the role alone.
    pub(crate) fn effective(
        &self,
        user: &str,
        host: &str,
        role: Option<&str>,
    ) -> Option<Arc<Account>> {
        self.effective_at((user, host), (host, None), role)
    }

    /// The same of a client at a host and an address: what other accounts of its name have on databases and below counts
    /// for it too, if their hosts mean its own. Its own account's grants come first, then those of more specific hosts.
    pub(crate) fn effective_at(
        &self,
        (user, host): (&str, &str),
        (client, ip): (&str, Option<&str>),
        role: Option<&str>,
    ) -> Option<Arc<Account>> {
        let nameless = user.is_empty() && host.is_empty() && role.is_some();
        let own = match self.get(user, host) {
            Some(a) => a.clone(),
            None if nameless => Arc::new(Account::new("", "")),
            None => return None,
        };
        let mut more = role.map(|r| self.with_granted(r)).unwrap_or_default();
        for r in self.with_granted(PUBLIC) {
            if !more.iter().any(|m| m.user == r.user) {
                more.push(r);
            }
        }
        let global = more.iter().fold(own.global, |p, r| p.with(r.global));
        let mut namesakes = vec![own.clone()];
        for a in &self.accounts {
            let namesake = a.user == user && a.host != host && !a.is_role && !user.is_empty();
            if namesake && a.has_grants() && host_match(&a.host, client, ip) {
                namesakes.push(Arc::new(a.beside(&namesakes)));
            }
        }
        more.extend(namesakes.drain(1..));
        if more.is_empty() {
            return Some(own);
        }
        let mut a = Account::clone(&own);
        a.global = global;
        a.also = more;
        Some(Arc::new(a))
    }

    /// What a name after DEFINER= means: a role, if there is one and no host was said. Error 1959 for words that no role
    /// is named by.
    pub(crate) fn definer_named(
        &self,
        user: &str,
        host: Option<&str>,
    ) -> SqlResult<(String, String)> {
        let reserved = |word: &&str| user.eq_ignore_ascii_case(word);
        if user.chars().count() > USER {
            return Err(errors::WRONG_STRING_LENGTH.with([&user, &"user name", &USER]));
        }
        let host = match host {
            None if [PUBLIC, "NONE"].iter().any(reserved) => {
                return Err(invalid_role(user));
            }
            None | Some("") if self.role(user).is_some() => "",
            None | Some("") => "%",
            Some(host) if host.chars().count() > HOST => {
                return Err(errors::WRONG_STRING_LENGTH.with([&host, &"host name", &HOST]));
            }
            Some(host) => host,
        };
        Ok((user.to_string(), host.to_string()))
    }

    /// The account that a definer's rights are: a role's if there is no host.
    pub(crate) fn definer(&self, user: &str, host: &str) -> Option<Arc<Account>> {
        match host.is_empty() {
            true => {
                self.role(user)?;
                self.effective("", "", Some(user))
            }
            false => self.effective(user, host, None),
        }
    }

    /// An account by its name and host pattern.
    pub fn get(&self, user: &str, host: &str) -> Option<&Arc<Account>> {
        self.accounts
            .iter()
            .find(|a| a.user == user && a.host == host)
    }

    /// True if nothing is stored yet: the accounts are `root` without a password, on this machine only.
    pub fn is_built_in(&self) -> bool {
        self.built_in
    }

    /// All accounts, most specific host first.
    pub fn accounts(&self) -> &[Arc<Account>] {
        &self.accounts
    }

    /// Completes a set of account changes: the first one also stores the built-in accounts, those that it does not
    /// change itself.
    pub(crate) fn with_built_in(&self, changes: Vec<CatalogChange>) -> Vec<CatalogChange> {
        if !self.built_in {
            return changes;
        }
        let mut all: Vec<CatalogChange> = self.accounts.iter().map(|a| a.put()).collect();
        all.push(CatalogChange::PutObject {
            key: MARKER.into(),
            value: "1".into(),
        });
        all.extend(changes);
        all
    }
}

/// Error 1959.
pub(crate) fn invalid_role(name: &str) -> SqlError {
    let name = narwal_sql::show::quote_ident(name);
    errors::INVALID_ROLE.text(format!("Invalid role specification {name}"))
}

/// Error 1142.
pub(crate) fn table_denied(
    command: &str,
    who: &Account,
    host: &str,
    db: &str,
    table: &str,
) -> SqlError {
    errors::TABLEACCESS_DENIED_ERROR.with([
        &command,
        &who.user,
        &host,
        &narwal_sql::show::quote_ident(db),
        &narwal_sql::show::quote_ident(table),
    ])
}

/// Error 1143.
pub(crate) fn column_denied(
    wanted: PrivilegeSet,
    account: &Account,
    host: &str,
    table: &str,
    column: &str,
) -> SqlError {
    let command = wanted.names().join(", ");
    errors::COLUMNACCESS_DENIED_ERROR.with([&command, &account.user, &host, &column, &table])
}

/// Error 1044.
pub(crate) fn database_denied(who: &Account, db: &str) -> SqlError {
    errors::DBACCESS_DENIED_ERROR.with([&who.user, &who.host, &db])
}

/// Error 1227.
pub(crate) fn privilege_needed(any_of: PrivilegeSet) -> SqlError {
    let names = any_of.names();
    errors::SPECIFIC_ACCESS_DENIED_ERROR.with([&names.join(", ")])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn acl(list: &[(&str, &str)]) -> Acl {
        let mut a = Acl {
            version: 1,
            accounts: list
                .iter()
                .map(|(u, h)| Arc::new(Account::new(u, h)))
                .collect(),
            built_in: false,
        };
        a.accounts.sort_by(|a, b| {
            specificity(&b.host)
                .cmp(&specificity(&a.host))
                .then(a.user.is_empty().cmp(&b.user.is_empty()))
        });
        a
    }

    #[test]
    fn the_most_specific_host_wins() {
        let a = acl(&[
            ("u", "%"),
            ("u", "10.0.%"),
            ("u", "10.0.0.5"),
            ("", "localhost"),
            ("v", "192.168.1.0/255.255.255.0"),
        ]);
        let host = |user, host, ip| a.find(user, host, ip).map(|x| x.host.as_str());
        assert_eq!(host("u", "10.0.0.5", Some("10.0.0.5")), Some("10.0.0.5"));
        assert_eq!(host("u", "10.0.9.9", Some("10.0.9.9")), Some("10.0.%"));
        assert_eq!(host("u", "db.example.com", Some("11.0.0.1")), Some("%"));
        // The anonymous account of a more specific host comes first, as in MariaDB.
        assert_eq!(host("u", "localhost", None), Some("localhost"));
        assert_eq!(
            host("v", "192.168.1.77", Some("192.168.1.77")),
            Some("192.168.1.0/255.255.255.0")
        );
        assert_eq!(host("v", "192.168.2.77", Some("192.168.2.77")), None);
        assert_eq!(host("nobody", "10.0.0.5", Some("10.0.0.5")), None);
    }

    #[test]
    fn database_patterns() {
        let mut a = Account::new("u", "%");
        a.databases.insert("shop%".into(), PrivilegeSet::SELECT);
        a.databases.insert("shop\\_1".into(), PrivilegeSet::INSERT);
        assert_eq!(a.on_database("shop_2"), PrivilegeSet::SELECT);
        assert_eq!(a.on_database("shop_1"), PrivilegeSet::INSERT);
        assert_eq!(a.on_database("Shop_2"), PrivilegeSet::NONE);
        assert_eq!(a.on_database("other"), PrivilegeSet::NONE);
        a.tables
            .insert(("other".into(), "t".into()), PrivilegeSet::DELETE);
        assert!(a.on_table("other", "t").has(PrivilegeSet::DELETE));
        assert!(a.sees_database("other") && !a.sees_database("third"));
    }

    #[test]
    fn stored_form_round_trips() {
        let mut a = Account::new("o'brien", "%");
        a.auth = password::native_hash("x");
        a.tls = TlsNeed::Specified {
            issuer: String::new(),
            subject: "/CN=o'b\\".into(),
            cipher: Some("X".into()),
        };
        a.expired = true;
        a.password_changed = 7;
        a.lifetime = Lifetime::Days(3);
        a.global = PrivilegeSet::PROCESS.with(PrivilegeSet::GRANT_OPTION);
        a.databases
            .insert("d\\_%".into(), PrivilegeSet::ALL_DATABASE);
        a.tables
            .insert(("d".into(), "t".into()), PrivilegeSet::SELECT);
        let CatalogChange::PutObject { key, value } = a.put() else {
            panic!()
        };
        assert_eq!(key, "user/o'brien@%");
        assert_eq!(Account::from_json(&value).unwrap(), a);
        assert!(Account::from_json("{").is_none());
        assert_eq!(
            a.show_create().split_once("REQUIRE").unwrap().1,
            " SUBJECT '/CN=o''b\\\\' CIPHER 'X' PASSWORD EXPIRE"
        );
        // As older versions stored it.
        let old = r#"{"user":"u","host":"%","plugin":"mysql_native_password","auth":"","require_ssl":true}"#;
        let old = Account::from_json(old).unwrap();
        assert_eq!(
            (&old.tls, old.password_expired(1 << 40, 1)),
            (&TlsNeed::Any, false)
        );
    }

    #[test]
    fn passwords_expire() {
        let mut a = Account::new("u", "%");
        a.password_changed = 1_000_000;
        let days =
            |a: &Account, n: i64, default| a.password_expired(1_000_000 + n * 86_400 + 1, default);
        assert!(!days(&a, 1000, 0) && days(&a, 5, 5) && !days(&a, 4, 5));
        a.lifetime = Lifetime::Never;
        assert!(!days(&a, 1000, 5));
        a.lifetime = Lifetime::Days(3);
        assert!(days(&a, 3, 0) && !days(&a, 2, 1));
        assert_eq!(a.show_create_more(), None);
        a.expired = true;
        assert!(days(&a, 0, 0));
        assert_eq!(
            a.show_create_more().as_deref(),
            Some("ALTER USER `u`@`%` PASSWORD EXPIRE INTERVAL 3 DAY")
        );
    }

    #[test]
    fn needed_privileges_are_named() {
        let e = privilege_needed(PrivilegeSet::SUPER.with(PrivilegeSet::BINLOG_MONITOR));
        assert_eq!(
            &*e.message,
            "Access denied; you need (at least one of) the SUPER, BINLOG MONITOR privilege(s) for this operation"
        );
    }

    #[test]
    fn a_new_server_has_root_on_this_machine_only() {
        let a = Acl::load(&Catalog::default());
        assert!(a.find("root", "localhost", None).is_some());
        let host = |ip| {
            a.find("root", "localhost", Some(ip))
                .map(|a| a.host.as_str())
        };
        assert_eq!(
            (host("127.0.0.1"), host("::1")),
            (Some("localhost"), Some("localhost"))
        );
        assert!(a.find("root", "10.0.0.1", Some("10.0.0.1")).is_none());
        // The first change stores them all, so that dropping one is not undone by the built-in list.
        assert_eq!(a.with_built_in(vec![]).len(), 4);
    }
}
