//! Rows of what only MySQL's `information_schema` has.

use super::innodb;
use super::rows::Rows;
use crate::view::View;
use narwal_engine::Table;
use narwal_sql::StatementEnv;
use narwal_sql::virtual_tables::Wanted;
use narwal_types::convert::implicit_default;
use narwal_types::{SqlResult, Value};

/// Puts the values of [`super::mysql_columns::COLUMNS`] behind a table's rows; those of STATISTICS,
/// TABLE_CONSTRAINTS and COLLATIONS are there.
pub(super) fn extend(name: &str, rows: &mut Rows) {
    for row in rows {
        match name {
            "COLUMNS" => row.push(Value::Null),
            "SCHEMATA" => row.push(Value::str("NO")),
            _ => {}
        }
    }
}

/// The table whose rows have what a table of MySQL's shows, where that is another one.
pub(super) fn rows_of(name: &str) -> &str {
    match name {
        "COLUMNS_EXTENSIONS" => "COLUMNS",
        "SCHEMATA_EXTENSIONS" => "SCHEMATA",
        "TABLES_EXTENSIONS" => "TABLES",
        "TABLE_CONSTRAINTS_EXTENSIONS" => "TABLE_CONSTRAINTS",
        "INNODB_INDEXES" => "INNODB_SYS_INDEXES",
        "INNODB_FIELDS" => "INNODB_SYS_FIELDS",
        "INNODB_FOREIGN" => "INNODB_SYS_FOREIGN",
        "INNODB_FOREIGN_COLS" => "INNODB_SYS_FOREIGN_COLS",
        "INNODB_TABLESTATS" => "INNODB_SYS_TABLESTATS",
        name => name,
    }
}

/// Rows with the columns that MySQL's table has, in its order, out of those of `from`.
pub(super) fn arranged(from: &Table, to: &Table, rows: Rows) -> Rows {
    let place = |c: &narwal_engine::ColumnDef| {
        let mut of = from.columns().iter();
        of.position(|f| f.name.eq_ignore_ascii_case(&c.name))
    };
    let places: Vec<Option<usize>> = to.columns().iter().map(place).collect();
    let arrange = |row: Vec<Value>| {
        let cell = |(c, at): (&narwal_engine::ColumnDef, &Option<usize>)| match at
            .and_then(|i| row.get(i))
        {
            Some(v) => v.clone(),
            None if c.nullable => Value::Null,
            None => implicit_default(&c.ty),
        };
        to.columns().iter().zip(&places).map(cell).collect()
    };
    rows.into_iter().map(arrange).collect()
}

/// INNODB_TABLES.
pub(super) fn tables(view: &View, env: &StatementEnv, wanted: &Wanted) -> SqlResult<Rows> {
    let mut rows = innodb::tables(view, env, wanted)?;
    for row in &mut rows {
        // Each table counts as a space of its own.
        row[4] = row[0].clone();
        row.extend([Value::Int(0), Value::Int(0)]);
    }
    Ok(rows)
}

/// INNODB_TABLESPACES: what the tables take, one by one.
pub(super) fn spaces(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let row = |(id, name, size): (u64, Value, u64)| {
        vec![
            Value::UInt(id),
            name,
            Value::UInt(16417),
            Value::str("Dynamic"),
            Value::UInt(16384),
            Value::UInt(0),
            Value::str("Single"),
            Value::UInt(4096),
            Value::UInt(size),
            Value::UInt(size),
            Value::UInt(0),
            Value::str("8.4.0"),
            Value::UInt(1),
            Value::str("N"),
            Value::str("normal"),
        ]
    };
    Ok(innodb::sizes(view)?.into_iter().map(row).collect())
}
