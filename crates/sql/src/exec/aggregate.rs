//! Aggregate functions.

use super::order::{compare, push_key};
use crate::env::StatementEnv;
use crate::expr::{AggFunc, Aggregate, EvalCtx, Expr, RowAccess, append_json, escape_json};
use ahash::AHashSet;
use narwal_types::convert::{NoWarnings, to_decimal, to_f64, to_u64};
use narwal_types::{Collation, Decimal, SqlError, SqlResult, TypeKind, Value, ValueRef};
use std::cmp::Ordering;

/// A sum of exact numbers, cheap while they are integers.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    ints: i128,
    decimals: Decimal,
    doubles: f64,
}

impl Sum {
    fn add(&mut self, v: ValueRef<'_>, double: bool) -> SqlResult<()> {
        match v {
            ValueRef::Int(i) if !double => self.ints += i128::from(i),
            ValueRef::UInt(i) if !double => self.ints += i128::from(i),
            v if double => self.doubles += to_f64(v, &mut NoWarnings),
            v => {
                self.decimals = self
                    .decimals
                    .checked_add(&to_decimal(v, &mut NoWarnings))
                    .ok_or_else(|| {
                        SqlError::new(1690, b"22003", "DECIMAL value is out of range in 'sum'")
                    })?;
            }
        }
        Ok(())
    }

    fn exact(&self) -> SqlResult<Decimal> {
        let i = Decimal::from_i128(self.ints, 0);
        i.checked_add(&self.decimals)
            .ok_or_else(|| SqlError::new(1690, b"22003", "DECIMAL value is out of range in 'sum'"))
    }
}

/// Mean and sum of squared distances, by Welford's recurrence.
#[derive(Debug, Clone, Copy, Default)]
struct Spread {
    mean: f64,
    squares: f64,
}

impl Spread {
    /// Takes in the `n`-th value, from 1.
    fn add(&mut self, v: f64, n: u64) {
        let before = self.mean;
        self.mean += (v - before) / n as f64;
        self.squares += (v - before) * (v - self.mean);
    }

    fn result(&self, func: AggFunc, n: u64) -> Value {
        let sample = matches!(func, AggFunc::StdSamp | AggFunc::VarSamp);
        let n = n.saturating_sub(sample as u64);
        if n == 0 {
            return Value::Null;
        }
        let variance = self.squares / n as f64;
        Value::Double(match func {
            AggFunc::StdPop | AggFunc::StdSamp => variance.sqrt(),
            _ => variance,
        })
    }
}

/// One row of an aggregate that makes a text of all values: its sort key and its text.
#[derive(Debug, Clone)]
struct Item {
    key: Vec<Value>,
    text: Vec<u8>,
}

/// The state of one aggregate in one group.
#[derive(Debug, Clone)]
pub struct Acc {
    count: u64,
    sum: Sum,
    spread: Spread,
    best: Value,
    /// Rows of a text of all values.
    items: Vec<Item>,
    bits: u64,
    seen: Option<AHashSet<Vec<u8>>>,
    /// Bytes that `seen` takes, roughly.
    held: u64,
}

impl Acc {
    /// The empty state.
    pub fn new(a: &Aggregate) -> Self {
        Acc {
            count: 0,
            sum: Sum::default(),
            spread: Spread::default(),
            best: Value::Null,
            items: Vec::new(),
            bits: if a.func == AggFunc::BitAnd {
                u64::MAX
            } else {
                0
            },
            seen: (a.distinct && !matches!(a.func, AggFunc::Min | AggFunc::Max))
                .then(AHashSet::new),
            held: 0,
        }
    }

    /// Takes in one row.
    pub fn update(
        &mut self,
        a: &Aggregate,
        row: &dyn RowAccess,
        ctx: &EvalCtx<'_>,
    ) -> SqlResult<()> {
        let arg = match a.args.as_slice() {
            [] => {
                self.count += 1;
                return Ok(());
            }
            [one] if self.seen.is_none() && a.list.is_none() => one,
            _ => return self.update_many(a, row, ctx),
        };
        // A plain column is read without going through the evaluator.
        if let Some((source, column)) = arg.as_column()
            && !matches!(arg.ty.ty.kind, TypeKind::Timestamp(_))
        {
            return self.value(a, row.column(source, column)?);
        }
        let v = match a.func {
            AggFunc::Sum | AggFunc::Avg => arg.eval_unrounded(ctx, row)?,
            _ => arg.eval_ref(ctx, row)?,
        };
        self.value(a, v.as_ref())
    }

    fn update_many(
        &mut self,
        a: &Aggregate,
        row: &dyn RowAccess,
        ctx: &EvalCtx<'_>,
    ) -> SqlResult<()> {
        let mut values = Vec::with_capacity(a.args.len());
        let mut key = Vec::new();
        let sort_keys = a.list.as_ref().map_or(0, |l| l.order.len());
        let (args, by) = a.args.split_at(a.args.len() - sort_keys);
        for (i, arg) in args.iter().enumerate() {
            let v = arg.eval(ctx, row)?;
            // JSON has a null of its own.
            let may_be_null =
                a.func == AggFunc::JsonArray || a.func == AggFunc::JsonObject && i == 1;
            if v.is_null() && !may_be_null {
                return Ok(());
            }
            push_key(v.as_ref(), arg.ty.ty.collation, &mut key);
            values.push(v);
        }
        if let Some(seen) = &mut self.seen {
            self.held += key.len() as u64 + 48;
            if !seen.insert(key) {
                return Ok(());
            }
            if self.held > ctx.env.max_memory {
                return Err(SqlError::new(
                    1038,
                    b"HY001",
                    "Out of memory for the values of a DISTINCT aggregate",
                ));
            }
        }
        if a.list.is_some() {
            let text = item_text(a, args, &values);
            let key = by
                .iter()
                .map(|e| e.eval(ctx, row))
                .collect::<SqlResult<Vec<_>>>()?;
            self.held += text.len() as u64 + 48 * (1 + key.len() as u64);
            self.items.push(Item { key, text });
            self.count += 1;
            if self.held > ctx.env.max_memory {
                return Err(SqlError::new(
                    1038,
                    b"HY001",
                    "Out of memory for the values of an aggregate",
                ));
            }
            return Ok(());
        }
        match (a.func, values.as_slice()) {
            (AggFunc::Count, _) => self.count += 1,
            (_, [one]) => self.value(a, one.as_ref())?,
            _ => return Err(SqlError::unsupported("aggregates of several arguments")),
        }
        Ok(())
    }

