//! DECIMAL to and from the wire, where it is text.

use narwal_types::Decimal;

/// Appends a decimal's text.
pub fn put(out: &mut Vec<u8>, d: &Decimal) {
    let _ = (out, d);
}

/// Reads a decimal; `None` if it is not one.
pub fn parse(text: &[u8]) -> Option<Decimal> {
    let _ = text;
    None
}
