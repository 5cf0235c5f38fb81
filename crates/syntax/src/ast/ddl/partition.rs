//! Partitions.

use super::{Expression, TableOption};

/// How rows are spread.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // One a table.
pub enum PartitionBy {
    /// `[LINEAR]` HASH.
    Hash {
        /// LINEAR.
        linear: bool,
        /// Of what.
        expr: Expression,
    },
    /// `[LINEAR]` KEY.
    Key {
        /// LINEAR.
        linear: bool,
        /// ALGORITHM.
        algorithm: Option<u64>,
        /// Columns; none for the primary key's.
        columns: Vec<String>,
    },
    /// RANGE of an expression.
    Range(Expression),
    /// RANGE COLUMNS.
    RangeColumns(Vec<String>),
    /// LIST of an expression.
    List(Expression),
    /// LIST COLUMNS.
    ListColumns(Vec<String>),
    /// SYSTEM_TIME.
    SystemTime {
        /// INTERVAL, as written: the quantity and the unit.
        interval: Option<(Expression, String)>,
        /// STARTS.
        starts: Option<Expression>,
        /// AUTO.
        auto: bool,
        /// LIMIT, in rows.
        limit: Option<u64>,
    },
}

/// PARTITION BY.
#[derive(Debug, Clone, PartialEq)]
pub struct Partitions {
    /// How.
    pub by: PartitionBy,
    /// PARTITIONS.
    pub count: Option<u64>,
    /// SUBPARTITION BY.
    pub sub: Option<PartitionBy>,
    /// SUBPARTITIONS.
    pub sub_count: Option<u64>,
    /// The partitions, if they are named.
    pub list: Vec<Partition>,
}

/// A partition or a subpartition.
#[derive(Debug, Clone, PartialEq)]
pub struct Partition {
    /// Name.
    pub name: String,
    /// Which rows it takes.
    pub values: PartitionValues,
    /// Options in order.
    pub options: Vec<TableOption>,
    /// Its subpartitions.
    pub sub: Vec<Partition>,
}

/// Which rows a partition takes.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionValues {
    /// Nothing was said.
    None,
    /// LESS THAN; a `None` is MAXVALUE.
    LessThan(Vec<Option<Expression>>),
    /// IN: rows of values; a `None` is MAXVALUE, which no list takes.
    In(Vec<Vec<Option<Expression>>>),
    /// DEFAULT of LIST.
    Default,
    /// HISTORY.
    History,
    /// CURRENT.
    Current,
}
