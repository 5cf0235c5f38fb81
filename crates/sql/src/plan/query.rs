//! The plan of a query as data: sources, joins, grouping, order, output.
//!
//! These types name each other (a table may be a query), so they stand in one file. How they come about stands in
//! `planner/`, how they run in `exec/`.

use crate::expr::node::{Aggregate, Coercibility, Expr, ExprType, SubqueryUse};
use crate::expr::window::WindowCall;
use crate::plan::access::{Access, Lookup};
use crate::plan::index_rows::{GroupPrefix, IndexRows, entry_width};
use crate::plan::made::{kept_type, made_table};
use crate::virtual_tables::VirtualRows;
use narwal_engine::{LockMode, LockWait, Table};
use narwal_syntax::ast::{SetKind, SetOp};
use narwal_types::{Collation, ResultColumn, SqlResult};
use std::ops::Range;
use std::sync::Arc;

/// A table with its access path and condition.
pub struct TablePlan {
    /// The table.
    pub table: Arc<Table>,
    /// How to read it.
    pub access: Access,
    /// WHERE.
    pub filter: Option<Expr>,
    /// Conditions whose subqueries run for each row: checked behind `filter`, while no scan is open.
    pub late: Option<Expr>,
    /// Where the rows are.
    pub rows: Rows,
    /// Rows can be made of the index's entries.
    pub cover: Option<Cover>,
}

impl TablePlan {
    /// True if it reads all rows of a table, or of one in the join that it is: what `sql_safe_updates` does not like.
    pub fn reads_all(&self) -> bool {
        match &self.rows {
            Rows::Join(j) => j.leaves.iter().any(|l| l.plan.reads_all()),
            _ => matches!(self.access.lookup, Lookup::Full),
        }
    }
}

/// An index that has all columns that are looked at.
pub struct Cover {
    /// How its entries become rows.
    pub rows: IndexRows,
    /// It has the columns of the condition too.
    pub checks: bool,
}

/// Where a table's rows are.
pub enum Rows {
    /// In the store.
    Stored,
    /// Made by the session.
    Virtual(VirtualRows),
    /// A derived table.
    Query(Box<SelectPlan>),
    /// SELECTs put together.
    Set(Box<SetPlan>),
    /// A recursive table of WITH.
    Recursive(Box<RecursivePlan>),
    /// In a step of a recursive table: the rows of the step before.
    Working(usize),
    /// A join.
    Join(Box<JoinPlan>),
    /// A MERGE table: the tables behind it, whose rows have its form. Their plans have no conditions; those of the MERGE
    /// table are asked of each row.
    Merge(Vec<TablePlan>),
}

/// How rows are locked.
#[derive(Debug, Clone, Copy)]
pub struct LockSpec {
    /// Mode.
    pub mode: LockMode,
    /// What to do about rows locked by others.
    pub wait: LockWait,
    /// The rows are looked for by UPDATE or DELETE, not by a query.
    pub changes: bool,
}

impl LockSpec {
    /// For rows that will be changed.
    pub const FOR_WRITE: LockSpec = LockSpec {
        mode: LockMode::Exclusive,
        wait: LockWait::Wait,
        changes: true,
    };

    /// For what is read at SERIALIZABLE.
    pub const SERIALIZABLE: LockSpec = LockSpec {
        mode: LockMode::Shared,
        wait: LockWait::Wait,
        changes: false,
    };
}

/// A planned join.
pub struct JoinPlan {
    /// Sources in the order of the text.
    pub leaves: Vec<Leaf>,
    /// For each column: its source, and its position there.
    pub owner: Vec<(usize, usize)>,
    /// For each column: whether anything behind the join looks at it. Others are NULL in its rows.
    pub wanted: Vec<bool>,
    /// How the sources are joined.
    pub root: Node,
    /// Some conditions of its nodes run subqueries.
    pub row_wise: bool,
}

/// A source.
pub struct Leaf {
    /// Its table. Conditions count its own columns from 0.
    pub plan: TablePlan,
    /// Columns of earlier sources whose values the conditions want as parameters behind the statement's.
    pub outer: Vec<Expr>,
    /// Number of the statement's parameters.
    pub params: usize,
    /// It is read once.
    pub kept: Option<Kept>,
    /// Locks on its rows.
    pub lock: Option<LockSpec>,
    /// Behind each row stands its clustered key, see [`ROW_KEY`]. Only with `lock`.
    pub keyed: bool,
}

