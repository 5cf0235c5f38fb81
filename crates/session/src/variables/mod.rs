//! The system variables: one row each, in files by subject. A row says the name, the scope, the values, the default, what
//! setting the variable does, and what it is for. MariaDB's names wherever MariaDB has the thing.
//!
//! A new variable is a row in the file of its subject. If it rules what statements do, the row writes it into a field of
//! `Settings`, where statements read it. `docs/variables.md` is made from the rows.
//!
//! | file | holds |
//! |---|---|
//! | `def.rs` | the form of a row |
//! | `value.rs`, `accept.rs` | values, and which of them a variable takes |
//! | `parts.rs` | what rows may reach of the server and of a session |
//! | `rules.rs` | what several rows share |
//! | the others | the rows, by subject |

mod accept;
mod accounts;
mod audit;
mod binlog;
mod charset;
mod connection;
mod def;
#[cfg(test)]
mod docs;
mod facts;
mod gtid;
mod innodb;
mod logging;
mod mysql;
mod optimizer;
pub(crate) mod parts;
mod replica;
mod rules;
mod semi_sync;
mod session_track;
mod statements;
mod transactions;
mod value;
mod without_effect;

pub use accept::{Accepted, parse_size, unknown};
pub(crate) use def::{AtStart, Inside};
pub use def::{Effect, Kind, Scope, VariableDef};
pub(crate) use gtid::forget_applied;
pub use value::VarValue;

use crate::settings::Settings;
use std::sync::LazyLock;

/// The rows by subject, with the subjects' headings in the documentation.
static SUBJECTS: &[(&str, &[VariableDef])] = &[
    ("Statements", statements::ROWS),
    ("Transactions, locks and constraints", transactions::ROWS),
    ("Character sets", charset::ROWS),
    ("Plans and memory", optimizer::ROWS),
    ("The log", binlog::ROWS),
    ("GTIDs", gtid::ROWS),
    ("The store", innodb::ROWS),
    ("Replicas", replica::ROWS),
    ("Semi-synchronous replication", semi_sync::ROWS),
    ("Connections", connection::ROWS),
    ("Session tracking", session_track::ROWS),
    ("Accounts and plugins", accounts::ROWS),
    ("The audit log", audit::ROWS),
    ("Logs for people", logging::ROWS),
    ("Facts and files", facts::ROWS),
    ("Engines of MariaDB", without_effect::engines::ROWS),
    ("Details of InnoDB", without_effect::innodb_details::ROWS),
    ("Tuning of MariaDB", without_effect::tuning::ROWS),
    (
        "Sizes in the performance schema",
        without_effect::schema_sizes::ROWS,
    ),
    ("Clusters", without_effect::cluster::ROWS),
    ("Of MySQL alone", mysql::ROWS),
];

/// All system variables, sorted by name.
pub static VARIABLES: LazyLock<Vec<VariableDef>> = LazyLock::new(|| {
    let mut all: Vec<VariableDef> = SUBJECTS.iter().flat_map(|s| s.1).copied().collect();
    all.sort_unstable_by_key(|d| d.name);
    all
});

/// Every name that a variable is known by, with the position of the row that holds its value, sorted by name.
static NAMES: LazyLock<Vec<(&str, usize)>> = LazyLock::new(|| {
    let position = |name: &str| VARIABLES.binary_search_by(|d| d.name.cmp(name));
    let mut names = Vec::with_capacity(VARIABLES.len());
    for (i, d) in VARIABLES.iter().enumerate() {
        let holder = d.hooks.alias_of.map_or(Ok(i), position).unwrap_or(i);
        names.push((d.name, holder));
        names.extend(d.hooks.mysql_name.map(|n| (n, holder)));
    }
    names.sort_unstable();
    names
});

/// What a variable's value does to a session's settings.
pub(crate) type ToSettings = fn(&mut Settings, &VarValue);

/// The variables that rule a session's settings, by position.
pub(crate) static OF_SESSIONS: LazyLock<Vec<(usize, ToSettings)>> = LazyLock::new(|| {
    let rows = VARIABLES.iter().enumerate();
    rows.filter_map(|(i, d)| Some((i, d.hooks.session?)))
        .collect()
});

/// Position in [`VARIABLES`] of a variable by name, in any case. Aliases lead to the row that holds the value.
pub fn index(name: &str) -> Option<usize> {
    let mut buf = [0u8; 64];
    let name = name.as_bytes();
    let lower = buf.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    let name = std::str::from_utf8(lower).ok()?;
    let at = NAMES.binary_search_by(|n| n.0.cmp(name)).ok()?;
    Some(NAMES[at].1)
}

/// A variable by name, in any case; `-` and `_` are different here (option names are folded before).
pub fn lookup(name: &str) -> Option<&'static VariableDef> {
    index(name).map(|i| &VARIABLES[i])
}

