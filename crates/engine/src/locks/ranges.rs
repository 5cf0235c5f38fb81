//! Locks of key ranges: nobody else brings a new key between two others, whether a row is there or not.
//!
//! A range and a new key exclude each other; ranges don't exclude ranges, as InnoDB's gaps don't. Rows that are there
//! already have locks of their own: a reader locks the rows that it finds in its range, and a writer has the lock of the row
//! that it changes or removes. So a transaction that has locked a row may change it whatever ranges others have or wait for
//! around it, and two that lock the same rows by different ways do not wait for each other.
//!
//! # How a reader and a writer see each other
//!
//! A reader takes a range before it scans. From then on a writer that comes to a key in it waits for the reader's end. The
//! writes that came before the range are those to think about: they take effect at their commit, so the scan does not meet
//! them. A writer therefore *announces* its keys: at the end of each statement of a transaction that stays open, and at once
//! as long as there are ranges. The reader waits for the end of those that have announced a key of its range, so a COMMIT
//! has nothing to ask.
//!
//! A commit without announced keys (a statement that is a transaction of its own, a replica's group) asks once more:
//! it says that it is *landing*, looks whether there are ranges, and is landing until its rows are in the store. If there are
//! ranges it announces its keys instead, which waits for the readers that have got some of them.
//!
//! So for a writer W and a reader R: R counts itself (`active`) before it looks at what is announced and at who is landing,
//! W announces or lands before it looks at `active`. All of it is sequentially consistent, so at least one sees the other. If W saw
//! nobody, R finds W's keys announced and waits for W's end, or finds W landing and waits until its rows are where the scan
//! looks. If W saw somebody it goes by the mutex of `state`, under which R looks and takes its range, too: the first of them is
//! waited for by the other, never each by the other.
//!
//! # Readers that wait
//!
//! A range that waits for writers stands in front of writers that come later, or a reader would wait for ever. The writers
//! that it waits for pass, or they would wait for each other.

use crate::key::{FullKey, FullRange, KeyRange, index_of};
use crate::locks::types::{LockMode, LockOwner};
use crate::{EngineError, Result};
use narwal_types::key::successor;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// Parts of the table of announced keys, and counters of those who land.
pub(crate) const SHARDS: usize = 32;
/// Ranges of one transaction, and bytes of their ends, beyond which it gets whole indexes instead.
pub(crate) const MAX_RANGES: usize = 4096;
const MAX_BYTES: usize = 1 << 20;
/// Announced keys of one transaction beyond which only their first and last in each index are known.
pub(crate) const MAX_KEYS: usize = 10_000;
/// Keys at the end of an announcement that are not worth sorting.
const UNSORTED: usize = 32;
/// Ranges up to which a copy is made so that a scan that stops early can give the rest back.
pub(crate) const FEW: usize = 64;

/// Keys from the first one up to, but not with, the second; both with the index in front.
pub(crate) type Interval = (FullKey, FullKey);

/// `None` if no key is in the range.
pub(crate) fn interval(index: u32, range: &KeyRange) -> Option<Interval> {
    let full = FullRange::new(index, range);
    // Between a key and the same with a zero byte behind it there is nothing.
    let behind = |mut k: FullKey| {
        k.push(0);
        k
    };
    let start = match full.start {
        Bound::Included(k) => k,
        Bound::Excluded(k) => behind(k),
        Bound::Unbounded => FullKey::from_slice(&index.to_be_bytes()),
    };
    let end = match full.end {
        Bound::Included(k) => behind(k),
        Bound::Excluded(k) => k,
        Bound::Unbounded => end_of(index),
    };
    (start < end).then_some((start, end))
}

/// Behind the last key of an index.
fn end_of(index: u32) -> FullKey {
    match successor(&index.to_be_bytes()) {
        Some(end) => FullKey::from_vec(end),
        // There is no such index.
        None => FullKey::from_slice(&[0xff; 5]),
    }
}

/// Intervals that neither meet nor touch, by their first key.
#[derive(Debug, Default, Clone)]
pub(crate) struct Intervals {
    pub(crate) map: BTreeMap<FullKey, FullKey>,
    pub(crate) bytes: usize,
}

