//! What virtual tables are made of.

use narwal_engine::Table;
use narwal_types::Value;
use narwal_types::convert::implicit_default;

/// Rows of a virtual table.
pub(super) type Rows = Vec<Vec<Value>>;

/// A row by the names of its columns. What is not given is NULL, or a type's empty value.
pub(super) fn by_name(table: &Table, value: impl Fn(&str) -> Option<Value>) -> Vec<Value> {
    let one = |c: &narwal_engine::ColumnDef| match value(&c.name) {
        Some(v) => v,
        None if c.nullable => Value::Null,
        None => implicit_default(&c.ty),
    };
    table.columns().iter().map(one).collect()
}
