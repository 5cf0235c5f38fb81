//! How many rows conditions on an index select: from what ANALYZE TABLE found, from samples of the index, and for ranges
//! from a look at the range itself. Looks are short (some hundred keys), and made when a statement is planned only.

use crate::env::StatementEnv;
use crate::expr::node::{EvalCtx, Expr, ExprKind};
use crate::plan::access::{Access, Lookup};
use crate::plan::index_rows::GroupPrefix;
use crate::plan::sarg::ColCond;
use narwal_engine::{Database, KeyRange, ScanItem, Table, TableStats};
use narwal_types::key::successor;
use narwal_types::{SqlResult, Value};
use std::cell::{Cell, RefCell};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Tables with fewer rows are not looked into: they may be anything by the time the plan runs.
const SMALL: u64 = 1000;
/// A range's keys are counted so far at either end.
const COUNTED: usize = 256;
/// So many ranges of one condition are looked at.
const RANGES: usize = 4;
/// A range of values that change from one use of a plan to the next has so many rows at least.
const CHANGING: f64 = 10.0;
/// A sample of an index passes so many different values of a part, one by one.
const HOPS: usize = 24;
/// In so many groups of the parts before.
const GROUPS: usize = 4;
/// And counts so many keys of a value.
const SHARING: usize = 100;

/// What plans are estimated from; keeps what they depend on.
pub struct Estimates<'a> {
    db: &'a Database,
    env: &'a StatementEnv,
    basis: RefCell<Basis>,
    by_values: Cell<bool>,
    wants_values: Cell<bool>,
    /// What ranges of an index were found to have: a join's order is tried in many ways.
    looked: RefCell<Vec<Looked>>,
}

/// An index's id, ranges of it, and about how many entries they have.
type Looked = (u32, Vec<KeyRange>, f64);

/// What a plan was estimated from.
#[derive(Debug, Default)]
pub struct Basis {
    tables: Vec<(Arc<Table>, u64)>,
    /// Values that change from one use to the next were looked up.
    by_values: bool,
    uses: AtomicU32,
    /// It could have been estimated better if values of parameters had been known.
    pub wants_values: bool,
}

/// A plan that was made by the values of one use is made by those of another one after so many uses.
const USES: u32 = 256;

impl Basis {
    /// Notes a use of the plan. True if it had better be made anew: a table is half or twice as large as it was, or it has
    /// served long enough for the values that it was made by.
    pub fn is_worn(&self, db: &Database) -> bool {
        (self.by_values && self.uses.fetch_add(1, Ordering::Relaxed) >= USES)
            || (self.tables.iter()).any(|(t, then)| outgrown(*then, db.table_rows(t)))
    }
}

/// Numbers of rows that are not of one size.
fn outgrown(then: u64, now: u64) -> bool {
    let (a, b) = (then.max(SMALL), now.max(SMALL));
    a >= b.saturating_mul(2) || b >= a.saturating_mul(2)
}

/// Whether a value is known when a statement is planned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Known {
    /// It is part of the plan.
    Fixed,
    /// That of this use.
    Changing,
    /// It will be when the statement runs.
    Later,
    Never,
}

/// `values`: how many parameters or slots have one.
fn known(c: &ColCond, values: usize) -> Known {
    let value = |e: &Expr| match &e.kind {
        ExprKind::Literal(_) => Known::Fixed,
        ExprKind::Param(n) | ExprKind::Slot(n) if *n < values => Known::Changing,
        ExprKind::Param(_) if values == 0 => Known::Later,
        _ => Known::Never,
    };
    let worst = |v: Option<Known>| v.unwrap_or(Known::Fixed);
    match c {
        ColCond::Cmp(_, e) | ColCond::LikePrefix(e, _) => value(e),
        ColCond::Between(a, b) => value(a).max(value(b)),
        ColCond::In(v) => worst(v.iter().map(value).max()),
        ColCond::Or(v) | ColCond::And(v) => worst(v.iter().map(|c| known(c, values)).max()),
        ColCond::InSubquery(_) => Known::Never,
        ColCond::IsNull | ColCond::IsNotNull => Known::Fixed,
    }
}

