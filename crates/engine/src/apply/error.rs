//! Errors of events.

use crate::EngineError;
use crate::catalog::table::Table;

pub(crate) fn bad_event(table: &Table, what: impl std::fmt::Display) -> EngineError {
    EngineError::Corrupt(format!(
        "row event of {}.{}: {what}",
        table.def.db, table.def.name
    ))
}
