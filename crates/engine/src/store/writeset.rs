//! A transaction's own writes: what it sees before commit and what its commit adds to the store.
//!
//! Small sets live in memory (a sorted map with an undo list). A set that outgrows its share of memory is *spilled*:
//! the map is written as a sorted run file, and begins anew. Reads look into the map, then into the runs, newest first.
//!
//! Places to roll back to are positions in the endless list of changes (0 = before the first). Rolling back to a place
//! in the map undoes change by change; rolling back to a place before it drops the runs written since. So that this is
//! exact, a spill writes a run of its own up to every place that somebody may still roll back to.

use crate::key::{FullKey, index_of};
use crate::store::entry::{Payload, RunEntry};
use crate::store::run::cache::RunCache;
use crate::store::run::reader::Run;
use crate::store::run::set::merge_runs;
use crate::store::run::writer::RunWriter;
use crate::{EngineError, Result};
use narwal_log::Disk;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A transaction's own version of a key, and by how much it changes the number of rows since the map began.
#[derive(Debug, Clone)]
pub(crate) struct Own {
    pub(crate) payload: Payload,
    pub(crate) delta: i8,
}

/// The sorted map of a write set.
pub(crate) type OwnMap = BTreeMap<FullKey, Own>;

/// Row count changes by clustered index id.
pub(crate) type RowDeltas = BTreeMap<u32, i64>;

/// Rough cost of a map entry and its undo entry beside key and row bytes.
const ENTRY_OVERHEAD: u64 = 160;

/// Where the run files of a write set go.
#[derive(Debug, Clone)]
pub(crate) struct SpillPlace {
    pub(crate) disk: Arc<dyn Disk>,
    /// The folder; it exists.
    pub(crate) dir: PathBuf,
    /// Unique in the folder for as long as a file of it may be there: the LSN of the transaction's first chunk.
    pub(crate) id: u64,
    /// Memory for blocks of runs.
    pub(crate) cache: Arc<RunCache>,
    /// Set by KILL: ends a merge of runs.
    pub(crate) interrupt: Option<Arc<AtomicBool>>,
}

/// A new [`SpillPlace::id`] for files that no record names: no transaction's first LSN is that large.
pub(crate) fn unlogged_spill_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1 << 62);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A place where a run must end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SpillEnd {
    /// Position in the write set.
    pub(crate) writes: u64,
    /// Bytes of events sent by then: what they change is in the runs.
    pub(crate) events: u64,
    /// Row changes behind them that are in the runs too: those of the rows event that was growing.
    pub(crate) skip: u64,
}

/// One run file of a write set.
#[derive(Debug)]
pub(crate) struct SpilledRun {
    pub(crate) run: Arc<Run>,
    /// Where it ends.
    end: SpillEnd,
    deltas: RowDeltas,
    /// 0 as spilled, otherwise how often it was merged.
    level: u8,
}

/// Runs of one level that are merged into one of the next.
const FAN_IN: usize = 8;
/// Reads that look into more runs than this, on average, make merging worth it.
const MANY_PROBES: u64 = 8;
/// So many files at most are open for one transaction, however little they overlap.
const MANY_RUNS: usize = 256;

/// The writes of one transaction.
#[derive(Debug, Default)]
pub(crate) struct WriteSet {
    map: OwnMap,
    undo: Vec<(FullKey, Option<Own>)>,
    /// Position of the first change in `undo`.
    undo_base: u64,
    bytes: u64,
    /// Oldest first.
    runs: Vec<SpilledRun>,
    /// Counts run files, so that names are not used twice.
    files: u32,
    /// The names of all run files are durable.
    names_durable: bool,
    /// Point reads since the last spill that looked into runs, and how many runs they looked into.
    gets: Cell<u64>,
    probes: Cell<u64>,
}

