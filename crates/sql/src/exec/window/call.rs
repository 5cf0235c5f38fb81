//! One call of a window function while it goes through the rows of a partition.

use super::rows::{Cursor, PartitionRows, Record};
use super::running::Running;
use crate::exec::context::RunCtx;
use crate::exec::order::compare;
use crate::exec::value_bytes::ValueBytes;
use crate::expr::node::{Expr, RowAccess};
use crate::expr::window::{Bound, Computes, WindowCall, WindowFunc};
use narwal_types::convert::{NoWarnings, to_f64, to_integer};
use narwal_types::errors;
use narwal_types::{Collation, SqlError, SqlResult, Value, ValueRef};
use std::cmp::Ordering;

/// Appends what a call takes of a row: its arguments and, if its frame is one of values, the sort key and the bounds.
pub(super) fn put_values(
    call: &WindowCall,
    access: &dyn RowAccess,
    ctx: &RunCtx<'_>,
    codec: &mut ValueBytes,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    for e in call.args().iter().chain(range_exprs(call)) {
        codec.put(e.eval_ref(ctx, access)?.as_ref(), out);
    }
    Ok(())
}

/// The sort key, and the values that bound a frame, if it is one of values.
fn range_exprs(call: &WindowCall) -> impl Iterator<Item = &Expr> {
    let value = |b: &'_ Bound| matches!(b, Bound::Value(_));
    let any = value(&call.frame.start) || value(&call.frame.end);
    let key = call.order.first().filter(|_| any).map(|k| &k.expr);
    let bounds = [&call.frame.start, &call.frame.end].into_iter();
    key.into_iter().chain(bounds.filter_map(|b| match b {
        Bound::Value(e) => Some(&**e),
        _ => None,
    }))
}

/// How many values a call takes of each row.
pub(super) fn value_count(call: &WindowCall) -> usize {
    call.args().len() + range_exprs(call).count()
}

/// What all calls are given of the partition and of the current row.
pub(super) struct At<'a, 'c> {
    pub(super) rows: &'a PartitionRows,
    pub(super) codec: &'a ValueBytes,
    pub(super) ctx: &'a RunCtx<'c>,
    /// Numbers of groups in front of each row.
    pub(super) levels: usize,
    /// The current row's number, from 0.
    pub(super) n: u64,
    pub(super) row: Record<'a>,
}

/// A call in a partition.
pub(super) struct CallState<'p> {
    call: &'p WindowCall,
    level: usize,
    /// Its first value in a record.
    first: usize,
    start: Cursor,
    end: Cursor,
    other: Cursor,
    /// The frame: rows from the first number on, up to and without the second.
    from: u64,
    to: u64,
    running: Option<Running>,
    /// The current row's group, and the row that it began with.
    group: Option<u64>,
    group_start: u64,
    groups: u64,
    /// What is the same for all rows of the partition.
    fixed: Option<Value>,
}

impl<'p> CallState<'p> {
    /// At the begin of a partition.
    pub(super) fn new(
        call: &'p WindowCall,
        level: usize,
        first: usize,
        rows: &PartitionRows,
    ) -> Self {
        CallState {
            call,
            level,
            first,
            start: Cursor::new(rows),
            end: Cursor::new(rows),
            other: Cursor::new(rows),
            from: 0,
            to: 0,
            running: match &call.computes {
                Computes::Aggregate(a) => Some(Running::new(a, call.slides())),
                Computes::Func(..) => None,
            },
            group: None,
            group_start: 0,
            groups: 0,
            fixed: None,
        }
    }

