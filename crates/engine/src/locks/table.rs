//! Row and table locks: shared and exclusive, first come first served, with deadlock detection.
//!
//! A lock is named by a 128-bit keyed hash of what it protects (index id and key, or table id). Two names that collide
//! share a lock: an extra wait, never a missed one. The table of locks is sharded; a waiter sleeps on its own thread
//! handle. The waits-for graph is touched only by those who wait.
//!
//! # Spilled locks
//!
//! A transaction with very many row locks moves the exclusive ones that nobody waits for to files ([`spill`]). The
//! files are published first and the names then taken out of memory, each under its shard's mutex. A transaction that
//! acquires a lock looks into others' files before it takes the shard's mutex, and again if a file was published since:
//! either it sees the file or the name is still in memory. A name that was found is put back into memory as held by its owner,
//! and everything goes on as ever.

use super::ranges;
use crate::locks::spill::{OwnerSpill, SpillPlace};
use crate::locks::types::{LockMode, LockName, LockOwner, LockWaiting, WaitPolicy};
use crate::locks::waits::Waits;
use crate::{EngineError, Result};
use ahash::RandomState;
use arc_swap::ArcSwap;
use narwal_log::Disk;
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, Hasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::{Duration, Instant};

const SHARDS: usize = 128;
const WAITING: u8 = 0;
const GRANTED: u8 = 1;
/// One published file, and the mask of the number of owners, in [`LockTable::spilled`].
const PUBLISHED: u64 = 1 << 32;
const OWNERS: u64 = PUBLISHED - 1;

struct Waiter {
    owner: LockOwner,
    mode: LockMode,
    state: AtomicU8,
    thread: Thread,
}

#[derive(Default)]
struct Entry {
    holders: SmallVec<[(LockOwner, LockMode); 2]>,
    waiters: VecDeque<Arc<Waiter>>,
}

/// Lock names are hashes already.
#[derive(Default, Clone)]
struct PassThrough(u64);

impl Hasher for PassThrough {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for b in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*b);
        }
    }
    fn write_u128(&mut self, v: u128) {
        self.0 = v as u64;
    }
}

#[derive(Default, Clone)]
struct BuildPassThrough;

impl BuildHasher for BuildPassThrough {
    type Hasher = PassThrough;
    fn build_hasher(&self) -> PassThrough {
        PassThrough(0)
    }
}

type LockMap = HashMap<LockName, Entry, BuildPassThrough>;

/// The lock table.
pub(crate) struct LockTable {
    shards: Vec<Mutex<LockMap>>,
    pub(crate) graph: Mutex<WaitsFor>,
    seeds: (RandomState, RandomState),
    pub(crate) ranges: ranges::RangeLocks,
    /// Files published so far (upper half), owners that have spilled locks now (lower half).
    spilled: AtomicU64,
    spills: ArcSwap<Vec<Arc<OwnerSpill>>>,
    /// Whether what is large is freed by another thread than the one that releases it.
    aside: AtomicBool,
    /// Held while `spills` changes.
    spills_change: Mutex<()>,
    spill_place: OnceLock<SpillPlace>,
    pub(crate) waits: Waits,
    pub(crate) deadlocks: AtomicU64,
    pub(crate) timeouts: AtomicU64,
}

fn compatible(a: LockMode, b: LockMode) -> bool {
    a == LockMode::Shared && b == LockMode::Shared
}

impl LockTable {
    pub(crate) fn new() -> Self {
        LockTable {
            shards: (0..SHARDS)
                .map(|_| Mutex::new(LockMap::default()))
                .collect(),
            graph: Mutex::new(WaitsFor::default()),
            seeds: (RandomState::new(), RandomState::new()),
            ranges: ranges::RangeLocks::default(),
            spilled: AtomicU64::new(0),
            spills: ArcSwap::default(),
            aside: AtomicBool::new(false),
            spills_change: Mutex::new(()),
            spill_place: OnceLock::new(),
            waits: Waits::default(),
            deadlocks: AtomicU64::new(0),
            timeouts: AtomicU64::new(0),
        }
    }

    /// Says where spilled locks go: an existing directory. The caller removes files of former runs there (their names
    /// start with [`LOCK_FILE_PREFIX`]). Without this, and at a second call, nothing happens.
    pub(crate) fn set_spill_dir(&self, disk: Arc<dyn Disk>, dir: PathBuf) {
        let _ = self.spill_place.set(SpillPlace::new(disk, dir));
    }

