//! A join while it runs: the current rows of its sources, and the rows that are kept.

use crate::exec::context::RunCtx;
use crate::exec::key_table::KeyTable;
use crate::exec::order::push_key;
use crate::exec::partition::{Part, Partitions};
use crate::exec::row_list::RowList;
use crate::exec::sorted_rows::SortedRows;
use crate::plan::query::{Hash, JoinPlan};
use narwal_engine::Transaction;
use narwal_types::{RowLayout, SqlResult, Value};
use std::rc::Rc;

/// No further row.
pub(crate) const NONE: u32 = u32::MAX;

/// Rows back to back.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ends: Vec<usize>,
}

impl Rows {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, n: usize) -> &[u8] {
        let start = if n == 0 { 0 } else { self.ends[n - 1] };
        &self.bytes[start..self.ends[n]]
    }
}

/// Rows of a kept source.
#[derive(Default)]
pub(crate) struct Cache {
    pub(crate) rows: Rows,
    pub(crate) keys: KeyTable,
    /// For each key its first and last row.
    pub(crate) of_key: Vec<(u32, u32)>,
    /// For each row the next one with its key.
    pub(crate) next: Vec<u32>,
}

impl Cache {
    /// Appends a row; `key`: that by which it is found.
    pub(crate) fn push(&mut self, key: Option<&[u8]>, hold: impl FnOnce(&mut Vec<u8>)) {
        if let Some(key) = key {
            let at = u32::try_from(self.rows.len()).unwrap_or(NONE);
            match self.keys.insert(key) {
                (_, true) => self.of_key.push((at, at)),
                (k, false) => {
                    let last = std::mem::replace(&mut self.of_key[k].1, at);
                    self.next[last as usize] = at;
                }
            }
            self.next.push(NONE);
        }
        hold(&mut self.rows.bytes);
        self.rows.ends.push(self.rows.bytes.len());
    }

    pub(crate) fn memory(&self) -> u64 {
        let rows = self.rows.bytes.len() + 8 * self.rows.ends.len();
        self.keys.memory() + (rows + 8 * self.of_key.len() + 4 * self.next.len()) as u64
    }
}

/// The current row of a source.
#[derive(Default)]
pub(crate) struct Current {
    /// False if NULLs stand for it.
    pub(crate) is_row: bool,
    pub(crate) bytes: Vec<u8>,
}

impl Current {
    pub(crate) fn set(&mut self, row: &[u8]) {
        self.is_row = true;
        self.bytes.clear();
        self.bytes.extend_from_slice(row);
    }
}

/// What happens with each joined row. False = enough.
pub(crate) type Next<'n, 'p> = dyn FnMut(&mut Run<'p>, &mut Transaction) -> SqlResult<bool> + 'n;

/// One execution.
pub(crate) struct Run<'p> {
    pub(crate) plan: &'p JoinPlan,
    pub(crate) ctx: &'p RunCtx<'p>,
    /// The current row of each source.
    pub(crate) rows: Vec<Current>,
    pub(crate) caches: Vec<Option<Rc<Build>>>,
    /// Sources that are joined file by file when the rows before them were read.
    pub(crate) graces: Vec<(usize, Grace)>,
    /// The current rows wait for that.
    pub(crate) waits: bool,
    /// For each source what its conditions get as parameters, kept for the next time.
    pub(crate) params: Vec<Vec<Value>>,
    pub(crate) steps: u32,
}

/// The key by which a row of a kept source is found; false if it has a NULL.
pub(crate) fn row_key_of(
    hash: &Hash,
    layout: &RowLayout,
    row: &[u8],
    key: &mut Vec<u8>,
) -> SqlResult<bool> {
    key.clear();
    for (c, collation) in &hash.columns {
        let v = layout.column(row, *c)?;
        if v.is_null() {
            return Ok(false);
        }
        push_key(v, *collation, key);
    }
    Ok(true)
}

/// The rows of a kept source.
pub(crate) enum Build {
    /// In memory.
    Memory(Cache),
    /// Partly in a file, in the order in which they came.
    Listed(RowList),
    /// In a file, by their keys.
    Sorted(SortedRows),
    /// To be joined when all rows before them were read.
    Parts,
}

/// A kept source that is being read, once it does not fit into memory.
pub(crate) enum Overflow {
    Listed(Box<RowList>),
    Parts(Partitions),
}

/// A source that is joined file by file.
pub(crate) struct Grace {
    pub(crate) build: Vec<Option<Part>>,
    /// Rows of the sources before it.
    pub(crate) probe: Partitions,
    /// These sources.
    pub(crate) before: Rc<[usize]>,
}