impl Leaf {
    /// What a LATERAL derived table sees of the sources before it.
    pub fn lateral(&self) -> Option<&[Expr]> {
        match &self.plan.rows {
            Rows::Query(p) => p.lateral.as_deref(),
            _ => None,
        }
    }
}

/// In place of a column's position: the row's clustered key.
pub const ROW_KEY: usize = usize::MAX;

/// How the rows of a kept source are found.
pub struct Kept {
    /// By a hash.
    pub hash: Option<Hash>,
    /// Conditions with other sources.
    pub on: Vec<Expr>,
}

/// Columns of the source that must be equal to expressions of earlier ones.
#[derive(Default)]
pub struct Hash {
    /// Its columns, with the collation of the comparison.
    pub columns: Vec<(usize, Collation)>,
    /// What they are equal to.
    pub others: Vec<Expr>,
}

/// A part of a join.
pub enum Node {
    /// A source.
    Leaf(usize),
    /// Rows of both sides that fit.
    Inner {
        /// Read first.
        left: Box<Node>,
        /// Read for each row of the left side.
        right: Box<Node>,
        /// Conditions that no source could check.
        on: Vec<Expr>,
    },
    /// The same, and rows of the left side without a partner.
    Outer {
        /// Read first.
        left: Box<Node>,
        /// Read for each row of the left side.
        right: Box<Node>,
        /// Conditions on the left side alone.
        before: Vec<Expr>,
        /// Conditions that no source could check.
        after: Vec<Expr>,
        /// Sources of the right side.
        leaves: Vec<usize>,
    },
}

/// SELECTs put together.
pub struct SetPlan {
    /// The first.
    pub first: SelectPlan,
    /// The others, from left to right.
    pub rest: Vec<(SetOp, SelectPlan)>,
}

impl SetPlan {
    /// UNION ALL and nothing else: rows pass one behind the other.
    pub fn appends(&self) -> bool {
        let appends = |op: &SetOp| op.kind == SetKind::Union && op.all;
        self.rest.iter().all(|(op, _)| appends(op))
    }
}

/// Tables of WITH RECURSIVE that name each other, or one that names itself.
pub struct RecursivePlan {
    /// The tables.
    pub members: Vec<RecursiveTable>,
    /// Which of them gives the rows.
    pub wanted: usize,
    /// Steps see all rows so far, and not those of the step before alone: `standard_compliant_cte` is off, and they look at
    /// more than one row at once.
    pub whole: bool,
}

/// One table of a [`RecursivePlan`].
pub struct RecursiveTable {
    /// What steps know it by.
    pub id: usize,
    /// Its rows' form.
    pub table: Arc<Table>,
    /// Rows to begin with. A table of several may do without.
    pub anchors: Option<SetPlan>,
    /// Each makes rows of those of the step before.
    pub steps: Vec<SelectPlan>,
    /// Rows that are equal in these columns count once.
    pub distinct: Option<Vec<usize>>,
    /// Names and types of its columns.
    pub columns: Vec<(String, ExprType)>,
}

/// One output column.
#[derive(Debug, Clone)]
pub enum Out {
    /// A column of the table.
    Column {
        /// Position.
        column: usize,
        /// TIMESTAMP: shifted to the session's time zone.
        timestamp: bool,
    },
    /// Anything else.
    Expr(Expr),
}

/// How many digits of quotients are given on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Digits {
    /// Those that their types show.
    Shown,
    /// Those too, but all of constants.
    OfConstants,
    /// All that were computed: the rows are stored.
    All,
}

/// LIMIT's operands: constants or parameters.
#[derive(Debug, Clone)]
pub struct LimitPlan {
    /// Rows to skip.
    pub offset: Option<Expr>,
    /// Rows to return.
    pub count: Option<Expr>,
}

