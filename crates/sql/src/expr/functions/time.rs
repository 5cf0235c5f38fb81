//! Times: sums, differences, and times made of numbers.

use super::typing::{bigint_or_null, kind, sum_digits};
use crate::env::StatementEnv;
use crate::expr::cast::note_digits;
use crate::expr::node::{Call, ExprType, Function, Typing};
use crate::expr::value::Val;
use crate::expr::value::rounds;
use narwal_types::convert::{no_moment, number_parts, to_decimal, with_sign};
use narwal_types::errors::{abridged, codes};
use narwal_types::temporal::{SECOND, TIME_MAX};
use narwal_types::temporal_parse::{
    DateRules, datetime_from_number, hms_from_number, is_moment_text, parse_time,
};
use narwal_types::{DateTime, Decimal, Time, TypeKind};
use narwal_types::{SqlResult, ValueRef};

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "addtime",
        "moment, time",
        "The moment so much later.",
        sum_type,
        |c| add_time(c, 1),
    )
    .no_fixed_pair(),
    &Function::new(
        "maketime",
        "hours, minutes, seconds",
        "A time of its parts.",
        |t| seconds_type(t, 2),
        maketime,
    )
    .no_fixed(),
    &Function::new(
        "sec_to_time",
        "n",
        "A number of seconds as a time.",
        |t| seconds_type(t, 0),
        sec_to_time,
    )
    .no_fixed(),
    &Function::new(
        "subtime",
        "moment, time",
        "The moment so much earlier.",
        sum_type,
        |c| add_time(c, -1),
    )
    .no_fixed_pair(),
    &Function::new(
        "time",
        "moment",
        "The time without the date.",
        |t| Ok(kind(TypeKind::Time(t.fraction(0)))),
        |c| {
            let time = c.time(0).map(|t| t.truncate(c.fraction(0)));
            Ok(time.map_or(Val::NULL, |t| Val::Ref(ValueRef::Time(t))))
        },
    )
    .no_fixed_as("cast_as_time"),
    &Function::new(
        "time_to_sec",
        "time",
        "The time in seconds.",
        |t| match t.fraction(0) {
            0 => bigint_or_null(t),
            f => Ok(ExprType::decimal(16, f.into(), true)),
        },
        time_to_sec,
    ),
    &Function::new(
        "timediff",
        "a, b",
        "The time from b to a, which are both times or both moments.",
        |t| Ok(kind(TypeKind::Time(t.fraction(0).max(t.fraction(1))))),
        timediff,
    )
    .no_fixed(),
    &Function::new(
        "timestamp",
        "moment[, time]",
        "A datetime, and a time later.",
        |t| {
            let of_time = if t.args.len() > 1 { t.fraction(1) } else { 0 };
            Ok(kind(TypeKind::DateTime(t.fraction(0).max(of_time))))
        },
        timestamp,
    )
    .no_fixed(),
];

/// ADDTIME and SUBTIME.
fn sum_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    // A text may turn out to have any digits.
    let is_text = t.arg(0).ty.is_string() && t.args.first().and_then(sum_digits).is_none();
    let fraction = match is_text {
        true => 6,
        false => t.fraction(0).max(t.fraction(1)),
    };
    Ok(match t.arg(0).ty.kind {
        TypeKind::DateTime(_) | TypeKind::Timestamp(_) | TypeKind::Date => {
            kind(TypeKind::DateTime(fraction))
        }
        TypeKind::Time(_) => kind(TypeKind::Time(fraction)),
        _ => ExprType::text(
            if fraction > 0 {
                20 + u64::from(fraction)
            } else {
                19
            },
            true,
        ),
    })
}

/// Digits of a fraction in text: six or none.
fn text_fsp(micros: u64) -> u8 {
    match micros.is_multiple_of(SECOND as u64) {
        true => 0,
        false => 6,
    }
}

/// True for a text that begins with a date, and not with a time or a number of days.
pub(super) fn is_date_text(s: &[u8]) -> bool {
    let s = s.trim_ascii();
    let end = s.iter().position(|b| matches!(b, b' ' | b'T'));
    let head = &s[..end.unwrap_or(s.len())];
    let signless = !matches!(head.first(), Some(b'-' | b'+'));
    let digits = head.iter().take_while(|b| b.is_ascii_digit()).count();
    let separator = head.get(digits);
    let colons = head.iter().filter(|b| **b == b':').count();
    signless
        && match separator {
            None | Some(b'.') => digits >= 12 || end.is_some() && digits >= 6,
            // With a time behind it a date may be written so.
            Some(b':') => end.is_some() && colons == 2,
            Some(b) if b.is_ascii_alphabetic() => false,
            _ => true,
        }
}

/// Numbers from here on are dates with their times, if there are such.
const FIRST_MOMENT: u64 = 100_000_000_000;

