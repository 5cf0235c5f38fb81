//! Rows of values in the order in which they came, in memory and behind those in a temporary file.

use super::row_list::RowList;
use super::value_bytes::ValueBytes;
use crate::env::StatementEnv;
use narwal_types::{SqlResult, ValueRef};
use smallvec::SmallVec;

/// Rows that wait: for their locks to be durable, for the end of a scan, for a commit.
#[derive(Default)]
pub struct ValueList {
    codec: ValueBytes,
    rows: RowList,
    record: Vec<u8>,
}

impl ValueList {
    /// Number of rows.
    pub fn count(&self) -> u64 {
        self.rows.len()
    }

    /// Appends a row; beyond the room of a temporary table they go to a file.
    ///
    /// # Errors
    /// 1021 for a full disk, 3 for other failures of the file.
    pub fn push<'v>(
        &mut self,
        row: impl IntoIterator<Item = ValueRef<'v>>,
        env: &StatementEnv,
    ) -> SqlResult<()> {
        self.record.clear();
        for v in row {
            self.codec.put(v, &mut self.record);
        }
        self.rows.push(&self.record, env.table_room(), env)
    }

    /// All rows were pushed: they can be read.
    ///
    /// # Errors
    /// As [`ValueList::push`].
    pub fn finish(&mut self) -> SqlResult<()> {
        self.rows.finish()
    }

    /// Calls `f` with each row. False = enough.
    ///
    /// # Errors
    /// 3 if the file can't be read; those of `f`.
    pub fn each(&self, f: &mut dyn FnMut(&[ValueRef<'_>]) -> SqlResult<bool>) -> SqlResult<()> {
        let mut reader = self.rows.reader();
        let mut record = Vec::new();
        while reader.next(&self.rows, &mut record)? {
            let mut rest = record.as_slice();
            let mut row: SmallVec<[ValueRef<'_>; 12]> = SmallVec::new();
            while !rest.is_empty() {
                row.push(self.codec.take(&mut rest)?);
            }
            if !f(&row)? {
                break;
            }
        }
        Ok(())
    }
}

/// Bytes that a row takes when it is kept, roughly.
pub(crate) fn row_memory(row: &[ValueRef<'_>]) -> u64 {
    row.iter()
        .map(|v| match v {
            ValueRef::Str(s) | ValueRef::Bytes(s) => s.len() as u64 + 64,
            _ => 64,
        })
        .sum()
}
