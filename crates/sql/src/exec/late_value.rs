//! Virtual columns that are computed when they are read (`bind/late.rs`), in rows that triggers see.

use crate::bind::binder::bind;
use crate::bind::scope::{Scope, Source};
use crate::env::{StatementEnv, TriggerRow};
use crate::expr::node::{EvalCtx, Expr, ImageRow};
use narwal_syntax::ast::Expr as Ast;
use narwal_types::{SqlResult, Value};

/// A column's value of a trigger's row, as statements see it.
///
/// # Errors
/// What a computed column's expression gives.
pub fn trigger_value(
    row: &TriggerRow<'_>,
    new: bool,
    column: usize,
    env: &StatementEnv,
) -> SqlResult<Value> {
    let table = row.table;
    let def = &table.def.columns[column];
    let image = if new { row.new } else { row.old };
    let (Some(image), true) = (image, def.generated.as_ref().is_some_and(|g| g.late)) else {
        return row.value(new, column, env);
    };
    let sources = [Source::new(table.def.name.as_str(), table.clone())];
    let scope = Scope {
        sources: &sources,
        ..Scope::empty(env)
    };
    let e: Expr = bind(&Ast::Column(def.name.clone()), &scope)?;
    let image = ImageRow {
        layout: &table.layout,
        row: image,
    };
    e.eval(&EvalCtx::new(env, &[]), &image)
}
