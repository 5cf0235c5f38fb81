//! Parts of dates and times, and days counted.

use super::time::{BEYOND_INTERVALS, is_interval, time_of_any_length};
use super::typing::{bigint_or_null, int, int_or_null, kind};
use crate::env::VariableScope;
use crate::expr::cast::note_digits;
use crate::expr::date::{self, IntervalUnit};
use crate::expr::fixed::check_unary;
use crate::expr::locale::Locale;
use crate::expr::node::{Call, ExprType, Function, Typing};
use crate::expr::value::Val;
use narwal_types::convert::{self, NoWarnings, no_moment, to_decimal};
use narwal_types::errors::codes;
use narwal_types::temporal::{DAY, SECOND, days_in_month};
use narwal_types::{Date, Time, TypeKind, Value};
use narwal_types::{SqlResult, ValueRef};

pub(in crate::expr) static EXTRACT: Function = Function::new(
    " extract",
    "unit, moment",
    "EXTRACT(unit FROM moment).",
    extract_type,
    extract,
);

/// EXTRACT(WEEK FROM moment), by the session's `default_week_format`.
pub(in crate::expr) static EXTRACT_WEEK: Function = Function::new(
    " extract",
    "unit, moment",
    "EXTRACT(WEEK FROM moment).",
    extract_type,
    extract,
)
.of_session();

/// What a moment that is a text counts as in arithmetic: the number of its digits.
pub(crate) static MOMENT_NUMBER: Function = Function::new(
    " moment_number",
    "moment",
    "The moment as a number.",
    |_| Ok(ExprType::decimal(14, 6, true)),
    |c| {
        let text = c.text(0);
        let digits: String = text
            .char_indices()
            .filter(|(at, c)| c.is_ascii_digit() || *c == '.' || (*at, *c) == (0, '-'))
            .map(|(_, c)| c)
            .collect();
        let number = to_decimal(ValueRef::Str(digits.as_bytes()), &mut NoWarnings);
        Ok(Val::Ref(ValueRef::Decimal(number)))
    },
);

