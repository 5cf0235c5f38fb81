//! Data types.

use super::charset::charset;
use super::refuse::unsupported;
use narwal_syntax::SqlMode;
use narwal_syntax::ast::ddl::{DataType, TypeAttribute, TypeName};
use narwal_types::errors;
use narwal_types::{
    BlobSize, Collation, ColumnType, FixedKind, Members, NumberForm, SqlError, SqlResult, TypeKind,
};

/// A type: kind, sign, and what decides its collation.
#[derive(Default)]
pub(super) struct Type {
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
    pub(super) form: NumberForm,
    pub(super) compressed: bool,
}

pub(crate) fn too_big(column: &str, max: u32) -> SqlError {
    errors::TOO_BIG_FIELDLENGTH.with([&column, &max])
}

/// The type of a variable of a stored program.
pub fn variable_type(
    t: &DataType,
    collation: Option<&str>,
    default: Collation,
    sql_mode: SqlMode,
) -> SqlResult<(ColumnType, Option<u8>)> {
    let (kind, ty) = data_type(t, "", sql_mode)?;
    let mut column = ColumnType {
        kind,
        unsigned: ty.unsigned,
        collation: Collation::Binary,
        form: ty.form,
    };
    if column.has_charset() {
        let own = ty.collation.unwrap_or(default);
        let named = collation.map(|n| super::charset::collation_of(n, own.charset()));
        let c = named.transpose()?.unwrap_or(own);
        column.collation = if ty.bin {
            c.charset().bin_collation()
        } else {
            c
        };
    }
    Ok((column, ty.width))
}

/// COMPRESSED knows one method.
pub(super) fn compression(method: Option<&str>) -> SqlResult<()> {
    match method.filter(|m| !m.eq_ignore_ascii_case("zlib")) {
        Some(m) => Err(errors::UNKNOWN_COMPRESSION_METHOD.with([&m])),
        None => Ok(()),
    }
}

/// The type of a column.
pub(super) fn data_type(
    t: &DataType,
    column: &str,
    sql_mode: SqlMode,
) -> SqlResult<(TypeKind, Type)> {
    let mut ty = Type::default();
    let kind = kind(t, column, sql_mode, &mut ty)?;
    if matches!(t.name, TypeName::NationalChar | TypeName::NationalVarChar) {
        // MariaDB's national character set.
        ty.collation = Some(Collation::Utf8mb3GeneralCi);
    }
    let mut zerofill = false;
    for a in &t.attributes {
        match a {
            TypeAttribute::Unsigned => ty.unsigned = true,
            TypeAttribute::Signed | TypeAttribute::Byte | TypeAttribute::AnyLength => {}
            TypeAttribute::Zerofill => {
                ty.unsigned = true;
                zerofill = true;
            }
            TypeAttribute::Charset(name) => {
                ty.collation = Some(charset(name)?.default_collation());
            }
            TypeAttribute::Binary => ty.bin = true,
            TypeAttribute::Ascii => ty.collation = Some(Collation::Latin1SwedishCi),
            TypeAttribute::Unicode => ty.collation = Some(Collation::Ucs2GeneralCi),
            TypeAttribute::Compressed(method) => {
                compression(method.as_deref())?;
                ty.compressed = true;
            }
            TypeAttribute::RefSystemId(_) => {
                return unsupported("column attribute REF_SYSTEM_ID");
            }
        }
    }
    if zerofill && kind != TypeKind::Year {
        let column = ColumnType {
            kind,
            form: ty.form,
            ..ColumnType::unsigned(kind)
        };
        ty.form.zeros = ty.width.unwrap_or(column.zerofill_width());
    }
    Ok((kind, ty))
}