impl<'a> Estimates<'a> {
    /// For one statement.
    pub fn new(db: &'a Database, env: &'a StatementEnv) -> Self {
        Estimates {
            db,
            env,
            basis: RefCell::default(),
            by_values: Cell::new(false),
            wants_values: Cell::new(false),
            looked: RefCell::default(),
        }
    }

    /// What was used.
    pub fn basis(self) -> Basis {
        Basis {
            by_values: self.by_values.get(),
            wants_values: self.wants_values.get(),
            ..self.basis.into_inner()
        }
    }

    /// About how many rows a table has.
    pub fn rows(&self, table: &Arc<Table>) -> u64 {
        let rows = self.db.table_rows(table);
        let tables = &mut self.basis.borrow_mut().tables;
        if !table.temporary && !tables.iter().any(|(t, _)| Arc::ptr_eq(t, table)) {
            tables.push((table.clone(), rows));
        }
        rows
    }

    /// About how many different values the first `parts` parts of an index have, if that is known or can be found out.
    pub fn distinct(
        &self,
        table: &Arc<Table>,
        index: usize,
        parts: usize,
        stats: Option<&TableStats>,
    ) -> Option<u64> {
        let rows = self.db.table_rows(table);
        let id = table.indexes[index].id;
        let analyzed = stats.and_then(|s| s.distinct(id, parts));
        let stale = stats.is_some_and(|s| outgrown(s.rows, rows));
        if rows < SMALL || table.temporary || (analyzed.is_some() && !stale) {
            return analyzed;
        }
        let counts = match table.sampled(id) {
            Some((then, counts)) if !outgrown(then, rows) => counts,
            _ => {
                let sample = Sample {
                    db: self.db,
                    table,
                    index,
                };
                // The statement meets the damage again when it reads the table.
                let counts: Arc<[u64]> = sample.distinct(rows).unwrap_or_default().into();
                table.set_sampled(id, rows, counts.clone());
                counts
            }
        };
        match counts.get(parts - 1) {
            None | Some(0) => analyzed,
            n => n.copied(),
        }
    }

    /// About how many entries of an index conditions on its first parts select, of which the last selects a range, if
    /// their values are known. `group`: how many those before the last select.
    pub fn range(
        &self,
        table: &Arc<Table>,
        index: usize,
        conds: &[ColCond],
        group: f64,
    ) -> Option<f64> {
        if table.temporary || self.db.table_rows(table) < SMALL {
            return None;
        }
        let slots = self.env.slots.borrow();
        let peeked = self.env.peeked.borrow();
        let values: &[Value] = if slots.is_empty() { &peeked } else { &slots };
        let known = conds.iter().map(|c| known(c, values.len())).max()?;
        match known {
            Known::Fixed => {}
            Known::Changing => self.by_values.set(true),
            Known::Later => {
                self.wants_values.set(true);
                return None;
            }
            Known::Never => return None,
        }
        let ctx = EvalCtx::new(self.env, values);
        let ranges_of = |conds: &[ColCond]| {
            let access = Access {
                index,
                lookup: Lookup::Ranges(conds.to_vec()),
                ..Access::full(0)
            };
            let r = access.ranges(table, &ctx).ok()?;
            r.looked_up.then_some(r.ranges)
        };
        let look = Look {
            db: self.db,
            table,
            index,
        };
        let at_least = |found: f64| match known {
            Known::Changing => found.max(CHANGING),
            _ => found,
        };
        let ranges = ranges_of(conds)?;
        let id = table.indexes[index].id;
        let same = |l: &&Looked| {
            let equal = |(a, b): (&KeyRange, &KeyRange)| a.start == b.start && a.end == b.end;
            l.0 == id && l.1.len() == ranges.len() && l.1.iter().zip(&ranges).all(equal)
        };
        if let Some((.., found)) = self.looked.borrow().iter().find(same) {
            return Some(at_least(*found));
        }
        let around = match conds.len() {
            1 => Some(KeyRange::all()),
            n => ranges_of(&conds[..n - 1]).and_then(|mut r| (r.len() == 1).then(|| r.remove(0))),
        };
        let mut found = 0.0;
        for r in ranges.iter().take(RANGES) {
            let each = group / ranges.len() as f64;
            found += look.rows(r, around.as_ref(), each).ok()?;
        }
        if ranges.len() > RANGES {
            found *= ranges.len() as f64 / RANGES as f64;
        }
        self.looked.borrow_mut().push((id, ranges, found));
        Some(at_least(found))
    }
}

