//! Intervals, formats and week numbers.

use crate::expr::locale::Locale;
use narwal_types::temporal::{DAY, SECOND, days_in_month};
use narwal_types::temporal_parse::DateRules;
use narwal_types::{ColumnType, Date, DateTime, Decimal, Time, TypeKind, Value, ValueRef};

/// Units of INTERVAL, EXTRACT and TIMESTAMPDIFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum IntervalUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

use IntervalUnit::*;

const UNITS: [(&str, IntervalUnit); 20] = [
    ("microsecond", Microsecond),
    ("second", Second),
    ("minute", Minute),
    ("hour", Hour),
    ("day", Day),
    ("week", Week),
    ("month", Month),
    ("quarter", Quarter),
    ("year", Year),
    ("second_microsecond", SecondMicrosecond),
    ("minute_microsecond", MinuteMicrosecond),
    ("minute_second", MinuteSecond),
    ("hour_microsecond", HourMicrosecond),
    ("hour_second", HourSecond),
    ("hour_minute", HourMinute),
    ("day_microsecond", DayMicrosecond),
    ("day_second", DaySecond),
    ("day_minute", DayMinute),
    ("day_hour", DayHour),
    ("year_month", YearMonth),
];

impl IntervalUnit {
    /// A unit by its name, in any case; `SQL_TSI_DAY` is taken too.
    pub fn from_name(name: &str) -> Option<Self> {
        let lower = name.to_ascii_lowercase();
        let n = lower.strip_prefix("sql_tsi_").unwrap_or(&lower);
        UNITS.iter().find(|u| u.0 == n).map(|u| u.1)
    }

    /// Its name in lower case.
    pub fn name(self) -> &'static str {
        UNITS.iter().find(|u| u.1 == self).map_or("", |u| u.0)
    }

    /// Its number, for passing it as an argument.
    pub fn number(self) -> i64 {
        UNITS.iter().position(|u| u.1 == self).unwrap_or(0) as i64
    }

    /// The reverse of [`IntervalUnit::number`].
    pub fn from_number(n: i64) -> Option<Self> {
        UNITS.get(usize::try_from(n).ok()?).map(|u| u.1)
    }

    /// It has a part below the day: a date becomes a datetime.
    pub fn has_time(self) -> bool {
        !matches!(self, Day | Week | Month | Quarter | Year | YearMonth)
    }

    /// It has days and no part above them.
    pub fn has_day(self) -> bool {
        matches!(self, Day | DayMicrosecond | DaySecond | DayMinute | DayHour)
    }

    /// It has no part above the hour... day: it may be added to a TIME.
    pub fn has_months(self) -> bool {
        matches!(self, Month | Quarter | Year | YearMonth)
    }

    /// Digits behind the seconds that so much of this unit brings along.
    pub fn fraction(self, amount: &ColumnType) -> u8 {
        match (self, amount.kind) {
            (u, _) if u.has_micros() => 6,
            (Second, TypeKind::Decimal(_, s)) => s.min(6),
            (Second, _) if !amount.is_integer() => 6,
            _ => 0,
        }
    }

    /// Its amount is an integer.
    pub fn is_whole(self) -> bool {
        matches!(
            self,
            Microsecond | Minute | Hour | Day | Week | Month | Quarter | Year
        )
    }

    /// It can give microseconds.
    pub fn has_micros(self) -> bool {
        matches!(
            self,
            Microsecond | SecondMicrosecond | MinuteMicrosecond | HourMicrosecond | DayMicrosecond
        )
    }
}

/// An amount of time: months and microseconds apart, because months have no fixed length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interval {
    /// Months.
    pub months: i64,
    /// Microseconds.
    pub micros: i128,
}

/// The integer that a text begins with, 0 if with none: what follows its digits, an exponent too, does not count.
fn leading_integer(text: &[u8]) -> i128 {
    let text = text.trim_ascii_start();
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    let n = (digits.iter().take_while(|b| b.is_ascii_digit())).fold(0i128, |n, b| {
        n.saturating_mul(10).saturating_add(i128::from(b - b'0'))
    });
    if negative { -n } else { n }
}

