//! Rows of a MERGE table: each is in one of the tables behind it.

use super::change::RowsApplied;
use super::error::bad_event;
use super::map::Mapped;
use crate::catalog::def::MergeDef;
use crate::catalog::table::Table;
use crate::{EngineError, Result};
use narwal_binlog::{RowsEvent, RowsKind};
use narwal_types::errors;
use narwal_types::errors::codes;

/// Applies the rows of an event that names a MERGE table. `one` applies those of a table behind it.
///
/// # Errors
/// 1168 if there is no table behind it, 1036 for a row to insert where the table takes none, 1032 for a row that is in none of
/// the tables, and those of `one`.
pub(super) fn apply(
    (table, merge): (&Table, &MergeDef),
    mapped: &Mapped,
    event: &RowsEvent<'_>,
    mut one: impl FnMut(&Mapped, &RowsEvent<'_>) -> Result<RowsApplied>,
) -> Result<RowsApplied> {
    if event.column_count != mapped.columns.len() {
        return Err(bad_event(table, "it does not fit its table map"));
    }
    if mapped.behind.is_empty() {
        return Err(EngineError::Sql(errors::WRONG_MRG_TABLE.plain()));
    }
    if event.kind == RowsKind::Write {
        let place = merge.place_for_inserts(mapped.behind.len());
        return match place.and_then(|i| mapped.behind.get(i)) {
            Some(own) => one(own, event),
            None => Err(EngineError::Sql(
                errors::OPEN_AS_READONLY.with([&table.def.name]),
            )),
        };
    }
    let images = match event.kind {
        RowsKind::Update => vec![event.present, event.present_after.unwrap_or(event.present)],
        _ => vec![event.present],
    };
    let mut done = RowsApplied::default();
    let mut rest = event.data;
    let mut scratch = Vec::new();
    while !rest.is_empty() {
        let from = rest;
        for present in &images {
            scratch.clear();
            mapped.image(table, present, &mut rest, &mut scratch)?;
        }
        let row = RowsEvent {
            data: &from[..from.len() - rest.len()],
            ..*event
        };
        done.rows += change(&mapped.behind, &row, &mut one)?;
    }
    Ok(done)
}

/// Changes a row in the first table that has it, and says how many there were: none if it may be missing.
fn change(
    behind: &[Mapped],
    row: &RowsEvent<'_>,
    one: &mut impl FnMut(&Mapped, &RowsEvent<'_>) -> Result<RowsApplied>,
) -> Result<u64> {
    let mut missing = None;
    for own in behind {
        match one(own, row) {
            Err(EngineError::Sql(e)) if e.code == codes::KEY_NOT_FOUND => missing = Some(e),
            Ok(done) if done.rows == 0 => {}
            r => return r.map(|done| done.rows),
        }
    }
    match missing {
        Some(e) => Err(EngineError::Sql(e)),
        None => Ok(0),
    }
}