/// Grouping.
pub struct GroupPlan {
    /// GROUP BY; empty for one group of all rows.
    pub keys: Vec<SortKey>,
    /// Aggregates.
    pub aggregates: Vec<Aggregate>,
    /// What is computed once of each group: it follows the aggregates' values, and those of ROLLUP's keys.
    pub computed: Vec<Expr>,
    /// HAVING.
    pub having: Option<Expr>,
    /// WITH ROLLUP: the keys follow the aggregates' values, NULL in the rows for several groups; then how many keys the
    /// group has.
    pub rollup: bool,
    /// One group of MIN and MAX alone: how each is found at an end of an index.
    pub ends: Vec<TablePlan>,
    /// Groups come one behind the other along an index.
    pub by_index: Option<IndexGroups>,
    /// All aggregates count rows: no row is needed.
    pub counts_only: bool,
    /// Columns that are looked at in a row of a group, outside of aggregates.
    pub row_columns: Vec<usize>,
}

impl GroupPlan {
    /// How many values WITH ROLLUP puts behind those of the aggregates: the keys', and of how many keys the group is.
    pub(crate) fn rolled(&self) -> usize {
        match self.rollup {
            true => self.keys.len() + 1,
            false => 0,
        }
    }

    /// Groups by these keys, without aggregates.
    pub(crate) fn of(keys: Vec<SortKey>) -> GroupPlan {
        GroupPlan {
            keys,
            aggregates: Vec::new(),
            computed: Vec::new(),
            having: None,
            rollup: false,
            ends: Vec::new(),
            by_index: None,
            counts_only: false,
            row_columns: Vec::new(),
        }
    }
}

/// A planned SELECT.
pub struct SelectPlan {
    /// FROM.
    pub table: Option<TablePlan>,
    /// Names of its sources, in the order of the text.
    pub names: Vec<String>,
    /// WHERE without a table.
    pub filter: Option<Expr>,
    /// What is computed once of each row.
    pub computed: Option<Computed>,
    /// Output.
    pub items: Vec<Out>,
    /// Output columns.
    pub columns: Arc<[ResultColumn]>,
    /// How readily the collation of each gives way to another's, in a union say.
    pub coercibility: Vec<Coercibility>,
    /// Grouping, if any.
    pub group: Option<GroupPlan>,
    /// Window functions, computed of the rows or of the groups. Their plan has the ORDER BY then.
    pub windows: Option<WindowPlan>,
    /// Sort needed after reading or grouping.
    pub sort: Vec<SortKey>,
    /// Sort needed if the access path does not give the order after all (see [`Access::order_holds`]).
    pub fallback_sort: Vec<SortKey>,
    /// DISTINCT.
    pub distinct: bool,
    /// The sort keys are exactly the output columns: equal rows are neighbours after sorting.
    pub distinct_by_sort: bool,
    /// LIMIT.
    pub limit: Option<LimitPlan>,
    /// FETCH ... WITH TIES: what the last row and those that follow it must have in common.
    pub ties: Option<Vec<SortKey>>,
    /// SQL_CALC_FOUND_ROWS.
    pub calc_found_rows: bool,
    /// FOR UPDATE, LOCK IN SHARE MODE.
    pub lock: Option<LockSpec>,
    /// Subqueries of its expressions.
    pub subqueries: Vec<SubPlan>,
    /// Some of them run while rows are read.
    pub row_wise: bool,
    /// Its user needs no more rows than these.
    pub stop_after: Option<u64>,
    /// How many digits of quotients its rows have.
    pub digits: Digits,
    /// Its rows are counted for ROWNUM().
    pub numbers_rows: bool,
    /// The conditions of WHERE that no row has a say in: where one does not hold, no row is read.
    pub row_free: Vec<Expr>,
    /// Of a LATERAL derived table: what it sees of the tables before it, for each of whose rows it runs.
    pub lateral: Option<Vec<Expr>>,
}

/// Calls that one sort of the rows serves.
#[derive(Debug)]
pub struct WindowSort {
    /// PARTITION BY, then ORDER BY.
    pub keys: Vec<SortKey>,
    /// How many of the keys part the rows.
    pub partition: usize,
    /// By how many of the keys rows are compared to be equal: each number that a call asks for, and that of the partition.
    pub levels: Vec<usize>,
    /// Its calls.
    pub calls: Range<usize>,
    /// For each of them its place in `levels`.
    pub level_of: Vec<usize>,
}

