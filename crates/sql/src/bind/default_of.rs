//! DEFAULT(column): the value that a row has in a column where none is given.

use crate::bind::binder::Binder;
use crate::bind::sequence_rights::note_used;
use crate::bind::table_rules::default_expression;
use crate::expr::node::{Expr, ExprKind, ExprType, make};
use narwal_engine::DefaultDef;
use narwal_syntax::ast::Expr as Ast;
use narwal_types::convert::{NoWarnings, StoreMode, StoreTarget, default_input, store};
use narwal_types::errors;
use narwal_types::{ColumnType, DateTime, SqlResult, Time, TypeKind, Value};

impl Binder<'_> {
    /// The default of a column, of the column's type. Error 1364 if it has none.
    pub(super) fn default_of(&self, column: &Ast) -> SqlResult<Expr> {
        let e = self.expr(column)?;
        let found = match e.kind {
            ExprKind::Column { source, column, .. } => {
                let of = self.scope.sources.get(source);
                of.and_then(|s| Some((s, source, column.checked_sub(s.base)?)))
            }
            _ => None,
        };
        // What a view computes has none.
        let Some((source, number, at)) = found.filter(|(s, _, at)| *at < s.table.def.columns.len())
        else {
            return Err(errors::NO_DEFAULT_FOR_FIELD.with([&e]));
        };
        let c = &source.table.def.columns[at];
        Ok(match &c.default {
            DefaultDef::None if c.auto_increment => make(ExprKind::Literal(Value::Int(0)), e.ty),
            DefaultDef::None if c.nullable => make(ExprKind::Literal(Value::Null), e.ty),
            DefaultDef::Null => make(ExprKind::Literal(Value::Null), e.ty),
            DefaultDef::None => return Err(errors::NO_DEFAULT_FOR_FIELD.with([&c.name])),
            DefaultDef::CurrentTimestamp(digits) => {
                let digits = Expr::literal(Value::Int((*digits).into()));
                let now = self.named_call("now", vec![digits])?;
                make(ExprKind::Cast(Box::new(now)), e.ty)
            }
            DefaultDef::Moment(_) => {
                let shown = c.default_moment(self.scope.env.time_zone);
                make(
                    ExprKind::Literal(shown.map_or(Value::Null, Value::DateTime)),
                    e.ty,
                )
            }
            DefaultDef::Text(text) if matches!(c.ty.kind, TypeKind::Timestamp(_)) => {
                let text = Expr::literal(Value::str(text.as_str()));
                make(ExprKind::Cast(Box::new(text)), e.ty)
            }
            // A member shows itself as its text.
            DefaultDef::Text(text) if c.ty.is_member() => {
                let ty = ExprType::string(
                    e.ty.chars(),
                    c.ty.collation,
                    e.ty.coercibility,
                    e.ty.nullable,
                );
                make(ExprKind::Literal(Value::str(text.as_str())), ty)
            }
            DefaultDef::Text(text) => {
                let target = StoreTarget {
                    ty: &c.ty,
                    nullable: c.nullable,
                    db: &source.table.def.db,
                    table: &source.table.def.name,
                    column: &c.name,
                };
                let input = default_input(text, &c.ty);
                let value = store(input, &target, 1, &StoreMode::default(), &mut NoWarnings)?;
                make(ExprKind::Literal(with_digits_of(value, &c.ty)), e.ty)
            }
            DefaultDef::Expr(_) => {
                // Not by the table's rules: those may be what is being bound.
                let made = default_expression(&source.table, at)?;
                let mut made = made.unwrap_or_else(|| Expr::literal(Value::Null));
                note_used(self.scope.env, &made);
                // It names columns of the table alone; here they are those of this source.
                made.replace_columns(&mut |c| Some(Expr::column(self.scope, number, c)?.kind));
                made
            }
        })
    }
}

/// A moment with all the digits behind the point that its column shows.
fn with_digits_of(value: Value, ty: &ColumnType) -> Value {
    match (value, ty.kind) {
        (Value::DateTime(t), TypeKind::DateTime(fsp)) => Value::DateTime(DateTime { fsp, ..t }),
        (Value::Time(t), TypeKind::Time(fsp)) => Value::Time(Time { fsp, ..t }),
        (value, _) => value,
    }
}
