//! Byte keys numbered in the order in which they came: for groups, DISTINCT and the hashes of joins.

use std::hash::{BuildHasher, Hasher};

const EMPTY: u32 = u32::MAX;

/// A set of byte keys, small while it is empty. Keys stand back to back; slots hold their numbers.
#[derive(Debug, Clone, Default)]
pub struct KeyTable {
    hasher: ahash::RandomState,
    /// A power of two of them, at most three quarters used.
    slots: Vec<u32>,
    /// For each key a part of its hash, and where it ends.
    entries: Vec<(u32, usize)>,
    bytes: Vec<u8>,
}

impl KeyTable {
    #[inline]
    fn hash(&self, key: &[u8]) -> u32 {
        let mut h = self.hasher.build_hasher();
        h.write(key);
        (h.finish() >> 32) as u32
    }

    /// A key by its number.
    #[inline]
    pub fn key(&self, n: usize) -> &[u8] {
        let start = if n == 0 { 0 } else { self.entries[n - 1].1 };
        &self.bytes[start..self.entries[n].1]
    }

    /// Number of keys.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes that it takes.
    pub fn memory(&self) -> u64 {
        (self.bytes.capacity() + self.entries.capacity() * 16 + self.slots.len() * 4) as u64
    }

    /// The slot of a key: the one that names it, or the empty one where it belongs.
    #[inline]
    fn slot(&self, hash: u32, key: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let n = self.slots[at];
            if n == EMPTY {
                return at;
            }
            if self.entries[n as usize].0 == hash && self.key(n as usize) == key {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    /// The number of a key.
    #[inline]
    pub fn get(&self, key: &[u8]) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        match self.slots[self.slot(self.hash(key), key)] {
            EMPTY => None,
            n => Some(n as usize),
        }
    }

    /// The number of a key, and whether it is new.
    #[inline]
    pub fn insert(&mut self, key: &[u8]) -> (usize, bool) {
        if self.slots.is_empty() {
            self.slots.resize(16, EMPTY);
        }
        let hash = self.hash(key);
        let slot = self.slot(hash, key);
        match self.slots[slot] {
            EMPTY => {
                self.add(slot, hash, key);
                (self.entries.len() - 1, true)
            }
            n => (n as usize, false),
        }
    }

    fn add(&mut self, slot: usize, hash: u32, key: &[u8]) {
        self.slots[slot] = self.entries.len() as u32;
        self.bytes.extend_from_slice(key);
        self.entries.push((hash, self.bytes.len()));
        if self.entries.len() * 4 > self.slots.len() * 3 {
            let size = self.slots.len() * 2;
            let mask = size - 1;
            self.slots.clear();
            self.slots.resize(size, EMPTY);
            for (n, (hash, _)) in self.entries.iter().enumerate() {
                let mut at = *hash as usize & mask;
                while self.slots[at] != EMPTY {
                    at = (at + 1) & mask;
                }
                self.slots[at] = n as u32;
            }
        }
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        *self = KeyTable::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_numbers_while_the_table_grows() {
        let mut t = KeyTable::default();
        let key = |n: usize| format!("{}{n}", "x".repeat(n % 7));
        for n in 0..10_000 {
            assert_eq!(t.insert(key(n).as_bytes()), (n, true));
        }
        for n in 0..10_000 {
            assert_eq!(t.insert(key(n).as_bytes()), (n, false));
            assert_eq!(t.get(key(n).as_bytes()), Some(n));
            assert_eq!(t.key(n), key(n).as_bytes());
        }
        assert_eq!(t.get(b"none"), None);
        assert_eq!((t.insert(b""), t.get(b"")), ((10_000, true), Some(10_000)));
        t.clear();
        assert_eq!((t.insert(b"y"), t.get(b"")), ((0, true), None));
    }
}
