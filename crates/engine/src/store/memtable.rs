//! Memtables: the log's tail in sorted form, multi-version, in memory.
//!
//! One memtable covers every index of every table between two freezes. It is split into shards by index id, and each
//! shard into blocks of keys under locks of their own ([`crate::store::blocks`]), which are never held across I/O. Each key
//! holds a chain of versions, oldest first. A chain drops versions that no snapshot can see any more when it grows, so
//! that a hot row stays short.

use crate::key::{FullKey, FullRange, index_of};
use crate::store::batch::Batch;
use crate::store::blocks::Blocks;
use crate::store::entry::Payload;
use crate::store::snapshots::SnapshotRegistry;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

impl std::fmt::Debug for Memtable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Memtable({} bytes)", self.bytes())
    }
}

#[derive(Debug, Clone)]
struct Version {
    seq: u64,
    payload: Payload,
}

type Chain = SmallVec<[Version; 1]>;

/// Rough cost of an entry beside its key and row bytes: its share of a block, where it takes 72 bytes. Blocks are nearly full
/// if keys come in order, and two thirds full if not.
const ENTRY_OVERHEAD: u64 = 104;
const VERSION_OVERHEAD: u64 = 24;
/// A chain of this length looks for versions to drop.
const PRUNE_AT: usize = 4;
const SHARDS: usize = 64;

#[derive(Default)]
struct Shard {
    map: Blocks<Chain>,
    /// Number of keys; lets readers pass an empty shard without its lock. It only grows.
    keys: AtomicUsize,
}

/// One memtable.
pub(crate) struct Memtable {
    shards: Vec<Shard>,
    bytes: AtomicU64,
    /// A checkpoint merges it: all its rows are there.
    sealed: AtomicBool,
}

impl Memtable {
    pub(crate) fn new() -> Self {
        Memtable {
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            bytes: AtomicU64::new(0),
            sealed: AtomicBool::new(false),
        }
    }

    /// Every commit that took its place before this memtable was covered has put its rows: none comes any more.
    pub(crate) fn seal(&self) {
        self.sealed.store(true, Ordering::Release);
    }

    /// Approximate memory, bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Number of keys.
    pub(crate) fn keys(&self) -> u64 {
        let keys = |s: &Shard| s.keys.load(Ordering::Relaxed) as u64;
        self.shards.iter().map(keys).sum()
    }

    #[inline]
    fn shard(&self, index: u32) -> &Shard {
        &self.shards[index as usize % SHARDS]
    }

    /// True if no key of the index's shard was ever written here.
    #[inline]
    pub(crate) fn is_empty_for(&self, index: u32) -> bool {
        self.shard(index).keys.load(Ordering::Acquire) == 0
    }

    /// Adds a version. Versions of one key must come in rising `seq` (row locks see to it).
    pub(crate) fn put(
        &self,
        key: &FullKey,
        seq: u64,
        payload: Payload,
        registry: &SnapshotRegistry,
    ) {
        debug_assert!(
            !self.sealed.load(Ordering::Acquire),
            "a row comes into a memtable that is being merged"
        );
        let index = index_of(key);
        let shard = self.shard(index);
        let mut added = payload.heap_bytes() + VERSION_OVERHEAD;
        let mut freed = 0;
        // What no reader needs any more is freed when the lock is not held any more.
        let mut dropped: SmallVec<[Version; PRUNE_AT]> = SmallVec::new();
        let change = |chain: &mut Chain, payload| {
            if let Some(last) = chain.last_mut().filter(|v| v.seq == seq) {
                // One transaction writes a key once; replay of a DDL may not.
                last.payload = payload;
            } else {
                // Row locks see to it that this is the end of the chain; if they ever failed, a reader must
                // still find versions in order.
                let at = chain.partition_point(|v| v.seq < seq);
                debug_assert_eq!(at, chain.len(), "versions in commit order");
                chain.insert(at, Version { seq, payload });
            }
            if chain.len() >= PRUNE_AT {
                let horizon = registry.horizon();
                // The newest version at or below the horizon is what the oldest reader sees.
                if let Some(keep) = chain.iter().rposition(|v| v.seq <= horizon)
                    && keep > 0
                {
                    dropped.extend(chain.drain(..keep));
                }
            }
        };
        let new = |payload| SmallVec::from_elem(Version { seq, payload }, 1);
        if shard.map.put(key, payload, new, change) {
            added += ENTRY_OVERHEAD + key.len() as u64;
            shard.keys.fetch_add(1, Ordering::Release);
        }
        for v in dropped {
            freed += v.payload.heap_bytes() + VERSION_OVERHEAD;
        }
        if added >= freed {
            self.bytes.fetch_add(added - freed, Ordering::Relaxed);
        } else {
            self.bytes.fetch_sub(freed - added, Ordering::Relaxed);
        }
    }