pub(in crate::expr) static TIMESTAMPDIFF: Function = Function::new(
    " timestampdiff",
    "unit, from, to",
    "TIMESTAMPDIFF(unit, from, to).",
    bigint_or_null,
    timestampdiff,
)
.no_fixed_as("timestampdiff");

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "date",
        "moment",
        "The date without the time.",
        date_type,
        |c| Ok(c.day(0).map_or(Val::NULL, date_value)),
    )
    .no_fixed_as("cast_as_date"),
    &Function::new("datediff", "a, b", "Days from b to a.", int_or_null, |c| {
        let (a, b) = (c.real_date(0), c.real_date(1));
        Call::opt_int(a.zip(b).map(|(a, b)| a.day_number() - b.day_number()))
    })
    .no_fixed_as("to_days"),
    &Function::new("dayname", "date", "The weekday's name.", name_type, |c| {
        let day = c.real_date(0);
        Ok(day.map_or(Val::NULL, |d| {
            let names = Locale::of(c.ctx.env);
            Val::text(names.day(d.weekday() as usize, false).unwrap_or("").into())
        }))
    })
    .no_fixed()
    .of_session(),
    &Function::new(
        "dayofmonth",
        "date",
        "The day of the month, 0 to 31.",
        int_or_null,
        |c| of_date(c, |d| d.day.into()),
    )
    .or(&["day"])
    .no_fixed(),
    &Function::new(
        "dayofweek",
        "date",
        "The weekday, 1 for Sunday.",
        int_or_null,
        |c| of_day(c, |d| (d.weekday() as i64 + 1) % 7 + 1),
    )
    .no_fixed(),
    &Function::new(
        "dayofyear",
        "date",
        "The day of the year, 1 to 366.",
        int_or_null,
        |c| of_day(c, |d| d.day_of_year() as i64),
    )
    .no_fixed(),
    &EXTRACT,
    &Function::new(
        "from_days",
        "n",
        "The date of a day counted from year 0.",
        date_type,
        |c| {
            let date = Date::from_unix_days(c.int(0).saturating_sub(719_528));
            let date = date.filter(|d| d.year > 0);
            Ok(date_value(date.unwrap_or_default()))
        },
    )
    .no_fixed(),
    &Function::new("hour", "time", "The hours.", int_or_null, |c| {
        of_time(c, |us| us / (3600 * SECOND))
    })
    .no_fixed(),
    &Function::new(
        "last_day",
        "date",
        "The last day of the date's month.",
        date_type,
        last_day,
    )
    .no_fixed(),
    &Function::new(
        "makedate",
        "year, day",
        "The date of a day of a year.",
        date_type,
        makedate,
    )
    .no_fixed(),
    &Function::new(
        "microsecond",
        "time",
        "The microseconds behind the seconds.",
        int_or_null,
        |c| of_time(c, |us| us % SECOND),
    )
    .no_fixed(),
    &Function::new("minute", "time", "The minutes.", int_or_null, |c| {
        of_time(c, |us| us / (60 * SECOND) % 60)
    })
    .no_fixed(),
    &Function::new("month", "date", "The month, 0 to 12.", int_or_null, |c| {
        of_date(c, |d| d.month.into())
    })
    .no_fixed(),
    &Function::new("monthname", "date", "The month's name.", name_type, |c| {
        let names = Locale::of(c.ctx.env);
        let name = c.datetime(0).and_then(|t| names.month(t.date.month, false));
        Ok(name.map_or(Val::NULL, |n| Val::text(n.into())))
    })
    .no_fixed()
    .of_session(),
    &Function::new(
        "period_add",
        "period, n",
        "The month (YYYYMM) n months later.",
        int,
        period_add,
    )
    .no_fixed(),
    &Function::new(
        "period_diff",
        "a, b",
        "Months from b to a, both YYYYMM.",
        int,
        |c| Ok(Val::int(months_of(c.int(0)) - months_of(c.int(1)))),
    )
    .no_fixed(),
    &Function::new(
        "quarter",
        "date",
        "The quarter of the year, 0 to 4.",
        int_or_null,
        |c| of_date(c, |d| (i64::from(d.month) + 2) / 3),
    )
    .no_fixed(),
    &Function::new("second", "time", "The seconds.", int_or_null, |c| {
        of_time(c, |us| us / SECOND % 60)
    })
    .no_fixed(),
    &TIMESTAMPDIFF,
    &Function::new(
        "to_days",
        "date",
        "The day, counted from year 0.",
        int_or_null,
        |c| of_day(c, |d| d.day_number()),
    )
    .no_fixed(),
    &Function::new(
        "to_seconds",
        "moment",
        "The second, counted from year 0.",
        bigint_or_null,
        |c| {
            let t = c.datetime(0).filter(|t| t.date.is_real());
            Call::opt_int(t.map(|t| t.date.day_number() * 86_400 + t.micros as i64 / SECOND))
        },
    )
    .no_fixed(),
    &Function::new(
        "week",
        "date[, mode]",
        "The week of the year; the mode says where weeks begin, that of the session if not given.",
        int_or_null,
        |c| {
            let mode = week_mode(c);
            of_day(c, |d| date::week(d, mode).0 as i64)
        },
    )
    .null_of_first()
    .no_fixed()
    .of_session()
    .constant_with(2),
    &Function::new(
        "weekday",
        "date",
        "The weekday, 0 for Monday.",
        int_or_null,
        |c| of_day(c, |d| d.weekday() as i64),
    )
    .no_fixed(),
    &Function::new(
        "weekofyear",
        "date",
        "The week of the year as ISO 8601 counts them.",
        int_or_null,
        |c| of_day(c, |d| date::week(d, 3).0 as i64),
    )
    .no_fixed_as("week"),
    &Function::new("year", "date", "The year.", int_or_null, |c| {
        of_date(c, |d| d.year.into())
    })
    .no_fixed(),
    &Function::new(
        "yearweek",
        "date[, mode]",
        "The year and the week as one number.",
        int_or_null,
        |c| {
            let mode = week_mode(c) | 2;
            of_day(c, |d| {
                let (week, year) = date::week(d, mode);
                // Before the year 0 it wraps, as in MariaDB.
                i64::from(year.wrapping_mul(100).wrapping_add(week))
            })
        },
    )
    .null_of_first()
    .no_fixed(),
];

