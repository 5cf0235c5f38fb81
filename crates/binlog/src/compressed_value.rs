//! Values of COMPRESSED columns in row images (types 0x8c and 0x8d).
//!
//! ```text
//! nothing                        the empty string
//! u8 0, bytes                    bytes as they are
//! u8 0x80 | raw << 3 | n         zlib; raw: without its header and checksum
//! n bytes                        length of the value, highest byte first
//! deflate or zlib stream
//! ```

use crate::BinlogError;
use std::borrow::Cow;
use std::io::Read;

/// What a value of a COMPRESSED column is, at most `max` bytes.
///
/// # Errors
/// [`BinlogError::Invalid`] for what is no such value, or a longer one.
pub fn uncompressed(value: &[u8], max: u64) -> Result<Cow<'_, [u8]>, BinlogError> {
    let Some((head, rest)) = value.split_first() else {
        return Ok(Cow::Borrowed(value));
    };
    let wrong = BinlogError::Invalid("value of a COMPRESSED column");
    if *head == 0 {
        return Ok(Cow::Borrowed(rest));
    }
    let n = usize::from(head & 7);
    if head & 0xf0 != 0x80 || n > 4 {
        return Err(BinlogError::Invalid(
            "compression of a column other than zlib",
        ));
    }
    let Some((length, stream)) = rest.split_at_checked(n) else {
        return Err(wrong);
    };
    let length = length.iter().fold(0, |n, b| n << 8 | u64::from(*b));
    if length > max {
        return Err(wrong);
    }
    // Memory follows what is there, not what is said.
    let mut out = Vec::new();
    let read = match head & 8 {
        0 => flate2::read::ZlibDecoder::new(stream)
            .take(length + 1)
            .read_to_end(&mut out),
        _ => flate2::read::DeflateDecoder::new(stream)
            .take(length + 1)
            .read_to_end(&mut out),
    };
    match read {
        Ok(n) if n as u64 == length => Ok(Cow::Owned(out)),
        _ => Err(wrong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The values are those of a MariaDB 10.11: repeat('a',150), repeat('b',300), repeat('h',120).
    #[test]
    fn values_of_compressed_columns_are_read_or_refused() {
        let read = |v: &[u8], max| uncompressed(v, max).map(Cow::into_owned);
        assert_eq!(read(b"", 10).unwrap(), b"");
        assert_eq!(read(b"\0short", 10).unwrap(), b"short");
        let a = b"\x89\x96\x4b\x4c\x1c\x8c\0\0";
        assert_eq!(read(a, 1000).unwrap(), [b'a'; 150]);
        let b = b"\x8a\x01\x2c\x4b\x4a\x1a\x05\xc4\x02\0";
        assert_eq!(read(b, 300).unwrap(), [b'b'; 300]);
        assert_eq!(
            read(b"\x89\x78\xcb\xc8\x18\x18\0\0", 120).unwrap(),
            [b'h'; 120]
        );
        assert!(read(b, 299).is_err());
        for n in 1..a.len() - 2 {
            assert!(read(&a[..n], 1000).is_err(), "{n}");
        }
        assert!(read(b"\x99\x96\x4b\x4c", 1000).is_err());
        assert!(read(b"\x89\x97\x4b\x4c\x1c\x8c\0\0", 1000).is_err());
    }
}
