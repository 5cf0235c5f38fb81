//! How a column's values become ours (`slave_type_conversions`).
//!
//! A column of the same type is taken byte for byte. One of another length in the same family of strings is taken if it has
//! the same length in characters (a source in utf8mb3). Everything else needs a setting, as with MariaDB: a type that holds
//! all values of the other `ALL_NON_LOSSY`, one that does not `ALL_LOSSY`.

use crate::apply::cell::{Cell, not_text};
use crate::apply::error::bad_event;
use crate::catalog::def::ColumnDef;
use crate::catalog::table::Table;
use crate::{EngineError, Result};
use narwal_binlog::{ColumnMeta, value_len};
use narwal_types::convert::{NoWarnings, StoreMode, StoreTarget, store};
use narwal_types::errors;
use narwal_types::mysql_json::write_text;
use narwal_types::{BlobSize, Charset, Collation, ColumnType, RowLayout, TypeKind, ValueRef};

/// Column type codes of table maps that are named here.
mod code {
    pub(super) const TINY: u8 = 0x01;
    pub(super) const SHORT: u8 = 0x02;
    pub(super) const LONG: u8 = 0x03;
    pub(super) const FLOAT: u8 = 0x04;
    pub(super) const DOUBLE: u8 = 0x05;
    pub(super) const LONGLONG: u8 = 0x08;
    pub(super) const INT24: u8 = 0x09;
    pub(super) const DATE: u8 = 0x0a;
    pub(super) const VARCHAR: u8 = 0x0f;
    pub(super) const TIMESTAMP2: u8 = 0x11;
    pub(super) const DATETIME2: u8 = 0x12;
    pub(super) const TIME2: u8 = 0x13;
    pub(super) const BLOB_COMPRESSED: u8 = 0x8c;
    pub(super) const VARCHAR_COMPRESSED: u8 = 0x8d;
    pub(super) const JSON: u8 = 0xf5;
    pub(super) const NEWDECIMAL: u8 = 0xf6;
    pub(super) const BLOB: u8 = 0xfc;
    pub(super) const STRING: u8 = 0xfe;
}

/// `slave_type_conversions`: what may be done to values of a column whose type is another one here. With none of them only
/// the same type is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TypeConversions {
    /// `ALL_NON_LOSSY`: to a type that holds all values of the other.
    pub non_lossy: bool,
    /// `ALL_LOSSY`: values are cut or moved to the nearest where they do not fit.
    pub lossy: bool,
    /// Not a setting of MariaDB's: strings of another length are taken if each value fits (error 1406 if one does not).
    pub fitting: bool,
}

impl TypeConversions {
    /// As `slave_type_conversions` lists them.
    #[must_use]
    pub fn listed(list: &str) -> Self {
        let has = |name: &str| list.split(',').any(|c| c.trim().eq_ignore_ascii_case(name));
        TypeConversions {
            non_lossy: has("ALL_NON_LOSSY"),
            lossy: has("ALL_LOSSY"),
            fitting: false,
        }
    }
}

/// By how much the text of a JSON value is longer than its binary form, at most: a control character takes six bytes, and
/// a number of three bytes in an array of one takes as many with what stands around it.
const JSON_GROWTH: usize = 16;
/// Bytes that every JSON value's text may have.
const JSON_LEAST: usize = 1024;

/// What has to be done to a value of the event before it is a value of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conversion {
    /// The bytes are the same.
    Same,
    /// As `Same`, but they must be UTF-8.
    Text { prefix: u8 },
    /// BINARY comes without its trailing zero bytes.
    Pad { prefix: u8, width: u16 },
    /// A string under another length prefix.
    Prefix {
        from: u8,
        to: u8,
        max: u64,
        text: bool,
    },
    /// A string of a column that is COMPRESSED there, or here, or both.
    Compressed {
        from: u8,
        to: u8,
        max: u64,
        text: bool,
        /// The source's values have their head in front.
        headed: bool,
        /// Ours have.
        head: bool,
    },
    /// The number of an ENUM's or SET's members, or bits: at most this.
    Limit { max: u64, big_endian: bool },
    /// MySQL's binary JSON, which is text here.
    Json { prefix: u8, size: BlobSize },
    /// The table has no such column.
    Ignore,
    /// Another type.
    Cast(From),
}

/// What is cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    /// A string behind a length of so many bytes.
    String { prefix: u8 },
    /// A value of one of our types.
    Value(ColumnType),
}