fn date_type(_: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(kind(TypeKind::Date))
}

/// DAYNAME and MONTHNAME.
fn name_type(_: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::text(9, true))
}

fn date_value<'a>(d: Date) -> Val<'a> {
    Val::Ref(ValueRef::Date(d))
}

/// A part of the first argument's date, which may have zeros.
fn of_date<'a>(c: &Call<'a, '_>, part: impl Fn(&Date) -> i64) -> SqlResult<Val<'a>> {
    Call::opt_int(c.datetime(0).map(|t| part(&t.date)))
}

/// Something of the first argument's day, which must be one of the calendar.
fn of_day<'a>(c: &Call<'a, '_>, part: impl Fn(&Date) -> i64) -> SqlResult<Val<'a>> {
    Call::opt_int(c.real_date(0).map(|d| part(&d)))
}

/// A part of the first argument's time, without its sign.
fn of_time<'a>(c: &Call<'a, '_>, part: impl Fn(i64) -> i64) -> SqlResult<Val<'a>> {
    Call::opt_int(c.time(0).map(|t| part(t.micros.unsigned_abs() as i64)))
}

/// The mode of WEEK and YEARWEEK, 0 where it is NULL.
fn week_mode(c: &Call<'_, '_>) -> u64 {
    match c.args.len() {
        0 | 1 => default_week_mode(c),
        _ => c.int(1) as u64 & 7,
    }
}

/// The session's `default_week_format`.
fn default_week_mode(c: &Call<'_, '_>) -> u64 {
    let variables = &c.ctx.env.variables;
    match variables.system(VariableScope::Session, "default_week_format") {
        Ok(Value::Int(n)) => n as u64 & 7,
        Ok(Value::UInt(n)) => n & 7,
        _ => 0,
    }
}

fn last_day<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let date = c.day(0).filter(|d| (1..=12).contains(&d.month));
    Ok(date.map_or(Val::NULL, |d| {
        let day = days_in_month(d.year, d.month);
        date_value(Date { day, ..d })
    }))
}

fn makedate<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (mut y, n) = (c.int(0), c.int(1));
    if (0..70).contains(&y) {
        y += 2000;
    } else if (70..100).contains(&y) {
        y += 1900;
    }
    if n < 1 || !(0..=9999).contains(&y) {
        return Ok(Val::NULL);
    }
    let first = Date::new(y as u16, 1, 1).unix_days();
    let day = Date::from_unix_days(first.saturating_add(n - 1));
    Ok(day.map_or(Val::NULL, date_value))
}

/// The last period that is one: December of the year 9999.
const LAST_PERIOD: i64 = 999_912;

/// The year that a period's year of two digits means.
fn full_year(year: i64) -> i64 {
    match year {
        0..70 => year + 2000,
        70..100 => year + 1900,
        _ => year,
    }
}

/// Months that a period stands for, counted from year 0. None for what is no period.
fn months_of(period: i64) -> i64 {
    match period {
        1..=LAST_PERIOD => full_year(period / 100) * 12 + period % 100 - 1,
        _ => 0,
    }
}

fn period_add<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let period = c.int(0);
    if period == 0 {
        return Ok(Val::int(0));
    }
    // No date has such months: numbers that are too large lose their high bits, as in MariaDB.
    let months = months_of(period) as i32;
    let n = i64::from(months.wrapping_add(c.int(1) as i32) as u32);
    Ok(Val::int(match n {
        0 => 0,
        n => full_year(n / 12) * 100 + n % 12 + 1,
    }))
}

