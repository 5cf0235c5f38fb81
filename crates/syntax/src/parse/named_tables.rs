//! Lists of tables, as DROP, CHECK, LOCK TABLES, FLUSH TABLES and their kind have them.

use crate::ast::TableName;
use crate::parser::Parser;
use narwal_types::SqlResult;
use narwal_types::errors;
use std::collections::HashSet;

impl Parser<'_> {
    /// `table, ...`: each one once.
    pub(super) fn named_tables(&mut self) -> SqlResult<Vec<TableName>> {
        let tables = self.comma_separated(Self::table_name)?;
        each_once(tables.iter().map(|t| (t, None)))?;
        Ok(tables)
    }
}

/// Error 1066 if a table is there twice under the same name. With each one its alias.
pub(super) fn each_once<'a>(
    tables: impl ExactSizeIterator<Item = (&'a TableName, Option<&'a str>)>,
) -> SqlResult<()> {
    let one = size_of::<(Option<&str>, &str)>() + 1;
    narwal_memory::reserve((2 * tables.len() * one) as u64)?;
    let mut named = HashSet::with_capacity(tables.len());
    for (table, alias) in tables {
        let name = alias.unwrap_or(&table.name);
        if !named.insert((table.db.as_deref(), name)) {
            return Err(errors::NONUNIQ_TABLE.with([&name]));
        }
    }
    Ok(())
}
