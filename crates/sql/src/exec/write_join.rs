//! Running UPDATE and DELETE of joins. The join runs to its end, locking the rows to change; then each of them is
//! changed once, by the values of the first joined row that has it.

use super::distinct::Distinct;
use super::dml::{observe, safe_updates, update_row};
use super::row_list::RowList;
use super::storer::{Cell, Storer, ignorable, patched, touch};
use super::value_bytes::{ValueBytes, put_bytes, take_bytes};
use super::write::delete_row;
use crate::env::RowEvent;
use crate::exec::context::RunCtx;
use crate::exec::outcome::Outcome;
use crate::expr::node::ImageRow;
use crate::plan::dml::store_mode;
use crate::plan::dml::{NewValue, Target, WriteJoinPlan};
use crate::plan::query::{Leaf, LockSpec, Rows, TablePlan};
use narwal_engine::Table;
use narwal_engine::Transaction;
use narwal_types::convert::StoreMode;
use narwal_types::errors::codes;
use narwal_types::{SqlResult, Value, ValueRef};
use smallvec::SmallVec;

/// Rows of a target that the join found: clustered keys with the new values of the first joined row that has them.
#[derive(Default)]
struct Found {
    seen: Distinct,
    rows: RowList,
}

/// What the statement has done so far.
#[derive(Default)]
struct Tally {
    matched: u64,
    changed: u64,
    /// Rows that IGNORE left as they are.
    skipped: u64,
}

impl WriteJoinPlan {
    /// Runs it.
    pub fn run(&self, txn: &mut Transaction, ctx: &RunCtx<'_>) -> SqlResult<Outcome> {
        let env = ctx.env;
        if env.safe_updates && self.query.table.as_ref().is_some_and(TablePlan::reads_all) {
            return Err(safe_updates());
        }
        // Rows of a table are changed once, whichever tables behind a MERGE table they were joined with.
        let mut all: Vec<(&Self, usize, Found)> = Vec::new();
        // It knows of which lists the members are that it has written.
        let mut codec = ValueBytes::default();
        for plan in std::iter::once(self).chain(&self.behind) {
            let same = |(p, t, _): &&mut (&Self, usize, Found), n: usize| {
                *t == n && p.targets[n].table.def.id == plan.targets[n].table.def.id
            };
            let mut found: Vec<Found> = Vec::with_capacity(plan.targets.len());
            for n in 0..plan.targets.len() {
                let before = all.iter_mut().find(|a| same(a, n));
                found.push(before.map_or_else(Found::default, |a| std::mem::take(&mut a.2)));
            }
            plan.find(txn, ctx, &mut found, &mut codec)?;
            for (n, found) in found.into_iter().enumerate() {
                match all.iter_mut().find(|a| same(a, n)) {
                    Some(a) => a.2 = found,
                    None => all.push((plan, n, found)),
                }
            }
        }
        let mut tally = Tally::default();
        for (plan, target, found) in all {
            plan.write(txn, ctx, &plan.targets[target], found, &codec, &mut tally)?;
        }
        let Tally {
            matched,
            changed,
            skipped,
        } = tally;
        Ok(Outcome::Done {
            affected: if env.client_found_rows && !self.delete {
                matched
            } else {
                changed
            },
            last_insert_id: 0,
            info: if self.delete {
                String::new()
            } else {
                format!(
                    "Rows matched: {matched}  Changed: {changed}  Warnings: {}",
                    env.warning_count().saturating_sub(skipped)
                )
            },
        })
    }

    /// Runs the join.
    fn find(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        found: &mut [Found],
        codec: &mut ValueBytes,
    ) -> SqlResult<()> {
        let env = ctx.env;
        let mut record = Vec::new();
        self.query.run(txn, ctx, &mut |row| {
            let (new, keys) = row.split_at(self.values);
            for (key, found) in keys.iter().zip(&mut *found) {
                let ValueRef::Bytes(key) = key else { continue };
                let codec = &mut *codec;
                let mut put = |to: &mut Vec<u8>| {
                    put_bytes(key, to);
                    for v in new {
                        codec.put(*v, to);
                    }
                };
                if found.seen.offer(key, env, &mut put)? {
                    record.clear();
                    put(&mut record);
                    found.rows.push(&record, env.table_room(), env)?;
                }
            }
            Ok(())
        })?;
        env.check_refused()
    }

