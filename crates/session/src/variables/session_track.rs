//! Variables: what a client is told of its session.

use super::accept::unknown;
use super::def::Effect::Live;
use super::def::Kind::{Bool, Enum, Text};
use super::def::Scope::Both;
use super::def::{VariableDef, row};
use super::value::VarValue;
use crate::settings::{TransactionInfo, Watched};
use narwal_types::SqlResult;

/// The rows.
pub(super) static ROWS: &[VariableDef] = &[
    row(
        "session_track_schema",
        Both,
        Bool,
        "ON",
        Live,
        "Tells the client its default database when that changes.",
    )
    .session(|s, v| s.track.schema = v.as_bool()),
    row(
        "session_track_state_change",
        Both,
        Bool,
        "OFF",
        Live,
        "Tells the client that the state of its session has changed.",
    )
    .session(|s, v| s.track.state = v.as_bool()),
    row(
        "session_track_system_variables",
        Both,
        Text,
        "autocommit,character_set_client,character_set_connection,character_set_results,time_zone",
        Live,
        "Variables whose changes the client is told of; `*` is all.",
    )
    .session(|s, v| s.track.variables = Watched::of(v.as_str()))
    .normal(|s, v| watched_names(v.as_str(), &|n| s.variable_name(n)).map(VarValue::text)),
    row(
        "session_track_transaction_info",
        Both,
        Enum(&["OFF", "STATE", "CHARACTERISTICS"]),
        "OFF",
        Live,
        "Tells the client how its transaction stands.",
    )
    .session(|s, v| s.track.transaction = TransactionInfo::of(v.as_str())),
];

/// The form that `session_track_system_variables` keeps: names in order, without repetitions. `find` says under which
/// name the table has a variable.
///
/// # Errors
/// 1193 for a name that no variable has.
fn watched_names(list: &str, find: &dyn Fn(&str) -> Option<&'static str>) -> SqlResult<String> {
    if list.trim().is_empty() {
        return Ok(String::new());
    }
    let mut names = Vec::new();
    let mut all = false;
    for name in list.split(',').map(str::trim) {
        if name == "*" {
            all = true;
        } else {
            names.push(find(name).ok_or_else(|| unknown(name))?);
        }
    }
    if all {
        return Ok("*".into());
    }
    names.sort_unstable();
    names.dedup();
    Ok(names.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_variables() {
        let known = ["autocommit", "time_zone"];
        let find = |n: &str| known.into_iter().find(|k| k.eq_ignore_ascii_case(n));
        let f = |s: &str| watched_names(s, &find);
        assert_eq!(
            f(" Time_zone , autocommit,time_zone").unwrap(),
            "autocommit,time_zone"
        );
        assert_eq!(f("autocommit,*").unwrap(), "*");
        assert_eq!(f(" ").unwrap(), "");
        assert_eq!(f("autocommit,").unwrap_err().code, 1193);
    }
}