impl Interval {
    /// Reads an interval's amount; `None` if it is no number where one is needed.
    pub fn from_value(v: ValueRef<'_>, unit: IntervalUnit) -> Option<Interval> {
        use narwal_types::convert::{NoWarnings, to_decimal, to_integer};
        // Beyond all dates already; it can be added and negated.
        const FAR: i128 = 1 << 100;
        let us = |n: i128| Interval {
            months: 0,
            micros: n.clamp(-FAR, FAR),
        };
        let int = || -> i128 {
            match v {
                // Numbers are rounded, text is cut.
                ValueRef::Str(s) | ValueRef::Bytes(s) => leading_integer(s),
                _ => to_integer(v, &mut NoWarnings),
            }
        };
        let months = |n: i128| Interval {
            months: n.clamp(-1_000_000, 1_000_000) as i64,
            micros: 0,
        };
        let s = SECOND as i128;
        Some(match unit {
            Microsecond => us(int()),
            Second => {
                let d = to_decimal(v, &mut NoWarnings).truncate(6);
                us(d.checked_mul(&Decimal::from(SECOND))?.to_i128()?)
            }
            Minute => us(int().saturating_mul(60 * s)),
            Hour => us(int().saturating_mul(3600 * s)),
            Day => us(int().saturating_mul(DAY as i128)),
            Week => us(int().saturating_mul(7 * DAY as i128)),
            Month => months(int()),
            Quarter => months(int().saturating_mul(3)),
            Year => months(int().saturating_mul(12)),
            _ => return Self::composite(&v.to_text(), unit),
        })
    }

    /// `'1 2:3:4.5'`: numbers with anything between them, the last ones are the smallest units.
    fn composite(text: &str, unit: IntervalUnit) -> Option<Interval> {
        let t = text.trim();
        let (neg, t) = match t.strip_prefix('-') {
            Some(r) => (true, r),
            None => (false, t),
        };
        let mut parts: Vec<&str> = t
            .split(|c: char| !c.is_ascii_digit())
            .filter(|p| !p.is_empty())
            .collect();
        let (want, has_us) = match unit {
            SecondMicrosecond => (2, true),
            MinuteMicrosecond => (3, true),
            HourMicrosecond => (4, true),
            DayMicrosecond => (5, true),
            MinuteSecond | HourMinute | DayHour | YearMonth => (2, false),
            HourSecond | DayMinute => (3, false),
            DaySecond => (4, false),
            _ => return None,
        };
        // A number of 20 digits is none, whatever its digits are.
        if parts.len() > want || parts.iter().any(|p| p.len() >= 20) {
            return None;
        }
        let mut us = 0i128;
        if has_us && !parts.is_empty() {
            // A fraction of a second: its digits count from the left.
            let f = parts.pop()?;
            let n: i128 = f.get(..f.len().min(6))?.parse().ok()?;
            us = n * 10i128.pow(6 - f.len().min(6) as u32);
        }
        let n: Vec<i128> = parts
            .iter()
            .map(|p| p.parse::<i64>().unwrap_or(i64::MAX).into())
            .collect();
        // From the smallest unit up.
        let scales: &[i128] = match unit {
            YearMonth => &[1, 12],
            DayHour => &[3600, 86_400],
            HourMinute | DayMinute => &[60, 3600, 86_400],
            _ => &[1, 60, 3600, 86_400],
        };
        let mut total = 0i128;
        for (v, scale) in n.iter().rev().zip(scales) {
            total += v.saturating_mul(*scale);
        }
        let sign = if neg { -1 } else { 1 };
        Some(if unit == YearMonth {
            Interval {
                months: (total * sign).clamp(-1_000_000, 1_000_000) as i64,
                micros: 0,
            }
        } else {
            Interval {
                months: 0,
                micros: (total * SECOND as i128 + us) * sign,
            }
        })
    }

    /// The opposite.
    pub fn negate(self) -> Self {
        Interval {
            months: -self.months,
            micros: -self.micros,
        }
    }

