//! Sequences.

use super::{Creation, TableName, TableOption};

/// An option of a sequence. Numbers are kept as their digits: whether they fit is the consumer's business.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SequenceOption {
    /// START WITH.
    Start(i64),
    /// INCREMENT BY.
    Increment(i64),
    /// MINVALUE; `None` is NO MINVALUE.
    Min(Option<i64>),
    /// MAXVALUE; `None` is NO MAXVALUE.
    Max(Option<i64>),
    /// CACHE; NOCACHE is 0.
    Cache(i64),
    /// CYCLE or NOCYCLE.
    Cycle(bool),
    /// RESTART \[WITH\].
    Restart(Option<i64>),
}

/// CREATE SEQUENCE.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateSequence {
    /// OR REPLACE, IF NOT EXISTS.
    pub creation: Creation,
    /// TEMPORARY.
    pub temporary: bool,
    /// Name.
    pub name: TableName,
    /// Its own options in order.
    pub options: Vec<SequenceOption>,
    /// Options of the table that holds it.
    pub table: Vec<TableOption>,
}

/// ALTER SEQUENCE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlterSequence {
    /// IF EXISTS.
    pub if_exists: bool,
    /// Name.
    pub name: TableName,
    /// What changes, in order.
    pub options: Vec<SequenceOption>,
}