    /// The value for the current row. Rows are taken one behind the other.
    pub(super) fn value(&mut self, at: &At<'_, '_>) -> SqlResult<Value> {
        let whole = |n: u64| Value::Int(n as i64);
        let func = match &self.call.computes {
            Computes::Aggregate(_) => return self.aggregate(at),
            Computes::Func(f, _) => *f,
        };
        Ok(match func {
            WindowFunc::RowNumber => whole(at.n + 1),
            WindowFunc::Rank => {
                self.enter_group(at)?;
                whole(self.group_start + 1)
            }
            WindowFunc::DenseRank => {
                self.enter_group(at)?;
                whole(self.groups)
            }
            WindowFunc::PercentRank => {
                self.enter_group(at)?;
                match at.rows.len() {
                    1 => Value::Double(0.0),
                    n => Value::Double(self.group_start as f64 / (n - 1) as f64),
                }
            }
            WindowFunc::CumeDist => {
                self.advance(at)?;
                Value::Double(self.to as f64 / at.rows.len() as f64)
            }
            WindowFunc::Ntile => self.ntile(at)?,
            WindowFunc::Lag => self.shifted(at, -1)?,
            WindowFunc::Lead => self.shifted(at, 1)?,
            WindowFunc::FirstValue => {
                self.advance(at)?;
                self.in_frame(at, Some(self.from))?
            }
            WindowFunc::LastValue => {
                self.advance(at)?;
                self.in_frame(at, self.to.checked_sub(1))?
            }
            WindowFunc::NthValue => {
                self.advance(at)?;
                let n = match at.row.value(self.first + 1, at.codec)? {
                    ValueRef::Null => 1,
                    v => to_integer(v, &mut NoWarnings),
                };
                let before = u64::try_from(n - 1).ok();
                self.in_frame(at, before.and_then(|n| self.from.checked_add(n)))?
            }
            WindowFunc::PercentileCont | WindowFunc::PercentileDisc => {
                self.percentile(at, func == WindowFunc::PercentileCont)?
            }
        })
    }

    /// Looks whether a new group of equals begins.
    fn enter_group(&mut self, at: &At<'_, '_>) -> SqlResult<()> {
        let group = at.row.group(self.level)?;
        if self.group != Some(group) {
            self.group = Some(group);
            self.group_start = at.n;
            self.groups += 1;
        }
        Ok(())
    }

    fn ntile(&mut self, at: &At<'_, '_>) -> SqlResult<Value> {
        let parts = to_integer(at.row.value(self.first, at.codec)?, &mut NoWarnings);
        let same = match &self.fixed {
            Some(Value::Int(before)) => i128::from(*before) == parts,
            _ => true,
        };
        let Some(parts) = u64::try_from(parts).ok().filter(|n| *n > 0 && same) else {
            return Err(errors::INVALID_NTILE_ARGUMENT.plain());
        };
        self.fixed = Some(Value::Int(parts as i64));
        let (small, larger) = (at.rows.len() / parts, at.rows.len() % parts);
        // The first parts have one row more.
        let of_larger = larger.saturating_mul(small + 1);
        let part = match at.n < of_larger {
            true => at.n / (small + 1),
            false => larger + (at.n - of_larger) / small.max(1),
        };
        Ok(Value::Int(part as i64 + 1))
    }

    /// The value some rows before or behind.
    fn shifted(&mut self, at: &At<'_, '_>, way: i128) -> SqlResult<Value> {
        let by = match self.call.args().len() {
            1 => 1,
            _ => to_integer(at.row.value(self.first + 1, at.codec)?, &mut NoWarnings),
        };
        let n = u64::try_from(i128::from(at.n) + by * way).ok();
        self.argument_of(at, n)
    }

    /// The first argument in the n-th row, NULL if there is none.
    fn argument_of(&mut self, at: &At<'_, '_>, n: Option<u64>) -> SqlResult<Value> {
        let found = match n {
            Some(n) => self.other.get(at.rows, n)?,
            None => None,
        };
        match found {
            Some(row) => Ok(Record::new(row, at.levels)
                .value(self.first, at.codec)?
                .to_value()),
            None => Ok(Value::Null),
        }
    }

    /// The same if the row is one of the frame.
    fn in_frame(&mut self, at: &At<'_, '_>, n: Option<u64>) -> SqlResult<Value> {
        let inside = n.filter(|n| (self.from..self.to).contains(n));
        self.argument_of(at, inside)
    }

    fn aggregate(&mut self, at: &At<'_, '_>) -> SqlResult<Value> {
        self.advance(at)?;
        match (&self.running, &self.call.computes) {
            (Some(r), Computes::Aggregate(a)) => r.result(a, at.ctx),
            _ => Ok(Value::Null),
        }
    }

