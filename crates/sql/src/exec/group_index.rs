//! GROUP BY and DISTINCT along an index: groups come one behind the other, rows are not read but for what the index has not.

use super::group_spill::PutOut;
use super::rows::is_all;
use super::select::Output;
use crate::exec::context::RunCtx;
use crate::exec::groups::Groups;
use crate::exec::rows::row_of;
use crate::expr::node::ImageRow;
use crate::plan::query::IndexGroups;
use crate::plan::query::{GroupPlan, SelectPlan, TablePlan};
use narwal_engine::{KeyRange, ReadView, Transaction};
use narwal_types::{RowLayout, SqlResult, key};
use std::ops::Bound;

/// The end of a range, or of a group in it that ends before `next`, whichever comes first.
fn first_end(range: &Bound<Vec<u8>>, next: Option<&[u8]>) -> Bound<Vec<u8>> {
    match (range, next) {
        (Bound::Included(e) | Bound::Excluded(e), Some(next)) if e.as_slice() < next => {
            range.clone()
        }
        (_, Some(next)) => Bound::Excluded(next.to_vec()),
        (_, None) => range.clone(),
    }
}

/// Groups while entries of an index come in.
struct Gathering<'p, 'c, 'r> {
    table: &'p TablePlan,
    group: &'p GroupPlan,
    by: &'p IndexGroups,
    layout: &'p RowLayout,
    ctx: &'c RunCtx<'r>,
    /// The filter is looked at.
    check: bool,
    /// Rows are put together of what the index has.
    needs_image: bool,
    /// Groups behind these are of no use.
    most: usize,
    groups: Groups<'p>,
    /// Those that did not fit into memory.
    done: PutOut,
    /// The clustered keys of rows that are to be read.
    pks: Vec<Box<[u8]>>,
    pk_bytes: u64,
    image: Vec<u8>,
    /// The key of the current group.
    last: Vec<u8>,
    /// Its entries.
    in_group: u32,
    steps: u64,
}

impl Gathering<'_, '_, '_> {
    /// Takes an entry in: how many the current group has now, `None` for the entry of one group too many.
    fn take(&mut self, key: &[u8], pk: &[u8]) -> SqlResult<Option<u32>> {
        self.steps += 1;
        if self.steps & 0xff == 0 {
            self.ctx.env.check_interrupt()?;
        }
        if self.needs_image {
            self.by.rows.image(key, pk, &mut self.image)?;
        }
        if !self.table.met(self.check, &self.image, self.ctx)? {
            return Ok(Some(self.in_group));
        }
        let by = self.by;
        let cut = by.prefix.cut(self.table.access.index, key, pk)?;
        if self.groups.len() == 0 || cut != self.last.as_slice() {
            if self.done.count() + self.groups.len() >= self.most {
                return Ok(None);
            }
            self.begin(cut, pk)?;
        }
        self.in_group = self.in_group.saturating_add(1);
        let row = ImageRow {
            layout: self.layout,
            row: &self.image,
        };
        self.groups.update_last(&row, self.ctx)?;
        Ok(Some(self.in_group))
    }

    /// Begins a group. Those before it go out of memory if it is full.
    fn begin(&mut self, cut: &[u8], pk: &[u8]) -> SqlResult<()> {
        if self.groups.is_full_beside(self.pk_bytes) {
            self.done.take(&mut self.groups, &mut self.pks, self.ctx)?;
            self.pk_bytes = 0;
        }
        self.last.clear();
        self.last.extend_from_slice(cut);
        self.in_group = 0;
        self.groups.add_accs();
        if self.by.whole {
            self.groups.add_row(&self.image)?;
        } else if !self.group.row_columns.is_empty() {
            self.pk_bytes += (size_of::<Box<[u8]>>() + pk.len()) as u64;
            self.pks.push(pk.into());
        }
        Ok(())
    }

    /// Reads all entries of a range. False: there are groups enough.
    fn read(&mut self, range: KeyRange, txn: &mut Transaction) -> SqlResult<bool> {
        let t = self.table;
        let (table, index) = (&t.table, t.access.index);
        let mut enough = false;
        txn.scan(table, index, range, false, ReadView::Snapshot, true)?
            .each(|item| -> SqlResult<bool> {
                enough = self.take(item.key, item.pk)?.is_none();
                Ok(!enough)
            })?;
        Ok(!enough)
    }

    /// Reads a range, but seeks the next group once a group has `behind` entries and needs no more of them.
    fn seek(&mut self, mut range: KeyRange, behind: u32, txn: &mut Transaction) -> SqlResult<()> {
        let t = self.table;
        let (table, index) = (&t.table, t.access.index);
        let view = ReadView::Snapshot;
        'seek: loop {
            let mut scan = txn.scan(table, index, range.clone(), false, view, true)?;
            while let Some(item) = scan.next()? {
                let Some(n) = self.take(item.key, item.pk)? else {
                    return Ok(());
                };
                if n < behind || !self.groups.last_is_decided() {
                    continue;
                }
                // The last entry, then the next group.
                drop(scan);
                let next = key::successor(&self.last);
                if !self.group.aggregates.is_empty() {
                    let rest = KeyRange {
                        start: range.start.clone(),
                        end: first_end(&range.end, next.as_deref()),
                    };
                    let mut scan = txn.scan(table, index, rest, true, view, true)?;
                    if let Some(item) = scan.next()? {
                        self.take(item.key, item.pk)?;
                    }
                }
                match next {
                    Some(n) => range.start = Bound::Included(n),
                    None => return Ok(()),
                }
                continue 'seek;
            }
            return Ok(());
        }
    }
}