    /// The name of a key's lock.
    pub(crate) fn row_name(&self, index: u32, key: &[u8]) -> LockName {
        let h = |s: &RandomState| s.hash_one((1u8, index, key));
        (u128::from(h(&self.seeds.0)) << 64) | u128::from(h(&self.seeds.1))
    }

    /// The name of a table's definition lock.
    pub(crate) fn table_name(&self, table_id: u64) -> LockName {
        let h = |s: &RandomState| s.hash_one((2u8, table_id));
        (u128::from(h(&self.seeds.0)) << 64) | u128::from(h(&self.seeds.1))
    }

    fn shard(&self, name: LockName) -> &Mutex<LockMap> {
        &self.shards[(name >> 64) as usize % SHARDS]
    }

    /// Takes a lock. `Ok(true)`: newly held (the owner must release it), `Ok(false)`: it was held in this mode already
    /// or has been upgraded. With `policy` `None` a lock that is not free gives `LockNotAvailable`.
    pub(crate) fn acquire(
        &self,
        owner: LockOwner,
        name: LockName,
        mode: LockMode,
        policy: Option<WaitPolicy<'_>>,
    ) -> Result<bool> {
        let waiter;
        let newly;
        let blockers: Blockers;
        let modes: SmallVec<[LockMode; 8]>;
        {
            let mut shard = self.shard_for_acquire(owner, name)?;
            let entry = shard.entry(name).or_default();
            let mine = entry.holders.iter().position(|(o, _)| *o == owner);
            if let Some(i) = mine
                && (entry.holders[i].1 == LockMode::Exclusive || mode == LockMode::Shared)
            {
                return Ok(false);
            }
            newly = mine.is_none();
            let free = entry
                .holders
                .iter()
                .all(|(o, m)| *o == owner || compatible(*m, mode));
            if free && (entry.waiters.is_empty() || mine.is_some()) {
                match mine {
                    Some(i) => entry.holders[i].1 = mode,
                    None => entry.holders.push((owner, mode)),
                }
                return Ok(newly);
            }
            if policy.is_none() {
                return Err(EngineError::LockNotAvailable);
            }
            waiter = Arc::new(Waiter {
                owner,
                mode,
                state: AtomicU8::new(WAITING),
                thread: std::thread::current(),
            });
            let (mut b, mut m): (Blockers, SmallVec<[LockMode; 8]>) = entry
                .holders
                .iter()
                .filter(|(o, _)| *o != owner)
                .copied()
                .unzip();
            if mine.is_some() {
                // An upgrade goes to the front: everyone behind needs this owner's shared lock gone anyway.
                entry.waiters.push_front(waiter.clone());
            } else {
                // All in front, not only the last: that one may give up, and nobody would know of the others.
                b.extend(entry.waiters.iter().map(|w| w.owner));
                m.extend(entry.waiters.iter().map(|w| w.mode));
                entry.waiters.push_back(waiter.clone());
            }
            blockers = b;
            modes = m;
        }
        let Some(policy) = policy else {
            return Err(EngineError::LockNotAvailable);
        };
        let waiting = LockWaiting {
            transaction: owner,
            blockers: blockers.iter().copied().zip(modes).collect(),
            lock: name,
            of: policy.of,
            mode,
            since: Instant::now(),
        };
        self.wait(&waiter, waiting, blockers, &policy)?;
        Ok(newly)
    }

