//! `id IS NULL` of an AUTO_INCREMENT column finds the row that was inserted last, under `sql_auto_is_null`: programs that use
//! ODBC ask so. It does so once for each INSERT, and only if nothing else is asked for.

use crate::bind::scope::Source;
use crate::env::StatementEnv;
use crate::expr::functions::info::FRESH_INSERT_ID;
use crate::expr::node::{CmpOp, Expr, ExprKind, make};
use crate::expr::types::bool_ty;
use crate::planner::zero_date::{null_is_zero, tested_for_null};
use narwal_types::Collation;

/// A whole condition, as this rule and that of the zero date change it.
pub fn what_null_finds(e: Expr, sources: &[Source], env: &StatementEnv) -> Expr {
    let e = null_is_zero(e, sources);
    if !env.auto_is_null {
        return e;
    }
    let Some(column) = tested_for_null(&e).filter(|c| numbers_itself(c, sources)) else {
        return e;
    };
    let id = Expr {
        kind: ExprKind::Func {
            func: &FRESH_INSERT_ID,
            args: Vec::new(),
        },
        ..column.clone()
    };
    make(
        ExprKind::Compare {
            op: CmpOp::Eq,
            left: Box::new(column.clone()),
            right: Box::new(id),
            collation: Collation::Binary,
        },
        bool_ty(true),
    )
}

/// An AUTO_INCREMENT column whose table is not on the inner side of an outer join.
fn numbers_itself(e: &Expr, sources: &[Source]) -> bool {
    let column = e.as_column().and_then(|(at, column)| {
        let source = sources.get(at)?;
        let column = column.checked_sub(source.base)?;
        source.table.columns().get(column)
    });
    column.is_some_and(|c| c.auto_increment && (c.nullable || !e.ty.nullable))
}
