//! Sets of key ranges on one index part, computed from conditions when a statement runs.

use super::sarg::{ColCond, const_value};
use crate::expr::node::{CmpOp, EvalCtx, Expr};
use crate::like::literal_prefix;
use crate::plan::fit::{Fit, fit};
use narwal_types::key::{self, KeyPart};
use narwal_types::{ColumnType, Decimal, SqlResult, TypeKind, Value, ValueRef};

/// Encoded keys of one part from `start` (included) to `end` (excluded; `None` = to the end).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interval {
    /// First key.
    pub start: Vec<u8>,
    /// Key behind the last.
    pub end: Option<Vec<u8>>,
}

impl Interval {
    fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|e| *e <= self.start)
    }
}

/// How well a set of intervals describes the condition that it was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exactness {
    /// Exactly the rows that satisfy it.
    Exact,
    /// All of them, perhaps more.
    Superset,
    /// The condition can't be looked up with this value: all rows.
    Unusable,
}

/// Sorted, disjoint intervals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartSet {
    /// The intervals.
    pub intervals: Vec<Interval>,
    /// Quality.
    pub exactness: Exactness,
    /// Each interval is one value: keys of further parts may follow it.
    pub points: bool,
}

struct Builder<'a> {
    ty: &'a ColumnType,
    part: &'a KeyPart,
    ctx: &'a EvalCtx<'a>,
}

