//! What can be said about a row before its condition is evaluated: comparisons of integer columns with given integers.

use crate::exec::context::RunCtx;
use crate::expr::compare::satisfied;
use crate::expr::node::{CmpOp, Expr, ExprKind};
use crate::plan::sarg::conjuncts;
use narwal_types::{RowLayout, Value};
use smallvec::SmallVec;

/// Comparisons that a condition begins with: later ones are not looked at, since what stands before them may warn.
pub struct Prefilter<'p> {
    layout: &'p RowLayout,
    tests: SmallVec<[Test; 2]>,
}

struct Test {
    column: usize,
    kind: Kind,
}

enum Kind {
    Compare(CmpOp, i64),
    Between(i64, i64, bool),
}

impl<'p> Prefilter<'p> {
    /// Of a condition on the rows of one table; `None` if it does not begin with such comparisons.
    pub fn of(filter: &Expr, layout: &'p RowLayout, ctx: &RunCtx<'_>) -> Option<Prefilter<'p>> {
        let tests: SmallVec<_> = conjuncts(filter)
            .iter()
            .map_while(|e| test(e, ctx))
            .collect();
        (!tests.is_empty()).then_some(Prefilter { layout, tests })
    }

    /// False if the condition is not true of a row. True says nothing: another value than an integer passes.
    #[inline]
    pub fn keeps(&self, row: &[u8]) -> bool {
        self.tests.iter().all(|t| {
            self.layout.int(row, t.column).is_none_or(|v| match t.kind {
                Kind::Compare(op, k) => satisfied(op, v.cmp(&k)),
                Kind::Between(low, high, negated) => (low <= v && v <= high) != negated,
            })
        })
    }
}

fn test(e: &Expr, ctx: &RunCtx<'_>) -> Option<Test> {
    let given = |e: &Expr| {
        let v = match &e.kind {
            ExprKind::Literal(v) => v,
            ExprKind::Param(n) | ExprKind::Slot(n) => ctx.params.get(*n)?,
            _ => return None,
        };
        match v {
            Value::Int(i) => Some(*i),
            _ => None,
        }
    };
    let (column, kind) = match &e.kind {
        ExprKind::Compare {
            op, left, right, ..
        } => (left, Kind::Compare(*op, given(right)?)),
        ExprKind::Between {
            expr,
            low,
            high,
            negated,
            ..
        } => (expr, Kind::Between(given(low)?, given(high)?, *negated)),
        _ => return None,
    };
    let (_, column) = column.as_column()?;
    Some(Test { column, kind })
}
