//! The rows of a partition: kept in the order of the window, in memory and behind that in a file, and read by any number of
//! readers that go forward, or that jump.

use crate::env::StatementEnv;
use crate::exec::row_list::{Place, RowList, RowReader};
use crate::exec::value_bytes::{ValueBytes, take_u64};
use narwal_types::{SqlResult, ValueRef};

/// Every so many rows the place is noted, so that a reader can jump there.
const STRIDE: u64 = 64;

/// A row as it is kept: the numbers of its groups of equals, the values that functions take of it, and behind these what it
/// consists of.
pub(super) struct Record<'r> {
    bytes: &'r [u8],
    levels: usize,
}

impl<'r> Record<'r> {
    /// A record's bytes; `levels`: how many numbers of groups are in front.
    pub(super) fn new(bytes: &'r [u8], levels: usize) -> Self {
        Record { bytes, levels }
    }

    /// The number of its group in a level, from 0.
    pub(super) fn group(&self, level: usize) -> SqlResult<u64> {
        take_u64(&mut &self.bytes[level * 8..])
    }

    /// The n-th value that functions take of it.
    pub(super) fn value(&self, n: usize, codec: &ValueBytes) -> SqlResult<ValueRef<'r>> {
        let mut rest = &self.bytes[self.levels * 8..];
        for _ in 0..n {
            codec.take(&mut rest)?;
        }
        codec.take(&mut rest)
    }

    /// What stands behind `values` values.
    pub(super) fn rest(&self, values: usize, codec: &ValueBytes) -> SqlResult<&'r [u8]> {
        let mut rest = &self.bytes[self.levels * 8..];
        for _ in 0..values {
            codec.take(&mut rest)?;
        }
        Ok(rest)
    }
}

/// The rows.
#[derive(Default)]
pub(super) struct PartitionRows {
    list: RowList,
    places: Vec<Place>,
}

impl PartitionRows {
    /// Number of rows.
    pub(super) fn len(&self) -> u64 {
        self.list.len()
    }

    /// Appends a row; beyond `room` bytes they go to a file.
    pub(super) fn push(&mut self, row: &[u8], room: u64, env: &StatementEnv) -> SqlResult<()> {
        if self.len().is_multiple_of(STRIDE) {
            self.places.push(self.list.place());
        }
        self.list.push(row, room, env)
    }

    /// All rows were pushed: they can be read.
    pub(super) fn finish(&mut self) -> SqlResult<()> {
        self.list.finish()
    }

    /// Forgets all rows.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.places.clear();
    }
}

/// Reads rows: the one that it stands at, then those behind it.
pub(super) struct Cursor {
    reader: RowReader,
    row: Vec<u8>,
    /// The row that it holds.
    at: Option<u64>,
    /// The row that the reader gives next.
    next: u64,
}

impl Cursor {
    /// In front of the first row.
    pub(super) fn new(rows: &PartitionRows) -> Cursor {
        Cursor {
            reader: rows.list.reader(),
            row: Vec::new(),
            at: None,
            next: 0,
        }
    }

    /// The bytes of the n-th row, from 0; `None` if there are not so many.
    pub(super) fn get(&mut self, rows: &PartitionRows, n: u64) -> SqlResult<Option<&[u8]>> {
        if n >= rows.len() {
            return Ok(None);
        }
        if self.at != Some(n) {
            if n < self.next || n - self.next >= STRIDE {
                let mark = n / STRIDE;
                if let Some(place) = rows.places.get(mark as usize) {
                    self.reader = rows.list.reader_at(place);
                    self.next = mark * STRIDE;
                }
            }
            while self.next <= n {
                if !self.reader.next(&rows.list, &mut self.row)? {
                    return Ok(None);
                }
                self.next += 1;
            }
            self.at = Some(n);
        }
        Ok(Some(&self.row))
    }
}
