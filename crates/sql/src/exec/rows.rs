//! Reading a table by its access path: plain reads, and locking reads for SELECT ... FOR UPDATE, UPDATE and DELETE.

use crate::expr::{EvalCtx, Expr, ImageRow};
use crate::plan::access::{Access, Lookup, PointKey};
use crate::virtual_tables::VirtualRows;
use narwal_engine::{KeyRange, LockMode, LockWait, ReadView, Row, Table, Transaction};
use narwal_types::{SqlError, SqlResult, Value};
use std::ops::Bound;
use std::sync::Arc;

/// A table with its access path and condition.
pub struct TablePlan {
    /// The table.
    pub table: Arc<Table>,
    /// How to read it.
    pub access: Access,
    /// WHERE.
    pub filter: Option<Expr>,
    /// Makes the rows of a virtual table.
    pub virtual_rows: Option<VirtualRows>,
}

/// How rows are locked.
#[derive(Debug, Clone, Copy)]
pub struct LockSpec {
    /// Mode.
    pub mode: LockMode,
    /// What to do about rows locked by others.
    pub wait: LockWait,
}

/// What a scan gives to its consumer: false = enough.
pub type OnRow<'f> = dyn FnMut(&[u8]) -> SqlResult<bool> + 'f;

/// A consumer of locked rows: transaction, clustered key, row. False = enough.
pub type OnLocked<'f> = dyn FnMut(&mut Transaction, &[u8], &Row) -> SqlResult<bool> + 'f;

/// The keys to read in this execution.
enum Keys {
    /// Full clustered keys.
    Points(Vec<Vec<u8>>),
    /// Ranges of the index.
    Ranges(Vec<KeyRange>),
}

impl TablePlan {
    /// Keys, and whether WHERE must be checked on each row.
    fn keys(&self, ctx: &EvalCtx<'_>) -> SqlResult<(Keys, bool)> {
        let a = &self.access;
        let check = self.filter.is_some();
        if a.index == 0
            && let Lookup::Point(values) = &a.lookup
        {
            return Ok(match Access::point_key(&self.table, 0, values, ctx)? {
                PointKey::Key(k) => (Keys::Points(vec![k]), check && !a.covers_filter),
                PointKey::Nothing => (Keys::Points(Vec::new()), false),
                PointKey::Scan => (Keys::Ranges(vec![KeyRange::all()]), check),
            });
        }
        let r = a.ranges(&self.table, ctx)?;
        let check = check && !(a.covers_filter && r.exact);
        let mut ranges = r.ranges;
        if a.reverse {
            ranges.reverse();
        }
        if a.index == 0 && r.points && ranges.len() > 1 {
            let points = ranges
                .into_iter()
                .filter_map(|r| match r.start {
                    Bound::Included(k) => Some(k),
                    _ => None,
                })
                .collect();
            return Ok((Keys::Points(points), check));
        }
        Ok((Keys::Ranges(ranges), check))
    }

    fn matches(&self, check: bool, row: &[u8], ctx: &EvalCtx<'_>) -> SqlResult<bool> {
        match &self.filter {
            Some(f) if check => {
                let m = f.matches(
                    ctx,
                    &ImageRow {
                        layout: &self.table.layout,
                        row,
                    },
                )?;
                ctx.env.check_refused()?;
                Ok(m)
            }
            _ => Ok(true),
        }
    }

