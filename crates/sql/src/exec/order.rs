//! Sorting rows, and byte keys for grouping and DISTINCT.

use super::spill::{SpillFile, SpillReader};
use crate::env::StatementEnv;
use crate::expr::node::EvalCtx;
use crate::expr::node::RowAccess;
use crate::plan::query::SortKey;
use crate::status_counts::StatusCount;
use narwal_types::{Collation, Decimal, RowLayout, SqlResult, ValueRef};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

fn as_decimal(v: ValueRef<'_>) -> Option<Decimal> {
    match v {
        ValueRef::Int(i) => Some(i.into()),
        ValueRef::UInt(i) => Some(i.into()),
        ValueRef::Decimal(d) => Some(d),
        ValueRef::Bits(b) => Some(b.value.into()),
        _ => None,
    }
}

fn as_f64(v: ValueRef<'_>) -> Option<f64> {
    match v {
        ValueRef::Float(f) => Some(f64::from(f)),
        ValueRef::Double(f) => Some(f),
        ValueRef::Int(i) => Some(i as f64),
        ValueRef::UInt(i) => Some(i as f64),
        ValueRef::Decimal(d) => Some(d.to_f64()),
        _ => None,
    }
}

/// Order of two values of one expression, NULL first.
pub fn compare(a: ValueRef<'_>, b: ValueRef<'_>, collation: Collation) -> Ordering {
    use ValueRef::{Bits, Bytes, Coded, Date, DateTime, Fixed, Int, Member, Null, Str, Time, UInt};
    match (a, b) {
        (Null, Null) => Ordering::Equal,
        (Null, _) => Ordering::Less,
        (_, Null) => Ordering::Greater,
        (Int(x), Int(y)) => x.cmp(&y),
        (UInt(x), UInt(y)) => x.cmp(&y),
        (Str(x), Str(y)) => collation.compare(x, y),
        (Bytes(x) | Str(x), Bytes(y) | Str(y)) => x.cmp(y),
        (Date(x), Date(y)) => x.cmp(&y),
        (Member(x), Member(y)) => x.number.cmp(&y.number),
        (Bits(x), Bits(y)) => x.value.cmp(&y.value),
        (Fixed(x), Fixed(y)) => x.cmp(&y),
        (Time(x), Time(y)) => x.micros.cmp(&y.micros),
        (DateTime(x), DateTime(y)) => (x.date, x.micros).cmp(&(y.date, y.micros)),
        (Coded(set, x), _) => compare(Str(set.decode(x).as_bytes()), b, collation),
        (_, Coded(set, y)) => compare(a, Str(set.decode(y).as_bytes()), collation),
        _ => {
            if let (Some(x), Some(y)) = (as_decimal(a), as_decimal(b)) {
                return x.cmp(&y);
            }
            if let (Some(x), Some(y)) = (as_f64(a), as_f64(b)) {
                return x.total_cmp(&y);
            }
            let (mut x, mut y) = (Vec::new(), Vec::new());
            push_key(a, collation, &mut x);
            push_key(b, collation, &mut y);
            x.cmp(&y)
        }
    }
}

