//! Comparison of values of different types.

use crate::env::StatementEnv;
use crate::expr::node::CmpOp;
use crate::expr::value::{Warn, rounds};
use narwal_types::convert::no_moment;
use narwal_types::convert::{number_as_datetime, number_as_time, to_decimal, to_f64};
use narwal_types::errors::codes;
use narwal_types::temporal_parse::{DateRules, leftover, parse_datetime, parse_time};
use narwal_types::{Collation, Date, DateTime, Decimal, Time, TypeKind, ValueRef};
use std::cmp::Ordering;

/// Compares two values as MySQL's comparison operators do; `None` if one of them is NULL. Strings compare by `collation` (by
/// bytes if one is a byte string), a string and a number as numbers, a temporal value and a string as temporal values.
#[inline]
pub fn compare(
    a: ValueRef<'_>,
    b: ValueRef<'_>,
    collation: Collation,
    env: &StatementEnv,
) -> Option<Ordering> {
    match (a, b) {
        (ValueRef::Int(x), ValueRef::Int(y)) => Some(x.cmp(&y)),
        (ValueRef::Str(x), ValueRef::Str(y)) => Some(collation.compare(x, y)),
        (ValueRef::Null, _) | (_, ValueRef::Null) => None,
        (ValueRef::Fixed(_), _) | (_, ValueRef::Fixed(_)) => super::fixed::compare(a, b, env),
        _ => Some(compare_mixed(a, b, collation, env)),
    }
}

/// Bytes of a text whose comparison takes a while.
const LONG: usize = 16 << 10;

/// As [`compare`], for one of many that an operator or a function compares: once the statement is killed, a long text costs
/// nothing any more. What it says then is of no use, so the caller ends with [`StatementEnv::check_stopped`].
#[inline]
pub(crate) fn compare_one(
    a: ValueRef<'_>,
    b: ValueRef<'_>,
    collation: Collation,
    env: &StatementEnv,
) -> Option<Ordering> {
    if let ValueRef::Str(x) | ValueRef::Bytes(x) = a
        && x.len() >= LONG
        && env.is_stopped()
    {
        return Some(Ordering::Equal);
    }
    compare(a, b, collation, env)
}

fn as_f64(v: f64, w: f64) -> Ordering {
    v.partial_cmp(&w).unwrap_or(Ordering::Equal)
}

fn int_to_decimal(v: ValueRef<'_>) -> Option<Decimal> {
    match v {
        ValueRef::Int(v) => Some(v.into()),
        ValueRef::UInt(v) => Some(v.into()),
        ValueRef::Decimal(d) => Some(d),
        _ => None,
    }
}

fn is_temporal(v: ValueRef<'_>) -> bool {
    matches!(
        v,
        ValueRef::Date(_) | ValueRef::Time(_) | ValueRef::DateTime(_)
    )
}

