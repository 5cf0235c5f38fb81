//! FLUSH, RESET, BACKUP and what keeps tables in order.

use super::Connection;
use crate::ast::TableName;

/// The lock behind the tables of FLUSH TABLES.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushLock {
    /// Nothing.
    None,
    /// WITH READ LOCK.
    Read,
    /// WITH READ LOCK AND DISABLE CHECKPOINT.
    ReadNoCheckpoint,
    /// FOR EXPORT.
    Export,
}

/// What FLUSH is to flush.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flush {
    /// TABLES.
    Tables {
        /// Which; empty for all.
        tables: Vec<TableName>,
        /// How they stay.
        lock: FlushLock,
    },
    /// PRIVILEGES.
    Privileges,
    /// LOGS.
    Logs,
    /// ERROR LOGS, GENERAL LOGS, SLOW LOGS.
    TextLogs(&'static str),
    /// ENGINE LOGS.
    EngineLogs,
    /// BINARY LOGS, with the domains of DELETE_DOMAIN_ID.
    BinaryLogs(Vec<u64>),
    /// RELAY LOGS.
    RelayLogs(Connection),
    /// HOSTS.
    Hosts,
    /// QUERY CACHE.
    QueryCache,
    /// STATUS.
    Status,
    /// SLAVE.
    Slave(Connection),
    /// MASTER.
    Master,
    /// Another by its name: RESOURCES, SSL, THREADS, DES_KEY_FILE, and what plugins have.
    Other(String),
}

/// What RESET is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reset {
    /// MASTER, TO a number.
    Master(Option<u64>),
    /// BINARY LOGS AND GTIDS, TO a number: MySQL's.
    BinaryLogs(Option<u64>),
    /// SLAVE.
    Slave {
        /// Which connection.
        connection: Connection,
        /// ALL: its settings too.
        all: bool,
    },
    /// QUERY CACHE.
    QueryCache,
}

/// BACKUP STAGE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BackupStage {
    Start,
    Flush,
    BlockDdl,
    BlockCommit,
    End,
}

impl BackupStage {
    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            BackupStage::Start => "START",
            BackupStage::Flush => "FLUSH",
            BackupStage::BlockDdl => "BLOCK_DDL",
            BackupStage::BlockCommit => "BLOCK_COMMIT",
            BackupStage::End => "END",
        }
    }
}

/// BACKUP: MariaDB's, and Narwal's TO and STREAM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Backup {
    /// STAGE.
    Stage(BackupStage),
    /// LOCK.
    Lock(TableName),
    /// UNLOCK.
    Unlock,
    /// MySQL's LOCK INSTANCE FOR BACKUP (true), UNLOCK INSTANCE.
    Instance(bool),
    /// TO a folder.
    To {
        /// The folder.
        folder: String,
        /// INCREMENTAL FROM.
        parent: Option<String>,
        /// NO LOG.
        no_log: bool,
        /// MAX RATE.
        max_rate: Option<u64>,
    },
    /// STREAM.
    Stream {
        /// NO LOG.
        no_log: bool,
        /// MAX RATE.
        max_rate: Option<u64>,
        /// RESUME a token AFTER so many bytes.
        resume: Option<(String, u64)>,
    },
}

/// CHECK, ANALYZE, OPTIMIZE or REPAIR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Maintenance {
    Check,
    Analyze,
    Optimize,
    Repair,
}

/// TABLE or VIEW.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TableKind {
    Table,
    View,
}

/// A word behind the tables of CHECK and REPAIR.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CheckOption {
    Quick,
    Fast,
    Medium,
    Extended,
    Changed,
    ForUpgrade,
    UseFrm,
    FromMysql,
}

/// COLUMNS or INDEXES of ANALYZE ... PERSISTENT FOR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnalyzeColumns {
    /// ALL.
    All,
    /// These; none is possible.
    Some(Vec<String>),
}

/// CHECK, ANALYZE, OPTIMIZE, REPAIR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maintain {
    /// Which.
    pub op: Maintenance,
    /// TABLE or VIEW.
    pub kind: TableKind,
    /// NO_WRITE_TO_BINLOG, LOCAL.
    pub local: bool,
    /// Tables or views.
    pub tables: Vec<TableName>,
    /// What was said behind them.
    pub options: Vec<CheckOption>,
    /// PERSISTENT FOR: columns and indexes.
    pub persistent: Option<(AnalyzeColumns, AnalyzeColumns)>,
    /// WAIT and NOWAIT.
    pub wait: Option<super::LockWait>,
}

/// PARTITION (...).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartitionList {
    /// ALL.
    All,
    /// These.
    Some(Vec<String>),
}

/// A table of CACHE INDEX and LOAD INDEX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheTable {
    /// Which.
    pub table: TableName,
    /// PARTITION.
    pub partitions: Option<PartitionList>,
    /// INDEX (...).
    pub indexes: Option<Vec<String>>,
    /// IGNORE LEAVES.
    pub ignore_leaves: bool,
}
