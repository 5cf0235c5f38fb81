//! In which order a join reads its sources: outer joins that a condition makes inner ones are turned into such, and the
//! inputs of inner joins are put in the order that seems cheapest.
//!
//! There are no histograms: costs come from the number of rows of each table, from what an index lookup can find
//! (see [`Access::choose`] and [`crate::planner::estimate`]), and from guesses for the rest.

use crate::bind::scope::Source;
use crate::expr::node::{CmpOp, Expr, ExprKind};
use crate::plan::access::{Access, Lookup};
use crate::plan::query::Rows;
use crate::plan::sarg::ColCond;
use crate::planner::condition::{all_of, parametrised};
use crate::planner::logical::Resolved;
use crate::planner::logical::Tree;
use crate::planner::resolve::Resolver;
use narwal_syntax::ast::IndexHint;
use narwal_types::SqlResult;

/// Rows of a derived table, as long as nothing is known of them.
const DERIVED_ROWS: f64 = 1000.0;
/// What an index lookup costs beside the read of one row of a scan.
const LOOKUP: f64 = 4.0;
/// Sources up to which every one is tried as the first.
const MAX_STARTS: usize = 8;

/// What the order is chosen from.
pub struct Inputs<'a> {
    /// Sources in the order of the text.
    pub sources: &'a [Source],
    /// What they read, with index hints.
    pub leaves: &'a [(Resolved, Vec<IndexHint>)],
    /// For each column the source.
    pub owner: &'a [(usize, usize)],
    /// Number of the statement's parameters.
    pub params: usize,
}

/// A state of reading: cost so far, rows so far.
#[derive(Clone, Copy)]
struct State {
    cost: f64,
    rows: f64,
}

/// True if a lookup uses values of other sources, which are parameters behind the statement's.
pub fn uses_others(lookup: &Lookup, params: usize) -> bool {
    let other = |e: &Expr| e.any(&|e| matches!(e.kind, ExprKind::Param(n) if n >= params));
    fn cond(c: &ColCond, other: &dyn Fn(&Expr) -> bool) -> bool {
        match c {
            ColCond::Cmp(_, e) | ColCond::LikePrefix(e, _) => other(e),
            ColCond::Between(a, b) => other(a) || other(b),
            ColCond::In(v) => v.iter().any(other),
            ColCond::Or(v) | ColCond::And(v) => v.iter().any(|c| cond(c, other)),
            ColCond::InSubquery(_) | ColCond::IsNull | ColCond::IsNotNull => false,
        }
    }
    match lookup {
        Lookup::Full => false,
        Lookup::Point(v) => v.iter().any(other),
        Lookup::Ranges(v) => v.iter().any(|c| cond(c, &other)),
    }
}

/// The columns without whose values a condition can't be true.
fn rejects_null(e: &Expr, column: &mut dyn FnMut(usize)) {
    let mut of = |e: &Expr| {
        if let Some((_, c)) = e.as_column() {
            column(c);
        }
    };
    match &e.kind {
        ExprKind::Compare {
            op, left, right, ..
        } if *op != CmpOp::NullSafeEq => {
            of(left);
            of(right);
        }
        ExprKind::Between { expr, .. }
        | ExprKind::InList {
            expr,
            negated: false,
            ..
        }
        | ExprKind::Like { expr, .. }
        | ExprKind::IsNull {
            expr,
            negated: true,
        } => of(expr),
        _ => {}
    }
}

fn selectivity(e: &Expr) -> f64 {
    match &e.kind {
        ExprKind::Compare {
            op: CmpOp::Eq | CmpOp::NullSafeEq,
            ..
        }
        | ExprKind::InList { .. } => 0.1,
        ExprKind::IsNull { negated: false, .. } => 0.1,
        _ => 0.4,
    }
}

impl Inputs<'_> {
    fn sources_of(&self, e: &Expr) -> Vec<usize> {
        let mut out = Vec::new();
        e.for_each_column(&mut |c| {
            let s = self.owner[c].0;
            if !out.contains(&s) {
                out.push(s);
            }
        });
        out
    }

    /// Turns outer joins into inner ones where `conds` drop the rows without a partner.
    fn simplify(&self, tree: Tree, conds: &[Expr]) -> Tree {
        let Tree::Join {
            left,
            right,
            mut outer,
            on,
        } = tree
        else {
            return tree;
        };
        if outer {
            let mut inside = Vec::new();
            right.order(&mut inside);
            for c in conds {
                rejects_null(c, &mut |c| outer &= !inside.contains(&self.owner[c].0));
            }
        }
        let below: Vec<Expr> = if outer {
            conds.to_vec()
        } else {
            conds.iter().chain(&on).cloned().collect()
        };
        let left = self.simplify(*left, &below);
        // What holds of joined rows says nothing of the right side's own joins if its rows may be replaced by NULLs.
        let right = self.simplify(*right, if outer { &on } else { &below });
        Tree::Join {
            left: Box::new(left),
            right: Box::new(right),
            outer,
            on,
        }
    }
}

