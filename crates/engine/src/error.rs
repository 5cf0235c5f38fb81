//! Engine errors and their MySQL numbers.

use narwal_types::SqlError;
use narwal_types::errors;
use std::io;
use std::path::PathBuf;

/// An error of the disk, named by what was being done to which file.
pub(crate) fn io_error(
    what: &str,
    path: &std::path::Path,
    e: &std::io::Error,
) -> crate::EngineError {
    let text = format!("{what} {}: {e}", path.display());
    match narwal_log::is_no_space(e) {
        true => crate::error::EngineError::DiskFull(text),
        false => crate::error::EngineError::Io(text),
    }
}

/// The result of engine calls.
pub type Result<T> = std::result::Result<T, EngineError>;

/// What can go wrong in the store, below SQL.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A unique index already holds the key. The statement may go on (IGNORE, ON DUPLICATE KEY UPDATE, REPLACE).
    #[error("duplicate key in index {index}")]
    Duplicate {
        /// Position of the index in [`crate::Table::indexes`].
        index: usize,
        /// Clustered key of the row that holds it.
        existing_pk: Vec<u8>,
    },
    /// The row changed after this transaction's snapshot (first updater wins). MySQL's 1020.
    #[error("record has changed since last read")]
    WriteConflict,
    /// A lock was not granted in time. MySQL's 1205.
    #[error("lock wait timeout exceeded")]
    LockWaitTimeout,
    /// NOWAIT and the row is locked. MariaDB reports 1205.
    #[error("lock not available")]
    LockNotAvailable,
    /// This transaction was chosen as a deadlock's victim and must be rolled back. MySQL's 1213.
    #[error("deadlock found")]
    Deadlock,
    /// KILL. MySQL's 1317.
    #[error("query execution was interrupted")]
    Interrupted,
    /// KILL CONNECTION while the commit waited for a replica: it is durable, and becomes visible like every other once
    /// it is acknowledged or the wait is given up. MariaDB's 1927.
    #[error("connection was killed while its commit waited for a replica")]
    KilledInCommit,
    /// The disk is full: nothing was changed. MySQL's 1021.
    #[error("disk full: {0}")]
    DiskFull(String),
    /// Memory budget reached and the checkpoint can't make room. MySQL's 1114.
    #[error("the store is full: {0}")]
    Full(String),
    /// The transaction outgrew `max_binlog_cache_size`. MySQL's 1197.
    #[error("transaction larger than max_binlog_cache_size ({0} bytes)")]
    TransactionTooLarge(u64),
    /// The log failed for good (write or fsync error): no commit is possible until a restart.
    #[error("the log has failed: {0}")]
    LogFailed(String),
    /// A read-only transaction or server was asked to write.
    #[error("cannot write in a read-only transaction")]
    ReadOnly,
    /// Damaged data, with place.
    #[error("corruption: {0}")]
    Corrupt(String),
    /// A page of the base is not what was written there.
    #[error("{}", damaged_text(table, index, damage))]
    Damaged {
        /// Id of the index; 0: not known, or the page is of no index.
        id: u32,
        /// Its table, `database.table`; empty: not known.
        table: String,
        /// Its name, empty for rows without a primary key.
        index: String,
        /// Where.
        damage: Box<Damage>,
    },
    /// A table or database that a catalog change names exists already or is missing.
    #[error("catalog: {0}")]
    Catalog(String),
    /// The base file or another file could not be used.
    #[error("{0}")]
    Io(String),
    /// Strict mode refuses the transaction's GTID. MariaDB's 1950.
    #[error("{0}")]
    GtidOrder(narwal_binlog::GtidError),
    /// A binary log position inside an event group.
    #[error("position {offset} of {file} is inside the event group that starts at {start}")]
    InsideGroup {
        /// Virtual file.
        file: String,
        /// The offset asked for.
        offset: u64,
        /// Where that group starts.
        start: u64,
    },
    /// A binary log position behind the end of its file.
    #[error("position {offset} of {file} is behind its end, {size}")]
    BehindFileEnd {
        /// Virtual file.
        file: String,
        /// The offset asked for.
        offset: u64,
        /// Size of the file, bytes.
        size: u64,
    },
    /// An error that already has its MySQL number.
    #[error(transparent)]
    Sql(#[from] SqlError),
}

fn damaged_text(table: &str, index: &str, damage: &Damage) -> String {
    let name = match (table, index) {
        ("", _) => "of the base".to_owned(),
        (table, "") => format!("{table}.(rows)"),
        (table, index) => format!("{table}.{index}"),
    };
    format!("Index {name} is corrupted ({damage})")
}

