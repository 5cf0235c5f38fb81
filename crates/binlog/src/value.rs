//! Lengths of column values in row images.

use crate::column::{column_type as t, real_type};
use crate::error::BinlogError;

/// Number of metadata bytes that a table map has for a column of this type.
///
/// # Errors
/// [`BinlogError::Invalid`] for a type code that does not occur in table maps.
pub fn metadata_len(type_code: u8) -> Result<usize, BinlogError> {
    Ok(match type_code {
        t::TINY | t::SHORT | t::LONG | t::LONGLONG | t::INT24 | t::NULL | t::YEAR => 0,
        t::TIMESTAMP | t::DATE | t::TIME | t::DATETIME | t::NEWDATE => 0,
        t::FLOAT | t::DOUBLE | t::TIMESTAMP2 | t::DATETIME2 | t::TIME2 => 1,
        t::BLOB | t::BLOB_COMPRESSED | t::GEOMETRY | t::JSON => 1,
        t::VARCHAR | t::VARCHAR_COMPRESSED | t::VAR_STRING | t::STRING => 2,
        t::BIT | t::NEWDECIMAL | t::ENUM | t::SET => 2,
        _ => return Err(BinlogError::Invalid("unknown column type in a table map")),
    })
}

/// Bytes of `digits` decimal digits, 9 to a 4-byte group.
fn decimal_digits_len(digits: usize) -> usize {
    const LEFTOVER: [usize; 9] = [0, 1, 1, 2, 2, 3, 3, 4, 4];
    digits / 9 * 4 + LEFTOVER[digits % 9]
}

/// A length of `n` bytes (1 to 4) at the front of `bytes`, and the value of that length after it.
fn prefixed(n: usize, bytes: &[u8]) -> Result<usize, BinlogError> {
    let prefix = bytes
        .get(..n)
        .ok_or(BinlogError::Truncated("a column value"))?;
    let mut len = [0; 8];
    len[..n].copy_from_slice(prefix);
    Ok(n + u64::from_le_bytes(len) as usize)
}

/// Length in bytes of the value at the front of `bytes`, its own length prefix included. `meta` is the
/// column's metadata as in the table map. The value is known to lie within `bytes`.
///
/// # Errors
/// [`BinlogError::Truncated`] if `bytes` ends before the value does, [`BinlogError::Invalid`] if type and
/// metadata make no sense together.
pub fn value_len(type_code: u8, meta: &[u8], bytes: &[u8]) -> Result<usize, BinlogError> {
    if meta.len() != metadata_len(type_code)? {
        return Err(BinlogError::Invalid(
            "metadata of the wrong length for its column type",
        ));
    }
    let fraction = |base: usize| match meta[0] {
        digits @ 0..=6 => Ok(base + usize::from(digits).div_ceil(2)),
        _ => Err(BinlogError::Invalid(
            "more than 6 digits in a fraction of a second",
        )),
    };
    let len = match real_type(type_code, meta) {
        t::NULL => 0,
        t::TINY | t::YEAR => 1,
        t::SHORT => 2,
        t::INT24 | t::DATE | t::NEWDATE | t::TIME => 3,
        t::LONG | t::FLOAT | t::TIMESTAMP => 4,
        t::LONGLONG | t::DOUBLE | t::DATETIME => 8,
        t::TIMESTAMP2 => fraction(4)?,
        t::DATETIME2 => fraction(5)?,
        t::TIME2 => fraction(3)?,
        t::NEWDECIMAL => {
            let (precision, scale) = (usize::from(meta[0]), usize::from(meta[1]));
            let whole = precision.checked_sub(scale).ok_or(BinlogError::Invalid(
                "DECIMAL with more scale than precision",
            ))?;
            decimal_digits_len(whole) + decimal_digits_len(scale)
        }
        t::BIT => usize::from(meta[1]) + usize::from(meta[0] > 0),
        t::ENUM => match meta[1] {
            n @ 1..=2 => usize::from(n),
            _ => return Err(BinlogError::Invalid("ENUM of neither 1 nor 2 bytes")),
        },
        t::SET => match meta[1] {
            n @ 1..=8 => usize::from(n),
            _ => return Err(BinlogError::Invalid("SET of more than 8 bytes")),
        },
        t::VARCHAR | t::VARCHAR_COMPRESSED | t::VAR_STRING => {
            let max = u16::from_le_bytes([meta[0], meta[1]]);
            prefixed(if max < 256 { 1 } else { 2 }, bytes)?
        }
        t::STRING => {
            // Bits 8 and 9 of the length are hidden, inverted, in bits 4 and 5 of the type.
            let high = (u16::from(meta[0]) & 0x30) ^ 0x30;
            let max = high << 4 | u16::from(meta[1]);
            prefixed(if max < 256 { 1 } else { 2 }, bytes)?
        }
        t::BLOB | t::BLOB_COMPRESSED | t::GEOMETRY | t::JSON => match meta[0] {
            n @ 1..=4 => prefixed(usize::from(n), bytes)?,
            _ => {
                return Err(BinlogError::Invalid(
                    "BLOB with a length of no or more than 4 bytes",
                ));
            }
        },
        _ => return Err(BinlogError::Invalid("unknown column type in a table map")),
    };
    if len > bytes.len() {
        return Err(BinlogError::Truncated("a column value"));
    }
    Ok(len)
}

/// Whether bit `i` of a bitmap of columns is set.
pub(crate) fn bit(bitmap: &[u8], i: usize) -> bool {
    bitmap.get(i / 8).is_some_and(|b| b >> (i % 8) & 1 != 0)
}
