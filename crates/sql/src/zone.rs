//! TIMESTAMP values are stored in UTC and seen in the session's time zone: the one way from the one to the other.

use narwal_types::{DateTime, ValueRef, Zone};

/// A stored value of a TIMESTAMP column as a session sees it. `0000-00-00 00:00:00` is no moment and stays.
#[inline]
pub fn seen(v: ValueRef<'_>, zone: Zone) -> ValueRef<'_> {
    match v {
        ValueRef::DateTime(t) if !zone.is_utc() && !t.is_zero() => {
            let there = DateTime::from_unix_micros(zone.local(t.unix_micros()), t.fsp);
            ValueRef::DateTime(there.unwrap_or(t))
        }
        v => v,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, zone: &str) -> String {
        let t = narwal_types::temporal_parse::parse_datetime(text.as_bytes(), Default::default());
        let zone = Zone::parse(zone).unwrap().0;
        let t = t.unwrap().value;
        seen(ValueRef::DateTime(t), zone).to_text()
    }

    /// As MariaDB shows them, also at the ends of what a TIMESTAMP can hold.
    #[test]
    fn moments_in_zones() {
        for (stored, zone, want) in [
            (
                "2038-01-19 03:14:07.999999",
                "+13:00",
                "2038-01-19 16:14:07.999999",
            ),
            (
                "1970-01-01 00:00:00.500000",
                "-12:59",
                "1969-12-31 11:01:00.500000",
            ),
            (
                "1970-01-01 00:00:01.000000",
                "+00:00",
                "1970-01-01 00:00:01.000000",
            ),
            (
                "2001-07-01 12:00:00.000000",
                "Europe/Berlin",
                "2001-07-01 14:00:00.000000",
            ),
            (
                "0000-00-00 00:00:00.000000",
                "+13:00",
                "0000-00-00 00:00:00.000000",
            ),
        ] {
            assert_eq!(at(stored, zone), want, "{stored} {zone}");
        }
    }
}
