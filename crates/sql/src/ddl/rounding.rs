//! Whether a value depends on `TIME_ROUND_FRACTIONAL`: with that `sql_mode` a moment is rounded to the digits that are kept of
//! it, and cut without.
//!
//! As with the blanks of a CHAR (`padding.rs`), what is kept of such a value would not be what another session computes.

use crate::expr::node::{Expr, ExprKind};
use narwal_engine::ColumnDef;
use narwal_types::temporal_parse::{DateRules, parse_datetime, parse_time};
use narwal_types::{TypeKind, Value};

/// The same for a value that is known: one that is no moment of the column's may have any digits.
pub(super) fn matters_to(text: &str, of: &ColumnDef) -> bool {
    kept(of.ty.kind).is_some_and(|n| digits(text, of.ty.kind) > n)
}

/// True for a generated column `of` whose value so depends.
pub(super) fn matters(e: &Expr, of: &ColumnDef) -> bool {
    cuts(e, of.ty.kind) || (!e.any(&is_extreme) && casts(e))
}

/// Digits behind a second's point of a type with a time.
fn kept(kind: TypeKind) -> Option<u8> {
    match kind {
        TypeKind::Time(n) | TypeKind::DateTime(n) | TypeKind::Timestamp(n) => Some(n),
        _ => None,
    }
}

/// GREATEST and LEAST: moments beside texts are made texts there, and keep their digits.
fn is_extreme(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Func { func, .. } if ["greatest", "least"].contains(&func.name()))
}

/// The most digits that one of the columns and literals in an expression has.
fn of_parts(e: &Expr) -> u8 {
    let (mut most, mut parts) = (0, false);
    e.for_each_child(&mut |c| {
        parts = true;
        most = most.max(of_parts(c));
    });
    match parts {
        true => most,
        false => given(e),
    }
}

/// Digits behind the point of the second in a text that stands for a moment of this type.
fn digits(text: &str, kind: TypeKind) -> u8 {
    let is_moment = match kind {
        TypeKind::Time(_) => parse_time(text.as_bytes(), false).is_some(),
        _ => parse_datetime(text.as_bytes(), DateRules::default()).is_some(),
    };
    match is_moment {
        true => fraction(text),
        false => 6,
    }
}

fn fraction(text: &str) -> u8 {
    let behind = text.split_once('.').map_or("", |(_, behind)| behind);
    behind.bytes().take_while(u8::is_ascii_digit).count().min(6) as u8
}

/// The most digits behind a second's point that a value may have.
fn given(e: &Expr) -> u8 {
    if e.any(&is_extreme) {
        return of_parts(e);
    }
    match &e.kind {
        ExprKind::Literal(Value::Str(s)) => return fraction(s),
        // A text that met a moment and became one.
        ExprKind::Literal(v @ (Value::DateTime(_) | Value::Time(_))) => {
            return fraction(v.as_ref().to_text().trim_end_matches('0'));
        }
        ExprKind::Cast(inner) if kept(e.ty.ty.kind).is_some() => {
            return given(inner).min(kept(e.ty.ty.kind).unwrap_or(0));
        }
        _ => {}
    }
    match e.ty.ty.kind {
        _ if e.ty.null => 0,
        TypeKind::Decimal(..) => e.ty.decimals.min(6),
        TypeKind::Float | TypeKind::Double => 6,
        kind if e.ty.ty.is_string() && !e.ty.ty.is_member() => kept(kind).unwrap_or(6),
        kind => kept(kind).unwrap_or(0),
    }
}

fn cuts(e: &Expr, to: TypeKind) -> bool {
    kept(to).is_some_and(|n| given(e) > n)
}

fn casts(e: &Expr) -> bool {
    if let ExprKind::Cast(inner) = &e.kind
        && cuts(inner, e.ty.ty.kind)
    {
        return true;
    }
    let mut found = false;
    e.for_each_child(&mut |c| found |= casts(c));
    found
}
