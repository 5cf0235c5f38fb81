//! Running SELECTs that are put together, and recursive tables of WITH.

use super::join::encode_made;
use super::order::push_key;
use crate::ast::{SetKind, SetOp};
use crate::env::StatementEnv;
use crate::expr::{EvalCtx, ExprType};
use crate::plan::select::SelectPlan;
use ahash::{AHashMap, AHashSet};
use narwal_engine::{Table, Transaction};
use narwal_types::convert::{StoreTarget, WarnWith, fits, store};
use narwal_types::{SqlError, SqlResult, Value, ValueRef};

/// SELECTs put together.
pub struct SetPlan {
    /// The first.
    pub first: SelectPlan,
    /// The others, from left to right.
    pub rest: Vec<(SetOp, SelectPlan)>,
}

/// A table of WITH RECURSIVE.
pub struct RecursivePlan {
    /// What its steps know it by.
    pub id: usize,
    /// Rows to begin with.
    pub anchors: SetPlan,
    /// Each makes rows of those of the step before.
    pub steps: Vec<SelectPlan>,
    /// Equal rows count once.
    pub distinct: bool,
    /// Names and types of its columns.
    pub columns: Vec<(String, ExprType)>,
}

/// The rows that the steps of a recursive table see.
pub struct Working<'a> {
    id: usize,
    rows: &'a [Vec<u8>],
    /// Those of the tables around.
    around: Option<&'a Working<'a>>,
}

impl<'a> Working<'a> {
    /// The rows of a table.
    pub fn rows(&self, id: usize) -> &'a [Vec<u8>] {
        if self.id == id {
            return self.rows;
        }
        self.around.map_or(&[], |w| w.rows(id))
    }
}

/// What takes rows: false = enough.
type Take<'f> = dyn FnMut(&[ValueRef<'_>]) -> SqlResult<bool> + 'f;

fn out_of_memory() -> SqlError {
    SqlError::new(
        1038,
        b"HY001",
        "Out of memory for the rows of SELECTs put together",
    )
}

/// Key of a row image of a made-up table.
fn key_of(table: &Table, image: &[u8]) -> SqlResult<Vec<u8>> {
    let mut key = Vec::new();
    for (c, column) in table.columns().iter().enumerate() {
        let v = table.layout.column(image, c)?;
        push_key(v, column.ty.collation, &mut key);
    }
    Ok(key)
}

fn take_image(table: &Table, image: &[u8], f: &mut Take<'_>) -> SqlResult<bool> {
    let values = (0..table.columns().len())
        .map(|c| table.layout.column(image, c))
        .collect::<SqlResult<Vec<_>>>()?;
    f(&values)
}