/// Takes inner joins apart.
fn flatten(tree: Tree, units: &mut Vec<Tree>, conds: &mut Vec<Expr>) {
    match tree {
        Tree::Join {
            left,
            right,
            outer: false,
            on,
        } => {
            flatten(*left, units, conds);
            flatten(*right, units, conds);
            conds.extend(on);
        }
        t => units.push(t),
    }
}

impl Resolver<'_> {
    /// A join in the order in which it is best read. `conds`: what WHERE says of its rows.
    pub fn join_order(&self, tree: Tree, inputs: &Inputs<'_>, conds: &[Expr]) -> SqlResult<Tree> {
        let tree = inputs.simplify(tree, conds);
        self.ordered(tree, inputs, conds)
    }

    fn ordered(&self, tree: Tree, inputs: &Inputs<'_>, conds: &[Expr]) -> SqlResult<Tree> {
        let (left, right, outer, on) = match tree {
            Tree::Leaf(_) => return Ok(tree),
            Tree::Join {
                left,
                right,
                outer,
                on,
            } => (left, right, outer, on),
        };
        if outer {
            return Ok(Tree::Join {
                left: Box::new(self.ordered(*left, inputs, conds)?),
                right: Box::new(self.ordered(*right, inputs, &on)?),
                outer,
                on,
            });
        }
        let mut units = Vec::new();
        let mut own = Vec::new();
        let whole = Tree::Join {
            left,
            right,
            outer,
            on,
        };
        flatten(whole, &mut units, &mut own);
        let mut all: Vec<Expr> = conds.iter().chain(&own).cloned().collect();
        all.retain(|e| !e.runs_each_row());
        let units = units
            .into_iter()
            .map(|u| self.ordered(u, inputs, &all))
            .collect::<SqlResult<Vec<_>>>()?;
        let order = self.best_order(&units, inputs, &all)?;
        let mut units: Vec<Option<Tree>> = units.into_iter().map(Some).collect();
        let mut joined: Option<Tree> = None;
        for at in order {
            let Some(unit) = units[at].take() else {
                continue;
            };
            joined = Some(match joined {
                None => unit,
                Some(left) => Tree::Join {
                    left: Box::new(left),
                    right: Box::new(unit),
                    outer: false,
                    on: Vec::new(),
                },
            });
        }
        // All conditions stand at the top: each finds its place from there.
        Ok(match joined {
            Some(Tree::Join {
                left,
                right,
                outer: false,
                ..
            }) => Tree::Join {
                left,
                right,
                outer: false,
                on: own,
            },
            Some(t) => t,
            None => Tree::Leaf(0),
        })
    }

    fn best_order(
        &self,
        units: &[Tree],
        inputs: &Inputs<'_>,
        conds: &[Expr],
    ) -> SqlResult<Vec<usize>> {
        let text: Vec<usize> = (0..units.len()).collect();
        let mut best = (self.cost_of(&text, units, inputs, conds)? * 0.95, text);
        let mut starts = Vec::with_capacity(units.len());
        let begin = State {
            cost: 0.0,
            rows: 1.0,
        };
        for (u, unit) in units.iter().enumerate() {
            let mut placed = vec![false; inputs.sources.len()];
            starts.push((self.unit(unit, begin, &mut placed, inputs, conds)?.rows, u));
        }
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        if units.len() > MAX_STARTS {
            starts.truncate(2);
        }
        for (_, start) in starts {
            let mut order = vec![start];
            let mut placed = vec![false; inputs.sources.len()];
            let mut state = self.unit(&units[start], begin, &mut placed, inputs, conds)?;
            while order.len() < units.len() && state.cost < best.0 {
                let mut next: Option<(State, usize, Vec<bool>)> = None;
                for (u, unit) in units.iter().enumerate() {
                    if order.contains(&u) {
                        continue;
                    }
                    let mut then = placed.clone();
                    let s = self.unit(unit, state, &mut then, inputs, conds)?;
                    let better = next
                        .as_ref()
                        .is_none_or(|(n, ..)| s.cost + s.rows * LOOKUP < n.cost + n.rows * LOOKUP);
                    if better {
                        next = Some((s, u, then));
                    }
                }
                let Some((s, u, then)) = next else { break };
                state = s;
                order.push(u);
                placed = then;
            }
            if order.len() == units.len() && state.cost < best.0 {
                best = (state.cost, order);
            }
        }
        Ok(best.1)
    }

    fn cost_of(
        &self,
        order: &[usize],
        units: &[Tree],
        inputs: &Inputs<'_>,
        conds: &[Expr],
    ) -> SqlResult<f64> {
        let mut placed = vec![false; inputs.sources.len()];
        let mut state = State {
            cost: 0.0,
            rows: 1.0,
        };
        for u in order {
            state = self.unit(&units[*u], state, &mut placed, inputs, conds)?;
        }
        Ok(state.cost)
    }

    /// Reads one more input: a source, or an outer join as it is.
    fn unit(
        &self,
        unit: &Tree,
        before: State,
        placed: &mut [bool],
        inputs: &Inputs<'_>,
        conds: &[Expr],
    ) -> SqlResult<State> {
        match unit {
            Tree::Leaf(i) => {
                let s = self.source(*i, before, placed, inputs, conds)?;
                placed[*i] = true;
                Ok(s)
            }
            Tree::Join {
                left,
                right,
                outer,
                on,
            } => {
                let all: Vec<Expr> = conds.iter().chain(on).cloned().collect();
                let s = self.unit(left, before, placed, inputs, &all)?;
                let t = self.unit(right, s, placed, inputs, &all)?;
                Ok(State {
                    cost: t.cost,
                    rows: if *outer { t.rows.max(s.rows) } else { t.rows },
                })
            }
        }
    }

    /// How many rows a source has, as far as that is known.
    fn rows_of(&self, resolved: &Resolved, source: &Source) -> f64 {
        let rows = match &resolved.rows {
            Rows::Stored => self.estimates.rows(&source.table),
            Rows::Merge(behind) => {
                let rows = behind.iter().map(|b| self.estimates.rows(&b.table));
                rows.sum()
            }
            _ => return DERIVED_ROWS,
        };
        (rows as f64).max(1.0)
    }

    fn source(
        &self,
        i: usize,
        before: State,
        placed: &[bool],
        inputs: &Inputs<'_>,
        conds: &[Expr],
    ) -> SqlResult<State> {
        let source = &inputs.sources[i];
        let (resolved, hints) = &inputs.leaves[i];
        let own = source.base..source.base + source.table.columns().len();
        let first = !placed.contains(&true);
        let mut mine = Vec::new();
        let mut joined = Vec::new();
        for e in conds {
            let of = inputs.sources_of(e);
            if !of.contains(&i) {
                continue;
            }
            if of.len() == 1 {
                mine.push(e);
            } else if of.iter().all(|s| *s == i || placed[*s]) {
                joined.push(e);
            }
        }
        let stored = matches!(resolved.rows, Rows::Stored);
        let total = self.rows_of(resolved, source);
        let choose = |list: &[&Expr]| -> SqlResult<Access> {
            let filter = all_of(
                list.iter()
                    .map(|e| parametrised(e, &own, inputs.params, &mut Vec::new()))
                    .collect(),
            );
            Access::choose(
                &source.table,
                filter.as_ref(),
                &[],
                None,
                hints,
                &self.estimates,
            )
        };
        // Rows that a lookup finds. Where nothing is known: few share a key, whatever the number of rows.
        let found = |a: &Access| {
            match &a.lookup {
                Lookup::Full => total,
                Lookup::Point(_) => 1.0,
                Lookup::Ranges(c)
                    if !a.informed && a.rows > 1 && c.iter().all(ColCond::is_points) =>
                {
                    let keys: f64 = c.iter().map(|c| c.count() as f64).product();
                    (total.cbrt() * keys).min(a.rows as f64)
                }
                Lookup::Ranges(_) => a.rows as f64,
            }
            .min(total)
        };
        let left_over = |list: &[&Expr], n: usize| -> f64 {
            let mut s: Vec<f64> = list.iter().map(|e| selectivity(e)).collect();
            s.sort_by(f64::total_cmp);
            s.iter().skip(n).product()
        };
        if stored && !first {
            let both: Vec<&Expr> = mine.iter().chain(&joined).copied().collect();
            let a = choose(&both)?;
            if uses_others(&a.lookup, inputs.params) {
                let found = found(&a);
                return Ok(State {
                    cost: before.cost + before.rows * (LOOKUP + 2.0 * found),
                    rows: before.rows * found * left_over(&both, a.conditions),
                });
            }
        }
        let (read, kept) = if stored {
            let a = choose(&mine)?;
            let n = found(&a);
            let per_row = if a.index == 0 { 1.0 } else { 2.0 };
            (n * per_row, n * left_over(&mine, a.conditions))
        } else {
            (total, total * left_over(&mine, 0))
        };
        let kept = kept.max(1.0);
        if first {
            return Ok(State {
                cost: before.cost + read,
                rows: kept,
            });
        }
        let by_hash = joined
            .iter()
            .any(|e| matches!(e.kind, ExprKind::Compare { op: CmpOp::Eq, .. }));
        let partners = if by_hash { kept.cbrt() } else { kept };
        Ok(State {
            cost: before.cost + read + kept * 2.0 + before.rows * partners,
            rows: before.rows * partners * left_over(&joined, usize::from(by_hash)),
        })
    }
}
