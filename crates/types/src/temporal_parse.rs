//! Reading dates and times from text and numbers, as leniently as MySQL does.

use crate::temporal::{Date, DateTime, SECOND, TIME_MAX, Time, days_in_month};

/// Which dates are valid (`sql_mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DateRules {
    /// NO_ZERO_IN_DATE: month or day 0 are invalid.
    pub no_zero_in_date: bool,
    /// NO_ZERO_DATE: 0000-00-00 is invalid.
    pub no_zero_date: bool,
    /// ALLOW_INVALID_DATES: any day up to 31 is valid.
    pub allow_invalid: bool,
    /// TIME_ROUND_FRACTIONAL: digits behind those that a value can have round it; else they are cut off.
    pub rounds: bool,
}

impl DateRules {
    /// The same where only the day is wanted, which no fraction changes.
    pub fn of_day(self) -> DateRules {
        DateRules {
            rounds: false,
            ..self
        }
    }

    /// For what is only compared with: any day up to 31, so that `'2024-02-31'` is behind February.
    pub const COMPARED: DateRules = DateRules {
        no_zero_in_date: false,
        no_zero_date: false,
        allow_invalid: true,
        rounds: false,
    };

    /// True if a moment is valid under these rules. It is the zero date only if its time is zero too; the zero date with a time
    /// has zeros in its date.
    pub fn allows_moment(&self, t: &DateTime) -> bool {
        match t.date.is_zero() && t.micros > 0 {
            true => !self.no_zero_in_date,
            false => self.allows(&t.date),
        }
    }

    /// True if `d` is a valid date under these rules.
    pub fn allows(&self, d: &Date) -> bool {
        if d.is_zero() {
            return !self.no_zero_date;
        }
        if d.month > 12 || d.day > 31 || d.year > 9999 {
            return false;
        }
        if d.month == 0 || d.day == 0 {
            return !self.no_zero_in_date;
        }
        self.allow_invalid || d.day <= days_in_month(d.year, d.month)
    }
}

/// A parsed value with how clean its text was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parsed<T> {
    /// The value.
    pub value: T,
    /// Something followed that is no part of it.
    pub garbage: bool,
    /// A time part was given (for a DATETIME).
    pub has_time: bool,
}

fn two_digit_year(y: u64) -> u64 {
    if y < 70 { y + 2000 } else { y + 1900 }
}

fn number(d: &[u8]) -> u64 {
    d.iter()
        .take(18)
        .fold(0, |a, b| a * 10 + (*b - b'0') as u64)
}

/// What stands behind a point.
#[derive(Clone, Copy, Default)]
struct Fraction {
    us: u32,
    fsp: u8,
    /// The seventh digit is 5 or more.
    up: bool,
}

/// Reads digits after a point as microseconds, cut after 6; returns them and the rest.
fn fraction(s: &[u8]) -> (Fraction, &[u8]) {
    let n = s.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut us = 0u32;
    for i in 0..6 {
        us = us * 10 + s[..n].get(i).map_or(0, |b| (*b - b'0') as u32);
    }
    let fraction = Fraction {
        us,
        fsp: n.min(6) as u8,
        up: s[..n].get(6).is_some_and(|b| *b >= b'5'),
    };
    (fraction, &s[n..])
}

fn trim_start(mut s: &[u8]) -> &[u8] {
    while let [b, rest @ ..] = s
        && b.is_ascii_whitespace()
    {
        s = rest;
    }
    s
}

fn only_spaces(s: &[u8]) -> bool {
    s.iter().all(u8::is_ascii_whitespace)
}

fn make(
    (y, mo, d): (u64, u64, u64),
    (h, mi, s): (u64, u64, u64),
    f: Fraction,
    rules: DateRules,
) -> Option<DateTime> {
    if y > 9999 || mo > 12 || d > 31 || h > 23 || mi > 59 || s > 59 {
        return None;
    }
    let t = DateTime {
        date: Date::new(y as u16, mo as u8, d as u8),
        micros: (h * 3600 + mi * 60 + s) * SECOND as u64 + f.us as u64,
        fsp: f.fsp,
    };
    if !rules.allows_moment(&t) {
        return None;
    }
    let later = (f.up && rules.rounds).then(|| t.next_micro()).flatten();
    Some(later.unwrap_or(t))
}

