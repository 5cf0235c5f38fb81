//! Reading a table by its access path: plain reads, and locking reads for SELECT ... FOR UPDATE, UPDATE and DELETE.

use super::distinct::Distinct;
use super::partition::OnRecord;
use super::prefilter::Prefilter;
use super::row_list::RowList;
use super::value_bytes::{put_bytes, take_bytes};
use crate::exec::context::RunCtx;
use crate::expr::node::{CmpOp, ExprKind, ImageRow, NoRow};
use crate::plan::access::{Access, Lookup, PointKey};
use crate::plan::counts::Counts;
use crate::plan::index_rows::IndexRows;
use crate::plan::made::encode_made;
use crate::plan::query::{LockSpec, Rows, TablePlan};
use crate::plan::sarg::conjuncts;
use crate::status_counts::StatusCount;
use crate::virtual_tables::Wanted;
use narwal_engine::{
    EngineError, Keep, KeyRange, LockMode, LockWait, RangeMark, ReadView, Row, Transaction,
};
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult, Value, ValueRef};
use smallvec::{SmallVec, smallvec};
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::ops::Bound;

/// What a locking read locks besides the rows that match.
#[derive(Debug, Clone, Copy)]
struct Reach {
    /// The ranges that it scans: nobody else brings a row into them.
    ranges: bool,
    /// The rows in them that do not match: nobody else makes them match.
    all_rows: bool,
}

/// How a locking read treats the rows that it finds.
struct Locking {
    spec: LockSpec,
    /// The condition must be asked of a locked row.
    check: bool,
    /// It was not asked before.
    once: bool,
    /// What was committed up to here stands where the scan meets it: others can't have moved it since.
    settled: u64,
    /// Rows that were handed on and that others changed while the scan of a secondary index looked for rows. Such a row may
    /// have moved in the index and be met at both of its places; it is handed on once.
    moved: ahash::HashSet<Box<[u8]>>,
}

impl Locking {
    fn new(txn: &Transaction, spec: LockSpec, check: bool, once: bool) -> Locking {
        Locking {
            spec,
            check,
            once,
            settled: txn.settled_seq(),
            moved: ahash::HashSet::default(),
        }
    }

    /// Whether the row was handed on before, from another place of the index.
    fn met(&self, pk: &[u8]) -> bool {
        !self.moved.is_empty() && self.moved.contains(pk)
    }

    /// The row was locked and is handed on.
    fn locked(&mut self, txn: &Transaction, pk: &[u8]) {
        if txn.locked_seq() > self.settled {
            self.moved.insert(pk.into());
        }
    }
}

/// What a scan gives to its consumer: false = enough. Expressions of the row are to be evaluated in that context.
pub type OnRow<'f> = dyn FnMut(&RunCtx<'_>, &[u8]) -> SqlResult<bool> + 'f;

/// A consumer of locked rows: transaction, clustered key, row. False = enough.
pub type OnLocked<'f> = dyn FnMut(&mut Transaction, &[u8], &Row) -> SqlResult<bool> + 'f;

/// What a consumer of [`TablePlan::read_pausing`] wants next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The next row.
    More,
    /// The next row, but first its pause.
    Pause,
    /// No more.
    Enough,
}

/// What happens in a pause of a read: it may change other tables.
pub type OnPause<'f> = dyn FnMut(&mut Transaction) -> SqlResult<()> + 'f;

/// Rows, and bytes of them, that are handed on together to a consumer that runs subqueries.
const PORTION: (usize, u64) = (256, 256 << 10);

/// Rows and bytes of keys that a locking read collects before it locks them: the first window is small, since many
/// statements stop early.
const FIRST_WINDOW: usize = 32;
const WINDOW: usize = 16_384;
const WINDOW_BYTES: usize = 1 << 20;

/// The keys to read in this execution.
enum Keys {
    /// Full clustered keys.
    Points(SmallVec<[Vec<u8>; 1]>),
    /// Ranges of the index.
    Ranges(Vec<KeyRange>),
}

