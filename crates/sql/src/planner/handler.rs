//! HANDLER ... READ.

use crate::bind::bind;
use crate::bind::scope::{Clause, Scope, Source};
use crate::engine_name::MERGE;
use crate::expr::node::{Expr, ExprKind};
use crate::plan::dml::DefaultValue;
use crate::plan::handler::{HandlerPlan, KeyComparison, KeyValue, Step};
use crate::planner::condition::in_clause;
use crate::planner::resolve::Resolver;
use crate::privilege::Privilege;
use narwal_engine::Table;
use narwal_syntax::ast::admin::{HandlerCursor, HandlerRead, Using};
use narwal_syntax::ast::{Expr as AstExpr, From, Select, SelectItem, TableName, TableRef};
use narwal_types::convert::implicit_default;
use narwal_types::errors;
use narwal_types::{SqlError, SqlResult, Value};
use std::sync::Arc;

/// As in errors.
const READ: &str = "HANDLER ... READ";

/// Position of an index of a table. Error 1176 if there is none of this name.
fn index_named(table: &Table, name: &str) -> SqlResult<usize> {
    let mut all = table.indexes.iter();
    all.position(|i| !i.name.is_empty() && i.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| errors::KEY_DOES_NOT_EXISTS.with([&name, &table.def.name]))
}

fn comparison(op: &str) -> KeyComparison {
    match op {
        ">=" => KeyComparison::AtLeast,
        ">" => KeyComparison::Greater,
        "<=" => KeyComparison::AtMost,
        "<" => KeyComparison::Less,
        _ => KeyComparison::Equal,
    }
}

impl Resolver<'_> {
    /// Plans HANDLER ... READ of an open handler.
    pub fn handler_read(&self, name: &str, read: &HandlerRead) -> SqlResult<HandlerPlan> {
        let (db, table_name) = self.env.handlers.table(name)?;
        let table = self.stored(&db, &table_name, Privilege::Select)?;
        if table.def.merge.is_some() {
            return Err(errors::ILLEGAL_HA.with([&MERGE, &db, &table_name]));
        }
        if table.def.sequence {
            return Err(errors::ILLEGAL_HA.with([&"InnoDB", &db, &table_name]));
        }
        let shown = TableRef {
            name: TableName {
                db: Some(db),
                name: table_name,
            },
            alias: Some(name.to_string()),
            hints: Vec::new(),
            partitions: Vec::new(),
            system_time: None,
        };
        let select = Select::of(vec![SelectItem::Wildcard], From::Table(shown));
        let rows = self.select(&select)?;
        let sources = [Source::new(name, table.clone())];
        let key = Scope {
            sources: &sources,
            ..Scope::empty(self.env)
        };
        let condition = |operand: &AstExpr| {
            let scope = Scope {
                sources: &sources,
                clause: Clause::Where,
                ..Scope::empty(self.env)
            };
            not_stored(bind(operand, &scope)?)
        };
        let filter = (read.where_.as_ref())
            .map(|w| condition(&w.value.expr))
            .transpose()?;
        let index = match &read.index {
            Some(index) => index_named(&table, index)?,
            None => 0,
        };
        Ok(HandlerPlan {
            name: name.to_string(),
            index,
            scan: read.index.is_none(),
            step: self.handler_step(&table, index, &read.cursor, &key)?,
            filter,
            limit: match &read.limit {
                Some(l) => self.limit(Some(l), false)?,
                None => None,
            },
            items: rows.items,
            columns: rows.columns,
            table,
        })
    }

    fn handler_step(
        &self,
        table: &Arc<Table>,
        index: usize,
        cursor: &HandlerCursor,
        scope: &Scope<'_>,
    ) -> SqlResult<Step> {
        let (op, values) = match cursor {
            HandlerCursor::First => return Ok(Step::End(false)),
            HandlerCursor::Last => return Ok(Step::End(true)),
            HandlerCursor::Next => return Ok(Step::On(false)),
            HandlerCursor::Prev => return Ok(Step::On(true)),
            HandlerCursor::Key(op, values) => (op, values),
        };
        let parts = &table.indexes[index].parts;
        if values.len() > parts.len() {
            return Err(errors::TOO_MANY_KEY_PARTS.with([&parts.len()]));
        }
        let key = values.iter().zip(parts).map(|(v, part)| match v {
            Using::Value(operand) => {
                let e = bind(&operand.value.expr, scope).map_err(|e| in_clause(e, READ))?;
                if e.has_column() {
                    return Err(errors::WRONG_ARGUMENTS.with([&READ]));
                }
                Ok(KeyValue::Expr(not_stored(e)?))
            }
            Using::Default | Using::Ignore => {
                let default = match self.default_value(table, part.column)? {
                    DefaultValue::Const(v) | DefaultValue::Missing(v) => v,
                    _ if part.nullable => Value::Null,
                    _ => implicit_default(&table.def.columns[part.column].ty),
                };
                Ok(KeyValue::Default(default))
            }
        });
        Ok(Step::Key(comparison(op), key.collect::<SqlResult<_>>()?))
    }
}

/// A stored function could write where the handler reads: refused, as in MariaDB.
fn not_stored(e: Expr) -> SqlResult<Expr> {
    match e.any(&|e: &Expr| matches!(e.kind, ExprKind::Stored(_))) {
        true => Err(SqlError::unsupported(
            "stored functions in HANDLER ... READ",
        )),
        false => Ok(e),
    }
}
