//! Sets of key ranges on one index part, computed from conditions when a statement runs.

use super::sarg::{ColCond, const_value};
use crate::expr::node::{CmpOp, EvalCtx};
use crate::like::literal_prefix;
use narwal_types::convert::{self, NoWarnings};
use narwal_types::key::{self, KeyPart};
use narwal_types::{
    Bits, Collation, ColumnType, Date, DateTime, Decimal, Fixed, Member, Members, SqlResult,
    TypeKind, Value, ValueRef, Zone,
};

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

/// Where a constant lies among the values of a column.
#[derive(Debug, Clone, Copy)]
pub enum Fit<'a> {
    /// This value of the column's domain.
    Exact(ValueRef<'a>),
    /// Below all values.
    Below,
    /// Above all values.
    Above,
    /// Between two neighbours.
    Between(ValueRef<'a>, ValueRef<'a>),
    /// NULL.
    Null,
    /// Comparison does not follow the column's order.
    Unusable,
}

fn scalar(v: &Value) -> ValueRef<'static> {
    match *v {
        Value::Int(i) => ValueRef::Int(i),
        Value::UInt(i) => ValueRef::UInt(i),
        Value::Float(f) => ValueRef::Float(f),
        Value::Double(f) => ValueRef::Double(f),
        Value::Decimal(d) => ValueRef::Decimal(d),
        Value::Date(d) => ValueRef::Date(d),
        Value::Time(t) => ValueRef::Time(t),
        Value::DateTime(t) => ValueRef::DateTime(t),
        Value::Member(m) => ValueRef::Member(m),
        Value::Bits(b) => ValueRef::Bits(b),
        Value::Fixed(f) => ValueRef::Fixed(f),
        Value::Null | Value::Str(_) | Value::Bytes(_) => ValueRef::Null,
    }
}

/// Places a constant among the values of a column. `zone`: the session's.
pub fn fit<'a>(v: ValueRef<'a>, ty: &ColumnType, zone: Zone) -> Fit<'a> {
    if let ValueRef::Null = v {
        return Fit::Null;
    }
    match ty.kind {
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt
        | TypeKind::Decimal(..)
        | TypeKind::Double => {
            // A string constant is compared as a number: usable if all of it is one.
            let v = match v {
                ValueRef::Str(s) => {
                    match std::str::from_utf8(s)
                        .ok()
                        .and_then(|s| Decimal::parse(s.trim()))
                    {
                        Some(d) => ValueRef::Decimal(d),
                        None => return Fit::Unusable,
                    }
                }
                v => v,
            };
            if ty.kind == TypeKind::Double {
                return match v {
                    ValueRef::Int(i) => Fit::Exact(ValueRef::Double(i as f64)),
                    ValueRef::UInt(i) => Fit::Exact(ValueRef::Double(i as f64)),
                    ValueRef::Double(f) if f.is_finite() => Fit::Exact(v),
                    ValueRef::Decimal(d) => Fit::Exact(ValueRef::Double(d.to_f64())),
                    _ => Fit::Unusable,
                };
            }
            match key::fit_bound(v, ty) {
                Some(key::Fit::Exact(v)) => Fit::Exact(scalar(&v)),
                Some(key::Fit::Below) => Fit::Below,
                Some(key::Fit::Above) => Fit::Above,
                Some(key::Fit::Between(a, b)) => Fit::Between(scalar(&a), scalar(&b)),
                None => Fit::Unusable,
            }
        }
        TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Text(_) => match v {
            ValueRef::Str(_) => Fit::Exact(v),
            ValueRef::Bytes(_) if ty.collation == Collation::Binary => Fit::Exact(v),
            _ => Fit::Unusable,
        },
        TypeKind::VarBinary(_) | TypeKind::Blob(_) => match v {
            ValueRef::Str(_) | ValueRef::Bytes(_) => Fit::Exact(v),
            _ => Fit::Unusable,
        },
        TypeKind::Binary(n) => match v {
            // Values of other lengths compare with the padded value, and never equal it.
            ValueRef::Str(s) | ValueRef::Bytes(s) if s.len() == n as usize => Fit::Exact(v),
            _ => Fit::Unusable,
        },
        TypeKind::Year => match v {
            ValueRef::Int(y) if y == 0 || (1901..=2155).contains(&y) => Fit::Exact(v),
            _ => Fit::Unusable,
        },
        TypeKind::Date | TypeKind::DateTime(_) | TypeKind::Timestamp(_) => {
            let t = match v {
                ValueRef::Date(d) => d.at_midnight(),
                ValueRef::DateTime(t) => t,
                ValueRef::Str(s) => match parse_datetime(s) {
                    Some(t) => t,
                    None => return Fit::Unusable,
                },
                _ => return Fit::Unusable,
            };
            fit_datetime(t, ty.kind, zone)
        }
        TypeKind::Time(fsp) => match v {
            ValueRef::Time(t) if t.micros % unit(fsp) as i64 == 0 => Fit::Exact(v),
            _ => Fit::Unusable,
        },
        TypeKind::Enum(of) => fit_member(v, of, false, ty),
        TypeKind::Set(of) => fit_member(v, of, true, ty),
        TypeKind::Bit(width) => match v {
            ValueRef::Int(_) | ValueRef::UInt(_) => match convert::to_integer(v, &mut NoWarnings) {
                n if n < 0 => Fit::Below,
                n if width < 64 && n >> width != 0 => Fit::Above,
                n => Fit::Exact(ValueRef::Bits(Bits {
                    value: n as u64,
                    width,
                })),
            },
            _ => Fit::Unusable,
        },
        TypeKind::Fixed(k) => {
            let found = match v {
                ValueRef::Fixed(f) if f.kind == k => Some(f),
                ValueRef::Str(s) => Fixed::parse(k, s),
                ValueRef::Bytes(s) => Fixed::from_bytes(k, s),
                _ => None,
            };
            // Comparison with what is no value warns.
            found.map_or(Fit::Unusable, |f| Fit::Exact(ValueRef::Fixed(f)))
        }
        TypeKind::Float => Fit::Unusable,
    }
}

