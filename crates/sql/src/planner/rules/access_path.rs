//! The access path of a table: which index, and which of the conditions it makes use of.

use crate::expr::node::{CmpOp, Expr};
use crate::plan::access::{Access, Lookup};
use crate::plan::sarg::{ColCond, conjuncts, extract};
use crate::planner::estimate::Estimates;
use narwal_engine::{Index, Table};
use narwal_syntax::ast::{IndexHint, IndexHintKind, IndexHintScope};
use narwal_types::SqlResult;
use narwal_types::errors;
use std::sync::Arc;

/// An order that would save sorting: columns with DESC.
pub type WantedOrder = [(usize, bool)];

/// Which indexes the hints allow for something.
pub(crate) fn allowed_indexes(
    table: &Table,
    hints: &[IndexHint],
    scope: IndexHintScope,
) -> SqlResult<Vec<bool>> {
    let ignored = |name: &str| {
        table
            .def
            .indexes
            .iter()
            .any(|d| d.ignored && d.name == name)
    };
    let usable = |i: &Index| !ignored(&i.name);
    let mut allowed: Vec<bool> = table.indexes.iter().map(usable).collect();
    if hints.is_empty() {
        return Ok(allowed);
    }
    let concerns = |h: &IndexHint| h.scope.is_none_or(|s| s == scope);
    if hints
        .iter()
        .any(|h| h.kind != IndexHintKind::Ignore && concerns(h))
    {
        allowed.fill(false);
    }
    for h in hints {
        for name in &h.indexes {
            let i = table
                .indexes
                .iter()
                .position(|x| !x.name.is_empty() && x.name.eq_ignore_ascii_case(name) && usable(x))
                .ok_or_else(|| errors::KEY_DOES_NOT_EXISTS.with([&name, &table.def.name]))?;
            if concerns(h) {
                allowed[i] = h.kind != IndexHintKind::Ignore;
            }
        }
    }
    Ok(allowed)
}

/// If reading `index` gives the wanted order: whether to read it backwards. `fixed`: columns that have one value.
pub(crate) fn order_of(
    table: &Table,
    index: &Index,
    fixed: &[usize],
    order: &WantedOrder,
) -> Option<bool> {
    if order.is_empty() {
        return Some(false);
    }
    let mut parts = index.parts.clone();
    // The clustered key follows the parts of a secondary index.
    if index.id != table.indexes[0].id {
        let seen: Vec<usize> = parts.iter().map(|p| p.column).collect();
        parts.extend(
            table.indexes[0]
                .parts
                .iter()
                .filter(|p| !seen.contains(&p.column))
                .cloned(),
        );
    }
    let mut parts = parts.iter().peekable();
    let mut reverse = None;
    let mut covered: Vec<usize> = fixed.to_vec();
    for &(column, desc) in order {
        if covered.contains(&column) {
            continue;
        }
        while parts
            .peek()
            .is_some_and(|p| p.column != column && fixed.contains(&p.column))
        {
            parts.next();
        }
        let p = match parts.next() {
            Some(p) => p,
            // All parts are used up: keys are unique, so the rest of the order says nothing (the clustered key
            // is hidden otherwise).
            None if !table.hidden_pk => break,
            None => return None,
        };
        // BINARY and text prefixes don't give the order of whole values.
        if p.column != column || p.prefix.is_some() {
            return None;
        }
        let r = desc != p.desc;
        if *reverse.get_or_insert(r) != r {
            return None;
        }
        covered.push(column);
    }
    Some(reverse.unwrap_or(false))
}

