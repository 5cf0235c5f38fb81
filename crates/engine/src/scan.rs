//! Ordered scans: own writes, memtables and base merged, newest source first.

use crate::base::{Bytes, base_err, split_value};
use crate::memtable::{FullKey, FullRange, Memtable, Payload, full_key};
use crate::run::{Run, RunCursor};
use crate::state::{Layer, State};
use crate::table::Table;
use crate::txn::{KeyRange, Row, RowInner, clustered_key};
use crate::writeset::{Own, OwnMap, WriteSet};
use crate::{EngineError, Result};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::collections::btree_map;
use std::ops::Bound;
use std::sync::Arc;

/// Entries copied out of a memtable under one lock: small at first, since many scans stop early.
const FIRST_BATCH: usize = 16;
const BATCH: usize = 256;

/// One item of a scan.
#[derive(Debug)]
pub struct ScanItem<'a> {
    /// Full key in the scanned index.
    pub key: &'a [u8],
    /// Clustered key.
    pub pk: &'a [u8],
    /// Row image; empty if the scan is `keys_only`.
    pub row: &'a [u8],
}

/// A cursor over one memtable, filled batch by batch.
struct MemCursor {
    table: Arc<Memtable>,
    range: FullRange,
    batch: Vec<(FullKey, Payload)>,
    at: usize,
    more: bool,
}

impl MemCursor {
    fn new(
        table: &Arc<Memtable>,
        index: u32,
        range: &FullRange,
        reverse: bool,
        seq: u64,
    ) -> Option<MemCursor> {
        if table.is_empty_for(index) {
            return None;
        }
        let mut c = MemCursor {
            table: table.clone(),
            range: range.clone(),
            batch: Vec::new(),
            at: 0,
            more: true,
        };
        c.fill(index, reverse, seq, FIRST_BATCH);
        (!c.batch.is_empty()).then_some(c)
    }

    fn fill(&mut self, index: u32, reverse: bool, seq: u64, limit: usize) {
        if let Some((last, _)) = self.batch.last() {
            let bound = Bound::Excluded(last.clone());
            if reverse {
                self.range.end = bound;
            } else {
                self.range.start = bound;
            }
        }
        self.batch.clear();
        self.at = 0;
        self.more = self
            .table
            .batch(index, &self.range, reverse, seq, limit, &mut self.batch);
    }

    fn peek(&self) -> Option<&[u8]> {
        self.batch.get(self.at).map(|(k, _)| &k[4..])
    }

    fn advance(&mut self, index: u32, reverse: bool, seq: u64) {
        self.at += 1;
        if self.at >= self.batch.len() && self.more {
            self.fill(index, reverse, seq, BATCH);
        }
    }
}

type Guard = redb::AccessGuard<'static, Bytes>;

/// A cursor over the sorted map of a committed spilled write set, filled batch by batch.
struct MapCursor {
    map: Arc<OwnMap>,
    range: FullRange,
    batch: Vec<(FullKey, Payload)>,
    at: usize,
}

impl MapCursor {
    fn fill(&mut self, reverse: bool) {
        if let Some((last, _)) = self.batch.last() {
            let bound = Bound::Excluded(last.clone());
            if reverse {
                self.range.end = bound;
            } else {
                self.range.start = bound;
            }
        }
        self.batch.clear();
        self.at = 0;
        if self.range.is_empty() {
            return;
        }
        let it = self.map.range::<[u8], _>(self.range.bounds());
        let copy = |(k, o): (&FullKey, &Own)| (k.clone(), o.payload.clone());
        if reverse {
            self.batch.extend(it.rev().take(BATCH).map(copy));
        } else {
            self.batch.extend(it.take(BATCH).map(copy));
        }
    }
}

/// A sorted source between the transaction's own map and the base.
enum Cursor {
    Memory(MemCursor),
    Map(MapCursor),
    Run(RunCursor),
}

impl Cursor {
    fn peek(&self) -> Option<&[u8]> {
        match self {
            Cursor::Memory(m) => m.peek(),
            Cursor::Map(m) => m.batch.get(m.at).map(|(k, _)| &k[4..]),
            Cursor::Run(r) => r.peek_key().and_then(|k| k.get(4..)),
        }
    }

