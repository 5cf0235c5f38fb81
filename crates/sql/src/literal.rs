//! Numbers as they are written.

use narwal_types::{Decimal, Value};

/// The value of a number as written: integers up to 64 bits, exact numbers with a point, doubles with an exponent. One
/// beyond the largest double is infinite, for the caller to refuse.
pub(crate) fn number(n: &str) -> Value {
    if let Ok(v) = n.parse::<i64>() {
        return Value::Int(v);
    }
    if let Ok(v) = n.parse::<u64>() {
        return Value::UInt(v);
    }
    if n.contains(['e', 'E']) {
        let (f, _) = narwal_types::convert::parse_f64_prefix(n.as_bytes());
        // The reader of a prefix stops at the largest double.
        let beyond = f == f64::MAX && n.parse::<f64>().is_ok_and(f64::is_infinite);
        return Value::Double(if beyond { f64::INFINITY } else { f });
    }
    Value::Decimal(Decimal::parse_prefix(n.as_bytes()).0)
}

/// Minus a literal.
pub(crate) fn negate_literal(v: Value) -> Value {
    match v {
        Value::Int(v) => Value::Int(-v),
        Value::UInt(v) if v == 1 << 63 => Value::Int(i64::MIN),
        Value::UInt(v) => Value::Decimal(Decimal::from(v).neg()),
        Value::Double(f) => Value::Double(0.0 - f),
        Value::Decimal(d) => Value::Decimal(d.neg()),
        v => v,
    }
}

/// The number that the bytes of a literal `0x41`, `b'1'` or of a BIT stand for: big-endian. Of a longer one the last eight bytes count.
pub(crate) fn bits_number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte))
}
