//! Short looks into indexes for who plans a query: how many entries a range has, how many of them share a key's first parts.

use crate::Result;
use crate::db::Database;
use crate::scan::{Scan, ScanItem};
use crate::table::{Sampled, Table};
use crate::txn::KeyRange;
use crate::writeset::WriteSet;
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
        let state = self.inner.state.load_full();
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

impl Table {
    /// What was last found out by samples of an index: the table's rows then, and about how many different values the
    /// index's first part had, its first two parts, and so on.
    pub fn sampled(&self, index: u32) -> Option<(u64, Arc<[u64]>)> {
        let all = self.counters.sampled.lock();
        let s = all.iter().find(|s| s.index == index)?;
        Some((s.rows, s.distinct.clone()))
    }

    /// Keeps it, in memory only.
    pub fn set_sampled(&self, index: u32, rows: u64, distinct: Arc<[u64]>) {
        let mut all = self.counters.sampled.lock();
        all.retain(|s| s.index != index);
        all.push(Sampled {
            index,
            rows,
            distinct,
        });
    }
}