/// Parses a date or datetime: with any punctuation between the parts (`2024-2-3 4:5:6.7`, `2024-02-03T04:05`), or only digits
/// (`20240203`, `240203040506`). `None` if it is no valid date under the rules. More than 6 digits of a fraction are cut.
pub fn parse_datetime(text: &[u8], rules: DateRules) -> Option<Parsed<DateTime>> {
    let s = trim_start(text);
    let digits = s.iter().take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let after = s.get(digits).copied();
    let compact = match after {
        None => true,
        Some(b'.') => digits >= 12,
        Some(b'T' | b't') => digits >= 6,
        Some(b) => b.is_ascii_whitespace() && digits >= 6 || digits > 4 && b.is_ascii_alphabetic(),
    };
    if compact {
        return parse_compact(s, digits, rules);
    }
    let mut rest = s;
    let mut parts = [0u64; 6];
    let mut count = 0;
    let mut year_digits = 0;
    let mut garbage = false;
    let mut behind = Fraction::default();
    while count < 6 {
        let n = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        if n == 0 {
            break;
        }
        if count == 0 {
            year_digits = n;
        }
        parts[count] = number(&rest[..n]);
        count += 1;
        rest = &rest[n..];
        let Some(&b) = rest.first() else { break };
        if count == 6 {
            if b == b'.' {
                (behind, rest) = fraction(&rest[1..]);
            }
            break;
        }
        let sep = if count == 3 {
            // Between date and time: spaces or a T, or punctuation.
            let spaces = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
            if spaces > 0 {
                spaces
            } else if matches!(b, b'T' | b't') || b.is_ascii_punctuation() {
                1
            } else {
                0
            }
        } else {
            b.is_ascii_punctuation() as usize
        };
        if sep == 0 || !rest.get(sep).is_some_and(u8::is_ascii_digit) {
            break;
        }
        rest = &rest[sep..];
    }
    garbage |= !only_spaces(rest);
    if count < 3 {
        return None;
    }
    if year_digits == 2 {
        parts[0] = two_digit_year(parts[0]);
        // Zero is no year of this century, unless there is a time behind it.
        if parts == [2000, 0, 0, 0, 0, 0] {
            parts[0] = 0;
        }
    }
    let value = make(
        (parts[0], parts[1], parts[2]),
        (parts[3], parts[4], parts[5]),
        behind,
        rules,
    )?;
    Some(Parsed {
        value,
        garbage,
        has_time: count > 3,
    })
}

fn parse_compact(s: &[u8], digits: usize, rules: DateRules) -> Option<Parsed<DateTime>> {
    let d = &s[..digits];
    let mut rest = &s[digits..];
    let ylen = if digits == 8 || digits >= 14 { 4 } else { 2 };
    if digits < 5 && ylen == 2 {
        return None;
    }
    let at = |i: usize| -> u64 {
        let a = (ylen + 2 * i).min(d.len());
        let b = (a + 2).min(d.len());
        number(&d[a..b])
    };
    let mut y = number(&d[..ylen]);
    if ylen == 2 {
        y = two_digit_year(y);
        if y == 2000 && at(0) == 0 && at(1) == 0 {
            y = 0;
        }
    }
    let mut t = (at(2), at(3), at(4));
    let mut has_time = digits > ylen + 4;
    let mut garbage = digits > ylen + 10;
    let mut behind = Fraction::default();
    if !has_time && rest.first().is_some_and(u8::is_ascii_whitespace) {
        // A date without punctuation has no time behind a space: `20020109 01:30:40` is no datetime.
        if trim_start(rest).first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
    } else if !has_time && matches!(rest.first(), Some(b'T' | b't')) {
        let tail = &rest[1..];
        match tail.iter().take_while(|b| b.is_ascii_digit()).count() {
            0 => {}
            6 => {
                let part = |i: usize| number(&tail[i..i + 2]);
                t = (part(0), part(2), part(4));
                has_time = true;
                rest = &tail[6..];
                if rest.first() == Some(&b'.') {
                    (behind, rest) = fraction(&rest[1..]);
                }
            }
            _ => return None,
        }
    } else if rest.first() == Some(&b'.') {
        (behind, rest) = fraction(&rest[1..]);
    }
    garbage |= !only_spaces(rest);
    Some(Parsed {
        value: make((y, at(0), at(1)), t, behind, rules)?,
        garbage,
        has_time,
    })
}

