//! Column values of row images, taken apart.

use narwal_binlog::{BinlogError, ColumnMeta, HASH_COLUMN, column_type as t, value_len};
use narwal_types::{Date, DateTime, Decimal, Time};

/// One column's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// NULL.
    Null,
    /// An integer's bits, zero-extended, and its width in bytes.
    Int(u64, u8),
    /// FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// DECIMAL.
    Decimal(Decimal),
    /// Text or binary.
    Bytes(&'a [u8]),
    /// BIT: its bits, most significant byte first, and how many.
    Bit(&'a [u8], u16),
    /// ENUM: index from 1, 0 for the error value.
    Enum(u64),
    /// SET: bits, and width in bytes.
    Set(u64, u8),
    /// YEAR; 0 for 0000.
    Year(u16),
    /// DATE.
    Date(Date),
    /// TIME.
    Time(Time),
    /// DATETIME.
    DateTime(DateTime),
    /// TIMESTAMP: seconds since 1970 UTC, microseconds, digits of the fraction.
    Timestamp(u32, u32, u8),
    /// A value that makes no sense for its type, or is of a type that this program does not take apart.
    Raw(&'a [u8]),
}

/// The values of a row image, column by column; `None` for columns that the image lacks.
pub type Image<'a> = Vec<Option<Cell<'a>>>;

/// The bit `i` of a bitmap whose lowest bit comes first.
fn bit(bitmap: &[u8], i: usize) -> bool {
    bitmap.get(i / 8).is_some_and(|b| b >> (i % 8) & 1 != 0)
}

fn little(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b))
}

fn big(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |n, &b| n << 8 | u64::from(b))
}

/// The type behind STRING.
#[must_use]
pub fn real_type(code: u8, meta: &[u8]) -> u8 {
    match (code, meta) {
        (t::STRING, [m @ (t::ENUM | t::SET), ..]) => *m,
        _ => code,
    }
}

/// Bytes that a STRING column can hold: two bits of the length hide, inverted, in the type.
#[must_use]
pub fn string_len(meta: &[u8]) -> u16 {
    match meta {
        [high, low] => ((u16::from(*high) & 0x30) ^ 0x30) << 4 | u16::from(*low),
        _ => 0,
    }
}

/// A signed integer out of the bits of a [`Cell::Int`].
#[must_use]
pub fn signed(bits: u64, width: u8) -> i64 {
    let shift = 64 - 8 * u32::from(width.clamp(1, 8));
    (bits << shift) as i64 >> shift
}

/// DATETIME of before MariaDB 10.1 and MySQL 5.6: the digits as one number.
fn old_datetime(n: u64) -> Option<DateTime> {
    let (date, time) = (n / 1_000_000, n % 1_000_000);
    let (h, m, s) = (time / 10_000, time / 100 % 100, time % 100);
    let year = u16::try_from(date / 10_000).ok().filter(|y| *y <= 9999)?;
    (h < 24 && m < 60 && s < 60).then(|| {
        let date = Date::new(year, (date / 100 % 100) as u8, (date % 100) as u8);
        DateTime::new(date, ((h * 60 + m) * 60 + s) * 1_000_000, 0)
    })
}

/// TIME of those versions.
fn old_time(bytes: &[u8]) -> Option<Time> {
    let n = signed(little(bytes), 3);
    let (h, m, s) = (n.abs() / 10_000, n.abs() / 100 % 100, n.abs() % 100);
    (h <= 838 && m < 60 && s < 60).then(|| {
        let micros = ((h * 60 + m) * 60 + s) * 1_000_000;
        Time::from_micros(if n < 0 { -micros } else { micros }, 0)
    })
}

/// Bytes of the length in front of a VARCHAR's value.
fn varchar_prefix(a: u8, b: u8) -> usize {
    if u16::from_le_bytes([a, b]) < 256 {
        1
    } else {
        2
    }
}

/// A COMPRESSED column's value. One that is compressed, as other servers' logs have it, stays as it is.
fn headed<'a>(value: Option<&'a [u8]>, raw: Cell<'a>) -> Cell<'a> {
    match value {
        Some([]) => Cell::Bytes(&[]),
        Some([0, value @ ..]) => Cell::Bytes(value),
        _ => raw,
    }
}

