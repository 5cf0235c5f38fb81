//! What must hold of a table's definition as a whole, once all of its parts are known.

use crate::StatementEnv;
use crate::ddl::column::{check_invisible, checked_default};
use crate::ddl::key_part::part_bytes;
use crate::env::VariableScope;
use crate::quote::quote_ident;
use narwal_engine::{ColumnDef, DefaultDef, IndexDef, IndexMethod, TableDef};
use narwal_types::errors::codes;
use narwal_types::{Name, SqlError, SqlResult, TypeKind, errors};

/// Most bytes of a definition in MariaDB's files, and those that are none of columns, as tables of many sizes have shown.
const MAX_DEFINITION: usize = 65_535;
const HEAD: usize = 289;
/// The same of all indexes.
const MAX_INDEXES: usize = 65_527;

/// Checks a definition.
///
/// # Errors
/// 1166 for columns that InnoDB has itself, 1280 for such an index, 1173 for a table without a key where one has to be, 1117 for more of names, members, comments and expressions than there is room for, 1826 for a CHECK that is called as another constraint, 4169 and 1901 for an AUTO_INCREMENT column in a unique key that is
/// kept as a hash, 4174 for a key that rows are found by and that is IGNORED, 4108 for an INVISIBLE column without a value,
/// 1067 for a default that the `sql_mode` does not have, 1005 for indexes whose names and comments are too long, 1709 for a key that the row format has no place for.
pub(super) fn check(def: &TableDef, env: &StatementEnv) -> SqlResult<()> {
    check_names(def)?;
    check_columns(def)?;
    check_keys(def, env)?;
    if HEAD + def.columns.iter().map(room).sum::<usize>() > MAX_DEFINITION {
        return Err(errors::TOO_MANY_FIELDS.text("Table definition is too large"));
    }
    if def.indexes.iter().map(room_of_index).sum::<usize>() > MAX_INDEXES {
        return Err(errors::CANT_CREATE_TABLE.text(format!(
            "Cannot create table `{}`: index information is too long. Decrease number of indexes or use shorter index names or shorter comments.",
            def.name
        )));
    }
    for index in &def.indexes {
        check_hashed(def, index)?;
    }
    check_ignored(def)?;
    check_row_format(def)?;
    for c in &def.columns {
        check_invisible(c)?;
        check_zero_date(c, &def.db, &def.name, env)?;
    }
    Ok(())
}

/// Names that InnoDB has for columns of its own.
const OF_INNODB: [&str; 3] = ["DB_ROW_ID", "DB_TRX_ID", "DB_ROLL_PTR"];

/// Error 1166 for a column that is called as one of InnoDB's own.
fn check_columns(def: &TableDef) -> SqlResult<()> {
    if def.declared.is_some() || def.merge.is_some() {
        return Ok(());
    }
    let own = |n: &str| OF_INNODB.iter().any(|o| o.eq_ignore_ascii_case(n));
    match def.columns.iter().find(|c| own(&c.name)) {
        Some(c) => Err(errors::WRONG_COLUMN_NAME.with([&c.name])),
        None => Ok(()),
    }
}

/// InnoDB's name of the index that rows without a key stand by.
const CLUSTERED: &str = "GEN_CLUST_INDEX";

/// Error 1280 for an index that is called so, and 1173 under `innodb_force_primary_key` for a table without a key.
fn check_keys(def: &TableDef, env: &StatementEnv) -> SqlResult<()> {
    if def.declared.is_some() || def.merge.is_some() || def.sequence {
        return Ok(());
    }
    if (def.indexes.iter()).any(|i| i.name.eq_ignore_ascii_case(CLUSTERED)) {
        env.warn(
            codes::WRONG_NAME_FOR_INDEX,
            format!(
                "Cannot Create Index with name '{CLUSTERED}'. The name is reserved for the system default primary index."
            ),
        );
        return Err(errors::WRONG_NAME_FOR_INDEX.with([&CLUSTERED]));
    }
    let filled = |i: &IndexDef| (i.columns.iter()).all(|p| !def.columns[p.column].nullable);
    if (def.indexes.iter()).any(|i| i.unique && filled(i)) {
        return Ok(());
    }
    let forced = env.system_variable(VariableScope::Global, "innodb_force_primary_key");
    match forced.is_ok_and(|v| v.to_text() == "1") {
        true => Err(errors::REQUIRES_PRIMARY_KEY.plain()),
        false => Ok(()),
    }
}

/// Behind an index that CREATE TABLE can't have stands what InnoDB made of it.
pub(super) fn told_by_engine(e: &SqlError, env: &StatementEnv) {
    if e.code == codes::WRONG_NAME_FOR_INDEX {
        let text = "Got error 124 \"Wrong index given to a function\" from storage engine InnoDB";
        env.warn_behind(errors::GET_ERRNO.with([&text]));
    }
}

/// What a column takes of the bytes that a definition may have.
fn room(c: &ColumnDef) -> usize {
    let members = match c.ty.kind {
        TypeKind::Enum(of) | TypeKind::Set(of) => of.list().iter().map(|m| m.len() + 1).sum(),
        _ => 0,
    };
    let expressions = [
        match &c.default {
            DefaultDef::Expr(text) => Some(text),
            _ => None,
        },
        c.generated.as_ref().map(|g| &g.expr),
        c.check.as_ref(),
    ];
    let expressions = expressions.into_iter().flatten().map(String::len);
    18 + c.name.len() + c.comment.len() + members + expressions.sum::<usize>()
}

/// What an index takes of the bytes that all of them may have.
fn room_of_index(i: &IndexDef) -> usize {
    let comment = match i.comment.len() {
        0 => 0,
        n => n + 2,
    };
    9 + i.name.len() + 9 * i.columns.len() + comment
}

/// Names of CHECKs are not those of columns that have one of their own, of unique keys, and of foreign keys.
fn check_names(def: &TableDef) -> SqlResult<()> {
    let same = |a: &str, b: &str| a.same_name(b);
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

/// Most bytes of a key's part in the older row formats of InnoDB.
const MAX_OLD_PART: u64 = 767;

/// Error 1709 for a key of a table in one of InnoDB's older row formats.
fn check_row_format(def: &TableDef) -> SqlResult<()> {
    let old = |(name, value): &(String, String)| {
        name == "ROW_FORMAT" && matches!(value.as_str(), "REDUNDANT" | "COMPACT")
    };
    if def.declared.is_some() || !def.options.iter().any(old) {
        return Ok(());
    }
    let hashed = |i: &&IndexDef| i.unique && i.method == Some(IndexMethod::Hash);
    let mut parts = (def.indexes.iter().filter(|i| !hashed(i))).flat_map(|i| &i.columns);
    match parts.any(|p| part_bytes(&def.columns[p.column].ty, p.prefix) > MAX_OLD_PART) {
        true => Err(errors::INDEX_COLUMN_TOO_LONG.with([&MAX_OLD_PART])),
        false => Ok(()),
    }
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

/// A default that was made when zero dates were allowed. Whether the mode is strict does not count for it.
fn check_zero_date(c: &ColumnDef, db: &str, table: &str, env: &StatementEnv) -> SqlResult<()> {
    match c.ty.is_temporal() && matches!(c.default, DefaultDef::Text(_)) {
        true => checked_default(c, db, table, env),
        false => Ok(()),
    }
}