    fn value(&mut self, a: &Aggregate, v: ValueRef<'_>) -> SqlResult<()> {
        if v.is_null() {
            return Ok(());
        }
        match a.func {
            AggFunc::Count => {}
            AggFunc::Sum | AggFunc::Avg => {
                self.sum.add(v, a.ty.ty.kind == TypeKind::Double)?;
            }
            AggFunc::Min | AggFunc::Max => {
                let want = if a.func == AggFunc::Min {
                    Ordering::Less
                } else {
                    Ordering::Greater
                };
                if self.best.is_null() || compare(v, self.best.as_ref(), a.ty.ty.collation) == want
                {
                    self.best = v.to_value();
                }
            }
            AggFunc::StdPop | AggFunc::StdSamp | AggFunc::VarPop | AggFunc::VarSamp => {
                let v = to_f64(v, &mut NoWarnings);
                self.spread.add(v, self.count + 1);
            }
            // Collected by `update_many`.
            AggFunc::GroupConcat | AggFunc::JsonArray | AggFunc::JsonObject => {}
            AggFunc::BitAnd => self.bits &= to_u64(v, &mut NoWarnings),
            AggFunc::BitOr => self.bits |= to_u64(v, &mut NoWarnings),
            AggFunc::BitXor => self.bits ^= to_u64(v, &mut NoWarnings),
        }
        self.count += 1;
        Ok(())
    }

    /// The result.
    pub fn finish(&self, a: &Aggregate, env: &StatementEnv) -> SqlResult<Value> {
        let double = a.ty.ty.kind == TypeKind::Double;
        Ok(match a.func {
            AggFunc::Count => Value::Int(self.count as i64),
            AggFunc::Sum | AggFunc::Avg if self.count == 0 => Value::Null,
            AggFunc::Sum if double => Value::Double(self.sum.doubles),
            AggFunc::Sum => Value::Decimal(self.sum.exact()?.round(a.ty.decimals)),
            AggFunc::Avg if double => Value::Double(self.sum.doubles / self.count as f64),
            AggFunc::Avg => self
                .sum
                .exact()?
                .checked_div(&Decimal::from(self.count), a.ty.decimals + 6)
                .map_or(Value::Null, |d| Value::Decimal(d.round(a.ty.decimals))),
            AggFunc::Min | AggFunc::Max => self.best.clone(),
            f @ (AggFunc::StdPop | AggFunc::StdSamp | AggFunc::VarPop | AggFunc::VarSamp) => {
                self.spread.result(f, self.count)
            }
            AggFunc::GroupConcat | AggFunc::JsonArray | AggFunc::JsonObject => self.list(a, env),
            AggFunc::BitAnd | AggFunc::BitOr | AggFunc::BitXor => Value::UInt(self.bits),
        })
    }

    /// The text of all values, sorted, limited and cut.
    fn list(&self, a: &Aggregate, env: &StatementEnv) -> Value {
        let (Some(options), false) = (&a.list, self.items.is_empty()) else {
            return Value::Null;
        };
        let mut items: Vec<&Item> = self.items.iter().collect();
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
        let (skip, take) = options.limit.unwrap_or((0, u64::MAX));
        let (open, separator, close) = match a.func {
            AggFunc::JsonArray => ("[", ",", "]"),
            AggFunc::JsonObject => ("{", ", ", "}"),
            _ => ("", &*a.separator, ""),
        };
        let mut out = open.as_bytes().to_vec();
        for (n, item) in items
            .into_iter()
            .skip(usize::try_from(skip).unwrap_or(usize::MAX))
            .take(usize::try_from(take).unwrap_or(usize::MAX))
            .enumerate()
        {
            if n > 0 {
                out.extend_from_slice(separator.as_bytes());
            }
            out.extend_from_slice(&item.text);
            if out.len() > options.max_len {
                let mut end = options.max_len;
                while end > 0 && out[end] & 0xc0 == 0x80 {
                    end -= 1;
                }
                out.truncate(end);
                env.warn(
                    1260,
                    format!("Row {} was cut by {}", n + 1, list_name(a.func)),
                );
                break;
            }
        }
        out.extend_from_slice(close.as_bytes());
        if a.ty.ty.collation == Collation::Binary {
            return Value::bytes(out);
        }
        Value::str(String::from_utf8_lossy(&out).into_owned())
    }

    /// A value was found (for MIN and MAX along an index).
    pub fn decided(&self) -> bool {
        self.count > 0
    }
}

fn list_name(func: AggFunc) -> &'static str {
    match func {
        AggFunc::JsonArray => "JSON_ARRAYAGG()",
        AggFunc::JsonObject => "JSON_OBJECTAGG()",
        _ => "GROUP_CONCAT()",
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
        (_, many) => {
            for v in many {
                v.as_ref().write_text(&mut out);
            }
        }
    }
    out
}