    fn advance(&mut self, index: u32, reverse: bool, seq: u64) -> Result<()> {
        match self {
            Cursor::Memory(m) => m.advance(index, reverse, seq),
            Cursor::Map(m) => {
                m.at += 1;
                if m.at >= m.batch.len() {
                    m.fill(reverse);
                }
            }
            Cursor::Run(r) => r.advance()?,
        }
        Ok(())
    }

    /// The item under the cursor; the cursor moves on.
    fn take(&mut self, index: u32, reverse: bool, seq: u64) -> Result<Option<(FullKey, Payload)>> {
        let item = match self {
            Cursor::Memory(MemCursor { batch, at, .. })
            | Cursor::Map(MapCursor { batch, at, .. }) => batch.get_mut(*at).map(|(k, p)| {
                // Filling continues after the batch's last key: leave it in place.
                (k.clone(), std::mem::replace(p, Payload::Tombstone))
            }),
            Cursor::Run(r) => match r.peek_key() {
                Some(k) => r.payload().map(|p| (FullKey::from_slice(k), p)),
                None => None,
            },
        };
        self.advance(index, reverse, seq)?;
        Ok(item)
    }
}

/// The item under the cursor.
enum Current<'t> {
    None,
    Own(&'t FullKey, &'t Own),
    Memory(FullKey, Payload),
    Base(Guard, Guard),
}

/// A running scan; it borrows the transaction.
///
/// Fields are dropped in their order: what points into pages of the base goes before what keeps these pages.
pub struct Scan<'t> {
    current: Current<'t>,
    base_next: Option<(Guard, Guard)>,
    writes: &'t WriteSet,
    own: Option<btree_map::Range<'t, FullKey, Own>>,
    own_next: Option<(&'t FullKey, &'t Own)>,
    /// Youngest first: the transaction's own runs, then the store's layers.
    memory: SmallVec<[Cursor; 2]>,
    base: Option<redb::Range<'static, Bytes, Bytes>>,
    state: Arc<State>,
    seq: u64,
    index: usize,
    index_id: u32,
    clustered_id: u32,
    reverse: bool,
    keys_only: bool,
    fetched: Option<Row>,
    /// It ends once so many deleted entries were passed.
    pub(crate) patience: usize,
}

