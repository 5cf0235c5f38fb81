//! Parameters as a client binds them: their types, which columns have that depend on a `?`, and DEFAULT in place of a value.

use narwal_types::{TypeKind, ValueRef};

/// The type of one parameter of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamType {
    /// NULL, or not known yet.
    Null,
    /// A variable of a stored program: its own type, and of an integer the most characters that it is shown with, 0 for as
    /// many as its type has.
    Typed(narwal_types::ColumnType, u32),
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
            ValueRef::Str(_) | ValueRef::Coded(..) | ValueRef::Member(_) | ValueRef::Fixed(_) => {
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
}

/// A parameter without a value: `EXECUTE ... USING DEFAULT`, and what bulk execution calls so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamDefault {
    /// The column's default.
    Default,
    /// What the column would be if it were not named: in UPDATE, what it is.
    Ignore,
}