impl SetPlan {
    /// The SELECTs, from left to right.
    pub fn parts(&self) -> impl Iterator<Item = &SelectPlan> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|(_, p)| p))
    }

    /// Runs the SELECTs. `table`: the types that their columns have together.
    pub fn run(
        &self,
        table: &Table,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        f: &mut Take<'_>,
    ) -> SqlResult<()> {
        if self.rest.iter().all(|(op, _)| op.kind == SetKind::Union) {
            return self.union(table, txn, ctx, f);
        }
        let mut used = 0u64;
        let mut all = Vec::new();
        let mut read = |plan: &SelectPlan, txn: &mut Transaction| -> SqlResult<Vec<_>> {
            let mut rows: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            let mut image = Vec::new();
            plan.run(txn, ctx, &mut |values| {
                encode_made(table, values, &mut image)?;
                let key = key_of(table, &image)?;
                used += (key.len() + image.len() + 96) as u64;
                if used > ctx.env.max_memory {
                    return Err(out_of_memory());
                }
                rows.push((key, image.clone()));
                Ok(())
            })?;
            Ok(rows)
        };
        all.append(&mut read(&self.first, txn)?);
        for (op, plan) in &self.rest {
            let other = read(plan, txn)?;
            match op.kind {
                SetKind::Union => all.extend(other),
                kind => {
                    let mut count: AHashMap<Vec<u8>, u64> = AHashMap::new();
                    for (key, _) in other {
                        *count.entry(key).or_default() += 1;
                    }
                    let stays = kind == SetKind::Intersect;
                    all.retain(|(key, _)| match count.get_mut(key) {
                        Some(n) if op.all => {
                            let found = *n > 0;
                            *n = n.saturating_sub(1);
                            found == stays
                        }
                        Some(_) => stays,
                        None => !stays,
                    });
                }
            }
            if !op.all {
                let mut seen = AHashSet::new();
                all.retain(|(key, _)| seen.insert(key.clone()));
            }
        }
        for (_, image) in &all {
            if !take_image(table, image, f)? {
                break;
            }
        }
        Ok(())
    }

    fn union(
        &self,
        table: &Table,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        f: &mut Take<'_>,
    ) -> SqlResult<()> {
        // Of the first so many SELECTs together equal rows come once.
        let distinct = self
            .rest
            .iter()
            .rposition(|(op, _)| !op.all)
            .map_or(0, |at| at + 2);
        let mut seen = AHashSet::new();
        let mut used = 0u64;
        let mut image = Vec::new();
        for (i, part) in self.parts().enumerate() {
            part.run(txn, ctx, &mut |values| {
                if i >= distinct {
                    return f(values).map(|_| ());
                }
                encode_made(table, values, &mut image)?;
                let key = key_of(table, &image)?;
                used += key.len() as u64 + 48;
                if used > ctx.env.max_memory {
                    return Err(out_of_memory());
                }
                if seen.insert(key) {
                    f(values)?;
                }
                Ok(())
            })?;
        }
        Ok(())
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
    /// The SELECTs of which it is made.
    pub fn parts(&self) -> impl Iterator<Item = &SelectPlan> {
        self.anchors.parts().chain(&self.steps)
    }

    /// Runs it: the steps again and again, until they give no more rows.
    pub fn run(
        &self,
        table: &Table,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
        f: &mut Take<'_>,
    ) -> SqlResult<()> {
        let mut seen = AHashSet::new();
        let mut used = 0u64;
        let mut row_no = 0u64;
        let mode = crate::plan::dml::store_mode(ctx.env, false, true);
        let mut rows: Vec<Vec<u8>> = Vec::new();
        // Values get the types of the first rows' columns.
        let mut keep = |values: &[ValueRef<'_>], out: &mut Vec<Vec<u8>>| -> SqlResult<()> {
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
                            crate::expr::push_warning(ctx.env, w);
                        }),
                    )
                })
                .collect::<SqlResult<Vec<Value>>>()?;
            let refs: Vec<ValueRef<'_>> = stored.iter().map(Value::as_ref).collect();
            let mut image = Vec::new();
            encode_made(table, &refs, &mut image)?;
            if self.distinct && !seen.insert(key_of(table, &image)?) {
                return Ok(());
            }
            used += image.len() as u64 * if self.distinct { 2 } else { 1 } + 64;
            if used > ctx.env.max_memory {
                return Err(out_of_memory());
            }
            out.push(image);
            Ok(())
        };
        self.anchors.run(table, txn, ctx, &mut |values| {
            keep(values, &mut rows).map(|()| true)
        })?;
        let mut left = max_steps(ctx.env);
        while !rows.is_empty() {
            for image in &rows {
                if !take_image(table, image, f)? {
                    return Ok(());
                }
            }
            if left == 0 {
                ctx.env.warn(
                    1931,
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
                around: ctx.working,
            };
            let ctx = &EvalCtx {
                working: Some(&working),
                ..*ctx
            };
            let mut next = Vec::new();
            for step in &self.steps {
                step.run(txn, ctx, &mut |values| keep(values, &mut next))?;
            }
            rows = next;
        }
        Ok(())
    }
}
