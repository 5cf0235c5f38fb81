//! Data types, character sets and collations.

use super::P;
use narwal_types::{
    BlobSize, Charset, Collation, FixedKind, Members, SqlError, SqlResult, TypeKind,
};
use sqlparser::tokenizer::Token;

/// A type as written: kind, sign, and what decides its collation.
pub(super) struct ParsedType {
    pub(super) kind: TypeKind,
    pub(super) unsigned: bool,
    pub(super) collation: Option<Collation>,
    /// BINARY: the collation by code points of whatever the character set is.
    pub(super) bin: bool,
    /// JSON: text with a check.
    pub(super) json: bool,
    /// SERIAL: BIGINT UNSIGNED NOT NULL AUTO_INCREMENT UNIQUE.
    pub(super) serial: bool,
    /// Display width of an integer, if one was given.
    pub(super) width: Option<u8>,
}

pub(crate) fn too_big(column: &str, max: u32) -> SqlError {
    SqlError::new(
        1074,
        b"42000",
        format!(
            "Column length too big for column '{column}' (max = {max}); use BLOB or TEXT instead"
        ),
    )
}

impl P<'_> {
    pub(super) fn opt_len(&mut self) -> SqlResult<Option<u64>> {
        if self.tok(&Token::LParen) {
            let n = self.uint()?;
            self.expect_tok(&Token::RParen)?;
            return Ok(Some(n));
        }
        Ok(None)
    }

    pub(super) fn data_type(&mut self, column: &str) -> SqlResult<ParsedType> {
        let at = self.here();
        let word = match self.next() {
            Token::Word(w) if w.quote_style.is_none() => w.value.to_ascii_uppercase(),
            _ => return Err(self.error_at(at)),
        };
        let mut unsigned = false;
        let mut collation = None;
        let mut bin = false;
        let mut json = false;
        let mut serial = false;
        let mut width = None;
        let kind = match word.as_str() {
            "TINYINT" | "INT1" => self.int(TypeKind::TinyInt, column, &mut width)?,
            "SMALLINT" | "INT2" => self.int(TypeKind::SmallInt, column, &mut width)?,
            "MEDIUMINT" | "INT3" | "MIDDLEINT" => {
                self.int(TypeKind::MediumInt, column, &mut width)?
            }
            "INT" | "INTEGER" | "INT4" => self.int(TypeKind::Int, column, &mut width)?,
            "BIGINT" | "INT8" => self.int(TypeKind::BigInt, column, &mut width)?,
            "BOOL" | "BOOLEAN" => {
                width = Some(1);
                TypeKind::TinyInt
            }
            "SERIAL" => {
                unsigned = true;
                serial = true;
                TypeKind::BigInt
            }
            "DECIMAL" | "NUMERIC" | "DEC" | "FIXED" => {
                let (mut p, mut s) = (10, 0);
                if self.tok(&Token::LParen) {
                    p = self.uint()?;
                    if self.tok(&Token::Comma) {
                        s = self.uint()?;
                    }
                    self.expect_tok(&Token::RParen)?;
                }
                if p == 0 {
                    p = 10;
                }
                if p > 65 {
                    return Err(SqlError::new(
                        1426,
                        b"42000",
                        format!("Too big precision specified for '{column}'. Maximum is 65"),
                    ));
                }
                if s > 38 {
                    return Err(SqlError::new(
                        1425,
                        b"42000",
                        format!("Too big scale specified for '{column}'. Maximum is 38"),
                    ));
                }
                if s > p {
                    return Err(SqlError::new(
                        1427,
                        b"42000",
                        format!(
                            "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '{column}')"
                        ),
                    ));
                }
                TypeKind::Decimal(p as u8, s as u8)
            }
            "FLOAT" => {
                if self.tok(&Token::LParen) {
                    let p = self.uint()?;
                    if self.peek() == &Token::Comma {
                        return self.unsupported("FLOAT(M,D)");
                    }
                    self.expect_tok(&Token::RParen)?;
                    match p {
                        0..=24 => TypeKind::Float,
                        25..=53 => TypeKind::Double,
                        _ => {
                            return Err(SqlError::new(
                                1063,
                                b"42000",
                                format!("Incorrect column specifier for column '{column}'"),
                            ));
                        }
                    }
                } else {
                    TypeKind::Float
                }
            }
            "FLOAT4" => TypeKind::Float,
            "REAL" if self.real_as_float => TypeKind::Float,
            "DOUBLE" | "REAL" | "FLOAT8" => {
                if word == "DOUBLE" {
                    self.kw("PRECISION");
                }
                if *self.peek() == Token::LParen {
                    return self.unsupported("DOUBLE(M,D)");
                }
                TypeKind::Double
            }
            "CHAR" | "CHARACTER" | "NCHAR" if self.kw("VARYING") => self.varchar(column)?,
            "CHAR" | "CHARACTER" | "NCHAR" => {
                let n = self.opt_len()?.unwrap_or(1);
                if n > 255 {
                    return Err(too_big(column, 255));
                }
                TypeKind::Char(n as u16)
            }
            "VARCHAR" | "NVARCHAR" | "VARCHARACTER" => self.varchar(column)?,
            "BINARY" => {
                let n = self.opt_len()?.unwrap_or(1);
                if n > 255 {
                    return Err(too_big(column, 255));
                }
                TypeKind::Binary(n as u16)
            }
            "VARBINARY" => {
                let at = self.here();
                let n = self.opt_len()?.ok_or_else(|| self.error_at(at))?;
                if n > 65532 {
                    return Err(too_big(column, 65532));
                }
                TypeKind::VarBinary(n as u16)
            }
            "TINYTEXT" => TypeKind::Text(BlobSize::Tiny),
            "TEXT" => TypeKind::Text(sized(self.opt_len()?, 4)),
            "MEDIUMTEXT" => TypeKind::Text(BlobSize::Medium),
            "LONGTEXT" => TypeKind::Text(BlobSize::Long),
            "LONG" => {
                if self.kw("VARBINARY") {
                    TypeKind::Blob(BlobSize::Medium)
                } else {
                    self.kw("VARCHAR");
                    TypeKind::Text(BlobSize::Medium)
                }
            }
            "TINYBLOB" => TypeKind::Blob(BlobSize::Tiny),
            "BLOB" => TypeKind::Blob(sized(self.opt_len()?, 1)),
            "MEDIUMBLOB" => TypeKind::Blob(BlobSize::Medium),
            "LONGBLOB" => TypeKind::Blob(BlobSize::Long),
            "DATE" => TypeKind::Date,
            "TIME" => TypeKind::Time(self.opt_fsp(column)?),
            "DATETIME" => TypeKind::DateTime(self.opt_fsp(column)?),
            "TIMESTAMP" => TypeKind::Timestamp(self.opt_fsp(column)?),
            "YEAR" => {
                if self.opt_len()? == Some(2) {
                    return self.unsupported("YEAR(2)");
                }
                TypeKind::Year
            }
            "ENUM" => TypeKind::Enum(self.members(column)?),
            "SET" => {
                let members = self.members(column)?;
                if members.len() > 64 {
                    return Err(SqlError::new(
                        1097,
                        b"HY000",
                        format!("Too many strings for column {column} and SET"),
                    ));
                }
                if let Some(m) = members.list().iter().find(|m| m.contains(',')) {
                    return Err(SqlError::new(
                        1367,
                        b"22007",
                        format!("Illegal set '{m}' value found during parsing"),
                    ));
                }
                TypeKind::Set(members)
            }
            "BIT" => match self.opt_len()? {
                None | Some(0) => TypeKind::Bit(1),
                Some(n @ 1..=64) => TypeKind::Bit(n as u8),
                Some(_) => {
                    return Err(SqlError::new(
                        1439,
                        b"42000",
                        format!("Display width out of range for '{column}' (max = 64)"),
                    ));
                }
            },
            "JSON" => {
                json = true;
                collation = Some(Collation::Utf8mb4Bin);
                TypeKind::Text(BlobSize::Long)
            }
            "UUID" => TypeKind::Fixed(FixedKind::Uuid),
            "INET4" => TypeKind::Fixed(FixedKind::Inet4),
            "INET6" => TypeKind::Fixed(FixedKind::Inet6),
            "GEOMETRY" | "POINT" | "LINESTRING" | "POLYGON" | "MULTIPOINT" => {
                return self.unsupported(&format!("type {word}"));
            }
            _ => return Err(self.error_at(at)),
        };
        loop {
            if is_number(kind) && self.kw("UNSIGNED") {
                unsigned = true;
            } else if is_number(kind) && self.kw("SIGNED") {
                // The default.
            } else if is_number(kind) && self.peek_kw("ZEROFILL") {
                return self.unsupported("ZEROFILL");
            } else if has_charset(kind)
                && (self.kw2("CHARACTER", "SET") || self.kw("CHARSET") || self.kw2("CHAR", "SET"))
            {
                collation = Some(charset(&self.option_word()?)?.default_collation());
            } else if has_charset(kind) && self.kw("BINARY") {
                bin = true;
            } else if has_charset(kind) && self.kw("UNICODE") {
                return self.unsupported("character set ucs2");
            } else if has_charset(kind) && self.kw("ASCII") {
                collation = Some(Collation::Latin1SwedishCi);
            } else {
                break;
            }
        }
        Ok(ParsedType {
            kind,
            unsigned,
            collation,
            bin,
            json,
            serial,
            width,
        })
    }

    fn int(&mut self, kind: TypeKind, column: &str, width: &mut Option<u8>) -> SqlResult<TypeKind> {
        // It is kept to be shown: drivers take tinyint(1) for a boolean.
        match self.opt_len()? {
            Some(n) if n > 255 => Err(SqlError::new(
                1439,
                b"42000",
                format!("Display width out of range for '{column}' (max = 255)"),
            )),
            n => {
                *width = n.filter(|n| *n > 0).map(|n| n as u8);
                Ok(kind)
            }
        }
    }

    /// `('a','b',...)`. Spaces at the end of a member are dropped.
    fn members(&mut self, column: &str) -> SqlResult<Members> {
        self.expect_tok(&Token::LParen)?;
        let mut list = self.comma_separated(Self::string)?;
        self.expect_tok(&Token::RParen)?;
        for m in &mut list {
            m.truncate(m.trim_end_matches(' ').len());
            if m.chars().count() > 255 {
                return Err(SqlError::new(
                    3505,
                    b"HY000",
                    format!("Too long enumeration/set value for column {column}."),
                ));
            }
        }
        if list.len() > 65_535 {
            return Err(SqlError::new(
                1097,
                b"HY000",
                format!("Too many strings for column {column} and ENUM"),
            ));
        }
        Ok(Members::new(list))
    }

    fn varchar(&mut self, column: &str) -> SqlResult<TypeKind> {
        let at = self.here();
        let n = self.opt_len()?.ok_or_else(|| self.error_at(at))?;
        // What the character set allows is known later.
        if n > 65532 {
            return Err(too_big(column, 16383));
        }
        Ok(TypeKind::VarChar(n as u16))
    }

    fn opt_fsp(&mut self, column: &str) -> SqlResult<u8> {
        match self.opt_len()? {
            None => Ok(0),
            Some(n) if n <= 6 => Ok(n as u8),
            Some(_) => Err(SqlError::new(
                1426,
                b"42000",
                format!("Too big precision specified for '{column}'. Maximum is 6"),
            )),
        }
    }
}

