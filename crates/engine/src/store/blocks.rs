//! An ordered map in blocks, each under a lock of its own.
//!
//! Two threads meet only if they want keys of the same block, of which there is one for each few dozen keys. What
//! hurts is less what they do at the same moment than a thread that loses its processor while it holds a lock: the others
//! wait until its next turn.
//!
//! Blocks are found through a directory, which is locked for a lookup, and exclusively while a split block's new
//! half is entered. A thread that
//! comes to a block that has been split since sees by its end that the key is not there any more, and looks again (as in a
//! B-link tree: Lehman and Yao, 1981). Keys are never taken away, so blocks are never joined.

use crate::key::{self, FullKey, FullRange};
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;

/// A block of so many keys is split before it takes another one.
const FULL: usize = 64;
/// How many keys move to a new block if keys come in order: the block that they leave stays nearly full.
const FEW: usize = 8;

/// An ordered map from full keys to `V`.
pub(crate) struct Blocks<V> {
    /// By the least key that a block may have. If there are blocks, the first one begins with the empty key.
    directory: RwLock<BTreeMap<FullKey, Arc<Block<V>>>>,
}

struct Block<V> {
    start: FullKey,
    part: RwLock<Part<V>>,
}

struct Part<V> {
    /// In key order.
    entries: Vec<(FullKey, V)>,
    /// The first key behind this block, if it is not the last one.
    end: Option<FullKey>,
}

impl<V> Default for Blocks<V> {
    fn default() -> Self {
        Blocks {
            directory: RwLock::new(BTreeMap::new()),
        }
    }
}

impl<V> Block<V> {
    fn new(start: FullKey, entries: Vec<(FullKey, V)>, end: Option<FullKey>) -> Arc<Self> {
        let part = RwLock::new(Part { entries, end });
        Arc::new(Block { start, part })
    }
}

impl<V> Part<V> {
    /// True if a key's place is before the block's end.
    fn reaches(&self, key: &[u8]) -> bool {
        self.end.as_ref().is_none_or(|end| key < end.as_slice())
    }

    fn find(&self, key: &[u8]) -> Result<usize, usize> {
        self.entries
            .binary_search_by(|(k, _)| k.as_slice().cmp(key))
    }
}

impl<V> Blocks<V> {
    /// The last block that begins within a bound.
    fn at(&self, bound: Bound<&[u8]>) -> Option<Arc<Block<V>>> {
        let directory = self.directory.read();
        let (_, block) = directory
            .range::<[u8], _>((Bound::Unbounded, bound))
            .next_back()?;
        Some(block.clone())
    }

    /// Calls `f` with what a key has, if it is there.
    #[inline]
    pub(crate) fn with<R>(&self, key: &[u8], f: impl FnOnce(&V) -> R) -> Option<R> {
        loop {
            let block = self.at(Bound::Included(key))?;
            let part = block.part.read();
            if part.reaches(key) {
                let at = part.find(key).ok()?;
                return part.entries.get(at).map(|(_, v)| f(v));
            }
        }
    }

    /// Adds a key with `new(value)`, or calls `change` with what it has and the value. True if the key is new.
    pub(crate) fn put<T>(
        &self,
        key: &FullKey,
        value: T,
        new: impl FnOnce(T) -> V,
        change: impl FnOnce(&mut V, T),
    ) -> bool {
        loop {
            let block = match self.at(Bound::Included(key)) {
                Some(block) => block,
                None => self.first(),
            };
            let mut part = block.part.write();
            if !part.reaches(key) {
                continue;
            }
            match part.find(key) {
                Ok(at) => {
                    if let Some((_, v)) = part.entries.get_mut(at) {
                        change(v, value);
                    }
                    return false;
                }
                Err(at) if part.entries.len() < FULL => {
                    part.entries.insert(at, (key::copy(key), new(value)));
                    return true;
                }
                Err(at) => self.split(&mut part, at),
            }
        }
    }

    /// The first block, which is made if there is none.
    fn first(&self) -> Arc<Block<V>> {
        let mut directory = self.directory.write();
        (directory.entry(FullKey::new()))
            .or_insert_with(|| Block::new(FullKey::new(), Vec::new(), None))
            .clone()
    }

