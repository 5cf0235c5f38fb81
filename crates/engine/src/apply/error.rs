//! Errors of events.

use crate::EngineError;
use crate::catalog::table::Table;
use narwal_types::SqlError;

pub(crate) fn err(code: u16, state: &[u8; 5], text: impl Into<Box<str>>) -> EngineError {
    EngineError::Sql(SqlError::new(code, state, text))
}

pub(crate) fn bad_event(table: &Table, what: impl std::fmt::Display) -> EngineError {
    EngineError::Corrupt(format!(
        "row event of {}.{}: {what}",
        table.def.db, table.def.name
    ))
}
