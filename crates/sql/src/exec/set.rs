//! Running SELECTs that are put together, and recursive tables of WITH.

use super::distinct::Distinct;
use super::order::push_key;
use super::row_list::RowList;
use super::set_spill::{SetRows, StepKeys};
use crate::env::StatementEnv;
use crate::exec::context::{RunCtx, Running, Working};
use crate::plan::made::encode_made;
use crate::plan::query::SelectPlan;
use crate::plan::query::{RecursivePlan, RecursiveTable, SetPlan};
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

/// Takes the rows of one recursive table, and knows which it has had.
struct Keeper<'p> {
    table: &'p RecursiveTable,
    seen: StepKeys,
    row_no: u64,
}

impl Keeper<'_> {
    /// Appends a row unless it is known. Its values get the types of the first rows' columns.
    fn keep(
        &mut self,
        values: &[ValueRef<'_>],
        out: &mut RowList,
        env: &StatementEnv,
    ) -> SqlResult<()> {
        self.row_no += 1;
        let stored = (values.iter().zip(&self.table.columns))
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
                let mut warn = WarnWith(|w| {
                    crate::expr::value::push_warning(env, w);
                });
                let mode = crate::plan::dml::store_mode(env, false, true);
                store(*v, &target, self.row_no, &mode, &mut warn)
            })
            .collect::<SqlResult<Vec<Value>>>()?;
        let refs: Vec<ValueRef<'_>> = stored.iter().map(Value::as_ref).collect();
        let mut image = Vec::new();
        encode_made(&self.table.table, &refs, &mut image)?;
        match &self.table.distinct {
            Some(columns) => {
                let key = key_of_columns(&self.table.table, &image, columns.iter().copied())?;
                self.seen.offer(&key, &image, out, env)
            }
            None => out.push(&image, env.table_room(), env),
        }
    }
}

/// All rows of two lists.
fn together(lists: [&RowList; 2], env: &StatementEnv) -> SqlResult<RowList> {
    let mut all = RowList::default();
    for list in lists {
        list.each(env, &mut |row| {
            all.push(row, env.table_room(), env).map(|()| true)
        })?;
    }
    all.finish()?;
    Ok(all)
}

#[cold]
fn too_many_steps(env: &StatementEnv) {
    env.warn(
        codes::QUERY_RESULT_INCOMPLETE,
        format!(
            "Query execution was interrupted. The query exceeded max_recursive_iterations = {}. The query result may be incomplete",
            max_steps(env)
        ),
    );
}

impl RecursivePlan {
    /// Runs it: the steps again and again, until they give no more rows.
    pub fn run(&self, txn: &mut Transaction, ctx: &RunCtx<'_>, f: &mut Take<'_>) -> SqlResult<()> {
        let mut keepers: Vec<Keeper<'_>> = (self.members.iter())
            .map(|table| Keeper {
                table,
                seen: StepKeys::default(),
                row_no: 0,
            })
            .collect();
        let mut rows = Vec::with_capacity(keepers.len());
        for k in &mut keepers {
            let mut first = RowList::default();
            let t = k.table;
            if let Some(anchors) = &t.anchors {
                anchors.run(&t.table, txn, ctx, &mut |values| {
                    k.keep(values, &mut first, ctx.env).map(|()| true)
                })?;
            }
            k.seen.finish_step(&mut first, ctx.env)?;
            rows.push(first);
        }
        let wanted = &self.members[self.wanted].table;
        let mut whole: Vec<RowList> = Vec::new();
        let mut left = max_steps(ctx.env);
        while rows.iter().any(|r| !r.is_empty()) {
            let mut more = true;
            rows[self.wanted].each(ctx.env, &mut |image| {
                more = take_image(wanted, image, f)?;
                Ok(more)
            })?;
            if !more {
                return Ok(());
            }
            if left == 0 {
                too_many_steps(ctx.env);
                break;
            }
            left -= 1;
            ctx.env.check_interrupt()?;
            if self.whole {
                let none = RowList::default();
                whole = (rows.iter().enumerate())
                    .map(|(i, r)| together([whole.get(i).unwrap_or(&none), r], ctx.env))
                    .collect::<SqlResult<_>>()?;
            }
            rows = self.step(
                &mut keepers,
                if self.whole { &whole } else { &rows },
                txn,
                ctx,
            )?;
        }
        Ok(())
    }

    /// The new rows that the steps of all tables make of these.
    fn step(
        &self,
        keepers: &mut [Keeper<'_>],
        rows: &[RowList],
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
    ) -> SqlResult<Vec<RowList>> {
        let ids = self.members.iter().map(|m| m.id);
        let tables: Vec<(usize, &RowList)> = ids.zip(rows).collect();
        let working = Working {
            tables: &tables,
            around: ctx.run.working,
        };
        let run = Running {
            working: Some(&working),
            ..*ctx.run
        };
        let ctx = &ctx.around(&run);
        let mut made = Vec::with_capacity(keepers.len());
        for k in keepers {
            let mut next = RowList::default();
            let t = k.table;
            for step in &t.steps {
                step.run(txn, ctx, &mut |values| k.keep(values, &mut next, ctx.env))?;
            }
            k.seen.finish_step(&mut next, ctx.env)?;
            made.push(next);
        }
        Ok(made)
    }
}
