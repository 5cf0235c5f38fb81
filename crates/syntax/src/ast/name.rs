//! Names.

/// A possibly qualified name of a table or another object of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    /// Database, if given.
    pub db: Option<String>,
    /// Table.
    pub name: String,
}

/// A column's name behind that of its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Qualified {
    /// Database, if given. Empty for `.t.c`.
    pub db: Option<String>,
    /// Table.
    pub table: String,
    /// Column.
    pub column: String,
}

impl Qualified {
    /// As errors show it.
    pub fn written(&self) -> String {
        let Qualified { db, table, column } = self;
        match db {
            Some(db) => format!("{db}.{table}.{column}"),
            None => format!("{table}.{column}"),
        }
    }
}
