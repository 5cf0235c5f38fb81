//! Whether a value depends on `NO_UNSIGNED_SUBTRACTION`: with that `sql_mode` a difference of numbers without a sign may be below
//! zero, and is an error without.
//!
//! As with the blanks of a CHAR (`padding.rs`), what is kept of such a value would not be what another session computes.

use crate::expr::node::{ArithOp, Expr, ExprKind, ExprType};
use narwal_types::TypeKind;

/// True for an expression that so depends.
pub(super) fn matters(e: &Expr) -> bool {
    e.any(&is_unsigned_difference)
}

fn is_unsigned_difference(e: &Expr) -> bool {
    let ExprKind::Arith {
        op: ArithOp::Sub,
        left,
        right,
    } = &e.kind
    else {
        return false;
    };
    let (left, right) = (has_no_sign(&left.ty), has_no_sign(&right.ty));
    match e.ty.ty.kind {
        TypeKind::Float | TypeKind::Double => false,
        TypeKind::Decimal(..) => left && right,
        _ => left || right,
    }
}

fn has_no_sign(t: &ExprType) -> bool {
    t.ty.unsigned || matches!(t.ty.kind, TypeKind::Year | TypeKind::Bit(_))
}