fn kind(t: &DataType, column: &str, sql_mode: SqlMode, ty: &mut Type) -> SqlResult<TypeKind> {
    use TypeName as N;
    if t.attributes.contains(&TypeAttribute::Byte) {
        return bytes(t, column);
    }
    Ok(match t.name {
        N::TinyInt => int(TypeKind::TinyInt, t, column, ty)?,
        N::SmallInt => int(TypeKind::SmallInt, t, column, ty)?,
        N::MediumInt => int(TypeKind::MediumInt, t, column, ty)?,
        N::Int => int(TypeKind::Int, t, column, ty)?,
        N::BigInt => int(TypeKind::BigInt, t, column, ty)?,
        N::Bool => {
            ty.width = Some(1);
            TypeKind::TinyInt
        }
        N::Serial => {
            ty.unsigned = true;
            ty.serial = true;
            TypeKind::BigInt
        }
        N::Decimal => decimal(t, column)?,
        N::Float if t.scale.is_none() => float(t, column)?,
        N::Float | N::Double | N::Real => {
            ty.form.digits = digits_of_real(t, column)?;
            match t.name {
                N::Double => TypeKind::Double,
                N::Real if !sql_mode.has(SqlMode::REAL_AS_FLOAT) => TypeKind::Double,
                _ => TypeKind::Float,
            }
        }
        N::Char | N::NationalChar => TypeKind::Char(fixed_length(t, column)?),
        // What the character set allows is known later.
        N::VarChar | N::NationalVarChar => TypeKind::VarChar(varying(t, column, 16383)?),
        N::Binary => TypeKind::Binary(fixed_length(t, column)?),
        N::VarBinary => TypeKind::VarBinary(varying(t, column, 65532)?),
        N::TinyText => TypeKind::Text(BlobSize::Tiny),
        N::Text | N::Blob if t.length.is_some_and(|n| n > u64::from(u32::MAX)) => {
            return Err(too_wide(column, u32::MAX));
        }
        N::Text => TypeKind::Text(sized(t.length, 4)),
        N::MediumText | N::LongVarChar => TypeKind::Text(BlobSize::Medium),
        N::LongText => TypeKind::Text(BlobSize::Long),
        N::TinyBlob => TypeKind::Blob(BlobSize::Tiny),
        N::Blob => TypeKind::Blob(sized(t.length, 1)),
        N::MediumBlob | N::LongVarBinary => TypeKind::Blob(BlobSize::Medium),
        N::LongBlob => TypeKind::Blob(BlobSize::Long),
        N::Date => TypeKind::Date,
        N::Time => TypeKind::Time(digits(t, column)?),
        N::DateTime => TypeKind::DateTime(digits(t, column)?),
        N::Timestamp if sql_mode.has(SqlMode::MAXDB) => TypeKind::DateTime(digits(t, column)?),
        N::Timestamp => TypeKind::Timestamp(digits(t, column)?),
        N::Year => {
            if t.length == Some(2) {
                ty.form.digits = Some((2, 0));
            }
            TypeKind::Year
        }
        N::Enum => TypeKind::Enum(members(t, column)?),
        N::Set => set(t, column)?,
        N::Bit => bit(t, column)?,
        N::Json => {
            ty.json = true;
            ty.collation = Some(Collation::Utf8mb4Bin);
            TypeKind::Text(BlobSize::Long)
        }
        N::Named => named(t)?,
    })
}

/// A type that has a name of its own.
fn named(t: &DataType) -> SqlResult<TypeKind> {
    match t.word.to_ascii_uppercase().as_str() {
        "UUID" => Ok(TypeKind::Fixed(FixedKind::Uuid)),
        "INET4" => Ok(TypeKind::Fixed(FixedKind::Inet4)),
        "INET6" => Ok(TypeKind::Fixed(FixedKind::Inet6)),
        word => unsupported(format!("type {word}")),
    }
}

/// A character type with BYTE: the type of bytes beside it.
fn bytes(t: &DataType, column: &str) -> SqlResult<TypeKind> {
    Ok(match t.name {
        TypeName::Char => TypeKind::Binary(fixed_length(t, column)?),
        TypeName::VarChar => TypeKind::VarBinary(varying(t, column, 65532)?),
        TypeName::TinyText => TypeKind::Blob(BlobSize::Tiny),
        TypeName::Text => TypeKind::Blob(sized(t.length, 1)),
        TypeName::MediumText | TypeName::LongVarChar => TypeKind::Blob(BlobSize::Medium),
        TypeName::LongText => TypeKind::Blob(BlobSize::Long),
        _ => return unsupported(format!("{} BYTE", t.word)),
    })
}

fn int(kind: TypeKind, t: &DataType, column: &str, ty: &mut Type) -> SqlResult<TypeKind> {
    // It is kept to be shown: drivers take tinyint(1) for a boolean.
    match t.length {
        Some(n) if n > 255 => Err(too_wide(column, 255)),
        n => {
            ty.width = n.filter(|n| *n > 0).map(|n| n as u8);
            Ok(kind)
        }
    }
}

fn too_wide(column: &str, max: u32) -> SqlError {
    errors::TOO_BIG_DISPLAYWIDTH.with([&column, &max])
}

fn too_precise(column: &str, max: u32) -> SqlError {
    errors::TOO_BIG_PRECISION.with([&column, &max])
}

fn too_big_scale(column: &str, max: u32) -> SqlError {
    errors::TOO_BIG_SCALE.text(format!(
        "Too big scale specified for '{column}'. Maximum is {max}"
    ))
}

fn decimal(t: &DataType, column: &str) -> SqlResult<TypeKind> {
    let s = t.scale.unwrap_or(0);
    let p = t.length.filter(|p| *p > 0).unwrap_or(10);
    if s > 38 {
        return Err(too_big_scale(column, 38));
    }
    if p > 65 {
        return Err(too_precise(column, 65));
    }
    if s > p || t.length == Some(0) && s > 0 {
        return Err(errors::M_BIGGER_THAN_D.with([&column]));
    }
    Ok(TypeKind::Decimal(p as u8, s as u8))
}

