//! Accounts, roles and privileges.

use crate::ast::TableName;

/// An account as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserName {
    /// CURRENT_USER.
    Current,
    /// CURRENT_ROLE, where a role may stand.
    CurrentRole,
    /// `'user'@'host'`.
    Named {
        /// The name.
        user: String,
        /// The host, `%` if left out.
        host: String,
        /// No host was written: it may be a role.
        bare: bool,
    },
}

/// A role as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleName {
    /// CURRENT_ROLE.
    Current,
    /// By its name.
    Named(String),
}

/// What proves who somebody is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthSecret {
    /// Nothing said.
    None,
    /// USING 'hash', AS 'hash', BY PASSWORD 'hash'.
    Hash(String),
    /// BY 'password', USING PASSWORD('password').
    Password(String),
}

/// VIA plugin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthMethod {
    /// The plugin.
    pub plugin: String,
    /// What it is given.
    pub secret: AuthSecret,
}

/// IDENTIFIED.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Auth {
    /// BY 'password'.
    Password(String),
    /// BY PASSWORD 'hash'.
    Hash(String),
    /// VIA: one of these will do.
    Methods(Vec<AuthMethod>),
}

/// An account with what is said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserSpec {
    /// Who.
    pub name: UserName,
    /// IDENTIFIED.
    pub auth: Option<Auth>,
}

/// REQUIRE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Require {
    /// NONE.
    None,
    /// SSL.
    Ssl,
    /// X509.
    X509,
    /// What the certificate must say.
    Specified {
        /// ISSUER.
        issuer: Option<String>,
        /// SUBJECT.
        subject: Option<String>,
        /// CIPHER.
        cipher: Option<String>,
    },
}

/// A resource that WITH limits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ResourceLimit {
    QueriesPerHour(u64),
    UpdatesPerHour(u64),
    ConnectionsPerHour(u64),
    UserConnections(i64),
    /// Seconds, as written.
    StatementTime(String),
}

/// What follows PASSWORD EXPIRE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expire {
    /// Nothing: at once.
    Now,
    /// DEFAULT.
    Default,
    /// NEVER.
    Never,
    /// INTERVAL n DAY.
    Days(u64),
}

/// What follows the accounts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountOptions {
    /// REQUIRE.
    pub require: Option<Require>,
    /// WITH.
    pub limits: Vec<ResourceLimit>,
    /// ACCOUNT LOCK (true) or UNLOCK.
    pub lock: Option<bool>,
    /// PASSWORD EXPIRE.
    pub expire: Option<Expire>,
}

/// A privilege by its words (`REPLICATION CLIENT`), in upper case, and its columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Privilege {
    /// Its name.
    pub name: &'static str,
    /// Columns that it is for; empty for all.
    pub columns: Vec<String>,
}

/// What is granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrivilegeList {
    /// ALL.
    All,
    /// These.
    Some(Vec<Privilege>),
}

/// What kind of thing a privilege is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum GrantObject {
    Table,
    Function,
    Procedure,
    Package,
    PackageBody,
}

/// What a privilege is on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantLevel {
    /// `*.*`
    Global,
    /// `db.*`, or `*` (the default database).
    Database(Option<String>),
    /// One thing.
    Object(TableName),
}

/// GRANT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grant {
    /// Of privileges.
    Privileges {
        /// Which.
        privileges: PrivilegeList,
        /// What kind of thing they are on.
        object: GrantObject,
        /// On what.
        level: GrantLevel,
        /// To whom.
        users: Vec<UserSpec>,
        /// What is said of them.
        options: AccountOptions,
        /// WITH GRANT OPTION.
        grant_option: bool,
    },
    /// PROXY.
    Proxy {
        /// On whom.
        of: UserName,
        /// To whom.
        users: Vec<UserSpec>,
        /// WITH GRANT OPTION.
        grant_option: bool,
    },
    /// Of a role.
    Role {
        /// Which; several in MySQL.
        roles: Vec<RoleName>,
        /// To whom.
        users: Vec<UserSpec>,
        /// WITH ADMIN OPTION.
        admin_option: bool,
    },
}

/// REVOKE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revoke {
    /// Of privileges.
    Privileges {
        /// Which.
        privileges: PrivilegeList,
        /// What kind of thing they are on.
        object: GrantObject,
        /// On what.
        level: GrantLevel,
        /// From whom.
        users: Vec<UserName>,
    },
    /// ALL PRIVILEGES, GRANT OPTION.
    Everything(Vec<UserName>),
    /// PROXY.
    Proxy {
        /// On whom.
        of: UserName,
        /// From whom.
        users: Vec<UserName>,
    },
    /// Of a role.
    Role {
        /// Which; several in MySQL.
        roles: Vec<RoleName>,
        /// From whom.
        users: Vec<UserName>,
        /// ADMIN OPTION FOR.
        admin_option: bool,
    },
}
