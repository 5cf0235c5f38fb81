//! Exact numbers: up to 65 digits, up to 30 (internally 38) after the point.

/// A DECIMAL value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Decimal {}
