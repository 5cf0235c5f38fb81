//! Ordered scans: own writes, memtables and base merged, newest source first.

use crate::catalog::table::Table;
use crate::key::{FullKey, FullRange, KeyRange, clustered_key, full_key};
use crate::store::base::{BaseGen, Bytes, split_value};
use crate::store::base_trait::ReadBase;
use crate::store::cursor::{Cursor, Cursors, Sought};
use crate::store::entry::{Payload, RunEntry};
use crate::store::parallel::{Keep, Parallel};
use crate::store::row::{Row, RowInner};
use crate::store::state::{Layer, State};
use crate::store::writeset::{Own, WriteSet};
use crate::{EngineError, Result};
use smallvec::SmallVec;
use std::cmp::Ordering;
use std::collections::btree_map;
use std::ops::Bound;
use std::sync::Arc;

/// Entries of the base that its iterator gives before a cursor takes over, which is cheaper for each entry, but has to be
/// put in its place first.
const FEW: usize = 256;

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

type Guard = redb::AccessGuard<'static, Bytes>;

/// After so many entries of the base in a row, what others have next is looked for once, and the base is read up to there.
const STRETCH: usize = 64;

/// Where an entry is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Own,
    /// A cursor's number.
    Memory(usize),
    Base,
}

/// The item under the cursor.
enum Current<'t> {
    None,
    Own(&'t FullKey, &'t Own),
    /// Copied from a memtable, a map or a run: `Scan::held_key` and `Scan::held_row`.
    Held,
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
    memory: Cursors,
    held_key: FullKey,
    held_row: Vec<u8>,
    base: Option<redb::Range<'static, Bytes, Bytes>>,
    state: Arc<State>,
    range: KeyRange,
    sought: Sought,
    index: usize,
    clustered_id: u32,
    keys_only: bool,
    fetched: Option<Row>,
    /// Rows that were read and not handed on, because [`Scan::each_kept`]'s `keep` said no.
    pub left_out: u64,
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
        let mut memory = Cursors::new();
        let mut base = None;
        let mut own = None;
        let sought = Sought {
            index: ix.id,
            reverse,
            seq,
        };
        if !empty {
            for run in writes.runs() {
                Cursor::push_run(&mut memory, run, &full, reverse)?;
            }
            Cursor::push_memtable(&mut memory, &state.active, &full, sought);
            for layer in &state.older {
                match layer {
                    Layer::Memtable(m) => Cursor::push_memtable(&mut memory, m, &full, sought),
                    Layer::Spilled(s) if s.seq <= seq => {
                        Cursor::push_map(&mut memory, &s.map, &full, sought);
                        for run in &s.runs.runs {
                            Cursor::push_run(&mut memory, run, &full, reverse)?;
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
            range,
            sought,
            held_key: FullKey::new(),
            held_row: Vec::new(),
            index,
            clustered_id: table.indexes[0].id,
            keys_only,
            current: Current::None,
            fetched: None,
            left_out: 0,
            patience: usize::MAX,
        };
        scan.advance_own();
        if !scan.only_base() {
            scan.advance_base()?;
        }
        Ok(scan)
    }

    fn advance_own(&mut self) {
        let reverse = self.sought.reverse;
        self.own_next = self
            .own
            .as_mut()
            .and_then(|o| if reverse { o.next_back() } else { o.next() });
    }

    fn advance_base(&mut self) -> Result<()> {
        self.base_next = read_base(&mut self.base, &self.state.base, self.sought)?;
        Ok(())
    }

    /// Nothing is left to be merged with the base.
    #[inline]
    fn only_base(&self) -> bool {
        self.own_next.is_none() && self.memory.is_empty()
    }

    /// As [`Self::step`], with nothing to compare the base with: nothing is read ahead.
    #[inline]
    fn step_base(&mut self) -> Result<bool> {
        let next = match self.base_next.take() {
            Some(item) => Some(item),
            None => read_base(&mut self.base, &self.state.base, self.sought)?,
        };
        let Some((k, v)) = next else {
            self.current = Current::None;
            return Ok(false);
        };
        self.current = Current::Base(k, v);
        Ok(true)
    }

    /// Moves `current` to the next live key; false at the end.
    ///
    /// The innermost loop of all scans: it stays one function, because what it borrows of each source does not outlive a
    /// step.
    fn step(&mut self) -> Result<bool> {
        loop {
            if self.only_base() {
                return self.step_base();
            }
            // Sources in order of age, youngest first: 0 own, 1.. memtables, last the base.
            let mut best: Option<(usize, &[u8])> = None;
            let reverse = self.sought.reverse;
            let wins = |k: &[u8], best: &Option<(usize, &[u8])>| {
                best.is_none_or(|(_, b)| if reverse { k > b } else { k < b })
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
                    let (Some(key), Some(entry)) = (m.peek(), m.entry()) else {
                        continue;
                    };
                    self.held_key.clear();
                    self.held_key.extend_from_slice(key);
                    live = !matches!(entry, RunEntry::Tombstone);
                    self.held_row.clear();
                    self.held_row.extend_from_slice(entry_row(entry));
                    self.current = Current::Held;
                    m.advance(self.sought)?;
                }
            }
            let key: &[u8] = match &self.current {
                Current::Own(k, _) => &k[4..],
                Current::Held => &self.held_key,
                _ => &[],
            };
            if source != BASE {
                for (i, m) in self.memory.iter_mut().enumerate() {
                    if 1 + i > source && m.peek() == Some(key) {
                        m.advance(self.sought)?;
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
        f: impl FnMut(ScanItem<'_>) -> std::result::Result<bool, E>,
    ) -> std::result::Result<(), E> {
        self.each_kept(None, f)
    }

    /// As [`Scan::each`], for a consumer that does nothing with rows for which `keep` says false: they may be left out. With
    /// `keep`, a long forward scan of the clustered index may read a part of the rows in another thread.
    pub fn each_kept<E: From<EngineError>>(
        &mut self,
        keep: Option<&Keep<'_>>,
        mut f: impl FnMut(ScanItem<'_>) -> std::result::Result<bool, E>,
    ) -> std::result::Result<(), E> {
        if self.index == 0 || self.keys_only {
            let keep = keep.filter(|_| self.index == 0 && !self.keys_only && !self.sought.reverse);
            if !self.merge(keep, &mut f)? {
                return Ok(());
            }
            let end = if self.sought.reverse {
                &self.range.start
            } else {
                &self.range.end
            };
            let end = end.clone();
            self.base_up_to(&end, keep, &mut f)?;
            return Ok(());
        }
        while let Some(item) = self.next()? {
            if !f(item)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Hands on the entries of the base that come before all others; false if `f` had enough.
    fn base_before_others<E: From<EngineError>>(
        &mut self,
        keep: Option<&Keep<'_>>,
        f: &mut impl FnMut(ScanItem<'_>) -> std::result::Result<bool, E>,
    ) -> std::result::Result<bool, E> {
        let reverse = self.sought.reverse;
        let mut first: Option<&[u8]> = self.own_next.map(|(k, _)| &k[4..]);
        for m in &self.memory {
            if let Some(k) = m.peek()
                && first.is_none_or(|b| before(k, b, reverse))
            {
                first = Some(k);
            }
        }
        let (Some(first), Some((k, _))) = (first, &self.base_next) else {
            return Ok(true);
        };
        if !before(k.value(), first, reverse) {
            return Ok(true);
        }
        let first = first.to_vec();
        let end = Bound::Excluded(first);
        if !self.base_up_to(&end, keep, f)? {
            return Ok(false);
        }
        let Bound::Excluded(first) = end else {
            return Ok(true);
        };
        if self.base_next.is_none() && self.base.is_none() {
            // The cursor was at work: the iterator goes on behind it.
            let mut rest = self.range.clone();
            if reverse {
                rest.end = Bound::Included(first);
            } else {
                rest.start = Bound::Included(first);
            }
            self.base = self.state.base.range(self.sought.index, &rest)?;
            self.advance_base()?;
        }
        Ok(true)
    }

    /// Hands on the entries of the base up to `end`, where they are in its pages; false if `f` had enough. If it has not, then
    /// `base_next` is the next one behind, or there is neither that nor an iterator.
    fn base_up_to<E: From<EngineError>>(
        &mut self,
        end: &Bound<Vec<u8>>,
        keep: Option<&Keep<'_>>,
        f: &mut impl FnMut(ScanItem<'_>) -> std::result::Result<bool, E>,
    ) -> std::result::Result<bool, E> {
        let (index, keys_only, reverse) = (self.index, self.keys_only, self.sought.reverse);
        let end = end.as_ref().map(Vec::as_slice);
        // The first entries come from the iterator, which is there already: most scans are short.
        let mut n = 0;
        let last = loop {
            if self.base_next.is_none() {
                self.advance_base()?;
            }
            let Some((k, v)) = &self.base_next else {
                return Ok(true);
            };
            let within = match end {
                Bound::Excluded(e) => before(k.value(), e, reverse),
                // It is the range's, which the iterator keeps to.
                _ => true,
            };
            if !within {
                return Ok(true);
            }
            if !f(base_item(index, keys_only, k.value(), v.value())?)? {
                return Ok(false);
            }
            n += 1;
            if n == FEW {
                break k.value().to_vec();
            }
            self.base_next = None;
        };
        self.base_next = None;
        self.base = None;
        let base = self.state.base.clone();
        let mut f = |k: &[u8], v: &[u8]| f(base_item(index, keys_only, k, v)?);
        match keep {
            Some(keep) => {
                let walk = Parallel {
                    base: &base,
                    index: self.sought.index,
                    end,
                    keep,
                    left_out: 0.into(),
                };
                let more = walk.walk(&last, &mut f);
                self.left_out += walk.left_out.into_inner();
                more
            }
            None => base.walk(self.sought.index, Bound::Excluded(&last), end, reverse, f),
        }
    }

    /// Hands on entries until only the base has any left; false if `f` had enough.
    fn merge<E: From<EngineError>>(
        &mut self,
        keep: Option<&Keep<'_>>,
        f: &mut impl FnMut(ScanItem<'_>) -> std::result::Result<bool, E>,
    ) -> std::result::Result<bool, E> {
        let (index, keys_only, reverse) = (self.index, self.keys_only, self.sought.reverse);
        // Entries of the base since the last one of another source.
        let mut of_base = 0;
        while !self.only_base() {
            if of_base == STRETCH {
                of_base = 0;
                if !self.base_before_others(keep, f)? {
                    return Ok(false);
                }
            }
            // The first key; the youngest source that has it says what it is worth, those in `same` have it too.
            let mut first: Option<(Source, &[u8])> = None;
            let mut same = SmallVec::<[Source; 4]>::new();
            let own = self.own_next.map(|(k, _)| (Source::Own, &k[4..]));
            let memory = self.memory.iter().enumerate();
            let memory = memory.filter_map(|(i, m)| Some((Source::Memory(i), m.peek()?)));
            let base = (self.base_next.as_ref()).map(|(k, _)| (Source::Base, k.value()));
            for (source, key) in own.into_iter().chain(memory).chain(base) {
                let order = match first {
                    None => Ordering::Less,
                    Some((_, best)) if reverse => best.cmp(key),
                    Some((_, best)) => key.cmp(best),
                };
                match order {
                    Ordering::Less => {
                        first = Some((source, key));
                        same.clear();
                    }
                    Ordering::Equal => same.push(source),
                    Ordering::Greater => {}
                }
            }
            let Some((source, key)) = first else {
                return Ok(true);
            };
            let entry = match source {
                Source::Own => (self.own_next).map(|(_, own)| RunEntry::from(&own.payload)),
                Source::Memory(i) => self.memory[i].entry(),
                Source::Base => None,
            };
            let more = match (entry, &self.base_next) {
                (Some(RunEntry::Tombstone), _) => true,
                (Some(entry), _) => f(ScanItem {
                    key,
                    pk: clustered_key(index, key)?,
                    row: if keys_only { &[] } else { entry_row(entry) },
                })?,
                (None, Some((k, v))) => f(base_item(index, keys_only, k.value(), v.value())?)?,
                (None, None) => true,
            };
            of_base = if source == Source::Base {
                of_base + 1
            } else {
                0
            };
            for source in std::iter::once(source).chain(same) {
                match source {
                    Source::Own => self.advance_own(),
                    Source::Base => self.advance_base()?,
                    Source::Memory(i) => self.memory[i].advance(self.sought)?,
                }
            }
            if !more {
                return Ok(false);
            }
            if source != Source::Base {
                self.memory.retain(|m| m.peek().is_some());
            }
        }
        Ok(true)
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
                Current::Held => &self.held_key,
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
                    .get(self.clustered_id, &full, self.sought.seq)?
                    .and_then(|(_, r)| r),
            };
            if self.fetched.is_some() {
                break;
            }
            // In a snapshot an entry without its row is damage; among the newest versions it is a commit between the
            // two reads.
            if self.sought.seq != u64::MAX {
                return Err(EngineError::Corrupt(format!(
                    "index {} has an entry without a row",
                    self.sought.index
                )));
            }
        }
        let (key, value): (&[u8], &[u8]) = match &self.current {
            Current::Own(k, o) => (&k[4..], entry_row(RunEntry::from(&o.payload))),
            Current::Held => (&self.held_key, &self.held_row),
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

/// True if a scan meets `a` before `b`.
#[inline]
fn before(a: &[u8], b: &[u8], reverse: bool) -> bool {
    if reverse { a > b } else { a < b }
}

/// The next entry of the base, which is let go at its end.
#[inline]
fn read_base(
    base: &mut Option<redb::Range<'static, Bytes, Bytes>>,
    of: &BaseGen,
    sought: Sought,
) -> Result<Option<(Guard, Guard)>> {
    let Some(r) = base else {
        return Ok(None);
    };
    match if sought.reverse {
        r.next_back()
    } else {
        r.next()
    } {
        Some(Ok(item)) => Ok(Some(item)),
        Some(Err(e)) => Err(of.failed(sought.index, e)),
        None => {
            *base = None;
            Ok(None)
        }
    }
}

/// An entry of the base.
#[inline]
fn base_item<'a>(
    index: usize,
    keys_only: bool,
    key: &'a [u8],
    value: &'a [u8],
) -> Result<ScanItem<'a>> {
    let row = match index {
        0 if !keys_only => split_value(value)?.1,
        _ => &[],
    };
    let pk = clustered_key(index, key)?;
    Ok(ScanItem { key, pk, row })
}

#[inline]
fn entry_row(entry: RunEntry<'_>) -> &[u8] {
    match entry {
        RunEntry::Row(r) => r,
        _ => &[],
    }
}
