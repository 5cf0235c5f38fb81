//! A transaction's own writes: what it sees before commit and what its commit adds to the store.
//!
//! Small sets live in memory (a sorted map with an undo list). A set that outgrows its share of memory is *spilled*:
//! the map is written as a sorted run file, and begins anew. Reads look into the map, then into the runs, newest first.
//!
//! Places to roll back to are positions in the endless list of changes (0 = before the first). Rolling back to a place
//! in the map undoes change by change; rolling back to a place before it drops the runs written since. So that this is
//! exact, a spill writes a run of its own up to every place that somebody may still roll back to.

use crate::Result;
use crate::memtable::{FullKey, Payload, index_of};
use crate::run::{Run, RunCache, RunEntry, RunWriter};
use narwal_log::Disk;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
}

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
        for r in self.runs.iter().rev() {
            if let Some(p) = r.run.get(key)? {
                return Ok(Some(p));
            }
        }
        Ok(None)
    }

    /// Sets a key. `delta`: by how much this changes the number of rows of a clustered index.
    pub(crate) fn put(&mut self, key: FullKey, payload: Payload, delta: i8) {
        self.bytes += 2 * key.len() as u64 + payload.heap_bytes() + ENTRY_OVERHEAD;
        let before = match self.map.entry(key.clone()) {
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

    /// The place behind the last change.
    pub(crate) fn position(&self) -> u64 {
        self.undo_base + self.undo.len() as u64
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
        if self.undo.is_empty() {
            self.bytes = 0;
        }
    }

    fn undo_last(&mut self) {
        let Some((key, before)) = self.undo.pop() else {
            return;
        };
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
        if self.undo.is_empty() {
            return Ok(0);
        }
        let mut cuts: Vec<SpillEnd> = places
            .iter()
            .copied()
            .filter(|p| (self.undo_base + 1..self.position()).contains(&p.writes))
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
            let path = place.dir.join(run_name(place.id, self.files));
            self.files += 1;
            let run = match write_run(place, &path, &part) {
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
            });
        }
        Ok(bytes)
    }

    /// Takes a part that could not be spilled back into the map.
    fn restore(&mut self, end: SpillEnd, part: OwnMap) {
        for (key, mut own) in part {
            own.delta += self.map.get(&key).map_or(0, |o| o.delta);
            self.bytes += 2 * key.len() as u64 + own.payload.heap_bytes() + ENTRY_OVERHEAD;
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
            })
            .collect();
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

/// Name of a run file: the transaction's first LSN and a number.
fn run_name(id: u64, number: u32) -> String {
    format!("{id:016x}-{number:06}.run")
}

fn write_run(place: &SpillPlace, path: &Path, map: &OwnMap) -> Result<Arc<Run>> {
    let mut w = RunWriter::create(&place.disk, path)?;
    for (key, own) in map {
        w.add(key, RunEntry::from(&own.payload))?;
    }
    w.finish()?;
    Run::open(&place.disk, path, &place.cache)
}
