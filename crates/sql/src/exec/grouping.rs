//! GROUP BY: groups are found by a hash of their keys while rows are read, then put out in order.

use super::aggregate::{Acc, All, bits_as_number, holds_all};
use super::key_table::KeyTable;
use super::order::{SortBuffer, compare, push_key};
use super::rollup_sort::RollupSort;
use super::select::Output;
use super::value_bytes::ValueBytes;
use crate::env::StatementEnv;
use crate::exec::context::RunCtx;
use crate::exec::groups::Aside;
use crate::exec::groups::{GroupRow, Groups, add_computed};
use crate::expr::node::{NoRow, RowAccess};
use crate::plan::query::{GroupPlan, SelectPlan};
use narwal_engine::Transaction;
use narwal_types::{RowLayout, SqlResult, Value, ValueRef};
use smallvec::SmallVec;
use std::cmp::Ordering;

impl<'p> Groups<'p> {
    pub(super) fn new(
        plan: &'p GroupPlan,
        layout: Option<&'p RowLayout>,
        env: &StatementEnv,
    ) -> Self {
        Groups {
            plan,
            layout,
            keys: KeyTable::default(),
            count: 0,
            ends: Vec::new(),
            rows: Vec::new(),
            accs: Vec::new(),
            levels: Vec::new(),
            key: Vec::new(),
            room: env.table_room(),
            holds: plan.aggregates.iter().any(holds_all),
            held: 0,
            values: None,
            aside: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// A group's row; empty if nobody looks at it.
    pub(super) fn row(&self, n: usize) -> &[u8] {
        let Some(end) = self.ends.get(n) else {
            return &[];
        };
        let start = if n == 0 { 0 } else { self.ends[n - 1] };
        &self.rows[start..*end]
    }

    fn accs(&self, n: usize) -> &[Acc] {
        let each = self.plan.aggregates.len();
        &self.accs[n * each..(n + 1) * each]
    }

    pub(super) fn level(&self, n: usize) -> usize {
        self.levels
            .get(n)
            .map_or(self.plan.keys.len(), |l| *l as usize)
    }

    /// Takes a row into the group of its first `level` keys.
    fn take(
        &mut self,
        ctx: &RunCtx<'_>,
        row: &[u8],
        access: &dyn RowAccess,
        level: usize,
    ) -> SqlResult<()> {
        let plan = self.plan;
        self.key.clear();
        if plan.rollup {
            self.key.extend_from_slice(&(level as u32).to_le_bytes());
        }
        for k in &plan.keys[..level] {
            let v = k.expr.eval_ref(ctx, access)?;
            push_key(v.as_ref(), k.expr.ty.ty.collation, &mut self.key);
        }
        self.take_key(ctx, row, access, level, None)
    }

    /// Takes a row into the group of `key`. `number`: that of the row, if it was set aside before.
    pub(super) fn take_key(
        &mut self,
        ctx: &RunCtx<'_>,
        row: &[u8],
        access: &dyn RowAccess,
        level: usize,
        number: Option<u64>,
    ) -> SqlResult<()> {
        let plan = self.plan;
        let at = if self.aside.is_none() {
            let (at, new) = self.keys.insert(&self.key);
            if new {
                self.add_accs();
                self.add_row(row)?;
                if plan.rollup {
                    self.levels.push(level as u32);
                }
                if self.is_full() {
                    self.aside = Some(Aside::new(plan, number.is_none(), ctx.env));
                }
            }
            at
        } else {
            match self.keys.get(&self.key) {
                Some(at) => at,
                None => return self.set_aside(ctx.env, row, level, number),
            }
        };
        self.update(at, access, ctx)
    }

    fn update(&mut self, at: usize, access: &dyn RowAccess, ctx: &RunCtx<'_>) -> SqlResult<()> {
        let plan = self.plan;
        let each = plan.aggregates.len();
        let accs = &mut self.accs[at * each..(at + 1) * each];
        if !self.holds {
            for (acc, a) in accs.iter_mut().zip(&plan.aggregates) {
                acc.update(a, access, ctx)?;
            }
            return Ok(());
        }
        for (acc, a) in accs.iter_mut().zip(&plan.aggregates) {
            let before = acc.held();
            acc.update(a, access, ctx)?;
            self.held += acc.held() - before;
        }
        if self.held > self.room / 4 {
            self.set_values_aside(ctx.env)?;
        }
        Ok(())
    }

    /// A new group.
    pub(super) fn add_accs(&mut self) {
        self.count += 1;
        self.accs.extend(self.plan.aggregates.iter().map(Acc::new));
    }

    /// True if the groups take all the memory that they may.
    pub(super) fn is_full(&self) -> bool {
        self.is_full_beside(0)
    }

    /// The same if something else takes so many bytes of it.
    pub(super) fn is_full_beside(&self, other: u64) -> bool {
        let room = if self.holds { self.room / 2 } else { self.room };
        self.memory() + other > room
    }

    /// Forgets all groups.
    pub(super) fn clear(&mut self) {
        self.keys.clear();
        self.count = 0;
        self.ends.clear();
        self.rows.clear();
        self.accs.clear();
        self.levels.clear();
        self.held = 0;
    }

    /// The row of the first group that has none yet.
    pub(super) fn add_row(&mut self, row: &[u8]) -> SqlResult<()> {
        if let (Some(layout), false) = (self.layout, row.is_empty()) {
            let mut values: SmallVec<[ValueRef<'_>; 16]> = SmallVec::new();
            values.resize(layout.columns().len(), ValueRef::Null);
            for c in &self.plan.row_columns {
                values[*c] = layout.column(row, *c)?;
            }
            layout.encode(&values, &mut self.rows)?;
        }
        self.ends.push(self.rows.len());
        Ok(())
    }

    /// Takes a row into the last group.
    pub(super) fn update_last(
        &mut self,
        access: &dyn RowAccess,
        ctx: &RunCtx<'_>,
    ) -> SqlResult<()> {
        self.update(self.count - 1, access, ctx)
    }

    /// True if all aggregates of the last group have a value.
    pub(super) fn last_is_decided(&self) -> bool {
        let first = self.accs.len() - self.plan.aggregates.len();
        self.accs[first..].iter().all(Acc::decided)
    }

    fn memory(&self) -> u64 {
        let acc = size_of::<Acc>() + if self.holds { size_of::<All>() } else { 0 };
        let own = self.rows.len() + self.ends.len() * 8 + self.accs.len() * acc;
        self.keys.memory() + own as u64
    }

    /// The results of a group's aggregates.
    pub(super) fn finish(&self, n: usize, ctx: &RunCtx<'_>) -> SqlResult<Vec<Value>> {
        finish(self.plan, self.accs(n), ctx)
    }
}

fn finish(g: &GroupPlan, accs: &[Acc], ctx: &RunCtx<'_>) -> SqlResult<Vec<Value>> {
    let values = accs.iter().zip(&g.aggregates);
    let values = values.map(|(acc, a)| acc.finish(a, ctx.env));
    let mut values: Vec<Value> = values.collect::<SqlResult<_>>()?;
    // As MariaDB, which puts groups into a table, where a BIT has its bytes.
    if g.keys.is_empty() {
        values.iter_mut().for_each(bits_as_number);
    }
    Ok(values)
}

/// Puts a group out if HAVING lets it.
pub(super) fn emit_group(
    g: &GroupPlan,
    layout: Option<&RowLayout>,
    row: &[u8],
    aggregates: &[Value],
    ctx: &RunCtx<'_>,
    out: &mut Output<'_, '_>,
) -> SqlResult<bool> {
    let mut all;
    let aggregates = if g.computed.is_empty() {
        aggregates
    } else {
        all = aggregates.to_vec();
        add_computed(g, layout, row, &mut all, ctx)?;
        &all
    };
    let access = GroupRow {
        layout,
        row,
        aggregates,
    };
    if let Some(h) = &g.having
        && !h.matches(ctx, &access)?
    {
        return Ok(true);
    }
    out.push(ctx, row, &access)
}

impl SelectPlan {
    /// Reads and groups the rows, and puts the groups out.
    pub(super) fn grouped(
        &self,
        g: &GroupPlan,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        layout: Option<&RowLayout>,
        keep: usize,
        out: &mut Output<'_, '_>,
    ) -> SqlResult<()> {
        if g.keys.is_empty() {
            return self.one_group(g, txn, ctx, layout, out);
        }
        if let (Some(by), Some(layout)) = (&g.by_index, layout)
            && self.lock_spec(ctx.env.locking_reads).is_none()
        {
            return self.grouped_by_index(g, by, txn, ctx, layout, keep, out);
        }
        let mut groups = Groups::new(g, layout, ctx.env);
        // WITH ROLLUP makes a group of each number of first keys.
        let first_level = if g.rollup { 0 } else { g.keys.len() };
        let mut take = |ctx: &RunCtx<'_>, row: &[u8], access: &dyn RowAccess| {
            for level in first_level..=g.keys.len() {
                groups.take(ctx, row, access, level)?;
            }
            Ok(true)
        };
        match layout {
            Some(layout) => {
                self.source(txn, ctx, false, &mut |ctx, row| {
                    take(ctx, row, &crate::expr::node::ImageRow { layout, row })
                })?;
            }
            None => self.no_rows(txn, ctx, |ctx| take(ctx, &[], &NoRow).map(|_| ()))?,
        }
        self.evaluating(txn, ctx, |ctx| {
            if groups.is_spilled() {
                return self.emit_spilled(groups, keep, ctx, out);
            }
            groups.keys.clear();
            self.emit_groups(&groups, keep, ctx, out)
        })
    }

    /// One group, even of no rows.
    fn one_group(
        &self,
        g: &GroupPlan,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        layout: Option<&RowLayout>,
        out: &mut Output<'_, '_>,
    ) -> SqlResult<()> {
        let mut accs: SmallVec<[Acc; 4]> = g.aggregates.iter().map(Acc::new).collect();
        if let Some(layout) = layout
            && g.aggregates.iter().any(holds_all)
        {
            let mut groups = Groups::new(g, Some(layout), ctx.env);
            groups.add_accs();
            let mut first = true;
            self.source(txn, ctx, false, &mut |ctx, row| {
                if std::mem::take(&mut first) {
                    groups.add_row(row)?;
                }
                groups.update_last(&crate::expr::node::ImageRow { layout, row }, ctx)?;
                Ok(true)
            })?;
            return self.evaluating(txn, ctx, |ctx| {
                groups
                    .each_finished(ctx, &mut |row, _, values| {
                        emit_group(g, Some(layout), row, values, ctx, out)
                    })
                    .map(|_| ())
            });
        }
        let Some(layout) = layout else {
            self.no_rows(txn, ctx, |ctx| {
                for (acc, a) in accs.iter_mut().zip(&g.aggregates) {
                    acc.update(a, &NoRow, ctx)?;
                }
                Ok(())
            })?;
            let values = finish(g, &accs, ctx)?;
            return self
                .evaluating(txn, ctx, |ctx| emit_group(g, None, &[], &values, ctx, out))
                .map(|_| ());
        };
        let mut first: Option<Box<[u8]>> = None;
        let values = if g.counts_only && g.row_columns.is_empty() {
            let mut n = 0u64;
            self.source(txn, ctx, true, &mut |_, _| {
                n += 1;
                Ok(true)
            })?;
            g.aggregates.iter().map(|_| Value::Int(n as i64)).collect()
        } else {
            let locks = self.lock_spec(ctx.env.locking_reads).is_some();
            if !locks && self.ends_hold(g, ctx)? {
                accs = self.ends(g, txn, ctx, layout)?.into();
                let values = finish(g, &accs, ctx)?;
                return self
                    .evaluating(txn, ctx, |ctx| {
                        emit_group(g, Some(layout), &[], &values, ctx, out)
                    })
                    .map(|_| ());
            }
            // Only items outside of aggregates look at a row of the group.
            let needs_row = !g.row_columns.is_empty();
            self.source(txn, ctx, false, &mut |ctx, row| {
                if needs_row && first.is_none() {
                    first = Some(row.into());
                }
                let access = crate::expr::node::ImageRow { layout, row };
                for (acc, a) in accs.iter_mut().zip(&g.aggregates) {
                    acc.update(a, &access, ctx)?;
                }
                Ok(true)
            })?;
            finish(g, &accs, ctx)?
        };
        let row = first.unwrap_or_default();
        self.evaluating(txn, ctx, |ctx| {
            emit_group(g, Some(layout), &row, &values, ctx, out)
        })
        .map(|_| ())
    }

    /// Puts the groups of WITH ROLLUP out: in the order of their keys, those of several behind them.
    fn emit_rollup(
        &self,
        groups: &Groups<'_>,
        ctx: &RunCtx<'_>,
        out: &mut Output<'_, '_>,
    ) -> SqlResult<()> {
        let g = groups.plan;
        let mut all = Vec::with_capacity(groups.len());
        for n in 0..groups.len() {
            let access = GroupRow {
                layout: groups.layout,
                row: groups.row(n),
                aggregates: &[],
            };
            let keys = g.keys[..groups.level(n)]
                .iter()
                .map(|k| k.expr.eval(ctx, &access))
                .collect::<SqlResult<Vec<_>>>()?;
            all.push((keys, n));
        }
        all.sort_by(|(a, _), (b, _)| {
            for (i, k) in g.keys.iter().enumerate() {
                let o = match (a.get(i), b.get(i)) {
                    (Some(x), Some(y)) => {
                        let o = compare(x.as_ref(), y.as_ref(), k.expr.ty.ty.collation);
                        if k.desc { o.reverse() } else { o }
                    }
                    (Some(_), None) => Ordering::Less,
                    (None, Some(_)) => Ordering::Greater,
                    (None, None) => return Ordering::Equal,
                };
                if o != Ordering::Equal {
                    return o;
                }
            }
            Ordering::Equal
        });
        let mut sorted = RollupSort::new(self, ctx);
        // The keys that several groups share are shown as in the last of these.
        let mut last: Vec<Value> = Vec::new();
        for (keys, n) in all {
            let mut values = groups.finish(n, ctx)?;
            if groups.level(n) == g.keys.len() {
                last = keys;
            }
            values.extend_from_slice(last.get(..groups.level(n)).unwrap_or_default());
            values.resize(g.aggregates.len() + g.keys.len(), Value::Null);
            values.push(Value::Int(groups.level(n) as i64));
            let row = groups.row(n);
            let more = match &mut sorted {
                Some(s) => s.push(g, groups.layout, row, values, ctx)?,
                None => emit_group(g, groups.layout, row, &values, ctx, out)?,
            };
            if !more {
                break;
            }
        }
        match sorted {
            Some(s) => s.emit(groups.layout, ctx, out),
            None => Ok(()),
        }
    }

    /// Puts groups out, sorted if need be.
    pub(super) fn emit_groups(
        &self,
        groups: &Groups<'_>,
        keep: usize,
        ctx: &RunCtx<'_>,
        out: &mut Output<'_, '_>,
    ) -> SqlResult<()> {
        let (g, layout) = (groups.plan, groups.layout);
        if g.rollup {
            return self.emit_rollup(groups, ctx, out);
        }
        if self.sort.is_empty() {
            for n in 0..groups.len() {
                let values = groups.finish(n, ctx)?;
                if !emit_group(g, layout, groups.row(n), &values, ctx, out)? {
                    break;
                }
            }
            return Ok(());
        }
        let mut buf = SortBuffer::new(&self.sort, keep, ctx.env);
        // Behind a group's number: what was computed of it.
        let mut codec = ValueBytes::default();
        let mut payload = Vec::new();
        for n in 0..groups.len() {
            let mut values = groups.finish(n, ctx)?;
            add_computed(g, layout, groups.row(n), &mut values, ctx)?;
            let access = GroupRow {
                layout,
                row: groups.row(n),
                aggregates: &values,
            };
            if let Some(h) = &g.having
                && !h.matches(ctx, &access)?
            {
                continue;
            }
            payload.clear();
            payload.extend_from_slice(&(n as u64).to_le_bytes());
            for v in &values[g.aggregates.len()..] {
                codec.put(v.as_ref(), &mut payload);
            }
            buf.push(&payload, &[], &access, ctx)?;
        }
        let total = buf.pushed();
        buf.drain(ctx, &mut |payload, _, _| {
            let (n, mut computed) = payload.split_first_chunk().unwrap_or((&[0; 8], &[]));
            let n = u64::from_le_bytes(*n) as usize;
            let mut values = groups.finish(n, ctx)?;
            while !computed.is_empty() {
                values.push(codec.take(&mut computed)?.to_value());
            }
            let access = GroupRow {
                layout,
                row: groups.row(n),
                aggregates: &values,
            };
            out.push(ctx, groups.row(n), &access)
        })?;
        if self.calc_found_rows && !self.distinct {
            out.sent.found = total;
        }
        Ok(())
    }
}