impl EngineError {
    /// The error as clients see it. `Duplicate` needs names and is turned into 1062 by the SQL layer.
    pub fn to_sql(&self) -> SqlError {
        match self {
            EngineError::Duplicate { .. } => errors::DUP_ENTRY.text("Duplicate entry"),
            EngineError::WriteConflict => errors::CHECKREAD.plain(),
            EngineError::LockNotAvailable if narwal_types::face::is_mysql() => {
                errors::LOCK_NOWAIT.plain()
            }
            EngineError::LockWaitTimeout | EngineError::LockNotAvailable => errors::LOCK_WAIT_TIMEOUT.plain(),
            EngineError::Deadlock => errors::LOCK_DEADLOCK.plain(),
            EngineError::Interrupted => errors::QUERY_INTERRUPTED.plain(),
            EngineError::KilledInCommit => errors::CONNECTION_KILLED.plain(),
            EngineError::DiskFull(m) => errors::DISK_FULL.text(format!("Disk full; free some space and try again ({m})")),
            EngineError::Full(m) => errors::RECORD_FILE_FULL.with([&m]),
            EngineError::TransactionTooLarge(n) => errors::TRANS_CACHE_FULL.text(format!(
                    "Multi-statement transaction required more than 'max_binlog_cache_size' ({n}) bytes of storage; increase this variable and try again"
                )),
            EngineError::LogFailed(m) => errors::BINLOG_LOGGING_IMPOSSIBLE.with([&m]),
            EngineError::ReadOnly => errors::CANT_EXECUTE_IN_READ_ONLY_TRANSACTION.plain(),
            EngineError::Corrupt(m) => errors::INDEX_CORRUPT.text(format!("Corruption found: {m}")),
            EngineError::Damaged { .. } => errors::INDEX_CORRUPT.text(self.to_string()),
            EngineError::Catalog(m) | EngineError::Io(m) => errors::UNKNOWN_ERROR.text(m.as_str()),
            // What a replica or a dump gets to see; SHOW BINLOG EVENTS makes 1220 of them.
            EngineError::InsideGroup { .. } | EngineError::BehindFileEnd { .. } => {
                errors::MASTER_FATAL_ERROR_READING_BINLOG.text(self.to_string())
            }
            EngineError::GtidOrder(g) => errors::GTID_STRICT_OUT_OF_ORDER.text(format!(
                    "The transaction can't go into the binary log as GTID {}: it would not come after {}, the last one in its domain, and gtid_strict_mode is on",
                    g.gtid, g.last
                )),
            EngineError::Sql(s) => s.clone(),
        }
    }
}

impl From<EngineError> for SqlError {
    fn from(e: EngineError) -> Self {
        e.to_sql()
    }
}

impl From<narwal_log::LogError> for EngineError {
    fn from(e: narwal_log::LogError) -> Self {
        use narwal_log::LogError;
        match e {
            LogError::NoSpace(m) => EngineError::DiskFull(m),
            LogError::RecordTooLarge { max, .. } => EngineError::Sql(errors::TRANS_CACHE_FULL.text(format!(
                    "A single change of more than {max} bytes can't be written to the log: a row (of an UPDATE both images count), a statement's text, or the rows of a transaction that are not for the binary log"
                ))),
            LogError::Failed(m) => EngineError::LogFailed(m),
            LogError::GivenUp => EngineError::Interrupted,
            LogError::Closed => EngineError::LogFailed("the database is closed".into()),
            LogError::Corrupt(c) => EngineError::Corrupt(c.to_string()),
            e => EngineError::Io(e.to_string()),
        }
    }
}

/// Error 1412.
pub(crate) fn definition_changed() -> EngineError {
    EngineError::Sql(errors::TABLE_DEF_CHANGED.plain())
}

pub(crate) fn binlog_err(e: narwal_binlog::BinlogError) -> EngineError {
    EngineError::Sql(
        errors::TRANS_CACHE_FULL.text(format!("The transaction can't be written to the log: {e}")),
    )
}

/// Bytes of the base that are not what was written there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}, offset {offset}: {what}", file.display())]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// Offset in it (of an encrypted one: in its content).
    pub offset: u64,
    /// What is wrong.
    pub what: &'static str,
}

impl Damage {
    /// The damage that an error tells of.
    pub(crate) fn of(e: &io::Error) -> Option<&Damage> {
        e.get_ref()?.downcast_ref()
    }
}

impl From<Damage> for io::Error {
    fn from(d: Damage) -> Self {
        io::Error::new(io::ErrorKind::InvalidData, d)
    }
}
