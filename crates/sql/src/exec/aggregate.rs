//! Aggregate functions.

use super::key_table::KeyTable;
use super::order::{compare, push_key};
use super::value_bytes::ValueBytes;
use crate::env::StatementEnv;
use crate::exec::context::RunCtx;
use crate::expr::arith::quotient_digits;
use crate::expr::escape_json;
use crate::expr::functions::json::document::append_value as append_json;
use crate::expr::node::{AggFunc, Aggregate, Expr, RowAccess};
use crate::expr::value::Warn;
use narwal_types::charset::Charset;
use narwal_types::convert::{NoWarnings, Warnings, to_decimal, to_f64, to_i64, to_u64};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{
    Collation, DateTime, Decimal, SqlError, SqlResult, Time, TypeKind, Value, ValueRef,
};
use std::cmp::Ordering;

/// A sum: exact numbers of one scale are added as integers.
#[derive(Debug, Clone, Default)]
struct Sum {
    /// Times 10^scale.
    units: i128,
    scale: u8,
    /// What was not added to `units`.
    decimals: Option<Box<Decimal>>,
    doubles: f64,
}

#[cold]
fn sum_out_of_range() -> SqlError {
    errors::DATA_OUT_OF_RANGE.text("DECIMAL value is out of range in 'sum'")
}

impl Sum {
    fn add(
        &mut self,
        v: ValueRef<'_>,
        double: bool,
        first: bool,
        told: &mut dyn Warnings,
    ) -> SqlResult<()> {
        if double {
            self.doubles += to_f64(v, told);
            return Ok(());
        }
        let (units, scale) = match v {
            ValueRef::Int(i) => (Some(i128::from(i)), 0),
            ValueRef::UInt(i) => (Some(i128::from(i)), 0),
            ValueRef::Decimal(d) => (d.unscaled().map(i128::from), d.scale()),
            _ => (None, 0),
        };
        if first {
            self.scale = scale;
        }
        match units {
            Some(units) if scale == self.scale => self.units += units,
            _ => {
                let d = to_decimal(v, told);
                let sum = self.decimals.get_or_insert_default();
                **sum = sum.checked_add(&d).ok_or_else(sum_out_of_range)?;
            }
        }
        Ok(())
    }

    /// Takes away what [`Sum::add`] added.
    fn remove(&mut self, v: ValueRef<'_>, double: bool) -> SqlResult<()> {
        if double {
            self.doubles -= to_f64(v, &mut NoWarnings);
            return Ok(());
        }
        let negative = match v {
            ValueRef::Int(i) => return self.add_units(-i128::from(i), 0),
            ValueRef::UInt(i) => return self.add_units(-i128::from(i), 0),
            ValueRef::Decimal(d) => d.neg(),
            v => to_decimal(v, &mut NoWarnings).neg(),
        };
        self.add(ValueRef::Decimal(negative), false, false, &mut NoWarnings)
    }

    fn add_units(&mut self, units: i128, scale: u8) -> SqlResult<()> {
        if scale == self.scale {
            self.units += units;
            return Ok(());
        }
        let sum = self.decimals.get_or_insert_default();
        let d = Decimal::from_i128(units, scale);
        **sum = sum.checked_add(&d).ok_or_else(sum_out_of_range)?;
        Ok(())
    }

    /// Adds an exact number, given times 10^scale; false if that takes the long way.
    #[inline]
    fn units(&mut self, units: i64, scale: u8, first: bool, double: bool) -> bool {
        if first {
            self.scale = scale;
        }
        if double || scale != self.scale {
            return false;
        }
        self.units += i128::from(units);
        true
    }

    fn exact(&self) -> SqlResult<Decimal> {
        let d = Decimal::from_i128(self.units, self.scale);
        match &self.decimals {
            Some(more) => d.checked_add(more).ok_or_else(sum_out_of_range),
            None => Ok(d),
        }
    }
}

/// Mean and sum of squared distances, by Welford's recurrence.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spread {
    mean: f64,
    squares: f64,
}

