//! Time zones: an offset, or a region with its rules.

use crate::table_zone::{self, TableZone};
use crate::temporal::SECOND;
use chrono::{DateTime as Instant, LocalResult, NaiveDateTime, Offset, TimeZone};
use chrono_tz::Tz;

/// A time zone. Moments are microseconds since 1970-01-01 00:00:00, in UTC or as the zone's clocks show them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// Seconds east of UTC.
    Offset(i32),
    /// A region of the IANA database.
    Region(Tz),
    /// One that the server's users have defined.
    Table(&'static TableZone),
}

impl Default for Zone {
    fn default() -> Self {
        Zone::UTC
    }
}

fn naive(us: i64) -> Option<NaiveDateTime> {
    Instant::from_timestamp_micros(us).map(|t| t.naive_utc())
}

impl Zone {
    /// UTC.
    pub const UTC: Zone = Zone::Offset(0);

    /// A region by name, in any case, with its name as the IANA database writes it.
    pub fn region(name: &str) -> Option<(Zone, &'static str)> {
        let tz = Tz::from_str_insensitive(name).ok()?;
        Some((Zone::Region(tz), tz.name()))
    }

    /// A time zone and its canonical name: `SYSTEM` (which is UTC, whatever the machine's is), an offset from -12:59 to +13:00, a
    /// region of the IANA database, or one that users have defined.
    pub fn parse(name: &str) -> Option<(Zone, String)> {
        if name.eq_ignore_ascii_case("system") {
            return Some((Zone::UTC, "SYSTEM".into()));
        }
        if name.eq_ignore_ascii_case("utc") {
            return Some((Zone::UTC, "UTC".into()));
        }
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            if let Some((zone, name)) = Zone::region(name) {
                return Some((zone, name.to_string()));
            }
            return table_zone::find(name).map(|z| (Zone::Table(z), z.name.clone()));
        }
        let b = name.as_bytes();
        let direction = match b.first()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        let (h, m) = name[1..].split_once(':')?;
        if h.is_empty() || h.len() > 2 || m.is_empty() || m.len() > 2 {
            return None;
        }
        if !h.bytes().chain(m.bytes()).all(|c| c.is_ascii_digit()) {
            return None;
        }
        let (h, m): (i32, i32) = (h.parse().ok()?, m.parse().ok()?);
        if m > 59 {
            return None;
        }
        let seconds = direction * (h * 3600 + m * 60);
        if !(-(12 * 3600 + 59 * 60)..=13 * 3600).contains(&seconds) {
            return None;
        }
        let sign = if seconds < 0 { '-' } else { '+' };
        Some((Zone::Offset(seconds), format!("{sign}{h:02}:{m:02}")))
    }

    /// True if its clocks always show UTC.
    #[inline]
    pub fn is_utc(self) -> bool {
        self == Zone::UTC
    }

    /// The clock's time at a moment in UTC.
    #[inline]
    pub fn local(self, utc: i64) -> i64 {
        match self {
            Zone::Offset(s) => utc + i64::from(s) * SECOND,
            Zone::Region(tz) => naive(utc).map_or(utc, |t| {
                utc + i64::from(tz.offset_from_utc_datetime(&t).fix().local_minus_utc()) * SECOND
            }),
            Zone::Table(z) => z.local(utc),
        }
    }

    /// The moment in UTC at which the clock shows a time, and whether there is one: for a time that is skipped it is the moment
    /// of the skip. Of two moments it is the earlier.
    #[inline]
    pub fn utc(self, local: i64) -> (i64, bool) {
        let tz = match self {
            Zone::Offset(s) => return (local - i64::from(s) * SECOND, true),
            Zone::Region(tz) => tz,
            Zone::Table(z) => return z.utc(local),
        };
        let Some(t) = naive(local) else {
            return (local, true);
        };
        let offset = |o: &<Tz as TimeZone>::Offset| i64::from(o.fix().local_minus_utc()) * SECOND;
        match tz.offset_from_local_datetime(&t) {
            LocalResult::Single(o) => (local - offset(&o), true),
            LocalResult::Ambiguous(a, b) => (local - offset(&a).max(offset(&b)), true),
            LocalResult::None => {
                // The clocks jump from before to after by the difference of the offsets there.
                let before = self.local(local - 86_400 * SECOND) - (local - 86_400 * SECOND);
                let (mut lo, mut hi) = (local - before - 7_200 * SECOND, local - before);
                // The offset changes between these two.
                while hi - lo > SECOND {
                    let mid = lo + (hi - lo) / 2 / SECOND * SECOND;
                    if self.local(mid) - mid == before {
                        lo = mid;
                    } else {
                        hi = mid;
                    }
                }
                (hi.div_euclid(SECOND) * SECOND, false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_offsets() {
        assert_eq!(
            Zone::parse("+05:30"),
            Some((Zone::Offset(19800), "+05:30".into()))
        );
        assert_eq!(
            Zone::parse("-8:00"),
            Some((Zone::Offset(-28800), "-08:00".into()))
        );
        assert_eq!(Zone::parse("system"), Some((Zone::UTC, "SYSTEM".into())));
        let paris = Zone::parse("europe/paris").map(|z| z.1);
        assert_eq!(paris.as_deref(), Some("Europe/Paris"));
        for bad in [
            "+13:01",
            "+1",
            "5:30",
            "+05:60",
            "",
            "+",
            "Europe/Nowhere",
            "+é:00",
            "-13:00",
        ] {
            assert_eq!(Zone::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn regions() {
        let (berlin, name) = Zone::region("europe/BERLIN").unwrap();
        assert_eq!(name, "Europe/Berlin");
        assert!(Zone::region("Europe/Nowhere").is_none());
        let s = |v: i64| v * SECOND;
        // 2024-03-31 01:00:00 UTC: from 02:00 to 03:00.
        assert_eq!(berlin.local(s(1_711_846_799)), s(1_711_850_399));
        assert_eq!(berlin.local(s(1_711_846_800)), s(1_711_854_000));
        assert_eq!(berlin.utc(s(1_711_850_399)), (s(1_711_846_799), true));
        assert_eq!(berlin.utc(s(1_711_854_000)), (s(1_711_846_800), true));
        // 02:30 is skipped.
        assert_eq!(berlin.utc(s(1_711_852_200)), (s(1_711_846_800), false));
        // 2024-10-27 02:30:00 is there twice.
        assert_eq!(berlin.utc(s(1_729_996_200)), (s(1_729_989_000), true));
        assert_eq!(Zone::Offset(3600).local(0), s(3600));
        assert_eq!(Zone::Offset(3600).utc(0), (s(-3600), true));
    }
}