/// The window functions of a SELECT.
#[derive(Debug)]
pub struct WindowPlan {
    /// The calls, in the order in which they are computed. Their values follow those of aggregates and of what is computed of
    /// groups.
    pub calls: Vec<WindowCall>,
    /// The sorts, one behind the other.
    pub sorts: Vec<WindowSort>,
    /// ORDER BY of the SELECT.
    pub order: Vec<SortKey>,
    /// How many values of a group stand before theirs.
    pub behind: usize,
    /// Columns that are looked at in the rows.
    pub columns: Vec<usize>,
}

impl WindowPlan {
    /// Calls `f` with all expressions that are evaluated to compute the calls.
    pub fn for_each_expr<'e>(&'e self, f: &mut dyn FnMut(&'e Expr)) {
        for c in &self.calls {
            c.for_each_expr(f);
        }
        self.order.iter().for_each(|k| f(&k.expr));
    }
}

/// One element of ORDER BY.
#[derive(Debug, Clone)]
pub struct SortKey {
    /// The expression.
    pub expr: Expr,
    /// DESC.
    pub desc: bool,
}

/// What is computed of each row.
pub struct Computed {
    /// The values.
    pub exprs: Vec<Expr>,
    /// The columns of the rows, and these values behind them.
    pub table: Arc<Table>,
    /// The columns of the rows that are looked at later.
    pub columns: Vec<usize>,
}

/// Which index gives the groups, and how.
#[derive(Debug, Clone)]
pub struct IndexGroups {
    /// Tells the groups apart.
    pub prefix: GroupPrefix,
    /// What aggregates, the condition and, if it can, the output look at.
    pub rows: IndexRows,
    /// `rows` has all that the output looks at.
    pub whole: bool,
    /// The first and the last entry of a group say all (`Using index for group-by`): behind so many entries the rest of it
    /// is skipped.
    pub skip_behind: Option<u32>,
}

/// A planned subquery.
pub struct SubPlan {
    /// The SELECT.
    pub plan: SelectPlan,
    /// What is asked.
    pub used: SubqueryUse,
    /// Its number in the placeholders.
    pub number: usize,
    /// What it sees of the query around.
    pub outer: Vec<Expr>,
    /// It depends on the row of the query around, or each run gives something else.
    pub each_row: bool,
    /// Each run may give something else.
    pub volatile: bool,
    /// Collations of the comparison with each column.
    pub collations: Vec<Collation>,
    /// Equal values have equal keys.
    pub by_key: bool,
}

impl TablePlan {
    /// Tells which columns are looked at besides those of its conditions: an index that has them all may do.
    pub fn wants(&mut self, mut columns: Vec<usize>) {
        let add = |list: &mut Vec<usize>, e: &Expr| e.for_each_column(&mut |c| list.push(c));
        if let Some(late) = &self.late {
            add(&mut columns, late);
        }
        let mut checked = columns.clone();
        if let Some(f) = &self.filter {
            add(&mut checked, f);
        }
        if let Rows::Join(join) = &mut self.rows {
            join.wants(&checked);
            return;
        }
        if !self.is_stored() {
            return;
        }
        let a = &mut self.access;
        if a.index == 0 && matches!(a.lookup, Lookup::Full) && !a.ordered {
            let shortest = (1..self.table.indexes.len())
                .filter(|i| a.allowed.get(*i).copied().unwrap_or(true))
                .filter(|i| IndexRows::of(&self.table, *i, &checked).is_some())
                .min_by_key(|i| entry_width(&self.table, *i));
            if let Some(i) = shortest {
                a.index = i;
                a.reverse = false;
            }
        }
        let of = |columns: &[usize], checks| {
            let rows = IndexRows::of(&self.table, a.index, columns)?;
            Some(Cover { rows, checks })
        };
        self.cover = of(&checked, true).or_else(|| match a.covers_filter {
            true => of(&columns, false),
            false => None,
        });
    }

    /// True for a table in the store.
    pub fn is_stored(&self) -> bool {
        matches!(self.rows, Rows::Stored)
    }

