//! Window functions: a stage between the rows, or the groups, and ORDER BY, DISTINCT and LIMIT.
//!
//! Rows are sorted once for each order that calls ask for ([`crate::plan::query::WindowSort`]). Then each partition is gone
//! through, and the calls' values are put behind the values that the row has. A sort whose calls need the current row and its
//! equals alone keeps no more than these (`stream.rs`); for other calls the rows of a partition are kept, in memory or in a
//! file, and cursors go over them forward (`call.rs`).
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | the stage: sorts, and what goes from one to the next |
//! | `partition.rs` | the rows of one sort, partition by partition |
//! | `record.rs` | a row of a sort as bytes |
//! | `stream.rs` | calls that need no partition |
//! | `call.rs` | calls that do: frames, ranks, shifts, percentiles |
//! | `running.rs` | aggregates whose rows come and go |
//! | `rows.rs` | the rows of a partition, and cursors over them |

mod call;
mod partition;
mod record;
mod rows;
mod running;
mod stream;

use super::byte_sorter::ByteSorter;
use super::order::SortBuffer;
use super::value_bytes::{ValueBytes, put_bytes};
use crate::env::StatementEnv;
use crate::exec::context::RunCtx;
use crate::expr::node::RowAccess;
use crate::plan::query::{WindowPlan, WindowSort};
use narwal_types::{RowLayout, SqlResult, Value};
use partition::Partitions;
use record::{group_row, take_values};

/// Rows on their way through the sorts.
pub(super) struct WindowStage<'p> {
    plan: &'p WindowPlan,
    layout: Option<&'p RowLayout>,
    sorter: ByteSorter,
    codec: ValueBytes,
    key: Vec<u8>,
    record: Vec<u8>,
}

/// Receives a row's image, and its values. False = enough.
pub(super) type OnWindowed<'f> = dyn FnMut(&[u8], &dyn RowAccess) -> SqlResult<bool> + 'f;

fn sorter(env: &StatementEnv) -> ByteSorter {
    ByteSorter::new(env.sort_memory.min(env.max_memory))
}

/// Makes a record of a sort: how long the key is at each level, the row's values and its image.
fn put_record(
    sort: &WindowSort,
    access: &dyn RowAccess,
    ctx: &RunCtx<'_>,
    key: &mut Vec<u8>,
    record: &mut Vec<u8>,
) -> SqlResult<()> {
    key.clear();
    record.clear();
    let mut done = 0;
    for level in &sort.levels {
        for k in &sort.keys[done..*level] {
            k.push(access, ctx, key)?;
        }
        done = *level;
        record.extend_from_slice(&(key.len() as u32).to_le_bytes());
    }
    Ok(())
}

impl<'p> WindowStage<'p> {
    /// No rows yet.
    pub(super) fn new(
        plan: &'p WindowPlan,
        layout: Option<&'p RowLayout>,
        env: &StatementEnv,
    ) -> Self {
        WindowStage {
            plan,
            layout,
            sorter: sorter(env),
            codec: ValueBytes::default(),
            key: Vec::new(),
            record: Vec::new(),
        }
    }

    /// Takes a row, or a group with its values.
    pub(super) fn push(
        &mut self,
        ctx: &RunCtx<'_>,
        row: &[u8],
        access: &dyn RowAccess,
    ) -> SqlResult<()> {
        let Some(sort) = self.plan.sorts.first() else {
            return Ok(());
        };
        put_record(sort, access, ctx, &mut self.key, &mut self.record)?;
        let at = self.record.len();
        self.record.extend_from_slice(&[0; 4]);
        for n in 0..self.plan.behind {
            self.codec.put(access.aggregate(n), &mut self.record);
        }
        let len = (self.record.len() - at - 4) as u32;
        self.record[at..at + 4].copy_from_slice(&len.to_le_bytes());
        match self.layout {
            Some(l) if !row.is_empty() => l.project(row, &self.plan.columns, &mut self.record)?,
            _ => {}
        }
        self.sorter.push(&self.key, &self.record, ctx.env)
    }

    /// All rows came: computes, sorts and calls `f` with each. `keep`: the rows that matter at most.
    pub(super) fn finish(
        mut self,
        ctx: &RunCtx<'_>,
        keep: usize,
        f: &mut OnWindowed<'_>,
    ) -> SqlResult<()> {
        let (plan, layout) = (self.plan, self.layout);
        let mut codec = std::mem::take(&mut self.codec);
        let mut input = self.sorter;
        for (n, sort) in plan.sorts.iter().enumerate() {
            let mut partitions = Partitions::new(plan, sort, layout, ctx.env);
            match plan.sorts.get(n + 1) {
                Some(next) => {
                    let mut to = Onward::new(next, layout, ctx.env);
                    partitions.run(input, &mut codec, ctx, &mut |codec, values, row| {
                        to.push(codec, values, row, ctx)?;
                        Ok(true)
                    })?;
                    input = to.sorter;
                }
                None if plan.order.is_empty() => {
                    let mut list = Vec::new();
                    return partitions.run(input, &mut codec, ctx, &mut |codec, values, row| {
                        take_values(codec, values, &mut list)?;
                        f(row, &group_row(layout, row, &list))
                    });
                }
                None => {
                    let mut buf = SortBuffer::new(&plan.order, keep, ctx.env);
                    let mut list = Vec::new();
                    partitions.run(input, &mut codec, ctx, &mut |codec, values, row| {
                        take_values(codec, values, &mut list)?;
                        buf.push(values, row, &group_row(layout, row, &list), ctx)?;
                        Ok(true)
                    })?;
                    return buf.drain(ctx, &mut |values, row, _| {
                        take_values(&codec, values, &mut list)?;
                        f(row, &group_row(layout, row, &list))
                    });
                }
            }
        }
        Ok(())
    }
}

/// Rows that go on to the next sort.
struct Onward<'p> {
    sort: &'p WindowSort,
    layout: Option<&'p RowLayout>,
    sorter: ByteSorter,
    key: Vec<u8>,
    record: Vec<u8>,
    values: Vec<Value>,
}

impl<'p> Onward<'p> {
    fn new(sort: &'p WindowSort, layout: Option<&'p RowLayout>, env: &StatementEnv) -> Self {
        Onward {
            sort,
            layout,
            sorter: sorter(env),
            key: Vec::new(),
            record: Vec::new(),
            values: Vec::new(),
        }
    }

    fn push(
        &mut self,
        codec: &ValueBytes,
        values: &[u8],
        row: &[u8],
        ctx: &RunCtx<'_>,
    ) -> SqlResult<()> {
        take_values(codec, values, &mut self.values)?;
        let access = group_row(self.layout, row, &self.values);
        put_record(self.sort, &access, ctx, &mut self.key, &mut self.record)?;
        put_bytes(values, &mut self.record);
        self.record.extend_from_slice(row);
        self.sorter.push(&self.key, &self.record, ctx.env)
    }
}
