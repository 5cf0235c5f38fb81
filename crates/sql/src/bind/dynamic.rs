//! Calls about dynamic columns: each value with the kind that it is written as, or asked for as.

use crate::bind::binder::Binder;
use crate::expr::functions::dynamic::kinds;
use crate::expr::node::Expr;
use narwal_syntax::ast::{CastType, DynamicColumn, Expr as Ast};
use narwal_types::{SqlError, SqlResult, Value};

impl Binder<'_> {
    /// COLUMN_CREATE, or COLUMN_ADD to what there is.
    pub(super) fn dynamic_columns(
        &self,
        to: Option<&Ast>,
        columns: &[DynamicColumn],
    ) -> SqlResult<Expr> {
        let mut args = Vec::with_capacity(3 * columns.len() + 1);
        if let Some(to) = to {
            args.push(self.expr(to)?);
        }
        for c in columns {
            args.push(self.expr(&c.name)?);
            let value = self.expr(&c.value)?;
            let (value, kind) = match &c.ty {
                None => (value, kinds::ANY),
                Some(t @ CastType::Signed) => (self.cast_to(value, t)?, kinds::INT),
                Some(CastType::Unsigned) => (value, kinds::UINT),
                Some(t @ CastType::Double(_)) => (self.cast_to(value, t)?, kinds::DOUBLE),
                Some(t @ CastType::Char { .. }) => (self.cast_to(value, t)?, kinds::TEXT),
                Some(CastType::Decimal(_)) => (value, kinds::DECIMAL),
                Some(CastType::Date) => (value, kinds::DATE),
                Some(CastType::Time(_)) => (value, kinds::TIME),
                Some(CastType::DateTime(_)) => (value, kinds::DATETIME),
                Some(_) => return Err(SqlError::unsupported("this type of a dynamic column")),
            };
            args.push(value);
            args.push(Expr::literal(Value::Int(kind)));
        }
        let name = match to {
            Some(_) => " column_add",
            None => " column_create",
        };
        self.named_call(name, args)
    }

    /// COLUMN_GET: the value as one of a type.
    pub(super) fn dynamic_column(&self, of: &Ast, name: &Ast, ty: &CastType) -> SqlResult<Expr> {
        let kind = match ty {
            CastType::Signed => kinds::INT,
            CastType::Unsigned => kinds::UINT,
            CastType::Double(_) | CastType::Float => kinds::DOUBLE,
            CastType::Decimal(_) => kinds::DECIMAL,
            CastType::Date => kinds::DATE,
            CastType::Time(_) => kinds::TIME,
            CastType::DateTime(_) => kinds::DATETIME,
            CastType::Binary(_) => kinds::BINARY,
            _ => kinds::TEXT,
        };
        let args = vec![
            self.expr(of)?,
            self.expr(name)?,
            Expr::literal(Value::Int(kind)),
        ];
        let e = self.named_call(" column_get", args)?;
        match kind {
            // Digits that are said round the value, and cut it to what they can show.
            kinds::DOUBLE if matches!(ty, CastType::Double(Some(_))) => self.cast_to(e, ty),
            kinds::INT | kinds::UINT | kinds::DOUBLE => Ok(e),
            kinds::BINARY if matches!(ty, CastType::Binary(None)) => Ok(e),
            _ => self.cast_to(e, ty),
        }
    }
}