/// Takes the value at the front of `bytes` apart; gives it and its length. `meta` is the column's metadata.
///
/// # Errors
/// The value is cut short, or the type is unknown.
pub fn cell<'a>(code: u8, meta: &[u8], bytes: &'a [u8]) -> Result<(Cell<'a>, usize), BinlogError> {
    let len = value_len(code, meta, bytes)?;
    let v = &bytes[..len];
    let raw = Cell::Raw(v);
    let array = || <[u8; 8]>::try_from(v);
    let m = |i: usize| meta.get(i).copied().unwrap_or(0);
    let found = match real_type(code, meta) {
        t::TINY | t::SHORT | t::INT24 | t::LONG | t::LONGLONG => Cell::Int(little(v), len as u8),
        t::FLOAT => Cell::Float(f32::from_bits(little(v) as u32)),
        t::DOUBLE => array().map_or(raw, |b| Cell::Double(f64::from_le_bytes(b))),
        t::NEWDECIMAL => Decimal::decode_binary(v, m(0), m(1)).map_or(raw, Cell::Decimal),
        t::YEAR => match v {
            [0] => Cell::Year(0),
            [y] => Cell::Year(1900 + u16::from(*y)),
            _ => raw,
        },
        t::DATE | t::NEWDATE => Cell::Date(Date::unpack(little(v) as u32)),
        t::TIME2 => Time::unpack(v, m(0)).map_or(raw, Cell::Time),
        t::TIME => old_time(v).map_or(raw, Cell::Time),
        t::DATETIME2 => DateTime::unpack(v, m(0)).map_or(raw, Cell::DateTime),
        t::DATETIME => old_datetime(little(v)).map_or(raw, Cell::DateTime),
        t::TIMESTAMP => Cell::Timestamp(little(v) as u32, 0, 0),
        t::TIMESTAMP2 => {
            let (secs, frac) = v.split_at_checked(4).unwrap_or((v, &[]));
            let scale = [1, 10_000, 100, 1][frac.len().min(3)];
            Cell::Timestamp(big(secs) as u32, big(frac) as u32 * scale, m(0))
        }
        t::BIT => Cell::Bit(v, u16::from(m(1)) * 8 + u16::from(m(0))),
        t::ENUM => Cell::Enum(little(v)),
        t::SET => Cell::Set(little(v), len as u8),
        t::VARCHAR | t::VAR_STRING => v.get(varchar_prefix(m(0), m(1))..).map_or(raw, Cell::Bytes),
        t::VARCHAR_COMPRESSED => headed(v.get(varchar_prefix(m(0), m(1))..), raw),
        t::BLOB_COMPRESSED => headed(v.get(usize::from(m(0))..), raw),
        t::STRING => {
            let prefix = if string_len(meta) < 256 { 1 } else { 2 };
            v.get(prefix..).map_or(raw, Cell::Bytes)
        }
        t::BLOB | t::GEOMETRY | t::JSON => v.get(usize::from(m(0))..).map_or(raw, Cell::Bytes),
        t::NULL => Cell::Null,
        _ => raw,
    };
    Ok((found, len))
}

/// How many of a table map's columns are the table's: hashes of long unique keys stand behind them.
#[must_use]
pub fn table_columns(columns: &[ColumnMeta]) -> usize {
    let hashes = columns.iter().rev();
    let hashes = hashes.take_while(|c| c.name.starts_with(HASH_COLUMN));
    columns.len() - hashes.count()
}

/// Takes the row image at the front of `bytes` apart; gives its values and its length. `present` says which columns it
/// has: bit `i % 8` of byte `i / 8`.
///
/// # Errors
/// The image is cut short or has no column, or a type is unknown.
pub fn image<'a>(
    columns: &[ColumnMeta],
    present: &[u8],
    bytes: &'a [u8],
) -> Result<(Image<'a>, usize), BinlogError> {
    let (nulls, mut at) = nulls(columns, present, bytes)?;
    let mut nth = 0;
    let mut cells = Vec::with_capacity(columns.len());
    for (i, column) in columns.iter().enumerate() {
        if !bit(present, i) {
            cells.push(None);
            continue;
        }
        nth += 1;
        if bit(nulls, nth - 1) {
            cells.push(Some(Cell::Null));
            continue;
        }
        let (found, len) = cell(column.type_code, &column.meta, &bytes[at..])?;
        at += len;
        cells.push(Some(found));
    }
    cells.truncate(table_columns(columns));
    Ok((cells, at))
}

