//! MERGE tables in DDL: their options, and what TRUNCATE and a copy of their rows mean.

use crate::ast::TableOptions;
use crate::ddl::run::{Run, db_of};
use crate::engine_name;
use crate::env::StatementEnv;
use crate::merge_table::tables_behind;
use narwal_engine::{CatalogChange, MergeDef, Table, TableDef};
use narwal_syntax::ast::TableName;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};
use std::sync::Arc;

/// What a table of that engine has of a MERGE table, where it had `old` and a statement says `options`. UNION means nothing
/// to other engines, as in MariaDB.
pub(super) fn of_options(
    old: Option<MergeDef>,
    engine: &str,
    options: &TableOptions,
    env: &StatementEnv,
) -> SqlResult<Option<MergeDef>> {
    if engine != engine_name::MERGE {
        return Ok(None);
    }
    let mut merge = old.unwrap_or_default();
    if let Some(union) = &options.union {
        merge.tables.clear();
        for t in union {
            let name = (db_of(t, env)?.to_string(), t.name.clone());
            if merge.tables.contains(&name) {
                return Err(errors::NONUNIQ_TABLE.with([&t.name]));
            }
            merge.tables.push(name);
        }
    }
    merge.insert = options.insert_method.unwrap_or(merge.insert);
    Ok(Some(merge))
}

impl Run<'_> {
    /// The tables whose rows ALTER TABLE copies into a new one. A table that becomes a MERGE table loses its own.
    pub(super) fn copied_from(
        &self,
        table: &Arc<Table>,
        new: &TableDef,
    ) -> SqlResult<Vec<Arc<Table>>> {
        match (&table.def.merge, &new.merge) {
            (_, Some(_)) => Ok(Vec::new()),
            (Some(_), None) => {
                let behind = tables_behind(table, self.base, self.env)?;
                match behind.iter().any(|t| t.temporary) {
                    true => Err(SqlError::unsupported(
                        "ALTER TABLE that copies the rows of temporary tables behind a MERGE table",
                    )),
                    false => Ok(behind),
                }
            }
            (None, None) => Ok(vec![table.clone()]),
        }
    }

    /// The changes that TRUNCATE TABLE makes: a MERGE table has no rows but those of the tables behind it.
    pub(super) fn truncated(&self, table: &Arc<Table>) -> SqlResult<Vec<CatalogChange>> {
        let behind = match table.def.merge {
            Some(_) => tables_behind(table, self.base, self.env)?,
            None => vec![table.clone()],
        };
        if behind.iter().any(|t| t.temporary != table.temporary) {
            return Err(SqlError::unsupported(
                "TRUNCATE of a temporary MERGE table over other tables",
            ));
        }
        for t in behind.iter().filter(|t| t.def.id != table.def.id) {
            self.may_truncate(&TableName {
                db: Some(t.def.db.clone()),
                name: t.def.name.clone(),
            })?;
        }
        Ok(behind
            .iter()
            .map(|t| CatalogChange::TruncateTable {
                db: t.def.db.clone(),
                name: t.def.name.clone(),
            })
            .collect())
    }
}