fn is_number(k: TypeKind) -> bool {
    matches!(
        k,
        TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::MediumInt
            | TypeKind::Int
            | TypeKind::BigInt
            | TypeKind::Float
            | TypeKind::Double
            | TypeKind::Decimal(..)
    )
}

/// Character types, ENUM and SET.
pub(crate) fn has_charset(k: TypeKind) -> bool {
    is_text(k) || matches!(k, TypeKind::Enum(_) | TypeKind::Set(_))
}

pub(crate) fn is_text(k: TypeKind) -> bool {
    matches!(
        k,
        TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Text(_)
    )
}

/// `TEXT(n)`, `BLOB(n)`: the smallest that holds n.
fn sized(n: Option<u64>, bytes_per_char: u64) -> BlobSize {
    match n.map(|n| n.saturating_mul(bytes_per_char)) {
        None => BlobSize::Normal,
        Some(0..=255) => BlobSize::Tiny,
        Some(256..=65_535) => BlobSize::Normal,
        Some(65_536..=16_777_215) => BlobSize::Medium,
        Some(_) => BlobSize::Long,
    }
}

/// Character sets of MariaDB that Narwal does not have.
const OTHER_CHARSETS: &[&str] = &[
    "latin2", "ucs2", "utf16", "utf32", "cp1250", "cp1251", "cp1252", "cp1256", "cp1257", "koi8r",
    "koi8u", "sjis", "ujis", "gbk", "gb2312", "big5", "euckr", "latin5", "latin7", "greek",
    "hebrew", "swe7", "dec8", "hp8", "cp850", "cp852", "cp866", "macce", "macroman", "tis620",
    "armscii8", "keybcs2", "geostd8", "cp932", "eucjpms", "utf16le",
];

