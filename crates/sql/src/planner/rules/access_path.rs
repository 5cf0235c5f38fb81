//! The access path of a table: which index, and which of the conditions it makes use of.

use crate::expr::node::{CmpOp, Expr};
use crate::plan::access::{Access, Lookup};
use crate::plan::sarg::{ColCond, conjuncts, extract};
use crate::planner::estimate::Estimates;
use narwal_engine::{Index, Table, TableStats};
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

/// What a table and its query say to each index.
struct Choice<'a> {
    table: &'a Arc<Table>,
    /// What each conjunct says of a column, if it does.
    conds: Vec<Option<(usize, ColCond)>>,
    filtered: bool,
    order: &'a WantedOrder,
    limit: Option<u64>,
    estimates: &'a Estimates<'a>,
    stats: Option<Arc<TableStats>>,
    /// Rows of the table, not fewer than a thousand: small tables grow.
    rows: f64,
}

/// What an index makes of the conditions.
struct IndexUse {
    /// The conditions on its first parts, one a part.
    used: Vec<ColCond>,
    /// How many conjuncts these are.
    conjuncts: usize,
    /// Columns that have one value.
    eq_columns: Vec<usize>,
    /// Rows that are read.
    rows: f64,
    /// One row at most is read.
    unique_point: bool,
    /// Whole values are compared, not the beginnings that the index has of them.
    covers: bool,
    /// What it looks up is not what is compared: the answer depends on it.
    differs: bool,
    /// It looks up one such value.
    otherwise: bool,
    /// The estimate comes from the data.
    informed: bool,
}

