//! EVERY: how often an event runs.

use narwal_sql::expr::{Interval, IntervalUnit};
use narwal_types::temporal::SECOND;
use narwal_types::{DateTime, SqlError, SqlResult, Value, Zone, errors};
use serde::{Deserialize, Serialize};

/// Beyond that error 1542.
const MOST: i64 = 1_000_000_000;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How often an event runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Every {
    /// In the smallest parts of the unit, as `mysql.event` has it: months of QUARTER, days of WEEK.
    pub amount: i64,
    /// Its word in upper case.
    pub unit: String,
}

/// From one time to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Months of the calendar.
    Months(i64),
    /// Days of the calendar.
    Days(i64),
    Seconds(i64),
}

/// Seconds of a unit's smallest part; `None` for months.
fn part(unit: IntervalUnit) -> Option<i64> {
    use IntervalUnit::{Day, DayHour, DayMinute, Hour, HourMinute, Minute, Week};
    Some(match unit {
        _ if unit.has_months() => return None,
        Week | Day => DAY,
        Hour | DayHour => HOUR,
        Minute | DayMinute | HourMinute => MINUTE,
        _ => 1,
    })
}

impl Every {
    /// Errors 1235, 1525, 1542.
    pub(crate) fn from_value(v: &Value, unit: &str) -> SqlResult<Every> {
        let wrong = |text: &str| errors::WRONG_VALUE.with([&"INTERVAL", &text]);
        let unit = IntervalUnit::from_name(unit).ok_or_else(|| wrong(unit))?;
        if unit.has_micros() {
            return Err(SqlError::unsupported("MICROSECOND"));
        }
        if matches!(v, Value::Null) {
            return Err(wrong("NULL"));
        }
        let text = || v.as_ref().to_text().to_string();
        // Beyond that an interval has other limits.
        let beyond = |n: f64| n.abs() > MOST as f64;
        if text().parse().is_ok_and(beyond) {
            return Err(errors::EVENT_INTERVAL_NOT_POSITIVE_OR_TOO_BIG.plain());
        }
        let interval = Interval::from_value(v.as_ref(), unit).ok_or_else(|| wrong(&text()))?;
        let amount = match part(unit) {
            None if unit == IntervalUnit::Year => interval.months / 12,
            None => interval.months,
            Some(seconds) => {
                let n = interval.micros / i128::from(SECOND) / i128::from(seconds);
                i64::try_from(n).unwrap_or(i64::MAX)
            }
        };
        if !(1..=MOST).contains(&amount) {
            return Err(errors::EVENT_INTERVAL_NOT_POSITIVE_OR_TOO_BIG.plain());
        }
        Ok(Every {
            amount,
            unit: unit.name().to_uppercase(),
        })
    }

    /// Error 1235 for a unit that no statement takes: only a row of `mysql.event` that somebody has written has it.
    pub(crate) fn check_unit(&self) -> SqlResult<()> {
        match IntervalUnit::from_name(&self.unit) {
            Some(unit) if unit.has_micros() => Err(SqlError::unsupported("MICROSECOND")),
            _ => Ok(()),
        }
    }

    /// The amount as it is written in front of the unit.
    pub(crate) fn text(&self) -> String {
        let n = self.amount;
        match self.unit.as_str() {
            "QUARTER" => (n / 3).to_string(),
            "WEEK" => (n / 7).to_string(),
            "YEAR_MONTH" => format!("'{}-{}'", n / 12, n % 12),
            "DAY_HOUR" => format!("'{} {}'", n / 24, n % 24),
            "DAY_MINUTE" => format!("'{} {}:{}'", n / 1440, n / 60 % 24, n % 60),
            "DAY_SECOND" => {
                let (d, h, m) = (n / DAY, n / HOUR % 24, n / MINUTE % 60);
                format!("'{d} {h}:{m}:{}'", n % 60)
            }
            "HOUR_MINUTE" | "MINUTE_SECOND" => format!("'{}:{}'", n / 60, n % 60),
            "HOUR_SECOND" => format!("'{}:{}:{}'", n / HOUR, n / MINUTE % 60, n % 60),
            _ => n.to_string(),
        }
    }

    fn step(&self) -> Step {
        match self.unit.as_str() {
            "YEAR" => Step::Months(12 * self.amount),
            "QUARTER" | "MONTH" | "YEAR_MONTH" => Step::Months(self.amount),
            "WEEK" | "DAY" => Step::Days(self.amount),
            "HOUR" | "DAY_HOUR" => Step::Seconds(HOUR * self.amount),
            "MINUTE" | "DAY_MINUTE" | "HOUR_MINUTE" => Step::Seconds(MINUTE * self.amount),
            _ => Step::Seconds(self.amount),
        }
    }

