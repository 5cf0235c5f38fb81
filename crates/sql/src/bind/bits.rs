//! Literals `0x41` and `b'1'`, and choices among them, where a number is wanted: big-endian numbers.

use crate::expr::node::{Coercibility, Expr, ExprKind, ExprType, Function, make};
use crate::literal::bits_number;
use narwal_types::{Collation, TypeKind, Value};

/// True for such a literal, and for a function or CASE that gives on one of several.
pub(super) fn are_bits(e: &Expr) -> bool {
    let all = |results: &mut dyn Iterator<Item = &Expr>| {
        let (mut some, mut others) = (false, false);
        for e in results {
            match are_bits(e) {
                true => some = true,
                false => others |= !matches!(e.kind, ExprKind::Literal(Value::Null)),
            }
        }
        some && !others
    };
    match &e.kind {
        ExprKind::Literal(Value::Bytes(_)) => e.ty.bits,
        ExprKind::Func { func, args } => {
            let given = (args.iter().enumerate()).filter(|(i, _)| is_given_on(func, *i));
            all(&mut given.map(|(_, e)| e))
        }
        ExprKind::Case {
            whens, otherwise, ..
        } => all(&mut whens.iter().map(|w| &w.1).chain(otherwise.as_deref())),
        _ => false,
    }
}

/// True if a function's argument can be its value as it is.
fn is_given_on(func: &Function, arg: usize) -> bool {
    match func.name() {
        "coalesce" | "greatest" | "ifnull" | "least" => true,
        "if" | "nvl2" => arg > 0,
        "nullif" => arg == 0,
        _ => false,
    }
}

/// A BIT column where a text is wanted: its bytes. One that is chosen among others is a number there.
pub(super) fn as_bytes(e: Expr) -> Expr {
    match e.ty.ty.kind {
        TypeKind::Bit(_) if e.ty.coercibility != Coercibility::Ignorable => {
            let ty = ExprType::string(
                e.ty.chars(),
                Collation::Binary,
                Coercibility::Implicit,
                e.ty.nullable,
            );
            make(ExprKind::Cast(Box::new(e)), ty)
        }
        _ => e,
    }
}

/// The same as a number. Of a longer literal the last eight bytes count.
pub(super) fn as_number(e: Expr) -> Expr {
    if !are_bits(&e) {
        return e;
    }
    let nullable = e.ty.nullable;
    let mut digits = 1;
    let mut each = |e: Expr| {
        let e = as_number(e);
        digits = digits.max(e.ty.int_digits());
        e
    };
    let kind = match e.kind {
        ExprKind::Literal(Value::Bytes(b)) => {
            digits = bits_digits(b.len());
            ExprKind::Literal(Value::UInt(bits_number(&b)))
        }
        ExprKind::Func { func, args } => {
            let args = args.into_iter().enumerate();
            let args = args.map(|(i, e)| match is_given_on(func, i) {
                true => each(e),
                false => e,
            });
            let args = args.collect();
            ExprKind::Func { func, args }
        }
        ExprKind::Case {
            operand,
            whens,
            otherwise,
            collation,
        } => ExprKind::Case {
            operand,
            whens: whens.into_iter().map(|(w, t)| (w, each(t))).collect(),
            otherwise: otherwise.map(|e| Box::new(each(*e))),
            collation,
        },
        kind => kind,
    };
    make(kind, ExprType::bigint(true, nullable).with_digits(digits))
}

/// Digits of the largest number of so many bytes.
pub(super) fn bits_digits(bytes: usize) -> u32 {
    match bytes {
        0..=8 => (u64::MAX >> (8 * (8 - bytes.max(1)))).ilog10() + 1,
        _ => 20,
    }
}
