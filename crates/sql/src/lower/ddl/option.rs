//! Parts of a table's definition that columns and indexes have too.

use crate::ast::{CheckSpec, ForeignKeySpec};
use narwal_engine::ForeignAction;
use narwal_syntax::SqlMode;
use narwal_syntax::ast::ddl as syntax;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};

/// A foreign key whose own name and columns are still missing.
pub(crate) fn references(r: syntax::References) -> SqlResult<ForeignKeySpec> {
    Ok(ForeignKeySpec {
        name: None,
        index: None,
        if_not_exists: false,
        columns: Vec::new(),
        parent: r.table,
        parent_columns: r.columns,
        on_delete: action(r.on_delete),
        on_update: action(r.on_update),
        keys_before: 0,
    })
}

pub(crate) fn action(a: Option<syntax::ForeignAction>) -> ForeignAction {
    match a {
        None => ForeignAction::default(),
        Some(syntax::ForeignAction::Restrict) => ForeignAction::Restrict,
        Some(syntax::ForeignAction::Cascade) => ForeignAction::Cascade,
        Some(syntax::ForeignAction::SetNull) => ForeignAction::SetNull,
        Some(syntax::ForeignAction::NoAction) => ForeignAction::NoAction,
        // As InnoDB, which has no such action and refuses the change.
        Some(syntax::ForeignAction::SetDefault) => ForeignAction::default(),
    }
}

/// An option that no engine knows: a warning under IGNORE_BAD_TABLE_OPTIONS.
///
/// # Errors
/// 1911 without that mode, and for a name that could not stand in a comment as it is.
pub(crate) fn unknown(name: &str, sql_mode: SqlMode) -> SqlResult<SqlError> {
    let e = errors::UNKNOWN_OPTION.with([&name]);
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    match plain && sql_mode.has(SqlMode::IGNORE_BAD_TABLE_OPTIONS) {
        true => Ok(e),
        false => Err(e),
    }
}

/// A CHECK of the table.
pub(crate) fn check(c: syntax::Check) -> CheckSpec {
    CheckSpec {
        name: c.name,
        if_not_exists: c.if_not_exists,
        expr: c.expr.expr,
        enforced: c.enforced,
    }
}
