//! What MariaDB's other engines can't have in a table. Narwal's own table would do, but the statement has MariaDB's answer.

use crate::engine_name;
use narwal_engine::TableDef;
use narwal_types::errors;
use narwal_types::{SqlResult, TypeKind};

/// The limits of the engine that a statement names, if it is one that Narwal stands for.
///
/// # Errors
/// 1069, 1163, 1164, 1178 and 1910.
pub(super) fn check(said: Option<&str>, def: &TableDef) -> SqlResult<()> {
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
    Ok(())
}
