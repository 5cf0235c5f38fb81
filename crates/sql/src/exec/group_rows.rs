//! The rows of a group, as a stored aggregate function takes them.

use super::value_bytes::ValueBytes;
use narwal_types::{SqlResult, Value};

/// The rows of a group, one after the other.
#[derive(Debug, Default)]
pub struct GroupRows {
    collected: Value,
    at: usize,
    width: usize,
}

impl GroupRows {
    /// Takes what the group's aggregate has collected. `width`: how many values a row has; a row without any has one that
    /// means nothing.
    pub fn new(collected: Value, width: usize) -> Self {
        GroupRows {
            collected,
            at: 0,
            width,
        }
    }

    /// The next row; `None` behind the last one.
    ///
    /// # Errors
    /// The bytes are none of rows.
    pub fn next_row(&mut self) -> SqlResult<Option<Vec<Value>>> {
        let Value::Bytes(bytes) = &self.collected else {
            return Ok(None);
        };
        let mut rest = bytes.get(self.at..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(None);
        }
        let codec = ValueBytes::default();
        let mut row = Vec::with_capacity(self.width);
        for _ in 0..self.width.max(1) {
            row.push(codec.take(&mut rest)?.to_value());
        }
        row.truncate(self.width);
        self.at = bytes.len() - rest.len();
        Ok(Some(row))
    }
}
