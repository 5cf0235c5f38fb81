//! Memtables: the log's tail in sorted form, multi-version, in memory.
//!
//! One memtable covers every index of every table between two freezes. It is split into shards by index id, and each
//! shard into blocks of keys under locks of their own ([`crate::blocks`]), which are never held across I/O. Each key
//! holds a chain of versions, oldest first. A chain drops versions that no snapshot can see any more when it grows, so
//! that a hot row stays short.

use crate::batch::Batch;
use crate::blocks::Blocks;
use crate::snapshot::SnapshotRegistry;
use smallvec::SmallVec;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

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

#[derive(Debug, Clone)]
struct Version {
    seq: u64,
    payload: Payload,
}

type Chain = SmallVec<[Version; 1]>;

/// Rough cost of an entry beside its key and row bytes: its share of a block, where it takes 72 bytes. Blocks are nearly full
/// if keys come in order, and two thirds full if not.
const ENTRY_OVERHEAD: u64 = 104;
/// Two counts, and what the allocator adds.
const ROW_OVERHEAD: u64 = 28;
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
}

impl Memtable {
    pub(crate) fn new() -> Self {
        Memtable {
            shards: (0..SHARDS).map(|_| Shard::default()).collect(),
            bytes: AtomicU64::new(0),
        }
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

/// The index id in front of a full key.
#[inline]
pub(crate) fn index_of(key: &[u8]) -> u32 {
    key.get(..4)
        .and_then(|b| b.try_into().ok())
        .map_or(0, u32::from_be_bytes)
}

fn as_bound(b: &Bound<FullKey>) -> Bound<&[u8]> {
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
    const ALL: FullRange = FullRange {
        start: Bound::Unbounded,
        end: Bound::Unbounded,
    };

    /// The index's part of the key space cut to a range of its keys.
    pub(crate) fn new(index: u32, range: &crate::KeyRange) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeyRange;

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