impl<'t> Scan<'t> {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn new(
        writes: &'t WriteSet,
        state: Arc<State>,
        seq: u64,
        table: &Arc<Table>,
        index: usize,
        range: KeyRange,
        reverse: bool,
        keys_only: bool,
    ) -> Result<Scan<'t>> {
        let ix = table.indexes.get(index).ok_or_else(|| {
            EngineError::Catalog(format!(
                "table {} has no index number {index}",
                table.def.name
            ))
        })?;
        let full = FullRange::new(ix.id, &range);
        let empty = full.is_empty();
        let mut memory = SmallVec::new();
        let mut base = None;
        let mut own = None;
        if !empty {
            for run in writes.runs() {
                push_run(&mut memory, run, &full, reverse)?;
            }
            let memtable = |m| MemCursor::new(m, ix.id, &full, reverse, seq).map(Cursor::Memory);
            memory.extend(memtable(&state.active));
            for layer in &state.older {
                match layer {
                    Layer::Memtable(m) => memory.extend(memtable(m)),
                    Layer::Spilled(s) if s.seq <= seq => {
                        let mut c = MapCursor {
                            map: s.map.clone(),
                            range: full.clone(),
                            batch: Vec::new(),
                            at: 0,
                        };
                        c.fill(reverse);
                        if !c.batch.is_empty() {
                            memory.push(Cursor::Map(c));
                        }
                        for run in &s.runs.runs {
                            push_run(&mut memory, run, &full, reverse)?;
                        }
                    }
                    Layer::Spilled(_) => {}
                }
            }
            base = state.base.range(ix.id, &range)?;
            if !writes.map().is_empty() {
                own = Some(writes.map().range::<[u8], _>(full.bounds()));
            }
        }
        let mut scan = Scan {
            writes,
            own,
            own_next: None,
            memory,
            base,
            base_next: None,
            state,
            seq,
            index,
            index_id: ix.id,
            clustered_id: table.indexes[0].id,
            reverse,
            keys_only,
            current: Current::None,
            fetched: None,
            patience: usize::MAX,
        };
        scan.advance_own();
        if !scan.only_base() {
            scan.advance_base()?;
        }
        Ok(scan)
    }

    fn advance_own(&mut self) {
        let reverse = self.reverse;
        self.own_next = self
            .own
            .as_mut()
            .and_then(|o| if reverse { o.next_back() } else { o.next() });
    }

    fn advance_base(&mut self) -> Result<()> {
        self.base_next = self.read_base()?;
        Ok(())
    }

    #[inline]
    fn read_base(&mut self) -> Result<Option<(Guard, Guard)>> {
        let Some(r) = &mut self.base else {
            return Ok(None);
        };
        match if self.reverse {
            r.next_back()
        } else {
            r.next()
        } {
            Some(item) => Ok(Some(item.map_err(base_err)?)),
            None => {
                self.base = None;
                Ok(None)
            }
        }
    }

    /// Nothing is left to be merged with the base.
    #[inline]
    fn only_base(&self) -> bool {
        self.own_next.is_none() && self.memory.is_empty()
    }

    /// Moves `current` to the next live key; false at the end.
    fn step(&mut self) -> Result<bool> {
        loop {
            if self.only_base() {
                // Nothing to compare with: nothing is read ahead.
                let next = match self.base_next.take() {
                    Some(item) => Some(item),
                    None => self.read_base()?,
                };
                let Some((k, v)) = next else {
                    self.current = Current::None;
                    return Ok(false);
                };
                self.current = Current::Base(k, v);
                return Ok(true);
            }
            // Sources in order of age, youngest first: 0 own, 1.. memtables, last the base.
            let mut best: Option<(usize, &[u8])> = None;
            let reverse = self.reverse;
            let wins = |k: &[u8], best: &Option<(usize, &[u8])>| match best {
                None => true,
                Some((_, b)) => {
                    k.cmp(b)
                        == if reverse {
                            Ordering::Greater
                        } else {
                            Ordering::Less
                        }
                }
            };
            if let Some((k, _)) = self.own_next {
                best = Some((0, &k[4..]));
            }
            for (i, m) in self.memory.iter().enumerate() {
                if let Some(k) = m.peek()
                    && wins(k, &best)
                {
                    best = Some((1 + i, k));
                }
            }
            const BASE: usize = usize::MAX;
            if let Some((k, _)) = &self.base_next
                && wins(k.value(), &best)
            {
                best = Some((BASE, k.value()));
            }
            let Some((source, _)) = best else {
                self.current = Current::None;
                return Ok(false);
            };
            // Take the winner, then pass the same key in older sources.
            let live;
            match source {
                0 => {
                    let Some((k, o)) = self.own_next else {
                        continue;
                    };
                    live = !matches!(o.payload, Payload::Tombstone);
                    self.current = Current::Own(k, o);
                    self.advance_own();
                }
                BASE => {
                    let Some((k, v)) = self.base_next.take() else {
                        continue;
                    };
                    live = true;
                    self.current = Current::Base(k, v);
                    self.advance_base()?;
                }
                n => {
                    let m = &mut self.memory[n - 1];
                    let Some((k, p)) = m.take(self.index_id, self.reverse, self.seq)? else {
                        continue;
                    };
                    live = !matches!(p, Payload::Tombstone);
                    self.current = Current::Memory(k, p);
                }
            }
            let key: &[u8] = match &self.current {
                Current::Own(k, _) => &k[4..],
                Current::Memory(k, _) => &k[4..],
                _ => &[],
            };
            if source != BASE {
                for (i, m) in self.memory.iter_mut().enumerate() {
                    if 1 + i > source && m.peek() == Some(key) {
                        m.advance(self.index_id, self.reverse, self.seq)?;
                    }
                }
                let same = self
                    .base_next
                    .as_ref()
                    .is_some_and(|(k, _)| k.value() == key);
                if same {
                    self.advance_base()?;
                }
            }
            self.memory.retain(|m| m.peek().is_some());
            if live {
                return Ok(true);
            }
            self.patience -= 1;
            if self.patience == 0 {
                self.current = Current::None;
                return Ok(false);
            }
        }
    }

    /// Hands on all items that are left, until `f` says false: cheaper than one by one.
    pub fn each<E: From<EngineError>>(
        &mut self,
        mut f: impl FnMut(ScanItem<'_>) -> std::result::Result<bool, E>,
    ) -> std::result::Result<(), E> {
        if self.index == 0 || self.keys_only {
            while !self.only_base() {
                match self.next()? {
                    Some(item) => {
                        if !f(item)? {
                            return Ok(());
                        }
                    }
                    None => return Ok(()),
                }
            }
            return self.each_of_base(f);
        }
        while let Some(item) = self.next()? {
            if !f(item)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The rest, which is in the base alone: entries are looked at where the base has them.
    fn each_of_base<E: From<EngineError>>(
        &mut self,
        mut f: impl FnMut(ScanItem<'_>) -> std::result::Result<bool, E>,
    ) -> std::result::Result<(), E> {
        let (index, keys_only) = (self.index, self.keys_only);
        let mut one = |k: &Guard, v: &Guard| -> std::result::Result<bool, E> {
            let key = k.value();
            let row = match index {
                0 if !keys_only => split_value(v.value())?.1,
                _ => &[],
            };
            let pk = clustered_key(index, key)?;
            f(ScanItem { key, pk, row })
        };
        if let Some((k, v)) = self.base_next.take()
            && !one(&k, &v)?
        {
            return Ok(());
        }
        let Some(range) = &mut self.base else {
            return Ok(());
        };
        if self.reverse {
            while let Some(item) = range.next_back() {
                let (k, v) = item.map_err(base_err)?;
                if !one(&k, &v)? {
                    return Ok(());
                }
            }
        } else {
            for item in range {
                let (k, v) = item.map_err(base_err)?;
                if !one(&k, &v)? {
                    return Ok(());
                }
            }
        }
        self.base = None;
        Ok(())
    }

    /// The next item, or `None` at the end.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<ScanItem<'_>>> {
        loop {
            if !self.step()? {
                return Ok(None);
            }
            if self.index == 0 || self.keys_only {
                break;
            }
            let key = match &self.current {
                Current::Own(k, _) => &k[4..],
                Current::Memory(k, _) => &k[4..],
                Current::Base(k, _) => k.value(),
                Current::None => return Ok(None),
            };
            let pk = clustered_key(self.index, key)?;
            let full = full_key(self.clustered_id, pk);
            let own = if self.writes.is_empty() {
                None
            } else {
                self.writes.get(&full)?
            };
            self.fetched = match own {
                Some(Payload::Row(r)) => Some(Row(RowInner::Memory(r))),
                Some(_) => None,
                None => self
                    .state
                    .get(self.clustered_id, &full, self.seq)?
                    .and_then(|(_, r)| r),
            };
            if self.fetched.is_some() {
                break;
            }
            // In a snapshot an entry without its row is damage; among the newest versions it is a commit between the
            // two reads.
            if self.seq != u64::MAX {
                return Err(EngineError::Corrupt(format!(
                    "index {} has an entry without a row",
                    self.index_id
                )));
            }
        }
        let (key, value): (&[u8], &[u8]) = match &self.current {
            Current::Own(k, o) => (&k[4..], payload_row(&o.payload)),
            Current::Memory(k, p) => (&k[4..], payload_row(p)),
            Current::Base(k, v) => (
                k.value(),
                if self.index == 0 && !self.keys_only {
                    split_value(v.value())?.1
                } else {
                    &[]
                },
            ),
            Current::None => return Ok(None),
        };
        let row = match (&self.fetched, self.index) {
            (_, 0) => value,
            (Some(r), _) => r,
            (None, _) => &[],
        };
        Ok(Some(ScanItem {
            key,
            pk: clustered_key(self.index, key)?,
            row,
        }))
    }
}

/// Adds a cursor over a run, if the run has anything in the range.
fn push_run(
    cursors: &mut SmallVec<[Cursor; 2]>,
    run: &Arc<Run>,
    range: &FullRange,
    reverse: bool,
) -> Result<()> {
    if !run.overlaps(range) {
        return Ok(());
    }
    let c = run.cursor(range, reverse)?;
    if c.peek_key().is_some() {
        cursors.push(Cursor::Run(c));
    }
    Ok(())
}

fn payload_row(p: &Payload) -> &[u8] {
    match p {
        Payload::Row(r) => r,
        _ => &[],
    }
}