/// The value of an ENUM or SET that equals a constant. Their order is the members', not the texts': only for equality.
fn fit_member(v: ValueRef<'_>, of: Members, set: bool, ty: &ColumnType) -> Fit<'static> {
    let exact = |m: Option<Member>| m.map_or(Fit::Unusable, |m| Fit::Exact(ValueRef::Member(m)));
    match v {
        ValueRef::Int(_) | ValueRef::UInt(_) => {
            match u64::try_from(convert::to_integer(v, &mut NoWarnings)) {
                Ok(n) if set => exact(Member::of_set(of, n)),
                Ok(n) => exact(Member::of_enum(of, n)),
                Err(_) => Fit::Unusable,
            }
        }
        ValueRef::Str(s) => {
            let (m, unknown) = Member::parse(of, set, s, ty.collation);
            // Several values may have the empty text; a SET's text may list its members in another order.
            let text = m.text();
            if unknown || text.is_empty() || !ty.collation.equal(text.as_bytes(), s) {
                return Fit::Unusable;
            }
            exact(Some(m))
        }
        _ => Fit::Unusable,
    }
}

fn unit(fsp: u8) -> u64 {
    10u64.pow(6 - u32::from(fsp.min(6)))
}

/// The zone's offset changes within a day of the moment.
fn near_change(zone: Zone, utc: i64) -> bool {
    const DAY: i64 = narwal_types::temporal::DAY;
    let offset = |t: i64| zone.local(t) - t;
    offset(utc - DAY) != offset(utc + DAY)
}

fn fit_datetime(t: DateTime, kind: TypeKind, zone: Zone) -> Fit<'static> {
    if !t.date.is_real() {
        return Fit::Unusable;
    }
    match kind {
        TypeKind::Date if t.micros == 0 => Fit::Exact(ValueRef::Date(t.date)),
        TypeKind::Date => match Date::from_unix_days(t.date.unix_days() + 1) {
            Some(next) => Fit::Between(ValueRef::Date(t.date), ValueRef::Date(next)),
            None => Fit::Unusable,
        },
        TypeKind::DateTime(fsp) => {
            if !t.micros.is_multiple_of(unit(fsp)) {
                return Fit::Unusable;
            }
            Fit::Exact(ValueRef::DateTime(DateTime { fsp, ..t }))
        }
        TypeKind::Timestamp(fsp) => {
            if !t.micros.is_multiple_of(unit(fsp)) {
                return Fit::Unusable;
            }
            let local = t.unix_micros();
            let (utc, exists) = zone.utc(local);
            // A region's clock shows some times twice and others never: those are compared row by row.
            if !exists || matches!(zone, Zone::Region(_)) && near_change(zone, utc) {
                return Fit::Unusable;
            }
            // 1970-01-01 00:00:01 to 2038-01-19 03:14:07 UTC.
            if !(1_000_000..=2_147_483_647_999_999).contains(&utc) {
                return Fit::Unusable;
            }
            match DateTime::from_unix_micros(utc, fsp) {
                Some(t) => Fit::Exact(ValueRef::DateTime(t)),
                None => Fit::Unusable,
            }
        }
        _ => Fit::Unusable,
    }
}

