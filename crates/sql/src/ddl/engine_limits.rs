//! What MariaDB's other engines can't have in a table. Narwal's own table would do, but the statement has MariaDB's answer.

use crate::StatementEnv;
use crate::ast::TableOptions;
use crate::ddl::key_part::part_bytes;
use crate::engine_name;
use crate::plan::dml::store_mode;
use narwal_engine::{IndexDef, IndexMethod, TableDef};
use narwal_types::errors::{self, codes};
use narwal_types::{SqlResult, TypeKind};
use std::path::PathBuf;

/// The limits of the engine that a statement names, if it is one that Narwal stands for. Keys become as long as it has them.
///
/// # Errors
/// 1069, 1071, 1163, 1164, 1178, 1904 and 1910.
pub(super) fn check(said: Option<&str>, def: &mut TableDef, env: &StatementEnv) -> SqlResult<()> {
    let Some(engine) = said.and_then(engine_name::stood_in_for) else {
        return Ok(());
    };
    let csv = engine == "CSV";
    if csv && def.columns.iter().any(|c| c.auto_increment) {
        return Err(errors::TABLE_CANT_HANDLE_AUTO_INCREMENT.with([&engine]));
    }
    if csv && !def.indexes.is_empty() {
        return Err(errors::TOO_MANY_KEYS.text("Too many keys specified; max 0 keys allowed"));
    }
    let text = |k: TypeKind| matches!(k, TypeKind::Text(_) | TypeKind::Blob(_));
    if engine == "MEMORY" && def.columns.iter().any(|c| text(c.ty.kind)) {
        return Err(errors::TABLE_CANT_HANDLE_BLOB.with([&engine]));
    }
    let generated = def.columns.iter().any(|c| c.generated.is_some());
    if generated && ["CSV", "MEMORY", engine_name::MERGE].contains(&engine) {
        return Err(errors::UNSUPPORTED_ENGINE_FOR_GENERATED_COLUMNS.with([&engine]));
    }
    if csv && def.columns.iter().any(|c| c.nullable) {
        return Err(errors::CHECK_NOT_IMPLEMENTED.with([&"nullable columns"]));
    }
    if engine == "Aria" && indexes_virtual(def) {
        return Err(errors::KEY_BASED_ON_GENERATED_VIRTUAL_COLUMN.plain());
    }
    if engine == "MEMORY" {
        // Hashes, which it has unless others are asked for, have no order.
        let hashes = (def.indexes.iter_mut()).filter(|i| i.method != Some(IndexMethod::BTree));
        let parts = hashes.flat_map(|i| &mut i.columns);
        parts.for_each(|p| p.desc = false);
    }
    keys(engine, def, env)
}

/// A column that is not kept is part of a key.
fn indexes_virtual(def: &TableDef) -> bool {
    let is_virtual = |c: usize| def.columns[c].generated.as_ref().is_some_and(|g| !g.stored);
    let mut parts = def.indexes.iter().flat_map(|i| &i.columns);
    parts.any(|p| is_virtual(p.column))
}

/// Error 1911, or a warning, for TRANSACTIONAL of an engine that does not know the word. `said`: the engine that is named.
pub(super) fn check_transactional(
    said: Option<&str>,
    options: &[(String, Option<String>)],
    env: &StatementEnv,
) -> SqlResult<()> {
    let named = options.iter().any(|(name, _)| name == "TRANSACTIONAL");
    let knows = |e: &&str| *e == "Aria";
    if !named
        || said
            .and_then(engine_name::stood_in_for)
            .is_none_or(|e| knows(&e))
    {
        return Ok(());
    }
    let unknown = errors::UNKNOWN_OPTION.with([&"transactional"]);
    if store_mode(env, false, false).strict {
        return Err(unknown);
    }
    env.warn_error(&unknown);
    Ok(())
}

/// The folders of DATA DIRECTORY and INDEX DIRECTORY, in which nothing is written here: an engine that keeps a table's files there
/// does not make folders. What another server has taken is taken.
///
/// # Errors
/// 1103 for a path that does not begin at the root, 1 for a folder that is not there.
pub(super) fn check_folders(
    said: Option<&str>,
    options: &TableOptions,
    table: &str,
    env: &StatementEnv,
) -> SqlResult<()> {
    let ends = match said.and_then(engine_name::stood_in_for) {
        Some("MyISAM") => [".MYD", ".MYI"],
        Some("Aria") => [".MAD", ".MAI"],
        _ => [""; 2],
    };
    let folders = [&options.data_folder, &options.index_folder];
    for (folder, end) in folders.into_iter().zip(ends) {
        let Some(path) = folder.as_deref().filter(|_| !env.applies) else {
            continue;
        };
        let folder = match (path.strip_prefix("~/"), std::env::home_dir()) {
            (Some(below), Some(home)) => home.join(below),
            _ => PathBuf::from(path),
        };
        if !folder.is_absolute() {
            return Err(errors::WRONG_TABLE_NAME.with([&path]));
        }
        if !end.is_empty() && !folder.is_dir() {
            let file = folder.join(format!("{table}{end}"));
            let file = file.display();
            return Err(errors::CANTCREATEFILE.with([&file, &2, &"No such file or directory"]));
        }
    }
    Ok(())
}

/// Most bytes of a key, where they are fewer than InnoDB's.
fn max_key_bytes(engine: &str) -> Option<u64> {
    match engine {
        "MyISAM" | engine_name::MERGE => Some(1000),
        "Aria" => Some(2300),
        _ => None,
    }
}

/// Keys that are too long for the engine: error 1071 for a primary one and for one of several columns. Another one is cut, with a
/// note. A unique one is kept as a hash, which Aria does not have.
fn keys(engine: &str, def: &mut TableDef, env: &StatementEnv) -> SqlResult<()> {
    let Some(max) = max_key_bytes(engine) else {
        return Ok(());
    };
    let told = errors::TOO_LONG_KEY.with([&max]);
    let columns = &def.columns;
    for index in &mut def.indexes {
        let bytes = |i: &IndexDef| -> u64 {
            let of = |p: &narwal_engine::IndexColumn| part_bytes(&columns[p.column].ty, p.prefix);
            i.columns.iter().map(of).sum()
        };
        let hashed = index.unique && index.method == Some(IndexMethod::Hash);
        if index.unique && index.name != "PRIMARY" {
            match hashed || bytes(index) > max {
                false => {}
                true if engine == "Aria" => return Err(told),
                true => index.method = Some(IndexMethod::Hash),
            }
            continue;
        }
        if index.name != "PRIMARY" {
            for part in &mut index.columns {
                let ty = &columns[part.column].ty;
                if part_bytes(ty, part.prefix) > max {
                    env.note(codes::TOO_LONG_KEY, told.message.to_string());
                    part.prefix = Some((max / u64::from(ty.char_bytes())) as u16);
                }
            }
        }
        if bytes(index) > max {
            return Err(told);
        }
    }
    Ok(())
}
