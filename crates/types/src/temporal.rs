//! Dates and times as MySQL has them (zero dates, times beyond 24 hours).
//!
//! The packed forms are those of row events: DATE in 3 bytes, TIME2, DATETIME2 and TIMESTAMP2 with a fraction of
//! (fsp + 1) / 2 bytes.

use std::fmt;

/// Microseconds in a second.
pub const SECOND: i64 = 1_000_000;
/// Microseconds in a day.
pub const DAY: i64 = 86_400 * SECOND;
/// Largest TIME, 838:59:59.999999, in microseconds.
pub const TIME_MAX: i64 = (838 * 3600 + 59 * 60 + 59) * SECOND + 999_999;

const POW10: [u32; 7] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000];

/// A calendar date; month and day may be 0 (a zero date).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Date {
    /// 0 to 9999.
    pub year: u16,
    /// 0 to 12.
    pub month: u8,
    /// 0 to 31.
    pub day: u8,
}

/// A signed time span of up to 838:59:59.999999, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time {
    /// Microseconds, negative for negative times.
    pub micros: i64,
    /// Digits shown after the second, 0 to 6.
    pub fsp: u8,
}

/// A date with a time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DateTime {
    /// The date.
    pub date: Date,
    /// Microseconds since midnight, 0 to 86_399_999_999.
    pub micros: u64,
    /// Digits shown after the second, 0 to 6.
    pub fsp: u8,
}

/// Bytes of the fraction in the packed forms.
pub const fn fraction_bytes(fsp: u8) -> usize {
    (fsp as usize).div_ceil(2)
}

/// Cuts microseconds of a second to `fsp` digits, in the unit that the packed form stores.
fn pack_fraction(micros: u32, fsp: u8) -> u32 {
    let cut = micros - micros % POW10[6 - fsp.min(6) as usize];
    match fraction_bytes(fsp) {
        0 => 0,
        1 => cut / 10_000,
        2 => cut / 100,
        _ => cut,
    }
}

/// The reverse of `pack_fraction`.
fn unpack_fraction(frac: u32, fsp: u8) -> u32 {
    match fraction_bytes(fsp) {
        0 => 0,
        1 => frac.saturating_mul(10_000),
        2 => frac.saturating_mul(100),
        _ => frac,
    }
}

fn be(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |a, b| a << 8 | *b as u64)
}

fn push_be(out: &mut Vec<u8>, v: u64, n: usize) {
    out.extend_from_slice(&v.to_be_bytes()[8 - n..]);
}

/// True if `year` has a 29th of February.
pub const fn is_leap(year: u16) -> bool {
    // As MariaDB, for which the year 0 has 365 days.
    year != 0 && year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// Days of a month (1 to 12), 0 for any other number.
pub const fn days_in_month(year: u16, month: u8) -> u8 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + is_leap(year) as u8,
        _ => 0,
    }
}

/// Writes `v` with at least `width` digits.
fn push_dec(out: &mut Vec<u8>, v: u64, width: usize) {
    let mut b = [b'0'; 20];
    let mut i = 20;
    let mut v = v;
    while v > 0 {
        i -= 1;
        b[i] = b'0' + (v % 10) as u8;
        v /= 10;
    }
    i = i.min(20 - width);
    out.extend_from_slice(&b[i..]);
}

fn push_hms(out: &mut Vec<u8>, micros: u64, fsp: u8) {
    let s = micros / SECOND as u64;
    push_dec(out, s / 3600, 2);
    out.push(b':');
    push_dec(out, s / 60 % 60, 2);
    out.push(b':');
    push_dec(out, s % 60, 2);
    if fsp > 0 {
        let fsp = fsp.min(6);
        out.push(b'.');
        let f = (micros % SECOND as u64) as u32 / POW10[6 - fsp as usize];
        push_dec(out, f as u64, fsp as usize);
    }
}

/// The day number of 1970-01-01.
const EPOCH: i64 = 719_528;

impl Date {
    /// A date by its parts, unchecked.
    pub const fn new(year: u16, month: u8, day: u8) -> Self {
        Date { year, month, day }
    }

    /// No year and no month: a number of days.
    pub fn is_days_alone(&self) -> bool {
        self.year == 0 && self.month == 0
    }

    /// `0000-00-00`.
    pub fn is_zero(&self) -> bool {
        *self == Date::default()
    }

    /// A day of the calendar: month and day are neither 0 nor too large.
    pub fn is_real(&self) -> bool {
        self.day >= 1 && self.day <= days_in_month(self.year, self.month)
    }