    /// Adds to a datetime; `None` outside of the years 0 to 9999, or for a zero date.
    pub fn add_to(self, t: DateTime) -> Option<DateTime> {
        let mut t = t;
        if self.months != 0 {
            let m = t.date.year as i64 * 12 + t.date.month as i64 - 1 + self.months;
            if !(0..120_000).contains(&m) || t.date.month == 0 {
                return None;
            }
            let (year, month) = ((m / 12) as u16, (m % 12) as u8 + 1);
            t.date = Date::new(year, month, t.date.day.min(days_in_month(year, month)));
        }
        if self.micros != 0 {
            if !t.date.is_real() {
                return None;
            }
            let mut us = t.unix_micros() as i128 + self.micros;
            if t.date.is_short_of_a_day() {
                us += i128::from(DAY);
            }
            t = DateTime::from_unix_micros(i64::try_from(us).ok()?, t.fsp)?;
            // Days are counted from the year 1 on.
            if t.date.year == 0 {
                return None;
            }
        }
        Some(t)
    }
}

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const DAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// Week and its year, by WEEK()'s mode: bit 0 = weeks start on Monday, bit 1 = weeks from 1 (the year may be another),
/// bit 2 = week 1 is the first with a first weekday (else the first with four days).
pub fn week(d: &Date, mode: u64) -> (u32, u32) {
    let monday = mode & 1 != 0;
    let mut from_one = mode & 2 != 0;
    // The meaning of the third bit depends on the first.
    let first_weekday = if monday { mode & 4 != 0 } else { mode & 4 == 0 };
    let day = d.day_number();
    let weekday_of = |days: i64| -> i64 {
        // Day 2 is a Monday.
        let monday0 = (days - 2).rem_euclid(7);
        if monday { monday0 } else { (monday0 + 1) % 7 }
    };
    let year_days = |y: i64| 365 + narwal_types::temporal::is_leap(y as u16) as i64;
    let mut year = d.year as i64;
    let mut first = Date::new(d.year, 1, 1).day_number();
    let mut weekday = weekday_of(first);
    if d.month == 1 && (d.day as i64) <= 7 - weekday {
        if !from_one && (first_weekday && weekday != 0 || !first_weekday && weekday >= 4) {
            return (0, year as u32);
        }
        if first_weekday && weekday != 0 || !first_weekday && weekday >= 4 {
            from_one = true;
            year -= 1;
            let n = year_days(year);
            first -= n;
            weekday = (weekday + 53 * 7 - n).rem_euclid(7);
        }
    }
    let days = if first_weekday && weekday != 0 || !first_weekday && weekday >= 4 {
        day - (first + (7 - weekday))
    } else {
        day - (first - weekday)
    };
    if from_one && days >= 52 * 7 {
        weekday = (weekday + year_days(year)) % 7;
        if !first_weekday && weekday < 4 || first_weekday && weekday == 0 {
            return (1, (year + 1) as u32);
        }
    }
    // Without a month it may be negative: then as MariaDB counts, without a sign.
    (days as u32 / 7 + 1, year as u32)
}

fn pad(out: &mut String, v: u64, width: usize) {
    let s = v.to_string();
    for _ in s.len()..width {
        out.push('0');
    }
    out.push_str(&s);
}