/// Can this be a datetime where a time is expected? Only if space or a T is between date and time, or if it is digits from start
/// to end: `01:02:03.123456` is a time with a fraction, though punctuation in its places could make it a datetime.
fn may_be_moment(s: &[u8]) -> bool {
    (s.len() >= 12 || s.contains(&b'-')) && datetime_shape(s) || is_date_and_more(s)
}

/// Three numbers with a sign of punctuation between each two, a space or a T, and a digit: `10:10:10 9` is nine o'clock.
fn is_date_and_more(s: &[u8]) -> bool {
    let mut rest = s;
    for part in 0..3 {
        let n = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let Some(sep) = rest.get(n).filter(|_| n > 0) else {
            return false;
        };
        if part < 2 && !sep.is_ascii_punctuation() {
            return false;
        }
        rest = &rest[n..];
        if part < 2 {
            rest = &rest[1..];
        }
    }
    let behind = match rest {
        [b'T' | b't', behind @ ..] => behind,
        [b, ..] if b.is_ascii_whitespace() => trim_start(rest),
        _ => return false,
    };
    behind.first().is_some_and(u8::is_ascii_digit)
}

/// True for a text that is read as a date with its time where a time is wanted.
pub fn is_moment_text(text: &[u8]) -> bool {
    let s = trim_start(text);
    may_be_moment(s) && parse_datetime(s, DateRules::COMPARED).is_some_and(|p| p.has_time)
}

/// What a text is read as where a moment, or a time, is wanted, if something follows that is no part of it.
pub fn leftover(text: &[u8], as_time: bool) -> Option<&'static str> {
    let plain = |b: &u8| b.is_ascii_digit() || matches!(b, b'-' | b':' | b' ');
    let dashed = |s: &[u8]| s[4] == b'-' && s[7] == b'-' && s.iter().all(plain);
    // What most texts look like.
    match text.len() {
        10 if !as_time && dashed(text) => return None,
        19 if dashed(text) => return None,
        _ => {}
    }
    if as_time {
        let t = parse_time_of_any_day(text, false)?;
        return t.garbage.then(|| match is_moment_text(text) {
            true => "datetime",
            false => "time",
        });
    }
    let t = parse_datetime(text, DateRules::COMPARED)?;
    t.garbage.then_some(match t.has_time {
        true => "datetime",
        false => "date",
    })
}

fn datetime_shape(s: &[u8]) -> bool {
    let digits = s.iter().take_while(|b| b.is_ascii_digit()).count();
    let end = s.len()
        - s.iter()
            .rev()
            .take_while(|b| b.is_ascii_whitespace())
            .count();
    digits >= 12
        || s[..end]
            .iter()
            .any(|b| b.is_ascii_whitespace() || matches!(b, b'T' | b't'))
}

/// Parses a time: `[-|+][D ]HH:MM[:SS[.ffffff]]`, `[-|+]HHMMSS[.ffffff]`, or the time of a datetime. The value may be beyond TIME's
/// range ([`TIME_MAX`]); the caller decides. `None` if it is no time. `rounds`: as in [`DateRules`].
pub fn parse_time(text: &[u8], rounds: bool) -> Option<Parsed<Time>> {
    time_of_day(text, rounds, false)
}

/// The same where a value is only computed with: the date before the time may be any day up to 31.
pub fn parse_time_of_any_day(text: &[u8], rounds: bool) -> Option<Parsed<Time>> {
    time_of_day(text, rounds, true)
}

/// A date is what the text of a datetime begins with.
fn begins_with_date(s: &[u8]) -> bool {
    let head = s.split(|b| b.is_ascii_whitespace() || matches!(b, b'T' | b't'));
    let head = head.into_iter().next().unwrap_or_default();
    let parts = head.split(|b| matches!(b, b'-' | b'/'));
    let digits = |p: &[u8]| !p.is_empty() && p.iter().all(u8::is_ascii_digit);
    let compact = matches!(head.len(), 12 | 14) && digits(head);
    compact || parts.clone().count() == 3 && parts.into_iter().all(digits)
}

