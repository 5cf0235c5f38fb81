//! Parameters as the binder sees them.

use crate::env::StatementEnv;
use crate::expr::node::{Coercibility, ExprType, NOT_FIXED};
use crate::expr::types::param;
use crate::param_type::{ParamDefault, ParamType};
use narwal_syntax::Expr as AstExpr;
use narwal_types::errors;
use narwal_types::{Collation, ColumnType, SqlError, TypeKind};

/// What stands in place of a value, if an expression is nothing but a parameter without one.
pub(crate) fn left_out(env: &StatementEnv, e: &AstExpr) -> Option<ParamDefault> {
    let AstExpr::Param(n) = *e else { return None };
    env.param_defaults.borrow().get(n).copied().flatten()
}

/// Error 4032.
pub(crate) fn no_default_here() -> SqlError {
    errors::INVALID_DEFAULT_PARAM.plain()
}

impl ParamType {
    /// As expressions see it.
    pub(crate) fn expr_type(self) -> ExprType {
        let number = |kind, unsigned| {
            let ty = if unsigned {
                ColumnType::unsigned(kind)
            } else {
                ColumnType::new(kind)
            };
            ExprType::of_column(ty, false)
        };
        match self {
            ParamType::Null => ExprType::null(),
            ParamType::Typed(ty, width) => ExprType {
                width,
                ..ExprType::of_column(ty, true)
            },
            ParamType::Int(kind, unsigned) => number(kind, unsigned),
            ParamType::Float => number(TypeKind::Float, false),
            ParamType::Double => number(TypeKind::Double, false),
            ParamType::Decimal(p, s) => number(TypeKind::Decimal(p, s), false),
            ParamType::Text => param().with_nullable(false),
            ParamType::Bytes => ExprType {
                decimals: NOT_FIXED,
                ..ExprType::string(
                    u64::from(u16::MAX),
                    Collation::Binary,
                    Coercibility::Coercible,
                    false,
                )
            },
            ParamType::Date => number(TypeKind::Date, false),
            ParamType::Time(f) => number(TypeKind::Time(f), false),
            ParamType::DateTime(f) => number(TypeKind::DateTime(f), false),
        }
    }
}
