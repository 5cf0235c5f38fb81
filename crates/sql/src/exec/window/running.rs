//! Aggregates of frames: rows come in at a frame's end and go out at its start.

use crate::exec::aggregate::{Acc, Spread, bits_of};
use crate::exec::context::RunCtx;
use crate::exec::order::compare;
use crate::expr::node::{AggFunc, Aggregate, NoRow};
use crate::expr::value::Warn;
use narwal_types::convert::{NoWarnings, to_f64};
use narwal_types::{SqlResult, Value, ValueRef};
use std::cmp::Ordering;
use std::collections::VecDeque;

/// Frames of so many numbers are gone through anew for each row. Then the result is that of the plain recurrence, to the last
/// digit.
const FEW: usize = 64;

/// What a frame's rows come to, while rows come and go.
pub(super) enum Running {
    /// Rows only come, or what goes can be subtracted.
    Sum(Acc),
    /// The best value, and those behind it that may be the best one day: each with its row's number.
    Best(VecDeque<(u64, Value)>),
    /// How many numbers have each bit.
    Bits { count: u64, ones: Box<[u64; 64]> },
    /// Numbers whose spread is looked for.
    Spread(Spreads),
}

impl Running {
    /// No rows. `slides`: rows go, too.
    pub(super) fn new(a: &Aggregate, slides: bool) -> Running {
        if !slides {
            return Running::Sum(Acc::new(a));
        }
        match a.func {
            AggFunc::Min | AggFunc::Max => Running::Best(VecDeque::new()),
            AggFunc::BitAnd | AggFunc::BitOr | AggFunc::BitXor => Running::Bits {
                count: 0,
                ones: Box::new([0; 64]),
            },
            AggFunc::StdPop | AggFunc::StdSamp | AggFunc::VarPop | AggFunc::VarSamp => {
                Running::Spread(Spreads::default())
            }
            _ => Running::Sum(Acc::new(a)),
        }
    }

    /// A row comes in; `None` for an aggregate without arguments.
    pub(super) fn add(
        &mut self,
        a: &Aggregate,
        n: u64,
        v: Option<ValueRef<'_>>,
        ctx: &RunCtx<'_>,
    ) -> SqlResult<()> {
        let Some(v) = v else {
            return match self {
                Running::Sum(acc) => acc.update(a, &NoRow, ctx),
                _ => Ok(()),
            };
        };
        match self {
            Running::Sum(acc) => return acc.value(a, v, ctx.env),
            _ if v.is_null() => {}
            Running::Best(list) => {
                let want = match a.func {
                    AggFunc::Min => Ordering::Less,
                    _ => Ordering::Greater,
                };
                let c = a.ty.ty.collation;
                // Of equal values the first counts, and of the same value one is enough.
                let worse = |last: ValueRef<'_>| last == v || compare(v, last, c) == want;
                while list.back().is_some_and(|(_, last)| worse(last.as_ref())) {
                    list.pop_back();
                }
                list.push_back((n, v.to_value()));
            }
            Running::Bits { count, ones } => {
                *count += 1;
                each_bit(bits_of(a, v, &mut Warn(ctx.env)), |b| ones[b] += 1);
            }
            Running::Spread(s) => s.push(to_f64(v, &mut NoWarnings)),
        }
        Ok(())
    }

    /// The row `n`, the first of the frame, goes.
    pub(super) fn remove(
        &mut self,
        a: &Aggregate,
        n: u64,
        v: Option<ValueRef<'_>>,
    ) -> SqlResult<()> {
        match (self, v) {
            (Running::Sum(acc), v) => acc.remove(a, v)?,
            (Running::Best(list), _) => {
                while list.front().is_some_and(|(first, _)| *first <= n) {
                    list.pop_front();
                }
            }
            (_, Some(ValueRef::Null) | None) => {}
            (Running::Bits { count, ones }, Some(v)) => {
                *count -= 1;
                each_bit(bits_of(a, v, &mut NoWarnings), |b| ones[b] -= 1);
            }
            (Running::Spread(s), Some(_)) => s.pop(),
        }
        Ok(())
    }

    /// The result.
    pub(super) fn result(&self, a: &Aggregate, ctx: &RunCtx<'_>) -> SqlResult<Value> {
        Ok(match self {
            Running::Sum(acc) => acc.finish(a, ctx.env)?,
            Running::Best(list) => list.front().map_or(Value::Null, |(_, v)| v.clone()),
            Running::Bits { count, ones } => {
                let holds = |n: u64| match a.func {
                    AggFunc::BitAnd => n == *count,
                    AggFunc::BitOr => n > 0,
                    _ => n % 2 == 1,
                };
                let bits = (ones.iter().enumerate()).filter(|(_, n)| holds(**n));
                Value::UInt(bits.fold(0, |all, (b, _)| all | 1 << b))
            }
            Running::Spread(s) => s.spread().result(a.func, s.len() as u64),
        })
    }
}

fn each_bit(mut bits: u64, mut f: impl FnMut(usize)) {
    while bits != 0 {
        f(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

/// The numbers of a sliding frame. Subtracting a number that leaves the frame would leave its rounding error behind. So each
/// number in `old`, the last of which leaves next, knows the sum of itself and the younger ones there, and those in `new` are
/// summed up as they come.
#[derive(Default)]
pub(super) struct Spreads {
    old: Vec<(f64, Spread, u64)>,
    new: Vec<f64>,
    of_new: Spread,
}

impl Spreads {
    fn len(&self) -> usize {
        self.old.len() + self.new.len()
    }

    fn push(&mut self, v: f64) {
        self.new.push(v);
        self.of_new.add(v, self.new.len() as u64);
    }

    fn pop(&mut self) {
        if self.old.is_empty() {
            let mut all = Spread::default();
            for (n, v) in self.new.drain(..).rev().enumerate() {
                all.add(v, n as u64 + 1);
                self.old.push((v, all, n as u64 + 1));
            }
            self.of_new = Spread::default();
        }
        self.old.pop();
    }

    fn spread(&self) -> Spread {
        if self.len() > FEW {
            return match self.old.last() {
                Some((_, s, n)) => s.with(*n, &self.of_new, self.new.len() as u64),
                None => self.of_new,
            };
        }
        let mut all = Spread::default();
        let numbers = self.old.iter().rev().map(|(v, ..)| v).chain(&self.new);
        for (n, v) in numbers.enumerate() {
            all.add(*v, n as u64 + 1);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive(list: &[f64]) -> f64 {
        let mean = list.iter().sum::<f64>() / list.len() as f64;
        list.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / list.len() as f64
    }

    proptest! {
        #[test]
        fn the_spread_of_a_sliding_frame_is_that_of_its_numbers(
            numbers in prop::collection::vec(-1000i32..1000, 1..400),
            width in 1usize..200,
        ) {
            let numbers: Vec<f64> = numbers.iter().map(|n| f64::from(*n) / 8.0).collect();
            let mut s = Spreads::default();
            for (i, v) in numbers.iter().enumerate() {
                s.push(*v);
                if i >= width {
                    s.pop();
                }
                let frame = &numbers[(i + 1).saturating_sub(width)..=i];
                let Value::Double(got) = s.spread().result(AggFunc::VarPop, s.len() as u64) else {
                    panic!("no variance");
                };
                let want = naive(frame);
                prop_assert!((got - want).abs() <= 1e-9 * (1.0 + want), "{got} {want}");
            }
        }
    }
}
