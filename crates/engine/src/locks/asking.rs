//! Locking ranges, and asking those who have.

use crate::key::{FullKey, KeyRange, index_of};
use crate::locks::ranges::{
    FEW, InTheWay, Interval, Intervals, Pending, SHARDS, Sleeper, interval,
};
use crate::locks::table::LockTable;
use crate::locks::types::{LockMode, LockOwner, LockWaiting, Locked, WaitPolicy};
use crate::{EngineError, Result};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// What a transaction had before it took a range, so that it can give a part back.
#[derive(Debug)]
pub struct RangeMark {
    index: u32,
    before: Intervals,
    version: u64,
}

/// How a writer asks.
pub(crate) struct Asking<'p> {
    /// `None`: it does not wait.
    pub(crate) policy: Option<&'p WaitPolicy<'p>>,
    /// Its keys are written already: ranges that wait, wait for it.
    pub(crate) written: bool,
}

impl LockTable {
    /// True if somebody has ranges locked, or wants to.
    #[inline]
    pub(crate) fn has_ranges(&self) -> bool {
        self.ranges.active.load(Ordering::Relaxed) != 0
    }

    /// Number of those, for tests.
    #[cfg(test)]
    pub(crate) fn range_owners(&self) -> usize {
        self.ranges.active.load(Ordering::SeqCst)
    }

    /// Locks a range of an index's keys: waits for others that have written keys of it. When it returns, everything that is
    /// committed of the range is in the store, and nothing comes to it before [`LockTable::release_ranges`].
    pub(crate) fn lock_range(
        &self,
        owner: LockOwner,
        index: u32,
        range: &KeyRange,
        mode: LockMode,
        policy: Option<&WaitPolicy<'_>>,
    ) -> Result<Option<RangeMark>> {
        let Some(wanted) = interval(index, range) else {
            return Ok(None);
        };
        self.ranges.active.fetch_add(1, Ordering::SeqCst);
        let asked = self.ask_range(owner, index, &wanted, mode, policy);
        if !matches!(asked, Ok((true, _))) {
            self.ranges.active.fetch_sub(1, Ordering::SeqCst);
        }
        let (_, mark) = asked?;
        self.ranges.wait_landed(policy.and_then(|p| p.interrupt))?;
        Ok(mark)
    }

    /// True if these are the first ranges of the owner.
    fn ask_range(
        &self,
        owner: LockOwner,
        index: u32,
        wanted: &Interval,
        mode: LockMode,
        policy: Option<&WaitPolicy<'_>>,
    ) -> Result<(bool, Option<RangeMark>)> {
        let deadline = deadline(policy);
        loop {
            let mut state = self.ranges.state.lock();
            state.pending.retain(|p| p.owner != owner);
            let held = state.held.get(&owner);
            if held.is_some_and(|h| h.intervals.covers(wanted)) {
                return Ok((false, None));
            }
            let writers = self.ranges.writers_in(owner, wanted);
            if writers.is_empty() {
                let first = held.is_none();
                let held = state.held.entry(owner).or_default();
                let before = (held.intervals.map.len() <= FEW).then(|| held.intervals.clone());
                held.intervals.add(wanted.clone());
                held.exclusive |= mode == LockMode::Exclusive;
                held.version += 1;
                let mark = before.map(|before| RangeMark {
                    index,
                    before,
                    version: held.version,
                });
                return Ok((first, mark));
            }
            let Some(policy) = policy else {
                state.wake(owner);
                return Err(EngineError::LockNotAvailable);
            };
            state.pending.push(Pending {
                owner,
                wanted: wanted.clone(),
                mode,
                writers: writers.iter().map(|(o, _)| *o).collect(),
            });
            let sleeper = state.sleeper(owner, &writers);
            drop(state);
            let waiting = self.waiting_for(owner, index, &wanted.0, mode, writers);
            if let Err(e) = self.sleep(&sleeper, waiting, policy, deadline) {
                let mut state = self.ranges.state.lock();
                state.pending.retain(|p| p.owner != owner);
                state.wake(owner);
                return Err(e);
            }
        }
    }

    /// Gives back what was taken at `mark` but for `kept`; nothing if more was taken since.
    pub(crate) fn shrink_range(&self, owner: LockOwner, mark: RangeMark, kept: &KeyRange) {
        let mut state = self.ranges.state.lock();
        let Some(held) = state.held.get_mut(&owner) else {
            return;
        };
        if held.version != mark.version {
            return;
        }
        held.intervals = mark.before;
        if let Some(kept) = interval(mark.index, kept) {
            held.intervals.add(kept);
        }
        held.version += 1;
        state.wake(owner);
    }

