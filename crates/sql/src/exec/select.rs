//! Running SELECT.

use super::aggregate::Acc;
use super::order::{SortBuffer, push_key};
use super::rows::Flow;
use crate::expr::{EvalCtx, Expr, ExprKind, ImageRow, NoRow, RowAccess, SubqueryRows};
use crate::plan::select::{GroupPlan, Out, SelectPlan};
use crate::prepared::row_memory;
use ahash::{AHashMap, AHashSet};
use narwal_engine::Transaction;
use narwal_types::convert::{NoWarnings, to_integer};
use narwal_types::{DateTime, RowLayout, SqlError, SqlResult, Value, ValueRef};
use smallvec::SmallVec;
use std::cell::RefCell;

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
pub fn to_session_zone(v: ValueRef<'_>, offset: i32) -> ValueRef<'_> {
    match v {
        ValueRef::DateTime(t) if offset != 0 && !t.date.is_zero() => {
            DateTime::from_unix_micros(t.unix_micros() + i64::from(offset) * 1_000_000, t.fsp)
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
    ctx: &'p EvalCtx<'p>,
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
    fn push(&mut self, row: &[u8], access: &dyn RowAccess) -> SqlResult<bool> {
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
                self.computed.push(e.eval(self.ctx, access)?);
            }
        }
        let mut computed = self.computed.iter();
        let mut values: SmallVec<[ValueRef<'_>; 12]> = SmallVec::new();
        let offset = self.ctx.env.time_zone_offset;
        for i in &self.plan.items {
            values.push(match i {
                Out::Column { column, timestamp } => {
                    let v = match self.layout {
                        Some(l) if !row.is_empty() => l.column(row, *column)?,
                        _ => ValueRef::Null,
                    };
                    if *timestamp {
                        to_session_zone(v, offset)
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
        let subqueries = self.run_subqueries(txn, ctx)?;
        let ctx = &EvalCtx {
            subqueries: &subqueries,
            ..*ctx
        };
        let (skip, left) = self.skip_and_count(ctx)?;
        let layout = self.table.as_ref().map(|t| &t.table.layout);
        let mut out = Output {
            plan: self,
            ctx,
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
            let pass = match &self.filter {
                Some(f) => f.matches(ctx, &NoRow)?,
                None => true,
            };
            if pass {
                out.push(&[], &NoRow)?;
            }
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
            self.source(txn, ctx, false, &mut |row| {
                out.push(row, &ImageRow { layout, row })
            })?;
            return Ok(out.sent);
        }
        let mut buf = SortBuffer::new(sort, Some(layout), keep, ctx.env.max_memory);
        self.source(txn, ctx, false, &mut |row| {
            buf.push(&[], row, &ImageRow { layout, row }, ctx)?;
            Ok(true)
        })?;
        let total = buf.pushed();
        buf.sort();
        let mut more = true;
        for i in 0..buf.len() {
            if self.distinct_by_sort && i > 0 && buf.same_keys(i - 1, i) {
                continue;
            }
            let (_, row) = buf.get(i);
            more = out.push(row, &ImageRow { layout, row })?;
            if !more {
                break;
            }
        }
        let _ = more;
        if self.calc_found_rows && !self.distinct {
            out.sent.found = total;
        }
        Ok(out.sent)
    }

    /// Runs the subqueries of its expressions, each once.
    fn run_subqueries(
        &self,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
    ) -> SqlResult<Vec<SubqueryRows>> {
        let mut all = Vec::with_capacity(self.subqueries.len());
        for plan in &self.subqueries {
            let collation = plan.columns.first().map(|c| c.ty.collation);
            let collation = collation.unwrap_or_default();
            let mut rows = SubqueryRows::default();
            let mut used = 0u64;
            plan.run(txn, ctx, &mut |values| {
                let v = values.first().copied().unwrap_or_default();
                used += row_memory(&values[..1.min(values.len())]) + 64;
                if used > ctx.env.max_memory {
                    return Err(SqlError::new(
                        1038,
                        b"HY001",
                        "Out of memory for the rows of a subquery",
                    ));
                }
                rows.has_null |= v.is_null();
                let mut key = Vec::new();
                push_key(v, collation, &mut key);
                rows.keys.insert(key);
                rows.values.push(v.to_value());
                Ok(())
            })?;
            all.push(rows);
        }
        Ok(all)
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
            ctx,
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
                    Ok(if !out.push(row, &ImageRow { layout, row })? {
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
                let more = out.push(row, &ImageRow { layout, row })?;
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
        f: &mut dyn FnMut(&[u8]) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        let Some(t) = &self.table else { return Ok(()) };
        match self.lock_spec(ctx.env.locking_reads) {
            None => t.read(txn, ctx, keys_only, f),
            // The sources of a join lock their rows themselves.
            Some(_) if !t.is_stored() => t.read(txn, ctx, keys_only, f),
            Some(spec) => t.lock(txn, ctx, spec, false, &mut |_, _, row| f(row)),
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
        struct Group {
            row: Box<[u8]>,
            accs: SmallVec<[Acc; 2]>,
        }
        let new_accs = || -> SmallVec<[Acc; 2]> { g.aggregates.iter().map(Acc::new).collect() };
        let mut groups: Vec<Group> = Vec::new();
        if g.keys.is_empty() {
            // One group, even of no rows.
            let mut accs = new_accs();
            let mut first: Option<Box<[u8]>> = None;
            let Some(layout) = layout else {
                let pass = match &self.filter {
                    Some(f) => f.matches(ctx, &NoRow)?,
                    None => true,
                };
                if pass {
                    for (acc, a) in accs.iter_mut().zip(&g.aggregates) {
                        acc.update(a, &NoRow, ctx)?;
                    }
                }
                let values = finish(g, &accs)?;
                return emit_group(g, None, &[], &values, ctx, out).map(|_| ());
            };
            // Only items outside of aggregates look at a row of the group.
            let needs_row = self.items.iter().any(|i| match i {
                Out::Column { .. } => true,
                Out::Expr(e) => e.has_column(),
            }) || g.having.as_ref().is_some_and(Expr::has_column);
            if g.counts_only && !needs_row {
                let mut n = 0u64;
                self.source(txn, ctx, true, &mut |_| {
                    n += 1;
                    Ok(true)
                })?;
                let values: Vec<Value> =
                    g.aggregates.iter().map(|_| Value::Int(n as i64)).collect();
                return emit_group(g, Some(layout), &[], &values, ctx, out).map(|_| ());
            }
            self.source(txn, ctx, false, &mut |row| {
                if needs_row && first.is_none() {
                    first = Some(row.into());
                }
                let access = ImageRow { layout, row };
                for (acc, a) in accs.iter_mut().zip(&g.aggregates) {
                    acc.update(a, &access, ctx)?;
                }
                Ok(!(g.first_row_decides && accs.iter().all(Acc::decided)))
            })?;
            let values = finish(g, &accs)?;
            let row = first.unwrap_or_default();
            return emit_group(g, Some(layout), &row, &values, ctx, out).map(|_| ());
        }
        let mut index: AHashMap<Vec<u8>, usize> = AHashMap::new();
        let mut key = Vec::new();
        let mut memory = 0u64;
        let mut take = |row: &[u8], access: &dyn RowAccess| -> SqlResult<bool> {
            key.clear();
            for k in &g.keys {
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
                    });
                    index.insert(key.clone(), groups.len() - 1);
                    groups.len() - 1
                }
            };
            for (acc, a) in groups[at].accs.iter_mut().zip(&g.aggregates) {
                acc.update(a, access, ctx)?;
            }
            Ok(true)
        };
        match layout {
            Some(layout) => {
                self.source(txn, ctx, false, &mut |row| {
                    take(row, &ImageRow { layout, row })
                })?;
            }
            None => {
                let pass = match &self.filter {
                    Some(f) => f.matches(ctx, &NoRow)?,
                    None => true,
                };
                if pass {
                    take(&[], &NoRow)?;
                }
            }
        }
        drop(index);
        if self.sort.is_empty() {
            for group in &groups {
                let values = finish(g, &group.accs)?;
                if !emit_group(g, layout, &group.row, &values, ctx, out)? {
                    break;
                }
            }
            return Ok(());
        }
        let mut finished = Vec::with_capacity(groups.len());
        let mut buf = SortBuffer::new(&self.sort, None, keep, ctx.env.max_memory);
        for group in &groups {
            let values = finish(g, &group.accs)?;
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
            if !out.push(row, &access)? {
                break;
            }
        }
        if self.calc_found_rows && !self.distinct {
            out.sent.found = finished.len() as u64;
        }
        Ok(())
    }
}

fn finish(g: &GroupPlan, accs: &[Acc]) -> SqlResult<Vec<Value>> {
    accs.iter()
        .zip(&g.aggregates)
        .map(|(acc, a)| acc.finish(a))
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
    out.push(row, &access)
}
