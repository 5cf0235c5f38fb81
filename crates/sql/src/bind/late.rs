//! Virtual columns that are computed when they are read, since their value depends on the session or the time, or since
//! cascades change what they are made of. The row has NULL in their place.

use crate::bind::scope::Scope;
use crate::bind::table_rules::bind_text;
use crate::expr::node::{Expr, ExprKind, make};

impl Expr {
    /// Such a column's value: its expression over the source's columns, as a value of the column's type. `None` for a column that
    /// the row has.
    pub(super) fn late_column(scope: &Scope<'_>, source: usize, column: usize) -> Option<Expr> {
        let s = scope.sources.get(source)?;
        let generated = s.table.columns().get(column)?.generated.as_ref()?;
        if !generated.late {
            return None;
        }
        let mut made = bind_text(&generated.expr, &s.table).ok()?;
        // It names columns of the table alone; here they are those of this source.
        made.replace_columns(&mut |c| Some(Expr::column(scope, source, c)?.kind));
        let ty = s.column_type(column);
        Some(make(ExprKind::Cast(Box::new(made)), ty))
    }
}
