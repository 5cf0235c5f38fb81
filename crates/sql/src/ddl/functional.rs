//! Functional indexes: an index of an expression is one of a hidden column, as in MySQL.
//!
//! The column is generated and virtual, stands behind all others, and its name says that it is hidden
//! ([`narwal_engine::HIDDEN_COLUMN`]). It is made with its index and goes with it. The planner reads it wherever a statement has
//! the same expression (`planner/rules/functional.rs`).

use super::constraint;
use crate::ast::IndexSpec;
use crate::bind::bind;
use crate::bind::scope::{Scope, Source};
use crate::bind::table_rules::bind_text;
use crate::ddl::run::Run;
use crate::expr::node::Expr;
use crate::plan::made::stored_type;
use crate::planner::bind_select::result_column;
use narwal_engine::{ColumnDef, DefaultDef, GeneratedDef, HIDDEN_COLUMN, Table, TableDef};
use narwal_syntax::ast::Expr as Ast;
use narwal_types::errors::codes;
use narwal_types::{Name, SqlError, SqlResult, TypeKind, errors};
use std::sync::Arc;

/// The name that MySQL gives to an index that has none, and an expression.
pub(super) const INDEX_NAME: &str = "functional_index";

/// So many characters of an index's name stand in that of its column.
const NAME_CHARS: usize = 40;

impl Run<'_> {
    /// The hidden columns that an index asks for, behind those of `table`, which is the definition so far. The index names them
    /// from now on.
    pub(super) fn hidden_columns(
        &self,
        spec: &mut IndexSpec,
        table: &TableDef,
    ) -> SqlResult<Vec<ColumnDef>> {
        let mut made: Vec<ColumnDef> = Vec::new();
        if spec.functional.is_empty() {
            return Ok(made);
        }
        if spec.primary {
            return Err(errors::FUNCTIONAL_INDEX_PRIMARY_KEY.plain());
        }
        let index = spec.name.clone().unwrap_or_else(|| INDEX_NAME.to_string());
        let short: String = index.chars().take(NAME_CHARS).collect();
        for (part, e) in std::mem::take(&mut spec.functional) {
            let taken = |n: &str| (table.columns.iter().chain(&made)).any(|c| c.name.same_name(n));
            let name = (0..)
                .map(|n| format!("{HIDDEN_COLUMN}{short}!{part}!{n}"))
                .find(|n| !taken(n))
                .unwrap_or_default();
            spec.columns[part].0.clone_from(&name);
            made.push(self.hidden_column(&e, name, &index, table)?);
        }
        Ok(made)
    }

    fn hidden_column(
        &self,
        e: &Ast,
        name: String,
        index: &str,
        table: &TableDef,
    ) -> SqlResult<ColumnDef> {
        match inner(e) {
            Ast::Column(_) | Ast::Qualified(_) => {
                return Err(errors::FUNCTIONAL_INDEX_ON_FIELD.plain());
            }
            Ast::Row(_) => return Err(errors::FUNCTIONAL_INDEX_ROW_IS_NOT_ALLOWED.with([&index])),
            Ast::UserVar(_) | Ast::SystemVar(_) => {
                return Err(errors::DEFAULT_VAL_GENERATED_VARIABLES.with([&index]));
            }
            _ => {}
        }
        let text = constraint::generated(
            e,
            &name,
            (&table.db, &table.name),
            self.env.collation.charset(),
            self.env,
        )
        .map_err(|e| of_index(e, index))?;
        let bound = self.bound(e, table).map_err(|e| of_index(e, index))?;
        let mut auto = false;
        bound.for_each_column(&mut |c| auto |= table.columns[c].auto_increment);
        if auto {
            return Err(errors::FUNCTIONAL_INDEX_REF_AUTO_INCREMENT.with([&index]));
        }
        if constraint::depends_on_session(&bound) {
            return Err(errors::FUNCTIONAL_INDEX_FUNCTION_IS_NOT_ALLOWED.with([&index]));
        }
        let r = result_column(&name, &bound, None);
        let (ty, display_width) = stored_type(&r);
        if r.json {
            return Err(errors::FUNCTIONAL_INDEX_ON_JSON_OR_GEOMETRY_FUNCTION.plain());
        }
        if matches!(ty.kind, TypeKind::Text(_) | TypeKind::Blob(_)) {
            return Err(errors::FUNCTIONAL_INDEX_ON_LOB.plain());
        }
        Ok(ColumnDef {
            name,
            ty,
            nullable: bound.ty.nullable,
            default: DefaultDef::None,
            auto_increment: false,
            on_update: None,
            comment: String::new(),
            display_width,
            generated: Some(GeneratedDef {
                expr: text,
                stored: false,
                late: false,
            }),
            check: None,
            invisible: true,
            compressed: false,
            headed: false,
        })
    }

    /// An expression over a table that is not there yet, under the session's settings: they say what collation a text has.
    fn bound(&self, e: &Ast, table: &TableDef) -> SqlResult<Expr> {
        let table = Table::made(columns_of(table))?;
        let source = [Source::new(table.def.name.as_str(), table.clone())];
        let scope = Scope {
            sources: &source,
            ..Scope::empty(self.env)
        };
        bind(e, &scope)
    }
}

/// The types that hidden columns have over a table whose other columns have changed.
pub(super) fn retype(table: &TableDef) -> SqlResult<Vec<Option<narwal_types::ColumnType>>> {
    let bare = Table::made(columns_of(table))?;
    let of = |c: &ColumnDef| -> SqlResult<Option<narwal_types::ColumnType>> {
        let Some(g) = c.generated.as_ref().filter(|_| c.is_hidden()) else {
            return Ok(None);
        };
        let e = bind_text(&g.expr, &bare)?;
        let (mut ty, _) = stored_type(&result_column(&c.name, &e, None));
        // What a text without a column's collation has depends on who made the index.
        ty.collation = c.ty.collation;
        Ok(Some(ty))
    };
    table.columns.iter().map(of).collect()
}

/// The columns that each expression in a table's definition reads.
pub(super) fn columns_read(text: &str, table: &Arc<Table>) -> SqlResult<Vec<usize>> {
    let mut read = Vec::new();
    bind_text(text, table)?.for_each_column(&mut |c| read.push(c));
    Ok(read)
}

/// A definition without anything but its columns.
pub(super) fn columns_of(table: &TableDef) -> TableDef {
    TableDef {
        indexes: Vec::new(),
        foreign_keys: Vec::new(),
        checks: Vec::new(),
        period: None,
        ..table.clone()
    }
}

fn inner(e: &Ast) -> &Ast {
    match e {
        Ast::Nested(e) => inner(e),
        e => e,
    }
}

/// An error of a generated column as it is called in an index.
fn of_index(e: SqlError, index: &str) -> SqlError {
    match e.code {
        codes::GENERATED_COLUMN_FUNCTION_IS_NOT_ALLOWED => {
            errors::FUNCTIONAL_INDEX_FUNCTION_IS_NOT_ALLOWED.with([&index])
        }
        codes::BAD_FIELD_ERROR => {
            let name = e.message.split('\'').nth(1).unwrap_or_default().to_string();
            errors::BAD_FIELD_ERROR.with([&name, &"functional index"])
        }
        _ => e,
    }
}
