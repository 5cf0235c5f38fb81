//! Administrative and control statements: everything that narwal-sql does not run.

use crate::acl::{Lifetime, RoutineKind, TlsNeed};
use crate::privileges::PrivilegeSet;
use crate::replica::{ChangeMaster, StartWhat, Threads};
pub(crate) use crate::show::filter::Filter;
use crate::words::PluginWords;
use narwal_engine::Isolation;
pub(crate) use narwal_syntax::ast::TableName as TableRef;
pub(crate) use narwal_syntax::ast::admin::{Operand, Scope as SetScope, SetItem, SetValue};
pub(crate) use narwal_syntax::ast::admin::{ResourceLimit, RoleName};

/// An account name as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum UserName {
    /// CURRENT_USER.
    Current,
    /// CURRENT_ROLE.
    CurrentRole,
    /// SHOW GRANTS without FOR: the account with the role that is set.
    CurrentWithRole,
    /// `'user'@'host'`; the host is `%` if left out: then it may be a role.
    Named {
        user: String,
        host: String,
        bare: bool,
    },
}

/// The privileges of GRANT and REVOKE.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Privileges {
    /// On the whole thing; `None` is ALL.
    pub whole: Option<PrivilegeSet>,
    /// On columns.
    pub columns: Vec<(PrivilegeSet, Vec<String>)>,
}

/// The replication connections that a statement is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    /// No name given: `default_master_connection`.
    Default,
    Named(String),
    All,
}

/// How an account is to authenticate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AuthSpec {
    /// IDENTIFIED BY 'password'.
    Password(String),
    /// IDENTIFIED BY PASSWORD 'hash'.
    Hash(String),
    /// IDENTIFIED VIA|WITH plugin [USING|AS 'string' | BY 'password' | USING PASSWORD('password')].
    Plugin {
        plugin: String,
        hash: Option<String>,
        password: Option<String>,
    },
}

/// A user in CREATE USER, ALTER USER or GRANT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserSpec {
    pub name: UserName,
    pub auth: Option<AuthSpec>,
}

/// What follows the users in CREATE USER, ALTER USER or GRANT.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct UserOptions {
    /// REQUIRE.
    pub tls: Option<TlsNeed>,
    /// PASSWORD EXPIRE.
    pub expire: Option<Expire>,
    /// ACCOUNT LOCK (true) or UNLOCK.
    pub lock: Option<bool>,
    /// WITH: limits that change.
    pub limits: Vec<ResourceLimit>,
}

/// What follows PASSWORD EXPIRE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expire {
    /// Nothing: the password is expired.
    Now,
    /// DEFAULT, NEVER or INTERVAL.
    After(Lifetime),
}

/// ON part of GRANT and REVOKE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Level {
    /// `*.*`
    Global,
    /// `db.*`, or `*` (the default database).
    Database(Option<String>),
    /// `[db.]table`
    Table(Option<String>, String),
    /// `PROCEDURE [db.]name` and so on.
    Routine(RoutineKind, Option<String>, String),
}

/// A table of LOCK TABLES.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableLock {
    pub table: TableRef,
    /// WRITE, not READ.
    pub write: bool,
}

/// SHOW BINLOG EVENTS [IN file] [FROM position] [LIMIT ...].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EventRange {
    /// The oldest file if not given.
    pub file: Option<String>,
    pub from: u64,
    /// So many events are left out first.
    pub offset: u64,
    pub limit: u64,
}

/// SHOW statements.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Show {
    Databases(Filter),
    Tables {
        full: bool,
        db: Option<String>,
        filter: Filter,
    },
    TableStatus {
        db: Option<String>,
        filter: Filter,
    },
    Columns {
        full: bool,
        table: TableRef,
        filter: Filter,
    },
    Index {
        table: TableRef,
        filter: Filter,
    },
    CreateTable(TableRef),
    CreateView(TableRef),
    CreateSequence(TableRef),
    CreateDatabase {
        if_not_exists: bool,
        name: String,
    },
    CreateUser(UserName),
    Variables {
        global: bool,
        filter: Filter,
    },
    Status {
        global: bool,
        filter: Filter,
    },
    Warnings {
        errors: bool,
        offset: usize,
        limit: usize,
    },
    CountWarnings {
        errors: bool,
    },
    ProcessList {
        full: bool,
    },
    Grants(UserName),
    Engines,
    Collation(Filter),
    CharacterSet(Filter),
    MasterStatus,
    BinaryLogs,
    BinlogEvents(EventRange),
    ReplicaStatus(Target),
    ReplicaHosts,
    Privileges,
    Plugins,
    /// SHOW CREATE FUNCTION (true) and PROCEDURE.
    CreateRoutine(bool, TableRef),
    CreateTrigger(TableRef),
    CreateEvent(TableRef),
    Events {
        db: Option<String>,
        filter: Filter,
    },
    /// SHOW FUNCTION STATUS (true) and PROCEDURE STATUS.
    RoutineStatus(bool, Filter),
    Triggers {
        db: Option<String>,
        filter: Filter,
    },
    /// SHOW PACKAGE STATUS, OPEN TABLES: Narwal has none, the list is empty.
    Empty(&'static [&'static str]),
}

