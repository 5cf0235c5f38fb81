//! NEXTVAL, LASTVAL and SETVAL: of the session's temporary sequence of the name, if there is one, else of the stored one.

use crate::env::{StatementEnv, VariableScope, VariableSource};
use narwal_engine::{Steps, Table};
use narwal_types::convert::{NoWarnings, to_i64};
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult, Value, errors};
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

/// True for the name of a temporary sequence.
pub(crate) fn is_temporary(env: &StatementEnv, db: &str, name: &str) -> bool {
    matches!(temporary(env, db, name), Ok(Some(_)))
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

/// How the server's AUTO_INCREMENT counts, and sequences with INCREMENT BY 0.
pub fn steps(variables: &dyn VariableSource) -> Steps {
    let number = |name| match variables.system(VariableScope::Global, name) {
        Ok(Value::UInt(n)) => n,
        Ok(v) => u64::try_from(to_i64(v.as_ref(), &mut NoWarnings)).unwrap_or(1),
        Err(_) => 1,
    };
    Steps {
        step: number("auto_increment_increment"),
        offset: number("auto_increment_offset"),
    }
}

/// NEXTVAL.
pub(crate) fn next(env: &StatementEnv, db: &str, name: &str) -> SqlResult<i64> {
    match temporary(env, db, name)? {
        Some(t) => (t.next_own_number(&|| steps(&*env.variables))).ok_or_else(|| run_out(&t)),
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