/// A character set by name, or why not.
pub(crate) fn charset(name: &str) -> SqlResult<Charset> {
    if let Some(c) = Charset::from_name(name) {
        return Ok(c);
    }
    if OTHER_CHARSETS.iter().any(|c| c.eq_ignore_ascii_case(name)) {
        return Err(SqlError::unsupported(format!("character set {name}")));
    }
    Err(SqlError::new(
        1115,
        b"42000",
        format!("Unknown character set: '{name}'"),
    ))
}

/// A collation by name, or why not.
pub(crate) fn collation(name: &str) -> SqlResult<Collation> {
    if let Some(c) = Collation::from_name(name) {
        return Ok(c);
    }
    let lower = name.to_ascii_lowercase();
    let (set, rest) = lower.split_once('_').unwrap_or((&lower, ""));
    let known_set =
        set == "uca1400" || Charset::from_name(set).is_some() || OTHER_CHARSETS.contains(&set);
    if known_set
        && ["_ci", "_cs", "_bin"]
            .iter()
            .any(|e| format!("_{rest}").ends_with(e))
        && !rest.contains("nosuch")
    {
        return Err(SqlError::unsupported(format!("collation {name}")));
    }
    Err(SqlError::new(
        1273,
        b"HY000",
        format!("Unknown collation: '{name}'"),
    ))
}

/// Error 1253: the collation is one of another character set.
pub(crate) fn mismatched_collation(collation: Collation, charset: Charset) -> SqlError {
    SqlError::new(
        1253,
        b"42000",
        format!(
            "COLLATION '{}' is not valid for CHARACTER SET '{}'",
            collation.name(),
            charset.name()
        ),
    )
}
