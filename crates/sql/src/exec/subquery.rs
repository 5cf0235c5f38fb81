//! Subqueries while the query around them runs, and the comparisons with what they give.
//!
//! Columns of outer queries that a subquery names are [`ExprKind::Outer`](crate::expr::ExprKind::Outer) inside of it:
//! positions in a list of expressions of the query around ([`SubqueryExpr::outer`]), whose values each run gets. One that
//! needs no row of the query around runs once, before the rows are read; others run for each row, and what they gave is
//! kept by the values that they got.

use super::context::{RunCtx, Running, SubqueryRun};
use crate::env::{StatementEnv, StoredFunction};
use crate::exec::order::push_key;
pub use crate::exec::subquery_rows::SubqueryRows;
use crate::exec::subquery_rows::SubqueryTaker;
use crate::expr::compare::compare;
use crate::expr::node::{CmpOp, EvalCtx, RowAccess, SubqueryValues};
use crate::expr::node::{SubqueryExpr, SubqueryUse};
use crate::plan::query::SubPlan;
use narwal_engine::Transaction;
use narwal_types::errors;
use narwal_types::{Collation, SqlError, SqlResult, Value};
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::rc::Rc;

/// Bytes of results that one subquery may keep.
const MAX_KEPT: usize = 16 << 20;

impl SubPlan {
    /// Runs it.
    pub fn run(
        &self,
        txn: &mut Transaction,
        outer: &[Value],
        ctx: &RunCtx<'_>,
    ) -> SqlResult<SubqueryRows> {
        let run = Running {
            subqueries: &[],
            runner: None,
            ..*ctx.run
        };
        let mut ctx = ctx.around(&run);
        ctx.eval.outer = outer;
        let mut rows = SubqueryTaker::new(self.used, &self.collations, self.by_key);
        self.plan
            .run(txn, &ctx, &mut |values| rows.push(values, ctx.env))?;
        rows.finish(ctx.env)
    }

    /// Runs those that need no row of the query around.
    pub fn run_all<'p>(
        plans: &'p [SubPlan],
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
    ) -> SqlResult<Vec<SubqueryRun<'p>>> {
        plans
            .iter()
            .map(|plan| {
                let once = if plan.each_row {
                    None
                } else {
                    let at = std::ptr::from_ref(plan) as usize;
                    let free = plan.outer.is_empty() && ctx.run.working.is_none();
                    let known = || {
                        let all = ctx.run.shared.borrow();
                        let found = all.iter().find(|(k, _)| *k == at);
                        found.map(|(_, rows)| rows.clone())
                    };
                    match free.then(known).flatten() {
                        Some(rows) => Some(rows),
                        None => {
                            let outer = plan
                                .outer
                                .iter()
                                .map(|e| e.eval(ctx, &crate::expr::node::NoRow))
                                .collect::<SqlResult<Vec<_>>>()?;
                            let rows = Rc::new(plan.run(txn, &outer, ctx)?);
                            if free {
                                ctx.run.shared.borrow_mut().push((at, rows.clone()));
                            }
                            Some(rows)
                        }
                    }
                };
                Ok(SubqueryRun {
                    plan,
                    once,
                    kept: RefCell::default(),
                    told: Cell::new(false),
                })
            })
            .collect()
    }
}

impl SubqueryRun<'_> {
    fn rows(
        &self,
        e: &SubqueryExpr,
        ctx: &RunCtx<'_>,
        row: &dyn RowAccess,
    ) -> SqlResult<Rc<SubqueryRows>> {
        if let Some(rows) = &self.once {
            return Ok(rows.clone());
        }
        let runner = ctx
            .run
            .runner
            .ok_or_else(|| SqlError::unsupported("subqueries that depend on the outer row here"))?;
        let mut outer = Vec::with_capacity(e.outer.len());
        let mut key = Vec::new();
        for o in &e.outer {
            let v = o.eval(ctx, row)?;
            // Values that are equal but not the same (by collation, or digits) may give different rows.
            push_key(v.as_ref(), Collation::Binary, &mut key);
            outer.push(v);
        }
        let keep = !self.plan.volatile;
        if keep && let Some(rows) = self.kept.borrow().0.get(&key) {
            return Ok(rows.clone());
        }
        let rows = Rc::new(runner.run(self.plan, &outer, ctx)?);
        if keep && let Some(values) = rows.values() {
            let mut kept = self.kept.borrow_mut();
            let size = key.len() + 128 + values.len() * 64;
            if kept.1 + size > MAX_KEPT {
                *kept = Default::default();
            }
            if size < MAX_KEPT / 4 {
                kept.1 += size;
                kept.0.insert(key, rows.clone());
            }
        }
        Ok(rows)
    }
}

