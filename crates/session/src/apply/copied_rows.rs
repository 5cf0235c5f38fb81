//! What a group of row events keeps of a table that is made of accounts or programs.

use crate::grant_tables::Copied;
use narwal_engine::TemporaryTables;
use std::sync::Arc;

/// The copy that a group's rows change.
pub(super) struct CopiedRows {
    pub(super) copied: Copied,
    /// The table's name.
    pub(super) name: String,
    /// The statement, as the source has told it.
    pub(super) text: String,
    /// The statement is over.
    pub(super) ended: bool,
}

impl CopiedRows {
    pub(super) fn tables(&self) -> &Arc<TemporaryTables> {
        &self.copied.tables
    }
}
