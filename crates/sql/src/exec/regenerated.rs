//! Generated columns in rows that no statement wrote: a MySQL's row events do not have the columns of functional indexes, and
//! a cascade changes what columns are made of.

use crate::bind::table_rules::rules;
use crate::env::{NoVariables, StatementEnv};
use crate::exec::storer::{Cell, patched};
use crate::expr::node::{EvalCtx, Expr, ImageRow};
use crate::plan::dml::store_target;
use narwal_engine::Table;
use narwal_types::convert::{NoWarnings, StoreMode, store};
use narwal_types::{SqlResult, Value};
use std::sync::Arc;

/// The row image with the values that its hidden columns must have.
///
/// # Errors
/// What the expressions give, and their values that do not fit.
pub fn with_hidden_columns(table: &Arc<Table>, image: Vec<u8>) -> SqlResult<Vec<u8>> {
    regenerated(table, image, |column| {
        table.def.columns[column].is_hidden().then_some(Fit::Near)
    })
}

/// The row image with the values that its generated columns must have. What is wrong with one that nothing needs yet is nothing
/// to who changes the row: it is NULL, or what fits.
///
/// # Errors
/// What the expressions give, and their values that do not fit.
pub fn with_generated_columns(table: &Arc<Table>, image: Vec<u8>) -> SqlResult<Vec<u8>> {
    let Some(rules) = rules(table)? else {
        return Ok(image);
    };
    regenerated(table, image, |column| {
        Some(match rules.unseen[column] {
            true => Fit::Any,
            false => Fit::Exact,
        })
    })
}

/// What a value has to be for its column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    /// What does not fit is an error.
    Exact,
    /// What does not fit is made to.
    Near,
    /// The same, and an expression that gives an error gives NULL.
    Any,
}

/// The row image with new values of the generated columns for which `chosen` says how they have to fit.
fn regenerated(
    table: &Arc<Table>,
    mut image: Vec<u8>,
    chosen: impl Fn(usize) -> Option<Fit>,
) -> SqlResult<Vec<u8>> {
    let Some(rules) = rules(table)? else {
        return Ok(image);
    };
    // The expressions mean the same in every session.
    let env = StatementEnv::new(Arc::new(NoVariables));
    let ctx = EvalCtx::new(&env, &[]);
    // In the order of the columns: one may be made of those before it.
    for (column, e) in &rules.generated {
        let Some(fit) = chosen(*column) else { continue };
        let made = value(table, *column, e, &ctx, &image, fit == Fit::Exact);
        let value = match fit {
            Fit::Any => made.unwrap_or(Value::Null),
            Fit::Exact | Fit::Near => made?,
        };
        image = patched(&table.layout, &image, &[(*column, Cell::Own(value))])?;
    }
    Ok(image)
}

/// What a column's expression gives for a row, as the column stores it.
fn value(
    table: &Arc<Table>,
    column: usize,
    e: &Expr,
    ctx: &EvalCtx<'_>,
    row: &[u8],
    strict: bool,
) -> SqlResult<Value> {
    let row = ImageRow {
        layout: &table.layout,
        row,
    };
    let made = e.eval_unrounded(ctx, &row)?.into_value();
    let mode = StoreMode {
        strict,
        ..StoreMode::default()
    };
    let target = store_target(table, column);
    store(made.as_ref(), &target, 1, &mode, &mut NoWarnings)
}
