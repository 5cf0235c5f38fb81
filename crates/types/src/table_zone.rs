//! Time zones that a server's users have defined: their rules are rows of tables, which the server's upper rooms read.

use crate::temporal::SECOND;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A time zone by its transitions.
#[derive(Debug, PartialEq, Eq)]
pub struct TableZone {
    /// Its name as the table has it.
    pub name: String,
    /// Seconds east of UTC before the first transition.
    pub first: i32,
    /// Transitions in order: seconds since 1970, and the seconds east of UTC from then on.
    pub transitions: Vec<(i64, i32)>,
}

/// Reads a zone's rules by its name; `None` if there is no such zone.
pub type ZoneReader = Box<dyn Fn(&str) -> Option<TableZone> + Send + Sync>;

/// As many zones are kept, for as long as the process lives.
const MOST: usize = 4096;

static READERS: RwLock<Vec<ZoneReader>> = RwLock::new(Vec::new());
static KNOWN: RwLock<BTreeMap<String, &'static TableZone>> = RwLock::new(BTreeMap::new());

// Both lists are whole at any time: a thread that has panicked with one of them leaves nothing half done.

fn read<T>(of: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    of.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(of: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    of.write().unwrap_or_else(PoisonError::into_inner)
}

/// Names that no region of the IANA database has are asked of this reader, too.
pub fn read_zones_by(reader: ZoneReader) {
    write(&READERS).push(reader);
}

/// A zone by its name in any case. Its rules are read once: changes of the tables hold from the next start on, as in
/// MariaDB.
pub(crate) fn find(name: &str) -> Option<&'static TableZone> {
    let key = name.to_lowercase();
    if let Some(zone) = read(&KNOWN).get(&key) {
        return Some(zone);
    }
    let zone = read(&READERS).iter().find_map(|r| r(name))?;
    let mut known = write(&KNOWN);
    if known.len() >= MOST {
        return None;
    }
    // Values of time keep zones by reference.
    let zone = known
        .entry(key)
        .or_insert_with(|| Box::leak(Box::new(zone)));
    Some(zone)
}

impl TableZone {
    /// Seconds east of UTC at a moment, in seconds since 1970.
    fn offset(&self, at: i64) -> i32 {
        let behind = self.transitions.partition_point(|(from, _)| *from <= at);
        match behind.checked_sub(1).and_then(|i| self.transitions.get(i)) {
            Some((_, offset)) => *offset,
            None => self.first,
        }
    }

    /// The clock's time at a moment in UTC; both in microseconds.
    pub(crate) fn local(&self, utc: i64) -> i64 {
        utc + i64::from(self.offset(utc.div_euclid(SECOND))) * SECOND
    }

    /// The moment at which the clock shows a time, and whether there is one: see [`crate::Zone::utc`].
    pub(crate) fn utc(&self, local: i64) -> (i64, bool) {
        let seconds = local.div_euclid(SECOND);
        // No offset is larger than a day: what the clock shows is of a span around one of these transitions.
        let near = |at: i64| self.transitions.partition_point(|(from, _)| *from < at);
        let (from, to) = (near(seconds - 90_000), near(seconds + 90_000));
        let mut before = match from.checked_sub(1).and_then(|i| self.transitions.get(i)) {
            Some((_, offset)) => *offset,
            None => self.first,
        };
        for (at, offset) in self.transitions.get(from..to).unwrap_or_default() {
            if seconds - i64::from(before) < *at {
                return (local - i64::from(before) * SECOND, true);
            }
            if seconds - i64::from(*offset) < *at {
                return (at * SECOND, false);
            }
            before = *offset;
        }
        (local - i64::from(before) * SECOND, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An hour forward at 10,000 and back at 20,000.
    fn zone() -> TableZone {
        TableZone {
            name: "x".into(),
            first: 0,
            transitions: vec![(10_000, 3600), (20_000, 0)],
        }
    }

    #[test]
    fn clocks_jump_forward_and_back() {
        let z = zone();
        let local = |s: i64| z.local(s * SECOND) / SECOND;
        let utc = |s: i64| {
            let (at, there) = z.utc(s * SECOND);
            (at / SECOND, there)
        };
        assert_eq!((local(9_999), local(10_000)), (9_999, 13_600));
        assert_eq!((local(19_999), local(20_000)), (23_599, 20_000));
        assert_eq!(utc(9_999), (9_999, true));
        assert_eq!(utc(11_000), (10_000, false));
        assert_eq!(utc(13_600), (10_000, true));
        // Of two moments the earlier.
        assert_eq!(utc(21_000), (17_400, true));
        assert_eq!(utc(23_600), (23_600, true));
        assert_eq!(utc(-5), (-5, true));
    }
}
