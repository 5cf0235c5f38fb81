//! Administrative and control statements: everything that narwal-sql does not run.

use crate::acl::{Lifetime, RoutineKind, TlsNeed};
use crate::privileges::PrivilegeSet;
use crate::replica::{ChangeMaster, StartWhat, Threads};
pub(crate) use crate::show::filter::Filter;
use crate::words::ExplainConnection;
use crate::words::{
    BackupLock, BackupWords, PluginWords, ServerStatement, SqlPrepared, XaStatement,
};
use narwal_engine::{Isolation, TableDef};
pub(crate) use narwal_syntax::ast::TableName as TableRef;
use narwal_syntax::ast::admin::BinlogText;
pub(crate) use narwal_syntax::ast::admin::{Operand, Scope as SetScope, SetItem, SetValue};
pub(crate) use narwal_syntax::ast::admin::{ResourceLimit, RoleName};
use narwal_types::face::is_mysql;

/// What KILL is to end.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum KillTarget {
    /// A connection, or what it runs.
    Connection(Operand),
    /// The statement with this number.
    QueryId(Operand),
    /// All connections of a user.
    User(UserName),
}

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
    /// The same where `mysql_old_password` is asked for: SET PASSWORD = OLD_PASSWORD('password').
    OldPassword(String),
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
    /// What statements call it.
    pub alias: Option<String>,
    /// WRITE, not READ.
    pub write: bool,
    /// WRITE CONCURRENT: others may read and write, too.
    pub shared: bool,
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
    /// SHOW ENGINE; no name is ALL.
    Engine {
        engine: Option<String>,
        /// STATUS, not MUTEX or LOGS.
        status: bool,
    },
    Collation(Filter),
    CharacterSet(Filter),
    /// True: MySQL's SHOW BINARY LOG STATUS.
    MasterStatus(bool),
    BinaryLogs,
    BinlogEvents(EventRange),
    ReplicaStatus(Target),
    ReplicaHosts,
    Privileges,
    Plugins,
    /// SHOW CREATE PROCEDURE, FUNCTION, PACKAGE and PACKAGE BODY.
    CreateRoutine(RoutineKind, TableRef),
    CreateTrigger(TableRef),
    CreateEvent(TableRef),
    Events {
        db: Option<String>,
        filter: Filter,
    },
    /// SHOW PROCEDURE STATUS and so on.
    RoutineStatus(RoutineKind, Filter),
    Triggers {
        db: Option<String>,
        filter: Filter,
    },
    /// SHOW PACKAGE STATUS, OPEN TABLES: Narwal has none, the list is empty.
    Empty(&'static [&'static str]),
    /// What Narwal does not count, by the name of a table of `information_schema`: the list is empty.
    Uncounted(&'static str),
}

impl Show {
    fn counter(&self) -> &'static str {
        match self {
            Self::Databases(_) => "Com_show_databases",
            Self::Tables { .. } => "Com_show_tables",
            Self::TableStatus { .. } => "Com_show_table_status",
            Self::Columns { .. } => "Com_show_fields",
            Self::Index { .. } => "Com_show_keys",
            Self::CreateTable(_) | Self::CreateView(_) | Self::CreateSequence(_) => {
                "Com_show_create_table"
            }
            Self::CreateDatabase { .. } => "Com_show_create_db",
            Self::CreateUser(_) => "Com_show_create_user",
            Self::Variables { .. } => "Com_show_variables",
            Self::Status { .. } => "Com_show_status",
            Self::Warnings { errors: true, .. } => "Com_show_errors",
            Self::Warnings { .. } | Self::CountWarnings { .. } => "Com_show_warnings",
            Self::ProcessList { .. } => "Com_show_processlist",
            Self::Grants(_) => "Com_show_grants",
            Self::Engines => "Com_show_storage_engines",
            Self::Engine { status: true, .. } => "Com_show_engine_status",
            Self::Engine { .. } => "Com_show_engine_mutex",
            Self::Collation(_) => "Com_show_collations",
            Self::CharacterSet(_) => "Com_show_charsets",
            Self::MasterStatus(_) => "Com_show_binlog_status",
            Self::BinaryLogs => "Com_show_binlogs",
            Self::BinlogEvents(_) => "Com_show_binlog_events",
            Self::ReplicaStatus(_) => "Com_show_slave_status",
            Self::ReplicaHosts => "Com_show_slave_hosts",
            Self::Privileges => "Com_show_privileges",
            Self::Plugins => "Com_show_plugins",
            Self::CreateRoutine(RoutineKind::Function, _) => "Com_show_create_func",
            Self::CreateRoutine(RoutineKind::Procedure, _) => "Com_show_create_proc",
            Self::CreateRoutine(RoutineKind::Package, _) => "Com_show_create_package",
            Self::CreateRoutine(RoutineKind::PackageBody, _) => "Com_show_create_package_body",
            Self::CreateTrigger(_) => "Com_show_create_trigger",
            Self::CreateEvent(_) => "Com_show_create_event",
            Self::Events { .. } => "Com_show_events",
            Self::RoutineStatus(RoutineKind::Function, _) => "Com_show_function_status",
            Self::RoutineStatus(RoutineKind::Procedure, _) => "Com_show_procedure_status",
            Self::RoutineStatus(RoutineKind::Package, _) => "Com_show_package_status",
            Self::RoutineStatus(RoutineKind::PackageBody, _) => "Com_show_package_body_status",
            Self::Triggers { .. } => "Com_show_triggers",
            Self::Empty(_) | Self::Uncounted(_) => "Com_show_generic",
        }
    }
}

