//! Now, the session's time zone, seconds since 1970, and dates written and read by formats.

use super::time::micros_of;
use super::typing::{bigint_or_null, kind};
use crate::expr::date;
use crate::expr::locale::Locale;
use crate::expr::node::{Call, ExprKind, ExprType, Function, Typing};
use crate::expr::value::Val;
use crate::expr::value::Warn;
use narwal_types::convert::{no_moment, to_decimal};
use narwal_types::errors::{self, codes};
use narwal_types::temporal::{DAY, SECOND};
use narwal_types::{Date, DateTime, Decimal, TypeKind, Value, Zone};
use narwal_types::{SqlResult, ValueRef};

pub(super) static FUNCTIONS: &[&Function] = &[
    &Function::new(
        "convert_tz",
        "moment, from, to",
        "A moment of one time zone in another one.",
        |t| Ok(kind(TypeKind::DateTime(zoned_fraction(t)))),
        convert_tz,
    ),
    &Function::new(
        "curdate",
        "",
        "Today, in the session's time zone.",
        today_type,
        |c| c.moment(c.local_now()),
    )
    .or(&["current_date"])
    .of_session(),
    &Function::new(
        "current_timestamp",
        "[digits]",
        "When the statement began, in the session's time zone.",
        now_type,
        |c| c.moment(c.local_now()),
    )
    .or(&["now", "localtime", "localtimestamp"])
    .of_session(),
    &Function::new(
        "curtime",
        "[digits]",
        "The time of day when the statement began.",
        time_of_day_type,
        |c| c.moment(c.local_now()),
    )
    .or(&["current_time"])
    .of_session(),
    &Function::new(
        "date_format",
        "moment, format[, locale]",
        "The moment in a format of %Y, %m and so on, with names in the language of the locale.",
        formatted_type,
        date_format,
    )
    .no_fixed_first()
    .null_of_first()
    .of_session(),
    &Function::new(
        "from_unixtime",
        "seconds[, format]",
        "The moment so many seconds after 1970 began in UTC, in the session's time zone.",
        from_unixtime_type,
        from_unixtime,
    )
    .no_fixed_first()
    .of_session(),
    &Function::new(
        " get_format",
        "kind, place",
        "GET_FORMAT(kind, place).",
        |_| Ok(ExprType::text(17, true)),
        get_format,
    ),
    &Function::new(
        "str_to_date",
        "text, format",
        "The moment that a text says in a format.",
        |t| {
            Ok(kind(match t.args.get(1).map(|a| &a.kind) {
                Some(ExprKind::Literal(Value::Str(f))) => date::format_kind(f),
                _ => TypeKind::DateTime(6),
            }))
        },
        str_to_date,
    )
    .no_fixed_pair(),
    &Function::new(
        "sysdate",
        "[digits]",
        "The moment when it is evaluated.",
        now_type,
        |c| {
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            let now = now.map_or(0, |d| d.as_micros() as i64);
            c.moment(c.ctx.env.time_zone.local(now))
        },
    )
    .volatile(),
    &Function::new(
        "time_format",
        "time, format",
        "The time in a format of %H, %i and so on.",
        formatted_type,
        time_format,
    )
    .no_fixed_first(),
    &Function::new(
        "unix_timestamp",
        "[moment]",
        "Seconds since 1970 began in UTC, of now if no moment is given.",
        unix_timestamp_type,
        unix_timestamp,
    )
    .of_session()
    .constant_with(1),
    &Function::new("utc_date", "", "Today in UTC.", today_type, |c| {
        c.moment(c.ctx.env.now_micros)
    })
    .of_session(),
    &Function::new(
        "utc_time",
        "[digits]",
        "The time of day in UTC when the statement began.",
        time_of_day_type,
        |c| c.moment(c.ctx.env.now_micros),
    )
    .of_session(),
    &Function::new(
        "utc_timestamp",
        "[digits]",
        "When the statement began, in UTC.",
        now_type,
        |c| c.moment(c.ctx.env.now_micros),
    )
    .of_session(),
];

fn today_type(_: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(kind(TypeKind::Date).with_nullable(false))
}

/// Digits behind the point that are asked for.
fn digits_asked(t: &Typing<'_>) -> SqlResult<u8> {
    match t.literal_int(0).unwrap_or(0) {
        n @ 0..=6 => Ok(n as u8),
        _ => Err(errors::TOO_BIG_PRECISION.with([&t.name, &6])),
    }
}

fn time_of_day_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(kind(TypeKind::Time(digits_asked(t)?)).with_nullable(false))
}

fn now_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(kind(TypeKind::DateTime(digits_asked(t)?)).with_nullable(false))
}

/// A format's two characters are up to eleven in the result, and a text's room may be twice what it needs.
const FORMAT_GROWTH: u64 = 11;