    /// Changes what the join found of a table.
    fn write(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        target: &Target,
        found: Found,
        codec: &ValueBytes,
        tally: &mut Tally,
    ) -> SqlResult<()> {
        let env = ctx.env;
        let mode = store_mode(env, self.ignore, true);
        let drives = self.is_driven_by(&target.table);
        let Found { seen, mut rows } = found;
        seen.finish(env, &mut |row| {
            rows.push(row, env.table_room(), env).map(|()| true)
        })?;
        rows.finish()?;
        let mut new: Vec<Value> = Vec::new();
        rows.each(env, &mut |mut row| {
            tally.matched += 1;
            let pk = take_bytes(&mut row)?;
            new.clear();
            while !row.is_empty() {
                new.push(codec.take(&mut row)?.to_value());
            }
            match self.one(txn, ctx, target, &mode, tally.matched, pk, &new) {
                Ok(c) => tally.changed += u64::from(c),
                Err(e) if env.is_of_a_program() => return Err(e),
                Err(e) if self.ignore && ignorable(&e) => {
                    // As MariaDB, which does not tell of duplicates here, and counts those as changed that it finds when
                    // the join was read.
                    if e.code == codes::DUP_ENTRY {
                        tally.changed += u64::from(!self.delete && !drives);
                    } else {
                        tally.skipped += 1;
                        env.warn_error(&e);
                    }
                }
                Err(e) => return Err(e),
            }
            Ok(true)
        })?;
        Ok(())
    }

    /// True if the join is written with the table in front, and it is there once: MariaDB mostly changes its rows while it
    /// reads them.
    fn is_driven_by(&self, table: &Table) -> bool {
        let Some(TablePlan {
            rows: Rows::Join(join),
            ..
        }) = &self.query.table
        else {
            return true;
        };
        let is_it = |l: &&Leaf| l.plan.table.def.id == table.def.id;
        join.leaves.iter().filter(is_it).count() == 1
            && join.leaves.first().is_some_and(|l| is_it(&l))
    }

    /// Changes one row; false if it stays as it is.
    #[allow(clippy::too_many_arguments)]
    fn one(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        target: &Target,
        mode: &StoreMode,
        row_no: u64,
        pk: &[u8],
        values: &[Value],
    ) -> SqlResult<bool> {
        let table = &target.table;
        let spec = LockSpec::FOR_WRITE;
        let Some(old) = txn.lock_row(table, pk, spec.mode, spec.wait)? else {
            // Under another name it was deleted already.
            return Ok(false);
        };
        if self.delete {
            delete_row(txn, table, pk, &old, ctx.env)?;
            return Ok(true);
        }
        let before = ctx.env.triggers(table, true, RowEvent::Update).is_some();
        let storer = Storer {
            table,
            ctx,
            mode: *mode,
            row_no,
            triggered: before,
        };
        let mut changes: SmallVec<[(usize, Cell<'_>); 4]> = SmallVec::new();
        for (column, value) in &target.sets {
            let cell = match value {
                NewValue::Given(i) if table.def.columns[*column].generated.is_some() => {
                    storer.ignored(*column, &values[*i].as_ref())?;
                    continue;
                }
                NewValue::Default(d) => {
                    let row = ImageRow {
                        layout: &table.layout,
                        row: &old,
                    };
                    storer.default_in(*column, d, &row)?
                }
                NewValue::Given(i) => storer.convert(*column, Cell::Ref(values[*i].as_ref()))?,
            };
            match changes.iter_mut().find(|(c, _)| c == column) {
                Some(x) => x.1 = cell,
                None => changes.push((*column, cell)),
            }
        }
        let new = patched(&table.layout, &old, &changes)?;
        let triggered = before || ctx.env.triggers(table, false, RowEvent::Update).is_some();
        let same = new[..] == old[..];
        if same && !triggered {
            return Ok(false);
        }
        let new = match same {
            true => new,
            false => touch(table, &target.on_update, new, ctx.env)?,
        };
        let new = storer.finish_row(txn, Some(&old), new)?;
        if let Some(c) = &target.check {
            c.test(table, &new, ctx)?;
            c.test_joined(values)?;
        }
        if let Some(c) = table.auto_increment
            && target.sets.iter().any(|s| s.0 == c)
        {
            observe(txn, table, c, &new, ctx.env)?;
        }
        let differs = new[..] != old[..];
        update_row(txn, table, pk, &old, new, ctx.env)?;
        Ok(differs)
    }
}
