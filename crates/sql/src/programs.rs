//! What triggers see of a row.

use crate::env::{StatementEnv, TriggerRow};
use crate::zone::seen;
use narwal_types::charset::latin1_text;
use narwal_types::{SqlResult, Value, ValueRef};

impl TriggerRow<'_> {
    /// A column's value, as statements see it.
    pub fn value(&self, new: bool, column: usize, env: &StatementEnv) -> SqlResult<Value> {
        let Some(image) = (if new { self.new } else { self.old }) else {
            return Ok(Value::Null);
        };
        Ok(match self.table.layout.column(image, column)? {
            ValueRef::Latin1(s) => Value::Str(latin1_text(s).into()),
            v => seen(v, env.time_zone).to_value(),
        })
    }
}
