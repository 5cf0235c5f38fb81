//! What SHOW prints about tables.

use narwal_engine::{ColumnDef, DatabaseDef, Table};

/// SHOW CREATE TABLE's second column. `auto_increment`: the table's next value, shown if above 1.
pub fn show_create_table(_table: &Table, _auto_increment: u64) -> String {
    todo!()
}

/// SHOW CREATE DATABASE's second column.
pub fn show_create_database(_db: &DatabaseDef) -> String {
    todo!()
}

/// A column's DEFAULT as SHOW COLUMNS and information_schema print it; `None` for NULL.
pub fn show_default(_column: &ColumnDef) -> Option<String> {
    todo!()
}

/// Key column of SHOW COLUMNS: `PRI`, `UNI`, `MUL` or empty.
pub fn show_key(_table: &Table, _column: usize) -> &'static str {
    todo!()
}

/// Extra column of SHOW COLUMNS: `auto_increment`, `on update current_timestamp()`.
pub fn show_extra(_column: &ColumnDef) -> String {
    todo!()
}

/// `name` in backticks, backticks inside doubled.
pub fn quote_ident(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}