/// Length of the row image at the front of `bytes`.
///
/// # Errors
/// As [`image`].
pub fn image_len(
    columns: &[ColumnMeta],
    present: &[u8],
    bytes: &[u8],
) -> Result<usize, BinlogError> {
    let (nulls, mut at) = nulls(columns, present, bytes)?;
    let mut nth = 0;
    for (i, column) in columns.iter().enumerate() {
        if bit(present, i) {
            if !bit(nulls, nth) {
                at += value_len(column.type_code, &column.meta, &bytes[at..])?;
            }
            nth += 1;
        }
    }
    Ok(at)
}

/// The null bitmap of a row image and its length.
fn nulls<'a>(
    columns: &[ColumnMeta],
    present: &[u8],
    bytes: &'a [u8],
) -> Result<(&'a [u8], usize), BinlogError> {
    let count = (0..columns.len()).filter(|&i| bit(present, i)).count();
    if count == 0 {
        return Err(BinlogError::Invalid("rows event without columns"));
    }
    let len = count.div_ceil(8);
    let nulls = bytes
        .get(..len)
        .ok_or(BinlogError::Truncated("a row's null bitmap"))?;
    Ok((nulls, len))
}

/// The names of the members that are in a SET, with commas; `None` if one of them has no name.
#[must_use]
pub fn members(bits: u64, labels: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    for i in (0..64).filter(|i| bits >> i & 1 != 0) {
        if !out.is_empty() {
            out.push(b',');
        }
        out.extend_from_slice(labels.get(i)?);
    }
    Some(out)
}

/// A TIMESTAMP as date and time of day in UTC; the zero value is the zero date.
#[must_use]
pub fn utc(secs: u32, micros: u32, digits: u8) -> Option<DateTime> {
    if secs == 0 && micros == 0 {
        return Some(DateTime {
            fsp: digits,
            ..DateTime::default()
        });
    }
    DateTime::from_unix_micros(i64::from(secs) * 1_000_000 + i64::from(micros), digits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn old_temporal_types() {
        let at = |code, bytes: &[u8]| format!("{:?}", cell(code, &[], bytes).unwrap().0);
        let n = 20_240_203_040_506u64.to_le_bytes();
        assert!(at(t::DATETIME, &n).contains("year: 2024, month: 2, day: 3"));
        assert_eq!(
            cell(t::TIME, &[], &(-10_203i32).to_le_bytes()[..3])
                .unwrap()
                .0,
            Cell::Time(Time::from_micros(-3_723_000_000, 0))
        );
        assert!(matches!(
            cell(t::DATETIME, &[], &u64::MAX.to_le_bytes()).unwrap().0,
            Cell::Raw(_)
        ));
    }

    proptest! {
        #[test]
        fn hostile_images_never_panic(
            types in prop::collection::vec((any::<u8>(), any::<[u8; 2]>()), 1..6),
            present in any::<u8>(),
            bytes in prop::collection::vec(any::<u8>(), 0..80),
        ) {
            let columns: Vec<ColumnMeta> = types
                .iter()
                .filter_map(|(code, meta)| {
                    let n = narwal_binlog::metadata_len(*code).ok()?;
                    Some(ColumnMeta::new("c", *code, &meta[..n]))
                })
                .collect();
            let cells = image(&columns, &[present], &bytes);
            let len = image_len(&columns, &[present], &bytes);
            match (cells, len) {
                (Ok((cells, at)), Ok(len)) => {
                    prop_assert_eq!(at, len);
                    prop_assert!(len <= bytes.len());
                    prop_assert_eq!(cells.len(), columns.len());
                }
                (Err(_), Err(_)) => {}
                (a, b) => prop_assert!(false, "{:?} {:?}", a, b),
            }
        }
    }
}