/// DATE_FORMAT() and, with a time of more than 24 hours in `micros`, TIME_FORMAT(). `None` where the format asks for the name
/// of a month or day that a zero date doesn't have. `names`: asked for the language where a name is wanted.
pub fn format(
    date: &Date,
    micros: u64,
    fmt: &str,
    names: &dyn Fn() -> &'static Locale,
) -> Option<String> {
    let mut out = String::with_capacity(fmt.len() * 2);
    let secs = micros / SECOND as u64;
    let (h, mi, s) = (secs / 3600, secs / 60 % 60, secs % 60);
    let h12 = (h + 11) % 12 + 1;
    let ampm = if h % 24 < 12 { "AM" } else { "PM" };
    let mut it = fmt.chars();
    while let Some(c) = it.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        let Some(c) = it.next() else {
            out.push('%');
            break;
        };
        match c {
            'a' => out.push_str(names().day(real(date)?, true)?),
            'W' => out.push_str(names().day(real(date)?, false)?),
            'b' => out.push_str(names().month(date.month, true)?),
            'M' => out.push_str(names().month(date.month, false)?),
            'c' => pad(&mut out, date.month as u64, 1),
            'm' => pad(&mut out, date.month as u64, 2),
            'D' => {
                pad(&mut out, date.day as u64, 1);
                out.push_str(match date.day {
                    11..=13 => "th",
                    d if d % 10 == 1 => "st",
                    d if d % 10 == 2 => "nd",
                    d if d % 10 == 3 => "rd",
                    _ => "th",
                });
            }
            'd' => pad(&mut out, date.day as u64, 2),
            'e' => pad(&mut out, date.day as u64, 1),
            'f' => pad(&mut out, micros % SECOND as u64, 6),
            'H' => pad(&mut out, h, 2),
            'k' => pad(&mut out, h, 1),
            'h' | 'I' => pad(&mut out, h12, 2),
            'l' => pad(&mut out, h12, 1),
            'i' => pad(&mut out, mi, 2),
            'j' if date.month == 0 => return None,
            'j' => pad(&mut out, date.day_of_year() as u64, 3),
            'p' => out.push_str(ampm),
            'r' => {
                pad(&mut out, h12, 2);
                out.push(':');
                pad(&mut out, mi, 2);
                out.push(':');
                pad(&mut out, s, 2);
                out.push(' ');
                out.push_str(ampm);
            }
            'S' | 's' => pad(&mut out, s, 2),
            'T' => {
                pad(&mut out, h, 2);
                out.push(':');
                pad(&mut out, mi, 2);
                out.push(':');
                pad(&mut out, s, 2);
            }
            'U' => pad(&mut out, week(date, 0).0 as u64, 2),
            'u' => pad(&mut out, week(date, 1).0 as u64, 2),
            'V' => pad(&mut out, week(date, 2).0 as u64, 2),
            'v' => pad(&mut out, week(date, 3).0 as u64, 2),
            'X' => pad(&mut out, week(date, 2).1 as u64, 4),
            'x' => pad(&mut out, week(date, 3).1 as u64, 4),
            'w' => {
                real(date)?;
                pad(&mut out, (date.weekday() as u64 + 1) % 7, 1)
            }
            'Y' => pad(&mut out, date.year as u64, 4),
            'y' => pad(&mut out, date.year as u64 % 100, 2),
            c => out.push(c),
        }
    }
    Some(out)
}

/// The weekday, 0 for Monday, of a date that has a month.
fn real(d: &Date) -> Option<usize> {
    (d.month > 0).then(|| d.weekday() as usize)
}

/// Most characters of a moment in a format.
pub fn format_chars(fmt: &str) -> u64 {
    let mut it = fmt.chars();
    let mut chars = 0;
    while let Some(c) = it.next() {
        chars += match (c == '%').then(|| it.next()).flatten() {
            Some('M' | 'W') => 64,
            Some('a' | 'b') => 32,
            Some('r') => 11,
            Some('T') => 8,
            Some('H' | 'k') => 7,
            Some('f') => 6,
            Some('D' | 'Y' | 'x' | 'X') => 4,
            Some('j') => 3,
            Some('u' | 'U' | 'v' | 'V' | 'y' | 'm' | 'c' | 'd' | 'e') => 2,
            Some('h' | 'i' | 'I' | 'l' | 'p' | 'S' | 's') => 2,
            _ => 1,
        };
    }
    chars
}

