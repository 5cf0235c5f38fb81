//! What a column may hold.

use crate::{Charset, Collation, FixedKind, Members};
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

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

impl BlobSize {
    /// The smallest that has room for so many bytes.
    pub fn for_bytes(n: u64) -> Self {
        match n {
            0..=255 => BlobSize::Tiny,
            256..=65_535 => BlobSize::Normal,
            65_536..=16_777_215 => BlobSize::Medium,
            _ => BlobSize::Long,
        }
    }

    /// Longest value in bytes.
    pub fn max_bytes(self) -> u64 {
        (1u64 << (8 * self as u32)) - 1
    }

    /// The size for computed values of so many bytes: TEXT or BLOB at least.
    pub fn holding(bytes: u64) -> Self {
        [BlobSize::Normal, BlobSize::Medium]
            .into_iter()
            .find(|s| bytes <= s.max_bytes())
            .unwrap_or(BlobSize::Long)
    }
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
    /// `DECIMAL(precision, scale)`, precision 1 to 65, scale 0 to 38 and at most the precision.
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
    /// One of a list of texts.
    Enum(Members),
    /// Any of a list of texts, at most 64.
    Set(Members),
    /// `BIT(width)`, 1 to 64.
    Bit(u8),
    /// UUID, INET4, INET6.
    Fixed(FixedKind),
}

/// A column's type: kind, sign and collation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ColumnType {
    /// The kind with its lengths.
    pub kind: TypeKind,
    /// UNSIGNED (numbers only).
    pub unsigned: bool,
    /// Collation of character kinds, ENUM and SET; [`Collation::Binary`] for all others.
    pub collation: Collation,
    /// What a number's type says of its text, and of the numbers that it takes.
    #[serde(default, skip_serializing_if = "NumberForm::is_none")]
    pub form: NumberForm,
}

/// ZEROFILL, FLOAT(M,D) and DOUBLE(M,D).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct NumberForm {
    /// ZEROFILL: the text has zeros in front up to so many characters. 0 without.
    #[serde(default)]
    pub zeros: u8,
    /// FLOAT(M,D) and DOUBLE(M,D): digits in all, and those behind the point. YEAR(2): the digits that are shown.
    #[serde(default)]
    pub digits: Option<(u8, u8)>,
}

impl NumberForm {
    /// Of most types.
    pub const NONE: Self = NumberForm {
        zeros: 0,
        digits: None,
    };

    /// True for most types.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// The text of a number with the zeros of ZEROFILL in front.
    pub fn filled(&self, text: &mut Vec<u8>) {
        let missing = usize::from(self.zeros).saturating_sub(text.len());
        text.splice(0..0, std::iter::repeat_n(b'0', missing));
    }
}

/// Longest encoding of one character as it is sent to clients, in bytes (utf8mb4).
pub const MAX_CHAR_BYTES: u32 = 4;

impl ColumnType {
    /// A signed number, a binary string or a temporal type: anything without UNSIGNED and collation.
    pub const fn new(kind: TypeKind) -> Self {
        ColumnType {
            kind,
            unsigned: false,
            collation: Collation::Binary,
            form: NumberForm::NONE,
        }
    }

    /// An UNSIGNED number.
    pub const fn unsigned(kind: TypeKind) -> Self {
        ColumnType {
            kind,
            unsigned: true,
            collation: Collation::Binary,
            form: NumberForm::NONE,
        }
    }

    /// A character type with its collation.
    pub const fn text(kind: TypeKind, collation: Collation) -> Self {
        ColumnType {
            kind,
            unsigned: false,
            collation,
            form: NumberForm::NONE,
        }
    }

    /// `INT`.
    pub const fn int() -> Self {
        Self::new(TypeKind::Int)
    }

    /// `BIGINT`.
    pub const fn bigint() -> Self {
        Self::new(TypeKind::BigInt)
    }

    /// `DOUBLE`.
    pub const fn double() -> Self {
        Self::new(TypeKind::Double)
    }

    /// `DECIMAL(precision, scale)`.
    pub const fn decimal(precision: u8, scale: u8) -> Self {
        Self::new(TypeKind::Decimal(precision, scale))
    }

