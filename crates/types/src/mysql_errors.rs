//! Errors that MySQL words otherwise than MariaDB, and whose texts need other arguments. The registry has the rest.

use crate::SqlError;
use crate::errors::codes;
use std::fmt::Display;

/// 1366, and 1292 of temporal types: a column's value that can't be what it must be.
pub fn incorrect_value(
    code: u16,
    kind: &str,
    value: &str,
    column: &str,
    row: &dyn Display,
) -> SqlError {
    let state = match code {
        codes::TRUNCATED_WRONG_VALUE_FOR_FIELD => b"HY000",
        _ => b"22007",
    };
    SqlError::new(
        code,
        state,
        format!("Incorrect {kind} value: '{value}' for column '{column}' at row {row}"),
    )
}

/// 1055, or 1140 without GROUP BY: a column, as `db.table.column`, that a group does not say. `item`: which of the list's
/// expressions it stands in, from 1.
pub fn not_grouped(item: usize, column: &str, group_by: bool) -> SqlError {
    match group_by {
        true => SqlError::new(
            codes::WRONG_FIELD_WITH_GROUP,
            b"42000",
            format!(
                "Expression #{item} of SELECT list is not in GROUP BY clause and contains nonaggregated column '{column}' \
                 which is not functionally dependent on columns in GROUP BY clause; this is incompatible with \
                 sql_mode=only_full_group_by"
            ),
        ),
        false => SqlError::new(
            codes::MIX_OF_GROUP_FUNC_AND_FIELDS,
            b"42000",
            format!(
                "In aggregated query without GROUP BY, expression #{item} of SELECT list contains nonaggregated column \
                 '{column}'; this is incompatible with sql_mode=only_full_group_by"
            ),
        ),
    }
}
