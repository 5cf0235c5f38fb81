//! Rows in a temporary file in the order of their keys, to be looked up.

use super::byte_sorter::ByteSorter;
use super::spill::{SpillFile, SpillReader};
use crate::env::StatementEnv;
use crate::status_counts::StatusCount;
use narwal_types::SqlResult;
use std::cmp::Ordering;

/// Bytes of a block of sorted rows: a lookup reads one at least.
const BLOCK: usize = 16 << 10;

/// Rows in the order of their keys.
pub(crate) struct SortedRows {
    pub(super) file: SpillFile,
    /// The first key of each block, and where it begins.
    blocks: Vec<(Box<[u8]>, u64)>,
}

impl SortedRows {
    /// Writes the rows of a sorter; with `once` only the first of equal keys.
    pub(super) fn of(sorter: ByteSorter, once: bool, env: &StatementEnv) -> SqlResult<SortedRows> {
        env.status_counts.add(StatusCount::CreatedTmpFiles, 1);
        let mut out = SortedRows {
            file: SpillFile::new(&env.tmp_dir)?,
            blocks: Vec::new(),
        };
        let mut last: Option<Vec<u8>> = None;
        sorter.drain(env, &mut |key, row| {
            if once {
                if last.as_deref() == Some(key) {
                    return Ok(true);
                }
                let last = last.get_or_insert_default();
                last.clear();
                last.extend_from_slice(key);
            }
            let at = out.file.len();
            if out.blocks.last().is_none_or(|b| at - b.1 >= BLOCK as u64) {
                out.blocks.push((key.into(), at));
            }
            out.file.write_record(&[key])?;
            out.file.write_record(&[row])?;
            Ok(true)
        })?;
        out.file.finish()?;
        Ok(out)
    }

    /// Reads from where rows with a key may begin.
    pub(super) fn seek(&self, key: &[u8]) -> SpillReader {
        let block = self.blocks.partition_point(|(first, _)| **first < *key);
        let start = self.blocks.get(block.saturating_sub(1)).map_or(0, |b| b.1);
        SpillReader::in_pieces(start, self.file.len(), BLOCK)
    }

    /// True if a row has this key.
    pub(super) fn contains(&self, key: &[u8]) -> SqlResult<bool> {
        let mut reader = self.seek(key);
        let mut found = Vec::new();
        let mut row = Vec::new();
        while reader.read_record(&self.file, &mut found)? {
            match found.as_slice().cmp(key) {
                Ordering::Less => {}
                Ordering::Equal => return Ok(true),
                Ordering::Greater => return Ok(false),
            }
            reader.read_record(&self.file, &mut row)?;
        }
        Ok(false)
    }
}