/// Appends bytes that are equal for equal values of one expression, and only for those.
pub fn push_key(v: ValueRef<'_>, collation: Collation, out: &mut Vec<u8>) {
    fn decimal(d: Decimal, out: &mut Vec<u8>) {
        let mut t = Vec::with_capacity(24);
        d.write(&mut t);
        if t.contains(&b'.') {
            while t.last() == Some(&b'0') {
                t.pop();
            }
            if t.last() == Some(&b'.') {
                t.pop();
            }
        }
        if t == b"-0" {
            t.remove(0);
        }
        // Integers have one form whatever their type.
        match std::str::from_utf8(&t)
            .ok()
            .and_then(|s| s.parse::<i64>().ok())
        {
            Some(i) => {
                out.push(1);
                out.extend_from_slice(&i.to_be_bytes());
            }
            None => {
                out.push(2);
                out.extend_from_slice(&t);
                out.push(0);
            }
        }
    }
    match v {
        ValueRef::Null => out.push(0),
        ValueRef::Int(i) => {
            out.push(1);
            out.extend_from_slice(&i.to_be_bytes());
        }
        ValueRef::UInt(u) => match i64::try_from(u) {
            Ok(i) => push_key(ValueRef::Int(i), collation, out),
            Err(_) => decimal(u.into(), out),
        },
        ValueRef::Decimal(d) => decimal(d, out),
        ValueRef::Float(f) => push_key(ValueRef::Double(f64::from(f)), collation, out),
        ValueRef::Double(f) => {
            out.push(3);
            out.extend_from_slice(&(f + 0.0).to_bits().to_be_bytes());
        }
        ValueRef::Str(s) => {
            out.push(4);
            collation.sort_key(s, out);
        }
        ValueRef::Bytes(s) => {
            out.push(5);
            out.extend_from_slice(&(s.len() as u64).to_be_bytes());
            out.extend_from_slice(s);
        }
        ValueRef::Date(d) => {
            out.push(6);
            out.extend_from_slice(&d.pack().to_be_bytes());
        }
        ValueRef::Time(t) => {
            out.push(7);
            out.extend_from_slice(&t.micros.to_be_bytes());
        }
        ValueRef::Coded(set, s) => {
            push_key(ValueRef::Str(set.decode(s).as_bytes()), collation, out)
        }
        ValueRef::Member(m) => push_key(ValueRef::UInt(m.number), collation, out),
        ValueRef::Bits(b) => push_key(ValueRef::UInt(b.value), collation, out),
        ValueRef::Fixed(f) => {
            out.push(9);
            out.extend_from_slice(&f.sort_bytes());
        }
        ValueRef::DateTime(t) => {
            out.push(8);
            out.extend_from_slice(&t.date.pack().to_be_bytes());
            out.extend_from_slice(&t.micros.to_be_bytes());
        }
    }
}

/// Appends bytes that compare as [`compare`] does for values of one expression, NULL first; no such key is the beginning of
/// another.
pub fn push_order_key(v: ValueRef<'_>, collation: Collation, out: &mut Vec<u8>) {
    match v {
        ValueRef::Null => out.push(0),
        ValueRef::Int(i) => {
            out.push(1);
            Decimal::push_int_order_key(i, out);
        }
        ValueRef::UInt(u) => match i64::try_from(u) {
            Ok(i) => push_order_key(ValueRef::Int(i), collation, out),
            Err(_) => push_order_key(ValueRef::Decimal(u.into()), collation, out),
        },
        ValueRef::Decimal(d) => {
            out.push(1);
            d.push_order_key(out);
        }
        ValueRef::Float(f) => push_order_key(ValueRef::Double(f64::from(f)), collation, out),
        ValueRef::Double(f) => {
            out.push(2);
            let b = (f + 0.0).to_bits();
            let b = if b >> 63 == 1 { !b } else { b | 1 << 63 };
            out.extend_from_slice(&b.to_be_bytes());
        }
        ValueRef::Str(s) => {
            out.push(3);
            collation.sort_key(s, out);
        }
        ValueRef::Bytes(s) => {
            out.push(3);
            Collation::Binary.sort_key(s, out);
        }
        ValueRef::Coded(set, s) => {
            push_order_key(ValueRef::Str(set.decode(s).as_bytes()), collation, out);
        }
        ValueRef::Fixed(f) => {
            out.push(7);
            out.extend_from_slice(&f.sort_bytes());
        }
        ValueRef::Date(d) => {
            out.push(4);
            out.extend_from_slice(&d.pack().to_be_bytes());
        }
        ValueRef::Time(t) => {
            out.push(5);
            out.extend_from_slice(&(t.micros as u64 ^ 1 << 63).to_be_bytes());
        }
        ValueRef::DateTime(t) => {
            out.push(6);
            out.extend_from_slice(&t.date.pack().to_be_bytes());
            out.extend_from_slice(&t.micros.to_be_bytes());
        }
        ValueRef::Member(m) => push_order_key(ValueRef::UInt(m.number), collation, out),
        ValueRef::Bits(b) => push_order_key(ValueRef::UInt(b.value), collation, out),
    }
}