fn compare_mixed(
    a: ValueRef<'_>,
    b: ValueRef<'_>,
    collation: Collation,
    env: &StatementEnv,
) -> Ordering {
    match (a, b) {
        (ValueRef::Coded(set, s), _) => {
            let t = set.decode(s);
            compare(ValueRef::Str(t.as_bytes()), b, collation, env).unwrap_or(Ordering::Equal)
        }
        (_, ValueRef::Coded(set, s)) => {
            let t = set.decode(s);
            compare(a, ValueRef::Str(t.as_bytes()), collation, env).unwrap_or(Ordering::Equal)
        }
        (ValueRef::Int(x), ValueRef::UInt(y)) => (x as i128).cmp(&(y as i128)),
        (ValueRef::UInt(x), ValueRef::Int(y)) => (x as i128).cmp(&(y as i128)),
        (ValueRef::UInt(x), ValueRef::UInt(y)) => x.cmp(&y),
        (ValueRef::Double(x), ValueRef::Double(y)) => as_f64(x, y),
        (ValueRef::Str(x), ValueRef::Bytes(y)) => beside_bytes(x, y, collation),
        (ValueRef::Bytes(x), ValueRef::Str(y)) => beside_bytes(y, x, collation).reverse(),
        (ValueRef::Str(x) | ValueRef::Bytes(x), ValueRef::Str(y) | ValueRef::Bytes(y)) => {
            // A byte string without a collation of its own is compared as the text beside it.
            collation.compare(x, y)
        }
        // The text of a member meets a text, its number meets a number.
        (ValueRef::Member(m), ValueRef::Str(s)) => collation.compare(m.text().as_bytes(), s),
        (ValueRef::Str(s), ValueRef::Member(m)) => collation.compare(s, m.text().as_bytes()),
        (ValueRef::Member(x), ValueRef::Member(y)) => {
            if x == y {
                return Ordering::Equal;
            }
            collation.compare(x.text().as_bytes(), y.text().as_bytes())
        }
        (ValueRef::Member(m), ValueRef::Bytes(_)) | (ValueRef::Bytes(_), ValueRef::Member(m)) => {
            let text = m.text();
            let m = ValueRef::Bytes(text.as_bytes());
            if let ValueRef::Bytes(_) = b {
                compare_mixed(m, b, collation, env)
            } else {
                compare_mixed(a, m, collation, env)
            }
        }
        (ValueRef::Bits(x), _) => compare_mixed(ValueRef::UInt(x.value), b, collation, env),
        (_, ValueRef::Bits(y)) => compare_mixed(a, ValueRef::UInt(y.value), collation, env),
        (ValueRef::Member(m), _) if is_temporal(b) => {
            compare_temporal(ValueRef::Str(m.text().as_bytes()), b, env)
        }
        (_, ValueRef::Member(m)) if is_temporal(a) => {
            compare_temporal(a, ValueRef::Str(m.text().as_bytes()), env)
        }
        _ if is_temporal(a) || is_temporal(b) => compare_temporal(a, b, env),
        _ => {
            let exact = |v| {
                int_to_decimal(v).is_some() || matches!(v, ValueRef::Str(_) | ValueRef::Bytes(_))
            };
            if exact(a) && exact(b) {
                // A string beside an exact number is read as one.
                let mut w = Warn(env);
                return to_decimal(a, &mut w).cmp(&to_decimal(b, &mut w));
            }
            let mut w = Warn(env);
            as_f64(to_f64(a, &mut w), to_f64(b, &mut w))
        }
    }
}

/// A text beside bytes that are taken as text: a byte that belongs to no character comes behind all characters.
fn beside_bytes(text: &[u8], bytes: &[u8], collation: Collation) -> Ordering {
    let good = match std::str::from_utf8(bytes) {
        Err(e) if collation != Collation::Binary => &bytes[..e.valid_up_to()],
        _ => return collation.compare(text, bytes),
    };
    if collation.compare(text, good) != Ordering::Greater {
        return Ordering::Less;
    }
    // Behind the bytes only if it is not what stands in front of that byte, and more.
    let starts: Vec<usize> = (0..text.len())
        .filter(|i| text[*i] & 0xc0 != 0x80)
        .collect();
    let at = starts.partition_point(|i| collation.compare(&text[..*i], good) == Ordering::Less);
    match starts.get(at).map(|i| collation.compare(&text[..*i], good)) {
        Some(Ordering::Equal) => Ordering::Less,
        _ => Ordering::Greater,
    }
}

/// A value as microseconds on one axis with the other side.
fn compare_temporal(a: ValueRef<'_>, b: ValueRef<'_>, env: &StatementEnv) -> Ordering {
    let time_only = |v| matches!(v, ValueRef::Time(_));
    let other = |v| !is_temporal(v);
    // A time meets a time, a string or a number as a time; everything else as a datetime.
    if (time_only(a) && (time_only(b) || other(b))) || (time_only(b) && other(a)) {
        let t = |v| match v {
            ValueRef::Time(t) => t.micros,
            v => read_time(v, env).micros,
        };
        return t(a).cmp(&t(b));
    }
    let key = |v: ValueRef<'_>| -> (u32, u64) {
        let t = match v {
            ValueRef::Date(d) => d.at_midnight(),
            ValueRef::DateTime(t) => t,
            ValueRef::Time(t) => as_moment(t, env).unwrap_or_default(),
            v => read_datetime(v, env),
        };
        (t.date.pack(), t.micros)
    };
    key(a).cmp(&key(b))
}

