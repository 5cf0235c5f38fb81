//! The write set of a committed huge transaction: one immutable layer of the store until a checkpoint merges it.
//!
//! All its entries have one sequence number. Most of it lies in sorted run files; what was still in memory at commit
//! stays there as a sorted map.

use crate::key::FullKey;
use crate::store::entry::{Payload, RunEntry};
use crate::store::run::set::RunSet;
use crate::store::writeset::{OwnMap, WriteSet};
use crate::{EngineError, Result};
use std::cmp::Ordering;
use std::sync::Arc;

/// A committed spilled write set.
pub(crate) struct Spilled {
    /// The transaction's commit sequence number.
    pub(crate) seq: u64,
    pub(crate) map: Arc<OwnMap>,
    /// Memory of the map, bytes.
    pub(crate) map_bytes: u64,
    pub(crate) runs: RunSet,
    /// It is no transaction's, but holds what the base lacks of these tables, which are damaged (`apart.rs`).
    pub(crate) apart: Vec<u64>,
}

impl Spilled {
    /// Takes a write set over.
    pub(crate) fn new(seq: u64, writes: &mut WriteSet) -> Spilled {
        let map_bytes = writes.bytes();
        let (map, runs) = writes.take();
        Spilled {
            seq,
            map: Arc::new(map),
            map_bytes,
            runs: RunSet { runs },
            apart: Vec::new(),
        }
    }

    /// The version of a key, whatever snapshot asks: the caller compares `seq`.
    pub(crate) fn get(&self, key: &FullKey) -> Result<Option<Payload>> {
        if let Some(own) = self.map.get(key) {
            return Ok(Some(own.payload.clone()));
        }
        self.runs.get(key)
    }

    /// Walks the newest version of every key in key order: for the checkpoint.
    pub(crate) fn for_each_newest(
        &self,
        mut f: impl FnMut(u32, &[u8], RunEntry<'_>) -> Result<()>,
    ) -> Result<()> {
        let mut each = |key: &[u8], e: RunEntry<'_>| match key.split_first_chunk::<4>() {
            Some((index, key)) => f(u32::from_be_bytes(*index), key, e),
            None => Err(EngineError::Corrupt("a key without an index id".into())),
        };
        let mut map = self.map.iter().peekable();
        let mut runs = self.runs.iter_all()?;
        loop {
            // The map is newer than every run.
            let order = match (map.peek(), runs.peek_key()) {
                (None, None) => return Ok(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some((k, _)), Some(r)) => k.as_slice().cmp(r),
            };
            if order != Ordering::Greater {
                if let Some((key, own)) = map.next() {
                    each(key, RunEntry::from(&own.payload))?;
                }
            } else if let (Some(key), Some(entry)) = (runs.peek_key(), runs.entry()) {
                each(key, entry)?;
            }
            if order != Ordering::Less {
                runs.advance()?;
            }
        }
    }
}
