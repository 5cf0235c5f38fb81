//! GROUP BY and DISTINCT along an index: groups come one behind the other, rows are not read but for what the index has not.

use super::group_spill::PutOut;
use super::select::Output;
use crate::exec::context::RunCtx;
use crate::exec::groups::Groups;
use crate::exec::rows::row_of;
use crate::expr::node::ImageRow;
use crate::plan::query::IndexGroups;
use crate::plan::query::{GroupPlan, SelectPlan};
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
        let (table, index) = (&t.table, t.access.index);
        let (ranges, check) = t.index_ranges(ctx)?;
        // Groups behind these are of no use.
        let most = if self.sort.is_empty() && g.having.is_none() {
            keep
        } else {
            usize::MAX
        };
        let needs_image = check || !g.aggregates.is_empty() || by.whole;
        let mut groups = Groups::new(g, Some(layout), ctx.env);
        // Those that did not fit into memory.
        let mut done = PutOut::default();
        // The clustered keys of rows that are to be read.
        let mut pks: Vec<Box<[u8]>> = Vec::new();
        let mut pk_bytes = 0u64;
        let mut image = Vec::new();
        let mut last: Vec<u8> = Vec::new();
        let mut steps = 0u32;
        // Entries of the current group; `None` for the entry of one group too many.
        let mut in_group = 0u32;
        let mut take = |groups: &mut Groups<'_>,
                        last: &mut Vec<u8>,
                        key: &[u8],
                        pk: &[u8]|
         -> SqlResult<Option<u32>> {
            steps = steps.wrapping_add(1);
            if steps & 0xff == 0 {
                ctx.env.check_interrupt()?;
            }
            if needs_image {
                by.rows.image(key, pk, &mut image)?;
            }
            if !t.matches(check, &image, ctx)? {
                return Ok(Some(in_group));
            }
            let cut = by.prefix.cut(index, key, pk)?;
            if groups.len() == 0 || cut != last.as_slice() {
                if done.count() + groups.len() >= most {
                    return Ok(None);
                }
                if groups.is_full_beside(pk_bytes) {
                    done.take(groups, &mut pks, ctx)?;
                    pk_bytes = 0;
                }
                last.clear();
                last.extend_from_slice(cut);
                in_group = 0;
                groups.add_accs();
                if by.whole {
                    groups.add_row(&image)?;
                } else if !g.row_columns.is_empty() {
                    pk_bytes += (size_of::<Box<[u8]>>() + pk.len()) as u64;
                    pks.push(pk.into());
                }
            }
            in_group = in_group.saturating_add(1);
            groups.update_last(
                &ImageRow {
                    layout,
                    row: &image,
                },
                ctx,
            )?;
            Ok(Some(in_group))
        };
        let view = ReadView::Snapshot;
        for mut range in ranges {
            let Some(skip_behind) = by.skip_behind.filter(|_| !check) else {
                let mut enough = false;
                txn.scan(table, index, range, false, view, true)?.each(
                    |item| -> SqlResult<bool> {
                        enough = take(&mut groups, &mut last, item.key, item.pk)?.is_none();
                        Ok(!enough)
                    },
                )?;
                if enough {
                    break;
                }
                continue;
            };
            'seek: loop {
                let mut scan = txn.scan(table, index, range.clone(), false, view, true)?;
                while let Some(item) = scan.next()? {
                    let Some(n) = take(&mut groups, &mut last, item.key, item.pk)? else {
                        break 'seek;
                    };
                    if n < skip_behind || !groups.last_is_decided() {
                        continue;
                    }
                    // The last entry, then the next group.
                    drop(scan);
                    let next = key::successor(&last);
                    if !g.aggregates.is_empty() {
                        let rest = KeyRange {
                            start: range.start.clone(),
                            end: first_end(&range.end, next.as_deref()),
                        };
                        let mut scan = txn.scan(table, index, rest, true, view, true)?;
                        if let Some(item) = scan.next()? {
                            take(&mut groups, &mut last, item.key, item.pk)?;
                        }
                    }
                    match next {
                        Some(n) => range.start = Bound::Included(n),
                        None => break 'seek,
                    }
                    continue 'seek;
                }
                break;
            }
        }
        if done.count() > 0 {
            done.take(&mut groups, &mut pks, ctx)?;
            if !by.whole && !g.row_columns.is_empty() {
                done.read_rows(&mut groups, txn, t, ctx)?;
            }
            return self.evaluating(txn, ctx, |ctx| {
                self.emit_put_out(g, layout, &done, keep, ctx, out)
            });
        }
        if groups.is_spilled() {
            for pk in &pks {
                let row = row_of(txn, t, pk)?;
                groups.add_row(&row)?;
            }
            return self.evaluating(txn, ctx, |ctx| self.emit_spilled(groups, keep, ctx, out));
        }
        for pk in &pks {
            let row = row_of(txn, t, pk)?;
            groups.add_row(&row)?;
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
