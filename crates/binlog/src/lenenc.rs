//! Length-encoded integers and a bounded byte reader.

use crate::error::BinlogError;

/// Appends a length-encoded integer.
pub(crate) fn put_lenenc(buf: &mut Vec<u8>, value: u64) {
    let bytes = value.to_le_bytes();
    match value {
        0..=250 => buf.push(bytes[0]),
        251..=0xffff => {
            buf.push(0xfc);
            buf.extend_from_slice(&bytes[..2]);
        }
        0x1_0000..=0xff_ffff => {
            buf.push(0xfd);
            buf.extend_from_slice(&bytes[..3]);
        }
        _ => {
            buf.push(0xfe);
            buf.extend_from_slice(&bytes);
        }
    }
}

/// Appends a length-encoded string.
pub(crate) fn put_lenenc_str(buf: &mut Vec<u8>, s: &[u8]) {
    put_lenenc(buf, s.len() as u64);
    buf.extend_from_slice(s);
}

/// Reads fields off the front of a slice; every read is checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    what: &'static str,
}

impl<'a> Reader<'a> {
    /// `what` names the thing being read in errors.
    pub(crate) fn new(bytes: &'a [u8], what: &'static str) -> Self {
        Self { rest: bytes, what }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn bytes(&mut self, n: usize) -> Result<&'a [u8], BinlogError> {
        let (head, tail) = self
            .rest
            .split_at_checked(n)
            .ok_or(BinlogError::Truncated(self.what))?;
        self.rest = tail;
        Ok(head)
    }

    /// An unsigned little-endian integer of `n` bytes, 1 to 8.
    pub(crate) fn uint(&mut self, n: usize) -> Result<u64, BinlogError> {
        let mut value = [0; 8];
        value[..n].copy_from_slice(self.bytes(n)?);
        Ok(u64::from_le_bytes(value))
    }

    pub(crate) fn u8(&mut self) -> Result<u8, BinlogError> {
        Ok(self.uint(1)? as u8)
    }

    pub(crate) fn u16(&mut self) -> Result<u16, BinlogError> {
        Ok(self.uint(2)? as u16)
    }

    pub(crate) fn u32(&mut self) -> Result<u32, BinlogError> {
        Ok(self.uint(4)? as u32)
    }

    pub(crate) fn u64(&mut self) -> Result<u64, BinlogError> {
        self.uint(8)
    }

    pub(crate) fn lenenc(&mut self) -> Result<u64, BinlogError> {
        match self.u8()? {
            n @ 0..=250 => Ok(u64::from(n)),
            0xfc => self.uint(2),
            0xfd => self.uint(3),
            0xfe => self.uint(8),
            _ => Err(BinlogError::Invalid(
                "length-encoded integer with a reserved first byte",
            )),
        }
    }

    /// A length-encoded integer that counts bytes or items which must all be in the rest of the data
    /// (each taking at least one byte), so it is safe to allocate for.
    pub(crate) fn lenenc_len(&mut self) -> Result<usize, BinlogError> {
        let n = self.lenenc()?;
        if n > self.rest.len() as u64 {
            return Err(BinlogError::Truncated(self.what));
        }
        Ok(n as usize)
    }

    pub(crate) fn lenenc_str(&mut self) -> Result<&'a [u8], BinlogError> {
        let n = self.lenenc_len()?;
        self.bytes(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenenc_integers_round_trip_at_every_boundary() {
        for value in [
            0,
            250,
            251,
            0xff,
            0xffff,
            0x1_0000,
            0xff_ffff,
            0x100_0000,
            u64::MAX,
        ] {
            let mut buf = Vec::new();
            put_lenenc(&mut buf, value);
            let mut reader = Reader::new(&buf, "test");
            assert_eq!(reader.lenenc().unwrap(), value);
            assert!(reader.is_empty());
            for cut in 0..buf.len() {
                assert!(Reader::new(&buf[..cut], "test").lenenc().is_err());
            }
        }
        assert!(Reader::new(&[0xfb], "test").lenenc().is_err());
        assert!(
            Reader::new(&[0xff, 0, 0, 0, 0, 0, 0, 0, 0], "test")
                .lenenc()
                .is_err()
        );
    }
}