    /// Reads matching rows in the snapshot. With `keys_only` rows are empty slices (only if WHERE needs no rows).
    pub fn read(
        &self,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        keys_only: bool,
        f: &mut OnRow<'_>,
    ) -> SqlResult<()> {
        if let Some(rows) = &self.virtual_rows {
            return self.read_virtual(rows, ctx, f);
        }
        let (keys, check) = self.keys(ctx)?;
        match keys {
            Keys::Points(points) => {
                for k in &points {
                    if let Some(row) = txn.get(&self.table, k)?
                        && self.matches(check, &row, ctx)?
                        && !f(&row)?
                    {
                        return Ok(());
                    }
                }
            }
            Keys::Ranges(ranges) => {
                let keys_only = keys_only && !check;
                let mut n = 0u32;
                for r in ranges {
                    let mut scan = txn.scan(
                        &self.table,
                        self.access.index,
                        r,
                        self.access.reverse,
                        ReadView::Snapshot,
                        keys_only,
                    )?;
                    while let Some(item) = scan.next()? {
                        n = n.wrapping_add(1);
                        if n & 0xff == 0 {
                            ctx.env.check_interrupt()?;
                        }
                        if self.matches(check, item.row, ctx)? && !f(item.row)? {
                            return Ok(());
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn read_virtual(
        &self,
        rows: &VirtualRows,
        ctx: &EvalCtx<'_>,
        f: &mut OnRow<'_>,
    ) -> SqlResult<()> {
        let mut image = Vec::new();
        for values in rows(ctx.env)? {
            image.clear();
            let refs: Vec<_> = values.iter().map(Value::as_ref).collect();
            self.table.layout.encode(&refs, &mut image)?;
            if self.matches(true, &image, ctx)? && !f(&image)? {
                break;
            }
        }
        Ok(())
    }

    /// Finds matching rows in their newest version, locks each, checks it again and hands it on.
    /// `all_first`: find all rows before the first is handed on (it may move within the index).
    pub fn lock(
        &self,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        spec: LockSpec,
        all_first: bool,
        f: &mut OnLocked<'_>,
    ) -> SqlResult<()> {
        if self.virtual_rows.is_some() {
            return Err(SqlError::unsupported("locking rows of information_schema"));
        }
        let (keys, check) = self.keys(ctx)?;
        match keys {
            Keys::Points(points) => {
                for k in &points {
                    if let Some(row) = txn.lock_row(&self.table, k, spec.mode, spec.wait)?
                        && self.matches(check, &row, ctx)?
                        && !f(txn, k, &row)?
                    {
                        return Ok(());
                    }
                }
                Ok(())
            }
            Keys::Ranges(ranges) => {
                let mut candidates = Candidates::default();
                // Rows that match in the snapshot are candidates too: one that changed since is a conflict, found
                // when it is locked, even if its newest version does not match.
                if all_first || txn.checks_conflicts() {
                    let mut views = vec![ReadView::Current];
                    if txn.checks_conflicts() {
                        views.push(ReadView::Snapshot);
                    }
                    for view in &views {
                        for r in &ranges {
                            let r = r.clone();
                            self.collect(txn, ctx, r, *view, check, usize::MAX, &mut candidates)?;
                        }
                    }
                    if views.len() > 1 {
                        candidates.remove_repeats();
                    }
                    self.lock_candidates(txn, ctx, spec, check, &candidates, f)?;
                    return Ok(());
                }
                // A clustered key can't change under the lock, a secondary one can.
                let recheck = check || self.access.index != 0;
                let mut batch = 32;
                for mut r in ranges {
                    loop {
                        candidates.clear();
                        let view = ReadView::Current;
                        let r0 = r.clone();
                        let last =
                            self.collect(txn, ctx, r0, view, check, batch, &mut candidates)?;
                        if !self.lock_candidates(txn, ctx, spec, recheck, &candidates, f)? {
                            return Ok(());
                        }
                        let Some(last) = last else { break };
                        if self.access.reverse {
                            r.end = Bound::Excluded(last);
                        } else {
                            r.start = Bound::Excluded(last);
                        }
                        batch = (batch * 8).min(16_384);
                    }
                }
                Ok(())
            }
        }
    }

    /// Collects clustered keys of matching rows; the last key seen if it stopped at `max`.
    #[allow(clippy::too_many_arguments)]
    fn collect(
        &self,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        range: KeyRange,
        view: ReadView,
        check: bool,
        max: usize,
        out: &mut Candidates,
    ) -> SqlResult<Option<Vec<u8>>> {
        let mut scan = txn.scan(
            &self.table,
            self.access.index,
            range,
            self.access.reverse,
            view,
            !check,
        )?;
        let mut n = 0u32;
        while let Some(item) = scan.next()? {
            n = n.wrapping_add(1);
            if n & 0xff == 0 {
                ctx.env.check_interrupt()?;
            }
            if !self.matches(check, item.row, ctx)? {
                continue;
            }
            out.push(item.pk);
            if out.bytes.len() as u64 > ctx.env.max_memory {
                return Err(SqlError::new(
                    1038,
                    b"HY001",
                    "Out of memory for the rows of one statement; use LIMIT",
                ));
            }
            if out.len() >= max {
                return Ok(Some(item.key.to_vec()));
            }
        }
        Ok(None)
    }

    /// False if `f` said enough.
    fn lock_candidates(
        &self,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        spec: LockSpec,
        check: bool,
        c: &Candidates,
        f: &mut OnLocked<'_>,
    ) -> SqlResult<bool> {
        let check = check || (self.access.index != 0 && self.filter.is_some());
        for i in 0..c.len() {
            let pk = c.get(i);
            if i & 0xff == 0xff {
                ctx.env.check_interrupt()?;
            }
            if let Some(row) = txn.lock_row(&self.table, pk, spec.mode, spec.wait)?
                && self.matches(check, &row, ctx)?
                && !f(txn, pk, &row)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// For UPDATE and DELETE with an ORDER BY that the index doesn't give: finds all matching rows, sorts them, then
    /// locks and hands them on in that order.
    pub fn lock_sorted(
        &self,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        spec: LockSpec,
        order: &[super::order::SortKey],
        f: &mut OnLocked<'_>,
    ) -> SqlResult<()> {
        let (keys, check) = self.keys(ctx)?;
        let mut buf = super::order::SortBuffer::new(
            order,
            Some(&self.table.layout),
            usize::MAX,
            ctx.env.max_memory,
        );
        let ranges = match keys {
            Keys::Ranges(r) => r,
            Keys::Points(p) => p
                .into_iter()
                .map(|k| KeyRange {
                    start: Bound::Included(k.clone()),
                    end: Bound::Included(k),
                })
                .collect(),
        };
        // As in `lock`: rows of the snapshot are candidates too.
        let views: &[ReadView] = if txn.checks_conflicts() {
            &[ReadView::Current, ReadView::Snapshot]
        } else {
            &[ReadView::Current]
        };
        let mut seen = std::collections::HashSet::new();
        for (view, r) in views
            .iter()
            .flat_map(|v| ranges.iter().map(move |r| (*v, r.clone())))
        {
            let mut scan = txn.scan(
                &self.table,
                self.access.index,
                r,
                self.access.reverse,
                view,
                false,
            )?;
            while let Some(item) = scan.next()? {
                if self.matches(check, item.row, ctx)?
                    && (views.len() == 1 || seen.insert(item.pk.to_vec()))
                {
                    let row = ImageRow {
                        layout: &self.table.layout,
                        row: item.row,
                    };
                    buf.push(item.pk, item.row, &row, ctx)?;
                }
            }
        }
        buf.sort();
        for i in 0..buf.len() {
            let (pk, _) = buf.get(i);
            if let Some(row) = txn.lock_row(&self.table, pk, spec.mode, spec.wait)?
                && self.matches(self.filter.is_some(), &row, ctx)?
                && !f(txn, pk, &row)?
            {
                break;
            }
        }
        Ok(())
    }
}

/// Clustered keys, back to back.
#[derive(Default)]
struct Candidates {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Candidates {
    fn push(&mut self, pk: &[u8]) {
        self.bytes.extend_from_slice(pk);
        self.ends.push(self.bytes.len());
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// Keeps the first of equal keys.
    fn remove_repeats(&mut self) {
        let all = std::mem::take(self);
        let mut seen = std::collections::HashSet::with_capacity(all.len());
        for i in 0..all.len() {
            if seen.insert(all.get(i)) {
                self.push(all.get(i));
            }
        }
    }

    fn get(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.bytes[start..self.ends[i]]
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}
