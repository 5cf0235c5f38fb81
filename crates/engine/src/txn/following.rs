//! Where a transaction stands in following foreign keys.

use crate::catalog::foreign::ForeignKeyMode;
use crate::catalog::table::CompleteRow;

/// How a transaction's changes follow foreign keys just now.
#[derive(Debug, Default)]
pub(crate) struct Following {
    pub(crate) mode: ForeignKeyMode,
    /// Gives rows that a cascade changes the values of their generated columns.
    pub(crate) regenerate: Option<CompleteRow>,
    /// Cascades within cascades.
    pub(crate) depth: u32,
    /// The tables whose rows change, by their ids, from the statement's change to the cascade that runs now.
    pub(crate) changing: Vec<u64>,
}