/// CHECK, ANALYZE, OPTIMIZE, REPAIR TABLE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maintenance {
    Check,
    Analyze,
    Optimize,
    Repair,
}

/// What FLUSH is to flush.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flush {
    Privileges,
    Tables,
    /// FLUSH TABLES WITH READ LOCK.
    ReadLock,
    /// FLUSH TABLES t, ... WITH READ LOCK.
    TablesReadLock(Vec<TableRef>),
    /// FLUSH LOGS.
    Logs,
    /// FLUSH ENGINE LOGS.
    EngineLogs,
    /// FLUSH BINARY LOGS, with the domains of DELETE_DOMAIN_ID as written.
    BinaryLogs(Vec<u64>),
    Status,
    /// FLUSH USER_RESOURCES.
    UserResources,
    Nothing,
}

/// The statements of roles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RoleStatement {
    Create {
        or_replace: bool,
        if_not_exists: bool,
        roles: Vec<RoleName>,
        admin: Option<UserName>,
    },
    Drop {
        if_exists: bool,
        roles: Vec<RoleName>,
    },
    Grant {
        role: RoleName,
        users: Vec<UserSpec>,
        admin_option: bool,
    },
    Revoke {
        role: RoleName,
        users: Vec<UserName>,
        /// ADMIN OPTION FOR.
        admin_option: bool,
    },
    /// SET ROLE; `None` is NONE.
    Set(Option<String>),
    SetDefault {
        role: Option<String>,
        user: Option<UserName>,
    },
}

impl RoleStatement {
    fn counter(&self) -> &'static str {
        match self {
            RoleStatement::Create { .. } => "Com_create_role",
            RoleStatement::Drop { .. } => "Com_drop_role",
            RoleStatement::Grant { .. } => "Com_grant_role",
            RoleStatement::Revoke { .. } => "Com_revoke_role",
            RoleStatement::Set(_) | RoleStatement::SetDefault { .. } => "Com_set_option",
        }
    }
}

