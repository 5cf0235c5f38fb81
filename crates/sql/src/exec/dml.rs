//! Running INSERT, REPLACE, UPDATE and DELETE.

use super::portion::Cuts;
use super::row_list::RowList;
use super::select::limit_of;
use super::storer::{Cell, Storer, duplicate, ignorable, keeps_null, number_value, patched, touch};
use super::value_bytes::{put_bytes, take_bytes};
use super::value_list::ValueList;
use super::write::{
    Taken, change_row, change_row_and, delete_row, delete_row_and, insert_row, replace_by_piece,
};
use crate::env::{RowEvent, StatementEnv};
use crate::exec::context::{RunCtx, Running};
use crate::exec::outcome::Outcome;
use crate::exec::returning::Returning;
use crate::expr::node::{ExprKind, ImageRow, NoRow, RowAccess};
use crate::plan::counts::Counts;
use crate::plan::dml::ReturningPlan;
use crate::plan::dml::{
    DefaultValue, DeletePlan, InsertPlan, PortionPlan, RowSource, StoreValue, UpdatePlan,
    store_mode,
};
use crate::plan::query::LockSpec;
use crate::plan::query::SelectPlan;
use crate::plan::query::SubPlan;
use crate::plan::view_check::check_limited;
use narwal_engine::{LockMode, LockWait, Row, Steps, Table, Transaction, auto_number};
use narwal_syntax::SqlMode;
use narwal_types::convert::{self, StoreMode, zero_value};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{RowLayout, SqlError, SqlResult, TypeKind, Value, ValueRef};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The row that INSERT is building: columns not reached yet have their defaults.
struct RowSoFar<'a> {
    cells: &'a [Option<Cell<'a>>],
    defaults: &'a [DefaultValue],
}

impl RowAccess for RowSoFar<'_> {
    fn column(&self, _source: usize, column: usize) -> SqlResult<ValueRef<'_>> {
        let cell = self.cells.get(column).and_then(Option::as_ref);
        Ok(match (cell, self.defaults.get(column)) {
            (Some(c), _) => c.as_ref(),
            (None, Some(DefaultValue::Const(v) | DefaultValue::Missing(v))) => v.as_ref(),
            (None, Some(DefaultValue::Generate)) => ValueRef::Int(0),
            _ => ValueRef::Null,
        })
    }
}

/// What an UPDATE has done so far.
#[derive(Default)]
struct Updated {
    found: u64,
    changed: u64,
    /// Rows that IGNORE left as they are.
    skipped: u64,
    /// Rows to be written when all are found.
    pending: RowList,
    /// FOR PORTION OF.
    cuts: Cuts,
}

impl UpdatePlan {
    /// Runs it.
    pub fn run(&self, txn: &mut Transaction, ctx: &RunCtx<'_>) -> SqlResult<Outcome> {
        let env = ctx.env;
        let mut tally = Updated::default();
        if !self.find(txn, ctx, &mut tally)? {
            return Ok(Outcome::Done {
                affected: 0,
                last_insert_id: 0,
                info: String::new(),
            });
        }
        let mut waiting = vec![(self, std::mem::take(&mut tally.pending))];
        for other in &self.behind {
            other.find(txn, ctx, &mut tally)?;
            waiting.push((other, std::mem::take(&mut tally.pending)));
        }
        for (plan, pending) in waiting {
            plan.write_pending(txn, ctx, pending, &mut tally)?;
        }
        let inserted = match self.portion {
            Some(_) => format!("Inserted: {}  ", tally.cuts.inserted.get()),
            None => String::new(),
        };
        let Updated {
            found,
            changed,
            skipped,
            ..
        } = tally;
        Ok(Outcome::Done {
            affected: if env.client_found_rows {
                found
            } else {
                changed
            },
            last_insert_id: 0,
            info: format!(
                "Rows matched: {found}  Changed: {changed}  {inserted}Warnings: {}",
                // MariaDB does not count the rows that IGNORE skipped.
                env.warning_count().saturating_sub(skipped)
            ),
        })
    }

    /// Finds the rows and changes them, or only makes the new ones where nothing may be written yet. False for LIMIT 0.
    fn find(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        tally: &mut Updated,
    ) -> SqlResult<bool> {
        let subqueries = SubPlan::run_all(&self.subqueries, txn, ctx)?;
        let taken = std::cell::Cell::new(tally.found);
        let run = Running {
            subqueries: &subqueries,
            taken: Some(&taken),
            ..*ctx.run
        };
        let ctx = &ctx.around(&run);
        let env = ctx.env;
        if self.unsafe_ && env.safe_updates {
            return Err(safe_updates());
        }
        if let Some(view) = &self.without_key {
            check_limited(view, "UPDATE", env)?;
        }
        let limit = match &self.limit {
            Some(l) => limit_of(l, ctx)?,
            None => u64::MAX,
        };
        if limit == 0 {
            return Ok(false);
        }
        if tally.found >= limit {
            return Ok(true);
        }
        let mode = store_mode(env, self.ignore, true);
        let mut record = Vec::new();
        let mut on_row = |txn: &mut Transaction, pk: &[u8], old: &Row| -> SqlResult<bool> {
            tally.found += 1;
            taken.set(tally.found);
            let done = self
                .image(txn, ctx, &mode, tally.found, old, &tally.cuts)
                .and_then(|new| match new {
                    Some(new) if self.reads_target => {
                        record.clear();
                        put_bytes(pk, &mut record);
                        put_bytes(old, &mut record);
                        record.extend_from_slice(&new);
                        tally.pending.push(&record, env.table_room(), env)?;
                        Ok(false)
                    }
                    Some(new) => self.write(txn, ctx, pk, old, new, &tally.cuts),
                    None => Ok(false),
                });
            match done {
                Ok(c) => tally.changed += u64::from(c),
                Err(e) if env.is_of_a_program() => return Err(e),
                Err(e) if self.ignore && e.code == codes::CONSTRAINT_FAILED => {
                    // As MariaDB, for which the row does not match then.
                    tally.found -= 1;
                    env.warn_error(&e);
                }
                Err(e) if self.ignore && ignorable(&e) => {
                    // MariaDB says nothing of foreign keys and duplicates here.
                    if !matches!(
                        e.code,
                        codes::ROW_IS_REFERENCED_2 | codes::NO_REFERENCED_ROW_2 | codes::DUP_ENTRY
                    ) {
                        tally.skipped += 1;
                        env.warn_error(&e);
                    }
                }
                Err(e) => return Err(e),
            }
            Ok(tally.found < limit)
        };
        // MariaDB is strict from when it has found the rows on, if it finds all before it changes one: a value in WHERE that is
        // cut is only told then.
        let finds_first = self.ordered || self.moves;
        let strict_rows = finds_first && env.strict_expressions.get();
        let mut on_row = |txn: &mut Transaction, pk: &[u8], old: &Row| match strict_rows {
            true => env.strictly(|| on_row(txn, pk, old)),
            false => on_row(txn, pk, old),
        };
        let mut find = || match self.order.is_empty() {
            true => (self.target).lock(txn, ctx, LockSpec::FOR_WRITE, self.moves, &mut on_row),
            false => {
                (self.target).lock_sorted(txn, ctx, LockSpec::FOR_WRITE, &self.order, &mut on_row)
            }
        };
        match strict_rows {
            true => env.leniently(find)?,
            false => find()?,
        }
        Ok(true)
    }

