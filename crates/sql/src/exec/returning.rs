//! RETURNING: rows that INSERT, REPLACE and DELETE answer with.

use crate::env::StatementEnv;
use crate::exec::context::SubqueryRun;
use crate::exec::context::{RunCtx, Running};
use crate::exec::value_list::ValueList;
use crate::expr::node::ImageRow;
use crate::plan::dml::ReturningPlan;
use crate::plan::query::Out;
use crate::plan::query::SubPlan;
use crate::year_text::{YearText, has_year};
use narwal_engine::{Table, Transaction};
use narwal_types::{ResultColumn, ResultSink, SqlResult, Value};
use std::cell::Cell;
use std::sync::Arc;

/// RETURNING while its statement runs.
pub(crate) struct Returning<'p> {
    plan: &'p ReturningPlan,
    /// The subqueries: those that run once have run when the first row is there.
    subqueries: Option<Vec<SubqueryRun<'p>>>,
    rows: Returned,
}

/// A statement's answer: it is sent when the statement, and its commit if it has one, is done.
pub struct Returned {
    columns: Arc<[ResultColumn]>,
    rows: Box<ValueList>,
}

impl ReturningPlan {
    /// An answer without rows yet.
    pub(crate) fn begin(&self) -> Returning<'_> {
        Returning {
            plan: self,
            subqueries: None,
            rows: Returned {
                columns: self.columns.clone(),
                rows: Box::default(),
            },
        }
    }

    /// True if it looks at other rows than that which is returned.
    pub(crate) fn has_subqueries(&self) -> bool {
        !self.subqueries.is_empty()
    }

    /// The values of a row of the table.
    fn values(&self, ctx: &RunCtx<'_>, table: &Table, row: &[u8]) -> SqlResult<Vec<Value>> {
        let layout = &table.layout;
        self.items
            .iter()
            .map(|i| match i {
                Out::Column { column, timestamp } => {
                    let v = layout.column(row, *column)?;
                    Ok(if *timestamp {
                        crate::zone::seen(v, ctx.env.time_zone).to_value()
                    } else {
                        v.to_value()
                    })
                }
                Out::Expr(e) => e.eval(ctx, &ImageRow { layout, row }),
            })
            .collect()
    }
}

impl Returning<'_> {
    /// Adds a row of the table.
    pub(crate) fn add(
        &mut self,
        txn: &mut Transaction,
        table: &Table,
        row: &[u8],
        ctx: &RunCtx<'_>,
    ) -> SqlResult<()> {
        let plan = self.plan;
        let subqueries = match &mut self.subqueries {
            Some(s) => s,
            none => none.insert(SubPlan::run_all(&plan.subqueries, txn, ctx)?),
        };
        // ROWNUM counts what is returned.
        let taken = Cell::new(self.rows.rows.count() + 1);
        let run = Running {
            subqueries,
            taken: Some(&taken),
            ..*ctx.run
        };
        let ctx = ctx.around(&run);
        let values = if plan.row_wise {
            ctx.with_txn(txn, |ctx| plan.values(ctx, table, row))?
        } else {
            plan.values(&ctx, table, row)?
        };
        let rows = &mut self.rows.rows;
        rows.push(values.iter().map(Value::as_ref), ctx.env)
    }

    /// All rows were added.
    pub(crate) fn finish(mut self) -> SqlResult<Returned> {
        self.rows.rows.finish()?;
        Ok(self.rows)
    }
}

impl Returned {
    /// Rows that are there already.
    pub(crate) fn of(
        columns: &Arc<[ResultColumn]>,
        rows: &[Vec<Value>],
        env: &StatementEnv,
    ) -> SqlResult<Self> {
        let mut list = ValueList::default();
        for row in rows {
            list.push(row.iter().map(Value::as_ref), env)?;
        }
        list.finish()?;
        Ok(Returned {
            columns: columns.clone(),
            rows: Box::new(list),
        })
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows.count()
    }

    /// Sends columns and rows; `end_rows` is the caller's.
    ///
    /// # Errors
    /// The sink's.
    pub fn send(&self, sink: &mut dyn ResultSink) -> SqlResult<()> {
        if has_year(&self.columns, true) {
            return self.send_to(&mut YearText::new(sink, true));
        }
        self.send_to(sink)
    }

    fn send_to(&self, sink: &mut dyn ResultSink) -> SqlResult<()> {
        sink.begin_plan_rows(&self.columns)?;
        self.rows.each(&mut |row| {
            sink.row(row)?;
            Ok(true)
        })
    }
}
