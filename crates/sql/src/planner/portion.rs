//! FOR PORTION OF: which rows it is about, and where they are cut.

use crate::bind::bind;
use crate::bind::scope::{Clause, Scope};
use crate::expr::node::{Expr, ExprKind};
use crate::plan::dml::{PortionPlan, SetPlan};
use crate::planner::condition::in_clause;
use crate::planner::resolve::Resolver;
use crate::planner::subqueries::Subqueries;
use crate::planner::view_write::Written;
use crate::quote::quote_ident;
use narwal_engine::Table;
use narwal_syntax::ast::{BinaryOp, Expr as AstExpr, Portion, Qualified, TableRef};
use narwal_types::{Name, SqlError, SqlResult, errors};

/// True if an expression may differ from row to row.
fn varies(e: &Expr) -> bool {
    e.any(&|e| match &e.kind {
        ExprKind::Column { .. } => true,
        ExprKind::Func { func, .. } => func.is_volatile(),
        ExprKind::Stored(c) => !c.function.deterministic,
        ExprKind::Subquery(s) => s.each_row,
        _ => false,
    })
}

/// The AUTO_INCREMENT column counts in a key WITHOUT OVERLAPS, where the pieces of a row belong together.
fn numbers_stay(table: &Table) -> bool {
    let column = table.auto_increment;
    let leads = |i: &&narwal_engine::Index| i.parts.first().map(|p| p.column) == column;
    (table.indexes.iter().find(leads)).is_some_and(|i| i.without_overlaps)
}

impl Resolver<'_> {
    /// Error 1965: no portion of a view.
    pub(super) fn portion_of_table(&self, p: Option<&Portion>, t: &TableRef) -> SqlResult<()> {
        match p.and_then(|_| self.view_named(t)) {
            Some(_) => Err(errors::IT_IS_A_VIEW.with([&t.name.name])),
            None => Ok(()),
        }
    }

    /// Binds FOR PORTION OF.
    ///
    /// # Errors
    /// 4156 for a period that is none, 1487 for points of time that are not the same for all rows.
    pub(super) fn portion(
        &self,
        p: &Portion,
        written: &Written,
        subqueries: &Subqueries<'_>,
    ) -> SqlResult<PortionPlan> {
        let table = written.table();
        let period = table.def.period.as_ref();
        let period = period.filter(|own| own.name.same_name(&p.period));
        let columns = period.and_then(|p| Some((table.column(&p.start)?, table.column(&p.end)?)));
        let Some((start, end)) = columns else {
            return Err(errors::PERIOD_NOT_FOUND.with([&quote_ident(&p.period)]));
        };
        let scope = Scope {
            sources: &written.sources,
            clause: Clause::Where,
            planner: Some(subqueries),
            ..Scope::empty(self.env)
        };
        let point = |e: &AstExpr| {
            let e = bind(e, &scope).map_err(|e| in_clause(e, "WHERE"))?;
            match varies(&e) {
                true => Err(errors::NOT_CONSTANT_EXPRESSION.with([&"FOR PORTION OF"])),
                false => Ok(e),
            }
        };
        Ok(PortionPlan {
            start,
            end,
            from: point(&p.from)?,
            to: point(&p.to)?,
            keeps_number: numbers_stay(table),
        })
    }
}

/// Error 4157: SET names a column of the period.
pub(super) fn sets_no_period(
    plan: &PortionPlan,
    sets: &[SetPlan],
    table: &Table,
    period: &str,
) -> SqlResult<()> {
    let set = sets
        .iter()
        .find(|s| [plan.start, plan.end].contains(&s.column));
    match set {
        Some(s) => {
            let column = quote_ident(&table.def.columns[s.column].name);
            let own = table
                .def
                .period
                .as_ref()
                .map_or(period, |p| p.name.as_str());
            Err(errors::PERIOD_COLUMNS_UPDATED.with([&column, &quote_ident(own)]))
        }
        None => Ok(()),
    }
}

/// Error 1235: the points of time of UPDATE come from the table that it changes.
pub(super) fn reads_no_portion(subqueries: &Subqueries<'_>, table: &Table) -> SqlResult<()> {
    match subqueries.reads(table) {
        true => Err(SqlError::unsupported(
            "updating and querying the same temporal periods table",
        )),
        false => Ok(()),
    }
}

/// WHERE with the condition that a row has a part in the portion.
pub(super) fn with_portion(
    p: &Portion,
    plan: &PortionPlan,
    table: &Table,
    name: &str,
    where_: Option<&AstExpr>,
) -> AstExpr {
    let column = |at: usize| {
        AstExpr::Qualified(Box::new(Qualified {
            db: None,
            table: name.to_string(),
            column: table.def.columns[at].name.clone(),
        }))
    };
    let binary = |left: AstExpr, op, right: AstExpr| AstExpr::Binary {
        op,
        left: Box::new(left),
        right: Box::new(right),
    };
    let conditions = [
        binary(p.from.clone(), BinaryOp::Lt, p.to.clone()),
        binary(column(plan.start), BinaryOp::Lt, p.to.clone()),
        binary(column(plan.end), BinaryOp::Gt, p.from.clone()),
    ];
    (conditions.into_iter().chain(where_.cloned()))
        .reduce(|all, c| binary(all, BinaryOp::And, c))
        .unwrap_or_else(|| p.from.clone())
}