    /// Waits until the lock is granted.
    #[cold]
    fn wait(
        &self,
        waiter: &Arc<Waiter>,
        waiting: LockWaiting,
        blockers: Blockers,
        policy: &WaitPolicy<'_>,
    ) -> Result<()> {
        let (owner, name) = (waiter.owner, waiting.lock);
        let _wait = self.waits.begin();
        let deadlock = self.graph.lock().add(owner, blockers, waiting);
        if deadlock {
            self.graph.lock().remove(owner);
            if self.abandon(name, waiter) {
                self.deadlocks.fetch_add(1, Ordering::Relaxed);
                return Err(EngineError::Deadlock);
            }
            return Ok(()); // granted meanwhile: there was none
        }
        let deadline = policy.timeout.and_then(|t| Instant::now().checked_add(t));
        let outcome = loop {
            if waiter.state.load(Ordering::Acquire) == GRANTED {
                break Ok(());
            }
            let interrupted = policy.interrupt.is_some_and(|i| i.load(Ordering::Relaxed));
            let now = Instant::now();
            let expired = deadline.is_some_and(|d| now >= d);
            if interrupted || expired {
                if !self.abandon(name, waiter) {
                    break Ok(());
                }
                break Err(if interrupted {
                    EngineError::Interrupted
                } else {
                    self.timeouts.fetch_add(1, Ordering::Relaxed);
                    EngineError::LockWaitTimeout
                });
            }
            // A slice bounds the delay of KILL; a grant unparks at once.
            let slice = Duration::from_millis(100);
            std::thread::park_timeout(
                deadline.map_or(slice, |d| slice.min(d.saturating_duration_since(now))),
            );
        };
        self.graph.lock().remove(owner);
        outcome
    }

    /// The transactions that wait now, in order of their numbers.
    pub(crate) fn waiting(&self) -> Vec<LockWaiting> {
        let mut all: Vec<_> = self.graph.lock().waiting.values().cloned().collect();
        all.sort_by_key(|w| w.transaction);
        all
    }

