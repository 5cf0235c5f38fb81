//! How a table is read: which index, which ranges of it, in which order.

use super::estimate::Estimates;
use super::interval::{Exactness, Fit, fit, part_set};
use super::sarg::{ColCond, conjuncts, const_value, extract};
use crate::expr::node::{CmpOp, EvalCtx, Expr};
use narwal_engine::{Index, KeyRange, Table};
use narwal_syntax::ast::{IndexHint, IndexHintKind, IndexHintScope};
use narwal_types::{SqlError, SqlResult, Value, key};
use std::ops::Bound;
use std::sync::Arc;

/// At most so many ranges are looked up one by one.
const MAX_RANGES: usize = 20_000;

/// How rows are found.
#[derive(Debug, Clone)]
pub enum Lookup {
    /// The whole index.
    Full,
    /// At most one row: all parts of a unique index equal constants.
    Point(Vec<Expr>),
    /// Conditions on the first parts of the index; all but the last select points.
    Ranges(Vec<ColCond>),
}

/// The chosen access path of a table.
#[derive(Debug, Clone)]
pub struct Access {
    /// Position in [`Table::indexes`].
    pub index: usize,
    /// How.
    pub lookup: Lookup,
    /// Backwards.
    pub reverse: bool,
    /// Rows come in the order that was asked for.
    pub ordered: bool,
    /// `ordered` only holds if the conditions on some columns select one value each, which depends on the constants.
    pub order_by_values: bool,
    /// The lookup says all that WHERE says (if the values of an execution are exact): no need to check it again.
    pub covers_filter: bool,
    /// Estimated rows.
    pub rows: u64,
    /// These are more than a guess from the conditions' form.
    pub informed: bool,
    /// How many of the filter's conditions the lookup makes use of.
    pub conditions: usize,
    /// Indexes that could have been used, for EXPLAIN.
    pub possible: Vec<usize>,
    /// With index hints: which indexes they allow to read by.
    pub allowed: Vec<bool>,
    /// The same for GROUP BY.
    pub allowed_groups: Vec<bool>,
}

/// Ranges of one execution, in index order.
#[derive(Debug)]
pub struct Ranges {
    /// The ranges: disjoint, ascending.
    pub ranges: Vec<KeyRange>,
    /// They hold exactly the rows that the conditions select.
    pub exact: bool,
    /// Each range is one full key of the index.
    pub points: bool,
    /// All conditions were used, none was of no use with these values.
    pub looked_up: bool,
}

/// A point lookup's key for one execution.
#[derive(Debug)]
pub enum PointKey {
    /// Look this key up.
    Key(Vec<u8>),
    /// No row can match.
    Nothing,
    /// The values can't be looked up: read everything.
    Scan,
}

/// An order that would save sorting: columns with DESC.
pub type WantedOrder = [(usize, bool)];

impl Access {
    /// The access that reads all rows in clustered order.
    pub fn full(rows: u64) -> Access {
        Access {
            index: 0,
            lookup: Lookup::Full,
            reverse: false,
            ordered: false,
            order_by_values: false,
            covers_filter: false,
            rows,
            informed: true,
            conditions: 0,
            possible: Vec::new(),
            allowed: Vec::new(),
            allowed_groups: Vec::new(),
        }
    }

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

    /// True if rows come in the wanted order in this execution.
    pub fn order_holds(&self, table: &Table, ctx: &EvalCtx<'_>) -> SqlResult<bool> {
        if !self.ordered || !self.order_by_values {
            return Ok(self.ordered);
        }
        Ok(self.ranges(table, ctx)?.looked_up)
    }

    /// The key of a point lookup.
    pub fn point_key(
        table: &Table,
        index: usize,
        values: &[Expr],
        ctx: &EvalCtx<'_>,
    ) -> SqlResult<PointKey> {
        let parts = &table.indexes[index].parts;
        let types = table.layout.columns();
        let mut out = Vec::with_capacity(16);
        for (e, part) in values.iter().zip(parts) {
            let mut tmp = Value::Null;
            let v = const_value(e, ctx, &mut tmp)?;
            let ty = &types[part.column];
            match fit(v, ty, ctx.env.time_zone) {
                Fit::Exact(v) => key::encode_value(v, ty, part, &mut out)?,
                Fit::Unusable => return Ok(PointKey::Scan),
                _ => return Ok(PointKey::Nothing),
            }
        }
        Ok(PointKey::Key(out))
    }

