//! Groups that do not fit into memory. The groups that do stay there and take in their rows; rows of other groups go to
//! temporary files by a hash of their keys, and are grouped file by file when all rows were read.

use super::byte_sorter::ByteSorter;
use super::order::{SortBuffer, Spilled, push_order_key};
use super::partition::{Part, Partitions};
use super::rollup_sort::RollupSort;
use super::select::Output;
use super::value_bytes::{ValueBytes, take_u64};
use crate::env::StatementEnv;
use crate::exec::context::RunCtx;
use crate::exec::grouping::emit_group;
use crate::exec::groups::Aside;
use crate::exec::groups::OnGroup;
use crate::exec::groups::{GroupRow, Groups, add_computed};
use crate::exec::rows::row_of;
use crate::expr::node::ImageRow;
use crate::plan::query::TablePlan;
use crate::plan::query::{GroupPlan, SelectPlan};
use crate::status_counts::StatusCount;
use narwal_engine::Transaction;
use narwal_types::{RowLayout, SqlResult, Value, ValueRef};
use smallvec::SmallVec;

impl Aside {
    /// No rows yet. `first`: it is not a part of others.
    pub(super) fn new(plan: &GroupPlan, first: bool, env: &StatementEnv) -> Self {
        if first {
            env.status_counts.add(StatusCount::CreatedTmpDiskTables, 1);
        }
        let mut columns = plan.row_columns.clone();
        for e in plan.aggregates.iter().flat_map(|a| &a.args) {
            e.for_each_column(&mut |c| columns.push(c));
        }
        columns.sort_unstable();
        columns.dedup();
        Aside {
            parts: Partitions::new(),
            columns,
            count: 0,
            image: Vec::new(),
        }
    }
}

impl<'p> Groups<'p> {
    /// True if not all is in memory.
    pub(super) fn is_spilled(&self) -> bool {
        self.aside.is_some() || self.values.is_some()
    }

    /// Sets a row aside whose key is `self.key`. `number`: its number, if it was set aside before.
    pub(super) fn set_aside(
        &mut self,
        env: &StatementEnv,
        row: &[u8],
        level: usize,
        number: Option<u64>,
    ) -> SqlResult<()> {
        let Some(aside) = &mut self.aside else {
            return Ok(());
        };
        let n = number.unwrap_or(aside.count);
        aside.count += 1;
        aside.image.clear();
        if let Some(layout) = self.layout {
            let mut values: SmallVec<[ValueRef<'_>; 16]> = SmallVec::new();
            values.resize(layout.columns().len(), ValueRef::Null);
            for c in &aside.columns {
                values[*c] = layout.column(row, *c)?;
            }
            layout.encode(&values, &mut aside.image)?;
        }
        let head = [n.to_be_bytes(), (level as u64).to_be_bytes()];
        let body = [head.as_flattened(), &aside.image];
        aside.parts.push(&self.key, &body, env)
    }

    /// Calls `f` with the results of all groups, in the order in which they were met.
    fn each_group(mut self, ctx: &RunCtx<'_>, f: &mut OnGroup<'_>) -> SqlResult<()> {
        let aside = self.aside.take();
        if !self.each_finished(ctx, f)? {
            return Ok(());
        }
        let (plan, layout) = (self.plan, self.layout);
        drop(self);
        let Some(aside) = aside else {
            return Ok(());
        };
        let mut done = PutOut::default();
        for part in aside.parts.finish()?.into_iter().flatten() {
            group_part(plan, layout, part, ctx, &mut done)?;
        }
        done.each(ctx.env, f)
    }
}

/// Groups the rows of a file, and puts the groups out as runs sorted by the numbers of their first rows.
fn group_part(
    plan: &GroupPlan,
    layout: Option<&RowLayout>,
    part: Part,
    ctx: &RunCtx<'_>,
    done: &mut PutOut,
) -> SqlResult<()> {
    let mut groups = Groups::new(plan, layout, ctx.env);
    let mut numbers = Vec::new();
    part.each(ctx.env, &mut |key, mut body| {
        let number = take_u64(&mut body)?;
        let level = take_u64(&mut body)? as usize;
        groups.key.clear();
        groups.key.extend_from_slice(key);
        match layout {
            Some(layout) => {
                let access = ImageRow { layout, row: body };
                groups.take_key(ctx, body, &access, level, Some(number))?;
            }
            None => groups.take_key(ctx, body, &crate::expr::node::NoRow, level, Some(number))?,
        }
        if groups.len() > numbers.len() {
            numbers.push(number);
        }
        Ok(true)
    })?;
    drop(part);
    let aside = groups.aside.take();
    done.add(&mut groups, Some(&numbers), &[], ctx)?;
    drop((groups, numbers));
    if let Some(aside) = aside {
        for part in aside.parts.finish()?.into_iter().flatten() {
            group_part(plan, layout, part, ctx, done)?;
        }
    }
    Ok(())
}

/// Complete groups in temporary files.
#[derive(Default)]
pub(super) struct PutOut {
    runs: Option<Spilled>,
    codec: ValueBytes,
    count: usize,
}

impl PutOut {
    /// Number of groups.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Takes all groups that there are, which come in their order. `pks`: what names their rows, if these are to be read.
    pub(super) fn take(
        &mut self,
        groups: &mut Groups<'_>,
        pks: &mut Vec<Box<[u8]>>,
        ctx: &RunCtx<'_>,
    ) -> SqlResult<()> {
        if self.count == 0 {
            ctx.env
                .status_counts
                .add(StatusCount::CreatedTmpDiskTables, 1);
        }
        self.add(groups, None, pks, ctx)?;
        groups.clear();
        pks.clear();
        Ok(())
    }

