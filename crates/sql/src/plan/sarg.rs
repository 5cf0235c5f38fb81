//! Conditions that an index can answer: "search arguments".

use crate::expr::node::{CmpOp, EvalCtx, Expr, ExprKind, NoRow, SubqueryUse};
use narwal_engine::Table;
use narwal_types::{Collation, ColumnType, SqlResult, Value, ValueRef};

/// A condition on one column against constants.
#[derive(Debug, Clone)]
pub enum ColCond {
    /// column op constant.
    Cmp(CmpOp, Expr),
    /// column BETWEEN.
    Between(Expr, Expr),
    /// column IN (constants).
    In(Vec<Expr>),
    /// column IN (a subquery that has run).
    InSubquery(usize),
    /// column IS NULL.
    IsNull,
    /// column IS NOT NULL.
    IsNotNull,
    /// column LIKE constant, with the escape character.
    LikePrefix(Expr, Option<char>),
    /// Any of them.
    Or(Vec<ColCond>),
    /// All of them.
    And(Vec<ColCond>),
}

impl ColCond {
    /// It selects single values, one or a list: more key parts may follow.
    pub fn is_points(&self) -> bool {
        match self {
            ColCond::Cmp(op, _) => matches!(op, CmpOp::Eq | CmpOp::NullSafeEq),
            ColCond::In(_) | ColCond::InSubquery(_) | ColCond::IsNull => true,
            ColCond::Or(v) => v.iter().all(ColCond::is_points),
            ColCond::And(v) => v.iter().any(ColCond::is_points),
            _ => false,
        }
    }

    /// It selects one value at most.
    pub fn is_single(&self) -> bool {
        match self {
            ColCond::Cmp(op, _) => matches!(op, CmpOp::Eq | CmpOp::NullSafeEq),
            ColCond::IsNull => true,
            ColCond::In(v) => v.len() == 1,
            ColCond::Or(v) => v.len() == 1 && v[0].is_single(),
            ColCond::And(v) => v.iter().any(ColCond::is_single),
            _ => false,
        }
    }

    /// How many values it lists.
    pub fn count(&self) -> u64 {
        match self {
            ColCond::In(v) => v.len() as u64,
            // Not known when it is planned.
            ColCond::InSubquery(_) => 100,
            ColCond::Or(v) => v.iter().map(ColCond::count).sum(),
            ColCond::And(v) => v.iter().map(ColCond::count).min().unwrap_or(1),
            _ => 1,
        }
    }
}

/// The parts of a conjunction.
pub fn conjuncts(e: &Expr) -> &[Expr] {
    match &e.kind {
        ExprKind::And(v) => v,
        _ => std::slice::from_ref(e),
    }
}

/// The value of a constant expression.
pub fn const_value<'a>(
    e: &'a Expr,
    ctx: &'a EvalCtx<'a>,
    tmp: &'a mut Value,
) -> SqlResult<ValueRef<'a>> {
    match &e.kind {
        ExprKind::Literal(v) => Ok(v.as_ref()),
        ExprKind::Param(i) | ExprKind::Slot(i) => {
            Ok(ctx.params.get(*i).map_or(ValueRef::Null, Value::as_ref))
        }
        _ => {
            *tmp = e.eval(ctx, &NoRow)?;
            Ok(tmp.as_ref())
        }
    }
}

/// A literal whose comparison with the column does not follow the column's order is of no use to an index.
fn lookable(e: &Expr, ty: &ColumnType) -> bool {
    match &e.kind {
        ExprKind::Literal(v) => !matches!(
            crate::plan::fit::fit(v.as_ref(), ty, narwal_types::Zone::UTC),
            crate::plan::fit::Fit::Unusable
        ),
        _ => true,
    }
}

/// A comparison by this collation follows the order of the column's index.
fn order_fits(ty: &ColumnType, collation: Collation) -> bool {
    !ty.has_charset() || ty.collation == collation
}

fn column(e: &Expr) -> Option<usize> {
    e.as_column().map(|(_, c)| c)
}

/// Reads a condition as one on a single column, if it is such.
pub fn extract(e: &Expr, table: &Table) -> Option<(usize, ColCond)> {
    match &e.kind {
        ExprKind::Compare {
            op,
            left,
            right,
            collation,
        } => {
            let (c, op, k) = match (column(left), column(right)) {
                (Some(c), None) if right.is_const() => (c, *op, right),
                (None, Some(c)) if left.is_const() => (c, op.flip(), left),
                _ => return None,
            };
            let ty = &table.columns()[c].ty;
            let equal = matches!(op, CmpOp::Eq | CmpOp::NullSafeEq);
            if op == CmpOp::Ne
                || (ty.is_member() && !equal)
                || !order_fits(ty, *collation)
                || !lookable(k, ty)
            {
                return None;
            }
            Some((c, ColCond::Cmp(op, (**k).clone())))
        }
        ExprKind::Between {
            expr,
            low,
            high,
            negated: false,
            collation,
        } => {
            let c = column(expr)?;
            if !low.is_const()
                || !high.is_const()
                || table.columns()[c].ty.is_member()
                || !order_fits(&table.columns()[c].ty, *collation)
            {
                return None;
            }
            Some((c, ColCond::Between((**low).clone(), (**high).clone())))
        }
        ExprKind::InList {
            expr,
            list,
            negated: false,
            collation,
        } => {
            let c = column(expr)?;
            let ty = &table.columns()[c].ty;
            if !order_fits(ty, *collation) || !list.iter().all(|e| e.is_const() && lookable(e, ty))
            {
                return None;
            }
            Some((c, ColCond::In(list.clone())))
        }
        ExprKind::Subquery(s)
            if !s.each_row && s.used == SubqueryUse::Any(CmpOp::Eq) && s.left.len() == 1 =>
        {
            let c = column(&s.left[0])?;
            let ty = &table.columns()[c].ty;
            // Only where the subquery's values compare by this column's own order.
            (s.keyed && order_fits(ty, s.collation)).then_some((c, ColCond::InSubquery(s.index)))
        }
        ExprKind::IsNull { expr, negated } => {
            let cond = match negated {
                true => ColCond::IsNotNull,
                false => ColCond::IsNull,
            };
            Some((column(expr)?, cond))
        }
        ExprKind::Like {
            expr,
            pattern,
            escape,
            negated: false,
            collation,
        } => {
            let c = column(expr)?;
            let ty = &table.columns()[c].ty;
            if !ty.is_character() || !pattern.is_const() || ty.collation != *collation {
                return None;
            }
            Some((c, ColCond::LikePrefix((**pattern).clone(), *escape)))
        }
        ExprKind::Or(list) => extract_all(list, table).map(|(c, conds)| (c, ColCond::Or(conds))),
        ExprKind::And(list) => extract_all(list, table).map(|(c, conds)| (c, ColCond::And(conds))),
        _ => None,
    }
}

/// Conditions that are all on one column.
fn extract_all(list: &[Expr], table: &Table) -> Option<(usize, Vec<ColCond>)> {
    let mut conds = Vec::with_capacity(list.len());
    let mut col = None;
    for e in list {
        let (c, cond) = extract(e, table)?;
        if *col.get_or_insert(c) != c {
            return None;
        }
        conds.push(cond);
    }
    Some((col?, conds))
}
