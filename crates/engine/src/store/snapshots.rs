//! Which snapshots are alive, so that version chains know what they may drop.
//!
//! A transaction claims a slot when it takes its first snapshot. It first writes 0 ("I may need anything"), then reads
//! the visible sequence number, then writes that: a scan of the slots that misses the 0 began before it and so used a
//! visible sequence number no newer than the one read here.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

const SLOTS: usize = 4096;
const FREE: u64 = u64::MAX;
/// Claimed, but no snapshot is held: as high as [`FREE`] to all who look for the lowest.
const PARKED: u64 = u64::MAX - 1;

/// The slots of live snapshots.
pub(crate) struct SnapshotRegistry {
    slots: Box<[AtomicU64]>,
    /// Highest slot ever used + 1: bounds the scan.
    used: AtomicUsize,
    /// Snapshots that found no slot: while there are any, nothing is dropped.
    overflow: AtomicUsize,
    /// The visible sequence number, kept here by a callback from the log's publisher.
    visible: std::sync::OnceLock<Box<dyn Fn() -> u64 + Send + Sync>>,
    #[cfg(test)]
    test_visible: AtomicU64,
}

/// A claimed slot; `None` when all were taken.
#[derive(Debug)]
pub(crate) struct SnapshotSlot(Option<usize>);

impl SnapshotRegistry {
    pub(crate) fn new() -> Self {
        SnapshotRegistry {
            slots: (0..SLOTS).map(|_| AtomicU64::new(FREE)).collect(),
            used: AtomicUsize::new(0),
            overflow: AtomicUsize::new(0),
            visible: std::sync::OnceLock::new(),
            #[cfg(test)]
            test_visible: AtomicU64::new(0),
        }
    }

    /// Says where the visible sequence number is read. Until then nothing is dropped.
    pub(crate) fn set_source(&self, f: impl Fn() -> u64 + Send + Sync + 'static) {
        let _ = self.visible.set(Box::new(f));
    }

    #[cfg(test)]
    pub(crate) fn set_visible_for_test(&self, v: u64) {
        self.test_visible.store(v, Ordering::SeqCst);
    }

    fn visible(&self) -> u64 {
        #[cfg(test)]
        if self.visible.get().is_none() {
            return self.test_visible.load(Ordering::SeqCst);
        }
        self.visible.get().map_or(0, |f| f())
    }

    /// Claims a slot that holds back everything, until [`Self::set`] says more.
    pub(crate) fn claim(&self, hint: usize) -> SnapshotSlot {
        for i in 0..SLOTS {
            // Slots are taken from a small range first, so that the scan stays short.
            let n = (hint % 64 + i) % SLOTS;
            if self.slots[n]
                .compare_exchange(FREE, 0, Ordering::SeqCst, Ordering::Relaxed)
                .is_ok()
            {
                self.used.fetch_max(n + 1, Ordering::SeqCst);
                return SnapshotSlot(Some(n));
            }
        }
        self.overflow.fetch_add(1, Ordering::SeqCst);
        SnapshotSlot(None)
    }

    /// Makes the slot hold back everything again (before a new snapshot is taken).
    pub(crate) fn reset(&self, slot: &SnapshotSlot) {
        if let Some(n) = slot.0 {
            self.slots[n].store(0, Ordering::SeqCst);
        }
    }

    /// Says which snapshot the slot holds.
    pub(crate) fn set(&self, slot: &SnapshotSlot, seq: u64) {
        debug_assert!(seq < PARKED, "no commit has this number");
        if let Some(n) = slot.0 {
            self.slots[n].store(seq, Ordering::SeqCst);
        }
    }

    /// Keeps the slot for the next snapshot of the same owner, without holding anything back; `None` if it is none that
    /// can be kept.
    pub(crate) fn park(&self, slot: SnapshotSlot) -> Option<SnapshotSlot> {
        match slot.0 {
            Some(n) => {
                self.slots[n].store(PARKED, Ordering::SeqCst);
                Some(slot)
            }
            None => {
                self.release(slot);
                None
            }
        }
    }

    /// Gives the slot back.
    pub(crate) fn release(&self, slot: SnapshotSlot) {
        match slot.0 {
            Some(n) => self.slots[n].store(FREE, Ordering::SeqCst),
            None => {
                self.overflow.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }

    /// No reader needs a version that is superseded at or below this sequence number.
    pub(crate) fn horizon(&self) -> u64 {
        let mut min = self.visible();
        // `used` is raised after the slot is claimed; a claim that is not seen here reads a younger visible number.
        let used = self.used.load(Ordering::SeqCst);
        if self.overflow.load(Ordering::SeqCst) > 0 {
            return 0;
        }
        for s in &self.slots[..used] {
            min = min.min(s.load(Ordering::SeqCst));
        }
        min
    }

    /// Number of live snapshots.
    pub(crate) fn live(&self) -> usize {
        let used = self.used.load(Ordering::SeqCst);
        self.overflow.load(Ordering::SeqCst)
            + self.slots[..used]
                .iter()
                .filter(|s| s.load(Ordering::Relaxed) < PARKED)
                .count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parked_slot_holds_nothing_back() {
        let r = SnapshotRegistry::new();
        r.set_visible_for_test(9);
        let slot = r.claim(0);
        assert_eq!((r.horizon(), r.live()), (0, 1));
        r.set(&slot, 5);
        assert_eq!((r.horizon(), r.live()), (5, 1));
        let slot = r.park(slot).unwrap();
        assert_eq!((r.horizon(), r.live()), (9, 0));
        // It is not given to another.
        let other = r.claim(0);
        r.set(&other, 7);
        r.reset(&slot);
        assert_eq!((r.horizon(), r.live()), (0, 2));
        r.set(&slot, 8);
        assert_eq!(r.horizon(), 7);
        r.release(other);
        r.release(slot);
        assert_eq!((r.horizon(), r.live()), (9, 0));
    }
}