    /// Announces keys that are written, or about to be, while there are ranges: waits for the others whose ranges they are in.
    pub(crate) fn ask_to_write(
        &self,
        owner: LockOwner,
        keys: &[&FullKey],
        how: &Asking<'_>,
    ) -> Result<()> {
        let deadline = deadline(how.policy);
        loop {
            let mut state = self.ranges.state.lock();
            let readers = state.readers_of(owner, keys, !how.written);
            if readers.is_empty() {
                state.join(owner, keys);
                let mut shard = self.ranges.shard(owner).lock();
                shard.entry(owner).or_default().add(keys.iter().copied());
                return Ok(());
            }
            let Some(policy) = how.policy else {
                return Err(EngineError::LockNotAvailable);
            };
            let sleeper = state.sleeper(owner, &readers);
            drop(state);
            let first = keys.first().map_or(&[][..], |k| k.as_slice());
            let index = keys.first().map_or(0, |k| index_of(k));
            let waiting = self.waiting_for(owner, index, first, LockMode::Exclusive, readers);
            self.sleep(&sleeper, waiting, policy, deadline)?;
        }
    }

    /// Announces keys that are written if there are no ranges; false if there are.
    pub(crate) fn announce<'k>(
        &self,
        owner: LockOwner,
        keys: impl Iterator<Item = &'k FullKey>,
    ) -> bool {
        let mut shard = self.ranges.shard(owner).lock();
        // A reader that counts itself after this look finds the keys: it takes this mutex, too.
        if self.ranges.active.load(Ordering::SeqCst) != 0 {
            return false;
        }
        shard.entry(owner).or_default().add(keys);
        true
    }

    /// A commit whose keys are not announced begins to land; false if there are ranges. To be ended by
    /// [`LockTable::landed`].
    #[inline]
    pub(crate) fn begin_landing(&self, owner: LockOwner) -> bool {
        if self.has_ranges() {
            return false;
        }
        let counter = &self.ranges.landing[owner as usize % SHARDS].0;
        counter.fetch_add(1, Ordering::SeqCst);
        if self.ranges.active.load(Ordering::SeqCst) == 0 {
            return true;
        }
        counter.fetch_sub(1, Ordering::SeqCst);
        false
    }

    /// Its rows are in the store, or it has failed.
    #[inline]
    pub(crate) fn landed(&self, owner: LockOwner) {
        self.ranges.landing[owner as usize % SHARDS]
            .0
            .fetch_sub(1, Ordering::SeqCst);
    }

    /// Lets the ranges of a transaction go.
    pub(crate) fn release_ranges(&self, owner: LockOwner) {
        let mut state = self.ranges.state.lock();
        if state.held.remove(&owner).is_some() {
            self.ranges.active.fetch_sub(1, Ordering::SeqCst);
        }
        state.wake(owner);
    }

    /// Forgets what a transaction has announced: its rows are in the store, or it is rolled back.
    pub(crate) fn forget_announced(&self, owner: LockOwner) {
        let gone = self.ranges.shard(owner).lock().remove(&owner);
        if self.ranges.active.load(Ordering::SeqCst) != 0 {
            // A reader that has seen it there has counted itself before. It sleeps, or will see that it is woken.
            self.ranges.state.lock().wake(owner);
        }
        drop(gone);
    }

    fn waiting_for(
        &self,
        owner: LockOwner,
        index: u32,
        key: &[u8],
        mode: LockMode,
        blockers: InTheWay,
    ) -> LockWaiting {
        LockWaiting {
            transaction: owner,
            blockers,
            lock: self.row_name(index, key),
            of: Locked::Gap(index),
            mode,
            since: Instant::now(),
        }
    }

    /// Sleeps until one of the blockers lets something go.
    fn sleep(
        &self,
        sleeper: &Arc<Sleeper>,
        waiting: LockWaiting,
        policy: &WaitPolicy<'_>,
        deadline: Option<Instant>,
    ) -> Result<()> {
        let owner = sleeper.owner;
        let _wait = self.waits.begin();
        let blockers = sleeper.blockers.iter().copied().collect();
        let cycle = self.graph.lock().add(owner, blockers, waiting);
        let outcome = loop {
            if sleeper.woken.load(Ordering::Acquire) {
                break Ok(());
            }
            if cycle {
                self.deadlocks.fetch_add(1, Ordering::Relaxed);
                break Err(EngineError::Deadlock);
            }
            if policy.interrupt.is_some_and(|i| i.load(Ordering::Relaxed)) {
                break Err(EngineError::Interrupted);
            }
            let now = Instant::now();
            if deadline.is_some_and(|d| now >= d) {
                self.timeouts.fetch_add(1, Ordering::Relaxed);
                break Err(EngineError::LockWaitTimeout);
            }
            // A slice bounds the delay of KILL; a release unparks at once.
            let slice = Duration::from_millis(100);
            std::thread::park_timeout(
                deadline.map_or(slice, |d| slice.min(d.saturating_duration_since(now))),
            );
        };
        self.graph.lock().remove(owner);
        let mut state = self.ranges.state.lock();
        state.sleepers.retain(|s| !Arc::ptr_eq(s, sleeper));
        outcome
    }
}