impl WriteSet {
    /// True if nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.map.is_empty() && self.runs.is_empty()
    }

    /// The part in memory.
    pub(crate) fn map(&self) -> &OwnMap {
        &self.map
    }

    /// The spilled part, newest first.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &Arc<Run>> {
        self.runs.iter().rev().map(|r| &r.run)
    }

    /// Whether something was spilled.
    pub(crate) fn has_runs(&self) -> bool {
        !self.runs.is_empty()
    }

    /// Approximate memory of the map and the undo list, bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The transaction's own version of a key.
    #[inline]
    pub(crate) fn get(&self, key: &FullKey) -> Result<Option<Payload>> {
        if let Some(own) = self.map.get(key) {
            return Ok(Some(own.payload.clone()));
        }
        if self.runs.is_empty() {
            return Ok(None);
        }
        self.gets.set(self.gets.get() + 1);
        for r in self.runs.iter().rev().filter(|r| r.run.covers(key)) {
            self.probes.set(self.probes.get() + 1);
            if let Some(p) = r.run.get(key)? {
                return Ok(Some(p));
            }
        }
        Ok(None)
    }

    /// Sets a key. `delta`: by how much this changes the number of rows of a clustered index.
    pub(crate) fn put(&mut self, key: FullKey, payload: Payload, delta: i8) {
        self.bytes += 2 * half_cost(&key) + payload.heap_bytes();
        let before = match self.map.entry(crate::key::copy(&key)) {
            Entry::Vacant(e) => {
                e.insert(Own { payload, delta });
                None
            }
            Entry::Occupied(mut e) => {
                let delta = e.get().delta + delta;
                Some(e.insert(Own { payload, delta }))
            }
        };
        self.undo.push((key, before));
    }

    /// The keys that came behind a place and are not spilled: of new rows, and of all index entries. Some may be named twice.
    pub(crate) fn new_keys_since(&self, position: u64) -> impl Iterator<Item = &FullKey> {
        let from = position.saturating_sub(self.undo_base) as usize;
        let is_new = |key: &&FullKey| {
            self.map.get(*key).is_some_and(|own| match own.payload {
                Payload::Row(_) => own.delta > 0,
                Payload::Present => true,
                Payload::Tombstone => false,
            })
        };
        self.undo
            .iter()
            .skip(from)
            .map(|(key, _)| key)
            .filter(is_new)
    }

    /// The place behind the last change.
    pub(crate) fn position(&self) -> u64 {
        self.undo_base + self.undo.len() as u64
    }

    /// Whether the names of all run files are durable; after a spill the caller sees to it.
    pub(crate) fn names_durable(&self) -> bool {
        self.names_durable
    }

    /// They are now.
    pub(crate) fn set_names_durable(&mut self) {
        self.names_durable = true;
    }

    /// Undoes everything behind a place.
    pub(crate) fn rollback_to(&mut self, position: u64) {
        if position < self.undo_base {
            self.map.clear();
            self.undo.clear();
            self.bytes = 0;
            while self.runs.last().is_some_and(|r| r.end.writes > position) {
                if let Some(r) = self.runs.pop() {
                    r.run.mark_obsolete();
                }
            }
            debug_assert!(
                self.runs.last().is_none_or(|r| r.end.writes == position),
                "a spill ends a run at every place to roll back to"
            );
            self.undo_base = position;
            return;
        }
        while self.position() > position {
            self.undo_last();
        }
        if self.map.is_empty() {
            self.bytes = 0;
        }
    }

    /// Makes what is in it stay: nothing before this place can be undone.
    pub(crate) fn settle(&mut self) {
        self.undo_base = self.position();
        let kept = self.runs.is_empty();
        for (key, before) in std::mem::take(&mut self.undo) {
            let mut freed = half_cost(&key);
            if let Some(own) = before {
                freed += half_cost(&key) + own.payload.heap_bytes();
            }
            // A row that came and went: without runs there is nothing for its tombstone to hide.
            if kept
                && let Entry::Occupied(e) = self.map.entry(key)
                && matches!(e.get().payload, Payload::Tombstone)
            {
                freed += half_cost(e.key());
                e.remove();
            }
            self.bytes = self.bytes.saturating_sub(freed);
        }
    }

    fn undo_last(&mut self) {
        let Some((key, before)) = self.undo.pop() else {
            return;
        };
        if let Some(own) = self.map.get(&key) {
            let freed = 2 * half_cost(&key) + own.payload.heap_bytes();
            self.bytes = self.bytes.saturating_sub(freed);
        }
        match before {
            Some(own) => {
                self.map.insert(key, own);
            }
            None => {
                self.map.remove(&key);
            }
        }
    }

    /// Writes the map to run files and empties it; returns the bytes written. `places`: every place that may still be
    /// rolled back to. `end`: where the transaction is now (`writes` is this set's to say). If writing fails (disk full)
    /// what could not be written is in the map as before.
    pub(crate) fn spill(
        &mut self,
        place: &SpillPlace,
        places: &[SpillEnd],
        end: SpillEnd,
    ) -> Result<u64> {
        if self.map.is_empty() {
            return Ok(0);
        }
        self.names_durable = false;
        let mut cuts: Vec<SpillEnd> = places
            .iter()
            .copied()
            .filter(|p| (self.undo_base..self.position()).contains(&p.writes))
            .collect();
        cuts.sort_unstable();
        cuts.dedup_by_key(|c| c.writes);
        // From the newest part to the oldest: what changed behind the cut is taken out, then the map is rolled back to it.
        let mut parts: Vec<(SpillEnd, OwnMap)> = Vec::with_capacity(cuts.len() + 1);
        let mut end = SpillEnd {
            writes: self.position(),
            ..end
        };
        for cut in cuts.into_iter().rev() {
            let from = (cut.writes - self.undo_base) as usize;
            let mut part = OwnMap::new();
            for (key, _) in &self.undo[from..] {
                if let Some(own) = self.map.get(key) {
                    part.insert(key.clone(), own.clone());
                }
            }
            while self.position() > cut.writes {
                self.undo_last();
            }
            for (key, own) in &mut part {
                own.delta -= self.map.get(key).map_or(0, |o| o.delta);
            }
            parts.push((end, part));
            end = cut;
        }
        parts.push((end, std::mem::take(&mut self.map)));
        self.undo = Vec::new();
        self.bytes = 0;
        let mut bytes = 0;
        while let Some((end, part)) = parts.pop() {
            if part.is_empty() {
                self.undo_base = end.writes;
                continue;
            }
            let path = place.dir.join(run_name(place.id, self.files));
            self.files += 1;
            let entries = part.iter().map(|(k, own)| (k, (&own.payload).into()));
            let run = match write_run(place, &path, entries) {
                Ok(run) => run,
                Err(e) => {
                    // Already gone if it was not finished.
                    let _ = place.disk.remove(&path);
                    self.restore(end, part);
                    while let Some((end, part)) = parts.pop() {
                        self.restore(end, part);
                    }
                    return Err(e);
                }
            };
            bytes += run.bytes();
            self.undo_base = end.writes;
            self.runs.push(SpilledRun {
                run,
                end,
                deltas: row_deltas(&part),
                level: 0,
            });
        }
        bytes += self.merge_runs(place, places)?;
        self.gets.set(0);
        self.probes.set(0);
        Ok(bytes)
    }

    /// Takes a part that could not be spilled back into the map.
    fn restore(&mut self, end: SpillEnd, part: OwnMap) {
        for (key, mut own) in part {
            own.delta += self.map.get(&key).map_or(0, |o| o.delta);
            if end.writes == self.undo_base {
                // Settled: it can't be undone.
                self.bytes += half_cost(&key) + own.payload.heap_bytes();
                self.map.insert(key, own);
                continue;
            }
            self.bytes += 2 * half_cost(&key) + own.payload.heap_bytes();
            let before = self.map.insert(key.clone(), own);
            self.undo.push((key, before));
        }
        // Keys that changed more than once had more undo entries. Positions must come out the same, and nobody can roll
        // back to one in between.
        let Some((key, _)) = self.undo.last().cloned() else {
            return;
        };
        let now = self.map.get(&key).cloned();
        while self.position() < end.writes {
            self.undo.push((key.clone(), now.clone()));
        }
    }

    /// Merges runs, level by level, if they are many and reads suffer from it, or if they are very many; returns the
    /// bytes written. Runs on two sides of a place in `places` stay apart.
    fn merge_runs(&mut self, place: &SpillPlace, places: &[SpillEnd]) -> Result<u64> {
        let slow = self.probes.get() > MANY_PROBES * self.gets.get().max(1);
        let mut bytes = 0;
        while (slow || self.runs.len() > MANY_RUNS)
            && let Some(group) = self.mergeable(places)
        {
            let path = place.dir.join(run_name(place.id, self.files));
            self.files += 1;
            let stop = || (place.interrupt.as_ref()).is_some_and(|i| i.load(Ordering::Relaxed));
            let old = &self.runs[group.clone()];
            let newest_first: Vec<Arc<Run>> = old.iter().rev().map(|r| r.run.clone()).collect();
            let run = RunWriter::create(&place.disk, &path)
                .and_then(|w| merge_runs(&newest_first, w, stop))
                .and_then(|_| Run::open(&place.disk, &path, &place.cache));
            let run = match run {
                Ok(run) => run,
                Err(e) => {
                    // Already gone if it was not finished.
                    let _ = place.disk.remove(&path);
                    if matches!(e, EngineError::Interrupted) {
                        return Err(e);
                    }
                    tracing::debug!("merging runs: {e}");
                    return Ok(bytes); // slow is not wrong
                }
            };
            bytes += run.bytes();
            let mut merged = SpilledRun {
                run,
                end: SpillEnd::default(),
                deltas: RowDeltas::new(),
                level: 0,
            };
            let at = group.start;
            for r in self.runs.drain(group) {
                r.run.mark_obsolete();
                merged.end = r.end;
                merged.level = r.level.saturating_add(1);
                for (index, d) in r.deltas {
                    *merged.deltas.entry(index).or_default() += d;
                }
            }
            self.runs.insert(at, merged);
        }
        Ok(bytes)
    }

    /// Neighbours of one level, as many as are merged at once or more, without a place to roll back to between them.
    fn mergeable(&self, places: &[SpillEnd]) -> Option<std::ops::Range<usize>> {
        let mut from = 0;
        for i in 0..self.runs.len() {
            let r = &self.runs[i];
            let ends_here = self.runs.get(i + 1).is_none_or(|n| n.level != r.level)
                || places.iter().any(|p| p.writes == r.end.writes);
            if ends_here {
                if i + 1 - from >= FAN_IN {
                    return Some(from..i + 1);
                }
                from = i + 1;
            }
        }
        None
    }

    /// Where the runs end.
    pub(crate) fn spilled_end(&self) -> SpillEnd {
        self.runs.last().map_or(SpillEnd::default(), |r| r.end)
    }

    /// By how much the number of rows of each clustered index changes.
    pub(crate) fn row_deltas(&self) -> RowDeltas {
        let mut sum = row_deltas(&self.map);
        for (index, d) in self.spilled_rows() {
            *sum.entry(index).or_default() += d;
        }
        sum
    }

    /// The same for the spilled part alone.
    pub(crate) fn spilled_rows(&self) -> RowDeltas {
        let mut sum = RowDeltas::new();
        for (index, d) in self.runs.iter().flat_map(|r| &r.deltas) {
            *sum.entry(*index).or_default() += d;
        }
        sum
    }

    /// Puts runs (newest first) that recovery found under what this set will get.
    pub(crate) fn adopt(&mut self, runs: Vec<Arc<Run>>) {
        let end = SpillEnd {
            writes: self.position(),
            ..SpillEnd::default()
        };
        self.files = u32::MAX / 2;
        self.runs = runs
            .into_iter()
            .rev()
            .map(|run| SpilledRun {
                run,
                end,
                deltas: RowDeltas::new(),
                level: 0,
            })
            .collect();
    }

    /// Adds a run of keys that say it all. They are sorted, and none of them was written before. Nothing is in the map.
    pub(crate) fn add_run(&mut self, place: &SpillPlace, keys: &[FullKey]) -> Result<()> {
        debug_assert!(self.map.is_empty() && self.undo.is_empty());
        if keys.is_empty() {
            return Ok(());
        }
        let path = place.dir.join(run_name(place.id, self.files));
        self.files += 1;
        let entries = keys.iter().map(|key| (key, RunEntry::Present));
        let run = write_run(place, &path, entries).inspect_err(|_| {
            // Already gone if it was not finished.
            let _ = place.disk.remove(&path);
        })?;
        self.names_durable = false;
        self.undo_base += keys.len() as u64;
        self.runs.push(SpilledRun {
            run,
            end: SpillEnd {
                writes: self.undo_base,
                ..SpillEnd::default()
            },
            deltas: RowDeltas::new(),
            level: 0,
        });
        self.merge_runs(place, &[])?;
        Ok(())
    }

    /// Takes map and runs (newest first) out for the store: from here on it owns the files.
    pub(crate) fn take(&mut self) -> (OwnMap, Vec<Arc<Run>>) {
        self.undo = Vec::new();
        let runs = std::mem::take(&mut self.runs);
        (
            std::mem::take(&mut self.map),
            runs.into_iter().rev().map(|r| r.run).collect(),
        )
    }
}

