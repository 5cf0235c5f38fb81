//! The registry of functions: one entry a function.
//!
//! An entry ([`Function`]) says everything about a function that the rest of the server asks: its names, its arguments, the
//! type of its result, how it is computed, how steady its value is, and one line for people. Each subject has a file with a
//! table of entries. To add a function, write its type and its evaluation there and add a row to the table; `docs/functions.md`
//! is made of the entries.
//!
//! | file | holds |
//! |---|---|
//! | `function.rs` | what an entry is |
//! | `typing.rs` | result types that many functions share |
//! | `string.rs`, `string_format.rs`, `digits.rs` | strings: parts and searches; formats and sets; digits of other bases |
//! | `sformat.rs` | SFORMAT's language |
//! | `oracle.rs` | strings as sql_mode=ORACLE has them |
//! | `number.rs` | numbers |
//! | `date.rs`, `time.rs`, `moment.rs` | parts of dates; times and their sums; now, time zones, formats |
//! | `control.rs` | choices between values |
//! | `json/` | JSON |
//! | `dynamic/`, `xml/` | dynamic columns; XML |
//! | `regexp.rs`, `regexp_search.rs` | REGEXP and REGEXP_*(); searches that can be ended |
//! | `encryption.rs`, `des.rs`, `crypt.rs` | checksums, encodings, encryption, compression; DES; the system's crypt(3) |
//! | `network.rs` | internet addresses |
//! | `mysql.rs` | what only MySQL has |
//! | `info.rs` | the session, its user and its database; what values are |
//! | `lock.rs`, `replication.rs`, `sequence.rs` | named locks and SLEEP; waiting for a primary's log; sequences |
//! | `gathered.rs` | what an entry over several rows is |
//! | `aggregate.rs` | the aggregates |
//! | `window.rs` | the window functions that are no aggregates |
//! | `forms.rs` | what is written like a call and is bound as an operator, for the documentation |

pub mod aggregate;
pub(crate) mod control;
pub mod crypt;
pub(crate) mod date;
mod des;
mod digits;
pub(crate) mod dynamic;
mod encryption;
#[cfg(test)]
mod forms;
pub(crate) mod function;
pub mod gathered;
pub(crate) mod info;
pub(crate) mod json;
mod lock;
mod moment;
pub(crate) mod mysql;
mod network;
pub(crate) mod number;
pub(crate) mod oracle;
pub(crate) mod passed_on;
pub(crate) mod regexp;
mod regexp_search;
pub use encryption::old_password_hash;
pub use regexp_search::options_named as regex_options;
mod replication;
mod sequence;
mod sformat;
mod soundex;
pub(crate) mod string;
mod string_format;
pub(crate) mod time;
mod to_char;
pub(crate) mod typing;
pub mod window;
mod xml;

#[cfg(test)]
mod tests;

pub use crate::expr::node::{Function, Results, Steadiness, Takes};

use std::collections::HashMap;
use std::sync::LazyLock;

pub(crate) use control::year_of;
pub(crate) use to_char::USUAL_FORMAT;

/// A subject: its name, and its functions.
type Subject = (&'static str, &'static [&'static Function]);

/// The functions by subject, as the documentation lists them.
static SUBJECTS: &[Subject] = &[
    ("Strings", string::FUNCTIONS),
    ("Formats and sets of strings", string_format::FUNCTIONS),
    ("Digits", digits::FUNCTIONS),
    ("Strings in sql_mode=ORACLE", oracle::FUNCTIONS),
    ("Regular expressions", regexp::FUNCTIONS),
    ("Numbers", number::FUNCTIONS),
    ("Now, time zones, formats", moment::FUNCTIONS),
    ("Parts of dates", date::FUNCTIONS),
    ("Times", time::FUNCTIONS),
    ("Choices", control::FUNCTIONS),
    ("JSON", json::FUNCTIONS),
    ("Dynamic columns", dynamic::FUNCTIONS),
    ("XML", xml::FUNCTIONS),
    (
        "Checksums, encodings, encryption, compression",
        encryption::FUNCTIONS,
    ),
    ("DES", des::FUNCTIONS),
    ("crypt", crypt::FUNCTIONS),
    ("Internet addresses", network::FUNCTIONS),
    ("Of MySQL alone", mysql::FUNCTIONS),
    ("The session, and what values are", info::FUNCTIONS),
    ("Named locks and waiting", lock::FUNCTIONS),
    ("Replication", replication::FUNCTIONS),
    ("Sequences", sequence::FUNCTIONS),
];

/// Finds a function by one of its names, in lower case.
pub fn lookup(name: &str) -> Option<&'static Function> {
    static BY_NAME: LazyLock<HashMap<&'static str, &'static Function>> = LazyLock::new(|| {
        let all = SUBJECTS.iter().flat_map(|(_, list)| list.iter().copied());
        all.flat_map(|f| f.names().map(move |n| (n, f))).collect()
    });
    BY_NAME.get(name).copied()
}

/// The names of all functions and aggregates.
pub fn names() -> impl Iterator<Item = &'static str> {
    let scalar = SUBJECTS.iter().flat_map(|(_, list)| list.iter());
    let scalar = scalar.filter(|f| !f.is_hidden()).flat_map(|f| f.names());
    scalar.chain(aggregate::AGGREGATES.iter().map(|a| a.name))
}

/// The name that functions and aggregates are printed by, given one of their names in lower case.
pub fn printed_name(name: &str) -> &str {
    if let Some(f) = lookup(name) {
        return f.name();
    }
    aggregate::lookup(name).map_or(name, |a| a.name)
}
