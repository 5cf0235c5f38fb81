//! Planning RETURNING.

use crate::plan::dml::ReturningPlan;
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
        let plan = self
            .select(&select)
            .map_err(|e| in_clause(e, "RETURNING"))?;
        if plan.computes_over_rows() {
            return Err(errors::INVALID_GROUP_FUNC_USE.plain());
        }
        Ok(Some(ReturningPlan {
            items: plan.items,
            columns: plan.columns,
            subqueries: plan.subqueries,
            row_wise: plan.row_wise,
        }))
    }
}