/// Looks into an index.
struct Look<'a> {
    db: &'a Database,
    table: &'a Arc<Table>,
    index: usize,
}

/// Keys at the end of a range.
struct Tip {
    keys: usize,
    /// There are no more.
    all: bool,
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Look<'_> {
    fn each(
        &self,
        range: KeyRange,
        reverse: bool,
        f: &mut dyn FnMut(&ScanItem<'_>) -> bool,
    ) -> SqlResult<bool> {
        Ok(self.db.glance(self.table, self.index, range, reverse, f)?)
    }

    /// Counts keys of a range from one of its ends, up to a limit.
    fn tip(&self, range: &KeyRange, reverse: bool, limit: usize) -> SqlResult<Tip> {
        let mut t = Tip {
            keys: 0,
            all: false,
            first: Vec::new(),
            last: Vec::new(),
        };
        let mut full = false;
        let ended = self.each(range.clone(), reverse, &mut |item| {
            if t.keys == 0 {
                t.first.extend_from_slice(item.key);
            }
            if t.keys == limit {
                full = true;
                return false;
            }
            t.keys += 1;
            t.last.clear();
            t.last.extend_from_slice(item.key);
            true
        })?;
        t.all = ended && !full;
        Ok(t)
    }

    /// About how many keys a range has. `around`: one that it lies in, which has about `group` keys.
    fn rows(&self, range: &KeyRange, around: Option<&KeyRange>, group: f64) -> SqlResult<f64> {
        let low = self.tip(range, false, COUNTED)?;
        if low.all {
            return Ok(low.keys as f64);
        }
        let high = self.tip(range, true, COUNTED)?;
        let Some(around) = around else {
            return Ok((group / 4.0).max(COUNTED as f64));
        };
        let (first, last) = (self.tip(around, false, 1)?, self.tip(around, true, 1)?);
        let same = first
            .first
            .iter()
            .zip(&last.first)
            .take_while(|(a, b)| a == b)
            .count();
        let at = |key: &[u8]| {
            let mut b = [0; 8];
            let rest = &key[same.min(key.len())..];
            let n = rest.len().min(8);
            b[..n].copy_from_slice(&rest[..n]);
            u64::from_be_bytes(b) as f64
        };
        let bound = |b: &Bound<Vec<u8>>, end: &[u8]| match b {
            Bound::Included(k) | Bound::Excluded(k) => at(k),
            Bound::Unbounded => at(end),
        };
        let from = at(&first.first);
        let to = at(&last.first).max(from);
        let (start, end) = (
            bound(&range.start, &first.first).clamp(from, to),
            bound(&range.end, &last.first).clamp(from, to),
        );
        let width = (end - start).max(0.0);
        // As if keys were spread evenly over the group ...
        let even = group * if to > from { width / (to - from) } else { 1.0 };
        // ... and as dense everywhere as they are at the ends.
        let ends = (at(&low.last) - at(&low.first)) + (at(&high.first) - at(&high.last));
        let dense = match ends > 0.0 {
            true => (low.keys + high.keys) as f64 * width / ends,
            false => group,
        };
        Ok(even
            .max(dense)
            .min(group)
            .max((low.keys.max(high.keys)) as f64))
    }
}

/// Finds out about how many different values the first parts of an index have.
struct Sample<'a> {
    db: &'a Database,
    table: &'a Arc<Table>,
    index: usize,
}

