//! Defaults that their columns can't have: error 1067, and what is told before it.

use crate::env::StatementEnv;
use narwal_engine::ColumnDef;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{ColumnType, SqlError, TypeKind};

/// Error 1067.
pub(super) fn invalid_default(column: &str) -> SqlError {
    errors::INVALID_DEFAULT.with([&column])
}

/// Of a default no spaces are cut off, but those of CHAR.
pub(super) fn is_too_long(text: &str, ty: &ColumnType) -> bool {
    matches!(ty.kind, TypeKind::VarChar(n) if text.chars().count() > usize::from(n))
}

/// What is told before error 1067: why the column can't keep the value.
pub(super) fn warn_of_default(def: &ColumnDef, given: &str, code: u16, env: &StatementEnv) {
    let name = &def.name;
    let zero_date = def.ty.kind == TypeKind::Date && given.starts_with("0000-00-00");
    let beyond = code == codes::WARN_DATA_OUT_OF_RANGE;
    if code == codes::TRUNCATED_WRONG_VALUE_FOR_FIELD && def.ty.is_numeric() {
        let kind = match def.ty.is_integer() {
            true => "integer",
            false => "decimal",
        };
        let text = format!("Incorrect {kind} value: '{given}' for column ``.``.`{name}` at row 0");
        env.warn(code, text);
    } else if zero_date || beyond || def.ty.is_numeric() {
        let text = format!("Out of range value for column '{name}' at row 0");
        env.warn(codes::WARN_DATA_OUT_OF_RANGE, text);
    } else {
        let text = format!("Data truncated for column '{name}' at row 0");
        env.warn(codes::WARN_DATA_TRUNCATED, text);
    }
}
