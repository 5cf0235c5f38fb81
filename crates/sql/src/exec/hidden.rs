//! The columns of functional indexes in rows that another server sent: a MySQL's row events do not have them.

use crate::bind::table_rules::rules;
use crate::env::{NoVariables, StatementEnv};
use crate::exec::storer::{Cell, patched};
use crate::expr::node::{EvalCtx, ImageRow};
use crate::plan::dml::store_target;
use narwal_engine::Table;
use narwal_types::SqlResult;
use narwal_types::convert::{NoWarnings, StoreMode, store};
use std::sync::Arc;

/// The row image with the values that its hidden columns must have.
///
/// # Errors
/// What the expressions give, and their values that do not fit.
pub fn with_hidden_columns(table: &Arc<Table>, image: Vec<u8>) -> SqlResult<Vec<u8>> {
    let Some(rules) = rules(table)? else {
        return Ok(image);
    };
    // The expressions mean the same in every session.
    let env = StatementEnv::new(Arc::new(NoVariables));
    let ctx = EvalCtx::new(&env, &[]);
    let layout = &table.layout;
    let mut changes = Vec::new();
    for (column, e) in &rules.generated {
        if !table.def.columns[*column].is_hidden() {
            continue;
        }
        let row = ImageRow {
            layout,
            row: &image,
        };
        let v = e.eval_unrounded(&ctx, &row)?.into_value();
        let target = store_target(table, *column);
        let mode = StoreMode::default();
        let v = store(v.as_ref(), &target, 1, &mode, &mut NoWarnings)?;
        changes.push((*column, Cell::Own(v)));
    }
    patched(layout, &image, &changes)
}