impl Sample<'_> {
    fn look(&self) -> Look<'_> {
        Look {
            db: self.db,
            table: self.table,
            index: self.index,
        }
    }

    /// For the first part, the first two, and so on; 0 where it can't be told. `rows`: the table's.
    fn distinct(&self, rows: u64) -> SqlResult<Vec<u64>> {
        let index = &self.table.indexes[self.index];
        let total = rows as f64;
        let mut out = Vec::with_capacity(index.parts.len());
        let mut groups: Vec<Vec<u8>> = vec![Vec::new()];
        let mut before = 1.0;
        for n in 1..=index.parts.len() {
            if n == index.parts.len() && index.unique && index.parts.iter().all(|p| !p.nullable) {
                out.push(rows);
                break;
            }
            let Some(prefix) = GroupPrefix::of(self.table, self.index, n) else {
                break;
            };
            let mut values = Vec::new();
            let mut passed = 0;
            let mut all = true;
            for g in &groups {
                let (found, ended) = self.values(g, &prefix)?;
                all &= ended;
                passed += found.len();
                values.extend(spread(found, GROUPS));
            }
            let each = passed as f64 / groups.len().max(1) as f64;
            let mut count = before * each.max(1.0);
            if !all {
                for g in &groups {
                    self.between(g, &prefix, &mut values)?;
                }
                let (mut keys, mut small, mut large) = (0, 0, 0);
                for v in &values {
                    let t = self.look().tip(&prefixed(v), false, SHARING)?;
                    if t.all {
                        small += 1;
                        keys += t.keys;
                    } else {
                        large += 1;
                    }
                    if large > 3 && large > small {
                        break;
                    }
                }
                let most = total / SHARING as f64;
                count = if large < small {
                    count.max(total * f64::from(small) / keys.max(1) as f64)
                } else {
                    // Each has many: between as many values as were passed, and as few keys as were counted.
                    (count * most.max(count)).sqrt()
                };
            }
            count = count.clamp(before, total.max(before));
            out.push(count as u64);
            before = count;
            groups = spread(values, GROUPS);
        }
        Ok(out)
    }

    /// The first values of a group, and whether these are all.
    fn values(&self, group: &[u8], prefix: &GroupPrefix) -> SqlResult<(Vec<Vec<u8>>, bool)> {
        let mut range = prefixed(group);
        let mut out: Vec<Vec<u8>> = Vec::new();
        while out.len() < HOPS {
            let mut value = None;
            let ended = self.look().each(range.clone(), false, &mut |item| {
                value = prefix
                    .cut(self.index, item.key, item.pk)
                    .ok()
                    .map(<[u8]>::to_vec);
                false
            })?;
            let Some(v) = value else {
                return Ok((out, ended));
            };
            let next = successor(&v);
            out.push(v);
            match next {
                Some(k) => range.start = Bound::Included(k),
                None => return Ok((out, true)),
            }
        }
        Ok((out, false))
    }

    /// Values of a group behind its first ones.
    fn between(&self, group: &[u8], prefix: &GroupPrefix, out: &mut Vec<Vec<u8>>) -> SqlResult<()> {
        let look = self.look();
        let whole = prefixed(group);
        let (first, last) = (look.tip(&whole, false, 1)?, look.tip(&whole, true, 1)?);
        let (first, last) = (first.first, last.first);
        let same = first.iter().zip(&last).take_while(|(a, b)| a == b).count();
        let number = |k: &[u8]| {
            let mut b = [0; 8];
            let rest = &k[same..];
            let n = rest.len().min(8);
            b[..n].copy_from_slice(&rest[..n]);
            u64::from_be_bytes(b)
        };
        let (from, to) = (number(&first), number(&last));
        for part in 1..=4u64 {
            let mut start = last[..same].to_vec();
            start.extend_from_slice(&(from + (to.saturating_sub(from) / 4) * part).to_be_bytes());
            let range = KeyRange {
                start: Bound::Included(start),
                end: whole.end.clone(),
            };
            look.each(range, part == 4, &mut |item| {
                if let Ok(v) = prefix.cut(self.index, item.key, item.pk)
                    && !out.iter().any(|o| o == v)
                {
                    out.push(v.to_vec());
                }
                false
            })?;
        }
        Ok(())
    }
}

fn prefixed(prefix: &[u8]) -> KeyRange {
    match prefix {
        [] => KeyRange::all(),
        p => KeyRange::prefix(p.to_vec()),
    }
}

/// At most `n` of a list, evenly taken.
fn spread(mut v: Vec<Vec<u8>>, n: usize) -> Vec<Vec<u8>> {
    if v.len() <= n {
        return v;
    }
    let last = v.len() - 1;
    (0..n)
        .map(|i| std::mem::take(&mut v[i * last / (n - 1)]))
        .collect()
}
