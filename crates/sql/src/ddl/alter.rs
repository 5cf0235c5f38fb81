//! ALTER TABLE.

use super::column::check_auto_increment;
use super::create_table::engine_name;
use super::index::{cant_drop, index_def};
use super::{Run, err};
use crate::ast::{AlterAction, TableName};
use crate::exec::dml::duplicate_entry;
use narwal_engine::{CatalogChange, EngineError, Table};
use narwal_types::{SqlError, SqlResult};

impl Run<'_> {
    pub(super) fn alter(&self, table: &Table, actions: &[AlterAction]) -> SqlResult<u64> {
        let def = &table.def;
        let mut indexes = def.indexes.clone();
        let mut changes = Vec::new();
        let mut unique = None;
        for a in actions {
            match a {
                AlterAction::AddIndex(spec) => {
                    if spec.primary {
                        if indexes.iter().any(|i| i.name == "PRIMARY") {
                            return Err(err(1068, b"42000", "Multiple primary key defined"));
                        }
                        return Err(SqlError::unsupported("ADD PRIMARY KEY"));
                    }
                    let index = index_def(spec, &def.columns, &indexes, self.env)?;
                    if index.unique {
                        unique = Some(index.clone());
                    }
                    indexes.push(index.clone());
                    changes.push(CatalogChange::CreateIndex {
                        db: def.db.clone(),
                        table: def.name.clone(),
                        index,
                    });
                }
                AlterAction::DropIndex(name) => {
                    let at = indexes
                        .iter()
                        .position(|i| i.name.eq_ignore_ascii_case(name))
                        .ok_or_else(|| err(1091, b"42000", cant_drop(name)))?;
                    let gone = indexes.remove(at);
                    check_auto_increment(&def.columns, &indexes)?;
                    if gone.name == "PRIMARY" {
                        return Err(SqlError::unsupported("DROP PRIMARY KEY"));
                    }
                    changes.push(CatalogChange::DropIndex {
                        db: def.db.clone(),
                        table: def.name.clone(),
                        index: gone.name,
                    });
                }
                AlterAction::Engine(e) => {
                    let e = engine_name(Some(e), &def.name, self.env)?;
                    if !e.eq_ignore_ascii_case(&def.engine) {
                        return Err(SqlError::unsupported("ALTER TABLE ... ENGINE"));
                    }
                }
                AlterAction::KeysNoOp => {
                    self.env.note(
                        1031,
                        format!(
                            "Storage engine {} of the table `{}`.`{}` doesn't have this option",
                            def.engine, def.db, def.name
                        ),
                    );
                }
            }
        }
        check_auto_increment(&def.columns, &indexes)?;
        if changes.is_empty() {
            return Ok(0);
        }
        match self.submit(self.default_db(), self.text.to_string(), changes, false) {
            Err(EngineError::Duplicate { existing_pk, .. }) => {
                let Some(index) = unique else {
                    return Err(err(1062, b"23000", "Duplicate entry"));
                };
                let mut txn = self.db.begin(self.options.clone());
                let row = txn
                    .get(
                        self.table(&TableName {
                            db: Some(def.db.clone()),
                            name: def.name.clone(),
                        })?,
                        &existing_pk,
                    )?
                    .ok_or_else(|| err(1062, b"23000", "Duplicate entry"))?;
                let parts = index.columns.iter().map(|c| (c.column, c.prefix));
                Err(duplicate_entry(table, &index.name, parts, &row, self.env))
            }
            r => Ok(r.map(|()| 0)?),
        }
    }
}