impl Spread {
    /// Takes in the `n`-th value, from 1.
    pub(super) fn add(&mut self, v: f64, n: u64) {
        let before = self.mean;
        self.mean += (v - before) / n as f64;
        self.squares += (v - before) * (v - self.mean);
    }

    /// That of these `n` values and `m` others.
    pub(super) fn with(&self, n: u64, other: &Spread, m: u64) -> Spread {
        if m == 0 {
            return *self;
        }
        let (n, m) = (n as f64, m as f64);
        let apart = other.mean - self.mean;
        Spread {
            mean: self.mean + apart * m / (n + m),
            squares: self.squares + other.squares + apart * apart * n * m / (n + m),
        }
    }

    pub(super) fn result(&self, func: AggFunc, n: u64) -> Value {
        let sample = matches!(func, AggFunc::StdSamp | AggFunc::VarSamp);
        let n = n.saturating_sub(sample as u64);
        if n == 0 {
            return Value::Null;
        }
        let variance = self.squares / n as f64;
        let is_root = matches!(func, AggFunc::StdPop | AggFunc::StdSamp);
        if is_root && variance.is_nan() {
            return Value::Null;
        }
        Value::Double(match func {
            // Values far apart have squares beyond all doubles: the largest stands for their root, as for MariaDB.
            _ if is_root && !variance.is_finite() => f64::MAX,
            _ if is_root => variance.sqrt(),
            _ if variance.is_nan() => f64::INFINITY,
            _ => variance,
        })
    }
}

/// One row of an aggregate that makes a text of all values: its sort key and its text.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) key: Vec<Value>,
    pub(super) text: Vec<u8>,
}

/// What an aggregate needs besides the number of values.
#[derive(Debug, Clone)]
enum State {
    Nothing,
    Sum(Sum),
    Best(Value),
    Spread(Spread),
    Bits(u64),
}

/// The state of one aggregate in one group.
#[derive(Debug, Clone)]
pub struct Acc {
    pub(super) count: u64,
    state: State,
    /// What all values are needed for.
    pub(super) all: Option<Box<All>>,
}

/// SUM and AVG tell texts apart by the numbers that they are read as. Nothing is said of what is none.
fn text_as_number(v: &mut Value) {
    if let Value::Str(_) | Value::Bytes(_) = v {
        *v = Value::Double(to_f64(v.as_ref(), &mut NoWarnings));
    }
}

/// True if equal values count once, and all must be known for that.
pub(super) fn compares_all(a: &Aggregate) -> bool {
    a.distinct && !matches!(a.func, AggFunc::Min | AggFunc::Max)
}

/// True if all values are held until the end.
pub(super) fn holds_all(a: &Aggregate) -> bool {
    compares_all(a) || a.list.is_some()
}

/// All values of a group.
#[derive(Debug, Clone, Default)]
pub(super) struct All {
    /// Rows of a text of all values.
    pub(super) items: Vec<Item>,
    /// With DISTINCT.
    pub(super) seen: Option<KeyTable>,
    /// Some keys went to temporary files: of those that follow only the end shows which are new. Their values are kept, for
    /// each key one (none for COUNT).
    pub(super) deferred: bool,
    pub(super) values: Vec<Value>,
    /// Bytes that they take, roughly.
    pub(super) held: u64,
    /// The key of the current row.
    key: Vec<u8>,
}

/// The bits of a value in BIT_AND and its like.
pub(super) fn bits_of(a: &Aggregate, v: ValueRef<'_>, told: &mut dyn Warnings) -> u64 {
    let unsigned = a.args.first().is_some_and(|e| e.ty.ty.unsigned);
    match v {
        // Fractions of seconds are cut.
        ValueRef::Time(t) => {
            let micros = t.micros - t.micros % 1_000_000;
            to_i64(ValueRef::Time(Time { micros, ..t }), told) as u64
        }
        ValueRef::DateTime(t) => {
            let micros = t.micros - t.micros % 1_000_000;
            to_i64(ValueRef::DateTime(DateTime { micros, ..t }), told) as u64
        }
        // What is no integer counts as one with a sign.
        ValueRef::Decimal(_) | ValueRef::Double(_) | ValueRef::Float(_) if !unsigned => {
            to_i64(v, told) as u64
        }
        v => to_u64(v, told),
    }
}

