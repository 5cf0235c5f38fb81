//! Running SELECTs that are put together, and recursive tables of WITH.

use super::distinct::Distinct;
use super::order::push_key;
use super::row_list::RowList;
use super::set_spill::{SetRows, StepKeys};
use crate::env::StatementEnv;
use crate::exec::context::{RunCtx, Running, Working};
use crate::plan::made::encode_made;
use crate::plan::query::SelectPlan;
use crate::plan::query::{RecursivePlan, SetPlan};
use narwal_engine::{Table, Transaction};
use narwal_syntax::ast::SetKind;
use narwal_types::convert::{StoreTarget, WarnWith, fits, store};
use narwal_types::errors::codes;
use narwal_types::{SqlResult, Value, ValueRef};

/// What takes rows: false = enough.
pub(super) type Take<'f> = dyn FnMut(&[ValueRef<'_>]) -> SqlResult<bool> + 'f;

/// Key of a row image of a made-up table.
fn key_of(table: &Table, image: &[u8]) -> SqlResult<Vec<u8>> {
    key_of_columns(table, image, 0..table.columns().len())
}

/// The same, of some columns.
fn key_of_columns(
    table: &Table,
    image: &[u8],
    columns: impl Iterator<Item = usize>,
) -> SqlResult<Vec<u8>> {
    let mut key = Vec::new();
    for c in columns {
        let v = table.layout.column(image, c)?;
        push_key(v, table.columns()[c].ty.collation, &mut key);
    }
    Ok(key)
}

pub(super) fn take_image(table: &Table, image: &[u8], f: &mut Take<'_>) -> SqlResult<bool> {
    let values = (0..table.columns().len())
        .map(|c| table.layout.column(image, c))
        .collect::<SqlResult<Vec<_>>>()?;
    f(&values)
}

impl SetPlan {
    /// Runs the SELECTs. `table`: the types that their columns have together.
    pub fn run(
        &self,
        table: &Table,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        f: &mut Take<'_>,
    ) -> SqlResult<()> {
        if self.rest.iter().all(|(op, _)| op.kind == SetKind::Union) {
            return self.union(table, txn, ctx, f);
        }
        let read = |plan: &SelectPlan, txn: &mut Transaction, rows: &mut SetRows| {
            let mut image = Vec::new();
            plan.run(txn, ctx, &mut |values| {
                encode_made(table, values, &mut image)?;
                rows.push(&key_of(table, &image)?, &image, ctx.env)
            })
            .map(|_| ())
        };
        let mut all = SetRows::default();
        read(&self.first, txn, &mut all)?;
        for (op, plan) in &self.rest {
            let mut other = SetRows::default();
            match op.kind {
                SetKind::Union => read(plan, txn, &mut all)?,
                _ => read(plan, txn, &mut other)?,
            }
            if op.kind != SetKind::Union || !op.all {
                all = all.combine(other, *op, ctx.env)?;
            }
        }
        all.each(ctx.env, &mut |image| take_image(table, image, f))
    }

    fn union(
        &self,
        table: &Table,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        f: &mut Take<'_>,
    ) -> SqlResult<()> {
        // Rows that did not fit into memory.
        let finish = |seen: &mut Option<Distinct>, f: &mut Take<'_>| match seen.take() {
            Some(seen) => seen.finish(ctx.env, &mut |image| {
                take_image(table, image, f).map(|_| true)
            }),
            None => Ok(()),
        };
        // Of the first so many SELECTs together equal rows come once.
        let distinct = self
            .rest
            .iter()
            .rposition(|(op, _)| !op.all)
            .map_or(0, |at| at + 2);
        let mut seen = Some(Distinct::default());
        let mut image = Vec::new();
        for (i, part) in self.parts().enumerate() {
            if i >= distinct {
                finish(&mut seen, f)?;
                part.run(txn, ctx, &mut |values| f(values).map(|_| ()))?;
                continue;
            }
            part.run(txn, ctx, &mut |values| {
                encode_made(table, values, &mut image)?;
                let key = key_of(table, &image)?;
                let new = match &mut seen {
                    Some(seen) => seen.offer(&key, ctx.env, |row| row.extend_from_slice(&image))?,
                    None => true,
                };
                if new {
                    f(values)?;
                }
                Ok(())
            })?;
        }
        finish(&mut seen, f)
    }
}