    /// Writes the rows that were made before the first was written.
    fn write_pending(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        mut pending: RowList,
        tally: &mut Updated,
    ) -> SqlResult<()> {
        let env = ctx.env;
        pending.finish()?;
        pending.each(env, &mut |mut record| {
            let (pk, old) = (take_bytes(&mut record)?, take_bytes(&mut record)?);
            let cuts = &tally.cuts;
            match self.write(txn, ctx, pk, &Row::from(old), record.to_vec(), cuts) {
                Ok(c) => tally.changed += u64::from(c),
                Err(e) if env.is_of_a_program() => return Err(e),
                // A statement that reads what it changes is run as one of a join: it counts duplicates as changed.
                Err(e) if self.ignore && e.code == codes::DUP_ENTRY => tally.changed += 1,
                Err(e) if self.ignore && ignorable(&e) => {
                    tally.skipped += 1;
                    env.warn_error(&e);
                }
                Err(e) => return Err(e),
            }
            Ok(true)
        })
    }

    /// The row after SET; `None` if it stays as it is.
    fn image(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        mode: &StoreMode,
        row_no: u64,
        old: &Row,
        cuts: &Cuts,
    ) -> SqlResult<Option<Vec<u8>>> {
        let table = &self.target.table;
        let layout = &table.layout;
        ctx.env.row_number.set(row_no);
        let triggered = ctx.env.triggers(table, true, RowEvent::Update).is_some();
        // SET sees the part that changes.
        let cut = match &self.portion {
            Some(p) => Some(cuts.cut(p, table, ctx, mode, old)?.inside),
            None => None,
        };
        let part = cut.as_deref().unwrap_or(old);
        let apply = |ctx: &RunCtx<'_>| {
            let storer = Storer {
                table,
                ctx,
                mode: *mode,
                row_no,
                triggered,
            };
            storer.apply(&self.sets, part, &|row, f| f(&ImageRow { layout, row }))
        };
        let new = if self.row_wise {
            ctx.with_txn(txn, apply)?
        } else {
            apply(ctx)?
        };
        let fires = triggered || ctx.env.triggers(table, false, RowEvent::Update).is_some();
        let same = new[..] == old[..];
        if same && !fires {
            return Ok(None);
        }
        let storer = Storer {
            table,
            ctx,
            mode: *mode,
            row_no,
            triggered,
        };
        let new = match same {
            true => new,
            false => touch(table, &self.on_update, new, ctx.env)?,
        };
        let new = storer.finish_row(txn, Some(old), new)?;
        if let Some(c) = &self.check {
            c.test(table, &new, ctx)?;
        }
        Ok(Some(new))
    }

    /// True if the row is another one now: triggers also run for one that is not.
    fn write(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        pk: &[u8],
        old: &Row,
        new: Vec<u8>,
        cuts: &Cuts,
    ) -> SqlResult<bool> {
        let table = &self.target.table;
        let differs = new[..] != old[..];
        if let Some(c) = table.auto_increment
            && self.sets.iter().any(|s| s.column == c)
        {
            // InnoDB does not raise the counter here, and a later INSERT then fails with 1062; we do raise it.
            observe(txn, table, c, &new, ctx.env)?;
        }
        // The image is only needed again to name a duplicate key, which only a table with a unique key can give.
        let image = needs_copy(table).then(|| new.clone());
        let taken = match &self.portion {
            Some(p) => self.write_part(txn, ctx, (pk, old), new, (p, cuts))?,
            None => change_row(txn, table, pk, old, new, ctx.env)?,
        };
        let Some(taken) = taken else {
            return Ok(differs);
        };
        txn.wait_reads_durable()?;
        if self.ignore && table.indexes[taken.index].without_overlaps {
            // As MariaDB, which says nothing of it.
            return Ok(false);
        }
        let image = image.unwrap_or_default();
        Err(duplicate(table, taken.index, &image, ctx.env))
    }

    /// Writes the part of a row that changes, then its other parts.
    fn write_part(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        (pk, old): (&[u8], &Row),
        new: Vec<u8>,
        (portion, cuts): (&PortionPlan, &Cuts),
    ) -> SqlResult<Option<Taken>> {
        let table = &self.target.table;
        let mode = store_mode(ctx.env, self.ignore, true);
        let mut cut = Some(cuts.cut(portion, table, ctx, &mode, old)?);
        let shown = new.clone();
        let mut pieces = |txn: &mut Transaction| match cut.take() {
            Some(cut) => match cuts.insert(portion, table, txn, ctx, cut, Some(&shown)) {
                // As MariaDB: the row changes, and its other parts are lost without a word.
                Err(e) if self.ignore && e.code == codes::AUTOINC_ERANGE => Ok(()),
                done => done,
            },
            None => Ok(()),
        };
        change_row_and(txn, table, pk, old, new, ctx.env, &mut pieces)
    }
}

pub(super) fn observe(
    txn: &mut Transaction,
    table: &Arc<Table>,
    column: usize,
    row: &[u8],
    env: &StatementEnv,
) -> SqlResult<()> {
    let number = auto_number(table.layout.column(row, column)?);
    txn.observe_auto_increment(table, number, env.auto_increment);
    Ok(())
}

pub(super) fn update_row(
    txn: &mut Transaction,
    table: &Arc<Table>,
    pk: &[u8],
    old: &Row,
    new: Vec<u8>,
    env: &StatementEnv,
) -> SqlResult<()> {
    // The image is only needed again to name a duplicate key, which only a table with a unique key can give.
    let copy = needs_copy(table).then(|| new.clone());
    match change_row(txn, table, pk, old, new, env)? {
        None => Ok(()),
        Some(taken) => {
            txn.wait_reads_durable()?;
            Err(duplicate(
                table,
                taken.index,
                copy.as_deref().unwrap_or_default(),
                env,
            ))
        }
    }
}

/// Puts a piece of a row into its place, as if the row had been deleted and the piece inserted.
fn replace_row(
    txn: &mut Transaction,
    table: &Arc<Table>,
    (pk, old): (&[u8], &Row),
    image: Vec<u8>,
    env: &StatementEnv,
) -> SqlResult<()> {
    match replace_by_piece(txn, table, (pk, old), image.clone(), env)? {
        None => Ok(()),
        Some(taken) => {
            txn.wait_reads_durable()?;
            Err(duplicate(table, taken.index, &image, env))
        }
    }
}

