//! Entries copied out of a map under its lock, in one buffer.

use crate::key::FullKey;
use crate::store::entry::{Payload, RunEntry};
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// A row of at most so many bytes is copied. To count a reference on it instead would write to a cache line that other
/// processors read, twice.
const COPIED: usize = 512;
/// A buffer of at most so many bytes is kept by its thread for the next batch: most statements need one, and it would grow
/// step by step each time.
const KEPT: usize = 64 << 10;

thread_local! {
    static SPARE: Cell<Option<(Vec<u8>, Vec<Item>)>> = const { Cell::new(None) };
}

/// Entries in the order they were added in.
pub(crate) struct Batch {
    /// Keys, and rows that are copied.
    bytes: Vec<u8>,
    items: Vec<Item>,
}

struct Item {
    key: Range<usize>,
    row: ItemRow,
}

enum ItemRow {
    Tombstone,
    Present,
    /// Behind the key, of so many bytes.
    Copied(usize),
    Shared(Arc<[u8]>),
}

impl Drop for Batch {
    fn drop(&mut self) {
        self.clear();
        if (1..=KEPT).contains(&self.bytes.capacity()) {
            let kept = (
                std::mem::take(&mut self.bytes),
                std::mem::take(&mut self.items),
            );
            // A thread that ends may have no place for it any more.
            let _ = SPARE.try_with(|spare| spare.set(Some(kept)));
        }
    }
}

impl Batch {
    pub(crate) fn new() -> Self {
        let spare = SPARE.try_with(Cell::take).ok().flatten();
        let (bytes, items) = spare.unwrap_or_default();
        Batch { bytes, items }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.items.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn push(&mut self, key: &FullKey, payload: &Payload) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(key);
        let key = start..self.bytes.len();
        let row = match payload {
            Payload::Tombstone => ItemRow::Tombstone,
            Payload::Present => ItemRow::Present,
            Payload::Row(row) if row.len() <= COPIED => {
                self.bytes.extend_from_slice(row);
                ItemRow::Copied(row.len())
            }
            Payload::Row(row) => ItemRow::Shared(row.clone()),
        };
        self.items.push(Item { key, row });
    }

    /// The full key of an entry.
    #[inline]
    pub(crate) fn key(&self, at: usize) -> Option<&[u8]> {
        self.items.get(at).map(|i| &self.bytes[i.key.clone()])
    }

    /// What an entry says.
    #[inline]
    pub(crate) fn entry(&self, at: usize) -> Option<RunEntry<'_>> {
        let item = self.items.get(at)?;
        Some(match &item.row {
            ItemRow::Tombstone => RunEntry::Tombstone,
            ItemRow::Present => RunEntry::Present,
            ItemRow::Copied(n) => RunEntry::Row(&self.bytes[item.key.end..item.key.end + n]),
            ItemRow::Shared(row) => RunEntry::Row(row),
        })
    }

    /// The full key of the last entry.
    pub(crate) fn last_key(&self) -> Option<FullKey> {
        let last = self.key(self.items.len().checked_sub(1)?)?;
        Some(FullKey::from_slice(last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::full_key;

    #[test]
    fn entries_come_back_as_they_were() {
        let rows = [0, 1, COPIED, COPIED + 1, 100_000];
        let mut b = Batch::new();
        for round in 0..2u8 {
            b.clear();
            assert!(b.is_empty() && b.last_key().is_none() && b.entry(0).is_none());
            for (i, n) in rows.iter().enumerate() {
                let i = i as u32;
                b.push(&full_key(i, b"row"), &Payload::Row(vec![round; *n].into()));
                b.push(&full_key(i, b"gone"), &Payload::Tombstone);
                b.push(&full_key(i, &[7; 50]), &Payload::Present);
            }
            assert_eq!(b.len(), 3 * rows.len());
            for (i, n) in rows.iter().enumerate() {
                let (at, i) = (3 * i, i as u32);
                assert_eq!(b.key(at), Some(&full_key(i, b"row")[..]));
                assert!(matches!(b.entry(at), Some(RunEntry::Row(r)) if r == vec![round; *n]));
                assert_eq!(b.key(at + 1), Some(&full_key(i, b"gone")[..]));
                assert!(matches!(b.entry(at + 1), Some(RunEntry::Tombstone)));
                assert_eq!(b.key(at + 2), Some(&full_key(i, &[7; 50])[..]));
                assert!(matches!(b.entry(at + 2), Some(RunEntry::Present)));
            }
            assert_eq!(
                b.last_key(),
                Some(full_key(rows.len() as u32 - 1, &[7; 50]))
            );
        }
    }
}
