//! What an OR says of all its branches is said beside it, where one table, or an index, can make use of it.
//!
//! `t.a = u.a AND t.b = 1 OR t.a = u.a AND t.b = 2` names two tables in each branch, so that neither a join nor an index could
//! be found in it. What stands in all branches is taken out of them: `t.a = u.a AND (t.b = 1 OR t.b = 2)`. Of the rest, what
//! each branch says of one table alone holds for that table's rows before they are joined: `t.x = 1 AND u.y = 1 OR t.x = 2`
//! reads only rows of `t` with `t.x = 1 OR t.x = 2`. The same is said of the first column of each index.

use crate::bind::scope::Source;
use crate::expr::node::{CmpOp, Expr, ExprKind, ExprType};
use crate::plan::sarg::conjuncts;
use crate::planner::condition::all_of;
use crate::planner::logical::Tree;

/// An OR of more branches, or with a longer branch, stays as it is: comparing all with all would take too long.
const MAX_BRANCHES: usize = 1000;
const MAX_CONJUNCTS: usize = 50;

/// Applies the rule to WHERE.
pub fn alternatives(filter: Option<Expr>, sources: &[Source]) -> Option<Expr> {
    match filter {
        Some(f) if conjuncts(&f).iter().any(is_or) => {
            all_of(of_all(conjuncts(&f).to_vec(), sources))
        }
        f => f,
    }
}

/// Applies the rule to the conditions of joins.
pub fn alternatives_of_joins(tree: &mut Tree, sources: &[Source]) {
    if let Tree::Join {
        left, right, on, ..
    } = tree
    {
        if on.iter().any(is_or) {
            *on = of_all(std::mem::take(on), sources);
        }
        alternatives_of_joins(left, sources);
        alternatives_of_joins(right, sources);
    }
}

fn is_or(e: &Expr) -> bool {
    matches!(e.kind, ExprKind::Or(_))
}

fn of_all(list: Vec<Expr>, sources: &[Source]) -> Vec<Expr> {
    let mut out = Vec::with_capacity(list.len());
    for e in list {
        // What has to be evaluated as often as it is written is neither moved nor doubled.
        let steady = !e.any(&|e| {
            e.changes() || matches!(e.kind, ExprKind::UserVariable(..) | ExprKind::Subquery(_))
        });
        match e.kind {
            ExprKind::Or(branches) if steady && small(&branches) => {
                let (common, rest) = factored(branches);
                out.extend(common);
                if let Some(rest) = rest {
                    implied(&rest, sources, &mut out);
                    out.push(rest);
                }
            }
            _ => out.push(e),
        }
    }
    out
}

fn small(branches: &[Expr]) -> bool {
    branches.len() <= MAX_BRANCHES && branches.iter().all(|b| conjuncts(b).len() <= MAX_CONJUNCTS)
}

/// What stands in all branches, and the OR of what else they say; `None` if one of them says nothing else.
fn factored(branches: Vec<Expr>) -> (Vec<Expr>, Option<Expr>) {
    let Some((first, others)) = branches.split_first() else {
        return (Vec::new(), None);
    };
    let in_all = |e: &Expr| (others.iter()).all(|b| conjuncts(b).iter().any(|o| same(e, o)));
    let common: Vec<Expr> = conjuncts(first)
        .iter()
        .filter(|e| in_all(e))
        .cloned()
        .collect();
    if common.is_empty() {
        return (common, Some(any_of(branches)));
    }
    let rest: Option<Vec<Expr>> = (branches.iter())
        .map(|b| {
            let own = conjuncts(b).iter();
            all_of(
                own.filter(|e| !common.iter().any(|c| same(c, e)))
                    .cloned()
                    .collect(),
            )
        })
        .collect();
    (common, rest.map(any_of))
}

/// The same condition, perhaps with its sides exchanged.
fn same(a: &Expr, b: &Expr) -> bool {
    if a == b {
        return true;
    }
    match (&a.kind, &b.kind) {
        (
            ExprKind::Compare {
                op,
                left,
                right,
                collation,
            },
            ExprKind::Compare {
                op: o,
                left: l,
                right: r,
                collation: c,
            },
        ) => *op == o.flip() && collation == c && left == r && right == l,
        _ => false,
    }
}

fn any_of(mut list: Vec<Expr>) -> Expr {
    match list.len() {
        1 => list.remove(0),
        _ => Expr {
            ty: ExprType::int(list.iter().any(|e| e.ty.nullable)),
            kind: ExprKind::Or(list),
        },
    }
}

/// Adds what an OR says of each source alone, and of the first columns of its indexes.
fn implied(or: &Expr, sources: &[Source], out: &mut Vec<Expr>) {
    if !is_or(or) {
        return;
    }
    let mut named = Vec::new();
    or.for_each_column(&mut |c| named.push(c));
    named.sort_unstable();
    named.dedup();
    for s in sources.iter().filter(|s| s.view.is_none()) {
        let columns = s.base..s.base + s.table.columns().len();
        let own: Vec<usize> = named
            .iter()
            .copied()
            .filter(|c| columns.contains(c))
            .collect();
        if own.is_empty() {
            continue;
        }
        if own.len() < named.len() {
            out.extend(restriction(or, &|c| columns.contains(&c)));
        }
        if own.len() > 1 {
            let mut first: Vec<usize> = (s.table.indexes.iter())
                .filter_map(|i| i.parts.first())
                .map(|p| s.base + p.column)
                .filter(|c| own.contains(c))
                .collect();
            first.sort_unstable();
            first.dedup();
            out.extend(
                first
                    .iter()
                    .filter_map(|column| restriction(or, &|c| c == *column)),
            );
        }
    }
}

/// What a condition says of some columns alone; `None` if it says nothing.
fn restriction(e: &Expr, of: &dyn Fn(usize) -> bool) -> Option<Expr> {
    let (mut some, mut all) = (false, true);
    e.for_each_column(&mut |c| {
        some = true;
        all &= of(c);
    });
    if !some {
        return None;
    }
    match &e.kind {
        _ if all => usable(e).then(|| e.clone()),
        ExprKind::And(list) => all_of(list.iter().filter_map(|e| restriction(e, of)).collect()),
        ExprKind::Or(list) => {
            let list: Option<Vec<Expr>> = list.iter().map(|e| restriction(e, of)).collect();
            list.map(any_of)
        }
        _ => None,
    }
}

/// Worth being asked twice of a row: `<>` keeps nearly all of them.
fn usable(e: &Expr) -> bool {
    !matches!(e.kind, ExprKind::Compare { op: CmpOp::Ne, .. })
}