    fn add(
        &mut self,
        groups: &mut Groups<'_>,
        numbers: Option<&[u64]>,
        pks: &[Box<[u8]>],
        ctx: &RunCtx<'_>,
    ) -> SqlResult<()> {
        let runs = match &mut self.runs {
            Some(r) => r,
            none => none.insert(Spilled::new(ctx.env)?),
        };
        let mut payload = Vec::new();
        let mut n = 0;
        runs.run(ctx.env, |runs| {
            groups
                .each_finished(ctx, &mut |row, level, values| {
                    let number = match numbers {
                        Some(numbers) => numbers[n],
                        None => self.count as u64,
                    };
                    payload.clear();
                    payload.extend_from_slice(&(level as u64).to_be_bytes());
                    for v in values {
                        self.codec.put(v.as_ref(), &mut payload);
                    }
                    let row = pks.get(n).map_or(row, |pk| pk);
                    runs.record(&number.to_be_bytes(), &payload, row)?;
                    n += 1;
                    self.count += 1;
                    Ok(true)
                })
                .map(|_| ())
        })
    }

    /// Where clustered keys stand for rows, puts the rows there.
    pub(super) fn read_rows(
        &mut self,
        groups: &mut Groups<'_>,
        txn: &mut Transaction,
        t: &TablePlan,
        ctx: &RunCtx<'_>,
    ) -> SqlResult<()> {
        let Some(from) = self.runs.take() else {
            return Ok(());
        };
        let mut to = Spilled::new(ctx.env)?;
        to.run(ctx.env, |to| {
            from.each(ctx.env, &mut |c| {
                let (payload, pk) = c.parts();
                let row = row_of(txn, t, pk)?;
                groups.clear();
                groups.add_row(&row)?;
                to.record(c.key(), payload, groups.row(0))?;
                Ok(true)
            })
        })?;
        self.runs = Some(to);
        Ok(())
    }

    /// Calls `f` with each group in order.
    fn each(&self, env: &StatementEnv, f: &mut OnGroup<'_>) -> SqlResult<()> {
        let Some(runs) = &self.runs else {
            return Ok(());
        };
        let mut values: Vec<Value> = Vec::new();
        runs.each(env, &mut |c| {
            let (mut payload, row) = c.parts();
            let level = take_u64(&mut payload)? as usize;
            values.clear();
            while !payload.is_empty() {
                values.push(self.codec.take(&mut payload)?.to_value());
            }
            f(row, level, &values)
        })
    }
}

impl SelectPlan {
    /// Puts groups out of which not all are in memory.
    pub(super) fn emit_spilled(
        &self,
        groups: Groups<'_>,
        keep: usize,
        ctx: &RunCtx<'_>,
        out: &mut Output<'_, '_>,
    ) -> SqlResult<()> {
        let (g, layout) = (groups.plan, groups.layout);
        self.emit_each(g, layout, keep, ctx, out, |f| groups.each_group(ctx, f))
    }

    /// Puts groups out that came along an index.
    pub(super) fn emit_put_out(
        &self,
        g: &GroupPlan,
        layout: &RowLayout,
        done: &PutOut,
        keep: usize,
        ctx: &RunCtx<'_>,
        out: &mut Output<'_, '_>,
    ) -> SqlResult<()> {
        self.emit_each(g, Some(layout), keep, ctx, out, |f| done.each(ctx.env, f))
    }

