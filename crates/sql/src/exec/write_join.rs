//! Running UPDATE and DELETE of joins. The join runs to its end, locking the rows to change; then each of them is
//! changed once, by the values of the first joined row that has it.

use super::dml::{Cell, Storer, ignorable, observe, patched, touch, update_row};
use super::rows::LockSpec;
use super::write::delete_row;
use crate::expr::{EvalCtx, ImageRow};
use crate::plan::dml::store_mode;
use crate::plan::write_join::{NewValue, Target, WriteJoinPlan};
use crate::prepared::{Outcome, row_memory};
use ahash::AHashSet;
use narwal_engine::Transaction;
use narwal_types::convert::StoreMode;
use narwal_types::{SqlError, SqlResult, Value, ValueRef};
use smallvec::SmallVec;

/// Rows of a target that the join found.
#[derive(Default)]
struct Found {
    seen: AHashSet<Vec<u8>>,
    /// Clustered key, and which joined row it came with.
    rows: Vec<(Vec<u8>, usize)>,
}

impl WriteJoinPlan {
    /// Runs it.
    pub fn run(&self, txn: &mut Transaction, ctx: &EvalCtx<'_>) -> SqlResult<Outcome> {
        let env = ctx.env;
        let mut found: Vec<Found> = self.targets.iter().map(|_| Found::default()).collect();
        let mut values: Vec<Vec<Value>> = Vec::new();
        let mut memory = 0u64;
        self.query.run(txn, ctx, &mut |row| {
            let (new, keys) = row.split_at(self.values);
            let at = values.len();
            let mut wanted = false;
            for (key, found) in keys.iter().zip(&mut found) {
                let ValueRef::Bytes(key) = key else { continue };
                if !found.seen.contains(*key) {
                    found.seen.insert(key.to_vec());
                    found.rows.push((key.to_vec(), at));
                    memory += 2 * key.len() as u64 + 112;
                    wanted = true;
                }
            }
            if wanted && !new.is_empty() {
                memory += row_memory(new);
                values.push(new.iter().map(ValueRef::to_value).collect());
            }
            if memory > env.max_memory {
                return Err(SqlError::new(
                    1038,
                    b"HY001",
                    "Out of memory for the rows of one statement",
                ));
            }
            Ok(())
        })?;
        env.check_refused()?;
        let mode = store_mode(env, self.ignore, true);
        let (mut matched, mut changed, mut skipped) = (0u64, 0u64, 0u64);
        for (target, found) in self.targets.iter().zip(found) {
            for (pk, at) in found.rows {
                matched += 1;
                if matched & 0xff == 0 {
                    env.check_interrupt()?;
                }
                let new = values.get(at).map_or(&[][..], Vec::as_slice);
                match self.one(txn, ctx, target, &mode, matched, &pk, new) {
                    Ok(c) => changed += u64::from(c),
                    Err(e) if self.ignore && ignorable(&e) => {
                        // As MariaDB, which does not tell of duplicates here.
                        if e.code != 1062 {
                            skipped += 1;
                            env.warn_error(&e);
                        }
                    }
                    Err(e) => return Err(e),
                }
            }
        }
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

    /// Changes one row; false if it stays as it is.
    #[allow(clippy::too_many_arguments)]
    fn one(
        &self,
        txn: &mut Transaction,
        ctx: &EvalCtx<'_>,
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
        let storer = Storer {
            table,
            ctx,
            mode: *mode,
            row_no,
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
        if new[..] == old[..] {
            return Ok(false);
        }
        let new = storer.finish(touch(table, &target.on_update, new, ctx.env)?)?;
        if let Some(c) = &target.check {
            c.test(table, &new, ctx)?;
        }
        if let Some(c) = table.auto_increment
            && target.sets.iter().any(|s| s.0 == c)
        {
            observe(txn, table, c, &new)?;
        }
        update_row(txn, table, pk, &old, new, ctx.env)?;
        Ok(true)
    }
}