/// What STR_TO_DATE() returns for a format: a date, a time or a datetime.
pub fn format_kind(fmt: &str) -> TypeKind {
    let mut it = fmt.chars();
    let (mut date, mut time, mut frac) = (false, false, false);
    // Of a day alone with a time, a time is made.
    let mut more_than_days = false;
    while let Some(c) = it.next() {
        if c == '%' {
            match it.next() {
                Some('f') => {
                    time = true;
                    frac = true;
                }
                Some('H' | 'k' | 'h' | 'I' | 'l' | 'i' | 'p' | 'r' | 'S' | 's' | 'T') => {
                    time = true
                }
                Some(c) if c.is_ascii_alphabetic() => {
                    date = true;
                    more_than_days |= !matches!(c, 'd' | 'e' | 'D');
                }
                _ => {}
            }
        }
    }
    let fsp = if frac { 6 } else { 0 };
    match (date, time) {
        (_, false) => TypeKind::Date,
        (false, true) => TypeKind::Time(fsp),
        (true, true) if !more_than_days => TypeKind::Time(fsp),
        (true, true) => TypeKind::DateTime(fsp),
    }
}

/// What STR_TO_DATE() has read of a text.
#[derive(Default)]
struct Read {
    year: u64,
    month: u64,
    day: u64,
    hour: u64,
    minute: u64,
    second: u64,
    micros: u64,
    /// PM; `None`: the hours are those of a day.
    pm: Option<bool>,
    /// %j
    day_of_year: Option<u64>,
    /// %w, %W and %a: 1 is Monday, 7 Sunday.
    weekday: Option<u64>,
    /// %U, %u, %V and %v.
    week: Option<Week>,
    /// %X (true) and %x: the year of the week.
    week_year: Option<(u64, bool)>,
}

/// A week as STR_TO_DATE() has read it.
struct Week {
    number: u64,
    /// Weeks begin on Sunday.
    sunday: bool,
    /// %V and %v: of a year of weeks.
    of_week_year: bool,
}

impl Week {
    /// The day of that week; `None` if year and week do not go together, or there is no such day.
    fn day(&self, year: u64, week_year: Option<(u64, bool)>, weekday: u64) -> Option<Date> {
        let year = match (self.of_week_year, week_year) {
            (false, None) => year,
            (true, Some((year, sunday))) if sunday == self.sunday => year,
            _ => return None,
        };
        let first = Date::new(u16::try_from(year).ok()?, 1, 1);
        let mut days = first.day_number() + (self.number as i64 - 1) * 7;
        days += match self.sunday {
            true => {
                let before = (i64::from(first.weekday()) + 1) % 7;
                (if before == 0 { 0 } else { 7 }) - before + (weekday % 7) as i64
            }
            false => {
                let before = i64::from(first.weekday());
                (if before <= 3 { 0 } else { 7 }) - before + weekday as i64 - 1
            }
        };
        // The year 0 has no such days.
        (days > 365).then(|| Date::from_unix_days(days - Date::new(1970, 1, 1).day_number()))?
    }
}

/// Takes a number of `max` digits at most.
fn take_number(s: &mut &str, max: usize) -> Option<u64> {
    let n = s.bytes().take(max).take_while(u8::is_ascii_digit).count();
    let v = s.get(..n)?.parse().ok()?;
    *s = &s[n..];
    Some(v)
}

/// Takes one of these names, or of their first letters, and gives its place from 1. As many letters of it are enough as no
/// other has.
fn take_name(s: &mut &str, names: &[&str], letters: Option<usize>) -> Option<u64> {
    let n = s.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (word, rest) = s.split_at(n);
    let begins = |name: &str| {
        let name = &name[..letters.unwrap_or(name.len())];
        n > 0 && name.get(..n).is_some_and(|p| p.eq_ignore_ascii_case(word))
    };
    let mut found = names.iter().enumerate().filter(|(_, name)| begins(name));
    let (place, name) = found.next()?;
    // "Ma" may be March or May, "May" is not March.
    let whole = letters.unwrap_or(name.len()) == n;
    if !whole && found.next().is_some() {
        return None;
    }
    *s = rest;
    Some(place as u64 + 1)
}

/// A year of two digits.
fn full_year(y: u64) -> u64 {
    y + if y < 70 { 2000 } else { 1900 }
}

