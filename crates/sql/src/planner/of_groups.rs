//! What the columns of a SELECT with groups are told to be, where that is not what their expressions say.

use crate::expr::node::{AggFunc, Aggregate, Expr, ExprKind, ExprType};
use crate::plan::query::SortKey;
use narwal_types::ResultColumn;

/// Settles the columns. `keys` are those of GROUP BY.
pub(super) fn settle(
    items: &mut [Expr],
    columns: &mut [ResultColumn],
    aggregates: &[Aggregate],
    keys: &[SortKey],
) {
    if aggregates.is_empty() {
        return;
    }
    for (e, c) in items.iter_mut().zip(columns) {
        if let Some(member) = member_of(e, aggregates) {
            c.ty = member.ty;
            c.length = 0;
        }
        if keys.is_empty() {
            may_have_no_row(e);
            c.nullable |= e.ty.nullable;
        }
    }
}

/// The type of MIN or MAX of an ENUM or a SET: they compare its texts, but give a member.
fn member_of(e: &Expr, aggregates: &[Aggregate]) -> Option<ExprType> {
    let ExprKind::Aggregate(n, _) = e.kind else {
        return None;
    };
    let a = aggregates
        .get(n)
        .filter(|a| matches!(a.func, AggFunc::Min | AggFunc::Max))?;
    match a.args.first().map(|arg| &arg.kind) {
        Some(ExprKind::Cast(of)) if of.ty.ty.is_member() => Some(of.ty),
        _ => None,
    }
}

/// The one group of a SELECT without GROUP BY may have no rows. A column beside its aggregates is NULL then.
fn may_have_no_row(e: &mut Expr) {
    if let ExprKind::Column { .. } = e.kind {
        e.ty.nullable = true;
        return;
    }
    let mut nullable = false;
    e.for_each_child_mut(&mut |c| {
        may_have_no_row(c);
        nullable |= c.ty.nullable;
    });
    e.ty.nullable |= match &e.kind {
        // They are never NULL.
        ExprKind::IsNull { .. } | ExprKind::IsBool { .. } | ExprKind::Subquery(_) => false,
        ExprKind::Func { func, args } => func.ty(args).is_ok_and(|t| t.nullable),
        _ => nullable,
    };
}