fn prefix_of(max: u64) -> u8 {
    if max < 256 { 1 } else { 2 }
}

/// Bytes of a value, where every value of the type has so many.
pub(crate) fn fixed_len(type_code: u8, meta: &[u8]) -> Option<u16> {
    match type_code {
        code::VARCHAR | 0xfd | code::BLOB | code::JSON | 0xff => None,
        code::BLOB_COMPRESSED | code::VARCHAR_COMPRESSED => None,
        code::STRING if !matches!(meta.first(), Some(0xf7 | 0xf8)) => None,
        // The longest has 29 bytes (DECIMAL).
        _ => value_len(type_code, meta, &[0; 64])
            .ok()
            .and_then(|n| u16::try_from(n).ok()),
    }
}

/// The highest number that an ENUM, SET or BIT column holds, and whether its bytes come highest first.
fn limit(ty: &ColumnType) -> Option<(u64, bool)> {
    match ty.kind {
        TypeKind::Enum(of) => Some((of.len() as u64, false)),
        TypeKind::Set(of) => Some((of.set_mask(), false)),
        TypeKind::Bit(width) => Some((u64::MAX >> (64 - u32::from(width.clamp(1, 64))), true)),
        _ => None,
    }
}

/// Most bytes that a string column of the source holds, and the width of its length prefix; `None` if it is none.
fn string_of(type_code: u8, meta: &[u8]) -> Option<(u64, u8)> {
    let (a, b) = (*meta.first()?, meta.get(1).copied());
    Some(match type_code {
        code::VARCHAR => {
            let max = u64::from(u16::from_le_bytes([a, b?]));
            (max, prefix_of(max))
        }
        code::STRING if !matches!(a, 0xf7 | 0xf8) => {
            let max = (u64::from(a) & 0x30 ^ 0x30) << 4 | u64::from(b?);
            (max, prefix_of(max))
        }
        code::BLOB if (1..=4).contains(&a) => ((1 << (8 * u32::from(a))) - 1, a),
        _ => return None,
    })
}

/// How values of a source column become values of ours; `None` if they can't.
pub(crate) fn conversion(
    type_code: u8,
    meta: &[u8],
    info: &ColumnMeta,
    column: &ColumnDef,
    allowed: TypeConversions,
) -> Option<Conversion> {
    if let code::BLOB_COMPRESSED | code::VARCHAR_COMPRESSED = type_code {
        return compressed(type_code, meta, column);
    }
    let plain = plain(type_code, meta, info, &column.ty, allowed)?;
    match column.headed {
        true => with_head(type_code, meta, plain, &column.ty),
        false => Some(plain),
    }
}

/// How values become ours where neither column is COMPRESSED.
fn plain(
    type_code: u8,
    meta: &[u8],
    info: &ColumnMeta,
    ty: &ColumnType,
    allowed: TypeConversions,
) -> Option<Conversion> {
    let collation = info.collation;
    let (own_code, own_meta) = ty.binlog_type();
    if type_code == code::JSON {
        return json(meta, ty);
    }
    let exact = type_code == own_code && meta == &own_meta[..];
    if let Some((max, big_endian)) = limit(ty) {
        return exact.then_some(Conversion::Limit { max, big_endian });
    }
    // Where the map tells the character set it must be UTF-8 or a part of it, or bytes where we have bytes.
    if let Some(id) = collation
        && ty.is_string()
    {
        let binary = id == Collation::Binary.id();
        if binary != ty.is_binary_string() || (!binary && !readable(id, ty.collation.charset())) {
            return None;
        }
    }
    if exact {
        let max = ty.max_bytes().unwrap_or(0);
        return Some(match ty.kind {
            TypeKind::Binary(width) => Conversion::Pad {
                prefix: prefix_of(max),
                width,
            },
            TypeKind::Fixed(kind) => Conversion::Pad {
                prefix: 1,
                width: kind.bytes() as u16,
            },
            _ if ty.is_character() && !ty.collation.charset().stores_utf8() => Conversion::Same,
            TypeKind::Char(_) | TypeKind::VarChar(_) => Conversion::Text {
                prefix: prefix_of(max),
            },
            TypeKind::Text(size) => Conversion::Text { prefix: size as u8 },
            _ => Conversion::Same,
        });
    }
    let permitted = |lossy: bool| {
        if lossy {
            allowed.lossy
        } else {
            allowed.non_lossy
        }
    };
    if ty.is_string() {
        let (from_max, from) = string_of(type_code, meta)?;
        let to_max = ty.max_bytes()?;
        let family = match ty.kind {
            TypeKind::VarChar(_) | TypeKind::VarBinary(_) => code::VARCHAR,
            TypeKind::Text(_) | TypeKind::Blob(_) => code::BLOB,
            TypeKind::Char(_) => code::STRING,
            _ => 0,
        };
        // A length in bytes alone does not tell a shorter column from one in another character set.
        let width = collation.map(bytes_per_character);
        let (from_chars, to_chars) = match (ty.max_length(), width) {
            (Some(n), Some(w)) if type_code != code::BLOB && ty.is_character() => (from_max / w, n),
            _ => (from_max, to_max),
        };
        if type_code == family && width.is_some() && (from_chars == to_chars || allowed.fitting) {
            let to = match ty.kind {
                TypeKind::Text(size) | TypeKind::Blob(size) => size as u8,
                _ => prefix_of(to_max),
            };
            return Some(Conversion::Prefix {
                from,
                to,
                max: to_max,
                text: ty.is_character() && ty.collation.charset().stores_utf8(),
            });
        }
        return permitted(from_chars > to_chars)
            .then_some(Conversion::Cast(From::String { prefix: from }));
    }
    let (from, lossy) = number(type_code, meta, info, ty)?;
    permitted(lossy).then_some(Conversion::Cast(From::Value(from)))
}

