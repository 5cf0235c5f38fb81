//! Running SELECT.

use super::distinct::Distinct;
use super::order::{SortBuffer, push_key};
use super::value_bytes::ValueBytes;
use crate::exec::context::{RunCtx, Running};
use crate::exec::rows::{Flow, OnRow};
use crate::exec::value_list::row_memory;
use crate::exec::window::WindowStage;
use crate::expr::node::{Expr, ExprKind, ImageRow, NoRow, RowAccess};
use crate::plan::query::SortKey;
use crate::plan::query::SubPlan;
use crate::plan::query::TablePlan;
use crate::plan::query::{Digits, Out, SelectPlan};
use crate::zone::seen;
use narwal_engine::Transaction;
use narwal_types::convert::{NoWarnings, to_integer};
use narwal_types::errors;
use narwal_types::{RowLayout, SqlError, SqlResult, Value, ValueRef};
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};

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

/// LIMIT's operand as a number.
pub fn limit_of(e: &Expr, ctx: &RunCtx<'_>) -> SqlResult<u64> {
    let v = match &e.kind {
        ExprKind::Param(i) => ctx.params.get(*i).cloned().unwrap_or_default(),
        _ => e.eval(ctx, &NoRow)?,
    };
    if v.is_null() {
        return Ok(0);
    }
    let n = to_integer(v.as_ref(), &mut NoWarnings);
    match u64::try_from(n) {
        Ok(n) => Ok(n),
        // A program's variable is bound as an unsigned number: a negative one is no limit.
        Err(_) if n >= 0 || e.ty.ty.unsigned => Ok(u64::MAX),
        Err(_) => Err(errors::WRONG_ARGUMENTS.with([&"EXECUTE"])),
    }
}

/// WITH TIES.
struct Ties<'p> {
    keys: &'p [SortKey],
    /// What the row that LIMIT ends with has.
    last: Vec<u8>,
    /// The current row has it too, and LIMIT is used up.
    tied: bool,
}

impl<'p> Ties<'p> {
    fn new(plan: &'p SelectPlan) -> Option<Self> {
        plan.ties.as_deref().map(|keys| Ties {
            keys,
            last: Vec::new(),
            tied: false,
        })
    }

    /// Looks at a row, with so many to go.
    fn look(&mut self, ctx: &RunCtx<'_>, access: &dyn RowAccess, left: u64) -> SqlResult<()> {
        if left > 1 {
            return Ok(());
        }
        let mut key = Vec::new();
        for k in self.keys {
            let v = k.expr.eval(ctx, access)?;
            push_key(v.as_ref(), k.expr.ty.ty.collation, &mut key);
        }
        if left == 1 {
            self.last = key;
        } else {
            self.tied = key == self.last;
        }
        Ok(())
    }
}

/// The end of the pipeline: DISTINCT, offset, count, output.
pub(super) struct Output<'p, 'e> {
    plan: &'p SelectPlan,
    layout: Option<&'p RowLayout>,
    emit: &'p mut Emit<'e>,
    seen: Option<Distinct>,
    codec: ValueBytes,
    key: Vec<u8>,
    skip: u64,
    left: u64,
    ties: Option<Ties<'p>>,
    pub(super) sent: Sent,
    /// Computed items of the current row.
    computed: Vec<Value>,
    /// Window functions take all rows first.
    windows: Option<WindowStage<'p>>,
}

impl Output<'_, '_> {
    /// Takes a row; false if no more are wanted.
    pub(super) fn push(
        &mut self,
        ctx: &RunCtx<'_>,
        row: &[u8],
        access: &dyn RowAccess,
    ) -> SqlResult<bool> {
        if let Some(w) = &mut self.windows {
            return w.push(ctx, row, access).map(|()| true);
        }
        if self.skip == 0
            && let Some(t) = &mut self.ties
        {
            t.look(ctx, access, self.left)?;
        }
        let full = self.is_full();
        if full && !self.plan.calc_found_rows {
            return Ok(false);
        }
        if self.seen.is_none() {
            self.sent.found += 1;
            if self.skip > 0 {
                self.skip -= 1;
                return Ok(true);
            }
            if full {
                return Ok(true);
            }
        }
        let mut computed = std::mem::take(&mut self.computed);
        computed.clear();
        for i in &self.plan.items {
            if let Out::Expr(e) = i {
                let all = match self.plan.digits {
                    Digits::Shown => false,
                    Digits::OfConstants => e.is_const(),
                    Digits::All => true,
                };
                computed.push(match all {
                    true => e.eval_unrounded(ctx, access)?.into_value(),
                    false => e.eval(ctx, access)?,
                });
            }
        }
        let more = self.push_values(ctx, row, &computed);
        self.computed = computed;
        more
    }

