//! What a version of a key says.

use std::sync::Arc;

/// What a version of a key says.
#[derive(Debug, Clone)]
pub(crate) enum Payload {
    /// The key is gone.
    Tombstone,
    /// A secondary index entry: the key says it all.
    Present,
    /// A clustered entry: the row image.
    Row(Arc<[u8]>),
}

impl Payload {
    pub(crate) fn heap_bytes(&self) -> u64 {
        match self {
            Payload::Row(r) => r.len() as u64 + ROW_OVERHEAD,
            _ => 0,
        }
    }
}

/// Two counts, and what the allocator adds.
pub(crate) const ROW_OVERHEAD: u64 = 28;

/// What a run says about a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEntry<'a> {
    /// The key is gone.
    Tombstone,
    /// A secondary index entry: the key says it all.
    Present,
    /// A clustered entry: the row image.
    Row(&'a [u8]),
}

impl RunEntry<'_> {
    /// The same with its own copy of the row.
    pub(crate) fn to_payload(self) -> Payload {
        match self {
            RunEntry::Tombstone => Payload::Tombstone,
            RunEntry::Present => Payload::Present,
            RunEntry::Row(r) => Payload::Row(r.into()),
        }
    }
}

impl<'a> From<&'a Payload> for RunEntry<'a> {
    fn from(p: &'a Payload) -> Self {
        match p {
            Payload::Tombstone => RunEntry::Tombstone,
            Payload::Present => RunEntry::Present,
            Payload::Row(r) => RunEntry::Row(r),
        }
    }
}
