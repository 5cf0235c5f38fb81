//! Administrative statements: everything that is neither a query, nor a change of rows, nor of the catalog.
//!
//! What stands here is what was written. Whether a server has it is decided by whoever runs the statement.

mod account;
mod lock;
mod maintain;
mod operand;
mod replication;
mod set;
mod show;

pub use account::{
    AccountOptions, Auth, AuthMethod, AuthSecret, Expire, Grant, GrantLevel, GrantObject,
    Privilege, PrivilegeList, Require, ResourceLimit, Revoke, RoleName, UserName, UserSpec,
};
pub use lock::{
    Handler, HandlerCursor, HandlerRead, LockKind, LockWait, TableLock, Xa, XaModifier, XaName,
};
pub use maintain::{
    AnalyzeColumns, Backup, BackupStage, CacheTable, CheckOption, Flush, FlushLock, Maintain,
    Maintenance, PartitionList, Reset, TableKind,
};
pub use operand::{Operand, Using};
pub use replication::{
    ChangeMaster, Connection, MasterOption, StartReplica, Threads, Until, UntilOption, UseGtid,
};
pub use set::{Isolation, Scope, Set, SetItem, SetPassword, SetTransaction, SetValue};
pub use show::{EventRange, Filter, RoutineKind, Show, ShowCreate, WarningKind};

use super::TableName;

/// How EXPLAIN and ANALYZE answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainForm {
    /// A row for each table.
    Table,
    /// EXTENDED: the same, and more columns.
    Extended,
    /// PARTITIONS: the same, and the partitions.
    Partitions,
    /// FORMAT=JSON.
    Json,
    /// ANALYZE: the statement runs, and what happened is counted.
    Analyze,
    /// ANALYZE FORMAT=JSON.
    AnalyzeJson,
}

impl ExplainForm {
    /// True if the statement runs.
    pub fn runs(self) -> bool {
        matches!(self, ExplainForm::Analyze | ExplainForm::AnalyzeJson)
    }

    /// True for an answer in JSON.
    pub fn is_json(self) -> bool {
        matches!(self, ExplainForm::Json | ExplainForm::AnalyzeJson)
    }
}

/// What a transaction's end is followed by; what was not said is `None`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Completion {
    /// AND CHAIN (true) or AND NO CHAIN.
    pub chain: Option<bool>,
    /// RELEASE (true) or NO RELEASE.
    pub release: Option<bool>,
}

/// What KILL is to end.
#[derive(Debug, Clone, PartialEq)]
pub enum KillTarget {
    /// A connection, or what it runs.
    Connection(Operand),
    /// The statement with this number.
    QueryId(Operand),
    /// All connections of a user.
    User(UserName),
}

/// KILL.
#[derive(Debug, Clone, PartialEq)]
pub struct Kill {
    /// SOFT: not in the middle of what should not be cut.
    pub soft: bool,
    /// QUERY: the connection stays.
    pub query: bool,
    /// Which.
    pub target: KillTarget,
}

/// A statement in SQL text for PREPARE and its kin.
#[derive(Debug, Clone, PartialEq)]
pub enum Prepared {
    /// PREPARE name FROM text.
    Prepare {
        /// Its name.
        name: String,
        /// Its text.
        from: Operand,
    },
    /// EXECUTE name.
    Execute {
        /// Its name.
        name: String,
        /// USING.
        using: Vec<Using>,
    },
    /// EXECUTE IMMEDIATE text.
    Immediate {
        /// Its text.
        from: Operand,
        /// USING.
        using: Vec<Using>,
    },
    /// DEALLOCATE PREPARE and DROP PREPARE.
    Deallocate(String),
}

/// INSTALL and UNINSTALL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plugin {
    /// INSTALL PLUGIN, INSTALL SONAME (no name).
    Install {
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// PLUGIN.
        name: Option<String>,
        /// SONAME.
        library: String,
    },
    /// UNINSTALL PLUGIN.
    Uninstall {
        /// IF EXISTS.
        if_exists: bool,
        /// PLUGIN.
        name: String,
    },
    /// UNINSTALL SONAME.
    UninstallLibrary {
        /// IF EXISTS.
        if_exists: bool,
        /// SONAME.
        library: String,
    },
}

/// The text of BINLOG.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BinlogText {
    /// In base64.
    Text(String),
    /// User variables with the two halves of one.
    Variables(String, String),
}