    /// Locks the shard of `name`, with all that others hold of it in memory.
    fn shard_for_acquire(
        &self,
        owner: LockOwner,
        name: LockName,
    ) -> Result<MutexGuard<'_, LockMap>> {
        loop {
            let before = self.spilled.load(Ordering::Acquire);
            let mut holder = None;
            if before & OWNERS != 0 {
                for s in self.spills.load().iter() {
                    if s.owner != owner && s.contains(name)? {
                        holder = Some(s.clone());
                        break; // exclusive: there is no other
                    }
                }
            }
            #[cfg(test)]
            tests::in_the_gap();
            let mut shard = self.shard(name).lock();
            // A name leaves memory under this mutex and after its file was counted: if none was counted since,
            // what was not found in a file is here.
            if self.spilled.load(Ordering::Relaxed) / PUBLISHED != before / PUBLISHED {
                continue;
            }
            if let Some(s) = holder
                && let Some(back) = s.back.lock().as_mut()
            {
                let entry = shard.entry(name).or_default();
                match entry.holders.iter_mut().find(|(o, _)| *o == s.owner) {
                    Some(h) => h.1 = LockMode::Exclusive,
                    None => {
                        entry.holders.push((s.owner, LockMode::Exclusive));
                        back.push(name);
                    }
                }
            }
            return Ok(shard);
        }
    }

    /// Moves locks of `owner` out of memory. Those that stay (shared ones, those that others wait for) are left in
    /// `names`. On error nothing has changed. Only the owner's thread may call this.
    pub(crate) fn spill(&self, owner: LockOwner, names: &mut Vec<LockName>) -> Result<()> {
        let Some(place) = self.spill_place.get() else {
            return Ok(());
        };
        let alone = |e: &Entry| {
            e.waiters.is_empty()
                && matches!(e.holders[..], [(o, LockMode::Exclusive)] if o == owner)
        };
        let (mut out, mut stay): (Vec<_>, Vec<_>) = names
            .iter()
            .copied()
            .partition(|n| self.shard(*n).lock().get(n).is_some_and(alone));
        if out.is_empty() {
            return Ok(());
        }
        out.sort_unstable();
        out.dedup();
        let known = self
            .spills
            .load()
            .iter()
            .find(|s| s.owner == owner)
            .cloned();
        match known {
            Some(s) => {
                s.add(place, &out)?;
                self.spilled.fetch_add(PUBLISHED, Ordering::AcqRel);
                // Too many small files are slow, not wrong.
                if let Err(e) = s.merge(place) {
                    tracing::warn!("files of spilled locks could not be merged: {e}");
                }
            }
            None => {
                let s = OwnerSpill::new(owner);
                s.add(place, &out)?;
                let _change = self.spills_change.lock();
                let mut spills = self.spills.load().as_ref().clone();
                spills.push(Arc::new(s));
                self.spills.store(Arc::new(spills));
                self.spilled.fetch_add(PUBLISHED + 1, Ordering::AcqRel);
            }
        }
        for name in out {
            let mut shard = self.shard(name).lock();
            match shard.get(&name) {
                Some(e) if alone(e) => {
                    shard.remove(&name);
                }
                // Somebody waits for it now.
                _ => stay.push(name),
            }
        }
        if stay.len() < names.len() / 2 {
            stay.shrink_to_fit();
        }
        *names = stay;
        Ok(())
    }

    /// Forgets what `owner` has spilled; returns the names that are back in memory.
    fn drop_spill(&self, owner: LockOwner) -> Vec<LockName> {
        let spill = {
            let _change = self.spills_change.lock();
            let old = self.spills.load();
            let Some(spill) = old.iter().find(|s| s.owner == owner).cloned() else {
                return Vec::new();
            };
            let rest: Vec<_> = old.iter().filter(|s| s.owner != owner).cloned().collect();
            self.spills.store(Arc::new(rest));
            self.spilled.fetch_sub(1, Ordering::AcqRel);
            spill
        };
        let back = spill.back.lock().take();
        if self.aside.load(Ordering::Relaxed) {
            drop_aside(spill);
        }
        back.unwrap_or_default()
    }

    /// Lets another thread remove the files of spilled locks, so that a COMMIT does not wait for it.
    pub(crate) fn free_aside(&self) {
        self.aside.store(true, Ordering::Relaxed);
    }

    /// Takes a waiter out of its queue; false if it has been granted.
    fn abandon(&self, name: LockName, waiter: &Arc<Waiter>) -> bool {
        let mut wake: SmallVec<[Thread; 4]> = SmallVec::new();
        let removed = {
            let mut shard = self.shard(name).lock();
            if waiter.state.load(Ordering::Acquire) == GRANTED {
                false
            } else {
                if let Some(entry) = shard.get_mut(&name) {
                    entry.waiters.retain(|w| !Arc::ptr_eq(w, waiter));
                    // Those behind may have waited for this one only.
                    grant(entry, &mut wake);
                    if entry.holders.is_empty() && entry.waiters.is_empty() {
                        shard.remove(&name);
                    }
                }
                true
            }
        };
        for t in wake {
            t.unpark();
        }
        removed
    }

    /// Releases locks, with all that the owner has spilled, and wakes whom that lets in.
    pub(crate) fn release_all(&self, owner: LockOwner, names: &[LockName]) {
        if self.spilled.load(Ordering::Relaxed) & OWNERS != 0 {
            let back = self.drop_spill(owner);
            self.release(owner, &back);
        }
        self.release(owner, names);
    }

    fn release(&self, owner: LockOwner, names: &[LockName]) {
        let mut wake: SmallVec<[Thread; 4]> = SmallVec::new();
        for &name in names {
            let mut shard = self.shard(name).lock();
            if let Some(entry) = shard.get_mut(&name) {
                entry.holders.retain(|(o, _)| *o != owner);
                if !entry.waiters.is_empty() {
                    grant(entry, &mut wake);
                }
                if entry.holders.is_empty() && entry.waiters.is_empty() {
                    shard.remove(&name);
                }
            }
        }
        for t in wake {
            t.unpark();
        }
    }

    /// Number of locks held or waited for, for tests and status. A spilled lock that somebody asked for counts twice.
    pub(crate) fn len(&self) -> usize {
        let spilled: u64 = self.spills.load().iter().map(|s| s.len()).sum();
        self.shards.iter().map(|s| s.lock().len()).sum::<usize>() + spilled as usize
    }
}

/// Drops what takes long to drop in a thread of its own; here, if there is none to be had.
pub(crate) fn drop_aside<T: Send + 'static>(what: T) {
    let _ = std::thread::Builder::new()
        .name("narwal-free".into())
        .spawn(move || drop(what));
}

/// Grants from the head of the queue as far as modes allow.
fn grant(entry: &mut Entry, wake: &mut SmallVec<[Thread; 4]>) {
    while let Some(w) = entry.waiters.front() {
        let ok = entry
            .holders
            .iter()
            .all(|(o, m)| *o == w.owner || compatible(*m, w.mode));
        if !ok {
            break;
        }
        match entry.holders.iter_mut().find(|(o, _)| *o == w.owner) {
            Some(h) => h.1 = w.mode,
            None => entry.holders.push((w.owner, w.mode)),
        }
        if let Some(w) = entry.waiters.pop_front() {
            w.state.store(GRANTED, Ordering::Release);
            wake.push(w.thread.clone());
        }
    }
}

