//! The groups of one execution.

use crate::exec::aggregate::Acc;
use crate::exec::byte_sorter::ByteSorter;
use crate::exec::context::RunCtx;
use crate::exec::key_table::KeyTable;
use crate::exec::partition::Partitions;
use crate::exec::value_bytes::ValueBytes;
use crate::expr::node::RowAccess;
use crate::plan::query::GroupPlan;
use narwal_types::{RowLayout, SqlResult, Value, ValueRef};

/// A group's row with its aggregates.
pub(crate) struct GroupRow<'a> {
    pub(crate) layout: Option<&'a RowLayout>,
    /// A row of the group; empty if there was none.
    pub(crate) row: &'a [u8],
    pub(crate) aggregates: &'a [Value],
}

impl RowAccess for GroupRow<'_> {
    fn column(&self, _source: usize, column: usize) -> SqlResult<ValueRef<'_>> {
        match self.layout {
            Some(l) if !self.row.is_empty() => l.column(self.row, column),
            _ => Ok(ValueRef::Null),
        }
    }
    fn aggregate(&self, n: usize) -> ValueRef<'_> {
        self.aggregates.get(n).map_or(ValueRef::Null, Value::as_ref)
    }
}

/// The groups of one execution: numbered as they were met.
pub(crate) struct Groups<'p> {
    pub(crate) plan: &'p GroupPlan,
    pub(crate) layout: Option<&'p RowLayout>,
    pub(crate) keys: KeyTable,
    /// Number of groups.
    pub(crate) count: usize,
    /// Where each group's row ends in `rows`: the first of the group, with only the columns that are looked at.
    pub(crate) ends: Vec<usize>,
    pub(crate) rows: Vec<u8>,
    /// For each group one of each aggregate.
    pub(crate) accs: Vec<Acc>,
    /// With ROLLUP: the number of keys that each group's rows share.
    pub(crate) levels: Vec<u32>,
    pub(crate) key: Vec<u8>,
    /// What may be held in memory, in bytes.
    pub(crate) room: u64,
    /// Some aggregates hold all their values, which take so many bytes.
    pub(crate) holds: bool,
    pub(crate) held: u64,
    /// The values that did not fit.
    pub(crate) values: Option<ValueStore>,
    /// Rows of groups that did not fit.
    pub(crate) aside: Option<Aside>,
}

/// The values of all groups.
pub(crate) struct ValueStore {
    pub(crate) sorter: ByteSorter,
    pub(crate) codec: ValueBytes,
    /// Records so far.
    pub(crate) count: u64,
}

/// A group's results: row, number of keys that its rows share, aggregates. False = enough.
pub(crate) type OnGroup<'f> = dyn FnMut(&[u8], usize, &[Value]) -> SqlResult<bool> + 'f;

/// Rows of groups that are not in memory.
pub(crate) struct Aside {
    pub(crate) parts: Partitions,
    /// Columns that grouping them needs.
    pub(crate) columns: Vec<usize>,
    /// Rows so far.
    pub(crate) count: u64,
    pub(crate) image: Vec<u8>,
}

/// Adds what is computed of a group to the values of its aggregates.
pub(super) fn add_computed(
    g: &GroupPlan,
    layout: Option<&RowLayout>,
    row: &[u8],
    values: &mut Vec<Value>,
    ctx: &RunCtx<'_>,
) -> SqlResult<()> {
    for e in &g.computed {
        let access = GroupRow {
            layout,
            row,
            aggregates: values,
        };
        let v = e.eval(ctx, &access)?;
        values.push(v);
    }
    Ok(())
}
