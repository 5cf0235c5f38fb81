//! CREATE TABLE.

use super::{
    Check, Column, Creation, Index, Partitions, References, Select, TableName, TableOption,
};

/// What stands between the parentheses of CREATE TABLE.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // Most are columns.
pub enum TableElement {
    /// A column.
    Column(Column),
    /// An index.
    Index(Index),
    /// CHECK.
    Check(Check),
    /// FOREIGN KEY.
    ForeignKey(ForeignKey),
    /// PERIOD FOR; the name SYSTEM_TIME is the system's.
    Period(Period),
}

/// A foreign key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignKey {
    /// Name of the constraint, if given.
    pub name: Option<String>,
    /// Name of its index, if given.
    pub index: Option<String>,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Columns of this table.
    pub columns: Vec<String>,
    /// What they refer to.
    pub references: References,
}

/// PERIOD FOR.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Period {
    /// Name; SYSTEM_TIME is the system's.
    pub name: String,
    /// True for SYSTEM_TIME.
    pub system: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// Column of its start.
    pub start: String,
    /// Column of its end.
    pub end: String,
}

/// What CREATE TABLE ... SELECT does about rows with the same key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum OnDuplicate {
    /// It fails.
    #[default]
    Refuse,
    /// IGNORE.
    Ignore,
    /// REPLACE.
    Replace,
}

/// CREATE TABLE.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTable {
    /// OR REPLACE, IF NOT EXISTS.
    pub creation: Creation,
    /// TEMPORARY.
    pub temporary: bool,
    /// Name.
    pub table: TableName,
    /// LIKE.
    pub like: Option<TableName>,
    /// Columns, indexes, constraints in order.
    pub elements: Vec<TableElement>,
    /// Options in order.
    pub options: Vec<TableOption>,
    /// PARTITION BY.
    pub partitions: Option<Box<Partitions>>,
    /// What becomes of a SELECT's row whose key is taken.
    pub duplicates: OnDuplicate,
    /// The SELECT that rows come from.
    pub select: Option<Box<Select>>,
}
