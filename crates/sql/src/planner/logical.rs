//! The logical plan of a SELECT: what it says, with all names known. Rules change it before it becomes a physical plan.

use crate::bind::scope::{OuterScope, Source, SubqueryPlanner};
use crate::expr::node::Expr;
use crate::expr::window::WindowCall;
use crate::plan::query::{GroupPlan, LimitPlan, LockSpec, Rows, SortKey};
use crate::star::At;
use crate::view_def::is_mergeable;
use narwal_syntax::ast::{IndexHint, Select};
use narwal_types::ResultColumn;
use std::fmt;

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
    /// See [`LogicalSelect::lock_each`].
    pub lock_each: Vec<Option<LockSpec>>,
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

impl Resolved {
    /// A query in a FROM as a table: notes whether MariaDB would read the query's tables in its place.
    #[must_use]
    pub fn of_query(mut self, query: &Select) -> Resolved {
        let grouped = matches!(&self.rows, Rows::Query(plan) if plan.group.is_some());
        self.source.merged = is_mergeable(query) && !grouped;
        self
    }
}

/// A SELECT whose names are known.
pub struct LogicalSelect {
    /// Its sources in the order of the text, merged views behind their tables.
    pub sources: Vec<Source>,
    /// What gives the rows of FROM.
    pub body: Body,
    /// WHERE, with the conditions of merged views.
    pub filter: Option<Expr>,
    /// Conditions whose subqueries run for each row, once a rule has parted them from `filter`.
    pub late: Option<Expr>,
    /// The select list.
    pub items: Vec<Expr>,
    /// What the client is told of it.
    pub columns: Vec<ResultColumn>,
    /// Groups: their keys and aggregates.
    pub group: Option<GroupPlan>,
    /// HAVING.
    pub having: Option<Expr>,
    /// Calls of window functions, in the select list and in ORDER BY.
    pub windows: Vec<WindowCall>,
    /// ORDER BY, without constants, or that of a merged view.
    pub order: Vec<SortKey>,
    /// There is an ORDER BY in the text.
    pub order_written: bool,
    /// DISTINCT.
    pub distinct: bool,
    /// LIMIT.
    pub limit: Option<LimitPlan>,
    /// WITH TIES: rows that ORDER BY can't tell from the last one follow it.
    pub with_ties: bool,
    /// So many rows of FROM are enough, if that is known.
    pub enough: Option<u64>,
    /// SQL_CALC_FOUND_ROWS.
    pub calc_found_rows: bool,
    /// FOR UPDATE, LOCK IN SHARE MODE; of several clauses the strongest.
    pub lock: Option<LockSpec>,
    /// The lock of each source's rows, if the clauses say OF which tables they are; empty if `lock` is for all.
    pub lock_each: Vec<Option<LockSpec>>,
    /// Number of the statement's parameters.
    pub params: usize,
    /// STRAIGHT_JOIN.
    pub straight: bool,
}

/// Expressions one behind the other.
fn list<E: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    exprs: impl Iterator<Item = E>,
) -> fmt::Result {
    for (i, e) in exprs.enumerate() {
        match i {
            0 => write!(f, "{name} {e}")?,
            _ => write!(f, ", {e}")?,
        }
    }
    writeln!(f)
}

/// The steps from the inside to the outside, one a line.
impl fmt::Display for LogicalSelect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.body {
            Body::Nothing => {}
            Body::One(r, _) => writeln!(f, "from {}", r.source.name)?,
            Body::Join(leaves, tree) => writeln!(f, "from {}", Shown(tree, leaves))?,
        }
        for (name, e) in [("where", &self.filter), ("for each row", &self.late)] {
            if let Some(e) = e {
                writeln!(f, "{name} {e}")?;
            }
        }
        if let Some(g) = &self.group {
            list(f, "group by", g.keys.iter().map(|k| &k.expr))?;
            if !g.aggregates.is_empty() {
                list(f, "aggregates", g.aggregates.iter())?;
            }
        }
        if let Some(h) = &self.having {
            writeln!(f, "having {h}")?;
        }
        for c in &self.windows {
            writeln!(f, "window {c}")?;
        }
        list(f, "select", self.items.iter())?;
        if self.distinct {
            writeln!(f, "distinct")?;
        }
        if !self.order.is_empty() {
            list(f, "order by", self.order.iter())?;
        }
        Ok(())
    }
}

/// A join as text.
struct Shown<'a>(&'a Tree, &'a Leaves);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Tree::Leaf(i) => f.write_str(&self.1[*i].0.source.name),
            Tree::Join {
                left,
                right,
                outer,
                on,
            } => {
                let word = if *outer { "left join" } else { "join" };
                write!(
                    f,
                    "({} {word} {}",
                    Shown(left, self.1),
                    Shown(right, self.1)
                )?;
                for (i, e) in on.iter().enumerate() {
                    write!(f, " {} {e}", if i == 0 { "on" } else { "and" })?;
                }
                f.write_str(")")
            }
        }
    }
}