/// Bytes of the length in front of a value of ours, whose column is COMPRESSED or not.
fn own_prefix(ty: &ColumnType, head: bool) -> Option<u8> {
    Some(match ty.kind {
        TypeKind::Text(size) | TypeKind::Blob(size) => size as u8,
        _ => prefix_of(ty.max_bytes()? + u64::from(head)),
    })
}

/// The most bytes that a value of ours has, in a column that is COMPRESSED or not.
fn own_max(ty: &ColumnType, head: bool) -> Option<u64> {
    // No server gives a longer value than the largest `max_allowed_packet`, so what says so is no value.
    let max = ty.max_bytes()?.min(1 << 30);
    Some(max - u64::from(head && ty.is_blob()))
}

/// A COMPRESSED column of the source.
fn compressed(type_code: u8, meta: &[u8], column: &ColumnDef) -> Option<Conversion> {
    let ty = &column.ty;
    let from = match (type_code, ty.kind) {
        (code::VARCHAR_COMPRESSED, TypeKind::VarChar(_) | TypeKind::VarBinary(_)) => {
            prefix_of(u16::from_le_bytes([*meta.first()?, *meta.get(1)?]).into())
        }
        (code::BLOB_COMPRESSED, TypeKind::Text(_) | TypeKind::Blob(_)) => *meta.first()?,
        _ => return None,
    };
    Some(Conversion::Compressed {
        from,
        to: own_prefix(ty, column.headed)?,
        max: own_max(ty, column.headed)?,
        text: ty.is_character() && ty.collation.charset().stores_utf8(),
        headed: true,
        head: column.headed,
    })
}

/// What becomes of values that would be ours by `plain`, if our column were not COMPRESSED.
fn with_head(type_code: u8, meta: &[u8], plain: Conversion, ty: &ColumnType) -> Option<Conversion> {
    Some(match plain {
        Conversion::Same | Conversion::Text { .. } | Conversion::Prefix { .. } => {
            Conversion::Compressed {
                from: string_of(type_code, meta)?.1,
                to: own_prefix(ty, true)?,
                max: own_max(ty, true)?,
                text: ty.is_character() && ty.collation.charset().stores_utf8(),
                headed: false,
                head: true,
            }
        }
        // A cast writes what it has as our column has it.
        Conversion::Cast(_) => plain,
        _ => return None,
    })
}

/// What becomes of JSON: text, if our column has UTF-8.
fn json(meta: &[u8], ty: &ColumnType) -> Option<Conversion> {
    match ty.kind {
        TypeKind::Text(size) if ty.collation.charset() == Charset::Utf8mb4 => {
            Some(Conversion::Json {
                prefix: *meta.first()?,
                size,
            })
        }
        _ => None,
    }
}

