//! Rows that went to temporary files by a hash of their keys: equal keys are in one file.

use super::spill::{SpillFile, SpillReader};
use crate::env::StatementEnv;
use crate::status_counts::StatusCount;
use narwal_types::SqlResult;

/// Number of files.
pub(super) const PARTS: usize = 16;

/// What each holds in memory until it is complete, in bytes.
const BUFFER: usize = 16 << 10;

/// What takes key and body of each row. False = enough.
pub(super) type OnRecord<'f> = dyn FnMut(&[u8], &[u8]) -> SqlResult<bool> + 'f;

/// Which file a key belongs to: another one for each set of files that is made.
pub(super) type Hasher = ahash::RandomState;

/// Files that are being written.
pub(super) struct Partitions {
    hasher: Hasher,
    files: Vec<Option<SpillFile>>,
    steps: u32,
}

impl Partitions {
    /// No rows yet.
    pub(super) fn new() -> Self {
        Self::by(Hasher::new())
    }

    /// For keys that must come into files of the same number as those of others.
    pub(super) fn by(hasher: Hasher) -> Self {
        Partitions {
            hasher,
            files: (0..PARTS).map(|_| None).collect(),
            steps: 0,
        }
    }

    /// How keys are assigned.
    pub(super) fn hasher(&self) -> Hasher {
        self.hasher.clone()
    }

    /// Appends a row.
    pub(super) fn push(&mut self, key: &[u8], body: &[&[u8]], env: &StatementEnv) -> SqlResult<()> {
        self.steps = self.steps.wrapping_add(1);
        if self.steps & 0xff == 0 {
            env.check_interrupt()?;
        }
        let at = (self.hasher.hash_one(key) >> 32) as usize % PARTS;
        let file = match &mut self.files[at] {
            Some(f) => f,
            none => {
                env.status_counts.add(StatusCount::CreatedTmpFiles, 1);
                none.insert(SpillFile::with_buffer(&env.tmp_dir, BUFFER)?)
            }
        };
        file.write_record(&[key])?;
        file.write_record(body)
    }

    /// All rows were pushed: the files by their numbers, `None` for those without rows.
    pub(super) fn finish(self) -> SqlResult<Vec<Option<Part>>> {
        let mut parts = Vec::with_capacity(PARTS);
        for file in self.files {
            parts.push(match file {
                Some(mut file) => {
                    file.finish()?;
                    Some(Part { file })
                }
                None => None,
            });
        }
        Ok(parts)
    }
}

/// A complete file.
pub(super) struct Part {
    file: SpillFile,
}

impl Part {
    /// Its size in bytes.
    pub(super) fn len(&self) -> u64 {
        self.file.len()
    }

    /// Calls `f` with key and body of each row, in the order in which they came. False = enough.
    pub(super) fn each(&self, env: &StatementEnv, f: &mut OnRecord<'_>) -> SqlResult<()> {
        let mut reader = SpillReader::new(0, self.file.len());
        let (mut key, mut body) = (Vec::new(), Vec::new());
        let mut n = 0u32;
        while reader.read_record(&self.file, &mut key)? {
            reader.read_record(&self.file, &mut body)?;
            n = n.wrapping_add(1);
            if n & 0xff == 0 {
                env.check_interrupt()?;
            }
            if !f(&key, &body)? {
                break;
            }
        }
        Ok(())
    }
}