/// CHECK, ANALYZE, OPTIMIZE, REPAIR TABLE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maintenance {
    Check,
    Analyze,
    Optimize,
    Repair,
    /// CACHE INDEX.
    AssignToKeycache,
    /// LOAD INDEX INTO CACHE.
    PreloadKeys,
}

/// What FLUSH is to flush.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Flush {
    Privileges,
    /// FLUSH TABLES, with the tables named.
    Tables(Vec<TableRef>),
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
        roles: Vec<RoleName>,
        users: Vec<UserSpec>,
        admin_option: bool,
    },
    Revoke {
        roles: Vec<RoleName>,
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

/// The statements of a session's transaction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TransactionStatement {
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
    /// SET TRANSACTION.
    Set {
        scope: SetScope,
        isolation: Option<Isolation>,
        /// As written, for `tx_isolation`: READ UNCOMMITTED is kept apart from READ COMMITTED.
        isolation_name: Option<&'static str>,
        read_only: Option<bool>,
    },
}

impl TransactionStatement {
    fn counter(&self) -> &'static str {
        match self {
            Self::Begin { .. } => "Com_begin",
            Self::Commit { .. } => "Com_commit",
            Self::Rollback { .. } => "Com_rollback",
            Self::Savepoint(_) => "Com_savepoint",
            Self::RollbackTo(_) => "Com_rollback_to_savepoint",
            Self::ReleaseSavepoint(_) => "Com_release_savepoint",
            Self::Set { .. } => "Com_set_option",
        }
    }
}

/// What SET PASSWORD sets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum GivenPassword {
    /// The stored form itself.
    Hash(String),
    /// PASSWORD('...').
    Plain(String),
    /// OLD_PASSWORD('...').
    PlainOld(String),
}

/// The statements of accounts and privileges.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum AccountStatement {
    SetPassword {
        user: UserName,
        password: GivenPassword,
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
    /// GRANT PROXY ON of TO users, REVOKE PROXY ON of FROM users.
    Proxy {
        of: UserName,
        users: Vec<UserSpec>,
        /// `None` is REVOKE, true WITH GRANT OPTION.
        grant: Option<bool>,
    },
}

impl AccountStatement {
    fn counter(&self) -> &'static str {
        match self {
            Self::SetPassword { .. } => "Com_set_option",
            Self::CreateUser { .. } => "Com_create_user",
            Self::AlterUser { .. } => "Com_alter_user",
            Self::DropUser { .. } => "Com_drop_user",
            Self::RenameUser(_) => "Com_rename_user",
            Self::Grant { .. } | Self::Proxy { grant: Some(_), .. } => "Com_grant",
            Self::Revoke { .. } | Self::Proxy { .. } => "Com_revoke",
            Self::RevokeEverything(_) => "Com_revoke_all",
            Self::Role(r) => r.counter(),
        }
    }

    /// Whether it changes accounts or privileges. SET ROLE changes the session alone.
    pub(crate) fn changes_accounts(&self) -> bool {
        !matches!(self, Self::Role(RoleStatement::Set(_)))
    }
}

/// The statements of the binary log.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BinlogStatement {
    /// PURGE BINARY LOGS TO.
    PurgeTo(String),
    /// PURGE BINARY LOGS BEFORE.
    PurgeBefore(Operand),
    /// RESET MASTER [TO n].
    Reset {
        first: Option<u64>,
        /// MySQL's RESET BINARY LOGS AND GTIDS: what was applied of sources is forgotten too.
        gtids: bool,
    },
    /// FLASHBACK BINARY LOGS GTIDS: the list.
    Flashback(String),
    /// BINLOG: events.
    Replay(BinlogText),
}

impl BinlogStatement {
    fn counter(&self) -> &'static str {
        match self {
            Self::PurgeTo(_) => "Com_purge",
            Self::PurgeBefore(_) => "Com_purge_before_date",
            Self::Reset { .. } | Self::Flashback(_) => "Com_reset",
            Self::Replay(_) => "Com_binlog",
        }
    }
}