impl SortKey {
    /// Appends a row's key. A TIMESTAMP column is taken in UTC.
    pub(super) fn push(
        &self,
        access: &dyn RowAccess,
        ctx: &EvalCtx<'_>,
        out: &mut Vec<u8>,
    ) -> SqlResult<()> {
        let start = out.len();
        let collation = self.expr.ty.ty.collation;
        match self.expr.as_column() {
            Some((source, column)) => {
                if !access.order_key(source, column, out)? {
                    push_order_key(access.column(source, column)?, collation, out);
                }
            }
            None => push_order_key(self.expr.eval_ref(ctx, access)?.as_ref(), collation, out),
        }
        if self.desc {
            for b in &mut out[start..] {
                *b = !*b;
            }
        }
        Ok(())
    }
}

/// A row in memory: its key, payload and image stand one behind the other.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The first bytes of the key, which decide most comparisons.
    prefix: u64,
    start: usize,
    key: u32,
    payload: u32,
    row: u32,
}

impl Slot {
    fn key<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &arena[self.start..self.start + self.key as usize]
    }

    fn end(&self) -> usize {
        self.start + (self.key + self.payload + self.row) as usize
    }
}

/// The first bytes of a key as a number that compares as they do.
#[inline]
pub(super) fn prefix(key: &[u8]) -> u64 {
    match key.first_chunk::<8>() {
        Some(b) => u64::from_be_bytes(*b),
        None => {
            let mut b = [0; 8];
            b[..key.len()].copy_from_slice(key);
            u64::from_be_bytes(b)
        }
    }
}

/// Runs that are merged into one when there are so many.
const MAX_RUNS: usize = 128;

/// The rows that a buffer makes room for at its first one, and the bytes at most.
const FIRST_ROOM: (usize, usize) = (100, 32 << 10);

/// What is read of all runs together, in bytes.
const READ: usize = 1 << 20;

/// What [`SortBuffer::drain`] hands on: payload, row, and whether its keys are those of the row before. False = enough.
pub type OnSorted<'f> = dyn FnMut(&[u8], &[u8], bool) -> SqlResult<bool> + 'f;

/// Rows to be sorted, each with a payload (a clustered key or a group number). What does not fit into `sort_buffer_size` is
/// sorted in portions, which go to a temporary file and are merged at the end.
pub struct SortBuffer<'p> {
    keys: &'p [SortKey],
    arena: Vec<u8>,
    slots: Vec<Slot>,
    /// Rows that can matter at most (LIMIT).
    keep: usize,
    /// A key above which no row matters.
    bound: Option<Vec<u8>>,
    pushed: u64,
    max_memory: u64,
    spilled: Option<Spilled>,
    /// The columns that are kept of each row, if not all.
    columns: Option<(&'p RowLayout, Vec<usize>)>,
}

/// Sorted runs in a file.
pub(super) struct Spilled {
    file: SpillFile,
    /// Where each begins and ends.
    runs: Vec<(u64, u64)>,
}

/// A run while it is merged, with its current row.
pub(super) struct Cursor {
    reader: SpillReader,
    record: Vec<u8>,
    lens: [usize; 3],
    /// Of its key.
    prefix: u64,
}

impl Cursor {
    /// Goes to the next row; false at the end.
    fn next(&mut self, file: &SpillFile) -> SqlResult<bool> {
        let mut head = [0u8; 12];
        if !self.reader.read(file, &mut head)? {
            return Ok(false);
        }
        for (len, b) in self.lens.iter_mut().zip(head.chunks_exact(4)) {
            *len = b.try_into().map_or(0, u32::from_le_bytes) as usize;
        }
        self.record.resize(self.lens.iter().sum(), 0);
        let more = self.reader.read(file, &mut self.record)?;
        self.prefix = prefix(self.key());
        Ok(more)
    }

