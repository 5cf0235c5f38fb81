//! Operators whose operands decide what else is looked at: AND, OR, comparisons, CASE.

use crate::env::StatementEnv;
use crate::expr::compare::{compare_one, satisfied};
use crate::expr::named::naming;
use crate::expr::node::{CmpOp, EvalCtx, Expr, ExprKind, RowAccess};
use crate::expr::value::{Val, truth, with_text};
use crate::like::like;
use narwal_types::errors::codes;
use narwal_types::{Collation, SqlResult, ValueRef};
use std::cmp::Ordering;

/// The first FALSE decides.
pub(super) fn and<'a>(
    list: &'a [Expr],
    ctx: &EvalCtx<'a>,
    row: &'a dyn RowAccess,
) -> SqlResult<Val<'a>> {
    let mut out = Some(true);
    for e in list {
        ctx.env.check_stopped()?;
        match e.eval_truth(ctx, row)? {
            Some(true) => {}
            Some(false) => return Ok(Val::int(0)),
            None => out = None,
        }
    }
    Ok(Val::bool(out))
}

/// The first TRUE decides.
pub(super) fn or<'a>(
    list: &'a [Expr],
    ctx: &EvalCtx<'a>,
    row: &'a dyn RowAccess,
) -> SqlResult<Val<'a>> {
    let mut out = Some(false);
    for e in list {
        ctx.env.check_stopped()?;
        match e.eval_truth(ctx, row)? {
            Some(false) => {}
            Some(true) => return Ok(Val::int(1)),
            None => out = None,
        }
    }
    Ok(Val::bool(out))
}

/// `left op right`
pub(super) fn comparison<'a>(
    op: CmpOp,
    (left, right): (&'a Expr, &'a Expr),
    collation: Collation,
    ctx: &EvalCtx<'a>,
    row: &'a dyn RowAccess,
) -> SqlResult<Val<'a>> {
    // Exact numbers meet with the digits that they show, others with all.
    let l = match right.ty.is_exact() {
        true => left.eval_ref(ctx, row)?,
        false => left.eval_unrounded(ctx, row)?,
    };
    if l.is_null() && op != CmpOp::NullSafeEq {
        return Ok(Val::NULL);
    }
    let r = match left.ty.is_exact() {
        true => right.eval_ref(ctx, row)?,
        false => right.eval_unrounded(ctx, row)?,
    };
    let order = order_of([left, right], [l.as_ref(), r.as_ref()], collation, ctx.env);
    Ok(match order {
        Some(o) => {
            ctx.env.check_stopped()?;
            Val::int(satisfied(op, o) as i64)
        }
        None if op == CmpOp::NullSafeEq => Val::int((l.is_null() && r.is_null()) as i64),
        None => Val::NULL,
    })
}

/// The order of two operands with these values. A constant text beside a value of another kind is the same for all rows: what
/// is wrong with it is told for the first one.
#[inline]
fn order_of(
    of: [&Expr; 2],
    [l, r]: [ValueRef<'_>; 2],
    collation: Collation,
    env: &StatementEnv,
) -> Option<Ordering> {
    let order = || naming(of, env, || compare_one(l, r, collation, env));
    let text = match (is_text(l), is_text(r)) {
        (true, false) => of[0],
        (false, true) => of[1],
        _ => return order(),
    };
    let place = std::ptr::from_ref(text).addr();
    if env.has_told_of(place) {
        return env.quietly(order);
    }
    let before = env.told();
    let found = order();
    let constant = text.is_const() || matches!(text.kind, ExprKind::UserVariable(..));
    if env.told() != before && constant {
        env.tells_of(place);
    }
    found
}

/// `value BETWEEN low AND high`
pub(super) fn between<'a>(
    (value, low, high): (&'a Expr, &'a Expr, &'a Expr),
    collation: Collation,
    ctx: &EvalCtx<'a>,
    row: &'a dyn RowAccess,
) -> SqlResult<Option<bool>> {
    let v = value.eval_unrounded(ctx, row)?;
    let least = low.eval_unrounded(ctx, row)?;
    let most = high.eval_unrounded(ctx, row)?;
    let (v, least, most) = (v.as_ref(), least.as_ref(), most.as_ref());
    let env = ctx.env;
    let before = env.told();
    let moments = [value, low, high].iter().any(|e| e.ty.ty.is_temporal());
    let order = |bound: &'a Expr, b: ValueRef<'_>| match moments {
        true => order_of([value, bound], [v, b], collation, env),
        false => naming([value, bound], env, || compare_one(v, b, collation, env)),
    };
    let above = order(low, least).map(|o| o != Ordering::Less);
    // A text becomes a number once for both bounds.
    let below = match is_text(v) && !is_text(least) && !is_text(most) && env.told() != before {
        true => env.quietly(|| order(high, most)),
        false => order(high, most),
    };
    let below = below.map(|o| o != Ordering::Greater);
    if env.told() != before {
        name_as_between([v, least, most], before, env);
    }
    env.check_stopped()?;
    Ok(match (above, below) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    })
}