    /// Moves the frame to the current row: first rows come in at its end, then others go at its start.
    fn advance(&mut self, at: &At<'_, '_>) -> SqlResult<()> {
        let mut steps = 0u32;
        let mut step = || {
            steps = steps.wrapping_add(1);
            match steps & 0xfff {
                0 => at.ctx.env.check_interrupt(),
                _ => Ok(()),
            }
        };
        while self.to < at.rows.len() && self.comes(at)? {
            step()?;
            if self.to >= self.from {
                self.take_in(at)?;
            }
            self.to += 1;
        }
        while self.from < at.rows.len() && self.goes(at)? {
            step()?;
            if self.from < self.to {
                self.take_out(at)?;
            }
            self.from += 1;
        }
        Ok(())
    }

    /// True if the row behind the frame belongs to it now.
    fn comes(&mut self, at: &At<'_, '_>) -> SqlResult<bool> {
        Ok(match &self.call.frame.end {
            Bound::Unbounded => true,
            Bound::Row(d) => i128::from(self.to) <= i128::from(at.n) + i128::from(*d),
            Bound::Peers => {
                let group = at.row.group(self.level)?;
                let row = self.end.get(at.rows, self.to)?.unwrap_or_default();
                Record::new(row, at.levels).group(self.level)? <= group
            }
            Bound::Value(_) => {
                let (bound, n, desc) = (self.bound(at, true)?, self.key(), self.descends());
                let row = self.end.get(at.rows, self.to)?.unwrap_or_default();
                let key = Record::new(row, at.levels).value(n, at.codec)?;
                ordered(key, bound, desc) != Ordering::Greater
            }
        })
    }

    /// True if the frame's first row does not belong to it any more.
    fn goes(&mut self, at: &At<'_, '_>) -> SqlResult<bool> {
        Ok(match &self.call.frame.start {
            Bound::Unbounded => false,
            Bound::Row(d) => i128::from(self.from) < i128::from(at.n) + i128::from(*d),
            Bound::Peers => {
                let group = at.row.group(self.level)?;
                let row = self.start.get(at.rows, self.from)?.unwrap_or_default();
                Record::new(row, at.levels).group(self.level)? < group
            }
            Bound::Value(_) => {
                let (bound, n, desc) = (self.bound(at, false)?, self.key(), self.descends());
                let row = self.start.get(at.rows, self.from)?.unwrap_or_default();
                let key = Record::new(row, at.levels).value(n, at.codec)?;
                ordered(key, bound, desc) == Ordering::Less
            }
        })
    }

    /// Where the sort key stands in a record.
    fn key(&self) -> usize {
        self.first + self.call.args().len()
    }

    /// The value that bounds the frame of the current row.
    fn bound<'a>(&self, at: &At<'a, '_>, end: bool) -> SqlResult<ValueRef<'a>> {
        let before = end && matches!(self.call.frame.start, Bound::Value(_));
        at.row.value(self.key() + 1 + usize::from(before), at.codec)
    }

    fn descends(&self) -> bool {
        self.call.order.first().is_some_and(|k| k.desc)
    }

    fn take_in(&mut self, at: &At<'_, '_>) -> SqlResult<()> {
        let (Some(running), Computes::Aggregate(a)) = (&mut self.running, &self.call.computes)
        else {
            return Ok(());
        };
        if a.args.is_empty() {
            return running.add(a, self.to, None, at.ctx);
        }
        let row = self.end.get(at.rows, self.to)?.unwrap_or_default();
        let v = Record::new(row, at.levels).value(self.first, at.codec)?;
        running.add(a, self.to, Some(v), at.ctx)
    }

    fn take_out(&mut self, at: &At<'_, '_>) -> SqlResult<()> {
        let (Some(running), Computes::Aggregate(a)) = (&mut self.running, &self.call.computes)
        else {
            return Ok(());
        };
        if a.args.is_empty() || matches!(running, Running::Best(_)) {
            return running.remove(a, self.from, None);
        }
        let row = self.start.get(at.rows, self.from)?.unwrap_or_default();
        let v = Record::new(row, at.levels).value(self.first, at.codec)?;
        running.remove(a, self.from, Some(v))
    }