/// What makes a number of the digits before it.
fn is_exponent(s: &[u8]) -> bool {
    let [b'e' | b'E', s @ ..] = s else {
        return false;
    };
    let digits = s.strip_prefix(b"-").or(s.strip_prefix(b"+")).unwrap_or(s);
    digits.first().is_some_and(u8::is_ascii_digit)
}

/// The time of a text that may be a date with one: `Some(None)` if it is a wrong date, `None` if it is none.
fn time_of_moment(s: &[u8], rounds: bool, allow_invalid: bool) -> Option<Option<Parsed<Time>>> {
    let any = DateRules {
        rounds,
        allow_invalid,
        ..DateRules::default()
    };
    match parse_datetime(s, any) {
        Some(p) if p.has_time => {
            let value = match allow_invalid {
                true => p.value.time_of_day(),
                false => p.value.as_time(),
            };
            Some(Some(Parsed {
                value,
                garbage: p.garbage,
                has_time: true,
            }))
        }
        // Not the year's hours.
        None if begins_with_date(s) || is_date_and_more(s) => Some(None),
        _ => None,
    }
}

fn time_of_day(text: &[u8], rounds: bool, allow_invalid: bool) -> Option<Parsed<Time>> {
    let s = trim_start(text);
    let (neg, s) = match s {
        [b'-', rest @ ..] => (true, trim_start(rest)),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, s),
    };
    if !neg && let Some(b'T' | b't') = s.trim_ascii_end().last() {
        // A date with the letter before its time, and no time.
        let date = parse_datetime(&s[..s.trim_ascii_end().len() - 1], DateRules::default());
        if date.is_some_and(|p| !p.garbage && !p.has_time) {
            return Some(Parsed {
                value: Time::default(),
                garbage: false,
                has_time: true,
            });
        }
    }
    if neg && is_date_and_more(s) {
        return None;
    }
    if !neg
        && may_be_moment(s)
        && let Some(found) = time_of_moment(s, rounds, allow_invalid)
    {
        return found;
    }
    let take = |s: &[u8]| s.iter().take_while(|b| b.is_ascii_digit()).count();
    let n = take(s);
    if n == 0 && s.first() != Some(&b'.') || n > 10 && s.get(n) == Some(&b':') {
        return None;
    }
    let mut days = 0;
    let mut head = &s[..n];
    let mut rest = &s[n..];
    let spaces = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let mut colons = false;
    // Hours behind days have more than one character behind them.
    let more = rest.trim_ascii_end().len() > spaces + 1;
    if n > 0 && spaces > 0 && more && rest.get(spaces).is_some_and(u8::is_ascii_digit) {
        days = number(head);
        rest = &rest[spaces..];
        let n = take(rest);
        head = &rest[..n];
        rest = &rest[n..];
        // `D HH` is hours even without minutes.
        colons = true;
    }
    let (h, mi, sec);
    if rest.first() == Some(&b':') {
        let mut parts = [number(head), 0, 0];
        for p in &mut parts[1..] {
            let [b':', tail @ ..] = rest else { break };
            let n = take(tail);
            if n == 0 {
                break;
            }
            *p = number(&tail[..n]);
            rest = &tail[n..];
        }
        [h, mi, sec] = parts;
    } else if colons {
        (h, mi, sec) = (number(head), 0, 0);
    } else {
        let v = number(head);
        (h, mi, sec) = (v / 10_000, v / 100 % 100, v % 100);
    }
    let mut behind = Fraction::default();
    if let [b'.', tail @ ..] = rest {
        (behind, rest) = fraction(tail);
    }
    if mi > 59 || sec > 59 || is_exponent(rest) {
        return None;
    }
    let hours = (days.min(4_000_000) * 24)
        .saturating_add(h)
        .min(100_000_000);
    let us = i64::from(behind.us) + i64::from(rounds && behind.up);
    let micros = ((hours * 3600 + mi * 60 + sec) as i64) * SECOND + us;
    Some(Parsed {
        value: Time {
            micros: if neg { -micros } else { micros },
            fsp: behind.fsp,
        },
        garbage: !only_spaces(rest),
        has_time: true,
    })
}