    /// True if its rows are rows of tables in the store, which can be locked: a MERGE table, too.
    pub fn is_lockable(&self) -> bool {
        matches!(self.rows, Rows::Stored | Rows::Merge(_))
    }

    /// True for a derived table, SELECTs put together or a table of WITH.
    pub fn is_derived(&self) -> bool {
        matches!(
            self.rows,
            Rows::Query(_) | Rows::Set(_) | Rows::Recursive(_) | Rows::Working(_)
        )
    }

    /// True if rows of a table in the store are read.
    pub fn reads_stored(&self) -> bool {
        match &self.rows {
            Rows::Stored | Rows::Merge(_) => true,
            Rows::Virtual(_) | Rows::Working(_) => false,
            Rows::Query(p) => p.reads_stored(),
            Rows::Set(u) => u.parts().any(SelectPlan::reads_stored),
            Rows::Recursive(r) => r.parts().any(SelectPlan::reads_stored),
            Rows::Join(j) => j.reads_stored(),
        }
    }

    /// See [`SelectPlan::for_update`]; `own`: the query around has the clause.
    fn for_update<'p>(&'p self, own: bool, out: &mut Vec<&'p Arc<Table>>) {
        match &self.rows {
            Rows::Stored if own => out.push(&self.table),
            Rows::Merge(behind) if own => out.extend(behind.iter().map(|b| &b.table)),
            Rows::Query(p) => p.for_update(out),
            Rows::Set(u) => u.parts().for_each(|p| p.for_update(out)),
            Rows::Join(j) => {
                for l in &j.leaves {
                    let own = l.lock.is_some_and(|l| l.mode == LockMode::Exclusive);
                    l.plan.for_update(own, out);
                }
            }
            Rows::Stored
            | Rows::Merge(_)
            | Rows::Virtual(_)
            | Rows::Working(_)
            | Rows::Recursive(_) => {}
        }
    }

    /// True if a query that it is made of has a locking clause.
    pub fn queries_lock(&self) -> bool {
        match &self.rows {
            Rows::Stored | Rows::Merge(_) | Rows::Virtual(_) | Rows::Working(_) => false,
            Rows::Query(p) => p.locks(),
            Rows::Set(u) => u.parts().any(SelectPlan::locks),
            Rows::Recursive(r) => r.parts().any(SelectPlan::locks),
            Rows::Join(j) => j.leaves.iter().any(|l| l.plan.queries_lock()),
        }
    }

    /// True if rows of this table are read.
    pub fn reads_table(&self, table: &Table) -> bool {
        match &self.rows {
            Rows::Stored => self.table.def.id == table.def.id,
            Rows::Merge(behind) => behind.iter().any(|b| b.table.def.id == table.def.id),
            Rows::Virtual(_) | Rows::Working(_) => false,
            Rows::Query(p) => p.reads_table(table),
            Rows::Set(u) => u.parts().any(|p| p.reads_table(table)),
            Rows::Recursive(r) => r.parts().any(|p| p.reads_table(table)),
            Rows::Join(j) => j.leaves.iter().any(|l| l.plan.reads_table(table)),
        }
    }

    /// True if the condition may say something else of the same row when it is asked again: it can be asked only of locked
    /// rows then, as MariaDB does.
    pub(crate) fn asks_once(&self) -> bool {
        (self.filter.as_ref()).is_some_and(|f| f.any(&Expr::changes))
    }
}

impl JoinPlan {
    /// Tells which of its columns are looked at: sources may do with an index that has these.
    pub fn wants(&mut self, columns: &[usize]) {
        for (wanted, (_, column)) in self.wanted.iter_mut().zip(&self.owner) {
            *wanted = *column == ROW_KEY;
        }
        for c in columns {
            self.wanted[*c] = true;
        }
        let mut read = self.wanted.clone();
        let mut add = |e: &Expr| e.for_each_column(&mut |c| read[c] = true);
        self.root.for_each_condition(&mut add);
        for leaf in &self.leaves {
            leaf.outer.iter().for_each(&mut add);
            leaf.lateral().into_iter().flatten().for_each(&mut add);
            if let Some(kept) = &leaf.kept {
                kept.on.iter().for_each(&mut add);
                let others = kept.hash.iter().flat_map(|h| &h.others);
                others.for_each(&mut add);
            }
        }
        let owned = read.iter().zip(&self.owner).filter(|(read, _)| **read);
        let owned: Vec<(usize, usize)> = owned.map(|(_, o)| *o).collect();
        for (i, leaf) in self.leaves.iter_mut().enumerate() {
            // Locked rows are read as a whole.
            if leaf.lock.is_some() || !leaf.plan.is_stored() {
                continue;
            }
            let own = owned.iter().filter(|(l, _)| *l == i).map(|(_, c)| *c);
            let hash = leaf.kept.iter().flat_map(|k| &k.hash);
            let keys = hash.flat_map(|h| h.columns.iter().map(|(c, _)| *c));
            leaf.plan.wants(own.chain(keys).collect());
        }
    }