/// An administrative statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Admin {
    Begin {
        read_only: Option<bool>,
        snapshot: bool,
    },
    Commit {
        chain: Option<bool>,
        release: Option<bool>,
    },
    Rollback {
        chain: Option<bool>,
        release: Option<bool>,
    },
    Savepoint(String),
    RollbackTo(String),
    ReleaseSavepoint(String),
    SetTransaction {
        scope: SetScope,
        isolation: Option<Isolation>,
        /// As written, for `tx_isolation`: READ UNCOMMITTED is kept apart from READ COMMITTED.
        isolation_name: Option<&'static str>,
        read_only: Option<bool>,
    },
    Set(Vec<SetItem>),
    SetPassword {
        user: UserName,
        /// The stored hash, or `Err(plain text)` for PASSWORD('...').
        password: Result<String, String>,
    },
    Use(String),
    Show(Show),
    Describe {
        table: TableRef,
        like: Option<String>,
    },
    CreateUser {
        or_replace: bool,
        if_not_exists: bool,
        users: Vec<UserSpec>,
        options: UserOptions,
    },
    AlterUser {
        if_exists: bool,
        users: Vec<UserSpec>,
        options: UserOptions,
    },
    DropUser {
        if_exists: bool,
        users: Vec<UserName>,
    },
    RenameUser(Vec<(UserName, UserName)>),
    Grant {
        privileges: Privileges,
        level: Level,
        users: Vec<UserSpec>,
        options: UserOptions,
        grant_option: bool,
    },
    Revoke {
        privileges: Privileges,
        level: Level,
        users: Vec<UserName>,
    },
    /// REVOKE ALL PRIVILEGES, GRANT OPTION FROM ...
    RevokeEverything(Vec<UserName>),
    /// Of roles.
    Role(RoleStatement),
    /// GRANT PROXY ON of TO users: `None`; REVOKE: the option is for GRANT only.
    Proxy {
        of: UserName,
        users: Vec<UserSpec>,
        /// `None` is REVOKE, true WITH GRANT OPTION.
        grant: Option<bool>,
    },
    Kill {
        query: bool,
        id: Operand,
    },
    Flush(Vec<Flush>),
    Maintain {
        op: Maintenance,
        /// PERSISTENT FOR.
        persistent: bool,
        tables: Vec<TableRef>,
    },
    /// PURGE BINARY LOGS TO.
    PurgeTo(String),
    /// PURGE BINARY LOGS BEFORE.
    PurgeBefore(Operand),
    /// RESET MASTER [TO n].
    ResetMaster(Option<u64>),
    /// CHANGE MASTER TO.
    ChangeMaster {
        target: Target,
        change: Box<ChangeMaster>,
    },
    /// START SLAVE, START ALL SLAVES.
    StartReplica {
        target: Target,
        what: StartWhat,
    },
    /// STOP SLAVE, STOP ALL SLAVES.
    StopReplica {
        target: Target,
        threads: Threads,
    },
    /// RESET SLAVE.
    ResetReplica {
        target: Target,
        all: bool,
    },
    /// FLASHBACK BINARY LOGS GTIDS: the list.
    Flashback(String),
    /// BACKUP TO, BACKUP STREAM.
    Backup(crate::words::BackupWords),
    /// LOCK TABLES.
    LockTables(Vec<TableLock>),
    /// UNLOCK TABLES.
    UnlockTables,
    /// PREPARE, EXECUTE, DEALLOCATE PREPARE.
    Prepared(crate::words::SqlPrepared),
    /// INSTALL, UNINSTALL.
    Plugin(PluginWords),
    /// SHUTDOWN.
    Shutdown,
    /// XA.
    Xa(crate::words::XaStatement),
}

