//! How many bytes a value of a column has, and a part of a key.

use crate::plan::interval::key_len;
use narwal_types::{BlobSize, ColumnType, TypeKind};

/// Most bytes of a TINYBLOB or TINYTEXT, which are as many as a key has of it.
pub(super) const TINY: u16 = 255;

/// Bytes of a key part.
pub(super) fn part_bytes(ty: &ColumnType, prefix: Option<u16>) -> u64 {
    let width = u64::from(ty.char_bytes());
    match prefix {
        Some(p) if is_tiny(ty) => u64::from(p),
        Some(p) => u64::from(p) * width,
        None if ty.is_string() && !ty.is_member() => ty.max_bytes().unwrap_or(0),
        None => fixed_bytes(ty),
    }
}

/// A TINYBLOB or TINYTEXT.
pub(super) fn is_tiny(ty: &ColumnType) -> bool {
    matches!(
        ty.kind,
        TypeKind::Blob(BlobSize::Tiny) | TypeKind::Text(BlobSize::Tiny)
    )
}

/// Bytes of a value of a type that is no string, as MariaDB's rows have it.
pub(super) fn fixed_bytes(ty: &ColumnType) -> u64 {
    key_len(ty) as u64
}
