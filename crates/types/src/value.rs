//! One SQL value, owned ([`Value`]) or borrowed from a row ([`ValueRef`]).

use crate::{Bits, Charset, Date, DateTime, Decimal, Fixed, Member, Time};

/// An owned SQL value. The variant is the value's own domain, not a column's type.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Value {
    /// SQL NULL.
    #[default]
    Null,
    /// A signed integer (TINYINT to BIGINT).
    Int(i64),
    /// An unsigned integer (any UNSIGNED integer column, or a literal above `i64::MAX`).
    UInt(u64),
    /// A FLOAT column's value: kept apart because it prints with 6 significant digits.
    Float(f32),
    /// A DOUBLE.
    Double(f64),
    /// An exact number.
    Decimal(Decimal),
    /// A character string, UTF-8.
    Str(Box<str>),
    /// A binary string.
    Bytes(Box<[u8]>),
    /// DATE.
    Date(Date),
    /// TIME.
    Time(Time),
    /// DATETIME, or TIMESTAMP already converted to the session's time zone.
    DateTime(DateTime),
    /// A value of an ENUM or SET: a number where a number is wanted, else its text.
    Member(Member),
    /// A value of a BIT column: a number where a number is wanted, else its bytes.
    Bits(Bits),
    /// UUID, INET4, INET6.
    Fixed(Fixed),
}

/// A SQL value that borrows its bytes. Variants as in [`Value`].
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[allow(missing_docs)]
pub enum ValueRef<'a> {
    #[default]
    Null,
    Int(i64),
    UInt(u64),
    Float(f32),
    Double(f64),
    Decimal(Decimal),
    /// Valid UTF-8 by construction of the row that it comes from; kept as bytes because it is mostly copied.
    Str(&'a [u8]),
    Bytes(&'a [u8]),
    Date(Date),
    Time(Time),
    DateTime(DateTime),
    Member(Member),
    Bits(Bits),
    Fixed(Fixed),
    /// Text as a column stores it in a character set that is not UTF-8 (where that is ASCII, it is a `Str`).
    Coded(Charset, &'a [u8]),
}

/// A parameter of a statement that is executed for many sets of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BulkValue<'a> {
    /// A value.
    Value(ValueRef<'a>),
    /// The column's default.
    Default,
    /// As if the column were not named.
    Ignore,
}

impl Value {
    /// A character string value.
    pub fn str(s: impl Into<Box<str>>) -> Self {
        Value::Str(s.into())
    }

    /// A binary string value.
    pub fn bytes(b: impl Into<Box<[u8]>>) -> Self {
        Value::Bytes(b.into())
    }

    /// True for SQL NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The same value, borrowed.
    pub fn as_ref(&self) -> ValueRef<'_> {
        match self {
            Value::Null => ValueRef::Null,
            Value::Int(v) => ValueRef::Int(*v),
            Value::UInt(v) => ValueRef::UInt(*v),
            Value::Float(v) => ValueRef::Float(*v),
            Value::Double(v) => ValueRef::Double(*v),
            Value::Decimal(v) => ValueRef::Decimal(*v),
            Value::Str(v) => ValueRef::Str(v.as_bytes()),
            Value::Bytes(v) => ValueRef::Bytes(v),
            Value::Date(v) => ValueRef::Date(*v),
            Value::Time(v) => ValueRef::Time(*v),
            Value::DateTime(v) => ValueRef::DateTime(*v),
            Value::Member(v) => ValueRef::Member(*v),
            Value::Bits(v) => ValueRef::Bits(*v),
            Value::Fixed(v) => ValueRef::Fixed(*v),
        }
    }
}

impl ValueRef<'_> {
    /// True for SQL NULL.
    pub fn is_null(&self) -> bool {
        matches!(self, ValueRef::Null)
    }

    /// An owned copy. Bytes of a `Str` that are not UTF-8 (a damaged row) are replaced, never trusted.
    pub fn to_value(&self) -> Value {
        match *self {
            ValueRef::Null => Value::Null,
            ValueRef::Int(v) => Value::Int(v),
            ValueRef::UInt(v) => Value::UInt(v),
            ValueRef::Float(v) => Value::Float(v),
            ValueRef::Double(v) => Value::Double(v),
            ValueRef::Decimal(v) => Value::Decimal(v),
            // Checked as a whole first, which takes many bytes at once.
            ValueRef::Str(v) => Value::Str(match std::str::from_utf8(v) {
                Ok(text) => text.into(),
                Err(_) => String::from_utf8_lossy(v).into(),
            }),
            ValueRef::Bytes(v) => Value::Bytes(v.into()),
            ValueRef::Date(v) => Value::Date(v),
            ValueRef::Time(v) => Value::Time(v),
            ValueRef::DateTime(v) => Value::DateTime(v),
            ValueRef::Member(v) => Value::Member(v),
            ValueRef::Bits(v) => Value::Bits(v),
            ValueRef::Fixed(v) => Value::Fixed(v),
            ValueRef::Coded(set, v) => Value::Str(set.decode(v).into()),
        }
    }
}