impl Read {
    /// Reads what stands for `%c`.
    fn part(&mut self, c: char, s: &mut &str) -> Option<()> {
        let before = s.len();
        match c {
            'Y' => {
                self.year = take_number(s, 4)?;
                if before - s.len() <= 2 {
                    self.year = full_year(self.year);
                }
            }
            'y' => self.year = full_year(take_number(s, 2)?),
            'm' | 'c' => self.month = take_number(s, 2)?,
            'M' => self.month = take_name(s, &MONTHS, None)?,
            'b' => self.month = take_name(s, &MONTHS, Some(3))?,
            'd' | 'e' => self.day = take_number(s, 2)?,
            'D' => {
                self.day = take_number(s, 2)?;
                *s = s.get(2..)?;
            }
            'H' | 'k' => self.hour = take_number(s, 2)?,
            'h' | 'I' | 'l' => {
                self.hour = take_number(s, 2)?;
                if self.hour == 0 || self.hour > 12 {
                    return None;
                }
                self.pm = self.pm.or(Some(false));
            }
            'i' => self.minute = take_number(s, 2)?,
            's' | 'S' => self.second = take_number(s, 2)?,
            'f' => {
                let v = take_number(s, 6)?;
                self.micros = v * 10u64.pow(6 - (before - s.len()) as u32);
            }
            'p' => {
                // It belongs to an hour of twelve that stands before it.
                self.pm?;
                self.pm = Some(match s.get(..2)?.to_ascii_uppercase().as_str() {
                    "AM" => false,
                    "PM" => true,
                    _ => return None,
                });
                *s = &s[2..];
            }
            'W' => self.weekday = Some(take_name(s, &DAYS, None)?),
            'a' => self.weekday = Some(take_name(s, &DAYS, Some(3))?),
            'w' => {
                let day = take_number(s, 1).filter(|d| *d < 7)?;
                self.weekday = Some(if day == 0 { 7 } else { day });
            }
            'j' => self.day_of_year = Some(take_number(s, 3)?),
            'U' | 'u' | 'V' | 'v' => {
                let of_week_year = matches!(c, 'V' | 'v');
                let number = take_number(s, 2)?;
                if number > 53 || (of_week_year && number == 0) {
                    return None;
                }
                self.week = Some(Week {
                    number,
                    sunday: matches!(c, 'U' | 'V'),
                    of_week_year,
                });
            }
            'X' | 'x' => self.week_year = Some((take_number(s, 4)?, c == 'X')),
            // Any such characters.
            '.' => *s = s.trim_start_matches(|c: char| c.is_ascii_punctuation()),
            '@' => *s = s.trim_start_matches(char::is_alphabetic),
            '#' => *s = s.trim_start_matches(|c: char| c.is_ascii_digit()),
            _ => return None,
        }
        Some(())
    }

    /// The value, of the kind that the format says; `None` if there is no such time.
    fn value(self, kind: TypeKind, rules: DateRules) -> Option<Value> {
        let hour = match self.pm {
            Some(pm) => self.hour % 12 + if pm { 12 } else { 0 },
            None => self.hour,
        };
        let year = u16::try_from(self.year).ok()?;
        let mut date = Date::new(year, self.month as u8, self.day as u8);
        if let Some(n) = self.day_of_year {
            date = Date::from_unix_days(Date::new(year, 1, 1).unix_days() + n as i64 - 1)?;
        }
        if let (Some(week), Some(weekday)) = (&self.week, self.weekday) {
            date = week.day(self.year, self.week_year, weekday)?;
        }
        if self.month > 12 || self.day > 31 || self.minute > 59 || self.second > 59 {
            return None;
        }
        let seconds = (hour * 60 + self.minute) * 60 + self.second;
        let micros = seconds * SECOND as u64 + self.micros;
        // A month takes any day up to the 31st.
        let allowed = |d: &Date, micros: u64| {
            let day = d.day.min(days_in_month(d.year, d.month));
            let near = Date { day, ..*d };
            [near, *d]
                .into_iter()
                .any(|date| rules.allows_moment(&DateTime::new(date, micros, 6)))
        };
        match kind {
            TypeKind::Time(fsp) => {
                let days = self.day * 24 * 3600 * SECOND as u64;
                Some(Value::Time(Time::from_micros((days + micros) as i64, fsp)))
            }
            TypeKind::Date => allowed(&date, 0).then_some(Value::Date(date)),
            kind => {
                let fsp = match kind {
                    TypeKind::DateTime(f) => f,
                    _ => 0,
                };
                (hour < 24 && allowed(&date, micros))
                    .then_some(Value::DateTime(DateTime::new(date, micros, fsp)))
            }
        }
    }
}

