//! What must hold of a table's definition as a whole, once all of its parts are known.

use crate::StatementEnv;
use crate::ddl::column::{check_invisible, checked_default};
use crate::quote::quote_ident;
use narwal_engine::{ColumnDef, DefaultDef, IndexDef, IndexMethod, TableDef};
use narwal_types::{SqlResult, errors};

/// Most bytes of all columns' comments together, as in MariaDB: two bytes say how many there are.
const MAX_COMMENTS: usize = 65_535;

/// Checks a definition.
///
/// # Errors
/// 1117 for more comments than there is room for, 1826 for a CHECK that is called as another constraint, 4169 and 1901 for an AUTO_INCREMENT column in a unique key that is
/// kept as a hash, 4174 for a key that rows are found by and that is IGNORED, 4108 for an INVISIBLE column without a value,
/// 1067 for a default that the `sql_mode` does not have.
pub(super) fn check(def: &TableDef, env: &StatementEnv) -> SqlResult<()> {
    check_names(def)?;
    let comments: usize = def.columns.iter().map(|c| c.comment.len()).sum();
    if comments > MAX_COMMENTS {
        return Err(errors::TOO_MANY_FIELDS.text("Table definition is too large"));
    }
    for index in &def.indexes {
        check_hashed(def, index)?;
    }
    check_ignored(def)?;
    for c in &def.columns {
        check_invisible(c)?;
        check_zero_date(c, &def.db, &def.name, env)?;
    }
    Ok(())
}

/// Names of CHECKs are not those of columns that have one of their own, of unique keys, and of foreign keys.
fn check_names(def: &TableDef) -> SqlResult<()> {
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    for check in &def.checks {
        let name = &check.name;
        let taken = (def.columns.iter()).any(|c| c.check.is_some() && same(&c.name, name))
            || (def.indexes.iter()).any(|i| i.unique && same(&i.name, name))
            || (def.foreign_keys.iter()).any(|k| same(&k.name, name));
        if taken {
            let text = format!("Duplicate CHECK constraint name '{name}'");
            return Err(errors::DUP_CONSTRAINT_NAME.text(text));
        }
    }
    Ok(())
}

fn check_hashed(def: &TableDef, index: &IndexDef) -> SqlResult<()> {
    if !index.unique || index.method != Some(IndexMethod::Hash) {
        return Ok(());
    }
    let mut columns = index.columns.iter().map(|p| &def.columns[p.column]);
    let Some(auto) = columns.clone().find(|c| c.auto_increment) else {
        return Ok(());
    };
    Err(match columns.any(|c| c.ty.is_blob()) {
        true => errors::NO_AUTOINCREMENT_WITH_UNIQUE
            .with([&quote_ident(&auto.name), &quote_ident(&index.name)]),
        false => errors::GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED.with([
            &"AUTO_INCREMENT",
            &"USING HASH",
            &quote_ident(&auto.name),
        ]),
    })
}

/// Without a primary key rows are found by the first unique key of columns that are not NULL.
fn check_ignored(def: &TableDef) -> SqlResult<()> {
    if def.indexes.iter().any(|i| i.name == "PRIMARY") {
        return Ok(());
    }
    let whole = |i: &&IndexDef| {
        let mut parts = i.columns.iter();
        i.unique && parts.all(|p| p.prefix.is_none() && !def.columns[p.column].nullable)
    };
    match def.indexes.iter().find(whole) {
        Some(i) if i.ignored => Err(errors::PK_INDEX_CANT_BE_IGNORED.plain()),
        _ => Ok(()),
    }
}

/// A default that was made when zero dates were allowed.
fn check_zero_date(c: &ColumnDef, db: &str, table: &str, env: &StatementEnv) -> SqlResult<()> {
    match c.ty.is_temporal() && matches!(c.default, DefaultDef::Text(_)) {
        true => checked_default(c, db, table, env),
        false => Ok(()),
    }
}