impl Drop for WriteSet {
    fn drop(&mut self) {
        for r in &self.runs {
            r.run.mark_obsolete();
        }
    }
}

fn row_deltas(map: &OwnMap) -> RowDeltas {
    let mut sum = RowDeltas::new();
    for (key, own) in map {
        if own.delta != 0 {
            *sum.entry(index_of(key)).or_default() += i64::from(own.delta);
        }
    }
    sum
}

/// What a key takes in the map, or in the undo list.
fn half_cost(key: &FullKey) -> u64 {
    key.len() as u64 + ENTRY_OVERHEAD / 2
}

/// Name of a run file: the transaction's first LSN and a number.
fn run_name(id: u64, number: u32) -> String {
    format!("{id:016x}-{number:06}.run")
}

fn write_run<'a>(
    place: &SpillPlace,
    path: &Path,
    entries: impl Iterator<Item = (&'a FullKey, RunEntry<'a>)>,
) -> Result<Arc<Run>> {
    let mut w = RunWriter::create(&place.disk, path)?;
    for (key, entry) in entries {
        w.add(key, entry)?;
    }
    w.finish()?;
    Run::open(&place.disk, path, &place.cache)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::key::full_key;
    use narwal_log::sim::SimDisk;
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    /// What the set holds, as plain maps: one for now and one per savepoint, with the set's place.
    type Model = BTreeMap<u32, Option<Vec<u8>>>;

    /// `settled`: a set that outlives transactions has nothing below it, so it may forget what is gone.
    fn check(set: &WriteSet, model: &Model, keys: u32, settled: bool) {
        let mut rows = 0;
        for k in 0..keys {
            let got = set.get(&full_key(7, &(2 * k).to_be_bytes())).unwrap();
            let got = got.map(|p| match p {
                Payload::Row(r) => Some(r.to_vec()),
                _ => None,
            });
            let expected = model.get(&k).cloned();
            if settled {
                assert_eq!(got.flatten(), expected.flatten(), "key {k}");
            } else {
                assert_eq!(got, expected, "key {k}");
            }
            rows += i64::from(model.get(&k).is_some_and(Option::is_some));
        }
        assert_eq!(set.row_deltas().get(&7).copied().unwrap_or(0), rows);
    }

    /// Random changes, savepoints, rollbacks and spills, with so many runs that they are merged.
    #[test]
    fn a_set_with_runs_is_what_a_map_is() {
        let mut merges = 0;
        for seed in 0..60u64 {
            let mut rng = StdRng::seed_from_u64(seed);
            let disk: Arc<dyn Disk> = Arc::new(SimDisk::new());
            let dir = PathBuf::from("/spill");
            disk.create_dir_all(&dir).unwrap();
            let place = SpillPlace {
                disk: disk.clone(),
                dir: dir.clone(),
                id: 1,
                cache: RunCache::new(1 << 20),
                interrupt: None,
            };
            let keys = rng.random_range(4..40u32);
            let mut set = WriteSet::default();
            let mut now = Model::new();
            let mut saved: Vec<(u64, Model)> = Vec::new();
            // Half of the sets outlive transactions.
            let settles = seed % 2 == 0;
            let mut settled = (0, Model::new());
            for step in 0..600u32 {
                match rng.random_range(0..100) {
                    0..70 => {
                        let k = rng.random_range(0..keys);
                        let was = now.get(&k).is_some_and(Option::is_some);
                        let key = full_key(7, &(2 * k).to_be_bytes());
                        if rng.random_bool(0.3) && was {
                            set.put(key, Payload::Tombstone, -1);
                            now.insert(k, None);
                        } else {
                            let row = step.to_le_bytes().to_vec();
                            set.put(key, Payload::Row(row.clone().into()), i8::from(!was));
                            now.insert(k, Some(row));
                        }
                    }
                    70..76 => saved.push((set.position(), now.clone())),
                    76..79 if !saved.is_empty() => {
                        // Savepoints are released as well as rolled back to.
                        let i = rng.random_range(0..saved.len());
                        saved.truncate(i + 1);
                        let (at, model) = saved[i].clone();
                        set.rollback_to(at);
                        now = model;
                    }
                    79..83 => {
                        saved.pop();
                    }
                    95..97 if settles => {
                        saved.clear();
                        if rng.random_bool(0.5) {
                            set.rollback_to(settled.0);
                            now = settled.1.clone();
                        } else {
                            set.settle();
                            settled = (set.position(), now.clone());
                        }
                        if set.runs.is_empty() && set.undo.is_empty() {
                            let bytes =
                                |(k, o): (&FullKey, &Own)| half_cost(k) + o.payload.heap_bytes();
                            assert_eq!(set.bytes, set.map.iter().map(bytes).sum::<u64>());
                        }
                        check(&set, &now, keys, settles);
                    }
                    83..98 => {
                        let places: Vec<SpillEnd> = saved
                            .iter()
                            .chain([&settled])
                            .map(|(writes, _)| SpillEnd {
                                writes: *writes,
                                ..SpillEnd::default()
                            })
                            .collect();
                        // Reads that find nothing look into every run.
                        for k in 0..keys {
                            let absent = full_key(7, &(2 * k + 1).to_be_bytes());
                            assert!(set.get(&absent).unwrap().is_none());
                        }
                        set.spill(&place, &places, SpillEnd::default()).unwrap();
                    }
                    _ => check(&set, &now, keys, settles),
                }
            }
            check(&set, &now, keys, settles);
            merges += set.runs.iter().filter(|r| r.level > 0).count();
            drop(set);
            assert!(disk.list(&dir).unwrap().is_empty(), "runs are left over");
        }
        assert!(
            merges > 20,
            "{merges} merged runs: the test misses what it is for"
        );
    }
}
