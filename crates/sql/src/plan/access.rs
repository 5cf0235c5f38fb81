//! How a table is read: which index, which ranges of it, in which order.

use crate::expr::node::{EvalCtx, Expr};
use crate::plan::fit::{Fit, fit};
use crate::plan::interval::{Exactness, part_set};
use crate::plan::sarg::{ColCond, const_value};
use narwal_engine::{KeyRange, Table};
use narwal_types::{SqlResult, Value, key};
use std::ops::Bound;

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
                Fit::Exact(v) | Fit::Stored(v) | Fit::Cut(v) => {
                    key::encode_value(v, ty, part, &mut out)?;
                }
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