/// The name nearest to a misspelt one, if any is near.
pub fn nearest(name: &str) -> Option<&'static str> {
    let name = name.replace('-', "_").to_ascii_lowercase();
    VARIABLES
        .iter()
        .map(|d| (strsim::damerau_levenshtein(d.name, &name), d.name))
        .min()
        .filter(|(distance, n)| *distance <= 2.max(n.len() / 4))
        .map(|(_, n)| n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use narwal_types::Value;

    #[test]
    fn sorted_and_within_the_lookup_buffer() {
        for w in NAMES.windows(2) {
            assert!(w[0].0 < w[1].0, "{} < {}", w[0].0, w[1].0);
        }
        for d in VARIABLES.iter() {
            assert!(d.name.len() <= 64);
            assert!(lookup(d.name).is_some());
        }
        assert_eq!(lookup("AutoCommit").unwrap().name, "autocommit");
        assert_eq!(
            lookup("transaction_isolation").unwrap().name,
            "tx_isolation"
        );
        assert_eq!(
            lookup("RPL_semi_sync_source_enabled").unwrap().name,
            "rpl_semi_sync_master_enabled"
        );
        assert!(lookup("nope").is_none());
        assert!(lookup(&"x".repeat(100)).is_none());
    }

    #[test]
    fn defaults_are_acceptable_to_their_own_type() {
        for d in VARIABLES.iter() {
            if matches!(d.kind, Kind::Text) || d.effect == Effect::Computed {
                continue;
            }
            let v = d.default_value();
            let given = match (&v, d.kind) {
                (VarValue::Bool(b), _) => Value::Int(i64::from(*b)),
                _ => v.to_value(),
            };
            assert_eq!(d.accept(&given).unwrap().value, v, "{}", d.name);
        }
    }

    #[test]
    fn wrong_values_get_mariadbs_errors() {
        let code = |name: &str, v: Value| lookup(name).unwrap().accept(&v).unwrap_err().code;
        assert_eq!(code("autocommit", Value::str("abc")), 1231);
        assert_eq!(code("autocommit", Value::Int(2)), 1231);
        assert_eq!(code("autocommit", Value::Double(1.5)), 1232);
        assert_eq!(code("max_allowed_packet", Value::str("abc")), 1232);
        assert_eq!(code("binlog_format", Value::str("foo")), 1231);
        assert_eq!(code("tx_isolation", Value::str("foo")), 1231);
        assert_eq!(code("sql_mode", Value::str("foo")), 1231);
        assert_eq!(code("time_zone", Value::str("+15:00")), 1298);
        assert_eq!(code("character_set_client", Value::Null), 1231);
        assert_eq!(code("collation_connection", Value::str("foo")), 1273);
        assert_eq!(code("default_storage_engine", Value::str("foo")), 1286);
    }

    #[test]
    fn integers_out_of_range_are_clipped_with_a_warning() {
        let a = lookup("innodb_flush_log_at_trx_commit")
            .unwrap()
            .accept(&Value::Int(7))
            .unwrap();
        assert_eq!(a.value, VarValue::UInt(3));
        assert_eq!(a.truncated.as_deref(), Some("7"));
        let a = lookup("max_allowed_packet")
            .unwrap()
            .accept(&Value::Int(5000))
            .unwrap();
        assert_eq!(a.value, VarValue::UInt(4096));
        assert!(a.truncated.is_some());
        let a = lookup("wait_timeout")
            .unwrap()
            .accept(&Value::Int(-5))
            .unwrap();
        assert_eq!(a.value, VarValue::UInt(1));
    }

    #[test]
    fn options_take_sizes_and_suggest() {
        let d = lookup("innodb_buffer_pool_size").unwrap();
        assert_eq!(
            d.accept_option(Some("128M")).unwrap().value,
            VarValue::UInt(128 << 20)
        );
        assert!(d.accept_option(Some("lots")).is_err());
        assert!(d.accept_option(Some("1")).is_err());
        let d = lookup("character_set_server").unwrap();
        let first_known = d
            .accept_option(Some("nonsense,utf32,latin1"))
            .unwrap()
            .value;
        assert_eq!(first_known, VarValue::text("utf32"));
        assert!(d.accept_option(Some("nonsense")).is_err());
        assert_eq!(
            lookup("skip_name_resolve")
                .unwrap()
                .accept_option(None)
                .unwrap()
                .value,
            VarValue::Bool(true)
        );
        assert_eq!(nearest("max-conections"), Some("max_connections"));
        assert_eq!(nearest("zzzzzzzz"), None);
        assert_eq!(parse_size("1G"), Some(1 << 30));
        assert_eq!(parse_size("99999999999T"), None);
    }

    /// A row's hooks have to fit what the row says of itself.
    #[test]
    fn rows_are_of_a_piece() {
        for d in VARIABLES.iter() {
            let (n, h) = (d.name, &d.hooks);
            assert!(d.doc.ends_with('.') && !d.doc.contains('|'), "{n}");
            assert!(
                h.session.is_none() || d.has_session() || h.alias_of.is_some(),
                "{n}"
            );
            assert!(h.read_session.is_none() || d.has_session(), "{n}");
            assert!(h.read.is_none() || d.has_global(), "{n}");
            let is_state = h.assign.is_some() || h.filter.is_some() || h.alias_of.is_some();
            assert_eq!(
                d.effect == Effect::State,
                is_state && h.alias_of.is_none(),
                "{n}"
            );
            if let Some(other) = h.alias_of {
                assert!(
                    lookup(other).is_some_and(|o| o.hooks.alias_of.is_none()),
                    "{n}"
                );
            }
        }
    }

    /// A name of a variable that code asks for, as in `value("max_connections")`, is in the table. Asking for another
    /// one would give NULL without a word.
    #[test]
    fn code_asks_for_variables_that_there_are() {
        let mut asked = 0;
        for part in ["session", "replica", "narwal"] {
            let folder = format!("{}/../{part}/src", env!("CARGO_MANIFEST_DIR"));
            for text in narwal_testkit::sources::sources(folder.as_ref()).unwrap() {
                for call in [
                    "value(\"",
                    "global_value(\"",
                    "startup.get(\"",
                    "raise_global(\"",
                ] {
                    for (at, _) in text.match_indices(call) {
                        let name = text[at + call.len()..].split('"').next().unwrap();
                        let a_name =
                            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
                        if name.contains('_') && name.chars().all(a_name) {
                            assert!(index(name).is_some(), "{part}: {call}{name}");
                            asked += 1;
                        }
                    }
                }
            }
        }
        assert!(asked > 40, "{asked}");
    }
}