/// No number from here on is an interval.
pub(super) const BEYOND_INTERVALS: i64 = 1_000_000_000_000;

/// The longest interval: 87649415:59:59.999999.
const INTERVAL_MAX: u64 = 315_537_897_599_999_999;

/// False for a time that is longer than intervals are.
pub(super) fn is_interval(t: Time) -> bool {
    t.micros.unsigned_abs() <= INTERVAL_MAX
}

/// An argument as a time of any length. `None` for what is none, and for dates, which numbers are from `first_moment` on.
pub(super) fn time_of_any_length(v: ValueRef<'_>, first_moment: i64, rounds: bool) -> Option<Time> {
    match v {
        ValueRef::Time(t) => Some(t),
        ValueRef::Str(s) | ValueRef::Bytes(s) if !is_date_text(s) => {
            parse_time(s, rounds).map(|p| p.value)
        }
        ValueRef::Null
        | ValueRef::Str(_)
        | ValueRef::Bytes(_)
        | ValueRef::Date(_)
        | ValueRef::DateTime(_) => None,
        v => number_parts(v, rounds)
            .filter(|p| p.0.unsigned_abs() < first_moment.unsigned_abs())
            .and_then(|(n, us, fsp)| hms_from_number(n, us, fsp))
            .map(|t| with_sign(t, v)),
    }
}

/// True for a number that is a date, alone or with its time.
fn is_date_number(v: ValueRef<'_>) -> bool {
    let number = matches!(
        v,
        ValueRef::Int(_) | ValueRef::UInt(_) | ValueRef::Decimal(_) | ValueRef::Double(_)
    );
    number && number_parts(v, false).is_some_and(|p| p.0 > 10_000_000)
}

/// True for a number that has the digits of a date and its time, and is one.
fn is_moment_number(v: ValueRef<'_>) -> bool {
    let number = matches!(
        v,
        ValueRef::Int(_) | ValueRef::UInt(_) | ValueRef::Decimal(_) | ValueRef::Double(_)
    );
    let digits = number.then(|| number_parts(v, false)).flatten();
    digits.is_some_and(|(n, ..)| {
        let n = n.unsigned_abs();
        n >= FIRST_MOMENT && datetime_from_number(n as i64, 0, 0, DateRules::default()).is_some()
    })
}

/// Adds the second argument, or subtracts it, if the sign is -1.
fn add_time<'a>(c: &Call<'a, '_>, sign: i64) -> SqlResult<Val<'a>> {
    let b = time_of_any_length(c.v(1), BEYOND_INTERVALS, c.rules().rounds);
    let b = b.filter(|t| is_interval(*t) && !is_moment_number(c.v(1)));
    let Some(b) = b else {
        let told = format!(
            "Incorrect INTERVAL DAY TO SECOND value: '{}'",
            no_moment(c.v(1))
        );
        c.ctx.env.warn(codes::TRUNCATED_WRONG_VALUE, told);
        return Ok(Val::NULL);
    };
    note_digits(c.v(1), "INTERVAL DAY TO SECOND", c.ctx.env);
    let delta = sign * b.micros;
    let as_text = c.expr.ty.ty.is_string();
    let digits = |micros: u64| match as_text {
        true => sum_digits(c.expr).unwrap_or_else(|| text_fsp(micros)),
        false => c.fsp(),
    };
    let is_date = match c.v(0) {
        ValueRef::Date(_) | ValueRef::DateTime(_) => true,
        ValueRef::Str(s) | ValueRef::Bytes(s) => is_moment_text(s),
        v => is_date_number(v),
    };
    let sum = if is_date {
        let t = c.datetime(0);
        let sum = t.and_then(|t| DateTime::from_unix_micros(t.unix_micros() + delta, 6));
        sum.map(|t| {
            ValueRef::DateTime(DateTime {
                fsp: digits(t.micros),
                ..t
            })
        })
    } else {
        c.time(0).map(|t| {
            let micros = within_time(c, t.micros + delta);
            let fsp = digits(micros.unsigned_abs());
            ValueRef::Time(Time { micros, fsp }.truncate(fsp))
        })
    };
    Ok(match sum {
        None => Val::NULL,
        Some(v) if as_text => Val::text(v.to_text()),
        Some(v) => Val::Ref(v),
    })
}

/// Microseconds limited to TIME's range, with a warning if they had to be.
fn within_time(c: &Call<'_, '_>, us: i64) -> i64 {
    let kept = us.clamp(-TIME_MAX, TIME_MAX);
    if kept != us {
        let s = us.unsigned_abs() / SECOND as u64;
        let sign = if us < 0 { "-" } else { "" };
        let (h, m, s) = (s / 3600, s / 60 % 60, s % 60);
        let told = format!("Truncated incorrect time value: '{sign}{h}:{m:02}:{s:02}'");
        c.ctx.env.warn(codes::TRUNCATED_WRONG_VALUE, told);
    }
    kept
}