fn needs_copy(table: &Table) -> bool {
    table
        .indexes
        .iter()
        .any(|i| i.unique && !i.parts.is_empty())
}

fn last_unique(table: &Table) -> usize {
    table
        .indexes
        .iter()
        .rposition(|i| i.unique && !i.parts.is_empty())
        .unwrap_or(0)
}

/// Error 1175.
pub(super) fn safe_updates() -> SqlError {
    errors::UPDATE_WITHOUT_KEY_IN_SAFE_MODE.plain()
}

impl DeletePlan {
    /// Runs it.
    pub fn run(&self, txn: &mut Transaction, ctx: &RunCtx<'_>) -> SqlResult<Outcome> {
        let mut affected = 0u64;
        let mut returned = self.returning.as_ref().map(ReturningPlan::begin);
        let mut waiting = Vec::new();
        let cuts = Cuts::default();
        for plan in std::iter::once(self).chain(&self.behind) {
            waiting.push((
                plan,
                plan.find(txn, ctx, (&mut affected, &cuts), &mut returned)?,
            ));
        }
        for (plan, mut pending) in waiting {
            pending.finish()?;
            pending.each(ctx.env, &mut |mut record| {
                let pk = take_bytes(&mut record)?;
                plan.delete(txn, ctx, pk, &Row::from(record), &cuts)?;
                Ok(true)
            })?;
        }
        if let Some(rows) = returned {
            let rows = rows.finish()?;
            txn.wait_reads_durable()?;
            return Ok(Outcome::Returned {
                rows,
                last_insert_id: 0,
            });
        }
        Ok(Outcome::Done {
            affected,
            last_insert_id: 0,
            info: String::new(),
        })
    }

    /// Finds the rows and deletes them; gives back those that must wait until all are found.
    fn find<'p>(
        &'p self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        (affected, cuts): (&mut u64, &Cuts),
        returned: &mut Option<Returning<'p>>,
    ) -> SqlResult<RowList> {
        let subqueries = SubPlan::run_all(&self.subqueries, txn, ctx)?;
        let taken = std::cell::Cell::new(*affected);
        let run = Running {
            subqueries: &subqueries,
            taken: Some(&taken),
            ..*ctx.run
        };
        let ctx = &ctx.around(&run);
        if self.unsafe_ && ctx.env.safe_updates {
            return Err(safe_updates());
        }
        if let Some(view) = &self.without_key {
            check_limited(view, "DELETE", ctx.env)?;
        }
        let limit = match &self.limit {
            Some(l) => limit_of(l, ctx)?,
            None => u64::MAX,
        };
        let table = &self.target.table;
        let mut pending = RowList::default();
        let mut record = Vec::new();
        if limit > *affected {
            // As MariaDB: what subqueries look at is as it was before the row went.
            let before = (self.returning.as_ref()).is_some_and(ReturningPlan::has_subqueries);
            let mut on_row = |txn: &mut Transaction, pk: &[u8], old: &Row| -> SqlResult<bool> {
                if let Some(to) = returned.as_mut().filter(|_| before) {
                    to.add(txn, table, old, ctx)?;
                }
                if self.reads_target {
                    if let Some(p) = &self.portion {
                        // The points of time are found out while their subqueries have values.
                        cuts.cut(p, table, ctx, &store_mode(ctx.env, self.ignore, true), old)?;
                    }
                    record.clear();
                    put_bytes(pk, &mut record);
                    record.extend_from_slice(old);
                    pending.push(&record, ctx.env.table_room(), ctx.env)?;
                } else {
                    match self.delete(txn, ctx, pk, old, cuts) {
                        Err(e) if ctx.env.is_of_a_program() => return Err(e),
                        Err(e) if self.ignore && self.passes_over(&e) => {
                            ctx.env.warn_error(&e);
                            return Ok(true);
                        }
                        r => r?,
                    }
                }
                if let Some(to) = returned.as_mut().filter(|_| !before) {
                    to.add(txn, table, old, ctx)?;
                }
                *affected += 1;
                taken.set(*affected);
                Ok(*affected < limit)
            };
            if self.order.is_empty() || self.target.access.order_holds(&self.target.table, ctx)? {
                self.target
                    .lock(txn, ctx, LockSpec::FOR_WRITE, false, &mut on_row)?;
            } else {
                self.target
                    .lock_sorted(txn, ctx, LockSpec::FOR_WRITE, &self.order, &mut on_row)?;
            }
        }
        Ok(pending)
    }
}

impl DeletePlan {
    /// Errors that IGNORE turns into warnings: those of rows that refer to the row, and those of its pieces.
    fn passes_over(&self, e: &SqlError) -> bool {
        let of_piece = ignorable(e) || e.code == codes::AUTOINC_ERANGE;
        e.code == codes::ROW_IS_REFERENCED_2 || (self.portion.is_some() && of_piece)
    }

    /// Deletes a row, or the part of it that is in the portion.
    fn delete(
        &self,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        pk: &[u8],
        old: &Row,
        cuts: &Cuts,
    ) -> SqlResult<()> {
        let table = &self.target.table;
        let Some(portion) = &self.portion else {
            return delete_row(txn, table, pk, old, ctx.env);
        };
        let mode = store_mode(ctx.env, self.ignore, true);
        ctx.env.row_number.set(cuts.next_row());
        let mut cut = Some(cuts.cut(portion, table, ctx, &mode, old)?);
        let mut replaced = |txn: &mut Transaction| -> SqlResult<()> {
            let Some(mut cut) = cut.take() else {
                return Ok(());
            };
            match cut.replacement(portion, table, txn, ctx)? {
                Some(image) => {
                    cuts.inserted.set(cuts.inserted.get() + 1);
                    replace_row(txn, table, (pk, old), image, ctx.env)?;
                }
                None => txn.delete(table, pk, old)?,
            }
            cuts.insert(portion, table, txn, ctx, cut, None)
        };
        delete_row_and(txn, table, old, ctx.env, &mut replaced)
    }
}

/// The row in the table and the row that INSERT wanted, for ON DUPLICATE KEY UPDATE.
struct DuplicateRow<'a> {
    layout: &'a RowLayout,
    /// How many columns the table has.
    columns: usize,
    row: &'a [u8],
    wanted: &'a [u8],
    /// What the SELECT has read besides; numbered behind the table's columns.
    selected: &'a [Value],
}

