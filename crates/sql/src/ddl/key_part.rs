//! How many bytes a value of a column has, and a part of a key.

use narwal_types::temporal::fraction_bytes;
use narwal_types::{BlobSize, ColumnType, Decimal, TypeKind};

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
    match ty.kind {
        TypeKind::TinyInt | TypeKind::Year => 1,
        TypeKind::SmallInt => 2,
        TypeKind::MediumInt | TypeKind::Date => 3,
        TypeKind::Int | TypeKind::Float => 4,
        TypeKind::BigInt | TypeKind::Double => 8,
        TypeKind::Decimal(p, s) => Decimal::binary_len(p, s) as u64,
        TypeKind::Time(f) => 3 + fraction_bytes(f) as u64,
        TypeKind::Timestamp(f) => 4 + fraction_bytes(f) as u64,
        TypeKind::DateTime(f) => 5 + fraction_bytes(f) as u64,
        TypeKind::Enum(m) => u64::from(m.enum_bytes()),
        TypeKind::Set(m) => u64::from(m.set_bytes()),
        TypeKind::Bit(n) => u64::from(n.div_ceil(8)),
        TypeKind::Fixed(k) => k.bytes() as u64,
        _ => 0,
    }
}