    /// `VARCHAR(n)` with utf8mb4_general_ci.
    pub const fn varchar(n: u16) -> Self {
        Self::text(TypeKind::VarChar(n), Collation::Utf8mb4GeneralCi)
    }

    /// `CHAR(n)` with utf8mb4_general_ci.
    pub const fn char(n: u16) -> Self {
        Self::text(TypeKind::Char(n), Collation::Utf8mb4GeneralCi)
    }

    /// `DATETIME(fsp)`.
    pub const fn datetime(fsp: u8) -> Self {
        Self::new(TypeKind::DateTime(fsp))
    }

    /// The same without ZEROFILL: what an expression makes of such a column.
    pub fn without_zeros(mut self) -> Self {
        self.form.zeros = 0;
        self
    }

    /// FLOAT(M,D) and DOUBLE(M,D): the largest number.
    pub fn largest_real(&self) -> Option<f64> {
        let (m, d) = self.form.digits?;
        let step = 10f64.powi(-i32::from(d));
        Some(10f64.powi(i32::from(m) - i32::from(d)) - step)
    }

    /// [`ColumnType::sql_name`] with the display width that an integer was declared with, where one was: `int(3)`.
    pub fn name_with_width(&self, width: Option<u8>) -> String {
        let name = self.sql_name();
        match (width, name.find('('), name.find(')')) {
            (Some(n), Some(from), Some(to)) if self.is_integer() => {
                format!("{}({n}{}", &name[..from], &name[to..])
            }
            _ => name,
        }
    }

    /// Characters of a number's text with ZEROFILL.
    pub fn zerofill_width(&self) -> u8 {
        match (self.kind, self.form.digits) {
            (_, Some((m, _))) => m,
            (TypeKind::Decimal(p, s), _) => p + u8::from(s > 0),
            _ => ColumnType::unsigned(self.kind).display_length() as u8,
        }
    }

    /// A column with a character set: CHAR, VARCHAR and the TEXT family.
    pub fn is_character(&self) -> bool {
        matches!(
            self.kind,
            TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Text(_)
        )
    }

    /// The character set whose bytes a text of this type becomes in a binary column `to`; `None` where it is kept as it is:
    /// no text, no such column, or a text that is stored in those bytes.
    pub fn bytes_for(&self, to: &ColumnType) -> Option<Charset> {
        let set = self.collation.charset();
        let text = (self.is_character() || self.is_member()) && !set.stores_utf8();
        (text && to.is_binary_string()).then_some(set)
    }

    /// The character set of a text of this type and that of a column `to` of text which it is passed on to; `None` where it goes
    /// as it is: no such column, the same set, or one without codes that mean something there only.
    pub fn passed_on_to(&self, to: &ColumnType) -> Option<(Charset, Charset)> {
        let takes_text = to.is_character() || to.is_member();
        let (from, to) = (self.collation.charset(), to.collation.charset());
        (takes_text && from != to && from.has_private()).then_some((from, to))
    }

    /// BINARY, VARBINARY and the BLOB family.
    pub fn is_binary_string(&self) -> bool {
        matches!(
            self.kind,
            TypeKind::Binary(_) | TypeKind::VarBinary(_) | TypeKind::Blob(_)
        )
    }

    /// UUID, INET4 or INET6.
    pub fn fixed(&self) -> Option<FixedKind> {
        match self.kind {
            TypeKind::Fixed(k) => Some(k),
            _ => None,
        }
    }

    /// True if values may become those of another type: UUID, INET4 and INET6 come of strings and become strings only.
    pub fn may_become(&self, to: &ColumnType) -> bool {
        match (self.fixed(), to.fixed()) {
            (None, None) => true,
            (Some(_), None) => to.is_string(),
            (None, Some(_)) => self.is_string(),
            (a, b) => a == b,
        }
    }

    /// The type's name without its lengths, as in messages about types that don't go together.
    pub fn family_name(&self) -> String {
        let name = self.sql_name();
        let word = name.split(['(', ' ']).next().unwrap_or_default();
        if self.unsigned {
            format!("{word} unsigned")
        } else {
            word.to_string()
        }
    }

    /// ENUM or SET.
    pub fn is_member(&self) -> bool {
        matches!(self.kind, TypeKind::Enum(_) | TypeKind::Set(_))
    }

