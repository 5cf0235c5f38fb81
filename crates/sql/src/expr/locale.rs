//! Names of months and days in the languages that `lc_time_names` takes.

use crate::env::{StatementEnv, VariableScope};
use narwal_types::Value;
use std::sync::OnceLock;

/// What `MONTHNAME`, `DAYNAME` and `DATE_FORMAT` of a running MariaDB 10.11 give under each language of `lc_time_names`.
/// A line for each: its name, twelve months, their short names, seven days from Monday on, their short names.
const LINES: &str = include_str!("locales.tsv");

/// The names of one language.
#[derive(Debug)]
pub struct Locale {
    /// As `lc_time_names` has it: `de_DE`.
    pub name: &'static str,
    months: [&'static str; 12],
    short_months: [&'static str; 12],
    days: [&'static str; 7],
    short_days: [&'static str; 7],
}

/// All of them, by their numbers. The first is `en_US`.
fn all() -> &'static [Locale] {
    static ALL: OnceLock<Vec<Locale>> = OnceLock::new();
    ALL.get_or_init(|| LINES.lines().map(Locale::of_line).collect())
}

impl Locale {
    fn of_line(line: &'static str) -> Locale {
        let mut words = line.split('\t');
        let mut next = || words.next().unwrap_or_default();
        Locale {
            name: next(),
            months: std::array::from_fn(|_| next()),
            short_months: std::array::from_fn(|_| next()),
            days: std::array::from_fn(|_| next()),
            short_days: std::array::from_fn(|_| next()),
        }
    }

    /// The language of a name, whatever its case. `sr_YU` is what `sr_RS` was called.
    pub fn named(name: &str) -> Option<&'static Locale> {
        let name = match name.eq_ignore_ascii_case("sr_YU") {
            true => "sr_RS",
            false => name,
        };
        all().iter().find(|l| l.name.eq_ignore_ascii_case(name))
    }

    /// The language with a number.
    pub fn numbered(n: u64) -> Option<&'static Locale> {
        all().get(usize::try_from(n).ok()?)
    }

    /// `en_US`, for where there is no other.
    pub(crate) fn english() -> &'static Locale {
        &all()[0]
    }

    /// The session's.
    pub(crate) fn of(env: &StatementEnv) -> &'static Locale {
        let set = env
            .variables
            .system(VariableScope::Session, "lc_time_names");
        let named = match &set {
            Ok(Value::Str(s)) => Locale::named(s),
            _ => None,
        };
        named.unwrap_or_else(Locale::english)
    }

    /// A month's name, from 1; or its short one.
    pub(crate) fn month(&self, month: u8, short: bool) -> Option<&'static str> {
        let names = if short {
            &self.short_months
        } else {
            &self.months
        };
        names.get(usize::from(month).wrapping_sub(1)).copied()
    }

    /// A weekday's name, 0 for Monday; or its short one.
    pub(crate) fn day(&self, weekday: usize, short: bool) -> Option<&'static str> {
        let names = if short { &self.short_days } else { &self.days };
        names.get(weekday).copied()
    }

    /// Characters of its longest name of a month.
    pub(crate) fn month_width(&self) -> usize {
        width(&self.months)
    }

    /// Characters of its longest name of a day.
    pub(crate) fn day_width(&self) -> usize {
        width(&self.days)
    }

    /// Characters of its longest name of a month or a day.
    pub(crate) fn longest(&self) -> u64 {
        self.month_width().max(self.day_width()) as u64
    }
}

/// Characters of the longest.
fn width(names: &[&str]) -> usize {
    let each = names.iter().map(|n| n.chars().count());
    each.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_all_names() {
        assert!(all().len() > 100);
        for l in all() {
            let names = l.months.iter().chain(&l.short_months);
            let mut names = names.chain(&l.days).chain(&l.short_days);
            assert!(names.all(|n| !n.is_empty()), "{}", l.name);
        }
        let german = Locale::named("DE_de").unwrap();
        assert_eq!(german.month(3, false), Some("März"));
        assert_eq!((german.day(6, true), german.longest()), (Some("So"), 10));
    }
}