/// A number as a datetime: `YYMMDD`, `YYYYMMDD`, `YYMMDDHHMMSS` or `YYYYMMDDHHMMSS`; 0 is the zero date. `None` if it is no valid
/// date under the rules. The second value tells if there is a time part; without one a fraction has no meaning and is left out.
/// `us` may be a whole second, to which a fraction was rounded.
pub fn datetime_from_number(
    n: i64,
    us: u32,
    fsp: u8,
    rules: DateRules,
) -> Option<(DateTime, bool)> {
    let (n, has_time) = match n {
        0 => (0, false),
        101..=691_231 => ((n + 20_000_000) * 1_000_000, false),
        700_101..=991_231 => ((n + 19_000_000) * 1_000_000, false),
        // Below 1000-01-01 only years with a leading part make sense.
        10_000_101..=99_991_231 => (n * 1_000_000, false),
        101_000_000..=691_231_235_959 => (n + 20_000_000_000_000, true),
        700_101_000_000..=991_231_235_959 => (n + 19_000_000_000_000, true),
        10_000_101_000_000..=99_991_231_235_959 => (n, true),
        _ => return None,
    };
    let us = if has_time || n == 0 { us } else { 0 };
    let n = n as u64;
    let (d, t) = (n / 1_000_000, n % 1_000_000);
    let behind = Fraction {
        us: us.min(999_999),
        fsp,
        up: us > 999_999,
    };
    make(
        (d / 10_000, d / 100 % 100, d % 100),
        (t / 10_000, t / 100 % 100, t % 100),
        behind,
        rules,
    )
    .map(|v| (v, has_time))
}

/// Numbers from here on are dates or datetimes where a time is wanted, whose time of day counts.
pub const FIRST_DATED_TIME: i64 = 10_000_000;

/// A number as a time: `HHMMSS`; a date's or datetime's number gives its time. `None` if minutes or seconds are above 59. The value may be
/// beyond TIME's range.
pub fn time_from_number(n: i64, us: u32, fsp: u8) -> Option<Time> {
    let abs = n.unsigned_abs();
    // No date has so many digits: it is as a time beyond the last one, if it is one at all.
    if abs > 99_999_999_999_999 {
        if abs / 100 % 100 > 59 || abs % 100 > 59 {
            return None;
        }
        return Some(Time {
            micros: n.signum() * (TIME_MAX + 1),
            fsp,
        });
    }
    if n >= FIRST_DATED_TIME {
        // A whole second in microseconds is the next one, whatever the day.
        let rules = DateRules {
            rounds: true,
            ..DateRules::default()
        };
        let (d, _) = datetime_from_number(n, us, fsp, rules)?;
        return Some(Time {
            micros: d.micros as i64,
            fsp,
        });
    }
    hms_from_number(n, us, fsp)
}

/// A number as `HHMMSS`, however many hours: never a date. `None` if minutes or seconds are above 59.
pub fn hms_from_number(n: i64, us: u32, fsp: u8) -> Option<Time> {
    let abs = n.unsigned_abs();
    let (h, m, s) = (abs / 10_000, abs / 100 % 100, abs % 100);
    if m > 59 || s > 59 {
        return None;
    }
    let micros = ((h.min(100_000_000) * 3600 + m * 60 + s) as i64) * SECOND + us as i64;
    Some(Time {
        micros: if n < 0 { -micros } else { micros },
        fsp,
    })
}

impl Time {
    /// True if the value is in TIME's range.
    pub fn in_range(&self) -> bool {
        self.micros.abs() <= TIME_MAX
    }

    /// As a number, HHMMSS and microseconds, of the absolute value.
    pub fn to_number(&self) -> (u64, u32) {
        let abs = self.micros.unsigned_abs();
        let s = abs / SECOND as u64;
        (
            s / 3600 * 10_000 + s / 60 % 60 * 100 + s % 60,
            (abs % SECOND as u64) as u32,
        )
    }
}

