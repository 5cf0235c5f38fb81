//! A table at run time: its definition with everything derived from it.

use crate::catalog::{ColumnDef, TableDef};
use narwal_types::RowLayout;
use narwal_types::key::KeyPart;

/// An index at run time.
#[derive(Debug)]
pub struct Index {
    /// The index's id.
    pub id: u32,
    /// Name, `PRIMARY` for the primary key; empty for the hidden clustered index.
    pub name: String,
    /// Unique.
    pub unique: bool,
    /// Key parts; empty for the hidden clustered index, whose key is an 8-byte big-endian row id.
    pub parts: Vec<KeyPart>,
}

/// A table at run time. `indexes[0]` is always the clustered index (the primary key, or the hidden one);
/// the others follow in declaration order. Secondary index keys are the encoded parts followed by the clustered key.
#[derive(Debug)]
pub struct Table {
    /// The definition.
    pub def: TableDef,
    /// Where columns are in a row.
    pub layout: RowLayout,
    /// Clustered first.
    pub indexes: Vec<Index>,
    /// True if rows are keyed by a hidden row id.
    pub hidden_pk: bool,
    /// Position of the AUTO_INCREMENT column.
    pub auto_increment: Option<usize>,
}

impl Table {
    /// Position of a column by name, without case.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.def
            .columns
            .iter()
            .position(|c| c.name.eq_ignore_ascii_case(name))
    }

    /// The columns.
    pub fn columns(&self) -> &[ColumnDef] {
        &self.def.columns
    }

    /// The clustered key of a row image, appended to `out`. Not for tables with a hidden key.
    pub fn primary_key(&self, _row: &[u8], _out: &mut Vec<u8>) -> crate::Result<()> {
        todo!()
    }
}