fn float(t: &DataType, column: &str) -> SqlResult<TypeKind> {
    match t.length {
        None | Some(0..=24) => Ok(TypeKind::Float),
        Some(25..=53) => Ok(TypeKind::Double),
        Some(_) => Err(errors::WRONG_FIELD_SPEC.with([&column])),
    }
}

/// The digits of FLOAT(M,D) and DOUBLE(M,D). (0,0) says nothing.
fn digits_of_real(t: &DataType, column: &str) -> SqlResult<Option<(u8, u8)>> {
    let (m, d) = match (t.length.unwrap_or(0), t.scale.unwrap_or(0)) {
        (0, 0) => return Ok(None),
        digits => digits,
    };
    if d > m {
        return Err(errors::M_BIGGER_THAN_D.with([&column]));
    }
    if d > 30 {
        return Err(too_big_scale(column, 30));
    }
    match u8::try_from(m) {
        Ok(m) => Ok(Some((m, d as u8))),
        Err(_) => Err(too_wide(column, 255)),
    }
}

fn bit(t: &DataType, column: &str) -> SqlResult<TypeKind> {
    match t.length {
        None | Some(0) => Ok(TypeKind::Bit(1)),
        Some(n @ 1..=64) => Ok(TypeKind::Bit(n as u8)),
        Some(_) => Err(too_wide(column, 64)),
    }
}

/// The length of CHAR and BINARY.
fn fixed_length(t: &DataType, column: &str) -> SqlResult<u16> {
    match t.length.unwrap_or(1) {
        n @ 0..=255 => Ok(n as u16),
        _ => Err(too_big(column, 255)),
    }
}

/// The length of VARCHAR and VARBINARY; `max` is the one that the error names.
/// The length of a VARCHAR or VARBINARY that no row has room for.
pub(super) fn overlong(t: &DataType) -> Option<u64> {
    let varying = matches!(
        t.name,
        TypeName::VarChar | TypeName::NationalVarChar | TypeName::VarBinary
    );
    // With most character sets the room is less.
    t.length.filter(|n| varying && *n > 16_383)
}

fn varying(t: &DataType, column: &str, max: u32) -> SqlResult<u16> {
    match t.length.unwrap_or(0) {
        n @ 0..=65532 => Ok(n as u16),
        _ => Err(too_big(column, max)),
    }
}

/// Digits behind a second's point.
fn digits(t: &DataType, column: &str) -> SqlResult<u8> {
    match t.length.unwrap_or(0) {
        n @ 0..=6 => Ok(n as u8),
        _ => Err(too_precise(column, 6)),
    }
}

/// A type whose character set is said to be `binary`.
fn says_binary(t: &DataType) -> bool {
    t.attributes.iter().any(|a| match a {
        TypeAttribute::Charset(name) => name.eq_ignore_ascii_case("binary"),
        TypeAttribute::Byte => true,
        _ => false,
    })
}

/// The longest member of an ENUM or SET, in bytes.
const MEMBER_MAX: usize = 65_000;

/// `('a','b',...)`. Spaces at the end of a member are dropped, but of bytes.
fn members(t: &DataType, column: &str) -> SqlResult<Members> {
    let mut list = t.members.clone();
    let bytes = says_binary(t);
    for m in &mut list {
        if !bytes {
            m.truncate(m.trim_end_matches(' ').len());
        }
        if m.len() > MEMBER_MAX {
            return Err(errors::TOO_LONG_SET_ENUM_VALUE.with([&column]));
        }
    }
    if list.len() > 65_535 {
        return Err(
            errors::TOO_BIG_SET.text(format!("Too many strings for column {column} and ENUM"))
        );
    }
    Ok(Members::new(list))
}

fn set(t: &DataType, column: &str) -> SqlResult<TypeKind> {
    let members = members(t, column)?;
    if members.len() > 64 {
        return Err(errors::TOO_BIG_SET.with([&column]));
    }
    if let Some(m) = members.list().iter().find(|m| m.contains(',')) {
        return Err(errors::ILLEGAL_VALUE_FOR_TYPE
            .text(format!("Illegal set '{m}' value found during parsing")));
    }
    Ok(TypeKind::Set(members))
}

pub(crate) fn is_text(k: TypeKind) -> bool {
    matches!(
        k,
        TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Text(_)
    )
}

/// `TEXT(n)`, `BLOB(n)`: the smallest that holds n; 0 is none given.
fn sized(n: Option<u64>, bytes_per_char: u64) -> BlobSize {
    match n
        .filter(|n| *n > 0)
        .map(|n| n.saturating_mul(bytes_per_char))
    {
        None => BlobSize::Normal,
        Some(n) => BlobSize::for_bytes(n),
    }
}
