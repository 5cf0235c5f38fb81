//! ALTER TABLE.

use super::{
    ChangeOptions, CharsetOption, Column, ColumnDefault, MetadataWait, Partition, Partitions,
    TableElement, TableName, TableOption,
};

/// ALTER TABLE.
#[derive(Debug, Clone, PartialEq)]
pub struct AlterTable {
    /// IGNORE.
    pub ignore: bool,
    /// ONLINE.
    pub online: bool,
    /// IF EXISTS.
    pub if_exists: bool,
    /// Table.
    pub table: TableName,
    /// WAIT or NOWAIT.
    pub wait: Option<MetadataWait>,
    /// Actions in order.
    pub actions: Vec<AlterAction>,
    /// PARTITION BY behind them, or REMOVE PARTITIONING.
    pub partitioning: Option<AlterPartitioning>,
}

/// How ALTER TABLE changes the way a table is partitioned.
#[derive(Debug, Clone, PartialEq)]
pub enum AlterPartitioning {
    /// PARTITION BY.
    By(Box<Partitions>),
    /// REMOVE PARTITIONING.
    Remove,
}

/// Where ALTER TABLE puts a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnPlace {
    /// FIRST.
    First,
    /// AFTER.
    After(String),
}

/// What DROP in ALTER TABLE names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropKind {
    /// COLUMN.
    Column,
    /// INDEX, KEY and PRIMARY KEY.
    Index,
    /// CONSTRAINT.
    Constraint,
    /// FOREIGN KEY.
    ForeignKey,
    /// CHECK (MySQL).
    Check,
    /// PERIOD FOR.
    Period,
}

/// One action of ALTER TABLE.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // They are few and short-lived.
pub enum AlterAction {
    /// ADD of one column, or of elements in parentheses, or of one index or constraint.
    Add {
        /// What.
        elements: Vec<TableElement>,
        /// FIRST or AFTER, of the only column.
        place: Option<ColumnPlace>,
        /// IF NOT EXISTS behind ADD COLUMN.
        if_not_exists: bool,
    },
    /// DROP.
    Drop {
        /// What kind of thing.
        kind: DropKind,
        /// Its name.
        name: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// CHANGE and MODIFY.
    Change {
        /// The column.
        column: String,
        /// Its new definition.
        to: Column,
        /// FIRST or AFTER.
        place: Option<ColumnPlace>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER COLUMN ... SET DEFAULT, or DROP DEFAULT (`None`).
    SetDefault {
        /// Column.
        column: String,
        /// Its new default.
        default: Option<ColumnDefault>,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER INDEX ... \[NOT\] IGNORED.
    IgnoreIndex {
        /// Index.
        index: String,
        /// IGNORED (true) or NOT IGNORED.
        ignored: bool,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// ALTER CHECK and ALTER CONSTRAINT ... \[NOT\] ENFORCED (MySQL).
    EnforceCheck {
        /// The constraint.
        name: String,
        /// ENFORCED, or NOT ENFORCED.
        enforced: bool,
        /// CHECK was written, and not CONSTRAINT.
        check: bool,
    },
    /// RENAME COLUMN.
    RenameColumn {
        /// From.
        from: String,
        /// To.
        to: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// RENAME INDEX.
    RenameIndex {
        /// From.
        from: String,
        /// To.
        to: String,
        /// IF EXISTS.
        if_exists: bool,
    },
    /// RENAME \[TO\].
    RenameTo(TableName),
    /// Table options in order.
    Options(Vec<TableOption>),
    /// CONVERT TO CHARACTER SET, with a COLLATE behind it.
    ConvertTo(Vec<CharsetOption>),
    /// ORDER BY: columns, and whether each descends.
    OrderBy(Vec<(String, bool)>),
    /// FORCE.
    Force,
    /// DISABLE KEYS (true) or ENABLE KEYS.
    DisableKeys(bool),
    /// DISCARD (true) or IMPORT TABLESPACE.
    DiscardTablespace(bool),
    /// ALGORITHM, LOCK and WAIT.
    How(ChangeOptions),
    /// ADD (true) or DROP SYSTEM VERSIONING.
    SystemVersioning(bool),
    /// Something about partitions.
    Partition(PartitionAction),
}

/// Which partitions are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartitionNames {
    /// ALL.
    All,
    /// These.
    Named(Vec<String>),
}

/// An action about partitions.
#[derive(Debug, Clone, PartialEq)]
pub enum PartitionAction {
    /// ADD PARTITION.
    Add {
        /// IF NOT EXISTS.
        if_not_exists: bool,
        /// PARTITIONS: that many more.
        count: Option<u64>,
        /// The new ones.
        list: Vec<Partition>,
    },
    /// DROP PARTITION.
    Drop {
        /// IF EXISTS.
        if_exists: bool,
        /// Which.
        names: Vec<String>,
    },
    /// REBUILD, OPTIMIZE, ANALYZE, CHECK, REPAIR and TRUNCATE PARTITION.
    Maintain(&'static str, PartitionNames),
    /// COALESCE PARTITION.
    Coalesce(u64),
    /// REORGANIZE PARTITION.
    Reorganize {
        /// Which; none for all.
        names: Vec<String>,
        /// Into these.
        into: Vec<Partition>,
    },
    /// EXCHANGE PARTITION.
    Exchange {
        /// Partition.
        partition: String,
        /// Table.
        table: TableName,
    },
    /// CONVERT PARTITION ... TO TABLE.
    ToTable {
        /// Partition.
        partition: String,
        /// Table.
        table: TableName,
    },
    /// CONVERT TABLE ... TO PARTITION.
    FromTable {
        /// Table.
        table: TableName,
        /// Partition.
        partition: Partition,
    },
}

impl PartitionAction {
    /// The word that the action begins with.
    pub fn word(&self) -> &'static str {
        match self {
            PartitionAction::Add { .. } => "ADD PARTITION",
            PartitionAction::Drop { .. } => "DROP PARTITION",
            PartitionAction::Maintain(word, _) => word,
            PartitionAction::Coalesce(_) => "COALESCE",
            PartitionAction::Reorganize { .. } => "REORGANIZE",
            PartitionAction::Exchange { .. } => "EXCHANGE",
            PartitionAction::ToTable { .. } => "CONVERT PARTITION",
            PartitionAction::FromTable { .. } => "CONVERT TABLE",
        }
    }
}