impl Admin {
    /// The status counter of the statement.
    pub(crate) fn counter(&self) -> &'static str {
        match self {
            Admin::Begin { .. } => "Com_begin",
            Admin::Commit { .. } => "Com_commit",
            Admin::Rollback { .. } => "Com_rollback",
            Admin::Savepoint(_) => "Com_savepoint",
            Admin::RollbackTo(_) => "Com_rollback_to_savepoint",
            Admin::ReleaseSavepoint(_) => "Com_release_savepoint",
            Admin::SetTransaction { .. } | Admin::Set(_) | Admin::SetPassword { .. } => {
                "Com_set_option"
            }
            Admin::Use(_) => "Com_change_db",
            Admin::Show(s) => match s {
                Show::Databases(_) => "Com_show_databases",
                Show::Tables { .. } => "Com_show_tables",
                Show::TableStatus { .. } => "Com_show_table_status",
                Show::Columns { .. } => "Com_show_fields",
                Show::Index { .. } => "Com_show_keys",
                Show::CreateTable(_) | Show::CreateView(_) | Show::CreateSequence(_) => {
                    "Com_show_create_table"
                }
                Show::CreateDatabase { .. } => "Com_show_create_db",
                Show::CreateUser(_) => "Com_show_create_user",
                Show::Variables { .. } => "Com_show_variables",
                Show::Status { .. } => "Com_show_status",
                Show::Warnings { errors: true, .. } => "Com_show_errors",
                Show::Warnings { .. } | Show::CountWarnings { .. } => "Com_show_warnings",
                Show::ProcessList { .. } => "Com_show_processlist",
                Show::Grants(_) => "Com_show_grants",
                Show::Engines => "Com_show_storage_engines",
                Show::Collation(_) => "Com_show_collations",
                Show::CharacterSet(_) => "Com_show_charsets",
                Show::MasterStatus => "Com_show_binlog_status",
                Show::BinaryLogs => "Com_show_binlogs",
                Show::BinlogEvents(_) => "Com_show_binlog_events",
                Show::ReplicaStatus(_) => "Com_show_slave_status",
                Show::ReplicaHosts => "Com_show_slave_hosts",
                Show::Privileges => "Com_show_privileges",
                Show::Plugins => "Com_show_plugins",
                Show::CreateRoutine(true, _) => "Com_show_create_func",
                Show::CreateRoutine(false, _) => "Com_show_create_proc",
                Show::CreateTrigger(_) => "Com_show_create_trigger",
                Show::CreateEvent(_) => "Com_show_create_event",
                Show::Events { .. } => "Com_show_events",
                Show::RoutineStatus(true, _) => "Com_show_function_status",
                Show::RoutineStatus(false, _) => "Com_show_procedure_status",
                Show::Triggers { .. } => "Com_show_triggers",
                Show::Empty(_) => "Com_show_generic",
            },
            Admin::Describe { .. } => "Com_show_fields",
            Admin::CreateUser { .. } => "Com_create_user",
            Admin::AlterUser { .. } => "Com_alter_user",
            Admin::DropUser { .. } => "Com_drop_user",
            Admin::RenameUser(_) => "Com_rename_user",
            Admin::Grant { .. } => "Com_grant",
            Admin::Revoke { .. } => "Com_revoke",
            Admin::RevokeEverything(_) => "Com_revoke_all",
            Admin::Role(r) => r.counter(),
            Admin::Proxy { grant: Some(_), .. } => "Com_grant",
            Admin::Proxy { .. } => "Com_revoke",
            Admin::Kill { .. } => "Com_kill",
            Admin::Flush(_) => "Com_flush",
            Admin::Maintain { op, .. } => match op {
                Maintenance::Check => "Com_check",
                Maintenance::Analyze => "Com_analyze",
                Maintenance::Optimize => "Com_optimize",
                Maintenance::Repair => "Com_repair",
            },
            Admin::PurgeTo(_) => "Com_purge",
            Admin::PurgeBefore(_) => "Com_purge_before_date",
            Admin::ResetMaster(_) | Admin::ResetReplica { .. } | Admin::Flashback(_) => "Com_reset",
            Admin::ChangeMaster { .. } => "Com_change_master",
            Admin::StartReplica {
                target: Target::All,
                ..
            } => "Com_start_all_slaves",
            Admin::StartReplica { .. } => "Com_start_slave",
            Admin::StopReplica {
                target: Target::All,
                ..
            } => "Com_stop_all_slaves",
            Admin::StopReplica { .. } => "Com_stop_slave",
            Admin::Backup(_) => "Com_backup",
            Admin::LockTables(_) => "Com_lock_tables",
            Admin::UnlockTables => "Com_unlock_tables",
            Admin::Prepared(p) => p.counter(),
            Admin::Plugin(PluginWords::Install { .. }) => "Com_install_plugin",
            Admin::Plugin(_) => "Com_uninstall_plugin",
            Admin::Shutdown => "Com_shutdown",
            Admin::Xa(statement) => statement.counter(),
        }
    }

    /// True for statements that commit the transaction first, as MariaDB's do.
    pub(crate) fn commits_implicitly(&self) -> bool {
        if let Admin::Role(r) = self {
            return !matches!(r, RoleStatement::Set(_));
        }
        matches!(
            self,
            Admin::Begin { .. }
                | Admin::CreateUser { .. }
                | Admin::AlterUser { .. }
                | Admin::DropUser { .. }
                | Admin::RenameUser(_)
                | Admin::Grant { .. }
                | Admin::Revoke { .. }
                | Admin::RevokeEverything(_)
                | Admin::Proxy { .. }
                | Admin::SetPassword { .. }
                | Admin::Flush(_)
                | Admin::LockTables(_)
                | Admin::ResetMaster(_)
                | Admin::ResetReplica { .. }
                | Admin::Flashback(_)
                | Admin::Maintain { .. }
                | Admin::Plugin(_)
        )
    }

    /// True for statements that change accounts or privileges.
    pub(crate) fn changes_accounts(&self) -> bool {
        if let Admin::Role(r) = self {
            return !matches!(r, RoleStatement::Set(_));
        }
        matches!(
            self,
            Admin::CreateUser { .. }
                | Admin::AlterUser { .. }
                | Admin::DropUser { .. }
                | Admin::RenameUser(_)
                | Admin::Grant { .. }
                | Admin::Revoke { .. }
                | Admin::RevokeEverything(_)
                | Admin::Proxy { .. }
                | Admin::SetPassword { .. }
        )
    }

    /// True for the statements that read the diagnostics area and so must not clear it.
    pub(crate) fn keeps_diagnostics(&self) -> bool {
        matches!(
            self,
            Admin::Show(Show::Warnings { .. } | Show::CountWarnings { .. })
        )
    }
}
