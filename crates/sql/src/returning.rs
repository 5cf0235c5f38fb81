//! RETURNING: rows that INSERT, REPLACE and DELETE answer with.

use crate::exec::context::SubqueryRun;
use crate::exec::context::{RunCtx, Running};
use crate::exec::subquery::SubPlan;
use crate::exec::value_list::ValueList;
use crate::expr::node::ImageRow;
use crate::plan::dml::in_clause;
use crate::plan::resolve::Resolver;
use crate::plan::select::Out;
use crate::year_text::{YearText, has_year};
use narwal_engine::{Table, Transaction};
use narwal_syntax::ast::{From, Select, SelectItem, TableRef};
use narwal_types::{ResultColumn, ResultSink, SqlError, SqlResult, Value};
use std::sync::Arc;

/// What a statement returns of each row that it wrote or deleted.
pub struct ReturningPlan {
    items: Vec<Out>,
    /// Columns of the answer.
    pub columns: Arc<[ResultColumn]>,
    /// Subqueries of the items.
    subqueries: Vec<SubPlan>,
    /// Some of them run for each row.
    row_wise: bool,
}

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

impl Resolver<'_> {
    /// Plans RETURNING; `None` for no items.
    pub fn returning(
        &self,
        items: &[SelectItem],
        table: &TableRef,
        subqueries: &[(usize, Select)],
    ) -> SqlResult<Option<ReturningPlan>> {
        if items.is_empty() {
            return Ok(None);
        }
        let select = Select {
            subqueries: subqueries.to_vec(),
            ..Select::of(items.to_vec(), From::Table(table.clone()))
        };
        let plan = self
            .select(&select)
            .map_err(|e| in_clause(e, "RETURNING"))?;
        if plan.group.is_some() {
            return Err(SqlError::new(
                1111,
                b"HY000",
                "Invalid use of group function",
            ));
        }
        Ok(Some(ReturningPlan {
            items: plan.items,
            columns: plan.columns,
            subqueries: plan.subqueries,
            row_wise: plan.row_wise,
        }))
    }
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
        let run = Running {
            subqueries,
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
    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.rows.count()
    }

    /// Sends columns and rows; `end_rows` is the caller's.
    ///
    /// # Errors
    /// The sink's.
    pub fn send(&self, sink: &mut dyn ResultSink) -> SqlResult<()> {
        if has_year(&self.columns) {
            return self.send_to(&mut YearText::new(sink));
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
