//! What a column may hold.

use crate::Collation;
use serde::{Deserialize, Serialize};

/// The four sizes of the TEXT and BLOB families; the discriminant is the length prefix's width in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BlobSize {
    /// TINYTEXT, TINYBLOB: up to 255 bytes.
    Tiny = 1,
    /// TEXT, BLOB: up to 65,535 bytes.
    Normal = 2,
    /// MEDIUMTEXT, MEDIUMBLOB: up to 16 MiB - 1.
    Medium = 3,
    /// LONGTEXT, LONGBLOB: up to 4 GiB - 1.
    Long = 4,
}

/// A column type without nullability. Lengths of character types are in characters, of binary types in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum TypeKind {
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    Float,
    Double,
    /// `DECIMAL(precision, scale)`, precision 1 to 65, scale 0 to 30 and at most the precision.
    Decimal(u8, u8),
    Char(u16),
    VarChar(u16),
    Binary(u16),
    VarBinary(u16),
    Text(BlobSize),
    Blob(BlobSize),
    Date,
    /// `TIME(fsp)`, fsp 0 to 6; the same for the next two.
    Time(u8),
    DateTime(u8),
    /// Stored as UTC seconds, shown in the session's time zone.
    Timestamp(u8),
    Year,
}

/// A column's type: kind, sign and collation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ColumnType {
    /// The kind with its lengths.
    pub kind: TypeKind,
    /// UNSIGNED (numbers only).
    pub unsigned: bool,
    /// Collation of character kinds; [`Collation::Binary`] for all others.
    pub collation: Collation,
}