    /// Packed as in row events: `year << 9 | month << 5 | day`.
    pub fn pack(&self) -> u32 {
        (self.year as u32) << 9 | (self.month as u32) << 5 | self.day as u32
    }

    /// The reverse of [`Date::pack`].
    pub fn unpack(v: u32) -> Self {
        Date {
            year: (v >> 9) as u16,
            month: (v >> 5 & 15) as u8,
            day: (v & 31) as u8,
        }
    }

    /// Days since 1970-01-01 in the proleptic Gregorian calendar. Month 0 and day 0 count as the month or day before 1.
    pub fn unix_days(&self) -> i64 {
        // Howard Hinnant's days_from_civil.
        let m = self.month as i64;
        let y = self.year as i64 - (m <= 2) as i64;
        let era = y.div_euclid(400);
        let yoe = y - era * 400;
        let mp = (m + 9) % 12;
        let doy = (153 * mp + 2) / 5 + self.day as i64 - 1;
        let doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
        era * 146_097 + doe - 719_468
    }

    /// The date `days` after 1970-01-01; `None` outside of the years 0 to 9999.
    pub fn from_unix_days(days: i64) -> Option<Self> {
        let z = days.checked_add(719_468)?;
        let era = z.div_euclid(146_097);
        let doe = z.rem_euclid(146_097);
        let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let day = (doy - (153 * mp + 2) / 5 + 1) as u8;
        let month = if mp < 10 { mp + 3 } else { mp - 9 } as u8;
        let year = yoe + era * 400 + (month <= 2) as i64;
        (0..=9999)
            .contains(&year)
            .then_some(Date::new(year as u16, month, day))
    }

    /// MySQL's day number: `TO_DAYS()`, 1 for 0000-01-01.
    pub fn day_number(&self) -> i64 {
        self.unix_days() + EPOCH + i64::from(self.is_short_of_a_day())
    }

    /// Before March of the year 0, which counts as no leap year though the calendar has it as one.
    pub fn is_short_of_a_day(&self) -> bool {
        self.year == 0 && self.month <= 2
    }

    /// 0 = Monday to 6 = Sunday (`WEEKDAY()`).
    pub fn weekday(&self) -> u8 {
        (self.day_number() - EPOCH + 3).rem_euclid(7) as u8
    }

    /// Day of the year, from 1.
    pub fn day_of_year(&self) -> u16 {
        (self.day_number() - Date::new(self.year, 1, 1).day_number() + 1) as u16
    }

    /// As a number, 20240203.
    pub fn to_number(&self) -> u64 {
        self.year as u64 * 10_000 + self.month as u64 * 100 + self.day as u64
    }

    /// Midnight of this day.
    pub fn at_midnight(self) -> DateTime {
        DateTime {
            date: self,
            micros: 0,
            fsp: 0,
        }
    }

    /// Appends `YYYY-MM-DD`.
    pub fn write(&self, out: &mut Vec<u8>) {
        push_dec(out, self.year as u64, 4);
        out.push(b'-');
        push_dec(out, self.month as u64, 2);
        out.push(b'-');
        push_dec(out, self.day as u64, 2);
    }
}

impl Time {
    /// A time of `micros` microseconds, limited to the range of TIME.
    pub fn from_micros(micros: i64, fsp: u8) -> Self {
        Time {
            micros: micros.clamp(-TIME_MAX, TIME_MAX),
            fsp,
        }
    }

    /// Appends the packed form: 3 bytes and the fraction.
    pub fn pack(&self, fsp: u8, out: &mut Vec<u8>) {
        let abs = self.micros.unsigned_abs().min(TIME_MAX as u64);
        let s = abs / SECOND as u64;
        let int = (s / 3600) << 12 | (s / 60 % 60) << 6 | (s % 60);
        let fb = fraction_bytes(fsp);
        let v = int << (8 * fb) | pack_fraction((abs % SECOND as u64) as u32, fsp) as u64;
        let zero = 0x80_0000u64 << (8 * fb);
        push_be(
            out,
            if self.micros < 0 { zero - v } else { zero + v },
            3 + fb,
        );
    }

