//! Rows of tables of the schema `mysql` as texts: what a statement finds in a copy of such a table, and what it leaves.

use crate::system_schemas::MYSQL;
use ahash::AHashMap;
use narwal_engine::Table;
use narwal_types::{Collation, OkInfo, ResultColumn, ResultSink, SqlResult, Value, ValueRef};

/// Rows as texts; NULL is empty.
#[derive(Default)]
pub(crate) struct Texts(pub(crate) Vec<Vec<String>>);

impl ResultSink for Texts {
    fn begin_rows(&mut self, _: &[ResultColumn]) -> SqlResult<()> {
        Ok(())
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        let texts = values.iter().map(ValueRef::to_text);
        self.0.push(texts.map(|t| t.to_string()).collect());
        Ok(())
    }

    fn end_rows(&mut self, _: u16, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }

    fn ok(&mut self, _: &OkInfo, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }

    fn set_results(&mut self, _: Option<Collation>) {}
}

/// The rows of `all` that are not in `others`, each as often as it is there more often.
pub(crate) fn without(all: &Texts, others: &Texts) -> Vec<Vec<String>> {
    let mut rest: AHashMap<&Vec<String>, usize> = AHashMap::new();
    for row in &others.0 {
        *rest.entry(row).or_default() += 1;
    }
    let mut more = Vec::new();
    for row in &all.0 {
        match rest.get_mut(row) {
            Some(n) if *n > 0 => *n -= 1,
            _ => more.push(row.clone()),
        }
    }
    more
}

/// A row with the names of its columns.
pub(crate) struct Row<'a> {
    pub(crate) table: &'a Table,
    pub(crate) values: &'a [String],
}

impl Row<'_> {
    /// A column's text; empty if there is no such column.
    pub(crate) fn get(&self, column: &str) -> &str {
        let columns = &self.table.def.columns;
        let at = columns.iter().position(|c| c.name == column);
        at.and_then(|at| self.values.get(at)).map_or("", |v| v)
    }
}

/// A value as SQL text that means the same under every mode and character set.
pub(crate) fn literal(v: &Value) -> String {
    match v {
        Value::Null => "NULL".to_string(),
        Value::Int(n) => n.to_string(),
        Value::UInt(n) => n.to_string(),
        v => {
            let text = v.as_ref().to_text();
            let hex: String = text.bytes().map(|b| format!("{b:02x}")).collect();
            format!("X'{hex}'")
        }
    }
}

/// An INSERT of rows into a table of `mysql`.
pub(crate) fn insert_text(table: &str, rows: &[Vec<Value>]) -> String {
    let row = |r: &Vec<Value>| {
        let list: Vec<String> = r.iter().map(literal).collect();
        format!("({})", list.join(","))
    };
    let rows: Vec<String> = rows.iter().map(row).collect();
    format!("INSERT INTO `{MYSQL}`.`{table}` VALUES {}", rows.join(","))
}
