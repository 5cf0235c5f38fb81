//! The protocol's integers and strings: reading with every length checked, and appending to a buffer.

use narwal_types::SqlError;
use narwal_types::errors;

/// The bytes end before the field does, or the field is not what it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("malformed packet")]
pub struct Malformed;

impl From<Malformed> for SqlError {
    fn from(Malformed: Malformed) -> Self {
        errors::MALFORMED_PACKET.plain()
    }
}

/// Reads fields one after another from a payload.
#[derive(Debug, Clone, Copy)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Starts at the first byte.
    pub fn new(payload: &'a [u8]) -> Self {
        Cursor { rest: payload }
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// True when everything has been read.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The next `n` bytes.
    #[inline]
    pub fn bytes(&mut self, n: usize) -> Result<&'a [u8], Malformed> {
        let (head, tail) = self.rest.split_at_checked(n).ok_or(Malformed)?;
        self.rest = tail;
        Ok(head)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (head, tail) = self.rest.split_first_chunk::<N>().ok_or(Malformed)?;
        self.rest = tail;
        Ok(*head)
    }

    /// One byte.
    #[inline]
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    /// Two bytes, little-endian, as all the following.
    #[inline]
    pub fn u16(&mut self) -> Result<u16, Malformed> {
        self.array().map(u16::from_le_bytes)
    }

    /// Four bytes.
    #[inline]
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_le_bytes)
    }

    /// Eight bytes.
    #[inline]
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_le_bytes)
    }

    /// A length-encoded integer; 0xFB (NULL) and 0xFF are malformed here.
    #[inline]
    pub fn lenenc(&mut self) -> Result<u64, Malformed> {
        match self.u8()? {
            n @ 0..=0xFA => Ok(u64::from(n)),
            0xFC => self.u16().map(u64::from),
            0xFD => {
                let b = self.array::<3>()?;
                Ok(u64::from(u32::from_le_bytes([b[0], b[1], b[2], 0])))
            }
            0xFE => self.u64(),
            _ => Err(Malformed),
        }
    }

    /// A length-encoded string.
    #[inline]
    pub fn lenenc_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let n = self.lenenc()?;
        self.bytes(usize::try_from(n).map_err(|_| Malformed)?)
    }

    /// Bytes up to a NUL, which is read and left out.
    pub fn nul_bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let n = self.rest.iter().position(|&b| b == 0).ok_or(Malformed)?;
        let head = &self.rest[..n];
        self.rest = &self.rest[n + 1..];
        Ok(head)
    }

    /// Bytes up to a NUL or the end: several clients leave out the last NUL of a packet.
    pub fn nul_bytes_or_rest(&mut self) -> &'a [u8] {
        match self.nul_bytes() {
            Ok(s) => s,
            Err(Malformed) => std::mem::take(&mut self.rest),
        }
    }
}

/// Appends a length-encoded integer.
#[inline]
pub fn put_lenenc(out: &mut Vec<u8>, n: u64) {
    match n {
        0..=0xFA => out.push(n as u8),
        0xFB..=0xFFFF => {
            out.push(0xFC);
            out.extend_from_slice(&(n as u16).to_le_bytes());
        }
        0x1_0000..=0xFF_FFFF => {
            out.push(0xFD);
            out.extend_from_slice(&(n as u32).to_le_bytes()[..3]);
        }
        _ => {
            out.push(0xFE);
            out.extend_from_slice(&n.to_le_bytes());
        }
    }
}

/// Appends a length-encoded string.
#[inline]
pub fn put_lenenc_bytes(out: &mut Vec<u8>, s: &[u8]) {
    put_lenenc(out, s.len() as u64);
    out.extend_from_slice(s);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lenenc_round_trip(n in any::<u64>(), shift in 0u32..64) {
            let n = n >> shift;
            let mut out = Vec::new();
            put_lenenc(&mut out, n);
            let mut c = Cursor::new(&out);
            prop_assert_eq!(c.lenenc(), Ok(n));
            prop_assert!(c.is_empty());
            for cut in 0..out.len() {
                prop_assert_eq!(Cursor::new(&out[..cut]).lenenc(), Err(Malformed));
            }
        }
    }

    #[test]
    fn a_length_beyond_the_end_is_malformed() {
        assert_eq!(
            Cursor::new(&[0xFE, 255, 255, 255, 255, 255, 255, 255, 255]).lenenc_bytes(),
            Err(Malformed)
        );
        assert_eq!(Cursor::new(&[5, 1, 2]).lenenc_bytes(), Err(Malformed));
        assert_eq!(Cursor::new(&[0xFB]).lenenc(), Err(Malformed));
        assert_eq!(Cursor::new(b"abc").nul_bytes(), Err(Malformed));
        assert_eq!(Cursor::new(b"abc").nul_bytes_or_rest(), b"abc");
    }
}
