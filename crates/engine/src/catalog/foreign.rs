//! Foreign keys of a definition: how they are written, and which index serves them.

use crate::catalog::def::{ForeignAction, ForeignKeyDef, TableDef};
use crate::catalog::index::Index;
use crate::{EngineError, Result};
use narwal_types::Name;
use std::fmt::Write;

/// What a transaction's changes of rows do about foreign keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForeignKeyMode {
    /// Parents must be there, children are looked for: `foreign_key_checks=1`.
    #[default]
    Check,
    /// Child rows follow; nothing is refused. For events of a source that has checked and logs no cascades.
    Follow,
    /// Nothing: `foreign_key_checks=0`, and events that are complete.
    Off,
}

/// A foreign key at run time.
#[derive(Debug)]
pub(crate) struct ForeignKey {
    /// Positions of its columns.
    pub(crate) columns: Vec<usize>,
    /// The index (as in [`Table::indexes`]) that begins with them.
    pub(crate) index: Option<usize>,
}

pub(crate) fn quoted(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

pub(crate) fn list(names: &[String]) -> String {
    names
        .iter()
        .map(|n| quoted(n))
        .collect::<Vec<_>>()
        .join(", ")
}

impl ForeignKeyDef {
    /// `CONSTRAINT ... FOREIGN KEY ...` as SHOW CREATE TABLE and errors print it. `db`: the database of the table that has it.
    #[must_use]
    pub fn clause(&self, db: &str) -> String {
        let mut s = format!(
            "CONSTRAINT {} FOREIGN KEY ({}) REFERENCES ",
            quoted(&self.name),
            list(&self.columns)
        );
        if self.parent_db != db {
            let _ = write!(s, "{}.", quoted(&self.parent_db));
        }
        let _ = write!(
            s,
            "{} ({})",
            quoted(&self.parent),
            list(&self.parent_columns)
        );
        for (event, action) in [("DELETE", self.on_delete), ("UPDATE", self.on_update)] {
            let action = match action {
                ForeignAction::Restrict => continue,
                a => a.name(),
            };
            let _ = write!(s, " ON {event} {action}");
        }
        s
    }
}

impl ForeignAction {
    /// As SQL has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ForeignAction::Restrict => "RESTRICT",
            ForeignAction::NoAction => "NO ACTION",
            ForeignAction::Cascade => "CASCADE",
            ForeignAction::SetNull => "SET NULL",
        }
    }
}

/// The first index that begins with these columns in this order, whole.
pub(crate) fn index_on(indexes: &[Index], columns: &[usize]) -> Option<usize> {
    indexes.iter().position(|i| {
        i.parts.len() >= columns.len()
            && i.parts
                .iter()
                .zip(columns)
                .all(|(p, c)| p.column == *c && p.prefix.is_none())
    })
}

pub(crate) fn positions(def: &TableDef, names: &[String]) -> Option<Vec<usize>> {
    names
        .iter()
        .map(|n| def.columns.iter().position(|c| c.name.same_name(n)))
        .collect()
}

/// A table's foreign keys at run time.
pub(crate) fn of_table(def: &TableDef, indexes: &[Index]) -> Result<Vec<ForeignKey>> {
    def.foreign_keys
        .iter()
        .map(|k| {
            let columns = positions(def, &k.columns).ok_or_else(|| {
                EngineError::Catalog(format!(
                    "foreign key {} of {}.{} names a column that is not there",
                    k.name, def.db, def.name
                ))
            })?;
            Ok(ForeignKey {
                index: index_on(indexes, &columns),
                columns,
            })
        })
        .collect()
}
