//! SHOW.

use super::{Connection, Operand, UserName};
use crate::ast::{Limit, TableName};

/// LIKE or WHERE.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Filter {
    /// All.
    #[default]
    None,
    /// LIKE.
    Like(String),
    /// WHERE.
    Where(Operand),
}

/// SHOW BINLOG EVENTS: `[IN file] [FROM position] [LIMIT ...]`.
#[derive(Debug, Clone, PartialEq)]
pub struct EventRange {
    /// IN.
    pub file: Option<String>,
    /// FROM.
    pub from: Option<u64>,
    /// LIMIT.
    pub limit: Option<Limit>,
}

/// A kind of routine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RoutineKind {
    Procedure,
    Function,
    Package,
    PackageBody,
}

/// WARNINGS or ERRORS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarningKind {
    /// All.
    Warnings,
    /// Errors alone.
    Errors,
}

/// SHOW CREATE.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ShowCreate {
    Table(TableName),
    View(TableName),
    Sequence(TableName),
    Database {
        if_not_exists: bool,
        name: String,
    },
    /// `None` is the own account.
    User(Option<UserName>),
    Routine(RoutineKind, TableName),
    Trigger(TableName),
    Event(TableName),
}

/// SHOW.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum Show {
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
    OpenTables {
        db: Option<String>,
        filter: Filter,
    },
    Triggers {
        full: bool,
        db: Option<String>,
        filter: Filter,
    },
    Events {
        db: Option<String>,
        filter: Filter,
    },
    Columns {
        full: bool,
        table: TableName,
        filter: Filter,
    },
    Index {
        table: TableName,
        filter: Filter,
    },
    Create(ShowCreate),
    RoutineStatus(RoutineKind, Filter),
    RoutineCode(RoutineKind, TableName),
    Variables {
        global: bool,
        filter: Filter,
    },
    Status {
        global: bool,
        filter: Filter,
    },
    Warnings {
        kind: WarningKind,
        limit: Option<Limit>,
    },
    CountWarnings(WarningKind),
    ProcessList {
        full: bool,
    },
    /// `None` is nothing said.
    Grants(Option<UserName>),
    Engines,
    /// ENGINE name STATUS, MUTEX or LOGS; no name is ALL.
    Engine {
        engine: Option<String>,
        what: &'static str,
    },
    Collation(Filter),
    CharacterSet(Filter),
    /// MASTER STATUS; true: BINARY LOG STATUS, MySQL's, with a column more.
    MasterStatus(bool),
    BinaryLogs,
    BinlogEvents(EventRange),
    RelaylogEvents(Connection, EventRange),
    ReplicaStatus(Connection),
    ReplicaHosts,
    Privileges,
    Plugins,
    /// PLUGINS SONAME: of a library, or of those that match.
    PluginsSoname(Option<String>, Filter),
    Authors,
    Contributors,
    Profiles,
    /// PROFILE: its types, FOR QUERY, LIMIT.
    Profile {
        types: Vec<&'static str>,
        query: Option<u64>,
        limit: Option<Limit>,
    },
    /// A table of information_schema by its name.
    Other(String, Filter),
}
