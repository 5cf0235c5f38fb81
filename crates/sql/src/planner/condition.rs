//! Conditions and their conjuncts.

use crate::expr::node::{Expr, ExprKind, ExprType};
use crate::plan::sarg::conjuncts;
use narwal_types::SqlError;
use narwal_types::errors;
use narwal_types::errors::codes;

/// A conjunction of conditions; `None` of none.
pub fn all_of(mut list: Vec<Expr>) -> Option<Expr> {
    match list.len() {
        0 => None,
        1 => list.pop(),
        _ => Some(Expr {
            ty: ExprType::int(list.iter().any(|e| e.ty.nullable)),
            kind: ExprKind::And(list),
        }),
    }
}

/// A condition as the source's own: its columns counted from 0, those of others as further parameters.
pub fn parametrised(
    e: &Expr,
    own: &std::ops::Range<usize>,
    params: usize,
    outer: &mut Vec<Expr>,
) -> Expr {
    let mut e = e.clone();
    replace(&mut e, &mut |x| {
        let ExprKind::Column { column, .. } = &mut x.kind else {
            return;
        };
        if own.contains(column) {
            *column -= own.start;
            return;
        }
        let at = match outer.iter().position(|o| o.kind == x.kind) {
            Some(at) => at,
            None => {
                outer.push(x.clone());
                outer.len() - 1
            }
        };
        x.kind = ExprKind::Param(params + at);
    });
    e
}

pub(crate) fn replace(e: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
    if matches!(e.kind, ExprKind::Column { .. }) {
        f(e);
    } else {
        e.for_each_child_mut(&mut |c| replace(c, f));
    }
}

/// Parts a condition from those of its conjuncts whose subqueries run for each row.
pub fn split_late(filter: Option<Expr>) -> (Option<Expr>, Option<Expr>) {
    match filter {
        Some(f) if f.runs_each_row() => {
            let (late, early) = conjuncts(&f).iter().cloned().partition(Expr::runs_each_row);
            (all_of(early), all_of(late))
        }
        f => (f, None),
    }
}

pub(crate) fn unknown_column(name: &str, clause: &str) -> SqlError {
    errors::BAD_FIELD_ERROR.with([&name, &clause])
}

/// Names another clause in error 1054: expressions of SET and VALUES are bound like a select list.
pub(crate) fn in_clause(mut e: SqlError, clause: &str) -> SqlError {
    if e.code == codes::BAD_FIELD_ERROR
        && let Some(head) = e.message.strip_suffix("in 'SELECT'")
    {
        e.message = format!("{head}in '{clause}'").into();
    }
    e
}