impl TablePlan {
    /// Keys, and whether WHERE must be checked on each row.
    fn keys(&self, ctx: &RunCtx<'_>) -> SqlResult<(Keys, bool)> {
        let a = &self.access;
        let check = self.filter.is_some();
        if a.index == 0
            && let Lookup::Point(values) = &a.lookup
        {
            return Ok(match Access::point_key(&self.table, 0, values, ctx)? {
                PointKey::Key(k) => (Keys::Points(smallvec![k]), check && !a.covers_filter),
                PointKey::Nothing => (Keys::Points(SmallVec::new()), false),
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

    /// How rows are made of index entries in an execution that checks conditions or not.
    fn cover(&self, check: bool) -> Option<&IndexRows> {
        let c = self.cover.as_ref()?;
        (c.checks || !check).then_some(&c.rows)
    }

    /// The row that a point of the clustered index names; `None` if the table is not read by such a point, or not with these
    /// values.
    pub fn read_point(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
    ) -> SqlResult<Option<Option<Row>>> {
        let Lookup::Point(values) = &self.access.lookup else {
            return Ok(None);
        };
        if self.access.index != 0 || !self.is_stored() || self.late.is_some() {
            return Ok(None);
        }
        let key = match Access::point_key(&self.table, 0, values, ctx)? {
            PointKey::Key(k) => k,
            PointKey::Nothing => return Ok(Some(None)),
            PointKey::Scan => return Ok(None),
        };
        let check = self.filter.is_some() && !self.access.covers_filter;
        self.begins(ctx);
        ctx.env.status_counts.add(StatusCount::HandlerReadKey, 1);
        let found = txn.get(&self.table, &key)?;
        let rows = u64::from(found.is_some());
        ctx.env.status_counts.add(StatusCount::RowsRead, rows);
        Ok(Some(match found {
            Some(row) if self.met(check, &row, ctx)? => Some(row),
            Some(_) => None,
            None => {
                end_of_read(ctx)?;
                None
            }
        }))
    }

    /// The ranges of a secondary index to read in this execution, and whether WHERE must be checked on each row.
    pub(super) fn index_ranges(&self, ctx: &RunCtx<'_>) -> SqlResult<(Vec<KeyRange>, bool)> {
        Ok(match self.keys(ctx)? {
            (Keys::Ranges(ranges), check) => (ranges, check),
            (Keys::Points(_), _) => (vec![KeyRange::all()], self.filter.is_some()),
        })
    }

    /// Counts a read of a range of the index (`all`: of the whole) that has met so many rows, and its end or not. Where all
    /// rows are wanted, what is not the whole goes on with it.
    pub(super) fn count_range(&self, all: bool, rows: u64, ended: bool, ctx: &RunCtx<'_>) {
        let counts = &ctx.env.status_counts;
        counts.add(StatusCount::RowsRead, rows);
        let a = &self.access;
        let steps = rows + u64::from(ended);
        let by_index = a.index != 0 || a.reverse || (a.ordered && !self.table.hidden_pk);
        let whole = all || matches!(a.lookup, Lookup::Full);
        if whole && !by_index {
            counts.add(StatusCount::HandlerReadRndNext, steps);
            return;
        }
        let goes_on = whole && !all;
        let start = match (all, a.reverse) {
            (false, _) => StatusCount::HandlerReadKey,
            (true, false) => StatusCount::HandlerReadFirst,
            (true, true) => StatusCount::HandlerReadLast,
        };
        counts.add(start, u64::from(!goes_on));
        if matches!(a.lookup, Lookup::Point(_)) {
            return;
        }
        let step = match a.reverse {
            false => StatusCount::HandlerReadNext,
            true => StatusCount::HandlerReadPrev,
        };
        counts.add(step, steps.saturating_sub(u64::from(!goes_on)));
    }

    /// Counts a sort of so many of its rows, of which at most `keep` matter.
    pub(super) fn count_sort(&self, rows: u64, keep: usize, ctx: &RunCtx<'_>) {
        let counts = &ctx.env.status_counts;
        let range = match self.reads_range() {
            true => StatusCount::SortRange,
            false => StatusCount::SortScan,
        };
        counts.add(range, 1);
        counts.add(StatusCount::SortRows, rows.min(keep as u64));
        let first = u64::from(keep < usize::MAX / 16);
        counts.add(StatusCount::SortPriorityQueueSorts, first);
    }

    /// Counts a read by whole keys, which has found so many rows.
    fn count_points(points: &[Vec<u8>], rows: u64, ctx: &RunCtx<'_>) {
        let counts = &ctx.env.status_counts;
        counts.add(StatusCount::HandlerReadKey, points.len() as u64);
        counts.add(StatusCount::RowsRead, rows);
    }

    /// What rules rows out before the condition is evaluated; the rows are images of the table.
    fn prefilter(&self, check: bool, ctx: &RunCtx<'_>) -> Option<Prefilter<'_>> {
        // What is not looked at is not counted.
        let filter = (self.filter.as_ref()).filter(|_| check && ctx.run.counts.is_none())?;
        Prefilter::of(filter, &self.table.layout, ctx)
    }

    pub(super) fn matches(&self, check: bool, row: &[u8], ctx: &RunCtx<'_>) -> SqlResult<bool> {
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

    /// As [`TablePlan::matches`], for a row that a read has come to: it counts if somebody wants to know.
    #[inline]
    pub(super) fn met(&self, check: bool, row: &[u8], ctx: &RunCtx<'_>) -> SqlResult<bool> {
        let number = &ctx.env.row_number;
        number.set(number.get() + 1);
        let Some(counts) = ctx.run.counts else {
            return self.matches(check, row, ctx);
        };
        counts.reads(self)?;
        self.matches_counted(check, row, ctx, counts)
    }

    /// The same, for a row that LIMIT ROWS EXAMINED does not count.
    fn met_freely(&self, check: bool, row: &[u8], ctx: &RunCtx<'_>) -> SqlResult<bool> {
        let number = &ctx.env.row_number;
        number.set(number.get() + 1);
        let Some(counts) = ctx.run.counts else {
            return self.matches(check, row, ctx);
        };
        counts.gets(self);
        self.matches_counted(check, row, ctx, counts)
    }

    fn matches_counted(
        &self,
        check: bool,
        row: &[u8],
        ctx: &RunCtx<'_>,
        counts: &Counts,
    ) -> SqlResult<bool> {
        let yes = self.matches(check, row, ctx)?;
        if yes {
            counts.passes(self);
        }
        Ok(yes)
    }

    /// A read begins: its rows are numbered from 1.
    #[inline]
    pub(super) fn begins(&self, ctx: &RunCtx<'_>) {
        ctx.env.row_number.set(0);
        if let Some(counts) = ctx.run.counts {
            counts.begins(self);
        }
    }

    /// Looks at a row that is locked now. `once`: nobody looked at it before.
    fn matches_locked(
        &self,
        check: bool,
        once: bool,
        row: &[u8],
        ctx: &RunCtx<'_>,
    ) -> SqlResult<bool> {
        match check && !once {
            true => ctx.env.quietly(|| self.matches(true, row, ctx)),
            false => self.matches(check, row, ctx),
        }
    }

    /// Looks at a row of a view: what that of a snapshot warns of, the newest one did before.
    fn matches_in(
        &self,
        view: ReadView,
        check: bool,
        row: &[u8],
        ctx: &RunCtx<'_>,
    ) -> SqlResult<bool> {
        self.matches_locked(check, !matches!(view, ReadView::Snapshot), row, ctx)
    }

    /// As [`TablePlan::read`], for a consumer whose expressions may run subqueries.
    pub fn read_row_wise(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        f: &mut OnRow<'_>,
    ) -> SqlResult<()> {
        let mut each = |txn: &mut Transaction, row: &[u8]| {
            ctx.with_txn(txn, |ctx| {
                let access = ImageRow {
                    layout: &self.table.layout,
                    row,
                };
                if let Some(late) = &self.late
                    && !late.matches(ctx, &access)?
                {
                    return Ok(true);
                }
                f(ctx, row)
            })
        };
        if let Rows::Join(join) = &self.rows {
            return join.run(&self.table.layout, txn, ctx, &mut |txn, row| {
                if !self.matches(true, row, ctx)? {
                    return Ok(true);
                }
                each(txn, row)
            });
        }
        // Rows are read in portions: within one no scan is open.
        let portion: RefCell<(Vec<Vec<u8>>, u64)> = RefCell::default();
        let more = Cell::new(true);
        let take = |row: &[u8]| {
            let mut p = portion.borrow_mut();
            p.1 += row.len() as u64 + 32;
            p.0.push(row.to_vec());
            (p.0.len(), p.1)
        };
        let mut hand_on = |txn: &mut Transaction| {
            let (rows, _) = portion.take();
            for row in rows {
                if !more.get() {
                    break;
                }
                more.set(each(txn, &row)?);
            }
            Ok(())
        };
        if self.is_stored() {
            self.read_pausing(
                txn,
                ctx,
                &mut |row| {
                    if !more.get() {
                        return Ok(Flow::Enough);
                    }
                    let (rows, bytes) = take(row);
                    Ok(if rows >= PORTION.0 || bytes >= PORTION.1 {
                        Flow::Pause
                    } else {
                        Flow::More
                    })
                },
                &mut hand_on,
            )?;
        } else {
            let mut rows = RowList::default();
            self.read_made(txn, ctx, &mut |ctx, row| {
                rows.push(row, ctx.env.table_room(), ctx.env)?;
                Ok(true)
            })?;
            rows.finish()?;
            return rows.each(ctx.env, &mut |row| each(txn, row));
        }
        hand_on(txn)
    }

    fn matches_late(&self, txn: &mut Transaction, ctx: &RunCtx<'_>, row: &[u8]) -> SqlResult<bool> {
        let Some(late) = &self.late else {
            return Ok(true);
        };
        let access = ImageRow {
            layout: &self.table.layout,
            row,
        };
        ctx.with_txn(txn, |ctx| {
            let m = late.matches(ctx, &access)?;
            ctx.env.check_refused()?;
            Ok(m)
        })
    }

    /// Reads matching rows in the snapshot. With `keys_only` rows are empty slices (only if WHERE needs no rows).
    pub fn read(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        keys_only: bool,
        f: &mut OnRow<'_>,
    ) -> SqlResult<()> {
        if self.late.is_some() {
            return self.read_row_wise(txn, ctx, f);
        }
        if !self.is_stored() {
            return self.read_made(txn, ctx, f);
        }
        self.begins(ctx);
        let (keys, check) = self.keys(ctx)?;
        match keys {
            Keys::Points(points) => {
                let mut found = 0;
                for k in &points {
                    let Some(row) = txn.get(&self.table, k)? else {
                        continue;
                    };
                    found += 1;
                    if self.met_freely(check, &row, ctx)? && !f(ctx, &row)? {
                        break;
                    }
                }
                Self::count_points(&points, found, ctx);
            }
            Keys::Ranges(ranges) => {
                let keys_only = keys_only && !check;
                let cover = self.cover(check).filter(|_| !keys_only);
                let first = self.prefilter(check && cover.is_none(), ctx);
                let keep = first.as_ref().map(|p| |row: &[u8]| p.keeps(row));
                let keep = keep.as_ref().map(|k| k as &Keep<'_>);
                let mut image = Vec::new();
                let mut n = 0u64;
                for r in ranges {
                    let (all, before) = (is_all(&r), n);
                    let mut scan = txn.scan(
                        &self.table,
                        self.access.index,
                        r,
                        self.access.reverse,
                        ReadView::Snapshot,
                        keys_only || cover.is_some(),
                    )?;
                    let mut more = true;
                    scan.each_kept(keep, |item| -> SqlResult<bool> {
                        n += 1;
                        if n & 0xff == 0 {
                            ctx.env.check_interrupt()?;
                        }
                        if first.as_ref().is_some_and(|p| !p.keeps(item.row)) {
                            return Ok(true);
                        }
                        let row = match cover {
                            Some(c) => {
                                c.image(item.key, item.pk, &mut image)?;
                                &image
                            }
                            None => item.row,
                        };
                        more = !self.met(check, row, ctx)? || f(ctx, row)?;
                        Ok(more)
                    })?;
                    self.count_range(all, n - before + scan.left_out, more, ctx);
                    if !more {
                        return Ok(());
                    }
                    end_of_read(ctx)?;
                }
            }
        }
        Ok(())
    }

    /// As [`TablePlan::read`], and `f` may ask for a pause before the next row. In it no scan is open. The snapshot must
    /// not change meanwhile, nor this table by the pause.
    pub fn read_pausing(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        f: &mut dyn FnMut(&[u8]) -> SqlResult<Flow>,
        pause: &mut OnPause<'_>,
    ) -> SqlResult<()> {
        self.begins(ctx);
        let (keys, check) = self.keys(ctx)?;
        let ranges = match keys {
            Keys::Points(points) => {
                let mut found = 0;
                for k in &points {
                    let Some(row) = txn.get(&self.table, k)? else {
                        continue;
                    };
                    found += 1;
                    if self.met(check, &row, ctx)? {
                        match f(&row)? {
                            Flow::More => {}
                            Flow::Pause => pause(txn)?,
                            Flow::Enough => break,
                        }
                    }
                }
                Self::count_points(&points, found, ctx);
                return Ok(());
            }
            Keys::Ranges(ranges) => ranges,
        };
        let cover = self.cover(check);
        let first = self.prefilter(check && cover.is_none(), ctx);
        let keep = first.as_ref().map(|p| |row: &[u8]| p.keeps(row));
        let keep = keep.as_ref().map(|k| k as &Keep<'_>);
        let mut image = Vec::new();
        let mut n = 0u64;
        for mut r in ranges {
            let (all, before, mut left_out) = (is_all(&r), n, 0);
            loop {
                let mut scan = txn.scan(
                    &self.table,
                    self.access.index,
                    r.clone(),
                    self.access.reverse,
                    ReadView::Snapshot,
                    cover.is_some(),
                )?;
                let mut flow = Flow::More;
                let mut last = Vec::new();
                scan.each_kept(keep, |item| -> SqlResult<bool> {
                    n += 1;
                    if n & 0xff == 0 {
                        ctx.env.check_interrupt()?;
                    }
                    if first.as_ref().is_some_and(|p| !p.keeps(item.row)) {
                        return Ok(true);
                    }
                    let row = match cover {
                        Some(c) => {
                            c.image(item.key, item.pk, &mut image)?;
                            &image
                        }
                        None => item.row,
                    };
                    if self.met(check, row, ctx)? {
                        flow = f(row)?;
                        if flow == Flow::Pause {
                            last.extend_from_slice(item.key);
                        }
                    }
                    Ok(flow == Flow::More)
                })?;
                left_out += scan.left_out;
                drop(scan);
                if flow != Flow::Pause {
                    let rows = n - before + left_out;
                    self.count_range(all, rows, flow == Flow::More, ctx);
                }
                match flow {
                    Flow::More => {
                        end_of_read(ctx)?;
                        break;
                    }
                    Flow::Pause => {
                        self.go_behind(&mut r, last);
                        pause(txn)?;
                    }
                    Flow::Enough => return Ok(()),
                }
            }
        }
        Ok(())
    }

    /// A range up to and with a key, in the direction of the scan.
    fn up_to(&self, range: &KeyRange, key: &[u8]) -> KeyRange {
        let mut part = range.clone();
        let end = Bound::Included(key.to_vec());
        match self.access.reverse {
            true => part.start = end,
            false => part.end = end,
        }
        part
    }

    /// The rest of a range behind a key, in the direction of the scan.
    fn go_behind(&self, range: &mut KeyRange, key: Vec<u8>) {
        if self.access.reverse {
            range.end = Bound::Excluded(key);
        } else {
            range.start = Bound::Excluded(key);
        }
    }

    fn read_made(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        f: &mut OnRow<'_>,
    ) -> SqlResult<()> {
        if let Rows::Join(join) = &self.rows {
            return join.run(&self.table.layout, txn, ctx, &mut |_, row| {
                if !self.matches(true, row, ctx)? {
                    return Ok(true);
                }
                f(ctx, row)
            });
        }
        if let Rows::Merge(behind) = &self.rows {
            return self.read_behind(behind, txn, ctx, f);
        }
        self.begins(ctx);
        let mut image = Vec::new();
        let mut more = true;
        // A SELECT inside can't be stopped: when there is enough its rows are dropped.
        let mut take = |values: &[ValueRef<'_>]| {
            if !more {
                return Ok(false);
            }
            encode_made(&self.table, values, &mut image)?;
            if self.met_freely(true, &image, ctx)? {
                more = f(ctx, &image)?;
            }
            Ok(more)
        };
        match &self.rows {
            Rows::Stored | Rows::Join(_) | Rows::Merge(_) => {}
            Rows::Virtual(rows) => {
                for values in rows(ctx.env, &self.wanted(ctx)?)? {
                    let refs: Vec<_> = values.iter().map(Value::as_ref).collect();
                    if !take(&refs)? {
                        break;
                    }
                }
            }
            Rows::Query(plan) => {
                plan.run(txn, ctx, &mut |values| take(values).map(|_| ()))?;
            }
            Rows::Set(set) => set.run(&self.table, txn, ctx, &mut take)?,
            Rows::Recursive(r) => r.run(txn, ctx, &mut take)?,
            Rows::Working(id) => {
                if let Some(rows) = ctx.run.working.and_then(|w| w.rows(*id)) {
                    rows.each(ctx.env, &mut |row| {
                        Ok(!self.met_freely(true, row, ctx)? || f(ctx, row)?)
                    })?;
                }
            }
        }
        Ok(())
    }

    /// Reads a MERGE table: the tables behind it, one after the other.
    fn read_behind(
        &self,
        behind: &[TablePlan],
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        f: &mut OnRow<'_>,
    ) -> SqlResult<()> {
        self.begins(ctx);
        let mut more = true;
        for b in behind {
            b.read(txn, ctx, false, &mut |ctx, row| {
                more = !self.met_freely(true, row, ctx)? || f(ctx, row)?;
                Ok(more)
            })?;
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// As [`TablePlan::lock`], for a MERGE table.
    fn lock_behind(
        &self,
        behind: &[TablePlan],
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        (spec, all_first): (LockSpec, bool),
        f: &mut OnLocked<'_>,
    ) -> SqlResult<()> {
        let mut more = true;
        for b in behind {
            b.lock(txn, ctx, spec, all_first, &mut |txn, key, row| {
                let wanted = self.matches(true, row, ctx)? && self.matches_late(txn, ctx, row)?;
                more = !wanted || f(txn, key, row)?;
                Ok(more)
            })?;
            if !more {
                break;
            }
        }
        Ok(())
    }

    /// What the condition says of a virtual table's rows.
    fn wanted(&self, ctx: &RunCtx<'_>) -> SqlResult<Wanted> {
        let mut wanted = Wanted::default();
        for e in self.filter.iter().flat_map(conjuncts) {
            let ExprKind::Compare {
                op: CmpOp::Eq,
                left,
                right,
                ..
            } = &e.kind
            else {
                continue;
            };
            let (column, constant) = match (left.as_column(), right.as_column()) {
                (Some((_, c)), None) => (c, right),
                (None, Some((_, c))) => (c, left),
                _ => continue,
            };
            if constant.is_const()
                && let Value::Str(text) = constant.eval(ctx, &NoRow)?
            {
                wanted.equal.push((column, text));
            }
        }
        Ok(wanted)
    }

    /// Finds matching rows in their newest version, locks each, checks it again and hands it on.
    /// `all_first`: find all rows before the first is handed on (it may move within the index).
    pub fn lock(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        spec: LockSpec,
        all_first: bool,
        f: &mut OnLocked<'_>,
    ) -> SqlResult<()> {
        if let Rows::Merge(behind) = &self.rows {
            return self.lock_behind(behind, txn, ctx, (spec, all_first), f);
        }
        if !self.is_stored() {
            return Err(SqlError::unsupported("row locks of a derived table"));
        }
        // FOR UPDATE means to write.
        if spec.mode == LockMode::Exclusive && txn.refuses_writes() && !self.table.temporary {
            return Err(EngineError::ReadOnly.into());
        }
        self.begins(ctx);
        let mut late = |txn: &mut Transaction, key: &[u8], row: &Row| {
            if let Some(counts) = ctx.run.counts {
                counts.reads(self)?;
                counts.passes(self);
            }
            match self.matches_late(txn, ctx, row)? {
                true => f(txn, key, row),
                false => Ok(true),
            }
        };
        let f: &mut OnLocked<'_> = &mut late;
        let (keys, check) = self.keys(ctx)?;
        let reach = self.reach(txn, spec);
        let once = self.asks_once() || reach.all_rows;
        let mut how = Locking::new(txn, spec, check, once);
        match keys {
            Keys::Points(points) => {
                let mut found = 0;
                for k in &points {
                    let Some(row) = txn.lock_row(&self.table, k, spec.mode, spec.wait)? else {
                        continue;
                    };
                    found += 1;
                    if self.matches(check, &row, ctx)? && !f(txn, k, &row)? {
                        break;
                    }
                }
                Self::count_points(&points, found, ctx);
                Ok(())
            }
            // The consumer may move rows within the index: it must not meet them again.
            Keys::Ranges(ranges) if all_first => {
                self.lock_ranges(txn, spec, reach, &ranges)?;
                let all = self.find_all(txn, ctx, &ranges, check && !once)?;
                all.each(ctx.env, &mut |pk| {
                    ctx.env.status_counts.add(StatusCount::HandlerReadRnd, 1);
                    self.lock_candidate(txn, ctx, &mut how, pk, f)
                })
            }
            Keys::Ranges(ranges) => {
                if reach.ranges && self.lock_unique(txn, ctx, spec, &ranges, (check, once), f)? {
                    return Ok(());
                }
                let (mut max, mut step) = (FIRST_WINDOW, 1);
                for mut r in ranges {
                    // The newest range that was taken, which ends where the consumer has enough.
                    let mut taken = None;
                    loop {
                        let (part, end) = match reach.ranges {
                            true => self.lock_part(txn, ctx, spec, &r, &mut step, &mut taken)?,
                            false => (r.clone(), None),
                        };
                        let keys = reach.ranges;
                        let (window, last) =
                            self.window(txn, ctx, &part, check && !once, max, keys)?;
                        let stop = self.lock_candidates(txn, ctx, &mut how, &window, f)?;
                        if let Some(i) = stop {
                            if let Some((mark, range)) = taken {
                                txn.shrink_range(mark, &self.up_to(&range, window.key(i)));
                            }
                            return Ok(());
                        }
                        let Some(last) = last.or(end) else { break };
                        self.go_behind(&mut r, last);
                        max = (max * 8).min(WINDOW);
                    }
                }
                Ok(())
            }
        }
    }

    fn reach(&self, txn: &Transaction, spec: LockSpec) -> Reach {
        // SKIP LOCKED asks for no range: it never waits for others.
        let ranges =
            spec.wait != LockWait::SkipLocked && txn.locks_ranges(&self.table, spec.changes);
        Reach {
            ranges,
            all_rows: ranges && txn.is_serializable(),
        }
    }

    /// Locks whole ranges.
    fn lock_ranges(
        &self,
        txn: &mut Transaction,
        spec: LockSpec,
        reach: Reach,
        ranges: &[KeyRange],
    ) -> SqlResult<()> {
        if reach.ranges {
            for r in ranges {
                txn.lock_range(&self.table, self.access.index, r, spec.mode, spec.wait)?;
            }
        }
        Ok(())
    }

    /// Locks a range that is to be scanned. If new keys of others are in it, only its beginning, of `step` rows, which grows:
    /// they may be behind what is wanted. Gives what was locked, with its end if that is not all.
    fn lock_part(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        spec: LockSpec,
        range: &KeyRange,
        step: &mut usize,
        taken: &mut Option<(RangeMark, KeyRange)>,
    ) -> SqlResult<(KeyRange, Option<Vec<u8>>)> {
        let index = self.access.index;
        match txn.lock_range(&self.table, index, range, spec.mode, LockWait::NoWait) {
            Ok(mark) => {
                if let Some(mark) = mark {
                    *taken = Some((mark, range.clone()));
                }
                return Ok((range.clone(), None));
            }
            Err(EngineError::LockNotAvailable) => {}
            Err(e) => return Err(e.into()),
        }
        let mut n = 0;
        let view = ReadView::Current;
        let end = self.collect(txn, ctx, range.clone(), view, false, &mut |_, _| {
            n += 1;
            Ok(n < *step)
        })?;
        *step *= 4;
        let part = match &end {
            Some(key) => self.up_to(range, key),
            None => range.clone(),
        };
        if let Some(mark) = txn.lock_range(&self.table, index, &part, spec.mode, spec.wait)? {
            *taken = Some((mark, part.clone()));
        }
        Ok((part, end))
    }

    /// One value of a unique index: if its row is there, the row's lock keeps others from bringing another. False if it is not,
    /// or something changed meanwhile.
    fn lock_unique(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        spec: LockSpec,
        ranges: &[KeyRange],
        (check, once): (bool, bool),
        f: &mut OnLocked<'_>,
    ) -> SqlResult<bool> {
        let index = self.access.index;
        let ([range], Lookup::Point(_)) = (ranges, &self.access.lookup) else {
            return Ok(false);
        };
        let Bound::Included(value) = &range.start else {
            return Ok(false);
        };
        let mut found = None;
        let view = ReadView::Current;
        self.collect(txn, ctx, range.clone(), view, false, &mut |_, pk| {
            found = Some(pk.to_vec());
            Ok(false)
        })?;
        let Some(pk) = found else { return Ok(false) };
        let Some(row) = txn.lock_row(&self.table, &pk, spec.mode, spec.wait)? else {
            return Ok(false);
        };
        let mut parts = Vec::with_capacity(value.len());
        let has_null = self.table.secondary_parts(index, &row, &mut parts)?;
        if has_null || parts != *value {
            return Ok(false);
        }
        let check = check || self.filter.is_some();
        if self.matches_locked(check, once, &row, ctx)? {
            f(txn, &pk, &row)?;
        }
        Ok(true)
    }

    /// The clustered keys of all rows that match now, and behind them of those that match in the snapshot only (see
    /// [`TablePlan::window`]).
    fn find_all(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        ranges: &[KeyRange],
        check: bool,
    ) -> SqlResult<RowList> {
        let env = ctx.env;
        let mut all = RowList::default();
        let views = views(txn);
        let mut seen = (views.len() > 1).then(Distinct::default);
        for view in views {
            for r in ranges {
                self.collect(txn, ctx, r.clone(), *view, check, &mut |_, pk| {
                    let new = match &mut seen {
                        Some(seen) => seen.offer(pk, env, |to| to.extend_from_slice(pk))?,
                        None => true,
                    };
                    if new {
                        all.push(pk, env.table_room(), env)?;
                    }
                    Ok(true)
                })?;
            }
        }
        if let Some(seen) = seen {
            seen.finish(env, &mut |pk| {
                all.push(pk, env.table_room(), env).map(|()| true)
            })?;
        }
        all.finish()?;
        Ok(all)
    }

    /// The first rows of a range that match, at most about `max`, in key order; with the last key looked at if there
    /// may be more; `keys`: with their keys in the index. Rows that match in the snapshot are among them: one that changed since is a conflict, found when it
    /// is locked, even if its newest version does not match.
    fn window(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        range: &KeyRange,
        check: bool,
        max: usize,
        keys: bool,
    ) -> SqlResult<(Candidates, Option<Vec<u8>>)> {
        let memory = usize::try_from(ctx.env.max_memory / 2).unwrap_or(usize::MAX);
        let max = (max, WINDOW_BYTES.min(memory));
        let conflicts = txn.checks_conflicts();
        let mut now = Candidates::with_keys((conflicts || keys) && self.access.index != 0);
        let r = range.clone();
        let view = ReadView::Current;
        let last = self.collect(txn, ctx, r, view, check, &mut |key, pk| {
            now.push(key, pk);
            Ok(!now.is_full(max))
        })?;
        if !conflicts {
            return Ok((now, last));
        }
        let mut r = range.clone();
        if let Some(last) = &last {
            let bound = Bound::Included(last.clone());
            if self.access.reverse {
                r.start = bound;
            } else {
                r.end = bound;
            }
        }
        let mut then = Candidates::with_keys(self.access.index != 0);
        let view = ReadView::Snapshot;
        let cut = self.collect(txn, ctx, r, view, check, &mut |key, pk| {
            then.push(key, pk);
            Ok(!then.is_full(max))
        })?;
        let window = Candidates::merge(&now, &then, cut.as_deref(), self.access.reverse);
        Ok((window, cut.or(last)))
    }

    /// Calls `f` with the key in the scanned index and the clustered key of each matching row; the last key if `f` said
    /// enough.
    fn collect(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        range: KeyRange,
        view: ReadView,
        check: bool,
        f: &mut OnRecord<'_>,
    ) -> SqlResult<Option<Vec<u8>>> {
        let all = is_all(&range);
        let mut scan = txn.scan(
            &self.table,
            self.access.index,
            range,
            self.access.reverse,
            view,
            !check,
        )?;
        let mut n = 0u64;
        let mut last = None;
        while let Some(item) = scan.next()? {
            n += 1;
            if n & 0xff == 0 {
                ctx.env.check_interrupt()?;
            }
            if self.matches_in(view, check, item.row, ctx)? && !f(item.key, item.pk)? {
                last = Some(item.key.to_vec());
                break;
            }
        }
        self.count_range(all, n, last.is_none(), ctx);
        Ok(last)
    }

    /// Where `f` said enough.
    fn lock_candidates(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        how: &mut Locking,
        c: &Candidates,
        f: &mut OnLocked<'_>,
    ) -> SqlResult<Option<usize>> {
        for i in 0..c.len() {
            if i & 0xff == 0xff {
                ctx.env.check_interrupt()?;
            }
            if !self.lock_candidate(txn, ctx, how, c.get(i), f)? {
                return Ok(Some(i));
            }
        }
        Ok(None)
    }

    /// Locks a row and hands it on if it still matches; false if `f` said enough.
    fn lock_candidate(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        how: &mut Locking,
        pk: &[u8],
        f: &mut OnLocked<'_>,
    ) -> SqlResult<bool> {
        // A clustered key can't change under the lock, a secondary one can.
        let secondary = self.access.index != 0;
        let check = how.check || (secondary && self.filter.is_some());
        if secondary && how.met(pk) {
            return Ok(true);
        }
        let LockSpec { mode, wait, .. } = how.spec;
        let Some(row) = txn.lock_row(&self.table, pk, mode, wait)? else {
            return Ok(true);
        };
        if !self.matches_locked(check, how.once, &row, ctx)? {
            return Ok(true);
        }
        if secondary {
            how.locked(txn, pk);
        }
        f(txn, pk, &row)
    }

    /// For UPDATE and DELETE with an ORDER BY that the index doesn't give: finds all matching rows, sorts them, then
    /// locks and hands them on in that order.
    pub fn lock_sorted(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        spec: LockSpec,
        order: &[crate::plan::query::SortKey],
        f: &mut OnLocked<'_>,
    ) -> SqlResult<()> {
        self.begins(ctx);
        let (keys, check) = self.keys(ctx)?;
        let mut buf = super::order::SortBuffer::new(order, usize::MAX, ctx.env);
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
        let reach = self.reach(txn, spec);
        self.lock_ranges(txn, spec, reach, &ranges)?;
        let views = views(txn);
        let once = self.asks_once() || reach.all_rows;
        let mut how = Locking::new(txn, spec, self.filter.is_some(), once);
        let layout = &self.table.layout;
        let mut seen = (views.len() > 1).then(Distinct::default);
        for (view, r) in views
            .iter()
            .flat_map(|v| ranges.iter().map(move |r| (*v, r.clone())))
        {
            let all = is_all(&r);
            let mut scan = txn.scan(
                &self.table,
                self.access.index,
                r,
                self.access.reverse,
                view,
                false,
            )?;
            let mut n = 0u64;
            while let Some(item) = scan.next()? {
                n += 1;
                if n & 0xff == 0 {
                    ctx.env.check_interrupt()?;
                }
                let (pk, row) = (item.pk, item.row);
                if let Some(counts) = ctx.run.counts {
                    counts.reads(self)?;
                }
                if !self.matches_in(view, check && !once, row, ctx)? {
                    continue;
                }
                let new = match &mut seen {
                    Some(seen) => seen.offer(pk, ctx.env, |to| {
                        put_bytes(pk, to);
                        to.extend_from_slice(row);
                    })?,
                    None => true,
                };
                if new {
                    buf.push(pk, &[], &ImageRow { layout, row }, ctx)?;
                }
            }
            self.count_range(all, n, true, ctx);
        }
        if let Some(seen) = seen {
            seen.finish(ctx.env, &mut |mut row| {
                let pk = take_bytes(&mut row)?;
                buf.push(pk, &[], &ImageRow { layout, row }, ctx)?;
                Ok(true)
            })?;
        }
        let f: &mut OnLocked<'_> = &mut |txn: &mut Transaction, pk: &[u8], row: &Row| {
            if let Some(counts) = ctx.run.counts {
                counts.passes(self);
            }
            match self.matches_late(txn, ctx, row)? {
                true => f(txn, pk, row),
                false => Ok(true),
            }
        };
        self.count_sort(buf.pushed(), usize::MAX, ctx);
        buf.drain(ctx, &mut |pk, _, _| {
            ctx.env.status_counts.add(StatusCount::HandlerReadRnd, 1);
            self.lock_candidate(txn, ctx, &mut how, pk, f)
        })
    }
}

/// The whole index.
pub(super) fn is_all(range: &KeyRange) -> bool {
    matches!(
        (&range.start, &range.end),
        (Bound::Unbounded, Bound::Unbounded)
    )
}

/// A range, or a lookup, has no further row: LIMIT ROWS EXAMINED counts that.
#[inline]
fn end_of_read(ctx: &RunCtx<'_>) -> SqlResult<()> {
    match ctx.run.counts {
        Some(counts) => counts.ends(),
        None => Ok(()),
    }
}

/// Where a locking read looks for rows.
fn views(txn: &Transaction) -> &'static [ReadView] {
    if txn.checks_conflicts() {
        &[ReadView::Current, ReadView::Snapshot]
    } else {
        &[ReadView::Current]
    }
}

/// Clustered keys, back to back, with the keys of the scanned index behind each if that is another one and they are
/// needed.
#[derive(Default)]
struct Candidates {
    bytes: Vec<u8>,
    /// Where each clustered key ends, and the key behind it.
    ends: Vec<(usize, usize)>,
    keys: bool,
}

impl Candidates {
    fn with_keys(keys: bool) -> Self {
        Candidates {
            keys,
            ..Default::default()
        }
    }

    fn push(&mut self, key: &[u8], pk: &[u8]) {
        self.bytes.extend_from_slice(pk);
        let end = self.bytes.len();
        if self.keys {
            self.bytes.extend_from_slice(key);
        }
        self.ends.push((end, self.bytes.len()));
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there are so many rows, or bytes.
    fn is_full(&self, (rows, bytes): (usize, usize)) -> bool {
        self.len() >= rows || self.bytes.len() >= bytes
    }

    /// The clustered key.
    fn get(&self, i: usize) -> &[u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1].1 };
        &self.bytes[start..self.ends[i].0]
    }

    /// The key in the scanned index.
    fn key(&self, i: usize) -> &[u8] {
        if self.keys {
            &self.bytes[self.ends[i].0..self.ends[i].1]
        } else {
            self.get(i)
        }
    }

    /// Both, in the order of the scan, each key once, up to and with `cut`.
    fn merge(a: &Candidates, b: &Candidates, cut: Option<&[u8]>, reverse: bool) -> Candidates {
        let order = |x: &[u8], y: &[u8]| if reverse { y.cmp(x) } else { x.cmp(y) };
        let mut out = Candidates {
            bytes: Vec::with_capacity(a.bytes.len()),
            ends: Vec::with_capacity(a.ends.len()),
            keys: a.keys,
        };
        let (mut i, mut j) = (0, 0);
        loop {
            let which = match (i < a.len(), j < b.len()) {
                (true, true) => order(a.key(i), b.key(j)),
                (true, false) => Ordering::Less,
                (false, true) => Ordering::Greater,
                (false, false) => break,
            };
            let (c, at) = if which == Ordering::Greater {
                (b, j)
            } else {
                (a, i)
            };
            if cut.is_some_and(|cut| order(c.key(at), cut) == Ordering::Greater) {
                break;
            }
            out.push(c.key(at), c.get(at));
            i += usize::from(which != Ordering::Greater);
            j += usize::from(which != Ordering::Less);
        }
        out
    }
}

/// The row that an entry of an index names.
pub(crate) fn row_of(txn: &mut Transaction, t: &TablePlan, pk: &[u8]) -> SqlResult<Row> {
    txn.get(&t.table, pk)?
        .ok_or_else(|| errors::NOT_KEYFILE.plain())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(keys: &[&str], with_keys: bool) -> Candidates {
        let mut c = Candidates::with_keys(with_keys);
        for k in keys {
            c.push(format!("{k}!").as_bytes(), k.as_bytes());
        }
        c
    }

    #[test]
    fn two_views_merge_in_the_order_of_the_scan() {
        let text = |c: &Candidates| -> Vec<String> {
            (0..c.len())
                .map(|i| String::from_utf8_lossy(c.get(i)).into_owned())
                .collect()
        };
        for k in [false, true] {
            let (a, b) = (of(&["a", "c", "e", "f"], k), of(&["b", "c", "d"], k));
            let all = Candidates::merge(&a, &b, None, false);
            assert_eq!(text(&all), ["a", "b", "c", "d", "e", "f"]);
            let cut: &[u8] = if k { b"d!" } else { b"d" };
            let some = Candidates::merge(&a, &b, Some(cut), false);
            assert_eq!(text(&some), ["a", "b", "c", "d"]);
            let (a, b) = (of(&["f", "e", "c"], k), of(&["g", "e", "d"], k));
            let back = Candidates::merge(&a, &b, Some(cut), true);
            assert_eq!(text(&back), ["g", "f", "e", "d"]);
        }
    }
}
