//! The base as the store sees it.

use crate::key::KeyRange;
use crate::{EngineError, Result};
use std::ops::Bound;

/// What the store asks of one generation of the base. The base can be replaced by another that answers the same; the calls
/// are bound when the program is compiled, and cost nothing.
///
/// What writes a base is the merge of a checkpoint (`merge.rs`), and nobody else.
pub(crate) trait ReadBase {
    /// A row that keeps what it points into.
    type Row;
    /// An iterator over entries.
    type Range;

    /// Every commit up to this one is in it, none behind.
    fn seq(&self) -> u64;
    /// Reads a clustered entry.
    fn get(&self, index: u32, key: &[u8]) -> Result<Option<Self::Row>>;
    /// Entries of a range, in either direction; none if there is nothing of the index yet.
    fn range(&self, index: u32, range: &KeyRange) -> Result<Option<Self::Range>>;
    /// Calls `f` with entries until it says false; returns what it said last.
    fn walk<E: From<EngineError>>(
        &self,
        index: u32,
        start: Bound<&[u8]>,
        end: Bound<&[u8]>,
        reverse: bool,
        f: impl FnMut(&[u8], &[u8]) -> std::result::Result<bool, E>,
    ) -> std::result::Result<bool, E>;
    /// The last key of an index up to a bound.
    fn last_key(&self, index: u32, end: Bound<&[u8]>) -> Result<Option<Vec<u8>>>;
    /// Number of entries of an index.
    fn len(&self, index: u32) -> Result<u64>;
}