    pub(super) fn key(&self) -> &[u8] {
        &self.record[..self.lens[0]]
    }

    /// What was recorded behind the key.
    pub(super) fn parts(&self) -> (&[u8], &[u8]) {
        self.record[self.lens[0]..].split_at(self.lens[1])
    }
}

/// A run's place in the heap of a merge: by key, then by age.
struct Head(Cursor, usize);

impl Ord for Head {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_key = || (self.0.key(), self.1).cmp(&(other.0.key(), other.1));
        self.0.prefix.cmp(&other.0.prefix).then_with(by_key)
    }
}

impl PartialOrd for Head {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Head {}

impl Spilled {
    /// No runs yet.
    pub(super) fn new(env: &StatementEnv) -> SqlResult<Spilled> {
        env.status_counts.add(StatusCount::CreatedTmpFiles, 1);
        Ok(Spilled {
            file: SpillFile::new(&env.tmp_dir)?,
            runs: Vec::new(),
        })
    }

    /// Writes a run: `write` records its rows, sorted by their keys.
    pub(super) fn run(
        &mut self,
        env: &StatementEnv,
        write: impl FnOnce(&mut Spilled) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let start = self.file.len();
        write(self)?;
        self.file.flush()?;
        if self.file.len() > start {
            self.runs.push((start, self.file.len()));
        }
        if self.runs.len() >= MAX_RUNS {
            self.merge_all(env)?;
        }
        Ok(())
    }

    /// Calls `f` with all rows of the runs in order, those of older runs before equal ones. False = enough.
    pub(super) fn each(
        &self,
        env: &StatementEnv,
        f: &mut dyn FnMut(&Cursor) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        let mut n = 0u32;
        Spilled::merge(&self.file, &self.runs, &mut |c| {
            n = n.wrapping_add(1);
            if n & 0xff == 0 {
                env.check_interrupt()?;
            }
            f(c)
        })
    }

    /// Appends a row of its key, payload and image.
    pub(super) fn record(&mut self, key: &[u8], payload: &[u8], row: &[u8]) -> SqlResult<()> {
        let mut head = [0; 12];
        for (to, part) in head.chunks_exact_mut(4).zip([key, payload, row]) {
            to.copy_from_slice(&(part.len() as u32).to_le_bytes());
        }
        self.file.write(&head)?;
        for part in [key, payload, row] {
            self.file.write(part)?;
        }
        Ok(())
    }

    /// Appends a row: the lengths of its key, payload and image, and all three.
    fn record_joined(&mut self, lens: [u32; 3], bytes: &[u8]) -> SqlResult<()> {
        let mut head = [0; 12];
        for (to, len) in head.chunks_exact_mut(4).zip(lens) {
            to.copy_from_slice(&len.to_le_bytes());
        }
        self.file.write(&head)?;
        self.file.write(bytes)
    }

    /// Calls `f` with all rows of the runs in order.
    fn merge(
        file: &SpillFile,
        runs: &[(u64, u64)],
        f: &mut dyn FnMut(&Cursor) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        let mut heap = BinaryHeap::with_capacity(runs.len());
        let piece = (READ / runs.len().max(1)).clamp(READ / MAX_RUNS, 64 << 10);
        for (n, (start, end)) in runs.iter().enumerate() {
            let mut c = Cursor {
                reader: SpillReader::in_pieces(*start, *end, piece),
                record: Vec::new(),
                lens: [0; 3],
                prefix: 0,
            };
            if c.next(file)? {
                heap.push(Reverse(Head(c, n)));
            }
        }
        while let Some(mut top) = heap.peek_mut() {
            if !f(&top.0.0)? {
                break;
            }
            if !top.0.0.next(file)? {
                std::collections::binary_heap::PeekMut::pop(top);
            }
        }
        Ok(())
    }