pub(crate) fn deadline(policy: Option<&WaitPolicy<'_>>) -> Option<Instant> {
    policy
        .and_then(|p| p.timeout)
        .and_then(|t| Instant::now().checked_add(t))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locks::ranges::{MAX_KEYS, MAX_RANGES, Written};
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};
    use std::ops::Bound;

    fn wait(ms: u64) -> WaitPolicy<'static> {
        WaitPolicy {
            timeout: Some(Duration::from_millis(ms)),
            of: Locked::Gap(1),
            interrupt: None,
        }
    }

    fn key(index: u32, n: u8) -> FullKey {
        crate::key::full_key(index, &[n])
    }

    fn between(from: u8, to: u8) -> KeyRange {
        KeyRange {
            start: Bound::Included(vec![from]),
            end: Bound::Included(vec![to]),
        }
    }

    fn write(t: &LockTable, owner: u64, n: u8, policy: Option<&WaitPolicy<'_>>) -> Result<()> {
        let how = Asking {
            policy,
            written: false,
        };
        t.ask_to_write(owner, &[&key(1, n)], &how)
    }

    #[test]
    fn intervals_are_a_set_of_keys() {
        let mut rng = StdRng::seed_from_u64(7);
        for _ in 0..300 {
            let mut set = Intervals::default();
            let mut model = [false; 256];
            for _ in 0..rng.random_range(1..12) {
                let (a, b) = (rng.random::<u8>(), rng.random::<u8>());
                let (from, to) = (a.min(b), a.max(b).min(a.min(b).saturating_add(40)));
                let bound = |rng: &mut StdRng, n: u8| match rng.random() {
                    true => Bound::Included(vec![n]),
                    false => Bound::Excluded(vec![n]),
                };
                let range = KeyRange {
                    start: bound(&mut rng, from),
                    end: bound(&mut rng, to),
                };
                let within = |n: u8| {
                    use std::ops::RangeBounds;
                    (range.start.clone(), range.end.clone()).contains(&vec![n])
                };
                let Some(i) = interval(1, &range) else {
                    assert!((0..=255).all(|n| !within(n)));
                    continue;
                };
                for n in 0..=255u8 {
                    model[n as usize] |= within(n);
                }
                set.add(i.clone());
                assert!(set.covers(&i));
                let bytes: usize = set.map.iter().map(|(s, e)| s.len() + e.len()).sum();
                assert_eq!(set.bytes, bytes);
            }
            for n in 0..=255u8 {
                assert_eq!(
                    set.contains(&key(1, n)),
                    model[n as usize],
                    "{n} of {set:?}"
                );
                assert!(!set.contains(&key(2, n)));
            }
            let ends: Vec<_> = set.map.iter().collect();
            assert!(ends.windows(2).all(|w| w[0].1 < w[1].0), "{set:?}");
        }
    }

    #[test]
    fn very_many_ranges_become_the_whole_index() {
        let mut set = Intervals::default();
        for n in 0..=MAX_RANGES as u32 {
            let k = crate::key::full_key(3, &(n * 2).to_be_bytes());
            let mut end = k.clone();
            end.push(0);
            set.add((k, end));
        }
        assert_eq!(set.map.len(), 1);
        assert!(set.contains(&key(3, 255)) && !set.contains(&key(4, 0)));
        assert!(!set.contains(&key(2, 0)));
    }

    #[test]
    fn very_many_keys_become_first_and_last() {
        let mut written = Written::default();
        let keys: Vec<_> = (0..=MAX_KEYS as u32)
            .map(|n| crate::key::full_key(1, &(n * 2 + 100).to_be_bytes()))
            .collect();
        written.add(keys[..MAX_KEYS].iter());
        let point = |n: u32| {
            let r = KeyRange::prefix(n.to_be_bytes().to_vec());
            interval(1, &r).unwrap()
        };
        assert!(written.touches(&point(100)) && !written.touches(&point(101)));
        written.add(keys[MAX_KEYS..].iter());
        assert!(written.keys.is_empty());
        assert!(written.touches(&point(101)) && !written.touches(&point(99)));
    }

    #[test]
    fn a_range_and_a_new_key_exclude_each_other() {
        let t = LockTable::new();
        t.lock_range(1, 1, &between(10, 20), LockMode::Shared, None)
            .unwrap();
        t.lock_range(2, 1, &between(15, 30), LockMode::Exclusive, None)
            .unwrap();
        assert_eq!(t.range_owners(), 2);
        assert!(matches!(
            write(&t, 3, 20, None),
            Err(EngineError::LockNotAvailable)
        ));
        assert!(matches!(
            write(&t, 1, 20, None),
            Err(EngineError::LockNotAvailable)
        ));
        assert!(matches!(
            write(&t, 3, 20, Some(&wait(5))),
            Err(EngineError::LockWaitTimeout)
        ));
        write(&t, 1, 10, None).unwrap();
        write(&t, 3, 31, None).unwrap();
        t.release_ranges(2);
        write(&t, 1, 20, None).unwrap();
        t.release_ranges(1);
        assert_eq!(t.range_owners(), 0);
        // What is announced keeps ranges away, those around it too.
        assert!(matches!(
            t.lock_range(2, 1, &between(30, 40), LockMode::Shared, None),
            Err(EngineError::LockNotAvailable)
        ));
        assert_eq!(t.range_owners(), 0);
        t.lock_range(2, 1, &between(32, 40), LockMode::Shared, None)
            .unwrap();
        t.forget_announced(3);
        t.lock_range(2, 1, &between(30, 40), LockMode::Shared, None)
            .unwrap();
        t.release_ranges(2);
        assert!(t.graph.lock().edges.is_empty());
    }

    #[test]
    fn a_part_can_be_given_back() {
        let t = LockTable::new();
        t.lock_range(1, 1, &between(1, 5), LockMode::Shared, None)
            .unwrap();
        let mark = t
            .lock_range(1, 1, &between(10, 90), LockMode::Shared, None)
            .unwrap()
            .unwrap();
        t.shrink_range(1, mark, &between(10, 20));
        write(&t, 2, 21, None).unwrap();
        for n in [3, 10, 20] {
            assert!(write(&t, 2, n, None).is_err(), "{n}");
        }
        // Not if more was taken meanwhile.
        let mark = t
            .lock_range(1, 1, &between(30, 90), LockMode::Shared, None)
            .unwrap()
            .unwrap();
        t.lock_range(1, 1, &between(100, 110), LockMode::Shared, None)
            .unwrap();
        t.shrink_range(1, mark, &between(30, 31));
        assert!(write(&t, 2, 80, None).is_err() && write(&t, 2, 105, None).is_err());
        t.release_ranges(1);
        assert_eq!(t.range_owners(), 0);
    }

    /// One whose commit lands is waited for; one that comes now sees the range.
    #[test]
    fn a_landing_commit_is_waited_for() {
        let t = Arc::new(LockTable::new());
        assert!(t.begin_landing(9));
        let t2 = t.clone();
        let reader = std::thread::spawn(move || {
            t2.lock_range(1, 1, &between(1, 5), LockMode::Shared, Some(&wait(60_000)))
                .unwrap();
        });
        while !t.has_ranges() {
            std::thread::yield_now();
        }
        assert!(!t.begin_landing(10));
        std::thread::sleep(Duration::from_millis(20));
        assert!(!reader.is_finished());
        t.landed(9);
        reader.join().unwrap();
        t.release_ranges(1);
        assert!(t.begin_landing(10));
        t.landed(10);
    }

    #[test]
    fn cycles_through_ranges_and_rows_are_found() {
        let t = Arc::new(LockTable::new());
        let a = t.row_name(1, b"a");
        t.acquire(2, a, LockMode::Exclusive, None).unwrap();
        t.lock_range(1, 1, &between(1, 5), LockMode::Shared, None)
            .unwrap();
        let t2 = t.clone();
        let h = std::thread::spawn(move || {
            let r = t2.acquire(1, a, LockMode::Shared, Some(wait(60_000)));
            t2.release_ranges(1);
            r.is_ok()
        });
        while t.graph.lock().edges.is_empty() {
            std::thread::yield_now();
        }
        assert!(matches!(
            write(&t, 2, 3, Some(&wait(60_000))),
            Err(EngineError::Deadlock)
        ));
        t.release_all(2, &[a]);
        assert!(h.join().unwrap());
        t.release_all(1, &[a]);
        assert!(t.graph.lock().edges.is_empty());
        assert!(t.ranges.state.lock().sleepers.is_empty());
    }
}