impl Access {
    /// Chooses how to read `table` for `filter`. `order`: empty if none is wanted. `limit`: known number of rows wanted.
    pub fn choose(
        table: &Arc<Table>,
        filter: Option<&Expr>,
        order: &WantedOrder,
        limit: Option<u64>,
        hints: &[IndexHint],
        estimates: &Estimates<'_>,
    ) -> SqlResult<Access> {
        let table_rows = estimates.rows(table);
        let rows = table_rows.max(1000);
        let stats = table.stats();
        let allowed = allowed_indexes(table, hints, IndexHintScope::Join)?;
        let allowed_orders = allowed_indexes(table, hints, IndexHintScope::OrderBy)?;
        let forced = hints.iter().any(|h| {
            h.kind == IndexHintKind::Force && h.scope.is_none_or(|s| s == IndexHintScope::Join)
        });
        let conds: Vec<Option<(usize, ColCond)>> = filter
            .map(|f| conjuncts(f).iter().map(|e| extract(e, table)).collect())
            .unwrap_or_default();
        let mut best = Access::full(table_rows);
        let full_order = order_of(table, &table.indexes[0], &[], order);
        let want_sorted = !order.is_empty();
        if let Some(reverse) = full_order
            && want_sorted
        {
            best.reverse = reverse;
            best.ordered = true;
        }
        let sort_cost = |n: f64| if want_sorted { n * 1.5 + 1.0 } else { 0.0 };
        let limited = |n: f64, ordered: bool, selective: f64| match limit {
            // Reading stops early: as many rows as it takes to find enough matches.
            Some(l) if ordered || !want_sorted => n.min(l as f64 / selective.max(0.001) + 1.0),
            _ => n,
        };
        let filter_selectivity = if filter.is_some() { 0.1 } else { 1.0 };
        let mut best_cost = if forced {
            f64::INFINITY
        } else {
            limited(rows as f64, best.ordered, filter_selectivity)
                + if best.ordered {
                    0.0
                } else {
                    sort_cost(rows as f64)
                }
        };
        let mut possible = Vec::new();
        for (i, index) in table.indexes.iter().enumerate() {
            if !allowed[i] || index.parts.is_empty() {
                continue;
            }
            let mut used = Vec::new();
            let mut usable_conjuncts = 0;
            let mut eq_columns = Vec::new();
            let mut est = rows as f64;
            let mut unique_point = index.unique;
            let mut covers = true;
            // What the parts before the last one that is used select.
            let mut group = est;
            let mut informed = true;
            // One row at most, however many there are: nothing to find out.
            let one = index.unique
                && index.parts.iter().all(|p| {
                    (conds.iter().flatten())
                        .any(|(c, k)| *c == p.column && matches!(k, ColCond::Cmp(CmpOp::Eq, _)))
                });
            for part in &index.parts {
                let mut here: Vec<&ColCond> = conds
                    .iter()
                    .flatten()
                    .filter(|(c, _)| *c == part.column)
                    .map(|(_, k)| k)
                    .collect();
                // The first characters of equal strings need not be equal where weights do not come character by character.
                let unfit =
                    part.prefix.is_some() && table.columns()[part.column].ty.collation.expands();
                if here.is_empty() || unfit {
                    unique_point = false;
                    break;
                }
                usable_conjuncts += here.len();
                covers &= part.prefix.is_none();
                let cond = if here.len() == 1 {
                    here.remove(0).clone()
                } else {
                    ColCond::And(here.into_iter().cloned().collect())
                };
                let points = cond.is_points();
                let single = cond.is_single();
                let distinct_of = |parts| estimates.distinct(table, i, parts, stats.as_deref());
                let distinct = (points && !one)
                    .then(|| distinct_of(used.len() + 1))
                    .flatten();
                group = est;
                informed &= one || distinct.is_some();
                est = if let (true, Some(distinct)) = (points, distinct) {
                    let before = match used.len() {
                        0 => 1,
                        n => distinct_of(n).unwrap_or(1),
                    };
                    (est * before as f64 / distinct as f64).max(1.0) * cond.count() as f64
                } else if points {
                    (est / 20.0).max(1.0) * cond.count() as f64
                } else {
                    match &cond {
                        ColCond::IsNotNull => est * 0.9,
                        ColCond::Between(..) | ColCond::And(_) | ColCond::LikePrefix(..) => {
                            est / 30.0
                        }
                        ColCond::Or(v) => est / 30.0 * v.len() as f64,
                        _ => est / 4.0,
                    }
                };
                if single && part.prefix.is_none() {
                    eq_columns.push(part.column);
                } else {
                    unique_point = false;
                }
                if !matches!(cond, ColCond::Cmp(CmpOp::Eq, _)) {
                    unique_point = false;
                }
                used.push(cond);
                if !points {
                    unique_point = false;
                    break;
                }
            }
            let all_points = used.len() == index.parts.len() && used.iter().all(ColCond::is_points);
            if index.unique && all_points {
                est = est.min(used.iter().map(ColCond::count).product::<u64>() as f64);
            }
            if !used.is_empty() {
                possible.push(i);
            }
            if used.last().is_some_and(|c| !c.is_points())
                && let Some(n) = estimates.range(table, i, &used, group)
            {
                est = n;
                informed = used.len() == 1
                    || estimates
                        .distinct(table, i, used.len() - 1, stats.as_deref())
                        .is_some();
            }
            let order_dir = order_of(table, index, &eq_columns, order)
                .filter(|_| allowed_orders[i] || !want_sorted);
            if used.is_empty() && (order_dir.is_none() || !want_sorted) && !forced {
                continue;
            }
            if i == 0 && used.is_empty() {
                continue;
            }
            let est = est.clamp(1.0, rows as f64);
            let ordered = order_dir.is_some() && want_sorted;
            // Each row of a secondary index is fetched from the clustered one.
            let per_row = if i == 0 { 1.0 } else { 2.0 };
            let remaining = if covers && usable_conjuncts == conds.len() {
                1.0
            } else {
                filter_selectivity
            };
            let mut cost = limited(est, ordered, remaining) * per_row
                + if ordered { 0.0 } else { sort_cost(est) };
            if unique_point {
                cost = if i == 0 { 0.5 } else { 0.9 };
            }
            if cost < best_cost {
                best_cost = cost;
                let lookup = if unique_point {
                    Lookup::Point(
                        used.iter()
                            .filter_map(|c| match c {
                                ColCond::Cmp(_, e) => Some(e.clone()),
                                _ => None,
                            })
                            .collect(),
                    )
                } else if used.is_empty() {
                    Lookup::Full
                } else {
                    Lookup::Ranges(used)
                };
                best = Access {
                    index: i,
                    reverse: order_dir.unwrap_or(false),
                    ordered: ordered || unique_point,
                    order_by_values: want_sorted
                        && (unique_point || order_of(table, index, &[], order).is_none()),
                    covers_filter: covers
                        && usable_conjuncts == conds.len()
                        && !matches!(lookup, Lookup::Full),
                    lookup,
                    rows: if unique_point { 1 } else { est as u64 },
                    informed,
                    conditions: usable_conjuncts,
                    possible: Vec::new(),
                    allowed: Vec::new(),
                    allowed_groups: Vec::new(),
                };
            }
        }
        best.possible = possible;
        if !hints.is_empty() {
            best.allowed = allowed;
            best.allowed_groups = allowed_indexes(table, hints, IndexHintScope::GroupBy)?;
        }
        if filter.is_none() {
            best.covers_filter = true;
        }
        Ok(best)
    }

