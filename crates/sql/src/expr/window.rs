//! Calls of window functions, bound.

use super::node::{Aggregate, Expr, ExprKind, ExprType};

/// Which window function it is: what the executor goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum WindowFunc {
    RowNumber,
    Rank,
    DenseRank,
    PercentRank,
    CumeDist,
    Ntile,
    Lag,
    Lead,
    FirstValue,
    LastValue,
    NthValue,
    /// PERCENTILE_CONT, and MEDIAN: its sort key is the last argument.
    PercentileCont,
    /// Its sort key is the last argument.
    PercentileDisc,
}

/// One element of PARTITION BY or of a window's ORDER BY.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowKey {
    /// The expression.
    pub expr: Expr,
    /// DESC.
    pub desc: bool,
}

/// Where a frame begins or ends.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// With the partition.
    Unbounded,
    /// So many rows behind the current one; before it, if negative.
    Row(i64),
    /// With the rows that are equal to the current one in the window's order.
    Peers,
    /// With the last or the first row whose sort key does not pass this value, which is computed of the current row.
    Value(Box<Expr>),
}

/// The rows that a function looks at, seen from the current one.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The first.
    pub start: Bound,
    /// The last.
    pub end: Bound,
}

/// What is computed over a window.
#[derive(Debug, Clone, PartialEq)]
pub enum Computes {
    /// A window function of these arguments.
    Func(WindowFunc, Vec<Expr>),
    /// An aggregate of the frame's rows.
    Aggregate(Box<Aggregate>),
}

/// A call of a window function.
#[derive(Debug, Clone, PartialEq)]
pub struct WindowCall {
    /// What it computes.
    pub computes: Computes,
    /// PARTITION BY.
    pub partition: Vec<WindowKey>,
    /// ORDER BY; of percentiles that of WITHIN GROUP.
    pub order: Vec<WindowKey>,
    /// The frame.
    pub frame: Frame,
    /// Type of the result.
    pub ty: ExprType,
}

impl WindowCall {
    /// True if rows go out of its frames at their start.
    pub fn slides(&self) -> bool {
        !matches!(self.frame.start, Bound::Unbounded)
    }

    /// The function's arguments.
    pub fn args(&self) -> &[Expr] {
        match &self.computes {
            Computes::Func(_, args) => args,
            Computes::Aggregate(a) => &a.args,
        }
    }

    /// Calls `f` with all its expressions.
    pub fn for_each_expr<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        self.args().iter().for_each(&mut *f);
        let keys = self.partition.iter().chain(&self.order);
        keys.for_each(|k| f(&k.expr));
        for b in [&self.frame.start, &self.frame.end] {
            if let Bound::Value(e) = b {
                f(e);
            }
        }
    }

    /// Calls `f` with all its expressions.
    pub fn for_each_expr_mut(&mut self, f: &mut dyn FnMut(&mut Expr)) {
        match &mut self.computes {
            Computes::Func(_, args) => args.iter_mut().for_each(&mut *f),
            Computes::Aggregate(a) => a.args.iter_mut().for_each(&mut *f),
        }
        let keys = self.partition.iter_mut().chain(&mut self.order);
        keys.for_each(|k| f(&mut k.expr));
        for b in [&mut self.frame.start, &mut self.frame.end] {
            if let Bound::Value(e) = b {
                f(e);
            }
        }
    }
}

impl Expr {
    /// True if a window function is inside that has no place yet.
    pub fn has_window(&self) -> bool {
        self.any(&|e| matches!(e.kind, ExprKind::Window(_)))
    }
}
