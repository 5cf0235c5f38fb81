//! Cursors over the sorted sources between a transaction's own map and the base.

use crate::Result;
use crate::key::{FullKey, FullRange};
use crate::store::batch::Batch;
use crate::store::entry::RunEntry;
use crate::store::memtable::Memtable;
use crate::store::run::cursor::RunCursor;
use crate::store::run::reader::Run;
use crate::store::writeset::OwnMap;
use smallvec::SmallVec;
use std::ops::Bound;
use std::sync::Arc;

/// Entries copied out of a memtable under one lock: small at first, since many scans stop early.
const BATCHES: [usize; 3] = [16, 64, 256];

/// Youngest first. Most scans meet one memtable, or two.
pub(crate) type Cursors = SmallVec<[Cursor; 2]>;

/// A sorted source.
pub(crate) enum Cursor {
    /// A memtable.
    Memory(Batches<Arc<Memtable>>),
    /// The map of a committed spilled write set.
    Map(Batches<Arc<OwnMap>>),
    /// A run file.
    Run(RunCursor),
}

/// What a scan is after, in each of its sources.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sought {
    pub(crate) index: u32,
    pub(crate) reverse: bool,
    pub(crate) seq: u64,
}

/// A cursor over a map, filled batch by batch.
pub(crate) struct Batches<S> {
    source: S,
    /// What is left behind the batch.
    range: FullRange,
    batch: Batch,
    at: usize,
    more: bool,
    /// How many there were before this one, 2 at most.
    before: usize,
}

/// A map that batches are copied out of.
pub(crate) trait Source {
    /// Copies up to `limit` entries of a range, in scan order. Returns false when the range is exhausted.
    fn copy(&self, sought: Sought, range: &FullRange, limit: usize, out: &mut Batch) -> bool;
}

impl Source for Arc<Memtable> {
    fn copy(&self, sought: Sought, range: &FullRange, limit: usize, out: &mut Batch) -> bool {
        let Sought {
            index,
            reverse,
            seq,
        } = sought;
        self.batch(index, range, reverse, seq, limit, out)
    }
}

impl Source for Arc<OwnMap> {
    fn copy(&self, sought: Sought, range: &FullRange, limit: usize, out: &mut Batch) -> bool {
        if range.is_empty() {
            return false;
        }
        let it = self.range::<[u8], _>(range.bounds());
        let mut push = |(key, own): (&FullKey, &crate::store::writeset::Own)| {
            out.push(key, &own.payload);
            out.len() >= limit
        };
        if sought.reverse {
            it.rev().any(&mut push)
        } else {
            it.into_iter().any(&mut push)
        }
    }
}

impl<S: Source> Batches<S> {
    fn new(source: S, range: FullRange, sought: Sought) -> Self {
        let mut c = Batches {
            source,
            range,
            batch: Batch::new(),
            at: 0,
            more: true,
            before: 0,
        };
        c.fill(sought);
        c
    }

    fn fill(&mut self, sought: Sought) {
        let limit = BATCHES[self.before];
        self.before = (self.before + 1).min(BATCHES.len() - 1);
        if let Some(last) = self.batch.last_key() {
            let bound = Bound::Excluded(last);
            if sought.reverse {
                self.range.end = bound;
            } else {
                self.range.start = bound;
            }
        }
        self.batch.clear();
        self.at = 0;
        self.more = (self.source).copy(sought, &self.range, limit, &mut self.batch);
    }

    #[inline]
    fn advance(&mut self, sought: Sought) {
        self.at += 1;
        if self.at >= self.batch.len() && self.more {
            self.fill(sought);
        }
    }
}

impl Cursor {
    /// Adds a cursor over a memtable, if the memtable has anything in the range.
    pub(crate) fn push_memtable(
        to: &mut Cursors,
        table: &Arc<Memtable>,
        range: &FullRange,
        sought: Sought,
    ) {
        if table.is_empty_for(sought.index) {
            return;
        }
        let c = Batches::new(table.clone(), range.clone(), sought);
        if !c.batch.is_empty() {
            to.push(Cursor::Memory(c));
        }
    }

    /// Adds a cursor over a map, if the map has anything in the range.
    pub(crate) fn push_map(to: &mut Cursors, map: &Arc<OwnMap>, range: &FullRange, sought: Sought) {
        let c = Batches::new(map.clone(), range.clone(), sought);
        if !c.batch.is_empty() {
            to.push(Cursor::Map(c));
        }
    }

    /// Adds a cursor over a run, if the run has anything in the range.
    ///
    /// # Errors
    /// Damage of the file, and those of reading it.
    pub(crate) fn push_run(
        to: &mut Cursors,
        run: &Arc<Run>,
        range: &FullRange,
        reverse: bool,
    ) -> Result<()> {
        if !run.overlaps(range) {
            return Ok(());
        }
        let c = run.cursor(range, reverse)?;
        if c.peek_key().is_some() {
            to.push(Cursor::Run(c));
        }
        Ok(())
    }

    /// The key under the cursor, in its index; `None` at the end.
    #[inline]
    pub(crate) fn peek(&self) -> Option<&[u8]> {
        let key = match self {
            Cursor::Memory(m) => m.batch.key(m.at),
            Cursor::Map(m) => m.batch.key(m.at),
            Cursor::Run(r) => r.peek_key(),
        };
        key.and_then(|k| k.get(4..))
    }

    /// What the source says about the key under the cursor; `None` at the end.
    #[inline]
    pub(crate) fn entry(&self) -> Option<RunEntry<'_>> {
        match self {
            Cursor::Memory(m) => m.batch.entry(m.at),
            Cursor::Map(m) => m.batch.entry(m.at),
            Cursor::Run(r) => r.entry(),
        }
    }

    /// Goes to the next entry.
    ///
    /// # Errors
    /// As [`Cursor::push_run`].
    #[inline]
    pub(crate) fn advance(&mut self, sought: Sought) -> Result<()> {
        match self {
            Cursor::Memory(m) => m.advance(sought),
            Cursor::Map(m) => m.advance(sought),
            Cursor::Run(r) => r.advance()?,
        }
        Ok(())
    }
}