/// `YYYY-MM-DD[ HH:MM:SS[.ffffff]]` only: other forms are compared row by row.
fn parse_datetime(s: &[u8]) -> Option<DateTime> {
    fn num(s: &[u8]) -> Option<u32> {
        if s.is_empty() || !s.iter().all(u8::is_ascii_digit) {
            return None;
        }
        Some(s.iter().fold(0, |a, d| a * 10 + u32::from(d - b'0')))
    }
    let (d, t) = match s.len() {
        10 => (s, None),
        19..=26 if matches!(s[10], b' ' | b'T') => (&s[..10], Some(&s[11..])),
        _ => return None,
    };
    if d[4] != b'-' || d[7] != b'-' {
        return None;
    }
    let date = Date::new(
        num(&d[..4])? as u16,
        num(&d[5..7])? as u8,
        num(&d[8..10])? as u8,
    );
    let mut micros = 0u64;
    if let Some(t) = t {
        if t[2] != b':' || t[5] != b':' {
            return None;
        }
        let (h, m, s) = (num(&t[..2])?, num(&t[3..5])?, num(&t[6..8])?);
        if h > 23 || m > 59 || s > 59 {
            return None;
        }
        micros = u64::from((h * 60 + m) * 60 + s) * 1_000_000;
        if t.len() > 8 {
            if t[8] != b'.' || t.len() == 9 {
                return None;
            }
            micros += u64::from(num(&t[9..])?) * 10u64.pow(6 - (t.len() as u32 - 9));
        }
    }
    date.is_real().then(|| DateTime::new(date, micros, 6))
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
            Fit::Unusable => self.unusable(),
            Fit::Exact(v) => self.set(vec![self.half(v, above, inclusive)?]),
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
                intersect(a, b)
            }
            ColCond::In(list) => {
                let mut out = self.points(Vec::with_capacity(list.len()));
                for e in list {
                    let v = const_value(e, self.ctx, &mut tmp)?;
                    match self.fit(v) {
                        Fit::Exact(v) => out.intervals.push(self.point(v)?),
                        Fit::Unusable => return Ok(self.unusable()),
                        _ => {}
                    }
                }
                normalize(&mut out.intervals);
                out
            }
            ColCond::InSubquery(n) => {
                // So many that they are in a file are not looked up one by one.
                let Some(values) = self.ctx.subqueries.known_values(*n) else {
                    return Ok(self.unusable());
                };
                let mut out = self.points(Vec::with_capacity(values.len()));
                for v in values.iter().filter(|v| !v.is_null()) {
                    match self.fit(v.as_ref()) {
                        Fit::Exact(v) => out.intervals.push(self.point(v)?),
                        Fit::Unusable => return Ok(self.unusable()),
                        _ => {}
                    }
                }
                normalize(&mut out.intervals);
                out
            }
            ColCond::IsNull => self.points(self.null()),
            ColCond::IsNotNull => self.set(vec![self.not_null()]),
            ColCond::LikePrefix(e, escape) => {
                let v = const_value(e, self.ctx, &mut tmp)?;
                let (ValueRef::Str(p) | ValueRef::Bytes(p)) = v else {
                    return Ok(if v.is_null() {
                        self.empty()
                    } else {
                        self.unusable()
                    });
                };
                match self.like(p, *escape)? {
                    Some(iv) => PartSet {
                        intervals: vec![iv],
                        points: false,
                        exactness: Exactness::Superset,
                    },
                    None => self.unusable(),
                }
            }
            ColCond::Or(list) => {
                let mut out = self.empty();
                for c in list {
                    let s = self.build(c)?;
                    out.exactness = out.exactness.max(s.exactness);
                    out.points &= s.points;
                    out.intervals.extend(s.intervals);
                }
                normalize(&mut out.intervals);
                out
            }
            ColCond::And(list) => {
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
                out.exactness = if usable {
                    exactness.min(Exactness::Superset)
                } else {
                    Exactness::Unusable
                };
                out
            }
        })
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
    let mut s = Builder { ty, part, ctx }.build(cond)?;
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
