//! Numbers of one to nine bytes in the events that MySQL 8.3 and later write.
//!
//! The lowest bits of the first byte that are set say how many bytes follow; the number's low bits come behind them. Facts: logs
//! that MySQL 8.4 and 9.7 wrote.

use crate::error::BinlogError;
use crate::lenenc::Reader;

/// Reads a number.
///
/// # Errors
/// [`BinlogError::Truncated`].
pub(crate) fn var_uint(reader: &mut Reader<'_>) -> Result<u64, BinlogError> {
    let first = reader.u8()?;
    let more = first.trailing_ones() as usize;
    if more == 0 {
        return Ok(u64::from(first >> 1));
    }
    let rest = reader.uint(more)?;
    match more {
        7 | 8 => Ok(rest),
        _ => Ok(rest << (7 - more) | u64::from(first >> (more + 1))),
    }
}

/// Writes a number behind `out`, in as few bytes as it takes.
pub(crate) fn put_var_uint(out: &mut Vec<u8>, number: u64) {
    let bits = 64 - number.leading_zeros() as usize;
    // Each byte has seven of the bits. Nine bytes have eight whole ones behind the first.
    let more = (bits.max(1) - 1) / 7;
    if more >= 8 {
        out.push(0xff);
        out.extend_from_slice(&number.to_le_bytes());
        return;
    }
    let marks = (1_u64 << more) - 1;
    let low = number & ((1 << (7 - more)) - 1);
    out.push((low << (more + 1) | marks) as u8);
    out.extend_from_slice(&(number >> (7 - more)).to_le_bytes()[..more]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(bytes: &[u8]) -> Result<(u64, bool), BinlogError> {
        let mut reader = Reader::new(bytes, "");
        Ok((var_uint(&mut reader)?, reader.is_empty()))
    }

    #[test]
    fn numbers_of_any_length() {
        for (bytes, want) in [
            (&[0u8][..], 0),
            (&[0xfe], 127),
            (&[0x01, 0x02], 128),
            (&[0xfd, 0xff], 16383),
            (&[0x03, 0x00, 0x02], 1 << 14),
            (&[0xff, 1, 0, 0, 0, 0, 0, 0, 0x80], 1 << 63 | 1),
            (&[0x7f, 1, 0, 0, 0, 0, 0, 0x80], 1 << 55 | 1),
        ] {
            assert_eq!(read(bytes).unwrap(), (want, true), "{bytes:x?}");
            let mut out = vec![];
            put_var_uint(&mut out, want);
            assert_eq!(out, bytes);
        }
        assert!(read(&[0x03, 1]).is_err());
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(number: u64, shift in 0_u32..64) {
            let number = number >> shift;
            let mut out = vec![];
            put_var_uint(&mut out, number);
            prop_assert_eq!(read(&out).unwrap(), (number, true));
        }
    }
}