    /// Positions of the sources, in the order in which they are read.
    pub fn order(&self) -> Vec<usize> {
        fn of(node: &Node, out: &mut Vec<usize>) {
            match node {
                Node::Leaf(i) => out.push(*i),
                Node::Inner { left, right, .. } | Node::Outer { left, right, .. } => {
                    of(left, out);
                    of(right, out);
                }
            }
        }
        let mut out = Vec::with_capacity(self.leaves.len());
        of(&self.root, &mut out);
        out
    }

    /// True if a source is a stored table, or reads some.
    pub fn reads_stored(&self) -> bool {
        self.leaves.iter().any(|l| l.plan.reads_stored())
    }
}

impl Node {
    /// Calls `f` for the conditions that are checked here, not by a source.
    pub(crate) fn for_each_condition(&self, f: &mut dyn FnMut(&Expr)) {
        match self {
            Node::Leaf(_) => {}
            Node::Inner { left, right, on } => {
                on.iter().for_each(&mut *f);
                left.for_each_condition(f);
                right.for_each_condition(f);
            }
            Node::Outer {
                left,
                right,
                before,
                after,
                ..
            } => {
                before.iter().chain(after).for_each(&mut *f);
                left.for_each_condition(f);
                right.for_each_condition(f);
            }
        }
    }

    /// True if a condition's subqueries run for each row.
    pub fn runs_each_row(&self) -> bool {
        let any = |l: &[Expr]| l.iter().any(Expr::runs_each_row);
        match self {
            Node::Leaf(_) => false,
            Node::Inner { left, right, on } => {
                any(on) || left.runs_each_row() || right.runs_each_row()
            }
            Node::Outer {
                left,
                right,
                before,
                after,
                ..
            } => any(before) || any(after) || left.runs_each_row() || right.runs_each_row(),
        }
    }
}

impl SetPlan {
    /// The SELECTs, from left to right.
    pub fn parts(&self) -> impl Iterator<Item = &SelectPlan> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|(_, p)| p))
    }
}

impl RecursivePlan {
    /// The SELECTs of which it is made.
    pub fn parts(&self) -> impl Iterator<Item = &SelectPlan> {
        self.members.iter().flat_map(|m: &RecursiveTable| {
            m.anchors.iter().flat_map(SetPlan::parts).chain(&m.steps)
        })
    }
}

impl Computed {
    /// Of a table's rows.
    pub fn new(table: &Table, exprs: Vec<Expr>) -> SqlResult<Computed> {
        let own = (table.columns().iter()).map(|c| (c.name.clone(), c.ty, true));
        let added = exprs
            .iter()
            .map(|e| (String::new(), kept_type(&e.ty()), true));
        let columns: Vec<_> = own.chain(added).collect();
        Ok(Computed {
            table: made_table(&table.def.db, &table.def.name, columns)?,
            exprs,
            columns: Vec::new(),
        })
    }

    /// Parts what is looked at behind the FROM into these values, which it forgets, and columns of the rows; adds the
    /// columns that the values are computed of.
    pub fn looks_at(&mut self, columns: &mut Vec<usize>) {
        let width = self.table.columns().len() - self.exprs.len();
        columns.retain(|c| *c < width);
        columns.sort_unstable();
        columns.dedup();
        self.columns.clone_from(columns);
        for e in &self.exprs {
            e.for_each_column(&mut |c| columns.push(c));
        }
    }
}