/// A date and a time of it in a format.
fn formatted<'a>(
    c: &Call<'a, '_>,
    (day, micros): (&Date, u64),
    format: &str,
    sign: &str,
) -> SqlResult<Val<'a>> {
    narwal_memory::reserve(FORMAT_GROWTH * format.len() as u64)?;
    match date::format(day, micros, format, &|| names_of(c)) {
        Some(s) if sign.is_empty() => c.string(s.into_bytes()),
        Some(s) => c.string(format!("{sign}{s}").into_bytes()),
        None => Ok(Val::NULL),
    }
}

/// The language of names: that of DATE_FORMAT's third argument, or else the session's.
fn names_of(c: &Call<'_, '_>) -> &'static Locale {
    if c.args.len() < 3 {
        return Locale::of(c.ctx.env);
    }
    let name = c.text(2);
    let found = match c.v(2).is_null() {
        true => None,
        false => Locale::named(&name),
    };
    found.unwrap_or_else(|| {
        let shown = if c.v(2).is_null() { "NULL" } else { &name };
        let told = format!("Unknown locale: '{shown}'");
        c.ctx.env.warn(codes::UNKNOWN_LOCALE, told);
        Locale::english()
    })
}

fn date_format<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    // A time is shown as one, of no day.
    if matches!(c.v(0), ValueRef::Time(_)) {
        return formatted_time(c, &c.text(1));
    }
    let Some(t) = c.datetime(0) else {
        return Ok(Val::NULL);
    };
    match c.text(1) {
        format if format.is_empty() => Ok(Val::NULL),
        format => formatted(c, (&t.date, t.micros), &format, ""),
    }
}

fn time_format<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    match c.text(1) {
        format if asks_for_date(&format) => Ok(Val::NULL),
        format => formatted_time(c, &format),
    }
}

/// A format has something that a time has not: a day, a month, a year or a week.
fn asks_for_date(format: &str) -> bool {
    let mut rest = format.chars();
    while let Some(c) = rest.next() {
        if c == '%'
            && rest
                .next()
                .is_some_and(|f| "abcdejmuvwxyDMUVWXY".contains(f))
        {
            return true;
        }
    }
    false
}

fn formatted_time<'a>(c: &Call<'a, '_>, format: &str) -> SqlResult<Val<'a>> {
    let Some(t) = c.time(0) else {
        return Ok(Val::NULL);
    };
    let sign = if t.micros < 0 { "-" } else { "" };
    let time = (&Date::default(), t.micros.unsigned_abs());
    formatted(c, time, format, sign)
}

fn str_to_date<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let (text, format) = (c.text(0), c.text(1));
    if let Some((v, rest)) = date::parse(&text, &format, c.rules()) {
        if !rest.trim_start().is_empty() {
            let kind = match v {
                Value::Time(_) => "time",
                Value::Date(_) => "date",
                _ => "datetime",
            };
            let cut = format!("Truncated incorrect {kind} value: '{text}'");
            c.ctx.env.warn(codes::TRUNCATED_WRONG_VALUE, cut);
        }
        // A format that differs from row to row makes each moment a DATETIME.
        let whole = matches!(c.expr.ty.ty.kind, TypeKind::DateTime(6))
            && c.exprs().get(1).is_some_and(|format| !format.is_const());
        return Ok(Val::Owned(if whole { as_datetime(v) } else { v }));
    }
    let told = errors::WRONG_VALUE_FOR_TYPE.with([&"datetime", &text, &"str_to_date"]);
    c.ctx.env.warn_error(&told);
    Ok(Val::NULL)
}

/// A date or a time as what a format that is not known before may give.
fn as_datetime(v: Value) -> Value {
    let (date, micros) = match v {
        Value::Date(date) => (date, 0),
        // Of a day and a time.
        Value::Time(t) => {
            let (micros, day) = (t.micros.unsigned_abs(), DAY as u64);
            (Date::new(0, 0, (micros / day) as u8), micros % day)
        }
        Value::DateTime(t) => (t.date, t.micros),
        v => return v,
    };
    Value::DateTime(DateTime {
        date,
        micros,
        fsp: 6,
    })
}

/// True for moments that a TIMESTAMP can hold, in microseconds from 1970.
fn in_timestamp(us: i64, first: i64) -> bool {
    (first..=i64::from(i32::MAX) * SECOND + 999_999).contains(&us)
}

/// A moment in a format, which is known or may ask for ten characters by each of its own.
fn formatted_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::text(
        match t.args.get(1).map(|a| &a.kind) {
            Some(ExprKind::Literal(Value::Str(f))) => date::format_chars(f),
            _ => t.bytes(1).saturating_mul(10),
        },
        true,
    ))
}

fn from_unixtime_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    match t.args.len() {
        2 => formatted_type(t),
        _ if t.arg(0).is_string() && !t.arg(0).ty.is_member() => Ok(kind(TypeKind::DateTime(6))),
        _ => Ok(kind(TypeKind::DateTime(t.fraction(0)))),
    }
}