    /// The first time from `from` on, in seconds since 1970, of those that begin at `starts`. Days and months are those of the
    /// zone's clocks.
    pub(crate) fn first_from(&self, starts: i64, from: i64, zone: Zone) -> Option<i64> {
        if from <= starts {
            return Some(starts);
        }
        // Rows of `mysql.event` may say what no statement does.
        if self.amount < 1 || self.check_unit().is_err() {
            return None;
        }
        let guess = match self.step() {
            Step::Seconds(n) => (from - starts) / n,
            Step::Days(n) => (from - starts) / DAY / n,
            // No month is longer.
            Step::Months(n) => (from - starts) / (31 * DAY) / n,
        };
        let mut k = (guess - 1).max(0);
        loop {
            let at = self.nth(starts, k, zone)?;
            if at >= from {
                return Some(at);
            }
            k += 1;
        }
    }

    /// The time after `k` steps.
    fn nth(&self, starts: i64, k: i64, zone: Zone) -> Option<i64> {
        let moved = match self.step() {
            Step::Seconds(n) => return starts.checked_add(n.checked_mul(k)?),
            Step::Days(n) => Interval {
                months: 0,
                micros: i128::from(n.checked_mul(k)?) * i128::from(DAY) * i128::from(SECOND),
            },
            Step::Months(n) => Interval {
                months: n.checked_mul(k)?,
                micros: 0,
            },
        };
        let local = DateTime::from_unix_micros(zone.local(starts * SECOND), 0)?;
        let local = moved.add_to(local)?;
        Some(zone.utc(local.unix_micros()).0.div_euclid(SECOND))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every(amount: &str, unit: &str) -> Every {
        Every::from_value(&Value::str(amount), unit).unwrap()
    }

    #[test]
    fn amounts_are_in_the_smallest_parts_and_written_as_mariadb_does() {
        for (given, unit, amount, text) in [
            ("2", "week", 14, "2"),
            ("2", "quarter", 6, "2"),
            ("2-5", "year_month", 29, "'2-5'"),
            ("1 2", "day_second", 62, "'0 0:1:2'"),
            ("25", "day_hour", 25, "'1 1'"),
            ("70:00", "minute_second", 4200, "'70:0'"),
            ("100", "hour_second", 100, "'0:1:40'"),
            ("1 5:7", "day_minute", 1747, "'1 5:7'"),
            ("1:30", "hour_minute", 90, "'1:30'"),
        ] {
            let e = every(given, unit);
            assert_eq!(
                (e.amount, e.text().as_str()),
                (amount, text),
                "{given} {unit}"
            );
        }
    }

    #[test]
    fn what_is_no_interval_is_refused() {
        let code = |v: Value, unit| Every::from_value(&v, unit).unwrap_err().code;
        assert_eq!(code(Value::Int(0), "day"), 1542);
        assert_eq!(code(Value::Int(-1), "day"), 1542);
        assert_eq!(code(Value::Int(10_000_000_000), "day"), 1542);
        assert_eq!(code(Value::str("222222222222222222222"), "year"), 1542);
        assert_eq!(code(Value::Null, "day"), 1525);
        assert_eq!(code(Value::str("1 2 3"), "year_month"), 1525);
        assert_eq!(code(Value::Int(1), "microsecond"), 1235);
    }

    #[test]
    fn months_and_days_are_those_of_the_clocks() {
        let (berlin, _) = Zone::region("Europe/Berlin").unwrap();
        let at = |text: &str| {
            let t =
                narwal_types::temporal_parse::parse_datetime(text.as_bytes(), Default::default());
            berlin.utc(t.unwrap().value.unix_micros()).0 / SECOND
        };
        // Over the change of the clocks in March a day has 23 hours.
        let first = every("1", "day").first_from(
            at("2026-03-28 12:00:00"),
            at("2026-03-28 12:00:01"),
            berlin,
        );
        assert_eq!(first, Some(at("2026-03-29 12:00:00")));
        // The end of February is not the end of what follows.
        let month = every("1", "month");
        let first = month.first_from(at("2026-01-31 00:00:00"), at("2026-03-01 00:00:00"), berlin);
        assert_eq!(first, Some(at("2026-03-31 00:00:00")));
        assert_eq!(
            every("10", "second").first_from(100, 101, Zone::UTC),
            Some(110)
        );
        assert_eq!(
            every("10", "second").first_from(100, 110, Zone::UTC),
            Some(110)
        );
        assert_eq!(
            every("10", "second").first_from(100, 7, Zone::UTC),
            Some(100)
        );
    }
}
