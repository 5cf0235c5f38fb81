//! Options of tables, databases, indexes, columns and partitions.

use super::TableName;

/// The value of an option that has no form of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionValue {
    /// A number, as its digits.
    Number(String),
    /// A string.
    Text(String),
    /// A word.
    Word(String),
    /// DEFAULT.
    Default,
}

impl OptionValue {
    /// As text.
    pub fn text(&self) -> &str {
        match self {
            OptionValue::Number(s) | OptionValue::Text(s) | OptionValue::Word(s) => s,
            OptionValue::Default => "DEFAULT",
        }
    }
}

/// CHARACTER SET or COLLATE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CharsetOption {
    /// CHARACTER SET; `None` is DEFAULT.
    Charset(Option<String>),
    /// COLLATE; `None` is DEFAULT.
    Collate(Option<String>),
}

/// An option of a table, a database, a sequence or a partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TableOption {
    /// ENGINE.
    Engine(String),
    /// CHARACTER SET and COLLATE.
    Charset(CharsetOption),
    /// COMMENT.
    Comment(String),
    /// AUTO_INCREMENT, as its digits.
    AutoIncrement(String),
    /// UNION of MERGE tables.
    Union(Vec<TableName>),
    /// WITH SYSTEM VERSIONING.
    SystemVersioning,
    /// SEQUENCE: the table holds a sequence.
    Sequence(bool),
    /// Any other of MariaDB's own, by its name in upper case.
    Known(&'static str, OptionValue),
    /// One that a storage engine may know.
    Engines(String, OptionValue),
}
