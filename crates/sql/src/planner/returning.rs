//! Planning RETURNING.

use crate::expr::node::{Expr, ExprKind};
use crate::plan::dml::ReturningPlan;
use crate::plan::query::{Out, SelectPlan};
use crate::planner::condition::in_clause;
use crate::planner::resolve::Resolver;
use narwal_syntax::ast::{From, Select, SelectItem, TableRef};
use narwal_types::SqlResult;
use narwal_types::errors;

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
        let mut plan = self
            .select(&select)
            .map_err(|e| in_clause(e, "RETURNING"))?;
        if plan.computes_over_rows() {
            return Err(errors::INVALID_GROUP_FUNC_USE.plain());
        }
        if let Some(computed) = plan.computed.take() {
            let width = table_width(&plan);
            plan.items
                .iter_mut()
                .for_each(|i| put_back(i, width, &computed.exprs));
        }
        Ok(Some(ReturningPlan {
            items: plan.items,
            columns: plan.columns,
            subqueries: plan.subqueries,
            row_wise: plan.row_wise,
        }))
    }
}

/// How many columns the table has.
fn table_width(plan: &SelectPlan) -> usize {
    let table = plan.table.as_ref();
    table.map_or(0, |t| t.table.columns().len())
}

/// What would be computed with each row of a SELECT (ROWNUM) is computed here: nothing sorts or groups the rows.
fn put_back(item: &mut Out, width: usize, computed: &[Expr]) {
    fn replace(e: &mut Expr, width: usize, computed: &[Expr]) {
        let value = match &e.kind {
            ExprKind::Column { column, .. } => column.checked_sub(width),
            _ => None,
        };
        if let Some(value) = value.and_then(|n| computed.get(n)) {
            *e = value.clone();
        }
        e.for_each_child_mut(&mut |c| replace(c, width, computed));
    }
    match item {
        Out::Expr(e) => replace(e, width, computed),
        Out::Column { column, .. } => {
            if let Some(value) = column.checked_sub(width).and_then(|n| computed.get(n)) {
                *item = Out::Expr(value.clone());
            }
        }
    }
}
