//! Aggregate functions.

use super::order::{compare, push_key};
use crate::expr::{AggFunc, Aggregate, EvalCtx, RowAccess};
use ahash::AHashSet;
use narwal_types::convert::{NoWarnings, to_decimal, to_f64, to_u64};
use narwal_types::{Decimal, SqlError, SqlResult, TypeKind, Value, ValueRef};
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

/// The state of one aggregate in one group.
#[derive(Debug, Clone)]
pub struct Acc {
    count: u64,
    sum: Sum,
    best: Value,
    text: Vec<u8>,
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
            best: Value::Null,
            text: Vec::new(),
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
            [one] if self.seen.is_none() => one,
            _ => return self.update_many(a, row, ctx),
        };
        // A plain column is read without going through the evaluator.
        if let Some((source, column)) = arg.as_column()
            && !matches!(arg.ty.ty.kind, TypeKind::Timestamp(_))
        {
            return self.value(a, row.column(source, column)?);
        }
        let v = arg.eval(ctx, row)?;
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
        for arg in &a.args {
            let v = arg.eval(ctx, row)?;
            if v.is_null() {
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
        match (a.func, values.as_slice()) {
            (AggFunc::Count, _) => self.count += 1,
            (AggFunc::GroupConcat, many) => {
                self.concat_separator(a);
                for v in many {
                    v.as_ref().write_text(&mut self.text);
                }
                self.count += 1;
            }
            (_, [one]) => self.value(a, one.as_ref())?,
            _ => return Err(SqlError::unsupported("aggregates of several arguments")),
        }
        Ok(())
    }

    fn concat_separator(&mut self, a: &Aggregate) {
        if self.count > 0 {
            self.text.extend_from_slice(a.separator.as_bytes());
        }
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
            AggFunc::GroupConcat => {
                self.concat_separator(a);
                v.write_text(&mut self.text);
            }
            AggFunc::BitAnd => self.bits &= to_u64(v, &mut NoWarnings),
            AggFunc::BitOr => self.bits |= to_u64(v, &mut NoWarnings),
            AggFunc::BitXor => self.bits ^= to_u64(v, &mut NoWarnings),
        }
        self.count += 1;
        Ok(())
    }

    /// The result.
    pub fn finish(&self, a: &Aggregate) -> SqlResult<Value> {
        let double = a.ty.ty.kind == TypeKind::Double;
        Ok(match a.func {
            AggFunc::Count => Value::Int(self.count as i64),
            AggFunc::Sum | AggFunc::Avg if self.count == 0 => Value::Null,
            AggFunc::Sum if double => Value::Double(self.sum.doubles),
            AggFunc::Sum => Value::Decimal(self.sum.exact()?),
            AggFunc::Avg if double => Value::Double(self.sum.doubles / self.count as f64),
            AggFunc::Avg => self
                .sum
                .exact()?
                .checked_div(&Decimal::from(self.count), a.ty.decimals + 6)
                .map_or(Value::Null, |d| Value::Decimal(d.round(a.ty.decimals))),
            AggFunc::Min | AggFunc::Max => self.best.clone(),
            AggFunc::GroupConcat if self.count == 0 => Value::Null,
            // group_concat_max_len's default is 1 MiB.
            AggFunc::GroupConcat => {
                let mut n = self.text.len().min(1 << 20);
                while n > 0 && n < self.text.len() && self.text[n] & 0xc0 == 0x80 {
                    n -= 1;
                }
                Value::str(String::from_utf8_lossy(&self.text[..n]).into_owned())
            }
            AggFunc::BitAnd | AggFunc::BitOr | AggFunc::BitXor => Value::UInt(self.bits),
        })
    }

    /// A value was found (for MIN and MAX along an index).
    pub fn decided(&self) -> bool {
        self.count > 0
    }
}
