//! WITH CHECK OPTION: rows written through a view must be rows that it shows.

use crate::bind::scope::MergedView;
use crate::env::{StatementEnv, VariableScope};
use crate::expr::node::{EvalCtx, Expr, ExprKind, ImageRow};
use narwal_engine::Table;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult, Value};

/// The condition of a view on the rows of its table.
#[derive(Debug, Clone)]
pub struct ViewCheck {
    all: Vec<Expr>,
    /// Conditions with columns of other tables: which values of the joined row tell whether they hold.
    pub joined: Vec<usize>,
    db: String,
    view: String,
}

/// What a view asks, parted by whose columns it is about.
pub struct Asked {
    /// The table's own; `None` if the view asks nothing.
    pub check: Option<ViewCheck>,
    /// Of a join: conditions with columns of other tables too.
    pub joined: Vec<Expr>,
}

impl ViewCheck {
    /// What a view asks of rows of a table whose columns begin at `base`. `own`: the table's columns.
    pub fn asked(view: &MergedView, base: usize, own: impl Fn(usize) -> bool) -> Asked {
        let mut all = Vec::new();
        let mut joined = Vec::new();
        for e in &view.check {
            // Subqueries run where the joined row is read.
            let mut inside = !e.any(&|e| matches!(e.kind, ExprKind::Subquery(_)));
            e.for_each_column(&mut |c| inside &= own(c));
            let mut e = e.clone();
            match inside {
                true => {
                    shift(&mut e, base);
                    all.push(e);
                }
                false => joined.push(e),
            }
        }
        let check = (!view.check.is_empty()).then(|| ViewCheck {
            all,
            joined: Vec::new(),
            db: view.def.db.clone(),
            view: view.def.name.clone(),
        });
        Asked { check, joined }
    }

    /// A row that INSERT makes has no partners: what is asked of other tables is asked of NULLs.
    pub fn without_partners(
        asked: Asked,
        base: usize,
        own: &dyn Fn(usize) -> bool,
    ) -> Option<Self> {
        let mut check = asked.check?;
        for mut e in asked.joined {
            alone(&mut e, own);
            shift(&mut e, base);
            check.all.push(e);
        }
        Some(check)
    }

    /// Error 1369 unless the view shows a row.
    pub fn test(&self, table: &Table, image: &[u8], ctx: &EvalCtx<'_>) -> SqlResult<()> {
        let row = ImageRow {
            layout: &table.layout,
            row: image,
        };
        for e in &self.all {
            if e.eval_bool(ctx, &row)? != Some(true) {
                return Err(self.failed());
            }
        }
        Ok(())
    }

    /// Error 1369 unless a joined row with its new values is one of the view's.
    pub fn test_joined(&self, values: &[Value]) -> SqlResult<()> {
        let holds = |i: &usize| {
            values
                .get(*i)
                .is_some_and(|v| !matches!(v, Value::Null | Value::Int(0) | Value::UInt(0)))
        };
        match self.joined.iter().all(holds) {
            true => Ok(()),
            false => Err(self.failed()),
        }
    }

    fn failed(&self) -> SqlError {
        errors::VIEW_CHECK_FAILED.with([&self.db, &self.view])
    }
}

/// Columns of other tables as NULLs.
fn alone(e: &mut Expr, own: &dyn Fn(usize) -> bool) {
    match &mut e.kind {
        ExprKind::Column { column, .. } if own(*column) => {}
        ExprKind::Column { .. } => e.kind = ExprKind::Literal(Value::Null),
        _ => e.for_each_child_mut(&mut |c| alone(c, own)),
    }
}

fn shift(e: &mut Expr, base: usize) {
    match &mut e.kind {
        ExprKind::Column { column, .. } => *column -= base,
        _ => e.for_each_child_mut(&mut |c| shift(c, base)),
    }
}

/// LIMIT behind a view that shows no whole key: note 1355, or error 1288 if `updatable_views_with_limit` does not allow it.
pub fn check_limited(view: &str, verb: &str, env: &StatementEnv) -> SqlResult<()> {
    let name = "updatable_views_with_limit";
    let said = env.system_variable(VariableScope::Session, name)?;
    if said.to_text() == "NO" {
        return Err(errors::NON_UPDATABLE_TABLE.with([&view, &verb]));
    }
    env.note_error(errors::WARN_VIEW_WITHOUT_KEY.plain());
    Ok(())
}
