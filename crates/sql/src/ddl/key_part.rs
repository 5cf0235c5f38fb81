//! How many bytes a part of a key has.

use narwal_types::ColumnType;

/// Bytes of a key part.
pub(super) fn part_bytes(ty: &ColumnType, prefix: Option<u16>) -> u64 {
    let width = u64::from(ty.char_bytes());
    match prefix {
        Some(p) => u64::from(p) * width,
        None if ty.is_string() && !ty.is_member() => ty.max_bytes().unwrap_or(0),
        None => 8,
    }
}