    /// A column with a character set: a character type, ENUM or SET.
    pub fn has_charset(&self) -> bool {
        self.is_character() || self.is_member()
    }

    /// What counts as a string in an expression: a character or binary string, ENUM or SET.
    pub fn is_string(&self) -> bool {
        self.is_character() || self.is_binary_string() || self.is_member()
    }

    /// TINYINT to BIGINT (not YEAR).
    pub fn is_integer(&self) -> bool {
        matches!(
            self.kind,
            TypeKind::TinyInt
                | TypeKind::SmallInt
                | TypeKind::MediumInt
                | TypeKind::Int
                | TypeKind::BigInt
        )
    }

    /// An integer, FLOAT, DOUBLE, DECIMAL, YEAR or BIT.
    pub fn is_numeric(&self) -> bool {
        self.is_integer()
            || matches!(
                self.kind,
                TypeKind::Float
                    | TypeKind::Double
                    | TypeKind::Decimal(..)
                    | TypeKind::Year
                    | TypeKind::Bit(_)
            )
    }

    /// DATE, TIME, DATETIME or TIMESTAMP (not YEAR).
    pub fn is_temporal(&self) -> bool {
        matches!(
            self.kind,
            TypeKind::Date | TypeKind::Time(_) | TypeKind::DateTime(_) | TypeKind::Timestamp(_)
        )
    }

    /// TEXT or BLOB family: an index on it needs a prefix length, and it can't have a literal default in old clients.
    pub fn is_blob(&self) -> bool {
        matches!(self.kind, TypeKind::Text(_) | TypeKind::Blob(_))
    }

    /// Digits after the second of temporal types, after the point of DECIMAL; `None` for other types.
    pub fn scale(&self) -> Option<u8> {
        match self.kind {
            TypeKind::Decimal(_, s) => Some(s),
            TypeKind::Time(f) | TypeKind::DateTime(f) | TypeKind::Timestamp(f) => Some(f),
            _ => None,
        }
    }