impl RowAccess for DuplicateRow<'_> {
    fn column(&self, _source: usize, column: usize) -> SqlResult<ValueRef<'_>> {
        self.layout.column(self.row, column)
    }
    fn insert_value(&self, column: usize) -> SqlResult<ValueRef<'_>> {
        match column.checked_sub(self.columns) {
            Some(n) => Ok(self.selected.get(n).map_or(ValueRef::Null, Value::as_ref)),
            None => self.layout.column(self.wanted, column),
        }
    }
}

/// AUTO_INCREMENT values reserved for a statement.
#[derive(Default)]
struct Reserved {
    next: u64,
    left: u64,
    /// The row that the first values were reserved for; 0 if none were.
    since: u64,
    /// How far the one behind `next` is.
    step: u64,
    /// Of rows whose number is not known before: values of the block that comes next, 0 for the first.
    block: u64,
    /// `insert_id` began these, so the table's counter does not know of them.
    forced: bool,
    /// The row at hand came with this value; 0 if it did not.
    given: u64,
    /// Drawn for the row at hand; 0 if none was.
    drawn: u64,
    /// What `next` and `left` were before the row at hand came with its value.
    passed: Option<(u64, u64)>,
    /// First value generated by the statement for a row that was inserted.
    first: u64,
    /// The row at hand has been found to keep the constraints, before its value was drawn.
    checked: bool,
}

impl Reserved {
    /// The row at hand was inserted.
    fn used(&mut self) {
        if self.first == 0 {
            self.first = self.drawn;
        }
    }

    /// A row comes with this value: the next ones that are drawn lie behind it, as long as there are reserved ones.
    fn pass(&mut self, given: u64, steps: Steps) {
        if self.left == 0 || self.forced || given < self.next {
            return;
        }
        let end = self
            .next
            .saturating_add(self.left.saturating_mul(self.step));
        self.passed = Some((self.next, self.left));
        self.next = steps.first_from(given.saturating_add(1));
        self.left = end.saturating_sub(self.next) / self.step.max(1);
    }

    /// The row at hand was there already: the next one gets its value, or goes on as if it had not come.
    fn give_back(&mut self) {
        if let Some((next, left)) = self.passed.take() {
            (self.next, self.left) = (next, left);
        }
        if self.drawn != 0 && self.next == self.drawn.saturating_add(self.step) {
            self.next = self.drawn;
            self.left += 1;
        }
    }
}

/// A value was given for a column, not DEFAULT.
fn is_given(given: &Option<usize>, exprs: Option<&[StoreValue]>) -> bool {
    match (given, exprs) {
        (Some(i), Some(row)) => !matches!(row.get(*i), Some(StoreValue::Default(_))),
        (Some(_), None) => true,
        (None, _) => false,
    }
}

struct Inserter<'p> {
    plan: &'p InsertPlan,
    ctx: &'p RunCtx<'p>,
    mode: StoreMode,
    reserved: Reserved,
    rows_left: u64,
    row_no: u64,
    affected: u64,
    duplicates: u64,
    /// Rows that a CHECK constraint refused and IGNORE passed over.
    refused: u64,
    /// There may be more than one row.
    several: bool,
    /// Value of the last row's AUTO_INCREMENT column, if it was given, or was there already.
    last_explicit: u64,
    /// A row was inserted or changed.
    changed: bool,
    /// It is known how many rows come.
    counted: bool,
    /// The table has BEFORE INSERT triggers.
    triggered: bool,
    /// So many of the first values of a row are what their columns store already.
    stored: usize,
    /// The last columns of the row at hand, which ON DUPLICATE KEY UPDATE alone looks at.
    selected: Vec<Value>,
    returned: Option<Returning<'p>>,
}

impl InsertPlan {
    fn inserter<'p>(&'p self, ctx: &'p RunCtx<'p>, several: bool) -> Inserter<'p> {
        Inserter {
            plan: self,
            ctx,
            mode: store_mode(ctx.env, self.ignore, several),
            reserved: Reserved::default(),
            rows_left: 0,
            row_no: 0,
            affected: 0,
            duplicates: 0,
            refused: 0,
            several,
            last_explicit: 0,
            changed: false,
            counted: !matches!(self.source, RowSource::Select(_)),
            triggered: (ctx.env)
                .triggers(&self.table, true, RowEvent::Insert)
                .is_some(),
            stored: 0,
            selected: Vec::new(),
            returned: self.returning.as_ref().map(ReturningPlan::begin),
        }
    }

    /// Runs it.
    pub fn run(&self, txn: &mut Transaction, ctx: &RunCtx<'_>) -> SqlResult<Outcome> {
        let subqueries = SubPlan::run_all(&self.subqueries, txn, ctx)?;
        let taken = std::cell::Cell::new(0);
        let run = Running {
            subqueries: &subqueries,
            taken: Some(&taken),
            ..*ctx.run
        };
        let ctx = &ctx.around(&run);
        let env = ctx.env;
        let several = match &self.source {
            RowSource::Values(rows) => rows.len() > 1,
            RowSource::Literals(rows) => rows.len() > 1,
            RowSource::Select(_) => true,
        };
        for other in &self.numbered_with {
            txn.number_behind(&self.table, other);
        }
        let mut ins = self.inserter(ctx, several);
        // LIMIT ROWS EXAMINED has ended the SELECT: the rows before that stay.
        let mut cut = None;
        match &self.source {
            RowSource::Values(rows) => {
                ins.rows_left = rows.len() as u64;
                for row in rows {
                    ins.next(txn, Some(row), None)?;
                }
            }
            RowSource::Literals(rows) => {
                ins.rows_left = rows.len() as u64;
                crate::literal_rows::values(rows, |row| ins.next(txn, None, Some(row)))?;
            }
            RowSource::Select(s) => {
                match ins.select(txn, s) {
                    Err(e) if ctx.run.counts.is_some_and(|c| c.is_exceeded(&e)) => cut = Some(e),
                    done => done?,
                }
                if s.lock_spec(env.locking_reads).is_some() {
                    txn.wait_reads_durable()?;
                }
            }
        }
        let info = if several {
            format!(
                "Records: {}  Duplicates: {}  Warnings: {}",
                ins.row_no - ins.refused,
                ins.duplicates,
                env.warning_count()
            )
        } else {
            String::new()
        };
        if let Some(e) = cut {
            env.warn(e.code, e.message);
        }
        let last_insert_id = match self.number_unseen {
            true => 0,
            false => ins.reserved.first,
        };
        // What the client alone is told.
        if self.number_unseen && ins.reserved.first != 0 {
            env.explicit_insert_id.set(ins.reserved.first);
        } else if ins.changed && ins.reserved.first == 0 {
            env.explicit_insert_id.set(ins.last_explicit);
        }
        if let Some(rows) = ins.returned {
            let rows = rows.finish()?;
            txn.wait_reads_durable()?;
            return Ok(Outcome::Returned {
                rows,
                last_insert_id,
            });
        }
        Ok(Outcome::Done {
            affected: ins.affected,
            last_insert_id,
            info,
        })
    }
}

