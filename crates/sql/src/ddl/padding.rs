//! Whether a value depends on `PAD_CHAR_TO_FULL_LENGTH`: with that `sql_mode` a CHAR is read with the blanks behind it.
//!
//! What is kept of such a value (a STORED column, an index) would not be what another session computes, so MariaDB refuses it,
//! and so would its replicas.

use crate::expr::node::{Expr, ExprKind};
use narwal_engine::ColumnDef;
use narwal_types::{TypeKind, Value};

/// True for a generated column `of` whose value so depends. `columns`: those of its table.
pub(super) fn matters(e: &Expr, of: &ColumnDef, columns: &[ColumnDef]) -> bool {
    // A CHAR drops the blanks when it takes the value.
    let taken = char_length(e, columns).is_some() && matches!(of.ty.kind, TypeKind::Char(_));
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

fn depends(e: &Expr, columns: &[ColumnDef]) -> bool {
    match &e.kind {
        ExprKind::Column { .. } => return char_length(e, columns).is_some(),
        // Comparisons don't see blanks at the end.
        ExprKind::Compare { .. }
        | ExprKind::Between { .. }
        | ExprKind::InList { .. }
        | ExprKind::IsNull { .. } => return false,
        ExprKind::Func { func, args } if func.name() == "rtrim" || func.name() == "trim" => {
            return args.iter().skip(1).any(|a| depends(a, columns));
        }
        ExprKind::Func { func, args } if func.name() == "rpad" => {
            let column = args.first().and_then(|a| char_length(a, columns));
            let filled = match args.get(1).map(|a| &a.kind) {
                Some(ExprKind::Literal(Value::Int(n))) => column.is_some_and(|c| *n >= c.into()),
                _ => false,
            };
            if filled {
                return false;
            }
        }
        _ => {}
    }
    let mut found = false;
    e.for_each_child(&mut |c| found |= depends(c, columns));
    found
}
