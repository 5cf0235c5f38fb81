//! Memory of fixed size for blocks and index pages of all runs.
//!
//! Two rings with second chance (CLOCK), one for index pages and one for data blocks: a scan over data can't push out
//! the pages that keep point reads cheap.

use crate::store::run::block::{Block, Page};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;

/// The run's number in this process, and the frame's offset.
type Key = (u64, u64);

struct Slot<T> {
    key: Key,
    value: Arc<T>,
    bytes: usize,
    used: bool,
}

struct Ring<T> {
    places: HashMap<Key, usize, ahash::RandomState>,
    slots: Vec<Slot<T>>,
    hand: usize,
    bytes: usize,
    limit: usize,
}

impl<T> Ring<T> {
    fn new(limit: usize) -> Self {
        Ring {
            places: HashMap::default(),
            slots: Vec::new(),
            hand: 0,
            bytes: 0,
            limit,
        }
    }

    fn get(&mut self, key: Key) -> Option<Arc<T>> {
        let slot = &mut self.slots[*self.places.get(&key)?];
        slot.used = true;
        Some(slot.value.clone())
    }

    fn put(&mut self, key: Key, value: Arc<T>, bytes: usize) {
        if bytes > self.limit || self.places.contains_key(&key) {
            return;
        }
        while self.bytes + bytes > self.limit && !self.slots.is_empty() {
            self.hand %= self.slots.len();
            if std::mem::take(&mut self.slots[self.hand].used) {
                self.hand += 1;
            } else {
                self.remove(self.hand);
            }
        }
        self.bytes += bytes;
        self.places.insert(key, self.slots.len());
        self.slots.push(Slot {
            key,
            value,
            bytes,
            used: false,
        });
    }

    fn remove(&mut self, i: usize) {
        let gone = self.slots.swap_remove(i);
        self.bytes -= gone.bytes;
        self.places.remove(&gone.key);
        if let Some(moved) = self.slots.get(i) {
            self.places.insert(moved.key, i);
        }
    }

    fn forget(&mut self, run: u64) {
        let mut i = 0;
        while i < self.slots.len() {
            if self.slots[i].key.0 == run {
                self.remove(i);
            } else {
                i += 1;
            }
        }
    }
}

/// The cache of all runs of a store.
pub(crate) struct RunCache {
    blocks: Mutex<Ring<Block>>,
    pages: Mutex<Ring<Page>>,
}

impl std::fmt::Debug for RunCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RunCache({} bytes used)", self.bytes())
    }
}

impl RunCache {
    /// A cache of at most `bytes`, half of it for index pages. 8 MiB is a good size for a small budget.
    pub(crate) fn new(bytes: usize) -> Arc<RunCache> {
        Arc::new(RunCache {
            blocks: Mutex::new(Ring::new(bytes / 2)),
            pages: Mutex::new(Ring::new(bytes / 2)),
        })
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.blocks.lock().bytes + self.pages.lock().bytes
    }

    pub(super) fn block(&self, key: Key) -> Option<Arc<Block>> {
        self.blocks.lock().get(key)
    }

    pub(super) fn put_block(&self, key: Key, block: &Arc<Block>) {
        self.blocks.lock().put(key, block.clone(), block.memory());
    }

    pub(super) fn page(&self, key: Key) -> Option<Arc<Page>> {
        self.pages.lock().get(key)
    }

    pub(super) fn put_page(&self, key: Key, page: &Arc<Page>) {
        self.pages.lock().put(key, page.clone(), page.memory());
    }

    /// Drops what belongs to a run.
    pub(super) fn forget(&self, run: u64) {
        self.blocks.lock().forget(run);
        self.pages.lock().forget(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_stays_within_its_limit_and_keeps_what_is_used() {
        let mut r = Ring::new(1000);
        r.put((1, 0), Arc::new(0u64), 100);
        for i in 1..1000u64 {
            assert!(r.get((1, 0)).is_some(), "pushed out at {i}");
            r.put((1 + i % 3, i), Arc::new(i), 90);
            assert!(r.bytes <= 1000);
            assert_eq!(r.slots.len(), r.places.len());
        }
        r.put((9, 9), Arc::new(1), 1001);
        assert!(r.get((9, 9)).is_none());
        r.forget(1);
        assert!(r.slots.iter().all(|s| s.key.0 != 1));
        r.forget(2);
        r.forget(3);
        assert_eq!((r.bytes, r.places.len()), (0, 0));
    }
}
