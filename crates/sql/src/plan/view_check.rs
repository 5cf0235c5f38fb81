//! WITH CHECK OPTION: rows written through a view must be rows that it shows.

use crate::bind::scope::MergedView;
use crate::expr::node::{EvalCtx, Expr, ExprKind, ImageRow};
use narwal_engine::Table;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult};

/// The condition of a view on the rows of its table.
#[derive(Debug, Clone)]
pub struct ViewCheck {
    all: Vec<Expr>,
    db: String,
    view: String,
}

impl ViewCheck {
    /// What a view asks of rows of a table whose columns begin at `base`; `None` if nothing. `own`: the table's columns.
    pub fn new(
        view: &MergedView,
        base: usize,
        own: impl Fn(usize) -> bool,
    ) -> SqlResult<Option<ViewCheck>> {
        if view.check.is_empty() {
            return Ok(None);
        }
        let mut all = view.check.clone();
        for e in &mut all {
            let mut inside = !e.any(&|e| matches!(e.kind, ExprKind::Subquery(_)));
            e.for_each_column(&mut |c| inside &= own(c));
            if !inside {
                return Err(SqlError::unsupported(
                    "CHECK OPTION with a subquery or over several tables",
                ));
            }
            shift(e, base);
        }
        Ok(Some(ViewCheck {
            all,
            db: view.def.db.clone(),
            view: view.def.name.clone(),
        }))
    }

    /// Error 1369 unless the view shows a row.
    pub fn test(&self, table: &Table, image: &[u8], ctx: &EvalCtx<'_>) -> SqlResult<()> {
        let row = ImageRow {
            layout: &table.layout,
            row: image,
        };
        for e in &self.all {
            if e.eval_bool(ctx, &row)? != Some(true) {
                return Err(errors::VIEW_CHECK_FAILED.with([&self.db, &self.view]));
            }
        }
        Ok(())
    }
}

fn shift(e: &mut Expr, base: usize) {
    match &mut e.kind {
        ExprKind::Column { column, .. } => *column -= base,
        _ => e.for_each_child_mut(&mut |c| shift(c, base)),
    }
}