impl Choice<'_> {
    fn wants_order(&self) -> bool {
        !self.order.is_empty()
    }

    fn sort_cost(&self, n: f64) -> f64 {
        if self.wants_order() {
            n * 1.5 + 1.0
        } else {
            0.0
        }
    }

    /// How many of `n` rows are read, of which one in `1 / selective` matches.
    fn limited(&self, n: f64, ordered: bool, selective: f64) -> f64 {
        match self.limit {
            // Reading stops early: as many rows as it takes to find enough matches.
            Some(l) if ordered || !self.wants_order() => {
                n.min(l as f64 / selective.max(0.001) + 1.0)
            }
            _ => n,
        }
    }

    fn filter_selectivity(&self) -> f64 {
        if self.filtered { 0.1 } else { 1.0 }
    }

    /// Reading all of the table, and what it costs.
    fn full(&self, table_rows: u64) -> (Access, f64) {
        let mut access = Access::full(table_rows);
        if self.wants_order()
            && let Some(reverse) = order_of(self.table, &self.table.indexes[0], &[], self.order)
        {
            access.reverse = reverse;
            access.ordered = true;
        }
        let sort = match access.ordered {
            true => 0.0,
            false => self.sort_cost(self.rows),
        };
        let cost = self.limited(self.rows, access.ordered, self.filter_selectivity()) + sort;
        (access, cost)
    }

    /// The conditions on a column.
    fn on_column(&self, column: usize) -> impl Iterator<Item = &ColCond> {
        (self.conds.iter().flatten())
            .filter(move |(c, _)| *c == column)
            .map(|(_, k)| k)
    }

    /// Goes over the parts of an index as long as there are conditions on them that it can use.
    fn use_of(&self, i: usize, index: &Index) -> IndexUse {
        let mut of = IndexUse {
            used: Vec::new(),
            conjuncts: 0,
            eq_columns: Vec::new(),
            rows: self.rows,
            unique_point: index.unique,
            covers: true,
            differs: false,
            otherwise: false,
            informed: true,
        };
        // What the parts before the last one that is used select.
        let mut group = of.rows;
        // One row at most, however many there are: nothing to find out.
        let is_eq = |k: &ColCond| matches!(k, ColCond::Cmp(CmpOp::Eq, _));
        let one = index.unique && (index.parts.iter()).all(|p| self.on_column(p.column).any(is_eq));
        for part in &index.parts {
            let mut here: Vec<&ColCond> = self.on_column(part.column).collect();
            // The first characters of equal strings need not be equal where weights do not come character by character.
            let unfit =
                part.prefix.is_some() && self.table.columns()[part.column].ty.collation.expands();
            if here.is_empty() || unfit {
                of.unique_point = false;
                break;
            }
            of.conjuncts += here.len();
            of.covers &= part.prefix.is_none();
            let cond = if here.len() == 1 {
                here.remove(0).clone()
            } else {
                ColCond::And(here.into_iter().cloned().collect())
            };
            if cond.compares_otherwise(&self.table.columns()[part.column].ty) {
                of.differs = true;
                match is_eq(&cond) {
                    true => of.otherwise = true,
                    false => of.covers = false,
                }
            }
            let points = cond.is_points();
            let distinct = (points && !one)
                .then(|| self.distinct(i, of.used.len() + 1))
                .flatten();
            group = of.rows;
            of.informed &= one || distinct.is_some();
            of.rows = self.selected(of.rows, &cond, distinct, (i, of.used.len()));
            if cond.is_single() && part.prefix.is_none() {
                of.eq_columns.push(part.column);
            } else {
                of.unique_point = false;
            }
            of.unique_point &= is_eq(&cond);
            of.used.push(cond);
            if !points {
                of.unique_point = false;
                break;
            }
        }
        self.settle_rows(&mut of, i, index, group);
        of
    }

    /// Distinct values of an index's first parts.
    fn distinct(&self, i: usize, parts: usize) -> Option<u64> {
        self.estimates
            .distinct(self.table, i, parts, self.stats.as_deref())
    }

    /// How many of `rows` are left by a condition on the part behind so many others. `distinct`: the values of all of these
    /// parts, if known.
    fn selected(
        &self,
        rows: f64,
        cond: &ColCond,
        distinct: Option<u64>,
        (index, behind): (usize, usize),
    ) -> f64 {
        if !cond.is_points() {
            return match cond {
                ColCond::IsNotNull => rows * 0.9,
                ColCond::Between(..) | ColCond::And(_) | ColCond::LikePrefix(..) => rows / 30.0,
                ColCond::Or(v) => rows / 30.0 * v.len() as f64,
                _ => rows / 4.0,
            };
        }
        let each = match distinct {
            Some(distinct) => {
                let before = match behind {
                    0 => 1,
                    n => self.distinct(index, n).unwrap_or(1),
                };
                rows * before as f64 / distinct as f64
            }
            None => rows / 20.0,
        };
        each.max(1.0) * cond.count() as f64
    }

    /// What is known of all conditions together: so many keys of a unique index, the rows of a range as the index tells them.
    /// `group`: rows that the parts before the last one select.
    fn settle_rows(&self, of: &mut IndexUse, i: usize, index: &Index, group: f64) {
        let all_points =
            of.used.len() == index.parts.len() && of.used.iter().all(ColCond::is_points);
        if index.unique && all_points {
            let keys: u64 = of.used.iter().map(ColCond::count).product();
            of.rows = of.rows.min(keys as f64);
        }
        if of.used.last().is_some_and(|c| !c.is_points())
            && let Some(n) = self.estimates.range(self.table, i, &of.used, group)
        {
            of.rows = n;
            of.informed = of.used.len() == 1 || self.distinct(i, of.used.len() - 1).is_some();
        }
        of.rows = of.rows.clamp(1.0, self.rows);
    }

    /// All conditions are in the use of the index.
    fn covers_filter(&self, of: &IndexUse) -> bool {
        of.covers && of.conjuncts == self.conds.len() && !(of.otherwise && of.unique_point)
    }

    /// What a use costs.
    fn cost(&self, i: usize, of: &IndexUse, ordered: bool) -> f64 {
        if of.unique_point {
            return if i == 0 { 0.5 } else { 0.9 };
        }
        // Each row of a secondary index is fetched from the clustered one.
        let per_row = if i == 0 { 1.0 } else { 2.0 };
        let remaining = match self.covers_filter(of) {
            true => 1.0,
            false => self.filter_selectivity(),
        };
        let sort = if ordered {
            0.0
        } else {
            self.sort_cost(of.rows)
        };
        let cost = self.limited(of.rows, ordered, remaining) * per_row + sort;
        // MariaDB takes such a range, whatever LIMIT says, unless it is most of the table.
        if of.differs { cost / 20.0 } else { cost }
    }

    /// Reading by an index. `reverse`: backwards, if the index has the wanted order.
    fn access(&self, i: usize, of: IndexUse, reverse: Option<bool>) -> Access {
        let index = &self.table.indexes[i];
        let no_order = || order_of(self.table, index, &[], self.order).is_none();
        Access {
            index: i,
            reverse: reverse.unwrap_or(false),
            ordered: (reverse.is_some() && self.wants_order()) || of.unique_point,
            order_by_values: self.wants_order() && (of.unique_point || no_order()),
            covers_filter: self.covers_filter(&of) && !of.used.is_empty(),
            rows: if of.unique_point { 1 } else { of.rows as u64 },
            informed: of.informed,
            conditions: of.conjuncts,
            lookup: of.into_lookup(),
            possible: Vec::new(),
            allowed: Vec::new(),
            allowed_groups: Vec::new(),
        }
    }
}