    /// Moves the last keys of a full block to a new one. `wanted` is where the next key would go.
    fn split(&self, part: &mut Part<V>, wanted: usize) {
        let n = part.entries.len();
        let at = if wanted + FEW > n { n - FEW } else { n / 2 };
        let entries = part.entries.split_off(at);
        let Some((start, _)) = entries.first() else {
            return;
        };
        let start = start.clone();
        let end = part.end.replace(start.clone());
        let block = Block::new(start.clone(), entries, end);
        // Nobody waits for a block while they hold the directory, so this can't be a deadlock.
        self.directory.write().insert(start, block);
    }

    /// Calls `f` with each entry of a range, in order or in reverse, until it returns true. False if it never did.
    ///
    /// An entry is seen as it is when its block is reached. Keys that are added meanwhile may be seen or not.
    pub(crate) fn walk(
        &self,
        range: &FullRange,
        reverse: bool,
        f: impl FnMut(&FullKey, &V) -> bool,
    ) -> bool {
        if range.is_empty() {
            false
        } else if reverse {
            self.walk_back(range, f)
        } else {
            self.walk_on(range, f)
        }
    }

    fn walk_on(&self, range: &FullRange, mut f: impl FnMut(&FullKey, &V) -> bool) -> bool {
        let (from, to) = range.bounds();
        let mut next: Option<FullKey> = None;
        loop {
            let from = match &next {
                Some(next) => Bound::Included(next.as_slice()),
                None => from,
            };
            let key = match from {
                Bound::Included(k) | Bound::Excluded(k) => k,
                Bound::Unbounded => &[],
            };
            let Some(block) = self.at(Bound::Included(key)) else {
                return false;
            };
            let part = block.part.read();
            if !part.reaches(key) {
                continue;
            }
            let first = part.entries.partition_point(|(e, _)| !is_after(e, from));
            for (k, v) in part.entries.iter().skip(first) {
                if !is_before(k, to) {
                    return false;
                }
                if f(k, v) {
                    return true;
                }
            }
            match &part.end {
                Some(end) if is_before(end, to) => next = Some(end.clone()),
                _ => return false,
            }
        }
    }

    fn walk_back(&self, range: &FullRange, mut f: impl FnMut(&FullKey, &V) -> bool) -> bool {
        let (from, to) = range.bounds();
        let mut last: Option<Arc<Block<V>>> = None;
        loop {
            let to = match &last {
                Some(last) => Bound::Excluded(last.start.as_slice()),
                None => to,
            };
            let Some(block) = self.at(to) else {
                return false;
            };
            let part = block.part.read();
            let whole = match (&part.end, to) {
                (None, _) => true,
                (Some(end), Bound::Included(k)) => k < end.as_slice(),
                (Some(end), Bound::Excluded(k)) => k <= end.as_slice(),
                (Some(_), Bound::Unbounded) => false,
            };
            if !whole {
                continue;
            }
            let behind = part.entries.partition_point(|(e, _)| is_before(e, to));
            for (k, v) in part.entries.iter().take(behind).rev() {
                if !is_after(k, from) {
                    return false;
                }
                if f(k, v) {
                    return true;
                }
            }
            drop(part);
            if block.start.is_empty() || !is_after(&block.start, from) {
                return false;
            }
            last = Some(block);
        }
    }
}

/// True if a key is within a range's end.
fn is_before(key: &[u8], end: Bound<&[u8]>) -> bool {
    (Bound::Unbounded, end).contains(key)
}