pub(crate) type Blockers = SmallVec<[LockOwner; 8]>;

/// The waits-for graph. A waiter's entry names the holders of its lock and everyone in front of it when it began to wait:
/// every later holder of the lock is among them.
#[derive(Default)]
pub(crate) struct WaitsFor {
    pub(crate) edges: HashMap<LockOwner, Blockers>,
    waiting: HashMap<LockOwner, LockWaiting>,
    /// How many waiters name an owner.
    waited_for: HashMap<LockOwner, u32>,
}

impl WaitsFor {
    /// Adds a waiter; true if that closes a cycle.
    pub(crate) fn add(
        &mut self,
        owner: LockOwner,
        blockers: Blockers,
        waiting: LockWaiting,
    ) -> bool {
        self.waiting.insert(owner, waiting);
        for b in &blockers {
            *self.waited_for.entry(*b).or_default() += 1;
        }
        // Nobody waits for the owner: it is in no cycle. The common case, a queue on a hot row, ends here.
        let found = self.waited_for.contains_key(&owner) && self.reaches(&blockers, owner);
        self.edges.insert(owner, blockers);
        found
    }

    pub(crate) fn remove(&mut self, owner: LockOwner) {
        self.waiting.remove(&owner);
        for b in self.edges.remove(&owner).unwrap_or_default() {
            if let Some(n) = self.waited_for.get_mut(&b) {
                *n -= 1;
                if *n == 0 {
                    self.waited_for.remove(&b);
                }
            }
        }
    }