/// The statements of a replica.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ReplicaStatement {
    /// CHANGE MASTER TO.
    ChangeMaster {
        target: Target,
        change: Box<ChangeMaster>,
    },
    /// START SLAVE, START ALL SLAVES.
    Start { target: Target, what: StartWhat },
    /// STOP SLAVE, STOP ALL SLAVES.
    Stop { target: Target, threads: Threads },
    /// RESET SLAVE.
    Reset { target: Target, all: bool },
}

impl ReplicaStatement {
    fn counter(&self) -> &'static str {
        let of_all = |t: &Target| *t == Target::All;
        match self {
            Self::ChangeMaster { .. } => "Com_change_master",
            Self::Start { target, .. } if of_all(target) => "Com_start_all_slaves",
            Self::Start { .. } => "Com_start_slave",
            Self::Stop { target, .. } if of_all(target) => "Com_stop_all_slaves",
            Self::Stop { .. } => "Com_stop_slave",
            Self::Reset { .. } => "Com_reset",
        }
    }
}

/// An administrative statement, by the part of the session that runs it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Admin {
    Transaction(TransactionStatement),
    Xa(XaStatement),
    Set(Vec<SetItem>),
    Use(String),
    Show(Show),
    Describe {
        table: TableRef,
        like: Option<String>,
    },
    /// SHOW EXPLAIN, SHOW ANALYZE, EXPLAIN FOR CONNECTION.
    ExplainConnection(ExplainConnection),
    Account(AccountStatement),
    Kill {
        query: bool,
        target: KillTarget,
    },
    Flush(Vec<Flush>),
    Maintain {
        op: Maintenance,
        /// PERSISTENT FOR.
        persistent: Option<Persistent>,
        tables: Vec<TableRef>,
    },
    /// CACHE INDEX.
    CacheIndex {
        cache: String,
        tables: Vec<TableRef>,
    },
    Binlog(BinlogStatement),
    Replica(ReplicaStatement),
    /// BACKUP TO, BACKUP STREAM.
    Backup(BackupWords),
    /// BACKUP STAGE, BACKUP LOCK and their kind.
    BackupLock(BackupLock),
    /// LOCK TABLES.
    LockTables(Vec<TableLock>),
    /// UNLOCK TABLES.
    UnlockTables,
    /// HANDLER ... OPEN.
    HandlerOpen {
        table: TableRef,
        alias: Option<String>,
    },
    /// HANDLER ... CLOSE.
    HandlerClose(String),
    /// PREPARE, EXECUTE, DEALLOCATE PREPARE.
    Prepared(SqlPrepared),
    /// INSTALL, UNINSTALL.
    Plugin(PluginWords),
    /// CREATE, ALTER and DROP SERVER.
    Server(ServerStatement),
    /// SHUTDOWN.
    Shutdown,
}

/// What PERSISTENT FOR names; `None` for all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Persistent {
    pub(crate) columns: Option<Vec<String>>,
    pub(crate) indexes: Option<Vec<String>>,
}

/// The places of names in a list, or of all; `None` if one is not there.
fn places<'a>(
    names: Option<&Vec<String>>,
    list: impl ExactSizeIterator<Item = &'a str> + Clone,
) -> Option<Vec<usize>> {
    match names {
        None => Some((0..list.len()).collect()),
        Some(names) => names
            .iter()
            .map(|n| list.clone().position(|l| l.eq_ignore_ascii_case(n)))
            .collect(),
    }
}

impl Persistent {
    pub(crate) fn all_columns(&self) -> bool {
        self.columns.is_none()
    }

    /// The columns that are meant; `None` if one of them is not there.
    pub(crate) fn columns_of(&self, table: &TableDef) -> Option<Vec<usize>> {
        places(
            self.columns.as_ref(),
            table.columns.iter().map(|c| c.name.as_str()),
        )
    }

    /// The indexes that are meant; `None` if one of them is not there.
    pub(crate) fn indexes_of(&self, table: &TableDef) -> Option<Vec<usize>> {
        places(
            self.indexes.as_ref(),
            table.indexes.iter().map(|i| i.name.as_str()),
        )
    }
}

/// The columns of HELP, which finds nothing: there are no help texts.
pub(crate) const HELP: &[&str] = &["name", "is_it_category"];