    /// The current row is behind the last one.
    fn is_full(&self) -> bool {
        self.left == 0 && !self.ties.as_ref().is_some_and(|t| t.tied)
    }

    /// Takes a row, given what was computed of it.
    #[inline]
    fn push_values(&mut self, ctx: &RunCtx<'_>, row: &[u8], computed: &[Value]) -> SqlResult<bool> {
        let mut computed = computed.iter();
        let mut values: SmallVec<[ValueRef<'_>; 12]> = SmallVec::new();
        let zone = ctx.env.time_zone;
        for i in &self.plan.items {
            values.push(match i {
                Out::Column { column, timestamp } => {
                    let v = match self.layout {
                        Some(l) if !row.is_empty() => l.column(row, *column)?,
                        _ => ValueRef::Null,
                    };
                    if *timestamp { seen(v, zone) } else { v }
                }
                Out::Expr(_) => computed.next().map_or(ValueRef::Null, Value::as_ref),
            });
        }
        let Some(seen) = &mut self.seen else {
            return self.send(&values);
        };
        self.key.clear();
        for (v, c) in values.iter().zip(self.plan.columns.iter()) {
            push_key(*v, c.ty.collation, &mut self.key);
        }
        let codec = &mut self.codec;
        if !seen.offer(&self.key, ctx.env, |row| {
            for v in &values {
                codec.put(*v, row);
            }
        })? {
            return Ok(true);
        }
        self.send_new(&values)
    }

    /// Sends a row that is not equal to another.
    fn send_new(&mut self, values: &[ValueRef<'_>]) -> SqlResult<bool> {
        self.sent.found += 1;
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(true);
        }
        if self.is_full() {
            return Ok(self.plan.calc_found_rows);
        }
        self.send(values)
    }

    fn send(&mut self, values: &[ValueRef<'_>]) -> SqlResult<bool> {
        (self.emit)(values)?;
        self.sent.rows += 1;
        self.left = self.left.saturating_sub(1);
        Ok(self.left > 0 || self.plan.calc_found_rows || self.ties.is_some())
    }

    /// All rows were pushed: those of DISTINCT that did not fit into memory follow.
    fn finish(mut self, ctx: &RunCtx<'_>) -> SqlResult<Sent> {
        let codec = std::mem::take(&mut self.codec);
        let Some(seen) = self.seen.take() else {
            return Ok(self.sent);
        };
        if self.left > 0 || self.plan.calc_found_rows {
            seen.finish(ctx.env, &mut |mut row| {
                let mut values: SmallVec<[ValueRef<'_>; 12]> = SmallVec::new();
                while !row.is_empty() {
                    values.push(codec.take(&mut row)?);
                }
                self.send_new(&values)
            })?;
        }
        Ok(self.sent)
    }
}

/// Error 1028 in place of the end at LIMIT ROWS EXAMINED, while rows to be sorted come in.
#[cold]
fn sort_aborted(e: SqlError, ctx: &RunCtx<'_>) -> SqlError {
    let Some(counts) = ctx.run.counts else {
        return e;
    };
    if !counts.is_exceeded(&e) || counts.met_at_end() {
        return e;
    }
    ctx.env.warn(e.code, e.message);
    errors::FILSORT_ABORT.with([&"LIMIT ROWS EXAMINED"])
}

impl SelectPlan {
    /// Runs it: calls `emit` for each row.
    pub fn run(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        emit: &mut Emit<'_>,
    ) -> SqlResult<Sent> {
        let subqueries = SubPlan::run_all(&self.subqueries, txn, ctx)?;
        // Without a table there is one row.
        let taken = Cell::new(u64::from(self.table.is_none()));
        let run = Running {
            subqueries: &subqueries,
            taken: Some(&taken),
            ..*ctx.run
        };
        let ctx = &ctx.around(&run);
        let (skip, mut left) = self.skip_and_count(ctx)?;
        if let Some(n) = self.stop_after
            && !self.calc_found_rows
        {
            left = left.min(n);
        }
        // Rows as they come from `source`.
        let layout = match &self.computed {
            Some(c) => Some(&c.table.layout),
            None => self.table.as_ref().map(|t| &t.table.layout),
        };
        let mut out = Output {
            plan: self,
            layout,
            emit,
            seen: (self.distinct && !self.distinct_by_sort).then(Distinct::default),
            codec: ValueBytes::default(),
            key: Vec::new(),
            skip,
            left,
            ties: Ties::new(self),
            sent: Sent::default(),
            computed: Vec::new(),
            windows: (self.windows.as_ref()).map(|w| WindowStage::new(w, layout, ctx.env)),
        };
        if left == 0 && !self.calc_found_rows {
            return Ok(out.sent);
        }
        self.run_rows(txn, ctx, layout, &mut out)?;
        if let Some(w) = out.windows.take() {
            let keep = self.keep(&out);
            self.evaluating(txn, ctx, |ctx| {
                w.finish(ctx, keep, &mut |row, access| out.push(ctx, row, access))
            })?;
        }
        out.finish(ctx)
    }

    /// How many sorted rows matter at most.
    fn keep(&self, out: &Output<'_, '_>) -> usize {
        if self.calc_found_rows || self.distinct || self.ties.is_some() {
            return usize::MAX / 16;
        }
        usize::try_from(out.left.saturating_add(out.skip))
            .unwrap_or(usize::MAX)
            .min(usize::MAX / 16)
    }

    /// Hands its rows to the end of the pipeline.
    fn run_rows(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        layout: Option<&RowLayout>,
        out: &mut Output<'_, '_>,
    ) -> SqlResult<()> {
        let keep = match &out.windows {
            Some(_) => usize::MAX / 16,
            None => self.keep(out),
        };
        if let Some(g) = &self.group {
            self.grouped(g, txn, ctx, layout, keep, out)?;
            return Ok(());
        }
        let Some(layout) = layout else {
            self.no_rows(txn, ctx, |ctx| out.push(ctx, &[], &NoRow).map(|_| ()))?;
            return Ok(());
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
            return Ok(());
        }
        let mut buf = SortBuffer::new(sort, keep, ctx.env);
        buf.keep_columns(layout, self.item_columns());
        self.source(txn, ctx, false, &mut |ctx, row| {
            buf.push(&[], row, &ImageRow { layout, row }, ctx)?;
            Ok(true)
        })
        .map_err(|e| sort_aborted(e, ctx))?;
        let total = buf.pushed();
        if let Some(t) = &self.table {
            t.count_sort(total, keep, ctx);
        }
        self.evaluating(txn, ctx, |ctx| {
            buf.drain(ctx, &mut |_, row, same| {
                if same && self.distinct_by_sort {
                    return Ok(true);
                }
                out.push(ctx, row, &ImageRow { layout, row })
            })
        })?;
        if self.calc_found_rows && !self.distinct {
            out.sent.found = total;
        }
        Ok(())
    }

    /// The columns that the items look at.
    fn item_columns(&self) -> Vec<usize> {
        let mut columns = Vec::new();
        for i in &self.items {
            match i {
                Out::Column { column, .. } => columns.push(*column),
                Out::Expr(e) => e.for_each_column(&mut |c| columns.push(c)),
            }
        }
        for k in self.ties.iter().flatten() {
            k.expr.for_each_column(&mut |c| columns.push(c));
        }
        columns
    }

    /// Evaluates expressions while no rows are read.
    pub(super) fn evaluating<T>(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        f: impl FnOnce(&RunCtx<'_>) -> SqlResult<T>,
    ) -> SqlResult<T> {
        if self.row_wise {
            ctx.with_txn(txn, f)
        } else {
            f(ctx)
        }
    }

    /// Without FROM: calls `f` if WHERE holds.
    pub(super) fn no_rows(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        f: impl FnOnce(&RunCtx<'_>) -> SqlResult<()>,
    ) -> SqlResult<()> {
        self.evaluating(txn, ctx, |ctx| match &self.filter {
            Some(w) if !w.matches(ctx, &NoRow)? => Ok(()),
            _ => f(ctx),
        })
    }

    /// LIMIT: rows to skip, rows to send.
    fn skip_and_count(&self, ctx: &RunCtx<'_>) -> SqlResult<(u64, u64)> {
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
    /// (they are sorted, grouped or compared with each other, or values of theirs run statements): nothing was done.
    pub fn run_in_portions(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        (max_rows, max_bytes): (usize, u64),
        on_rows: &mut OnRows<'_>,
    ) -> SqlResult<bool> {
        let Some(t) = &self.table else {
            return Ok(false);
        };
        if !t.is_stored()
            || !self.subqueries.is_empty()
            || self.row_wise
            || t.late.is_some()
            || self.computes_over_rows()
            || !self.sort.is_empty()
            || self.distinct
            || self.ties.is_some()
            || self.calc_found_rows
            || self.numbers_rows
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
            codec: ValueBytes::default(),
            key: Vec::new(),
            skip,
            left,
            ties: None,
            sent: Sent::default(),
            computed: Vec::new(),
            windows: None,
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

    /// Reads the table's matching rows, locking them if asked to, and computes what belongs to each.
    pub(super) fn source(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        keys_only: bool,
        f: &mut OnRow<'_>,
    ) -> SqlResult<()> {
        let Some(t) = &self.table else { return Ok(()) };
        if !self.row_free.is_empty() && self.is_never(ctx)? {
            return Ok(());
        }
        let Some(c) = &self.computed else {
            return self.counted_rows(t, txn, ctx, keys_only, f);
        };
        let mut image = Vec::new();
        self.counted_rows(t, txn, ctx, false, &mut |ctx, row| {
            c.row(ctx, &t.table.layout, row, &mut image)?;
            f(ctx, &image)
        })
    }

    /// True if a condition that is the same for all rows does not hold.
    #[cold]
    fn is_never(&self, ctx: &RunCtx<'_>) -> SqlResult<bool> {
        for e in &self.row_free {
            // It is asked again with the first row, and warns then; here if there is none.
            if !ctx.env.quietly(|| e.matches(ctx, &NoRow))? {
                return e.matches(ctx, &NoRow).map(|holds| !holds);
            }
        }
        Ok(false)
    }

    /// Reads the rows, and counts them if ROWNUM() asks for their numbers.
    fn counted_rows(
        &self,
        t: &TablePlan,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        keys_only: bool,
        f: &mut OnRow<'_>,
    ) -> SqlResult<()> {
        match ctx.run.taken.filter(|_| self.numbers_rows) {
            None => self.rows_of(t, txn, ctx, keys_only, f),
            Some(taken) => self.rows_of(t, txn, ctx, false, &mut |ctx, row| {
                taken.set(taken.get() + 1);
                f(ctx, row)
            }),
        }
    }

    fn rows_of(
        &self,
        t: &TablePlan,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        keys_only: bool,
        f: &mut OnRow<'_>,
    ) -> SqlResult<()> {
        match self.lock_spec(ctx.env.locking_reads) {
            None if self.row_wise => t.read_row_wise(txn, ctx, f),
            None => t.read(txn, ctx, keys_only && t.late.is_none(), f),
            // The sources of a join lock their rows themselves.
            Some(_) if !t.is_lockable() && self.row_wise => t.read_row_wise(txn, ctx, f),
            Some(_) if !t.is_lockable() => t.read(txn, ctx, keys_only, f),
            Some(spec) => t.lock(txn, ctx, spec, false, &mut |txn, _, row| {
                self.evaluating(txn, ctx, |ctx| f(ctx, row))
            }),
        }
    }
}