    /// Reads the packed form; `None` if it is no valid time. `b` has 3 bytes and the fraction's.
    pub fn unpack(b: &[u8], fsp: u8) -> Option<Self> {
        let fb = fraction_bytes(fsp);
        let zero = 0x80_0000u64 << (8 * fb);
        let raw = be(b);
        let neg = raw < zero;
        let v = raw.abs_diff(zero);
        let frac = unpack_fraction((v & ((1u64 << (8 * fb)) - 1)) as u32, fsp);
        let int = v >> (8 * fb);
        let (h, m, s) = (int >> 12, int >> 6 & 63, int & 63);
        if m > 59 || s > 59 || frac as i64 >= SECOND {
            return None;
        }
        let micros = ((h * 3600 + m * 60 + s) as i64) * SECOND + frac as i64;
        (micros <= TIME_MAX).then_some(Time {
            micros: if neg { -micros } else { micros },
            fsp,
        })
    }

    /// Appends `[-]HH:MM:SS[.ffffff]`.
    pub fn write(&self, out: &mut Vec<u8>) {
        if self.micros < 0 {
            out.push(b'-');
        }
        push_hms(out, self.micros.unsigned_abs(), self.fsp);
    }

    /// Rounded half away from zero to `fsp` digits.
    pub fn round(self, fsp: u8) -> Self {
        let unit = POW10[6 - fsp.min(6) as usize] as i64;
        let half = if self.micros < 0 { -unit / 2 } else { unit / 2 };
        let micros = (self.micros + half) / unit * unit;
        Time {
            micros: if micros.abs() > TIME_MAX {
                micros.signum() * (TIME_MAX - TIME_MAX % unit)
            } else {
                micros
            },
            fsp,
        }
    }

    /// Rounded or cut to `fsp` digits.
    pub fn with_digits(self, fsp: u8, rounds: bool) -> Self {
        match rounds {
            true => self.round(fsp),
            false => self.truncate(fsp),
        }
    }

    /// Cut to `fsp` digits.
    pub fn truncate(self, fsp: u8) -> Self {
        let unit = POW10[6 - fsp.min(6) as usize] as i64;
        Time {
            micros: self.micros / unit * unit,
            fsp,
        }
    }
}

impl DateTime {
    /// A date with a time of day, unchecked.
    pub const fn new(date: Date, micros: u64, fsp: u8) -> Self {
        DateTime { date, micros, fsp }
    }

    /// The time of day alone.
    pub fn time_of_day(&self) -> Time {
        Time {
            micros: self.micros as i64,
            fsp: self.fsp,
        }
    }

    /// As a TIME keeps it: the days of a date without a year and a month are hours, other dates are left out.
    pub fn as_time(&self) -> Time {
        let days = match self.date.is_days_alone() {
            true => i64::from(self.date.day),
            false => 0,
        };
        Time {
            micros: days * DAY + self.micros as i64,
            fsp: self.fsp,
        }
    }

    /// `0000-00-00 00:00:00`.
    pub fn is_zero(&self) -> bool {
        self.date.is_zero() && self.micros == 0
    }

    /// Hour, minute, second of the day.
    pub fn hms(&self) -> (u8, u8, u8) {
        let s = self.micros / SECOND as u64;
        ((s / 3600) as u8, (s / 60 % 60) as u8, (s % 60) as u8)
    }

    /// The 40-bit integer part of the packed form without its top bit.
    fn pack_int(&self) -> u64 {
        let (h, mi, s) = self.hms();
        let ym = self.date.year as u64 * 13 + self.date.month as u64;
        (ym << 5 | self.date.day as u64) << 17 | (h as u64) << 12 | (mi as u64) << 6 | s as u64
    }

    /// Appends the packed form of DATETIME: 5 bytes and the fraction.
    pub fn pack(&self, fsp: u8, out: &mut Vec<u8>) {
        let fb = fraction_bytes(fsp);
        let v = (self.pack_int() | 1 << 39) << (8 * fb)
            | pack_fraction((self.micros % SECOND as u64) as u32, fsp) as u64;
        push_be(out, v, 5 + fb);
    }

    /// Reads the packed form of DATETIME; `None` if it is damaged. `b` has 5 bytes and the fraction's.
    pub fn unpack(b: &[u8], fsp: u8) -> Option<Self> {
        let fb = fraction_bytes(fsp);
        let raw = be(b);
        let frac = unpack_fraction((raw & ((1u64 << (8 * fb)) - 1)) as u32, fsp);
        let int = raw >> (8 * fb);
        if int >> 39 != 1 || frac as i64 >= SECOND {
            return None;
        }
        let (ymd, hms) = (int >> 17 & 0x3f_ffff, int & 0x1_ffff);
        let (ym, day) = (ymd >> 5, (ymd & 31) as u8);
        let (year, month) = ((ym / 13) as u16, (ym % 13) as u8);
        let (h, mi, s) = (hms >> 12, hms >> 6 & 63, hms & 63);
        if year > 9999 || h > 23 || mi > 59 || s > 59 {
            return None;
        }
        Some(DateTime {
            date: Date { year, month, day },
            micros: (h * 3600 + mi * 60 + s) * SECOND as u64 + frac as u64,
            fsp,
        })
    }