impl Admin {
    /// The status counter of the statement.
    pub(crate) fn counter(&self) -> &'static str {
        match self {
            Admin::Transaction(t) => t.counter(),
            Admin::Xa(x) => x.counter(),
            Admin::Set(_) => "Com_set_option",
            Admin::Use(_) => "Com_change_db",
            Admin::Show(s) => s.counter(),
            Admin::Describe { .. } => "Com_show_fields",
            Admin::ExplainConnection(_) => "Com_show_explain",
            Admin::Account(a) => a.counter(),
            Admin::Kill { .. } => "Com_kill",
            Admin::Flush(_) => "Com_flush",
            Admin::Maintain { op, .. } => match op {
                Maintenance::Check => "Com_check",
                Maintenance::Analyze => "Com_analyze",
                Maintenance::Optimize => "Com_optimize",
                Maintenance::Repair => "Com_repair",
                Maintenance::AssignToKeycache => "Com_assign_to_keycache",
                Maintenance::PreloadKeys => "Com_preload_keys",
            },
            Admin::CacheIndex { .. } => "Com_assign_to_keycache",
            Admin::Binlog(b) => b.counter(),
            Admin::Replica(r) => r.counter(),
            Admin::Backup(_) | Admin::BackupLock(BackupLock::Stage(_)) => "Com_backup",
            Admin::BackupLock(BackupLock::Table(_) | BackupLock::Unlock) => "Com_backup_table",
            Admin::BackupLock(BackupLock::Instance(true)) => "Com_lock_instance",
            Admin::BackupLock(BackupLock::Instance(false)) => "Com_unlock_instance",
            Admin::LockTables(_) => "Com_lock_tables",
            Admin::UnlockTables => "Com_unlock_tables",
            Admin::HandlerOpen { .. } => "Com_ha_open",
            Admin::HandlerClose(_) => "Com_ha_close",
            Admin::Prepared(p) => p.counter(),
            Admin::Plugin(PluginWords::Install { .. }) => "Com_install_plugin",
            Admin::Plugin(_) => "Com_uninstall_plugin",
            Admin::Server(s) => s.counter(),
            Admin::Shutdown => "Com_shutdown",
        }
    }

    /// True for statements that commit the transaction first, as MariaDB's do.
    pub(crate) fn commits_implicitly(&self) -> bool {
        match self {
            Admin::Transaction(t) => matches!(t, TransactionStatement::Begin { .. }),
            Admin::Account(a) => a.changes_accounts(),
            Admin::Binlog(b) => {
                matches!(
                    b,
                    BinlogStatement::Reset { .. } | BinlogStatement::Flashback(_)
                )
            }
            Admin::Replica(r) => matches!(r, ReplicaStatement::Reset { .. }),
            Admin::BackupLock(b) => matches!(b, BackupLock::Stage(_) | BackupLock::Table(_)),
            Admin::Maintain { op, .. } => !matches!(op, Maintenance::PreloadKeys),
            Admin::Flush(_) | Admin::LockTables(_) | Admin::Plugin(_) | Admin::Server(_) => true,
            _ => false,
        }
    }

    /// True for statements that are logged, or are in MySQL: under `gtid_next` they have a name.
    pub(crate) fn is_logged(&self) -> bool {
        match self {
            Admin::Transaction(_) => false,
            Admin::Binlog(b) => matches!(b, BinlogStatement::Replay(_)),
            _ => self.commits_implicitly(),
        }
    }

    /// True for the statements that read the diagnostics area and so must not clear it.
    pub(crate) fn reads_diagnostics(&self) -> bool {
        matches!(
            self,
            Admin::Show(Show::Warnings { .. } | Show::CountWarnings { .. })
        )
    }

    /// True for statements whose rows are no SELECT's: FOUND_ROWS() stays as it is.
    pub(crate) fn leaves_found_rows(&self) -> bool {
        let of_no_select = |s: &Show| {
            matches!(
                s,
                Show::CreateTable(_)
                    | Show::CreateView(_)
                    | Show::CreateSequence(_)
                    | Show::CreateDatabase { .. }
                    | Show::CreateUser(_)
                    | Show::CreateRoutine(..)
                    | Show::CreateTrigger(_)
                    | Show::CreateEvent(_)
                    | Show::Grants(_)
                    | Show::ProcessList { .. }
                    | Show::MasterStatus(_)
                    | Show::BinaryLogs
                    | Show::BinlogEvents(_)
                    | Show::ReplicaStatus(_)
                    | Show::ReplicaHosts
                    | Show::Privileges
            )
        };
        self.reads_diagnostics()
            || match self {
                Admin::Maintain { .. } => true,
                Admin::Show(s) => of_no_select(s),
                _ => false,
            }
    }

    /// True for statements that leave the conditions of the statement before unless they have some of their own: those
    /// that open no table.
    pub(crate) fn keeps_diagnostics(&self) -> bool {
        // In MySQL every statement begins with none.
        !is_mysql()
            && matches!(
                self,
                Admin::Transaction(_)
                    | Admin::Set(_)
                    | Admin::Use(_)
                    | Admin::Account(_)
                    | Admin::Flush(_)
                    | Admin::UnlockTables
                    | Admin::Xa(_)
                    | Admin::Show(
                        Show::ProcessList { .. }
                            | Show::Grants(_)
                            | Show::MasterStatus(_)
                            | Show::Empty(HELP)
                    )
            )
    }
}
