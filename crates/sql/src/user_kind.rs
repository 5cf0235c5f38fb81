//! What a user variable is: that of its value, which is that of the last assignment.

use narwal_types::{Collation, Value};

/// What kind of value a user variable has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserKind {
    /// It has none: a text of bytes.
    Null,
    /// BIGINT.
    Int,
    /// BIGINT UNSIGNED.
    UInt,
    /// DECIMAL with all digits.
    Decimal,
    /// DOUBLE.
    Double,
    /// A text.
    Text(Collation),
}

impl UserKind {
    /// Of a value, which has that collation if it is a text.
    pub fn of(value: &Value, collation: Collation) -> Self {
        match value {
            Value::Null => UserKind::Null,
            Value::Int(_) => UserKind::Int,
            Value::UInt(_) | Value::Bits(_) => UserKind::UInt,
            Value::Decimal(_) => UserKind::Decimal,
            Value::Float(_) | Value::Double(_) => UserKind::Double,
            Value::Bytes(_) => UserKind::Text(Collation::Binary),
            _ => UserKind::Text(collation),
        }
    }
}

/// A value as a user variable keeps it: dates, UUIDs and the like are texts there.
pub fn as_kept(v: Value) -> Value {
    match v {
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) | Value::Fixed(_) => {
            Value::str(v.to_text())
        }
        v => v,
    }
}