/// `max_recursive_iterations`.
fn max_steps(env: &StatementEnv) -> u64 {
    match env
        .variables
        .system(crate::VariableScope::Session, "max_recursive_iterations")
    {
        Ok(Value::Int(n)) => u64::try_from(n).unwrap_or(0),
        Ok(Value::UInt(n)) => n,
        _ => 1000,
    }
}

impl RecursivePlan {
    /// Runs it: the steps again and again, until they give no more rows.
    pub fn run(
        &self,
        table: &Table,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        f: &mut Take<'_>,
    ) -> SqlResult<()> {
        let mut seen = StepKeys::default();
        let mut row_no = 0u64;
        let mode = crate::plan::dml::store_mode(ctx.env, false, true);
        let mut rows = RowList::default();
        let room = ctx.env.table_room();
        // Values get the types of the first rows' columns.
        let mut keep =
            |values: &[ValueRef<'_>], seen: &mut StepKeys, out: &mut RowList| -> SqlResult<()> {
                row_no += 1;
                let stored = values
                    .iter()
                    .zip(&self.columns)
                    .map(|(v, (name, t))| {
                        if t.null || fits(*v, &t.ty, true) {
                            return Ok(v.to_value());
                        }
                        let target = StoreTarget {
                            ty: &t.ty,
                            nullable: true,
                            db: "",
                            table: "",
                            column: name,
                        };
                        store(
                            *v,
                            &target,
                            row_no,
                            &mode,
                            &mut WarnWith(|w| {
                                crate::expr::value::push_warning(ctx.env, w);
                            }),
                        )
                    })
                    .collect::<SqlResult<Vec<Value>>>()?;
                let refs: Vec<ValueRef<'_>> = stored.iter().map(Value::as_ref).collect();
                let mut image = Vec::new();
                encode_made(table, &refs, &mut image)?;
                if let Some(columns) = &self.distinct {
                    let key = key_of_columns(table, &image, columns.iter().copied())?;
                    return seen.offer(&key, &image, out, ctx.env);
                }
                out.push(&image, room, ctx.env)
            };
        self.anchors.run(table, txn, ctx, &mut |values| {
            keep(values, &mut seen, &mut rows).map(|()| true)
        })?;
        let mut left = max_steps(ctx.env);
        seen.finish_step(&mut rows, ctx.env)?;
        while !rows.is_empty() {
            let mut more = true;
            rows.each(ctx.env, &mut |image| {
                more = take_image(table, image, f)?;
                Ok(more)
            })?;
            if !more {
                return Ok(());
            }
            if left == 0 {
                ctx.env.warn(
                    codes::QUERY_RESULT_INCOMPLETE,
                    format!(
                        "Query execution was interrupted. The query exceeded max_recursive_iterations = {}. The query result may be incomplete",
                        max_steps(ctx.env)
                    ),
                );
                break;
            }
            left -= 1;
            ctx.env.check_interrupt()?;
            let working = Working {
                id: self.id,
                rows: &rows,
                around: ctx.run.working,
            };
            let run = Running {
                working: Some(&working),
                ..*ctx.run
            };
            let ctx = &ctx.around(&run);
            let mut next = RowList::default();
            for step in &self.steps {
                step.run(txn, ctx, &mut |values| keep(values, &mut seen, &mut next))?;
            }
            seen.finish_step(&mut next, ctx.env)?;
            rows = next;
        }
        Ok(())
    }
}
