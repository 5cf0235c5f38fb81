//! Locks on tables, HANDLER and XA.

use super::{Operand, Using};
use crate::ast::{Limit, TableName};

/// How a table is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockKind {
    /// READ.
    Read,
    /// READ LOCAL.
    ReadLocal,
    /// WRITE.
    Write,
    /// WRITE CONCURRENT.
    WriteConcurrent,
    /// LOW_PRIORITY WRITE.
    LowPriorityWrite,
}

/// A table of LOCK TABLES.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableLock {
    /// Which.
    pub table: TableName,
    /// Its alias.
    pub alias: Option<String>,
    /// How.
    pub kind: LockKind,
}

/// How long to wait for a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockWait {
    /// NOWAIT.
    No,
    /// WAIT n.
    Seconds(u64),
}

/// Where HANDLER READ goes.
#[derive(Debug, Clone, PartialEq)]
pub enum HandlerCursor {
    /// FIRST.
    First,
    /// NEXT.
    Next,
    /// PREV.
    Prev,
    /// LAST.
    Last,
    /// To a key: the comparison and the values.
    Key(&'static str, Vec<Using>),
}

/// HANDLER READ.
#[derive(Debug, Clone, PartialEq)]
pub struct HandlerRead {
    /// By an index.
    pub index: Option<String>,
    /// Which row.
    pub cursor: HandlerCursor,
    /// WHERE.
    pub where_: Option<Operand>,
    /// LIMIT.
    pub limit: Option<Limit>,
    /// Number of `?`.
    pub params: usize,
}

/// HANDLER.
#[derive(Debug, Clone, PartialEq)]
pub enum Handler {
    /// OPEN.
    Open {
        /// The table.
        table: TableName,
        /// AS.
        alias: Option<String>,
    },
    /// CLOSE.
    Close(TableName),
    /// READ.
    Read(TableName, Box<HandlerRead>),
}

/// What may stand behind the name of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XaModifier {
    /// Nothing.
    None,
    /// COMMIT ... ONE PHASE.
    OnePhase,
    /// START ... RESUME.
    Resume,
    /// START ... JOIN.
    Join,
    /// END ... SUSPEND.
    Suspend,
    /// END ... SUSPEND FOR MIGRATE.
    Migrate,
}

/// The name of an XA branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XaName {
    /// The global part.
    pub gtrid: Vec<u8>,
    /// The branch's part.
    pub bqual: Vec<u8>,
    /// The format's number.
    pub format: u32,
}

/// XA.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Xa {
    /// START, BEGIN.
    Start(XaName, XaModifier),
    /// END.
    End(XaName, XaModifier),
    /// PREPARE.
    Prepare(XaName),
    /// COMMIT.
    Commit(XaName, XaModifier),
    /// ROLLBACK.
    Rollback(XaName),
    /// RECOVER, with its FORMAT.
    Recover(Option<String>),
}