    /// Microseconds since 1970-01-01 00:00:00, as if this were UTC.
    pub fn unix_micros(&self) -> i64 {
        self.date.unix_days() * DAY + self.micros as i64
    }

    /// The reverse of [`DateTime::unix_micros`]; `None` outside of the years 0 to 9999.
    pub fn from_unix_micros(micros: i64, fsp: u8) -> Option<Self> {
        Some(DateTime {
            date: Date::from_unix_days(micros.div_euclid(DAY))?,
            micros: micros.rem_euclid(DAY) as u64,
            fsp,
        })
    }

    /// Appends the packed form of TIMESTAMP (`self` is in UTC): 4 bytes of seconds and the fraction; the zero value is 0.
    /// Values outside of 1970 to 2106 are limited to the range.
    pub fn pack_timestamp(&self, fsp: u8, out: &mut Vec<u8>) {
        let us = if self.is_zero() {
            0
        } else {
            self.unix_micros()
        };
        let us = us.clamp(0, u32::MAX as i64 * SECOND + 999_999);
        let fb = fraction_bytes(fsp);
        push_be(out, (us / SECOND) as u64, 4);
        push_be(out, pack_fraction((us % SECOND) as u32, fsp) as u64, fb);
    }

    /// Reads the packed form of TIMESTAMP, in UTC. 0 is the zero value.
    pub fn unpack_timestamp(b: &[u8], fsp: u8) -> Option<Self> {
        let (secs, frac) = b.split_at_checked(4)?;
        let frac = unpack_fraction(be(frac) as u32, fsp) as i64;
        if frac >= SECOND {
            return None;
        }
        let us = be(secs) as i64 * SECOND + frac;
        if us == 0 {
            return Some(DateTime {
                fsp,
                ..DateTime::default()
            });
        }
        DateTime::from_unix_micros(us, fsp)
    }

    /// Appends `YYYY-MM-DD HH:MM:SS[.ffffff]`.
    pub fn write(&self, out: &mut Vec<u8>) {
        self.date.write(out);
        out.push(b' ');
        push_hms(out, self.micros, self.fsp);
    }

    /// Rounded half up to `fsp` digits; `None` if that leaves the year 9999. Zero dates and those of the year 0 carry no further
    /// than the day.
    pub fn round(self, fsp: u8) -> Option<Self> {
        let unit = POW10[6 - fsp.min(6) as usize] as u64;
        let micros = (self.micros + unit / 2) / unit * unit;
        if micros < DAY as u64 {
            return Some(DateTime {
                micros,
                fsp,
                ..self
            });
        }
        if !self.date.is_real() || self.date.year == 0 {
            return None;
        }
        Some(DateTime {
            date: Date::from_unix_days(self.date.unix_days() + 1)?,
            micros: micros - DAY as u64,
            fsp,
        })
    }

    /// One microsecond later; `None` if that leaves the year 9999, or the day of a zero date.
    pub(crate) fn next_micro(self) -> Option<Self> {
        let fsp = self.fsp;
        let later = DateTime {
            micros: self.micros + 1,
            ..self
        };
        later.round(6).map(|t| DateTime { fsp, ..t })
    }

    /// Rounded or cut to `fsp` digits; cut if rounding leaves the year 9999.
    pub fn with_digits(self, fsp: u8, rounds: bool) -> Self {
        let rounded = rounds.then(|| self.round(fsp)).flatten();
        rounded.unwrap_or_else(|| self.truncate(fsp))
    }

    /// Cut to `fsp` digits.
    pub fn truncate(self, fsp: u8) -> Self {
        let unit = POW10[6 - fsp.min(6) as usize] as u64;
        DateTime {
            micros: self.micros / unit * unit,
            fsp,
            ..self
        }
    }
}

macro_rules! display_by_write {
    ($($t:ty),*) => {$(
        impl fmt::Display for $t {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut b = Vec::with_capacity(32);
                self.write(&mut b);
                f.write_str(std::str::from_utf8(&b).map_err(|_| fmt::Error)?)
            }
        }
    )*};
}
display_by_write!(Date, Time, DateTime);