    /// The newest version with a sequence number of at most `seq`.
    #[inline]
    pub(crate) fn get(&self, key: &[u8], index: u32, seq: u64) -> Option<(u64, Payload)> {
        let shard = self.shard(index);
        if shard.keys.load(Ordering::Acquire) == 0 {
            return None;
        }
        shard.map.with(key, |chain| {
            let v = visible(chain, seq)?;
            Some((v.seq, v.payload.clone()))
        })?
    }

    /// Copies up to `limit` visible entries (tombstones included) of a range into `out`, in scan order.
    /// Returns false when the range is exhausted.
    pub(crate) fn batch(
        &self,
        index: u32,
        range: &FullRange,
        reverse: bool,
        seq: u64,
        limit: usize,
        out: &mut Batch,
    ) -> bool {
        let shard = self.shard(index);
        if shard.keys.load(Ordering::Acquire) == 0 {
            return false;
        }
        shard.map.walk(range, reverse, |k, chain| {
            if let Some(v) = visible(chain, seq) {
                out.push(k, &v.payload);
            }
            out.len() >= limit
        })
    }

    /// Walks the newest version of every key in key order within each shard: for the checkpoint, on a frozen memtable.
    pub(crate) fn for_each_newest<E>(
        &self,
        mut f: impl FnMut(u32, &[u8], u64, &Payload) -> Result<(), E>,
    ) -> Result<(), E> {
        for shard in &self.shards {
            let mut failed = None;
            shard.map.walk(&FullRange::ALL, false, |k, chain| {
                let done =
                    (chain.last()).map_or(Ok(()), |v| f(index_of(k), &k[4..], v.seq, &v.payload));
                failed = done.err();
                failed.is_some()
            });
            if let Some(e) = failed {
                return Err(e);
            }
        }
        Ok(())
    }
}

#[inline]
fn visible(chain: &Chain, seq: u64) -> Option<&Version> {
    chain.iter().rev().find(|v| v.seq <= seq)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::KeyRange;
    use crate::key::full_key;

    fn row(s: &str) -> Payload {
        Payload::Row(s.as_bytes().into())
    }

    #[test]
    fn versions_are_seen_by_sequence() {
        let reg = SnapshotRegistry::new();
        let m = Memtable::new();
        let k = full_key(7, b"a");
        reg.set_visible_for_test(0);
        for s in 1..=10 {
            m.put(&k, s, row(&s.to_string()), &reg);
        }
        for s in 1..=10u64 {
            let (seq, p) = m.get(&k, 7, s).unwrap();
            assert_eq!(seq, s);
            assert!(matches!(p, Payload::Row(r) if *r == *s.to_string().as_bytes()));
        }
        assert!(m.get(&k, 7, 0).is_none());
        // Nobody needs the old ones: the chain is cut.
        reg.set_visible_for_test(10);
        m.put(&k, 11, Payload::Tombstone, &reg);
        assert!(m.get(&k, 7, 9).is_none());
        assert!(m.get(&k, 7, 10).is_some());
    }

    #[test]
    fn an_entry_takes_what_is_counted_for_it() {
        assert_eq!(size_of::<(FullKey, Chain)>(), 72);
    }

    #[test]
    fn batches_stay_in_their_index() {
        let reg = SnapshotRegistry::new();
        let m = Memtable::new();
        for i in [7u32, 7 + SHARDS as u32] {
            for k in [b"a", b"b", b"c"] {
                m.put(&full_key(i, k), 1, row("x"), &reg);
            }
        }
        let r = FullRange::new(7, &KeyRange::all());
        let keys = |b: &Batch| -> Vec<u8> { (0..b.len()).map(|i| b.key(i).unwrap()[4]).collect() };
        let mut out = Batch::new();
        assert!(!m.batch(7, &r, false, 5, 100, &mut out));
        assert_eq!(keys(&out), b"abc");
        out.clear();
        assert!(m.batch(7, &r, true, 5, 2, &mut out));
        assert_eq!(keys(&out), b"cb");
    }
}
