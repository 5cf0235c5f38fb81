//! The older date and time functions, by [`Func`].

use crate::expr::call::{Call, wrong_arguments};
use crate::expr::date::{self, IntervalUnit};
use crate::expr::eval::{Val, Warn};
use crate::expr::func::Func;
use narwal_types::convert::{self, to_decimal};
use narwal_types::temporal::{DAY, SECOND, TIME_MAX};
use narwal_types::{DateTime, Decimal, SqlError, SqlResult, ValueRef};

/// A format's two characters are up to eleven in the result, and a text's room may be twice what it needs.
const FORMAT_GROWTH: u64 = 11;

impl<'a> Call<'a, '_> {
    fn formatted(
        &self,
        day: &narwal_types::Date,
        micros: u64,
        format: &str,
        sign: &str,
    ) -> SqlResult<Val<'a>> {
        narwal_memory::reserve(FORMAT_GROWTH * format.len() as u64)?;
        match date::format(day, micros, format) {
            Some(s) if sign.is_empty() => self.string(s.into_bytes()),
            Some(s) => self.string(format!("{sign}{s}").into_bytes()),
            None => Ok(Val::NULL),
        }
    }

    pub(in crate::expr) fn dates(&self) -> SqlResult<Val<'a>> {
        use Func::*;
        let env = self.ctx.env;
        match self.func {
            Now | Curdate | Curtime => self.moment(self.local_now()),
            UtcDate | UtcTime | UtcTimestamp => self.moment(env.now_micros),
            Sysdate => {
                let now = std::time::SystemTime::now()
                    .duration_since(std::time::UNIX_EPOCH)
                    .map_or(0, |d| d.as_micros() as i64);
                self.moment(env.time_zone.local(now))
            }
            Date => Ok(self
                .datetime(0)
                .map_or(Val::NULL, |t| Val::Ref(ValueRef::Date(t.date)))),
            Time => Ok(self.time(0).map_or(Val::NULL, |t| {
                Val::Ref(ValueRef::Time(t.truncate(self.fsp())))
            })),
            Timestamp => {
                let Some(t) = self.datetime(0) else {
                    return Ok(Val::NULL);
                };
                let fsp = self.fsp();
                if self.args.len() == 1 {
                    return Ok(Val::Ref(ValueRef::DateTime(t.truncate(fsp))));
                }
                let Some(add) = self.time(1) else {
                    return Ok(Val::NULL);
                };
                Ok(
                    DateTime::from_unix_micros(t.unix_micros() + add.micros, fsp)
                        .map_or(Val::NULL, |t| Val::Ref(ValueRef::DateTime(t))),
                )
            }
            Year | Month | DayOfMonth | Quarter => Self::opt_int(self.datetime(0).map(|t| {
                let d = t.date;
                match self.func {
                    Year => d.year as i64,
                    Month => d.month as i64,
                    DayOfMonth => d.day as i64,
                    _ => (d.month as i64 + 2) / 3,
                }
            })),
            Hour | Minute | Second | Microsecond => Self::opt_int(self.time(0).map(|t| {
                let us = t.micros.unsigned_abs() as i64;
                match self.func {
                    Hour => us / (3600 * SECOND),
                    Minute => us / (60 * SECOND) % 60,
                    Second => us / SECOND % 60,
                    _ => us % SECOND,
                }
            })),
            DayOfWeek => Self::opt_int(self.real_date(0).map(|d| (d.weekday() as i64 + 1) % 7 + 1)),
            Weekday => Self::opt_int(self.real_date(0).map(|d| d.weekday() as i64)),
            DayOfYear => Self::opt_int(self.real_date(0).map(|d| d.day_of_year() as i64)),
            WeekOfYear => Self::opt_int(self.real_date(0).map(|d| date::week(&d, 3).0 as i64)),
            Week => {
                let mode = if self.args.len() > 1 { self.int(1) } else { 0 };
                Self::opt_int(
                    self.real_date(0)
                        .map(|d| date::week(&d, mode as u64 & 7).0 as i64),
                )
            }
            YearWeek => {
                let mode = if self.args.len() > 1 { self.int(1) } else { 0 };
                Self::opt_int(self.real_date(0).map(|d| {
                    let (w, y) = date::week(&d, mode as u64 & 7 | 2);
                    y as i64 * 100 + w as i64
                }))
            }
            DayName => Ok(self
                .real_date(0)
                .map_or(Val::NULL, |d| Val::text(date::day_name(&d).into()))),
            MonthName => Ok(self
                .datetime(0)
                .and_then(|t| date::month_name(t.date.month))
                .map_or(Val::NULL, |n| Val::text(n.into()))),
            LastDay => Ok(self
                .datetime(0)
                .filter(|t| (1..=12).contains(&t.date.month))
                .map_or(Val::NULL, |t| {
                    let mut d = t.date;
                    d.day = narwal_types::temporal::days_in_month(d.year, d.month);
                    Val::Ref(ValueRef::Date(d))
                })),
            ToDays => Self::opt_int(self.real_date(0).map(|d| d.day_number())),
            ToSeconds => Self::opt_int(
                self.datetime(0)
                    .filter(|t| t.date.is_real())
                    .map(|t| t.date.day_number() * 86_400 + t.micros as i64 / SECOND),
            ),
            FromDays => Ok(
                narwal_types::Date::from_unix_days(self.int(0).saturating_sub(719_528))
                    .filter(|d| d.year > 0)
                    .map_or(
                        Val::Ref(ValueRef::Date(narwal_types::Date::default())),
                        |d| Val::Ref(ValueRef::Date(d)),
                    ),
            ),
            DateDiff => {
                let (a, b) = (self.real_date(0), self.real_date(1));
                Self::opt_int(a.zip(b).map(|(a, b)| a.unix_days() - b.unix_days()))
            }
            DateFormat => {
                let Some(t) = self.datetime(0) else {
                    return Ok(Val::NULL);
                };
                let format = self.text(1);
                if format.is_empty() {
                    return Ok(Val::NULL);
                }
                self.formatted(&t.date, t.micros, &format, "")
            }
            TimeFormat => {
                let Some(t) = self.time(0) else {
                    return Ok(Val::NULL);
                };
                let d = narwal_types::Date::default();
                let us = t.micros.unsigned_abs();
                let sign = if t.micros < 0 { "-" } else { "" };
                self.formatted(&d, us, &self.text(1), sign)
            }
            FromUnixtime => {
                let d = to_decimal(self.v(0), &mut Warn(env));
                let us = d
                    .truncate(6)
                    .checked_mul(&Decimal::from(SECOND))
                    .and_then(|d| d.to_i64())
                    .filter(|us| (0..=i32::MAX as i64 * SECOND + 999_999).contains(us));
                let Some(t) =
                    us.and_then(|us| DateTime::from_unix_micros(env.time_zone.local(us), 6))
                else {
                    return Ok(Val::NULL);
                };
                if self.args.len() > 1 {
                    return self.formatted(&t.date, t.micros, &self.text(1), "");
                }
                Ok(Val::Ref(ValueRef::DateTime(t.truncate(self.fsp()))))
            }
            UnixTimestamp => {
                if self.args.is_empty() {
                    return Ok(Val::int(env.now_micros.div_euclid(SECOND)));
                }
                let Some(t) = self.datetime(0) else {
                    return Ok(Val::NULL);
                };
                let us = env.time_zone.utc(t.unix_micros()).0;
                let ok = t.date.is_real() && (0..=i32::MAX as i64 * SECOND + 999_999).contains(&us);
                if !ok {
                    return Ok(Val::NULL);
                }
                Ok(if self.expr.ty.ty.is_integer() {
                    Val::int(us / SECOND)
                } else {
                    Val::Ref(ValueRef::Decimal(
                        Decimal::from_i128(us as i128, 6).truncate(self.fsp()),
                    ))
                })
            }
            TimeToSec if !self.expr.ty.ty.is_integer() => Ok(match self.time(0) {
                None => Val::NULL,
                Some(t) => Val::Ref(ValueRef::Decimal(
                    Decimal::from_i128(t.micros as i128, 6).truncate(self.fsp()),
                )),
            }),
            TimeToSec => Self::opt_int(self.time(0).map(|t| t.micros / SECOND)),
            SecToTime => {
                let d = to_decimal(self.v(0), &mut Warn(env));
                let us = d
                    .truncate(6)
                    .checked_mul(&Decimal::from(SECOND))
                    .and_then(|d| d.to_i64())
                    .unwrap_or(if d.is_negative() { i64::MIN } else { i64::MAX });
                self.clipped_time(us)
            }
            MakeDate => {
                let (mut y, n) = (self.int(0), self.int(1));
                if (0..70).contains(&y) {
                    y += 2000;
                } else if (70..100).contains(&y) {
                    y += 1900;
                }
                if n < 1 || !(0..=9999).contains(&y) {
                    return Ok(Val::NULL);
                }
                let first = narwal_types::Date::new(y as u16, 1, 1).unix_days();
                Ok(
                    narwal_types::Date::from_unix_days(first.saturating_add(n - 1))
                        .map_or(Val::NULL, |d| Val::Ref(ValueRef::Date(d))),
                )
            }
            MakeTime => {
                let (h, m) = (self.int(0), self.int(1));
                let s = to_decimal(self.v(2), &mut Warn(env)).truncate(6);
                let us = s
                    .checked_mul(&Decimal::from(SECOND))
                    .and_then(|d| d.to_i64())
                    .unwrap_or(-1);
                if !(0..60).contains(&m) || !(0..60 * SECOND).contains(&us) {
                    return Ok(Val::NULL);
                }
                let abs =
                    h.unsigned_abs().min(100_000) as i64 * 3600 * SECOND + m * 60 * SECOND + us;
                self.clipped_time(if h < 0 { -abs } else { abs })
            }
            AddTime | SubTime => {
                let Some(b) = self.time(1) else {
                    return Ok(Val::NULL);
                };
                let delta = if self.func == AddTime {
                    b.micros
                } else {
                    -b.micros
                };
                let as_text = self.expr.ty.ty.is_string();
                let v = self.v(0);
                let is_date = match v {
                    ValueRef::Date(_) | ValueRef::DateTime(_) => true,
                    ValueRef::Str(s) | ValueRef::Bytes(s) => {
                        narwal_types::temporal_parse::parse_datetime(s, self.rules()).is_some()
                            && s.contains(&b'-')
                            && !s.starts_with(b"-")
                    }
                    _ => false,
                };
                let out = if is_date {
                    let Some(t) = self.datetime(0) else {
                        return Ok(Val::NULL);
                    };
                    let Some(mut r) = DateTime::from_unix_micros(t.unix_micros() + delta, 6) else {
                        return Ok(Val::NULL);
                    };
                    r.fsp = if as_text {
                        text_fsp(r.micros)
                    } else {
                        self.fsp()
                    };
                    ValueRef::DateTime(r)
                } else {
                    let Some(t) = self.time(0) else {
                        return Ok(Val::NULL);
                    };
                    let us = self.within_time(t.micros + delta);
                    let fsp = if as_text {
                        text_fsp(us.unsigned_abs())
                    } else {
                        self.fsp()
                    };
                    ValueRef::Time(narwal_types::Time { micros: us, fsp }.truncate(fsp))
                };
                Ok(if as_text {
                    Val::text(out.to_text())
                } else {
                    Val::Ref(out)
                })
            }
            TimeDiff => {
                let is_date = |i: usize| match self.v(i) {
                    ValueRef::DateTime(_) | ValueRef::Date(_) => true,
                    ValueRef::Str(s) => {
                        s.len() >= 10 && s.contains(&b'-') && s.first() != Some(&b'-')
                    }
                    _ => false,
                };
                if is_date(0) != is_date(1) {
                    return Ok(Val::NULL);
                }
                let us = if is_date(0) {
                    self.datetime(0)
                        .zip(self.datetime(1))
                        .map(|(a, b)| a.unix_micros() - b.unix_micros())
                } else {
                    self.time(0)
                        .zip(self.time(1))
                        .map(|(a, b)| a.micros - b.micros)
                };
                match us {
                    Some(us) => {
                        let fsp = match self.fsp() {
                            6 if us % SECOND == 0
                                && self.exprs().iter().all(|e| !e.ty.ty.is_temporal())
                                && self.v(0).to_text().find('.').is_none() =>
                            {
                                0
                            }
                            f => f,
                        };
                        Ok(Val::Ref(ValueRef::Time(
                            narwal_types::Time::from_micros(self.within_time(us), fsp)
                                .truncate(fsp),
                        )))
                    }
                    None => Ok(Val::NULL),
                }
            }
            PeriodAdd | PeriodDiff => {
                let months = |p: i64| -> Option<i64> {
                    let (mut y, m) = (p / 100, p % 100);
                    if p <= 0 {
                        return (p == 0).then_some(0);
                    }
                    if y < 70 {
                        y += 2000;
                    } else if y < 100 {
                        y += 1900;
                    }
                    Some(y * 12 + m - 1)
                };
                let bad = || wrong_arguments(self.func.name());
                let a = months(self.int(0)).ok_or_else(bad)?;
                if self.func == PeriodDiff {
                    let b = months(self.int(1)).ok_or_else(bad)?;
                    return Ok(Val::int(a - b));
                }
                if self.int(0) == 0 {
                    return Ok(Val::int(0));
                }
                // No date has such months: numbers that are too large lose their high bits, as in MariaDB.
                let n = (a as i32).wrapping_add(self.int(1) as i32) as u32;
                Ok(Val::int(i64::from(n / 12) * 100 + i64::from(n % 12) + 1))
            }
            StrToDate => {
                let (t, f) = (self.text(0), self.text(1));
                match date::parse(&t, &f, self.rules()) {
                    Some(v) => Ok(Val::Owned(v)),
                    None => {
                        env.warn(
                            1411,
                            format!("Incorrect datetime value: '{t}' for function str_to_date"),
                        );
                        Ok(Val::NULL)
                    }
                }
            }
            Extract => {
                let Some(unit) = IntervalUnit::from_number(self.int(0)) else {
                    return Ok(Val::NULL);
                };
                let time_only = matches!(self.v(1), ValueRef::Time(_));
                if time_only
                    || (unit.has_time()
                        && !matches!(self.v(1), ValueRef::Date(_) | ValueRef::DateTime(_)))
                {
                    // Text may be a time of more than a day.
                    let as_date = convert::to_datetime(self.v(1), self.rules());
                    if time_only || as_date.is_none() {
                        let Some(t) = self.time(1) else {
                            return Ok(Val::NULL);
                        };
                        let us = t.micros.unsigned_abs();
                        let d = narwal_types::Date::new(0, 0, (us / DAY as u64) as u8);
                        let rest = us % DAY as u64;
                        let n = date::extract(unit, &d, rest);
                        return Ok(Val::int(if t.micros < 0 { -n } else { n }));
                    }
                }
                Self::opt_int(
                    self.datetime(1)
                        .map(|t| date::extract(unit, &t.date, t.micros)),
                )
            }
            TimestampDiff => {
                let Some(unit) = IntervalUnit::from_number(self.int(0)) else {
                    return Ok(Val::NULL);
                };
                let (a, b) = (self.datetime(1), self.datetime(2));
                Self::opt_int(
                    a.zip(b)
                        .filter(|(a, b)| a.date.is_real() && b.date.is_real())
                        .map(|(a, b)| date::diff(unit, a, b)),
                )
            }
            _ => Err(SqlError::unsupported(self.func.name())),
        }
    }

    /// Microseconds limited to TIME's range, with a warning if they had to be.
    fn within_time(&self, us: i64) -> i64 {
        let kept = us.clamp(-TIME_MAX, TIME_MAX);
        if kept != us {
            let s = us.unsigned_abs() / SECOND as u64;
            let sign = if us < 0 { "-" } else { "" };
            self.ctx.env.warn(
                1292,
                format!(
                    "Truncated incorrect time value: '{sign}{}:{:02}:{:02}'",
                    s / 3600,
                    s / 60 % 60,
                    s % 60
                ),
            );
        }
        kept
    }

    /// A time limited to TIME's range, with a warning if it had to be.
    fn clipped_time(&self, us: i64) -> SqlResult<Val<'a>> {
        if us.unsigned_abs() > TIME_MAX as u64 {
            self.ctx.env.warn(
                1292,
                format!("Truncated incorrect time value: '{}'", self.text(0)),
            );
        }
        let fsp = self.fsp();
        Ok(Val::Ref(ValueRef::Time(
            narwal_types::Time::from_micros(us.clamp(-TIME_MAX, TIME_MAX), fsp).truncate(fsp),
        )))
    }
}

/// Digits of a fraction in text: six or none.
fn text_fsp(micros: u64) -> u8 {
    if micros.is_multiple_of(SECOND as u64) {
        0
    } else {
        6
    }
}
