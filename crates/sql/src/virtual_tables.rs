//! Tables whose rows are made when asked for (`information_schema`): a hook for the session.

use crate::env::StatementEnv;
use narwal_engine::Table;
use narwal_types::{SqlResult, Value};
use std::sync::Arc;

/// The schema of the virtual tables. Its name and theirs are compared without case.
pub const INFORMATION_SCHEMA: &str = "information_schema";

/// The schema that a server with MySQL's face has beside it.
pub const PERFORMANCE_SCHEMA: &str = "performance_schema";

/// What a statement wants of a virtual table, as far as it is known before the rows are made: a hint, since the
/// conditions are checked on the rows too.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Columns, by position, that must be equal to a text.
    pub equal: Vec<(usize, Box<str>)>,
}

impl Wanted {
    /// The text that a column must be equal to, if there is one.
    pub fn value(&self, column: usize) -> Option<&str> {
        self.equal
            .iter()
            .find(|(c, _)| *c == column)
            .map(|(_, v)| &**v)
    }
}

/// Makes the rows of a virtual table, in any order; called once for each execution.
pub type VirtualRows =
    Arc<dyn Fn(&StatementEnv, &Wanted) -> SqlResult<Vec<Vec<Value>>> + Send + Sync>;

/// Finds virtual tables by name.
pub trait VirtualTables {
    /// The table's definition and how to make its rows, or `None` if there is no such virtual table. The rows are those that
    /// `reader` sees, an account's name and host (the definer of a view), or else who runs the statement.
    fn table(
        &self,
        db: &str,
        name: &str,
        reader: Option<&(String, String)>,
    ) -> Option<(Arc<Table>, VirtualRows)>;
}
