//! YEAR(2): such a column computes and compares as the number that its two digits are. As in MariaDB an index has whole years,
//! so that a year outside of 1970 to 2069 is looked up as what it is (see [`crate::plan::sarg`]).

use crate::bind::bits;
use crate::expr::functions::control::{TWO_DIGITS, YEAR_OF};
use crate::expr::functions::year_of;
use crate::expr::node::{ArithOp, Expr, ExprKind, ExprType, make};
use narwal_types::{TypeKind, Value};

/// A YEAR(2), not what has been made of one.
pub(super) fn is_short(e: &Expr) -> bool {
    e.ty.ty.kind == TypeKind::Year && e.ty.ty.year_digits() == 2
}

/// The number that the two digits are.
pub(super) fn two_digits(e: Expr) -> Expr {
    let ty = ExprType::bigint(true, e.ty.nullable).with_chars(2, false);
    let func = &TWO_DIGITS;
    make(
        ExprKind::Func {
            func,
            args: vec![e],
        },
        ty,
    )
}

/// What is compared with others: a YEAR(2) by its digits, and constants beside it by those of the years that they would be
/// stored as.
pub(super) fn compared<const N: usize>(all: [Expr; N]) -> [Expr; N] {
    // Years beside years are compared as what they are.
    let year = |e: &Expr| e.ty.ty.kind == TypeKind::Year;
    if !all.iter().any(is_short) || all.iter().filter(|e| year(e)).count() > 1 {
        return all;
    }
    all.map(digits)
}

/// The same for the first of a list and what it is looked for in.
pub(super) fn compared_list(first: Expr, list: Vec<Expr>) -> (Expr, Vec<Expr>) {
    match is_short(&first) {
        true => (digits(first), list.into_iter().map(digits).collect()),
        false => (first, list),
    }
}

fn digits(e: Expr) -> Expr {
    if is_short(&e) {
        return two_digits(e);
    }
    if !e.is_const() || e.ty.null {
        return e;
    }
    match year_beside(bits::as_number(e)) {
        // As a YEAR(2) stores it.
        Expr {
            kind: ExprKind::Literal(Value::Int(0)),
            ..
        } => two_digits(Expr::literal(Value::Int(2000))),
        year if is_year(&year) => two_digits(year),
        other => other,
    }
}

/// A literal that is a year, or what will be one.
fn is_year(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Literal(Value::Int(n)) => *n == 0 || (1901..=2155).contains(n),
        ExprKind::Literal(_) => false,
        _ => true,
    }
}

/// The year of 1970 to 2069 that two digits stand for: by it MIN() and MAX() compare.
pub(super) fn widened(e: Expr) -> Expr {
    let ty = e.ty;
    let step = |op, left: Expr, n: i64| {
        let ty = ExprType::bigint(true, left.ty.nullable);
        let right = Box::new(Expr::literal(Value::Int(n)));
        let left = Box::new(left);
        make(ExprKind::Arith { op, left, right }, ty)
    };
    let turned = step(ArithOp::Add, two_digits(e), 30);
    let from_1970 = step(ArithOp::Mod, turned, 100);
    let year = step(ArithOp::Add, from_1970, 1970);
    Expr { ty, ..year }
}

/// A constant beside a YEAR column: the year that it would be stored as, if it can be one.
pub(super) fn year_beside(e: Expr) -> Expr {
    if let ExprKind::Literal(v) = &e.kind {
        return match year_of(v.as_ref()) {
            Some(y) => Expr::literal(Value::Int(y)),
            None => e,
        };
    }
    if !e.is_const() || e.ty.null || e.any(&|e| matches!(e.kind, ExprKind::Outer(_))) {
        return e;
    }
    let ty = e.ty;
    let args = vec![e];
    let func = &YEAR_OF;
    make(ExprKind::Func { func, args }, ty)
}