/// The source's type, if it is a number or a time of day or date that can become our `ty`, and whether values may be lost.
fn number(
    type_code: u8,
    meta: &[u8],
    info: &ColumnMeta,
    ty: &ColumnType,
) -> Option<(ColumnType, bool)> {
    use TypeKind as T;
    let m = |i: usize| meta.get(i).copied();
    let kind = match type_code {
        code::TINY => T::TinyInt,
        code::SHORT => T::SmallInt,
        code::INT24 => T::MediumInt,
        code::LONG => T::Int,
        code::LONGLONG => T::BigInt,
        code::FLOAT => T::Float,
        code::DOUBLE => T::Double,
        code::NEWDECIMAL => T::Decimal(m(0)?, m(1)?),
        code::DATE => T::Date,
        code::TIMESTAMP2 => T::Timestamp(m(0)?),
        code::DATETIME2 => T::DateTime(m(0)?),
        code::TIME2 => T::Time(m(0)?),
        _ => return None,
    };
    let mut from = ColumnType::new(kind);
    // Without a word on signs they are taken to be ours.
    let told = info.numeric && !info.name.is_empty();
    from.unsigned = if told { info.unsigned } else { ty.unsigned } && from.is_numeric();
    let lossy = match (kind, ty.kind) {
        _ if from.is_integer() && ty.is_integer() => {
            let (a, b) = (from.int_range()?, ty.int_range()?);
            a.0 < b.0 || a.1 > b.1
        }
        (T::Float, T::Double) => false,
        (T::Double, T::Float) => true,
        (T::Decimal(p, s), T::Decimal(q, t)) => s > t || p - s.min(p) > q - t.min(q),
        (T::Decimal(..), T::Float | T::Double) | (T::Float | T::Double, T::Decimal(..)) => true,
        (T::Decimal(..) | T::Float | T::Double, _) if ty.is_integer() => true,
        (T::Timestamp(a), T::Timestamp(b))
        | (T::DateTime(a), T::DateTime(b))
        | (T::Time(a), T::Time(b)) => a > b,
        (T::Date, T::DateTime(_)) => false,
        (T::DateTime(_), T::Date) => true,
        _ => return None,
    };
    Some((from, lossy))
}

/// Converts one value, length prefix included.
pub(crate) fn convert<'a>(
    conversion: &Conversion,
    table: &Table,
    i: usize,
    value: &'a [u8],
    scratch: &mut Vec<u8>,
) -> Result<Cell<'a>> {
    let too_long = || too_long(table, i);
    Ok(match *conversion {
        Conversion::Same => Cell::Bytes(value),
        Conversion::Ignore => Cell::Absent,
        Conversion::Limit { max, big_endian } => {
            let join = |n: u64, b: &u8| n << 8 | u64::from(*b);
            let number = if big_endian {
                value.iter().fold(0, join)
            } else {
                value.iter().rev().fold(0, join)
            };
            if number > max {
                return Err(EngineError::Sql(errors::WARN_DATA_TRUNCATED.text(format!(
                    "Data truncated for column '{}': the source has more members than the replica",
                    table.def.columns[i].name
                ))));
            }
            Cell::Bytes(value)
        }
        Conversion::Text { prefix } => {
            let text = value.get(usize::from(prefix)..).unwrap_or_default();
            if !text.is_ascii() && std::str::from_utf8(text).is_err() {
                return Err(not_text(table, i));
            }
            Cell::Bytes(value)
        }
        Conversion::Pad { prefix, width } => {
            let bytes = value.get(usize::from(prefix)..).unwrap_or_default();
            let width = usize::from(width);
            if bytes.len() == width {
                return Ok(Cell::Bytes(value));
            }
            if bytes.len() > width {
                return Err(too_long());
            }
            let start = scratch.len();
            scratch.extend_from_slice(&(width as u64).to_le_bytes()[..usize::from(prefix)]);
            scratch.extend_from_slice(bytes);
            scratch.resize(start + usize::from(prefix) + width, 0);
            Cell::Scratch(start, scratch.len())
        }
        Conversion::Prefix {
            from,
            to,
            max,
            text,
        } => {
            let bytes = value.get(usize::from(from)..).unwrap_or_default();
            if bytes.len() as u64 > max {
                return Err(too_long());
            }
            if text && std::str::from_utf8(bytes).is_err() {
                return Err(not_text(table, i));
            }
            let start = scratch.len();
            scratch.extend_from_slice(&(bytes.len() as u64).to_le_bytes()[..usize::from(to)]);
            scratch.extend_from_slice(bytes);
            Cell::Scratch(start, scratch.len())
        }
        Conversion::Compressed { .. } => {
            return with_or_without_head(conversion, table, i, value, scratch);
        }
        Conversion::Json { prefix, size } => {
            let value = value.get(usize::from(prefix)..).unwrap_or_default();
            return json_text(value, size, table, scratch)?.ok_or_else(too_long);
        }
        Conversion::Cast(from) => return cast(from, table, i, value, scratch),
    })
}

