//! What an INSERT of MySQL's calls its row.

use narwal_types::Name;

/// `AS name [(columns)]` behind an INSERT's rows: what the row to be inserted is called in ON DUPLICATE KEY UPDATE.
#[derive(Debug, Clone)]
pub(crate) struct RowAlias {
    pub(crate) table: String,
    /// A column's name there, and in the table.
    pub(crate) columns: Vec<(String, String)>,
}

impl RowAlias {
    /// The table's column that a name means here, if it means one of the row.
    pub(crate) fn column(&self, table: Option<&str>, name: &str) -> Option<String> {
        let named = |c: &&(String, String)| c.0.same_name(name);
        let column = self.columns.iter().find(named).map(|c| c.1.clone());
        match table {
            Some(t) if t != self.table => None,
            // Without a list the columns are called as in the table.
            Some(_) if self.columns.is_empty() => Some(name.to_string()),
            _ => column,
        }
    }
}
