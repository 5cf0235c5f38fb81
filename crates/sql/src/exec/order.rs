//! Sorting rows, and byte keys for grouping and DISTINCT.

use crate::expr::{EvalCtx, Expr, RowAccess};
use narwal_types::charset::latin1_text;
use narwal_types::{Collation, Decimal, RowLayout, SqlError, SqlResult, Value, ValueRef};
use std::cmp::Ordering;

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
    use ValueRef::{Bits, Bytes, Date, DateTime, Int, Latin1, Member, Null, Str, Time, UInt};
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
        (Time(x), Time(y)) => x.micros.cmp(&y.micros),
        (DateTime(x), DateTime(y)) => (x.date, x.micros).cmp(&(y.date, y.micros)),
        (Latin1(x), _) => compare(Str(latin1_text(x).as_bytes()), b, collation),
        (_, Latin1(y)) => compare(a, Str(latin1_text(y).as_bytes()), collation),
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
        ValueRef::Latin1(s) => push_key(ValueRef::Str(latin1_text(s).as_bytes()), collation, out),
        ValueRef::Member(m) => push_key(ValueRef::UInt(m.number), collation, out),
        ValueRef::Bits(b) => push_key(ValueRef::UInt(b.value), collation, out),
        ValueRef::DateTime(t) => {
            out.push(8);
            out.extend_from_slice(&t.date.pack().to_be_bytes());
            out.extend_from_slice(&t.micros.to_be_bytes());
        }
    }
}

/// One element of ORDER BY.
#[derive(Debug, Clone)]
pub struct SortKey {
    /// The expression.
    pub expr: Expr,
    /// DESC.
    pub desc: bool,
}

impl SortKey {
    /// The column, if it is a plain one: read from the stored row when comparing, not copied. TIMESTAMP in UTC
    /// sorts as in any other time zone of fixed offset.
    fn column(&self) -> Option<usize> {
        self.expr.as_column().map(|(_, c)| c)
    }

    fn collation(&self) -> Collation {
        self.expr.ty.ty.collation
    }
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    start: usize,
    row: usize,
    end: usize,
    /// Position among the rows pushed: computed keys are found by it.
    number: usize,
}

/// Rows kept for sorting, each with a payload (a clustered key or a group number).
pub struct SortBuffer<'p> {
    keys: &'p [SortKey],
    layout: Option<&'p RowLayout>,
    arena: Vec<u8>,
    slots: Vec<Slot>,
    computed: Vec<Value>,
    computed_per_row: usize,
    /// Rows that can matter at most (LIMIT).
    keep: usize,
    pushed: u64,
    max_memory: u64,
    used: u64,
}