    /// The part of an index in which the smallest and the largest value of a column stand at the ends, if `filter` says no
    /// more than that: all parts before the column have one value each. NULLs of the column are left out.
    pub fn ends_of(
        table: &Table,
        filter: Option<&Expr>,
        index: usize,
        column: usize,
    ) -> Option<Access> {
        let conds = filter
            .map(|f| {
                conjuncts(f)
                    .iter()
                    .map(|e| extract(e, table))
                    .collect::<Option<Vec<_>>>()
            })
            .unwrap_or_else(|| Some(Vec::new()))?;
        let mut used = Vec::new();
        let mut n = 0;
        for part in &table.indexes[index].parts {
            if part.prefix.is_some() {
                return None;
            }
            let mut here: Vec<ColCond> = conds
                .iter()
                .filter(|(c, _)| *c == part.column)
                .map(|(_, k)| k.clone())
                .collect();
            n += here.len();
            if part.column == column {
                if n < conds.len() {
                    return None;
                }
                if part.nullable {
                    here.push(ColCond::IsNotNull);
                }
                if !here.is_empty() {
                    used.push(ColCond::And(here));
                }
                return Some(Access {
                    index,
                    lookup: if used.is_empty() {
                        Lookup::Full
                    } else {
                        Lookup::Ranges(used)
                    },
                    covers_filter: true,
                    ..Access::full(1)
                });
            }
            if !here.iter().any(ColCond::is_single) {
                return None;
            }
            used.push(ColCond::And(here));
        }
        None
    }
}
