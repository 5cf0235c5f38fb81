//! What is counted of a table, and what samples of it told.

use arc_swap::ArcSwapOption;
use narwal_types::ValueRef;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64};

/// The number that a value of an AUTO_INCREMENT column stands for, integer or not; 0 for what counts nothing.
#[must_use]
pub fn auto_number(value: ValueRef<'_>) -> u64 {
    match value {
        ValueRef::Int(v) => u64::try_from(v).unwrap_or(0),
        ValueRef::UInt(v) => v,
        // What is below 0 becomes 0, what is too large the largest.
        ValueRef::Float(v) => v as u64,
        ValueRef::Double(v) => v as u64,
        _ => 0,
    }
}

/// What ANALYZE TABLE found out about a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct TableStats {
    /// Rows then.
    pub rows: u64,
    /// For each index, by its id: how many different values its first part had, its first two parts, and so on. 0: not known.
    pub distinct: Vec<(u32, Vec<u64>)>,
}

impl TableStats {
    /// Different values of the first `parts` parts of an index, if known.
    pub fn distinct(&self, index: u32, parts: usize) -> Option<u64> {
        let (_, counts) = self.distinct.iter().find(|(id, _)| *id == index)?;
        let n = counts.get(parts.checked_sub(1)?)?;
        (*n > 0).then_some(*n)
    }
}

/// Counters of a table that outlive changes of its definition.
#[derive(Debug, Default)]
pub(crate) struct TableCounters {
    /// Committed rows; approximate while commits run.
    pub(crate) rows: AtomicI64,
    /// The newest commit that took keys out of its indexes: what a reader did not find may rest on it.
    pub(crate) removed: AtomicU64,
    /// Next AUTO_INCREMENT value.
    pub(crate) auto_increment: AtomicU64,
    /// Next hidden row id.
    pub(crate) row_id: AtomicU64,
    /// Numbers of a sequence.
    pub(crate) sequence: crate::catalog::sequence::SequenceState,
    /// Somebody was told that replicated changes look for its rows one by one.
    pub(crate) scan_told: AtomicBool,
    /// The table is damaged and takes no writes (`apart.rs`).
    pub(crate) apart: AtomicBool,
    /// A foreign key refers to the table, or did once.
    pub(crate) referenced: AtomicBool,
    /// What ANALYZE TABLE found last.
    pub(crate) stats: ArcSwapOption<TableStats>,
    /// What samples of its indexes told ([`Table::sampled`]).
    pub(crate) sampled: parking_lot::Mutex<Vec<Sampled>>,
}

/// What samples of an index told.
#[derive(Debug)]
pub(crate) struct Sampled {
    pub(crate) index: u32,
    /// Rows of the table then.
    pub(crate) rows: u64,
    /// Different values of the first part, of the first two, and so on.
    pub(crate) distinct: Arc<[u64]>,
}
