//! FOR PORTION OF: a row is cut where the portion begins and ends, and its pieces outside stay as rows of their own.

use super::storer::{Cell, Storer, duplicate, number_value, patched};
use super::write::insert_row;
use crate::env::{RowEvent, StatementEnv};
use crate::exec::context::RunCtx;
use crate::expr::node::NoRow;
use crate::plan::dml::PortionPlan;
use narwal_engine::{Table, Transaction};
use narwal_types::convert::StoreMode;
use narwal_types::errors;
use narwal_types::key::{KeyPart, encode_value};
use narwal_types::{SqlError, SqlResult, Value};
use smallvec::SmallVec;
use std::cell::{Cell as Counter, OnceCell};
use std::sync::Arc;

/// One run's cuts.
#[derive(Default)]
pub(super) struct Cuts {
    /// From where to where, as the period's columns hold it. Known with the first row.
    points: OnceCell<(Value, Value)>,
    /// Rows that were deleted.
    rows: Counter<u64>,
    /// Pieces that were inserted.
    pub(super) inserted: Counter<u64>,
}

/// A row and what is cut from it.
pub(super) struct Cut {
    /// The part within the portion.
    pub(super) inside: Vec<u8>,
    /// The parts before and behind it.
    pieces: SmallVec<[Vec<u8>; 2]>,
}

/// The error that MariaDB has for a point of time which the period's columns can't hold as it is.
fn not_exact() -> SqlError {
    errors::GET_ERRNO.text("Got error 3 \"No such process\" from storage engine InnoDB")
}

impl Cuts {
    /// The points of time in the domain of the period's columns.
    fn points(
        &self,
        plan: &PortionPlan,
        table: &Arc<Table>,
        ctx: &RunCtx<'_>,
        mode: &StoreMode,
    ) -> SqlResult<&(Value, Value)> {
        if let Some(p) = self.points.get() {
            return Ok(p);
        }
        let storer = Storer {
            table,
            ctx,
            mode: *mode,
            row_no: 1,
            triggered: false,
        };
        let before = ctx.env.warning_count();
        let point = |e, column| -> SqlResult<Value> {
            let v = storer.eval(e, &NoRow)?;
            Ok(storer.convert(column, v)?.into_value())
        };
        let points = (point(&plan.from, plan.start)?, point(&plan.to, plan.end)?);
        if ctx.env.warning_count() > before {
            return Err(not_exact());
        }
        Ok(self.points.get_or_init(|| points))
    }

    /// The number of the next row that is deleted, for messages.
    pub(super) fn next_row(&self) -> u64 {
        self.rows.set(self.rows.get() + 1);
        self.rows.get()
    }

    /// Cuts a row.
    pub(super) fn cut(
        &self,
        plan: &PortionPlan,
        table: &Arc<Table>,
        ctx: &RunCtx<'_>,
        mode: &StoreMode,
        row: &[u8],
    ) -> SqlResult<Cut> {
        let (from, to) = self.points(plan, table, ctx, mode)?;
        let layout = &table.layout;
        let ty = &layout.columns()[plan.start];
        let part = KeyPart::column(plan.start, false);
        let before = |a, b| -> SqlResult<bool> {
            let (mut x, mut y) = (Vec::with_capacity(8), Vec::with_capacity(8));
            encode_value(a, ty, &part, &mut x)?;
            encode_value(b, ty, &part, &mut y)?;
            Ok(x < y)
        };
        let set = |row: &[u8], column: usize, v: &Value| {
            patched(layout, row, &[(column, Cell::Ref(v.as_ref()))])
        };
        let mut cut = Cut {
            inside: row.to_vec(),
            pieces: SmallVec::new(),
        };
        if before(layout.column(row, plan.start)?, from.as_ref())? {
            cut.pieces.push(set(row, plan.end, from)?);
            cut.inside = set(&cut.inside, plan.start, from)?;
        }
        if before(to.as_ref(), layout.column(row, plan.end)?)? {
            cut.pieces.push(set(row, plan.start, to)?);
            cut.inside = set(&cut.inside, plan.end, to)?;
        }
        Ok(cut)
    }

    /// Inserts the pieces of a row that was changed or deleted. `shown`: the row whose values an error about a taken key has,
    /// if not the piece's; in MariaDB it is the changed row.
    pub(super) fn insert(
        &self,
        plan: &PortionPlan,
        table: &Arc<Table>,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
        cut: Cut,
        shown: Option<&[u8]>,
    ) -> SqlResult<()> {
        for piece in cut.pieces {
            let image = finished(plan, table, txn, ctx, piece)?;
            if let Some(taken) = insert_row(txn, table, image.clone(), ctx.env)? {
                txn.wait_reads_durable()?;
                return Err(duplicate(
                    table,
                    taken.index,
                    shown.unwrap_or(&image),
                    ctx.env,
                ));
            }
            self.inserted.set(self.inserted.get() + 1);
        }
        Ok(())
    }
}

impl Cut {
    /// The first piece, finished, to take the place of a row that is deleted: no trigger stands between, and rows that refer
    /// to the row keep it. `None` if there is none, or a BEFORE INSERT trigger is to see an INSERT.
    pub(super) fn replacement(
        &mut self,
        plan: &PortionPlan,
        table: &Arc<Table>,
        txn: &mut Transaction,
        ctx: &RunCtx<'_>,
    ) -> SqlResult<Option<Vec<u8>>> {
        if self.pieces.is_empty() || ctx.env.triggers(table, true, RowEvent::Insert).is_some() {
            return Ok(None);
        }
        let first = self.pieces.remove(0);
        finished(plan, table, txn, ctx, first).map(Some)
    }
}

/// A piece with a number of its own, the work of BEFORE INSERT triggers, and the values of its generated columns.
fn finished(
    plan: &PortionPlan,
    table: &Arc<Table>,
    txn: &mut Transaction,
    ctx: &RunCtx<'_>,
    mut piece: Vec<u8>,
) -> SqlResult<Vec<u8>> {
    if let Some(column) = table.auto_increment.filter(|_| !plan.keeps_number) {
        let number = piece_number(txn, table, column, &piece, ctx.env)?;
        piece = patched(&table.layout, &piece, &[(column, Cell::Own(number))])?;
    }
    let storer = Storer {
        table,
        ctx,
        mode: crate::plan::dml::store_mode(ctx.env, false, false),
        row_no: 1,
        triggered: ctx.env.triggers(table, true, RowEvent::Insert).is_some(),
    };
    storer.finish_row(txn, None, piece)
}

/// The AUTO_INCREMENT value of a piece of a row.
fn piece_number(
    txn: &mut Transaction,
    table: &Arc<Table>,
    column: usize,
    row: &[u8],
    env: &StatementEnv,
) -> SqlResult<Value> {
    let steps = env.auto_increment;
    let n = match table.numbered_in {
        Some(_) => steps.first_from(txn.largest_in_group(table, row)?.saturating_add(1)),
        None => txn.reserve_auto_increment(table, 1, steps),
    };
    number_value(table, column, n, env.row_number.get().max(1))
}
