//! NEXTVAL, LASTVAL and SETVAL: of the session's temporary sequence of the name, if there is one, else of the stored one.

use crate::env::StatementEnv;
use narwal_engine::Table;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult, errors};
use std::sync::Arc;

/// The temporary sequence of that name. Error 4089 for a temporary table that is none.
fn temporary(env: &StatementEnv, db: &str, name: &str) -> SqlResult<Option<Arc<Table>>> {
    match env.temporary_table(db, name) {
        Some(t) if t.def.sequence => Ok(Some(t)),
        Some(_) => Err(SqlError::new(
            codes::NOT_SEQUENCE,
            b"42S02",
            format!("'{db}.{name}' is not a SEQUENCE"),
        )),
        None => Ok(None),
    }
}

fn run_out(table: &Table) -> SqlError {
    errors::SEQUENCE_RUN_OUT.with([&table.def.db, &table.def.name])
}

/// Whether the name is a temporary sequence's. Else there must be a stored one (4091, 4089).
pub(crate) fn find(env: &StatementEnv, db: &str, name: &str) -> SqlResult<bool> {
    match temporary(env, db, name)? {
        Some(_) => Ok(true),
        None => env.variables.find_sequence(db, name).map(|()| false),
    }
}

/// NEXTVAL.
pub(crate) fn next(env: &StatementEnv, db: &str, name: &str) -> SqlResult<i64> {
    match temporary(env, db, name)? {
        Some(t) => t.next_own_number().ok_or_else(|| run_out(&t)),
        None => env.variables.next_value(db, name),
    }
}

/// LASTVAL.
pub(crate) fn last(env: &StatementEnv, db: &str, name: &str) -> SqlResult<Option<i64>> {
    match temporary(env, db, name)? {
        Some(t) => Ok(t.last_own_number()),
        None => env.variables.last_value(db, name),
    }
}

/// SETVAL: false if the sequence is past the number.
pub(crate) fn set(
    env: &StatementEnv,
    db: &str,
    name: &str,
    to: (i64, bool, i64),
) -> SqlResult<bool> {
    match temporary(env, db, name)? {
        Some(t) => t.set_own_number(to).ok_or_else(|| run_out(&t)),
        None => env.variables.set_value(db, name, to),
    }
}