impl Builder<'_> {
    fn enc(&self, v: ValueRef<'_>) -> SqlResult<Vec<u8>> {
        let mut b = Vec::with_capacity(16);
        key::encode_value(v, self.ty, self.part, &mut b)?;
        Ok(b)
    }

    /// All keys of values that are not NULL.
    fn not_null(&self) -> Interval {
        let (start, end) = match (self.part.nullable, self.part.desc) {
            (false, _) => (Vec::new(), None),
            (true, false) => (vec![1], Some(vec![2])),
            (true, true) => (vec![0xfe], Some(vec![0xff])),
        };
        Interval { start, end }
    }

    fn null(&self) -> Vec<Interval> {
        match (self.part.nullable, self.part.desc) {
            (false, _) => Vec::new(),
            (true, false) => vec![Interval {
                start: vec![0],
                end: Some(vec![1]),
            }],
            (true, true) => vec![Interval {
                start: vec![0xff],
                end: None,
            }],
        }
    }

    fn all(&self) -> Interval {
        Interval {
            start: Vec::new(),
            end: None,
        }
    }

    fn set(&self, intervals: Vec<Interval>) -> PartSet {
        PartSet {
            intervals,
            points: false,
            exactness: if self.part.prefix.is_some() {
                Exactness::Superset
            } else {
                Exactness::Exact
            },
        }
    }

    fn points(&self, intervals: Vec<Interval>) -> PartSet {
        PartSet {
            points: true,
            ..self.set(intervals)
        }
    }

    fn empty(&self) -> PartSet {
        PartSet {
            intervals: Vec::new(),
            points: true,
            exactness: Exactness::Exact,
        }
    }

    fn unusable(&self) -> PartSet {
        PartSet {
            intervals: vec![self.all()],
            points: false,
            exactness: Exactness::Unusable,
        }
    }

    fn point(&self, v: ValueRef<'_>) -> SqlResult<Interval> {
        let start = self.enc(v)?;
        let end = key::successor(&start);
        Ok(Interval { start, end })
    }

    fn fit<'v>(&self, v: ValueRef<'v>) -> Fit<'v> {
        fit(v, self.ty, self.ctx.env.time_zone)
    }

    /// Values of at least (`above`) or at most `v`; not `v` itself if it is not `inclusive`.
    fn half(&self, v: ValueRef<'_>, above: bool, inclusive: bool) -> SqlResult<Interval> {
        let inclusive = inclusive || self.part.prefix.is_some();
        let mut iv = self.not_null();
        let k = self.enc(v)?;
        if above != self.part.desc {
            if inclusive {
                iv.start = k;
            } else {
                match key::successor(&k) {
                    Some(s) => iv.start = s,
                    // Nothing above: an empty interval.
                    None => iv.end = Some(iv.start.clone()),
                }
            }
        } else {
            iv.end = if inclusive {
                key::successor(&k)
            } else {
                Some(k)
            };
        }
        Ok(iv)
    }

    fn bound(&self, v: ValueRef<'_>, above: bool, inclusive: bool) -> SqlResult<PartSet> {
        Ok(match self.fit(v) {
            Fit::Null => self.empty(),
            Fit::Unusable | Fit::Cut(_) => self.unusable(),
            Fit::Exact(v) => self.set(vec![self.half(v, above, inclusive)?]),
            // Whether the value itself is meant is seen when it is compared.
            Fit::Stored(v) => compared(self.set(vec![self.half(v, above, true)?])),
            Fit::Below if above => self.set(vec![self.not_null()]),
            Fit::Above if !above => self.set(vec![self.not_null()]),
            Fit::Below | Fit::Above => self.empty(),
            Fit::Between(lo, hi) => {
                self.set(vec![self.half(if above { hi } else { lo }, above, true)?])
            }
        })
    }

    fn build(&self, c: &ColCond) -> SqlResult<PartSet> {
        let mut tmp = Value::Null;
        Ok(match c {
            ColCond::Cmp(op, e) => {
                let v = const_value(e, self.ctx, &mut tmp)?;
                match op {
                    CmpOp::Eq | CmpOp::NullSafeEq => match self.fit(v) {
                        Fit::Exact(v) => self.points(vec![self.point(v)?]),
                        Fit::Stored(v) | Fit::Cut(v) => compared(self.points(vec![self.point(v)?])),
                        Fit::Null if *op == CmpOp::NullSafeEq => self.points(self.null()),
                        Fit::Unusable => self.unusable(),
                        _ => self.empty(),
                    },
                    CmpOp::Gt => self.bound(v, true, false)?,
                    CmpOp::Ge => self.bound(v, true, true)?,
                    CmpOp::Lt => self.bound(v, false, false)?,
                    CmpOp::Le => self.bound(v, false, true)?,
                    CmpOp::Ne => self.unusable(),
                }
            }
            ColCond::Between(lo, hi) => {
                let v = const_value(lo, self.ctx, &mut tmp)?;
                let a = self.bound(v, true, true)?;
                let v = const_value(hi, self.ctx, &mut tmp)?;
                let b = self.bound(v, false, true)?;
                // Where the end of a BIT column's range is no value of it, the other end is enough to look up by.
                let lost = |s: &PartSet| {
                    s.exactness == Exactness::Unusable && matches!(self.ty.kind, TypeKind::Bit(_))
                };
                match (lost(&a), lost(&b)) {
                    (true, false) => compared(b),
                    (false, true) => compared(a),
                    _ => intersect(a, b),
                }
            }
            ColCond::In(list) => self.listed(list)?,
            ColCond::InSubquery(n) => self.of_subquery(*n)?,
            ColCond::IsNull => self.points(self.null()),
            ColCond::IsNotNull => self.set(vec![self.not_null()]),
            ColCond::LikePrefix(e, escape) => {
                let v = const_value(e, self.ctx, &mut tmp)?;
                self.like_prefix(v, *escape)?
            }
            ColCond::Or(list) => self.any_of(list)?,
            ColCond::And(list) => self.all_of(list)?,
        })
    }

    /// The values of a list. Those that the column can't have are left out.
    fn listed(&self, list: &[Expr]) -> SqlResult<PartSet> {
        let mut out = self.points(Vec::with_capacity(list.len()));
        for e in list {
            let mut tmp = Value::Null;
            if !self.add_point(const_value(e, self.ctx, &mut tmp)?, &mut out)? {
                return Ok(self.unusable());
            }
        }
        normalize(&mut out.intervals);
        Ok(out)
    }

    /// The values of a subquery that has run. So many that they are in a file are not looked up one by one.
    fn of_subquery(&self, n: usize) -> SqlResult<PartSet> {
        let Some(values) = self.ctx.subqueries.known_values(n) else {
            return Ok(self.unusable());
        };
        let mut out = self.points(Vec::with_capacity(values.len()));
        for v in values.iter().filter(|v| !v.is_null()) {
            if !self.add_point(v.as_ref(), &mut out)? {
                return Ok(self.unusable());
            }
        }
        normalize(&mut out.intervals);
        Ok(out)
    }

    /// Adds one value to a list of them; false if it can't be looked up.
    fn add_point(&self, v: ValueRef<'_>, out: &mut PartSet) -> SqlResult<bool> {
        match self.fit(v) {
            Fit::Exact(v) => out.intervals.push(self.point(v)?),
            Fit::Stored(v) => {
                out.intervals.push(self.point(v)?);
                out.exactness = Exactness::Superset;
            }
            Fit::Unusable | Fit::Cut(_) => return Ok(false),
            _ => {}
        }
        Ok(true)
    }

    fn like_prefix(&self, pattern: ValueRef<'_>, escape: Option<char>) -> SqlResult<PartSet> {
        let (ValueRef::Str(p) | ValueRef::Bytes(p)) = pattern else {
            return Ok(match pattern.is_null() {
                true => self.empty(),
                false => self.unusable(),
            });
        };
        Ok(match self.like(p, escape)? {
            Some(iv) => PartSet {
                intervals: vec![iv],
                points: false,
                exactness: Exactness::Superset,
            },
            None => self.unusable(),
        })
    }

    fn any_of(&self, list: &[ColCond]) -> SqlResult<PartSet> {
        let mut out = self.empty();
        for c in list {
            let s = self.build(c)?;
            out.exactness = out.exactness.max(s.exactness);
            out.points &= s.points;
            out.intervals.extend(s.intervals);
        }
        normalize(&mut out.intervals);
        Ok(out)
    }

    fn all_of(&self, list: &[ColCond]) -> SqlResult<PartSet> {
        let mut out = PartSet {
            intervals: vec![self.all()],
            points: false,
            exactness: Exactness::Exact,
        };
        let mut usable = false;
        let mut exactness = Exactness::Exact;
        for c in list {
            let s = self.build(c)?;
            usable |= s.exactness != Exactness::Unusable;
            exactness = exactness.max(s.exactness);
            out = intersect(out, s);
        }
        // One usable condition is enough to look up by; what the others say is checked row by row.
        out.exactness = match usable {
            true => exactness.min(Exactness::Superset),
            false => Exactness::Unusable,
        };
        Ok(out)
    }

    /// The interval of strings that start with a LIKE pattern's literal prefix.
    fn like(&self, pattern: &[u8], escape: Option<char>) -> SqlResult<Option<Interval>> {
        let mut prefix = literal_prefix(pattern, escape, self.ty.collation);
        // Trailing spaces are no part of a key.
        while prefix.last() == Some(&b' ') {
            prefix.pop();
        }
        // Where characters have several weights or levels, strings that begin alike need not have keys that do.
        if prefix.is_empty()
            || std::str::from_utf8(&prefix).is_err()
            || self.part.desc
            || self.ty.collation.expands()
        {
            return Ok(None);
        }
        // Lowest string with that prefix is the prefix followed by control characters (PAD SPACE sorts them before
        // the prefix alone), so go down to the prefix without its terminator; the highest is bounded by the successor.
        if let Some(n) = self.part.prefix {
            let cut = narwal_types::collation::char_prefix(&prefix, n as usize).len();
            prefix.truncate(cut);
        }
        let Some(stem) = key_stem(&prefix, self.ty, self.part)? else {
            return Ok(None);
        };
        let end = key::successor(&stem);
        Ok(Some(Interval { start: stem, end }))
    }
}

