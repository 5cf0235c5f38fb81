//! Constants as values of a column's type: what may be looked up in an index.

use narwal_types::convert::NoWarnings;
use narwal_types::{
    Bits, Collation, ColumnType, Date, DateTime, Decimal, Fixed, Member, Members, TypeKind, Value,
    ValueRef, Zone, convert, key,
};

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
    /// What a column would keep of a text. The text compares otherwise, but MariaDB looks this up, and compares the rows that
    /// it finds.
    Stored(ValueRef<'a>),
    /// The same where the column keeps another value, since the text's is too large. Only good for an equality.
    Cut(ValueRef<'a>),
    /// NULL.
    Null,
    /// Comparison does not follow the column's order.
    Unusable,
}

pub(crate) fn scalar(v: &Value) -> ValueRef<'static> {
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
        | TypeKind::Double => fit_number(v, ty),
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
            ValueRef::Str(s) | ValueRef::Bytes(s) => fit_bytes(s, width),
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

/// A text beside a BIT column, which keeps its bytes.
fn fit_bytes(text: &[u8], width: u8) -> Fit<'static> {
    let significant = &text[text.iter().take_while(|b| **b == 0).count()..];
    let most = u64::MAX >> (64 - u32::from(width.clamp(1, 64)));
    let value = (significant.len() <= 8)
        .then(|| significant.iter().fold(0u64, |n, b| n << 8 | u64::from(*b)))
        .filter(|n| *n <= most);
    let bits = |value| ValueRef::Bits(Bits { value, width });
    match value {
        Some(n) => Fit::Stored(bits(n)),
        None => Fit::Cut(bits(most)),
    }
}

/// Places a constant among numbers.
fn fit_number<'a>(v: ValueRef<'a>, ty: &ColumnType) -> Fit<'a> {
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

/// The value of an ENUM or SET that equals a constant. Their order is the members', not the texts': only for equality.
pub(crate) fn fit_member(v: ValueRef<'_>, of: Members, set: bool, ty: &ColumnType) -> Fit<'static> {
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

pub(crate) fn unit(fsp: u8) -> u64 {
    10u64.pow(6 - u32::from(fsp.min(6)))
}

/// The zone's offset changes within a day of the moment.
pub(crate) fn near_change(zone: Zone, utc: i64) -> bool {
    const DAY: i64 = narwal_types::temporal::DAY;
    let offset = |t: i64| zone.local(t) - t;
    offset(utc - DAY) != offset(utc + DAY)
}

pub(crate) fn fit_datetime(t: DateTime, kind: TypeKind, zone: Zone) -> Fit<'static> {
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
            let near = match zone {
                Zone::Offset(_) => false,
                Zone::Region(_) => near_change(zone, utc),
                // Its clock may change at any time.
                Zone::Table(_) => true,
            };
            if !exists || near {
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
pub(crate) fn parse_datetime(s: &[u8]) -> Option<DateTime> {
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