/// A string of a COMPRESSED column, there or here.
fn with_or_without_head<'a>(
    conversion: &Conversion,
    table: &Table,
    i: usize,
    value: &[u8],
    scratch: &mut Vec<u8>,
) -> Result<Cell<'a>> {
    let Conversion::Compressed {
        from,
        to,
        max,
        text,
        headed,
        head,
    } = *conversion
    else {
        return Ok(Cell::Absent);
    };
    let bytes = value.get(usize::from(from)..).unwrap_or_default();
    let bytes = match headed {
        true => &*narwal_binlog::uncompressed(bytes, max).map_err(|e| bad_event(table, e))?,
        false => bytes,
    };
    if bytes.len() as u64 > max {
        return Err(too_long(table, i));
    }
    if text && std::str::from_utf8(bytes).is_err() {
        return Err(not_text(table, i));
    }
    let (start, head) = (scratch.len(), head && !bytes.is_empty());
    let len = bytes.len() as u64 + u64::from(head);
    scratch.extend_from_slice(&len.to_le_bytes()[..usize::from(to)]);
    if head {
        scratch.push(0);
    }
    scratch.extend_from_slice(bytes);
    Ok(Cell::Scratch(start, scratch.len()))
}

fn too_long(table: &Table, i: usize) -> EngineError {
    let name = &table.def.columns[i].name;
    EngineError::Sql(errors::DATA_TOO_LONG.text(format!("Data too long for column '{name}'")))
}

/// The text of MySQL's binary JSON; `None` if it is too long.
fn json_text<'a>(
    value: &[u8],
    size: BlobSize,
    table: &Table,
    scratch: &mut Vec<u8>,
) -> Result<Option<Cell<'a>>> {
    let width = size as usize;
    let start = scratch.len();
    scratch.resize(start + width, 0);
    // What no such column holds is no value of it either.
    let most = value.len().saturating_mul(JSON_GROWTH).max(JSON_LEAST);
    if write_text(value, most, scratch).is_err() {
        return Err(bad_event(table, "a JSON value that is none"));
    }
    let len = (scratch.len() - start - width) as u64;
    if len >> (8 * width) != 0 {
        return Ok(None);
    }
    scratch[start..start + width].copy_from_slice(&len.to_le_bytes()[..width]);
    Ok(Some(Cell::Scratch(start, scratch.len())))
}

/// Stores a value of another type as INSERT without strict mode would: cut, rounded, moved to the nearest.
fn cast<'a>(
    from: From,
    table: &Table,
    i: usize,
    value: &'a [u8],
    scratch: &mut Vec<u8>,
) -> Result<Cell<'a>> {
    let column = &table.def.columns[i];
    let target = StoreTarget {
        ty: &column.ty,
        nullable: column.nullable,
        db: &table.def.db,
        table: &table.def.name,
        column: &column.name,
    };
    let mut image = Vec::new();
    let layout;
    let given = match from {
        From::String { prefix } => {
            let bytes = value.get(usize::from(prefix)..).unwrap_or_default();
            if !column.ty.is_character() {
                ValueRef::Bytes(bytes)
            } else if !column.ty.collation.charset().stores_utf8() {
                ValueRef::Coded(column.ty.collation.charset(), bytes)
            } else if std::str::from_utf8(bytes).is_ok() {
                ValueRef::Str(bytes)
            } else {
                return Err(not_text(table, i));
            }
        }
        From::Value(ty) => {
            image.push(0);
            image.extend_from_slice(value);
            layout = RowLayout::new(&[ty]);
            layout.column(&image, 0).map_err(|e| bad_event(table, e))?
        }
    };
    let stored = store(given, &target, 1, &StoreMode::default(), &mut NoWarnings)?;
    let mut one = Vec::new();
    column.layout().encode(&[stored.as_ref()], &mut one)?;
    if one.first().is_none_or(|b| b & 1 != 0) {
        return Ok(Cell::Null);
    }
    let start = scratch.len();
    scratch.extend_from_slice(&one[1..]);
    Ok(Cell::Scratch(start, scratch.len()))
}

