//! EXISTS as a semi-join: where its subquery is tied to the row around by equalities alone, it can run once, for all rows:
//! `EXISTS (SELECT ... WHERE s.a = t.b AND ...)` is `t.b IN (SELECT s.a ...)`, but for NULLs.

use crate::bind::bind;
use crate::bind::scope::Scope;
use crate::bind::subquery::comparison_of;
use crate::expr::node::{CmpOp, Expr, ExprKind, ExprType, SubqueryExpr, SubqueryUse};
use crate::plan::access::{Access, Lookup};
use crate::plan::made::column_type;
use crate::plan::query::Rows;
use crate::plan::query::SelectPlan;
use crate::plan::query::SubPlan;
use crate::plan::sarg::conjuncts;
use crate::planner::condition::all_of;
use crate::planner::condition::split_late;
use crate::planner::resolve::Resolver;
use crate::planner::subqueries::Subqueries;
use narwal_engine::Table;
use narwal_syntax::ast::BinaryOp;
use narwal_syntax::ast::{Expr as AstExpr, From, IndexHint, Select, SelectItem};
use narwal_types::SqlResult;
use std::sync::Arc;

/// Takes a conjunction apart.
fn and_parts<'e>(e: &'e AstExpr, out: &mut Vec<&'e AstExpr>) {
    match e {
        AstExpr::Binary {
            left,
            op: BinaryOp::And,
            right,
        } => {
            and_parts(left, out);
            and_parts(right, out);
        }
        AstExpr::Nested(e) => and_parts(e, out),
        e => out.push(e),
    }
}

/// About how many rows a SELECT reads.
fn rows_read(p: &SelectPlan) -> u64 {
    let Some(t) = &p.table else { return 1 };
    match &t.rows {
        Rows::Stored => t.access.rows,
        Rows::Join(j) => j.leaves.iter().map(|l| l.plan.access.rows).sum(),
        _ => 1000,
    }
}

/// The parts of a subquery's WHERE.
#[derive(Default)]
struct Ties {
    /// Sides of equalities that are the subquery's own.
    items: Vec<AstExpr>,
    /// The other sides, of the row around.
    left: Vec<Expr>,
    /// What does not look at the row around.
    rest: Vec<AstExpr>,
}

/// A SELECT of stored rows and of a condition alone.
fn is_plain(s: &Select) -> bool {
    s.with.is_none()
        && s.group_by.is_empty()
        && s.having.is_none()
        && s.limit.is_none()
        && s.locking.is_empty()
        && s.from
            .as_ref()
            .is_some_and(|f| !matches!(f, From::Set { .. }))
}

/// Another SELECT of the same tables.
fn select_like(s: &Select, items: Vec<AstExpr>, where_: Option<AstExpr>) -> Select {
    let items = items.into_iter().map(|expr| SelectItem::Expr {
        text: String::new(),
        alias: None,
        expr,
    });
    let mut like = Select::of(items.collect(), s.from.clone());
    like.where_ = where_;
    like.subqueries = s.subqueries.clone();
    like.params = s.params;
    like
}

