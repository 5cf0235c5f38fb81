//! Short looks into indexes for who plans a query: how many entries a range has, how many of them share a key's first parts.

use crate::Result;
use crate::catalog::table::Table;
use crate::db::database::Database;
use crate::key::KeyRange;
use crate::store::scan::{Scan, ScanItem};
use crate::store::writeset::WriteSet;
use std::sync::Arc;

/// A look passes so many deleted entries at most.
const PATIENCE: usize = 1000;

impl Database {
    /// Shows the newest committed entries of a range of an index to `f`, one after the other, until it says false. Rows are
    /// not read, nothing is locked, and no transaction's own changes are seen. False if the end was not reached because of
    /// too many deleted entries; of a temporary table nothing is shown.
    ///
    /// # Errors
    /// Damage of the base file, and those of reading it.
    pub fn glance(
        &self,
        table: &Arc<Table>,
        index: usize,
        range: KeyRange,
        reverse: bool,
        f: &mut dyn FnMut(&ScanItem<'_>) -> bool,
    ) -> Result<bool> {
        if table.temporary {
            return Ok(false);
        }
        let none = WriteSet::default();
        let state = self.parts.store.state.load_full();
        let mut scan = Scan::new(&none, state, u64::MAX, table, index, range, reverse, true)?;
        scan.patience = PATIENCE;
        while let Some(item) = scan.next()? {
            if !f(&item) {
                return Ok(true);
            }
        }
        Ok(scan.patience > 0)
    }
}
