//! Parameters as a client binds them: their types, which columns have that depend on a `?`, and DEFAULT in place of a value.

use crate::env::StatementEnv;
use crate::expr::types::{NOT_FIXED, param};
use crate::expr::{Coercibility, ExprType};
use narwal_syntax::Expr as AstExpr;
use narwal_types::{Collation, ColumnType, SqlError, TypeKind, ValueRef};

/// The type of one parameter of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamType {
    /// NULL, or not known yet.
    Null,
    /// A variable of a stored program: its own type.
    Typed(ColumnType),
    /// An integer type with its sign.
    Int(TypeKind, bool),
    /// FLOAT.
    Float,
    /// DOUBLE.
    Double,
    /// DECIMAL(precision, scale).
    Decimal(u8, u8),
    /// Text.
    Text,
    /// Bytes.
    Bytes,
    /// DATE.
    Date,
    /// TIME with digits of a second's fraction.
    Time(u8),
    /// DATETIME with digits of a second's fraction.
    DateTime(u8),
}

impl ParamType {
    /// The type of a value that was bound with a protocol type (MYSQL_TYPE_*).
    pub fn of(wire: u8, v: &ValueRef<'_>) -> ParamType {
        let int = |unsigned| {
            let kind = match wire {
                1 => TypeKind::TinyInt,
                2 | 13 => TypeKind::SmallInt,
                3 | 9 => TypeKind::Int,
                _ => TypeKind::BigInt,
            };
            ParamType::Int(kind, unsigned)
        };
        match v {
            ValueRef::Null => ParamType::Null,
            ValueRef::Int(_) => int(false),
            ValueRef::UInt(_) | ValueRef::Bits(_) => int(true),
            ValueRef::Float(_) => ParamType::Float,
            // The front reads both widths as DOUBLE.
            ValueRef::Double(_) if wire == 4 => ParamType::Float,
            ValueRef::Double(_) => ParamType::Double,
            ValueRef::Decimal(d) => ParamType::Decimal(d.precision().max(1), d.scale()),
            ValueRef::Str(_) | ValueRef::Latin1(_) | ValueRef::Member(_) | ValueRef::Fixed(_) => {
                ParamType::Text
            }
            // Sent as text (MYSQL_TYPE_VARCHAR, VAR_STRING, STRING), whatever it is.
            ValueRef::Bytes(_) if matches!(wire, 15 | 253 | 254) => ParamType::Text,
            ValueRef::Bytes(_) => ParamType::Bytes,
            ValueRef::Date(_) => ParamType::Date,
            ValueRef::Time(t) => ParamType::Time(t.fsp),
            ValueRef::DateTime(t) => ParamType::DateTime(t.fsp),
        }
    }

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
            ParamType::Typed(ty) => ExprType::of_column(ty, true),
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

/// A parameter without a value: `EXECUTE ... USING DEFAULT`, and what bulk execution calls so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamDefault {
    /// The column's default.
    Default,
    /// What the column would be if it were not named: in UPDATE, what it is.
    Ignore,
}

/// What stands in place of a value, if an expression is nothing but a parameter without one.
pub(crate) fn left_out(env: &StatementEnv, e: &AstExpr) -> Option<ParamDefault> {
    let AstExpr::Param(n) = *e else { return None };
    env.param_defaults.borrow().get(n).copied().flatten()
}

/// Error 4032.
pub(crate) fn no_default_here() -> SqlError {
    SqlError::new(
        4032,
        b"HY000",
        "Default/ignore value is not supported for such parameter usage",
    )
}