impl IndexUse {
    fn into_lookup(self) -> Lookup {
        if self.unique_point {
            let value = |c: ColCond| match c {
                ColCond::Cmp(_, e) => Some(e),
                _ => None,
            };
            return Lookup::Point(self.used.into_iter().filter_map(value).collect());
        }
        match self.used.is_empty() {
            true => Lookup::Full,
            false => Lookup::Ranges(self.used),
        }
    }
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
        let allowed = allowed_indexes(table, hints, IndexHintScope::Join)?;
        let allowed_orders = allowed_indexes(table, hints, IndexHintScope::OrderBy)?;
        let forced = hints.iter().any(|h| {
            h.kind == IndexHintKind::Force && h.scope.is_none_or(|s| s == IndexHintScope::Join)
        });
        let choice = Choice {
            table,
            conds: filter
                .map(|f| conjuncts(f).iter().map(|e| extract(e, table)).collect())
                .unwrap_or_default(),
            filtered: filter.is_some(),
            order,
            limit,
            estimates,
            stats: table.stats(),
            rows: table_rows.max(1000) as f64,
        };
        let want_sorted = choice.wants_order();
        let (mut best, mut best_cost) = choice.full(table_rows);
        if forced {
            best_cost = f64::INFINITY;
        }
        let mut possible = Vec::new();
        for (i, index) in table.indexes.iter().enumerate() {
            if !allowed[i] || index.parts.is_empty() {
                continue;
            }
            let of = choice.use_of(i, index);
            if !of.used.is_empty() {
                possible.push(i);
            }
            let reverse = order_of(table, index, &of.eq_columns, order)
                .filter(|_| allowed_orders[i] || !want_sorted);
            let ordered = reverse.is_some() && want_sorted;
            // Reading all of an index serves an order, or obeys FORCE INDEX. All of the clustered one is `full`.
            if of.used.is_empty() && (i == 0 || !(ordered || forced)) {
                continue;
            }
            let cost = choice.cost(i, &of, ordered);
            if cost < best_cost {
                best_cost = cost;
                best = choice.access(i, of, reverse);
            }
        }
        best.possible = possible;
        if !hints.is_empty() {
            best.allowed = allowed;
            best.allowed_groups = allowed_indexes(table, hints, IndexHintScope::GroupBy)?;
        }
        best.covers_filter |= filter.is_none();
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
