//! Running SELECT.

use super::aggregate::Acc;
use super::order::{SortBuffer, compare, push_key};
use super::rows::{Flow, OnRow};
use crate::expr::{EvalCtx, Expr, ExprKind, ImageRow, NoRow, RowAccess, SubPlan};
use crate::plan::select::{GroupPlan, Out, SelectPlan};
use crate::prepared::row_memory;
use ahash::{AHashMap, AHashSet};
use narwal_engine::Transaction;
use narwal_types::convert::{NoWarnings, to_integer};
use narwal_types::{DateTime, RowLayout, SqlError, SqlResult, Value, ValueRef, Zone};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::cmp::Ordering;

/// Receives output rows. False = enough (not used for LIMIT, which is applied before).
pub type Emit<'e> = dyn FnMut(&[ValueRef<'_>]) -> SqlResult<()> + 'e;

/// Receives a portion of the output rows.
pub type OnRows<'e> = dyn FnMut(&mut Transaction, Vec<Vec<Value>>) -> SqlResult<()> + 'e;

/// Rows sent, and rows found before LIMIT.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sent {
    /// Rows emitted.
    pub rows: u64,
    /// FOUND_ROWS().
    pub found: u64,
}

/// A TIMESTAMP value in the session's time zone.
pub fn to_session_zone(v: ValueRef<'_>, zone: Zone) -> ValueRef<'_> {
    match v {
        ValueRef::DateTime(t) if !zone.is_utc() && !t.date.is_zero() => {
            DateTime::from_unix_micros(zone.local(t.unix_micros()), t.fsp)
                .map_or(ValueRef::Null, ValueRef::DateTime)
        }
        v => v,
    }
}

/// LIMIT's operand as a number.
pub fn limit_of(e: &Expr, ctx: &EvalCtx<'_>) -> SqlResult<u64> {
    let v = match &e.kind {
        ExprKind::Param(i) => ctx.params.get(*i).cloned().unwrap_or_default(),
        _ => e.eval(ctx, &NoRow)?,
    };
    if v.is_null() {
        return Ok(0);
    }
    let n = to_integer(v.as_ref(), &mut NoWarnings);
    if n < 0 {
        return Err(SqlError::new(
            1210,
            b"HY000",
            "Incorrect arguments to LIMIT",
        ));
    }
    Ok(u64::try_from(n).unwrap_or(u64::MAX))
}

/// A group's row with its aggregates.
struct GroupRow<'a> {
    layout: Option<&'a RowLayout>,
    /// A row of the group; empty if there was none.
    row: &'a [u8],
    aggregates: &'a [Value],
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

/// The end of the pipeline: DISTINCT, offset, count, output.
struct Output<'p, 'e> {
    plan: &'p SelectPlan,
    layout: Option<&'p RowLayout>,
    emit: &'p mut Emit<'e>,
    seen: Option<AHashSet<Vec<u8>>>,
    key: Vec<u8>,
    skip: u64,
    left: u64,
    sent: Sent,
    /// Computed items of the current row.
    computed: Vec<Value>,
}

impl Output<'_, '_> {
    /// Takes a row; false if no more are wanted.
    fn push(&mut self, ctx: &EvalCtx<'_>, row: &[u8], access: &dyn RowAccess) -> SqlResult<bool> {
        if self.left == 0 && !self.plan.calc_found_rows {
            return Ok(false);
        }
        if self.seen.is_none() {
            self.sent.found += 1;
            if self.skip > 0 {
                self.skip -= 1;
                return Ok(true);
            }
            if self.left == 0 {
                return Ok(true);
            }
        }
        self.computed.clear();
        for i in &self.plan.items {
            if let Out::Expr(e) = i {
                self.computed.push(e.eval(ctx, access)?);
            }
        }
        let mut computed = self.computed.iter();
        let mut values: SmallVec<[ValueRef<'_>; 12]> = SmallVec::new();
        let zone = ctx.env.time_zone;
        for i in &self.plan.items {
            values.push(match i {
                Out::Column { column, timestamp } => {
                    let v = match self.layout {
                        Some(l) if !row.is_empty() => l.column(row, *column)?,
                        _ => ValueRef::Null,
                    };
                    if *timestamp {
                        to_session_zone(v, zone)
                    } else {
                        v
                    }
                }
                Out::Expr(_) => computed.next().map_or(ValueRef::Null, Value::as_ref),
            });
        }
        if let Some(seen) = &mut self.seen {
            self.key.clear();
            for (v, c) in values.iter().zip(self.plan.columns.iter()) {
                push_key(*v, c.ty.collation, &mut self.key);
            }
            if seen.contains(&self.key) {
                return Ok(true);
            }
            seen.insert(self.key.clone());
            self.sent.found += 1;
            if self.skip > 0 {
                self.skip -= 1;
                return Ok(true);
            }
            if self.left == 0 {
                return Ok(true);
            }
        }
        (self.emit)(&values)?;
        self.sent.rows += 1;
        self.left -= 1;
        Ok(self.left > 0 || self.plan.calc_found_rows)
    }
}

impl SelectPlan {
    /// Runs it: calls `emit` for each row.
    pub fn run(
        &self,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        emit: &mut Emit<'_>,
    ) -> SqlResult<Sent> {
        let subqueries = SubPlan::run_all(&self.subqueries, txn, ctx)?;
        let ctx = &EvalCtx {
            subqueries: &subqueries,
            ..*ctx
        };
        let (skip, mut left) = self.skip_and_count(ctx)?;
        if let Some(n) = self.stop_after
            && !self.calc_found_rows
        {
            left = left.min(n);
        }
        let layout = self.table.as_ref().map(|t| &t.table.layout);
        let mut out = Output {
            plan: self,
            layout,
            emit,
            seen: (self.distinct && !self.distinct_by_sort).then(AHashSet::new),
            key: Vec::new(),
            skip,
            left,
            sent: Sent::default(),
            computed: Vec::new(),
        };
        if left == 0 && !self.calc_found_rows {
            return Ok(out.sent);
        }
        let keep = if self.calc_found_rows || self.distinct {
            usize::MAX / 16
        } else {
            usize::try_from(left.saturating_add(skip))
                .unwrap_or(usize::MAX)
                .min(usize::MAX / 16)
        };
        if let Some(g) = &self.group {
            self.grouped(g, txn, ctx, layout, keep, &mut out)?;
            return Ok(out.sent);
        }
        let Some(layout) = layout else {
            self.no_rows(txn, ctx, |ctx| out.push(ctx, &[], &NoRow).map(|_| ()))?;
            return Ok(out.sent);
        };
        let mut sort = &self.sort;
        if let Some(t) = &self.table
            && !self.fallback_sort.is_empty()
            && t.access.order_by_values
            && !t.access.order_holds(&t.table, ctx)?
        {
            sort = &self.fallback_sort;
        }
        if sort.is_empty() {
            self.source(txn, ctx, false, &mut |ctx, row| {
                out.push(ctx, row, &ImageRow { layout, row })
            })?;
            return Ok(out.sent);
        }
        let mut buf = SortBuffer::new(sort, Some(layout), keep, ctx.env.max_memory);
        self.source(txn, ctx, false, &mut |ctx, row| {
            buf.push(&[], row, &ImageRow { layout, row }, ctx)?;
            Ok(true)
        })?;
        let total = buf.pushed();
        buf.sort();
        self.evaluating(txn, ctx, |ctx| {
            for i in 0..buf.len() {
                if self.distinct_by_sort && i > 0 && buf.same_keys(i - 1, i) {
                    continue;
                }
                let (_, row) = buf.get(i);
                if !out.push(ctx, row, &ImageRow { layout, row })? {
                    break;
                }
            }
            Ok(())
        })?;
        if self.calc_found_rows && !self.distinct {
            out.sent.found = total;
        }
        Ok(out.sent)
    }

    /// Evaluates expressions while no rows are read.
    fn evaluating<T>(
        &self,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        f: impl FnOnce(&EvalCtx<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        if self.row_wise {
            ctx.with_txn(txn, f)
        } else {
            f(ctx)
        }
    }

    /// Without FROM: calls `f` if WHERE holds.
    fn no_rows(
        &self,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        f: impl FnOnce(&EvalCtx<'_>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        self.evaluating(txn, ctx, |ctx| match &self.filter {
            Some(w) if !w.matches(ctx, &NoRow)? => Ok(()),
            _ => f(ctx),
        })
    }

    /// LIMIT: rows to skip, rows to send.
    fn skip_and_count(&self, ctx: &EvalCtx<'_>) -> SqlResult<(u64, u64)> {
        let Some(l) = &self.limit else {
            return Ok((0, u64::MAX));
        };
        let skip = match &l.offset {
            Some(o) => limit_of(o, ctx)?,
            None => 0,
        };
        let count = match &l.count {
            Some(c) => limit_of(c, ctx)?,
            None => ctx.env.select_limit,
        };
        Ok((skip, count))
    }

    /// Runs it for a consumer that changes other tables than the one read: hands on rows in portions of about
    /// `max_rows` rows or `max_bytes` bytes, with no scan open meanwhile. False if the rows can't be had in portions
    /// (they are sorted, grouped or compared with each other): nothing was done.
    pub fn run_in_portions(
        &self,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        (max_rows, max_bytes): (usize, u64),
        on_rows: &mut OnRows<'_>,
    ) -> SqlResult<bool> {
        let Some(t) = &self.table else {
            return Ok(false);
        };
        if !t.is_stored()
            || !self.subqueries.is_empty()
            || self.group.is_some()
            || !self.sort.is_empty()
            || self.distinct
            || self.calc_found_rows
            || (!self.fallback_sort.is_empty()
                && t.access.order_by_values
                && !t.access.order_holds(&t.table, ctx)?)
        {
            return Ok(false);
        }
        let (skip, left) = self.skip_and_count(ctx)?;
        if left == 0 {
            return Ok(true);
        }
        let portion = RefCell::new((Vec::new(), 0u64));
        let mut emit = |row: &[ValueRef<'_>]| {
            let mut p = portion.borrow_mut();
            p.1 += row_memory(row);
            p.0.push(row.iter().map(ValueRef::to_value).collect());
            Ok(())
        };
        let layout = &t.table.layout;
        let mut out = Output {
            plan: self,
            layout: Some(layout),
            emit: &mut emit,
            seen: None,
            key: Vec::new(),
            skip,
            left,
            sent: Sent::default(),
            computed: Vec::new(),
        };
        let full = || {
            let p = portion.borrow();
            p.0.len() >= max_rows || p.1 >= max_bytes
        };
        let mut hand_on = |txn: &mut Transaction| {
            let (rows, _) = portion.take();
            on_rows(txn, rows)
        };
        match self.lock_spec(ctx.env.locking_reads) {
            None => t.read_pausing(
                txn,
                ctx,
                &mut |row| {
                    Ok(if !out.push(ctx, row, &ImageRow { layout, row })? {
                        Flow::Enough
                    } else if full() {
                        Flow::Pause
                    } else {
                        Flow::More
                    })
                },
                &mut hand_on,
            )?,
            Some(spec) => t.lock(txn, ctx, spec, false, &mut |txn, _, row| {
                let more = out.push(ctx, row, &ImageRow { layout, row })?;
                if full() {
                    hand_on(txn)?;
                }
                Ok(more)
            })?,
        }
        hand_on(txn)?;
        Ok(true)
    }

    /// Reads the table's matching rows, locking them if asked to.
    fn source(
        &self,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        keys_only: bool,
        f: &mut OnRow<'_>,
    ) -> SqlResult<()> {
        let Some(t) = &self.table else { return Ok(()) };
        match self.lock_spec(ctx.env.locking_reads) {
            None if self.row_wise => t.read_row_wise(txn, ctx, f),
            None => t.read(txn, ctx, keys_only && t.late.is_none(), f),
            // The sources of a join lock their rows themselves.
            Some(_) if !t.is_stored() && self.row_wise => t.read_row_wise(txn, ctx, f),
            Some(_) if !t.is_stored() => t.read(txn, ctx, keys_only, f),
            Some(spec) => t.lock(txn, ctx, spec, false, &mut |txn, _, row| {
                self.evaluating(txn, ctx, |ctx| f(ctx, row))
            }),
        }
    }

    fn grouped(
        &self,
        g: &GroupPlan,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        layout: Option<&RowLayout>,
        keep: usize,
        out: &mut Output<'_, '_>,
    ) -> SqlResult<()> {
        let new_accs = || -> SmallVec<[Acc; 2]> { g.aggregates.iter().map(Acc::new).collect() };
        let mut groups: Vec<Group> = Vec::new();
        if g.keys.is_empty() {
            // One group, even of no rows.
            let mut accs = new_accs();
            let mut first: Option<Box<[u8]>> = None;
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
            // Only items outside of aggregates look at a row of the group.
            let needs_row = self.items.iter().any(|i| match i {
                Out::Column { .. } => true,
                Out::Expr(e) => e.has_column(),
            }) || g.having.as_ref().is_some_and(Expr::has_column);
            if g.counts_only && !needs_row {
                let mut n = 0u64;
                self.source(txn, ctx, true, &mut |_, _| {
                    n += 1;
                    Ok(true)
                })?;
                let values: Vec<Value> =
                    g.aggregates.iter().map(|_| Value::Int(n as i64)).collect();
                return self
                    .evaluating(txn, ctx, |ctx| {
                        emit_group(g, Some(layout), &[], &values, ctx, out)
                    })
                    .map(|_| ());
            }
            self.source(txn, ctx, false, &mut |ctx, row| {
                if needs_row && first.is_none() {
                    first = Some(row.into());
                }
                let access = ImageRow { layout, row };
                for (acc, a) in accs.iter_mut().zip(&g.aggregates) {
                    acc.update(a, &access, ctx)?;
                }
                Ok(!(g.first_row_decides && accs.iter().all(Acc::decided)))
            })?;
            let values = finish(g, &accs, ctx)?;
            let row = first.unwrap_or_default();
            return self
                .evaluating(txn, ctx, |ctx| {
                    emit_group(g, Some(layout), &row, &values, ctx, out)
                })
                .map(|_| ());
        }
        let mut index: AHashMap<Vec<u8>, usize> = AHashMap::new();
        let mut key = Vec::new();
        let mut memory = 0u64;
        // WITH ROLLUP makes a group of each number of first keys.
        let levels = if g.rollup {
            0..=g.keys.len()
        } else {
            g.keys.len()..=g.keys.len()
        };
        let mut take_level = |ctx: &EvalCtx<'_>,
                              row: &[u8],
                              access: &dyn RowAccess,
                              level: usize|
         -> SqlResult<()> {
            key.clear();
            if g.rollup {
                key.extend_from_slice(&(level as u32).to_le_bytes());
            }
            for k in &g.keys[..level] {
                let v = k.expr.eval(ctx, access)?;
                push_key(v.as_ref(), k.expr.ty.ty.collation, &mut key);
            }
            let at = match index.get(&key) {
                Some(i) => *i,
                None => {
                    memory += (key.len() + row.len() + 128 + g.aggregates.len() * 160) as u64;
                    if memory > ctx.env.max_memory {
                        return Err(SqlError::new(
                            1038,
                            b"HY001",
                            "Out of memory for the groups of one statement",
                        ));
                    }
                    groups.push(Group {
                        row: row.into(),
                        accs: new_accs(),
                        level,
                    });
                    index.insert(key.clone(), groups.len() - 1);
                    groups.len() - 1
                }
            };
            for (acc, a) in groups[at].accs.iter_mut().zip(&g.aggregates) {
                acc.update(a, access, ctx)?;
            }
            Ok(())
        };
        let mut take = |ctx: &EvalCtx<'_>, row: &[u8], access: &dyn RowAccess| {
            for level in levels.clone() {
                take_level(ctx, row, access, level)?;
            }
            Ok(true)
        };
        match layout {
            Some(layout) => {
                self.source(txn, ctx, false, &mut |ctx, row| {
                    take(ctx, row, &ImageRow { layout, row })
                })?;
            }
            None => self.no_rows(txn, ctx, |ctx| take(ctx, &[], &NoRow).map(|_| ()))?,
        }
        drop(index);
        self.evaluating(txn, ctx, |ctx| {
            self.emit_groups(g, &groups, layout, keep, ctx, out)
        })
    }

    /// Puts the groups of WITH ROLLUP out: in the order of their keys, those of several behind them.
    fn emit_rollup(
        &self,
        g: &GroupPlan,
        groups: &[Group],
        layout: Option<&RowLayout>,
        ctx: &EvalCtx<'_>,
        out: &mut Output<'_, '_>,
    ) -> SqlResult<()> {
        let mut all = Vec::with_capacity(groups.len());
        for group in groups {
            let access = GroupRow {
                layout,
                row: &group.row,
                aggregates: &[],
            };
            let keys = g.keys[..group.level]
                .iter()
                .map(|k| k.expr.eval(ctx, &access))
                .collect::<SqlResult<Vec<_>>>()?;
            all.push((keys, group));
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
        // The keys that several groups share are shown as in the last of these.
        let mut last: Vec<Value> = Vec::new();
        for (keys, group) in all {
            let mut values = finish(g, &group.accs, ctx)?;
            if group.level == g.keys.len() {
                last = keys;
            }
            values.extend_from_slice(last.get(..group.level).unwrap_or_default());
            values.resize(g.aggregates.len() + g.keys.len(), Value::Null);
            if !emit_group(g, layout, &group.row, &values, ctx, out)? {
                break;
            }
        }
        Ok(())
    }

    /// Puts groups out, sorted if need be.
    fn emit_groups(
        &self,
        g: &GroupPlan,
        groups: &[Group],
        layout: Option<&RowLayout>,
        keep: usize,
        ctx: &EvalCtx<'_>,
        out: &mut Output<'_, '_>,
    ) -> SqlResult<()> {
        if g.rollup {
            return self.emit_rollup(g, groups, layout, ctx, out);
        }
        if self.sort.is_empty() {
            for group in groups {
                let values = finish(g, &group.accs, ctx)?;
                if !emit_group(g, layout, &group.row, &values, ctx, out)? {
                    break;
                }
            }
            return Ok(());
        }
        let mut finished = Vec::with_capacity(groups.len());
        let mut buf = SortBuffer::new(&self.sort, None, keep, ctx.env.max_memory);
        for group in groups {
            let values = finish(g, &group.accs, ctx)?;
            let access = GroupRow {
                layout,
                row: &group.row,
                aggregates: &values,
            };
            if let Some(h) = &g.having
                && !h.matches(ctx, &access)?
            {
                continue;
            }
            buf.push(
                &(finished.len() as u64).to_le_bytes(),
                &group.row,
                &access,
                ctx,
            )?;
            finished.push(values);
        }
        buf.sort();
        for i in 0..buf.len() {
            let (n, row) = buf.get(i);
            let n = n
                .try_into()
                .map(u64::from_le_bytes)
                .map_or(0, |n| n as usize);
            let access = GroupRow {
                layout,
                row,
                aggregates: &finished[n],
            };
            if !out.push(ctx, row, &access)? {
                break;
            }
        }
        if self.calc_found_rows && !self.distinct {
            out.sent.found = finished.len() as u64;
        }
        Ok(())
    }
}

/// A group while rows are read.
struct Group {
    row: Box<[u8]>,
    accs: SmallVec<[Acc; 2]>,
    /// Number of keys that its rows share.
    level: usize,
}

fn finish(g: &GroupPlan, accs: &[Acc], ctx: &EvalCtx<'_>) -> SqlResult<Vec<Value>> {
    accs.iter()
        .zip(&g.aggregates)
        .map(|(acc, a)| acc.finish(a, ctx.env))
        .collect()
}

fn emit_group(
    g: &GroupPlan,
    layout: Option<&RowLayout>,
    row: &[u8],
    aggregates: &[Value],
    ctx: &EvalCtx<'_>,
    out: &mut Output<'_, '_>,
) -> SqlResult<bool> {
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
