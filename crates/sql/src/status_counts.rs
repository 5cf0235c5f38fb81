//! What a session's statements do with rows, counted for SHOW STATUS.
//!
//! The names are MariaDB's, and a count means what it means there as far as the work is the same. One thread at a time runs
//! a session's statements, so a counter has one writer; others only read.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! status_counts {
    ($($(#[$doc:meta])* $id:ident = $name:literal,)*) => {
        /// One of the counters.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum StatusCount {
            $($(#[$doc])* $id,)*
        }

        impl StatusCount {
            /// All of them, in the order of their names.
            pub const ALL: &[StatusCount] = &[$(StatusCount::$id,)*];

            /// The name in SHOW STATUS.
            pub fn name(self) -> &'static str {
                match self {
                    $(StatusCount::$id => $name,)*
                }
            }
        }
    };
}

status_counts! {
    /// Tables, made for a statement's own use, that did not fit into memory.
    CreatedTmpDiskTables = "Created_tmp_disk_tables",
    /// Temporary files.
    CreatedTmpFiles = "Created_tmp_files",
    /// Tables made for a statement's own use: of groups, DISTINCT, UNION, derived tables, window functions.
    CreatedTmpTables = "Created_tmp_tables",
    /// DELETE that read a whole table.
    DeleteScan = "Delete_scan",
    /// Triggers that ran, once for each row.
    ExecutedTriggers = "Executed_triggers",
    /// Rows that were deleted.
    HandlerDelete = "Handler_delete",
    /// Reads that began at an index's first entry.
    HandlerReadFirst = "Handler_read_first",
    /// Reads that began at a key.
    HandlerReadKey = "Handler_read_key",
    /// Reads that began at an index's last entry.
    HandlerReadLast = "Handler_read_last",
    /// Steps along an index.
    HandlerReadNext = "Handler_read_next",
    /// Steps back along an index.
    HandlerReadPrev = "Handler_read_prev",
    /// Rows read again by their key, to be locked or changed.
    HandlerReadRnd = "Handler_read_rnd",
    /// Steps of reads of whole tables.
    HandlerReadRndNext = "Handler_read_rnd_next",
    /// Rows that were changed.
    HandlerUpdate = "Handler_update",
    /// Rows that were to be inserted.
    HandlerWrite = "Handler_write",
    /// Rows that statements read, of tables in the store.
    RowsRead = "Rows_read",
    /// Joins that read a further table as a whole.
    SelectFullJoin = "Select_full_join",
    /// Joins that read a range of a further table.
    SelectFullRangeJoin = "Select_full_range_join",
    /// SELECTs that read a range of their first table.
    SelectRange = "Select_range",
    /// SELECTs that read their first table as a whole.
    SelectScan = "Select_scan",
    /// Merges of sorts that did not fit into memory.
    SortMergePasses = "Sort_merge_passes",
    /// Sorts of which only the first rows were kept.
    SortPriorityQueueSorts = "Sort_priority_queue_sorts",
    /// Sorts of rows that a range gave.
    SortRange = "Sort_range",
    /// Rows that sorts gave.
    SortRows = "Sort_rows",
    /// Sorts of rows of a whole table.
    SortScan = "Sort_scan",
    /// UPDATE that read a whole table.
    UpdateScan = "Update_scan",
}

/// A session's counters.
#[derive(Debug, Default)]
pub struct StatusCounts([AtomicU64; StatusCount::ALL.len()]);

impl StatusCounts {
    /// Counts. Only the thread that runs the session's statement may: there is no locked instruction.
    #[inline]
    pub fn add(&self, what: StatusCount, n: u64) {
        let c = &self.0[what as usize];
        c.store(c.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// What was counted.
    pub fn get(&self, what: StatusCount) -> u64 {
        self.0[what as usize].load(Ordering::Relaxed)
    }

    /// Adds all of this to a sum that several threads write.
    pub fn add_to(&self, sum: &StatusCounts) {
        for (c, s) in self.0.iter().zip(&sum.0) {
            s.fetch_add(c.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }

    /// Begins anew.
    pub fn reset(&self) {
        for c in &self.0 {
            c.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_each_has_its_counter() {
        let names: Vec<_> = StatusCount::ALL.iter().map(|c| c.name()).collect();
        assert!(names.is_sorted());
        let counts = StatusCounts::default();
        for (i, c) in StatusCount::ALL.iter().enumerate() {
            counts.add(*c, i as u64 + 1);
        }
        let sum = StatusCounts::default();
        counts.add_to(&sum);
        counts.reset();
        for (i, c) in StatusCount::ALL.iter().enumerate() {
            assert_eq!((counts.get(*c), sum.get(*c)), (0, i as u64 + 1));
        }
    }
}
