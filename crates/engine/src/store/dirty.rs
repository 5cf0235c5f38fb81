//! Which blocks of the base a copy does not have yet, or has old.

use parking_lot::Mutex;

/// Bytes of a block.
pub const BLOCK: u64 = 64 << 10;

/// A set of blocks of a file that may grow.
#[derive(Debug, Default)]
pub(crate) struct Dirty {
    bits: Mutex<Vec<u64>>,
    /// Where the content's first byte is stored: blocks are counted in stored bytes.
    shift: u64,
}

impl Dirty {
    /// No blocks; `shift`: see [`narwal_log::DiskFile::stored_at`].
    pub(crate) fn new(shift: u64) -> Dirty {
        Dirty {
            bits: Mutex::default(),
            shift,
        }
    }

    /// `len` bytes of content from `offset` on were changed.
    pub(crate) fn mark(&self, offset: u64, len: u64) {
        self.mark_stored(self.shift + offset, len);
    }

    /// As [`Self::mark`], in stored bytes.
    pub(crate) fn mark_stored(&self, offset: u64, len: u64) {
        if len == 0 {
            return;
        }
        let (first, last) = (offset / BLOCK, (offset + len - 1) / BLOCK);
        let mut bits = self.bits.lock();
        let words = (last / 64 + 1) as usize;
        if bits.len() < words {
            bits.resize(words, 0);
        }
        for b in first..=last {
            bits[(b / 64) as usize] |= 1 << (b % 64);
        }
    }

    /// Takes out the first run of up to `most` blocks that begins at block `from` or behind: its first block and length.
    pub(crate) fn take(&self, from: u64, most: u64) -> Option<(u64, u64)> {
        let mut bits = self.bits.lock();
        let end = bits.len() as u64 * 64;
        let is_set = |bits: &[u64], b: u64| bits[(b / 64) as usize] & (1 << (b % 64)) != 0;
        let mut first = from;
        loop {
            if first >= end {
                return None;
            }
            let word = bits[(first / 64) as usize] >> (first % 64);
            if word != 0 {
                first += u64::from(word.trailing_zeros());
                break;
            }
            first = (first / 64 + 1) * 64;
        }
        let mut n = 0;
        while n < most && first + n < end && is_set(&bits, first + n) {
            bits[((first + n) / 64) as usize] &= !(1 << ((first + n) % 64));
            n += 1;
        }
        Some((first, n))
    }

    /// How many blocks there are.
    pub(crate) fn len(&self) -> u64 {
        let bits = self.bits.lock();
        bits.iter().map(|w| u64::from(w.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn runs_are_what_was_marked(
            marks in prop::collection::vec((0u64..40 * BLOCK, 0u64..5 * BLOCK), 0..30),
            shift in prop_oneof![Just(0u64), Just(4096)],
            most in 1u64..20,
        ) {
            let dirty = Dirty::new(shift);
            let mut model = BTreeSet::new();
            for (at, len) in marks {
                dirty.mark(at, len);
                if len > 0 {
                    model.extend((at + shift) / BLOCK..=(at + shift + len - 1) / BLOCK);
                }
            }
            prop_assert_eq!(dirty.len(), model.len() as u64);
            let (mut from, mut got) = (0, BTreeSet::new());
            while let Some((first, n)) = dirty.take(from, most) {
                prop_assert!(first >= from && n >= 1 && n <= most);
                got.extend(first..first + n);
                from = first + n;
            }
            prop_assert_eq!(got, model);
            prop_assert_eq!(dirty.len(), 0);
        }
    }
}