/// An administrative statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Admin {
    /// BEGIN and START TRANSACTION.
    Begin {
        /// READ ONLY (true) or READ WRITE.
        read_only: Option<bool>,
        /// WITH CONSISTENT SNAPSHOT.
        snapshot: bool,
    },
    /// COMMIT.
    Commit(Completion),
    /// ROLLBACK.
    Rollback(Completion),
    /// SAVEPOINT.
    Savepoint(String),
    /// ROLLBACK TO SAVEPOINT.
    RollbackTo(String),
    /// RELEASE SAVEPOINT.
    ReleaseSavepoint(String),
    /// XA.
    Xa(Xa),
    /// SET of variables and character sets, one after the other.
    Set(Set),
    /// SET TRANSACTION.
    SetTransaction(SetTransaction),
    /// USE.
    Use(String),
    /// SHOW.
    Show(Box<Show>),
    /// DESCRIBE of a table.
    Describe {
        /// Which.
        table: TableName,
        /// Columns like this.
        like: Option<String>,
    },
    /// EXPLAIN FOR CONNECTION, and SHOW EXPLAIN and SHOW ANALYZE.
    ExplainConnection {
        /// SHOW ANALYZE.
        analyze: bool,
        /// FORMAT=JSON.
        json: bool,
        /// Whose.
        connection: Operand,
    },
    /// LOCK TABLES.
    LockTables {
        /// Which.
        tables: Vec<TableLock>,
        /// WAIT and NOWAIT.
        wait: Option<LockWait>,
    },
    /// UNLOCK TABLES.
    UnlockTables,
    /// HANDLER.
    Handler(Box<Handler>),
    /// PREPARE, EXECUTE, EXECUTE IMMEDIATE, DEALLOCATE PREPARE.
    Prepared(Prepared),
    /// KILL.
    Kill(Kill),
    /// FLUSH.
    Flush(Vec<Flush>),
    /// RESET.
    Reset(Vec<Reset>),
    /// PURGE BINARY LOGS TO.
    PurgeTo(String),
    /// PURGE BINARY LOGS BEFORE.
    PurgeBefore(Operand),
    /// CHANGE MASTER TO.
    ChangeMaster(Box<ChangeMaster>),
    /// START SLAVE, START ALL SLAVES.
    StartReplica(StartReplica),
    /// STOP SLAVE, STOP ALL SLAVES.
    StopReplica {
        /// Which connection.
        connection: Connection,
        /// Which threads.
        threads: Threads,
    },
    /// BINLOG.
    Binlog(BinlogText),
    /// BACKUP.
    Backup(Backup),
    /// FLASHBACK BINARY LOGS GTIDS: the list. Narwal's own.
    Flashback(String),
    /// CHECK, ANALYZE, OPTIMIZE, REPAIR.
    Maintain(Maintain),
    /// CHECKSUM TABLE.
    Checksum {
        /// Which.
        tables: Vec<TableName>,
        /// EXTENDED (true) or QUICK.
        extended: Option<bool>,
    },
    /// CACHE INDEX.
    CacheIndex {
        /// What.
        tables: Vec<CacheTable>,
        /// IN; `None` is DEFAULT.
        cache: Option<String>,
    },
    /// LOAD INDEX INTO CACHE.
    LoadIndex(Vec<CacheTable>),
    /// CREATE USER.
    CreateUser {
        /// OR REPLACE.
        or_replace: bool,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// Who.
        users: Vec<UserSpec>,
        /// What holds for all of them.
        options: AccountOptions,
    },
    /// ALTER USER.
    AlterUser {
        /// IF EXISTS.
        if_exists: bool,
        /// Who.
        users: Vec<UserSpec>,
        /// What holds for all of them.
        options: AccountOptions,
    },
    /// DROP USER.
    DropUser {
        /// IF EXISTS.
        if_exists: bool,
        /// Who.
        users: Vec<UserName>,
    },
    /// RENAME USER: from, to.
    RenameUser(Vec<(UserName, UserName)>),
    /// CREATE ROLE.
    CreateRole {
        /// OR REPLACE.
        or_replace: bool,
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// Names.
        roles: Vec<RoleName>,
        /// WITH ADMIN.
        admin: Option<UserName>,
    },
    /// DROP ROLE.
    DropRole {
        /// IF EXISTS.
        if_exists: bool,
        /// Names.
        roles: Vec<RoleName>,
    },
    /// SET ROLE; `None` is NONE.
    SetRole(Option<String>),
    /// SET DEFAULT ROLE.
    SetDefaultRole {
        /// `None` is NONE.
        role: Option<String>,
        /// FOR.
        user: Option<UserName>,
    },
    /// SET PASSWORD.
    SetPassword(SetPassword),
    /// GRANT.
    Grant(Box<Grant>),
    /// REVOKE.
    Revoke(Box<Revoke>),
    /// INSTALL, UNINSTALL.
    Plugin(Plugin),
    /// HELP.
    Help(String),
    /// SHUTDOWN.
    Shutdown {
        /// WAIT FOR ALL SLAVES.
        wait: bool,
    },
}