/// As many digits as the unit's parts have. What is no date may be a time of many days.
fn extract_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    use IntervalUnit as U;
    let unit = t.literal_int(0).and_then(IntervalUnit::from_number);
    if let Some(unit) = unit {
        check_unary(&t.arg(1), &format!("extract({})", unit.name()))?;
    }
    let day = match t.arg(1).ty.is_temporal() {
        true => 2,
        false => 7,
    };
    let digits = match unit.unwrap_or(U::DayMicrosecond) {
        U::Quarter => 1,
        U::Month | U::Week | U::Hour | U::Minute | U::Second => 2,
        U::Day => day,
        U::Year | U::HourMinute | U::MinuteSecond => 4,
        U::YearMonth | U::HourSecond | U::Microsecond => 6,
        U::SecondMicrosecond => 8,
        U::MinuteMicrosecond => 10,
        U::HourMicrosecond => 12,
        U::DayHour => day + 2,
        U::DayMinute => day + 4,
        U::DaySecond => day + 6,
        U::DayMicrosecond => day + 12,
    };
    let ty = match digits {
        ..10 => ExprType::int(true),
        _ => ExprType::bigint(false, true),
    };
    Ok(ty.with_chars(digits + 1, true))
}

fn extract<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let Some(unit) = IntervalUnit::from_number(c.int(0)) else {
        return Ok(Val::NULL);
    };
    if let ValueRef::Time(t) = c.v(1) {
        return Call::opt_int(Some(part_of_time(unit, t)));
    }
    // What is no date is a time, of more than a day perhaps.
    let of_time = unit.has_time() || unit == IntervalUnit::Day;
    let text = match c.v(1) {
        ValueRef::Str(s) | ValueRef::Bytes(s) => Some(s.trim_ascii_end()),
        _ => None,
    };
    let of_date = unit.has_day() && text.is_some_and(is_compact_date);
    let time = time_of_any_length(c.v(1), BEYOND_INTERVALS, c.rules().rounds);
    if let Some(t) = time.filter(|_| of_time && !of_date) {
        if is_interval(t) {
            note_digits(c.v(1), "time", c.ctx.env);
            return Call::opt_int(Some(part_of_time(unit, t)));
        }
        return Ok(c.naming(1, || no_interval(c)));
    }
    if !of_time {
        let day = c.day(1);
        if unit == IntervalUnit::Week {
            let mode = default_week_mode(c);
            return Call::opt_int(day.map(|d| date::week(&d, mode).0 as i64));
        }
        return Call::opt_int(day.map(|d| date::extract(unit, &d, 0)));
    }
    if text.is_some() && convert::to_datetime(c.v(1), c.rules()).is_none() {
        return Ok(c.naming(1, || no_interval(c)));
    }
    let t = c.datetime(1);
    Call::opt_int(t.map(|t| date::extract(unit, &t.date, t.micros)))
}

/// What has no part, with a warning.
fn no_interval<'a>(c: &Call<'a, '_>) -> Val<'a> {
    let told = format!("Incorrect interval value: '{}'", no_moment(c.v(1)));
    c.ctx.env.warn(codes::TRUNCATED_WRONG_VALUE, told);
    Val::NULL
}

/// A text that begins with digits alone: its day is that of a date.
fn is_compact_date(s: &[u8]) -> bool {
    let behind = s.iter().find(|b| !b.is_ascii_digit());
    behind.is_none_or(u8::is_ascii_alphabetic)
}

/// A part of a time, which may have days.
fn part_of_time(unit: IntervalUnit, t: Time) -> i64 {
    // No week has a time, and MariaDB says so.
    const NO_WEEK: i64 = 613_566_757;
    if unit == IntervalUnit::Week {
        return NO_WEEK;
    }
    let us = t.micros.unsigned_abs();
    let days = (us / DAY as u64) as i64;
    // What a day is worth in the number.
    let at = |day| date::extract(unit, &Date::new(0, 0, day), 0);
    let day = at(1) - at(0);
    let n = date::extract(unit, &Date::default(), us % DAY as u64) + days * day;
    if t.micros < 0 { -n } else { n }
}

fn timestampdiff<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let Some(unit) = IntervalUnit::from_number(c.int(0)) else {
        return Ok(Val::NULL);
    };
    // Behind what is no moment nothing is looked at.
    let both = c.datetime(1).and_then(|a| Some((a, c.datetime(2)?)));
    let real = both.filter(|(a, b)| a.date.is_real() && b.date.is_real());
    Call::opt_int(real.map(|(a, b)| date::diff(unit, a, b)))
}