    /// Puts groups out, sorted if need be. `each` hands them on in the order in which they were met.
    fn emit_each(
        &self,
        g: &GroupPlan,
        layout: Option<&RowLayout>,
        keep: usize,
        ctx: &RunCtx<'_>,
        out: &mut Output<'_, '_>,
        each: impl FnOnce(&mut OnGroup<'_>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        if g.rollup {
            return self.rollup_each(g, layout, ctx, out, each);
        }
        if self.sort.is_empty() {
            return each(&mut |row, _, values| emit_group(g, layout, row, values, ctx, out));
        }
        let mut codec = ValueBytes::default();
        let mut payload = Vec::new();
        let mut buf = SortBuffer::new(&self.sort, keep, ctx.env);
        each(&mut |row, _, values| {
            let mut all;
            let values = if g.computed.is_empty() {
                values
            } else {
                all = values.to_vec();
                add_computed(g, layout, row, &mut all, ctx)?;
                &all
            };
            let access = GroupRow {
                layout,
                row,
                aggregates: values,
            };
            if let Some(h) = &g.having
                && !h.matches(ctx, &access)?
            {
                return Ok(true);
            }
            payload.clear();
            for v in values {
                codec.put(v.as_ref(), &mut payload);
            }
            buf.push(&payload, row, &access, ctx)?;
            Ok(true)
        })?;
        let total = buf.pushed();
        let mut values: Vec<Value> = Vec::new();
        buf.drain(ctx, &mut |mut payload, row, _| {
            values.clear();
            while !payload.is_empty() {
                values.push(codec.take(&mut payload)?.to_value());
            }
            let access = GroupRow {
                layout,
                row,
                aggregates: &values,
            };
            out.push(ctx, row, &access)
        })?;
        if self.calc_found_rows && !self.distinct {
            out.sent.found = total;
        }
        Ok(())
    }

    /// As [`SelectPlan::emit_each`] for WITH ROLLUP: in the order of the keys, groups that share some behind them.
    fn rollup_each(
        &self,
        g: &GroupPlan,
        layout: Option<&RowLayout>,
        ctx: &RunCtx<'_>,
        out: &mut Output<'_, '_>,
        each: impl FnOnce(&mut OnGroup<'_>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let mut codec = ValueBytes::default();
        let mut sorter = ByteSorter::new(ctx.env.sort_memory.min(ctx.env.max_memory));
        let (mut key, mut payload) = (Vec::new(), Vec::new());
        fn row_of<'r>(layout: Option<&'r RowLayout>, row: &'r [u8]) -> GroupRow<'r> {
            GroupRow {
                layout,
                row,
                aggregates: &[],
            }
        }
        each(&mut |row, level, values| {
            key.clear();
            for k in &g.keys[..level] {
                key.push(0);
                let start = key.len();
                let access = row_of(layout, row);
                let v = k.expr.eval_ref(ctx, &access)?;
                push_order_key(v.as_ref(), k.expr.ty.ty.collation, &mut key);
                if k.desc {
                    key[start..].iter_mut().for_each(|b| *b = !*b);
                }
            }
            key.push(1);
            payload.clear();
            payload.extend_from_slice(&(level as u64).to_be_bytes());
            payload.extend_from_slice(&(row.len() as u64).to_be_bytes());
            payload.extend_from_slice(row);
            for v in values {
                codec.put(v.as_ref(), &mut payload);
            }
            sorter.push(&key, &payload, ctx.env)?;
            Ok(true)
        })?;
        let mut sorted = RollupSort::new(self, ctx);
        // The keys that several groups share are shown as in the last of these.
        let mut last: Vec<Value> = Vec::new();
        sorter.drain(ctx.env, &mut |_, mut payload| {
            let level = take_u64(&mut payload)? as usize;
            let len = take_u64(&mut payload)? as usize;
            let (row, mut rest) = payload.split_at(len.min(payload.len()));
            let mut values: Vec<Value> = Vec::new();
            while !rest.is_empty() {
                values.push(codec.take(&mut rest)?.to_value());
            }
            if level == g.keys.len() {
                last.clear();
                for k in &g.keys {
                    last.push(k.expr.eval(ctx, &row_of(layout, row))?);
                }
            }
            values.extend_from_slice(last.get(..level).unwrap_or_default());
            values.resize(g.aggregates.len() + g.keys.len(), Value::Null);
            values.push(Value::Int(level as i64));
            match &mut sorted {
                Some(s) => s.push(g, layout, row, values, ctx),
                None => emit_group(g, layout, row, &values, ctx, out),
            }
        })?;
        match sorted {
            Some(s) => s.emit(layout, ctx, out),
            None => Ok(()),
        }
    }
}