/// Bytes of the longest character in a collation's character set.
fn bytes_per_character(collation: u16) -> u64 {
    // Ids of MySQL that MariaDB does not have are those of utf8mb4, but for one.
    match Collation::from_id(collation) {
        Some(c) => u64::from(c.charset().char_bytes()),
        None if collation == 76 => 3,
        None => 4,
    }
}

/// The bytes of text under a collation are text in our character set, or its bytes will tell.
fn readable(id: u16, ours: Charset) -> bool {
    let theirs = Collation::from_id(id).map(Collation::charset);
    let ascii = theirs == Some(Charset::Ascii) && ours.keeps_ascii();
    match ours {
        Charset::Utf8mb3 | Charset::Utf8mb4 => ascii || is_utf8(id),
        _ => ascii || theirs == Some(ours),
    }
}

/// Collations of utf8mb4, utf8mb3 and ascii, by their ids in MariaDB and MySQL.
fn is_utf8(id: u16) -> bool {
    matches!(id,
        11 | 65 | 33 | 83 | 45 | 46 | 76 | 192..=215 | 223..=247 | 255..=323
        | 576..=578 | 608..=610 | 1057 | 1069 | 1070 | 1107 | 1216 | 1238 | 2048..=2559)
}

/// A column type of a table map in words.
fn type_name(type_code: u8, meta: &[u8]) -> String {
    let m = |i: usize| meta.get(i).copied().unwrap_or(0);
    match type_code {
        0x01 => "tinyint".into(),
        0x02 => "smallint".into(),
        0x09 => "mediumint".into(),
        0x03 => "int".into(),
        0x08 => "bigint".into(),
        0x04 => "float".into(),
        0x05 => "double".into(),
        0xf6 => format!("decimal({},{})", m(0), m(1)),
        0x0d => "year".into(),
        0x0a | 0x0e => "date".into(),
        0x07 => "timestamp in the format before MariaDB 10.1 and MySQL 5.6".into(),
        0x0b => "time in the format before MariaDB 10.1 and MySQL 5.6".into(),
        0x0c => "datetime in the format before MariaDB 10.1 and MySQL 5.6".into(),
        0x11 => format!("timestamp({})", m(0)),
        0x12 => format!("datetime({})", m(0)),
        0x13 => format!("time({})", m(0)),
        0x10 => format!("bit({})", u32::from(m(1)) * 8 + u32::from(m(0))),
        0x0f | 0xfd => format!(
            "varchar or varbinary of {} bytes",
            u16::from_le_bytes([m(0), m(1)])
        ),
        0xfe => match m(0) {
            0xf7 => "enum".into(),
            0xf8 => "set".into(),
            kind => format!(
                "char or binary of {} bytes",
                (u32::from(kind) & 0x30 ^ 0x30) << 4 | u32::from(m(1))
            ),
        },
        0xfc => format!(
            "{}text or blob",
            match m(0) {
                1 => "tiny",
                3 => "medium",
                4 => "long",
                _ => "",
            }
        ),
        0xf5 => "json in MySQL's binary format".into(),
        0xf2 => "vector".into(),
        0xff => "geometry".into(),
        0x8c | 0x8d => "compressed column".into(),
        other => format!("type code {other:#04x}"),
    }
}

