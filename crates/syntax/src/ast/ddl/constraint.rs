//! What a column and a table may be bound to: CHECK, REFERENCES.

use super::{Expression, TableName};

/// A CHECK constraint.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Name, if given.
    pub name: Option<String>,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
    /// The condition.
    pub expr: Expression,
    /// False for NOT ENFORCED (MySQL): kept, and not asked.
    pub enforced: bool,
}

/// REFERENCES.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct References {
    /// The referenced table.
    pub table: TableName,
    /// Its columns.
    pub columns: Vec<String>,
    /// ON DELETE.
    pub on_delete: Option<ForeignAction>,
    /// ON UPDATE.
    pub on_update: Option<ForeignAction>,
}

/// What happens to rows that refer to a row that goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ForeignAction {
    Restrict,
    Cascade,
    SetNull,
    NoAction,
    SetDefault,
}