fn is_text(v: ValueRef<'_>) -> bool {
    matches!(v, ValueRef::Str(_) | ValueRef::Bytes(_))
}

/// Three operands that are not one text and two integers meet as doubles in MariaDB, and what is wrong with a text is told of one.
#[cold]
fn name_as_between(of: [ValueRef<'_>; 3], before: u64, env: &StatementEnv) {
    const EXACT: &str = "Truncated incorrect DECIMAL value: ";
    let integers = |v: &&ValueRef<'_>| matches!(v, ValueRef::Int(_) | ValueRef::UInt(_));
    if of.iter().filter(integers).count() == 2 {
        return;
    }
    env.retell_since(before, &|code, text| {
        let value = (code == codes::TRUNCATED_WRONG_VALUE).then(|| text.strip_prefix(EXACT))??;
        Some(format!("Truncated incorrect DOUBLE value: {value}"))
    });
}

/// `value IN (list)`
pub(super) fn in_list<'a>(
    value: &'a Expr,
    list: &'a [Expr],
    collation: Collation,
    ctx: &EvalCtx<'a>,
    row: &'a dyn RowAccess,
) -> SqlResult<Option<bool>> {
    // A list of one is a comparison with `=`.
    let all = list.len() > 1;
    let digits = |e: &'a Expr| match all {
        true => e.eval_unrounded(ctx, row),
        false => e.eval_ref(ctx, row),
    };
    let v = digits(value)?;
    if v.is_null() {
        return Ok(None);
    }
    let mut found = Some(false);
    for e in list {
        let x = digits(e)?;
        let (l, r) = (v.as_ref(), x.as_ref());
        let order = || match all && is_text(l) {
            // A text is read anew for each row beside several of other kinds.
            true => naming([value, e], ctx.env, || {
                compare_one(l, r, collation, ctx.env)
            }),
            false => order_of([value, e], [l, r], collation, ctx.env),
        };
        // Texts of the list become numbers and dates once, before the statement is strict.
        let once = all && is_text(r) && !is_text(l) && matches!(e.kind, ExprKind::Literal(_));
        let order = match once {
            true => ctx.env.leniently(order),
            false => order(),
        };
        match order {
            Some(Ordering::Equal) => {
                found = Some(true);
                break;
            }
            Some(_) => {}
            None => found = None,
        }
    }
    ctx.env.check_stopped()?;
    Ok(found)
}

/// `text LIKE pattern`
pub(super) fn is_like<'a>(
    (text, pattern): (&'a Expr, &'a Expr),
    escape: Option<char>,
    collation: Collation,
    ctx: &EvalCtx<'a>,
    row: &'a dyn RowAccess,
) -> SqlResult<Option<bool>> {
    let v = text.eval_ref(ctx, row)?;
    let p = pattern.eval_ref(ctx, row)?;
    if v.is_null() || p.is_null() {
        return Ok(None);
    }
    let m = with_text(v.as_ref(), |t| {
        with_text(p.as_ref(), |p| like(t, p, escape, collation))
    });
    ctx.env.check_interrupt()?;
    Ok(Some(m))
}

/// The branch of a CASE for a row: `case` is its operand, its WHENs and the collation of their comparison.
pub(super) fn case_branch<'a>(
    (operand, whens, collation): (Option<&'a Expr>, &'a [(Expr, Expr)], Collation),
    otherwise: Option<&'a Expr>,
    ctx: &EvalCtx<'a>,
    row: &'a dyn RowAccess,
) -> SqlResult<Option<&'a Expr>> {
    let subject = match operand {
        Some(o) => Some((o, o.eval_unrounded(ctx, row)?)),
        None => None,
    };
    for (when, then) in whens {
        let w = when.eval_unrounded(ctx, row)?;
        let hit = match &subject {
            Some((of, s)) => {
                let order = || compare_one(s.as_ref(), w.as_ref(), collation, ctx.env);
                naming([of, when], ctx.env, order) == Some(Ordering::Equal)
            }
            None => truth(w.as_ref(), ctx.env) == Some(true),
        };
        ctx.env.check_stopped()?;
        if hit {
            return Ok(Some(then));
        }
    }
    Ok(otherwise)
}
