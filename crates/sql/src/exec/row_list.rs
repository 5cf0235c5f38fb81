//! Rows in the order in which they came, in memory and behind those in a temporary file.

use super::spill::{SpillFile, SpillReader};
use crate::env::StatementEnv;
use narwal_types::SqlResult;

/// Byte strings one behind the other.
#[derive(Default)]
pub struct RowList {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    file: Option<SpillFile>,
    count: u64,
}

impl RowList {
    /// Number of rows.
    pub fn len(&self) -> u64 {
        self.count
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// True if some are in a file.
    pub fn is_spilled(&self) -> bool {
        self.file.is_some()
    }

    /// Bytes in memory.
    pub fn memory(&self) -> u64 {
        (self.bytes.len() + self.ends.len() * size_of::<usize>()) as u64
    }

    /// Appends a row; beyond `room` bytes they go to a file.
    pub fn push(&mut self, row: &[u8], room: u64, env: &StatementEnv) -> SqlResult<()> {
        self.count += 1;
        if self.file.is_none() && self.memory() + row.len() as u64 + 8 > room {
            env.spilled.files.set(env.spilled.files.get() + 1);
            env.spilled.tables.set(env.spilled.tables.get() + 1);
            self.file = Some(SpillFile::new(&env.tmp_dir)?);
        }
        if let Some(f) = &mut self.file {
            return f.write_record(&[row]);
        }
        self.bytes.extend_from_slice(row);
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// All rows were pushed: they can be read.
    pub fn finish(&mut self) -> SqlResult<()> {
        self.file.as_mut().map_or(Ok(()), SpillFile::finish)
    }

    /// Begins to read them.
    pub fn reader(&self) -> RowReader {
        RowReader {
            at: 0,
            file: self.file.as_ref().map(|f| SpillReader::new(0, f.len())),
        }
    }

    /// Calls `f` with each. False = enough.
    pub fn each(
        &self,
        env: &StatementEnv,
        f: &mut dyn FnMut(&[u8]) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        let mut reader = self.reader();
        let mut row = Vec::new();
        let mut n = 0u32;
        while reader.next(self, &mut row)? {
            n = n.wrapping_add(1);
            if n & 0xff == 0 {
                env.check_interrupt()?;
            }
            if !f(&row)? {
                break;
            }
        }
        Ok(())
    }
}

/// Reads a list from front to back.
pub struct RowReader {
    at: usize,
    file: Option<SpillReader>,
}

impl RowReader {
    /// The next row, in place of what `row` holds; false at the end.
    pub fn next(&mut self, list: &RowList, row: &mut Vec<u8>) -> SqlResult<bool> {
        if let Some(end) = list.ends.get(self.at) {
            let start = if self.at == 0 {
                0
            } else {
                list.ends[self.at - 1]
            };
            self.at += 1;
            row.clear();
            row.extend_from_slice(&list.bytes[start..*end]);
            return Ok(true);
        }
        match (&mut self.file, &list.file) {
            (Some(r), Some(f)) => r.read_record(f, row),
            _ => Ok(false),
        }
    }
}
