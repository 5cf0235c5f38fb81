//! What a table map says of a column.

use smallvec::SmallVec;

/// Column type codes as a table map has them.
#[allow(missing_docs)]
pub mod column_type {
    pub const TINY: u8 = 0x01;
    pub const SHORT: u8 = 0x02;
    pub const LONG: u8 = 0x03;
    pub const FLOAT: u8 = 0x04;
    pub const DOUBLE: u8 = 0x05;
    pub const NULL: u8 = 0x06;
    pub const TIMESTAMP: u8 = 0x07;
    pub const LONGLONG: u8 = 0x08;
    pub const INT24: u8 = 0x09;
    pub const DATE: u8 = 0x0a;
    pub const TIME: u8 = 0x0b;
    pub const DATETIME: u8 = 0x0c;
    pub const YEAR: u8 = 0x0d;
    pub const NEWDATE: u8 = 0x0e;
    pub const VARCHAR: u8 = 0x0f;
    pub const BIT: u8 = 0x10;
    pub const TIMESTAMP2: u8 = 0x11;
    pub const DATETIME2: u8 = 0x12;
    pub const TIME2: u8 = 0x13;
    pub const BLOB_COMPRESSED: u8 = 0x8c;
    pub const VARCHAR_COMPRESSED: u8 = 0x8d;
    pub const JSON: u8 = 0xf5;
    pub const NEWDECIMAL: u8 = 0xf6;
    pub const ENUM: u8 = 0xf7;
    pub const SET: u8 = 0xf8;
    pub const BLOB: u8 = 0xfc;
    pub const VAR_STRING: u8 = 0xfd;
    pub const STRING: u8 = 0xfe;
    pub const GEOMETRY: u8 = 0xff;
}

/// What the names of columns begin with that hold hashes of long unique keys: MariaDB's rows have them, its tables do not.
pub const HASH_COLUMN: &str = "DB_ROW_HASH_";

/// One column of a table map: plain facts, in the words of the event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ColumnMeta {
    /// Column name, at most 255 bytes in practice.
    pub name: String,
    /// Type code in the table map, one of [`column_type`]. ENUM and SET are written as STRING with their real
    /// type in `meta`.
    pub type_code: u8,
    /// Metadata bytes exactly as the table map has them; their number follows from the type, see
    /// [`metadata_len`](crate::metadata_len).
    pub meta: SmallVec<[u8; 2]>,
    /// An unsigned numeric column.
    pub unsigned: bool,
    /// Integers, DECIMAL, FLOAT, DOUBLE and YEAR: the columns that have a signedness bit.
    pub numeric: bool,
    /// Collation id of CHAR, VARCHAR, BINARY, VARBINARY, TEXT, BLOB, GEOMETRY, ENUM and SET columns
    /// (63 for the binary ones); `None` for the others.
    pub collation: Option<u16>,
    /// The column may be NULL.
    pub nullable: bool,
    /// Member names of an ENUM or SET, in the column's character set; empty for other types.
    pub labels: Vec<Vec<u8>>,
}

impl ColumnMeta {
    /// A column of the given name, type and metadata, nullable; the rest as `Default`.
    #[must_use]
    pub fn new(name: &str, type_code: u8, meta: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            type_code,
            meta: SmallVec::from_slice(meta),
            nullable: true,
            ..Self::default()
        }
    }

    /// The type behind STRING: ENUM and SET hide there.
    #[must_use]
    pub fn real_type(&self) -> u8 {
        real_type(self.type_code, &self.meta)
    }

    pub(crate) fn is_enum_or_set(&self) -> bool {
        is_enum_or_set(self.real_type())
    }
}

pub(crate) fn real_type(type_code: u8, meta: &[u8]) -> u8 {
    match (type_code, meta.first()) {
        (column_type::STRING, Some(&real @ (column_type::ENUM | column_type::SET))) => real,
        _ => type_code,
    }
}

pub(crate) fn is_enum_or_set(real_type: u8) -> bool {
    matches!(real_type, column_type::ENUM | column_type::SET)
}

/// Types that have a bit in the SIGNEDNESS field.
pub(crate) fn is_numeric(real_type: u8) -> bool {
    use column_type as t;
    matches!(
        real_type,
        t::TINY
            | t::SHORT
            | t::INT24
            | t::LONG
            | t::LONGLONG
            | t::FLOAT
            | t::DOUBLE
            | t::NEWDECIMAL
            | t::YEAR
    )
}

/// Types that have a collation in the DEFAULT_CHARSET or COLUMN_CHARSET field.
pub(crate) fn is_character(real_type: u8) -> bool {
    use column_type as t;
    matches!(
        real_type,
        t::VARCHAR
            | t::VARCHAR_COMPRESSED
            | t::BLOB
            | t::BLOB_COMPRESSED
            | t::VAR_STRING
            | t::STRING
            | t::GEOMETRY
    )
}
