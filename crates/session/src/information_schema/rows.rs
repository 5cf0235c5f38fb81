//! What virtual tables are made of.

use narwal_types::Value;

/// Rows of a virtual table.
pub(super) type Rows = Vec<Vec<Value>>;