impl SelectPlan {
    /// True if it may give other rows when it is run again.
    pub fn is_volatile(&self) -> bool {
        let changes = |e: &Expr| e.any(&Expr::changes);
        let of_table = |t: &TablePlan| {
            t.filter.iter().chain(&t.late).any(changes)
                || match &t.rows {
                    Rows::Query(p) => p.is_volatile(),
                    Rows::Set(u) => u.parts().any(SelectPlan::is_volatile),
                    Rows::Recursive(r) => r.parts().any(SelectPlan::is_volatile),
                    _ => false,
                }
        };
        self.items
            .iter()
            .any(|i| matches!(i, Out::Expr(e) if changes(e)))
            || self.filter.as_ref().is_some_and(changes)
            || (self.computed.iter().flat_map(|c| &c.exprs)).any(changes)
            || self.table.as_ref().is_some_and(of_table)
            || self.sort.iter().any(|k| changes(&k.expr))
            || self.group.as_ref().is_some_and(|g| {
                g.having.iter().chain(&g.computed).any(changes)
                    || g.keys.iter().any(|k| changes(&k.expr))
                    || g.aggregates.iter().any(|a| a.args.iter().any(changes))
            })
            || self.windows.as_ref().is_some_and(|w| {
                let mut found = false;
                w.for_each_expr(&mut |e| found |= changes(e));
                found
            })
            || self.subqueries.iter().any(|s| s.volatile)
    }

    /// True if its rows are not rows of its FROM: there are groups, or values over several rows.
    pub fn computes_over_rows(&self) -> bool {
        self.group.is_some() || self.windows.is_some()
    }

    /// See [`crate::Prepared::finds_rows`].
    pub fn finds_rows(&self) -> bool {
        let sorted = !self.sort.is_empty() || !self.fallback_sort.is_empty();
        match self.table.as_ref().map(|t| &t.rows) {
            None => false,
            Some(Rows::Set(s)) => sorted || !s.appends(),
            Some(_) => true,
        }
    }

    /// It hands on the rows of a UNION ALL.
    pub fn appends(&self) -> bool {
        let rows = self.table.as_ref().map(|t| &t.rows);
        matches!(rows, Some(Rows::Set(s)) if s.appends())
    }

    /// True if it has values over several rows: aggregates, or window functions.
    pub fn has_values_over_rows(&self) -> bool {
        let aggregates = |g: &GroupPlan| !g.aggregates.is_empty();
        self.group.as_ref().is_some_and(aggregates) || self.windows.is_some()
    }

    /// Which locks a run takes: those of the statement, or shared ones if the transaction's isolation level makes plain
    /// reads lock (`locking_reads`, known only when it runs).
    pub fn lock_spec(&self, locking_reads: bool) -> Option<LockSpec> {
        let real = self.table.as_ref().is_some_and(TablePlan::is_stored);
        let serial = locking_reads && real;
        self.lock.or(serial.then_some(LockSpec::SERIALIZABLE))
    }

    /// The tables whose rows FOR UPDATE locks.
    pub fn for_update<'p>(&'p self, out: &mut Vec<&'p Arc<Table>>) {
        let own = (self.lock).is_some_and(|l| l.mode == LockMode::Exclusive);
        if let Some(t) = &self.table {
            t.for_update(own, out);
        }
        for s in &self.subqueries {
            s.plan.for_update(out);
        }
    }

    /// True if it, or a query inside of it, has a locking clause.
    pub fn locks(&self) -> bool {
        self.lock.is_some()
            || self.subqueries.iter().any(|s| s.plan.locks())
            || self.table.as_ref().is_some_and(TablePlan::queries_lock)
    }

    /// True if rows of this table are read.
    pub fn reads_table(&self, table: &Table) -> bool {
        self.table.as_ref().is_some_and(|t| t.reads_table(table))
            || self.subqueries.iter().any(|s| s.plan.reads_table(table))
    }

    /// True if rows of a table in the store are read.
    pub fn reads_stored(&self) -> bool {
        self.table.as_ref().is_some_and(TablePlan::reads_stored)
            || self.subqueries.iter().any(|s| s.plan.reads_stored())
    }
}