fn from_unixtime<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let env = c.ctx.env;
    let seconds = to_decimal(c.number(0), &mut Warn(env));
    let us = micros_of(&seconds, c.ctx.env).filter(|us| in_timestamp(*us, 0));
    let local = us.and_then(|us| DateTime::from_unix_micros(env.time_zone.local(us), 6));
    let Some(t) = local else {
        return Ok(Val::NULL);
    };
    if c.args.len() > 1 {
        return formatted(c, (&t.date, t.micros), &c.text(1), "");
    }
    // Of a text or a double nobody knows how many digits it has: they are shown if there are any.
    let ty = &c.exprs()[0].ty.ty;
    let exact = ty.is_integer() || matches!(ty.kind, TypeKind::Decimal(..));
    let fsp = match exact || t.micros % SECOND as u64 != 0 {
        true => c.fsp(),
        false => 0,
    };
    Ok(Val::Ref(ValueRef::DateTime(t.truncate(fsp))))
}

fn unix_timestamp_type(t: &Typing<'_>) -> SqlResult<ExprType> {
    match t.args.len() {
        0 => bigint_or_null(t),
        _ if t.fraction(0) == 0 => bigint_or_null(t),
        _ => Ok(ExprType::decimal(16, t.fraction(0).into(), true)),
    }
}

fn unix_timestamp<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let env = c.ctx.env;
    if c.args.is_empty() {
        return Ok(Val::int(env.now_micros.div_euclid(SECOND)));
    }
    let Some(t) = c.datetime(0) else {
        return Ok(Val::NULL);
    };
    let us = env.time_zone.utc(t.unix_micros()).0;
    if !t.date.is_real() || !in_timestamp(us, 0) {
        return Ok(Val::NULL);
    }
    Ok(match c.expr.ty.ty.is_integer() {
        true => Val::int(us / SECOND),
        false => {
            let seconds = Decimal::from_i128(us.into(), 6);
            Val::Ref(ValueRef::Decimal(seconds.truncate(c.fsp())))
        }
    })
}

/// The kind of value is the hidden first argument.
fn get_format<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let which = c.text(1).to_ascii_lowercase();
    let formats = match c.text(0).as_str() {
        "date" => ["%m.%d.%Y", "%Y-%m-%d", "%Y-%m-%d", "%d.%m.%Y", "%Y%m%d"],
        "time" => ["%h:%i:%s %p", "%H:%i:%s", "%H:%i:%s", "%H.%i.%s", "%H%i%s"],
        _ => [
            "%Y-%m-%d %H.%i.%s",
            "%Y-%m-%d %H:%i:%s",
            "%Y-%m-%d %H:%i:%s",
            "%Y-%m-%d %H.%i.%s",
            "%Y%m%d%H%i%s",
        ],
    };
    let at = ["usa", "jis", "iso", "eur", "internal"]
        .iter()
        .position(|n| *n == which);
    Ok(at.map_or(Val::NULL, |i| Val::text(formats[i].to_string())))
}

/// Digits behind the point of what CONVERT_TZ returns.
fn zoned_fraction(t: &Typing<'_>) -> u8 {
    match t.arg(0).ty.kind {
        TypeKind::DateTime(f) | TypeKind::Timestamp(f) | TypeKind::Time(f) => f,
        TypeKind::Date => 0,
        // A literal shows how many digits it has.
        _ => match t.args.first().map(|a| &a.kind) {
            Some(ExprKind::Literal(Value::Str(s))) => {
                s.rsplit_once('.').map_or(0, |(_, f)| f.len().min(6) as u8)
            }
            _ => 6,
        },
    }
}

/// Beyond what a TIMESTAMP can hold nothing is converted.
fn convert_tz<'a>(c: &Call<'a, '_>) -> SqlResult<Val<'a>> {
    let zone = |i: usize| Zone::parse(&c.v(i).to_text()).map(|z| z.0);
    let (Some(t), Some(from), Some(to)) = (c.datetime(0), zone(1), zone(2)) else {
        return Ok(Val::NULL);
    };
    if t.date.month == 0 || t.date.day == 0 {
        let told = format!("Incorrect datetime value: '{}'", no_moment(c.v(0)));
        c.naming(0, || c.ctx.env.warn(codes::TRUNCATED_WRONG_VALUE, told));
        return Ok(Val::NULL);
    }
    let (utc, _) = from.utc(t.unix_micros());
    if !in_timestamp(utc, SECOND) {
        return Ok(Val::Owned(Value::DateTime(t)));
    }
    let fsp = match c.expr.ty.ty.kind {
        TypeKind::DateTime(f) => f,
        _ => 6,
    };
    let there = DateTime::from_unix_micros(to.local(utc), fsp);
    Ok(there.map_or(Val::NULL, |t| Val::Owned(Value::DateTime(t))))
}