    /// Makes one run of all, in a new file.
    fn merge_all(&mut self, env: &StatementEnv) -> SqlResult<()> {
        env.status_counts.add(StatusCount::SortMergePasses, 1);
        let mut to = Spilled::new(env)?;
        let mut n = 0u32;
        Spilled::merge(&self.file, &self.runs, &mut |c| {
            n = n.wrapping_add(1);
            if n & 0xfff == 0 {
                env.check_interrupt()?;
            }
            to.record_joined(c.lens.map(|l| l as u32), &c.record)?;
            Ok(true)
        })?;
        to.file.flush()?;
        to.runs.push((0, to.file.len()));
        *self = to;
        Ok(())
    }
}

impl<'p> SortBuffer<'p> {
    /// A buffer for at most `keep` rows of interest.
    pub fn new(keys: &'p [SortKey], keep: usize, env: &StatementEnv) -> Self {
        SortBuffer {
            keys,
            arena: Vec::new(),
            slots: Vec::new(),
            keep,
            bound: None,
            pushed: 0,
            max_memory: env.sort_memory.min(env.max_memory),
            spilled: None,
            columns: None,
        }
    }

    /// Keeps only these columns of the rows, which have that layout: the others are NULL when they are handed on.
    pub fn keep_columns(&mut self, layout: &'p RowLayout, mut columns: Vec<usize>) {
        columns.sort_unstable();
        columns.dedup();
        if columns.len() < layout.columns().len() {
            self.columns = Some((layout, columns));
        }
    }

    /// Adds a row.
    pub fn push(
        &mut self,
        payload: &[u8],
        row: &[u8],
        access: &dyn RowAccess,
        ctx: &EvalCtx<'_>,
    ) -> SqlResult<()> {
        self.pushed += 1;
        let start = self.arena.len();
        for k in self.keys {
            k.push(access, ctx, &mut self.arena)?;
            if let Some(b) = &self.bound {
                // The first keys decide most rows. No key is the beginning of another.
                let key = &self.arena[start..];
                if key > &b[..b.len().min(key.len())] {
                    self.arena.truncate(start);
                    return Ok(());
                }
            }
        }
        let key = &self.arena[start..];
        if self.bound.as_ref().is_some_and(|b| key >= b.as_slice()) {
            self.arena.truncate(start);
            return Ok(());
        }
        let (prefix, len) = (prefix(key), key.len());
        self.arena.extend_from_slice(payload);
        let at = self.arena.len();
        match &self.columns {
            Some((layout, columns)) => layout.project(row, columns, &mut self.arena)?,
            None => self.arena.extend_from_slice(row),
        }
        self.slots.push(Slot {
            prefix,
            start,
            key: len as u32,
            payload: payload.len() as u32,
            row: (self.arena.len() - at) as u32,
        });
        if self.slots.len() == 1 {
            // To grow step by step takes longer.
            let (rows, bytes) = FIRST_ROOM;
            let more = rows.min(self.keep);
            self.slots.reserve(more);
            self.arena
                .reserve((more.saturating_mul(self.arena.len())).min(bytes));
        }
        if self.keep < usize::MAX / 32 && self.slots.len() >= 2 * self.keep + 256 {
            self.prune();
        }
        if self.used() > self.max_memory {
            self.prune();
            if self.used() > self.max_memory {
                self.spill(ctx.env)?;
            }
        }
        Ok(())
    }

    fn used(&self) -> u64 {
        (self.arena.len() + self.slots.len() * size_of::<Slot>()) as u64
    }

    /// Drops rows that can't be among the first `keep`.
    fn prune(&mut self) {
        if self.slots.len() <= self.keep {
            return;
        }
        self.sort();
        self.slots.truncate(self.keep);
        let mut arena = Vec::with_capacity(self.arena.len() / 2);
        for s in &mut self.slots {
            let start = arena.len();
            arena.extend_from_slice(&self.arena[s.start..s.end()]);
            s.start = start;
        }
        self.arena = arena;
        self.bound = self.slots.last().map(|s| s.key(&self.arena).to_vec());
    }

