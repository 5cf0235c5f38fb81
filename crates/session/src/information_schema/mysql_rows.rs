//! Rows of what only MySQL's `information_schema` has.

use super::innodb;
use super::rows::Rows;
use crate::view::View;
use narwal_sql::StatementEnv;
use narwal_sql::virtual_tables::Wanted;
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