impl Acc {
    /// The empty state.
    pub fn new(a: &Aggregate) -> Self {
        let distinct = compares_all(a);
        Acc {
            count: 0,
            state: match a.func {
                AggFunc::Count
                | AggFunc::GroupConcat
                | AggFunc::JsonArray
                | AggFunc::JsonObject
                | AggFunc::Rows => State::Nothing,
                AggFunc::Sum | AggFunc::Avg => State::Sum(Sum::default()),
                AggFunc::Min | AggFunc::Max => State::Best(Value::Null),
                AggFunc::StdPop | AggFunc::StdSamp | AggFunc::VarPop | AggFunc::VarSamp => {
                    State::Spread(Spread::default())
                }
                AggFunc::BitAnd => State::Bits(u64::MAX),
                AggFunc::BitOr | AggFunc::BitXor => State::Bits(0),
            },
            all: (distinct || a.list.is_some()).then(|| {
                Box::new(All {
                    seen: distinct.then(KeyTable::default),
                    ..All::default()
                })
            }),
        }
    }

    /// Takes in one row.
    #[inline]
    pub fn update(
        &mut self,
        a: &Aggregate,
        row: &dyn RowAccess,
        ctx: &RunCtx<'_>,
    ) -> SqlResult<()> {
        let arg = match a.args.as_slice() {
            [] => {
                self.count += 1;
                return Ok(());
            }
            [one] if self.all.is_none() => one,
            _ => return self.update_many(a, row, ctx),
        };
        // A plain column is read without going through the evaluator.
        if let Some((source, column)) = arg.as_column()
            && !matches!(arg.ty.ty.kind, TypeKind::Timestamp(_))
            && !ctx.env.pads(&arg.ty.ty)
        {
            if let Some(v) = row.int(source, column)
                && self.int(a, arg, v)
            {
                return Ok(());
            }
            if let State::Sum(s) = &mut self.state
                && let Some((units, scale)) = row.units(source, column)
                && s.units(
                    units,
                    scale,
                    self.count == 0,
                    a.ty.ty.kind == TypeKind::Double,
                )
            {
                self.count += 1;
                return Ok(());
            }
            return self.value(a, row.column(source, column)?, ctx.env);
        }
        let v = match a.func {
            AggFunc::Sum
            | AggFunc::Avg
            | AggFunc::StdPop
            | AggFunc::StdSamp
            | AggFunc::VarPop
            | AggFunc::VarSamp => arg.eval_unrounded(ctx, row)?,
            _ => arg.eval_ref(ctx, row)?,
        };
        self.value(a, v.as_ref(), ctx.env)
    }

    /// Takes in an integer; false if that takes the long way.
    #[inline]
    fn int(&mut self, a: &Aggregate, arg: &Expr, v: i64) -> bool {
        match (&mut self.state, a.func) {
            (State::Nothing, AggFunc::Count) => {}
            (State::Sum(s), _) if a.ty.ty.kind != TypeKind::Double => s.units += i128::from(v),
            (State::Best(Value::Int(best)), f) if !arg.ty.ty.unsigned => {
                let better = match f {
                    AggFunc::Min => v < *best,
                    _ => v > *best,
                };
                if better {
                    *best = v;
                }
            }
            _ => return false,
        }
        self.count += 1;
        true
    }