impl SelectPlan {
    /// Reads the groups from the index and puts them out.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn grouped_by_index(
        &self,
        g: &GroupPlan,
        by: &IndexGroups,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        layout: &RowLayout,
        keep: usize,
        out: &mut Output<'_, '_>,
    ) -> SqlResult<()> {
        let Some(t) = &self.table else { return Ok(()) };
        t.begins(ctx);
        let (ranges, check) = t.index_ranges(ctx)?;
        let mut gathering = Gathering {
            table: t,
            group: g,
            by,
            layout,
            ctx,
            check,
            needs_image: check || !g.aggregates.is_empty() || by.whole,
            most: match self.sort.is_empty() && g.having.is_none() {
                true => keep,
                false => usize::MAX,
            },
            groups: Groups::new(g, Some(layout), ctx.env),
            done: PutOut::default(),
            pks: Vec::new(),
            pk_bytes: 0,
            image: Vec::new(),
            last: Vec::new(),
            in_group: 0,
            steps: 0,
        };
        for range in ranges {
            let (all, before) = (is_all(&range), gathering.steps);
            let more = match by.skip_behind.filter(|_| !check) {
                Some(behind) => gathering.seek(range, behind, txn).map(|()| true)?,
                None => gathering.read(range, txn)?,
            };
            t.count_range(all, gathering.steps - before, more, ctx);
            if !more {
                break;
            }
        }
        let Gathering {
            mut groups,
            mut done,
            mut pks,
            ..
        } = gathering;
        if done.count() > 0 {
            done.take(&mut groups, &mut pks, ctx)?;
            if !by.whole && !g.row_columns.is_empty() {
                done.read_rows(&mut groups, txn, t, ctx)?;
            }
            return self.evaluating(txn, ctx, |ctx| {
                self.emit_put_out(g, layout, &done, keep, ctx, out)
            });
        }
        for pk in &pks {
            let row = row_of(txn, t, pk)?;
            groups.add_row(&row)?;
        }
        if groups.is_spilled() {
            return self.evaluating(txn, ctx, |ctx| self.emit_spilled(groups, keep, ctx, out));
        }
        self.evaluating(txn, ctx, |ctx| self.emit_groups(&groups, keep, ctx, out))
    }

    /// True if MIN and MAX stand at ends of indexes with these values: each condition before them selects one key.
    pub(super) fn ends_hold(&self, g: &GroupPlan, ctx: &RunCtx<'_>) -> SqlResult<bool> {
        for end in &g.ends {
            if !end.access.ranges(&end.table, ctx)?.exact {
                return Ok(false);
            }
        }
        Ok(!g.ends.is_empty())
    }

    /// MIN and MAX, each read at an end of an index.
    pub(super) fn ends(
        &self,
        g: &GroupPlan,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        layout: &RowLayout,
    ) -> SqlResult<Vec<super::aggregate::Acc>> {
        let mut accs = Vec::with_capacity(g.ends.len());
        for (end, a) in g.ends.iter().zip(&g.aggregates) {
            let mut acc = super::aggregate::Acc::new(a);
            end.read(txn, ctx, false, &mut |ctx, row| {
                acc.update(a, &ImageRow { layout, row }, ctx)?;
                Ok(!acc.decided())
            })?;
            accs.push(acc);
        }
        Ok(accs)
    }
}
