//! Subqueries in expressions: what is asked of them and how their columns are compared.
//!
//! A subquery is planned when the expression around it is bound, by the [`SubqueryPlanner`] that the scope has.

use crate::bind::binder::Binder;
use crate::bind::operand::{as_subquery, not_a_row, row_items, wrong_columns};
use crate::bind::scope::{Planned, SubqueryPlanner};
use crate::expr::node::{
    CmpOp, Coercibility, Expr, ExprKind, ExprType, SubqueryExpr, SubqueryUse, make,
};
use crate::expr::types::{bool_ty, collation_of, illegal_mix_of};
use narwal_syntax::ast::Expr as Ast;
use narwal_types::{Collation, SqlError, SqlResult, Value};

/// Values of the two types are equal exactly if their keys are.
pub(crate) fn keys_compare(a: &Expr, b: &ExprType) -> bool {
    use narwal_types::TypeKind as K;
    if a.ty.null || b.null || matches!(a.kind, ExprKind::Param(_) | ExprKind::UserVariable(..)) {
        return false;
    }
    let (x, y) = (&a.ty.ty, &b.ty);
    let exact = |t: &narwal_types::ColumnType| t.is_integer() || matches!(t.kind, K::Decimal(..));
    (x.is_character() && y.is_character())
        || (exact(x) && exact(y))
        || matches!(
            (x.kind, y.kind),
            (K::Date, K::Date) | (K::DateTime(_), K::DateTime(_)) | (K::Time(_), K::Time(_))
        )
}

/// How operands are compared with a subquery's columns: collations, and whether by keys.
pub fn comparison_of(
    left: &[Expr],
    columns: &[ExprType],
    op: &str,
) -> SqlResult<(Vec<Collation>, bool)> {
    let collations = left
        .iter()
        .zip(columns)
        .map(|(l, t)| {
            let strings = [&l.ty, t].into_iter().filter(|t| t.is_string());
            let strings: Vec<&ExprType> = strings.collect();
            match collation_of(strings.iter().copied(), op)? {
                (_, Coercibility::NoOne) => Err(illegal_mix_of(strings, op)),
                (c, _) => Ok(c),
            }
        })
        .collect::<SqlResult<Vec<_>>>()?;
    let by_key = left.iter().zip(columns).all(|(l, t)| keys_compare(l, t));
    Ok((collations, by_key))
}

impl Binder<'_> {
    fn plan_subquery(
        &self,
        n: usize,
        used: SubqueryUse,
    ) -> SqlResult<(&dyn SubqueryPlanner, Planned)> {
        let planner = self
            .scope
            .planner
            .ok_or_else(|| SqlError::unsupported("subqueries in this place"))?;
        Ok((planner, planner.plan(n, used, self.scope)?))
    }

    /// A lone subquery, or EXISTS.
    pub(crate) fn lone_subquery(&self, n: usize, exists: bool) -> SqlResult<Expr> {
        let used = if exists {
            SubqueryUse::Exists
        } else {
            SubqueryUse::Value
        };
        let (_, p) = self.plan_subquery(n, used)?;
        let ty = match (exists, p.columns.as_slice()) {
            (true, _) => bool_ty(false),
            (false, [t]) => {
                let nullable = t.nullable || !p.one_row;
                t.with_nullable(nullable).without_zeros()
            }
            _ => return Err(wrong_columns(1)),
        };
        Ok(make(
            ExprKind::Subquery(Box::new(SubqueryExpr {
                used,
                index: p.index,
                left: Vec::new(),
                outer: p.outer,
                each_row: p.each_row,
                keyed: false,
                collation: Collation::default(),
            })),
            ty,
        ))
    }

    /// The values of a subquery's one row.
    pub(super) fn row_of_subquery(&self, n: usize) -> SqlResult<Vec<Expr>> {
        let (_, p) = self.plan_subquery(n, SubqueryUse::Field(0))?;
        let one = p.columns.len() == 1;
        let value = |(i, t): (usize, &ExprType)| {
            let kind = ExprKind::Subquery(Box::new(SubqueryExpr {
                used: match one {
                    true => SubqueryUse::Value,
                    false => SubqueryUse::Field(i),
                },
                index: p.index,
                left: Vec::new(),
                outer: p.outer.clone(),
                each_row: p.each_row,
                keyed: false,
                collation: Collation::default(),
            }));
            self.text_in_connection(make(kind, t.with_nullable(true).without_zeros()))
        };
        Ok(p.columns.iter().enumerate().map(value).collect())
    }

    /// A comparison of an operand, perhaps a row, with a subquery.
    pub(crate) fn compared_subquery(
        &self,
        left: &Ast,
        n: usize,
        used: SubqueryUse,
    ) -> SqlResult<Expr> {
        let left: Vec<Expr> = match (row_items(left), as_subquery(left)) {
            (Some(list), _) => list
                .into_iter()
                .map(|e| self.expr(e))
                .collect::<SqlResult<_>>()?,
            (_, Some(row)) => self.row_of_subquery(row)?,
            _ => vec![self.expr(left)?],
        };
        self.row_beside_subquery(left, n, used)
    }

    /// A comparison of values with a subquery.
    pub(super) fn row_beside_subquery(
        &self,
        left: Vec<Expr>,
        n: usize,
        used: SubqueryUse,
    ) -> SqlResult<Expr> {
        if left.len() > 1
            && let SubqueryUse::Any(op) | SubqueryUse::All(op) = used
            && !matches!(
                (used, op),
                (SubqueryUse::Any(_), CmpOp::Eq) | (SubqueryUse::All(_), CmpOp::Ne)
            )
        {
            return Err(wrong_columns(1));
        }
        let (planner, p) = self.plan_subquery(n, used)?;
        if p.columns.len() != left.len() {
            return Err(match (used, p.columns.as_slice()) {
                (SubqueryUse::Row(op), [t]) => {
                    let one = make(ExprKind::Literal(Value::Null), *t);
                    not_a_row(None, Some(&one), op.symbol())
                }
                _ => wrong_columns(left.len()),
            });
        }
        let op = match used {
            SubqueryUse::Any(op) | SubqueryUse::All(op) | SubqueryUse::Row(op) => op.symbol(),
            _ => "in",
        };
        let (collations, by_key) = comparison_of(&left, &p.columns, op)?;
        let collation = collations.first().copied().unwrap_or_default();
        planner.compared(p.index, collations, by_key);
        let nullable = left.iter().any(|e| e.ty.nullable)
            || p.columns.iter().any(|t| t.nullable)
            || matches!(used, SubqueryUse::Row(_));
        Ok(make(
            ExprKind::Subquery(Box::new(SubqueryExpr {
                used,
                index: p.index,
                left,
                outer: p.outer,
                each_row: p.each_row,
                keyed: by_key,
                collation,
            })),
            bool_ty(nullable),
        ))
    }

    /// `[NOT]` IN (subquery).
    pub(crate) fn in_subquery(&self, left: &Ast, n: usize, negated: bool) -> SqlResult<Expr> {
        self.compared_subquery(
            left,
            n,
            if negated {
                SubqueryUse::All(CmpOp::Ne)
            } else {
                SubqueryUse::Any(CmpOp::Eq)
            },
        )
    }
}
