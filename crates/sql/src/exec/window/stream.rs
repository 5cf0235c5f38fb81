//! Calls that need no rows but the current one and its equals: a partition of any size goes through in the memory of a few
//! rows.

use crate::exec::aggregate::Acc;
use crate::exec::context::RunCtx;
use crate::expr::node::{ExprKind, NoRow, RowAccess};
use crate::expr::window::{Bound, Computes, WindowCall, WindowFunc};
use narwal_types::{SqlResult, Value};
use std::collections::VecDeque;

/// LAG reaches back so many rows at most.
const FAR: i64 = 1024;

/// How a call takes the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Pace {
    /// Its value is known as the row comes.
    Row,
    /// Its value is known when the last of the row's equals came.
    Peers,
    /// It needs the partition.
    Partition,
}

/// How many rows LAG goes back, if that is written in the statement.
fn lag_of(call: &WindowCall) -> Option<usize> {
    let n = match call.args() {
        [_] => 1,
        [_, n] => match n.kind {
            ExprKind::Literal(Value::Int(n)) if (0..=FAR).contains(&n) => n,
            _ => return None,
        },
        _ => return None,
    };
    usize::try_from(n).ok()
}

/// How a call takes the rows.
pub(super) fn pace(call: &WindowCall) -> Pace {
    let growing = match (&call.frame.start, &call.frame.end) {
        (Bound::Unbounded, Bound::Row(0)) => Pace::Row,
        (Bound::Unbounded, Bound::Peers) => Pace::Peers,
        _ => Pace::Partition,
    };
    match &call.computes {
        Computes::Aggregate(_) => growing,
        Computes::Func(f, _) => match f {
            WindowFunc::RowNumber | WindowFunc::Rank | WindowFunc::DenseRank => Pace::Row,
            // The partition's first row is in all of these frames.
            WindowFunc::FirstValue if growing != Pace::Partition => Pace::Row,
            WindowFunc::LastValue if growing == Pace::Row => Pace::Row,
            WindowFunc::Lag if lag_of(call).is_some() => Pace::Row,
            _ => Pace::Partition,
        },
    }
}

/// A call while rows go by.
pub(super) struct StreamState<'p> {
    call: &'p WindowCall,
    pace: Pace,
    acc: Option<Acc>,
    /// Rows of the partition so far, that with which the current group of equals began, and such groups.
    rows: u64,
    group_start: u64,
    groups: u64,
    /// FIRST_VALUE's value; those that LAG gives later.
    kept: VecDeque<Value>,
}

impl<'p> StreamState<'p> {
    /// At the begin of a partition.
    pub(super) fn new(call: &'p WindowCall) -> Self {
        StreamState {
            call,
            pace: pace(call),
            acc: match &call.computes {
                Computes::Aggregate(a) => Some(Acc::new(a)),
                Computes::Func(..) => None,
            },
            rows: 0,
            group_start: 0,
            groups: 0,
            kept: VecDeque::new(),
        }
    }

    /// A row comes.
    pub(super) fn arrive(&mut self, access: &dyn RowAccess, ctx: &RunCtx<'_>) -> SqlResult<()> {
        match self.pace {
            Pace::Peers => self.take_in(access, ctx),
            _ => Ok(()),
        }
    }

    fn take_in(&mut self, access: &dyn RowAccess, ctx: &RunCtx<'_>) -> SqlResult<()> {
        match (&mut self.acc, &self.call.computes) {
            (Some(acc), Computes::Aggregate(a)) => match a.args.is_empty() {
                true => acc.update(a, &NoRow, ctx),
                false => acc.value(a, a.args[0].eval_ref(ctx, access)?.as_ref(), ctx.env),
            },
            _ => Ok(()),
        }
    }

    /// The value of the next row, all of whose equals came. `starts`: it is the first of them.
    pub(super) fn value(
        &mut self,
        starts: bool,
        access: &dyn RowAccess,
        ctx: &RunCtx<'_>,
    ) -> SqlResult<Value> {
        if starts {
            self.group_start = self.rows;
            self.groups += 1;
        }
        self.rows += 1;
        let func = match &self.call.computes {
            Computes::Aggregate(a) => {
                if self.pace == Pace::Row {
                    self.take_in(access, ctx)?;
                }
                let acc = self.acc.as_ref();
                return acc.map_or(Ok(Value::Null), |acc| acc.finish(a, ctx.env));
            }
            Computes::Func(f, _) => *f,
        };
        let argument = || self.call.args()[0].eval(ctx, access);
        Ok(match func {
            WindowFunc::RowNumber => Value::Int(self.rows as i64),
            WindowFunc::Rank => Value::Int(self.group_start as i64 + 1),
            WindowFunc::DenseRank => Value::Int(self.groups as i64),
            WindowFunc::FirstValue => {
                if self.rows == 1 {
                    self.kept.push_back(argument()?);
                }
                self.kept.front().cloned().unwrap_or_default()
            }
            WindowFunc::Lag => {
                self.kept.push_back(argument()?);
                match self.kept.len() > lag_of(self.call).unwrap_or(0) {
                    true => self.kept.pop_front().unwrap_or_default(),
                    false => Value::Null,
                }
            }
            _ => argument()?,
        })
    }
}