/// Rows that come one by one, as values of the plan's given columns: LOAD DATA.
pub struct LoadedRows<'p> {
    inserter: Inserter<'p>,
}

impl<'p> LoadedRows<'p> {
    /// `fields`: so many values of a row come from `stored`, `stored_null` and `missing`.
    pub fn new(plan: &'p InsertPlan, ctx: &'p RunCtx<'p>, fields: usize) -> Self {
        LoadedRows {
            inserter: Inserter {
                counted: false,
                stored: fields,
                ..plan.inserter(ctx, true)
            },
        }
    }

    /// The default of a column, as a value to give.
    pub fn default(&self, d: &DefaultValue) -> Value {
        match d {
            DefaultValue::Const(v) | DefaultValue::Missing(v) => v.clone(),
            _ => Value::Null,
        }
    }

    /// What a column gets for which the text has no field. As MariaDB: not the column's default, but its type's, or the time.
    /// `empty`: also of a column that may be NULL.
    pub fn missing(&self, column: usize, empty: bool) -> SqlResult<Value> {
        let plan = self.inserter.plan;
        let def = &plan.table.def.columns[column];
        if let (TypeKind::Timestamp(_), false) = (def.ty.kind, def.nullable) {
            return self.stored(column, Value::Null);
        }
        Ok(match &plan.defaults[column] {
            DefaultValue::Const(Value::Null) | DefaultValue::Generate if !empty => Value::Null,
            _ => zero_value(&def.ty),
        })
    }

    /// The next row's value of a column, as the column has it: the expressions that follow see it so.
    pub fn stored(&self, column: usize, v: Value) -> SqlResult<Value> {
        let ins = &self.inserter;
        let table = &ins.plan.table;
        if table.def.columns[column].generated.is_some() {
            return Ok(v);
        }
        let storer = Storer {
            table,
            ctx: ins.ctx,
            mode: ins.mode,
            row_no: ins.row_no + 1,
            triggered: ins.triggered,
        };
        Ok(storer.convert(column, Cell::Own(v))?.into_value())
    }

    /// As `stored`, of a field that is NULL. Error 1263.
    pub fn stored_null(&self, column: usize) -> SqlResult<Value> {
        let ins = &self.inserter;
        let table = &ins.plan.table;
        let def = &table.def.columns[column];
        let stays = def.nullable
            || def.generated.is_some()
            || ins.triggered
            || table.auto_increment == Some(column);
        if stays || matches!(def.ty.kind, TypeKind::Timestamp(_)) {
            return match stays {
                true => Ok(Value::Null),
                false => self.stored(column, Value::Null),
            };
        }
        let e = errors::WARN_NULL_TO_NOTNULL.with([&def.name, &(ins.row_no + 1)]);
        if ins.mode.strict {
            return Err(e);
        }
        ins.ctx.env.warn_error(&e);
        Ok(zero_value(&def.ty))
    }

    /// Inserts a row.
    pub fn add(&mut self, txn: &mut Transaction, values: &[Value]) -> SqlResult<()> {
        self.inserter.rows_left = 1;
        self.inserter.next(txn, None, Some(values))
    }

    /// What LOAD DATA answers.
    pub fn finish(self, replace: bool) -> Outcome {
        let ins = self.inserter;
        let (deleted, skipped) = if replace {
            (ins.duplicates, 0)
        } else {
            (0, ins.duplicates)
        };
        Outcome::Done {
            affected: ins.affected,
            last_insert_id: ins.reserved.first,
            info: format!(
                "Records: {}  Deleted: {deleted}  Skipped: {skipped}  Warnings: {}",
                ins.row_no,
                ins.ctx.env.warning_count()
            ),
        }
    }
}

/// AUTO_INCREMENT values of a block at most.
const MAX_BLOCK: u64 = 65_535;

/// INSERT ... SELECT reads so many rows, or bytes, and inserts them before it reads on.
const PORTION: (usize, u64) = (1000, 1 << 20);

impl<'p> Inserter<'p> {
    /// Inserts all rows of a SELECT.
    fn select(&mut self, txn: &mut Transaction, s: &SelectPlan) -> SqlResult<()> {
        self.selected_rows(txn, s)?;
        let found = if s.finds_rows() { self.row_no } else { 0 };
        self.ctx.env.selected_rows.set(Some(found));
        Ok(())
    }

    fn selected_rows(&mut self, txn: &mut Transaction, s: &SelectPlan) -> SqlResult<()> {
        let ctx = self.ctx;
        let target = self.plan.table.def.id;
        let mut insert = |txn: &mut Transaction, rows: Vec<Vec<Value>>| -> SqlResult<()> {
            self.rows_left = rows.len() as u64;
            for mut row in rows {
                self.encode(&mut row);
                self.next(txn, None, Some(&row))?;
                if let Some(counts) = ctx.run.counts {
                    counts.examines()?;
                }
            }
            Ok(())
        };
        // Rows that were read and not inserted would be lost at the limit.
        let portion = match ctx.run.counts.is_some_and(Counts::is_limit) {
            true => (1, PORTION.1),
            false => PORTION,
        };
        // A SELECT from the table itself must not meet the new rows.
        if s.table.as_ref().is_some_and(|t| t.table.def.id != target)
            && s.run_in_portions(txn, ctx, portion, &mut insert)?
        {
            return Ok(());
        }
        let mut rows = ValueList::default();
        s.run(txn, ctx, &mut |row| rows.push(row.iter().copied(), ctx.env))?;
        rows.finish()?;
        self.rows_left = rows.count();
        let mut values: Vec<Value> = Vec::new();
        rows.each(&mut |row| {
            values.clear();
            values.extend(row.iter().map(ValueRef::to_value));
            self.encode(&mut values);
            self.next(txn, None, Some(&values))?;
            Ok(true)
        })
    }

    /// Texts on their way into binary columns: the bytes of their character sets; and into columns of other sets.
    fn encode(&self, row: &mut [Value]) {
        for (at, (from, to)) in &self.plan.passed_on {
            if let Value::Str(s) = &row[*at]
                && let Some(other) = convert::passed_on(s, *from, *to)
            {
                row[*at] = other;
            }
        }
        for (at, set) in &self.plan.encoded {
            let v = &mut row[*at];
            let bytes = match v.as_ref() {
                ValueRef::Str(s) => set.encode(s).into_owned(),
                ValueRef::Member(m) => set.encode(m.text().as_bytes()).into_owned(),
                _ => continue,
            };
            *v = Value::bytes(bytes);
        }
    }

