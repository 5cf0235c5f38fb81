//! An expression that an index is of is read from the index's hidden column, as if that was written.

use crate::bind::scope::Scope;
use crate::bind::table_rules::rules;
use crate::expr::node::{Expr, ExprKind, ExprType};
use narwal_types::SqlResult;

/// An expression over the columns of a query's sources, and the hidden column that has its value.
struct Hidden {
    /// With all types taken off: they say nothing that the expression itself does not.
    expr: Expr,
    column: Expr,
}

/// The hidden columns of a query's tables.
pub struct HiddenColumns(Vec<Hidden>);

impl HiddenColumns {
    /// Those of the sources. Tables without functional indexes cost a look at their last column.
    pub fn of(scope: &Scope<'_>) -> SqlResult<HiddenColumns> {
        let mut found = Vec::new();
        for (n, s) in scope.sources.iter().enumerate() {
            let hidden = |c: &narwal_engine::ColumnDef| c.is_hidden();
            if s.view.is_some() || !s.table.columns().last().is_some_and(hidden) {
                continue;
            }
            let Some(rules) = rules(&s.table)? else {
                continue;
            };
            for (column, e) in &rules.generated {
                if !hidden(&s.table.columns()[*column]) {
                    continue;
                }
                let Some(read) = Expr::column(scope, n, *column) else {
                    continue;
                };
                let mut expr = e.clone();
                moved(&mut expr, n, s.base);
                bare(&mut expr);
                found.push(Hidden { expr, column: read });
            }
        }
        Ok(HiddenColumns(found))
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reads hidden columns wherever their expressions stand in `e`.
    pub fn read_in(&self, e: &mut Expr) {
        if self.0.is_empty() || matches!(e.kind, ExprKind::Column { .. } | ExprKind::Literal(_)) {
            return;
        }
        let mut plain = e.clone();
        bare(&mut plain);
        if let Some(h) = self.0.iter().find(|h| h.expr == plain) {
            *e = Expr {
                ty: e.ty,
                ..h.column.clone()
            };
            return;
        }
        e.for_each_child_mut(&mut |c| self.read_in(c));
    }
}

/// Moves an expression over one table to where the table's columns stand in a query.
fn moved(e: &mut Expr, to: usize, base: usize) {
    if let ExprKind::Column { source, column, .. } = &mut e.kind {
        *source = to;
        *column += base;
    }
    e.for_each_child_mut(&mut |c| moved(c, to, base));
}

/// Takes off what may differ between two texts that mean the same.
fn bare(e: &mut Expr) {
    e.ty = ExprType::int(false);
    if let ExprKind::Column { name, .. } = &mut e.kind {
        *name = Box::default();
    }
    e.for_each_child_mut(&mut bare);
}