/// True if a key is within a range's start.
fn is_after(key: &[u8], start: Bound<&[u8]>) -> bool {
    (start, Bound::Unbounded).contains(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};

    fn key(n: u16) -> FullKey {
        FullKey::from_slice(&n.to_be_bytes())
    }

    fn put(b: &Blocks<u32>, k: &FullKey, v: u32) -> bool {
        b.put(k, v, |v| v, |old, v| *old = v)
    }

    fn range(start: Bound<u16>, end: Bound<u16>) -> FullRange {
        FullRange {
            start: start.map(key),
            end: end.map(key),
        }
    }

    fn bound() -> impl Strategy<Value = Bound<u16>> {
        prop_oneof![
            4 => (0..2000u16).prop_map(Bound::Included),
            4 => (0..2000u16).prop_map(Bound::Excluded),
            1 => Just(Bound::Unbounded),
        ]
    }

    /// Keys in order, in reverse order, or in none.
    fn keys() -> impl Strategy<Value = Vec<u16>> {
        (prop::collection::vec(0..2000u16, 0..1200), 0..3).prop_map(|(mut keys, order)| {
            match order {
                0 => keys.sort_unstable(),
                1 => keys.sort_unstable_by(|a, b| b.cmp(a)),
                _ => {}
            }
            keys
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn is_a_sorted_map(keys in keys(), ranges in prop::collection::vec((bound(), bound(), any::<bool>(), 1..300usize), 1..20)) {
            let (blocks, mut model) = (Blocks::default(), BTreeMap::new());
            for (i, k) in keys.iter().enumerate() {
                let k = key(*k);
                prop_assert_eq!(put(&blocks, &k, i as u32), model.insert(k, i as u32).is_none());
            }
            for n in 0..2000 {
                prop_assert_eq!(blocks.with(&key(n), |v| *v), model.get(&key(n)).copied());
            }
            for (start, end, reverse, limit) in ranges {
                let r = range(start, end);
                let mut expected: Vec<_> = if r.is_empty() {
                    Vec::new()
                } else {
                    let (start, end) = r.bounds();
                    model.range::<[u8], _>((start, end)).map(|(k, v)| (k.clone(), *v)).collect()
                };
                if reverse {
                    expected.reverse();
                }
                let more = expected.len() >= limit;
                expected.truncate(limit);
                let mut got = Vec::new();
                let stopped = blocks.walk(&r, reverse, |k, v| {
                    got.push((k.clone(), *v));
                    got.len() >= limit
                });
                prop_assert_eq!(stopped, more);
                prop_assert_eq!(got, expected);
            }
        }
    }

    #[test]
    fn keys_in_order_leave_blocks_nearly_full() {
        let blocks = Blocks::default();
        let n = 10_000;
        for i in 0..n {
            put(&blocks, &key(i), 0);
        }
        let least = usize::from(n) / FULL;
        let there = blocks.directory.read().len();
        assert!(there <= least * 6 / 5, "{there} blocks instead of {least}");
    }

    /// Four threads add keys side by side, so that they wait for blocks that another one splits meanwhile; two read there.
    fn split_under_readers(round: u16) {
        const LAST: u16 = 8_000;
        let blocks = Blocks::default();
        // Even keys are there from the start; the odd ones come while others read.
        for n in (0..LAST).step_by(2) {
            put(&blocks, &key(n), n.into());
        }
        let (front, done) = (AtomicU16::new(0), AtomicBool::new(false));
        std::thread::scope(|s| {
            for reverse in [false, true] {
                let (blocks, front, done) = (&blocks, &front, &done);
                s.spawn(move || {
                    let mut before = 0;
                    while !done.load(Ordering::Acquire) {
                        before = (before + 1) % 40;
                        let from = front.load(Ordering::Relaxed).saturating_sub(before) & !1;
                        let to = (from + 600).min(LAST);
                        let mut seen: Vec<u16> = Vec::new();
                        let near = range(Bound::Included(from), Bound::Excluded(to));
                        blocks.walk(&near, reverse, |k, v| {
                            assert_eq!(u32::from(k[0]) << 8 | u32::from(k[1]), *v);
                            seen.push(*v as u16);
                            false
                        });
                        if reverse {
                            seen.reverse();
                        }
                        assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
                        let even = seen.iter().filter(|v| **v % 2 == 0).count();
                        assert_eq!(even, usize::from((to - from) / 2), "{from} to {to}");
                        for n in (from..to).step_by(2) {
                            assert_eq!(blocks.with(&key(n), |v| *v), Some(n.into()));
                        }
                    }
                });
            }
            let writers: Vec<_> = (0..4u16)
                .map(|w| {
                    let (blocks, front) = (&blocks, &front);
                    s.spawn(move || {
                        (0..LAST / 8).all(|i| {
                            // Every other round from the end on.
                            let i = if round.is_multiple_of(2) {
                                i
                            } else {
                                LAST / 8 - 1 - i
                            };
                            let n = i * 8 + w * 2 + 1;
                            front.store(n, Ordering::Relaxed);
                            put(blocks, &key(n), n.into())
                        })
                    })
                })
                .collect();
            let written: Vec<_> = writers.into_iter().map(|w| w.join()).collect();
            done.store(true, Ordering::Release);
            assert!(written.into_iter().all(|all_new| all_new.unwrap()));
        });
        let mut all = Vec::new();
        blocks.walk(&range(Bound::Unbounded, Bound::Unbounded), false, |_, v| {
            all.push(*v);
            false
        });
        assert!(
            all.into_iter().eq(0..u32::from(LAST)),
            "every key once, in order"
        );
    }

    #[test]
    fn blocks_that_split_under_readers_lose_nothing() {
        for round in 0..40 {
            split_under_readers(round);
        }
    }
}
