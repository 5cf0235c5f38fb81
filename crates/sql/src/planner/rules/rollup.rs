//! WITH ROLLUP: what is computed of groups reads their keys where the groups put them, NULL for several groups.

use crate::expr::functions::mysql::{GROUPING, GROUPING_AT};
use crate::expr::node::{Expr, ExprKind, ExprType};
use crate::plan::query::GroupPlan;
use crate::planner::logical::LogicalSelect;
use narwal_types::{SqlResult, Value};

/// Makes the items, HAVING, window functions and what is computed of each group read the keys so.
pub fn roll_up(l: &mut LogicalSelect) -> SqlResult<()> {
    let Some(g) = l.group.as_mut().filter(|g| g.rollup) else {
        return Ok(());
    };
    let mut of_groups = std::mem::take(&mut g.computed);
    for e in l
        .items
        .iter_mut()
        .chain(&mut l.having)
        .chain(&mut of_groups)
    {
        rolled_up(e, g);
    }
    for k in &mut l.order {
        rolled_up(&mut k.expr, g);
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

/// Makes GROUPING look at how many keys the group has. False if it is another function, or of something else than keys.
fn grouping(e: &mut Expr, g: &GroupPlan) -> bool {
    let ExprKind::Func { func, args } = &e.kind else {
        return false;
    };
    if func.name != GROUPING.name {
        return false;
    }
    let place = |a: &Expr| g.keys.iter().position(|k| k.expr == *a);
    let Some(places) = args.iter().map(place).collect::<Option<Vec<usize>>>() else {
        return false;
    };
    let of = |kind| Expr {
        kind,
        ty: ExprType::int(false),
    };
    let level = of(ExprKind::Aggregate(
        g.aggregates.len() + g.keys.len(),
        "grouping".into(),
    ));
    let places = places.into_iter();
    let places = places.map(|p| of(ExprKind::Literal(Value::Int(p as i64))));
    e.kind = ExprKind::Func {
        func: &GROUPING_AT,
        args: std::iter::once(level).chain(places).collect(),
    };
    true
}

/// Reads group keys from where WITH ROLLUP puts their values.
fn rolled_up(e: &mut Expr, g: &GroupPlan) {
    if grouping(e, g) {
        return;
    }
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
