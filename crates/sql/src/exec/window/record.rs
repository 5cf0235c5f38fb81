//! A row of a sort as bytes: how long its key is at each level, its values and its image.

use crate::exec::groups::GroupRow;
use crate::exec::value_bytes::{ValueBytes, take_bytes};
use narwal_types::{RowLayout, SqlResult, Value};

/// A row with its values.
pub(super) fn group_row<'a>(
    layout: Option<&'a RowLayout>,
    row: &'a [u8],
    aggregates: &'a [Value],
) -> GroupRow<'a> {
    GroupRow {
        layout,
        row,
        aggregates,
    }
}

/// Reads values in place of those that `list` holds.
pub(super) fn take_values(
    codec: &ValueBytes,
    mut bytes: &[u8],
    list: &mut Vec<Value>,
) -> SqlResult<()> {
    list.clear();
    while !bytes.is_empty() {
        list.push(codec.take(&mut bytes)?.to_value());
    }
    Ok(())
}

/// A record of a sort taken apart.
pub(super) struct Sorted<'r> {
    /// How long the key is at each level.
    pub(super) ends: &'r [u8],
    pub(super) values: &'r [u8],
    pub(super) row: &'r [u8],
}

impl<'r> Sorted<'r> {
    pub(super) fn new(record: &'r [u8], levels: usize) -> SqlResult<Sorted<'r>> {
        let (ends, mut rest) = record.split_at(levels * 4);
        let values = take_bytes(&mut rest)?;
        Ok(Sorted {
            ends,
            values,
            row: rest,
        })
    }

    /// The beginning of the key that the keys of a level make.
    pub(super) fn key<'k>(&self, key: &'k [u8], level: usize) -> &'k [u8] {
        let end = self.ends[level * 4..].first_chunk();
        let end = end.map_or(key.len(), |b| u32::from_le_bytes(*b) as usize);
        &key[..end]
    }
}