impl Intervals {
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        let up_to = (Bound::Unbounded, Bound::Included(key));
        (self.map.range::<[u8], _>(up_to).next_back()).is_some_and(|(_, end)| key < end.as_slice())
    }

    pub(crate) fn covers(&self, (start, end): &Interval) -> bool {
        let up_to = (Bound::Unbounded, Bound::Included(start.as_slice()));
        (self.map.range::<[u8], _>(up_to).next_back()).is_some_and(|(_, e)| end <= e)
    }

    pub(crate) fn add(&mut self, (mut start, mut end): Interval) {
        // From the last one that begins at or before it, as long as they meet or touch.
        loop {
            let up_to = (Bound::Unbounded, Bound::Included(end.as_slice()));
            let Some((s, e)) = self.map.range::<[u8], _>(up_to).next_back() else {
                break;
            };
            if *e < start {
                break;
            }
            let s = s.clone();
            if let Some(e) = self.map.remove(&s) {
                self.bytes -= s.len() + e.len();
                start = start.min(s);
                end = end.max(e);
            }
        }
        self.bytes += start.len() + end.len();
        self.map.insert(start, end);
        if self.map.len() > MAX_RANGES || self.bytes > MAX_BYTES {
            self.widen();
        }
    }

    /// Makes it the whole of each index of which it has a part: what is remembered is bounded.
    fn widen(&mut self) {
        let mut whole = BTreeMap::new();
        let mut bytes = 0;
        for start in self.map.keys() {
            let index = index_of(start);
            let first = FullKey::from_slice(&index.to_be_bytes());
            let end = end_of(index);
            bytes += first.len() + end.len();
            whole.insert(first, end);
        }
        *self = Intervals { map: whole, bytes };
    }
}

/// The keys that a transaction has written and announced.
#[derive(Debug, Default)]
pub(crate) struct Written {
    pub(crate) keys: Vec<FullKey>,
    /// So many of them are in order.
    sorted: usize,
    /// Of each index, once they are too many to be remembered: the first and the last.
    spans: BTreeMap<u32, (FullKey, FullKey)>,
}

impl Written {
    pub(crate) fn add<'k>(&mut self, keys: impl Iterator<Item = &'k FullKey>) {
        if self.spans.is_empty() {
            self.keys.extend(keys.cloned());
            if self.keys.len() > MAX_KEYS {
                self.sorted = 0;
                for key in std::mem::take(&mut self.keys) {
                    self.span(&key);
                }
            }
        } else {
            keys.for_each(|k| self.span(k));
        }
    }

    fn span(&mut self, key: &FullKey) {
        let (first, last) = self
            .spans
            .entry(index_of(key))
            .or_insert_with(|| (key.clone(), key.clone()));
        if key < first {
            *first = key.clone();
        }
        if key > last {
            *last = key.clone();
        }
    }

    pub(crate) fn touches(&mut self, (start, end): &Interval) -> bool {
        if let Some((first, last)) = self.spans.get(&index_of(start)) {
            return first < end && start <= last;
        }
        if self.keys.len() - self.sorted > UNSORTED {
            self.keys.sort_unstable();
            self.sorted = self.keys.len();
        }
        let (sorted, rest) = self.keys.split_at(self.sorted);
        let at = sorted.partition_point(|k| k < start);
        sorted.get(at).is_some_and(|k| k < end) || rest.iter().any(|k| start <= k && k < end)
    }
}

/// What a transaction has of ranges.
#[derive(Debug, Default)]
pub(crate) struct Held {
    pub(crate) intervals: Intervals,
    /// One of them is for rows that are to be written.
    pub(crate) exclusive: bool,
    /// Counts the changes.
    pub(crate) version: u64,
}

/// A range that waits for writers.
pub(crate) struct Pending {
    pub(crate) owner: LockOwner,
    pub(crate) wanted: Interval,
    pub(crate) mode: LockMode,
    /// Those that it waits for.
    pub(crate) writers: Owners,
}

/// One that sleeps until one of those it waits for lets something go.
pub(crate) struct Sleeper {
    pub(crate) owner: LockOwner,
    pub(crate) blockers: Owners,
    pub(crate) woken: AtomicBool,
    thread: Thread,
}

pub(crate) type Owners = SmallVec<[LockOwner; 4]>;

/// Those in the way, and what they have.
pub(crate) type InTheWay = Vec<(LockOwner, LockMode)>;