    /// True if `target` can be reached from any of `from`.
    fn reaches(&self, from: &[LockOwner], target: LockOwner) -> bool {
        let mut seen: std::collections::HashSet<LockOwner> = Default::default();
        let mut stack: SmallVec<[LockOwner; 16]> = from.iter().copied().collect();
        while let Some(o) = stack.pop() {
            if o == target {
                return true;
            }
            if seen.insert(o)
                && let Some(next) = self.edges.get(&o)
            {
                stack.extend(next.iter().copied());
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::types::Locked;

    fn wait(ms: u64) -> Option<WaitPolicy<'static>> {
        Some(WaitPolicy {
            timeout: Some(Duration::from_millis(ms)),
            of: Locked::Key(1),
            interrupt: None,
        })
    }

    #[test]
    fn shared_exclusive_upgrade() {
        let t = LockTable::new();
        let n = t.row_name(1, b"k");
        assert!(t.acquire(1, n, LockMode::Shared, None).unwrap());
        assert!(t.acquire(2, n, LockMode::Shared, None).unwrap());
        assert!(!t.acquire(1, n, LockMode::Shared, None).unwrap());
        assert!(matches!(
            t.acquire(1, n, LockMode::Exclusive, None),
            Err(EngineError::LockNotAvailable)
        ));
        t.release_all(2, &[n]);
        assert!(!t.acquire(1, n, LockMode::Exclusive, None).unwrap());
        assert!(matches!(
            t.acquire(2, n, LockMode::Shared, wait(10)),
            Err(EngineError::LockWaitTimeout)
        ));
        t.release_all(1, &[n]);
        assert_eq!(t.len(), 0);
    }

    #[test]
    fn a_cycle_is_found_and_only_one_dies() {
        let t = Arc::new(LockTable::new());
        let (a, b) = (t.row_name(1, b"a"), t.row_name(1, b"b"));
        t.acquire(1, a, LockMode::Exclusive, None).unwrap();
        t.acquire(2, b, LockMode::Exclusive, None).unwrap();
        let t2 = t.clone();
        let h = std::thread::spawn(move || {
            let r = t2.acquire(1, b, LockMode::Exclusive, wait(5000));
            t2.release_all(1, &[a, b]);
            r.is_ok()
        });
        while t.graph.lock().edges.is_empty() {
            std::thread::yield_now();
        }
        assert!(matches!(
            t.acquire(2, a, LockMode::Exclusive, wait(5000)),
            Err(EngineError::Deadlock)
        ));
        t.release_all(2, &[b]);
        assert!(h.join().unwrap());
        assert_eq!(t.len(), 0);
        assert!(t.graph.lock().edges.is_empty());
        assert!(t.graph.lock().waited_for.is_empty());
    }

    /// One in the middle of a queue gives up; those behind it still depend on those before it.
    #[test]
    fn a_cycle_through_a_queue_that_someone_left_is_found() {
        let t = Arc::new(LockTable::new());
        let (a, b) = (t.row_name(1, b"a"), t.row_name(1, b"b"));
        let queued = |t: &LockTable, n: usize| {
            while t.shard(a).lock().get(&a).map_or(0, |e| e.waiters.len()) != n
                || t.graph.lock().edges.len() < n
            {
                std::thread::yield_now();
            }
        };
        t.acquire(1, a, LockMode::Exclusive, None).unwrap();
        t.acquire(4, b, LockMode::Exclusive, None).unwrap();
        let spawn = |owner: u64, ms: u64| {
            let t = t.clone();
            std::thread::spawn(move || t.acquire(owner, a, LockMode::Exclusive, wait(ms)))
        };
        let second = spawn(2, 60_000);
        queued(&t, 1);
        let third = spawn(3, 50);
        queued(&t, 2);
        let fourth = spawn(4, 60_000);
        queued(&t, 3);
        assert!(matches!(
            third.join().unwrap(),
            Err(EngineError::LockWaitTimeout)
        ));
        t.release_all(1, &[a]);
        second.join().unwrap().unwrap();
        // 4 waits for 2 now; 2 must not wait for 4.
        assert!(matches!(
            t.acquire(2, b, LockMode::Exclusive, wait(60_000)),
            Err(EngineError::Deadlock)
        ));
        t.release_all(2, &[a]);
        fourth.join().unwrap().unwrap();
        t.release_all(4, &[a, b]);
        assert_eq!(t.len(), 0);
    }

    #[test]
    fn many_threads_count_under_one_lock() {
        let t = Arc::new(LockTable::new());
        let n = t.row_name(1, b"hot");
        let total = Arc::new(Mutex::new((0u64, false)));
        let hs: Vec<_> = (0..8u64)
            .map(|i| {
                let (t, total) = (t.clone(), total.clone());
                std::thread::spawn(move || {
                    for j in 0..500 {
                        let owner = 1 + i + 8 * j;
                        t.acquire(owner, n, LockMode::Exclusive, wait(60_000))
                            .unwrap();
                        {
                            let mut g = total.lock();
                            assert!(!g.1);
                            g.1 = true;
                        }
                        std::thread::yield_now();
                        {
                            let mut g = total.lock();
                            g.1 = false;
                            g.0 += 1;
                        }
                        t.release_all(owner, &[n]);
                    }
                })
            })
            .collect();
        for h in hs {
            h.join().unwrap();
        }
        assert_eq!(total.lock().0, 4000);
        assert_eq!(t.len(), 0);
    }

    fn spilling() -> (Arc<LockTable>, Arc<dyn Disk>) {
        let disk: Arc<dyn Disk> = Arc::new(narwal_log::sim::SimDisk::new());
        disk.create_dir_all(std::path::Path::new("/s")).unwrap();
        let t = LockTable::new();
        t.set_spill_dir(disk.clone(), "/s".into());
        (Arc::new(t), disk)
    }

    fn files(disk: &Arc<dyn Disk>) -> usize {
        disk.list(std::path::Path::new("/s")).unwrap().len()
    }

    #[test]
    fn a_spilled_lock_keeps_others_out_until_it_is_released() {
        let (t, disk) = spilling();
        let mut names: Vec<LockName> = (0..1000u32)
            .map(|i| t.row_name(1, &i.to_le_bytes()))
            .collect();
        for n in &names {
            t.acquire(1, *n, LockMode::Exclusive, None).unwrap();
        }
        let shared = t.row_name(2, b"shared");
        t.acquire(1, shared, LockMode::Shared, None).unwrap();
        t.acquire(2, shared, LockMode::Shared, None).unwrap();
        let all = names.clone();
        names.push(shared);
        t.spill(1, &mut names).unwrap();
        assert_eq!(names, [shared]);
        assert_eq!(t.shards.iter().map(|s| s.lock().len()).sum::<usize>(), 1);
        assert_eq!(files(&disk), 1);
        // Its owner may take it again, in any mode, and others still don't get it.
        assert!(t.acquire(1, all[5], LockMode::Shared, None).unwrap());
        for mode in [LockMode::Shared, LockMode::Exclusive] {
            for i in [5, 6, 6] {
                assert!(matches!(
                    t.acquire(2, all[i], mode, None),
                    Err(EngineError::LockNotAvailable)
                ));
            }
        }
        t.acquire(3, t.row_name(1, b"other"), LockMode::Exclusive, None)
            .unwrap();
        let t2 = t.clone();
        let h = std::thread::spawn(move || {
            t2.acquire(2, all[7], LockMode::Exclusive, wait(60_000))
                .unwrap();
            // Locks are released one by one: these may still be on their way.
            for (name, mode) in [(all[6], LockMode::Exclusive), (all[5], LockMode::Shared)] {
                assert!(t2.acquire(2, name, mode, wait(60_000)).unwrap());
            }
            t2.release_all(2, &[all[7], all[6], all[5], shared]);
        });
        while t.graph.lock().edges.is_empty() {
            std::thread::yield_now();
        }
        names.push(t.row_name(1, &5u32.to_le_bytes()));
        t.release_all(1, &names);
        h.join().unwrap();
        t.release_all(3, &[t.row_name(1, b"other")]);
        assert_eq!(t.len(), 0);
        assert_eq!(files(&disk), 0);
    }

    thread_local! {
        static GAP: std::cell::RefCell<Option<Box<dyn FnOnce()>>> = const { std::cell::RefCell::new(None) };
    }

    /// Runs what a test wants to happen between the look into files and the look into memory.
    pub(super) fn in_the_gap() {
        if let Some(f) = GAP.with(|g| g.borrow_mut().take()) {
            f();
        }
    }

    #[test]
    fn what_happens_between_the_looks_at_files_and_memory_is_seen() {
        let (t, disk) = spilling();
        let n = t.row_name(1, b"k");
        t.acquire(1, n, LockMode::Exclusive, None).unwrap();
        // It is spilled: the first file, then a further one.
        for i in 0..2 {
            let other = t.row_name(2, &[i]);
            t.acquire(1, other, LockMode::Exclusive, None).unwrap();
            let t2 = t.clone();
            GAP.set(Some(Box::new(move || {
                t2.spill(1, &mut vec![n, other]).unwrap();
            })));
            for name in [n, other] {
                assert!(matches!(
                    t.acquire(2, name, LockMode::Exclusive, None),
                    Err(EngineError::LockNotAvailable)
                ));
            }
        }
        // It is released: nobody holds it for ever.
        let t2 = t.clone();
        GAP.set(Some(Box::new(move || t2.release_all(1, &[]))));
        assert!(t.acquire(2, n, LockMode::Exclusive, None).unwrap());
        t.release_all(2, &[n]);
        assert_eq!((t.len(), files(&disk)), (0, 0));
    }

    #[test]
    fn a_cycle_through_a_spilled_lock_is_found() {
        let (t, _) = spilling();
        let (a, b) = (t.row_name(1, b"a"), t.row_name(1, b"b"));
        t.acquire(1, a, LockMode::Exclusive, None).unwrap();
        t.acquire(2, b, LockMode::Exclusive, None).unwrap();
        let mut names = vec![a];
        t.spill(1, &mut names).unwrap();
        let mut others = vec![b];
        t.spill(2, &mut others).unwrap();
        assert!(names.is_empty() && others.is_empty());
        let t2 = t.clone();
        let h = std::thread::spawn(move || t2.acquire(1, b, LockMode::Exclusive, wait(60_000)));
        while t.graph.lock().edges.is_empty() {
            std::thread::yield_now();
        }
        assert!(matches!(
            t.acquire(2, a, LockMode::Exclusive, wait(60_000)),
            Err(EngineError::Deadlock)
        ));
        t.release_all(2, &[]);
        assert!(h.join().unwrap().unwrap());
        t.release_all(1, &[b]);
        assert_eq!(t.len(), 0);
        assert!(t.graph.lock().edges.is_empty());
    }

    #[test]
    fn a_full_disk_leaves_the_locks_in_memory() {
        let sim = narwal_log::sim::SimDisk::new();
        let disk: Arc<dyn Disk> = Arc::new(sim.clone());
        disk.create_dir_all(std::path::Path::new("/s")).unwrap();
        let t = LockTable::new();
        t.set_spill_dir(disk.clone(), "/s".into());
        let mut names: Vec<LockName> = (0..10u8).map(|i| t.row_name(1, &[i])).collect();
        for n in &names {
            t.acquire(1, *n, LockMode::Exclusive, None).unwrap();
        }
        let before = names.clone();
        sim.fail_nth(narwal_log::sim::Call::Write, 1, libc::ENOSPC);
        assert!(matches!(
            t.spill(1, &mut names),
            Err(EngineError::DiskFull(_))
        ));
        assert_eq!((names.clone(), t.len(), files(&disk)), (before, 10, 0));
        t.release_all(1, &names);
        assert_eq!(t.len(), 0);
    }

    /// Random acquires, spills and releases of several owners by several threads: what is held is held alone.
    #[test]
    fn random_spills_never_let_two_in() {
        use rand::{Rng, SeedableRng};
        const ROWS: usize = 60;
        let (t, disk) = spilling();
        // Per row: the exclusive holder, or -n for n shared ones.
        let model: Arc<Vec<std::sync::atomic::AtomicI64>> =
            Arc::new((0..ROWS).map(|_| Default::default()).collect());
        let threads: Vec<_> = (0..6u64)
            .map(|thread| {
                let (t, model) = (t.clone(), model.clone());
                std::thread::spawn(move || {
                    let mut rng = rand::rngs::StdRng::seed_from_u64(thread);
                    let mut waited = 0;
                    for round in 0..250u64 {
                        let owner = 1 + thread + round * 6;
                        let mut names = Vec::new();
                        let mut held: HashMap<usize, LockMode> = HashMap::new();
                        for _ in 0..rng.random_range(1..30) {
                            if rng.random_range(0..5) == 0 {
                                t.spill(owner, &mut names).unwrap();
                                continue;
                            }
                            let row = rng.random_range(0..ROWS);
                            let mode = if rng.random_range(0..4) == 0 {
                                LockMode::Shared
                            } else {
                                LockMode::Exclusive
                            };
                            let policy = match rng.random_range(0..3) {
                                0 => wait(if rng.random() { 60_000 } else { 2 }),
                                _ => None,
                            };
                            waited += u64::from(policy.is_some());
                            let name = t.row_name(1, &row.to_le_bytes());
                            match t.acquire(owner, name, mode, policy) {
                                Ok(newly) => {
                                    if newly {
                                        names.push(name);
                                    }
                                    let m = &model[row];
                                    let me = owner as i64;
                                    match (held.get(&row), mode) {
                                        (Some(LockMode::Exclusive), _)
                                        | (Some(LockMode::Shared), LockMode::Shared) => {}
                                        (Some(LockMode::Shared), LockMode::Exclusive) => {
                                            assert_eq!(m.swap(me, Ordering::SeqCst), -1);
                                            held.insert(row, mode);
                                        }
                                        (None, LockMode::Exclusive) => {
                                            assert_eq!(m.swap(me, Ordering::SeqCst), 0);
                                            held.insert(row, mode);
                                        }
                                        (None, LockMode::Shared) => {
                                            assert!(m.fetch_sub(1, Ordering::SeqCst) <= 0);
                                            held.insert(row, mode);
                                        }
                                    }
                                }
                                Err(
                                    EngineError::LockNotAvailable | EngineError::LockWaitTimeout,
                                ) => {}
                                Err(EngineError::Deadlock) => break,
                                Err(e) => panic!("{e}"),
                            }
                        }
                        for (row, mode) in held {
                            if mode == LockMode::Exclusive {
                                let was = model[row].swap(0, Ordering::SeqCst);
                                assert_eq!(was, owner as i64);
                            } else {
                                assert!(model[row].fetch_add(1, Ordering::SeqCst) < 0);
                            }
                        }
                        t.release_all(owner, &names);
                    }
                    waited
                })
            })
            .collect();
        for h in threads {
            h.join().unwrap();
        }
        assert_eq!(t.len(), 0);
        assert_eq!(files(&disk), 0);
        assert!(t.graph.lock().edges.is_empty());
    }
}