impl Resolver<'_> {
    /// Turns EXISTS among the conjuncts of WHERE into semi-joins where that reads less: if the table around is read as a
    /// whole anyway, and the subquery's is not larger.
    pub fn semi_joins(
        &self,
        filter: Option<Expr>,
        table: &Arc<Table>,
        hints: &[IndexHint],
        subqueries: &Subqueries<'_>,
        scope: &Scope<'_>,
    ) -> SqlResult<Option<Expr>> {
        let Some(all) = filter else { return Ok(None) };
        let (early, _) = split_late(Some(all.clone()));
        let rows = self.estimates.rows(table);
        let access = Access::choose(table, early.as_ref(), &[], None, hints, &self.estimates)?;
        if !matches!(access.lookup, Lookup::Full) {
            return Ok(Some(all));
        }
        let mut out = Vec::new();
        for e in conjuncts(&all) {
            let (s, negated) = match &e.kind {
                ExprKind::Subquery(s) => (s, false),
                ExprKind::Not(inner) => match &inner.kind {
                    ExprKind::Subquery(s) => (s, true),
                    _ => {
                        out.push(e.clone());
                        continue;
                    }
                },
                _ => {
                    out.push(e.clone());
                    continue;
                }
            };
            let semi = match s.used {
                SubqueryUse::Exists if s.each_row => {
                    self.semi_join(s.index, rows, subqueries, scope)?
                }
                _ => None,
            };
            out.push(match semi {
                None => e.clone(),
                Some(semi) if !negated => semi,
                // NULL is no partner.
                Some(semi) => Expr {
                    ty: ExprType::int(false),
                    kind: ExprKind::IsBool {
                        expr: Box::new(semi),
                        value: true,
                        negated: true,
                    },
                },
            });
        }
        Ok(all_of(out))
    }

    fn semi_join(
        &self,
        index: usize,
        rows: u64,
        subqueries: &Subqueries<'_>,
        scope: &Scope<'_>,
    ) -> SqlResult<Option<Expr>> {
        let Some(ast) = subqueries.ast_of(index) else {
            return Ok(None);
        };
        if subqueries.is_grouped(index) || !is_plain(ast) {
            return Ok(None);
        }
        let Some(ties) = self.ties(ast, scope) else {
            return Ok(None);
        };
        let Ties { items, left, rest } = ties;
        let where_ = rest.into_iter().reduce(|a, b| AstExpr::Binary {
            left: Box::new(a),
            op: BinaryOp::And,
            right: Box::new(b),
        });
        let Ok(plan) = self.select(&select_like(ast, items, where_)) else {
            return Ok(None);
        };
        // Aggregates make one row of none; what changes from run to run must run for each row.
        if plan.computes_over_rows() || plan.is_volatile() || rows_read(&plan) > rows {
            return Ok(None);
        }
        let columns: Vec<ExprType> = plan.columns.iter().map(column_type).collect();
        let Ok((collations, true)) = comparison_of(&left, &columns, "=") else {
            return Ok(None);
        };
        let used = SubqueryUse::Any(CmpOp::Eq);
        let collation = collations.first().copied().unwrap_or_default();
        let number = usize::MAX;
        subqueries.replace(
            index,
            SubPlan {
                plan,
                used,
                number,
                outer: Vec::new(),
                each_row: false,
                volatile: false,
                collations,
                by_key: true,
            },
        );
        Ok(Some(Expr {
            ty: ExprType::int(true),
            kind: ExprKind::Subquery(Box::new(SubqueryExpr {
                used,
                index,
                left,
                outer: Vec::new(),
                each_row: false,
                keyed: true,
                collation,
            })),
        }))
    }

    /// What ties a subquery to the row around it. `None` unless that is at least one equality, and nothing else.
    fn ties(&self, ast: &Select, scope: &Scope<'_>) -> Option<Ties> {
        // What the subquery knows by itself.
        let inside = |e: &AstExpr| {
            self.select(&select_like(ast, vec![e.clone()], None))
                .is_ok()
        };
        let mut parts = Vec::new();
        and_parts(ast.where_.as_ref()?, &mut parts);
        let mut ties = Ties::default();
        for e in parts {
            if inside(e) {
                ties.rest.push(e.clone());
                continue;
            }
            let AstExpr::Binary {
                left: l,
                op: BinaryOp::Eq,
                right: r,
            } = e
            else {
                return None;
            };
            let (mine, other) = match (inside(l), inside(r)) {
                (true, false) => (l, r),
                (false, true) => (r, l),
                _ => return None,
            };
            let other = bind(other, scope).ok().filter(|o| !o.runs_each_row())?;
            ties.items.push((**mine).clone());
            ties.left.push(other);
        }
        (!ties.items.is_empty()).then_some(ties)
    }
}