#[derive(Default)]
pub(crate) struct State {
    pub(crate) held: HashMap<LockOwner, Held>,
    pub(crate) pending: Vec<Pending>,
    pub(crate) sleepers: Vec<Arc<Sleeper>>,
}

fn mode_of(exclusive: bool) -> LockMode {
    match exclusive {
        true => LockMode::Exclusive,
        false => LockMode::Shared,
    }
}

impl State {
    /// Others that have a range with one of these keys. `waiting`: or wait for one, and not for this writer.
    pub(crate) fn readers_of(
        &self,
        owner: LockOwner,
        keys: &[&FullKey],
        waiting: bool,
    ) -> InTheWay {
        let held = (self.held.iter())
            .filter(|(o, h)| **o != owner && keys.iter().any(|k| h.intervals.contains(k)))
            .map(|(o, h)| (*o, mode_of(h.exclusive)));
        let pending = (self.pending.iter().filter(|_| waiting))
            .filter(|p| p.owner != owner && !p.writers.contains(&owner))
            .filter(|p| keys.iter().any(|k| p.wanted.0 <= **k && **k < p.wanted.1))
            .map(|p| (p.owner, p.mode));
        let mut all: InTheWay = held.chain(pending).collect();
        all.sort_unstable_by_key(|(o, _)| *o);
        all.dedup_by_key(|(o, _)| *o);
        all
    }

    /// Keys are announced that ranges now waiting will meet: they wait for this writer too.
    pub(crate) fn join(&mut self, owner: LockOwner, keys: &[&FullKey]) {
        for p in &mut self.pending {
            let (start, end) = &p.wanted;
            let meets = || keys.iter().any(|k| start <= *k && *k < end);
            if p.owner != owner && !p.writers.contains(&owner) && meets() {
                p.writers.push(owner);
            }
        }
    }

    pub(crate) fn sleeper(&mut self, owner: LockOwner, blockers: &InTheWay) -> Arc<Sleeper> {
        let s = Arc::new(Sleeper {
            owner,
            blockers: blockers.iter().map(|(o, _)| *o).collect(),
            woken: AtomicBool::new(false),
            thread: std::thread::current(),
        });
        self.sleepers.push(s.clone());
        s
    }

    /// Wakes those that wait for `owner`, to look again.
    pub(crate) fn wake(&self, owner: LockOwner) {
        for s in &self.sleepers {
            if s.blockers.contains(&owner) {
                s.woken.store(true, Ordering::Release);
                s.thread.unpark();
            }
        }
    }
}

/// A counter on a cache line of its own.
#[repr(align(128))]
#[derive(Default)]
pub(crate) struct Landing(pub(crate) AtomicU32);

pub(crate) type Announced = Mutex<HashMap<LockOwner, Written>>;

/// See the module's comment.
#[derive(Default)]
pub(crate) struct RangeLocks {
    /// Transactions that have ranges, and requests for one that run.
    pub(crate) active: AtomicUsize,
    pub(crate) state: Mutex<State>,
    announced: [Announced; SHARDS],
    pub(crate) landing: [Landing; SHARDS],
}

impl RangeLocks {
    pub(crate) fn shard(&self, owner: LockOwner) -> &Announced {
        &self.announced[owner as usize % SHARDS]
    }

    /// Others that have announced a key of the interval.
    pub(crate) fn writers_in(&self, owner: LockOwner, wanted: &Interval) -> InTheWay {
        let mut all = InTheWay::new();
        for shard in &self.announced {
            for (o, written) in shard.lock().iter_mut() {
                if *o != owner && written.touches(wanted) {
                    all.push((*o, LockMode::Exclusive));
                }
            }
        }
        all
    }

    /// Waits until the rows of all that saw no ranges are in the store. A writer that comes now sees one.
    pub(crate) fn wait_landed(&self, interrupt: Option<&AtomicBool>) -> Result<()> {
        let mut tries = 0u32;
        for shard in &self.landing {
            while shard.0.load(Ordering::SeqCst) != 0 {
                tries += 1;
                match tries {
                    0..64 => std::hint::spin_loop(),
                    64..256 => std::thread::yield_now(),
                    _ if interrupt.is_some_and(|i| i.load(Ordering::Relaxed)) => {
                        return Err(EngineError::Interrupted);
                    }
                    _ => std::thread::sleep(Duration::from_micros(100)),
                }
            }
        }
        Ok(())
    }
}
