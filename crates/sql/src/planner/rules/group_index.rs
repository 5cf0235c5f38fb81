//! When an index gives groups, or the ends of a column's values.

use crate::expr::node::{AggFunc, Aggregate, Expr};
use crate::plan::access::{Access, Lookup};
use crate::plan::index_rows::{GroupPrefix, IndexRows, entry_width};
use crate::plan::query::GroupPlan;
use crate::plan::query::IndexGroups;
use crate::plan::query::SortKey;
use crate::plan::query::{Rows, TablePlan};
use crate::planner::estimate::Estimates;

/// Entries of a group that are read before the rest of it is skipped, if groups may be short: to seek costs as much as to
/// read about ten entries.
const SKIP_BEHIND: u32 = 32;

/// Rows of a group, on average, from which on only its first entry is read before the rest of it is skipped.
const LONG: u64 = 32;

/// Makes a table be read by an index that gives the groups of `g`, if there is one; `row_columns`: what is looked at outside of
/// aggregates.
pub fn index_groups(
    t: &mut TablePlan,
    g: &GroupPlan,
    estimates: &Estimates<'_>,
) -> Option<IndexGroups> {
    if !t.is_stored() || t.late.is_some() || g.rollup || g.keys.is_empty() {
        return None;
    }
    let keys: Vec<usize> = g
        .keys
        .iter()
        .map(|k| k.expr.as_column().map(|(_, c)| c))
        .collect::<Option<_>>()?;
    let mut distinct = keys.clone();
    distinct.sort_unstable();
    distinct.dedup();
    // Subqueries can't run while an index is read.
    let args = |a: &Aggregate| a.args.iter().any(Expr::runs_each_row);
    if g.aggregates.iter().any(args) {
        return None;
    }
    let mut columns = Vec::new();
    for e in g.aggregates.iter().flat_map(|a| &a.args).chain(&t.filter) {
        e.for_each_column(&mut |c| columns.push(c));
    }
    let full = matches!(t.access.lookup, Lookup::Full);
    let mut best: Option<(usize, usize, IndexGroups)> = None;
    for (i, index) in t.table.indexes.iter().enumerate().skip(1) {
        let allowed = t.access.allowed_groups.get(i).copied().unwrap_or(true);
        if !allowed || (!full && i != t.access.index) || index.parts.len() < distinct.len() {
            continue;
        }
        let n = distinct.len();
        let mut first: Vec<usize> = index.parts[..n].iter().map(|p| p.column).collect();
        first.sort_unstable();
        if first != distinct || index.parts.iter().any(|p| p.prefix.is_some()) {
            continue;
        }
        let Some(prefix) = GroupPrefix::of(&t.table, i, n) else {
            continue;
        };
        let with_row: Vec<usize> = columns.iter().chain(&g.row_columns).copied().collect();
        let (rows, whole) = match IndexRows::of(&t.table, i, &with_row) {
            Some(rows) => (rows, true),
            None => match IndexRows::of(&t.table, i, &columns) {
                Some(rows) => (rows, false),
                None => continue,
            },
        };
        let next = index.parts.get(n);
        let at_ends = |a: &Aggregate| {
            matches!(a.func, AggFunc::Min | AggFunc::Max)
                && a.args
                    .first()
                    .and_then(|e| e.as_column())
                    .is_some_and(|(_, c)| {
                        next.is_some_and(|p| p.column == c && !(p.desc && p.nullable))
                    })
        };
        let skips = n < index.parts.len()
            && (t.filter.is_none() || t.access.covers_filter)
            && g.aggregates.iter().all(at_ends);
        let width = entry_width(&t.table, i);
        if best.as_ref().is_none_or(|(w, ..)| width < *w) {
            let by = IndexGroups {
                prefix,
                rows,
                whole,
                skip_behind: skips.then_some(SKIP_BEHIND),
            };
            best = Some((width, i, by));
        }
    }
    let (_, i, mut by) = best?;
    if let Some(behind) = &mut by.skip_behind {
        let stats = t.table.stats();
        let groups = estimates.distinct(&t.table, i, distinct.len(), stats.as_deref());
        if groups.is_some_and(|n| estimates.rows(&t.table) / n.max(1) >= LONG) {
            *behind = 1;
        }
    }
    t.access.index = i;
    t.access.reverse = false;
    t.cover = None;
    Some(by)
}

/// True if groups along an index come in this order.
pub fn in_index_order(t: &TablePlan, sort: &[SortKey]) -> bool {
    let parts = &t.table.indexes[t.access.index].parts;
    sort.len() <= parts.len()
        && sort.iter().zip(parts).all(|(k, p)| {
            k.expr.as_column().is_some_and(|(_, c)| c == p.column) && k.desc == p.desc
        })
}

/// If all aggregates are MIN or MAX and an index has their values at its ends: how each is read.
pub fn ends(t: &TablePlan, g: &GroupPlan) -> Option<Vec<TablePlan>> {
    if !t.is_stored() || t.late.is_some() || !g.keys.is_empty() || !g.row_columns.is_empty() {
        return None;
    }
    g.aggregates
        .iter()
        .map(|a| {
            if !matches!(a.func, AggFunc::Min | AggFunc::Max) {
                return None;
            }
            let (_, column) = a.args.first()?.as_column()?;
            let indexes = (0..t.table.indexes.len())
                .filter(|i| t.access.allowed.get(*i).copied().unwrap_or(true));
            let mut access = indexes
                .filter_map(|i| Access::ends_of(&t.table, t.filter.as_ref(), i, column))
                .next()?;
            let parts = &t.table.indexes[access.index].parts;
            let desc = parts.iter().any(|p| p.column == column && p.desc);
            access.reverse = (a.func == AggFunc::Max) != desc;
            // Another index would not do, even if it has the column.
            access.ordered = true;
            let mut end = TablePlan {
                table: t.table.clone(),
                access,
                filter: t.filter.clone(),
                late: None,
                rows: Rows::Stored,
                cover: None,
            };
            end.wants(vec![column]);
            Some(end)
        })
        .collect()
}