    fn update_many(
        &mut self,
        a: &Aggregate,
        row: &dyn RowAccess,
        ctx: &RunCtx<'_>,
    ) -> SqlResult<()> {
        if let ([one], AggFunc::Count) = (a.args.as_slice(), a.func) {
            let v = one.eval_ref(ctx, row)?;
            if !v.is_null() && self.is_new(&[(v.as_ref(), one.ty.ty.collation)]) {
                self.count += u64::from(!self.is_deferred());
            }
            return Ok(());
        }
        let mut values = Vec::with_capacity(a.args.len());
        let sort_keys = a.list.as_ref().map_or(0, |l| l.order.len());
        let (args, by) = a.args.split_at(a.args.len() - sort_keys);
        for (i, arg) in args.iter().enumerate() {
            let v = arg.eval(ctx, row)?;
            // JSON has a null of its own, and a stored function takes any.
            let may_be_null = match a.func {
                AggFunc::JsonArray | AggFunc::Rows => true,
                AggFunc::JsonObject => i == 1,
                _ => false,
            };
            if v.is_null() && !may_be_null {
                return Ok(());
            }
            values.push(v);
        }
        if a.distinct && matches!(a.func, AggFunc::Sum | AggFunc::Avg) {
            values.iter_mut().for_each(text_as_number);
        }
        if a.distinct {
            let keys: Vec<_> = (values.iter().zip(args))
                .map(|(v, arg)| (v.as_ref(), arg.ty.ty.collation))
                .collect();
            if !self.is_new(&keys) {
                return Ok(());
            }
        }
        if a.list.is_some()
            && let Some(all) = &mut self.all
        {
            if !by.is_empty() {
                // A list that is sorted has the numbers of BIT columns, not their bytes.
                values.iter_mut().for_each(bits_as_number);
            }
            let text = item_text(a, args, &values);
            let key = by
                .iter()
                .map(|e| e.eval(ctx, row))
                .collect::<SqlResult<Vec<_>>>()?;
            all.held += text.len() as u64 + 48 * (1 + key.len() as u64);
            all.items.push(Item { key, text });
            self.count += 1;
            return Ok(());
        }
        if let Some(all) = &mut self.all
            && all.deferred
        {
            if a.func != AggFunc::Count {
                all.held += crate::exec::value_list::row_memory(&[values[0].as_ref()]);
                all.values.append(&mut values);
            }
            return Ok(());
        }
        match (a.func, values.as_slice()) {
            (AggFunc::Count, _) => self.count += 1,
            (_, [one]) => self.value(a, one.as_ref(), ctx.env)?,
            _ => return Err(SqlError::unsupported("aggregates of several arguments")),
        }
        Ok(())
    }

    fn is_deferred(&self) -> bool {
        self.all.as_ref().is_some_and(|a| a.deferred)
    }

    /// Bytes of the values that it holds, roughly.
    #[inline]
    pub(super) fn held(&self) -> u64 {
        self.all.as_ref().map_or(0, |a| a.held)
    }

