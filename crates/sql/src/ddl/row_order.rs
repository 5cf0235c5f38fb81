//! ALTER TABLE ... ORDER BY: the order in which the rows of a table without a primary key lie.

use crate::ast::AlterAction;
use crate::bind::scope::{Scope, Source};
use crate::ddl::run::Run;
use crate::expr::node::Expr;
use crate::plan::query::SortKey;
use narwal_engine::{Table, TableDef};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{Name, SqlError, SqlResult};
use std::sync::Arc;

impl Run<'_> {
    /// By what the rows are to be sorted; nothing with a warning where a primary key gives them their order. Error 1054 for
    /// what is no column.
    pub(super) fn row_order(
        &self,
        table: &Arc<Table>,
        actions: &[AlterAction],
    ) -> SqlResult<Vec<SortKey>> {
        let asked = actions.iter().rev().find_map(|a| match a {
            AlterAction::OrderBy(columns) => Some(columns),
            _ => None,
        });
        let Some(columns) = asked else {
            return Ok(Vec::new());
        };
        let old = &table.def;
        if old.indexes.iter().any(|i| i.name == "PRIMARY") {
            let told = format!(
                "ORDER BY ignored as there is a user-defined clustered index in the table '{}'",
                old.name
            );
            self.env.warn(codes::UNKNOWN_ERROR, told);
            return Ok(Vec::new());
        }
        let source = [Source::new(old.name.as_str(), table.clone())];
        let scope = Scope {
            sources: &source,
            ..Scope::empty(self.env)
        };
        let key = |(name, desc): &(String, bool)| {
            let expr = column_called(old, name).and_then(|c| Expr::column(&scope, 0, c));
            let unknown = || -> SqlError { errors::BAD_FIELD_ERROR.with([name, &"ORDER BY"]) };
            let expr = expr.ok_or_else(unknown)?;
            Ok(SortKey { expr, desc: *desc })
        };
        columns.iter().map(key).collect()
    }
}

/// The column that a name means, which may have the table's in front.
fn column_called(table: &TableDef, name: &str) -> Option<usize> {
    let same = |a: &str, b: &str| a.same_name(b);
    let (of, column) = name.rsplit_once('.').unwrap_or((&table.name, name));
    let of = of.rsplit('.').next().unwrap_or(of);
    let mut columns = table.columns.iter();
    columns.position(|c| same(of, &table.name) && same(&c.name, column))
}
