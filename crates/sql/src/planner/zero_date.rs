//! `date_column IS NULL` of a column that is NOT NULL: in a condition it also finds the zero date, which stands for "none" in
//! programs that can't show it.

use crate::bind::scope::Source;
use crate::expr::node::{CmpOp, Expr, ExprKind, make};
use crate::expr::types::bool_ty;
use narwal_types::temporal::{Date, DateTime};
use narwal_types::{Collation, TypeKind, Value};

/// The zero of a column that is DATE NOT NULL or DATETIME NOT NULL; `None` for others.
fn zero_of(e: &Expr, sources: &[Source]) -> Option<Value> {
    let (at, column) = e.as_column()?;
    let source = sources.get(at)?;
    let def = source
        .table
        .columns()
        .get(column.checked_sub(source.base)?)?;
    match def.ty.kind {
        _ if def.nullable => None,
        TypeKind::Date => Some(Value::Date(Date::default())),
        TypeKind::DateTime(fsp) => Some(Value::DateTime(DateTime {
            fsp,
            ..DateTime::default()
        })),
        _ => None,
    }
}

/// What a condition asks of whether it is NULL.
pub(super) fn tested_for_null(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::IsNull {
            expr,
            negated: false,
        } => Some(expr),
        ExprKind::Func { func, args } if func.name() == "isnull" && args.len() == 1 => args.first(),
        _ => None,
    }
}

/// A condition in which this rule holds: not below NOT or a comparison.
pub fn null_is_zero(mut e: Expr, sources: &[Source]) -> Expr {
    match &mut e.kind {
        ExprKind::And(list) | ExprKind::Or(list) => {
            let all = std::mem::take(list).into_iter();
            *list = all.map(|e| null_is_zero(e, sources)).collect();
            return e;
        }
        _ => {}
    }
    let Some(tested) = tested_for_null(&e) else {
        return e;
    };
    let Some(zero) = zero_of(tested, sources) else {
        return e;
    };
    let is_zero = make(
        ExprKind::Compare {
            op: CmpOp::Eq,
            left: Box::new(tested.clone()),
            right: Box::new(Expr::literal(zero)),
            collation: Collation::Binary,
        },
        bool_ty(tested.ty.nullable),
    );
    match tested.ty.nullable {
        // The row of an outer join that has no partner.
        true => make(ExprKind::Or(vec![e, is_zero]), bool_ty(true)),
        false => is_zero,
    }
}