pub(crate) fn mismatch(
    table: &Table,
    column: usize,
    type_code: u8,
    meta: &[u8],
    collation: Option<u16>,
) -> EngineError {
    let hint = match type_code {
        0x07 | 0x0b | 0x0c => {
            "; on the source, ALTER TABLE ... FORCE with mysql56_temporal_format=ON rewrites it"
        }
        _ => "",
    };
    let of = collation
        .filter(|_| table.def.columns[column].ty.is_string())
        .map_or(String::new(), |id| format!(" with collation id {id}"));
    EngineError::Sql(errors::SLAVE_CONVERSION_FAILED.with([
        &column,
        &table.def.columns[column].name,
        &table.def.db,
        &table.def.name,
        &type_name(type_code, meta),
        &of,
        &table.def.columns[column].type_name(),
        &hint,
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use narwal_types::ColumnType;
    use smallvec::SmallVec;

    fn column(ty: ColumnType, headed: bool) -> ColumnDef {
        ColumnDef {
            compressed: headed,
            headed,
            ..ColumnDef::new("c", ty, true)
        }
    }

    fn conversion_to(
        code: u8,
        meta: &[u8],
        collation: Option<u16>,
        column: &ColumnDef,
    ) -> Option<Conversion> {
        let info = ColumnMeta {
            collation,
            ..ColumnMeta::default()
        };
        super::conversion(code, meta, &info, column, TypeConversions::default())
    }

    /// A byte stands in front of values of COMPRESSED columns: there, here, or on both sides. A source that is older than the
    /// byte has none in front of a column that is COMPRESSED here.
    #[test]
    fn compressed_columns_are_taken_with_and_without_their_head() {
        let latin1 = Collation::from_id(8).unwrap();
        let ty = ColumnType::text(TypeKind::VarChar(255), latin1);
        let of =
            |code, meta: &[u8], headed| conversion_to(code, meta, Some(8), &column(ty, headed));
        let made = |from, to, headed, head| {
            Some(Conversion::Compressed {
                from,
                to,
                max: 255,
                text: false,
                headed,
                head,
            })
        };
        assert_eq!(of(0x8d, &[0, 1], false), made(2, 1, true, false));
        assert_eq!(of(0x8d, &[0, 1], true), made(2, 2, true, true));
        assert_eq!(of(0x0f, &[255, 0], true), made(1, 2, false, true));
        assert_eq!(
            column(ty, true).binlog_type(),
            (0x8d, SmallVec::from_slice(&[0, 1]))
        );
        let text = column(
            ColumnType::text(TypeKind::Text(BlobSize::Tiny), latin1),
            true,
        );
        assert_eq!(text.binlog_type(), (0x8c, SmallVec::from_slice(&[1])));
        let taken = conversion_to(0x8c, &[1], Some(8), &text);
        // The byte takes one of the 255.
        assert!(matches!(
            taken,
            Some(Conversion::Compressed { max: 254, .. })
        ));
    }

    #[test]
    fn columns_are_taken_only_where_the_bytes_mean_the_same() {
        let conversion = |code, meta: &[u8], collation, ty: &ColumnType| {
            conversion_to(code, meta, collation, &column(*ty, false))
        };
        let varchar = ColumnType::varchar(20);
        let exact = conversion(0x0f, &[80, 0], None, &varchar);
        assert_eq!(exact, Some(Conversion::Text { prefix: 1 }));
        // 20 bytes: latin1, or a shorter column. Without metadata nobody knows.
        assert_eq!(conversion(0x0f, &[20, 0], None, &varchar), None);
        // latin1 by its collation.
        assert_eq!(conversion(0x0f, &[20, 0], Some(8), &varchar), None);
        // utf8mb3 is a part of utf8mb4.
        assert!(matches!(
            conversion(0x0f, &[60, 0], Some(33), &varchar),
            Some(Conversion::Prefix { from: 1, to: 1, .. })
        ));
        assert_eq!(conversion(0x0f, &[80, 0], Some(63), &varchar), None);
        assert_eq!(
            conversion(
                0xfe,
                &[0xfe, 5],
                None,
                &ColumnType::new(TypeKind::Binary(5))
            ),
            Some(Conversion::Pad {
                prefix: 1,
                width: 5
            })
        );
        // ENUM hides in STRING.
        assert_eq!(
            conversion(0xfe, &[0xf7, 1], Some(45), &ColumnType::char(1)),
            None
        );
        // Old DATETIME against new.
        assert_eq!(conversion(0x0c, &[], None, &ColumnType::datetime(0)), None);
        assert_eq!(
            conversion(
                0xfc,
                &[2],
                None,
                &ColumnType::new(TypeKind::Blob(BlobSize::Normal))
            ),
            Some(Conversion::Same)
        );
        assert_eq!(
            conversion(0x03, &[], None, &ColumnType::new(TypeKind::BigInt)),
            None
        );
        // COMPRESSED: a byte stands before the value.
        assert!(matches!(
            conversion(0x8d, &[81, 0], None, &varchar),
            Some(Conversion::Compressed {
                from: 1,
                to: 1,
                max: 80,
                text: true,
                headed: true,
                head: false,
            })
        ));
        assert_eq!(conversion(0x8c, &[2], None, &varchar), None);
    }
}
