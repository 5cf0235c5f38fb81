//! Rows in the order in which they came, in memory and behind those in a temporary file.

use super::spill::{SpillFile, SpillReader};
use crate::env::StatementEnv;
use crate::status_counts::StatusCount;
use narwal_types::SqlResult;

/// Bytes of rows that stand together: a list that grows takes no more than this beyond what it holds.
const BLOCK: usize = 256 << 10;

/// Bytes of a row's length.
const LENGTH: usize = 4;

/// What a reader that jumped reads of a file at once, in bytes.
const JUMP: usize = 8 << 10;

/// A place between two rows of a list.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    block: usize,
    at: usize,
    /// In the file, if rows go there.
    file: Option<u64>,
}

/// Byte strings one behind the other.
#[derive(Default)]
pub struct RowList {
    /// Each row with its length in front, 4 bytes, little-endian; no row is in two blocks.
    blocks: Vec<Vec<u8>>,
    bytes: u64,
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
        self.bytes
    }

    /// Appends a row; beyond `room` bytes they go to a file.
    pub fn push(&mut self, row: &[u8], room: u64, env: &StatementEnv) -> SqlResult<()> {
        self.count += 1;
        let len = row.len() + LENGTH;
        // What does not fit its length goes to a file, whose records have longer ones.
        let short = u32::try_from(row.len()).ok();
        if self.file.is_none() && (short.is_none() || self.bytes + len as u64 > room) {
            env.status_counts.add(StatusCount::CreatedTmpFiles, 1);
            env.status_counts.add(StatusCount::CreatedTmpDiskTables, 1);
            self.file = Some(SpillFile::new(&env.tmp_dir)?);
        }
        if let Some(f) = &mut self.file {
            return f.write_record(&[row]);
        }
        let last = self.blocks.last();
        if last.is_none_or(|b| b.len() + len > BLOCK) {
            self.blocks.push(Vec::new());
        }
        if let (Some(block), Some(short)) = (self.blocks.last_mut(), short) {
            block.extend_from_slice(&short.to_le_bytes());
            block.extend_from_slice(row);
        }
        self.bytes += len as u64;
        Ok(())
    }

    /// All rows were pushed: they can be read.
    pub fn finish(&mut self) -> SqlResult<()> {
        self.file.as_mut().map_or(Ok(()), SpillFile::finish)
    }

    /// Where the next row will stand.
    pub fn place(&self) -> Place {
        let block = self.blocks.len().saturating_sub(1);
        Place {
            block,
            at: self.blocks.last().map_or(0, Vec::len),
            file: self.file.as_ref().map(SpillFile::len),
        }
    }

    /// Begins to read them from a place on.
    pub fn reader_at(&self, place: &Place) -> RowReader {
        let start = place.file.unwrap_or(0);
        RowReader {
            block: match place.file {
                Some(_) => self.blocks.len(),
                None => place.block,
            },
            at: place.at,
            file: (self.file.as_ref()).map(|f| SpillReader::in_pieces(start, f.len(), JUMP)),
        }
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.blocks.truncate(1);
        self.blocks.iter_mut().for_each(Vec::clear);
        self.bytes = 0;
        self.file = None;
        self.count = 0;
    }

    /// Begins to read them.
    pub fn reader(&self) -> RowReader {
        RowReader {
            block: 0,
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
    block: usize,
    at: usize,
    file: Option<SpillReader>,
}

impl RowReader {
    /// The next row, in place of what `row` holds; false at the end.
    pub fn next(&mut self, list: &RowList, row: &mut Vec<u8>) -> SqlResult<bool> {
        while let Some(block) = list.blocks.get(self.block) {
            if let Some((len, rest)) = block[self.at..].split_first_chunk::<LENGTH>() {
                let len = u32::from_le_bytes(*len) as usize;
                self.at += LENGTH + len;
                row.clear();
                row.extend_from_slice(&rest[..len]);
                return Ok(true);
            }
            self.block += 1;
            self.at = 0;
        }
        match (&mut self.file, &list.file) {
            (Some(r), Some(f)) => r.read_record(f, row),
            _ => Ok(false),
        }
    }
}