/// A comparison of two rows: `None` for NULL.
fn compare_rows(
    op: CmpOp,
    left: &[Value],
    right: &[Value],
    collations: &[Collation],
    ctx: &RunCtx<'_>,
) -> Option<bool> {
    let pairs = left.iter().zip(right).zip(collations);
    match op {
        CmpOp::Eq | CmpOp::Ne | CmpOp::NullSafeEq => {
            let mut equal = Some(true);
            for ((l, r), c) in pairs {
                if op == CmpOp::NullSafeEq && (l.is_null() || r.is_null()) {
                    if l.is_null() != r.is_null() {
                        return Some(false);
                    }
                    continue;
                }
                match compare(l.as_ref(), r.as_ref(), *c, ctx.env) {
                    Some(Ordering::Equal) => {}
                    Some(_) => return Some(op == CmpOp::Ne),
                    None => equal = None,
                }
            }
            equal.map(|e| e != (op == CmpOp::Ne))
        }
        _ => {
            for ((l, r), c) in pairs {
                match compare(l.as_ref(), r.as_ref(), *c, ctx.env) {
                    Some(Ordering::Equal) => {}
                    Some(o) => return Some(crate::expr::compare::satisfied(op, o)),
                    None => return None,
                }
            }
            Some(matches!(op, CmpOp::Le | CmpOp::Ge))
        }
    }
}

/// Error 1242, which IGNORE makes NULL with a warning.
#[cold]
fn several_rows(run: &SubqueryRun<'_>, env: &StatementEnv) -> SqlResult<Value> {
    let error = errors::SUBQUERY_NO_1_ROW.plain();
    if !env.ignores.get() {
        return Err(error);
    }
    // Each run tells once.
    if run.once.is_none() || !run.told.replace(true) {
        env.warn_error(&error);
    }
    Ok(Value::Null)
}

impl SubqueryValues for Running<'_> {
    fn call(&self, f: &StoredFunction, args: Vec<Value>, env: &StatementEnv) -> SqlResult<Value> {
        match self.runner {
            Some(r) if f.statements => r.call(f, args, env),
            _ => env.call_function(f, args, None),
        }
    }

    fn rows_taken(&self) -> u64 {
        self.taken.map_or(0, Cell::get)
    }

    fn value(&self, e: &SubqueryExpr, ctx: &EvalCtx<'_>, row: &dyn RowAccess) -> SqlResult<Value> {
        let ctx = RunCtx {
            eval: *ctx,
            run: self,
        };
        subquery_value(e, &ctx, row)
    }

    fn known_values(&self, n: usize) -> Option<&[Value]> {
        self.subqueries.get(n)?.once.as_ref()?.values()
    }
}

/// The value for a row.
fn subquery_value(e: &SubqueryExpr, ctx: &RunCtx<'_>, row: &dyn RowAccess) -> SqlResult<Value> {
    let Some(run) = ctx.run.subqueries.get(e.index) else {
        return Err(SqlError::unsupported("subqueries in this place"));
    };
    let rows = run.rows(e, ctx, row)?;
    let plan = run.plan;
    let truth = |b: Option<bool>| b.map_or(Value::Null, |b| Value::Int(b as i64));
    let left = || {
        e.left
            .iter()
            .map(|l| l.eval(ctx, row))
            .collect::<SqlResult<Vec<_>>>()
    };
    let width = e.left.len().max(1);
    let each = |op: CmpOp, left: &[Value], stop: bool| -> SqlResult<Option<bool>> {
        let mut found = Some(!stop);
        let mut n = 0u32;
        rows.each(width, &mut |r| {
            n = n.wrapping_add(1);
            if n & 0xfff == 0 {
                ctx.env.check_interrupt()?;
            }
            match compare_rows(op, left, r, &plan.collations, ctx) {
                Some(b) if b == stop => {
                    found = Some(stop);
                    return Ok(false);
                }
                Some(_) => {}
                None => found = None,
            }
            Ok(true)
        })?;
        Ok(found)
    };
    let first = || rows.values().unwrap_or_default();
    Ok(match e.used {
        SubqueryUse::Exists => Value::Int(i64::from(!rows.is_empty())),
        SubqueryUse::Value => match rows.len() {
            0 => Value::Null,
            1 => first().first().cloned().unwrap_or_default(),
            _ => several_rows(run, ctx.env)?,
        },
        SubqueryUse::Field(n) => match rows.len() {
            0 => Value::Null,
            1 => first().get(n).cloned().unwrap_or_default(),
            _ => several_rows(run, ctx.env)?,
        },
        SubqueryUse::Row(op) => match rows.len() {
            0 if op == CmpOp::NullSafeEq => truth(Some(left()?.iter().all(Value::is_null))),
            0 => Value::Null,
            1 => truth(compare_rows(op, &left()?, first(), &plan.collations, ctx)),
            _ => several_rows(run, ctx.env)?,
        },
        SubqueryUse::Any(_) if rows.is_empty() => Value::Int(0),
        SubqueryUse::All(_) if rows.is_empty() => Value::Int(1),
        SubqueryUse::Any(op @ CmpOp::Eq) | SubqueryUse::All(op @ CmpOp::Ne) => {
            let any = op == CmpOp::Eq;
            let left = left()?;
            let null = left.iter().any(Value::is_null);
            let found = if plan.by_key && !null && (width == 1 || !rows.has_null()) {
                let mut key = Vec::new();
                for (v, c) in left.iter().zip(&plan.collations) {
                    push_key(v.as_ref(), *c, &mut key);
                }
                match rows.has_key(&key)? {
                    false if rows.has_null() => None,
                    f => Some(f),
                }
            } else if width == 1 && null {
                None
            } else {
                each(CmpOp::Eq, &left, true)?
            };
            truth(found.map(|f| f == any))
        }
        SubqueryUse::Any(op) => truth(each(op, &left()?, true)?),
        SubqueryUse::All(op) => truth(each(op, &left()?, false)?),
    })
}