/// The common start of the keys of all strings that start with `prefix`: found by comparing the keys of two of them.
fn key_stem(prefix: &[u8], ty: &ColumnType, part: &KeyPart) -> SqlResult<Option<Vec<u8>>> {
    let part = KeyPart {
        prefix: None,
        ..part.clone()
    };
    let mut a = prefix.to_vec();
    a.push(b'\x01');
    let mut b = prefix.to_vec();
    b.extend_from_slice("\u{ff5e}".as_bytes());
    let (mut ka, mut kb) = (Vec::new(), Vec::new());
    key::encode_value(ValueRef::Str(&a), ty, &part, &mut ka)?;
    key::encode_value(ValueRef::Str(&b), ty, &part, &mut kb)?;
    let n = ka.iter().zip(&kb).take_while(|(x, y)| x == y).count();
    if n == 0 {
        return Ok(None);
    }
    ka.truncate(n);
    Ok(Some(ka))
}

/// Sorts, joins what touches, drops what is empty.
fn normalize(v: &mut Vec<Interval>) {
    v.retain(|i| !i.is_empty());
    if v.len() < 2 {
        return;
    }
    v.sort_by(|a, b| a.start.cmp(&b.start));
    let mut out: Vec<Interval> = Vec::with_capacity(v.len());
    for i in v.drain(..) {
        if let Some(last) = out.last_mut()
            && match &last.end {
                None => true,
                // Touching points stay apart: they are looked up one by one.
                Some(e) => *e > i.start,
            }
        {
            match (&last.end, &i.end) {
                (Some(a), Some(b)) if b > a => last.end = i.end,
                (Some(_), None) => last.end = None,
                _ => {}
            }
            continue;
        }
        out.push(i);
    }
    *v = out;
}

