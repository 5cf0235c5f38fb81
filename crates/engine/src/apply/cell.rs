//! One column's value on its way from their row to ours.

use crate::EngineError;
use crate::catalog::table::Table;
use narwal_types::errors;

/// One column's value in a row, in the encoding of our row images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell<'a> {
    /// The image does not have the column.
    Absent,
    Null,
    Bytes(&'a [u8]),
    /// A range of the scratch buffer: a value that was converted.
    Scratch(usize, usize),
}

pub(crate) fn not_text(table: &Table, column: usize) -> EngineError {
    EngineError::Sql(errors::TRUNCATED_WRONG_VALUE_FOR_FIELD.text(format!(
            "Column '{}' of table '{}.{}' holds bytes that are not UTF-8: its character set on the source is another one",
            table.def.columns[column].name, table.def.db, table.def.name
        )))
}
