//! A FROM whose names are known: what the rules work on before it becomes a physical plan.

use crate::bind::scope::{OuterScope, Source, SubqueryPlanner};
use crate::expr::node::Expr;
use crate::plan::query::{LockSpec, Rows, SortKey};
use crate::star::At;
use narwal_syntax::ast::IndexHint;

/// A FROM whose names are known.
pub struct FromPlan {
    /// Sources in the order of the text, merged views behind their tables.
    pub sources: Vec<Source>,
    /// What gives the rows.
    pub body: Body,
    /// What merged views add.
    pub merged: Merged,
    /// The columns that `*` means.
    pub shown: Vec<At>,
}

/// The sources that give rows, in the order of the text, with the index hints for them.
pub type Leaves = Vec<(Resolved, Vec<IndexHint>)>;

/// Where a FROM stands.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    /// Plans the subqueries of its conditions.
    pub planner: &'a dyn SubqueryPlanner,
    /// The query around.
    pub outer: Option<&'a OuterScope<'a>>,
    /// Its rows may be replaced by NULLs.
    pub nullable: bool,
}

/// What gives a FROM's rows.
pub enum Body {
    /// No FROM.
    Nothing,
    /// One source.
    One(Resolved, Vec<IndexHint>),
    /// Several.
    Join(Leaves, Tree),
}

/// What a SELECT asks of its join.
pub struct Joining<'a> {
    /// WHERE.
    pub filter: Option<Expr>,
    /// See [`TablePlan::late`].
    pub late: Option<Expr>,
    /// Number of the statement's parameters.
    pub params: usize,
    /// Locks that its sources take.
    pub lock: Option<LockSpec>,
    /// Sources whose clustered keys stand behind the join's columns.
    pub row_keys: &'a [usize],
    /// The order of the text stays.
    pub straight: bool,
}

/// A join before its conditions have found their places.
pub enum Tree {
    /// A source by its position.
    Leaf(usize),
    /// Both sides; with `outer` rows of the left one without a partner stay.
    Join {
        left: Box<Tree>,
        right: Box<Tree>,
        outer: bool,
        /// Conjuncts of the condition.
        on: Vec<Expr>,
    },
}

impl Tree {
    /// Positions of the sources, in the order in which they are read.
    pub fn order(&self, out: &mut Vec<usize>) {
        match self {
            Tree::Leaf(i) => out.push(*i),
            Tree::Join { left, right, .. } => {
                left.order(out);
                right.order(out);
            }
        }
    }

    /// True if rows of a source come up through this node as they are, never replaced by NULLs.
    pub(crate) fn passes(&self, leaf: usize) -> bool {
        match self {
            Tree::Leaf(i) => *i == leaf,
            Tree::Join {
                left, right, outer, ..
            } => left.passes(leaf) || (!outer && right.passes(leaf)),
        }
    }
}

/// What a merged view adds to the SELECT around it.
#[derive(Default)]
pub struct Merged {
    /// Conditions on its rows.
    pub filter: Vec<Expr>,
    /// Its ORDER BY.
    pub order: Vec<SortKey>,
}

/// A table that was found.
pub struct Resolved {
    /// As a source of columns.
    pub source: Source,
    /// Where its rows are.
    pub rows: Rows,
}