    /// The next row; errors of its values are warnings under IGNORE.
    fn next(
        &mut self,
        txn: &mut Transaction,
        exprs: Option<&'p [StoreValue]>,
        values: Option<&[Value]>,
    ) -> SqlResult<()> {
        self.row_no += 1;
        self.ctx.env.row_number.set(self.row_no);
        if let Some(taken) = self.ctx.run.taken {
            taken.set(self.row_no);
        }
        self.reserved.drawn = 0;
        self.reserved.passed = None;
        self.reserved.given = 0;
        self.reserved.checked = false;
        if let (1.., Some(row)) = (self.plan.selected, values) {
            let besides = row.len().saturating_sub(self.plan.selected);
            self.selected.clear();
            self.selected.extend_from_slice(&row[besides..]);
        }
        if self.row_no & 0xff == 0 {
            self.ctx.env.check_interrupt()?;
        }
        match self.row(txn, exprs, values) {
            Ok(()) => {}
            Err(e) if self.ctx.env.is_of_a_program() => return Err(e),
            // As MariaDB: IGNORE passes over it only where there are other rows, and then it is none of the statement's.
            Err(e) if self.plan.ignore && self.several && e.code == codes::CONSTRAINT_FAILED => {
                self.reserved.give_back();
                self.refused += 1;
                self.ctx.env.warn_error(&e);
            }
            Err(e) if self.plan.ignore && e.code != codes::CONSTRAINT_FAILED && ignorable(&e) => {
                self.reserved.give_back();
                self.duplicates += 1;
                self.ctx.env.warn_error(&e);
            }
            Err(e) => return Err(e),
        }
        self.rows_left -= 1;
        Ok(())
    }

