//! Columns and data types.

use super::{Check, Expression, OptionValue, References};

/// The name of a data type. Synonyms are one; REAL is its own, because sql_mode decides what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TypeName {
    TinyInt,
    SmallInt,
    MediumInt,
    Int,
    BigInt,
    Float,
    Real,
    Double,
    Decimal,
    Bit,
    Bool,
    Char,
    VarChar,
    NationalChar,
    NationalVarChar,
    Binary,
    VarBinary,
    Year,
    Date,
    Time,
    DateTime,
    Timestamp,
    TinyBlob,
    Blob,
    MediumBlob,
    LongBlob,
    TinyText,
    Text,
    MediumText,
    LongText,
    /// LONG and LONG VARCHAR.
    LongVarChar,
    LongVarBinary,
    Enum,
    Set,
    Json,
    /// BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE.
    Serial,
    /// Any other: UUID, POINT, INET6 and those that nobody knows; [`DataType::word`] has it.
    Named,
}

/// What stands behind a type and belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TypeAttribute {
    Unsigned,
    Signed,
    Zerofill,
    /// CHARACTER SET.
    Charset(String),
    /// BINARY: the collation by code points.
    Binary,
    Ascii,
    Unicode,
    /// BYTE: no character set.
    Byte,
    /// COMPRESSED, with its method.
    Compressed(Option<String>),
    /// REF_SYSTEM_ID of a geometry.
    RefSystemId(u64),
    /// A parameter of sql_mode=ORACLE that names no length: it takes texts of any, the type's own length is for show.
    AnyLength,
}

/// A data type as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataType {
    /// Its name.
    pub name: TypeName,
    /// The name in the text, in upper case if it is no name of its own.
    pub word: String,
    /// The first number in parentheses.
    pub length: Option<u64>,
    /// The second one.
    pub scale: Option<u64>,
    /// Members of ENUM and SET.
    pub members: Vec<String>,
    /// The bytes of those members that are hexadecimal or bit literals, by their place. They are text in the character set of
    /// the column.
    pub member_bytes: Vec<(usize, Vec<u8>)>,
    /// What else was said.
    pub attributes: Vec<TypeAttribute>,
}

/// A column's DEFAULT, or what it is set to ON UPDATE.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // Few, and soon gone.
pub enum ColumnDefault {
    /// CURRENT_TIMESTAMP or a synonym, with its digits.
    Now(u64),
    /// Anything else.
    Expr(Expression),
}

/// An attribute of a column.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // Few, and soon gone.
pub enum ColumnAttribute {
    /// NULL.
    Null,
    /// NOT NULL.
    NotNull,
    /// DEFAULT.
    Default(ColumnDefault),
    /// ON UPDATE CURRENT_TIMESTAMP, with its digits.
    OnUpdate(u64),
    /// AUTO_INCREMENT.
    AutoIncrement,
    /// SERIAL DEFAULT VALUE: NOT NULL AUTO_INCREMENT UNIQUE.
    Serial,
    /// PRIMARY KEY, and KEY alone.
    PrimaryKey,
    /// UNIQUE.
    Unique,
    /// COMMENT.
    Comment(String),
    /// COLLATE; `None` is DEFAULT.
    Collate(Option<String>),
    /// COMPRESSED, with its method.
    Compressed(Option<String>),
    /// INVISIBLE.
    Invisible,
    /// WITH (true) or WITHOUT SYSTEM VERSIONING.
    Versioning(bool),
    /// One that a storage engine may know.
    Engines(String, OptionValue),
}

/// GENERATED ALWAYS AS.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant)] // Few, and soon gone.
pub enum Generated {
    /// An expression.
    Expr {
        /// The expression.
        expr: Expression,
        /// STORED or PERSISTENT.
        stored: bool,
    },
    /// ROW START (true) or ROW END.
    Row(bool),
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Name.
    pub name: String,
    /// The database that stands in front of it.
    pub db: Option<String>,
    /// Type.
    pub ty: DataType,
    /// GENERATED ALWAYS AS; attributes stand behind it.
    pub generated: Option<Generated>,
    /// Attributes in order.
    pub attributes: Vec<ColumnAttribute>,
    /// CHECK.
    pub check: Option<Check>,
    /// In MySQL all CHECKs, each of which is the table's.
    pub table_checks: Vec<Check>,
    /// REFERENCES.
    pub references: Option<References>,
    /// The name that CONSTRAINT gives to REFERENCES.
    pub constraint: Option<String>,
}
