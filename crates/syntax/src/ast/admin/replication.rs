//! CHANGE MASTER, START SLAVE and STOP SLAVE.

/// The replication connections that a statement is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    /// No name given: `default_master_connection`.
    Default,
    /// By name.
    Named(String),
    /// ALL.
    All,
    /// A name in both places where one may stand, which is refused.
    Twice(String, String),
}

/// The threads that a statement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threads {
    /// IO_THREAD.
    pub io: bool,
    /// SQL_THREAD.
    pub sql: bool,
}

/// MASTER_USE_GTID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum UseGtid {
    No,
    SlavePos,
    CurrentPos,
}

/// What CHANGE MASTER sets, in the order of the text.
#[derive(Debug, Clone, PartialEq)]
pub enum MasterOption {
    /// An option with a text: its name in upper case.
    Text(&'static str, String),
    /// An option with a number; what is too large is the largest.
    Number(&'static str, u64),
    /// MASTER_HEARTBEAT_PERIOD, as written.
    Heartbeat(String),
    /// MASTER_USE_GTID.
    UseGtid(UseGtid),
    /// An option with a list of numbers.
    Ids(&'static str, Vec<u64>),
}

/// CHANGE MASTER TO.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeMaster {
    /// Which connection.
    pub connection: Connection,
    /// What is set.
    pub options: Vec<MasterOption>,
}

/// A part of UNTIL.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum UntilOption {
    MasterLogFile(String),
    MasterLogPos(u64),
    RelayLogFile(String),
    RelayLogPos(u64),
}

/// UNTIL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Until {
    /// MASTER_GTID_POS: the list.
    Gtid(String),
    /// MySQL's SQL_BEFORE_GTIDS: the set.
    BeforeGtids(String),
    /// MySQL's SQL_AFTER_GTIDS: the set.
    AfterGtids(String),
    /// Places in files.
    Position(Vec<UntilOption>),
}

/// START SLAVE, START ALL SLAVES.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartReplica {
    /// Which connection.
    pub connection: Connection,
    /// Which threads.
    pub threads: Threads,
    /// UNTIL.
    pub until: Option<Until>,
}
