//! The subqueries of a SELECT or a statement, planned as they are met.

use crate::bind::scope::{OuterScope, Planned, Scope, SubqueryPlanner, placeholder};
use crate::expr::node::{Expr, ExprKind, ExprType, SubqueryUse};
use crate::plan::made::column_type;
use crate::plan::query::{Out, SubPlan};
use crate::planner::resolve::Resolver;
use narwal_engine::Table;
use narwal_syntax::ast::Select;
use narwal_types::{Collation, SqlError, SqlResult};
use std::cell::RefCell;

/// The subqueries of a SELECT or a statement, planned as they are met.
pub struct Subqueries<'a> {
    pub(crate) resolver: &'a Resolver<'a>,
    pub(crate) asts: &'a [(usize, Select)],
    pub(crate) plans: RefCell<Vec<SubPlan>>,
}

impl<'a> Subqueries<'a> {
    /// Those of a list of the parser's.
    pub fn new(resolver: &'a Resolver<'_>, asts: &'a [(usize, Select)]) -> Self {
        Subqueries {
            resolver,
            asts,
            plans: RefCell::default(),
        }
    }

    /// True if one that runs for each row reads this table.
    pub fn read(&self, table: &Table) -> bool {
        self.plans
            .borrow()
            .iter()
            .any(|s| s.each_row && s.plan.reads_table(table))
    }

    /// True if one of those so far reads this table.
    pub fn reads(&self, table: &Table) -> bool {
        (self.plans.borrow().iter()).any(|s| s.plan.reads_table(table))
    }

    /// What the parser made of one.
    pub fn ast_of(&self, index: usize) -> Option<&'a Select> {
        let number = self.plans.borrow().get(index)?.number;
        self.asts.iter().find(|(n, _)| *n == number).map(|(_, s)| s)
    }

    /// True if each run of one may give something else.
    fn is_volatile(&self, index: usize) -> bool {
        let plans = self.plans.borrow();
        plans.get(index).is_some_and(|s| s.volatile)
    }

    /// True if an expression may give something else each time.
    pub fn changes(&self, e: &Expr) -> bool {
        e.any(&|e| match &e.kind {
            ExprKind::Subquery(s) => self.is_volatile(s.index),
            _ => e.changes(),
        })
    }

    /// True if one gives groups.
    pub fn is_grouped(&self, index: usize) -> bool {
        let plans = self.plans.borrow();
        plans
            .get(index)
            .is_some_and(|s| s.plan.computes_over_rows())
    }

    /// Puts another plan in the place of one.
    pub fn replace(&self, index: usize, plan: SubPlan) {
        if let Some(p) = self.plans.borrow_mut().get_mut(index) {
            *p = plan;
        }
    }

    /// The plans.
    pub fn into_plans(self) -> Vec<SubPlan> {
        self.plans.into_inner()
    }
}

impl SubqueryPlanner for Subqueries<'_> {
    fn query(&self, n: usize) -> Option<&Select> {
        placeholder(self.asts, n)
    }

    fn plan(&self, n: usize, used: SubqueryUse, scope: &Scope<'_>) -> SqlResult<Planned> {
        let Some(ast) = self.query(n) else {
            return Err(SqlError::unsupported("subqueries in this place"));
        };
        self.plan_query(ast, n, used, scope)
    }

    fn plan_query(
        &self,
        ast: &Select,
        n: usize,
        used: SubqueryUse,
        scope: &Scope<'_>,
    ) -> SqlResult<Planned> {
        if ast.limit.is_some() && matches!(used, SubqueryUse::Any(_) | SubqueryUse::All(_)) {
            // As MariaDB.
            return Err(SqlError::unsupported("LIMIT & IN/ALL/ANY/SOME subquery"));
        }
        let around = OuterScope {
            scope,
            frame: RefCell::default(),
        };
        let mut plan = self.resolver.select_within(ast, Some(&around))?;
        plan.stop_after = match used {
            SubqueryUse::Exists => Some(1),
            SubqueryUse::Value | SubqueryUse::Field(_) | SubqueryUse::Row(_) => Some(2),
            SubqueryUse::Any(_) | SubqueryUse::All(_) => None,
        };
        let outer = around.frame.into_inner();
        let volatile = plan.is_volatile();
        // What another subquery gives is not at hand before the rows are read.
        let is_known =
            |e: &Expr| e.is_const() && !e.any(&|e| matches!(e.kind, ExprKind::Subquery(_)));
        let each_row = volatile || !outer.iter().all(is_known);
        let mut columns: Vec<ExprType> = plan.columns.iter().map(column_type).collect();
        for (c, item) in columns.iter_mut().zip(&plan.items) {
            // A literal's text gives way to a column's, in a subquery too.
            if let Out::Expr(e) = item {
                c.coercibility = e.ty.coercibility;
                c.boolean = e.ty.boolean;
            }
        }
        let mut plans = self.plans.borrow_mut();
        plans.push(SubPlan {
            plan,
            used,
            number: n,
            outer: outer.clone(),
            each_row,
            volatile,
            collations: Vec::new(),
            by_key: false,
        });
        Ok(Planned {
            index: plans.len() - 1,
            columns,
            outer,
            each_row,
            one_row: ast.from.is_none()
                && ast.where_.is_none()
                && ast.having.is_none()
                && ast.limit.is_none(),
        })
    }

    fn compared(&self, index: usize, collations: Vec<Collation>, by_key: bool) {
        if let Some(p) = self.plans.borrow_mut().get_mut(index) {
            p.collations = collations;
            p.by_key = by_key;
        }
    }
}
