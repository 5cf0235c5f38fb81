//! Whether a value depends on `PAD_CHAR_TO_FULL_LENGTH`: with that `sql_mode` a CHAR is read with the blanks behind it.
//!
//! What is kept of such a value (a STORED column, an index) would not be what another session computes, so MariaDB refuses it,
//! and so would its replicas.

use crate::expr::func::Func;
use crate::expr::node::{Expr, ExprKind};
use narwal_engine::ColumnDef;
use narwal_types::{TypeKind, Value};

/// True for a generated column `of` whose value so depends. `columns`: those of its table.
pub(super) fn matters(e: &Expr, of: &ColumnDef, columns: &[ColumnDef]) -> bool {
    // A CHAR drops the blanks when it takes the value; numbers, days and members don't see them.
    let unseen = of.ty.is_integer()
        || of.ty.is_member()
        || matches!(
            of.ty.kind,
            TypeKind::Char(_)
                | TypeKind::Decimal(..)
                | TypeKind::Float
                | TypeKind::Double
                | TypeKind::Date
                | TypeKind::Year
        );
    let taken = char_length(e, columns).is_some() && unseen;
    !taken && depends(e, columns)
}

/// The length of a CHAR column.
fn char_length(e: &Expr, columns: &[ColumnDef]) -> Option<u16> {
    let (_, column) = e.as_column()?;
    match columns.get(column)?.ty.kind {
        TypeKind::Char(n) => Some(n),
        _ => None,
    }
}

fn is_null(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Literal(Value::Null))
}

/// What TRIM takes away is one blank; or it is NULL, and so is the value.
fn is_blank_or_null(e: &Expr) -> bool {
    is_null(e) || matches!(&e.kind, ExprKind::Literal(Value::Str(s)) if &**s == " ")
}

fn is_text(e: &Expr) -> bool {
    e.ty.null || e.ty.ty.is_string()
}

fn ends_in_percent(pattern: &Expr) -> bool {
    matches!(&pattern.kind, ExprKind::Literal(Value::Str(s)) if s.ends_with('%'))
}

/// The same of a value whose own blanks at the end are not seen: those of a column are not, those that a function saw are.
fn within(e: &Expr, columns: &[ColumnDef]) -> bool {
    char_length(e, columns).is_none() && depends(e, columns)
}

fn depends(e: &Expr, columns: &[ColumnDef]) -> bool {
    match &e.kind {
        ExprKind::Column { .. } => return char_length(e, columns).is_some(),
        // Comparisons of texts don't see blanks at the end of a column, but where blanks count; those of moments see none.
        ExprKind::Compare {
            left,
            right,
            collation,
            ..
        } => {
            let sides = [&**left, &**right];
            return match sides.iter().any(|s| s.ty.ty.is_temporal()) {
                true => false,
                false if sides.iter().all(|s| is_text(s)) && collation.pads() => {
                    sides.iter().any(|s| within(s, columns))
                }
                false => sides.iter().any(|s| depends(s, columns)),
            };
        }
        ExprKind::Between { .. } | ExprKind::InList { .. } => {
            let mut moments = false;
            e.for_each_child(&mut |c| moments |= c.ty.ty.is_temporal());
            if moments {
                return false;
            }
        }
        ExprKind::And(_) | ExprKind::Or(_) => return false,
        ExprKind::Func { func, .. } if func.name() == "interval" => return false,
        ExprKind::Like { pattern, .. } if is_null(pattern) => return false,
        // Whatever stands at the end.
        ExprKind::Like { expr, pattern, .. } if ends_in_percent(pattern) => {
            return within(expr, columns);
        }
        ExprKind::Func { func, args } if func.name() == "rtrim" || func.name() == "trim" => {
            // Blanks at the end go, if one blank is what is taken away there.
            let leading = std::ptr::eq(*func, Func::TrimLeading);
            let gone = !leading && args.get(1).is_none_or(is_blank_or_null);
            let rest = args.iter().skip(usize::from(gone));
            return gone && args.first().is_some_and(|a| within(a, columns))
                || rest.into_iter().any(|a| depends(a, columns));
        }
        ExprKind::Func { func, args } if func.name() == "rpad" => {
            let column = args.first().and_then(|a| char_length(a, columns));
            let filled = match args.get(1).map(|a| &a.kind) {
                Some(ExprKind::Literal(Value::Int(n))) => column.is_some_and(|c| *n >= c.into()),
                // All of it is NULL.
                Some(ExprKind::Literal(Value::Null)) => true,
                _ => false,
            };
            if filled {
                return args.iter().skip(2).any(|a| depends(a, columns));
            }
        }
        _ => {}
    }
    let mut found = false;
    e.for_each_child(&mut |c| found |= depends(c, columns));
    found
}
