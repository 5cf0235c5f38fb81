//! What HANDLER has opened in a session: a name, its table, and where the last READ left it.

use narwal_engine::KeyRange;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};
use parking_lot::Mutex;
use std::ops::Bound;

/// The open handlers of a session.
#[derive(Debug, Default)]
pub struct Handlers(Mutex<Vec<Open>>);

/// One of them.
#[derive(Debug)]
struct Open {
    name: String,
    db: String,
    table: String,
    place: Option<Place>,
}

/// Where a READ left a handler.
#[derive(Debug, Clone)]
pub struct Place {
    /// The index that it went along, by the engine's number: a place in an index that is gone is no place.
    pub index: u32,
    /// It went along the rows, without the name of an index.
    pub scan: bool,
    /// Where.
    pub at: At,
}

/// A place in an index.
#[derive(Debug, Clone)]
pub enum At {
    /// Before all entries.
    Start,
    /// On the entry with this key, whether it still is there or not.
    Entry(Vec<u8>),
    /// Between entries: keys that begin with this, or are greater, come behind it.
    Before(Vec<u8>),
    /// Behind all entries.
    End,
}

impl At {
    /// What comes behind it, or in front of it; `None` is nothing.
    pub fn onward(&self, backwards: bool) -> Option<KeyRange> {
        let (start, end) = match (self, backwards) {
            (At::End, false) | (At::Start, true) => return None,
            (At::Start, false) | (At::End, true) => (Bound::Unbounded, Bound::Unbounded),
            (At::Entry(k), false) => (Bound::Excluded(k.clone()), Bound::Unbounded),
            (At::Before(k), false) => (Bound::Included(k.clone()), Bound::Unbounded),
            (At::Entry(k) | At::Before(k), true) => (Bound::Unbounded, Bound::Excluded(k.clone())),
        };
        Some(KeyRange { start, end })
    }
}

/// Error 1109.
fn unknown(name: &str) -> SqlError {
    errors::UNKNOWN_TABLE.with([&name, &"HANDLER"])
}

impl Handlers {
    /// Opens one. Error 1066: there is one of this name.
    pub fn open(&self, name: &str, db: &str, table: &str) -> SqlResult<()> {
        let mut all = self.0.lock();
        if all.iter().any(|o| o.name.eq_ignore_ascii_case(name)) {
            return Err(errors::NONUNIQ_TABLE.with([&name]));
        }
        all.push(Open {
            name: name.to_string(),
            db: db.to_string(),
            table: table.to_string(),
            place: None,
        });
        Ok(())
    }

    /// Closes one. Error 1109: there is none of this name.
    pub fn close(&self, name: &str) -> SqlResult<()> {
        let mut all = self.0.lock();
        let before = all.len();
        all.retain(|o| !o.name.eq_ignore_ascii_case(name));
        match all.len() < before {
            true => Ok(()),
            false => Err(unknown(name)),
        }
    }

    /// Closes those of a table; `None` for all tables of the database. True if there were any.
    pub fn close_table(&self, db: &str, table: Option<&str>) -> bool {
        let mut all = self.0.lock();
        let before = all.len();
        all.retain(|o| o.db != db || table.is_some_and(|t| o.table != t));
        all.len() < before
    }

    /// Those of a table, of all tables for `None`, forget where they are.
    pub fn forget_places(&self, of: Option<(&str, &str)>) {
        for open in self.0.lock().iter_mut() {
            if of.is_none_or(|(db, table)| open.db == db && open.table == table) {
                open.place = None;
            }
        }
    }

    /// Closes all.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// True if none is open.
    pub fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Database and name of a handler's table. Error 1109: there is none of this name.
    pub fn table(&self, name: &str) -> SqlResult<(String, String)> {
        let all = self.0.lock();
        let open = all.iter().find(|o| o.name.eq_ignore_ascii_case(name));
        open.map(|o| (o.db.clone(), o.table.clone()))
            .ok_or_else(|| unknown(name))
    }

    /// Where it is.
    pub fn place(&self, name: &str) -> Option<Place> {
        let all = self.0.lock();
        let open = all.iter().find(|o| o.name.eq_ignore_ascii_case(name));
        open.and_then(|o| o.place.clone())
    }

    /// A READ left it here.
    pub fn leave(&self, name: &str, place: Place) {
        let mut all = self.0.lock();
        if let Some(open) = all.iter_mut().find(|o| o.name.eq_ignore_ascii_case(name)) {
            open.place = Some(place);
        }
    }
}