impl DateTime {
    /// As a number, YYYYMMDDHHMMSS and microseconds.
    pub fn to_number(&self) -> (u64, u32) {
        let (h, m, s) = self.hms();
        (
            self.date.to_number() * 1_000_000 + h as u64 * 10_000 + m as u64 * 100 + s as u64,
            (self.micros % SECOND as u64) as u32,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dt(s: &str) -> Option<String> {
        parse_datetime(s.as_bytes(), DateRules::default())
            .map(|p| format!("{}{}", p.value, if p.garbage { "!" } else { "" }))
    }

    #[test]
    fn datetimes() {
        for (s, want) in [
            ("2024-02-03", "2024-02-03 00:00:00"),
            ("2024-2-3 4:5:6", "2024-02-03 04:05:06"),
            ("2024-02-03T10:11", "2024-02-03 10:11:00"),
            ("2024-02-03 10:11:12.999", "2024-02-03 10:11:12.999"),
            ("20240203", "2024-02-03 00:00:00"),
            ("240203", "2024-02-03 00:00:00"),
            ("20240203101112", "2024-02-03 10:11:12"),
            ("20240203101112.5", "2024-02-03 10:11:12.5"),
            ("24-02-03", "2024-02-03 00:00:00"),
            ("99.12.31", "1999-12-31 00:00:00"),
            ("0000-00-00", "0000-00-00 00:00:00"),
            ("2024-00-00", "2024-00-00 00:00:00"),
            ("2024-02-03abc", "2024-02-03 00:00:00!"),
            ("2024-02-03 10:11:12 x", "2024-02-03 10:11:12!"),
        ] {
            assert_eq!(dt(s).as_deref(), Some(want), "{s}");
        }
        for s in [
            "abc",
            "2024-02-30",
            "2024-13-01",
            "2024-02-03 25:00:00",
            "2024",
            "",
        ] {
            assert_eq!(dt(s), None, "{s}");
        }
    }

    #[test]
    fn times() {
        let t = |s: &str| {
            parse_time(s.as_bytes(), false)
                .map(|p| format!("{}{}", p.value, if p.garbage { "!" } else { "" }))
        };
        for (s, want) in [
            ("10:11:12", "10:11:12"),
            ("-10:11", "-10:11:00"),
            ("10:11:12.99", "10:11:12.99"),
            ("1 10:11:12", "34:11:12"),
            ("2 3", "00:00:02!"),
            ("2 03", "51:00:00"),
            ("101112", "10:11:12"),
            ("12", "00:00:12"),
            ("1112.5", "00:11:12.5"),
            ("2024-02-03 10:11:12.5", "10:11:12.5"),
            ("900:00:00", "900:00:00"),
            ("10:11:12x", "10:11:12!"),
            ("01:01:08.123456", "01:01:08.123456"),
            ("731:00:08.188", "731:00:08.188"),
            ("31:01:08.12 ", "31:01:08.12"),
            ("1 01:01:08.123456", "25:01:08.123456"),
            ("2001:01:01 12:00", "12:00:00"),
            ("2001-01-01T12:00:00", "12:00:00"),
            ("20010101123456", "12:34:56"),
        ] {
            assert_eq!(t(s).as_deref(), Some(want), "{s}");
        }
        for s in ["abc", "10:60:00", "10:11:61", ""] {
            assert_eq!(t(s), None, "{s}");
        }
    }

    #[test]
    fn numbers() {
        let d = |n| datetime_from_number(n, 0, 0, DateRules::default()).map(|(d, _)| d.to_string());
        assert_eq!(d(20_240_203).as_deref(), Some("2024-02-03 00:00:00"));
        assert_eq!(d(240_203).as_deref(), Some("2024-02-03 00:00:00"));
        assert_eq!(
            d(20_240_203_101_112).as_deref(),
            Some("2024-02-03 10:11:12")
        );
        assert_eq!(d(0).as_deref(), Some("0000-00-00 00:00:00"));
        assert_eq!(d(20_241_399), None);
        assert_eq!(d(1), None);
        assert_eq!(
            time_from_number(-101_112, 0, 0).unwrap().to_string(),
            "-10:11:12"
        );
        assert_eq!(time_from_number(6100, 0, 0), None);
    }
}