    /// The range of an integer type.
    pub fn int_range(&self) -> Option<(i128, i128)> {
        let bits = match self.kind {
            TypeKind::TinyInt => 8,
            TypeKind::SmallInt => 16,
            TypeKind::MediumInt => 24,
            TypeKind::Int => 32,
            TypeKind::BigInt => 64,
            _ => return None,
        };
        Some(if self.unsigned {
            (0, (1i128 << bits) - 1)
        } else {
            (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
        })
    }

    /// Longest value in characters of character types, in bytes of binary strings; `None` for other types.
    /// TEXT is bounded in bytes only: its limit in bytes is returned.
    pub fn max_length(&self) -> Option<u64> {
        match self.kind {
            TypeKind::Char(n)
            | TypeKind::VarChar(n)
            | TypeKind::Binary(n)
            | TypeKind::VarBinary(n) => Some(n as u64),
            TypeKind::Text(s) | TypeKind::Blob(s) => Some(s.max_bytes()),
            _ => None,
        }
    }

    /// Longest value in bytes of string types; `None` for other types.
    pub fn max_bytes(&self) -> Option<u64> {
        match self.kind {
            TypeKind::Char(n) | TypeKind::VarChar(n) => Some(n as u64 * self.char_bytes() as u64),
            TypeKind::Binary(n) | TypeKind::VarBinary(n) => Some(n as u64),
            TypeKind::Text(s) | TypeKind::Blob(s) => Some(s.max_bytes()),
            _ => None,
        }
    }

    /// Bytes of the longest character.
    #[inline]
    pub fn char_bytes(&self) -> u32 {
        self.collation.charset().char_bytes()
    }

    /// Type code and metadata in a MariaDB TABLE_MAP event. Lengths are in bytes there.
    pub fn binlog_type(&self) -> (u8, SmallVec<[u8; 2]>) {
        match self.kind {
            TypeKind::TinyInt => (0x01, smallvec![]),
            TypeKind::SmallInt => (0x02, smallvec![]),
            TypeKind::MediumInt => (0x09, smallvec![]),
            TypeKind::Int => (0x03, smallvec![]),
            TypeKind::BigInt => (0x08, smallvec![]),
            TypeKind::Float => (0x04, smallvec![4]),
            TypeKind::Double => (0x05, smallvec![8]),
            TypeKind::Decimal(p, s) => (0xf6, smallvec![p, s]),
            TypeKind::Char(n) => Self::fixed_string_meta(n as u32 * self.char_bytes()),
            TypeKind::Binary(n) => Self::fixed_string_meta(n as u32),
            TypeKind::VarChar(n) => {
                // A VARCHAR is limited by the row's 65,535 bytes, so its byte length fits.
                let b = (n as u32 * self.char_bytes()).min(65535);
                (0x0f, smallvec![b as u8, (b >> 8) as u8])
            }
            TypeKind::VarBinary(n) => (0x0f, smallvec![n as u8, (n >> 8) as u8]),
            TypeKind::Text(s) | TypeKind::Blob(s) => (0xfc, smallvec![s as u8]),
            TypeKind::Date => (0x0a, smallvec![]),
            TypeKind::Time(f) => (0x13, smallvec![f]),
            TypeKind::DateTime(f) => (0x12, smallvec![f]),
            TypeKind::Timestamp(f) => (0x11, smallvec![f]),
            TypeKind::Year => (0x0d, smallvec![]),
            TypeKind::Enum(m) => (0xfe, smallvec![0xf7, m.enum_bytes()]),
            TypeKind::Set(m) => (0xfe, smallvec![0xf8, m.set_bytes()]),
            // Odd bits, whole bytes.
            TypeKind::Bit(n) => (0x10, smallvec![n % 8, n / 8]),
            TypeKind::Fixed(k) => Self::fixed_string_meta(k.bytes() as u32),
        }
    }

    /// CHAR and BINARY: bits 8 and 9 of the byte length are xored into bits 4 and 5 of the type byte.
    fn fixed_string_meta(bytes: u32) -> (u8, SmallVec<[u8; 2]>) {
        let ty = 0xfe ^ (((bytes & 0x300) >> 4) as u8);
        (0xfe, smallvec![ty, bytes as u8])
    }

    /// Column type code of the client protocol (MYSQL_TYPE_*).
    pub fn mysql_type(&self) -> u8 {
        match self.kind {
            TypeKind::TinyInt => 1,
            TypeKind::SmallInt => 2,
            TypeKind::MediumInt => 9,
            TypeKind::Int => 3,
            TypeKind::BigInt => 8,
            TypeKind::Float => 4,
            TypeKind::Double => 5,
            TypeKind::Decimal(..) => 246,
            TypeKind::Char(_) | TypeKind::Binary(_) | TypeKind::Enum(_) | TypeKind::Set(_) => 254,
            TypeKind::Fixed(_) => 254,
            TypeKind::Bit(_) => 16,
            TypeKind::VarChar(_) | TypeKind::VarBinary(_) => 253,
            TypeKind::Text(_) | TypeKind::Blob(_) => 252,
            TypeKind::Date => 10,
            TypeKind::Time(_) => 11,
            TypeKind::DateTime(_) => 12,
            TypeKind::Timestamp(_) => 7,
            TypeKind::Year => 13,
        }
    }

    /// The type as SHOW COLUMNS prints it.
    pub fn sql_name(&self) -> String {
        let u = match (self.unsigned, self.form.zeros) {
            (_, 1..) => " unsigned zerofill",
            (true, 0) => " unsigned",
            (false, 0) => "",
        };
        let digits = match self.form.digits {
            Some((m, d)) => format!("({m},{d})"),
            None => String::new(),
        };
        let fsp = |name: &str, f: u8| {
            if f == 0 {
                name.to_string()
            } else {
                format!("{name}({f})")
            }
        };
        match self.kind {
            TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::MediumInt
            | TypeKind::Int
            | TypeKind::BigInt => {
                let name = match self.kind {
                    TypeKind::TinyInt => "tinyint",
                    TypeKind::SmallInt => "smallint",
                    TypeKind::MediumInt => "mediumint",
                    TypeKind::Int => "int",
                    _ => "bigint",
                };
                let width = match self.form.zeros {
                    0 => self.display_length(),
                    n => u32::from(n),
                };
                format!("{name}({width}){u}")
            }
            TypeKind::Float => format!("float{digits}{u}"),
            TypeKind::Double => format!("double{digits}{u}"),
            TypeKind::Decimal(p, s) => format!("decimal({p},{s}){u}"),
            TypeKind::Char(n) => format!("char({n})"),
            TypeKind::VarChar(n) => format!("varchar({n})"),
            TypeKind::Binary(n) => format!("binary({n})"),
            TypeKind::VarBinary(n) => format!("varbinary({n})"),
            TypeKind::Text(s) => match s {
                BlobSize::Tiny => "tinytext",
                BlobSize::Normal => "text",
                BlobSize::Medium => "mediumtext",
                BlobSize::Long => "longtext",
            }
            .to_string(),
            TypeKind::Blob(s) => match s {
                BlobSize::Tiny => "tinyblob",
                BlobSize::Normal => "blob",
                BlobSize::Medium => "mediumblob",
                BlobSize::Long => "longblob",
            }
            .to_string(),
            TypeKind::Date => "date".to_string(),
            TypeKind::Time(f) => fsp("time", f),
            TypeKind::DateTime(f) => fsp("datetime", f),
            TypeKind::Timestamp(f) => fsp("timestamp", f),
            TypeKind::Year => format!("year({})", self.year_digits()),
            TypeKind::Enum(m) => member_list("enum", m),
            TypeKind::Set(m) => member_list("set", m),
            TypeKind::Bit(n) => format!("bit({n})"),
            TypeKind::Fixed(k) => k.name().to_string(),
        }
    }

    /// How many digits of a YEAR are shown: of YEAR(2) the last two.
    pub fn year_digits(&self) -> u8 {
        self.form.digits.map_or(4, |(m, _)| m)
    }

    /// Width of the widest value: in characters for numbers and temporal types, in bytes for strings (as the
    /// column definition packet has it).
    pub fn display_length(&self) -> u32 {
        let fsp = |base: u32, f: u8| base + if f > 0 { f as u32 + 1 } else { 0 };
        let u = self.unsigned;
        match self.kind {
            _ if self.form.zeros > 0 => {
                u32::from(self.form.zeros).max(self.without_zeros().display_length())
            }
            TypeKind::Float | TypeKind::Double if self.form.digits.is_some() => {
                self.form.digits.map_or(0, |(m, _)| u32::from(m))
            }
            TypeKind::TinyInt => 4 - u as u32,
            TypeKind::SmallInt => 6 - u as u32,
            TypeKind::MediumInt => 9 - u as u32,
            TypeKind::Int => 11 - u as u32,
            TypeKind::BigInt => 20,
            TypeKind::Float => 12,
            TypeKind::Double => 22,
            TypeKind::Decimal(p, s) => p as u32 + (s > 0) as u32 + !u as u32,
            TypeKind::Date => 10,
            TypeKind::Time(f) => fsp(10, f),
            TypeKind::DateTime(f) | TypeKind::Timestamp(f) => fsp(19, f),
            TypeKind::Year => u32::from(self.year_digits()),
            TypeKind::Enum(m) => (m.enum_chars() as u32).saturating_mul(MAX_CHAR_BYTES),
            TypeKind::Set(m) => (m.set_chars() as u32).saturating_mul(MAX_CHAR_BYTES),
            TypeKind::Bit(n) => n as u32,
            TypeKind::Fixed(k) => u32::from(k.chars()) * MAX_CHAR_BYTES,
            TypeKind::Char(n) | TypeKind::VarChar(n) => n as u32 * MAX_CHAR_BYTES,
            _ => self.max_bytes().unwrap_or(0).min(u32::MAX as u64) as u32,
        }
    }
}

/// `enum('a','it''s')`.
fn member_list(name: &str, members: Members) -> String {
    let list: Vec<String> = members.list().iter().map(|m| quoted(m)).collect();
    format!("{name}({})", list.join(","))
}

/// A string literal as SHOW prints it: quotes doubled, control characters escaped.
pub fn quoted(s: &str) -> String {
    let mut out = String::with_capacity(s.len() + 2);
    out.push('\'');
    for c in s.chars() {
        match c {
            '\'' => out.push_str("''"),
            '\\' => out.push_str("\\\\"),
            '\0' => out.push_str("\\0"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out.push('\'');
    out
}
