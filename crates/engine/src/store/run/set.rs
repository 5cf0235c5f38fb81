//! Several runs as one: the newest says what a key is.

use crate::Result;
use crate::key::{FullKey, FullRange};
use crate::store::entry::{Payload, RunEntry};
use crate::store::run::cursor::RunCursor;
use crate::store::run::reader::Run;
use crate::store::run::writer::{RunMeta, RunWriter};
use std::cmp::Ordering;
use std::sync::Arc;

/// The runs of one transaction, newest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunSet {
    /// Newest first.
    pub(crate) runs: Vec<Arc<Run>>,
}

impl RunSet {
    /// True without any run.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Adds a run that is newer than all others.
    pub(crate) fn push_newest(&mut self, run: Arc<Run>) {
        self.runs.insert(0, run);
    }

    /// What the newest run that knows the key says.
    pub(crate) fn get(&self, key: &[u8]) -> Result<Option<Payload>> {
        for run in &self.runs {
            if let Some(p) = run.get(key)? {
                return Ok(Some(p));
            }
        }
        Ok(None)
    }

    /// True if some run has keys of the index.
    pub(crate) fn has_index(&self, index: u32) -> bool {
        self.runs.iter().any(|r| r.index(index).is_some())
    }

    /// First and last full key of an index over all runs.
    pub(crate) fn index_range(&self, index: u32) -> Option<(&[u8], &[u8])> {
        let spans = || self.runs.iter().filter_map(|r| r.index(index));
        Some((
            spans().map(|s| &*s.first).min()?,
            spans().map(|s| &*s.last).max()?,
        ))
    }

    /// Length of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.runs.iter().map(|r| r.bytes()).sum()
    }

    /// Number of entries; a key in two runs counts twice.
    pub(crate) fn entries(&self) -> u64 {
        self.runs.iter().map(|r| r.entries()).sum()
    }

    /// What an annex says about the runs, newest first.
    pub(crate) fn metas(&self) -> Vec<RunMeta> {
        self.runs.iter().map(|r| r.meta()).collect()
    }

    /// A cursor over the newest entries of a range.
    pub(crate) fn cursor(&self, range: &FullRange, reverse: bool) -> Result<RunSetCursor> {
        let mut cursors = Vec::new();
        for run in &self.runs {
            if run.overlaps(range) {
                cursors.push(run.cursor(range, reverse)?);
            }
        }
        Ok(RunSetCursor::new(cursors, reverse))
    }

    /// A cursor over the newest entries of everything, in key order, past the cache.
    pub(crate) fn iter_all(&self) -> Result<RunSetCursor> {
        let cursors: Result<Vec<_>> = self.runs.iter().map(|r| r.iter_all()).collect();
        Ok(RunSetCursor::new(cursors?, false))
    }

    /// Removes the files when their last readers are gone.
    pub(crate) fn mark_obsolete(&self) {
        for r in &self.runs {
            r.mark_obsolete();
        }
    }
}

/// A cursor over several runs: a heap of cursors by key, then by age.
pub(crate) struct RunSetCursor {
    cursors: Vec<RunCursor>,
    /// Positions in `cursors`; the first is the one with the next key, and among equals the newest run's.
    heap: Vec<usize>,
    reverse: bool,
    last: FullKey,
}

impl RunSetCursor {
    /// `cursors`: newest run first, all of one direction.
    fn new(cursors: Vec<RunCursor>, reverse: bool) -> RunSetCursor {
        let heap = (0..cursors.len())
            .filter(|i| cursors[*i].peek_key().is_some())
            .collect::<Vec<_>>();
        let mut c = RunSetCursor {
            cursors,
            heap,
            reverse,
            last: FullKey::new(),
        };
        for i in (0..c.heap.len() / 2).rev() {
            c.sift_down(i);
        }
        c
    }

    /// True if position `a` of `cursors` comes before `b`.
    fn before(&self, a: usize, b: usize) -> bool {
        let by_key = self.cursors[a].peek_key().cmp(&self.cursors[b].peek_key());
        match if self.reverse {
            by_key.reverse()
        } else {
            by_key
        } {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => a < b,
        }
    }

    fn sift_down(&mut self, mut i: usize) {
        loop {
            let mut first = i;
            for child in [2 * i + 1, 2 * i + 2] {
                if child < self.heap.len() && self.before(self.heap[child], self.heap[first]) {
                    first = child;
                }
            }
            if first == i {
                return;
            }
            self.heap.swap(i, first);
            i = first;
        }
    }

    fn advance_first(&mut self) -> Result<()> {
        let Some(&i) = self.heap.first() else {
            return Ok(());
        };
        self.cursors[i].advance()?;
        if self.cursors[i].peek_key().is_none() {
            self.heap.swap_remove(0);
        }
        self.sift_down(0);
        Ok(())
    }

    fn first(&self) -> Option<&RunCursor> {
        self.cursors.get(*self.heap.first()?)
    }

    /// The full key under the cursor; `None` at the end.
    #[inline]
    pub(crate) fn peek_key(&self) -> Option<&[u8]> {
        self.first()?.peek_key()
    }

    /// What the newest run says about it; `None` at the end.
    #[inline]
    pub(crate) fn entry(&self) -> Option<RunEntry<'_>> {
        self.first()?.entry()
    }

    /// A copy of what the newest run says about it; `None` at the end.
    pub(crate) fn payload(&self) -> Option<Payload> {
        self.entry().map(|e| e.to_payload())
    }

    /// Goes to the next key; stays at the end.
    pub(crate) fn advance(&mut self) -> Result<()> {
        if self.heap.len() < 2 {
            return self.advance_first();
        }
        self.last.clear();
        let Some(key) = self.cursors[self.heap[0]].peek_key() else {
            return Ok(());
        };
        self.last.extend_from_slice(key);
        // The same key in older runs is passed.
        loop {
            self.advance_first()?;
            if self.peek_key() != Some(&self.last[..]) {
                return Ok(());
            }
        }
    }
}

/// Merges runs, newest first, into `writer`: the newest entry of each key, tombstones included. `stop` is asked now and
/// then; true ends the merge with [`crate::EngineError::Interrupted`].
pub(crate) fn merge_runs(
    newest_first: &[Arc<Run>],
    mut writer: RunWriter,
    stop: impl Fn() -> bool,
) -> Result<RunMeta> {
    let set = RunSet {
        runs: newest_first.to_vec(),
    };
    let mut cursor = set.iter_all()?;
    let mut n = 0u32;
    while let (Some(key), Some(entry)) = (cursor.peek_key(), cursor.entry()) {
        writer.add(key, entry)?;
        cursor.advance()?;
        n = n.wrapping_add(1);
        if n.is_multiple_of(4096) && stop() {
            return Err(crate::error::EngineError::Interrupted);
        }
    }
    writer.finish()
}