/// A time limited to TIME's range, with a warning if it had to be.
fn clipped_time<'a>(c: &Call<'a, '_>, us: i64) -> SqlResult<Val<'a>> {
    if us.unsigned_abs() > TIME_MAX as u64 {
        let told = format!(
            "Truncated incorrect time value: '{}'",
            abridged(c.text(0), 128)
        );
        c.ctx.env.warn(codes::TRUNCATED_WRONG_VALUE, told);
    }
    let fsp = c.fsp();
    let time = Time::from_micros(us.clamp(-TIME_MAX, TIME_MAX), fsp);
    Ok(Val::Ref(ValueRef::Time(time.truncate(fsp))))
}

/// An argument's seconds in microseconds; `None` if they are too many to count.
pub(super) fn micros_of(d: &Decimal, env: &StatementEnv) -> Option<i64> {
    let kept = match rounds(env) {
        true => d.round(6),
        false => d.truncate(6),
    };
    let micros = kept.checked_mul(&Decimal::from(SECOND))?;
    micros.to_i64()
}

/// A time made of seconds: with as many digits of a second as these have, and all of them if they are a text.
fn seconds_type(t: &Typing<'_>, seconds: usize) -> SqlResult<ExprType> {
    let text = t.arg(seconds).is_string() && !t.arg(seconds).bits;
    Ok(kind(TypeKind::Time(if text {
        6
    } else {
        t.fraction(seconds)
    })))
}

fn sec_to_time<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let d = to_decimal(c.number(0), &mut c.told(0));
    let most = if d.is_negative() { i64::MIN } else { i64::MAX };
    clipped_time(c, micros_of(&d, c.ctx.env).unwrap_or(most))
}

fn maketime<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (h, m) = (c.int(0), c.int(1));
    let seconds = to_decimal(c.number(2), &mut c.told(2));
    let us = micros_of(&seconds, c.ctx.env).unwrap_or(-1);
    if !(0..60).contains(&m) || !(0..60 * SECOND).contains(&us) {
        return Ok(Val::NULL);
    }
    let hours = h.unsigned_abs().min(100_000) as i64;
    let abs = hours * 3600 * SECOND + m * 60 * SECOND + us;
    clipped_time(c, if h < 0 { -abs } else { abs })
}

fn time_to_sec<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let time = c.time(0);
    if c.expr.ty.ty.is_integer() {
        return Call::opt_int(time.map(|t| t.micros / SECOND));
    }
    let Some(t) = time else {
        return Ok(Val::NULL);
    };
    let seconds = Decimal::from_i128(t.micros.into(), 6).truncate(c.fsp());
    Ok(Val::Ref(ValueRef::Decimal(match c.raw {
        true => seconds.round(6),
        false => seconds,
    })))
}

fn timediff<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let is_date = |i: usize| match c.v(i) {
        ValueRef::DateTime(_) | ValueRef::Date(_) => true,
        ValueRef::Str(s) | ValueRef::Bytes(s) => is_moment_text(s),
        v => is_date_number(v),
    };
    if is_date(0) != is_date(1) {
        // They are read all the same, with the warnings of that.
        for i in 0..2 {
            match is_date(i) {
                true => drop(c.datetime(i)),
                false => drop(c.time(i)),
            }
        }
        return Ok(Val::NULL);
    }
    let us = if is_date(0) {
        let both = c.datetime(0).zip(c.datetime(1));
        both.map(|(a, b)| a.unix_micros() - b.unix_micros())
    } else {
        let both = c.time(0).zip(c.time(1));
        both.map(|(a, b)| a.micros - b.micros)
    };
    let Some(us) = us else {
        return Ok(Val::NULL);
    };
    let fsp = c.fraction(0).max(c.fraction(1));
    let time = Time::from_micros(within_time(c, us), fsp);
    Ok(Val::Ref(ValueRef::Time(time.truncate(fsp))))
}

fn timestamp<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let Some(t) = c.datetime(0) else {
        return Ok(Val::NULL);
    };
    let fsp = c.fsp();
    if c.args.len() == 1 {
        return Ok(Val::Ref(ValueRef::DateTime(t.truncate(c.fraction(0)))));
    }
    // It is an interval, which may be longer than a time.
    let add = match time_of_any_length(c.v(1), BEYOND_INTERVALS, c.rules().rounds) {
        Some(t) => Some(t).filter(|t| is_interval(*t)),
        None => c.time(1),
    };
    let sum = add.and_then(|add| DateTime::from_unix_micros(t.unix_micros() + add.micros, fsp));
    let sum = sum.filter(|t| t.date.year > 0);
    Ok(sum.map_or(Val::NULL, |t| Val::Ref(ValueRef::DateTime(t))))
}
