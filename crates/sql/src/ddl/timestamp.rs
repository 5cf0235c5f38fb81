//! TIMESTAMP columns as they are with `explicit_defaults_for_timestamp=OFF`: NOT NULL unless NULL is said, and never without a
//! default. The first one of a table follows the changes of its row. Sources older than MariaDB 10.10 mean that by default.

use crate::ddl::column::settle_default;
use crate::env::StatementEnv;
use narwal_engine::{ColumnDef, DefaultDef};
use narwal_types::{SqlResult, TypeKind};

/// Gives the open columns of a table their defaults; `columns` are all that it has, in their order. Error 1067 where the
/// session's modes allow no zero dates.
pub(super) fn fill<'c>(
    columns: impl Iterator<Item = (&'c mut ColumnDef, bool)>,
    (db, table): (&str, &str),
    env: &StatementEnv,
) -> SqlResult<()> {
    let mut first = true;
    for (def, open) in columns {
        let TypeKind::Timestamp(digits) = def.ty.kind else {
            continue;
        };
        let first = std::mem::take(&mut first);
        if !open || def.default != DefaultDef::None {
            continue;
        }
        if first && def.on_update.is_none() {
            def.default = DefaultDef::CurrentTimestamp(digits);
            def.on_update = Some(digits);
        } else {
            def.default = DefaultDef::Text("0000-00-00 00:00:00".into());
            settle_default(def, db, table, env)?;
        }
    }
    Ok(())
}