    /// With DISTINCT: true if these values were not there yet.
    fn is_new(&mut self, values: &[(ValueRef<'_>, Collation)]) -> bool {
        let Some(all) = &mut self.all else {
            return true;
        };
        all.key.clear();
        for (v, collation) in values {
            push_key(*v, *collation, &mut all.key);
        }
        let new = all.seen.as_mut().is_none_or(|s| s.insert(&all.key).1);
        if new {
            all.held += all.key.len() as u64 + 32;
        }
        new
    }

    /// Takes in a value that is not to be compared with others any more.
    pub(super) fn value(
        &mut self,
        a: &Aggregate,
        v: ValueRef<'_>,
        env: &StatementEnv,
    ) -> SqlResult<()> {
        if v.is_null() {
            return Ok(());
        }
        match &mut self.state {
            State::Nothing => {}
            State::Sum(s) => {
                let double = a.ty.ty.kind == TypeKind::Double;
                s.add(v, double, self.count == 0, &mut Warn(env))?;
            }
            State::Best(best) => {
                let want = if a.func == AggFunc::Min {
                    Ordering::Less
                } else {
                    Ordering::Greater
                };
                if best.is_null() || compare(v, best.as_ref(), a.ty.ty.collation) == want {
                    *best = v.to_value();
                }
            }
            State::Spread(s) => s.add(to_f64(v, &mut Warn(env)), self.count + 1),
            State::Bits(bits) => {
                let v = bits_of(a, v, &mut Warn(env));
                match a.func {
                    AggFunc::BitAnd => *bits &= v,
                    AggFunc::BitOr => *bits |= v,
                    _ => *bits ^= v,
                }
            }
        }
        self.count += 1;
        Ok(())
    }

    /// Takes away a row of a sum, an average or a count; `None` if the aggregate has no argument.
    pub(super) fn remove(&mut self, a: &Aggregate, v: Option<ValueRef<'_>>) -> SqlResult<()> {
        if v.is_some_and(|v| v.is_null()) {
            return Ok(());
        }
        if let (State::Sum(s), Some(v)) = (&mut self.state, v) {
            s.remove(v, a.ty.ty.kind == TypeKind::Double)?;
        }
        self.count -= 1;
        Ok(())
    }

    /// The result.
    pub fn finish(&self, a: &Aggregate, env: &StatementEnv) -> SqlResult<Value> {
        let double = a.ty.ty.kind == TypeKind::Double;
        Ok(match (&self.state, a.func) {
            (State::Nothing, AggFunc::Count) => Value::Int(self.count as i64),
            (State::Nothing, _) => self.list(a, env),
            (State::Sum(_), _) if self.count == 0 => Value::Null,
            (State::Sum(s), AggFunc::Sum) if double => Value::Double(s.doubles),
            (State::Sum(s), AggFunc::Sum) => Value::Decimal(s.exact()?.round(a.ty.decimals)),
            (State::Sum(s), _) if double => Value::Double(s.doubles / self.count as f64),
            (State::Sum(s), _) => {
                let sum = s.exact()?;
                sum.checked_div(
                    &Decimal::from(self.count),
                    quotient_digits(sum.scale(), 0, env.div_precision),
                )
                .map_or(Value::Null, |d| Value::Decimal(d.round(a.ty.decimals)))
            }
            (State::Best(v), _) => v.clone(),
            (State::Spread(s), f) => s.result(f, self.count),
            (State::Bits(bits), _) => Value::UInt(*bits),
        })
    }

    /// The text of all values, sorted, limited and cut.
    fn list(&self, a: &Aggregate, env: &StatementEnv) -> Value {
        let (Some(options), Some(all)) = (&a.list, &self.all) else {
            return Value::Null;
        };
        if all.items.is_empty() {
            return Value::Null;
        }
        let mut items: Vec<&Item> = match options.order.is_empty() {
            true => all.items.iter().collect(),
            // Of equal ones the last comes first.
            false => all.items.iter().rev().collect(),
        };
        let keys = &a.args[a.args.len() - options.order.len()..];
        items.sort_by(|x, y| {
            for (i, desc) in options.order.iter().enumerate() {
                let c = keys[i].ty.ty.collation;
                let o = compare(x.key[i].as_ref(), y.key[i].as_ref(), c);
                let o = if *desc { o.reverse() } else { o };
                if o != Ordering::Equal {
                    return o;
                }
            }
            Ordering::Equal
        });
        let mut text = ListText::new(a);
        for item in items {
            if !text.push(&item.text, env) {
                break;
            }
        }
        text.finish()
    }

    /// A value was found (for MIN and MAX along an index).
    pub fn decided(&self) -> bool {
        self.count > 0
    }
}

/// A text of all values while it is made.
pub(super) struct ListText<'a> {
    a: &'a Aggregate,
    out: Vec<u8>,
    /// Bytes of it in the result's character set.
    bytes: usize,
    /// Values in it.
    n: u64,
    /// LIMIT: values to leave out, and to take.
    skip: u64,
    left: u64,
    max_len: usize,
}

impl<'a> ListText<'a> {
    /// No values yet.
    pub(super) fn new(a: &'a Aggregate) -> Self {
        let (skip, left) = (a.list.as_ref())
            .and_then(|l| l.limit)
            .unwrap_or((0, u64::MAX));
        let open = match a.func {
            AggFunc::JsonArray => "[",
            AggFunc::JsonObject => "{",
            _ => "",
        };
        ListText {
            a,
            out: open.as_bytes().to_vec(),
            bytes: open.len(),
            n: 0,
            skip,
            left,
            max_len: a.list.as_ref().map_or(usize::MAX, |l| l.max_len),
        }
    }