/// STR_TO_DATE(), and what is left of the text; `None` if it does not follow the format.
pub fn parse<'t>(text: &'t str, fmt: &str, rules: DateRules) -> Option<(Value, &'t str)> {
    let mut s = text.trim_start();
    let mut read = Read::default();
    let expanded = fmt.replace("%T", "%H:%i:%s").replace("%r", "%h:%i:%s %p");
    let mut it = expanded.chars();
    while let Some(c) = it.next() {
        if s.is_empty() {
            break;
        }
        if c.is_whitespace() {
            s = s.trim_start();
            continue;
        }
        if c != '%' {
            s = s.trim_start().strip_prefix(c)?;
            continue;
        }
        let c = it.next()?;
        if c != 'f' {
            s = s.trim_start();
        }
        read.part(c, &mut s)?;
    }
    Some((read.value(format_kind(fmt), rules)?, s))
}

/// EXTRACT(unit FROM t).
pub fn extract(unit: IntervalUnit, date: &Date, micros: u64) -> i64 {
    let us = (micros % SECOND as u64) as i64;
    let secs = (micros / SECOND as u64) as i64;
    let (h, mi, s) = (secs / 3600, secs / 60 % 60, secs % 60);
    let day = date.day as i64;
    match unit {
        Microsecond => us,
        Second => s,
        Minute => mi,
        Hour => h,
        Day => day,
        Week => week(date, 0).0 as i64,
        Month => date.month as i64,
        Quarter => (date.month as i64 + 2) / 3,
        Year => date.year as i64,
        SecondMicrosecond => s * 1_000_000 + us,
        MinuteMicrosecond => (mi * 100 + s) * 1_000_000 + us,
        MinuteSecond => mi * 100 + s,
        HourMicrosecond => (h * 10_000 + mi * 100 + s) * 1_000_000 + us,
        HourSecond => h * 10_000 + mi * 100 + s,
        HourMinute => h * 100 + mi,
        DayMicrosecond => (((day * 100 + h) * 100 + mi) * 100 + s) * 1_000_000 + us,
        DaySecond => ((day * 100 + h) * 100 + mi) * 100 + s,
        DayMinute => (day * 100 + h) * 100 + mi,
        DayHour => day * 100 + h,
        YearMonth => date.year as i64 * 100 + date.month as i64,
    }
}

/// TIMESTAMPDIFF(unit, a, b): whole units from `a` to `b`.
pub fn diff(unit: IntervalUnit, a: DateTime, b: DateTime) -> i64 {
    let counted =
        |t: DateTime| t.date.day_number() * DAY + (t.unix_micros() - t.date.unix_days() * DAY);
    let us = counted(b) - counted(a);
    let months = || {
        let (lo, hi, sign) = if us < 0 { (b, a, -1) } else { (a, b, 1) };
        let mut m = (hi.date.year as i64 - lo.date.year as i64) * 12 + hi.date.month as i64
            - lo.date.month as i64;
        if (hi.date.day, hi.micros) < (lo.date.day, lo.micros) {
            m -= 1;
        }
        m * sign
    };
    match unit {
        Microsecond => us,
        Second => us / SECOND,
        Minute => us / (60 * SECOND),
        Hour => us / (3600 * SECOND),
        Day => us / DAY,
        Week => us / (7 * DAY),
        Month => months(),
        Quarter => months() / 3,
        Year => months() / 12,
        _ => 0,
    }
}
