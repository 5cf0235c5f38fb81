//! Tables whose rows are made when asked for (`information_schema`): a hook for the session.

use crate::env::StatementEnv;
use narwal_engine::Table;
use narwal_types::{SqlResult, Value};
use std::sync::Arc;

/// Makes the rows of a virtual table, in any order; called once for each execution.
pub type VirtualRows = Arc<dyn Fn(&StatementEnv) -> SqlResult<Vec<Vec<Value>>> + Send + Sync>;

/// Finds virtual tables by name.
pub trait VirtualTables {
    /// The table's definition and how to make its rows, or `None` if there is no such virtual table.
    fn table(&self, db: &str, name: &str) -> Option<(Arc<Table>, VirtualRows)>;
}