/// A set whose rows are to be compared.
fn compared(set: PartSet) -> PartSet {
    PartSet {
        exactness: set.exactness.max(Exactness::Superset),
        ..set
    }
}

fn intersect(a: PartSet, b: PartSet) -> PartSet {
    let exactness = a.exactness.max(b.exactness);
    let mut out = Vec::new();
    for x in &a.intervals {
        for y in &b.intervals {
            let start = (&x.start).max(&y.start).clone();
            let end = match (&x.end, &y.end) {
                (Some(p), Some(q)) => Some(p.min(q).clone()),
                (Some(p), None) | (None, Some(p)) => Some(p.clone()),
                (None, None) => None,
            };
            let i = Interval { start, end };
            if !i.is_empty() {
                out.push(i);
            }
        }
    }
    normalize(&mut out);
    PartSet {
        intervals: out,
        points: a.points || b.points,
        exactness,
    }
}

/// The keys of one index part that a condition selects.
pub fn part_set(
    cond: &ColCond,
    ty: &ColumnType,
    part: &KeyPart,
    ctx: &EvalCtx<'_>,
) -> SqlResult<PartSet> {
    let b = Builder { ty, part, ctx };
    let mut s = b.build(cond)?;
    if let ColCond::Cmp(CmpOp::Eq, e) = cond {
        let mut tmp = Value::Null;
        // As MariaDB: the rows of one value of an index are not compared again.
        if matches!(b.fit(const_value(e, ctx, &mut tmp)?), Fit::Stored(_)) && part.prefix.is_none()
        {
            s.exactness = Exactness::Exact;
        }
    }
    s.intervals.retain(|i| !i.is_empty());
    Ok(s)
}

/// Bytes of a fixed-width type in an index, as MariaDB counts them in EXPLAIN.
pub fn key_len(ty: &ColumnType) -> usize {
    let fraction = |f: u8| usize::from(f.div_ceil(2));
    match ty.kind {
        TypeKind::TinyInt | TypeKind::Year => 1,
        TypeKind::SmallInt => 2,
        TypeKind::MediumInt | TypeKind::Date => 3,
        TypeKind::Int | TypeKind::Float => 4,
        TypeKind::BigInt | TypeKind::Double => 8,
        TypeKind::Decimal(p, s) => Decimal::binary_len(p, s),
        TypeKind::Time(f) => 3 + fraction(f),
        TypeKind::DateTime(f) => 5 + fraction(f),
        TypeKind::Timestamp(f) => 4 + fraction(f),
        TypeKind::Enum(m) => usize::from(m.enum_bytes()),
        TypeKind::Set(m) => usize::from(m.set_bytes()),
        TypeKind::Bit(n) => usize::from(n.div_ceil(8)),
        TypeKind::Fixed(k) => k.bytes(),
        _ => 0,
    }
}