    /// Appends the next value's text; false if no more are wanted.
    pub(super) fn push(&mut self, text: &[u8], env: &StatementEnv) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return true;
        }
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.n += 1;
        let separator = match self.a.func {
            AggFunc::JsonArray => ",",
            AggFunc::JsonObject => ", ",
            AggFunc::Rows => "",
            _ => &*self.a.separator,
        };
        if self.n > 1 {
            self.out.extend_from_slice(separator.as_bytes());
            self.bytes += self.bytes_of(separator.as_bytes());
        }
        self.out.extend_from_slice(text);
        self.bytes += self.bytes_of(text);
        if self.a.func == AggFunc::Rows {
            return true;
        }
        let most = usize::try_from(env.max_allowed_packet).unwrap_or(usize::MAX);
        // The bracket is not counted, and objects have no such limit.
        let most = match self.a.func {
            AggFunc::JsonArray => self.max_len.saturating_add(1).min(most),
            AggFunc::JsonObject => most,
            _ => self.max_len.min(most),
        };
        if self.bytes > most {
            // The last byte of a text that is cut is its quote.
            let quoted = self.a.func == AggFunc::JsonArray && text.starts_with(b"\"");
            let end = self.cut_at(most - usize::from(quoted));
            self.out.truncate(end);
            if quoted {
                self.out.push(b'"');
            }
            env.warn(
                codes::CUT_VALUE_GROUP_CONCAT,
                format!("Row {} was cut by {}", self.n, list_name(self.a.func)),
            );
            self.left = 0;
        }
        self.left > 0
    }

    /// Bytes of a piece in the result's character set.
    fn bytes_of(&self, piece: &[u8]) -> usize {
        self.a.ty.ty.collation.charset().encode(piece).len()
    }

    /// Where the text is to be cut so that it takes no more bytes in its character set.
    fn cut_at(&self, most: usize) -> usize {
        let set = self.a.ty.ty.collation.charset();
        let text = match std::str::from_utf8(&self.out) {
            Ok(text) if set != Charset::Binary => text,
            _ => return most.min(self.out.len()),
        };
        let (mut bytes, mut one) = (0, Vec::new());
        let end = text.char_indices().find(|(_, c)| {
            one.clear();
            set.push_char(*c, &mut one);
            bytes += one.len();
            bytes > most
        });
        end.map_or(self.out.len(), |(at, _)| at)
    }

    /// The text.
    pub(super) fn finish(mut self) -> Value {
        let close = match self.a.func {
            AggFunc::JsonArray => "]",
            AggFunc::JsonObject => "}",
            _ => "",
        };
        self.out.extend_from_slice(close.as_bytes());
        if self.a.ty.ty.collation == Collation::Binary {
            return Value::bytes(self.out);
        }
        Value::str(String::from_utf8_lossy(&self.out).into_owned())
    }
}

fn list_name(func: AggFunc) -> &'static str {
    match func {
        AggFunc::JsonArray => "JSON_ARRAYAGG()",
        AggFunc::JsonObject => "JSON_OBJECTAGG()",
        _ => "GROUP_CONCAT()",
    }
}

pub(super) fn bits_as_number(v: &mut Value) {
    if let Value::Bits(b) = v {
        *v = Value::UInt(b.value);
    }
}

/// What one row adds to the text.
fn item_text(a: &Aggregate, args: &[Expr], values: &[Value]) -> Vec<u8> {
    let mut out = Vec::new();
    match (a.func, values) {
        (AggFunc::JsonArray, [v]) => {
            let mut text = String::new();
            append_json(&args[0], v.as_ref(), &mut text);
            out.extend_from_slice(text.as_bytes());
        }
        (AggFunc::JsonObject, [k, v]) => {
            let mut text = String::from("\"");
            escape_json(&k.as_ref().to_text(), &mut text);
            text.push_str("\":");
            append_json(&args[1], v.as_ref(), &mut text);
            out.extend_from_slice(text.as_bytes());
        }
        (AggFunc::Rows, many) => {
            // The codec keeps nothing: there are no members of ENUM and SET among them.
            let mut codec = ValueBytes::default();
            for v in many {
                codec.put(v.as_ref(), &mut out);
            }
        }
        (_, many) => {
            for v in many {
                v.as_ref().write_text(&mut out);
            }
        }
    }
    out
}
