//! Keys: an index id and what stands behind it, ranges of them, and the clustered key in a secondary one.

use crate::{EngineError, Result};
use narwal_types::errors;
use narwal_types::key::successor;
use smallvec::SmallVec;
use std::ops::Bound;

/// A key with its index id (4 bytes, big-endian) in front.
pub(crate) type FullKey = SmallVec<[u8; 24]>;

/// Joins an index id and a key.
#[inline]
pub(crate) fn full_key(index: u32, key: &[u8]) -> FullKey {
    let mut k = FullKey::new();
    k.extend_from_slice(&index.to_be_bytes());
    k.extend_from_slice(key);
    k
}

/// A copy of a key. `clone` goes byte by byte.
#[inline]
pub(crate) fn copy(key: &FullKey) -> FullKey {
    FullKey::from_slice(key)
}

/// The index id in front of a full key.
#[inline]
pub(crate) fn index_of(key: &[u8]) -> u32 {
    key.get(..4)
        .and_then(|b| b.try_into().ok())
        .map_or(0, u32::from_be_bytes)
}

pub(crate) fn as_bound(b: &Bound<FullKey>) -> Bound<&[u8]> {
    match b {
        Bound::Included(k) => Bound::Included(k.as_slice()),
        Bound::Excluded(k) => Bound::Excluded(k.as_slice()),
        Bound::Unbounded => Bound::Unbounded,
    }
}

/// A range of full keys within one index.
#[derive(Debug, Clone)]
pub(crate) struct FullRange {
    pub(crate) start: Bound<FullKey>,
    pub(crate) end: Bound<FullKey>,
}

impl FullRange {
    /// Every key of every index.
    pub(crate) const ALL: FullRange = FullRange {
        start: Bound::Unbounded,
        end: Bound::Unbounded,
    };

    /// The index's part of the key space cut to a range of its keys.
    pub(crate) fn new(index: u32, range: &crate::key::KeyRange) -> Self {
        let map = |b: &Bound<Vec<u8>>| match b {
            Bound::Included(k) => Some(Bound::Included(full_key(index, k))),
            Bound::Excluded(k) => Some(Bound::Excluded(full_key(index, k))),
            Bound::Unbounded => None,
        };
        FullRange {
            start: map(&range.start).unwrap_or_else(|| Bound::Included(full_key(index, &[]))),
            end: map(&range.end).unwrap_or_else(|| match index.checked_add(1) {
                Some(next) => Bound::Excluded(full_key(next, &[])),
                None => Bound::Unbounded,
            }),
        }
    }

    /// True if the bounds can't hold a key; `BTreeMap::range` panics on such ranges.
    pub(crate) fn is_empty(&self) -> bool {
        use Bound::*;
        match (&self.start, &self.end) {
            (Included(a), Included(b)) => a > b,
            (Included(a), Excluded(b))
            | (Excluded(a), Included(b))
            | (Excluded(a), Excluded(b)) => a >= b,
            _ => false,
        }
    }

    pub(crate) fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        (as_bound(&self.start), as_bound(&self.end))
    }
}

/// Completes a secondary key from its parts.
pub(crate) fn finish_secondary_key(parts: &mut Vec<u8>, pk: &[u8]) -> Result<()> {
    let len = u16::try_from(pk.len())
        .map_err(|_| EngineError::Sql(errors::TOO_LONG_KEY.text("Specified key was too long")))?;
    parts.extend_from_slice(pk);
    parts.extend_from_slice(&len.to_be_bytes());
    Ok(())
}

/// The clustered key inside a complete secondary key.
pub(crate) fn pk_of_secondary(key: &[u8]) -> Result<&[u8]> {
    let damaged = || {
        EngineError::Corrupt("a secondary index key is shorter than the clustered key in it".into())
    };
    let (rest, len) = key.split_last_chunk::<2>().ok_or_else(damaged)?;
    let len = usize::from(u16::from_be_bytes(*len));
    rest.len()
        .checked_sub(len)
        .map(|at| &rest[at..])
        .ok_or_else(damaged)
}

pub(crate) const TEMPORARY: u32 = 1 << 31;
/// Bits of an index's number in its table, which has at most 65.
pub(crate) const INDEX_BITS: u32 = 7;
pub(crate) const SLOTS: u32 = 1 << (31 - INDEX_BITS);
/// In table ids, which are 48 bits wide.
pub(crate) const TEMPORARY_TABLE: u64 = 1 << 47;

/// Whether an index is one of a temporary table.
#[inline]
pub(crate) fn is_temporary(index: u32) -> bool {
    index & TEMPORARY != 0
}

pub(crate) fn slot_of(index: u32) -> u32 {
    (index & !TEMPORARY) >> INDEX_BITS
}

/// A range of encoded keys of one index. For secondary indexes bounds are prefixes of full keys: use
/// `Included(prefix)` / `Excluded(successor(prefix))`.
#[derive(Debug, Clone)]
pub struct KeyRange {
    /// Lower bound.
    pub start: Bound<Vec<u8>>,
    /// Upper bound.
    pub end: Bound<Vec<u8>>,
}

impl KeyRange {
    /// Everything.
    pub fn all() -> Self {
        KeyRange {
            start: Bound::Unbounded,
            end: Bound::Unbounded,
        }
    }

    /// All keys that start with `prefix`.
    pub fn prefix(prefix: Vec<u8>) -> Self {
        let end = successor(&prefix);
        KeyRange {
            start: Bound::Included(prefix),
            end: end.map_or(Bound::Unbounded, Bound::Excluded),
        }
    }
}

/// Clustered key inside a scanned key.
pub(crate) fn clustered_key(index: usize, key: &[u8]) -> Result<&[u8]> {
    if index == 0 {
        Ok(key)
    } else {
        pk_of_secondary(key)
    }
}