/// A time as a moment: on the statement's date, or under ZERO_DATE_TIME_CAST in the year 0, where one below zero is none.
pub fn as_moment(t: Time, env: &StatementEnv) -> Option<DateTime> {
    if !env.zero_dates {
        return Some(on_today(t, env));
    }
    let micros = u64::try_from(t.micros).ok()?;
    let day = narwal_types::temporal::DAY as u64;
    // A TIME has less than 35 days.
    let days = (micros / day) as u8;
    let date = Date {
        year: 0,
        month: days / 32,
        day: days % 32 + days / 32,
    };
    Some(DateTime {
        date,
        micros: micros % day,
        fsp: t.fsp,
    })
}

/// A time on the statement's date.
fn on_today(t: Time, env: &StatementEnv) -> DateTime {
    let local = env.time_zone.local(env.now_micros);
    let day = local.div_euclid(narwal_types::temporal::DAY) * narwal_types::temporal::DAY;
    DateTime::from_unix_micros(day + t.micros, t.fsp).unwrap_or_default()
}

/// A value to be stored in a column of a type: a time is one of today where the column has dates.
pub fn dated<'v>(v: ValueRef<'v>, column: TypeKind, env: &StatementEnv) -> ValueRef<'v> {
    match (v, column) {
        (ValueRef::Time(t), TypeKind::Date | TypeKind::DateTime(_) | TypeKind::Timestamp(_)) => {
            match as_moment(t, env) {
                Some(t) => ValueRef::DateTime(t),
                None => v,
            }
        }
        _ => v,
    }
}

fn warn(env: &StatementEnv, kind: &str, v: ValueRef<'_>) {
    env.warn(
        codes::TRUNCATED_WRONG_VALUE,
        format!("Truncated incorrect {kind} value: '{}'", no_moment(v)),
    );
}

/// A string or number beside a date or datetime; what is no date is the zero date, with a warning.
pub fn read_datetime(v: ValueRef<'_>, env: &StatementEnv) -> DateTime {
    let rules = DateRules {
        rounds: rounds(env),
        ..DateRules::COMPARED
    };
    match v {
        ValueRef::Str(s) | ValueRef::Bytes(s) => match parse_datetime(s, rules) {
            Some(p) => {
                if p.garbage {
                    warn(env, if p.has_time { "datetime" } else { "date" }, v);
                }
                p.value
            }
            None => {
                warn(env, "datetime", v);
                DateTime::default()
            }
        },
        v => number_as_datetime(v, rules).map_or_else(
            || {
                warn(env, "datetime", v);
                DateTime::default()
            },
            |(t, _)| t,
        ),
    }
}

fn read_time(v: ValueRef<'_>, env: &StatementEnv) -> Time {
    let t = match v {
        ValueRef::Str(s) | ValueRef::Bytes(s) => parse_time(s, rounds(env)).map(|p| {
            if p.garbage {
                warn(env, leftover(s, true).unwrap_or("time"), v);
            }
            p.value
        }),
        v => number_as_time(v, rounds(env)),
    };
    t.unwrap_or_else(|| {
        warn(env, "time", v);
        Time::default()
    })
}

pub(crate) fn satisfied(op: CmpOp, o: Ordering) -> bool {
    match op {
        CmpOp::Eq | CmpOp::NullSafeEq => o == Ordering::Equal,
        CmpOp::Ne => o != Ordering::Equal,
        CmpOp::Lt => o == Ordering::Less,
        CmpOp::Le => o != Ordering::Greater,
        CmpOp::Gt => o == Ordering::Greater,
        CmpOp::Ge => o != Ordering::Less,
    }
}
