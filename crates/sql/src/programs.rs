//! What triggers see of a row.

use crate::env::{StatementEnv, TriggerRow};
use crate::zone::seen;
use narwal_types::{SqlResult, Value};

impl TriggerRow<'_> {
    /// A column's value, as statements see it.
    pub fn value(&self, new: bool, column: usize, env: &StatementEnv) -> SqlResult<Value> {
        let Some(image) = (if new { self.new } else { self.old }) else {
            return Ok(Value::Null);
        };
        let v = self.table.layout.column(image, column)?;
        Ok(seen(v, env.time_zone).to_value())
    }
}