impl<'p> SortBuffer<'p> {
    /// A buffer. `layout`: of the rows, if key columns can be read from them (not for groups).
    pub fn new(
        keys: &'p [SortKey],
        layout: Option<&'p RowLayout>,
        keep: usize,
        max_memory: u64,
    ) -> Self {
        SortBuffer {
            computed_per_row: keys
                .iter()
                .filter(|k| layout.is_none() || k.column().is_none())
                .count(),
            keys,
            layout,
            arena: Vec::new(),
            slots: Vec::new(),
            computed: Vec::new(),
            pushed: 0,
            keep,
            max_memory,
            used: 0,
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
        self.arena.extend_from_slice(payload);
        let at = self.arena.len();
        self.arena.extend_from_slice(row);
        let number = match self.computed_per_row {
            0 => 0,
            n => self.computed.len() / n,
        };
        self.slots.push(Slot {
            start,
            row: at,
            end: self.arena.len(),
            number,
        });
        if self.computed_per_row > 0 {
            for k in self.keys {
                if self.layout.is_none() || k.column().is_none() {
                    let v = k.expr.eval(ctx, access)?;
                    if let Value::Str(s) = &v {
                        self.used += s.len() as u64;
                    }
                    self.computed.push(v);
                }
            }
        }
        self.used += (payload.len() + row.len() + 64 + self.computed_per_row * 64) as u64;
        if self.keep < usize::MAX / 8 && self.slots.len() >= 4 * self.keep + 4096 {
            self.prune();
        }
        if self.used > self.max_memory {
            self.prune();
            if self.used > self.max_memory {
                return Err(SqlError::new(
                    1038,
                    b"HY001",
                    "Out of sort memory, consider increasing server sort buffer size",
                ));
            }
        }
        Ok(())
    }

    /// Drops rows that can't be among the first `keep`.
    fn prune(&mut self) {
        if self.slots.len() <= self.keep {
            return;
        }
        self.sort();
        self.slots.truncate(self.keep);
        let mut arena = Vec::with_capacity(self.arena.len() / 2);
        let mut computed = Vec::with_capacity(self.keep * self.computed_per_row);
        for (number, s) in self.slots.iter_mut().enumerate() {
            let start = arena.len();
            arena.extend_from_slice(&self.arena[s.start..s.end]);
            let n = self.computed_per_row;
            for v in &mut self.computed[s.number * n..(s.number + 1) * n] {
                computed.push(std::mem::take(v));
            }
            *s = Slot {
                start,
                row: start + (s.row - s.start),
                end: start + (s.end - s.start),
                number,
            };
        }
        self.arena = arena;
        self.computed = computed;
        self.used =
            (self.arena.len() + self.slots.len() * (64 + self.computed_per_row * 64)) as u64;
    }

    /// Sorts; stable, so that rows equal in all keys stay in the order they came.
    pub fn sort(&mut self) {
        if self.keys.is_empty() {
            return;
        }
        let nk = self.keys.len();
        let mut values: Vec<ValueRef<'_>> = Vec::with_capacity(self.slots.len() * nk);
        for s in &self.slots {
            let mut c = s.number * self.computed_per_row;
            for k in self.keys {
                match (self.layout, k.column()) {
                    (Some(l), Some(col)) => values.push(
                        l.column(&self.arena[s.row..s.end], col)
                            .unwrap_or(ValueRef::Null),
                    ),
                    _ => {
                        values.push(self.computed[c].as_ref());
                        c += 1;
                    }
                }
            }
        }
        let dirs: Vec<(Collation, bool)> =
            self.keys.iter().map(|k| (k.collation(), k.desc)).collect();
        let mut order: Vec<u32> = (0..self.slots.len() as u32).collect();
        order.sort_by(|a, b| {
            let (a, b) = (*a as usize * nk, *b as usize * nk);
            for (i, (collation, desc)) in dirs.iter().enumerate() {
                let o = compare(values[a + i], values[b + i], *collation);
                if o != Ordering::Equal {
                    return if *desc { o.reverse() } else { o };
                }
            }
            Ordering::Equal
        });
        let sorted = order.iter().map(|i| self.slots[*i as usize]).collect();
        self.slots = sorted;
    }

    /// Number of rows pushed.
    pub fn pushed(&self) -> u64 {
        self.pushed
    }

    /// True if two rows are equal in all keys. Only with a layout and plain columns as keys.
    pub fn same_keys(&self, a: usize, b: usize) -> bool {
        let Some(l) = self.layout else { return false };
        let (a, b) = (self.get(a).1, self.get(b).1);
        self.keys.iter().all(|k| match k.column() {
            Some(c) => match (l.column(a, c), l.column(b, c)) {
                (Ok(x), Ok(y)) => compare(x, y, k.collation()) == Ordering::Equal,
                _ => false,
            },
            None => false,
        })
    }

    /// Number of rows kept.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Payload and row, in order.
    pub fn get(&self, i: usize) -> (&[u8], &[u8]) {
        let s = &self.slots[i];
        (&self.arena[s.start..s.row], &self.arena[s.row..s.end])
    }
}
