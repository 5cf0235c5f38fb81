//! WITH ROLLUP: what is computed of groups reads their keys where the groups put them, NULL for several groups.

use crate::expr::node::{Expr, ExprKind};
use crate::plan::query::GroupPlan;
use crate::planner::logical::LogicalSelect;
use narwal_types::SqlResult;
use narwal_types::errors;

/// Makes the items, HAVING, window functions and what is computed of each group read the keys so.
pub fn roll_up(l: &mut LogicalSelect) -> SqlResult<()> {
    let Some(g) = l.group.as_mut().filter(|g| g.rollup) else {
        return Ok(());
    };
    if l.order_written {
        return Err(errors::WRONG_USAGE.text("Incorrect usage of CUBE/ROLLUP and ORDER BY"));
    }
    let mut of_groups = std::mem::take(&mut g.computed);
    for e in l
        .items
        .iter_mut()
        .chain(&mut l.having)
        .chain(&mut of_groups)
    {
        rolled_up(e, g);
    }
    for c in &mut l.windows {
        c.for_each_expr_mut(&mut |e| rolled_up(e, g));
    }
    g.computed = of_groups;
    for (c, e) in l.columns.iter_mut().zip(&l.items) {
        c.nullable |= e.ty.nullable;
    }
    Ok(())
}

/// Reads group keys from where WITH ROLLUP puts their values.
fn rolled_up(e: &mut Expr, g: &GroupPlan) {
    match g.keys.iter().position(|k| k.expr == *e) {
        Some(i) => {
            e.kind = ExprKind::Aggregate(g.aggregates.len() + i, e.to_string().into());
            e.ty.nullable = true;
        }
        None => {
            e.for_each_child_mut(&mut |c| rolled_up(c, g));
            let mut nullable = false;
            e.for_each_child(&mut |c| nullable |= c.ty.nullable);
            e.ty.nullable |= nullable && !matches!(e.kind, ExprKind::Func { .. });
        }
    }
}