    /// Builds and inserts one row.
    fn row(
        &mut self,
        txn: &mut Transaction,
        exprs: Option<&'p [StoreValue]>,
        values: Option<&[Value]>,
    ) -> SqlResult<()> {
        let plan = self.plan;
        let table = &plan.table;
        let storer = Storer {
            table,
            ctx: self.ctx,
            mode: self.mode,
            row_no: self.row_no,
            triggered: self.triggered,
        };
        let (mut auto_null, mut given_null) = (false, false);
        let mut cells: SmallVec<[Option<Cell<'_>>; 12]> = SmallVec::new();
        cells.resize_with(plan.given.len(), || None);
        for c in plan.order.iter().copied() {
            let auto = table.auto_increment == Some(c);
            let v = match (&plan.given[c], exprs, values) {
                (None, ..) => storer.left_out(c, &plan.defaults[c])?,
                (Some(i), Some(row), _) => {
                    let so_far = RowSoFar {
                        cells: &cells,
                        defaults: &plan.defaults,
                    };
                    self.given(&storer, (c, auto), &row[*i], &so_far, txn)?
                }
                (Some(i), None, Some(row)) if table.def.columns[c].generated.is_some() => {
                    storer.ignored(c, &row[*i].as_ref())?
                }
                (Some(i), None, Some(row)) if *i < self.stored => Cell::Ref(row[*i].as_ref()),
                (Some(i), None, Some(row)) => {
                    storer.convert_unless_drawn((c, auto), Cell::Ref(row[*i].as_ref()))?
                }
                (Some(_), None, None) => Cell::Ref(ValueRef::Null),
            };
            auto_null |= auto && v.as_ref().is_null();
            given_null |= auto && auto_null && is_given(&plan.given[c], exprs);
            // Until its number is drawn an AUTO_INCREMENT column is 0 to the expressions behind it.
            cells[c] = Some(if auto && auto_null {
                Cell::Ref(ValueRef::Int(0))
            } else {
                v
            });
        }
        if table.has_expressions {
            self.expression_defaults(&storer, exprs, &mut cells)?;
        }
        if self.triggered {
            let auto = table.auto_increment.map(|c| (c, auto_null, given_null));
            let image = self.triggered_row(txn, &storer, cells, auto)?;
            return self.checked(txn, image);
        }
        // Drawn when all other values are known to be good: a row that fails before uses no number up.
        if let Some(c) = table.auto_increment {
            let given = match cells[c].take() {
                Some(given) if !auto_null => given,
                _ => Cell::Ref(ValueRef::Null),
            };
            let number = {
                // The row without its number, which tells the group.
                let so_far = || {
                    let refs: SmallVec<[ValueRef<'_>; 12]> = (cells.iter().enumerate())
                        .map(|(i, v)| match v {
                            Some(v) => v.as_ref(),
                            None if i == c => ValueRef::Int(0),
                            None => ValueRef::Null,
                        })
                        .collect();
                    let mut image = Vec::with_capacity(RowLayout::room(&refs));
                    table.layout.encode(&refs, &mut image)?;
                    Ok(image)
                };
                // NULL that stays counts as a number of its own under this mode.
                match given_null && keeps_null(table, c) && self.no_auto_zero() {
                    true => Cell::Ref(ValueRef::Null),
                    false => self.auto_increment(txn, &storer, (c, given), &so_far)?,
                }
            };
            cells[c] = match auto_null && keeps_null(table, c) {
                true => Some(Cell::Ref(ValueRef::Null)),
                false => Some(number),
            };
        }
        let refs: SmallVec<[ValueRef<'_>; 12]> = (cells.iter())
            .map(|c| c.as_ref().map_or(ValueRef::Null, Cell::as_ref))
            .collect();
        let mut image = Vec::with_capacity(RowLayout::room(&refs));
        table.layout.encode(&refs, &mut image)?;
        drop(refs);
        drop(cells);
        let image = storer.complete(image, plan.unlisted, !self.reserved.checked)?;
        self.checked(txn, image)
    }

    /// Inserts a row that is complete, if the view that it comes through lets it.
    fn checked(&mut self, txn: &mut Transaction, image: Vec<u8>) -> SqlResult<()> {
        if let Some(c) = &self.plan.check {
            c.test(&self.plan.table, &image, self.ctx)?;
        }
        self.insert(txn, image)
    }

    /// The value that VALUES gives a column: its place, and whether it is the AUTO_INCREMENT one.
    fn given<'v>(
        &self,
        storer: &Storer<'v>,
        (c, auto): (usize, bool),
        value: &'v StoreValue,
        so_far: &RowSoFar<'_>,
        txn: &mut Transaction,
    ) -> SqlResult<Cell<'v>> {
        let e = match value {
            StoreValue::Default(d) => return storer.inserted_default(c, d),
            StoreValue::Ignored(e) => {
                return storer.ignored(c, &storer.eval(e, so_far)?.as_ref());
            }
            StoreValue::Expr(e) => e,
        };
        let v = match e.kind {
            ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::Slot(_) => {
                storer.eval(e, &NoRow)?
            }
            _ if self.plan.row_wise && e.runs_each_row() => {
                Cell::Own(self.ctx.with_txn(txn, |ctx| {
                    let v = e.eval_unrounded(ctx, so_far)?.into_value();
                    ctx.env.check_refused()?;
                    Ok(v)
                })?)
            }
            _ => Cell::Own(storer.eval(e, so_far)?.into_value()),
        };
        storer.convert_unless_drawn((c, auto), v)
    }

    /// Defaults that are expressions: they see the values that the row was given.
    fn expression_defaults<'v>(
        &self,
        storer: &Storer<'v>,
        exprs: Option<&[StoreValue]>,
        cells: &mut [Option<Cell<'v>>],
    ) -> SqlResult<()> {
        let plan = self.plan;
        for (c, g) in plan.given.iter().enumerate() {
            let d = match (g, exprs) {
                (None, _) => &plan.defaults[c],
                (Some(i), Some(row)) => match &row[*i] {
                    StoreValue::Default(d) => d,
                    _ => continue,
                },
                _ => continue,
            };
            if let DefaultValue::Expr(e) = d {
                let so_far = RowSoFar {
                    cells: &*cells,
                    defaults: &plan.defaults,
                };
                let v = storer.eval(e, &so_far)?;
                cells[c] = Some(Cell::Own(storer.convert(c, v)?.into_value()));
            }
        }
        Ok(())
    }

    /// Completes a row that BEFORE triggers see. Its number (`auto`: the column, whether it is to be drawn, whether NULL was
    /// given) is drawn after them: they see 0 or NULL, and may give one.
    fn triggered_row(
        &mut self,
        txn: &mut Transaction,
        storer: &Storer<'p>,
        mut cells: SmallVec<[Option<Cell<'_>>; 12]>,
        auto: Option<(usize, bool, bool)>,
    ) -> SqlResult<Vec<u8>> {
        let plan = self.plan;
        let layout = &plan.table.layout;
        if let Some((c, true, null)) = auto {
            cells[c] = Some(match null || keeps_null(&plan.table, c) {
                true => Cell::Ref(ValueRef::Null),
                false => storer.convert(c, Cell::Ref(ValueRef::Int(0)))?,
            });
        }
        let refs: SmallVec<[ValueRef<'_>; 12]> = (cells.iter())
            .map(|c| c.as_ref().map_or(ValueRef::Null, Cell::as_ref))
            .collect();
        let mut image = Vec::with_capacity(RowLayout::room(&refs));
        layout.encode(&refs, &mut image)?;
        let image = storer.before(txn, None, image, plan.unlisted)?;
        let missing = |c: usize| {
            let default = &plan.defaults[c];
            let unknown = plan.given[c].is_none() && matches!(default, DefaultValue::Missing(_));
            unknown.then_some(default)
        };
        let mut image = storer.settle(image, plan.table.auto_increment, missing)?;
        if let Some((c, draw, _)) = auto {
            let now = ImageRow {
                layout,
                row: &image,
            };
            let now = now.column(0, c)?.to_value();
            let unset = draw && matches!(now, Value::Int(0) | Value::UInt(0));
            let stays = now.is_null() && keeps_null(&plan.table, c);
            let given = if unset { Value::Null } else { now };
            let now = || Ok(image.clone());
            let number = self.auto_increment(txn, storer, (c, Cell::Own(given)), &now)?;
            let number = if stays {
                Cell::Ref(ValueRef::Null)
            } else {
                number
            };
            image = patched(layout, &image, &[(c, number)])?;
        }
        storer.complete(image, false, !self.reserved.checked)
    }

    /// Only NULL and DEFAULT draw numbers, not 0.
    fn no_auto_zero(&self) -> bool {
        self.ctx.env.sql_mode.has(SqlMode::NO_AUTO_VALUE_ON_ZERO)
    }

    /// Generates the value of a column, or notes the given one. `row`: the row at hand, with 0 for its number.
    fn auto_increment<'v>(
        &mut self,
        txn: &mut Transaction,
        storer: &Storer<'_>,
        (column, v): (usize, Cell<'v>),
        row: &dyn Fn() -> SqlResult<Vec<u8>>,
    ) -> SqlResult<Cell<'v>> {
        let table = &self.plan.table;
        let no_zero = self.no_auto_zero();
        let given = match v.as_ref() {
            ValueRef::Null => None,
            ValueRef::Int(0) | ValueRef::UInt(0) if !no_zero => None,
            ValueRef::Double(0.0) | ValueRef::Float(0.0) if !no_zero => None,
            v => Some(auto_number(v)),
        };
        if let Some(n) = given {
            self.reserved.given = n;
            self.last_explicit = match v.as_ref() {
                ValueRef::Int(i) => i as u64,
                ValueRef::UInt(u) => u,
                _ => n,
            };
            self.reserved.pass(n, self.ctx.env.auto_increment);
            return Ok(v);
        }
        if storer.has_checks()? {
            // A row that they refuse uses no number up, and they don't look at it (error 1901).
            storer.complete(row()?, self.plan.unlisted, true)?;
            self.reserved.checked = true;
        }
        if table.numbered_in.is_some() {
            self.reserve_in_group(txn, row)?;
        } else if self.reserved.left == 0 {
            self.reserve(txn);
        }
        let n = self.reserved.next;
        let number = number_value(table, column, n, self.row_no)?;
        self.reserved.next = match self.reserved.forced {
            true => self.ctx.env.auto_increment.first_from(n.saturating_add(1)),
            false => n.saturating_add(self.reserved.step),
        };
        self.reserved.left -= 1;
        self.reserved.drawn = n;
        if self.reserved.forced {
            self.reserved.given = n;
        }
        Ok(Cell::Own(number))
    }

    /// Takes values for the next rows: those that `insert_id` begins, or the table's.
    fn reserve(&mut self, txn: &mut Transaction) {
        let env = self.ctx.env;
        let steps = env.auto_increment;
        self.reserved.step = steps.step;
        let forced = match env.insert_id.load(Ordering::Relaxed) {
            0 => 0,
            _ => env.insert_id.swap(0, Ordering::Relaxed),
        };
        self.reserved.forced = forced != 0;
        if forced != 0 {
            self.reserved.next = forced;
            self.reserved.left = u64::MAX;
            return;
        }
        let n = match self.counted {
            // Other engines leave no numbers out.
            true if self.plan.table.def.declared.is_some() => self.rows_left.max(1),
            // As InnoDB: for all rows of the statement, whatever they come with; later for those behind the first that drew.
            true => match self.reserved.since {
                0 => self.rows_left + self.row_no - 1,
                since => self.rows_left + since - 1,
            },
            // As MariaDB: blocks that grow.
            false => {
                self.reserved.block = (self.reserved.block * 2).clamp(1, MAX_BLOCK);
                self.reserved.block
            }
        };
        self.reserved.next = txn.reserve_auto_increment(&self.plan.table, n, steps);
        self.reserved.left = n;
        if self.reserved.since == 0 {
            self.reserved.since = self.row_no;
        }
    }

    /// Takes the next value of the group that the row belongs to: `insert_id`'s for the first row.
    #[cold]
    fn reserve_in_group(
        &mut self,
        txn: &mut Transaction,
        row: &dyn Fn() -> SqlResult<Vec<u8>>,
    ) -> SqlResult<()> {
        let env = self.ctx.env;
        let steps = env.auto_increment;
        let forced = match env.insert_id.load(Ordering::Relaxed) {
            0 => 0,
            _ => env.insert_id.swap(0, Ordering::Relaxed),
        };
        self.reserved.step = steps.step;
        self.reserved.left = 1;
        self.reserved.next = forced;
        if forced == 0 {
            let row = row()?;
            let plan = self.plan;
            let mut largest = txn.largest_in_group(&plan.table, &row)?;
            for other in &plan.numbered_with {
                largest = largest.max(txn.largest_in_group(other, &row)?);
            }
            self.reserved.next = steps.first_from(largest.saturating_add(1));
        }
        Ok(())
    }

    fn insert(&mut self, txn: &mut Transaction, image: Vec<u8>) -> SqlResult<()> {
        let plan = self.plan;
        let table = &plan.table;
        let env = self.ctx.env;
        if !needs_copy(table) && self.returned.is_none() {
            insert_row(txn, table, image, env)?;
            self.inserted(txn);
            return Ok(());
        }
        // REPLACE may meet one row per unique index.
        for _ in 0..=table.indexes.len() {
            let Some(Taken { index, existing_pk }) = insert_row(txn, table, image.clone(), env)?
            else {
                self.inserted(txn);
                return self.give_back(txn, &image);
            };
            if !plan.replace && plan.on_duplicate.is_empty() {
                txn.wait_reads_durable()?;
                return Err(duplicate(table, index, &image, env));
            }
            self.duplicates += 1;
            let Some(old) =
                txn.lock_row(table, &existing_pk, LockMode::Exclusive, LockWait::Wait)?
            else {
                continue;
            };
            if !plan.replace {
                return self.update_duplicate(txn, &existing_pk, &old, &image);
            }
            let removes = |before| env.triggers(table, before, RowEvent::Delete).is_some();
            let changes = env.triggers(table, false, RowEvent::Update).is_some();
            let triggered = changes || removes(true) || removes(false);
            if index == last_unique(table) && !table.is_referenced() && !triggered {
                // As MariaDB, which updates a row that conflicts in the last unique key (a reader of
                // the log sees an update then); an equal row in its place is one affected row.
                self.give_back(txn, &image)?;
                self.inserted(txn);
                let differs = old[..] != image[..];
                replace_by_piece(txn, table, (&existing_pk, &old), image, env)?;
                if differs {
                    self.affected += 1;
                } else if table.def.declared.is_some() {
                    // Other engines do not look whether it is equal.
                    self.affected += 1;
                }
                return Ok(());
            }
            delete_row(txn, table, &existing_pk, &old, env)?;
            self.affected += 1;
        }
        Err(SqlError::unknown("a unique key changed while REPLACE ran"))
    }

    fn inserted(&mut self, txn: &mut Transaction) {
        self.affected += 1;
        self.changed = true;
        self.reserved.used();
        self.observe_given(txn);
    }

    /// Numbers go on behind the value that the row came with.
    fn observe_given(&mut self, txn: &mut Transaction) {
        let n = std::mem::take(&mut self.reserved.given);
        if n > 0 {
            txn.observe_auto_increment(&self.plan.table, n, self.ctx.env.auto_increment);
        }
    }

    /// The row for RETURNING.
    fn give_back(&mut self, txn: &mut Transaction, image: &[u8]) -> SqlResult<()> {
        match &mut self.returned {
            Some(to) => to.add(txn, &self.plan.table, image, self.ctx),
            None => Ok(()),
        }
    }

    fn update_duplicate(
        &mut self,
        txn: &mut Transaction,
        pk: &[u8],
        old: &Row,
        wanted: &[u8],
    ) -> SqlResult<()> {
        let plan = self.plan;
        let table = &plan.table;
        let env = self.ctx.env;
        let layout = &table.layout;
        let triggered = env.triggers(table, true, RowEvent::Update).is_some();
        let apply = |ctx: &RunCtx<'_>| {
            let storer = Storer {
                table,
                ctx,
                mode: self.mode,
                row_no: self.row_no,
                triggered,
            };
            storer.apply(&plan.on_duplicate, old, &|row, f| {
                f(&DuplicateRow {
                    layout,
                    columns: table.def.columns.len(),
                    row,
                    wanted,
                    selected: &self.selected,
                })
            })
        };
        let new = if plan.row_wise {
            self.ctx.with_txn(txn, apply)?
        } else {
            apply(self.ctx)?
        };
        self.reserved.give_back();
        if matches!(plan.source, RowSource::Select(_)) {
            self.observe_given(txn);
        }
        let fires = triggered || env.triggers(table, false, RowEvent::Update).is_some();
        let unchanged = new[..] == old[..];
        if unchanged && !fires {
            // As in MariaDB, a row that is left as it was is no duplicate in the statement's message.
            self.duplicates -= 1;
            self.note_existing(&new)?;
            self.affected += u64::from(env.client_found_rows);
            return self.give_back(txn, &new);
        }
        let storer = Storer {
            table,
            ctx: self.ctx,
            mode: self.mode,
            row_no: self.row_no,
            triggered,
        };
        let new = match unchanged {
            true => new,
            false => touch(table, &plan.on_update, new, env)?,
        };
        let new = storer.finish_row(txn, Some(old), new)?;
        if let Some(c) = &plan.check {
            c.test(table, &new, self.ctx)?;
        }
        if let Some(c) = table.auto_increment {
            observe(txn, table, c, &new, env)?;
        }
        self.note_existing(&new)?;
        self.give_back(txn, &new)?;
        // BEFORE triggers may have undone the change.
        let same = new[..] == old[..];
        update_row(txn, table, pk, old, new, env)?;
        self.changed |= !same;
        self.affected += if same {
            u64::from(env.client_found_rows)
        } else {
            2
        };
        Ok(())
    }

    /// A row that was there has this value in its AUTO_INCREMENT column, which the statement may report.
    fn note_existing(&mut self, row: &[u8]) -> SqlResult<()> {
        if let Some(c) = self.plan.table.auto_increment
            && !matches!(self.plan.source, RowSource::Select(_))
        {
            self.last_explicit = match self.plan.table.layout.column(row, c)? {
                ValueRef::Int(i) => i as u64,
                ValueRef::UInt(u) => u,
                _ => 0,
            };
        }
        Ok(())
    }
}