    /// The ranges to read in this execution.
    pub fn ranges(&self, table: &Table, ctx: &EvalCtx<'_>) -> SqlResult<Ranges> {
        let index = &table.indexes[self.index];
        let conds = match &self.lookup {
            Lookup::Full => {
                return Ok(Ranges {
                    ranges: vec![KeyRange::all()],
                    exact: true,
                    points: false,
                    looked_up: true,
                });
            }
            Lookup::Point(values) => {
                return Ok(match Self::point_key(table, self.index, values, ctx)? {
                    PointKey::Key(k) => Ranges {
                        ranges: vec![range(k.clone(), key::successor(&k))],
                        exact: true,
                        points: true,
                        looked_up: true,
                    },
                    PointKey::Nothing => Ranges {
                        ranges: Vec::new(),
                        exact: true,
                        points: true,
                        looked_up: true,
                    },
                    PointKey::Scan => Ranges {
                        ranges: vec![KeyRange::all()],
                        exact: false,
                        points: false,
                        looked_up: false,
                    },
                });
            }
            Lookup::Ranges(c) => c,
        };
        let mut exact = true;
        let mut full_points = 0;
        let mut looked_up = true;
        // Keys so far: (start, end).
        let mut prefixes: Vec<(Vec<u8>, Option<Vec<u8>>)> = vec![(Vec::new(), None)];
        for (cond, part) in conds.iter().zip(&index.parts) {
            let set = part_set(cond, &table.layout.columns()[part.column], part, ctx)?;
            if set.exactness != Exactness::Exact {
                exact = false;
            }
            if set.exactness == Exactness::Unusable
                || prefixes.len().saturating_mul(set.intervals.len()) > MAX_RANGES
            {
                exact = false;
                looked_up = false;
                break;
            }
            let mut next = Vec::with_capacity(prefixes.len() * set.intervals.len());
            for (prefix, prefix_end) in &prefixes {
                for i in &set.intervals {
                    let mut start = prefix.clone();
                    start.extend_from_slice(&i.start);
                    let end = match &i.end {
                        Some(e) => {
                            let mut end = prefix.clone();
                            end.extend_from_slice(e);
                            Some(end)
                        }
                        None => prefix_end.clone(),
                    };
                    next.push((start, end));
                }
            }
            prefixes = next;
            full_points += usize::from(set.points && part.prefix.is_none());
            if !set.points {
                // What the parts behind it say is checked row by row.
                exact &= !cond.is_points();
                looked_up &= !cond.is_points();
                break;
            }
        }
        Ok(Ranges {
            ranges: prefixes.into_iter().map(|(s, e)| range(s, e)).collect(),
            exact,
            points: full_points == index.parts.len(),
            looked_up,
        })
    }
}

fn range(start: Vec<u8>, end: Option<Vec<u8>>) -> KeyRange {
    KeyRange {
        start: if start.is_empty() {
            Bound::Unbounded
        } else {
            Bound::Included(start)
        },
        end: end.map_or(Bound::Unbounded, Bound::Excluded),
    }
}

/// Which indexes the hints allow for something.
fn allowed_indexes(
    table: &Table,
    hints: &[IndexHint],
    scope: IndexHintScope,
) -> SqlResult<Vec<bool>> {
    let mut allowed = vec![true; table.indexes.len()];
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
                .position(|x| !x.name.is_empty() && x.name.eq_ignore_ascii_case(name))
                .ok_or_else(|| {
                    SqlError::new(
                        1176,
                        b"42000",
                        format!("Key '{name}' doesn't exist in table '{}'", table.def.name),
                    )
                })?;
            if concerns(h) {
                allowed[i] = h.kind != IndexHintKind::Ignore;
            }
        }
    }
    Ok(allowed)
}

/// If reading `index` gives the wanted order: whether to read it backwards. `fixed`: columns that have one value.
fn order_of(table: &Table, index: &Index, fixed: &[usize], order: &WantedOrder) -> Option<bool> {
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
