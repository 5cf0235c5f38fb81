//! Conditions that an index can answer: "search arguments".

use crate::expr::functions::control::TWO_DIGITS;
use crate::expr::node::{CmpOp, EvalCtx, Expr, ExprKind, NoRow, SubqueryUse};
use crate::plan::fit::{Fit, fit};
use narwal_engine::Table;
use narwal_types::{Collation, ColumnType, SqlResult, TypeKind, Value, ValueRef};

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

    /// It compares a column with what an index of it does not look up as it compares: a BIT column with a text ([`Fit::Stored`]), a
    /// YEAR(2).
    pub fn compares_otherwise(&self, ty: &ColumnType) -> bool {
        let short = ty.kind == TypeKind::Year && ty.year_digits() == 2;
        let text = |e: &Expr| short || !e.ty.ty.is_numeric() || e.ty.null;
        if !short && !matches!(ty.kind, TypeKind::Bit(_)) {
            return false;
        }
        match self {
            ColCond::Cmp(_, e) => text(e),
            ColCond::Between(a, b) => text(a) || text(b),
            ColCond::In(v) => v.iter().any(text),
            ColCond::Or(v) | ColCond::And(v) => v.iter().any(|c| c.compares_otherwise(ty)),
            ColCond::InSubquery(_) => true,
            ColCond::IsNull | ColCond::IsNotNull | ColCond::LikePrefix(..) => false,
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

/// A literal whose comparison with the column does not follow the column's order is of no use to an index. `single`: it is
/// to equal the column.
fn lookable(e: &Expr, ty: &ColumnType, single: bool) -> bool {
    let ExprKind::Literal(v) = &e.kind else {
        return true;
    };
    match fit(v.as_ref(), ty, narwal_types::Zone::UTC) {
        Fit::Unusable => false,
        Fit::Cut(_) => single,
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

/// A YEAR(2) compares by its two digits, and an index has whole years: the comparison of those.
fn whole_years(e: &Expr) -> Option<Expr> {
    let whole = |e: &mut Expr| {
        let ExprKind::Func { func, args } = &mut e.kind else {
            return false;
        };
        let found = *func == &TWO_DIGITS && args.len() == 1;
        if found && let Some(year) = args.pop() {
            *e = year;
        }
        found
    };
    let mut e = e.clone();
    let all = match &mut e.kind {
        ExprKind::Compare { left, right, .. } => whole(left) & whole(right),
        ExprKind::Between {
            expr, low, high, ..
        } => whole(expr) & whole(low) & whole(high),
        ExprKind::InList { expr, list, .. } => whole(expr) && list.iter_mut().all(whole),
        _ => false,
    };
    all.then_some(e)
}

/// The first of what is compared is the number of a YEAR(2).
fn of_two_digits(e: &Expr) -> bool {
    let short = |e: &Expr| matches!(&e.kind, ExprKind::Func { func, .. } if *func == &TWO_DIGITS);
    match &e.kind {
        ExprKind::Compare { left, right, .. } => short(left) || short(right),
        ExprKind::Between { expr, .. } | ExprKind::InList { expr, .. } => short(expr),
        _ => false,
    }
}

/// Reads a condition as one on a single column, if it is such.
pub fn extract(e: &Expr, table: &Table) -> Option<(usize, ColCond)> {
    if of_two_digits(e) {
        return whole_years(e).and_then(|e| extract(&e, table));
    }
    match &e.kind {
        ExprKind::Compare {
            op,
            left,
            right,
            collation,
        } => {
            let (c, op, k) = match (column(left), column(right)) {
                (Some(c), None) if right.is_steady() => (c, *op, right),
                (None, Some(c)) if left.is_steady() => (c, op.flip(), left),
                _ => return None,
            };
            let ty = &table.columns()[c].ty;
            let equal = matches!(op, CmpOp::Eq | CmpOp::NullSafeEq);
            if op == CmpOp::Ne
                || (ty.is_member() && !equal)
                || !order_fits(ty, *collation)
                || !lookable(k, ty, equal)
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
            if !low.is_steady()
                || !high.is_steady()
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
            if !order_fits(ty, *collation)
                || !list.iter().all(|e| e.is_steady() && lookable(e, ty, false))
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
            if !ty.is_character() || !pattern.is_steady() || ty.collation != *collation {
                return None;
            }
            Some((c, ColCond::LikePrefix((**pattern).clone(), *escape)))
        }
        ExprKind::Or(list) => {
            let (c, conds) = extract_all(list, table)?;
            let ty = &table.columns()[c].ty;
            // What is only good for one equality is none among several.
            let alone = |k: &ColCond| matches!(k, ColCond::Cmp(_, e) if !lookable(e, ty, false));
            (!conds.iter().any(alone)).then_some((c, ColCond::Or(conds)))
        }
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
