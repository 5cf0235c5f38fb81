//! RETURNING: rows that INSERT, REPLACE and DELETE answer with.

use crate::ast::{From, Select, SelectItem, TableRef};
use crate::exec::select::to_session_zone;
use crate::exec::value_list::ValueList;
use crate::expr::{EvalCtx, ImageRow};
use crate::plan::dml::in_clause;
use crate::plan::resolve::Resolver;
use crate::plan::select::Out;
use crate::year_text::{YearText, has_year};
use narwal_engine::Table;
use narwal_types::{ResultColumn, ResultSink, SqlError, SqlResult, Value};
use std::sync::Arc;

/// What a statement returns of each row that it wrote or deleted.
pub struct ReturningPlan {
    items: Vec<Out>,
    /// Columns of the answer.
    pub columns: Arc<[ResultColumn]>,
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
    ) -> SqlResult<Option<ReturningPlan>> {
        if items.is_empty() {
            return Ok(None);
        }
        let plan = self
            .select(&Select::of(items.to_vec(), From::Table(table.clone())))
            .map_err(|e| in_clause(e, "RETURNING"))?;
        if plan.group.is_some() {
            return Err(SqlError::new(
                1111,
                b"HY000",
                "Invalid use of group function",
            ));
        }
        if !plan.subqueries.is_empty() {
            return Err(SqlError::unsupported("subqueries in RETURNING"));
        }
        Ok(Some(ReturningPlan {
            items: plan.items,
            columns: plan.columns,
        }))
    }
}

impl ReturningPlan {
    /// An answer without rows yet.
    pub(crate) fn begin(&self) -> Returned {
        Returned {
            columns: self.columns.clone(),
            rows: Box::default(),
        }
    }

    /// Adds a row of the table.
    pub(crate) fn add(
        &self,
        to: &mut Returned,
        table: &Table,
        row: &[u8],
        ctx: &EvalCtx<'_>,
    ) -> SqlResult<()> {
        let layout = &table.layout;
        let values = self
            .items
            .iter()
            .map(|i| match i {
                Out::Column { column, timestamp } => {
                    let v = layout.column(row, *column)?;
                    Ok(if *timestamp {
                        to_session_zone(v, ctx.env.time_zone).to_value()
                    } else {
                        v.to_value()
                    })
                }
                Out::Expr(e) => e.eval(ctx, &ImageRow { layout, row }),
            })
            .collect::<SqlResult<Vec<Value>>>()?;
        to.rows.push(values.iter().map(Value::as_ref), ctx.env)
    }
}

impl Returned {
    /// No row follows: they can be sent.
    pub(crate) fn finish(&mut self) -> SqlResult<()> {
        self.rows.finish()
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