    /// Sorts; rows equal in all keys stay in the order in which they came.
    fn sort(&mut self) {
        let arena = &self.arena;
        self.slots.sort_unstable_by(|a, b| {
            a.prefix
                .cmp(&b.prefix)
                .then_with(|| a.key(arena).cmp(b.key(arena)))
                .then_with(|| a.start.cmp(&b.start))
        });
    }

    /// Writes what is in memory as a sorted run.
    fn spill(&mut self, env: &StatementEnv) -> SqlResult<()> {
        env.check_interrupt()?;
        self.sort();
        let mut to = match self.spilled.take() {
            Some(s) => s,
            None => {
                env.status_counts.add(StatusCount::SortMergePasses, 1);
                Spilled::new(env)?
            }
        };
        to.run(env, |to| {
            for s in &self.slots {
                to.record_joined([s.key, s.payload, s.row], &self.arena[s.start..s.end()])?;
            }
            Ok(())
        })?;
        self.spilled = Some(to);
        self.slots.clear();
        self.arena.clear();
        Ok(())
    }

    /// Number of rows pushed.
    pub fn pushed(&self) -> u64 {
        self.pushed
    }

    /// Hands on the rows in order.
    pub fn drain(mut self, ctx: &EvalCtx<'_>, f: &mut OnSorted<'_>) -> SqlResult<()> {
        if self.spilled.is_some() && !self.slots.is_empty() {
            self.spill(ctx.env)?;
        }
        let mut n = 0u32;
        let mut step = || {
            n = n.wrapping_add(1);
            if n & 0xff == 0 {
                ctx.env.check_interrupt()?;
            }
            SqlResult::Ok(())
        };
        if let Some(s) = &self.spilled {
            let mut last: Option<Vec<u8>> = None;
            return Spilled::merge(&s.file, &s.runs, &mut |c| {
                step()?;
                let same = last.as_deref() == Some(c.key());
                if !same {
                    let last = last.get_or_insert_default();
                    last.clear();
                    last.extend_from_slice(c.key());
                }
                let (payload, row) = c.record[c.lens[0]..].split_at(c.lens[1]);
                f(payload, row, same)
            });
        }
        if !self.keys.is_empty() {
            self.sort();
        }
        let mut last: Option<Slot> = None;
        for s in &self.slots {
            step()?;
            let same = last.is_some_and(|l| l.key(&self.arena) == s.key(&self.arena));
            last = Some(*s);
            let at = s.start + s.key as usize;
            let (payload, row) = self.arena[at..s.end()].split_at(s.payload as usize);
            if !f(payload, row, same)? {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(v: ValueRef<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        push_order_key(v, Collation::Utf8mb4GeneralCi, &mut out);
        out
    }

    fn decimal() -> impl Strategy<Value = Decimal> {
        let text = "-?[0-9]{1,25}(\\.[0-9]{1,20})?";
        prop_oneof![
            text.prop_map(|s| Decimal::parse(&s).unwrap_or_default()),
            any::<i64>().prop_map(Decimal::from),
            (-20i64..20).prop_map(|i| Decimal::from_i128(i.into(), 1)),
        ]
    }

    proptest! {
        #[test]
        fn keys_of_numbers_have_their_order(a in decimal(), b in decimal()) {
            let (x, y) = (ValueRef::Decimal(a), ValueRef::Decimal(b));
            prop_assert_eq!(key(x).cmp(&key(y)), a.cmp(&b));
            prop_assert!(key(x) == key(y) || !key(x).starts_with(&key(y)));
        }

        #[test]
        fn keys_of_integers_are_those_of_decimals(a in any::<i64>(), small in -2000i64..2000) {
            for i in [a, small] {
                prop_assert_eq!(key(ValueRef::Int(i)), key(ValueRef::Decimal(i.into())));
            }
        }
    }
}