    /// PERCENTILE_CONT and PERCENTILE_DISC: the arguments are the share and the sort key.
    fn percentile(&mut self, at: &At<'_, '_>, between: bool) -> SqlResult<Value> {
        let name = match between {
            true => "percentile_cont",
            false => "percentile_disc",
        };
        let share = at.row.value(self.first, at.codec)?;
        let share = match share.is_null() {
            true => return Err(not_a_number(name)),
            false => to_f64(share, &mut NoWarnings),
        };
        if at.n > 0 {
            // The state has the share of the partition's first row in front of the result.
            if self.group != Some(share.to_bits()) {
                return Err(errors::ARGUMENT_NOT_CONSTANT.with([&name]));
            }
            return Ok(self.fixed.clone().unwrap_or_default());
        }
        if !(0.0..=1.0).contains(&share) {
            return Err(errors::ARGUMENT_OUT_OF_RANGE.with([&name]));
        }
        self.group = Some(share.to_bits());
        let v = self.at_share(at, share, between)?;
        self.fixed = Some(v.clone());
        Ok(v)
    }

    /// The value at a share of the partition's values.
    fn at_share(&mut self, at: &At<'_, '_>, share: f64, between: bool) -> SqlResult<Value> {
        // NULLs stand together, at the begin or at the end.
        let (mut first, mut count) = (None, 0u64);
        for n in 0..at.rows.len() {
            if n & 0xfff == 0xfff {
                at.ctx.env.check_interrupt()?;
            }
            let row = self.end.get(at.rows, n)?.unwrap_or_default();
            if !Record::new(row, at.levels)
                .value(self.first + 1, at.codec)?
                .is_null()
            {
                first.get_or_insert(n);
                count += 1;
            }
        }
        let Some(first) = first else {
            return Ok(Value::Null);
        };
        if !between {
            let reached = |k: u64| (k + 1) as f64 / count as f64 >= share;
            let mut k = (share * count as f64).ceil().max(1.0) as u64 - 1;
            while k > 0 && reached(k - 1) {
                k -= 1;
            }
            while k + 1 < count && !reached(k) {
                k += 1;
            }
            return self.first_equal(at, first, first + k);
        }
        let place = share * (count - 1) as f64;
        let (low, high) = (place.floor(), place.ceil());
        let mut number = |n: f64| -> SqlResult<f64> {
            let row = self.other.get(at.rows, first + n as u64)?;
            let r = Record::new(row.unwrap_or_default(), at.levels);
            Ok(to_f64(r.value(self.first + 1, at.codec)?, &mut NoWarnings))
        };
        let below = number(low)?;
        if low == high {
            return Ok(Value::Double(below));
        }
        let above = number(high)?;
        let between = (high - place) * below + (place - low) * above;
        // As MariaDB, which keeps ten digits: equal values stay equal whatever they were made of.
        let rounded = (between * 1e10).round() / 1e10;
        let exact = between.abs() < 9e5;
        Ok(Value::Double(if exact { rounded } else { between }))
    }

    /// The sort key of the first row that is equal to row `n` in the order.
    fn first_equal(&mut self, at: &At<'_, '_>, first: u64, n: u64) -> SqlResult<Value> {
        let group = |c: &mut Cursor, n: u64| {
            let row = c.get(at.rows, n)?.unwrap_or_default();
            Record::new(row, at.levels).group(self.level)
        };
        let wanted = group(&mut self.other, n)?;
        // Groups have ascending numbers.
        let (mut low, mut high) = (first, n);
        while low < high {
            let middle = low + (high - low) / 2;
            match group(&mut self.other, middle)? < wanted {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let row = self.other.get(at.rows, low)?.unwrap_or_default();
        Ok(Record::new(row, at.levels)
            .value(self.first + 1, at.codec)?
            .to_value())
    }
}

/// How two values of a sort key stand to each other.
fn ordered(a: ValueRef<'_>, b: ValueRef<'_>, desc: bool) -> Ordering {
    let order = compare(a, b, Collation::Binary);
    if desc { order.reverse() } else { order }
}

/// Error 4104.
pub(super) fn not_a_number(name: &str) -> SqlError {
    errors::WRONG_TYPE_OF_ARGUMENT.with([&name])
}
